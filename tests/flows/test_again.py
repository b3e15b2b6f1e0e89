"""A file that is taken in again adds nothing, and one that has grown adds what was added, times or no times."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect import Memory
from recollect.care.restore import ToRevision
from recollect.domain.query import Filters
from recollect.jobs.kinds import KINDS
from recollect.jobs.worker import Worker
from recollect.write import ingest
from recollect.write.formats import read
from recollect.write.message import Bulk
from tests.hunt import examples
from tests.worlds import World

FACTS = Filters(kinds=frozenset({"fact"}))
NOTE = "# Boat\n\nThe hull is teak.\n\n## Crew\n\nIda steers.\nyes\n\n## Spare\n\nyes\nIda steers.\n"


@pytest.fixture
def memory(world: World, tmp_path: Path) -> Memory:
    return world.memory(tmp_path)


def take(memory: Memory, name: str, text: str) -> Bulk:
    return memory.bulk(read(text, name, author="mira").threads)


def kept(memory: Memory, thread: str) -> list[str]:
    """What a thread holds, in its order."""
    [episode] = memory.items(Filters(kinds=frozenset({"episode"}), thread_id=thread))
    return [event.text for event in memory.thread(episode.id)]


def said(*texts: str, **fields: object) -> str:
    return "".join(json.dumps({"text": text, "role": "user", "author": "Ida", **fields}) + "\n" for text in texts)


FILES = {
    "note.txt": "The hull is teak.\nyes\nyes\nIda steers.\n",
    "note.md": NOTE,
    "dated.md": f"---\nupdated: 2026-03-01\n---\n{NOTE}",
    "chat.jsonl": said("yes", "yes", "I moved to Lisbon in May and I work at Orbis now.", "no", "yes"),
}


@pytest.mark.parametrize("name", FILES)
def test_the_same_file_again_adds_no_events_and_no_memories(memory: Memory, name: str):
    first = take(memory, name, FILES[name])
    worker = Worker(deps=memory._deps, kinds=KINDS, name="test")
    worker.run_until_idle()
    before, facts = kept(memory, f"file:{name}"), memory.lines(FACTS)
    again = take(memory, name, FILES[name])
    worker.run_until_idle()
    assert (first.repeats, again.repeats) == (0, first.messages)
    assert kept(memory, f"file:{name}") == before
    assert memory.lines(FACTS) == facts
    assert again.rev == memory.head().rev, "there was nothing to write"


def test_short_lines_that_a_file_repeats_stay_two_events(memory: Memory):
    take(memory, "chat.jsonl", FILES["chat.jsonl"])
    assert kept(memory, "file:chat.jsonl").count("yes") == 3


@pytest.mark.parametrize("size", [1, 2, 200])
def test_a_conversation_that_has_grown_adds_what_was_added(memory: Memory, monkeypatch: pytest.MonkeyPatch, size: int):
    monkeypatch.setattr(ingest, "GROUP", size)
    take(memory, "chat.jsonl", said("yes", "no", "yes"))
    grown = take(memory, "chat.jsonl", said("yes", "no", "yes", "yes", "maybe"))
    assert grown.repeats == 3
    assert kept(memory, "file:chat.jsonl") == ["yes", "no", "yes", "yes", "maybe"]


def test_a_text_that_has_grown_adds_the_lines_that_were_added(memory: Memory):
    take(memory, "note.txt", "The hull is teak.\nyes\n")
    take(memory, "note.txt", "The hull is teak.\nyes\n\nIda steers.\nyes\n")
    assert kept(memory, "file:note.txt") == ["The hull is teak.\nyes\n", "Ida steers.\nyes"]


def test_a_note_that_has_grown_adds_the_lines_and_the_sections_that_were_added(memory: Memory):
    take(memory, "note.md", NOTE)
    before = kept(memory, "file:note.md")
    take(
        memory,
        "note.md",
        NOTE.replace("Ida steers.\nyes", "Ida steers.\nOle cooks.\nyes") + "\n## Route\n\nTo Bergen.\n",
    )
    assert kept(memory, "file:note.md") == [*before, "Ole cooks.", "## Route\n\nTo Bergen."]


def test_a_note_whose_date_moved_on_is_the_same_note(memory: Memory):
    take(memory, "dated.md", FILES["dated.md"])
    assert take(memory, "dated.md", FILES["dated.md"].replace("2026-03-01", "2026-04-01")).repeats == 3


def test_a_line_that_was_taken_out_is_evidence_still(memory: Memory):
    take(memory, "note.txt", "The hull is teak.\nIda steers.\n")
    assert take(memory, "note.txt", "Ida steers.\n").repeats == 1
    assert kept(memory, "file:note.txt") == ["The hull is teak.\nIda steers.\n"]


def test_the_same_words_of_somebody_else_are_no_repeat(memory: Memory):
    take(memory, "chat.jsonl", said("yes"))
    assert take(memory, "chat.jsonl", said("yes", author="Ole")).repeats == 0


def test_with_a_time_a_message_is_known_by_it(memory: Memory):
    take(memory, "chat.jsonl", said("yes", "yes", ts="2026-03-01T09:00:00Z"))
    later = said("yes", "yes", ts="2026-03-01T09:00:00Z") + said("yes", ts="2026-03-01T09:05:00Z")
    assert take(memory, "chat.jsonl", later).repeats == 2
    assert kept(memory, "file:chat.jsonl") == ["yes"] * 3


def test_what_was_rolled_back_is_taken_in_again(memory: Memory, world: World):
    take(memory, "note.txt", "The hull is teak.\n")
    before = memory.head().rev
    take(memory, "note.txt", "The hull is teak.\nIda steers.\n")
    memory.rollback(ToRevision(world.scope, before))
    take(memory, "note.txt", "The hull is teak.\nIda steers.\n")
    assert kept(memory, "file:note.txt") == ["The hull is teak.\n", "Ida steers."]


def test_a_file_that_could_not_be_taken_in_whole_is_taken_in_the_rest_of_the_way(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(ingest, "GROUP", 2)
    text = said("yes", "yes", "no", "yes", "no")
    with pytest.raises(RuntimeError):
        memory.bulk(read(text, "chat.jsonl").threads, progress=_stop)
    assert len(kept(memory, "file:chat.jsonl")) == 2
    take(memory, "chat.jsonl", text)
    assert kept(memory, "file:chat.jsonl") == ["yes", "yes", "no", "yes", "no"]


def _stop(_: int) -> None:
    raise RuntimeError("the power is out")


lines = st.lists(st.sampled_from(["yes", "no", "Ida steers.", "  yes  ", ""]), min_size=1, max_size=8)


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=lines, more=lines, kind=st.sampled_from(["txt", "md", "jsonl"]))
def test_however_a_file_grows_each_line_is_kept_as_often_as_it_stands_there(
    memory: Memory, first: list[str], more: list[str], kind: str
):
    name = f"{memory._deps.clock.mint()}.{kind}"
    rows = [["Start.", *first], ["Start.", *first, *more]]
    for text in (said(*one) if kind == "jsonl" else "\n".join(one) for one in rows):
        take(memory, name, text)
        take(memory, name, text)
    held = [row.strip() for text in kept(memory, f"file:{name}") for row in text.split("\n")]
    assert sorted(filter(None, held)) == sorted(filter(None, (row.strip() for row in rows[1])))
