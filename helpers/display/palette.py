"""The course's colours: no other module of display, and no notebook, writes one as a number."""

from __future__ import annotations

from typing import Any

# Okabe and Ito (2008), "Color Universal Design"; yellow is left out, it fades on a projector.
BLUE, VERMILION, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#CC79A7"
BLACK, ORANGE, SKY_BLUE = "#000000", "#E69F00", "#56B4E9"
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, BLACK, ORANGE, SKY_BLUE)  # of curves, in this order

# Greys, from dark to light: lines and letters of drawings, words, frames, thin lines, grounds.
INK, GREY, FRAME, THIN = "#222222", "#595959", "#888888", "#BBBBBB"
LIGHT, LIGHTEST, WHITE = "#DDDDDD", "#F2F2F2", "#FFFFFF"
# How a patch is drawn where there is no value.
HATCHED: dict[str, Any] = {"fc": LIGHTEST, "ec": FRAME, "hatch": "////", "lw": 0}

# For letters; for areas; behind letters.
DARK_BLUE, BROWN = "#004B75", "#7A3600"
PALE_BLUE = "#9CC3DE"
PALEST_BLUE = "#DCEBF5"

# Boxes of tokens, each (ground, edge, ink).
GREEN_BOX, VERMILION_BOX = ("#CFE8DF", "#006B4F", BLACK), ("#FBE3D3", "#B34700", BLACK)
GREY_BOX, BLUE_BOX = (LIGHTEST, FRAME, GREY), (DARK_BLUE, DARK_BLUE, WHITE)
# Grounds of neighbouring tokens, told apart in grey too.
NEIGHBOURS = ("#FFF3CC", "#CFE3F5")
# Five steps from light to dark, so that the order is seen in grey and by colour-blind people.
STEPS = ("#FFFFE0", "#CDEBB5", "#7ECDBB", "#2A7FB8", "#0B1F5C")
