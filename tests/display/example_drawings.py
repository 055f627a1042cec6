"""Five drawings that the course needs, each in some ten lines: what the layer has to do."""

import numpy as np

from helpers.display.drawing import Drawing
from helpers.display.palette import BLUE, GREEN, PALEST_BLUE, VERMILION


def lstm_cell():
    """Four gates read the wire of inputs; the cell state runs along the top."""
    d = Drawing()
    gates = {"f": (2, 1, "σ"), "i": (3.2, 1, "σ"), "g": (4.2, 1, "tanh"), "o": (5.4, 1, "σ")}
    d.boxes(gates, colour=BLUE, width=0.8)
    circles = {"forget": (2, 2.8, "×"), "add": (3.7, 2.8, "+"), "new": (3.7, 1.9, "×")}
    d.boxes({**circles, "out": (6.4, 1.6, "×")}, kind="circle")
    d.box("tanh", 6.4, 2.2, "tanh", height=0.34, size=12, colour=BLUE)
    d.boxes({"c": (0, 2.8, "$c_{t-1}$"), "c2": (7.8, 2.8, "$c_t$")}, colour=VERMILION)
    d.boxes({"h": (0, 0.1, "$h_{t-1}$"), "h2": (7.8, 1.6, "$h_t$")}, colour=GREEN)
    d.box("x", 1, -0.7, "$x_t$", colour=GREEN)
    d.path(["h.right", (5.4, 0.1), "o.bottom"])
    d.path(["x.top", (1, 0.1)], kind="--")
    for gate in "fig":
        d.path([(gates[gate][0], 0.1), f"{gate}.bottom"])
    d.arrows("c => forget => add => c2, f -> forget: $f_t$, new -> add, tanh -> out -> h2")
    d.arrows("i -> new: $i_t$, g -> new: $\\tilde c_t$")
    d.path(["o.top", (5.4, 1.6), "out.left"], "$o_t$")
    d.path([(6.4, 2.8), "tanh.top"])
    return d


def encoder_decoder():
    """The decoder's state is compared with all of the encoder's, and reads their weighted sum."""
    d = Drawing()
    d.band("s", 0, 0, ["la", "vieille", "barque"], width=1.5)
    d.band("t", 6, 0, ["the", "old"], width=1.5)
    d.boxes({f"h{i}": (1.5 * i, 1.1, f"$h_{i + 1}$") for i in range(3)}, colour=BLUE, width=0.8)
    d.boxes(
        {f"z{i}": (6 + 1.5 * i, 1.1, f"$s_{i + 1}$") for i in range(2)}, colour=GREEN, width=0.8
    )
    d.box("sum", 3, 2.8, "Σ", kind="circle")
    d.box("context", 5, 2.8, "context $c_2$: D", colour=VERMILION)
    d.box("out", 7.5, 2.8, "boat", colour=GREEN)
    d.arrows("s0 -> h0 -> h1 -> h2 => z0 -> z1, s1 -> h1, s2 -> h2, t0 -> z0, t1 -> z1 -> out")
    d.arrows("h0 -> sum: 0.1, h1 -> sum: 0.1, h2 => sum: 0.8, sum => context => out")
    d.path(
        [(7.3, 1.38), (7.3, 2.05), (4.4, 2.05), "sum.right"], "scores with every $h_i$", kind="~>"
    )
    d.brace("s0 s1 s2", "encoder")
    d.brace("t0 t1", "decoder")
    return d


def queries_keys_values():
    """Three projections of the same input, the weights, the output; a shape at each."""
    d = Drawing()
    d.matrix("x", 0, 0, (4, 6), label="$X$", shape="T × D")
    for k, letter in enumerate("QKV"):
        d.matrix(letter, 3.4, 1.9 - 1.9 * k, (4, 3), label=f"${letter}$", shape="T × $d_k$")
        d.arrow("x.right", f"{letter}.left", f"$W_{letter}$: D × $d_k$")
    rows = [[1, 0, 0, 0], [0.4, 0.6, 0, 0], [0.2, 0.5, 0.3, 0], [0.1, 0.1, 0.6, 0.2]]
    weights = np.where(np.tri(4), rows, np.nan)  # the future is hatched
    label = "$A = \\mathrm{softmax}(QK^T\\!/\\sqrt{d_k})$"
    d.matrix("A", 6.8, 1, weights, label=label, shape="T × T", numbers=".1f", cell=0.4)
    d.matrix("O", 9.8, -0.4, (4, 3), label="$AV$", shape="T × $d_k$")
    d.arrows("Q.right -> A.left, K.right -> A.left, A.right -> O.left, V.right -> O.left")
    return d


def whole_gpt():
    """Tokens to logits, with one block opened at the right."""
    d = Drawing()
    steps = [("tokens", "T"), ("embedding + position", "T × D"), ("block 1", "T × D")]
    steps += [("block L", "T × D"), ("norm", "T × D"), ("output", "T × V")]
    d.stack("g", 0, 0, steps, width=2.6, gap=0.36, fill=PALEST_BLUE)
    d.boxes({"n1": (4, 0.9, "norm"), "att": (4, 1.7, "attention")}, colour=BLUE)
    d.boxes({"n2": (4, 3, "norm"), "ff": (4, 3.8, "feed-forward")}, colour=BLUE)
    d.boxes({"p1": (6, 1.7, "+"), "p2": (6, 3.8, "+")}, kind="circle")
    d.arrows("n1 -> att -> p1, n2 -> ff -> p2")
    d.path([(6, -0.2), "p1.bottom"], "T × D", kind="=>")
    d.path(["p1.top", "p2.bottom"], kind="=>")
    d.path(["p2.top", (6, 4.9)], kind="=>")
    for low, norm in ((0.3, "n1"), (2.4, "n2")):
        d.path([(6, low), (4, low), f"{norm}.bottom"])
    d.frame("n1 att p1 n2 ff p2", "one block, repeated L times", pad=0.3)
    d.arrow("g2.right", (2.9, 1.84), kind="~>")
    return d


def growing_cache(step=0):
    """At every step one key and one value are added, and the query looks at all of them."""
    d = Drawing(f"step {step + 1}")
    d.band(
        "w",
        0,
        0,
        ["the", "old", "boat", "sinks"],
        width=1,
        marked=[step],
        hidden=range(step + 1, 4),
    )
    for k in range(step + 1):
        d.matrix(f"k{k}", k, 1.7, (3, 1), label=f"$k_{k + 1}$", cell=0.24)
        d.matrix(f"v{k}", k, 3.0, (3, 1), label=f"$v_{k + 1}$", cell=0.24)
    d.frame(" ".join(f"k{k} v{k}" for k in range(step + 1)), "the cache", pad=0.35)
    d.matrix("q", 5, 0.3, (3, 1), shape=f"$q_{step + 1}$", cell=0.24)
    d.box("out", 5, 2.2, "attention", colour=VERMILION)
    d.arrows("q.top -> out")
    d.arrow(f"w{step}", f"k{step}", kind="=>")
    d.arrow(f"w{step}", "q", bend=0.25)
    d.arrow((step + 0.5, 2.2), "out.left", f"{step + 1} × ($k$, $v$)")
    return d


EXAMPLES = [lstm_cell, encoder_decoder, queries_keys_values, whole_gpt, growing_cache]
