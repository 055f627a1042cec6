"""Your turn with fine-tuning: the loss on answers, LoRA, its swap, what a prompt is worth."""

import torch
from torch import nn

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Complaint
from helpers.course.checks.turn import Case, turn

turns = Lab("notebook17")
ANSWERS = see(17, "The loss counts the answer alone")
UPDATE = see(17, "LoRA: add a thin product")
SWAP = see(17, "The swap")
WORTH = see(17, "What is a prompt worth?")


def tasks_as_ids(draw):
    yield Case("by hand", [0, 7, 8, 9], [21, 22], 0)
    hint = (
        "The answer's tokens may stand in the prompt, too: count with len(prompt), do not search "
        f"for them. {ANSWERS}"
    )
    yield Case("an answer from the prompt", [0, 7, 21, 22, 9], [21, 22], 0, hint=hint)
    yield Case("the shortest text", [0], [6], 0)
    prompt, answer = (draw.integers(10, 99, draw.integer(2, 9)).tolist() for _ in range(2))
    yield Case("any text", [3, *prompt], answer, 3)


def two_lists(answer, prompt, reply, end):
    got = answer(prompt, reply, end)
    if isinstance(got, tuple | list) and not all(isinstance(part, list) for part in got):
        raise Complaint("two lists", "Hand back two lists: end in .tolist().", got=repr(got))
    return got


@turn(
    turns,
    "What is read is prompt and answer; what is predicted stands one position further on, and is "
    f"-100 wherever it still belongs to the prompt. {ANSWERS}",
    cases=tasks_as_ids,
    call=two_lists,
    slips="""
    [*prompt, => [end, *prompt, ;; (len(prompt) - 1) => len(prompt)
        The prompt begins with the mark already: do not put it in front again.
    [-100] * (len(prompt) - 1) + [*answer, end] => [-100] * len(prompt) + [*answer, end][1:]
        The last token of the prompt already predicts the first one of the answer: only the
        targets before it are -100.
    [-100] * (len(prompt) - 1) => prompt[1:]
        Here the prompt is predicted, too: its targets are to be -100.
    [*prompt, *answer, end] => [*prompt, *answer] ;; [*answer, end] => answer
        The model has to learn where an answer ends: `end` is the last target, so all of the answer
        is read.
    tokens[:-1], [-100] * (len(prompt) - 1) + [*answer, end] => \
    [-100] * (len(prompt) - 1) + [*answer, end], tokens[:-1]
        First what is read, then the targets.
    [-100] => [0]
        0 is the id of a token. What the loss is to pass over is -100.
    tokens[:-1] => tokens
        Inputs and targets are of one length: nothing follows `end`, so it is not read.
    tokens[:-1], [-100] * (len(prompt) - 1) => tokens, [-100] * len(prompt)
        These targets are not shifted: each position predicts the token that comes next.
    tokens[:-1], [-100] * (len(prompt) - 1) + => [prompt[-1], *answer],
        The prompt has to be read: only its targets are left out.
    """,
)
def answer_only(prompt, answer, end):
    """Lists of ids -> what is read and the targets, where the prompt's are -100."""
    tokens = [*prompt, *answer, end]
    return tokens[:-1], [-100] * (len(prompt) - 1) + [*answer, end]


def thin_products(draw):
    by_hand = [[1.0, 2.0]], [[1.0, 0.0], [0.0, 1.0]], [[1.0, 1.0]], [[2.0], [0.0]]
    given = "x = (1, 2), W the identity, A = (1, 1), B = (2, 0), alpha = 0.5"
    yield Case("by hand", *(torch.tensor(part).double() for part in by_hand), 0.5, given=given)
    for shape, d, k, r, alpha in (((1, 5), 3, 5, 2, 8.0), ((4, 4), 6, 4, 3, 2.0)):
        parts = draw.normal(*shape), draw.normal(d, k), draw.normal(r, k), draw.normal(d, r)
        given = f"x {shape}, W ({d}, {k}), r = {r}, alpha = {alpha:g}"
        yield Case("any matrices", *parts, alpha, given=given)
    parts = draw.normal(2, 3, 5), draw.normal(4, 5), draw.normal(2, 5), draw.normal(4, 2)
    yield Case("x (..., k)", *parts, 3.0, given="x (2, 3, 5), W (4, 5), r = 2, alpha = 3")


def both_learn(trial):
    new = [torch.ones(shape, requires_grad=True) for shape in ((1, 2), (2, 1))]
    h = trial.call(torch.ones(1, 2), torch.eye(2), *new, 1.0, given="all ones, W the identity")
    reached = h.requires_grad and torch.autograd.grad(h.sum(), new, allow_unused=True)
    hint = "A and B are to be trained: no gradient may be cut off, by detach, no_grad or .data."
    trial.holds(reached and all(g is not None for g in reached), "A and B have gradients", hint)


@turn(
    turns,
    "x goes two ways, whose results are added: through W, and through A and then B, times "
    f"alpha / r. The vectors are rows, so each matrix is transposed. {UPDATE}",
    cases=thin_products,
    also=both_learn,
    slips="""
    alpha / len(A) * =>
        The update is multiplied by alpha / r.
    alpha / len(A) => alpha
        The factor is alpha / r: divide by the rank, the number of rows of A.
    len(A) => A.shape[1]
        r is the number of rows of A, not of its columns, nor of the rows of W.
    + alpha / len(A) * (x @ A.T @ B.T) =>
        The update is missing: x goes through A and B, too, times alpha / r. (With // in place of
        / this factor may be 0.)
    return x @ W.T + alpha / len(A) * (x @ A.T @ B.T) => \
    return alpha / len(A) * (x @ W.T + x @ A.T @ B.T)
        The factor alpha / r belongs to the update alone, not to W.
    x @ A.T => torch.nn.functional.gelu(x @ A.T)
        There is no non-linearity between A and B: that is why they can be merged.
    """,
)
def lora(x, W, A, B, alpha):
    """x (..., k), W (d, k), A (r, k), B (d, r) -> h (..., d)."""
    return x @ W.T + alpha / len(A) * (x @ A.T @ B.T)


class Part(nn.Module):
    """A part of a network that is made of others."""

    def __init__(self, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)


class New(nn.Module):
    """What stands for a layer in the trials of ``swap``."""

    def __init__(self, old):
        super().__init__()
        self.old, self.A = old, nn.Parameter(torch.zeros(1))


def small_gpt(layers):
    def block():
        maps = {name: nn.Linear(2, 2) for name in ("query", "value", "output")}
        return Part(attention=Part(**maps), feed_forward=Part(up=nn.Linear(2, 2)))

    blocks = nn.ModuleList(block() for _ in range(layers))
    return Part(embedding=nn.Embedding(3, 2), blocks=blocks, output=nn.Linear(2, 3))


def swapped(answer, layers, names):
    """Which layers of a small GPT are new, and which weights are trained, after a swap."""
    model = small_gpt(layers)
    got = answer(model, names, New)
    if not isinstance(got, nn.Module):
        raise Complaint("it hands back the model", "End with `return model`.", got=repr(got))
    new = [name for name, _ in got.named_modules() if isinstance(got.get_submodule(name), New)]
    return {
        "new layers": new,
        "trained": [name for name, weight in got.named_parameters() if weight.requires_grad],
    }


def networks(draw):
    for layers, names in ((1, ("query",)), (2, ("output", "query")), (2, ("value", "up"))):
        given = f"a GPT with {layers} block{'s' * (layers > 1)}, names = {names}"
        yield Case("what is new, and what is trained", layers, names, given=given)


@turn(
    turns,
    "First freeze the whole model. Then go through list(model.blocks.modules()); for each part go "
    "through list(part.named_children()), and where a name is one of names, "
    f"setattr(part, name, new(layer)). {SWAP}",
    cases=networks,
    call=swapped,
    slips="""
    model.requires_grad_(False) =>
        The old weights are still trained: freeze the model first, model.requires_grad_(False).
    model.requires_grad_(False) => model.blocks.requires_grad_(False)
        Embedding and output matrix lie outside the blocks, and are still trained: freeze all.
    model.requires_grad_(False) => ;; return model => return model.requires_grad_(False)
        What is new is frozen as well: freeze before you swap.
    model.blocks.modules() => model.modules()
        The GPT's last layer is called output, too: look for the names in the blocks alone.
    model.blocks.modules() => model.blocks
        Nothing has been swapped. The maps do not stand in a block directly, but in its parts, which
        blocks.modules() gives as well; and setattr puts a new layer in the place of the old one.
    list(model.blocks.modules()) => [model.blocks] ;; named_children => named_modules ;; \
    if name in names => if name.split(".")[-1] in names
        setattr takes the name of one part, not a path with dots: set it on the module that holds
        the layer.
    if name in names => if name in names and name != "output"
        The output of a block is to be swapped: look in the blocks alone, and leave no name out.
    """,
)
def swap(model, names, new):
    """Freeze a GPT, put new(layer) for each layer so named in its blocks, and hand it back."""
    model.requires_grad_(False)
    for part in list(model.blocks.modules()):
        for name, layer in list(part.named_children()):
            if name in names:
                setattr(part, name, new(layer))
    return model


def answers_in_bits(draw):
    own, others = torch.tensor([9.0, 2, 3, 6]), torch.tensor([6.0, 7, 8, 11])
    yield Case("by hand", own, others, given="own 9, 2, 3, 6, others 6, 7, 8, 11")
    shared = draw.normal(12).abs() * 20
    own, others = shared + draw.normal(12).abs(), shared + 3 * draw.normal(12).abs()
    yield Case("any bits", own, others, given="twelve answers")


def two_numbers(answer, own, others):
    got = answer(own, others)
    if not isinstance(got, tuple | list) or len(got) != 2:
        hint = "Hand back two numbers: the mean and its standard error."
        raise Complaint("two numbers", hint, got=repr(got))
    return tuple(map(float, got))


@turn(
    turns,
    "First the differences, one for each answer; then their mean, and their standard deviation "
    f"divided by the square root of their number. {WORTH}",
    cases=answers_in_bits,
    call=two_numbers,
    tolerance=1e-5,
    slips="""
    others - own => own - others
        The sign is turned round: where the other prompt makes the answer more surprising, the
        right prompt is worth something.
    others - own => (others - own).abs()
        Keep the sign of each difference: by chance the other prompt may be the better one.
    / len(gain) ** 0.5 =>
        That is the standard deviation of single answers. The mean of n of them is surer: divide
        by the square root of n.
    .std() => .var()
        The square root is missing: the variance is the square of the standard deviation.
    .std() => .std(correction=0)
        The standard deviation is that with n - 1, as `std` of a tensor has it.
    gain.mean(), gain.std() / len(gain) ** 0.5 => gain.std() / len(gain) ** 0.5, gain.mean()
        First the mean, then its standard error.
    gain.std() / len(gain) ** 0.5 => ((own.var() + others.var()) / len(own)) ** 0.5
        The two numbers of an answer belong together, as a pair: take the differences first, and
        then their standard deviation. What makes one answer harder than another drops out.
    """,
)
def worth(own, others):
    """Bits of n true answers, (n,), behind own and others' prompts -> mean gain, standard error."""
    gain = others - own
    return gain.mean(), gain.std() / len(gain) ** 0.5
