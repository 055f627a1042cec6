"""What the checks of lab 05 hold answers against: it agrees with torch and with the course."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from helpers.course.checks import lab05
from helpers.course.checks.trial import Trial
from helpers.data.batching import windows
from helpers.data.sources import lagged_source
from helpers.inference.evaluation import score_model
from helpers.learning.training import Training
from helpers.models.attention import MultiHeadAttention, causal_mask
from helpers.models.blocks import FeedForward
from helpers.models.gpt import GPT as CourseGPT
from helpers.models.gpt import GPTConfig

TASKS = lab05.lab.tasks


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def randomly(*shape, seed=0):
    return torch.randn(*shape, generator=generator(seed), dtype=torch.float64)


def gpt(tied=True, **sizes):
    torch.manual_seed(0)
    sizes = {"V": 9, "T": 10, "L": 2, "D": 8, "H": 2, **sizes}
    return lab05.GPT.fallback(**sizes, tied=tied).double().eval()


def test_the_tasks_stand_in_the_order_of_the_notebook():
    assert list(TASKS) == [
        "by_hand", "Norm", "Block", "GPT", "make_batch", "lm_loss", "bits_per_byte", "rate",
        "train", "top_k", "top_p", "attend_new", "read_token", "write",
    ]  # fmt: skip


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("seed", [0, 7])
def test_every_check_accepts_the_courses_own_version(name, seed):
    trial = Trial(TASKS[name].fallback, seed)
    TASKS[name].check(trial)
    assert trial.rules


@pytest.mark.parametrize("variant", [0, 1, 123_456])
def test_the_numbers_on_paper_are_those_of_a_model(variant):
    lab05.use_variant(variant)
    try:
        V, T, L, D, H = lab05.numbers().values()
        said = lab05.by_hand.fallback()
    finally:
        lab05.use_variant(0)
    sizes = {"max_length": T, "n_layers": L, "n_heads": H, "d_model": D}
    for name, tied in (("all, tied", True), ("all, untied", False)):
        model = CourseGPT(GPTConfig.gpt2(V, **sizes, tied=tied))
        assert said[name] == sum(p.numel() for p in model.parameters())
    assert said["one block"] == sum(p.numel() for p in model.blocks[0].parameters())
    assert D % H == 0


def test_the_block_is_torchs_encoder_layer():
    D, H, x = 8, 2, randomly(2, 5, 8)
    theirs = nn.TransformerEncoderLayer(
        D, H, 4 * D, dropout=0.0, activation=F.gelu, batch_first=True, norm_first=True
    ).double()
    mine = lab05.Block.fallback(D, MultiHeadAttention(D, H, bias=True), FeedForward(D)).double()
    a = mine.attention
    with torch.no_grad():
        for i, part in enumerate((a.query, a.key, a.value)):
            part.weight.copy_(theirs.self_attn.in_proj_weight[i * D : (i + 1) * D])
            part.bias.copy_(theirs.self_attn.in_proj_bias[i * D : (i + 1) * D])
    for part, other in (
        (a.output, theirs.self_attn.out_proj),
        (mine.feed_forward.up, theirs.linear1),
        (mine.feed_forward.down, theirs.linear2),
    ):
        part.load_state_dict(other.state_dict())
    expected = theirs(x, src_mask=~causal_mask(5))
    torch.testing.assert_close(mine(x), expected)


@pytest.mark.parametrize("tied", [True, False])
def test_the_gpt_is_that_of_helpers_models(tied):
    mine = gpt(tied)
    config = GPTConfig.gpt2(9, max_length=10, n_layers=2, n_heads=2, d_model=8, tied=tied)
    theirs = CourseGPT(GPTConfig(**{**vars(config), "activation": "gelu"})).double()
    weights = mine.state_dict()
    weights["embedding.positions.embedding.weight"] = weights.pop("positions.weight")
    if tied:
        del weights["output.weight"]
    theirs.load_state_dict(weights)
    tokens = torch.randint(9, (3, 7), generator=generator())
    torch.testing.assert_close(mine(tokens), theirs(tokens))


def test_the_loss_is_torchs():
    logits, targets = 30 * randomly(2, 3, 5), torch.randint(5, (2, 3), generator=generator())
    expected = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    torch.testing.assert_close(lab05.lm_loss.fallback(logits, targets), expected)


def test_bits_per_byte_are_those_of_the_evaluation():
    model, text = gpt(), "a text of 24 bytes, déjà"
    tokens = torch.randint(9, (25,), generator=generator())
    expected = score_model(model, tokens, 10, text).bits_per_byte
    assert lab05.bits_per_byte.fallback(model, tokens, 10, text) == pytest.approx(expected)


def test_the_loop_is_the_courses_trainer():
    batches = list(zip(range(8), windows(torch.arange(400) % 9, 4, 10, generator())))
    losses = []
    for own in (True, False):
        model, pairs = gpt().train(), iter([pair for _, pair in batches])
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.0)
        if own:
            losses.append(
                lab05.train.fallback(model, optimizer, lambda p=pairs: next(p), 8, 3, 0.5)
            )
        else:
            run = Training(model, pairs, 8, warmup=3, clip=0.5, optimizers=[optimizer])
            losses.append([record.loss for record in run])
    assert losses[0] == pytest.approx(losses[1])


def test_the_floor_of_the_training_check_is_the_source():
    source = lagged_source(4, 2, 0.1)
    p = [0.9 + 0.1 / 4, *[0.1 / 4] * 3]
    assert source.entropy_rate() == pytest.approx(-sum(q * math.log(q) for q in p))


def test_filters_by_enumeration():
    p = randomly(6, seed=3).softmax(0)
    ranked = sorted(range(6), key=lambda i: -p[i])
    for k in range(1, 8):
        kept = lab05.top_k.fallback(p, k)
        assert set(kept.nonzero().flatten().tolist()) == set(ranked[:k])
        assert float(kept.sum()) == pytest.approx(1)
    for share in (0.2, 0.6, 0.95):
        n = next(n for n in range(1, 7) if float(p[ranked[:n]].sum()) >= share)
        kept = lab05.top_p.fallback(p, share)
        assert set(kept.nonzero().flatten().tolist()) == set(ranked[:n])


def test_reading_with_a_cache_is_reading_the_whole():
    model, tokens, cache = gpt(tied=False), torch.randint(9, (2, 10), generator=generator()), []
    for t in range(10):
        logits, cache = lab05.read_token.fallback(model, tokens[:, t], cache)
        torch.testing.assert_close(logits, model(tokens)[:, t].detach())


def test_a_text_has_the_probability_that_the_model_gives_it():
    """All texts of two tokens after a prompt, drawn 3,000 times."""
    model, prompt, N = gpt(V=3), torch.tensor([1]), 3000
    with torch.no_grad():
        first = model(prompt[None])[0, -1].softmax(-1)
        expected = torch.stack(
            [first[i] * model(torch.tensor([[1, i]]))[0, -1].softmax(-1) for i in range(3)]
        )
    counts, draw = torch.zeros(3, 3, dtype=torch.float64), generator()
    for _ in range(N):
        counts[tuple(lab05.write.fallback(model, prompt, 2, draw)[1:].tolist())] += 1
    chi_square = float(((counts - N * expected).square() / (N * expected)).sum())
    assert chi_square < 40.0  # one in 300,000 for eight degrees of freedom


def test_the_leaderboard_scores_and_complains(capsys):
    tokens, text = torch.tensor([0, 1, 0, 1, 1]), "abab"
    lab05.leaderboard(lambda t, V: lambda seen: torch.full((V,), 1 / V), tokens, tokens, 4, text)
    assert "2.0000 bits per byte" in capsys.readouterr().out
    for predict, words in (
        (lambda seen: torch.ones(4), "sum to 1"),
        (lambda seen: torch.tensor([1.0, 0, 0, 0]), "no token is impossible"),
        (lambda seen: [0.25] * 4, "sum to 1"),
    ):
        lab05.leaderboard(lambda t, V, p=predict: p, tokens, tokens, 4, text)
        assert words in capsys.readouterr().out
    lab05.leaderboard(lambda t, V: lambda s: torch.full((V,), 0.25), tokens, tokens, 4, text, 0)
    assert "processor time" in capsys.readouterr().out
