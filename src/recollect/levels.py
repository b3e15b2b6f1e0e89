"""Levels: one memory at the length that helps, the way from there to the evidence, and answers that climb it."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from recollect.care import promote as promotion
from recollect.domain import witness as notation
from recollect.domain.change import Disclose
from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId, VersionId
from recollect.domain.level import Level
from recollect.domain.query import Query
from recollect.domain.scope import actor
from recollect.domain.text import name, tokens
from recollect.domain.turn import Mark, Task, Turn
from recollect.domain.version import Version
from recollect.domain.witness import ChunkWitness, EventWitness, RangeWitness, Witness
from recollect.errors import Invalid, NotFound, StoreFull, StoreReadOnly, checked
from recollect.holdings import Held
from recollect.keeping import Keeping
from recollect.policy.access import Action
from recollect.read import answering, feedback, leveled
from recollect.read.answering import Answered, Model
from recollect.read.leveled import Leveled
from recollect.read.look import Look
from recollect.read.query import Reader
from recollect.read.shown import Shown, VersionInfo, listed

_MOST_TOKENS = 100_000


class Levels(Keeping):
    """How memories are read, as one principal may read them."""

    def show(self, item_id: ItemId | EventId) -> Shown:
        """A memory with the words that are served by default, and the events behind them. Of an event: its thread, what
        was said around it, and the memories that were made of it."""
        asked = self._event(item_id)
        return asked or leveled.shown(self._look, self._touched(self._read(ItemId(item_id))), self._gate.readable)

    def _event(self, id: ItemId | EventId) -> Shown | None:
        """The event of that id, where there is no memory of it and its thread may be read."""
        if self._store.item(self._tenant, ItemId(id)) is not None:
            return None
        found = self._store.events_by_id(self._tenant, [EventId(id)], readers=self._gate.readers)
        if not found or not self._gate.readable([found[0].item_id]):
            return None
        held = self._store.item(self._tenant, found[0].item_id)
        return leveled.shown_event(self._look, found[0], held, self._gate.readable) if held else None

    def serve(
        self,
        item_id: ItemId,
        *,
        more: bool = False,
        turn_id: str | None = None,
        task: Task = Task.ROUTINE,
        budget_tokens: int = 2_000,
    ) -> Leveled:
        """A memory at the level that the turn and the task call for; `more` is a step closer to the evidence. Nobody
        names a level. Raises NothingMore where all of it was served in this turn."""
        if not 1 <= budget_tokens <= _MOST_TOKENS:
            raise Invalid(f"budget_tokens {budget_tokens}: give a number from 1 to {_MOST_TOKENS:,}")
        with checked():
            name(turn_id, "turn_id")
            if (asked := self._event(item_id)) is not None:
                return leveled.around(asked, turn_id, budget_tokens)
            held = self._touched(self._read(item_id))
            rendered = leveled.serve(
                self._look,
                held,
                self._gate.readable,
                more=more,
                turn_id=turn_id,
                task=task,
                mode=self._deps.mode,
                budget_tokens=budget_tokens,
            )
        self._tally.add(self._tenant, rendered.observations)
        return rendered.leveled

    def answer(self, query: Query, model: Model | None = None) -> Answered:
        """A question answered from memory by any function, or by the configured language model. Where it says
        NEED_MORE_CONTEXT it is asked again with more evidence; in mode B people are asked first (NeedMoreContext)."""
        query = self._admitted(query)
        with checked():
            replied = answering.answer(
                self._reader,
                query,
                model,
                writer=self._deps.writer,
                tenant=self._tenant,
                mint=self._deps.clock.mint,
            )
        self._tally.add(self._tenant, replied.observations)
        self._extend(replied.locked)
        return replied.answered

    def feedback(self, turn_id: str, mark: Mark, *, agent: str | None = None) -> Turn:
        """What a person says about the answer of a turn, of their own or of the agent they name: it decides what is
        served next in that turn, and counts for what was served."""
        with checked():
            name(turn_id, "turn_id")
            self._gate.speak_for(agent)
            now = self._deps.clock.now()
            marked = feedback.mark(self._store, self.principal, turn_id, mark, at=now, agent=agent)
        self._tally.add(self._tenant, marked.observations)
        return marked.turn

    def versions(self, item_id: ItemId) -> Sequence[VersionInfo]:
        """What lengths there are of a memory and how they came about, newest first; not their words."""
        held = self._read(item_id)
        versions = self._store.versions(self._tenant, item_id, readers=self._gate.readers)
        raw = {
            version.id: sum(tokens(event.text) for event in self._store.cited(self._tenant, [version.id]))
            for version in versions
            if version.level is Level.R5
        }
        return listed(held.item, versions, raw)

    def version(self, item_id: ItemId, version_id: VersionId) -> Version:
        """One version with its words. Who reads it is on record."""
        self._gate.allow(Action.INSPECT)
        held = self._touched(self._read(item_id))
        for version in self._store.versions(self._tenant, item_id, readers=self._gate.readers):
            if version.id == version_id:
                read = Disclose(None, item_id, version_id)
                scope, now = self._scope_of(held.item), self._deps.clock.now()
                self._store.apply(scope, [read], actor=actor(self.principal), at=now)
                return version
        raise NotFound(f"there is no version {version_id} of memory {item_id}", "List them with: recollect levels ID")

    def thread(self, item_id: ItemId, *, after: int = 0, limit: int = 1000) -> Sequence[Event]:
        """The events of a thread, by the id of its episode, in their order."""
        self._read(item_id)
        return self._store.events(self._tenant, item_id, first=after + 1, limit=limit, readers=self._gate.readers)

    def evidence(self, item_id: ItemId, witness: str | None = None) -> Sequence[Event]:
        """The events behind a memory; with `witness`, those of them that it names (e:, s:, c:, joined by commas). A
        chunk comes out as its own part of the text. Of an event, what was said around it."""
        if (asked := self._event(item_id)) is not None:
            return asked.evidence if witness is None else self.evidence(asked.item.id, witness)
        held = self._read(item_id)
        thread = held.item.kind == "episode"
        if witness is None:
            return self.thread(item_id) if thread else self.show(item_id).evidence
        cited = () if thread else self.show(item_id).evidence
        with checked():
            named = notation.read(witness, cited[0].item_id if cited else item_id)
        return [event for one in named for event in self._named(one, item_id if thread else None, cited)]

    def _named(self, witness: Witness, thread: ItemId | None, cited: Sequence[Event]) -> Sequence[Event]:
        """The events that a witness names, out of a thread or out of those that a memory cites."""
        match witness:
            case RangeWitness(_, first, last):
                if thread:
                    return self._store.events(self._tenant, thread, first, last, readers=self._gate.readers)
                return [event for event in cited if first <= event.seq <= last]
            case EventWitness(event_id) | ChunkWitness(event_id):
                readers = self._gate.readers
                found = self._store.events_by_id(self._tenant, [event_id], readers=readers) if thread else cited
                events = [
                    event for event in found if event.id == event_id and event.item_id == (thread or event.item_id)
                ]
        if isinstance(witness, EventWitness):
            return events
        return [chunk for event in events for chunk in event.chunk(witness.number)]

    # -- parts --------------------------------------------------------------------------------------------

    @property
    def _look(self) -> Look:
        deps = self._deps
        allowed = deps.categories.allowed(self.principal.agent_id)
        return Look(deps.store, deps.embedder, self.principal, allowed, deps.clock.now())

    @property
    def _reader(self) -> Reader:
        deps = self._deps
        return Reader(deps.store, deps.embedder, deps.clock, self.principal, deps.categories)

    def _admitted(self, query: Query) -> Query:
        """A question that may be asked, in the mode that is set where it names none."""
        with checked():
            self._gate.speak_for(query.agent)
        return query if query.mode else replace(query, mode=self._deps.mode)

    def _touched(self, held: Held) -> Held:
        """A memory that is read: its lock, if it has one, holds for the full time again."""
        if held.item.lock:
            self._extend([held.item.id])
        return held

    def _extend(self, read: Iterable[ItemId]) -> None:
        found = [held for item_id in sorted(read) if (held := self._store.item(self._tenant, item_id))]
        if found:
            scope, upkeep = self._scope_of(found[0].item), self._deps.upkeep
            with suppress(StoreFull, StoreReadOnly):  # a lock that ends sooner is no reason to refuse what is read
                promotion.read(self._store, scope, found, self._deps.clock.now(), upkeep.lock, actor(self.principal))
