"""Your turn with encoder and decoder: masks, block, forcing, spans."""

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn
from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import FeedForward
from helpers.models.encoder_decoder import DecoderBlock

turns = Lab("notebook16")


def padded_sources(draw):
    drawn = draw.integer(2, 6), 2, draw.integer(2, 7), 0
    for S, paddings, T, pad in ((3, 1, 3, 0), (5, 0, 4, 0), drawn, (3, 2, 3, 1)):
        source = torch.cat([draw.integers(3, 20, S), torch.full((paddings,), pad)])
        given = f"source {source.tolist()}, T = {T}, pad = {pad}"
        yield Case(f"{S} words, {paddings} paddings", source, T, pad, given=given)


@turn(
    turns,
    "Padding is a matter of columns: nobody looks at it. In the encoder and in the cross-attention "
    "nothing else is forbidden; in the decoder row t may look at the columns up to t. "
    + see(16, "Who may look at whom"),
    cases=padded_sources,
    slips="""
    return tuple(~mask for mask in three_masks(source, T, pad))
        True means *may look* here, and False that it is forbidden: these are the opposite.
    source != pad => source != 0
        The id of the padding is handed in: compare with pad, which need not be 0.
    source != pad => source == source
        Padding is forbidden as something to look at: where source is pad, the column is False.
    return real.expand(S, S) => return real[:, None].expand(S, S)
    return real.expand(S, S) => return real & real[:, None]
        Padding is forbidden as something to look *at*: it is a column, not a row. A row of padding
        whose columns are all forbidden would have nothing left to look at.
    return real.expand(S, S) => return real.expand(S, S).tril()
        Encoder and cross-attention have no triangle: the source has been read as a whole, and a
        word may also look at later ones.
    .tril() =>
        In the decoder the future is hidden: row t may not look at the columns behind t.
    .tril() => .tril(-1)
        A position of the decoder may look at itself, too: the diagonal is allowed.
    real.expand(T, S) => real.expand(T, S).T
        In the cross-attention the decoder looks, so its T positions are the rows: (T, S).
    """,
)
def three_masks(source, T, pad):
    """Ids (S,) -> who may look at whom: encoder (S, S), decoder (T, T), cross (T, S), all bool."""
    S, real = len(source), source != pad
    causal = torch.ones(T, T, dtype=torch.bool).tril()
    return real.expand(S, S), causal, real.expand(T, S)


def blocks(draw):
    for B, T, S, D, H in ((1, 3, 3, 4, 1), (2, 4, 6, 8, 2), (3, 1, 5, 6, 3)):
        attentions = [MultiHeadAttention(D, H, bias=True) for _ in range(2)]
        p = DecoderBlock(D, *attentions, FeedForward(D)).double().eval().requires_grad_(False)
        for name, parameter in p.named_parameters():  # gains and biases, too
            gain = 1 if name.endswith("norm.weight") else 0
            parameter.copy_(0.6 * draw.normal(*parameter.shape) + gain)
        mask = torch.arange(S) < torch.tensor([S, S - 2, 1])[:B, None]
        yield Case(
            "a batch with padding in the memory" if B > 1 else "one sentence",
            *(p, draw.normal(B, T, D), draw.normal(B, S, D), mask[:, None, None]),
            given=f"random parts, D = {D}, H = {H}, T_d = {T}, T_e = {S}",
        )


@turn(
    turns,
    "Three times the same: x plus a sub-layer of the normalized x. First the causal "
    "self-attention, then the cross-attention to the memory, then the feed-forward layer. "
    + see(16, "The decoder block"),
    cases=blocks,
    slips="""
    , causal=True =>
        The self-attention looks ahead: hide the future with causal=True.
    , mask=mask =>
        The padding of the memory is looked at: hand the mask to the cross-attention.
    , mask=mask => , mask=mask, causal=True
        The cross-attention has no triangle: the source has been read as a whole.
    memory, mask => p.cross_norm(memory), mask
        The memory is taken as it is: the encoder has normalized it once, at its end.
    p.cross_norm(x), memory => memory, p.cross_norm(x)
        The decoder asks, so x comes first; the memory, which answers, is the second argument.
    , memory, mask=mask =>
        The memory is not used: the cross-attention's keys and values come from it.
    return x + p => return p
        The residual connection is missing: each line adds what it finds to x.
    p.cross_norm(x) => x
    p.cross_norm(x) => p.attention_norm(x)
        Each sub-layer reads a normalized x, and has a norm of its own for it: p.attention_norm,
        p.cross_norm, p.feed_forward_norm.
    x = p.attention_norm(x); x = x + p.attention(x, causal=True); \
    x = p.cross_norm(x); x = x + p.cross_attention(x, memory, mask=mask); \
    x = p.feed_forward_norm(x); return x + p.feed_forward(x)
        What is found is added to x itself, not to its normalized copy.
    x = p.attention_norm(x + p.attention(x, causal=True)); \
    x = p.cross_norm(x + p.cross_attention(x, memory, mask=mask)); \
    return p.feed_forward_norm(x + p.feed_forward(x))
        These norms stand behind the additions, post-norm; here each sub-layer reads a normalized
        copy, and the stream itself is only added to.
    """,
)
def decoder_block(p, x, memory, mask=None):
    """Parts p, stream x (B, T_d, D), memory (B, T_e, D), its mask -> the new stream."""
    x = x + p.attention(p.attention_norm(x), causal=True)
    x = x + p.cross_attention(p.cross_norm(x), memory, mask=mask)
    return x + p.feed_forward(p.feed_forward_norm(x))


def batches(draw):
    yield Case("one sentence", [[7, 8, 9]], 1, 2, 0)
    for bos, eos, pad in ((1, 2, 0), (30, 31, 32)):
        rows = [draw.integers(3, 20, n).tolist() for n in (4, 2, draw.integer(5, 8), 1)]
        given = f"sentences of {', '.join(str(len(row)) for row in rows)} words"
        yield Case("sentences of several lengths", rows, bos, eos, pad, given=given)


@turn(
    turns,
    "What is read begins with bos, what is predicted ends in eos, and between them stand the same "
    "words, shifted by one. Fill up the first with pad, the second with -100. "
    + see(16, "Teacher forcing, and the phrase grammar again"),
    cases=batches,
    slips="""
    return teacher_forcing(rows, bos, eos, pad)[::-1]
        First what is read, then what is to be predicted: bos is read at the beginning, and eos
        predicted at the end. Here it is the other way round.
    torch.tensor(predict) => torch.tensor(read)
    [*row, eos] => [bos, *row]
        What is predicted stands one position further on: the first word at the position that reads
        bos.
    [bos, *row] => [*row, eos]
        The decoder reads bos first: from it, it has to predict the first word.
    [*row, eos] => [*row, -100]
        After the last word eos has to be predicted, or the decoder never learns to stop.
    T = max(map(len, rows)); \
    both = [[row + [k] * (T - len(row)) for row in rows] for k in (pad, -100)]; \
    return torch.tensor(both[0]), torch.tensor(both[1])
        Here the decoder reads the very word that it is to predict: shift them by one.
    [bos, *row] + [pad] => [bos, *row, eos] + [pad]
        The decoder never reads eos: behind it nothing is to be predicted.
    full = [[bos, *row, eos] for row in rows]; T = max(map(len, full)); \
    full = torch.tensor([row + [pad] * (T - len(row)) for row in full]); \
    return full[:, :-1], full[:, 1:].masked_fill(full[:, 1:] == pad, -100)
        The decoder never reads eos here, in shorter rows neither: behind it nothing is to be
        predicted. (The loss would be the same.)
    [-100] => [pad]
        In what is to be predicted, padding has the number -100, which cross_entropy leaves out.
    [pad] => [-100]
        What is read is filled up with pad: -100 is no word and has no embedding.
    """,
)
def teacher_forcing(rows, bos, eos, pad):
    """Lists of word ids -> what the decoder reads and what it is to predict, (B, T) each."""
    T = 1 + max(len(row) for row in rows)
    read = [[bos, *row] + [pad] * (T - 1 - len(row)) for row in rows]
    predict = [[*row, eos] + [-100] * (T - 1 - len(row)) for row in rows]
    return torch.tensor(read), torch.tensor(predict)


TEXT = ["Thank", "you", "for", "inviting", "me", "to", "your", "party", "last", "week", "."]
MARKS = [f"<{k}>" for k in range(9)]
SLIDE = "the example of the slide"


def texts(draw):
    given = "the text of the slide, spans (2, 4) and (8, 9)"
    yield Case(SLIDE, TEXT, [(2, 4), (8, 9)], MARKS, given=given)
    numbers, spans = list(range(10, 16)), [(0, 2), (5, 6)]
    yield Case("a span may stand at either end", numbers, spans, [90, 91, 92])
    tokens, spans = draw.integers(10, 99, 12).tolist(), [(1, 4), (5, 6), (8, 11)]
    yield Case("any text", tokens, spans, [201, 202, 203, 204, 205])


@turn(
    turns,
    "Go through the spans. To what is read, add the tokens since the last span and the mark; to "
    "what is written, the mark and the span's tokens. At the end add the rest of the text to the "
    "one and one more mark to the other. " + see(16, "Text in, text out: T5"),
    cases=texts,
    slips="""
    , marks[len(spans)]] => ]
    marks[len(spans)] => marks[-1]
        What is written ends in one more mark, which says that the last span is over: the next one
        in the row, marks[len(spans)].
    *tokens[begin:first], mark] => *tokens[begin:first], *[mark] * (after - first)]
        One mark stands for the whole span, however long it is.
    *tokens[first:after]] => *tokens[first : after + 1]]
        A span ends before its second number: tokens[first:after].
    , *tokens[begin:]] => ]
        The tokens behind the last span belong to what is read.
    begin = after => pass
        Each time only the tokens since the last span are added: begin anew behind it.
    *tokens[begin:first], mark] => *tokens[begin:after], mark]
        What is cut out does not stand in what is read: a mark stands in place of each span.
    [mark, *tokens[first:after]] => [*tokens[first:after], mark]
        In what is written, its mark stands *in front of* each span.
    return corrupt(tokens, spans, marks)[::-1]
        First what is read, then what is written.
    """,
)
def corrupt(tokens, spans, marks):
    """A list of tokens, spans (first, after the last), marks -> what is read, what is written."""
    source, target, begin = [], [], 0
    for (first, after), mark in zip(spans, marks):
        source += [*tokens[begin:first], mark]
        target += [mark, *tokens[first:after]]
        begin = after
    return [*source, *tokens[begin:]], [*target, marks[len(spans)]]
