"""Run by every kernel of these tests: what is trained is trained for a few steps only.

The browser's tests are about widgets in a page, not about what a model has learned: nbval executes
the same notebooks as they are. So ``Training`` ends after a few steps, and what the lesson claims
of its result is not asserted.
"""

import ast
import sys

STEPS = 4


class WithoutAssertions(ast.NodeTransformer):
    """A cell's source without its assert statements."""

    def visit_Assert(self, node):
        return ast.copy_location(ast.Pass(), node)


def shorten(*_):
    """Give ``Training`` an end after a few steps, once a cell has imported it."""
    module = sys.modules.get("helpers.learning.training")
    if module is None or hasattr(module.Training, "as_written"):
        return
    as_written = module.Training.__init__

    def init(self, model, batches, steps, *arguments, **named):
        as_written(self, model, batches, steps, *arguments, **named)
        self.steps = min(self.steps, STEPS)

    module.Training.__init__, module.Training.as_written = init, as_written


get_ipython().ast_transformers.append(WithoutAssertions())  # noqa: F821
get_ipython().events.register("post_run_cell", shorten)  # noqa: F821
