"""The Lantern Bay Reader: how far do its statements tell their labels without the story?

    python -m benchmarks.lantern_reader [--choose]

Classifiers that see a statement alone guess YES, NO or MAYBE; guessing blindly gets a third right.
Naive Bayes on words and pairs of words is the one that ``inference_test`` is filtered with; naive
Bayes on pieces of two to five characters and a logistic regression, which had no say in the choice,
show how far the filtered figure depends on it. Each is measured on groups of books and on all of
them, by cross-validation over the stories in five folds (trained on four folds of the same books),
and on the test part, trained on the train part. Prints the rows of the table in data/README.md.

--choose writes data/lantern_reader/inference_test.txt anew, which is needed whenever statements are
reworded. The rule: the stories of the test part, in the order of how many of their three statements
naive Bayes gets right, then of how sure it is of the right labels (the mean logarithm of their
probability); of these the longest beginning of which it gets at most 45 % right.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch

from benchmarks.study import Study, command
from helpers.data.lantern_reader import LABELS, Story, inference_test, read_stories
from helpers.data.reading import DATA_FOLDER
from helpers.files import write_whole
from helpers.models.naive_bayes import NaiveBayes, pieces, words_and_pairs

STUDY = Study(__file__, dict)
CHOSEN = DATA_FOLDER / "lantern_reader" / "inference_test.txt"
GROUPS = {"books 01-08": (1, 8), "books 09-17": (9, 17), "books 18-24": (18, 24), "all": (1, 24)}
MOST = 0.45  # of the statements of `inference_test`
FOLDS = 5
PENALTY = 3.0  # of the logistic regression; among 1 and 3 the better one by cross-validation

# Trained on the statements of the first stories: (3 N, 3) log-probabilities for the second ones.
Classifier = Callable[[Sequence[Story], Sequence[Story]], np.ndarray]


def statements(stories: Sequence[Story]) -> tuple[list[str], list[int]]:
    """All statements, three for each story, and their labels."""
    texts = [statement for story in stories for statement in story.statements]
    return texts, list(range(len(LABELS))) * len(stories)


def naive_bayes(features: Callable, train: Sequence[Story], test: Sequence[Story]) -> np.ndarray:
    return NaiveBayes(*statements(train), features).log_posteriors(statements(test)[0])


naive_bayes_on_words = partial(naive_bayes, words_and_pairs)  # and pairs of neighbouring words
naive_bayes_on_pieces = partial(naive_bayes, pieces)  # runs of two to five characters


def logistic_regression(train: Sequence[Story], test: Sequence[Story]) -> np.ndarray:
    """Logistic regression on words and pairs, with a quadratic penalty; fitted by L-BFGS."""
    texts, labels = statements(train)
    rows: dict[str, int] = {}
    found = [
        [rows.setdefault(f, len(rows)) for f in sorted(words_and_pairs(text))] for text in texts
    ]
    (inputs, starts), y = _bags(found), torch.tensor(labels)
    weight = torch.zeros(len(rows), len(LABELS), dtype=torch.float64, requires_grad=True)
    fit = torch.optim.LBFGS([weight], max_iter=60, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        fit.zero_grad()
        scores = torch.nn.functional.embedding_bag(inputs, weight, starts, mode="sum")
        value = torch.nn.functional.cross_entropy(scores, y, reduction="sum")
        value = value + PENALTY / 2 * weight.square().sum()
        value.backward()
        return value

    fit.step(loss)
    known = [
        sorted(rows[f] for f in words_and_pairs(text) if f in rows) for text in statements(test)[0]
    ]
    bags, offsets = _bags(known)
    with torch.no_grad():
        scores = torch.nn.functional.embedding_bag(bags, weight, offsets, mode="sum")
        return scores.log_softmax(1).numpy()


CLASSIFIERS: dict[str, Classifier] = {
    "naive Bayes, words and pairs": naive_bayes_on_words,
    "naive Bayes, pieces of words": naive_bayes_on_pieces,
    "logistic regression, words and pairs": logistic_regression,
}


def cross_validated(classifier: Classifier, stories: Sequence[Story]) -> np.ndarray:
    """(3 N, 3): log-probabilities of each story's statements, from the other four folds."""
    folds = np.array([int(hashlib.sha256(s.id.encode()).hexdigest(), 16) % FOLDS for s in stories])
    result = np.zeros((3 * len(stories), len(LABELS)))
    for fold in range(FOLDS):
        train = [story for story, its in zip(stories, folds, strict=True) if its != fold]
        test = [story for story, its in zip(stories, folds, strict=True) if its == fold]
        result[np.repeat(folds == fold, 3)] = classifier(train, test)
    return result


def right(log_probabilities: np.ndarray) -> np.ndarray:
    """(N, 3) bool: is the right label the most probable one, for each statement of each story?"""
    return log_probabilities.argmax(1).reshape(-1, 3) == np.arange(3)


def right_with_one_of_each(log_probabilities: np.ndarray) -> np.ndarray:
    """(N, 3) bool: likewise, for who knows that a story has one statement of each label."""
    orders = np.array(list(itertools.permutations(range(3))))
    scores = log_probabilities.reshape(-1, 3, 3)[:, np.arange(3), orders].sum(2)  # (N, 6)
    return orders[scores.argmax(1)] == np.arange(3)


def choose(log_probabilities: np.ndarray) -> np.ndarray:
    """(N,) bool: the most stories, by the rule above, of which at most 45 % are right."""
    correct = right(log_probabilities).sum(1)
    sure = log_probabilities.reshape(-1, 3, 3)[:, np.arange(3), np.arange(3)].mean(1)
    order = np.lexsort((sure, correct))
    shares = correct[order].cumsum() / (3 * np.arange(1, len(order) + 1))
    chosen = np.zeros(len(order), dtype=bool)
    chosen[order[: np.flatnonzero(shares <= MOST)[-1] + 1]] = True
    return chosen


def main() -> None:
    parser = command(__doc__)
    parser.add_argument("--choose", action="store_true", help="write inference_test.txt anew")
    stories, train, test = read_stories(), read_stories("train"), read_stories("test")
    if parser.parse_args().choose:
        kept = choose(naive_bayes_on_words(train, test))
        ids = [story.id for story, keep in zip(test, kept, strict=True) if keep]
        write_whole(CHOSEN, "\n".join(ids) + "\n")
    filtered = {story.id for story in inference_test()}
    kept = np.array([story.id in filtered for story in test])

    rows: dict[str, dict[str, float]] = {}
    for name, classifier in CLASSIFIERS.items():
        row = {}
        for group, (first, last) in GROUPS.items():
            some = [story for story in stories if first <= int(story.book) <= last]
            row[group] = float(right(cross_validated(classifier, some)).mean())
        found = classifier(train, test)
        row["test part"] = float(right(found).mean())
        row["`inference_test`"] = float(right(found)[kept].mean())
        row["test part, one of each"] = float(right_with_one_of_each(found).mean())
        row["`inference_test`, one of each"] = float(right_with_one_of_each(found)[kept].mean())
        rows[name] = row
        shown = " | ".join(f"{100 * share:.1f} %" for share in row.values())
        print(f"| {name} | {shown} |", flush=True)
    texts = "\n".join(statements(stories)[0])
    sha256 = hashlib.sha256(texts.encode()).hexdigest()
    known = {"test part": len(test), "`inference_test`": int(kept.sum())}
    STUDY.write(**{"sha256 of the statements": sha256, "stories": known, "right": rows})


def _bags(rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Ragged rows as the input and the offsets of an embedding bag. -> (input,), (rows,)."""
    lengths = torch.tensor([0, *(len(row) for row in rows)])
    return torch.tensor([i for row in rows for i in row]), lengths.cumsum(0)[:-1]


if __name__ == "__main__":
    main()
