"""What the checks of lab 05 hold answers against: it agrees with torch and with the course."""

import ast
import inspect
import math
import re

import pytest
import torch
from torch import nn

from helpers.course.checks import lab05
from helpers.course.checks.lab05 import common, model, paper, solutions
from helpers.course.checks.lab05.repair import BY_LENGTH
from helpers.course.checks.trial import Trial
from helpers.course.environment import find_root
from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import GatedFeedForward, RMSNorm
from helpers.models.gpt import GPT as CourseGPT
from helpers.models.gpt import GPTConfig
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
    found = model.course_gpt(11, L, 24, 6, 2).double()
    with torch.no_grad():
        for p in found.parameters():
            p.copy_(0.4 * torch.randn(p.shape, generator=generator(1), dtype=torch.float64))
    return found


@pytest.fixture(scope="module")
def notebook():
    """The names of the source after its last task, without its trainings."""
    cut = {"entry": "def entry(stories, V, end, seconds, device):\n    raise NotImplementedError"}
    return run_cells(SOURCE, cut, until="entry")


def test_the_tasks_stand_in_the_order_of_the_notebook():
    assert list(TASKS) == [
        "by_hand", "GroupedAttention", "ParallelBlock", "pack", "AdamW",
        "Repaired", "train", "entry", "write",
    ]  # fmt: skip


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("seed", [0, 7])
def test_every_check_accepts_the_courses_own_version(name, seed):
    trial = Trial(TASKS[name].fallback, seed)
    TASKS[name].check(trial)
    assert trial.rules
    assert torch.is_grad_enabled()


def test_a_prediction_is_asked_for(capsys):
    assert not lab05.predicted(1.2, ...)
    assert "First write your prediction" in capsys.readouterr().out
    assert lab05.predicted(1.2, 0)


@pytest.mark.parametrize("variant", [0, 1, 123_456])
def test_the_numbers_on_paper_are_those_of_a_model(variant):
    lab05.use_variant(variant)
    try:
        V, L, D, H, G, T = lab05.numbers().values()
        said = lab05.by_hand.fallback()
    finally:
        lab05.use_variant(0)
    with torch.device("meta"):
        made = model.course_gpt(V, L, D, H, G)
    assert said["the whole"] == sum(p.numel() for p in made.parameters())
    block = made.blocks[0]
    assert said["one block"] == sum(p.numel() for p in block.parameters())
    assert solutions.hidden_width(D, H, G) == block.gate.out_features
    matrices = sum(p.numel() for p in block.parameters() if p.dim() == 2)
    assert 12 * D * D - 24 * D < matrices <= 12 * D * D
    assert H % G == 0
    assert H >= 4 * G
    attended = L * 2 * 2 * T * D
    assert said["FLOPs"] == 2 * (L * matrices + V * D) + attended
    cache = [model.Cache() for _ in range(2)]
    few = model.course_gpt(50, 2, 64, 8, 2)
    few(torch.zeros(1, 7, dtype=torch.long), None, cache)
    numbers = sum(part.numel() for c in cache for part in (c.keys, c.values))
    sizes = {"V": 50, "L": 2, "D": 64, "H": 8, "G": 2, "T": 7}
    assert paper._answers(**sizes)["cache bytes"] == 2 * numbers


def definitions(source):
    """The functions and classes of a source by name, as trees, which leave comments out."""
    found = ast.parse(without_markers(without_regions(source, HIDDEN), SOLUTION)).body
    return {node.name: ast.dump(node) for node in found if hasattr(node, "name")}


def test_the_solutions_are_those_of_the_notebook_and_what_it_hands_out():
    cells = [cell.source for cell in read_notebook(SOURCE).cells if cell.cell_type == "code"]
    theirs = {name: node for cell in cells for name, node in definitions(cell).items()}
    ours = definitions(inspect.getsource(solutions))
    assert ours == {name: theirs[name] for name in ours}
    assert {name for name in TASKS if name != "by_hand"} <= ours.keys()
    assert all(TASKS[name].fallback is getattr(solutions, name) for name in [*TASKS][1:])


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
    caches = [model.Cache() for _ in made.blocks]
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


def test_the_broken_gpt_has_its_faults():
    broken, mine = solutions.Broken(11, 9, 12, 3), solutions.Repaired(11, 9, 12, 3).eval()
    tokens = torch.randint(11, (2, 8), generator=generator())
    assert broken.output.weight is not broken.embedding.weight
    assert mine.output.weight is mine.embedding.weight
    broken.load_state_dict(mine.state_dict())
    assert solutions.sees_the_future(broken.eval(), tokens, 11)
    assert not solutions.sees_the_future(mine, tokens, 11)
    # A place that sees one token ahead at 3 tokens a head's width 4: both faults are in forward.
    (_, (both, _)) = BY_LENGTH
    wrong = both(11, 9, 12, 3).eval()
    wrong.load_state_dict(mine.state_dict())
    with torch.no_grad():
        torch.testing.assert_close(broken(tokens), wrong(tokens))


def test_the_leak_test_leaves_the_mode_and_is_undisturbed_by_dropout():
    made, tokens = solutions.Repaired(11, 9, 12, 3, 0.5), torch.tensor([[1, 2, 3, 4]])
    for mode in (True, False):
        assert not solutions.sees_the_future(made.train(mode), tokens, 11)
        assert made.training == mode


def test_a_gpt_of_the_course_passes_the_leak_test():
    made = CourseGPT(GPTConfig.modern(11, n_layers=1, n_heads=2, d_model=16, max_length=9))
    tokens = torch.randint(11, (2, 8), generator=generator())
    assert not solutions.sees_the_future(made, tokens, 11)


def test_the_leaderboard_scores_and_complains(capsys, monkeypatch):
    monkeypatch.setenv("COURSE_SPEED", "1")
    stories = [torch.tensor([0, 1, 0, 1]), torch.tensor([1, 1])]
    n_bytes, rest = 4, {"stories": stories, "n_bytes": 4, "end": 3}

    class Guessing(nn.Module):
        """All four tokens are equally likely; ``ahead``: the next token, if it can be seen."""

        def __init__(self, ahead=0.0):
            super().__init__()
            self.weight, self.ahead = nn.Parameter(torch.zeros(())), ahead

        def forward(self, tokens):
            later = nn.functional.one_hot(tokens.roll(-1, 1), 4).float()
            return self.weight + self.ahead * later

    def board(made, own=len, took=1.0, seconds=2.0):
        lab05.leaderboard(own, made, **rest, took=took, seconds=seconds)
        return capsys.readouterr().out

    targets = 4 + 1 + 2 + 1
    assert f"{targets * math.log2(4) / n_bytes:.4f} bits per byte" in board(Guessing())
    assert "later tokens" in board(Guessing(5.0))
    assert "it took 90 s" in board(Guessing(), took=90.0)
    assert "does not read tokens" in board(nn.Linear(2, 2))
    assert "waits for your own" in board(Guessing(), own=lab05.entry.fallback)


def test_the_leaderboard_measures_what_the_chart_does(notebook, capsys):
    cells = read_notebook(SOURCE).cells
    (chart,) = (c.source for c in cells if "def bits_per_byte" in c.source)
    space = dict(notebook)
    exec(chart.split("if check.predicted")[0], space)
    stories = [torch.randint(10, (n,), generator=generator(n)) for n in (90, 200, 700, 30)]
    space.update(held_out=stories, end=10, held_out_bytes=1234)
    made = gpt().float()
    bits = space["bits_per_byte"](made)
    rest = {"n_bytes": 1234, "end": 10, "took": 1.0, "seconds": 2.0}
    lab05.leaderboard(len, made, stories, **rest)
    assert f"{bits:.4f} bits per byte" in capsys.readouterr().out


def test_the_first_blocks_and_the_embeddings_of_a_seed_do_not_depend_on_the_depth(notebook):
    cells = read_notebook(SOURCE).cells
    (run,) = (c.source for c in cells if "def short_run" in c.source)
    made = []

    class Watched(notebook["GPT"]):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            made.append({name: p.clone() for name, p in self.named_parameters()})

    space = dict(notebook, GPT=Watched, V=41, end=40)
    space["stories"] = [torch.randint(40, (100,), generator=generator(n)) for n in range(80)]
    exec(run, space)
    for blocks in (2, 4):
        space["short_run"](0, blocks=blocks, places=1024)
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
    cells = read_notebook(SOURCE).cells
    (run,) = (c.source for c in cells if "def short_run" in c.source)
    exec(run, notebook)
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
            notebook["short_run"](0, places=2100, **both, **changed) for changed in ({}, setting)
        ]
        assert values[0] != values[1], (both, setting)
