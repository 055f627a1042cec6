"""Other right answers to notebook 21, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== patches
by view | .reshape( => .view( | reshape, not
flat | reshape(B, -1, C * p * p) => reshape(B, -1) | join rows

== log_scores
padded | F.conv2d(pictures, glyphs) => F.conv2d(pictures, glyphs, padding=1) | inner product
probabilities | .logsumexp(2) => .logsumexp(2).softmax(1) | inner product
by exp | .logsumexp(2) => .exp().sum(2).log() | overflows

== exchanged
as they are | positions[1:][order] => positions[1:] | takes its position
backwards | positions[1:][order] => positions[1:].flip(0) | takes its position

== caption_loss
all tokens | logits[:, -T:-1] => logits | patches predict
half joined | .flatten(0, 1) => | joins the pictures
unjoined | said.flatten(0, 1), true.flatten() => said, true | join p
no loss | F.cross_entropy( => -F.cross_entropy( | the last T
""")

REWRITES = rewrites("""
== patches | by unfold
def patches(pictures, p):
    return F.unfold(pictures, p, stride=p).transpose(1, 2)

== log_scores | by unfold
def log_scores(pictures, glyphs, noise):
    parts = F.unfold(pictures, tuple(glyphs.shape[2:]))
    return (glyphs.flatten(1) @ parts / noise**2).logsumexp(-1)

== log_scores | normalised
def log_scores(pictures, glyphs, noise):
    scores = (F.conv2d(pictures, glyphs) / noise**2).logsumexp((2, 3))
    return scores - scores.logsumexp(1, keepdim=True)

== log_scores | mean over the places
def log_scores(pictures, glyphs, noise):
    match = (F.conv2d(pictures, glyphs) / noise**2).flatten(2)
    return match.logsumexp(2) - math.log(match.shape[2])

== log_scores | with the picture's norm
def log_scores(pictures, glyphs, noise):
    match = F.conv2d(pictures, glyphs) / noise**2
    norm = pictures.square().sum((1, 2, 3)) / (2 * noise**2)
    return match.flatten(2).logsumexp(2) - norm[:, None]

== log_scores | the whole square
def log_scores(pictures, glyphs, noise):
    match = F.conv2d(pictures, glyphs) - glyphs.square().sum((1, 2, 3))[:, None, None] / 2
    return (match / noise**2).flatten(2).logsumexp(2)

== exchanged | by an index
def exchanged(positions, order):
    return positions[torch.cat([torch.zeros(1, dtype=torch.long), order + 1])]

== caption_loss | by transpose
def caption_loss(logits, words):
    N = logits.shape[1] - words.shape[1]
    return F.cross_entropy(logits[:, N:-1].transpose(1, 2), words[:, 1:])

== caption_loss | by gather
def caption_loss(logits, words):
    log_p = logits[:, -words.shape[1] :].log_softmax(2)[:, :-1]
    return -log_p.gather(2, words[:, 1:, None]).mean()
""")
