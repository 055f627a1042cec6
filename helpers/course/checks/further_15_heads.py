"""Your turn with four heads: names out of tags, the best span, and what a text is exchanged for."""

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_15_heads")


def tagged(draw):
    for rule, tags in (
        ("one name of one token, one of three", "B O O B I I O"),
        ("the White House is one name", "O O B I O"),
        ("no name at all", "O O O"),
        ("two names side by side", "B B I O"),
        ("a name at the end", "O B I"),
        ("an I without a B", "O I I O B I"),
    ):
        yield Case(rule, tags.split())
    for _ in range(3):
        yield Case("tags at random", ["BIO"[k] for k in draw.integers(0, 3, 9).tolist()])


@turn(
    turns,
    "Go through the tags with their positions. A B begins a new name, and so does an I behind an "
    "O; an I behind a B or an I makes the last name one token longer.",
    cases=tagged,
    slips="""
    tag == "B" or (tag == "I" and before == "O") => tag != "O" and before == "O"
        Two names side by side are two: a B begins a new one.
    elif tag == "I": => elif False:
        The names are cut off behind their first token: an I goes on.
    tag == "B" or (tag == "I" and before == "O") => tag != "O"
        Every token became a name of its own: an I goes on with the name before it.
    return [(a, b) for a, b in entities_of(tags) if tags[a] == "B"]
        An I behind an O begins a name, too: a model may forget the B.
    return [(first, after) for first, after in entities_of(tags) if after < len(tags)]
        The name at the end of the text is missing: nothing comes behind it.
    return [(first, after - 1) for first, after in entities_of(tags)]
        The second number is the position behind the last token.
    """,
)
def entities_of(tags):
    """Tags such as ["O", "B", "I", "O"] -> [(1, 3)], from the left to the right."""
    found, before = [], "O"
    for place, tag in enumerate(tags):
        if tag == "B" or (tag == "I" and before == "O"):
            found.append((place, place + 1))
        elif tag == "I":
            found[-1] = (found[-1][0], place + 1)
        before = tag
    return found


def listed(draw):
    for rule, kinds in (
        ("one kind: the next one, and the last one gets the first", "a a a a"),
        ("two kinds", "a b a b b"),
        ("a kind that occurs once keeps its own position", "a b a c"),
    ):
        yield Case(rule, kinds.split())
    for _ in range(3):
        yield Case("kinds at random", ["abcd"[k] for k in draw.integers(0, 4, 8).tolist()])


@turn(
    turns,
    "For position i look at i + 1, i + 2, ... to the end, then at 0, 1, ... up to i itself, and "
    "take the first position whose kind is that of i.",
    cases=listed,
    slips="""
    [*range(i + 1, len(kinds)), *range(i + 1)] => range(len(kinds))
        That is the first position of the kind, so that many share one partner, and it may be its \
    own: begin behind i.
    [*range(i + 1, len(kinds)), *range(i + 1)] => [*range(i + 1, len(kinds)), i]
        The last one of a kind goes round the end, to the first one.
    return [(i + 1) % len(kinds) for i in range(len(kinds))]
        The partner is the next one of the *same kind*, not the next one of all.
    [*range(i + 1, len(kinds)), *range(i + 1)] => [*range(i, len(kinds)), *range(i)]
        Begin behind i: so everybody is their own partner.
    return [kinds[j] for j in partners(kinds)]
        The *position* of the partner is asked for, not its kind.
    """,
)
def partners(kinds):
    """Of each position the next one, round the end, of the same kind; its own if it is alone."""
    found = []
    for i in range(len(kinds)):
        others = [*range(i + 1, len(kinds)), *range(i + 1)]
        found.append(next(j for j in others if kinds[j] == kinds[i]))
    return found


def logits(draw):
    for rule, starts, ends in (
        ("where the best end is behind the best beginning", (4.0, 1.0, 0.0), (0.0, 2.0, 5.0)),
        ("by hand: from 1 to 2", (1.0, 4.0, 0.0, 2.0), (3.0, 0.0, 2.0, 1.0)),
        ("one token may be the answer", (0.0, 5.0, 0.0), (0.0, 5.0, 1.0)),
        ("all logits may be negative", (-5.0, -6.0, -3.0, -9.0), (-4.0, -1.0, -7.0, -8.0)),
        ("a second-best beginning may win", (1.0, 2.0, 3.0, 2.9), (0.0, 9.0, 0.0, 4.0)),
    ):
        given = f"starts {list(starts)}, ends {list(ends)}"
        yield Case(rule, torch.tensor(starts), torch.tensor(ends), given=given)
    for T in (5, 8):
        starts, ends = (draw.normal(T).mul(4).round(decimals=1) for _ in range(2))
        given = f"starts {starts.tolist()}, ends {ends.tolist()}"
        yield Case("random logits", starts, ends, given=given)


def as_numbers(answer, *arguments):
    got = answer(*arguments)
    if isinstance(got, list | tuple):
        return tuple(int(x) if isinstance(x, torch.Tensor) and x.numel() == 1 else x for x in got)
    return got


@turn(
    turns,
    "starts[:, None] + ends[None] holds the sum for every pair (i, j). Put minus infinity where "
    "j < i, take the argmax, and turn the number back into a row and a column.",
    cases=logits,
    call=as_numbers,
    slips="""
    return int(starts.argmax()), int(ends.argmax())
        The two were chosen each by itself: then the end may stand before the beginning.
    i = int(starts.argmax()); return i, i + int(ends[i:].argmax())
        The best beginning was fixed first: another beginning may have the larger sum.
    j = int(ends.argmax()); return int(starts[: j + 1].argmax()), j
        The best end was fixed first: another end may have the larger sum.
    .tril(-1) => .tril()
        An answer may be one token long: j = i is allowed.
    .tril(-1) => .triu(1)
        Here the end stands before the beginning: keep the pairs with i <= j.
    -torch.inf => 0
        Forbidden pairs got 0, which is more than a negative sum: use minus infinity.
    return best // T, best % T => return best // T, best % T + 1
        The end is the position of the last token, not the one behind it.
    """,
)
def best_span(starts, ends):
    """Start and end logits (T,) each -> (i, j), first and last token of the best span, i <= j."""
    T = len(starts)
    scores = starts[:, None] + ends[None]  # (T, T), row i, column j
    forbidden = torch.ones(T, T).tril(-1).bool()  # j < i
    best = int(scores.masked_fill(forbidden, -torch.inf).argmax())
    return best // T, best % T
