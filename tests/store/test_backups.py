"""Backups: whole, consistent, and taken while others write."""

import gzip
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from recollect.domain import codec
from recollect.domain.ids import TenantId
from recollect.errors import RecollectError
from recollect.ports import Store
from recollect.store.sql import SqlStore
from recollect.store.sqlite.engine import SqliteEngine
from tests.postgres import fresh_database, opened_store
from tests.worlds import DAWN, World, furnish


@pytest.fixture(scope="module")
def postgres_url(postgres_server: str) -> Iterator[str]:
    """A database of their own: a backup holds the tenants of everybody."""
    with fresh_database(postgres_server) as url:
        yield url


@pytest.fixture(scope="module")
def postgres_store(postgres_url: str) -> Iterator[Store]:
    with opened_store(postgres_url) as store:
        yield store


def tenants_of(backup: Path, engine: str) -> dict[str, list[str]]:
    """The dumps that a backup holds, by tenant."""
    if engine == "sqlite":
        store = SqlStore(SqliteEngine(backup, create=False))
        try:
            assert store.integrity() == []
            return {tenant: World(store, tenant).dump() for tenant in store.tenants()}
        finally:
            store.close()
    found: dict[str, list[str]] = {}
    current: list[str] = []
    with gzip.open(backup, "rt", encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            row = json.loads(line)
            if "table" in row:
                current.append(codec.canonical(row))
            else:
                current = found[row["tenant"]] = []
    return found


def test_a_backup_holds_every_tenant_as_it_was(found: Callable[[], World], engine: str, tmp_path: Path):
    one, two = found(), found()
    furnish(one), furnish(two, "milk")
    target = tmp_path / "copy"
    one.store.backup(target)
    kept = {world.tenant: world.dump() for world in (one, two)}
    one.tell("afterwards")
    in_backup = tenants_of(target, engine)
    assert {tenant: in_backup[tenant] for tenant in kept} == kept
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("copy"))[0] == "copy"
    assert not (tmp_path / "copy.part").exists()


def test_a_backup_is_whole_although_others_write(world: World, engine: str, tmp_path: Path):
    furnish(world)
    stop = False

    def write() -> int:
        count = 0
        while not stop:
            world.tell(f"number {count}", thread="busy")
            count += 1
        return count

    with ThreadPoolExecutor(1) as others:
        writing = others.submit(write)
        try:
            for number in range(3):
                world.store.backup(tmp_path / f"copy-{number}")
        finally:
            stop = True
        assert writing.result() > 0
    for number in range(3):
        rows = [json.loads(row) for row in tenants_of(tmp_path / f"copy-{number}", engine)[world.tenant]]
        copy = World(world.store, TenantId(f"{world.tenant}-{number}"))
        world.store.load(copy.tenant, iter(rows))
        assert copy.is_whole()
        count = {name: sum(row["table"] == name for row in rows) for name in ("events", "versions", "journal")}
        assert count["journal"] == world.store.head(copy.tenant).seq


def test_a_backup_that_cannot_be_written_says_so_and_leaves_nothing(world: World, tmp_path: Path):
    world.tell()
    with pytest.raises(RecollectError):
        world.store.backup(tmp_path / "nowhere" / "copy")
    (tmp_path / "taken").mkdir()
    with pytest.raises(RecollectError):
        world.store.backup(tmp_path / "taken")
    assert not list(tmp_path.glob("*.part"))
    assert world.store.create_tenant(TenantId(world.tenant + "-x"), at=DAWN)
