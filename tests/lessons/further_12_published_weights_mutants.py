"""Other answers to the further notebook 12, published weights."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants("""
== translate
through the tensors | holds a mask
-    for theirs, ours in names.items():
-        tensor = tensors[theirs]
+    for theirs, tensor in tensors.items():
+        ours = names[theirs]
""")

REWRITES = rewrites("""
== translate | split along the columns, then turned
def translate(tensors, names):
    state = {}
    for theirs, ours in names.items():
        parts = tensors[theirs].chunk(len(ours), dim=-1) if len(ours) > 1 else [tensors[theirs]]
        for name, part in zip(ours, parts):
            turned = theirs[:2] == "h." and part.dim() == 2
            state[name] = part.t().contiguous() if turned else part
    return state
""")
