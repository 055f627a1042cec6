"""Checks of lab 06: masking, a head that points, marks, a baseline that cheats, a repair."""

# The tasks are registered in this order.
from helpers.course.checks.lab06.common import lab
from helpers.course.checks.lab06.paper import by_hand, numbers
from helpers.course.checks.lab06.hiding import batch_of, hide_words
from helpers.course.checks.lab06.pointing import SpanHead, best_spans, leaderboard
from helpers.course.checks.lab06.marking import AnswerTable, marks
from helpers.course.checks.lab06.repair import Repaired, faulty
from helpers.course.predictions import predicted

score, use_variant = lab.score, lab.use_variant
