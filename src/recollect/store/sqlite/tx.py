"""A transaction on SQLite: statements as SQLite reads them, with the tenant bound to every one."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol, cast

import apsw

from recollect.domain.codec import canonical
from recollect.domain.ids import TenantId
from recollect.holdings import Vector
from recollect.store.rows import micros
from recollect.store.sqlite import index
from recollect.store.tx import Row, Text, bound
from recollect.store.words import indexed

_LIST = re.compile(r":(\w+)\[\]")
_SHORT = 4
ALONE = "unix-excl" if "unix-excl" in apsw.vfs_names() else None
"""How SQLite opens a file that no other process may open meanwhile: the index of the log is then in memory."""


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
    filename: str

    def execute(self, statements: str, bindings: object = None) -> Cursor: ...

    def executemany(self, statements: str, sequenceofbindings: object) -> Cursor: ...

    def create_scalar_function(self, name: str, callable: Callable[..., object], numargs: int) -> None: ...

    def changes(self) -> int: ...

    def last_insert_rowid(self) -> int: ...

    def set_busy_timeout(self, milliseconds: int) -> None: ...

    def backup(self, databasename: str, sourceconnection: "Connection", sourcedatabasename: str) -> apsw.Backup: ...

    def close(self) -> None: ...


def connect(path: Path, *, create: bool = True, alone: bool = False) -> Connection:
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    return cast(Connection, apsw.Connection(str(path), flags, ALONE if alone else None, statementcachesize=400))


def no_room_for_index(error: Exception) -> bool:
    """Whether the index of the log, which all who open the file share, could not be made as large as it must be."""
    return getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE


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

    def do(self, sql: str, **values: object) -> None:
        self._execute(sql, values)

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

    def add_text(self, ref: str, item_id: str, text: str, names: str) -> None:
        self._connection.execute(
            "insert into texts (rowid, tenant, text) values (?, ?, ?)",
            (self._place(ref), token(self.tenant), indexed(text, names)),
        )

    def drop_text(self, ref: str, text: str, names: str) -> None:
        self._connection.execute(
            "insert into texts (texts, rowid, tenant, text) values ('delete', ?, ?, ?)",
            (self._place(ref), token(self.tenant), indexed(text, names)),
        )

    def _place(self, ref: str) -> int:
        """The row of a text in the text index: events are even, versions odd."""
        kind, _, id = ref.partition(":")
        table, odd = ("events", 0) if kind == "e" else ("versions", 1)
        row = self.one(f"select rid from {table} where tenant = :tenant and id = :id", id=id)
        assert row is not None
        assert isinstance(row[0], int)
        return 2 * row[0] + odd

    def add_vectors(self, vectors: Sequence[Vector], rev: int) -> None:
        self.many(
            "insert into vectors (tenant, embedder, ref, rev, data) values (:tenant, :embedder, :ref, :rev, :data) "
            "on conflict (tenant, embedder, ref) do update set rev = excluded.rev, data = excluded.data",
            [{"embedder": v.embedder, "ref": v.ref, "rev": rev, "data": v.values} for v in vectors],
        )

    def misindexed(self, texts: Callable[[], Iterator[Text]]) -> Iterator[tuple[str, str]]:
        yield from index.misindexed(self._connection, token(self.tenant), texts(), self._place)

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
