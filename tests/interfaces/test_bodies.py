"""Long bodies, many at a time: who does not get room for one reads why. A real server, and clients that send it all."""

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import uvicorn
from starlette.types import Message, Receive, Scope, Send

from recollect.domain.ids import TenantId
from recollect.domain.scope import Principal, Role
from recollect.interfaces.credentials import CredentialFile, Credentials
from recollect.interfaces.http.bodies import Bodies, Body, Sender
from recollect.interfaces.http.connections import Connection, Patience, Server
from recollect.interfaces.http.guard import Guard
from tests.interfaces.served import Reply

OWNER = Principal(tenant=TenantId("default"), id="mira", role=Role.ADMIN)
ROOM = 32_000_000
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
    guard = Guard(nobody_home, credentials, max_body=150_000, max_held=1_000_000)

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


# -- whose, and which gives way ---------------------------------------------------------------------------------

PART = 2_500_000
MIRA, ASHA = (TenantId("default"), "mira"), (TenantId("default"), "asha")
ALL = [(TenantId("default"), name) for name in ("mira", "asha", "noor", "theo")]


class Room:
    """Bodies that are being sent, at times that the test says."""

    def __init__(self) -> None:
        self._bodies, self._stack = Bodies(4 * PART), ExitStack()

    def begun(self, sender: Sender, size: int, at: float) -> Body:
        body = self._stack.enter_context(self._bodies.body(sender, at))
        more(body, size, at)
        return body


def more(body: Body, size: int, at: float) -> None:
    for _ in range(size // 50_000):
        body.add(b" " * 50_000, at)
    body.add(b" " * (size % 50_000), at)


def is_held(*bodies: Body) -> list[bool]:
    return [not body.is_let_go for body in bodies]


def test_one_sender_holds_a_part_of_the_room_and_no_more():
    room = Room()
    mine = [room.begun(MIRA, PART // 2, at=0) for _ in range(4)]
    assert is_held(*mine) == [True, True, False, False]
    assert is_held(room.begun(ASHA, PART, at=0)) == [True]
    assert is_held(room.begun(MIRA, 60_000, at=0)) == [True]  # a short one


def test_a_body_that_has_stopped_gives_way_to_one_that_needs_its_room():
    room = Room()
    stopped, later = (room.begun(MIRA, PART // 2, at=at) for at in (0, 1))
    came = room.begun(MIRA, PART // 2, at=1.5)
    assert is_held(stopped, later, came) == [False, True, True]
    more(stopped, 100_000, at=1.6)
    assert (stopped.is_let_go, stopped.size, stopped.whole()) == (True, 0, b"")


def test_a_body_that_drips_has_stopped():
    room = Room()
    dripping = room.begun(MIRA, PART // 2, at=0)
    for tenth in range(1, 20):
        dripping.add(b" ", tenth / 10)
    came = room.begun(MIRA, PART, at=2)
    assert is_held(dripping, came) == [False, True]


def test_nobody_gives_way_who_is_being_answered_or_sends_at_a_good_pace():
    room = Room()
    answered, sending = room.begun(MIRA, PART // 2, at=0), room.begun(MIRA, 70_000, at=0)
    assert len(answered.whole()) == PART // 2
    for second in range(1, 10):
        more(sending, 70_000, at=second)
    came = room.begun(MIRA, PART, at=9.5)
    assert is_held(answered, sending, came) == [True, True, False]


def test_where_all_the_room_is_taken_the_body_that_stopped_first_gives_way_whosever_it_is():
    room = Room()
    taken = [room.begun(sender, PART, at=number / 10) for number, sender in enumerate(reversed(ALL))]
    assert is_held(room.begun((TenantId("another"), "mira"), 100_000, at=2), *taken) == [True, False, True, True, True]


def test_a_sender_that_fills_its_part_takes_nothing_of_others():
    room = Room()
    others = room.begun(ASHA, PART, at=0)
    mine = [room.begun(MIRA, PART // 2, at=2) for _ in range(3)]
    assert is_held(others, *mine) == [True, True, True, False]


def test_room_that_was_held_is_given_back():
    bodies = Bodies(4 * PART)
    for _ in range(20):
        with bodies.body(MIRA, 0) as body:
            more(body, PART, at=0)
            assert len(body.whole()) == PART


def test_stalled_bodies_lock_out_nobody_else(tmp_path: Path):
    file = CredentialFile(tmp_path / "credentials.toml")
    token = file.add("asha", replace(OWNER, id="asha", role=Role.MEMBER))
    guard = Guard(nobody_home, Credentials("rec_owner", OWNER, file), max_held=1_000_000)

    async def drive() -> None:
        read, go_on = asyncio.Semaphore(0), asyncio.Event()

        async def stalled() -> AsyncIterator[bytes]:
            for _ in range(5):
                yield b" " * 50_000
            read.release()
            await go_on.wait()

        async def short() -> AsyncIterator[bytes]:
            for _ in range(4):
                yield b" " * 50_000

        crowd = [asyncio.create_task(answered(guard, stalled())) for _ in range(10)]
        for _ in crowd:
            await asyncio.wait_for(read.acquire(), 10)
        assert await answered(guard, short(), token) == 200
        go_on.set()
        assert sorted(await asyncio.gather(*crowd)) == [200] + [503] * 9

    asyncio.run(drive())
