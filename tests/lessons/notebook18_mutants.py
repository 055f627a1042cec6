"""Other right answers to notebook 18, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== layer_flops
cubes | T * d**2 + 4 => T * d**3 + 4 | 2 m n p

== training_flops
a wide FF | 12 * width**2 => 16 * width**2 | 12 width^2

== best_size
two logarithms | np.log(sizes) => np.log10(sizes) | parabola
of losses, too | np.log(sizes), losses => np.log(sizes), np.log(losses) | parabola

== quantize_rows
the range | W.abs().amax(dim=1, keepdim=True) \
    => (W.amax(1, keepdim=True) - W.amin(1, keepdim=True)) / 2 | largest absolute value
codes alone | int8), scales => int8) | scale of a row
""")

REWRITES = rewrites("""
== layer_flops | with numbers
def layer_flops(kind, T, d):
    if kind == "elman":
        return 4 * T * d * d
    if kind == "lstm":
        return 16 * T * d * d
    return T * d * (8 * d + 4 * T)

== training_flops | part by part
def training_flops(layers, width, vocabulary, tokens):
    attention, feed_forward = 4 * width * width, 2 * width * 4 * width
    forward = 2 * (layers * (attention + feed_forward) + width * vocabulary)
    return (forward + 2 * forward) * tokens

== best_size | by the derivative
def best_size(sizes, losses):
    u = np.log(np.asarray(sizes))
    parabola = np.poly1d(np.polyfit(u, np.asarray(losses), 2))
    return float(np.exp(parabola.deriv().roots[0].real))

== best_size | on a fine grid
def best_size(sizes, losses):
    parabola = np.poly1d(np.polyfit(np.log(sizes), losses, 2))
    u = np.linspace(np.log(sizes[0]), np.log(sizes[-1]), 100_001)
    return np.exp(u[np.argmin(parabola(u))])

== quantize_rows | row by row
def quantize_rows(W, bits):
    codes, scales = [], []
    for row in W:
        s = max(float(row.max()), -float(row.min())) / (2 ** (bits - 1) - 1)
        scales.append([s])
        codes.append(torch.round(row / s).char())
    return torch.stack(codes), torch.tensor(scales, dtype=W.dtype)
""")
