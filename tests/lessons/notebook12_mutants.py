"""Other right answers to notebook 12, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== MyGPT
no device | torch.arange(tokens.shape[1], device=tokens.device) \
    => torch.arange(tokens.shape[1]) | made on the CPU
not transposed | weight.T => weight | Print the shape of x
another name | self.norm = norm => self.last = self.norm = norm | look for

== leak
in place | tokens.clone() => tokens | changed in place
a tensor of them | .abs().max().item() => .abs() | another type

== small_start
biases everywhere | isinstance(part, nn.Linear) and part.bias is not None \
    => isinstance(part, nn.Linear) | part.bias is None
in place | nn.init.normal_(writer.weight, std=usual / (2 * L) ** 0.5) \
    => writer.weight /= (2 * L) ** 0.5 | torch.no_grad()
learned positions only | no learned positions
     usual = 0.02 * (768 / D) ** 0.5
+    nn.init.normal_(model.positions.weight, std=usual)

== modern_form
tied | , output=nn.Linear(D, V, bias=False) => | a matrix of its own
a bias | , bias=False => | bias=False
LayerNorm | RMSNorm(D) => nn.LayerNorm(D) | which has no bias
nothing handed back | return model => pass | Hand back the module
""")

REWRITES = rewrites("""
== MyGPT | by F.linear, positions by their rows
class MyGPT(nn.Module):
    def __init__(self, V, D, blocks, norm, positions=None, output=None):
        super().__init__()
        self.embedding = nn.Embedding(V, D)
        self.positions = positions
        self.blocks = nn.ModuleList(blocks)
        self.norm = norm
        self.output = output

    def forward(self, tokens):
        x = self.embedding(tokens)
        if self.positions is not None:
            x = x + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x, causal=True)
        matrix = self.embedding.weight if self.output is None else self.output.weight
        return F.linear(self.norm(x), matrix)

== leak | other tokens, a loop
def leak(model, tokens, t, V):
    other = torch.cat([tokens[:, :t], V - 1 - tokens[:, t:]], 1)
    other[:, t:] = (tokens[:, t:] + V // 2) % V
    with torch.no_grad():
        before, after = model(tokens), model(other)
    return max(float((before[:, i] - after[:, i]).abs().max()) for i in range(t))

== leak | a tensor with one number
def leak(model, tokens, t, V):
    later = torch.arange(tokens.shape[1]) >= t
    other = torch.where(later, (tokens + 1) % V, tokens)
    return (model(other) - model(tokens))[:, :t].abs().max()

== small_start | by names
@torch.no_grad()
def small_start(model):
    D, L = model.embedding.weight.shape[1], len(model.blocks)
    for name, weight in model.named_parameters():
        if weight.ndim == 2:
            weight.normal_(0, 0.02 * (768 / D) ** 0.5)
            if name.endswith(("attention.output.weight", "feed_forward.down.weight")):
                weight.mul_((2 * L) ** -0.5)
        elif "norm" not in name:
            weight.zero_()

== modern_form | by hand
def modern_form(V, L, D, H):
    output = nn.Linear(D, V, bias=False)
    model = MyGPT(V, D, [modern_block(D, H) for _ in range(L)], RMSNorm(D), None, output)
    small_start(model)
    with torch.no_grad():
        model.embedding.weight.normal_()
        output.weight.zero_()
        for block in model.blocks:
            block.attention.output.weight.zero_()
            block.feed_forward.down.weight.zero_()
    return model
""")
