"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== scan
the a's | return b => return a | step doubles
a loop | wait for each other
-    step = 1
+    h, states = 0, []
+    for t in range(len(a)):
+        h = a[t] * h + b[t]
+        states.append(h)
+    return torch.stack(states)
""")

REWRITES = rewrites("""
== scan | with clones
def scan(a, b):
    a, b, step = a.clone(), b.clone(), 1
    while step < len(a):
        old_a, old_b = a.clone(), b.clone()
        for t in range(step, len(a)):
            b[t] = old_a[t] * old_b[t - step] + old_b[t]
            a[t] = old_a[t] * old_a[t - step]
        step *= 2
    return b
""")
