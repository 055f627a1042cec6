"""Other right answers to notebook 04, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== gradient
sign | / len(a) => / -len(a) | Each pair adds
scores | Z[a].softmax(dim=1) => Z[a].clone() | Each pair adds
mean of a row | / len(a) => / torch.bincount(a, minlength=len(Z))[:, None].clamp(1) | Each pair adds

== factored_loss
both turned round | E[a] @ U => (E @ U).T[a] | Rows a of E
a number | scores, b) => scores, b).item() | no plain number
sign | return F => return -F | Rows a of E

== window_vectors
standing | e[:, i : i + T] => e[:, :T] | Window t holds

== nearest
one too many | topk(n) => topk(n + 1) | hand back the indices
row forgotten | unit @ unit[i] => unit @ unit[0] | Make all rows
""")

REWRITES = rewrites("""
== gradient | one-hot vectors
def gradient(Z, a, b):
    V = len(Z)
    read, came = F.one_hot(a, V).to(Z.dtype), F.one_hot(b, V).to(Z.dtype)
    return read.T @ (torch.softmax(read @ Z, -1) - came) / a.numel()

== factored_loss | by hand, the whole table
def factored_loss(E, U, a, b):
    log_p = torch.log(torch.softmax(E @ U, dim=-1))
    return -log_p[a, b].mean()

== window_vectors | unfold
def window_vectors(e, k):
    return e.unfold(1, k, 1).transpose(2, 3).flatten(2)

== nearest | sorted
def nearest(vectors, i, n):
    cosines = F.cosine_similarity(vectors, vectors[i], dim=1)
    order = cosines.argsort(descending=True).tolist()
    return [row for row in order if row != i][:n]
""")
