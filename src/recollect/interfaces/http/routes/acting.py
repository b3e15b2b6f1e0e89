"""What all routes share: Memory in the hands of whoever asks, names of memories, and refusals as they are described."""

import json
from typing import Annotated, Any

from fastapi import Depends, Header, Path, Query, Request
from fastapi.responses import JSONResponse

from recollect.domain.ids import ItemId
from recollect.domain.portion import MOST
from recollect.interfaces.http import answers
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
Id = Annotated[
    str,
    Path(description="A memory, by its id or an ending of it that fits no other.", examples=[answers.MEMORY_ID]),
]

Limit = Annotated[int, Query(ge=1, le=MOST, description="At most so many.")]
FURTHEST = 2**62
"""The last entry there could be."""

REFUSALS: dict[int | str, dict[str, Any]] = {
    "4XX": {"description": "Refused: what, and what would help.", "model": answers.Problem},
    "5XX": {"description": "Not possible at the moment.", "model": answers.Problem},
}
_ASKED = {
    "description": "More evidence is called for, and people are asked first. Ask again with `agreed`, or for `more`.",
    "model": answers.MoreContext,
}
ESCALATIONS: dict[int | str, dict[str, Any]] = {
    409: {
        "description": f"{_ASKED['description']} Or there is nothing more in this turn.",
        "model": answers.MoreContext | answers.Problem,
    },
    428: {**_ASKED, "description": "As 409, where the server is set to it."},
}
"""What is answered besides where more evidence may be called for."""


def named(acting: Memory, name: str) -> ItemId:
    """A whole id is taken as it is: what is only readable under a grant is in no list and is found by no ending."""
    return ItemId(name.lower()) if len(name) == _WHOLE_ID and name.isascii() else acting.find(name)
