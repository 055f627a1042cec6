"""Solutions of lab 07: maps in few bits, LoRA, a plain state dict, a loop that trains.

They stand in the lab's source, too; the checks compare answers with them.
"""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F


class Packed(nn.Module):
    """A linear map without bias, its matrix in 2, 4 or 8 bits.

    Attributes: in_features, out_features, bits, group, m; buffers codes (O, I * bits / 8) in
    torch.uint8 and scales (O, I / group).
    """

    def __init__(self, linear, bits, group):
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.bits, self.group, self.m = bits, group, 2 ** (bits - 1) - 1
        codes, scales = self.pack(linear.weight.detach())
        self.register_buffer("codes", codes.to(torch.uint8))
        self.register_buffer("scales", scales)

    def forward(self, x):
        """x (..., I) -> (..., O)"""
        return F.linear(x, self.weight())

    def pack(self, W):
        """The codes (O, I * bits / 8) and the scales (O, I / group) of a matrix W (O, I)."""
        W = W.unflatten(1, (-1, self.group))  # (O, I / group, group)
        scales = W.abs().amax(-1) / self.m
        scales = torch.where(scales > 0, scales, 1.0)
        u = (W / scales[..., None]).round().long().flatten(1) + self.m  # (O, I)
        shifts = torch.arange(0, 8, self.bits)
        return (u.unflatten(1, (-1, len(shifts))) << shifts).sum(-1), scales

    def weight(self):
        """The matrix that the codes stand for, (O, I)."""
        u = self.codes[..., None].long() >> torch.arange(0, 8, self.bits) & 2**self.bits - 1
        q = u.flatten(1) - self.m
        return (q.unflatten(1, (-1, self.group)) * self.scales[..., None]).flatten(1)


class LoRA(nn.Module):
    """A frozen map, and an update of rank r for each chosen part of its output.

    Attributes: in_features, out_features, old; parameters A (P, r, I) and B (P, O / n, r) for P
    chosen parts of n.
    """

    def __init__(self, old, parts, r, alpha):
        super().__init__()
        self.in_features, self.out_features = old.in_features, old.out_features
        self.old, self.scale, self.n = old.requires_grad_(False), alpha / r, len(parts)
        self.chosen = [i for i, part in enumerate(parts) if part]  # P numbers from 0 to n - 1
        P, k = len(self.chosen), old.in_features
        self.A = nn.Parameter(torch.randn(P, r, k) / k**0.5)
        self.B = nn.Parameter(torch.zeros(P, old.out_features // self.n, r))

    def forward(self, x):
        """x (..., I) -> (..., O)"""
        pieces = list(self.old(x).chunk(self.n, -1))
        for i, A, B in zip(self.chosen, self.A, self.B, strict=True):
            pieces[i] = pieces[i] + self.scale * (x @ A.T @ B.T)
        return torch.cat(pieces, -1)

    def update(self):
        """What a merge adds to the matrix of old, (O, I)."""
        update = self.A.new_zeros(self.n, self.out_features // self.n, self.in_features)
        update[self.chosen] = self.scale * self.B @ self.A
        return update.flatten(0, 1)


def plain_state(model):
    """The state dict of the model without LoRA and without packed maps, updates merged."""
    state = {}
    for path, layer in model.named_modules():
        name = path.removesuffix(".old")  # of the layer in the plain model
        if hasattr(layer, "codes"):
            state[f"{name}.weight"] = layer.weight()
        elif not hasattr(layer, "update"):
            for own, p in layer.named_parameters(name, recurse=False):
                state[own] = p.detach().clone()
    for path, layer in model.named_modules():
        if hasattr(layer, "update"):
            state[f"{path}.weight"] += layer.update().detach()
    return state


class Broken:
    """Trains LoRA and keeps the best A and B. Three things are wrong."""

    def __init__(self, model, rate):
        self.model = model.requires_grad_(False)
        for p in self.trained().values():
            p.requires_grad_(True)
        self.optimizer = torch.optim.AdamW(self.trained().values(), lr=rate, weight_decay=0)

    def trained(self):
        """The parameters that are trained, by name."""
        return {n: p for n, p in self.model.named_parameters() if ".old." not in n}

    def loss(self, read, targets):
        """Nats for each target that counts."""
        return F.cross_entropy(self.model(read).flatten(0, 1), targets.flatten())

    def step(self, read, targets):
        """One step on one batch; its loss before the step, a number."""
        loss = self.loss(read, targets)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def train(self, batches, held_out):
        """A step on each batch; back to where the held-out loss was lowest; that loss."""
        lowest, best = math.inf, None
        for batch in batches:
            self.step(*batch)
            with torch.no_grad():
                now = self.loss(*held_out).item()
            if now < lowest:
                lowest, best = now, self.trained()
        self.model.load_state_dict(best, strict=False)
        return lowest


class Repaired(Broken):
    """Broken, repaired."""

    def trained(self):
        names = (".A", ".B")
        return {n: p for n, p in self.model.named_parameters() if n.endswith(names)}

    def step(self, read, targets):
        self.optimizer.zero_grad()
        loss = self.loss(read, targets)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def train(self, batches, held_out):
        lowest, best = math.inf, None
        for batch in batches:
            self.step(*batch)
            with torch.no_grad():
                now = self.loss(*held_out).item()
            if now < lowest:
                lowest = now
                best = {name: p.detach().clone() for name, p in self.trained().items()}
        self.model.load_state_dict(best, strict=False)
        return lowest
