"""Letters from a model on tokens: sums over all spellings, as by enumeration."""

import itertools

import pytest
import torch

from helpers.data.bpe import BPETokenizer
from helpers.inference.guessing import guess_ranks
from helpers.inference.letter_predictor import LetterPredictor
from helpers.models.gpt import GPT, GPTConfig

TEXT = "the hat and the bat and the hen " * 5
TOKENIZER = BPETokenizer.train(TEXT, 262, ["<|end|>"])
END = TOKENIZER.special_ids["<|end|>"]
LETTERS = " abdehnt"


@pytest.fixture
def model():
    torch.manual_seed(0)
    gpt = GPT(GPTConfig.gpt2(TOKENIZER.vocab_size, n_layers=1, n_heads=2, d_model=16))
    with torch.no_grad():
        for weight in gpt.parameters():
            weight.mul_(4)  # so that it has preferences
    return gpt.eval()


def read(predictor, text):
    state = predictor.start(1)
    log_p, state = predictor.step(torch.tensor([predictor.bos]), state)
    for letter in predictor.encode(text):
        log_p, state = predictor.step(torch.tensor([letter]), state)
    return log_p[0], state


def mass(model, prefix):
    """The probability that what the model writes begins with a prefix, by all its spellings."""
    spellings = [TOKENIZER.token_bytes(t) for t in range(TOKENIZER.vocab_size)]
    waiting, total = [((END,), 0.0, "")], 0.0
    while waiting:
        tokens, log_p, text = waiting.pop()
        following = model(torch.tensor([tokens]))[0, -1].log_softmax(-1)
        for token, spelling in enumerate(spellings):
            longer = text.encode() + spelling
            so_far = log_p + float(following[token])
            if longer.startswith(prefix.encode()):
                total += float(torch.tensor(so_far).exp())
            elif prefix.encode().startswith(longer):
                waiting.append(((*tokens, token), so_far, longer.decode()))
    return total


@torch.no_grad()
@pytest.mark.parametrize("text", ["", "t", "th", "the", "ha", "hen"])
def test_letters_have_the_probability_of_all_their_spellings(model, text):
    log_p, _ = read(LetterPredictor(model, TOKENIZER, END, LETTERS), text)
    masses = torch.tensor([mass(model, text + letter) for letter in LETTERS])
    torch.testing.assert_close(log_p.exp(), masses / masses.sum(), rtol=0, atol=2e-3)


@torch.no_grad()
def test_words_that_are_over_are_read_as_the_tokenizer_cuts_them(model):
    log_p, state = read(LetterPredictor(model, TOKENIZER, END, LETTERS), "the hat ")
    assert state.texts == ("the hat ",)
    context = (END, *TOKENIZER.encode("the hat").tolist())
    following = model(torch.tensor([context]))[0, -1].softmax(-1)
    masses = torch.zeros(len(LETTERS))
    for token in range(TOKENIZER.vocab_size - 1):
        spelling = TOKENIZER.token_bytes(token).decode(errors="replace")
        if spelling[0] == " " and spelling[1:2] in tuple(LETTERS):
            masses[LETTERS.index(spelling[1])] += following[token]
    (blank,) = TOKENIZER.encode(" ").tolist()
    space = model(torch.tensor([[*context, blank]]))[0, -1].softmax(-1)
    for token in range(TOKENIZER.vocab_size - 1):
        spelling = TOKENIZER.token_bytes(token).decode(errors="replace")
        if spelling[0] in LETTERS:
            masses[LETTERS.index(spelling[0])] += following[blank] * space[token]
    torch.testing.assert_close(log_p.exp(), masses / masses.sum(), rtol=0, atol=2e-3)


def test_it_sums_to_one_and_a_batch_is_its_rows(model):
    predictor = LetterPredictor(model, TOKENIZER, END, LETTERS, only_read="T,")
    texts = ["The hat and", "hen, the ba"]
    together = torch.tensor([predictor.encode(text) for text in texts])
    state = predictor.start(2)
    rows, state = predictor.step(torch.tensor([predictor.bos] * 2), state)
    for column in together.T:
        rows, state = predictor.step(column, state)
    torch.testing.assert_close(rows.exp().sum(1), torch.ones(2))
    assert torch.equal(rows.isinf(), torch.tensor([[False] * 8 + [True] * 2] * 2))
    for row, text in zip(rows, texts, strict=True):
        torch.testing.assert_close(row, read(predictor, text)[0], rtol=1e-4, atol=1e-4)


def test_it_plays_the_guessing_game_and_an_old_state_stays_valid(model):
    predictor = LetterPredictor(model, TOKENIZER, END, LETTERS)
    ranks = guess_ranks(predictor, torch.tensor(predictor.encode("the hat")))
    assert ranks.shape == (7,)
    assert 1 <= int(ranks.min()) <= int(ranks.max()) <= 8
    _, state = read(predictor, "the h")
    a, b = predictor.encode("ae")
    first, _ = predictor.step(torch.tensor([a]), state)
    predictor.step(torch.tensor([b]), state)
    again, _ = predictor.step(torch.tensor([a]), state)
    assert torch.equal(first, again)


def test_what_is_no_letter_of_it_is_refused(model):
    for letters in itertools.chain(["", "aa", "é"]):
        with pytest.raises(ValueError, match="must be of ASCII, at least one, and none twice"):
            LetterPredictor(model, TOKENIZER, END, letters)
    with pytest.raises(ValueError, match="The letter 'x' is none of"):
        LetterPredictor(model, TOKENIZER, END, LETTERS).encode("x")
