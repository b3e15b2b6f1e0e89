"""Whether a statement means what the words mean that it was made of: about the same person, affirming what is affirmed,
denying what is denied, and bound to what it was bound to. Where that is not plain, these say what is in doubt."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from recollect.domain.event import Event
from recollect.policy.clues.lexicon import EMPTY, OPPOSITES, stem
from recollect.policy.contents import alike, contents, names, shared, words
from recollect.policy.speech.hearing import name_of
from recollect.policy.speech.sentences import sentences

_DENIES = """not no never none neither nor cannot cant without nobody nothing nowhere hardly barely rarely nope nah
    dont doesnt didnt wont wouldnt isnt arent wasnt werent couldnt shouldnt hasnt havent hadnt
    stop stops stopped quit cancel cancels cancelled canceled refuse refuses refused avoid avoids lack lacks except
    nicht kein keine keinen keinem keiner nie niemals ohne pas jamais rien aucun aucune sans nunca jamas sin nao sem
    niet geen nooit zonder inte ingen aldrig ikke aldri nigdy bez не нет никогда нельзя без"""
_BINDS = """if unless maybe perhaps might probably possibly hopefully
    wenn falls vielleicht si peut quiza talvez если может"""
_TURNS = {word: kind for kind, listed in (("a negation", _DENIES), ("a condition", _BINDS)) for word in listed.split()}
"""Words that turn the sense of those beside them, by what they make of it."""
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[.,;:!?()\[\]\u2013\u2014\n]")  # noqa: RUF001
_ENDS = frozenset(".,;:!?()[]\u2013\u2014\n") | frozenset("and but because although though while so since".split())
_PASSED = EMPTY | frozenset("longer anymore want wants wanted".split())
_REACH = 3
"""Words that a turn reaches."""
_LEADS = frozenset("and so but oh well yes yeah yep no ok okay also btw then because since that hey hi".split())
_FIRST = re.compile(r"(?<![\w'’])(?:i|im|ive|me|we|us|myself|let's)(?!\w)", re.IGNORECASE)  # noqa: RUF001
_THIRD = re.compile(r"\b(?:he|she|they|him|her|his|their|them|you|your|it|its|who)\b", re.IGNORECASE)
_OWNED = re.compile(r"(?:\w+,? ){0,2}(?:my|our) (\w+)\b", re.IGNORECASE)
_CLAUSES = re.compile(r"[,;] (?:and |but )?| and | but | while ")


@dataclass(frozen=True, slots=True)
class Turned:
    """What a negation or condition turns: the words that it reaches."""

    kind: str
    words: tuple[str, ...]


def turned(text: str, before: str = "") -> Iterator[Turned]:
    """What is denied or made conditional in a text: of a negation, the next words of the clause, else those before it;
    of a bare "no", what was said before it; of a condition, the clause that it stands in or all that it opens."""
    tokens = [token.casefold().replace("’", "'") for token in _TOKEN.findall(text)]  # noqa: RUF001
    for place, token in enumerate(tokens):
        kind = "a negation" if token.endswith("n't") else _TURNS.get(token)
        if kind == "a condition":
            behind, rest = _carried(tokens[:place][::-1]), [one for one in tokens[place + 1 :] if one not in _ENDS]
            yield Turned(kind, tuple([*behind, *_carried(tokens[place + 1 :])] if behind else _carried(rest)))
        elif kind:
            found = (_carried(tokens[place + 1 :]) or _carried(tokens[:place][::-1]))[:_REACH]
            bare = not found and (place + 1 == len(tokens) or tokens[place + 1] in _ENDS)
            asked = [word for word in words(before) if word not in _PASSED and word not in tokens]
            yield Turned(kind, tuple(found or (asked if bare else ())))


def _carried(tokens: Sequence[str]) -> list[str]:
    """The words that carry the clause that begins here."""
    found: list[str] = []
    for token in tokens:
        if token in _ENDS:
            break
        if token not in _PASSED and token not in _TURNS and not token.endswith("n't"):
            found += words(token.removesuffix("'s"))
    return found


@dataclass(frozen=True, slots=True)
class Sense:
    """A statement beside the turns that bear it out; `said` is the place of the one that it was made of."""

    text: str
    turns: Sequence[Event]
    places: Collection[int]
    said: int

    def doubts(self) -> list[str]:
        best = self._best()
        if best is None:
            return []
        sentence, turn = best
        found = (self._opposite(sentence), self._subject(sentence, turn), self._turned())
        return [doubt for doubt in found if doubt]

    def _best(self) -> tuple[str, Event] | None:
        """The sentence of the witnesses that says most of it, and the turn that it stands in."""
        said = [
            (shared(self.text, sentence.text), place, sentence.text)
            for place in sorted(self.places)
            for sentence in sentences(self.turns[place].text)
        ]
        count, place, text = max(said, default=(0, 0, ""))
        return (text, self.turns[place]) if count else None

    # -- what it affirms ------------------------------------------------------------------------------------

    def _opposite(self, sentence: str) -> str:
        said = frozenset(map(stem, words(sentence)))
        there = [contents(self.turns[place].text) for place in self.places]
        for word in words(self.text):
            turned = len(word) > 4 and OPPOSITES.get(stem(word), frozenset[str]()) & said
            if turned and not any(one.has_word(word) for one in there):
                return f"the opposite of {word!r}"
        return ""

    def _turned(self) -> str:
        """Whether it denies or makes conditional what its witnesses do, each once, and nothing besides."""
        theirs, ours = list(self._turned_there()), list(turned(self.text))
        covered: set[tuple[str, str]] = set()
        for one in ours:
            partner = max(theirs, key=lambda other: _likeness(one, other), default=one)
            if not _likeness(one, partner) or not theirs:
                return one.kind
            theirs.remove(partner)
            covered |= {(one.kind, word) for word in (*one.words, *partner.words)}
        told = contents(self.text)
        authors = {word for turn in self.turns for word in words(f"{turn.author} {name_of(turn)}")}
        for other in theirs:
            open_ = (word for word in other.words if (other.kind, word) not in covered and word not in authors)
            if any(map(told.has_word, open_)):
                return other.kind
        return ""

    def _turned_there(self) -> Iterator[Turned]:
        before = ""
        for place, turn in enumerate(self.turns):
            for sentence in sentences(turn.text):
                if place in self.places:
                    yield from turned(sentence.text, before)
                before = sentence.text

    # -- whom it is about -----------------------------------------------------------------------------------

    def _subject(self, sentence: str, turn: Event) -> str:
        """Whether it is about somebody else than the clause that says most of it."""
        own = [word for word in words(self.text) if word not in ("the", "a", "an")]
        clause = max(_CLAUSES.split(sentence), key=lambda one: shared(" ".join(own[1:]), one))
        if own[0] in words(name_of(turn)):
            about = self._head(clause)
            return "" if not about or any(alike(one, word) for one in about for word in own) else f"about {about[0]!r}"
        persons = {
            word for one in self.turns for word in words(f"{one.author} {name_of(one)} {' '.join(_called(one))}")
        }
        first = re.search(r"\bI\b", clause) and not _THIRD.search(clause) and turn is self.turns[self.said]
        joined = re.search(rf"\b{re.escape(own[0])}\b(?:,? (?-i:[A-Z])\w+)*,? and I\b", sentence, re.IGNORECASE)
        other = own[0] in persons and own[0] not in words(clause)
        return "whether it is about the speaker" if first and other and not joined else ""

    def _head(self, clause: str) -> tuple[str, ...]:
        """Of a clause that is not in the first person, what is the speaker's in it, or who is called by name first."""
        if _FIRST.search(clause):
            return ()
        if owned := _OWNED.match(clause):
            return words(owned[1])
        first = tuple(word for word in words(clause) if word not in _LEADS)[:1]
        return first if any(first[:1] == (name,) for turn in self.turns for name in names(turn.text)) else ()


def _called(turn: Event) -> list[str]:
    """What is written with a capital in a turn."""
    return [word for word in turn.text.split() if word[:1].isupper()]


def _likeness(told: Turned, said: Turned) -> int:
    """How much of what a statement turns was turned; the first word tells most."""
    if told.kind != said.kind:
        return 0
    alikes = [any(alike(one, other) for other in said.words) for one in told.words]
    return sum(alikes) + 2 * (alikes[:1] == [True])
