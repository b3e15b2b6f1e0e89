"""One write: all of it or nothing, journalled in the same revision."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Barrier

import pytest

from recollect.domain.change import (
    Append,
    Create,
    Derive,
    Discard,
    Disclose,
    Erase,
    Link,
    Note,
    Undo,
    Withdraw,
    revise,
)
from recollect.domain.event import Trust
from recollect.domain.ids import CauseId, ItemId, RecordId, Seq, TenantId
from recollect.domain.item import Visibility
from recollect.domain.job import Finish, Leased
from recollect.domain.record import Rules
from recollect.domain.scope import Scope
from recollect.domain.witness import RangeWitness
from recollect.errors import Invalid, KeyReused, LeaseLost, NotFound, RecollectError, Repeated, Stale
from recollect.holdings import Receipt, Vector
from recollect.ports import Store
from recollect.store.journal import Pen
from tests.worlds import DAWN, MIRA, ROBIN, World, numbers

# -- all or nothing -----------------------------------------------------------------------------------------


def _double_create(world: World, _: pytest.MonkeyPatch) -> dict[str, object]:
    return {"changes": [Create(world.keep())]}


def _nowhere(world: World, _: pytest.MonkeyPatch) -> dict[str, object]:
    item = world.keep()
    event = world.event(world.episode())
    return {"changes": [Derive(world.version(item, event))]}


def _thread_taken(world: World, _: pytest.MonkeyPatch) -> dict[str, object]:
    world.keep(world.episode("cellar"))
    return {"changes": [Create(world.episode("cellar"))]}


def _job_lost(world: World, _: pytest.MonkeyPatch) -> dict[str, object]:
    gone = Leased(
        tenant=world.tenant, job=world.job(), step=0, state={}, attempts=1, token="none", lease_until=world.clock.now()
    )
    return {"step": Finish(gone)}


def _same_event_twice(world: World, _: pytest.MonkeyPatch) -> dict[str, object]:
    episode = world.keep(world.episode("cellar"))
    event = world.event(episode)
    return {"changes": [Append(event), Append(event)]}


def _breaks_at_the_end(world: World, monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    def write(pen: Pen, *_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Pen, "write", write)
    return {}


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (_double_create, Stale),
        (_nowhere, Invalid),
        (_thread_taken, Stale),
        (_job_lost, LeaseLost),
        (_same_event_twice, Stale),
        (_breaks_at_the_end, KeyboardInterrupt),
    ],
)
def test_a_write_that_fails_leaves_nothing_behind(
    world: World, monkeypatch: pytest.MonkeyPatch, failure: Callable[..., dict[str, object]], error: type[Exception]
):
    told = world.tell("Ana drinks tea.")
    fails = failure(world, monkeypatch)
    before, head = world.dump(), world.store.head(world.tenant)
    episode = world.episode("attic")
    event, item = world.event(episode, "quixotic zebra"), world.item()
    version = world.version(item, event, content="quixotic zebra")
    with pytest.raises(error):
        world.apply(
            Create(episode),
            Append(event),
            Create(item),
            Derive(version),
            Link(world.relation(item, told.item)),
            Note(None, world.contradiction(item, told.item)),
            revise(told.item, replace(told.item, importance=5), world.clock.now()),
            *fails.pop("changes", ()),
            then=[world.job()],
            vectors=[Vector("mini", f"e:{told.event.id}", numbers(1, 2))],
            receipt=Receipt("key-1", "digest", "{}"),
            **fails,
        )
    monkeypatch.undo()
    assert world.dump() == before
    assert world.store.head(world.tenant) == head
    assert world.store.jobs(world.tenant) == []
    assert world.store.receipt(world.tenant, MIRA.id, "key-1") is None
    assert world.found("quixotic") == []
    # and nothing hidden is in the way of doing it right
    world.apply(Create(episode), Append(event), Create(item), Derive(version), receipt=Receipt("key-1", "d", "{}"))
    assert sorted(world.found("quixotic")) == sorted([f"e:{event.id}", f"v:{version.id}"])
    assert world.is_whole()


def test_writing_nothing_moves_nothing(world: World):
    rev = world.keep() and world.store.head(world.tenant).rev
    assert world.apply() == rev
    assert world.store.head(world.tenant).rev == rev


# -- the journal --------------------------------------------------------------------------------------------


def test_a_write_has_one_revision_and_one_entry_per_change(world: World):
    first = world.apply(Create(world.item()), Create(world.item()))
    second = world.apply(Create(world.item()))
    assert (first, second) == (1, 2)
    assert [(e.header.seq, e.header.rev) for e in world.journal()] == [(1, 1), (2, 1), (3, 2)]
    head = world.store.head(world.tenant)
    assert (head.rev, head.seq, head.hash) == (2, 3, world.journal()[-1].hash)


def test_an_entry_names_who_did_it_when_and_why(world: World):
    at = world.clock.now()
    world.apply(Create(world.item()), actor=ROBIN, at=at, cause=CauseId("night"))
    item = world.keep()
    world.apply(Undo(Seq(2), Withdraw(item)))
    one, _, undone = (entry.header for entry in world.journal())
    assert (one.actor, one.actor_role, one.actor_agent, one.at, one.cause) == ("robin", "agent", "robin", at, "night")
    assert (undone.actor_agent, undone.cause, undone.undoes, undone.op) == (None, None, 2, "withdraw")


def test_an_entry_carries_the_ids_of_the_memory_it_is_about(world: World):
    kitchen = world.episode("kitchen", agent_id="robin", project_id="house")
    fact = world.item(user_id=None, project_id="garden", visibility=Visibility.PROJECT_SHARED)
    other = world.item(user_id="ben")
    elsewhere = Scope(
        tenant=world.tenant, user_id="eve", agent_id="otto", project_id="roof", thread_id="attic", run_id="r"
    )
    event = world.event(kitchen)
    world.apply(
        Create(kitchen),
        Append(event),
        Create(fact),
        Derive(world.version(fact, event)),
        Create(other),
        Link(world.relation(other, fact)),
        Note(None, world.contradiction(other, fact)),
        Note(None, Rules()),
        Disclose(RecordId("g"), other.id),
        scope=elsewhere,
    )
    ids = [
        (h.op, h.item_id, h.user_id, h.agent_id, h.project_id, h.thread_id)
        for h in (entry.header for entry in world.journal())
    ]
    in_kitchen = (kitchen.id, "ana", "robin", "house", "kitchen")
    of_fact = (fact.id, None, None, "garden", None)
    of_other = (other.id, "ben", None, None, None)
    assert ids == [
        ("create", *in_kitchen),
        ("append", *in_kitchen),
        ("create", *of_fact),
        ("derive", *of_fact),
        ("create", *of_other),
        ("link", *of_other),
        ("contradiction_open", *of_other),
        ("rules_rules", None, "eve", "otto", "roof", "attic"),
        ("disclose", *of_other),
    ]


def test_a_memory_that_changes_hands_is_journalled_with_its_new_owner(world: World):
    item = world.keep()
    world.apply(revise(item, replace(item, user_id="ben", project_id="house"), world.clock.now()))
    header = world.journal()[-1].header
    assert (header.user_id, header.project_id) == ("ben", "house")


def test_a_thread_counts_the_writes_to_it(world: World):
    world.say("one", "two", thread="kitchen")
    world.say("three", thread="cellar")
    world.say("four", thread="kitchen")
    told = world.tell("five", thread="kitchen")  # the fact itself belongs to no thread
    headers = [entry.header for entry in world.journal()]
    assert [(h.op, h.thread_id, h.thread_rev) for h in headers] == [
        ("create", "kitchen", 1),
        ("append", "kitchen", 1),
        ("append", "kitchen", 1),
        ("create", "cellar", 1),
        ("append", "cellar", 1),
        ("append", "kitchen", 2),
        ("append", "kitchen", 3),
        ("create", None, None),
        ("derive", None, None),
    ]
    assert told.item.thread_id is None
    anas = [replace(world.scope, user_id="ana", thread_id=name) for name in ("kitchen", "cellar", "attic")]
    assert [world.store.thread_rev(scope) for scope in anas] == [3, 1, 0]
    assert world.store.thread_rev(replace(anas[0], user_id="ben")) == 0


def test_entries_are_found_by_any_and_all_of_their_marks(world: World):
    world.say("one", thread="kitchen")
    told = world.tell("two", thread="cellar", user_id="ben")
    world.apply(Discard(told.version), cause=CauseId("night"))
    world.apply(Undo(Seq(7), Derive(told.version)), cause=CauseId("night"))
    project = world.item(user_id=None, project_id="house", visibility=Visibility.PROJECT_SHARED, agent_id="robin")
    world.apply(Create(project), cause=CauseId("day"))
    world.apply(Link(world.relation(told.item, project)))
    every = world.journal()
    assert [e.header.seq for e in every] == list(range(1, len(every) + 1))
    ana, house = replace(world.scope, user_id="ana"), replace(world.scope, project_id="house", agent_id="robin")
    cellar = replace(world.scope, user_id="ben", thread_id="cellar")

    def kept(**marks: object) -> list[int]:
        return [e.header.seq for e in world.store.entries(world.tenant, **marks)]  # type: ignore[arg-type]

    def where(holds: Callable[..., bool]) -> list[int]:
        return [e.header.seq for e in every if holds(e.header)]

    assert kept(after=Seq(3)) == where(lambda h: h.seq > 3)
    assert kept(after=Seq(99)) == []
    assert kept(limit=2) == [1, 2]
    assert kept(after=Seq(2), limit=3) == [3, 4, 5]
    assert kept(seqs=[Seq(5), Seq(1), Seq(99)]) == [1, 5]
    assert kept(seqs=[]) == []
    assert kept(cause=CauseId("night")) == where(lambda h: h.cause == "night") != []
    assert kept(scope=ana) == where(lambda h: h.user_id == "ana") != []
    assert kept(scope=house) == where(lambda h: h.project_id == "house") != []
    assert kept(scope=cellar) == where(lambda h: h.thread_id == "cellar") != []
    assert kept(scope=world.scope) == where(lambda h: True)
    for rev in range(world.store.head(world.tenant).rev + 2):
        assert kept(rev_after=rev) == where(lambda h, rev=rev: h.rev > rev)
    assert kept(refs=[f"i:{told.item.id}"]) == [5, 6, 7, 8, 10]
    assert kept(refs=[f"v:{told.version.id}"]) == [6, 7, 8]
    assert kept(refs=[f"e:{told.event.id}"]) == [4]
    assert kept(refs=[f"r:{told.item.id}>{project.id}", f"e:{told.event.id}"]) == [4, 10]
    assert kept(refs=[]) == kept(refs=["i:nobody"]) == []
    assert kept(refs=[f"i:{told.item.id}"], cause=CauseId("night"), after=Seq(7), rev_after=1) == [8]


def test_an_item_that_no_one_ever_wrote_has_no_entries(world: World):
    assert world.store.entries(world.tenant, refs=["i:nobody"]) == []
    assert world.store.item(world.tenant, ItemId("nobody")) is None


# -- receipts -----------------------------------------------------------------------------------------------


def test_a_key_is_good_for_one_write(world: World):
    rev = world.apply(Create(world.item()), receipt=Receipt("key-1", "digest", '{"answer":1}'))
    assert world.store.receipt(world.tenant, MIRA.id, "key-1") == Receipt("key-1", "digest", '{"answer":1}', rev)
    before = world.dump()
    for digest in ("digest", "other"):
        with pytest.raises(Repeated, match="key-1"):
            world.apply(Create(world.item()), receipt=Receipt("key-1", digest, "{}"))
    assert world.dump() == before


def test_everybody_has_keys_of_their_own(world: World):
    world.apply(Create(world.item()), receipt=Receipt("key-1", "digest", "{}"))
    world.apply(Create(world.item()), receipt=Receipt("key-1", "digest", "{}"), actor=ROBIN)
    assert world.store.receipt(world.tenant, ROBIN.id, "key-1").rev == 2
    assert world.store.receipt(world.tenant, "otto", "key-1") is None


def test_a_key_whose_write_failed_can_be_used_again(world: World):
    item = world.keep()
    with pytest.raises(Stale):
        world.apply(Create(item), receipt=Receipt("key-1", "digest", "{}"))
    world.apply(Create(world.item()), receipt=Receipt("key-1", "digest", "{}"))


def test_of_many_writers_with_one_key_one_writes(world: World):
    ready = Barrier(8)
    items = [world.item() for _ in range(8)]

    def write(number: int) -> str:
        ready.wait()
        try:
            world.apply(Create(items[number]), receipt=Receipt("key-1", "digest", str(number)))
        except Repeated:
            return "repeated"
        return str(number)

    with ThreadPoolExecutor(8) as threads:
        answers = sorted(threads.map(write, range(8)))
    [winner] = [answer for answer in answers if answer != "repeated"]
    assert world.store.receipt(world.tenant, MIRA.id, "key-1").answer == winner
    assert [entry.header.item_id for entry in world.journal()] == [items[int(winner)].id]


def test_a_repeat_through_the_front_door_gets_the_first_answer(world: World, tmp_path: Path):
    memory = world.memory(tmp_path)
    first = memory.remember("Ana drinks tea.", key="key-1")
    before = world.dump()
    assert memory.remember("Ana drinks tea.", key="key-1") == first
    with pytest.raises(KeyReused):
        memory.remember("Ana drinks milk.", key="key-1")
    assert world.dump() == before


def test_of_many_repeats_at_once_one_writes_and_all_get_its_answer(world: World, tmp_path: Path):
    memory = world.memory(tmp_path)
    ready = Barrier(8)

    def remember(_: int) -> object:
        ready.wait()
        return memory.remember("Ana drinks tea.", key="key-1")

    with ThreadPoolExecutor(8) as threads:
        answers = set(threads.map(remember, range(8)))
    assert len(answers) == 1
    assert [entry.header.op for entry in world.journal()] == ["create", "append", "create", "derive"]


# -- jobs that a write asks for -----------------------------------------------------------------------------


def test_a_write_leaves_the_jobs_it_asks_for(world: World):
    one, two = world.job("tidy", "a", payload={"n": [1]}), world.job("judge", "b", every=timedelta(hours=1))
    world.apply(Create(world.item()), then=[one, two])
    assert sorted((status.job for status in world.store.jobs(world.tenant)), key=lambda j: j.key) == [one, two]


def test_jobs_alone_move_no_revision(world: World):
    assert world.apply(then=[world.job()]) == 0
    assert len(world.store.jobs(world.tenant)) == 1


# -- vectors ------------------------------------------------------------------------------------------------


def vectors(world: World) -> dict[tuple[object, object], tuple[object, object]]:
    kept = [row for row in world.store.dump(world.tenant) if row["table"] == "vectors"]
    return {(row["embedder"], row["ref"]): (row["values"], row["rev"]) for row in kept}


def test_vectors_are_kept_with_the_revision_that_brought_them(world: World):
    told = world.tell()
    refs = [f"e:{told.event.id}", f"v:{told.version.id}"]
    rev = world.apply(vectors=[Vector("mini", ref, numbers(0.5, -1)) for ref in refs])
    assert rev == told.rev + 1
    assert len(world.journal()) == 4, "vectors follow their text; the journal does not tell of them"
    assert {key: rev for key, (_, rev) in vectors(world).items()} == {("mini", ref): rev for ref in refs}


def test_a_newer_vector_replaces_the_older_of_the_same_embedder(world: World):
    ref = f"e:{world.tell().event.id}"
    world.apply(vectors=[Vector("mini", ref, numbers(1, 2)), Vector("big", ref, numbers(1, 2, 3))])
    rev = world.apply(vectors=[Vector("mini", ref, numbers(3, 4))])
    before, after = vectors(world)["big", ref], vectors(world)["mini", ref]
    assert after == ("AABAQAAAgEA=", rev)
    assert before[1] == rev - 1


def test_an_erased_text_gets_no_vector(world: World):
    told, other = world.tell(), world.tell("other")
    ref = f"e:{told.event.id}"
    world.apply(vectors=[Vector("mini", ref, numbers(1, 2)), Vector("mini", f"i:{told.item.id}", numbers(1, 2))])
    world.apply(Erase((told.item.id,), (told.version.id,), (told.event.id,), (), "asked for"))
    assert vectors(world) == {}
    late = [Vector("mini", ref, numbers(1, 2)), Vector("mini", f"e:{other.event.id}", numbers(5, 6))]
    world.apply(vectors=late)
    assert list(vectors(world)) == [("mini", f"e:{other.event.id}")]


# -- tenants ------------------------------------------------------------------------------------------------


def test_a_tenant_is_made_once(store: Store, world: World):
    assert world.tenant in store.tenants()
    head = store.head(world.tenant)
    assert store.create_tenant(world.tenant, at=DAWN) is False
    assert store.head(world.tenant) == head
    assert (head.rev, head.seq) == (0, 0)


def test_tenants_have_journals_of_their_own(found: Callable[[], World]):
    one, two = found(), found()
    one.tell(), one.tell(), two.tell()
    heads = [world.store.head(world.tenant) for world in (one, two)]
    assert heads[0].chain_id != heads[1].chain_id
    assert [head.rev for head in heads] == [2, 1]
    assert one.journal()[0].header.prev_hash != two.journal()[0].header.prev_hash
    assert one.is_whole()
    assert two.is_whole()


NOWHERE = TenantId("nowhere")


@pytest.mark.parametrize(
    "act",
    [
        lambda w: w.apply(Create(w.item())),
        lambda w: w.apply(Create(e := w.episode()), Append(w.event(e))),
        lambda w: w.apply(),
        lambda w: w.apply(then=[w.job()]),
        lambda w: w.apply(vectors=[Vector("mini", "e:1", numbers(1))]),
        lambda w: w.store.save_checkpoint(w.scope, w.checkpoint({}), actor=MIRA),
        lambda w: w.store.head(w.tenant),
        lambda w: w.store.enqueue(w.tenant, [w.job()]),
        lambda w: w.store.observe(w.tenant, [w.operation()]),
        lambda w: list(w.store.dump(w.tenant)),
        lambda w: list(w.store.state(w.tenant)),
    ],
    ids=["create", "append", "nothing", "jobs", "vectors", "checkpoint", "head", "enqueue", "observe", "dump", "state"],
)
def test_a_tenant_that_does_not_exist_is_named_in_the_refusal(store: Store, act: Callable[[World], object]):
    with pytest.raises(NotFound, match="nowhere") as refused:
        act(World(store, NOWHERE))
    assert isinstance(refused.value, RecollectError)
    assert "recollect init" in refused.value.help
    assert NOWHERE not in store.tenants()


# -- trust --------------------------------------------------------------------------------------------------


def test_what_is_derived_is_only_as_trusted_as_what_it_cites(world: World):
    episode = world.keep(world.episode())
    sure, web = world.event(episode), world.event(episode, "Ana drinks paint.", trust=Trust.UNTRUSTED)
    trusted, doubtful = world.item(), world.item(trust=Trust.UNTRUSTED)
    world.apply(Append(sure), Create(trusted), Create(doubtful))
    with pytest.raises(Invalid, match="is trusted, and event"):
        world.apply(Append(web), Derive(world.version(trusted, sure, web)))
    world.apply(Append(web))
    with pytest.raises(Invalid, match="is trusted, and event"):
        world.apply(Derive(world.version(trusted, RangeWitness(episode.id, 1, 2))))
    world.apply(Derive(world.version(doubtful, sure, web)), Derive(world.version(trusted, sure)))
    made = replace(trusted, trust=Trust.UNTRUSTED)
    world.apply(revise(trusted, made, world.clock.now()), Derive(world.version(trusted, web)))
    assert len(world.store.versions(world.tenant, trusted.id)) == 2
