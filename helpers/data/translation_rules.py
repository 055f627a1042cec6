"""The rules of the English-French phrase grammar, written out from its lexicon.

Agreement and elision are carried by the names of the symbols: ``NP.a.f.pl.some`` is a noun phrase
about animals, feminine, plural, that begins with ``some``. Its features are, in this order,

    kind p, a, t of the noun; gender m, f; number sg, pl;
    v or c: the French begins with what elides (l' oiseau) or not (le hibou);
    v or c: the English begins with a vowel (an owl) or not (a bird);
    long or bare: an adjective precedes the French noun (de petits chats) or not (des chats).

What is left out, so that each sentence has one translation and each translation one sentence:
a noun has at most one phrase or clause after it, which belongs to the nearest noun; only noun
phrases that carry none of these are joined by ``and``; and what ``not`` or ``never`` makes ``de``
carries none either (French would want a subjunctive in the clause).
"""

from __future__ import annotations

from itertools import product

from helpers.data.synchronous_grammar import Rule, read_rule
from helpers.data.translation_lexicon import Lexicon, begins_with_vowel

KINDS, GENDERS, NUMBERS = "pat", "mf", ("sg", "pl")
VERBS = {"sg": ("does", "is", "est"), "pl": ("do", "are", "sont")}


def phrase_rules(lexicon: Lexicon) -> dict[str, list[Rule]]:
    """Symbol -> rules, for all sentences that the words of a lexicon can fill."""
    rules = _Rules(lexicon)
    rules.words()
    rules.nominals()
    rules.noun_phrases()
    rules.prepositional_phrases()
    rules.predicates()
    rules.relative_clauses()
    rules.actions()
    rules.sentences()
    return _productive(rules.rules)


def elided(word: str, begins: str) -> str:
    """The word as it stands before v, what elides, or c, what does not."""
    return word[:-1] + "'" if begins == "v" else word


class _Rules:
    """Collects rules; ``mass`` is the total weight of a symbol's rules.

    Where a feature splits a class of words in two, the parts get weights by their mass, so that a
    word's frequency does not depend on how many words share its features.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.rules: dict[str, list[Rule]] = {}

    def add(self, symbol: str, text: str, weight: float = 1.0, deeper: bool = False) -> None:
        if weight > 0:
            self.rules.setdefault(symbol, []).append(read_rule(text, weight, deeper))

    def mass(self, symbol: str) -> float:
        return sum(rule.weight for rule in self.rules.get(symbol, ()))

    def words(self) -> None:
        for noun in self.lexicon.nouns:
            for k, number in enumerate(NUMBERS):
                begins = "v" if noun.elides else "c"
                an = "v" if begins_with_vowel(noun.english[k]) else "c"
                symbol = f"N.{noun.kind}.{noun.gender}.{number}.{begins}.{an}"
                self.add(symbol, f"{noun.english[k]} / {noun.french[k]}")
        for adjective in self.lexicon.adjectives:
            an = "v" if begins_with_vowel(adjective.english) else "c"
            place = {"before": "PRE", "after": "POST", "state": "ALONE"}[adjective.place]
            for kind, gender, number in product(adjective.kinds, GENDERS, NUMBERS):
                usual = f"{adjective.english} / {adjective.form(gender, number)}"
                self.add(f"ADJ.{kind}.{gender}.{number}", usual)
                if adjective.place == "state":
                    self.add(f"STATE.{kind}.{gender}.{number}", usual)
                for begins in "vc":
                    french = adjective.form(gender, number, begins == "v")
                    symbol = f"{place}.{kind}.{gender}.{number}.{begins}.{an}"
                    self.add(symbol, f"{adjective.english} / {french}")
        for verb in self.lexicon.verbs:
            begins, kind = "v" if verb.elides else "c", "VT" if verb.transitive else "VI"
            for k, number in enumerate(NUMBERS):
                self.add(f"{kind}.{number}.{begins}", f"{verb.english[k]} / {verb.french[k]}")
                self.add(f"{kind}.{number}.{begins}.plain", f"{verb.english[1]} / {verb.french[k]}")
        for english, french in self.lexicon.adverbs:
            self.add("ADV", f"{english} / {french}")
        for english, french in self.lexicon.conjunctions:
            self.add("CONJ", f"{english} / {french}")
        for english, french in self.lexicon.prepositions:
            self.add("PREP", f"{english} / {french}")
        for begins in "vc":
            self.add(f"PRON.{begins}", f"me / {elided('me', begins)}")
            self.add(f"PRON.{begins}", "us / nous")
            self.add(f"PRON.{begins}", "them / les")

    def nominals(self) -> None:
        """Noun with adjectives: NB without, NOM with or without a phrase or clause after it."""
        for kind, gender, number, begins, an in product(KINDS, GENDERS, NUMBERS, "vc", "vc"):
            of = f"{kind}.{gender}.{number}"
            noun = f"N.{of}.{begins}.{an}"
            self.add(f"NB.{of}.{begins}.{an}.bare", noun + " / " + noun, 0.5 * self.mass(noun))
            for other in "vc":  # of the noun's own English, which an adjective hides
                noun = f"N.{of}.{begins}.{other}"
                for place, weight in (("POST", 0.18), ("ALONE", 0.07)):
                    post = f"{place}.{of}.{begins}.{an}"
                    self.add(
                        f"NB.{of}.{begins}.{an}.bare",
                        f"{post} {noun} / {noun} {post}",
                        weight * self.mass(noun) * self._share(post),
                    )
                pre, long = f"PRE.{of}.{begins}.{an}", f"NB.{of}.c.{an}.long"
                share = self._share(pre) * self.mass(noun)
                self.add(long, f"{pre} {noun} / {pre} {noun}", 0.15 * share)
                for hidden in "vc":
                    post = f"POST.{of}.{begins}.{hidden}"
                    self.add(
                        long,
                        f"{pre} {post} {noun} / {pre} {noun} {post}",
                        0.1 * share * self._share(post),
                    )
        for symbol in [symbol for symbol in self.rules if symbol.startswith("NB.")]:
            nom, of = "NOM" + symbol[2:], ".".join(symbol.split(".")[1:4])
            self.add(nom, f"{symbol} / {symbol}", 0.7 * self.mass(symbol))
            after = f"{symbol} AFTER.{of}"
            self.add(nom, f"{after} / {after}", 0.3 * self.mass(symbol), deeper=True)

    def noun_phrases(self) -> None:
        """NP with whatever follows the noun, SNP without; their last feature is the article."""
        for name, nominal in (("NP", "NOM"), ("SNP", "NB")):
            for symbol in [s for s in self.rules if s.startswith(nominal + ".")]:
                _, kind, gender, number, begins, an, long = symbol.split(".")
                weight, of = self.mass(symbol), f"{name}.{kind}.{gender}.{number}"
                self.add(
                    f"{of}.the", f"the {symbol} / {_the(gender, number, begins)} {symbol}", weight
                )
                if number == "sg":
                    a, un = _a(gender, an)
                    self.add(f"{of}.a", f"{a} {symbol} / {un} {symbol}", weight)
                    never = f"{a} {symbol} / {elided('de', begins)} {symbol}"
                else:
                    some = "de" if long == "long" else "des"
                    self.add(f"{of}.some", f"some {symbol} / {some} {symbol}", weight)
                    never = f"any {symbol} / {elided('de', begins)} {symbol}"
                if name == "SNP":
                    self.add("NEVER", never, weight)
        for symbol in [s for s in self.rules if s.startswith(("NP.", "SNP."))]:
            name, kind, gender, number, article = symbol.split(".")
            weight = self.mass(symbol) * (0.6 if article == "the" else 0.4)
            self.add("ANY" + name, f"{symbol} / {symbol}", weight)
            begins = "v" if article == "a" else "c"
            if name == "NP":
                self.add(f"SUBJ.{kind}.{gender}.{number}.{begins}", f"{symbol} / {symbol}", weight)
                continue
            self.add(f"SIMPLE.{number}.{begins}", f"{symbol} / {symbol}", weight)
            if kind != "t":
                self.add(f"ACTOR.{number}.{begins}", f"{symbol} / {symbol}", weight)
            others = [s for s in self.rules if s.startswith(f"SNP.{kind}.")]
            for other in others:
                both = "f" if gender == other.split(".")[2] == "f" else "m"
                share = self.mass(other) / sum(map(self.mass, others))
                text = f"{symbol} and {other} / {symbol} et {other}"
                self.add(f"SUBJ.{kind}.{both}.pl.{begins}", text, 0.15 * weight * share)
        self.add("OBJ", "ANYNP / ANYNP", 0.85)
        self.add("OBJ", "ANYSNP and ANYSNP / ANYSNP et ANYSNP", 0.15)
        self.add("NOT_OBJ", "NEVER / NEVER", 0.3)
        for symbol in [s for s in self.rules if s.startswith("NP.") and s.endswith(".the")]:
            self.add("ANYTHE", f"{symbol} / {symbol}", self.mass(symbol))
        self.add("NOT_OBJ", "ANYTHE / ANYTHE", 0.7)

    def prepositional_phrases(self) -> None:
        """Those with de contract: du, des; ``of`` takes people, the others whatever there is."""
        self.add("PP", "PREP ANYNP / PREP ANYNP", 3.0)
        self.add("PP", "NEAR / NEAR", 1.0)
        self.add("NOT_PP", "PREP ANYTHE / PREP ANYTHE", 3.0)
        self.add("NOT_PP", "NEAR / NEAR", 1.0)
        for symbol in [s for s in self.rules if s.startswith("NOM.")]:
            _, kind, gender, number, begins, an, _ = symbol.split(".")
            the = _the(gender, number, begins)
            definite = {"le": "du:ab", "les": "des:ab"}.get(the, f"de:a {the}:b")
            weight = self.mass(symbol)
            self.add("NEAR", f"near:a the:b {symbol} / près:a {definite} {symbol}", weight)
            if kind == "p":
                self.add("OF", f"of:a the:b {symbol} / {definite} {symbol}", weight)
            if number == "sg":
                a, un = _a(gender, an)
                self.add(
                    "NEAR", f"near:a {a}:b {symbol} / près:a d':a {un}:b {symbol}", 0.5 * weight
                )
                if kind == "p":
                    self.add("OF", f"of:a {a}:b {symbol} / d':a {un}:b {symbol}", 0.5 * weight)

    def predicates(self) -> None:
        """Forms of be with an adjective that agrees with the subject, or with a place."""
        for kind, gender, number in product(KINDS, GENDERS, NUMBERS):
            of = f"{kind}.{gender}.{number}"
            _, be, est = VERBS[number]
            ne = elided("ne", "v" if number == "sg" else "c")
            for predicate, place in (("PRED", "PP"), ("NOT_PRED", "NOT_PP")):
                self.add(f"{predicate}.{of}", f"ADJ.{of} / ADJ.{of}", 2.0)
                self.add(f"{predicate}.{of}", f"{place} / {place}", 1.0)
                passing = predicate.replace("PRED", "PASSING")  # what can be often, or never
                self.add(f"{passing}.{of}", f"STATE.{of} / STATE.{of}", 1.0)
                self.add(f"{passing}.{of}", f"{place} / {place}", 1.0)
            for text, weight in (
                (f"{be} PRED.{of} / {est} PRED.{of}", 4.0),
                (f"{be}:a not:b NOT_PRED.{of} / {ne}:b {est}:a pas:b NOT_PRED.{of}", 2.0),
                (f"{be} ADV PASSING.{of} / {est} ADV PASSING.{of}", 1.0),
                (
                    f"{be}:a never:b NOT_PASSING.{of} / {ne}:b {est}:a jamais:b NOT_PASSING.{of}",
                    1.0,
                ),
            ):
                self.add(f"BE.{of}", text, weight)

    def relative_clauses(self) -> None:
        """AFTER: what can follow a noun."""
        whose = []  # the clauses with a subject of their own
        for number, begins, verb in product(NUMBERS, "vc", "vc"):
            subject, does = f"ACTOR.{number}.{begins}", f"VT.{number}.{verb}"
            mass = self.mass(subject) * self.mass(does)
            whose.append((elided("que", begins), subject, does, mass))
        total = sum(mass for *_, mass in whose) or 1.0
        whose = [(que, subject, does, mass / total) for que, subject, does, mass in whose]
        for kind, gender, number in product(KINDS, GENDERS, NUMBERS):
            of = f"{kind}.{gender}.{number}"
            who, whom = ("who", "whom") if kind == "p" else ("that", "that")
            self.add(f"AFTER.{of}", "PP / PP", 1.0)
            self.add(f"AFTER.{of}", f"{who} VP.{of} / qui VP.{of}", 1.2)
            if kind != "p":
                self.add(f"AFTER.{of}", "OF / OF", 0.8)
            for que, subject, does, share in whose:
                text = f"{whom} {subject} {does} / {que} {subject} {does}"
                self.add(f"AFTER.{of}", text, 0.8 * share)

    def actions(self) -> None:
        """Verbs with objects, pronouns, adverbs and negation: ACT finite, ASK after does or do."""
        for number, begins in product(NUMBERS, "vc"):
            does = VERBS[number][0]
            ne, pron = elided("ne", begins), f"PRON.{begins}"
            for symbol, plain in (("ACT", ""), ("ASK", ".plain")):
                alone = f"VI.{number}.{begins}{plain}"
                with_object = f"VT.{number}.{begins}{plain}"
                one, two = self.mass(alone), self.mass(with_object)
                for text, weight in (
                    (f"{alone} / {alone}", 1.5 * one),
                    (f"{with_object} OBJ / {with_object} OBJ", 3.0 * two),
                    (f"{with_object} {pron} / {pron} {with_object}", 0.6 * two),
                    (f"ADV {alone} / {alone} ADV", 0.5 * one),
                    (f"ADV {with_object} OBJ / {with_object} ADV OBJ", 0.7 * two),
                    (f"ADV {with_object} {pron} / {pron} {with_object} ADV", 0.2 * two),
                ):
                    self.add(f"{symbol}.{number}", text, weight)
            for no, pas, plain in ((f"{does} not", "pas", ".plain"), ("never", "jamais", "")):
                alone = f"VI.{number}.{begins}{plain}"
                with_object = f"VT.{number}.{begins}{plain}"
                one, two = self.mass(alone), self.mass(with_object)
                scale = 1.0 if pas == "pas" else 0.4
                for text, weight in (
                    (f"{no} {alone} / {ne} {alone} {pas}", 0.7 * one),
                    (f"{no} {with_object} NOT_OBJ / {ne} {with_object} {pas} NOT_OBJ", 1.2 * two),
                    (f"{no} {with_object} {pron} / ne {pron} {with_object} {pas}", 0.3 * two),
                ):
                    self.add(f"ACT.{number}", text, scale * weight)

    def sentences(self) -> None:
        """Statements, two joined by a conjunction, and questions."""
        for kind, gender, number in product(KINDS, GENDERS, NUMBERS):
            of = f"{kind}.{gender}.{number}"
            does, be, est = VERBS[number]
            if kind != "t":
                self.add(f"VP.{of}", f"ACT.{number} / ACT.{number}", 3.0)
            self.add(f"VP.{of}", f"BE.{of} / BE.{of}", 1.0)
            for begins in "vc":
                subject = f"SUBJ.{of}.{begins}"
                weight, que = self.mass(subject), elided("que", begins)
                self.add(f"CLAUSE.{begins}", f"{subject} VP.{of} / {subject} VP.{of}", weight)
                to_be = f"{be} {subject} ADJ.{of} / est-ce {que} {subject} {est} ADJ.{of}"
                self.add("QUESTION", to_be, (1.0 if kind == "t" else 0.2) * weight)
                if kind != "t":
                    ask = f"ASK.{number}"
                    to_do = f"{does} {subject} {ask} / est-ce {que} {subject} {ask}"
                    self.add("QUESTION", to_do, 0.7 * weight)
        for number, begins in product(NUMBERS, "vc"):
            # A place is asked for only where none follows the subject: one could not tell which
            # of the two begins the predicate.
            _, be, est = VERBS[number]
            subject, que = f"SIMPLE.{number}.{begins}", elided("que", begins)
            to_be = f"{be} {subject} PP / est-ce {que} {subject} {est} PP"
            self.add("QUESTION", to_be, 0.1 * self.mass(subject))
        for begins in "vc":
            clause, weight = f"CLAUSE.{begins}", self.mass(f"CLAUSE.{begins}")
            self.add("ANYCLAUSE", f"{clause} / {clause}", weight)
            que = elided("que", begins)
            self.add("ADDED", f"because {clause} / parce {que} {clause}", weight)
        self.add("ADDED", "CONJ ANYCLAUSE / CONJ ANYCLAUSE", self.mass("ADDED"))
        self.add("WHY", "QUESTION / QUESTION", 0.7)
        self.add("WHY", "why QUESTION / pourquoi QUESTION", 0.3)
        self.add("S", "ANYCLAUSE . / ANYCLAUSE .", 0.6)
        self.add("S", "ANYCLAUSE ADDED . / ANYCLAUSE ADDED .", 0.2)
        self.add("S", "WHY ? / WHY ?", 0.2)

    def _share(self, symbol: str) -> float:
        """Its part of the adjectives that may stand in this place."""
        twins = symbol[:-1] + "v", symbol[:-1] + "c"
        return self.mass(symbol) / max(sum(map(self.mass, twins)), 1.0)


def _the(gender: str, number: str, begins: str) -> str:
    if number == "pl":
        return "les"
    return elided("le" if gender == "m" else "la", begins)


def _a(gender: str, an: str) -> tuple[str, str]:
    return "an" if an == "v" else "a", "un" if gender == "m" else "une"


def _productive(rules: dict[str, list[Rule]]) -> dict[str, list[Rule]]:
    """The rules whose symbols all have words below them, however small the lexicon."""
    known: set[str] = set()
    while True:
        more = {s for s, options in rules.items() if any(known >= {*r.children} for r in options)}
        if more == known:
            break
        known = more
    return {
        s: [r for r in options if known >= {*r.children}]
        for s, options in rules.items()
        if s in known
    }
