"""Other right answers to notebook 20, and wrong ones that no slip describes."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    Mutant(
        "preference_loss",
        "the logarithm of a sigmoid",
        "F.logsigmoid(better - worse)",
        "torch.sigmoid(better - worse).log()",
        "overflows",
    ),
    Mutant("preference_loss", "half", ".mean()", ".mean() / 2", "log-sigmoid"),
    Mutant(
        "best_policy",
        "with exp",
        "tilted.logsumexp(0)",
        "tilted.exp().sum().log()",
        "overflows",
    ),
    Mutant("best_policy", "one number", ", beta * log_z", ", 2 * log_z", "logsumexp"),
    Mutant("advantages", "the largest", "returns - (", "returns.max() - (", "n - 1 of them"),
    Mutant("advantages", "twice", "return returns", "return 2 * returns", "n - 1 of them"),
    Mutant("dpo_loss", "beta once", "beta * (worse - worse_ref)", "worse - worse_ref", "reward"),
    Mutant("dpo_loss", "no minus", "preference_loss(", "-preference_loss(", "reward"),
]

REWRITES = [
    Rewrite(
        "preference_loss",
        "by softplus",
        """
def preference_loss(better, worse):
    return F.softplus(worse - better).mean()
""",
    ),
    Rewrite(
        "best_policy",
        "by log_softmax",
        """
def best_policy(log_ref, reward, beta):
    both = log_ref + reward / beta
    return both.log_softmax(0), beta * torch.logsumexp(both, dim=0)
""",
    ),
    Rewrite(
        "advantages",
        "by the mean",
        """
def advantages(returns):
    n = len(returns)
    return n / (n - 1) * (returns - returns.mean())
""",
    ),
    Rewrite(
        "dpo_loss",
        "in one formula",
        """
def dpo_loss(better, worse, better_ref, worse_ref, beta):
    margin = beta * ((better - worse) - (better_ref - worse_ref))
    return -F.logsigmoid(margin).mean()
""",
    ),
]
