"""Domain values as JSON documents: the same on the command line, over HTTP and for MCP."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any, assert_never, cast

from recollect.care import rejudge
from recollect.care.audit import Verified
from recollect.care.remake import Remade, Survey
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
    Protect,
    Relink,
    Retract,
    Revise,
    Unlink,
    Withdraw,
    operation,
    plain,
)
from recollect.domain.event import Event, Trust
from recollect.domain.ids import short
from recollect.domain.item import STATES, Item
from recollect.domain.job import JobStatus, Pending
from recollect.domain.journal import Entry, Header
from recollect.domain.portion import Portion
from recollect.domain.query import Answer, Result
from recollect.domain.refs import item_of
from recollect.domain.version import Version
from recollect.domain.witness import written
from recollect.policy.distil import served
from recollect.policy.lifecycle import held
from recollect.policy.rollback import Plan
from recollect.read.shown import Shown
from recollect.write.message import Ingested, Remembered

# Fields whose values tell nothing of what a memory says.
BLIND = frozenset(
    ["importance", "state", "default_level", "pinned_min_level", "lock", "core", "private", "trust", "constitutional"]
)


def state(item: Item) -> str:
    return STATES[type(item.state)].replace("soft_", "")


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
            return [Field(f"event {event.seq}", None, event.text), *_doubt(event)]
        case Retract(event):
            return [Field(f"event {event.seq}", event.text, None), *_doubt(event)]
        case Derive(version):
            return [Field(f"words ({version.level.name})", None, served(version.content, version.bullets))]
        case Discard(version):
            return [Field(f"words ({version.level.name})", served(version.content, version.bullets), None)]
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
        case Disclose(grant_id, _, version_id):
            read = [Field("read under grant", None, grant_id)] if grant_id else []
            return [*read, *([Field("version read", None, version_id)] if version_id else [])]
        case Erase():
            return [Field("erased", None, _erased(change)), Field("reason", None, change.reason)]
        case _:
            assert_never(change)


def _doubt(event: Event) -> list[Field]:
    """That an event is untrusted, where it is: nothing about it changed, and whoever reads its words is told."""
    untrusted = event.trust is Trust.UNTRUSTED
    return [Field(f"event {event.seq} trust", event.trust, event.trust)] if untrusted else []


def _said(item: Item) -> dict[str, object]:
    """The fields of a new memory that say something: what was left out, and what the entry says anyway, is not."""
    unsaid = {"id", "created_at", "updated_at", "origin_at", "actor_id", "state", "constitutional"}
    return {
        field.name: value
        for field in fields(Item)
        if field.name not in unsaid and (value := getattr(item, field.name)) not in (field.default, None, ())
    }


def _differences(before: object, after: object) -> list[Field]:
    then, now = parts(before), parts(after)
    return [Field(name, then.get(name), now.get(name)) for name in {**then, **now} if then.get(name) != now.get(name)]


def parts(value: object) -> dict[str, Any]:
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


def item_document(item: Item, words: str | None = None, doubt: Item | None = None) -> dict[str, object]:
    """A memory as JSON: its fields under their own names, its kind, its short id, since when it holds (`doubt`: what
    may have taken its place) and, where they are given, its words."""
    encoded = codec.encode(item)
    del encoded["is"]
    said = {} if words is None else {"words": words}
    named = {"id": item.id, "short": short(item.id), "kind": item.kind}
    return {**named, **said, **encoded, "state": state(item), "held": held(item, doubt)}


def version_document(version: Version) -> dict[str, object]:
    return {
        "id": version.id,
        "level": version.level.name,
        "created_at": codec.when(version.created_at),
        "derived_from": version.derived_from,
        "derivation": version.derivation.value if version.derivation else None,
        "content": served(version.content, version.bullets),
        "sentences": [
            {
                "text": bullet.served,
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
        "meta": dict(event.meta),
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
    undone = {
        undo.entry: (operation(undo), item_of(undo.change), [field.name for field in changed(undo.change)])
        for undo in plan.undo
    } | {one.entry: (one.does, one.item_id, list[str]()) for one in plan.unread}
    return {
        "undo": [
            {"entry": entry, "does": does, "memory": item_id, "fields": fields}
            for entry, (does, item_id, fields) in sorted(undone.items(), reverse=True)
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


def pending_document(pending: Pending) -> dict[str, object]:
    return {
        "messages": pending.messages,
        "jobs": pending.jobs,
        "parked": pending.parked,
        "why": pending.why,
        "settled": pending.settled,
    }


def survey_document(survey: Survey) -> dict[str, object]:
    return {
        "threads": survey.threads,
        "messages": survey.messages,
        "old_memories": survey.memories,
        "old_summaries": survey.summaries,
        "by_rules": survey.by_rules,
    }


def remade_document(remade: Remade) -> dict[str, object]:
    return {
        "cause": remade.cause,
        "left": remade.left,
        "settled": remade.settled,
        "failed": remade.failed,
        "created": remade.created,
        "renewed": remade.renewed,
        "hidden": remade.hidden,
        "summaries": remade.summaries,
    }


def contradictions_document(survey: rejudge.Survey) -> dict[str, object]:
    return {"contradictions": survey.contradictions, "left_alone": survey.left_alone}


def rejudged_document(rejudged: rejudge.Rejudged) -> dict[str, object]:
    return {
        "cause": rejudged.cause,
        "left": rejudged.left,
        "settled": rejudged.settled,
        "failed": rejudged.failed,
        "closed": rejudged.closed,
        "ended": rejudged.ended,
    }


# -- answers ------------------------------------------------------------------------------------------------


def answer_document(answer: Answer) -> dict[str, object]:
    """What a query is answered with; `explain` only where it was asked for."""
    told: dict[str, object] = {
        "header": list(answer.header),
        "results": [result_document(result) for result in answer.results],
        "tokens": answer.tokens,
        "rev": answer.rev,
        "usedLevel": answer.used_level.name,
        "escalated": answer.escalated,
        "more": answer.more,
        "turn_id": answer.turn_id,
    }
    if answer.reason is not None:
        told["reason"] = answer.reason.value
    return {**told, "explain": [dict(one) for one in answer.explain]} if answer.explain else told


def result_document(result: Result) -> dict[str, object]:
    told: dict[str, object] = {
        "id": result.id,
        "category": result.category,
        "text": result.text,
        "score": round(result.score, 4),
        "level": result.level.name,
        "trust": str(result.meta.get("trust", Trust.TRUSTED.value)),
    }
    if result.related_to is not None:
        told["related_to"] = result.related_to
    return {**told, "meta": {name: _json(value) for name, value in result.meta.items()}} if result.meta else told


def events_document(events: Portion[Event, str]) -> dict[str, object]:
    """A portion of evidence, and where the rest of it begins."""
    return {"events": [event_document(event) for event in events], "next": events.next}


def shown_document(shown: Shown, evidence: Portion[Event, object]) -> dict[str, object]:
    """A memory with its receipt."""
    return {
        "memory": item_document(shown.item, shown.words, shown.doubt),
        "rev": shown.rev,
        "version": version_document(shown.current) if shown.current else None,
        "evidence": [event_document(event) for event in evidence],
        "next": str(evidence.next) if evidence.next is not None else None,
        **(asked_event(shown.event, shown.made) if shown.event else {}),
    }


def asked_event(event: Event, made: Sequence[Shown]) -> dict[str, object]:
    """An event that was asked for, and the memories that were made of it."""
    return {"event": event_document(event), "memories": [item_document(one.item, one.words, one.doubt) for one in made]}


def verified_document(verified: Verified) -> dict[str, object]:
    """What an examination of the journal found."""
    head = verified.head
    return {
        "whole": verified.whole,
        "entries": verified.entries,
        "head": {"chain_id": head.chain_id, "rev": head.rev, "seq": head.seq, "hash": head.hash},
        "findings": [{"seq": finding.seq, "what": finding.what} for finding in verified.findings],
    }


def remembered_document(kept: Remembered) -> dict[str, object]:
    return {
        "id": kept.item_id,
        "short": short(kept.item_id),
        "event_id": kept.event_id,
        "outcome": kept.outcome,
        "redacted": list(kept.redacted),
        "rev": kept.rev,
    }


def ingested_document(kept: Ingested) -> dict[str, object]:
    return {
        "episode_id": kept.episode_id,
        "event_ids": list(kept.event_ids),
        "repeats": kept.repeats,
        "redacted": list(kept.redacted),
        "items": list(kept.items),
        "later": kept.later,
        "rev": kept.rev,
    }


# -- history ------------------------------------------------------------------------------------------------

_EVENTS = {
    "create": "ADD",
    "withdraw": "DELETE",
    "erase": "DELETE",
    "merge": "MERGE",
    "link": "LINK",
    "unlink": "LINK",
    "relink": "LINK",
    "restore": "RESTORE",
    "archive": "UPDATE",
    "expire": "UPDATE",
    "soft_delete": "DELETE",
    **dict.fromkeys(["update", "supersede", "promote", "pin", "unpin", "lock", "undo"], "UPDATE"),
    **dict.fromkeys(["append", "retract", "derive", "discard", "protect", "unprotect"], "UPDATE"),
}
_FORGOTTEN = ("archive", "expire", "soft_delete")


def history_event(header: Header) -> str | None:
    """The one word of a memory's history; None for what is about records and readings (docs/DOMAIN.md)."""
    if header.op == "create" and header.undoes:
        return "RESTORE"
    if header.op in _FORGOTTEN and header.actor.startswith("job:"):
        return "TTL"
    return _EVENTS.get(header.op)


def history_document(entry: Entry) -> dict[str, object]:
    """An entry as the history of a memory tells it: the event in one word, before and after."""
    header, change = entry.header, entry.change
    touched = changed(change) if change else []
    return {
        "seq": header.seq,
        "rev": header.rev,
        "ts": codec.when(header.at),
        "event": history_event(header),
        "op": header.op,
        "memory_id": header.item_id,
        "old_ref": {one.name: _json(one.before) for one in touched if one.before is not None} or None,
        "new_ref": {one.name: _json(one.after) for one in touched if one.after is not None} or None,
        "actor": header.actor,
        "role": header.actor_role.value,
        "agent": header.actor_agent,
        "cause": header.cause,
        "undoes": header.undoes,
        "readable": change is not None,
    }
