"""What the further notebook 12, published weights, claims: see staff/notebooks/claims.py."""

# %% c12b0001
from helpers.pretrained import gpt2_weights

assert difference < 2e-5 < 0.1 < off and outcome == "wrong"
slips_made = with_slip(other_epsilon), with_slip(exact_gelu)
assert min(off_by for off_by, _ in slips_made) > 100 * difference
assert max(off_by for off_by, _ in slips_made) < 0.02 * known["logits"].std()
assert min(same for _, same in slips_made) > 0.9
with torch.no_grad():
    reference = gpt2_weights.load_gpt2(tiny)(known["tokens"])
    assert (reference - my_logits).abs().max() < 2e-5
place = dict(published)  # a fault in the second block alone is first seen behind it
place["h.1.attn.c_proj.weight"] = published["h.1.attn.c_proj.weight"].T
behind = []
for model in (read_gpt2(published, settings), read_gpt2(place, settings)):
    x = model.embedding(known["tokens"]) + model.positions.weight[: known["tokens"].shape[1]]
    behind.append([x := block(x, causal=True) for block in model.blocks])
away = [(a - b).abs().max().item() for a, b in zip(*behind)]
assert away[0] == 0 and away[1] > 0.1
names = names_of(settings["n_layer"])
masks = {f"h.{layer}.attn.bias" for layer in range(settings["n_layer"])}
assert set(published) - set(names) == masks
