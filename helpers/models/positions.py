"""What tells a transformer the order of its tokens: sinusoids, RoPE (rotary positions), ALiBi.

Attention alone looks at a set. *Absolute* positions are added to the embeddings, once, before the
first block: ``SinusoidalPositions`` or ``LearnedPositions``. *Relative* ones act inside every
attention, on queries and keys (``RotaryPositions``) or on the scores (``ALiBi``), and let a score
depend on the distance i - j of the query at i from the key at j. Positions count from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

BASE = 10000.0  # the longest wavelength is nearly 2 pi times this, the shortest is 2 pi
LEAST_ROWS = 1024


def sinusoidal_table(
    T: int, d_model: int, *, start: int = 0, dtype: torch.dtype = torch.float32
) -> Tensor:
    """Sinusoids of the positions start .. start+T-1: (T, D), computed in float64.

        P(t, 2i) = sin(t / 10000^(2i/D)),   P(t, 2i+1) = cos(t / 10000^(2i/D))

    An odd D ends with a sine that has no cosine. For an even D, P(s) . P(t) depends on s - t alone
    and every row has the norm sqrt(D/2). The lecture of Galerne exchanges sine and cosine. (It also
    counts i from 1, which leaves out the fastest pair; here i counts from 0.)

    Args:
        T: how many positions.
        d_model: D, even or odd.
        start: the first position.

    Source: Vaswani et al. (2017), "Attention is all you need", section 3.5; CMU 11-785, lecture 19.
    """
    steps = torch.arange(start, start + T, dtype=torch.float64, device="cpu")
    angles = steps[:, None] * _frequencies(d_model)  # (T, ceil(D/2))
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (T, ceil(D/2), 2)
    return waves.flatten(1)[:, :d_model].to(dtype)  # (T, D)


def shift_matrix(steps: float, d_model: int, *, dtype: torch.dtype = torch.float32) -> Tensor:
    """M (D, D) with P(t + steps) = M P(t) for every t, P being a row of ``sinusoidal_table``.

    D/2 rotations of the plane along the diagonal, each by an angle of its own. So M is orthogonal,
    its eigenvalues have magnitude 1, and M(a) M(b) = M(a + b): the lecture's M to the power t' is
    ``shift_matrix(t')``.

    Args:
        steps: how far, forwards or backwards.
        d_model: D, even: a sine without its cosine cannot be shifted.

    Source: Vaswani et al. (2017), section 3.5; CMU 11-785, lecture 19.
    """
    angles = steps * _frequencies(d_model)  # (D/2,)
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64, device="cpu")
    even = torch.arange(0, d_model, 2, device="cpu")
    matrix[even, even] = matrix[even + 1, even + 1] = angles.cos()
    matrix[even, even + 1], matrix[even + 1, even] = angles.sin(), -angles.sin()
    return matrix.to(dtype)


class SinusoidalPositions(nn.Module):
    """Adds ``sinusoidal_table`` to embeddings. Nothing is learned and no text is too long.

    Args:
        d_model: D.
        scale: factor on the table, so that it does not drown embeddings that begin small. Vaswani
            et al. (2017), section 3.4, multiply the embeddings by sqrt(D) instead.
    """

    def __init__(self, d_model: int, scale: float = 1.0) -> None:
        super().__init__()
        self.d_model, self.scale = d_model, scale
        self._table: Tensor | None = None

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """Embeddings x (B, T, D) of the positions start, start+1, ... -> x + P, (B, T, D)."""
        self._table = _long_enough(self._table, self._make, x, start)
        return x + self.scale * self._table[start : start + x.shape[-2]]

    def _make(self, rows: int) -> Tensor:
        return sinusoidal_table(rows, self.d_model, dtype=torch.float64)


class LearnedPositions(nn.Module):
    """Adds a learned vector per position to embeddings, for at most ``max_length`` positions.

    The vectors begin small, normally distributed as the words do in GPT, with deviation 0.02 at its
    width of 768 (Radford et al. 2018, section 4.1) and 0.02 sqrt(768 / D) at any width: larger ones
    would drown the words.

    Args:
        max_length: how many positions have a vector.
        d_model: D.

    Source: Gehring et al. (2017), "Convolutional sequence to sequence learning", section 3.1; so
    in GPT-2 and BERT.
    """

    def __init__(self, max_length: int, d_model: int) -> None:
        super().__init__()
        self.max_length, self.d_model = max_length, d_model
        self.embedding = nn.Embedding(max_length, d_model)
        nn.init.normal_(self.embedding.weight, std=0.02 * (768 / d_model) ** 0.5)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """Embeddings x (B, T, D) of the positions start, start+1, ... -> x + P, (B, T, D).

        Raises:
            ValueError: a position of max_length or more.
        """
        end = start + x.shape[-2]
        if end > self.max_length:
            raise ValueError(
                f"The text has {end} positions but vectors were learned for max_length = "
                f"{self.max_length}: shorten the text or build LearnedPositions with a larger "
                "max_length."
            )
        return x + self.embedding.weight[start:end].to(x.dtype)


class RelativePositions(nn.Module):
    """What an attention asks of relative positions; this base class answers "none"."""

    def rotate(self, x: Tensor, start: int = 0) -> Tensor:
        """Queries or keys x (..., T, K) of the positions start, start+1, ... -> the same shape."""
        return x

    def bias(self, T: int, S: int) -> Tensor | None:
        """What is added to the scores of T queries and S keys, (H, T, S), or None for nothing.

        The queries are the last T of the S positions, as with a key-value cache.
        """
        return None


class RotaryPositions(RelativePositions):
    """Rotary positions (RoPE): turns queries and keys by angles that grow with the position.

    The pair of features (2i, 2i+1) of the vector at position t is a point of the plane, turned by
    the angle t / base^(2i/K). A score q_i . k_j then depends on i - j, not on i and j, and norms
    stay. Pairs are neighbours, as in the paper; many libraries pair feature i with feature i + K/2
    instead. With the rows of W_Q and W_K reordered the two are the same model, but weights must
    not be carried from one to the other without that.

    Args:
        d_head: K, even.
        base: the larger, the slower the last pairs turn; for longer texts (Gemma 3 has 1,000,000).
        slower: for each pair, by what factor it turns slower (position interpolation; Chen et al.
            2023 slow all pairs alike).

    Raises:
        ValueError: d_head is odd.

    Source: Su et al. (2021), "RoFormer: Enhanced transformer with rotary position embedding",
    section 3.2.2 and equation 34.
    """

    def __init__(
        self, d_head: int, base: float = BASE, *, slower: Sequence[float] | None = None
    ) -> None:
        super().__init__()
        if d_head % 2:
            raise ValueError(f"d_head is {d_head}, but features are turned in pairs: make it even.")
        self.d_head, self.base = d_head, base
        self.slower = [1.0] * (d_head // 2) if slower is None else list(slower)
        self._table: Tensor | None = None

    def rotate(self, x: Tensor, start: int = 0) -> Tensor:
        """Queries or keys x (..., T, K) of the positions start, start+1, ... -> turned ones."""
        self._table = _long_enough(self._table, self._make, x, start)
        cos, sin = self._table[start : start + x.shape[-2]].unbind(1)  # (T, K/2, 2) each
        pairs = x.unflatten(-1, (self.d_head // 2, 2))  # (..., T, K/2, 2)
        # (a cos - b sin, b cos + a sin). Complex numbers would say it in one product, but not
        # every device computes with them correctly.
        return torch.addcmul(pairs * cos, pairs.flip(-1), sin).flatten(-2)  # (..., T, K)

    def _make(self, rows: int) -> Tensor:
        """(cos, cos) and (-sin, sin) of the angles of each position: (rows, 2, K/2, 2)."""
        slower = torch.tensor(self.slower, dtype=torch.float64, device="cpu")
        steps = torch.arange(rows, dtype=torch.float64, device="cpu")
        angles = steps[:, None] * (_frequencies(self.d_head, self.base) / slower)  # (rows, K/2)
        cos, sin = angles.cos(), angles.sin()
        pairs = [torch.stack(pair, dim=-1) for pair in ((cos, cos), (-sin, sin))]
        return torch.stack(pairs, dim=1)


class ALiBi(RelativePositions):
    """Attention with linear biases: a score falls with the distance, at one slope per head.

    The bias is -slope (i - j) for the query at i and a key at j <= i. A key in the future, which
    only an attention without causal mask can see, has -slope |i - j|; the paper, which is about
    causal models, does not define it. The lecture of Godey writes beta_ij = m (i - j): with m > 0
    its sign is wrong, since far keys would be preferred.

    Args:
        n_heads: H; the slopes are ``alibi_slopes(n_heads)``, not learned.

    Source: Press, Smith and Lewis (2022), "Train short, test long: Attention with linear biases
    enables input length extrapolation", section 3.
    """

    slopes: Tensor  # (H,)

    def __init__(self, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.register_buffer("slopes", alibi_slopes(n_heads), persistent=False)

    def bias(self, T: int, S: int) -> Tensor:
        """The biases (H, T, S) of the last T of S positions, in the module's dtype and device."""
        keys = torch.arange(S, device=self.slopes.device)
        distance = (keys[S - T :, None] - keys).abs()  # (T, S)
        return self.slopes[:, None, None] * -distance  # (H, T, S)


def alibi_slopes(n_heads: int) -> Tensor:
    """The slopes of ALiBi's heads, (H,).

    For H a power of two a geometric sequence from 2^(-8/H) to 2^-8: 1/2, 1/4, ..., 1/256 for
    eight heads. For any other H, the slopes of the next smaller power of two P, followed by the
    first, third, fifth, ... slope of 2 P heads until there are H. This order is that of the code
    that the authors published; the paper itself uses powers of two alone.

    Source: Press, Smith and Lewis (2022), section 3, and the code published with it.
    """
    power = 2 ** (n_heads.bit_length() - 1)
    slopes = [2.0 ** (-8 * h / power) for h in range(1, power + 1)]
    between = [2.0 ** (-4 * h / power) for h in range(1, 2 * power + 1, 2)]
    return torch.tensor(slopes + between[: n_heads - power])


def _long_enough(
    table: Tensor | None, make: Callable[[int], Tensor], x: Tensor, start: int
) -> Tensor:
    """A table of rows 0, 1, ... for x (..., T, D) from ``start`` on, in the dtype and device of x.

    It is no buffer: it is no part of the weights, and a change of dtype must make it anew, in
    float64, instead of rounding it.
    """
    end = start + x.shape[-2]
    same = table is not None and (table.dtype, table.device) == (x.dtype, x.device)
    if same and len(table) >= end:
        return table
    # Autograd would refuse to save, later on, what was made in inference mode.
    with torch.inference_mode(False):
        return make(max(LEAST_ROWS, 2 * end)).to(x.dtype).to(x.device)


def _frequencies(d_model: int, base: float = BASE) -> Tensor:
    """1 / base^(2i/D) for i = 0, 1, ...: (ceil(D/2),) in float64, on the CPU."""
    return base ** -(torch.arange(0, d_model, 2, dtype=torch.float64, device="cpu") / d_model)
