"""Checks of lab 03: a recurrent network on honest parentheses."""

# isort: off
# The tasks are registered in this order.
from helpers.course.checks.lab03.language import (
    balanced,
    by_hand,
    by_hand_numbers,
    draw_balanced,
    lab,
)
from helpers.course.checks.lab03.negatives import shortcut_accuracy, unbalance
from helpers.course.checks.lab03.network import ElmanCell, backward_through_time, last_states
from helpers.course.checks.lab03.training import error_by_length, fit
from helpers.course.checks.lab03.stretch import leaderboard
# isort: on

score, use_variant = lab.score, lab.use_variant

__all__ = [  # what a notebook uses
    "ElmanCell",
    "backward_through_time",
    "balanced",
    "by_hand",
    "by_hand_numbers",
    "draw_balanced",
    "error_by_length",
    "fit",
    "lab",
    "last_states",
    "leaderboard",
    "score",
    "shortcut_accuracy",
    "unbalance",
    "use_variant",
]
