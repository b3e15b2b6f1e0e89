"""The routes. Each parses, calls one method of Memory and shapes the answer."""

import json
from importlib.metadata import version
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Query, Request
from fastapi.responses import JSONResponse, Response

from recollect.domain.ids import ItemId
from recollect.interfaces import documents
from recollect.interfaces.http import answers
from recollect.interfaces.http.requests import IngestBody, QueryBody, RememberBody
from recollect.memory import Memory

_WHOLE_ID = 36


class Json(JSONResponse):
    """JSON that any reader takes: a character that UTF-8 cannot hold is escaped."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode(errors="backslashreplace")


async def _acting(request: Request) -> Memory:
    """Memory in the hands of whoever the token stands for."""
    return request.app.state.acting(request.state.principal)


Acting = Annotated[Memory, Depends(_acting)]
Key = Annotated[
    str | None,
    Header(alias="Idempotency-Key", description="A repeat with the same key answers the same and writes nothing."),
]
Id = Annotated[str, Path(description="A memory, by its id or an ending of it that fits no other.")]
_REFUSALS: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "Refused: what, and what would help.", "model": answers.Problem},
    "5XX": {"description": "Not possible at the moment.", "model": answers.Problem},
}

memory = APIRouter(prefix="/memory", tags=["memory"], responses=_REFUSALS)
health = APIRouter(tags=["server"])


@health.get("/health", response_model=answers.Health)
async def is_well() -> Response:
    """Whether the server answers. No token is needed."""
    return Json({"status": "ok", "version": version("recollect")})


@memory.post("/query", response_model=answers.QueryAnswer, response_model_exclude_none=True)
def query(asked: QueryBody, acting: Acting) -> Response:
    """Ask memory. What it knows nothing about is answered with no results."""
    return Json(documents.answer_document(acting.query(asked.value())))


@memory.post("/remember", response_model=answers.RememberAnswer)
def remember(asked: RememberBody, acting: Acting, key: Key = None) -> Response:
    """Keep a statement: its words as an event of a thread, and a memory that cites them. Durable when it answers."""
    kept = acting.remember(
        asked.text,
        category=asked.category,
        importance=asked.importance,
        tags=asked.tags,
        thread_id=asked.thread_id,
        author=asked.author,
        trust=asked.trust,
        ts=asked.at,
        key=key,
        **asked.place(),
    )
    return Json(documents.remembered_document(kept))


@memory.post("/ingest", response_model=answers.IngestAnswer)
def ingest(asked: IngestBody, acting: Acting, key: Key = None) -> Response:
    """Keep evidence at the end of a thread, and make memories of what is worth it. Durable when it answers."""
    kept = acting.ingest(
        [message.value(acting.principal.id) for message in asked.messages],
        thread_id=asked.thread_id,
        artifacts=[artifact.value() for artifact in asked.artifacts],
        key=key,
        **asked.place(),
    )
    return Json(documents.ingested_document(kept))


@memory.get("/{id}", response_model=answers.ShowAnswer)
def show(id: Id, acting: Acting) -> Response:
    """A memory with its receipt: its versions, the witnesses of every sentence, and the events they point at."""
    return Json(documents.shown_document(acting.show(_named(acting, id))))


@memory.get("/{id}/evidence", response_model=answers.EvidenceAnswer)
def evidence(
    id: Id,
    acting: Acting,
    witness: Annotated[
        str | None,
        Query(description="e:<event id>, s:<from>-<to> or c:<chunk id>, joined by commas. Left out: all of it."),
    ] = None,
) -> Response:
    """The events behind a memory, word for word."""
    item_id = _named(acting, id)
    events = acting.evidence(item_id, witness)
    return Json({"id": item_id, "events": [documents.event_document(event) for event in events]})


@memory.get("/{id}/history", response_model=answers.HistoryAnswer)
def history(id: Id, acting: Acting) -> Response:
    """Everything that happened to a memory, oldest first, with what was there before and after."""
    item_id = _named(acting, id)
    return Json({"id": item_id, "history": [documents.history_document(one) for one in acting.history(item_id)]})


def _named(acting: Memory, name: str) -> ItemId:
    """A whole id is taken as it is: what is only readable under a grant is in no list and is found by no ending."""
    return ItemId(name.lower()) if len(name) == _WHOLE_ID and name.isascii() else acting.find(name)
