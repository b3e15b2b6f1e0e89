"""What is answered over HTTP, as OpenAPI tells it. The documents themselves are made in interfaces/documents.py and
interfaces/levels.py; examples.py has one of each."""

from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic.config import JsonDict

from recollect.interfaces.http import examples as such
from recollect.interfaces.http.examples import MEMORY_ID, VERSION_ID

__all__ = ["MEMORY_ID", "VERSION_ID"]

LevelName = Literal["R1", "R2", "R3", "R4", "R5"]
TrustName = Literal["trusted", "untrusted"]
Why = Literal["audit", "dispute", "uncertainty"]


def _like(example: JsonDict) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [example]})


def _camel(example: JsonDict) -> ConfigDict:
    """Names as their contract writes them: usedLevel, versionId, …"""
    return ConfigDict(alias_generator=to_camel, json_schema_extra={"examples": [example]})


class Told(BaseModel):
    """What all problem details tell (RFC 9457)."""

    type: str
    status: int
    detail: str = Field(description="What is wrong.")
    help: str = Field(description="What to do about it.")


class Problem(Told):
    """Why something was refused (RFC 9457)."""

    model_config = _like(such.PROBLEM)

    title: str


class MoreContext(Told):
    """More evidence is called for, and people are asked before it is fetched."""

    model_config = _camel(such.MORE_CONTEXT)

    title: Literal["NEED_MORE_CONTEXT"]
    recommended_next_level: LevelName
    witnesses_available: bool
    reason: Why


class Health(BaseModel):
    model_config = _like(such.HEALTH)

    status: str
    version: str


class PendingAnswer(BaseModel):
    model_config = _like(such.PENDING)

    messages: int = Field(description="Messages that jobs have still to read, and will.")
    jobs: int = Field(description="What else is to be done with what came in.")
    parked: int = Field(description="Messages that nobody reads before a person looks: their job failed for good.")
    why: str = Field(description="What was wrong the last time that something failed; blank where nothing did.")
    settled: bool = Field(description="Whether nothing more comes of it by itself.")


# -- asking and remembering -----------------------------------------------------------------------------------


class ResultAnswer(BaseModel):
    id: str = Field(description="The memory, or the event where evidence was asked for.")
    category: str
    text: str
    score: float = Field(description="Calibrated, from 0 to 1.")
    level: LevelName = Field(description="How close to the evidence this one is.")
    trust: TrustName = Field(description="How far it may be believed: the least of all that it rests on.")
    related_to: str | None = Field(default=None, description="The result that this one is related to.")
    meta: dict[str, Any] | None = Field(default=None, description="With return: full, and for events.")


class QueryAnswer(BaseModel):
    model_config = _like(such.QUERIED)

    header: list[str] = Field(description="Memory updates since the thread last asked; empty where there are none.")
    results: list[ResultAnswer] = Field(description="None where memory knows nothing about it.")
    tokens: int
    rev: int
    used_level: LevelName = Field(alias="usedLevel", description="The closest to the evidence of all that was served.")
    escalated: bool = Field(description="Whether more was served than by default.")
    reason: Why | None = Field(default=None, description="Why more was served than by default.")
    more: bool = Field(description="Whether there is more evidence to ask for.")
    turn_id: str | None
    explain: list[dict[str, Any]] | None = Field(
        default=None, description="Where asked for: the signals behind each result."
    )


class AnsweredAnswer(BaseModel):
    model_config = _like(such.ANSWERED)

    text: str = Field(description="What the language model answered.")
    used_level: LevelName = Field(alias="usedLevel")
    escalated: bool = Field(description="Whether it was asked again with more evidence than by default.")
    reason: Why | None
    turn_id: str
    attempts: int
    results: list[ResultAnswer] = Field(description="What the answer was made of.")
    tokens: int = Field(description="Of everything that was served to the model, all attempts together.")


class RememberAnswer(BaseModel):
    model_config = _like(such.REMEMBERED)

    id: str
    short: str
    event_id: str
    outcome: str = Field(description="created, corroborated or updated")
    redacted: list[str] = Field(description="Kinds of secrets that were taken out before anything was written.")
    rev: int


class IngestAnswer(BaseModel):
    model_config = _like(such.INGESTED)

    episode_id: str
    event_ids: list[str]
    repeats: int = Field(description="Messages that were there already, word for word.")
    redacted: list[str] = Field(description="Kinds of secrets that were taken out before anything was written.")
    items: list[str] = Field(description="Memories that were made or changed at once.")
    later: bool = Field(description="Whether more is made of it in a moment.")
    rev: int


class EventAnswer(BaseModel):
    id: str
    thread: str
    seq: int
    at: str
    author: str
    role: str | None
    trust: str
    text: str
    meta: dict[str, Any]


class EvidenceAnswer(BaseModel):
    model_config = _like(such.EVIDENCE)

    id: str
    events: list[EventAnswer]
    next: str | None = Field(description="The `after` of the next page; null where there is none.")


# -- levels and versions --------------------------------------------------------------------------------------


class WitnessAnswer(BaseModel):
    witness: str = Field(description="e:<event id>, s:<from>-<to> or c:<chunk id>: as /evidence takes it.")
    reason: str


class BulletAnswer(BaseModel):
    text: str
    section: str
    witnesses: list[WitnessAnswer]


class LeveledAnswer(BaseModel):
    model_config = _camel(such.LEVELED)

    id: str
    used_level: LevelName
    escalated: bool = Field(description="Whether this is more than by default.")
    reason: Why | None
    content: str
    bullets: list[BulletAnswer]
    version_id: str | None = Field(
        description="None where no stored version has these words: they were made of others for this reading."
    )
    more: bool = Field(description="Whether there is more to ask for.")
    witnesses_available: bool
    turn_id: str | None = Field(alias="turn_id")
    tokens: int
    trust: TrustName = Field(description="That of the memory and the events that it shows: the least of all.")
    rev: int
    memory: dict[str, Any] = Field(description="The memory's own fields; of an event, those of its thread.")
    event: EventAnswer | None = Field(default=None, description="The event, where its id was asked for.")
    memories: list[dict[str, Any]] | None = Field(
        default=None, description="The memories that were made of the event that was asked for."
    )


class VersionInfoAnswer(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel)

    version_id: str
    rep_level: int = Field(ge=1, le=5)
    level: LevelName
    created_at: str
    derivation_kind: Literal["compress", "normalize", "summarize", "trace", "merge", "split"] | None
    derived_from_version_id: str | None
    quality_score: float | None
    tokens: int
    active: bool = Field(description="Whether it speaks for the memory now.")


class VersionsAnswer(BaseModel):
    model_config = _like(such.VERSIONS)

    id: str
    versions: list[VersionInfoAnswer]
    next: str | None = Field(description="The `before` of the next page; null where there is none.")


class VersionAnswer(BaseModel):
    model_config = _camel(such.VERSION)

    version_id: str
    memory_item_id: str
    rep_level: int = Field(ge=1, le=5)
    level: LevelName
    created_at: str
    derivation_kind: str | None
    derived_from_version_id: str | None
    quality_score: float | None
    trust: TrustName = Field(description="How far the memory may be believed.")
    content: str
    bullets: list[BulletAnswer]


class StandingAnswer(BaseModel):
    """How a memory is served from now on."""

    model_config = _camel(such.STANDING)

    id: str
    state: str
    default_level: LevelName
    pinned_min_level: LevelName | None
    active_version_id: str | None
    active_lock_until: str | None
    active_lock_reason: Literal["manual-promote", "dispute", "audit"] | None
    rev: int


class MadeAnswer(BaseModel):
    version_id: str
    level: LevelName
    tokens: int


class StrokeAnswer(BaseModel):
    memory_id: str
    made: list[MadeAnswer] = Field(description="The versions that were made, or would be.")
    default_level: LevelName = Field(description="What is served by default from then on.")
    promoted: str | None = Field(description="The version that was made to speak for the memory.")
    why: str = Field(description="Why it was looked at: closed, cold, noisy, overlong, asked for.")
    skipped: str = Field(description="Why nothing was done: locked, pinned, constitutional, …")
    tokens_before: int
    tokens_after: int


class MergeAnswer(BaseModel):
    into: str
    memories: list[str]
    version_id: str


class SplitAnswer(BaseModel):
    memory_id: str
    parts: list[str]


class CompressAnswer(BaseModel):
    model_config = _like(such.COMPRESSED)

    dry_run: bool
    strokes: list[StrokeAnswer]
    merged: list[MergeAnswer]
    split: list[SplitAnswer]
    rev: int
    cause: str | None = Field(description="What a rollback of all of it names; null where nothing was written.")
    job: str | None = Field(description="The job that does it, where a long thread is left to one; else null.")


# -- turns, projects, audit -----------------------------------------------------------------------------------


class TurnAnswer(BaseModel):
    model_config = _like(such.TURN)

    turn_id: str
    bumps: int = Field(description="How often a person was not content.")
    memories: list[str] = Field(description="What was served in the turn.")
    begun_at: str


class EpochAnswer(BaseModel):
    model_config = _like(such.EPOCH)

    project_id: str
    number: int
    advanced_at: str | None
    reason: str


class HistoryEntry(BaseModel):
    seq: int
    rev: int
    ts: str
    event: str | None = Field(description="ADD, UPDATE, DELETE, MERGE, LINK, TTL or RESTORE")
    op: str
    memory_id: str | None
    old_ref: dict[str, Any] | None
    new_ref: dict[str, Any] | None
    actor: str
    role: str
    agent: str | None
    cause: str | None
    undoes: int | None
    readable: bool = Field(description="False where the content was erased, or is not for the one who asks.")


class HistoryAnswer(BaseModel):
    model_config = _like(such.HISTORY)

    id: str
    history: list[HistoryEntry]
    next: int | None = Field(description="The `after` of the next page; null where there is none.")


class AuditEntry(BaseModel):
    seq: int
    rev: int
    at: str
    op: str
    memory: str | None
    actor: str
    role: str
    agent: str | None
    cause: str | None
    undoes: int | None


class AuditAnswer(BaseModel):
    model_config = _like(such.AUDIT)

    entries: list[AuditEntry]
    next: int | None = Field(description="The `before` of the next page; null where there is none.")


class HeadAnswer(BaseModel):
    chain_id: str
    rev: int
    seq: int
    hash: str


class FindingAnswer(BaseModel):
    seq: int
    what: str


class VerifyAnswer(BaseModel):
    model_config = _like(such.VERIFIED)

    whole: bool
    entries: int
    head: HeadAnswer
    findings: list[FindingAnswer] = Field(description="What is wrong, and where; empty where all is well.")


def examples(name: str) -> JsonDict:
    """The examples of an answer by its name, as its schema holds them."""
    model = globals().get(name)
    extra = model.model_config.get("json_schema_extra") if isinstance(model, type(BaseModel)) else None
    return cast(JsonDict, extra) if isinstance(extra, dict) else {}
