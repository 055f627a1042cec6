"""Your turn with a GPT: its forward pass, its forms, its loss, its start, GPT-2's weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.course.checks import notebook12_own as own
from helpers.course.checks.devices import on_meta
from helpers.course.checks.lab import Lab
from helpers.course.checks.trial import Trial
from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import FeedForward, PostNormBlock, PreNormBlock, RMSNorm
from helpers.models.gpt import GPT, GPTConfig, squared_relu
from helpers.models.positions import RotaryPositions

turns = Lab("notebook12")
BLOCK = {"PreNormBlock", "MultiHeadAttention", "FeedForward", "RMSNorm", "RotaryPositions"}


def _logits(
    model: Any, tokens: Tensor, *, causal: bool = True, norm: bool = True, first: int = 0,
    deep: bool = True, tied: bool = False, twice: bool = False, norms: str = "end",
) -> Tensor:  # fmt: skip
    """What ``MyGPT.forward`` gives, or would give with a slip."""
    x = model.embedding(tokens)
    if model.positions is not None and first >= 0:
        x = x + model.positions(torch.arange(tokens.shape[1]) + first)
    x = model.norm(x) if norms == "first" else x
    read = x
    for block in model.blocks:
        added = x if twice else 0
        x = added + block(x if deep else read, causal=causal)
        x = model.norm(x) if norms == "each" else x
    x = model.norm(x) if norm and norms == "end" else x
    if model.output is None or tied:
        return x @ model.embedding.weight.T
    return model.output(x)


_FORWARD = [
    (
        partial(_logits, causal=False),
        "Every position sees the whole text, the tokens that it is to predict among them: what "
        "does a block need to be told?",
    ),
    (partial(_logits, norm=False), "What becomes of the stream after the last block, in pre-norm?"),
    (partial(_logits, first=1), "The first token stands at position 0."),
    (partial(_logits, first=-1), "Without the positions, x knows nothing of the order."),
    (partial(_logits, deep=False), "Each block reads what the block before it handed on."),
    (
        partial(_logits, twice=True),
        "The block adds to the stream by itself: x = block(x, ...), not x + block(x, ...).",
    ),
    (partial(_logits, norms="each"), "One norm after the *last* block: is it inside the loop?"),
    (
        partial(_logits, norms="first"),
        "The last norm stands after the blocks; each block brings its own.",
    ),
    (partial(_logits, tied=True), "There is an output of its own here: use it."),
    (
        lambda model, tokens: _logits(model, tokens).softmax(-1),
        "These are probabilities; logits are asked for, of which the loss takes the softmax.",
    ),
    (lambda model, tokens: _logits(model, tokens)[:, -1], "Every position predicts, not the last."),
]


@turns.task(own.MyGPT)
def MyGPT(trial: Trial) -> None:
    V, T, D = 11, 9, 8
    for text, learned in (("with learned positions, tied output", True), ("without either", False)):
        model = _fresh(trial, V, T, D, learned)
        for length in (6, T):
            tokens = trial.integers(0, V, 2, length)
            given = f"{length} tokens, {text}"
            hint = "Print the shape of x after each line; each is (B, T, D) up to the output."
            got = trial.run(model, tokens, given=given, hint=hint)
            slips = _made(_FORWARD, model, tokens)
            rule = "its logits are those of the formula"
            trial.equals(got, _logits(model, tokens), rule, hint, slips=slips, given=given)
    model = _fresh(trial, V, T, D, True).float().to("meta")
    tokens = torch.zeros(2, T, dtype=torch.long, device="meta")
    warm = own.MyGPT(V, D, [], nn.LayerNorm(D), nn.Embedding(T, D)).to("meta")
    on_meta(lambda: warm(tokens))  # the first use of "meta" imports much, which takes its time
    hint = "Some tensor is made on the CPU on the way: torch.arange(..., device=tokens.device)."
    given = "model and tokens on a second device, as on a GPU"
    got = trial.run(lambda: on_meta(lambda: model(tokens)), given=given, hint=hint)
    trial.holds(isinstance(got, Tensor) and got.is_meta, "it runs on any device", hint, given=given)


def _fresh(trial: Trial, V: int, T: int, D: int, learned: bool) -> Any:
    """A student's model of two blocks, with weights of which each matters."""
    blocks = [PreNormBlock(D, MultiHeadAttention(D, 2), FeedForward(D)) for _ in range(2)]
    parts = nn.Embedding(T, D), None
    given = f"V = {V}, D = {D}, two blocks"
    if not learned:
        parts = None, nn.Linear(D, V, bias=False)
    model = trial.call(V, D, blocks, nn.LayerNorm(D), *parts, given=given)
    keep = "Leave __init__ as it is: later notebooks look for these names."
    wanted = own.MyGPT(V, D, blocks, nn.LayerNorm(D), *parts).state_dict()
    same = isinstance(model, nn.Module) and list(model.state_dict()) == list(wanted)
    trial.holds(same, "its parts have the names that were given", keep)
    return _shaken(trial, model)


def _shaken(trial: Trial, model: Any) -> Any:
    """The model in float64 with random numbers in all of its parameters."""
    with torch.no_grad():
        for parameter in model.double().parameters():
            parameter.copy_(0.5 * trial.normal(*parameter.shape))
    return model


def _made(slips: Any, *arguments: Any) -> Iterator[tuple[Any, str]]:
    for slip, words in slips:
        with suppress(Exception):
            yield slip(*arguments), words


def _same_parts(trial: Trial, got: Any, wanted: nn.Module, hints: dict[str, str]) -> None:
    """The same parameters by name and shape, none of them shared; hints by a part of a name."""
    rule = "it has the parts that were asked for"
    back = "Hand back the module: the last line is a return."
    trial.holds(isinstance(got, nn.Module), rule, back, got=type(got).__name__)
    mine = {name: tuple(t.shape) for name, t in got.state_dict().items()}
    theirs = {name: tuple(t.shape) for name, t in wanted.state_dict().items()}
    blocks = [
        len({n.split(".")[1] for n in names if n.startswith("blocks.")}) for names in (mine, theirs)
    ]
    number = "L blocks are asked for, one made anew each time round."
    trial.holds(blocks[0] == blocks[1], rule, number, got=blocks[0], expected=blocks[1])
    for name in [*theirs, *mine]:
        if mine.get(name) == theirs.get(name):
            continue
        hint = next((words for part, words in hints.items() if part in name), "")
        trial.holds(
            False,
            rule,
            hint or "Compare the parts with the drawing, one by one.",
            got=f"{name}: {mine.get(name, 'not there')}",
            expected=f"{name}: {theirs.get(name, 'not there')}",
        )
    numbers = [sum(p.numel() for p in module.parameters()) for module in (got, wanted)]
    again = "All blocks are one and the same object: make a new block each time round."
    trial.holds(numbers[0] == numbers[1], "each block has weights of its own", again, got=numbers)


def _same_logits(
    trial: Trial, got: Any, wanted: Any, inputs: Tensor, slips: list[tuple[Any, str]], given: str,
    error: str = "",
) -> None:  # fmt: skip
    """With the same random weights, two modules give the same; slips are modules, too."""
    state = _shaken(trial, wanted).state_dict()
    got.double().load_state_dict(state)

    def run(module: Any) -> Tensor:
        return module(inputs, causal=True) if hasattr(module, "attention") else module(inputs)

    def wrong() -> Iterator[tuple[Tensor, str]]:
        for module, words in slips:
            with suppress(Exception):
                module.double().load_state_dict(state)
                yield run(module), words

    hint = "The names fit, so a part computes something else: norm, activation, heads, positions?"
    value = trial.run(lambda: run(got), given=given, hint=error or hint)
    rule = "with the same weights it gives the same numbers"
    trial.equals(value, run(wanted), rule, hint, slips=wrong(), given=given)


def _gpt2_variant(V: int, T: int, L: int, D: int, H: int, activation: Any, block: Any) -> Any:
    blocks = [
        block(D, MultiHeadAttention(D, H, bias=True), FeedForward(D, 4 * D, activation))
        for _ in range(L)
    ]
    return own.MyGPT(V, D, blocks, nn.LayerNorm(D), nn.Embedding(T, D))


@turns.task(own.gpt2_form, uses={*BLOCK, "MyGPT"})
def gpt2_form(trial: Trial) -> None:
    V, T, L, D, H = 11, 9, 3, 8, 2
    given = f"V = {V}, T = {T}, L = {L}, D = {D}, H = {H}"
    call = (
        "PreNormBlock takes the class nn.LayerNorm, MyGPT an instance of it, nn.LayerNorm(D). For "
        "the other parts compare the calls with the table above."
    )
    model = trial.call(V, T, L, D, H, given=given, hint=call)
    hints = {
        "positions": "GPT-2 learns a vector for each of T positions: the fifth argument of MyGPT.",
        "output": "GPT-2's output is tied: leave it out, and MyGPT takes the embeddings again.",
        "attention.query_norm": "GPT-2 has no QK-norm.",
        "attention_norm": "The norms are LayerNorms, with gain and bias.",
        "feed_forward_norm": "The norms are LayerNorms, with gain and bias.",
        "attention": "GPT-2's four linear maps of attention add biases: bias=True.",
        "feed_forward": "The feed-forward layer is 4 D wide, and has biases.",
        "norm": "The last norm is a LayerNorm of width D.",
        "blocks": "L blocks, one made anew each time round.",
    }
    wanted = own.gpt2_form(V, T, L, D, H)
    _same_parts(trial, model, wanted, hints)
    tanh = partial(F.gelu, approximate="tanh")
    variant = partial(_gpt2_variant, V, T, L, D)
    slips = [
        (variant(H, F.gelu, PreNormBlock), "That is the exact GELU; OpenAI's code has tanh in it."),
        (variant(H, F.relu, PreNormBlock), "GPT-2's activation is GELU, not ReLU."),
        (variant(H, tanh, PostNormBlock), "GPT-2 norms what a sub-layer reads: PreNormBlock."),
        (variant(1, tanh, PreNormBlock), "The number of heads did not arrive in the attention."),
    ]
    _same_logits(trial, model, wanted, trial.integers(0, V, 2, T), slips, given)


@turns.task(own.next_token_loss)
def next_token_loss(trial: Trial) -> None:
    def loss(logits: Tensor, targets: Tensor, **how: Any) -> Tensor:
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), **how)

    slips = [
        (
            lambda m, w: loss(m(w[:, :-1]), w[:, :-1]),
            "The target is the very token that was read. Which one is position t to predict?",
        ),
        (
            lambda m, w: loss(m(w), w),
            "The target is the very token that was read. Which one is position t to predict?",
        ),
        (
            lambda m, w: loss(m(w[:, 1:]), w[:, :-1]),
            "You predict the past from the future: the targets lie one step later.",
        ),
        (
            lambda m, w: loss(m(w[:, :-2]), w[:, 2:]),
            "The targets lie one step on, not two.",
        ),
        (
            lambda m, w: loss(m(w[:, :-1]), w[:, 1:], reduction="sum"),
            "That is the sum; the mean of all B T predictions is asked for.",
        ),
        (
            lambda m, w: loss(m(w[:, :-1]), w[:, 1:]) / math.log(2),
            "These are bits; nats are asked for, which cross_entropy gives.",
        ),
        (
            lambda m, w: loss(m(w[:, :-1])[:, -1:], w[:, -1:]),
            "All T predictions count, not the last alone.",
        ),
        (
            lambda m, w: loss(m(w[:, :-1]).softmax(-1), w[:, 1:]),
            "cross_entropy takes logits: it computes the softmax itself.",
        ),
        (
            lambda m, w: F.cross_entropy(m(w[:, :-1]).flatten(0, 1), w[:, 1:].T.flatten()),
            "The targets were put into another order than the logits: flatten both alike.",
        ),
    ]
    hint = "Inputs are window[:, :-1], targets lie one step on; flatten both for cross_entropy."
    table = trial.normal(7, 7).requires_grad_()
    read: list[int] = []

    def model(tokens: Tensor) -> Tensor:
        read.append(tokens.shape[1])
        return table[tokens]

    for B, T in ((1, 3), (4, 5)):
        window = trial.integers(0, 7, B, T + 1)
        given = f"a model and a window ({B}, {T + 1})"
        rule = "the mean of all T predictions"
        trial.agrees(
            own.next_token_loss, model, window, rule=rule, hint=hint, slips=slips, given=given
        )
        read.clear()
        value = trial.call(model, window, given=given)
        last = (
            "The last token of the window is a target only: a model with T learned positions "
            "cannot read T + 1 tokens."
        )
        shown = {"got": max(read), "expected": T, "given": given}
        trial.holds(max(read) <= T, "the model reads T tokens at a time", last, **shown)
        free = "Without no_grad, detach or .item(): the training needs this loss's gradient."
        trial.holds(value.requires_grad, "a model can be trained with it", free, given=given)


@turns.task(own.leak)
def leak(trial: Trial) -> None:
    V, B, T = 40, 4, 7
    original = trial.integers(0, V, B, T)

    def causal(tokens: Tensor) -> Tensor:
        return F.one_hot(tokens, V).double().cumsum(1)

    def one_ahead(tokens: Tensor) -> Tensor:
        return F.one_hot(tokens, V).double().cumsum(1).roll(-1, 1)

    def of_the_last(tokens: Tensor) -> Tensor:
        return F.one_hot(tokens[:, -1:], V).double().expand(B, T, V)

    def sinking(tokens: Tensor) -> Tensor:
        moved = (tokens != original).flip(1).cumsum(1).flip(1)[:, :, None]
        return -3.0 * (moved > 0).double().expand(B, T, V)

    def far(tokens: Tensor) -> Tensor:
        logits = torch.zeros(B, T, V, dtype=torch.double)
        logits[-1, 0] = F.one_hot(tokens[-1, -1], V).double()
        return logits

    before = (
        "Position t reads token t, so it may move. Which positions must not? And which tokens are "
        "changed?"
    )
    all_of_them = "Change all tokens from position t on, in a copy, and look at positions before t."
    size = "A logit that falls has moved as well: take absolute values, and the largest of all."
    for t in (3, T - 1, 1):
        look = {"given": f"{B} texts of {T} tokens, t = {t}"}
        for model, words, hint in (
            (causal, "0 for a model that does not look ahead", before),
            (one_ahead, "more than 0 for one that reads one token too many", all_of_them),
            (of_the_last, "more than 0 for one that reads the last token everywhere", all_of_them),
        ):
            got = _number(trial.call(model, original, t, V, **look, hint=hint), trial)
            right = got < 1e-9 if model is causal else got > 0.5
            expected = "0" if model is causal else "1 or so"
            trial.holds(right, words, hint, got=got, expected=expected, **look)
        got = _number(trial.call(sinking, original, t, V, **look, hint=size), trial)
        trial.holds(got == 3, "the largest move, up or down", size, got=got, expected="3", **look)
    look = {"given": f"{B} texts of {T} tokens, t = 3; the first position of the last text leaks"}
    everywhere = "Look at *all* positions before t, of all texts, and take the largest change."
    got = _number(trial.call(far, original, 3, V, **look, hint=everywhere), trial)
    rule = "all positions before t, in every text"
    trial.holds(got > 0.5, rule, everywhere, got=got, expected="1 or so", **look)


def _number(value: Any, trial: Trial) -> float:
    plain = "Hand back one plain number: .item() makes one of a tensor that holds one."
    trial.holds(not isinstance(value, Tensor), "it hands back a number", plain, got=value)
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError):
        trial.holds(False, "it hands back a number", plain, got=value)
        raise


@turns.task(own.small_start)
def small_start(trial: Trial) -> None:
    V, T, L, D = 300, 64, 3, 64
    torch.manual_seed(trial.integer(0, 10_000))
    model = own.gpt2_form(V, T, L, D, 4)
    given = f"a GPT-2 with L = {L}, D = {D}"
    hint = "nn.init.normal_(part.weight, std=...) draws; go through model.modules()."
    in_place = (
        "A weight that is changed in place, as by /=, needs `with torch.no_grad():` around it; or "
        "draw the writers once more with nn.init.normal_, which needs nothing."
    )
    trial.call(model, given=given, hint=in_place)
    usual, small = 0.02 * math.sqrt(768 / D), 1 / math.sqrt(2 * L)
    for name, tensor in model.state_dict().items():
        plain = 1.0 if "norm" in name and name.endswith("weight") else 0.0
        if tensor.ndim == 1:
            biases = "Biases begin at zero, and norms are left as they are (gains of one)."
            rule = "biases begin at zero, gains at one"
            shown = {"got": tensor[:3], "expected": plain, "given": f"{given}: {name}"}
            trial.holds(bool((tensor == plain).all()), rule, biases, **shown)
            continue
        writes = name.endswith(("attention.output.weight", "feed_forward.down.weight"))
        wanted = usual * small if writes else usual
        rule = "weights have the standard deviation that was asked for"
        got = tensor.std().item()
        off = {
            1.0: "This one was not drawn: go through all embeddings and linear maps.",
            0.02: "0.02 is for a width of 768: at width D it is 0.02 sqrt(768 / D).",
            0.02 * 768 / D: "Take the square root of 768 / D.",
            0.02 * math.sqrt(D / 768): "Narrow models begin with larger weights: 768 / D.",
            usual * small: "Only what writes into the stream is divided: see the two in each block."
            if not writes
            else "",
        }
        if writes:
            off |= {
                usual: "This one writes into the stream: it is divided by sqrt(2 L).",
                usual / math.sqrt(L): "A block adds twice to the stream: 2 L additions, not L.",
                usual / (2 * L): "Divide by the square root of 2 L, so that variances add to one.",
                usual * math.sqrt(2 * L): "Divided, not multiplied.",
            }
        close = min(off, key=lambda deviation: abs(math.log(got / deviation)) if got else 9)
        words = off[close] if got and abs(math.log(got / close)) < 0.06 else ""
        shown = {"got": round(got, 4), "expected": round(wanted, 4), "given": f"{given}: {name}"}
        trial.holds(abs(got / wanted - 1) < 0.06, rule, words or hint, **shown)
        _drawn_normally(trial, tensor, f"{given}: {name}")
    bare = own.modern_form(V, L, D, 4)
    none = (
        "Where a linear map has no bias, as in section 9, part.bias is None: ask before. This "
        "model has no learned positions, but an output of its own: go through model.modules()."
    )
    given = "a model in section 9's form, without biases and learned positions"
    trial.call(bare, given=given, hint=none)
    assert bare.output is not None
    got = bare.output.weight.std().item()
    rule = "all linear maps are drawn, an output of its own as well"
    shown = {"got": round(got, 4), "expected": round(usual, 4), "given": given}
    trial.holds(abs(got / usual - 1) < 0.06, rule, f"This is model.output. {hint}", **shown)


def _drawn_normally(trial: Trial, weight: Tensor, given: str) -> None:
    """Not left as ``nn.Linear`` makes them, evenly distributed, with nearly the same spread."""
    hint = "PyTorch's own start is of another form: draw this one, too, from a normal distribution."
    rule = "all weights are drawn anew"
    trial.holds(bool(weight.abs().max() > 2.5 * weight.std()), rule, hint, given=given)


@turns.task(own.count_parameters)
def count_parameters(trial: Trial) -> None:
    count = own.count_parameters
    hint = "Add up the table: embeddings, positions, L times what a block has, the last norm."
    slips = [
        (lambda V, T, L, D: count(V, T, L, D) - T * D, "The T learned positions are missing."),
        (lambda V, T, L, D: count(V, T, L, D) - 2 * D, "The last norm is missing: a gain, a bias."),
        (
            lambda V, T, L, D: count(V, T, L, D) + V * D,
            "The output is tied: its matrix is the embeddings, which count once.",
        ),
        (
            lambda V, T, L, D: count(V, T, L, D) - 9 * D * L,
            "The biases are missing: four of width D in attention, 4 D and D in the feed-forward.",
        ),
        (
            lambda V, T, L, D: count(V, T, L, D) - 13 * D * L,
            "The biases and the norms of a block are missing.",
        ),
        (
            lambda V, T, L, D: 12 * L * D * D + V * D,
            "That is the rule of thumb: positions, biases and norms are missing.",
        ),
        (lambda V, T, L, D: count(V, T, L, D) - 4 * D * L, "A block has two norms as well."),
        (
            lambda V, T, L, D: count(V, T, L, D) - 2 * D * L,
            "Each norm has a gain and a bias, and a block has two norms.",
        ),
        (
            lambda V, T, L, D: count(V, T, L, D) - 3 * D * L,
            "The first bias of the feed-forward layer is as wide as its hidden layer: 4 D.",
        ),
        (
            lambda V, T, L, D: count(V, T, 1, D),
            "There are L blocks, and each has weights of its own.",
        ),
    ]
    for V, T, L, D in ((11, 10, 3, 8), (50_257, 1024, 12, 768)):
        rule = "it counts what is in the model"
        trial.agrees(count, V, T, L, D, rule=rule, hint=hint, slips=slips)


@turns.task(own.translate)
def translate(trial: Trial) -> None:
    D = 4
    names = {
        "wte.weight": ("embedding.weight",),
        "h.0.ln_1.weight": ("blocks.0.attention_norm.weight",),
        "h.0.attn.c_attn.weight": tuple(f"{part}.weight" for part in ("query", "key", "value")),
        "h.0.attn.c_attn.bias": tuple(f"{part}.bias" for part in ("query", "key", "value")),
        "h.0.attn.c_proj.weight": ("attention.output.weight",),
        "h.0.mlp.c_fc.weight": ("up.weight",),
    }
    shapes = [(7, D), (D,), (D, 3 * D), (3 * D,), (D, D), (D, 4 * D)]
    tensors = {name: trial.normal(*shape) for name, shape in zip(names, shapes, strict=True)}
    tensors["h.0.attn.bias"] = torch.ones(1, 1, 3, 3).tril()  # the mask

    def variant(turn: Callable[[str, Tensor], bool], order: int = 1, cut: bool = True) -> Any:
        def slip(tensors: dict[str, Tensor], names: dict[str, tuple[str, ...]]) -> dict:
            state = {}
            for theirs, ours in names.items():
                tensor = tensors[theirs].T if turn(theirs, tensors[theirs]) else tensors[theirs]
                parts = tensor.chunk(len(ours)) if cut else [tensor] * len(ours)
                state.update(zip(ours, parts[::order], strict=False))  # too few parts
            return state

        return slip

    def right(name: str, tensor: Tensor) -> bool:
        return name.startswith("h.") and tensor.ndim == 2

    slips = [
        (
            variant(lambda name, tensor: False),
            "Their linear maps keep inputs x outputs, nn.Linear outputs x inputs: turn them.",
        ),
        (
            variant(lambda name, tensor: tensor.ndim == 2),
            "Embeddings are no linear maps: wte and wpe stay as they are.",
        ),
        (
            variant(lambda name, tensor: "c_attn" in name and tensor.ndim == 2),
            "All linear maps are stored that way, the square ones too, where no shape complains.",
        ),
        (
            variant(lambda name, tensor: right(name, tensor) and "c_proj" not in name),
            "A square matrix fits either way, and must be turned like the others.",
        ),
        (
            variant(right, order=-1),
            "The three parts are queries, keys, values: in the order given.",
        ),
        (variant(right, cut=False), "Where there are several of ours, each gets its part: chunk."),
    ]
    hint = "For each of their names: turn a matrix of a block, cut it into len(ours) parts."
    loop = f"{hint} (Go through names: the file also holds a mask, which has no name of ours.)"
    given = "tensors of one block, D = 4"
    rule = "our names, with the right parts"
    look = {"rule": rule, "hint": loop, "slips": slips, "given": given}
    trial.agrees(own.translate, tensors, names, **look)


def _modern_variant(D: int, H: int, activation: Any, positions: Any, block: Any) -> Any:
    attention = MultiHeadAttention(D, H, positions=positions, qk_norm=RMSNorm)
    return block(D, attention, FeedForward(D, 4 * D, activation, bias=False), RMSNorm)


@turns.task(own.modern_block, uses={*BLOCK, "squared_relu"})
def modern_block(trial: Trial) -> None:
    D, H = 16, 2  # D // H is neither H nor D
    given = f"D = {D}, H = {H}"
    width = (
        "RotaryPositions takes the width of a head, D // H; qk_norm= the class RMSNorm, not an "
        "instance; FeedForward takes D, 4 * D and the activation, in this order."
    )
    block = trial.call(D, H, given=given, hint=width)
    hints = {
        "query_norm": "QK-norm is an argument of the attention: qk_norm=RMSNorm.",
        "key_norm": "QK-norm is an argument of the attention: qk_norm=RMSNorm.",
        "attention_norm": "The block's norms are RMSNorms, which have no bias.",
        "feed_forward_norm": "The block's norms are RMSNorms, which have no bias.",
        "feed_forward": "The feed-forward layer is 4 D wide and has no biases: bias=False.",
        "attention": "No biases in the attention, and none is what you get without asking.",
    }
    wanted = own.modern_block(D, H)
    _same_parts(trial, block, wanted, hints)
    rotary = RotaryPositions(D // H)
    variant = partial(_modern_variant, D)
    slips = [
        (variant(H, squared_relu, None, PreNormBlock), "Nothing turns the queries and keys yet."),
        (variant(H, F.relu, rotary, PreNormBlock), "That is ReLU; its square is asked for."),
        (variant(H, F.gelu, rotary, PreNormBlock), "That is GELU: hand squared_relu over."),
        (variant(H, squared_relu, rotary, PostNormBlock), "The norms stand before the sub-layers."),
    ]
    _same_logits(trial, block, wanted, trial.normal(2, 6, D), slips, given, width)


@turns.task(own.modern_form, uses={*BLOCK, "squared_relu"})
def modern_form(trial: Trial) -> None:
    V, L, D, H = 200, 3, 64, 4
    given = f"V = {V}, L = {L}, D = {D}, H = {H}"
    ends = "MyGPT takes V, D, blocks, norm and output=, a matrix of its own, nn.Linear(D, V)."
    model = trial.call(V, L, D, H, given=given, hint=ends)
    hints = {
        "positions": "The blocks rotate: there are no learned positions.",
        "output": "The output is a matrix of its own: output=nn.Linear(D, V, bias=False).",
        "blocks": "L blocks of modern_block(D, H), one made anew each time round.",
        "norm": "The last norm is an RMSNorm of width D, which has no bias.",
    }
    wanted = own.modern_form(V, L, D, H)
    _same_parts(trial, model, wanted, hints)
    sizes = {"n_layers": L, "d_model": D, "n_heads": H}
    usual = 0.02 * math.sqrt(768 / D)
    for name, tensor in model.state_dict().items():
        if tensor.ndim == 1:
            continue
        got = tensor.std().item()
        into = name.endswith(("attention.output.weight", "feed_forward.down.weight"))
        shown = {"got": round(got, 4), "given": f"{given}: {name}"}
        if into or name == "output.weight":
            hint = (
                "What writes into the stream, two matrices in a block, begins at zero."
                if into
                else "The output begins at zero, so that all tokens begin equally likely."
            )
            trial.holds(got == 0, "a start at zero", hint, expected=0, **shown)
        elif name == "embedding.weight":
            hint = "The stream begins as the embedding: its standard deviation is 1, drawn last."
            trial.holds(abs(got - 1) < 0.05, "embeddings of size 1", hint, expected=1, **shown)
        else:
            hint = "All other matrices as small_start draws them: call it, before the zeros."
            right = abs(got / usual - 1) < 0.06 and tensor.abs().max() > 2.5 * got
            trial.holds(right, "a small start", hint, expected=round(usual, 4), **shown)
    reference = GPT(GPTConfig.modern(V, **sizes))
    _same_logits(trial, model, reference, trial.integers(0, V, 2, 6), [], given)
