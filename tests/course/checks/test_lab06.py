"""What the checks of lab 06 hold answers against: it agrees with the course and with the lab."""

import itertools
import math

import pytest
import torch

from helpers.course.checks import lab06
from helpers.course.checks.lab06 import cheating, hiding, pointing, repair
from helpers.course.checks.trial import Trial
from helpers.course.environment import find_root
from helpers.inference import answers
from helpers.models.encoder import SpanReader
from staff.authoring.labs import lab_sources
from tests.labs.mutation import run_cells

pytestmark = pytest.mark.marking

TASKS = lab06.lab.tasks
SOURCE = lab_sources(find_root())["lab06"]


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture(scope="module")
def notebook():
    """The names of the source; nothing is trained, because no prediction is made."""
    stub = "class Repaired(Broken):\n    def loss(self, tokens, generator):\n        ..."
    return run_cells(SOURCE, {"Repaired": stub}, until="Repaired")


def test_whole_words_are_chosen_as_often_as_tokens_would_be():
    begins, special, draw = hiding.rows(Trial(None, 3), 4000, 20)
    chosen = lab06.choose_words.fallback(begins, special, draw)
    assert abs(chosen.sum() / (~special).sum() - 0.15) < 0.01
    assert not (chosen & special).any()
    goes_on = ~begins[:, 1:]
    assert torch.equal(chosen[:, 1:][goes_on], chosen[:, :-1][goes_on])


def test_the_head_is_that_of_the_course_inside_of_the_passage():
    tokens, segments, spans = pointing.pairs(Trial(None, 1), 4)
    states = torch.randn(*tokens.shape, 6, generator=generator())
    head = lab06.SpanHead.fallback(6)
    encoder = torch.nn.Module()
    encoder.d_model = 6
    encoder.forward = lambda *_: states
    theirs = SpanReader(encoder).eval()
    theirs.output.load_state_dict(head.output.state_dict())
    logits, plain = head(states, tokens, segments, pointing.SEP), theirs(tokens, segments)
    inside = ((segments == 1) & (tokens != pointing.SEP))[:, None].expand_as(logits)
    torch.testing.assert_close(logits[inside], plain[inside])
    assert logits[~inside].eq(-math.inf).all()
    assert head.loss(logits, spans).isfinite()


@pytest.mark.parametrize("limit", [1, 3, 12])
def test_best_spans_are_those_of_the_search_over_all_pairs(limit):
    logits = torch.randn(30, 2, 10, generator=generator())
    mine = lab06.best_spans.fallback(logits, limit)
    theirs = answers.best_span(logits, max_length=limit)
    assert torch.equal(torch.stack(mine), torch.stack(theirs))


def test_what_the_notebook_hands_out_is_what_the_checks_use(notebook):
    text = "The wet net, and a red hat! He sang."
    assert notebook["pieces"](text) == cheating.pieces(text)
    assert notebook["opening"]("What Colour was it?") == cheating.opening("What Colour was it?")
    torch.manual_seed(0)
    broken = notebook["Broken"](6, 16, 2)
    everything = repair.faulty("forward", "hide", "loss")(6, 16, 2)
    everything.load_state_dict(broken.state_dict())
    tokens = notebook["notebooks"](4, generator())
    pair = [tokens.clone(), tokens.clone()]
    losses = [
        model.loss(x, generator(1)) for model, x in zip((broken, everything), pair, strict=True)
    ]
    assert torch.equal(*losses)
    assert torch.equal(*pair)
    assert not torch.equal(pair[0], tokens)


def test_the_floor_is_that_of_the_gaps_and_no_honest_loss_is_below_it(notebook):
    assert 1.5 < notebook["FLOOR"] < 1.6
    torch.manual_seed(0)
    made, trained = notebook["pretrain"](lab06.Repaired.fallback, steps=150)
    bits, says, moved = notebook["probes"](made)
    assert trained > 0.8 * notebook["FLOOR"]
    assert bits > notebook["FLOOR"] - 0.02
    assert says == 0
    assert moved < 1e-4
    copied, trained = notebook["pretrain"](repair.faulty("hide"), steps=150)
    assert trained < 0.3 * notebook["FLOOR"]
    assert notebook["probes"](copied)[1] > 90
    everywhere, trained = notebook["pretrain"](repair.faulty("loss"), steps=150)
    assert trained < 0.5 * notebook["FLOOR"]
    assert notebook["probes"](everywhere)[1] < 10
    attending, _ = notebook["pretrain"](repair.faulty("forward"), steps=150)
    assert notebook["probes"](attending)[2] > 0.01


def test_words_begin_where_letters_do_not_go_on(notebook):
    tokens = notebook["joined"](notebook["tokenizer"], 'The weaver said "What?" to Pell\'s cat.')[0]
    begins = notebook["word_begins"](tokens[None])[0]
    ids, words = tokens[1:-1].tolist(), [""]
    assert begins[0]
    assert begins[-1]
    for token, new in zip(ids, begins[1:-1].tolist(), strict=True):
        words += [""] * new
        words[-1] += notebook["tokenizer"].decode([token])
    told = [word.strip() for word in words if word.strip()]
    assert {"The", "weaver", "said", "What", "to", "Pell", "cat"} <= {*told}


@pytest.mark.parametrize(("b", "c"), [(0, 0), (3, 0), (2, 2), (1, 5), (6, 3)])
def test_chance_is_what_all_tosses_of_the_coins_say(b, c):
    own = torch.tensor([100.0] * b + [0.0] * c + [100.0, 0.0])
    other = torch.tensor([0.0] * b + [100.0] * c + [100.0, 0.0])
    tosses = [sum(sides) for sides in itertools.product((0, 1), repeat=b + c)]
    unequal = [abs(2 * heads - b - c) >= abs(b - c) for heads in tosses]
    expected = sum(unequal) / len(tosses)
    assert lab06.by_chance.fallback(own, other) == (b, c, pytest.approx(expected))


def test_a_question_is_exchanged_for_one_of_its_kind(notebook):
    asked = notebook["asked"]
    twisted = notebook["exchanged"](asked, notebook["opening"])
    for (mine, text, answer), (other, same, kept) in zip(asked, twisted, strict=True):
        assert (text, answer) == (same, kept)
        assert notebook["opening"](mine) == notebook["opening"](other)
    changed = sum(a.question != b.question for a, b in zip(asked, twisted, strict=True))
    assert changed > 0.85 * len(asked)
