"""Run by the kernels of the tests when they start: what is trained is trained for a few steps only.

Most tests of a notebook are about whether its cells run, not about what a model has learned in
them. So ``Training`` ends after a few steps, and so does a loop of the notebook's own that takes
steps with an optimizer; later in labs, and where it compares with a later step, such as 20, at
which it looks. Nobody looks at the pictures: they are made small, and drawn once, with no search
for their edges. ``make test-machines`` and ``make refresh`` do as the notebooks say.
"""


def _shorten_trainings(shell, most, looked_at):
    # All names stand in here: those of this file are the notebook's, which may take them.
    import ast
    import base64
    import builtins
    import inspect
    import io
    import itertools
    import os
    import sys

    def steps(node):
        """Whether code, but for the loops and functions in it, takes a step of a training."""
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", "")
            attribute = getattr(node.func, "attr", "")
            if attribute == "step" and not node.args:  # an optimizer's
                return True
            if attribute == "grad" and "parameters" in ast.unparse(node):  # that of notebook 05
                return True
            if name == "train_step":  # that of notebook 13
                return True
        inner = (ast.For, ast.ListComp, ast.FunctionDef)
        return any(steps(n) for n in ast.iter_child_nodes(node) if not isinstance(n, inner))

    class FewerSteps(ast.NodeTransformer):
        def visit_For(self, node):
            self.generic_visit(node)
            if any(map(steps, node.body)):
                self.shorten(node, node.body)
            return node

        def visit_ListComp(self, node):
            self.generic_visit(node)
            if steps(node.elt):
                self.shorten(node.generators[0], [node.elt])
            return node

        def visit_Call(self, node):
            self.generic_visit(node)
            name = getattr(node.func, "id", "")
            if name == "right_choices" and "judge" in ast.unparse(node):  # what 13 has trained
                few = ast.Slice(upper=ast.Constant(looked_at))
                node.args[0] = ast.Subscript(node.args[0], few, ast.Load())
            if name == "train":  # of notebook 13: a generator
                node = ast.Call(ast.Name("__few_if_steps__", ast.Load()), [node], [])
            return ast.fix_missing_locations(node)

        def shorten(self, loop, body):
            nodes = [node for part in body for node in ast.walk(part)]
            asked = [n for node in nodes if isinstance(node, ast.Compare) for n in ast.walk(node)]
            numbers = [n.value for n in asked if isinstance(n, ast.Constant)]
            later = any(isinstance(n, int) and most < n <= looked_at for n in numbers)
            later |= os.path.basename(os.getcwd()) == "labs"  # one draws means over twenty
            number = ast.Constant(looked_at if later else most)
            call = ast.Call(ast.Name("__few_steps__", ast.Load()), [loop.iter, number], [])
            loop.iter = ast.fix_missing_locations(ast.copy_location(call, loop.iter))

    def few_if_steps(value):
        return itertools.islice(value, looked_at) if inspect.isgenerator(value) else value

    builtins.__few_if_steps__ = few_if_steps
    builtins.__few_steps__ = itertools.islice

    def small_picture(figure):
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        drawn = io.BytesIO()
        figure.set_dpi(30)
        FigureCanvasAgg(figure).print_png(drawn)
        png = base64.b64encode(drawn.getvalue()).decode("ascii")
        return {"image/png": png, "text/plain": "[figure]"}

    def after_a_cell(*_):
        """Change ``figure_output`` and ``Training`` once a cell has imported them."""
        module = sys.modules.get("helpers.display.figures")
        if module is not None and module.figure_output.__module__ == module.__name__:
            module.figure_output = small_picture
        module = sys.modules.get("helpers.learning.training")
        if module is None or hasattr(module.Training, "as_written"):
            return
        as_written = module.Training.__init__

        def init(self, *arguments, **named):
            as_written(self, *arguments, **named)
            self.steps = min(self.steps, most)

        module.Training.__init__, module.Training.as_written = init, as_written

    shell.ast_transformers.append(FewerSteps())
    shell.events.register("post_run_cell", after_a_cell)


_shorten_trainings(get_ipython(), 5, 20)  # noqa: F821
