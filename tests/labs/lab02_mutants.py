"""Plausible wrong answers to lab 02, as patches of its solution, and other right answers."""

from tests.labs.mutation import Mutant, Rewrite

_BYTES_OF_A = "[0b11000000 + (a >> 6), 0b10000000 + a % 64]"
_BYTES_OF_B = (
    "[0b11110000 + (b >> 18)] + [0b10000000 + (b >> n) % 64 for n in (12, 6, 0)]"  # four of them
)
_ENDINGS = r"'(?:[sdmt]|ll|ve|re)|"
_MOST = "min(counts, key=lambda pair: (-counts[pair], pair), default=None)"

MUTANTS = [
    # by_hand
    Mutant("by_hand", "the code point itself", _BYTES_OF_A, "[a]", "In which row"),
    Mutant("by_hand", "UTF-16", _BYTES_OF_B, "[b >> 8, b % 256]", "In which row"),
    Mutant("by_hand", "text, not numbers", _BYTES_OF_A, "['C3', 'A9']", "whole numbers"),
    Mutant(
        "by_hand", "the first byte's marks", "0b11000000", "0b10000000", "fixed bits of its row"
    ),
    Mutant("by_hand", "shifted by eight", "(a >> 6)", "(a >> 8)", "fixed bits of its row"),
    Mutant(
        "by_hand", "no mark after the first", "0b10000000 + a % 64", "a % 64", "10 and six bits"
    ),
    Mutant("by_hand", "sixes from the left", "(12, 6, 0)", "(0, 6, 12)", "10 and six bits"),
    Mutant("by_hand", "marks left in", "(second % 64)", "second", "strike out the fixed bits"),
    Mutant("by_hand", "eights put together", "<< 12) + ", "<< 16) + ", "strike out the fixed bits"),
    Mutant("by_hand", "one sign", 'len(given["D"]),', "1,", "Every U+ number is one"),
    Mutant(
        "by_hand",
        "joiners have no bytes",
        'for p in given["D"])',
        'for p in given["D"] if not 0x300 <= p < 0xFF00)',
        "Find the row of each",
    ),
    Mutant(
        "by_hand",
        "four bytes each",
        "1 + (p > 0x7F) + (p > 0x7FF) + (p > 0xFFFF)",
        "4",
        "Find the row of each",
    ),
    # count_pairs
    Mutant("count_pairs", "words once", "counts[pair] += n", "counts[pair] += 1", "occurs 3 times"),
    Mutant(
        "count_pairs",
        "the first word only",
        "            counts[pair] += n\n    return counts",
        "            counts[pair] += n\n        return counts\n    return counts",
        "inside of the loop",
    ),
    Mutant("count_pairs", "no sum", "counts[pair] += n", "counts[pair] = n", "Every place"),
    Mutant(
        "count_pairs", "the last word only", "+= n", "= n * [*pairwise(word)].count(pair)", "add"
    ),
    Mutant(
        "count_pairs",
        "a pair once a word",
        "pairwise(word):",
        "set(pairwise(word)):",
        "Every place",
    ),
    Mutant(
        "count_pairs",
        "no overlaps",
        "pairwise(word):",
        "zip(word[::2], word[1::2]):",
        "right after it",
    ),
    Mutant(
        "count_pairs",
        "no overlaps of equal pairs",
        """        for pair in pairwise(word):
            counts[pair] += n""",
        """        i = 0
        while i < len(word) - 1:
            counts[word[i : i + 2]] += n
            i += 2 if word[i : i + 3] == word[i : i + 1] * 3 else 1""",
        "share a token",
    ),
    Mutant(
        "count_pairs", "without order", "counts[pair]", "counts[tuple(sorted(pair))]", "this order"
    ),
    Mutant(
        "count_pairs", "the last one missed", "pairwise(word)", "pairwise(word[:-1])", "right after"
    ),
    Mutant(
        "count_pairs",
        "from word to word",
        """    for word, n in words.items():
        for pair in pairwise(word):
            counts[pair] += n""",
        """    text = [i for word, n in words.items() for i in word * n]
    for pair in pairwise(text):
        counts[pair] += 1""",
        "nothing goes from one to the next",
    ),
    # merge
    Mutant("merge", "one step", "i += 2", "i += 1", "in the place of both"),
    Mutant(
        "merge",
        "the rest forgotten",
        "while i < len(ids):",
        "while i < len(ids) - 1:",
        "to the end",
    ),
    Mutant(
        "merge",
        "the first place only",
        "if tuple(ids[i : i + 2]) == pair:",
        "if tuple(ids[i : i + 2]) == pair and new not in joined:",
        "Every place where",
    ),
    Mutant(
        "merge",
        "from the right",
        """    return joined""",
        """    joined, i = [], len(ids) - 1
    while i >= 0:
        if i > 0 and (ids[i - 1], ids[i]) == pair:
            joined.insert(0, new)
            i -= 2
        else:
            joined.insert(0, ids[i])
            i -= 1
    return joined""",
        "from left to right",
    ),
    Mutant(
        "merge",
        "used twice",
        """    while i < len(ids):
        if tuple(ids[i : i + 2]) == pair:
            joined.append(new)
            i += 2
        else:
            joined.append(ids[i])
            i += 1
    return joined""",
        """    for j, token in enumerate(ids):
        if j and (ids[j - 1], token) == pair:
            joined[-1] = new
        else:
            joined.append(token)
    return joined""",
        "used up",
    ),
    Mutant(
        "merge",
        "in either order",
        "tuple(ids[i : i + 2]) == pair",
        "tuple(ids[i : i + 2]) in (pair, pair[::-1])",
        "is not (2, 1)",
    ),
    Mutant(
        "merge",
        "by digits",
        "    return joined",
        """    text = " ".join(map(str, ids)).replace(" ".join(map(str, pair)), str(new))
    return [int(word) for word in text.split()]""",
        "not their digits",
    ),
    Mutant(
        "merge",
        "in place",
        "    joined, i = [], 0",
        "    ids[:], joined, i = list(ids) + [], [], 0\n    ids.append(0), ids.reverse()",
        "changed in place",
    ),
    Mutant("merge", "a list and a tuple", "tuple(ids[i : i + 2])", "ids[i : i + 2]", "never equal"),
    Mutant(
        "merge", "beyond the end", "tuple(ids[i : i + 2])", "(ids[i], ids[i + 1])", "out of range"
    ),
    Mutant(
        "merge",
        "a new list at each hit",
        """            joined.append(new)
            i += 2
        else:
            joined.append(ids[i])
            i += 1
    return joined""",
        """            ids = ids[:i] + [new] + ids[i + 2 :]
        i += 1
    return ids""",
        "copies it",
    ),
    Mutant(
        "merge",
        "a slice replaced",
        """    joined, i = [], 0
    while i < len(ids):
        if tuple(ids[i : i + 2]) == pair:
            joined.append(new)
            i += 2
        else:
            joined.append(ids[i])
            i += 1
    return joined""",
        """    ids, i = list(ids), 0
    while i < len(ids) - 1:
        if (ids[i], ids[i + 1]) == pair:
            ids[i : i + 2] = [new]
        i += 1
    return ids""",
        "move the rest of it",
    ),
    Mutant(
        "merge",
        "half of a pair taken out",
        """    joined, i = [], 0
    while i < len(ids):
        if tuple(ids[i : i + 2]) == pair:
            joined.append(new)
            i += 2
        else:
            joined.append(ids[i])
            i += 1
    return joined""",
        """    ids, i = list(ids), 0
    while i < len(ids) - 1:
        if (ids[i], ids[i + 1]) == pair:
            ids[i] = new
            ids.pop(i + 1)
        i += 1
    return ids""",
        "move the rest of it",
    ),
    Mutant(
        "merge",
        "copied for each token",
        "joined.append(ids[i])",
        "joined = joined + [ids[i]]",
        "copies it",
    ),
    # split_words
    Mutant(
        "split_words",
        "by split",
        """regex.findall(
        r"'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", text
    )""",
        "text.split()",
        "throws away",
    ),
    Mutant("split_words", "the space after", r" ?\p{L}+|", r"\p{L}+ ?|", "A space belongs"),
    Mutant("split_words", "or in a class", "[sdmt]", "[s|d|m|t]", "a | is a character"),
    Mutant("split_words", "no space", r"| ?\p{L}+|", r"|\p{L}+|", "A space belongs"),
    Mutant("split_words", "a group", r" ?\p{L}+|", r"( ?\p{L}+)|", "only holds together"),
    Mutant("split_words", "the endings in a group", "(?:[sdmt]", "([sdmt]", "only holds together"),
    Mutant("split_words", "English letters", r"| ?\p{L}+|", "| ?[a-zA-Z]+|", "of any script"),
    Mutant("split_words", "digits one by one", r" ?\p{N}+|", r" ?\p{N}|", "A run of digits"),
    Mutant("split_words", "digits without a space", r" ?\p{N}+|", r"\p{N}+|", "A run of digits"),
    Mutant("split_words", "words of all kinds", r" ?\p{L}+| ?\p{N}+", r" ?\w+", "A run of digits"),
    Mutant("split_words", "underscore", r" ?\p{L}+|", r" ?[\p{L}_]+|", "only letters make"),
    Mutant("split_words", "signs one by one", r"\p{N}]+|", r"\p{N}]|", "A run of other signs"),
    Mutant("split_words", "signs without a space", "| ?[^", "|[^", "A run of other signs"),
    Mutant("split_words", "no endings", _ENDINGS, "", "one of seven endings"),
    Mutant("split_words", "endings of one letter", "|ll|ve|re)", ")", "one of seven endings"),
    Mutant(
        "split_words",
        "endings last",
        r"""r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|""",
        r"""r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|'(?:[sdmt]|ll|ve|re)|""",
        "has to stand first",
    ),
    Mutant(
        "split_words", "endings of words only", "|ll|ve|re)", r"|ll|ve|re)\b", "whatever follows"
    ),
    Mutant("split_words", "large letters", "[sdmt]", "[sdmtSDMT]", "in small letters"),
    Mutant("split_words", "a space before endings", "r\"'(?:", "r\" ?'(?:", "in small letters"),
    Mutant("split_words", "all blanks in one", r"|\s+(?!\S)|", "|", "all but the last one"),
    Mutant("split_words", "blanks one by one", r"|\s+(?!\S)|\s+", r"|\s", "all but the last one"),
    Mutant("split_words", "blanks left out", r"(?!\S)|\s+", r"(?!\S)", "which alternative"),
    Mutant("split_words", "breaks are signs", r"[^\s\p{L}", r"[^ \p{L}", "none of the other signs"),
    Mutant(
        "split_words",
        "digits of \\d",
        r"| ?\p{N}+| ?[^\s\p{L}\p{N}]+",
        r"| ?\d+| ?[^\s\p{L}\d]+",
        "other signs for numbers",
    ),
    Mutant(
        "split_words",
        "endings of letters only",
        "r\"'(?:",
        "r\"(?<=\\p{L})'(?:",
        "wherever they stand",
    ),
    Mutant(
        "split_words",
        "the course's pattern",
        """regex.findall(
        r"'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+", text
    )""",
        "regex.findall(GPT2_PATTERN, text)",
        "without GPT2_PATTERN",
    ),
    Mutant("split_words", "many spaces", r"| ?\p{L}", r"| *\p{L}", "all but the last one"),
    Mutant("split_words", "any blank before", r"| ?\p{L}", r"|\s?\p{L}", "where only a space may"),
    # train_merges
    Mutant(
        "train_merges",
        "words once",
        "count_pairs(words)",
        "count_pairs(dict.fromkeys(words, 2))",
        "each as often",
    ),
    Mutant(
        "train_merges",
        "the rarest",
        "(-counts[pair], pair)",
        "(counts[pair], pair)",
        "most frequent",
    ),
    Mutant(
        "train_merges",
        "the first that came",
        "(-counts[pair], pair)",
        "-counts[pair]",
        "Of equally frequent",
    ),
    Mutant(
        "train_merges",
        "the largest ids",
        _MOST,
        "max(counts, key=lambda pair: (counts[pair], pair), default=None)",
        "Of equally frequent",
    ),
    Mutant(
        "train_merges",
        "ids as text",
        "(-counts[pair], pair)",
        "(-counts[pair], str(pair[0]), str(pair[1]))",
        "compared as numbers",
    ),
    Mutant(
        "train_merges",
        "second id first",
        "(-counts[pair], pair)",
        "(-counts[pair], pair[::-1])",
        "Of equally frequent",
    ),
    Mutant("train_merges", "an error at the end", ", default=None)", ")", "nothing to choose"),
    Mutant(
        "train_merges",
        "pairs that occur once",
        "counts[best] < 2",
        "counts[best] < 1",
        "only one place",
    ),
    Mutant(
        "train_merges", "twice is too few", "counts[best] < 2", "counts[best] <= 2", "often enough"
    ),
    Mutant(
        "train_merges",
        "one more",
        "range(256, 256 + n_merges)",
        "range(256, 257 + n_merges)",
        "Count the merges",
    ),
    Mutant(
        "train_merges",
        "one fewer",
        "range(256, 256 + n_merges)",
        "range(256, 255 + n_merges)",
        "Count the merges",
    ),
    Mutant(
        "train_merges",
        "from 257",
        "range(256, 256 + n_merges)",
        "range(257, 257 + n_merges)",
        "token 256 + i",
    ),
    Mutant(
        "train_merges",
        "always the same id",
        "merge(word, best, new)",
        "merge(word, best, 256)",
        "token 256 + i",
    ),
    Mutant(
        "train_merges",
        "counted once",
        """    merges = []
    for new in range(256, 256 + n_merges):
        counts = count_pairs(words)
        best""",
        """    merges, counts = [], count_pairs(words)
    for new in range(256, 256 + n_merges):
        counts = {pair: n for pair, n in counts.items() if pair not in merges}
        best""",
        "so are the counts",
    ),
    Mutant(
        "train_merges",
        "words left unmerged",
        "        words = {tuple(merge(word, best, new)): n for word, n in words.items()}\n",
        "        words = {w: n for w, n in words.items() if best not in pairwise(w)}\n",
        "so are the counts",
    ),
    Mutant(
        "train_merges",
        "a name set anew",
        "        words = {tuple(merge(word, best, new)): n for word, n in words.items()}\n",
        "        for word in words:\n            word = tuple(merge(word, best, new))\n",
        "The same pair comes twice",
    ),
    Mutant(
        "train_merges",
        "ids handed back",
        "    return merges",
        "    return list(range(256, 256 + len(merges)))",
        "a list of pairs",
    ),
    Mutant(
        "train_merges",
        "in place",
        """        words = {tuple(merge(word, best, new)): n for word, n in words.items()}
""",
        """        for word in list(words):
            words[tuple(merge(word, best, new))] = words.pop(word)
""",
        "changed in place",
    ),
    # train_quickly
    Mutant(
        "train_quickly",
        "counted anew in every round",
        "        most = max(counts.values(), default=0)",
        "        counts = Counter(count_pairs(words))\n"
        "        most = max(counts.values(), default=0)",
        "the set of the words",
    ),
    Mutant(
        "train_quickly",
        "all words searched",
        "        for word in places.pop(best):",
        "        for word in [word for word in words if best in pairwise(word)]:",
        "the set of the words in which it stands",
    ),
    Mutant(
        "train_quickly",
        "all words looked at",
        "        for word in places.pop(best):",
        """        a, b = best
        for word in [word for word in words if a in word and b in word]:
            if best not in pairwise(word):
                continue""",
        "the set of the words in which it stands",
    ),
    Mutant(
        "train_quickly",
        "all words looked at, then taken apart",
        "        for word in places.pop(best):",
        """        a = best[0]
        for word in [word for word in words if a in word and best in pairwise(word)]:""",
        "the set of the words in which it stands",
    ),
    Mutant(
        "train_quickly",
        "a new dictionary in every round",
        "        best = min(pair for pair, n in counts.items() if n == most)",
        "        best, words = min(pair for pair, n in counts.items() if n == most), dict(words)",
        "a new dictionary of all words",
    ),
    Mutant(
        "train_quickly",
        "the plain loop",
        "    words, counts, merges = dict(words), Counter(count_pairs(words)), []",
        "    return train_merges(words, n_merges)\n    counts, merges = {}, []",
        "the set of the words",
    ),
    Mutant(
        "train_quickly",
        "the index made anew",
        "        most = max(counts.values(), default=0)",
        """        places = defaultdict(set)
        for word in words:
            for pair in pairwise(word):
                places[pair].add(word)
        most = max(counts.values(), default=0)""",
        "the set of the words",
    ),
    Mutant(
        "train_quickly",
        "all pairs sorted again and again",
        "        best = min(pair for pair, n in counts.items() if n == most)",
        """        for _ in range(4):
            best = sorted(counts, key=lambda pair: (-counts[pair], pair))[0]""",
        "sort nothing",
    ),
    Mutant(
        "train_quickly",
        "old pairs left in",
        "                counts[pair] -= n",
        "                counts[pair] -= 0",
        "out of date",
    ),
    Mutant(
        "train_quickly",
        "only the merged pair taken out",
        """            for pair in pairwise(word):
                counts[pair] -= n""",
        "            counts[best] = 0",
        "Keep books by hand",
    ),
    Mutant(
        "train_quickly",
        "new pairs not counted",
        "                counts[pair] += n",
        "                counts[pair] += 0",
        "Keep books by hand",
    ),
    Mutant(
        "train_quickly",
        "new words not found again",
        "                places[pair].add(joined)\n    return",
        "                pass\n    return",
        "out of date",
    ),
    Mutant(
        "train_quickly",
        "a pair once a word",
        "            for pair in pairwise(word):\n                counts",
        "            for pair in set(pairwise(word)):\n                counts",
        "out of date",
    ),
    Mutant(
        "train_quickly",
        "words once",
        "counts[pair] += n",
        "counts[pair] += 1",
        "Keep books by hand",
    ),
    Mutant(
        "train_quickly",
        "words that are gone",
        """            if word not in words:
                continue
""",
        "",
        "out of date",
    ),
    Mutant(
        "train_quickly",
        "the old word stays",
        "n = words.pop(word)",
        "n = words[word]",
        "Keep books by hand",
    ),
    Mutant(
        "train_quickly",
        "the first that came",
        "min(pair for pair, n in counts.items() if n == most)",
        "max(counts, key=counts.get)",
        "Of equally frequent",
    ),
    Mutant("train_quickly", "to the end", "if most < 2:", "if most < 1:", "only one place"),
    Mutant("train_quickly", "in place", "dict(words), Counter", "words, Counter", "in place"),
    # token_bytes
    Mutant(
        "token_bytes",
        "in the order of their values",
        "for byte in BYTES",
        "for byte in range(256)",
        "BYTES[i]",
    ),
    Mutant(
        "token_bytes",
        "zeros",
        "[bytes([byte]) for byte in BYTES]",
        "[bytes(byte) for byte in BYTES]",
        "BYTES[i]",
    ),
    Mutant(
        "token_bytes",
        "text",
        "[bytes([byte]) for byte in BYTES]",
        "[chr(byte) for byte in BYTES]",
        "list of bytes",
    ),
    Mutant(
        "token_bytes",
        "the numbers",
        "[bytes([byte]) for byte in BYTES]",
        "list(BYTES)",
        "list of bytes",
    ),
    Mutant(
        "token_bytes",
        "halves swapped",
        "tokens[a] + tokens[b]",
        "tokens[b] + tokens[a]",
        "first half",
    ),
    Mutant(
        "token_bytes",
        "halves are single bytes",
        "tokens[a] + tokens[b]",
        "bytes([BYTES[a], BYTES[b]])",
        "first half",
    ),
    Mutant(
        "token_bytes",
        "ids as bytes",
        "tokens[a] + tokens[b]",
        "bytes([a % 256, b % 256])",
        "first half",
    ),
    Mutant(
        "token_bytes",
        "new ones in front",
        "tokens.append(tokens[a] + tokens[b])",
        "tokens.insert(256, tokens[a] + tokens[b])",
        "adds one token at the end",
    ),
    Mutant(
        "token_bytes",
        "merges alone",
        "    return tokens",
        "    return tokens[256:]",
        "256 single bytes",
    ),
    # encode_text
    Mutant(
        "encode_text",
        "whoever wrote it",
        "if not special or not special_ids:",
        "if not special_ids:",
        "Who wrote this text",
    ),
    Mutant(
        "encode_text",
        "one loop, the guard at the cut",
        """    if not special or not special_ids:
        return encode(text)
    names = sorted(special_ids, key=len, reverse=True)
    ids = []
    for part in regex.split(f"({'|'.join(map(regex.escape, names))})", text):
""",
        """    names = sorted(special_ids, key=len, reverse=True)
    ids, pattern = [], f"({'|'.join(map(regex.escape, names))})"
    for part in regex.split(pattern, text) if special and names else [text]:
""",
        "Who wrote this text",
    ),
    Mutant(
        "encode_text",
        "a sign in its place",
        """    for part in regex.split(f"({'|'.join(map(regex.escape, names))})", text):
        if part in special_ids:
            ids.append(special_ids[part])
        elif part:
            ids += encode(part)
    return ids""",
        """    for name in names:
        text = text.replace(name, f"\\0{special_ids[name]}\\0")
    for i, part in enumerate(text.split("\\0")):
        if i % 2:
            ids.append(int(part))
        elif part:
            ids += encode(part)
    return ids""",
        "a sign of your own",
    ),
    Mutant("encode_text", "on by default", "special=False", "special=True", "Who wrote this text"),
    Mutant(
        "encode_text",
        "never",
        "if not special or not special_ids:",
        "if True:",
        "regex.escape",
    ),
    Mutant("encode_text", "not escaped", "map(regex.escape, names)", "names", "regex.escape"),
    Mutant(
        "encode_text",
        "no group",
        "f\"({'|'.join(map(regex.escape, names))})\"",
        "'|'.join(map(regex.escape, names))",
        "hands out",
    ),
    Mutant("encode_text", "shortest first", ", reverse=True", "", "the longer of those"),
    Mutant(
        "encode_text",
        "in the order of the dictionary",
        "sorted(special_ids, key=len, reverse=True)",
        "list(special_ids)",
        "the longer of those",
    ),
    Mutant(
        "encode_text",
        "no special tokens at all",
        "if not special or not special_ids:",
        "if not special:",
        "matches everywhere",
    ),
    Mutant(
        "encode_text",
        "blanks taken away",
        "            ids += encode(part)",
        "            ids += encode(part.strip())",
        "with its blanks",
    ),
    Mutant(
        "encode_text",
        "lists in a list",
        "            ids += encode(part)",
        "            ids.append(encode(part))",
        "One flat list",
    ),
    Mutant(
        "encode_text",
        "special ones at the end",
        "    return ids",
        "    marks = [i for i in ids if i in special_ids.values()]\n"
        "    return [i for i in ids if i not in marks] + marks",
        "at its place",
    ),
    Mutant(
        "encode_text",
        "character by character",
        "            ids += encode(part)",
        "            ids += [i for character in part for i in encode(character)]",
        "once for each part",
    ),
    Mutant(
        "encode_text",
        "special ones left out",
        "            ids.append(special_ids[part])",
        "            pass",
        "hands out",
    ),
    Mutant(
        "encode_text",
        "the name is encoded as well",
        "            ids.append(special_ids[part])",
        "            ids += [special_ids[part], *encode(part)]",
        "its id comes",
    ),
    Mutant(
        "encode_text",
        "one name at a time",
        "    return ids",
        """    ids = []
    for name in special_ids:
        for i, part in enumerate(text.split(name)):
            ids += ([special_ids[name]] if i else []) + encode(part)
    return ids""",
        "once for each part",
    ),
    # measure
    Mutant(
        "measure",
        "words over tokens",
        "n_tokens / len(text.split())",
        "len(text.split()) / n_tokens",
        "not the other way",
    ),
    Mutant("measure", "split at single spaces", "text.split()", 'text.split(" ")', "a line break"),
    Mutant(
        "measure",
        "characters",
        "n_bytes = len(text.encode())",
        "n_bytes = len(text)",
        "two bytes in UTF-8",
    ),
    Mutant(
        "measure",
        "tokens per byte",
        "n_bytes / n_tokens",
        "n_tokens / n_bytes",
        "Bytes over tokens",
    ),
    Mutant(
        "measure",
        "bits per token",
        "nats_per_token * n_tokens / (n_bytes * math.log(2))",
        "nats_per_token / math.log(2)",
        "whole text cost",
    ),
    Mutant("measure", "nats per byte", "(n_bytes * math.log(2))", "n_bytes", "How many bits"),
    Mutant(
        "measure",
        "times ln 2",
        "/ (n_bytes * math.log(2))",
        "/ n_bytes * math.log(2)",
        "How many bits",
    ),
    Mutant(
        "measure",
        "bytes and tokens swapped",
        "nats_per_token * n_tokens / (n_bytes",
        "nats_per_token * n_bytes / (n_tokens",
        "share them among",
    ),
    Mutant("measure", "a tuple", "    return {", "    return 1.0, {", "3 names"),
    # wordpiece
    Mutant(
        "wordpiece",
        "shortest first",
        "range(len(rest), 0, -1)",
        "range(1, len(rest) + 1)",
        "the whole rest first",
    ),
    Mutant("wordpiece", "no mark", '"##" if cut else ""', '""', "without ##"),
    Mutant("wordpiece", "every piece marked", '"##" if cut else ""', '"##"', "without ##"),
    Mutant(
        "wordpiece",
        "mark not in the set",
        "            if piece in pieces:",
        "            if piece in pieces or rest[:end] in pieces:",
        "in the set too",
    ),
    Mutant(
        "wordpiece",
        "mark not handed back",
        "    return cut",
        '    return [piece.removeprefix("##") for piece in cut]',
        "without ##",
    ),
    Mutant(
        "wordpiece",
        "the rest unknown",
        '            return ["[UNK]"]',
        '            return [*cut, "[UNK]"]',
        "unknown as a whole",
    ),
    Mutant(
        "wordpiece",
        "unknown parts left out",
        '            return ["[UNK]"]',
        "            break",
        "unknown as a whole",
    ),
    Mutant(
        "wordpiece",
        "a character unknown",
        '            return ["[UNK]"]',
        '            piece, end = "[UNK]", 1',
        "unknown as a whole",
    ),
    Mutant(
        "wordpiece",
        "not a list",
        '            return ["[UNK]"]',
        '            return "[UNK]"',
        "unknown as a whole",
    ),
    Mutant(
        "wordpiece",
        "with a way back",
        """    cut, rest = [], word
    while rest:""",
        """    def build(rest, mark):
        for end in range(len(rest), 0, -1):
            if mark + rest[:end] in pieces:
                if end == len(rest):
                    return [mark + rest]
                if after := build(rest[end:], "##"):
                    return [mark + rest[:end], *after]
        return []

    return build(word, "") or ["[UNK]"]
    cut, rest = [], word
    while rest:""",
        "never given back",
    ),
    Mutant(
        "wordpiece",
        "no pieces of one letter",
        "range(len(rest), 0, -1)",
        "range(len(rest), 1, -1)",
        "get down to pieces",
    ),
]

REWRITES = [
    Rewrite(
        "by_hand",
        "as binary text",
        """
def by_hand():
    def utf8(point):
        bits = f"{point:b}"
        if len(bits) <= 7:
            return [point]
        n = 2 if len(bits) <= 11 else 3 if len(bits) <= 16 else 4
        bits = bits.zfill(6 * (n - 1) + 7 - n)
        first = "1" * n + "0" + bits[: 7 - n]
        rest = ["10" + bits[i : i + 6] for i in range(7 - n, len(bits), 6)]
        return [int(byte, 2) for byte in [first, *rest]]

    given = check.numbers()
    bits = "".join(f"{byte:08b}"[skip:] for byte, skip in zip(given["C"], (4, 2, 2)))
    return {
        "bytes of A": utf8(given["A"]),
        "bytes of B": utf8(given["B"]),
        "code point of C": int(bits, 2),
        "code points in D": len(given["D"]),
        "bytes in D": sum(len(utf8(point)) for point in given["D"]),
    }
""",
    ),
    Rewrite(
        "by_hand",
        "tuples, and masks",
        """
def by_hand():
    g = check.numbers()
    a, b, c, d = (g[name] for name in "ABCD")
    sizes = {range(0x80): 1, range(0x80, 0x800): 2, range(0x800, 0x10000): 3}
    return {
        "bytes in D": sum(next((n for r, n in sizes.items() if p in r), 4) for p in d),
        "code points in D": len(d),
        "code point of C": (c[0] & 15) << 12 | (c[1] & 63) << 6 | c[2] & 63,
        "bytes of B": (240 | b >> 18, 128 | b >> 12 & 63, 128 | b >> 6 & 63, 128 | b & 63),
        "bytes of A": (192 | a >> 6, 128 | a & 63),
    }
""",
    ),
    Rewrite(
        "count_pairs",
        "by index",
        """
def count_pairs(words):
    counts = {}
    for word in words:
        for i in range(len(word) - 1):
            pair = word[i], word[i + 1]
            counts[pair] = counts.get(pair, 0) + words[word]
    return counts
""",
    ),
    Rewrite(
        "count_pairs",
        "sums of counters",
        """
def count_pairs(words):
    from collections import defaultdict
    counts = defaultdict(int)
    for word, n in words.items():
        for pair, times in Counter(zip(word, word[1:])).items():
            counts[pair] += times * n
    return counts
""",
    ),
    Rewrite(
        "merge",
        "from the last token on",
        """
def merge(ids, pair, new):
    out, free = [], False
    for token in ids:
        if free and (out[-1], token) == pair:
            out[-1], free = new, False
        else:
            out.append(token)
            free = True
    return out
""",
    ),
    Rewrite(
        "merge",
        "by an iterator",
        """
def merge(ids, pair, new):
    a, b = pair
    places = enumerate(ids)
    def joined():
        for i, token in places:
            if token == a and i + 1 < len(ids) and ids[i + 1] == b:
                next(places)
                yield new
            else:
                yield token
    return tuple(joined())
""",
    ),
    Rewrite(
        "split_words",
        "with the standard library's patterns",
        r"""
def split_words(text):
    import re
    letters, digits, signs = r"[^\W\d_²½Ⅳ]+", r"[\d²½Ⅳ]+", r"(?:[^\w\s]|_)+"
    ends = "'s|'d|'m|'t|'ll|'ve|'re"
    return re.findall(rf"{ends}| ?{letters}| ?{digits}| ?{signs}|\s+(?=\s|$)|\s", text)
""",
    ),
    Rewrite(
        "split_words",
        "character by character",
        """
def split_words(text):
    def kind(c):
        return ("letter" if regex.match(r"\\p{L}", c) else "digit" if regex.match(r"\\p{N}", c)
                else "blank" if regex.match(r"\\s", c) else "sign")
    pieces, i = [], 0
    while i < len(text):
        start = i
        ending = next((e for e in ("'s", "'d", "'m", "'t", "'ll", "'ve", "'re")
                       if text.startswith(e, i)), None)
        if ending:
            i += len(ending)
        else:
            if text[i] == " " and i + 1 < len(text) and kind(text[i + 1]) != "blank":
                i += 1
            this = kind(text[i])
            while i < len(text) and kind(text[i]) == this:
                i += 1
            if this == "blank" and i < len(text) and i - start > 1:
                i -= 1
        pieces.append(text[start:i])
    return pieces
""",
    ),
    Rewrite(
        "train_merges",
        "most common, sorted",
        """
def train_merges(words, n_merges):
    lists, merges = [(list(word), n) for word, n in words.items()], []
    while len(merges) < n_merges:
        counts = {}
        for ids, n in lists:
            for pair in zip(ids, ids[1:]):
                counts[pair] = counts.get(pair, 0) + n
        top = max(counts.values(), default=0)
        if top < 2:
            return merges
        best = sorted(pair for pair in counts if counts[pair] == top)[0]
        lists = [(merge(ids, best, 256 + len(merges)), n) for ids, n in lists]
        merges.append(best)
    return merges
""",
    ),
    Rewrite(
        "train_merges",
        "counts kept up to date",
        """
def train_merges(words, n_merges):
    words, counts, merges = dict(words), count_pairs(words), []
    for i in range(n_merges):
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        if not ranked or ranked[0][1] <= 1:
            break
        pair = ranked[0][0]
        merges.append(pair)
        for word in [w for w in words if pair in zip(w, w[1:])]:
            n = words.pop(word)
            for old in zip(word, word[1:]):
                counts[old] -= n
            word = tuple(merge(word, pair, 256 + i))
            words[word] = n
            for old in zip(word, word[1:]):
                counts[old] = counts.get(old, 0) + n
    return merges
""",
    ),
    Rewrite(
        "train_quickly",
        "words by number",
        """
def train_quickly(words, n_merges):
    spelled, times = [list(word) for word in words], list(words.values())
    counts, where = Counter(), {}
    for k, ids in enumerate(spelled):
        for pair in zip(ids, ids[1:]):
            counts[pair] += times[k]
            where.setdefault(pair, set()).add(k)
    merges = []
    while len(merges) < n_merges and counts:
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        if counts[best] < 2:
            break
        for k in where[best]:
            old = spelled[k]
            new = spelled[k] = merge(old, best, 256 + len(merges))
            for pair in zip(old, old[1:]):
                counts[pair] -= times[k]
            for pair in zip(new, new[1:]):
                counts[pair] += times[k]
                where.setdefault(pair, set()).add(k)
        merges.append(best)
    return merges
""",
    ),
    Rewrite(
        "train_quickly",
        "no entry out of date, pairs without a count thrown out",
        """
def train_quickly(words, n_merges):
    words, where, merges = dict(words), {}, []
    counts = dict(count_pairs(words))
    for word in words:
        for pair in zip(word, word[1:]):
            where.setdefault(pair, set()).add(word)
    for i in range(n_merges):
        best = min(counts, key=lambda pair: (-counts[pair], pair), default=None)
        if best is None or counts[best] < 2:
            break
        merges.append(best)
        for old in list(where[best]):
            n = words.pop(old)
            new = tuple(merge(list(old), best, 256 + i))
            words[new] = words.get(new, 0) + n
            for pair in zip(old, old[1:]):
                counts[pair] -= n
                where[pair].discard(old)
            for pair in zip(new, new[1:]):
                counts[pair] = counts.get(pair, 0) + n
                where.setdefault(pair, set()).add(new)
        counts = {pair: n for pair, n in counts.items() if n > 0}
    return merges
""",
    ),
    Rewrite(
        "train_quickly",
        "with a heap",
        """
def train_quickly(words, n_merges):
    import heapq
    words, counts, places, merges = dict(words), dict(count_pairs(words)), {}, []
    for word in words:
        for pair in zip(word, word[1:]):
            places.setdefault(pair, []).append(word)
    heap = [(-n, pair) for pair, n in counts.items()]
    heapq.heapify(heap)
    while heap and len(merges) < n_merges:
        n, best = heapq.heappop(heap)
        if counts.get(best, 0) != -n:
            continue
        if -n < 2:
            break
        changed = set()
        for word in places.pop(best):
            if (times := words.pop(word, 0)) == 0:
                continue
            new = tuple(merge(word, best, 256 + len(merges)))
            words[new] = times
            for pair in zip(word, word[1:]):
                counts[pair] -= times
                changed.add(pair)
            for pair in zip(new, new[1:]):
                counts[pair] = counts.get(pair, 0) + times
                places.setdefault(pair, []).append(new)
                changed.add(pair)
        merges.append(best)
        for pair in changed:
            if counts[pair] > 0:
                heapq.heappush(heap, (-counts[pair], pair))
    return merges
""",
    ),
    Rewrite(
        "train_quickly",
        "Counters subtracted, pairs sorted",
        """
def train_quickly(words, n_merges):
    words, counts, index = dict(words), Counter(), defaultdict(set)
    for word, n in words.items():
        for pair in pairwise(word):
            counts[pair] += n
            index[pair].add(word)
    merges = []
    for i in range(n_merges):
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        if not ranked or ranked[0][1] < 2:
            break
        pair = ranked[0][0]
        merges.append(pair)
        for word in [w for w in index[pair] if w in words]:
            n = words.pop(word)
            new = tuple(merge(list(word), pair, 256 + i))
            words[new] = n
            counts.subtract({p: n * k for p, k in Counter(pairwise(word)).items()})
            counts.update({p: n * k for p, k in Counter(pairwise(new)).items()})
            for p in pairwise(new):
                index[p].add(new)
        del counts[pair]
    return merges
""",
    ),
    Rewrite(
        "token_bytes",
        "recursive",
        """
def token_bytes(merges):
    def spell(i):
        return [BYTES[i]] if i < 256 else spell(merges[i - 256][0]) + spell(merges[i - 256][1])
    return [bytes(spell(i)) for i in range(256 + len(merges))]
""",
    ),
    Rewrite(
        "token_bytes",
        "by a dictionary",
        """
def token_bytes(merges):
    table = {i: byte.to_bytes(1, "big") for i, byte in enumerate(BYTES)}
    for pair in merges:
        table[len(table)] = b"".join(table[half] for half in pair)
    return list(table.values())
""",
    ),
    Rewrite(
        "encode_text",
        "place by place",
        """
def encode_text(text, encode, special_ids, special=False):
    ids, part, i = [], "", 0
    while i < len(text):
        fits = [name for name in special_ids if special and text.startswith(name, i)]
        if fits:
            name = max(fits, key=len)
            if part:
                ids += encode(part)
            ids, part, i = ids + [special_ids[name]], "", i + len(name)
        else:
            part, i = part + text[i], i + 1
    return ids + encode(part) if part else ids
""",
    ),
    Rewrite(
        "encode_text",
        "by matches",
        """
def encode_text(text, encode, special_ids, special=False):
    import re
    if not (special and special_ids):
        return list(encode(text))
    names = "|".join(re.escape(name) for name in sorted(special_ids, key=lambda x: -len(x)))
    ids, start = [], 0
    for match in re.finditer(names, text):
        ids.extend(encode(text[start : match.start()]))
        ids.append(special_ids[match[0]])
        start = match.end()
    return tuple(ids + encode(text[start:]))
""",
    ),
    Rewrite(
        "measure",
        "by bits per token",
        """
def measure(text, n_tokens, nats_per_token):
    compression = len(text.encode("utf-8")) / n_tokens
    return dict(zip(
        ("tokens per word", "bytes per token", "bits per byte"),
        (n_tokens / len(text.split()), compression,
         nats_per_token * math.log2(math.e) / compression),
    ))
""",
    ),
    Rewrite(
        "measure",
        "with a pattern",
        r"""
def measure(text, n_tokens, nats_per_token):
    import re
    words, size = re.findall(r"\S+", text), sum(1 for _ in bytes(text, "utf-8"))
    return {"bits per byte": math.log2(math.exp(nats_per_token)) * n_tokens / size,
            "tokens per word": n_tokens / len(words), "bytes per token": size / n_tokens}
""",
    ),
    Rewrite(
        "wordpiece",
        "recursive",
        """
def wordpiece(word, pieces):
    def rest(start):
        if start == len(word):
            return []
        for end in reversed(range(start + 1, len(word) + 1)):
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in pieces:
                after = rest(end)
                return None if after is None else [piece] + after
        return None
    found = rest(0)
    return ["[UNK]"] if found is None else found
""",
    ),
    Rewrite(
        "wordpiece",
        "by the longest candidate",
        """
def wordpiece(word, pieces):
    start, out = 0, ()
    while start < len(word):
        mark = "##" * (start > 0)
        known = [p for p in pieces if p.startswith(mark) and len(p) > len(mark)
                 and word.startswith(p[len(mark):], start)]
        if not mark:
            known = [p for p in known if not p.startswith("##")]
        if not known:
            return ["[UNK]"]
        piece = max(known, key=len)
        start += len(piece) - len(mark)
        out += (piece,)
    return list(out)
""",
    ),
]
