"""What memory must hold by the changes told so far: a telling in plain values, to test by."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar, assert_never

from recollect.domain import codec
from recollect.domain.change import (
    Append,
    Change,
    Consent,
    Create,
    Derive,
    Discard,
    Disclose,
    Erase,
    Link,
    Note,
    Protect,
    Relink,
    Retract,
    Revise,
    Unlink,
    Withdraw,
    plain,
)
from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId, RecordId, VersionId
from recollect.domain.item import Item
from recollect.domain.record import Contradiction, Open, Resolved
from recollect.domain.relation import Relation
from recollect.domain.version import Version

K = TypeVar("K", bound=str)
T = TypeVar("T", Version, Event)


@dataclass(frozen=True, slots=True)
class Told:
    """What the changes so far amount to. Only what is there is held: what was hidden comes back with its own change."""

    items: dict[ItemId, Item] = field(default_factory=dict[ItemId, Item])
    versions: dict[VersionId, Version] = field(default_factory=dict[VersionId, Version])
    events: dict[EventId, Event] = field(default_factory=dict[EventId, Event])
    relations: dict[tuple[ItemId, ItemId], Relation] = field(default_factory=dict[tuple[ItemId, ItemId], Relation])
    contradictions: dict[RecordId, Contradiction] = field(default_factory=dict[RecordId, Contradiction])
    protected: set[ItemId] = field(default_factory=set[ItemId])
    erased: set[str] = field(default_factory=set[str])


def state(changes: Iterable[Change | None]) -> Iterator[Mapping[str, object]]:
    """The state that a journal accounts for, in the rows and the order of `Store.state`.

    The changes come in the order of their entries. None stands for a body that was erased: it told of nothing that is
    still there.
    """
    told = Told()
    for change in changes:
        if change is not None:
            _tell(told, change)
    return _rows(told)


def _tell(told: Told, change: Change) -> None:
    change = plain(change)
    match change:
        case Create(item):
            told.items[item.id] = item
        case Withdraw(item):
            told.items.pop(item.id, None)
        case Revise(item_id, _, edits):
            if before := told.items.get(item_id):
                values = {edit.field: edit.after for edit in edits}
                told.items[item_id] = replace(before, **values)  # type: ignore[arg-type]
        case Append(event):
            told.events[event.id] = event
        case Retract(event):
            told.events.pop(event.id, None)
        case Derive(version):
            told.versions[version.id] = version
        case Discard(version):
            told.versions.pop(version.id, None)
        case Link(relation) | Relink(_, relation):
            told.relations[relation.from_id, relation.to_id] = relation
        case Unlink(relation):
            told.relations.pop((relation.from_id, relation.to_id), None)
        case Note(before, after):
            if isinstance(before, Open | Resolved):
                told.contradictions.pop(before.id, None)
            if isinstance(after, Open | Resolved):
                told.contradictions[after.id] = after
        case Protect(item_id, _, after):
            (told.protected.add if after else told.protected.discard)(item_id)
        case Erase(items, versions, events):
            _forget(told, items, versions, events)
        case Consent() | Disclose():
            pass  # proposals, grants and readings are kept beside what memory holds
        case _:
            assert_never(change)


def _forget(
    told: Told, items: tuple[ItemId, ...], versions: tuple[VersionId, ...], events: tuple[EventId, ...]
) -> None:
    """The edges of what is erased, and pointers to it, are left out when the rows are written: it never comes back."""
    told.erased.update(items, versions)
    for item_id in items:
        told.items.pop(item_id, None)
    for version_id in versions:
        told.versions.pop(version_id, None)
    for event_id in events:
        told.events.pop(event_id, None)


def _rows(told: Told) -> Iterator[Mapping[str, object]]:
    for item_id in sorted(told.items):
        yield {"item": codec.encode(_as_it_stands(told, told.items[item_id]))}
    yield from _of_live_items(told, "version", told.versions)
    yield from _of_live_items(told, "event", told.events)
    for ends in sorted(told.relations):
        if told.erased.isdisjoint(ends):
            yield {"relation": codec.encode(told.relations[ends])}
    for record_id in sorted(told.contradictions):
        record = told.contradictions[record_id]
        if told.erased.isdisjoint((record.memory_a, record.memory_b)):
            yield {"contradiction": codec.encode(record)}


def _as_it_stands(told: Told, item: Item) -> Item:
    pointer = None if item.active_version_id in told.erased else item.active_version_id
    return replace(item, constitutional=item.id in told.protected, active_version_id=pointer)


def _of_live_items(told: Told, kind: str, held: Mapping[K, T]) -> Iterator[Mapping[str, object]]:
    for name in sorted(held):
        if held[name].item_id in told.items:
            yield {kind: codec.encode(held[name])}
