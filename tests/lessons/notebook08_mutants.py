"""Other right answers to notebook 08, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== decoder_step
nothing new | [y, c] => [y, s] | The cell reads [y; c]
another order | [s, c, y] => [y, c, s] | reads [s; c; y]

== additive_scores
softmax of v | @ v => @ v.softmax(-1) | axis of length 1

== look_back
sums of states | weights @ h, => h.sum(1, keepdim=True), | multiply

== bilinear_scores
h not turned | h.transpose(1, 2) => h | transposed
added | s @ W @ => (s + s @ W) @ | two products
""")

REWRITES = rewrites("""
== decoder_step | named
def decoder_step(y, s, c, embed, cell, output):
    e = embed(y)
    new = cell(torch.hstack([e, c]), s)
    logits = output(torch.cat((new, c, e), -1))
    return logits, new

== additive_scores | a loop
def additive_scores(s, Uh, W, v):
    (B, T, _), S = s.shape, Uh.shape[1]
    scores = torch.zeros(B, T, S)
    for b in range(B):
        for t in range(T):
            for i in range(S):
                scores[b, t, i] = v @ torch.tanh(W @ s[b, t] + Uh[b, i])
    return scores

== additive_scores | einsum
def additive_scores(s, Uh, W, v):
    Ws = torch.einsum("bth,ah->bta", s, W)
    return torch.einsum("btsa,a->bts", (Ws.unsqueeze(2) + Uh.unsqueeze(1)).tanh(), v)

== look_back | where
def look_back(scores, h, mask):
    scores = torch.where(mask, scores, torch.tensor(-torch.inf, dtype=scores.dtype))
    weights = F.softmax(scores, dim=2)
    return torch.bmm(weights, h), weights

== look_back | by hand
def look_back(scores, h, mask):
    e = torch.exp(scores) * mask
    weights = e / e.sum(-1, keepdim=True)
    return torch.einsum("bts,bsh->bth", weights, h), weights

== bilinear_scores | einsum
def bilinear_scores(s, h, W):
    return torch.einsum("bth,hk,bsk->bts", s, W, h)
""")
