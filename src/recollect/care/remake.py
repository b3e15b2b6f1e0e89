"""Remaking what rules of before made: which memories and summaries those are, and what is done about them when their
messages are read again. Nothing is written here, and nothing is ever removed: what goes, goes out of sight."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from recollect.care.regroup import PART_OF
from recollect.care.stroke import Anvil
from recollect.domain.change import Change, Create, Derive, Discard, Edit, Revise, Unlink, Verb, revise
from recollect.domain.event import STATED, Event
from recollect.domain.ids import CauseId, EventId, ItemId, JobId, Rev, TenantId
from recollect.domain.item import Active, Fact, Item, Visibility
from recollect.domain.job import Job, JobStatus
from recollect.domain.level import Level
from recollect.domain.query import Filters, Page
from recollect.domain.relation import Relation
from recollect.domain.scope import EVERYBODY, Sight
from recollect.domain.version import Version
from recollect.holdings import Held, Vector
from recollect.policy import hammer, lifecycle, remaking
from recollect.policy.ground import change_of
from recollect.policy.hammer import Family, Refused
from recollect.policy.remaking import Made
from recollect.ports import Store

KIND = "remake"
_PAGE = 200
_IN_USE = frozenset({"active", "archived"})
_EPISODES = frozenset({"episode"})
_FACTS = frozenset({"fact"})
_MERGED = "merged with others of its topic"


# -- what there is to do -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What a run would look at: so many threads with so many messages; of what was made of them before words were
    quoted, so many memories and summaries. `until`: what is younger was made by the rules of now. `by_rules`: without
    it a language model makes the facts, whose own cannot be told from those of rules: then they are left alone."""

    until: datetime
    by_rules: bool = True
    threads: int = 0
    messages: int = 0
    memories: int = 0
    summaries: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Remade:
    """How a run stands, and, once it is at its end, what it did. `cause`: rolling that back takes all of it back."""

    cause: CauseId
    done: int = 0
    total: int = 0
    settled: bool = False
    failed: str = ""
    created: int = 0
    renewed: int = 0
    hidden: int = 0
    summaries: int = 0

    @property
    def left(self) -> int:
        return max(0, self.total - self.done)

    @property
    def besides(self) -> int:
        return 0


def sights(store: Store, tenant: TenantId) -> list[tuple[str, Sight]]:
    """Everybody's memories, then one silo after the other: what is made of a silo stays in it."""
    return [("", EVERYBODY), *((silo, _inside(silo)) for silo in sorted(store.silos(tenant)))]


def _inside(silo: str) -> Sight:
    return Sight(users=frozenset(), projects=frozenset(), silo=silo, readers=None)


def threads(store: Store, tenant: TenantId, silo: str, sight: Sight, before: ItemId | None) -> Sequence[Held]:
    """The next threads that are in use, newest first."""
    filters = Filters(kinds=_EPISODES, states=_IN_USE, agent_id=silo or None)
    return store.items(tenant, filters, sight, Page(_PAGE, before))


def survey(store: Store, tenant: TenantId, now: datetime, *, by_rules: bool) -> Survey:
    """What there is to do. `by_rules`: facts are made without a language model, so that those of rules are known."""
    until = store.quoted_since(tenant) or now
    sizes: list[int] = []
    memories = summaries = 0
    for silo, sight in sights(store, tenant):
        for held, version in _listed(store, tenant, _EPISODES, silo, sight):
            sizes += [event.seq for event in store.latest(tenant, held.item.id, 1)]
            summaries += version is not None and remaking.reworded(version, until)
        for held, version in _listed(store, tenant, _FACTS, silo, sight) if by_rules else ():
            memories += version is not None and remaking.is_old(held.item, version, until, now)
    return Survey(
        until=until,
        by_rules=by_rules,
        threads=len(sizes),
        messages=sum(sizes),
        memories=memories,
        summaries=summaries,
    )


def _listed(
    store: Store, tenant: TenantId, kinds: frozenset[str], silo: str, sight: Sight
) -> Iterator[tuple[Held, Version | None]]:
    before: ItemId | None = None
    filters = Filters(kinds=kinds, states=_IN_USE, agent_id=silo or None)
    while page := store.items(tenant, filters, sight, Page(_PAGE, before)):
        spoken = store.speaking(tenant, [held.item.id for held in page])
        yield from ((held, spoken[held.item.id][1] if held.item.id in spoken else None) for held in page)
        before = page[-1].item.id


def wanted(jobs: Iterable[JobStatus], job_id: JobId, now: datetime, kind: str = KIND) -> tuple[Job, bool]:
    """The job of a run, and whether it has to be asked for. One that is under way goes on. One that was given up is
    asked for under its own name, so that there is still one thing to roll back."""
    known = next((status for status in jobs if status.job.kind == kind and not status.done_at), None)
    job = Job(id=known.job.id if known else job_id, kind=kind, key=kind, not_before=now)
    return job, known is None or known.failed_at is not None


def standing(store: Store, tenant: TenantId, cause: CauseId) -> Remade:
    """How a run stands. What it did is counted when it has come to its end."""
    status = next((one for one in store.jobs(tenant, open_only=True) if one.job.id == cause), None)
    done, total = (status.progress if status else None) or (0, 0)
    if status and not status.failed_at:
        return Remade(cause=cause, done=done, total=total)
    failed = (status.last_error or "it was given up") if status else ""
    made = [change for entry in store.entries(tenant, cause=cause) if (change := change_of(entry))]
    created = {change.item.id for change in made if isinstance(change, Create)}
    renewed = {change.version.item_id for change in made if isinstance(change, Derive)} - created
    kinds = {id: held.item.kind for id in renewed | created if (held := store.item(tenant, id))}
    gone = {change.item_id for change in made if isinstance(change, Revise) and change.verb in _HIDES}
    return Remade(
        cause=cause,
        done=done,
        total=total,
        settled=True,
        failed=failed,
        created=sum(kinds.get(id) == "fact" for id in created),
        renewed=sum(kinds.get(id) == "fact" for id in renewed),
        hidden=len(gone),
        summaries=sum(kinds.get(id) == "episode" for id in renewed),
    )


_HIDES = (Verb.ARCHIVE, Verb.SUPERSEDE)


# -- facts ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Facts:
    """The memories that were made of messages, as a run looks at them."""

    store: Store
    tenant: TenantId
    until: datetime
    now: datetime
    _known: dict[ItemId, bool] = field(default_factory=dict[ItemId, bool])

    def made_of(self, events: Sequence[Event]) -> list[tuple[Held, Version]]:
        """The facts that were extracted from these events, in sight or not."""
        ids = sorted({citing.item_id for citing in self.store.citing(self.tenant, [event.id for event in events])})
        return [
            (held, version)
            for held, version in self.store.speaking(self.tenant, ids).values()
            if isinstance(held.item.body, Fact) and held.item.role is not None
        ]

    def is_old(self, item: Item, version: Version) -> bool:
        """Whether rules of before made it, and nobody had a hand in it since."""
        if not remaking.is_old(item, version, self.until, self.now):
            return False
        if item.id not in self._known:
            self._known[item.id] = not self._settled(item, version)
        return self._known[item.id]

    def _settled(self, item: Item, version: Version) -> bool:
        """Whether somebody stated it as well, or changed it by hand, or it was read again before."""
        if any(event.meta.get(STATED) for event in self.store.cited(self.tenant, [version.id])):
            return True
        if made_anew(self.store, self.tenant, version):
            return True
        return remaking.touched(entry.header for entry in self.store.entries(self.tenant, refs=[f"i:{item.id}"]))

    def has_any(self, episode_id: ItemId) -> bool:
        """Whether anything was ever made of a thread. What is only kept as evidence is not read for memories now."""
        first = 1
        while page := self.store.events(self.tenant, episode_id, first, limit=_PAGE):
            if self.made_of(page):
                return True
            first = page[-1].seq + 1
        return False


def made_anew(store: Store, tenant: TenantId, version: Version) -> bool:
    """Whether a run has made a version, or found that it stands."""
    naming = store.entries(tenant, refs=[f"v:{version.id}"])
    return any(entry.header.actor == remaking.REMAKES and entry.header.op == "derive" for entry in naming)


@dataclass(frozen=True, slots=True)
class Batch:
    """Facts of some messages of a thread: those of before, and those that stay, in sight or out of it."""

    old: Sequence[tuple[Held, Made]]
    staying: Sequence[Made]

    def known(self, text: str, events: Collection[EventId]) -> bool:
        """Whether a memory that stays, or that somebody has hidden, says it already."""
        return any(made.says(text, events) for made in self.staying)

    def gone(
        self, changes: Sequence[Change], known: Iterable[tuple[str, Collection[EventId]]], now: datetime
    ) -> tuple[list[Change], dict[ItemId, Rev]]:
        """What becomes of the old ones when the messages say this: those that are not borne out go out of sight. One
        that says what is `known`, and therefore not said again, would have no other: it stays."""
        stays = remaking.borne_out(changes)
        said = list(known)
        going = [
            (held, made)
            for held, made in self.old
            if held.item.id not in stays and not any(made.says(text, events) for text, events in said)
        ]
        over = [remaking.taken_over(made.item, remaking.successor(made, changes), now) for _, made in going]
        return [*over], {held.item.id: held.rev for held, _ in going}


def batch(facts: Facts, events: Sequence[Event]) -> Batch:
    old: list[tuple[Held, Made]] = []
    staying: list[Made] = []
    for held, version in facts.made_of(events):
        made = Made(held.item, version)
        if facts.is_old(held.item, version):
            old.append((held, made))
        elif not remaking.hidden_here(held.item):
            staying.append(made)
    return Batch(old, staying)


# -- summaries -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Anew:
    """A thread's summaries made anew: what is to be written, and what that relies on."""

    changes: Sequence[Change] = ()
    expect: Mapping[ItemId, Rev] = field(default_factory=dict[ItemId, Rev])
    vectors: Sequence[Vector] = ()


@dataclass(frozen=True, slots=True)
class Summaries:
    """The summaries of threads, as a run looks at them."""

    anvil: Anvil
    until: datetime

    @property
    def _store(self) -> Store:
        return self.anvil.store

    def anew(self, held: Held, now: datetime) -> Anew:
        """What rules of before made of a thread is hidden, and the hammer strikes as if it had never been. What was
        split off goes with it, and what was merged into it stands by itself again. Nothing happens where a person has
        promoted a version, or pinned, locked or hidden any of it."""
        [family] = self.anvil.families([held], abridged=False)
        worn = remaking.worn(family, self.until)
        if not worn or self._was_anew(family) or self._is_part(held.item.id):
            return Anew()
        parts = list(self._parts(held.item.id))
        going = [(held, worn), *((part, versions) for part, versions, _ in parts)]
        if not all(self._free(one.item, versions, now) for one, versions in going):
            return Anew()
        named = [one.item for one, versions in going if _names(one.item, versions)]
        item = replace(held.item, active_version_id=None) if held.item in named else held.item
        hidden = [version for _, versions in going for version in versions]
        kept = [one for one in family.versions if one not in worn]
        stroke = self.anvil.struck(
            replace(held, item=item), replace(family, item=item, versions=kept), now, "the rules have changed"
        )
        alone, revs = self._unmerged(held.item, now)
        return Anew(
            [
                *(_nameless(one) for one in named),
                *(Unlink(edge) for _, _, edge in parts),
                *(Discard(version) for version in remaking.in_order(hidden)),
                *(remaking.taken_over(part.item, held.item.id, now) for part, _, _ in parts),
                *alone,
                *stroke.changes,
            ],
            {**revs, **{one.item.id: one.rev for one, _ in going}},
            stroke.vectors,
        )

    def _free(self, item: Item, versions: Sequence[Version], now: datetime) -> bool:
        """Whether the words of a memory are for rules to choose."""
        if lifecycle.exempt(item, now) or isinstance(hammer.may_compress(item, Level.R3, now), Refused):
            return False
        if not _names(item, versions):
            return True
        naming = self._store.entries(self.anvil.tenant, refs=[f"v:{item.active_version_id}"])
        return all(entry.header.actor.startswith("job:") for entry in naming if entry.header.op == Verb.PROMOTE.value)

    def _was_anew(self, family: Family) -> bool:
        return family.speaking is not None and made_anew(self._store, self.anvil.tenant, family.speaking)

    def _is_part(self, item_id: ItemId) -> bool:
        """Whether it was split off another, with which it goes or stays."""
        edges = self._store.relations(self.anvil.tenant, item_id)
        return any(edge.relation_type == PART_OF and edge.from_id == item_id for edge in edges)

    def _parts(self, item_id: ItemId) -> Iterator[tuple[Held, Sequence[Version], Relation]]:
        """The memories that were split off, and off those, each with its versions and its edge."""
        tenant = self.anvil.tenant
        for edge in self._store.relations(tenant, item_id):
            held = self._store.item(tenant, edge.from_id) if edge.to_id == item_id else None
            if edge.relation_type != PART_OF or held is None or held.withdrawn:
                continue
            yield held, self._store.versions(tenant, held.item.id), edge
            yield from self._parts(held.item.id)

    def _unmerged(self, item: Item, now: datetime) -> tuple[Sequence[Change], Mapping[ItemId, Rev]]:
        """The threads that were merged into this one, in sight again: each has a summary of its own."""
        if item.topic_key is None:
            return [], {}
        filters = Filters(topic_key=item.topic_key, kinds=_EPISODES, states=frozenset({"archived"}))
        in_silo = item.visibility is Visibility.AGENT_SILO
        sight = _inside(item.agent_id or "") if in_silo else EVERYBODY
        found = [
            held
            for held in self._store.items(self.anvil.tenant, filters, sight, Page(_PAGE))
            if held.item.superseded_by == item.id and getattr(held.item.state, "reason", "") == _MERGED
        ]
        back = [
            revise(held.item, replace(held.item, state=Active(), superseded_by=None), now, Verb.RESTORE)
            for held in found
        ]
        return back, {held.item.id: held.rev for held in found}


def _names(item: Item, versions: Sequence[Version]) -> bool:
    return item.active_version_id in {version.id for version in versions}


def _nameless(item: Item) -> Change:
    """A memory names no version that is to be hidden."""
    return Revise(item.id, Verb.UPDATE, (Edit("active_version_id", item.active_version_id, None),))
