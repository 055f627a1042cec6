"""Checks of lab 05: a GPT of one's own, its optimizer, its training in a given time, its cache."""

# The tasks are registered in this order.
from helpers.course.checks.lab05.common import lab
from helpers.course.checks.lab05.paper import by_hand, numbers
from helpers.course.checks.lab05.model import GroupedAttention, ParallelBlock
from helpers.course.checks.lab05.windows import pack
from helpers.course.checks.lab05.optimizer import AdamW
from helpers.course.checks.lab05.repair import Repaired
from helpers.course.checks.lab05.training import train
from helpers.course.checks.lab05.entry import entry, leaderboard
from helpers.course.checks.lab05.writing import write
from helpers.course.predictions import predicted

score, use_variant = lab.score, lab.use_variant
