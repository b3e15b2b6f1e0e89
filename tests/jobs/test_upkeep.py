"""The jobs that keep the house itself: scrubbing after an erasure, and forgetting what nobody will ask for."""

from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from recollect.care.erase import erase, scrubbing
from recollect.domain.ids import JobId
from recollect.jobs.kinds import KEPT, KINDS
from tests.jobs.conftest import House
from tests.worlds import MIRA


def test_an_erasure_asks_for_a_scrub_and_the_scrub_is_done(house: House):
    item = house.memory.remember("Ana drinks tea.", user_id="ana").item_id
    house.memory.erase(item)
    assert house.status("scrub", "scrub").done_at is None
    house.worker(KINDS).run_until_idle()
    assert house.status("scrub", "scrub").done_at is not None


@pytest.mark.parametrize("address", ["sqlite"], indirect=True)
def test_a_scrub_that_a_reader_holds_up_is_tried_again(house: House, address: str):
    told = house.world.tell("Ana drinks quillaja.")
    reader = apsw.Connection(address)
    reader.execute("begin")
    reader.execute("select * from items").fetchall()
    erase(
        house.store,
        house.parts.erasures,
        house.world.scope,
        [told.item.id],
        [told.event.id],
        actor=MIRA,
        at=house.clock.now(),
        reason="asked for",
        then=[scrubbing(JobId(house.clock.mint()), house.clock.now())],
    )
    house.worker(KINDS).run_until_idle()
    assert str(house.status("scrub", "scrub").last_error).startswith("StoreBusy: ")
    assert b"quillaja" in Path(f"{address}-wal").read_bytes()
    reader.close()
    house.clock.forward(hours=1)
    house.worker(KINDS).run_until_idle()
    assert house.status("scrub", "scrub").done_at is not None
    assert b"quillaja" not in Path(f"{address}-wal").read_bytes()


def test_tidying_forgets_old_receipts_and_finished_jobs_and_touches_no_memory(house: House):
    house.memory.remember("Ana drinks tea.", user_id="ana", key="old")
    house.tally("old", steps=1)
    house.job("riddle", "waiting")
    house.worker().run_until_idle()
    house.clock.forward(days=20)
    house.memory.remember("Ben drinks coffee.", user_id="ben", key="new")  # nothing of his to be compared with
    house.tally("new", steps=1)
    house.worker().run_until_idle()
    journal, state = house.world.journal(), house.world.state()
    house.clock.forward(days=KEPT.days - 19)
    house.job("tidy", "tidy", every=timedelta(days=1))
    assert house.worker(KINDS).run_until_idle() == 1
    assert house.store.receipt(house.tenant, "mira", "old") is None
    assert house.store.receipt(house.tenant, "mira", "new") is not None
    assert {(s.job.kind, s.job.key) for s in house.store.jobs(house.tenant)} == {
        ("riddle", "waiting"),
        ("tally", "new"),
        ("tidy", "tidy"),
    }
    assert (house.world.journal(), house.world.state()) == (journal, state)


def test_tidying_leaves_parked_jobs_and_other_tenants_alone(house: House):
    other = House(house.parts, house.clock)
    other.tally(steps=1)
    house.worker().run_until_idle()
    house.tally(steps=1)
    leased = house.store.claim("ada", now=house.clock.now(), lease=timedelta(minutes=1), kinds=["tally"], cap=2)
    assert leased is not None
    house.store.give_up(leased, error="it failed", now=house.clock.now(), retry_at=None)
    house.clock.forward(days=90)
    assert house.store.tidy(house.tenant, before=house.clock.now()) == 0
    assert house.status("tally").failed_at is not None
    assert other.status("tally").done_at is not None
