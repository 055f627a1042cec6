"""Check of lab 02, task 6: the same merges, in a time that does not grow with all the words."""

from __future__ import annotations

import time

from helpers.course.checks.lab02 import reference as ours
from helpers.course.checks.lab02.common import lab, random_words
from helpers.course.checks.lab02.training import pairs_of, right_merges, timed
from helpers.course.checks.trial import Complaint, Trial

Words = dict[tuple[int, ...], int]

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
    error = (
        "Read the kind of error. An entry of the index may be out of date: the word that it names "
        "has become another one by a merge since, and is passed over. A word is a tuple, what "
        "merge gives a list; and should max or min have nothing to choose from, what is left?"
    )
    right_merges(trial, kept, error)
    for words in ({(1, 1, 1, 1, 1): 3, (1, 1, 2, 1, 1): 2}, *(random_words(trial, 60, 9),) * 2):
        given = f"{len(words)} words, n_merges = 40"
        got = pairs_of(trial.call(words, 40, given=given, hint=error), given)
        expected = ours.train_merges(words, 40)
        trial.equals(got, expected, "the same merges as by counting anew", kept, given=given)
    clocks = _Clocks(trial, kept)
    for n_merges in (SOME_MERGES, N_MERGES):
        clocks.do_not_grow(n_merges)
    clocks.have_quick_rounds()


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
            got, spent = timed(self.trial, words, n_merges, given=given)
        except Complaint as complaint:
            if complaint.rule.startswith("it comes to an end"):
                complaint.hint = f"Does a loop never end? If not, it is too slow. {_WHICH}"
            raise
        merges, rule = pairs_of(got, given), "the merges of many words"
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
