"""Works other than writing, killed in the middle, a round of each. The long version is `make hunt`, and
`make bench-crash ARGS="--during all"`."""

from pathlib import Path
from random import Random

import apsw
import pytest

from bench import crash, upheavals
from bench.upheavals import WORKS, Found, Work
from recollect.care import transfer
from recollect.domain.ids import TenantId
from recollect.jobs.kinds import KINDS
from recollect.jobs.worker import Worker
from recollect.wiring import open_memory
from tests.hunt import TIMES
from tests.jobs.crew import deps
from tests.worlds import EVERYTHING, World


@pytest.mark.parametrize("kind", WORKS)
@pytest.mark.parametrize("engine", ["sqlite", *(["postgres"] if TIMES else [])])
def test_what_is_done_holds_and_what_was_begun_is_whole_or_not_there(
    engine: str, kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path))
    found = crash.run_during(engine, kind, max(TIMES, 1), seed=Random().getrandbits(32))
    assert int(str(found["least_acked"])) >= crash.LEAST
    assert (found["lost"], found["torn"], found["chain_ok"]) == (0, 0, True), found


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    return tmp_path


def looked(work: Work, *acks: upheavals.Ack) -> Found:
    found = Found()
    work.look(acks, found)
    return found


def test_an_erasure_that_did_not_hold_is_noticed(house: Path):
    work = WORKS["erasing"](str(house / "memory.db"), house)
    work.prepare()
    with open_memory(work.store, tenant=upheavals.TENANT, user=upheavals.USER) as memory:
        kept = memory.remember("The secret is xabcdefghijklmno.")
    piece = {"item": kept.item_id, "event": kept.event_id, "word": "xabcdefghijklmno"}
    assert looked(work, {"begun": piece}) == Found(), "what was not done may be there"
    assert looked(work, {"begun": piece}, {"done": piece}).lost
    connection = apsw.Connection(work.store)
    connection.execute("delete from witnesses")
    connection.execute("delete from versions")
    connection.close()
    assert looked(work, {"begun": piece}).torn


@pytest.mark.parametrize("kind", ["compressing", "rolling_back"])
def test_half_a_summary_is_noticed(house: Path, kind: str):
    work = WORKS[kind](str(house / "memory.db"), house)
    work.prepare()
    with open_memory(work.store, tenant=upheavals.TENANT, user=upheavals.USER) as memory:
        episode = upheavals._told(memory, "xabcdefghijklmno")
        assert looked(work, {"begun": episode}) == Found()
        memory.close_episode(episode)
    assert looked(work, {"begun": episode}) == Found()
    connection = apsw.Connection(work.store)
    connection.execute("delete from versions where level < 3")
    connection.close()
    assert looked(work, {"begun": episode}).torn
    assert looked(work, {"begun": episode}, {"done": episode}).lost


def test_a_store_that_is_neither_of_the_two_is_noticed(house: Path):
    work = WORKS["restoring"](str(house / "memory.db"), house)
    work.prepare()
    assert looked(work, {"begun": ["a", "x"]}) == Found()
    with open_memory(work.store, tenant=upheavals.TENANT, user=upheavals.USER) as memory:
        memory.remember("Nobody restored this.")
    assert looked(work, {"begun": ["a", "x"]}).lost


def test_a_copy_whose_importer_died_is_rid_of_what_was_erased_by_a_job(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The importer is killed between the last row and the list of erasures: a worker applies that."""
    memory = world.memory(tmp_path)
    kept = memory.remember("The password hint is xylophone.", thread_id="secret")
    lines = list(memory.export())
    memory.erase(kept.item_id)
    copy = World(world.store, TenantId(f"{world.tenant}-copy"), world.clock)

    def killed(*_: object, **__: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as dying:
        dying.setattr(transfer, "erase_again", killed)
        with pytest.raises(KeyboardInterrupt):
            copy.memory(tmp_path).import_(lines)
    assert world.store.search(copy.tenant, ["xylophone"], EVERYTHING), "it is back"
    kinds = {transfer.AGAIN: KINDS[transfer.AGAIN]}
    Worker(deps=deps(world.store, tmp_path, world.clock), kinds=kinds, name="ada").run_until_idle()  # type: ignore[arg-type]
    assert not world.store.search(copy.tenant, ["xylophone"], EVERYTHING)
    assert copy.memory(tmp_path).verify(deep=True).whole
