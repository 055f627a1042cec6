"""Checks of lab 08: answers in a batch, a reward from pairs, advantages, DPO, a broken loop."""

# The tasks are registered in this order.
from helpers.course.checks.lab08.common import lab
from helpers.course.checks.lab08.paper import numbers, three_answers
from helpers.course.checks.lab08.answers import answer_log_probs
from helpers.course.checks.lab08.rewards import fit_reward, group_advantages, dpo_gradients
from helpers.course.checks.lab08.loop import Repaired
from helpers.course.predictions import predicted

score, use_variant = lab.score, lab.use_variant
