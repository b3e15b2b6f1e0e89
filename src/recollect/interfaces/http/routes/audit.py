"""Audit: the journal as a whole, without what it says."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from recollect.interfaces import documents
from recollect.interfaces.http import answers
from recollect.interfaces.http.routes.acting import FURTHEST, REFUSALS, Acting, Json, Limit

room = APIRouter(prefix="/audit", tags=["audit"], responses=REFUSALS)


@room.get("", response_model=answers.AuditAnswer)
def audit(
    acting: Acting,
    limit: Limit = 100,
    before: Annotated[
        int | None, Query(ge=1, le=FURTHEST, description="Entries before this one: the `next` of an earlier page.")
    ] = None,
) -> Response:
    """The latest entries of the journal, newest first, without what they say.

    For moderators and admins whose credential has no bounds."""
    entries = acting.journal(limit=limit, before=before)
    told = [documents.entry_document(entry, blind=True) for entry in entries]
    return Json({"entries": told, "next": entries.next})


@room.get("/verify", response_model=answers.VerifyAnswer)
def verify(
    acting: Acting,
    deep: Annotated[bool, Query(description="Also compare what memory holds with what the journal tells of.")] = False,
) -> Response:
    """Whether the journal is whole: nothing changed, nothing missing.

    For moderators and admins whose credential has no bounds."""
    return Json(documents.verified_document(acting.verify(deep=deep)))
