"""The time machine's arithmetic: what to undo, in which order, and what stands in the way."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from recollect.domain.change import (
    Append,
    Change,
    Consent,
    Create,
    Derive,
    Discard,
    Edit,
    Irreversible,
    Link,
    Note,
    Plain,
    Relink,
    Retract,
    Revise,
    Undo,
    Unlink,
    Withdraw,
    inverse,
    plain,
)
from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId, Seq, VersionId
from recollect.domain.item import Episode
from recollect.domain.journal import Entry
from recollect.domain.record import Open, Resolved, concerns
from recollect.domain.refs import Refs, item_of, refs
from recollect.domain.version import Version
from recollect.domain.witness import ChunkWitness, EventWitness, RangeWitness


@dataclass(frozen=True, slots=True)
class Past:
    """An entry as the time machine reads it. The change is None where its body was erased."""

    seq: Seq
    op: str
    item_id: ItemId | None
    undoes: Seq | None
    change: Change | None

    @property
    def refs(self) -> Refs:
        return refs(self.change) if self.change else _NOTHING


_NOTHING = Refs(frozenset(), frozenset(), frozenset())

Cited = Mapping[VersionId, Mapping[EventId, bool]]
"""Versions with every event that they cite and whether that one is live."""
_NOBODY: Cited = {}


def past(entry: Entry) -> Past:
    header = entry.header
    return Past(header.seq, header.op, header.item_id, header.undoes, entry.change)


@dataclass(frozen=True, slots=True)
class Stay:
    """An entry that is not rolled back, and why."""

    seq: Seq
    why: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What a rollback would do. `blocked_by`: later entries that built on it; they go too only when that is asked."""

    undo: tuple[Undo, ...]
    stays: tuple[Stay, ...]
    blocked_by: tuple[Seq, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of the world: memories that are constitutional, and things that were erased; of versions that may
    come back, the live events that they cite, and of episodes that may, who owns their thread by now."""

    constitutional: frozenset[ItemId] = frozenset()
    erased: frozenset[str] = frozenset()
    evidence: tuple[Event, ...] | None = None
    owners: Mapping[ItemId, ItemId] = field(default_factory=dict[ItemId, ItemId])


def effective(entries: Iterable[Past]) -> list[Past]:
    """The entries that still have an effect: an entry and its undoing cancel out when both are among them."""
    ordered = sorted(entries, key=lambda entry: entry.seq, reverse=True)
    here = {entry.seq for entry in ordered}
    undone: set[Seq] = set()
    kept: list[Past] = []
    for entry in ordered:
        if entry.seq in undone:
            continue
        if entry.undoes is not None and entry.undoes in here:
            undone.add(entry.undoes)
            continue
        kept.append(entry)
    return kept[::-1]


def in_force(chosen: Collection[Past], later: Iterable[Past]) -> list[Past]:
    """The chosen entries that have an effect by now: neither undone among themselves nor by later ones."""
    still = {entry.seq for entry in effective({entry.seq: entry for entry in [*chosen, *later]}.values())}
    return [entry for entry in effective(chosen) if entry.seq in still]


def builds_on(later: Past, earlier: Past) -> bool:
    """Whether the later entry stands on what the earlier one did."""
    ground = Ground()
    ground.add(earlier)
    return ground.carries(later)


@dataclass(frozen=True, slots=True)
class Ground:
    """What a number of entries have made and set: what later ones may stand on."""

    makes: set[str] = field(default_factory=set[str])
    sets: set[str] = field(default_factory=set[str])
    touched: set[str] = field(default_factory=set[str])

    def add(self, entry: Past) -> None:
        made = entry.refs
        self.makes.update(made.makes)
        self.sets.update(made.sets)
        self.touched.update(_owners(made))

    def carries(self, later: Past) -> bool:
        yours = later.refs
        return not (
            self.makes.isdisjoint(yours.makes | yours.needs | _owners(yours))
            and self.sets.isdisjoint(yours.sets)
            and self.touched.isdisjoint(yours.makes)
        )


def _owners(named: Refs) -> set[str]:
    return {field.partition("/")[0] for field in named.sets}


def dependents(chosen: Collection[Past], entries: Iterable[Past], cited: Cited = _NOBODY) -> list[Past]:
    """Entries after the chosen ones that build on them, directly or through others. Cancelled pairs do not count.

    `cited` tells of versions what evidence they have: the last of it does not go without them.
    """
    taken = {entry.seq: entry for entry in chosen}
    standing = {entry.seq: entry for entry in effective((taken | {entry.seq: entry for entry in entries}).values())}
    order = sorted((standing | taken).items())
    withdrawn: set[EventId] = set()
    while True:
        found = _carried(order, taken, withdrawn, cited)
        going = withdrawn_events([*taken.values(), *found])
        if going <= withdrawn:
            return found
        withdrawn |= going  # an event may have been brought back after what cites it: look again


def _carried(
    order: Iterable[tuple[Seq, Past]], taken: Mapping[Seq, Past], withdrawn: set[EventId], cited: Cited
) -> list[Past]:
    ground = Ground()
    found: list[Past] = []
    for seq, entry in order:
        if seq not in taken:
            if not (ground.carries(entry) or _bereft(entry, withdrawn, cited)):
                continue
            found.append(entry)
        ground.add(entry)
    return found


def _bereft(entry: Past, withdrawn: Collection[EventId], cited: Cited) -> bool:
    """Whether the entry derived a version that is left without a live witness."""
    change = _plain(entry)
    return (
        isinstance(change, Derive)
        and change.version.id in cited
        and not _borne_out(cited[change.version.id], withdrawn)
    )


def uncited(withdrawn: Collection[EventId], cited: Cited) -> set[VersionId]:
    """Versions whose every live witness is being withdrawn: they go with their evidence."""
    gone = set(withdrawn)
    return {version_id for version_id, events in cited.items() if not _borne_out(events, gone)}


def _borne_out(events: Mapping[EventId, bool], gone: Collection[EventId]) -> bool:
    return any(live and event_id not in gone for event_id, live in events.items())


def plan(chosen: Sequence[Past], later: Sequence[Past], standing: Standing, *, cascade: bool) -> Plan:
    """Undo the chosen entries, newest first, and with `cascade` those that built on them.

    Irreversible entries stay; so does everything about a memory that is constitutional now, and what that stands on,
    its evidence included. What was hidden by an entry that stays does not come back, nor what stood on it.
    """
    wanted = {entry.seq: entry for entry in effective(chosen)}
    blocked = [entry.seq for entry in later if entry.seq not in wanted]
    if cascade:
        wanted |= {entry.seq: entry for entry in later}
    order = sorted(wanted.values(), key=lambda entry: entry.seq, reverse=True)
    course = _Course(standing)
    while not course.settled(order):
        pass
    return Plan(
        undo=tuple(course.undo),
        stays=tuple(Stay(seq, course.stays[seq]) for seq in sorted(course.stays)),
        blocked_by=() if cascade else tuple(sorted(blocked)),
    )


_Hiding = Withdraw | Retract | Discard | Unlink
_Edge = Link | Unlink | Relink | Note


@dataclass(slots=True)
class _Course:
    """The way back through the entries. `held` must not go, since something that stays stands on it; `lost` does not
    come back."""

    standing: Standing
    held: set[str] = field(default_factory=set[str])
    lost: set[str] = field(default_factory=set[str])
    undo: list[Undo] = field(default_factory=list[Undo])
    stays: dict[Seq, str] = field(default_factory=dict[Seq, str])
    appended: list[Event] = field(default_factory=list[Event])

    def settled(self, order: Sequence[Past]) -> bool:
        """One walk. False when it learnt something that it should have known when it set out: walk again."""
        known = len(self.held) + len(self.lost)
        self.undo, self.stays = [], {}
        self.appended = [change.event for entry in order if isinstance(change := _plain(entry), Append)]
        for entry in order:
            back = self._take(entry)
            if back is not None:
                self.undo.append(Undo(entry.seq, back))
        self.lost |= self._bare()
        return known == len(self.held) + len(self.lost)

    def _take(self, entry: Past) -> Plain | None:
        """How an entry is taken back; None when it stays."""
        change, why = _plain(entry), _immovable(entry, self.standing)
        if change is None or why:
            return self._stay(entry, why)
        back = inverse(change)
        assert not isinstance(back, Irreversible)
        if not isinstance(change, _Hiding) and entry.refs.makes & self.held:
            return self._stay(entry, "something that stays is built on it")
        if isinstance(back, Link | Note) and self.standing.erased & {f"i:{id}" for id in _ends(back)}:
            return self._lose(entry, "one of the memories that it joins was erased")
        if isinstance(back, Create) and self._owned_by_another(back):
            return self._lose(entry, "its thread goes on in another memory")
        if (entry.refs.makes | _footing(back)) & self.lost:
            return self._lose(entry, "what it stands on does not come back")
        return self._pointing(entry, back) if isinstance(back, Revise) else back

    def _stay(self, entry: Past, why: str) -> None:
        """It stays, with what it did and what that stands on. A word that was given, a reading and a protection are
        not part of any memory: they hold on to their own record alone."""
        self.stays[entry.seq] = why
        change = _plain(entry)
        match change:
            case Withdraw() | Retract() | Discard() | Unlink():
                self.lost |= entry.refs.makes
            case Create() | Append() | Revise():
                self.held |= entry.refs.needs
            case Derive(version):
                self.held |= entry.refs.needs | {f"e:{event_id}" for event_id in _cited(version, self.appended)}
            case Note() | Consent():
                self.held |= entry.refs.makes
            case _:
                pass

    def _lose(self, entry: Past, why: str) -> None:
        """It stays, since what it would bring back, or change, is not there."""
        self.stays[entry.seq] = why
        self.lost |= entry.refs.makes

    def _bare(self) -> set[str]:
        """Versions that would come back without any of their evidence."""
        if self.standing.evidence is None:
            return set()
        gone = {undo.change.event.id for undo in self.undo if isinstance(undo.change, Retract)}
        back = [undo.change.event for undo in self.undo if isinstance(undo.change, Append)]
        live = [event for event in self.standing.evidence if event.id not in gone] + back
        shown = [undo.change.version for undo in self.undo if isinstance(undo.change, Derive)]
        return {f"v:{version.id}" for version in shown if version.bullets and not _cited(version, live)}

    def _owned_by_another(self, back: Create) -> bool:
        owner = self.standing.owners.get(back.item.id) if isinstance(back.item.body, Episode) else None
        leaving = {undo.change.item.id for undo in self.undo if isinstance(undo.change, Withdraw)}
        return owner is not None and owner not in leaving

    def _pointing(self, entry: Past, back: Revise) -> Revise | None:
        """The inverse without pointers to what is not there any more."""
        edits = [self._forget(edit) for edit in back.edits]
        edits = [edit for edit in edits if edit.before != edit.after]
        if not [edit for edit in edits if edit.field != "updated_at"]:
            self.stays[entry.seq] = "what it pointed at was erased"
            return None
        return replace(back, edits=tuple(edits))

    def _forget(self, edit: Edit) -> Edit:
        match edit.field:
            case "active_version_id":
                gone = {f"v:{value}" for value in (edit.before, edit.after)} & (self.standing.erased | self.lost)
            case "superseded_by":
                gone = {f"i:{value}" for value in (edit.before, edit.after)} & self.lost
            case _:
                return edit
        ids = {ref[2:] for ref in gone}
        before, after = (None if value in ids else value for value in (edit.before, edit.after))
        return Edit(edit.field, before, after)


def _immovable(entry: Past, standing: Standing) -> str:
    """Why an entry stays whatever happens to the others; blank when it need not."""
    change = _plain(entry)
    if change is None:
        return "a checkpoint is not rolled back" if entry.op == "checkpoint" else "its content was erased"
    back = inverse(change)
    if isinstance(back, Irreversible):
        return back.why
    if f"i:{item_of(change)}" in standing.erased:
        return "the memory was erased"
    if item_of(change) in standing.constitutional and not isinstance(change, _Edge):
        return "the memory is constitutional: lift that first"
    return ""


def movable(entries: Iterable[Past], standing: Standing) -> list[Past]:
    """The entries that could be undone if nothing else stood in the way."""
    return [entry for entry in entries if not _immovable(entry, standing)]


def _footing(back: Plain) -> set[str]:
    """What must be there for this to be done."""
    match back:
        case Append(event):
            return {f"i:{event.item_id}"}
        case Derive(version):
            return {f"i:{version.item_id}"} | ({f"v:{version.derived_from}"} if version.derived_from else set())
        case Revise(item_id):
            return {f"i:{item_id}"}
        case Create(item):
            return {f"i:{item.supersedes}"} if item.supersedes else set()
        case Link() | Note():
            return {f"i:{item_id}" for item_id in _ends(back)}
        case _:
            return set()


def _ends(back: Link | Note) -> tuple[ItemId, ...]:
    """The memories that must be there for an edge or a contradiction to come back."""
    if isinstance(back, Link):
        return (back.relation.from_id, back.relation.to_id)
    return concerns(back.after) if isinstance(back.after, Open | Resolved) else ()


def _cited(version: Version, events: Iterable[Event]) -> set[EventId]:
    """Those of the events that a version cites."""
    named: set[EventId] = set()
    ranges: list[RangeWitness] = []
    for witness in (witness for bullet in version.bullets for witness in bullet.witnesses):
        match witness:
            case EventWitness(event_id) | ChunkWitness(event_id):
                named.add(event_id)
            case RangeWitness():
                ranges.append(witness)
    return {
        event.id
        for event in events
        if event.id in named or any(r.episode_id == event.item_id and r.first <= event.seq <= r.last for r in ranges)
    }


def _plain(entry: Past) -> Plain | None:
    return plain(entry.change) if entry.change else None


def withdrawn_events(entries: Iterable[Past]) -> set[EventId]:
    """The events that undoing these entries would withdraw."""
    return {change.event.id for entry in entries if isinstance(change := _plain(entry), Append)}
