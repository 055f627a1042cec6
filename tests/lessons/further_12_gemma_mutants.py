"""Other right answers to the further notebook, and wrong ones that no slip describes."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants('''
== MyGemma
without its scale, which section 9 changes | Leave self.scale
-        self.scale = math.sqrt(c.d_model)
         local, to_all = (c.window, c.local_base), (c.max_length, c.global_base)
         self.blocks = nn.ModuleList(
             block(c, *(local if i % c.global_every else to_all)) for i in range(1, c.n_layers + 1)
         )

     def forward(self, tokens):
         """(B, T) -> (B, T, V)."""
-        x = self.embedding(tokens) * self.scale
+        x = self.embedding(tokens) * self.norm.weight.numel() ** 0.5
''')

REWRITES = rewrites("""
== count_parameters | matrix by matrix
def count_parameters(V, D, L, H, G, K, hidden):
    total = V * D + D
    for _ in range(L):
        for rows, columns in ((H * K, D), (G * K, D), (G * K, D), (D, H * K)):
            total += rows * columns
        total += 3 * hidden * D + 4 * D + K + K
    return total

== cache_bytes | layer by layer
def cache_bytes(n_tokens, n_global, n_local, G, K, W):
    total = 0
    for _ in range(n_global):
        total += 4 * G * K * n_tokens
    for _ in range(n_local):
        total += 4 * G * K * (W if n_tokens > W else n_tokens)
    return total

== Attention | group by group, with PyTorch's attention
class Attention(nn.Module):
    def __init__(self, c, window, base):
        super().__init__()
        D, K = c.d_model, c.d_head
        self.query = nn.Linear(D, c.n_heads * K, bias=False)
        self.key = nn.Linear(D, c.n_kv_heads * K, bias=False)
        self.value = nn.Linear(D, c.n_kv_heads * K, bias=False)
        self.output = nn.Linear(c.n_heads * K, D, bias=False)
        self.query_norm, self.key_norm = RMSNorm(K), RMSNorm(K)
        self.d_head, self.window, self.rotary = K, window, RotaryPositions(K, base)

    def forward(self, x):
        B, T, _ = x.shape
        q = self.query(x).view(B, T, -1, self.d_head).transpose(1, 2)
        k = self.key(x).view(B, T, -1, self.d_head).transpose(1, 2)
        v = self.value(x).view(B, T, -1, self.d_head).transpose(1, 2)
        q, k = self.rotary.rotate(self.query_norm(q)), self.rotary.rotate(self.key_norm(k))
        mask = torch.ones(T, T, dtype=torch.bool).tril().triu(1 - self.window)
        n = q.shape[1] // k.shape[1]
        heads = [
            F.scaled_dot_product_attention(q[:, h], k[:, h // n], v[:, h // n], attn_mask=mask)
            for h in range(q.shape[1])
        ]
        return self.output(torch.cat(heads, -1))

== MyGemma | a loop, and a linear layer of PyTorch
class MyGemma(nn.Module):
    def __init__(self, c, block):
        super().__init__()
        self.embedding, self.norm = nn.Embedding(c.vocab_size, c.d_model), RMSNorm(c.d_model)
        self.scale = c.d_model**0.5
        self.blocks = nn.ModuleList()
        for i in range(c.n_layers):
            if (i + 1) % c.global_every == 0:
                self.blocks.append(block(c, c.max_length, c.global_base))
            else:
                self.blocks.append(block(c, c.window, c.local_base))

    def forward(self, tokens):
        x = self.embedding(tokens) * self.scale
        for block in self.blocks:
            x = block(x)
        return F.linear(self.norm(x), self.embedding.weight)
""")
