"""Checks of lab 02: byte-pair encoding, from bytes to special tokens, and WordPiece."""

# The tasks are registered in this order.
from helpers.course.checks.lab02.common import lab
from helpers.course.checks.lab02.paper import by_hand, by_hand_text, numbers
from helpers.course.checks.lab02.words import split_words
from helpers.course.checks.lab02.speed import train_quickly
from helpers.course.checks.lab02.coding import token_bytes
from helpers.course.checks.lab02.special import encode_text
from helpers.course.checks.lab02.measuring import measure, wordpiece
from helpers.course.checks.lab02.stretch import leaderboard
from helpers.course.predictions import predicted

score, use_variant = lab.score, lab.use_variant
