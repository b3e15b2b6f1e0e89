"""The text index of SQLite under examination: it keeps words and their places, and no texts."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, cast

import apsw

from recollect.store.sqlite.words import all_tokens
from recollect.store.tx import Text
from recollect.store.words import indexed

if TYPE_CHECKING:
    from recollect.store.sqlite.tx import Connection

_SETTINGS = {"secure-delete": 1, "automerge": 8}


def misindexed(
    connection: "Connection", token: str, texts: Iterator[Text], place: Callable[[str], int]
) -> Iterator[tuple[str, str]]:
    """Where the index holds anything but these texts under the token of their tenant."""
    try:
        yield from _settings(connection)
        yield from _damage(connection)
        sums, ours = _held(connection, token)
    except (apsw.Error, ValueError, TypeError):
        yield "as a whole", "cannot be read"
        return
    for text in texts:
        try:
            at = place(text.ref)
        except AssertionError:
            yield text.ref, "is not indexed: its row has no place"
            continue
        found = sums.pop(at, None)
        if found is None:
            yield text.ref, "is not indexed"
        elif found != _sum("tenant", token) + _sum("text", indexed(text.text, text.names)):
            yield text.ref, "is not indexed as it reads"
        ours.discard(at)
    for at in sorted(ours):
        yield f"row {at}", "is indexed, and there is no such text"


def _settings(connection: "Connection") -> Iterator[tuple[str, str]]:
    held = dict(connection.execute("select k, v from texts_config where k <> 'version'").fetchall())
    if held != _SETTINGS:
        yield "as a whole", "is not set up as it was made: erased words may be left in it"


def _damage(connection: "Connection") -> Iterator[tuple[str, str]]:
    """What SQLite finds wrong with the index. On a connection of its own: FTS5 holds the index against what the
    connection remembers of it, and one that has read it before others wrote finds damage where there is none."""
    fresh = cast("Connection", apsw.Connection(connection.filename, apsw.SQLITE_OPEN_READWRITE))
    try:
        for (line,) in fresh.execute("pragma integrity_check(texts)"):
            if line != "ok":
                yield "as a whole", f"is damaged: {line}"
    finally:
        fresh.close()


def _held(connection: "Connection", token: str) -> tuple[dict[int, int], set[int]]:
    """What the words of every indexed text add up to, and which of the texts are under this token."""
    connection.execute("create virtual table if not exists temp.instances using fts5vocab(main, texts, instance)")
    sums: dict[int, int] = {}
    ours: set[int] = set()
    (mine,) = all_tokens(token)
    for term, doc, column, offset in connection.execute(
        "select term, doc, col, offset from temp.instances where doc > 0"
    ):
        sums[doc] = sums.get(doc, 0) + hash((term, column, offset))
        if column == "tenant" and term == mine:
            ours.add(doc)
    return sums, ours


def _sum(column: str, text: str) -> int:
    return sum(hash((term, column, offset)) for offset, term in enumerate(all_tokens(text)))
