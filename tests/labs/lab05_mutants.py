"""Plausible wrong answers to lab 05, as patches of its solution, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

_LIVE = "scores = q @ k.mT / k.shape[-1] ** 0.5"
_TIED = "self.output.weight = self.embedding.weight"
_CLIP = (
    "nn.utils.clip_grad_norm_(self.parameters(), clip)\n        optimizer.step()\n"
    "        return loss.item()"
)
_WRITE = """    @torch.no_grad()
    def write(self, prompt, length, generator):  # prompt (P,) -> (P + length,)
        self.eval()
        return super().write(prompt, length, generator)"""
_WRITE_OF_ITS_OWN = """    def write(self, prompt, length, generator):
        self.eval()
        for _ in range(length):
            p = self(prompt[None, -self.T :])[0, -1].softmax(-1)
            prompt = torch.cat([prompt, torch.multinomial(p, 1, generator=generator)])
        return prompt"""
_LOOK_AGAIN = "            progress = (clock() - began) / seconds\n    if weights"
_END = """        if step % every == 0 or progress >= 1:
            kept_loss = evaluate(model)
            history.append((step, loss, kept_loss))
            if kept_loss < best:
                best = kept_loss
                weights = {name: w.detach().clone() for name, w in model.state_dict().items()}
            progress = (clock() - began) / seconds
"""
_END_TWICE = """        if step % every == 0:
            kept_loss = evaluate(model)
            history.append((step, loss, kept_loss))
            if kept_loss < best:
                best = kept_loss
                weights = {name: w.detach().clone() for name, w in model.state_dict().items()}
            progress = (clock() - began) / seconds
    kept_loss = evaluate(model)
    history.append((step, loss, kept_loss))
    if kept_loss < best:
        weights = {name: w.detach().clone() for name, w in model.state_dict().items()}
"""
_COPIES = "{name: w.detach().clone() for name, w in model.state_dict().items()}"

MUTANTS = [
    # by_hand
    Mutant("by_hand", "D for K", "K, M = D // H", "K, M = D", "2 D^2 for queries"),
    Mutant("by_hand", "matrices of plain heads", "2 * D * G * K +", "2 * D * D +", "not H"),
    Mutant("by_hand", "two matrices", "3 * D * M", "2 * D * M", "three matrices"),
    Mutant("by_hand", "one of keys", "2 * D * G * K +", "D * G * K +", "two matrices of D x G K"),
    Mutant("by_hand", "no gain", '"one block": matrices + D', '"one block": matrices',
           "gain of D numbers"),
    Mutant("by_hand", "two norms", '"one block": matrices + D', '"one block": matrices + 2 * D',
           "one norm"),
    Mutant("by_hand", "no last norm", "+ D + D * V", "+ D * V", "follows the last block"),
    Mutant("by_hand", "tied", "2 * V * D + L * (matrices", "V * D + L * (matrices",
           "Three matrices"),
    Mutant("by_hand", "keys alone", "L * T * 2 * G", "L * T * G", "both of them"),
    Mutant("by_hand", "all heads", "2 * G * K * 2", "2 * H * K * 2", "G heads are kept"),
    Mutant("by_hand", "4 bytes", "G * K * 2,", "G * K * 4,", "takes two bytes"),
    Mutant("by_hand", "one operation", "2 * (L * matrices", "(L * matrices", "2 for every weight"),
    Mutant("by_hand", "no output", "(L * matrices + D * V)", "(L * matrices)", "used for every"),
    Mutant("by_hand", "no attention", " + L * H * (2 * T * K + 2 * T * K)", "", "meets T keys"),
    Mutant("by_hand", "scores alone", "(2 * T * K + 2 * T * K)", "(2 * T * K)", "weighted mean"),
    Mutant("by_hand", "groups of scores", "L * H * (2", "L * G * (2", "H rows of scores"),
    # GroupedAttention
    Mutant("GroupedAttention", "H heads of keys", "self.key = nn.Linear(D, G * self.K,",
           "self.key = nn.Linear(D, D,", "G heads of width"),
    Mutant("GroupedAttention", "a bias", "self.query = nn.Linear(D, D, bias=False)",
           "self.query = nn.Linear(D, D)", "bias=False"),
    Mutant("GroupedAttention", "repeated as a whole",
           "k = k.repeat_interleave(self.H // self.G, 1)  # (B, H, S, K)\n        "
           "v = v.repeat_interleave(self.H // self.G, 1)",
           "k = k.repeat(1, self.H // self.G, 1, 1)\n        "
           "v = v.repeat(1, self.H // self.G, 1, 1)", "Neighbouring heads share"),
    Mutant("GroupedAttention", "not normalized",
           "q = rotate(F.rms_norm(q, (self.K,)), start)\n        "
           "k = rotate(F.rms_norm(k, (self.K,)), start)",
           "q = rotate(q, start)\n        k = rotate(k, start)", "are normalized"),
    Mutant("GroupedAttention", "keys not normalized",
           "k = rotate(F.rms_norm(k, (self.K,)), start)", "k = rotate(k, start)",
           "keys are normalized, too"),
    Mutant("GroupedAttention", "keys not turned",
           "k = rotate(F.rms_norm(k, (self.K,)), start)", "k = F.rms_norm(k, (self.K,))",
           "keys are turned"),
    Mutant("GroupedAttention", "numbers dealt out",
           "y.unflatten(-1, (-1, self.K)).transpose(1, 2)",
           "y.view(len(x), -1, x.shape[1], self.K)", "deals the numbers"),
    Mutant("GroupedAttention", "only the new are kept",
           "                v = torch.cat([cache.values, v], 2)\n            "
           "cache.keys, cache.values = k, v\n",
           "                v = torch.cat([cache.values, v], 2)\n            "
           "cache.keys, cache.values = k[:, :, start:], v[:, :, start:]\n",
           "not the new ones alone"),
    Mutant("GroupedAttention", "no positions",
           "q = rotate(F.rms_norm(q, (self.K,)), start)\n        "
           "k = rotate(F.rms_norm(k, (self.K,)), start)",
           "q = F.rms_norm(q, (self.K,))\n        k = F.rms_norm(k, (self.K,))", "turned by"),
    Mutant("GroupedAttention", "values turned", "        if mask is None:",
           "        v = rotate(v)\n        if mask is None:", "Values are not turned"),
    Mutant("GroupedAttention", "sees all", ".tril(S - T)", "", "Nobody sees the future"),
    Mutant("GroupedAttention", "mask unused", "if mask is None:", "if True:", "handed over"),
    Mutant("GroupedAttention", "a causal mask beside it", "        heads = F.scaled",
           "        mask = mask.tril(k.shape[2] - q.shape[2])\n        heads = F.scaled",
           "no causal one beside"),
    Mutant("GroupedAttention", "a mask on the CPU", ", device=x.device)", ")", "where x is"),
    Mutant("GroupedAttention", "begins at 0 again",
           "q = rotate(F.rms_norm(q, (self.K,)), start)\n        "
           "k = rotate(F.rms_norm(k, (self.K,)), start)",
           "q = rotate(F.rms_norm(q, (self.K,)))\n        "
           "k = rotate(F.rms_norm(k, (self.K,)))", "behind those of the cache"),
    Mutant("GroupedAttention", "mask at the top left", ".tril(S - T)", ".tril()", "tril(S - T)"),
    Mutant("GroupedAttention", "shared heads kept", "            cache.keys, cache.values = k, v\n",
           "            times = self.H // self.G\n"
           "            cache.keys, cache.values = k, v\n"
           "            cache.keys = k.repeat_interleave(times, 1)[:, :: times]\n"
           "            cache.keys = torch.cat([cache.keys, cache.keys], 1)[:, : self.H]\n",
           "shape"),
    Mutant("GroupedAttention", "old ones last", "torch.cat([cache.keys, k], 2)",
           "torch.cat([k, cache.keys], 2)", "Project, split"),
    Mutant("GroupedAttention", "nothing is kept", "            cache.keys, cache.values = k, v\n",
           "", "must see the old ones"),
    Mutant("GroupedAttention", "heads mixed up", "heads.transpose(1, 2).flatten(2)",
           "heads.reshape(x.shape)", "exchange H and T"),
    Mutant("GroupedAttention", "no last map", "self.output(heads.transpose(1, 2).flatten(2))",
           "heads.transpose(1, 2).flatten(2)", "mixes the heads"),
    # ParallelBlock
    Mutant("ParallelBlock", "width of plain heads", "M = hidden_width(D, H, G)",
           "M = hidden_width(D, H, H)",
           "of task 1"),
    Mutant("ParallelBlock", "4 D wide", "M = hidden_width(D, H, G)", "M = 4 * D",
           "of task 1"),
    Mutant("ParallelBlock", "a bias", "self.down = nn.Linear(M, D, bias=False)",
           "self.down = nn.Linear(M, D)", "bias=False"),
    Mutant("ParallelBlock", "one after the other",
           "hidden = F.silu(self.gate(y)) * self.up(y)\n        "
           "return x + self.attention(y, mask, cache) + self.down(hidden)",
           "x = x + self.attention(y, mask, cache)\n        y = self.norm(x)\n        "
           "return x + self.down(F.silu(self.gate(y)) * self.up(y))", "Parallel"),
    Mutant("ParallelBlock", "GELU", "F.silu", "F.gelu", "through SiLU"),
    Mutant("ParallelBlock", "sigmoid", "F.silu(self", "torch.sigmoid(self", "times the sigmoid"),
    Mutant("ParallelBlock", "up through SiLU", "F.silu(self.gate(y)) * self.up(y)",
           "self.gate(y) * F.silu(self.up(y))", "acts on the gate"),
    Mutant("ParallelBlock", "no gate", "F.silu(self.gate(y)) * self.up(y)",
           "F.silu(self.gate(y))", "multiply the two"),
    Mutant("ParallelBlock", "no residual", "return x + self", "return self", "added to x"),
    Mutant("ParallelBlock", "attention reads x", "self.attention(y,", "self.attention(x,",
           "Attention reads the normalized"),
    Mutant("ParallelBlock", "layer reads x", "F.silu(self.gate(y)) * self.up(y)",
           "F.silu(self.gate(x)) * self.up(x)", "reads the normalized vectors"),
    Mutant("ParallelBlock", "no mask", "(y, mask, cache)", "(y, None, cache)", "handed on"),
    Mutant("ParallelBlock", "no cache", "(y, mask, cache)", "(y, mask)", "cache is handed on"),
    Mutant("ParallelBlock", "rounded to the nearest", "M = hidden_width(D, H, G)",
           "M = round((10 * D - 2 * G * (D // H)) / 24) * 8", "hidden_width(D, H, G)"),
    # pack
    Mutant("pack", "no beginning", "(1, 1), value", "(0, 1), value", "first token is predicted"),
    Mutant("pack", "no end", "(1, 1), value", "(1, 0), value", "over is predicted"),
    Mutant("pack", "padding counts", "torch.full((T,), -100)", "torch.full((T,), end)",
           "predicts nothing"),
    Mutant("pack", "padding is 0", "torch.full((T,), end)", "torch.zeros(T, dtype=torch.long)",
           "end as inputs"),
    Mutant("pack", "inputs as targets", "text[1:].split(T)", "text[:-1].split(T)", "after it"),
    Mutant("pack", "one story a window", "if len(x) > room:", "if True:", "share a window"),
    Mutant("pack", "a full window never fits", "len(x) > room", "len(x) >= room",
           "still fits"),
    Mutant("pack", "only the first piece", "            room -= len(x)",
           "            room -= len(x)\n            break", "is not lost"),
    Mutant("pack", "room too small", "room = T\n", "room = T - 1\n", "For each story"),
    Mutant("pack", "first fit", """            if len(x) > room:
                inputs.append(torch.full((T,), end))
                targets.append(torch.full((T,), -100))
                room = T
            first = T - room
            inputs[-1][first : first + len(x)] = x
            targets[-1][first : first + len(x)] = y
            room -= len(x)
""", """            room = room or []
            n = next((n for n, left in enumerate(room) if left >= len(x)), len(room))
            if n == len(room):
                inputs.append(torch.full((T,), end))
                targets.append(torch.full((T,), -100))
                room.append(T)
            first = T - room[n]
            inputs[n][first : first + len(x)] = x
            targets[n][first : first + len(x)] = y
            room[n] -= len(x)
""", "stays as it is"),
    Mutant("pack", "one endless text",
           "    inputs, targets, room = [], [], 0\n    for story in stories:",
           "    inputs, targets, room = [], [], 0\n    gap = torch.tensor([end])\n"
           "    row = torch.cat([torch.cat([gap, story]) for story in stories])\n"
           "    for story in [row[1:]]:", "begins a new window"),
    Mutant("pack", "targets cut by themselves", "return torch.stack(inputs), torch.stack(targets)",
           "return torch.stack(inputs), torch.stack(targets)[:-1]", "have one shape"),
    Mutant("pack", "targets alone", "return torch.stack(inputs), torch.stack(targets)",
           "return torch.stack(targets)", "return inputs, targets"),
    # AdamW
    Mutant("AdamW", "L2", "m.mul_(beta1)",
           "p.grad = p.grad + self.decay * p\n                m.mul_(beta1)", "gradients stay"),
    Mutant("AdamW", "L2 on a copy", "m.mul_(beta1).add_(p.grad, alpha=1 - beta1)\n"
           "                v.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)",
           "g = p.grad + self.decay * p\n                m.mul_(beta1).add_(g, alpha=1 - beta1)\n"
           "                v.mul_(beta2).addcmul_(g, g, value=1 - beta2)\n"
           "                p.div_(1 - self.lr * self.decay)", "decoupled"),
    Mutant("AdamW", "no decay", "p.mul_(1 - self.lr * self.decay)\n                ", "",
           "decay is missing"),
    Mutant("AdamW", "decay without the rate", "1 - self.lr * self.decay", "1 - self.decay",
           "multiplied by the rate"),
    Mutant("AdamW", "m uncorrected", "m / (1 - beta1**self.steps)", "m", "correction of m"),
    Mutant("AdamW", "v uncorrected", "v / (1 - beta2**self.steps)", "v", "correction of v"),
    Mutant("AdamW", "always step 1", "self.steps += 1", "self.steps = 1", "counts the steps"),
    Mutant("AdamW", "betas changed", "beta1, beta2 = self", "beta2, beta1 = self",
           "beta1 belongs to m"),
    Mutant("AdamW", "eps under the root", "(square.sqrt() + self.eps)",
           "(square + self.eps).sqrt()", "outside of the root"),
    Mutant("AdamW", "no root", "square.sqrt()", "square", "the root of v"),
    Mutant("AdamW", "sums", "add_(p.grad, alpha=1 - beta1)", "add_(p.grad)", "m is a mean"),
    Mutant("AdamW", "uphill", "p.sub_(", "p.add_(", "subtracted"),
    Mutant("AdamW", "without no_grad", "with torch.no_grad():", "if True:", "no_grad"),
    Mutant("AdamW", "stops at None", "continue", "break", "go on with the next"),
    Mutant("AdamW", "rate of the start", "p.sub_(self.lr *",
           "self.first = getattr(self, 'first', self.lr)\n                p.sub_(self.first *",
           "one line for each equation"),
    Mutant("AdamW", "no count", "self.steps += 1", "pass", "0 / 0"),
    Mutant("AdamW", "counts parameters",
           "        self.steps += 1\n        beta1, beta2 = self.betas\n"
           "        with torch.no_grad():\n            for p, m, v in zip(self.parameters, self.m, "
           "self.v):\n", "        beta1, beta2 = self.betas\n        with torch.no_grad():\n"
           "            for p, m, v in zip(self.parameters, self.m, self.v):\n"
           "                self.steps += 1\n", "not the parameters"),
    Mutant("AdamW", "new averages", "m.mul_(beta1).add_(p.grad, alpha=1 - beta1)\n"
           "                v.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)",
           "m = beta1 * m + (1 - beta1) * p.grad\n"
           "                v = beta2 * v + (1 - beta2) * p.grad**2", "goes on with"),
    Mutant("AdamW", "a new m", "m.mul_(beta1).add_(p.grad, alpha=1 - beta1)",
           "m = beta1 * m + (1 - beta1) * p.grad", "stays 0"),
    Mutant("AdamW", "a new v", "v.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)",
           "v = beta2 * v + (1 - beta2) * p.grad**2", "stays 0"),
    Mutant("AdamW", "m corrected in place", "mean = m / (1", "mean = m.div_(1", "this step alone"),
    Mutant("AdamW", "both corrected in place",
           "mean = m / (1 - beta1**self.steps)\n                square = v / (1",
           "mean = m.div_(1 - beta1**self.steps)\n                square = v.div_(1",
           "this step alone"),
    Mutant("AdamW", "the mean of g", "v.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)",
           "v.mul_(beta2).add_(p.grad, alpha=1 - beta2)", "v is the mean of g**2"),
    Mutant("AdamW", "None is not asked for",
           "                if p.grad is None:\n                    continue\n", "",
           "p.grad is None"),
    Mutant("AdamW", "a new parameter", "p.sub_(self.lr * mean / (square.sqrt() + self.eps))",
           "p = p - self.lr * mean / (square.sqrt() + self.eps)", "one line for each"),
    Mutant("AdamW", "new parameters alone", "p.mul_(1 - self.lr * self.decay)\n"
           "                p.sub_(self.lr * mean / (square.sqrt() + self.eps))",
           "p = p * (1 - self.lr * self.decay) - self.lr * mean / (square.sqrt() + self.eps)",
           "has not moved"),
    # Repaired
    Mutant("Repaired", "still a copy", _TIED,
           "self.output.weight = nn.Parameter(self.embedding.weight.detach().clone())",
           "two Parameters"),
    Mutant("Repaired", "same numbers, twice", _TIED,
           "self.output.weight = nn.Parameter(self.embedding.weight)", "two Parameters"),
    Mutant("Repaired", "still one ahead", "triu(1)", "triu(2)", "only later tokens do"),
    Mutant("Repaired", "not itself", "triu(1)", "triu(0)", "the diagonal stays"),
    Mutant("Repaired", "still by the length", _LIVE, "scores = q @ k.mT / k.shape[-2] ** 0.5",
           "text around"),
    Mutant("Repaired", "no scale", _LIVE, "scores = q @ k.mT", "change nothing but the faults"),
    Mutant("Repaired", "by the whole width", _LIVE, "scores = q @ k.mT / x.shape[-1] ** 0.5",
           "change nothing but the faults"),
    Mutant("Repaired", "still clipped after", _CLIP,
           "optimizer.step()\n        nn.utils.clip_grad_norm_(self.parameters(), clip)\n"
           "        return loss.item()", "has not the norm"),
    Mutant("Repaired", "not clipped",
           "nn.utils.clip_grad_norm_(self.parameters(), clip)\n        ", "",
           "has not the norm"),
    Mutant("Repaired", "clipped to 1", "self.parameters(), clip)", "self.parameters(), 1.0)",
           "has not the norm"),
    Mutant("Repaired", "targets not shifted", "tokens[:, 1:].flatten()", "tokens[:, :-1].flatten()",
           "one place later"),
    Mutant("Repaired", "dropout while it writes", "        self.eval()\n", "",
           "asked twice"),
    Mutant("Repaired", "dropout off for good", "        t = tokens.shape[1]\n",
           "        self.eval()\n        t = tokens.shape[1]\n", "Nothing is dropped in training"),
    Mutant("Repaired", "no dropout at all",
           "x = x + self.dropout(self.mix((weights @ v).transpose(1, 2).flatten(2)))\n        "
           "x = x + self.dropout(self.down(F.gelu(self.up(self.norms[1](x)))))",
           "x = x + self.mix((weights @ v).transpose(1, 2).flatten(2))\n        "
           "x = x + self.down(F.gelu(self.up(self.norms[1](x))))",
           "Nothing is dropped in training"),
    Mutant("Repaired", "one dropout less", "self.dropout(self.mix((weights @ v)"
           ".transpose(1, 2).flatten(2)))", "self.mix((weights @ v).transpose(1, 2).flatten(2))",
           "Both self.dropout"),
    Mutant("Repaired", "never back to training", "        self.train()\n", "",
           "Nothing is dropped in training"),
    Mutant("Repaired", "trained in evaluation mode", "        self.train()\n",
           "        self.eval()\n", "Nothing is dropped in training"),
    Mutant("Repaired", "all of the forward pass", """triu(1)
        weights = scores""", """triu(2)
        scores = q @ k.mT / k.shape[-2] ** 0.5
        weights = scores""", "still in: 2"),
    Mutant("Repaired", "gradients of writing", _WRITE, _WRITE_OF_ITS_OWN, "keep that line"),
    Mutant("Repaired", "old gradients", "        optimizer.zero_grad()\n", "", "earlier step"),
    # train
    Mutant("train", "never stops", "while progress < 1:", "while True:", "does not stop"),
    Mutant("train", "its own clock", "began, highest = clock()", "clock = time.monotonic\n"
           "    began, highest = clock()", "neither time.monotonic()"),
    Mutant("train", "constant rate", "highest * factor(progress)", "highest", "never changes"),
    Mutant("train", "the factor alone", "highest * factor(progress)", "factor(progress)",
           "factor multiplies"),
    Mutant("train", "compounded", "highest * factor(progress)", "optimizer.lr * factor(progress)",
           "one on the highest"),
    Mutant("train", "rate after the step",
           "optimizer.lr = highest * factor(progress)\n        optimizer.step()",
           "optimizer.step()\n        optimizer.lr = highest * factor(progress)",
           "before the step"),
    Mutant("train", "not clipped", "nn.utils.clip_grad_norm_(model.parameters(), 1.0)", "pass",
           "clipped to the norm 1"),
    Mutant("train", "clipped after", "nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n        "
           "optimizer.lr = highest * factor(progress)\n        optimizer.step()",
           "optimizer.lr = highest * factor(progress)\n        optimizer.step()\n        "
           "nn.utils.clip_grad_norm_(model.parameters(), 1.0)", "clipped to the norm 1"),
    Mutant("train", "one batch always", "range(accumulate)", "range(1)", "draws `accumulate`"),
    Mutant("train", "one look at the clock", _LOOK_AGAIN, "    if weights", "look again"),
    Mutant("train", "the last step twice", _END, _END_TWICE, "one evaluation is enough"),
    Mutant("train", "not after the last", " or progress >= 1", "", "last step"),
    Mutant("train", "after every step", "if step % every == 0 or progress >= 1",
           "if True", "stops when"),
    Mutant("train", "the last weights", "model.load_state_dict(weights)", "pass",
           "last weights, not the best"),
    Mutant("train", "no copies", _COPIES, "model.state_dict()", "the weights themselves"),
    Mutant("train", "shallow copy", _COPIES, "dict(model.state_dict())", "the weights themselves"),
    Mutant("train", "highest loss", "kept_loss < best", "kept_loss > -best",
           "last weights, not the best"),
    Mutant("train", "device forgotten", "gradients(model, batches, device)",
           'gradients(model, batches, "cpu")', "handed over"),
    Mutant("train", "steps from 0", "history.append((step,", "history.append((step - 1,",
           "history has the steps"),
    Mutant("train", "no history", "return history", "return None", "None is what"),
    # entry
    Mutant("entry", "never trained", "train(model, optimizer, next_batch, evaluate, seconds, "
           "device, every=50)", "[(1, 0.0, 0.0)]", "learned from the stories"),
    Mutant("entry", "another model trained", "AdamW(model.parameters()",
           "AdamW(GPT(V, 128, [ParallelBlock(128, 4, 2)]).parameters()", "learned"),
    Mutant("entry", "model alone", "return model, train(", "return train(", "return model"),
    Mutant("entry", "a vocabulary of its own", "GPT(V, 128", "GPT(2048, 128", "vocabulary is"),
    Mutant("entry", "a minute of its own", "evaluate, seconds, device", "evaluate, 60, device",
           "it comes to an end"),
    Mutant("entry", "no training batches", "torch.randint(len(inputs)", "torch.randint(0",
           "without an error"),
    Mutant("entry", "rate of 0", "lr=5e-3", "lr=0.0", "learned"),
    Mutant("entry", "no history", "return model, train(", "return model, (lambda *_, **__: 0)(",
           "a history"),
    Mutant("entry", "all held back", "if i % 140]",
           "if i < 0]", "without an error"),
    Mutant("entry", "nothing held back", " if i % 140]", "]", "in both"),
    Mutant("entry", "never moved", "for _ in range(3)]).to(device)", "for _ in range(3)])",
           "to(device)"),
    Mutant("entry", "the device forgotten", "seconds, device, every=50)", "seconds, every=50)",
           "after `seconds`"),
    Mutant("entry", "the device of its own", "seconds, device, every=50)",
           'seconds, device="cpu", every=50)', "after `seconds`"),
    Mutant("entry", "the optimizer first", """for _ in range(3)]).to(device)
    optimizer = AdamW(model.parameters(), lr=5e-3, decay=0.0)
""", """for _ in range(3)])
    optimizer = AdamW(model.parameters(), lr=5e-3, decay=0.0)
    model.to(device)
""", "stay on the CPU"),
    Mutant("entry", "twice the seconds", "evaluate, seconds, device",
           "evaluate, 2 * seconds, device", "as they are"),
    Mutant("entry", "the same windows", "    def next_batch():\n        rows = torch.randint("
           "len(inputs), (4,), generator=source)\n",
           "    rows = torch.randint(len(inputs), (4,), generator=source)\n\n    "
           "def next_batch():\n", "other windows"),
    Mutant("entry", "tokens of other stories", "return mean_loss(model, *kept)",
           "return mean_loss(model, *pack([torch.arange(2000)], end, 256))",
           "only what it is given"),
    # write
    Mutant("write", "multiplied", "logits / temperature", "logits * temperature",
           "divided by the temperature"),
    Mutant("write", "no temperature", "(logits / temperature)", "logits", "not used"),
    Mutant("write", "the likeliest", "torch.multinomial(p.cpu(), 1, generator=generator)",
           "p.argmax()[None]", "Draw from the distribution"),
    Mutant("write", "without the generator", ", generator=generator)", ")",
           "Nothing was drawn with"),
    Mutant("write", "the text again", "(new if cached else text)", "text", "read once"),
    Mutant("write", "the newest alone", "(new if cached else text)", "new", "says"),
    Mutant("write", "the first place", "caches)[0, -1]", "caches)[0, 0]", "last token"),
    Mutant("write", "always cached", "if cached else None", "if True else None",
           "without caches"),
    Mutant("write", "never cached", "if cached else None", "if False else None", "says"),
    Mutant("write", "with gradients", "with torch.no_grad():", "if True:", "no_grad"),
    Mutant("write", "new tokens alone", "    return text", "    return text[len(prompt) :]",
           "the prompt, and every"),
    Mutant("write", "the last of the prompt", "text = new = prompt",
           "text, new = prompt, prompt[-1:]", "reads the whole prompt"),
    Mutant("write", "new caches each time", "            logits = model(",
           "            caches = [Cache() for _ in model.blocks] if cached else None\n"
           "            logits = model(", "caches are made once"),
    Mutant("write", "one cache for all", "[Cache() for _ in model.blocks]",
           "[Cache()] * len(model.blocks)", "L times"),
    Mutant("write", "drawn on the device", "p.cpu()", "p", "lives on the CPU"),
    Mutant("write", "not moved back", "generator=generator).to(text.device)",
           "generator=generator)", "draws back"),
]  # fmt: skip

REWRITES = [
    Rewrite(
        "by_hand",
        "part by part",
        '''def by_hand():
    V, L, D, H, G, T = check.numbers().values()
    K = D // H
    queries, shared, M = D * D, D * G * K, hidden_width(D, H, G)
    block = 2 * queries + 2 * shared + 3 * D * M + D
    names = ["one block", "the whole", "cache bytes", "FLOPs"]
    flops = L * (2 * (block - D) + 4 * T * D) + 2 * V * D
    return dict(zip(names, [block, 3 * V * D + L * block + D, 4 * L * T * G * K, flops]))''',
    ),
    Rewrite(
        "by_hand",
        "floats and a tensor",
        '''def by_hand():
    V, L, D, H, G, T = check.numbers().values()
    K = D / H
    M = (10 * D - 2 * G * K) / 3 // 8 * 8
    block = 2 * D**2 + 2 * D * G * K + 3 * D * M
    return {
        "one block": block + D, "the whole": L * (block + D) + D + 3 * V * D,
        "cache bytes": torch.tensor(4 * L * T * G * int(K)),
        "FLOPs": 2.0 * (L * block + V * D) + 4 * L * T * D,
    }''',
    ),
    Rewrite(
        "GroupedAttention",
        "by einsum",
        '''class GroupedAttention(nn.Module):
    def __init__(self, D, H, G):
        super().__init__()
        self.sizes, K = (H, G), D // H
        self.output, self.query = nn.Linear(D, D, False), nn.Linear(D, D, False)
        self.key, self.value = nn.Linear(D, G * K, False), nn.Linear(D, G * K, False)

    def forward(self, x, mask=None, cache=None):
        (H, G), (B, T, D) = self.sizes, x.shape
        K = D // H
        q = self.query(x).view(B, T, H, K).transpose(1, 2)
        k = self.key(x).view(B, T, G, K).transpose(1, 2)
        v = self.value(x).view(B, T, G, K).transpose(1, 2)
        before = cache.keys.shape[-2] if cache is not None and cache.keys is not None else 0
        q, k = (rotate(F.rms_norm(y, [K]), before) for y in (q, k))
        if before:
            k, v = torch.cat((cache.keys, k), -2), torch.cat((cache.values, v), -2)
        if cache is not None:
            cache.keys, cache.values = k, v
        q = q.reshape(B, G, H // G, T, K)
        scores = torch.einsum("bghtk,bgsk->bghts", q, k) / K**0.5
        if mask is None:
            places = torch.arange(before + T, device=x.device)
            mask = places <= places[before:, None]
        else:
            mask = mask[:, :, None]
        weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
        return self.output(torch.einsum("bghts,bgsk->btghk", weights, v).reshape(B, T, D))''',
    ),
    Rewrite(
        "GroupedAttention",
        "with the attention and the rotation of lab 04",
        '''def stable_softmax(x):
    e = (x - x.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)


def masked_attention(q, k, v, mask):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    some = mask.any(-1, keepdim=True)
    weights = stable_softmax(scores.masked_fill(~mask & some, -math.inf)) * some
    return weights @ v, weights


def rotate(x, start=0):
    T, K = x.shape[-2:]
    i = torch.arange(0, K, 2, device=x.device)
    angles = torch.arange(start, start + T, device=x.device)[:, None] * 10000 ** (-i / K)
    turn = torch.polar(torch.ones_like(angles), angles)
    points = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(points * turn).flatten(-2).to(x.dtype)


class GroupedAttention(nn.Module):
    def __init__(self, D, H, G):
        super().__init__()
        self.H, self.G, self.K = H, G, D // H
        self.query, self.output = nn.Linear(D, D, bias=False), nn.Linear(D, D, bias=False)
        self.key, self.value = (nn.Linear(D, G * self.K, bias=False) for _ in range(2))

    def forward(self, x, mask=None, cache=None):
        maps = self.query, self.key, self.value
        q, k, v = (f(x).unflatten(-1, (-1, self.K)).transpose(1, 2) for f in maps)
        start = 0 if cache is None or cache.keys is None else cache.keys.shape[2]
        q, k = (rotate(F.rms_norm(y, (self.K,)), start) for y in (q, k))
        if start:
            k, v = torch.cat([cache.keys, k], 2), torch.cat([cache.values, v], 2)
        if cache is not None:
            cache.keys, cache.values = k, v
        k, v = (y.repeat_interleave(self.H // self.G, 1) for y in (k, v))
        if mask is None:
            T, S = q.shape[2], k.shape[2]
            mask = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(S - T)
        return self.output(masked_attention(q, k, v, mask)[0].transpose(1, 2).flatten(2))''',
    ),
    Rewrite(
        "GroupedAttention",
        "heads expanded",
        '''class GroupedAttention(nn.Module):
    def __init__(self, D, H, G):
        super().__init__()
        self.K, self.share = D // H, H // G
        for name, width in zip(("query", "key", "value", "output"), (H, G, G, H)):
            setattr(self, name, nn.Linear(D, width * self.K, bias=False))

    def forward(self, x, mask=None, cache=None):
        def heads(linear):
            return linear(x).unflatten(2, (-1, self.K)).movedim(2, 1)

        old = 0
        if cache is not None and cache.keys is not None:
            old = cache.keys.size(2)
        q = rotate(F.rms_norm(heads(self.query), (self.K,)), start=old)
        k = rotate(F.rms_norm(heads(self.key), (self.K,)), start=old)
        v = heads(self.value)
        if cache is not None:
            cache.keys = k = k if old == 0 else torch.cat([cache.keys, k], dim=2)
            cache.values = v = v if old == 0 else torch.cat([cache.values, v], dim=2)
        k, v = (y[:, :, None].expand(-1, -1, self.share, -1, -1).flatten(1, 2) for y in (k, v))
        causal = torch.ones(k.size(2), k.size(2), dtype=torch.bool, device=x.device)
        causal = causal.tril()[old:]
        y = F.scaled_dot_product_attention(q, k, v, causal if mask is None else mask)
        return self.output(y.movedim(1, 2).flatten(2))''',
    ),
    Rewrite(
        "ParallelBlock",
        "step by step",
        '''class ParallelBlock(nn.Module):
    def __init__(self, D, H, G):
        super().__init__()
        self.attention = GroupedAttention(D, H, G)
        left = 12 * D * D - sum(p.numel() for p in self.attention.parameters())
        F = left // (24 * D) * 8
        self.up, self.gate = nn.Linear(D, F, False), nn.Linear(D, F, False)
        self.down, self.norm = nn.Linear(F, D, False), Norm(D)

    def forward(self, x, mask=None, cache=None):
        y = self.norm(x)
        gate = self.gate(y)
        layer = self.down(self.up(y) * gate * gate.sigmoid())
        return self.attention(y, mask=mask, cache=cache) + layer + x''',
    ),
    Rewrite(
        "ParallelBlock",
        "widths from K",
        '''class ParallelBlock(nn.Module):
    def __init__(self, D, H, G):
        super().__init__()
        K = D // H
        hidden = 8 * int((10 * D - 2 * G * K) / 24)
        self.norm = Norm(D)
        self.attention = GroupedAttention(D, H, G)
        self.gate, self.up = (nn.Linear(D, hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden, D, bias=False)

    def forward(self, x, mask=None, cache=None):
        y = self.norm(x)
        x = x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))
        return x + self.attention(y, mask, cache)''',
    ),
    Rewrite(
        "pack",
        "lists",
        '''def pack(stories, end, T):
    rows = []
    for story in stories:
        text = [end, *story.tolist(), end]
        pairs = list(zip(text, text[1:]))
        while pairs:
            piece, pairs = pairs[:T], pairs[T:]
            if not rows or len(rows[-1]) + len(piece) > T:
                rows.append([])
            rows[-1] += piece
    both = torch.tensor([row + [(end, -100)] * (T - len(row)) for row in rows])
    return both[..., 0], both[..., 1]''',
    ),
    Rewrite(
        "pack",
        "pieces first",
        '''def pack(stories, end, T):
    pieces, gap = [], torch.tensor([end])
    for story in stories:
        text = torch.cat([gap, story, gap])
        for i in range(0, len(text) - 1, T):
            pieces.append((text[i : min(i + T, len(text) - 1)], text[i + 1 : i + 1 + T]))
    filled, used = [], []
    for x, y in pieces:
        if not used or used[-1] + len(x) > T:
            filled.append((torch.full((T,), end), torch.full((T,), -100)))
            used.append(0)
        here = slice(used[-1], used[-1] + len(x))
        filled[-1][0][here], filled[-1][1][here] = x, y
        used[-1] += len(x)
    return tuple(torch.stack(part) for part in zip(*filled))''',
    ),
    Rewrite(
        "AdamW",
        "out of place",
        '''class AdamW:
    def __init__(self, parameters, lr, betas=(0.9, 0.95), eps=1e-8, decay=0.1):
        self.parameters = list(parameters)
        self.lr, self.betas, self.eps, self.decay = lr, betas, eps, decay
        self.steps = 0
        self.m = [torch.zeros_like(p) for p in self.parameters]
        self.v = [torch.zeros_like(p) for p in self.parameters]

    @torch.no_grad()
    def step(self):
        b1, b2 = self.betas
        self.steps = self.steps + 1
        for i, p in enumerate(self.parameters):
            if p.grad is not None:
                g = p.grad
                self.m[i] = b1 * self.m[i] + (1 - b1) * g
                self.v[i] = b2 * self.v[i] + (1 - b2) * g**2
                up = self.m[i] / (1 - b1**self.steps)
                down = torch.sqrt(self.v[i] / (1 - b2**self.steps)) + self.eps
                p -= self.lr * (self.decay * p + up / down)''',
    ),
    Rewrite(
        "AdamW",
        "lerp",
        '''class AdamW:
    def __init__(self, parameters, lr, betas=(0.9, 0.95), eps=1e-8, decay=0.1):
        self.parameters = list(parameters)
        self.lr, self.betas, self.eps, self.decay = lr, betas, eps, decay
        self.steps = 0
        self.m = [torch.zeros_like(p) for p in self.parameters]
        self.v = [torch.zeros_like(p) for p in self.parameters]

    def step(self):
        self.steps += 1
        one, two = (1 - beta**self.steps for beta in self.betas)
        for p, m, v in zip(self.parameters, self.m, self.v):
            if p.grad is None:
                continue
            m.lerp_(p.grad, 1 - self.betas[0])
            v.lerp_(p.grad.square(), 1 - self.betas[1])
            with torch.no_grad():
                p.mul_(1 - self.lr * self.decay)
                p.addcdiv_(m / one, (v / two).sqrt().add_(self.eps), value=-self.lr)''',
    ),
    Rewrite(
        "Repaired",
        "by the kernel",
        '''class Repaired(Broken):
    def __init__(self, V, T, D, H, dropout=0.1):
        super().__init__(V, T, D, H, dropout)
        self.embedding.weight = self.output.weight

    def forward(self, tokens):
        t = tokens.shape[1]
        x = self.embedding(tokens) + self.positions.weight[:t]
        parts = self.qkv(self.norms[0](x)).chunk(3, -1)
        q, k, v = (y.unflatten(-1, (self.H, -1)).transpose(1, 2) for y in parts)
        heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.dropout(self.mix(heads.transpose(1, 2).flatten(2)))
        x = x + self.dropout(self.down(F.gelu(self.up(self.norms[1](x)))))
        return self.output(self.norms[2](x))

    def training_step(self, optimizer, tokens, clip=1.0):
        self.train()
        optimizer.zero_grad()
        logits = self(tokens[:, :-1])
        loss = F.cross_entropy(logits.transpose(1, 2), tokens[:, 1:])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters(), max_norm=clip)
        optimizer.step()
        return loss.item()

    @torch.no_grad()
    def write(self, prompt, length, generator):
        was = self.training
        self.eval()
        text = prompt.clone()
        for _ in range(length):
            p = torch.softmax(self(text[-self.T :][None])[0, -1], -1)
            text = torch.cat([text, torch.multinomial(p, 1, generator=generator)])
        self.train(was)
        return text''',
    ),
    Rewrite(
        "Repaired",
        "a class of its own",
        '''class Repaired(nn.Module):
    def __init__(self, V, T, D, H, dropout=0.1):
        super().__init__()
        self.T, self.H, self.K = T, H, D // H
        self.embedding, self.positions = nn.Embedding(V, D), nn.Embedding(T, D)
        self.qkv, self.mix = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.up, self.down = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)
        self.norms = nn.ModuleList(nn.LayerNorm(D) for _ in range(3))
        self.dropout, self.output = nn.Dropout(dropout), nn.Linear(D, V, bias=False)
        self.output.weight = self.embedding.weight

    def forward(self, tokens):
        t = tokens.shape[1]
        x = self.embedding(tokens) + self.positions(torch.arange(t, device=tokens.device))
        q, k, v = self.qkv(self.norms[0](x)).chunk(3, -1)
        q, k, v = (y.unflatten(-1, (self.H, -1)).transpose(1, 2) for y in (q, k, v))
        scores = q @ k.mT / math.sqrt(self.K)
        seen = torch.ones(t, t, dtype=torch.bool, device=tokens.device).tril()
        weights = scores.masked_fill(~seen, -math.inf).softmax(-1)
        x = x + self.dropout(self.mix((weights @ v).transpose(1, 2).flatten(2)))
        x = x + self.dropout(self.down(F.gelu(self.up(self.norms[1](x)))))
        return self.output(self.norms[2](x))

    def training_step(self, optimizer, tokens, clip=1.0):
        self.train()
        logits = self(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.parameters(), clip)
        optimizer.step()
        return loss.item()

    @torch.no_grad()
    def write(self, prompt, length, generator):
        self.eval()
        text = prompt
        for _ in range(length):
            p = self(text[None, -self.T :])[0, -1].softmax(-1)
            text = torch.cat([text, torch.multinomial(p, 1, generator=generator)])
        return text''',
    ),
    Rewrite(
        "train",
        "a long loop",
        '''def train(
    model, optimizer, next_batch, evaluate, seconds, device="cpu",
    accumulate=1, every=100, clock=time.monotonic,
):
    start = clock()
    top = optimizer.lr
    history, kept, lowest = [], {}, float("inf")
    step = 0
    passed = 0.0
    while passed < seconds:
        step += 1
        optimizer.lr = top * factor(passed / seconds)
        loss = gradients(model, [next_batch() for _ in range(accumulate)], device)
        torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1)
        optimizer.step()
        passed = clock() - start
        if passed >= seconds or step % every == 0:
            value = evaluate(model)
            history.append((step, loss, value))
            if value < lowest:
                lowest = value
                kept = {k: v.clone() for k, v in model.state_dict().items()}
            passed = clock() - start
    model.load_state_dict(kept)
    return history''',
    ),
    Rewrite(
        "train",
        "deep copies",
        '''def train(
    model, optimizer, next_batch, evaluate, seconds, device="cpu",
    accumulate=1, every=100, clock=time.monotonic,
):
    import copy

    end_of_time = clock() + seconds
    rate, results, best = optimizer.lr, [], None
    n = 0
    while (left := end_of_time - clock()) > 0:
        batches = []
        for _ in range(accumulate):
            batches.append(next_batch())
        value = gradients(model, batches, device)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.lr = rate * factor(1 - left / seconds)
        optimizer.step()
        n += 1
        over = clock() >= end_of_time
        if n % every and not over:
            continue
        now = evaluate(model)
        results.append((n, value, now))
        if best is None or now < best[0]:
            best = now, copy.deepcopy(model.state_dict())
    model.load_state_dict(best[1])
    return results''',
    ),
    Rewrite(
        "train",
        "the last one after the loop",
        '''def train(
    model, optimizer, next_batch, evaluate, seconds, device="cpu",
    accumulate=1, every=100, clock=time.monotonic,
):
    began, rate, history, lowest = clock(), optimizer.lr, [], math.inf

    def note():
        nonlocal lowest, best
        history.append((step, loss, evaluate(model)))
        if history[-1][2] < lowest:
            lowest = history[-1][2]
            best = {name: w.clone() for name, w in model.state_dict().items()}

    step, best = 0, None
    while (now := (clock() - began) / seconds) < 1:
        step += 1
        loss = gradients(model, [next_batch() for _ in range(accumulate)], device)
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.lr = rate * factor(now)
        optimizer.step()
        if step % every == 0:
            note()
    if step % every:
        note()
    model.load_state_dict(best)
    return history''',
    ),
    Rewrite(
        "entry",
        "smaller",
        '''def entry(stories, V, end, seconds, device):
    held, rest = stories[-20:], stories[:-20]
    inputs, targets = pack(rest, end, 128)
    model = GPT(V, 64, [ParallelBlock(64, 2, 1) for _ in range(2)]).to(device)
    optimizer = AdamW(model.parameters(), 1e-2)

    def batch():
        i = torch.randint(len(inputs), (8,))
        return inputs[i], targets[i]

    kept = pack(held, end, 128)
    history = train(model, optimizer, batch, lambda m: mean_loss(m, *kept), seconds, device, 2, 50)
    return model, history''',
    ),
    Rewrite(
        "entry",
        "in order",
        '''def entry(stories, V, end, seconds, device):
    inputs, targets = pack(stories[10:], end, 200)
    model = GPT(V, 96, [ParallelBlock(96, 3, 1) for _ in range(1)])
    model.to(device)
    place = 0

    def following():
        nonlocal place
        rows = [(place + i) % len(inputs) for i in range(4)]
        place += 4
        return inputs[rows], targets[rows]

    def evaluate(model):
        return mean_loss(model, *pack(stories[:10], end, 200))

    optimizer = AdamW(model.parameters(), 5e-3)
    history = train(model, optimizer, following, evaluate, seconds, device=device)
    return model, history''',
    ),
    Rewrite(
        "write",
        "a list",
        '''@torch.no_grad()
def write(model, prompt, length, generator, temperature=1.0, cached=True):
    ids = prompt.tolist()
    caches = [Cache() for _ in range(len(model.blocks))]
    done = 0
    for _ in range(length):
        if cached:
            read = torch.tensor([ids[done:]], device=prompt.device)
            logits = model(read, caches=caches)
            done = len(ids)
        else:
            logits = model(torch.tensor([ids], device=prompt.device))
        p = torch.softmax(logits[0, -1] / temperature, 0).cpu()
        ids.append(int(torch.multinomial(p, 1, generator=generator)))
    return torch.tensor(ids, device=prompt.device)''',
    ),
    Rewrite(
        "write",
        "prompt first",
        '''def write(model, prompt, length, generator, temperature=1.0, cached=True):
    if length == 0:
        return prompt
    with torch.no_grad():
        caches = [Cache() for _ in model.blocks]
        text = prompt
        logits = model(text[None], None, caches if cached else None)
        for i in range(length):
            p = (logits[0, -1] / temperature).softmax(-1).cpu()
            token = torch.multinomial(p, 1, generator=generator).to(text.device)
            text = torch.cat([text, token])
            if i < length - 1:
                logits = model(token[None], None, caches) if cached else model(text[None])
    return text''',
    ),
]  # fmt: skip
