"""Your turn with pictures: patches, Bayes' sum over places, an exchange, a caption's loss."""

import torch
from torch.nn import functional as F

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.turn import Case, turn

turns = Lab("notebook21")
TEXT = see(21, "A picture is a text of patches")
CEILING = see(21, "A task with a known ceiling")
EXCHANGE = see(21, "Exchange all patches alike")
CAPTION = see(21, "From picture to words")


def small_pictures(draw):
    by_hand = torch.arange(16.0).view(1, 1, 4, 4)
    yield Case("by hand", by_hand, 2, given="the picture of the text, p = 2")
    yield Case("a picture that is no square", draw.normal(2, 1, 4, 8), 2, given="4 x 8 pixels")
    yield Case("three channels", draw.normal(2, 3, 6, 6), 3, given="3 x 6 x 6 numbers, p = 3")
    yield Case("patches of one pixel", draw.normal(1, 2, 3, 3), 1, given="p = 1")


@turn(
    turns,
    "Split height and width, (H/p, p) and (W/p, p); move both p to the end, behind the channels; "
    f"then join rows with columns of the grid, and the three last dimensions. {TEXT}",
    cases=small_pictures,
    slips="""
    grid.permute(0, 2, 4, 1, 3, 5) => grid
        A patch has to be put together first: permute, so that the grid's row and column come first,
        then channel, row and column within the patch. reshape alone cuts the memory as it lies.
    grid.permute(0, 2, 4, 1, 3, 5) => grid.permute(0, 4, 2, 1, 3, 5)
        The patches run column by column: row by row is asked for, as one reads.
    grid.permute(0, 2, 4, 1, 3, 5) => grid.permute(0, 2, 4, 1, 5, 3)
        Within a patch rows and columns are exchanged.
    grid.permute(0, 2, 4, 1, 3, 5) => grid.permute(0, 2, 4, 3, 5, 1)
        Within a patch the channels come first, as in a picture: all of one channel, then the next.
    view(B, C, H // p, p, W // p, p) => view(B, C, p, H // p, p, W // p)
        Of a split dimension the coarser part stands first: (H // p, p), since neighbouring rows
        belong to the same patch.
    """,
    errors={
        "Use .reshape": "After permute the numbers do not lie side by side: reshape, not view.",
        "invalid for input of size": "Splitting must keep how many numbers there are: H is H // p "
        "times p, and W is W // p times p.",
    },
)
def patches(pictures, p):
    """Pictures (B, C, H, W) -> their patches of p x p pixels, row by row, (B, N, C p p)."""
    B, C, H, W = pictures.shape
    grid = pictures.view(B, C, H // p, p, W // p, p)
    return grid.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * p * p)


def equally_strong(glyphs):
    """Letters of the same norm, 2."""
    return 2 * glyphs / glyphs.flatten(1).norm(dim=1)[:, None, None, None]


def noisy(draw):
    one = torch.zeros(1, 1, 2, 3)
    one[0, 0, 0] = torch.tensor([1.0, 2.0, 0.0])
    two = torch.tensor([[[[1.0]]], [[[-1.0]]]])
    yield Case("by hand", one, two, 1.0, given="pixels 1 2 0 / 0 0 0, glyphs 1 and -1, sigma = 1")
    yield Case(
        "any pictures", draw.normal(3, 1, 5, 6), equally_strong(draw.normal(2, 1, 3, 3)), 0.7
    )
    parts = 9 * draw.normal(2, 1, 6, 6), 9 * equally_strong(draw.normal(3, 1, 2, 2))
    hint = "exp overflows for numbers as large as these: logsumexp does not."
    yield Case("little noise", *parts, 0.3, given="large numbers, sigma = 0.3", hint=hint)


def normalised(answer, *arguments):
    """log P(letter | picture): the scores' constant is free, and may be another in each picture."""
    scores = answer(*arguments)
    is_table = isinstance(scores, torch.Tensor) and scores.ndim == 2 and scores.is_floating_point()
    return scores.log_softmax(1) if is_table else scores


@turn(
    turns,
    "F.conv2d(pictures, glyphs) is the inner product at every place, (B, classes, rows, columns). "
    f"Divide by the variance, flatten the places, and take logsumexp over them. {CEILING}",
    cases=noisy,
    call=normalised,
    slips="""
    match.flatten(2).logsumexp(2) => match.logsumexp(2)
        That sums over the rows alone: flatten rows and columns into one dimension first.
    match.flatten(2).logsumexp(2) => match.flatten(2).exp().sum(2)
        After the sum of exponentials the logarithm is taken again, and exp overflows for large
        numbers: logsumexp does both without overflow.
    / noise**2 => ;; .logsumexp(2) => .logsumexp(2) / noise**2
        Divide before the sum: a sum of exponentials that is divided afterwards is another.
    .logsumexp(2) => .amax(2)
        That is the score of the best place alone: the places are summed, by logsumexp.
    .logsumexp(2) => .sum(2)
        It is probabilities that are summed over the places, not their logarithms: logsumexp.
    .logsumexp(2) => .logsumexp(1)
        The sum runs over the places, not over the letters: they stay apart.
    / noise**2 =>
        The noise is missing: divide by its variance.
    noise**2 => noise
        Divide by the variance, the square of the standard deviation.
    noise**2 => (2 * noise**2)
        The 2 goes away: the square of a difference has the inner product twice.
    """,
)
def log_scores(pictures, glyphs, noise):
    """Pictures (B, 1, H, W), letters (C, 1, h, w), sigma -> log P(letter | picture) + constant."""
    match = F.conv2d(pictures, glyphs) / noise**2
    return match.flatten(2).logsumexp(2)


def orders(draw):
    yield Case("by hand", torch.tensor([[9.0], [1.0], [2.0], [3.0]]), torch.tensor([2, 0, 1]))
    for n in (5, 9):
        order = torch.randperm(n, generator=draw.generator)
        yield Case("any order", draw.normal(1 + n, 3), order, given=f"{n} patches")


@turn(
    turns,
    "The class token's row stays in front. The patch that now stands at i was at order[i], and "
    f"takes its position along. {EXCHANGE}",
    cases=orders,
    slips="""
    positions[1:][order] => positions[order]
        The patches' positions begin with the second row: the first is the class token's.
    positions[1:][order] => positions[1:][order.argsort()]
        The other way round: what stands at i now came from order[i].
    torch.cat([positions[:1], positions[1:][order]]) => positions[1:][order]
        The class token's position is missing: it stays in front.
    torch.cat([positions[:1], positions[1:][order]]) => \
    torch.cat([positions[1:][order], positions[:1]])
        The class token stays in front.
    """,
)
def exchanged(positions, order):
    """Positions (1 + N, D), and where each patch came from, (N,) -> positions (1 + N, D)."""
    return torch.cat([positions[:1], positions[1:][order]])


def captioned(draw):
    logits = torch.tensor([[[0.0, 0.0], [0.0, 0.0], [0.0, 2.0], [3.0, 0.0], [0.0, 5.0]]])
    given = (
        "two patches, the caption 0 1 0, and logits 0 2 where word 0 stands, 3 0 where word 1 is"
    )
    yield Case("by hand", logits, torch.tensor([[0, 1, 0]]), given=given)
    for B, N, T, V in ((2, 4, 3, 5), (3, 9, 6, 4), (2, 1, 4, 7)):
        words = draw.integers(0, V, B, T)
        given = f"{B} captions of {T} words, {N} patches"
        yield Case("any captions", draw.normal(B, N + T, V), words, given=given)


@turn(
    turns,
    "The words are the last T of the N + T tokens. Each predicts the one after it, so the "
    f"last one predicts nothing, and the first is predicted by nobody. {CAPTION}",
    cases=captioned,
    slips="""
    logits[:, -T:-1], words[:, 1:] => logits[:, -T:], words
        Each word is asked to predict itself here: it has to predict the next one, so leave out the
        last logits and the first word.
    logits[:, -T:-1], words[:, 1:] => logits[:, 1 - T :], words[:, 1:]
        Each word is asked to predict itself here: logits belong one place before their word.
    logits[:, -T:-1], words[:, 1:] => logits[:, 1 - T :], words[:, :-1]
        The wrong way round: each word predicts the one before it.
    logits[:, -T:-1], words[:, 1:] => logits[:, -T - 1 : -1], words
        The first word is <s>, which stands there always: the last patch need not predict it.
    logits[:, -T:-1] => logits[:, : T - 1]
        These are the logits of the first patches: the words are the last T tokens.
    true.flatten()) => true.flatten(), reduction="sum")
        The mean over all predicted words is asked for, not the sum.
    """,
    errors={
        "to match target batch_size": "As many rows of logits as words: those of the last T tokens "
        "without the very last, since patches predict nothing; flatten(0, 1) joins the pictures.",
        "Expected target size": "F.cross_entropy takes logits (rows, V) and words (rows,): join "
        "pictures and words with flatten.",
    },
)
def caption_loss(logits, words):
    """Logits (B, N + T, V), captions (B, T) -> mean loss of a word that is predicted, a scalar."""
    T = words.shape[1]
    said, true = logits[:, -T:-1], words[:, 1:]
    return F.cross_entropy(said.flatten(0, 1), true.flatten())
