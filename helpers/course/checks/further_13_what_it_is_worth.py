"""Your turn with an ablation: the differences of an entry to the unchanged model, in pairs."""

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_13_what_it_is_worth")


def studies(draw):
    hand = [("all", 0, 1.5), ("all", 1, 2.0), ("x", 0, 1.75), ("x", 1, 1.0)]
    yield Case("by hand", [dict(zip(("entry", "seed", "bits"), row)) for row in hand], "x")
    keys = [(entry, seed) for entry in ("all", "x", "y") for seed in range(4)]
    rows = [{"entry": e, "seed": s, "bits": draw.integer(100, 300) / 100} for e, s in keys]
    order = [(7 * i + 3) % len(rows) for i in range(len(rows))]
    mixed = [rows[i] for i in order if rows[i] != rows[5]]
    yield Case("rows in any order, a seed missing", mixed, "x", given="rows in any order")
    yield Case("another entry", mixed, "y", given="rows in any order")


@turn(
    turns,
    'First the bits of "all" by seed, a dictionary; then, for each row of the entry, its bits '
    "minus those of the same seed.",
    cases=studies,
    slips="""
    row["bits"] - unchanged[row["seed"]] => unchanged[row["seed"]] - row["bits"]
        The entry minus "all": an entry that is worse has positive differences.
    row["bits"] - unchanged[row["seed"]] => row["bits"] - sum(unchanged.values()) / len(unchanged)
        In pairs: subtract what "all" has with the *same seed*, not its mean.
    unchanged[row["seed"]] for row in rows if row["entry"] == entry => \
    unchanged[row["seed"]] for row in rows if row["entry"] != "all"
        Only the rows of the entry that is asked for.
    x, y = ([r["bits"] for r in rows if r["entry"] == name] for name in (entry, "all")); \
    return [a - b for a, b in zip(x, y)]
        The rows stand in any order, and a seed may be missing: look up what "all" has with the same
        seed.
    row["bits"] - unchanged[row["seed"]] => row["bits"]
        These are the entry's own bits; the difference to "all" is asked for.
    row["bits"] - unchanged[row["seed"]] => abs(row["bits"] - unchanged[row["seed"]])
        Keep the sign: an entry may be better than the unchanged model.
    """,
)
def gaps(rows, entry):
    """Bits of an entry minus those of "all" with the same seed: a list."""
    unchanged = {row["seed"]: row["bits"] for row in rows if row["entry"] == "all"}
    return [row["bits"] - unchanged[row["seed"]] for row in rows if row["entry"] == entry]
