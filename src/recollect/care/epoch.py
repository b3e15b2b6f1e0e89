"""Epochs: how far a project has come. It moves on by command, or with the project's git repository."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from recollect.domain.change import Note
from recollect.domain.ids import JobId, TenantId
from recollect.domain.item import ANY_STATE
from recollect.domain.job import Job
from recollect.domain.query import Filters, Page
from recollect.domain.record import Epoch
from recollect.domain.scope import EVERYBODY
from recollect.errors import Invalid
from recollect.policy.lifecycle import epoch_id
from recollect.ports import Store
from recollect.repository import look


def current(store: Store, tenant: TenantId, project_id: str) -> Epoch | None:
    """How far a project has come; None where nobody has said anything about it."""
    found = store.record(tenant, "epoch", epoch_id(project_id))
    return found if isinstance(found, Epoch) else None


def advance(store: Store, tenant: TenantId, project_id: str, reason: str, now: datetime, mark: str = "") -> Note:
    """The project moves on by one. With a `mark`, its repository was followed up to there."""
    before = current(store, tenant, project_id)
    return Note(
        before,
        Epoch(
            id=epoch_id(project_id),
            project_id=project_id,
            number=before.number + 1 if before else 1,
            advanced_at=now,
            reason=reason,
            mark=mark or (before.mark if before else ""),
        ),
    )


def moved_on(job_id: JobId, note: Note, now: datetime) -> Job | None:
    """What follows when a project has moved on: what of it nobody used for long is archived, without waiting for the
    night. None where the note only marks a place."""
    before, after = note.before, note.after
    if not isinstance(after, Epoch) or (isinstance(before, Epoch) and before.number == after.number):
        return None
    return Job(id=job_id, kind="moved_on", key=after.project_id, not_before=now) if after.number else None


def follow(store: Store, tenant: TenantId, project_id: str, repository: str | Path, now: datetime) -> Note | None:
    """The project moves on with its repository: a new tag, or a merge into the main branch. The first look only marks
    the place; None where nothing has happened since."""
    before = current(store, tenant, project_id)
    seen = look(Path(repository), before.mark if before else "")
    if seen.reason:
        return advance(store, tenant, project_id, seen.reason, now, seen.mark)
    if before is None:
        return Note(
            None, Epoch(id=epoch_id(project_id), project_id=project_id, number=0, advanced_at=now, mark=seen.mark)
        )
    return Note(before, replace(before, mark=seen.mark)) if seen.mark != before.mark else None


def follow_all(
    store: Store, tenant: TenantId, repositories: Mapping[str, str], now: datetime
) -> Iterator[tuple[str, Note | Invalid]]:
    """Project by project, what its repository says; the reason where that cannot be read. Projects that the tenant
    remembers nothing of are left out, and so are those where nothing has happened."""
    for project_id, path in sorted(repositories.items()):
        if not _known(store, tenant, project_id):
            continue
        try:
            note = follow(store, tenant, project_id, path, now)
        except Invalid as invalid:
            yield project_id, invalid
            continue
        if note is not None:
            yield project_id, note


def _known(store: Store, tenant: TenantId, project_id: str) -> bool:
    filters = Filters(project_id=project_id, states=ANY_STATE)
    return bool(store.items(tenant, filters, EVERYBODY, Page(1))) or current(store, tenant, project_id) is not None
