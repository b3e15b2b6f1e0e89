"""Levels, versions, turns and epochs as JSON, with the field names of their contract; and versions by their short
names."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from recollect.domain.codec import when
from recollect.domain.ids import ItemId, VersionId, short
from recollect.domain.portion import Portion, every
from recollect.domain.text import tokens
from recollect.domain.witness import Bullet, written
from recollect.errors import Invalid, NotFound
from recollect.interfaces.documents import asked_event, item_document, result_document, state
from recollect.policy.distil import served

if TYPE_CHECKING:
    from recollect.care.compress import Hammered, Stroke
    from recollect.domain.item import Item
    from recollect.domain.record import Epoch
    from recollect.domain.turn import Turn
    from recollect.domain.version import Version
    from recollect.read.answering import Answered
    from recollect.read.leveled import Leveled
    from recollect.read.shown import VersionInfo

_WHOLE_ID = 36


class Versioned(Protocol):
    """Whatever lists the versions of a memory."""

    def versions(self, item_id: ItemId, /, *, before: VersionId | None = None) -> "Portion[VersionInfo, VersionId]": ...


def version_named(memory: Versioned, item_id: ItemId, name: str) -> VersionId:
    """The version of a memory whose id is, or ends with, this. A whole id is taken as it is."""
    wanted = name.strip().lower()
    if len(wanted) == _WHOLE_ID:
        return VersionId(wanted)
    listed = every(lambda before: memory.versions(item_id, before=before))
    found = [one.id for one in listed if wanted and one.id.endswith(wanted)]
    if len(found) > 1:
        raise Invalid(f"{len(found)} versions have an id that ends with {name!r}", "Give more of the id.")
    if not found:
        raise NotFound(
            f"memory {short(item_id)} has no version {name}", f"List them with: recollect levels {short(item_id)}"
        )
    return found[0]


# -- one memory -----------------------------------------------------------------------------------------------


def leveled_document(leveled: "Leveled") -> dict[str, object]:
    """A memory as it is served."""
    asked = leveled.event
    return {
        "id": asked.id if asked else leveled.item.id,
        "usedLevel": leveled.used_level.name,
        "escalated": leveled.escalated,
        "reason": leveled.reason.value if leveled.reason else None,
        "content": leveled.content,
        "bullets": bullet_documents(leveled.bullets),
        "versionId": leveled.version_id,
        "more": leveled.more,
        "witnessesAvailable": bool(leveled.bullets or leveled.events),
        "turn_id": leveled.turn_id,
        "tokens": leveled.tokens,
        "trust": leveled.trust.value,
        "rev": leveled.rev,
        "memory": item_document(leveled.item, doubt=leveled.doubt),
        **(asked_event(asked, leveled.made) if asked else {}),
    }


def bullet_documents(bullets: Sequence[Bullet]) -> list[dict[str, object]]:
    return [
        {
            "text": bullet.served,
            "section": bullet.section,
            "witnesses": [{"witness": written((one,)), "reason": one.reason} for one in bullet.witnesses],
        }
        for bullet in bullets
    ]


def standing_document(item: "Item") -> dict[str, object]:
    """How a memory is served from now on."""
    return {
        "id": item.id,
        "state": state(item),
        "defaultLevel": item.default_level.name,
        "pinnedMinLevel": item.pinned_min_level.name if item.pinned_min_level else None,
        "activeVersionId": item.active_version_id,
        "activeLockUntil": when(item.lock.until) if item.lock else None,
        "activeLockReason": item.lock.reason.value if item.lock else None,
    }


# -- versions -------------------------------------------------------------------------------------------------


def version_info_document(info: "VersionInfo") -> dict[str, object]:
    """A version without its words."""
    return {
        "versionId": info.id,
        "repLevel": info.level.value,
        "level": info.level.name,
        "createdAt": when(info.created_at),
        "derivationKind": info.derivation.value if info.derivation else None,
        "derivedFromVersionId": info.derived_from,
        "qualityScore": info.quality_score,
        "tokens": info.tokens,
        "active": info.active,
    }


def version_document(version: "Version", item: "Item") -> dict[str, object]:
    """A version of a memory with its words."""
    return {
        "versionId": version.id,
        "memoryItemId": version.item_id,
        "repLevel": version.level.value,
        "level": version.level.name,
        "createdAt": when(version.created_at),
        "derivationKind": version.derivation.value if version.derivation else None,
        "derivedFromVersionId": version.derived_from,
        "qualityScore": version.quality_score,
        "trust": item.trust.value,
        "content": served(version.content, version.bullets),
        "bullets": bullet_documents(version.bullets),
    }


def hammered_document(done: "Hammered") -> dict[str, object]:
    """What a run of the hammer did, or would do."""
    return {
        "dry_run": done.dry_run,
        "strokes": [stroke_document(stroke) for stroke in done.strokes],
        "merged": [
            {"into": one.into, "memories": list(one.items), "version_id": one.version.id} for one in done.merged
        ],
        "split": [{"memory_id": one.item_id, "parts": list(one.parts)} for one in done.split],
        "rev": done.rev,
        "cause": done.cause,
        "job": done.job,
    }


def stroke_document(stroke: "Stroke") -> dict[str, object]:
    return {
        "memory_id": stroke.item_id,
        "made": [
            {"version_id": made.id, "level": made.level.name, "tokens": tokens(made.content)} for made in stroke.made
        ],
        "default_level": stroke.default_level.name,
        "promoted": stroke.promoted,
        "why": str(stroke.why),
        "skipped": stroke.skipped,
        "tokens_before": stroke.tokens_before,
        "tokens_after": stroke.tokens_after,
    }


# -- turns, answers, epochs -----------------------------------------------------------------------------------


def turn_document(turn: "Turn") -> dict[str, object]:
    return {
        "turn_id": turn.id,
        "bumps": turn.bumps,
        "memories": sorted(turn.items),
        "begun_at": when(turn.begun_at),
    }


def answered_document(answered: "Answered") -> dict[str, object]:
    """What a language model answered out of memory."""
    return {
        "text": answered.text,
        "usedLevel": answered.used_level.name,
        "escalated": answered.escalated,
        "reason": answered.reason.value if answered.reason else None,
        "turn_id": answered.turn_id,
        "attempts": answered.attempts,
        "results": [result_document(result) for result in answered.results],
        "tokens": answered.tokens,
    }


def epoch_document(project_id: str, epoch: "Epoch | None") -> dict[str, object]:
    return {
        "project_id": project_id,
        "number": epoch.number if epoch else 0,
        "advanced_at": when(epoch.advanced_at) if epoch else None,
        "reason": epoch.reason if epoch else "",
    }
