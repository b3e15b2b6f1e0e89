"""Which statements of a thread its summary keeps: what says most, what is not said yet, within the room there is."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt

from recollect.domain.event import Event
from recollect.domain.text import tokens
from recollect.policy.bands import negated
from recollect.policy.distil.statement import Statement
from recollect.policy.distil.support import stem, words
from recollect.policy.speech.speakers import ASSISTANT

_SAME = 0.7
"""The share of the shorter one's words that two statements have in common when they say the same."""
LEAST_WORTH = 1.3
_FIRM = 5.0
_FEW = 2
"""How many of those that say least a summary holds."""
_FEW_OF = 8
"""One in so many may tell what an assistant said: the memory is about people and their work."""
_NOTE = 4
"""Tokens that the witnesses of a bullet and its dash take."""
_WORD = re.compile(r"[^\W_]{3,}")


@dataclass(frozen=True, slots=True)
class _Weighed:
    statement: Statement
    stems: frozenset[str]
    cost: int


def chosen(statements: Sequence[Statement], events: Sequence[Event], usual: int, most: int) -> list[Statement]:
    """The statements that fit into so many tokens, in the order of the thread. What is firm, a decision or a day, may
    take more than the usual room."""
    rarity = _rarity(events)
    worthy = sorted((one for one in statements if one.worth >= LEAST_WORTH), key=lambda one: one.places[-1])
    left = _unrepeated([_weighed(statement) for statement in worthy])
    kept: list[_Weighed] = []
    covered: set[str] = set()
    places: Counter[int] = Counter()
    spent = 0
    while left:
        best = max(left, key=lambda one: (_gain(one, rarity, covered, places), -one.statement.places[0]))
        left.remove(best)
        room = (most if best.statement.worth >= _FIRM else usual) - spent
        if best.cost > room or any(_alike(best, other) for other in kept):
            continue
        if _crowded(best, kept):
            continue
        spent += best.cost
        kept.append(best)
        covered |= best.stems
        places[best.statement.places[-1]] += 1
    return sorted((one.statement for one in kept), key=lambda statement: statement.places)


def _crowded(best: _Weighed, kept: Sequence[_Weighed]) -> bool:
    """Whether there are enough of its kind: what says least, and what an assistant said."""
    if best.statement.worth <= LEAST_WORTH:
        return sum(one.statement.worth <= LEAST_WORTH for one in kept) >= _FEW
    if best.statement.speaker != ASSISTANT:
        return False
    return sum(one.statement.speaker == ASSISTANT for one in kept) >= max(1, len(kept) // _FEW_OF)


def _weighed(statement: Statement) -> _Weighed:
    return _Weighed(statement, frozenset(map(stem, words(statement.text))), tokens(statement.text) + _NOTE)


def _rarity(events: Sequence[Event]) -> dict[str, float]:
    said: Counter[str] = Counter()
    for event in events:
        said.update({stem(word) for word in _WORD.findall(event.text.lower()[:20_000])})
    return {word: log(1 + len(events) / count) / log(2 + len(events)) for word, count in said.items()}


def _gain(one: _Weighed, rarity: dict[str, float], covered: set[str], places: Counter[int]) -> float:
    new = one.stems - covered
    share = len(new) / max(1, len(one.stems))
    told = one.statement.worth + 0.8 * sum(rarity.get(word, 0.0) for word in new)
    return told * (0.2 + share) / sqrt(25 + one.cost) / (1 + 0.7 * places[one.statement.places[-1]])


def _unrepeated(weighed: list[_Weighed]) -> list[_Weighed]:
    """Without those that another one says as well: of two, the later where they differ in a number, else the fuller."""
    kept: list[_Weighed] = []
    by_stem: dict[str, list[int]] = {}
    gone: set[int] = set()
    for one in weighed:
        near = Counter(number for word in one.stems for number in by_stem.get(word, ()))
        rivals = [number for number in near if number not in gone and _alike(one, kept[number])]
        if any(_better(kept[number], one) for number in rivals):
            continue
        gone.update(rivals)
        for word in one.stems:
            by_stem.setdefault(word, []).append(len(kept))
        kept.append(one)
    return [one for number, one in enumerate(kept) if number not in gone]


def _alike(one: _Weighed, other: _Weighed) -> bool:
    least = min(len(one.stems), len(other.stems))
    if negated(one.statement.text) != negated(other.statement.text):
        return False
    return least > 0 and len(one.stems & other.stems) >= _SAME * least


def _better(earlier: _Weighed, later: _Weighed) -> bool:
    """Whether the earlier of two that say the same is kept: it says more, and nothing that the later one corrects."""
    numbers = re.compile(r"\d+")
    old, new = set(numbers.findall(earlier.statement.text)), set(numbers.findall(later.statement.text))
    if later.statement.corrects or (old and new and old != new and not new <= old):
        return False
    return earlier.statement.worth >= later.statement.worth
