from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

import ipywidgets
import pytest
from matplotlib import pyplot as plt

from helpers.display import widgets
from helpers.display.figures import show


@pytest.fixture
def published(monkeypatch):
    bundles = []
    monkeypatch.setattr(widgets, "publish", bundles.append)
    return bundles


@pytest.fixture
def _driven(monkeypatch):
    monkeypatch.setenv("COURSE_DRIVE_WIDGETS", "1")


@pytest.fixture(autouse=True)
def _not_driven(monkeypatch):
    monkeypatch.delenv("COURSE_DRIVE_WIDGETS", raising=False)
    monkeypatch.delenv("COURSE_STORE_FIRST_STATE", raising=False)


@pytest.fixture
def _stored(monkeypatch):
    monkeypatch.setenv("COURSE_STORE_FIRST_STATE", "1")


def test_controls_report_when_they_are_let_go():
    whole = widgets.slider(3, 1, 6, label="n")
    fine = widgets.slider(1.0, 0.1, 2, 0.1)
    assert isinstance(whole, ipywidgets.IntSlider)
    assert isinstance(fine, ipywidgets.FloatSlider)
    for control in (whole, fine, widgets.text_box("abc", "begins with")):
        assert control.continuous_update is False
    assert widgets.choice([("one", 1), ("two", 2)], label="which").value == 1
    assert widgets.choice(["a", "b"], "b").value == "b"


@pytest.mark.parametrize("numbers", [(7, 1, 6, 1), (0, 1, 6, 1), (1, 6, 1, 1), (1, 1, 6, 0)])
def test_a_slider_refuses_a_bad_range(numbers):
    with pytest.raises(ValueError, match="minimum <= value <= maximum"):
        widgets.slider(*numbers)


def test_extreme_values_reach_every_end():
    controls = {
        "n": widgets.slider(3, 1, 6),
        "kind": widgets.choice([("letters", "l"), ("words", "w")]),
        "smooth": ipywidgets.Checkbox(value=False),
        "text": widgets.text_box("once"),
    }
    start = {"n": 3, "kind": "l", "smooth": False, "text": "once"}
    settings = widgets.extreme_values(controls)
    assert settings == [
        {"n": 1, "kind": "l", "smooth": False, "text": ""},
        {"n": 6, "kind": "w", "smooth": True, "text": "once"},
        {"n": 1, "kind": "w", "smooth": False, "text": "once"},
        {"n": 6, "kind": "l", "smooth": True, "text": ""},
    ]
    assert {name: control.value for name, control in controls.items()} == start


def test_explore_calls_now_and_at_each_change(published):
    seen = []
    n = widgets.slider(3, 1, 6)
    widgets.explore(lambda n, text: seen.append((n, text)), n=n, text=widgets.text_box("a"))
    assert seen == [(3, "a")]
    n.value = 5
    assert seen == [(3, "a"), (5, "a")]
    assert len(published) == 1


def test_one_output_holds_the_widget_and_words(published):
    widgets.explore(lambda n: None, description="Turn **n**.", n=widgets.slider(3, 1, 6))
    (bundle,) = published
    assert set(bundle) == {"text/plain", "text/markdown", widgets.WIDGET_VIEW}
    assert bundle["text/markdown"] == f"Turn **n**. *{widgets.RUN_ME}*"
    assert bundle["text/plain"] == f"Turn n. {widgets.RUN_ME}"
    view = bundle[widgets.WIDGET_VIEW]
    assert view["version_major"] == 2
    assert view["model_id"]


def test_on_colab_the_output_is_what_ipywidgets_would_send(published, monkeypatch):
    monkeypatch.setitem(widgets.sys.modules, "google.colab", object())
    widgets.explore(lambda n: None, n=widgets.slider(3, 1, 6))
    assert set(published[0]) == {"text/plain", widgets.WIDGET_VIEW}


@pytest.mark.usefixtures("_driven")
def test_driving_tries_all_ends_out_of_sight(published, capsys):
    seen = []

    def function(n):
        seen.append(n)
        plt.figure()
        if len(seen) <= 2:
            print("out of sight")

    kept = plt.figure()
    widgets.explore(function, n=widgets.slider(3, 1, 6))
    assert seen == [1, 6, 3]
    assert "out of sight" not in capsys.readouterr().out
    assert plt.fignum_exists(kept.number)
    assert len(plt.get_fignums()) == 2
    plt.close("all")


@pytest.mark.usefixtures("_driven")
def test_driving_names_the_setting_that_fails(published):
    def fails_at_six(n, k):
        plt.figure()
        assert n < 6, "too deep"

    with pytest.raises(RuntimeError, match="fails at n=6, k=2: AssertionError: too deep"):
        widgets.explore(fails_at_six, n=widgets.slider(3, 1, 6), k=widgets.slider(1, 1, 2))
    assert not plt.get_fignums()
    assert not published


@pytest.mark.usefixtures("_driven")
def test_driving_draws_what_is_shown(published):
    def shows_a_broken_formula(n):
        figure = plt.figure()
        figure.text(0, 0, "$x$" if n < 6 else r"$\frac$")
        show(figure, "A formula.")

    with pytest.raises(RuntimeError, match="fails at n=6: ValueError"):
        widgets.explore(shows_a_broken_formula, n=widgets.slider(3, 1, 6))
    assert not plt.get_fignums()


@contextmanager
def captured():
    """What IPython catches in a kernel of a function that displays a picture, and prints."""
    picture = SimpleNamespace(data={"image/png": b"picture", "text/plain": "[figure]"})
    words = SimpleNamespace(data={"text/markdown": "**Figure.** A line."})
    yield SimpleNamespace(outputs=[picture, words], stdout="n is 3\n")


def test_the_first_state_is_what_the_function_shows(monkeypatch):
    monkeypatch.setattr(widgets, "capture_output", captured)
    seen, kept = [], plt.figure()

    def function(n):
        seen.append(n)
        plt.figure()

    assert widgets.first_state(function, {"n": widgets.slider(3, 1, 6)}) == [
        {"text/plain": "n is 3\n"},
        {"image/png": "cGljdHVyZQ==", "text/plain": "[figure]"},  # as in a notebook's file
        {"text/markdown": "**Figure.** A line."},
    ]
    assert seen == [3]
    assert plt.get_fignums() == [kept.number]
    plt.close(kept)


@pytest.mark.usefixtures("_stored")
def test_explore_brings_its_first_state_where_it_is_stored(published):
    assert widgets.storing()
    n = widgets.slider(3, 1, 6)
    widgets.explore(lambda n: print("n is", n), n=n)
    (bundle,) = published
    assert bundle[widgets.FIRST_STATE] == [{"text/plain": "n is 3\n"}]
    assert n.value == 3


def test_a_student_s_run_stores_no_first_state(published):
    assert not widgets.storing()
    widgets.explore(lambda n: print(n), n=widgets.slider(3, 1, 6))
    assert widgets.FIRST_STATE not in published[0]
