"""Distributions over the next token before and after a decoding rule, and speculative rounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch, Patch

from helpers.display import palette
from helpers.display.signs import visible

_LETTER = 7.9  # the width in points of a monospaced letter of 13 points
# status of a token -> (words, sign, fill, edge, ink, line style)
STATUSES = {
    "accepted": ("draft, accepted", "✓", *palette.GREEN_BOX, "-"),
    "rejected": ("draft, rejected", "✗", *palette.VERMILION_BOX, "--"),
    "discarded": ("draft, discarded with it", "–", *palette.GREY_BOX, ":"),
    "target": ("the target's own", "★", *palette.BLUE_BOX, "-"),
}


def next_token_bars(
    before: Any,
    after: Any,
    labels: Sequence[str],
    *,
    top: int = 20,
    high: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The likeliest next tokens: wide pale bars before a decoding rule, narrow ones after it.

    Tokens stand in the order of ``before``; those that the rule removed are hatched in grey, and
    one last bar holds all others. A line above the plot says how many tokens were kept and which
    share of the probability they held.

    Args:
        before, after: (V,) probabilities (not their logarithms) of the next token.
        labels: V tokens as strings; spaces, line breaks and tabs are made visible.
        high: the least top of the axis, where plots are to be compared. The axis always holds the
            single tokens; a last bar that is higher is cut off and says its value.

    Raises:
        ValueError: if the parts differ in length, or one is no distribution.
    """
    before, after = _distribution(before, "before"), _distribution(after, "after")
    kept = after > 0
    if not len(before) == len(after) == len(labels):
        raise ValueError(
            f"before has {len(before)} probabilities, after {len(after)} and labels {len(labels)}: "
            "give one of each per token."
        )
    order = np.argsort(-before, kind="stable")
    first, rest = order[:top], order[top:]
    places = np.arange(len(first) + bool(len(rest)))
    parts = (np.where(kept, before, 0.0), np.where(kept, 0.0, before), after)
    stays, gone, new = (np.append(p[first], p[rest].sum())[: len(places)] for p in parts)
    high = max(1.12 * max(before[first].max(), after[first].max()), high or 0.0)
    ax = plt.subplots(figsize=(10.0, 4.8))[1] if ax is None else ax
    pale = {"fc": palette.PALE_BLUE, "ec": palette.FRAME, "lw": 0.6}
    removed = {"fc": palette.LIGHT, "ec": palette.FRAME, "lw": 0.6, "hatch": "///"}
    ax.bar(places, stays, 0.86, **pale)
    cut = gone > 0
    ax.bar(places[cut], gone[cut], 0.86, bottom=stays[cut], **removed)
    ax.bar(places, new, 0.44, color=palette.BLUE)
    _axis_of_tokens(ax, [visible(labels[i]) for i in first], len(rest))
    if len(rest):
        ax.axvline(len(first) - 0.5, color=palette.GREY, lw=1, ls=":", marker="")
        _cut_off(ax, len(first), stays[-1] + gone[-1], new[-1], high)
    handles = [Patch(**pale, label="before"), Patch(fc=palette.BLUE, label="after")]
    share = f"all {len(kept):,} tokens kept"
    if not kept.all():
        handles.append(Patch(**removed, label="removed"))
        mass = f"{before[kept].sum():.1%} of the probability"
        share = f"kept: {kept.sum():,} of {len(kept):,} tokens, with {mass}"
    # Above the axes nothing can hide a bar.
    ax.legend(handles=handles, loc="lower left", bbox_to_anchor=(-0.01, 1), ncols=3, borderpad=0.2)
    ax.set(ylim=(0, high), ylabel="probability", xlabel="next token")
    ax.set_title(share, loc="left", pad=30)
    return ax


def speculative_rounds(
    rounds: Sequence[Sequence[tuple[str, str]]],
) -> Axes:
    """Rounds of speculative decoding, one per row: what was proposed, and what became of it.

    A round is one pass of the target over the draft's tokens. Boxes differ in fill, in the line
    around them and in a sign; at the right stand the tokens that the round added to the text.

    Args:
        rounds: each a list of (token, status), in the order of the text; a status is "accepted",
            "rejected", "discarded" (proposed after a rejected token) or "target" (the target's
            own token: in place of a rejected one, or after a draft that was accepted whole).
    """
    shown = [[(visible(token), status) for token, status in row] for row in rounds]
    sizes = [[_LETTER * (len(token) + 2) + 16 for token, _ in row] for row in shown]
    width = max(640.0, 230.0 + max(sum(row) + 7 * len(row) for row in sizes))
    bottom, scale = 34.0 * len(rounds), min(1.0, 860.0 / width)
    size = (scale * width / 72, scale * (bottom + 40) / 72)
    ax = plt.figure(figsize=size, layout="none").add_axes((0, 0, 1, 1))
    look = {"va": "center", "fontsize": 13 * scale}
    for r, row in enumerate(shown):
        y, x = 34 * (r + 0.5), 76.0
        ax.text(4, y, f"round {r + 1}", **look)
        for (token, status), size in zip(row, sizes[r], strict=True):
            _token_box(ax, x, y, size, 13 * scale, token, status)
            x += size + 7
        new = sum(status in ("accepted", "target") for _, status in row)
        ax.text(x + 8, y, f"+{new} {'token' if new == 1 else 'tokens'}", color=palette.GREY, **look)
    x, found = 4.0, {status for row in rounds for _, status in row}
    for status in (name for name in STATUSES if name in found):
        words = STATUSES[status][0]
        _token_box(ax, x, bottom + 22, 26, 12 * scale, "", status)
        ax.text(x + 32, bottom + 22, words, **{**look, "fontsize": 12 * scale})
        x += 48 + 6.6 * len(words)
    ax.set(xlim=(0, width), ylim=(bottom + 40, 0))
    ax.axis("off")
    return ax


def _distribution(values: Any, name: str) -> np.ndarray:
    if hasattr(values, "detach"):  # a tensor, maybe on a GPU
        values = values.detach().cpu().double().numpy()
    p = np.asarray(values, dtype=float)
    if p.ndim != 1 or not len(p) or not (p >= 0).all() or abs(p.sum() - 1) > 1e-3:
        raise ValueError(
            f"{name} of shape {p.shape} is no distribution: give probabilities of one next token "
            "that sum to 1 (the exponential of log-probabilities)."
        )
    return p


def _axis_of_tokens(ax: Axes, names: list[str], others: int) -> None:
    names = [*names, f"{others:,}\nothers"] if others else names
    ax.set_xticks(range(len(names)), names, fontfamily="monospace")
    ax.set_xlim(-0.7, len(names) - 0.3)
    ax.grid(visible=False, axis="x")
    if max(map(len, names[: len(names) - bool(others)])) > max(1, 60 // len(names)):
        for label in ax.get_xticklabels()[: len(names) - bool(others)]:
            label.set(rotation=50, ha="right", rotation_mode="anchor")


def _cut_off(ax: Axes, place: int, before: float, after: float, high: float) -> None:
    """Write the values of the last bar where they do not fit under the top of the axis."""
    if max(before, after) <= high:
        return
    words = (
        f"{before:.2f}\n→ {after:.2f}" if round(before, 2) != round(after, 2) else f"{before:.2f}"
    )
    ax.annotate(
        f"{words}\n(cut off)",
        (place, high),
        xytext=(0, 4),
        textcoords="offset points",
        ha="center",
        va="bottom",
        fontsize=11,
        color=palette.GREY,
        annotation_clip=False,
    )


def _token_box(
    ax: Axes, x: float, y: float, width: float, size: float, token: str, status: str
) -> None:
    _, sign, fill, edge, ink, line = STATUSES[status]
    style = "round,pad=0,rounding_size=5"
    box = FancyBboxPatch((x, y - 13), width, 26, boxstyle=style, fc=fill, ec=edge, ls=line, lw=1.6)
    ax.add_patch(box)
    look = {"va": "center", "color": ink, "fontsize": size}
    of_sign = {**look, "color": ink if ink == palette.WHITE else edge}
    ax.text(x + width - 13, y, sign, ha="center", **of_sign)
    ax.text(x + 7, y, token, ha="left", fontfamily="monospace", **look)
