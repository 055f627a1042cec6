"""What notebook 15 claims: see staff/notebooks/claims.py."""

# %% p024
every = torch.ones_like(sounds, dtype=torch.bool)
assert torch.allclose(fill_gap(a, b, B).log(), watchman.fill(sounds, every), atol=1e-9)
assert abs(known["all before it"] - known["all after it"]) < 0.03
assert 1.8 < known["all before it"] < 1.88 and 1.45 < known["all others"] < 1.53
first = known["frequencies only"] - known["all before it"]
assert 0.45 < (known["all before it"] - known["all others"]) / first < 0.55
left, both = gpt_fills("Wren took the ___ and played a tune.")
assert 0 < both[candidates.index("under")] < left[candidates.index("under")] < 1e-3
tops = [{candidates[i] for i in p.topk(6).indices} for p in (left, both)]
assert len(tops[0] & tops[1]) <= 4 and candidates[both.argmax()] == "fiddle"
study = json.loads((root / "benchmarks/results/encoder_source_study.json").read_text())
assert np.allclose(study["transitions"], A, atol=1e-7)
assert np.allclose(study["emissions"], B, atol=1e-7)

# %% p035 trained
assert np.mean(curves["looks both ways"][-10:]) < 0.05
assert abs(np.mean(curves["looks back only"][-10:]) - next_floor) < 0.12
assert 1.855 < next_floor < 1.885 and (sees @ sees > 0).all()

# %% p058
from helpers.data.masking import mask_tokens as reference_masking

for share, wanted in zip(shares.values(), (12, 1.5, 1.5, 85), strict=True):
    assert abs(share - wanted) < 0.2
theirs = reference_masking(
    tokens, mask=30_000, vocab_size=30_001, generator=torch.Generator().manual_seed(1)
)
for ours, other in zip((inputs, targets), theirs, strict=True):
    assert abs(float((ours == tokens).double().mean() - (other == tokens).double().mean())) < 0.003
assert abs(float((theirs[0] == 30_000).double().mean()) - 0.12) < 0.002

# %% p078 trained
from unittest import mock

reference = F.cross_entropy
logits, targets = torch.randn(4, 6, 7), torch.randint(7, (4, 6))
targets[:, ::2] = -100
wanted = reference(logits.flatten(0, 1), targets.flatten())
assert torch.allclose(masked_loss(logits, targets), wanted)
spoiled_B = 0.983 * B + 0.017 / 6  # of the visible sounds so many are random in training
with mock.patch.dict(messages.__globals__, B=spoiled_B):
    allowing = fill_gap(*messages(sounds), B)
assert 0 < bits(allowing, sounds) - known["all others"] < 0.003
left = known["all before it"] - known["all others"]
by_frequency = known["frequencies only"] - known["all others"]
for curve in gap_curves:
    assert 0.03 < curve[500] < left - 0.1
    assert all(abs(curve[step] - by_frequency) < 0.15 for step in (20, 30))

# %% p090b trained
assert len(kinds) == 6 and all(len(of_kind(kind, "probe")) == 3 for kind in kinds)
own = limits["place, own sound"]
assert all(abs(x - own) < 0.02 for x in of_kind("0/0/100", "probe"))
assert max(of_kind("80/10/10", "probe")) < 0.56 < min(of_kind("100/0/0", "probe")) - 0.05
assert min(of_kind("80/0/20", "probe")) > 0.85 and min(of_kind("80/0/20", "missed")) > 0.99
assert max(of_kind("100/0/0", "probe")) - min(of_kind("100/0/0", "probe")) > 0.4
for kind in ("80/10/10", "80/20/0", "0/100/0"):
    assert 1 - by_others < means["missed"][kind] < 0.7
lower = {kind: of_kind(kind, "probe", low) for kind in control}
assert min(lower["100/0/0"]) > max(lower["80/10/10"]) + 0.03
assert abs(np.mean(lower["80/20/0"]) - np.mean(lower["80/10/10"])) < 0.05
difference = np.mean(lower["100/0/0"]) - np.mean(lower["80/10/10"])
assert 0.1 < difference < 0.2 < 0.35 < means["probe"]["100/0/0"] - means["probe"]["80/10/10"]
intact = {kind: np.mean(of_kind(kind, "intact", low)) for kind in control}
assert intact["80/10/10"] > 0.88 and 0.5 < intact["80/20/0"] < 0.62 and intact["100/0/0"] < 0.5
assert sum(x < 0.56 for x in of_kind("80/20/0", "probe")) == 1
assert 0.04 < means["own"]["100/0/0"] - means["own"]["80/10/10"] < 0.12 and best == "80/10/10"
gaps = [np.mean(of_kind(kind, "own", low)) for kind in ("100/0/0", "80/10/10")]
assert abs(gaps[0] - gaps[1]) < 0.02
assert abs(means["missed"]["100/0/0"] - means["missed"]["80/10/10"]) < 0.08
assert abs(probed["untrained"] - limits["place, own sound"]) < 0.1
for word in ("watch", "light"):
    assert min(cosines[word][0, 1], cosines[word][2, 3]) > cosines[word][:2, 2:].max() + 0.05
assert (cosines["left"][:2, 2:] > cosines["left"][0, 1]).sum() == 2
trained_probes = list(probed.values())[1:]
assert max(trained_probes) < limits["place, sounds until now"] < probed["untrained"] - 0.5

# %% p111 trained
last = {name: values.mean() for name, values in finals.items()}
assert winner == "masked LM" and max(finals["masked LM"]) < limits["place, sounds until now"]
assert (
    limits["place, sounds until now"] < min(finals["causal LM"]) < max(finals["causal LM"]) < 0.72
)
assert min(finals["ELECTRA"]) > max(finals["causal LM"]) + 0.05
runs = {key: runs_of(key) for key in names}
curve = {key: np.mean([[p["probes"][-1] for p in r["curve"]] for r in rs], axis=0)
         for key, rs in runs.items()}  # fmt: skip
assert (curve["causal"][:3] < curve["masked"][:3] - 0.05).all()
assert curve["masked"][-2] < limits["place, sounds until now"] - 0.05
steps = {key: np.array([p["step"] for p in rs[0]["curve"]]) for key, rs in runs.items()}
terms = {key: steps[key] * settings["terms"][key] for key in names}
for x, y in zip(terms["causal"], curve["causal"], strict=True):
    if x <= terms["masked"][-1]:
        assert y > np.interp(np.log(x), np.log(terms["masked"]), curve["masked"])
assert learnable["next sound"] > 4 * learnable["masked sound, at 15 % of the tokens"]
perfect, worse = list(learnable.values())[2:]
mean = np.mean(by_frequency)
assert 0 < last["ELECTRA"] - mean < 0.05 and max(by_frequency) > min(finals["ELECTRA"])
assert min(by_frequency) > max(finals["causal LM"]) > max(finals["masked LM"])
assert 12 < worse / perfect < 18 and worse > learnable["masked sound, at 15 % of the tokens"]
assert all(layer[0] > layer[1] for layer in (run["probes"] for run in runs_of("electra")))
assert all(0.1 < x - limits["gap, all others"] < 0.2 for x in made) and 0.34 < kept < 0.42
assert replaced.double().mean() < 0.1

# %% p039
from helpers.data.reader_tasks import tokenizer_of

some = tokenizer_of("who rang? Dot rang. " * 20, 270)
texts = "who rang?", "Dot rang."
ids = [some.encode(text).tolist() for text in texts]
marks = some.special_ids[CLS], some.special_ids[SEP]
wanted = joined(some, *texts)
assert [list(part) for part in pair(*ids, *marks)] == [part.tolist() for part in wanted]

# %% p124
assert shortcut["another story"]["names"] > 85 and shortcut["another story"]["both"] > 92
assert abs(shortcut["the same book"]["both"] - shortcut["another story"]["both"]) < 4
assert shortcut["the same people"]["names"] < 60 < 75 < shortcut["the same people"]["other words"]
assert all(share == 50 for share in shortcut["right order or not"].values())
assert {numbers[1] for numbers in fitting} == {1} and len(fitting) == 30
assert 2.5 < np.mean([numbers[0] for numbers in fitting]) < 4

# %% d021
assert 50 < right_gaps["trigram, from both sides"] + 1.5 < right_gaps["encoder"] < 64
common_, names_, _, _, once_ = right_of_kinds.values()
assert common_[2] > common_[1] + 4 and once_[2] < once_[1] - 1
assert 2 * max(names_[:2]) < names_[2] < 50
gain = right_gaps["bigram, from both sides"] - right_gaps["bigram, from the left"]
assert gain > right_gaps["4-gram, from the left"] - right_gaps["bigram, from the left"]
assert abs(following(4, around[:8, :3]).exp().sum(-1) - 1).max() < 1e-4
assert abs(by_trigrams.exp().sum(-1) - 1).max() < 1e-3
head = parts["class"].eval()
ids = pad_rows(asked[:3], marks[PAD])
with torch.no_grad():
    weights = (*head.pooler.parameters(), *head.output.parameters())
    mine = class_logits(head.encoder(ids), *weights, False)
    assert torch.allclose(mine, head(ids), atol=1e-5)
    head.mean, one = True, asked[0][None]  # one text, so that nothing is padding
    mine = class_logits(head.encoder(one), *weights, True)
    assert torch.allclose(mine, head(one), atol=1e-5)
assert round(error_of_it) == 5 and sum(is_name & again) == 91
noon, sea, at, to = (
    complete(s)[0][0].strip()
    for s in ("The ___ rang at noon.", "The ___ blew from the sea.",
              "Dot ___ at the mill.", "Dot ___ to the mill.")
)  # fmt: skip
assert (noon, sea) == ("bell", "wind") and at != to

# %% d040c
assert frozen["mean"] > frozen["CLS"] + 4 and frozen["CLS"] < 36
assert 25 < np.mean(bags[64]) < 40 < np.mean(bags[512]) < bags[len(training)][0] < 65
mood = {s: [np.mean(scores_of("mood", s, n)) for n in NUMBERS] for s in ("pretrained", "scratch")}
assert mood["pretrained"][2] > 50 and max(mood["scratch"]) < 35
assert all(mood["pretrained"][i] < np.mean(bag) + 4 for i, bag in enumerate(bags.values()))
speeches = [float(spoken_in[group == j].mean()) for j in range(4)]
assert 36 < named_right(group, z) < 42 and max(shuffled) < named_right(group, z) - 2
assert max(speeches) == speeches[0] > 1.9 * max(speeches[1:])
assert any((z[group == j] == MOODS.index("sad")).float().mean() > 0.5 for j in range(4))
assert abs(100 * longer["right"] - mood["pretrained"][2]) < 5 and longer["steps"] == 1200
assert all(len(scores_of("mood", s, n)) >= 3 for s in ("pretrained", "scratch") for n in NUMBERS)

# %% d052b trained
from helpers.inference.tagging import entities_of as of_the_course

tags = ["O", "B", "I", "B", "O", "I", "I"]
named = [(e.first, e.after) for e in of_the_course([t if t == "O" else t + "-x" for t in tags])]
assert entities_of(tags) == named == [(1, 3), (3, 4), (5, 7)]
assert of_rules["a list of all names"][2] > 99.9 and len(wrong) == 1
assert 50 < of_rules["every capitalised word"][2] < 75
assert not any(set(NEVER) & set(story.people) for story in labelled)
assert on_strangers["the list of the labels"][1] == 0

# %% d071q
above = [
    np.mean(scores_of("inference", start, n)) - np.mean(bag)
    for start in ("pretrained", "scratch")
    for n, bag in zip(NUMBERS, alone_of.values())
]
assert -1.5 < min(above[:2]) < max(above) < 5 and max(above[2], above[5]) < -4
assert max(above[3:5]) < 2
lost = 100 * (np.mean(said["own story"] == truths) - np.mean(said["another story"] == truths))
assert abs(lost) < 2 and swayed < 0.1
known_figures = json.loads((root / "benchmarks/results/lantern_reader.json").read_text())
published = known_figures["right"]["naive Bayes, words and pairs"]
assert abs(hits_alone.mean() - published["test part"]) < 1e-9
assert abs(hits_alone[hard].mean() - published["`inference_test`"]) < 1e-9
assert 0.35 < hits_overlap.mean() < 0.5 < hits_alone.mean()

# %% d091q
from helpers.inference import answers as of_course

assert best_span(torch.tensor([1.0, 4, 0, 2]), torch.tensor([3.0, 0, 2, 1])) == (1, 2)
assert abs(token_f1(["six", "knots"], ["six", "good", "knots"]) - 0.8) < 1e-9
for answer, (_, _, truth_) in list(zip(answers, questions))[:100]:
    words = normalized(answer).split(), normalized(truth_).split()
    assert not all(words) or abs(token_f1(*words) - of_course.token_f1(answer, [truth_])) < 1e-9
all_, few_ = (of_answers[f"{s}, 8,304 questions"] for s in ("pretrained", "scratch"))
assert few_[1] < of_answers["rest_of_it"][1] < all_[1] - 5
assert of_answers["nearest_sentence"][1] > 3 * of_answers["first_sentence"][1]
assert all_[0] > few_[0] + 8 > of_answers["rest_of_it"][0] + 12
assert of_answers["pretrained, 1,024 questions"][0] < of_answers["rest_of_it"][0]
leads = [
    of_answers[f"pretrained, {n}"][0] - of_answers[f"scratch, {n}"][0]
    for n in ("128 questions", "1,024 questions", "8,304 questions")
]
assert [round(lead) for lead in leads] == [3, 6, 15]
assert differ.sum() == 112 and 0.2 < exactly[differ].mean() < 0.29
(starts, ends, _), true = logits_of(5), asked_of[5].target - (asked_of[5].segments == 0).sum()
assert (starts > starts[true[0]]).sum() == (ends > ends[true[1]]).sum() == 1  # second peaks
assert of_answers["first_sentence"][0] < 1 < 10 < of_answers["rest_of_it"][0] < 20

# %% d105
from helpers.models.encoder import Encoder, MaskedLM

expected = [109_482_240, 335_141_888, 124_645_632, 355_359_744, 177_853_440, 278_043_648]
assert list(counted.values()) == [*expected, 559_890_432]
with torch.device("meta"):
    bert = Encoder.bert(30_522)
    size = sum(w.numel() for w in bert.parameters())
    with_gaps = sum(w.numel() for w in MaskedLM(bert).parameters())
losses = {}
for name, (matched, other, *rest, _) in GLUE.items():
    both_ways = np.mean([matched, other, *rest]), np.mean([(matched + other) / 2, *rest])
    losses[name] = both_ways[0] - both_ways[1]
berts = [losses.pop(name) for name in ("BERT-base", "BERT-large")]
assert 0.5 < min(berts) < max(berts) < 0.6 < 0.65 < min(losses.values()) and 3 < slower < 4
assert size + 768 * 768 + 768 == counted["BERT-base"]
assert with_gaps == counted["BERT-base"] + 2 * 768 + 30_522
assert 40 < 6 * blocks["XLM-R-large"] * 6.29e12 / (75_000 * 3600) / 1e12 < 46 and slip > 3 * 125
