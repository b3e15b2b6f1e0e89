"""Writers killed in the middle of their work, a few times on each engine. The long version is `make bench-crash`."""

from pathlib import Path
from random import Random

import apsw
import pytest

from bench import crash
from recollect.settings import load
from recollect.wiring import open_memory, open_store

ROUNDS = {"sqlite": 5, "postgres": 4}


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_what_was_acknowledged_survives_the_death_of_its_writer(
    engine: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path))
    found = crash.run(engine, ROUNDS[engine], seed=Random().getrandbits(32))
    assert found["acked"] > ROUNDS[engine]
    assert (found["lost"], found["torn"], found["chain_ok"]) == (0, 0, True), found


DAMAGE = {
    "lost": "delete from journal where seq >= (select max(seq) from journal where actor not like 'job:%')",
    "torn": "delete from witnesses",
    "chain": "update journal set actor = 'eve' where seq = 2",
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_the_examiner_notices_what_a_crash_could_do(kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path))
    with crash.place("sqlite") as here:
        with open_memory(here.store, tenant=crash.TENANT, user=crash.USER) as memory:
            chance = Random(1)
            acks = [crash._one_write(memory, chance, "notes", []) for _ in range(6)]
        connection = apsw.Connection(here.store)
        connection.execute(DAMAGE[kind])
        connection.close()
        store = open_store(load({"store": here.store, "tenant": crash.TENANT, "user": crash.USER}))
        examiner = crash.Examiner(here.texts)
        examiner.look(store, acks)
        store.close()
    assert getattr(examiner, kind)
