"""Plausible wrong answers to lab 06, as patches of its solution, and other right answers."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== choose_words
numbers for yes and no | ) & ~special => ).long() * ~special | another type
places on the CPU | , device=draw.device) => ) | device=x.device
nothing comes back | return ( => ( | without return
draw is changed | in place
     places = torch.arange(draw.shape[1], device=draw.device)
+    draw[special] = 1
each row's first word | draw.gather(-1, first) => draw[:, :1] | cummax(-1).values tell it

== SpanHead
not exchanged | shape
-        logits = self.output(states).transpose(1, 2)  # (B, 2, T)
+        logits = self.output(states)
dealt out anew | deal the numbers out
-        logits = self.output(states).transpose(1, 2)  # (B, 2, T)
+        logits = self.output(states).reshape(len(states), 2, -1)
the whole pair | logits.masked_fill(~inside[:, None], -math.inf) => logits | all other positions
zeros outside | (~inside[:, None], -math.inf) => (~inside[:, None], 0.0) | not impossible
[SEP] left in | (segments == 1) & (tokens != sep) => segments == 1 | [SEP] behind
the question left in | (segments == 1) & (tokens != sep) => tokens != sep | the segment 0
the question alone | (segments == 1) => (segments == 0) | The passage is the second
the other way round | ~inside[:, None] => inside[:, None] | where its mask is True
padding left in | (segments == 1) & => ((tokens == sep).cumsum(1) >= 1) & | Shorter pairs end
log-probabilities | [:, None], -math.inf) => [:, None], -math.inf).log_softmax(-1) | no log-prob
no biases | nn.Linear(D, 2) => nn.Linear(D, 2, bias=False) | two biases
one vector | nn.Linear(D, 2) => nn.Linear(D, 1) | two vectors
a layer before | no other parameters
         self.output = nn.Linear(D, 2)
+        self.pooler = nn.Linear(D, D)
the sum of both | F.cross_entropy => 2 * F.cross_entropy | not added
the sum over texts | spans.flatten()) => spans.flatten(), reduction='sum') | not the sum
beginnings alone | .flatten(0, 1), spans.flatten() => [:, 0], spans[:, 0] | last token of the answer
ends alone | .flatten(0, 1), spans.flatten() => [:, 1], spans[:, 1] | first token of the answer
ends for beginnings | spans.flatten()) => spans.flip(1).flatten()) | Row 0 of the logits
no minus | F.cross_entropy => -F.cross_entropy | the minus is missing
a plain number | (0, 1), spans.flatten()) => (0, 1), spans.flatten()).item() | one number
zero times infinity | F.cross_entropy(logits.flatten(0, 1), spans.flatten()) \
    => -(F.one_hot(spans, logits.shape[-1]) * logits.log_softmax(-1)).sum(-1).mean() | the loss
a mask on the CPU | inside = => inside = (torch.arange(tokens.shape[1]) >= 0) & | device=x.device
a large negative number | ~inside[:, None], -math.inf) => ~inside[:, None], -1e9) | -infinity itself
zero times infinity outside | return logits.masked_fill(~inside[:, None], -math.inf) \
    => return logits + ~inside[:, None] * -math.inf | 0 times infinity
another head | = self.output(states) => = self.output(states).tanh() | nothing else is done
[SEP] by position | not by their positions
-        inside = (segments == 1) & (tokens != sep)  # (B, T)
+        place = torch.arange(tokens.shape[1], device=tokens.device)
+        inside = (segments == 1) & (place < tokens.shape[1] - 1)  # (B, T)
no loss yet | return F.cross_entropy(logits.flatten(0, 1), spans.flatten()) \
    => raise NotImplementedError | still raises
[SEP] of the notebook | (tokens != sep) => (tokens != 2046) | the `sep` that is handed over

== best_spans
each by itself | first, first + further => starts.argmax(-1), ends.argmax(-1) | each by itself
the best beginning first | beginning was fixed
-    return first, first + further
+    first = starts.argmax(-1)
+    rows = torch.arange(len(first))
+    return first, first + near[rows, first].argmax(-1)
the best end first | end was fixed
-    return first, first + further
+    last = ends.argmax(-1)
+    T = ends.shape[1]
+    back = torch.arange(T)
+    near = (back <= last[:, None]) & (back > last[:, None] - limit)
+    return starts.masked_fill(~near, -math.inf).argmax(-1), last
one too long | One token too many
-    near = F.pad(ends, (0, limit - 1), value=-math.inf).unfold(-1, limit, 1)  # (B, T, limit)
+    near = F.pad(ends, (0, limit), value=-math.inf).unfold(-1, limit + 1, 1)
     best = (starts[..., None] + near).flatten(1).argmax(-1)
-    first, further = best // limit, best % limit
+    first, further = best // (limit + 1), best % (limit + 1)
one too short | still allowed
     starts, ends = logits.unbind(1)  # (B, T) each
+    limit = max(1, limit - 1)
padded with zeros | value=-math.inf).unfold => value=0.0).unfold | fill up with -infinity
how far behind | return first, first + further => return first, further | not how far
the one behind | first, first + further => first, first + further + 1 | not the one behind
exchanged | return first, first + further => return first + further, first | comes first
rows of T | best // limit, best % limit => best // ends.shape[1], best % ends.shape[1] | by hand
one for all texts | .flatten(1).argmax(-1) => .flatten().argmax(-1) | return first, last
a fraction | best // limit, best % limit => best / limit, best % limit | Divide with //
no limit | longer than `limit`
     starts, ends = logits.unbind(1)  # (B, T) each
+    limit = ends.shape[1]
all pairs | T times T sums
-    near = F.pad(ends, (0, limit - 1), value=-math.inf).unfold(-1, limit, 1)  # (B, T, limit)
-    best = (starts[..., None] + near).flatten(1).argmax(-1)
-    first, further = best // limit, best % limit
-    return first, first + further
+    T = ends.shape[1]
+    sums = starts[:, :, None] + ends[:, None]
+    may = torch.ones(T, T, dtype=torch.bool, device=ends.device).triu()
+    may = may.tril(limit - 1)
+    best = sums.masked_fill(~may, -math.inf).flatten(1).argmax(-1)
+    return best // T, best % T
a loop over tokens | the tokens or the texts
-    near = F.pad(ends, (0, limit - 1), value=-math.inf).unfold(-1, limit, 1)  # (B, T, limit)
+    ends = F.pad(ends, (0, limit - 1), value=-math.inf)
+    near = torch.stack([ends[:, t : t + limit] for t in range(starts.shape[1])], 1)
a loop over texts | best = (starts[..., None] + near).flatten(1).argmax(-1) => best = \
    torch.stack([(s[:, None] + n).argmax() for s, n in zip(starts, near)]) | the tokens or the texts
the shortest of equals | before the shortest
-    near = F.pad(ends, (0, limit - 1), value=-math.inf).unfold(-1, limit, 1)  # (B, T, limit)
-    best = (starts[..., None] + near).flatten(1).argmax(-1)
-    first, further = best // limit, best % limit
-    return first, first + further
+    T = starts.shape[1]
+    best, first = (starts + ends).max(-1)
+    last = first
+    for n in range(1, min(limit, T)):
+        m, i = (starts[:, : T - n] + ends[:, n:]).max(-1)
+        better = m > best
+        best = torch.where(better, m, best)
+        first = torch.where(better, i, first)
+        last = torch.where(better, i + n, last)
+    return first, last
lengths beyond the text | larger than the text
-    near = F.pad(ends, (0, limit - 1), value=-math.inf).unfold(-1, limit, 1)  # (B, T, limit)
-    best = (starts[..., None] + near).flatten(1).argmax(-1)
-    first, further = best // limit, best % limit
-    return first, first + further
+    T = starts.shape[1]
+    best = starts + ends
+    further = torch.zeros_like(best).long()
+    for n in range(1, limit):
+        m = starts[:, : T - n] + ends[:, n:]
+        better = m > best[:, : T - n]
+        best[:, : T - n] = torch.where(better, m, best[:, : T - n])
+        further[:, : T - n] = torch.where(better, n, further[:, : T - n])
+    first = best.argmax(-1)
+    return first, first + further.gather(1, first[:, None])[:, 0]

== AnswerTable
the whole question | .answers[opening(question)][ => .answers[question][ | With the whole question
raw answers | [normalized(answer)] += 1 => [answer] += 1 | count normalized answers
no 10 | (self.occurs[w] + 10) => max(1, self.occurs[w]) | Add 10
division by zero | (self.occurs[w] + 10) => self.occurs[w] | an error
1 for 10 | + 10) => + 1) | 10
how often alone | known[w] / (self.occurs[w] + 10) => known[w] | is divided by
whether at all | known[w] / (self.occurs[w] + 10) => w in known | not only whether
once a passage | update(pieces(passage)) => update(set(pieces(passage))) | occurs twice
the last of equals | max(pieces(passage) => max(pieces(passage)[::-1] | the first piece counts
from anywhere | max(pieces(passage) => max([*known, *pieces(passage)] | a piece of this passage
10 above, too | known[w] / => (known[w] + 10) / | below the line alone
long ones preferred | known[w] / => len(w.split()) * known[w] / | no factor for the length
all openings together | known = self.answers[opening(question)] \
    => known = sum(self.answers.values(), Counter()) | for each opening by itself
its score, too | return max(pieces(passage), key=lambda w: known[w] / (self.occurs[w] + 10)) \
    => return max((known[w] / (self.occurs[w] + 10), w) for w in pieces(passage)) | The piece itself
a word of the question | Of equal scores the first
-        return max(pieces(passage), key=lambda w: known[w] / (self.occurs[w] + 10))
+        asked = normalized(question).split()
+        return max(pieces(passage), key=lambda w: (known[w] / (self.occurs[w] + 10), w in asked))
occurrences of the answers | .update(pieces(passage)) => [normalized(answer)] += 1 | two tables
nothing comes back | return max( => max( | ends without return
letters for words | counted as words
-        self.answers, self.occurs = defaultdict(Counter), Counter()
+        kept = ' | '.join(normalized(p) for _, p, _ in questions)
+        self.answers = defaultdict(Counter)
+        class Occurs(Counter):
+            def __init__(self, count):
+                super().__init__()
+                self.count = count
+            def __getitem__(self, w):
+                return self.count(w)
+        self.occurs = Occurs(lambda w: kept.count(w))
counts anew for each answer | counted once, in __init__
-        self.answers, self.occurs = defaultdict(Counter), Counter()
+        kept = [p for _, p, _ in questions]
+        self.answers = defaultdict(Counter)
+        class Occurs(Counter):
+            def __init__(self, count):
+                super().__init__()
+                self.count = count
+            def __getitem__(self, w):
+                return self.count(w)
+        self.occurs = Occurs(lambda w: sum(pieces(p).count(w) for p in kept))
different passages alone | counts twice
-            self.occurs.update(pieces(passage))
+            if passage not in self.__dict__.setdefault('seen', set()):
+                self.occurs.update(pieces(passage))
+            self.seen.add(passage)
capital letters in one key | self.answers[opening(question)][normalized \
    => self.answers[' '.join(question.split()[:2])][normalized | opening(question), in both methods
counts pieces of 1 | update(pieces(passage)) => update(pieces(passage, 1)) | all pieces(passage)
counts pieces of 2 | (pieces(passage)) => (pieces(passage, 2)) | pieces of up to six words
pieces of 1 alone | max(pieces(passage) => max(pieces(passage, 1) | may be any of them
pieces of 2 alone | max(pieces(passage) => max(pieces(passage, 2) | pieces(passage) lists
neighbours overlap | passes over what overlaps
-        self.answers, self.occurs = defaultdict(Counter), Counter()
+        kept = ' '.join(f' {normalized(p)} ' for _, p, _ in questions)
+        self.answers = defaultdict(Counter)
+        class Occurs(Counter):
+            def __init__(self, count):
+                super().__init__()
+                self.count = count
+            def __getitem__(self, w):
+                return self.count(w)
+        self.occurs = Occurs(lambda w: kept.count(f' {w} '))
set to 1 | [normalized(answer)] += 1 => [normalized(answer)] = 1 | not = 1
a set | max(pieces(passage) => max(set(pieces(passage)) | a set has no order
normalized questions | loses its articles
         for question, passage, answer in questions:
+            question = normalized(question)

== exchanged
in place | list(questions) => questions | in place
texts alone | questions[k]._replace(question=questions[other].question) => questions[other].question \
    | A list of questions
key of all three | key(q.question) => key(q) | key gets the question alone
another passage each time, drawn | group[2:] + group[:2] \
    => sorted(group, key=lambda k: -k) | The group is turned round
nothing comes back | return found => found | without return

== Repaired
padding is seen | x = block(x, mask=real) => x = block(x) | [PAD] stands
only padding is seen | (tokens != self.pad) => (tokens == self.pad) | True = may attend
no copy | tokens.clone() => tokens | tokens themselves have changed
a copy too late | super().hide(tokens.clone(), generator) \
    => [x.clone() for x in super().hide(tokens, generator)] | tokens themselves have changed
everything is asked | (~chosen, -100) => (tokens == self.pad, -100) | not chosen
asked at [MASK] alone | (~chosen, -100) => (inputs != self.mask, -100) | have a target, too
what is read | targets = tokens.masked_fill => targets = inputs.masked_fill | and not the inputs
the sum | ignore_index=-100) => ignore_index=-100, reduction='sum') | this is the sum
by all positions | not over all positions
-        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)
+        logits = logits.flatten(0, 1)
+        costs = F.cross_entropy(logits, targets.flatten(), ignore_index=-100, reduction='sum')
+        return costs / tokens.numel()
states of padding are cut | =real => =real & (tokens > 0)[:, None, None] | mend the faults alone
0 for random tokens | the token in random
-        return super().hide(tokens.clone(), generator)
+        inputs = tokens.clone()
+        draw, what = torch.rand(2, *tokens.shape, generator=generator)
+        random = torch.randint(self.V, tokens.shape, generator=generator)
+        chosen = (draw < 0.15) & (tokens != self.pad)
+        inputs[chosen & (what < 0.8)] = self.mask
+        swapped = chosen & (what >= 0.8) & (what < 0.9)
+        inputs[swapped] = 0
+        return inputs, chosen
[MASK] always | not all of the chosen
-        return super().hide(tokens.clone(), generator)
+        inputs = tokens.clone()
+        draw, what = torch.rand(2, *tokens.shape, generator=generator)
+        random = torch.randint(self.V, tokens.shape, generator=generator)
+        chosen = (draw < 0.15) & (tokens != self.pad)
+        inputs[chosen & (what < 1.0)] = self.mask
+        swapped = chosen & (what >= 1.0) & (what < 0.9)
+        inputs[swapped] = random[swapped]
+        return inputs, chosen
[MASK] is not attended to | (tokens != self.pad) => (tokens < self.V) | [MASK] may be attended to
a copy for the targets alone | .clone(), generator => , generator | whoever takes targets from it
""")

REWRITES = rewrites(r"""
== choose_words | by numbers of words
def choose_words(begins, special, draw, share=0.15):
    word = begins.long().cumsum(-1) - 1
    of_word = torch.zeros_like(draw).scatter_add(-1, word, torch.where(begins, draw, 0.0))
    return (of_word.gather(-1, word) < share).masked_fill(special, False)

== choose_words | from token to token, with a look at a text
from helpers.data.bpe import BPETokenizer
tokenizer = BPETokenizer([])

def choose_words(begins, special, draw, share=0.15):
    print(tokenizer.decode([65 + i for i in range(3)]))
    number, chosen = draw[:, 0], []
    for t in range(draw.shape[1]):
        number = torch.where(begins[:, t], draw[:, t], number)
        chosen.append((number < share) & ~special[:, t])
    return torch.stack(chosen, 1)

== SpanHead | one line each
class SpanHead(nn.Module):
    def __init__(self, D):
        super().__init__()
        self.output = nn.Linear(D, 2)

    def forward(self, states, tokens, segments, sep):
        outside = segments.eq(0) | tokens.eq(sep)
        logits = torch.einsum("btd,kd->bkt", states, self.output.weight)
        logits = logits + self.output.bias[:, None]
        return torch.where(outside[:, None], -torch.inf, logits)

    def loss(self, logits, spans):
        first = F.cross_entropy(logits[:, 0], spans[:, 0])
        last = F.cross_entropy(logits[:, 1], spans[:, 1])
        return (first + last) / 2

== SpanHead | in place, by hand
class SpanHead(nn.Module):
    def __init__(self, D):
        super().__init__()
        self.output = nn.Linear(D, 2)

    def forward(self, states, tokens, segments, sep):
        logits = self.output(states)
        logits[(segments == 0) | (tokens == sep)] = -math.inf
        return logits.mT

    def loss(self, logits, spans):
        log_p = logits.log_softmax(-1)
        return -log_p.gather(-1, spans.unsqueeze(-1)).mean()

== best_spans | a loop over lengths
def best_spans(logits, limit):
    starts, ends = logits[:, 0], logits[:, 1]
    B, T = starts.shape
    best = starts + ends
    further = torch.zeros(B, T, dtype=torch.long, device=logits.device)
    for n in range(1, min(limit, T)):
        shifted = F.pad(ends[:, n:], (0, n), value=-math.inf)
        better = starts + shifted > best
        best = torch.where(better, starts + shifted, best)
        further = torch.where(better, n, further)
    first = best.argmax(1)
    return first, first + further.gather(1, first[:, None])[:, 0]

== best_spans | stacked lengths
def best_spans(logits, limit):
    starts, ends = logits[:, 0], logits[:, 1]
    T = ends.shape[1]
    sums = [starts + F.pad(ends, (0, n), value=-math.inf)[:, n : n + T] for n in range(limit)]
    sums = torch.stack(sums, -1)  # (B, T, limit)
    of_each, further = sums.max(-1)
    first = of_each.argmax(-1, keepdim=True)
    return first.squeeze(1), (first + further.gather(1, first)).squeeze(1)

== best_spans | after a log_softmax
def best_spans(logits, limit):
    starts, ends = logits.log_softmax(-1).unbind(1)
    near = F.pad(ends, (0, limit - 1), value=-math.inf).unfold(-1, limit, 1)
    best = (starts[..., None] + near).flatten(1).argmax(-1)
    return best // limit, best // limit + best % limit

== best_spans | products of probabilities
def best_spans(logits, limit):
    starts, ends = logits.softmax(-1).unbind(1)
    near = F.pad(ends, (0, limit - 1), value=0.0).unfold(-1, limit, 1)
    best = (starts[..., None] * near).flatten(1).argmax(-1)
    return best // limit, best // limit + best % limit

== AnswerTable | plain dictionaries
class AnswerTable:
    def __init__(self, questions):
        self.right, self.n = {}, {}
        for q in questions:
            for piece in pieces(q.passage):
                self.n[piece] = self.n.get(piece, 0) + 1
            key = opening(q.question), normalized(q.answer)
            self.right[key] = self.right.get(key, 0) + 1

    def answer(self, question, passage):
        best, highest = None, -1.0
        for piece in pieces(passage):
            score = self.right.get((opening(question), piece), 0) / (10 + self.n.get(piece, 0))
            if score > highest:
                best, highest = piece, score
        return best

== AnswerTable | sorted
class AnswerTable:
    def __init__(self, questions):
        self.n = Counter(p for _, passage, _ in questions for p in pieces(passage))
        self.right = Counter((opening(q), normalized(a)) for q, _, a in questions)

    def answer(self, question, passage):
        o = opening(question)
        return sorted(pieces(passage), key=lambda w: -self.right[o, w] / (self.n[w] + 10))[0]

== AnswerTable | counted at the first answer
class AnswerTable:
    def __init__(self, questions):
        self.questions, self.n = list(questions), None

    def answer(self, question, passage):
        if self.n is None:
            self.n, self.right = {}, {}
            for q, p, a in self.questions:
                for w in pieces(p):
                    self.n[w] = self.n.get(w, 0) + 1
                known = self.right.setdefault(opening(q), Counter())
                known[normalized(a)] += 1
        known = self.right.get(opening(question), {})
        scores = [known.get(w, 0) / (self.n.get(w, 0) + 10) for w in pieces(passage)]
        return pieces(passage)[scores.index(max(scores))]

== exchanged | one after the other
def exchanged(questions, key):
    found = []
    for q in questions:
        group = [other for other in questions if key(other.question) == key(q.question)]
        place = [other is q for other in group].index(True)
        found.append((group[(place + 2) % len(group)].question, q.passage, q.answer))
    return found

== exchanged | rolled with a queue
def exchanged(questions, key):
    from collections import deque
    waiting = {}
    for q in questions:
        waiting.setdefault(key(q[0]), deque()).append(q[0])
    for texts in waiting.values():
        texts.rotate(-2)
    return [Question(waiting[key(q)].popleft(), p, a) for q, p, a in questions]

== Repaired | every method anew
class Repaired(Broken):
    def forward(self, tokens):
        x = self.embedding(tokens)
        may = tokens.ne(self.pad).view(len(tokens), 1, 1, -1)
        for block in self.blocks:
            x = block(x, may)
        return self.output(self.norm(x))

    def hide(self, tokens, generator):
        draw, what = torch.rand(2, *tokens.shape, generator=generator)
        random = torch.randint(self.V, tokens.shape, generator=generator)
        chosen = (draw < 0.15) & (tokens != self.pad)
        inputs = torch.where(chosen & (what < 0.8), self.mask, tokens)
        inputs = torch.where(chosen & (what >= 0.8) & (what < 0.9), random, inputs)
        return inputs, chosen

    def loss(self, tokens, generator):
        inputs, chosen = self.hide(tokens, generator)
        return F.cross_entropy(self(inputs)[chosen], tokens[chosen])

== Repaired | calls what it can
class Repaired(Broken):
    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, mask=(tokens < self.pad)[:, None, None, :])
        return self.output(self.norm(x))

    def hide(self, tokens, generator):
        copied = tokens.clone()
        return super().hide(copied, generator)

    def loss(self, tokens, generator):
        inputs, chosen = self.hide(tokens, generator)
        log_p = self(inputs).log_softmax(-1).gather(-1, tokens[..., None]
                                                    .clamp(max=self.mask))[..., 0]
        return -log_p[chosen].mean()
""")
