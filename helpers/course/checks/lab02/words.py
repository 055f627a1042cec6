"""Check of lab 02, task 2: a text in words, as GPT-2 cuts it."""

from __future__ import annotations

import regex

from helpers.course.checks.comparing import known_slip
from helpers.course.checks.lab02 import reference as ours
from helpers.course.checks.lab02.common import alike, any_text, expect_kind, lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.data.bpe import GPT2_PATTERN


@lab.task(ours.split_words, without=["GPT2_PATTERN"])
def split_words(trial: Trial) -> None:
    where = see(3, "Pre-tokenization")
    lost = (
        "findall leaves out what the pattern does not match, and split throws away what it splits "
        "at: which alternative should take what is missing?"
    )
    space = "A space belongs to the word after it: where in the pattern does it stand?"
    letters = (
        "[a-zA-Z] knows no ï and no 海; in the package regex, \\p{L} is a letter of any script."
    )
    digits = (
        "A run of digits is one piece, with the space before it if there is one, and letters are "
        "none of it; \\w means letters and digits, and \\d only digits: ² and ½ are other signs "
        "for numbers."
    )
    signs = "A run of other signs is one piece, with the space before it, if there is one."
    apart = "\\w means letters, digits and the underscore, all three; only letters make a word."
    endings = (
        "An apostrophe and one of seven endings are a piece, whatever follows. The first "
        f"alternative that fits is taken, so which has to stand first? {where}"
    )
    anywhere = (
        "An apostrophe and one of seven endings are a piece wherever they stand: behind a digit, "
        "and at the beginning of the text."
    )
    small = "The endings are in small letters and have no space before them; all else is a sign."
    bars = (
        "An apostrophe before anything else than an ending is a sign like others. Inside of [...] "
        "a | is a character, not an or."
    )
    last = (
        "Of a run of blanks all but the last one are a piece if something follows, so that a space "
        f"is left for the next word; at the end of the text the whole run is one. {where}"
    )
    for text, rule, hint in (
        ("The old boat", "a word has the space before it", space),
        ("naïve café 海港 Жук", "letters of every script", letters),
        ("pier 12 b2 1948", "runs of digits", digits),
        ("Ⅳ2 x² ½", "numbers of every kind", digits),
        ("Wait ... no?! (yes)", "runs of other signs", signs),
        ("a_b c#", "letters and other signs", apart),
        ("they'll we've I'm don't it's you're he'd", "seven endings", endings),
        ("o'dell we'dx", "an ending, whatever follows", endings),
        ("'tis 1948's", "an ending, whatever stands before", anywhere),
        ("IT'S rock 'n' roll 'tis 's", "endings in small letters, without a space", small),
        ("a'||b '|x", "an apostrophe and another sign are one run", bars),
        ("a  b   c", "of several spaces the last one goes to the word", last),
        ("a\n\nb \n c\t\td  ", "line breaks and tabs", last),
        ("  ", "nothing but spaces", last),
        ("", "an empty text has no pieces", "findall on an empty text gives an empty list."),
    ):
        _try_split(trial, text, rule, hint, lost, letters)
    rules = f"Which of the six rules comes first at the place where your pieces differ? {where}"
    alphabet = "abcéstdl海  \n\t12².,!-_'🙂"
    for _ in range(4):
        _try_split(trial, trial.text(40, alphabet), "a random text", rules, lost, letters)
    anything = any_text(trial, 200)
    got = trial.call(anything, given="200 random characters of Unicode")
    expect_kind(got, (list, tuple), "a list of strings")
    trial.equals("".join(got), anything, "joined, the pieces are the text", lost)


_WHITE = (
    "A line break or a tab is white space, too: none of the other signs of rule 4, and nothing "
    "that stands before letters, digits or signs, where only a space may. \\s is all white space."
)


_NO_SIGN = (
    "White space is none of the other signs: \\s belongs into [^...], beside \\p{L} and \\p{N}."
)


def _try_split(trial: Trial, text: str, rule: str, hint: str, lost: str, letters: str) -> None:
    error = (
        "Read the kind of error. \\p{L} and \\p{N} are known to the package regex; the standard "
        "library's re has neither."
    )
    got, given = trial.call(text, hint=error), repr(text)
    expect_kind(got, (list, tuple), "a list of strings", given)
    trial.holds(
        all(isinstance(piece, str) for piece in got),
        "a list of strings",
        "findall gives the groups if the pattern has any: (?:...) only holds together, (...) is a "
        "group.",
        given=given,
        got=got,
    )
    trial.holds(
        all(got),
        "no piece is empty",
        "findall gives what the group matched if the pattern has one, (...); (?:...) only holds "
        "together. And can one of your alternatives match nothing?",
        given=given,
        got=got,
    )
    joined = "".join(got)
    place = next((i for i, c in enumerate(text) if joined[i : i + 1] != c), 0)
    left_out = text[place : place + 1]
    trial.holds(
        joined == text,
        "joined, the pieces are the text",
        letters if left_out.isalpha() and not left_out.isascii() else lost,
        given=given,
        got=repr(joined),
        expected=given,
    )
    expected = ours.split_words(text)
    taken = any(regex.search(r"[\n\t]", piece) and not piece.isspace() for piece in got)
    taken = taken or list(got) == regex.findall(GPT2_PATTERN.replace(r"[^\s", "[^ "), text)
    hint = _WHITE if taken and list(got) != expected else hint
    if any(regex.search(r"[^\s\p{L}\p{N}]\s", piece) for piece in got):
        white = regex.findall(GPT2_PATTERN.replace(r"[^\s", "[^"), text)
        hint = known_slip(list(got), [(white, _NO_SIGN)]) or hint
    alike(trial, list(got), expected, rule, hint, given=given)
