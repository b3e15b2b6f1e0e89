"""Whether the events that a sentence names bear it out, word for word: nothing in it that nobody said."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from recollect.domain.event import Event
from recollect.domain.witness import Bullet
from recollect.policy import bands
from recollect.policy.distil.material import cited

SHARE = 0.6
"""The share of a bullet's content words that its witnesses must hold."""
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_CAPITAL = re.compile(r"(?<![\w'])[A-ZÀ-ÖØ-Þ][^\W_]+")
_TITLE = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|Prof|St)\. ")
_BEGINS = frozenset(
    """in on at by for from with the an all both each some no not once two three after before while when during since
    until as to of if about around there here one many most several another every this that these those its only also
    even because although though however given""".split()
)
_DATED = re.compile(
    r"\b(?:(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, )?(?:in the )?(?:early |late |mid )?(?:week(?:end)? of )?"
    r"(?:\d{1,2} )?(?:January|February|March|April|May|June|July|August|September|October|November|December)"
    r"(?: \d{1,2}\b)?(?:,? \d{4})?|(?:spring|summer|autumn|winter) (?:of )?\d{4}|\d{4}-\d\d(?:-\d\d)?)",
    re.IGNORECASE,
)
"""A day as memories write one: relative times become dates that nobody said."""
_RELATIVE = re.compile(
    r"\b(?:last|next|this|past|ago|years?|summer|winter|spring|fall|autumn|since|Q[1-4]|today|tonight|tomorrow|"
    r"yesterday|"
    r"weeks?|weekends?|months?|days?|night|morning|evening|noon|recently|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|"
    r"the \d{1,2}(?:st|nd|rd|th))\b",
    re.IGNORECASE,
)
"""Words that a date can be reckoned from."""
_ENDINGS = "ations ation ingly ings ies ied ing ions ion ers ed es er ly s y e".split()
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
TELLING = frozenset(
    """user assistant team asked answered said told noted decided chose wanted wants want shared gave suggested
    recommended explained proposed agreed accepted help given whether choice rule reminder question turn turns open
    showed provided helped worked tried needed need has had was were did does how what which who when where why
    instead mentioned discussed talked photo reported planned plans plan""".split()
)
"""Words that tell who said something rather than what."""


def supported(bullet: Bullet, events: Sequence[Event]) -> bool:
    """Whether the bullet's witnesses among the events hold its names and numbers, each of them, and most of its other
    words. Dates may be reckoned from when it was said, where the words give cause to."""
    return holds(bullet.text, cited(bullet, events))


def holds(text: str, heard: Sequence[Event], share: float = SHARE) -> bool:
    """Whether what was heard holds the names and numbers of a text, and so much of its other words."""
    if not heard:
        return False
    said = " ".join(f"{event.author} {event.text}" for event in heard)
    reckoned = bool(_RELATIVE.search(said))
    undated = _YEAR.sub(" ", _DATED.sub(" ", text)) if reckoned else text
    if not _numbers(undated) <= _numbers(said) | {
        str(event.ts.year + shift) for event in heard for shift in (-1, 0, 1)
    }:
        return False
    undated = _DATED.sub(" ", text)
    stems = _stems(said)
    if any(stem(name) not in stems for name in _names(undated)):
        return False
    own = [word for word in words(undated) if word not in TELLING]
    return sum(stem(word) in stems for word in own) >= share * len(own)


def _names(text: str) -> Iterator[str]:
    """What is called by name in a text, in small letters; the word that it begins with as well, unless any sentence may
    begin so."""
    for found in _CAPITAL.finditer(_TITLE.sub("", text)):
        word = found.group().lower()
        begins = found.start() == 0 or text[max(0, found.start() - 2) : found.start()] == ". "
        if word not in TELLING and not (begins and (word in _BEGINS or word.endswith(("ing", "ly")))):
            yield word


def _numbers(text: str) -> set[str]:
    """The numbers of a text, those with a point, a comma or a colon whole and in their parts."""
    return {part for found in _NUMBER.findall(text) for part in re.split("[.,:]", found)}


def words(text: str) -> list[str]:
    """The words of a text that carry it, as they stand, in small letters."""
    return [word for part in bands.content(text) for word in _WORD.findall(part) if len(word) > 2]


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, _WORD.findall(text.lower())))


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """The part of a word that its forms share: "decided" and "decision" have one."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word
