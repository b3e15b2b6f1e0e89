"""Which texts of a tenant hold a phrase: read out of the text index when it is first asked for, then kept up to date.

Kept of the tenant's own texts alone, so that what others write changes nothing here.
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recollect.store.sqlite.tx import token
from recollect.store.tx import Tx

Rows = NDArray[np.int64]
MOST = 4_000_000
"""So many places of phrases are kept; those asked for least recently make room."""
_LONG = 5_000
_RETESTED = 300
"""A phrase that is in many texts is not read anew where no more than so many of them have changed."""
_NOTED = 10_000


@dataclass(frozen=True, slots=True)
class _Posting:
    rows: Rows
    changes: int
    """How many changes to the texts it takes in."""


class Postings:
    """The rows of the text index that hold a phrase, by phrase. Whoever asks holds the follower's lock."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, _Posting] = OrderedDict()
        self._changed: list[int] = []
        self._size = 0

    @property
    def nbytes(self) -> int:
        return 8 * self._size

    def forget(self) -> None:
        """Texts are gone, and rows may be used again: everything is read anew."""
        self._known.clear()
        self._changed.clear()
        self._size = 0

    def changed(self, rows: Iterable[int]) -> None:
        """These rows of the text index are new, or hold other words than before."""
        self._changed.extend(rows)
        if len(self._changed) > _NOTED:
            self.forget()

    def rows(self, tx: Tx, phrase: str, *, shared: bool, keep: bool) -> Rows:
        """The rows that hold the phrase, in their order. `shared`: the file has other tenants, too. `keep`: what this
        transaction sees holds for later ones."""
        known = self._known.get(phrase)
        if known and (known.changes == len(self._changed) or not keep):
            self._known.move_to_end(phrase)
            return known.rows
        if known and len(known.rows) > _LONG and len(self._changed) - known.changes <= _RETESTED:
            found = self._retested(tx, phrase, known, shared)
        else:
            found = _matching(tx, phrase, shared)
        if keep:
            self._keep(phrase, found)
        return found

    def _retested(self, tx: Tx, phrase: str, known: _Posting, shared: bool) -> Rows:
        fresh = np.unique(np.array(self._changed[known.changes :], np.int64))
        held = _matching(tx, phrase, shared, fresh.tolist())
        return np.union1d(np.setdiff1d(known.rows, fresh, assume_unique=True), held)

    def _keep(self, phrase: str, rows: Rows) -> None:
        if before := self._known.pop(phrase, None):
            self._size -= len(before.rows)
        self._known[phrase] = _Posting(rows, len(self._changed))
        self._size += len(rows)
        while self._size > MOST and len(self._known) > 1:
            self._size -= len(self._known.popitem(last=False)[1].rows)


def _matching(tx: Tx, phrase: str, shared: bool, among: list[int] | None = None) -> Rows:
    quoted = '"' + phrase.replace('"', '""') + '"'
    match = f"tenant:{token(tx.tenant)} AND text:{quoted}" if shared else f"text:{quoted}"
    narrowed, values = ("", {}) if among is None else ("and rowid in :among[]", {"among": among})
    # As one text: a row for each place would cost twice as much.
    row = tx.one(
        f"select group_concat(rowid) from texts where texts match :match {narrowed} and :tenant is not null",
        match=match,
        **values,
    )
    if row is None or row[0] is None:
        return np.empty(0, np.int64)
    return np.sort(np.fromstring(str(row[0]), np.int64, sep=","))
