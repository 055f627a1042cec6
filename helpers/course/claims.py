"""What a notebook claims is checked by the tests, and never in front of a student.

A cell with the tag ``claims`` holds the asserts of a section. It is folded, and asleep for whoever
runs the notebook, so that a number may be changed without an AssertionError::

    # @title Claims of this section, checked by the tests
    if claims_are_checked():
        assert best_n == 9
"""

from __future__ import annotations

import os

VARIABLE = "COURSE_CHECK_CLAIMS"
CHECKED = "The claims of this cell are checked."


def claims_are_checked() -> bool:
    """Whether this is a run of the tests (COURSE_CHECK_CLAIMS=1), which then also says so.

    The words are looked for by the tests: a cell of claims that does not get here fails them.
    """
    if os.environ.get(VARIABLE) != "1":
        return False
    print(CHECKED)
    return True
