"""Your turn inside a network: weights that count, stacks counted, a probe that reads a state."""

from itertools import product
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from helpers.course.checks.lab import Lab
from helpers.course.checks.trial import NOTHING, Complaint
from helpers.course.checks.turn import Case, turn

turns = Lab("further_06_inside")

MOST = 10  # sequences that are shown
BY_HAND = "This page, 'A network that counts, by hand'."


def sequences_to_read(_):
    steps = [x for length in range(1, 7) for x in product((1, -1), repeat=length)]
    signs = {"".join("(" if step > 0 else ")" for step in x): x for x in steps}
    given = "all sequences of up to 6 symbols"
    yield Case("each unit keeps what it has counted", {}, given="( and ((, ) and ))")
    yield Case("just the balanced ones are called balanced", signs, given=given)
    deep = (1,) * 300 + (-1,) * 300
    long = {"300 deep": deep, "one opening less": deep[1:], "one closing less": deep[:-1]}
    yield Case("it is right on long sequences, too", long, given="300 openings, 300 closings")


def weights(answer):
    """The four parts, of these shapes, as doubles."""
    got = answer()
    form = f"Hand back four things: W_xh, W_hh, w_hy and b_y, in this order. {BY_HAND}"
    if not isinstance(got, tuple | list) or len(got) != 4:
        raise Complaint("four things come back", NOTHING if got is None else form)
    *parts, b_y = got
    for name, value, shape in zip(("W_xh", "W_hh", "w_hy"), parts, ((3, 2), (3, 3), (3,))):
        words = f"{name} is a tensor of shape {shape}; its numbers have a point, such as 1.0."
        fits = isinstance(value, Tensor) and tuple(value.shape) == shape
        if not fits or not value.is_floating_point():
            raise Complaint(f"{name} has the shape {shape}", words)
    if not isinstance(b_y, int | float) and not (isinstance(b_y, Tensor) and b_y.numel() == 1):
        raise Complaint("b_y is one number", "b_y is one number, such as 1.0.")
    return *(part.double() for part in parts), float(b_y)


def called_balanced(answer, sequences):
    """The names of those for which the output is positive; of none, whether the units keep."""
    W_xh, W_hh, w_hy, b_y = weights(answer)
    if not sequences:
        once = torch.relu(W_xh)  # (3, 2): after ( and after )
        twice = torch.relu(W_xh + W_hh @ once)
        return "kept" if torch.allclose(twice, 2 * once) else "not kept"
    found = []
    for name, steps in sequences.items():
        h = torch.zeros(3).double()
        for step in steps:
            h = torch.relu(W_xh[:, 0 if step > 0 else 1] + W_hh @ h)
        if w_hy @ h + b_y > 0:
            found.append(name)
    return found if len(found) <= MOST else [*found[:5], f"and {len(found) - 5} more"]


@turn(
    turns,
    "For each row of the table, what is the weighted sum? It must be 0 for the balanced one and "
    f"negative for the others. {BY_HAND}",
    cases=sequences_to_read,
    call=called_balanced,
    slips="""
    -2.0]) => -1.0])
        Something is left open. The third unit says how much, and the difference of the two counters
        says the opposite: which of them must have the larger weight?
    [1.0, -1.0, -2.0] => [-1.0, 1.0, -2.0]
        Take the last row of the table: the third unit is 0 there, and your first two weights
        reward a closing too many.
    [1.0, -1.0, -2.0] => [0.0, 0.0, -1.0]
        The third unit is 0 in the last row of the table, too, where a closing is too many: which
        of the counters tell?
    0.5 => 0.0
        For a balanced sequence both counters agree and the third unit is 0: what is left of the sum
        then, and is it above 0?
    0.5 => 1.5
        The weighted sum is negative where it should be; b_y lifts it above 0. How small may it be?
    torch.eye(3) => torch.zeros(3, 3)
        What a unit has counted must be neither lost nor stretched nor mixed with what another has:
        multiply its own old value by 1.
    """,
)
def counting_network():
    """W_xh (3, 2), W_hh (3, 3), w_hy (3,) and b_y: the output is positive for balanced ones."""
    W_xh = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]])  # openings, closings, height
    W_hh = torch.eye(3)  # each unit keeps its own value
    w_hy = torch.tensor([1.0, -1.0, -2.0])  # o - c says what is missing, u what is too much
    return W_xh, W_hh, w_hy, 0.5


def number(answer, *given) -> Any:
    """What comes back as a float, where it is a number or a tensor of one."""
    found = answer(*given)
    single = isinstance(found, Tensor) and found.numel() == 1 and found.dtype != torch.bool
    return float(found) if single or type(found) in (int, float) else found


def colours_and_depths(_):
    yield Case("by hand", 4, 2)
    yield Case("it is right for other numbers", 5, 1)
    yield Case("it is right for other numbers", 2, 4)
    hint = (
        "How many stacks are there in one colour? A formula that divides by colours - 1 needs a "
        "case of its own there. This page, 'What would it take?'."
    )
    yield Case("it is right for one colour", 1, 6, hint=hint)


@turn(
    turns,
    "How many stacks of height 0 are there, of height 1, of height 2? Add them up. This page, "
    "'What would it take?'.",
    cases=colours_and_depths,
    call=number,
    slips="""
    return colours**depth
        Those are the full stacks alone; lower ones occur on the way.
    range(depth + 1) => range(depth)
        The full stacks, of height depth itself, are left out.
    range(depth + 1) => range(1, depth + 1)
        The empty stack is one, too.
    colours**height => colours * height
        Every further element multiplies the number of stacks.
    return (colours + 1) ** depth
        A stack has no holes: where nothing lies, nothing lies above it.
    colours**height => (2 * colours) ** height
        Only openings lie on a stack, one for each colour.
    """,
)
def n_stacks(colours, depth):
    """The number of different stacks of at most this height, the empty one included."""
    return sum(colours**height for height in range(depth + 1))


def states_to_read(draw):
    """States in which a colour can be read off, more or less."""
    for n in (60, 81):
        colours = draw.integers(0, 5, n)
        x = torch.cat([draw.normal(n, 6), torch.ones(n, 1).double()], 1)
        x[:, :5] += F.one_hot(colours, 5)
        given = f"{n} states of 6 numbers and a 1, and {n} colours"
        yield Case("right or not, for each state of the second half", x, colours, given=given)


def verdicts(answer, x, colours) -> Any:
    """What comes back, in double precision where it is of floating-point numbers or of bools."""
    found = answer(x, colours)
    fits = isinstance(found, Tensor) and (found.is_floating_point() or found.dtype == torch.bool)
    return found.double() if fits else found


@turn(
    turns,
    "Fit x[:half] to one-hot vectors of colours[:half]. Then the largest of the five numbers of a "
    "row of x[half:] @ weights says which colour is read. This page, 'What does the state hold?'.",
    cases=states_to_read,
    call=verdicts,
    slips="""
    (x[half:] @ weights).argmax(1) == colours[half:] => (x[:half] @ weights).argmax(1) \
        == colours[:half]
        That is how well it does on the half to which it was fitted. Test it on the other.
    colours[:half] => colours ;; lstsq(x[:half] => lstsq(x
        It was fitted to what it is tested on, too: fit to the first half alone.
    F.one_hot(colours[:half], 5) => colours[:half, None]
        A colour is a name and no amount: fit to its one-hot vector, five numbers.
    colours[half:]).double() => colours[half:]).double().mean()
        One number for each state, 0 or 1: the mean is taken later.
    """,
)
def probe_hits(x, colours):
    """Fit a linear map to five colours on one half; where it is right in the other (0 or 1)."""
    half = len(x) // 2
    targets = F.one_hot(colours[:half], 5).double()
    weights = torch.linalg.lstsq(x[:half], targets, driver="gelsd").solution
    return ((x[half:] @ weights).argmax(1) == colours[half:]).double()
