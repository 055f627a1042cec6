"""Other right answers to notebook 05, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== elman
reads nothing | x[:, t] @ W_xh.T + => | rows of x[:, t]
ReLU | torch.tanh => torch.relu | tanh is missing
last state only | torch.stack(states, dim=1) => h | rows of x[:, t]
too early | inside the loop
-    return torch.stack(states, dim=1)
+        return torch.stack(states, dim=1)

== bptt
a step late | (g[t - 1] + => (g[t] + | g and x begin with step 1
the next input | x[t - 1] => x[t] | g and x begin with step 1

== clip
to one | bound / norm => 1 / norm | bound / norm
turned | norm > bound => norm < bound | larger than bound
in place | changed in place
-    return [g * factor for g in gradients]
+    for g in gradients:
+        g *= factor
+    return gradients

== generate
uniform | scores[0, -1].softmax(dim=-1) => torch.ones(scores.shape[-1]) | softmax of the scores
""")

REWRITES = rewrites("""
== elman | filled
def elman(x, h, W_xh, W_hh, b):
    out = torch.empty(len(x), x.shape[1], len(b), dtype=x.dtype)
    for t, a in enumerate((x @ W_xh.mT + b).unbind(1)):
        h = (a + F.linear(h, W_hh)).tanh()
        out[:, t] = h
    return out

== bptt | collected first
def bptt(g, h, x, W_hh):
    T = len(x)
    deltas, after = [None] * T, 0
    for t in reversed(range(T)):
        deltas[t] = (g[t] + after) * (1 - h[t + 1] * h[t + 1])
        after = deltas[t] @ W_hh
    deltas = torch.stack(deltas)
    return deltas.T @ h[:-1], deltas.T @ x

== clip | one vector
def clip(gradients, bound):
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    return [g * bound / norm if norm > bound else g.clone() for g in gradients]

== clip | without if
def clip(gradients, bound):
    norm = torch.stack([g.norm() for g in gradients]).norm()
    return [g * bound / max(norm, bound) for g in gradients]

== generate | a list
def generate(read, first, length, generator):
    tokens, state = [first], None
    while len(tokens) <= length:
        scores, state = read(torch.tensor([tokens[-1:]]), state)
        p = scores[0, -1].exp() / scores[0, -1].exp().sum()
        tokens.append(torch.multinomial(p, 1, generator=generator).item())
    return tokens[1:]
""")
