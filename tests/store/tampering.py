"""Somebody with the database in their hands: every cell of every table, changed past Recollect and put back."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

import apsw
import psycopg

from recollect.domain.change import Append, Consent, Create, Derive, Erase, Note
from recollect.domain.event import Span
from recollect.domain.ids import RecordId, TenantId
from recollect.domain.item import Visibility
from recollect.domain.record import Asked, Epoch, Given, Retention, Rules
from recollect.domain.turn import Mark, Serving
from recollect.domain.witness import Bullet, ChunkWitness, EventWitness, RangeWitness
from recollect.ports import Store
from tests.worlds import DAWN, ROBIN, World, furnish

SECURITY = Path(__file__).parents[2] / "docs" / "SECURITY.md"

Key = tuple[Any, ...]


def uncovered() -> dict[str, str]:
    """What docs/SECURITY.md says that no examination finds: table.column, or table.* for all of a table."""
    section = SECURITY.read_text("utf-8").partition("### Not covered")[2].partition("\n#")[0]
    rows = re.findall(r"^\| (`.+?`) \| (.+?) \|$", section, re.MULTILINE)
    return {name: reason for names, reason in rows for name in re.findall(r"`([\w.*]+)`", names)}


def is_listed(table: str, column: str) -> bool:
    return bool({f"{table}.{column}", f"{table}.*"} & uncovered().keys())


# -- a tenant with everything -----------------------------------------------------------------------------


def inhabit(store: Store, name: str) -> World:
    """A tenant with rows in every table, of every kind that there is."""
    world = World(store, TenantId(name))
    assert store.create_tenant(world.tenant, at=DAWN)
    made = furnish(world)
    at = world.clock.now()
    house: dict[str, Any] = {"visibility": Visibility.PROJECT_SHARED, "project_id": "house", "user_id": None}
    hall, said = world.say("It rains.", "The roof leaks — again.", "Call the roofer.", thread="hall", **house)
    long = world.event(hall, "one two three four", chunks=(Span(0, 7), Span(8, 18)), author="cleo", role="user")
    gone = world.event(hall, "Forget the roofer.", author="dora")
    log = world.item(category="knowledge", **house)
    world.apply(
        Append(long),
        Append(gone),
        Create(log),
        Derive(
            world.version(
                log,
                bullets=(
                    Bullet("It rained.", (RangeWitness(hall.id, 2, 4), EventWitness(said[0].id))),
                    Bullet("One two.", (ChunkWitness(long.id, 1),)),
                ),
            )
        ),
        Derive(world.quoting(log, said[1])),
        actor=ROBIN,
    )
    world.apply(private=[said[0].id, long.id, gone.id])
    world.apply(Erase((), (), (gone.id,), (), "asked for"))
    same: dict[str, Any] = {"id": RecordId(world.clock.mint()), "agent_id": "robin", "purpose": "audit"}
    same |= {"asked_by": "mira", "asked_at": at}
    asked = Asked(**same)
    granted = Given(**same, given_by="robin", given_at=at, until=at + timedelta(days=1))
    world.apply(
        Note(None, asked),
        Consent(asked, granted),
        Note(None, Epoch(id=RecordId("epoch:house"), project_id="house", number=2, advanced_at=at)),
        Note(Rules(), Rules(retention=Retention.PURGE)),
    )
    served = Serving(
        turn_id="turn", subject="drinks", context="tea", items={made.told.item.id: made.told.version.id}, at=at
    )
    assert store.serve(world.tenant, "mira", served)
    store.mark(world.tenant, "mira", "turn", Mark.INCORRECT, at)
    return world


# -- the database itself ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    name: str
    columns: Mapping[str, str]
    """Each with its type."""
    keys: Sequence[str]

    def where(self, mark: Callable[[int], str]) -> str:
        return " and ".join(f"{key} = {mark(place)}" for place, key in enumerate(self.keys))


class Database(Protocol):
    """A database without its Recollect."""

    tables: Sequence[Table]

    def all(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]: ...

    def mark(self, place: int) -> str: ...


@dataclass
class SqliteDatabase:
    path: Path
    tables: Sequence[Table] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._connection = apsw.Connection(str(self.path))
        self._connection.set_busy_timeout(10_000)
        names = self.all("select name from sqlite_master where type = 'table' and name not like 'sqlite%'")
        self.tables = [self._table(name) for (name,) in sorted(names) if name not in ("texts", "vocabulary")]

    def _table(self, name: str) -> Table:
        told = self.all(f"pragma table_info({name})")
        keys = [row[1] for row in sorted(told, key=lambda row: row[5]) if row[5]]
        return Table(name, {row[1]: row[2] for row in told}, keys)

    def all(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._connection.execute(sql, tuple(values)).fetchall()

    def mark(self, place: int) -> str:
        return "?"


@dataclass
class PostgresDatabase:
    url: str
    tables: Sequence[Table] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._connection = psycopg.connect(self.url, autocommit=True, options="-c search_path=recollect,public")
        names = self.all(
            "select c.relname from pg_class c where c.relnamespace = 'recollect'::regnamespace "
            "and c.relkind in ('r', 'p') and not c.relispartition order by 1"
        )
        self.tables = [self._table(name) for (name,) in names]

    def _table(self, name: str) -> Table:
        columns = self.all(
            "select a.attname, format_type(a.atttypid, a.atttypmod) from pg_attribute a "
            "where a.attrelid = %s::regclass and a.attnum > 0 and not a.attisdropped order by a.attnum",
            (f"recollect.{name}",),
        )
        keys = self.all(
            "select a.attname from pg_index i "
            "join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey) "
            "where i.indrelid = %s::regclass and i.indisprimary and array_position(i.indkey, a.attnum) < i.indnkeyatts "
            "order by array_position(i.indkey, a.attnum)",
            (f"recollect.{name}",),
        )
        return Table(name, dict(columns), [key for (key,) in keys])

    def all(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        cursor = self._connection.execute(sql.encode(), values)
        return cursor.fetchall() if cursor.description else []

    def mark(self, place: int) -> str:
        return "%s"


def rows(database: Database, table: Table, tenant: str) -> list[dict[str, Any]]:
    """The tenant's rows, each value as text that can be written back where it is not a plain one."""
    listed = ", ".join(_out(database, name, kind) for name, kind in table.columns.items())
    where = f"where tenant = {database.mark(0)}" if "tenant" in table.columns else ""
    found = database.all(
        f"select {listed} from {table.name} {where} order by {', '.join(table.keys)}", (tenant,) if where else ()
    )
    return [dict(zip(table.columns, row, strict=True)) for row in found]


def _out(database: Database, name: str, kind: str) -> str:
    if isinstance(database, PostgresDatabase) and kind not in ("text", "bigint", "integer", "boolean"):
        return f"{name}::text as {name}"
    return name


def key_of(table: Table, row: Mapping[str, Any]) -> Key:
    return tuple(row[name] for name in table.keys)


@contextmanager
def changed(database: Database, table: Table, row: Mapping[str, Any], column: str, value: Any) -> Iterator[bool]:
    """One cell with another value; False where the database itself refuses it. Put back afterwards."""
    if not _set(database, table, key_of(table, row), column, value):
        yield False
        return
    try:
        yield True
    finally:
        there = {**row, column: value}
        assert _set(database, table, key_of(table, there), column, row[column])


def _set(database: Database, table: Table, key: Key, column: str, value: Any) -> bool:
    mark = database.mark(0)
    cast = f"::{table.columns[column]}" if isinstance(database, PostgresDatabase) else ""
    try:
        database.all(
            f"update {table.name} set {column} = {mark}{cast} where {table.where(database.mark)}", (value, *key)
        )
    except (apsw.Error, psycopg.Error, OverflowError):
        return False
    return True


@contextmanager
def removed(database: Database, table: Table, row: Mapping[str, Any]) -> Iterator[None]:
    """Without this row."""
    database.all(f"delete from {table.name} where {table.where(database.mark)}", key_of(table, row))
    try:
        yield
    finally:
        put(database, table, row)


@contextmanager
def added(database: Database, table: Table, row: Mapping[str, Any]) -> Iterator[bool]:
    """With this row; False where the database itself refuses it."""
    try:
        put(database, table, row)
    except (apsw.Error, psycopg.Error):
        yield False
        return
    try:
        yield True
    finally:
        database.all(f"delete from {table.name} where {table.where(database.mark)}", key_of(table, row))


def put(database: Database, table: Table, row: Mapping[str, Any]) -> None:
    casts = isinstance(database, PostgresDatabase)
    marks = [f"{database.mark(n)}::{kind}" if casts else "?" for n, kind in enumerate(table.columns.values())]
    database.all(f"insert into {table.name} ({', '.join(row)}) values ({', '.join(marks)})", tuple(row.values()))


def schemes(database: Database) -> Sequence[tuple[str, Sequence[str]]]:
    """What somebody does to the schema, each with what puts it back."""
    if isinstance(database, PostgresDatabase):
        mine = "tenant = nullif(current_setting('app.tenant', true), '')"
        return (
            ("create table forged (a text)", ["drop table forged"]),
            ("create view forged as select 1 as a", ["drop view forged"]),
            ("create function forged() returns integer language sql as 'select 1'", ["drop function forged()"]),
            (
                "create trigger forged before update on tombstones for each row "
                "execute function suppress_redundant_updates_trigger()",
                ["drop trigger forged on tombstones"],
            ),
            (
                "create rule forged as on insert to tombstones do instead nothing",
                ["drop rule forged on tombstones"],
            ),
            ("create policy forged on items to recollect_app using (true)", ["drop policy forged on items"]),
            ("alter policy tenant on events using (true)", [f"alter policy tenant on events using ({mine})"]),
            (
                "alter policy tenant on events with check (true)",
                [f"alter policy tenant on events with check ({mine})"],
            ),
            (
                "alter policy tenant on events to public",
                ["alter policy tenant on events to recollect_app"],
            ),
        )
    [(made,)] = database.all("select sql from sqlite_master where name = 'items_user'")
    return (
        ("create view forged as select * from events", ["drop view forged"]),
        (
            "create trigger forged before insert on tombstones begin select raise(ignore); end",
            ["drop trigger forged"],
        ),
        ("create index forged on events (text)", ["drop index forged"]),
        ("drop index items_user", [made]),
        ("drop index items_user; create index items_user on items (tenant)", ["drop index items_user", made]),
        (_hollow(made), ["reindex items_user"]),
    )


def _hollow(made: str) -> str:
    """An index that says it holds every row, and holds none."""
    return (
        f"drop index items_user; {made} where tenant is null; pragma writable_schema = on; "
        f"update sqlite_master set sql = '{made}' where name = 'items_user'; pragma writable_schema = reset"
    )


# -- other values -----------------------------------------------------------------------------------------


def another(kind: str, value: Any, others: Sequence[Any]) -> Any:
    """A value that could stand in the place of this one: that of another row where there is one."""
    for other in others:
        if other != value and other is not None:
            return other
    kind = kind.lower()
    if kind in ("integer", "bigint", "real", "double precision") or (isinstance(value, int | float) and kind != "text"):
        return 0 if str(value) in ("1", "1.0", "True") else 1
    if kind == "boolean":
        return not value
    if kind == "timestamp with time zone":
        return str(datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC))
    if kind in ("blob", "bytea"):
        return "\\x00ff" if kind == "bytea" else b"\x00\xff"
    if kind.startswith("vector"):
        return "[9,9]"
    if kind == "tsvector":
        return "'forged':1"
    if kind == "json":
        return '{"forged":1}'
    return "forged"


SHAPES: Sequence[Any] = (
    [], {}, ["a"], {"a": 1}, "\ud800", "", "x", 1.5, True, None, 10**18, float("nan")
)  # fmt: skip
"""What JSON can hold in the place of any other value."""


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value inside of a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for part, inner in inside:  # type: ignore[misc]
        yield (*path, part)
        yield from places(inner, (*path, part))


def replaced(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    """The JSON value with another one at that place."""
    if not path:
        return other
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], other)
    return copy


GARBAGE: Mapping[str, Sequence[Any]] = {
    "integer": ("garbage", b"\xff\xfe", 2**62, -(2**63), 1e300),
    "real": ("garbage", b"\xff"),
    "text": (b"\xff\x00", "", "{", "x" * 5000),
    "blob": ("garbage", 2**60, b""),
}
"""What SQLite takes in a column of each type, and Recollect would never write."""
STRANGE: Mapping[str, Sequence[Any]] = {
    "timestamp with time zone": ("infinity", "-infinity", "4713-01-01 00:00:00 BC"),
    "double precision": ("nan", "infinity"),
    "json": ("null", "[]", '{"is":"Nothing"}', "[" * 6000 + "]" * 6000),
    "text": ("", "{"),
    "bigint": (2**62, -1),
    "integer": (2**30, -1),
    "bytea": ("",),
}
"""The same of PostgreSQL, which takes less."""
