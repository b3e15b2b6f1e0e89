"""Memory on the move: whole tenants as JSON lines, across engines, without loss and without what was erased."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import cast

from recollect.care.audit import refuse_unless_whole
from recollect.care.erase import erase
from recollect.care.legible import legible
from recollect.domain import codec
from recollect.domain.ids import EventId, ItemId, JobId, RecordId, TenantId
from recollect.domain.item import Visibility
from recollect.domain.job import Job
from recollect.domain.scope import Actor, Scope
from recollect.errors import Invalid
from recollect.ports import Erasures, Store

FORMAT = 1
AGAIN = "erase_again"
"""The kind of job that erases once more what a copy has brought back."""
_BATCH = 500


def export(store: Store, tenant: TenantId) -> Iterator[str]:
    """A whole tenant, line by line. The last line says how many came before it."""
    yield codec.canonical({"recollect": "export", "format": FORMAT})
    count = 0
    for row in store.dump(tenant):
        yield codec.canonical(row)
        count += 1
    yield codec.canonical({"end": count})


def export_state(store: Store, tenant: TenantId) -> Iterator[str]:
    """What memory holds at the moment: items, versions, live events, relations, contradictions."""
    for row in store.state(tenant):
        yield codec.canonical(row)


def export_user(store: Store, tenant: TenantId, user_id: str) -> Iterator[str]:
    """What is kept of one user: what memory holds, and every journal entry about it. An agent's silo stays shut, and
    private words of threads that the user took no part in stay where they are."""
    readers = frozenset({user_id})
    yield from (codec.canonical(row) for row in _open(store, tenant, _of_user(store, tenant, user_id), readers))
    silo: dict[ItemId | None, bool] = {None: False}
    entries = store.entries(tenant, scope=Scope(tenant=tenant, user_id=user_id))
    for entry in legible(store, tenant, entries, readers):
        item_id = entry.header.item_id
        if item_id not in silo:
            held = store.item(tenant, item_id) if item_id else None
            silo[item_id] = held is not None and held.item.visibility is Visibility.AGENT_SILO
        if not silo[item_id]:
            body = json.loads(entry.body.text) if entry.body else None
            yield codec.canonical({"entry": codec.encode(entry.header), "change": body})


def _of_user(store: Store, tenant: TenantId, user_id: str) -> Iterator[Mapping[str, Mapping[str, object]]]:
    """The state of one user's memories."""
    own: set[object] = set()
    for row in cast(Iterator[Mapping[str, Mapping[str, object]]], store.state(tenant)):
        kind, value = next(iter(row.items()))
        if kind == "item" and value.get("user_id") == user_id and value.get("visibility") != Visibility.AGENT_SILO:
            own.add(value["id"])
            yield row
        elif own & {value.get(name) for name in ("item_id", "from_id", "to_id", "memory_a", "memory_b")}:
            yield row


def _open(
    store: Store, tenant: TenantId, rows: Iterator[Mapping[str, Mapping[str, object]]], readers: frozenset[str]
) -> Iterator[Mapping[str, object]]:
    """Those of the rows that hold no private words of others."""
    while batch := list(islice(rows, _BATCH)):
        named = [_holding(row) for row in batch]
        hidden = store.withheld(tenant, sorted({ref for refs in named for ref in refs}), readers)
        yield from (row for row, refs in zip(batch, named, strict=True) if hidden.isdisjoint(refs))


def _holding(row: Mapping[str, Mapping[str, object]]) -> list[str]:
    """The things whose words a row holds: its own, and those of the memories that a contradiction is about."""
    [(kind, value)] = row.items()
    return [
        f"{kind[0]}:{value['id']}",
        *(f"i:{value[name]}" for name in ("memory_a", "memory_b") if value.get(name)),
    ]


def import_(
    store: Store, erasures: Erasures, tenant: TenantId, lines: Iterable[str], *, actor: Actor, at: datetime, job: JobId
) -> int:
    """Build a tenant from an export, then erase what was erased since; the number of things erased again. Whoever does
    not live to do that leaves it to the job."""
    store.load(tenant, _rows(lines), then=[erasing_again(job, at, "import")], check=refuse_unless_whole)
    return erase_again(store, erasures, tenant, actor=actor, at=at)


def erase_again(store: Store, erasures: Erasures, tenant: TenantId, *, actor: Actor, at: datetime) -> int:
    """Apply the list of erasures to a tenant that came out of an export or a backup; the number of things erased."""
    listed = erasures.of(store.head(tenant).chain_id)
    if not listed:
        return 0
    due = sorted(listed - {tombstone.ref for tombstone in store.tombstones(tenant)})
    if not due:
        return 0
    named = {mark: [ref.partition(":")[2] for ref in due if ref.startswith(f"{mark}:")] for mark in _MARKS}
    wipe = erase(
        store,
        erasures,
        Scope(tenant=tenant),
        [ItemId(id) for id in named["i"]],
        [EventId(id) for id in named["e"]],
        checkpoints=[RecordId(id) for id in named["checkpoint"]],
        proposals=[RecordId(id) for id in named["proposal"]],
        actor=actor,
        at=at,
        reason="erased before, in a copy that was brought back",
    )
    store.scrub()
    return len(wipe.refs)


def erasing_again(id: JobId, at: datetime, after: str) -> Job:
    """The job that applies the list of erasures to a tenant, whatever becomes of who brought it back."""
    return Job(id=id, kind=AGAIN, key=after, not_before=at)


_MARKS = ("i", "e", "checkpoint", "proposal")


def _rows(lines: Iterable[str]) -> Iterator[Mapping[str, object]]:
    """The rows of an export. A file that is cut short or not an export is refused, wherever that shows."""
    count = -1
    ended = False
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row: object = json.loads(line)
        except ValueError:
            raise Invalid(f"line {number} of the export is not JSON", "The file is damaged: export it again.") from None
        if not isinstance(row, dict):
            raise Invalid(f"line {number} is not part of an export")
        if count < 0:
            _check_format(row)  # type: ignore[arg-type]
        elif "end" in row:
            ended = True
            if row["end"] != count:
                raise Invalid(f"the export holds {count} rows and says {row['end']}", "It is damaged: export it again.")
        else:
            yield row  # type: ignore[misc]
        count += 1
    if not ended:
        raise Invalid("the export is cut short", "Export it again.")


def _check_format(row: Mapping[str, object]) -> None:
    if row.get("recollect") != "export":
        raise Invalid("this is not a Recollect export", "Make one with: recollect export FILE")
    if row.get("format") != FORMAT:
        raise Invalid(f"the export has format {row.get('format')}", "Import it with a newer Recollect.")
