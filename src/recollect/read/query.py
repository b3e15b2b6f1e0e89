"""memory.query: a question in, an answer out. What is to be recorded of it is handed back, to be written afterwards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from recollect.clock import Clock
from recollect.domain.codec import when
from recollect.domain.event import Event, Trust
from recollect.domain.ids import ItemId, RecordId
from recollect.domain.item import Fact
from recollect.domain.observation import Observation, Operation, Use, Used
from recollect.domain.query import Answer, Filters, Form, Query, Result, Source
from recollect.domain.scope import Principal
from recollect.domain.text import tokens
from recollect.domain.witness import written
from recollect.policy.asked import Asked, asked
from recollect.policy.categories import EVIDENCE, SHIPPED, Categories, parse
from recollect.policy.pack import Piece, cost, pack
from recollect.ports import Embedder, Store
from recollect.read import delta, evidence, memories
from recollect.read.evidence import Proof
from recollect.read.look import Look
from recollect.read.memories import Found

ABSTAIN = 0.07
"""Below this confidence memory is said to know nothing: one question in a hundred that it could answer falls under it,
and more than half of those that it cannot."""
NOISE = 0.25
"""A memory that fits this much worse than the best one is not served beside it."""
_HEADER_SHARE = 4
_WHOLE_SHARE = 2


@dataclass(frozen=True, slots=True)
class Served:
    """An answer, and what is to be recorded of it once it is given."""

    answer: Answer
    observations: Sequence[Observation]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A result before it is known how much of it fits."""

    result: Result
    item_id: ItemId
    piece: Piece
    signals: Mapping[str, float]


class Reader:
    """Answers the questions of one principal."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        clock: Clock,
        principal: Principal,
        categories: Categories | None = None,
    ) -> None:
        self._store, self._embedder, self._clock, self._principal = store, embedder, clock, principal
        self._categories = categories or _SHIPPED

    def answer(self, query: Query) -> Served:
        """What memory knows about a question, within its budget. Raises Forbidden for categories that the agent may
        not read."""
        agent = query.agent or self._principal.agent_id
        filtered = self._categories.granted(agent, query.filters.categories)
        allowed = filtered if query.categories is None else self._categories.granted(agent, query.categories)
        look = Look(self._store, self._embedder, self._principal, allowed, self._clock.now())
        head = self._store.head(self._principal.tenant)
        told = delta.since_last(look, agent or self._principal.id, query.thread_id, head) if query.thread_id else None
        header, room = _fitting(told.lines if told else (), query.budget_tokens)
        question = asked(query.text, look.now.date())
        match query.source:
            case Source.MEMORY:
                served, worth = self._memories(look, question, query, agent)
            case Source.EVIDENCE:
                served, worth = _evidence(look, question, query, 0.0)
            case Source.ANY:
                served, worth = self._memories(look, question, query, agent)
                if not served:
                    served, worth = _evidence(look, question, query, NOISE)
        kept = [
            (replace(served[packed.place].result, text=packed.text), served[packed.place])
            for packed in pack([one.piece for one in served], room, worth)
        ]
        answer = Answer(
            header=header,
            results=tuple(result for result, _ in kept),
            explain=tuple(_explained(result, one) for result, one in kept) if query.explain else (),
            tokens=tokens("\n".join([*header, *(result.text for result, _ in kept)])),
            rev=head.rev,
        )
        return Served(answer, [*self._observed(look, query, kept), *([told.told] if told and told.told else [])])

    def _memories(
        self, look: Look, question: Asked, query: Query, agent: str | None
    ) -> tuple[list[Candidate], Mapping[str, float]]:
        known = memories.look_up(look, question, query.filters, self._categories, query.top_k)
        best = max((one.score for one in known.found), default=0.0)
        least = max(ABSTAIN, NOISE * best)
        found = [one for one in known.found if _enough(one.score, known.confidence, query.threshold, least)]
        found = found[: query.top_k]
        first = self._whole(look, query, agent, known.filters) if found or query.categories else []
        taken = {one.item.id for one in first}
        served = [*first, *(one for one in found if one.item.id not in taken)]
        served += memories.related(look, known, served) if found else []
        return [_memory(one, query.form, look) for one in served], known.worth

    def _whole(self, look: Look, query: Query, agent: str | None, filters: Filters) -> list[Found]:
        """What is served before anything found: the categories whose context is `all`, to an agent or to who names
        them, for half of the budget at most."""
        if agent is None and query.categories is None:
            return []
        every = memories.whole(look, filters, self._categories.whole(look.allowed))
        pieces = [_memory(one, query.form, look).piece for one in every]
        return [every[packed.place] for packed in pack(pieces, max(1, query.budget_tokens // _WHOLE_SHARE), {})]

    def _observed(self, look: Look, query: Query, kept: Sequence[tuple[Result, Candidate]]) -> list[Observation]:
        used = dict.fromkeys(one.item_id for _, one in kept)
        search = Operation(
            id=RecordId(self._clock.mint()),
            user_id=query.filters.user_id,
            thread_id=query.thread_id,
            node="context",
            op="search",
            status="ok" if kept else "skipped",
            memory_id=next(iter(used), None),
            category=kept[0][0].category if kept else None,
            sim=kept[0][0].score if kept else None,
            ts=look.now,
        )
        return [search, *(Used(item_id, Use.RETRIEVED, look.now) for item_id in used)]


_SHIPPED = parse(SHIPPED)


def _evidence(look: Look, question: Asked, query: Query, noise: float) -> tuple[list[Candidate], Mapping[str, float]]:
    """The events that may answer, without those that fit so much worse than the best."""
    proofs = evidence.look_up(look, question, query.filters, query.top_k)
    least = noise * max((one.score for one in proofs.found), default=0.0)
    found = [one for one in proofs.found if _enough(one.score, proofs.confidence, query.threshold, least)]
    return [_event(one) for one in found[: query.top_k]], proofs.worth


def _enough(score: float, confidence: float, threshold: float | None, least: float) -> bool:
    """Whether a hit is served: above the threshold that was asked for, else where memory knows anything at all."""
    if threshold is not None:
        return score >= threshold
    return confidence >= ABSTAIN and score >= least


def _fitting(lines: tuple[str, ...], budget: int) -> tuple[tuple[str, ...], int]:
    """The header as far as a quarter of the budget holds it, and the room that is left."""
    room = budget // _HEADER_SHARE
    kept: list[str] = []
    for line in lines:
        if cost(line) > room:
            break
        kept.append(line)
        room -= cost(line)
    if len(kept) < 2:
        return (), budget
    return tuple(kept), budget - sum(cost(line) for line in kept)


def _memory(found: Found, form: Form, look: Look) -> Candidate:
    item, version = found.item, found.version
    meta: dict[str, object] = {}
    if item.trust is Trust.UNTRUSTED:
        meta["trust"] = item.trust.value
    if item.valid_to is not None and item.valid_to <= look.now:
        meta["valid_from"], meta["valid_to"] = item.valid_from and when(item.valid_from), when(item.valid_to)
    match form:
        case Form.BULLETS:
            piece = Piece(" ".join(version.content.split()), f"[{item.category}] ", cut=True)
        case Form.FULL:
            piece = Piece(version.content, cut=True)
            meta |= _described(found)
    result = Result(
        id=item.id,
        category=item.category,
        text=piece.lead + piece.text,
        score=round(found.score, 4),
        related_to=found.related_to,
        meta=meta,
    )
    return Candidate(result, item.id, piece, found.signals)


def _described(found: Found) -> dict[str, object]:
    """All that is known about a memory, for who asks for it in full."""
    item, version = found.item, found.version
    about: dict[str, object] = {
        "kind": item.kind,
        "importance": item.importance,
        "updated_at": when(item.updated_at),
        "valid_from": item.valid_from and when(item.valid_from),
        "valid_to": item.valid_to and when(item.valid_to),
        "trust": item.trust.value,
        "tags": list(item.tags),
        "pinned": item.pinned,
        "witnesses": ",".join(written(bullet.witnesses) for bullet in version.bullets),
    }
    if isinstance(item.body, Fact):
        about |= {
            "key": item.body.key,
            "value": item.body.value,
            "scope": item.body.scope,
            "confidence": item.body.confidence,
        }
    return about


def _event(proof: Proof) -> Candidate:
    event = proof.event
    result = Result(
        id=event.id,
        category=EVIDENCE,
        text=event.text,
        score=round(proof.score, 4),
        meta=_told(event),
    )
    return Candidate(result, event.item_id, Piece(event.text, cut=True), proof.signals)


def _told(event: Event) -> dict[str, object]:
    return {
        "author": event.author,
        "role": event.role,
        "ts": when(event.ts),
        "episode": event.item_id,
        "seq": event.seq,
        "trust": event.trust.value,
    }


def _explained(result: Result, candidate: Candidate) -> Mapping[str, object]:
    signals = {name: round(value, 3) for name, value in candidate.signals.items()}
    return {"id": result.id, "score": result.score, "signals": signals}
