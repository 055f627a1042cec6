"""Run by every kernel of these tests: what is trained is trained for a few steps only.

The browser's tests are about widgets in a page, not about what a model has learned: nbval executes
the same notebooks as they are. So ``Training`` ends after a few steps, and what the lesson claims
of its result is not asserted.
"""


def _shorten_trainings(shell, steps):
    # All names stand in here: those of this file are the notebook's, which may take them.
    import ast
    import sys

    class WithoutAssertions(ast.NodeTransformer):
        def visit_Assert(self, node):
            return ast.copy_location(ast.Pass(), node)

    def after_a_cell(*_):
        """Change ``Training`` once a cell has imported it."""
        module = sys.modules.get("helpers.learning.training")
        if module is None or hasattr(module.Training, "as_written"):
            return
        as_written = module.Training.__init__

        def init(self, *arguments, **named):
            as_written(self, *arguments, **named)
            self.steps = min(self.steps, steps)

        module.Training.__init__, module.Training.as_written = init, as_written

    shell.ast_transformers.append(WithoutAssertions())
    shell.events.register("post_run_cell", after_a_cell)


_shorten_trainings(get_ipython(), 4)  # noqa: F821
