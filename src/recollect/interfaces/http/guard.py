"""The one way into the server: whoever passes has named a known host, comes from no other site, holds a valid token
and sends a body of bounded size."""

import asyncio
import ipaddress
import logging
import re
from collections.abc import Collection
from itertools import islice
from urllib.parse import urlsplit

from fastapi.responses import Response
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.domain.scope import Principal
from recollect.errors import Invalid
from recollect.interfaces.credentials import Credentials
from recollect.interfaces.http.bodies import Bodies, Body
from recollect.interfaces.http.problems import problem

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
MAX_BODY = 8 * 1024 * 1024
MAX_HELD = 32 * MAX_BODY
"""Bytes of all the long bodies that are being read or answered at a time."""
MAX_PARTS = 50_000
"""Texts, and signs between values, of a body: reading it costs by them, and keeps all others waiting."""
_FEW = MAX_PARTS  # bytes that hold no more parts than that
_PART = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[,\[{]', re.DOTALL)
_OTHER_SIGNS = re.compile(rb"\xff\xfe|\xfe\xff|.{0,3}\x00", re.DOTALL)
"""How JSON begins that is no UTF-8, and would be read all the same: its parts cannot be told by its bytes."""
_DRAINED = 8
"""Times as much is read and thrown away: who is cut off while sending does not get to read why."""
_log = logging.getLogger(__name__)
OPEN = ("/api/health", "/health")


class Guard:
    """An ASGI app in front of another. `hosts`: names the server is called by; `numbers`: it is also called by IP
    address, which no web page can make a browser do in its own name."""

    def __init__(
        self,
        app: ASGIApp,
        credentials: Credentials,
        hosts: Collection[str] = (),
        *,
        numbers: bool = False,
        max_body: int = MAX_BODY,
        max_held: int = MAX_HELD,
    ) -> None:
        self._app, self._credentials, self._numbers, self._max_body = app, credentials, numbers, max_body
        self._bodies = Bodies(max_held)
        self._hosts = LOOPBACK | {host.lower().strip("[]") for host in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = Headers(scope=scope)
        refusal = self._wrong_host(headers) or self._wrong_site(scope, headers) or self._stranger(scope, headers)
        if refusal is None:
            scope["headers"] = [header for header in scope["headers"] if header[0] != b"cookie"]
            refusal = await self._let_in(scope, headers, receive, send)
        if refusal is not None:
            await refusal(scope, receive, send)

    async def _let_in(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> Response | None:
        if scope["path"] in OPEN:  # nobody is asked who they are there, so nothing of theirs is kept
            await self._ask(scope, b"", receive, send)
            return None
        principal: Principal = scope["state"]["principal"]
        with self._bodies.body((principal.tenant, principal.id), _now()) as held:
            body = await self._body(headers, receive, held)
            if isinstance(body, Response):
                return body
            await self._ask(scope, body, receive, send)
            return None

    async def _ask(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})["body"] = body
        await self._app(scope, _again(body, receive), send)

    def _wrong_host(self, headers: Headers) -> Response | None:
        named = _host(f"//{headers.get('host', '')}")
        if named in self._hosts or (self._numbers and _is_number(named)):
            return None
        return problem(
            421,
            "misdirected",
            "This server is not called that",
            "the Host header names a host that this server does not answer for",
            "Use its address as recollect serve printed it, or start it with --allow-host NAME.",
        )

    def _wrong_site(self, scope: Scope, headers: Headers) -> Response | None:
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        own = f"{scope.get('scheme', 'http')}://{headers.get('host', '')}"
        if origin in (None, own) and site in (None, "same-origin", "none"):
            return None
        return problem(
            403,
            "cross-site",
            "A page of another site may not ask",
            "the request comes from a page of another site",
            "Ask from a program, or from a page of this server itself.",
        )

    def _stranger(self, scope: Scope, headers: Headers) -> Response | None:
        if scope["path"] in OPEN:
            return None
        kind, _, token = headers.get("authorization", "").partition(" ")
        try:
            found = self._credentials.principal(token.strip()) if kind.lower() == "bearer" else None
            over = found is None and kind.lower() == "bearer" and self._credentials.expired(token.strip())
        except (Invalid, OSError) as error:
            _log.error("the credentials cannot be read: %s", error)
            return problem(
                503,
                "no-credentials",
                "The credentials cannot be read",
                "the credentials cannot be read",
                "Whoever runs the server finds the reason in its log.",
            )
        if found is not None:
            scope.setdefault("state", {})["principal"] = found
            return None
        given = "the token has expired" if over else "the token is not valid" if token else "there is no token"
        return problem(
            401,
            "unauthorized",
            "A valid token is needed",
            given,
            "Send the header: Authorization: Bearer TOKEN. recollect serve prints the owner's; recollect token add"
            " makes others.",
            {"WWW-Authenticate": 'Bearer realm="recollect"'},
        )

    async def _body(self, headers: Headers, receive: Receive, held: Body) -> bytes | Response:
        """The body, read whole before anything else looks at it; or a refusal where it is too long."""
        too_long = problem(
            413,
            "too-large",
            "The body is too large",
            f"the body has more than {self._max_body:,} bytes",
            "Send it in parts; folders and exports go in with: recollect ingest",
            {"Connection": "close"},
        )
        told = headers.get("content-length", "")
        if told.isdecimal() and int(told) > _DRAINED * self._max_body:
            return too_long
        size = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                break
            piece: bytes = message.get("body", b"")
            size += len(piece)
            if size > _DRAINED * self._max_body:
                return too_long
            if size <= self._max_body:
                held.add(piece, _now())
            else:
                held.let_go()
            if not message.get("more_body", False):
                break
        if size > self._max_body:
            return too_long
        if held.is_let_go:
            return problem(
                503,
                "busy",
                "Too many long bodies at once",
                "there was no room for a body of this length, or it came slower than others that needed the room",
                "Try again in a moment, or send it in parts.",
                {"Retry-After": "1"},
            )
        whole = held.whole()
        if _OTHER_SIGNS.match(whole):
            return problem(
                400, "not-json", "The body is not JSON", "the body is not UTF-8", "Send one JSON object, as UTF-8."
            )
        if size > _FEW and _parts(whole) > MAX_PARTS:
            return problem(
                413,
                "too-large",
                "The body is too large",
                f"the body has more than {MAX_PARTS:,} texts and values",
                "Send it in parts.",
            )
        return whole


def _now() -> float:
    return asyncio.get_running_loop().time()


def _parts(body: bytes) -> int:
    """How many texts, and signs between values, what may be JSON has; no more are counted than matter."""
    return sum(1 for _ in islice(_PART.finditer(body), MAX_PARTS + 1))


def _again(body: bytes, receive: Receive) -> Receive:
    """What was read already, to be read by who comes next."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return first.pop() if first else await receive()

    return again


def _host(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").lower()
    except ValueError:
        return ""


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
