"""Answers made of memory by a model: where it says that it needs more, it is asked again with more."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from recollect.domain.ids import ItemId, TenantId
from recollect.domain.level import Level
from recollect.domain.observation import Observation
from recollect.domain.query import Query, Result, Source
from recollect.domain.turn import Reason
from recollect.errors import Invalid, NothingMore
from recollect.policy import answer as answers
from recollect.policy.level import asks_for_more
from recollect.ports import Writer
from recollect.read.query import Reader

MOST_ATTEMPTS = 12
"""Times that a model is asked: one that never has enough would be asked for as long as there is a word left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What a model is asked: the question, and what memory has about it, fenced as data."""

    question: str
    context: str
    used_level: Level
    attempt: int
    """Counted from 1."""
    turn_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The answer of a model, and what it was made of."""

    text: str
    used_level: Level
    escalated: bool
    reason: Reason | None
    turn_id: str
    attempts: int
    results: tuple[Result, ...]
    tokens: int
    """Of everything that was served to the model, all attempts together."""


Model = Callable[[Asking], str]


@dataclass(frozen=True, slots=True)
class Replied:
    """An answer, and what is to be recorded of it."""

    answered: Answered
    observations: Sequence[Observation]
    locked: frozenset[ItemId] = frozenset()


def answer(
    reader: Reader,
    query: Query,
    model: Model | None,
    *,
    writer: Writer | None,
    tenant: TenantId,
    mint: Callable[[], str],
) -> Replied:
    """The answer of the model, or of the configured writer where none is given. `mint` names the turn of a query that
    names none. Raises Invalid where there is nobody to answer, NeedMoreContext in mode B, NothingMore where the turn
    was served everything before."""
    asked = _model(model, writer, tenant)
    query = replace(query, turn_id=query.turn_id or mint())
    served, attempts = reader.answer(query), 1
    observations, spent, locked = [*served.observations], served.answer.tokens, served.locked
    while True:
        said = asked(_asking(query, served.answer.results, served.answer.used_level, attempts))
        if not asks_for_more(said) or attempts >= MOST_ATTEMPTS:
            break
        try:
            served = reader.answer(replace(query, said=said))
        except NothingMore:
            break
        attempts += 1
        observations += served.observations
        spent += served.answer.tokens
        locked |= served.locked
    assert query.turn_id is not None
    answered = Answered(
        text=answers.settled(said),
        used_level=served.answer.used_level,
        escalated=served.answer.escalated,
        reason=served.answer.reason,
        turn_id=query.turn_id,
        attempts=attempts,
        results=served.answer.results,
        tokens=spent,
    )
    return Replied(answered, observations, locked)


def _asking(query: Query, results: Sequence[Result], used_level: Level, attempt: int) -> Asking:
    assert query.turn_id is not None
    return Asking(
        question=query.text,
        context=answers.context(results, framed=query.source is not Source.EVIDENCE),
        used_level=used_level,
        attempt=attempt,
        turn_id=query.turn_id,
    )


def _model(model: Model | None, writer: Writer | None, tenant: TenantId) -> Model:
    if model is not None:
        return model
    if writer is None:
        raise Invalid(
            "no language model is configured to answer with",
            "Set one (RECOLLECT_WRITER), hand in a model of your own, or query and answer by yourself.",
        )
    return lambda asking: writer.write(answers.asking(asking.question, asking.context), tenant=tenant).said
