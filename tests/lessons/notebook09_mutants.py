"""Other right answers to notebook 09, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== split_heads
no whole number | D // H => D / H | Sizes are whole numbers
""")

REWRITES = rewrites("""
== attention_weights | by powers
def attention_weights(Q, K):
    powers = (Q @ K.mT).exp()
    return powers / powers.sum(1, keepdim=True)

== causal_weights | a sum
def causal_weights(scores):
    T = scores.shape[0]
    return (scores + torch.full((T, T), -math.inf).triu(1)).softmax(-1)

== split_heads | filled
def split_heads(x, H):
    B, T, D = x.shape
    out = torch.zeros(B, H, T, D // H)
    for h in range(H):
        out[:, h] = x[:, :, h * (D // H) : (h + 1) * (D // H)]
    return out

== split_heads | chunks
def split_heads(x, H):
    return torch.stack(x.chunk(H, dim=-1), dim=1)

== MultiHeadAttention | head by head
class MultiHeadAttention(nn.Module):
    def __init__(self, D, H):
        super().__init__()
        self.H = H
        self.query, self.key, self.value, self.output = (
            nn.Linear(D, D, bias=False) for _ in range(4)
        )

    def forward(self, x, source=None, mask=None):
        if source is None:
            source = x
        mask = torch.ones(1, 1, 1, 1) == 1 if mask is None else mask
        parts = (self.query(x), self.key(source), self.value(source))
        outputs = []
        for q, k, v in zip(*(part.chunk(self.H, dim=-1) for part in parts)):
            scores = (q @ k.transpose(1, 2) / q.shape[-1] ** 0.5)[:, None]
            weights = scores.masked_fill(mask.logical_not(), float("-inf")).softmax(dim=-1)
            outputs.append(weights[:, 0] @ v)
        return self.output(torch.cat(outputs, dim=-1))
""")
