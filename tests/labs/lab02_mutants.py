"""Wrong answers to lab 02 that are no slips of its checks, and other right answers."""

from tests.labs.mutation import mutants, rewrites

MUTANTS = mutants(r"""
== by_hand
the code point itself | [0b11000000 + (a >> 6), 0b10000000 + a % 64] => [a] | In which row
text, not numbers | [0b11000000 + (a >> 6), 0b10000000 + a % 64] => ['C3', 'A9'] | whole numbers
the first byte's marks | 0b11000000 => 0b10000000 | fixed bits of its row
no mark after the first | 0b10000000 + a % 64 => a % 64 | 10 and six bits
marks left in | (second % 64) => second | strike out the fixed bits
one left out | for p in given["D"]) => for p in given["D"][1:]) | also those that join

== split_words
by split | throws away
-    return regex.findall(
-        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", text
-    )
+    return text.split()
or in a class | [sdmt] => [s|d|m|t] | is a character
no space | | ?\p{L}+| => |\p{L}+| | A space belongs
the endings in a group | (?:[sdmt] => ([sdmt] | only holds together
English letters | | ?\p{L}+| => | ?[a-zA-Z]+| | of any script
underscore | ?\p{L}+| => ?[\p{L}_]+| | only letters make
signs one by one | \p{N}]+| => \p{N}]| | A run of other signs
endings last | r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+| \
    => r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|'(?:[sdmt]|ll|ve|re)| | has to stand first
large letters | [sdmt] => [sdmtSDMT] | in small letters
all blanks in one | |\s+(?!\S)| => | | all but the last one
breaks are signs | [^\s\p{L} => [^ \p{L} | none of the other signs
white space is a sign | [^\s\p{L} => [^\p{L} | \s belongs into
digits of \d | | ?\p{N}+| ?[^\s\p{L}\p{N}]+ => | ?\d+| ?[^\s\p{L}\d]+ | other signs for numbers
endings of letters only | r"'(?: => r"(?<=\p{L})'(?: | wherever they stand
the course's pattern | without GPT2_PATTERN
-    return regex.findall(
-        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", text
-    )
+    return regex.findall(GPT2_PATTERN, text)

== train_quickly
counted anew in every round | the set of the words
     for new in range(256, 256 + n_merges):
+        counts = Counter(count_pairs(words))
all words looked at | the set of the words in which it stands
-        for word in places.pop(best):
+        a, b = best
+        for word in [word for word in words if a in word and b in word]:
+            if best not in pairwise(word):
+                continue
all pairs sorted again and again | sort nothing
-        best = min(pair for pair, n in counts.items() if n == most)
+        for _ in range(4):
+            best = sorted(counts, key=lambda pair: (-counts[pair], pair))[0]
old pairs left in | counts[pair] -= n => counts[pair] -= 0 | counted out as it was
only the merged pair taken out | Keep books by hand
-            for pair in pairwise(word):
-                counts[pair] -= n
+            counts[best] = 0
words that are gone | out of date
-            if word not in words:
-                continue
the first that came | min(pair for pair, n in counts.items() if n == most) \
    => max(counts, key=counts.get) | Of equally frequent
to the end | if most < 2: => if most < 1: | only one place
twice is too few | if most < 2: => if most <= 2: | often enough
an error at the end | max(counts.values(), default=0) => max(counts.values()) | nothing to choose
one more | range(256, 256 + n_merges) => range(256, 257 + n_merges) | Count the merges
ids handed back | return merges => return list(range(256, 256 + len(merges))) | a list of pairs
in place | dict(words), Counter => words, Counter | in place

== token_bytes
in the order of their values | for byte in BYTES => for byte in range(256) | BYTES[i]
halves swapped | tokens[a] + tokens[b] => tokens[b] + tokens[a] | first half
halves are single bytes | tokens[a] + tokens[b] => bytes([BYTES[a], BYTES[b]]) | first half

== encode_text
one loop, the guard at the cut | Who wrote this text
-    if not special or not special_ids:
-        return encode(text)
     names = sorted(special_ids, key=len, reverse=True)
-    ids = []
-    for part in regex.split(f"({'|'.join(map(regex.escape, names))})", text):
+    ids, pattern = [], f"({'|'.join(map(regex.escape, names))})"
+    for part in regex.split(pattern, text) if special and names else [text]:
a sign in its place | a sign of your own
-    for part in regex.split(f"({'|'.join(map(regex.escape, names))})", text):
-        if part in special_ids:
-            ids.append(special_ids[part])
+    for name in names:
+        text = text.replace(name, f"\0{special_ids[name]}\0")
+    for i, part in enumerate(text.split("\0")):
+        if i % 2:
+            ids.append(int(part))
on by default | special=False => special=True | Who wrote this text
no special tokens at all | if not special or not special_ids => if not special | matches everywhere
lists in a list | ids += encode(part) => ids.append(encode(part)) | One flat list
special ones at the end | at its place
-    return ids
+    marks = [i for i in ids if i in special_ids.values()]
+    return [i for i in ids if i not in marks] + marks
one name at a time | once for each part
             ids += encode(part)
+    ids = []
+    for name in special_ids:
+        for i, part in enumerate(text.split(name)):
+            ids += ([special_ids[name]] if i else []) + encode(part)

== measure
words over tokens | n_tokens / len(text.split()) => len(text.split()) / n_tokens | not the other way
split at single spaces | text.split() => text.split(" ") | a line break
characters | n_bytes = len(text.encode()) => n_bytes = len(text) | two bytes in UTF-8
bits per token | * n_tokens / (n_bytes * math.log(2)) => / math.log(2) | whole text cost
a tuple | return { => return 1.0, { | 3 names

== wordpiece
shortest first | range(len(rest), 0, -1) => range(1, len(rest) + 1) | the whole rest first
mark not in the set | piece in pieces: => piece in pieces or rest[:end] in pieces: | in the set too
the rest unknown | return ["[UNK]"] => return [*cut, "[UNK]"] | unknown as a whole
with a way back | never given back
+    def build(rest, mark):
+        for end in range(len(rest), 0, -1):
+            if mark + rest[:end] in pieces:
+                if end == len(rest):
+                    return [mark + rest]
+                if after := build(rest[end:], "##"):
+                    return [mark + rest[:end], *after]
+        return []
+
+    return build(word, "") or ["[UNK]"]
     cut, rest = [], word
""")

REWRITES = rewrites(r"""
== by_hand | as binary text
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
        "bytes in D": sum(len(utf8(point)) for point in given["D"]),
    }

== by_hand | tuples, and masks
def by_hand():
    g = check.numbers()
    a, b, c, d = (g[name] for name in "ABCD")
    sizes = {range(0x80): 1, range(0x80, 0x800): 2, range(0x800, 0x10000): 3}
    return {
        "bytes in D": sum(next((n for r, n in sizes.items() if p in r), 4) for p in d),
        "code point of C": (c[0] & 15) << 12 | (c[1] & 63) << 6 | c[2] & 63,
        "bytes of B": (240 | b >> 18, 128 | b >> 12 & 63, 128 | b >> 6 & 63, 128 | b & 63),
        "bytes of A": (192 | a >> 6, 128 | a & 63),
    }

== split_words | with the standard library's patterns
def split_words(text):
    import re
    letters, digits, signs = r"[^\W\d_²½Ⅳ]+", r"[\d²½Ⅳ]+", r"(?:[^\w\s]|_)+"
    ends = "'s|'d|'m|'t|'ll|'ve|'re"
    return re.findall(rf"{ends}| ?{letters}| ?{digits}| ?{signs}|\s+(?=\s|$)|\s", text)

== split_words | character by character
def split_words(text):
    def kind(c):
        return ("letter" if regex.match(r"\p{L}", c) else "digit" if regex.match(r"\p{N}", c)
                else "blank" if regex.match(r"\s", c) else "sign")
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

== train_quickly | words by number
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

== train_quickly | with a heap
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

== train_quickly | Counters subtracted, pairs sorted
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

== token_bytes | recursive
def token_bytes(merges):
    def spell(i):
        return [BYTES[i]] if i < 256 else spell(merges[i - 256][0]) + spell(merges[i - 256][1])
    return [bytes(spell(i)) for i in range(256 + len(merges))]

== token_bytes | with a look at each token
def token_bytes(merges):
    tokens = [bytes([byte]) for byte in BYTES]
    for a, b in merges:
        tokens.append(tokens[a] + tokens[b])
        print(token_strings(tokens[-1:]))
    return tokens

== encode_text | place by place
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

== encode_text | by matches
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

== measure | by bits per token
def measure(text, n_tokens, nats_per_token):
    compression = len(text.encode("utf-8")) / n_tokens
    return dict(zip(
        ("tokens per word", "bytes per token", "bits per byte"),
        (n_tokens / len(text.split()), compression,
         nats_per_token * math.log2(math.e) / compression),
    ))

== measure | with a pattern
def measure(text, n_tokens, nats_per_token):
    import re
    words, size = re.findall(r"\S+", text), sum(1 for _ in bytes(text, "utf-8"))
    return {"bits per byte": math.log2(math.exp(nats_per_token)) * n_tokens / size,
            "tokens per word": n_tokens / len(words), "bytes per token": size / n_tokens}

== wordpiece | recursive
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

== wordpiece | by the longest candidate
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
""")
