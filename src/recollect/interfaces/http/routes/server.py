"""The server itself."""

from importlib.metadata import version

from fastapi import APIRouter
from fastapi.responses import Response

from recollect.interfaces import documents
from recollect.interfaces.http import answers
from recollect.interfaces.http.routes.acting import REFUSALS, Acting, Json

room = APIRouter(tags=["server"], responses=REFUSALS)
_VERSION = version("recollect")
"""Looked up once: whoever reads a file gives way to all other threads."""


@room.get("/health", response_model=answers.Health)
async def is_well() -> Response:
    """Whether the server answers.

    For everybody: no token is needed."""
    return Json({"status": "ok", "version": _VERSION})


@room.get("/pending", response_model=answers.PendingAnswer)
def pending(acting: Acting) -> Response:
    """How many of the messages that were taken in are still to be read for memories.

    For everybody: of the whole tenant for moderators and admins without bounds, else of one's own
    threads."""
    return Json(documents.pending_document(acting.pending()))
