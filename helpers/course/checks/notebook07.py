"""Your turn with gates: the gated cell, GRU and LSTM, a counter, and a text read from both ends."""

import math

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Complaint
from helpers.course.checks.turn import Case, turn

turns = Lab("notebook07")
COUNTERS = see(7, "Who can count?")


def affine(p, gate, x, h):
    return x @ p[f"W_x{gate}"].T + h @ p[f"W_h{gate}"].T + p[f"b_{gate}"]


def steps(gates, states=1, rule="it is the formula"):
    """Cases of a cell with these gates: random weights, an input and old states."""

    def cases(draw):
        for D, H, B in ((3, 2, 4), (2, 3, 1), (4, 4, 3)):
            p = {f"W_x{gate}": draw.normal(H, D) for gate in gates}
            p |= {f"W_h{gate}": draw.normal(H, H) for gate in gates}
            p |= {f"b_{gate}": draw.normal(H) for gate in (*gates, "hh")}
            given = f"random weights, D = {D}, H = {H}, B = {B}"
            old = [2 * draw.normal(B, H) for _ in range(states)]
            yield Case(rule, p, draw.normal(B, D), *old, given=given)

    return cases


@turn(
    turns,
    "Three lines: the gate z (sigmoid), the candidate (ReLU), and z * h + (1 - z) * candidate; the "
    'letters are "z" and "h". ' + see(7, "Elman's cell and the gated cell"),
    cases=steps("zh"),
    uses=["affine"],
    slips="""
    z * h + (1 - z) * candidate => (1 - z) * h + z * candidate
        z and 1 - z have changed roles (a sigmoid with the wrong sign gives the same): in the
        lecture's equation z keeps the old state.
    torch.relu( => torch.tanh(
    torch.relu( => (
        The candidate of this cell has a ReLU as its non-linearity.
    torch.sigmoid( => (
        A gate lies between 0 and 1, each by itself: that is what the sigmoid makes of a sum.
    affine(p, "h", x, h) => affine(p, "h", x, z * h)
        The candidate reads the whole old state h: here the gate acts on the mixture only.
    z * h + => h +
        The old state must be weighted with z; else nothing is ever forgotten.
    (1 - z) * candidate => candidate
        The candidate must be weighted with 1 - z; else old and new do not mix, they add up.
    z * h + (1 - z) * candidate => candidate
        This is the candidate alone: the gate does not act yet.
    affine(p, "z" => affine(p, "h"
        The gate has weights of its own, named "z".
    """,
)
def gated_cell(p, x, h):
    """One step of the lecture's gated network: x (B, D) and h (B, H) -> the new state (B, H)."""
    z = torch.sigmoid(affine(p, "z", x, h))
    candidate = torch.relu(affine(p, "h", x, h))
    return z * h + (1 - z) * candidate


@turn(
    turns,
    "Two gates by affine, then the candidate part by part: what comes from x, plus r times "
    "(W_hh h + b_hh), in a tanh; then mix as in the gated cell. "
    + see(7, "The GRU, and its two forms"),
    cases=steps("zrh", rule="it is PyTorch's form"),
    uses=["affine"],
    slips="""
    r * from_h => (r * h) @ p["W_hh"].T + p["b_hh"]
        That is the lecture's form: r acts on h before the product. PyTorch's r acts on
        W_hh h + b_hh.
    h @ p["W_hh"].T + p["b_hh"] => h @ p["W_hh"].T
        The second bias, b_hh, stands in the bracket that r multiplies.
    from_x + r * from_h => r * (from_x + from_h)
    from_x + r * from_h => r * affine(p, "h", x, h)
        r acts on what comes from the old state only, not on what comes from x.
    r * from_h => from_h
        The reset gate r does not act yet.
    z * h + (1 - z) * candidate => (1 - z) * h + z * candidate
        z and 1 - z have changed roles: z keeps the old state.
    p["W_hh"].T => p["W_hh"]
        W_hh has to be transposed, too: h @ W_hh.T. Nothing complains, because it is square.
    z = torch. => r = torch. ;; r = torch.sigmoid(affine(p, "r" => z = torch.sigmoid(affine(p, "r"
        r and z have changed roles: r resets inside the candidate, z mixes old and new.
    torch.tanh(from_x + r * from_h) => r * torch.tanh(from_x + from_h)
        There is one tanh, around the whole sum, with r inside of it.
    from_x = x @ p["W_xh"].T + p["b_h"] => from_x = affine(p, "h", x, h)
        Here what comes from h is counted twice: the sum by affine has it already.
    """,
)
def gru_cell(p, x, h):
    """One step of PyTorch's GRU: x (B, D) and the old state h (B, H) -> the new one (B, H)."""
    z = torch.sigmoid(affine(p, "z", x, h))
    r = torch.sigmoid(affine(p, "r", x, h))
    from_x = x @ p["W_xh"].T + p["b_h"]
    from_h = h @ p["W_hh"].T + p["b_hh"]
    candidate = torch.tanh(from_x + r * from_h)
    return z * h + (1 - z) * candidate


@turn(
    turns,
    'Three gates with a sigmoid, "f", "i" and "o", and a candidate with a tanh, a large "C"; then '
    f"C = f * C + i * candidate, and h = o * tanh(C). {see(7, 'The LSTM, gate by gate')}",
    cases=steps("fioC", states=2),
    uses=["affine"],
    slips="""
    o * torch.tanh(C), C => C, o * torch.tanh(C)
        The order is h first, then C, as in the docstring.
    f * C + i * candidate => i * C + f * candidate
        Two gates have changed roles: f keeps, i lets in, o shows.
    f * C + => C +
    o * torch.tanh(C) => torch.tanh(C)
        One of the three gates does not act: f multiplies the old C, i the candidate, o what is
        shown.
    i * candidate => (1 - f) * candidate
        That couples the gates, as in a GRU: here i is a gate of its own.
    torch.tanh(C) => C
    candidate = torch.tanh( => candidate = torch.sigmoid(
    candidate = torch.tanh( => candidate = (
        There are two tanh: the candidate may be negative, and what is shown is tanh of C.
    C = f * => new = f * ;; torch.tanh(C), C => torch.tanh(C), new
        h is made of the new C, not of the one before the step.
    o = torch.sigmoid( => o = torch.tanh(
        All three gates have a sigmoid: a gate lies between 0 and 1.
    o * torch.tanh(C), C => o * torch.tanh(C)
        Two tensors come back, h and C: the next step needs both.
    candidate = torch.tanh( => C = torch.tanh( ;; i * candidate => i * C
        The candidate has overwritten the old C: give it a name of its own.
    """,
)
def lstm_cell(p, x, h, C):
    """One step of an LSTM: x (B, D), h and C (B, H) -> the new h and C, in this order."""
    f = torch.sigmoid(affine(p, "f", x, h))
    i = torch.sigmoid(affine(p, "i", x, h))
    o = torch.sigmoid(affine(p, "o", x, h))
    candidate = torch.tanh(affine(p, "C", x, h))
    C = f * C + i * candidate
    return o * torch.tanh(C), C


def letters(draw):
    adds = (
        "What is added is i times the candidate, which must be {} on {}: the sigmoid of 0 is one "
    )
    adds += f"half, and tanh(1) is 0.76 only. {COUNTERS}"
    keeps = "Over 100 letters small losses add up: f, i and the size of the candidate must be so "
    keeps += (
        "near 1, on both letters, that nothing is lost. Give all of them large numbers (negative "
    )
    keeps += f"only for C, on a b). {COUNTERS}"
    yield Case("an a adds one", "a", hint=adds.format("1", "an a"))
    yield Case("a b takes one away", "b", hint=adds.format("-1", "a b"))
    yield Case("the forget gate keeps the count", "a" * 100, hint=keeps)
    some = "".join("ab"[letter] for letter in draw.integers(0, 2, 100).tolist())
    yield Case("C is the number of a minus the number of b", some, hint=keeps)


def what_it_counts(answer, text):
    """C after this text, and whether the output gate was open for each of its letters."""
    got = answer()
    pairs = [got.get(gate) for gate in ("f", "i", "C", "o")] if isinstance(got, dict) else [None]
    for pair in pairs:
        two = isinstance(pair, tuple | list) and len(pair) == 2
        if not two or not all(isinstance(v, int | float) and math.isfinite(v) for v in pair):
            words = 'Return a dictionary: {"f": (on an a, on a b), "i": ..., "C": ..., "o": ...}, '
            words += "with two numbers for each and without tensors."
            raise Complaint("two numbers for each of f, i, C and o", words, got=str(got))
    f, i, new, o = (torch.tensor(pair, dtype=torch.double) for pair in pairs)
    C, read = 0.0, ["ab".index(letter) for letter in text]
    for k in read:
        C = float(f[k].sigmoid() * C + i[k].sigmoid() * new[k].tanh())
    return {"C": C, "o is open": all(float(o[k].sigmoid()) > 0.9 for k in read)}


@turn(
    turns,
    f"Read the cell's equation once more, for an a and for a b. {COUNTERS}",
    cases=letters,
    call=what_it_counts,
    tolerance=5e-3,
    slips="""
    "o": (20, 20) => "o": (-20, -20)
        The network remembers, but nobody can see it: the output gate must be near 1 on both
        letters.
    "f": (20, 20) => "f": (0, 0)
        A forget gate of one half keeps hardly anything: give f a large number, for both letters.
    "f": (20, 20) => "f": (20, -20)
        It forgets at every b: the forget gate must be near 1 on both letters.
    "C": (20, -20) => "C": (20, 20)
        It counts up on both letters: on a b the candidate must be -1.
    """,
)
def counter():
    """For f, i, C and o: what goes into the sigmoid (or, for C, the tanh) on an a, and on a b."""
    return {"f": (20, 20), "i": (20, 20), "C": (20, -20), "o": (20, 20)}


def running_sum(x):
    return x.cumsum(1)


def pairs_of_networks(draw):
    def network(D, H):
        W, V = draw.normal(H, D), draw.normal(H, H)

        def read(x):
            h, states = x.new_zeros(len(x), H), []
            for t in range(x.shape[1]):
                h = torch.tanh(x[:, t] @ W.T + h @ V.T)
                states.append(h)
            return torch.stack(states, 1)

        return read

    x = torch.tensor([[[1.0], [2.0], [3.0]], [[0.0], [0.0], [1.0]]])
    given = "two running sums, which read 1, 2, 3 (from the left 1, 3, 6; from the right 6, 5, 3) "
    given += "and 0, 0, 1"
    yield Case("by hand", running_sum, running_sum, x, given=given)
    for B, T, D, H in ((2, 3, 2, 2), (3, 5, 1, 4)):
        given = f"two random networks, B = {B}, T = {T}, D = {D}, H = {H}"
        yield Case("any networks", network(D, H), network(D, H), draw.normal(B, T, D), given=given)


@turn(
    turns,
    "The second network gets x turned round, and what it says is turned back; then both "
    f"stand side by side, the first one first. {see(7, 'Both directions')}",
    cases=pairs_of_networks,
    slips="""
    backward(x.flip(1)).flip(1) => backward(x.flip(1))
        What the second network says must be turned back, so that both belong to one position.
    backward(x.flip(1)).flip(1) => backward(x).flip(1)
        The input of the second network must be turned round as well, not only what it says.
    backward(x.flip(1)).flip(1) => backward(x)
    backward(x.flip(1)).flip(1) => backward(x.flip(0)).flip(0)
        The second network reads from the beginning, too: turn time round, which is dimension 1.
    dim=2 => dim=1
        The states are joined one after the other; they shall stand side by side, dim=2.
    torch.cat([from_left, from_right], dim=2) => from_left + from_right
    torch.cat => torch.stack
        Nothing is added, and no dimension is new: both stand side by side in dimension 2.
    [from_left, from_right] => [from_right, from_left]
        The order is the other one: first what was read from the left.
    """,
)
def both_ways(forward, backward, x):
    """The states of two networks, which read x (B, T, D) from its two ends: (B, T, 2H)."""
    from_left = forward(x)
    from_right = backward(x.flip(1)).flip(1)
    return torch.cat([from_left, from_right], dim=2)
