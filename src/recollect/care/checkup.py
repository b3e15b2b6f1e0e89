"""A store under examination: what is well, what needs watching, what is ill, and what would help."""

import os
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path

from recollect.care import audit
from recollect.domain.ids import EventId, ItemId, TenantId
from recollect.domain.job import JobStatus
from recollect.domain.journal import UNREADABLE
from recollect.errors import RecollectError, Unreadable
from recollect.ports import Erasures, Store

OVERDUE = timedelta(hours=1)
LITTLE_ROOM = 100 * 1024 * 1024
_MEGABYTE = 1024 * 1024


class Verdict(StrEnum):
    WELL = "well"
    WATCH = "watch"
    ILL = "ill"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at, how it is, and what to do about it."""

    name: str
    verdict: Verdict
    found: str
    help: str = ""


def interpreter() -> Check:
    return Check("Python", Verdict.WELL, ".".join(map(str, sys.version_info[:3])))


def library(name: str, version: str, needed: str) -> Check:
    """A library that a store stands on."""
    if _numbers(version) < _numbers(needed):
        return Check(name, Verdict.ILL, version, f"Use {needed} or later: older ones can damage a store.")
    return Check(name, Verdict.WELL, version)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


def models(names: Sequence[str]) -> Check:
    """Which models run here, by name."""
    return Check("models", Verdict.WELL, ", ".join(names) or "none: memory is found by its words, and judged by rules")


def unreachable(error: RecollectError) -> Check:
    return Check("store", Verdict.ILL, error.what, error.help)


def privacy(files: Sequence[Path]) -> Check:
    """Whether others on this machine can read what is kept here."""
    there = [path for path in files if path.exists()]
    open_to_others = [path for path in there if stat.S_IMODE(path.stat().st_mode) & 0o077]
    if open_to_others:
        names = " ".join(str(path) for path in open_to_others)
        return Check("permissions", Verdict.WATCH, "others on this machine can read the store", f"chmod 600 {names}")
    return Check("permissions", Verdict.WELL, "for its owner's eyes only")


def writable(path: Path) -> Check:
    """Whether the store, and its log beside it, can be written."""
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        return Check("writing", Verdict.WELL, "the file and its directory can be written")
    help = f"Give yourself the right to write: chmod u+w {path} {path.parent}"
    return Check("writing", Verdict.ILL, "the store can only be read", help)


def room(path: Path) -> Check:
    """Whether there is room to go on writing, and for a backup."""
    free = shutil.disk_usage(path.parent).free
    size = path.stat().st_size if path.exists() else 0
    found = f"{free // _MEGABYTE:,} MB free, the store has {size / _MEGABYTE:,.1f} MB"
    if free < LITTLE_ROOM:
        return Check("disk", Verdict.ILL, found, "Free some space: writes will be refused when there is none.")
    if free < 2 * size:
        return Check("disk", Verdict.WATCH, found, "Free some space: there is hardly room for a backup.")
    return Check("disk", Verdict.WELL, found)


def engine(store: Store) -> Check:
    """What the engine itself finds wrong."""
    try:
        wrong = store.integrity()
    except RecollectError as error:
        return Check("engine", Verdict.ILL, error.what, error.help)
    if not wrong:
        return Check("engine", Verdict.WELL, "nothing to report")
    more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
    help = "Keep what is there, and restore a backup: recollect restore BACKUP --replace"
    return Check("engine", Verdict.ILL, wrong[0] + more, help)


def tenant(store: Store, erasures: Erasures, name: TenantId, now: datetime) -> Iterator[Check]:
    """How one tenant is: its journal, its jobs, and what was erased of it."""
    for subject, look in (
        (f"journal of {name}", lambda: _journal(store, name)),
        (f"jobs of {name}", lambda: _jobs(store.jobs(name), name, now)),
        (f"erasures of {name}", lambda: _erasures(store, erasures, name)),
    ):
        try:
            verdict, found, help = look()
        except Unreadable:
            verdict, found, help = _foreign(name)
        except RecollectError as error:
            verdict, found, help = Verdict.ILL, error.what, error.help
        except UNREADABLE:
            verdict, found, help = _foreign(name)
        yield Check(subject, verdict, found, help)


Told = tuple[Verdict, str, str]


def _foreign(name: TenantId) -> Told:
    help = f"See what it is: recollect verify --deep --tenant {name}"
    return Verdict.ILL, "holds what no Recollect wrote", help


def _journal(store: Store, name: TenantId) -> Told:
    verified = audit.verify(store, name)
    if verified.whole:
        return Verdict.WELL, f"whole, {verified.entries:,} entries", ""
    first = verified.findings[0]
    found = f"{len(verified.findings)} findings, the first at entry {first.seq}: {first.what}"
    return Verdict.ILL, found, f"See all: recollect verify --tenant {name}"


def _jobs(jobs: Sequence[JobStatus], name: TenantId, now: datetime) -> Told:
    if not all(status.readable for status in jobs):
        return _foreign(name)
    parked = [status for status in jobs if status.failed_at]
    waiting = [status for status in jobs if not status.failed_at and not status.done_at]
    overdue = [status for status in waiting if status.job.not_before < now - OVERDUE]
    if parked:
        told = f"{len(parked)} parked, such as {parked[0].job.kind}: {parked[0].last_error}"
        return Verdict.ILL, told, "See them: recollect jobs"
    if overdue:
        return Verdict.WATCH, f"{len(overdue)} overdue", "Start a worker: recollect worker"
    return Verdict.WELL, f"{len(waiting)} waiting", ""


def _erasures(store: Store, erasures: Erasures, name: TenantId) -> Told:
    """The list beside the store against what is left of erased things in it."""
    listed = erasures.of(store.head(name).chain_id)
    gone = {tombstone.ref for tombstone in store.tombstones(name)}
    events = [EventId(ref[2:]) for ref in sorted(listed - gone) if ref.startswith("e:")]
    items = [ItemId(ref[2:]) for ref in sorted(listed - gone) if ref.startswith("i:")]
    back = len(store.events_by_id(name, events)) + sum(1 for item_id in items if store.item(name, item_id))
    if back:
        help = f"They are erased again as soon as the tenant is opened: recollect show --tenant {name}"
        return Verdict.ILL, f"{back} things that were erased are here again", help
    if unlisted := gone - listed:
        help = "Bring the list of erasures back to its place beside the store, if there is another copy of it."
        return Verdict.WATCH, f"{len(unlisted)} are not on the list: an old backup could bring them back", help
    return Verdict.WELL, f"{len(gone)}, all on the list", ""
