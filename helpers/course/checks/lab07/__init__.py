"""Checks of lab 07: a plan on paper, packed maps, LoRA, a merge, a broken loop, a budget."""

# The tasks are registered in this order.
from helpers.course.checks.lab07.common import lab
from helpers.course.checks.lab07.paper import by_hand, numbers
from helpers.course.checks.lab07.packing import Packed
from helpers.course.checks.lab07.adapters import LoRA, plain_state
from helpers.course.checks.lab07.tuner import Repaired
from helpers.course.checks.lab07.budget import cost, leaderboard, outcome, plan, takes
from helpers.course.predictions import predicted

score, use_variant = lab.score, lab.use_variant
