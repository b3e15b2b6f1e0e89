"""Purging: what a tenant's choice lets the job erase, and what no choice lets it touch."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from recollect.care import purge as purging
from recollect.care.restore import OneEntry
from recollect.custody import Deps
from recollect.domain.change import Derive, Protect, move
from recollect.domain.event import Event
from recollect.domain.ids import ItemId
from recollect.domain.item import Active, Archived, Fact, Item, SoftDeleted, Visibility
from recollect.domain.job import Leased
from recollect.domain.level import Derivation, Level
from recollect.domain.record import Retention, Rules
from recollect.domain.scope import Principal, Role
from recollect.errors import Gone
from recollect.jobs import kinds
from recollect.jobs.kind import Erasure, Kind, Outcome
from recollect.jobs.kinds import KINDS
from recollect.policy.purge import due
from tests.jobs.conftest import House
from tests.jobs.crew import NOON

MONTH = timedelta(days=31)


@pytest.fixture
def purging_house(house: House) -> House:
    house.memory.set_rules(Rules(retention=Retention.PURGE))
    return house


def delete(house: House, *items: ItemId) -> None:
    for item in items:
        house.memory.delete(item)


def purge(house: House, registry: dict[str, Kind] | None = None) -> None:
    """A month goes by, and the purge is due."""
    house.clock.move_to(max(house.clock.at, NOON + MONTH))
    house.job("purge", "purge", every=timedelta(days=1))
    house.worker({**KINDS, **(registry or {})}).run_until_idle()
    assert house.status("purge", "purge").last_error is None


def is_there(house: House, item: Item | ItemId) -> bool:
    return house.store.item(house.tenant, item.id if isinstance(item, Item) else item) is not None


def dumped(house: House) -> str:
    return "\n".join(house.world.dump())


def test_what_was_deleted_long_enough_ago_is_erased_and_the_journal_is_whole(
    purging_house: House, address: str, tmp_path: Path
):
    house = purging_house
    kept = house.memory.remember("Ana drinks marzemino.", user_id="ana")
    gone = house.memory.remember("Ana drinks quillaja.", user_id="ana", thread_id="gone")
    episode = house.world.held(house.store.events_by_id(house.tenant, [gone.event_id])[0].item_id).item.id
    delete(house, gone.item_id, episode)
    purge(house)
    assert is_there(house, kept.item_id)
    with pytest.raises(Gone):
        house.memory.show(gone.item_id)
    assert "quillaja" not in dumped(house)
    assert house.world.found("quillaja") == []
    assert house.memory.verify().whole
    assert house.world.is_whole()
    listed = house.parts.erasures.of(house.memory.head().chain_id)
    assert {f"i:{gone.item_id}", f"e:{gone.event_id}", f"i:{episode}"} <= listed
    assert f"i:{kept.item_id}" not in listed
    if not address.startswith("postgresql:"):
        files = b"".join(path.read_bytes() for path in tmp_path.glob("memory.db*"))
        assert b"marzemino" in files
        assert b"quillaja" not in files


def test_a_tenant_that_keeps_loses_nothing(house: House):
    item = house.memory.remember("Ana drinks tea.", user_id="ana").item_id
    delete(house, item)
    for rules in (None, Rules(retention=Retention.KEEP)):
        if rules:
            house.memory.set_rules(rules)
        purge(house)
        house.clock.forward(days=400)
    assert isinstance(house.world.held(item).item.state, SoftDeleted)


def test_what_is_not_due_yet_is_kept(purging_house: House):
    house = purging_house
    early = house.memory.remember("Ana drinks tea.", user_id="ana").item_id
    active = house.memory.remember("Ben drinks coffee.", user_id="ana").item_id
    house.clock.move_to(NOON + timedelta(days=20))
    delete(house, early)
    purge(house)
    assert is_there(house, early)
    assert is_there(house, active)


def test_the_evidence_of_a_purged_fact_stays_with_its_thread(purging_house: House):
    house = purging_house
    told = house.memory.remember("Ana drinks tea.", user_id="ana")
    delete(house, told.item_id)
    purge(house)
    assert not is_there(house, told.item_id)
    [event] = house.store.events_by_id(house.tenant, [told.event_id])
    assert event.text == "Ana drinks tea."


def test_a_pin_keeps_nothing_from_being_purged(purging_house: House):
    house = purging_house
    item = house.world.keep(pinned_min_level=Level.R3)
    delete(house, item.id)
    purge(house)
    assert not is_there(house, item)


def test_a_constitutional_memory_is_never_purged(purging_house: House):
    house = purging_house
    item = house.memory.remember("Ana is allergic to nuts.", user_id="ana").item_id
    delete(house, item)
    house.world.apply(Protect(item, False, True))
    purge(house)
    assert is_there(house, item)


def test_a_silo_is_never_purged(purging_house: House):
    house = purging_house
    robin = house.memory.acting(Principal(tenant=house.tenant, id="robin", role=Role.AGENT, agent_id="robin"))
    item = robin.remember("I like tea.", visibility=Visibility.AGENT_SILO).item_id
    robin.delete(item)
    purge(house)
    assert is_there(house, item)


def derived(house: House, source: Item, event: Event, **fields: object) -> Item:
    """A memory with a version that was made from one of the source's."""
    [version] = house.store.versions(house.tenant, source.id)
    item = house.world.keep(**fields)
    made = house.world.version(item, event, derived_from=version.id, derivation=Derivation.MERGE)
    house.world.apply(Derive(made))
    return item


@pytest.mark.parametrize("spared", ["active", "constitutional", "silo", "not due", "a constitutional thread"])
def test_what_others_were_made_from_is_kept_for_as_long_as_they_are(purging_house: House, spared: str):
    house = purging_house
    told = house.world.tell("Ana drinks tea.")
    silo = {"visibility": Visibility.AGENT_SILO, "agent_id": "robin", "user_id": None}
    thread = {"item": house.world.episode("other")}
    fields = {"silo": silo, "a constitutional thread": thread}.get(spared, {})
    item = derived(house, told.item, told.event, **fields)
    if spared in ("constitutional", "silo"):
        state = SoftDeleted(house.clock.now(), house.clock.now())
        house.world.apply(move(house.world.held(item).item, state, house.clock.now()))
    if spared in ("constitutional", "a constitutional thread"):
        house.world.apply(Protect(item.id, False, True))
    if spared == "not due":
        state = SoftDeleted(house.clock.now(), NOON + 2 * MONTH)
        house.world.apply(move(item, state, house.clock.now()))
    delete(house, told.item.id)
    purge(house)
    assert is_there(house, told.item)
    assert is_there(house, item)
    assert house.store.versions(house.tenant, item.id)


def test_what_was_made_from_it_goes_along_when_it_is_due_too(purging_house: House):
    house = purging_house
    told = house.world.tell("Ana drinks tea.")
    item = derived(house, told.item, told.event)
    delete(house, told.item.id, item.id)
    purge(house)
    assert not is_there(house, told.item)
    assert not is_there(house, item)


def test_a_thread_is_kept_for_as_long_as_a_memory_cites_it(purging_house: House):
    house = purging_house
    told = house.world.tell("Ana drinks tea.")
    delete(house, told.event.item_id)
    purge(house)
    assert is_there(house, told.event.item_id)
    assert house.world.found("tea")
    delete(house, told.item.id)
    house.clock.forward(days=31)
    house.worker(KINDS).run_until_idle()
    assert not is_there(house, told.event.item_id)
    assert "tea." not in dumped(house)


def test_what_a_rollback_has_hidden_does_not_hold_up_a_purge(purging_house: House):
    house = purging_house
    house.world.say("Ana drinks tea.")
    told = house.world.tell("Ana drinks more tea.")
    create = next(e for e in house.world.journal() if e.header.op == "create" and e.header.item_id == told.item.id)
    house.memory.rollback(OneEntry(create.header.seq), cascade=True)
    delete(house, told.event.item_id)
    purge(house)
    assert not is_there(house, told.event.item_id)
    assert not is_there(house, told.item)


def test_a_purge_of_many_goes_in_batches_past_what_it_skips(purging_house: House, monkeypatch: pytest.MonkeyPatch):
    house = purging_house
    whole = purging.next_batch
    monkeypatch.setattr(purging, "next_batch", lambda *args, **how: whole(*args, **how, size=2))
    items: list[ItemId] = []
    for number in range(7):
        house.clock.forward(milliseconds=1)  # ids are in the order of their milliseconds
        items.append(house.memory.remember(f"Ana drinks tea {number}.", user_id="ana").item_id)
    delete(house, *items)
    for item in (items[3], items[4]):  # the newest come first: this is the second batch, the whole of it
        house.world.apply(Protect(item, False, True))
    purge(house)
    assert [item for item in items if is_there(house, item)] == [items[3], items[4]]
    assert sum(entry.header.op == "erase" for entry in house.world.journal()) == 3
    assert house.memory.verify().whole


def test_a_memory_that_is_restored_while_the_purge_decides_is_not_erased(purging_house: House):
    house = purging_house
    item = house.memory.remember("Ana drinks tea.", user_id="ana").item_id
    looks: list[Outcome] = []

    def slow(deps: Deps, leased: Leased) -> Outcome:
        looks.append(kinds.purge(deps, leased))
        if len(looks) == 1:
            house.memory.restore(item)
        return looks[-1]

    delete(house, item)
    purge(house, {"purge": Kind(slow)})
    assert isinstance(looks[0], Erasure)
    assert isinstance(house.world.held(item).item.state, Active)


def test_a_worker_that_lost_its_job_lists_no_erasure(purging_house: House):
    house = purging_house
    item = house.memory.remember("Ana drinks tea.", user_id="ana").item_id
    delete(house, item)

    def stalled(deps: Deps, leased: Leased) -> Outcome:
        outcome = kinds.purge(deps, leased)
        house.clock.forward(hours=1)
        return outcome

    house.clock.move_to(NOON + MONTH)
    house.job("purge", "purge")
    house.worker({"purge": Kind(stalled)}).run_once()
    assert is_there(house, item)
    assert not house.parts.erasures.of(house.memory.head().chain_id)


def test_a_memory_is_due_by_its_own_state_and_time_alone():
    fact = Item(
        id=ItemId("1"),
        body=Fact(),
        category="knowledge",
        visibility=Visibility.SYSTEM,
        origin_at=NOON,
        created_at=NOON,
        updated_at=NOON,
    )
    deleted = replace(fact, state=SoftDeleted(NOON, NOON + MONTH))
    assert due(deleted, NOON + MONTH)
    assert not due(deleted, NOON + MONTH - timedelta(seconds=1))
    assert not due(replace(fact, state=Archived(NOON)), NOON + MONTH)
    assert not due(replace(deleted, constitutional=True), NOON + MONTH)
    assert not due(replace(deleted, visibility=Visibility.AGENT_SILO, agent_id="robin"), NOON + MONTH)
