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

    Attributes: in_features, out_features, bits, group; buffers codes (O, I * bits / 8) in
    torch.uint8 and scales (O, I / group).
    """

    def __init__(self, linear, bits, group):
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.bits, self.group = bits, group
        top = 2 ** (bits - 1) - 1
        W = linear.weight.detach().unflatten(1, (-1, group))  # (O, I/group, group)
        scales = W.abs().amax(-1) / top
        scales = torch.where(scales > 0, scales, 1.0)
        codes = (W / scales[..., None]).round().int().flatten(1) + top  # (O, I)
        shifts = bits * torch.arange(8 // bits, device=codes.device)
        codes = (codes.unflatten(1, (-1, len(shifts))) << shifts).sum(-1)
        self.register_buffer("codes", codes.to(torch.uint8))
        self.register_buffer("scales", scales)

    def weight(self):
        """The matrix that the codes stand for, (O, I)."""
        shifts = self.bits * torch.arange(8 // self.bits, device=self.codes.device)
        codes = self.codes[..., None].int() >> shifts & 2**self.bits - 1
        codes = codes.flatten(1) - (2 ** (self.bits - 1) - 1)
        return (codes.unflatten(1, (-1, self.group)) * self.scales[..., None]).flatten(1)

    def forward(self, x):
        """x (..., I) -> (..., O)"""
        return F.linear(x, self.weight())


class LoRA(nn.Module):
    """A frozen map, and an update of rank r for each chosen part of its output.

    Attributes: in_features, out_features, old; parameters A (P, r, I) and B (P, O / n, r) for P
    chosen parts of n.
    """

    def __init__(self, old, parts, r, alpha):
        super().__init__()
        self.in_features, self.out_features = old.in_features, old.out_features
        self.old, self.parts, self.scale = old.requires_grad_(False), parts, alpha / r
        P, k = sum(parts), old.in_features
        self.A = nn.Parameter(torch.randn(P, r, k) / k**0.5)
        self.B = nn.Parameter(torch.zeros(P, old.out_features // len(parts), r))

    def forward(self, x):
        """x (..., I) -> (..., O)"""
        pieces, place = list(self.old(x).chunk(len(self.parts), -1)), 0
        for i, chosen in enumerate(self.parts):
            if chosen:
                A, B = self.A[place], self.B[place]
                pieces[i] = pieces[i] + self.scale * (x @ A.T @ B.T)
                place += 1
        return torch.cat(pieces, -1)

    def update(self):
        """What a merge adds to the matrix of old, (O, I)."""
        shape = len(self.parts), -1, self.in_features
        update = self.A.new_zeros(self.out_features, self.in_features).view(shape)
        update[list(self.parts)] = self.scale * self.B @ self.A
        return update.flatten(0, 1)


def plain_state(model):
    """The state dict of the model without LoRA and without packed maps, updates merged."""
    state = {}
    for path, layer in model.named_modules():
        name = path.removesuffix(".old")
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
