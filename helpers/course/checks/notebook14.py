"""Your turn with a GPT that writes: a nucleus, a penalty, a mask, a block with a cache."""

import math

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn
from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import FeedForward, PreNormBlock, RMSNorm
from helpers.models.positions import RotaryPositions

turns = Lab("notebook14")


def distributions(draw):
    p = torch.tensor([0.3, 0.05, 0.5, 0.15])
    yield Case("the likeliest token always stays", p, 0.45)
    yield Case("by hand", p, 0.9)
    rule = "a sum that is just the share is enough"
    yield Case(rule, torch.tensor([0.25, 0.25, 0.5]), 0.5)
    for share in (0.55, 0.8, 0.95):
        yield Case("it is right for any distribution", draw.normal(12).softmax(-1).float(), share)


@turn(
    turns,
    "Go through the tokens from the likeliest on; take each, add its probability, and stop as soon "
    "as the sum has reached the share. Then divide by the sum of what was taken. "
    + see(14, "One distribution, three rules"),
    cases=distributions,
    slips="""
    kept[token] = p[token] => pass ;; together += p[token] => together += p[token]; \
    kept[token] = p[token] if together <= share else 0.0
        The token with which the sum reaches the share is still taken.
    if together >= share: => if together > share:
        That is one token too many: stop as soon as the sum has reached the share.
    return kept / kept.sum() => return kept
        What is left has to sum to 1: divide by the sum.
    return kept / kept.sum() => return kept / share
        Divide by the sum of what is left, which may be more than the share.
    return kept / kept.sum() => return kept.softmax(-1)
        These are probabilities already, not logits: divide by their sum.
    p.argsort(descending=True) => torch.arange(len(p))
        Go through the tokens in the order of their probability, the likeliest first.
    if together >= share: => if p[token] < share:
        The share is compared with the *sum* of the tokens taken, not with each of them.
    """,
)
def top_p(p, share):
    """The fewest tokens of p (V,), the likeliest first, that hold `share` together; sum 1."""
    kept, together = torch.zeros_like(p), 0.0
    for token in p.argsort(descending=True).tolist():
        kept[token] = p[token]
        together += p[token]
        if together >= share:
            break
    return kept / kept.sum()


def texts_so_far(draw):
    x = torch.tensor([2.0, 0.5, -1.0, 0.0, -3.0]).double()
    text = torch.tensor([0, 2, 0, 0])
    yield Case("by hand", x, text, 0.5, 0.25, given="tokens 0, 2, 0, 0; presence 0.5, frequency ¼")
    for presence, frequency in ((1.0, 0.0), (0.0, 0.75), (0.5, 0.25)):
        given = f"V = 9, a text of 20 tokens, presence {presence:g}, frequency {frequency:g}"
        rule = "one penalty alone" if presence * frequency == 0 else "both together"
        yield Case(rule, draw.normal(9), draw.integers(0, 7, 20), presence, frequency, given=given)


@turn(
    turns,
    "Count how often each of the V tokens stands in the text: torch.bincount(text, "
    "minlength=len(x)). Take off frequency times this count, and presence where it is not 0. "
    + see(14, "A penalty for saying it again"),
    cases=texts_so_far,
    slips="""
    - frequency * counts => - frequency * (counts > 0)
        The frequency penalty is taken off once for *each* time that a token stands in the text.
    - presence * (counts > 0) => - presence * counts
        The presence penalty is taken off once, however often a token stands in the text.
    - frequency * counts =>
        The frequency penalty is missing.
    - presence * (counts > 0) =>
        The presence penalty is missing.
    x - presence * (counts > 0) - frequency * counts => \
    x + presence * (counts > 0) + frequency * counts
        That makes what was said likelier: the penalties are taken off.
    counts = torch.bincount(text, minlength=len(x)) => \
    counts = torch.bincount(text[-1:], minlength=len(x))
        The whole text counts, not its last token alone.
    return x - presence * (counts > 0) - frequency * counts => \
    return (x - presence * (counts > 0) - frequency * counts).softmax(-1)
        Hand back the logits themselves: the softmax comes later, with the temperature.
    """,
)
def penalised(x, text, presence, frequency):
    """Logits x (V,) after the penalties for the tokens of text (n,)."""
    counts = torch.bincount(text, minlength=len(x))  # (V,)
    return x - presence * (counts > 0) - frequency * counts


YES_NO = {(0, "y"): 1, (1, "e"): 2, (2, "s"): 3, (0, "n"): 4, (4, "o"): 3, (3, "$"): 5}


def grammars(draw):
    pieces = ["y", "ye", "yes", "no", "o", "non", "yes$", "$", " yes", "es"]
    given = "the grammar of yes and no, in its state {}; the tokens " + ", ".join(pieces)
    for state in (0, 1, 3, 5):
        rule = "by hand" if state == 0 else "in any state"
        yield Case(rule, state, pieces, YES_NO, given=given.format(state))
    letters = "abc"
    for _ in range(3):
        step = {
            (s, c): draw.integer(0, 5)
            for s in range(5)
            for c in letters
            if draw.integer(0, 100) < 65
        }
        words = sorted({"".join(letters[i] for i in draw.integers(0, 3, n)) for n in (1, 2, 3) * 4})
        given = f"a random grammar of five states over a, b, c; {len(words)} tokens"
        yield Case("any grammar", draw.integer(0, 5), words, step, given=given)


@turn(
    turns,
    "For each token: begin in `state`, and go on with step.get((state, character)) for each of its "
    "characters; None means that no arrow leads on. Allowed is what gets through to its last "
    "character. " + see(14, "Text that a program can read"),
    cases=grammars,
    slips="""
    for character in piece: => for character in piece[:1]:
        A token must fit to its *last* character: after the first, go on from where the arrow led.
    now = step.get((now, character)) => now = step.get((state, character))
        Each character is read in the state to which the one before it has led, from the first on.
    step.get((now, character)) => step.get((now, character), now)
    mask.append(now is not None) => mask.append(any((state, c) in step for c in piece))
        One arrow is not enough: where a character has none, the token is not allowed.
    now = state => pass ;; mask = [] => mask, now = [], state
        Every token is tried from the same state: begin there anew for each.
    mask.append(now is not None) => mask.append(now is None)
        True means allowed: the arrows have led through to the end.
    mask.append(now is not None) => mask.append(bool(now))
        A state may have the number 0: ask whether it is None.
    mask.append(now is not None) => mask.append(now is not None and now == max(step.values()))
        A token may end in the middle of the form: it need not be complete.
    """,
)
def allowed(state, pieces, step):
    """Which tokens, given as texts, the grammar can read from `state`: (V,) booleans."""
    mask = []
    for piece in pieces:
        now = state
        for character in piece:
            now = step.get((now, character))
        mask.append(now is not None)
    return torch.tensor(mask)


def project(attention, x, start):
    """Queries, keys, values (B, H, T, K) of x (B, T, D), whose first token has position start."""
    maps = attention.query, attention.key, attention.value
    q, k, v = (m(x).unflatten(2, (attention.n_heads, -1)).transpose(1, 2) for m in maps)
    q, k = attention.query_norm(q), attention.key_norm(k)
    rotate = attention.positions.rotate
    return rotate(q, start), rotate(k, start), v


def attend(q, keys, values):
    """Contexts (B, T, D) of the queries q (B, H, T, K) of the last T of S positions."""
    T, S = q.shape[2], keys.shape[2]
    may = torch.ones(T, S, dtype=torch.bool, device=q.device).tril(S - T)
    scores = (q @ keys.mT / math.sqrt(q.shape[3])).masked_fill(~may, -math.inf)
    return (scores.softmax(-1) @ values).transpose(1, 2).flatten(2)


def a_block(draw, D, H):
    attention = MultiHeadAttention(D, H, positions=RotaryPositions(D // H), qk_norm=RMSNorm)
    block = PreNormBlock(D, attention, FeedForward(D, bias=False), RMSNorm)
    for weight in block.double().requires_grad_(False).parameters():
        weight.copy_(draw.normal(*weight.shape) / weight.shape[-1] ** 0.5)
    return block


def read_in_pieces(answer, block, pieces):
    """What a block makes of pieces of a text, one after the other, and its cache at the end."""
    B, _, D = pieces[0].shape
    H = block.attention.n_heads
    cache = [torch.zeros(B, H, 0, D // H).double(), torch.zeros(B, H, 0, D // H).double()]
    return [*(answer(block, x, cache) for x in pieces), *cache]


def texts_in_pieces(draw):
    D, H = 16, 4
    block = a_block(draw, D, H)
    for rule, B, lengths in (
        ("one token after the other", 1, (1, 1, 1)),
        ("a prompt, then single tokens", 1, (4, 1, 1)),
        ("two texts at once, in pieces", 2, (3, 2, 1)),
    ):
        x = [draw.normal(B, T, D) for T in lengths]
        given = f"B = {B}, D = {D}, H = {H}; pieces of " + ", ".join(map(str, lengths))
        yield Case(rule, block, x, given=given)


@turn(
    turns,
    "In order: start is the length of the cache; project the normalized x; put the new keys and "
    "values behind the old ones, cache[0] = torch.cat([cache[0], k], 2), and likewise the values; "
    "attend to all of them; then the two sums of a block. " + see(14, "Nothing is read twice"),
    cases=texts_in_pieces,
    call=read_in_pieces,
    uses={"project", "attend"},
    slips="""
    start = cache[0].shape[2] => start = 0
        The new tokens do not stand at position 0: as many stand before them as the cache holds.
    start = cache[0].shape[2] => start = x.shape[1]
        That is the number of the *new* tokens; before them stand those of the cache.
    cache[0] = torch.cat([cache[0], k], dim=2) => cache[0] = k ;; \
    cache[1] = torch.cat([cache[1], v], dim=2) => cache[1] = v
        The older keys and values are lost: join the new ones to them.
    cache[0] = torch.cat([cache[0], k], dim=2) => K = torch.cat([cache[0], k], dim=2) ;; \
    cache[1] = torch.cat([cache[1], v], dim=2) => V = torch.cat([cache[1], v], dim=2) ;; \
    attend(q, cache[0], cache[1]) => attend(q, K, V)
        The cache has not grown: the next call must find the new keys and values in it.
    attend(q, cache[0], cache[1]) => attend(q, k, v)
        The new tokens look at all keys and values, cache[0] and cache[1], not at their own alone.
    x = x + block.attention.output => x = block.attention.output
    return x + block.feed_forward( => return block.feed_forward(
        A block *adds* to the stream what its two parts say.
    q, k, v = project(block.attention, block.attention_norm(x), start) => \
    x = block.attention_norm(x); q, k, v = project(block.attention, x, start)
        The stream itself goes on: normalize only what the attention reads.
    block.attention.output(attend(q, cache[0], cache[1])) => attend(q, cache[0], cache[1])
        The heads' contexts pass through block.attention.output before they are added.
    project(block.attention, block.attention_norm(x), start) => project(block.attention, x, start)
        Attention reads the *normalized* stream, block.attention_norm(x).
    block.feed_forward(block.feed_forward_norm(x)) => block.feed_forward(x)
        The feed-forward layer reads the normalized stream, block.feed_forward_norm(x).
    """,
)
def cached_block(block, x, cache):
    """A block reads new tokens x (B, T, D); its cache, keys and values (B, H, P, K), grows."""
    start = cache[0].shape[2]
    q, k, v = project(block.attention, block.attention_norm(x), start)
    cache[0] = torch.cat([cache[0], k], dim=2)
    cache[1] = torch.cat([cache[1], v], dim=2)
    x = x + block.attention.output(attend(q, cache[0], cache[1]))
    return x + block.feed_forward(block.feed_forward_norm(x))
