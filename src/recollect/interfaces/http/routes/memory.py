"""Memory: asking, remembering, and what happened."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from recollect.domain.portion import MOST
from recollect.interfaces import documents, levels
from recollect.interfaces.http import answers
from recollect.interfaces.http.requests import IngestBody, QueryBody, RememberBody
from recollect.interfaces.http.routes.acting import (
    ESCALATIONS,
    FURTHEST,
    REFUSALS,
    Acting,
    Id,
    Json,
    Key,
    Limit,
    named,
)
from recollect.policy.trust import speaker

room = APIRouter(prefix="/memory", tags=["memory"], responses=REFUSALS)


@room.post("/query", response_model=answers.QueryAnswer, response_model_exclude_none=True, responses=ESCALATIONS)
def query(asked: QueryBody, acting: Acting) -> Response:
    """Ask memory. What it knows nothing about is answered with no results.

    For every credential, within its sight; an agent within its allowlist."""
    return Json(documents.answer_document(acting.query(asked.value())))


@room.post("/answer", response_model=answers.AnsweredAnswer, responses=ESCALATIONS)
def answer(asked: QueryBody, acting: Acting) -> Response:
    """Have the configured language model answer out of memory. Where it says that it needs more context, it is asked
    again with more of it (mode A), or people are asked first (mode B).

    For every credential, within its sight; an agent within its allowlist."""
    return Json(levels.answered_document(acting.answer(asked.value())))


@room.post("/remember", response_model=answers.RememberAnswer)
def remember(asked: RememberBody, acting: Acting, key: Key = None) -> Response:
    """Keep a statement: its words as an event of a thread, and a memory that cites them. Durable when it answers.

    For every credential, for the users and projects it reaches; system memories for moderators and admins."""
    kept = acting.remember(
        asked.text,
        category=asked.category,
        importance=asked.importance,
        tags=asked.tags,
        thread_id=asked.thread_id,
        author=asked.author,
        trust=asked.trust,
        ts=asked.at,
        supersedes=asked.superseded(),
        key=key,
        **asked.place(),
    )
    return Json(documents.remembered_document(kept))


@room.post("/ingest", response_model=answers.IngestAnswer)
def ingest(asked: IngestBody, acting: Acting, key: Key = None) -> Response:
    """Keep evidence at the end of a thread, and make memories of what is worth it. Durable when it answers.

    For every credential, for the users and projects it reaches."""
    kept = acting.ingest(
        [message.value(speaker(acting.principal, asked.user_id)) for message in asked.messages],
        thread_id=asked.thread_id,
        artifacts=[artifact.value() for artifact in asked.artifacts],
        key=key,
        **asked.place(),
    )
    return Json(documents.ingested_document(kept))


@room.get("/{id}/evidence", response_model=answers.EvidenceAnswer)
def evidence(
    id: Id,
    acting: Acting,
    witness: Annotated[
        str | None,
        Query(
            max_length=10_000,
            description="e:<event id>, s:<from>-<to> or c:<chunk id>, up to 200, joined by commas. Left out: all.",
        ),
    ] = None,
    after: Annotated[
        str | None, Query(max_length=100, description="Events after this place: the `next` of an earlier page.")
    ] = None,
    limit: Limit = MOST,
) -> Response:
    """The events behind a memory, word for word, each once, a page at a time.

    For whoever may read the memory."""
    item_id = named(acting, id)
    events = acting.evidence(item_id, witness, after=after, limit=limit)
    return Json({"id": item_id, **documents.events_document(events)})


@room.get("/{id}/history", response_model=answers.HistoryAnswer)
def history(
    id: Id,
    acting: Acting,
    after: Annotated[
        int, Query(ge=0, le=FURTHEST, description="Entries after this one: the `next` of an earlier page.")
    ] = 0,
    limit: Limit = MOST,
) -> Response:
    """Everything that happened to a memory, oldest first, with what was there before and after, a page at a time.

    For whoever may read the memory."""
    item_id = named(acting, id)
    told = acting.history(item_id, after=after, limit=limit)
    return Json({"id": item_id, "history": [documents.history_document(one) for one in told], "next": told.next})
