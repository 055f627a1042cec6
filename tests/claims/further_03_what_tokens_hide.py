"""What the further notebook on what tokens hide claims: see staff/notebooks/claims.py."""

# %% c093
shares = [100 * right.mean() for right, _ in letters.values()]
assert shares == sorted(shares, reverse=True) and shares[0] > 99.5 and shares[-1] < 90
right, single = letters[4096]
assert 0.4 < one.mean() < 0.5 and len(new) == 1000
assert one[single].mean() < right[single].mean() < one[single].mean() + 0.2 < right.mean()

# %% c100
by_tokens, by_digits = ({n: both[k][0] for n, both in exactly.items()} for k in (0, 1))
assert by_tokens["single digits"] == 100 and by_tokens["threes from the right"] > 97
assert by_tokens["BPE on numbers"] < 2 and by_tokens["threes from the left"] < 2
assert min(by_digits.values()) > 80
assert CUTS["threes from the left"]("64130")[0] == CUTS["threes from the left"]("6412")[0]
of_four = [CUTS["BPE on numbers"](n) for n in ("14130", "14131", "6412", "64130")]
assert of_four[:2] == [["14", "13", "0"], ["141", "31"]]
assert of_four[2:] == [["6", "41", "2"], ["6", "41", "30"]]

# %% c121a
assert 20 <= len(steps) <= 26 and "antern" in steps and 180 < len(never) - len(steps) < 200
second, both = more.values()
assert second[0] - second[1] > both[0] + both[1] and both[0] - both[1] > 0
assert 2.5 < second[0] / both[0] < 3.5
assert gpt.output is not None and gpt.output.weight is not gpt.embedding.weight
assert sum(times_seen).item() == len(story_ids) and found > 0.95 * len(never)
some = [lengths[(times_seen >= a) & (times_seen < b)].mean() for a, b in ((1, 4), (4, 30))]
assert some[0] < 0.8 * some[1] < 0.8 * lengths[times_seen >= 30].mean()
assert lengths[never].mean() < 0.5 * lengths[times_seen > 0].mean()
