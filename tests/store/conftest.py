"""One suite, both engines: `store` is every engine in turn, `world` a tenant of its own in it."""

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from uuid import uuid4

import pytest

from recollect.domain.ids import TenantId
from recollect.ports import Store
from recollect.store.sql import SqlStore
from recollect.store.sqlite.engine import SqliteEngine
from tests.postgres import drop_jobs, fresh_database, opened_store
from tests.worlds import DAWN, World

ENGINES = ("sqlite", "postgres")
_numbers = count(1)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """The engine's name."""
    return request.param


@pytest.fixture
def store(engine: str, request: pytest.FixtureRequest) -> Store:
    store = request.getfixturevalue(f"{engine}_store")
    if engine == "postgres":
        # Others have been here: a job they left would be done by the workers of this test.
        drop_jobs(request.getfixturevalue("postgres_url"))
    return store


@pytest.fixture
def other_store(engine: str, request: pytest.FixtureRequest) -> Store:
    """The store of the other engine."""
    other = "postgres" if engine == "sqlite" else "sqlite"
    return request.getfixturevalue(f"{other}_store")


@pytest.fixture
def sqlite_store(sqlite_path: Path) -> Iterator[Store]:
    store = SqlStore(SqliteEngine(sqlite_path))
    yield store
    store.close()


@pytest.fixture
def sqlite_path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture(scope="session")
def postgres_url(postgres_server: str) -> Iterator[str]:
    """One database per worker. Tests share it, each with tenants of its own."""
    with fresh_database(postgres_server) as url:
        yield url


@pytest.fixture(scope="session")
def postgres_store(postgres_url: str) -> Iterator[Store]:
    with opened_store(postgres_url) as store:
        yield store


@pytest.fixture
def found(store: Store) -> Callable[[], World]:
    """Founds a tenant with a name nobody has used before; equal steps in two of them make equal ids."""
    return lambda: new_world(store)


@pytest.fixture
def world(found: Callable[[], World]) -> World:
    return found()


def new_world(store: Store) -> World:
    world = World(store, TenantId(f"t{next(_numbers)}-{uuid4().hex[:8]}"))
    assert store.create_tenant(world.tenant, at=DAWN)
    return world
