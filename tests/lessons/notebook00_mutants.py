"""Other right answers to notebook 00, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== shapes
dots left | (B * T, V) => ... | Three dots are left
no tuple | (T,) => (T) | A shape is a tuple
another shape | (B, V) => (V, B) | An index removes an axis

== to_probabilities
the sign | scores.exp() => (-scores).exp() | First exp
PyTorch's own | powers / powers.sum(dim=-1, keepdim=True) => scores.softmax(-1) | without softmax

== loss_of
base 2 | .log() => .log2() | take the logarithm

== training_step
a tensor | loss.item() => loss | makes a plain number
a sum | targets.flatten()) => targets.flatten(), reduction="sum") | The order is
uphill | loss.backward() => (-loss).backward() | The order is
not flat | scores.flatten(0, 1), targets.flatten() => scores, targets | flatten both
""")

REWRITES = rewrites("""
== shapes | measured
def shapes(B, T, D, V):
    ids = torch.zeros(B, T, dtype=torch.long)
    table, W = torch.zeros(V, D), torch.zeros(D, V)
    vectors = table[ids]
    scores = vectors @ W
    return {
        "ids[0]": ids[0].shape,
        "ids[:, :-1]": ids[:, :-1].shape,
        "table[ids[0]] @ W": (table[ids[0]] @ W).shape,
        "scores[:, -1]": scores[:, -1].shape,
        "scores.sum(dim=-1, keepdim=True)": scores.sum(dim=-1, keepdim=True).shape,
        "table[ids].mean(dim=1)": vectors.mean(dim=1).shape,
        "scores.flatten(0, 1)": scores.flatten(0, 1).shape,
    }

== to_probabilities | the maximum taken off first
def to_probabilities(scores):
    scores = scores - scores.max(dim=-1, keepdim=True).values
    return scores.exp() / scores.exp().sum(-1)[..., None]

== loss_of | gather
def loss_of(p, targets):
    return p.gather(1, targets[:, None]).log().neg().mean().item()

== training_step | by its own formula
def training_step(model, optimizer, inputs, targets):
    model.zero_grad()
    p = model(inputs).softmax(-1)
    loss = -p.gather(-1, targets[..., None]).log().mean()
    loss.backward()
    optimizer.step()
    return float(loss.detach())

== training_step | flattened by the notebook's V
def training_step(model, optimizer, inputs, targets):
    loss = F.cross_entropy(model(inputs).view(-1, 27), targets.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()
""")
