"""Other right answers to notebook 20, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== preference_loss
the logarithm of a sigmoid | F.logsigmoid(better - worse) \
    => torch.sigmoid(better - worse).log() | overflows
half | .mean() => .mean() / 2 | log-sigmoid

== best_policy
with exp | tilted.logsumexp(0) => tilted.exp().sum().log() | overflows
one number | , beta * log_z => , 2 * log_z | logsumexp

== policy_loss
all detached | * log_p).mean() => * log_p.detach()).mean() | needs the gradient
half | .mean() => .mean() / 2 | minus the mean of A log pi
n for n - 1 | advantages(returns) => (returns - returns.mean()) | advantages(R)

== dpo_loss
beta once | beta * (worse - worse_ref) => worse - worse_ref | reward
no minus | preference_loss( => -preference_loss( | reward
""")

REWRITES = rewrites("""
== preference_loss | by softplus
def preference_loss(better, worse):
    return F.softplus(worse - better).mean()

== best_policy | by log_softmax
def best_policy(log_ref, reward, beta):
    both = log_ref + reward / beta
    return both.log_softmax(0), beta * torch.logsumexp(both, dim=0)

== best_policy | a number for J
def best_policy(log_ref, reward, beta):
    x = log_ref + reward / beta
    return torch.log_softmax(x, -1), float(beta * torch.logsumexp(x, -1))

== policy_loss | with no_grad
def policy_loss(log_p, log_p_ref, reward, beta):
    with torch.no_grad():
        A = advantages(reward - beta * (log_p - log_p_ref))
    return -(A @ log_p) / len(log_p)

== policy_loss | the others by a matrix
def policy_loss(log_p, log_p_ref, reward, beta):
    n = len(log_p)
    R = (reward - beta * (log_p - log_p_ref)).detach()
    others = (torch.ones(n, n) - torch.eye(n)) @ R / (n - 1)
    return ((others - R) * log_p).mean()

== policy_loss | by ratios, as PPO before its clip
def policy_loss(log_p, log_p_ref, reward, beta):
    A = advantages(reward - beta * (log_p.detach() - log_p_ref))
    return -(A * (log_p - log_p.detach()).exp()).mean()

== dpo_loss | in one formula
def dpo_loss(better, worse, better_ref, worse_ref, beta):
    margin = beta * ((better - worse) - (better_ref - worse_ref))
    return -F.logsigmoid(margin).mean()
""")
