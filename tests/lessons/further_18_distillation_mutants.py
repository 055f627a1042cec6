"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== distillation
the mean of one | hard + => hard / len(tokens) + | cross-entropy with
""")

REWRITES = rewrites("""
== distillation | with kl_div
def distillation(pupil, teacher, tokens, share, temperature):
    tau = temperature
    said, heard = (teacher / tau).softmax(-1), (pupil / tau).log_softmax(-1)
    soft = F.kl_div(heard, said, reduction="batchmean")
    hard = -pupil.log_softmax(-1)[range(len(tokens)), tokens].mean()
    return hard + share * (tau * tau * soft - hard)
""")
