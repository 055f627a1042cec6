"""Your turn with ELECTRA: what the discriminator reads, and what it should say."""

import torch

from helpers.course.checks.lab import Lab
from helpers.course.checks.turn import Case, turn

turns = Lab("further_15_every_position")


def guessed_texts(draw):
    tokens, sampled = torch.tensor([[0, 1, 2, 3], [0, 1, 5, 1]])[:, None]
    chosen = torch.tensor([[False, True, True, False]])
    given = "text 0 1 2 3, its middle tokens chosen, guesses 0 1 5 1"
    yield Case("by hand", tokens, sampled, chosen, given=given)
    tokens, sampled = draw.integers(0, 4, 2, 5, 12)
    chosen = torch.rand(5, 12, generator=draw.generator) < 0.4
    yield Case("for any text", tokens, sampled, chosen, given="5 texts of 12 tokens")


@turn(
    turns,
    "It reads the guesses where a token was chosen and the text elsewhere. Replaced is where what "
    "it reads differs from the text.",
    cases=guessed_texts,
    slips="""
    read != tokens => chosen
        A guess that happens to be right is the original: compare with the text.
    torch.where(chosen, sampled, tokens) => sampled
        Guesses stand only where a token was chosen; everywhere else the text itself.
    read != tokens => sampled != tokens
        Where nothing was chosen the text is read: it cannot be replaced there.
    return read, => return tokens,
        The discriminator reads the text with the guesses in it, not the original.
    read != tokens => (read != tokens)[chosen]
        It is asked at *every* token, at those that were not chosen, too.
    return read, read != tokens => return read
        Hand back both: return read, replaced.
    return read, read != tokens => return read != tokens, read
        What is read comes first, then where it was replaced.
    """,
)
def discriminator_task(tokens, sampled, chosen):
    """ids, guesses and booleans, (N, T) each -> what is read, and where it is replaced, (N, T)."""
    read = torch.where(chosen, sampled, tokens)
    return read, read != tokens
