"""Threads that go on and on: reading one, and closing it, takes as much memory as a portion does, however long it is.
In the short version the portions are a twentieth of what they are; the long one (`make hunt`) is a thread of 100,000
turns."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hunt import TIMES

SHORT, LONG = (4_000, 100_000) if TIMES else (300, 700)
TEXT = "We decided that plank {0} of the boathouse is replaced. " + "The paint is grey " * 150

WORK = """
import json, sys, tracemalloc
from recollect import open_memory
from recollect.care import ladder
from recollect.read import receipts
from recollect.domain.portion import every
from recollect.write.foreign import Thread
from recollect.write.message import Message

store, turns, text, scale = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
GROUP = 100
ladder.LONG //= scale
receipts.ROOM //= scale
with open_memory(store, user="mira") as memory:
    for start in range(0, turns, GROUP):
        said = tuple(Message(text=text.format(n), author="mira", role="tool") for n in range(start, start + GROUP))
        memory.append(said, thread_id="planks")
    [thread] = [one.id for one in memory.items() if one.kind == "episode"]

    def most(work):
        tracemalloc.start()
        told = work()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak, told

    def closed():
        memory.close_episode(thread)
        return len(memory.versions(thread))

    ways = {
        "evidence": lambda: len(memory.evidence(thread)),
        "repeated": lambda: len(memory.evidence(thread, ",".join(["s:1-999999"] * 60))),
        "all of it": lambda: sum(1 for _ in every(lambda after: memory.evidence(thread, after=after))),
        "history": lambda: len(memory.history(thread)),
        "journal": lambda: len(memory.journal(limit=100)),
        "close": closed,
        "show": lambda: len(memory.show(thread).evidence),
        "serve": lambda: memory.serve(thread).tokens,
        "more": lambda: memory.serve(thread, more=True).tokens,
        "versions": lambda: len(memory.versions(thread)),
        "lines": lambda: len(memory.lines()),
    }
    print(json.dumps({name: most(work) for name, work in ways.items()}))
"""


def peaks(folder: Path, turns: int) -> dict[str, tuple[int, int]]:
    done = subprocess.run(
        [sys.executable, "-c", WORK, str(folder / f"{turns}.db"), str(turns), TEXT, "1" if TIMES else "20"],
        env={"RECOLLECT_HOME": str(folder), "RECOLLECT_EMBEDDER": "none", "RECOLLECT_KEEPER": "none", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, tuple[int, int]], dict[str, tuple[int, int]]]:
    folder = tmp_path_factory.mktemp("long")
    return peaks(folder, SHORT), peaks(folder, LONG)


def test_a_long_thread_takes_no_more_memory_than_a_shorter_one(
    measured: tuple[dict[str, tuple[int, int]], dict[str, tuple[int, int]]],
):
    short, long = measured
    assert long["all of it"][1] == LONG
    assert long["evidence"][1] == long["repeated"][1] <= 1_000
    assert long["history"][1] <= 1_000
    text = len(TEXT) * (LONG - SHORT)
    grown = {name: peak - short[name][0] for name, (peak, _) in long.items()}
    assert {name: more for name, more in grown.items() if more > text // 2} == {}, grown
