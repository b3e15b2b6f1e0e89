"""Both engines in turn. Workers serve all tenants of a store, so every test begins with an empty outbox."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from recollect.custody import Deps
from recollect.domain.ids import ItemId, JobId, TenantId
from recollect.domain.job import Job, JobStatus
from recollect.domain.scope import Principal, Role
from recollect.jobs.worker import Worker
from recollect.memory import Memory
from recollect.store.sql import SqlStore
from recollect.store.tx import Engine
from tests.jobs.crew import TALLY, Hands, deps, open_engine
from tests.postgres import drop_jobs, fresh_database
from tests.worlds import World


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the store of this test is."""
    if request.param == "sqlite":
        return str(tmp_path / "memory.db")
    url = request.getfixturevalue("postgres_store_url")
    drop_jobs(url)
    return url


@pytest.fixture(scope="session")
def postgres_store_url(postgres_server: str) -> Iterator[str]:
    """One database for all tests, each with a tenant of its own: a new one takes most of a second."""
    with fresh_database(postgres_server) as url:
        open_engine(url).close()
        yield url


@pytest.fixture
def engine(address: str) -> Iterator[Engine]:
    engine = open_engine(address)
    yield engine
    engine.close()


@pytest.fixture
def store(engine: Engine) -> SqlStore:
    return SqlStore(engine)


@pytest.fixture
def clock() -> Hands:
    return Hands()


@pytest.fixture
def parts(store: SqlStore, tmp_path: Path, clock: Hands) -> Deps:
    return deps(store, tmp_path, clock)


@pytest.fixture
def house(parts: Deps, clock: Hands) -> "House":
    return House(parts, clock)


class House:
    """A tenant, its memory, its jobs and its workers."""

    def __init__(self, parts: Deps, clock: Hands) -> None:
        self.parts = parts
        self.store = parts.store
        self.clock = clock
        self.tenant = TenantId(f"t{uuid4().hex}")
        self._episode: ItemId | None = None
        assert self.store.create_tenant(self.tenant, at=clock.now())
        self.world = World(parts.store, self.tenant, clock)  # type: ignore[arg-type]
        self.memory = Memory(parts, Principal(tenant=self.tenant, id="mira", role=Role.ADMIN))

    def worker(self, kinds: Any = TALLY, **how: Any) -> Worker:
        return Worker(**{"deps": self.parts, "kinds": kinds, "name": "ada", "chance": lambda: 0.0, **how})

    def job(self, kind: str, key: str = "one", **fields: Any) -> Job:
        given = {"id": JobId(self.clock.mint()), "kind": kind, "key": key, "not_before": self.clock.now()}
        job = Job(**{**given, **fields})
        self.store.enqueue(self.tenant, [job])
        return job

    def tally(self, key: str = "one", steps: int = 3, **payload: Any) -> Job:
        """A job that leaves one event per step in the thread `tally`."""
        return self.job("tally", key, payload={"episode": self.episode(), "steps": steps, **payload})

    def episode(self) -> ItemId:
        if self._episode is None:
            self._episode = self.world.keep(self.world.episode("tally")).id
        return self._episode

    def left(self) -> list[str]:
        """What the tallies have left behind, in order."""
        return [event.text for event in self.store.events(self.tenant, self.episode())]

    def status(self, kind: str, key: str = "one") -> JobStatus:
        [found] = [s for s in self.store.jobs(self.tenant) if (s.job.kind, s.job.key) == (kind, key)]
        return found
