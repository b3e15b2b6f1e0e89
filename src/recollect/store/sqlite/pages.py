"""The bytes of a database file, and the free space inside its pages.

`secure_delete` overwrites rows that are deleted. It does not overwrite the copies that stay behind where SQLite moved
rows to another page to make room: they lie in the gap between a page's cell pointers and its cells, which nothing
reads. An erased word was found there in one of three stores of a thousand memories.

The file is read through SQLite's own file layer: to open and close it in any other way would drop the locks that this
process holds on it, and others would take the store for one that nobody uses.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import apsw

_BATCH = 256
# An overflow or free page begins with a page number, whose first byte is 0 up to page 2 ** 24: with pages of 4 KB, in
# files of less than 64 GB.
_MOST_PAGES = 2**24
_POINTERS_AT = {2: 12, 5: 12, 10: 8, 13: 8}
"""Where the cell pointers begin in b-tree pages of each kind."""


class Pages:
    """A database file page by page."""

    def __init__(self, path: Path) -> None:
        flags = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE
        self._file = apsw.VFSFile("", str(path), [flags, 0])
        self.size = int.from_bytes(self._file.xRead(2, 16)) or 65536
        if self.size == 1:
            self.size = 65536
        self.count = self._file.xFileSize() // self.size

    def unclean(self) -> list[int]:
        """The pages whose gap holds something. The first page holds the schema and nobody's words."""
        if self.count >= _MOST_PAGES:
            return []
        found: list[int] = []
        for first in range(1, self.count, _BATCH):
            batch = self._file.xRead(min(_BATCH, self.count - first) * self.size, first * self.size)
            for number in range(len(batch) // self.size):
                start, end = _gap(batch, number * self.size)
                if batch.count(0, start, end) != end - start:
                    found.append(first + number)
        return found

    def clean(self, pages: Iterable[int]) -> None:
        """Overwrite their gaps. Only for who keeps all writers out, with the log empty."""
        for page, start, end in self._gaps(pages):
            cast(Any, self._file).xWrite(bytes(end - start), page * self.size + start)
        self._file.xSync(apsw.SQLITE_SYNC_FULL)

    def _gaps(self, pages: Iterable[int]) -> Iterator[tuple[int, int, int]]:
        for page in pages:
            content = self._file.xRead(self.size, page * self.size)
            start, end = _gap(content, 0)
            if start < end:
                yield page, start, end

    def close(self) -> None:
        self._file.xClose()


def read_header(path: Path) -> bytes:
    """The first bytes of a file that may be a database."""
    file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
    try:
        return file.xRead(min(100, file.xFileSize()), 0)
    finally:
        file.xClose()


def _gap(pages: bytes, at: int) -> tuple[int, int]:
    """From where to where nothing lies in the page that begins here; nowhere in a page that holds no cells."""
    if pages[at] not in _POINTERS_AT:
        return at, at
    cells = int.from_bytes(pages[at + 3 : at + 5])
    content = int.from_bytes(pages[at + 5 : at + 7]) or 65536
    start = at + _POINTERS_AT[pages[at]] + 2 * cells
    return start, max(start, at + content)
