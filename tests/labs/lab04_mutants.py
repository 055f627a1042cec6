"""Plausible wrong answers to lab 04, as patches of its solution, and other right answers."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== by_hand
shares of scores | e = [math.exp(s) for s in scores] => e = scores | is no softmax
no sum | "first weight": e[0] / sum(e) => "first weight": e[0] | divided
powers of 2 | math.exp(s) => 2**s | e to the power of the first score
the hard maximum | output = sum(x * v for x, v in zip(e, values)) / sum(e) \
    => output = values[scores.index(max(scores))] | the hard choice
equal weights | (x * v for x, v in zip(e, values)) / sum(e) => (values) / 3 | leaves the scores out
100 more | + 100": output => + 100": output + 100 | factor e^100
masked after the softmax | / (e[0] + e[1]) => / sum(e) | before the softmax
masked by a score of 0 | (e[0] * values[0] + e[1] * values[1]) / (e[0] + e[1]) => (e[0] * \
    values[0] + e[1] * values[1] + values[2]) / (e[0] + e[1] + 1) | e to the power of 0 is 1
a name changed | "first weight": e => "a_1": e | these very names
nothing handed back | return { => _ = { | without return
in percent | e[0] / sum(e), => 100 * e[0] / sum(e), | share of 1
a text | e[0] / sum(e), => str(e[0] / sum(e)), | no text

== stable_softmax
no maximum | x - x.amax(-1, keepdim=True) => x | e^1000
the maximum of all | x.amax(-1, keepdim=True) => x.max() | belongs to that row
over the columns | e.sum(-1, keepdim=True) => e.sum(0, keepdim=True) | Which dimension is added up
over the second dimension | e.sum(-1, => e.sum(min(1, x.dim() - 1), | Which dimension is added up
no keepdim | e.sum(-1, keepdim=True) => e.sum(-1) | keepdim
NaN covered up | e^1000
-    e = (x - x.amax(-1, keepdim=True)).exp()
-    return e / e.sum(-1, keepdim=True)
+    e = x.exp()
+    return (e / e.sum(-1, keepdim=True)).nan_to_num()
minus infinity replaced by a number | power of -infinity
+    x = x.masked_fill(x == -math.inf, -1.0)
     e = (x - x.amax(-1, keepdim=True)).exp()
in place | changed in place
-    e = (x - x.amax(-1, keepdim=True)).exp()
+    x -= x.amax(-1, keepdim=True)
+    e = x.exp()
PyTorch's own | e / e.sum(-1, keepdim=True) => x.softmax(-1) | the exercise is to write it
always in double precision | return e / e.sum(-1, keepdim=True) \
    => return (e / e.sum(-1, keepdim=True)).double() | x's dtype
detached | (x - x => (x.detach() - x.detach() | cuts the graph
the sum detached | e.sum(-1, keepdim=True) => e.sum(-1, keepdim=True).detach() | depends on x
nothing handed back | return => _ = | without return
an unknown name | e = (x => e = (logits | no value here
one number at a time | e = (x - x.amax(-1, keepdim=True)).exp() => e = math.exp(x) | a whole tensor
one row after the other | whole tensor at once
-    e = (x - x.amax(-1, keepdim=True)).exp()
-    return e / e.sum(-1, keepdim=True)
+    rows = x.reshape(-1, x.shape[-1])
+    powers = [(row - row.max()).exp() for row in rows]
+    return torch.stack([p / p.sum() for p in powers]).reshape(x.shape)
a fixed number is subtracted | x.amax(-1, keepdim=True) => 1000 | a fixed number may lie far above

== causal_mask
True = forbidden | <= query => > query | True = may attend
not itself | <= query => < query | may look at itself
the first T | arange(S - T, S) => arange(T) | the last T
all see all | <= query => < query + S | No query may see a later
numbers | torch.arange(S) <= query => (torch.arange(S) <= query).float() \
    | torch.bool, and no numbers
(S, S) | torch.arange(S - T, S)[:, None] => torch.arange(S)[:, None] | the last T

== masked_attention
after the softmax | stable_softmax(scores.masked_fill(~mask & some, -math.inf)) * some \
    => stable_softmax(scores) * mask | must be gone before it
after, divided by the sums | dividing afterwards comes too late
-    weights = stable_softmax(scores.masked_fill(~mask & some, -math.inf)) * some
+    weights = stable_softmax(scores) * mask
+    weights = weights / weights.sum(-1, keepdim=True)
the opposite meaning | ~mask & some => mask | True = may attend
a score of 0 | .masked_fill(~mask & some, -math.inf) => * mask | e to the power of 0 is 1
no mask | ~mask & some, -math.inf => ~some, 0.0 | does nothing
only -100 | -math.inf => -100.0 | another score may be smaller
empty rows forgotten | & some => | 0 / 0
scores of -1e9, empty rows shared out | stable_softmax(scores.masked_fill(~mask & some, \
    -math.inf)) * some => stable_softmax(scores.masked_fill(~mask, -1e9)) | shares out evenly
empty rows not cleared | )) * some => )) | zeros
NaN covered up | was covered up afterwards
-    weights = stable_softmax(scores.masked_fill(~mask & some, -math.inf)) * some
+    weights = stable_softmax(scores + torch.where(mask, 0.0, -math.inf)).nan_to_num()
turned as a matrix | k.transpose(-2, -1) => k.transpose(0, 1) | the last two of k
softmax over the queries | & some, -math.inf)) => & some, -1e30).mT).mT | which dimension is that
multiplied | / math.sqrt => * math.sqrt | square root of K
no factor | / math.sqrt(q.shape[-1]) => | square root of K
detached | weights @ v, weights => weights.detach() @ v, weights | cuts the graph
exchanged | weights @ v, weights => weights, weights @ v | order
K is the number of heads | q.shape[-1] => q.shape[1] | Which dimension
one query after the other | whole tensor at once
-    weights = stable_softmax(scores.masked_fill(~mask & some, -math.inf)) * some
+    hidden = scores.masked_fill(~mask & some, -math.inf)
+    rows = [hidden[..., t, :].softmax(-1) for t in range(q.shape[-2])]
+    weights = torch.stack(rows, -2) * some
K is the length of a value | q.shape[-1] => v.shape[-1] | the length of a value
indexed by the mask | masked_fill
-    weights = stable_softmax(scores.masked_fill(~mask & some, -math.inf)) * some
+    scores = scores.clone()
+    scores[~mask] = -math.inf
+    weights = scores.softmax(-1).nan_to_num()
infinity times 0, covered up | stable_softmax(scores.masked_fill(~mask & some, -math.inf)) * some \
    => stable_softmax(scores * mask + ~mask * -math.inf).nan_to_num() | All weights are 0

== rotate
the other way | - b * sin, a * sin + b * cos => + b * sin, b * cos - a * sin | turns the other way
no minus | a * cos - b * sin => a * cos + b * sin | one minus sign
no start | t = start + => t = | start does nothing
from 1 | t = start + => t = start + 1 + | the first row stays
halves | these are halves
-    a, b = x[..., 0::2], x[..., 1::2]
-    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)  # (..., T, K/2, 2)
+    a, b = x[..., : K // 2], x[..., K // 2 :]
+    turned = torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)[..., None]
not put back | torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1) \
    => torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)[..., None] | where they came from
one speed | t / 10000 ** (torch.arange(0, K, 2) / K) => t / torch.ones(K // 2) | a speed of its own
i over K | torch.arange(0, K, 2) => torch.arange(K // 2) | speed of pair i
one angle for all positions | = start + torch.arange(T) => = torch.ones(T) | grows with the position
K and T exchanged | T, K = x.shape[-2:] => T, K = x.shape[1], x.shape[-1] | are a point of the plane
always in double precision | turned.flatten(-2) => turned.flatten(-2).double() | dtype of x
a is overwritten | as they were
-    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)  # (..., T, K/2, 2)
+    a = a * cos - b * sin
+    turned = torch.stack([a, a * sin + b * cos], dim=-1)  # (..., T, K/2, 2)
two dimensions alone | T, K = x.shape[-2:] => T, K = x.shape | in front
nothing handed back | return => _ = | without return
two loops | whole tensor at once
-    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)  # (..., T, K/2, 2)
+    turned = torch.stack([a, b], dim=-1)
+    for p in range(T):
+        for i in range(K // 2):
+            c, s = cos[p, i], sin[p, i]
+            x, y = a[..., p, i], b[..., p, i]
+            turned[..., p, i, 0], turned[..., p, i, 1] = x * c - y * s, x * s + y * c
three dimensions alone | T, K = x.shape[-2:] => _, T, K = x.shape | from the end

== dependence
transposed | return table => return table.T | a row is an output
no size | gradient.abs() => gradient | its size counts
the sum of an output | in row: => in [row.sum()]: | what one of them gains another may lose
the first number alone | for number in row: => for number in row[:1]: | Only one number of an output
the first feature alone | .abs().amax(1 => [:, 0].abs( | Only one number of an output, or of a word
the mean | .amax(1) => .mean(1) | not their sum
the norm | gradient.abs().amax(1) => gradient.norm(dim=1) | or norm
the last number alone | torch.maximum(table[t], gradient.abs().amax(1)) => gradient.abs().amax(1) \
    | Entry (t, s)
yes or no | return table => return table > 0 | not yes or no
the graph is not kept | , retain_graph=True => | keeps the graph for the next one
no graph | x = x.clone().requires_grad_() => x = x.clone() | begins a graph
x itself is changed | x.clone() => x.mul_(2).clone() | in place
a finite step | that depends on the step
     table = torch.zeros(T, T, dtype=x.dtype)
+    for s in range(T):
+        step = torch.zeros_like(x)
+        step[s] = 1
+        table[:, s] = (f(x + step) - f(x)).abs().amax(1)
+    return table.detach()
outputs alone | (number, x, => (f(x).sum(), x, | no longer be told
a row | return table => return table.amax(0) | a column for each word
nothing handed back | return table => table | without return
the width of a word | more numbers than a word, or fewer
-    for t, row in enumerate(f(x)):
-        for number in row:
-            (gradient,) = torch.autograd.grad(number, x, retain_graph=True)
+    y = f(x)
+    for t in range(T):
+        for i in range(x.shape[1]):
+            (gradient,) = torch.autograd.grad(y[t, i], x, retain_graph=True)
at most the width of a word | number in row: => number in row[: x.shape[1]]: | wider than a word
backward without clearing | backward() adds
-            (gradient,) = torch.autograd.grad(number, x, retain_graph=True)
+            number.backward(retain_graph=True)
+            gradient = x.grad

== MultiHead
the mask after the softmax | only later words do
-        heads, weights = masked_attention(q, k, v, mask)
+        heads, weights = masked_attention(q, k, v, torch.ones_like(mask))
+        weights = weights * mask
+        heads = weights @ v
no mask | (q, k, v, mask) => (q, k, v, mask | True) | only later words do
divided by the root of the width | (q, k, => (q / math.sqrt(self.n_heads), k, | more heads beside it
values turned | the weights stay and the outputs change
         )
+        v = rotate(v, start)
all faults | still in: 3
-        q, k = rotate(q, start), rotate(k, start)
-        heads, weights = masked_attention(q, k, v, mask)
-        return self.output(merge_heads(heads)), weights
+        return super().forward(x, mask, start)
the faults of weights alone are mended | q, k = rotate(q, start), rotate(k, start) \
    => q, k, v = rotate(q, start), rotate(k, start), rotate(v, start) | still in: 1
the opposite meaning | (q, k, v, mask) => (q, k, v, ~mask) | True = may attend
no factor | (q, k, v, mask) => (q * math.sqrt(q.shape[-1]), k, v, mask) | square root of K
scaled twice | (q, k, v, mask) => (q / math.sqrt(q.shape[-1]), k, v, mask) | done twice
keys not turned | , rotate(k, start) => , k | both have a position
queries not turned | = rotate(q, start) => = q | both have a position
nothing turned | rotate(q, start), rotate(k, start) => q, k | reads a bag
turned before the split | split into (B, H, T, K) first
-        q, k = rotate(q, start), rotate(k, start)
+        q, k = rotate(self.query(x), start), rotate(self.key(x), start)
+        q, k = split_heads(q, self.n_heads), split_heads(k, self.n_heads)
merged by a reshape | merge_heads(heads) => heads.reshape(x.shape) | A reshape alone mixes words
no W_O | self.output(merge_heads(heads)) => merge_heads(heads) | W_O
x added | return self.output => return x + self.output | made outside
detached | (q, k, v, mask) => (q, k.detach(), v, mask) | cuts the graph
the output alone | (heads)), weights => (heads)) | two things
another method | def forward => def call | still in: 3
a mask of its own | q, k, v, mask => q, k, v, causal_mask(*mask.shape) | something else has changed
masked after the softmax and divided | As in task 4
-        heads, weights = masked_attention(q, k, v, mask)
+        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
+        weights = stable_softmax(scores) * mask
+        weights = weights / weights.sum(-1, keepdim=True)
+        heads = weights @ v
divided by the root of the number of heads | masked_attention(q, k, v, mask) => masked_attention(q \
    * math.sqrt(q.shape[-1] / self.n_heads), k, v, mask) | what are they divided by

== attention_in_blocks
no factor | / math.sqrt(K) => | square root of K
nothing is adjusted | (m - new).exp() => 1.0 | multiplied by the same factor
the sum as it was | sums * factor => sums | multiplied by the same factor
new minus old | (m - new) => (new - m) | Which way
the newest block's largest | torch.maximum(m, scores.amax(-1, keepdim=True)) \
    => scores.amax(-1, keepdim=True) | largest score so far
no largest score | maximum(m, scores.amax(-1, keepdim=True)) => zeros_like(m) | largest score so far
not divided | o / sums => o | divided by the sum
no mask | if j == i => if False | sees its own key
a mask in all | if j == i => if True | Only the block
its own block alone | range(0, i + 1, block) => range(i, i + 1, block) | keys of all earlier blocks
the future is computed | need not be computed
-        for j in range(0, i + 1, block):
+        for j in range(0, T, block):
             scores = queries @ k[..., j : j + block, :].transpose(-2, -1)
-            if j == i:
-                scores = scores.masked_fill(~causal_mask(*scores.shape[-2:]), -math.inf)
+            t = i + torch.arange(scores.shape[-2])[:, None]
+            scores = scores.masked_fill(j + torch.arange(scores.shape[-1]) > t, -math.inf)
the future is seen | range(0, i + 1, block) => range(0, T, block) | left out
all at once | T x T numbers
     T, K = q.shape[-2:]
+    return masked_attention(q, k, v, causal_mask(T, T))[0]
blocks of queries alone | queries and keys both come in
     for i in range(0, T, block):
+        mine, n = q[..., i : i + block, :], min(i + block, T)
+        mask = causal_mask(mine.shape[-2], n)
+        outputs.append(masked_attention(mine, k[..., :n, :], v[..., :n, :], mask)[0])
+        continue
the last block | torch.cat(outputs, -2) => outputs[-1] | shape
nothing handed back | return torch => torch | without return
PyTorch's kernel | write it yourself
     T, K = q.shape[-2:]
+    return F.scaled_dot_product_attention(q, k, v, is_causal=True)
single precision | torch.cat(outputs, -2) => torch.cat(outputs, -2).float() | precision
one query at a time | without loops inside a block
     T, K = q.shape[-2:]
+    return torch.cat([
+        masked_attention(q[..., i : i + 1, :], k[..., : i + 1, :], v[..., : i + 1, :],
+                         causal_mask(q[..., i : i + 1, :].shape[-2], min(i + 1, T)))[0]
+        for i in range(0, T, 1)
+    ], -2)
three queries at a time | queries and keys both come in
     T, K = q.shape[-2:]
+    return torch.cat([
+        masked_attention(q[..., i : i + 3, :], k[..., : i + 3, :], v[..., : i + 3, :],
+                         causal_mask(q[..., i : i + 3, :].shape[-2], min(i + 3, T)))[0]
+        for i in range(0, T, 3)
+    ], -2)
the largest first, then the powers | computed twice
         for j in range(0, i + 1, block):
+            s = queries @ k[..., j : j + block, :].transpose(-2, -1)
+            if j == i:
+                s = s.masked_fill(~causal_mask(*s.shape[-2:]), -math.inf)
+            m = torch.maximum(m, s.amax(-1, keepdim=True))
+        for j in range(0, i + 1, block):
three dimensions alone | T, K = q.shape[-2:] => B, T, K = q.shape | from the end
""")

REWRITES = rewrites(r"""
== by_hand | rounded to three decimals
def by_hand():
    s, v = check.numbers().values()
    a = [round(1 / sum(math.exp(other - mine) for other in s), 5) for mine in s]
    b = 1 / (1 + math.exp(s[1] - s[0]))
    mean = round(a[0] * v[0] + a[1] * v[1] + a[2] * v[2], 3)
    return {
        "first weight": round(a[0], 3),
        "output": mean,
        "output, all scores + 100": mean,
        "output, third masked": round(b * v[0] + (1 - b) * v[1], 3),
    }

== by_hand | with the numbers divided by the largest power
def by_hand():
    s, v = check.numbers().values()
    def mean(n):
        top = max(s[:n])
        e = [math.e ** (x - top) for x in s[:n]]
        return sum(x * y for x, y in zip(e, v)) / sum(e)
    return {
        "output": mean(3),
        "output, third masked": mean(2),
        "output, all scores + 100": mean(3),
        "first weight": math.exp(s[0]) / (math.exp(s[0]) + math.exp(s[1]) + math.exp(s[2])),
    }

== by_hand | from weights of three decimals
def by_hand():
    s, v = check.numbers().values()
    e = [math.exp(x) for x in s]
    a = [round(x / sum(e), 3) for x in e]
    b = [x / sum(e[:2]) for x in e[:2]]
    first = torch.tensor(a[0])
    output = sum(x * y for x, y in zip(e, v)) / sum(e) + 0.001
    return {
        "first weight": first,
        "output": output,
        "output, all scores + 100": output,
        "output, third masked": b[0] * v[0] + b[1] * v[1],
    }

== stable_softmax | by logarithms
def stable_softmax(x):
    top, _ = torch.max(x, dim=-1, keepdim=True)
    shifted = x - top
    total = shifted.exp().sum(dim=-1).log()
    return torch.exp(shifted - total.unsqueeze(-1))

== stable_softmax | the largest kept by max and division by broadcasting
def stable_softmax(x):
    top = x.max(dim=-1).values.unsqueeze(-1)
    e = torch.exp(x - top)
    return torch.einsum("...s,...->...s", e, 1 / e.sum(-1))

== causal_mask | by tril
def causal_mask(T, S):
    return torch.ones(T, S).tril(S - T).bool()

== causal_mask | by loops
def causal_mask(T, S):
    return torch.tensor([[s <= S - T + t for s in range(S)] for t in range(T)])

== causal_mask | the last rows of a square
def causal_mask(T, S):
    return ~torch.triu(torch.ones(S, S, dtype=torch.bool), diagonal=1)[S - T :]

== masked_attention | -1e30, cleared by where
def masked_attention(q, k, v, mask):
    scores = torch.einsum("...tk,...sk->...ts", q, k) / q.shape[-1] ** 0.5
    scores = torch.where(mask, scores, torch.full_like(scores, -1e30))
    a = scores.softmax(-1)
    a = torch.where(mask, a, torch.zeros_like(a))
    return a @ v, a

== masked_attention | masked_fill, NaN replaced before any gradient
def masked_attention(q, k, v, mask):
    scores = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(mask.logical_not(), float("-inf"))
    weights = torch.softmax(scores, dim=-1).nan_to_num(0.0)
    return torch.matmul(weights, v), weights

== masked_attention | by hand, with a safe denominator
def masked_attention(q, k, v, mask):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    top = scores.masked_fill(~mask, -math.inf).amax(-1, keepdim=True).clamp(min=-1e30).detach()
    e = (scores - top).clamp(max=0).exp() * mask
    weights = e / e.sum(-1, keepdim=True).clamp(min=1e-300)
    return weights @ v, weights

== masked_attention | PyTorch's softmax of what where leaves
def masked_attention(q, k, v, mask):
    scores = torch.matmul(q, k.mT).div(math.sqrt(k.shape[-1]))
    hidden = torch.where(mask, scores, torch.tensor(-math.inf, dtype=scores.dtype))
    if not mask.any(-1).all():
        hidden = torch.where(mask.any(-1, keepdim=True), hidden, torch.zeros_like(hidden))
    a = torch.softmax(hidden, -1) * mask
    return torch.einsum("...ts,...sv->...tv", a, v), a

== rotate | by complex numbers
def rotate(x, start=0):
    T, K = x.shape[-2:]
    speed = 10000.0 ** (-torch.arange(0, K, 2, dtype=torch.float64) / K)
    angles = torch.outer(torch.arange(start, start + T, dtype=torch.float64), speed)
    turn = torch.polar(torch.ones_like(angles), angles)
    points = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(points * turn).flatten(-2).to(x.dtype)

== rotate | by a table of cosines for both of a pair
def rotate(x, start=0):
    T, K = x.shape[-2:]
    i = torch.arange(K // 2).repeat_interleave(2)
    phi = torch.arange(start, start + T).unsqueeze(1) * 10000.0 ** (-2 * i / K)
    other = torch.empty_like(x)
    other[..., ::2], other[..., 1::2] = -x[..., 1::2], x[..., ::2]
    return (x * phi.cos() + other * phi.sin()).to(x.dtype)

== dependence | by the Jacobian
def dependence(f, x):
    return torch.autograd.functional.jacobian(f, x).abs().amax(dim=(1, 3))

== dependence | by rows, with backward
def dependence(f, x):
    rows = []
    for t in range(x.shape[0]):
        x_t = x.detach().clone().requires_grad_(True)
        y = f(x_t)
        found = []
        for i in range(y.shape[1]):
            x_t.grad = None
            y[t, i].backward(retain_graph=True)
            found.append(x_t.grad.abs().max(dim=1).values)
        rows.append(torch.stack(found).max(dim=0).values)
    return torch.stack(rows)

== dependence | in single precision
def dependence(f, x):
    J, x = torch.zeros(len(x), len(x)), x.detach().clone().requires_grad_()
    y = f(x)
    for t in range(len(x)):
        for i in range(y.shape[1]):
            (g,) = torch.autograd.grad(y[t, i], x, retain_graph=True)
            J[t] = torch.maximum(J[t], g.abs().max(dim=1).values.float())
    return J

== MultiHead | the lines of Broken, mended
class MultiHead(Broken):
    def forward(self, x, mask, start=0):
        q, k, v = (split_heads(f(x), self.n_heads) for f in (self.query, self.key, self.value))
        q, k = (rotate(y, start) for y in (q, k))
        scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])
        weights = stable_softmax(scores.masked_fill(~mask, -math.inf))
        return self.output(merge_heads(weights @ v)), weights

== MultiHead | a class of its own
class MultiHead(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.H = n_heads
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def maps(self):
        return self.query, self.key, self.value

    def forward(self, x, mask, start=0):
        q, k, v = (torch.stack(y(x).chunk(self.H, -1), 1) for y in self.maps())
        found = [
            masked_attention(rotate(q[:, h], start), rotate(k[:, h], start), v[:, h], mask)
            for h in range(self.H)
        ]
        weights = torch.stack([w for _, w in found], 1)
        return self.output(torch.cat([o for o, _ in found], -1)), weights

== MultiHead | the start of the text, whatever it is
class MultiHead(Broken):
    def forward(self, x, mask, start=0):
        maps = self.query, self.key, self.value
        q, k, v = (split_heads(linear(x), self.n_heads) for linear in maps)
        scores = rotate(q) @ rotate(k).mT * (x.shape[-1] // self.n_heads) ** -0.5
        weights = scores.masked_fill(~mask, -1e9).softmax(-1)
        return self.output(merge_heads(weights @ v)), weights

== attention_in_blocks | with logarithms of sums
def attention_in_blocks(q, k, v, block):
    out = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=v.dtype)
    for i in range(0, q.shape[-2], block):
        rows, log_sum = q[..., i : i + block, :], None
        for j in range(0, i + block, block):
            keys, values = k[..., j : j + block, :], v[..., j : j + block, :]
            if not keys.shape[-2]:
                break
            scores = rows @ keys.mT * q.shape[-1] ** -0.5
            if i == j:
                later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
                scores = scores.masked_fill(later, float("-inf"))
            here = scores.logsumexp(-1, keepdim=True)
            mean = (scores - here).exp() @ values
            if log_sum is None:
                log_sum, average = here, mean
                continue
            both = torch.logaddexp(log_sum, here)
            average = average * (log_sum - both).exp() + mean * (here - both).exp()
            log_sum = both
        out[..., i : i + block, :] = average
    return out

== attention_in_blocks | the diagonal first
def attention_in_blocks(q, k, v, block):
    T, outputs = q.size(-2), []
    for i in range(0, T, block):
        rows = q[..., i : i + block, :] / q.size(-1) ** 0.5
        n = rows.size(-2)
        s = (rows @ k[..., i : i + n, :].mT).masked_fill(~causal_mask(n, n), -math.inf)
        m = s.max(-1, keepdim=True).values
        p = torch.exp(s - m)
        total, summed = p.sum(-1, keepdim=True), p @ v[..., i : i + n, :]
        for j in range(i - block, -1, -block):
            s = rows @ k[..., j : j + block, :].mT
            larger = torch.maximum(m, s.max(-1, keepdim=True).values)
            p, c = torch.exp(s - larger), torch.exp(m - larger)
            total, m = total * c + p.sum(-1, True), larger
            summed = summed * c + p @ v[..., j : j + block, :]
        outputs.append(summed / total)
    return torch.cat(outputs, dim=-2)

== attention_in_blocks | three lists by block, in place
def attention_in_blocks(q, k, v, block):
    T, scale = q.shape[-2], q.shape[-1] ** -0.5
    out = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=v.dtype, device=v.device)
    for i in range(0, T, block):
        rows, m, l = q[..., i : i + block, :], None, 0.0
        o = out[..., i : i + block, :]
        for j in range(0, i + block, block):
            keys = k[..., j : j + block, :]
            if not keys.shape[-2]:
                continue
            s = torch.einsum("...tk,...sk->...ts", rows, keys) * scale
            ahead = torch.arange(j, j + s.shape[-1]) > torch.arange(i, i + s.shape[-2])[:, None]
            s = torch.where(ahead, -1e30, s) if i == j else s
            new = s.amax(-1, keepdim=True)
            if j:
                new = torch.maximum(new, m)
                factor = (m - new).exp()
                l, o = l * factor, o * factor
            p = (s - new).exp()
            l, o, m = l + p.sum(-1, keepdim=True), o + p @ v[..., j : j + block, :], new
        out[..., i : i + block, :] = o / l
    return out
""")
