"""Check of lab 02, task 6: the same merges, in a time that does not grow with all the words."""

from __future__ import annotations

import time
from collections.abc import Callable

from helpers.course.checks.lab02 import reference as ours
from helpers.course.checks.lab02.common import lab, random_words
from helpers.course.checks.lab02.training import pairs_of, right_merges
from helpers.course.checks.trial import Complaint, Trial

Words = dict[tuple[int, ...], int]

TIMES = 15  # as long as the course's own loop, in the same process
SLACK = 0.05  # seconds
N_MERGES = 600
N_RARE = 12_000


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
    _is_quick(trial, kept)


def _is_quick(trial: Trial, kept: str) -> None:
    """It is not many times slower than the course's own version on many words.

    A wrong verdict by a machine that was busy elsewhere is unlikely: processor time is compared, in
    the same process, and what is a little too slow is measured again.
    """
    words, n = many_words(trial, N_RARE), len(many_words(trial, 0))
    given = f"{len(words):,} words, of which {n} hold the frequent pairs; n_merges = {N_MERGES}"
    for _ in range(3):
        theirs, expected = _seconds(ours.train_quickly, words)
        mine, got = _clocked(trial, words, given)
        limit = TIMES * theirs + SLACK
        if not limit < mine < 3 * limit:
            break
    rule = "the merges of many words"
    trial.equals(pairs_of(got, given), expected, rule, kept, given=given)
    hint = ""
    if mine > limit:
        fewer = dict(list(words.items())[: n + N_RARE // 10])
        less, _ = _clocked(trial, fewer, given)
        hint = _all_words(less, mine) if mine > 2.5 * less else _ROUND
    trial.holds(
        mine <= limit,
        "a merge costs what its own words cost",
        hint,
        given=given,
        got=f"{mine:.2f} s",
        expected=f"at most {limit:.2f} s, {TIMES} times as long as the course's own loop",
    )


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


def _all_words(less: float, mine: float) -> str:
    return (
        "Most of these words hold none of the merged pairs, and they cost you time in every round: "
        f"with a tenth of them you needed {less:.2f} s, with all {mine:.2f} s. {_WHICH}"
    )


def many_words(trial: Trial, n_rare: int) -> Words:
    """Some hundred frequent words, and behind them words of other ids that are rare.

    The frequent ones come first and have all the merges that are asked for.
    """
    words: Words = {}
    draw = trial.generator.get_state()
    for _ in range(250):
        words[tuple(trial.integers(0, 12, trial.integer(4, 9)).tolist())] = trial.integer(200, 900)
    for rare in trial.integers(20, 50, max(n_rare, 1), 5)[:n_rare].tolist():
        words[tuple(rare)] = 1
    trial.generator.set_state(draw)
    return words


def _clocked(trial: Trial, words: Words, given: str) -> tuple[float, object]:
    """Processor seconds of the answer, and its value."""
    spent: list[float] = []

    def answer(*arguments: object) -> object:
        spent.append(-time.process_time())
        try:
            return trial.answer(*arguments)
        finally:
            spent[0] += time.process_time()

    try:
        value = trial.run(answer, words, N_MERGES, given=given)
    except Complaint as complaint:
        if complaint.rule.startswith("it comes to an end"):
            complaint.hint = (
                f"Does a loop never end? If not, it is too slow. {_WHICH} And sort nothing."
            )
        raise
    return spent[0], value


def _seconds(function: Callable, words: Words) -> tuple[float, object]:
    began = time.process_time()
    value = function(words, N_MERGES)
    return time.process_time() - began, value
