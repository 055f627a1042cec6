"""Your turn with tokens: pairs joined, merges learned, used and written down; cuts; bits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Trial
from helpers.data.merging import BYTE_IDS, SIGN_OF, Pair, Token, Word, count_pairs, join, to_bytes

turns = Lab("notebook03")
BY_HAND = see(3, "Byte-pair encoding by hand")
Words = Mapping[Word, int]
Ids = Mapping[Token, int]


def _best_pair(pairs: Mapping[Pair, int], ids: Ids) -> Pair:
    return min(pairs, key=lambda pair: (-pairs[pair], ids[pair[0]], ids[pair[1]]))


@turns.task(_best_pair)
def best_pair(trial: Trial) -> None:
    hint = (
        f"The largest count wins; among equal counts the smaller id of the first token. {BY_HAND}"
    )
    slips: list[tuple[Callable, str]] = [
        (
            lambda pairs, ids: max(pairs.values()),
            "That is the count: hand back the pair that has it.",
        ),
        (
            lambda pairs, ids: max(pairs, key=pairs.get),
            "Of equally frequent pairs you take the one that comes first in the dictionary.",
        ),
        (
            lambda pairs, ids: min(pairs, key=lambda p: (-pairs[p], p)),
            "Python compares bytes by their values; here their ids decide, ids[token].",
        ),
        (
            lambda pairs, ids: max(pairs, key=lambda p: (pairs[p], ids[p[0]], ids[p[1]])),
            "Of equally frequent pairs the one with the smaller ids is taken, not the larger.",
        ),
        (
            lambda pairs, ids: min(pairs, key=lambda p: (-pairs[p], ids[p[0]])),
            "When the first tokens are the same, the second ones decide.",
        ),
        (
            lambda pairs, ids: min(pairs, key=lambda p: (-pairs[p], ids[p[1]], ids[p[0]])),
            "Compare the first tokens first, and the second ones only where these are the same.",
        ),
        (
            lambda pairs, ids: min(pairs, key=lambda p: (-pairs[p], ids[p[0]] + ids[p[1]])),
            "A sum of ids mixes the two: compare the first tokens, then the second ones.",
        ),
        (
            lambda pairs, ids: min(pairs, key=lambda p: (pairs[p], ids[p[0]], ids[p[1]])),
            "That is the rarest pair; a minus sign before the count turns the order round.",
        ),
        (
            lambda pairs, ids: min(pairs, key=lambda p: (ids[p[0]], ids[p[1]])),
            "You look at the ids only: the count comes first.",
        ),
    ]
    ids = {b"e": 0, b"t": 1, b"h": 2, b" ": 3, b"he": 4}
    look = {"hint": hint, "slips": slips}
    pairs = {(b"e", b"t"): 5, (b" ", b"t"): 4, (b"t", b"h"): 4, (b"h", b"e"): 4}
    trial.agrees(_best_pair, pairs, ids, rule="the most frequent pair", **look)
    tied = dict.fromkeys([(b"h", b"t"), (b"e", b"he"), (b"t", b"t"), (b" ", b"e")], 4)
    tied |= {(b"he", b"h"): 4, (b" ", b" "): 4, (b"e", b"e"): 3, (b"t", b"h"): 1}
    rule = "of equally frequent pairs the one with the smaller ids"
    trial.agrees(_best_pair, tied, ids, rule=rule, **look)
    same = {(b" ", b"e"): 2, (b"t", b"he"): 2, (b"t", b" "): 2, (b"e", b"e"): 1}
    trial.agrees(_best_pair, same, ids, rule=rule, **look)
    tokens = list(ids)
    for _ in range(12):
        places = trial.integers(0, len(tokens), 8, 2).tolist()
        drawn = {(tokens[a], tokens[b]): trial.integer(1, 3) for a, b in places}
        trial.agrees(_best_pair, drawn, ids, rule=rule, **look)


def _learn(words: Words, n_merges: int) -> list[Pair]:
    ids, merges = dict(BYTE_IDS), []
    for _ in range(n_merges):
        pair = _best_pair(count_pairs(words), ids)
        merges.append(pair)
        ids[pair[0] + pair[1]] = len(ids)
        words = {join(word, pair): count for word, count in words.items()}
    return merges


def _learn_all_at_once(words: Words, n_merges: int) -> list[Pair]:
    pairs = count_pairs(words)
    return sorted(pairs, key=lambda p: (-pairs[p], BYTE_IDS[p[0]], BYTE_IDS[p[1]]))[:n_merges]


def _learn_with_one_id(words: Words, n_merges: int) -> list[Pair]:
    ids, merges = dict(BYTE_IDS), []
    for _ in range(n_merges):
        pair = _best_pair(count_pairs(words), ids)
        merges.append(pair)
        ids[pair[0] + pair[1]] = 256
        words = {join(word, pair): count for word, count in words.items()}
    return merges


@turns.task(_learn, uses=["count_pairs", "join"])
def learn(trial: Trial) -> None:
    hint = (
        "In each round: count the pairs of the words as they are now, take the best pair, write it "
        "down, give the new token pair[0] + pair[1] (this is its key in ids) the next id, join the "
        "pair in every word."
    )
    slips: list[tuple[Callable, str]] = [
        (
            lambda words, n: [_best_pair(count_pairs(words), BYTE_IDS)] * n,
            "Every round finds the same pair: count anew in each, from the words as joined so far.",
        ),
        (
            _learn_all_at_once,
            "You count once and take the best pairs of this count; joining changes the counts.",
        ),
        (
            lambda words, n: [a + b for a, b in _learn(words, n)],
            "These are the new tokens: hand back the pairs that were joined.",
        ),
        (lambda words, n: _learn(words, n)[-1], "That is the last pair: hand back all, in order."),
        (
            lambda words, n: _learn(words, n)[::-1],
            "The pair that was joined first comes first in the list.",
        ),
        (
            lambda words, n: _learn(words, n - 1),
            "One merge is missing: how often does it go round?",
        ),
        (lambda words, n: _learn(words, n + 1), "That is one merge more than was asked for."),
        (
            _learn_with_one_id,
            "Each new token needs an id of its own, the next that is free.",
        ),
        (
            lambda words, n: _learn(dict.fromkeys(words, 1), n),
            "A word that occurs five times has each of its pairs five times: keep the counts.",
        ),
    ]
    words = {to_bytes(word): count for word, count in ((" the", 3), (" then", 2), (" net", 1))}
    look = {"hint": hint, "slips": slips}
    trial.agrees(_learn, words, 1, rule="the first merge is that of the pencil", **look)
    trial.agrees(_learn, words, 3, rule="a joined token can be joined again", **look)
    words = {
        to_bytes(word): count for word, count in (("cde", 2), ("abe", 2), ("ab", 2), ("cd", 1))
    }
    trial.agrees(_learn, words, 3, rule="new tokens are numbered as they come", **look)
    for _ in range(6):
        drawn = [trial.text(trial.integer(6, 11), "abe t") for _ in range(6)]
        words = {to_bytes(word): trial.integer(1, 4) for word in drawn}
        trial.agrees(_learn, words, 6, rule="it is right for random words", **look)


def _replay(word: Word, merges: list[Pair]) -> Word:
    for pair in merges:
        word = join(word, pair)
    return word


def _longest_first(word: Word, merges: list[Pair]) -> Word:
    known = {a + b for a, b in merges}
    rest, out = b"".join(word), []
    while rest:
        end = next(e for e in range(len(rest), 0, -1) if e == 1 or rest[:e] in known)
        out.append(rest[:end])
        rest = rest[end:]
    return tuple(out)


def _from_the_left(word: Word, merges: list[Pair]) -> Word:
    known = set(merges)
    while fitting := [pair for pair in pairwise(word) if pair in known]:
        word = join(word, fitting[0])
    return word


@turns.task(_replay, uses=["join"])
def replay(trial: Trial) -> None:
    hint = (
        "Do with the new word what training did with its words: go through the merges in their "
        f"order, and join. {see(3, 'From text to ids, and back')}"
    )
    slips: list[tuple[Callable, str]] = [
        (
            lambda word, merges: _replay(word, merges[::-1]),
            "The merge that was learned first comes first; you begin with the last one.",
        ),
        (
            lambda word, merges: _replay(word, merges[:1]),
            "Only the first merge was used: go on with what it leaves.",
        ),
        (
            lambda word, merges: join(word, merges[-1]),
            "Each merge goes on with the word that the merge before has left.",
        ),
        (
            _longest_first,
            "You look for the longest token; what counts is the order of the merges.",
        ),
        (
            _from_the_left,
            "You join the first pair from the left; what counts is the order of the merges.",
        ),
        (
            lambda word, merges: b"".join(word),
            "The word has become one token again: only pairs that were learned are joined.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    merges = [(b"t", b"l"), (b"e", b"t"), (b"tl", b"e"), (b"et", b"tle")]
    rule = "the merges in their order"
    trial.agrees(_replay, to_bytes("kettle"), merges, rule=rule, **look)
    trial.agrees(_replay, to_bytes("settle net"), merges, rule=rule, **look)
    merges = [(b"b", b"c"), (b"a", b"b"), (b"ab", b"c"), (b"a", b"bc"), (b"abc", b"a")]
    for text in ("abc", "ab", "abca", "cab"):
        trial.agrees(_replay, to_bytes(text), merges, rule=rule, **look)
    for _ in range(5):
        drawn = {to_bytes(trial.text(8, "abc")): 1 + k for k in range(5)}
        merges = _learn(drawn, 6)
        word = to_bytes(trial.text(12, "abc"))
        trial.agrees(_replay, word, merges, rule="it is right for random words", **look)


def _merge_line(pair: Pair) -> str:
    return " ".join("".join(SIGN_OF[byte] for byte in token) for token in pair)


@turns.task(_merge_line)
def merge_line(trial: Trial) -> None:
    where = see(3, "A file for your tokenizer")
    hint = f"Each byte of a token becomes SIGN_OF[byte]; one space stands between the two. {where}"
    slips: list[tuple[Callable, str]] = [
        (
            lambda pair: _merge_line(pair).replace(" ", ""),
            "Between the two tokens stands one space: otherwise nobody knows where to cut.",
        ),
        (
            lambda pair: b" ".join(pair).decode(),
            "A space inside a token must get its sign: it is the blank between tokens otherwise.",
        ),
        (
            lambda pair: " ".join("".join(chr(byte) for byte in token) for token in pair),
            "chr gives the character of that number, for some bytes a blank: take SIGN_OF.",
        ),
        (
            lambda pair: "".join(SIGN_OF[byte] for byte in b" ".join(pair)),
            "The space between the two tokens stays a space; it is no byte of a token.",
        ),
        (
            lambda pair: [_merge_line(pair).split(" ")[0], _merge_line(pair).split(" ")[1]],
            "One string is asked for: join the two with a space.",
        ),
        (
            lambda pair: " ".join(_merge_line(pair).replace(" ", "")),
            "Only the two tokens are kept apart by a space, not all their bytes.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    for pair in ((b"h", b"e"), (b"\x80", b"\xad"), (b" t", b"he"), (b"\n", b"\n")):
        trial.agrees(_merge_line, pair, rule="it is the line of GPT-2's file", **look)
    a, b = (bytes(trial.integers(0, 256, 4).tolist()) for _ in range(2))
    trial.agrees(_merge_line, (a, b), rule="it is right for any bytes", **look)


def _encode_marked(text: str, encode: Callable[[str], list[int]], mark: str, mark_id: int):
    first, *others = text.split(mark)
    ids = list(encode(first))
    for part in others:
        ids += [mark_id, *encode(part)]
    return ids


@turns.task(_encode_marked)
def encode_marked(trial: Trial) -> None:
    hint = (
        "Cut the text at the mark, encode the parts one by one, and put the id of the mark between "
        f"any two of them. {see(3, 'Special tokens')}"
    )
    slips: list[tuple[Callable, str]] = [
        (
            lambda text, encode, mark, i: encode(text),
            "The mark is encoded like any other text: it must be cut out first.",
        ),
        (
            lambda text, encode, mark, i: [n for p in text.split(mark) for n in encode(p)],
            "The mark has vanished: its id belongs between the parts.",
        ),
        (
            lambda text, encode, mark, i: [n for p in text.split(mark) for n in [*encode(p), i]],
            "There is one mark too many at the end: marks stand between parts, not after each.",
        ),
        (
            lambda text, encode, mark, i: [n for p in text.split(mark) for n in [i, *encode(p)]],
            "There is one mark too many in front: marks stand between parts, not before each.",
        ),
        (
            lambda text, encode, mark, i: _encode_marked(
                mark.join(text.split(mark)[:2]), encode, mark, i
            ),
            "What follows the second mark is lost: there may be any number of marks.",
        ),
        (
            lambda text, encode, mark, i: _encode_marked(
                mark.join(p.strip() for p in text.split(mark)), encode, mark, i
            ),
            "Blanks beside the mark belong to the text: leave them.",
        ),
        (
            lambda text, encode, mark, i: _encode_marked(
                mark.join(p for p in text.split(mark) if p), encode, mark, i
            ),
            "A mark at the beginning or the end of the text, or two in a row, must stay, too.",
        ),
        (
            lambda text, encode, mark, i: [
                i if p == mark else encode(p) for p in text.replace(mark, f" {mark} ").split()
            ],
            "One list of numbers is asked for: the ids of the parts come one after another.",
        ),
        (
            lambda text, encode, mark, i: [
                *encode(text.split(mark)[0]),
                *(x for p in text.split(mark)[1:] for x in (i, encode(p))),
            ],
            "One list of numbers is asked for: add the ids of the parts one after another.",
        ),
        (
            lambda text, encode, mark, i: [[*encode(p)] for p in text.split(mark)],
            "One list of numbers is asked for: add the ids of the parts one after another.",
        ),
    ]

    def encode(text: str) -> list[int]:
        return list(text.encode())

    mark = "<|end|>"
    for text in (
        "one<|end|>two",
        "one <|end|> two<|end|>\nthree",
        "<|end|>a<|end|><|end|>",
        "no mark",
    ):
        given = f"text {text!r}, the bytes as ids, mark {mark!r}, its id 256"
        rule = "the id of the mark stands where the mark stood"
        look = {"hint": hint, "slips": slips, "given": given}
        trial.agrees(_encode_marked, text, encode, mark, 256, rule=rule, **look)


def _best_cut(word: str, log_p: Mapping[str, float], one_list: bool = False) -> list[str]:
    """With ``one_list`` a known slip: append lengthens the list of the shorter way, too."""
    best: dict[int, tuple[float, list[str]]] = {0: (0.0, [])}
    for end in range(1, len(word) + 1):
        for start in range(end):
            piece = word[start:end]
            if piece in log_p and start in best:
                score = best[start][0] + log_p[piece]
                if end not in best or score > best[end][0]:
                    pieces = best[start][1] if one_list else best[start][1].copy()
                    pieces.append(piece)
                    best[end] = (score, pieces)
    return best[len(word)][1]


def _greedy(word: str, log_p: Mapping[str, float], key: Callable[[str], float]) -> list[str]:
    out = []
    while word:
        fitting = [word[:end] for end in range(1, len(word) + 1) if word[:end] in log_p]
        out.append(max(fitting, key=key))
        word = word[len(out[-1]) :]
    return out


def _first_come(word: str, log_p: Mapping[str, float]) -> list[str]:
    best: dict[int, list[str]] = {0: []}
    for end in range(1, len(word) + 1):
        ways = (s for s in range(end) if word[s:end] in log_p and s in best)
        if (start := next(ways, None)) is not None:
            best[end] = [*best[start], word[start:end]]
    return best[len(word)]


@turns.task(_best_cut)
def best_cut(trial: Trial) -> None:
    where = see(3, "Unigram: the most probable segmentation")
    hint = (
        "For each position of the word keep the best way to get there: the best way to an earlier "
        f"position, and one piece more. {where}"
    )
    slips: list[tuple[Callable, str]] = [
        (
            lambda word, log_p: _greedy(word, log_p, len),
            "You take the longest piece each time; the sum over all pieces decides.",
        ),
        (
            lambda word, log_p: _greedy(word, log_p, lambda piece: log_p[piece]),
            "You take the most probable first piece; what it leaves may be costly. Sum over all.",
        ),
        (
            _first_come,
            "The first way that is found is kept; a later one may have the larger sum.",
        ),
        (
            lambda word, log_p: _best_cut(word, dict.fromkeys(log_p, -1.0)),
            "You count pieces; their log-probabilities decide.",
        ),
        (
            lambda word, log_p: _best_cut(word, {p: -v for p, v in log_p.items()}),
            "That is the least probable cut: the sum of log-probabilities is to be the largest.",
        ),
        (
            lambda word, log_p: _best_cut(word, {p: math.exp(v) for p, v in log_p.items()}),
            "Probabilities are multiplied, so their logarithms are added: add log_p itself.",
        ),
        (
            lambda word, log_p: sum(log_p[p] for p in _best_cut(word, log_p)),
            "That is the sum: hand back the pieces.",
        ),
        (
            lambda word, log_p: _best_cut(word, log_p)[::-1],
            "The pieces are in the wrong order: the word's beginning comes first.",
        ),
        (
            lambda word, log_p: "".join(_best_cut(word, log_p)),
            "A list of pieces is asked for.",
        ),
        (
            lambda word, log_p: [_best_cut(word, log_p)[-1]],
            "That is the last piece alone: hand back all of them.",
        ),
        (
            lambda word, log_p: [],
            "Sums of logarithms are negative, so none beats a 0: begin with no way, or with -inf.",
        ),
        (
            lambda word, log_p: _best_cut(word, log_p, one_list=True),
            "append changes the list of the shorter way, too: make a new one, pieces + [piece].",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    costs = {"a": 4.0, "b": 5.1, "c": 4.8, "d": 6.5, "bc": 10.0, "da": 2.3, "cda": 11.3}
    costs |= {"bcb": 12.7, "dab": 7.8, "abc": 15.4}
    traps = {piece: -cost for piece, cost in costs.items()}
    trial.agrees(_best_cut, "abcdabcb", traps, rule="the largest sum of log-probabilities", **look)
    p = {"d": 0.05, "o": 0.05, "g": 0.05, "s": 0.1, "do": 0.1, "dog": 0.08, "gs": 0.02}
    log_p = {piece: math.log(value) for piece, value in {**p, "dogs": 0.001}.items()}
    for word in ("dogs", "dog", "s", "sdogdo"):
        trial.agrees(_best_cut, word, log_p, rule="it gives what the pencil gives", **look)
    gaps = {"ab": -1.0, "bc": -1.0, "c": -1.0}  # nothing leads to position 1
    hint = "Not every position can be reached: go on only from those that have a best way."
    look["hint"] = hint
    trial.agrees(_best_cut, "abc", gaps, rule="a position without a way is passed over", **look)
    for _ in range(6):
        drawn = {letter: -5 - trial.normal(1).abs().item() for letter in "abc"}
        for _ in range(14):
            piece = trial.text(trial.integer(2, 5), "abc")
            drawn[piece] = -4 - 3 * trial.normal(1).abs().item()
        word, rule = trial.text(9, "abc"), "it is right for random pieces"
        got = trial.call(word, drawn, hint=hint)
        spelled = isinstance(got, list) and all(piece in drawn for piece in got)
        spelled = spelled and "".join(got) == word
        joined = "Joined, the pieces must give the word, and each must be in log_p."
        trial.holds(spelled, rule, joined, given=(word, drawn), got=got)
        best, total = (sum(map(drawn.__getitem__, cut)) for cut in (_best_cut(word, drawn), got))
        trial.equals(total, best, f"{rule}: the sum", hint, given=(word, drawn))  # cuts may tie


def _digits_behind(tokens: list[str]) -> list[int]:
    return [len("".join(tokens[k + 1 :])) for k in range(len(tokens))]


@turns.task(_digits_behind)
def digits_behind(trial: Trial) -> None:
    hint = (
        "For each token, add up how many digits the tokens after it have; after the last one there "
        f"are none. {see(3, 'Numbers that are cut at random')}"
    )
    slips: list[tuple[Callable, str]] = [
        (
            lambda tokens: [len("".join(tokens[:k])) for k in range(len(tokens))],
            "These are the digits to the left of each token: count those to the right.",
        ),
        (
            lambda tokens: [len("".join(tokens[k:])) for k in range(len(tokens))],
            "Each token's own digits are counted, too: begin behind it.",
        ),
        (
            lambda tokens: list(range(len(tokens)))[::-1],
            "That is the number of tokens behind it: a token may have several digits.",
        ),
        (
            lambda tokens: _digits_behind(tokens)[::-1],
            "The first number belongs to the first token.",
        ),
        (
            lambda tokens: [*map(len, tokens[1:]), 0],
            "That is the next token alone: count the digits of all that follow.",
        ),
        (
            lambda tokens: ["".join(tokens[k + 1 :]) for k in range(len(tokens))],
            "These are the digits themselves: how many are they?",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    trial.agrees(_digits_behind, ["6", "41", "30"], rule="as with the pencil", **look)
    for _ in range(6):
        drawn = [trial.text(trial.integer(1, 4), "0123456789") for _ in range(trial.integer(1, 6))]
        trial.agrees(_digits_behind, drawn, rule="it is right for any tokens", **look)


def _bits_per_byte(nats: float, text: str) -> float:
    return nats / math.log(2) / len(text.encode())


@turns.task(_bits_per_byte)
def bits_per_byte(trial: Trial) -> None:
    hint = (
        "Turn nats into bits, then divide by the number of bytes of the text. "
        f"{see(3, 'Which tokens are best for a model?')}"
    )
    slips: list[tuple[Callable, str]] = [
        (
            lambda nats, text: nats / len(text.encode()),
            "These are nats per byte: a bit is ln 2 nats.",
        ),
        (
            lambda nats, text: nats / math.log(2) / len(text),
            "These are bits per character: text.encode() has the bytes.",
        ),
        (lambda nats, text: nats / math.log(2), "These are the bits of the whole text."),
        (
            lambda nats, text: nats / math.log(2) / len(text.encode("utf-16")),
            "These are bytes of UTF-16: we count those of UTF-8, the default of encode.",
        ),
        (
            lambda nats, text: nats / math.log(2) / len(text.split()),
            "These are bits per word: text.encode() has the bytes.",
        ),
        (
            lambda nats, text: nats * math.log(2) / len(text.encode()),
            "One nat is more than one bit: divide by ln 2.",
        ),
        (
            lambda nats, text: -nats / math.log(2) / len(text.encode()),
            "The number of nats is already minus the logarithm.",
        ),
        (
            lambda nats, text: math.exp(nats / len(text.encode())),
            "That is a perplexity: bits are asked for.",
        ),
    ]
    look = {"hint": hint, "slips": slips}
    trial.agrees(_bits_per_byte, 10 * math.log(2), "it is", rule="10 bits for 5 bytes", **look)
    for text in ("naïve café", "the old lantern", "海港"):
        nats = 1 + 10 * trial.normal(1).abs().item()
        trial.agrees(_bits_per_byte, nats, text, rule="it is right for any text", **look)
