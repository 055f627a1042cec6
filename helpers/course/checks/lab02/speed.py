"""Check of lab 02, task 3: the same merges, in a time that does not grow with all the words."""

from __future__ import annotations

import gc
import time
from collections import Counter
from numbers import Integral

from helpers.course.checks.describing import describe
from helpers.course.checks.lab02 import reference as ours
from helpers.course.checks.lab02.common import alike, expect_kind, lab, random_text, random_words
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Complaint, Trial
from helpers.data.bpe import BPETokenizer

Words = dict[tuple[int, ...], int]

BY_HAND = see(3, "Byte-pair encoding by hand")

N_MERGES = 200
SOME_MERGES = 12  # a loop that is slow by far is found out with these
N_RARE, N_FEW = 30_000, 300
TIMES = 15  # as long as the course's own loop, in the same process
ATTEMPTS = 5  # at most, before an answer is called slow


@lab.task(ours.train_quickly)
def train_quickly(trial: Trial) -> None:
    kept = (
        "Keep books by hand for one merge. A word that is merged loses all of its old pairs and "
        "gets the new ones, each as often as the word occurs and at every place where it stands; "
        "and the new word has to be found again when one of its pairs is merged later."
    )
    _right_merges(trial, kept)
    for words in ({(1, 1, 1, 1, 1): 3, (1, 1, 2, 1, 1): 2}, *(random_words(trial, 60, 9),) * 2):
        given = f"{len(words)} words, n_merges = 40"
        got = _pairs_of(_called(trial, words, 40, given), given)
        expected = ours.train_merges(words, 40)
        trial.equals(got, expected, "the same merges as by counting anew", kept, given=given)
    clocks = _Clocks(trial, kept)
    for n_merges in (SOME_MERGES, N_MERGES):
        clocks.do_not_grow(n_merges)
    clocks.have_quick_rounds()


_NO_WORD = (
    "An entry of the index may be out of date: the word that it names has become another one by a "
    "merge since, and is passed over."
)
_NO_PAIR = (
    "One of the books does not know this pair. Are the pairs of a new word entered in the counts "
    "and in the index, and is every place counted out as it was counted in?"
)
_ERRORS: dict[type[BaseException], str] = {
    ValueError: "Should max or min have nothing to choose from, what is left? Then it ends early.",
    TypeError: "Read the kind of error. A word is a tuple, and what merge gives is a list.",
    RuntimeError: "What a loop goes over must not change meanwhile: take it out of its book first.",
}


def _called(trial: Trial, words: Words, n_merges: int, given: str) -> object:
    """The answer's value; where it raises, the hint goes by the kind of error."""
    try:
        return trial.call(words, n_merges, given=given)
    except Complaint as complaint:
        error = complaint.__cause__
        if isinstance(error, KeyError) and isinstance(key := error.args[0], tuple):
            # Nobody looks for a word of two ids that is gone: its only pair has been merged.
            complaint.hint = _NO_PAIR if len(key) == 2 else _NO_WORD
        complaint.hint = _ERRORS.get(type(error), complaint.hint)
        raise


def _right_merges(trial: Trial, kept: str) -> None:
    """The merges are those of byte-pair encoding, ties and the end included.

    Args:
        kept: the hint where counts are not those of the words as they are now.
    """
    most = f"The pair that is most frequent over all words, each as often as it occurs. {BY_HAND}"
    ties = (
        "Of equally frequent pairs the one with the smaller first id is merged, and if these are "
        f"equal, the smaller second id; ids are compared as numbers. {BY_HAND}"
    )
    enough = "A pair that stands in only one place is not worth a token: stop there, also early."
    twice = "Stop when no pair occurs at least twice, not sooner: is twice often enough for you?"
    number = "Count the merges that you hand back: one for each round, and n_merges rounds at most."
    fewer = (
        "Count the merges: they are n_merges, fewer only where no pair occurs at least twice. Does "
        "a word keep its count when it is merged?"
    )
    for words, n, rule, hint in (
        ({(1, 2): 6, (3, 4): 4}, 2, "two merges", most),
        ({(1, 2): 5, (3, 4, 3, 4, 5): 2}, 1, "the most frequent pair", most),
        ({(1, 2, 3): 9, (5, 2, 3): 3, (7, 8): 10, (1, 4): 2}, 3, "counted anew", kept),
        (
            {(1, 2, 3, 4): 7, (2, 3): 1, (3, 4): 2, (1, 2): 3},
            3,
            "new tokens are in later pairs",
            kept,
        ),
        ({(1, 2): 9, (3, 4, 5): 5, (3, 4): 1}, 3, "each merge has a number of its own", kept),
        ({(7, 5): 3, (2, 9): 3, (2, 8): 3, (7, 1): 2}, 1, "ties", ties),
        ({(20, 3): 3, (3, 20): 3, (100, 2): 3}, 3, "ties", ties),
        ({(1, 2): 2}, 1, "a pair that occurs twice", twice),
        ({(1, 2): 4, (3, 4): 1}, 5, "no pair that occurs once", enough),
        ({(5,): 9}, 3, "no pair at all", enough),
        ({(1, 2, 3): 3}, 0, "no more merges than asked for", number),
    ):
        given = f"{words}, n_merges = {n}"
        got = _pairs_of(_called(trial, words, n, given), given)
        expected = ours.train_merges(words, n)
        hint = number if len(got) > n else hint
        hint = fewer if got == expected[:-1] and len(expected) == n > 1 else hint
        alike(trial, got, expected, rule, hint, given=given)
    given = "60 random words, n_merges = 12"
    got = _pairs_of(_called(trial, random_words(trial, 60, 8), 12, given), given)
    trial.equals(len(got), 12, "as many merges as asked for", number, given=given)
    text = random_text(trial, 400)
    words = Counter(tuple(ours.to_ids(word)) for word in ours.split_words(text))
    expected = BPETokenizer.train(text, 256 + 60).merges
    given = "the words of a random text, n_merges = 60"
    got = _pairs_of(_called(trial, words, 60, given), given)
    trial.equals(got, expected, "the merges of the course's BPETokenizer", kept, given=given)


_WHICH = (
    "Which line looks at all words for each merge? Counting all pairs anew does, a new dictionary "
    "of all words does, and so does a search for the words that hold the pair. Keep the counts "
    "from round to round, and beside them, for each pair, the set of the words in which it stands."
)
_ROUND = (
    "It is not the number of words that makes it slow; a round costs much by itself. What does it "
    "do with all pairs? One search for the largest count is enough: sort nothing, copy nothing, "
    "and look at ties only among the pairs with that count."
)


class _Clocks:
    """What rounds cost among many rare words, which no merge touches, and among few of them.

    A busy machine makes no wrong verdict: processor time is compared with that of the same answer
    in the same process, and what seems slow is measured again, where each least time counts.
    """

    def __init__(self, trial: Trial, kept: str) -> None:
        self.trial, self.kept = trial, kept
        self.few, self.many = (many_words(trial, n) for n in (N_FEW, N_RARE))
        self.merges = ours.train_quickly(self.few, N_MERGES)
        self.least: dict[tuple[int, int], float] = {}

    def seconds(self, words: Words, n_merges: int) -> float:
        """The least processor time so far, this call's included; its merges are right."""
        given = f"{len(words):,} words; n_merges = {n_merges}"
        try:
            got, spent = _timed(self.trial, words, n_merges, given=given)
        except Complaint as complaint:
            if complaint.rule.startswith("it comes to an end"):
                slow = _WHICH if words is self.many else _ROUND
                complaint.hint = f"Does a loop never end? If not, it is too slow. {slow}"
            raise
        merges, rule = _pairs_of(got, given), "the merges of many words"
        self.trial.equals(merges, self.merges[:n_merges], rule, self.kept, given=given)
        place = len(words), n_merges
        self.least[place] = min(spent, self.least.get(place, spent))
        return self.least[place]

    def do_not_grow(self, n_merges: int) -> None:
        """With many words all rounds but two cost at most three times what all cost with few.

        Half of what setting up costs is granted too, for that is how far its time may be off.
        """
        for attempt in range(ATTEMPTS):
            begun = self.seconds(self.many, 2)
            with_few = self.seconds(self.few, n_merges)
            rounds = self.seconds(self.many, n_merges) - begun
            limit = 3 * with_few + begun / 2
            if rounds <= limit or (attempt and rounds > 2.5 * limit):
                break
        found = f"{rounds:.2f} s for {n_merges - 2} merges, beyond those for the first two"
        self.trial.holds(
            rounds <= limit,
            "a merge costs what its own words cost, however many others there are",
            f"Nearly all of these words hold none of the merged pairs, and they cost you time in "
            f"every round: with {len(self.few)} of them all takes {with_few:.3f} s. {_WHICH}",
            given=f"{len(self.many):,} words; n_merges = {n_merges}",
            got=found,
            expected=f"at most {limit:.2f} s",
        )

    def have_quick_rounds(self) -> None:
        """With few words they are not many times slower than the course's own."""
        theirs = float("inf")
        for _ in range(ATTEMPTS):
            began = time.process_time()
            ours.train_quickly(self.few, N_MERGES)
            theirs = min(theirs, time.process_time() - began)
            mine = self.seconds(self.few, N_MERGES)
            if not TIMES * theirs < mine < 3 * TIMES * theirs:
                break
        self.trial.holds(
            mine <= TIMES * theirs,
            f"a round costs at most {TIMES} times what one of the course's own loop costs",
            _ROUND,
            given=f"{len(self.few)} words; n_merges = {N_MERGES}",
            got=f"{mine:.3f} s",
            expected=f"at most {TIMES * theirs:.3f} s",
        )


def many_words(trial: Trial, n_rare: int) -> Words:
    """Frequent words, and behind them words of other ids that are rare.

    The frequent ones come first and have all the merges that are asked for. The rare ones are of so
    few ids that all of their pairs stand in a few hundred of them: only words grow in number.
    """
    words: Words = {}
    draw = trial.generator.get_state()
    for _ in range(250):
        word = tuple(trial.integers(0, 12, trial.integer(4, 9)).tolist())
        words[word] = trial.integer(20_000, 90_000)
    for rare in trial.integers(20, 30, max(n_rare, 1), 6)[:n_rare].tolist():
        words[tuple(rare)] = 1
    trial.generator.set_state(draw)
    return words


def _timed(trial: Trial, *arguments: object, given: str) -> tuple[object, float]:
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


def _pairs_of(value: object, given: str) -> list[tuple[int, int]]:
    """Merges; a complaint where they are no pairs."""
    hint = "Hand back the pairs of ids, tuples, in the order in which they were merged."
    expect_kind(value, list, "a list of pairs", given, hint)
    pairs = all(isinstance(pair, tuple) and len(pair) == 2 for pair in value)
    if not pairs or not all(isinstance(i, Integral) for pair in value for i in pair):
        raise Complaint("a list of pairs", hint, given, describe(value))
    return value
