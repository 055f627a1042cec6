"""Plausible wrong answers to lab 06, as patches of its solution, and other right answers."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r'''
== choose_words
numbers for yes and no | ) & ~special => ).long() * ~special | another type
places on the CPU | , device=draw.device) => ) | device=x.device
draw is changed | in place
     places = torch.arange(draw.shape[1], device=draw.device)
+    draw[special] = 1
the largest number of its word | the word of each token begin
-    return (draw.gather(-1, first) < share) & ~special
+    most = torch.zeros_like(draw).scatter_reduce(-1, first, draw, "amax")
+    return (most.gather(-1, first) < share) & ~special

== SpanHead
no biases | nn.Linear(D, 2) => nn.Linear(D, 2, bias=False) | two biases
one vector | nn.Linear(D, 2) => nn.Linear(D, 1) | two vectors
a layer before | no other parameters
         self.output = nn.Linear(D, 2)
+        self.pooler = nn.Linear(D, D)
a plain number | (0, 1), spans.flatten()) => (0, 1), spans.flatten()).item() | one number
zero times infinity | F.cross_entropy(logits.flatten(0, 1), spans.flatten()) \
    => -(F.one_hot(spans, logits.shape[-1]) * logits.log_softmax(-1)).sum(-1).mean() | the loss
a mask on the CPU | inside = => inside = (torch.arange(tokens.shape[1]) >= 0) & | device=x.device
zero times infinity outside | return logits.masked_fill(~inside[:, None], -math.inf) \
    => return logits + ~inside[:, None] * -math.inf | 0 times infinity
[SEP] by position | not by their positions
-        inside = (segments == 1) & (tokens != sep)  # (B, T)
+        place = torch.arange(tokens.shape[1], device=tokens.device)
+        inside = (segments == 1) & (place < tokens.shape[1] - 1)  # (B, T)
no loss yet | return F.cross_entropy(logits.flatten(0, 1), spans.flatten()) \
    => raise NotImplementedError | still raises

== best_spans
one for all texts | .flatten(1).argmax => .flatten().argmax | whole numbers come back, (B,) each
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
all questions again | count in __init__
-        self.answers = defaultdict(Counter)
-        for question, _, answer in questions:
-            self.answers[opening(question)][normalized(answer)] += 1
+        self.questions = questions

     def answer(self, question, passage):
         """The piece of the passage with the largest score."""
-        known = self.answers[opening(question)]
+        kept, o = self.questions, opening(question)
+        known = Counter(normalized(a) for q, _, a in kept if opening(q) == o)
its score, too | return max(pieces(passage), key=lambda w: known[w] / (self.occurs[w] + 10)) \
    => return max((known[w] / (self.occurs[w] + 10), w) for w in pieces(passage)) | The piece itself
a word of the question | of equals the first
-        return max(pieces(passage), key=lambda w: known[w] / (self.occurs[w] + 10))
+        asked = normalized(question).split()
+        return max(pieces(passage), key=lambda w: (known[w] / (self.occurs[w] + 10), w in asked))
normalized questions | for each opening how often
         for question, _, answer in questions:
+            question = normalized(question)

== by_chance
p alone | return b, c, min( => return min( | another type
a die for a coin | 2**n => 6**n | at least m = max(b, c)
whole numbers of per cent | min(1.0, 2 * tail) => round(min(1.0, 2 * tail), 2) | for both sides

== Repaired
nothing but forward | (2) After loss
         return self.output(self.norm(x))

     def hide(self, tokens, generator):  # (B, T) -> inputs, chosen (B, T)
-        return super().hide(tokens.clone(), generator)
+        raise NotImplementedError

     def loss(self, tokens, generator):  # (B, T) -> one number
-        inputs, chosen = self.hide(tokens, generator)
-        logits = self(inputs)
-        targets = tokens.masked_fill(~chosen, -100)
-        return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)
+        raise NotImplementedError
padding is seen | x = block(x, mask=real) => x = block(x) | [PAD] stands
no copy | tokens.clone() => tokens | tokens themselves have changed
everything is asked | (~chosen, -100) => (tokens == self.pad, -100) | not chosen
a copy for the targets alone | .clone(), generator => , generator | whoever takes targets from it
''')

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

== best_spans | one number of each row by indices
def best_spans(logits, limit):
    starts, ends = logits.unbind(1)
    ends = F.pad(ends, (0, limit - 1), value=-math.inf).unfold(-1, limit, 1)
    top, further = ends.max(-1)
    first = (starts + top).argmax(-1)
    return first, first + further[torch.arange(len(first)), first]

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

== by_chance | the other side subtracted
def by_chance(own, other):
    b, c = (own > other).sum().item(), (other > own).sum().item()
    few = sum(math.comb(b + c, k) for k in range(min(b, c) + 1))
    return [b, c, min(1, 2 * few / 2 ** (b + c))]

== by_chance | both tails, one toss after the other
def by_chance(own, other):
    gaps = own - other
    b, c = int((gaps > 0).sum()), int((gaps < 0).sum())
    chances = [1.0]
    for _ in range(b + c):
        chances = [0.5 * (x + y) for x, y in zip([*chances, 0], [0, *chances])]
    middle = (b + c) / 2
    p = sum(x for k, x in enumerate(chances) if abs(k - middle) >= abs(b - middle))
    return b, c, torch.tensor(p, dtype=torch.float64)

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
