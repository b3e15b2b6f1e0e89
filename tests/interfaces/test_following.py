"""An import is followed to its end: messages taken in, then messages read, each of how many; and it does end."""

import json
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from rich.progress import Progress

from recollect.custody import Deps
from recollect.domain.job import Leased, Pending
from recollect.errors import StoreBusy
from recollect.interfaces.cli import following, ingesting
from recollect.jobs import kinds, retry
from recollect.jobs.kind import Kind, Outcome
from tests.interfaces.conftest import CommandLine
from tests.interfaces.served import serving

MANY = 420


class Bars:
    """The bars that were shown: what of, of how many, and how many were left each time."""

    def __init__(self) -> None:
        self.shown: list[tuple[str, int | None, list[int]]] = []

    @contextmanager
    def __call__(self, noun: str, total: int | None = None) -> Generator[Callable[[int, int], None]]:
        told: list[int] = []
        self.shown.append((noun, total, told))
        yield lambda left, besides: told.append(left)


@pytest.fixture
def bars(monkeypatch: pytest.MonkeyPatch) -> Bars:
    bars = Bars()
    monkeypatch.setattr(ingesting, "bar", bars)
    monkeypatch.setattr(following, "bar", bars)
    monkeypatch.setattr(following, "LOOK", 0.0)
    return bars


@pytest.fixture
def chat(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Many notes, all alike: rules alone compare them, as how they compare is not what is shown."""
    monkeypatch.setenv("RECOLLECT_JUDGE", "none")
    file = place / "chat.jsonl"
    file.write_text("".join(json.dumps({"text": f"Note {n}: buoy {n} is green."}) + "\n" for n in range(MANY)))
    return file


def failing(monkeypatch: pytest.MonkeyPatch, times: int, attempts: int = 10) -> None:
    """The reader fails so many times, and then reads."""
    left = threading.Semaphore(times)
    read = kinds.KINDS["extract"].run

    def run(deps: Deps, leased: Leased) -> Outcome:
        if left.acquire(blocking=False):
            raise StoreBusy("the reader is out")
        return read(deps, leased)

    monkeypatch.setitem(kinds.KINDS, "extract", Kind(run, attempts=attempts))  # type: ignore[arg-type]


def test_it_shows_what_was_taken_in_and_what_was_read_of_how_many(recollect: CommandLine, bars: Bars, chat: Path):
    told = recollect.do("ingest", chat, "--json").document
    assert told["messages"] == MANY
    assert told["pending"] == {"messages": 0, "jobs": 0, "parked": 0, "why": "", "settled": True}
    [(first, total, taken), (second, _, read)] = bars.shown
    assert (first, total, taken) == ("messages taken in", MANY, [220, 20, 0])
    assert second == "messages read"
    assert (read[0], read[-1]) == (MANY, 0)
    assert read == sorted(read, reverse=True)
    assert len(set(read)) > MANY // 16, "every step shows"


def test_a_job_that_failed_for_good_is_told_of_and_not_waited_for(
    recollect: CommandLine, bars: Bars, chat: Path, monkeypatch: pytest.MonkeyPatch
):
    failing(monkeypatch, times=1, attempts=1)
    answer = recollect("ingest", chat, "--wait")
    assert answer.code == 1
    assert "Not read, since their job failed: 200 messages" in answer.out
    assert "the reader is out" in answer.out
    assert "Still to be read" not in answer.out
    listed = recollect.do("jobs")
    assert "0 messages still to be read, and 200 whose job failed." in listed.out
    assert "0 of 200" in listed.out


def test_what_is_to_be_tried_again_is_told_of(
    recollect: CommandLine, bars: Bars, chat: Path, monkeypatch: pytest.MonkeyPatch
):
    failing(monkeypatch, times=1)
    monkeypatch.setattr(retry, "FIRST", timedelta(hours=1))
    answer = recollect("ingest", chat)
    assert answer.code == 0
    assert "Still to be read: 200 messages" in answer.out
    assert "200 messages still to be read." in recollect.do("jobs").out


def test_what_is_to_be_tried_again_is_waited_for_where_that_is_asked(
    recollect: CommandLine, bars: Bars, chat: Path, monkeypatch: pytest.MonkeyPatch
):
    failing(monkeypatch, times=3)
    monkeypatch.setattr(retry, "FIRST", timedelta(milliseconds=20))
    waited = recollect.do("ingest", chat, "--wait", "--json").document
    assert waited["pending"]["settled"]
    assert waited["pending"]["parked"] == 0


def test_an_import_of_an_export_is_followed_too(recollect: CommandLine, bars: Bars, place: Path):
    (place / "notes").mkdir()
    (place / "notes" / "boat.md").write_text("# Boat\n\nThe hull is teak.\n")
    told = recollect.do("import", "notes", "--wait", "--json").document
    assert told["pending"]["settled"]
    assert [noun for noun, _, _ in bars.shown] == ["messages taken in", "messages read"]


def test_a_server_is_looked_on_at_until_it_has_read_everything(recollect: CommandLine, place: Path):
    few = "".join(json.dumps({"text": f"Note {n}: buoy {n} is green."}) + "\n" for n in range(40))
    (place / "few.jsonl").write_text(few)
    with serving(place, "--port", 0) as server:
        told = recollect.do("ingest", "few.jsonl", "--wait", "--json").document
        assert told["messages"] == 40
        assert told["pending"]["messages"] == 0
        assert server.client.pending() == Pending()


def test_a_bar_is_told_what_is_left_and_shows_what_is_done(monkeypatch: pytest.MonkeyPatch):
    shown: list[tuple[object, ...]] = []

    def update(_: Progress, __: int, **how: object) -> None:
        shown.append((how["description"], how["completed"], how["total"]))

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(Progress, "update", update)
    with following.bar("messages read") as show:
        for left, besides in ((40, 0), (30, 2), (35, 2), (0, 4), (0, 1), (0, 0)):
            show(left, besides)
    assert shown == [
        ("messages read", 0, 40),
        ("messages read, 2 more to do", 10, 40),
        ("messages read, 2 more to do", 5, 40),
        ("what follows from them", 0, 4),
        ("what follows from them", 3, 4),
        ("messages read", 40, 40),
    ]
