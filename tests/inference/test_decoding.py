"""Sampling: seeded, distributed as the model says, and shaped by the settings.

Greedy and beam search are held against the list of all texts, each with its probability.
"""

from __future__ import annotations

from itertools import product

import pytest
import torch
from scipy import stats

from helpers.contracts import next_log_probs
from helpers.inference.decoding import beam_search, greedy, sample, stream, token_probabilities
from helpers.inference.neural_predictor import RecurrentPredictor
from helpers.models.ngram import AddK, MaximumLikelihood
from helpers.models.recurrent_cells import GRUCell
from helpers.models.recurrent_models import RecurrentLM


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
        model, 1, torch.Generator().manual_seed(3), [2], temperature=temperature, batch_size=4000
    )
    p = next_log_probs(model, [2]).exp() ** (1 / temperature)
    observed = torch.bincount(draws[:, 1], minlength=4).numpy()
    expected = (p / p.sum() * len(draws)).numpy()
    assert stats.chisquare(observed, expected).pvalue > 1e-4


def test_temperature_zero_takes_the_likeliest(model):
    text = sample(model, 8, torch.Generator(), temperature=0, prompt=[1])[0]
    for t in range(1, 9):
        assert text[t] == next_log_probs(model, text[:t]).argmax()


def test_a_certain_model_repeats_its_text():
    model = MaximumLikelihood(2).fit(torch.tensor([0, 1, 2, 0, 1, 2, 0]), 3)
    assert sample(model, 6, torch.Generator())[0].tolist() == [0, 1, 2, 0, 1, 2]


def test_bad_input(model):
    for draw in (sample, stream):  # a stream refuses at the call
        for settings, message in (
            ({"length": -1}, "negative"),
            ({"temperature": -0.5}, "negative"),
            ({"temperature": float("nan")}, "temperature is nan"),
            ({"prompt": [9]}, "outside"),
            ({"prompt": [[1], [9]]}, "outside"),
            ({"prompt": "Once"}, "The prompt is text"),
            ({"prompt": ["Once", "upon"]}, "The prompt is text"),
            ({"batch_size": 0}, "batch_size is 0"),
            ({"prompt": [[1], [2]], "batch_size": 3}, "batch_size is 3, and 2 prompt"),
            ({"stop": 4}, "stop is 4; expected a token"),
            ({"stop": [1, -1]}, "stop is -1; expected a token"),
            ({"top_k": 0}, "top_k is 0"),
            ({"top_p": 0.0}, "top_p is 0"),
            ({"repetition": 0.0}, "repetition is 0"),
        ):
            with pytest.raises(ValueError, match=message):
                draw(model, **{"length": 1, "generator": torch.Generator(), **settings})


# --- Sampling with settings, stop tokens, prompts of their own, and as a stream


def plainly(predictor, length, generator, prompt=(), temperature=1.0, batch_size=1):
    """Sampling without any setting but the temperature, in its shortest form."""
    text = torch.tensor([predictor.bos, *prompt]).repeat(batch_size, 1)
    state = predictor.start(batch_size)
    for column in text[:, :-1].unbind(1):
        _, state = predictor.step(column, state)
    for _ in range(length):
        log_p, state = predictor.step(text[:, -1], state)
        p = torch.softmax(log_p / temperature, -1)
        text = torch.cat([text, torch.multinomial(p, 1, generator=generator)], 1)
    return text[:, 1:]


@pytest.mark.parametrize("temperature", [0.3, 0.7, 1.0, 1.9])
@pytest.mark.parametrize("prompt", [[], [1], [2, 0, 2]])
@pytest.mark.parametrize("batch_size", [1, 5])
def test_without_settings_the_draws_are_the_plain_loops(model, temperature, prompt, batch_size):
    """The same random numbers for the same tokens, so a seed gives the text that it always gave."""
    for predictor in (model, network(3)):
        prompt = [token % 3 for token in prompt]
        for seed in range(3):
            drawn, wanted = (
                draw(
                    predictor,
                    60,
                    torch.Generator().manual_seed(seed),
                    prompt=prompt,
                    temperature=temperature,
                    batch_size=batch_size,
                )
                for draw in (sample, plainly)
            )
            assert torch.equal(drawn, wanted)


def test_settings_that_change_nothing_change_nothing(model):
    plain = sample(model, 50, torch.Generator().manual_seed(5), [1], batch_size=3)
    settings = {"top_k": 99, "top_p": 1.0, "repetition": 1.0}
    again = sample(model, 50, torch.Generator().manual_seed(5), [1], batch_size=3, **settings)
    assert torch.equal(plain, again)


def test_the_settings_act_at_every_step():
    """Each drawn token is one that the filters left, given the text so far."""
    predictor, settings = network(7, 6), {"temperature": 1.5, "top_k": 4, "top_p": 0.8}
    text = sample(predictor, 25, torch.Generator().manual_seed(2), [1], repetition=2.0, **settings)[
        0
    ]
    shut = 0
    for t in range(1, 26):
        log_p = next_log_probs(predictor, text[:t])[None]
        p = token_probabilities(log_p, text[None, :t], repetition=2.0, **settings)[0]
        assert p[text[t]] > 0
        shut += int((p == 0).sum())
    assert shut >= 25 * 2
    one = sample(predictor, 25, torch.Generator(), [1], temperature=3.0, top_k=1)
    assert torch.equal(one, sample(predictor, 25, torch.Generator(), [1], temperature=0))


def test_a_large_penalty_says_every_token_once():
    class Even:
        vocab_size, bos = 8, 8

        def start(self, batch_size):
            return None

        def step(self, tokens, state):
            return torch.full((len(tokens), 8), 1 / 8, dtype=torch.float64).log(), None

    drawn = sample(
        Even(), 6, torch.Generator().manual_seed(0), [3, 5], batch_size=50, repetition=99
    )
    assert drawn.sort(1).values.tolist() == [list(range(8))] * 50, "the prompt counts too"
    again = sample(Even(), 6, torch.Generator().manual_seed(0), [3, 5], batch_size=50)
    assert any(len(set(row)) < 8 for row in again.tolist())


def test_stop_tokens_end_each_text_by_itself(model):
    """A text is what it would be without the stop token, up to there: the others do not matter."""
    stop, prompt = 2, [2, 1]  # in a prompt it ends nothing
    texts = sample(model, 12, torch.Generator().manual_seed(1), prompt, 1.5, 30, stop=stop)
    uncut = sample(model, 12, torch.Generator().manual_seed(1), prompt, 1.5, 30).tolist()
    ends = [full.index(stop, 2) if stop in full[2:] else 14 for full in uncut]
    assert [text.tolist() for text in texts] == [full[:end] for full, end in zip(uncut, ends)]
    assert 14 in ends
    assert len(set(ends)) > 3, "some stop early, some late, some never"
    assert all(text.dtype == torch.long for text in texts)
    never = sample(model, 5, torch.Generator().manual_seed(1), prompt, stop=[])
    assert [len(text) for text in never] == [7]


def test_several_stop_tokens_and_texts_that_stop_at_once():
    sources = Sources([1, 3, 0], [], [0], [3, 3, 1, 1, 0])
    texts = sample(sources, 9, torch.Generator(), temperature=0, batch_size=4, stop=[STOP])
    assert [text.tolist() for text in texts] == [[1, 3, 0], [], [0], [3, 3, 1, 1, 0]]
    texts = sample(sources, 9, torch.Generator(), temperature=0, batch_size=4, stop=[STOP, 3, 0])
    assert [text.tolist() for text in texts] == [[1], [], [], []]


def test_a_stopped_text_is_distributed_as_one_drawn_alone():
    """The lengths of texts that stop with probability 1/4 at each step are geometric."""

    class Coin:
        vocab_size, bos = 2, 2

        def start(self, batch_size):
            return None

        def step(self, tokens, state):
            return torch.tensor([[0.75, 0.25]]).log().expand(len(tokens), -1), None

    texts = sample(Coin(), 5, torch.Generator().manual_seed(4), batch_size=8000, stop=1)
    observed = torch.bincount(torch.tensor([len(text) for text in texts]), minlength=6)
    p = torch.tensor([*(0.25 * 0.75**n for n in range(5)), 0.75**5])
    assert stats.chisquare(observed.numpy(), (p / p.sum() * 8000).numpy()).pvalue > 1e-4


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
        texts = sample(predictor, 6, torch.Generator(), PROMPTS, temperature=0)
        for text, prompt in zip(texts, PROMPTS):
            alone = sample(network(seed), 6, torch.Generator(), prompt, temperature=0)
            assert text.tolist() == alone[0].tolist()
        cut = sample(predictor, 6, torch.Generator(), PROMPTS, temperature=0, stop=STOP)
        for text, prompt, full in zip(cut, PROMPTS, texts):
            new = full[len(prompt) :].tolist()
            new = new[: new.index(STOP)] if STOP in new else new
            assert text.tolist() == prompt + new
            longest[len(prompt)] = max(longest[len(prompt)], len(new))
    assert min(longest.values()) > 0, "a stop token in a prompt ends nothing"
    as_tensors = [torch.tensor(prompt) for prompt in PROMPTS]
    again = sample(predictor, 6, torch.Generator(), as_tensors, temperature=0, batch_size=3)
    assert [text.tolist() for text in again] == [text.tolist() for text in texts]


def test_draws_after_unequal_prompts_follow_the_distribution():
    predictor, prompts = network(2), [[1, 0, 2], [0]] * 3000
    texts = sample(predictor, 2, torch.Generator().manual_seed(6), prompts)
    for first, prompt in enumerate(prompts[:2]):
        firsts = torch.stack(texts[first::2])[:, len(prompt)]
        expected = next_log_probs(predictor, prompt).exp() * len(firsts)
        observed = torch.bincount(firsts, minlength=3)
        assert stats.chisquare(observed.numpy(), expected.numpy()).pvalue > 1e-4


def test_prompts_are_read_in_one_pass_where_that_is_possible():
    predictor = Reading(network(0))
    sample(predictor, 3, torch.Generator(), [1, 0, 2], temperature=0)
    assert predictor.steps[0] == [[3, 1, 0, 2]], "bos is 3"
    assert [len(tokens[0]) for tokens in predictor.steps] == [4, 1, 1]
    predictor.steps.clear()
    sample(predictor, 2, torch.Generator(), PROMPTS, temperature=0)
    assert predictor.steps[0] == [[3, 1], [3, 0], [3, 2]], "the common part"
    assert len(predictor.steps) == 1 + 3 + 1, "the rest of the longest, and one token more"
    counting = Counting(network(0))
    sample(counting, 3, torch.Generator(), [1, 0, 2], temperature=0)
    assert len(counting.steps) == 6


@pytest.mark.parametrize("size", [0, 1, 4])
def test_prompts_in_a_tensor_give_a_tensor(model, size):
    prompts = torch.randint(4, (3, size), generator=torch.Generator().manual_seed(0))
    texts = sample(model, 5, torch.Generator(), prompts, temperature=0)
    assert texts.shape == (3, size + 5)
    as_list = sample(model, 5, torch.Generator(), prompts.tolist(), temperature=0)
    assert texts.tolist() == [text.tolist() for text in as_list]
    one = sample(model, 5, torch.Generator(), prompts[:1], temperature=0, batch_size=2)
    assert one.tolist() == [texts[0].tolist()] * 2


def test_a_stream_hands_out_what_sample_returns():
    predictor, prompt = network(4), [1, 2]
    texts = sample(predictor, 20, torch.Generator().manual_seed(3), prompt, 1.2, 4)
    columns = list(stream(predictor, 20, torch.Generator().manual_seed(3), prompt, 1.2, 4))
    assert torch.equal(torch.stack(columns, 1), texts[:, 2:])
    assert list(stream(predictor, 0, torch.Generator(), prompt)) == []
    assert sample(predictor, 0, torch.Generator(), prompt).tolist() == [[1, 2]]


def test_a_stream_fills_stopped_texts_and_ends_with_the_last():
    sources = Sources([1, 3, 0], [], [0])
    columns = list(stream(sources, 9, torch.Generator(), (), 0, 3, stop=STOP))
    assert torch.stack(columns, 1).tolist() == [
        [1, 3, 0, STOP],
        [STOP, STOP, STOP, STOP],
        [0, STOP, STOP, STOP],
    ]


def test_a_stream_ends_when_each_text_has_stopped_or_has_its_length():
    sources = Sources([1] * 20, [0, 0])  # after two tokens, the second text stops
    columns = list(stream(sources, 4, torch.Generator(), [[0], [0, 0]], 0, stop=STOP))
    assert torch.stack(columns, 1).tolist() == [[1, 1, 1, 1], [0, STOP, STOP, STOP]]


def test_a_stream_of_unequal_prompts_keeps_step():
    columns = list(stream(network(0), 2, torch.Generator().manual_seed(0), PROMPTS))
    rows = torch.stack(columns, 1).tolist()
    assert [len(row) for row in rows] == [5, 5, 5]
    assert rows[0][:3] == PROMPTS[0][1:]
    assert rows[2][:1] == PROMPTS[2][1:]
    texts = sample(network(0), 2, torch.Generator().manual_seed(0), PROMPTS)
    drawn = [rows[0][3:], rows[1][:2], rows[2][1:3]]
    assert [text.tolist() for text in texts] == [p + new for p, new in zip(PROMPTS, drawn)]


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


# --- Greedy and beam search

STOP, LENGTH = 2, 4


def network(seed, vocab_size=3):
    """A random network whose next token depends on all before it, in a state of its own."""
    torch.manual_seed(seed)
    model = RecurrentLM(GRUCell, vocab_size, 6, 12).double()
    for parameter in model.parameters():
        parameter.data *= 4
    return RecurrentPredictor(model, vocab_size)


def log_probability(predictor, tokens, max_length=LENGTH):
    """By the chain rule, with the stop token unless the text was cut."""
    tokens = [*tokens, STOP] if len(tokens) < max_length else tokens
    return float(sum(next_log_probs(predictor, tokens[:t])[y] for t, y in enumerate(tokens)))


def every_text(predictor, max_length=LENGTH):
    """All texts that stop before ``max_length`` or are cut there, the likeliest first."""
    words = [token for token in range(predictor.vocab_size) if token != STOP]
    texts = [text for n in range(max_length + 1) for text in product(words, repeat=n)]
    pairs = [(list(text), log_probability(predictor, text, max_length)) for text in texts]
    return sorted(pairs, key=lambda pair: -pair[1])


def as_lists(found):
    return [(tokens.tolist(), log_p) for tokens, log_p in found]


@pytest.mark.parametrize("seed", range(4))
def test_a_wide_beam_is_exhaustive_search(seed):
    predictor = network(seed)
    found, wanted = as_lists(beam_search(predictor, 100, STOP, LENGTH)), every_text(predictor)
    assert [tokens for tokens, _ in found] == [tokens for tokens, _ in wanted]
    assert [log_p for _, log_p in found] == pytest.approx([log_p for _, log_p in wanted])
    total = sum(torch.tensor(log_p).exp() for _, log_p in found)
    assert float(total) == pytest.approx(1), "the texts are all that can happen"


@pytest.mark.parametrize("penalty", [0.5, 1.0, 2.0])
def test_a_wide_beam_with_a_length_penalty_ranks_all_texts(penalty):
    predictor = network(1)
    found = as_lists(beam_search(predictor, 100, STOP, LENGTH, penalty))

    def ranking(pair):
        return -pair[1] / min(len(pair[0]) + 1, LENGTH) ** penalty

    wanted = sorted(every_text(predictor), key=ranking)
    assert [tokens for tokens, _ in found] == [tokens for tokens, _ in wanted]
    assert [log_p for _, log_p in found] == pytest.approx([log_p for _, log_p in wanted])
    lengths = [
        sum(len(tokens) for tokens, _ in beam_search(predictor, 8, STOP, 8, one))
        for one in (0.0, penalty)
    ]
    assert lengths[1] >= lengths[0]


@pytest.mark.parametrize("width", [2, 3])
def test_a_narrow_beam_is_the_search_by_definition(width):
    """Every step: all continuations of the beam, the best ``width`` of which are kept."""
    for seed in range(6):
        predictor = network(seed, 5)
        beam, finished = [[]], []
        for n in range(1, 7):
            texts = [[*tokens, token] for tokens in beam for token in range(5)]
            scores = [
                sum(float(next_log_probs(predictor, text[:t])[text[t]]) for t in range(len(text)))
                for text in texts
            ]
            kept = sorted(zip(scores, texts), reverse=True)[:width]
            beam = [text for _, text in kept if text[-1] != STOP and n < 6]
            finished += [(log_p, text) for log_p, text in kept if text not in beam]
        wanted = sorted(finished, reverse=True)[:width]
        found = as_lists(beam_search(predictor, width, STOP, 6))
        assert [tokens for tokens, _ in found] == [
            text[:-1] if text[-1] == STOP else text for _, text in wanted
        ]
        assert [log_p for _, log_p in found] == pytest.approx([log_p for log_p, _ in wanted])


def test_width_one_is_greedy_and_both_follow_the_likeliest_token():
    for seed in range(10):
        predictor, text = network(seed, 5), []
        while len(text) < 6:
            token = int(next_log_probs(predictor, text).argmax())
            if token == STOP:
                break
            text.append(token)
        ((tokens, log_p),) = beam_search(predictor, 1, STOP, 6)
        assert tokens.tolist() == greedy(predictor, STOP, 6)[0].tolist() == text
        assert log_p == pytest.approx(log_probability(predictor, text, 6))


def test_a_beam_finds_what_greedy_misses():
    """A garden path: the likelier first token leads to two unlikely ones."""
    tokens = torch.tensor([0, 0, STOP] * 2 + [0, 1, STOP] * 2 + [0, 3, STOP] * 2 + [1, STOP] * 4)
    model = MaximumLikelihood(3, end=STOP).fit(tokens, 4)
    assert float(next_log_probs(model, []).exp()[0]) == pytest.approx(0.6)
    assert greedy(model, STOP, 5)[0].tolist()[0] == 0
    best, log_p = beam_search(model, 2, STOP, 5)[0]
    assert best.tolist() == [1]
    assert log_p == pytest.approx(float(torch.tensor(0.4).log()))


def test_impossible_texts_are_left_out():
    model = MaximumLikelihood(2, end=STOP).fit(torch.tensor([0, 1, STOP] * 2 + [1, STOP]), 3)
    found = as_lists(beam_search(model, 50, STOP, 6))
    assert [tokens for tokens, _ in found] == [[0, 1], [1]]
    assert [log_p for _, log_p in found] == pytest.approx(
        torch.tensor([2 / 3, 1 / 3]).log().tolist()
    )


class Sources:
    """A predictor of several texts: row b says its source's words, then stops."""

    vocab_size, bos = 4, 4

    def __init__(self, *sources):
        self.sources = sources

    def start(self, batch_size):
        assert batch_size == len(self.sources)
        return 0

    def step(self, tokens, state):
        log_p = torch.full((len(tokens), 4), -5.0)
        for row, source in enumerate(self.sources):
            log_p[row, source[state] if state < len(source) else STOP] = -0.1
        return log_p, state + 1


def test_greedy_stops_each_text_of_a_batch_by_itself():
    sources = [[1, 3, 0], [], [0], [3, 3, 1, 1, 0]]
    found = greedy(Sources(*sources), STOP, 9, 4)
    assert [text.tolist() for text in found] == sources
    assert [text.tolist() for text in greedy(Sources(*sources), STOP, 2, 4)] == [
        source[:2] for source in sources
    ]
    assert found[1].dtype == torch.long


def test_a_search_that_makes_no_sense_is_refused(model):
    for search in (
        lambda stop, steps: greedy(model, stop, steps),
        lambda stop, steps: beam_search(model, 2, stop, steps),
    ):
        for stop in (-1, 4):
            with pytest.raises(ValueError, match=f"stop is {stop}; expected a token"):
                search(stop, 3)
        with pytest.raises(ValueError, match="max_length is 0"):
            search(1, 0)
    with pytest.raises(ValueError, match="batch_size is 0"):
        greedy(model, 1, 3, 0)
    with pytest.raises(ValueError, match="width is 0"):
        beam_search(model, 0, 1, 3)
    with pytest.raises(ValueError, match="length_penalty -1"):
        beam_search(model, 2, 1, 3, length_penalty=-1)


@pytest.mark.parametrize("width", [1, 2, 100])
def test_a_search_goes_on_from_its_prompt(width):
    """As if the predictor had been started with the prompt read."""
    predictor, prompt = network(2), torch.tensor([1, 0, 2])

    class Continued:
        vocab_size, bos = predictor.vocab_size, predictor.bos

        def start(self, batch_size):
            return None

        def step(self, tokens, state):
            if state is None:
                read = torch.cat([torch.tensor([predictor.bos]), prompt])
                state = predictor.start(len(tokens))
                for token in read:
                    log_p, state = predictor.step(token.repeat(len(tokens)), state)
                return log_p, state
            return predictor.step(tokens, state)

    found = beam_search(predictor, width, STOP, LENGTH, prompt=prompt)
    wanted = beam_search(Continued(), width, STOP, LENGTH)
    assert as_lists(found) == as_lists(wanted)
    one, other = (
        greedy(p, STOP, LENGTH, 2, **given)[1].tolist()
        for p, given in ((predictor, {"prompt": prompt}), (Continued(), {}))
    )
    assert one == other


def test_a_search_without_a_stop_token_goes_to_the_end():
    predictor = network(3)
    assert [len(tokens) for tokens, _ in beam_search(predictor, 3, None, 9)] == [9] * 3
    assert len(greedy(predictor, None, 9)[0]) == 9
    # The first step of the search is greedy's if nothing else is kept.
    assert (
        beam_search(predictor, 1, None, 9)[0][0].tolist() == greedy(predictor, None, 9)[0].tolist()
    )
