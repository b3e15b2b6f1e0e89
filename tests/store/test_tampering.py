"""Tampering is found: whoever changes, removes or adds anything past Recollect, `verify --deep` says so.

What it does not find stands in docs/SECURITY.md, column by column; the list is read from there. The long form takes
every cell of every row: RECOLLECT_HUNT=1 and `-o faulthandler_timeout=0`."""

import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from recollect.care import audit
from recollect.errors import NotFound
from recollect.ports import Store
from recollect.store.sql import SqlStore
from recollect.store.sqlite.engine import SqliteEngine
from tests.hunt import TIMES
from tests.postgres import fresh_database, opened_store
from tests.store import tampering
from tests.store.tampering import Database, PostgresDatabase, SqliteDatabase, Table
from tests.worlds import World


class House:
    """A store that is lived in, and the database beneath it."""

    def __init__(self, store: Store, database: Database) -> None:
        self.world: World = tampering.inhabit(store, "house")
        tampering.inhabit(store, "next door")
        self.store, self.database = store, database

    def findings(self) -> Sequence[str]:
        try:
            return [finding.what for finding in audit.verify(self.store, self.world.tenant, deep=True).findings]
        except NotFound as error:  # no tenant of this name any more: that is told as well
            return [error.what]

    def rows(self, table: Table) -> list[dict[str, Any]]:
        return tampering.rows(self.database, table, self.world.tenant)

    def some_rows(self, table: Table, column: str = "") -> list[dict[str, Any]]:
        """All rows in the long form; in the short one the one that the names choose."""
        found = self.rows(table)
        place = zlib.crc32(f"{table.name}.{column}".encode()) % max(1, len(found))
        return found if TIMES else found[place : place + 1]

    def some_columns(self, table: Table, *, covered: bool) -> list[tuple[str, str]]:
        """Columns with their types: all in the long form, in the short one those that are asked for, and on PostgreSQL
        one of each type. A row under another tenant is a row that was removed."""
        if TIMES:
            return list(table.columns.items())
        named = {name: kind for name, kind in table.columns.items() if name != "tenant" or table.name == "tenants"}
        if covered:
            named = {name: kind for name, kind in named.items() if not tampering.is_listed(table.name, name)}
            if isinstance(self.database, SqliteDatabase):
                return list(named.items())
        order = sorted(named.items(), key=lambda one: zlib.crc32(f"{table.name}.{one[0]}".encode()))
        return list({kind: (name, kind) for name, kind in order}.values())


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    if request.param == "sqlite":
        path: Path = tmp_path_factory.mktemp("tampering") / "m.db"
        store = SqlStore(SqliteEngine(path))
        yield House(store, SqliteDatabase(path))
        store.close()
        return
    with fresh_database(request.getfixturevalue("postgres_server")) as url, opened_store(url) as store:
        yield House(store, PostgresDatabase(url))


def test_every_table_is_lived_in_and_nothing_is_found(house: House):
    empty = [table.name for table in house.database.tables if not house.rows(table)]
    assert empty == []
    assert house.findings() == []


def test_every_column_that_is_not_covered_exists_and_has_its_reason(house: House):
    known = {f"{table.name}.{column}" for table in house.database.tables for column in [*table.columns, "*"]}
    both = known | {f"{name}.*" for name in ("docs", "recollect_schema", "texts_data", "texts_idx", "texts_config")}
    both |= {"vectors.data", "vectors.embedding", "vectors.rid", "events.rid", "versions.rid"}
    assert tampering.uncovered().keys() <= both
    assert all(len(reason) > 20 for reason in tampering.uncovered().values())


def test_every_cell_that_was_changed_is_found(house: House):
    missed: list[str] = []
    for table in house.database.tables:
        listed = house.rows(table)
        for column, kind in house.some_columns(table, covered=True):
            for row in house.some_rows(table, column):
                other = tampering.another(kind, row[column], [one[column] for one in listed])
                with tampering.changed(house.database, table, row, column, other) as done:
                    if done and not house.findings() and not tampering.is_listed(table.name, column):
                        missed.append(f"{table.name}.{column}: {row[column]!r} -> {other!r}")
    assert not missed, "\n".join(missed)
    assert house.findings() == []


def test_what_no_recollect_wrote_is_found_and_ends_nothing(house: House):
    """Values of other types, out of bounds, not JSON: a finding and never a traceback, in any column."""
    missed: list[str] = []
    values = tampering.GARBAGE if isinstance(house.database, SqliteDatabase) else tampering.STRANGE
    for table in house.database.tables:
        for column, kind in house.some_columns(table, covered=False):
            for row in house.some_rows(table, column):
                choice = values.get(kind.lower(), ())
                place = zlib.crc32(f"{column}.{table.name}".encode()) % max(1, len(choice))
                for value in choice if TIMES else choice[place : place + 1]:
                    if value == row[column]:
                        continue
                    with tampering.changed(house.database, table, row, column, value) as done:
                        if done and not house.findings() and not tampering.is_listed(table.name, column):
                            missed.append(f"{table.name}.{column}: {row[column]!r} -> {value!r}")
    assert not missed, "\n".join(missed)
    assert house.findings() == []


def test_a_body_of_another_shape_is_found_and_ends_nothing(house: House):
    """A list for a name, a number for a text, half a surrogate pair: anywhere in the body of any kind of entry."""
    table = next(table for table in house.database.tables if table.name == "journal_bodies")
    missed: list[str] = []
    seen: set[str] = set()
    for row in house.rows(table):
        body = json.loads(row["body"])
        for path in tampering.places(body):
            shape = f"{body['is']} {[part if isinstance(part, str) else 0 for part in path]}"
            if shape in seen and not TIMES:
                continue
            seen.add(shape)
            place = zlib.crc32(shape.encode()) % len(tampering.SHAPES)
            for value in tampering.SHAPES if TIMES else tampering.SHAPES[place : place + 1]:
                other = json.dumps(tampering.replaced(body, path, value))
                with tampering.changed(house.database, table, row, "body", other):
                    if not house.findings():
                        missed.append(f"{shape} -> {value!r}")
    assert len(seen) > 100
    assert not missed, "\n".join(missed)
    assert house.findings() == []


def test_what_was_done_to_the_schema_is_found(house: House):
    """A trigger, a rule or a policy would be at work in every later write, and what is kept is then as it wants."""
    missed: list[str] = []
    for done, undone in tampering.schemes(house.database):
        house.database.all(done)
        try:
            if not house.findings():
                missed.append(done)
        finally:
            for statement in undone:
                house.database.all(statement)
    assert not missed, "\n".join(missed)
    assert house.findings() == []


def test_a_table_of_another_tool_is_let_alone(house: House):
    if not isinstance(house.database, PostgresDatabase):
        house.database.all("create table copied_so_far (place integer)")
        assert house.findings() == []
        house.database.all("drop table copied_so_far")


def test_a_vector_that_is_none_is_found(house: House):
    if isinstance(house.database, PostgresDatabase):
        return  # its column takes vectors alone
    table = next(table for table in house.database.tables if table.name == "vectors")
    for value in ("garbage", b"", b"\0\0\0"):
        with tampering.changed(house.database, table, house.rows(table)[0], "data", value):
            assert house.findings(), value
    assert house.findings() == []


def test_every_row_that_was_removed_is_found(house: House):
    missed: list[str] = []
    for table in house.database.tables:
        if all(tampering.is_listed(table.name, name) for name in table.keys):
            continue
        for row in house.some_rows(table):
            if table.name == "texts_idx" and row["term"] == b"":
                continue  # says where a segment begins, which is where SQLite looks without it
            with tampering.removed(house.database, table, row):
                if not house.findings():
                    missed.append(f"{table.name} {row}")
    assert not missed, "\n".join(missed)
    assert house.findings() == []


def test_every_row_that_was_added_is_found(house: House):
    missed: list[str] = []
    for table in house.database.tables:
        own = [key for key in table.keys if key != "tenant"]
        if not own or "tenant" not in table.columns:
            continue  # another tenant, or a page of the text index that nothing leads to
        if all(tampering.is_listed(table.name, key) for key in own):
            continue
        for row in house.some_rows(table):
            kind = table.columns[own[-1]].lower()
            last = 10**6 if kind in ("integer", "bigint") else "forged"
            with tampering.added(house.database, table, {**row, own[-1]: last}) as done:
                if done and not house.findings():
                    missed.append(f"{table.name} {own[-1]}")
    assert not missed, "\n".join(missed)
    assert house.findings() == []
