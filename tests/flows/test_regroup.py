"""Memories merged and split by topic: nothing is lost, everything keeps its witnesses, and it can be taken back."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect.care.restore import Session
from recollect.domain.change import Retract, revise
from recollect.domain.event import Trust
from recollect.domain.item import Archived, Episode, Item, Lock, LockReason, Visibility
from recollect.domain.level import Derivation, Level
from recollect.domain.observation import Use, Used
from recollect.domain.witness import EventWitness
from tests.flows.strikes import LOGIN, hammer, pass_by, strike, summary, versions
from tests.worlds import DAWN, MIRA, World


def same_topic(world: World, *threads: str, topic: str = "login", **fields: Any) -> list[Item]:
    """Episodes that say much the same, cold and summed up."""
    found: list[Item] = []
    for thread in threads:
        item, _ = world.say(*LOGIN, thread=thread, **fields)
        at = world.clock.now()
        world.apply(revise(item, replace(item, topic_key=topic), at))
        strike(world, item)
        found.append(world.held(item).item)
    pass_by(world, timedelta(days=8))
    return found


def test_cold_episodes_of_one_topic_are_merged_into_the_newest(world: World, tmp_path: Path):
    first, second, newest = same_topic(world, "one", "two", "three")
    before = list(world.memory(tmp_path).export_state())
    done = hammer(world).compress(actor=MIRA, topic="login")
    [merge] = done.merged
    assert (merge.into, set(merge.items)) == (newest.id, {first.id, second.id})
    told = summary(world, newest)
    assert told == merge.version
    assert told.derivation is Derivation.MERGE
    assert {event.item_id for event in world.store.cited(world.tenant, [told.id])} == {first.id, second.id, newest.id}
    assert any(isinstance(witness, EventWitness) for bullet in told.bullets for witness in bullet.witnesses)
    for item in (first, second):
        after = world.held(item).item
        assert isinstance(after.state, Archived)
        assert after.superseded_by == newest.id
        assert versions(world, item), "what it said is kept"
    assert hammer(world).compress(actor=MIRA, topic="login").merged == ()
    assert done.cause
    world.memory(tmp_path).rollback(Session(done.cause))
    assert list(world.memory(tmp_path).export_state()) == before


@pytest.mark.usefixtures("verbatim")
def test_what_was_merged_is_still_said_after_the_thread_went_on(world: World):
    first, newest = same_topic(world, "one", "two")
    elsewhere, _ = world.say("The tokens were once signed by Walter in Graz.", thread="one")
    strike(world, elsewhere)
    pass_by(world, timedelta(days=8))
    assert hammer(world).compress(actor=MIRA, topic="login").merged
    assert "Walter" in summary(world, newest).content
    world.say("We decided to add passkeys to the login.", thread="two")
    strike(world, newest)
    told = summary(world, newest)
    assert "Walter" in told.content
    assert "passkeys" in told.content
    assert first.id in {event.item_id for event in world.store.cited(world.tenant, [told.id])}


@pytest.mark.parametrize(
    "change",
    [
        {"pinned_min_level": Level.R3},
        {"lock": Lock(DAWN + timedelta(days=400), LockReason.AUDIT)},
        {"private": True},
        {"trust": Trust.UNTRUSTED},
    ],
)
def test_what_is_kept_for_a_reason_is_not_merged(world: World, change: dict[str, Any]):
    kept, _ = same_topic(world, "one", "two")
    world.apply(revise(kept, replace(kept, **change), world.clock.now()))
    assert hammer(world).compress(actor=MIRA, topic="login").merged == ()
    assert world.held(kept).item.superseded_by is None


def test_episodes_of_different_owners_are_never_merged(world: World):
    same_topic(world, "one")
    same_topic(world, "two", user_id="ben")
    same_topic(world, "three", visibility=Visibility.PROJECT_SHARED, project_id="p1", user_id=None)
    assert hammer(world).compress(actor=MIRA, topic="login").merged == ()


def test_episodes_that_say_different_things_stay_apart(world: World):
    one, _ = world.say("We decided to paint the kitchen blue in May.", thread="one")
    two, _ = world.say("The invoices are due on the first of each month.", thread="two")
    for item in (one, two):
        world.apply(revise(item, replace(item, topic_key="house"), world.clock.now()))
        strike(world, item)
    pass_by(world, timedelta(days=8))
    assert hammer(world).compress(actor=MIRA, topic="house").merged == ()


def test_a_warm_episode_is_not_merged(world: World):
    same_topic(world, "one", "two")
    newest = same_topic(world, "three")[0]
    world.store.observe(world.tenant, [Used(newest.id, Use.RETRIEVED, world.clock.now())])
    assert hammer(world).compress(actor=MIRA, topic="login").merged == ()


SESSION = [
    f"The login session {verb} the signed cookie store every {n} minutes."
    for n, verb in enumerate("reads writes renews clears signs checks rotates copies audits".split(), 11)
]
INVOICE = [
    f"Each customer invoice {verb} the billing ledger within {n} days."
    for n, verb in enumerate("opens closes debits credits audits mails prints dates totals".split(), 41)
]


@pytest.fixture
def overlong(world: World, monkeypatch: pytest.MonkeyPatch, verbatim: None) -> Item:
    """A thread about two things, whose summary is longer than one memory should be."""
    monkeypatch.setattr("recollect.policy.hammer.OVERLONG", 60)
    return world.say(*(text for pair in zip(SESSION, INVOICE, strict=True) for text in pair))[0]


def test_an_overlong_summary_is_split_by_topic(world: World, tmp_path: Path, overlong: Item):
    thread = overlong
    before = list(world.memory(tmp_path).export_state())
    done = strike(world, thread)
    [split] = done.split
    assert split.item_id == thread.id
    parts = [world.held(part).item for part in split.parts]
    assert len(parts) == 2
    for part in parts:
        assert isinstance(part.body, Episode)
        assert (part.thread_id, part.user_id, part.visibility, part.trust) == (
            None,
            thread.user_id,
            thread.visibility,
            thread.trust,
        )
        told = summary(world, part)
        assert told.derivation is Derivation.SPLIT
        assert all(isinstance(one, EventWitness) for bullet in told.bullets for one in bullet.witnesses)
        assert {event.item_id for event in world.store.cited(world.tenant, [told.id])} == {thread.id}
    assert len({part.topic_key for part in parts}) == 2
    [whole, shorter] = sorted(versions(world, thread, Level.R3), key=lambda one: one.derivation is Derivation.SPLIT)
    assert summary(world, thread) == shorter
    assert len(shorter.content) < len(whole.content)
    assert shorter.derived_from == whole.id
    said = {bullet.text for part in parts for bullet in summary(world, part).bullets}
    assert said == {*SESSION, *INVOICE}
    edges = {(edge.from_id, edge.to_id) for edge in world.store.relations(world.tenant, thread.id)}
    assert edges == {(part.id, thread.id) for part in parts}
    state = world.dump()
    strike(world, thread)
    assert world.dump() == state
    assert done.cause
    world.memory(tmp_path).rollback(Session(done.cause))
    assert list(world.memory(tmp_path).export_state()) == before


def test_a_thread_that_was_split_goes_on_without_being_split_again(world: World, overlong: Item):
    thread = overlong
    parts = strike(world, thread).split[0].parts
    world.say("We decided to add passkeys to the login.")
    done = strike(world, thread)
    assert done.split == ()
    told = summary(world, thread)
    assert "passkeys" in told.content
    assert "in a memory of its own" in told.content
    assert all(world.held(part) for part in parts)


def test_what_was_erased_is_gone_from_the_parts_of_its_thread_too(world: World, tmp_path: Path, overlong: Item):
    parts = strike(world, overlong).split[0].parts
    memory = world.memory(tmp_path)
    memory.erase(overlong.id)
    assert [world.store.item(world.tenant, part) for part in parts] == [None, None]
    assert not any("invoice" in line or "cookie" in line for line in world.dump())


def test_a_thread_that_is_summed_up_anew_after_a_split_is_not_split_again(world: World, overlong: Item):
    thread = overlong
    parts = strike(world, thread).split[0].parts
    world.apply(Retract(world.store.events(world.tenant, thread.id)[0]))
    done = strike(world, thread)
    assert done.strokes[0].made
    assert done.split == ()
    assert {edge.from_id for edge in world.store.relations(world.tenant, thread.id)} == set(parts)
