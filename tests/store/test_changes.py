"""Every kind of change through the door, and back."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import get_args

import pytest

from recollect.domain.change import (
    Append,
    Change,
    Consent,
    Create,
    Derive,
    Discard,
    Disclose,
    Edit,
    Erase,
    Irreversible,
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
    inverse,
    operation,
    revise,
)
from recollect.domain.event import Span
from recollect.domain.ids import EventId, ItemId, RecordId, Seq
from recollect.domain.item import Active, Archived, Artifact, ArtifactType, Episode, Fact, Lock, LockReason, Visibility
from recollect.domain.level import Level
from recollect.domain.record import (
    Asked,
    Decided,
    Epoch,
    Given,
    Lapsed,
    Open,
    Pending,
    ProfileField,
    Refined,
    Refining,
    Resolved,
    Retention,
    Rules,
    Verdict,
    family,
)
from recollect.domain.witness import ChunkWitness, EventWitness, RangeWitness
from recollect.errors import Gone, Invalid, NotFound, Stale, StoreDamaged
from tests.worlds import DAWN, MIRA, World

# -- one example of every kind ------------------------------------------------------------------------------

Example = Callable[[World], Change]
EXAMPLES: dict[str, Example] = {}


def example(make: Example) -> Example:
    EXAMPLES[make.__name__.removeprefix("_")] = make
    return make


@example
def _create(world: World) -> Create:
    return Create(world.item(tags=("warm", "morning"), importance=5))


@example
def _create_episode(world: World) -> Create:
    artifacts = (Artifact(ArtifactType.COMMIT, "c0ffee"), Artifact(ArtifactType.FILE, "src/tea.py"))
    return Create(world.item(Episode("brewing", artifacts), thread_id="brewing", category="episode"))


@example
def _withdraw(world: World) -> Withdraw:
    return Withdraw(world.keep())


@example
def _revise(world: World) -> Revise:
    item = world.keep()
    lock = Lock(world.clock.now(), LockReason.DISPUTE)
    after = replace(
        item,
        body=Fact(key="drink", value="coffee", confidence=0.5),
        category="preference",
        visibility=Visibility.PROJECT_SHARED,
        user_id="ben",
        project_id="house",
        state=Archived(world.clock.now(), "old"),
        tags=("bitter",),
        importance=1,
        core=True,
        pinned_min_level=Level.R2,
        lock=lock,
        valid_to=world.clock.now(),
    )
    return revise(item, after, world.clock.now())


@example
def _append(world: World) -> Append:
    return Append(world.event(world.keep(world.episode()), meta={"tool": "kettle", "n": [1, None]}))


@example
def _retract(world: World) -> Retract:
    return Retract(world.say("Ana drinks tea.")[1][0])


@example
def _derive(world: World) -> Derive:
    told = world.tell()
    return Derive(world.shorter(told.version))


@example
def _discard(world: World) -> Discard:
    return Discard(world.tell().version)


@example
def _link(world: World) -> Link:
    return Link(world.relation(world.keep(), world.keep()))


def _linked(world: World) -> Link:
    link = _link(world)
    world.apply(link)
    return link


@example
def _unlink(world: World) -> Unlink:
    return Unlink(_linked(world).relation)


@example
def _relink(world: World) -> Relink:
    before = _linked(world).relation
    return Relink(before, replace(before, relation_type="contradicts", strength=1.0))


@example
def _note(world: World) -> Note:
    return Note(None, world.contradiction(world.keep(), world.keep()))


@example
def _resolve(world: World) -> Note:
    note = _note(world)
    world.apply(note)
    return Note(note.after, resolved(note.after, "Ana said so"))


@example
def _protect(world: World) -> Protect:
    return Protect(world.keep().id, False, True)


@example
def _consent(world: World) -> Consent:
    asked = Asked(id=RecordId("g1"), agent_id="robin", asked_by="mira", purpose="a fault", asked_at=DAWN)
    world.apply(Note(None, asked))
    given = Given(
        id=asked.id,
        agent_id="robin",
        asked_by="mira",
        purpose="a fault",
        asked_at=DAWN,
        given_by="ben",
        given_at=DAWN,
        until=DAWN + timedelta(days=1),
    )
    return Consent(asked, given)


@example
def _disclose(world: World) -> Disclose:
    return Disclose(RecordId("g1"), world.keep().id)


@example
def _erase(world: World) -> Erase:
    told = world.tell()
    return Erase((told.item.id,), (told.version.id,), (told.event.id,), (), "asked for")


@example
def _undo(world: World) -> Undo:
    item = world.keep()
    return Undo(Seq(1), Withdraw(item))


def resolved(record: object, note: str = "") -> Resolved:
    assert isinstance(record, Open)
    return Resolved(
        id=record.id,
        memory_a=record.memory_a,
        memory_b=record.memory_b,
        detected_at=record.detected_at,
        resolved_at=record.detected_at,
        resolution=Verdict.A_WINS,
        resolution_note=note,
    )


def test_there_is_an_example_of_every_kind_of_change(found: Callable[[], World]):
    assert {type(make(found())) for make in EXAMPLES.values()} == {*get_args(Plain), Undo}


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_change_is_written_with_one_entry_that_tells_all_of_it(world: World, kind: str):
    change = EXAMPLES[kind](world)
    before = len(world.journal())
    rev = world.apply(change)
    [entry] = world.journal()[before:]
    assert entry.header.rev == rev == world.store.head(world.tenant).rev
    assert entry.header.op == operation(change)
    kept = entry.change
    match change, kept:
        case Append(event), Append(placed):
            assert placed == replace(event, seq=1)
        case Erase(), Erase():
            assert kept == replace(change, bodies=kept.bodies, named=kept.named)
            assert kept.bodies
            assert kept.named
        case _:
            assert kept == change
    assert world.is_whole()


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_change_and_its_inverse_leave_memory_as_it_was(world: World, kind: str):
    change = EXAMPLES[kind](world)
    before, records = world.state(), _records(world)
    world.apply(change)
    done = world.state(), _records(world)
    kept = world.journal()[-1]
    back = inverse(kept.change)
    if isinstance(back, Irreversible):
        assert isinstance(change, Protect | Consent | Disclose | Erase)
        return
    assert done != (before, records), "the change changes nothing that is looked at here"
    world.apply(Undo(kept.header.seq, back))
    assert (world.state(), _records(world)) == (before, records)
    again = inverse(world.journal()[-1].change)
    assert not isinstance(again, Irreversible)
    world.apply(again)
    assert (world.state(), _records(world)) == done
    assert world.is_whole()


def _records(world: World) -> list[object]:
    families = ("contradiction", "proposal", "grant", "refinement", "rules", "epoch")
    return [record for name in families for record in world.store.records(world.tenant, name)]


# -- items --------------------------------------------------------------------------------------------------


def test_an_item_comes_back_as_it_was_given(world: World):
    whole = world.item(
        Fact(key="drink", value="Tee — 茶 🍵", scope="mornings", confidence=0.25),
        agent_id="robin",
        project_id="house",
        thread_id="kitchen",
        run_id="run-7",
        actor_id="mira",
        role="user",
        topic_key="drinks",
        importance=5,
        tags=("é", "b"),
        private=True,
        core=True,
        default_level=Level.R2,
        pinned_min_level=Level.R1,
        lock=Lock(DAWN + timedelta(microseconds=1), LockReason.AUDIT),
        project_epoch=2**40,
        valid_from=DAWN,
        valid_to=DAWN + timedelta(days=1),
        supersedes=ItemId("a"),
        superseded_by=ItemId("b"),
    )
    world.keep(whole)
    assert world.held(whole).item == whole
    assert not world.held(whole).withdrawn


def test_a_memory_is_created_once(world: World):
    item = world.keep()
    with pytest.raises(Stale) as refused:
        world.apply(Create(item))
    assert refused.value.things == (item.id,)


def test_a_memory_is_created_once_even_within_one_write(world: World):
    item = world.item()
    with pytest.raises(Stale):
        world.apply(Create(item), Create(item))
    assert world.store.item(world.tenant, item.id) is None


def test_a_memory_is_created_unprotected(world: World):
    with pytest.raises(Invalid, match="unprotected"):
        world.keep(world.item(constitutional=True))


def test_one_thread_has_one_episode_per_owner(world: World):
    world.keep(world.episode("kitchen"))
    world.keep(world.episode("kitchen", user_id="ben"))
    world.keep(world.episode("kitchen", agent_id="robin"))
    world.keep(world.episode("kitchen", project_id="house"))
    world.keep(world.episode("kitchen", project_id="house", visibility=Visibility.PROJECT_SHARED))
    with pytest.raises(Stale):
        world.keep(world.episode("kitchen"))


def test_a_thread_is_free_again_when_its_episode_is_withdrawn(world: World):
    first = world.keep(world.episode("kitchen"))
    world.apply(Withdraw(first))
    second = world.keep(world.episode("kitchen"))
    scope = replace(world.scope, user_id="ana", thread_id="kitchen")
    assert world.store.thread(scope, Visibility.USER_PRIVATE).item.id == second.id
    with pytest.raises(Stale):
        world.apply(Create(first))


def test_a_withdrawn_memory_takes_no_changes(world: World):
    item = world.keep()
    world.apply(Withdraw(item))
    assert world.held(item).withdrawn
    for change in (
        revise(item, replace(item, importance=5), world.clock.now()),
        Protect(item.id, False, True),
        Link(world.relation(item, world.keep())),
        Withdraw(item),
    ):
        with pytest.raises(NotFound, match="withdrawn"):
            world.apply(change)


def test_withdrawing_keeps_protection_and_coming_back_does_too(world: World):
    item = world.keep()
    world.apply(Protect(item.id, False, True))
    world.apply(Withdraw(item))
    world.apply(Create(item))
    assert world.held(item).item.constitutional


def test_a_memory_that_changed_since_is_not_withdrawn(world: World):
    item = world.keep()
    world.apply(revise(item, replace(item, importance=5), world.clock.now()))
    with pytest.raises(Stale):
        world.apply(Withdraw(item))


def test_a_revision_that_starts_from_old_values_is_refused(world: World):
    item = world.keep()
    world.apply(revise(item, replace(item, importance=5), world.clock.now()))
    with pytest.raises(Stale, match="importance") as refused:
        world.apply(revise(item, replace(item, importance=1), world.clock.now()))
    assert refused.value.things == (item.id,)
    assert world.held(item).item.importance == 5


def test_revisions_of_different_fields_do_not_stand_in_each_others_way(world: World):
    item = world.keep()
    first, second = world.clock.now(), world.clock.now()
    world.apply(revise(item, replace(item, importance=5), second))
    world.apply(revise(item, replace(item, category="drinks"), first))
    now = world.held(item).item
    assert (now.importance, now.category, now.updated_at) == (5, "drinks", second)
    assert [edit.field for edit in world.journal()[-1].change.edits] == ["category"]


def test_several_revisions_of_one_memory_fit_into_one_write(world: World):
    item = world.keep()
    one, two = replace(item, importance=4), replace(item, importance=5)
    world.apply(
        Revise(item.id, Verb.UPDATE, (Edit("importance", 3, 4),)),
        Revise(item.id, Verb.UPDATE, (Edit("importance", 4, 5),)),
    )
    assert world.held(item).item == two != one
    assert len(world.journal()) == 3


def test_a_stale_protection_is_refused(world: World):
    item = world.keep()
    world.apply(Protect(item.id, False, True))
    with pytest.raises(Stale):
        world.apply(Protect(item.id, False, True))
    world.apply(Protect(item.id, True, False))
    assert not world.held(item).item.constitutional


def test_the_active_version_is_one_of_the_memorys_own_live_versions(world: World):
    told, other = world.tell(), world.tell()
    point = Revise(told.item.id, Verb.UPDATE, (Edit("active_version_id", None, told.version.id),))
    world.apply(point)
    assert world.held(told.item).item.active_version_id == told.version.id
    hint = world.shorter(told.version)
    for wrong in (other.version.id, hint.id):
        with pytest.raises(NotFound):
            world.apply(Revise(told.item.id, Verb.UPDATE, (Edit("active_version_id", told.version.id, wrong),)))


def test_artifacts_follow_their_episode(world: World):
    episode = world.keep(world.item(Episode("a", (Artifact(ArtifactType.PR, "1"),)), category="episode"))
    after = replace(episode, body=Episode("a", (Artifact(ArtifactType.ADR, "2"), Artifact(ArtifactType.ADR, "2"))))
    world.apply(revise(episode, after, world.clock.now()))
    kept = [row for row in world.store.dump(world.tenant) if row["table"] == "episode_artifacts"]
    assert [(row["artifact_type"], row["artifact_ref"]) for row in kept] == [("adr", "2")]


# -- expectations -------------------------------------------------------------------------------------------


def test_a_write_that_expects_what_is_there_goes_through(world: World):
    item = world.keep()
    rev = world.held(item).rev
    world.apply(revise(item, replace(item, importance=5), world.clock.now()), expect={item.id: rev})
    assert world.held(item).rev == rev + 1


def test_a_write_that_expects_an_older_revision_is_refused(world: World):
    item, other = world.keep(), world.keep()
    rev = world.held(item).rev
    world.apply(revise(item, replace(item, importance=5), world.clock.now()))
    with pytest.raises(Stale) as refused:
        world.apply(Create(world.item()), expect={item.id: rev, other.id: world.held(other).rev})
    assert refused.value.things == (item.id,)


def test_a_write_that_expects_a_memory_that_is_not_there_is_refused(world: World):
    with pytest.raises(Stale):
        world.apply(Create(world.item()), expect={ItemId("nobody"): 1})


def test_only_the_memories_that_a_write_changes_get_its_revision(world: World):
    one, two = world.keep(), world.keep()
    told = world.tell()
    episode = world.held(told.event.item_id)
    before = {item.id: world.held(item).rev for item in (one, two, told.item, episode.item)}
    rev = world.apply(
        revise(one, replace(one, importance=5), world.clock.now()),
        Link(world.relation(two, told.item)),
        Append(world.event(episode.item)),
    )
    assert {id: world.held(id).rev for id in before} == {**before, one.id: rev}


# -- events -------------------------------------------------------------------------------------------------


def test_events_are_placed_in_the_order_they_came(world: World):
    episode, first = world.say("one", "two")
    _, second = world.say("three")
    assert [(event.seq, event.text) for event in [*first, *second]] == [(1, "one"), (2, "two"), (3, "three")]
    assert [event.seq for event in world.store.events(world.tenant, episode.id)] == [1, 2, 3]


def test_threads_number_their_events_apart(world: World):
    _, [kitchen] = world.say("one", thread="kitchen")
    _, [cellar] = world.say("one", thread="cellar")
    assert kitchen.seq == cellar.seq == 1


def test_a_number_is_not_given_twice_although_its_event_was_taken_back(world: World):
    episode, [_, last] = world.say("one", "two")
    world.apply(Retract(last))
    _, [after] = world.say("three")
    assert after.seq == 3
    world.apply(Append(last))
    assert [event.text for event in world.store.events(world.tenant, episode.id)] == ["one", "two", "three"]


def test_events_belong_to_episodes(world: World):
    fact = world.keep()
    with pytest.raises(Invalid, match="episode"):
        world.apply(Append(world.event(fact)))


def test_an_event_of_a_memory_that_is_not_there_is_refused(world: World):
    with pytest.raises(NotFound):
        world.apply(Append(world.event(world.episode())))


def test_an_event_is_retracted_once_and_comes_back_once(world: World):
    _, [event] = world.say("one")
    world.apply(Retract(event))
    with pytest.raises(Stale):
        world.apply(Retract(event))
    world.apply(Append(event))
    with pytest.raises(Stale):
        world.apply(Append(event))


def test_an_event_comes_back_as_it_was_given(world: World):
    episode = world.keep(world.episode())
    event = world.event(
        episode,
        "first line\nsecond — 茶",
        role="tool",
        chunks=(Span(0, 5), Span(5, 12)),
        meta={"b": 1.5, "a": {"deep": [True, None, "x"]}},
    )
    world.apply(Append(event))
    assert world.store.events_by_id(world.tenant, [event.id]) == [replace(event, seq=1)]


# -- versions and witnesses ---------------------------------------------------------------------------------


def test_a_version_comes_back_as_it_was_given(world: World):
    episode, [one, two] = world.say("one", "two")
    item = world.keep()
    version = world.version(
        item, EventWitness(one.id, "said so"), RangeWitness(episode.id, 1, 2, "both"), quality_score=0.75
    )
    world.apply(Derive(version))
    assert world.store.versions(world.tenant, item.id) == [version]
    assert world.store.cited(world.tenant, [version.id]) == [one, two]


def test_a_version_may_cite_an_event_of_the_same_write(world: World):
    episode, item = world.keep(world.episode()), world.keep()
    event = world.event(episode, "long enough", chunks=(Span(0, 4), Span(4, 11)))
    world.apply(
        Append(event),
        Derive(world.version(item, event, ChunkWitness(event.id, 2), RangeWitness(episode.id, 1, 1))),
    )
    assert [event.id for event in world.store.cited(world.tenant, [world.store.versions(world.tenant, item.id)[0].id])]


@pytest.mark.parametrize(
    "witness",
    [
        lambda episode, event: EventWitness(EventId("00000000-0000-7000-8000-000000000000")),
        lambda episode, event: ChunkWitness(event.id, 1),
        lambda episode, event: ChunkWitness(EventId("00000000-0000-7000-8000-000000000000"), 1),
        lambda episode, event: RangeWitness(episode.id, 2, 9),
        lambda episode, event: RangeWitness(ItemId("nowhere"), 1, 1),
    ],
    ids=["event", "chunk of an event without chunks", "chunk of no event", "range", "range of no episode"],
)
def test_a_witness_that_points_nowhere_is_refused(world: World, witness: Callable[..., object]):
    episode, [event] = world.say("one")
    item = world.keep()
    with pytest.raises(Invalid, match="points nowhere"):
        world.apply(Derive(world.version(item, event, witness(episode, event))))
    assert world.store.versions(world.tenant, item.id) == []


def test_a_chunk_is_one_of_those_that_the_event_has(world: World):
    episode, item = world.keep(world.episode()), world.keep()
    event = world.event(episode, "long enough", chunks=(Span(0, 4), Span(4, 11)))
    with pytest.raises(Invalid, match="2 chunks"):
        world.apply(Append(event), Derive(world.version(item, ChunkWitness(event.id, 1), ChunkWitness(event.id, 3))))


def test_evidence_that_was_taken_back_bears_no_witness(world: World):
    episode, [event] = world.say("one")
    item = world.keep()
    world.apply(Retract(event))
    for witness in (EventWitness(event.id), RangeWitness(episode.id, 1, 1)):
        with pytest.raises(Invalid, match="points nowhere"):
            world.apply(Derive(world.version(item, witness)))


def test_a_range_cites_the_live_events_in_it(world: World):
    episode, [one, two, three, _] = world.say("one", "two", "three", "four")
    world.apply(Retract(two))
    version = world.version(world.keep(), RangeWitness(episode.id, 1, 3))
    world.apply(Derive(version))
    assert world.store.cited(world.tenant, [version.id]) == [one, three]


def test_a_shorter_version_comes_from_one_that_is_there(world: World):
    told = world.tell()
    world.apply(Discard(told.version))
    with pytest.raises(NotFound, match="version"):
        world.apply(Derive(world.shorter(told.version)))


def test_a_version_is_discarded_once_and_comes_back_once(world: World):
    told = world.tell()
    world.apply(Discard(told.version))
    assert world.store.versions(world.tenant, told.item.id) == []
    with pytest.raises(Stale):
        world.apply(Discard(told.version))
    world.apply(Derive(told.version))
    with pytest.raises(Stale):
        world.apply(Derive(told.version))


# -- what stands on what ------------------------------------------------------------------------------------


@pytest.mark.parametrize("above", ["event", "version", "relation", "contradiction"])
def test_a_memory_that_carries_something_is_not_withdrawn(world: World, above: str):
    item, other = world.keep(world.episode()), world.keep()
    _, [event] = world.say("elsewhere", thread="cellar")
    carried = {
        "event": Append(world.event(item)),
        "version": Derive(world.version(item, event)),
        "relation": Link(world.relation(other, item)),
        "contradiction": Note(None, world.contradiction(other, item)),
    }[above]
    world.apply(carried)
    before = world.dump()
    with pytest.raises(Stale, match="stand on"):
        world.apply(Withdraw(item))
    assert world.dump() == before
    back = inverse(world.journal()[-1].change)
    world.apply(back, Withdraw(item))
    assert world.held(item).withdrawn


def test_a_version_that_carries_another_is_not_discarded(world: World):
    told = world.tell()
    hint = world.shorter(told.version)
    world.apply(Derive(hint))
    with pytest.raises(Stale, match="stand on"):
        world.apply(Discard(told.version))
    world.apply(Discard(hint), Discard(told.version))
    with pytest.raises(NotFound, match="stands on"):
        world.apply(Derive(hint))


def test_the_version_that_speaks_for_its_memory_is_not_discarded(world: World):
    told = world.tell()
    world.apply(Revise(told.item.id, Verb.UPDATE, (Edit("active_version_id", None, told.version.id),)))
    with pytest.raises(Stale, match="stand on"):
        world.apply(Discard(told.version))


def test_the_last_evidence_of_a_version_is_not_retracted(world: World):
    _, [one, two] = world.say("one", "two")
    version = world.version(world.keep(), one, two)
    world.apply(Derive(version))
    world.apply(Retract(one))
    with pytest.raises(Stale, match="stand on"):
        world.apply(Retract(two))
    world.apply(Discard(version), Retract(two))
    with pytest.raises(NotFound, match="stands on"):
        world.apply(Derive(version))
    world.apply(Append(one), Derive(version))


# -- edges --------------------------------------------------------------------------------------------------


def test_two_memories_have_one_edge_in_each_direction(world: World):
    a, b = world.keep(), world.keep()
    there, back = world.relation(a, b), world.relation(b, a, strength=0.9)
    world.apply(Link(there), Link(back))
    with pytest.raises(Stale) as refused:
        world.apply(Link(world.relation(a, b, relation_type="other")))
    assert refused.value.things == (f"r:{a.id}>{b.id}",)
    assert world.store.relations(world.tenant, a.id) == [back, there]
    assert world.store.relations(world.tenant, b.id) == [back, there]


def test_an_edge_that_has_changed_is_not_taken_away_or_changed(world: World):
    a, b = world.keep(), world.keep()
    before = world.relation(a, b)
    world.apply(Link(before))
    world.apply(Relink(before, replace(before, strength=0.7)))
    for change in (Unlink(before), Relink(before, replace(before, strength=0.1))):
        with pytest.raises(Stale):
            world.apply(change)
    assert world.store.relations(world.tenant, a.id) == [replace(before, strength=0.7)]


def test_an_edge_needs_both_of_its_memories(world: World):
    a = world.keep()
    with pytest.raises(NotFound):
        world.apply(Link(world.relation(a, world.item())))


# -- records ------------------------------------------------------------------------------------------------


def pending(world: World, **fields: object) -> Pending:
    given = {"id": RecordId(world.clock.mint()), "user_id": "ana", "field": ProfileField.CITY, "value": "Graz"}
    more = {"signals": 3, "item_id": None, "proposed_at": DAWN, "lapses_at": DAWN + timedelta(days=7)}
    return Pending(**{**given, **more, **fields})


def test_every_stage_of_every_record_comes_back_as_it_was_given(world: World):
    a, b = world.keep(), world.keep()
    found = world.contradiction(a, b)
    proposal = pending(world, item_id=a.id)
    refining = Refining(id=RecordId("f"), agent_id="robin", started_at=DAWN, started_by="robin", tokens=900, target=500)
    refined = Refined(
        id=RecordId("f"),
        agent_id="robin",
        started_at=DAWN,
        started_by="robin",
        tokens=900,
        target=500,
        completed_at=DAWN,
        tokens_after=480,
        summary="shorter",
        consolidated=1,
        updated=2,
        deleted=3,
        protected=4,
    )
    lapsed = Lapsed(
        id=proposal.id, user_id="ana", field=ProfileField.CITY, item_id=a.id, proposed_at=DAWN, lapsed_at=DAWN
    )
    epoch = Epoch(id=RecordId("epoch:house"), project_id="house", number=2, advanced_at=DAWN, reason="moved")
    for before, after in (
        (None, found),
        (found, resolved(found, "b was a joke")),
        (None, proposal),
        (proposal, lapsed),
        (None, refining),
        (refining, refined),
        (None, Rules()),
        (Rules(), Rules(retention=Retention.PURGE)),
        (None, epoch),
    ):
        world.apply(Note(before, after))
        assert world.store.record(world.tenant, family(after), after.id) == after
        assert after in world.store.records(world.tenant, family(after))
        assert before not in world.store.records(world.tenant, family(after))


def test_a_person_decides_once(world: World):
    asked = pending(world)
    world.apply(Note(None, asked))
    decided = Decided(
        id=asked.id,
        user_id="ana",
        field=asked.field,
        value=asked.value,
        signals=3,
        item_id=None,
        proposed_at=DAWN,
        accepted=True,
        decided_by="ana",
        decided_at=DAWN,
    )
    world.apply(Consent(asked, decided))
    with pytest.raises(Stale):
        world.apply(Consent(asked, replace(decided, accepted=False)))
    assert world.store.record(world.tenant, "proposal", asked.id) == decided


def test_a_record_is_opened_once_and_moves_on_from_where_it_is(world: World):
    a, b = world.keep(), world.keep()
    found = world.contradiction(a, b)
    world.apply(Note(None, found))
    with pytest.raises(Stale):
        world.apply(Note(None, found))
    world.apply(Note(found, resolved(found, "one")))
    with pytest.raises(Stale):
        world.apply(Note(found, resolved(found, "two")))
    with pytest.raises(Stale):
        world.apply(Note(found, None))
    assert world.store.record(world.tenant, "contradiction", found.id) == resolved(found, "one")


def test_a_contradiction_needs_both_of_its_memories(world: World):
    with pytest.raises(NotFound):
        world.apply(Note(None, world.contradiction(world.keep(), world.item())))


def test_a_disclosure_needs_its_memory(world: World):
    with pytest.raises(NotFound):
        world.apply(Disclose(RecordId("g"), ItemId("nobody")))


# -- what was erased ----------------------------------------------------------------------------------------


def test_what_was_erased_does_not_come_back(world: World):
    told = world.tell()
    episode = world.held(told.event.item_id).item
    world.apply(Erase((told.item.id,), (told.version.id,), (told.event.id,), (), "asked for"))
    for change in (
        Create(told.item),
        Append(replace(told.event, seq=0)),
        revise(told.item, replace(told.item, importance=5), world.clock.now()),
        Protect(told.item.id, False, True),
    ):
        with pytest.raises(Gone):
            world.apply(change)
    again = world.item()
    with pytest.raises(Gone):
        world.apply(Create(again), Derive(replace(told.version, item_id=again.id)))
    with pytest.raises(Gone):
        world.apply(Append(told.event))
    assert isinstance(world.held(episode).item.state, Active)
    assert MIRA.id == world.journal()[-1].header.actor


def test_an_entry_that_cannot_be_read_says_where_it_is(world: World):
    told = world.tell("Ana drinks tea.")
    with world.store._engine.write(world.tenant) as tx:
        tx.run("update journal set actor_role = 'adminx' where tenant = :tenant and seq = 1")
    with pytest.raises(StoreDamaged, match=r"entry 1 of the journal cannot be read.*verify --deep"):
        world.store.entries(world.tenant)
    assert world.store.item(world.tenant, told.item.id)
