"""What the further notebook 16, prefixes, claims: see staff/notebooks/claims.py."""

# %% c105d
good = [
    *percent(separate, "to-English: French", ENGLISH),
    *percent(separate, "to-French: English", FRENCH),
]
assert len(separate) == 3 and min(good) > 65
assert max(copies) < 2 and max(translations) < 25 and np.mean(translations) < 10
ignored = percent(separate, "to-English: English", FRENCH)
assert max(percent(separate, "to-English: English", ENGLISH)) < 2 and max(ignored) < 50
assert np.mean(ignored) > np.mean(translations) and max(ignored) - min(ignored) > 20
for kind in ("French", "English"):
    assert min(percent(separate, f"restore: {kind}", "between marks")) > 80
for name in ("to-French: French", "to-English: English"):
    texts = stored_texts(separate, name)
    assert len(texts) == 18 and sum(map(is_sentence, texts)) < 9

# %% c105g trained
assert obeyed.min() > 40 and obeyed[1, 0] > 75

# %% c105ia
assert all(len(tests) == 3 for tests in mixes.values())
copied, right = [], []  # means of each mixture: what is to be copied, what is to be translated
for tests in mixes.values():
    same = [("to-English: English", ENGLISH), ("to-French: French", FRENCH)]
    other = [("to-English: French", ENGLISH), ("to-French: English", FRENCH)]
    copied.append([np.mean(percent(tests, *which)) for which in same])
    right.append([np.mean(percent(tests, *which)) for which in other])
none, few_of, some_of, half = copied
assert max(none + few_of) < 3 and 40 < min(some_of) < max(some_of) < 70 and min(half) > 85
assert min(np.array(right[0]) - np.array(right[3])) > 5
for name, known in (
    ("to-French: French", grammar.french_words),
    ("to-English: English", grammar.english_words),
):
    none, few_of = (
        sum(set(text.split()) <= set(known) for text in stored_texts(mixes[mix], name))
        for mix in ("no copies", "1 % of copies")
    )
    assert none < 9 and few_of > 14
