"""The schema of a file: migrations run, and what somebody made of it since."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import apsw

from recollect.domain.witness import bare
from recollect.store.migrations import Migration
from recollect.store.sqlite.tx import token
from recollect.store.words import indexed

if TYPE_CHECKING:
    from recollect.store.sqlite.tx import Connection

_SCHEMA = r"select type, name, sql from sqlite_schema where name not like 'sqlite\_%' escape '\'"
_INDEXED = ("texts_", "vocabulary_")
"""How the tables begin that FTS5 makes for itself, in words of its own."""


def run(connection: "Connection", migration: Migration) -> None:
    # What migrations call: texts as the text index takes them.
    connection.create_scalar_function("recollect_token", token, 1)
    connection.create_scalar_function("recollect_bare", bare, 1)
    connection.create_scalar_function("recollect_indexed", indexed, 2)
    for statement in migration.statements:
        connection.execute(statement)


def changes(connection: "Connection", known: Sequence[Migration]) -> Iterator[str]:
    """Where the schema is another than migrations make it. A trigger or a view would be at work in every write and in
    every answer; a column or an index can hold what was erased. A table of somebody else's, of a tool that copies the
    file for example, does nothing by itself."""
    fresh = cast("Connection", apsw.Connection(":memory:"))
    try:
        for migration in known:
            run(fresh, migration)
        made = _parts(fresh)
    finally:
        fresh.close()
    held = _parts(connection)
    for part in sorted(held.keys() | made.keys()):
        if part not in made and part[0] == "table":
            continue
        if part not in made:
            yield f"{' '.join(part)} is none of Recollect's"
        elif part not in held:
            yield f"{' '.join(part)} is missing"
        elif held[part] != made[part]:
            yield f"{' '.join(part)} is not as Recollect makes it"


def _parts(connection: "Connection") -> Mapping[tuple[str, str], list[str]]:
    """By kind and name, how each part of the schema was made."""
    return {
        (str(kind), str(name)): [] if str(name).startswith(_INDEXED) else str(sql).split()
        for kind, name, sql in connection.execute(_SCHEMA)
    }
