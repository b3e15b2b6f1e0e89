"""The time machine's arithmetic: what to undo, in which order, and what stands in the way."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from recollect.domain.change import (
    Append,
    Change,
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
from recollect.domain.ids import EventId, ItemId, Seq, VersionId
from recollect.domain.journal import Entry
from recollect.domain.refs import Refs, item_of, refs


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
    mine, yours = earlier.refs, later.refs
    touched = {field.partition("/")[0] for field in mine.sets}
    return bool(
        mine.makes & (yours.makes | yours.needs | {field.partition("/")[0] for field in yours.sets})
        or mine.sets & yours.sets
        or touched & yours.makes
    )


def dependents(chosen: Collection[Past], entries: Sequence[Past]) -> list[Past]:
    """Entries after the chosen ones that build on them, directly or through others. Cancelled pairs do not count."""
    taken = sorted(chosen, key=lambda entry: entry.seq)
    seqs = {entry.seq for entry in taken}
    found: list[Past] = []
    for entry in effective([*entries, *(e for e in taken if e.seq not in {x.seq for x in entries})]):
        if entry.seq in seqs:
            continue
        if any(entry.seq > other.seq and builds_on(entry, other) for other in taken):
            found.append(entry)
            taken.append(entry)
    return found


def uncited(withdrawn: Collection[EventId], cited: Mapping[VersionId, Mapping[EventId, bool]]) -> set[VersionId]:
    """Versions whose every live witness is being withdrawn: they go with their evidence."""
    gone = set(withdrawn)
    return {
        version_id
        for version_id, events in cited.items()
        if not any(live and event_id not in gone for event_id, live in events.items())
    }


def plan(chosen: Sequence[Past], later: Sequence[Past], standing: Standing, *, cascade: bool) -> Plan:
    """Undo the chosen entries, newest first, and with `cascade` those that built on them.

    Irreversible entries stay; so does everything about a memory that is constitutional now, and whatever an entry
    that stays stands on.
    """
    wanted = {entry.seq: entry for entry in effective(chosen)}
    blocked = [entry.seq for entry in later if entry.seq not in wanted]
    if cascade:
        wanted |= {entry.seq: entry for entry in later}
    stays: dict[Seq, str] = {}
    undo: list[tuple[Seq, Plain]] = []
    kept: set[str] = set()
    for entry in sorted(wanted.values(), key=lambda entry: entry.seq, reverse=True):
        why, back = _fate(entry, standing, kept)
        if back is None:
            stays[entry.seq] = why
            kept |= entry.refs.needs
        else:
            undo.append((entry.seq, back))
    return Plan(
        undo=tuple(Undo(seq, change) for seq, change in undo),
        stays=tuple(Stay(seq, stays[seq]) for seq in sorted(stays)),
        blocked_by=() if cascade else tuple(sorted(blocked)),
    )


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
    return _past_erasures(back, standing.erased)


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
    changes = [plain(entry.change) for entry in entries if entry.change]
    return {change.event.id for change in changes if isinstance(change, Append)}
