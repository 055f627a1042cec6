from __future__ import annotations

from dataclasses import dataclass

import pytest

from helpers.display import live


@dataclass(frozen=True)
class Record:
    step: int
    loss: float
    tokens: int
    validation: float | None = None


def records(steps, closed=None):
    try:
        for step in range(1, steps + 1):
            validation = 1.0 if step % 5 == 0 else None
            yield Record(step, 2.0, 10 * step, validation)
    finally:
        if closed is not None:
            closed.append(True)


def test_records_are_handed_on_and_words_are_left_without_ipython(capsys):
    watched = list(live.watch(records(10), total=10, caption="A run."))
    assert watched == list(records(10))
    out, err = capsys.readouterr()
    assert err == ""
    last = out.rstrip().splitlines()[-1]
    assert "Figure. A run. Training loss over 10 steps and 100 tokens" in last
    assert "the last loss is 2.000 nats per token, validation stands at 1.000 nats" in last


def test_the_caption_names_what_was_counted(capsys):
    list(live.watch(records(4), ylabel="nats per pair", unit="scores"))
    assert "over 4 steps and 40 scores: " in capsys.readouterr().out


def test_stopping_early_keeps_what_was_seen(capsys):
    for record in live.watch(records(10)):
        if record.step == 3:
            break
    assert "over 3 steps" in capsys.readouterr().out


def test_an_interrupted_run_keeps_what_was_seen(capsys):
    def interrupted():
        yield from records(4)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(live.watch(interrupted()))
    assert "over 4 steps" in capsys.readouterr().out


def test_no_records_at_all(capsys):
    assert list(live.watch(records(0))) == []
    assert "No step" in capsys.readouterr().out


def test_no_figure_stands_in_the_place_of_a_curve_that_has_ended(monkeypatch, capsys):
    bundles = []
    monkeypatch.setattr(live, "get_ipython", object)
    monkeypatch.setattr(live, "publish", lambda bundle, **options: bundles.append(bundle))
    assert list(live.watch(records(0))) == []
    assert bundles == []
    assert "come to its end before" in capsys.readouterr().out


def test_a_front_end_without_display_handles_gets_the_figure_at_the_end(monkeypatch):
    bundles = []
    monkeypatch.setattr(live, "get_ipython", object)
    monkeypatch.setattr(live, "publish", lambda bundle, **options: bundles.append(bundle))
    assert len(list(live.watch(records(6), every_seconds=0))) == 6
    assert "image/png" in bundles[-2]
    assert bundles[-1]["text/markdown"].startswith("**Figure.** Training loss over 6 steps")
    assert len(bundles) == 3  # the first step's figure, which could not be replaced


def test_the_curve_shows_losses_validation_and_floor():
    curve = live.LiveCurve(floor={"source": 1.2}, total=20)
    for record in records(12):
        curve.add(record)
    (ax,) = curve.draw().axes
    raw, mean, validation, floor = ax.get_lines()
    assert list(raw.get_xdata()) == list(range(1, 13))
    assert list(mean.get_ydata()) == pytest.approx([2.0] * 12)
    assert list(validation.get_xdata()) == [5, 10]
    assert floor.get_ydata()[0] == 1.2
    assert ax.get_xlim() == (0, 20)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("step", "nats per token")
    assert "source at 1.200" in curve.caption()


def test_validation_with_a_unit_of_its_own_has_its_own_axes():
    curve = live.LiveCurve(validation_ylabel="bits per byte", floor={"source": 0.9})
    for record in records(6):
        curve.add(record)
    loss, validation = curve.draw().axes
    assert (loss.get_ylabel(), validation.get_ylabel()) == ("nats per token", "bits per byte")
    assert len(loss.get_lines()) == 2
    assert len(validation.get_lines()) == 2
    assert "1.000 bits per byte" in curve.caption()


def test_the_running_mean_is_centred():
    assert live.smooth([]) == []
    assert live.smooth([3.0]) == [3.0]
    # Of what falls in a straight line it is the value itself: it does not lag behind.
    line = [float(k) for k in range(600, 0, -1)]
    assert live.smooth(line) == pytest.approx(line)
    assert live.smooth([2.0] * 70) == pytest.approx([2.0] * 70)
