"""Checks of lab 01: n-grams, smoothing and perplexity."""

# isort: off
# The tasks are registered in this order.
from helpers.course.checks.lab01.common import lab
from helpers.course.checks.lab01.counting import (
    by_hand,
    by_hand_text,
    count_ngrams,
    maximum_likelihood,
    perplexity,
)
from helpers.course.checks.lab01.smoothing import add_k, interpolate
from helpers.course.checks.lab01.measuring import bits_per_character, sample_text
from helpers.course.checks.lab01.models import choose, kneser_ney
from helpers.course.checks.lab01.stretch import leaderboard
# isort: on

score, use_variant = lab.score, lab.use_variant

__all__ = [  # what a notebook uses
    "add_k",
    "bits_per_character",
    "by_hand",
    "by_hand_text",
    "choose",
    "count_ngrams",
    "interpolate",
    "kneser_ney",
    "lab",
    "leaderboard",
    "maximum_likelihood",
    "perplexity",
    "sample_text",
    "score",
    "use_variant",
]
