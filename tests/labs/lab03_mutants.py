"""Wrong answers to lab 03 that are no slips of its checks, and other right answers."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== first_error
colours ignored | stack.pop() != 9 - symbol => not stack.pop() >= 0 | What closes i is 9 - i
left open | return len(sequence) if stack else None => return None | still open when
a queue | stack.pop() => stack.pop(0) | a stack gives back
too early passes | not stack or stack.pop() != => stack and stack.pop() != | where nothing is open

== draw_balanced
deep only | uniform() < 0.5 => True | close all, and open again
wide only | uniform() < 0.5 => False | open several in a row
nothing must close | , len(stack) == left => , False | as many are open as symbols are left
one colour | colour = int => colour = stack[0] if stack else int | new colour for each opening
one number for both choices | fresh uniform()
-        if must_open or (not must_close and uniform() < 0.5):
-            colour = int(5 * uniform())
+        u = uniform()
+        if must_open or (not must_close and u < 0.5):
+            colour = int(5 * u)
uniform not called | int(5 * uniform()) => int(5 * uniform) | calls it
a tensor | return sequence => return torch.tensor(sequence) | tensor([
another source of randomness | uniform() < 0. => random.random() < 0. | nothing else that is random
half the length | range(length, 0, -1) => range(length // 2, 0, -1) | not pairs
only one mountain | uniform() < 0.5 => 9 - sequence[-1] not in stack[-1:] and uniform() < 0.5 and \
    max(sequence) < 5 | Which choice is never made

== unbalance
the last one too | (1, len(sequence) - 1) => (1, len(sequence)) | neighbours or at the ends
one colour too | and sequence[p] != sequence[q] => | leave the sequence as it was
no None | no two closings fit
-    if not pairs:
-        return None
in place | changed = list(sequence) => changed = sequence | changed in place
one new colour | , changed[q] = changed[q], changed[p] => = changed[q] | two symbols change places
always the first pair | pairs[int(uniform() * len(pairs))] => pairs[0] | Choose by uniform()
neighbours only | p < q and => q == p + 1 and | Too little is allowed
another source of randomness | pairs[int(uniform() * len(pairs))] => random.choice(pairs) \
    | nothing else that is random
the openings | min(sequence[p - 1 : p + 2]) > 4 => max(sequence[p - 1 : p + 2]) < 5 \
    | Openings keep their places


== smallest_window
an error at a closing without partner | elif openings: => else: | passed over
all pairs | sequence[p] + symbol != 9 => sequence[p] + symbol | differ

== shortcut_accuracy
a loop over listed values | inside of the other
     for sequence, label in test:
-        vote = votes.get(feature(sequence), 0)
+        if sequence is test[0][0]:
+            values = [(feature(s), 1 if y else -1) for s, y in train]
+        value = feature(sequence)
+        vote = sum(y for v, y in values if v == value)
an error at new values | .get(feature(sequence), 0) => [feature(sequence)] | Do not leave these out
the last one seen | votes.get(value, 0) + (1 if label else -1) => 1 if label else -1 \
    | had it more often

== last_states
time first | a row is a sequence
-    h = x.new_zeros(len(x), cell.h2h.in_features)
+    x = x.transpose(0, 1)
+    h, lengths = x.new_zeros(len(x), cell.h2h.in_features), x.new_full((len(x),), x.shape[1])
another type | x.new_zeros(len(x), cell.h2h.in_features) \
    => torch.zeros(len(x), cell.h2h.in_features, dtype=torch.float32) | of the type of x
a row at a time | torch.where(running, cell(x[:, t], h), h) => torch.where(running, \
    torch.cat([cell(a[None], b[None]) for a, b in zip(x[:, t], h)]), h) | not over the rows
no gradient through time | cell(x[:, t], h), h) => cell(x[:, t], h.detach()), h) | no .detach()
as it was handed out | A row keeps the state
+    lengths, order = lengths.sort(descending=True)
+    x = x[order]
     for t in range(x.shape[1]):
-        running = (t < lengths)[:, None]  # (B, 1)
-        h = torch.where(running, cell(x[:, t], h), h)
+        running = (t <= lengths)[:, None]
+        h = running * cell(x[:, t], h)
batch and time in the other order | cell(x[:, t], h), h) => cell(x[t], h), h) | x[:, t]
written over | h = torch.where(running, cell(x[:, t], h), h) \
    => h[running[:, 0]] = cell(x[:, t], h)[running[:, 0]] | overwritten

== error_by_length
tensors as shares | .mean().item() => .mean() | .item()
gradients | with torch.no_grad(): => if True: | no graph
tensors as keys | lengths.unique().tolist() => lengths.unique() | a plain number
all lengths | lengths.unique().tolist() => range(1, tokens.shape[1] + 1) | do not occur
""")

REWRITES = rewrites(r"""
== first_error | by what the stack waits for
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

== first_error | with a look at every step
def first_error(sequence):
    stack = []
    for position, symbol in enumerate(sequence):
        print(parentheses.text(stack), parentheses.text([symbol]))
        if symbol > 4 and (not stack or stack[-1] != 9 - symbol):
            return position
        stack = [*stack, symbol] if symbol < 5 else stack[:-1]
    say(f"{parentheses.text(sequence)} leaves {len(stack)} open")
    return len(sequence) if stack else None

== draw_balanced | by rejection
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

== draw_balanced | split in two
def draw_balanced(length, uniform):
    if length == 0:
        return []
    inside = 2 * int(uniform() * (length // 2))
    colour = int(5 * uniform())
    within = draw_balanced(inside, uniform)
    return [colour, *within, 9 - colour, *draw_balanced(length - 2 - inside, uniform)]

== unbalance | tries until it fits
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

== unbalance | the first place, then a second
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

== smallest_window | by taking pairs out
def smallest_window(sequence):
    left, best = list(enumerate(sequence)), None
    while True:
        for k in range(len(left) - 1):
            (p, a), (t, b) = left[k : k + 2]
            if a <= 4 < b:
                if a != 9 - b and (best is None or t - p + 1 < best):
                    best = t - p + 1
                del left[k : k + 2]
                break
        else:
            return best

== smallest_window | window after window
def smallest_window(sequence):
    partner, opened = {}, []
    for t, symbol in enumerate(sequence):
        if symbol < 5:
            opened += [t]
        elif opened:
            partner[opened.pop()] = t
    for width in range(2, len(sequence) + 1):
        for p in range(len(sequence) - width + 1):
            if partner.get(p) == p + width - 1 and sequence[p] != 9 - sequence[partner[p]]:
                return width

== shortcut_accuracy | by counters
def shortcut_accuracy(feature, train, test):
    from collections import Counter
    yes = Counter(feature(s) for s, label in train if label)
    no = Counter(feature(s) for s, label in train if not label)
    points = []
    for s, label in test:
        a, b = yes[feature(s)], no[feature(s)]
        points.append(0.5 if a == b else float((a > b) == bool(label)))
    return sum(points) / len(points)

== shortcut_accuracy | by groups
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

== last_states | only the rows that run
def last_states(cell, x, lengths):
    h = x.new_zeros(x.size(0), cell.h2h.in_features)
    for t in range(int(lengths.max())):
        alive = lengths > t
        new = h.clone()
        new[alive] = cell(x[alive, t], h[alive])
        h = new
    return h

== last_states | the handed-out one, repaired
def last_states(cell, x, lengths):
    lengths, order = lengths.sort(descending=True)
    x = x[order]
    h = x.new_zeros(len(x), cell.h2h.in_features)
    for t in range(x.shape[1]):
        running = (t < lengths)[:, None]
        h = running * cell(x[:, t], h) + ~running * h
    return h[order.argsort()]

== error_by_length | by a loop over rows
@torch.no_grad()
def error_by_length(model, tokens, labels):
    wrong = {}
    for row, logit, label in zip(tokens.tolist(), model(tokens).tolist(), labels.tolist()):
        n = sum(symbol != 10 for symbol in row)
        wrong.setdefault(n, []).append((logit > 0) != bool(label))
    return {n: sum(answers) / len(answers) for n, answers in wrong.items()}

== error_by_length | by probabilities, a length at a time
def error_by_length(model, tokens, labels):
    lengths, errors = tokens.ne(10).sum(1), {}
    for n in sorted(set(lengths.tolist())):
        rows = lengths == n
        with torch.inference_mode():
            p = torch.sigmoid(model(tokens[rows]))
        errors[n] = 1 - ((p > 0.5).long() == labels[rows]).float().mean().item()
    return errors
""")
