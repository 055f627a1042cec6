"""What tells a transformer the order of its tokens: sinusoids, RoPE (rotary positions), ALiBi.

Attention alone looks at a set. *Absolute* positions are added to the embeddings, once, before the
first block: ``SinusoidalPositions`` or ``LearnedPositions``. *Relative* ones act inside every
attention, on queries and keys (``RotaryPositions``) or on the scores (``ALiBi``), and let a score
depend on the distance i - j of the query at i from the key at j. Positions count from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor, nn

_MOST_ROWS = 2**14  # a longer table is not kept but made anew, for the rows that are asked for


def sinusoidal_table(
    T: int,
    d_model: int,
    base: float = 10000.0,
    *,
    start: int = 0,
    cosine_first: bool = False,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """Sinusoids of the positions start .. start+T-1: (T, D), computed in float64.

        P(t, 2i) = sin(t / base^(2i/D)),   P(t, 2i+1) = cos(t / base^(2i/D))

    An odd D ends with a sine that has no cosine. For an even D, P(s) . P(t) depends on s - t alone
    and every row has the norm sqrt(D/2).

    Args:
        T: how many positions.
        d_model: D, even or odd.
        base: the longest wavelength is nearly 2 pi base, the shortest is 2 pi.
        start: the first position.
        cosine_first: exchange sine and cosine, as in the lecture of Galerne. (That one counts i
            from 1, which leaves out the fastest pair; here i counts from 0 either way.)
        dtype: of the result.

    Raises:
        ValueError: T negative, d_model below 1, or base not above 0.

    Source: Vaswani et al. (2017), "Attention is all you need", section 3.5; CMU 11-785, lecture 19.
    """
    if T < 0:
        raise ValueError(f"The table was asked for T = {T} positions, expected 0 or more.")
    steps = torch.arange(start, start + T, dtype=torch.float64, device="cpu")
    angles = steps[:, None] * _frequencies(d_model, base)  # (T, ceil(D/2))
    waves = (angles.cos(), angles.sin()) if cosine_first else (angles.sin(), angles.cos())
    return torch.stack(waves, dim=-1).flatten(1)[:, :d_model].to(dtype)  # (T, D)


def shift_matrix(
    steps: float,
    d_model: int,
    base: float = 10000.0,
    *,
    cosine_first: bool = False,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """M (D, D) with P(t + steps) = M P(t) for every t, P being a row of ``sinusoidal_table``.

    D/2 rotations of the plane along the diagonal, each by an angle of its own. So M is orthogonal,
    its eigenvalues have magnitude 1, and M(a) M(b) = M(a + b): the lecture's M to the power t' is
    ``shift_matrix(t')``.

    Args:
        steps: how far, forwards or backwards.
        d_model: D, even.
        base: that of the table.
        cosine_first: as for the table.
        dtype: of the result, computed in float64.

    Raises:
        ValueError: d_model is odd (a sine without its cosine cannot be shifted) or below 2.

    Source: Vaswani et al. (2017), section 3.5; CMU 11-785, lecture 19.
    """
    _check_even(d_model, "d_model")
    angles = steps * _frequencies(d_model, base)  # (D/2,)
    cos, sin = angles.cos(), angles.sin() * (-1 if cosine_first else 1)
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64, device="cpu")
    even = torch.arange(0, d_model, 2, device="cpu")
    matrix[even, even] = matrix[even + 1, even + 1] = cos
    matrix[even, even + 1], matrix[even + 1, even] = sin, -sin
    return matrix.to(dtype)


class SinusoidalPositions(nn.Module):
    """Adds ``sinusoidal_table`` to embeddings. Nothing is learned and no text is too long.

    Args:
        d_model: D.
        base, cosine_first: see ``sinusoidal_table``.
        scale: factor on the table, so that it does not drown embeddings that begin small. Vaswani
            et al. (2017), section 3.4, multiply the embeddings by sqrt(D) instead.
    """

    def __init__(
        self,
        d_model: int,
        base: float = 10000.0,
        *,
        cosine_first: bool = False,
        scale: float = 1.0,
    ) -> None:
        super().__init__()
        _frequencies(d_model, base)  # bad arguments are told here
        self.d_model, self.scale = d_model, scale
        self._table = _Table(
            partial(sinusoidal_table, d_model=d_model, base=base, cosine_first=cosine_first)
        )

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """Embeddings x (B, T, D) of the positions start, start+1, ... -> x + P, (B, T, D)."""
        _check_input(x, self.d_model, start)
        return x + self.scale * self._table.rows(x, start)


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
        if max_length < 1:
            raise ValueError(f"max_length is {max_length}, expected one position or more.")
        self.max_length, self.d_model = max_length, d_model
        self.embedding = nn.Embedding(max_length, d_model)
        nn.init.normal_(self.embedding.weight, std=0.02 * (768 / d_model) ** 0.5)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """Embeddings x (B, T, D) of the positions start, start+1, ... -> x + P, (B, T, D).

        Raises:
            ValueError: a position of max_length or more.
        """
        _check_input(x, self.d_model, start)
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
        base: see ``sinusoidal_table``; the angles are the same.
        slower: for each pair, by what factor it turns slower (position interpolation; Chen et al.
            2023 slow all pairs alike).

    Raises:
        ValueError: d_head is odd or below 2, or ``slower`` is not one factor above 0 a pair.

    Source: Su et al. (2021), "RoFormer: Enhanced transformer with rotary position embedding",
    section 3.2.2 and equation 34.
    """

    def __init__(
        self, d_head: int, base: float = 10000.0, *, slower: Sequence[float] | None = None
    ) -> None:
        super().__init__()
        _check_even(d_head, "d_head")
        _frequencies(d_head, base)  # a bad base is told here
        slower = (1.0,) * (d_head // 2) if slower is None else tuple(slower)
        if len(slower) != d_head // 2 or not all(factor > 0 for factor in slower):
            raise ValueError(
                f"slower is {slower}, expected one factor above 0 for each of the {d_head // 2} "
                "pairs."
            )
        self.d_head, self.base, self.slower = d_head, base, slower
        self._table = _Table(partial(_rotations, d_head=d_head, base=base, slower=slower))

    def rotate(self, x: Tensor, start: int = 0) -> Tensor:
        """Queries or keys x (..., T, K) of the positions start, start+1, ... -> turned ones."""
        _check_input(x, self.d_head, start)
        cos, sin = self._table.rows(x, start).unbind(1)  # (T, K/2, 2) each
        pairs = x.unflatten(-1, (-1, 2))  # (..., T, K/2, 2)
        # (a cos - b sin, b cos + a sin). Complex numbers would say it in one product, but not
        # every device computes with them correctly.
        return torch.addcmul(pairs * cos, pairs.flip(-1), sin).flatten(-2)  # (..., T, K)


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
        """The biases (H, T, S) of the last T of S positions, in the module's dtype and device.

        Raises:
            ValueError: more queries than keys.
        """
        if not 0 <= T <= S:
            raise ValueError(
                f"The queries are the last T of S positions, but T = {T} and S = {S}: ALiBi is "
                "for self-attention, with T <= S."
            )
        keys = torch.arange(S, device=self.slopes.device)
        distance = (keys[S - T :, None] - keys).abs()  # (T, S)
        return self.slopes[:, None, None] * -distance  # (H, T, S)

    def _apply(self, *args, **kwargs):
        # model.double() would keep the rounding of float32, and model.float() that of bfloat16.
        super()._apply(*args, **kwargs)
        self.slopes = (
            alibi_slopes(self.n_heads, torch.float64).to(self.slopes.dtype).to(self.slopes.device)
        )
        return self


def alibi_slopes(n_heads: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """The slopes of ALiBi's heads, (H,).

    For H a power of two a geometric sequence from 2^(-8/H) to 2^-8: 1/2, 1/4, ..., 1/256 for
    eight heads. For any other H, the slopes of the next smaller power of two P, followed by the
    first, third, fifth, ... slope of 2 P heads until there are H. This order is that of the code
    that the authors published; the paper itself uses powers of two alone.

    Raises:
        ValueError: n_heads below 1.

    Source: Press, Smith and Lewis (2022), section 3, and the code published with it.
    """
    if n_heads < 1:
        raise ValueError(f"n_heads is {n_heads}, expected one head or more.")
    power = 2 ** (n_heads.bit_length() - 1)
    slopes = [2.0 ** (-8 * h / power) for h in range(1, power + 1)]
    between = [2.0 ** (-4 * h / power) for h in range(1, 2 * power + 1, 2)]
    return torch.tensor(slopes + between[: n_heads - power], dtype=dtype)


class _Table:
    """The rows 0, 1, ... of a table, kept for the longest text so far, its dtype and its device.

    A plain attribute rather than a buffer: it is no part of the weights, a change of dtype must
    compute it anew instead of rounding it, and data-parallel training need not send it around.
    """

    def __init__(self, make: Callable[..., Tensor]) -> None:
        self._make = make
        self._kept: Tensor | None = None

    def rows(self, x: Tensor, start: int) -> Tensor:
        """The rows start, start+1, ... for x (..., T, D), like x in dtype and device: (T, ...)."""
        T = x.shape[-2]
        end = start + T
        if end > _MOST_ROWS:
            return self._make(T, start=start, dtype=torch.float64).to(x.dtype).to(x.device)
        kept = self._kept
        if kept is None or len(kept) < end or kept.dtype != x.dtype or kept.device != x.device:
            # Powers of two: a text that grows token by token seldom needs a new table.
            longer = 1 << max(end - 1, 0).bit_length()
            # Autograd would refuse to save, later on, what was made in inference mode.
            with torch.inference_mode(False):
                kept = self._make(longer, dtype=torch.float64).to(x.dtype).to(x.device)
            self._kept = kept
        return kept[start:end]

    def __reduce__(self):
        # Copies and pickles start without a table.
        return type(self), (self._make,)


def _rotations(
    T: int,
    d_head: int,
    base: float,
    slower: Sequence[float],
    start: int = 0,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """(cos, cos) and (-sin, sin) of the angles of each position: (T, 2, K/2, 2)."""
    speeds = _frequencies(d_head, base) / torch.tensor(slower, dtype=torch.float64, device="cpu")
    angles = torch.arange(start, start + T, dtype=torch.float64, device="cpu")[:, None] * speeds
    sin, cos = angles.sin().to(dtype), angles.cos().to(dtype)  # (T, K/2) each
    double = [torch.stack(pair, dim=-1) for pair in ((cos, cos), (-sin, sin))]  # (T, K/2, 2)
    return torch.stack(double, dim=1)


def _frequencies(d_model: int, base: float) -> Tensor:
    """1 / base^(2i/D) for i = 0, 1, ...: (ceil(D/2),) in float64, on the CPU."""
    if d_model < 1:
        raise ValueError(f"d_model is {d_model}, expected one feature or more.")
    if not base > 0:
        raise ValueError(f"base is {base}, expected a number above 0, such as 10000.")
    return base ** -(torch.arange(0, d_model, 2, dtype=torch.float64, device="cpu") / d_model)


def _check_even(width: int, name: str) -> None:
    if width < 2 or width % 2:
        raise ValueError(
            f"{name} is {width}, but features are turned in pairs: choose an even {name} of 2 or "
            "more."
        )


def _check_input(x: Tensor, width: int, start: int) -> None:
    if x.dim() < 2 or x.shape[-1] != width or not x.is_floating_point():
        raise ValueError(
            f"The input has the shape {tuple(x.shape)} and the dtype {x.dtype}, expected numbers "
            f"with a fraction in the shape (..., T, {width}): embeddings, queries or keys."
        )
    if start < 0:
        raise ValueError(f"start is {start}, but positions count from 0: give 0 or more.")
