"""Levels on the command line: the family of a memory, its versions side by side, and looking after them."""

import re
from pathlib import Path

import pytest

from recollect import Memory, Message
from recollect.domain.ids import short
from tests.interfaces.conftest import CommandLine

SAID = [
    "Our team decided on Pier 7 for the Kestrel ferry.",
    "The crane beside the old berth of the Kestrel ferry was condemned.",
    "The ticket office of the Kestrel ferry opens at six in the morning.",
    "Ruben Holt of the harbour office signed the papers for the Kestrel ferry.",
]


@pytest.fixture
def thread(memory: Memory) -> str:
    """A thread that is still open, by its id."""
    said = [Message(text=text, author="asha", role="user") for text in SAID]
    return memory.ingest(said, thread_id="ferry", wait=True).episode_id


@pytest.fixture
def closed(recollect: CommandLine, thread: str) -> str:
    recollect.do("close", thread)
    return thread


def versions(recollect: CommandLine, item_id: str) -> dict[str, str]:
    """The ids of a memory's versions by their level."""
    family = recollect.do("levels", item_id, "--json").document["versions"]
    return {one["level"]: one["versionId"] for one in family}


def test_a_thread_that_is_open_says_how_to_close_it(recollect: CommandLine, thread: str):
    assert f"recollect close {short(thread)}" in recollect.do("levels", thread).out
    told = recollect.do("close", thread).out
    assert "made 5 versions" in told
    assert "Undo this: recollect rollback --session " in told


def test_the_family_is_shown_from_the_events_to_the_index_word(recollect: CommandLine, closed: str):
    header, *rows, standing = recollect.do("levels", short(closed)).out.splitlines()
    assert header.split()[:3] == ["level", "version", "tokens"]
    assert [row.split()[0] for row in rows] == ["R5", "R4", "R3", "R2", "R1"]
    [active] = [row for row in rows if "● active" in row]
    assert active.startswith("R3 summary")
    by_level = versions(recollect, closed)
    assert f"summarize of {short(by_level['R4'])}" in active
    assert standing == "served by default as R3"


def test_the_family_as_json(recollect: CommandLine, closed: str):
    told = recollect.do("levels", closed, "--json").document
    assert (told["id"], told["defaultLevel"], told["pinnedMinLevel"]) == (closed, "R3", None)
    assert {one["repLevel"] for one in told["versions"]} == {1, 2, 3, 4, 5}


def test_versions_are_read_and_compared(recollect: CommandLine, closed: str):
    by_level = versions(recollect, closed)
    read = recollect.do("levels", closed, short(by_level["R3"]))
    assert "Kestrel" in read.out
    assert recollect.do("levels", closed, by_level["R3"], "--json").document["content"].startswith("#")
    named = recollect.do("levels", closed, "--diff", short(by_level["R4"]), short(by_level["R3"])).out.splitlines()
    assert named[:2] == [f"--- R4 {short(by_level['R4'])}", f"+++ R3 {short(by_level['R3'])}"]
    assert any(line.startswith("+") for line in named[2:])
    assert recollect.do("levels", closed, "--diff").out.splitlines() == named, "the one that speaks, and its origin"
    assert recollect.do("levels", closed, "--diff", by_level["R3"]).out.splitlines() == named
    told = recollect.do("levels", closed, "--diff", "--json").document
    assert (told["before"], told["after"]) == (by_level["R4"], by_level["R3"])
    assert told["diff"] == named
    same = recollect.do("levels", closed, "--diff", by_level["R3"], by_level["R3"])
    assert same.out == "They say the same.\n"
    assert recollect.do("history", "--limit", 1, "--json").document["entries"][0]["op"] == "disclose"


def test_versions_that_cannot_be_read_or_compared(recollect: CommandLine, closed: str):
    by_level = versions(recollect, closed)
    assert "nothing to compare" in recollect("levels", closed, "--diff", by_level["R5"]).err
    assert "has no version zzz" in recollect("levels", closed, "zzz").err
    assert "has no version" in recollect("levels", closed, "").err
    shared = max("0123456789abcdef", key=lambda end: sum(id.endswith(end) for id in by_level.values()))
    if sum(id.endswith(shared) for id in by_level.values()) > 1:
        assert "versions have an id that ends with" in recollect("levels", closed, shared).err
    assert recollect("levels", closed, by_level["R3"], by_level["R4"]).code == 2
    assert recollect("levels", closed, "a", "b", "c", "--diff").code == 2
    other = recollect.remember("Bees sleep at night.")
    assert "there is no version" in recollect("levels", other, by_level["R3"]).err
    refused = recollect("levels", closed, by_level["R3"], "--agent", "robin")
    assert refused.code == 1
    assert by_level["R3"] not in refused.out


def test_evidence_word_for_word(recollect: CommandLine, closed: str):
    lines = recollect.do("evidence", closed).out.splitlines()
    assert [line.strip() for line in lines if "│" in line] == [f"│ {text}" for text in SAID]
    part = recollect.do("evidence", closed, "s:2-3", "--json").document
    assert [event["text"] for event in part["events"]] == SAID[1:3]
    assert "witness" in recollect("evidence", closed, "nonsense").err
    assert "None of its events is s:90-91." in recollect.do("evidence", closed, "s:90-91").out


def test_more_is_one_step_further_each_time(recollect: CommandLine, closed: str):
    first = recollect.do("more", closed, "--json").document
    assert (first["usedLevel"], first["escalated"]) == ("R4", True)
    told = recollect.do("more", short(closed), "--turn", first["turn_id"])
    assert told.out.startswith(f"{short(closed)} R5")
    for _ in range(20):
        again = recollect("more", closed, "--turn", first["turn_id"])
        if again.code:
            break
    assert again.code == 1
    assert again.err


def test_the_next_step_is_told_of(recollect: CommandLine, closed: str):
    out = recollect.do("more", closed, "--turn", "t").out
    assert f"More: recollect more {short(closed)} --turn t" in out


def test_a_summary_is_shown_by_its_sections(recollect: CommandLine, closed: str):
    lines = recollect.do("show", closed).out.splitlines()
    assert lines[0] == f"{short(closed)} R3 · summarize"
    assert lines[1].strip("│ ") in ("Decisions", "Facts")
    assert lines[2].strip("│ ").startswith("- ")
    assert "[" in lines[2]
    assert recollect.do("show", closed, "--json").document["version"]["level"] == "R3"


def test_promoted_and_locked(recollect: CommandLine, closed: str):
    by_level = versions(recollect, closed)
    told = recollect.do("promote", closed, short(by_level["R5"]), "--minutes", 90, "--reason", "audit").out
    assert f"its version {short(by_level['R5'])} speaks for it" in told
    assert "(audit)" in told
    family = recollect.do("levels", closed).out
    assert "locked until" in family
    assert "● active" in next(line for line in family.splitlines() if line.startswith("R5"))
    assert "locked" in recollect.do("compress", closed).out
    assert "30 to 120" in recollect("promote", closed, by_level["R3"], "--minutes", 5).err
    assert recollect("promote", closed, by_level["R3"], "--reason", "whim").code == 2
    assert recollect("promote", closed, by_level["R3"], "--role", "member").code == 1
    document = recollect.do("promote", closed, by_level["R3"], "--json").document
    assert (document["activeVersionId"], document["activeLockReason"]) == (by_level["R3"], "manual-promote")


def test_pinned_and_unpinned(recollect: CommandLine, closed: str):
    assert "pinned at R3" in recollect.do("pin", closed).out
    assert "pinned: never below R3" in recollect.do("levels", closed).out
    assert recollect("pin", closed, "--agent", "robin").code == 1
    assert recollect.do("unpin", closed, "--json").document["pinnedMinLevel"] is None
    assert "not pinned" in recollect.do("unpin", closed).out


def test_a_dry_run_changes_nothing(recollect: CommandLine, thread: str):
    last = recollect.last_entry()
    told = recollect.do("compress", thread, "--dry-run").out
    assert "would make 5 versions" in told
    assert "rollback" not in told
    assert recollect.last_entry() == last
    done = recollect.do("compress", thread, "--json").document
    assert [made["level"] for stroke in done["strokes"] for made in stroke["made"]] == ["R5", "R4", "R3", "R2", "R1"]
    recollect.do("rollback", "--session", done["cause"], "--yes")
    assert versions(recollect, thread) == {}


def test_what_to_compress(recollect: CommandLine, thread: str):
    assert recollect("compress", thread, "--topic", "x").code == 2
    assert recollect.do("compress", "--topic", "nothing").out == "Nothing is due.\n"
    assert recollect("compress", "--role", "member").code == 1
    assert recollect("close", recollect.remember("Bees sleep at night.")).code == 1


def test_an_epoch_is_shown_and_advanced(recollect: CommandLine, place: Path, monkeypatch: pytest.MonkeyPatch):
    assert recollect.do("epoch", "apollo").out == "apollo is at epoch 0: it has never moved on.\n"
    assert "apollo is at epoch 1 since " in recollect.do("epoch", "apollo", "--advance", "--reason", "2.0 is out").out
    assert recollect.do("epoch", "apollo").out.endswith(": 2.0 is out\n")
    assert recollect("epoch", "apollo", "--reason", "why").code == 2
    assert recollect("epoch", "apollo", "--advance", "--role", "member").code == 1
    assert recollect.do("epoch", "apollo", "--json").document["number"] == 1
    for folder in (".git", "src"):
        (place / "borealis" / folder).mkdir(parents=True)
    monkeypatch.chdir(place / "borealis" / "src")
    assert recollect.do("epoch", "--json").document["project_id"] == "borealis"


def test_a_decision_takes_the_place_of_another(recollect: CommandLine):
    before = recollect.remember("The release train leaves on Thursdays.", "--topic", "release")
    after = recollect.remember("The release train leaves on Tuesdays.", "--supersedes", short(before))
    told = recollect.do("show", before, "--json").document["memory"]
    assert (told["topic_key"], told["superseded_by"]) == ("release", after)


def test_asking_again_in_a_turn_says_that_there_is_more_evidence(recollect: CommandLine, closed: str):
    asked = ("ask", "Why was the crane beside the Kestrel ferry condemned?", "--turn", "t")
    assert "More evidence" not in recollect.do(*asked).out
    again = recollect.do(*asked).out
    assert "More evidence than by default: R4 (dispute)" in again
    assert re.search(rf"excerpt s:\d-\d of  {short(closed)}", again)
