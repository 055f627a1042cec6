"""Plausible wrong answers to notebook 16, as patches of its solutions, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

MUTANTS = [
    # three_masks
    Mutant("three_masks", "the opposite", "source != pad", "source == pad", "columns"),
    Mutant(
        "three_masks",
        "all turned round",
        "return real.expand(S, S), causal, real.expand(T, S)",
        "return ~real.expand(S, S), ~causal, ~real.expand(T, S)",
        "*may look*",
    ),
    Mutant("three_masks", "no triangle", ".tril()", "", "the future is hidden"),
    Mutant("three_masks", "not itself", ".tril()", ".tril(-1)", "look at itself"),
    Mutant("three_masks", "the other triangle", ".tril()", ".triu()", "turned round"),
    Mutant(
        "three_masks",
        "a triangle in the encoder",
        "real.expand(S, S), causal",
        "real.expand(S, S).tril(), causal",
        "read the whole sentence",
    ),
    Mutant(
        "three_masks",
        "a triangle in the cross-attention",
        "real.expand(T, S)",
        "real.expand(T, S).tril()",
        "has no triangle",
    ),
    Mutant(
        "three_masks",
        "the cross-attention turned",
        "real.expand(T, S)",
        "real.expand(T, S).T",
        "its T positions are the rows",
    ),
    Mutant(
        "three_masks",
        "no padding",
        "source != pad",
        "torch.ones_like(source).bool()",
        "where source is pad",
    ),
    Mutant(
        "three_masks",
        "padding as rows",
        "real.expand(S, S), causal",
        "real[:, None].expand(S, S), causal",
        "a column, not a row",
    ),
    Mutant("three_masks", "numbers", ", dtype=torch.bool", "", "Bool tensors"),
    Mutant(
        "three_masks",
        "two of three",
        "causal, real.expand(T, S)",
        "causal",
        "three tensors",
    ),
    # decoder_block
    Mutant("decoder_block", "looks ahead", ", causal=True", "", "looks ahead"),
    Mutant("decoder_block", "no mask", ", mask=mask", "", "hand the mask"),
    Mutant(
        "decoder_block",
        "normalizes the memory",
        "memory, mask=mask)",
        "p.cross_norm(memory), mask=mask)",
        "taken as it is",
    ),
    Mutant("decoder_block", "no memory", "memory, mask=mask)", "x)", "Three times the same"),
    Mutant("decoder_block", "self again", ", memory, mask=mask)", ")", "memory is not used"),
    Mutant(
        "decoder_block",
        "no residual around attention",
        "x = x + p.attention(",
        "x = p.attention(",
        "residual connection is missing",
    ),
    Mutant(
        "decoder_block",
        "no residual around the bridge",
        "x = x + p.cross",
        "x = p.cross",
        "residual connection is missing",
    ),
    Mutant(
        "decoder_block",
        "no residual at the end",
        "return x + p",
        "return p",
        "residual connection is missing",
    ),
    Mutant(
        "decoder_block",
        "no norm before the bridge",
        "p.cross_norm(x)",
        "x",
        "p.cross_norm",
    ),
    Mutant(
        "decoder_block",
        "no norm at the end",
        "p.feed_forward_norm(x)",
        "x",
        "p.feed_forward_norm",
    ),
    Mutant(
        "decoder_block",
        "no norm at the beginning",
        "p.attention_norm(x)",
        "x",
        "p.attention_norm",
    ),
    Mutant(
        "decoder_block",
        "one norm for both",
        "p.cross_norm(x)",
        "p.attention_norm(x)",
        "a norm of its own",
    ),
    Mutant(
        "decoder_block",
        "no feed-forward",
        "return x + p.feed_forward(p.feed_forward_norm(x))",
        "return x",
        "feed-forward layer is missing",
    ),
    Mutant(
        "decoder_block",
        "the bridge first",
        "    x = x + p.attention(p.attention_norm(x), causal=True)\n"
        "    x = x + p.cross_attention(p.cross_norm(x), memory, mask=mask)\n",
        "    x = x + p.cross_attention(p.cross_norm(x), memory, mask=mask)\n"
        "    x = x + p.attention(p.attention_norm(x), causal=True)\n",
        "The order is",
    ),
    # teacher_forcing
    Mutant("teacher_forcing", "no eos", "[*row, eos]", "[*row, *row[:0], -100]", "-100"),
    Mutant("teacher_forcing", "bos is predicted", "[*row, eos]", "[bos, *row]", "further on"),
    Mutant(
        "teacher_forcing",
        "padding is predicted",
        "[-100] *",
        "[pad] *",
        "padding has the number -100",
    ),
    Mutant("teacher_forcing", "reads -100", "[pad] *", "[-100] *", "no word and has no"),
    Mutant("teacher_forcing", "eos is read", "[bos, *row]", "[*row, eos]", "reads bos first"),
    Mutant(
        "teacher_forcing",
        "turned round",
        "return torch.tensor(read), torch.tensor(predict)",
        "return torch.tensor(predict), torch.tensor(read)",
        "the other way round",
    ),
    Mutant(
        "teacher_forcing",
        "not shifted",
        "return torch.tensor(read), torch.tensor(predict)",
        "return torch.tensor(read), torch.tensor(read)",
        "further on",
    ),
    # write
    Mutant(
        "write",
        "reads the source each time",
        "        y = int(",
        "        memory, mask = encode(source)\n        y = int(",
        "read once",
    ),
    Mutant("write", "the first row", "[0, -1]", "[0, 0]", "*last* row"),
    Mutant(
        "write",
        "the last word alone",
        "torch.tensor([words])",
        "torch.tensor([words[-1:]])",
        "*all* words so far",
    ),
    Mutant("write", "bos is written", "words[1:]", "words", "leave it out"),
    Mutant(
        "write",
        "eos is written",
        "        if y == eos:\n            break\n        words.append(y)",
        "        words.append(y)\n        if y == eos:\n            break",
        "no word: leave it out",
    ),
    Mutant("write", "one too few", "len(words) <= longest", "len(words) < longest", "too short"),
    Mutant(
        "write", "one too many", "len(words) <= longest", "len(words) <= longest + 1", "too long"
    ),
    # corrupt
    Mutant("corrupt", "no last mark", ", marks[len(spans)]]", "]", "one more mark"),
    Mutant("corrupt", "the last of all marks", "marks[len(spans)]", "marks[-1]", "next one"),
    Mutant("corrupt", "the rest is lost", ", *tokens[begin:]]", "]", "behind the last span"),
    Mutant(
        "corrupt",
        "one token too many",
        "*tokens[first:after]]",
        "*tokens[first : after + 1]]",
        "Go through the spans",
    ),
    Mutant(
        "corrupt",
        "begins again",
        "        begin = after\n",
        "",
        "Go through the spans",
    ),
    Mutant(
        "corrupt",
        "a mark for each token",
        "*tokens[begin:first], mark]",
        "*tokens[begin:first], *[mark] * (after - first)]",
        "the whole span",
    ),
    Mutant(
        "corrupt",
        "the mark behind",
        "[mark, *tokens[first:after]]",
        "[*tokens[first:after], mark]",
        "*in front of*",
    ),
    Mutant(
        "corrupt",
        "nothing is cut out",
        "*tokens[begin:first], mark]",
        "*tokens[begin:after], mark]",
        "does not stand in what is read",
    ),
    Mutant(
        "corrupt",
        "no marks are read",
        "[*tokens[begin:first], mark]",
        "tokens[begin:first]",
        "a mark stands in place",
    ),
    # restore
    Mutant(
        "restore",
        "marks stay",
        "spans[token] if token in marks",
        "[token, *spans[token]] if token in marks",
        "The mark itself goes",
    ),
    Mutant(
        "restore",
        "no spans",
        "spans[token] if token in marks",
        "[] if token in marks",
        "spans are missing",
    ),
    Mutant(
        "restore",
        "one token of each",
        "spans[token] if token in marks",
        "spans[token][:1] if token in marks",
        "all of them belong",
    ),
    Mutant(
        "restore",
        "nested",
        "        text += spans[token] if token in marks else [token]",
        "        text.append(spans[token] if token in marks else token)",
        "flat list",
    ),
    Mutant(
        "restore",
        "marks stand for themselves",
        "text += spans[token] if token in marks else [token]",
        "text += [token]",
        "still there",
    ),
    # exchange
    Mutant(
        "exchange",
        "compared with what was read",
        "zip(texts, wanted)",
        "zip(texts, sentences)",
        "with the sentence that was read",
    ),
    Mutant(
        "exchange",
        "a translation is always right",
        "zip(texts, wanted)",
        "zip(texts, english if sentences is french else french)",
        "behind each prefix",
    ),
    Mutant(
        "exchange", "English is always right", "zip(texts, wanted)", "zip(texts, english)",
        "the French sentence is wanted",
    ),
    Mutant(
        "exchange",
        "the languages the other way round",
        "for sentences in (french, english)",
        "for sentences in (english, french)",
        "French sentences come first",
    ),
    Mutant(
        "exchange",
        "the prefixes the other way round",
        '("to-English:", english), ("to-French:", french)',
        '("to-French:", french), ("to-English:", english)',
        "The first row belongs",
    ),
    Mutant("exchange", "counts", " / len(wanted)", "", "These are counts"),
    Mutant("exchange", "no prefix", "(prefix, *words)", "words", "the first word of every source"),
    Mutant(
        "exchange", "prefix behind", "(prefix, *words)", "(*words, prefix)",
        "the first word of every source",
    ),
    Mutant(
        "exchange",
        "prefix as letters",
        "(prefix, *words)",
        "(*prefix, *words)",
        "the first word of every source",
    ),
    Mutant(
        "exchange",
        "the usual cases only",
        "for sentences in (french, english)",
        "for sentences in (french if wanted is english else english,)",
        "the two usual cases only",
    ),
    Mutant("exchange", "one flat list", "table.append(row)", "table += row", "a list for each"),
    Mutant(
        "exchange",
        "a part is enough",
        "sum(t == w for t, w in zip(texts, wanted))",
        "sum(sum(a == b for a, b in zip(t, w)) / len(w) for t, w in zip(texts, wanted))",
        "word for word",
    ),
    # rouge_1
    Mutant(
        "rouge_1",
        "sets",
        "sum((Counter(found) & Counter(wanted)).values())",
        "len(set(found) & set(wanted))",
        "how often",
    ),
    Mutant("rouge_1", "recall", "2 * common / (len(found) + len(wanted))",
           "common / len(wanted)", "recall"),
    Mutant("rouge_1", "precision", "2 * common / (len(found) + len(wanted))",
           "common / len(found)", "precision"),
    Mutant("rouge_1", "half", "2 * common", "common", "count twice"),
    Mutant(
        "rouge_1",
        "counts too often",
        "sum((Counter(found) & Counter(wanted)).values())",
        "sum(word in wanted for word in found)",
        "wanted once",
    ),
    Mutant(
        "rouge_1",
        "in order",
        "sum((Counter(found) & Counter(wanted)).values())",
        "sum(a == b for a, b in zip(found, wanted))",
        "order does not count",
    ),
]  # fmt: skip

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
