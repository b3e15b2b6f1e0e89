"""What is answered over HTTP, as OpenAPI tells it. The documents themselves are made in interfaces/documents.py."""

from typing import Any

from pydantic import BaseModel, Field


class Problem(BaseModel):
    """Why something was refused (RFC 9457)."""

    type: str = Field(examples=["urn:recollect:not-found"])
    title: str
    status: int
    detail: str
    help: str


class Health(BaseModel):
    status: str = Field(examples=["ok"])
    version: str


class ResultAnswer(BaseModel):
    id: str = Field(description="The memory, or the event where evidence was asked for.")
    category: str
    text: str = Field(examples=["[tasks] The release train leaves on Thursdays at 14:00 UTC."])
    score: float = Field(description="Calibrated, from 0 to 1.")
    related_to: str | None = Field(default=None, description="The result that this one is related to.")
    meta: dict[str, Any] | None = Field(default=None, description="With return: full, and for events.")


class QueryAnswer(BaseModel):
    header: list[str] = Field(description="Memory updates since the thread last asked; empty where there are none.")
    results: list[ResultAnswer] = Field(description="None where memory knows nothing about it.")
    tokens: int
    rev: int
    explain: list[dict[str, Any]] | None = Field(
        default=None, description="Where asked for: the signals behind each result."
    )


class RememberAnswer(BaseModel):
    id: str
    short: str
    event_id: str
    outcome: str = Field(description="created, corroborated or updated")
    redacted: list[str] = Field(description="Kinds of secrets that were taken out before anything was written.")
    rev: int


class IngestAnswer(BaseModel):
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
    id: str
    events: list[EventAnswer]


class ShowAnswer(BaseModel):
    memory: dict[str, Any]
    rev: int
    versions: list[dict[str, Any]]
    evidence: list[EventAnswer]


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
    id: str
    history: list[HistoryEntry]
