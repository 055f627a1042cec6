"""What the further notebook on the inside of a network claims: see staff/notebooks/claims.py."""

# %% c038
assert wrong == 0
assert (read_by_hand(deep) > 0, read_by_hand(deep[:-1]) > 0) == (True, False)
W_xh, W_hh, w_hy, b_y = counting_network()
assert W_xh.numel() + W_hh.numel() + len(w_hy) + 1 == 19

# %% c113 trained
refused, let_through = middle  # each (depths, lengths)
at_40 = TRIED.index(40)
assert steep > flat + 5
assert refused[5, at_40] > 40 and refused[5, at_40] > refused[0, at_40] + 25
assert let_through[2:, at_40].max() < 40 and refused[5, at_40] > 1.5 * let_through[5, at_40]

# %% c114x2 trained
median = {depth: np.median([run[depth] for run in apart["six kinds"]]) for depth in DEPTHS}
assert median[4] > 92 and median[14] < 90 and median[4] > median[14] + 8

# %% c114c trained
rows = missed[::-1]  # level 1 first
assert rows[0, 0] > 1.4 * rows[2, 0] and rows[0, 3] > 1.5 * rows[2, 3]
assert np.nanmean(rows[0]) > 12 and np.nanmean(rows[4:]) < 10
assert np.nanmean(rows[:, 0]) < np.nanmean(rows[:, 3])
assert early[1] > 1.2 * max(early[2], early[3])
of_balanced = six_kinds.tokens[six_kinds.labels == 1]
levels = parentheses.depths(of_balanced)[of_balanced <= 4]
assert 0.2 < float((levels == 1).double().mean()) < 0.3

# %% c117
assert n_stacks(5, 14) < 2**33 and float((deepest > 7).double().mean()) < 0.01

# %% c120 trained
of_six, of_deep = (
    np.median([[run[depth] for depth in DEPTHS] for run in apart[recipe]], 0)
    for recipe in ("six kinds", "deeper")
)
assert abs(of_deep[:5] - of_six[:5]).max() < 12
change = np.mean(grids["deeper"], 0) - np.mean(grids["six kinds"], 0)
assert change[0, 4:, at].mean() < -10 and change[1, 4:, at].mean() > 2

# %% c130 trained
read = {name: np.median(values, 0) for name, values in found.items()}
assert read["untrained"][0] > 35 and abs(read["last symbol"] - 20).max() < 8
assert read["six kinds"][0] > read["untrained"][0] + 8
assert read["six kinds"][0] > read["six kinds"][1] + 8
assert 22 < read["six kinds"][3:].min() <= read["six kinds"][3:].max() < 48
assert read["usual"][0] > read["untrained"][0] + 3
assert 3 < read["six kinds"][0] - read["usual"][0] < 22

# %% c214 trained
plain, bottom, third = used["usual", 1], used["six kinds", 1], used["six kinds", 3]
assert bottom[:, 1].min() > 90 and third[:, 1].min() > 90
assert bottom[:, 3].max() < 55 and bottom[:, 4].min() > 85
assert third[:, 3].max() < 25 and third[:, 4].min() > 85
assert abs(bottom[:, 3] - bottom[:, 2]).max() < 15
assert np.median(bottom[:, 2]) > 2.5 * np.median(third[:, 2])
assert np.median(bottom[:, 0]) > np.median(third[:, 0]) + 3
assert abs(np.median(bottom[:, 6]) - np.median(bottom[:, 2])) < 15
assert plain[:, 1:5].min() > 85 and np.median(plain[:, 0]) > 30
