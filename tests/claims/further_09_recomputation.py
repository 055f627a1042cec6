"""What the further notebook 09, attention in training, claims: see staff/notebooks/claims.py."""

# %% c097
for T in (128, 512, 2048):
    Q, K, V = torch.randn(3, T, 16).unbind()
    assert largest_tensor(partial(plain_attend, Q, K, V)) == T * T
    assert largest_tensor(partial(attend_by_blocks, Q, K, V, 64)) == max(64 * 64, 16 * T)

# %% c099a
plain_kept, blocks_kept, again_kept = in_training.values()
assert blocks_kept[0] > 2 * plain_kept[0] > 2 * 1024**2 and again_kept[0] == 3 * 1024 * 16
assert blocks_kept[1] == plain_kept[1] and 3 * again_kept[1] == 4 * plain_kept[1]
for found in gradients.values():
    for a, b in zip(found, gradients["plain"]):
        assert (a - b).abs().max() < 1e-10

# %% c099d
table_of_layers = {T: timed["layers"][T]["attention, table"] for T in timed["layers"]}
blocks_of_layers = {T: timed["layers"][T]["attention, blocks of 256"] for T in timed["layers"]}
assert timed["layers"]["4096"]["attention, fused"] < 0.7 * table_of_layers["4096"]
assert timed["layers"]["4096"]["attention, fused"] < blocks_of_layers["4096"]
assert blocks_of_layers["4096"] < 0.9 * table_of_layers["4096"]
assert blocks_of_layers["64"] > 0.9 * table_of_layers["64"]
