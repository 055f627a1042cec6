"""Checks of lab 02: byte-pair encoding and WordPiece."""

# The tasks are registered in this order.
from helpers.course.checks.lab02.common import lab
from helpers.course.checks.lab02.paper import by_hand, by_hand_text, numbers
from helpers.course.checks.lab02.training import (
    PATTERN,
    count_pairs,
    merge,
    split_words,
    train_merges,
)
from helpers.course.checks.lab02.coding import decode, encode_word, measure, token_bytes, wordpiece
from helpers.course.checks.lab02.stretch import leaderboard

score, use_variant = lab.score, lab.use_variant
