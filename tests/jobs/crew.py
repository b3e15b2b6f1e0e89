"""Workers for tests: a job that leaves one event per step, and processes that do such jobs and may die of it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from recollect.clock import SystemClock
from recollect.custody import Deps
from recollect.domain.change import Append
from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId, uuid7
from recollect.domain.job import Advance, Finish, Leased
from recollect.domain.scope import Scope
from recollect.jobs.kind import Kind, Outcome, Write
from recollect.jobs.process import work
from recollect.jobs.worker import Worker
from recollect.store.sidecar import FileErasures, FileSeal
from recollect.store.sql import SqlStore
from recollect.store.sqlite.engine import SqliteEngine
from recollect.store.tx import Engine

ROOT = Path(__file__).parent.parent.parent
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class Hands:
    """A clock whose hands the test moves."""

    def __init__(self, at: datetime = NOON) -> None:
        self.at = at
        self._lock = threading.Lock()

    def now(self) -> datetime:
        with self._lock:
            self.at += timedelta(microseconds=1)
            return self.at

    def mint(self) -> str:
        return uuid7(self.at, os.urandom(10))

    def forward(self, **by: float) -> None:
        self.at += timedelta(**by)

    def move_to(self, at: datetime) -> None:
        self.at = at


def open_engine(address: str, *, create: bool = True) -> Engine:
    """A store's engine, by the path of its file or the URL of its database."""
    if not address.startswith("postgresql://"):
        return SqliteEngine(Path(address), create=create)
    from recollect.store.postgres.engine import PostgresEngine

    return PostgresEngine(address, create=create)


def deps(store: SqlStore, folder: Path, clock: Any = None) -> Deps:
    return Deps(
        store=store,
        clock=clock or SystemClock(),
        erasures=FileErasures(folder / "erasures"),
        seal=FileSeal(folder / "key"),
    )


# -- a job that can be counted ------------------------------------------------------------------------------


def tally(deps: Deps, leased: Leased) -> Outcome:
    """Leaves one event per step. The payload says in which episode, how many, how long a step takes, and where it
    notes when it began and ended."""
    payload: Mapping[str, Any] = leased.job.payload
    with noted(payload.get("notes"), f"{leased.tenant} {leased.job.key} {leased.step}"):
        time.sleep(payload.get("pause", 0))
    event = Event(
        id=EventId(deps.clock.mint()),
        item_id=ItemId(payload["episode"]),
        ts=deps.clock.now(),
        author="tally",
        text=f"{leased.job.key} {leased.step}",
    )
    last = leased.step + 1 == payload["steps"]
    return Write(
        scope=Scope(tenant=leased.tenant),
        changes=[Append(event)],
        step=Finish(leased) if last else Advance(leased, {"done": leased.step + 1}),
    )


TALLY = {"tally": Kind(tally)}


@dataclass(frozen=True)
class Span:
    """When a step ran, as the clock says that all processes of a machine share."""

    tenant: str
    job: str
    step: int
    began: float
    ended: float


@contextmanager
def noted(path: str | None, what: str) -> Iterator[None]:
    began = time.monotonic()
    yield
    if path:
        note(path, f"{what} {began} {time.monotonic()}")


def note(path: str, line: str) -> None:
    """One line at the end of a file, whole, whoever else writes to it."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(file, f"{line}\n".encode())
    os.close(file)


def spans(path: Path) -> list[Span]:
    rows = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
    return [Span(tenant, job, int(step), float(a), float(b)) for tenant, job, step, a, b in rows]


def most_at_once(found: list[Span]) -> int:
    """How many of these ran at one moment."""
    moments = sorted([(span.began, 1) for span in found] + [(span.ended, -1) for span in found])
    running = most = 0
    for _, change in moments:
        running += change
        most = max(most, running)
    return most


# -- processes ------------------------------------------------------------------------------------------------


class Fragile:
    """An engine that can die with everything written and nothing committed."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.fatal = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    @contextmanager
    def write(self, tenant: Any) -> Iterator[Any]:
        with self._engine.write(tenant) as tx:
            yield tx
            if self.fatal:
                tx.one("select rev from tenants where tenant = :tenant")  # what was sent has arrived
                die()


class Mortal(SqlStore):
    """A store whose process dies at a point of writing a step: before it, within its transaction, or right after.
    Each step costs one life; who comes to it next survives."""

    def __init__(self, engine: Fragile, point: str, graves: Path) -> None:
        super().__init__(engine)  # type: ignore[arg-type]
        self.fragile, self.point, self.graves, self.began = engine, point, graves, False

    def claim(self, *args: Any, **how: Any) -> Any:
        if not self.began:
            self.began = True
            print("ready", flush=True)  # who claims listens to signals already
        return super().claim(*args, **how)

    def apply(self, scope: Scope, changes: Any, *, step: Any = None, **how: Any) -> Any:
        dies = bool(step and self.point) and buried(self.graves / f"grave {step.lease.step}")
        if dies and self.point == "before":
            die()
        self.fragile.fatal = dies and self.point == "within"
        rev = super().apply(scope, changes, step=step, **how)
        if dies:
            die()
        return rev


def buried(grave: Path) -> bool:
    """Whether this process is the first to come here."""
    try:
        grave.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def start(address: str, folder: Path, **options: Any) -> subprocess.Popen[str]:
    """A process with workers in it. It says `ready` when they begin."""
    given = json.dumps({"address": address, "folder": str(folder), **options})
    command = [sys.executable, "-m", "tests.jobs.crew", given]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE)


def begun(process: subprocess.Popen[str]) -> bool:
    """Waits until its workers have begun; False when the process ended before."""
    assert process.stdout is not None
    return process.stdout.readline() == "ready\n"


def main(
    address: str,
    folder: str,
    workers: int = 1,
    lease: float = 0.2,
    cap: int = 2,
    point: str = "",
) -> None:
    store = Mortal(Fragile(open_engine(address, create=False)), point, Path(folder))
    crew = [
        Worker(
            deps=deps(store, Path(folder)),
            kinds=TALLY,
            name=f"{os.getpid()}-{number}",
            lease=timedelta(seconds=lease),
            cap=cap,
            poll=0.01,
        )
        for number in range(workers)
    ]
    work(crew)
    store.close()


if __name__ == "__main__":
    main(**json.loads(sys.argv[1]))
