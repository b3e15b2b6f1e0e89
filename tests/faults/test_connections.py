"""Connections that want nothing, or never end: a server with few files to open goes on answering, and gets rid of them
in time. Raw sockets against a real server."""

import http.client
import resource
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from recollect.interfaces.http.connections import end_of_rest
from recollect.interfaces.http.guard import MAX_BODY
from tests.hunt import examples
from tests.interfaces.served import Served, serving

FILES = 128
FEW_FILES = ["sh", "-c", f'ulimit -n {FILES}; exec "$0" "$@"']
SECONDS = 1.0
QUICK = {
    "RECOLLECT_EMBEDDER": "none",
    "RECOLLECT_JUDGE": "none",
    "RECOLLECT_KEEPER": "none",
    "RECOLLECT_HEAD_SECONDS": str(SECONDS),
    "RECOLLECT_BODY_SECONDS": str(SECONDS),
}
MANY = examples(200)

HALF_A_LINE = b"GET /api/hea"
HALF_A_HEAD = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nX-More: "


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("crowded"), env=QUICK, before=FEW_FILES) as server:
        server.ask("POST", "/api/memory/remember", {"text": "The ferry leaves at noon."})
        yield server
        assert server.process.poll() is None


def body_of(token: str) -> bytes:
    """A head that promises a body, and the first byte of it."""
    lines = [
        "POST /api/memory/query HTTP/1.1",
        "Host: localhost",
        f"Authorization: Bearer {token}",
        "Content-Type: application/json",
        "Content-Length: 1000",
    ]
    return "\r\n".join([*lines, "", "{"]).encode()


@contextmanager
def crowd(server: Served, count: int, said: bytes) -> Iterator[list[socket.socket]]:
    """Connections that say this much and no more."""
    with ExitStack() as stack:
        yield [stack.enter_context(connected(server, said)) for _ in range(count)]


def connected(server: Served, said: bytes, *, buffer: int | None = None) -> socket.socket:
    made = socket.socket()
    made.settimeout(30)
    if buffer:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    made.connect(("127.0.0.1", int(urlsplit(server.address).port or 0)))
    with suppress(OSError):  # closed already, to make room for the others
        made.sendall(said)
    return made


def is_healthy(server: Served) -> bool:
    return server.ask("GET", "/api/health", token=None).status == 200


def answers(server: Served) -> bool:
    asked = server.ask("POST", "/api/memory/query", {"query": "When does the ferry leave?"})
    return asked.status == 200 and "noon" in asked.document["results"][0]["text"]


def is_closed(one: socket.socket) -> bool:
    """Whether the server has hung up, after whatever it said before."""
    one.settimeout(0.0)
    try:
        while one.recv(65_536):
            pass
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def wait_until_closed(connections: list[socket.socket], said: bytes = b"") -> None:
    """They go on saying a little all the time, and are closed nevertheless."""
    deadline = time.monotonic() + 20
    left = connections
    while left := [one for one in left if not is_closed(one)]:
        assert time.monotonic() < deadline, f"{len(left)} of {len(connections)} are open"
        for one in left:
            with suppress(OSError):
                one.send(said)
        time.sleep(0.1)


SAID = {
    "nothing": (b"", b""),
    "half a line": (HALF_A_LINE, b"l"),
    "half a head": (HALF_A_HEAD, b"x"),
    "a stranger's body": (body_of("nobody's"), b" "),
}


@pytest.mark.parametrize("what", [*SAID, "the owner's body"])
def test_whoever_says_nothing_or_does_not_end_locks_nobody_out_and_is_gone_in_time(server: Served, what: str):
    said, more = SAID.get(what) or (body_of(server.token), b" ")
    with crowd(server, MANY, said) as connections:
        assert is_healthy(server)
        assert answers(server)
        wait_until_closed(connections, more)
    assert answers(server)


def test_who_never_reads_the_answers_is_gone_in_time(server: Served):
    asked = (
        f"GET /api/openapi.json HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.token}\r\n\r\n".encode()
    )
    before = server_side(server)
    with ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(connected(server, asked * 40, buffer=4096))
        assert is_healthy(server)
        assert server_side(server) >= before + 15
        deadline = time.monotonic() + 30
        while server_side(server) > before:  # asked of the kernel: a client that does not read does not notice
            assert time.monotonic() < deadline
            time.sleep(0.1)
    assert answers(server)


@pytest.mark.parametrize("path", ["/api/health", "/api/memory/query"])
def test_nothing_is_kept_of_what_a_stranger_sends(server: Served, path: str):
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {MAX_BODY}\r\n\r\n".encode()
    before = resident(server)
    with crowd(server, 20, head + b" " * (MAX_BODY - 1)):
        assert is_healthy(server)
        assert resident(server) - before < 20 * MAX_BODY / 4


def resident(server: Served) -> int:
    """Bytes of memory that the server has."""
    told = Path(f"/proc/{server.process.pid}/status").read_text()
    return 1024 * int(next(line for line in told.splitlines() if line.startswith("VmRSS")).split()[1])


def server_side(server: Served) -> int:
    """How many files the server has that are connections."""
    return sum(
        "socket:" in str(link.readlink()) for link in Path(f"/proc/{server.process.pid}/fd").iterdir() if _there(link)
    )


def _there(link: Path) -> bool:
    with suppress(OSError):
        return bool(link.readlink())
    return False


USUAL = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\n"
CRUMBS = b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + b"1\r\n \r\n" * 30_000 + b"0\r\n\r\n"
COSTLY = {
    "a head of many lines": b"a:\r\n" * 14_000 + b"\r\n",
    "a cookie with many escapes": b'Cookie: a="' + b"\\" * 60_000 + b'"\r\n\r\n',
}


def test_bodies_that_cost_more_than_their_length_keep_nobody_waiting_while_they_are_read(server: Served):
    """Of the time that they take, a question that is asked meanwhile waits for a small part."""
    head, _, _ = body_of(server.token).partition(b"Content-Length")
    began, most = spent(server), 0.0
    with ThreadPoolExecutor(10) as pool, ExitStack() as stack:
        crowd = [stack.enter_context(one) for one in pool.map(lambda _: connected(server, head + CRUMBS), range(10))]
        while crowd:
            before = spent(server)
            assert is_healthy(server)
            most = max(most, spent(server) - before)
            crowd = [one for one in crowd if not is_closed(one)]
    assert most < (spent(server) - began) / 6


@pytest.mark.parametrize("what", COSTLY)
def test_a_head_costs_no_more_than_its_length(server: Served, what: str):
    plain = f"Content-Length: {len(COSTLY[what])}\r\n\r\n".encode() + b" " * len(COSTLY[what])
    few, many = (min(spent_on(server, USUAL + said) for _ in range(3)) for said in (plain, COSTLY[what]))
    assert many < 4 * few


def spent_on(server: Served, said: bytes) -> float:
    began = spent(server)
    with crowd(server, 10, said):
        assert all(is_healthy(server) for _ in range(10))
    return spent(server) - began


def spent(server: Served) -> float:
    """Time that the server itself has worked, which no other program makes longer."""
    return int(Path(f"/proc/{server.process.pid}/schedstat").read_text().split()[0]) / 1e9


def test_a_head_of_many_lines_that_comes_early_is_refused_like_any_other(server: Served):
    for lines, answered in ((100, 2), (500, 1)):
        with connected(server, USUAL + b"\r\n" + USUAL + b"a:\r\n" * lines + b"\r\n") as one:
            said = b""
            while more := one.recv(65_536):
                said += more
        assert said.count(b"HTTP/1.1 200") == answered


def test_who_is_costly_to_read_waits_for_those_who_are_and_for_nobody_else():
    """A pause as long as all connections together kept who sent while memory was searched from sending in time."""
    idle = [0.0] * 1000
    assert end_of_rest(100, idle, spent=0.01) == pytest.approx(100.04)
    assert end_of_rest(100, [*idle, 103, 107], spent=0.01) == pytest.approx(107.04)
    assert end_of_rest(100, idle, spent=30) == 102


def test_nonsense_behind_an_answer_ends_the_connection_and_nothing_else(server: Served):
    head = b"POST /api/memory/query HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    with connected(server, head) as one:
        assert one.recv(100).startswith(b"HTTP/1.1 401")
        one.sendall(b"nonsense\r\n\r\n")
        wait_until_closed([one])
    assert "Traceback" not in server.errors.read_text()


def test_a_body_that_comes_slowly_and_steadily_is_taken(server: Served):
    body = b'{"query": "When does the ferry leave?"' + b" " * 60_000 + b"}"
    head = body_of(server.token).replace(b"1000", str(len(body)).encode())[:-1]
    with connected(server, head) as one:
        for start in range(0, len(body), 4096):
            one.sendall(body[start : start + 4096])
            time.sleep(SECONDS / 8)  # together longer than the patience, and faster than its rate
        assert one.recv(100).startswith(b"HTTP/1.1 200")


def test_a_client_that_keeps_its_connection_is_served_on_it_again_and_again(server: Served):
    connection = http.client.HTTPConnection(urlsplit(server.address).netloc, timeout=30)
    with closing(connection):
        connection.connect()
        port = connection.sock.getsockname()
        for _ in range(5):
            time.sleep(SECONDS / 3)  # together longer than the patience with each of them
            connection.request("GET", "/api/health")
            answer = connection.getresponse()
            assert (answer.status, answer.read() != b"") == (200, True)
            assert connection.sock.getsockname() == port


def test_a_server_that_may_open_no_more_files_listens_on(tmp_path: Path):
    """The limit falls under the feet of a server that counted on more: accepting fails, and listening goes on."""
    with serving(tmp_path, env=QUICK) as server:
        server.ask("POST", "/api/memory/remember", {"text": "The ferry leaves at noon."})
        assert answers(server)
        usual = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
        few = len(list(Path(f"/proc/{server.process.pid}/fd").iterdir())) + 3
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (few, usual[1]))
        with crowd(server, 20, b"") as connections:
            assert is_healthy(server)
            wait_until_closed(connections)
        resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, usual)
        assert answers(server)
        assert "Traceback" not in server.errors.read_text()
