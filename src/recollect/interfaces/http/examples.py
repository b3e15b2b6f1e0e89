"""One of each answer, as the OpenAPI document shows it."""

from pydantic.config import JsonDict

MEMORY_ID = "0197c0de-7a11-7c3d-9f00-5a3e8c1d2b44"
VERSION_ID = "0197c0de-7a12-7d00-8a10-2b6f4e9c7d51"
_R4_ID = "0197c0de-7a12-7c00-8a10-0c1d2e3f4a5b"
_EVENT_ID = "0197c0de-7a10-7b2c-8e11-9d4c6a2f1e33"
_MADE = "2026-03-05T09:12:00.000000Z"

PROBLEM: JsonDict = {
    "type": "urn:recollect:not-found",
    "title": "There is no such thing, or it is not for the one who asks",
    "status": 404,
    "detail": "there is no such memory",
    "help": "List the memories with: recollect show",
}
MORE_CONTEXT: JsonDict = {
    "type": "urn:recollect:need-more-context",
    "title": "NEED_MORE_CONTEXT",
    "status": 409,
    "detail": "the summary is not enough to answer this",
    "help": "Ask again with agreed: true to fetch more evidence.",
    "recommendedNextLevel": "R4",
    "witnessesAvailable": True,
    "reason": "uncertainty",
}
HEALTH: JsonDict = {"status": "ok", "version": "0.1.0"}
PENDING: JsonDict = {"messages": 11840, "jobs": 3, "parked": 0, "why": "", "settled": False}

_RESULT: JsonDict = {
    "id": MEMORY_ID,
    "category": "decisions",
    "text": "[decisions] The release train leaves on Thursdays at 14:00 UTC.",
    "score": 0.91,
    "level": "R3",
    "trust": "trusted",
}
QUERIED: JsonDict = {
    "header": [],
    "results": [_RESULT],
    "tokens": 16,
    "rev": 41,
    "usedLevel": "R3",
    "escalated": False,
    "more": True,
    "turn_id": "turn-7",
}
ANSWERED: JsonDict = {
    "text": "On Thursdays at 14:00 UTC.",
    "usedLevel": "R4",
    "escalated": True,
    "reason": "uncertainty",
    "turn_id": "turn-7",
    "attempts": 2,
    "results": [{**_RESULT, "level": "R4"}],
    "tokens": 212,
}
REMEMBERED: JsonDict = {
    "id": MEMORY_ID,
    "short": MEMORY_ID[-8:],
    "event_id": _EVENT_ID,
    "outcome": "created",
    "redacted": [],
    "rev": 41,
}
INGESTED: JsonDict = {
    "episode_id": MEMORY_ID,
    "event_ids": [_EVENT_ID],
    "repeats": 0,
    "redacted": ["api key"],
    "items": [],
    "later": True,
    "rev": 42,
}
EVIDENCE: JsonDict = {
    "id": MEMORY_ID,
    "events": [
        {
            "id": _EVENT_ID,
            "thread": MEMORY_ID,
            "seq": 4,
            "at": _MADE,
            "author": "mira",
            "role": "user",
            "trust": "trusted",
            "text": "Let us move the release train to Thursdays, 14:00 UTC.",
            "meta": {},
        }
    ],
    "next": f"{MEMORY_ID}:4",
}

_BULLETS: JsonDict = {
    "bullets": [
        {
            "text": "The release train leaves on Thursdays at 14:00 UTC.",
            "section": "Decisions",
            "witnesses": [{"witness": "s:4-5", "reason": "said so"}],
        }
    ]
}
_CONTENT = "# Release planning\n## Decisions\n- The release train leaves on Thursdays at 14:00 UTC. [s:4-5]"
LEVELED: JsonDict = {
    "id": MEMORY_ID,
    "usedLevel": "R3",
    "escalated": False,
    "reason": None,
    "content": _CONTENT,
    **_BULLETS,
    "versionId": VERSION_ID,
    "more": True,
    "witnessesAvailable": True,
    "turn_id": None,
    "tokens": 25,
    "trust": "trusted",
    "rev": 42,
    "memory": {"id": MEMORY_ID, "kind": "episode", "category": "event", "importance": 3, "state": "active"},
}
_R3: JsonDict = {
    "versionId": VERSION_ID,
    "repLevel": 3,
    "level": "R3",
    "createdAt": _MADE,
    "derivationKind": "summarize",
    "derivedFromVersionId": _R4_ID,
    "qualityScore": None,
}
VERSIONS: JsonDict = {"id": MEMORY_ID, "versions": [{**_R3, "tokens": 25, "active": True}], "next": None}
VERSION: JsonDict = {**_R3, "memoryItemId": MEMORY_ID, "trust": "trusted", "content": _CONTENT, **_BULLETS}
STANDING: JsonDict = {
    "id": MEMORY_ID,
    "state": "active",
    "defaultLevel": "R3",
    "pinnedMinLevel": None,
    "activeVersionId": VERSION_ID,
    "activeLockUntil": "2026-03-05T10:42:00.000000Z",
    "activeLockReason": "dispute",
    "rev": 43,
}
COMPRESSED: JsonDict = {
    "dry_run": False,
    "strokes": [
        {
            "memory_id": MEMORY_ID,
            "made": [{"version_id": VERSION_ID, "level": "R3", "tokens": 25}],
            "default_level": "R3",
            "promoted": None,
            "why": "closed",
            "skipped": "",
            "tokens_before": 410,
            "tokens_after": 25,
        }
    ],
    "merged": [],
    "split": [],
    "rev": 44,
    "cause": "0197c0de-7a20-7a00-8b00-1f2e3d4c5b6a",
    "job": None,
}

TURN: JsonDict = {"turn_id": "turn-7", "bumps": 1, "memories": [MEMORY_ID], "begun_at": _MADE}
EPOCH: JsonDict = {"project_id": "apollo", "number": 3, "advanced_at": _MADE, "reason": "2.0 is out"}
HISTORY: JsonDict = {
    "id": MEMORY_ID,
    "history": [
        {
            "seq": 12,
            "rev": 41,
            "ts": _MADE,
            "event": "ADD",
            "op": "create",
            "memory_id": MEMORY_ID,
            "old_ref": None,
            "new_ref": {"category": "decisions"},
            "actor": "mira",
            "role": "admin",
            "agent": None,
            "cause": None,
            "undoes": None,
            "readable": True,
        }
    ],
    "next": None,
}
AUDIT: JsonDict = {
    "entries": [
        {
            "seq": 12,
            "rev": 41,
            "at": _MADE,
            "op": "create",
            "memory": MEMORY_ID,
            "actor": "mira",
            "role": "admin",
            "agent": None,
            "cause": None,
            "undoes": None,
        }
    ],
    "next": 12,
}
VERIFIED: JsonDict = {
    "whole": True,
    "entries": 12,
    "head": {"chain_id": "0197c0de-0000-7000-8000-000000000001", "rev": 41, "seq": 12, "hash": "9f86d081884c7d65"},
    "findings": [],
}
