"""What the checks of lab 05 hold answers against: it agrees with torch and with the course."""

import ast
import inspect
import math
import re

import pytest
import torch
from torch import nn

from helpers.course.checks import lab05
from helpers.course.checks.lab05 import common, solutions
from helpers.course.checks.lab05.solutions import Cache
from helpers.course.checks.lab05.writer import course_gpt
from helpers.course.environment import find_root
from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import GatedFeedForward, RMSNorm
from helpers.models.positions import RotaryPositions
from staff.authoring.cells import (
    HIDDEN,
    SOLUTION,
    read_notebook,
    without_markers,
    without_regions,
)
from staff.authoring.labs import lab_sources
from tests.labs.mutation import run_cells

TASKS = lab05.lab.tasks
SOURCE = lab_sources(find_root())["lab05"]


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def randomly(*shape, seed=0):
    return torch.randn(*shape, generator=generator(seed), dtype=torch.float64)


def gpt(L=2):
    torch.manual_seed(0)
    found = course_gpt(L, 24, 6, 2).double()
    with torch.no_grad():
        for p in found.parameters():
            p.copy_(0.4 * torch.randn(p.shape, generator=generator(1), dtype=torch.float64))
    return found


@pytest.fixture(scope="module")
def notebook():
    """The names of the source up to its first training, and what the experiment needs."""
    space = run_cells(SOURCE, until="gradients")
    for name in ("def train(", "def short_run("):
        (cell,) = (c.source for c in read_notebook(SOURCE).cells if name in c.source)
        exec(cell, space)
    return space


def test_a_prediction_is_asked_for(capsys):
    assert not lab05.predicted(1.2, ...)
    assert "First write your prediction" in capsys.readouterr().out
    assert lab05.predicted(1.2, 0)


def definitions(source):
    """The functions and classes of a source by name, as trees, which leave comments out."""
    found = ast.parse(without_markers(without_regions(source, HIDDEN), SOLUTION)).body
    return {node.name: ast.dump(node) for node in found if hasattr(node, "name")}


def test_the_solutions_are_those_of_the_notebook_and_what_it_hands_out():
    cells = [cell.source for cell in read_notebook(SOURCE).cells if cell.cell_type == "code"]
    theirs = {name: node for cell in cells for name, node in definitions(cell).items()}
    ours = definitions(inspect.getsource(solutions))
    assert ours == {name: theirs[name] for name in ours}
    assert all(TASKS[name].fallback is getattr(solutions, name) for name in TASKS)


def test_a_block_has_the_weights_of_gpt_2s_at_most():
    for D, H, G in ((64, 4, 2), (64, 4, 4), (128, 4, 1), (768, 12, 3)):
        block = solutions.ParallelBlock(D, H, G)
        matrices = sum(p.numel() for p in block.parameters() if p.dim() == 2)
        assert 12 * D * D - 24 * D < matrices <= 12 * D * D


def test_the_mean_loss_is_the_cross_entropy():
    made, pair = gpt(), solutions.pack([torch.arange(9), torch.arange(4)], 10, 6)
    wanted = nn.functional.cross_entropy(made(pair[0]).flatten(0, 1), pair[1].flatten())
    assert solutions.mean_loss(made, *pair) == pytest.approx(wanted.item())


def test_the_attention_is_the_courses():
    D, H, G, T = 24, 6, 2, 7
    mine = solutions.GroupedAttention(D, H, G).double()
    norm = lambda K: RMSNorm(K, eps=torch.finfo(torch.float64).eps)  # noqa: E731
    theirs = MultiHeadAttention(
        D, H, n_kv_heads=G, positions=RotaryPositions(D // H), qk_norm=norm
    ).double()
    theirs.load_state_dict(mine.state_dict(), strict=False)
    x = randomly(2, T, D)
    torch.testing.assert_close(mine(x), theirs(x, causal=True), rtol=1e-5, atol=1e-6)


def test_the_gated_layer_is_the_courses():
    block, x = gpt(1).blocks[0], randomly(2, 5, 24)
    theirs = GatedFeedForward(24, block.gate.out_features).double()
    state = block.state_dict()
    theirs.load_state_dict({f"{n}.weight": state[f"{n}.weight"] for n in ("gate", "up", "down")})
    y = block.norm(x)
    torch.testing.assert_close(block(x), x + block.attention(y) + theirs(y))


def test_a_whole_gpt_reads_with_caches_what_it_reads_at_once():
    made, tokens = gpt(), torch.randint(11, (2, 9), generator=generator())
    caches = [Cache() for _ in made.blocks]
    parts = [made(piece, None, caches) for piece in tokens.split([4, 1, 1, 3], 1)]
    torch.testing.assert_close(torch.cat(parts, 1), made(tokens))


def test_with_its_mask_a_story_is_read_as_if_it_stood_alone(notebook):
    made, end = gpt(), 10
    first, second = torch.tensor([end, 1, 2, 3]), torch.tensor([end, 4, 5])
    row = torch.cat([first, second])[None]
    # Rotary positions are relative, so a story may begin anywhere.
    found = made(row, notebook["story_mask"](row, end))
    torch.testing.assert_close(found[:, 4:], made(second[None]), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(found[:, :4], made(first[None]))


def test_packing_keeps_every_target_once():
    draw = generator(3)
    stories = [torch.randint(50, (int(n),), generator=draw) for n in torch.arange(1, 40)]
    inputs, targets = solutions.pack(stories, 50, 16)
    real = targets != common.IGNORED
    wanted = torch.cat([torch.cat([s, torch.tensor([50])]) for s in stories])
    assert targets[real].tolist() == wanted.tolist()
    assert bool((inputs[~real] == 50).all())
    inside = real[:, 1:] & (inputs[:, 1:] != 50)
    same = inputs[:, 1:] == targets[:, :-1]
    assert bool(same[inside].all())


def test_the_default_optimizer_is_torchs():
    torch.manual_seed(0)
    pair = [torch.randn(3, 4).requires_grad_() for _ in range(2)]
    pair[1].data.copy_(pair[0].data)
    mine = lab05.AdamW.fallback([pair[0]], lr=0.01)
    theirs = torch.optim.AdamW([pair[1]], lr=0.01, betas=(0.9, 0.95), weight_decay=0.1)
    for _ in range(5):
        for p in pair:
            p.grad = torch.cos(p.detach())
        mine.step()
        theirs.step()
    torch.testing.assert_close(*pair)


def test_accumulated_gradients_are_those_of_one_batch():
    made, draw, gradients = gpt(1), generator(5), solutions.gradients
    x, y = (torch.randint(11, (6, 8), generator=draw) for _ in range(2))
    y[3:, 2:] = common.IGNORED
    whole = gradients(made, [(x, y)], "cpu")
    right = [p.grad.clone() for p in made.parameters()]
    parts = gradients(made, [(x[:1], y[:1]), (x[1:4], y[1:4]), (x[4:], y[4:])], "cpu")
    assert parts == pytest.approx(whole)
    torch.testing.assert_close([p.grad for p in made.parameters()], right)


def test_a_batch_on_another_device_must_be_moved():
    x, weights = common.on_host(torch.tensor([[1, 2]])), torch.eye(3)
    assert x.shape == (1, 2)
    assert int((x >= 2).sum()) == 1
    for use in (lambda: nn.functional.embedding(x, weights), lambda: weights[x]):
        with pytest.raises(RuntimeError, match="same device"):
            use()
    moved = x.to("cpu:0")
    assert type(moved) is torch.Tensor
    assert nn.functional.embedding(moved, weights).shape == (1, 2, 3)


class Guessing(nn.Module):
    """All four tokens are equally likely; ``ahead``: the next token, if it can be seen."""

    def __init__(self, ahead=0.0):
        super().__init__()
        self.weight, self.ahead = nn.Embedding(4, 4), ahead
        nn.init.zeros_(self.weight.weight)

    def forward(self, tokens):
        later = nn.functional.one_hot(tokens.roll(-1, 1), 4).float()
        return self.weight(tokens) + self.ahead * later


def board(make, capsys, most=100):
    stories = [torch.tensor([0, 1, 0, 1]), torch.tensor([1, 1])]
    lab05.leaderboard(make, stories, stories, 4, 4, 3, most=most)
    return capsys.readouterr().out


def test_the_leaderboard_scores_and_complains(capsys):
    def reads(stories, V, end):
        made = Guessing()
        made(torch.zeros(10, 20, dtype=torch.long))
        return made

    targets = 4 + 1 + 2 + 1
    said = board(lambda *_: Guessing(), capsys)
    assert f"{targets * math.log2(4) / 4:.4f} bits per byte" in said
    assert "later token" in board(lambda *_: Guessing(5.0), capsys)
    assert "(200)" in board(reads, capsys)
    assert "bits per byte" in board(reads, capsys, most=200)
    assert "hands back a module" in board(lambda *_: None, capsys)


def test_the_first_blocks_and_the_embeddings_of_a_seed_do_not_depend_on_the_depth(notebook):
    cells = read_notebook(SOURCE).cells
    (run,) = (c.source for c in cells if "def short_run" in c.source)
    made = []

    def watched(model):
        notebook["first_weights"](model)
        made.append({name: p.clone() for name, p in model.named_parameters()})

    space = dict(notebook, first_weights=watched, V=41, end=40)
    space["stories"] = [torch.randint(40, (100,), generator=generator(n)) for n in range(80)]
    exec(run, space)
    for blocks in (2, 4):
        space["short_run"](0, blocks=blocks, positions=1024)
    shallow, deep = made
    assert len(deep) > len(shallow)
    assert all(torch.equal(p, deep[name]) for name, p in shallow.items())


def options():
    """What the question on an experiment offers, as settings of ``short_run``."""
    cells = [cell.source for cell in read_notebook(SOURCE).cells]
    (text,) = (source for source in cells if "### Question · An experiment" in source)
    lines = [line for line in text.splitlines() if line.startswith("- **")]
    settings = [re.findall(r"`(\w+) ?= ?(\w+)`", line) for line in lines]
    return [{name: ast.literal_eval(value) for name, value in found} for found in settings]


def test_every_option_of_the_experiment_can_change_the_result(notebook):
    """Also in a run that is much shorter: none of them leaves the numbers as they are."""
    # Stories as long as those of the lab, of which some share a window of 512, and few tokens.
    draw = generator(1)
    lengths = torch.randint(180, 300, (160,), generator=draw).tolist()
    notebook.update(
        stories=[torch.randint(40, (n,), generator=draw) for n in lengths], V=41, end=40
    )
    assert len(options()) == 5
    for setting in options():
        both = {name: setting.pop(name) for name in ("T", "rows") if len(setting) > 1}
        values = [
            notebook["short_run"](0, positions=2100, **both, **changed) for changed in ({}, setting)
        ]
        assert values[0] != values[1], (both, setting)
