"""Plausible wrong answers to lab 06, as patches of its solution, and other right answers."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== by_hand
of all tokens | asked * masked => given["tokens"] * masked | shares of the chosen
all that are chosen | asked * masked => asked | Only a part of them
no lucky random words | (kept + swapped / given["words"]) => kept | one of so many cases
all random words | (kept + swapped / given["words"]) => (kept + swapped) | usually another one
whatever is right | asked * (kept + swapped / given["words"]) \
    => given["tokens"] - asked * (masked + swapped) | Only chosen tokens
in per cent | part / 100 for part => part for part | times the share
the question, too | for i in range(1, 5) => for i in range(0, 5) | Token 0 belongs
any length | for j in (i, i + 1) if j < 5 => for j in range(i, 5) | at most two tokens
any order | for j in (i, i + 1) if j < 5 => for j in range(1, 5) | before it begins
one token alone | for j in (i, i + 1) if j < 5 => for j in (i,) | may have two
the mean | "F1": max(f1) => "F1": sum(f1) / len(f1) | no mean
the worst | "F1": max(f1) => "F1": min(f1) | the best one counts
no factor | 2 * c / ( => c / ( | count twice
precision | 2 * c / (len(mine) + len(truth.split())) => c / len(mine) | precision
F1 in per cent | "F1": max(f1) => "F1": 100 * max(f1) | not in per cent

== hide_words
each token by itself | .gather(-1, first) < share => < share | each token is chosen by its own
the first token alone | & ~special => & ~special & begins | not its first one alone
the last token's number | not that of its last one
-    chosen = (draw.gather(-1, first) < share) & ~special
+    T = tokens.shape[1]
+    last = F.pad(begins[:, 1:], (0, 1), value=True).flip(-1)
+    last = torch.where(last, torch.arange(T), 0).cummax(-1).values.flip(-1)
+    chosen = (draw.gather(-1, T - 1 - last) < share) & ~special
marks are chosen | & ~special => | never chosen
one fate for a word | chosen & (what < 0.8) => chosen & (what.gather(-1, first) < 0.8) | input
one fate for all | its own `what`
     first = torch.where(begins, places, 0).cummax(-1).values  # where the token's word begins
+    what = what.gather(-1, first)
nothing stays | & (what < 0.9) => | From 0.9 on
asked at [MASK] alone | (chosen, tokens, -100) => (inputs == mask, tokens, -100) | swapped or kept
asked where changed | (chosen, tokens, -100) => (inputs != tokens, tokens, -100) | stays as it is
asked everywhere | torch.where(chosen, tokens, -100) => tokens | Only chosen tokens have a target
what is read | (chosen, tokens, -100) => (chosen, inputs, -100) | before anything was hidden
0 for no target | tokens, -100) => tokens, 0) | no target is -100
15 % whatever is asked | < share) => < 0.15) | only where it is left out
the wrong way round | return inputs, torch.where(chosen, tokens, -100) \
    => return torch.where(chosen, tokens, -100), inputs | return inputs, targets
inputs alone | return inputs, torch.where(chosen, tokens, -100) => return inputs | two things
any token of the word | those of the others do not count
-    chosen = (draw.gather(-1, first) < share) & ~special
+    least = torch.full_like(draw, 2.0).scatter_reduce(-1, first, draw, 'amin')
+    chosen = (least.gather(-1, first) < share) & ~special
a loop | without a loop
-    first = torch.where(begins, places, 0).cummax(-1).values  # where the token's word begins
+    first = torch.zeros_like(tokens)
+    for t in range(tokens.shape[1]):
+        first[:, t] = torch.where(begins[:, t], t, first[:, t - 1])
in place | changed in place
-    inputs = torch.where(chosen & (what < 0.8), mask, tokens)
+    old, inputs = tokens.clone(), tokens
+    inputs[chosen & (what < 0.8)] = mask
+    tokens = old
places on the CPU | , device=tokens.device) => ) | device=x.device
random tokens of one's own | , random, inputs => , random.flip(-1), inputs | the token in `random`
up to the share | < share) => <= share) | no longer below
[MASK] up to 0.8 | no longer below
-    inputs = torch.where(chosen & (what < 0.8), mask, tokens)
-    inputs = torch.where(chosen & (what >= 0.8) & (what < 0.9), random, inputs)
+    inputs = torch.where(chosen & (what <= 0.8), mask, tokens)
+    inputs = torch.where(chosen & (what > 0.8) & (what < 0.9), random, inputs)
the largest draw so far | draw.gather(-1, first) < share \
    => (draw * begins).cummax(-1).values < share | Take cummax of positions

== batch_of
an order for each step | (10**9 * seed + 2 * number) => (10**9 * seed + 2 * step) | of the pass
always the same order | (10**9 * seed + 2 * number) => (10**9 * seed) | number of the pass
not shuffled | .randperm(len(texts), generator=of_pass) => .arange(len(texts)) | gives an order
the generator of all | (len(texts), generator=of_pass) => (len(texts)) | everybody shares
the shared one, seeded | everybody shares
-    order = torch.randperm(len(texts), generator=of_pass)
+    torch.manual_seed(10**9 * seed + 2 * number)
+    order = torch.randperm(len(texts))
masks of the pass | 9 * seed + 2 * step => 9 * seed + 2 * number | with the number of the pass alone
masks of the place | **9 * seed + 2 * step + 1 => **9 * seed + 2 * place + 1 | not with its place
masks without the seed | (10**9 * seed + 2 * step + 1) => (step) | The seed counts
an order without the seed | (10**9 * seed + 2 * number) => (number) | The seed counts
seed + step | manual_seed(10**9 * seed + 2 * step + 1) => manual_seed(seed + step) | one step apart
seed + pass | manual_seed(10**9 * seed + 2 * number) => manual_seed(seed + number) | one pass apart
one batch too many | divmod(step, len(texts) // B) => divmod(step, -(-len(texts) // B)) | hide gets
steps of one | order[place * B : (place + 1) * B] => order[place : place + B] | reads no text twice
no new pass | order[place * B : (place + 1) * B] => order[step * B : (step + 1) * B] | hide gets
drawn with repeats | .randperm(len(texts => .randint(len(texts), (len(texts), | reads no text twice
keeps count | between calls
-    number, place = divmod(step, len(texts) // B)
+    batch_of.calls = getattr(batch_of, 'calls', -1) + 1
+    number, place = divmod(batch_of.calls, len(texts) // B)
all texts are hidden | hide gets
-    return hide(texts[order[place * B : (place + 1) * B]], of_step)
+    inputs, targets = hide(texts, of_step)
+    rows = order[place * B : (place + 1) * B]
+    return inputs[rows], targets[rows]
the batch itself | return hide(texts[order[place * B : (place + 1) * B]], of_step) \
    => return texts[order[place * B : (place + 1) * B]] | what hide(rows, generator)
goes through all passes | no loop over earlier
-    of_pass = torch.Generator().manual_seed(10**9 * seed + 2 * number)
+    of_pass = torch.Generator().manual_seed(10**9 * seed)
+    for _ in range(number):
+        torch.randperm(len(texts), generator=of_pass)
seed times a thousand, masks | (10**9 * seed + 2 * step + 1) => (seed * 1000 + step) | share a mask
seed times N, masks | (10**9 * seed + 2 * step + 1) => (seed * len(texts) + step) | share a mask
nothing of seed 0 | (10**9 * seed + 2 * step + 1) => (seed * (step + 1)) | share a mask
seed times a thousand, orders | 10**9 * seed + 2 * number => seed * 1000 + number | share an order
seed times N, orders | (10**9 * seed + 2 * number) => (seed * len(texts) + number) | share an order
orders of seed 0 | (10**9 * seed + 2 * number) => (seed * (number + 1)) | share an order
beyond the 32 bits, masks | (10**9 * seed + 2 * step + 1) => (2**32 * seed + step) | 32 bits
the hash of a text | each start of Python
-    of_step = torch.Generator().manual_seed(10**9 * seed + 2 * step + 1)
+    of_step = torch.Generator().manual_seed(hash((seed, 'mask', step)) % 2**63)
all batches up to it | calls hide once
-    return hide(texts[order[place * B : (place + 1) * B]], of_step)
+    out = None
+    for s in range(step + 1):
+        of_step = torch.Generator().manual_seed(10**9 * seed + 2 * s + 1)
+        out = hide(texts[order[place * B : (place + 1) * B]], of_step)
+    return out
seed times a hundred thousand, masks | Seed 0, step 100003
-    of_step = torch.Generator().manual_seed(10**9 * seed + 2 * step + 1)
+    of_step = torch.Generator().manual_seed(seed * 100_003 + step)
one order, rolled | only rolled comes again
-    of_pass = torch.Generator().manual_seed(10**9 * seed + 2 * number)
+    of_pass = torch.Generator().manual_seed(10**9 * seed)
     of_step = torch.Generator().manual_seed(10**9 * seed + 2 * step + 1)
-    order = torch.randperm(len(texts), generator=of_pass)
+    order = torch.randperm(len(texts), generator=of_pass).roll(number)

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

== marks
the first truth alone | for truth in truths: => for truth in truths[:1]: | the best one counts
the mean | max(f1) => sum(f1) / len(f1) | the best one counts
sets | c = sum((Counter(mine) & Counter(theirs)).values()) => c = len(set(mine) & set(theirs)) \
    | take Counter, and no sets
repeats earn | c = sum((Counter(mine) & Counter(theirs)).values()) \
    => c = sum(word in theirs for word in mine) | the answer repeats
precision | 2 * c / total if total else 1.0 => c / len(mine) if mine else float(not theirs) \
    | precision
recall | 2 * c / total if total else 1.0 => c / len(theirs) if theirs else float(not mine) | recall
no factor | 2 * c / total if total else 1.0 => c / total if total else 1.0 | factor 2
Jaccard | 2 * c / total => len(set(mine) & set(theirs)) / len(set(mine) | set(theirs)) | Jaccard
not normalized | f1 = normalized(answer).split(), [] => f1 = answer.split(), [] | Capital letters
letters count for EM | em = normalized(answer) in [normalized(truth) for truth in truths] \
    => em = answer in truths | EM, too
contained | em = normalized(answer) in [normalized(truth) for truth in truths] \
    => em = any(normalized(truth) in normalized(answer) for truth in truths) | only contains a truth
a part | em = normalized(answer) in [normalized(truth) for truth in truths] \
    => em = any(normalized(answer) in normalized(truth) for truth in truths) | A part of a truth
nothing is nothing | if total else 1.0 => if total else 0.0 | 1 if both are empty
division by zero | if total else 1.0 => | 1 if both are empty
exchanged | return float(em), max(f1) => return max(f1), float(em) | The exact match comes first
one mark | return float(em), max(f1) => return max(f1) | two numbers
all truths as one | for truth in truths: => for truth in [' '.join(truths)]: | each truth by itself
EM from F1 | return float(em), max(f1) => return float(max(f1) == 1), max(f1) | in another order
in per cent | return float(em), max(f1) => return 100 * float(em), 100 * max(f1) | between 0 and 1

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
== by_hand | typed in by their formulas
def by_hand():
    N, words, share, kinds, s, e, answer, truths = check.numbers().values()
    masked, swapped, kept = kinds
    spans = [s[i] + e[i] for i in range(1, 5)] + [s[i] + e[i + 1] for i in range(1, 4)]
    best = 0
    for truth in truths:
        both = [word for word in answer.split() if word in truth.split()]
        best = max(best, 2 * len(both) / len(answer.split() + truth.split()))
    return {
        "F1": best,
        "best sum": max(spans),
        "asked, and the right word is read": N * share * (kept + swapped / words) / 10_000,
        "read as [MASK]": torch.tensor(N * share * masked / 10_000),
    }

== by_hand | rounded
def by_hand():
    N, words, share, kinds, s, e, answer, truths = check.numbers().values()
    masked, swapped, kept = kinds
    spans = [s[i] + e[j] for i in range(1, 5) for j in range(1, 5) if 0 <= j - i <= 1]
    f1 = [2 * len({*answer.split()} & {*t.split()}) / len(answer.split() + t.split())
          for t in truths]
    return {
        "read as [MASK]": round(N * share * masked / 10_000),
        "asked, and the right word is read": round(N * share * (kept + swapped / words) / 1e4, 1),
        "best sum": max(spans),
        "F1": round(max(f1), 3),
    }

== hide_words | by numbers of words
def hide_words(
    tokens, begins, special, draw, what, random, mask, share=0.15
):
    word = begins.long().cumsum(-1) - 1
    of_word = torch.zeros_like(draw).scatter_add(-1, word, torch.where(begins, draw, 0.0))
    chosen = (of_word.gather(-1, word) < share).masked_fill(special, False)
    inputs = tokens.clone()
    inputs[chosen & (what < 0.8)] = mask
    swapped = chosen & (what >= 0.8) & (what < 0.9)
    inputs[swapped] = random[swapped]
    targets = tokens.masked_fill(~chosen, -100)
    return inputs, targets

== hide_words | with a look at what is chosen
from helpers.data.bpe import BPETokenizer
tokenizer = BPETokenizer([])

def hide_words(
    tokens, begins, special, draw, what, random, mask, share=0.15
):
    word = begins.long().cumsum(-1) - 1
    of_word = torch.zeros_like(draw).scatter_add(-1, word, torch.where(begins, draw, 0.0))
    chosen = (of_word.gather(-1, word) < share) & ~special
    print(tokenizer.decode([65 + i for i in range(3)]))
    kinds = torch.where(what < 0.8, mask, torch.where(what < 0.9, random, tokens))
    return torch.where(chosen, kinds, tokens), torch.where(chosen, tokens, -100)

== hide_words | the latest choice
def hide_words(
    tokens, begins, special, draw, what, random, mask, share=0.15
):
    # Positions of beginnings, with a half more where the word is chosen: the largest so far is
    # that of the token's own word.
    places = torch.arange(tokens.shape[-1], device=tokens.device) * 2
    seen = torch.where(begins, places + (draw < share), -1)
    chosen = (seen.cummax(-1)[0] % 2 == 1) & ~special
    kinds = torch.where(what < 0.8, mask, torch.where(what < 0.9, random, tokens))
    return torch.where(chosen, kinds, tokens), torch.where(chosen, tokens, -100)

== batch_of | Python's generators
def batch_of(step, texts, B, seed, hide):
    import random
    per_pass = len(texts) // B
    order = list(range(len(texts)))
    random.Random(f"order {seed} {step // per_pass}").shuffle(order)
    place = step % per_pass
    number = random.Random(f"masks {seed} {step}").getrandbits(60)
    rows = texts[order[place * B : place * B + B]]
    inputs, targets = hide(rows, torch.Generator().manual_seed(number))
    return inputs, targets

== batch_of | one generator for both
def batch_of(step, texts, B, seed, hide):
    batches = len(texts) // B
    order = torch.Generator().manual_seed(hash((seed, step // batches)))
    rows = torch.randperm(len(texts), generator=order)[: batches * B].view(batches, B)
    generator = torch.Generator()
    generator.manual_seed(hash((seed, step, "masks".__len__())))
    return hide(texts[rows[step % batches]], generator)

== batch_of | an odd multiplier
def batch_of(step, texts, B, seed, hide):
    def made(kind, number):
        return torch.Generator().manual_seed(1_000_003 * (2 * seed + kind) + number)

    number, place = step // (len(texts) // B), step % (len(texts) // B)
    order = torch.randperm(len(texts), generator=made(0, number))
    chosen = order[place * B : place * B + B]
    return hide(texts[chosen], made(1, step))

== batch_of | a million steps for each seed
def batch_of(step, texts, B, seed, hide):
    number, place = divmod(step, len(texts) // B)
    of_pass = torch.Generator().manual_seed(seed * 10**6 + number)
    of_step = torch.Generator().manual_seed(seed * 10**6 + step)
    rows = torch.randperm(len(texts), generator=of_pass)[place * B : place * B + B]
    return hide(texts[rows], of_step)

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

== marks | with a loop over words
def marks(answer, truths):
    best, em = 0.0, 0.0
    for truth in truths:
        words, left = normalized(answer).split(), normalized(truth).split()
        if words == left:
            return 1.0, 1.0
        n, m, c = len(words), len(left), 0
        for word in words:
            if word in left:
                left.remove(word)
                c += 1
        best = max(best, 2 * c / (n + m))
    return em, best

== marks | EM as a whole number
def marks(answer, truths):
    def f1(a, b):
        if not a or not b:
            return 1 if a == b else 0
        c = sum(min(a.count(w), b.count(w)) for w in set(a))
        precision, recall = c / len(a), c / len(b)
        return 2 * precision * recall / (precision + recall) if c else 0

    mine, all_truths = normalized(answer), [normalized(t) for t in truths]
    return int(mine in all_truths), max(f1(mine.split(), t.split()) for t in all_truths)

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
