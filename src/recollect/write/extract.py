"""Durable memories out of conversation turns: what a keeper finds worth keeping, told or quoted. No language model."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from recollect.domain.event import Event
from recollect.domain.item import Fact
from recollect.policy.candidate import Candidate
from recollect.policy.speech.hearing import NEAR, is_person
from recollect.policy.speech.reading import remarks
from recollect.policy.speech.remark import Remark, Weights
from recollect.policy.speech.sentences import sentences
from recollect.ports import Keeper
from recollect.weighing import weigh

_DECISION = "DECISION"
_DECIDED = 0.5
_LIKELY = 0.5
_STATE_NOTHING = ("question", "instruction", "hypothetical", "role_play", "quotation", "thanks")
_HEDGED = 0.7
"""Below this certainty of the keeper, a memory is less sure as well."""


def extract(turns: Sequence[Event], fresh: frozenset[int], keeper: Keeper | None = None) -> list[Candidate]:
    """The memories that people's words in the fresh turns hold. The other turns are context."""
    return worth_keeping(turns, weigh(turns, people(turns, fresh), keeper, NEAR))


def people(turns: Sequence[Event], places: Iterable[int]) -> list[int]:
    """Those of some places at which a person speaks."""
    return [place for place in sorted(places) if is_person(turns[place])]


def worth_keeping(turns: Sequence[Event], weights: Weights) -> list[Candidate]:
    """The memories in the turns that were weighed."""
    return [candidate(remark) for remark in remarks(turns, list(weights), weights)]


def passed_over(turns: Sequence[Event], places: Sequence[int], weights: Weights) -> list[Candidate]:
    """What the turns at some places state, whether it is worth keeping or not, each in the words that were said. What
    asks, asks for something or means nothing it says, states nothing; secrets and planted orders stay out as ever."""
    said = remarks(turns, places, weights, keep=0.0)
    return [candidate(replace(remark, told=None)) for remark in said if _states(remark, turns[remark.places[-1]])]


def _states(remark: Remark, turn: Event) -> bool:
    """Whether a remark is made of whole sentences, none of which asks: half a sentence may be half a question."""
    last, said = remark.quotation.excerpts[-1], sentences(turn.text)
    whole = any(one.start == last.start for one in said) and any(one.end == last.end for one in said)
    asks = any(one.text.endswith(("?", "？")) for one in sentences(remark.quotation.words))  # noqa: RUF001
    return whole and not asks and remark.kind(*_STATE_NOTHING) < _LIKELY


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
