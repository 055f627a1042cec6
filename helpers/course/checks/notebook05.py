"""Your turn with recurrent networks: all states, the way back, clipping, writing."""

import math

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn

turns = Lab("notebook05")


def sequences(draw):
    one = torch.ones(1, 1).double()
    x = torch.tensor([[[1.0], [0.0], [0.0]]]).double()
    yield Case("by hand: 0.76, 0.36, 0.18", x, 0 * one, one, 0.5 * one, torch.zeros(1).double())
    for B, T, D, H in ((1, 1, 2, 2), (4, 3, 3, 5), (2, 3, 4, 4)):
        shapes = (B, T, D), (B, H), (H, D), (H, H), (H,)
        given = f"B = {B}, T = {T}, D = {D}, H = {H}, random numbers"
        yield Case("any sequences", *(draw.normal(*shape) for shape in shapes), given=given)


@turn(
    turns,
    "At each step, rows of x[:, t] and of h are multiplied with transposed matrices, h @ W_hh.T "
    "where the formula has W_hh h; the bias is added, and tanh of the sum is the new h. "
    + see(5, "A state in place of a window"),
    cases=sequences,
    slips="""
    torch.tanh(x[:, t] @ W_xh.T + h @ W_hh.T + b) => x[:, t] @ W_xh.T + h @ W_hh.T + b
        tanh is missing: without it the network would be linear.
    h @ W_hh.T => h @ W_hh ;; x[:, t] @ W_xh.T => x[:, t] @ W_xh
        In the formula a matrix stands on the left of a column. Here inputs and states are rows:
        multiply each of them with a transposed matrix, x[:, t] @ W_xh.T and h @ W_hh.T.
    + b) => )
        The bias b is missing inside tanh, where it is added to the other two.
    states = [] => states, h = [], torch.zeros_like(h)
        h_0 is handed in as h: begin with it, not with zeros.
    h = torch.tanh => new = torch.tanh ;; append(h) => append(new)
    h @ W_hh.T + => +
        The new state never becomes the old one: this network has no memory.
    torch.stack(states, dim=1) => torch.stack(states)
    torch.stack(states, dim=1) => torch.cat(states, dim=1)
        The shape is another one than (B, T, H): put the states side by side along a new dimension
        1, with torch.stack(states, dim=1).
    states = [] => states = [h]
        h_0 is handed in, it is none of h_1 ... h_T: begin with an empty list.
    x.shape[1] => len(x)
        States are missing. Either the loop has the wrong length (x is (B, T, D), so there are
        x.shape[1] steps, and len(x) is the number of sequences), or return stands inside the loop.
    """,
)
def elman(x, h, W_xh, W_hh, b):
    """The states h_1 ... h_T, (B, T, H), for x (B, T, D), from h_0 (B, H) on."""
    states = []
    for t in range(x.shape[1]):
        h = torch.tanh(x[:, t] @ W_xh.T + h @ W_hh.T + b)
        states.append(h)
    return torch.stack(states, dim=1)


def ways_back(draw):
    for T, D, H in ((3, 2, 2), (5, 2, 4), (1, 3, 2)):
        W_hh, W_xh, x = draw.normal(H, H), draw.normal(H, D), draw.normal(T, D)
        h = [torch.zeros(H, dtype=torch.double)]
        for t in range(T):
            h.append(torch.tanh(W_hh @ h[t] + W_xh @ x[t]))
        rule = "one step" if T == 1 else "the gradients over all steps"
        given = f"T = {T}, D = {D}, H = {H}, random numbers"
        yield Case(rule, draw.normal(T, H), torch.stack(h), x, W_hh, given=given)


@turn(
    turns,
    "delta is (what comes from this step's own loss, g[t - 1], + what comes back from the step "
    "after) times the slope of tanh at h[t]; dW_hh and dW_xh add up its outer products with "
    "h[t - 1] and x[t - 1]. g and x begin with step 1: step t has g[t - 1] and x[t - 1]. "
    + see(5, "Backpropagation through time"),
    cases=ways_back,
    slips="""
    W_hh.T @ delta => W_hh @ delta
        On the way back the matrix is transposed: W_hh.T @ delta.
    + W_hh.T @ delta =>
        What comes back from the step after is missing: W_hh.T @ delta.
    1 - h[t] ** 2 => 1 - h[t - 1] ** 2
    (1 - h[t] ** 2) => (1 - h[t]) ** 2
        The slope of tanh at step t follows from its output, and that is h[t]: 1 - h[t] ** 2.
    (g[t - 1] + W_hh.T @ delta) * (1 - h[t] ** 2) => g[t - 1] + W_hh.T @ delta
        tanh is left out on the way back: multiply the sum by the slope of tanh at h[t].
    g[t - 1] + W_hh.T @ delta => W_hh.T @ delta
        This step's own loss is missing: g[t - 1].
    (g[t - 1] + W_hh.T @ delta) * => g[t - 1] + W_hh.T @ delta *
        The slope multiplies both parts: put their sum in brackets.
    dW_hh += => dW_hh = ;; dW_xh += => dW_xh =
        Only one step is left: add to dW_hh and dW_xh, do not replace them.
    torch.outer(delta, h[t - 1]) => torch.outer(h[t - 1], delta) ;; \
    torch.outer(delta, x[t - 1]) => torch.outer(x[t - 1], delta)
        A matrix of yours is the transpose of what is expected: delta comes first in outer.
    torch.outer(delta, h[t - 1]) => torch.outer(delta, h[t])
        W_hh multiplies the state before the step, h[t - 1].
    return dW_hh, dW_xh => return dW_xh, dW_hh
        Hand back dW_hh first, and then dW_xh.
    """,
)
def bptt(g, h, x, W_hh):
    """dL/dW_hh (H, H) and dL/dW_xh (H, D), for g (T, H), h (T+1, H), x (T, D), W_hh (H, H)."""
    (T, D), H = x.shape, len(W_hh)
    delta, dW_hh, dW_xh = x.new_zeros(H), x.new_zeros(H, H), x.new_zeros(H, D)
    for t in range(T, 0, -1):  # from the last step back to the first
        delta = (g[t - 1] + W_hh.T @ delta) * (1 - h[t] ** 2)
        dW_hh += torch.outer(delta, h[t - 1])
        dW_xh += torch.outer(delta, x[t - 1])
    return dW_hh, dW_xh


def gradients_and_bounds(draw):
    long = [torch.tensor([3.0, 4.0]).double(), torch.tensor([[12.0]]).double()]
    yield Case("a norm of 13 is cut to 1", long, 1.0)
    yield Case("a norm of 13 is cut to 6.5", long, 6.5)
    yield Case("a short gradient stays as it is", long, 20.0)
    drawn = [draw.normal(3, 4), draw.normal(4), draw.normal(2, 2, 2)]
    yield Case("any tensors are scaled by one factor", drawn, 0.5)


@turn(
    turns,
    "One norm for all tensors together: the root of the sum of all squares. Where it is larger "
    f"than bound, multiply every tensor by bound / norm. {see(5, 'Clipping')}",
    cases=gradients_and_bounds,
    slips="""
    g * factor for => g * min(1.0, bound / float(g.norm())) for
        Each tensor is cut by itself, which changes the direction of the whole gradient: use one
        norm for all of them.
    g * factor for => g.clamp(-bound, bound) for
        Single numbers are cut off, which changes the direction: scale all by one factor.
    if norm > bound else 1.0 =>
        A gradient that is shorter than bound must stay as it is.
    ** 0.5 =>
        That is the sum of squares; the norm is its root.
    sum(float((g**2).sum()) for g in gradients) ** 0.5 => sum(float(g.norm()) for g in gradients)
        Norms do not add up, squares do: take the root of the sum of all squares.
    """,
)
def clip(gradients, bound):
    """The tensors in the list ``gradients``, scaled so that their common norm is at most bound."""
    norm = sum(float((g**2).sum()) for g in gradients) ** 0.5
    factor = bound / norm if norm > bound else 1.0
    return [g * factor for g in gradients]


SURE = [[0.0 if i == k else -1e4 for i in range(4)] for k in (3, 1, 0, 2)]
ODDS = [[math.log(p) for p in (0.6, 0.3, 0.1)]]


def follower(tokens, state=None):
    """A network that surely says the symbol after the one that it read, of five."""
    scores = torch.full((1, 1, 5), -1e4)
    scores[0, 0, (int(tokens[0, -1]) + 1) % 5] = 0.0
    return scores, torch.zeros(1)


def reader(rows):
    """A network whose scores are a row for each step, which its state counts; the last row for
    more than one token at once."""

    def read(tokens, state=None):
        step = 0 if state is None else int(state)
        row = torch.tensor(rows[step % len(rows) if tokens.shape[1] == 1 else -1])
        return row.view(1, 1, -1), torch.tensor(step + 1)

    return read


def networks(draw):
    given = "a network for which this is known, first = {}, length = {}"
    for rule, read, first, length in (
        ("it reads what it has written", follower, 2, 6),
        ("it keeps the state", reader(SURE), 0, 4),
        ("it draws from the softmax of the scores", reader(ODDS), 0, 2000),
        ("the same generator, the same text", reader(ODDS), 0, 50),
    ):
        yield Case(rule, read, first, length, given=given.format(first, length))


def what_is_written(answer, read, first, length):
    """The text; of a random one the shares of the symbols, or whether it is the same again."""
    texts = [
        [int(token) for token in answer(read, first, length, torch.Generator().manual_seed(3))]
        for _ in range(2 if length == 50 else 1)
    ]
    if length == 2000:
        return [round(texts[0].count(token) / len(texts[0]), 1) for token in range(3)]
    return texts[0] if length < 50 else ["the same", "another"][texts[0] != texts[1]]


@turn(
    turns,
    "Read one token with the state so far, draw the next from the softmax of the scores, because "
    "multinomial needs probabilities, keep it, and read it in the next round. Hand back a list of "
    "numbers. " + see(5, "A recurrent network that writes"),
    cases=networks,
    call=what_is_written,
    slips="""
    scores, state = read => scores, _ = read
        The state is lost: hand the one that read gave back to read in the next step.
    int(torch.multinomial(scores[0, -1].softmax(dim=-1), 1, generator=generator)) => \
    int(scores[0, -1].argmax())
    =generator => =torch.Generator().manual_seed(0)
        The same symbol comes each time: draw one, with torch.multinomial and the generator that is
        handed in, which is not made anew in the loop.
    token = int( => drawn = int( ;; append(token) => append(drawn)
        What was drawn must be read in the next step: token becomes what was drawn.
    torch.tensor([[token]]), state => torch.tensor([[first, *written]]), state
    torch.tensor([[token]]), state => torch.tensor([[first, *written]]), None
        Symbols are read again: keep the state, which has read them, and hand over the last.
    return written => return [first, *written]
        first is read, not handed back: begin with an empty list.
    , generator=generator =>
        All chance comes from the generator: torch.multinomial(p, 1, generator=generator).
    """,
)
def generate(read, first, length, generator):
    """A list of ``length`` tokens drawn from the network, which begins by reading ``first``."""
    token, state, written = first, None, []
    for _ in range(length):
        scores, state = read(torch.tensor([[token]]), state)
        token = int(torch.multinomial(scores[0, -1].softmax(dim=-1), 1, generator=generator))
        written.append(token)
    return written
