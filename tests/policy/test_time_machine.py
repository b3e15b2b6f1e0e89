"""Rollbacks of real stores where the plan alone does not show what happens."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recollect import Memory, open_memory
from recollect.care import audit
from recollect.care.restore import OneEntry, OneMemory, Session, ToRevision
from recollect.domain.event import Trust
from recollect.domain.ids import CauseId, ItemId, Rev, Seq, TenantId
from recollect.domain.scope import Role, Scope
from recollect.errors import BuiltOn, NotFound, Refused
from recollect.write.message import Message
from tests.policy.test_account import House, Ticking, store_of

HERE = Scope(tenant=TenantId("default"))


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path / "m.db", user="mira", clock=Ticking()) as opened:
        yield opened
    store = store_of(tmp_path / "m.db")
    assert audit.verify(store, TenantId("default"), deep=True).findings == ()
    store.close()


def entry(memory: Memory, op: str, item_id: ItemId | None = None) -> Seq:
    """The latest entry of this kind."""
    return next(e.header.seq for e in memory.journal() if e.header.op == op and item_id in (None, e.header.item_id))


def latest_cause(memory: Memory) -> CauseId:
    cause = memory.journal()[0].header.cause
    assert cause
    return cause


def test_a_version_blocks_the_retraction_of_its_last_evidence(memory):
    told = memory.remember("tea")
    with pytest.raises(BuiltOn) as refusal:
        memory.rollback(OneEntry(entry(memory, "append")))
    assert refusal.value.entries == (entry(memory, "derive", told.item_id),)


def test_with_cascade_a_version_goes_with_its_last_evidence(memory):
    told = memory.remember("tea")
    memory.rollback(OneEntry(entry(memory, "append")), cascade=True)
    assert memory.versions(told.item_id) == []


def test_the_evidence_of_a_constitutional_memory_is_not_withdrawn(memory):
    start = memory.head().rev
    told = memory.remember("tea")
    memory.protect(told.item_id)
    memory.remember("coffee", thread_id="another")
    memory.rollback(ToRevision(HERE, start))
    shown = memory.show(told.item_id)
    assert [event.text for event in shown.evidence] == ["tea"]
    assert [item.id for item in memory.items() if item.kind == "fact"] == [told.item_id]


def test_of_a_session_only_what_is_still_in_force_is_rolled_back(memory):
    start = memory.remember("tea").rev
    told = memory.remember("coffee")
    memory.rollback(ToRevision(HERE, start))
    cause = latest_cause(memory)
    memory.rollback(OneEntry(entry(memory, "retract")))
    memory.rollback(Session(cause))
    assert [event.text for event in memory.show(told.item_id).evidence] == ["coffee"]


def test_a_rollback_that_is_rolled_back_brings_everything_back(memory):
    memory.remember("tea")
    before = list(memory.export_state())
    memory.rollback(ToRevision(HERE, Rev(0)))
    assert list(memory.export_state()) == []
    cause = latest_cause(memory)
    memory.rollback(Session(cause))
    assert list(memory.export_state()) == before


def test_edits_that_were_rolled_back_in_any_order_leave_a_memory_that_can_be_withdrawn(memory):
    told = memory.remember("tea")
    memory.revise(told.item_id, importance=5)
    first = entry(memory, "update")
    memory.revise(told.item_id, category="taste")
    memory.rollback(OneEntry(first))
    memory.rollback(OneEntry(entry(memory, "update")))
    memory.rollback(OneMemory(told.item_id, Rev(0)))
    with pytest.raises(NotFound, match="withdrawn by a rollback"):
        memory.show(told.item_id)


def test_taking_back_that_a_memory_is_untrusted_makes_it_no_more_believed(memory):
    page = "Prices of barns rise by nine percent in Graz in the spring, says the page, and will not fall before June."
    said = Message(text=page, author="web page", role="document", trust=Trust.UNTRUSTED)
    thread = memory.append([said], thread_id="pages").episode_id
    agent = memory.acting(replace(memory.principal, role=Role.AGENT, agent_id="bot", users=frozenset({"mira"})))
    memory.close_episode(thread)
    before = memory.item(thread)
    assert before.trust is Trust.UNTRUSTED
    lowered = entry(memory, "update", thread)
    for who in (agent, memory):
        for cascade in (False, True):
            with pytest.raises(Refused, match="would be trusted"):
                who.rollback(OneEntry(lowered), cascade=cascade)
    memory.rollback(Session(next(e.header.cause for e in memory.journal() if e.header.seq == lowered)))
    assert (memory.item(thread).trust, memory.versions(thread)) == (Trust.TRUSTED, [])
    for hidden in [e.header.seq for e in memory.journal() if e.header.op == "discard"]:
        with pytest.raises(Refused):
            memory.rollback(OneEntry(hidden), cascade=True)
    assert memory.versions(thread) == []
    memory.rollback(Session(latest_cause(memory)))
    assert memory.item(thread) == before


def test_what_was_undone_of_a_session_does_not_drag_its_undoing_along(tmp_path):
    house = House(tmp_path / "m.db")
    house.remember(0, 0, False)
    start = house.memory.head().rev
    house.derive(0, 0, False)  # a version, and the memory points at it
    house.memory.rollback(ToRevision(HERE, start))
    house.memory.rollback(Session(latest_cause(house.memory)))
    again = latest_cause(house.memory)
    house.memory.rollback(OneEntry(entry(house.memory, "undo")))  # points at nothing again
    undone = [undo.entry for undo in house.memory.preview_rollback(Session(again), cascade=True).undo]
    assert undone == [entry(house.memory, "derive")]
    house.close()
