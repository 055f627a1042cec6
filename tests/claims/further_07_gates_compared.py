"""What the further notebook 07, gates compared, claims: see staff/notebooks/claims.py."""

# %% c089
inside = {k: [row["right"][:30].count("1") for row in v.values()] for k, v in counted.items()}
assert min(inside["LSTM"] + inside["GRU"]) == 30 and sorted(inside["Elman, tanh"])[3] < 20
assert 25 < min(inside["Elman, ReLU"]) <= max(inside["Elman, ReLU"]) < 30
assert np.median(reach["GRU"]) > np.median(reach["LSTM"]) > 30 and max(reach["GRU"]) < 50
assert sorted(reach["LSTM"])[3] >= 60 and sorted(reach["LSTM"])[2] < min(reach["GRU"])
assert max(reach["Elman, tanh"]) <= 30 and max(reach["Elman, ReLU"]) < 40

# %% c091
slopes = {k: [(u[59] - u[29]) / (u[29] - u[0]) * 29 / 30 for u in v] for k, v in units.items()}
assert min(slopes["LSTM"]) > 0.9 and max(slopes["LSTM"]) < 1.1
assert min(slopes["Elman, ReLU"]) > 0.8
assert max(slopes["GRU"]) < 0.8 and max(slopes["Elman, tanh"]) < 0.3
to_come = [[(u[59] - u[t]) / np.ptp(u) for t in (29, 35)] for u in units["Elman, tanh"]]
assert 0.15 < to_come[2][0] < 0.25 and abs(to_come[2][1]) < 0.02
assert max(abs(before) for seed, (before, _) in enumerate(to_come) if seed != 2) < 0.08

# %% c091b
assert [error < 1 for error in errors] == [right >= 60 for right in reach["LSTM"]]
assert sum(error < 1 for error in errors) == 2 and sorted(errors)[2] > 12

# %% c104 trained
assert max(writer_bits) < 2.4
assert by_chance == 0 and (gates.mean(dim=0) > 0.95).any()
assert sorted_means[16] < 0.75 and sorted_means[96] > 0.9
for found in counts:
    letters = [found[c] for c in "etaoinshr"]
    assert min(found[" "], found["\n"]) > np.median(letters) and found["a"] > 2

# %% c119
gated = ("gated", "GRU", "LSTM", "LSTM, bias 1")
assert all(23 < shares(name, "Elman")[0] < 77 for name in gated)
assert all(shares(name, "Elman")[1] <= 23 for name in gated)
assert max(shares(name, "Elman")[1] for name in gated[2:]) < 10
assert min(shares("Elman, wide", "Elman")) > 90
assert all(max(shares(name, "Elman, wide")) < 23 for name in gated if name != "GRU")
assert shares("GRU", "Elman, wide")[1] < 23 < shares("GRU", "Elman, wide")[0] < 50
assert all(40 < share < 60 for share in shares("LSTM, bias 1", "LSTM"))
for name in NETWORKS:
    tried = sorted({row["rate"] for row in parentheses["tuning"] if row["network"] == name})
    assert tried[0] < parentheses["rates"][name] < tried[-1]
    assert all(len(errors[name]) == 10 for errors in honest.values())

# %% c124
for name in WRITERS:
    tried = {r["rate"]: r["validation"] for r in texts[name] if r["seed"] == 1000}
    assert min(tried) < min(tried, key=tried.get) < max(tried) and len(tested[name]) == 3
lstms = tested["LSTM"] + tested["LSTM, bias 1"]
assert min(min(tested[name]) for name in WRITERS[:3]) - max(lstms) > 0.09
assert min(max(bits) - min(bits) for bits in tested.values()) > 0.005
assert max(max(bits) - min(bits) for bits in tested.values()) < 0.075
assert min(tested["LSTM, bias 1"]) > max(tested["LSTM"])
assert 0.025 < medians["LSTM, bias 1"] - medians["LSTM"] < 0.035
assert speed["Kneser-Ney, n = 5"]["test"] < min(lstms)
assert max(lstms) < speed["Kneser-Ney, n = 4"]["test"]
assert speed["LSTM"]["milliseconds"] < 1.1 * speed["Elman"]["milliseconds"]
assert speed["LSTM"]["weights"] == 4 * speed["Elman"]["weights"]
assert max(speed[name]["steps"] for name in ("Elman, wide", "GRU")) < speed["LSTM"]["steps"] / 2
lead = np.mean(tested["Elman"]) - np.mean(tested["LSTM"])
assert round(lead, 2) == 0.14 and abs(gaps.mean()) < 0.005 and 0.065 < margin < 0.075
assert (lead - gaps.mean() - margin) / lead > 0.4
assert 0.025 < np.median(equal["GRU"]) - medians["LSTM"] < 0.035
assert abs(np.median(equal["Elman, wide"]) - medians["LSTM"]) < 0.02
assert 2.3 < kernels["LSTM", False] / kernels["LSTM", True] < 2.7
assert all(kernels[k, False] < 1.1 * kernels[k, True] for k in ("Elman", "GRU"))
