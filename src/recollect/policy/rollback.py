"""The time machine's arithmetic: what to undo, in which order, what stays, and what stands in the way."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from recollect.domain.change import (
    Append,
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
)
from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId, Seq
from recollect.domain.item import Episode
from recollect.domain.record import Open, Resolved, concerns
from recollect.domain.refs import item_of
from recollect.domain.version import Version
from recollect.domain.witness import ChunkWitness, EventWitness, RangeWitness
from recollect.policy.ground import (
    Cited,
    Past,
    builds_on,
    dependents,
    effective,
    in_force,
    past,
    uncited,
    withdrawn_events,
)

__all__ = [
    "Cited",
    "Past",
    "Plan",
    "Standing",
    "Stay",
    "Unread",
    "asked_for",
    "builds_on",
    "dependents",
    "effective",
    "footing",
    "hidden",
    "in_force",
    "movable",
    "past",
    "plan",
    "uncited",
    "withdrawn_events",
]


@dataclass(frozen=True, slots=True)
class Stay:
    """An entry that is not rolled back, and why."""

    seq: Seq
    why: str


@dataclass(frozen=True, slots=True)
class Unread:
    """An entry that is rolled back, for who may know that and not what it says."""

    entry: Seq
    does: str
    item_id: ItemId | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What a rollback would do. `blocked_by`: later entries that built on it; they go too only when that is asked.
    `unread`: of what is undone, what the one who is shown the plan may not read."""

    undo: tuple[Undo, ...]
    stays: tuple[Stay, ...]
    blocked_by: tuple[Seq, ...]
    unread: tuple[Unread, ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of the world: memories that are constitutional, things that were erased, and of what an undoing
    would stand on, what is hidden; of versions that may come back, the live events that they cite, and of episodes
    that may, who owns their thread by now."""

    constitutional: frozenset[ItemId] = frozenset()
    erased: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    evidence: tuple[Event, ...] | None = None
    owners: Mapping[ItemId, ItemId] = field(default_factory=dict[ItemId, ItemId])


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
_BODILESS = {"checkpoint": "a checkpoint is not rolled back", "private": "what is private stays private"}


@dataclass(slots=True)
class _Course:
    """The way back through the entries. `held` must not go, since something that stays stands on it; `lost` does not
    come back."""

    standing: Standing
    held: set[str] = field(default_factory=set[str])
    lost: set[str] = field(default_factory=set[str])
    undo: list[Undo] = field(default_factory=list[Undo])
    stays: dict[Seq, str] = field(default_factory=dict[Seq, str])
    shown: set[str] = field(default_factory=set[str])
    appended: list[Event] = field(default_factory=list[Event])

    def settled(self, order: Sequence[Past]) -> bool:
        """One walk. False when it learnt something that it should have known when it set out: walk again."""
        known = len(self.held) + len(self.lost)
        self.undo, self.stays, self.shown = [], {}, set()
        self.appended = [change.event for entry in order if isinstance(change := entry.plain, Append)]
        for entry in order:
            back = self._take(entry)
            if back is not None:
                self.undo.append(Undo(entry.seq, back))
                self.shown |= entry.refs.makes if isinstance(back, Create | Append | Derive) else set()
        self.lost |= self._bare()
        return known == len(self.held) + len(self.lost)

    def _take(self, entry: Past) -> Plain | None:
        """How an entry is taken back; None when it stays."""
        change, why = entry.plain, _immovable(entry, self.standing)
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
        if entry.refs.makes & self.lost or footing(back) & self._absent():
            return self._lose(entry, "what it stands on does not come back")
        return self._pointing(entry, back) if isinstance(back, Revise) else back

    def _stay(self, entry: Past, why: str) -> None:
        """It stays, with what it did and what that stands on. A word that was given, a reading and a protection are
        not part of any memory: they hold on to their own record alone."""
        self.stays[entry.seq] = why
        match entry.plain:
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

    def _absent(self) -> set[str]:
        return self.lost | (self.standing.hidden - self.shown)

    def _bare(self) -> set[str]:
        """Versions that would come back without any of their evidence, or without an event that they quote."""
        if self.standing.evidence is None:
            return set()
        gone = {undo.change.event.id for undo in self.undo if isinstance(undo.change, Retract)}
        back = [undo.change.event for undo in self.undo if isinstance(undo.change, Append)]
        live = [event for event in self.standing.evidence if event.id not in gone] + back
        shown = [undo.change.version for undo in self.undo if isinstance(undo.change, Derive)]
        return {f"v:{version.id}" for version in shown if version.bullets and not _borne_out(version, live)}

    def _owned_by_another(self, back: Create) -> bool:
        owner = self.standing.owners.get(back.item.id) if isinstance(back.item.body, Episode) else None
        leaving = {undo.change.item.id for undo in self.undo if isinstance(undo.change, Withdraw)}
        return owner is not None and owner not in leaving

    def _pointing(self, entry: Past, back: Revise) -> Revise | None:
        """The inverse without pointers to what is not there any more."""
        edits = [self._forget(edit) for edit in back.edits]
        edits = [edit for edit in edits if edit.before != edit.after]
        if not [edit for edit in edits if edit.field != "updated_at"]:
            gone = "was erased" if _pointers(back) & self.standing.erased else "does not come back"
            self.stays[entry.seq] = f"what it pointed at {gone}"
            return None
        return replace(back, edits=tuple(edits))

    def _forget(self, edit: Edit) -> Edit:
        match edit.field:
            case "active_version_id":
                mark, gone = "v", self.standing.erased | self._absent()
            case "superseded_by":
                mark, gone = "i", self.lost
            case _:
                return edit
        before, after = (None if f"{mark}:{value}" in gone else value for value in (edit.before, edit.after))
        return Edit(edit.field, before, after)


def _immovable(entry: Past, standing: Standing) -> str:
    """Why an entry stays whatever happens to the others; blank when it need not."""
    change = entry.plain
    if change is None:
        return _BODILESS.get(entry.op, "its content was erased")
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


def footing(back: Plain) -> set[str]:
    """What must be there for this to be done."""
    match back:
        case Append(event):
            return {f"i:{event.item_id}"}
        case Derive(version):
            return {f"i:{version.item_id}"} | ({f"v:{version.derived_from}"} if version.derived_from else set())
        case Revise(item_id):
            return {f"i:{item_id}"}
        case Link() | Note():
            return {f"i:{item_id}" for item_id in _ends(back)}
        case _:
            return set()


def asked_for(entries: Iterable[Past]) -> set[str]:
    """The memories and versions that undoing these entries would stand on or point at."""
    found: set[str] = set()
    for change in (entry.plain for entry in entries):
        back = inverse(change) if change else None
        if back is not None and not isinstance(back, Irreversible):
            found |= footing(back) | (_pointers(back) if isinstance(back, Revise) else set())
    return found


def _pointers(back: Revise) -> set[str]:
    """The versions that an edit of the active one names."""
    edits = [edit for edit in back.edits if edit.field == "active_version_id"]
    return {f"v:{value}" for edit in edits for value in (edit.before, edit.after) if value}


def hidden(entries: Iterable[Past]) -> set[str]:
    """What the latest of these entries that made it has hidden."""
    latest: dict[str, bool] = {}
    for entry in sorted(entries, key=lambda entry: entry.seq):
        latest |= dict.fromkeys(entry.refs.makes, isinstance(entry.plain, _Hiding))
    return {thing for thing, gone in latest.items() if gone}


def _ends(back: Link | Note) -> tuple[ItemId, ...]:
    """The memories that must be there for an edge or a contradiction to come back."""
    if isinstance(back, Link):
        return (back.relation.from_id, back.relation.to_id)
    return concerns(back.after) if isinstance(back.after, Open | Resolved) else ()


def _borne_out(version: Version, live: Sequence[Event]) -> bool:
    """Whether these events are enough for a version: one of its witnesses, and all that it quotes."""
    cited = _cited(version, live)
    return bool(cited) and version.quoted <= cited


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
