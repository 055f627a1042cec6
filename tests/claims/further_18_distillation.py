"""What the further notebook 18, distillation, claims: see staff/notebooks/claims.py."""

# %% c103
by_hand = distillation(pupil, teacher, torch.tensor([0]), 1.0, 1.0)
assert abs(float(by_hand) - 0.144) < 5e-4
assert abs(distillation(logits, said, tokens, 0.3, 2.0) - theirs) < 1e-5

# %% c105a
alone, same, more, truth = on_short.values()
assert all(len(values) == 3 for values in on_short.values()) and gain > 0.05
assert min(same) > max(more) > max(truth) and max(truth) < 0.5
fresh_alone, none, fresh_more, fresh_truth = on_fresh.values()
assert none == [] and min(fresh_alone) > max(fresh_more) + 0.05 and max(fresh_truth) < 0.5

# %% c107
short_run, taught_run, long_run = (np.array(values) for values in pupils.values())
assert len(short_run) == 3 and (short_run - taught_run > 0.05).all()
assert abs((long_run - taught_run).mean()) < 0.015
