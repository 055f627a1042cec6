import pytest
import torch

from helpers.models.gpt import GPT, GPTConfig
from helpers.models.ngram_embedding import HashedNGrams, NearbyTokens, gpt_with_ngrams
from helpers.models.positions import LearnedPositions
from helpers.models.stack import InputEmbedding


def filled(order: int = 4, rows: int = 64) -> HashedNGrams:
    torch.manual_seed(0)
    module = HashedNGrams(7, 6, order, rows).double()
    torch.nn.init.normal_(module.tables.weight)
    return module


@pytest.mark.parametrize("cut", [1, 2, 3, 7, 11])
def test_a_text_in_two_parts_gives_what_it_gives_in_one(cut):
    module = filled()
    tokens = torch.randint(7, (2, 12), generator=torch.Generator().manual_seed(2))
    parts = module(tokens[:, :cut]), module(tokens[:, cut:], tokens[:, :cut])
    torch.testing.assert_close(torch.cat(parts, 1), module(tokens), rtol=0, atol=0)


def test_it_begins_at_zero_and_its_gradient_is_sparse():
    module, tokens = HashedNGrams(7, 6, 3), torch.tensor([[1, 2, 3]])
    output = module(tokens)
    assert not output.any()
    output.sum().backward()
    assert module.tables.weight.grad.is_sparse
    assert module.tables.weight.grad._nnz() == 6


# Beside the embedding of a GPT

SHAPE = {"n_layers": 2, "n_heads": 2, "d_model": 8, "max_length": 16}


@torch.no_grad()
def drawn(module):
    for parameter in module.parameters():
        parameter.normal_(generator=torch.Generator().manual_seed(parameter.numel()))
    return module.double().eval()


def text(*shape):
    return torch.randint(7, shape, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("T", [1, 2, 3, 9])
def test_the_vectors_add_up(T):
    """Token by token; what lies before the text counts as zero."""
    plain = InputEmbedding(7, 6, positions=LearnedPositions(20, 6))
    nearby, tokens = drawn(NearbyTokens(plain, 3, HashedNGrams(7, 6, 4, rows=50))), text(2, T)
    wanted = plain(tokens) + nearby.ngrams(tokens)
    for b in range(2):
        for t in range(T):
            for back in range(1, min(3, t + 1)):
                wanted[b, t] += nearby.earlier[back - 1].weight[tokens[b, t - back]]
    torch.testing.assert_close(nearby(tokens), wanted)


@pytest.mark.parametrize("cut", [1, 2, 3, 8])
@pytest.mark.parametrize("tied", [True, False])
def test_a_gpt_reads_on_as_it_reads_at_once(tied, cut):
    settings = {"last_tokens": 3, "ngrams": 4, "ngram_rows": 50, "tied": tied}
    model, tokens = drawn(gpt_with_ngrams(7, **settings, **SHAPE)), text(2, 9)
    first, state = model.read(tokens[:, :cut])
    second, _ = model.read(tokens[:, cut:], state)
    torch.testing.assert_close(torch.cat([first, second], 1), model(tokens))


def test_a_gpt_without_them_is_the_plain_one():
    torch.manual_seed(0)
    plain = GPT(GPTConfig.modern(7, **SHAPE)).state_dict()
    torch.manual_seed(0)
    found = gpt_with_ngrams(7, **SHAPE).state_dict()
    assert list(found) == list(plain)
    assert all(torch.equal(found[name], weight) for name, weight in plain.items())
    count = sum(weight.numel() for weight in plain.values())
    more = gpt_with_ngrams(7, last_tokens=3, ngrams=4, ngram_rows=50, **SHAPE)
    assert sum(p.numel() for p in more.parameters()) - count == (2 * 7 + 3 * 50) * 8
    assert not more(text(1, 5)).any()  # the output still begins at zero
