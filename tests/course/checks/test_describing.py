"""Values in words."""

import pytest
import torch

from helpers.course.checks.describing import describe


@pytest.mark.parametrize(
    "value", ["x" * 5000, list(range(5000)), torch.zeros(100, 100), {str(i): i for i in range(999)}]
)
def test_descriptions_are_short(value):
    if not isinstance(value, str):  # text is written by the checks themselves
        assert len(describe(value)) < 300
