"""The job that reads the messages of old stores again: thread by thread, some messages a step, the summary last.

All it writes has one cause, the job, so that one rollback takes a whole run back. For the same reason new memories are
judged here as well. A step that is killed is done again, and has its effect once.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import cast

from recollect.care import judge as judging
from recollect.care import remake as remaking
from recollect.care.remake import Anew, Facts, Summaries
from recollect.care.stroke import Anvil
from recollect.custody import Deps
from recollect.domain.change import Change, Note
from recollect.domain.codec import decode, encode
from recollect.domain.event import STATED, Event
from recollect.domain.ids import EventId, ItemId, Rev
from recollect.domain.item import Item
from recollect.domain.job import Advance, Finish, Leased
from recollect.domain.record import concerns
from recollect.domain.scope import Scope
from recollect.domain.version import Version
from recollect.holdings import Held, Vector
from recollect.jobs.kind import Outcome, Write
from recollect.policy import bands
from recollect.policy.remaking import reworded
from recollect.write.commit import Commit, Decided
from recollect.write.draft import Draft, about
from recollect.write.extraction import Extraction
from recollect.write.later import scope_of
from recollect.write.owner import owner_of
from recollect.write.private_words import SHARED, private_events

log = logging.getLogger("recollect.jobs")

READ = 64
"""Messages of one step."""
JUDGED = 8
"""New memories of one step that are compared with those near them."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A new memory, and those it is to be compared with."""

    new: ItemId
    near: tuple[ItemId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """How far a run has come: up to which thread, and in the one at hand up to which message. `seq`: the next message
    to read, 0 where only the summary is left."""

    until: datetime
    total: int
    done: int = 0
    silo: str = ""
    before: ItemId | None = None
    thread: ItemId | None = None
    start: int = 0
    """What was done before the thread at hand."""
    seq: int = 0
    reads: bool = False
    """Whether memories are made of the thread at hand, or only its private messages marked."""
    judge: tuple[Compared, ...] = ()


def remake(deps: Deps, leased: Leased) -> Outcome:
    """One step: what was read is judged, then more is read, or a thread summed up."""
    return _Run(deps, leased).step()


class _Run:
    def __init__(self, deps: Deps, leased: Leased) -> None:
        self._deps, self._leased = deps, leased
        self._store, self._tenant = deps.store, leased.tenant
        self._now = deps.clock.now()

    def step(self) -> Outcome:
        if not self._leased.state:
            found = remaking.survey(self._store, self._tenant, self._now, by_rules=self._by_rules)
            return self._write(Place(until=found.until, total=found.messages))
        place = decode(Place, self._leased.state)
        if place.judge:
            return self._judged(place)
        found = self._found(place)
        if found is None:
            return Write(scope=Scope(tenant=self._tenant), step=Finish(self._leased))
        place, held = found
        if held is None:
            return self._write(place)
        events = self._store.events(self._tenant, held.item.id, place.seq, limit=READ) if place.seq else ()
        return self._read(place, held, events) if events else self._summed_up(place, held)

    @property
    def _by_rules(self) -> bool:
        """Whether facts are made by rules here. Where a language model makes them, what it made in the past cannot be
        told from what rules made: those memories are left as they are."""
        return self._deps.writer is None

    def _write(
        self,
        place: Place,
        changes: Sequence[Change] = (),
        expect: Mapping[ItemId, Rev] | None = None,
        vectors: Sequence[Vector] = (),
        private: Sequence[EventId] = (),
        scope: Scope | None = None,
    ) -> Write:
        """What a step comes to. The next one waits its turn: a run may take hours, and people talk meanwhile."""
        return Write(
            scope=scope or Scope(tenant=self._tenant),
            step=Advance(self._leased, encode(place), self._now),
            changes=changes,
            expect=expect or {},
            vectors=vectors,
            private=private,
        )

    # -- threads --------------------------------------------------------------------------------------------

    def _found(self, place: Place) -> tuple[Place, Held | None] | None:
        """The thread at hand, or the next one there is something to do about; None at the end. Without a thread, that
        is where the search goes on."""
        if place.thread is not None:
            held = self._store.item(self._tenant, place.thread)
            return (place, held) if held and not held.withdrawn else (_behind(place, place.thread, place.done), None)
        sights = remaking.sights(self._store, self._tenant)
        for silo, sight in sights:
            if silo < place.silo:
                continue
            before = place.before if silo == place.silo else None
            page = remaking.threads(self._store, self._tenant, silo, sight, before)
            if page:
                return self._next(replace(place, silo=silo, before=before), page)
        return None

    def _next(self, place: Place, page: Sequence[Held]) -> tuple[Place, Held | None]:
        facts = self._facts(place)
        spoken = self._store.speaking(self._tenant, [held.item.id for held in page])
        for held in page:
            id = held.item.id
            reads = self._by_rules and facts.has_any(id)
            if reads or held.item.visibility in SHARED:
                return replace(place, thread=id, start=place.done, seq=1, reads=reads), held
            if id in spoken and reworded(spoken[id][1], place.until):
                return replace(place, thread=id, start=place.done, seq=0), held
            place = _behind(place, id, place.done + self._size(id))
        return place, None

    def _size(self, episode_id: ItemId) -> int:
        return sum(event.seq for event in self._store.latest(self._tenant, episode_id, 1))

    # -- facts ----------------------------------------------------------------------------------------------

    def _facts(self, place: Place) -> Facts:
        return Facts(self._store, self._tenant, place.until, self._now)

    def _read(self, place: Place, held: Held, events: Sequence[Event]) -> Write:
        """Some messages of a thread, read again with those before them."""
        episode, context = held.item, self._extraction.context
        first = max(1, events[0].seq - context)
        earlier = self._store.events(self._tenant, episode.id, first, events[0].seq - 1) if events[0].seq > 1 else ()
        private = private_events([*earlier, *events], episode.visibility, self._deps.keeper)
        decided = self._decided(place, episode, earlier, events, private) if place.reads else Decided()
        onward = replace(
            place,
            seq=events[-1].seq + 1,
            done=place.start + events[-1].seq,
            judge=tuple(_compared(job.payload) for job in decided.then),
        )
        scope = scope_of(self._tenant, episode)
        return self._write(onward, decided.changes, decided.expect, decided.vectors, private, scope)

    def _decided(
        self,
        place: Place,
        episode: Item,
        earlier: Sequence[Event],
        events: Sequence[Event],
        private: Sequence[EventId],
    ) -> Decided:
        """What the messages say now, and what that means for what they were taken to say."""
        facts = self._facts(place)
        batch = remaking.batch(facts, events)
        found = self._extraction.found(earlier, events, episode.user_id, capped=False)
        left_alone = self._left_alone(episode.id, events)
        said = [draft for draft in found.drafts if draft.witnesses[-1].id not in left_alone]
        known = [draft for draft in said if batch.known(draft.text, _events(draft))]
        drafts = [draft for draft in said if draft not in known]
        owner = owner_of(self._store, episode, scope_of(self._tenant, episode), self._deps.categories)

        def compares(draft: Draft, item: Item, version: Version) -> bool:
            """An old memory is one to merge with only where it turns out to have been right, word for word."""
            return not facts.is_old(item, version) or bands.same_words(draft.text, version.content)

        commit = Commit(self._store, self._deps.embedder, self._deps.clock, owner, compares, private=frozenset(private))
        decided = commit.decide(about(episode.topic_key, drafts), self._now)
        gone, revs = batch.gone(decided.changes, [(draft.text, _events(draft)) for draft in known], self._now)
        decided.changes += gone
        decided.expect |= revs
        return decided

    def _left_alone(self, episode_id: ItemId, events: Sequence[Event]) -> frozenset[EventId]:
        """Messages that are not read here: stated ones are memories of their own, and some are about to be read."""
        waiting = [
            status
            for status in self._store.jobs(self._tenant, open_only=True)
            if status.job.kind == "extract" and status.job.payload.get("episode_id") == episode_id
        ]
        unread = [
            id
            for status in waiting
            for id in cast(Sequence[EventId], status.job.payload["events"])[(status.progress or (0, 0))[0] :]
        ]
        return frozenset([*unread, *(event.id for event in events if event.meta.get(STATED))])

    @property
    def _extraction(self) -> Extraction:
        deps = self._deps
        return Extraction(deps.store, deps.clock, None, deps.caps, self._tenant, deps.keeper)

    def _judged(self, place: Place) -> Write:
        """New memories compared with those near to them: what no longer holds is over, contradictions are put on
        record. No memory is changed twice in one step: the next one begins with what would."""
        bench = judging.Bench(self._store, self._deps.clock, self._deps.judge, None, self._deps.embedder)
        notes: dict[frozenset[ItemId], Change] = {}
        changes: list[Change] = []
        expect: dict[ItemId, Rev] = {}
        done = 0
        for one in place.judge[:JUDGED]:
            told = judging.judge(bench, self._tenant, one.new, one.near)
            if told.expect.keys() & expect.keys():
                break
            for change in told.changes:
                if isinstance(change, Note) and change.after is not None:
                    notes.setdefault(frozenset(concerns(change.after)), change)
                else:
                    changes.append(change)
            expect |= told.expect
            done += 1
        return self._write(replace(place, judge=place.judge[done:]), [*changes, *notes.values()], expect)

    # -- summaries ------------------------------------------------------------------------------------------

    def _summed_up(self, place: Place, held: Held) -> Write:
        """The end of a thread: what rules of before made of it as a whole is made anew."""
        deps = self._deps
        anvil = Anvil(deps.store, deps.clock, deps.embedder, deps.writer, deps.upkeep, self._tenant, deps.keeper)
        try:
            anew = Summaries(anvil, place.until).anew(held, self._now)
        except ValueError as error:  # what no version can hold; the other threads are not to wait for it
            log.warning("the summary of %s cannot be made anew: %s", held.item.id, type(error).__name__)
            anew = Anew()
        onward = _behind(place, held.item.id, place.start + self._size(held.item.id))
        return self._write(onward, anew.changes, anew.expect, anew.vectors)


def _behind(place: Place, thread: ItemId, done: int) -> Place:
    return replace(place, before=thread, thread=None, seq=0, done=done)


def _compared(payload: Mapping[str, object]) -> Compared:
    return Compared(ItemId(str(payload["item_id"])), tuple(cast(Sequence[ItemId], payload["near"])))


def _events(draft: Draft) -> frozenset[EventId]:
    return frozenset(event.id for event in draft.witnesses)
