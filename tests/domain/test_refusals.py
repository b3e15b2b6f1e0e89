"""What cannot be built, and what the refusal says: what is wrong, of which thing, and what would help."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.change import Erase
from recollect.domain.checkpoint import Checkpoint
from recollect.domain.event import Event, Span
from recollect.domain.ids import EventId, ItemId, JobId, RecordId, TenantId, VersionId, tenant_id
from recollect.domain.item import (
    Archived,
    Artifact,
    ArtifactType,
    Episode,
    Expired,
    Fact,
    Item,
    Pattern,
    SoftDeleted,
    Visibility,
    Workflow,
)
from recollect.domain.job import Job
from recollect.domain.level import Derivation, Level
from recollect.domain.query import Page
from recollect.domain.record import (
    Asked,
    Ended,
    Epoch,
    Pending,
    ProfileField,
    Refined,
    Resolved,
    Verdict,
)
from recollect.domain.relation import Relation
from recollect.domain.scope import Principal, Role, Scope
from recollect.domain.text import MAX_NAME, MAX_TEXT, name, sound, sound_json, tokens
from recollect.domain.version import Version
from recollect.domain.witness import Bullet, ChunkWitness, EventWitness, RangeWitness
from tests import strategies as some
from tests.strategies import NOON

HALF = "a\ud800"
NUL = "ab\x00"
LONG = "x" * (MAX_TEXT + 1)
UNZONED = datetime(2026, 3, 1)

ITEM = Item(
    id=ItemId("m"),
    body=Fact(value="tea"),
    category="taste",
    visibility=Visibility.SYSTEM,
    origin_at=NOON,
    created_at=NOON,
    updated_at=NOON,
)
EVENT = Event(id=EventId("e"), item_id=ItemId("t"), ts=NOON, author="ann", text="I like tea")
BULLET = Bullet("She likes tea", (EventWitness(EventId("e")),))
VERSION = Version(
    id=VersionId("v"), item_id=ItemId("m"), level=Level.R3, content="tea", bullets=(BULLET,), created_at=NOON
)
RELATION = Relation(id=RecordId("r"), from_id=ItemId("m"), to_id=ItemId("n"), strength=0.5, created_at=NOON)
JOB = Job(id=JobId("j"), kind="scrub", key="scrub", not_before=NOON)
CHECKPOINT = Checkpoint(
    id=RecordId("c"), user_id="ann", thread_id="t", checkpoint_data={}, created_at=NOON, updated_at=NOON
)
PENDING = Pending(
    id=RecordId("p"),
    user_id="ann",
    field=ProfileField.CITY,
    value="Bern",
    signals=1,
    item_id=None,
    proposed_at=NOON,
    lapses_at=NOON,
)
ASKED = Asked(id=RecordId("g"), agent_id="robin", asked_by="ann", purpose="repair", asked_at=NOON)
REFINED = Refined(
    id=RecordId("r"),
    agent_id="robin",
    started_at=NOON,
    started_by="ann",
    tokens=9,
    target=5,
    completed_at=NOON,
    tokens_after=5,
    summary="shorter",
    consolidated=1,
    updated=0,
    deleted=0,
    protected=0,
)
RESOLVED = Resolved(
    id=RecordId("c"),
    memory_a=ItemId("m"),
    memory_b=ItemId("n"),
    detected_at=NOON,
    resolved_at=NOON,
    resolution=Verdict.A_WINS,
)
ANN = Principal(tenant=TenantId("t"), id="ann", role=Role.MEMBER)


REFUSALS: dict[str, tuple[Callable[[], object], str]] = {
    "a blank event": (lambda: replace(EVENT, text=" \n"), "the text is blank: there is nothing to remember"),
    "an event with a NUL": (lambda: replace(EVENT, text=NUL), "the text holds a NUL .* position 2: remove it"),
    "an event with half a pair": (lambda: replace(EVENT, text=HALF), "position 1: decode it as UTF-8 first"),
    "an event that is too long": (lambda: replace(EVENT, text=LONG), "1,000,001 characters, at most 1,000,000.*split"),
    "an event without an author": (lambda: replace(EVENT, author=" "), "the author is blank: .*give a name"),
    "an event with a blank role": (lambda: replace(EVENT, role=""), "the role is blank: leave it out or"),
    "an event without a zone": (lambda: replace(EVENT, ts=UNZONED), "the time 2026.* has no zone: name one"),
    "meta data with a NUL": (lambda: replace(EVENT, meta={"a": [NUL]}), "meta data holds a NUL .*remove it"),
    "meta data with half a pair": (lambda: replace(EVENT, meta={"a": {"b": HALF}}), "meta data .*decode it"),
    "meta data with half a key": (lambda: replace(EVENT, meta={HALF: 1}), "meta data .*decode it"),
    "meta data that is no number": (lambda: replace(EVENT, meta={"a": float("nan")}), "nan.*leave it out or"),
    "meta data without end": (lambda: replace(EVENT, meta={"a": float("inf")}), "inf.*leave it out or"),
    "meta data with a number for a key": (lambda: replace(EVENT, meta={1: 2}), "the key 1: keys are text"),
    "meta data with an object": (lambda: replace(EVENT, meta={"a": NOON}), "holds a datetime: use text, numbers"),
    "a chunk of nothing": (lambda: Span(3, 3), "chunk 3-3: a chunk has at least one character"),
    "a chunk before the text": (lambda: Span(-1, 3), "chunk -1-3"),
    "a chunk after the text": (lambda: replace(EVENT, chunks=(Span(0, 99),)), "a chunk ends after its text"),
    "importance 0": (lambda: replace(ITEM, importance=0), "importance 0: give a whole number from 1 to 5"),
    "importance 6": (lambda: replace(ITEM, importance=6), "importance 6: give a whole number from 1 to 5"),
    "a blank category": (lambda: replace(ITEM, category=""), "the category is blank"),
    "a blank tag": (lambda: replace(ITEM, tags=("a", " ")), "a tag is blank"),
    "a private memory of nobody": (
        lambda: replace(ITEM, visibility=Visibility.USER_PRIVATE),
        "a user-private memory needs a user_id",
    ),
    "a shared memory of no project": (
        lambda: replace(ITEM, visibility=Visibility.PROJECT_SHARED, user_id="ann"),
        "a project-shared memory needs a project_id",
    ),
    "a silo of no agent": (
        lambda: replace(ITEM, visibility=Visibility.AGENT_SILO, user_id="ann"),
        "a memory in an agent's silo needs an agent_id",
    ),
    "a validity that ends before it starts": (
        lambda: replace(ITEM, valid_from=NOON, valid_to=NOON - timedelta(seconds=1)),
        "valid_to lies before valid_from",
    ),
    "more than sure": (lambda: Fact(confidence=1.01), "confidence 1.01: give a number from 0 to 1"),
    "less than unsure": (lambda: Fact(confidence=-0.01), "confidence -0.01"),
    "not sure how sure": (lambda: Fact(confidence=float("nan")), "confidence nan"),
    "a fact with a NUL": (lambda: Fact(value=NUL), "a fact's value holds a NUL"),
    "a fact like a book": (lambda: Fact(value="x" * 2001), "at most 2,000 are kept: split it"),
    "a title with half a pair": (lambda: Episode(HALF), "a title holds half"),
    "an artifact without a reference": (lambda: Artifact(ArtifactType.PR, " "), "reference is blank"),
    "a pattern with half a trigger": (lambda: Pattern(HALF, {}, ""), "a pattern's trigger holds half"),
    "a pattern with half a template": (lambda: Pattern("", {"a": HALF}, ""), "a pattern's template holds half"),
    "a pattern with half a hint": (lambda: Pattern("", {}, HALF), "a pattern's hint holds half"),
    "a workflow with half a trigger": (lambda: Workflow(HALF, (), "", {}), "a workflow's trigger holds half"),
    "a workflow with half a step": (lambda: Workflow("", ("a", HALF), "", {}), "a workflow's step holds half"),
    "a workflow with half a hint": (lambda: Workflow("", (), HALF, {}), "a workflow's hint holds half"),
    "a workflow with half its details": (lambda: Workflow("", (), "", {"a": HALF}), "a workflow's details"),
    "archived for half a reason": (lambda: Archived(NOON, HALF), "the reason holds half"),
    "expired for half a reason": (lambda: Expired(NOON, HALF), "the reason holds half"),
    "deleted for half a reason": (lambda: SoftDeleted(NOON, NOON, HALF), "the reason holds half"),
    "a blank version": (lambda: replace(VERSION, content="\t"), "the content of a version is blank"),
    "a version with a NUL": (lambda: replace(VERSION, content=NUL), "the content holds a NUL"),
    "an R3 without bullets": (lambda: replace(VERSION, bullets=()), "needs bullets with witnesses"),
    "a derived R3 without bullets": (
        lambda: replace(VERSION, bullets=(), derived_from="w", derivation=Derivation.SPLIT),
        "an R3 needs bullets with witnesses",
    ),
    "an R4 of nothing": (
        lambda: replace(VERSION, level=Level.R4, bullets=()),
        "derived from no other needs bullets with witnesses",
    ),
    "an R2 of nothing": (lambda: replace(VERSION, level=Level.R2), "a version at R2 is derived: name the version"),
    "an R1 of nothing": (lambda: replace(VERSION, level=Level.R1), "a version at R1 is derived: name the version"),
    "derived, but how": (lambda: replace(VERSION, derived_from="w"), "derived_from and derivation go together"),
    "derived, but of what": (
        lambda: replace(VERSION, derivation=Derivation.MERGE),
        "derived_from and derivation go together",
    ),
    "a bullet without a witness": (
        lambda: Bullet("She likes tea", ()),
        "'She likes tea' has no witness: every sentence names its evidence",
    ),
    "a bullet with a NUL": (lambda: replace(BULLET, text=NUL), "a bullet's text holds a NUL"),
    "half a reason to believe": (
        lambda: Bullet("tea", (EventWitness(EventId("e"), HALF),)),
        "a witness's reason holds half",
    ),
    "a range from 0": (lambda: RangeWitness(ItemId("t"), 0, 3), "witness s:0-3: .*starts at 1 or later"),
    "a range that runs down": (lambda: RangeWitness(ItemId("t"), 4, 3), "witness s:4-3: .*runs up"),
    "chunk 0": (lambda: ChunkWitness(EventId("e"), 0), "witness c:e.0: chunks are counted from 1"),
    "a memory related to itself": (lambda: replace(RELATION, to_id=RELATION.from_id), "not related to itself"),
    "too strong an edge": (lambda: replace(RELATION, strength=2), "strength 2: give a number from 0 to 1"),
    "an edge of no strength known": (lambda: replace(RELATION, strength=float("nan")), "strength nan"),
    "an edge of no type": (lambda: replace(RELATION, relation_type=""), "relation_type is blank"),
    "a proposal with a NUL": (lambda: replace(PENDING, value=NUL), "the proposed value holds a NUL"),
    "a grant without a purpose": (lambda: replace(ASKED, purpose=" "), "say what the reading is for"),
    "a grant for no agent": (lambda: replace(ASKED, agent_id=" "), "agent_id is blank"),
    "a grant that ended for half a reason": (
        lambda: Ended(
            id=ASKED.id,
            agent_id="robin",
            asked_by="ann",
            purpose="repair",
            asked_at=NOON,
            ended_at=NOON,
            reason=HALF,
        ),
        "the reason holds half",
    ),
    "a resolution like a book": (lambda: replace(RESOLVED, resolution_note="x" * 10_001), "the note has 10,001"),
    "a summary with a NUL": (lambda: replace(REFINED, summary=NUL), "the summary holds a NUL"),
    "an epoch of no project": (
        lambda: Epoch(id=RecordId("epoch:"), project_id="", number=1, advanced_at=NOON),
        "project_id is blank",
    ),
    "an epoch for half a reason": (
        lambda: Epoch(id=RecordId("epoch:p"), project_id="p", number=1, advanced_at=NOON, reason=HALF),
        "the reason holds half",
    ),
    "an erasure for half a reason": (lambda: Erase((), (), (), (), HALF), "the reason holds half"),
    "a checkpoint of nobody": (lambda: replace(CHECKPOINT, user_id=""), "user_id is blank"),
    "a checkpoint of no thread": (lambda: replace(CHECKPOINT, thread_id=" "), "thread_id is blank"),
    "half a checkpoint": (lambda: replace(CHECKPOINT, checkpoint_data={"a": HALF}), "the checkpoint holds half"),
    "a job of no kind": (lambda: replace(JOB, kind=""), "the job's kind is blank"),
    "a job without a key": (lambda: replace(JOB, key=""), "the job's key is blank"),
    "a job without a pause": (lambda: replace(JOB, every=timedelta(milliseconds=999)), "at most once a second"),
    "an empty page": (lambda: Page(0), "limit 0: give a number from 1 to 1000"),
    "too large a page": (lambda: Page(1001), "limit 1001"),
    "a scope of nobody": (lambda: Scope(tenant=TenantId("t"), user_id=" "), "user_id is blank"),
    "nobody": (lambda: replace(ANN, id=" "), "the principal is blank"),
    "an agent without a name": (lambda: replace(ANN, role=Role.AGENT), "the role agent needs an agent_id"),
    "a member with an agent's name": (lambda: replace(ANN, agent_id="robin"), "only .*the role agent has"),
    "a tenant in capitals": (lambda: tenant_id("Ann"), "use 1-63 lower-case letters, digits"),
    "a tenant without a name": (lambda: tenant_id(""), "use 1-63"),
    "a tenant that starts with a dash": (lambda: tenant_id("-a"), "starting with a letter or digit"),
    "a tenant with a line break": (lambda: tenant_id("a\n"), "use 1-63"),
    "too long a tenant": (lambda: tenant_id("a" * 64), "use 1-63"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_it_is_refused_with_what_is_wrong(case):
    build, message = REFUSALS[case]
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize("moment", ["origin_at", "created_at", "updated_at", "valid_from", "valid_to"])
def test_a_memory_names_the_zone_of_its_times(moment):
    with pytest.raises(ValueError, match=f"{moment} .* has no zone"):
        replace(ITEM, **{moment: UNZONED})


NAMES = ["user_id", "agent_id", "project_id", "thread_id", "run_id", "actor_id", "role", "topic_key"]


@pytest.mark.parametrize("field", NAMES)
@pytest.mark.parametrize(
    ("text", "message"),
    [(" ", "is blank: leave it out or give a name"), (NUL, "NUL"), (HALF, "half"), ("x" * 201, "at most 200")],
    ids=["blank", "nul", "half", "long"],
)
def test_every_name_on_a_memory_is_short_sound_and_not_blank(field, text, message):
    with pytest.raises(ValueError, match=f"{field} .*{message}"):
        replace(ITEM, **{field: text})


@pytest.mark.parametrize("field", ["user_id", "agent_id", "project_id", "thread_id", "run_id"])
def test_every_name_in_a_scope_is_sound(field):
    with pytest.raises(ValueError, match=f"{field} holds a NUL"):
        Scope(tenant=TenantId("t"), **{field: NUL})


def test_what_lies_on_the_edge_is_accepted():
    assert replace(EVENT, text="x" * MAX_TEXT)
    assert replace(ITEM, importance=1) != replace(ITEM, importance=5)
    assert replace(ITEM, valid_from=NOON, valid_to=NOON)
    assert name("x" * MAX_NAME, "it")
    assert replace(EVENT, chunks=(Span(0, len(EVENT.text)),))
    assert tenant_id("a" * 63)
    assert Page(1).limit < Page(1000).limit
    assert replace(JOB, every=timedelta(seconds=1))


@given(text=st.text(st.characters(), max_size=40))
def test_sound_text_is_exactly_what_utf_8_can_write_without_nul(text):
    try:
        writable = b"\x00" not in text.encode()
    except UnicodeEncodeError:
        writable = False
    if writable:
        assert sound(text, "it") == text
    else:
        with pytest.raises(ValueError, match="it holds"):
            sound(text, "it")


@given(value=some.json_values())
def test_all_of_json_is_sound(value):
    sound_json(value, "it")


@given(text=some.texts(200))
def test_tokens_are_characters_by_four_rounded_up(text):
    assert 4 * tokens(text) >= len(text) > 4 * (tokens(text) - 1)


def test_no_text_has_no_tokens_and_one_letter_has_one():
    assert [tokens("x" * length) for length in (0, 1, 4, 5, 8)] == [0, 1, 1, 2, 2]
