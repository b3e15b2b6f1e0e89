"""What a language model says was in the turns, held against the turns: what they do not bear out is dropped."""

import re
from collections.abc import Sequence
from itertools import pairwise

from recollect.domain.event import Event, Trust
from recollect.domain.item import Fact
from recollect.policy import bands
from recollect.policy.candidate import Candidate
from recollect.policy.prompts import ExtractedFact, ExtractedFacts, moment
from recollect.policy.secrets import redact
from recollect.policy.speech.planted import planted
from recollect.policy.wording import fit

_PEOPLE = (None, "user", "human")
_KNOWN = 0.4
"""The share of a fact's content words that its witnesses must hold."""
_STEM = 4
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d+")
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z]\w+")
_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = "(?:" + "|".join(month[:3] + "(?:" + month[3:] + ")?" for month in _MONTHS) + ")"
# Relative times become dates that nobody said.
_DATE = re.compile(
    rf"\b\d{{4}}-\d\d(?:-\d\d)?\b|\b(?:\d{{1,2}}(?:st|nd|rd|th)?\s+)?{_MONTH}\b\.?(?:\s+\d{{1,2}}(?:st|nd|rd|th)?\b)?(?:,?\s+\d{{4}}\b)?",
    re.IGNORECASE,
)
_WEEK = frozenset("monday tuesday wednesday thursday friday saturday sunday week weekend".split())
_TELLING = frozenset("user said says told uses decided wants plans likes prefers works lives since until".split())
_COUNTED = {word: number for number, word in enumerate("one two three four five six seven eight nine".split(), 1)}
_TEENS = {word: number for number, word in enumerate("ten eleven twelve thirteen fourteen fifteen".split(), 10)}
_TENS = {word: 10 * number for number, word in enumerate("twenty thirty forty fifty sixty seventy eighty".split(), 2)}


def extracted(answer: ExtractedFacts, turns: Sequence[Event], fresh: frozenset[int]) -> list[Candidate]:
    """The candidates in an answer that the turns bear out and that may be kept, worded as memories are."""
    found = [_candidate(fact, turns, fresh) for fact in answer.facts]
    texts: set[str] = set()
    kept: list[Candidate] = []
    for candidate in found:
        if candidate is not None and candidate.text.casefold() not in texts:
            texts.add(candidate.text.casefold())
            kept.append(candidate)
    return kept


def _candidate(fact: ExtractedFact, turns: Sequence[Event], fresh: frozenset[int]) -> Candidate | None:
    places = tuple(sorted({number - 1 for number in fact.witnesses}))
    text = fit(fact.text)
    if text is None or not all(0 <= place < len(turns) for place in places) or not fresh.intersection(places):
        return None
    witnesses = [turns[place] for place in places]
    if not any(_may_tell(turn) for turn in witnesses) or not borne_out(text, witnesses, turns):
        return None
    fields = [part for part in (text, fact.key, fact.value, fact.scope) if part]
    if any(redact(part).found or "[redacted:" in part for part in fields) or planted(text):
        return None
    return Candidate(
        text=text,
        body=Fact(key=fact.key or None, value=fact.value or None, scope=fact.scope or None, confidence=fact.confidence),
        category=fact.category,
        importance=fact.importance,
        private=fact.private,
        witnesses=places,
        valid_from=moment(fact.valid_from),
        valid_to=moment(fact.valid_to),
        corrects=fact.corrects,
    )


def _may_tell(turn: Event) -> bool:
    """Whether memories may rest on a turn: a person's own words, which do not try to steer."""
    return turn.role in _PEOPLE and turn.trust is Trust.TRUSTED and not planted(turn.text)


def borne_out(text: str, witnesses: Sequence[Event], turns: Sequence[Event]) -> bool:
    """Whether the witnesses hold most of the words that a text is made of. Names and numbers must have come up in the
    turns, each of them, but for dates."""
    undated = _DATE.sub(" ", text)
    heard = _words(" ".join(f"{turn.author} {turn.text}" for turn in turns))
    heard |= {str(turn.ts.year + shift) for turn in turns for shift in (-1, 0, 1)} | {"00"}
    names = {word.lower() for word in _NAME.findall(undated)} - _TELLING
    names = {name for name in names if name.removesuffix("s") not in _WEEK}
    numbers = set(_NUMBER.findall(undated))
    if any(word not in heard and word.removesuffix("s") not in heard for word in names | numbers):
        return False
    said = {word[:_STEM] for word in _words(" ".join(f"{turn.author} {turn.text}" for turn in witnesses))}
    own = {word for part in bands.content(undated) for word in _WORD.findall(part) if len(word) > 2} - _WEEK - _TELLING
    return sum(word[:_STEM] in said for word in own) >= _KNOWN * len(own)


def _words(text: str) -> frozenset[str]:
    """The words and numbers of a text, those that are written out as well."""
    found = _WORD.findall(text.lower())
    numbers = [*_NUMBER.findall(text), *(str(number) for number in _spelled(found))]
    return frozenset([*found, *numbers])


def _spelled(words: Sequence[str]) -> list[int]:
    small = _COUNTED | _TEENS | _TENS
    spelled = [small[word] for word in words if word in small]
    return spelled + [
        _TENS[first] + _COUNTED[second] for first, second in pairwise(words) if first in _TENS and second in _COUNTED
    ]
