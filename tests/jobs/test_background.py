"""A program that opens Memory itself does what is left for later while it goes on."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from recollect import Filters, Message, Query, open_memory
from recollect.errors import StoreError

FACTS = Filters(kinds=frozenset({"fact"}))


def soon(holds: Callable[[], object], seconds: float = 30) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.02)
    return False


def test_memories_follow_by_themselves(tmp_path: Path):
    with open_memory(tmp_path / "m.db", user="mira") as memory:
        taken = memory.ingest([Message(text="My brother Emil lives in Graz.", author="Mira")], thread_id="a")
        assert taken.later
        assert soon(lambda: memory.items(FACTS))
        due = [job for job in memory.jobs() if job.job.kind in ("extract", "embed", "judge")]
        assert due
        assert soon(lambda: all(job.done_at for job in memory.jobs() if job.job.kind in ("extract", "embed", "judge")))


def test_who_waits_gets_memories_that_have_been_compared_whoever_does_it(tmp_path: Path):
    with open_memory(tmp_path / "m.db", user="mira") as memory:
        memory._deps.rest()  # nobody else does anything
        memory.ingest([Message(text="Our standup is at 9:30.", author="Mira")], thread_id="a", wait=True)
        memory.ingest([Message(text="The standup moved to 10:15.", author="Mira")], thread_id="a", wait=True)
        first, second = memory.query(Query(text="When is our standup?")).results
        assert "10:15" in first.text
        assert ", until later that day: " in second.text
        assert not [job for job in memory.jobs() if job.job.kind == "judge" and not job.done_at]


def test_who_waits_waits_for_who_has_the_job(tmp_path: Path):
    with open_memory(tmp_path / "m.db", user="mira") as memory:
        for words in ("Our standup is at 9:30.", "The standup moved to 10:15.", "The standup is off, for good."):
            memory.ingest([Message(text=words, author="Mira")], thread_id="a", wait=True)
            assert not [job for job in memory.jobs() if job.job.kind == "judge" and not job.done_at]


def test_a_store_that_is_busy_afterwards_takes_nothing_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def busy(*_: object, **__: object) -> None:
        raise StoreError("the store is busy")

    with open_memory(tmp_path / "m.db", user="mira") as memory:
        memory._deps.rest()
        memory.remember("Our standup is at 9:30.", wait=True)
        monkeypatch.setattr(memory._deps.store, "claim", busy)
        kept = memory.remember("The standup moved to 10:15.", wait=True)
        assert memory.show(kept.item_id).item.id == kept.item_id
        assert [job for job in memory.jobs() if job.job.kind == "judge" and not job.done_at]


def test_what_is_left_when_a_program_ends_is_done_by_the_next(tmp_path: Path):
    with open_memory(tmp_path / "m.db", user="mira") as memory:
        memory._deps.rest()  # as if it ended before anything was done
        memory.ingest([Message(text="My brother Emil lives in Graz.", author="Mira")], thread_id="a")
        assert memory.items(FACTS) == []
    with open_memory(tmp_path / "m.db", user="mira") as memory:
        memory.append([Message(text="Good morning.", author="Mira")], thread_id="b")
        assert soon(lambda: memory.items(FACTS))


def test_what_was_served_is_counted_when_the_program_ends(tmp_path: Path):
    with open_memory(tmp_path / "m.db", user="mira") as memory:
        kept = memory.remember("Mira is allergic to walnuts.")
        assert memory.query(Query(text="what is Mira allergic to?")).results
    with open_memory(tmp_path / "m.db", user="mira") as memory:
        used = memory._deps.store.usage(memory.principal.tenant, [kept.item_id])
        assert used[kept.item_id].retrieved == 1
        assert memory.counts()[("context", "search", "ok")] == 1
