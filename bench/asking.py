"""A whole server in this process, asked without a socket: the real app over a real store, and a clock that is moved."""

import asyncio
import json
import os
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from recollect import settings, wiring
from recollect.domain.ids import TenantId, uuid7
from recollect.domain.scope import Principal
from recollect.interfaces.credentials import CredentialFile, Credentials
from recollect.interfaces.http import make_app
from recollect.jobs.worker import Worker
from recollect.memory import Memory
from recollect.ports import Store

DAWN = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
OWNER = "the owner's token"


class Hands:
    """A clock whose hands are moved. Within a moment it goes on by microseconds, and ids follow each other."""

    def __init__(self) -> None:
        self.at, self._minted = DAWN, 0

    def now(self) -> datetime:
        self.at += timedelta(microseconds=1)
        return self.at

    def mint(self) -> str:
        """In the order of their making, whatever the moment."""
        self._minted += 1
        return uuid7(DAWN + timedelta(milliseconds=self._minted), os.urandom(10))

    def move_to(self, at: datetime) -> None:
        self.at = max(at, self.at)


@dataclass(frozen=True)
class Reply:
    status: int
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def document(self) -> Any:
        return json.loads(self.body)


@dataclass
class Asked:
    """One server over a store of its own. `tokens`: by principal."""

    memory: Memory
    worker: Worker
    clock: Hands
    app: Any
    store: str
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    tokens: dict[Principal, str] = field(default_factory=dict[Principal, str])

    def ask(self, who: Principal, method: str, path: str, body: object = None) -> Reply:
        return self.loop.run_until_complete(self._ask(self.tokens[who], method, path, body))

    def acting(self, who: Principal) -> Memory:
        return self.memory.acting(who)

    def work(self) -> None:
        """What is due is done."""
        self.worker.run_until_idle()

    def export(self, tenant: str) -> bytes:
        """The tenant as it is, without loss."""
        owner = replace(self.memory.principal, tenant=TenantId(tenant))
        return "\n".join(self.memory.acting(owner).export()).encode()

    def state(self, tenant: str) -> list[str]:
        """What memory of the tenant holds at the moment."""
        return list(self.memory.acting(replace(self.memory.principal, tenant=TenantId(tenant))).export_state())

    def close(self) -> None:
        self.memory.close()
        with suppress(RuntimeError):
            self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()

    async def _ask(self, token: str, method: str, path: str, body: object) -> Reply:
        raw = b"" if body is None else json.dumps(body).encode()
        parts = urlsplit(path)
        headers = {"host": "localhost", "authorization": f"Bearer {token}", "content-type": "application/json"}
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": parts.path,
            "raw_path": parts.path.encode(),
            "query_string": parts.query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 1),
            "server": ("localhost", 80),
            "root_path": "",
            "state": {},
        }
        told: list[MutableMapping[str, Any]] = []

        async def receive() -> Mapping[str, Any]:
            return {"type": "http.request", "body": raw, "more_body": False}

        async def send(message: MutableMapping[str, Any]) -> None:
            told.append(message)

        await self.app(scope, receive, send)
        start = next(one for one in told if one["type"] == "http.response.start")
        return Reply(start["status"], b"".join(one.get("body", b"") for one in told))


def asked(
    home: Path, store: str, people: Mapping[str, Principal], wrapped: Callable[[Store], Store] = lambda store: store
) -> Asked:
    """A server over a new store, in which these people have credentials, and their tenants are there. `wrapped`: the
    store as the server gets it."""
    clock = Hands()
    given = settings.load(
        {"home": str(home), "store": store, "user": "owner", "embedder": "none", "keeper": "none", "judge": "none"}
    )
    for tenant in sorted({"default", *(who.tenant for who in people.values())}):
        wiring.connect(replace(given, tenant=TenantId(tenant)), clock=clock, create=True).close()
    deps = wiring.dependencies(given, clock=clock)
    deps = replace(deps, store=wrapped(deps.store))
    memory = Memory(deps, wiring.principal(given))
    file = CredentialFile(home / "credentials.toml")
    app = make_app(memory, Credentials(OWNER, memory.principal, file))
    worker = replace(wiring.workers(deps, given), name="the drive")
    tokens = {who: file.add(name, who) for name, who in people.items()}
    return Asked(memory, worker, clock, app, store, tokens=tokens)
