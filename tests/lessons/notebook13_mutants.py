"""Other right answers to notebook 13, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== clip
walked through twice | only once
-    gradients = [p.grad for p in parameters if p.grad is not None]
+    gradients = (p.grad for p in parameters if p.grad is not None)
the largest length | sum(g.square().sum() for g in gradients) ** 0.5 \
    => max(g.norm() for g in gradients) | the length of all gradients together
twice as much | g.mul_(most / length) => g.mul_(2 * most / length) | most / length

== rate
a product | min(step / warmup, 1.0, (steps - step + 1) / decay) \
    => min(step / warmup, 1.0) * (steps - step + 1) / decay | 1, 2/3, 1/3
the largest | min(step / warmup, 1.0 => max(step / warmup, 1.0 | 2/3, 1/3
from the middle | (steps - step + 1) / decay => 2 * (steps - step + 1) / steps | 2/3, 1/3

== train
returned | yield train_step => return train_step | with `yield`
a step without a yield | yield what train_step hands
-        yield train_step(model, optimizer, inputs, targets)
+        result = train_step(model, optimizer, inputs, targets)
+    yield result
a list handed back | with `yield`
-        yield train_step(model, optimizer, inputs, targets)
+        result = train_step(model, optimizer, inputs, targets)
+        found = [*locals().get('found', []), result]
+    return found

== log_prob
the inputs | tokens[1:]] => tokens[:-1]] | are about token t + 1
""")

REWRITES = rewrites("""
== clip | PyTorch's
def clip(parameters, most):
    return torch.nn.utils.clip_grad_norm_(parameters, most).item()

== clip | one long vector
def clip(parameters, most):
    parameters = [p for p in parameters if p.grad is not None]
    length = torch.cat([p.grad.flatten() for p in parameters]).norm().item()
    for p in parameters:
        p.grad.mul_(min(1.0, most / length))
    return length

== rate | three cases
def rate(step, steps, warmup, decay):
    if step < warmup:
        return min(step / warmup, (steps - step + 1) / decay)
    if step <= steps - decay:
        return 1.0
    return (steps + 1 - step) / decay

== train | counted from 0
def train(model, optimizer, batches, steps, warmup, decay):
    groups = [(group, group["lr"]) for group in optimizer.param_groups]
    for done in range(steps):
        factor = rate(done + 1, steps, warmup, decay)
        for group, highest in groups:
            group["lr"] = highest * factor
        loss, length = train_step(model, optimizer, *batches.batch(done))
        yield loss, length

== log_prob | cross-entropy
def log_prob(model, context, continuation):
    tokens = torch.cat([context, continuation])
    logits = model(tokens[None])[0, len(context) - 1 : -1]
    return -F.cross_entropy(logits, continuation, reduction="sum").item()
""")
