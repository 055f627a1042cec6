"""What the further notebook 17, who forgets less, claims: see staff/notebooks/claims.py."""

# %% c006
import copy

from helpers.models.adapters import add_adapters, add_lora, trained

_lora, _narrow = copy.deepcopy(base), copy.deepcopy(base)
add_lora(_lora, r, 16, ("query", "key", "value", "output", "up", "down"))
add_adapters(_narrow, m)
assert ways["LoRA"] == sum(w.numel() for _, w in trained(_lora))
assert ways["adapters"] == sum(w.numel() for _, w in trained(_narrow))
assert 0.97 < ways["adapters"] / ways["LoRA"] < 1.03 and 3 < ways["output"] / ways["LoRA"] < 4
assert settings["rank"] == r and settings["width"] == m

# %% c010
of = {way: runs("methods", method=way) for way in ways}
assert all(len(rows) == 3 for rows in of.values())
start = values([untaught], "question, gained")[0]
low, high = ({w: f(values(of[w], "question, gained")) for w in ways} for f in (min, max))
assert low["full"] > high["LoRA"] + 1 > low["LoRA"] > high["adapters"] + 1
assert abs(high["output"] - start) < 0.3 and 1.8 < low["adapters"] / start < 2.2
assert 5.5 < taught < 6 and np.mean(values(of["LoRA"], "question, gained")) > 4
whole = runs("exchanges", method="full")
assert min(values(whole, "paragraph")) > 1.9 and min(values(whole, "question")) > 3
assert all(np.mean(values(rows, "word, gained")) < 2 for rows in of.values())
old = {way: values(of[way], "stories") for way in ways}
assert min(old["adapters"]) > max(old["full"]) > min(old["full"]) > max(old["LoRA"]) + 0.03

# %% c012
judged = [values(runs("methods", method=way), "statement") for way in ways]
bayes = min(values(runs("naive Bayes"), "statement"))
assert all(0.36 < min(found) < max(found) < bayes - 0.04 for found in judged)

# %% c017
assert step_products([(10, False), (20, True), (30, False), (50, True)]) == 260
assert step_products([(n, True) for n in (10, 20, 30, 50)]) == 320
for way, number in units.items():
    assert abs(number / units["full"] - settings["cost"][way]) < 0.03
assert 0.7 < units["LoRA"] / units["full"] < 0.78

# %% c094q
low_rate = three_rates("full")[0]
lora_lost = values(runs("methods", method="LoRA"), "stories")
assert max(values(low_rate, "stories")) < min(lora_lost) - 0.02
assert abs(point(low_rate)[1] - point(runs("methods", method="LoRA"))[1]) < 0.2
full_curve = np.array([point(rows) for rows in three_rates("full")[:2]]).T
wider, longer = runs("ranks", rank=32, power=1), runs("equal cost", method="LoRA")
for rows, key in ((wider, "both"), (longer, "question, gained")):
    lost_here, worth_here = point(rows, key)
    assert abs(worth_here - np.interp(lost_here, *full_curve)) < 0.6
assert point(three_rates("adapters")[2])[0] > 0.6
lost_by = [point(runs("methods", method=way))[0] for way in ways]
for way in ways:
    plain, again = runs("methods", method=way), runs("replay", method=way)
    assert len(again) == 3 and point(plain)[0] - point(again)[0] > max(lost_by) - min(lost_by)
    assert point(again)[1] > point(plain)[1] - 0.5
