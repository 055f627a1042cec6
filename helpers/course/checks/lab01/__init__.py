"""Checks of lab 01: n-grams, smoothing and perplexity."""

# The tasks are registered in this order.
from helpers.course.checks.lab01.common import lab
from helpers.course.checks.lab01.counting import maximum_likelihood, perplexity
from helpers.course.checks.lab01.paper import by_hand, by_hand_text, numbers
from helpers.course.checks.lab01.smoothing import add_k, interpolate
from helpers.course.checks.lab01.measuring import bits_per_character, sample_text
from helpers.course.checks.lab01.models import choose, continuations, kneser_ney
from helpers.course.checks.lab01.stretch import leaderboard
from helpers.course.predictions import predicted

score, use_variant = lab.score, lab.use_variant
