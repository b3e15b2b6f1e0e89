"""Everything that can happen to memory, as one closed union.

A change carries what was there before and what is there after, so its inverse needs nothing else. The three
stages are always the same: somebody decides on changes, the store applies them, the journal keeps them.
"""

from dataclasses import dataclass, fields, replace
from datetime import datetime
from enum import StrEnum
from typing import assert_never, cast

from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId, RecordId, Seq, VersionId
from recollect.domain.item import Active, Archived, Expired, Item, SoftDeleted, State
from recollect.domain.record import Asked, Decided, Ended, Given, Pending, Record, family
from recollect.domain.relation import Relation
from recollect.domain.text import sound
from recollect.domain.version import Version


@dataclass(frozen=True, slots=True)
class Create:
    """A memory comes to be (or comes back, after a rollback withdrew it)."""

    item: Item


@dataclass(frozen=True, slots=True)
class Withdraw:
    """A memory is hidden as if it had never been made. Its rows are kept."""

    item: Item


class Verb(StrEnum):
    """Why an item's fields changed."""

    UPDATE = "update"
    MERGE = "merge"
    SUPERSEDE = "supersede"
    ARCHIVE = "archive"
    EXPIRE = "expire"
    SOFT_DELETE = "soft_delete"
    RESTORE = "restore"
    PROMOTE = "promote"
    PIN = "pin"
    UNPIN = "unpin"
    LOCK = "lock"
    UNDO = "undo"


@dataclass(frozen=True, slots=True)
class Edit:
    """One field of an item, before and after."""

    field: str
    before: object
    after: object


REVISABLE = frozenset(field.name for field in fields(Item)) - {"id", "constitutional", "created_at"}


@dataclass(frozen=True, slots=True)
class Revise:
    """Fields of a memory change. Protection is not among them: it has a change of its own."""

    item_id: ItemId
    verb: Verb
    edits: tuple[Edit, ...]

    def __post_init__(self) -> None:
        if not self.edits:
            raise ValueError("nothing changes: the new values are the old ones")
        for edit in self.edits:
            if edit.field not in REVISABLE:
                raise ValueError(f"the field {edit.field!r} of a memory cannot be revised")


def revise(before: Item, after: Item, at: datetime, verb: Verb = Verb.UPDATE) -> Revise:
    """The change from one reading of an item to another. It counts as an update of that moment."""
    changed = [
        Edit(field.name, getattr(before, field.name), getattr(after, field.name))
        for field in fields(Item)
        if field.name != "updated_at" and getattr(before, field.name) != getattr(after, field.name)
    ]
    if changed:
        changed.append(Edit("updated_at", before.updated_at, at))
    return Revise(before.id, verb, tuple(changed))


def move(item: Item, state: State, at: datetime) -> Revise:
    """An item into another state of its life."""
    match state:
        case Active():
            verb = Verb.RESTORE
        case Archived():
            verb = Verb.ARCHIVE
        case Expired():
            verb = Verb.EXPIRE
        case SoftDeleted():
            verb = Verb.SOFT_DELETE
    return revise(item, replace(item, state=state), at, verb)


@dataclass(frozen=True, slots=True)
class Append:
    """Evidence arrives. The store gives an unplaced event its sequence number."""

    event: Event


@dataclass(frozen=True, slots=True)
class Retract:
    """Evidence is hidden. It is kept."""

    event: Event


@dataclass(frozen=True, slots=True)
class Derive:
    """A version is added to its item."""

    version: Version


@dataclass(frozen=True, slots=True)
class Discard:
    """A version is hidden. It is kept."""

    version: Version


@dataclass(frozen=True, slots=True)
class Link:
    relation: Relation


@dataclass(frozen=True, slots=True)
class Unlink:
    relation: Relation


@dataclass(frozen=True, slots=True)
class Relink:
    """The edge between two items gets another type or strength."""

    before: Relation
    after: Relation

    def __post_init__(self) -> None:
        if (self.before.from_id, self.before.to_id) != (self.after.from_id, self.after.to_id):
            raise ValueError("relinking keeps both ends: unlink and link instead")


@dataclass(frozen=True, slots=True)
class Note:
    """A record is opened (before is None), moves on, or is taken back (after is None)."""

    before: Record | None
    after: Record | None

    def __post_init__(self) -> None:
        if self.before is None and self.after is None:
            raise ValueError("a note about nothing")
        if self.before and self.after and _named(self.before) != _named(self.after):
            raise ValueError("a record keeps its id and its family")
        if isinstance(self.after, Decided | Given):
            raise ValueError("what a person decides is recorded with Consent")


def _named(record: Record) -> tuple[str, RecordId]:
    return family(record), record.id


@dataclass(frozen=True, slots=True)
class Protect:
    """A memory becomes constitutional, or an admin lifts that. No rollback touches it."""

    item_id: ItemId
    before: bool
    after: bool


@dataclass(frozen=True, slots=True)
class Consent:
    """A person's word on a proposal or a grant."""

    before: Pending | Asked
    after: Decided | Given | Ended

    def __post_init__(self) -> None:
        if _named(self.before) != _named(self.after):
            raise ValueError("consent is given to the very thing that was asked")


@dataclass(frozen=True, slots=True)
class Disclose:
    """What is not shown by default was read: something in a silo, under a grant, or a single version's words."""

    grant_id: RecordId | None
    item_id: ItemId
    version_id: VersionId | None = None

    def __post_init__(self) -> None:
        if self.grant_id is None and self.version_id is None:
            raise ValueError("a reading is recorded with the grant it was under, or the version that was read")


@dataclass(frozen=True, slots=True)
class Erase:
    """Content is gone for good: from rows, indexes and journal bodies. Only ids and places are named here.

    The store fills in `bodies`: the journal entries whose content goes with it; and `named`: the digest of what these
    name, which nobody could tell from them afterwards.
    """

    items: tuple[ItemId, ...]
    versions: tuple[VersionId, ...]
    events: tuple[EventId, ...]
    checkpoints: tuple[RecordId, ...]
    reason: str
    proposals: tuple[RecordId, ...] = ()
    bodies: tuple[Seq, ...] = ()
    named: str | None = None

    def __post_init__(self) -> None:
        sound(self.reason, "the reason", 10_000)


@dataclass(frozen=True, slots=True)
class Undo:
    """The inverse of an entry, applied by the time machine."""

    entry: Seq
    change: "Plain"


Plain = (
    Create
    | Withdraw
    | Revise
    | Append
    | Retract
    | Derive
    | Discard
    | Link
    | Unlink
    | Relink
    | Note
    | Protect
    | Consent
    | Disclose
    | Erase
)
Change = Plain | Undo


@dataclass(frozen=True, slots=True)
class Irreversible:
    """There is no way back from this, and why."""

    why: str


def inverse(change: Change) -> Plain | Irreversible:
    """The change that takes this one back."""
    match change:
        case Create(item):
            return Withdraw(item)
        case Withdraw(item):
            return Create(item)
        case Revise(item_id, _, edits):
            back = tuple(Edit(edit.field, edit.after, edit.before) for edit in reversed(edits))
            return Revise(item_id, Verb.UNDO, back)
        case Append(event):
            return Retract(event)
        case Retract(event):
            return Append(event)
        case Derive(version):
            return Discard(version)
        case Discard(version):
            return Derive(version)
        case Link(relation):
            return Unlink(relation)
        case Unlink(relation):
            return Link(relation)
        case Relink(before, after):
            return Relink(after, before)
        case Note(Decided() | Given(), _):
            return Irreversible("what a person decided stays decided, and what ended it does too")
        case Note(before, after):
            return Note(after, before)
        case Protect():
            return Irreversible("protection is lifted by an admin, not by the time machine")
        case Consent():
            return Irreversible("what a person decided stays decided")
        case Disclose():
            return Irreversible("what was read cannot be unread")
        case Erase():
            return Irreversible("the content is gone")
        case Undo(_, inner):
            return inverse(inner)
        case _:
            assert_never(change)


def plain(change: Change) -> Plain:
    """The change itself, whether or not it was made by the time machine."""
    return change.change if isinstance(change, Undo) else change


def operation(change: Change) -> str:
    """The change in one content-free word, as the journal's headers spell it."""
    change = plain(change)
    match change:
        case Revise(_, verb):
            return verb.value
        case Note(before, after):
            record = cast(Record, after or before)
            stage = type(record).__name__.lower() if after else "retracted"
            return f"{family(record)}_{stage}"
        case Consent(_, after):
            return f"consent_{type(after).__name__.lower()}"
        case Protect(_, _, after):
            return "protect" if after else "unprotect"
        case _:
            return type(change).__name__.lower()
