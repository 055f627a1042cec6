"""Plausible wrong answers to lab 03, as patches of its solution, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    # by_hand
    Mutant("by_hand", "no ReLU", "max(0.0, n", "(n", "make of a negative number"),
    Mutant("by_hand", "no bias", ' + n["b"])', ")", "what is left of step 1"),
    Mutant("by_hand", "no recurrence", 'n["w_h"] * h', "0 * h", "w_h times the state"),
    Mutant("by_hand", "h_0 is 1", "h, numbers = 0.0,", "h, numbers = 3.0,", "h_0 is 0"),
    Mutant(
        "by_hand",
        "ReLU of the logit",
        'numbers["logit"] = n["w_y"] * h + n["b_y"]',
        'numbers["logit"] = max(0.0, n["w_y"] * h + n["b_y"])',
        "no ReLU",
    ),
    Mutant("by_hand", "no output bias", ' + n["b_y"]', "", "plus b_y"),
    Mutant(
        "by_hand",
        "sign of the logit",
        'math.exp(-numbers["logit"])',
        'math.exp(numbers["logit"])',
        "logistic function",
    ),
    Mutant("by_hand", "inputs added up", 'n["x"][t - 1]', 'sum(n["x"][:t])', "same three weights"),
    # first_error
    Mutant(
        "first_error",
        "colours ignored",
        "stack.pop() != 9 - symbol",
        "not stack.pop() >= 0",
        "What closes i is 9 - i",
    ),
    Mutant("first_error", "10 minus i", "9 - symbol", "10 - symbol", "What closes i is 9 - i"),
    Mutant(
        "first_error",
        "left open",
        "return len(sequence) if stack else None",
        "return None",
        "still open when",
    ),
    Mutant(
        "first_error",
        "the last symbol for what stays open",
        "return len(sequence) if stack",
        "return len(sequence) - 1 if stack",
        "behind the last symbol",
    ),
    Mutant(
        "first_error",
        "the opening that stays open",
        "stack.append(symbol)\n        elif not stack or stack.pop() != 9 - symbol:\n"
        "            return position\n    return len(sequence) if stack",
        "stack.append((symbol, position))\n        elif not stack or stack.pop()[0] != 9 - symbol:"
        "\n            return position\n    return stack[-1][1] if stack",
        "the symbol at which one notices it",
    ),
    Mutant("first_error", "counted from 1", "return position", "return position + 1", "from 0"),
    Mutant(
        "first_error",
        "the last error",
        "            return position\n    return len(sequence) if stack else None",
        "            last = position\n    return locals().get('last', len(sequence) if stack else "
        "None)",
        "The first error counts",
    ),
    Mutant(
        "first_error",
        "True and False",
        "            return position\n    return len(sequence) if stack else None",
        "            return False\n    return not stack",
        "does not tell",
    ),
    Mutant("first_error", "0 for none", "else None", "else 0", "0 would be the first position"),
    Mutant(
        "first_error",
        "an error at a closing too early",
        "not stack or ",
        "",
        "where nothing is open",
    ),
    Mutant("first_error", "a queue", "stack.pop()", "stack.pop(0)", "a stack gives back"),
    Mutant(
        "first_error",
        "any open one is closed",
        "elif not stack or stack.pop() != 9 - symbol:\n            return position",
        "elif 9 - symbol not in stack:\n            return position\n        else:\n"
        "            stack.remove(9 - symbol)",
        "a stack gives back",
    ),
    Mutant(
        "first_error",
        "too early passes",
        "elif not stack or stack.pop() != 9 - symbol:",
        "elif stack and stack.pop() != 9 - symbol:",
        "where nothing is open",
    ),
    Mutant(
        "first_error",
        "the empty one is refused",
        "stack = []",
        "stack = []\n    if not sequence:\n        return 0",
        "Nothing is wrong here",
    ),
    Mutant("first_error", "4 closes", "symbol <= 4", "symbol < 4", "What closes i is 9 - i"),
    Mutant("first_error", "-1 for none", "else None", "else -1", "None, and not -1"),
    # draw_balanced
    Mutant("draw_balanced", "deep only", "uniform() < 0.5", "True", "close all, and open again"),
    Mutant("draw_balanced", "wide only", "uniform() < 0.5", "False", "open several in a row"),
    Mutant(
        "draw_balanced",
        "nothing must close",
        "stack, len(stack) == left",
        "stack, False",
        "as many are open as symbols are left",
    ),
    Mutant(
        "draw_balanced",
        "one colour",
        "colour = int(5 * uniform())",
        "colour = stack[0] if stack else int(5 * uniform())",
        "new colour for each opening",
    ),
    Mutant(
        "draw_balanced",
        "four colours",
        "int(5 * uniform())",
        "int(4 * uniform())",
        "one of 0, 1, 2, 3, 4",
    ),
    Mutant(
        "draw_balanced",
        "six colours",
        "int(5 * uniform())",
        "int(6 * uniform())",
        "close only its top",
    ),
    Mutant(
        "draw_balanced",
        "rounded colours",
        "int(5 * uniform())",
        "round(4 * uniform())",
        "one of 0, 1, 2, 3, 4",
    ),
    Mutant(
        "draw_balanced",
        "one number for both choices",
        "if must_open or (not must_close and uniform() < 0.5):\n"
        "            colour = int(5 * uniform())",
        "u = uniform()\n        if must_open or (not must_close and u < 0.5):\n"
        "            colour = int(5 * u)",
        "fresh uniform()",
    ),
    Mutant(
        "draw_balanced", "uniform not called", "int(5 * uniform())", "int(5 * uniform)", "calls it"
    ),
    Mutant(
        "draw_balanced",
        "a tensor",
        "return sequence",
        "return torch.tensor(sequence)",
        "tensor([",
    ),
    Mutant(
        "draw_balanced",
        "another source of randomness",
        "not must_close and uniform() < 0.5",
        "not must_close and random.random() < 0.5",
        "nothing else that is random",
    ),
    Mutant(
        "draw_balanced",
        "a closing of any colour",
        "9 - stack.pop()",
        "9 - stack.pop() * 0 - int(5 * uniform())",
        "close only its top",
    ),
    Mutant(
        "draw_balanced",
        "half the length",
        "range(length, 0, -1)",
        "range(length // 2, 0, -1)",
        "not pairs",
    ),
    Mutant(
        "draw_balanced",
        "at most two deep",
        "not must_close and uniform() < 0.5",
        "not must_close and len(stack) < 2 and uniform() < 0.5",
        "open several in a row",
    ),
    Mutant(
        "draw_balanced",
        "only one mountain",
        "uniform() < 0.5",
        "9 - sequence[-1] not in stack[-1:] and uniform() < 0.5 and max(sequence) < 5",
        "Which choice is never made",
    ),
    Mutant(
        "draw_balanced",
        "closes too rarely",
        "uniform() < 0.5",
        "uniform() < 0.99",
        "neither so rare",
    ),
    # unbalance
    Mutant(
        "unbalance",
        "any closing",
        "min(sequence[p - 1 : p + 2]) > 4",
        "sequence[p] > 4",
        "neighbours or at the ends",
    ),
    Mutant(
        "unbalance",
        "the last one too",
        "range(1, len(sequence) - 1)",
        "range(1, len(sequence))",
        "neighbours or at the ends",
    ),
    Mutant(
        "unbalance",
        "before an opening",
        "min(sequence[p - 1 : p + 2])",
        "min(sequence[p - 1 : p + 1])",
        "neighbours or at the ends",
    ),
    Mutant(
        "unbalance",
        "one colour too",
        " and sequence[p] != sequence[q]",
        "",
        "leave the sequence as it was",
    ),
    Mutant(
        "unbalance",
        "no None",
        "    if not pairs:\n        return None\n",
        "",
        "no two closings fit",
    ),
    Mutant(
        "unbalance",
        "as it is for None",
        "return None",
        "return list(sequence)",
        "no two closings fit",
    ),
    Mutant(
        "unbalance",
        "in place",
        "changed = list(sequence)",
        "changed = sequence",
        "changed in place",
    ),
    Mutant(
        "unbalance",
        "one new colour",
        "changed[p], changed[q] = changed[q], changed[p]",
        "changed[p] = changed[q]",
        "two symbols change places",
    ),
    Mutant(
        "unbalance",
        "always the first pair",
        "pairs[int(uniform() * len(pairs))]",
        "pairs[0]",
        "Choose by uniform()",
    ),
    Mutant("unbalance", "neighbours only", "p < q and", "q == p + 1 and", "every pair of places"),
    Mutant(
        "unbalance",
        "another source of randomness",
        "pairs[int(uniform() * len(pairs))]",
        "random.choice(pairs)",
        "nothing else that is random",
    ),
    Mutant(
        "unbalance",
        "the openings",
        "min(sequence[p - 1 : p + 2]) > 4",
        "max(sequence[p - 1 : p + 2]) < 5",
        "Openings keep their places",
    ),
    # shortcut_accuracy
    Mutant(
        "shortcut_accuracy",
        "measured on the training set",
        "for sequence, label in test:",
        "for sequence, label in (test := train):",
        "Count on the test set",
    ),
    Mutant(
        "shortcut_accuracy",
        "a loop inside of the other",
        "        vote = votes.get(feature(sequence), 0)",
        "        vote = sum(1 if y else -1 for s, y in train if feature(s) == feature(sequence))",
        "inside of the other",
    ),
    Mutant(
        "shortcut_accuracy",
        "fitted on the test set",
        "for sequence, label in train:",
        "for sequence, label in test:",
        "only there",
    ),
    Mutant(
        "shortcut_accuracy",
        "ties are balanced",
        "            right += 0.5\n",
        "            right += label\n",
        "A coin is right half",
    ),
    Mutant(
        "shortcut_accuracy", "ties are wrong", "right += 0.5", "right += 0", "A coin is right half"
    ),
    Mutant(
        "shortcut_accuracy",
        "an error at new values",
        "votes.get(feature(sequence), 0)",
        "votes[feature(sequence)]",
        "Do not leave these out",
    ),
    Mutant(
        "shortcut_accuracy",
        "new values are left out",
        "right / len(test)",
        "right / max(1, sum(feature(s) in votes for s, _ in test))",
        "Do not leave these out",
    ),
    Mutant(
        "shortcut_accuracy",
        "the last one seen",
        "votes.get(value, 0) + (1 if label else -1)",
        "1 if label else -1",
        "had it more often",
    ),
    Mutant(
        "shortcut_accuracy",
        "the majority of all",
        "value = feature(sequence)",
        "value = 2",
        "had it more often",
    ),
    Mutant("shortcut_accuracy", "a count", "right / len(test)", "right", "had it more often"),
    Mutant(
        "shortcut_accuracy",
        "over the training set",
        "right / len(test)",
        "right / len(train)",
        "had it more often",
    ),
    Mutant(
        "shortcut_accuracy",
        "the other class",
        "(vote > 0) == label",
        "(vote < 0) == label",
        "had it more often",
    ),
    Mutant(
        "shortcut_accuracy",
        "error",
        "right / len(test)",
        "1 - right / len(test)",
        "had it more often",
    ),
    Mutant(
        "shortcut_accuracy",
        "turned round where it errs more than a coin",
        "right / len(test)",
        "max(right, len(test) - right) / len(test)",
        "more often than a coin",
    ),
    # ElmanCell
    Mutant("ElmanCell", "tanh", "torch.relu", "torch.tanh", "tanh does not"),
    Mutant(
        "ElmanCell",
        "no activation",
        "torch.relu(self.x2h(x) + self.h2h(h))",
        "self.x2h(x) + self.h2h(h)",
        "where others have tanh",
    ),
    Mutant("ElmanCell", "two biases", ", bias=False", "", "only the sum matters"),
    Mutant(
        "ElmanCell",
        "no bias",
        "nn.Linear(d_in, d_hidden)",
        "nn.Linear(d_in, d_hidden, bias=False)",
        "one bias b",
    ),
    Mutant(
        "ElmanCell",
        "ReLU of the input only",
        "torch.relu(self.x2h(x) + self.h2h(h))",
        "torch.relu(self.x2h(x)) + self.h2h(h)",
        "ReLU comes once",
    ),
    Mutant(
        "ElmanCell",
        "ReLU twice",
        "torch.relu(self.x2h(x) + self.h2h(h))",
        "torch.relu(self.x2h(x)) + torch.relu(self.h2h(h))",
        "ReLU comes once",
    ),
    Mutant(
        "ElmanCell",
        "no state",
        "self.x2h(x) + self.h2h(h)",
        "self.x2h(x)",
        "W_h times the old state",
    ),
    Mutant(
        "ElmanCell",
        "the old state is added",
        "self.x2h(x) + self.h2h(h)",
        "self.x2h(x) + self.h2h(h) + h",
        "W_h times the old state",
    ),
    Mutant(
        "ElmanCell",
        "sizes the other way round",
        "nn.Linear(d_in, d_hidden)",
        "nn.Linear(d_hidden, d_in)",
        "the layer x2h",
    ),
    Mutant(
        "ElmanCell",
        "h2h reads x",
        "nn.Linear(d_hidden, d_hidden, bias=False)",
        "nn.Linear(d_in, d_hidden, bias=False)",
        "the layer h2h",
    ),
    Mutant(
        "ElmanCell", "another name", "def forward(self", "def step(self", "the method named forward"
    ),
    Mutant(
        "ElmanCell",
        "no graph",
        "return torch.relu(self.x2h(x) + self.h2h(h))",
        "return torch.relu(self.x2h(x) + self.h2h(h)).detach()",
        "tensors all the way",
    ),
    Mutant(
        "ElmanCell",
        "PyTorch's own",
        "torch.relu(self.x2h(x) + self.h2h(h))",
        "nn.RNNCell(2, 3)(x, h)",
        "does the whole task",
    ),
    Mutant(
        "ElmanCell",
        "a pair",
        "return torch.relu(self.x2h(x) + self.h2h(h))",
        "h = torch.relu(self.x2h(x) + self.h2h(h))\n        return h, h",
        "new state alone",
    ),
    Mutant(
        "ElmanCell",
        "an output layer inside",
        "bias=False)",
        "bias=False)\n        self.h2y = nn.Linear(d_hidden, 1)",
        "outside of it",
    ),
    # last_states
    Mutant(
        "last_states",
        "time first",
        "x.new_zeros(len(x), cell.h2h.in_features)",
        "(x := x.transpose(0, 1)).new_zeros(len(x), cell.h2h.in_features); "
        "lengths = x.new_full((len(x),), x.shape[1])",
        "a row is a sequence",
    ),
    Mutant(
        "last_states",
        "padding is read",
        "torch.where(running, cell(x[:, t], h), h)",
        "cell(x[:, t], h)",
        "A row keeps the state",
    ),
    Mutant(
        "last_states",
        "one step too few",
        "(t < lengths)",
        "(t < lengths - 1)",
        "from the first symbol to the n-th",
    ),
    Mutant(
        "last_states",
        "one step too many",
        "(t < lengths)",
        "(t <= lengths)",
        "A row keeps the state",
    ),
    Mutant(
        "last_states",
        "the shortest row ends it",
        "range(x.shape[1])",
        "range(int(lengths.min()))",
        "takes n steps",
    ),
    Mutant(
        "last_states",
        "zero after the end",
        "cell(x[:, t], h), h)",
        "cell(x[:, t], h), 0 * h)",
        "A state times 0 is 0",
    ),
    Mutant(
        "last_states",
        "ones at the beginning",
        "x.new_zeros",
        "x.new_ones",
        "before the first is 0",
    ),
    Mutant(
        "last_states",
        "another type",
        "x.new_zeros(len(x), cell.h2h.in_features)",
        "torch.zeros(len(x), cell.h2h.in_features, dtype=torch.float32)",
        "of the type of x",
    ),
    Mutant(
        "last_states",
        "sorted",
        "    for t in range(x.shape[1]):",
        "    lengths, order = lengths.sort()\n    x = x[order]\n    for t in range(x.shape[1]):",
        "belongs to row i",
    ),
    Mutant(
        "last_states",
        "a row at a time",
        "torch.where(running, cell(x[:, t], h), h)",
        "torch.where(running, torch.cat([cell(a[None], b[None]) for a, b in zip(x[:, t], h)]), h)",
        "not over the rows",
    ),
    Mutant(
        "last_states",
        "no gradient through time",
        "cell(x[:, t], h), h)",
        "cell(x[:, t], h.detach()), h)",
        "no .detach()",
    ),
    Mutant(
        "last_states",
        "backwards",
        "cell(x[:, t], h)",
        "cell(x[:, -1 - t], h)",
        "from the first symbol to the n-th",
    ),
    Mutant(
        "last_states",
        "as it was handed out",
        "    for t in range(x.shape[1]):\n        running = (t < lengths)[:, None]  # (B, 1)\n"
        "        h = torch.where(running, cell(x[:, t], h), h)",
        "    lengths, order = lengths.sort(descending=True)\n    x = x[order]\n"
        "    for t in range(x.shape[1]):\n        running = (t <= lengths)[:, None]\n"
        "        h = running * cell(x[:, t], h)",
        "A row keeps the state",
    ),
    Mutant(
        "last_states",
        "batch and time in the other order",
        "cell(x[:, t], h), h)",
        "cell(x[t], h), h)",
        "x[:, t]",
    ),
    Mutant(
        "last_states",
        "padding is zeros",
        "torch.where(running, cell(x[:, t], h), h)",
        "cell(x[:, t] * running, h)",
        "A row keeps the state",
    ),
    Mutant(
        "last_states",
        "written over",
        "h = torch.where(running, cell(x[:, t], h), h)",
        "h[running[:, 0]] = cell(x[:, t], h)[running[:, 0]]",
        "overwritten",
    ),
    Mutant(
        "last_states",
        "the state one place too late",
        "        h = torch.where(running, cell(x[:, t], h), h)\n    return h",
        "        h = cell(x[:, t], h)\n        states = [*states, h] if t else [h]\n"
        "    return torch.stack(states, 1)[torch.arange(len(x)), lengths]",
        "count from 0",
    ),
    # input_gradients
    Mutant("input_gradients", "no derivative of tanh", " * (1 - h[t] ** 2)", "", "half a square"),
    Mutant(
        "input_gradients",
        "derivative without the square",
        "1 - h[t] ** 2",
        "1 - h[t]",
        "half a square",
    ),
    Mutant("input_gradients", "sign", "h[n] - y  #", "y - h[n]  #", "half a square"),
    Mutant("input_gradients", "no half", "dh = h[n] - y", "dh = 2 * (h[n] - y)", "half a square"),
    Mutant("input_gradients", "no w_x", "= delta * w_x", "= delta", "multiplied by w_x"),
    Mutant("input_gradients", "w_h for w_x", "= delta * w_x", "= delta * w_h", "half a square"),
    Mutant(
        "input_gradients",
        "the gradient of the weight",
        "= delta * w_x",
        "= delta * x[t - 1]",
        "half a square",
    ),
    Mutant("input_gradients", "no w_h", "dh = delta * w_h", "dh = delta", "the recurrent weight"),
    Mutant(
        "input_gradients", "through w_x", "dh = delta * w_h", "dh = delta * w_x", "recurrent weight"
    ),
    Mutant(
        "input_gradients",
        "the last step only",
        "range(n, 0, -1)",
        "range(n, n - 1, -1)",
        "the recurrent weight",
    ),
    Mutant(
        "input_gradients",
        "derivative at the last step only",
        "delta = dh * (1 - h[t] ** 2)",
        "delta = dh * (1 - h[t] ** 2 if t == n else 1)",
        "at step t itself",
    ),
    Mutant(
        "input_gradients",
        "the derivative of another step",
        "(1 - h[t] ** 2)",
        "(1 - h[-1] ** 2)",
        "at step t itself",
    ),
    Mutant(
        "input_gradients",
        "from the last to the first",
        "return gradient",
        "return gradient[::-1]",
        "In the order of the inputs",
    ),
    Mutant(
        "input_gradients",
        "padding is read",
        "    h = [0.0]",
        "    n, h = len(x), [0.0]",
        "never read",
    ),
    Mutant(
        "input_gradients",
        "padding is left out",
        "return gradient",
        "return gradient[:n]",
        "each of",
    ),
    Mutant(
        "input_gradients",
        "tensors",
        "gradient[t - 1] = delta * w_x",
        "gradient[t - 1] = torch.tensor(delta * w_x)",
        "as math.tanh gives them",
    ),
    Mutant(
        "input_gradients",
        "float32",
        "math.tanh(w_x * x_t + w_h * h[-1] + b)",
        "torch.tanh(torch.tensor(w_x * x_t + w_h * h[-1] + b)).item()",
        "Near, but not exact",
    ),
    Mutant(
        "input_gradients",
        "a difference quotient",
        "    return gradient",
        """    def loss(x):
        h = 0.0
        for x_t in x[:n]:
            h = math.tanh(w_x * x_t + w_h * h + b)
        return 0.5 * (h - y) ** 2

    e = 1e-5
    steps = [[e * (t == k) for k in range(len(x))] for t in range(len(x))]
    more = [[v + d for v, d in zip(x, step)] for step in steps]
    less = [[v - d for v, d in zip(x, step)] for step in steps]
    return [(loss(m) - loss(k)) / (2 * e) for m, k in zip(more, less)]""",
        "Near, but not exact",
    ),
    Mutant(
        "input_gradients",
        "a tensor",
        "return gradient",
        "return torch.tensor(gradient)",
        "tolist()",
    ),
    # fit
    Mutant(
        "fit",
        "old gradients stay",
        "        optimizer.zero_grad()\n",
        "",
        "gradients for each batch",
    ),
    Mutant(
        "fit",
        "cleared after backward",
        "        optimizer.zero_grad()\n        loss.backward()\n",
        "        loss.backward()\n        optimizer.zero_grad()\n",
        "nothing to step with",
    ),
    Mutant(
        "fit",
        "cleared once",
        "    losses = []\n    for tokens, labels in batches:\n",
        "    losses = []\n    zero_grad, optimizer.zero_grad = optimizer.zero_grad, "
        "lambda: None\n    zero_grad()\n    for tokens, labels in batches:\n",
        "gradients for each batch",
    ),
    Mutant("fit", "no backward", "        loss.backward()\n", "", "nothing to step with"),
    Mutant("fit", "no step", "        optimizer.step()\n", "", "is what learns"),
    Mutant(
        "fit",
        "no clipping",
        "        nn.utils.clip_grad_norm_(model.parameters(), clip)\n",
        "",
        "after backward and before the step",
    ),
    Mutant(
        "fit",
        "clipped after the step",
        "        nn.utils.clip_grad_norm_(model.parameters(), clip)\n        optimizer.step()\n",
        "        optimizer.step()\n        nn.utils.clip_grad_norm_(model.parameters(), clip)\n",
        "after backward and before the step",
    ),
    Mutant("fit", "each number clipped", "clip_grad_norm_", "clip_grad_value_", "as one vector"),
    Mutant(
        "fit",
        "each weight clipped by itself",
        "nn.utils.clip_grad_norm_(model.parameters(), clip)",
        "[nn.utils.clip_grad_norm_([p], clip) for p in model.parameters()]",
        "as one vector",
    ),
    Mutant(
        "fit",
        "always cut to clip",
        "nn.utils.clip_grad_norm_(model.parameters(), clip)",
        "[p.grad.mul_(clip / n) for n in [nn.utils.get_total_norm("
        "[p.grad for p in model.parameters()])] for p in model.parameters()]",
        "stays as it is",
    ),
    Mutant(
        "fit",
        "the loss of the probabilities",
        "(model(tokens), labels.float())",
        "(torch.sigmoid(model(tokens)), labels.float())",
        "What the model gives are logits",
    ),
    Mutant(
        "fit",
        "the log of 0",
        "F.binary_cross_entropy_with_logits(model(tokens), labels.float())",
        "F.binary_cross_entropy(torch.sigmoid(model(tokens)), labels.float())",
        "that takes logits",
    ),
    Mutant("fit", "a sum", "labels.float())", 'labels.float(), reduction="sum")', "mean over"),
    Mutant(
        "fit",
        "labels the other way round",
        "labels.float()",
        "1 - labels.float()",
        "What the model gives are logits",
    ),
    Mutant(
        "fit",
        "squared error",
        "F.binary_cross_entropy_with_logits(",
        "F.mse_loss(",
        "What the model gives are logits",
    ),
    Mutant("fit", "whole-number labels", "labels.float()", "labels", "of one type"),
    Mutant("fit", "tensors in the list", "loss.item()", "loss", "plain number"),
    Mutant(
        "fit",
        "step after the loop",
        "        optimizer.step()\n        losses.append(loss.item())\n",
        "        losses.append(loss.item())\n    optimizer.step()\n",
        "inside of the loop",
    ),
    Mutant(
        "fit",
        "returns too early",
        "        losses.append(loss.item())\n    return losses",
        "        losses.append(loss.item())\n        return losses",
        "inside of the loop",
    ),
    Mutant("fit", "no losses", "    return losses", "", "losses of all batches"),
    Mutant(
        "fit",
        "the loss after the step",
        "losses.append(loss.item())",
        "losses.append(F.binary_cross_entropy_with_logits(model(tokens), labels.float()).item())",
        "loss that backward starts from",
    ),
    Mutant(
        "fit",
        "answers in place of logits",
        "model(tokens), labels",
        "(model(tokens) > 0).float(), labels",
        "cut the graph",
    ),
    Mutant(
        "fit",
        "another optimizer",
        "    losses = []",
        "    losses, optimizer = [], torch.optim.SGD(model.parameters(), 0.1)",
        "optimizer handed over",
    ),
    Mutant("fit", "two epochs", "in batches:", "in [*batches, *batches]:", "batches once"),
    # error_by_length
    Mutant("error_by_length", "tensors as shares", ".mean().item()", ".mean()", ".item()"),
    Mutant("error_by_length", "right, not wrong", "!=", "==", "the share that is wrong"),
    Mutant(
        "error_by_length",
        "a logit is no probability",
        "model(tokens) > 0",
        "model(tokens) > 0.5",
        "at which logit is P",
    ),
    Mutant(
        "error_by_length",
        "padding counts",
        "(tokens < 10).sum(1)",
        "(tokens <= 10).sum(1)",
        "10 is no symbol",
    ),
    Mutant("error_by_length", "gradients", "with torch.no_grad():", "if True:", "no graph"),
    Mutant(
        "error_by_length",
        "a count",
        ".double().mean()",
        ".double().sum()",
        "the share that is wrong",
    ),
    Mutant(
        "error_by_length",
        "one number for all",
        "wrong[lengths == n]",
        "wrong",
        "the share that is wrong",
    ),
    Mutant(
        "error_by_length",
        "up to this length",
        "wrong[lengths == n]",
        "wrong[lengths <= n]",
        "the share that is wrong",
    ),
    Mutant(
        "error_by_length",
        "of all rows",
        "wrong[lengths == n].double().mean()",
        "(wrong & (lengths == n)).double().mean()",
        "the share that is wrong",
    ),
    Mutant(
        "error_by_length",
        "tensors as keys",
        "lengths.unique().tolist()",
        "lengths.unique()",
        "a plain number",
    ),
    Mutant(
        "error_by_length",
        "only the negatives",
        "!= (labels == 1)",
        "& (labels == 0)",
        "the share that is wrong",
    ),
    Mutant(
        "error_by_length",
        "all lengths",
        "lengths.unique().tolist()",
        "range(1, tokens.shape[1] + 1)",
        "do not occur",
    ),
]

REWRITES = [
    Rewrite(
        "by_hand",
        "rounded to three decimals",
        """
def by_hand():
    n = check.numbers()
    h1 = 0
    h2 = round(n["w_x"] * n["x"][1] + n["b"], 3)
    h3 = round(max(n["w_x"] * n["x"][2] + n["w_h"] * h2 + n["b"], 0), 3)
    z = round(n["w_y"] * h3 + n["b_y"], 3)
    p = round(1 / (1 + math.exp(-z)), 3)
    return {"h_1": h1, "h_2": h2, "h_3": h3, "logit": z, "P(balanced)": p}
""",
    ),
    Rewrite(
        "by_hand",
        "with tensors",
        """
def by_hand():
    n = check.numbers()
    h, found = torch.zeros(()), {}
    for t, x in enumerate(n["x"]):
        h = torch.relu(n["w_x"] * torch.tensor(x) + n["w_h"] * h + n["b"])
        found["h_" + str(t + 1)] = h.item()
    z = n["w_y"] * h + n["b_y"]
    return found | {"P(balanced)": torch.sigmoid(z).item(), "logit": z.item()}
""",
    ),
    Rewrite(
        "first_error",
        "by what the stack waits for",
        """
def first_error(sequence):
    waiting = [-1]
    for t in range(len(sequence)):
        if sequence[t] < 5:
            waiting.append(9 - sequence[t])
        elif waiting[-1] == sequence[t]:
            waiting.pop()
        else:
            return t
    if len(waiting) > 1:
        return len(sequence)
""",
    ),
    Rewrite(
        "first_error",
        "by trying every beginning",
        """
def first_error(sequence):
    def rest(part):
        left = []
        for symbol in part:
            if left and left[-1] + symbol == 9 and symbol > 4:
                left = left[:-1]
            else:
                left = left + [symbol]
        return left
    for n in range(1, len(sequence) + 1):
        if any(symbol > 4 for symbol in rest(sequence[:n])):
            return n - 1
    return len(sequence) if rest(sequence) else None
""",
    ),
    Rewrite(
        "draw_balanced",
        "by rejection",
        """
def draw_balanced(length, uniform):
    while True:
        stack, sequence = [], []
        for _ in range(length):
            if uniform() < 0.5:
                stack.append(int(uniform() * 5))
                sequence.append(stack[-1])
            elif stack:
                sequence.append(9 - stack.pop())
            else:
                break
        if len(sequence) == length and not stack:
            return sequence
""",
    ),
    Rewrite(
        "draw_balanced",
        "pairs put in anywhere",
        """
def draw_balanced(length, uniform):
    sequence = []
    for _ in range(length // 2):
        place, colour = int(uniform() * (len(sequence) + 1)), math.floor(5 * uniform())
        sequence[place:place] = [colour, 9 - colour]
    return sequence
""",
    ),
    Rewrite(
        "draw_balanced",
        "split in two",
        """
def draw_balanced(length, uniform):
    if length == 0:
        return []
    inside = 2 * int(uniform() * (length // 2))
    colour = int(5 * uniform())
    within = draw_balanced(inside, uniform)
    return [colour, *within, 9 - colour, *draw_balanced(length - 2 - inside, uniform)]
""",
    ),
    Rewrite(
        "unbalance",
        "tries until it fits",
        """
def unbalance(sequence, uniform):
    n = len(sequence)
    def inner(p):
        return 0 < p < n - 1 and all(symbol >= 5 for symbol in sequence[p - 1:p + 2])
    if len({sequence[p] for p in range(n) if inner(p)}) < 2:
        return None
    while True:
        p, q = int(n * uniform()), int(n * uniform())
        if inner(p) and inner(q) and sequence[p] != sequence[q]:
            new = sequence.copy()
            new[p], new[q] = sequence[q], sequence[p]
            return new
""",
    ),
    Rewrite(
        "unbalance",
        "the first place, then a second",
        """
def unbalance(sequence, uniform):
    inner = []
    for p, symbol in enumerate(sequence):
        if 0 < p < len(sequence) - 1 and sequence[p - 1] > 4 < sequence[p + 1] and symbol > 4:
            inner.append(p)
    first = [p for p in inner if any(sequence[q] != sequence[p] for q in inner)]
    if len(first) == 0:
        return None
    p = first[int(len(first) * uniform())]
    second = [q for q in inner if sequence[q] != sequence[p]]
    q = second[int(len(second) * uniform())]
    return [sequence[{p: q, q: p}.get(i, i)] for i in range(len(sequence))]
""",
    ),
    Rewrite(
        "shortcut_accuracy",
        "by counters",
        """
def shortcut_accuracy(feature, train, test):
    from collections import Counter
    yes = Counter(feature(s) for s, label in train if label)
    no = Counter(feature(s) for s, label in train if not label)
    points = []
    for s, label in test:
        a, b = yes[feature(s)], no[feature(s)]
        points.append(0.5 if a == b else float((a > b) == bool(label)))
    return sum(points) / len(points)
""",
    ),
    Rewrite(
        "shortcut_accuracy",
        "by groups",
        """
def shortcut_accuracy(feature, train, test):
    groups = {}
    for s, label in train:
        groups.setdefault(feature(s), []).append(int(label))
    wrong = 0
    for s, label in test:
        group = groups.get(feature(s), [0, 1])
        share = sum(group) / len(group)
        guess = 1 if share > 0.5 else 0 if share < 0.5 else 0.5
        wrong += abs(guess - int(label))
    return 1 - wrong / len(test)
""",
    ),
    Rewrite(
        "ElmanCell",
        "by matrices",
        """
class ElmanCell(nn.Module):
    def __init__(self, d_in, d_hidden):
        super().__init__()
        self.h2h = nn.Linear(d_hidden, d_hidden, False)
        self.x2h = nn.Linear(d_in, d_hidden, True)

    def forward(self, x, h):
        s = x @ self.x2h.weight.T + self.x2h.bias + h @ self.h2h.weight.T
        return s.clamp(min=0)
""",
    ),
    Rewrite(
        "ElmanCell",
        "with F",
        """
class ElmanCell(nn.Module):
    def __init__(self, n_inputs, n_hidden):
        nn.Module.__init__(self)
        self.x2h, self.h2h = nn.Linear(n_inputs, n_hidden), nn.Linear(n_hidden, n_hidden, bias=0)
        self.activation = nn.ReLU()

    def forward(self, x, h):
        return self.activation(F.linear(h, self.h2h.weight, self.x2h.bias)
                               + F.linear(x, self.x2h.weight))
""",
    ),
    Rewrite(
        "last_states",
        "all states, then the right ones",
        """
def last_states(cell, x, lengths):
    h = torch.zeros(x.shape[0], cell.h2h.out_features, dtype=x.dtype, device=x.device)
    states = []
    for x_t in x.transpose(0, 1):
        h = cell(x_t, h)
        states.append(h)
    return torch.stack(states, 1)[torch.arange(len(x)), lengths - 1]
""",
    ),
    Rewrite(
        "last_states",
        "only the rows that run",
        """
def last_states(cell, x, lengths):
    h = x.new_zeros(x.size(0), cell.h2h.in_features)
    for t in range(int(lengths.max())):
        alive = lengths > t
        new = h.clone()
        new[alive] = cell(x[alive, t], h[alive])
        h = new
    return h
""",
    ),
    Rewrite(
        "last_states",
        "with a mask of numbers",
        """
def last_states(cell, x, lengths):
    B, T, _ = x.shape
    h = torch.zeros(B, cell.h2h.in_features).to(x)
    mask = (torch.arange(T)[None] < lengths[:, None]).to(x)
    for t in range(T):
        m = mask[:, t : t + 1]
        h = m * cell(x[:, t], h) + (1 - m) * h
    return h
""",
    ),
    Rewrite(
        "last_states",
        "the handed-out one, repaired",
        """
def last_states(cell, x, lengths):
    lengths, order = lengths.sort(descending=True)
    x = x[order]
    h = x.new_zeros(len(x), cell.h2h.in_features)
    for t in range(x.shape[1]):
        running = (t < lengths)[:, None]
        h = running * cell(x[:, t], h) + ~running * h
    return h[order.argsort()]
""",
    ),
    Rewrite(
        "input_gradients",
        "as products",
        """
def input_gradients(w_x, w_h, b, x, n, y):
    h = 0.0
    slopes = []
    for t in range(n):
        h = math.tanh(w_x * x[t] + w_h * h + b)
        slopes.append(1 - h * h)
    return [(h - y) * w_x * w_h ** (n - 1 - t) * math.prod(slopes[t:]) for t in range(n)] + [
        0
    ] * (len(x) - n)
""",
    ),
    Rewrite(
        "input_gradients",
        "forwards, one input at a time",
        """
def input_gradients(w_x, w_h, b, x, n, y):
    found = []
    for k in range(len(x)):
        h = dh = 0.0
        for t in range(n):
            h = math.tanh(w_x * x[t] + w_h * h + b)
            dh = (1 - h * h) * (w_h * dh + (w_x if t == k else 0.0))
        found.append((h - y) * dh)
    return found
""",
    ),
    Rewrite(
        "fit",
        "clears by the model, after the mean of logs",
        """
def fit(model, optimizer, batches, clip):
    criterion, losses = nn.BCEWithLogitsLoss(), []
    for tokens, labels in batches:
        model.zero_grad()
        loss = criterion(model(tokens), labels.to(torch.float32))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(model.parameters()), max_norm=clip)
        optimizer.step()
        losses += [float(loss.detach())]
    return losses
""",
    ),
    Rewrite(
        "fit",
        "by softplus and by hand",
        """
def fit(model, optimizer, batches, clip):
    losses = []
    for tokens, labels in batches:
        z = model(tokens)
        loss = F.softplus(torch.where(labels == 1, -z, z)).mean()
        for p in model.parameters():
            p.grad = None
        loss.backward()
        norm = sum(p.grad.square().sum() for p in model.parameters()) ** 0.5
        for p in model.parameters():
            p.grad *= min(1.0, clip / norm.item())
        optimizer.step()
        losses.append(loss.item())
    return losses
""",
    ),
    Rewrite(
        "error_by_length",
        "by a loop over rows",
        """
@torch.no_grad()
def error_by_length(model, tokens, labels):
    wrong = {}
    for row, logit, label in zip(tokens.tolist(), model(tokens).tolist(), labels.tolist()):
        n = sum(symbol != 10 for symbol in row)
        wrong.setdefault(n, []).append((logit > 0) != bool(label))
    return {n: sum(answers) / len(answers) for n, answers in wrong.items()}
""",
    ),
    Rewrite(
        "error_by_length",
        "by probabilities, a length at a time",
        """
def error_by_length(model, tokens, labels):
    lengths, errors = tokens.ne(10).sum(1), {}
    for n in sorted(set(lengths.tolist())):
        rows = lengths == n
        with torch.inference_mode():
            p = torch.sigmoid(model(tokens[rows]))
        errors[n] = 1 - ((p > 0.5).long() == labels[rows]).float().mean().item()
    return errors
""",
    ),
]
