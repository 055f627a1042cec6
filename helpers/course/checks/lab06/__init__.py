"""Checks of lab 06: whole words, a head that points, a baseline that cheats, chance, a repair."""

# The tasks are registered in this order.
from helpers.course.checks.lab06.common import lab
from helpers.course.checks.lab06.hiding import choose_words
from helpers.course.checks.lab06.pointing import SpanHead, best_spans
from helpers.course.checks.lab06.cheating import AnswerTable, by_chance
from helpers.course.checks.lab06.repair import Repaired, faulty
from helpers.course.predictions import predicted

score, use_variant = lab.score, lab.use_variant
