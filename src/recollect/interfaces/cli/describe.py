"""Domain values in words for people."""

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from datetime import datetime
from enum import Enum
from typing import cast

from recollect.domain import codec
from recollect.domain.change import (
    Append,
    Create,
    Derive,
    Discard,
    Link,
    Note,
    Plain,
    Relink,
    Retract,
    Revise,
    Unlink,
    Withdraw,
    operation,
)
from recollect.domain.event import Event
from recollect.domain.ids import ItemId, Seq, short
from recollect.domain.item import STATES, Active, Archived, Expired, Item, SoftDeleted, Visibility
from recollect.domain.journal import Entry
from recollect.domain.level import Level
from recollect.domain.witness import ChunkWitness, EventWitness, RangeWitness, Witness
from recollect.interfaces.cli.paper import continued, line
from recollect.interfaces.documents import Field, changed, parts


def when(at: datetime) -> str:
    """A moment by the clock of the one who reads."""
    return at.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def minute(at: datetime) -> str:
    return at.astimezone().strftime("%Y-%m-%d %H:%M")


def zone(at: datetime) -> str:
    return at.astimezone().strftime("%Z")


def whose(item: Item) -> str:
    """Who may see a memory, in a word or two."""
    match item.visibility:
        case Visibility.USER_PRIVATE:
            return line(f"{item.user_id}")
        case Visibility.PROJECT_SHARED:
            return line(f"project {item.project_id}")
        case Visibility.SYSTEM:
            return "everybody"
        case Visibility.AGENT_SILO:
            return line(f"silo of {item.agent_id}")


def who(entry: Entry) -> str:
    header = entry.header
    return line(f"{header.actor_agent} for {header.actor}" if header.actor_agent else header.actor)


def value(thing: object) -> str:
    """Any value of a field, in words."""
    match thing:
        case None | ():
            return "—"
        case bool():
            return "yes" if thing else "no"
        case datetime():
            return when(thing)
        case Level():
            return thing.name
        case Enum():
            return str(thing.value)
        case Active():
            return "active"
        case Archived() | Expired() | SoftDeleted():
            name = STATES[type(thing)].replace("soft_", "")
            return line(f"{name} ({thing.reason})" if thing.reason else name)
        case str() | int() | float():
            return continued(str(thing))
        case tuple():
            return ", ".join(value(part) for part in cast(tuple[object, ...], thing))
        case _ if is_dataclass(thing):
            return _body(thing)
        case _:
            return continued(codec.canonical(thing))


def _body(thing: object) -> str:
    """A dataclass by its fields that say something; `Fact(value=…)` is its value."""
    said = {name: part for name, part in parts(thing).items() if name != "is" and part not in ("", [], {}, 1.0)}
    if list(said) == ["value"]:
        return continued(str(said["value"]))
    return continued(", ".join(f"{name} {part}" for name, part in said.items())) or "—"


# -- witnesses and rollbacks --------------------------------------------------------------------------------


def attested(witness: Witness, evidence: Sequence[Event]) -> list[int]:
    """The places of the events, in the list of evidence and counted from 1, that a witness points at."""
    match witness:
        case EventWitness(event_id) | ChunkWitness(event_id):
            return [place for place, event in enumerate(evidence, 1) if event.id == event_id]
        case RangeWitness(episode_id, first, last):
            return [
                place
                for place, event in enumerate(evidence, 1)
                if event.item_id == episode_id and first <= event.seq <= last
            ]


_DOES: Mapping[type[Plain], str] = {
    Create: "bring the memory back",
    Withdraw: "withdraw the memory",
    Append: "bring the event back",
    Retract: "withdraw the event",
    Derive: "bring the words back",
    Discard: "withdraw the words",
    Link: "link again",
    Unlink: "unlink",
    Relink: "link as before",
    Note: "take the record back",
}


def undoing(change: Plain) -> str:
    """What taking an entry back does, without saying what a memory says."""
    if isinstance(change, Revise):
        return "set back: " + ", ".join(_set_back(field) for field in changed(change))
    return _DOES.get(type(change), operation(change))


def _set_back(field: Field) -> str:
    if not field.blind:
        return field.name
    return f"{field.name} {_stage(field.before)} → {_stage(field.after)}"


def _stage(thing: object) -> str:
    """A value of a blind field; of a state its name alone, for a reason is somebody's words."""
    if isinstance(thing, Active | Archived | Expired | SoftDeleted):
        return STATES[type(thing)].replace("soft_", "")
    return value(thing)


def memory_of(entry_item: ItemId | None) -> str:
    return short(entry_item) if entry_item else ""


def numbers(seqs: Sequence[Seq], limit: int = 20) -> str:
    """Entries by number, not all of very many."""
    named = ", ".join(map(str, seqs[:limit]))
    return f"{named} and {len(seqs) - limit} more" if len(seqs) > limit else named
