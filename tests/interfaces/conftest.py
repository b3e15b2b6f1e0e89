"""The command line at work: in this process for speed, or as the installed program."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw
import pytest

from recollect import Memory, open_memory
from recollect.interfaces.cli.app import run
from tests.postgres import fresh_database

PROGRAM = Path(sys.executable).with_name("recollect")


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


class CommandLine:
    """`recollect ARGS`, in this process. `do` is for what must succeed."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys, self._monkeypatch = capsys, monkeypatch

    def __call__(self, *args: object, stdin: str | bytes = "") -> Answer:
        raw = stdin.encode() if isinstance(stdin, str) else stdin
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw), encoding="utf-8"))
        self._capsys.readouterr()
        code = run([str(arg) for arg in args])
        captured = self._capsys.readouterr()
        return Answer(code, captured.out, captured.err)

    def do(self, *args: object, stdin: str | bytes = "") -> Answer:
        answer = self(*args, stdin=stdin)
        assert answer.code == 0, answer.err
        return answer

    def remember(self, text: str, *options: object) -> str:
        """The id of a new memory."""
        return self.do("remember", text, *options, "--json").document["id"]

    def last_entry(self) -> int:
        return self.do("history", "--limit", 1, "--json").document["entries"][0]["seq"]


def without_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """For who keeps many things, and does not ask what becomes of them: each command would read all the models."""
    for model in ("EMBEDDER", "KEEPER", "JUDGE"):
        monkeypatch.setenv(f"RECOLLECT_{model}", "none")


@pytest.fixture(params=["sqlite", "postgres"])
def where(request: pytest.FixtureRequest, tmp_path: Path, postgres_server: str) -> Iterator[str]:
    """The address of an empty store, on each engine in turn."""
    if request.param == "sqlite":
        yield str(tmp_path / "memory.db")
        return
    with fresh_database(postgres_server) as url:
        yield url


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of its own, where the settings point to."""
    for name in [name for name in os.environ if name.startswith("RECOLLECT_") and name != "RECOLLECT_TEST_POSTGRES"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path))
    monkeypatch.setenv("RECOLLECT_USER", "mira")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def bare(place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line before there is a store."""
    return CommandLine(capsys, monkeypatch)


@pytest.fixture
def recollect(bare: CommandLine) -> CommandLine:
    """The command line on a new store."""
    bare.do("init")
    return bare


@pytest.fixture
def store(place: Path) -> Path:
    return place / "memory.db"


@pytest.fixture
def memory(recollect: CommandLine, store: Path) -> Iterator[Memory]:
    """The same store from Python."""
    with open_memory(store, user="mira") as opened:
        yield opened


Tamper = Callable[..., None]


@pytest.fixture
def tamper(store: Path) -> Tamper:
    """Changes the file behind Recollect's back."""

    def change(sql: str, *values: object) -> None:
        connection = apsw.Connection(str(store))
        connection.execute(sql, values)
        connection.close()

    return change


def program(*args: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """The installed program, in a process of its own."""
    return subprocess.run(
        [PROGRAM, *map(str, args)], capture_output=True, text=True, encoding="utf-8", timeout=60, check=False, **options
    )
