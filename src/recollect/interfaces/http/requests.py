"""What is asked over HTTP: the bodies of requests, and the domain values they become."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from recollect.domain.event import Trust
from recollect.domain.ids import ItemId
from recollect.domain.item import STATES, Artifact, ArtifactType, LockReason, Visibility
from recollect.domain.query import Filters, Form, Query, Source
from recollect.domain.turn import Mark, Mode, Task
from recollect.errors import checked
from recollect.write.message import Message


def _zoned(at: datetime) -> datetime:
    """A moment in UTC. One without a zone is taken as UTC: the contract's own example is a bare date."""
    try:
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise ValueError("give a time of this era") from None


Moment = Annotated[datetime, AfterValidator(_zoned)]
State = Literal["active", "archived", "expired", "soft_deleted"]
Names = Annotated[list[str], Field(max_length=100)]

assert set(STATES.values()) == set(State.__args__)


class Asked(BaseModel):
    """A field that is not known is refused, so that a misspelt one does not go unnoticed."""

    model_config = ConfigDict(extra="forbid")


class FilterBody(Asked):
    """What narrows the search. A key left out, or null, does not narrow."""

    user_id: str | None = None
    agent_id: str | None = None
    project_id: str | None = None
    thread_id: str | None = None
    run_id: str | None = None
    actor_id: str | None = None
    role: str | None = None
    category: str | Names | None = None
    without: Names | None = Field(default=None, description="Categories that are left out.")
    topic_key: str | None = Field(default=None, description="Only of this topic.")
    kind: str | Names | None = Field(default=None, description="fact, episode, pattern, workflow, insight, journal")
    state: State | Annotated[list[State], Field(max_length=100)] | None = Field(
        default=None, description="Left out: active."
    )
    pinned: bool | None = None
    core: bool | None = None
    importance_min: int | None = Field(default=None, ge=1, le=5)
    importance_max: int | None = Field(default=None, ge=1, le=5)
    updated_after: Moment | None = Field(default=None, description="A date or a time; without a zone it is UTC.")
    updated_before: Moment | None = None
    purge_due: Moment | None = Field(default=None, description="Only what may be purged by then.")
    valid_at: Moment | None = Field(default=None, description="Only what held at that time.")

    def value(self) -> Filters:
        """The filters, or a ValueError."""
        category, kind = _set(self.category), _set(self.kind)
        return Filters(
            user_id=self.user_id,
            agent_id=self.agent_id,
            project_id=self.project_id,
            thread_id=self.thread_id,
            run_id=self.run_id,
            actor_id=self.actor_id,
            role=self.role,
            categories=category,
            without=frozenset(self.without or ()),
            kinds=kind,
            topic_key=self.topic_key,
            states=_set(self.state) or frozenset({"active"}),
            pinned=self.pinned,
            core=self.core,
            importance_min=self.importance_min,
            importance_max=self.importance_max,
            updated_after=self.updated_after,
            updated_before=self.updated_before,
            purge_due=self.purge_due,
            valid_at=self.valid_at,
        )


def _set(value: str | list[Any] | None) -> frozenset[str] | None:
    if value is None:
        return None
    return frozenset([value] if isinstance(value, str) else value)


_QUERY_EXAMPLE: dict[str, Any] = {
    "agent": "planner",
    "query": "deployment plan context",
    "categories": ["tasks", "projects"],
    "filters": {"pinned": False, "importance_min": 1, "importance_max": 5, "updated_after": "2025-07-01"},
    "top_k": 3,
    "return": "bullets",
    "budget_tokens": 512,
}


class QueryBody(Asked):
    """A question to memory."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [_QUERY_EXAMPLE]})

    query: str = Field(min_length=1, max_length=100_000, description="The question, or the words to look for.")
    agent: str | None = Field(
        default=None, description="Whose allowlist holds. An agent's credential names itself, or nobody."
    )
    categories: Names | None = Field(default=None, description="Only these; they must be on the agent's allowlist.")
    filters: FilterBody = FilterBody()
    top_k: int | None = Field(
        default=None, ge=1, le=200, description="At most so many results; left out, as many as the budget holds."
    )
    form: Literal["bullets", "full"] = Field(
        default="bullets", alias="return", description="One line each, or all of it."
    )
    budget_tokens: int = Field(default=512, ge=1, le=100_000, description="The answer is never longer.")
    threshold: float | None = Field(
        default=None, ge=0, le=1, description="The least score; left out, noise is left out."
    )
    explain: bool = Field(default=False, description="Also say which signals put each result there.")
    source: Literal["memory", "evidence", "any"] = Field(
        default="any", description="Memories and events together, or one of them alone."
    )
    thread_id: str | None = Field(default=None, description="The conversation that asks; it gets the delta header.")
    turn_id: str | None = Field(
        default=None,
        max_length=200,
        description="The answer that is in the making. The same question again within it gets other, fuller context.",
    )
    task: Task = Field(default=Task.ROUTINE, description="What the answer is for; all but routine need evidence.")
    said: str = Field(
        default="", description="What whoever answers said so far. NEED_MORE_CONTEXT in it calls for more evidence."
    )
    mode: Mode | None = Field(
        default=None, description="A: more evidence is served at once. B: people are asked first. Else: as it is set."
    )
    agreed: bool = Field(default=False, description="People were asked and agree to fetch more evidence.")

    def value(self) -> Query:
        with checked():
            return Query(
                text=self.query,
                agent=self.agent,
                categories=None if self.categories is None else frozenset(self.categories),
                filters=self.filters.value(),
                top_k=self.top_k,
                form=Form(self.form),
                budget_tokens=self.budget_tokens,
                threshold=self.threshold,
                source=Source(self.source),
                explain=self.explain,
                thread_id=self.thread_id,
                turn_id=self.turn_id,
                task=self.task,
                said=self.said,
                mode=self.mode,
                agreed=self.agreed,
            )


class Place(Asked):
    """Where a write belongs."""

    visibility: Visibility | None = Field(
        default=None, description="Left out: project-shared where a project and no user is named, else user-private."
    )
    user_id: str | None = Field(default=None, description="Whose it is; left out, the credential's own.")
    project_id: str | None = None
    run_id: str | None = None
    topic_key: str | None = Field(default=None, description="What it is about, in a name that others share.")

    def place(self) -> dict[str, Any]:
        return {
            "visibility": self.visibility,
            "user_id": self.user_id,
            "project_id": self.project_id,
            "run_id": self.run_id,
            "topic_key": self.topic_key,
        }


class RememberBody(Place):
    """A statement to remember as it is said."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"text": "Mira is allergic to peanuts.", "importance": 5, "tags": ["health"]}]},
    )

    text: str
    category: str = "knowledge"
    importance: int = Field(default=3, ge=1, le=5)
    tags: Names = []
    thread_id: str = "notes"
    author: str | None = Field(
        default=None,
        description="Who says so; left out, whose credential it is. What an agent states is its own in any case.",
    )
    trust: Trust = Trust.TRUSTED
    at: Moment | None = Field(default=None, description="When it was said; left out, now.")
    supersedes: str | None = Field(default=None, description="The memory that this decision takes the place of.")

    def superseded(self) -> ItemId | None:
        return None if self.supersedes is None else ItemId(self.supersedes)


class MessageBody(Asked):
    """One turn, document or tool output, word for word."""

    text: str
    author: str | None = Field(
        default=None,
        description="Left out: for a user's turn the user whom the credential stands for or relays, else the role. Any"
        " other author's words are kept as a report, which is not believed.",
    )
    role: str | None = Field(default=None, description="user, assistant, tool, system, document, …")
    at: Moment | None = None
    trust: Trust = Trust.TRUSTED
    meta: dict[str, Any] = {}

    def value(self, speaker: str) -> Message:
        author = self.author or (speaker if self.role in (None, "user") else self.role) or speaker
        with checked():
            return Message(text=self.text, author=author, role=self.role, ts=self.at, trust=self.trust, meta=self.meta)


class ArtifactBody(Asked):
    """What came of the thread: a commit, a pull request, a decision record, a file."""

    type: ArtifactType
    ref: str

    def value(self) -> Artifact:
        with checked():
            return Artifact(self.type, self.ref)


class IngestBody(Place):
    """Evidence for the end of a thread. Memories are made of it."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "thread_id": "standup-2025-07-01",
                    "project_id": "apollo",
                    "messages": [
                        {"role": "user", "author": "mira", "text": "We moved the release to Thursday."},
                        {"role": "assistant", "text": "Noted: the release train leaves on Thursdays."},
                    ],
                }
            ]
        },
    )

    thread_id: str
    messages: Annotated[list[MessageBody], Field(min_length=1, max_length=1000)]
    artifacts: Annotated[list[ArtifactBody], Field(max_length=100)] = []


# -- levels ---------------------------------------------------------------------------------------------------


class PromoteBody(Asked):
    """Why a version is to stand for its memory, and for how long nothing compresses it."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"reason": "dispute", "minutes": 90}]})

    reason: LockReason = LockReason.MANUAL_PROMOTE
    minutes: int | None = Field(default=None, ge=30, le=120, description="Left out: as it is set, 60 by default.")


class ReasonBody(Asked):
    """Why; kept with the change."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"reason": "the project is over"}]})

    reason: str = Field(default="", max_length=10_000)


class CompressBody(Asked):
    """What to compress now: one memory, one topic, or, with neither, all that is due."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"topic_key": "auth", "dry_run": True}, {"dry_run": True}]}
    )

    memory_id: str | None = Field(default=None, description="A memory, by its id or an ending of it.")
    topic_key: str | None = Field(default=None, description="All memories of this topic.")
    dry_run: bool = Field(default=False, description="Only say what would be done.")


class FeedbackBody(Asked):
    """What a person says about the answer of a turn."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"mark": "reroll"}]})

    mark: Mark = Field(description="reroll and incorrect: the next context of this turn is fuller.")
    agent: str | None = Field(default=None, description="The agent that was answering, where it was not the asker.")
