"""Checks of lab 04: attention, masks and positions.

Shape letters: B batch, T positions, D d_model, K width of a head, V vocabulary.
"""

# The tasks are registered in this order.
from helpers.course.checks.lab04.common import lab
from helpers.course.checks.lab04.paper import by_hand, numbers
from helpers.course.checks.lab04.one_head import (
    attention,
    causal_mask,
    masked_attention,
    stable_softmax,
)
from helpers.course.checks.lab04.heads import MultiHead, merge_heads, split_heads
from helpers.course.checks.lab04.positions import order_gap, rotate, sinusoidal_table
from helpers.course.checks.lab04.stretch import leaderboard

score, use_variant = lab.score, lab.use_variant
