"""Plausible wrong answers to notebook 12, as patches of its solutions, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    # MyGPT
    Mutant("MyGPT", "no mask", "block(x, causal=True)", "block(x)", "sees the whole text"),
    Mutant("MyGPT", "no last norm", "x = self.norm(x)\n", "pass\n", "after the last block"),
    Mutant(
        "MyGPT",
        "one position on",
        "torch.arange(tokens.shape[1], device=tokens.device)",
        "torch.arange(1, tokens.shape[1] + 1, device=tokens.device)",
        "stands at position 0",
    ),
    Mutant(
        "MyGPT",
        "no device",
        "torch.arange(tokens.shape[1], device=tokens.device)",
        "torch.arange(tokens.shape[1])",
        "made on the CPU",
    ),
    Mutant(
        "MyGPT",
        "no positions",
        "x = x + self.positions(torch.arange(tokens.shape[1], device=tokens.device))",
        "pass",
        "knows nothing of the order",
    ),
    Mutant("MyGPT", "always tied", "if self.output is None:", "if True:", "output of its own"),
    Mutant(
        "MyGPT",
        "probabilities",
        "return x @ self.embedding.weight.T",
        "return (x @ self.embedding.weight.T).softmax(-1)",
        "logits are asked for",
    ),
    Mutant(
        "MyGPT",
        "only the last position",
        "return x @ self.embedding.weight.T",
        "return x[:, -1] @ self.embedding.weight.T",
        "Every position predicts",
    ),
    Mutant(
        "MyGPT",
        "each block reads the embedding",
        "x = block(x, causal=True)\n        x = self.norm(x)",
        "y = block(x, causal=True)\n        x = self.norm(y)",
        "what the block before it handed on",
    ),
    Mutant("MyGPT", "not transposed", "weight.T", "weight", "Print the shape of x"),
    Mutant(
        "MyGPT",
        "another name",
        "self.norm = norm",
        "self.last = self.norm = norm",
        "look for these",
    ),
    Mutant(
        "MyGPT",
        "added twice",
        "x = block(x, causal=True)",
        "x = x + block(x, causal=True)",
        "adds to the stream by itself",
    ),
    Mutant(
        "MyGPT",
        "a norm after each block",
        "        x = self.norm(x)\n",
        "            x = self.norm(x)\n",
        "inside the loop",
    ),
    Mutant(
        "MyGPT",
        "the norm before the blocks",
        "        for block in self.blocks:\n            x = block(x, causal=True)\n"
        "        x = self.norm(x)\n",
        "        x = self.norm(x)\n        for block in self.blocks:\n"
        "            x = block(x, causal=True)\n",
        "stands after the blocks",
    ),
    # gpt2_form
    Mutant("gpt2_form", "the exact GELU", 'partial(F.gelu, approximate="tanh")', "F.gelu", "exact"),
    Mutant("gpt2_form", "ReLU", 'partial(F.gelu, approximate="tanh")', "F.relu", "not ReLU"),
    Mutant(
        "gpt2_form",
        "an instance in the block",
        "gelu), nn.LayerNorm)",
        "gelu), nn.LayerNorm(D))",
        "the class nn.LayerNorm",
    ),
    Mutant("gpt2_form", "no biases", ", bias=True", "", "four linear maps"),
    Mutant("gpt2_form", "one head", "(D, H, bias", "(D, 1, bias", "number of heads"),
    Mutant("gpt2_form", "RMSNorm inside", "gelu), nn.LayerNorm)", "gelu), RMSNorm)", "LayerNorms"),
    Mutant("gpt2_form", "RMSNorm at the end", "nn.LayerNorm(D)", "RMSNorm(D)", "last norm"),
    Mutant("gpt2_form", "no positions", ", nn.Embedding(T, D))", ")", "fifth argument"),
    Mutant(
        "gpt2_form",
        "untied",
        "nn.Embedding(T, D))",
        "nn.Embedding(T, D), nn.Linear(D, V, bias=False))",
        "output is tied",
    ),
    Mutant("gpt2_form", "a narrow hidden layer", "4 * D, gelu", "D, gelu", "4 D wide"),
    Mutant("gpt2_form", "one block", "range(L)", "range(1)", "L blocks"),
    Mutant(
        "gpt2_form",
        "the same block",
        "return MyGPT(V, D, blocks,",
        "return MyGPT(V, D, [blocks[0]] * L,",
        "one and the same object",
    ),
    Mutant("gpt2_form", "nothing handed back", "return MyGPT", "MyGPT", "last line is a return"),
    # next_token_loss
    Mutant(
        "next_token_loss", "not shifted", "window[:, 1:]", "window[:, :-1]", "the very token that"
    ),
    Mutant(
        "next_token_loss",
        "backwards",
        "model(window[:, :-1])  # (B, T, V)\n    targets = window[:, 1:]",
        "model(window[:, 1:])\n    targets = window[:, :-1]",
        "the past from the future",
    ),
    Mutant(
        "next_token_loss",
        "two steps",
        "model(window[:, :-1])  # (B, T, V)\n    targets = window[:, 1:]",
        "model(window[:, :-2])\n    targets = window[:, 2:]",
        "not two",
    ),
    Mutant(
        "next_token_loss",
        "a sum",
        "targets.flatten())",
        'targets.flatten(), reduction="sum")',
        "That is the sum",
    ),
    Mutant(
        "next_token_loss",
        "probabilities",
        "logits.flatten(0, 1)",
        "logits.softmax(-1).flatten(0, 1)",
        "takes logits",
    ),
    Mutant(
        "next_token_loss", "not flattened", "logits.flatten(0, 1)", "logits", "flatten both for"
    ),
    Mutant(
        "next_token_loss",
        "another order",
        "targets.flatten()",
        "targets.T.flatten()",
        "flatten both alike",
    ),
    Mutant(
        "next_token_loss",
        "bits",
        "targets.flatten())",
        "targets.flatten()) / 0.6931471805599453",
        "These are bits",
    ),
    Mutant(
        "next_token_loss",
        "the whole window in",
        "model(window[:, :-1])",
        "model(window)[:, :-1]",
        "cannot read T + 1",
    ),
    Mutant(
        "next_token_loss",
        "without a gradient",
        "logits.flatten(0, 1)",
        "logits.detach().flatten(0, 1)",
        "needs this loss's gradient",
    ),
    Mutant(
        "next_token_loss",
        "no_grad",
        "    logits = model(window[:, :-1])",
        "    with torch.no_grad():\n        logits = model(window[:, :-1])",
        "needs this loss's gradient",
    ),
    # leak
    Mutant("leak", "a tensor", ".max().item()", ".max()", "one plain number"),
    Mutant("leak", "in place", "tokens.clone()", "tokens", "changed in place"),
    Mutant(
        "leak", "position t as well", "[:, :t].abs", "[:, : t + 1].abs", "Which positions must not"
    ),
    Mutant("leak", "the others", "[:, :t].abs", "[:, t:].abs", "Which positions must not"),
    Mutant(
        "leak",
        "one token",
        "changed[:, t:] = (changed[:, t:] + 1) % V",
        "changed[:, t] = (changed[:, t] + 1) % V",
        "all tokens from position t on",
    ),
    Mutant(
        "leak",
        "later tokens",
        "changed[:, t:] = (changed[:, t:] + 1) % V",
        "changed[:, t + 1 :] = (changed[:, t + 1 :] + 1) % V",
        "all tokens from position t on",
    ),
    Mutant(
        "leak",
        "earlier tokens",
        "changed[:, t:] = (changed[:, t:] + 1) % V",
        "changed[:, t - 1 :] = (changed[:, t - 1 :] + 1) % V",
        "Which positions must not",
    ),
    Mutant("leak", "no absolute value", ".abs()", "", "A logit that falls"),
    Mutant("leak", "a tensor of them", ".abs().max().item()", ".abs()", "one plain number"),
    Mutant("leak", "one position", "[:, :t].abs", "[:, t - 1].abs", "*all* positions before t"),
    Mutant("leak", "the first text", "[:, :t].abs", "[0, :t].abs", "*all* positions before t"),
    Mutant("leak", "both", "[:, :t].abs", "[0, t - 1].abs", "*all* positions before t"),
    # small_start
    Mutant(
        "small_start",
        "0.02 at any width",
        "0.02 * (768 / D) ** 0.5",
        "0.02",
        "for a width of 768",
    ),
    Mutant("small_start", "no root", "(768 / D) ** 0.5", "(768 / D)", "square root of 768"),
    Mutant("small_start", "upside down", "(768 / D)", "(D / 768)", "Narrow models"),
    Mutant("small_start", "L additions", "(2 * L) ** 0.5", "L**0.5", "adds twice"),
    Mutant("small_start", "no root of 2 L", "(2 * L) ** 0.5", "(2 * L)", "square root of 2 L"),
    Mutant("small_start", "multiplied", "usual / (2", "usual * (2", "Divided, not multiplied"),
    Mutant(
        "small_start",
        "one writer",
        "(block.attention.output, block.feed_forward.down)",
        "(block.attention.output,)",
        "This one writes into the stream",
    ),
    Mutant(
        "small_start",
        "linear maps only",
        "(nn.Embedding, nn.Linear)",
        "nn.Linear",
        "all embeddings and linear maps",
    ),
    Mutant(
        "small_start",
        "biases left",
        "nn.init.zeros_(part.bias)",
        "pass",
        "Biases begin at zero",
    ),
    Mutant(
        "small_start",
        "biases everywhere",
        "isinstance(part, nn.Linear) and part.bias is not None",
        "isinstance(part, nn.Linear)",
        "part.bias is None",
    ),
    Mutant(
        "small_start",
        "in place",
        "nn.init.normal_(writer.weight, std=usual / (2 * L) ** 0.5)",
        "writer.weight /= (2 * L) ** 0.5",
        "torch.no_grad()",
    ),
    Mutant(
        "small_start",
        "all of them smaller",
        "std=usual)",
        "std=usual / (2 * L) ** 0.5)",
        "Only what writes",
    ),
    Mutant(
        "small_start",
        "learned positions only",
        "    for part in model.modules():",
        "    nn.init.normal_(model.positions.weight, std=usual)\n    for part in model.modules():",
        "no learned positions",
    ),
    Mutant(
        "small_start",
        "the output left",
        "if isinstance(part, (nn.Embedding, nn.Linear)):",
        "if isinstance(part, (nn.Embedding, nn.Linear)) and part is not model.output:",
        "This is model.output",
    ),
    # count_parameters
    Mutant("count_parameters", "no positions", "T * D + ", "", "positions are missing"),
    Mutant("count_parameters", "no last norm", " + 2 * D", "", "last norm is missing"),
    Mutant("count_parameters", "untied", "V * D + T", "2 * V * D + T", "count once"),
    Mutant("count_parameters", "no norms inside", " + 4 * D\n", "\n", "two norms as well"),
    Mutant("count_parameters", "norms without biases", "+ 4 * D\n", "+ 2 * D\n", "gain and a bias"),
    Mutant(
        "count_parameters",
        "no biases",
        "4 * D**2 + 4 * D + 8 * D**2 + 5 * D",
        "4 * D**2 + 8 * D**2",
        "biases are missing",
    ),
    Mutant("count_parameters", "narrow bias", "5 * D", "2 * D", "as wide as its hidden layer"),
    Mutant("count_parameters", "one block", "L * block", "block", "weights of its own"),
    # translate
    Mutant(
        "translate",
        "nothing turned",
        "tensor = tensor.T\n",
        "pass\n",
        "outputs x inputs",
    ),
    Mutant(
        "translate",
        "embeddings too",
        'theirs.startswith("h.") and tensor.ndim',
        "tensor.ndim",
        "stay as they are",
    ),
    Mutant(
        "translate",
        "c_attn only",
        'theirs.startswith("h.")',
        '"c_attn" in theirs',
        "the square ones too",
    ),
    Mutant(
        "translate",
        "not square ones",
        'theirs.startswith("h.")',
        'theirs.startswith("h.") and "c_proj" not in theirs',
        "fits either way",
    ),
    Mutant("translate", "not cut", "tensor.chunk(len(ours))", "[tensor] * 3", "gets its part"),
    Mutant(
        "translate",
        "backwards",
        "tensor.chunk(len(ours))",
        "tensor.chunk(len(ours))[::-1]",
        "queries, keys, values",
    ),
    Mutant(
        "translate",
        "through the tensors",
        "for theirs, ours in names.items():\n        tensor = tensors[theirs]",
        "for theirs, tensor in tensors.items():\n        ours = names[theirs]",
        "holds a mask",
    ),
    # modern_block
    Mutant("modern_block", "no QK-norm", ", qk_norm=RMSNorm", "", "qk_norm=RMSNorm"),
    Mutant(
        "modern_block", "no rotation", "positions=RotaryPositions(D // H), ", "", "Nothing turns"
    ),
    Mutant("modern_block", "ReLU", "squared_relu", "F.relu", "its square is asked for"),
    Mutant("modern_block", "GELU", "squared_relu", "F.gelu", "That is GELU"),
    Mutant("modern_block", "biases", ", bias=False", "", "no biases: bias=False"),
    Mutant(
        "modern_block",
        "LayerNorm",
        "feed_forward, RMSNorm",
        "feed_forward, nn.LayerNorm",
        "RMSNorm",
    ),
    Mutant(
        "modern_block", "an instance", "qk_norm=RMSNorm", "qk_norm=RMSNorm(D // H)", "the class"
    ),
    Mutant(
        "modern_block", "no width", "FeedForward(D, 4 * D, ", "FeedForward(D, ", "in this order"
    ),
    Mutant("modern_block", "the whole width", "D // H", "D", "width of a head"),
    Mutant("modern_block", "the number of heads", "D // H", "H", "width of a head"),
    # modern_form
    Mutant("modern_form", "tied", ", output=nn.Linear(D, V, bias=False)", "", "matrix of its own"),
    Mutant("modern_form", "a bias", ", bias=False", "", "bias=False"),
    Mutant("modern_form", "LayerNorm", "RMSNorm(D)", "nn.LayerNorm(D)", "which has no bias"),
    Mutant("modern_form", "no small start", "    small_start(model)\n", "", "call it, before"),
    Mutant(
        "modern_form",
        "small embeddings",
        "    nn.init.normal_(model.embedding.weight)\n",
        "",
        "standard deviation is 1",
    ),
    Mutant(
        "modern_form",
        "output not zero",
        "    nn.init.zeros_(model.output.weight)\n",
        "",
        "output begins at zero",
    ),
    Mutant(
        "modern_form",
        "one writer",
        "\n        nn.init.zeros_(block.feed_forward.down.weight)",
        "",
        "two matrices in a block",
    ),
    Mutant(
        "modern_form",
        "the same block",
        "[modern_block(D, H) for _ in range(L)]",
        "[modern_block(D, H)] * L",
        "one and the same object",
    ),
]

REWRITES = [
    Rewrite(
        "MyGPT",
        "by F.linear, positions by expand",
        """
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
""",
    ),
    Rewrite(
        "gpt2_form",
        "in one expression",
        """
def gpt2_form(V, T, L, D, H):
    def block():
        attention = MultiHeadAttention(D, H, bias=True)
        feed_forward = FeedForward(D, 4 * D, lambda x: F.gelu(x, approximate="tanh"))
        return PreNormBlock(D, attention, feed_forward, nn.LayerNorm)

    return MyGPT(V, D, [block() for _ in range(L)], nn.LayerNorm(D), positions=nn.Embedding(T, D))
""",
    ),
    Rewrite(
        "next_token_loss",
        "the classes moved",
        """
def next_token_loss(model, window):
    logits = model(window[:, :-1])
    return F.cross_entropy(logits.transpose(1, 2), window[:, 1:])
""",
    ),
    Rewrite(
        "leak",
        "other tokens, a loop",
        """
def leak(model, tokens, t, V):
    other = torch.cat([tokens[:, :t], V - 1 - tokens[:, t:]], 1)
    other[:, t:] = (tokens[:, t:] + V // 2) % V
    with torch.no_grad():
        before, after = model(tokens), model(other)
    return max(float((before[:, i] - after[:, i]).abs().max()) for i in range(t))
""",
    ),
    Rewrite(
        "small_start",
        "by names",
        """
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
""",
    ),
    Rewrite(
        "count_parameters",
        "collected",
        """
def count_parameters(V, T, L, D):
    return (V + T + 2) * D + L * (12 * D * D + 13 * D)
""",
    ),
    Rewrite(
        "translate",
        "split along the columns, then turned",
        """
def translate(tensors, names):
    state = {}
    for theirs, ours in names.items():
        parts = tensors[theirs].chunk(len(ours), dim=-1) if len(ours) > 1 else [tensors[theirs]]
        for name, part in zip(ours, parts):
            turned = theirs[:2] == "h." and part.dim() == 2
            state[name] = part.t().contiguous() if turned else part
    return state
""",
    ),
    Rewrite(
        "modern_block",
        "all by name",
        """
def modern_block(D, H):
    rotary = RotaryPositions(d_head=D // H)
    return PreNormBlock(
        d_model=D,
        attention=MultiHeadAttention(D, H, bias=False, positions=rotary, qk_norm=RMSNorm),
        feed_forward=FeedForward(D, None, lambda x: F.relu(x) ** 2, bias=False),
        norm=RMSNorm,
    )
""",
    ),
    Rewrite(
        "modern_form",
        "by hand",
        """
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
""",
    ),
]
