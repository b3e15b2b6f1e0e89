"""A real server in a process of its own, and the raw requests that a client would not make."""

import http.client
import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from recollect.client import Client
from tests.interfaces.conftest import PROGRAM


@dataclass(frozen=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)


class Served:
    """`recollect serve`, from the moment it is ready."""

    def __init__(
        self, home: Path, *options: object, env: Mapping[str, str] | None = None, before: Sequence[str] = ()
    ) -> None:
        self.home = home
        self.env = {**clean_environment(), "RECOLLECT_HOME": str(home), "RECOLLECT_USER": "mira", **(env or {})}
        self.errors = home / "server.stderr"
        with self.errors.open("ab") as errors:
            self.process = subprocess.Popen(
                [*before, PROGRAM, "serve", "--json", *map(str, options)],
                stdout=subprocess.PIPE,
                stderr=errors,
                env=self.env,
                encoding="utf-8",
            )
        self.told = self._told()

    def _told(self) -> dict[str, Any]:
        assert self.process.stdout
        text = ""
        for line in self.process.stdout:
            text += line
            if line == "}\n":
                return json.loads(text)
        raise AssertionError(f"the server did not start: {self.errors.read_text()}")

    @property
    def address(self) -> str:
        return self.told["address"]

    @property
    def token(self) -> str:
        return self.told["token"]

    @property
    def client(self) -> Client:
        return Client(self.address, self.token)

    def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        token: str | None = "the owner's",
        headers: Mapping[str, str | None] | None = None,
    ) -> Reply:
        """One request; a header that is None is left out."""
        raw = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        sent: dict[str, str | None] = {"Content-Type": "application/json" if raw is not None else None}
        if token is not None:
            sent["Authorization"] = f"Bearer {self.token if token == 'the owner' + chr(39) + 's' else token}"
        sent.update(headers or {})
        connection = http.client.HTTPConnection(urlsplit(self.address).netloc, timeout=30)
        try:
            connection.putrequest(method, path, skip_host="Host" in sent, skip_accept_encoding=True)
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            if raw is not None and "Content-Length" not in sent:
                connection.putheader("Content-Length", str(len(raw)))
            connection.endheaders(raw)
            answer = connection.getresponse()
            return Reply(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        code = self.process.wait(timeout=30)
        assert self.process.stdout
        self.process.stdout.close()
        return code


def clean_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("RECOLLECT_")}


@contextmanager
def serving(
    home: Path, *options: object, env: Mapping[str, str] | None = None, before: Sequence[str] = ()
) -> Iterator[Served]:
    """`before` is what starts the program: a shell that lowers a limit."""
    server = Served(home, *options, env=env, before=before)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.stop()
