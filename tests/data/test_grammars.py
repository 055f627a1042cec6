"""The probabilistic grammar against its own rules, NLTK's parser and analytic values."""

from __future__ import annotations

import copy
import math
import random

import pytest
import torch

from helpers.contracts import next_log_probs
from helpers.data.grammars import GrammarSource, small_english


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture(scope="module")
def english() -> GrammarSource:
    return small_english()


def derive(grammar: GrammarSource, chooser: random.Random) -> tuple[list[str], float]:
    """A random sentence with its end, and the log of the product of its rule probabilities."""

    def expand(symbol: str) -> tuple[list[str], float]:
        if symbol not in grammar.rules:
            return [symbol], 0.0
        options = grammar.rules[symbol]
        p, symbols = chooser.choices(options, weights=[p for p, _ in options])[0]
        parts = [expand(child) for child in symbols]
        words = [word for part, _ in parts for word in part]
        return words, math.log(p) + sum(log_p for _, log_p in parts)

    words, log_p = expand(next(iter(grammar.rules)))
    return [*words, grammar.end], log_p


def losses(source: GrammarSource, tokens: torch.Tensor) -> torch.Tensor:
    state, previous, values = source.start(1), torch.tensor([source.bos]), []
    for token in tokens.view(-1, 1):
        log_probs, state = source.step(previous, state)
        values.append(-log_probs[0, token])
        previous = token
    return torch.cat(values)


def ids(grammar: GrammarSource, words: list[str]) -> torch.Tensor:
    return torch.tensor([grammar.words.index(word) for word in words])


# The small English grammar


def test_a_sentence_has_the_probability_of_its_one_derivation(english):
    """Equal only where a sentence has no second derivation: its probability would be larger."""
    chooser = random.Random(1)
    for _ in range(400):
        words, log_p = derive(english, chooser)
        assert -float(losses(english, ids(english, words)).sum()) == pytest.approx(log_p, abs=1e-9)


def test_a_parser_finds_one_tree_for_each_sentence(english):
    nltk = pytest.importorskip("nltk")
    rules = [
        f"{head} -> " + " ".join(s if s in english.rules else f"'{s}'" for s in symbols)
        for head, options in english.rules.items()
        for _, symbols in options
    ]
    parser = nltk.ChartParser(nltk.CFG.fromstring("\n".join(rules)))
    chooser, sentences = random.Random(2), []
    while len(sentences) < 40:
        words, _ = derive(english, chooser)
        if 8 <= len(words) <= 24:
            sentences.append(words[:-1])
    assert any(words.count("that") > 1 for words in sentences)
    for words in sentences:
        assert len(list(parser.parse(words))) == 1, " ".join(words)


def test_subject_and_verb_agree_across_a_clause(english):
    before = "the sailors that the cat near the geese"

    def share(words: str, verb: str) -> float:
        log_probs = next_log_probs(english, ids(english, words.split()))
        return float(log_probs[english.words.index(verb)])

    assert share(before, "sees") > -math.inf == share(before, "see")
    before += " sees"
    assert share(before, "sleep") > -math.inf == share(before, "sleeps")


def test_english_has_a_vocabulary_for_a_lesson(english):
    assert 30 <= english.vocab_size <= 60
    assert len(set(english.words)) == english.vocab_size == english.bos
    assert english.words[-1] == "."
    assert english.decode(ids(english, ["the", "cat", "sleeps", "."])) == "the cat sleeps ."


def test_a_long_sample_meets_length_and_entropy_rate(english):
    """Sentences are independent: five standard errors of their means."""
    text = english.sample(20_000, generator(3))
    values = losses(english, text)
    ends = (text == english.vocab_size - 1).nonzero().flatten() + 1
    lengths = ends.diff(prepend=torch.zeros(1, dtype=torch.long)).double()
    sums = values[: ends[-1]].cumsum(0)[ends - 1].diff(prepend=torch.zeros(1, dtype=torch.float64))
    for found, expected in (
        (lengths, english.expected_length),
        (sums, english.derivation_entropy),
        (sums - english.entropy_rate() * lengths, 0.0),
    ):
        error = float(found.std() / len(found) ** 0.5)
        assert abs(float(found.mean()) - expected) < 5 * error
    assert english.entropy_rate() == english.derivation_entropy / english.expected_length


# Grammars with known answers


def test_repeating_a_word_is_the_geometric_law():
    """S -> a S | a with probability p of going on: n words with probability p^(n-1) (1 - p)."""
    p = 0.8
    grammar = GrammarSource({"S": [(p, ("a", "S")), (1 - p, ("a",))]})
    choice = -p * math.log(p) - (1 - p) * math.log(1 - p)
    assert grammar.expected_length == pytest.approx(1 / (1 - p) + 1)
    assert grammar.entropy_rate() == pytest.approx(choice / (1 - p) / (1 / (1 - p) + 1))
    for n in (1, 2, 7):
        assert next_log_probs(grammar, [0] * n).exp().tolist() == pytest.approx([p, 1 - p])


def test_nested_brackets_are_never_confused():
    """a^n b^n, which no Markov source of finite order can produce."""
    grammar = GrammarSource({"S": [(0.5, ("a", "S", "b")), (0.5, ("a", "b"))]})
    a, b, end = ids(grammar, ["a", "b", "."]).tolist()
    for n in range(1, 6):
        for closed in range(1, n):
            assert next_log_probs(grammar, [a] * n + [b] * closed)[b] == 0
        assert next_log_probs(grammar, [a] * n + [b] * n)[end] == 0


def test_all_derivations_of_an_ambiguous_sentence_count():
    """Words come singly or in pairs: P(n words) obeys f(n) = p f(n-1) + q f(n-2)."""
    p, q, last = 0.4, 0.3, 0.3
    grammar = GrammarSource({"S": [(p, ("a", "S")), (q, ("a", "a", "S")), (last, ("a",))]})
    known = [0.0, last]
    for n in range(2, 12):
        known.append(p * known[n - 1] + q * known[n - 2])
        found = float(losses(grammar, ids(grammar, ["a"] * n + ["."])).sum())
        assert math.exp(-found) == pytest.approx(known[n])
    for n in range(12, 400):
        known.append(p * known[n - 1] + q * known[n - 2])
    sentences = -sum(f * math.log(f) for f in known if f > 0)
    assert grammar.derivation_entropy > sentences + 0.1  # an upper bound here, as documented
    assert grammar.expected_length == pytest.approx(sum((n + 1) * f for n, f in enumerate(known)))


def test_words_that_vanish():
    """An optional word, by enumeration: sentences b, a b, b c, a b c and their ends."""
    grammar = GrammarSource(
        {
            "S": [(1.0, ("A", "b", "C"))],
            "A": [(0.25, ("a",)), (0.75, ())],
            "C": [(0.4, ("D", "D", "c")), (0.6, ("D",))],
            "D": [(1.0, ())],
        }
    )
    expected = {"b .": 0.45, "a b .": 0.15, "b c .": 0.3, "a b c .": 0.1}
    for sentence, p in expected.items():
        found = float(losses(grammar, ids(grammar, sentence.split())).sum())
        assert math.exp(-found) == pytest.approx(p)
    known = -sum(p * math.log(p) for p in expected.values())
    assert grammar.derivation_entropy == pytest.approx(known)
    assert grammar.expected_length == pytest.approx(2 + 0.25 + 0.4)


# The predictor contract


def test_rows_are_distributions_and_only_samples_are_possible(english):
    state, previous = english.start(8), torch.full((8,), english.bos)
    for tokens in english.sample(2000, generator(4)).view(8, -1).T:
        log_probs, state = english.step(previous, state)
        assert log_probs.shape == (8, english.vocab_size)
        torch.testing.assert_close(log_probs.exp().sum(1), torch.ones(8, dtype=torch.float64))
        previous = tokens


def test_a_batch_is_its_texts_one_at_a_time(english):
    texts = torch.stack([english.sample(40, generator(seed)) for seed in range(4)])
    texts = torch.cat([torch.full((4, 1), english.bos), texts], dim=1)
    states, singles = english.start(4), [english.start(1) for _ in range(4)]
    for column in texts.T:
        log_probs, states = english.step(column, states)
        for i, token in enumerate(column):
            alone, singles[i] = english.step(token.view(1), singles[i])
            assert torch.equal(log_probs[i], alone[0])


def test_step_leaves_its_state_alone(english):
    _, state = english.step(torch.tensor([english.bos]), english.start(1))
    for token in english.sample(60, generator(5)).view(-1, 1):
        kept = copy.deepcopy(state)
        first, following = english.step(token, state)
        second, _ = english.step(token, state)
        assert torch.equal(first, second)
        assert state == kept
        state = following


def test_after_the_end_or_an_impossible_word_a_sentence_begins(english):
    start = next_log_probs(english, [])
    for words in ("the cat sleeps .", "sleeps", "the the", "the cat sleeps . a cats"):
        assert torch.equal(next_log_probs(english, ids(english, words.split())), start)
    _, state = english.step(torch.tensor([english.bos]), english.start(1))
    _, state = english.step(ids(english, ["the"]), state)
    assert torch.equal(english.step(torch.tensor([english.bos]), state)[0][0], start)


def test_samples_are_repeatable_and_of_the_asked_length(english):
    for n in (1, 5, 5000):
        sample = english.sample(n, generator(6))
        assert sample.shape == (n,)
        assert sample.dtype == torch.long
        assert torch.equal(sample, english.sample(n, generator(6)))
    with pytest.raises(ValueError, match="at least one token"):
        english.sample(0, generator())


# Bad input


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({}, "has no rules"),
        ({"S": [(0.5, ("a",)), (0.4, ("b",))]}, "numbers >= 0 that sum to 1"),
        ({"S": [(1.5, ("a",)), (-0.5, ("b",))]}, "numbers >= 0 that sum to 1"),
        ({"S": []}, "numbers >= 0 that sum to 1"),
        ({"s": [(1.0, ("a",))]}, "write it in capitals, as 'S'"),
        ({"S": [(1.0, ("NP", "a"))]}, "the nonterminal 'NP', which has no rules"),
        ({"S": [(1.0, ("a", "."))]}, "closes sentences"),
        ({"S": [(0.1, ("S", "a")), (0.9, ("a",))]}, "'S' is left recursive"),
        (
            {"S": [(1.0, ("A", "a"))], "A": [(0.5, ("b",)), (0.5, ("B",))], "B": [(1.0, ("A",))]},
            "'A' is left recursive",
        ),
        (
            {"S": [(0.1, ("E", "S", "a")), (0.9, ("a",))], "E": [(0.5, ()), (0.5, ("e",))]},
            "'S' is left recursive",
        ),
        ({"S": [(0.5, ("a", "S", "S")), (0.5, ("a",))]}, "no finite expected length"),
        ({"S": [(1.0, ("a", "S"))]}, "no finite expected length"),
    ],
)
def test_bad_rules_are_named(rules, message):
    with pytest.raises(ValueError, match=message):
        GrammarSource(rules)
