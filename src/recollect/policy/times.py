"""When memories were last updated, as far as a rollback moves that.

It follows from the changes in force alone, in whatever order others were taken back: otherwise the way that led to a
state would show in it, and two ways to the same revision would not meet.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from recollect.domain.change import Create, Edit, Revise, Undo, Withdraw, plain
from recollect.domain.ids import ItemId, Seq
from recollect.policy.rollback import Past, Plan


@dataclass(slots=True)
class Times:
    """The updates of memories by entry, and which of these entries are undone."""

    updates: dict[ItemId, dict[Seq, datetime]] = field(default_factory=dict[ItemId, dict[Seq, datetime]])
    undone: set[Seq] = field(default_factory=set[Seq])
    roots: dict[Seq, Seq] = field(default_factory=dict[Seq, Seq])

    def tell(self, entry: Past) -> None:
        """The next entry of the journal."""
        change = plain(entry.change) if entry.change else None
        if entry.undoes is not None:
            self.roots[entry.seq] = self.roots.get(entry.undoes, entry.undoes)
            self.turn(entry.seq)
        elif isinstance(change, Create):
            self.updates.setdefault(change.item.id, {})[entry.seq] = change.item.updated_at
        elif isinstance(change, Revise):
            for edit in change.edits:
                if edit.field == "updated_at" and isinstance(edit.after, datetime):
                    self.updates.setdefault(change.item_id, {})[entry.seq] = edit.after

    def turn(self, seq: Seq) -> None:
        """An undoing takes an entry out of force, the next one puts it back."""
        self.undone ^= {self.roots.get(seq, seq)}

    def of(self, item_id: ItemId) -> datetime:
        """The time of the latest change in force."""
        updates = self.updates[item_id]
        return updates[max((seq for seq in updates if seq not in self.undone), default=min(updates))]


def timed(made: Plan, history: Iterable[Past]) -> Plan:
    """The plan with the times of update that its memories then have. `history`: all that happened to them."""
    times = Times()
    for entry in sorted(history, key=lambda entry: entry.seq):
        times.tell(entry)
    undo: list[Undo] = []
    for step in made.undo:
        change = step.change
        if isinstance(change, Withdraw):
            change = Withdraw(replace(change.item, updated_at=times.of(change.item.id)))
        elif isinstance(change, Revise):
            before = times.of(change.item_id)
            times.turn(step.entry)
            after = times.of(change.item_id)
            edits = tuple(edit for edit in change.edits if edit.field != "updated_at")
            change = replace(change, edits=(*edits, Edit("updated_at", before, after)) if before != after else edits)
        undo.append(Undo(step.entry, change))
    return replace(made, undo=tuple(undo))


def retimed(made: Plan) -> set[ItemId]:
    """The memories whose time of update a plan may move."""
    changes = [undo.change for undo in made.undo]
    revised = {change.item_id for change in changes if isinstance(change, Revise)}
    return revised | {change.item.id for change in changes if isinstance(change, Withdraw)}
