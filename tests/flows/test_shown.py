"""What is shown of a memory or an event by any id that a door prints."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from recollect.domain.change import Link
from recollect.domain.ids import ItemId, short
from recollect.domain.portion import Portion
from recollect.domain.query import Query, Source
from recollect.domain.scope import Principal, Role
from recollect.errors import NotFound
from recollect.interfaces import documents, levels
from recollect.memory import Memory
from recollect.policy.currency import MAY_REPLACE
from recollect.write.message import Message
from tests.worlds import World


def day(month: int, number: int = 1) -> datetime:
    return datetime(2025, month, number, tzinfo=UTC)


@pytest.fixture
def memory(world: World, tmp_path: Path) -> Memory:
    return world.memory(tmp_path, Role.MEMBER)


def said(memory: Memory, *texts: str) -> list[str]:
    messages = [Message(text=text, author="mira", role="user", ts=day(5, 3)) for text in texts]
    return list(memory.ingest(messages, thread_id="talk").event_ids)


@pytest.mark.parametrize("source", list(Source))
def test_every_id_of_an_answer_is_shown_whole_or_by_its_end(memory, source):
    said(memory, "The harbour crane was painted red.", "It took nine days.")
    memory.remember("The harbour gate is green.")
    results = memory.query(Query(text="Which colour has the harbour?", source=source, threshold=0.0)).results
    assert results
    for result in results:
        assert memory.find(short(result.id)) == result.id
        shown = memory.show(result.id)
        told = shown.event.text if shown.event else shown.words
        assert told in result.text


def test_an_event_is_shown_in_its_thread_with_the_memories_that_were_made_of_it(memory):
    kept = memory.remember("The harbour gate is green.", ts=day(5, 3))
    before = said(memory, *(f"Line number {number} of the talk." for number in range(1, 10)))
    shown = memory.show(kept.event_id)
    assert (shown.event.id, shown.item.kind) == (kept.event_id, "episode")
    assert [(one.item.id, one.words) for one in shown.made] == [(kept.item_id, "The harbour gate is green.")]
    among = memory.show(before[4])
    assert [event.seq for event in among.evidence] == [3, 4, 5, 6, 7]
    assert not among.made


def test_what_is_asked_of_an_event_is_answered_like_that_of_a_memory(memory):
    kept = memory.remember("The harbour gate is green.", ts=day(5, 3))
    served = memory.serve(kept.event_id)
    assert served.content == "mira, 3 May 2025: The harbour gate is green."
    assert [event.id for event in memory.evidence(kept.event_id)] == [kept.event_id]


def test_an_event_of_somebody_else_is_not_there(memory, world, tmp_path):
    kept = memory.remember("The harbour gate is green.")
    other = memory.acting(Principal(tenant=world.tenant, id="ravi", role=Role.MEMBER))
    for ask in (other.show, other.serve, other.evidence, lambda id: other.find(short(id))):
        with pytest.raises(NotFound):
            ask(kept.event_id)


def test_a_memory_that_there_never_was_is_not_there(memory):
    with pytest.raises(NotFound):
        memory.show(ItemId("019b7892-1fe8-7000-8000-00000000ffff"))


# -- since when, until when ---------------------------------------------------------------------------------


def test_a_memory_holds_since_it_was_said_and_until_it_was_replaced(memory):
    old = memory.remember("The office is in Graz.", ts=day(5, 3), tags=["DECISION"], topic_key="office")
    assert memory.show(old.item_id).held == "since 3 May 2025"
    new = memory.remember("The office is in Linz.", ts=day(5, 18), supersedes=old.item_id, topic_key="office")
    assert memory.show(old.item_id).held == f"since 3 May 2025, until 18 May 2025, replaced by {short(new.item_id)}"
    assert memory.show(new.item_id).held == f"since 18 May 2025, replaces {short(old.item_id)}"


def test_a_memory_that_says_since_when_it_holds_holds_since_then(world, tmp_path):
    told = world.tell("The gate has been green since March.", valid_from=day(3), origin_at=day(8), user_id="mira")
    assert world.memory(tmp_path).show(told.item.id).held == "since 1 March 2025"


def test_a_memory_says_what_may_have_taken_its_place(memory, world):
    old = memory.remember("The office is in Graz.", ts=day(5, 3))
    new = memory.remember("We moved the desks to Linz.", ts=day(5, 18))
    newer, older = (memory.show(one.item_id).item for one in (new, old))
    world.apply(Link(world.relation(newer, older, relation_type=MAY_REPLACE)))
    told = f"since 3 May 2025, perhaps until 18 May 2025 (see {short(new.item_id)})"
    shown = memory.show(old.item_id)
    assert shown.held == told
    assert documents.shown_document(shown, Portion())["memory"]["held"] == told
    assert levels.leveled_document(memory.serve(old.item_id))["memory"]["held"] == told
    assert [one.held for one in memory.show(old.event_id).made] == [told]
    assert memory.show(new.item_id).held == "since 18 May 2025"
    memory.delete(new.item_id, reason="a mistake")
    assert memory.show(old.item_id).held == "since 3 May 2025", "what is gone casts no doubt"
