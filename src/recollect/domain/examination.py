"""What an examination is shown of a store: its journal entry by entry, and its tables row by row, as they are held."""

from dataclasses import dataclass

from recollect.domain.ids import Seq
from recollect.domain.journal import Entry, Head, Illegible


@dataclass(frozen=True, slots=True)
class Recorded:
    """An entry of the journal, and what the index over the journal says that it names; None where nobody asked."""

    entry: Entry | Illegible
    named: frozenset[tuple[str, bool]] | None = None

    @property
    def seq(self) -> Seq:
        return self.entry.seq if isinstance(self.entry, Illegible) else self.entry.header.seq


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table, or the rows of one thing together: by which key it is found, what it says, and the small
    things that change beside that. `wrong` says what is wrong with the row by itself; what it says is then left out."""

    table: str
    key: tuple[str, ...]
    value: object = None
    beside: tuple[object, ...] = ()
    wrong: str = ""

    @property
    def name(self) -> str:
        return " ".join((self.table, *self.key))


Examined = Head | Recorded | Row
"""An examination begins with the head, goes through the journal, and ends with the rows; all of one moment."""
