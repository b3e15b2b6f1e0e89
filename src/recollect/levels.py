"""Levels: one memory at the length that helps, the way from there to the evidence, and answers that climb it."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace

from recollect.care import promote as promotion
from recollect.domain.change import Disclose
from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId, VersionId
from recollect.domain.portion import MOST, Portion, Spot, limited
from recollect.domain.query import Query
from recollect.domain.scope import actor
from recollect.domain.text import name
from recollect.domain.turn import Mark, Task, Turn
from recollect.domain.version import Version
from recollect.errors import Invalid, NotFound, StoreFull, StoreReadOnly, checked
from recollect.holdings import Among, Held, Named
from recollect.keeping import Keeping
from recollect.policy.access import Action
from recollect.policy.clean import refuse_secret
from recollect.read import answering, feedback, leveled, receipts
from recollect.read.answering import Answered, Model
from recollect.read.leveled import Leveled
from recollect.read.look import Look
from recollect.read.query import Reader
from recollect.read.receipts import Wish
from recollect.read.shown import Shown, VersionInfo, listed
from recollect.read.slices import Threads

_MOST_TOKENS = 100_000


class Levels(Keeping):
    """How memories are read, as one principal may read them."""

    def show(self, item_id: ItemId | EventId) -> Shown:
        """A memory with the words that are served by default, and the events behind them. Of an event: its thread, what
        was said around it, and the memories that were made of it."""
        if (asked := self._event(item_id)) is not None:
            return asked
        held = self._gate.read(ItemId(item_id))
        found = leveled.shown(self._look, self._outlined(held), self._gate.opens)
        self._touch(held)
        return found

    def _event(self, id: ItemId | EventId) -> Shown | None:
        """The event of that id, where its thread may be read. Whether or not there is one, the same is looked up."""
        found = self._store.events_by_id(self._tenant, [EventId(id)], readers=self._gate.readers)
        thread = found[0].item_id if found else ItemId(id)
        if not self._gate.opens([thread]) or not self._gate.rule.shown(found):
            return None
        held = self._store.item(self._tenant, thread)
        if held is None:
            return None
        shown = leveled.shown_event(self._look, found[0], held, self._gate.readable)
        return replace(shown, made=[replace(one, item=self._gate.outlined(one.item)) for one in shown.made])

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
            held = self._gate.read(item_id)
            rendered = leveled.serve(
                self._look,
                self._outlined(held),
                self._gate.opens,
                more=more,
                turn_id=turn_id,
                task=task,
                mode=self._deps.mode,
                budget_tokens=budget_tokens,
            )
        self._touch(held)
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
            marked = feedback.mark(self._look, turn_id, mark, agent=agent)
        self._tally.add(self._tenant, marked.observations)
        return marked.turn

    def versions(
        self, item_id: ItemId, *, before: VersionId | None = None, limit: int = MOST
    ) -> Portion[VersionInfo, VersionId]:
        """What lengths there are of a memory and how they came about, newest first; not their words. Those older than
        `before`, the `next` of an earlier answer."""
        held = self._gate.read(item_id)
        with checked():
            limited(limit)
        found = listed(held.item, leveled.open_outlines(self._look, held.item))
        if before is not None:
            behind = [place for place, one in enumerate(found, 1) if one.id == before]
            if not behind:
                raise NotFound("there is no such version of the memory", "Begin again without `before`.")
            found = found[behind[0] :]
        return Portion(tuple(found[:limit]), found[limit - 1].id if len(found) > limit else None)

    def version(self, item_id: ItemId, version_id: VersionId) -> Version:
        """One version with its words. Who reads it is on record."""
        self._gate.allow(Action.INSPECT)
        held = self._gate.read(item_id)
        for version in self._store.versions(self._tenant, item_id, readers=self._gate.readers, only=version_id):
            read = Disclose(None, item_id, version_id)
            scope, now = self._scope_of(held.item), self._deps.clock.now()
            self._store.apply(scope, [read], actor=actor(self.principal), at=now)
            self._touch(held)
            return version
        raise promotion.no_such_version()

    def thread(self, item_id: ItemId, *, after: int = 0, limit: int = MOST) -> Portion[Event, int]:
        """The events of a thread, by the id of its episode, in their order, behind a sequence number."""
        self._gate.read(item_id)
        with checked():
            found = receipts.events(self._look, Among(item_id), after=Spot(item_id, after), limit=limit)
        return Portion(found.parts, found.next.seq if found.next else None)

    def evidence(
        self, item_id: ItemId, witness: str | None = None, *, after: str | None = None, limit: int = MOST
    ) -> Portion[Event, str]:
        """The events behind a memory, each once, in the order of their threads; with `witness`, those of them that it
        names (e:, s:, c:, joined by commas). A chunk comes out as its own part of the text. Of an event, what was said
        around it. `after`: the `next` of an earlier answer."""
        if (asked := self._event(item_id)) is not None and asked.event is not None:
            if witness is not None:
                return self.evidence(asked.item.id, witness, after=after, limit=limit)
            near = Named((leveled.around_it(asked.event.seq),))
            return self._events(Among(asked.item.id, named=near), None, after, limit)
        held = self._gate.read(item_id)
        with checked():
            wanted = receipts.wish(witness, item_id) if witness is not None else None
        named = wanted.named if wanted else None
        if held.item.kind == "episode":
            return self._events(Among(item_id, named=named), wanted, after, limit)
        self._touch(held)
        attesting = leveled.attesting(self._look, held.item)
        if attesting is None:
            return Portion()
        return self._events(Among(version=attesting, named=named), wanted, after, limit)

    def _events(self, among: Among, wanted: Wish | None, after: str | None, limit: int) -> Portion[Event, str]:
        threads = None if among.thread is not None else Threads(self._look, self._gate.readable)
        with checked():
            behind = Spot.read(after) if after is not None else None
            found = receipts.events(self._look, among, threads, after=behind, limit=limit)
        cut = [part for event in found for part in wanted.cut(event)] if wanted else found
        return Portion(tuple(cut), str(found.next) if found.next else None)

    # -- parts --------------------------------------------------------------------------------------------

    @property
    def _look(self) -> Look:
        deps = self._deps
        allowed = deps.categories.allowed(self.principal.agent_id)
        return Look(deps.store, deps.embedder, self.principal, allowed, deps.clock.now(), listed=allowed)

    @property
    def _reader(self) -> Reader:
        deps = self._deps
        return Reader(deps.store, deps.embedder, deps.clock, self.principal, deps.categories)

    def _admitted(self, query: Query) -> Query:
        """A question that may be asked, in the mode that is set where it names none."""
        with checked():
            refuse_secret(query.agent, "the name of an agent")  # it is kept with who was told of changes
            self._gate.speak_for(query.agent)
            for asked in (query.filters.user_id, query.thread_id):  # they are kept with what is counted
                refuse_secret(asked, "the name of a user or thread")
        return query if query.mode else replace(query, mode=self._deps.mode)

    def _outlined(self, held: Held) -> Held:
        """A memory that is shown, without the names of others that may not be read."""
        return replace(held, item=self._gate.outlined(held.item))

    def _touch(self, held: Held) -> None:
        """A memory was read: its lock, if it has one, holds for the full time again."""
        if held.item.lock:
            self._extend([held.item.id])

    def _extend(self, read: Iterable[ItemId]) -> None:
        found = [held for item_id in sorted(read) if (held := self._store.item(self._tenant, item_id))]
        if found:
            scope, upkeep = self._scope_of(found[0].item), self._deps.upkeep
            with suppress(StoreFull, StoreReadOnly):  # a lock that ends sooner is no reason to refuse what is read
                promotion.read(self._store, scope, found, self._deps.clock.now(), upkeep.lock, actor(self.principal))
