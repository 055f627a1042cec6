"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== context_pairs
one radius | For each position i
     for i, centre in enumerate(tokens):
+        radii = [radii[0]] * len(tokens)

== negative_sampling_loss
true words only | F.logsigmoid(sign * scores) => (is_context * F.logsigmoid(scores)) \
    | -log s(-score)
minus | return -F => return F | -log s(score)

== ppmi
zeros | torch.where(counts > 0, (counts / expected).log(), 0.0).clamp(min=0) \
    => (counts / expected).log() | PPMI
""")

REWRITES = rewrites("""
== context_pairs | all positions
def context_pairs(tokens, radii):
    n = range(len(tokens))
    return [(tokens[i], tokens[j]) for i in n for j in n if 0 < abs(i - j) <= radii[i]]

== negative_sampling_loss | binary cross-entropy
def negative_sampling_loss(scores, is_context):
    total = F.binary_cross_entropy_with_logits(scores, is_context, reduction="sum")
    return total / scores.shape[0]

== ppmi | shares
def ppmi(counts):
    p = counts / counts.sum()
    ratio = p / (p.sum(1)[:, None] * p.sum(0)[None])
    return ratio.clamp(min=1).log()
""")
