"""Turns: what people say about an answer, which decides what the next one is made of."""

from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.responses import Response

from recollect.interfaces import levels
from recollect.interfaces.http import answers
from recollect.interfaces.http.requests import FeedbackBody
from recollect.interfaces.http.routes.acting import REFUSALS, Acting, Json

room = APIRouter(prefix="/turns", tags=["turns"], responses=REFUSALS)

TurnId = Annotated[str, Path(description="The turn, as it was named in a question.", max_length=200)]


@room.post("/{turn_id}/feedback", response_model=answers.TurnAnswer)
def feedback(turn_id: TurnId, asked: FeedbackBody, acting: Acting) -> Response:
    """Say what came of a turn's answer. After `reroll` or `incorrect`, all that is asked in this turn is answered one
    step closer to the evidence, and never with the same context.

    For the credential whose turn it is; a person may name the agent that was answering."""
    return Json(levels.turn_document(acting.feedback(turn_id, asked.mark, agent=asked.agent)))
