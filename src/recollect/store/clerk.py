"""The clerk writes the rows of one change after the other, and refuses what the rows contradict.

A change says what was there before. Where something else is there, it is stale; where it points at nothing, or at
something erased, it is refused.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import assert_never

from recollect.domain.change import (
    Append,
    Change,
    Consent,
    Create,
    Derive,
    Discard,
    Disclose,
    Edit,
    Erase,
    Link,
    Note,
    Plain,
    Protect,
    Relink,
    Retract,
    Revise,
    Undo,
    Unlink,
    Withdraw,
)
from recollect.domain.event import UNPLACED, Event, Trust
from recollect.domain.ids import EventId, ItemId, Rev
from recollect.domain.item import Episode, Item
from recollect.domain.level import Level
from recollect.domain.record import Open, Record, Resolved, family
from recollect.domain.relation import Relation
from recollect.domain.scope import Scope
from recollect.domain.version import Version
from recollect.domain.witness import bare
from recollect.errors import Gone, Invalid, NotFound, Refused, Stale
from recollect.store import rows
from recollect.store.citing import resolve
from recollect.store.erasing import erase
from recollect.store.fingerprint import fingerprint, held_key
from recollect.store.footing import Footing
from recollect.store.journal import no_tenant
from recollect.store.records import put_record, read_record
from recollect.store.tx import Tx


@dataclass(slots=True)
class Handle:
    """What is known of an item while it is written to: enough to place events and to head journal entries."""

    id: ItemId
    rev: Rev
    live: bool
    kind: str
    last_seq: int
    trust: str
    user_id: str | None
    project_id: str | None
    agent_id: str | None
    thread_id: str | None
    item: Item | None = None
    stamped: bool = False


@dataclass(slots=True)
class Clerk:
    """One write in progress."""

    tx: Tx
    scope: Scope
    at: datetime
    handles: dict[ItemId, Handle] = field(default_factory=dict[ItemId, Handle])
    fresh: dict[EventId, Event] = field(default_factory=dict[EventId, Event])
    episodes: dict[ItemId, Item] = field(default_factory=dict[ItemId, Item])
    """Those that were made or revised."""
    footing: Footing = field(default_factory=Footing)
    key: bytes = b""
    erased: bool | None = None

    def write(self, change: Change) -> Change:
        """Write the rows of one change; the change as the journal keeps it."""
        if isinstance(change, Undo):
            return Undo(change.entry, self._write(change.change))
        return self._write(change)

    def _write(self, change: Plain) -> Plain:
        match change:
            case Create(item):
                self._create(item)
            case Withdraw(item):
                self._withdraw(item)
            case Revise():
                return self._revise(change)
            case Append(event):
                return Append(self._append(event))
            case Retract(event):
                self._hide("events", f"e:{event.id}", event.id)
                self.footing.events.add(event.id)
            case Derive(version):
                self._derive(version)
            case Discard(version):
                self._hide("versions", f"v:{version.id}", version.id)
                self._reworded(version)
                self.footing.versions.add(version.id)
                self.footing.shown.discard(version.id)
            case Link(relation):
                self._link(relation)
            case Unlink(relation):
                self._unlink(relation)
            case Relink(before, after):
                self._unlink(before)
                self._link(after)
            case Note(before, after):
                self._note(before, after)
            case Consent(before, after):
                self._note(before, after)
            case Protect(item_id, before, after):
                self._protect(item_id, before, after)
            case Disclose(_, item_id):
                self._live(item_id)
            case Erase():
                return erase(self.tx, change, self.at)
            case _:
                assert_never(change)
        return change

    # -- items ----------------------------------------------------------------------------------------------

    def hold(self, ids: set[ItemId]) -> None:
        """Read and lock the items that the changes stand on."""
        wanted = sorted(ids - self.handles.keys())
        if not wanted:
            return
        found = self.tx.lock_items(
            "id, rev, withdrawn, kind, last_seq, trust, user_id, project_id, agent_id, thread_id", wanted
        )
        for id, rev, withdrawn, *fields in found:
            self.handles[id] = Handle(id, rev, not withdrawn, *fields)

    def expect(self, revs: Mapping[ItemId, Rev]) -> None:
        moved = [id for id, rev in revs.items() if id not in self.handles or self.handles[id].rev != rev]
        if moved:
            raise Stale(f"{len(moved)} of the memories that were read have changed since: {', '.join(moved)}", moved)

    def _live(self, item_id: ItemId) -> Handle:
        handle = self.handles.get(item_id)
        if handle is None:
            if self._erased(f"i:{item_id}"):
                raise Gone(f"memory {item_id} was erased")
            raise NotFound(f"there is no memory {item_id}")
        if not handle.live:
            raise NotFound(f"memory {item_id} was withdrawn by a rollback", "Undo that rollback to bring it back.")
        return handle

    def _erased(self, ref: str) -> bool:
        if self.erased is None:  # most tenants have never erased anything
            self.erased = bool(self.tx.one("select 1 from tombstones where tenant = :tenant limit 1"))
        return self.erased and bool(
            self.tx.one("select 1 from tombstones where tenant = :tenant and ref = :ref", ref=ref)
        )

    def _item(self, handle: Handle) -> Item:
        if handle.item is None:
            row = self.tx.one(f"select {rows.ITEM} from items where tenant = :tenant and id = :id", id=handle.id)
            assert row is not None
            handle.item = rows.read_item(row)
        return handle.item

    def _create(self, item: Item) -> None:
        if item.constitutional:
            raise Invalid("a memory is created unprotected", "Protect it with a change of its own.")
        handle = self.handles.get(item.id)
        if handle is None:
            if self._erased(f"i:{item.id}"):
                raise Gone(f"memory {item.id} was erased and does not come back")
            self.tx.run(
                f"insert into items (tenant, rev, withdrawn, last_seq, {rows.ITEM}) "
                f"values (:tenant, 0, false, 0, {rows.ITEM_VALUES})",
                **rows.item_columns(item),
            )
            handle = self.handles[item.id] = Handle(
                item.id,
                Rev(0),
                True,
                item.kind,
                0,
                item.trust.value,
                item.user_id,
                item.project_id,
                item.agent_id,
                item.thread_id,
            )
        elif handle.live:
            raise Stale(f"memory {item.id} exists already", [item.id])
        else:
            self._update(item.id, rows.item_columns(replace(item, constitutional=self._item(handle).constitutional)))
            self.tx.do("update items set withdrawn = false where tenant = :tenant and id = :id", id=item.id)
            self.footing.items.discard(item.id)
            self._renamed(item)
            handle.live = True
            handle.trust = item.trust.value
        handle.item = None
        handle.stamped = True
        self._artifacts(item)
        self._episode(item)

    def _withdraw(self, item: Item) -> None:
        handle = self._live(item.id)
        if replace(self._item(handle), constitutional=False) != replace(item, constitutional=False):
            raise Stale(f"memory {item.id} has changed since", [item.id])
        self.tx.do("update items set withdrawn = true where tenant = :tenant and id = :id", id=item.id)
        self.footing.items.add(item.id)
        handle.live = False
        handle.stamped = True

    def _revise(self, change: Revise) -> Revise:
        handle = self._live(change.item_id)
        before = self._item(handle)
        change = replace(change, edits=_still_timely(change.edits, before))
        for edit in change.edits:
            if getattr(before, edit.field) != edit.before:
                raise Stale(f"the {edit.field} of memory {change.item_id} has changed since", [change.item_id])
        after = replace(before, **{edit.field: edit.after for edit in change.edits})  # type: ignore[arg-type]
        names = frozenset(edit.field for edit in change.edits)
        if before.trust is Trust.UNTRUSTED and after.trust is Trust.TRUSTED:
            self._still_doubted(change.item_id)
        if "active_version_id" in names and after.active_version_id:
            self._version(after.active_version_id, change.item_id)
        self._update(change.item_id, rows.item_columns(after, names))
        if "body" in names:
            self._artifacts(after)
        self._renamed(after)
        self._episode(after)
        handle.item = after
        handle.user_id, handle.project_id = after.user_id, after.project_id
        handle.agent_id, handle.thread_id = after.agent_id, after.thread_id
        handle.trust = after.trust.value
        handle.stamped = True
        return change

    def _update(self, item_id: ItemId, columns: Mapping[str, object]) -> None:
        columns = {name: value for name, value in columns.items() if name != "id"}
        assignments = ", ".join(f"{name} = :{name}" for name in sorted(columns))
        self.tx.do(f"update items set {assignments} where tenant = :tenant and id = :id", id=item_id, **columns)

    def _protect(self, item_id: ItemId, before: bool, after: bool) -> None:
        handle = self._live(item_id)
        if self._item(handle).constitutional != before:
            raise Stale(f"the protection of memory {item_id} has changed since", [item_id])
        self._update(item_id, {"constitutional": after})
        handle.item = None
        handle.stamped = True

    def _episode(self, item: Item) -> None:
        if isinstance(item.body, Episode):
            self.episodes[item.id] = item

    def _artifacts(self, item: Item) -> None:
        if not isinstance(item.body, Episode):
            return
        self.tx.do("delete from episode_artifacts where tenant = :tenant and episode_id = :id", id=item.id)
        self.tx.many(
            "insert into episode_artifacts (tenant, episode_id, artifact_type, artifact_ref) "
            "values (:tenant, :id, :type, :ref) on conflict do nothing",
            [{"id": item.id, "type": artifact.type.value, "ref": artifact.ref} for artifact in item.body.artifacts],
        )

    # -- events and versions ------------------------------------------------------------------------------

    def _append(self, event: Event) -> Event:
        handle = self._live(event.item_id)
        if handle.kind != "episode":
            raise Invalid(f"memory {event.item_id} is a {handle.kind}", "Events belong to an episode.")
        if self._erased(f"e:{event.id}"):
            raise Gone(f"event {event.id} was erased and does not come back")
        if event.seq != UNPLACED:
            self._show("events", event.id)
            self.footing.events.discard(event.id)
            return event
        handle.last_seq += 1
        event = replace(event, seq=handle.last_seq)
        self.tx.run(
            f"insert into events (tenant, withdrawn, digest, names, {rows.EVENT}) "
            f"values (:tenant, false, :digest, :names, {rows.EVENT_VALUES})",
            digest=self._digest(event.text),
            names=(names := rows.names(event)),
            **rows.event_columns(event),
        )
        self.tx.do(
            "update items set last_seq = :seq where tenant = :tenant and id = :id", seq=event.seq, id=event.item_id
        )
        self.tx.add_text(f"e:{event.id}", event.item_id, event.text, names)
        self.fresh[event.id] = event
        return event

    def _still_doubted(self, item_id: ItemId) -> None:
        """Pass, or an error where something that is not believed bears witness to what a memory says: taking back that
        it is untrusted makes it no more believed."""
        cited = self.tx.one(
            "select e.id from versions v join witnesses w on w.tenant = :tenant and w.version_id = v.id "
            "join events e on e.tenant = :tenant and e.id = w.event_id "
            "where v.tenant = :tenant and v.item_id = :item_id and not v.withdrawn and e.trust = :untrusted limit 1",
            item_id=item_id,
            untrusted=Trust.UNTRUSTED.value,
        )
        if cited is not None:
            raise Refused(
                f"memory {item_id} would be trusted, and event {cited[0]}, which it cites, is not",
                "Take back what was made of it as well.",
            )

    def _digest(self, text: str) -> str:
        if not self.key:
            row = self.tx.one("select dedup_key from tenants where tenant = :tenant")
            if row is None:
                raise no_tenant(self.tx)
            self.key = held_key(row[0])
        return fingerprint(self.key, text)

    def _derive(self, version: Version) -> None:
        handle = self._live(version.item_id)
        self._reworded(version)
        known = self.tx.one("select 1 from versions where tenant = :tenant and id = :id", id=version.id)
        if known:
            self._show("versions", version.id)
            self.footing.versions.discard(version.id)
            self.footing.shown.add(version.id)
            if handle.trust == Trust.TRUSTED.value:
                self._still_doubted(version.item_id)
            return
        if self._erased(f"v:{version.id}"):
            raise Gone(f"version {version.id} was erased and does not come back")
        if version.derived_from:
            self._version(version.derived_from)
        cited = resolve(self.tx, version, self.fresh)
        _only_as_trusted(handle, cited)
        self.tx.run(
            f"insert into versions (tenant, withdrawn, names, {rows.VERSION}) "
            f"values (:tenant, false, :names, {rows.VERSION_VALUES})",
            names=(names := rows.names(self._item(handle)) if version.level is Level.R3 else ""),
            **rows.version_columns(version),
        )
        quoted = version.quoted
        self.tx.many(
            "insert into witnesses (tenant, event_id, version_id, quoted) "
            "values (:tenant, :event_id, :version_id, :quoted)",
            [{"event_id": one.id, "version_id": version.id, "quoted": one.id in quoted} for one in cited],
        )
        if version.level is Level.R3:
            self.tx.add_text(f"v:{version.id}", version.item_id, bare(version.content), names)

    def _renamed(self, item: Item) -> None:
        """What a memory is called by has perhaps changed: its versions are found by what it is called by now."""
        names = rows.names(item)
        known = self.tx.all(
            "select id, content, names from versions where tenant = :tenant and item_id = :id and level = :level "
            "and names <> :names",
            id=item.id,
            level=int(Level.R3),
            names=names,
        )
        for id, content, before in known:
            self.tx.drop_text(f"v:{id}", bare(content), before)
            self.tx.add_text(f"v:{id}", item.id, bare(content), names)
            self.tx.do("update versions set names = :names where tenant = :tenant and id = :id", id=id, names=names)

    def _reworded(self, version: Version) -> None:
        """The words of a memory are part of what was read of it: of two who make a version of the same, one looks
        again."""
        if handle := self.handles.get(version.item_id):
            handle.stamped = True

    def _version(self, version_id: str, of: ItemId | None = None) -> None:
        self.tx.keep("versions", [version_id])
        row = self.tx.one(
            "select item_id from versions where tenant = :tenant and id = :id and not withdrawn", id=version_id
        )
        if row is None or (of is not None and row[0] != of):
            raise NotFound(f"there is no version {version_id}" + (f" of memory {of}" if of else ""))

    def _hide(self, table: str, ref: str, id: str) -> None:
        if self.tx.for_update:  # whoever is building on it is waited for: a flag that changes does not keep them out
            self.tx.one(f"select 1 from {table} where tenant = :tenant and id = :id {self.tx.for_update}", id=id)
        if not self.tx.run(
            f"update {table} set withdrawn = true where tenant = :tenant and id = :id and not withdrawn", id=id
        ):
            raise Stale(f"{ref} is not there any more", [ref])

    def _show(self, table: str, id: str) -> None:
        if not self.tx.run(
            f"update {table} set withdrawn = false where tenant = :tenant and id = :id and withdrawn", id=id
        ):
            raise Stale(f"{id} is there already", [id])

    # -- edges and records ----------------------------------------------------------------------------------

    def _link(self, relation: Relation) -> None:
        self._live(relation.from_id)
        self._live(relation.to_id)
        if not self.tx.run(
            f"insert into relations (tenant, {rows.RELATION}) values (:tenant, {rows.RELATION_VALUES}) "
            "on conflict do nothing",
            **rows.relation_columns(relation),
        ):
            raise Stale(
                f"{relation.from_id} and {relation.to_id} are linked already",
                [f"r:{relation.from_id}>{relation.to_id}"],
            )

    def _unlink(self, relation: Relation) -> None:
        row = self.tx.one(
            f"select {rows.RELATION} from relations where tenant = :tenant and id = :id {self.tx.for_update}",
            id=relation.id,
        )
        if row is None or rows.read_relation(row) != relation:
            raise Stale(f"the relation {relation.id} has changed since", [f"r:{relation.from_id}>{relation.to_id}"])
        self.tx.do("delete from relations where tenant = :tenant and id = :id", id=relation.id)

    def _note(self, before: Record | None, after: Record | None) -> None:
        record = after or before
        assert record is not None
        if isinstance(after, Open | Resolved):
            self._live(after.memory_a)
            self._live(after.memory_b)
        current = read_record(self.tx, family(record), record.id)
        if current != before:
            raise Stale(f"the {family(record)} {record.id} has changed since", [f"{family(record)}:{record.id}"])
        put_record(self.tx, before, after)


def _only_as_trusted(handle: Handle, cited: Sequence[Event]) -> None:
    """What is derived is only as trusted as its least trusted source."""
    doubtful = [event.id for event in cited if event.trust is Trust.UNTRUSTED]
    if doubtful and handle.trust == Trust.TRUSTED.value:
        raise Invalid(
            f"memory {handle.id} is trusted, and event {doubtful[0]}, which the version cites, is not",
            "Make the memory untrusted first, or cite trusted events only.",
        )


def _still_timely(edits: tuple[Edit, ...], item: Item) -> tuple[Edit, ...]:
    """The edits without a time of update that later edits of other fields have overtaken."""
    return tuple(edit for edit in edits if edit.field != "updated_at" or edit.before == item.updated_at)
