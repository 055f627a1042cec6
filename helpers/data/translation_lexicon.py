"""The words of the English-French phrase grammar: nouns, adjectives, verbs and small words.

Spellings are listed, not derived: plurals (chevaux, bateaux, wolves), feminines (vieille, blanche)
and third persons (voient, watches) follow too many rules. Each word of one language has one word of
the other, so that a sentence has one translation: ``neighbour`` is ``voisin``, never ``voisine``.

Nouns and adjectives belong to kinds, which keep sentences from being sillier than need be: "p"
people, "a" animals, "t" things. Only people and animals act; all three can be something.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Noun:
    """A noun in both languages; ``elides`` where le, la, que, de lose their vowel before it.

    That is not a matter of the first letter: l' hôtel, but le hibou.
    """

    kind: str  # p, a or t
    gender: str  # m or f
    english: tuple[str, str]  # singular, plural
    french: tuple[str, str]
    elides: bool


@dataclass(frozen=True)
class Adjective:
    """An adjective; ``french`` are its forms ms, fs, mp, fp, ``before_vowel`` a second ms form.

    A state (tired) shares its noun with no other adjective: English would put it before the size
    or age (a tired old man), but a colour or an origin after these (an old english man).
    """

    kinds: str
    english: str
    french: tuple[str, ...]
    place: str  # "before" or "after" the noun in French; "state": after, and alone
    before_vowel: str | None = None

    def form(self, gender: str, number: str, elides: bool = False) -> str:
        """The French form beside a noun of this gender, number and beginning."""
        if elides and self.before_vowel and (gender, number) == ("m", "sg"):
            return self.before_vowel
        return self.french[(gender == "f") + 2 * (number == "pl")]


@dataclass(frozen=True)
class Verb:
    """A verb in the present tense; in English it may have a particle, as in ``look at``."""

    english: tuple[str, str]  # third person singular, plural (which is also the plain form)
    french: tuple[str, str]  # third person singular, plural
    transitive: bool
    elides: bool  # ne, me lose their vowel before it


@dataclass(frozen=True)
class Lexicon:
    """All words that fill the slots of the grammar."""

    nouns: tuple[Noun, ...]
    adjectives: tuple[Adjective, ...]
    verbs: tuple[Verb, ...]
    adverbs: tuple[tuple[str, str], ...] = (("often", "souvent"), ("always", "toujours"))
    prepositions: tuple[tuple[str, str], ...] = (
        ("behind", "derrière"),
        ("in front of", "devant"),
        ("with", "avec"),
    )
    conjunctions: tuple[tuple[str, str], ...] = (("but", "mais"), ("when", "quand"))


# kind, gender, English singular and plural, French singular and plural; * marks what elides.
_NOUNS = """
p m prince princes prince princes
p f princess princesses princesse princesses
p m man men *homme hommes
p f woman women femme femmes
p m friend friends *ami amis
p m king kings roi rois
p f queen queens reine reines
p m neighbour neighbours voisin voisins
p m student students *étudiant étudiants
p f actress actresses *actrice actrices
p f aunt aunts tante tantes
p m uncle uncles *oncle oncles
a m cat cats chat chats
a m dog dogs chien chiens
a m horse horses cheval chevaux
a m wolf wolves loup loups
a m owl owls hibou hiboux
a m bird birds *oiseau oiseaux
a m elephant elephants *éléphant éléphants
a f cow cows vache vaches
a f ant ants fourmi fourmis
a f goose geese *oie oies
t f house houses maison maisons
t f car cars voiture voitures
t f box boxes boîte boîtes
t f apple apples pomme pommes
t f school schools *école écoles
t f island islands *île îles
t m garden gardens jardin jardins
t m boat boats bateau bateaux
t m knife knives couteau couteaux
t m umbrella umbrellas parapluie parapluies
t m tree trees *arbre arbres
t m hotel hotels *hôtel hôtels
"""

# kinds, English, then ms fs mp fp, where need be with the ms form before a vowel. Left out are
# pairs that would mean something else (un grand homme, une bonne femme, a pretty tired dog).
_BEFORE_THE_NOUN = """
pat small petit petite petits petites
at big grand grande grands grandes
pat old vieux vieille vieux vieilles vieil
pat beautiful beau belle beaux belles bel
pa young jeune jeune jeunes jeunes
at good bon bonne bons bonnes
t pretty joli jolie jolis jolies
"""
_AFTER_THE_NOUN = """
pt english anglais anglaise anglais anglaises
pt italian italien italienne italiens italiennes
at white blanc blanche blancs blanches
at black noir noire noirs noires
t red rouge rouge rouges rouges
t blue bleu bleue bleus bleues
"""
_STATES = """
pa tired fatigué fatiguée fatigués fatiguées
pa hungry affamé affamée affamés affamées
p happy heureux heureuse heureux heureuses
"""

# English third person singular and plural, French singular and plural; + joins a particle.
_TRANSITIVE = """
sees see voit voient
finds find trouve trouvent
draws draw dessine dessinent
looks+at look+at regarde regardent
looks+for look+for cherche cherchent
watches watch *observe observent
admires admire *admire admirent
avoids avoid *évite évitent
waits+for wait+for *attend attendent
"""
_INTRANSITIVE = """
sleeps sleep dort dorment
sings sing chante chantent
dances dance danse dansent
runs run court courent
swims swim nage nagent
comes+back come+back revient reviennent
arrives arrive *arrive arrivent
"""


def full_lexicon() -> Lexicon:
    """The words of the course's grammar: 34 nouns, 15 adjectives and 16 verbs in all forms."""
    nouns = tuple(
        Noun(kind, gender, (one, many), (un.lstrip("*"), des), un.startswith("*"))
        for kind, gender, one, many, un, des in _rows(_NOUNS)
    )
    adjectives = tuple(
        Adjective(row[0], row[1], tuple(row[2:6]), place, row[6] if row[6:] else None)
        for table, place in (
            (_BEFORE_THE_NOUN, "before"),
            (_AFTER_THE_NOUN, "after"),
            (_STATES, "state"),
        )
        for row in _rows(table)
    )
    verbs = tuple(
        Verb((one, many), (un.lstrip("*"), des), transitive, un.startswith("*"))
        for table, transitive in ((_TRANSITIVE, True), (_INTRANSITIVE, False))
        for one, many, un, des in _rows(table)
    )
    return Lexicon(nouns, adjectives, verbs)


def small_lexicon() -> Lexicon:
    """Half of the words, of every sort some: a small model learns them in half a minute."""
    kept = """man woman king friend aunt cat cow owl bird goose house garden apple tree school
    small old beautiful english white red tired sees watches looks waits sleeps sings arrives"""
    words, full = set(kept.split()), full_lexicon()
    return Lexicon(
        tuple(noun for noun in full.nouns if noun.english[0] in words),
        tuple(adjective for adjective in full.adjectives if adjective.english in words),
        tuple(
            verb
            for verb in full.verbs
            if verb.english[0].split()[0] in words and verb.english[0] != "looks for"
        ),
    )


def begins_with_vowel(word: str) -> bool:
    """Whether an English word of this lexicon takes ``an``: for these its first letter tells."""
    return word[0] in "aeiou"


def _rows(table: str) -> list[list[str]]:
    return [
        [cell.replace("+", " ") for cell in line.split()] for line in table.strip().splitlines()
    ]
