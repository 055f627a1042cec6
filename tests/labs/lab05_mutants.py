"""Plausible wrong answers to lab 05, as patches of its solution, and other right answers."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== by_hand
D for K | K, M = D // H => K, M = D | 2 D^2 for queries
matrices of plain heads | 2 * D * G * K + => 2 * D * D + | not H
two matrices | 3 * D * M => 2 * D * M | three matrices
one of keys | 2 * D * G * K + => D * G * K + | two matrices of D x G K
no gain | "one block": matrices + D => "one block": matrices | gain of D numbers
two norms | "one block": matrices + D => "one block": matrices + 2 * D | one norm
no last norm | + D + D * V => + D * V | follows the last block
tied | 2 * V * D + L * (matrices => V * D + L * (matrices | Three matrices
keys alone | L * T * 2 * G => L * T * G | both of them
all heads | 2 * G * K * 2 => 2 * H * K * 2 | G heads are kept
4 bytes | G * K * 2, => G * K * 4, | takes two bytes
one operation | 2 * (L * matrices => (L * matrices | 2 for every weight
no output | (L * matrices + D * V) => (L * matrices) | used for every
no attention | + L * H * (2 * T * K + 2 * T * K) => | meets T keys
scores alone | (2 * T * K + 2 * T * K) => (2 * T * K) | weighted mean
groups of scores | L * H * (2 => L * G * (2 | H rows of scores

== GroupedAttention
H heads of keys | self.key = nn.Linear(D, G * self.K => self.key = nn.Linear(D, D | G heads of width
a bias | self.query = nn.Linear(D, D, bias=False) => self.query = nn.Linear(D, D) | bias=False
repeated as a whole | Neighbouring heads share
-        k = k.repeat_interleave(self.H // self.G, 1)  # (B, H, S, K)
-        v = v.repeat_interleave(self.H // self.G, 1)
+        k = k.repeat(1, self.H // self.G, 1, 1)
+        v = v.repeat(1, self.H // self.G, 1, 1)
not normalized | are normalized
-        q = rotate(F.rms_norm(q, (self.K,)), start)
-        k = rotate(F.rms_norm(k, (self.K,)), start)
+        q = rotate(q, start)
+        k = rotate(k, start)
keys not normalized | (F.rms_norm(k, (self.K,)), start) => (k, start) | keys are normalized, too
keys not turned | k = rotate(F.rms_norm(k, (self.K,)), start) => k = F.rms_norm(k, (self.K,)) \
    | keys are turned
numbers dealt out | y.unflatten(-1, (-1, self.K)).transpose(1, 2) \
    => y.view(len(x), -1, x.shape[1], self.K) | deals the numbers
only the new are kept | not the new ones alone
-            cache.keys, cache.values = k, v
+            cache.keys, cache.values = k[:, :, start:], v[:, :, start:]
no positions | turned by
-        q = rotate(F.rms_norm(q, (self.K,)), start)
-        k = rotate(F.rms_norm(k, (self.K,)), start)
+        q = F.rms_norm(q, (self.K,))
+        k = F.rms_norm(k, (self.K,))
values turned | Values are not turned
         v = v.repeat_interleave(self.H // self.G, 1)
+        v = rotate(v)
sees all | .tril(S - T) => | Nobody sees the future
mask unused | if mask is None: => if True: | handed over
a causal mask beside it | no causal one beside
             mask = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(S - T)
+        mask = mask.tril(k.shape[2] - q.shape[2])
a mask on the CPU | , device=x.device) => ) | where x is
begins at 0 again | behind those of the cache
-        q = rotate(F.rms_norm(q, (self.K,)), start)
-        k = rotate(F.rms_norm(k, (self.K,)), start)
+        q = rotate(F.rms_norm(q, (self.K,)))
+        k = rotate(F.rms_norm(k, (self.K,)))
mask at the top left | .tril(S - T) => .tril() | tril(S - T)
shared heads kept | shape
+            times = self.H // self.G
             cache.keys, cache.values = k, v
+            cache.keys = k.repeat_interleave(times, 1)[:, :: times]
+            cache.keys = torch.cat([cache.keys, cache.keys], 1)[:, : self.H]
old ones last | torch.cat([cache.keys, k], 2) => torch.cat([k, cache.keys], 2) | behind the old ones
nothing is kept | cache.keys, cache.values = k, v => | must see the old ones
heads mixed up | heads.transpose(1, 2).flatten(2) => heads.reshape(x.shape) | exchange H and T
no last map | self.output(heads.transpose(1, 2).flatten(2)) => heads.transpose(1, 2).flatten(2) \
    | mixes the heads

== ParallelBlock
width of plain heads | M = hidden_width(D, H, G) => M = hidden_width(D, H, H) | of task 1
a bias | self.down = nn.Linear(M, D, bias=False) => self.down = nn.Linear(M, D) | bias=False
one after the other | Parallel
-        hidden = F.silu(self.gate(y)) * self.up(y)
-        return x + self.attention(y, mask, cache) + self.down(hidden)
+        x = x + self.attention(y, mask, cache)
+        y = self.norm(x)
+        return x + self.down(F.silu(self.gate(y)) * self.up(y))
GELU | F.silu => F.gelu | through SiLU
sigmoid | F.silu(self => torch.sigmoid(self | times the sigmoid
up through SiLU | F.silu(self.gate(y)) * self.up(y) => self.gate(y) * F.silu(self.up(y)) \
    | acts on the gate
no gate | F.silu(self.gate(y)) * self.up(y) => F.silu(self.gate(y)) | multiply the two
no residual | return x + self => return self | added to x
attention reads x | self.attention(y, => self.attention(x, | Attention reads the normalized
layer reads x | .gate(y)) * self.up(y) => .gate(x)) * self.up(x) | reads the normalized vectors
no mask | (y, mask, cache) => (y, None, cache) | handed on
no cache | (y, mask, cache) => (y, mask) | cache is handed on
rounded to the nearest | M = hidden_width(D, H, G) \
    => M = round((10 * D - 2 * G * (D // H)) / 24) * 8 | hidden_width(D, H, G)

== pack
no beginning | (1, 1), value => (0, 1), value | first token is predicted
no end | (1, 1), value => (1, 0), value | over is predicted
padding counts | torch.full((T,), -100) => torch.full((T,), end) | predicts nothing
padding is 0 | torch.full((T,), end) => torch.zeros(T, dtype=torch.long) | end as inputs
inputs as targets | text[1:].split(T) => text[:-1].split(T) | after it
one story a window | if len(x) > room: => if True: | share a window
a full window never fits | len(x) > room => len(x) >= room | still fits
only the first piece | is not lost
             room -= len(x)
+            break
room too small | room = T => room = T - 1 | For each story
first fit | stays as it is
-            if len(x) > room:
+            room = room or []
+            n = next((n for n, left in enumerate(room) if left >= len(x)), len(room))
+            if n == len(room):
                 inputs.append(torch.full((T,), end))
                 targets.append(torch.full((T,), -100))
-                room = T
-            first = T - room
-            inputs[-1][first : first + len(x)] = x
-            targets[-1][first : first + len(x)] = y
-            room -= len(x)
+                room.append(T)
+            first = T - room[n]
+            inputs[n][first : first + len(x)] = x
+            targets[n][first : first + len(x)] = y
+            room[n] -= len(x)
one endless text | begins a new window
-    for story in stories:
+    gap = torch.tensor([end])
+    row = torch.cat([torch.cat([gap, story]) for story in stories])
+    for story in [row[1:]]:
targets cut by themselves | , torch.stack(targets) => , torch.stack(targets)[:-1] | have one shape
targets alone | .stack(inputs), torch.stack(targets) => .stack(targets) | return inputs, targets

== AdamW
L2 | gradients stay
                     continue
+                p.grad = p.grad + self.decay * p
L2 on a copy | decoupled
-                m.mul_(beta1).add_(p.grad, alpha=1 - beta1)
-                v.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
+                g = p.grad + self.decay * p
+                m.mul_(beta1).add_(g, alpha=1 - beta1)
+                v.mul_(beta2).addcmul_(g, g, value=1 - beta2)
+                p.div_(1 - self.lr * self.decay)
no decay | p.mul_(1 - self.lr * self.decay) => | decay is missing
decay without the rate | 1 - self.lr * self.decay => 1 - self.decay | multiplied by the rate
m uncorrected | m / (1 - beta1**self.steps) => m | correction of m
v uncorrected | v / (1 - beta2**self.steps) => v | correction of v
always step 1 | self.steps += 1 => self.steps = 1 | counts the steps
betas changed | beta1, beta2 = self => beta2, beta1 = self | beta1 belongs to m
eps under the root | (square.sqrt() + self.eps) => (square + self.eps).sqrt() | outside of the root
no root | square.sqrt() => square | the root of v
sums | add_(p.grad, alpha=1 - beta1) => add_(p.grad) | m is a mean
uphill | p.sub_( => p.add_( | subtracted
without no_grad | with torch.no_grad(): => if True: | no_grad
stops at None | continue => break | go on with the next
rate of the start | one line for each equation
-                p.sub_(self.lr * mean / (square.sqrt() + self.eps))
+                self.first = getattr(self, 'first', self.lr)
+                p.sub_(self.first * mean / (square.sqrt() + self.eps))
no count | self.steps += 1 => pass | 0 / 0
counts parameters | not the parameters
-        self.steps += 1
         beta1, beta2 = self.betas
         with torch.no_grad():
             for p, m, v in zip(self.parameters, self.m, self.v):
+                self.steps += 1
new averages | goes on with
-                m.mul_(beta1).add_(p.grad, alpha=1 - beta1)
-                v.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
+                m = beta1 * m + (1 - beta1) * p.grad
+                v = beta2 * v + (1 - beta2) * p.grad**2
a new m | .mul_(beta1).add_(p.grad, alpha=1 - beta1) => = beta1 * m + (1 - beta1) * p.grad | stays 0
a new v | v.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2) \
    => v = beta2 * v + (1 - beta2) * p.grad**2 | stays 0
m corrected in place | mean = m / (1 => mean = m.div_(1 | this step alone
the mean of g | ).addcmul_(p.grad, p.grad, value=1 => ).add_(p.grad, alpha=1 | v is the mean of g**2
a new parameter | p.sub_(self.lr * mean / (square.sqrt() + self.eps)) \
    => p = p - self.lr * mean / (square.sqrt() + self.eps) | one line for each
new parameters alone | has not moved
-                p.mul_(1 - self.lr * self.decay)
-                p.sub_(self.lr * mean / (square.sqrt() + self.eps))
+                p = p * (1 - self.lr * self.decay) - self.lr * mean / (square.sqrt() + self.eps)

== Repaired
still a copy | self.output.weight = self.embedding.weight \
    => self.output.weight = nn.Parameter(self.embedding.weight.detach().clone()) | two Parameters
still one ahead | triu(1) => triu(2) | only later tokens do
not itself | triu(1) => triu(0) | the diagonal stays
still by the length | = q @ k.mT / k.shape[-1] ** 0. => = q @ k.mT / k.shape[-2] ** 0. | text around
no scale | = q @ k.mT / k.shape[-1] ** 0.5 => = q @ k.mT | change nothing but the faults
still clipped after | has not the norm
+        optimizer.step()
         nn.utils.clip_grad_norm_(self.parameters(), clip)
-        optimizer.step()
clipped to 1 | self.parameters(), clip) => self.parameters(), 1.0) | has not the norm
targets not shifted | tokens[:, 1:].flatten() => tokens[:, :-1].flatten() | one place later
dropout while it writes | self.eval() => | asked twice
no dropout at all | Nothing is dropped in training
-        x = x + self.dropout(self.mix((weights @ v).transpose(1, 2).flatten(2)))
-        x = x + self.dropout(self.down(F.gelu(self.up(self.norms[1](x)))))
+        x = x + self.mix((weights @ v).transpose(1, 2).flatten(2))
+        x = x + self.down(F.gelu(self.up(self.norms[1](x))))
one dropout less | self.dropout(self.mix((weights @ v).transpose(1, 2).flatten(2))) \
    => self.mix((weights @ v).transpose(1, 2).flatten(2)) | Both self.dropout
never back to training | self.train() => | Nothing is dropped in training
all of the forward pass | still in: 2
-        later = torch.ones(t, t, dtype=torch.bool, device=tokens.device).triu(1)
+        later = torch.ones(t, t, dtype=torch.bool, device=tokens.device).triu(2)
+        scores = q @ k.mT / k.shape[-2] ** 0.5
gradients of writing | keep that line
-    @torch.no_grad()
-    def write(self, prompt, length, generator):  # prompt (P,) -> (P + length,)
+    def write(self, prompt, length, generator):
         self.eval()
-        return super().write(prompt, length, generator)
+        for _ in range(length):
+            p = self(prompt[None, -self.T :])[0, -1].softmax(-1)
+            prompt = torch.cat([prompt, torch.multinomial(p, 1, generator=generator)])
+        return prompt
old gradients | optimizer.zero_grad() => | earlier step

== train
never stops | while progress < 1: => while True: | does not stop
its own clock | neither time.monotonic()
+    clock = time.monotonic
     began, highest = clock(), optimizer.lr
constant rate | highest * factor(progress) => highest | never changes
the factor alone | highest * factor(progress) => factor(progress) | factor multiplies
compounded | highest * factor(progress) => optimizer.lr * factor(progress) | one on the highest
rate after the step | before the step
+        optimizer.step()
         optimizer.lr = highest * factor(progress)
-        optimizer.step()
clipped after | clipped to the norm 1
-        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
         optimizer.lr = highest * factor(progress)
         optimizer.step()
+        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
one batch always | range(accumulate) => range(1) | draws `accumulate`
one look at the clock | look again
-            progress = (clock() - began) / seconds
the last step twice | one evaluation is enough
-        if step % every == 0 or progress >= 1:
+        if step % every == 0:
             kept_loss = evaluate(model)
             history.append((step, loss, kept_loss))
             if kept_loss < best:
                 best = kept_loss
                 weights = {name: w.detach().clone() for name, w in model.state_dict().items()}
             progress = (clock() - began) / seconds
+    kept_loss = evaluate(model)
+    history.append((step, loss, kept_loss))
+    if kept_loss < best:
+        weights = {name: w.detach().clone() for name, w in model.state_dict().items()}
not after the last | or progress >= 1 => | last step
after every step | if step % every == 0 or progress >= 1 => if True | stops when
the last weights | model.load_state_dict(weights) => pass | last weights, not the best
no copies | {name: w.detach().clone() for name, w in model.state_dict().items()} \
    => model.state_dict() | the weights themselves
device forgotten | (model, batches, device) => (model, batches, "cpu") | handed over
steps from 0 | history.append((step, => history.append((step - 1, | history has the steps
no history | return history => return None | None is what

== entry
never trained | train(model, optimizer, next_batch, evaluate, seconds, device, every=50) \
    => [(1, 0.0, 0.0)] | learned from the stories
model alone | return model, train( => return train( | return model
a vocabulary of its own | GPT(V, 128 => GPT(2048, 128 | vocabulary is
a minute of its own | evaluate, seconds, device => evaluate, 60, device | it comes to an end
no training batches | torch.randint(len(inputs) => torch.randint(0 | without an error
rate of 0 | lr=5e-3 => lr=0.0 | learned
no history | return model, train( => return model, (lambda *_, **__: 0)( | a history
nothing held back | if i % 140] => ] | in both
never moved | for _ in range(3)]).to(device) => for _ in range(3)]) | to(device)
the device forgotten | seconds, device, every=50) => seconds, every=50) | after `seconds`
the device of its own | seconds, device, every= => seconds, device="cpu", every= | after `seconds`
the optimizer first | stay on the CPU
-    model = GPT(V, 128, [ParallelBlock(128, 4, 2) for _ in range(3)]).to(device)
+    model = GPT(V, 128, [ParallelBlock(128, 4, 2) for _ in range(3)])
     optimizer = AdamW(model.parameters(), lr=5e-3, decay=0.0)
+    model.to(device)
twice the seconds | evaluate, seconds, device => evaluate, 2 * seconds, device | as they are
the same windows | other windows
+    rows = torch.randint(len(inputs), (4,), generator=source)
+
     def next_batch():
-        rows = torch.randint(len(inputs), (4,), generator=source)
tokens of other stories | , *kept => , *pack([torch.arange(2000)], end, 256) | only what it is given

== write
multiplied | logits / temperature => logits * temperature | divided by the temperature
no temperature | (logits / temperature) => logits | not used
the likeliest | torch.multinomial(p.cpu(), 1, generator=generator) => p.argmax()[None] \
    | Draw from the distribution
without the generator | , generator=generator) => ) | Nothing was drawn with
the text again | (new if cached else text) => text | read once
the newest alone | (new if cached else text) => new | says
the first place | caches)[0, -1] => caches)[0, 0] | last token
always cached | if cached else None => if True else None | without caches
never cached | if cached else None => if False else None | says
with gradients | with torch.no_grad(): => if True: | no_grad
new tokens alone | return text => return text[len(prompt) :] | the prompt, and every
the last of the prompt | text = new = prompt => text, new = prompt, prompt[-1:] \
    | reads the whole prompt
new caches each time | caches are made once
         for _ in range(length):
+            caches = [Cache() for _ in model.blocks] if cached else None
one cache for all | [Cache() for _ in model.blocks] => [Cache()] * len(model.blocks) | L times
drawn on the device | p.cpu() => p | lives on the CPU
not moved back | generator=generator).to(text.device) => generator=generator) | draws back
""")

REWRITES = rewrites(r"""
== by_hand | part by part
def by_hand():
    V, L, D, H, G, T = check.numbers().values()
    K = D // H
    queries, shared, M = D * D, D * G * K, hidden_width(D, H, G)
    block = 2 * queries + 2 * shared + 3 * D * M + D
    names = ["one block", "the whole", "cache bytes", "FLOPs"]
    flops = L * (2 * (block - D) + 4 * T * D) + 2 * V * D
    return dict(zip(names, [block, 3 * V * D + L * block + D, 4 * L * T * G * K, flops]))

== by_hand | floats and a tensor
def by_hand():
    V, L, D, H, G, T = check.numbers().values()
    K = D / H
    M = (10 * D - 2 * G * K) / 3 // 8 * 8
    block = 2 * D**2 + 2 * D * G * K + 3 * D * M
    return {
        "one block": block + D, "the whole": L * (block + D) + D + 3 * V * D,
        "cache bytes": torch.tensor(4 * L * T * G * int(K)),
        "FLOPs": 2.0 * (L * block + V * D) + 4 * L * T * D,
    }

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

== GroupedAttention | heads expanded
class GroupedAttention(nn.Module):
    def __init__(self, D, H, G):
        super().__init__()
        self.K, self.share = D // H, H // G
        for name, width in zip(("query", "key", "value", "output"), (H, G, G, H)):
            setattr(self, name, nn.Linear(D, width * self.K, bias=False))

    def forward(self, x, mask=None, cache=None):
        def heads(linear):
            return linear(x).unflatten(2, (-1, self.K)).movedim(2, 1)

        old = 0
        if cache is not None and cache.keys is not None:
            old = cache.keys.size(2)
        q = rotate(F.rms_norm(heads(self.query), (self.K,)), start=old)
        k = rotate(F.rms_norm(heads(self.key), (self.K,)), start=old)
        v = heads(self.value)
        if cache is not None:
            cache.keys = k = k if old == 0 else torch.cat([cache.keys, k], dim=2)
            cache.values = v = v if old == 0 else torch.cat([cache.values, v], dim=2)
        k, v = (y[:, :, None].expand(-1, -1, self.share, -1, -1).flatten(1, 2) for y in (k, v))
        causal = torch.ones(k.size(2), k.size(2), dtype=torch.bool, device=x.device)
        causal = causal.tril()[old:]
        y = F.scaled_dot_product_attention(q, k, v, causal if mask is None else mask)
        return self.output(y.movedim(1, 2).flatten(2))

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

== pack | lists
def pack(stories, end, T):
    rows = []
    for story in stories:
        text = [end, *story.tolist(), end]
        pairs = list(zip(text, text[1:]))
        while pairs:
            piece, pairs = pairs[:T], pairs[T:]
            if not rows or len(rows[-1]) + len(piece) > T:
                rows.append([])
            rows[-1] += piece
    both = torch.tensor([row + [(end, -100)] * (T - len(row)) for row in rows])
    return both[..., 0], both[..., 1]

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

== Repaired | by the kernel
class Repaired(Broken):
    def __init__(self, V, T, D, H, dropout=0.1):
        super().__init__(V, T, D, H, dropout)
        self.embedding.weight = self.output.weight

    def forward(self, tokens):
        t = tokens.shape[1]
        x = self.embedding(tokens) + self.positions.weight[:t]
        parts = self.qkv(self.norms[0](x)).chunk(3, -1)
        q, k, v = (y.unflatten(-1, (self.H, -1)).transpose(1, 2) for y in parts)
        heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.dropout(self.mix(heads.transpose(1, 2).flatten(2)))
        x = x + self.dropout(self.down(F.gelu(self.up(self.norms[1](x)))))
        return self.output(self.norms[2](x))

    def training_step(self, optimizer, tokens, clip=1.0):
        self.train()
        optimizer.zero_grad()
        logits = self(tokens[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters(), max_norm=clip)
        optimizer.step()
        return loss.item()

    @torch.no_grad()
    def write(self, prompt, length, generator):
        was = self.training
        self.eval()
        text = prompt.clone()
        for _ in range(length):
            p = torch.softmax(self(text[-self.T :][None])[0, -1], -1)
            text = torch.cat([text, torch.multinomial(p, 1, generator=generator)])
        self.train(was)
        return text

== Repaired | a class of its own
class Repaired(nn.Module):
    def __init__(self, V, T, D, H, dropout=0.1):
        super().__init__()
        self.T, self.H, self.K = T, H, D // H
        self.embedding, self.positions = nn.Embedding(V, D), nn.Embedding(T, D)
        self.qkv, self.mix = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.up, self.down = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)
        self.norms = nn.ModuleList(nn.LayerNorm(D) for _ in range(3))
        self.dropout, self.output = nn.Dropout(dropout), nn.Linear(D, V, bias=False)
        self.output.weight = self.embedding.weight

    def forward(self, tokens):
        t = tokens.shape[1]
        x = self.embedding(tokens) + self.positions(torch.arange(t, device=tokens.device))
        q, k, v = self.qkv(self.norms[0](x)).chunk(3, -1)
        q, k, v = (y.unflatten(-1, (self.H, -1)).transpose(1, 2) for y in (q, k, v))
        scores = q @ k.mT / math.sqrt(self.K)
        seen = torch.ones(t, t, dtype=torch.bool, device=tokens.device).tril()
        weights = scores.masked_fill(~seen, -math.inf).softmax(-1)
        x = x + self.dropout(self.mix((weights @ v).transpose(1, 2).flatten(2)))
        x = x + self.dropout(self.down(F.gelu(self.up(self.norms[1](x)))))
        return self.output(self.norms[2](x))

    def training_step(self, optimizer, tokens, clip=1.0):
        self.train()
        logits = self(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters(), clip)
        optimizer.step()
        return loss.item()

    @torch.no_grad()
    def write(self, prompt, length, generator):
        self.eval()
        text = prompt
        for _ in range(length):
            p = self(text[None, -self.T :])[0, -1].softmax(-1)
            text = torch.cat([text, torch.multinomial(p, 1, generator=generator)])
        return text

== train | a long loop
def train(
    model, optimizer, next_batch, evaluate, seconds, device="cpu",
    accumulate=1, every=100, clock=time.monotonic,
):
    start = clock()
    top = optimizer.lr
    history, kept, lowest = [], {}, float("inf")
    step = 0
    passed = 0.0
    while passed < seconds:
        step += 1
        optimizer.lr = top * factor(passed / seconds)
        loss = gradients(model, [next_batch() for _ in range(accumulate)], device)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1)
        optimizer.step()
        passed = clock() - start
        if passed >= seconds or step % every == 0:
            value = evaluate(model)
            history.append((step, loss, value))
            if value < lowest:
                lowest = value
                kept = {k: v.clone() for k, v in model.state_dict().items()}
            passed = clock() - start
    model.load_state_dict(kept)
    return history

== train | deep copies
def train(
    model, optimizer, next_batch, evaluate, seconds, device="cpu",
    accumulate=1, every=100, clock=time.monotonic,
):
    import copy

    end_of_time = clock() + seconds
    rate, results, best = optimizer.lr, [], None
    n = 0
    while (left := end_of_time - clock()) > 0:
        batches = []
        for _ in range(accumulate):
            batches.append(next_batch())
        value = gradients(model, batches, device)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.lr = rate * factor(1 - left / seconds)
        optimizer.step()
        n += 1
        over = clock() >= end_of_time
        if n % every and not over:
            continue
        now = evaluate(model)
        results.append((n, value, now))
        if best is None or now < best[0]:
            best = now, copy.deepcopy(model.state_dict())
    model.load_state_dict(best[1])
    return results

== train | the last one after the loop
def train(
    model, optimizer, next_batch, evaluate, seconds, device="cpu",
    accumulate=1, every=100, clock=time.monotonic,
):
    began, rate, history, lowest = clock(), optimizer.lr, [], math.inf

    def note():
        nonlocal lowest, best
        history.append((step, loss, evaluate(model)))
        if history[-1][2] < lowest:
            lowest = history[-1][2]
            best = {name: w.clone() for name, w in model.state_dict().items()}

    step, best = 0, None
    while (now := (clock() - began) / seconds) < 1:
        step += 1
        loss = gradients(model, [next_batch() for _ in range(accumulate)], device)
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.lr = rate * factor(now)
        optimizer.step()
        if step % every == 0:
            note()
    if step % every:
        note()
    model.load_state_dict(best)
    return history

== entry | smaller
def entry(stories, V, end, seconds, device):
    held, rest = stories[-20:], stories[:-20]
    inputs, targets = pack(rest, end, 128)
    model = GPT(V, 64, [ParallelBlock(64, 2, 1) for _ in range(2)]).to(device)
    optimizer = AdamW(model.parameters(), 1e-2)

    def batch():
        i = torch.randint(len(inputs), (8,))
        return inputs[i], targets[i]

    kept = pack(held, end, 128)
    history = train(model, optimizer, batch, lambda m: mean_loss(m, *kept), seconds, device, 2, 50)
    return model, history

== entry | in order
def entry(stories, V, end, seconds, device):
    inputs, targets = pack(stories[10:], end, 200)
    model = GPT(V, 96, [ParallelBlock(96, 3, 1) for _ in range(1)])
    model.to(device)
    place = 0

    def following():
        nonlocal place
        rows = [(place + i) % len(inputs) for i in range(4)]
        place += 4
        return inputs[rows], targets[rows]

    def evaluate(model):
        return mean_loss(model, *pack(stories[:10], end, 200))

    optimizer = AdamW(model.parameters(), 5e-3)
    history = train(model, optimizer, following, evaluate, seconds, device=device)
    return model, history

== write | a list
@torch.no_grad()
def write(model, prompt, length, generator, temperature=1.0, cached=True):
    ids = prompt.tolist()
    caches = [Cache() for _ in range(len(model.blocks))]
    done = 0
    for _ in range(length):
        if cached:
            read = torch.tensor([ids[done:]], device=prompt.device)
            logits = model(read, caches=caches)
            done = len(ids)
        else:
            logits = model(torch.tensor([ids], device=prompt.device))
        p = torch.softmax(logits[0, -1] / temperature, 0).cpu()
        ids.append(int(torch.multinomial(p, 1, generator=generator)))
    return torch.tensor(ids, device=prompt.device)

== write | prompt first
def write(model, prompt, length, generator, temperature=1.0, cached=True):
    if length == 0:
        return prompt
    with torch.no_grad():
        caches = [Cache() for _ in model.blocks]
        text = prompt
        logits = model(text[None], None, caches if cached else None)
        for i in range(length):
            p = (logits[0, -1] / temperature).softmax(-1).cpu()
            token = torch.multinomial(p, 1, generator=generator).to(text.device)
            text = torch.cat([text, token])
            if i < length - 1:
                logits = model(token[None], None, caches) if cached else model(text[None])
    return text
""")
