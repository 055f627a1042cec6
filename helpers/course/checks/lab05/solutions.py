"""Lab 05 as its notebook has it: what it hands out, and the solutions of its tasks.

A test compares both. Shape letters: B batch, T new tokens, S all tokens, V vocabulary, D width,
H heads, G pairs of keys and values, K = D / H.
"""

# ruff: noqa: B905

import torch
from torch import nn
from torch.nn import functional as F


class Norm(nn.Module):
    """RMSNorm with a gain."""

    def __init__(self, D):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(D))

    def forward(self, x):
        return F.rms_norm(x, x.shape[-1:]) * self.weight


def rotate(x, start=0):
    """Lab 04's rotary positions: x (..., T, K) of the positions start, start + 1, ..."""
    T, K = x.shape[-2:]
    t = start + torch.arange(T, device=x.device)[:, None]
    angles = t / 10000 ** (torch.arange(0, K, 2, device=x.device) / K)  # (T, K/2)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


class Cache:
    """The keys and values of one block so far, (B, G, S, K) each; None before there are any."""

    def __init__(self):
        self.keys = self.values = None


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


def hidden_width(D, H, G):
    """M: the largest multiple of 8 for which a block's matrices have at most 12 D^2 weights."""
    attention = 2 * D * D + 2 * D * G * (D // H)
    return (12 * D * D - attention) // (3 * D) // 8 * 8


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


class MyGPT(nn.Module):
    """Embeddings, blocks that bring their positions, a last norm, and an output of its own."""

    def __init__(self, V, D, blocks, norm, output):
        super().__init__()
        self.embedding = nn.Embedding(V, D)
        self.blocks = nn.ModuleList(blocks)
        self.norm = norm
        self.output = output

    def forward(self, tokens, mask=None, caches=None):
        """tokens (B, T) -> logits (B, T, V); caches holds a Cache for each block."""
        x = self.embedding(tokens)  # (B, T, D)
        for i, block in enumerate(self.blocks):
            x = block(x, mask, None if caches is None else caches[i])
        return self.output(self.norm(x))


def first_weights(model):
    """Draw the weights anew: writers and output zero, small embeddings, a gain of 4 at the end."""
    for name, p in model.named_parameters():
        if name.endswith(("output.weight", "down.weight")):
            nn.init.zeros_(p)
        elif p.dim() == 2:
            small = 0.25 if name.startswith("embedding") else 0.5 * p.shape[1] ** -0.5
            nn.init.normal_(p, std=small)
    nn.init.constant_(model.norm.weight, 4.0)


def parallel_gpt(V, D, H, G, L):
    """A MyGPT of L parallel blocks."""
    blocks = [ParallelBlock(D, H, G) for _ in range(L)]
    model = MyGPT(V, D, blocks, Norm(D), nn.Linear(D, V, bias=False))
    first_weights(model)
    return model


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


def mean_loss(model, inputs, targets, rows=8):
    """Nats for each real target of windows (N, T), without gradients."""
    device, nats = next(model.parameters()).device, 0.0
    with torch.no_grad():
        for x, y in zip(inputs.split(rows), targets.split(rows)):
            logits, y = model(x.to(device)).flatten(0, 1), y.to(device).flatten()
            nats += F.cross_entropy(logits, y, ignore_index=-100, reduction="sum").item()
    return nats / int((targets >= 0).sum())


class Broken:
    """Writes with a model whose blocks have caches. Four things are wrong."""

    def __init__(self, model, temperature=1.0, share=1.0):
        self.model, self.temperature, self.share = model, temperature, share
        self.caches = [Cache() for _ in model.blocks]

    def probabilities(self, logits):
        """Logits (V,) -> (V,): with the temperature, then top-p, the likeliest up to the share."""
        p = (logits * self.temperature).softmax(-1)
        ranked = p.sort(descending=True).values
        kept = ranked.cumsum(0) - ranked < self.share
        p = p * kept
        return p / p.sum()

    @torch.no_grad()
    def write(self, prompt, length, generator):
        """The prompt (P,) and `length` tokens drawn after it, (P + length,)."""
        text = new = prompt
        for _ in range(length):
            logits = self.model(new[None], None, self.caches)[0, 0]
            p = self.probabilities(logits).cpu()  # the generator lives on the CPU
            new = torch.multinomial(p, 1, generator=generator).to(text.device)
            text = torch.cat([text, new])
        return text


class Repaired(Broken):
    """Broken, repaired."""

    def probabilities(self, logits):
        p = (logits / self.temperature).softmax(-1)
        ranked, order = p.sort(descending=True)
        kept = ranked.cumsum(0) - ranked < self.share
        p = p.scatter(0, order[~kept], 0.0)
        return p / p.sum()

    @torch.no_grad()
    def write(self, prompt, length, generator):
        self.caches = [Cache() for _ in self.model.blocks]
        text = new = prompt
        for _ in range(length):
            logits = self.model(new[None], None, self.caches)[0, -1]
            p = self.probabilities(logits).cpu()
            new = torch.multinomial(p, 1, generator=generator).to(text.device)
            text = torch.cat([text, new])
        return text
