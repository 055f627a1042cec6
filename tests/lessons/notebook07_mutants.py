"""Other right answers to notebook 07, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== gated_cell
no old state | z * h + => | z * h + (1 - z) * candidate
no such letter | "z" => "g" | the letters are

== gru_cell
one gate | affine(p, "r" => affine(p, "z" | Two gates by affine

== lstm_cell
a small c | "C" => "c" | a large "C"
no candidate | i * candidate => i | a candidate with a tanh

== counter
o half open | "o": (20, 20) => "o": (1, 1) | near 1 on both
a little | "f": (20, 20) => "f": (4, 4) | nothing is lost
nearly | "f": (20, 20) => "f": (9, 9) | nothing is lost
losses add up | "f": (20, 20), "i": (20, 20), "C": (20, -20) \
    => "f": (10, 10), "i": (10, 10), "C": (3, -3) | size of the candidate
half in | "i": (20, 20) => "i": (0, 0) | one half
one | "C": (20, -20) => "C": (1, -1) | 0.76
only a | "i": (20, 20) => "i": (20, -20) | -1 on a b
one number | "f": (20, 20) => "f": 20 | two numbers

== both_ways
one after the other | x.flip(1) => from_left | gets x turned round
""")

REWRITES = rewrites("""
== gated_cell | one product less
def gated_cell(p, x, h):
    candidate = F.relu(affine(p, "h", x, h))
    return candidate + affine(p, "z", x, h).sigmoid() * (h - candidate)

== gru_cell | affine once more
def gru_cell(p, x, h):
    z, r = (affine(p, gate, x, h).sigmoid() for gate in "zr")
    zero = torch.zeros_like(h)
    from_x = affine(p, "h", x, zero)
    candidate = (from_x + r * F.linear(h, p["W_hh"], p["b_hh"])).tanh()
    return torch.lerp(candidate, h, z)

== lstm_cell | one after another
def lstm_cell(p, x, h, C):
    gates = {g: affine(p, g, x, h) for g in "fioC"}
    kept = gates["f"].sigmoid() * C
    new = kept + gates["i"].sigmoid() * gates["C"].tanh()
    return new.tanh() * gates["o"].sigmoid(), new

== lstm_cell | a list
def lstm_cell(p, x, h, C):
    f, i, o = (torch.sigmoid(affine(p, gate, x, h)) for gate in "fio")
    C = f * C + i * torch.tanh(affine(p, "C", x, h))
    return [o * torch.tanh(C), C]

== counter | other large numbers
def counter():
    large = 15.0
    return {"C": [large, -large], "o": [5, 5], "f": [large] * 2, "i": [large] * 2}

== both_ways | time first, by numbers
def both_ways(forward, backward, x):
    order = torch.arange(x.shape[1] - 1, -1, -1)
    return torch.cat((forward(x), backward(x[:, order])[:, order]), -1)
""")
