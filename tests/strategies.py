"""Hypothesis strategies for the values of the domain: everything that can be built, and nothing that cannot.

Every strategy takes fields to fix as keyword arguments (`items(visibility=Visibility.SYSTEM)`). The tables BODIES,
STATES, WITNESSES, RECORDS and CHANGES hold one strategy per member of the union of that name, so that a test can walk
a union; tests/domain/test_strategies.py fails when a member has no strategy here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, TypeVar, cast
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

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
    Undo,
    Unlink,
    Verb,
    Withdraw,
    operation,
    revise,
)
from recollect.domain.checkpoint import Checkpoint
from recollect.domain.event import Event, Span, Trust
from recollect.domain.ids import CauseId, EventId, ItemId, JobId, RecordId, Rev, Seq, TenantId, VersionId
from recollect.domain.item import (
    Active,
    Archived,
    Artifact,
    ArtifactType,
    Body,
    Episode,
    Expired,
    Fact,
    Insight,
    Item,
    Journal,
    Lock,
    LockReason,
    Pattern,
    SoftDeleted,
    State,
    Visibility,
    Workflow,
)
from recollect.domain.job import Job
from recollect.domain.journal import Body as EntryBody
from recollect.domain.journal import Entry, Head, Header, body_hash, body_text, genesis, header_hash
from recollect.domain.level import Derivation, Level
from recollect.domain.observation import Operation, Use, Used
from recollect.domain.record import (
    FAMILIES,
    Asked,
    Decided,
    Ended,
    Epoch,
    Given,
    Lapsed,
    Open,
    Pending,
    ProfileField,
    Record,
    Refined,
    Refining,
    Resolved,
    Retention,
    Rules,
    Verdict,
)
from recollect.domain.refs import item_of
from recollect.domain.relation import Relation
from recollect.domain.scope import Actor, Principal, Role, Scope
from recollect.domain.version import Version
from recollect.domain.witness import Bullet, ChunkWitness, EventWitness, RangeWitness, Witness

T = TypeVar("T")

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
"""A moment for tests that need only one."""

# -- the simplest things ----------------------------------------------------------------------------------


def moments(first: datetime = datetime(1900, 1, 1), last: datetime = datetime(2200, 1, 1)) -> SearchStrategy[datetime]:
    """Moments in UTC, to the microsecond."""
    return st.datetimes(first, last, timezones=st.just(UTC))


def uuids() -> SearchStrategy[str]:
    """UUIDv7 in their canonical text form."""
    return st.integers(0, 2**122 - 1).map(_uuid7)


def _uuid7(noise: int) -> str:
    return str(UUID(int=(noise >> 74) << 80 | 0x7 << 76 | (noise >> 62 & 0xFFF) << 64 | 0b10 << 62 | noise & 2**62 - 1))


def item_ids() -> SearchStrategy[ItemId]:
    return cast(SearchStrategy[ItemId], uuids())


def version_ids() -> SearchStrategy[VersionId]:
    return cast(SearchStrategy[VersionId], uuids())


def event_ids() -> SearchStrategy[EventId]:
    return cast(SearchStrategy[EventId], uuids())


def record_ids() -> SearchStrategy[RecordId]:
    return cast(SearchStrategy[RecordId], uuids())


_SOUND = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")


def texts(max_size: int = 60) -> SearchStrategy[str]:
    """Text that every store can hold, perhaps empty: all of Unicode but NUL and halves of surrogate pairs."""
    return st.text(_SOUND, max_size=max_size)


def words(max_size: int = 60) -> SearchStrategy[str]:
    """Sound text that is not blank."""
    return st.text(_SOUND, min_size=1, max_size=max_size).filter(str.strip)


def names() -> SearchStrategy[str]:
    """Identifiers given from outside: short and not blank. Few enough that two of them often meet."""
    return st.sampled_from(["ann", "ben", "p1", "ops", "Zoë", "日本", "a b"]) | words(20)


def unit() -> SearchStrategy[float]:
    """Numbers from 0 to 1."""
    return st.floats(0, 1)


def json_values() -> SearchStrategy[object]:
    """JSON of any shape: nested, with Unicode in keys and values, whole numbers of any size and finite floats."""
    leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts(20)
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts(10), inner, max_size=3),
        max_leaves=8,
    )


def json_objects() -> SearchStrategy[dict[str, object]]:
    return st.dictionaries(texts(10), json_values(), max_size=3)


def tenants() -> SearchStrategy[TenantId]:
    return cast(SearchStrategy[TenantId], st.from_regex(r"[a-z0-9][a-z0-9_-]{0,10}", fullmatch=True))


def built(
    made: Callable[..., T],
    fixed: Mapping[str, object],
    optional: Mapping[str, SearchStrategy[Any]] | None = None,
    /,
    **required: SearchStrategy[Any],
) -> SearchStrategy[T]:
    """A value of this class: required fields drawn, optional ones drawn or left to their default, some fixed."""
    return st.fixed_dictionaries(
        {name: strategy for name, strategy in required.items() if name not in fixed},
        optional={name: strategy for name, strategy in (optional or {}).items() if name not in fixed},
    ).map(lambda drawn: made(**drawn, **fixed))


# -- items ------------------------------------------------------------------------------------------------

BODIES: Mapping[type[Body], SearchStrategy[Any]] = {
    Fact: st.builds(
        Fact,
        key=st.none() | texts(20),
        value=st.none() | texts(),
        scope=st.none() | texts(20),
        confidence=unit(),
    ),
    Episode: st.builds(
        Episode,
        title=texts(),
        artifacts=st.lists(
            st.builds(Artifact, type=st.sampled_from(ArtifactType), ref=names()), max_size=3, unique=True
        ).map(tuple),
    ),
    Pattern: st.builds(Pattern, trigger=texts(), template=json_objects(), hint=texts()),
    Workflow: st.builds(
        Workflow, trigger=texts(), steps=st.lists(texts(), max_size=3).map(tuple), hint=texts(), details=json_objects()
    ),
    Insight: st.just(Insight()),
    Journal: st.just(Journal()),
}

STATES: Mapping[type[State], SearchStrategy[Any]] = {
    Active: st.just(Active()),
    Archived: st.builds(Archived, at=moments(), reason=texts(20)),
    Expired: st.builds(Expired, at=moments(), reason=texts(20)),
    SoftDeleted: st.builds(SoftDeleted, at=moments(), purge_at=moments(), reason=texts(20)),
}


def bodies() -> SearchStrategy[Body]:
    return st.one_of(*BODIES.values())


def states() -> SearchStrategy[State]:
    return st.one_of(*STATES.values())


def locks() -> SearchStrategy[Lock]:
    return st.builds(Lock, until=moments(), reason=st.sampled_from(LockReason))


_OWNER = {
    Visibility.USER_PRIVATE: "user_id",
    Visibility.PROJECT_SHARED: "project_id",
    Visibility.AGENT_SILO: "agent_id",
}
_NEEDED: Mapping[str, SearchStrategy[Any]] = {
    "body": bodies(),
    "category": names(),
    "state": states(),
    "origin_at": moments(),
    "updated_at": moments(),
}
_OPTIONAL: Mapping[str, SearchStrategy[Any]] = {
    **dict.fromkeys(("user_id", "agent_id", "project_id", "thread_id", "run_id", "actor_id", "role"), names()),
    **dict.fromkeys(("private", "core"), st.booleans()),
    **dict.fromkeys(("supersedes", "superseded_by"), item_ids()),
    "topic_key": names(),
    "importance": st.integers(1, 5),
    "tags": st.lists(names(), max_size=3).map(tuple),
    "trust": st.sampled_from(Trust),
    "default_level": st.sampled_from(Level),
    "active_version_id": version_ids(),
    "pinned_min_level": st.sampled_from(Level),
    "lock": locks(),
    "project_epoch": st.integers(0, 10),
    "valid_from": moments(),
}


@st.composite
def items(draw: st.DrawFn, **fixed: Any) -> Item:
    """A memory of any kind, visibility and state."""
    visibility = fixed.pop("visibility", None) or draw(st.sampled_from(Visibility))
    owner = _OWNER.get(visibility)
    if owner and fixed.get(owner) is None:
        fixed[owner] = draw(names())
    if draw(st.booleans()):
        first, last = sorted([draw(moments()), draw(moments())])
        fixed = {"valid_from": first, "valid_to": last} | fixed
    return draw(
        built(
            Item,
            {"visibility": visibility} | fixed,
            _OPTIONAL,
            id=item_ids(),
            constitutional=st.booleans(),
            created_at=moments(),
            **_NEEDED,
        )
    )


@st.composite
def edited(draw: st.DrawFn, item: Item) -> Item:
    """The same memory with some other fields, one of them at least; never its id, protection or time of creation."""
    chosen = draw(st.lists(st.sampled_from(sorted({*_NEEDED, *_OPTIONAL} - {"updated_at"})), max_size=4, unique=True))
    values = {name: draw((_NEEDED | _OPTIONAL)[name]) for name in chosen}
    if item.valid_to and values.get("valid_from", item.valid_to) > item.valid_to:
        values["valid_to"] = None
    other = replace(item, **values)
    return other if other != item else replace(item, importance=item.importance % 5 + 1)


# -- events and versions ----------------------------------------------------------------------------------


@st.composite
def events(draw: st.DrawFn, **fixed: Any) -> Event:
    """A piece of evidence, placed in its thread; long ones in chunks."""
    text = fixed.pop("text", None) or draw(words())
    if "chunks" not in fixed:
        cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=4)))
        fixed["chunks"] = tuple(Span(start, end) for start, end in pairwise(cuts))
    return draw(
        built(
            Event,
            {"text": text} | fixed,
            {"role": names(), "trust": st.sampled_from(Trust), "meta": json_objects()},
            id=event_ids(),
            item_id=item_ids(),
            seq=st.integers(1, 10_000),
            ts=moments(),
            author=names(),
        )
    )


@st.composite
def _ranges(draw: st.DrawFn) -> RangeWitness:
    first = draw(st.integers(1, 999_999_999))
    return RangeWitness(draw(item_ids()), first, draw(st.integers(first, 999_999_999)), draw(texts(20)))


WITNESSES: Mapping[type[Witness], SearchStrategy[Any]] = {
    EventWitness: st.builds(EventWitness, event_id=event_ids(), reason=texts(20)),
    RangeWitness: _ranges(),
    ChunkWitness: st.builds(ChunkWitness, event_id=event_ids(), number=st.integers(1, 999_999), reason=texts(20)),
}


def witnesses() -> SearchStrategy[Witness]:
    return st.one_of(*WITNESSES.values())


def bullets() -> SearchStrategy[Bullet]:
    return st.builds(
        Bullet,
        text=texts(),
        witnesses=st.lists(witnesses(), min_size=1, max_size=3).map(lambda found: tuple(found)),
        section=st.sampled_from(["", "Decisions", "Facts"]),
    )


@st.composite
def versions(draw: st.DrawFn, **fixed: Any) -> Version:
    """A memory at any level, derived from another version or from evidence alone."""
    level = fixed.pop("level", None) or draw(st.sampled_from(Level))
    if "derived_from" not in fixed:
        fixed["derived_from"] = draw(version_ids() if level < Level.R3 else st.none() | version_ids())
    if "derivation" not in fixed:
        fixed["derivation"] = draw(st.sampled_from(Derivation)) if fixed["derived_from"] else None
    needed = fixed["derived_from"] is None or level is Level.R3
    return draw(
        built(
            Version,
            {"level": level} | fixed,
            {"quality_score": unit()},
            id=version_ids(),
            item_id=item_ids(),
            content=words(),
            bullets=st.lists(bullets(), min_size=int(needed), max_size=3).map(tuple),
            created_at=moments(),
        )
    )


@st.composite
def relations(draw: st.DrawFn, **fixed: Any) -> Relation:
    ends = {"from_id": draw(item_ids()), "to_id": draw(item_ids())} | {
        name: fixed.pop(name) for name in ("from_id", "to_id") if name in fixed
    }
    if ends["from_id"] == ends["to_id"]:
        ends["to_id"] = draw(item_ids().filter(lambda other: other != ends["from_id"]))
    return draw(
        built(
            Relation,
            ends | fixed,
            {"relation_type": names()},
            id=record_ids(),
            strength=unit(),
            created_at=moments(),
        )
    )


# -- records ----------------------------------------------------------------------------------------------

_CONTRADICTION = {
    "id": record_ids(),
    "memory_a": item_ids(),
    "memory_b": item_ids(),
    "detected_at": moments(),
    "why": words(20),
    "confidence": unit(),
}
_PROPOSAL = {
    "id": record_ids(),
    "user_id": names(),
    "field": st.sampled_from(ProfileField),
    "item_id": st.none() | item_ids(),
    "proposed_at": moments(),
}
_GRANT = {
    "id": record_ids(),
    "agent_id": names(),
    "asked_by": names(),
    "purpose": words(20),
    "asked_at": moments(),
}
_REFINEMENT = {
    "id": record_ids(),
    "agent_id": names(),
    "started_at": moments(),
    "started_by": names(),
    "tokens": st.integers(0, 10_000),
    "target": st.integers(0, 10_000),
}
_COUNT = st.integers(0, 100)

_STAGES: Mapping[type[Record], Mapping[str, SearchStrategy[Any]]] = {
    Open: _CONTRADICTION,
    Resolved: _CONTRADICTION
    | {"resolved_at": moments(), "resolution": st.sampled_from(Verdict), "resolution_note": texts()},
    Pending: _PROPOSAL | {"value": texts(), "signals": _COUNT, "lapses_at": moments()},
    Decided: _PROPOSAL
    | {
        "value": texts(),
        "signals": _COUNT,
        "accepted": st.booleans(),
        "decided_by": names(),
        "decided_at": moments(),
    },
    Lapsed: _PROPOSAL | {"lapsed_at": moments()},
    Asked: _GRANT,
    Given: _GRANT | {"given_by": names(), "given_at": moments(), "until": moments()},
    Ended: _GRANT | {"ended_at": moments(), "reason": texts(20)},
    Refining: _REFINEMENT,
    Refined: _REFINEMENT
    | {
        "completed_at": moments(),
        "tokens_after": _COUNT,
        "summary": texts(),
        "consolidated": _COUNT,
        "updated": _COUNT,
        "deleted": _COUNT,
        "protected": _COUNT,
    },
    Rules: {"retention": st.sampled_from(Retention)},
    Epoch: {
        "id": record_ids(),
        "project_id": names(),
        "number": _COUNT,
        "advanced_at": moments(),
        "reason": texts(20),
        "mark": texts(20),
    },
}


def record(stage: type[T], **fixed: Any) -> SearchStrategy[T]:
    """A record of one stage."""
    return built(stage, fixed, **_STAGES[cast(type[Record], stage)])


RECORDS: Mapping[type[Record], SearchStrategy[Any]] = {stage: record(stage) for stage in _STAGES}


def records() -> SearchStrategy[Record]:
    return st.one_of(*RECORDS.values())


# -- changes ----------------------------------------------------------------------------------------------


@st.composite
def revisions(draw: st.DrawFn, **fixed: Any) -> Revise:
    """Fields of one memory change, for any reason."""
    before = draw(items(**fixed))
    return revise(before, draw(edited(before)), draw(moments()), draw(st.sampled_from(Verb)))


@st.composite
def relinks(draw: st.DrawFn) -> Relink:
    before = draw(relations())
    return Relink(before, draw(relations(from_id=before.from_id, to_id=before.to_id)))


@st.composite
def notes(draw: st.DrawFn) -> Note:
    """A record is opened, moves on within its family, or is taken back."""
    stage = draw(st.sampled_from([stage for stage in FAMILIES if stage not in (Decided, Given)]))
    after = draw(RECORDS[stage])
    match draw(st.sampled_from(["opened", "moved", "taken back"])):
        case "opened":
            return Note(None, after)
        case "moved":
            kin = [other for other in FAMILIES if FAMILIES[other] == FAMILIES[stage]]
            return Note(draw(record(draw(st.sampled_from(kin)), id=after.id)), after)
        case _:
            return Note(draw(records()), None)


@st.composite
def consents(draw: st.DrawFn) -> Consent:
    before = draw(record(Pending) | record(Asked))
    if isinstance(before, Pending):
        return Consent(before, draw(record(Decided, id=before.id)))
    return Consent(before, draw(record(Given, id=before.id) | record(Ended, id=before.id)))


def erasures() -> SearchStrategy[Erase]:
    return st.builds(
        Erase,
        items=st.lists(item_ids(), max_size=2, unique=True).map(tuple),
        versions=st.lists(version_ids(), max_size=2, unique=True).map(tuple),
        events=st.lists(event_ids(), max_size=2, unique=True).map(tuple),
        checkpoints=st.lists(record_ids(), max_size=2, unique=True).map(tuple),
        reason=texts(20),
        proposals=st.lists(record_ids(), max_size=2, unique=True).map(tuple),
        bodies=st.lists(st.integers(1, 1000).map(Seq), max_size=3, unique=True).map(sorted).map(tuple),
    )


PLAIN: Mapping[type[Plain], SearchStrategy[Any]] = {
    Create: st.builds(Create, item=items()),
    Withdraw: st.builds(Withdraw, item=items()),
    Revise: revisions(),
    Append: st.builds(Append, event=events()),
    Retract: st.builds(Retract, event=events()),
    Derive: st.builds(Derive, version=versions()),
    Discard: st.builds(Discard, version=versions()),
    Link: st.builds(Link, relation=relations()),
    Unlink: st.builds(Unlink, relation=relations()),
    Relink: relinks(),
    Note: notes(),
    Protect: st.booleans().flatmap(lambda on: st.builds(Protect, item_ids(), st.just(not on), st.just(on))),
    Consent: consents(),
    Disclose: st.builds(Disclose, grant_id=record_ids(), item_id=item_ids(), version_id=st.none() | version_ids()),
    Erase: erasures(),
}


def plain_changes() -> SearchStrategy[Plain]:
    return st.one_of(*PLAIN.values())


CHANGES: Mapping[type[Change], SearchStrategy[Any]] = {
    **PLAIN,
    Undo: st.builds(Undo, entry=st.integers(1, 1000).map(Seq), change=plain_changes()),
}


def changes() -> SearchStrategy[Change]:
    """Any member of the union."""
    return st.one_of(*CHANGES.values())


# -- the journal ------------------------------------------------------------------------------------------


def hashes() -> SearchStrategy[str]:
    return st.binary(min_size=32, max_size=32).map(bytes.hex)


def headers(**fixed: Any) -> SearchStrategy[Header]:
    return built(
        Header,
        fixed,
        seq=st.integers(1, 10**9).map(Seq),
        rev=st.integers(1, 10**9).map(Rev),
        at=moments(),
        op=st.sampled_from([verb.value for verb in Verb]) | st.sampled_from(["create", "append", "derive"]),
        item_id=st.none() | item_ids(),
        user_id=st.none() | names(),
        project_id=st.none() | names(),
        agent_id=st.none() | names(),
        thread_id=st.none() | names(),
        thread_rev=st.none() | st.integers(1, 10**6),
        actor=names(),
        actor_role=st.sampled_from(Role),
        actor_agent=st.none() | names(),
        cause=st.none() | uuids().map(CauseId),
        undoes=st.none() | st.integers(1, 10**9).map(Seq),
        body_hash=hashes(),
        prev_hash=hashes(),
    )


def entry_bodies() -> SearchStrategy[EntryBody]:
    return st.builds(EntryBody, nonce=st.binary(min_size=16, max_size=16), text=changes().map(body_text))


@st.composite
def entries(draw: st.DrawFn, **fixed: Any) -> Entry:
    """One entry whose hashes are right in themselves, with a body or without."""
    body = draw(entry_bodies())
    header = draw(headers(body_hash=body_hash(body), **fixed))
    return Entry(header, header_hash(header), draw(st.sampled_from([body, None])))


def chained(written: Sequence[Change | None], chain_id: str = "c" * 32) -> tuple[list[Entry], Head]:
    """A sound journal of these changes, one revision each, and its head. None stands for a checkpoint: a header with a
    digest and no body. The bodies that an Erase names are gone."""
    gone = {seq for change in written if isinstance(change, Erase) for seq in change.bodies}
    made: list[Entry] = []
    last = genesis(chain_id)
    for number, change in enumerate(written, 1):
        body = EntryBody(bytes([number % 256]) * 16, "{}" if change is None else body_text(change))
        header = Header(
            seq=Seq(number),
            rev=Rev(number),
            at=NOON + timedelta(seconds=number),
            op="checkpoint" if change is None else operation(change),
            item_id=item_of(change) if change else None,
            user_id="ann",
            project_id=None,
            agent_id=None,
            thread_id="notes",
            thread_rev=number,
            actor="ann",
            actor_role=Role.MEMBER,
            actor_agent=None,
            cause=None,
            undoes=change.entry if isinstance(change, Undo) else None,
            body_hash=body_hash(body),
            prev_hash=last,
        )
        last = header_hash(header)
        made.append(Entry(header, last, None if change is None or number in gone else body))
    return made, Head(chain_id, Rev(len(made)), Seq(len(made)), last)


# -- who and where ----------------------------------------------------------------------------------------


def scopes(**fixed: Any) -> SearchStrategy[Scope]:
    optional = dict.fromkeys(("user_id", "agent_id", "project_id", "thread_id", "run_id"), names())
    return built(Scope, fixed, optional, tenant=tenants())


@st.composite
def principals(draw: st.DrawFn, **fixed: Any) -> Principal:
    role = fixed.pop("role", None) or draw(st.sampled_from(Role))
    if role is Role.AGENT and "agent_id" not in fixed:
        fixed["agent_id"] = draw(names())
    reach = st.none() | st.frozensets(names(), max_size=3)
    return draw(built(Principal, {"role": role} | fixed, tenant=tenants(), id=names(), users=reach, projects=reach))


def actors(**fixed: Any) -> SearchStrategy[Actor]:
    return built(Actor, fixed, {"agent_id": names()}, id=names(), role=st.sampled_from(Role))


# -- what is kept beside memory ---------------------------------------------------------------------------


def jobs(**fixed: Any) -> SearchStrategy[Job]:
    return built(
        Job,
        fixed,
        {"payload": json_objects(), "every": st.timedeltas(timedelta(seconds=1), timedelta(days=30))},
        id=uuids().map(JobId),
        kind=names(),
        key=names(),
        not_before=moments(),
    )


def checkpoints(**fixed: Any) -> SearchStrategy[Checkpoint]:
    return built(
        Checkpoint,
        fixed,
        id=record_ids(),
        user_id=names(),
        thread_id=names(),
        checkpoint_data=json_objects(),
        created_at=moments(),
        updated_at=moments(),
    )


def uses(**fixed: Any) -> SearchStrategy[Used]:
    return built(Used, fixed, item_id=item_ids(), use=st.sampled_from(Use), at=moments())


def operations(**fixed: Any) -> SearchStrategy[Operation]:
    return built(
        Operation,
        fixed,
        {"memory_id": item_ids(), "category": names(), "sim": unit()},
        id=record_ids(),
        user_id=st.none() | names(),
        thread_id=st.none() | names(),
        node=names(),
        op=names(),
        status=names(),
        ts=moments(),
    )
