"""The compression hammer: memories made shorter, the longer versions kept, and what is served by default moved."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from recollect.care.ladder import Headway
from recollect.care.regroup import Merge, Split
from recollect.care.stroke import Anvil, Decision, Stroke, anything
from recollect.clock import Clock
from recollect.domain.change import Change
from recollect.domain.ids import CauseId, ItemId, JobId, Rev, TenantId
from recollect.domain.item import Item
from recollect.domain.job import Job, JobStatus
from recollect.domain.query import Filters, Page
from recollect.domain.scope import EVERYBODY, Actor, Scope, Sight
from recollect.errors import NotFound, Stale, StoreBusy
from recollect.holdings import Held, Vector
from recollect.policy import hammer
from recollect.policy.hammer import Family, Why
from recollect.policy.upkeep import Upkeep
from recollect.ports import Embedder, Keeper, Store, Writer

__all__ = ["Batch", "Decision", "Hammer", "Hammered", "Merge", "Split", "Stroke"]

log = logging.getLogger("recollect.care")

BATCH = 50
"""Memories that are looked at in one step of the job."""
STRIKES = 8
"""Memories that are struck in one step of the job at most."""
READ = 12_000
"""Tokens of evidence that a step reads before it ends."""
CLOSE = "close"
GRACE = timedelta(minutes=10)
"""How much longer than it must be a thread is silent before the clock closes it: its own job comes first."""
_IN_USE = frozenset({"active", "archived"})
_TRIES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Hammered:
    """What a run of the hammer did, or, as a dry run, would do."""

    strokes: tuple[Stroke, ...] = ()
    merged: tuple[Merge, ...] = ()
    split: tuple[Split, ...] = ()
    dry_run: bool = False
    rev: Rev
    cause: CauseId | None = None
    """What its entries have in common: rolling that back takes the run back. None where nothing was written."""
    job: JobId | None = None
    """The job that does it, where it is left to one."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What one step of the job writes. `last`: the memory behind which the next step goes on; None at the end."""

    decisions: Sequence[Decision]
    last: ItemId | None
    long: Sequence[ItemId] = ()
    """Threads that are too long for one step among others: they are closed by a job of their own."""

    @property
    def changes(self) -> list[Change]:
        return [change for decision in self.decisions for change in decision.changes]

    @property
    def expect(self) -> dict[ItemId, Rev]:
        return {item_id: rev for decision in self.decisions for item_id, rev in decision.expect.items()}

    @property
    def vectors(self) -> list[Vector]:
        return [vector for decision in self.decisions for vector in decision.vectors]


@dataclass(frozen=True, slots=True)
class Hammer:
    """The hammer over one tenant."""

    store: Store
    clock: Clock
    embedder: Embedder | None
    writer: Writer | None
    upkeep: Upkeep
    tenant: TenantId
    keeper: Keeper | None = None

    @property
    def anvil(self) -> Anvil:
        return Anvil(self.store, self.clock, self.embedder, self.writer, self.upkeep, self.tenant, self.keeper)

    # -- now ------------------------------------------------------------------------------------------------

    def compress(
        self,
        *,
        actor: Actor,
        item_id: ItemId | None = None,
        topic: str | None = None,
        dry_run: bool = False,
        allow: Callable[[Item], bool] = anything,
    ) -> Hammered:
        """Strike one memory, those of one topic, or every candidate; then merge what is about one topic. A dry run
        writes nothing and says exactly what would be made. What `allow` refuses is not looked at. Silos are left to
        the job, but for a single memory that `allow` lets through."""
        run = _Run(self, actor, CauseId(self.clock.mint()), dry_run)
        if item_id is not None:
            held = self._held(item_id)
            if allow(held.item):
                run.strike(held, "asked for")
            return run.result()
        struck: set[ItemId] = set()
        for held, why in self._wanted(topic, allow):
            if run.strike(held, why):
                struck.add(held.item.id)
        for held in self._listed(topic, allow):
            if held.item.id not in struck:
                run.merge(held, struck, allow)
        return run.result()

    def is_long(self, item_id: ItemId) -> bool:
        """Whether there is more to read of a thread than is summed up in one write."""
        return self.anvil.is_long(self._held(item_id))

    def is_read(self, item_id: ItemId) -> bool:
        """Whether all of a thread was read, whatever could be made of it."""
        return self.anvil.is_read(self._held(item_id))

    def close(self, item_id: ItemId, *, actor: Actor) -> Hammered:
        """Close an episode now, whether or not its thread is silent: it is summed up, a long one in several writes."""
        run = _Run(self, actor, CauseId(self.clock.mint()), dry_run=False)
        run.strike(self._held(item_id), Why.CLOSED.value)
        return run.result()

    def _held(self, item_id: ItemId) -> Held:
        held = self.store.item(self.tenant, item_id)
        if held is None or held.withdrawn:
            raise NotFound(f"there is no memory {item_id}")
        return held

    def _wanted(self, topic: str | None, allow: Callable[[Item], bool]) -> Iterator[tuple[Held, str]]:
        """The memories of a topic; without one, all candidates with what makes them so."""
        for held in self._listed(topic, allow):
            if topic is not None:
                yield held, "asked for"
                continue
            [family] = self.anvil.open_families([held])
            if found := hammer.reasons(family, self.clock.now(), self.upkeep):
                yield held, ", ".join(found)

    def _listed(self, topic: str | None, allow: Callable[[Item], bool]) -> Iterator[Held]:
        before: ItemId | None = None
        while page := self.store.items(self.tenant, _filters(topic), EVERYBODY, Page(BATCH, before)):
            yield from (held for held in page if allow(held.item))
            before = page[-1].item.id

    # -- by and by ------------------------------------------------------------------------------------------

    def strikes(self, sight: Sight, before: ItemId | None) -> Batch:
        """The next memories in sight that need it, struck. A step ends early when it had much to read."""
        now, anvil = self.clock.now(), self.anvil
        page = self.store.items(self.tenant, _filters(None, sight.silo), sight, Page(BATCH, before))
        decisions: list[Decision] = []
        long: list[ItemId] = []
        read = 0
        for held, family in zip(page, anvil.open_families(page), strict=True):
            if (found := hammer.reasons(family, now, self.upkeep)) and not self._has_its_own_job(family, now):
                try:
                    decision = anvil.struck(held, family, now, ", ".join(found))
                except ValueError as error:  # what no version can hold; the others are not to wait for it
                    log.warning("memory %s cannot be compressed: %s", held.item.id, type(error).__name__)
                    continue
                if decision.onward:
                    long.append(held.item.id)
                elif decision.changes:
                    decisions.append(decision)
                read += decision.read
            if len(decisions) >= STRIKES or read >= READ:
                return Batch(decisions, held.item.id, long)
        return Batch(decisions, page[-1].item.id if page else None, long)

    def _has_its_own_job(self, family: Family, now: datetime) -> bool:
        """Whether a thread fell silent a moment ago: of two that close it at once, one would work for nothing."""
        last = family.latest[-1:]
        return any(timedelta() <= now - hammer.silent_from(event, self.upkeep) < GRACE for event in last)

    def merges(self, sight: Sight, before: ItemId | None) -> Batch:
        """The next memories in sight, those of one topic merged."""
        page = self.store.items(self.tenant, _filters(None, sight.silo), sight, Page(BATCH, before))
        for held in page:
            decision = self.anvil.merged(held, sight, self.clock.now())
            if decision is not None:
                return Batch([decision], held.item.id)
        return Batch([], page[-1].item.id if page else None)


@dataclass(slots=True)
class _Run:
    """One run of the hammer, memory by memory; each is one write."""

    hammer: Hammer
    actor: Actor
    cause: CauseId
    dry_run: bool
    strokes: list[Stroke] = field(default_factory=list[Stroke])
    merged: list[Merge] = field(default_factory=list[Merge])
    parted: list[Split] = field(default_factory=list[Split])
    rev: Rev | None = None

    def strike(self, held: Held, why: str) -> bool:
        """Whether that changed anything, or would. Of a long thread, what its last stretches were made into is told;
        of a dry run, what its first would be."""
        so_far: Headway | None = None
        changed = False
        while True:
            decision = self._applied(held, partial(self._decide, why=why, so_far=so_far))
            if decision is None:
                return changed
            changed = changed or bool(decision.changes)
            again = self.hammer.store.item(self.hammer.tenant, held.item.id) if decision.onward else None
            if again is None or again.withdrawn or self.dry_run:
                break
            held, so_far = again, decision.onward
            del decision  # it holds the words of its stretches
        self.strokes.append(decision.stroke)
        self.parted += [decision.split] if decision.split else []
        return changed

    def _decide(self, held: Held, *, why: str, so_far: Headway | None) -> Decision:
        return self.hammer.anvil.decide(held, why, so_far)

    def merge(self, held: Held, struck: set[ItemId], allow: Callable[[Item], bool]) -> None:
        """Merge into a memory what has not been struck in this run: that is for the next one."""
        decision = self._applied(
            held,
            lambda held: self.hammer.anvil.merged(
                held, EVERYBODY, self.hammer.clock.now(), without=frozenset(struck), allow=allow
            ),
        )
        if decision is not None and decision.merge is not None:
            self.strokes.append(decision.stroke)
            self.merged.append(decision.merge)
            struck |= {decision.merge.into, *decision.merge.items}

    def result(self) -> Hammered:
        return Hammered(
            strokes=tuple(self.strokes),
            merged=tuple(self.merged),
            split=tuple(self.parted),
            dry_run=self.dry_run,
            rev=self.rev if self.rev is not None else self.hammer.store.head(self.hammer.tenant).rev,
            cause=self.cause if self.rev is not None else None,
        )

    def _applied(self, held: Held, decide: Callable[[Held], Decision | None]) -> Decision | None:
        """Decided and written; decided again where memory has moved on in between."""
        store, tenant = self.hammer.store, self.hammer.tenant
        for _ in range(_TRIES):
            decision = decide(held)
            if decision is None or not decision.changes or self.dry_run:
                return decision
            try:
                self.rev = store.apply(
                    Scope(tenant=tenant),
                    decision.changes,
                    actor=self.actor,
                    at=self.hammer.clock.now(),
                    cause=self.cause,
                    expect=decision.expect,
                    vectors=decision.vectors,
                )
                return decision
            except Stale:
                again = store.item(tenant, held.item.id)
                if again is None or again.withdrawn:
                    return None
                held = again
        raise StoreBusy(f"others keep changing memory {held.item.id}", "Try again when they are done.")


def closing(id: JobId, item_id: ItemId, now: datetime, places: frozenset[int] = frozenset()) -> Job:
    """The job that closes a thread now, with these places of events in it. The one that waits for it to fall silent is
    another."""
    payload = {"episode_id": item_id, "now": True, **_stand(places)}
    return Job(id=id, kind=CLOSE, key=closing_key(item_id), payload=payload, not_before=now)


def _stand(places: frozenset[int]) -> Mapping[str, object]:
    return {"events": len(places), "last": max(places, default=0)}


def closing_key(item_id: ItemId) -> str:
    return f"{item_id} now"


def at_work(jobs: Sequence[JobStatus]) -> JobId | None:
    """The job among these that is still to close its thread."""
    return next((one.job.id for one in jobs if one.job.kind == CLOSE and not one.done_at and not one.failed_at), None)


def closed_by(jobs: Sequence[JobStatus], places: frozenset[int]) -> JobId | None:
    """The job among these that has closed its thread as it stands. Where nothing in it can be summed up, nothing else
    tells of that."""
    stand = _stand(places).items()
    return next((one.job.id for one in jobs if one.done_at and stand <= one.job.payload.items()), None)


def _filters(topic: str | None, silo: str | None = None) -> Filters:
    """What is in use; of a silo, without what everybody sees."""
    return Filters(topic_key=topic, agent_id=silo, states=_IN_USE)
