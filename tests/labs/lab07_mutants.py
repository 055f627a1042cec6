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
a text | trained / 1e6 => str(trained / 1e6) | no text
trained as if frozen | (L * block + table) + 6 * trained => (L * block + table) + 4 * trained \
    | 6 operations
all are trained | 6 * trained / 2 => 6 * trained | half as many weights
rounded to three digits | token / 1e9 => float(f"{token / 1e9:.3g}") | unrounded

== Packed
a byte for each code | Scale
-        return (u.unflatten(1, (-1, len(shifts))) << shifts).sum(-1), scales
+        return u, scales
half of the codes | (u.unflatten(1, (-1, len(shifts))) => (u.unflatten(1, (len(shifts), -1)).mT \
    | Scale
scales in half precision | .sum(-1), scales => .sum(-1), scales.half() | the type of W
always in double precision | W = W.unflatten => W = W.double().unflatten | the type of W
no scales | scales[..., None]).round() => scales[..., None] * 0 + W).round() | Scale
scales at the wrong place | self.scales[..., None] => self.scales.flip(1)[..., None] | Scale
the old map is changed | W.unflatten(1, (-1, self.group)) \
    => W.mul_(2).div_(4).unflatten(1, (-1, self.group)) | Make a new matrix

== LoRA
reads the weight | self.old(x) => F.linear(x, self.old.weight) | Call old
reads what it knows | not every map has a weight
-        pieces = list(self.old(x).chunk(self.n, -1))
+        W = self.old.weight() if hasattr(self.old, "codes") else self.old.weight
+        pieces = list(F.linear(x, W, getattr(self.old, "bias", None)).chunk(self.n, -1))
added in place | pieces[i] = pieces[i] + self.scale * => pieces[i] += self.scale * | no +=
three dimensions alone | What old gives
-        return torch.cat(pieces, -1)
+        return torch.cat(pieces, 2)
no parameter | self.A = nn.Parameter(torch.randn(P, r, k) / k**0.5) \
    => self.register_buffer("A", torch.randn(P, r, k) / k**0.5) | A and B are parameters
B drawn | torch.zeros(P => torch.ones(P | nothing is changed at first
A zero | torch.randn(P, r, k) / k**0.5 => torch.zeros(P, r, k) | A is drawn
A too large | torch.randn(P, r, k) / k**0.5 => torch.randn(P, r, k) | standard deviation
all parts | P, k = len(self.chosen) => P, k = self.n | number of parts that are True
the product in forward | x @ A.T first
-            pieces[i] = pieces[i] + self.scale * (x @ A.T @ B.T)
+            pieces[i] = pieces[i] + self.scale * (x @ (B @ A).T)
update without its factor | = self.scale * self.B @ self.A => = self.B @ self.A | here, too
update in the first rows | update[self.chosen] => update[: len(self.A)] | a merge
cut off below | not cut off
-        pieces = list(self.old(x).chunk(self.n, -1))
+        with torch.no_grad():
+            pieces = list(self.old(x).chunk(self.n, -1))
the update cut off | x @ A.T @ B.T => x.detach() @ A.T @ B.T | not cut off
a constant update | x @ A.T @ B.T => x @ A.T.detach() @ B.T.detach() | no constant

== plain_state
packed within LoRA alone | a packed map without LoRA
-        if hasattr(layer, "codes"):
+        if hasattr(layer, "codes") and path.endswith(".old"):
each tensor once | belong to the state
             for own, p in layer.named_parameters(name, recurse=False):
-                state[own] = p.detach().clone()
+                if path.endswith(".old") or own in dict(model.named_parameters()):
+                    state[own] = p.detach().clone()
no copies | p.detach().clone() => p.detach() | The numbers are copied
the copy has a gradient | p.detach().clone() => p.clone() | detach()
old in the names | named_parameters(name, recurse=False) => named_parameters(path, recurse=False) \
    | has no .old
A and B as well | elif not hasattr(layer, "update"): => else: | no place
by its class | elif not hasattr(layer, "update"): => elif not isinstance(layer, LoRA): | hasattr

== Repaired
the base moves | names = (".A", ".B") => names = (".A", ".B", ".weight", ".bias") | it was
gradients of before | self.optimizer.zero_grad() => | batch's loss alone
the last is kept | p.detach().clone() for name => p for name | has handed back
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
what requires a gradient | n.endswith(names) => p.requires_grad | by names
by its class | by names
-        return {n: p for n, p in self.model.named_parameters() if n.endswith(names)}
+        layers = {n: m for n, m in self.model.named_modules() if isinstance(m, LoRA)}
+        return {f"{n}.{k}": getattr(m, k) for n, m in layers.items() for k in "AB"}
gradients are clipped | batch's loss alone
         loss.backward()
+        nn.utils.clip_grad_norm_(self.model.parameters(), 0.01)
         self.optimizer.step()
the loss after the step | return loss.item() => return self.loss(read, targets).item() \
    | before the optimizer's step
another number comes back | return lowest => return now | has handed back
the first is kept | if now < lowest: => if best is None: | something else has changed
a tensor | return loss.item() => return loss | loss.item()
no number | return lowest => return best | a number

== plan
too much memory | "bits": 4 => "bits": 8 | take less
too many operations | "rows": 8 => "rows": 16 | rows times steps
two bits | "bits": 4 => "bits": 2 | What two bits have spoiled
three bits | "bits": 4 => "bits": 3 | one of 2, 4, 8
few large batches | "rows": 8, "steps": 80 => "rows": 32, "steps": 20 | too few steps
AdamW's usual rate | 0.0025 => 0.001 | The rate is too small
too few steps | "steps": 80 => "steps": 20 | too little
goes astray | 0.0025 => 0.05 | The rate
forgets | 0.0025 => 0.01 | A smaller rate
a text | 0.0025 => "0.003" | above 0
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
            ("trained", "GB", "GFLOPs", "upper half"),
            (
                2 * half * per_block / 10**6,
                (2 * half * (bytes_of + 16 * per_block) + 4 * head) / 10**9,
                whole / 10**9,
                torch.tensor((6 * lower + 4 * head + 6 * half * per_block) / 1e9),
            ),
        )
    )

== by_hand | rounded to six digits
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
    }
    return {name: float(f"{value:.6g}") for name, value in found.items()}

== Packed | by powers
class Packed(nn.Module):
    def __init__(self, linear, bits, group):
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.bits, self.group, self.m = bits, group, 2 ** (bits - 1) - 1
        codes, scales = self.pack(linear.weight.detach())
        self.register_buffer("codes", codes.to(torch.uint8))
        self.register_buffer("scales", scales)

    def forward(self, x):
        return F.linear(x, self.weight())

    def pack(self, W):
        W = W.reshape(len(W), -1, self.group)
        s = W.abs().max(dim=-1, keepdim=True).values / self.m
        s[s == 0] = 1.0
        u = (torch.round(W / s) + self.m).reshape(len(W), -1, 8 // self.bits)
        powers = torch.tensor([2.0**i for i in range(0, 8, self.bits)], dtype=u.dtype)
        return u @ powers, s.squeeze(-1)

    def weight(self):
        u, rest = [], self.codes.long()
        for _ in range(8 // self.bits):
            u.append(rest % 2**self.bits)
            rest = rest // 2**self.bits
        q = torch.stack(u, -1).reshape(self.out_features, -1) - self.m
        return q * self.scales.repeat_interleave(self.group, dim=1)

== Packed | code by code
class Packed(nn.Module):
    def __init__(self, linear, bits, group):
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.bits, self.group, self.m = bits, group, 2 ** (bits - 1) - 1
        codes, scales = self.pack(linear.weight.detach())
        self.register_buffer("codes", codes.to(torch.uint8))
        self.register_buffer("scales", scales)

    def forward(self, x):
        return F.linear(x, self.weight())

    def pack(self, W):
        n = 8 // self.bits
        W = W.view(len(W), -1, self.group)
        scales = W.abs().amax(2) / self.m
        scales[scales == 0] = 1
        u = (W / scales.unsqueeze(2)).round().int().view(len(W), -1) + self.m
        codes = u[:, 0::n].clone()
        for i in range(1, n):
            codes |= u[:, i::n] << self.bits * i
        return codes.to(torch.uint8), scales

    def weight(self):
        n, codes = 8 // self.bits, self.codes.int()
        u = codes.new_zeros(self.out_features, self.in_features)
        for i in range(n):
            u[:, i::n] = (codes >> self.bits * i) & (2 * self.m + 1)
        W = (u - self.m).view(self.out_features, -1, self.group) * self.scales[:, :, None]
        return W.view(self.out_features, -1)

== Packed | in loops
class Packed(nn.Module):
    def __init__(self, linear, bits, group):
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.bits, self.group, self.m = bits, group, 2 ** (bits - 1) - 1
        codes, scales = self.pack(linear.weight.detach())
        self.register_buffer("codes", codes.to(torch.uint8))
        self.register_buffer("scales", scales)

    def forward(self, x):
        return F.linear(x, self.weight())

    def pack(self, W):
        O, I = W.shape
        n = 8 // self.bits
        scales, codes = torch.ones(O, I // self.group), torch.zeros(O, I // n).long()
        for i in range(0, I, self.group):
            largest = W[:, i : i + self.group].abs().amax(1)
            scales[largest > 0, i // self.group] = largest[largest > 0] / self.m
        for i in range(I):
            q = (W[:, i] / scales[:, i // self.group]).round().long()
            codes[:, i // n] += (q + self.m) * 2 ** (self.bits * (i % n))
        return codes, scales

    def weight(self):
        n, W = 8 // self.bits, torch.zeros(self.out_features, self.in_features)
        for i in range(self.in_features):
            u = self.codes[:, i // n].long() // 2 ** (self.bits * (i % n)) % 2**self.bits
            W[:, i] = (u - self.m) * self.scales[:, i // self.group]
        return W

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

== plan | smaller batches
def plan():
    return dict(bits=4, rank=2, first=0, rows=4, steps=160, rate=1.5e-3)

== plan | a lower rate
def plan():
    return {**dict(bits=4, rank=2, first=0), **dict(rows=8, steps=80, rate=0.002)}
""")
