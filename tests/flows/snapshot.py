"""What a tenant holds at a moment, byte for byte, and what a rollback may leave different from it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from recollect.care import transfer
from recollect.domain import codec
from recollect.domain.ids import Rev, TenantId
from recollect.domain.item import Item
from recollect.domain.record import FAMILIES, Record
from recollect.domain.relation import Relation
from recollect.domain.version import Version
from recollect.domain.witness import ChunkWitness, EventWitness, RangeWitness
from recollect.ports import Store

Row = dict[str, Any]
Thread = tuple[str | None, ...]


@dataclass(frozen=True)
class Snapshot:
    """The lines of export_state, and beside them the records that are not part of it."""

    rev: Rev
    lines: tuple[str, ...]
    records: Mapping[tuple[str, str], Record]

    @cached_property
    def items(self) -> Mapping[str, Item]:
        return {row["id"]: codec.decode(Item, row) for row in self._rows("item")}

    @cached_property
    def versions(self) -> Mapping[str, Version]:
        return {row["id"]: codec.decode(Version, row) for row in self._rows("version")}

    @cached_property
    def events(self) -> Mapping[str, Row]:
        return {row["id"]: row for row in self._rows("event")}

    @cached_property
    def relations(self) -> Mapping[str, Relation]:
        return {row["id"]: codec.decode(Relation, row) for row in self._rows("relation")}

    @cached_property
    def contradictions(self) -> Mapping[str, Row]:
        return {row["id"]: row for row in self._rows("contradiction")}

    def _rows(self, kind: str) -> Iterator[Row]:
        mark = f'{{"{kind}":'
        return (json.loads(line)[kind] for line in self.lines if line.startswith(mark))

    @property
    def content(self) -> tuple[object, ...]:
        """Everything but the revision."""
        return self.lines, self.records

    def about(self, items: Iterable[str]) -> list[str]:
        """The lines of these items, and of their versions and events."""
        return about(self.lines, items)

    @property
    def constitutional(self) -> set[str]:
        return {id for id, item in self.items.items() if item.constitutional}

    def evidence(self, version: Version) -> set[str]:
        """The live events that a version cites."""
        cited: set[str] = set()
        for witness in (witness for bullet in version.bullets for witness in bullet.witnesses):
            match witness:
                case EventWitness(event_id) | ChunkWitness(event_id):
                    cited.add(event_id)
                case RangeWitness(episode_id, first, last):
                    cited |= {
                        id for id, e in self.events.items() if e["item_id"] == episode_id and first <= e["seq"] <= last
                    }
        return cited & self.events.keys()

    @cached_property
    def threads(self) -> Mapping[Thread, str]:
        """Which episode owns a thread."""
        return {
            (item.thread_id, item.visibility, item.user_id, item.agent_id, item.project_id): id
            for id, item in self.items.items()
            if item.kind == "episode" and item.thread_id
        }


def about(lines: Iterable[str], items: Iterable[str]) -> list[str]:
    wanted = set(items)
    kept: list[str] = []
    for line in lines:
        [(kind, row)] = json.loads(line).items()
        owner = row["id"] if kind == "item" else row.get("item_id")
        if kind in ("item", "version", "event") and owner in wanted:
            kept.append(line)
    return kept


def snapshot(store: Store, tenant: TenantId) -> Snapshot:
    families = sorted(set(FAMILIES.values()) - {"contradiction"})
    return Snapshot(
        store.head(tenant).rev,
        tuple(transfer.export_state(store, tenant)),
        {(family, record.id): record for family in families for record in store.records(tenant, family)},
    )


def loose_ends(now: Snapshot) -> Iterator[str]:
    """What stands on something that is not there."""
    for id, version in now.versions.items():
        if version.derived_from and version.derived_from not in now.versions:
            yield f"version {id} is derived from {version.derived_from}, which is hidden"
        if version.bullets and not now.evidence(version):
            yield f"version {id} has no evidence left"
        if gone := version.quoted - now.events.keys():
            yield f"version {id} quotes {gone}, which are hidden"
    for id, item in now.items.items():
        active = item.active_version_id
        if active and (active not in now.versions or now.versions[active].item_id != id):
            yield f"the active version {active} of memory {id} is hidden"
    for id, relation in now.relations.items():
        if {relation.from_id, relation.to_id} - now.items.keys():
            yield f"relation {id} has a loose end"
    for id, contradiction in now.contradictions.items():
        if {contradiction["memory_a"], contradiction["memory_b"]} - now.items.keys():
            yield f"contradiction {id} has a loose end"


# -- what may differ ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Aside:
    """What the irreversible kinds excuse, by id. Everything else must be equal, byte for byte.

    `erased` and `constitutional` are left out on both sides: a constitutional memory with its versions and events,
    what was erased with the edges and contradictions that it took along. `kept` is what constitutional memories stand
    on: it may be there although it was not then. `lost` is what stood then on something of a constitutional memory
    that was withdrawn before the memory became constitutional, or on a thread that such a memory has taken: it may be
    missing, and who pointed at it points nowhere.
    """

    erased: frozenset[str]
    constitutional: frozenset[str]
    kept: frozenset[str]
    lost: frozenset[str]


def aside(then: Snapshot, now: Snapshot, tombstones: Iterable[str]) -> Aside:
    erased = frozenset(ref.partition(":")[2] for ref in tombstones)
    constitutional = frozenset(now.constitutional)
    kept = _stood_on(now, constitutional)
    return Aside(erased, constitutional, frozenset(kept), frozenset(_lost(then, now, constitutional, kept)))


def _stood_on(now: Snapshot, constitutional: Iterable[str]) -> set[str]:
    """The memories, versions and events that constitutional memories stand on, directly or through others."""
    owned = set(constitutional)
    found: set[str] = set()
    fresh = owned | {id for id, version in now.versions.items() if version.item_id in owned}
    while fresh:
        found |= fresh
        under: set[str | None] = set()
        for id in fresh:
            if version := now.versions.get(id):
                under |= {version.item_id, version.derived_from, *now.evidence(version)}
            elif event := now.events.get(id):
                under.add(event["item_id"])
            elif item := now.items.get(id):
                under.add(item.supersedes)
                if id in owned:
                    under.add(item.superseded_by)
        fresh = {id for id in under if id} - found
    return found - owned


def _lost(then: Snapshot, now: Snapshot, constitutional: Iterable[str], kept: set[str]) -> set[str]:
    owned = set(constitutional)
    lost = {id for id, version in then.versions.items() if version.item_id in owned} - now.versions.keys()
    lost |= {id for id, event in then.events.items() if event["item_id"] in owned} - now.events.keys()
    lost |= {
        id
        for thread, id in then.threads.items()
        if now.threads.get(thread, id) != id and now.threads[thread] in owned | kept
    }
    before = -1
    while before != len(lost):
        before = len(lost)
        lost |= {id for id, event in then.events.items() if event["item_id"] in lost}
        for id, version in then.versions.items():
            cited = then.evidence(version)
            stood_on = {version.item_id, version.derived_from, *version.quoted}
            if stood_on & lost or (cited and cited <= lost):
                lost.add(id)
    return lost


def compared(then: Snapshot, now: Snapshot, excused: Aside) -> tuple[list[str], list[str]]:
    """The lines of both sides that must be equal."""
    mine = {_key(line): line for line in _lines(then, excused)}
    yours = {_key(line): line for line in _lines(now, excused)}
    for key in mine.keys() - yours.keys():
        if _ends(json.loads(mine[key])[key[0]]) & excused.lost:
            del mine[key]
    for key in yours.keys() - mine.keys():
        if key[1] in excused.kept:
            del yours[key]
    for key in mine.keys() & yours.keys() if excused.erased else ():
        yours[key] = _moved_back(yours[key], mine[key])
    return [mine[key] for key in sorted(mine)], [yours[key] for key in sorted(yours)]


def _moved_back(ours: str, theirs: str) -> str:
    """A memory may say that it was changed later than it was then: the entry of a change that activated a version which
    was erased has no body any more, and what it did to the moment cannot be undone."""
    (now, then) = (json.loads(line).get("item") for line in (ours, theirs))
    if now and now["updated_at"] > then["updated_at"]:
        return codec.canonical({"item": now | {"updated_at": then["updated_at"]}})
    return ours


def _key(line: str) -> tuple[str, str]:
    [(kind, row)] = json.loads(line).items()
    return kind, row["id"]


def _ends(row: Row) -> set[str]:
    """A thing and what it joins."""
    return {row[end] for end in ("id", "from_id", "to_id", "memory_a", "memory_b") if end in row}


def _lines(side: Snapshot, excused: Aside) -> Iterator[str]:
    for line in side.lines:
        [(kind, row)] = json.loads(line).items()
        if _ends(row) & excused.erased or {row["id"], row.get("item_id")} & excused.constitutional:
            continue
        if kind == "item":
            row["constitutional"] = False  # its own change, which no rollback touches
            for pointer, gone in (
                ("active_version_id", excused.erased | excused.lost),
                ("superseded_by", excused.lost),
            ):
                if row.get(pointer) in gone:
                    del row[pointer]
        yield codec.canonical({kind: row})
