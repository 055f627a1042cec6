"""What notebook 05 and its further ones say over several seeds: recall, text, scheduled sampling.

    python -m benchmarks.recurrent_study [PART ...]

recall      a symbol asked for after a delay: kinds of networks, delays and learning rates
longer      with up to 3,000 updates
sgd         with plain gradient descent, no Adam
unit        with the gradient divided by its norm
sign        with each number of the gradient divided by its size
cut         with a gradient that goes back some steps only
long        the tales: ten times as many updates as notebook 05 makes
schedule    scheduled sampling, by how the share of true symbols decays
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.study import Study, command
from helpers.data import corpora
from helpers.data.batching import windows
from helpers.data.sources import HiddenMarkovSource
from helpers.data.tokenizers import CharTokenizer
from helpers.inference.sampling import sample

STUDY = Study(__file__)
KINDS = ("Elman", "LSTM", "LSTM, forget bias 3")
SEEDS = {5: 5, 10: 5, 20: 5, 50: 3, 100: 3}  # of each delay
FEW, MANY = (0.003, 0.01), (0.001, 0.003, 0.01, 0.03)
RATES = {5: FEW, 10: FEW, 20: MANY, 50: MANY, 100: MANY}  # learning rates tried at each delay
ONE_DELAY = 20
RECALL_STEPS, BATCH, HIDDEN = 1000, 32, 32
PLAIN_SEEDS = 2
PLAIN = {  # rules of descent without Adam, and their rates
    "sgd": (0.03, 0.1, 0.3, 1.0, 3.0, 10.0),
    "unit": (0.001, 0.01, 0.03, 0.1),
    "sign": (0.001, 0.003, 0.01),
}
LONGER_STEPS, LONGER_RATES, LONGER_SEEDS = 3000, (0.001, 0.003), 2
CUTS, CUT_RATE, CUT_SEEDS = (5, 10, 15, 21), 0.01, 3
TEXT_RATE, TEXT_STEPS, TEXT_ROWS, TEXT_WINDOW = 1e-2, 7000, 32, 64
SCHEDULES, SCHEDULE_SEEDS, SCHEDULE_STEPS = ("true", "tenth", "half", "linear", "sigmoid"), 5, 600


def entries() -> Iterator[tuple[str, Callable[[], dict]]]:
    """The name of every entry, and what makes it."""

    def recall(part: str, kind: str, delay: int, rate: float, seed: int, **how):
        return f"{part} {kind} {delay} {rate} {seed}", partial(
            recall_row, kind, delay, seed, rate, **how
        )

    for delay, seeds in SEEDS.items():
        for kind, rate, seed in itertools.product(KINDS, RATES[delay], range(seeds)):
            yield recall("recall", kind, delay, rate, seed)
    for seed, rate in itertools.product(range(LONGER_SEEDS), LONGER_RATES):
        yield recall("longer", "LSTM", ONE_DELAY, rate, seed, most=LONGER_STEPS)
    for rule, rates in PLAIN.items():
        for rate, seed in itertools.product(rates, range(PLAIN_SEEDS)):
            yield recall(rule, "Elman", ONE_DELAY, rate, seed, rule=rule)
    for kind, cut, seed in itertools.product((KINDS[0], KINDS[2]), CUTS, range(CUT_SEEDS)):
        yield (
            f"cut {kind} {ONE_DELAY} {cut} {CUT_RATE} {seed}",
            partial(recall_row, kind, ONE_DELAY, seed, CUT_RATE, cut=cut),
        )
    for schedule, seed in itertools.product(SCHEDULES, range(SCHEDULE_SEEDS)):
        yield f"schedule {schedule} {seed}", partial(schedule_row, schedule, seed)
    yield "long text", text_row


def recall_batch(delay: int, size: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Rows (B, delay + 1): a symbol 0 .. 3, noise 4 .. 7, the question 8; and the symbols (B,)."""
    first = torch.randint(4, (size, 1), generator=generator)
    noise = torch.randint(4, 8, (size, delay - 1), generator=generator)
    question = torch.full((size, 1), 8)
    return torch.cat([first, noise, question], 1), first[:, 0]


class Recaller(nn.Module):
    """Reads one-hot symbols, answers from the last hidden state; may cut the gradient off.

    Args:
        kind: "Elman", "LSTM" or "LSTM, forget bias B" with a number B.
        cut: the gradient goes back this many steps only; through all of them, if left out.
    """

    def __init__(self, kind: str, cut: int | None = None) -> None:
        super().__init__()
        self.cut = cut
        self.rnn = (nn.RNN if kind == "Elman" else nn.LSTM)(9, HIDDEN, batch_first=True)
        self.out = nn.Linear(HIDDEN, 4)
        if "forget bias" in kind:
            with torch.no_grad():
                self.rnn.bias_ih_l0[HIDDEN : 2 * HIDDEN] = float(kind.split(" ")[-1])
                self.rnn.bias_hh_l0[HIDDEN : 2 * HIDDEN] = 0.0

    def forward(self, tokens: Tensor) -> Tensor:
        """Scores (B, 4) for tokens (B, T)."""
        x, state = F.one_hot(tokens, 9).float(), None
        if self.cut is not None and self.cut < tokens.shape[1]:
            with torch.no_grad():
                state = self.rnn(x[:, : -self.cut])[1]
            x = x[:, -self.cut :]
        h, _ = self.rnn(x, state)
        return self.out(h[:, -1])


def recall_row(
    kind: str,
    delay: int,
    seed: int,
    rate: float,
    cut: int | None = None,
    most: int = RECALL_STEPS,
    rule: str = "Adam",
) -> dict[str, float]:
    """Train until 20 losses in a row are below 0.01 nats, for ``most`` updates at most.

    With Adam, or a rule of ``PLAIN``: plain gradient descent (``sgd``), with the whole gradient
    divided by its norm (``unit``), or with each number divided by its own size (``sign``).
    """
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    model = Recaller(kind, cut)
    optimizer = (torch.optim.Adam if rule == "Adam" else torch.optim.SGD)(
        model.parameters(), lr=rate
    )
    losses: list[float] = []
    while len(losses) < most and not (len(losses) >= 20 and max(losses[-20:]) < 0.01):
        tokens, answer = recall_batch(delay, BATCH, generator)
        loss = F.cross_entropy(model(tokens), answer)
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for p in model.parameters() if rule in ("unit", "sign") else ():
            if p.grad is not None:
                p.grad = p.grad.sign() if rule == "sign" else p.grad / norm.clamp(max=1.0)
        optimizer.step()
        losses.append(loss.item())
    tokens, answer = recall_batch(delay, 2000, torch.Generator().manual_seed(10**6))
    with torch.no_grad():
        right = (model(tokens).argmax(1) == answer).double().mean().item()
    return {"accuracy": right, "steps": len(losses), "rate": rate}


class CharRNN(nn.Module):
    """The character network of notebook 05."""

    def __init__(self, vocab_size: int, d_model: int = 64, d_hidden: int = 128) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.rnn = nn.RNN(d_model, d_hidden, batch_first=True)
        self.W_hy = nn.Linear(d_hidden, vocab_size)

    def read(self, tokens: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Scores (B, T, V) of what follows each of the tokens (B, T), and the last state."""
        h, state = self.rnn(self.embedding(tokens), state)
        return self.W_hy(h), state


def text_row() -> dict[str, float]:
    """Train on rows of text, the gradient cut at each window; score validation and test tales.

    Each of 32 rows reads the text from a random place on, from left to right. Per update a window
    of each row is read, and the next one goes on from its state.
    """
    corpus = corpora.lantern_bay()
    tokenizer = CharTokenizer.train(corpus.text)
    train = tokenizer.encode(corpus.train)
    torch.manual_seed(0)
    first = torch.Generator().manual_seed(0)
    begins = torch.randint(len(train) - 1, (TEXT_ROWS,), generator=first)
    model = CharRNN(tokenizer.vocab_size)
    optimizer = torch.optim.AdamW(model.parameters(), lr=TEXT_RATE, weight_decay=0.01)
    state = None
    for step in range(TEXT_STEPS):
        window = step * TEXT_WINDOW + torch.arange(TEXT_WINDOW + 1)
        at = (begins[:, None] + window) % len(train)
        tokens = train[at]
        optimizer.param_groups[0]["lr"] = TEXT_RATE * min((step + 1) / 50, 1 - step / TEXT_STEPS)
        scores, after = model.read(tokens[:, :-1], state)
        loss = F.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        state = after.detach()
    text = tokenizer.encode(corpus.validation)
    rows_of = text[: len(text) // 20 * 20].view(20, -1)  # read side by side, from zeros
    with torch.no_grad():
        log_p = model.read(rows_of[:, :-1])[0].log_softmax(-1)
        nats = -log_p.gather(2, rows_of[:, 1:, None])[:, 20:].mean().item()
        test = tokenizer.encode(corpus.test)[:20_000]
        on_test = F.cross_entropy(model.read(test[None, :-1])[0][0], test[1:]).item()
    return {"bits": nats / math.log(2), "test": on_test / math.log(2)}


def pairs_source() -> HiddenMarkovSource:
    """Notebook 05's source: b's come in pairs, and c is a pause of any length."""
    outside, inside = [0.55, 0, 0.45, 0], [0, 0.9, 0, 0.1]
    return HiddenMarkovSource(
        transitions=[outside, outside, inside, inside],
        emissions=[[9 / 11, 0, 2 / 11], [0, 1, 0], [0, 1, 0], [0, 0, 1]],
    )


class SmallRNN(nn.Module):
    """An Elman network over three symbols, and a fourth that stands before every text."""

    def __init__(self) -> None:
        super().__init__()
        self.vocab_size = self.bos = 3
        self.W_xh, self.W_hh = nn.Embedding(4, 16), nn.Linear(16, 16)
        self.W_hy = nn.Linear(16, 3)

    def start(self, batch_size: int) -> Tensor:
        """The state before anything is read."""
        return torch.zeros(batch_size, 16)

    def step(self, tokens: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities (B, 3) after reading tokens (B,), and the new state."""
        state = torch.tanh(self.W_xh(tokens) + self.W_hh(state))
        return self.W_hy(state).log_softmax(-1), state


EPSILON: dict[str, Callable[[int], float]] = {
    "true": lambda i: 1.0,
    "linear": lambda i: 1 - i / SCHEDULE_STEPS,
    "tenth": lambda i: max(0.9, 1 - i / SCHEDULE_STEPS),
    "half": lambda i: max(0.5, 1 - i / SCHEDULE_STEPS),
    "sigmoid": lambda i: 70 / (70 + math.exp(i / 70)),
}


def schedule_row(schedule: str, seed: int) -> dict[str, float]:
    """Scheduled sampling after Bengio et al. (2015) on the pairs, and its distances in nats.

    At update i each input after the first is the true symbol with probability epsilon_i, by a coin
    for each row and time step, and otherwise a draw from the model's own distribution at the step
    before. No gradient flows through the draw, and the targets stay the true symbols.
    """
    pairs = pairs_source()
    text = pairs.sample(20_000, torch.Generator().manual_seed(0))
    torch.manual_seed(seed)
    model = SmallRNN()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    batches = windows(text, 32, 32, torch.Generator().manual_seed(seed))
    for i, (tokens, _) in zip(range(SCHEDULE_STEPS), batches, strict=False):
        state, read, loss = model.start(32), torch.full((32,), 3), torch.zeros(())
        for target in tokens.T:
            log_p, state = model.step(read, state)
            loss = loss + F.nll_loss(log_p, target) / 32
            own = log_p.detach().exp().multinomial(1)[:, 0]
            read = torch.where(torch.rand(32) < EPSILON[schedule](i), target, own)
        optimizer.param_groups[0]["lr"] = 1e-2 * (1 - i / SCHEDULE_STEPS)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    rows, T = 1500, 60
    with torch.no_grad():
        true = pairs.sample(rows * T, torch.Generator().manual_seed(5)).view(rows, T)
        own = sample(model, T, torch.Generator().manual_seed(6), batch_size=rows)
        on_true, _ = distances(pairs, model, true)
        anew, impossible = distances(pairs, model, own)
        kept, _ = distances(pairs, model, own, keep=True)
    before = impossible.long().cumsum(1) - impossible.long() == 0
    return {
        "true prefixes": on_true.mean().item(),
        "own, all possible": anew[before].mean().item(),
        "own, source anew": anew.mean().item(),
        "own, source keeps": kept.mean().item(),
        "impossible per 1000": 1000 * impossible.double().mean().item(),
    }


def distances(
    source: HiddenMarkovSource, model: SmallRNN, rows: Tensor, keep: bool = False
) -> tuple[Tensor, Tensor]:
    """D(source || model) in nats before each symbol of rows (B, T), and which are impossible.

    After an impossible symbol the source begins anew; or, ``keep``, goes on as if it had not come.
    """
    truth, state = source.start(len(rows)), model.start(len(rows))
    read, before = torch.full((len(rows),), 3), source.start(len(rows))
    found, impossible = [], []
    for column in rows.T:
        log_p, after = source.step(read, truth)
        if keep and impossible:
            left = impossible[-1]
            after = torch.where(left[:, None], before, after)
            log_p = torch.logsumexp(after[:, :, None] + source.emissions.log(), dim=1)
        log_q, state = model.step(read, state)
        p = log_p.exp()
        found.append((p * torch.where(p > 0, log_p - log_q.double(), 0.0)).sum(-1))
        impossible.append(log_p.gather(1, column[:, None])[:, 0] == -math.inf)
        before, truth, read = after, after, column
    return torch.stack(found, 1), torch.stack(impossible, 1)


def main() -> None:
    names = ["recall", "longer", *PLAIN, "cut", "long", "schedule"]
    parts = command(__doc__, names).parse_args().parts
    torch.set_num_threads(1)
    for name, make in entries():
        if name.split()[0] in parts:
            STUDY.entry(name, make)


if __name__ == "__main__":
    main()
