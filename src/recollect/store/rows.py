"""Rows and values: one pair of functions per table. A row is what either engine returns for the columns named here."""

import functools
import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar, assert_never, cast

from recollect.domain import codec
from recollect.domain import version as versions
from recollect.domain.event import Event, Span, Trust
from recollect.domain.ids import CauseId, EventId, ItemId, JobId, RecordId, Rev, Seq, VersionId
from recollect.domain.item import (
    Active,
    Archived,
    Body,
    Expired,
    Item,
    Lock,
    LockReason,
    SoftDeleted,
    State,
    Visibility,
)
from recollect.domain.job import Job
from recollect.domain.journal import UNREADABLE, Header
from recollect.domain.level import Derivation, Level
from recollect.domain.record import Contradiction, Open, Resolved, Verdict
from recollect.domain.relation import Relation
from recollect.domain.scope import Role
from recollect.domain.version import Version
from recollect.domain.witness import Bullet
from recollect.errors import Unreadable
from recollect.store.tx import Row

_T = TypeVar("_T")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(at: datetime) -> int:
    """A moment as SQLite keeps it: whole microseconds since 1970."""
    return (at - _EPOCH) // timedelta(microseconds=1)


def moment(value: Any) -> Any:
    """A moment as either engine returns it."""
    if value is None:
        return None
    try:
        return _EPOCH + timedelta(microseconds=value) if isinstance(value, int) else value.astimezone(UTC)
    except UNREADABLE as error:
        raise Unreadable("a time in the store") from error


def columns(names: str) -> tuple[str, str]:
    """A list of columns, and the same as placeholders."""
    return names, ", ".join(f":{name.strip()}" for name in names.split(","))


def _of(table: str) -> Callable[[Callable[[Row], _T]], Callable[[Row], _T]]:
    """Reads a row of a table. One that somebody changed past Recollect is told of as such, at every door."""

    def legible(read: Callable[[Row], _T]) -> Callable[[Row], _T]:
        @functools.wraps(read)
        def reading(row: Row) -> _T:
            try:
                return read(row)
            except UNREADABLE as error:
                raise Unreadable(f"a row of {table}") from error

        return reading

    return legible


# -- items ------------------------------------------------------------------------------------------------

ITEM, ITEM_VALUES = columns(
    "id, kind, body, category, visibility, user_id, agent_id, project_id, thread_id, run_id, actor_id, role, "
    "topic_key, importance, tags, trust, private, core, constitutional, state, state_at, state_reason, purge_at, "
    "default_level, active_version_id, pinned_min_level, active_lock_until, active_lock_reason, project_epoch, "
    "origin_at, created_at, updated_at, valid_from, valid_to, supersedes, superseded_by"
)


def item_columns(item: Item, names: Iterable[str] = tuple(Item.__dataclass_fields__)) -> dict[str, object]:
    """The columns of an item, or only those of the fields named."""
    out: dict[str, object] = {}
    for name in names:
        spread = _COLUMNS.get(name)
        if spread:
            out |= spread(item)
        else:
            out[name] = getattr(item, name)
    return out


_COLUMNS: Mapping[str, Callable[[Item], dict[str, object]]] = {
    "body": lambda item: {"kind": item.kind, "body": codec.canonical(codec.encode(item.body))},
    "state": lambda item: _state_columns(item.state),
    "lock": lambda item: {
        "active_lock_until": item.lock.until if item.lock else None,
        "active_lock_reason": item.lock.reason.value if item.lock else None,
    },
    "tags": lambda item: {"tags": codec.canonical(list(item.tags))},
    "default_level": lambda item: {"default_level": int(item.default_level)},
    "pinned_min_level": lambda item: {
        "pinned_min_level": None if item.pinned_min_level is None else int(item.pinned_min_level)
    },
    "visibility": lambda item: {"visibility": item.visibility.value},
    "trust": lambda item: {"trust": item.trust.value},
}
"""Fields that are not a column of the same name and type."""


def _state_columns(state: State) -> dict[str, object]:
    match state:
        case Active():
            return {"state": "active", "state_at": None, "state_reason": None, "purge_at": None}
        case Archived(at, reason):
            return {"state": "archived", "state_at": at, "state_reason": reason, "purge_at": None}
        case Expired(at, reason):
            return {"state": "expired", "state_at": at, "state_reason": reason, "purge_at": None}
        case SoftDeleted(at, purge_at, reason):
            return {"state": "soft_deleted", "state_at": at, "state_reason": reason, "purge_at": purge_at}
        case _:
            assert_never(state)


def _state(name: str, at: Any, reason: str | None, purge_at: Any) -> State:
    match name:
        case "active":
            return Active()
        case "archived":
            return Archived(moment(at), reason or "")
        case "expired":
            return Expired(moment(at), reason or "")
        case "soft_deleted":
            return SoftDeleted(moment(at), moment(purge_at), reason or "")
        case _:
            raise AssertionError(f"unknown state {name!r}")


@_of("items")
def read_item(row: Row) -> Item:
    (
        id, _, body, category, visibility, user_id, agent_id, project_id, thread_id, run_id, actor_id, role,
        topic_key, importance, tags, trust, private, core, constitutional, state, state_at, state_reason, purge_at,
        default_level, active_version_id, pinned_min_level, lock_until, lock_reason, project_epoch,
        origin_at, created_at, updated_at, valid_from, valid_to, supersedes, superseded_by,
    ) = row  # fmt: skip
    return Item(
        id=ItemId(id),
        body=codec.decode(Body, json.loads(body)),  # type: ignore[arg-type]
        category=category,
        visibility=Visibility(visibility),
        user_id=user_id,
        agent_id=agent_id,
        project_id=project_id,
        thread_id=thread_id,
        run_id=run_id,
        actor_id=actor_id,
        role=role,
        topic_key=topic_key,
        importance=importance,
        tags=tuple(json.loads(tags)),
        trust=Trust(trust),
        private=bool(private),
        core=bool(core),
        constitutional=bool(constitutional),
        state=_state(state, state_at, state_reason, purge_at),
        default_level=Level(default_level),
        active_version_id=active_version_id,
        pinned_min_level=None if pinned_min_level is None else Level(pinned_min_level),
        lock=None if lock_until is None else Lock(moment(lock_until), LockReason(lock_reason)),
        project_epoch=project_epoch,
        origin_at=moment(origin_at),
        created_at=moment(created_at),
        updated_at=moment(updated_at),
        valid_from=moment(valid_from),
        valid_to=moment(valid_to),
        supersedes=supersedes,
        superseded_by=superseded_by,
    )


# -- events -----------------------------------------------------------------------------------------------

EVENT, EVENT_VALUES = columns("id, item_id, seq, ts, author, role, text, trust, chunks, meta")


def event_columns(event: Event) -> dict[str, object]:
    return {
        "id": event.id,
        "item_id": event.item_id,
        "seq": event.seq,
        "ts": event.ts,
        "author": event.author,
        "role": event.role,
        "text": event.text,
        "trust": event.trust.value,
        "chunks": codec.canonical([[span.start, span.end] for span in event.chunks]),
        "meta": codec.canonical(event.meta),
    }


def names(thing: Event | Item) -> str:
    """What an event or a memory is called by, as the text index takes it."""
    return " ".join(thing.names)


@_of("events")
def read_event(row: Row) -> Event:
    id, item_id, seq, ts, author, role, text, trust, chunks, meta = row
    return Event(
        id=EventId(id),
        item_id=ItemId(item_id),
        seq=seq,
        ts=moment(ts),
        author=author,
        role=role,
        text=text,
        trust=Trust(trust),
        chunks=tuple(Span(start, end) for start, end in json.loads(chunks)),
        meta=json.loads(meta),
    )


# -- versions ---------------------------------------------------------------------------------------------

VERSION, VERSION_VALUES = columns(
    "id, item_id, level, content, bullets, derived_from, derivation, created_at, quality_score"
)


def version_columns(version: Version) -> dict[str, object]:
    return {
        "id": version.id,
        "item_id": version.item_id,
        "level": int(version.level),
        "content": version.content,
        "bullets": codec.canonical([codec.encode(bullet) for bullet in version.bullets]),
        "derived_from": version.derived_from,
        "derivation": version.derivation.value if version.derivation else None,
        "created_at": version.created_at,
        "quality_score": version.quality_score,
    }


@_of("versions")
def read_version(row: Row) -> Version:
    id, item_id, level, content, bullets, derived_from, derivation, created_at, quality_score = row
    return Version(
        id=VersionId(id),
        item_id=ItemId(item_id),
        level=Level(level),
        content=content,
        bullets=_read_bullets(bullets),
        derived_from=derived_from,
        derivation=Derivation(derivation) if derivation else None,
        created_at=moment(created_at),
        quality_score=quality_score,
    )


def said_in(bullets: str) -> EventId | None:
    """The event that a memory was said in, by the bullets of the version that speaks for it."""
    return versions.said_in(_read_bullets(bullets))


def _read_bullets(bullets: str) -> tuple[Bullet, ...]:
    return tuple(codec.decode(Bullet, bullet) for bullet in json.loads(bullets))


# -- relations and contradictions -------------------------------------------------------------------------

RELATION, RELATION_VALUES = columns("id, from_id, to_id, relation_type, strength, created_at")


def relation_columns(relation: Relation) -> dict[str, object]:
    return {name: getattr(relation, name) for name in Relation.__dataclass_fields__}


@_of("relations")
def read_relation(row: Row) -> Relation:
    id, from_id, to_id, relation_type, strength, created_at = row
    return Relation(
        id=RecordId(id),
        from_id=ItemId(from_id),
        to_id=ItemId(to_id),
        relation_type=relation_type,
        strength=strength,
        created_at=moment(created_at),
    )


CONTRADICTION, CONTRADICTION_VALUES = columns(
    "id, memory_a, memory_b, detected_at, resolved_at, resolution, resolution_note, why, confidence"
)


def contradiction_columns(record: Contradiction) -> dict[str, object]:
    resolved = isinstance(record, Resolved)
    return {
        "id": record.id,
        "memory_a": record.memory_a,
        "memory_b": record.memory_b,
        "detected_at": record.detected_at,
        "resolved_at": record.resolved_at if resolved else None,
        "resolution": record.resolution.value if resolved else None,
        "resolution_note": record.resolution_note if resolved else None,
        "why": record.why,
        "confidence": record.confidence,
    }


@_of("contradictions")
def read_contradiction(row: Row) -> Contradiction:
    id, memory_a, memory_b, detected_at, resolved_at, resolution, note, why, confidence = row
    if resolution is None:
        return Open(
            id=RecordId(id),
            memory_a=ItemId(memory_a),
            memory_b=ItemId(memory_b),
            detected_at=moment(detected_at),
            why=why or "",
            confidence=1.0 if confidence is None else confidence,
        )
    return Resolved(
        id=RecordId(id),
        memory_a=ItemId(memory_a),
        memory_b=ItemId(memory_b),
        detected_at=moment(detected_at),
        resolved_at=moment(resolved_at),
        resolution=Verdict(resolution),
        resolution_note=note or "",
        why=why or "",
        confidence=1.0 if confidence is None else confidence,
    )


# -- the journal ------------------------------------------------------------------------------------------

HEADER, HEADER_VALUES = columns(
    "seq, rev, at, op, item_id, user_id, project_id, agent_id, thread_id, thread_rev, "
    "actor, actor_role, actor_agent, cause, undoes, body_hash, prev_hash"
)


def header_columns(header: Header) -> dict[str, object]:
    out: dict[str, object] = {name: getattr(header, name) for name in Header.__dataclass_fields__}
    out["actor_role"] = header.actor_role.value
    return out


@_of("journal")
def read_header(row: Row) -> Header:
    (
        seq, rev, at, op, item_id, user_id, project_id, agent_id, thread_id, thread_rev,
        actor, actor_role, actor_agent, cause, undoes, body_hash, prev_hash,
    ) = row  # fmt: skip
    if not all(type(number) is int for number in (seq, rev, *(() if undoes is None else (undoes,)))):
        raise ValueError("not a whole number")
    return Header(
        seq=Seq(seq),
        rev=Rev(rev),
        at=moment(at),
        op=op,
        item_id=item_id,
        user_id=user_id,
        project_id=project_id,
        agent_id=agent_id,
        thread_id=thread_id,
        thread_rev=thread_rev,
        actor=actor,
        actor_role=Role(actor_role),
        actor_agent=actor_agent,
        cause=None if cause is None else CauseId(cause),
        undoes=undoes,
        body_hash=body_hash,
        prev_hash=prev_hash,
    )


# -- jobs -------------------------------------------------------------------------------------------------

JOB, JOB_VALUES = columns("id, kind, key, payload, not_before, every_s")


def job_columns(job: Job) -> dict[str, object]:
    return {
        "id": job.id,
        "kind": job.kind,
        "key": job.key,
        "payload": codec.canonical(job.payload),
        "not_before": job.not_before,
        "every_s": job.every.total_seconds() if job.every else None,
    }


def read_object(text: str) -> Mapping[str, object]:
    """Of a job; ValueError where it is none."""
    try:
        loaded: object = json.loads(text)
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    if not isinstance(loaded, dict):
        raise ValueError("not an object")
    return cast(Mapping[str, object], loaded)


@_of("jobs")
def read_job(row: Row) -> Job:
    """Raises ValueError where its payload cannot be read: jobs are in no chain, and anybody may have had the file."""
    id, kind, key, payload, not_before, every_s = row
    return Job(
        id=JobId(id),
        kind=kind,
        key=key,
        payload=read_object(payload),
        not_before=moment(not_before),
        every=None if every_s is None else timedelta(seconds=every_s),
    )
