"""Audit: the journal as a whole, without what it says."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from recollect.interfaces import documents
from recollect.interfaces.http import answers
from recollect.interfaces.http.routes.acting import REFUSALS, Acting, Json

room = APIRouter(prefix="/audit", tags=["audit"], responses=REFUSALS)

_FURTHEST = 2**62


@room.get("", response_model=answers.AuditAnswer)
def audit(
    acting: Acting,
    limit: Annotated[int, Query(ge=1, le=1000, description="At most so many entries.")] = 100,
    before: Annotated[
        int | None, Query(ge=1, le=_FURTHEST, description="Entries before this one: the `next` of an earlier page.")
    ] = None,
) -> Response:
    """The latest entries of the journal, newest first, without what they say.

    For moderators and admins."""
    entries = acting.journal(limit=limit, before=before)
    first = entries[-1].header.seq if entries else 1
    told = [documents.entry_document(entry, blind=True) for entry in entries]
    return Json({"entries": told, "next": first if first > 1 else None})


@room.get("/verify", response_model=answers.VerifyAnswer)
def verify(
    acting: Acting,
    deep: Annotated[bool, Query(description="Also compare what memory holds with what the journal tells of.")] = False,
) -> Response:
    """Whether the journal is whole: nothing changed, nothing missing.

    For moderators and admins."""
    return Json(documents.verified_document(acting.verify(deep=deep)))
