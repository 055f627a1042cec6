"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== text_vectors
keep without D | (h * keep[..., None]) => (h * keep) | keep[..., None]
counts without D | keep.sum(1, keepdim=True) => keep.sum(1) | keepdim=True

== contrastive_loss
without the partner | return F.cross_entropy(scores, torch.arange(len(a))) \
    => return scores.logsumexp(1).mean() | the right class of row i is i
""")

REWRITES = rewrites("""
== text_vectors | text by text
def text_vectors(h, keep):
    means = torch.stack([states[kept].mean(0) for states, kept in zip(h, keep)])
    return means / means.norm(dim=1, keepdim=True)

== text_vectors | as a weighted sum
def text_vectors(h, keep):
    weights = keep / keep.sum(1, keepdim=True)
    return F.normalize(torch.einsum("btd,bt->bd", h, weights), dim=-1)

== contrastive_loss | against a table of partners
def contrastive_loss(a, b, temperature):
    return F.cross_entropy(a @ b.T / temperature, torch.eye(len(a)))

== contrastive_loss | by its formula
def contrastive_loss(a, b, temperature):
    s = a @ b.T / temperature
    return (s.logsumexp(1) - s.diag()).mean()
""")
