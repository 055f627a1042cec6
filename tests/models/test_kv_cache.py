"""The key-value cache: what it keeps, what stays valid, and when it copies."""

from __future__ import annotations

import pytest
import torch
from torch.testing import assert_close

from helpers.models.attention import MultiHeadAttention
from helpers.models.blocks import RMSNorm
from helpers.models.kv_cache import KVCache
from helpers.models.positions import ALiBi, RotaryPositions

L, B, G, K = 2, 3, 2, 4


def entries(T, seed=0, batch=B):
    """Keys and values of T tokens for each layer: (L, 2, B, G, T, K)."""
    return torch.randn(L, 2, batch, G, T, K, generator=torch.Generator().manual_seed(seed))


def append(cache, new):
    """The state after the tokens of ``new``, and what the layers were handed back."""
    longer, layers = cache.extend(new.shape[4])
    return longer, [layer.append(*pair) for layer, pair in zip(layers, new)]


def kept(cache):
    pairs = [torch.stack(pair) for pair in cache._memory.layers]
    return torch.stack(pairs)[..., : cache.length, :]


def place(cache):
    """Where the state's memory lies."""
    return cache._memory.layers[0][0].data_ptr()


@pytest.mark.parametrize("parts", [[7], [1] * 7, [3, 1, 3], [1, 6]])
def test_it_gives_back_what_was_appended(parts):
    whole, cache, at = entries(7), KVCache(L, B), 0
    for T in parts:
        cache, given = append(cache, whole[..., at : at + T, :])
        at += T
        assert cache.length == at
        for layer, pair in enumerate(given):
            assert torch.equal(torch.stack(pair), whole[layer, ..., :at, :])
        assert torch.equal(kept(cache), whole[..., :at, :])


def test_older_states_stay_valid_however_they_are_continued():
    whole, states = entries(9), [KVCache(L, B)]
    for t in range(9):
        states.append(append(states[-1], whole[..., t : t + 1, :])[0])
    branches = {}
    for t in (0, 1, 4, 8, 9):
        for seed in (1, 2):
            branches[t, seed] = append(states[t], entries(3, seed))[0]
    for t in range(1, 10):
        assert torch.equal(kept(states[t]), whole[..., :t, :])
    for (t, seed), branch in branches.items():
        wanted = torch.cat([whole[..., :t, :], entries(3, seed)], -2)
        assert torch.equal(kept(branch), wanted)


def test_a_cut_state_leaves_the_longer_one_alone():
    cache, _ = append(KVCache(L, B), entries(6))
    cut = cache.cut(4)
    assert place(cut) == place(cache)
    assert torch.equal(kept(cut), entries(6)[..., :4, :])
    other, _ = append(cut, entries(3, 1))
    assert torch.equal(kept(other), torch.cat([entries(6)[..., :4, :], entries(3, 1)], -2))
    assert torch.equal(kept(cache), entries(6))
    assert cache.cut(0).length == 0


@pytest.mark.parametrize("index", [[2, 0], [1], [0, 0, 2, 1, 1], [-1]])
def test_rows_select_texts_and_share_nothing(index):
    cache, _ = append(KVCache(L, B), entries(6))
    chosen = cache.rows(torch.tensor(index))
    assert chosen.batch_size == len(index)
    assert torch.equal(kept(chosen), entries(6)[:, :, index])
    longer, _ = append(chosen, entries(2, 1, len(index)))
    assert torch.equal(kept(longer)[..., 6:, :], entries(2, 1, len(index)))
    assert torch.equal(kept(cache), entries(6))
    empty = KVCache(L, B).rows(index)
    assert (empty.length, empty.batch_size) == (0, len(index))


def test_memory_made_in_inference_mode_can_be_written_outside():
    with torch.inference_mode():
        cache, _ = append(KVCache(L, B), entries(4))
    cache, _ = append(cache, entries(1, 1))
    with torch.inference_mode():
        cache, _ = append(cache, entries(1, 2))
    assert torch.equal(kept(cache), torch.cat([entries(4), entries(1, 1), entries(1, 2)], -2))


# --- in an attention and in a block


def tokens(T, D=16):
    return torch.randn(B, T, D, generator=torch.Generator().manual_seed(0)).double()


@pytest.mark.parametrize("parts", [[7], [1] * 7, [3, 1, 3], [1, 4, 2]])
@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
@pytest.mark.parametrize("positions", [None, RotaryPositions(4), ALiBi(4)])
def test_attention_with_a_cache_equals_attention_without(positions, n_kv_heads, parts):
    torch.manual_seed(0)
    keywords = {"n_kv_heads": n_kv_heads, "positions": positions, "qk_norm": RMSNorm}
    attention, x = MultiHeadAttention(16, 4, **keywords).double(), tokens(7)
    with torch.no_grad():
        attention.query_norm.weight.copy_(torch.tensor([0.5, 2.0, -1.0, 3.0]))
    cache, found = KVCache(1, B), []
    for part in x.split(parts, 1):
        cache, layers = cache.extend(part.shape[1])
        found.append(attention(part, causal=True, cache=layers[0]))
    assert_close(torch.cat(found, 1), attention(x, causal=True), atol=1e-12, rtol=1e-12)


# --- what is refused


def test_what_does_not_fit_is_refused():
    cache, _ = append(KVCache(L, B), entries(4))
    for length in (-1, 5):
        with pytest.raises(ValueError, match=f"length is {length}; the cache holds 4 tokens"):
            cache.cut(length)
    with pytest.raises(IndexError):
        cache.rows([3])


def test_the_second_state_that_goes_on_from_a_place_copies():
    short, _ = append(KVCache(L, B), entries(5))
    long, _ = append(short, entries(2, 1))
    assert place(long) == place(short)
    beside, _ = append(short, entries(1, 2))
    assert place(beside) != place(short)
    assert place(append(long, entries(1, 3))[0]) == place(long)
    assert place(append(beside, entries(1, 4))[0]) == place(beside)
    assert torch.equal(kept(beside), torch.cat([entries(5), entries(1, 2)], -2))
