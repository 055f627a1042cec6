"""Encoders: states and logits equal those of the transformers library's BERT; heads; padding."""

from __future__ import annotations

import pytest
import torch
from torch.testing import assert_close
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertForQuestionAnswering,
    BertForSequenceClassification,
    BertForTokenClassification,
)

from helpers.models.encoder import (
    Encoder,
    MaskedLM,
    SequenceClassifier,
    SpanReader,
    TokenTagger,
)
from helpers.models.gpt import GPTConfig

V, D, H, L, T = 50, 24, 4, 3, 20
PAD = 0


def theirs(kind, **settings):
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=V,
        hidden_size=D,
        num_hidden_layers=L,
        num_attention_heads=H,
        intermediate_size=4 * D,
        max_position_embeddings=T,
        attn_implementation="eager",
        **settings,
    )
    made = kind(config).eval().double()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return made


def ours(reference):
    encoder = Encoder.bert(V, D, H, L, max_length=T)
    copy_bert(encoder, reference.bert)
    return encoder.eval().double()


def copy(layer, source):
    layer.load_state_dict(source.state_dict())


@torch.no_grad()
def copy_bert(encoder, bert):
    """Their weights, by their names, into our layers."""
    own, other = encoder.embedding, bert.embeddings
    encoder.double()
    own.tokens.weight.copy_(other.word_embeddings.weight)
    own.tokens.positions.embedding.weight.copy_(other.position_embeddings.weight)
    copy(own.segments, other.token_type_embeddings)
    copy(own.norm, other.LayerNorm)
    for block, layer in zip(encoder.blocks, bert.encoder.layer, strict=True):
        attention = layer.attention
        copy(block.attention.query, attention.self.query)
        copy(block.attention.key, attention.self.key)
        copy(block.attention.value, attention.self.value)
        copy(block.attention.output, attention.output.dense)
        copy(block.attention_norm, attention.output.LayerNorm)
        copy(block.feed_forward.up, layer.intermediate.dense)
        copy(block.feed_forward.down, layer.output.dense)
        copy(block.feed_forward_norm, layer.output.LayerNorm)


def texts(padded=True):
    random = torch.Generator().manual_seed(1)
    tokens = torch.randint(1, V, (3, T), generator=random)
    if padded:
        tokens[1, 12:] = PAD
        tokens[2, 5:] = PAD
    segments = (torch.arange(T) > 7).long().repeat(3, 1)
    return tokens, segments


@pytest.mark.parametrize("padded", [False, True])
def test_masked_language_modelling_equals_their_bert(padded):
    reference = theirs(BertForMaskedLM)
    model = MaskedLM(ours(reference)).double()
    head = reference.cls.predictions
    copy(model.transform, head.transform.dense)
    copy(model.norm, head.transform.LayerNorm)
    with torch.no_grad():
        model.bias.copy_(head.bias)
        tokens, segments = texts(padded)
        real = tokens != PAD
        wanted = reference(tokens, attention_mask=real.long(), token_type_ids=segments)
        assert_close(model(tokens, segments)[real], wanted.logits[real], atol=1e-11, rtol=1e-11)


def test_attention_weights_equal_theirs():
    reference = theirs(BertForMaskedLM)
    encoder, (tokens, segments) = ours(reference), texts()
    real = tokens != PAD
    with torch.no_grad():
        wanted = reference.bert(
            tokens,
            attention_mask=real.long(),
            token_type_ids=segments,
            output_attentions=True,
        ).attentions
        for mine, other in zip(encoder.weights(tokens, segments), wanted, strict=True):
            rows = real[:, None, :].expand(-1, H, -1)
            assert_close(mine[rows], other[rows], atol=1e-11, rtol=1e-11)


@pytest.mark.parametrize(
    ("kind", "head", "size"),
    [
        (BertForSequenceClassification, SequenceClassifier, 3),
        (BertForTokenClassification, TokenTagger, 5),
        (BertForQuestionAnswering, SpanReader, 2),
    ],
)
def test_heads_equal_theirs(kind, head, size):
    reference = theirs(kind, num_labels=size)
    encoder = ours(reference)
    model = (head(encoder) if head is SpanReader else head(encoder, size)).eval().double()
    output = reference.qa_outputs if head is SpanReader else reference.classifier
    copy(model.output, output)
    if head is SequenceClassifier:
        copy(model.pooler, reference.bert.pooler.dense)
    tokens, segments = texts()
    real = tokens != PAD
    with torch.no_grad():
        found = reference(tokens, attention_mask=real.long(), token_type_ids=segments)
        mine = model(tokens, segments)
    if head is SpanReader:
        wanted = torch.stack([found.start_logits, found.end_logits], 1)
        real = real[:, None].expand(-1, 2, -1)
    else:
        wanted = found.logits
    if head is SequenceClassifier:
        assert_close(mine, wanted, atol=1e-11, rtol=1e-11)
    else:
        assert_close(mine[real], wanted[real], atol=1e-11, rtol=1e-11)


def modern(**settings):
    torch.manual_seed(0)
    sizes = {"max_length": T, "n_layers": 2, "n_heads": 2, "d_model": 16}
    return Encoder.modern(GPTConfig.modern(V, **sizes, **settings), pad=PAD, segments=2).eval()


@pytest.mark.parametrize("make", [modern, lambda: Encoder.bert(V, D, H, L, max_length=T).eval()])
def test_every_position_sees_both_sides_and_none_sees_padding(make):
    encoder = make()
    with torch.no_grad():
        for parameter in encoder.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
        tokens = torch.randint(1, V, (1, 9))
        base = encoder(tokens)
        for place in range(9):
            other = tokens.clone()
            other[0, place] = tokens[0, place] % (V - 1) + 1
            assert bool((encoder(other) - base).abs().amax(-1).gt(1e-7).all())
        longer = torch.cat([tokens, torch.full((1, 6), PAD)], 1)
        assert_close(encoder(longer)[:, :9], base, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize(
    ("sizes", "wanted"),
    [
        # Counted by the transformers library from the published settings, with the pooler.
        ((30522, 768, 12, 12), 109_482_240),
        ((30522, 1024, 16, 24), 335_141_888),
    ],
)
def test_the_published_sizes_come_out(sizes, wanted):
    with torch.device("meta"):
        encoder = Encoder.bert(*sizes)
        pooler = torch.nn.Linear(sizes[1], sizes[1])
    assert sum(p.numel() for part in (encoder, pooler) for p in part.parameters()) == wanted


def test_a_classifier_reads_the_mean_of_the_states_without_padding():
    torch.manual_seed(0)
    encoder = Encoder.bert(V, D, H, L, max_length=T, pad=PAD).eval()
    head = SequenceClassifier(encoder, 3, mean=True).eval()
    rows = torch.tensor([[5, 6, 7, 8, 9], [5, 6, 7, PAD, PAD]])
    state = torch.stack([encoder(rows)[0].mean(0), encoder(rows[1:, :3])[0].mean(0)])
    assert_close(head(rows), head.output(head.pooler(state).tanh()))
    assert_close(head(rows)[1:], head(rows[1:, :3]))


def test_a_classifier_reads_the_second_text_of_a_pair():
    torch.manual_seed(0)
    encoder = Encoder.bert(V, D, H, L, max_length=T, pad=PAD).eval()
    head = SequenceClassifier(encoder, 3, mean=True).eval()
    rows = torch.tensor([[5, 6, 7, 8, 9], [5, 6, 7, PAD, PAD], [5, 6, 7, PAD, PAD]])
    segments = torch.tensor([[0, 0, 1, 1, 1], [0, 1, 1, 0, 0], [0, 0, 0, 0, 0]])
    h = encoder(rows, segments)
    state = torch.stack([h[0, 2:].mean(0), h[1, 1:3].mean(0), h[2, :3].mean(0)])
    assert_close(head(rows, segments), head.output(head.pooler(state).tanh()))
