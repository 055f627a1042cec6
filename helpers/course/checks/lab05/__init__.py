"""Checks of lab 05: a GPT of one's own, its optimizer, its gradients, its writer."""

# The tasks are registered in this order.
from helpers.course.checks.lab05.common import lab
from helpers.course.checks.lab05.model import GroupedAttention, ParallelBlock
from helpers.course.checks.lab05.windows import pack
from helpers.course.checks.lab05.optimizer import AdamW
from helpers.course.checks.lab05.parts import gradients
from helpers.course.checks.lab05.writer import Repaired
from helpers.course.checks.lab05.stretch import leaderboard
from helpers.course.predictions import predicted

score, use_variant = lab.score, lab.use_variant
