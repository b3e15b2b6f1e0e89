"""Whether a statement means what the sentence means that it was made of: about the same person, affirming what is
affirmed and denying what is denied. Where that is not sure, these say what is in doubt."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from recollect.domain.event import Event
from recollect.policy.clues.lexicon import OPPOSITES, stem
from recollect.policy.clues.reading import READ, Reading, read
from recollect.policy.contents import alike, contents, names, shared, words
from recollect.policy.speech.hearing import name_of
from recollect.policy.speech.sentences import sentences

KIN = {
    word: group[0]
    for group in (
        part.split("/")
        for part in (
            "mother/mom/mum/mam/mommy/mummy/mama/ma father/dad/daddy/papa parent/parents/folks brother/brothers/bro "
            "sister/sisters/sis sibling/siblings son/sons/boy/boys daughter/daughters/girl/girls "
            "child/children/kid/kids/baby husband/hubby wife/missus partner/spouse fiance/fiancee boyfriend/bf "
            "girlfriend/gf uncle aunt/auntie cousin/cousins nephew niece grandmother/grandma/granny/nan/nana "
            "grandfather/grandpa/granddad grandson granddaughter twin/twins boss manager colleague/colleagues/coworker "
            "friend/friends/mate/buddy/pal neighbour/neighbor/neighbours/neighbors roommate/flatmate landlord/landlady"
        ).split()
    )
    for word in group
}
"""What people are to each other, by all that it is called."""
_LEADS = frozenset("and so but oh well yes yeah yep no ok okay also btw then because since that hey hi".split())
_FIRST = re.compile(r"(?<![\w'’])(?:i|im|ive|me|we|us|myself|let's)(?!\w)", re.IGNORECASE)  # noqa: RUF001
_THIRD = re.compile(r"\b(?:he|she|they|him|her|his|their|them|you|your|it|its|who)\b", re.IGNORECASE)
_OWNED = re.compile(r"(?:\w+,? ){0,2}(?:my|our) (?:\w+ ){0,2}?(\w+)\b", re.IGNORECASE)
_CLAUSES = re.compile(r"[,;] (?:and |but )?| and | but | while ")
_REFUSES = re.compile(r"\W*(?:no|nope|nah|never|not really|rather not)\b", re.IGNORECASE)
_UNDENIED = re.compile(
    r"\b(?:can(?:'t|not| not) wait|do(?:n't| not) forget|not only|not just|no (?:doubt|worries|problem)|"
    r"why (?:not|don't))\b",
    re.IGNORECASE,
)
"""What denies nothing, for all its negations."""
_APOSTROPHE = re.compile(
    r"\b(ca|do|does|did|wo|is|are|was|were|should|could|would|have|has|had|must)n['’]?t\b",  # noqa: RUF001
    re.IGNORECASE,
)
_LESS = frozenset({"lacking", "changed"})
_LACKING = frozenset(
    map(
        stem, "allergic intolerant vegetarian vegan avoid refuse unable only against off away without free stop".split()
    )
)


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
        found = (self._opposite(sentence), self._subject(sentence, turn), self._denial(sentence))
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

    def _opposite(self, sentence: str) -> str:
        said = frozenset(map(stem, words(sentence)))
        there = [contents(self.turns[place].text) for place in self.places]
        for word in words(self.text):
            turned = len(word) > 4 and word not in KIN and OPPOSITES.get(stem(word), frozenset[str]()) & said
            if turned and not any(one.has_word(word) for one in there):
                return f"the opposite of {word!r}"
        return ""

    # -- whom it is about -----------------------------------------------------------------------------------

    def _subject(self, sentence: str, turn: Event) -> str:
        """Whether it is about somebody else than the clause that says most of it."""
        own = [word for word in words(self.text) if word not in ("the", "a", "an")]
        told = " ".join(own[1:])
        clause = max(_CLAUSES.split(sentence), key=lambda one: shared(told, one))
        if own[:1] and own[0] in words(name_of(turn)):
            return self._of_another(own, clause)
        authors = {word for one in self.turns for word in words(f"{one.author} {name_of(one)}")}
        named = own[:1] and (own[0] in authors or own[0] in self._called(opening=True))
        first = turn is self.turns[self.said] and re.search(r"\bI\b", clause) and not _THIRD.search(clause)
        other = named and first and not any(alike(own[0], word) for word in words(clause))
        joined = other and re.search(rf"\b{re.escape(own[0])}(?:,? (?-i:[A-Z])\w+)*,? and I\b", sentence, re.IGNORECASE)
        return "whether it is about the speaker" if other and not joined else ""

    def _of_another(self, own: Sequence[str], clause: str) -> str:
        """Of a statement about the speaker, whether the clause is about somebody else."""
        if _FIRST.search(clause):
            return ""
        owned = _OWNED.match(clause)
        if owned and (kin := KIN.get(owned[1].lower())) and not related(own, kin):
            return f"whether it is about the {owned[1]}"
        first = next((word for word in words(clause) if word not in _LEADS), "")
        called = first in self._called() and not any(alike(first, word) for word in own)
        return f"whether it is about {first!r}" if called else ""

    def _called(self, *, opening: bool = False) -> frozenset[str]:
        """What is called by name in the turns; with `opening` what opens a sentence as well, which may be any word."""
        runs = (run for turn in self.turns for run in names(turn.text[:READ]))
        return frozenset(name.word for run in runs for name in run if opening or not name.opens)

    # -- what it affirms ------------------------------------------------------------------------------------

    def _denial(self, sentence: str) -> str:
        """Whether it affirms what was denied, or denies what was affirmed."""
        ours, theirs = read(self.text), read(_spelled_out(sentence))
        if ours.liking * theirs.liking < 0:
            return "whether it is liked"
        authors = {word for turn in self.turns for word in words(turn.author)}
        lacks = bool(ours.marks & _LESS or ours.content & _LACKING)
        if not lacks and (theirs.denied - ours.denied - authors) & ours.content:
            return "a negation"
        every = (one.text for place in self.places for one in sentences(self.turns[place].text))
        if ours.denied and not any(_denies(one, ours) for one in every):
            return "a negation"
        reply = self.turns[self.said].text
        refused = not lacks and not ours.negations and _REFUSES.match(reply) and not shared(self.text, reply)
        return "whether it was agreed" if refused else ""


def related(said: Collection[str], kin: str) -> bool:
    """Whether some words name somebody who is that to another."""
    return any(KIN.get(word) == kin for word in said)


def _denies(sentence: str, ours: Reading) -> bool:
    """Whether a sentence denies something of what a statement denies, or answers in the negative."""
    if _REFUSES.match(sentence):
        return True
    theirs = read(_spelled_out(sentence))
    lacks = theirs.negations or theirs.marks & _LESS or theirs.content & _LACKING or theirs.liking < 0
    return bool(lacks) and (bool(theirs.content & ours.denied) or any(map(contents(sentence).has_word, ours.denied)))


def _spelled_out(sentence: str) -> str:
    """A sentence with its negations as they are spelled, and without those that deny nothing."""
    return _APOSTROPHE.sub(r"\1n't", _UNDENIED.sub(" ", sentence))
