"""Durable memories out of conversation turns: what a keeper finds worth keeping, told or quoted. No language model."""

from collections.abc import Sequence

from recollect.domain.event import Event
from recollect.domain.item import Fact
from recollect.policy.candidate import Candidate
from recollect.policy.speech.hearing import NEAR, is_person
from recollect.policy.speech.reading import remarks
from recollect.policy.speech.remark import Remark
from recollect.ports import Keeper
from recollect.weighing import weigh

_DECISION = "DECISION"
_DECIDED = 0.5
_HEDGED = 0.7
"""Below this certainty of the keeper, a memory is less sure as well."""


def extract(turns: Sequence[Event], fresh: frozenset[int], keeper: Keeper | None = None) -> list[Candidate]:
    """The memories that people's words in the fresh turns hold. The other turns are context."""
    places = [place for place in sorted(fresh) if is_person(turns[place])]
    return [candidate(remark) for remark in remarks(turns, places, weigh(turns, places, keeper, NEAR))]


def candidate(remark: Remark) -> Candidate:
    confidence = 0.9 if remark.corrects else 0.8 if remark.keep >= _HEDGED else 0.65
    return Candidate(
        text=remark.text,
        quotation=None if remark.told else remark.quotation,
        body=Fact(scope=remark.quotation.speaker, confidence=confidence),
        category=remark.category,
        importance=remark.importance,
        private=remark.private,
        witnesses=remark.places,
        valid_from=remark.valid_from,
        valid_to=remark.valid_to,
        corrects=remark.corrects,
        tags=(_DECISION,) if remark.kind("decision") >= _DECIDED else (),
    )
