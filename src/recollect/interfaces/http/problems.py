"""Refusals as problem details (RFC 9457): what is wrong, and what would help."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from recollect import errors
from recollect.domain.turn import NEED_MORE_CONTEXT
from recollect.interfaces import refusals

PREFIX = "urn:recollect:"

# The nearest class in this table decides.
STATUS: Mapping[type[errors.RecollectError], int] = {
    errors.Invalid: 422,
    errors.NotFound: 404,
    errors.Gone: 410,
    errors.Refused: 409,
    errors.Forbidden: 403,
    errors.Stale: 409,
    errors.Repeated: 409,
    errors.LeaseLost: 409,
    errors.ModelFailed: 503,
    errors.StoreError: 503,
    errors.StoreFull: 507,
    errors.NeedMoreContext: 409,
    errors.RecollectError: 500,
}
MEDIA_TYPE = "application/problem+json"


def problem(
    status: int,
    kind: str,
    title: str,
    detail: str,
    help: str = "",
    headers: Mapping[str, str] | None = None,
    more: Mapping[str, object] | None = None,
) -> Response:
    """One refusal. Whatever the request held, it can be written: characters beyond ASCII are escaped."""
    told = {"type": PREFIX + kind, "title": title, "status": status, "detail": detail, "help": help, **(more or {})}
    return Response(json.dumps(told), status, headers, MEDIA_TYPE)


def of(error: errors.RecollectError, escalation: int = 409, sent: Iterable[str] = ()) -> Response:
    """An error as it leaves, without what was `sent`. `escalation` is the status that asks people before more evidence
    is fetched."""
    if isinstance(error, errors.NeedMoreContext):
        return _asking(error, escalation)
    status = next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)
    title = (type(error).__doc__ or "").partition("\n")[0].rstrip(".")
    headers = {"Retry-After": "1"} if status == 503 else None
    what, help = refusals.told(error, sent)
    return problem(status, kind_of(type(error)), title, what, help, headers)


def _asking(error: errors.NeedMoreContext, status: int) -> Response:
    """Not a failure but a question to people: shall more evidence be fetched?"""
    offer = {
        "recommendedNextLevel": error.recommended_next_level,
        "witnessesAvailable": error.witnesses_available,
        "reason": error.reason,
    }
    return problem(status, kind_of(type(error)), NEED_MORE_CONTEXT, error.what, error.help, more=offer)


def kind_of(kind: type[errors.RecollectError]) -> str:
    """`NotFound` is `not-found`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", kind.__name__).lower()


def install(app: FastAPI) -> None:
    """Every error of this app leaves it as a problem."""
    app.add_exception_handler(errors.RecollectError, _refused)
    app.add_exception_handler(RequestValidationError, _malformed)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _broken)


def _refused(request: Request, error: Exception) -> Response:
    """In a thread, since all that was sent is looked through."""
    assert isinstance(error, errors.RecollectError)
    return of(error, request.app.state.escalation_status, _sent(request))


def _sent(request: Request) -> Iterator[str]:
    """All texts of a request."""
    yield from map(str, request.path_params.values())
    yield from request.query_params.values()
    yield request.headers.get("idempotency-key", "")
    yield from refusals.texts_of_json(request.scope.get("state", {}).get("body", b""))


async def _malformed(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    wrong = error.errors()
    if any(one["type"] == "json_invalid" for one in wrong):
        return problem(
            400, "not-json", "The body is not JSON", "the body is not JSON", "Send one JSON object, as UTF-8."
        )
    return problem(
        422,
        "invalid",
        "The input cannot be used as it is",
        refusals.wrong_fields(wrong),
        "Every field is described in /api/openapi.json and in docs/http.md.",
    )


async def _http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    phrase = HTTPStatus(error.status_code).phrase
    helps = {
        404: "The routes are listed in /api/openapi.json and in docs/http.md.",
        405: "The routes and their methods are listed in /api/openapi.json and in docs/http.md.",
        400: "Send one JSON object, as UTF-8.",
    }
    kind = phrase.lower().replace(" ", "-")
    return problem(error.status_code, kind, phrase, str(error.detail), helps.get(error.status_code, ""), error.headers)


async def _broken(_: Request, error: Exception) -> Response:
    return problem(
        500,
        "broken",
        "Recollect is at fault",
        f"an error that should not happen: {type(error).__name__}",
        "Please report it, with what the server wrote to its standard error.",
    )
