"""What notebook 04 claims: see staff/notebooks/claims.py."""

# %% c012
Z = torch.randn(27, 27, dtype=torch.double).requires_grad_()
F.cross_entropy(Z[ids[:500]], ids[1:501]).backward()
assert torch.allclose(gradient(Z.detach(), ids[:500], ids[1:501]), Z.grad)

# %% c013 trained
assert 0.001 < excess(Z_sgd) < 0.009

# %% d002
E = torch.tensor([[2.0]]).double().requires_grad_()
U = torch.tensor([[1.0, 0.0, -1.0]]).double().requires_grad_()
pencil = factored_loss(E, U, torch.tensor([0]), torch.tensor([1]))
assert abs(float(pencil) - 2.14) < 0.005
p = (E @ U).detach().softmax(1)[0]
assert torch.allclose(p, torch.tensor([0.87, 0.12, 0.02]).double(), atol=0.005)
delta = p - torch.tensor([0.0, 1.0, 0.0])
dE, dU = torch.autograd.grad(pencil, (E, U))
assert torch.allclose(dE, (delta @ U.detach().T)[None]) and torch.allclose(dU, 2 * delta[None])

# %% d008 trained
assert all(0.4 < excess(E @ U) / no_memory < 0.6 for E, U in planes)
assert all(set("IU") <= set(three) for three in near_to["A"])
assert all("N" in three for three in near_to["E"])
assert max(share[ALPHABET.index(x)] for x in "QX") < 0.002
ends = {x: float(counted[ALPHABET.index(x), 0]) for x in ALPHABET}
assert min(ends["E"], ends["N"]) > 3 * max(ends[x] for x in "AIU")

# %% d013
whole = decayed[0]
assert words_in.sum() == 12144 and V_words == 882 and 0.85 < 2 * 400 / V_words < 0.95
rival = log_probs(
    ModifiedKneserNey(2).fit(
        (words := WordTokenizer.train(corpus.train.lower(), min_count=20)).encode(
            corpus.train.lower()
        ),
        V_words,
    ),
    words.encode("\n".join(tale.text.lower() for tale in corpus.validation_documents[1::2])),
)[1:]
assert abs(-float(rival.mean()) / math.log(2) - per_word["Kneser-Ney"]) < 1e-4
early = 0, "stopped early"
for D in (50, 100, 400):  # the circles
    assert saving((D, early[1]), early)[0] > saving(decayed[D], whole)[0] + 0.02
assert sum(saving(early, "Kneser-Ney")) < 0 and sum(saving(whole, "Kneser-Ney")) > 0
assert 0.08 < saving(whole, early)[0] < 0.12 and saving(whole, "Kneser-Ney")[0] < 0.03
for D in (20, 50, 100, 400):
    for other in (whole, "Kneser-Ney"):
        mean, half = saving(decayed[D], other)
        assert mean > 2 * half and mean > 0.03
assert saving(decayed[10], whole)[0] < 0 and as_good == ["50", "100", "400"]
for D, key in decayed.items():  # no strength at the edge of its grid
    grid = sorted(float(name.split()[2]) for name in study if name.startswith(f"sharing {D} "))
    assert len(grid) >= 5 and grid[-1] >= 100 * grid[0]
    assert grid[0] < of_tales[key]["weight decay"] < grid[-1]

# %% c147
assert 3.6 < 1800 * 8 * 64 / len(encoded_bpe["train"]) < 4.4  # "about four times"

# %% d028 trained
from helpers.models import window_lm

assert all(len(rows) == 3 for rows in networks.values())
assert all(lead > half and ahead > 0.6 for lead, half, ahead in leads.values())
some, given = encoded_bpe["test"][:200].view(4, 50), []
for kind in (WindowLM, window_lm.WindowLM):
    twin = kind(bpe.vocab_size, 48, 96, 6).double().eval()
    twin.load_state_dict(net.state_dict())
    given.append(twin(some))
assert float((given[0] - given[1]).abs().max()) < 1e-12
averaging = window_lm.AveragingLM(9, 3, 5, window=4).double().eval()
mean = averaging.embedding.weight[[3, 1, 4, 1]].mean(0)
by_hand = averaging.output(torch.tanh(averaging.hidden(mean)))
for order in ([3, 1, 4, 1], [1, 1, 4, 3]):
    assert torch.allclose(averaging(torch.tensor([order]))[0, -1], by_hand)
assert best_n == 4 and record.validation < of_n[4] - 0.005
for part in ("validation", "test"):
    table_bits = bits_per_byte(log_p[part]["Kneser-Ney"], part)
    of_window = [row[part]["network"] for row in networks["window"]]
    assert table_bits - max(of_window) > 0.005 and table_bits - min(of_window) < 0.03
    assert min(row[part]["network"] for row in networks["averaging"]) > max(of_window) + 0.2
    assert mixed_bits[part] < min(of_window) - 0.03
slower = [study[f"averaging 0 {rate}"]["validation"]["network"] for rate in (0.005, 0.01, 0.04)]
assert min(slower) > of_n[best_n] + 0.2
sizes = {name: rows[0]["parameters"] for name, rows in networks.items()}
assert sizes["window"] == sum(p.numel() for p in net.parameters())
assert abs(sizes["averaging"] / sizes["window"] - 1) < 0.005

# %% d033 trained
of_seeds = [
    {g: row["groups"][g]["gained"] - row["groups"][g]["lost"] for g in GROUPS}
    for row in networks["window"]
]
assert all(row["never"] > 0 and row["20 or more"] > 0 > row["2 to 4"] for row in of_seeds)
assert all(row["2 to 4"] < 2 * min(row["once"], row["5 to 19"]) < 0 for row in of_seeds)
of_three = [study[f"window3 {seed}"]["groups"]["20 or more"] for seed in (0, 1)]
assert all(group["gained"] > group["lost"] for group in of_three)
half = {g: 1.96 * x.std() / math.sqrt(len(x)) for g, x in inside.items()}
assert inside["2 to 4"].mean() < -half["2 to 4"]
assert all(inside[g].mean() > half[g] for g in ("never", "20 or more"))
all_gained, all_lost = sum(gained.values()), sum(lost.values())
assert min(all_gained, all_lost) > 8 * abs(all_gained - all_lost)
of_window = {W: [study[f"{n} {s}"]["validation"]["network"] for s in (0, 1)]
             for W, n in ((3, "window3"), (6, "window"), (12, "window12"))}  # fmt: skip
assert min(of_window[12]) > max(of_window[6]) + 0.01
assert abs(np.mean(of_window[3]) - np.mean(of_window[6])) < 0.004
eighth = [study[f"eighth {seed}"] for seed in range(3)]
for row in eighth:  # the quiz: it falls behind, where on the whole text it is ahead
    assert row["validation"]["network"] > min(row["Kneser-Ney"].values()) + 0.05

# %% d043 trained
rows = {w: nearest(of_window, whole.index(spelled.index(f" {w}")), 6) for w in ("he", "could")}
rows = {w: {spelled[whole[i]].strip().lower() for i in near} for w, near in rows.items()}
assert rows["he"] & {"she", "they", "i", "it", "we"}
assert rows["could"] & {"would", "can", "might", "should", "will", "did", "must"}

# %% d048
near = {word: [w for w, _ in row] for word, row in in_glove["near"].items()}
assert "boats" in near["boat"] and {"tower", "harbour"} <= set(near["lighthouse"])
assert not set(near["saw"]) & {"hammer", "axe", "saws", "knife", "blade", "chisel"}
sums = in_glove["sums"]
assert sums["king - man + woman"][:2] == ["king", "queen"]
assert sums["better - good + bad"][:2] == ["bad", "worse"]
assert sums["paris - france + italy"][0] == "rome"
assert 0 < in_glove["random"][0] < 0.1
