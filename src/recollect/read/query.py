"""memory.query: a question in, an answer out. What is to be recorded of it is handed back, to be written afterwards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from recollect.clock import Clock
from recollect.domain.codec import canonical
from recollect.domain.ids import ItemId, RecordId, VersionId
from recollect.domain.item import PROCEDURAL
from recollect.domain.level import Level
from recollect.domain.observation import Observation, Operation, Use, Used
from recollect.domain.query import Answer, Filters, Query, Result, Source
from recollect.domain.scope import Principal
from recollect.domain.text import tokens
from recollect.domain.turn import Mode, Reason, Task
from recollect.policy import level, rank, silence
from recollect.policy.asked import Asked, asked
from recollect.policy.categories import EVIDENCE, SHIPPED, Categories, kinds, parse
from recollect.policy.pack import cost, pack
from recollect.ports import Embedder, Store
from recollect.read import delta, evidence, lines, memories
from recollect.read.blend import SHORTEST, Blended
from recollect.read.evidence import Proofs
from recollect.read.lines import Candidate
from recollect.read.look import Look, told_reader
from recollect.read.memories import Found, Memories, Statement
from recollect.read.over import Made
from recollect.read.portions import RAW, Kept, OfEvents, OfMemories, Portion
from recollect.read.serving import FURTHEST, Course, ask_first, course, nothing_more

ABSTAIN = 0.13
"""Below this confidence memory is said to know nothing: of the hard questions that it was fitted on, three in a hundred
that memory could answer fall under it, and a quarter of those that it cannot (`training/run sureness`)."""
HOPELESS = 0.02
"""The same of events that speak of what is asked, as far as a few lines tell."""
NOISE = 0.25
"""A memory that fits this much worse than the best one is not served beside it."""
MOST = 24
"""Memories that are looked at where nobody says how many."""
FAINT = 0.02
"""The same of an event beside memories: they are many, and what is next to them tells much."""
_HEADER_SHARE = 4
_WHOLE_SHARE = 2


@dataclass(frozen=True, slots=True)
class Served:
    """An answer, and what is to be recorded of it once it is given."""

    answer: Answer
    observations: Sequence[Observation]
    locked: frozenset[ItemId] = frozenset()
    """The memories in it that are locked: their locks hold for longer when they are read."""


class Reader:
    """Answers the questions of one principal."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        clock: Clock,
        principal: Principal,
        categories: Categories | None = None,
        mode: Mode = Mode.A,
    ) -> None:
        self._mode = mode
        self._store, self._embedder, self._clock, self._principal = store, embedder, clock, principal
        self._categories = categories or _SHIPPED

    def answer(self, query: Query) -> Served:
        """What memory knows about a question, within its budget. Raises Forbidden for categories that the agent may
        not read; within a turn, NothingMore where everything was served, NeedMoreContext where people are to be asked
        before more is."""
        agent = query.agent or self._principal.agent_id
        look = self._look(query, agent)
        head = self._store.head(self._principal.tenant)
        told = (
            delta.since_last(look, told_reader(self._principal, agent), query.thread_id, head)
            if query.thread_id
            else None
        )
        header, room = _fitting(told.lines if told else (), query.budget_tokens)
        turn = course(look, query.turn_id, _subject(query))
        portions = self._portions(look, query, agent)
        portion = self._chosen(portions, turn, query, room)
        escalated = portion.escalated
        reason = level.reason(query.task, bool(portions.contested), query.said, turn.served, turn.bumps)
        answer = Answer(
            header=header,
            results=tuple(result for result, _ in portion.kept),
            explain=tuple(_explained(result, one) for result, one in portion.kept) if query.explain else (),
            tokens=tokens("\n".join([*header, *(result.text for result, _ in portion.kept)])),
            rev=head.rev,
            used_level=portion.used_level,
            escalated=escalated,
            reason=(reason or Reason.UNCERTAINTY) if escalated else None,
            more=portion.more,
            turn_id=query.turn_id,
        )
        observed = [*self._observed(look, query, portion.kept), *turn.ignored()]
        served = {one.item_id for _, one in portion.kept}
        return Served(answer, [*observed, *([told.told] if told and told.told else [])], portions.locked & served)

    def _look(self, query: Query, agent: str | None) -> Look:
        filters = query.filters
        procedures = bool(filters.kinds and filters.kinds & PROCEDURAL)
        filtered = self._categories.granted(agent, filters.categories, procedures=procedures)
        allowed = filtered if query.categories is None else self._categories.granted(agent, query.categories)
        named = not (query.categories is None and filters.categories is None and filters.kinds is None)
        now = self._clock.now()
        served = kinds(allowed, named=named)
        reach = None if named else self._categories.allowed(agent)
        listed = self._categories.allowed(agent)
        return Look(self._store, self._embedder, self._principal, allowed, now, filters.valid_at, served, reach, listed)

    def _chosen(self, portions: OfMemories | OfEvents | Blended, turn: Course, query: Query, room: int) -> Portion:
        """The first portion, from the step that the turn calls for upwards, that was not served in it yet. Where there
        is nothing up there, what is below, for who was served nothing about it yet: a ladder is not climbed down."""
        at_top = portions.first is level.TOP
        steps = level.steps(query.task, False, query.said, turn.served, turn.bumps)
        if at_top:  # events are what a task calls for, and nobody was served the first of them by a mark
            steps = level.steps(Task.ROUTINE, False, query.said, turn.served, 0)
        mode = Mode.A if query.agreed else query.mode or self._mode
        for tried in range(FURTHEST):
            step = steps + tried
            if mode is Mode.B:
                reason = level.reason(query.task, bool(portions.contested), query.said, turn.served, turn.bumps)
                called_for = max(step, int(portions.doubtful))
                ask_first(mode, portions.first, called_for, witnesses=portions.attested, reason=reason)
            portion = self._portion(
                portions, query, step, min(step if at_top else step - RAW, turn.served + tried), room
            )
            if portion is None and step >= RAW:
                break
            if portion is not None and turn.takes(portion.context, _items(portion)):
                return portion
        for step in range(steps - 1, -1, -1) if not turn.served else ():
            portion = self._portion(portions, query, step, 0, room)
            if portion is not None and turn.takes(portion.context, _items(portion)):
                return portion
        raise nothing_more()

    def _portion(
        self, portions: OfMemories | OfEvents | Blended, query: Query, step: int, page: int, room: int
    ) -> Portion | None:
        if isinstance(portions, OfMemories) and step > 0 and portions.proofs is None:
            portions.proofs = self._rationed(portions, portions.events, Made(portions.look))
        return portions.at(step, max(0, page), room)

    def _portions(self, look: Look, query: Query, agent: str | None) -> OfMemories | OfEvents | Blended:
        question = asked(query.text, look.now.date())
        match query.source:
            case Source.MEMORY:
                return self._memories(look, query, question, agent, self._found(look, query, question))
            case Source.EVIDENCE:
                return OfEvents(look, query.top_k, self._proofs(look, query, question, 0.0))
            case Source.ANY:
                found = self._found(look, query, question)
                if _of_memories_alone(query):
                    return self._memories(look, query, question, agent, found)
                proofs = self._looked_up(look, query, question, found.statements)
                if self._weighs and (speaks := _speaks(query, found, proofs)) is not None:
                    found = found if speaks else replace(found, found=())
                    proofs = _trusted(proofs) if speaks else replace(proofs, found=())
                proofs = _without_noise(proofs, query.threshold, FAINT)
                known = self._memories(look, query, question, agent, found)
                made = Made(look)
                proofs = self._rationed(known, proofs, made)
                known.proofs = _without_noise(proofs, query.threshold, NOISE)
                return Blended(known, proofs, query, question, made)

    @property
    def _weighs(self) -> bool:
        """Whether the line between an answer and silence was fitted to this embedder."""
        return self._embedder is not None and self._embedder.profile.weighed

    def _found(self, look: Look, query: Query, question: Asked) -> Memories:
        return memories.look_up(look, question, query.filters, self._categories, query.top_k or MOST)

    def _memories(self, look: Look, query: Query, question: Asked, agent: str | None, known: Memories) -> OfMemories:
        best = max((one.score for one in known.found), default=0.0)
        least = max(ABSTAIN, NOISE * best)
        found = [one for one in known.found if _enough(one.score, known.confidence, query.threshold, least)]
        found = found[: query.top_k or MOST]
        first = self._whole(look, query, agent, known.filters) if found or query.categories else []
        taken = {one.item.id for one in first}
        served = [*first, *(one for one in found if one.item.id not in taken)]
        served += memories.related(look, known, served) if found else []
        served = memories.rationed(served, self._categories)
        return OfMemories(look, query, served, found, known.worth, lambda: self._proofs(look, query, question, NOISE))

    def _whole(self, look: Look, query: Query, agent: str | None, filters: Filters) -> list[Found]:
        """What is served before anything found: the categories whose context is `all`, to an agent or to who names
        them, for half of the budget at most."""
        if agent is None and query.categories is None:
            return []
        every = memories.whole(look, filters, self._categories.whole(look.allowed))
        pieces = [lines.of_memory(one, query.form, look, {}, None).piece for one in every]
        return [every[packed.place] for packed in pack(pieces, max(1, query.budget_tokens // _WHOLE_SHARE), {})]

    def _proofs(self, look: Look, query: Query, question: Asked, noise: float) -> Proofs:
        """The events that may answer, without those that fit so much worse than the best."""
        return _without_noise(self._looked_up(look, query, question), query.threshold, noise)

    def _looked_up(self, look: Look, query: Query, question: Asked, known: Sequence[Statement] | None = None) -> Proofs:
        most = max(query.top_k or 0, query.budget_tokens // SHORTEST)
        return evidence.look_up(look, question, query.filters, most, known)

    def _rationed(self, known: OfMemories, proofs: Proofs, made: Made) -> Proofs:
        """The events, of each category no more than its rag_length says, with the memories that are served."""
        most = {name: most for name in self._categories.contexts if (most := self._categories.most(name)) is not None}
        served = [one.item for one in known.served]
        return replace(proofs, found=evidence.rationed(made, proofs.found, served, most))

    def _observed(self, look: Look, query: Query, kept: Kept) -> list[Observation]:
        used = _versions(kept)
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
        return [search, *(Used(item_id, Use.RETRIEVED, look.now, version) for item_id, version in used.items())]


_SHIPPED = parse(SHIPPED)


def _of_memories_alone(query: Query) -> bool:
    """Whether a question is narrowed to what events do not have: a kind, a state, a weight; or to threads as such."""
    filters = query.filters
    measures = (filters.kinds, filters.pinned, filters.core, filters.importance_min, filters.importance_max)
    narrowed = any(one is not None for one in (*measures, filters.purge_due)) or filters.states != Filters().states
    return narrowed or EVIDENCE in ((query.categories or frozenset()) | (filters.categories or frozenset()))


def _subject(query: Query) -> str:
    """What a turn's servings are about: the question, and what it is narrowed to. Sets have no order of their own."""
    narrowed: dict[str, object] = {}
    for name in Filters.__dataclass_fields__:
        value: frozenset[str] | object = getattr(query.filters, name)
        narrowed[name] = sorted(cast(frozenset[str], value)) if isinstance(value, frozenset) else str(value)
    named = sorted(query.categories) if query.categories is not None else None
    return canonical([" ".join(query.text.split()), narrowed, named, query.source.value])


def _versions(kept: Kept) -> dict[ItemId, VersionId | None]:
    """The memories that are served, each with the version that is."""
    used: dict[ItemId, VersionId | None] = {}
    for _, one in kept:
        used[one.item_id] = used.get(one.item_id) or one.version_id
    return used


def _items(portion: Portion) -> dict[ItemId, VersionId | None]:
    """What a context is made of: the memories, and the threads whose words are in it."""
    threads = {ItemId(str(result.meta["episode"])): None for result, _ in portion.kept if result.level >= Level.R4}
    return {**threads, **_versions(portion.kept)}


def _enough(score: float, confidence: float, threshold: float | None, least: float) -> bool:
    """Whether a hit is served: above the threshold that was asked for, else where memory knows anything at all."""
    if threshold is not None:
        return score >= threshold
    return confidence >= ABSTAIN and score >= least


def _speaks(query: Query, known: Memories, proofs: Proofs) -> bool | None:
    """Whether anything that was found speaks of what is asked; the answer is empty where not. None where that cannot be
    told, or where somebody names a threshold or says where to look, and gets what is there."""
    whose = replace(query.filters, user_id=None, agent_id=None, project_id=None)
    if query.threshold is not None or query.categories is not None or whose != Filters() or proofs.signs is None:
        return None
    return None if _is_called(known, proofs) else silence.speaks(proofs.signs.beside(known.nearest))


def _is_called(known: Memories, proofs: Proofs) -> bool:
    """Whether the question calls something by its name, that of a file or a tag."""
    named = any(rank.called(proofs.worth, one.event.names) for one in proofs.found)
    return named or any(one.called for one in known.found)


def _trusted(proofs: Proofs) -> Proofs:
    """What was weighed and found to speak is served, unless next to nothing of it comes near."""
    return replace(proofs, confidence=1.0) if proofs.confidence >= HOPELESS else proofs


def _without_noise(proofs: Proofs, threshold: float | None, noise: float) -> Proofs:
    least = noise * max((one.score for one in proofs.found), default=0.0)
    found = [one for one in proofs.found if _enough(one.score, proofs.confidence, threshold, least)]
    return replace(proofs, found=found)


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


def _explained(result: Result, candidate: Candidate) -> Mapping[str, object]:
    signals = {name: round(value, 3) for name, value in candidate.signals.items()}
    return {"id": result.id, "score": result.score, "signals": signals}
