"""A decision takes over from what was decided before."""

from dataclasses import replace
from datetime import timedelta

import pytest

from recollect import Memory, Message, Principal, Role
from recollect.domain.change import Verb, operation
from recollect.domain.ids import short
from recollect.domain.item import Active, Archived
from recollect.domain.query import Filters
from recollect.errors import Forbidden, Invalid, NotFound, Refused
from recollect.jobs.kinds import KINDS
from recollect.jobs.worker import Worker
from tests.flows import lives
from tests.flows.lives import item, rev, taken_back
from tests.jobs.crew import Hands
from tests.policy.talk import Fake, weighed
from tests.worlds import World

clock, memory = lives.clock, lives.memory

# -- decisions that take over -----------------------------------------------------------------------------

OVER = ("DECISION/SUPERSEDES",)


def test_a_decision_takes_over_from_the_earlier_one_about_its_topic(world: World, memory: Memory):
    old = memory.remember("The API speaks REST.", tags=["DECISION"], topic_key="api", project_id="atlas")
    note = memory.remember("The API has nine routes.", topic_key="api", project_id="atlas")
    far = memory.remember("The store is SQLite.", tags=["DECISION"], topic_key="store", project_id="atlas")
    before, at = world.state(), rev(world)
    new = memory.remember("From now on it is gRPC.", tags=OVER, topic_key="api", project_id="atlas")
    gone, now = item(world, old.item_id), item(world, new.item_id)
    assert isinstance(gone.state, Archived)
    assert gone.state.reason == "superseded by a newer decision"
    assert (gone.superseded_by, now.supersedes) == (now.id, gone.id)
    assert gone.valid_to is not None
    assert {item(world, kept.item_id).state for kept in (note, far, new)} == {Active()}
    [edge] = world.store.relations(world.tenant, old.item_id)
    assert (edge.from_id, edge.to_id, edge.relation_type) == (new.item_id, old.item_id, "supersedes")
    assert len({entry.header.rev for entry in world.journal() if entry.header.rev > at}) == 1, "in one write"
    verbs = [operation(entry.change) for entry in world.journal() if entry.header.rev > at and entry.change]
    assert Verb.SUPERSEDE.value in verbs
    assert taken_back(world, memory, at) == before


def test_a_decision_takes_over_from_the_one_it_names(world: World, memory: Memory):
    one = memory.remember("The API speaks REST.", topic_key="api")
    two = memory.remember("Releases are on Mondays.")
    memory.pin(two.item_id)
    by_field = memory.remember("Calls are gRPC from now on.", supersedes=one.item_id)
    by_tag = memory.remember("We ship on Thursdays.", tags=[f"decision/supersedes:{short(two.item_id)}"])
    assert item(world, one.item_id).superseded_by == by_field.item_id
    assert item(world, by_field.item_id).supersedes == one.item_id
    assert isinstance(item(world, two.item_id).state, Archived), "pinned, and named"
    assert item(world, by_tag.item_id).supersedes == two.item_id


def test_what_is_pinned_or_locked_gives_way_only_where_it_is_named(world: World, memory: Memory):
    pinned = memory.remember("The API speaks REST.", tags=["DECISION"], topic_key="api")
    memory.pin(pinned.item_id)
    memory.remember("Calls are gRPC from now on.", tags=OVER, topic_key="api")
    assert item(world, pinned.item_id).state == Active()


def test_what_is_pinned_while_a_decision_is_made_stays(world: World, memory: Memory, monkeypatch: pytest.MonkeyPatch):
    old = memory.remember("The API speaks REST.", tags=["DECISION"], topic_key="api")
    look = type(world.store).speaking
    pins = iter([lambda: None, lambda: memory.pin(old.item_id)])  # after its neighbours were read, and its topic

    def speaking(store: object, *args: object) -> object:
        found = look(store, *args)  # type: ignore[arg-type]
        next(pins, lambda: None)()
        return found

    monkeypatch.setattr(type(world.store), "speaking", speaking)
    memory.remember("Calls are gRPC from now on.", tags=OVER, topic_key="api")
    assert item(world, old.item_id).pinned
    assert item(world, old.item_id).state == Active(), "it was decided again"


def test_no_decision_reaches_across_owners(world: World, memory: Memory):
    shared = memory.remember("The API speaks REST.", tags=["DECISION"], topic_key="api", project_id="atlas")
    bens = memory.remember("Ben wants REST.", tags=["DECISION"], topic_key="api", user_id="ben")
    other = memory.remember("Mira wants REST.", tags=["DECISION"], topic_key="api", project_id="b", user_id="mira")
    memory.remember("Mira wants gRPC.", tags=OVER, topic_key="api")
    assert {item(world, kept.item_id).state for kept in (shared, bens, other)} == {Active()}
    for hidden in (shared, bens):
        with pytest.raises(NotFound, match="to supersede"):
            memory.remember("Mira wants gRPC at last.", supersedes=hidden.item_id)
    with pytest.raises(Refused, match="another owner"):
        memory.remember("Mira wants gRPC at last.", supersedes=other.item_id)
    with pytest.raises(NotFound, match="no such memory"):
        memory.remember("Mira wants gRPC at last.", tags=["DECISION/SUPERSEDES:ffff"])


def test_an_agent_does_not_supersede_what_is_kept_for_another_agent(world: World, memory: Memory):
    def agent(name: str) -> Memory:
        users = frozenset({"mira"})
        return memory.acting(Principal(tenant=world.tenant, id=name, role=Role.AGENT, agent_id=name, users=users))

    old = agent("robin").remember("The API speaks REST.", tags=["DECISION"], topic_key="api")
    agent("wren").remember("Calls are gRPC from now on.", tags=OVER, topic_key="api")
    assert item(world, old.item_id).state == Active()
    with pytest.raises(Forbidden, match="robin"):
        agent("wren").remember("Calls are gRPC, says wren.", supersedes=old.item_id)
    agent("robin").remember("Calls are gRPC, says robin.", tags=OVER, topic_key="api")
    assert isinstance(item(world, old.item_id).state, Archived)


def test_nothing_supersedes_what_is_constitutional(world: World, memory: Memory):
    old = memory.remember("The API speaks REST.", tags=["DECISION"], topic_key="api")
    memory.protect(old.item_id)
    at = rev(world)
    for named in ({"supersedes": old.item_id}, {"tags": OVER, "topic_key": "api"}):
        with pytest.raises(Refused, match="An admin lifts that first"):
            memory.remember("Calls are gRPC from now on.", **named)  # type: ignore[arg-type]
    assert rev(world) == at, "nothing was written"
    memory.protect(old.item_id, False)
    memory.remember("Calls are gRPC from now on.", tags=OVER, topic_key="api")
    assert isinstance(item(world, old.item_id).state, Archived)


def test_saying_the_same_decision_twice_leaves_one(world: World, memory: Memory):
    memory.remember("The API speaks REST.", tags=["DECISION"], topic_key="api")
    first = memory.remember("Calls are gRPC from now on.", tags=OVER, topic_key="api")
    again = memory.remember("Calls are gRPC from now on.", tags=OVER, topic_key="api")
    assert (again.item_id, again.outcome) == (first.item_id, "corroborated")
    assert item(world, first.item_id).state == Active()
    assert item(world, first.item_id).superseded_by is None


def test_a_known_statement_that_becomes_the_decision_keeps_topic_and_tag(world: World, memory: Memory):
    known = memory.remember("Calls are gRPC from now on.")
    old = memory.remember("The API speaks REST.", tags=["DECISION"], topic_key="api")
    again = memory.remember("Calls are gRPC from now on.", tags=OVER, topic_key="api")
    assert again.item_id == known.item_id
    now = item(world, known.item_id)
    assert (now.topic_key, now.tags) == ("api", OVER)
    assert item(world, old.item_id).superseded_by == known.item_id


def test_a_decision_of_last_year_that_arrives_late_does_not_take_over(world: World, memory: Memory, clock: Hands):
    old = memory.remember("The API speaks REST.", tags=["DECISION"], topic_key="api")
    earlier = clock.at - timedelta(days=365)
    memory.remember("Calls are XML from now on.", tags=OVER, topic_key="api", ts=earlier)
    assert item(world, old.item_id).state == Active()


def test_a_decision_read_out_of_a_thread_takes_over_too(world: World, memory: Memory):
    old = memory.remember(
        "The team decided to use REST for the gateway.", tags=["DECISION"], topic_key="gateway", project_id="atlas"
    )
    said = [
        Message(
            text="We decided to use gRPC for the gateway.",
            author="Mira",
            role="user",
            meta={"tags": [f"DECISION/SUPERSEDES:{short(old.item_id)}", 7]},
        )
    ]
    reading = Memory(replace(memory._deps, keeper=Fake(lambda _: weighed(kind="decision"))), memory.principal)
    taken = reading.ingest(said, thread_id="gate", project_id="atlas", topic_key="gateway", wait=True)
    assert item(world, taken.episode_id).topic_key == "gateway"
    [new] = taken.items
    assert item(world, old.item_id).superseded_by == new
    assert item(world, new).topic_key == "gateway"


def test_a_thread_that_names_what_it_may_not_supersede_is_read_all_the_same(world: World, memory: Memory):
    old = memory.remember("The team decided to use REST for the gateway.", tags=["DECISION"], project_id="atlas")
    memory.protect(old.item_id)
    for name in (old.item_id, "ffff"):
        tags = {"tags": [f"DECISION/SUPERSEDES:{name}"]}
        said = [
            Message(text=f"We decided to use Go for the gateway {name[-4:]}.", author="Mira", role="user", meta=tags)
        ]
        memory.ingest(said, thread_id="gate", project_id="atlas")
    deps = replace(memory._deps, keeper=Fake(lambda _: weighed(kind="decision")))
    Worker(deps=deps, kinds=KINDS, name="test").run_until_idle()
    assert all(status.failed_at is None and status.last_error is None for status in memory.jobs())
    assert item(world, old.item_id).state == Active()


def test_the_topic_of_a_thread_is_that_of_its_memories(world: World, memory: Memory):
    said = [Message(text="The gateway of Atlas listens on port 8443.", author="Mira", role="user")]
    memory.ingest(said, thread_id="gate", project_id="atlas", topic_key="gateway")
    Worker(deps=replace(memory._deps, keeper=Fake()), kinds=KINDS, name="test").run_until_idle()
    [fact] = memory.items(Filters(kinds=frozenset({"fact"}), project_id="atlas"))
    assert fact.topic_key == "gateway"
    later = memory.ingest(said, thread_id="gate", project_id="atlas", topic_key="other")
    assert item(world, later.episode_id).topic_key == "gateway", "a topic that it has stays"


def test_a_key_used_for_another_topic_is_refused(world: World, memory: Memory):
    memory.remember("The API speaks REST.", topic_key="api", key="k")
    with pytest.raises(Invalid, match="another request"):
        memory.remember("The API speaks REST.", topic_key="web", key="k")
