"""Other right answers to notebook 21, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== patches
by view | .reshape( => .view( | reshape, not
flat | reshape(B, -1, C * p * p) => reshape(B, -1) | join rows

== with_class_token
twice | + positions => + 2 * positions | Expand
zeros | class_token.expand => (0 * class_token).expand | Expand

== log_scores
padded | F.conv2d(pictures, glyphs) => F.conv2d(pictures, glyphs, padding=1) | inner product
by exp | .logsumexp(2) => .exp().sum(2).log() | overflows

== exchanged
as they are | positions[1:][order] => positions[1:] | takes its position
backwards | positions[1:][order] => positions[1:].flip(0) | takes its position
""")

REWRITES = rewrites("""
== patches | by unfold
def patches(pictures, p):
    return F.unfold(pictures, p, stride=p).transpose(1, 2)

== with_class_token | by repeat
def with_class_token(x, class_token, positions):
    token = class_token.repeat(x.shape[0], 1)[:, None]
    return torch.cat((token, x), dim=1) + positions[None]

== log_scores | by unfold
def log_scores(pictures, glyphs, noise):
    parts = F.unfold(pictures, tuple(glyphs.shape[2:]))
    return (glyphs.flatten(1) @ parts / noise**2).logsumexp(-1)

== exchanged | by an index
def exchanged(positions, order):
    return positions[torch.cat([torch.zeros(1, dtype=torch.long), order + 1])]
""")
