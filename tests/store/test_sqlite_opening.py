"""Opening a SQLite file: what is not ours is refused and left alone, what is old is brought up to date."""

import hashlib
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from recollect.domain.ids import TenantId
from recollect.errors import NotAStore, SchemaTooNew, StoreDamaged, StoreError
from recollect.store.migrations import Migration, migrations
from recollect.store.sql import SqlStore
from recollect.store.sqlite.engine import SqliteEngine
from tests.worlds import DAWN, World, furnish

ROOT = Path(__file__).parents[2]
MIGRATIONS = "recollect.store.sqlite.migrations"


def opened(path: Path, **how: object) -> SqlStore:
    return SqlStore(SqliteEngine(path, **how))  # type: ignore[arg-type]


def prints(folder: Path) -> dict[str, str]:
    """Every file below the folder with a digest of its bytes; not the locks that SQLite keeps in -shm files."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.endswith("-shm")]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def filled(path: Path) -> list[str]:
    """A store with one of everything, closed again; its dump."""
    store = opened(path)
    world = World(store, TenantId("home"))
    store.create_tenant(world.tenant, at=DAWN)
    furnish(world)
    rows = world.dump()
    store.close()
    return rows


# -- what is not ours ---------------------------------------------------------------------------------------


def _foreign(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("create table recipes (name text)")
    other.close()


def _foreign_with_a_log(path: Path) -> None:
    """A database in WAL mode whose owner died: all of its content is still in the log."""
    source = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('pragma journal_mode = wal');"
        "c.execute('create table recipes (name text)'); c.commit(); os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", source, str(path)], check=True)
    assert path.with_name(path.name + "-wal").stat().st_size > 0


def _text(path: Path) -> None:
    path.write_text("Dear diary, this is no database at all.\n" * 100)


def _short(path: Path) -> None:
    path.write_bytes(b"SQLite")


def _cut(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\x00" + b"\xff" * 84)


def _newer(path: Path) -> None:
    filled(path)
    newer = apsw.Connection(str(path))
    newer.execute("pragma user_version = 999").fetchall()
    newer.execute("pragma journal_mode = delete").fetchall()
    newer.close()


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (_foreign, NotAStore),
        (_foreign_with_a_log, NotAStore),
        (_text, NotAStore),
        (_short, NotAStore),
        (_cut, StoreError),
        (_newer, SchemaTooNew),
    ],
)
def test_what_is_not_ours_to_open_is_refused_and_left_as_it_is(
    tmp_path: Path, make: Callable[[Path], None], error: type[StoreError]
):
    path = tmp_path / "memory.db"
    make(path)
    before = prints(tmp_path)
    for create in (True, False):
        with pytest.raises(error) as refused:
            opened(path, create=create)
        assert str(path) in str(refused.value)
        assert refused.value.help
    after = prints(tmp_path)
    assert after == before


def test_a_refused_file_is_let_go_of(tmp_path: Path):
    path = tmp_path / "memory.db"
    _newer(path)
    before = open_files()
    for _ in range(5):
        with pytest.raises(SchemaTooNew):
            opened(path)
    assert open_files() == before


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_a_directory_is_no_store(tmp_path: Path):
    with pytest.raises(NotAStore, match="directory"):
        opened(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_store_is_not_made_in_a_directory_that_is_not_there(tmp_path: Path):
    with pytest.raises(NotAStore, match="does not exist"):
        opened(tmp_path / "attic" / "memory.db")
    assert list(tmp_path.iterdir()) == []


def test_a_store_is_made_only_when_asked_for(tmp_path: Path):
    with pytest.raises(NotAStore, match="no store"):
        opened(tmp_path / "memory.db", create=False)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_becomes_a_store(tmp_path: Path):
    path = tmp_path / "memory.db"
    path.touch()
    opened(path).close()
    assert opened(path, create=False).tenants() == []


def test_a_damaged_page_is_reported_as_damage(tmp_path: Path):
    path = tmp_path / "memory.db"
    filled(path)
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xaa" * (path.stat().st_size - 4096))
    with pytest.raises(StoreDamaged, match="damaged"):
        opened(path).head(TenantId("home"))


# -- opening and closing ------------------------------------------------------------------------------------


def test_what_was_written_is_there_after_closing(tmp_path: Path):
    path = tmp_path / "memory.db"
    rows = filled(path)
    store = opened(path, create=False)
    assert World(store, TenantId("home")).dump() == rows
    store.close()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["memory.db", "memory.db-turn"]


def test_closing_twice_does_no_harm_and_a_closed_store_says_so(tmp_path: Path):
    store = opened(tmp_path / "memory.db")
    store.create_tenant(TenantId("home"), at=DAWN)
    store.head(TenantId("home"))
    store.close()
    store.close()
    for use in (store.tenants, lambda: store.head(TenantId("home")), World(store, TenantId("home")).keep):
        with pytest.raises(StoreError, match="closed"):
            use()


def test_threads_that_come_and_go_leave_no_files_open(tmp_path: Path):
    store = opened(tmp_path / "memory.db")
    store.create_tenant(TenantId("home"), at=DAWN)

    def read() -> None:
        thread = threading.Thread(target=store.head, args=(TenantId("home"),))
        thread.start()
        thread.join()

    read()
    before = open_files()
    for _ in range(20):
        read()
    assert open_files() <= before + 3
    store.close()


def test_a_second_opener_in_the_same_process_does_not_give_up_the_locks_of_the_first(tmp_path: Path):
    """POSIX drops all locks of a process on a file when any of its handles on it is closed."""
    path = tmp_path / "memory.db"
    first = opened(path)
    assert locks_on(path)
    second = opened(path)
    assert second.scrub()
    second.close()
    assert locks_on(path)
    first.close()
    assert not locks_on(path)


def locks_on(path: Path) -> list[str]:
    mark = f":{path.stat().st_ino} "
    return [line for line in Path("/proc/locks").read_text().splitlines() if mark in line]


# -- several at once ----------------------------------------------------------------------------------------

RACE = """
import sys, time
from pathlib import Path
from recollect.store.sql import SqlStore
from recollect.store.sqlite.engine import SqliteEngine
from tests.worlds import *
path, start, number = Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
for round in range(5):
    while time.time() < start + round * 0.25: pass
    store = SqlStore(SqliteEngine(path.with_name(f"{round}.db"), patience=20))
    world = World(store, TenantId(f"home-{number}"))
    store.create_tenant(world.tenant, at=DAWN)
    world.tell("tea")
    store.close()
"""


def test_a_fresh_file_may_be_opened_by_several_processes_at_once(tmp_path: Path):
    start = str(time.time() + 1.5)
    racers = [python(RACE, tmp_path / "x", start, str(number)) for number in range(3)]
    for racer in racers:
        assert racer.communicate(timeout=60)[0] == ""
        assert racer.returncode == 0
    for round in range(5):
        store = opened(tmp_path / f"{round}.db", create=False)
        assert store.tenants() == ["home-0", "home-1", "home-2"]
        assert all(World(store, tenant).is_whole() for tenant in store.tenants())
        store.close()


def python(source: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", source, *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


SLOW = """
import sys, time
from pathlib import Path
import recollect.store.sqlite.engine as engine
from recollect.store.migrations import Migration
known = engine.migrations
def patched(package):
    found = known(package)
    last = found[-1]
    many = tuple(f"create table extra_{n} (x text)" for n in range(2000))
    class Slow(tuple):
        def __iter__(self):
            for n, statement in enumerate(tuple.__iter__(self)):
                if n == 1500:
                    print("half way", flush=True)
                    time.sleep(60)
                yield statement
    return [*found[:-1], Migration(last.number, last.name, Slow(many + last.statements))]
engine.migrations = patched
engine.SqliteEngine(Path(sys.argv[1]))
"""


def test_a_migration_that_was_killed_half_way_is_completed_by_the_next_opener(tmp_path: Path):
    path = tmp_path / "memory.db"
    slow = python(SLOW, path)
    assert slow.stdout
    assert slow.stdout.readline() == "half way\n"
    slow.send_signal(signal.SIGKILL)
    slow.wait()
    connection = apsw.Connection(str(path))
    assert connection.execute("pragma user_version").fetchall() == [(len(migrations(MIGRATIONS)) - 1,)]
    assert connection.execute("select count(*) from sqlite_schema where name like 'extra%'").fetchall() == [(0,)]
    connection.close()
    store = opened(path)
    world = World(store, TenantId("home"))
    store.create_tenant(world.tenant, at=DAWN)
    furnish(world)
    assert world.is_whole()
    store.close()


def test_who_opens_while_another_migrates_waits_for_it(tmp_path: Path):
    path = tmp_path / "memory.db"
    slow = python(SLOW.replace("time.sleep(60)", "time.sleep(1)"), path)
    assert slow.stdout
    assert slow.stdout.readline() == "half way\n"
    store = opened(path)
    assert slow.wait(30) == 0
    assert [line for line in store.integrity() if not line.startswith("table extra_")] == []
    store.close()


# -- old schemas --------------------------------------------------------------------------------------------


def test_an_old_schema_is_brought_up_to_date_with_its_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "memory.db"
    whole = migrations(MIGRATIONS)
    assert len(whole) >= 3
    monkeypatch.setattr("recollect.store.sqlite.engine.migrations", lambda package: whole[:1])
    engine = SqliteEngine(path)
    with engine.write(TenantId("home")) as tx:
        tx.run(
            "insert into tenants (tenant, chain_id, rev, seq, head, dedup_key, created_at) "
            "values (:tenant, 'c', 0, 0, :head, :key, :at)",
            head=hashlib.sha256(b"recollect journal c").hexdigest(),
            key=b"k" * 32,
            at=DAWN,
        )
    engine.close()
    monkeypatch.undo()
    store = opened(path)
    world = World(store, TenantId("home"))
    assert store.head(world.tenant).chain_id == "c"
    furnish(world)
    assert world.is_whole()
    store.close()
    connection = apsw.Connection(str(path))
    assert connection.execute("pragma user_version").fetchall() == [(len(whole),)]
    connection.close()


def test_a_migration_adds_to_a_store_in_use_and_keeps_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "memory.db"
    rows = filled(path)
    known = migrations(MIGRATIONS)
    later = Migration(len(known) + 1, "later", ("alter table items add column mood text default 'fair'",))
    monkeypatch.setattr("recollect.store.sqlite.engine.migrations", lambda package: [*known, later])
    store = opened(path)
    assert World(store, TenantId("home")).dump() == rows
    store.close()
    monkeypatch.undo()
    with pytest.raises(SchemaTooNew):
        opened(path)


def test_a_migration_that_fails_leaves_the_schema_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "memory.db"
    rows = filled(path)
    known = migrations(MIGRATIONS)
    wrong = Migration(len(known) + 1, "wrong", ("drop table usage", "insert into nowhere values (1)"))
    monkeypatch.setattr("recollect.store.sqlite.engine.migrations", lambda package: [*known, wrong])
    with pytest.raises(Exception, match="nowhere"):
        opened(path)
    monkeypatch.undo()
    store = opened(path)
    assert World(store, TenantId("home")).dump() == rows
    store.close()


# -- examining ----------------------------------------------------------------------------------------------


def test_a_store_that_others_write_to_is_found_well(tmp_path: Path):
    """FTS5 holds the text index against what the connection remembers of it."""
    ours, theirs = opened(tmp_path / "memory.db"), opened(tmp_path / "memory.db")
    world = World(theirs, TenantId("home"))
    theirs.create_tenant(world.tenant, at=DAWN)
    world.say("tea")
    for number in range(40):
        assert World(ours, world.tenant).found("tea", "number")
        world.say(f"number {number}", *("tea and milk" for _ in range(number)))
        assert ours.integrity() == []
    ours.close()
    theirs.close()
