"""The server itself."""

from importlib.metadata import version

from fastapi import APIRouter
from fastapi.responses import Response

from recollect.interfaces.http import answers
from recollect.interfaces.http.routes.acting import REFUSALS, Json

room = APIRouter(tags=["server"], responses=REFUSALS)


@room.get("/health", response_model=answers.Health)
async def is_well() -> Response:
    """Whether the server answers.

    For everybody: no token is needed."""
    return Json({"status": "ok", "version": version("recollect")})
