"""Other right answers to notebook 16, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== three_masks
the other triangle | .tril() => .triu() | columns up to t
two of three | causal, real.expand(T, S) => causal | : length

== decoder_block
no memory | memory, mask=mask) => x) | Three times the same
no feed-forward | return x + p.feed_forward(p.feed_forward_norm(x)) => return x \
    | then the feed-forward layer
""")

REWRITES = rewrites("""
== three_masks | by loops
def three_masks(source, T, pad):
    S = len(source)
    encoder = torch.zeros(S, S, dtype=torch.bool)
    cross = torch.zeros(T, S, dtype=torch.bool)
    encoder[:, source != pad] = True
    cross[:, source != pad] = True
    decoder = torch.tensor([[s <= t for s in range(T)] for t in range(T)])
    return encoder, decoder, cross

== decoder_block | with names for what is read
def decoder_block(p, x, memory, mask=None):
    own = p.attention(p.attention_norm(x), None, None, True)
    h = x + own
    read = p.cross_attention(p.cross_norm(h), source=memory, mask=mask)
    h = h + read
    return p.feed_forward(p.feed_forward_norm(h)) + h

== teacher_forcing | with full tensors
def teacher_forcing(rows, bos, eos, pad):
    B, T = len(rows), max(map(len, rows)) + 1
    read = torch.full((B, T), pad)
    predict = torch.full((B, T), -100)
    for b, row in enumerate(rows):
        n = len(row)
        read[b, 0], predict[b, n] = bos, eos
        read[b, 1 : n + 1] = torch.tensor(row)
        predict[b, :n] = torch.tensor(row)
    return read, predict

== corrupt | token by token
def corrupt(tokens, spans, marks):
    source, target = [], []
    for i, token in enumerate(tokens):
        inside = [k for k, (first, after) in enumerate(spans) if first <= i < after]
        if not inside:
            source.append(token)
            continue
        k = inside[0]
        if i == spans[k][0]:
            source.append(marks[k])
            target.append(marks[k])
        target.append(token)
    target.append(marks[len(spans)])
    return source, target
""")
