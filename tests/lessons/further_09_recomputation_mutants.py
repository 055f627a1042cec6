"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== gradients_again
not recorded | torch.enable_grad() => torch.no_grad() | enable
no leaves | .requires_grad_() => | leaves
a sum outside | o.backward(gradient[rows]) => (o * gradient[rows]).sum().backward() \
    | a product with the gradient
all rows | whole table again
-    for first in range(0, len(Q), B):
-        rows = slice(first, first + B)
+    for first in [0]:
+        rows = slice(None)
""")

REWRITES = rewrites("""
== gradients_again | all at once
def gradients_again(attend, Q, K, V, B, gradient):
    given = [x.detach().requires_grad_() for x in (Q, K, V)]
    with torch.enable_grad():
        o = torch.cat([attend(rows, *given[1:]) for rows in given[0].split(B)])
        return torch.autograd.grad(o, given, gradient)
""")
