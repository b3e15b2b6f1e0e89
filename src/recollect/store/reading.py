"""Reading memory: items under filters and sight, their versions, events, edges and uses."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId, Rev, VersionId, uuid7
from recollect.domain.item import Visibility
from recollect.domain.level import Level
from recollect.domain.observation import Operation, Usage
from recollect.domain.query import Filters, Page
from recollect.domain.relation import Relation
from recollect.domain.scope import Readers, Scope, Sight
from recollect.domain.version import Version
from recollect.holdings import Citing, Held, Kept, Rooted
from recollect.store import privacy, rows
from recollect.store.privacy import Where
from recollect.store.records import list_records
from recollect.store.tx import Row, Tx


def in_sight(sight: Sight) -> Where:
    """The condition on items that keeps everything else out of sight."""
    seen, values = visible(sight)
    private, more = privacy.items_for(sight.readers)
    return [" and ".join([*seen, *private])], {**values, **more}


def visible(sight: Sight) -> Where:
    """The part of it that the visibility of an item tells."""
    seen = ["i.visibility = 'system'"]
    values: dict[str, object] = {}
    if sight.users is None:
        seen.append("i.visibility = 'user-private'")
    elif sight.users:
        seen.append("(i.visibility = 'user-private' and i.user_id in :seen_users[])")
        values["seen_users"] = sorted(sight.users)
    if sight.projects is None:
        seen.append("i.visibility = 'project-shared'")
    elif sight.projects:
        seen.append("(i.visibility = 'project-shared' and i.project_id in :seen_projects[])")
        values["seen_projects"] = sorted(sight.projects)
    if sight.silo is not None:
        seen.append("(i.visibility = 'agent-silo' and i.agent_id = :seen_silo)")
        values["seen_silo"] = sight.silo
    return [f"({' or '.join(seen)})"], values


def filtered(filters: Filters) -> Where:
    """The condition on items that the filters ask for."""
    where: list[str] = []
    values: dict[str, object] = {}
    for name in ("user_id", "agent_id", "project_id", "thread_id", "run_id", "actor_id", "role", "core", "topic_key"):
        if (value := getattr(filters, name)) is not None:
            where.append(f"i.{name} = :{name}")
            values[name] = value
    for name, column in (("kinds", "kind"), ("categories", "category")):
        if (value := getattr(filters, name)) is not None:
            where.append(f"i.{column} in :{name}[]")
            values[name] = sorted(value)
    replaced = " or (i.state = 'archived' and i.superseded_by is not null)" if filters.valid_at is not None else ""
    where.append(f"(i.state in :states[]{replaced})")
    values["states"] = sorted(filters.states)
    if filters.without:
        where.append("not i.category in :without[]")
        values["without"] = sorted(filters.without)
    if filters.valid_at is not None:
        where.append("coalesce(i.valid_from, i.origin_at) <= :valid_at")
        where.append("(i.valid_to is null or i.valid_to > :valid_at)")
        values["valid_at"] = filters.valid_at
    if filters.current_at is not None:
        where.append("(i.valid_from is null or i.valid_from <= :current_at)")
        where.append("(i.valid_to is null or i.valid_to > :current_at)")
        values["current_at"] = filters.current_at
    if filters.pinned is not None:
        where.append(f"i.pinned_min_level is {'not ' if filters.pinned else ''}null")
    for name, condition in (
        ("importance_min", "i.importance >= :importance_min"),
        ("importance_max", "i.importance <= :importance_max"),
        ("updated_after", "i.updated_at > :updated_after"),
        ("updated_before", "i.updated_at < :updated_before"),
        ("purge_due", "i.purge_at <= :purge_due"),
    ):
        if (value := getattr(filters, name)) is not None:
            where.append(condition)
            values[name] = value
    return where, values


_HELD = ", ".join(f"i.{name.strip()}" for name in rows.ITEM.split(",")) + ", i.rev, i.withdrawn"


def held_columns() -> str:
    """The columns of an item `i` that `read_held` reads."""
    return _HELD


def read_held(row: Row) -> Held:
    *item, rev, withdrawn = row
    return Held(rows.read_item(tuple(item)), Rev(rev), bool(withdrawn))


def item(tx: Tx, item_id: ItemId) -> Held | None:
    row = tx.one(f"select {_HELD} from items i where i.tenant = :tenant and i.id = :id", id=item_id)
    return read_held(row) if row else None


def items_by_id(tx: Tx, ids: Sequence[ItemId]) -> list[Held]:
    if not ids:
        return []
    found = tx.all(
        f"select {_HELD} from items i where i.tenant = :tenant and i.id in :ids[] order by i.id", ids=list(ids)
    )
    return [read_held(row) for row in found]


def items(tx: Tx, filters: Filters, sight: Sight, page: Page) -> list[Held]:
    wanted, values = filtered(filters)
    seen, more = in_sight(sight)
    where = ["i.tenant = :tenant", "not i.withdrawn", *wanted, *seen]
    if page.before:
        where.append("i.id < :before")
        values["before"] = page.before
    found = tx.all(
        f"select {_HELD} from items i where {' and '.join(where)} order by i.id desc limit :limit",
        limit=page.limit,
        **values,
        **more,
    )
    return [read_held(row) for row in found]


def silos(tx: Tx) -> list[str]:
    found = tx.all(
        "select distinct i.agent_id from items i where i.tenant = :tenant and i.visibility = 'agent-silo' "
        "and not i.withdrawn order by i.agent_id"
    )
    return [row[0] for row in found]


def in_sight_of(sight: Sight, categories: frozenset[str] | None, without: frozenset[str]) -> Where:
    """The same, of items of these categories."""
    where, values = in_sight(sight)
    if categories is not None:
        where.append("i.category in :categories[]")
        values["categories"] = sorted(categories)
    if without:
        where.append("not i.category in :without[]")
        values["without"] = sorted(without)
    return [" and ".join(where)], values


def named(
    tx: Tx, ending: str, sight: Sight, categories: frozenset[str] | None, without: frozenset[str]
) -> list[ItemId]:
    seen, values = in_sight_of(sight, categories, without)
    found = tx.all(
        f"select i.id from items i where i.tenant = :tenant and {seen[0]} "
        "and substr(i.id, length(i.id) - length(:ending) + 1) = :ending order by i.id limit 20",
        ending=ending,
        **values,
    )
    return [row[0] for row in found]


def named_events(tx: Tx, ending: str, sight: Sight, after: str, limit: int) -> list[EventId]:
    seen, values = in_sight(sight)
    found = tx.all(
        "select e.id from events e join items i on i.tenant = :tenant and i.id = e.item_id "
        f"where e.tenant = :tenant and not e.withdrawn and {seen[0]} and e.id > :after "
        "and substr(e.id, length(e.id) - length(:ending) + 1) = :ending order by e.id limit :limit",
        ending=ending,
        after=after,
        limit=limit,
        **values,
    )
    return [row[0] for row in found]


def thread(tx: Tx, scope: Scope, visibility: Visibility) -> Held | None:
    where = ["i.tenant = :tenant", "i.kind = 'episode'", "i.thread_id = :thread_id", "not i.withdrawn"]
    where.append("i.visibility = :visibility")
    values: dict[str, object] = {"thread_id": scope.thread_id, "visibility": visibility.value}
    for name in ("user_id", "agent_id", "project_id"):
        value = getattr(scope, name)
        where.append(f"i.{name} is null" if value is None else f"i.{name} = :{name}")
        if value is not None:
            values[name] = value
    row = tx.one(f"select {_HELD} from items i where {' and '.join(where)}", **values)
    return read_held(row) if row else None


_BEGINNING = (
    f"case when level = {Level.R4.value} and id <> coalesce((select i.active_version_id from items i "
    "where i.tenant = :tenant and i.id = :id), '') then substr(ltrim(content), 1, 80) else content end"
)
"""What an abridged version says: a clean log as much as tells that there is one."""


def versions(
    tx: Tx,
    item_id: ItemId,
    withdrawn: bool = False,
    readers: Readers = None,
    abridged: bool = False,
    only: VersionId | None = None,
) -> list[Version]:
    columns = rows.VERSION.replace("content", _BEGINNING) if abridged else rows.VERSION
    found = tx.all(
        f"select {privacy.ANY_PRIVATE}, {columns} from versions "
        f"where tenant = :tenant and item_id = :id {_live(withdrawn)} {'and id = :only ' if only else ''}order by id",
        id=item_id,
        **({"only": only} if only else {}),
    )
    hidden: set[str] = set()
    if readers is not None and found and found[0][0]:
        hidden = privacy.withheld_versions(tx, [row[1] for row in found], readers)
    return [rows.read_version(row[1:]) for row in found if row[1] not in hidden]


def events(tx: Tx, item_id: ItemId, first: int, last: int | None, limit: int, readers: Readers = None) -> list[Event]:
    seen, values = _shown(readers)
    found = tx.all(
        f"select {rows.EVENT} from events e where tenant = :tenant and item_id = :id and not withdrawn "
        f"and seq >= :first and seq <= :last {seen} order by seq limit :limit",
        id=item_id,
        first=first,
        last=last if last is not None else 2**31 - 1,
        limit=limit,
        **values,
    )
    return [rows.read_event(row) for row in found]


def latest(tx: Tx, item_id: ItemId, count: int, readers: Readers = None) -> list[Event]:
    seen, values = _shown(readers)
    found = tx.all(
        f"select {rows.EVENT} from events e where tenant = :tenant and item_id = :id and not withdrawn "
        f"{seen} order by seq desc limit :count",
        id=item_id,
        count=count,
        **values,
    )
    return [rows.read_event(row) for row in reversed(found)]


def _shown(readers: Readers) -> tuple[str, dict[str, object]]:
    """The condition on events e that leaves out the private ones of others."""
    where, values = privacy.events_for(readers)
    return "".join(f"and {condition} " for condition in where), values


def unembedded(tx: Tx, embedder: str, item_id: ItemId, count: int) -> list[Event]:
    found = tx.all(
        f"select {rows.EVENT} from events e where tenant = :tenant and item_id = :id and not withdrawn "
        "and not exists (select 1 from vectors x where x.tenant = :tenant and x.embedder = :embedder "
        "and x.ref = 'e:' || e.id) "
        "and not exists (select 1 from vectors x where x.tenant = :tenant and x.embedder = :embedder "
        "and x.ref = 'c:' || e.id || '.1') order by seq limit :count",
        id=item_id,
        embedder=embedder,
        count=count,
    )
    return [rows.read_event(row) for row in found]


def extracted_since(tx: Tx, user_id: str, since: datetime, most: int) -> int:
    # Ids rise with time, and the index has them behind the user: the rows of one day lie together.
    row = tx.one(
        "select count(*) from (select 1 from items where tenant = :tenant and user_id = :user_id and id >= :first "
        "and role is not null and kind <> 'episode' limit :most) as made",
        user_id=user_id,
        first=uuid7(since, bytes(10)),
        most=most,
    )
    return int(row[0]) if row else 0


# Not the bare column: SQLite would walk through all events in the order of an index rather than sort a few.
_IN_THREADS = "order by item_id || '', seq"


def _live(withdrawn: bool) -> str:
    """The condition that leaves out what is hidden, unless that is wanted too."""
    return "" if withdrawn else "and not withdrawn"


def events_by_id(tx: Tx, ids: Sequence[EventId], withdrawn: bool = False, readers: Readers = None) -> list[Event]:
    seen, values = _shown(readers)
    found = tx.all(
        f"select {rows.EVENT} from events e where tenant = :tenant and id in :ids[] {_live(withdrawn)} "
        f"{seen}{_IN_THREADS}",
        ids=list(ids),
        **values,
    )
    return [rows.read_event(row) for row in found]


def cited(tx: Tx, versions: Sequence[VersionId], withdrawn: bool = False, readers: Readers = None) -> list[Event]:
    seen, values = _shown(readers)
    found = tx.all(
        f"select {rows.EVENT} from events e where tenant = :tenant {_live(withdrawn)} and id in "
        "(select w.event_id from witnesses w where w.tenant = :tenant and w.version_id in :ids[]) "
        f"{seen}{_IN_THREADS}",
        ids=list(versions),
        **values,
    )
    return [rows.read_event(row) for row in found]


def kept_for(tx: Tx, user_id: str) -> Kept:
    items = tx.all("select id from items where tenant = :tenant and user_id = :user_id", user_id=user_id)
    checkpoints = tx.all(
        "select id from supervisor_checkpoints where tenant = :tenant and user_id = :user_id", user_id=user_id
    )
    proposals = [record.id for record in list_records(tx, "proposal") if getattr(record, "user_id", None) == user_id]
    return Kept(frozenset(row[0] for row in items), frozenset(row[0] for row in checkpoints), frozenset(proposals))


def citing(tx: Tx, ids: Sequence[EventId]) -> list[Citing]:
    found = tx.all(
        "select v.id, v.item_id, w.event_id, e.withdrawn from versions v "
        "join witnesses w on w.tenant = v.tenant and w.version_id = v.id "
        "join events e on e.tenant = w.tenant and e.id = w.event_id "
        "where v.tenant = :tenant and not v.withdrawn and v.id in "
        "(select c.version_id from witnesses c where c.tenant = :tenant and c.event_id in :ids[]) order by v.id",
        ids=list(ids),
    )
    cited: dict[tuple[str, str], dict[EventId, bool]] = {}
    for version_id, item_id, event_id, withdrawn in found:
        cited.setdefault((version_id, item_id), {})[event_id] = not withdrawn
    return [Citing(version, item, events) for (version, item), events in cited.items()]  # type: ignore[arg-type]


def quoted_since(tx: Tx) -> datetime | None:
    row = tx.one(
        "select min(v.created_at) from versions v where v.tenant = :tenant and exists (select 1 from witnesses w "
        "where w.tenant = :tenant and w.version_id = v.id and w.quoted)"
    )
    return rows.moment(row[0]) if row else None


def relations(tx: Tx, item_id: ItemId) -> list[Relation]:
    found = tx.all(
        f"select {rows.RELATION} from relations where tenant = :tenant and (from_id = :id or to_id = :id) "
        "order by strength desc, id",
        id=item_id,
    )
    return [rows.read_relation(row) for row in found]


def usage(tx: Tx, ids: Sequence[ItemId]) -> dict[ItemId, Usage]:
    found = tx.all(
        "select item_id, retrieval_count, citation_count, ignore_count, last_accessed from usage "
        "where tenant = :tenant and item_id in :ids[]",
        ids=list(ids),
    )
    return {id: Usage(r, c, g, rows.moment(at)) for id, r, c, g, at in found}


def operations(tx: Tx, limit: int) -> list[Operation]:
    found = tx.all(
        "select id, user_id, thread_id, node, op, status, memory_id, category, sim, ts from operations "
        "where tenant = :tenant order by ts desc, id desc limit :limit",
        limit=limit,
    )
    return [
        Operation(
            id=id,
            user_id=user_id,
            thread_id=thread_id,
            node=node,
            op=op,
            status=status,
            memory_id=memory_id,
            category=category,
            sim=sim,
            ts=rows.moment(ts),
        )
        for id, user_id, thread_id, node, op, status, memory_id, category, sim, ts in found
    ]


def rooted(tx: Tx, items: Sequence[ItemId], events: Sequence[EventId]) -> Rooted:
    """Follow content downwards: items to versions and events, events to the versions that cite them, versions to
    what was derived from them."""
    gone_events = {EventId(id) for id in events}
    gone_events |= _ids(tx, "select id from events where tenant = :tenant and item_id in :ids[]", items)
    gone: set[str] = _ids(tx, "select id from versions where tenant = :tenant and item_id in :ids[]", items)
    gone |= _ids(
        tx, "select distinct version_id from witnesses where tenant = :tenant and event_id in :ids[]", gone_events
    )
    new = gone
    while new:
        new = _ids(tx, "select id from versions where tenant = :tenant and derived_from in :ids[]", new) - gone
        gone |= new
    hollow = _ids(
        tx,
        "select distinct i.id from items i join versions v on v.tenant = i.tenant and v.item_id = i.id "
        "where i.tenant = :tenant and v.id in :ids[] and (i.kind <> 'episode' "
        "or not exists (select 1 from events e where e.tenant = i.tenant and e.item_id = i.id))",
        gone,
    )
    return Rooted(frozenset(VersionId(id) for id in gone), frozenset(gone_events), frozenset(hollow - set(items)))


def _ids(tx: Tx, sql: str, ids: Iterable[str]) -> set[Any]:
    wanted = sorted(ids)
    return {row[0] for row in tx.all(sql, ids=wanted)} if wanted else set()
