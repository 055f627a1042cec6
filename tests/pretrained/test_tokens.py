"""OpenAI's tokenizers: merges found again from tokens, and ids that are known from outside."""

import pytest

from helpers.data.bpe import BPETokenizer
from helpers.pretrained.tokens import merges_of, openai_tokenizer

TEXT = "the lamplighter and the harbour, the lantern and the lamp: the light of the night"


def test_merges_are_found_again_from_the_tokens_in_their_order():
    trained = BPETokenizer.train(TEXT, 300)
    tokens = [trained.token_bytes(i) for i in range(trained.vocab_size)]
    assert len(tokens) > 260
    assert list(merges_of(tokens)) == trained.merges


@pytest.mark.pretrained
def test_ids_are_those_that_tiktokens_documentation_gives():
    gpt4 = openai_tokenizer("gpt4")
    assert gpt4 is not None
    assert gpt4.vocab_size == 100_256
    assert gpt4.encode("tiktoken is great!").tolist() == [83, 1609, 5963, 374, 2294, 0]
