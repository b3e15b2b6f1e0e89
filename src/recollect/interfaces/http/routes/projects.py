"""Projects: how far each has come."""

from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.responses import Response

from recollect.interfaces import levels
from recollect.interfaces.http import answers
from recollect.interfaces.http.requests import ReasonBody
from recollect.interfaces.http.routes.acting import REFUSALS, Acting, Json

room = APIRouter(prefix="/projects", tags=["projects"], responses=REFUSALS)

ProjectId = Annotated[str, Path(description="The project, as memories name it.", max_length=200)]


@room.get("/{project_id}/epoch", response_model=answers.EpochAnswer)
def epoch(project_id: ProjectId, acting: Acting) -> Response:
    """The project's epoch: how often it has moved on. 0 where it never has.

    For whoever reaches the project."""
    return Json(levels.epoch_document(project_id, acting.epoch(project_id)))


@room.post("/{project_id}/epoch", response_model=answers.EpochAnswer)
def advance(project_id: ProjectId, acting: Acting, asked: ReasonBody | None = None) -> Response:
    """The project has moved on. Of its memories, those that nobody asked for in 30 days are archived; nothing is lost.

    For moderators and admins."""
    reason = asked.reason if asked else ""
    return Json(levels.epoch_document(project_id, acting.advance_epoch(project_id, reason)))
