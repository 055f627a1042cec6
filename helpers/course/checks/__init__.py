"""Checks of tasks, by notebook and lab: ``from helpers.course.checks import lab01 as check``.

``mle = check.mle(mle)`` tries an answer and says what property failed, on which input, what was
expected, and where to read on. It hands back the answer if all is well, and otherwise the course's
own, so that the rest of the notebook still runs.
"""
