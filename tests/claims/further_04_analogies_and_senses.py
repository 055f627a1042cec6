"""What the further notebook 04_analogies_and_senses claims: see staff/notebooks/claims.py."""

# %% d205
rows = {relation: {how: 100 * row[how] for how in HOW} for relation, row in shares.items()}
assert 45 < 100 * overall["b - a + c"] < 55 and 27 < 100 * overall["nothing left out"] < 38
for relation in ("nationality-adjective", "capital-world", "capital-common-countries"):
    assert rows[relation]["b - a + c"] > 65 > 25 > rows[relation]["c alone"]
participle, plural = rows["present-participle"], rows["plural"]
assert abs(participle["b - a + c"] - participle["c alone"]) < 5 and participle["b - a + c"] > 40
assert 5 < plural["b - a + c"] - plural["c alone"] < 30
assert max(max(rows[r].values()) for r in ("opposite", "adjective-to-adverb")) < 20

# %% d207
assert asked["doctor"] == "nurse"
assert asked["jobs"]["captain"] < -0.25 < 0.25 < asked["jobs"]["nurse"]
assert abs(asked["jobs"]["doctor"]) < 0.12

# %% d209
assert len(of_tales) == 5
assert right["gender", "c alone, first"] > right["gender", "sum, first"] - 5 > 25
assert right["past", "c alone, first"] < 2 and 10 < right["past", "sum, first"] < 25
assert right["past", "sum, of ten"] > 2 * right["past", "sum, first"]
assert sum(right[r, "sum, first"] < 50 for r in word_relations()) >= 4

# %% d212
alike = {(x, y): cosine for x, y, cosine in asked["alike"]}
assert alike["saw", "came"] > 0.8 > 0.5 > max(alike["saw", "hammer"], alike["saw", "axe"])
assert alike["can", "may"] > 0.7 > 0.5 > alike["can", "bottle"]
assert tools < 15 < times

# %% d217
mixed_second, control = (over_seeds[line].mean(0) for line in LINES[1:])
majority = over_seeds["mixed, first"].mean(0)
assert len(sense_runs) == 3
assert all(control - mixed_second > 0.1) and control[0] - control[3] > 0.2
assert min(majority[0], mixed_second[0]) > 0.4 and majority[3] > majority[0] + 0.1
assert mixed_second[2:].max() < 0.3 and control[2:].min() > 0.3
assert abs(control[2] - 0.6) < 0.1

# %% d219 trained
assert all(explained[n][2] > 0.6 for n in SHARES)
assert explained[40][2] > explained[40][3] + 0.2
assert all(explained[n][2] < explained[n][3] + 0.1 for n in (10, 4))
assert explained[40][1] > explained[20][1] > explained[10][1]
