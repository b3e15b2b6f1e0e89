"""A backup comes back: examined before it counts, and without what was erased since it was made."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from pathlib import Path

from recollect.care import audit, transfer
from recollect.domain.ids import TenantId, tenant_id
from recollect.domain.job import Job
from recollect.domain.scope import Actor
from recollect.errors import Invalid, StoreDamaged
from recollect.ports import Erasures, Store

FORMAT = 1
_GZIP = b"\x1f\x8b"
Row = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Recovered:
    """What came back: tenants, the entries of their journals, and the things that were erased again."""

    tenants: tuple[TenantId, ...]
    entries: int
    erased: int


def make_ready(store: Store, erasures: Erasures, *, actor: Actor, at: datetime) -> Recovered:
    """A store out of a backup, before anybody uses it: whole to the engine, whole to its journals, and rid of what was
    erased since."""
    if wrong := store.integrity():
        raise StoreDamaged(f"the backup is damaged: {wrong[0]}", "Restore another one.")
    tenants = tuple(store.tenants())
    entries = 0
    for tenant in tenants:
        verified = audit.verify(store, tenant)
        if not verified.whole:
            first = verified.findings[0]
            raise StoreDamaged(
                f"in the backup, the journal of tenant {tenant!r} is not whole: entry {first.seq}: {first.what}",
                "Restore another one.",
            )
        entries += verified.entries
    erased = sum(transfer.erase_again(store, erasures, tenant, actor=actor, at=at) for tenant in tenants)
    return Recovered(tenants, entries, erased)


def is_packed(backup: Path) -> bool:
    """Whether this is a backup as PostgreSQL stores make it: JSON lines, packed with gzip."""
    with backup.open("rb") as file:
        return file.read(2) == _GZIP


def unpack(store: Store, backup: Path, then: Callable[[], Sequence[Job]] = tuple[Job, ...]) -> None:
    """Load a packed backup into a store, but for tenants that are there from an earlier try. It is read to its end
    first: a backup that was cut short loads nothing. `then`: what follows from each."""
    for _ in _rows(backup):
        pass
    there = frozenset(store.tenants())
    for tenant, rows in groupby(_rows(backup), key=lambda pair: pair[0]):
        if tenant not in there:
            store.load(tenant, (row for _, row in rows), then=then())


def _rows(backup: Path) -> Iterator[tuple[TenantId, Row]]:
    """Every row of a packed backup with its tenant."""
    tenant: TenantId | None = None
    for number, row in enumerate(_lines(backup)):
        if number == 0:
            if row.get("recollect") != "backup":
                raise Invalid(f"{backup} is not a backup of Recollect", "Make one with: recollect backup FILE")
            if row.get("format") != FORMAT:
                raise Invalid(f"{backup} has format {row.get('format')}", "Restore it with a newer Recollect.")
        elif "table" not in row and isinstance(name := row.get("tenant"), str):
            tenant = tenant_id(name)
        elif tenant is None:
            raise _damaged(backup)
        else:
            yield tenant, row


def _lines(backup: Path) -> Iterator[Row]:
    try:
        with gzip.open(backup, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise _damaged(backup)
                yield row  # type: ignore[misc]
    except (EOFError, zlib.error, gzip.BadGzipFile, ValueError) as error:
        raise error if isinstance(error, Invalid) else _damaged(backup) from error


def _damaged(backup: Path) -> StoreDamaged:
    return StoreDamaged(f"the backup {backup} is damaged or cut short", "Restore another one.")
