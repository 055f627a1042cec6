"""Other right answers to notebook 10."""

from tests.labs.mutation import rewrites

MUTANTS = []

REWRITES = rewrites("""
== sinusoid | entry by entry
def sinusoid(T, D):
    P = torch.empty(T, D)
    for t in range(T):
        for i in range(D // 2):
            angle = t / 10000 ** (2 * i / D)
            P[t, 2 * i], P[t, 2 * i + 1] = math.sin(angle), math.cos(angle)
    return P

== sinusoid | stacked
def sinusoid(T, D):
    angles = torch.outer(torch.arange(T), 1 / 10000 ** (2 * torch.arange(D // 2) / D))
    return torch.stack([angles.sin(), angles.cos()], -1).reshape(T, D)

== rotate_pair | by a matrix for each position
def rotate_pair(x, theta):
    turned = []
    for t in range(x.shape[-2]):
        c, s = math.cos(theta * t), math.sin(theta * t)
        turned.append(x[..., t, :] @ torch.tensor([[c, s], [-s, c]]))
    return torch.stack(turned, -2)

== rotate_pair | as complex numbers
def rotate_pair(x, theta):
    angle = theta * torch.arange(x.shape[-2])
    turn = torch.polar(torch.ones(len(angle)), angle)
    return torch.view_as_real(torch.view_as_complex(x.contiguous()) * turn)

== alibi_bias | loops
def alibi_bias(slope, T):
    row = lambda t: [-slope * (t - s) if s <= t else -math.inf for s in range(T)]
    return torch.tensor([row(t) for t in range(T)])

== window_mask | two triangles
def window_mask(T, width):
    ones = torch.ones(T, T, dtype=torch.bool)
    return ones.tril() & ones.triu(1 - width)
""")
