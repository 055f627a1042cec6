"""Your turn with encoder and decoder: masks, block, forcing, writing, spans, prefixes, score."""

from collections import Counter

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Complaint
from helpers.course.checks.turn import Case, turn
from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import FeedForward
from helpers.models.encoder_decoder import DecoderBlock

turns = Lab("notebook16")


def padded_sources(draw):
    for S, paddings, T in ((3, 1, 3), (5, 0, 4), (draw.integer(2, 6), 2, draw.integer(2, 7))):
        source = torch.cat([draw.integers(3, 20, S), torch.zeros(paddings, dtype=torch.long)])
        given = f"source {source.tolist()}, T = {T}, pad = 0"
        yield Case(f"{S} words, {paddings} paddings", source, T, 0, given=given)


@turn(
    turns,
    "Padding is a matter of columns: nobody looks at it. In the encoder and in the cross-attention "
    "nothing else is forbidden; in the decoder row t may look at the columns up to t. "
    + see(16, "Who may look at whom"),
    cases=padded_sources,
    slips="""
    return tuple(~mask for mask in three_masks(source, T, pad))
        True means *may look* here, and False that it is forbidden: these are the opposite.
    source != pad => source == source
    source != pad => source == pad
        Padding is forbidden as something to look at: where source is pad, the column is False.
    return real.expand(S, S) => return real[:, None].expand(S, S)
    return real.expand(S, S) => return (real & real[:, None])
        Padding is forbidden as something to look *at*: it is a column, not a row. A row of padding
        whose columns are all forbidden would have nothing left to look at.
    return real.expand(S, S) => return real.expand(S, S).tril()
    real.expand(T, S) => real.expand(T, S).tril()
        Encoder and cross-attention have no triangle: the source has been read as a whole, and a
        word may also look at later ones.
    .tril() =>
        In the decoder the future is hidden: row t may not look at the columns behind t.
    .tril() => .tril(-1)
        A position of the decoder may look at itself, too: the diagonal is allowed.
    real.expand(T, S) => real.expand(T, S).T
        In the cross-attention the decoder looks, so its T positions are the rows: (T, S).
    , dtype=torch.bool =>
    return tuple(mask.float() for mask in three_masks(source, T, pad))
        Bool tensors are asked for, True and False.
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
    , memory, mask=mask =>
        The memory is not used: the cross-attention's keys and values come from it.
    x = x + p.attention( => x = p.attention(
    x = x + p.cross_attention( => x = p.cross_attention(
    return x + p => return p
        The residual connection is missing: each line adds what it finds to x.
    p.attention_norm(x) => x
    p.cross_norm(x) => x
    p.feed_forward_norm(x) => x
    p.cross_norm(x) => p.attention_norm(x)
        Each sub-layer reads a normalized x, and has a norm of its own for it: p.attention_norm,
        p.cross_norm, p.feed_forward_norm.
    x = p.attention_norm(x + p.attention(x, causal=True)); \
    x = p.cross_norm(x + p.cross_attention(x, memory, mask=mask)); \
    return p.feed_forward_norm(x + p.feed_forward(x))
        These norms stand behind the additions, post-norm; here each sub-layer reads a normalized
        copy, and the stream itself is only added to.
    x = x + p.cross_attention(p.cross_norm(x), memory, mask=mask); \
    x = x + p.attention(p.attention_norm(x), causal=True); \
    return x + p.feed_forward(p.feed_forward_norm(x))
        The order is self-attention, cross-attention, feed-forward: a word first learns from its own
        sentence what to look for.
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
    [bos, *row] + [pad] => [*row] + [pad]
        The decoder reads bos first: from it, it has to predict the first word.
    [*row, eos] => [*row, -100]
    [*row, eos] + [-100] => [*row] + [-100]
        After the last word eos has to be predicted, or the decoder never learns to stop.
    T = max(map(len, rows)); \
    both = [[row + [k] * (T - len(row)) for row in rows] for k in (pad, -100)]; \
    return torch.tensor(both[0]), torch.tensor(both[1])
        Here the decoder reads the very word that it is to predict: shift them by one.
    [bos, *row] + [pad] => [bos, *row, eos] + [pad]
        The decoder never reads eos: behind it nothing is to be predicted.
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


class Speaker:
    """An encoder-decoder that surely says these words, if it reads bos and what it wrote."""

    def __init__(self, told, source, V=10):
        self.told, self.source, self.V, self.readings = [1, *told], source, V, 0

    def encode(self, source):
        self.readings += 1
        if self.readings > 1:
            once = "The source does not change, so it is read once, before the loop."
            raise Complaint("the source is read once", once)
        return source.double()[..., None], (source != 0)[:, None, None]

    def decode(self, words, memory, mask):
        logits = torch.zeros(1, words.shape[1], self.V)
        fits = torch.equal(memory[..., 0], self.source.double()) and mask.dtype == torch.bool
        for t in range(words.shape[1]):
            begun = words[0, : t + 1].tolist() == self.told[: t + 1]
            following = self.told[t + 1] if t + 1 < len(self.told) else self.V - 1
            logits[0, t, following if begun and fits else 0] = 5.0
        return logits


def sentences(draw):
    for rule, told, longest in (
        ("it writes until eos comes", [4, 6, 3, 2], 12),
        ("a word may come twice", [4, 4, 8, 4, 2], 12),
        ("it ends at the longest length", [4, 6, 3, 7, 8, 5, 3], 4),
        ("a sentence may be empty", [2], 5),
    ):
        given = f"a decoder that says {told}, longest = {longest}, bos = 1, eos = 2"
        yield Case(rule, told, torch.tensor([[5, 6, 7]]), 1, 2, longest, given=given)


def with_speaker(write, told, source, *rest):
    speaker = Speaker(told, source)
    return write(speaker.encode, speaker.decode, source, *rest)


@turn(
    turns,
    "Encode once. Then, with all words so far, decode, take the last row, and the word with the "
    "largest logit; stop at eos, else append it. Hand back a plain list of ids, without bos and "
    "eos. " + see(16, "Writing: the source is read once"),
    cases=sentences,
    call=with_speaker,
    slips="""
    words[1:] => words
    words[1:] => [*words[1:], eos]
    words[1:] => [*words, eos]
        Leave out both marks: bos was given, not written, and eos is no word.
    len(words) <= longest => len(words) < longest
    len(words) <= longest => len(words) <= longest + 1
        The sentence is one word too short or too long: `longest` words may be written, without bos.
    [0, -1] => [0, 0]
        The first word is written again and again: look at the *last* row of the logits, [0, -1].
    torch.tensor([words]) => torch.tensor([words[-1:]])
        The decoder reads *all* words so far, bos included, at each step.
    """,
)
def write(encode, decode, source, bos, eos, longest):
    """French ids (1, S) -> the list of English ids that are written greedily."""
    memory, mask = encode(source)
    words = [bos]
    while len(words) <= longest:
        y = int(decode(torch.tensor([words]), memory, mask)[0, -1].argmax())
        if y == eos:
            break
        words.append(y)
    return words[1:]


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
    "one and one more mark to the other. " + see(16, "Cut spans out of a text, and write them"),
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
    [*tokens[begin:first], mark] => tokens[begin:first]
        What is cut out does not stand in what is read: a mark stands in place of each span.
    [mark, *tokens[first:after]] => tokens[first:after]
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


def cut_texts(draw):
    yield Case(SLIDE, *corrupt.fallback(TEXT, [(2, 4), (8, 9)], MARKS), MARKS, given=SLIDE)
    tokens, marks = draw.integers(10, 99, 14).tolist(), [201, 202, 203, 204, 205]
    for spans in ([(0, 3), (5, 6), (9, 14)], [(2, 7)]):
        given = f"fourteen numbers, cut at {spans}"
        yield Case("nothing is lost", *corrupt.fallback(tokens, spans, marks), marks, given=given)


@turn(
    turns,
    "First collect the spans from what is written: a mark begins a new list, other tokens are "
    "appended to it. Then go through what is read, and put the list in place of its mark. "
    + see(16, "Cut spans out of a text, and write them"),
    cases=cut_texts,
    slips="""
    text += spans[token] if => text += [token, *spans[token]] if
        The mark itself goes: its span stands in its place.
    text += spans[token] if => text += [] if
        The spans are missing: they stand in what is written, behind their marks.
    text += spans[token] if token in marks else [token] => text += [token]
        The marks are still there: put their spans in their places.
    text += spans[token] if => text += spans[token][:1] if
        A span may have several tokens: all of them belong in the text.
    text += spans[token] if token in marks else [token] => \
    text.append(spans[token] if token in marks else token)
        One flat list is asked for: add the tokens of a span, not the list.
    """,
)
def restore(source, target, marks):
    """What is read, what is written, the marks -> the text, a list of tokens."""
    spans, text = {}, []
    for token in target:
        if token in marks:
            span = spans[token] = []
        else:
            span.append(token)
    for token in source:
        text += spans[token] if token in marks else [token]
    return text


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
            English (e), in French (f), or a broken one (b).
    """
    told = {}
    for (prefix, side), kinds in zip(PAIRS, plan):
        for (french, english), kind in zip(TWINS, kinds):
            broken = (english if prefix == "to-English:" else french)[:-1]
            source = (prefix, *(french, english)[side])
            told[source] = {"e": english, "f": french, "b": broken}[kind]
    return lambda sources: [told.get(tuple(source), ("?",)) for source in sources]


def writers(draw):
    drawn = ["".join("efb"[k] for k in draw.integers(0, 3, 7).tolist()) for _ in PAIRS]
    by_hand, blind = ("eeeef", "effbb", "ffeeb", "fffeb"), ("eee", "fff", "eee", "fff")
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
    "language. " + see(16, "One model, three prefixes"),
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
    return [list(column) for column in zip(*exchange(write, french, english))]
    return exchange(write, french, english)[::-1]
    for sentences in (french, english) => for sentences in (english, french)
        A row belongs to a prefix, the first row to to-English:, and a column to the language of the
        sentence: French sentences come first.
    (a, _), (_, d) = exchange(write, french, english); return [a, d]
    (a, _), (_, d) = exchange(write, french, english); return [[a], [d]]
        These are the two usual cases only. The test is to exchange the prefix: each of the two
        before sentences of both languages, four numbers in all.
    / len(wanted) =>
    row.append(sum => row.append(100 * sum
        A share is a number from 0 to 1: divide the count by the number of sentences.
    (prefix, *words) => words
    (prefix, *words) => (*words, prefix)
        What the model reads begins with its prefix: it is the first word of every source, in front
        of the words of the sentence.
    sum(t == w for t, w in => sum(sum(a == b for a, b in zip(t, w)) / len(w) for t, w in
        A text counts if it is the wanted sentence word for word, not in part.
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


def stories(draw):
    words = ["the", "a", "gull", "boat", "sea", "dog", "sang", "old"]
    drawn = [" ".join(words[i] for i in draw.integers(0, 8, n)) for n in (6, 9, 6, 9)]
    for rule, found, wanted in (
        ("by hand: 2/3", "the cat sees the dog", "a red dog now sees the cat"),
        ("words that come twice", "the the the gull", "the old gull and the boat"),
        ("a text against itself has 1", "the the the gull", "the the the gull"),
        ("any two texts", *drawn[:2]),
        ("any two texts", *drawn[2:]),
    ):
        yield Case(rule, found.split(), wanted.split(), given=f"{found} | {wanted}")


@turn(
    turns,
    "Count the words that both have, each as often as it occurs in both, and divide twice that "
    "number by the number of words in both texts together. " + see(16, "Does it read the story?"),
    cases=stories,
    slips="""
    sum((Counter(found) & Counter(wanted)).values()) => len(set(found) & set(wanted))
    return 2 * len(set(found) & set(wanted)) / (len(set(found)) + len(set(wanted)))
        A word counts as often as it occurs in *both* texts: a set forgets how often.
    2 * common / (len(found) + len(wanted)) => common / len(wanted)
        That is the recall, the share of the wanted words: a text of all words would win. F1 takes
        both lengths.
    2 * common / (len(found) + len(wanted)) => common / len(found)
        That is the precision, the share of the words that were found: one right word would win. F1
        takes both lengths.
    2 * common => common
        Two equal texts must get 1: the common words count twice, once for each text.
    sum((Counter(found) & Counter(wanted)).values()) => sum(word in wanted for word in found)
        A word that is found three times and wanted once counts once: take the smaller number of
        the two.
    sum((Counter(found) & Counter(wanted)).values()) => sum(a == b for a, b in zip(found, wanted))
        The order does not count here: a common word may stand anywhere.
    """,
)
def rouge_1(found, wanted):
    """Two lists of words -> the F1 of their single words, 0 to 1."""
    common = sum((Counter(found) & Counter(wanted)).values())
    return 2 * common / (len(found) + len(wanted))
