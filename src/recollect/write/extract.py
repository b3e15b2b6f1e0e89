"""Durable memories out of conversation turns, by rules and, where there is one, a keeper. No language model."""

import logging
from collections.abc import Sequence
from dataclasses import replace

from recollect.domain.event import Event
from recollect.domain.item import Fact
from recollect.errors import ModelFailed
from recollect.policy.candidate import Candidate
from recollect.policy.speech import weighing, worth
from recollect.policy.speech.draft import Draft
from recollect.policy.speech.keys import keyed
from recollect.policy.speech.reading import asked, read
from recollect.policy.speech.weighing import Weights
from recollect.policy.wording import LONGEST
from recollect.ports import Keeper

log = logging.getLogger("recollect.write")

_DECISION = "DECISION"
_SHARE = 12
"""What the keeper's certainty of a category counts against words that speak for one."""


def extract(
    turns: Sequence[Event], fresh: frozenset[int], keeper: Keeper | None = None, *, most: int = 5
) -> list[Candidate]:
    """The memories that the fresh turns hold, at most so many a turn. The other turns are context."""
    by_turn: dict[int, list[Candidate]] = {}
    for draft in read(turns, fresh, _weights(turns, fresh, keeper)):
        if fresh.intersection(draft.witnesses):
            by_turn.setdefault(draft.witnesses[-1], []).append(_candidate(draft))
    return [candidate for found in by_turn.values() for candidate in packed(found, most)]


def _weights(turns: Sequence[Event], fresh: frozenset[int], keeper: Keeper | None) -> Weights:
    """What the keeper says of the sentences of the fresh turns, all of them at once. Nothing where there is none, or
    it fails: then the rules decide by themselves."""
    heard = asked(turns, fresh) if keeper is not None else {}
    if keeper is None or not heard:
        return {}
    try:
        return dict(zip(heard, keeper.weigh(list(heard.values())), strict=True))
    except ModelFailed as failed:
        log.warning("memories are chosen by rules for now: %s", failed.what)
        return {}


def _candidate(draft: Draft) -> Candidate:
    key, value = keyed(draft.text)
    confidence = 0.6 if draft.hedged else 0.9 if draft.decision or draft.corrects else 0.8
    category = _category(draft)
    return Candidate(
        text=draft.text,
        body=Fact(key=key, value=value, scope="project" if draft.technical else draft.speaker, confidence=confidence),
        category=category,
        importance=_importance(draft, category),
        private=_private(draft),
        witnesses=draft.witnesses,
        valid_from=draft.valid_from,
        valid_to=draft.valid_to,
        corrects=draft.corrects,
        tags=(_DECISION,) if draft.decision else (),
    )


def _category(draft: Draft) -> str:
    """By the words of a statement and the keeper's word together."""
    ranked = worth.categories(draft.text, tech=draft.technical, times=draft.times)
    for name, share in weighing.categories(draft.weighed).items():
        ranked[name] = ranked.get(name, 0) + _SHARE * share
    return max(ranked, key=ranked.__getitem__)


def _importance(draft: Draft, category: str) -> int:
    return weighing.importance(draft.weighed) or worth.importance(draft.text, category, times=draft.times)


def _private(draft: Draft) -> bool:
    """What either finds private is: who was not meant to see it must not."""
    by_words = worth.private(f"{draft.said} {draft.text}", tech=draft.technical)
    return by_words or weighing.private(draft.weighed)


def packed(found: list[Candidate], most: int) -> list[Candidate]:
    """No more than so many: neighbours share a memory of two sentences, and what matters least is left out last."""
    found = list(found)
    while len(found) > most:
        pairs = [number for number in range(len(found) - 1) if _fits(found[number], found[number + 1])]
        if pairs:
            first = min(pairs, key=lambda number: (_apart(found[number], found[number + 1]), len(found[number].text)))
            found[first : first + 2] = [_together(found[first], found[first + 1])]
        else:
            found.remove(min(found, key=lambda candidate: candidate.importance))
    return found


def _fits(a: Candidate, b: Candidate) -> bool:
    one_each = all(". " not in candidate.text and candidate.text.endswith(".") for candidate in (a, b))
    return one_each and len(a.text) + 1 + len(b.text) <= LONGEST and a.corrects == b.corrects


def _apart(a: Candidate, b: Candidate) -> bool:
    return a.category != b.category or a.private != b.private


def _together(a: Candidate, b: Candidate) -> Candidate:
    lead = a if a.importance >= b.importance else b
    return replace(
        lead,
        text=f"{a.text} {b.text}",
        body=replace(lead.body, key=None, value=None),
        private=a.private or b.private,
        witnesses=tuple(dict.fromkeys((*a.witnesses, *b.witnesses))),
        tags=tuple(dict.fromkeys((*a.tags, *b.tags))),
        valid_from=None,
        valid_to=None,
    )
