"""What a student expected, beside what came out.

A prediction is a plain variable in a cell before the result, ``my_share = ...`` until somebody
writes a number there, and the cell that measures it ends in ``compare``::

    compare(my_share, 53.4, "share of unseen trigrams", unit="%")

A prediction that is missing or cannot be read never ends in an error. Where it is missing, the
result is folded away once more, also for those who read a stored notebook, whose outputs they see.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Collection
from fractions import Fraction
from numbers import Real
from typing import Any

from helpers.display.figures import publish
from helpers.display.signs import visible

FIRST_LINE = "Your prediction, and what came out:"
WITHOUT = "The result, without a prediction"


def predicted(*predictions: Any) -> bool:
    """Whether predictions have been entered; if not, says that they come first.

    What they are about is shown after them only: in a lab that is handed out it is not there yet.
    """
    if not any(map(_missing, predictions)):
        return True
    print("First write your prediction into the cell above and run it; then run this cell.")
    return False


def compare(predicted: Any, measured: float, what: str, *, unit: str = "", digits: int = 1) -> None:
    """Say how far a predicted number was off.

    Args:
        predicted: a number, or words such as "50 %" or "1/3"; ``...`` where there is no prediction.
        what: the quantity, such as "share of unseen trigrams".
        unit: stands behind the numbers; for "%", a share is told to be typed as 70, not as 0.7, and
            so is 3.4 where 340 % came out.
    """
    shown = _with_unit(f"{measured:.{digits}f}", unit)
    found = f"Measured: **{shown}** ({what})."
    if _missing(predicted):
        _say_folded(found)
        return
    number = _number(predicted, unit)
    if number is None:
        _say(f"Your prediction {_shown(predicted)} is no number: type one such as 12.5. {found}")
        return
    share = 0 < number < 1 or abs(100 * number - measured) <= 0.1 * measured
    if unit == "%" and measured >= 1 and share and "%" not in str(predicted):
        typed = f"{100 * number:.3g}, not {number:.3g}"
        _say(f"You predicted **{number:.3g} %**. {found} Shares are typed in per cent: {typed}.")
        return
    yours = _with_unit(f"{number:.{digits}f}", unit)
    _say(f"You predicted **{yours}**. {found} {_how_far(number, measured, unit, digits)}".strip())


def compare_choice(predicted: Any, measured: str, options: Collection[str], what: str) -> None:
    """Say whether the predicted one of several possibilities came out.

    Args:
        predicted: one of ``options``, in small or large letters, with its article or without, in
            parts, with blanks for the signs of blanks, or as a number; ``...`` for no prediction.
        measured: the one that came out.
        what: the question in a few words.

    Raises:
        ValueError: what came out is none of the possibilities.
    """
    if measured not in options:
        raise ValueError(f"{measured!r} came out and is none of {', '.join(options)}.")
    found = f"It is **{measured}** ({what})."
    chosen = _option(predicted, options)
    if _missing(predicted):
        _say_folded(found)
    elif chosen is None:
        _say(f"Your prediction {_shown(predicted)} is none of {', '.join(options)}. {found}")
    elif chosen == measured:
        _say(f"You predicted **{measured}**, and so it is ({what}).")
    else:
        _say(f"You predicted **{chosen}**. {found}")


def compare_words(predicted: Any, found: Collection[str], what: str) -> None:
    """Say which of the predicted words are among those that came out.

    Args:
        predicted: words, as a list or in one string with blanks or commas; ``...`` for none.
        found: the words that came out.
    """
    answer = f"{what[:1].upper()}{what[1:]}: {', '.join(found)}."
    if _missing(predicted):
        _say_folded(answer)
        return
    words = predicted.replace(",", " ").split() if isinstance(predicted, str) else predicted
    if isinstance(predicted, str) and all(len(word) == 1 for word in found):
        words = list("".join(words))  # letters, typed without blanks
    if not isinstance(words, Collection) or not all(isinstance(word, str) for word in words):
        _say(f"Your prediction {_shown(predicted)} is no list of words. {answer}")
        return
    known = {word.lower() for word in found}
    words = list({word.strip().lower(): word.strip() for word in words}.values())  # each once
    hits = [word for word in words if word.lower() in known]
    named = f" ({', '.join(hits)})" if hits else ""
    number = f"{len(words)} word{'s' * (len(words) != 1)}"
    _say(f"Of your {number}, **{len(hits)}** came out{named}. {answer}")


def _missing(predicted: Any) -> bool:
    if isinstance(predicted, str):
        return not predicted.strip(" .…,")  # three dots in quotes wait for an answer, too
    if isinstance(predicted, list | tuple | set | dict):
        return not predicted
    return predicted is None or predicted is Ellipsis


def _shown(predicted: Any) -> str:
    return reprlib.repr(predicted)  # short, and of anything


def _number(predicted: Any, unit: str) -> float | None:
    try:
        if isinstance(predicted, str):
            words = predicted.replace(unit, "").replace(",", ".").replace("−", "-")
            number = float(Fraction(words.strip()))
        elif isinstance(predicted, Real) and not isinstance(predicted, bool):
            number = float(predicted)
        else:
            return None
    except (ValueError, ArithmeticError):  # words; 1/0, or more than a float holds
        return None
    return number if math.isfinite(number) else None


def _option(predicted: Any, options: Collection[str]) -> str | None:
    if isinstance(predicted, tuple) and all(isinstance(part, str) for part in predicted):
        predicted = "".join(predicted)
    if isinstance(predicted, str):
        small = predicted.lower()
        together = "".join(small.replace("+", " ").split())
        forms = visible(small), _without_article(predicted), together
        found = (option for form in forms for option in options if _without_article(option) == form)
        return next(found, None)
    number = _number(predicted, "")  # whoever types 0.001 means "0.001"
    if number is None:
        return None
    return next((option for option in options if _number(option, "") == number), None)


def _without_article(words: str) -> str:
    return words.strip().lower().removeprefix("the ").strip()


def _how_far(number: float, measured: float, unit: str, digits: int) -> str:
    if not math.isfinite(measured):
        return ""
    gap = number - measured
    if abs(gap) < 0.5 * 10**-digits:
        return "That is exact."
    distance = _with_unit(f"{abs(gap):.{digits}f}", "points" if unit == "%" else unit)
    words = f"You were {distance} too {'high' if gap > 0 else 'low'}"
    if number > 0 and measured > 0 and unit not in ("%", "points"):
        factor = max(number / measured, measured / number)
        words += f", a factor of {factor:.1f}" if factor >= 2 else ""
    return f"{words}."


def _with_unit(number: str, unit: str) -> str:
    return f"{number} {unit}".strip()


def _say(words: str, folded: str = "") -> None:
    # JupyterLab shows the first line of outputs that are folded away: it must not tell the answer.
    plain = words = f"{FIRST_LINE}\n\n{words}"
    if folded:
        plain += f" {folded}"
        words += f"\n\n<details><summary>{WITHOUT}</summary>\n\n{folded}\n\n</details>"
    publish({"text/markdown": words, "text/plain": plain.replace("**", "")})


def _say_folded(found: str) -> None:
    _say("You made no prediction: write one above, then run its cell and this one.", found)
