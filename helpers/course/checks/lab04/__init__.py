"""Checks of lab 04: attention, masks and positions.

Shape letters: B batch, T positions, D d_model, K width of a head, V vocabulary.
"""

# The tasks are registered in this order.
from helpers.course.checks.lab04.common import lab
from helpers.course.checks.lab04.one_head import causal_mask, masked_weights, stable_softmax
from helpers.course.checks.lab04.positions import rotate
from helpers.course.checks.lab04.probe import dependence
from helpers.course.checks.lab04.repair import MultiHead, faulty
from helpers.course.checks.lab04.blocks import attention_in_blocks
from helpers.course.checks.lab04.stretch import leaderboard
from helpers.course.predictions import predicted

score, use_variant = lab.score, lab.use_variant
