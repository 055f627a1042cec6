"""Ids out of range are refused wherever a text is read, where there are numbers to look at."""

import numpy as np
import pytest
import torch

from helpers.token_ids import check_ids, check_range

COMPLAINT = "from {low} to {high}, expected 0 to {last}"


@pytest.mark.parametrize(
    "ids", [[1, 5], torch.tensor([[5], [1]]), np.array([1, 5]), torch.tensor([5, 1]).short()]
)
def test_the_sentence_names_the_ends_of_both_ranges(ids):
    check_range(ids, 6, COMPLAINT)
    with pytest.raises(ValueError, match=r"^from 1 to 5, expected 0 to 4$"):
        check_range(ids, 5, COMPLAINT)


def test_negative_ids_are_out_of_range_and_no_ids_are_not():
    with pytest.raises(ValueError, match="from -1 to 0"):
        check_range([0, -1], 5, COMPLAINT)
    check_range([], 0, COMPLAINT)
    check_range(torch.empty(0, 3, dtype=torch.long), 5, COMPLAINT)


def test_where_there_are_no_numbers_the_shape_alone_is_checked():
    check_ids(torch.zeros(2, 3, dtype=torch.long, device="meta"), 5)
    with pytest.raises(ValueError, match=r"the shape \(3,\)"):
        check_ids(torch.zeros(3, dtype=torch.long, device="meta"), 5)


def test_a_compiled_program_stays_in_one_piece():
    @torch.compile(fullgraph=True, backend="eager")
    def doubled(tokens):
        check_ids(tokens, 5, "the padding")
        return 2 * tokens

    assert doubled(torch.tensor([[9]])).tolist() == [[18]]
