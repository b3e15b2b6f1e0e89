"""Client: memory over HTTP. The methods of Memory, answered by a server."""

import http.client
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, cast
from urllib.parse import quote, urlencode, urlsplit

from recollect import errors
from recollect.domain.codec import moment, when
from recollect.domain.event import Event, Trust
from recollect.domain.ids import EventId, ItemId, RecordId, Rev, VersionId
from recollect.domain.item import Artifact, LockReason, Visibility
from recollect.domain.job import Pending
from recollect.domain.level import Level
from recollect.domain.portion import MOST, Portion
from recollect.domain.query import Answer, Filters, Query, Result
from recollect.domain.record import Epoch
from recollect.domain.turn import Mark, Reason, Task
from recollect.errors import Invalid, NotFound, RecollectError, StoreUnreachable
from recollect.write.message import Ingested, Message, Remembered

_PROBLEM = "urn:recollect:"
_ONE_WORD = {"categories": "category", "kinds": "kind", "states": "state"}


class Client:
    """Memory behind a server, for one credential. It keeps no connection open and may be used by several threads."""

    def __init__(self, address: str, token: str, *, timeout: float = 30.0) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise Invalid(f"{address!r} is not the address of a server", "Give one like http://127.0.0.1:7077")
        self._kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._place, self._base, self._timeout = parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), timeout
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self.address = address

    # -- remembering --------------------------------------------------------------------------------------

    def remember(
        self,
        text: str,
        *,
        category: str = "knowledge",
        importance: int = 3,
        tags: Sequence[str] = (),
        visibility: Visibility | None = None,
        user_id: str | None = None,
        project_id: str | None = None,
        thread_id: str | None = None,
        run_id: str | None = None,
        author: str | None = None,
        trust: Trust = Trust.TRUSTED,
        ts: datetime | None = None,
        topic_key: str | None = None,
        supersedes: ItemId | None = None,
        key: str | None = None,
    ) -> Remembered:
        """Keep a statement. Durable when it returns; with a `key`, a repeat answers the same and writes nothing."""
        body: dict[str, Any] = {
            "text": text,
            "category": category,
            "importance": importance,
            "tags": list(tags),
            "author": author,
            "trust": trust.value,
            "at": None if ts is None else when(ts),
            "supersedes": supersedes,
            **_place(visibility, user_id, project_id, run_id, topic_key),
        }
        if thread_id is not None:
            body["thread_id"] = thread_id
        told = self._post("/api/memory/remember", body, key)
        return Remembered(
            item_id=ItemId(told["id"]),
            event_id=EventId(told["event_id"]),
            rev=Rev(told["rev"]),
            outcome=told["outcome"],
            redacted=tuple(told["redacted"]),
        )

    def ingest(
        self,
        messages: Sequence[Message],
        *,
        thread_id: str,
        artifacts: Sequence[Artifact] = (),
        visibility: Visibility | None = None,
        user_id: str | None = None,
        project_id: str | None = None,
        run_id: str | None = None,
        topic_key: str | None = None,
        key: str | None = None,
    ) -> Ingested:
        """Keep messages at the end of a thread, and have memories made of them."""
        body = {
            "thread_id": thread_id,
            "messages": [_message(message) for message in messages],
            "artifacts": [{"type": one.type.value, "ref": one.ref} for one in artifacts],
            **_place(visibility, user_id, project_id, run_id, topic_key),
        }
        told = self._post("/api/memory/ingest", body, key)
        return Ingested(
            episode_id=ItemId(told["episode_id"]),
            event_ids=tuple(EventId(id) for id in told["event_ids"]),
            repeats=told["repeats"],
            redacted=tuple(told["redacted"]),
            items=tuple(ItemId(id) for id in told["items"]),
            later=told["later"],
            rev=Rev(told["rev"]),
        )

    # -- reading ------------------------------------------------------------------------------------------

    def query(self, query: Query) -> Answer:
        """What memory knows about it; no results where it knows nothing."""
        told = self._post("/api/memory/query", _question(query))
        return Answer(
            header=tuple(told["header"]),
            results=tuple(_result(one) for one in told["results"]),
            explain=tuple(told.get("explain") or ()),
            tokens=told["tokens"],
            rev=Rev(told["rev"]),
            used_level=Level[told["usedLevel"]],
            escalated=told["escalated"],
            reason=Reason(told["reason"]) if "reason" in told else None,
            more=told["more"],
            turn_id=told["turn_id"],
        )

    def answer(self, query: Query) -> Mapping[str, Any]:
        """What the server's own language model answers out of memory, as POST /api/memory/answer tells it."""
        return self._post("/api/memory/answer", _question(query))

    def feedback(self, turn_id: str, mark: Mark, *, agent: str | None = None) -> Mapping[str, Any]:
        """Say what came of a turn's answer. How the turn stands, as POST /api/turns/{turn_id}/feedback answers it."""
        return self._post(f"/api/turns/{quote(turn_id, safe='')}/feedback", {"mark": mark.value, "agent": agent})

    # -- one memory ---------------------------------------------------------------------------------------

    def serve(
        self, item_id: ItemId | str, *, more: bool = False, turn_id: str | None = None, task: Task = Task.ROUTINE
    ) -> Mapping[str, Any]:
        """A memory at the length that helps, or a step closer to the evidence, as GET /api/memory/{id} answers it. An
        ending of the id will do."""
        return self._get(_with(_memory(item_id), level="more" if more else "auto", task=task.value, turn_id=turn_id))

    def show(self, item_id: ItemId | str) -> Mapping[str, Any]:
        """A memory as it is served by default."""
        return self._get(_memory(item_id))

    def evidence(
        self, item_id: ItemId, witness: str | None = None, *, after: str | None = None, limit: int = MOST
    ) -> Portion[Event, str]:
        """The events behind a memory, or those that the witnesses name. `after`: the `next` of an earlier answer."""
        told = self._get(_with(f"{_memory(item_id)}/evidence", witness=witness, after=after, limit=limit))
        return Portion(tuple(_event(one) for one in told["events"]), told["next"])

    def history(self, item_id: ItemId | str, *, after: int = 0, limit: int = MOST) -> Portion[Mapping[str, Any], int]:
        """Everything that happened to a memory, oldest first. `after`: the `next` of an earlier answer."""
        told = self._get(_with(f"{_memory(item_id)}/history", after=after, limit=limit))
        return Portion(tuple(told["history"]), told["next"])

    def find(self, name: str) -> ItemId:
        """The memory whose id is, or ends with, this; where there is none, the event."""
        try:
            return ItemId(self._get(f"{_memory(name)}/versions")["id"])
        except NotFound:
            return ItemId(self._get(_memory(name))["id"])

    def versions(
        self, item_id: ItemId | str, *, before: str | None = None, limit: int = MOST
    ) -> Portion[Mapping[str, Any], str]:
        """How a memory was shortened: its versions, newest first, without their words. `before`: the `next` of an
        earlier answer."""
        told = self._get(_with(f"{_memory(item_id)}/versions", before=before, limit=limit))
        return Portion(tuple(told["versions"]), told["next"])

    def version(self, item_id: ItemId | str, version_id: VersionId | str) -> Mapping[str, Any]:
        """One version with its words, as GET /api/memory/{id}/versions/{versionId} answers it."""
        return self._get(f"{_memory(item_id)}/versions/{quote(version_id, safe='')}")

    # -- looking after memories ---------------------------------------------------------------------------

    def promote(
        self,
        item_id: ItemId | str,
        version_id: VersionId | str,
        *,
        reason: LockReason = LockReason.MANUAL_PROMOTE,
        minutes: int | None = None,
    ) -> Rev:
        """Have a version stand for its memory, and lock it."""
        path = f"{_memory(item_id)}/active/{quote(version_id, safe='')}"
        return Rev(self._put(path, {"reason": reason.value, "minutes": minutes})["rev"])

    def pin(self, item_id: ItemId | str) -> Rev:
        """Never serve it shorter than its summary."""
        return Rev(self._post(f"{_memory(item_id)}/pin")["rev"])

    def unpin(self, item_id: ItemId | str) -> Rev:
        return Rev(self._post(f"{_memory(item_id)}/unpin")["rev"])

    def archive(self, item_id: ItemId | str, reason: str = "") -> Rev:
        """Out of default retrieval; still searchable."""
        return Rev(self._post(f"{_memory(item_id)}/archive", {"reason": reason})["rev"])

    def restore(self, item_id: ItemId | str) -> Rev:
        """Bring back what was archived, expired or deleted."""
        return Rev(self._post(f"{_memory(item_id)}/restore")["rev"])

    def compress(
        self, *, item_id: ItemId | str | None = None, topic: str | None = None, dry_run: bool = False
    ) -> Mapping[str, Any]:
        """Compress a memory, a topic, or all that is due, as POST /api/memory/compress answers it."""
        return self._post("/api/memory/compress", {"memory_id": item_id, "topic_key": topic, "dry_run": dry_run})

    def close_episode(self, item_id: ItemId | str) -> Mapping[str, Any]:
        """Close an episode now, as POST /api/memory/{id}/close answers it."""
        return self._post(f"{_memory(item_id)}/close")

    def epoch(self, project_id: str) -> Epoch | None:
        """How far a project has come; None where it never moved on."""
        return _epoch(self._get(f"/api/projects/{quote(project_id, safe='')}/epoch"))

    def advance_epoch(self, project_id: str, reason: str = "") -> Epoch:
        """The project has moved on."""
        advanced = _epoch(self._post(f"/api/projects/{quote(project_id, safe='')}/epoch", {"reason": reason}))
        assert advanced is not None, "an epoch that was advanced is there"
        return advanced

    def pending(self) -> Pending:
        """What is still to be made of messages by the server's jobs."""
        told = self._get("/api/pending")
        return Pending(**{field.name: told[field.name] for field in fields(Pending)})

    def health(self) -> Mapping[str, Any]:
        """What the server says of itself."""
        return self._get("/api/health")

    # -- the wire -----------------------------------------------------------------------------------------

    def _get(self, path: str) -> Any:
        return self._ask("GET", path, None, self._headers)

    def _put(self, path: str, body: Mapping[str, Any]) -> Any:
        headers = {**self._headers, "Content-Type": "application/json"}
        return self._ask("PUT", path, json.dumps(body).encode(), headers)

    def _post(self, path: str, body: Mapping[str, Any] | None = None, key: str | None = None) -> Any:
        if body is None:
            return self._ask("POST", path, b"", self._headers)
        headers = {**self._headers, "Content-Type": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        return self._ask("POST", path, json.dumps(body).encode(), headers)

    def _ask(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Any:
        connection = self._kind(self._place, timeout=self._timeout)
        try:
            connection.request(method, self._base + path, body, dict(headers))
            answer = connection.getresponse()
            status, text = answer.status, answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise StoreUnreachable(
                f"the server at {self.address} does not answer: {error}", "Start it with: recollect serve"
            ) from error
        except ValueError as error:  # a key or an id that no header or path can hold
            raise Invalid(f"this cannot be asked over HTTP: {error}") from error
        finally:
            connection.close()
        try:
            told = json.loads(text)
        except ValueError:
            raise StoreUnreachable(f"what answers at {self.address} is not a Recollect server") from None
        if status >= 400:
            raise _refusal(status, told)
        return told


def _refusal(status: int, told: Any) -> RecollectError:
    """The error that the server told of, as the class it had there."""
    problem = cast(Mapping[str, Any], told if isinstance(told, dict) else {})
    what = str(problem.get("detail") or f"the server refused with status {status}")
    help = str(problem.get("help") or "")
    name = str(problem.get("type", "")).removeprefix(_PROBLEM).replace("-", " ").title().replace(" ", "")
    kind = getattr(errors, name, None)
    match kind:
        case errors.Stale:
            return errors.Stale(what, [])
        case errors.BuiltOn:
            return errors.BuiltOn(what, help, [])
        case errors.NeedMoreContext:
            return errors.NeedMoreContext(
                what,
                help,
                level=str(problem.get("recommendedNextLevel")),
                witnesses=bool(problem.get("witnessesAvailable")),
                reason=str(problem.get("reason")),
            )
        case type() if issubclass(kind, RecollectError):
            return kind(what, help)
        case _ if status in (401, 403, 421):
            return errors.Forbidden(what, help)
        case _ if status < 500:
            return Invalid(what, help)
        case _:
            return RecollectError(what, help)


def _memory(item_id: str) -> str:
    return f"/api/memory/{quote(item_id, safe='')}"


def _with(path: str, **asked: str | int | None) -> str:
    """A path with what is asked of it; what is None is left out."""
    return f"{path}?{urlencode({name: value for name, value in asked.items() if value is not None})}"


def _question(query: Query) -> dict[str, Any]:
    return {
        "query": query.text,
        "agent": query.agent,
        "categories": None if query.categories is None else sorted(query.categories),
        "filters": _filters(query.filters),
        "top_k": query.top_k,
        "return": query.form.value,
        "budget_tokens": query.budget_tokens,
        "threshold": query.threshold,
        "explain": query.explain,
        "source": query.source.value,
        "thread_id": query.thread_id,
        "turn_id": query.turn_id,
        "task": query.task.value,
        "said": query.said,
        "mode": None if query.mode is None else query.mode.value,
        "agreed": query.agreed,
    }


def _place(
    visibility: Visibility | None,
    user_id: str | None,
    project_id: str | None,
    run_id: str | None,
    topic_key: str | None,
) -> dict[str, Any]:
    return {
        "visibility": None if visibility is None else visibility.value,
        "user_id": user_id,
        "project_id": project_id,
        "run_id": run_id,
        "topic_key": topic_key,
    }


def _message(message: Message) -> dict[str, Any]:
    return {
        "text": message.text,
        "author": message.author,
        "role": message.role,
        "at": None if message.ts is None else when(message.ts),
        "trust": message.trust.value,
        "meta": dict(message.meta),
    }


def _filters(filters: Filters) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for field in fields(filters):
        value = getattr(filters, field.name)
        if isinstance(value, datetime):
            value = when(value)
        elif isinstance(value, frozenset):
            value = sorted(cast(frozenset[str], value))
        if value is not None:
            told[_ONE_WORD.get(field.name, field.name)] = value
    return told


def _result(told: Mapping[str, Any]) -> Result:
    return Result(
        id=told["id"],
        category=told["category"],
        text=told["text"],
        score=told["score"],
        related_to=told.get("related_to"),
        meta=told.get("meta") or {},
        level=Level[told["level"]],
    )


def _epoch(told: Mapping[str, Any]) -> Epoch | None:
    if told["advanced_at"] is None:
        return None
    return Epoch(
        id=RecordId(f"epoch:{told['project_id']}"),
        project_id=told["project_id"],
        number=told["number"],
        advanced_at=moment(told["advanced_at"]),
        reason=told["reason"],
    )


def _event(told: Mapping[str, Any]) -> Event:
    return Event(
        id=EventId(told["id"]),
        item_id=ItemId(told["thread"]),
        seq=told["seq"],
        ts=moment(told["at"]),
        author=told["author"],
        role=told["role"],
        text=told["text"],
        trust=Trust(told["trust"]),
        meta=told["meta"],
    )
