"""Sampling: seeded, distributed as the model says, and shaped by the settings."""

from __future__ import annotations

import pytest
import torch
from scipy import stats

from helpers.contracts import next_log_probs
from helpers.inference.filters import token_probabilities
from helpers.inference.rules import AS_PREDICTED, Rules
from helpers.inference.sampling import sample, stream
from helpers.models.ngram import AddK
from tests.inference.small_predictors import STOP, Sources, network

LIKELIEST = Rules(temperature=0)


@pytest.fixture(scope="module")
def model():
    tokens = torch.randint(4, (400,), generator=torch.Generator().manual_seed(1))
    return AddK(2).fit(tokens * tokens // 3, 4)


def test_the_same_seed_gives_the_same_text(model):
    draws = [sample(model, 30, torch.Generator().manual_seed(s)) for s in (0, 0, 1)]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])
    assert draws[0].shape == (1, 30)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_draws_follow_the_distribution(model, temperature):
    draws = sample(
        model, 1, torch.Generator().manual_seed(3), [2], Rules(temperature), batch_size=4000
    )
    p = next_log_probs(model, [2]).exp() ** (1 / temperature)
    observed = torch.bincount(draws[:, 1], minlength=4).numpy()
    expected = (p / p.sum() * len(draws)).numpy()
    assert stats.chisquare(observed, expected).pvalue > 1e-4


def test_temperature_zero_takes_the_likeliest(model):
    text = sample(model, 8, torch.Generator(), rules=LIKELIEST, prompt=[1])[0]
    for t in range(1, 9):
        assert text[t] == next_log_probs(model, text[:t]).argmax()


def test_bad_input(model):
    for draw in (sample, stream):  # a stream refuses at the call
        for settings, message in (
            ({"length": -1}, "length is -1; expected a whole number"),
            ({"prompt": [9]}, "outside"),
            ({"prompt": [[1], [9]]}, "outside"),
            ({"prompt": "Once"}, "The prompt is text"),
            ({"prompt": ["Once", "upon"]}, "The prompt is text"),
            ({"batch_size": 0}, "batch_size is 0"),
            ({"prompt": [[1], [2]], "batch_size": 3}, "batch_size is 3, and 2 prompt"),
            ({"stop": 4}, "stop is 4; expected a token"),
            ({"stop": [1, -1]}, "stop is -1; expected a token"),
        ):
            with pytest.raises(ValueError, match=message):
                draw(model, **{"length": 1, "generator": torch.Generator(), **settings})


# --- Sampling with settings, stop tokens, prompts of their own, and as a stream


def plainly(predictor, length, generator, prompt=(), rules=AS_PREDICTED, batch_size=1):
    """Sampling without any setting but the temperature, in its shortest form."""
    text = torch.tensor([predictor.bos, *prompt]).repeat(batch_size, 1)
    state = predictor.start(batch_size)
    for column in text[:, :-1].unbind(1):
        _, state = predictor.step(column, state)
    for _ in range(length):
        log_p, state = predictor.step(text[:, -1], state)
        p = torch.softmax(log_p / rules.temperature, -1)
        text = torch.cat([text, torch.multinomial(p, 1, generator=generator)], 1)
    return text[:, 1:]


@pytest.mark.parametrize("temperature", [0.3, 0.7, 1.0, 1.9])
@pytest.mark.parametrize("prompt", [[], [1], [2, 0, 2]])
@pytest.mark.parametrize("batch_size", [1, 5])
def test_without_settings_the_draws_are_the_plain_loops(model, temperature, prompt, batch_size):
    """The same random numbers for the same tokens, so a seed gives the text that it always gave."""
    for predictor in (model, network(3)):
        prompt = [token % 3 for token in prompt]
        for seed in range(2):
            drawn, wanted = (
                draw(
                    predictor,
                    30,
                    torch.Generator().manual_seed(seed),
                    prompt=prompt,
                    rules=Rules(temperature),
                    batch_size=batch_size,
                )
                for draw in (sample, plainly)
            )
            assert torch.equal(drawn, wanted)


def test_the_settings_act_at_every_step():
    """Each drawn token is one that the filters left, given the text so far."""
    predictor, rules = network(7, 6), Rules(1.5, top_k=4, top_p=0.8, repetition=2.0)
    text = sample(predictor, 25, torch.Generator().manual_seed(2), [1], rules)[0]
    shut = 0
    for t in range(1, 26):
        log_p = next_log_probs(predictor, text[:t])[None]
        p = token_probabilities(log_p, text[None, :t], rules)[0]
        assert p[text[t]] > 0
        shut += int((p == 0).sum())
    assert shut >= 25 * 2
    one = sample(predictor, 25, torch.Generator(), [1], Rules(3.0, top_k=1))
    assert torch.equal(one, sample(predictor, 25, torch.Generator(), [1], rules=LIKELIEST))


def test_stop_tokens_end_each_text_by_itself(model):
    """A text is what it would be without the stop token, up to there: the others do not matter."""
    stop, prompt = 2, [2, 1]  # in a prompt it ends nothing
    texts = sample(model, 12, torch.Generator().manual_seed(1), prompt, Rules(1.5), 30, stop=stop)
    uncut = sample(model, 12, torch.Generator().manual_seed(1), prompt, Rules(1.5), 30).tolist()
    ends = [full.index(stop, 2) if stop in full[2:] else 14 for full in uncut]
    assert [text.tolist() for text in texts] == [full[:end] for full, end in zip(uncut, ends)]
    assert 14 in ends
    assert len(set(ends)) > 3, "some stop early, some late, some never"
    assert all(text.dtype == torch.long for text in texts)
    never = sample(model, 5, torch.Generator().manual_seed(1), prompt, stop=[])
    assert [len(text) for text in never] == [7]


def test_several_stop_tokens_and_texts_that_stop_at_once():
    sources = Sources([1, 3, 0], [], [0], [3, 3, 1, 1, 0])
    texts = sample(sources, 9, torch.Generator(), rules=LIKELIEST, batch_size=4, stop=[STOP])
    assert [text.tolist() for text in texts] == [[1, 3, 0], [], [0], [3, 3, 1, 1, 0]]
    texts = sample(sources, 9, torch.Generator(), rules=LIKELIEST, batch_size=4, stop=[STOP, 3, 0])
    assert [text.tolist() for text in texts] == [[1], [], [], []]


class Counting:
    """A predictor that remembers what it was asked."""

    def __init__(self, predictor):
        self.predictor, self.steps = predictor, []
        self.vocab_size, self.bos = predictor.vocab_size, predictor.bos

    def start(self, batch_size):
        return self.predictor.start(batch_size)

    def step(self, tokens, state):
        self.steps.append(tokens.tolist())
        return self.predictor.step(tokens, state)


class Reading(Counting):
    """The same with a way to read many tokens at once."""

    def read(self, tokens, state):
        self.steps.append(tokens.tolist())
        rows = []
        for column in tokens.unbind(1):
            log_p, state = self.predictor.step(column, state)
            rows.append(log_p)
        return torch.stack(rows, 1), state


PROMPTS = [[1, 0, 2, 2], [0], [2, 1]]


@pytest.mark.parametrize("kind", [Counting, Reading])
def test_prompts_of_unequal_length_go_their_own_ways(kind):
    """At temperature 0 each text is the one that its prompt alone leads to."""
    longest = {len(prompt): 0 for prompt in PROMPTS}
    for seed in range(5):
        predictor = kind(network(seed))
        texts = sample(predictor, 6, torch.Generator(), PROMPTS, rules=LIKELIEST)
        for text, prompt in zip(texts, PROMPTS):
            alone = sample(network(seed), 6, torch.Generator(), prompt, rules=LIKELIEST)
            assert text.tolist() == alone[0].tolist()
        cut = sample(predictor, 6, torch.Generator(), PROMPTS, rules=LIKELIEST, stop=STOP)
        for text, prompt, full in zip(cut, PROMPTS, texts):
            new = full[len(prompt) :].tolist()
            new = new[: new.index(STOP)] if STOP in new else new
            assert text.tolist() == prompt + new
            longest[len(prompt)] = max(longest[len(prompt)], len(new))
    assert min(longest.values()) > 0, "a stop token in a prompt ends nothing"
    as_tensors = [torch.tensor(prompt) for prompt in PROMPTS]
    again = sample(predictor, 6, torch.Generator(), as_tensors, rules=LIKELIEST, batch_size=3)
    assert [text.tolist() for text in again] == [text.tolist() for text in texts]


@pytest.mark.parametrize("size", [0, 1, 4])
def test_prompts_in_a_tensor_give_a_tensor(model, size):
    prompts = torch.randint(4, (3, size), generator=torch.Generator().manual_seed(0))
    texts = sample(model, 5, torch.Generator(), prompts, rules=LIKELIEST)
    assert texts.shape == (3, size + 5)
    as_list = sample(model, 5, torch.Generator(), prompts.tolist(), rules=LIKELIEST)
    assert texts.tolist() == [text.tolist() for text in as_list]
    one = sample(model, 5, torch.Generator(), prompts[:1], rules=LIKELIEST, batch_size=2)
    assert one.tolist() == [texts[0].tolist()] * 2


def test_a_stream_hands_out_what_sample_returns():
    predictor, prompt = network(4), [1, 2]
    texts = sample(predictor, 20, torch.Generator().manual_seed(3), prompt, Rules(1.2), 4)
    columns = list(stream(predictor, 20, torch.Generator().manual_seed(3), prompt, Rules(1.2), 4))
    assert torch.equal(torch.stack(columns, 1), texts[:, 2:])
    assert list(stream(predictor, 0, torch.Generator(), prompt)) == []
    assert sample(predictor, 0, torch.Generator(), prompt).tolist() == [[1, 2]]


def test_a_stream_of_unequal_prompts_keeps_step():
    columns = list(stream(network(0), 2, torch.Generator().manual_seed(0), PROMPTS))
    rows = torch.stack(columns, 1).tolist()
    assert [len(row) for row in rows] == [5, 5, 5]
    assert rows[0][:3] == PROMPTS[0][1:]
    assert rows[2][:1] == PROMPTS[2][1:]
    texts = sample(network(0), 2, torch.Generator().manual_seed(0), PROMPTS)
    drawn = [rows[0][3:], rows[1][:2], rows[2][1:3]]
    assert [text.tolist() for text in texts] == [p + new for p, new in zip(PROMPTS, drawn)]


def test_a_model_whose_weights_are_no_numbers_is_not_sampled_from():
    predictor = network(0)
    next(predictor.model.parameters()).data.fill_(float("nan"))
    for rules in (AS_PREDICTED, LIKELIEST):
        with pytest.raises(ValueError, match="gives NaN for a log-probability"):
            sample(predictor, 2, torch.Generator(), rules=rules)


def test_a_stream_computes_only_what_is_asked_for():
    predictor = Counting(network(0))
    generator = torch.Generator().manual_seed(0)
    running = stream(predictor, 1000, generator, [1, 2])
    assert predictor.steps == []
    first = next(running)
    assert len(predictor.steps) == 3, "bos and the prompt"
    first.fill_(0)  # what the caller does with a token does not change the text
    next(running)
    plain = sample(network(0), 2, torch.Generator().manual_seed(0), [1, 2])
    assert predictor.steps[-1] == plain[:, 2].tolist()
    running.close()
    assert len(predictor.steps) == 4
