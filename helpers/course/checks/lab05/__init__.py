"""Checks of lab 05: a GPT, its training loop, and a sampler with a cache."""

# The tasks are registered in this order.
from helpers.course.checks.lab05.common import lab
from helpers.course.checks.lab05.paper import by_hand, numbers
from helpers.course.checks.lab05.block import Block, Norm
from helpers.course.checks.lab05.gpt import GPT
from helpers.course.checks.lab05.loss import bits_per_byte, lm_loss, make_batch
from helpers.course.checks.lab05.training import rate, train
from helpers.course.checks.lab05.filters import top_k, top_p
from helpers.course.checks.lab05.cache import attend_new, read_token
from helpers.course.checks.lab05.writing import write
from helpers.course.checks.lab05.stretch import leaderboard

score, use_variant = lab.score, lab.use_variant
