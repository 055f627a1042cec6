"""Your turn with a whole GPT: its forward pass, its test, its start, and its modern form."""

import torch
from torch import nn
from torch.nn import functional as F

from helpers.course.checks.devices import on_meta
from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Complaint
from helpers.course.checks.turn import Case, turn
from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import FeedForward, PreNormBlock, RMSNorm
from helpers.models.gpt import squared_relu
from helpers.models.positions import RotaryPositions

turns = Lab("notebook12")
UNIT = 0.02  # in which first weights are measured


def parts_of(V, T, D, learned):
    """What a GPT of two blocks is made from: (V, D, blocks, norm, positions, output)."""
    blocks = [PreNormBlock(D, MultiHeadAttention(D, 2), FeedForward(D)) for _ in range(2)]
    if learned:
        return V, D, blocks, nn.LayerNorm(D), nn.Embedding(T, D), None
    return V, D, blocks, nn.LayerNorm(D), None, nn.Linear(D, V, bias=False)


def check_parts(found, wanted, hint, given):
    """Complain where a module lacks a parameter, has one too many, or one of another shape."""
    back = "Hand back the module: the last line is a return."
    if not isinstance(found, nn.Module):
        raise Complaint("it hands back a model", back, given, type(found).__name__)
    mine, theirs = ({n: tuple(w.shape) for n, w in m.state_dict().items()} for m in (found, wanted))
    if others := sorted(n for n in {**mine, **theirs} if mine.get(n) != theirs.get(n)):
        got, expected = (f"{others[0]}: {d.get(others[0], 'not there')}" for d in (mine, theirs))
        raise Complaint("it has the parts that were asked for", hint, given, got, expected)


def logits_of(model, sizes, weights, tokens):
    """What a MyGPT made of these parts gives with these weights; without any, on "meta"."""
    made, wanted = model(*parts_of(*sizes)), MyGPT.fallback(*parts_of(*sizes))
    keep = "Leave __init__ as it is: later notebooks look for these names."
    check_parts(made, wanted, keep, f"sizes {sizes[:3]}")
    if not weights:
        made, there = made.to("meta"), tokens.to("meta")
        return tuple(on_meta(lambda: made(there)).shape)
    made.double().load_state_dict(weights)
    with torch.no_grad():
        return made(tokens)


def texts_to_read(draw):
    V, T, D = 9, 12, 8  # more positions than tokens, so that tokens may be mistaken for them
    for words, learned in (("learned positions, a tied output", True), ("neither", False)):
        sizes = V, T, D, learned
        state = MyGPT.fallback(*parts_of(*sizes)).state_dict()
        weights = {name: draw.normal(*w.shape) / 2 for name, w in state.items()}
        for length in (6, T):
            tokens, given = draw.integers(0, V, 2, length), f"{length} tokens, {words}"
            yield Case("its logits are those of the formula", sizes, weights, tokens, given=given)
    last = (V, T, D, True), {}, torch.zeros(2, T, dtype=torch.long)
    logits_of(MyGPT.fallback, *last)  # what PyTorch imports for it is not on the answer's time
    yield Case(
        "it runs on any device",
        *last,
        given="model and tokens on a second device, as on a GPU",
        hint="Some tensor is made on the CPU on the way: torch.arange(..., device=tokens.device).",
    )


@turn(
    turns,
    "Print the shape of x after each line; each is (B, T, D) up to the output, which compares x "
    "with every token: x @ E.T. " + see(12, "The whole GPT, drawn"),
    cases=texts_to_read,
    call=logits_of,
    slips="""
    block(x, causal=True) => block(x)
        Every position sees the whole text, the tokens that it is to predict among them: what does a
        block need to be told?
    x = self.norm(x) => pass
        What becomes of the stream after the last block, in pre-norm?
    x = x + self.positions( => self.positions(
        Without the positions, x knows nothing of the order.
    self.positions(torch.arange(tokens.shape[1], device=tokens.device)) => self.positions(tokens)
        Positions are counted, 0 to T - 1; they are not the tokens.
    x = self.embedding(tokens) => x = read = self.embedding(tokens) ;; \
    block(x, causal=True) => block(read, causal=True)
        Each block reads what the block before it handed on.
    x = block(x, causal=True) => block(x, causal=True)
        The block hands back a new x, and the old one stays as it was: x = block(x, causal=True).
    x = block(x => x = x + block(x
        The block adds to the stream by itself: x = block(x, ...), not x + block(x, ...).
    x = block(x, causal=True) => x = self.norm(block(x, causal=True))
        One norm after the *last* block: is it inside the loop?
    if self.output is None: => if True:
        There is an output of its own here: use it.
    return x @ self.embedding.weight.T => return (x @ self.embedding.weight.T).softmax(-1)
        These are probabilities; logits are asked for, of which the loss takes the softmax.
    x = self.norm(x) => x = self.norm(x)[:, -1]
        Every position predicts, not the last.
    """,
)
class MyGPT(nn.Module):
    """Embeddings, L blocks, a last norm, and the output."""

    def __init__(self, V, D, blocks, norm, positions=None, output=None):
        super().__init__()
        self.embedding = nn.Embedding(V, D)
        self.positions = positions  # nn.Embedding(T, D); None where the blocks rotate
        self.blocks = nn.ModuleList(blocks)
        self.norm = norm
        self.output = output  # nn.Linear(D, V, bias=False); None: the embeddings again

    def forward(self, tokens):
        """Logits (B, T, V) of the tokens that follow each position of tokens (B, T)."""
        x = self.embedding(tokens)  # (B, T, D)
        if self.positions is not None:
            x = x + self.positions(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x, causal=True)
        x = self.norm(x)
        if self.output is None:
            return x @ self.embedding.weight.T
        return self.output(x)


def as_number(answer, *arguments):
    """A tensor with one element is a number, too."""
    value = answer(*arguments)
    return value.item() if isinstance(value, torch.Tensor) and value.numel() == 1 else value


def models_that_look(draw):
    V, B, T = 40, 4, 7
    original = draw.integers(1, V, B, T)

    def causal(tokens):
        return F.one_hot(tokens, V).double().cumsum(1)

    def one_ahead(tokens):
        return F.one_hot(tokens, V).double().cumsum(1).roll(-1, 1)

    def of_the_last(tokens):
        return F.one_hot(tokens[:, -1:], V).double().expand(B, T, V)

    def sinking(tokens):
        moved = (tokens != original).flip(1).cumsum(1).flip(1)[:, :, None]
        return -3.0 * (moved > 0).double() * F.one_hot(torch.zeros_like(tokens), V)

    def far(tokens):
        logits = torch.zeros(B, T, V, dtype=torch.double)
        logits[-1, 0] = F.one_hot(tokens[-1, -1], V).double()
        return logits

    def near(tokens):
        logits = torch.zeros(B, T, V, dtype=torch.double)
        logits[-1, :-1] = F.one_hot(tokens[-1, 1:], V).double()
        return logits

    said = {
        causal: "0 for a model that does not look ahead",
        one_ahead: "more than 0 for one that does",
        of_the_last: "more than 0 for one that does",
        sinking: "how far a logit moves, up or down",
        far: "more than 0 for one that does",
        near: "more than 0 for one that does",
    }
    for t in (3, T - 1, 1):
        for model, rule in said.items():
            yield Case(rule, model, original, t, V, given=f"{B} texts of {T} tokens, t = {t}")
    given = "a text of zeros, t = 3"
    yield Case(said[one_ahead], one_ahead, torch.zeros_like(original), 3, V, given=given)


@turn(
    turns,
    "Three lines: a copy of the tokens, all of them changed from position t on; the difference of "
    "the two logits; the largest absolute value of it before position t. "
    + see(12, "One pass, T predictions"),
    cases=models_that_look,
    call=as_number,
    slips="""
    changed[:, t:] = (changed[:, t:] + 1) % V => changed[:, t:] = 0
        A token that is 0 already has not been changed: add 1, modulo V.
    difference[:, :t].abs().max() => difference[:, t - 1].abs().max()
    difference[:, :t].abs().max() => difference[0, :t].abs().max()
        A leak may show in any text and at any of the positions before t: look at *all* of them.
    changed[:, t:] = (changed[:, t:] => changed[:, t] = (changed[:, t]
        Change all tokens from position t on, in a copy, and look at positions before t.
    difference[:, :t].abs() => difference[:, : t + 1].abs()
    difference[:, :t].abs() => difference.abs()
        Position t reads token t, so it may move. Which positions must not? And which tokens are
        changed?
    .abs().max() => .max().abs()
    .abs() =>
        A logit that falls has moved as well: take absolute values, and the largest of all.
    .max() => .mean()
        The mean over all logits hides a leak in one of them: the largest is asked for.
    """,
)
def leak(model, tokens, t, V):
    """The largest move of a logit before position t when the tokens from t on are changed."""
    changed = tokens.clone()
    changed[:, t:] = (changed[:, t:] + 1) % V
    difference = model(changed) - model(tokens)  # (B, T, V)
    return difference[:, :t].abs().max().item()


def sizes_of(model):
    """The root mean square of every parameter, in units of 0.02."""
    return {n: p.square().mean().sqrt().item() / UNIT for n, p in model.named_parameters()}


def started(answer, sizes, form):
    """The sizes of all weights of a fresh model after the answer has begun it."""
    L, D = sizes
    bias = form == "GPT-2's form"
    with torch.random.fork_rng():
        torch.manual_seed(L)
        blocks = [
            PreNormBlock(D, MultiHeadAttention(D, 2, bias=bias), FeedForward(D, bias=bias))
            for _ in range(L)
        ]
        ends = (nn.Embedding(96, D), None) if bias else (None, nn.Linear(D, 200, bias=False))
        model = MyGPT.fallback(200, D, blocks, nn.LayerNorm(D), *ends)
        for weight in model.parameters():
            if weight.ndim == 2:
                nn.init.ones_(weight)  # so that what is not drawn anew is noticed
        answer(model)
    return sizes_of(model)


def models_to_start(draw):
    for sizes, form in (((3, 192), "GPT-2's form"), ((2, 96), "no biases, an output of its own")):
        given = f"L = {sizes[0]}, D = {sizes[1]}, {form}; root mean squares in units of {UNIT}"
        yield Case("every weight begins as large as it should", sizes, form, given=given)


@turn(
    turns,
    "Two loops: over model.modules() for all embeddings and linear maps (part.bias is None where a "
    "map has none), then over model.blocks for the two writers. What changes a weight in place, "
    "and is no function of nn.init, stands under torch.no_grad(). A model may have no learned "
    "positions. " + see(12, "What should the loss be at initialization?"),
    cases=models_to_start,
    call=started,
    tolerance=0.04,
    slips="""
    model.embedding.embedding_dim, len(model.blocks) => 128, 4
        Width and depth are those of the model that is handed in, not the D and L of the notebook:
        model.embedding.embedding_dim, len(model.blocks).
    usual = 0.02 * (768 / D) ** 0.5 => usual = 0.02
        0.02 is for a width of 768; other widths have 0.02 times the square root of 768 / D.
    (768 / D) ** 0.5 => (768 / D)
        It is the square root of 768 / D.
    (2 * L) ** 0.5 => L**0.5
        A block adds twice, by its attention and by its feed-forward layer: 2 L additions.
    (2 * L) ** 0.5 => (2 * L)
        It is the square root of 2 L: variances add up, not standard deviations.
    (block.attention.output, block.feed_forward.down) => (block.attention.output,)
    (block.attention.output, block.feed_forward.down) => ()
        Two matrices in each block write into the stream, attention.output and feed_forward.down. Do
        they come last, or does the loop over all parts draw them anew?
    (block.attention.output, block.feed_forward.down) => \
    (block.attention.output, block.feed_forward.up)
        It is feed_forward.down that writes into the stream; up reads a normalized copy of it.
    (nn.Embedding, nn.Linear) => (nn.Linear,)
        All embeddings and all linear maps are drawn anew.
    nn.init.zeros_(part.bias) => pass
        Biases begin at zero.
    std=usual) => usual)
        The second argument of normal_ is the mean: write std=...
    """,
)
def small_start(model):
    """Initialize a MyGPT: small normal weights, the writers smaller by sqrt(2 L)."""
    D, L = model.embedding.embedding_dim, len(model.blocks)
    usual = 0.02 * (768 / D) ** 0.5
    for part in model.modules():
        if isinstance(part, (nn.Embedding, nn.Linear)):
            nn.init.normal_(part.weight, std=usual)
        if isinstance(part, nn.Linear) and part.bias is not None:
            nn.init.zeros_(part.bias)
    for block in model.blocks:
        for writer in (block.attention.output, block.feed_forward.down):
            nn.init.normal_(writer.weight, std=usual / (2 * L) ** 0.5)


def modern_block(D, H):
    attention = MultiHeadAttention(D, H, positions=RotaryPositions(D // H), qk_norm=RMSNorm)
    return PreNormBlock(D, attention, FeedForward(D, 4 * D, squared_relu, bias=False), RMSNorm)


def made_and_started(answer, *sizes):
    """The number of a model's parameters, and how large each begins."""
    hint = (
        "No learned positions; L blocks of modern_block(D, H); as the last norm an RMSNorm(D), "
        "which has no bias; and output=nn.Linear(D, V, bias=False), a matrix of its own."
    )
    with torch.random.fork_rng():
        torch.manual_seed(sizes[1])
        model = answer(*sizes)
        wanted = modern_form.fallback(*sizes)
    check_parts(model, wanted, hint, "V = {}, L = {}, D = {}, H = {}".format(*sizes))
    return {"parameters": sum(p.numel() for p in model.parameters()), **sizes_of(model)}


def modern_sizes(draw):
    for sizes in ((200, 3, 64, 4), (150, 1, 96, 2)):
        given = "V = {}, L = {}, D = {}, H = {}; sizes in units of 0.02".format(*sizes)
        yield Case("it begins as it should", *sizes, given=given)


@turn(
    turns,
    "First the model, MyGPT(V, D, blocks, norm, output=nn.Linear(D, V, bias=False)), whose output "
    "is a matrix of its own; then its start in the order of the text: small_start, the embeddings, "
    "zeros. " + see(12, "What has changed since GPT-2"),
    cases=modern_sizes,
    call=made_and_started,
    tolerance=0.05,
    uses={"modern_block", "RMSNorm"},
    slips="""
    [modern_block(D, H) for _ in range(L)] => [modern_block(D, H)] * L
        All blocks are one and the same object: make a new block each time round.
    small_start(model) => pass
        All other matrices begin as small_start draws them: call it, before the zeros.
    nn.init.normal_(model.embedding.weight) => pass
        The stream begins as the embedding: its standard deviation is 1, drawn after small_start.
    nn.init.zeros_(model.output.weight) => pass
        The output begins at zero, so that all tokens begin equally likely.
    nn.init.zeros_(block.feed_forward.down.weight) => nn.init.zeros_(block.feed_forward.up.weight)
        It is feed_forward.down that writes into the stream; up reads a normalized copy of it.
    nn.init.zeros_(block.feed_forward.down.weight) => pass
    for block in model.blocks: => for block in []:
        What writes into the stream, two matrices in each block, begins at zero.
    small_start(model) => pass ;; return model => return small_start(model) or model
        small_start comes first: here it draws over the zeros.
    """,
)
def modern_form(V, L, D, H):
    """A MyGPT of L modern blocks, with an output of its own, and a start at zero."""
    blocks = [modern_block(D, H) for _ in range(L)]
    model = MyGPT(V, D, blocks, RMSNorm(D), output=nn.Linear(D, V, bias=False))
    small_start(model)
    nn.init.normal_(model.embedding.weight)
    nn.init.zeros_(model.output.weight)
    for block in model.blocks:
        nn.init.zeros_(block.attention.output.weight)
        nn.init.zeros_(block.feed_forward.down.weight)
    return model
