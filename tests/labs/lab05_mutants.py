"""Wrong answers to lab 05 that are no slips of its checks, and other right answers."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== GroupedAttention
H heads of keys | self.key = nn.Linear(D, G * self.K => self.key = nn.Linear(D, D | G heads of width
a bias | self.query = nn.Linear(D, D, bias=False) => self.query = nn.Linear(D, D) | bias=False
a mask on the CPU | , device=x.device) => ) | where x is
shared heads kept | shape
+            times = self.H // self.G
             cache.keys, cache.values = k, v
+            cache.keys = k.repeat_interleave(times, 1)[:, :: times]
+            cache.keys = torch.cat([cache.keys, cache.keys], 1)[:, : self.H]

== ParallelBlock
width of plain heads | M = hidden_width(D, H, G) => M = hidden_width(D, H, H) \
    | hidden_width(D, H, G)
no cache | (y, mask, cache) => (y, mask) | cache is handed on
rounded to the nearest | M = hidden_width(D, H, G) \
    => M = round((10 * D - 2 * G * (D // H)) / 24) * 8 | hidden_width(D, H, G)

== pack
room too small | room = T => room = T - 1 | For each story
targets cut by themselves | , torch.stack(targets) => , torch.stack(targets)[:-1] | have one shape
targets alone | .stack(inputs), torch.stack(targets) => .stack(targets) | return inputs, targets

== AdamW
L2 | gradients stay
                     continue
+                p.grad = p.grad + self.decay * p
without no_grad | with torch.no_grad(): => if True: | no_grad
stops at None | continue => break | go on with the next
rate of the start | one line for each equation
-                p.sub_(self.lr * mean / (square.sqrt() + self.eps))
+                self.first = getattr(self, 'first', self.lr)
+                p.sub_(self.first * mean / (square.sqrt() + self.eps))
no count | self.steps += 1 => pass | 0 / 0
the mean of g | ).addcmul_(p.grad, p.grad, value=1 => ).add_(p.grad, alpha=1 | v is the mean of g**2
new parameters alone | has not moved
-                p.mul_(1 - self.lr * self.decay)
-                p.sub_(self.lr * mean / (square.sqrt() + self.eps))
+                p = p * (1 - self.lr * self.decay) - self.lr * mean / (square.sqrt() + self.eps)

== gradients
one backward for all | inside of the loop
     total, loss = sum(int((targets >= 0).sum()) for _, targets in batches), 0.0
+    nats = []
     for inputs, targets in batches:
         logits = model(inputs.to(device)).flatten(0, 1)
         targets = targets.to(device).flatten()
-        nats = F.cross_entropy(logits, targets, ignore_index=-100, reduction="sum")
-        (nats / total).backward()
-        loss += nats.item() / total
+        nats.append(F.cross_entropy(logits, targets, ignore_index=-100, reduction="sum"))
+    (sum(nats) / total).backward()
+    loss = sum(nats).item() / total
inputs not moved | model(inputs.to(device)) => model(inputs) | memory of the CPU
a device of its own | inputs.to(device) => inputs.to("cpu") | handed over
a tensor | nats.item() / total => nats.detach() / total | is its number

== Repaired
still sharpened the wrong way | logits / self => logits * self | less likely than at 2
top-p in the wrong order | p = p.scatter(0, order[~kept], 0.0) => p = p * kept | likelier than
the first of the prompt | [0, -1] => [0, 0] | after the whole prompt
old caches | self.caches = [Cache() for _ in self.model.blocks] => | the second time
all faults | still in: 4
-        p = (logits / self.temperature).softmax(-1)
-        ranked, order = p.sort(descending=True)
-        kept = ranked.cumsum(0) - ranked < self.share
-        p = p.scatter(0, order[~kept], 0.0)
-        return p / p.sum()
+        return super().probabilities(logits)

     @torch.no_grad()
     def write(self, prompt, length, generator):
-        self.caches = [Cache() for _ in self.model.blocks]
-        text = new = prompt
-        for _ in range(length):
-            logits = self.model(new[None], None, self.caches)[0, -1]
-            p = self.probabilities(logits).cpu()
-            new = torch.multinomial(p, 1, generator=generator).to(text.device)
-            text = torch.cat([text, new])
-        return text
+        return super().write(prompt, length, generator)
new tokens alone | return text => return text[len(prompt) :] | the new tokens come back
the text again | new[None], None, self => text[None], None, self | reads it once
with gradients | keep that line
-    @torch.no_grad()
     def write(self, prompt, length, generator):
""")

REWRITES = rewrites(r"""
== GroupedAttention | by einsum
class GroupedAttention(nn.Module):
    def __init__(self, D, H, G):
        super().__init__()
        self.sizes, K = (H, G), D // H
        self.output, self.query = nn.Linear(D, D, False), nn.Linear(D, D, False)
        self.key, self.value = nn.Linear(D, G * K, False), nn.Linear(D, G * K, False)

    def forward(self, x, mask=None, cache=None):
        (H, G), (B, T, D) = self.sizes, x.shape
        K = D // H
        q = self.query(x).view(B, T, H, K).transpose(1, 2)
        k = self.key(x).view(B, T, G, K).transpose(1, 2)
        v = self.value(x).view(B, T, G, K).transpose(1, 2)
        before = cache.keys.shape[-2] if cache is not None and cache.keys is not None else 0
        q, k = (rotate(F.rms_norm(y, [K]), before) for y in (q, k))
        if before:
            k, v = torch.cat((cache.keys, k), -2), torch.cat((cache.values, v), -2)
        if cache is not None:
            cache.keys, cache.values = k, v
        q = q.reshape(B, G, H // G, T, K)
        scores = torch.einsum("bghtk,bgsk->bghts", q, k) / K**0.5
        if mask is None:
            places = torch.arange(before + T, device=x.device)
            mask = places <= places[before:, None]
        else:
            mask = mask[:, :, None]
        weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
        return self.output(torch.einsum("bghts,bgsk->btghk", weights, v).reshape(B, T, D))

== GroupedAttention | with the attention and the rotation of lab 04
def stable_softmax(x):
    e = (x - x.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)


def masked_attention(q, k, v, mask):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    some = mask.any(-1, keepdim=True)
    weights = stable_softmax(scores.masked_fill(~mask & some, -math.inf)) * some
    return weights @ v, weights


def rotate(x, start=0):
    T, K = x.shape[-2:]
    i = torch.arange(0, K, 2, device=x.device)
    angles = torch.arange(start, start + T, device=x.device)[:, None] * 10000 ** (-i / K)
    turn = torch.polar(torch.ones_like(angles), angles)
    points = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(points * turn).flatten(-2).to(x.dtype)


class GroupedAttention(nn.Module):
    def __init__(self, D, H, G):
        super().__init__()
        self.H, self.G, self.K = H, G, D // H
        self.query, self.output = nn.Linear(D, D, bias=False), nn.Linear(D, D, bias=False)
        self.key, self.value = (nn.Linear(D, G * self.K, bias=False) for _ in range(2))

    def forward(self, x, mask=None, cache=None):
        maps = self.query, self.key, self.value
        q, k, v = (f(x).unflatten(-1, (-1, self.K)).transpose(1, 2) for f in maps)
        start = 0 if cache is None or cache.keys is None else cache.keys.shape[2]
        q, k = (rotate(F.rms_norm(y, (self.K,)), start) for y in (q, k))
        if start:
            k, v = torch.cat([cache.keys, k], 2), torch.cat([cache.values, v], 2)
        if cache is not None:
            cache.keys, cache.values = k, v
        k, v = (y.repeat_interleave(self.H // self.G, 1) for y in (k, v))
        if mask is None:
            T, S = q.shape[2], k.shape[2]
            mask = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(S - T)
        return self.output(masked_attention(q, k, v, mask)[0].transpose(1, 2).flatten(2))

== ParallelBlock | step by step
class ParallelBlock(nn.Module):
    def __init__(self, D, H, G):
        super().__init__()
        self.attention = GroupedAttention(D, H, G)
        left = 12 * D * D - sum(p.numel() for p in self.attention.parameters())
        F = left // (24 * D) * 8
        self.up, self.gate = nn.Linear(D, F, False), nn.Linear(D, F, False)
        self.down, self.norm = nn.Linear(F, D, False), Norm(D)

    def forward(self, x, mask=None, cache=None):
        y = self.norm(x)
        gate = self.gate(y)
        layer = self.down(self.up(y) * gate * gate.sigmoid())
        return self.attention(y, mask=mask, cache=cache) + layer + x

== ParallelBlock | widths from K
class ParallelBlock(nn.Module):
    def __init__(self, D, H, G):
        super().__init__()
        K = D // H
        hidden = 8 * int((10 * D - 2 * G * K) / 24)
        self.norm = Norm(D)
        self.attention = GroupedAttention(D, H, G)
        self.gate, self.up = (nn.Linear(D, hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden, D, bias=False)

    def forward(self, x, mask=None, cache=None):
        y = self.norm(x)
        x = x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))
        return x + self.attention(y, mask, cache)

== pack | with a look at what is packed
from helpers.data.bpe import BPETokenizer
tokenizer = BPETokenizer([])

def pack(stories, end, T):
    rows = []
    for story in stories:
        text = [end, *story.tolist(), end]
        print(tokenizer.decode([i % 256 for i in text]))
        for i in range(0, len(text) - 1, T):
            piece = list(zip(text[i : i + T], text[i + 1 : i + T + 1]))
            if not rows or len(rows[-1]) + len(piece) > T:
                rows.append([])
            rows[-1] += piece
    both = torch.tensor([row + [(end, -100)] * (T - len(row)) for row in rows])
    return both[..., 0], both[..., 1]

== pack | pieces first
def pack(stories, end, T):
    pieces, gap = [], torch.tensor([end])
    for story in stories:
        text = torch.cat([gap, story, gap])
        for i in range(0, len(text) - 1, T):
            pieces.append((text[i : min(i + T, len(text) - 1)], text[i + 1 : i + 1 + T]))
    filled, used = [], []
    for x, y in pieces:
        if not used or used[-1] + len(x) > T:
            filled.append((torch.full((T,), end), torch.full((T,), -100)))
            used.append(0)
        here = slice(used[-1], used[-1] + len(x))
        filled[-1][0][here], filled[-1][1][here] = x, y
        used[-1] += len(x)
    return tuple(torch.stack(part) for part in zip(*filled))

== AdamW | out of place
class AdamW:
    def __init__(self, parameters, lr, betas=(0.9, 0.95), eps=1e-8, decay=0.1):
        self.parameters = list(parameters)
        self.lr, self.betas, self.eps, self.decay = lr, betas, eps, decay
        self.steps = 0
        self.m = [torch.zeros_like(p) for p in self.parameters]
        self.v = [torch.zeros_like(p) for p in self.parameters]

    @torch.no_grad()
    def step(self):
        b1, b2 = self.betas
        self.steps = self.steps + 1
        for i, p in enumerate(self.parameters):
            if p.grad is not None:
                g = p.grad
                self.m[i] = b1 * self.m[i] + (1 - b1) * g
                self.v[i] = b2 * self.v[i] + (1 - b2) * g**2
                up = self.m[i] / (1 - b1**self.steps)
                down = torch.sqrt(self.v[i] / (1 - b2**self.steps)) + self.eps
                p -= self.lr * (self.decay * p + up / down)

== AdamW | lerp
class AdamW:
    def __init__(self, parameters, lr, betas=(0.9, 0.95), eps=1e-8, decay=0.1):
        self.parameters = list(parameters)
        self.lr, self.betas, self.eps, self.decay = lr, betas, eps, decay
        self.steps = 0
        self.m = [torch.zeros_like(p) for p in self.parameters]
        self.v = [torch.zeros_like(p) for p in self.parameters]

    def step(self):
        self.steps += 1
        one, two = (1 - beta**self.steps for beta in self.betas)
        for p, m, v in zip(self.parameters, self.m, self.v):
            if p.grad is None:
                continue
            m.lerp_(p.grad, 1 - self.betas[0])
            v.lerp_(p.grad.square(), 1 - self.betas[1])
            with torch.no_grad():
                p.mul_(1 - self.lr * self.decay)
                p.addcdiv_(m / one, (v / two).sqrt().add_(self.eps), value=-self.lr)

== gradients | in two passes
def gradients(model, batches, device):
    for p in model.parameters():
        p.grad = None
    n = sum((y != -100).sum().item() for _, y in batches)
    losses = []
    for x, y in batches:
        logits = model(x.to(device))
        nats = F.cross_entropy(logits.transpose(1, 2), y.to(device), reduction="none").sum()
        losses.append(nats.item())
        (nats / n).backward()
    return sum(losses) / n

== gradients | means with weights
def gradients(model, batches, device):
    model.zero_grad()
    counts = [int((y >= 0).sum()) for _, y in batches]
    mean = 0.0
    for (x, y), n in zip(batches, counts):
        logits = model(x.to(device)).flatten(end_dim=1)
        part = F.cross_entropy(logits, y.to(device).flatten()) * n / sum(counts)
        part.backward()
        mean += float(part)
    return mean

== Repaired | with a mask of tokens
class Repaired(Broken):
    def probabilities(self, logits):
        p = torch.softmax(logits / self.temperature, dim=0)
        order = p.argsort(descending=True)
        before = p[order].cumsum(0) - p[order]
        kept = torch.zeros_like(p, dtype=torch.bool)
        kept[order] = before < self.share
        p = torch.where(kept, p, torch.zeros_like(p))
        return p / p.sum()

    @torch.no_grad()
    def write(self, prompt, length, generator):
        self.caches = [Cache() for _ in self.model.blocks]
        logits = self.model(prompt[None], None, self.caches)[0, -1]
        text = prompt
        for i in range(length):
            p = self.probabilities(logits).cpu()
            new = torch.multinomial(p, 1, generator=generator).to(text.device)
            text = torch.cat([text, new])
            logits = self.model(new[None], None, self.caches)[0, -1]
        return text

== Repaired | a class of its own
class Repaired:
    def __init__(self, model, temperature=1.0, share=1.0):
        self.model, self.T, self.share = model, temperature, share

    def probabilities(self, logits):
        p = (logits / self.T).softmax(0)
        ranked, order = torch.sort(p, descending=True)
        n = int((ranked.cumsum(0) - ranked < self.share).sum())
        q = torch.zeros_like(p)
        q[order[:n]] = ranked[:n]
        return q / q.sum()

    def write(self, prompt, length, generator):
        caches, ids, read = [Cache() for _ in self.model.blocks], prompt.tolist(), 0
        with torch.no_grad():
            for _ in range(length):
                tokens = torch.tensor([ids[read:]], device=prompt.device)
                p = self.probabilities(self.model(tokens, None, caches)[0, -1])
                read = len(ids)
                ids.append(int(torch.multinomial(p.cpu(), 1, generator=generator)))
        return torch.tensor(ids, device=prompt.device)
""")
