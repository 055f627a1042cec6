"""A mixture of experts: many feed-forward layers, of which each token uses a few.

A router gives each token a probability for each of E experts. The k most probable are computed, and
their outputs are added with these probabilities, divided by their sum. So the layer has about E
times the parameters of one expert, but a token costs k of them.

Left alone, a router tends to send everything to a few experts. The balance loss E sum_e f_e P_e, in
which f_e is the share of choices that fell on expert e and P_e its mean probability, is 1 where all
are used alike, and up to E where one is used alone.

Shape letters: N tokens, D d_model, E experts, k of them for each token.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn


def top_k_weights(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Logits (N, E) -> weights (N, k) that sum to 1, and their experts (N, k), the best first.

    With k = E that is the softmax itself, sorted.
    """
    best, chosen = logits.topk(k, dim=-1)
    return best.softmax(-1), chosen  # the softmax of some is that of all, divided by their sum


def balance_loss(logits: Tensor, chosen: Tensor) -> Tensor:
    """E sum_e f_e P_e of a router's logits (N, E) and choices (N, k): 1 if all are used alike.

    Only P has a gradient; it pulls probability away from experts that are chosen often.

    Source: W. Fedus, B. Zoph and N. Shazeer, Switch Transformers (2022), section 2.2.
    """
    experts = logits.shape[-1]
    shares = torch.bincount(chosen.flatten(), minlength=experts) / chosen.numel()
    return experts * (shares.to(logits.dtype) * logits.softmax(-1).mean(0)).sum()


class MixtureOfExperts(nn.Module):
    """A layer (..., D) -> (..., D) of E experts, k of them for each token; see the module.

    Args:
        d_model: D.
        experts: E modules (N, D) -> (N, D), or a function that makes one, with ``count``.
        k: how many for each token.
        count: E, if ``experts`` is a function.

    Attributes:
        router: a linear map (D -> E) without bias.
        balance: the balance loss of the last call, to be added to the training loss.
        used: how often each expert was chosen in the last call, (E,).

    Source: N. Shazeer et al., Outrageously Large Neural Networks: The Sparsely-Gated
    Mixture-of-Experts Layer (2017).
    """

    def __init__(
        self,
        d_model: int,
        experts: Sequence[nn.Module] | Callable[[], nn.Module],
        k: int = 2,
        *,
        count: int = 8,
    ) -> None:
        super().__init__()
        made = [experts() for _ in range(count)] if callable(experts) else list(experts)
        self.experts, self.k = nn.ModuleList(made), k
        self.router = nn.Linear(d_model, len(made), bias=False)
        self.balance, self.used = torch.zeros(()), torch.zeros(len(made), dtype=torch.long)

    def forward(self, x: Tensor) -> Tensor:
        flat = x.reshape(-1, x.shape[-1])
        logits = self.router(flat)
        weights, chosen = top_k_weights(logits, self.k)
        self.balance = balance_loss(logits, chosen)
        self.used = torch.bincount(chosen.flatten(), minlength=len(self.experts))
        out = torch.zeros_like(flat)
        for number, expert in enumerate(self.experts):
            rows, place = (chosen == number).nonzero(as_tuple=True)
            if len(rows):  # each expert sees its own tokens only
                out = out.index_add(0, rows, weights[rows, place, None] * expert(flat[rows]))
        return out.reshape(x.shape)

    def active_parameters(self) -> int:
        """Parameters that one token uses: the router and k experts of the first's size."""
        one = sum(p.numel() for p in self.experts[0].parameters())
        return self.router.weight.numel() + self.k * one
