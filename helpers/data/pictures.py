"""Pictures that are drawn: capitals in noise, whose best classifier is known, and scenes in words.

Nothing is fetched: the capitals are those of the font that matplotlib brings along, drawn by
Pillow. A picture is a tensor (channels, height, width) of float32.
"""

from __future__ import annotations

from importlib.metadata import distribution

import numpy as np
import torch
from PIL import Image, ImageDraw, ImageFont
from torch import Tensor

CAPITALS = "ABEFHKLTXZ"
SIZE, NOISE = 16, 0.7  # of the pictures with capitals
COLOURS = {"red": (1.0, 0.25, 0.2), "green": (0.2, 0.8, 0.3), "blue": (0.3, 0.5, 1.0)}
SHAPES = ("square", "disc", "triangle")
RELATIONS = ("left of", "above")
_SIDE = 6  # of a shape


def capitals(letters: str = CAPITALS, side: int = 8, norm: float = 5.0) -> Tensor:
    """Each letter as a picture of its own, all of the same Euclidean norm: (C, 1, side, side).

    Args:
        letters: C different ones.
        side: pixels; a letter fills them from edge to edge in its larger dimension.
        norm: of each picture, so that no letter is louder than another.
    """
    font = distribution("matplotlib").locate_file(
        "matplotlib/mpl-data/fonts/ttf/DejaVuSans-Bold.ttf"
    )
    large = ImageFont.truetype(str(font), 20 * side)
    drawn = []
    for letter in letters:
        left, top, right, bottom = map(int, large.getbbox(letter))
        picture = Image.new("L", (right - left, bottom - top))
        ImageDraw.Draw(picture).text((-left, -top), letter, 255, font=large)
        wide, high = picture.size
        longest = max(wide, high)
        square = Image.new("L", (longest, longest))
        square.paste(picture, ((longest - wide) // 2, (longest - high) // 2))
        small = square.resize((side, side), Image.Resampling.BOX)
        drawn.append(torch.from_numpy(np.asarray(small, dtype=np.float32)))
    pictures = torch.stack(drawn)[:, None]
    return norm * pictures / pictures.flatten(1).norm(dim=1)[:, None, None, None]


def hidden_capitals(
    number: int,
    generator: torch.Generator,
    step: int | None = None,
    noise: float = NOISE,
    places: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Pictures with one of ten capitals each, somewhere, under Gaussian noise.

    Args:
        step: the capital stands at any row and column that are multiples of it, all equally likely;
            None: always in the middle.
        noise: standard deviation at each pixel.
        places: rows and columns of upper left corners, (P, 2), instead of those of ``step``.

    Returns:
        Pictures (number, 1, 16, 16), and the letters' numbers in ``CAPITALS``, (number,).
    """
    glyphs = capitals()
    side = glyphs.shape[-1]
    free = SIZE - side
    labels = torch.randint(len(glyphs), (number,), generator=generator)
    corners = torch.full((number, 2), free // 2)
    if places is not None:
        corners = places[torch.randint(len(places), (number,), generator=generator)]
    elif step is not None:
        corners = step * torch.randint(free // step + 1, (number, 2), generator=generator)
    pictures = noise * torch.randn(number, 1, SIZE, SIZE, generator=generator)
    reach = torch.arange(side)
    rows, columns = corners[:, :1] + reach, corners[:, 1:] + reach  # (number, side) each
    some = torch.arange(number)[:, None, None]
    pictures[some, 0, rows[:, :, None], columns[:, None]] += glyphs[labels, 0]
    return pictures, labels


def draw_scenes(number: int, generator: torch.Generator) -> tuple[Tensor, list[str]]:
    """Pictures of two shapes on black, and captions, "a red square left of a blue disc".

    The shape that is named first is the left or the upper one. All 162 captions are equally likely.

    Returns:
        Pictures (number, 3, 16, 16) with values from 0 to 1, and their captions.
    """
    stencils, colours = _stencils(), torch.tensor(list(COLOURS.values()))
    pictures, captions = torch.zeros(number, 3, 16, 16), []
    most = (len(COLOURS), len(SHAPES), len(COLOURS), len(SHAPES), len(RELATIONS), 2, 2, 6, 3)
    drawn = [torch.randint(m, (number,), generator=generator).tolist() for m in most]
    for picture, row in zip(pictures, zip(*drawn, strict=True), strict=True):
        c1, s1, c2, s2, relation, near, far, across, slant = row
        beside = min(max(across + slant - 1, 0), 5)
        ends = ((2 * near, 2 * across), (8 + 2 * max(near, far), 2 * beside))
        objects = []
        for (along, off), c, s in zip(ends, (c1, c2), (s1, s2), strict=True):
            top, left = (off, along) if relation == 0 else (along, off)
            part = picture[:, top : top + _SIDE, left : left + _SIDE]
            part[:, stencils[s]] = colours[c][:, None]
            objects.append(f"a {list(COLOURS)[c]} {SHAPES[s]}")
        captions.append(f"{objects[0]} {RELATIONS[relation]} {objects[1]}")
    return pictures, captions


def _stencils() -> Tensor:
    """Square, disc and triangle, True where there is colour: (3, side, side) bool."""
    y, x = torch.meshgrid(*[torch.arange(_SIDE) - (_SIDE - 1) / 2] * 2, indexing="ij")
    disc = x.square() + y.square() <= 7
    triangle = x.abs() <= (y + _SIDE / 2) / 2 + 0.1
    return torch.stack([torch.ones_like(disc), disc, triangle])
