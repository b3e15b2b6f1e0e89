"""SQLite through apsw: WAL, a full sync at every commit, one writer at a time in order of arrival."""

import re
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, cast

import apsw

from recollect.domain.codec import canonical
from recollect.domain.ids import TenantId
from recollect.errors import (
    NotAStore,
    RecollectError,
    SchemaTooNew,
    Stale,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreReadOnly,
)
from recollect.ports import Vector
from recollect.store.migrations import Migration, migrations
from recollect.store.rows import micros
from recollect.store.sqlite.turn import Queue, Turnstile
from recollect.store.tx import Row, Tx, bound

APPLICATION_ID = 0x5EC0_11EC
_LIST = re.compile(r":(\w+)\[\]")
_SHORT = 4
_PRAGMAS = (
    "journal_mode = wal",
    "synchronous = full",
    "wal_autocheckpoint = 4000",
    "secure_delete = on",
    "temp_store = memory",
)


@lru_cache(maxsize=4096)
def translate(sql: str, sizes: tuple[int, ...] = ()) -> str:
    """The statement as SQLite reads it. A short list becomes one parameter per value, a long one is bound as JSON."""
    lengths = iter(sizes)

    def spell(found: re.Match[str]) -> str:
        name, size = found[1], next(lengths, -1)
        if 0 <= size <= _SHORT:
            return "(" + ", ".join(f":{name}_{n}" for n in range(size)) + ")"
        return f"(select value from json_each(:{name}))"

    return _LIST.sub(spell, sql)


def _bind(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values as SQLite takes them: moments as microseconds."""
    return {name: micros(value) if type(value) is datetime else value for name, value in values.items()}


def _prepare(sql: str, values: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A statement and its values, lists included."""
    names: list[str] = _LIST.findall(sql) if "[]" in sql else []
    if not names:
        return sql, _bind(values)
    sizes = tuple(len(values[name]) for name in names)
    for name in set(names):
        listed = values[name]
        if len(listed) <= _SHORT:
            del values[name]
            values |= {f"{name}_{n}": value for n, value in enumerate(listed)}
        else:
            values[name] = canonical(listed)
    return translate(sql, sizes), _bind(values)


class Cursor(Protocol):
    """The part of apsw's cursor that is used here, with its types spelt out."""

    def fetchall(self) -> list[Row]: ...

    def fetchone(self) -> Row | None: ...

    def __iter__(self) -> Iterator[Row]: ...


class Connection(Protocol):
    """The part of apsw's connection that is used here, with its types spelt out."""

    in_transaction: bool

    def execute(self, statements: str, bindings: object = None) -> Cursor: ...

    def executemany(self, statements: str, sequenceofbindings: object) -> Cursor: ...

    def changes(self) -> int: ...

    def last_insert_rowid(self) -> int: ...

    def set_busy_timeout(self, milliseconds: int) -> None: ...

    def backup(self, databasename: str, sourceconnection: "Connection", sourcedatabasename: str) -> apsw.Backup: ...

    def close(self) -> None: ...


def _open(path: Path, *, create: bool = True) -> Connection:
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    return cast(Connection, apsw.Connection(str(path), flags, statementcachesize=400))


class SqliteTx:
    """The choke point: every statement of a tenant passes here, with the tenant bound."""

    for_update = ""

    def __init__(self, connection: Connection, tenant: TenantId) -> None:
        self._connection = connection
        self.tenant = tenant

    def _execute(self, sql: str, values: dict[str, object]) -> Cursor:
        values["tenant"] = self.tenant
        return self._connection.execute(*_prepare(bound(sql), values))

    def all(self, sql: str, **values: object) -> list[Row]:
        return self._execute(sql, values).fetchall()

    def one(self, sql: str, **values: object) -> Row | None:
        return self._execute(sql, values).fetchone()

    def run(self, sql: str, **values: object) -> int:
        self._execute(sql, values)
        return self._connection.changes()

    def many(self, sql: str, rows: Sequence[Mapping[str, object]]) -> None:
        if rows:
            self._connection.executemany(translate(bound(sql)), ({**_bind(row), "tenant": self.tenant} for row in rows))

    def each(self, sql: str, **values: object) -> Iterator[Row]:
        yield from self._execute(sql, values)

    def lock_items(self, columns: str, ids: Sequence[str]) -> list[Row]:
        # one look-up each: a list behind `in` costs SQLite a temporary table
        sql = f"select {columns} from items where tenant = :tenant and id = :id"
        return [row for id in ids if (row := self.one(sql, id=id))]

    def keep(self, table: str, ids: Sequence[str]) -> None:
        pass  # there is one writer at a time

    def add_text(self, ref: str, item_id: str, text: str) -> None:
        self._connection.execute(
            "insert into texts (rowid, tenant, text) values (?, ?, ?)", (self._place(ref), token(self.tenant), text)
        )

    def drop_text(self, ref: str, text: str) -> None:
        self._connection.execute(
            "insert into texts (texts, rowid, tenant, text) values ('delete', ?, ?, ?)",
            (self._place(ref), token(self.tenant), text),
        )

    def _place(self, ref: str) -> int:
        """The row of a text in the text index: events are even, versions odd."""
        kind, _, id = ref.partition(":")
        table, odd = ("events", 0) if kind == "e" else ("versions", 1)
        row = self.one(f"select rid from {table} where tenant = :tenant and id = :id", id=id)
        assert row is not None
        return 2 * row[0] + odd

    def add_vectors(self, vectors: Sequence[Vector], rev: int) -> None:
        self.many(
            "insert into vectors (tenant, embedder, ref, rev, data) values (:tenant, :embedder, :ref, :rev, :data) "
            "on conflict (tenant, embedder, ref) do update set rev = excluded.rev, data = excluded.data",
            [{"embedder": v.embedder, "ref": v.ref, "rev": rev, "data": v.values} for v in vectors],
        )

    def vectors(self) -> Iterator[tuple[str, str, int, bytes]]:
        yield from self.each(  # type: ignore[misc]
            "select embedder, ref, rev, data from vectors where tenant = :tenant order by embedder, ref"
        )


def token(tenant: TenantId) -> str:
    """The tenant as one word of the text index."""
    return "t" + tenant.encode().hex()


class SqliteOutbox:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def all(self, sql: str, **values: object) -> list[Row]:
        return self._connection.execute(*_prepare(sql, values)).fetchall()


class SqliteEngine:
    """One database file. Readers never wait; writers wait their turn, for as long as `patience` (seconds)."""

    def __init__(self, path: Path, *, create: bool = True, patience: float = 60.0) -> None:
        self.path = path
        self._patience = patience
        self._local = threading.local()
        self._connections: list[Connection] = []
        self._guard = threading.Lock()
        self._queue = Queue()
        with _typed(path):
            _recognise(path, create)
            self._turnstile = Turnstile(path.with_name(path.name + "-turn"))
            self._writer = self._connect()
            self._migrate(migrations("recollect.store.sqlite.migrations"))

    def _connect(self) -> Connection:
        connection = _open(self.path)
        connection.set_busy_timeout(int(self._patience * 1000))
        for pragma in _PRAGMAS:
            connection.execute(f"pragma {pragma}").fetchall()
        with self._guard:
            self._connections.append(connection)
        return connection

    # -- transactions -------------------------------------------------------------------------------------

    @contextmanager
    def read(self, tenant: TenantId) -> Generator[Tx]:
        with _typed(self.path):
            reader: Connection | None = getattr(self._local, "reader", None)
            if reader is None:
                reader = self._local.reader = self._connect()
            if reader.in_transaction:  # a read within a read sees the same moment
                yield SqliteTx(reader, tenant)
                return
            reader.execute("begin")
            try:
                yield SqliteTx(reader, tenant)
            finally:
                reader.execute("commit")

    @contextmanager
    def write(self, tenant: TenantId) -> Generator[Tx]:
        with self._writing() as connection:
            yield SqliteTx(connection, tenant)

    @contextmanager
    def outbox(self) -> Generator[SqliteOutbox]:
        with self._writing() as connection:
            yield SqliteOutbox(connection)

    @contextmanager
    def _writing(self) -> Generator[Connection]:
        with _typed(self.path):
            if not self._queue.take(self._patience):
                raise self._busy()
            try:
                with self._turnstile.pass_through(self._patience) as passed:
                    if not passed:
                        raise self._busy()
                    self._writer.execute("begin immediate")
                try:
                    yield self._writer
                    self._writer.execute("commit")
                except BaseException:
                    if self._writer.in_transaction:
                        self._writer.execute("rollback")
                    raise
            finally:
                self._queue.leave()

    def _busy(self) -> StoreBusy:
        return StoreBusy(
            f"another process has kept {self.path} for {self._patience:g} s",
            "See which one holds it (recollect doctor), stop it, and try again.",
        )

    # -- schema -------------------------------------------------------------------------------------------

    def _migrate(self, known: list[Migration]) -> None:
        at = _pragma(self._writer, "user_version")
        if at > len(known):
            raise SchemaTooNew(
                f"{self.path} has schema {at}, this Recollect knows up to {len(known)}", "Install a newer Recollect."
            )
        for migration in known[at:]:
            with self._writing() as connection:
                if _pragma(connection, "user_version") >= migration.number:
                    continue  # another process was faster
                for statement in migration.statements:
                    connection.execute(statement)
                connection.execute(f"pragma application_id = {APPLICATION_ID}")
                connection.execute(f"pragma user_version = {migration.number}")

    # -- the rest of the port -----------------------------------------------------------------------------

    def tenants(self) -> list[TenantId]:
        with self._reading_all() as reader:
            return [TenantId(row[0]) for row in reader.execute("select tenant from tenants order by tenant")]

    @contextmanager
    def _reading_all(self) -> Generator[Connection]:
        with self.read(TenantId("")):
            yield self._local.reader

    def search(self, tx: Tx, words: Sequence[str], limit: int) -> list[tuple[str, float]]:
        wanted = " OR ".join('"' + word.replace('"', '""') + '"' for word in words if word.strip())
        if not wanted:
            return []
        found = tx.all(
            "select coalesce('e:' || e.id, 'v:' || v.id), -bm25(texts, 0.0, 1.0) from texts "
            "left join events e on e.rid = texts.rowid / 2 and texts.rowid % 2 = 0 and e.tenant = :tenant "
            "left join versions v on v.rid = texts.rowid / 2 and texts.rowid % 2 = 1 and v.tenant = :tenant "
            "where texts match :match order by bm25(texts, 0.0, 1.0) limit :limit",
            match=f"tenant:{token(tx.tenant)} AND text:({wanted})",
            limit=limit,
        )
        return [(ref, score) for ref, score in found if ref]

    def backup(self, target: Path) -> None:
        """An online copy: into a file beside the target first, moved into place when it is whole."""
        part = target.with_name(target.name + ".part")
        with _typed(target):
            part.unlink(missing_ok=True)
            copy = _open(part)
            try:
                with self._reading_all() as reader, copy.backup("main", reader, "main") as work:
                    while not work.done:
                        work.step(1000)
                copy.execute("pragma journal_mode = delete").fetchall()
            finally:
                copy.close()
            part.replace(target)

    def scrub(self) -> bool:
        """Empty the write-ahead log, where old page images still hold what was erased."""
        with _typed(self.path):
            if not self._queue.take(self._patience):
                return False
            try:
                self._writer.set_busy_timeout(2000)
                busy, _, _ = self._writer.execute("pragma wal_checkpoint(truncate)").fetchall()[0]
                return not busy
            finally:
                self._writer.set_busy_timeout(int(self._patience * 1000))
                self._queue.leave()

    def integrity(self) -> list[str]:
        with self._reading_all() as reader:
            found = [str(row[0]) for row in reader.execute("pragma integrity_check")]
        return [line for line in found if line != "ok"]

    def close(self) -> None:
        with self._guard:
            for connection in self._connections:
                connection.close()
            self._connections.clear()
        self._turnstile.close()


def _pragma(connection: Connection, name: str) -> int:
    return int(connection.execute(f"pragma {name}").fetchall()[0][0])


def _recognise(path: Path, create: bool) -> None:
    """Refuse what is not a store of ours before touching it."""
    if path.is_dir():
        raise NotAStore(f"{path} is a directory", "Name a file for the store.")
    if not path.exists():
        if not create:
            raise NotAStore(f"there is no store at {path}", "Make one with: recollect init")
        if not path.parent.is_dir():
            raise NotAStore(f"the directory {path.parent} does not exist", "Create it first.")
        return
    if path.stat().st_size == 0:
        return
    with path.open("rb") as file:
        if file.read(16) != b"SQLite format 3\x00":
            raise NotAStore(f"{path} is not a Recollect store", "Name another file; this one was left as it is.")
    probe = _open(path, create=False)
    try:
        if _pragma(probe, "application_id") != APPLICATION_ID and _pragma(probe, "schema_version") != 0:
            raise NotAStore(
                f"{path} is the database of another program", "Name another file; this one was left as it is."
            )
    finally:
        probe.close()


@contextmanager
def _typed(path: Path) -> Generator[None]:
    """SQLite's errors as ours: what happened, and what would help."""
    try:
        yield
    except RecollectError:
        raise
    except apsw.BusyError as error:
        raise StoreBusy(f"{path} is held by another process", "Try again when it is done.") from error
    except apsw.FullError as error:
        raise StoreFull(
            f"there is no room left for {path}; nothing of this write was kept", "Free some disk space and try again."
        ) from error
    except (apsw.ReadOnlyError, PermissionError) as error:
        raise StoreReadOnly(
            f"{path} cannot be written", "Check the permissions of the file and of its directory."
        ) from error
    except apsw.CantOpenError as error:
        raise StoreReadOnly(
            f"{path} cannot be opened", "Check that its directory exists and that you may write there."
        ) from error
    except apsw.NotADBError as error:
        raise NotAStore(f"{path} is not a Recollect store", "Name another file; this one was left as it is.") from error
    except apsw.CorruptError as error:
        raise StoreDamaged(
            f"{path} is damaged: {error}", "Keep the file, and restore a backup: recollect restore BACKUP"
        ) from error
    except apsw.ConstraintError as error:
        raise Stale(f"another write came first: {error}", []) from error
    except (apsw.IOError, OSError) as error:
        if ("disk" in str(error) and "full" in str(error)) or getattr(error, "errno", 0) == 28:
            raise StoreFull(
                f"there is no room left for {path}; nothing of this write was kept",
                "Free some disk space and try again.",
            ) from error
        raise StoreError(f"{path} cannot be read or written: {error}", "Check the disk, then try again.") from error
