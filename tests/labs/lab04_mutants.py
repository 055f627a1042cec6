"""Wrong answers to lab 04 that are no slips of its checks, and other right answers."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== stable_softmax
over the second dimension | e.sum(-1, => e.sum(min(1, x.dim() - 1), | Which dimension is added up
minus infinity replaced by a number | power of -infinity
+    x = x.masked_fill(x == -math.inf, -1.0)
     e = (x - x.amax(-1, keepdim=True)).exp()
in place | change a tensor
-    e = (x - x.amax(-1, keepdim=True)).exp()
+    x -= x.amax(-1, keepdim=True)
+    e = x.exp()
PyTorch's own | e / e.sum(-1, keepdim=True) => x.softmax(-1) | the exercise is to write it
always in double precision | return e / e.sum(-1, keepdim=True) \
    => return (e / e.sum(-1, keepdim=True)).double() | another type
detached | (x - x => (x.detach() - x.detach() | cuts the graph
one number at a time | e = (x - x.amax(-1, keepdim=True)).exp() => e = math.exp(x) | a whole tensor
one row after the other | whole tensor at once
-    e = (x - x.amax(-1, keepdim=True)).exp()
-    return e / e.sum(-1, keepdim=True)
+    rows = x.reshape(-1, x.shape[-1])
+    powers = [(row - row.max()).exp() for row in rows]
+    return torch.stack([p / p.sum() for p in powers]).reshape(x.shape)
max without .values | .values and .indices
-    e = (x - x.amax(-1, keepdim=True)).exp()
+    e = (x - x.max(-1, keepdim=True)).exp()

== causal_mask
numbers | torch.arange(S) <= query => (torch.arange(S) <= query).float() \
    | another type

== masked_weights
detached | (hidden) * some => (hidden).detach() * some | cuts the graph
one query after the other | whole tensor at once
-    return stable_softmax(hidden) * some
+    rows = [hidden[..., t, :].softmax(-1) for t in range(hidden.shape[-2])]
+    return torch.stack(rows, -2) * some
indexed by the mask | masked_fill
-    hidden = scores.masked_fill(~mask & some, -math.inf)
-    return stable_softmax(hidden) * some
+    hidden = scores.clone()
+    hidden[~mask] = -math.inf
+    return hidden.softmax(-1).nan_to_num()

== rotate
K and T exchanged | T, K = x.shape[-2:] => T, K = x.shape[1], x.shape[-1] | are a point of the plane
always in double precision | turned.flatten(-2) => turned.flatten(-2).double() | another type
two dimensions alone | T, K = x.shape[-2:] => T, K = x.shape | in front
two loops | whole tensor at once
-    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)  # (..., T, K/2, 2)
+    turned = torch.stack([a, b], dim=-1)
+    for p in range(T):
+        for i in range(K // 2):
+            c, s = cos[p, i], sin[p, i]
+            x, y = a[..., p, i], b[..., p, i]
+            turned[..., p, i, 0], turned[..., p, i, 1] = x * c - y * s, x * s + y * c

== dependence
yes or no | return table => return table > 0 | another type
the graph is not kept | , retain_graph=True => | keeps the graph for the next one
a finite step | not from finite steps
     table = torch.zeros(T, T, dtype=x.dtype)
+    for s in range(T):
+        step = torch.zeros_like(x)
+        step[s] = 1
+        table[:, s] = (f(x + step) - f(x)).abs().amax(1)
+    return table.detach()
a row | return table => return table.amax(0) | Entry (t, s)
the width of a word | more numbers than a word, or fewer
-    for t, row in enumerate(f(x)):
-        for number in row:
-            (gradient,) = torch.autograd.grad(number, x, retain_graph=True)
+    y = f(x)
+    for t in range(T):
+        for i in range(x.shape[1]):
+            (gradient,) = torch.autograd.grad(y[t, i], x, retain_graph=True)
the Jacobian with its signs | its size counts
     T = len(x)
+    return torch.autograd.functional.jacobian(f, x).amax(dim=(1, 3))

== MultiHead
the mask after the softmax | only later words do
-        heads, weights = masked_attention(q, k, v, mask)
+        heads, weights = masked_attention(q, k, v, torch.ones_like(mask))
+        weights = weights * mask
+        heads = weights @ v
divided by the root of the width | (q, k, => (q / math.sqrt(self.n_heads), k, | more heads beside it
values turned | the weights stay and the outputs change
         )
+        v = rotate(v, start)
all faults | still in: 3
-        q, k = rotate(q, start), rotate(k, start)
-        heads, weights = masked_attention(q, k, v, mask)
-        return self.output(merge_heads(heads)), weights
+        return super().forward(x, mask, start)
the output alone | (heads)), weights => (heads)) | two things
a mask of its own | q, k, v, mask => q, k, v, causal_mask(*mask.shape) | something else has changed
masked after the softmax and divided | As in task 3
-        heads, weights = masked_attention(q, k, v, mask)
+        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
+        weights = stable_softmax(scores) * mask
+        weights = weights / weights.sum(-1, keepdim=True)
+        heads = weights @ v

== attention_in_blocks
new minus old | (m - new) => (new - m) | Which way
the newest block's largest | torch.maximum(m, scores.amax(-1, keepdim=True)) \
    => scores.amax(-1, keepdim=True) | largest score so far
the future is computed | need not be computed
-        for j in range(0, i + 1, block):
+        for j in range(0, T, block):
             scores = queries @ k[..., j : j + block, :].transpose(-2, -1)
-            if j == i:
-                scores = scores.masked_fill(~causal_mask(*scores.shape[-2:]), -math.inf)
+            t = i + torch.arange(scores.shape[-2])[:, None]
+            scores = scores.masked_fill(j + torch.arange(scores.shape[-1]) > t, -math.inf)
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
PyTorch's kernel | write it yourself
     T, K = q.shape[-2:]
+    return F.scaled_dot_product_attention(q, k, v, is_causal=True)
single precision | torch.cat(outputs, -2) => torch.cat(outputs, -2).float() | another type
one query at a time | without loops inside a block
     T, K = q.shape[-2:]
+    return torch.cat([
+        masked_attention(q[..., i : i + 1, :], k[..., : i + 1, :], v[..., : i + 1, :],
+                         causal_mask(q[..., i : i + 1, :].shape[-2], min(i + 1, T)))[0]
+        for i in range(0, T, 1)
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

== masked_weights | -1e30, cleared by where
def masked_weights(scores, mask):
    scores = torch.where(mask, scores, torch.full_like(scores, -1e30))
    a = scores.softmax(-1)
    return torch.where(mask, a, torch.zeros_like(a))

== masked_weights | masked_fill, NaN replaced before any gradient
def masked_weights(scores, mask):
    scores = scores.masked_fill(mask.logical_not(), float("-inf"))
    return torch.softmax(scores, dim=-1).nan_to_num(0.0)

== masked_weights | by hand, with a safe denominator
def masked_weights(scores, mask):
    top = scores.masked_fill(~mask, -math.inf).amax(-1, keepdim=True).clamp(min=-1e30).detach()
    e = (scores - top).clamp(max=0).exp() * mask
    tiny = torch.finfo(e.dtype).tiny
    return e / e.sum(-1, keepdim=True).clamp(min=tiny)

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
""")
