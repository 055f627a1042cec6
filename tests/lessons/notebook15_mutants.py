"""Other right answers to notebook 15, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== fill_gap
a sum that is no column | belief.sum(-1, keepdim=True) => belief.sum(-1) | has to stay a column

== encode
a table is called | bert.positions[: tokens.shape[1]] \
    => bert.positions(torch.arange(tokens.shape[1])) | bert.positions is a table
the whole table | bert.positions[: tokens.shape[1]] => bert.positions \
    | more rows than the text has tokens
a flat mask | [:, None, None] => | needs the shape (N, 1, 1, T)
a mask of three | [:, None, None] => [:, None] | the shape (N, 1, 1, T)
""")

REWRITES = rewrites("""
== mask_tokens | with a clone and assignments
def mask_tokens(tokens, special, draw, what, random, mask):
    inputs, targets = tokens.clone(), torch.full_like(tokens, -100)
    chosen = (draw < 0.15) & (special == False)
    targets[chosen] = tokens[chosen]
    inputs[chosen & (what < 0.8)] = mask
    swapped = chosen & (0.8 <= what) & (what < 0.9)
    inputs[swapped] = random[swapped]
    return inputs, targets

== encode | with a mask for every row
def encode(bert, tokens, segments):
    N, T = tokens.shape
    where = torch.arange(T).expand(N, T)
    x = bert.norm(bert.positions[where] + bert.segments(segments) + bert.tokens(tokens))
    may = (tokens != bert.pad).view(N, 1, 1, T).expand(N, 1, T, T)
    for block in bert.blocks:
        x = block(x, may)
    return x

== fill_gap | place by place
def fill_gap(before, after, B):
    total = (before * after).sum(-1, keepdim=True)
    places = [before[..., s, None] * after[..., s, None] * B[s] for s in range(len(B))]
    return sum(places) / total

== fill_surest | gap by gap
def fill_surest(tokens, log_p, mask, k):
    filled = tokens.clone()
    gaps = [i for i in range(len(tokens)) if tokens[i] == mask]
    gaps.sort(key=lambda i: -float(log_p[i].max()))
    for i in gaps[:k]:
        filled[i] = log_p[i].argmax()
    return filled
""")
