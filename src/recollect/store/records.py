"""Records in their tables: contradictions with the columns people query, the others as one row of JSON each."""

import json
from collections.abc import Sequence

from recollect.domain import codec
from recollect.domain.ids import ItemId, RecordId
from recollect.domain.record import Contradiction, Open, Record, Resolved, family
from recollect.store import rows
from recollect.store.tx import Tx


def read_record(tx: Tx, kind: str, record_id: RecordId) -> Record | None:
    """A record as it stands, locked where the engine locks rows."""
    if kind == "contradiction":
        row = tx.one(
            f"select {rows.CONTRADICTION} from contradictions where tenant = :tenant and id = :id {tx.for_update}",
            id=record_id,
        )
        return rows.read_contradiction(row) if row else None
    row = tx.one(
        f"select body from records where tenant = :tenant and family = :family and id = :id {tx.for_update}",
        family=kind,
        id=record_id,
    )
    return _decode(row[0]) if row else None


def list_records(tx: Tx, kind: str) -> list[Record]:
    if kind == "contradiction":
        found = tx.all(f"select {rows.CONTRADICTION} from contradictions where tenant = :tenant order by id")
        return [rows.read_contradiction(row) for row in found]
    found = tx.all("select body from records where tenant = :tenant and family = :family order by id", family=kind)
    return [_decode(row[0]) for row in found]


def contradictions(tx: Tx, items: Sequence[ItemId]) -> list[Contradiction]:
    """Contradictions on record, open or resolved, that one of these items is part of."""
    if not items:
        return []
    found = tx.all(
        f"select {rows.CONTRADICTION} from contradictions where tenant = :tenant and memory_a in :ids[] "
        f"union select {rows.CONTRADICTION} from contradictions where tenant = :tenant and memory_b in :ids[] "
        "order by id",
        ids=list(items),
    )
    return [rows.read_contradiction(row) for row in found]


def open_contradictions(tx: Tx, after: RecordId | None, limit: int) -> list[Open]:
    """Contradictions that nobody has resolved, in the order of their ids."""
    found = tx.all(
        f"select {rows.CONTRADICTION} from contradictions where tenant = :tenant and resolved_at is null "
        "and id > :after order by id limit :limit",
        after=after or "",
        limit=limit,
    )
    return [record for row in found if isinstance(record := rows.read_contradiction(row), Open)]


def put_record(tx: Tx, before: Record | None, after: Record | None) -> None:
    """Replace one stage of a record by another; the caller has compared `before` with what is there."""
    record = after or before
    assert record is not None
    if isinstance(record, Open | Resolved):
        tx.run("delete from contradictions where tenant = :tenant and id = :id", id=record.id)
        if isinstance(after, Open | Resolved):
            tx.run(
                f"insert into contradictions (tenant, {rows.CONTRADICTION}) "
                f"values (:tenant, {rows.CONTRADICTION_VALUES})",
                **rows.contradiction_columns(after),
            )
        return
    tx.run(
        "delete from records where tenant = :tenant and family = :family and id = :id",
        family=family(record),
        id=record.id,
    )
    if after is not None:
        tx.run(
            "insert into records (tenant, family, id, stage, body) values (:tenant, :family, :id, :stage, :body)",
            family=family(after),
            id=after.id,
            stage=type(after).__name__.lower(),
            body=codec.canonical(codec.encode(after)),
        )


def _decode(text: str) -> Record:
    return codec.decode(Record, json.loads(text))  # type: ignore[arg-type]
