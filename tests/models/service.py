"""A service on a real socket that does what a test tells it to, well or badly behaved."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Reply:
    """What goes back: after `delay` seconds, in `drip` pieces with that delay between them."""

    body: object = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    delay: float = 0.0
    drip: int = 1
    cut: bool = False
    """Promise more bytes than come."""


@dataclass
class Asked:
    path: str
    headers: Mapping[str, str]
    body: dict[str, object]


class Service:
    """Answers each request with what `answer` makes of it, and remembers the requests."""

    def __init__(self, answer: Callable[[Asked], Reply]) -> None:
        self.asked: list[Asked] = []
        self.answer = answer
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                asked = Asked(self.path, {key.lower(): value for key, value in self.headers.items()}, json.loads(sent))
                service.asked.append(asked)
                self._give(service.answer(asked))

            def _give(self, reply: Reply) -> None:
                body = reply.body if isinstance(reply.body, bytes) else _text(reply.body).encode()
                try:
                    time.sleep(reply.delay)
                    self.send_response(reply.status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(body) + (100 if reply.cut else 0)))
                    for key, value in reply.headers.items():
                        self.send_header(key, value)
                    self.end_headers()
                    step = -(-len(body) // reply.drip) or 1
                    for start in range(0, len(body), step):
                        self.wfile.write(body[start : start + step])
                        self.wfile.flush()
                        if reply.drip > 1:
                            time.sleep(reply.delay)
                    if reply.cut:
                        self.close_connection = True
                except OSError:
                    self.close_connection = True  # the caller had enough

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _text(body: object) -> str:
    return body if isinstance(body, str) else json.dumps(body)


@contextmanager
def serving(*replies: Reply | Callable[[Asked], Reply]) -> Iterator[Service]:
    """A service that gives these replies one after the other, and the last one from then on."""
    waiting = list(replies)
    lock = threading.Lock()

    def answer(asked: Asked) -> Reply:
        with lock:
            reply = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return reply(asked) if callable(reply) else reply

    service = Service(answer)
    try:
        yield service
    finally:
        service.close()


def closed_port() -> int:
    """A port where nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]
