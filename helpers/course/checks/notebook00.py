"""Your turn with first steps: shapes, softmax, the loss, a step of training."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Complaint
from helpers.course.checks.turn import Case, turn

turns = Lab("notebook00")
SHAPES = "all seven shapes"


def expressions(draw):
    for B, T, D, V in ((2, 5, 11, 27), (3, 7, 13, 19)):
        for name in shapes.fallback(B, T, D, V):
            given = f"{name}, with B = {B}, T = {T}, D = {D}, V = {V}"
            yield Case(SHAPES, name, B, T, D, V, given=given)


def one_shape(shapes, name, *sizes):
    found = shapes(*sizes)
    if list(found.values()) == [sizes[1:2], *[...] * 6]:
        raise NotImplementedError  # the first line is given
    if found[name] is ... or isinstance(found[name], int):
        dots = "Three dots are left on this line. " if found[name] is ... else ""
        tuples = "A shape is a tuple: write (T,) for one axis, (B, T) for two, and so on."
        raise Complaint(SHAPES, dots + tuples, name, str(found[name]))
    return str(tuple(found[name]))


@turn(
    turns,
    "Which of the rules is it? An index removes an axis and a slice keeps it; a lookup adds an "
    "axis, @ changes the last one, and dim says which one disappears. "
    + see(0, "A drill in reading shapes"),
    cases=expressions,
    call=one_shape,
    slips="""
    "ids[0]": (T,) => "ids[0]": (1, T)
        A single index picks one text of the B, and its axis is gone: what is left of it?
    (B, T - 1) => (B, T)
        ':' keeps all B texts; ':-1' leaves out the last token of each.
    "table[ids[0]] @ W": (T, V) => "table[ids[0]] @ W": (T, D)
        ids[0] is one text, (T,); the table puts D numbers in the place of each id, (T, D); and a
        product with (D, V) works on the last axis alone: D becomes V.
    "table[ids[0]] @ W": (T, V) => "table[ids[0]] @ W": (B, T, V)
        ids[0] picks one text of the B, so the axis B is gone before the table is asked.
    "scores[:, -1]": (B, V) => "scores[:, -1]": (B, 1, V)
        -1 picks the last position of every text: the axis T is gone, and B and V are left.
    (B, T, 1) => (B, T)
        The sum over the last axis would be (B, T); keepdim=True keeps that axis, with size 1.
    (B, D) => (T, D)
        dim=1 is the axis that disappears: a mean over the T tokens.
    (B * T, V) => (B, T * V)
        The axes 0 and 1 are joined into one: how many positions are there in all?
    """,
)
def shapes(B, T, D, V):
    """Expression -> shape, for ids (B, T), table (V, D), W (D, V) and scores (B, T, V)."""
    return {
        "ids[0]": (T,),
        "ids[:, :-1]": (B, T - 1),
        "table[ids[0]] @ W": (T, V),
        "scores[:, -1]": (B, V),
        "scores.sum(dim=-1, keepdim=True)": (B, T, 1),
        "table[ids].mean(dim=1)": (B, D),
        "scores.flatten(0, 1)": (B * T, V),
    }


def scores(draw):
    by_hand = torch.tensor([[0.0, 1.0986123], [0.0, 0.0]], dtype=torch.float64)  # log 3
    yield Case("the scores 0 and log 3 give 1/4 and 3/4", by_hand[:1])
    yield Case("each row by itself", by_hand)
    yield Case("and for scores (B, T, V)", draw.normal(2, 3, 5))


@turn(
    turns,
    "First exp, then divide by the sum over the last axis, dim=-1, with keepdim=True. "
    + see(0, "Softmax: from scores to probabilities"),
    cases=scores,
    without=["softmax", "log_softmax", "Softmax"],
    slips="""
    dim=-1, keepdim=True =>
        All of them together sum to 1, but each position needs a sum of its own: dim=-1.
    dim=-1 => dim=0
        You sum over the first axis; the letters stand on the last one, dim=-1.
    , keepdim=True =>
        Without keepdim=True the sum has lost an axis, (B, T) instead of (B, T, 1), and meets the
        wrong axis of the scores.
    scores.exp() => scores
        Scores may be negative: exp makes them positive before they are divided.
    / powers.sum(dim=-1, keepdim=True) =>
        Positive they are; now divide them by their sum.
    """,
)
def to_probabilities(scores):
    """Scores (..., V) -> probabilities (..., V), which sum to 1 over the last axis."""
    powers = scores.exp()
    return powers / powers.sum(dim=-1, keepdim=True)


def predictions(draw):
    p = torch.tensor([[0.5, 0.25, 0.25], [0.125, 0.5, 0.375]], dtype=torch.float64)
    rule = "1/4 and 1/8 for the right letters: the mean of log 4 and log 8"
    yield Case(rule, p, torch.tensor([1, 0]))
    N, V = 7, 4
    drawn = draw.normal(N, V).softmax(-1), draw.integers(0, V, N)
    yield Case("and for any predictions (N, V)", *drawn)


def as_number(loss_of, p, targets):
    loss = loss_of(p, targets)
    return float(loss) if isinstance(loss, Tensor) and loss.numel() == 1 else loss


@turn(
    turns,
    "Pick the probability of the right letter in every row, p[torch.arange(N), targets]; take the "
    "logarithm of each, then the mean of all, one number, and the minus sign. "
    + see(0, "The loss: what a prediction cost"),
    cases=predictions,
    call=as_number,
    without=["cross_entropy", "nll_loss"],
    slips="""
    return -p => return p
        The logarithm of a probability is negative: add a minus.
    .mean() => .sum()
        That is the sum over the predictions; a loss is their mean.
    .mean() =>
        One number comes out, the mean over all N predictions.
    p[torch.arange(len(targets)), targets] => p[:, targets]
        p[:, targets] takes every row with every target: go through both together with
        p[torch.arange(N), targets].
    p[torch.arange(len(targets)), targets] => p[targets]
        p[targets] takes whole rows, those with the numbers of the targets: you need one number of
        every row, p[torch.arange(N), targets].
    p[torch.arange(len(targets)), targets] => p.max(dim=-1).values
        That is the letter to which the model gives most; asked is the one that came.
    .log().mean() => .mean().log()
        First the logarithm of each, then the mean: yours is the logarithm of the mean.
    """,
)
def loss_of(p, targets):
    """The mean of -log p of the right ids: p (N, V), targets (N,) -> one number."""
    return -p[torch.arange(len(targets)), targets].log().mean()


def tables(draw):
    V = 27  # as in the notebook: scores.view(-1, 27) is right, too
    batches = [(draw.integers(0, V, 2, 5), draw.integers(0, V, 2, 5)) for _ in range(3)]
    yield Case(
        "three steps, each from where the last one ended",
        *(draw.normal(V, V, dtype=torch.float32), batches),
        given="a table of scores, an optimizer that goes down the slope, three batches",
    )


def three_steps(training_step, begin, batches):
    """The losses of three steps, and the table after them."""
    table = nn.Embedding.from_pretrained(begin.clone(), freeze=False)
    optimizer = torch.optim.SGD(table.parameters(), lr=2.0)
    losses = [training_step(table, optimizer, *batch) for batch in batches]
    if not all(isinstance(loss, float) for loss in losses):
        hint = "loss.item() makes a plain number of the loss: hand that back."
        raise Complaint("the loss is a number", hint, "a batch", str(losses[0]))
    return [*losses, table.weight.detach()]


@turn(
    turns,
    "The order is: scores, loss, zero_grad, backward, step. cross_entropy takes scores (N, V) and "
    "targets (N,): flatten both. " + see(0, "One step of training"),
    cases=tables,
    call=three_steps,
    tolerance=1e-5,
    slips="""
    optimizer.zero_grad() => pass
        The gradient of each step is added to that of the step before: zero_grad empties it.
    loss.backward() => pass
    optimizer.zero_grad() => pass ;; loss.backward() => loss.backward(); optimizer.zero_grad()
        The table has not moved: backward fills in the gradients, step moves by them, and between
        the two nobody may empty them.
    scores.flatten(0, 1) => scores.flatten(0, 1).softmax(-1)
        cross_entropy takes the softmax itself: hand it the scores, not probabilities.
    scores.flatten(0, 1), targets.flatten() => scores[:, -1], targets[:, -1]
        Every position is a prediction, not only the last one of each text.
    """,
)
def training_step(model, optimizer, inputs, targets):
    """Move the parameters once; the loss before that, as a number. inputs, targets: (B, T)."""
    scores = model(inputs)
    loss = F.cross_entropy(scores.flatten(0, 1), targets.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
