"""What a store holds, row by row, against what its journal tells."""

from collections.abc import Iterator

from recollect.domain.examination import Row
from recollect.domain.ids import EventId, ItemId
from recollect.domain.journal import mark_hash
from recollect.policy.replay import Account, Held, sealed

_MISSING = "is missing: the journal tells of it"
_FOREIGN = "is not accounted for: the journal does not tell of it"
_OTHER = "is not what the journal tells of it"


class Comparison:
    """One look at every row. What was told and not met by then is missing."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._told = {table: dict(rows) for table, rows in account.rows().items()}
        self._participants = account.participants()
        self._marks = set(account.marks)
        self._unread: set[str] = set()
        """Tables that could not be read to their end: what is missing there is not known."""

    def look(self, row: Row) -> str | None:
        """What is wrong with a row; None where it is what the journal tells."""
        if not row.key:
            self._unread.add(row.table)
        match row.table:
            case "participants":
                what = self._took_part(row)
            case "private_events":
                what = self._marked(row)
            case _:
                what = self._compared(row)
        what = row.wrong or what
        return f"{row.name} {what}" if what else None

    def _compared(self, row: Row) -> str:
        told = self._told.get(row.table, {}).pop(row.key, None)
        if row.wrong:
            return ""
        if told is None:
            return _FOREIGN
        return "" if told == self._held(row) else _OTHER

    def _held(self, row: Row) -> Held:
        if row.table == "items" and not self._account.strict:
            return sealed(row.value), (*row.beside[:-1], None)
        return sealed(row.value), row.beside

    def _took_part(self, row: Row) -> str:
        told = self._participants.pop(ItemId(row.key[0]), None) if row.key else None
        if row.wrong:
            return ""
        if told is None:
            return _FOREIGN
        held = set(row.beside)
        return "" if held == told or (row.key[0] in self._account.loose and held >= told) else _OTHER

    def _marked(self, row: Row) -> str:
        if row.wrong or not row.key:
            return ""
        event_id = EventId(row.key[0])
        mark, said = mark_hash(event_id), self._account.events.get(event_id)
        told = mark in self._marks
        self._marks.discard(mark)
        if said is None or (not told and self._account.strict):
            return _FOREIGN
        return "" if row.value == said.item_id else _OTHER

    def missing(self) -> Iterator[str]:
        """What the journal tells of and no row held."""
        for table, rows in self._told.items():
            if table in self._unread:
                continue
            spare = self._account.erased_checkpoints if table == "supervisor_checkpoints" else 0
            for key in sorted(rows)[spare:]:
                yield f"{' '.join((table, *key))} {_MISSING}"
        if "participants" not in self._unread:
            yield from (f"participants {id} {_MISSING}" for id in sorted(self._participants))
        if self._marks and "private_events" not in self._unread:
            events = sorted(self._account.events)
            yield from (f"private_events {id} {_MISSING}" for id in events if mark_hash(id) in self._marks)
