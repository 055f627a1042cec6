"""Other right answers to notebook 17, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== answer_only
the end is read first | tokens = [ => tokens = [end, | further on
tensors | return tokens[:-1] => return torch.tensor(tokens[:-1]) | .tolist()
the prompt by value | [-100] * (len(prompt) - 1) + [*answer, end] \
    => [-100 if t in prompt[1:] else t for t in tokens[1:]] | do not search
the answer by its first token | [-100] * (len(prompt) - 1) + [*answer, end] \
    => [-100] * (tokens.index(answer[0]) - 1) + tokens[tokens.index(answer[0]) :] | do not search
three values | return => return prompt, | further on

== lora
twice A | @ A.T @ B.T => @ A.T @ B.T * 3 | two ways
no transpose | x @ W.T => x @ W | each matrix is transposed
A cut off | x @ A.T => x @ A.detach().T | no gradient may be cut off
rounded down | alpha / len(A) => alpha // len(A) | With //

== swap
nothing is returned | return model => pass | return model

== worth
no error | , gain.std() / len(gain) ** 0.5 => | two numbers
""")

REWRITES = rewrites("""
== answer_only | by shifting
def answer_only(prompt, answer, end):
    read, targets = list(prompt) + list(answer), list(prompt[1:]) + list(answer) + [end]
    for i in range(len(prompt) - 1):
        targets[i] = -100
    return read, targets

== answer_only | the prompt's mark as the end
def answer_only(prompt, answer, end):
    targets = [-100] * (len(prompt) - 1) + answer + [prompt[0]]
    return prompt + answer, targets

== lora | with the whole matrix
def lora(x, W, A, B, alpha):
    return x @ (W + alpha / A.shape[0] * B @ A).T

== swap | recursively
def swap(model, names, new):
    for weight in model.parameters():
        weight.requires_grad = False

    def inside(part):
        for name, layer in list(part.named_children()):
            if name in names:
                setattr(part, name, new(layer))
            else:
                inside(layer)

    inside(model.blocks)
    return model

== worth | by sums
def worth(own, others):
    n = len(own)
    mean = sum(others - own) / n
    variance = sum((g - mean) ** 2 for g in others - own) / (n - 1)
    return float(mean), float((variance / n) ** 0.5)
""")
