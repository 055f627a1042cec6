"""Other right answers to the further notebook 13, Muon, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== orthogonalise
no linear term | a * X + b * S @ X => b * S @ X | a X + b S X
""")

REWRITES = rewrites("""
== orthogonalise | factored
def orthogonalise(G, rounds=5):
    a, b, c = 3.4445, -4.7750, 2.0315
    X = G / torch.linalg.matrix_norm(G)
    for _ in range(rounds):
        S = X @ X.T
        X = (a * torch.eye(len(S), dtype=S.dtype) + b * S + c * S @ S) @ X
    return X
""")
