"""The phrase grammar against sentences written by hand, its own table of agreement, enumeration."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
import torch

from helpers.data.synchronous_grammar import phrase
from helpers.data.translation import (
    IGNORED,
    Pair,
    PhraseGrammar,
    WordVocabulary,
    batches,
    is_held_out,
)
from helpers.data.translation_lexicon import Lexicon, full_lexicon, small_lexicon

# English | French, each French word with the places of its English words.
GOLD = """
the cat sleeps . | le:0 chat:1 dort:2 .:3
the owl arrives . | le:0 hibou:1 arrive:2 .:3
the bird comes back . | l':0 oiseau:1 revient:2,3 .:4
an actress sings . | une:0 actrice:1 chante:2 .:3
some uncles run . | des:0 oncles:1 courent:2 .:3
some old hotels are big . | de:0 vieux:1 hôtels:2 sont:3 grands:4 .:5
an old friend swims . | un:0 vieil:1 ami:2 nage:3 .:4
the beautiful islands are blue . | les:0 belles:1 îles:2 sont:3 bleues:4 .:5
the beautiful tree is white . | le:0 bel:1 arbre:2 est:3 blanc:4 .:5
the hotel is old . | l':0 hôtel:1 est:2 vieux:3 .:4
a small white goose dances . | une:0 petite:1 oie:3 blanche:2 danse:4 .:5
a hungry wolf sees the horses . | un:0 loup:2 affamé:1 voit:3 les:4 chevaux:5 .:6
the king and the queen are happy . | le:0 roi:1 et:2 la:3 reine:4 sont:5 heureux:6 .:7
the cow and the goose are hungry . | la:0 vache:1 et:2 l':3 oie:4 sont:5 affamées:6 .:7
the men find a knife and some boxes . | les:0 hommes:1 trouvent:2 un:3 couteau:4 et:5 des:6 \
boîtes:7 .:8
the dog waits for the woman . | le:0 chien:1 attend:2,3 la:4 femme:5 .:6
the women look at us . | les:0 femmes:1 nous:4 regardent:2,3 .:5
the friend often looks for me . | l':0 ami:1 me:5 cherche:3,4 souvent:2 .:6
a student admires me . | un:0 étudiant:1 m':3 admire:2 .:4
the ant always watches the garden . | la:0 fourmi:1 observe:3 toujours:2 le:4 jardin:5 .:6
the cat does not see the elephant . | le:0 chat:1 ne:2,3 voit:4 pas:2,3 l':5 éléphant:6 .:7
the cows do not avoid the wolf . | les:0 vaches:1 n':2,3 évitent:4 pas:2,3 le:5 loup:6 .:7
the king does not find a boat . | le:0 roi:1 ne:2,3 trouve:4 pas:2,3 de:5 bateau:6 .:7
the princes never watch any birds . | les:0 princes:1 n':2 observent:3 jamais:2 d':4 oiseaux:5 .:6
the aunt does not wait for them . | la:0 tante:1 ne:2,3 les:6 attend:4,5 pas:2,3 .:7
the car is not red . | la:0 voiture:1 n':3 est:2 pas:3 rouge:4 .:5
the neighbours are never tired . | les:0 voisins:1 ne:3 sont:2 jamais:3 fatigués:4 .:5
the queen is always behind the house . | la:0 reine:1 est:2 toujours:3 derrière:4 la:5 maison:6 .:7
the apple is in front of the box . | la:0 pomme:1 est:2 devant:3,4,5 la:6 boîte:7 .:8
the car of the neighbour is black . | la:0 voiture:1 du:2,3 voisin:4 est:5 noire:6 .:7
the dogs of the kings sleep . | les:0 chiens:1 des:2,3 rois:4 dorment:5 .:6
the house of the queen is pretty . | la:0 maison:1 de:2 la:3 reine:4 est:5 jolie:6 .:7
the umbrella of the actress is english . | le:0 parapluie:1 de:2 l':3 actrice:4 est:5 anglais:6 .:7
the cats of an uncle sleep . | les:0 chats:1 d':2 un:3 oncle:4 dorment:5 .:6
a tree near the school is old . | un:0 arbre:1 près:2 de:2 l':3 école:4 est:5 vieux:6 .:7
the man is near the garden . | l':0 homme:1 est:2 près:3 du:3,4 jardin:5 .:6
the boat is near the islands . | le:0 bateau:1 est:2 près:3 des:3,4 îles:5 .:6
the prince is near a tree . | le:0 prince:1 est:2 près:3 d':3 un:4 arbre:5 .:6
does the cat see the dog ? | est-ce:0 que:0 le:1 chat:2 voit:3 le:4 chien:5 ?:6
why do some birds sing ? | pourquoi:0 est-ce:1 que:1 des:2 oiseaux:3 chantent:4 ?:5
is an owl hungry ? | est-ce:0 qu':0 un:1 hibou:2 est:0 affamé:3 ?:4
are the italian boats in front of the islands ? | est-ce:0 que:0 les:1 bateaux:3 italiens:2 \
sont:0 devant:4,5,6 les:7 îles:8 ?:9
the man who sees the cat is old . | l':0 homme:1 qui:2 voit:3 le:4 chat:5 est:6 vieux:7 .:8
the horse that does not run is tired . | le:0 cheval:1 qui:2 ne:3,4 court:5 pas:3,4 est:6 \
fatigué:7 .:8
the princess whom a student draws dances . | la:0 princesse:1 qu':2 un:3 étudiant:4 dessine:5 \
danse:6 .:7
the geese that the wolf looks for run . | les:0 oies:1 que:2 le:3 loup:4 cherche:5,6 courent:7 .:8
the cat sleeps but the dogs run . | le:0 chat:1 dort:2 mais:3 les:4 chiens:5 courent:6 .:7
the wolf runs when the horse arrives . | le:0 loup:1 court:2 quand:3 le:4 cheval:5 arrive:6 .:7
the cow sleeps because a woman sings . | la:0 vache:1 dort:2 parce:3 qu':3 une:4 femme:5 \
chante:6 .:7
the cow sleeps because the women sing . | la:0 vache:1 dort:2 parce:3 que:3 les:4 femmes:5 \
chantent:6 .:7
""".replace("\\\n", "")


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def gold() -> list[tuple[str, str, set[tuple[int, int]]]]:
    cases = []
    for line in GOLD.strip().splitlines():
        english, _, french = line.partition(" | ")
        cells = [cell.rpartition(":") for cell in french.split()]
        links = {(j, int(i)) for j, cell in enumerate(cells) for i in cell[2].split(",")}
        cases.append((english, " ".join(cell[0] for cell in cells), links))
    return cases


def lexicon_of(*words: str, **small_words: tuple) -> Lexicon:
    """The full lexicon's entries with these (singular) English words, and other small words."""
    full = full_lexicon()
    return Lexicon(
        tuple(noun for noun in full.nouns if noun.english[0] in words),
        tuple(adjective for adjective in full.adjectives if adjective.english in words),
        tuple(verb for verb in full.verbs if verb.english[0] in words),
        **small_words,
    )


@pytest.fixture(scope="module")
def grammar() -> PhraseGrammar:
    return PhraseGrammar()


@pytest.fixture(scope="module")
def sampled(grammar) -> list[Pair]:
    return grammar.sample(8000, generator(1))


# --- Sentences written by hand


@pytest.mark.parametrize(("english", "french", "links"), gold())
def test_translations_and_alignments_written_by_hand(grammar, english, french, links):
    for sentence in (english, french):
        pair = grammar.translate(sentence)
        assert (" ".join(pair.english), " ".join(pair.french)) == (english, french)
        assert pair.alignment == links


@pytest.mark.parametrize(
    "wrong",
    [
        "a owl sleeps .",
        "the cats sleeps .",
        "the cat do not see the dog .",
        "the man that sleeps sings .",
        "le vieil chat dort .",
        "des petits chats dorment .",
        "la maison est blanc .",
        "la reine et le roi sont heureuses .",
        "le chat ne évite pas le chien .",
        "le chat ne voit pas un chien .",
        "l' homme que dort chante .",
        "le chat souvent dort .",
    ],
)
def test_wrong_sentences_are_not_in_the_grammar(grammar, wrong):
    with pytest.raises(ValueError, match="not in this order"):
        grammar.translate(wrong)


def test_what_is_wrong_is_named(grammar):
    with pytest.raises(ValueError, match=r"'dogg'.*149.*'dog'"):
        grammar.translate("the dogg sleeps .")
    with pytest.raises(ValueError, match=r"'shien'.*'chien'"):
        grammar.translate("le petit shien dort .")
    with pytest.raises(ValueError, match="after 'the cat' it does not expect 'sleep'"):
        grammar.translate("the cat sleep .")
    with pytest.raises(ValueError, match="expect the end of the sentence"):
        grammar.translate("the cat")
    with pytest.raises(ValueError, match="at the beginning it does not expect 'cat'"):
        grammar.translate("cat the sleeps .")


# --- French and English grammar, by tables that know nothing of the rules

MASCULINE = """prince homme roi voisin étudiant ami oncle chat chien cheval loup hibou oiseau
éléphant jardin bateau couteau parapluie arbre hôtel"""
FEMININE = """princesse femme reine actrice tante vache fourmi oie maison voiture boîte pomme école
île"""
PLURALS = {"cheval": "chevaux", "hibou": "hiboux"} | {
    word: word + "x" for word in ("oiseau", "bateau", "couteau")
}
MUTE = tuple("aeiouéîœ")  # le hibou has no mute h
FORMS = {  # ms, fs, mp, fp; a last one for ms before a vowel
    "ms": """petit grand vieux vieil beau bel jeune bon joli anglais italien fatigué affamé heureux
        blanc noir rouge bleu""",
    "fs": """petite grande vieille belle jeune bonne jolie anglaise italienne fatiguée affamée
        heureuse blanche noire rouge bleue""",
    "mp": """petits grands vieux beaux jeunes bons jolis anglais italiens fatigués affamés heureux
        blancs noirs rouges bleus""",
    "fp": """petites grandes vieilles belles jeunes bonnes jolies anglaises italiennes fatiguées
        affamées heureuses blanches noires rouges bleues""",
}
SETS = {features: set(forms.split()) for features, forms in FORMS.items()}
ADJECTIVES = set().union(*SETS.values())
NOUNS = {
    form: gender + number
    for gender, nouns in (("m", MASCULINE), ("f", FEMININE))
    for noun in nouns.split()
    for form, number in ((noun, "s"), (PLURALS.get(noun, noun + "s"), "p"))
}
ARTICLES = {"le": "ms", "la": "fs", "un": "ms", "une": "fs", "du": "ms"}
ELIDED = {"le", "la", "de", "ne", "me", "que"}


def starts_mute(word: str) -> bool:
    return word.startswith(MUTE) or word in ("homme", "hommes", "hôtel", "hôtels")


def test_nouns_agree_with_articles_and_adjectives(sampled):
    seen = Counter()
    for pair in sampled:
        words = pair.french
        for place, word in enumerate(words):
            if word in NOUNS:
                features = NOUNS[word]
                around = []
                while words[place - 1 - len(around)] in ADJECTIVES:
                    around.append(words[place - 1 - len(around)])
                article = words[place - 1 - len(around)]
                if article in ARTICLES:
                    assert ARTICLES[article] == features, pair
                elif article in ("les", "des"):
                    assert features[1] == "p", pair
                else:
                    assert article in ("l'", "de", "d'"), pair
                assert article != "l'" or features[1] == "s", pair
                if words[place + 1] in ADJECTIVES:
                    around.append(words[place + 1])
                for adjective in around:
                    seen[adjective] += 1
                    assert adjective in SETS[features], pair
                    short = adjective in ("vieil", "bel")
                    if features == "ms" and adjective in ("vieil", "bel", "vieux", "beau"):
                        assert short == starts_mute(word), pair
    assert set(seen) == ADJECTIVES


def test_words_lose_their_vowel_exactly_before_a_vowel(sampled):
    seen = Counter()
    for pair in sampled:
        for word, following in itertools.pairwise(pair.french):
            if word in ELIDED:
                assert not starts_mute(following), pair
            elif word.endswith("'"):
                assert starts_mute(following), pair
                seen[word] += 1
        for word, following in itertools.pairwise(pair.english):
            if word in ("a", "an"):
                assert (word == "an") == following.startswith(tuple("aeiou")), pair
    assert set(seen) == {"l'", "d'", "n'", "m'", "qu'"}


# --- The sentences as a whole


def test_every_word_is_aligned_and_indices_are_valid(sampled):
    for pair in sampled:
        assert {j for j, _ in pair.alignment} == set(range(len(pair.french)))
        assert {i for _, i in pair.alignment} == set(range(len(pair.english)))


def test_aligned_words_are_translations(sampled):
    """Of a content word every link goes to the same lexical entry, whatever the sentence."""
    full = full_lexicon()
    entries = [(n.english, n.french) for n in full.nouns]
    entries += [((a.english,), (*a.french, a.before_vowel)) for a in full.adjectives]
    entries += [((w,), (f,)) for w, f in full.adverbs]
    allowed: dict[str, set[str]] = {}
    for english, french in entries:
        for word in english:
            allowed.setdefault(word, set()).update(french)
    for pair in sampled:
        linked = Counter(i for _, i in pair.alignment)
        for j, i in pair.alignment:
            if pair.english[i] in allowed:
                assert pair.french[j] in allowed[pair.english[i]], pair
                assert linked[i] == 1, pair


def test_translation_is_a_function_in_both_directions(sampled):
    english, french = {}, {}
    for pair in sampled:
        assert english.setdefault(pair.english, pair) == pair
        assert french.setdefault(pair.french, pair) == pair
    assert len(english) > 7000


def test_a_sampled_sentence_has_one_reading(grammar, sampled):
    for pair in sampled[:150]:
        for side, words in enumerate((pair.english, pair.french)):
            trees, _ = grammar.grammar.parse(words, side)
            assert len(trees) == 1, pair
            assert grammar.translate(words) == pair


def test_size_is_the_number_of_different_pairs():
    none = {"adverbs": (), "prepositions": (), "conjunctions": ()}
    small = PhraseGrammar(lexicon_of("house", **none), depth=0)
    pairs = [phrase(tree)[:2] for tree in small.grammar.trees(0)]
    assert small.size == len(pairs) > 10_000
    assert small.size == len({tuple(english) for english, _ in pairs})
    assert small.size == len({tuple(french) for _, french in pairs})


@pytest.mark.parametrize(
    ("words", "depth"),
    [
        (("aunt", "old", "sees"), 0),
        (("house", "friend", "tired", "arrives"), 0),
    ],
)
@pytest.mark.parametrize("symbol", ["ANYCLAUSE", "WHY"])
def test_clauses_and_questions_have_one_translation(words, depth, symbol):
    """All of them, with a small lexicon: here a second reading could not hide."""
    adverbs = () if depth else (("often", "souvent"),)
    few = {"adverbs": adverbs, "prepositions": (), "conjunctions": ()}
    small = PhraseGrammar(lexicon_of(*words, **few), depth).grammar
    pairs = [phrase(tree)[:2] for tree in small.trees(depth, symbol)]
    assert len(pairs) == small._count(symbol, depth) > 100
    assert len({tuple(english) for english, _ in pairs}) == len(pairs)
    assert len({tuple(french) for _, french in pairs}) == len(pairs)


def test_the_parser_accepts_exactly_what_is_derived():
    """All short strings over a small vocabulary, one by one."""
    few = {"adverbs": (), "prepositions": (), "conjunctions": ()}
    small = PhraseGrammar(lexicon_of("owl", "sleeps", **few), 0)
    derived = {  # two clauses are longer than the strings below
        (*phrase(tree)[0], end)
        for symbol, end in (("ANYCLAUSE", "."), ("WHY", "?"))
        for tree in small.grammar.trees(0, symbol)
    }
    words = ["the", "owl", "owls", "sleeps", "sleep", "does", "not", ".", "?"]
    strings = [string for n in range(1, 4) for string in itertools.product(words, repeat=n)]
    for begin, n in ((("the",), 3), (("the", "owl"), 4)):
        strings += [begin + string for string in itertools.product(words, repeat=n)]
    accepted = {string for string in strings if small.grammar.parse(string, 0)[0]}
    assert accepted == derived & set(strings)
    expected = {"the owl sleeps .", "the owls sleep .", "the owl does not sleep ."}
    assert accepted >= {tuple(sentence.split()) for sentence in expected}


def test_lengths_spread(sampled):
    lengths = sorted(len(pair.english) for pair in sampled)
    assert lengths[0] == 4
    assert 8 <= lengths[len(lengths) // 2] <= 13
    assert sum(length > 20 for length in lengths) > 0.04 * len(lengths)
    assert lengths[-1] >= 26


def test_vocabularies_hold_all_words_and_no_others(grammar):
    pairs = grammar.sample(15_000, generator(2))
    assert set(grammar.english_words) == {word for pair in pairs for word in pair.english}
    assert set(grammar.french_words) == {word for pair in pairs for word in pair.french}
    assert list(grammar.english_words) == sorted(set(grammar.english_words))
    counts = Counter(word for pair in pairs for word in pair.english)
    nouns = [counts[word] for noun in full_lexicon().nouns for word in noun.english]
    assert max(nouns) < 2 * min(nouns)


def test_the_small_lexicon_keeps_every_sort_of_word(grammar):
    small = PhraseGrammar(small_lexicon())
    assert len(small.english_words) < 100
    assert set(small.english_words) < set(grammar.english_words)
    for pair in small.sample(300, generator(6)):
        assert grammar.translate(pair.english) == pair
    lexicon, genders = small_lexicon(), {}
    for noun in lexicon.nouns:
        genders.setdefault(noun.kind, set()).add((noun.gender, noun.elides))
    assert all(len(found) >= 3 for found in genders.values())
    assert {adjective.place for adjective in lexicon.adjectives} == {"before", "after", "state"}
    verbs = {(verb.transitive, verb.elides) for verb in lexicon.verbs}
    assert verbs == {(True, True), (True, False), (False, True), (False, False)}


def test_depth_counts_what_follows_a_noun(grammar):
    flat = PhraseGrammar(depth=0)
    for pair in flat.sample(500, generator(3)):
        assert not {"who", "that", "whom"} & set(pair.english)
    assert flat.size < PhraseGrammar(depth=1).size < grammar.size
    deep = "the dog sees the cat that sees the house of the king who sees the bird near a tree ."
    assert len(grammar.translate(deep).english) == 20  # translation has no limit of depth


# --- Drawing, splitting, batching


def test_the_generator_decides(grammar):
    assert grammar.sample(50, generator(4)) == grammar.sample(50, generator(4))
    assert grammar.sample(50, generator(4)) != grammar.sample(50, generator(5))
    again = generator(4)
    assert grammar.sample(50, again) != grammar.sample(50, again)


def test_lengths_are_kept(grammar):
    pairs = grammar.sample(300, generator(), max_length=12, min_length=9)
    assert {len(pair.english) for pair in pairs} == {9, 10, 11, 12}
    for bad in ({"max_length": 3}, {"min_length": 300}):
        with pytest.raises(ValueError, match="English words"):
            grammar.sample(5, generator(), **bad)


def test_held_out_sentences_are_a_fixed_tenth(sampled):
    different = set(sampled)
    held = {pair.english for pair in different if is_held_out(pair)}
    trained = {pair.english for pair in sampled if not is_held_out(pair)}
    assert not held & trained
    assert 0.08 < len(held) / len(different) < 0.12
    assert not any(is_held_out(pair, 0.0) for pair in sampled[:100])
    assert all(is_held_out(pair, 1.0) for pair in sampled[:100])
    smaller = {pair.english for pair in different if is_held_out(pair, 0.05)}
    assert smaller < held


def test_a_pair_in_both_directions(grammar):
    pair = grammar.translate("the cat often sees us .")
    there, back = pair.directed(), pair.directed(to_french=False)
    assert (there.source, there.target) == (back.target, back.source) == (pair.english, pair.french)
    assert there.alignment == {(i, j) for j, i in back.alignment}
    assert torch.equal(pair.matrix(), pair.matrix(to_french=False).T)
    table = pair.matrix()
    assert table.shape == (6, 6)
    assert table.nonzero().tolist() == sorted(map(list, pair.alignment))


def test_word_ids(grammar):
    words = WordVocabulary(grammar.french_words)
    sentence = grammar.translate("the cat is not black .").french
    ids = words.encode(sentence)
    assert words.decode(ids) == sentence
    assert ids.min() >= 3
    assert words.decode([words.bos, *ids, words.eos, 5, words.pad]) == sentence
    assert words.vocab_size == len(grammar.french_words) + 3
    batch = words.encode_batch([sentence, sentence[:2]])
    assert batch.tolist() == [ids.tolist(), [*ids[:2].tolist(), 0, 0, 0, 0, 0]]
    with pytest.raises(ValueError, match=r"'chatt'.*'chat'"):
        words.encode(["le", "chatt"])
    with pytest.raises(ValueError, match="expected 0 to"):
        words.decode([words.vocab_size])


@pytest.mark.parametrize("to_french", [True, False])
def test_a_pass_of_batches_holds_every_pair_once(grammar, sampled, to_french):
    pairs = list(dict.fromkeys(sampled))[:960]
    english, french = WordVocabulary(grammar.english_words), WordVocabulary(grammar.french_words)
    stream = batches(pairs, english, french, 32, generator(), to_french)
    from_words, to_words = (english, french) if to_french else (french, english)
    seen, filling = [], 0
    for (source, target_in), target_out in itertools.islice(stream, 30):
        assert len(source) == len(target_in) == 32
        assert target_in.shape == target_out.shape
        assert (source != 0).any(0).all()  # no column is all padding
        assert (target_in != 0).any(0).all()
        assert (target_in[:, 0] == to_words.bos).all()
        assert torch.equal(target_in != to_words.pad, target_out != IGNORED)
        filling += float((target_in == to_words.pad).float().mean()) / 30
        for row in range(32):
            kept = target_out[row] != IGNORED
            assert target_out[row, kept][-1] == to_words.eos
            assert torch.equal(target_in[row, kept][1:], target_out[row, kept][:-1])
            target = to_words.decode(target_out[row, kept])
            seen.append((from_words.decode(source[row]), target))
    assert sorted(seen) == sorted(pair.directed(to_french)[:2] for pair in pairs)
    assert filling < 0.1
    second = [
        from_words.decode(row) for (source, _), _ in itertools.islice(stream, 30) for row in source
    ]
    assert second != [source for source, _ in seen]
