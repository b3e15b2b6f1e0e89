"""A whole tenant as rows of JSON, and back. The same rows come out of either engine and go into either.

What can be computed again is left out: the text index and the fingerprints of events, which are made under the
key of the tenant they are loaded into. So are turns: they are of no use once their answer is given.
"""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from recollect.domain import codec
from recollect.domain.checkpoint import Checkpoint
from recollect.domain.ids import RecordId
from recollect.domain.journal import UNREADABLE
from recollect.domain.level import Level
from recollect.domain.witness import bare
from recollect.errors import Invalid, RecollectError, StoreDamaged
from recollect.holdings import Vector
from recollect.store import privacy, rows
from recollect.store.fingerprint import fingerprint, new_key
from recollect.store.tx import Row, Tx

TABLES: Mapping[str, tuple[str, str]] = {
    "tenants": ("chain_id, rev, seq, head, created_at", "tenant"),
    "items": (f"{rows.ITEM}, rev, withdrawn, last_seq", "id"),
    "events": (f"{rows.EVENT}, withdrawn", "id"),
    "versions": (f"{rows.VERSION}, withdrawn", "id"),
    "witnesses": ("event_id, version_id, quoted", "event_id, version_id"),
    "participants": ("episode_id, principal_id", "episode_id, principal_id"),
    "private_events": ("event_id, episode_id", "event_id"),
    "episode_artifacts": ("episode_id, artifact_type, artifact_ref", "episode_id, artifact_type, artifact_ref"),
    "relations": (rows.RELATION, "id"),
    "contradictions": (rows.CONTRADICTION, "id"),
    "records": ("family, id, stage, body", "family, id"),
    "usage": ("item_id, retrieval_count, citation_count, ignore_count, last_accessed", "item_id"),
    "version_usage": ("version_id, retrieval_count, citation_count, ignore_count, last_accessed", "version_id"),
    "operations": ("id, user_id, thread_id, node, op, status, memory_id, category, sim, ts", "id"),
    "header_cursors": ("reader, thread_id, rev, seq, thread_rev", "reader, thread_id"),
    "supervisor_checkpoints": ("id, user_id, thread_id, checkpoint_data, nonce, created_at, updated_at", "id"),
    "thread_revision": ("owner, thread_id, rev", "owner, thread_id"),
    "journal": (f"{rows.HEADER}, hash", "seq"),
    "journal_bodies": ("seq, nonce, body", "seq"),
    "journal_refs": ("ref, seq, own", "ref, seq"),
    "tombstones": ("ref, at", "ref"),
    "receipts": ("actor, key, digest, answer, rev, at", "actor, key"),
    "jobs": (f"{rows.JOB}, step, state, attempts, again, done_at, failed_at, last_error", "id"),
}

_TIMES = frozenset(
    [
        "created_at",
        "updated_at",
        "state_at",
        "purge_at",
        "active_lock_until",
        "origin_at",
        "valid_from",
        "valid_to",
        "ts",
        "detected_at",
        "resolved_at",
        "last_accessed",
        "at",
        "not_before",
        "done_at",
        "failed_at",
    ]
)
_EVENT = [column.strip() for column in rows.EVENT.split(",")]
_BYTES = frozenset({"nonce"})
_FLAGS = frozenset(["withdrawn", "private", "core", "constitutional", "own", "again", "quoted"])
_JSON = frozenset(["tags", "chunks", "meta", "bullets", "checkpoint_data", "payload"])
_JSON_IN = {("items", "body"), ("records", "body"), ("jobs", "state")}


def _is_json(table: str, column: str) -> bool:
    return column in _JSON or (table, column) in _JSON_IN


def dump(tx: Tx) -> Iterator[Mapping[str, object]]:
    """Every row of the tenant, each with its table's name."""
    for table, (columns, order) in TABLES.items():
        names = [name.strip() for name in columns.split(",")]
        for row in tx.each(f"select {columns} from {table} where tenant = :tenant order by {order}"):
            try:
                told = {n: _out(table, n, v) for n, v in zip(names, row, strict=True) if v is not None}
            except UNREADABLE:
                raise StoreDamaged(
                    f"a row of {table} is not one that Recollect wrote", "See which: recollect verify --deep"
                ) from None
            yield {"table": table, **told}
    for embedder, ref, rev, values in tx.vectors():
        yield {
            "table": "vectors",
            "embedder": embedder,
            "ref": ref,
            "rev": rev,
            "values": base64.b64encode(values).decode(),
        }


def _out(table: str, column: str, value: Any) -> object:
    if column in _TIMES:
        return codec.when(rows.moment(value))
    if column in _BYTES:
        return base64.b64encode(value).decode()
    if column in _FLAGS:
        return bool(value)
    if _is_json(table, column):
        return json.loads(value)
    if isinstance(value, bytes):
        raise ValueError("bytes where there are none")
    return value


def _in(table: str, column: str, value: Any) -> object:
    if value is None:
        return False if column in _FLAGS else None
    if column in _TIMES:
        return codec.moment(value)
    if column in _BYTES:
        return base64.b64decode(value)
    if _is_json(table, column):
        return codec.canonical(value)
    return value


def load(tx: Tx, dumped: Iterable[Mapping[str, object]]) -> None:
    """Write dumped rows into a tenant that has none."""
    try:
        _load(tx, dumped)
    except RecollectError:
        raise
    except UNREADABLE:
        raise Invalid(
            "a row of it is not one that Recollect wrote: it was damaged or changed", "Export it again."
        ) from None


def _load(tx: Tx, dumped: Iterable[Mapping[str, object]]) -> None:
    key = new_key()
    batch: list[dict[str, object]] = []
    table = ""
    for row in dumped:
        name = str(row.get("table"))
        if name != table or len(batch) >= 500:
            _insert(tx, table, batch)
            table, batch = name, []
        if name == "vectors":
            vector = Vector(str(row["embedder"]), str(row["ref"]), base64.b64decode(str(row["values"])))
            tx.add_vectors([vector], int(str(row["rev"])))
            continue
        if name not in TABLES:
            raise Invalid(f"the export holds rows of an unknown table {name!r}", "Import it with a newer Recollect.")
        columns = [column.strip() for column in TABLES[name][0].split(",")]
        values = {column: _in(name, column, row.get(column)) for column in columns}
        if name == "tenants":
            values["dedup_key"] = key
        if name == "events":
            values["digest"] = fingerprint(key, str(row["text"]))
        batch.append(values)
    _insert(tx, table, batch)
    if not tx.one("select 1 from tenants where tenant = :tenant"):
        raise Invalid("the export is cut short: it has no tenant", "Export it again.")
    privacy.derive_participants(tx)


def _insert(tx: Tx, table: str, batch: list[dict[str, object]]) -> None:
    if table == "events":
        batch = [{**row, "names": rows.names(rows.read_event(tuple(row[one] for one in _EVENT)))} for row in batch]
    elif table == "versions":
        called = _names_of(tx, [row for row in batch if row["level"] == int(Level.R3)])
        batch = [
            {**row, "names": called.get(str(row["item_id"]), "") if row["level"] == int(Level.R3) else ""}
            for row in batch
        ]
    if batch:
        names = list(batch[0])
        tx.many(
            f"insert into {table} (tenant, {', '.join(names)}) values (:tenant, {', '.join(f':{n}' for n in names)})",
            batch,
        )
    for row in batch:
        if table == "events":
            tx.add_text(f"e:{row['id']}", str(row["item_id"]), str(row["text"]), str(row["names"]))
        elif table == "versions" and row["level"] == int(Level.R3):
            tx.add_text(f"v:{row['id']}", str(row["item_id"]), bare(str(row["content"])), str(row["names"]))


def _names_of(tx: Tx, batch: list[dict[str, object]]) -> dict[str, str]:
    """What the memories of these versions are called by."""
    ids = sorted({str(row["item_id"]) for row in batch})
    found = tx.all(f"select {rows.ITEM} from items where tenant = :tenant and id in :ids[]", ids=ids) if ids else []
    items = [rows.read_item(row) for row in found]
    return {item.id: rows.names(item) for item in items}


def state(tx: Tx) -> Iterator[Mapping[str, object]]:
    """What memory holds, as values: live items, versions, events, relations and contradictions by id."""
    live = "exists (select 1 from items i where i.tenant = t.tenant and i.id = t.item_id and not i.withdrawn)"
    for row in tx.each(f"select {rows.ITEM} from items where tenant = :tenant and not withdrawn order by id"):
        yield {"item": codec.encode(rows.read_item(row))}
    for row in tx.each(
        f"select {rows.VERSION} from versions t where t.tenant = :tenant and not t.withdrawn and {live} order by id"
    ):
        yield {"version": codec.encode(rows.read_version(row))}
    for row in tx.each(
        f"select {rows.EVENT} from events t where t.tenant = :tenant and not t.withdrawn and {live} order by id"
    ):
        yield {"event": codec.encode(rows.read_event(row))}
    for row in tx.each(f"select {rows.RELATION} from relations where tenant = :tenant order by from_id, to_id"):
        yield {"relation": codec.encode(rows.read_relation(row))}
    for row in tx.each(f"select {rows.CONTRADICTION} from contradictions where tenant = :tenant order by id"):
        yield {"contradiction": codec.encode(rows.read_contradiction(row))}


def read_checkpoint(row: Row) -> Checkpoint:
    id, user_id, thread_id, data, created_at, updated_at = row
    return Checkpoint(
        id=RecordId(id),
        user_id=user_id,
        thread_id=thread_id,
        checkpoint_data=json.loads(data),
        created_at=rows.moment(created_at),
        updated_at=rows.moment(updated_at),
    )
