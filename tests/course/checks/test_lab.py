"""What a lab says to the student, what it hands back, and what counts when it is marked."""

import pytest
import torch

from helpers.course.checks.lab import Lab, NotSolved, announce, on_leaderboard, seed_of
from helpers.course.checks.trial import Complaint, NotAttempted
from helpers.data import parentheses
from helpers.data.bpe import BPETokenizer
from helpers.display import plotting
from helpers.models.ngram import AddK

TOKENIZER = BPETokenizer([])


@pytest.fixture
def lab():
    lab = Lab("lab99", shows=[parentheses.text, BPETokenizer.decode])

    def fallback(x):
        return 2 * x

    @lab.task(fallback, without=["relu"])
    def double(trial):
        for _ in range(3):
            x = trial.integer(1, 100)
            trial.equals(trial.call(x), 2 * x, "twice the number", "Add it to itself.", given=x)

    return lab


def answer(source, name="double"):
    """A function as a notebook's cell would define it."""
    namespace = {"__name__": "__main__", "torch": torch, "AddK": AddK, "plotting": plotting}
    namespace |= {"parentheses": parentheses, "text": parentheses.text, "tokenizer": TOKENIZER}
    exec(source, namespace)
    return namespace[name]


RIGHT = "def double(x): return x + x"
WRONG = "def double(x): return x * x"
BLANK = "def double(x): raise NotImplementedError"


def test_a_right_answer_comes_back(lab, capsys):
    mine = answer(RIGHT)
    assert lab.tasks["double"](mine) is mine
    assert capsys.readouterr().out == "✓ double: twice the number.\n"


def test_a_wrong_answer_is_told_why_and_replaced(lab, capsys):
    task = lab.tasks["double"]
    assert task(answer(WRONG)) is task.fallback
    said = capsys.readouterr().out
    assert said.startswith("✗ double: this does not hold: twice the number.")
    assert "expected" in said
    assert "Add it to itself." in said
    assert "Later cells use the course's own version." in said


@pytest.mark.parametrize("mine", [None, ..., answer(BLANK)])
def test_a_blank_is_told_as_such_and_replaced(lab, capsys, mine):
    task = lab.tasks["double"]
    assert task(mine) is task.fallback
    assert capsys.readouterr().out.startswith("○ double: not attempted yet.")


def test_the_fallback_is_no_answer(lab, capsys):
    task = lab.tasks["double"]
    task(answer(BLANK))
    task(task.fallback)
    assert "the course's own version. Run the cell with your answer" in capsys.readouterr().out
    with pytest.raises(NotSolved, match="not attempted"):
        lab.score("double", seed=0)


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("def double(x): return torch.relu(x)", "relu"),
        ("def double(x): return AddK", "AddK"),
        (
            "def double(x):\n    from helpers.models import ngram\n    return 2 * x",
            "helpers.models",
        ),
        ("double = AddK", "AddK"),
        ("class double(AddK): pass", "AddK"),
        ("def double(x): return [AddK for _ in range(2)]", "AddK"),
        ("def double(x): return parentheses.count_shapes(2 * x)", "parentheses"),
        ("def double(x): return getattr(parentheses, 'text') and 2 * x", "parentheses"),
        ("def double(x): return len(tokenizer.encode('a' * 2 * x))", "tokenizer"),
        ("def double(x): return tokenizer and tokenizer.decode and 2 * x", "tokenizer"),
    ],
)
def test_borrowed_work_is_noticed(lab, source, named):
    verdict = lab.tasks["double"].judge(answer(source))
    assert not verdict.right
    assert named in verdict.complaint.rule
    assert named in verdict.complaint.hint


@pytest.mark.parametrize(
    "looks",
    [
        "print(parentheses.text([0, 9]))",
        "print(f'{text([0, 9])} of {x}')",
        "print([tokenizer.decode([65 + i]) for i in range(3)])",
        "show = plotting.bars if x < 0 else print",
        "from helpers.display.figures import say",
    ],
)
def test_an_answer_may_look_at_what_it_does(lab, looks):
    verdict = lab.tasks["double"].judge(answer(f"def double(x):\n    {looks}\n    return 2 * x"))
    assert verdict.right, verdict.words("double")


def test_other_tasks_fallbacks_may_be_used(lab):
    @lab.task(lambda x: x)
    def again(trial):
        trial.equals(trial.call(2), 4, "twice", "")

    namespace = {"__name__": "__main__", "double": lab.tasks["double"].fallback}
    exec("def again(x): return double(x)", namespace)
    assert again.judge(namespace["again"]).right


def test_only_right_answers_score(lab, capsys):
    task = lab.tasks["double"]
    task(answer(RIGHT))
    lab.score("double", seed=1)
    with pytest.raises(NotSolved, match="not attempted"):  # an answer counts once
        lab.score("double", seed=1)
    task(answer(WRONG))
    with pytest.raises(NotSolved) as caught:
        lab.score("double", seed=1)
    words = str(caught.value)
    assert "twice the number" in words
    assert "expected" not in words
    assert "input" not in words
    assert caught.value._render_traceback_() == [words]


def test_an_answer_made_for_the_shown_inputs_does_not_score(lab):
    task = lab.tasks["double"]
    known = {}

    def learn(x):
        known[x] = 2 * x
        return 2 * x

    task.judge(learn)  # the inputs of the visible check
    mine = answer("def double(x): return known.get(x, 0)")
    mine.__globals__["known"] = dict(known)
    assert task(mine) is mine
    with pytest.raises(NotSolved):
        lab.score("double", seed=1)


def test_variants_give_other_numbers_and_the_same_again(lab):
    def numbers(variant):
        lab.use_variant(variant)
        return torch.rand(3, generator=lab.generator("a")).tolist()

    assert numbers(0) == numbers(0) != numbers(1)


def test_seeds_depend_on_every_part():
    assert len({seed_of("a", 1), seed_of("a", 2), seed_of("b", 1), seed_of("a", 1, 0)}) == 4
    assert 0 <= seed_of("x") < 2**63
    assert seed_of("lab01", 0) == seed_of("lab01", 0)


def test_a_number_for_the_leaderboard_is_shown(capsys):
    announce(1.5, "bits per character")
    assert capsys.readouterr().out == "Leaderboard: 1.5000 bits per character.\n"


def test_a_value_that_cannot_be_compared_is_a_complaint(lab):
    class Odd:
        def __repr__(self):
            raise RuntimeError

        __eq__ = __repr__

    @lab.task(lambda x: x)
    def same(trial):
        value = trial.call(1)
        trial.holds(value.upper() == "A", "it is an A", "Think.")

    for value, named in ((7, "int: 7 ("), (Odd(), "Odd (")):
        words = lab.tasks["same"].judge(lambda x, value=value: value).words("same")
        assert "it hands back what the task asks for" in words
        assert f"{named}comparing it ended with AttributeError)" in words


def test_the_stretch_task_says_why_there_is_no_number(capsys):
    @on_leaderboard("bits")
    def leaderboard(what):
        if isinstance(what, Exception):
            raise what
        return what

    for what, said in (
        (0.5, "Leaderboard: 0.5000 bits."),
        (NotAttempted(), "○ The stretch task is not attempted yet."),
        (Complaint("it is fast", "Think.", got="9 s"), "does not hold: it is fast (9 s). Think."),
        (KeyError("a"), "not the form that the docstring asks for (KeyError: 'a')."),
    ):
        leaderboard(what)
        assert said in capsys.readouterr().out


BLANKS = [
    "...",
    "pass",
    "return None",
    "return ...",
    "'What to do.'",
    "'What to do.'\n    ...",
    "y = ...\n    return 2 * y",
    "y = 2 * x\n    z = ...\n    return y",
    "y = ...\n    z = 2 * y\n    return z",
    "y, z = ...\n    return y",
    "y, z = ..., ...\n    return y",
    "y = z = ...\n    return y",
    "if x:\n        y = ...\n    return x",
    "for y in x:\n        z = ...",
    "z = ...\n    return lambda: z",
]
NO_BLANKS = [
    "return 2 * x",
    "return x[..., 0]",
    "y = x[...]\n    return y",
    "x[...] = 0\n    return x",
    "return x is ...",
    "y = (..., 0)\n    return x[y]",
    "return print(...)",
    "if x:\n        return None\n    return x",
    "print(x)",
    "for y in x:\n        pass",
    "def inner(y):\n        ...\n    return 2 * x",
    "x.append(1)",
]


def method(source):
    """The same as the only method of a class."""
    return answer("class double:\n    " + source.replace("\n", "\n    "))


@pytest.mark.parametrize("make", [answer, method])
@pytest.mark.parametrize("body", BLANKS)
def test_three_dots_are_a_blank(lab, capsys, body, make):
    task = lab.tasks["double"]
    assert task(make(f"def double(x):\n    {body}")) is task.fallback
    assert capsys.readouterr().out.startswith("○ double: not attempted yet.")


@pytest.mark.parametrize("make", [answer, method])
@pytest.mark.parametrize("body", NO_BLANKS)
def test_what_was_written_is_no_blank(lab, body, make):
    assert lab.tasks["double"].judge(make(f"def double(x):\n    {body}")).attempted


@pytest.mark.parametrize("mine", [5, "a", [1], len, object(), torch.nn.Linear])
def test_what_is_no_function_of_a_student_s_is_no_blank(lab, mine):
    assert lab.tasks["double"].judge(mine).attempted
