"""Your turn with tokens: pairs counted and joined, merges learned and replayed."""

from collections import Counter
from itertools import pairwise

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn
from helpers.data.merging import BYTE_IDS, best_pair, to_bytes

turns = Lab("notebook03")

PENCIL = "it gives what the pencil gives"


def counted(**words):
    """Words of single bytes, with their counts; _ stands for a space."""
    return {to_bytes(word.replace("_", " ")): count for word, count in words.items()}


def drawn_words(draw, number=6):
    texts = [draw.text(draw.integer(6, 11), "abe t") for _ in range(number)]
    return {to_bytes(text): draw.integer(1, 4) for text in texts}


def texts_to_count(draw):
    yield Case(PENCIL, counted(_the=4, _then=1))
    yield Case("overlapping pairs count, too", counted(aaa=3, baa=2))
    yield Case("tokens may be longer than a byte", {(b"th", b"e", b"th", b"e"): 3})
    yield Case("it is right for random words", drawn_words(draw))


@turn(
    turns,
    "Go through the words; each pair of neighbours in a word adds the count of that word.",
    cases=texts_to_count,
    slips="""
    += count => += 1
        A word that occurs five times has each of its pairs five times: add its count.
    += count => = count
        A pair occurs in several words, or twice in one: add to what is there already.
    in pairwise(word) => in set(pairwise(word))
        A word may have the same pair twice, and both count.
    pairs[pair] += count => pairs[pair[0] + pair[1]] += count
        A pair is the tuple of its two tokens; joined, nobody can tell where one of them ends.
    return len(list(pairwise(b"".join(b"".join(word) * n for word, n in words.items()))))
        That is how many pairs there are in all: each of them needs a count of its own.
    """,
)
def count_pairs(words):
    """How often each pair of neighbours stands in the words; words maps a word to its count."""
    pairs = Counter()
    for word, count in words.items():
        for pair in pairwise(word):
            pairs[pair] += count
    return pairs


def with_its_type(answer, word, pair):
    """A list is not as good as a tuple: it cannot be the key of a dictionary."""
    joined = answer(word, pair)
    return type(joined).__name__, joined


def words_to_join(draw):
    yield Case(PENCIL, to_bytes(" the"), (b"t", b"h"))
    for text in ("aaa", "aaaa", "baab"):
        yield Case("a joined token is used up", to_bytes(text), (b"a", b"a"))
    yield Case("the order counts", to_bytes("bab"), (b"a", b"b"))
    yield Case("the whole token is compared", (b"a", b"ab", b"b", b"a"), (b"a", b"b"))
    yield Case("the whole token is compared", (b"ab", b"c", b"a", b"bc"), (b"a", b"bc"))
    yield Case("it joins the pair everywhere", (b"a", b"bc") * 3, (b"a", b"bc"))
    yield Case("a short word stays", (b"a",), (b"a", b"b"))
    yield Case("it is right for random words", to_bytes(draw.text(12, "aab")), (b"a", b"b"))


@turn(
    turns,
    "Go through the word with an index i. If word[i : i + 2] is the pair, append both as one token "
    "and go on two places; if not, append word[i] and go on one place.",
    cases=words_to_join,
    call=with_its_type,
    slips="""
    i += 2 => i += 1
        Go on behind both tokens: a token that has been joined is used up.
    return tuple(a + b if (a, b) == pair else a for a, b in pairwise(word))
        pairwise uses every token twice and hands over no last one: go by an index, and after a
        join go on behind both tokens.
    tuple(joined) => joined
        Hand back a tuple, as words are: tuple(...) makes one of a list.
    pair[0] + pair[1] => pair
        The pair becomes one token, its bytes together: pair[0] + pair[1].
    i < len(word) => i < len(word) - 1
        The last token is lost if it is not part of a pair.
    return tuple(b"".join(word).replace(pair[0] + pair[1], b"_").split(b"_"))
        Only these two tokens side by side are joined; all others stay as they are.
    """,
)
def join(word, pair):
    """The word with every such pair of neighbours joined, from left to right."""
    joined, i = [], 0
    while i < len(word):
        if word[i : i + 2] == pair:
            joined.append(pair[0] + pair[1])
            i += 2
        else:
            joined.append(word[i])
            i += 1
    return tuple(joined)


NO_PAIR = (
    "When every word is a single token, no pair is left: stop as soon as count_pairs(words) is "
    "empty, and hand back the merges so far."
)


def words_to_learn(draw):
    words = counted(_the=3, _then=2, _net=1)
    yield Case("the first merge is that of the pencil", words, 1)
    yield Case("a joined token can be joined again", words, 3)
    yield Case("new tokens are numbered as they come", counted(xy=4, cde=2, abe=2, ab=2, cd=1), 4)
    yield Case("it ends when no pair is left", counted(abc=2), 5, hint=NO_PAIR)
    for _ in range(4):
        yield Case("it is right for random words", drawn_words(draw), 6)


@turn(
    turns,
    "Begin with a copy, ids = dict(BYTE_IDS). In each round: count the pairs of the words as they "
    "are now, take the best pair, write it down, give the new token pair[0] + pair[1] (this is its "
    "key in ids) the next id, join the pair in every word.",
    cases=words_to_learn,
    uses=["count_pairs", "join", "best_pair"],
    slips="""
    words = {join(word, pair): count for word, count in words.items()} => pass
        Every round finds the same pair: count anew in each, from the words as joined so far.
    best_pair(pairs, ids) => max(pairs, key=pairs.get)
        Of pairs that are equally frequent, max takes the one that it meets first: ties are decided
        by the ids, as best_pair(pairs, ids) does.
    merges.append(pair) => merges.append(pair[0] + pair[1])
        These are the new tokens: hand back the pairs that were joined.
    join(word, pair): count => join(word, pair): 1
        A word that occurs five times has each of its pairs five times: keep the counts.
    range(n_merges) => range(n_merges - 1)
        Count your merges: as many are asked for as n_merges says.
    """,
)
def learn(words, n_merges):
    """The pairs that are joined, in order; words maps tuples of tokens to counts."""
    ids, merges = dict(BYTE_IDS), []
    for _ in range(n_merges):
        if not (pairs := count_pairs(words)):
            break
        pair = best_pair(pairs, ids)
        merges.append(pair)
        ids[pair[0] + pair[1]] = len(ids)
        words = {join(word, pair): count for word, count in words.items()}
    return merges


SETTLE = [(b"e", b"t"), (b"h", b"e"), (b"t", b"he"), (b"t", b"l"), (b"et", b"tl"), (b"ettl", b"e")]
TANGLED = [(b"b", b"c"), (b"a", b"b"), (b"ab", b"c"), (b"a", b"bc"), (b"abc", b"a")]


def words_to_replay(draw):
    yield Case("it cuts a new word as training would have", to_bytes("settle net"), SETTLE)
    longest = "The longest token that fits is not the one that the merges make: go by their order."
    yield Case("the longest is not the first", to_bytes("abc"), TANGLED[:3], hint=longest)
    for text in ("abc", "ab", "abca", "cab"):
        yield Case("the merge that was learned first comes first", to_bytes(text), TANGLED)
    for _ in range(3):
        merges = learn.fallback({to_bytes(draw.text(8, "abc")): 1 + k for k in range(5)}, 6)
        yield Case("it is right for random words", to_bytes(draw.text(12, "abc")), merges)


@turn(
    turns,
    "Do with the new word what training did with its words: go through the merges in their order, "
    "and join. " + see(3, "From text to ids, and back"),
    cases=words_to_replay,
    uses=["join"],
    slips="""
    in merges => in merges[::-1]
        The merge that was learned first comes first; you begin with the last one.
    in merges => in merges[:1]
        Only the first merge was used: go on with what it leaves.
    return word => return b"".join(word)
        That is the word in one piece again: hand back the tuple of its tokens.
    word = join(word, pair) => joined = join(word, pair) ;; return word => return joined
        Each merge goes on with the word that the merge before has left.
    """,
)
def replay(word, merges):
    """The word after all merges, each joined in its turn."""
    for pair in merges:
        word = join(word, pair)
    return word
