"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== counting_network
mixed | torch.eye(3) => torch.ones(3, 3) | mixed with what
transposed | [[1.0, 0.0], [0.0, 1.0], [1.0, -1.0]] => [[1.0, 0.0, 1.0], [0.0, 1.0, -1.0]] \
    | shape (3, 2)
third | [1.0, -1.0]] => [1.0, 0.0]] | third unit is 0
turned | [1.0, -1.0, -2.0] => [2.0, -1.0, -2.0] | For each row
three things | w_hy, 0.5 => w_hy | in this order
no number | , 0.5 => , None | b_y is one number

== n_stacks
turned round | colours**height => height**colours | Add them up
a formula that divides by 0 | sum(colours**height for height in range(depth + 1)) \
    => (colours ** (depth + 1) - 1) // (colours - 1) | a case of its own

== probe_hits
wrong ones | (1) == colours => (1) != colours | Then the largest
smallest | argmax => argmin | Then the largest
""")

REWRITES = rewrites("""
== counting_network | other weights
def counting_network():
    return (
        torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.0, -1.0]]),
        torch.eye(3),
        torch.tensor([1.0, -1.0, -3.0]),
        torch.tensor(0.25),
    )

== counting_network | units in another order
def counting_network():
    W = torch.tensor([[1.0, -1.0], [0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)
    return W, torch.eye(3), torch.tensor([-4.0, -2.0, 2.0]), 1

== probe_hits | by the pseudo-inverse, single precision handed back
def probe_hits(x, colours):
    half = len(x) // 2
    weights = torch.linalg.pinv(x[:half]) @ torch.eye(5).double()[colours[:half]]
    scores = x[half:] @ weights
    return torch.tensor([float(row.argmax() == c) for row, c in zip(scores, colours[half:])])

== probe_hits | True and False
def probe_hits(x, colours):
    half = len(x) // 2
    targets = torch.nn.functional.one_hot(colours[:half], 5).double()
    weights = torch.linalg.lstsq(x[:half], targets, driver="gelsd").solution
    return (x[half:] @ weights).argmax(1) == colours[half:]

== n_stacks | a formula
def n_stacks(colours, depth):
    if colours == 1:
        return depth + 1
    return (colours ** (depth + 1) - 1) / (colours - 1)

== n_stacks | step by step
def n_stacks(colours, depth):
    total = 1
    for _ in range(depth):
        total = 1 + colours * total
    return total
""")
