"""Plausible wrong answers to notebook 13, as patches of its solutions, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    # cut
    Mutant(
        "cut",
        "targets are the inputs",
        "return rows[:, :-1], rows[:, 1:]",
        "return rows[:, :-1], rows[:, :-1]",
        "repeat what it reads",
    ),
    Mutant(
        "cut",
        "two steps on",
        """    rows = torch.stack([tokens[start : start + T + 1] for start in starts.tolist()])
    return rows[:, :-1], rows[:, 1:]""",
        """    rows = torch.stack([tokens[start : start + T + 2] for start in starts.tolist()])
    return rows[:, :-2], rows[:, 2:]""",
        "not two",
    ),
    Mutant(
        "cut",
        "the other way round",
        "return rows[:, :-1], rows[:, 1:]",
        "return rows[:, 1:], rows[:, :-1]",
        "Inputs first",
    ),
    Mutant("cut", "one token short", "start + T + 1", "start + T", "one token too short"),
    Mutant(
        "cut",
        "one late",
        "tokens[start : start + T + 1]",
        "tokens[start + 1 : start + T + 2]",
        "the token at starts",
    ),
    Mutant(
        "cut",
        "the last target only",
        "rows[:, 1:]",
        "rows[:, -1]",
        "not only the last",
    ),
    Mutant(
        "cut",
        "one tensor",
        "return rows[:, :-1], rows[:, 1:]",
        "return rows",
        "two tensors",
    ),
    # train_step
    Mutant("train_step", "no zero_grad", "    optimizer.zero_grad()\n", "", "grows from step"),
    Mutant("train_step", "no step", "    optimizer.step()\n", "", "have not moved"),
    Mutant(
        "train_step",
        "no clipping",
        "    nn.utils.clip_grad_norm_(model.parameters(), clip)\n",
        "",
        "between backward and step",
    ),
    Mutant(
        "train_step",
        "clips after the step",
        """    nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
""",
        """    optimizer.step()
    nn.utils.clip_grad_norm_(model.parameters(), clip)
""",
        "between backward and step",
    ),
    Mutant(
        "train_step",
        "clips before backward",
        """    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip)
""",
        """    nn.utils.clip_grad_norm_(model.parameters(), clip)
    loss.backward()
""",
        "not before, not after",
    ),
    Mutant(
        "train_step",
        "clips at 1",
        "model.parameters(), clip)",
        "model.parameters(), 1.0)",
        "and not at 1",
    ),
    Mutant("train_step", "a tensor", "loss.item()", "loss", "plain number"),
    Mutant(
        "train_step",
        "the loss afterwards",
        "return loss.item()",
        "return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten()).item()",
        "after the update",
    ),
    Mutant(
        "train_step",
        "a sum",
        "targets.flatten())",
        'targets.flatten(), reduction="sum")',
        "not their sum",
    ),
    Mutant(
        "train_step",
        "empties the new gradient",
        """    optimizer.zero_grad()
    loss.backward()
""",
        """    loss.backward()
    optimizer.zero_grad()
""",
        "emptied after backward",
    ),
    Mutant(
        "train_step", "nothing returned", "return loss.item()", "loss.item()", "Return the loss"
    ),
    Mutant(
        "train_step",
        "probabilities",
        "F.cross_entropy(logits.flatten(0, 1)",
        "F.cross_entropy(logits.softmax(-1).flatten(0, 1)",
        "takes the softmax by itself",
    ),
    # rate
    Mutant("rate", "begins at zero", "step / warmup", "(step - 1) / warmup", "the rate 0"),
    Mutant(
        "rate",
        "falls one step early",
        "(steps - step + 1) / (steps - warmup)",
        "(steps - step) / (steps - warmup)",
        "one step after the last",
    ),
    Mutant(
        "rate",
        "spread over all steps",
        "/ (steps - warmup)",
        "/ steps",
        "after the warm-up, and is spread",
    ),
    Mutant(
        "rate",
        "constant",
        "return (steps - step + 1) / (steps - warmup)",
        "return 1.0",
        "the rate falls",
    ),
    Mutant(
        "rate",
        "divides by zero",
        """    if step <= warmup:
        return step / warmup
    return (steps - step + 1) / (steps - warmup)""",
        "    return min(step / warmup, (steps - step + 1) / (steps - warmup), 1.0)",
        "division by zero",
    ),
    # train
    Mutant(
        "train",
        "the rate is never set",
        '        optimizer.param_groups[0]["lr"] = highest * rate(step, steps, warmup)\n',
        "",
        "set it at every step",
    ),
    Mutant(
        "train",
        "no schedule",
        "highest * rate(step, steps, warmup)",
        "highest",
        "follow your schedule",
    ),
    Mutant(
        "train",
        "steps from 0",
        "highest * rate(step, steps, warmup)",
        "highest * rate(step - 1, steps, warmup)",
        "has the number 1",
    ),
    Mutant("train", "clips at 10", "clip=1.0", "clip=10.0", "at the length 1"),
    Mutant("train", "does not clip", "clip=1.0", "clip=float('inf')", "at the length 1"),
    Mutant("train", "the factor alone", "= highest * rate(", "= rate(", "is a factor"),
    Mutant(
        "train",
        "the rate after the step",
        """        optimizer.param_groups[0]["lr"] = highest * rate(step, steps, warmup)
        inputs, targets = windows.batch(step - 1)
        losses.append(train_step(model, optimizer, inputs, targets, clip=1.0))
""",
        """        inputs, targets = windows.batch(step - 1)
        losses.append(train_step(model, optimizer, inputs, targets, clip=1.0))
        optimizer.param_groups[0]["lr"] = highest * rate(step, steps, warmup)
""",
        "before the step",
    ),
    Mutant(
        "train",
        "multiplied onto the last rate",
        '["lr"] = highest * rate(',
        '["lr"] *= rate(',
        "Set the rate anew",
    ),
    Mutant("train", "one batch late", "windows.batch(step - 1)", "windows.batch(step)", "number 0"),
    Mutant("train", "one batch", "windows.batch(step - 1)", "windows.batch(0)", "always the same"),
    Mutant("train", "the last loss", "return losses", "return losses[-1:]", "of all steps"),
    Mutant("train", "a number", "return losses", "return losses[-1]", "a list with the loss"),
    # orthogonalise
    Mutant("orthogonalise", "no norm", "G / G.norm()", "G", "by its norm first"),
    Mutant("orthogonalise", "one round", "range(rounds)", "range(1)", "several rounds"),
    Mutant(
        "orthogonalise",
        "S of the beginning",
        """    for _ in range(rounds):
        S = X @ X.T
""",
        """    S = X @ X.T
    for _ in range(rounds):
""",
        "anew inside the loop",
    ),
    Mutant("orthogonalise", "S once", "c * S @ S @ X", "c * S @ X", "S twice"),
    Mutant("orthogonalise", "largest number", "G.norm()", "G.abs().max()", "not by its largest"),
    Mutant(
        "orthogonalise",
        "the largest singular value",
        "G.norm()",
        "torch.linalg.matrix_norm(G, 2)",
        "the root of the sum",
    ),
    # snapshot
    Mutant("snapshot", "no copies", "tensor.clone()", "tensor", "go on changing"),
    Mutant(
        "snapshot",
        "the dictionary itself",
        "{name: tensor.clone() for name, tensor in model.state_dict().items()}",
        "model.state_dict()",
        "go on changing",
    ),
    Mutant(
        "snapshot",
        "a shallow copy",
        "{name: tensor.clone() for name, tensor in model.state_dict().items()}",
        "dict(model.state_dict())",
        "go on changing",
    ),
    Mutant(
        "snapshot",
        "a list",
        "{name: tensor.clone() for name, tensor in model.state_dict().items()}",
        "[tensor.clone() for tensor in model.state_dict().values()]",
        "a dictionary with the names",
    ),
    # log_prob
    Mutant(
        "log_prob",
        "raw logits",
        ".log_softmax(-1)",
        "",
        "no log-probabilities yet",
    ),
    Mutant(
        "log_prob",
        "the context counts, too",
        "chosen[len(context) - 1 :]",
        "chosen",
        "tokens of the context count",
    ),
    Mutant(
        "log_prob",
        "one token late",
        "chosen[len(context) - 1 :]",
        "chosen[len(context) :]",
        "first token of the continuation",
    ),
    Mutant("log_prob", "over positions", "log_softmax(-1)", "log_softmax(0)", "not over positions"),
    Mutant("log_prob", "a mean", ".sum().item()", ".mean().item()", "forgets the length"),
    Mutant("log_prob", "the cost", "return chosen", "return -chosen", "mind the sign"),
    Mutant(
        "log_prob",
        "not shifted",
        """    log_p = model(tokens[None, :-1])[0].log_softmax(-1)  # (n + m - 1, V)
    chosen = log_p[torch.arange(len(tokens) - 1), tokens[1:]]
    return chosen[len(context) - 1 :].sum().item()""",
        """    log_p = model(tokens[None])[0].log_softmax(-1)
    return log_p[torch.arange(len(tokens)), tokens][len(context) :].sum().item()""",
        "for its own token",
    ),
    Mutant(
        "log_prob",
        "a probability",
        "chosen[len(context) - 1 :].sum().item()",
        "chosen[len(context) - 1 :].sum().exp().item()",
        "its logarithm is wanted",
    ),
    Mutant(
        "log_prob",
        "the last token of the context",
        "torch.cat([context, continuation])\n    log_p",
        "torch.cat([context[-1:], continuation])\n    context = context[-1:]\n    log_p",
        "not its last token alone",
    ),
    Mutant(
        "log_prob",
        "no context",
        """    tokens = torch.cat([context, continuation])
    log_p = model(tokens[None, :-1])[0].log_softmax(-1)  # (n + m - 1, V)
    chosen = log_p[torch.arange(len(tokens) - 1), tokens[1:]]
    return chosen[len(context) - 1 :].sum().item()""",
        """    log_p = model(continuation[None])[0].log_softmax(-1)
    return log_p[torch.arange(len(continuation)), continuation].sum().item()""",
        "context is missing",
    ),
]

REWRITES = [
    Rewrite(
        "cut",
        "an index",
        """def cut(tokens, starts, T):
    places = starts[:, None] + torch.arange(T)
    return tokens[places], tokens[places + 1]
""",
    ),
    Rewrite(
        "train_step",
        "zeroes the model's gradients, computes the loss by hand",
        """def train_step(model, optimizer, inputs, targets, clip):
    model.zero_grad()
    log_p = model(inputs).log_softmax(-1)
    loss = -log_p.gather(-1, targets[..., None]).mean()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    return float(loss.detach())
""",
    ),
    Rewrite(
        "rate",
        "a minimum",
        """def rate(step, steps, warmup):
    rise = step / warmup if warmup else 1.0
    return min(rise, (steps - step + 1) / (steps - warmup), 1.0)
""",
    ),
    Rewrite(
        "train",
        "counted from 0, every group's rate",
        """def train(model, optimizer, windows, steps, warmup, highest):
    losses = []
    for done in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = highest * rate(done + 1, steps, warmup)
        inputs, targets = windows.batch(done)
        losses += [train_step(model, optimizer, inputs, targets, 1.0)]
    return losses
""",
    ),
    Rewrite(
        "orthogonalise",
        "factored",
        """a, b, c = 3.4445, -4.7750, 2.0315


def orthogonalise(G, rounds=5):
    X = G / torch.linalg.matrix_norm(G)
    for _ in range(rounds):
        S = X @ X.T
        X = (a * torch.eye(len(S), dtype=S.dtype) + b * S + c * S @ S) @ X
    return X
""",
    ),
    Rewrite(
        "snapshot",
        "deepcopy",
        """def snapshot(model):
    import copy

    return copy.deepcopy(model.state_dict())
""",
    ),
    Rewrite(
        "log_prob",
        "cross-entropy",
        """def log_prob(model, context, continuation):
    tokens = torch.cat([context, continuation])
    logits = model(tokens[None])[0, len(context) - 1 : -1]
    return -F.cross_entropy(logits, continuation, reduction="sum").item()
""",
    ),
]
