"""What builds on what: the entries of a journal as the time machine reads them, and which stand on which."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from recollect.domain.change import Append, Change, Derive, Plain, plain
from recollect.domain.ids import EventId, ItemId, Seq, VersionId
from recollect.domain.journal import UNREADABLE, Entry
from recollect.domain.refs import Refs, refs
from recollect.errors import Unreadable


@dataclass(frozen=True, slots=True)
class Past:
    """An entry as the time machine reads it. The change is None where its body was erased."""

    seq: Seq
    op: str
    item_id: ItemId | None
    undoes: Seq | None
    change: Change | None

    @property
    def plain(self) -> Plain | None:
        return plain(self.change) if self.change else None

    @property
    def refs(self) -> Refs:
        return refs(self.change) if self.change else _NOTHING


_NOTHING = Refs(frozenset(), frozenset(), frozenset())

Cited = Mapping[VersionId, Mapping[EventId, bool]]
"""Versions with every event that they cite and whether that one is live."""
_NOBODY: Cited = {}


def change_of(entry: Entry) -> Change | None:
    """What an entry did, or None where its body was erased. Unreadable where no Recollect wrote that."""
    try:
        return entry.change
    except UNREADABLE as error:
        raise Unreadable(f"entry {entry.header.seq} of the journal") from error


def past(entry: Entry) -> Past:
    header = entry.header
    return Past(header.seq, header.op, header.item_id, header.undoes, change_of(entry))


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
    change = entry.plain
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


def withdrawn_events(entries: Iterable[Past]) -> set[EventId]:
    """The events that undoing these entries would withdraw."""
    return {change.event.id for entry in entries if isinstance(change := entry.plain, Append)}
