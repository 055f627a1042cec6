"""What further/14_names claims: see staff/notebooks/claims.py."""

# %% n106
assert names_head[0] == config.n_layers - 1
assert (without_it > 0).float().mean() < (with_all > 0).float().mean() - 0.15
assert mean_and_error(change)[0] + mean_and_error(change)[1] < -1
others = of_names.flatten().sort().values
assert others[0] < 2 * others[1] < 0
assert of_stories[names_head] < 0.6 * of_stories.max()

# %% n206
places = [divmod(int(s.argmax()), config.n_heads) for s in (on_names, on_right, copied_names)]
assert set(places) == {names_head}
assert copied_names[names_head] > 0.7 and on_right[names_head] < 0.7 * on_names[names_head]

# %% n310 trained
assert whole_control < 0.2 and reader[1].min() > 0.4 and reader[0].max() < 0.3
assert note_taker[0].max() > 0.2 and max(single[0, 0], single[0, 1]) > 2
assert both > 2 and max(single[1, 0], single[1, 1]) < 0.5 * both
assert both > 2 * (single[1, 0] + single[1, 1])
assert both + whole_control > math.log(32)
assert note_taker[0].max() > 2.5 * heads.previous_score(uniform(33))
assert max(single[0, 0], single[0, 1]) > max(single[1, 0], single[1, 1])

# %% n312
assert abs(candidates["induction"][0].max() - candidates["induction"][1]) < 0.005
assert candidates["induction"][0].max() < 0.1 < 0.3 < candidates["previous token"][0].max()
assert candidates["attention sink"][0].max() < 0.3

# %% n406
unread, plain = curve["held-out stories"], curve["GPT, temperature 1"]
six, eight = LENGTHS.index(6), LENGTHS.index(8)
assert curve["unsmoothed, n = 8"][six] > unread[six] + 20
assert plain[six] < unread[six] + 2 and plain[LENGTHS.index(4)] < unread[LENGTHS.index(4)] + 5
assert curve["GPT, temperature 0.5"][LENGTHS.index(4)] > unread[LENGTHS.index(4)] + 5
assert abs(curve["GPT, temperature 0.5"][eight] - unread[eight]) < 1

# %% n408
assert 0.9 < named_ivy / grandmothers < 0.99
names_there = set(re.findall(r"Grandmother ([A-Z]\w+)", corpus.train))
assert names_there == {"Ivy", "Is", "Did"}  # in titles: *What Grandmother Did*
assert likeliest_name == "Ivy" and how_sure > 0.9
