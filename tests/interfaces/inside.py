"""The server in this process: a real socket and the real app, over a clock that the test moves, its jobs included."""

import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import uvicorn

from recollect import settings, wiring
from recollect.client import Client
from recollect.domain.ids import TenantId
from recollect.domain.scope import Principal, Role
from recollect.interfaces.credentials import CredentialFile, Credentials
from recollect.interfaces.http import make_app
from recollect.jobs.worker import Worker
from recollect.memory import Memory
from tests.interfaces.served import Reply
from tests.jobs.crew import Hands

OWNER = "the owner's token"


@dataclass(frozen=True)
class Inside:
    """A server, the clock it reads, and the worker whose jobs are done when the test says so."""

    address: str
    clock: Hands
    worker: Worker
    memory: Memory
    credentials: CredentialFile

    @property
    def client(self) -> Client:
        return Client(self.address, OWNER)

    def token(self, name: str, role: Role, **reach: Any) -> str:
        """A credential of somebody else."""
        who = Principal(tenant=TenantId("default"), id=name, role=role, **reach)
        return self.credentials.add(name, who)

    def ask(self, method: str, path: str, body: object = None, *, token: str = OWNER) -> Reply:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        connection = http.client.HTTPConnection(self.address.removeprefix("http://"), timeout=30)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            return Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def later(self, **by: float) -> None:
        """Time goes by, and what is due by then is done."""
        self.clock.forward(**by)
        self.worker.run_until_idle()


@contextmanager
def inside(home: Path, store: str, **chosen: str) -> Iterator[Inside]:
    """A server over a new store, with these settings."""
    given = settings.load({"home": str(home), "store": store, "user": "mira", "embedder": "none", **chosen})
    clock = Hands()
    wiring.connect(given, clock=clock, create=True).close()
    deps = wiring.dependencies(given, clock=clock)
    memory = Memory(deps, wiring.principal(given))
    file = CredentialFile(home / "credentials.toml")
    app = make_app(memory, Credentials(OWNER, memory.principal, file), escalation_status=given.escalation_status)
    worker = replace(wiring.workers(deps, given), name="the test")
    with memory, running(app) as address:
        yield Inside(address, clock, worker, memory, file)


@contextmanager
def running(app: Any) -> Iterator[str]:
    """The app at an address of its own."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            thread.join(0.01)
            assert thread.is_alive(), "the server did not start"
        [listener] = [socket for one in server.servers for socket in one.sockets]
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
