"""Your turn with three prefixes: the test that exchanges the prefix and keeps the sentence."""

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_16_prefixes")

TWINS = [  # in French and in English
    [tuple(text.split()) for text in twins.split(" | ")]
    for twins in (
        "le chat dort . | the cat sleeps .",
        "la vache arrive . | the cow arrives .",
        "un hibou chante . | an owl sings .",
        "les rois dorment . | the kings sleep .",
        "une oie attend . | a goose waits .",
        "la femme chante . | the woman sings .",
        "un jardin dort . | a garden sleeps .",
    )
]
# A prefix, and the language of the sentence behind it.
PAIRS = [(prefix, side) for prefix in ("to-English:", "to-French:") for side in (0, 1)]


def writer(plan):
    """A writer that gives each source a text of its own, and else a text of one word.

    Args:
        plan: for each of the pairs, what it writes for each of the first twins: the sentence in
            English (e), in French (f), and in the language of the prefix without its last word (b),
            or the sentence before it (n).
    """
    told = {}
    for (prefix, side), kinds in zip(PAIRS, plan):
        wanted = [twins[prefix == "to-English:"] for twins in TWINS]
        for k, kind in enumerate(kinds):
            french, english = TWINS[k]
            texts = {"e": english, "f": french, "b": wanted[k][:-1], "n": wanted[k - 1]}
            told[(prefix, *TWINS[k][side])] = texts[kind]
    return lambda sources: [told.get(tuple(source), ("?",)) for source in sources]


def writers(draw):
    drawn = ["".join("efbn"[k] for k in draw.integers(0, 4, 7).tolist()) for _ in PAIRS]
    by_hand, blind = ("eeeef", "effbn", "ffeeb", "fffen"), ("eee", "fff", "eee", "fff")
    for rule, given, plan in (
        ("by hand: 0.8, 0.2 and 0.4, 0.6", "a model that obeys now and then, 5 sentences", by_hand),
        ("a model that always translates: 1, 0 and 0, 1", "a model that reads no prefix", blind),
        ("any model", "a model that writes at random", drawn),
    ):
        french, english = (list(side) for side in zip(*TWINS[: len(plan[0])]))
        yield Case(rule, writer(plan), french, english, given=given)


@turn(
    turns,
    "For each prefix and for the sentences of each language: put the prefix in front of every "
    "sentence, let them be written, and count the texts that are the sentence in the *prefix's* "
    "language.",
    cases=writers,
    slips="""
    zip(texts, wanted) => zip(texts, sentences)
        Here a text is compared with the sentence that was read. The *prefix* says which language is
        wanted, so compare it with the sentence in that language.
    zip(texts, wanted) => zip(texts, english if sentences is french else french)
        Here a translation counts as right behind each prefix. A French sentence behind to-French:
        is to stay French: the prefix says which language is wanted.
    zip(texts, wanted) => zip(texts, english)
        Behind to-French: the French sentence is wanted, not the English one.
    t == w for t, w in zip(texts, wanted) => t in wanted for t in texts
        Here a text counts if it is *any* of the wanted sentences. Compare it with the one at its
        own place: zip(texts, wanted).
    for sentences in (french, english) => for sentences in (english, french)
        A row belongs to a prefix, the first row to to-English:, and a column to the language of the
        sentence: French sentences come first.
    (a, _), (_, d) = exchange(write, french, english); return [a, d]
        These are the two usual cases only. The test is to exchange the prefix: each of the two
        before sentences of both languages, four numbers in all.
    / len(wanted) =>
        A share is a number from 0 to 1: divide the count by the number of sentences.
    (prefix, *words) => words
        What the model reads begins with its prefix: it is the first word of every source, in front
        of the words of the sentence.
    """,
)
def exchange(write, french, english):
    """A writer, sentences in both languages -> 2 x 2 shares: how often each prefix is obeyed."""
    table = []
    for prefix, wanted in (("to-English:", english), ("to-French:", french)):
        row = []
        for sentences in (french, english):
            texts = write([(prefix, *words) for words in sentences])
            row.append(sum(t == w for t, w in zip(texts, wanted)) / len(wanted))
        table.append(row)
    return table
