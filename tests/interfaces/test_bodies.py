"""Long bodies, many at a time: who does not get room for one reads why. A real server, and clients that send it all."""

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import uvicorn
from starlette.types import Message, Receive, Scope, Send

from recollect.domain.ids import TenantId
from recollect.domain.scope import Principal, Role
from recollect.interfaces.credentials import CredentialFile, Credentials
from recollect.interfaces.http.connections import Connection, Patience, Server
from recollect.interfaces.http.guard import Guard
from tests.interfaces.served import Reply

OWNER = Principal(tenant=TenantId("default"), id="mira", role=Role.ADMIN)
ROOM = 8_000_000
LONG = 6_000_000


class House:
    """What stands behind the guard: it says how long the body was, and when it is told to."""

    def __init__(self) -> None:
        self.asked, self.may_answer = threading.Semaphore(0), threading.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        message = await receive()
        self.asked.release()
        while not self.may_answer.is_set():
            await asyncio.sleep(0.01)
        said = str(len(message["body"])).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(said))]})
        await send({"type": "http.response.body", "body": said})


@pytest.fixture
def house() -> House:
    return House()


@pytest.fixture
def port(house: House, tmp_path: Path) -> Iterator[int]:
    credentials = Credentials("rec_owner", OWNER, CredentialFile(tmp_path / "credentials.toml"))
    with listening(Guard(house, credentials, max_held=ROOM)) as port:
        yield port
        house.may_answer.set()


@contextmanager
def listening(guard: Guard) -> Iterator[int]:
    """The guard at a port of this machine, with the connections that it has in earnest."""
    config = uvicorn.Config(guard, http=Connection, lifespan="off", log_level="warning", ws="none")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Server(config, Patience())
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])))
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()


def send(port: int, size: int) -> Reply:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request("POST", "/api/memory/query", b" " * size, {"Authorization": "Bearer rec_owner"})
        answer = connection.getresponse()
        return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())


def test_who_finds_no_room_reads_why(port: int, house: House):
    """Who was cut off while sending got nothing but a reset connection."""
    first = threading.Thread(target=send, args=(port, LONG))
    first.start()
    assert house.asked.acquire(timeout=60)
    for _ in range(3):
        refused = send(port, LONG)
        assert (refused.status, json.loads(refused.body)["type"]) == (503, "urn:recollect:busy")
        assert "retry-after" in refused.headers
    house.may_answer.set()
    first.join()
    assert send(port, LONG).body == str(LONG).encode()


def test_nothing_is_held_of_a_body_that_is_too_long(tmp_path: Path):
    """What is read on so that its sender reads the refusal takes no room from others."""
    credentials = Credentials("rec_owner", OWNER, CredentialFile(tmp_path / "credentials.toml"))
    guard = Guard(nobody_home, credentials, max_body=150_000, max_held=250_000)

    async def drive() -> None:
        read, go_on = asyncio.Event(), asyncio.Event()

        async def too_long() -> AsyncIterator[bytes]:
            for _ in range(4):
                yield b" " * 50_000
            read.set()
            await go_on.wait()
            yield b" "

        async def others() -> AsyncIterator[bytes]:
            for _ in range(3):
                yield b" " * 50_000

        first = asyncio.create_task(answered(guard, too_long()))
        await asyncio.wait_for(read.wait(), 10)
        assert await answered(guard, others()) == 200
        go_on.set()
        assert await first == 413

    asyncio.run(drive())


async def nobody_home(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


async def answered(guard: Guard, pieces: AsyncIterator[bytes], token: str = "rec_owner") -> int:
    """The status of the answer to a body of these pieces."""
    statuses = list[int]()

    async def receive() -> Message:
        piece = await anext(pieces, b"")
        return {"type": "http.request", "body": piece, "more_body": bool(piece)}

    async def send(message: Message) -> None:
        statuses.append(message.get("status", 0))

    headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {token}".encode())]
    scope = {"type": "http", "method": "POST", "path": "/api/memory/query", "scheme": "http"}
    await guard({**scope, "headers": headers}, receive, send)
    return statuses[0]
