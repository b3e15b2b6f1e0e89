"""The text index of SQLite under examination: it keeps words and their places, and no texts."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

import apsw

from recollect.store.sqlite.words import all_tokens
from recollect.store.tx import Text
from recollect.store.words import indexed

if TYPE_CHECKING:
    from recollect.store.sqlite.tx import Connection

_FIRST_TEXTS, _FIRST_WORDS = 200, 3200
_FIRST_TERM = "recollectfirsttext"
"""The texts that the index begins with, which nobody asks for."""
_LONGEST_WORD = 32_768
_SETTINGS = {"secure-delete": 1, "automerge": 8}


def misindexed(
    connection: "Connection", token: str, texts: Iterator[Text], place: Callable[[str], int]
) -> Iterator[tuple[str, str]]:
    """Where the index holds anything but these texts under the token of their tenant."""
    try:
        yield from _settings(connection)
        held = _held(connection, token)
        yield from _totals(connection, held)
    except (apsw.Error, ValueError, TypeError, KeyError):
        yield "as a whole", "cannot be read"
        return
    for text in texts:
        try:
            at = place(text.ref)
        except AssertionError:
            yield text.ref, "is not indexed: its row has no place"
            continue
        found = held.sums.pop(at, None)
        if found is None:
            yield text.ref, "is not indexed"
        elif found != _sum("tenant", token) + _sum("text", indexed(text.text, text.names)):
            yield text.ref, "is not indexed as it reads"
        held.ours.discard(at)
    for at in sorted(held.ours):
        yield f"row {at}", "is indexed, and there is no such text"


def _settings(connection: "Connection") -> Iterator[tuple[str, str]]:
    held = dict(connection.execute("select k, v from texts_config where k <> 'version'").fetchall())
    if held != _SETTINGS:
        yield "as a whole", "is not set up as it was made: erased words may be left in it"


@dataclass(slots=True)
class _Held:
    """What the words of every indexed text add up to, which texts are under the token of the tenant, how many words the
    columns hold, and words that a search for them does not find everywhere."""

    sums: dict[int, int] = field(default_factory=dict[int, int])
    ours: set[int] = field(default_factory=set[int])
    words: dict[str, int] = field(default_factory=lambda: {"tenant": 0, "text": _FIRST_WORDS})
    lost: int = 0


def _held(connection: "Connection", token: str) -> _Held:
    connection.execute("create virtual table if not exists temp.instances using fts5vocab(main, texts, instance)")
    found = _Held()
    (mine,) = all_tokens(token)
    rows = connection.execute("select term, doc, col, offset from temp.instances where doc > 0")
    for term, places in groupby(rows, lambda row: row[0]):
        docs: set[int] = set()
        for _, doc, column, offset in places:
            found.sums[doc] = found.sums.get(doc, 0) + hash((term, column, offset))
            found.words[column] += 1
            docs.add(doc)
            if column == "tenant" and term == mine:
                found.ours.add(doc)
        # What was gone through above is looked for here: by the way in that a search takes.
        counted = connection.execute("select doc from vocabulary where term = ?", (term,)).fetchone()
        found.lost += counted is None or (counted[0] != len(docs) and term != _FIRST_TERM)
    return found


def _totals(connection: "Connection", held: _Held) -> Iterator[tuple[str, str]]:
    """The index's own count of its texts and words, by which it weighs them."""
    (block,) = connection.execute("select block from texts_data where id = 1").fetchone() or (b"",)
    told = [_FIRST_TEXTS + len(held.sums), held.words["tenant"], held.words["text"]]
    if not isinstance(block, bytes) or _numbers(block) != told:
        yield "as a whole", "counts other texts and words than it holds"
    if held.lost:
        yield "as a whole", "does not find every text of some words"


def _numbers(block: bytes) -> list[int]:
    """Numbers as SQLite packs them: seven bits a byte, the highest first; a byte below 128 is the last."""
    found: list[int] = []
    number = 0
    for byte in block:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            found.append(number)
            number = 0
    return found


def _sum(column: str, text: str) -> int:
    return sum(hash((_cut(term), column, offset)) for offset, term in enumerate(all_tokens(text)))


def _cut(term: str) -> str:
    """A word as FTS5 keeps it: of a longer one, the beginning."""
    return term if len(term) <= _LONGEST_WORD // 4 else term.encode()[:_LONGEST_WORD].decode(errors="replace")
