"""Other right answers to notebook 14, and wrong ones that are no slip of its solutions."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== top_p
all of one probability | likeliest on
     kept, together = torch.zeros_like(p), 0.0
+    p = p.round(decimals=1)

== penalised
no length | , minlength=len(x) => | minlength=len(x)

== allowed
a list | torch.tensor(mask) => mask | A tensor of PyTorch

== cached_block
not causal | In order
-    cache[0] = torch.cat([cache[0], k], dim=2)
+    cache[0] = torch.cat([cache[0], k], dim=1)
""")

REWRITES = rewrites("""
== top_p | sorted and summed
def top_p(p, share):
    ranked, order = p.sort(descending=True)
    n = int((ranked.cumsum(0) - ranked < share).sum())
    kept = torch.zeros_like(p)
    kept[order[:n]] = ranked[:n]
    return kept / kept.sum()

== top_p | begins with float32
def top_p(p, share):
    out, so_far = torch.zeros(len(p)), 0.0
    for token in p.argsort(descending=True):
        if so_far >= share:
            break
        out[token] = p[token]
        so_far += p[token]
    return out / out.sum()

== penalised | in a loop
def penalised(x, text, presence, frequency):
    x = x.clone()
    for token in set(text.tolist()):
        x[token] -= presence + frequency * text.tolist().count(token)
    return x

== allowed | stops early
def allowed(state, pieces, step):
    mask = torch.zeros(len(pieces), dtype=torch.bool)
    for i, piece in enumerate(pieces):
        now = state
        for character in piece:
            if (now, character) not in step:
                break
            now = step[now, character]
        else:
            mask[i] = True
    return mask

== cached_block | with names
def cached_block(block, x, cache):
    K, V = cache
    q, k, v = project(block.attention, block.attention_norm(x), K.shape[-2])
    cache[:] = torch.cat((K, k), -2), torch.cat((V, v), -2)
    x = x + block.attention.output(attend(q, *cache))
    x = x + block.feed_forward(block.feed_forward_norm(x))
    return x
""")
