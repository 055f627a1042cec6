import pytest

from helpers.display import fooling
from helpers.display.fooling import Game, GameBoard, fool_the_network, score_text, table_html


def credulous(ids):
    """A network that calls everything balanced."""
    return 0.9


def test_a_wrong_answer_scores_and_a_short_one_twice():
    game = Game(credulous)
    assert [game.ask(text).points for text in ("()", "([)]", "([)]" * 3)] == [0, 2, 1]
    assert game.ask("(" * 8).points == 2
    assert game.ask("(" * 9).points == 1
    assert game.points == 6
    assert score_text(game) == "6 points, the round is over"
    sceptical = Game(lambda ids: 0.2)
    assert sceptical.ask(" ( ) ").fooled
    assert sceptical.tried[0].text == "()"
    assert not sceptical.ask(")(").fooled
    assert sceptical.points == 2


def test_the_network_gets_the_ids_of_the_sequence():
    seen = []
    Game(lambda ids: seen.append(ids.tolist()) or 0.0).ask("({})«")
    assert seen == [[0, 2, 7, 9, 4]]


@pytest.mark.parametrize(
    ("text", "says"),
    [("", "are 0"), ("(" * 41, "are 41"), ("(x)", "'x'"), ("[]", "before")],
)
def test_what_cannot_be_asked_says_so_and_uses_no_try(text, says):
    game = Game(credulous)
    game.ask("[]")
    with pytest.raises(ValueError, match=says):
        game.ask(text)
    assert len(game.tried) == 1


def test_a_round_may_ask_for_longer_sequences_and_says_so():
    game = Game(credulous, shortest=6)
    with pytest.raises(ValueError, match="6 to 40 brackets; these are 5"):
        game.ask("()()(")
    assert game.tried == []
    assert game.ask("()()((").points == 2
    board = GameBoard(game, "A")
    assert "6 symbols or more" in board.parts[0].value
    board.restart()
    board.play(")")
    assert "Type 6 to 40" in board.parts[2].value
    assert "or more" not in GameBoard(Game(credulous), "A").parts[0].value


def test_a_round_ends_and_begins_anew():
    board = GameBoard(Game(credulous), "A")
    for n in range(1, 7):
        board.box.value = "(" * n  # typed, and Enter
    assert board.game.over
    assert score_text(board.game) == "10 points, the round is over"
    assert "new round" in board.parts[2].value
    board.restart()
    assert board.game.tried == []
    assert score_text(board.game) == "0 points, 5 tries left"
    board.play("  ")
    assert board.game.tried == []


def test_the_table_has_the_newest_first_and_escapes_brackets():
    game = Game(credulous)
    game.ask("<>")
    game.ask("<")
    rows = table_html(game).split("<tr")[2:]
    assert "<code>&lt;</code>" in rows[0]
    assert "not balanced" in rows[0]
    assert ">2</td>" in rows[0]
    assert "<code>&lt;&gt;</code>" in rows[1]
    assert ">–</td>" in rows[1]
    assert "0.900" in rows[1]


def test_the_stored_words_tell_the_rules(monkeypatch):
    shown = []
    monkeypatch.setattr(fooling, "show_widget", lambda box, words, **more: shown.append(words))
    monkeypatch.setenv("COURSE_DRIVE_WIDGETS", "1")
    fool_the_network(credulous, "that says yes to <all>")
    assert "5 tries" in shown[0]
    assert "says yes to &lt;all&gt;" in shown[0]


def test_a_network_that_fails_is_found_in_the_test_run(monkeypatch):
    monkeypatch.setenv("COURSE_DRIVE_WIDGETS", "1")

    def broken(ids):
        raise RuntimeError("no network")

    with pytest.raises(RuntimeError, match="no network"):
        fool_the_network(broken, "A")
