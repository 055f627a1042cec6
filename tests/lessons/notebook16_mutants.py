"""Other right answers to notebook 16, and wrong ones that no slip describes."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    Mutant("three_masks", "the other triangle", ".tril()", ".triu()", "columns up to t"),
    Mutant("three_masks", "two of three", "causal, real.expand(T, S)", "causal", ": length"),
    Mutant("decoder_block", "no memory", "memory, mask=mask)", "x)", "Three times the same"),
    Mutant(
        "decoder_block",
        "no feed-forward",
        "return x + p.feed_forward(p.feed_forward_norm(x))",
        "return x",
        "then the feed-forward layer",
    ),
    Mutant(
        "write",
        "reads the source each time",
        "        y = int(",
        "        memory, mask = encode(source)\n        y = int(",
        "read once",
    ),
    Mutant("exchange", "one flat list", "table.append(row)", "table += row", ": length"),
]

REWRITES = [
    Rewrite(
        "three_masks",
        "by loops",
        """def three_masks(source, T, pad):
    S = len(source)
    encoder = torch.zeros(S, S, dtype=torch.bool)
    cross = torch.zeros(T, S, dtype=torch.bool)
    encoder[:, source != pad] = True
    cross[:, source != pad] = True
    decoder = torch.tensor([[s <= t for s in range(T)] for t in range(T)])
    return encoder, decoder, cross
""",
    ),
    Rewrite(
        "decoder_block",
        "with names for what is read",
        """def decoder_block(p, x, memory, mask=None):
    own = p.attention(p.attention_norm(x), None, None, True)
    h = x + own
    read = p.cross_attention(p.cross_norm(h), source=memory, mask=mask)
    h = h + read
    return p.feed_forward(p.feed_forward_norm(h)) + h
""",
    ),
    Rewrite(
        "teacher_forcing",
        "with full tensors",
        """def teacher_forcing(rows, bos, eos, pad):
    B, T = len(rows), max(map(len, rows)) + 1
    read = torch.full((B, T), pad)
    predict = torch.full((B, T), -100)
    for b, row in enumerate(rows):
        n = len(row)
        read[b, 0], predict[b, n] = bos, eos
        read[b, 1 : n + 1] = torch.tensor(row)
        predict[b, :n] = torch.tensor(row)
    return read, predict
""",
    ),
    Rewrite(
        "write",
        "with a tensor of words",
        """def write(encode, decode, source, bos, eos, longest):
    memory, mask = encode(source)
    words = torch.tensor([[bos]])
    for _ in range(longest):
        y = decode(words, memory, mask)[:, -1:].argmax(dim=-1)
        if y.item() == eos:
            break
        words = torch.cat([words, y], dim=1)
    return words[0, 1:].tolist()
""",
    ),
    Rewrite(
        "corrupt",
        "token by token",
        """def corrupt(tokens, spans, marks):
    source, target = [], []
    for i, token in enumerate(tokens):
        inside = [k for k, (first, after) in enumerate(spans) if first <= i < after]
        if not inside:
            source.append(token)
            continue
        k = inside[0]
        if i == spans[k][0]:
            source.append(marks[k])
            target.append(marks[k])
        target.append(token)
    target.append(marks[len(spans)])
    return source, target
""",
    ),
    Rewrite(
        "restore",
        "by positions of the marks",
        """def restore(source, target, marks):
    text = []
    for token in source:
        if token not in marks:
            text.append(token)
            continue
        at = target.index(token) + 1
        while target[at] not in marks:
            text.append(target[at])
            at += 1
    return text
""",
    ),
    Rewrite(
        "exchange",
        "one sentence after the other",
        """def exchange(write, french, english):
    counts = [[0, 0], [0, 0]]
    for f, e in zip(french, english):
        for i, prefix in enumerate(("to-English:", "to-French:")):
            for j, words in enumerate((f, e)):
                (text,) = write([(prefix,) + tuple(words)])
                counts[i][j] += text == (e, f)[i]
    return [[count / len(french) for count in row] for row in counts]
""",
    ),
    Rewrite(
        "rouge_1",
        "by precision and recall",
        """def rouge_1(found, wanted):
    common = sum(min(found.count(word), wanted.count(word)) for word in set(found))
    if common == 0:
        return 0.0
    precision, recall = common / len(found), common / len(wanted)
    return 2 * precision * recall / (precision + recall)
""",
    ),
]
