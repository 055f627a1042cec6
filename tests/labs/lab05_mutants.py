"""Plausible wrong answers to lab 05, as patches of its solution, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

_ATTEND = "x = x + self.dropout(self.attention(self.attention_norm(x), causal=True))"
_FEED = "return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))"

MUTANTS = [
    # by_hand
    Mutant("by_hand", "no biases in attention", "4 * (D * D + D)", "4 * D * D", "4 D are missing"),
    Mutant(
        "by_hand",
        "only matrices",
        "4 * (D * D + D) + (D * 4 * D + 4 * D) + (4 * D * D + D) + 2 * 2 * D",
        "12 * D * D",
        "Only the matrices",
    ),
    Mutant("by_hand", "no norms in the block", " + 2 * 2 * D", "", "4 D are missing"),
    Mutant("by_hand", "a norm of one vector", "+ 2 * 2 * D", "+ 2 * D", "a gain and a shift"),
    Mutant(
        "by_hand",
        "a matrix for every head",
        "V, T, L, D, _ = check.numbers().values()\n    block = 4 * (D * D + D)",
        "V, T, L, D, H = check.numbers().values()\n    block = 4 * (H * D * D + D)",
        "Heads split the width",
    ),
    Mutant("by_hand", "no final norm", "block + 2 * D\n", "block\n", "follows the last block"),
    Mutant("by_hand", "one block only", "L * block", "block", "There are L blocks"),
    Mutant(
        "by_hand",
        "the output twice",
        "tied = V * D + T",
        "tied = 2 * V * D + T",
        "Tied: the output",
    ),
    Mutant("by_hand", "untied as tied", "tied + V * D,", "tied,", "matrix of its own"),
    Mutant(
        "by_hand",
        "output with a bias",
        "tied + V * D,",
        "tied + V * D + V,",
        "output of GPT-2 has no",
    ),
    Mutant("by_hand", "positions per token", '"positions": T', '"positions": V', "T of them"),
    # Norm
    Mutant(
        "Norm", "the mean stays", "centred = x - x.mean(-1, keepdim=True)", "centred = x", "RMS"
    ),
    Mutant(
        "Norm",
        "divided by D - 1",
        "(centred * centred).mean(-1, keepdim=True)",
        "x.var(-1, keepdim=True)",
        "not by D - 1",
    ),
    Mutant(
        "Norm",
        "by the variance",
        "torch.sqrt(variance + self.eps)",
        "(variance + self.eps)",
        "root of",
    ),
    Mutant(
        "Norm",
        "eps outside the root",
        "torch.sqrt(variance + self.eps)",
        "(torch.sqrt(variance) + self.eps)",
        "under the root",
    ),
    Mutant("Norm", "eps forgotten", "variance + self.eps", "variance", "Where is eps"),
    Mutant("Norm", "eps fixed", "self.eps = eps", "self.eps = 1e-5", "kept and used"),
    Mutant(
        "Norm",
        "over all positions",
        "(centred * centred).mean(-1, keepdim=True)",
        "(centred * centred).mean()",
        "last dimension alone",
    ),
    Mutant(
        "Norm",
        "over the positions of a text",
        "centred = x - x.mean(-1, keepdim=True)",
        "centred = x - (x.mean(-2, keepdim=True) if x.dim() > 1 else x.mean())",
        "last dimension alone",
    ),
    Mutant(
        "Norm",
        "dimension lost",
        "variance = (centred * centred).mean(-1, keepdim=True)",
        "variance = (centred * centred).mean(-1)",
        "keepdim",
    ),
    Mutant("Norm", "no gain", " * self.weight", "", "multiplied by its weight"),
    Mutant("Norm", "no shift", " + self.bias", "", "its bias is added"),
    Mutant(
        "Norm",
        "shift first",
        "centred / torch.sqrt(variance + self.eps) * self.weight + self.bias",
        "(centred / torch.sqrt(variance + self.eps) + self.bias) * self.weight",
        "its bias is added",
    ),
    Mutant(
        "Norm",
        "no parameters",
        "nn.Parameter(torch.ones(d_model))",
        "torch.ones(d_model)",
        "a plain tensor is no parameter",
    ),
    Mutant(
        "Norm",
        "no gradient",
        "(variance + self.eps)",
        "(variance + self.eps).detach()",
        "no detach",
    ),
    # Block
    Mutant(
        "Block",
        "post-norm",
        f"{_ATTEND}\n        {_FEED}",
        "x = self.attention_norm(x + self.dropout(self.attention(x, causal=True)))\n"
        "        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))",
        "as in post-norm",
    ),
    Mutant(
        "Block",
        "post-norm without residuals inside",
        f"{_ATTEND}\n        {_FEED}",
        "x = self.attention_norm(x) + self.dropout(self.attention(x, causal=True))\n"
        "        return self.feed_forward_norm(x) + self.dropout(self.feed_forward(x))",
        "as in post-norm",
    ),
    Mutant(
        "Block", "no first residual", _ATTEND, _ATTEND.replace("x + ", "", 1), "is added to what"
    ),
    Mutant("Block", "no second residual", _FEED, _FEED.replace("x + ", "", 1), "is added to what"),
    Mutant("Block", "future seen", ", causal=True", "", "looks back only"),
    Mutant("Block", "first norm missing", "(self.attention_norm(x), ", "(x, ", "normalized copy"),
    Mutant(
        "Block",
        "second norm missing",
        "self.feed_forward(self.feed_forward_norm(x))",
        "self.feed_forward(x)",
        "normalized copy",
    ),
    Mutant(
        "Block",
        "side by side",
        f"{_ATTEND}\n        {_FEED}",
        "y = self.dropout(self.attention(self.attention_norm(x), causal=True))\n"
        "        return x + y + self.dropout(self.feed_forward(self.feed_forward_norm(x)))",
        "not side by side",
    ),
    Mutant(
        "Block",
        "one norm for both",
        "self.feed_forward_norm, self.feed_forward = Norm(d_model), feed_forward",
        "self.feed_forward_norm, self.feed_forward = self.attention_norm, feed_forward",
        "norm of its own",
    ),
    Mutant(
        "Block",
        "the first norm twice",
        "self.feed_forward(self.feed_forward_norm(x))",
        "self.feed_forward(self.attention_norm(x))",
        "its own norm",
    ),
    Mutant("Block", "no dropout", "nn.Dropout(dropout)", "nn.Identity()", "Nothing was dropped"),
    Mutant(
        "Block",
        "dropout in evaluation",
        "self.dropout = nn.Dropout(dropout)",
        "self.dropout = lambda y: nn.functional.dropout(y, dropout)",
        "training=self.training",
    ),
    Mutant(
        "Block",
        "dropout on the stream",
        _FEED,
        "return self.dropout(x + self.feed_forward(self.feed_forward_norm(x)))",
        "stream itself",
    ),
    Mutant("Block", "in place", _ATTEND, _ATTEND.replace("x = x +", "x +="), "in place"),
    # GPT
    Mutant(
        "GPT",
        "no final norm",
        "self.output(self.norm(x))",
        "self.output(x)",
        "final norm is missing",
    ),
    Mutant("GPT", "no positions", " + self.positions(places)", "", "positions are not added"),
    Mutant(
        "GPT",
        "all positions",
        "torch.arange(tokens.shape[1])",
        "torch.arange(self.positions.num_embeddings)",
        "shorter than the T places",
    ),
    Mutant(
        "GPT",
        "a plain list",
        "nn.ModuleList(",
        "list(",
        "hides its modules",
    ),
    Mutant(
        "GPT",
        "one block L times",
        "nn.ModuleList(\n            Block(D, MultiHeadAttention(D, H, bias=True), "
        "FeedForward(D), dropout) "
        "for _ in range(L)\n        )",
        "nn.ModuleList([Block(D, MultiHeadAttention(D, H, bias=True), FeedForward(D), "
        "dropout)] * L)",
        "is one block L times",
    ),
    Mutant("GPT", "blocks ignored", "x = block(x)", "block(x)", "outputs are lost"),
    Mutant(
        "GPT",
        "residual around the block",
        "x = block(x)",
        "x = x + block(x)",
        "adds nothing around",
    ),
    Mutant("GPT", "never tied", "if tied:", "if False:", "the same Parameter"),
    Mutant("GPT", "always tied", "if tied:", "if True:", "With tied=False"),
    Mutant(
        "GPT",
        "tied by copying",
        "self.output.weight = self.embedding.weight",
        "self.output.weight.data.copy_(self.embedding.weight.data)",
        "not a copy",
    ),
    Mutant("GPT", "large first weights", "self.apply(start_small)", "pass", "start_small"),
    Mutant(
        "GPT",
        "softmax at the end",
        "self.output(self.norm(x))",
        "self.output(self.norm(x)).softmax(-1)",
        "before the softmax",
    ),
    Mutant(
        "GPT",
        "dropout not handed on",
        "FeedForward(D), dropout)",
        "FeedForward(D))",
        "Hand dropout on",
    ),
    Mutant("GPT", "output with a bias", ", bias=False", "", "bias=False"),
    Mutant(
        "GPT",
        "attention without biases",
        "MultiHeadAttention(D, H, bias=True)",
        "MultiHeadAttention(D, H)",
        "is a bias missing",
    ),
    Mutant(
        "GPT",
        "as many positions as tokens",
        "nn.Embedding(T, D)",
        "nn.Embedding(V, D)",
        "one for every place",
    ),
    Mutant(
        "GPT",
        "the last place only",
        "self.output(self.norm(x))",
        "self.output(self.norm(x))[:, -1]",
        "at every place",
    ),
    Mutant(
        "GPT",
        "no norm attribute",
        "self.norm = Norm(D)",
        "self.final = Norm(D)",
        "the attributes are",
    ),
    # make_batch
    Mutant("make_batch", "targets are the inputs", "rows[:, 1:]", "rows[:, :-1]", "learn to copy"),
    Mutant(
        "make_batch",
        "the wrong way round",
        "rows[:, :-1], rows[:, 1:]",
        "rows[:, 1:], rows[:, :-1]",
        "one place too early",
    ),
    Mutant(
        "make_batch",
        "at multiples of T",
        "torch.randint(len(tokens) - T, (B,), generator=generator)",
        "T * torch.randint((len(tokens) - 1) // T, (B,), generator=generator)",
        "Windows may overlap",
    ),
    Mutant(
        "make_batch",
        "never the same place twice",
        "torch.randint(len(tokens) - T, (B,), generator=generator)",
        "torch.randperm(len(tokens) - T, generator=generator)[:B]",
        "may draw the same",
    ),
    Mutant("make_batch", "windows of T", "i : i + T + 1]", "i : i + T]", "share a window"),
    Mutant("make_batch", "beyond the end", "len(tokens) - T,", "len(tokens) - T + 1,", "N - T - 1"),
    Mutant(
        "make_batch",
        "the last never",
        "len(tokens) - T,",
        "max(1, len(tokens) - T - 1),",
        "N - T - 1",
    ),
    Mutant("make_batch", "chance of its own", ", generator=generator", "", "generator=generator"),
    Mutant(
        "make_batch", "one place for all", "(B,), generator", "(1,), generator", "place of its own"
    ),
    Mutant(
        "make_batch",
        "one place, repeated",
        "in starts.tolist()]",
        "in starts.tolist()[:1] * B]",
        "Draw B places",
    ),
    Mutant(
        "make_batch",
        "places, not tokens",
        "tokens[i : i + T + 1]",
        "torch.arange(i, i + T + 1)",
        "the place itself is none",
    ),
    Mutant(
        "make_batch",
        "always from the beginning",
        "starts.tolist()]",
        "range(0, B * T, T)]",
        "N - T - 1",
    ),
    # lm_loss
    Mutant("lm_loss", "in bits", "- chosen).mean()", "- chosen).mean() / math.log(2)", "in bits"),
    Mutant("lm_loss", "the sum", ".mean()", ".sum()", "take the mean"),
    Mutant("lm_loss", "over the texts", ".mean()", ".sum() / len(targets)", "not by the B texts"),
    Mutant("lm_loss", "no mean", ".mean()", "", "One number"),
    Mutant(
        "lm_loss",
        "no normalisation",
        "logits.logsumexp(-1) - chosen",
        "-chosen",
        "no log-probabilities yet",
    ),
    Mutant(
        "lm_loss", "overflow", "logits.logsumexp(-1)", "logits.exp().sum(-1).log()", "exp(1000)"
    ),
    Mutant(
        "lm_loss",
        "the logarithm of a softmax",
        "(logits.logsumexp(-1) - chosen)",
        "(-logits.softmax(-1).gather(-1, targets[..., None]).log())",
        "exp(1000)",
    ),
    Mutant(
        "lm_loss",
        "over the wrong dimension",
        "logits.logsumexp(-1)",
        "logits.logsumexp(1)",
        "last dimension",
    ),
    Mutant(
        "lm_loss",
        "the sign",
        "logits.logsumexp(-1) - chosen",
        "chosen - logits.logsumexp(-1)",
        "minus the logarithm",
    ),
    Mutant(
        "lm_loss",
        "the likeliest",
        "chosen = logits.gather(-1, targets[..., None])[..., 0]",
        "chosen = logits.max(-1).values",
        "mean over all positions",
    ),
    Mutant("lm_loss", "no gradient", ".mean()", ".mean().detach()", "where it came from"),
    # bits_per_byte
    Mutant("bits_per_byte", "nats", " / math.log(2)", "", "are bits"),
    Mutant("bits_per_byte", "characters", "len(text.encode())", "len(text)", "text.encode()"),
    Mutant(
        "bits_per_byte", "per token", "len(text.encode())", "len(tokens)", "the first is only read"
    ),
    Mutant("bits_per_byte", "not divided", " / len(text.encode())", "", "by the length"),
    Mutant(
        "bits_per_byte",
        "the last window dropped",
        "range(0, len(tokens) - 1, T)",
        "range(0, len(tokens) - T, T)",
        "count as well",
    ),
    Mutant("bits_per_byte", "each window as T", "* (window.shape[1] - 1)", "* T", "fewer than T"),
    Mutant(
        "bits_per_byte",
        "every place a window",
        "range(0, len(tokens) - 1, T)",
        "range(0, len(tokens) - 1)",
        "is predicted once",
    ),
    Mutant(
        "bits_per_byte",
        "windows apart",
        "start : start + T + 1]",
        "start : start + T]",
        "lost between the windows",
    ),
    Mutant("bits_per_byte", "dropout on", "model.eval()", "pass", "switches dropout off"),
    Mutant(
        "bits_per_byte",
        "left in evaluation",
        "model.train(was_training)",
        "pass",
        "hand it to model.train",
    ),
    Mutant(
        "bits_per_byte",
        "left in training",
        "model.train(was_training)",
        "model.train()",
        "hand it to model.train",
    ),
    Mutant("bits_per_byte", "gradients kept", "torch.no_grad()", "torch.enable_grad()", "no_grad"),
    Mutant(
        "bits_per_byte",
        "one long window",
        "start : start + T + 1]",
        "start : ]",
        "no positions beyond",
    ),
    # rate
    Mutant("rate", "begins with 0", "step / warmup", "(step - 1) / warmup", "step 1 already"),
    Mutant("rate", "ends with 0", "(steps - step + 1)", "(steps - step)", "still learns"),
    Mutant("rate", "falls over all steps", "/ (steps - warmup)", "/ steps", "takes steps - warmup"),
    Mutant(
        "rate",
        "constant",
        "return (steps - step + 1) / (steps - warmup)",
        "return 1.0",
        "the rate falls",
    ),
    Mutant("rate", "no warm-up", "return step / warmup", "return 1.0", "Count on your fingers"),
    Mutant("rate", "divides by 0", "if step <= warmup:", "if step / warmup <= 1:", "divided by 0"),
    Mutant(
        "rate",
        "a cosine",
        "return (steps - step + 1) / (steps - warmup)",
        "return (1 + math.cos(math.pi * (step - warmup - 1) / (steps - warmup))) / 2",
        "straight line",
    ),
    # train
    Mutant("train", "no zero_grad", "optimizer.zero_grad()", "pass", "earlier steps' gradients"),
    Mutant(
        "train",
        "zero_grad after backward",
        "optimizer.zero_grad()\n        loss.backward()",
        "loss.backward()\n        optimizer.zero_grad()",
        "must not clear them",
    ),
    Mutant("train", "no backward", "loss.backward()", "pass", "loss.backward() fills"),
    Mutant(
        "train",
        "no clipping",
        "torch.nn.utils.clip_grad_norm_(model.parameters(), clip)",
        "pass",
        "between backward()",
    ),
    Mutant(
        "train",
        "clipped after the update",
        "torch.nn.utils.clip_grad_norm_(model.parameters(), clip)\n        optimizer.step()",
        "optimizer.step()\n        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)",
        "between backward()",
    ),
    Mutant(
        "train", "clipped by value", "clip_grad_norm_", "clip_grad_value_", "clips every number"
    ),
    Mutant(
        "train",
        "clipped to 1",
        "model.parameters(), clip)",
        "model.parameters(), 1.0)",
        "between backward()",
    ),
    Mutant(
        "train",
        "clipped one by one",
        "torch.nn.utils.clip_grad_norm_(model.parameters(), clip)",
        "[torch.nn.utils.clip_grad_norm_([p], clip) for p in model.parameters()]",
        "all parameters together",
    ),
    Mutant("train", "no schedule", "most * rate(step, steps, warmup)", "most", "never changes"),
    Mutant(
        "train",
        "factors multiply",
        'group["lr"] = most *',
        'group["lr"] *=',
        "keep the highest rates",
    ),
    Mutant("train", "the factor alone", "most * rate(step", "rate(step", "multiplies the rate"),
    Mutant(
        "train",
        "steps from 0",
        "rate(step, steps, warmup)",
        "rate(step - 1, steps, warmup)",
        "counted from 1",
    ),
    Mutant(
        "train",
        "the rate after the update",
        """        for group, most in zip(optimizer.param_groups, highest):
            group["lr"] = most * rate(step, steps, warmup)
        inputs, targets = next_batch()
        loss = lm_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
""",
        """        inputs, targets = next_batch()
        loss = lm_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        for group, most in zip(optimizer.param_groups, highest):
            group["lr"] = most * rate(step, steps, warmup)
""",
        "before the update that it is for",
    ),
    Mutant(
        "train",
        "only the first group",
        "zip(optimizer.param_groups, highest)",
        "zip(optimizer.param_groups[:1], highest)",
        "several groups",
    ),
    Mutant(
        "train",
        "the first group's rate for all",
        'highest = [group["lr"] for group in optimizer.param_groups]',
        'highest = [optimizer.param_groups[0]["lr"]] * len(optimizer.param_groups)',
        "several groups",
    ),
    Mutant("train", "tensors kept", "loss.item()", "loss", "loss.item()"),
    Mutant(
        "train", "not in training mode", "model.train()\n", "model.eval()\n", "switches dropout on"
    ),
    Mutant(
        "train",
        "left in training mode",
        "model.train(was_training)",
        "pass",
        "hand it to model.train",
    ),
    Mutant(
        "train",
        "left in evaluation mode",
        "model.train(was_training)",
        "model.eval()",
        "hand it to model.train",
    ),
    Mutant("train", "one step too few", "range(1, steps + 1)", "range(1, steps)", "one batch"),
    Mutant(
        "train",
        "inputs as targets",
        "lm_loss(model(inputs), targets)",
        "lm_loss(model(inputs), inputs)",
        "not its inputs once more",
    ),
    Mutant(
        "train",
        "one batch for all",
        "for step in range(1, steps + 1):",
        "batch = next_batch()\n    next_batch = lambda: batch\n"
        "    for step in range(1, steps + 1):",
        "draws one batch",
    ),
    # top_k
    Mutant("top_k", "not divided", "return kept / kept.sum()", "return kept", "divide by its sum"),
    Mutant("top_k", "k too large", "min(k, len(p))", "k", "min(k, V)"),
    Mutant("top_k", "ties cut", "p >= smallest", "p > smallest", "itself stays"),
    Mutant(
        "top_k",
        "k of the tied",
        "kept = torch.where(p >= smallest, p, 0.0)",
        "kept = torch.zeros_like(p).scatter(0, p.topk(min(k, len(p))).indices, "
        "p.topk(min(k, len(p))).values)",
        "Nothing tells equally likely",
    ),
    Mutant("top_k", "one more", "min(k, len(p)) - 1", "min(k, len(p) - 1)", "one token more"),
    Mutant("top_k", "the unlikeliest", "descending=True", "descending=False", "one token more"),
    Mutant(
        "top_k",
        "the first k",
        "torch.where(p >= smallest, p, 0.0)",
        "torch.where(torch.arange(len(p)) < k, p, 0.0)",
        "not the k first",
    ),
    Mutant(
        "top_k",
        "only the kept",
        "return kept / kept.sum()",
        "return (kept / kept.sum())[kept > 0]",
        "The others stay",
    ),
    Mutant(
        "top_k",
        "in sorted order",
        "torch.where(p >= smallest, p, 0.0)",
        "torch.where(p >= smallest, p, 0.0).sort(descending=True).values",
        "keeps its place",
    ),
    Mutant(
        "top_k",
        "softmax again",
        "return kept / kept.sum()",
        "return kept.softmax(0)",
        "The k largest",
    ),
    # top_p
    Mutant("top_p", "not divided", "return kept / kept.sum()", "return kept", "divide by its sum"),
    Mutant(
        "top_p",
        "the crossing token cut",
        "likelier < share",
        "ranked.cumsum(0) <= share",
        "over the line",
    ),
    Mutant("top_p", "one too many", "likelier < share", "likelier <= share", "no third token"),
    Mutant("top_p", "in sorted order", "kept[order] =", "kept[:] =", "undo the sorting"),
    Mutant(
        "top_p",
        "unsorted",
        "p.sort(descending=True, stable=True)",
        "(p, torch.arange(len(p)))",
        "Sort first",
    ),
    Mutant("top_p", "upwards", "descending=True", "descending=False", "Sort downwards"),
    Mutant("top_p", "a threshold", "likelier < share", "ranked >= share", "Sort downwards"),
    Mutant("top_p", "share of 1 rounds", "if share >= 1:", "if False:", "treat it by itself"),
    Mutant(
        "top_p",
        "higher ids first",
        "ranked, order = p.sort(descending=True, stable=True)",
        "ranked, order = p.flip(0).sort(descending=True, stable=True)\n"
        "    order = len(p) - 1 - order",
        "lower id first",
    ),
    # attend_new
    Mutant("attend_new", "no scale", " / q.shape[-1] ** 0.5", "", "divided by the root"),
    Mutant("attend_new", "by K", "q.shape[-1] ** 0.5", "q.shape[-1]", "not by K"),
    Mutant("attend_new", "over the queries", "softmax(-1)", "softmax(-2)", "sum to 1"),
    Mutant(
        "attend_new",
        "causal from the top left",
        "/ q.shape[-1] ** 0.5\n",
        "/ q.shape[-1] ** 0.5\n    scores = "
        "scores.masked_fill(~torch.ones_like(scores).tril().bool(), -math.inf)\n",
        "Nothing is to be masked",
    ),
    Mutant("attend_new", "no softmax", "scores.softmax(-1) @", "scores @", "weighted mean"),
    Mutant(
        "attend_new",
        "keys for values",
        "scores.softmax(-1) @ values",
        "scores.softmax(-1) @ keys",
        "weighted mean",
    ),
    Mutant(
        "attend_new",
        "by the number of keys",
        "q.shape[-1] ** 0.5",
        "keys.shape[-2] ** 0.5",
        "root of K",
    ),
    Mutant(
        "attend_new", "by 2 whatever the width", "q.shape[-1] ** 0.5", "2", "Here K is 5, not 4"
    ),
    # read_token
    Mutant(
        "read_token",
        "always the first place",
        "place = cache[0][0].shape[2] if cache else 0",
        "place = 0",
        "Positions go on",
    ),
    Mutant(
        "read_token",
        "the place before",
        "cache[0][0].shape[2] if",
        "cache[0][0].shape[2] - 1 if",
        "Positions go on",
    ),
    Mutant("read_token", "no positions", " + model.positions.weight[place]", "", "is not added"),
    Mutant(
        "read_token",
        "the cache not read",
        "glue(attend_new(q, keys, values))",
        "glue(attend_new(q, keys[:, :, -1:], values[:, :, -1:]))",
        "cached keys too",
    ),
    Mutant(
        "read_token",
        "the cache not longer",
        "            keys = torch.cat([cache[i][0], keys], 2)\n"
        "            values = torch.cat([cache[i][1], values], 2)",
        "            pass",
        "put the new token's key",
    ),
    Mutant(
        "read_token",
        "new in front",
        "torch.cat([cache[i][0], keys], 2)",
        "torch.cat([keys, cache[i][0]], 2)",
        "at the end",
    ),
    Mutant(
        "read_token",
        "the wrong dimension",
        "torch.cat([cache[i][0], keys], 2)",
        "torch.cat([cache[i][0], keys], 1)",
        "along the S tokens",
    ),
    Mutant(
        "read_token",
        "the cache changed in place",
        "return model.output(model.norm(x))[:, 0], new_cache",
        "cache[:] = new_cache\n    return model.output(model.norm(x))[:, 0], cache",
        "in place",
    ),
    Mutant(
        "read_token",
        "no final norm",
        "model.output(model.norm(x))",
        "model.output(x)",
        "final norm is missing",
    ),
    Mutant("read_token", "no first norm", "block.attention_norm(x)", "x", "line by line"),
    Mutant(
        "read_token",
        "no residual",
        "x = x + attention.output",
        "x = attention.output",
        "line by line",
    ),
    Mutant(
        "read_token",
        "no W_O",
        "attention.output(glue(attend_new(q, keys, values)))",
        "glue(attend_new(q, keys, values))",
        "line by line",
    ),
    Mutant(
        "read_token", "logits with a time axis", "(model.norm(x))[:, 0]", "(model.norm(x))", "shape"
    ),
    Mutant(
        "read_token",
        "only the cache of the first block",
        "return model.output(model.norm(x))[:, 0], new_cache",
        "return model.output(model.norm(x))[:, 0], new_cache[:1]",
        "pair (keys, values) for every block",
    ),
    Mutant(
        "read_token",
        "queries kept",
        "new_cache.append((keys, values))",
        "new_cache.append((q, values))",
        "put the new token's key",
    ),
    # write
    Mutant(
        "write",
        "the temperature multiplies",
        "logits[0] / temperature",
        "logits[0] * temperature",
        "Divide the logits",
    ),
    Mutant(
        "write",
        "the temperature ignored",
        "logits[0] / temperature",
        "logits[0]",
        "temperature comes first",
    ),
    Mutant(
        "write",
        "the likeliest",
        "torch.multinomial(p, 1, generator=generator)",
        "p.argmax()[None]",
        "no sampling",
    ),
    Mutant(
        "write", "chance of its own", ", generator=generator", "", "nothing else that is random"
    ),
    Mutant(
        "write",
        "a seed of its own",
        "text, cache = prompt, []",
        "text, cache = prompt, []\n    generator = torch.Generator().manual_seed(0)",
        "Another seed, another text",
    ),
    Mutant(
        "write",
        "narrow ignored",
        "p = p if narrow is None else narrow(p)",
        "p if narrow is None else narrow(p)",
        "Draw from what narrow",
    ),
    Mutant(
        "write",
        "the prompt lost",
        "text, cache = prompt, []",
        "text, cache = prompt[:0], []",
        "Begin with the prompt",
    ),
    Mutant(
        "write",
        "one too few",
        "for _ in range(length):",
        "for _ in range(length - 1):",
        "Begin with the prompt",
    ),
    Mutant(
        "write",
        "only the last token of the prompt",
        "for token in prompt:",
        "for token in prompt[-1:]:",
        "token by token",
    ),
    Mutant(
        "write",
        "begins anew for every token",
        "logits, cache = read_token(model, drawn, cache)",
        "cache = []\n                for token in text:\n"
        "                    logits, cache = read_token(model, token[None], cache)",
        "it gave you last",
    ),
    Mutant(
        "write",
        "the cache forgotten",
        "logits, cache = read_token(model, drawn, cache)",
        "logits, cache = read_token(model, drawn, [])",
        "cache of those before it",
    ),
    Mutant("write", "gradients kept", "torch.no_grad()", "torch.enable_grad()", "no_grad"),
    Mutant(
        "write",
        "narrow before the temperature",
        "            p = (logits[0] / temperature).softmax(-1)\n"
        "            p = p if narrow is None else narrow(p)",
        "            p = logits[0].softmax(-1)\n"
        "            p = p if narrow is None else narrow(p)\n"
        "            p = (p.log() / temperature).softmax(-1)",
        "temperature comes first",
    ),
    Mutant(
        "write",
        "narrow gets logits",
        "p = p if narrow is None else narrow(p)",
        "p = p if narrow is None else narrow(logits[0] / temperature)",
        "not logits",
    ),
    Mutant(
        "write",
        "the drawn token not read",
        "logits, cache = read_token(model, drawn, cache)",
        "pass",
        "what was drawn is read next",
    ),
]

REWRITES = [
    Rewrite(
        "by_hand",
        "part by part",
        """
def by_hand():
    sizes = check.numbers()
    V, T, L, D = (sizes[name] for name in "VTLD")
    attention, feed_forward, norm = 4 * D * (D + 1), 8 * D * D + 5 * D, 2 * D
    one = attention + feed_forward + 2 * norm
    answer = {"one block": one, "positions": T * D, "token embeddings": V * D}
    answer["all, tied"] = V * D + T * D + L * one + norm
    answer["all, untied"] = answer["all, tied"] + V * D
    return answer
""",
    ),
    Rewrite(
        "by_hand",
        "counted in a model",
        """
def by_hand():
    V, T, L, D, H = check.numbers().values()
    block = nn.TransformerEncoderLayer(D, H, 4 * D)
    one = sum(p.numel() for p in block.parameters())
    tied = (V + T) * D + L * one + 2 * D
    return {
        "token embeddings": D * V,
        "positions": D * T,
        "one block": float(one),
        "all, tied": tied,
        "all, untied": tied + D * V,
    }
""",
    ),
    Rewrite(
        "Norm",
        "with torch.var",
        """
class Norm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        E = x.mean(dim=-1, keepdim=True)
        V = x.var(dim=-1, keepdim=True, unbiased=False)
        return (x - E) * torch.rsqrt(V + self.eps) * self.weight + self.bias
""",
    ),
    Rewrite(
        "Norm",
        "by the mean of the squares",
        """
class Norm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super(Norm, self).__init__()
        self.d, self.eps = d_model, eps
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        mean = x.sum(-1)[..., None] / self.d
        square = (x**2).sum(-1)[..., None] / self.d
        return self.bias + self.weight * (x - mean) / (square - mean**2 + self.eps).sqrt()
""",
    ),
    Rewrite(
        "Block",
        "two lines each, F.dropout",
        """
class Block(nn.Module):
    def __init__(self, d_model, attention, feed_forward, dropout=0.0):
        super().__init__()
        self.attention, self.feed_forward, self.p = attention, feed_forward, dropout
        self.attention_norm = Norm(d_model)
        self.feed_forward_norm = Norm(d_model)

    def forward(self, x):
        read = self.attention(self.attention_norm(x), causal=True)
        x = x + nn.functional.dropout(read, self.p, self.training)
        computed = self.feed_forward(self.feed_forward_norm(x))
        return x + nn.functional.dropout(computed, self.p, self.training)
""",
    ),
    Rewrite(
        "Block",
        "with a mask of its own",
        """
class Block(nn.Module):
    def __init__(self, d_model, attention, feed_forward, dropout=0.0):
        super().__init__()
        self.attention_norm, self.feed_forward_norm = Norm(d_model), Norm(d_model)
        self.attention, self.feed_forward = attention, feed_forward
        self.drop = nn.ModuleList([nn.Dropout(dropout), nn.Dropout(dropout)])

    def forward(self, x):
        T = x.shape[1]
        seen = torch.ones(T, T, dtype=torch.bool).tril()
        y = self.attention(self.attention_norm(x), mask=seen)
        x = x + self.drop[0](y)
        y = self.feed_forward(self.feed_forward_norm(x))
        return x + self.drop[1](y)
""",
    ),
    Rewrite(
        "GPT",
        "tied first, sequential blocks",
        """
class GPT(nn.Module):
    def __init__(self, V, T, L, D, H, tied=True, dropout=0.0):
        super().__init__()
        self.output, self.embedding = nn.Linear(D, V, bias=False), nn.Embedding(V, D)
        if tied:
            self.embedding.weight = self.output.weight
        self.positions, self.norm = nn.Embedding(T, D), Norm(D)
        self.blocks = nn.ModuleList()
        for _ in range(L):
            attention = MultiHeadAttention(D, H, bias=True)
            self.blocks.append(Block(D, attention, FeedForward(D, 4 * D), dropout=dropout))
        self.apply(start_small)

    def forward(self, tokens):
        x = self.embedding(tokens) + self.positions.weight[: tokens.size(1)]
        x = nn.Sequential(*self.blocks)(x)
        return self.output(self.norm(x))
""",
    ),
    Rewrite(
        "GPT",
        "weights drawn by hand",
        """
class GPT(nn.Module):
    def __init__(self, V, T, L, D, H, tied=True, dropout=0.0):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(V, D), nn.Embedding(T, D)
        parts = [(MultiHeadAttention(D, H, bias=True), FeedForward(D)) for _ in range(L)]
        self.blocks = nn.ModuleList([Block(D, a, f, dropout) for a, f in parts])
        self.norm, self.output = Norm(D), nn.Linear(D, V, False)
        for name, p in self.named_parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02)
        if tied:
            self.output.weight = self.embedding.weight

    def forward(self, tokens):
        B, t = tokens.shape
        x = self.embedding(tokens) + self.positions(torch.arange(t).expand(B, t))
        for i in range(len(self.blocks)):
            x = self.blocks[i](x)
        return nn.functional.linear(self.norm(x), self.output.weight)
""",
    ),
    Rewrite(
        "make_batch",
        "by indices",
        """
def make_batch(tokens, B, T, generator):
    starts = torch.randint(0, tokens.numel() - T, (B, 1), generator=generator)
    places = starts + torch.arange(T)
    return tokens[places], tokens[places + 1]
""",
    ),
    Rewrite(
        "make_batch",
        "by unfold",
        """
def make_batch(tokens, B, T, generator):
    windows = tokens.unfold(0, T + 1, 1)
    chosen = torch.rand(B, generator=generator) * len(windows)
    rows = windows[chosen.long()]
    return [rows[:, :T], rows[:, 1:]]
""",
    ),
    Rewrite(
        "lm_loss",
        "by log_softmax",
        """
def lm_loss(logits, targets):
    log_p = torch.log_softmax(logits, -1).flatten(0, 1)
    return -log_p[torch.arange(len(log_p)), targets.flatten()].mean()
""",
    ),
    Rewrite(
        "lm_loss",
        "the largest taken away",
        """
def lm_loss(logits, targets):
    B, T, V = logits.shape
    z = logits - logits.amax(-1, keepdim=True)
    cost = z.exp().sum(-1).log() - (z * nn.functional.one_hot(targets, V)).sum(-1)
    return cost.sum() / (B * T)
""",
    ),
    Rewrite(
        "bits_per_byte",
        "two kinds of windows",
        """
@torch.no_grad()
def bits_per_byte(model, tokens, T, text):
    mode = model.training
    model.eval()
    inputs, targets, nats = tokens[:-1], tokens[1:], 0.0
    for x, y in zip(inputs.split(T), targets.split(T)):
        log_p = model(x[None]).log_softmax(-1)[0]
        nats -= log_p.gather(1, y[:, None]).sum()
    model.train(mode)
    return float(nats) / math.log(2) / len(text.encode("utf-8"))
""",
    ),
    Rewrite(
        "bits_per_byte",
        "whole windows at once",
        """
def bits_per_byte(model, tokens, T, text):
    mode, N = model.training, len(tokens) - 1
    whole, costs = N // T * T, []
    model.eval()
    with torch.inference_mode():
        if whole:
            x, y = tokens[:whole].view(-1, T), tokens[1 : whole + 1].view(-1, T)
            costs.append(lm_loss(model(x), y).item() * whole)
        if whole < N:
            x, y = tokens[None, whole:N], tokens[None, whole + 1 :]
            costs.append(lm_loss(model(x), y).item() * (N - whole))
    model.train(mode)
    return sum(costs) / math.log(2) / len(bytes(text, "utf-8"))
""",
    ),
    Rewrite(
        "rate",
        "the smaller of two lines",
        """
def rate(step, steps, warmup):
    up = step / warmup if warmup else 1.0
    return min(up, (steps + 1 - step) / (steps - warmup), 1.0)
""",
    ),
    Rewrite(
        "rate",
        "as a share that is left",
        """
def rate(step, steps, warmup):
    if warmup > 0 and step < warmup:
        return step / warmup
    elif step in (warmup, warmup + 1):
        return 1
    return 1 - (step - warmup - 1) / (steps - warmup)
""",
    ),
    Rewrite(
        "train",
        "with torch's scheduler",
        """
def train(model, optimizer, next_batch, steps, warmup, clip=1.0):
    mode = model.training
    model.train()
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda done: rate(done + 1, steps, warmup) if done < steps else 0.0
    )
    losses = []
    for _ in range(steps):
        inputs, targets = next_batch()
        model.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(list(model.parameters()), clip)
        optimizer.step()
        schedule.step()
        losses.append(float(loss.detach()))
    model.train() if mode else model.eval()
    return losses
""",
    ),
    Rewrite(
        "train",
        "cleared at the end, clipped by hand",
        """
def train(model, optimizer, next_batch, steps, warmup, clip=1.0):
    mode, losses = model.training, []
    for group in optimizer.param_groups:
        group["highest"] = group["lr"]
    model.train(True)
    optimizer.zero_grad()
    while len(losses) < steps:
        x, y = next_batch()
        loss = lm_loss(model(x), y)
        losses.append(loss.item())
        loss.backward()
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        norm = sum((g**2).sum() for g in gradients) ** 0.5
        for g in gradients:
            g.mul_(min(1.0, clip / (norm.item() + 1e-12)))
        for group in optimizer.param_groups:
            group["lr"] = group["highest"] * rate(len(losses), steps, warmup)
        optimizer.step()
        optimizer.zero_grad(set_to_none=False)
    model.train(mode)
    return losses
""",
    ),
    Rewrite(
        "top_k",
        "by topk",
        """
def top_k(p, k):
    threshold = torch.topk(p, min(k, p.shape[-1])).values.min()
    kept = p * (p >= threshold)
    return kept / kept.sum(-1, keepdim=True)
""",
    ),
    Rewrite(
        "top_k",
        "by a loop",
        """
def top_k(p, k):
    ranked = sorted(p.tolist(), reverse=True)
    line = ranked[k - 1] if k <= len(ranked) else 0.0
    kept = [x if x >= line else 0.0 for x in p.tolist()]
    return torch.tensor([x / sum(kept) for x in kept], dtype=p.dtype)
""",
    ),
    Rewrite(
        "top_p",
        "by a loop",
        """
def top_p(p, share):
    if share == 1:
        return p.clone()
    kept, total = torch.zeros_like(p), 0.0
    for i in sorted(range(len(p)), key=lambda i: (-p[i].item(), i)):
        if total >= share:
            break
        kept[i] = p[i]
        total += p[i].item()
    return kept / kept.sum()
""",
    ),
    Rewrite(
        "top_p",
        "by a mask",
        """
def top_p(p, share):
    values, ids = torch.sort(p, descending=True, stable=True)
    before = torch.cat([torch.zeros(1, dtype=p.dtype), values.cumsum(0)[:-1]])
    cut = (before >= share) & (share < 1)
    cut[0] = False
    kept = p.masked_fill(torch.zeros_like(cut).scatter(0, ids, cut), 0)
    return kept / kept.sum()
""",
    ),
    Rewrite(
        "attend_new",
        "by einsum",
        """
def attend_new(q, keys, values):
    weights = torch.einsum("bhqk,bhsk->bhqs", q, keys).div(math.sqrt(q.size(-1))).softmax(3)
    return torch.einsum("bhqs,bhsk->bhqk", weights, values)
""",
    ),
    Rewrite(
        "attend_new",
        "by sums",
        """
def attend_new(q, keys, values):
    scores = (q * keys).sum(-1, keepdim=True) / q.shape[-1] ** 0.5
    weights = torch.exp(scores - scores.amax(2, keepdim=True))
    return (weights * values).sum(2, keepdim=True) / weights.sum(2, keepdim=True)
""",
    ),
    Rewrite(
        "read_token",
        "without the two helpers",
        """
def read_token(model, token, cache):
    B, t = len(token), cache[0][0].size(2) if len(cache) else 0
    x = model.embedding(token) + model.positions(torch.tensor(t))
    longer = []
    for number, block in enumerate(model.blocks):
        a = block.attention
        y = block.attention_norm(x)
        q, k, v = (m(y).view(B, a.n_heads, 1, -1) for m in (a.query, a.key, a.value))
        if len(cache):
            old_k, old_v = cache[number]
            k, v = torch.cat((old_k, k), dim=2), torch.cat((old_v, v), dim=2)
        longer.append((k, v))
        x = x + a.output(attend_new(q, k, v).reshape(B, -1))
        x = x + block.feed_forward(block.feed_forward_norm(x))
    return model.output(model.norm(x)), longer
""",
    ),
    Rewrite(
        "read_token",
        "an empty start, no gradients",
        """
@torch.no_grad()
def read_token(model, token, cache):
    attention = model.blocks[0].attention
    K = attention.key.in_features // attention.n_heads
    empty = torch.zeros(len(token), attention.n_heads, 0, K, dtype=model.embedding.weight.dtype)
    cache = cache or [(empty, empty) for _ in model.blocks]
    place = torch.full_like(token, cache[0][0].shape[2])
    x = (model.embedding(token) + model.positions(place)).unsqueeze(1)
    out = []
    for (keys, values), block in zip(cache, model.blocks):
        a, y = block.attention, block.attention_norm(x)
        keys = torch.cat([keys, split(a.key(y), a.n_heads)], -2)
        values = torch.cat([values, split(a.value(y), a.n_heads)], -2)
        x = x + a.output(glue(attend_new(split(a.query(y), a.n_heads), keys, values)))
        x = x + block.feed_forward(block.feed_forward_norm(x))
        out.append([keys, values])
    return model.output(model.norm(x)).squeeze(1), out
""",
    ),
    Rewrite(
        "write",
        "one loop",
        """
@torch.no_grad()
def write(model, prompt, length, generator, temperature=1.0, narrow=None):
    text, cache = prompt.tolist(), []
    for i in range(len(prompt) + length - 1):
        logits, cache = read_token(model, torch.tensor([text[i]]), cache)
        if i + 1 == len(text):
            p = torch.softmax(logits.squeeze(0) / temperature, 0)
            if narrow is not None:
                p = narrow(p)
            text.append(torch.multinomial(p, 1, generator=generator).item())
    return torch.tensor(text)
""",
    ),
    Rewrite(
        "write",
        "reads its last token too, draws by the running sum",
        """
def write(model, prompt, length, generator, temperature=1.0, narrow=None):
    cache, new = [], []
    with torch.inference_mode():
        for i in range(len(prompt)):
            logits, cache = read_token(model, prompt[i : i + 1], cache)
        while len(new) < length:
            p = (logits[0] / temperature).softmax(-1)
            if narrow:
                p = narrow(p)
            u = torch.rand(1, generator=generator, dtype=p.dtype)
            ends = p.cumsum(0)
            token = torch.searchsorted(ends, u * ends[-1], right=True).clamp(max=len(p) - 1)
            new.append(token)
            logits, cache = read_token(model, token, cache)
    return torch.cat([prompt, *new])
""",
    ),
]
