"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== write
reads the source each time | read once
     while len(words) <= longest:
+        memory, mask = encode(source)

== mixture
guesses alone | before, read) => before, before) | all else
""")

REWRITES = rewrites("""
== write | with a tensor of words
def write(encode, decode, source, bos, eos, longest):
    memory, mask = encode(source)
    words = torch.tensor([[bos]])
    for _ in range(longest):
        y = decode(words, memory, mask)[:, -1:].argmax(dim=-1)
        if y.item() == eos:
            break
        words = torch.cat([words, y], dim=1)
    return words[0, 1:].tolist()

== mixture | by loops
def mixture(read, guesses, own, last_mark):
    mixed = read.clone()
    for b in range(read.shape[0]):
        for t in range(1, read.shape[1]):
            if own[b, t] and read[b, t] > last_mark:
                mixed[b, t] = guesses[b, t - 1]
    return mixed
""")
