"""Lab 05 as its notebook has it: what it hands out, and the solutions of its tasks from the second.

A test compares both. Shape letters: B batch, T new tokens, S all tokens, V vocabulary, D width,
H heads, G pairs of keys and values, K = D / H.
"""

# ruff: noqa: B905

import math
import time

import torch
from torch import nn
from torch.nn import functional as F


def hidden_width(D, H, G):
    """M: the largest multiple of 8 for which a block's matrices have at most 12 D^2 weights."""
    attention = 2 * D * D + 2 * D * G * (D // H)
    return (12 * D * D - attention) // (3 * D) // 8 * 8


class Norm(nn.Module):
    """RMSNorm with a gain."""

    def __init__(self, D):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(D))

    def forward(self, x):
        return F.rms_norm(x, x.shape[-1:]) * self.weight


class Cache:
    """The keys and values of one block so far, (B, G, S, K) each; None before there are any."""

    def __init__(self):
        self.keys = self.values = None
        self.last = None  # GPT, below, keeps here what the last token hands on to the next


def rotate(x, start=0):
    """Lab 04's rotary positions: x (..., T, K) of the positions start, start + 1, ..."""
    T, K = x.shape[-2:]
    t = start + torch.arange(T, device=x.device)[:, None]
    angles = t / 10000 ** (torch.arange(0, K, 2, device=x.device) / K)  # (T, K/2)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


class GroupedAttention(nn.Module):
    """Attention of H heads that share G pairs of keys and values.

    Attributes: query, key, value, output, each an nn.Linear without bias.
    """

    def __init__(self, D, H, G):
        super().__init__()
        self.H, self.G, self.K = H, G, D // H
        self.query = nn.Linear(D, D, bias=False)
        self.key = nn.Linear(D, G * self.K, bias=False)
        self.value = nn.Linear(D, G * self.K, bias=False)
        self.output = nn.Linear(D, D, bias=False)

    def forward(self, x, mask=None, cache=None):
        """x (B, T, D) -> (B, T, D)"""
        q, k, v = (
            y.unflatten(-1, (-1, self.K)).transpose(1, 2)  # (B, H, T, K) or (B, G, T, K)
            for y in (self.query(x), self.key(x), self.value(x))
        )
        start = 0 if cache is None or cache.keys is None else cache.keys.shape[2]
        q = rotate(F.rms_norm(q, (self.K,)), start)
        k = rotate(F.rms_norm(k, (self.K,)), start)
        if cache is not None:
            if start:
                k = torch.cat([cache.keys, k], 2)  # (B, G, S, K)
                v = torch.cat([cache.values, v], 2)
            cache.keys, cache.values = k, v
        k = k.repeat_interleave(self.H // self.G, 1)  # (B, H, S, K)
        v = v.repeat_interleave(self.H // self.G, 1)
        if mask is None:
            T, S = q.shape[2], k.shape[2]
            mask = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(S - T)
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.output(heads.transpose(1, 2).flatten(2))


class ParallelBlock(nn.Module):
    """Attributes: norm (Norm), attention (GroupedAttention), gate, up, down (no biases)."""

    def __init__(self, D, H, G):
        super().__init__()
        M = hidden_width(D, H, G)
        self.norm, self.attention = Norm(D), GroupedAttention(D, H, G)
        self.gate = nn.Linear(D, M, bias=False)
        self.up = nn.Linear(D, M, bias=False)
        self.down = nn.Linear(M, D, bias=False)

    def forward(self, x, mask=None, cache=None):
        """x (B, T, D) -> (B, T, D)"""
        y = self.norm(x)
        hidden = F.silu(self.gate(y)) * self.up(y)
        return x + self.attention(y, mask, cache) + self.down(hidden)


class GPT(nn.Module):
    """Embeddings, blocks, a last norm, and an output of its own."""

    def __init__(self, V, D, blocks):
        super().__init__()
        self.embedding, self.before = nn.Embedding(V, D), nn.Embedding(V, D)
        self.blocks = nn.ModuleList(blocks)
        self.norm = Norm(D)
        self.output = nn.Linear(D, V, bias=False)
        for name, p in self.named_parameters():
            if name.endswith(("output.weight", "down.weight")):
                nn.init.zeros_(p)
            elif p.dim() == 2:
                small = 0.25 if name.startswith(("embedding", "before")) else 0.5 * D**-0.5
                nn.init.normal_(p, std=small)
        nn.init.constant_(self.norm.weight, 4.0)

    def forward(self, tokens, mask=None, caches=None):
        """tokens (B, T) -> logits (B, T, V); caches holds a Cache for each block."""
        handed_on = self.before(tokens)  # (B, T, D)
        first = None if caches is None else caches[0].last
        first = torch.zeros_like(handed_on[:, :1]) if first is None else first
        if caches is not None:
            caches[0].last = handed_on[:, -1:]
        received = torch.cat([first, handed_on[:, :-1]], 1)
        if mask is not None:  # nothing is received from a token that may not be seen
            seen = mask[:, 0].diagonal(-1, 1, 2)  # (B, T - 1): whether t may see t - 1
            received = received * F.pad(seen, (1, 0), value=True)[..., None]
        x = self.embedding(tokens) + received
        for i, block in enumerate(self.blocks):
            x = block(x, mask, None if caches is None else caches[i])
        return self.output(self.norm(x))


def pack(stories, end, T):
    """inputs and targets, (N, T) each, of a list of stories, each (n,)."""
    inputs, targets, room = [], [], 0
    for story in stories:
        text = F.pad(story, (1, 1), value=end)
        for x, y in zip(text[:-1].split(T), text[1:].split(T)):
            if len(x) > room:
                inputs.append(torch.full((T,), end))
                targets.append(torch.full((T,), -100))
                room = T
            first = T - room
            inputs[-1][first : first + len(x)] = x
            targets[-1][first : first + len(x)] = y
            room -= len(x)
    return torch.stack(inputs), torch.stack(targets)


class AdamW:
    """Adam with decoupled weight decay; the training loop sets lr before every step."""

    def __init__(self, parameters, lr, betas=(0.9, 0.95), eps=1e-8, decay=0.1):
        self.parameters = list(parameters)
        self.lr, self.betas, self.eps, self.decay = lr, betas, eps, decay
        self.steps = 0
        self.m = [torch.zeros_like(p) for p in self.parameters]
        self.v = [torch.zeros_like(p) for p in self.parameters]

    def step(self):
        """One step of every parameter."""
        self.steps += 1
        beta1, beta2 = self.betas
        with torch.no_grad():
            for p, m, v in zip(self.parameters, self.m, self.v):
                if p.grad is None:
                    continue
                m.mul_(beta1).add_(p.grad, alpha=1 - beta1)
                v.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                mean = m / (1 - beta1**self.steps)
                square = v / (1 - beta2**self.steps)
                p.mul_(1 - self.lr * self.decay)
                p.sub_(self.lr * mean / (square.sqrt() + self.eps))


def sees_the_future(model, tokens, V):
    """Whether a logit of some place depends on a later one of the tokens (B, T)."""
    was_training, leaks = model.training, False
    model.eval()
    with torch.no_grad():
        before = model(tokens)
        for t in range(1, tokens.shape[1]):
            changed = tokens.clone()
            changed[:, t:] = (changed[:, t:] + 1) % V
            gap = (model(changed) - before)[:, :t].abs().max()
            leaks = leaks or gap.item() > 1e-6
    model.train(was_training)
    return leaks


class Broken(nn.Module):
    """A small GPT in GPT-2's form: learned positions, one block, a tied output."""

    def __init__(self, V, T, D, H, dropout=0.1):
        super().__init__()
        self.T, self.H = T, H
        self.embedding, self.positions = nn.Embedding(V, D), nn.Embedding(T, D)
        self.qkv, self.mix = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.up, self.down = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)
        self.norms = nn.ModuleList(nn.LayerNorm(D) for _ in range(3))
        self.dropout, self.output = nn.Dropout(dropout), nn.Linear(D, V, bias=False)
        self.output.weight = nn.Parameter(self.embedding.weight.detach().clone())  # tied

    def forward(self, tokens):  # (B, t) -> (B, t, V)
        t = tokens.shape[1]
        x = self.embedding(tokens) + self.positions(torch.arange(t, device=tokens.device))
        q, k, v = self.qkv(self.norms[0](x)).chunk(3, -1)
        q, k, v = (y.unflatten(-1, (self.H, -1)).transpose(1, 2) for y in (q, k, v))
        scores = q @ k.mT / k.shape[-2] ** 0.5
        later = torch.ones(t, t, dtype=torch.bool, device=tokens.device).triu(2)
        weights = scores.masked_fill(later, -math.inf).softmax(-1)
        x = x + self.dropout(self.mix((weights @ v).transpose(1, 2).flatten(2)))
        x = x + self.dropout(self.down(F.gelu(self.up(self.norms[1](x)))))
        return self.output(self.norms[2](x))

    def training_step(self, optimizer, tokens, clip=1.0):  # tokens (B, t + 1) -> loss
        logits = self.train()(tokens[:, :-1]).flatten(0, 1)
        loss = F.cross_entropy(logits, tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        nn.utils.clip_grad_norm_(self.parameters(), clip)
        return loss.item()

    @torch.no_grad()
    def write(self, prompt, length, generator):  # prompt (P,) -> (P + length,)
        for _ in range(length):
            p = self(prompt[None, -self.T :])[0, -1].softmax(-1)
            prompt = torch.cat([prompt, torch.multinomial(p, 1, generator=generator)])
        return prompt


class Repaired(Broken):
    def __init__(self, V, T, D, H, dropout=0.1):
        super().__init__(V, T, D, H, dropout)
        self.output.weight = self.embedding.weight

    def forward(self, tokens):  # (B, t) -> (B, t, V)
        t = tokens.shape[1]
        x = self.embedding(tokens) + self.positions(torch.arange(t, device=tokens.device))
        q, k, v = self.qkv(self.norms[0](x)).chunk(3, -1)
        q, k, v = (y.unflatten(-1, (self.H, -1)).transpose(1, 2) for y in (q, k, v))
        scores = q @ k.mT / k.shape[-1] ** 0.5
        later = torch.ones(t, t, dtype=torch.bool, device=tokens.device).triu(1)
        weights = scores.masked_fill(later, -math.inf).softmax(-1)
        x = x + self.dropout(self.mix((weights @ v).transpose(1, 2).flatten(2)))
        x = x + self.dropout(self.down(F.gelu(self.up(self.norms[1](x)))))
        return self.output(self.norms[2](x))

    def training_step(self, optimizer, tokens, clip=1.0):  # tokens (B, t + 1) -> loss
        self.train()
        logits = self(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters(), clip)
        optimizer.step()
        return loss.item()

    @torch.no_grad()
    def write(self, prompt, length, generator):  # prompt (P,) -> (P + length,)
        self.eval()
        return super().write(prompt, length, generator)


def gradients(model, batches, device):
    """Leave the gradient in p.grad; hand back the mean loss in nats, a number.

    batches is a list of (inputs, targets), (B, T) each; targets of -100 predict nothing.
    """
    model.zero_grad()
    total, loss = sum(int((targets >= 0).sum()) for _, targets in batches), 0.0
    for inputs, targets in batches:
        logits = model(inputs.to(device)).flatten(0, 1)
        targets = targets.to(device).flatten()
        nats = F.cross_entropy(logits, targets, ignore_index=-100, reduction="sum")
        (nats / total).backward()
        loss += nats.item() / total
    return loss


def factor(progress):
    """The share of the highest rate: a short warm-up, then down to zero."""
    return min(0.1 + progress / 0.05, 1.0, (1 - progress) / 0.9)


def mean_loss(model, inputs, targets, rows=8):
    """Nats for each real target of windows (N, T), without gradients."""
    device, nats = next(model.parameters()).device, 0.0
    with torch.no_grad():
        for x, y in zip(inputs.split(rows), targets.split(rows)):
            logits, y = model(x.to(device)).flatten(0, 1), y.to(device).flatten()
            nats += F.cross_entropy(logits, y, ignore_index=-100, reduction="sum").item()
    return nats / int((targets >= 0).sum())


def train(
    model,
    optimizer,
    next_batch,
    evaluate,
    seconds,
    device="cpu",
    accumulate=1,
    every=100,
    clock=time.monotonic,
):
    """Train in place; hand back [(step, training loss, held-back loss), ...]."""
    began, highest = clock(), optimizer.lr
    progress, step, best, weights, history = 0.0, 0, math.inf, None, []
    while progress < 1:
        batches = [next_batch() for _ in range(accumulate)]
        loss = gradients(model, batches, device)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.lr = highest * factor(progress)
        optimizer.step()
        step += 1
        progress = (clock() - began) / seconds
        if step % every == 0 or progress >= 1:
            kept_loss = evaluate(model)
            history.append((step, loss, kept_loss))
            if kept_loss < best:
                best = kept_loss
                weights = {name: w.detach().clone() for name, w in model.state_dict().items()}
            progress = (clock() - began) / seconds
    if weights is not None:
        model.load_state_dict(weights)
    return history


def entry(stories, V, end, seconds, device):
    """A GPT trained on stories for so many seconds, and its history: (model, history)."""
    torch.manual_seed(0)
    source = torch.Generator().manual_seed(0)
    inputs, targets = pack([story for i, story in enumerate(stories) if i % 140], end, 256)
    kept = pack(stories[::140], end, 256)  # held back

    def next_batch():
        rows = torch.randint(len(inputs), (4,), generator=source)
        return inputs[rows], targets[rows]

    def evaluate(model):
        return mean_loss(model, *kept)

    model = GPT(V, 128, [ParallelBlock(128, 4, 2) for _ in range(3)]).to(device)
    optimizer = AdamW(model.parameters(), lr=5e-3, decay=0.0)
    return model, train(model, optimizer, next_batch, evaluate, seconds, device, every=50)


def write(model, prompt, length, generator, temperature=1.0, cached=True):
    """The prompt (P,) and `length` tokens drawn after it, (P + length,)."""
    caches = [Cache() for _ in model.blocks] if cached else None
    text = new = prompt
    with torch.no_grad():
        for _ in range(length):
            logits = model((new if cached else text)[None], None, caches)[0, -1]
            p = (logits / temperature).softmax(-1)
            new = torch.multinomial(p.cpu(), 1, generator=generator).to(text.device)
            text = torch.cat([text, new])
    return text
