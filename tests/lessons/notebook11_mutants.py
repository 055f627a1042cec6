"""Other right answers to notebook 11, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== residual_stream
subtracted | states[-1] + layer(states[-1]) => states[-1] - layer(states[-1]) \
    | plus what the layer gives

== rmsnorm
squared g | * g => * g**2 | multiply by g

== FeedForward
narrow | nn.Linear(D, 4 * D), nn.Linear(4 * D, D) => nn.Linear(D, D), nn.Linear(D, D) \
    | parts that the comment names
no biases | nn.Linear(4 * D, D) => nn.Linear(4 * D, D, bias=False) | with biases where

== Block
other names | self.norm_1, self.attention = => self.norm, self.attention = \
    | parts that the comment names
one norm more | return x + self.feed_forward(self.norm_2(x)) \
    => return self.norm_1(x + self.feed_forward(self.norm_2(x))) | two lines of the form
""")

REWRITES = rewrites("""
== residual_stream | in place of the last
def residual_stream(x, layers):
    found = [x]
    for f in layers:
        x = x + f(x)
        found += [x]
    return found

== rmsnorm | by rsqrt
def rmsnorm(x, g, eps):
    return g * x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + eps)

== FeedForward | GELU as a module
class FeedForward(nn.Module):
    def __init__(self, D):
        super().__init__()
        self.up = nn.Linear(D, 4 * D)
        self.down = nn.Linear(4 * D, D)
        self.between = nn.GELU()

    def forward(self, x):
        return self.down(self.between(self.up(x)))

== Block | with names
class Block(nn.Module):
    def __init__(self, D, H):
        super().__init__()
        self.attention = MultiHeadAttention(D, H)
        self.feed_forward = FeedForward(D)
        self.norm_1 = nn.LayerNorm(D)
        self.norm_2 = nn.LayerNorm(D)

    def forward(self, x, mask=None):
        after = x + self.attention(self.norm_1(x), None, mask)
        return after + self.feed_forward(self.norm_2(after))
""")
