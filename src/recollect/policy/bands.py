"""What becomes of a candidate for memory that has neighbours: the four bands.

Auto: it is known already, and gains a witness. Update: it tells more about the same, and the memory gets the new
words. Recreate: it says otherwise, and a new memory takes over from the old one. Fallback: it is new; what lies near is
linked, and what lies very near is for a judge to compare.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from struct import unpack

from recollect.domain.embedding import Profile
from recollect.domain.event import Trust
from recollect.domain.item import Fact, Item
from recollect.policy import signs
from recollect.policy.clues.lexicon import stem

_WORD = re.compile(r"[\w'’]+(?:[+#]+(?!\w)|(?<=[ABO0])[-−](?![\w-]))?")  # noqa: RUF001
"""C++ and C# are words of their own, and so are A+ and A-."""
_NUMBER = re.compile(r"(?:(?<![^\s(])[-−<>])?\d+(?:[.,:/-]\d+)*(?:\s?[AaPp](?:m\b|M\b|\.\s?[mM]\b))?")  # noqa: RUF001
_NEGATION = frozenset(
    "not no never none neither nor cannot without isn't aren't wasn't weren't don't doesn't didn't can't couldn't "
    "won't wouldn't hasn't haven't hadn't stopped quit anymore "
    "nicht kein keine keinen keinem keiner keines nie niemals niemand nichts ohne "
    "ne n'a n'est pas jamais aucun aucune rien nunca jamás ningún ninguna nadie nada mai nessuno nessuna niente senza "
    "não nenhum nenhuma ninguém sem niet geen nooit niemand zonder inte ikke ikkje aldrig aldri utan uden uten "
    "nie nigdy bez не нет никогда без".split()
)
_UNMARKED = frozenset(word.replace("'", "") for word in _NEGATION if word.endswith("n't"))
"""The same as they are typed in haste."""
_EMPTY = frozenset(
    "a an the is are was were be been being am do does did has have had of to in on at by for from with and or as that "
    "per this it its his her their our my your he she they we i you there here so very also now just will would "
    "can".split()
)

_WEIGHTY = (
    frozenset("to of in on at by for from with".split()),
    frozenset("his her their our my your its he she they we i you".split()),
    frozenset("is was".split()),
    frozenset("has had".split()),
    frozenset("will would can".split()),
)
"""Small words that say something else when one stands for another of its group."""
_FORMS = {"am": "is", "are": "is", "were": "was", "have": "has"}
_NAME = 3
"""Words of a name, at most."""
_SHORTENED = re.compile(r"(?<=\w)['’](?:m|re|ve|ll|d)(?!\w)")  # noqa: RUF001
_LETTER = re.compile(r"(?<=[\w,] )A(?!\w)")
"""Within a sentence this is a name, as in "hepatitis A", and no article."""
_NEAREST = 4
"""So many of the nearest are for the judge however far away they are: what has changed may be told in other words. Of
the pairs of stories in which it has, 95 to 99 % are among these or reach the embedder's floor; of the pairs in a store
of some hundred memories, a third."""


@dataclass(frozen=True, slots=True, kw_only=True)
class New:
    """A candidate as the bands see it."""

    text: str
    body: Fact
    category: str
    at: datetime
    """Since when it holds, as far as is known: when it was said."""
    corrects: bool = False
    trust: Trust = Trust.TRUSTED


@dataclass(frozen=True, slots=True)
class Near:
    """A memory of the same owner that lies near a candidate, and the words that speak for it."""

    item: Item
    text: str
    cosine: float
    seen_alike: bool = True
    """Whether the same people see it as would see the candidate."""


@dataclass(frozen=True, slots=True)
class Auto:
    near: Near


@dataclass(frozen=True, slots=True)
class Update:
    near: Near


@dataclass(frozen=True, slots=True)
class Recreate:
    near: Near


@dataclass(frozen=True, slots=True)
class Fallback:
    linked: tuple[Near, ...]
    judged: tuple[Near, ...]


Band = Auto | Update | Recreate | Fallback


def decide(new: New, near: Sequence[Near], profile: Profile) -> Band:
    """The band of a candidate among its neighbours. Constitutional memories are only ever linked to, and so are those
    that are trusted more or less than the candidate: nothing untrusted renews what is trusted, nor lends it weight. So
    are those that others see: nobody loses a memory to words that they may not read."""
    ranked = sorted(near, key=lambda one: -one.cosine)
    movable = [
        one
        for one in ranked
        if one.item.trust is new.trust and not one.item.constitutional and one.seen_alike and _may_be_the_same(new, one)
    ]
    for one in movable:
        # A correction means to differ, if only in one word. What one says and the other does not may turn its meaning,
        # in any language: "hardly", "ex-", "nicht".
        alike = one.cosine >= profile.same and not new.corrects and _all_said(new.text, one.text)
        if same_words(new.text, one.text) or (alike and not conflicting(new, one)):
            return Auto(one)
    for one in movable:
        if renews(new, one, profile):
            return Recreate(one)
    for one in movable:
        if refines(new, one, profile):
            return Update(one)
    return Fallback(
        tuple(one for one in ranked if one.cosine >= profile.link_min),
        tuple(one for place, one in enumerate(ranked) if place < _NEAREST or one.cosine >= profile.floor),
    )


def _may_be_the_same(new: New, one: Near) -> bool:
    """Two people's "I" is never the same: what one says is merged with what that one said, or with what is nobody's."""
    theirs = one.item.body.scope if isinstance(one.item.body, Fact) else None
    return not new.body.scope or not theirs or new.body.scope.casefold() == theirs.casefold()


def conflicting(new: New, one: Near) -> bool:
    """Whether two texts that lie near each other differ in what matters: a number, a negation, a name, the value of a
    key."""
    if numbers(new.text) != numbers(one.text) or negated(new.text) != negated(one.text):
        return True
    if signs.clash(new.text, one.text):
        return True
    if _names(new.text) - content(one.text) and _names(one.text) - content(new.text):
        return True
    return _same_key(new, one) and not _same_value(new, one)


def renews(new: New, one: Near, profile: Profile) -> bool:
    """Whether the candidate takes the place of the memory: another value of the same key, or said as a correction."""
    if _same_key(new, one):
        return not _same_value(new, one) and one.cosine >= profile.link_min
    near = (profile.judge + profile.same) / 2  # without a key, a correction must be about the very same
    return new.corrects and new.category == one.item.category and one.cosine >= near


def refines(new: New, one: Near, profile: Profile) -> bool:
    """Whether the candidate says all that the memory says, in one piece, and more: "moved from Tuesdays to Thursdays"
    has the words of "is on Tuesdays", and says otherwise. Nor does what names a second number."""
    if one.cosine < profile.judge or negated(new.text) != negated(one.text) or exchanged(new.text, one.text):
        return False
    if numbers(one.text) and numbers(one.text) != numbers(new.text):
        return False
    known, told = _own(one.text), _own(new.text)
    return len(known) >= 2 and len(known) < len(told) and _holds(told, known)


def _own(text: str) -> tuple[str, ...]:
    """The words that carry what somebody said, in their order, without who said it."""
    speaker, colon, words = text.partition(": ")
    said = words if colon and len(speaker.split()) <= _NAME else text
    return tuple(word for word in _plain(said) if word not in _EMPTY)


def _holds(words: Sequence[str], run: Sequence[str]) -> bool:
    return any(words[start : start + len(run)] == run for start in range(len(words) - len(run) + 1))


def cosine(a: bytes, b: bytes) -> float:
    """How near two unit vectors lie to each other, as an embedder writes them: 32-bit floats, the lowest byte first."""
    left, right = (unpack(f"<{len(one) // 4}f", one) for one in (a, b))
    return sum(x * y for x, y in zip(left, right, strict=True))


def same_words(a: str, b: str) -> bool:
    """Whether two texts are the same but for case, punctuation and spaces. What is written into a number is no
    punctuation: 1-5 is not 1.5, nor -5 what 5 is. Nor are signs that say something, < and > among them."""
    return _plain(a) == _plain(b) and numbers(a) == numbers(b) and not signs.clash(a, b)


def _all_said(a: str, b: str) -> bool:
    """Whether each of two texts has all the words of the other that carry it, in some form, and in the same order."""
    ours, theirs = (frozenset(map(stem, content(_SHORTENED.sub("", text)))) for text in (a, b))
    return ours == theirs and not exchanged(a, b) and in_order(a, b)


def exchanged(a: str, b: str) -> bool:
    """Whether each of two texts has a word that the other has not, in no form: another drug, person, code or day. How
    near they lie says nothing then: amoxicillin lies near ampicillin, and a memory too many costs less than a wrong
    one."""
    small, others = (frozenset(_FORMS.get(word, word) for word in _plain(text)) for text in (a, b))
    if any(small & group - others and others & group - small for group in _WEIGHTY):
        return True
    ours, theirs = content(a) - content(b), content(b) - content(a)
    if not ours or not theirs:
        return False
    stems, others = frozenset(map(stem, ours)), frozenset(map(stem, theirs))
    return bool(stems - others) and bool(others - stems)


def in_order(a: str, b: str) -> bool:
    """Whether the words that two texts have in common stand in the same order, but for a part that moved from the end
    to the beginning: "on Fridays the office is closed". Else who does what to whom may be another: Ana owes Ben, Ben
    owes Ana."""
    ours, theirs = ([stem(word) for word in _own(text)] for text in (a, b))
    known = frozenset(ours) & frozenset(theirs)
    ours, theirs = ([word for word in words if word in known] for words in (ours, theirs))
    if ours == theirs:
        return True
    turned = (theirs[place:] + theirs[:place] for place in range(1, len(theirs)))
    return len(theirs) > 2 and any(ours == words for words in turned)


def content(text: str) -> frozenset[str]:
    """The words of a text that carry it."""
    carrying = frozenset(_plain(text)) - _EMPTY
    return carrying | {"a"} if _LETTER.search(text) else carrying


def frame(text: str) -> frozenset[str]:
    """The words that carry a text, without its numbers and negations."""
    return frozenset(word for word in content(text) if not any(sign.isdigit() for sign in word)) - _NEGATION


def negated(text: str) -> bool:
    return any(word in _NEGATION or word in _UNMARKED for word in _plain(text))


@lru_cache(maxsize=1024)
def _plain(text: str) -> tuple[str, ...]:
    return tuple(word.lower().replace("’", "'") for word in _WORD.findall(text))  # noqa: RUF001


def _names(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text) if word[0].isupper()) - _EMPTY


def numbers(text: str) -> frozenset[str]:
    """The numbers, times and dates of a text as they are written."""
    packed = ("".join(found.lower().split()) for found in _NUMBER.findall(text))
    return frozenset(number.replace("a.m", "am").replace("p.m", "pm") for number in packed)


def _same_key(new: New, one: Near) -> bool:
    body = one.item.body
    return (
        isinstance(body, Fact)
        and new.body.key is not None
        and body.key is not None
        and new.body.key.casefold() == body.key.casefold()
        and (new.body.scope or "").casefold() == (body.scope or "").casefold()
    )


def _same_value(new: New, one: Near) -> bool:
    """Whether two values agree as far as they go: "Lyon" and "Lyon, France" do."""
    body = one.item.body
    assert isinstance(body, Fact)
    ours, theirs = content(new.body.value or ""), content(body.value or "")
    return ours <= theirs or theirs <= ours
