from __future__ import annotations

import asyncio
import html
import json
import os
import re
import sys
import threading
import time
from pathlib import Path

import pytest
from jupyter_client import KernelManager

from helpers.display import writing
from helpers.display.growing_text import GrowingText, Settings, status_html, text_html
from helpers.display.writing import (
    ALL,
    NEW,
    WritingDesk,
    desk_controls,
    settings_of,
    try_the_ends,
    writing_desk,
)
from helpers.inference.rules import AS_PREDICTED, Rules

ROOT = Path(__file__).parents[2]
COLAB = Path(sys.prefix) / "colab" / "bin" / "python"


def letters(text, settings):
    """Writes the alphabet on from the last letter, without an end; knows no capitals."""
    if any(c.isupper() for c in text):
        raise ValueError("The model knows small letters only.")
    last = text[-1]
    while True:
        last = chr((ord(last) - 96) % 26 + 97)
        yield last


def broken(text, settings):
    yield "b"
    raise KeyError("lost")


def desk(continue_text=letters, prompt="a", length=5, rules=AS_PREDICTED):
    return WritingDesk(continue_text, prompt, desk_controls(length, 50, rules))


def words(widget):
    """What a page shows of an HTML widget, without tags."""
    return html.unescape(re.sub("<.*?>", "", widget.value))


def test_write_and_go_on_without_an_event_loop():
    play = desk()
    play.buttons["Write"].click()
    assert play.text.written == "bcdef"
    assert "Written: 5 tokens" in words(play._status)
    assert "temperature 1, top-k all, top-p all, length 5, seed 0" in words(play._status)
    assert words(play._text).startswith("abcdef")
    play.buttons["Go on"].click()
    assert (play.text.prompt, play.text.written) == ("a", "bcdefghijk")
    assert "seed 1000" in play.text.status
    play.field.value = "x"
    play.buttons["Write"].click()
    assert (play.text.prompt, play.text.written, play.text.part) == ("x", "yzabc", 0)
    play.buttons["Stop"].click()
    assert "Written" in play.text.status
    assert play.task is None


def test_the_controls_are_handed_over():
    seen = []

    def spy(text, settings):
        seen.append((text, settings))
        return ["!"]

    play = desk(spy, "a b\n", rules=Rules(top_k=7))
    play.write()
    play.controls["temperature"].value = 0.0
    play.controls["top_k"].value = ALL
    play.controls["top_p"].value = 0.9
    play.controls["length"].value = 20
    play.controls["seed"].value = 3
    play.write()
    play.go_on()
    assert seen == [
        ("a b\n", Settings(Rules(1.0, 7, None), 5, 0)),
        ("a b\n", Settings(Rules(0.0, None, 0.9), 20, 3)),
        ("a b\n!", Settings(Rules(0.0, None, 0.9), 20, 1003)),
    ]
    assert "ended the text after 1 tokens" in play.text.status
    values = {name: control.value for name, control in play.controls.items()}
    drawn = {settings_of({**values, "seed": NEW}).seed for _ in range(20)}
    assert len(drawn) > 1
    assert min(drawn) >= writing.SEEDS


def test_an_empty_text_and_what_the_model_objects_to_are_said():
    play = desk(prompt="")
    play.go_on()
    assert "The text is empty" in words(play._status)
    play.write()
    assert "The text is empty" in words(play._status)
    play.field.value = "Ab"
    play.write()
    assert words(play._status) == "⚠ The model knows small letters only."
    assert not play.text.at_work
    play.field.value = "b"
    play.write()
    assert play.text.written == "cdefg"
    assert not play.text.problem
    # A function that is no generator raises when it is called, not at the first piece.
    play = desk(lambda text, settings: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        play.write()


def test_other_errors_are_named_and_what_was_written_stays():
    play = desk(broken)
    with pytest.raises(KeyError):
        play.write()
    assert play.text.written == "b"
    assert "KeyError: 'lost'" in words(play._status)
    assert "Traceback" in play._status.value
    assert "b</span></pre>" in play._text.value


def test_signs_of_html_and_blanks_are_kept():
    page = text_html("<b> &  x\n", "\n\x00\ud800</pre>\t")
    assert page.count("<b ") == 1
    assert "&lt;b&gt; &amp;  x\n</b>" in page
    assert "\n\ufffd\ufffd&lt;/pre&gt;\t</span></pre>" in page
    assert "white-space: pre-wrap" in page
    page.encode("utf-8")
    text = GrowingText(letters)
    text.status, text.problem, text.details = "<i>", True, "<u>"
    assert "⚠ &lt;i&gt;" in status_html(text)
    assert "&lt;u&gt;" in status_html(text)


def test_between_two_pieces_other_things_happen():
    """In a running loop: the text grows, Stop ends it, Write gives it up for a new one."""

    async def play_it():
        play = desk(length=50)
        play.write()
        assert play.text.written == ""  # nothing happens before the loop goes round
        while len(play.text.written) < 3:
            assert not play.task.done()
            await asyncio.sleep(0)
        assert "▌" in play._text.value
        play.go_on()  # there is something to stop first
        play.stop()
        kept = play.text.written
        await play.task
        assert play.text.written == kept == "bcdef"[: len(kept)]
        assert f"Stopped after {len(kept)} tokens" in words(play._status)
        assert words(play._text).startswith("a" + kept)
        assert "▌" not in play._text.value
        play.go_on()
        first = play.task
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        play.field.value = "x"
        play.write()
        await asyncio.gather(first, play.task)
        assert play.text.prompt == "x"
        assert play.text.written == ("yzabcdefghijklmnopqrstuvwx" * 2)[:50]
        assert "Written: 50 tokens" in play.text.status

    asyncio.run(play_it())


def test_an_error_in_a_task_is_shown_and_leaves_no_unread_exception():
    async def play_it():
        problems = []
        asyncio.get_running_loop().set_exception_handler(lambda _, what: problems.append(what))
        for model, message in ((broken, "KeyError"), (letters, "small letters only")):
            play = desk(model, "A")
            play.write()
            await play.task
            assert message in words(play._status)
            assert play.task.exception() is None
        assert not problems

    asyncio.run(play_it())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prompt": ""}, "text is empty"),
        ({"length": 0}, "minimum <= value <= maximum"),
        ({"rules": Rules(repetition=2.0)}, "repetition is 2.0; expected 1"),
    ],
)
def test_a_faulty_desk_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        writing_desk(letters, **{"prompt": "a", **change})


@pytest.fixture
def shown(monkeypatch):
    calls = []
    monkeypatch.setattr(
        writing, "show_widget", lambda *given, **named: calls.append((given, named))
    )
    monkeypatch.delenv("COURSE_DRIVE_WIDGETS", raising=False)
    return calls


def test_the_output_carries_a_first_text_without_times(shown):
    writing_desk(letters, prompt="<a", length=6, unit="letters", description="Play.")
    ((live, stored), named) = shown[0]
    assert named["mime"] == "text/html"
    assert "&lt;a</b>" in stored
    assert ">bcdefg</span>" in stored
    for text in (stored, named["plain"]):
        assert "length 6, seed 0" in text
        assert "Play." in text
        assert "Run this cell" in text
        assert "per second" not in text
    assert "<abcdefg" in named["plain"]
    labels = [w.description for w in live.children[2:][1].children]
    assert labels == ["temperature", "top-k", "top-p (1: all)", "length, letters", "seed"]


def test_driving_tries_the_ends_of_all_controls(shown, monkeypatch):
    tried = []

    def spy(text, settings):
        for number in range(10):
            tried.append((settings, number))
            yield "x"

    monkeypatch.setenv("COURSE_DRIVE_WIDGETS", "1")
    writing_desk(spy, prompt="a", length=20, max_length=50)
    settings = {each for each, _ in tried}
    assert {0.0, 2.0} <= {each.rules.temperature for each in settings}
    assert {1, 100, None} <= {each.rules.top_k for each in settings}
    assert {0.05, None} <= {each.rules.top_p for each in settings}
    assert {10, 50} <= {each.length for each in settings}
    assert set(range(10)) <= {each.seed for each in settings}
    beyond = {each for each, number in tried if number > 2}
    assert len(beyond) == 1  # only the first text is written to its end
    assert len(shown) == 1

    def fails(text, settings):
        yield "x"
        if settings.rules.temperature == 0:
            raise ZeroDivisionError

    controls = desk_controls(20, 50, AS_PREDICTED)
    with pytest.raises(RuntimeError, match=r"fails with temperature 0, .*ZeroDivisionError"):
        try_the_ends(fails, "a", controls)


MODEL = f"""
import sys, time
sys.path.insert(0, {str(ROOT)!r})
from helpers.display import writing
def slowly(text, settings):
    for number in range(settings.length):
        time.sleep(0.01)
        yield "x"
def closed(text, settings):
    yield from "abc"
desk = writing.WritingDesk(slowly, "a", writing.desk_controls(400, 400, writing.DESK_RULES))
buttons = {{name: button.comm.comm_id for name, button in desk.buttons.items()}}
"""


@pytest.mark.parametrize(
    "python",
    [
        sys.executable,
        pytest.param(
            str(COLAB),
            marks=[
                pytest.mark.colab,
                pytest.mark.skipif(not COLAB.exists(), reason="no environment like Colab's"),
            ],
            id="colab",
        ),
    ],
)
def test_a_kernel_hears_stop_while_it_writes(python, tmp_path):
    """Messages as a page sends them: Write, then Stop; each is answered while the text grows."""
    manager = KernelManager(connection_file=str(tmp_path / "kernel.json"))
    manager.kernel_spec.argv = [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    manager.start_kernel(env={**os.environ, "PYTHONPATH": str(ROOT)})
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        buttons = json.loads(ask(client, f"{MODEL}\nimport json; print(json.dumps(buttons))"))

        def click(name):
            content = {
                "comm_id": buttons[name],
                "data": {"method": "custom", "content": {"event": "click"}},
            }
            client.shell_channel.send(client.session.msg("comm_msg", content))

        click("Write")
        time.sleep(0.6)
        state = "print(len(desk.text.written), desk.text.at_work)"
        count, at_work = ask(client, state).split()
        assert 0 < int(count) < 400
        assert at_work == "True"
        click("Stop")
        count, at_work = ask(client, state).split()
        assert int(count) < 400
        assert at_work == "False"
        time.sleep(0.2)
        assert ask(client, state).split() == [count, "False"]
        assert "Stopped after" in ask(client, "print(desk.text.status)")
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def ask(client, code):
    """What a cell prints."""
    printed = []

    def hear(message):
        assert message["msg_type"] != "error", message["content"]["traceback"]
        if message["msg_type"] == "stream":
            printed.append(message["content"]["text"])

    client.execute_interactive(code, output_hook=hear, timeout=60)
    return "".join(printed)


def test_buttons_may_be_heard_in_another_thread_before_the_field_is():
    """As in JupyterLab, which may have each widget's messages handled in a thread of its own."""
    threads = set()

    def spy(text, settings):
        for piece in text * 50:
            threads.add(threading.get_ident())
            time.sleep(0.002)
            yield piece

    async def play_it():
        play = desk(spy, prompt="old ", length=50)
        await asyncio.to_thread(play.buttons["Write"].click)
        play.field.value = "new "  # what was typed before the click arrives after it
        while len(play.text.written) < 4:
            await asyncio.sleep(0.01)
        assert (play.text.prompt, play.text.written[:4]) == ("new ", "new ")
        await asyncio.to_thread(play.buttons["Stop"].click)
        await play.task
        assert len(play.text.written) < 50
        assert "Stopped" in words(play._status)
        assert threads == {threading.get_ident()}

    asyncio.run(play_it())
