"""Your turn with training: clipping, the rate, the loop, and the probability of a continuation."""

import torch
from torch import nn
from torch.nn import functional as F

from helpers.course.checks.lab import Lab
from helpers.course.checks.pointers import see
from helpers.course.checks.trial import Complaint
from helpers.course.checks.turn import Case, turn
from helpers.data.batching import TextWindows

turns = Lab("notebook13")


def with_gradients(gradients):
    """Parameters with these gradients; None: a part that the loss does not depend on."""
    found = []
    for gradient in gradients:
        found.append(nn.Parameter(torch.zeros(3 if gradient is None else gradient.shape)))
        found[-1].grad = None if gradient is None else gradient.clone()
    return found


def clipped(answer, gradients, most):
    """What the answer hands back, and the gradients as it leaves them."""
    parameters = with_gradients(gradients)
    length = answer(iter(parameters), most)
    length = length.item() if isinstance(length, torch.Tensor) else length
    return [length, *(p.grad for p in parameters if p.grad is not None)]


def gradients_to_clip(draw):
    by_hand = [torch.tensor([3.0]), torch.tensor([[4.0]])]
    yield Case("(3, 4) becomes (0.6, 0.8)", by_hand, 1.0, given="gradients (3) and (4), most = 1")
    sizes = (2, 3), (4,), (3, 2)
    for most in (0.5, 1e3, 2.0):
        some = [draw.normal(*size).float() for size in sizes]
        given = f"three gradients, most = {most:g}"
        rule = "a short gradient is left as it is" if most == 1e3 else "a long one is shortened"
        yield Case(rule, [*some[:2], None, some[2]], most, given=given + ", and a None")


@turn(
    turns,
    "Three steps: the length of all gradients together, the root of the sum of all squares; where "
    "it is larger than most, multiply each p.grad in place (mul_) by most / length; hand back the "
    "length. A p.grad may be None. " + see(13, "One step of training"),
    cases=gradients_to_clip,
    call=clipped,
    tolerance=1e-5,
    slips="""
    if length > most: => if True:
        A gradient that is shorter than most stays as it is.
    g.mul_(most / length) => g.clamp_(-most, most)
    g.mul_(most / length) => g.mul_((most / g.norm()).clamp(max=1))
        All gradients get the same factor, so that the whole keeps its direction.
    g.mul_(most / length) => g.mul_(1 / length)
        The new length is most; yours is 1.
    g.mul_(most / length) => g * (most / length)
        The gradients have not changed: mul_ multiplies a tensor in place. (Parameters can be walked
        through only once: make a list first.)
    ** 0.5 => ** 1.0
        The length is the *root* of the sum of all squares.
    sum(g.square().sum() for g in gradients) ** 0.5 => sum(g.norm() for g in gradients)
        Add the *squares* of all numbers up, those of all parameters, and take the root of that.
    return length.item() => return min(length.item(), most)
        Hand back the length that the gradient had *before*.
    """,
)
def clip(parameters, most):
    """Shorten the gradient to the length most where it is longer; the length that it had."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    length = sum(g.square().sum() for g in gradients) ** 0.5
    if length > most:
        for g in gradients:
            g.mul_(most / length)
    return length.item()


def factors(answer, steps, warmup, decay):
    return [answer(step, steps, warmup, decay) for step in range(1, steps + 1)]


def schedules(draw):
    yield Case("ten steps by hand", 10, 4, 3, given="steps = 10, warmup = 4, decay = 3")
    warmup, decay = draw.integer(5, 15), draw.integer(5, 15)
    for steps, up, down in ((40, warmup, decay), (30, 1, 29), (12, 4, 1)):
        given = f"steps = {steps}, warmup = {up}, decay = {down}"
        yield Case("and with any lengths", steps, up, down, given=given)


@turn(
    turns,
    "With steps = 10, warmup = 4, decay = 3 the factors are 1/4, 2/4, 3/4, 1, 1, 1, 1, 1, 2/3, "
    "1/3. " + see(13, "The learning rate, and why it changes"),
    cases=schedules,
    call=factors,
    slips="""
    step / warmup => (step - 1) / warmup
        A first step with the rate 0 learns nothing: step 1 already has 1 / warmup.
    (steps - step + 1) / decay => (steps - step) / decay
        The last step still has 1 / decay: the line reaches 0 one step after it.
    return (steps - step + 1) / decay if step >= steps - decay else min(step / warmup, 1.0)
        The last `decay` steps begin one step later: step steps - decay is not one of them.
    (steps - step + 1) / decay => (steps - step + 1) / (steps - warmup)
        The fall takes the last `decay` steps; before it the factor stays at 1.
    1.0, (steps => (steps
        The factor is at most 1: between warm-up and decay it stays there.
    """,
)
def rate(step, steps, warmup, decay):
    """The factor on the highest rate at step 1, 2, ..., steps."""
    return min(step / warmup, 1.0, (steps - step + 1) / decay)


def train_step(model, optimizer, inputs, targets, most=1.0):
    """One step on a batch: its loss before the step, and the length of its gradient."""
    device = next(model.parameters()).device
    logits = model(inputs.to(device)).float()
    loss = F.cross_entropy(logits.flatten(0, 1), targets.to(device).flatten())
    optimizer.zero_grad()
    loss.backward()
    length = clip.fallback(model.parameters(), most)
    optimizer.step()
    return loss.item(), length


class Table(nn.Module):
    """The smallest language model: a table of logits, times 5, which lengthens its gradients."""

    def __init__(self, begin):
        super().__init__()
        self.weight = nn.Parameter(begin.clone())

    def forward(self, tokens):
        return 5 * self.weight[tokens]


def trained(answer, begin, tokens, steps, warmup, decay, rates):
    """The pairs that are handed out, the steps made before each, and where the table ends."""
    table = Table(begin)
    parts = [{"params": [table.weight], "lr": rates[0]}]
    if len(rates) > 1:
        idle = nn.Parameter(torch.zeros(2))
        parts.append({"params": [idle], "lr": rates[1]})
    optimizer = torch.optim.SGD(parts)
    windows, made, seen = TextWindows(tokens, 2, 5, seed=0), [], []
    step = optimizer.step

    def counted(*arguments, **named):
        made.append([group["lr"] for group in optimizer.param_groups])
        return step(*arguments, **named)

    optimizer.step = counted
    run = answer(table, optimizer, windows, steps, warmup, decay)
    if not hasattr(run, "__next__"):
        hint = "Hand out the result of every step with `yield`, inside the loop."
        raise Complaint("it yields", hint, f"{steps} steps", type(run).__name__)
    for result in run:
        values = [result] if isinstance(result, float) else list(result)
        seen += [*map(float, values), float(len(made))]
    return [seen, made, table.weight.detach()]


def runs(draw):
    V = 6
    torch.optim.SGD([nn.Parameter(torch.zeros(1))]).zero_grad()  # imports much, at its first call
    begin, tokens = draw.normal(V, V).float(), draw.integers(0, V, 60)
    for steps, warmup, decay, rates in ((6, 2, 2, (0.4,)), (7, 3, 2, (0.3, 0.05))):
        given = f"{steps} steps, warmup {warmup}, decay {decay}, made with the rates {rates}"
        rule = "its losses, lengths and rates" if len(rates) == 1 else "every group has its rate"
        yield Case(rule, begin, tokens, steps, warmup, decay, rates, given=given)


@turn(
    turns,
    "Before the loop, the highest rate of each group; for each step: set the rates, take the "
    "batch, and at once yield what train_step hands back. "
    + see(13, "The learning rate, and why it changes"),
    cases=runs,
    call=trained,
    tolerance=1e-5,
    uses=["rate", "train_step"],
    slips="""
    most * rate(step, steps, warmup, decay) => most
        The rates must follow your schedule: set them anew before every step.
    most * rate(step, steps, warmup, decay) => rate(step, steps, warmup, decay)
        rate(...) is a factor: a group's rate is its highest one times that.
    group["lr"] = most * rate => group["lr"] = group["lr"] * rate
        Multiply the rate with which the optimizer was *made*; yours shrinks from step to step.
    most * rate(step, steps, warmup, decay) => most * (rate(step - 1, steps, warmup, decay) \
    if step > 1 else 1.0)
        Set the rates of a step *before* you make it.
    range(1, steps + 1) => range(1, steps)
        The last step, the one with the number `steps`, is missing.
    yield from list(train(model, optimizer, batches, steps, warmup, decay))
        Yield each result at once, inside the loop: whoever runs it sees each loss as it comes.
    rate(step, steps => rate(step - 1, steps
        The first step has the number 1: its factor is rate(1, ...).
    batches.batch(step - 1) => batches.batch(step)
        The first batch has the number 0: step s takes batch s - 1.
    yield train_step(model, optimizer, inputs, targets) => \
    yield train_step(model, optimizer, inputs, targets)[0]
        Yield both, the loss and the length: what train_step hands back.
    """,
)
def train(model, optimizer, batches, steps, warmup, decay):
    """Make the steps 1, 2, ..., steps; yield the loss and the gradient's length of each."""
    highest = [group["lr"] for group in optimizer.param_groups]
    for step in range(1, steps + 1):
        for group, most in zip(optimizer.param_groups, highest):
            group["lr"] = most * rate(step, steps, warmup, decay)
        inputs, targets = batches.batch(step - 1)
        yield train_step(model, optimizer, inputs, targets)


class Remembers(nn.Module):
    """The smallest model that looks at all of its past: a table of logits, and their sum so far."""

    def __init__(self, table):
        super().__init__()
        self.table = nn.Embedding.from_pretrained(table)

    def forward(self, tokens):
        return self.table(tokens).cumsum(1)


def as_number(answer, *arguments):
    """A tensor with one element is a number, too."""
    value = answer(*arguments)
    return value.item() if isinstance(value, torch.Tensor) and value.numel() == 1 else value


def texts_that_go_on(draw):
    V = 11
    model = Remembers(draw.normal(V, V))
    for n, m in ((3, 4), (2, 1), (1, 2)):
        context, continuation = draw.integers(0, V, n), draw.integers(0, V, m)
        given = f"a model with a memory, {n} tokens of context, {m} that go on"
        rule = "one token" if m == 1 else "several tokens"
        yield Case(rule, model, context, continuation, given=given)


@turn(
    turns,
    "The logits at position t are about token t + 1: the first token of the continuation is "
    "predicted at the last of the context. " + see(13, "Does it make sense?"),
    cases=texts_that_go_on,
    call=as_number,
    tolerance=1e-5,
    slips="""
    .log_softmax(-1) =>
        Logits are no log-probabilities yet: log_softmax over the vocabulary makes them.
    .log_softmax(-1) => .log_softmax(0)
        log_softmax goes over the vocabulary, the last dimension, not over positions.
    tokens[None, :-1] => tokens[None] ;; torch.arange(len(tokens) - 1), tokens[1:] => \
    torch.arange(len(tokens)), tokens ;; chosen[len(context) - 1 :] => chosen[len(context) :]
        You ask each position for its own token; it predicts the one after it.
    chosen[len(context) - 1 :] => chosen
        The tokens of the context count, too: only those of the continuation should.
    chosen[len(context) - 1 :] => chosen[len(context) :]
        The first token of the continuation is missing from your sum.
    .sum() => .mean()
        Add the log-probabilities up; a mean forgets the length.
    return chosen => return -chosen
        That is the cost, which is minus the log-probability: mind the sign.
    .sum().item() => .sum().exp().item()
        That is the probability; its logarithm is wanted.
    log_p = model(continuation[None])[0].log_softmax(-1); \
    return log_p[torch.arange(len(continuation)), continuation].sum().item()
        The context is missing: the model reads it before the continuation.
    """,
)
def log_prob(model, context, continuation):
    """log P(continuation | context) in nats, a number; ids (n,) and (m,)."""
    tokens = torch.cat([context, continuation])
    log_p = model(tokens[None, :-1])[0].log_softmax(-1)  # (n + m - 1, V)
    chosen = log_p[torch.arange(len(tokens) - 1), tokens[1:]]
    return chosen[len(context) - 1 :].sum().item()
