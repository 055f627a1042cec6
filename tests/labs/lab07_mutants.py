"""Wrong answers to lab 07 that are no slips of its checks, and other right answers."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== by_hand
keys too | (2 * (d + d) + (f + d)) => (3 * (d + d) + (f + d)) | Keys get no update
one part | (2 * (d + d) + (f + d)) => ((d + d) + (f + d)) | an A and a B of their own
A alone | (2 * (d + d) + (f + d)) => (2 * d + f) | two matrices
no down | + (f + d)) => ) | from hidden to width
no scales | (n["bits"] / 8 + 2 / n["group"]) => (n["bits"] / 8) | a scale of two bytes
bits for bytes | n["bits"] / 8 => n["bits"] | Eight bits are a byte
weights alone | 16 * trained) / 1e9 => 2 * trained) / 1e9 | a gradient and AdamW
as if all were trained | 4 * (L * block + table) + 6 => 6 * (L * block + table) + 6 \
    | no gradient of its own
forward alone | 4 * (L * block + table) + 6 => 2 * (L * block + table) + 6 \
    | lets the gradient through
no output | token = 4 * (L * block + table) => token = 4 * (L * block) | The output multiplies
through the lower half | 2 * L / 2 * block => 4 * L / 2 * block | no gradient goes there
no lower half | upper = 2 * L / 2 * block => upper = 0 * block | still read forward
weights, not millions | trained / 1e6 => trained | Look at the unit
a million too many | / token / 1e6 => / token | Look at the unit
a text | trained / 1e6 => str(trained / 1e6) | no text

== Packed
a byte for each code | Scale
-        codes = (codes.unflatten(1, (-1, len(shifts))) << shifts).sum(-1)
codes as they are | codes.to(torch.uint8) => codes.to(torch.int8) | uint8
a parameter | self.register_buffer("scales", scales) \
    => self.scales = nn.Parameter(scales) | register_buffer
no buffer | self.register_buffer("scales", scales) => self.scales = scales | register_buffer
the old map is kept | top = 2 ** (bits - 1) - 1 => top = 2 ** (bits - 1) - 1; self.map = linear \
    | register_buffer
no gradient | return F.linear(x, self.weight()) => return F.linear(x.detach(), self.weight()) \
    | gradient has to flow
the transpose | self.weight()) => self.weight().T) | x times the matrix
division by zero | scales = torch.where(scales > 0, scales, 1.0) => | Scale
another type | register_buffer("scales", scales) => register_buffer("scales", scales.float()) \
    | type of the matrix

== LoRA
reads the weight | self.old(x) => F.linear(x, self.old.weight) | Call old
not frozen | old.requires_grad_(False) => old | Only A and B are trained
B drawn | torch.zeros(P => torch.ones(P | nothing is changed at first
A zero | torch.randn(P, r, k) / k**0.5 => torch.zeros(P, r, k) | A is drawn
A too large | torch.randn(P, r, k) / k**0.5 => torch.randn(P, r, k) | standard deviation
all parts | P, k = sum(parts), old.in_features => P, k = len(parts), old.in_features \
    | number of parts that are True
the product in forward | x @ A.T first
-                pieces[i] = pieces[i] + self.scale * (x @ A.T @ B.T)
+                pieces[i] = pieces[i] + self.scale * (x @ (B @ A).T)
update without its factor | = self.scale * self.B @ self.A => = self.B @ self.A | here, too
update in the first rows | a merge
-        update[list(self.parts)] = self.scale * self.B @ self.A
+        update[: len(self.A)] = self.scale * self.B @ self.A

cut off below | not cut off
-        pieces, place = list(self.old(x).chunk(len(self.parts), -1)), 0
+        with torch.no_grad():
+            pieces = list(self.old(x).chunk(len(self.parts), -1))
+        place = 0
the update cut off | x @ A.T @ B.T => x.detach() @ A.T @ B.T | not cut off
a constant update | A, B = self.A[place], self.B[place] \
    => A, B = self.A[place].detach(), self.B[place] | no constant

== plain_state
packed within LoRA alone | a packed map without LoRA
-        if hasattr(layer, "codes"):
+        if hasattr(layer, "codes") and path.endswith(".old"):
each tensor once | belong to the state
             for own, p in layer.named_parameters(name, recurse=False):
-                state[own] = p.detach().clone()
+                if path.endswith(".old") or own in dict(model.named_parameters()):
+                    state[own] = p.detach().clone()
old in the names | path.removesuffix(".old") => path | has no .old
no biases | for own, p in layer.named_parameters(name, recurse=False): \
    => for own, p in list(layer.named_parameters(name, recurse=False))[:1]: | belong to the state
codes | state[f"{name}.weight"] = layer.weight() => state[f"{name}.codes"] = layer.codes \
    | a matrix again
with gradients | layer.update().detach() => layer.update() | detach()
the model itself | return state => return model | A dictionary
nothing comes back | return state => print(state) | without return
A and B as well | elif not hasattr(layer, "update"): => else: | no place

== Repaired
the base moves | names = (".A", ".B") => names = (".A", ".B", ".weight", ".bias") | it was
gradients of before | self.optimizer.zero_grad() => | of those before
the last is kept | p.detach().clone() for name => p for name | of the last step
all faults | still in: 3
     def trained(self):
-        names = (".A", ".B")
-        return {n: p for n, p in self.model.named_parameters() if n.endswith(names)}
+        return super().trained()

     def step(self, read, targets):
-        self.optimizer.zero_grad()
-        loss = self.loss(read, targets)
-        loss.backward()
-        self.optimizer.step()
-        return loss.item()
+        return super().step(read, targets)

     def train(self, batches, held_out):
-        lowest, best = math.inf, None
-        for batch in batches:
-            self.step(*batch)
-            with torch.no_grad():
-                now = self.loss(*held_out).item()
-            if now < lowest:
-                lowest = now
-                best = {name: p.detach().clone() for name, p in self.trained().items()}
-        self.model.load_state_dict(best, strict=False)
-        return lowest
+        return super().train(batches, held_out)
B alone | names = (".A", ".B") => (names) = ".B" | every A and every B
zero before the step | Nothing moves at all
-        self.optimizer.zero_grad()
         loss = self.loss(read, targets)
         loss.backward()
+        self.optimizer.zero_grad()
         self.optimizer.step()
copied too shallowly | best = {name: p.detach().clone() for name, p in self.trained().items()} \
    => best = dict(self.trained()) | of the last step
the first is kept | if now < lowest: => if best is None: | something else has changed
a tensor | return loss.item() => return loss | loss.item()
no number | return lowest => return best | a number

== plan
too much memory | = 4, 2, 0, 8, 80 => = 8, 2, 0, 8, 80 | take less
too many operations | 0, 8, 80 => 0, 16, 80 | rows times steps
two bits | bits, rank, first, rows, steps = 4, 2 => bits, rank, first, rows, steps = 2, 3 \
    | What two bits have spoiled
three bits | bits, rank, first, rows, steps = 4, 2 => bits, rank, first, rows, steps = 3, 2 \
    | one of 2, 4, 8
few large batches | 0, 8, 80 => 0, 64, 10 | too few steps
a tiny rate | 0.006 => 0.0001 | The rate is too small
too few steps | 0, 8, 80 => 0, 8, 8 | too little
goes astray | "rate": 0.006 => "rate": 0.05 | The rate
forgets | bits, rank, first, rows, steps = 4, 2, 0, 8, 80 \
    => bits, rank, first, rows, steps = 4, 8, 3, 8, 110 | A smaller rate
scales forgotten | (bits / 8 + 2 / 32) => (bits / 8) | on paper as in task 1
as if trained | (2 * first + 4 * adapted) => 6 * 4 | For each position
no forecast | "MB": (weights + 16 * adapted * thin) / 1e6 => "MB": 1 | on paper as in task 1
a text | "rate": 0.006 => "rate": "0.006" | above 0
""")

REWRITES = rewrites(r"""
== by_hand | step by step
def by_hand():
    n = check.numbers()
    d, f, half = n["width"], n["hidden"], n["layers"] // 2
    matrices = [3 * d * d, d * d, d * f, f * d]
    per_block = n["rank"] * (d + d + d + d + f + d)
    bytes_of = sum(matrices) * n["bits"] // 8 + sum(matrices) // n["group"] * 2
    head = d * n["vocabulary"]
    lower = half * sum(matrices)
    whole = 4 * (2 * lower + head) + 6 * 2 * half * per_block
    return dict(
        zip(
            ("trained", "GB", "GFLOPs", "upper half", "tokens"),
            (
                2 * half * per_block / 10**6,
                (2 * half * (bytes_of + 16 * per_block) + 4 * head) / 10**9,
                whole / 10**9,
                (6 * lower + 4 * head + 6 * half * per_block) / 10**9,
                torch.tensor(n["exaFLOPs"] * 1e12 / whole),
            ),
        )
    )

== by_hand | rounded
def by_hand():
    n = check.numbers()
    L, d, f = n["layers"], n["width"], n["hidden"]
    W, thin = L * (4 * d * d + 2 * d * f), L * n["rank"] * (5 * d + f)
    V = d * n["vocabulary"]
    found = {
        "trained": thin / 1e6,
        "GB": (W * (0.5 + 2 / n["group"]) + 4 * V + 16 * thin) / 1e9,
        "GFLOPs": (4 * W + 4 * V + 6 * thin) / 1e9,
        "upper half": (3 * W + 4 * V + 3 * thin) / 1e9,
        "tokens": n["exaFLOPs"] * 1e12 / (4 * W + 4 * V + 6 * thin),
    }
    return {name: float(f"{value:.4g}") for name, value in found.items()}

== Packed | by powers
class Packed(nn.Module):
    def __init__(self, linear, bits, group):
        super().__init__()
        self.out_features, self.in_features = linear.weight.shape
        self.bits, self.group, self.m = bits, group, 2 ** (bits - 1) - 1
        W = linear.weight.data.reshape(self.out_features, -1, group)
        s = W.abs().max(dim=-1, keepdim=True).values / self.m
        s[s == 0] = 1.0
        u = (torch.round(W / s) + self.m).reshape(self.out_features, -1, 8 // bits)
        self.register_buffer("scales", s.squeeze(-1))
        powers = torch.tensor([2.0 ** (bits * i) for i in range(8 // bits)], dtype=u.dtype)
        self.register_buffer("codes", (u @ powers).to(torch.uint8))

    def weight(self):
        u, rest = [], self.codes.long()
        for _ in range(8 // self.bits):
            u.append(rest % 2**self.bits)
            rest = rest // 2**self.bits
        q = torch.stack(u, -1).reshape(self.out_features, -1) - self.m
        return q * self.scales.repeat_interleave(self.group, dim=1)

    def forward(self, x):
        return x @ self.weight().T

== Packed | code by code
class Packed(nn.Module):
    def __init__(self, linear, bits, group):
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.bits, self.group = bits, group
        m, n = 2 ** (bits - 1) - 1, 8 // bits
        with torch.no_grad():
            W = linear.weight.view(len(linear.weight), -1, group)
            scales = W.abs().amax(2) / m
            scales[scales == 0] = 1
            q = (W / scales.unsqueeze(2)).round().to(torch.uint8 if bits == 1 else torch.int32)
        u = q.view(len(q), -1) + m
        codes = u[:, 0::n].clone()
        for i in range(1, n):
            codes |= u[:, i::n] << bits * i
        self.register_buffer("codes", codes.to(torch.uint8))
        self.register_buffer("scales", scales)

    def weight(self):
        n, m = 8 // self.bits, 2 ** (self.bits - 1) - 1
        u = self.codes.new_zeros(self.out_features, self.in_features).int()
        for i in range(n):
            u[:, i::n] = (self.codes.int() >> self.bits * i) & (2 * m + 1)
        W = (u - m).view(self.out_features, -1, self.group) * self.scales[:, :, None]
        return W.view(self.out_features, -1)

    def forward(self, x):
        return F.linear(x, self.weight())

== LoRA | all chosen parts at once
class LoRA(nn.Module):
    def __init__(self, old, parts, r, alpha):
        super().__init__()
        for p in old.parameters():
            p.requires_grad = False
        self.old, self.factor = old, alpha / r
        self.in_features, self.out_features = old.in_features, old.out_features
        self.chosen = [i for i, part in enumerate(parts) if part]
        self.n = len(parts)
        shape = len(self.chosen), r, old.in_features
        self.A = nn.Parameter(torch.randn(shape).mul(old.in_features**-0.5))
        self.B = nn.Parameter(torch.zeros(shape[0], old.out_features // self.n, r))

    def forward(self, x):
        thin = torch.einsum("...i,pri->...pr", x, self.A)
        change = self.factor * torch.einsum("...pr,por->...po", thin, self.B)
        y = self.old(x).unflatten(-1, (self.n, -1))
        index = torch.tensor(self.chosen, device=x.device)
        return y.index_add(-2, index, change).flatten(-2)

    def update(self):
        rows = [torch.zeros_like(self.B[0] @ self.A[0]) for _ in range(self.n)]
        for i, A, B in zip(self.chosen, self.A, self.B):
            rows[i] = self.factor * (B @ A)
        return torch.cat(rows)

== LoRA | added into slices
class LoRA(nn.Module):
    def __init__(self, old, parts, r, alpha):
        super().__init__()
        self.old, self.alpha, self.r = old, alpha, r
        old.requires_grad_(False)
        self.in_features, self.out_features = old.in_features, old.out_features
        self.width = old.out_features // len(parts)
        self.starts = [i * self.width for i in range(len(parts)) if parts[i]]
        self.A = nn.Parameter(torch.empty(len(self.starts), r, old.in_features))
        nn.init.normal_(self.A, std=old.in_features**-0.5)
        self.B = nn.Parameter(torch.zeros(len(self.starts), self.width, r))

    def forward(self, x):
        y = self.old(x).clone()
        for start, A, B in zip(self.starts, self.A, self.B):
            y[..., start : start + self.width] += self.alpha / self.r * F.linear(F.linear(x, A), B)
        return y

    def update(self):
        W = torch.zeros(self.out_features, self.in_features, dtype=self.A.dtype)
        for start, A, B in zip(self.starts, self.A, self.B):
            W[start : start + self.width] = self.alpha * (B @ A) / self.r
        return W

== plain_state | from the model's own state
def plain_state(model):
    layers = dict(model.named_modules())
    state = {}
    for name, value in model.state_dict().items():
        path, own = name.rsplit(".", 1)
        if own in ("A", "B") and hasattr(layers[path], "update") or own == "scales":
            continue
        if own == "codes":
            value, own = layers[path].weight(), "weight"
        above = path.rsplit(".", 1)[0] if path.endswith(".old") else path
        if above != path and own == "weight":
            value = value + layers[above].update()
        state[f"{above}.{own}"] = value.detach().clone()
    return state

== plain_state | by a walk
def plain_state(model):
    found = {}

    def walk(layer, path):
        if hasattr(layer, "update"):
            walk(layer.old, path)
            found[path + "weight"] = found[path + "weight"] + layer.update().detach()
        elif hasattr(layer, "codes"):
            found[path + "weight"] = layer.weight().detach()
        else:
            for name, p in layer.named_parameters(recurse=False):
                found[path + name] = p.data.clone()
            for name, part in layer.named_children():
                walk(part, f"{path}{name}.")

    walk(model, "")
    return found

== Repaired | frozen and copied
class Repaired(Broken):
    def trained(self):
        kept = {}
        for name, p in self.model.named_parameters():
            if name.split(".")[-1] in ("A", "B"):
                kept[name] = p
        return kept

    def step(self, read, targets):
        loss = super().loss(read, targets)
        loss.backward()
        self.optimizer.step()
        for p in self.model.parameters():
            p.grad = None
        return float(loss)

    def train(self, batches, held_out):
        losses, states = [], []
        for read, targets in batches:
            self.step(read, targets)
            with torch.no_grad():
                losses.append(float(self.loss(*held_out)))
            states.append({n: p.data.clone() for n, p in self.trained().items()})
        self.model.load_state_dict(states[losses.index(min(losses))], strict=False)
        return min(losses)

== Repaired | a deep copy
class Repaired(Broken):
    def trained(self):
        return {n: p for n, p in super().trained().items() if n[-2:] in (".A", ".B")}

    def step(self, read, targets):
        self.model.zero_grad()
        return super().step(read, targets)

    def train(self, batches, held_out):
        import copy

        lowest, best = math.inf, None
        for batch in batches:
            self.step(*batch)
            with torch.no_grad():
                now = self.loss(*held_out).item()
            if now < lowest:
                lowest, best = now, copy.deepcopy(self.model.state_dict())
        self.model.load_state_dict(best)
        return lowest

== plan | the upper half alone
def plan():
    rank, rows, steps = 4, 8, 96
    thin = 2 * rank * (6 * 128 + 2 * 128 + 2 * (128 + 512))
    token = (2 * 2 + 4 * 2) * 196_608 + 4 * 262_144 + 6 * thin
    return {
        **{"bits": 4, "rank": rank, "first": 2, "rows": rows, "steps": steps, "rate": 0.003},
        "MB": (4 * 196_608 * 4.5 / 8 + 16 * thin) / 1e6,
        "GFLOPs": token * 32 * rows * steps / 1e9,
    }

== plan | numbers alone
def plan():
    return {
        **{"bits": 4, "rank": 1, "first": 0, "rows": 16, "steps": 40, "rate": 0.01},
        **{"MB": 0.59, "GFLOPs": 87.0},
    }
""")
