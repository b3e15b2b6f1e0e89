"""The time machine's arithmetic: what to undo, in which order, and what stands in the way."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from recollect.domain.change import (
    Append,
    Change,
    Derive,
    Edit,
    Irreversible,
    Link,
    Note,
    Plain,
    Relink,
    Revise,
    Undo,
    Unlink,
    inverse,
    plain,
)
from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId, Seq, VersionId
from recollect.domain.journal import Entry
from recollect.domain.record import Open, Resolved, concerns
from recollect.domain.refs import Refs, item_of, refs
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
    """What is known of the world: memories that are constitutional, and things that were erased."""

    constitutional: frozenset[ItemId] = frozenset()
    erased: frozenset[str] = frozenset()


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


def builds_on(later: Past, earlier: Past) -> bool:
    """Whether the later entry stands on what the earlier one did."""
    ground = Ground()
    ground.add(earlier)
    return ground.carries(later)


@dataclass(frozen=True, slots=True)
class Ground:
    """What a number of entries have made, set and appended: what later ones may stand on."""

    makes: set[str] = field(default_factory=set[str])
    sets: set[str] = field(default_factory=set[str])
    touched: set[str] = field(default_factory=set[str])
    events: set[EventId] = field(default_factory=set[EventId])

    def add(self, entry: Past) -> None:
        made = entry.refs
        self.makes.update(made.makes)
        self.sets.update(made.sets)
        self.touched.update(_owners(made))
        self.events.update(withdrawn_events([entry]))

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
    in_force = {entry.seq: entry for entry in effective((taken | {entry.seq: entry for entry in entries}).values())}
    ground = Ground()
    found: list[Past] = []
    for seq, entry in sorted((in_force | taken).items()):
        if seq not in taken:
            if not (ground.carries(entry) or _bereft(entry, ground.events, cited)):
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

    Irreversible entries stay; so does everything about a memory that is constitutional now, and whatever an entry
    that stays stands on, its evidence included.
    """
    wanted = {entry.seq: entry for entry in effective(chosen)}
    blocked = [entry.seq for entry in later if entry.seq not in wanted]
    if cascade:
        wanted |= {entry.seq: entry for entry in later}
    stays: dict[Seq, str] = {}
    undo: list[tuple[Seq, Plain]] = []
    kept: set[str] = set()
    appended = [change.event for entry in wanted.values() if isinstance(change := _plain(entry), Append)]
    for entry in sorted(wanted.values(), key=lambda entry: entry.seq, reverse=True):
        why, back = _fate(entry, standing, kept)
        if back is None:
            stays[entry.seq] = why
            kept |= entry.refs.needs | _evidence(entry, appended)
        else:
            undo.append((entry.seq, back))
    return Plan(
        undo=tuple(Undo(seq, change) for seq, change in undo),
        stays=tuple(Stay(seq, stays[seq]) for seq in sorted(stays)),
        blocked_by=() if cascade else tuple(sorted(blocked)),
    )


def _evidence(entry: Past, appended: Sequence[Event]) -> set[str]:
    """The events that the version cites which the entry derived."""
    change = _plain(entry)
    cited: set[str] = set()
    for bullet in change.version.bullets if isinstance(change, Derive) else ():
        for witness in bullet.witnesses:
            match witness:
                case EventWitness(event_id) | ChunkWitness(event_id):
                    cited.add(f"e:{event_id}")
                case RangeWitness(episode_id, first, last):
                    cited |= {f"e:{e.id}" for e in appended if e.item_id == episode_id and first <= e.seq <= last}
    return cited


def _plain(entry: Past) -> Plain | None:
    return plain(entry.change) if entry.change else None


def _fate(entry: Past, standing: Standing, kept: set[str]) -> tuple[str, Plain | None]:
    """Why an entry stays, or how it is taken back."""
    if entry.change is None:
        return "its content was erased", None
    back = inverse(entry.change)
    if isinstance(back, Irreversible):
        return back.why, None
    if f"i:{item_of(entry.change)}" in standing.erased:
        return "the memory was erased", None
    if item_of(entry.change) in standing.constitutional and not isinstance(
        plain(entry.change), Link | Unlink | Relink | Note
    ):
        return "the memory is constitutional: lift that first", None
    if entry.refs.makes & kept:
        return "something that stays is built on it", None
    if isinstance(back, Link | Note) and standing.erased & {f"i:{id}" for id in _ends(back)}:
        return "one of the memories that it joins was erased", None
    return _past_erasures(back, standing.erased)


def _ends(back: Link | Note) -> tuple[ItemId, ...]:
    """The memories that must be there for an edge or a contradiction to come back."""
    if isinstance(back, Link):
        return (back.relation.from_id, back.relation.to_id)
    return concerns(back.after) if isinstance(back.after, Open | Resolved) else ()


def _past_erasures(back: Plain, erased: frozenset[str]) -> tuple[str, Plain | None]:
    """An inverse that no longer names what was erased in between."""
    if not isinstance(back, Revise):
        return "", back
    edits = [_forget(edit, erased) for edit in back.edits]
    edits = [edit for edit in edits if edit.before != edit.after]
    if not [edit for edit in edits if edit.field != "updated_at"]:
        return "what it pointed at was erased", None
    return "", replace(back, edits=tuple(edits))


def _forget(edit: Edit, erased: frozenset[str]) -> Edit:
    if edit.field != "active_version_id":
        return edit
    before, after = (None if f"v:{value}" in erased else value for value in (edit.before, edit.after))
    return Edit(edit.field, before, after)


def withdrawn_events(entries: Iterable[Past]) -> set[EventId]:
    """The events that undoing these entries would withdraw."""
    return {change.event.id for entry in entries if isinstance(change := _plain(entry), Append)}
