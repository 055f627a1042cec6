"""Checks of lab 02, tasks 2 to 5: pairs, merges, words and training.

Texts are strings and ids whole numbers: 0 to 255 are the bytes, numbered as in GPT-2, and
``256 + i`` is the token that merge ``i`` makes. Words are a dictionary that maps a word, a tuple of
ids, to how often it occurs.
"""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from numbers import Integral

import regex

from helpers.course.checks.comparing import differs
from helpers.course.checks.describing import describe
from helpers.course.checks.lab02 import reference as ours
from helpers.course.checks.lab02.common import (
    alike,
    any_text,
    expect_kind,
    lab,
    random_text,
    random_words,
)
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Complaint, Trial
from helpers.data.bpe import GPT2_PATTERN, BPETokenizer

BY_HAND = see(3, "Byte-pair encoding by hand")
SLOWER = 25  # times the processor time that a plain loop takes
GROWTH = 8  # of the time, for four times as many ids


@lab.task(ours.count_pairs)
def count_pairs(trial: Trial) -> None:
    neighbours = f"A pair is a token and the one right after it, in this order. {BY_HAND}"
    places = (
        "Every place in the word counts one, also where a pair stands twice, and where two of them "
        "share a token: at which places of (1, 1, 1) does (1, 1) begin?"
    )
    all_words = (
        "A pair of a later word is missing. Is every word looked at, or does return stand inside "
        "of the loop?"
    )
    inside = "A pair has both of its tokens in the same word: nothing goes from one to the next."
    weights = "A word that occurs 3 times has each of its pairs 3 times; add up over all words."
    for words, rule, hint in (
        ({(7, 5, 6): 1}, "neighbours, in order", neighbours),
        ({(1, 1, 1): 1}, "in aaa the pair aa stands twice", places),
        ({(1, 2, 1, 2): 1}, "every place counts", places),
        ({(1, 2): 1, (3, 4): 1}, "no pair goes from one word to the next", inside),
        ({(1, 2): 3, (2, 1, 2): 2}, "words count as often as they occur", weights),
        ({(5,): 9}, "a word of one token has no pair", neighbours),
        ({}, "without words there are no pairs", neighbours),
    ):
        _same_counts(trial, words, rule, hint, all_words if len(words) > 1 else "")
    _same_counts(trial, random_words(trial, 20, 6), "random words", weights)


def _same_counts(trial: Trial, words: dict, rule: str, hint: str, missing: str = "") -> None:
    """The counts are right; zeros, which a Counter may keep, do not matter.

    Args:
        missing: the hint where a pair has no count, and none is there that should not be.
    """
    error = (
        "Read the kind of error. A pair is a tuple, words maps a word to its count, and a pair met "
        "for the first time has no count yet."
    )
    got = trial.call(words, hint=error)
    expect_kind(got, Mapping, "a dictionary", describe(words))
    got = {pair: n for pair, n in got.items() if differs(n, 0)}
    expected = dict(ours.count_pairs(words))
    hint = missing if missing and set(got) < set(expected) else hint
    trial.equals(got, expected, rule, hint, given=words)


@lab.task(ours.merge)
def merge(trial: Trial) -> None:
    every = (
        "Every place where the pair stands becomes one token, in the place of both parts; all else "
        "stays as it is."
    )
    used = (
        "Go from left to right: a token that has been joined is used up, so go on after both of "
        f"its parts. {BY_HAND}"
    )
    end = "Follow your index to the end of the list: which tokens does it look at last?"
    nothing = "Nothing is joined. Is a list compared with the pair? It is never equal to a tuple."
    beyond = "Read the kind of error; should an index be out of range, what does it look at last?"
    kept = (
        "One token stands in the place of both parts, and yours keeps the second. In a for loop "
        "over a range, i += 1 skips nothing: the loop sets i anew. A while loop does not."
    )
    digits = "Compare ids, not their digits: a 1 and a 2 are not the end of 11 and the head of 2."
    for ids, rule, hint in (
        ([4, 1, 2, 3, 1, 2, 4], "every place where the pair stands", every),
        ([2, 1, 3, 2, 2, 1, 4], "the pair in this order only", "The pair (1, 2) is not (2, 1)."),
        ([3, 1, 2], "a pair at the end", end),
        ([1, 2, 3], "a token alone at the end", end),
        ([1, 3, 1], "the first half of a pair at the end", end),
        ([11, 2, 1, 22, 111, 12, 21], "whole ids", digits),
        ([], "an empty list", end),
    ):
        given = f"{ids}, pair (1, 2), new 256"
        got = trial.call(ids, (1, 2), 256, given=given, hint=beyond)
        expected = ours.merge(ids, (1, 2), 256)
        if isinstance(got, list | tuple) and got:
            hint = hint if differs(got, expected[: len(got)]) else end
            hint = hint if differs(got, ids) else nothing
            hint = hint if differs(got, _without_a_skip(ids)) or list(got) == ids else kept
        alike(trial, got, expected, rule, hint, given=given)
    got, given = trial.call([3, 1, 2], (1, 2), 271), "[3, 1, 2], pair (1, 2), new 271"
    newest = "What takes the place of the pair is new, the id that is handed over, whichever it is."
    alike(trial, got, [3, 271], "the id of the new token", newest, given=given)
    for n in (3, 4, 5):
        got, given = trial.call([1] * n, (1, 1), 256), f"{[1] * n}, pair (1, 1), new 256"
        expected = ours.merge([1] * n, (1, 1), 256)
        alike(trial, got, expected, "a joined token is used up", used, given=given)
    ids = trial.integers(0, 3, trial.integer(20, 40)).tolist()
    for pair in ((0, 1), (2, 2)):
        got, given = trial.call(ids, pair, 300), f"{ids}, pair {pair}, new 300"
        alike(trial, got, ours.merge(ids, pair, 300), "random ids", used, given=given)
    _is_linear(trial, every)


def _without_a_skip(ids: list[int]) -> list[int]:
    """What becomes of ids and the pair (1, 2) where the second half is looked at once more."""
    places = enumerate(pairwise([*ids, -1]))
    return [256 if pair == (1, 2) else ids[i] for i, pair in places]


def _is_linear(trial: Trial, every: str) -> None:
    """Twice as many ids take twice as long.

    Every fourth id begins the pair, so that what copies or moves the list at each hit is seen. What
    seems slow is measured again, and the least time counts.
    """
    drawn = trial.integers(1, 3, 200_000).tolist()
    hint = (
        "What walks through the whole list each time it takes one step? x = x + [y] copies it, del "
        "x[i], x[i:j] = ..., x.pop(i) and x.insert move the rest of it, x.index and a fresh start "
        "search it again."
    )
    least: dict[tuple[bool, int], float] = {}

    def seconds(n: int, by_loop: bool = False) -> float:
        ids, given = drawn[:n], f"{n:,} ids, each of them 1 or 2"
        began = time.process_time()
        expected = ours.merge(ids, (1, 2), 256)
        spent = time.process_time() - began
        if not by_loop:
            got, spent = timed(trial, ids, (1, 2), 256, given=given)
            expect_kind(got, (list, tuple), "a list", given)
            if list(got) != expected:
                alike(trial, got, expected, given, every, given=given)
        least[by_loop, n] = min(spent, least.get((by_loop, n), spent))
        return least[by_loop, n]

    for n in (20_000, 200_000):  # what copies the whole list each time is found out by few
        for attempt in range(4):
            loop, mine = seconds(n, by_loop=True), seconds(n)
            limit = SLOWER * loop + 0.02
            if n > 20_000 and mine > GROWTH * loop:
                few = min(seconds(n // 4) for _ in range(3))  # once may be slow by chance
                limit = GROWTH * max(loop, few)
            if mine <= limit or (attempt and mine > 1.5 * limit):
                break
        trial.holds(
            mine <= limit,
            "twice as many ids take twice as long, not four times",
            hint,
            given=f"{n:,} ids, each of them 1 or 2",
            got=f"{mine:.3f} s",
            expected=f"at most {limit:.3f} s; one loop takes about {loop:.3f} s",
        )


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
    alike(trial, list(got), expected, rule, hint, given=given)


@lab.task(ours.train_merges)
def train_merges(trial: Trial) -> None:
    right_merges(trial)


def right_merges(trial: Trial, books: str = "", error: str = "") -> None:
    """The merges are those of byte-pair encoding, ties and the end included.

    Args:
        books: the hint where counts are not those of the words as they are now.
        error: the hint where it raises.
    """
    most = f"The pair that is most frequent over all words, each as often as it occurs. {BY_HAND}"
    again = books or (
        "After a merge the words are other ones, and so are the counts; merge i makes token 256 + "
        f"i, which can be in later pairs. {BY_HAND}"
    )
    ties = (
        "Of equally frequent pairs the one with the smaller first id is merged, and if these are "
        f"equal, the smaller second id; ids are compared as numbers. {BY_HAND}"
    )
    enough = "A pair that stands in only one place is not worth a token: stop there, also early."
    empty = error or (
        "Read the kind of error. A word is a tuple, what merge gives a list; and should max or min "
        "have nothing to choose from, what is left?"
    )
    twice = "Stop when no pair occurs at least twice, not sooner: is twice often enough for you?"
    number = "Count the merges that you hand back: one for each round, and n_merges rounds at most."
    fewer = (
        "Count the merges: they are n_merges, fewer only where no pair occurs at least twice. Does "
        "a word keep its count when it is merged?"
    )
    stays = (
        "The same pair comes twice. Is it still in the words after its merge? In a loop over "
        "words, word = ... gives only the name word a new value."
    )
    differ = books or (
        "Count by hand where your merges differ from those expected first: is there a tie, or has "
        "a token another number than 256 and that of its merge?"
    )
    for words, n, rule, hint in (
        ({(1, 2): 6, (3, 4): 4}, 2, "two merges", most),
        ({(1, 2): 5, (3, 4, 3, 4, 5): 2}, 1, "the most frequent pair", most),
        ({(1, 2, 3): 9, (5, 2, 3): 3, (7, 8): 10, (1, 4): 2}, 3, "counted anew", again),
        (
            {(1, 2, 3, 4): 7, (2, 3): 1, (3, 4): 2, (1, 2): 3},
            3,
            "new tokens are in later pairs",
            again,
        ),
        ({(1, 2): 9, (3, 4, 5): 5, (3, 4): 1}, 3, "each merge has a number of its own", again),
        ({(7, 5): 3, (2, 9): 3, (2, 8): 3, (7, 1): 2}, 1, "ties", ties),
        ({(20, 3): 3, (3, 20): 3, (100, 2): 3}, 3, "ties", ties),
        ({(1, 2): 2}, 1, "a pair that occurs twice", twice),
        ({(1, 2): 4, (3, 4): 1}, 5, "no pair that occurs once", enough),
        ({(5,): 9}, 3, "no pair at all", enough),
        ({(1, 2, 3): 3}, 0, "no more merges than asked for", number),
    ):
        given = f"{words}, n_merges = {n}"
        got = trial.call(words, n, given=given, hint=empty)
        got, expected = pairs_of(got, given), ours.train_merges(words, n)
        hint = number if len(got) > n else hint
        hint = stays if len(set(got)) < len(got) and not books else hint
        hint = fewer if got == expected[:-1] and len(expected) == n > 1 else hint
        alike(trial, got, expected, rule, hint, given=given)
    given = "60 random words, n_merges = 12"
    got = pairs_of(trial.call(random_words(trial, 60, 8), 12, given=given, hint=empty), given)
    trial.equals(len(got), 12, "as many merges as asked for", number, given=given)
    text = random_text(trial, 400)
    words = Counter(tuple(ours.to_ids(word)) for word in ours.split_words(text))
    expected = BPETokenizer.train(text, 256 + 60).merges
    given = "the words of a random text, n_merges = 60"
    got = pairs_of(trial.call(words, 60, given=given, hint=empty), given)
    trial.equals(got, expected, "the merges of the course's BPETokenizer", differ, given=given)


def timed(trial: Trial, *arguments: object, given: str) -> tuple[object, float]:
    """A call's value and its seconds of processor time, without those of the garbage collector."""
    spent = []

    def answer(*arguments: object) -> object:
        gc.collect(0)  # nothing is due when it is turned off
        gc.disable()
        try:
            began = time.process_time()
            value = trial.answer(*arguments)
            spent.append(time.process_time() - began)
        finally:
            gc.enable()
        return value

    return trial.run(answer, *arguments, given=given), spent[0]


def pairs_of(value: object, given: str) -> list[tuple[int, int]]:
    """Merges; a complaint where they are no pairs."""
    hint = "Hand back the pairs of ids, tuples, in the order in which they were merged."
    expect_kind(value, list, "a list of pairs", given, hint)
    pairs = all(isinstance(pair, tuple) and len(pair) == 2 for pair in value)
    if not pairs or not all(isinstance(i, Integral) for pair in value for i in pair):
        raise Complaint("a list of pairs", hint, given, describe(value))
    return value
