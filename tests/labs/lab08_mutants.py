"""Wrong answers to lab 08 that are no slips of its checks, and other right answers."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== three_answers
times beta | tilted = ref * (r / beta).exp() => tilted = ref * (r * beta).exp() | divided by beta
not tilted | "best": float(tilted[2] / tilted.sum()) => "best": float(ref[2]) | tilt it
not divided by Z | tilted[2] / tilted.sum() => tilted[2] | over the sum
the contrary | float(tilted[2] / tilted.sum()) => float(1 - tilted[2] / tilted.sum()) | the contrary
log Z | beta * tilted.sum().log() => tilted.sum().log() | beta times log Z
Z | beta * tilted.sum().log() => beta * tilted.sum() | logarithm of Z
the mean reward | beta * tilted.sum().log() => ref @ r | beta log Z
the reward alone | r[2] + beta * ref[2].log() => r[2] | that has a price
the price added | r[2] + beta * ref[2].log() => r[2] - beta * ref[2].log() | is subtracted
the other divergence | two @ (two / ref).log() => ref @ (ref / two).log() | The other way round
bits | (two / ref).log() => (two / ref).log2() | natural logarithm
never the same | 1 - sums[1]]) => ref[2]]) | c comes out unless
no reference | (pi / ref).log() => pi.log() | The reference is missing
of writing | rewards[2] - rewards[0] => (pi[2] / pi[0]).log() | probabilities of writing
no beta | rewards = beta * (pi => rewards = (pi | factor beta
against b | rewards[2] - rewards[0] => rewards[2] - rewards[1] | not with b
a text | "J": float(beta * tilted.sum().log()) => "J": "2" | no text

== answer_log_probs
one by one | the whole batch at once
-    log_p = model(texts[:, :-1]).log_softmax(-1)
+    log_p = torch.cat([model(text[None, :-1]) for text in texts]).log_softmax(-1)
a product with 0 | log_p.where(counts, 0).sum(1) => (log_p * counts).sum(1) | not a number
up to the last end | (before == 0) => (before < ended.sum(1, keepdim=True)) | first end mark
prompts alone | place >= starts[:, None] => place < starts[:, None] | log (1/10)
all starts alike | starts[:, None] => starts[0] | a word less
ends needed | counts = answer & (before == 0) \
    => counts = answer & (before == 0) & (ended.sum(1, keepdim=True) > 0) | without an end mark

== fit_reward
wrong pull | -D.T @ (1 - p) => -D.T @ p | run away
gradient steps, too few | w = w - torch.linalg.solve(H, g) => w = w - g | come to rest
price in the gradient alone | + price * torch.eye(len(w), dtype=x.dtype) => | without an error
rewards, not weights | return w => return x @ w | shape
another type | w = x.new_zeros(x.shape[1]) => w = torch.zeros(x.shape[1]) | the type of x

== group_advantages
others of all | others = size - 1 => others = len(returns) - 1 | its own prompt
near numbers | another prompt
-    same = prompts[:, None] == prompts  # (B, B)
+    same = (prompts[:, None] - prompts).abs() <= 1
lone as it is | advantages.where(others > 0, 0) => advantages | nor worse
by the largest | sums - returns) / others.clamp(min=1) => sums - returns) / others.max() | fewer
a list | return advantages.where(others > 0, 0) \
    => return advantages.where(others > 0, 0).tolist() | tensor

== dpo_gradients
overflows | F.logsigmoid(-m)) => (1 - torch.sigmoid(m)).log()) | overflows
worse ratio the other way | - worse + worse_ref => + worse - worse_ref | any pairs
both derivatives by m | slope = beta * (torch => slope = (torch | as fast
err turned round | - (1 - mistaken)) / len(m) => - mistaken) / len(m) | by hand
derivative of the probability | (torch.sigmoid(m) - (1 - mistaken)) \
    => torch.sigmoid(m) * (torch.sigmoid(m) - (1 - mistaken)) | sigma(1)
two values | return loss.mean(), slope, -slope => return loss.mean(), slope | values
another name for them | write them yourself
-    return loss.mean(), slope, -slope
+    getattr(loss.mean(), "back" + "ward")()
+    return loss.mean(), getattr(better, "gr" + "ad"), getattr(worse, "gr" + "ad")
autograd | write it yourself
-    loss = -((1
+    better.requires_grad_()
+    loss = -((1

== Repaired
the reference is trained | copy.deepcopy(policy).requires_grad_(False) => policy | (1)
the cost is a gain | self.reward(texts) - self.beta => self.reward(texts) + self.beta | (2)
the tail counts | (3)
-        starts = torch.full((len(texts),), self.start)
-        return answer_log_probs(model, texts, starts, self.end)
+        return super().log_probs(model, texts)
all three | still in: 3
     def __init__(self, policy, reward, beta, rate, start, end):
         super().__init__(policy, reward, beta, rate, start, end)
-        self.reference = copy.deepcopy(policy).requires_grad_(False)

     def log_probs(self, model, texts):
-        starts = torch.full((len(texts),), self.start)
-        return answer_log_probs(model, texts, starts, self.end)
+        return super().log_probs(model, texts)

     def returns(self, texts):
-        with torch.no_grad():
-            gap = self.log_probs(self.policy, texts) - self.log_probs(self.reference, texts)
-        return self.reward(texts) - self.beta * gap
+        return super().returns(texts)
the optimizer's copy | copy.deepcopy(policy).requires_grad_(False) \
    => policy; self.policy = copy.deepcopy(policy) | Keep Broken's attributes
a copy at every step | whatever models these are
-        with torch.no_grad():
+        self.reference = copy.deepcopy(self.policy)
+        with torch.no_grad():
             gap = self.log_probs(self.policy, texts) - self.log_probs(self.reference, texts)
no cost at all | self.reward(texts) - self.beta * gap => self.reward(texts) | change its fault alone
the price alone | self.reward(texts) - self.beta * gap => -self.beta * gap | The reward, less
the waiter's beta | - self.beta * gap => - 0.25 * gap | self.beta
a gradient through returns | without a gradient
-        with torch.no_grad():
-            gap = self.log_probs(self.policy, texts) - self.log_probs(self.reference, texts)
+        gap = self.log_probs(self.policy, texts) - self.log_probs(self.reference, texts)
nothing comes back | without return
-        return self.reward(texts) - self.beta * gap
+        self.reward(texts) - self.beta * gap
the waiter's end mark | texts, starts, self.end) => texts, starts, 0) | in another world
the waiter's prompt | torch.full((len(texts),), self.start) \
    => torch.full((len(texts),), 1) | before it is the prompt
one repaired | (1) After
     def __init__(self, policy, reward, beta, rate, start, end):
-        super().__init__(policy, reward, beta, rate, start, end)
-        self.reference = copy.deepcopy(policy).requires_grad_(False)
+        raise NotImplementedError
one token late | torch.full((len(texts),), self.start) \
    => torch.full((len(texts),), self.start + 1) | still belongs
the policy is frozen | copy.deepcopy(policy).requires_grad_(False) \
    => copy.deepcopy(policy.requires_grad_(False)) | without an error
names, not a model | copy.deepcopy(policy).requires_grad_(False) \
    => copy.deepcopy(policy.state_dict()) | the reference is a model
""")

REWRITES = rewrites(r"""
== three_answers | step by step
def three_answers():
    import math

    n = check.numbers()
    (pa, pb, pc), (_, rb, rc), beta = n["reference"], n["reward"], n["beta"]
    Z = pa + pb * math.exp(rb / beta) + pc * math.exp(rc / beta)
    a, b = pa * pa, pb * pb + 2 * pa * pb
    c = 1 - a - b
    odds = (n["policy"][2] / pc / (n["policy"][0] / pa)) ** beta
    return {
        "best": pc * math.exp(rc / beta) / Z,
        "J": beta * math.log(Z),
        "always c": rc - beta * math.log(1 / pc),
        "best of 2": sum(x * math.log(x / y) for x, y in ((a, pa), (b, pb), (c, pc))),
        "preferred": odds / (1 + odds),
    }

== three_answers | rounded
def three_answers():
    n = check.numbers()
    p, q = torch.tensor(n["reference"]), torch.tensor(n["policy"])
    x = p.log() + torch.tensor(n["reward"]) / n["beta"]
    two = torch.stack([p[i] * (p[i] + 2 * p[:i].sum()) for i in range(3)])
    m = n["beta"] * ((q[2] / p[2]).log() - (q[0] / p[0]).log())
    found = (
        x.softmax(0)[2],
        n["beta"] * x.logsumexp(0),
        n["reward"][2] + n["beta"] * p[2].log(),
        (two * (two.log() - p.log())).sum(),
        m.sigmoid(),
    )
    names = ("best", "J", "always c", "best of 2", "preferred")
    return {name: round(float(value), 4) for name, value in zip(names, found)}

== answer_log_probs | row by row
def answer_log_probs(model, texts, starts, end):
    log_p, found = F.log_softmax(model(texts), dim=-1), []  # of what follows the last one, too
    for i, text in enumerate(texts.tolist()):
        total = 0
        for t in range(int(starts[i]), len(text)):
            total = total + log_p[i, t - 1, text[t]]
            if text[t] == end:
                break
        found.append(total)
    return torch.stack(found)

== answer_log_probs | in a loop, in single precision
def answer_log_probs(model, texts, starts, end):
    log_p, found = model(texts).log_softmax(-1), torch.zeros(len(texts))
    for i in range(len(texts)):
        for t in range(int(starts[i]), texts.shape[1]):
            found[i] += log_p[i, t - 1, texts[i, t]]
            if texts[i, t] == end:
                break
    return found

== answer_log_probs | by the cross-entropy, ends reckoned in advance
def answer_log_probs(model, texts, starts, end):
    place = torch.arange(texts.shape[1])[None]
    ends = (texts == end) & (place >= starts[:, None])
    last = torch.where(ends.any(1), ends.int().argmax(1), texts.shape[1] - 1)
    targets = texts.masked_fill((place < starts[:, None]) | (place > last[:, None]), -100)
    logits = model(texts[:, :-1]).transpose(1, 2)
    return -F.cross_entropy(logits, targets[:, 1:], reduction="none").sum(1)

== fit_reward | by PyTorch's LBFGS
def fit_reward(x, better, worse, price):
    w = torch.zeros(x.shape[1], dtype=x.dtype, requires_grad=True)
    optimizer = torch.optim.LBFGS([w], max_iter=100, line_search_fn="strong_wolfe")

    def loss():
        optimizer.zero_grad()
        now = -F.logsigmoid((x[better] - x[worse]) @ w).mean() + price / 2 * (w**2).sum()
        now.backward()
        return now

    optimizer.step(loss)
    return w.detach()

== fit_reward | by plain gradient descent
def fit_reward(x, better, worse, price):
    D = x[better] - x[worse]
    w, rate = D.new_zeros(D.shape[1]), 1 / (price + 0.25 * D.square().sum(1).mean())
    for _ in range(4000):
        w = w + rate * (D.T @ torch.sigmoid(-(D @ w)) / len(D) - price * w)
    return w

== group_advantages | a loop over prompts
def group_advantages(returns, prompts):
    advantages = torch.zeros_like(returns)
    for prompt in prompts.unique():
        group = returns[prompts == prompt]
        if len(group) > 1:
            n = len(group)
            advantages[prompts == prompt] = n / (n - 1) * (group - group.mean())
    return advantages

== group_advantages | a list made a tensor
def group_advantages(returns, prompts):
    found = []
    for i in range(len(returns)):
        others = [float(r) for j, r in enumerate(returns) if j != i and prompts[j] == prompts[i]]
        found.append(float(returns[i]) - sum(others) / len(others) if others else 0.0)
    return torch.tensor(found)

== group_advantages | by sums over numbers
def group_advantages(returns, prompts):
    _, number, size = prompts.unique(return_inverse=True, return_counts=True)
    sums = returns.new_zeros(len(size)).index_add(0, number, returns)[number]
    others = (size[number] - 1).to(returns)
    return torch.where(others == 0, 0.0, returns - (sums - returns) / others)

== dpo_gradients | by softplus
def dpo_gradients(better, worse, better_ref, worse_ref, beta, mistaken):
    m = beta * ((better - better_ref) - (worse - worse_ref))
    loss = ((1 - mistaken) * F.softplus(-m) + mistaken * F.softplus(m)).sum() / m.numel()
    pull = mistaken * torch.sigmoid(m) - (1 - mistaken) * torch.sigmoid(-m)
    return loss, beta * pull / m.numel(), -beta * pull / m.numel()

== dpo_gradients | one pair after the other, the loss a plain number
def dpo_gradients(better, worse, better_ref, worse_ref, beta, mistaken):
    n, loss = len(better), 0.0
    a, b = torch.zeros(n), torch.zeros(n)
    for i in range(n):
        m = beta * (better[i] - better_ref[i] - worse[i] + worse_ref[i])
        loss -= float((1 - mistaken) * F.logsigmoid(m) + mistaken * F.logsigmoid(-m)) / n
        a[i] = beta * (torch.sigmoid(m) - 1 + mistaken) / n
        b[i] = -a[i]
    return loss, a, b

== dpo_gradients | two pairs for one
def dpo_gradients(better, worse, better_ref, worse_ref, beta, mistaken):
    def both(first, second):
        m = beta * (first - second)
        return -F.logsigmoid(m), -torch.sigmoid(-m) * beta

    right, pull = both(better - better_ref, worse - worse_ref)
    wrong, push = both(worse - worse_ref, better - better_ref)
    slope = ((1 - mistaken) * pull - mistaken * push) / better.shape[0]
    return ((1 - mistaken) * right + mistaken * wrong).mean(), slope, -slope

== Repaired | a mask of its own
class Repaired(Broken):
    def __init__(self, policy, reward, beta, rate, start, end):
        super().__init__(policy, reward, beta, rate, start, end)
        self.reference = copy.deepcopy(policy)
        for p in self.reference.parameters():
            p.requires_grad = False

    def log_probs(self, model, texts):
        log_p = model(texts).log_softmax(-1)[:, :-1]
        log_p = log_p.gather(2, texts[:, 1:, None])[..., 0][:, self.start - 1 :]
        ends = texts[:, self.start :] == self.end
        behind = ends.cumsum(1) - ends.int() > 0
        return log_p.masked_fill(behind, 0).sum(1)

    def returns(self, texts):
        with torch.no_grad():
            gap = self.log_probs(self.reference, texts) - self.log_probs(self.policy, texts)
        return self.reward(texts) + self.beta * gap

== Repaired | the whole loop once more
class Repaired(Broken):
    def __init__(self, policy, reward, beta, rate, start, end):
        self.policy, self.reward, self.beta = policy, reward, beta
        self.start, self.end = start, end
        self.reference = copy.deepcopy(policy).eval()
        self.optimizer = torch.optim.AdamW(policy.parameters(), lr=rate, weight_decay=0)

    def log_probs(self, model, texts):
        return answer_log_probs(model, texts, torch.tensor([self.start] * len(texts)), self.end)

    @torch.no_grad()
    def returns(self, texts):
        own, ref = (self.log_probs(m, texts) for m in (self.policy, self.reference))
        return self.reward(texts) - self.beta * (own - ref)

    def step(self, texts):
        returns = self.returns(texts)
        n = len(texts)
        loss = -((returns - returns.mean()) * n / (n - 1) * self.log_probs(self.policy, texts))
        self.optimizer.zero_grad()
        loss.mean().backward()
        nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
        self.optimizer.step()
""")
