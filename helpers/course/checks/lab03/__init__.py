"""Checks of lab 03: a recurrent network on honest parentheses."""

# The tasks are registered in this order.
from helpers.course.checks.lab03.common import lab
from helpers.course.checks.lab03.language import draw_balanced, first_error
from helpers.course.checks.lab03.negatives import shortcut_accuracy, smallest_window, unbalance
from helpers.course.checks.lab03.network import error_by_length, last_states
from helpers.course.checks.lab03.stretch import leaderboard
from helpers.course.predictions import predicted

score, use_variant = lab.score, lab.use_variant
