"""What a change touches and what it stands on: the arithmetic behind "later entries built on this one"."""

from dataclasses import dataclass
from typing import assert_never

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
from recollect.domain.ids import ItemId
from recollect.domain.record import Record, concerns, family

_POINTERS = {"supersedes": "i", "superseded_by": "i", "active_version_id": "v"}


@dataclass(frozen=True, slots=True)
class Refs:
    """`makes`: what the change brings into being or hides. `sets`: single fields it writes. `needs`: what it
    stands on. A thing is written `i:<item>`, `v:<version>`, `e:<event>`, `r:<from>><to>`, `<family>:<record>`;
    a field `i:<item>/<field>`."""

    makes: frozenset[str]
    sets: frozenset[str]
    needs: frozenset[str]

    @property
    def own(self) -> frozenset[str]:
        """The whole things whose content the change carries."""
        return self.makes | {field.partition("/")[0] for field in self.sets}

    @property
    def all(self) -> frozenset[str]:
        """Every whole thing that is named."""
        return self.own | self.needs

    @property
    def named(self) -> frozenset[tuple[str, bool]]:
        """The same as the index over the journal holds it: by id alone, each with whether its content is carried."""
        return frozenset((name_of(ref), ref in self.own) for ref in self.all)


def name_of(ref: str) -> str:
    """A thing as the index over the journal names it: by its id alone, so that what is written together lies
    together."""
    return ref.partition(":")[2]


def item_of(change: Change) -> ItemId | None:
    """The one memory an entry is about, where there is one."""
    change = plain(change)
    match change:
        case Create(item) | Withdraw(item):
            return item.id
        case Revise(item_id) | Protect(item_id) | Disclose(_, item_id):
            return item_id
        case Append(event) | Retract(event):
            return event.item_id
        case Derive(version) | Discard(version):
            return version.item_id
        case Link(relation) | Unlink(relation) | Relink(relation):
            return relation.from_id
        case Note() | Consent():
            about = concerns(_record(change))
            return about[0] if about else None
        case Erase(items):
            return items[0] if len(items) == 1 else None
        case _:
            assert_never(change)


def refs(change: Change) -> Refs:
    """What a change makes, sets and needs. A version needs every event that it quotes; its other witnesses are left to
    the witness index: any one of them will do."""
    change = plain(change)
    match change:
        case Create(item) | Withdraw(item):
            needs = {f"{mark}:{getattr(item, field)}" for field, mark in _POINTERS.items() if getattr(item, field)}
            return _refs(makes={f"i:{item.id}"}, needs={need for need in needs if need.startswith("i:")})
        case Revise(item_id, _, edits):
            needs = {f"i:{item_id}"}
            for edit in edits:
                if mark := _POINTERS.get(edit.field):
                    needs |= {f"{mark}:{value}" for value in (edit.before, edit.after) if value}
            return _refs(
                sets={f"i:{item_id}/{edit.field}" for edit in edits} - {f"i:{item_id}/updated_at"},
                needs=needs,
            )
        case Append(event) | Retract(event):
            return _refs(makes={f"e:{event.id}"}, needs={f"i:{event.item_id}"})
        case Derive(version) | Discard(version):
            needs = {f"i:{version.item_id}"} | {f"e:{event_id}" for event_id in version.quoted}
            if version.derived_from:
                needs.add(f"v:{version.derived_from}")
            return _refs(makes={f"v:{version.id}"}, needs=needs)
        case Link(relation) | Unlink(relation) | Relink(relation):
            return _refs(
                makes={f"r:{relation.from_id}>{relation.to_id}"},
                needs={f"i:{relation.from_id}", f"i:{relation.to_id}"},
            )
        case Note() | Consent():
            stages = [stage for stage in (change.before, change.after) if stage]
            return _refs(
                makes={f"{family(stages[0])}:{stages[0].id}"},
                needs={f"i:{item_id}" for stage in stages for item_id in concerns(stage)},
            )
        case Protect(item_id):
            return _refs(sets={f"i:{item_id}/constitutional"}, needs={f"i:{item_id}"})
        case Disclose(grant_id, item_id):
            return _refs(needs={f"i:{item_id}", *([f"grant:{grant_id}"] if grant_id else [])})
        case Erase(items, versions, events):
            gone = {f"i:{x}" for x in items} | {f"v:{x}" for x in versions} | {f"e:{x}" for x in events}
            return _refs(makes=gone)
        case _:
            assert_never(change)


def _refs(*, makes: set[str] = frozenset(), sets: set[str] = frozenset(), needs: set[str] = frozenset()) -> Refs:  # type: ignore[assignment]
    return Refs(frozenset(makes), frozenset(sets), frozenset(needs))


def _record(change: Note | Consent) -> Record:
    record = change.after or change.before
    assert record is not None
    return record
