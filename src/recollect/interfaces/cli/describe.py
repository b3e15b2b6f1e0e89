"""Domain values in words for people, and as JSON for programs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any, assert_never, cast

from recollect.domain import codec
from recollect.domain.change import (
    Append,
    Change,
    Consent,
    Create,
    Derive,
    Discard,
    Disclose,
    Erase,
    Link,
    Note,
    Plain,
    Protect,
    Relink,
    Retract,
    Revise,
    Unlink,
    Withdraw,
    operation,
    plain,
)
from recollect.domain.event import Event
from recollect.domain.ids import ItemId, Seq, short
from recollect.domain.item import STATES, Active, Archived, Expired, Item, SoftDeleted, Visibility
from recollect.domain.job import JobStatus
from recollect.domain.journal import Entry
from recollect.domain.level import Level
from recollect.domain.refs import item_of
from recollect.domain.version import Version
from recollect.domain.witness import ChunkWitness, EventWitness, RangeWitness, Witness, written
from recollect.interfaces.cli.paper import clean
from recollect.policy.rollback import Plan

# Fields whose values tell nothing of what a memory says.
BLIND = frozenset(
    ["importance", "state", "default_level", "pinned_min_level", "lock", "core", "private", "trust", "constitutional"]
)


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
            return clean(f"{item.user_id}")
        case Visibility.PROJECT_SHARED:
            return clean(f"project {item.project_id}")
        case Visibility.SYSTEM:
            return "everybody"
        case Visibility.AGENT_SILO:
            return clean(f"silo of {item.agent_id}")


def state(item: Item) -> str:
    return STATES[type(item.state)].replace("soft_", "")


def who(entry: Entry) -> str:
    header = entry.header
    return clean(f"{header.actor_agent} for {header.actor}" if header.actor_agent else header.actor)


@dataclass(frozen=True, slots=True)
class Field:
    """One thing that a change did: which field, from what, to what."""

    name: str
    before: object
    after: object

    @property
    def blind(self) -> bool:
        return self.name in BLIND

    def document(self) -> dict[str, object]:
        return {"field": self.name, "before": _json(self.before), "after": _json(self.after)}


def changed(change: Change) -> list[Field]:
    """What a change did, field by field."""
    change = plain(change)
    match change:
        case Create(item):
            return [Field(name, None, value) for name, value in _said(item).items()]
        case Withdraw(item):
            return [Field(name, value, None) for name, value in _said(item).items()]
        case Revise(_, _, edits):
            return [Field(edit.field, edit.before, edit.after) for edit in edits if edit.field != "updated_at"]
        case Append(event):
            return [Field(f"event {event.seq}", None, event.text)]
        case Retract(event):
            return [Field(f"event {event.seq}", event.text, None)]
        case Derive(version):
            return [Field(f"words ({version.level.name})", None, version.content)]
        case Discard(version):
            return [Field(f"words ({version.level.name})", version.content, None)]
        case Link(relation):
            return [Field(relation.relation_type, None, short(relation.to_id))]
        case Unlink(relation):
            return [Field(relation.relation_type, short(relation.to_id), None)]
        case Relink(before, after):
            return _differences(before, after)
        case Note(before, after) | Consent(before, after):
            return _differences(before, after)
        case Protect(_, before, after):
            return [Field("constitutional", before, after)]
        case Disclose(grant_id):
            return [Field("read under grant", None, grant_id)]
        case Erase():
            return [Field("erased", None, _erased(change)), Field("reason", None, change.reason)]
        case _:
            assert_never(change)


def _said(item: Item) -> dict[str, object]:
    """The fields of a new memory that say something: what was left out, and what the entry says anyway, is not."""
    unsaid = {"id", "created_at", "updated_at", "origin_at", "actor_id", "state", "constitutional"}
    return {
        field.name: value
        for field in fields(Item)
        if field.name not in unsaid and (value := getattr(item, field.name)) not in (field.default, None, ())
    }


def _differences(before: object, after: object) -> list[Field]:
    then, now = _parts(before), _parts(after)
    return [Field(name, then.get(name), now.get(name)) for name in {**then, **now} if then.get(name) != now.get(name)]


def _parts(value: object) -> dict[str, Any]:
    return codec.encode(value) if value is not None else {}


def _erased(change: Erase) -> str:
    numbers = {
        "memory": len(change.items),
        "version": len(change.versions),
        "event": len(change.events),
        "checkpoint": len(change.checkpoints),
        "proposal": len(change.proposals),
    }
    return ", ".join(count(number, noun) for noun, number in numbers.items() if number)


def count(number: int, noun: str) -> str:
    """`1 memory`, `2 memories`."""
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {plural}"


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
            return clean(f"{name} ({thing.reason})" if thing.reason else name)
        case str() | int() | float():
            return clean(str(thing))
        case tuple():
            return ", ".join(value(part) for part in cast(tuple[object, ...], thing))
        case _ if is_dataclass(thing):
            return _body(thing)
        case _:
            return clean(codec.canonical(thing))


def _body(thing: object) -> str:
    """A dataclass by its fields that say something; `Fact(value=…)` is its value."""
    said = {name: part for name, part in _parts(thing).items() if name != "is" and part not in ("", [], {}, 1.0)}
    if list(said) == ["value"]:
        return clean(str(said["value"]))
    return clean(", ".join(f"{name} {part}" for name, part in said.items())) or "—"


def _json(thing: object) -> object:
    match thing:
        case None | bool() | str() | int() | float():
            return thing.value if isinstance(thing, Enum) else thing
        case datetime():
            return codec.when(thing)
        case tuple():
            return [_json(part) for part in cast(tuple[object, ...], thing)]
        case _ if is_dataclass(thing):
            return codec.encode(thing)
        case _:
            return thing


# -- documents ----------------------------------------------------------------------------------------------


def item_document(item: Item, words: str) -> dict[str, object]:
    """A memory as JSON: its fields under their own names, its kind, its short id and its words."""
    encoded = codec.encode(item)
    del encoded["is"]
    return {"id": item.id, "short": short(item.id), "kind": item.kind, "words": words, **encoded, "state": state(item)}


def version_document(version: Version, current: bool) -> dict[str, object]:
    return {
        "id": version.id,
        "level": version.level.name,
        "current": current,
        "created_at": codec.when(version.created_at),
        "derived_from": version.derived_from,
        "derivation": version.derivation.value if version.derivation else None,
        "content": version.content,
        "sentences": [
            {
                "text": bullet.text,
                "witnesses": [{"ref": written((witness,)), "reason": witness.reason} for witness in bullet.witnesses],
            }
            for bullet in version.bullets
        ],
    }


def event_document(event: Event) -> dict[str, object]:
    return {
        "id": event.id,
        "thread": event.item_id,
        "seq": event.seq,
        "at": codec.when(event.ts),
        "author": event.author,
        "role": event.role,
        "trust": event.trust.value,
        "text": event.text,
    }


def entry_document(entry: Entry, *, blind: bool = False) -> dict[str, object]:
    header = entry.header
    told: dict[str, object] = {
        "seq": header.seq,
        "rev": header.rev,
        "at": codec.when(header.at),
        "op": header.op,
        "memory": header.item_id,
        "actor": header.actor,
        "role": header.actor_role.value,
        "agent": header.actor_agent,
        "cause": header.cause,
        "undoes": header.undoes,
    }
    if blind:
        return told
    change = entry.change
    return {
        **told,
        "erased": change is None,
        "fields": [field.document() for field in changed(change)] if change else [],
    }


def plan_document(plan: Plan) -> dict[str, object]:
    return {
        "undo": [
            {
                "entry": undo.entry,
                "does": operation(undo),
                "memory": item_of(undo.change),
                "fields": [field.name for field in changed(undo.change)],
            }
            for undo in plan.undo
        ],
        "stays": [{"entry": stay.seq, "why": stay.why} for stay in plan.stays],
        "blocked_by": list(plan.blocked_by),
    }


def job_document(status: JobStatus, stage: str) -> dict[str, object]:
    return {
        "id": status.job.id,
        "kind": status.job.kind,
        "key": status.job.key,
        "stage": stage,
        "not_before": codec.when(status.job.not_before),
        "every_s": status.job.every.total_seconds() if status.job.every else None,
        "step": status.step,
        "attempts": status.attempts,
        "last_error": status.last_error,
    }


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
