"""Memories with their receipts, and what happened to them."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from recollect import Memory, Message
from recollect.domain.event import Trust
from recollect.domain.ids import short
from tests.interfaces.conftest import CommandLine, without_models


def test_an_empty_store_says_so(recollect: CommandLine):
    assert recollect.do("show").out == "Nothing is remembered here yet.\n"
    assert recollect.do("history").out == "Nothing has happened yet.\n"
    assert recollect.do("show", "--json").document == {"memories": []}
    assert recollect.do("history", "--json").document == {"entries": [], "next": None}


def test_the_list_has_the_newest_first_with_short_ids(recollect: CommandLine):
    older = recollect.remember("The older one.")
    newer = recollect.remember("The newer one.", "--importance", 5, "--tag", "top")
    header, *rows = recollect.do("show", "--kind", "fact").out.splitlines()
    assert header.split() == ["id", "words", "imp", "for", "when"]
    assert [row.split()[0] for row in rows] == [short(newer), short(older)]
    assert "The newer one.  #top" in rows[0]


def test_a_pipe_gets_every_word_on_one_line(recollect: CommandLine):
    words = "word " * 300 + "end"
    recollect.remember(words)
    [row] = recollect.do("show", "--kind", "fact").out.splitlines()[1:]
    assert words in row


def test_the_list_pages_and_narrows(recollect: CommandLine):
    ids = [recollect.remember(f"Number {n}.", "--category", "even" if n % 2 == 0 else "odd") for n in range(5)]

    def listed(*options: object) -> list[str]:
        return [one["id"] for one in recollect.do("show", *options, "--json").document["memories"]]

    assert listed("--category", "even", "--limit", 2) == [ids[4], ids[2]]
    assert listed("--category", "even", "--before", ids[2]) == [ids[0]]
    assert set(listed("--category", "even", "--category", "odd")) == set(ids)
    assert listed("--project", "none") == []
    assert listed("--of", "ravi") == []
    assert set(listed("--of", "mira", "--thread", "notes", "--kind", "fact")) == set(ids)
    page = recollect.do("show", "--limit", 3)
    assert "Older ones: recollect show --before " in page.out


def test_states_are_listed_when_asked_for(recollect: CommandLine):
    active, archived, deleted = (recollect.remember(text) for text in ("One.", "Two.", "Three."))
    recollect.do("archive", archived)
    recollect.do("delete", deleted)

    def facts(*states: str) -> set[str]:
        options = [part for state in states for part in ("--state", state)]
        return {one["id"] for one in recollect.do("show", "--kind", "fact", *options, "--json").document["memories"]}

    assert facts() == {active}
    assert facts("archived") == {archived}
    assert facts("deleted") == {deleted}
    assert facts("active", "deleted") == {active, deleted}
    assert facts("all") == {active, archived, deleted}
    assert "deleted" in recollect.do("show", "--state", "all").out


def test_the_receipt_has_every_sentence_its_witness_and_the_evidence(recollect: CommandLine):
    recollect.remember("Something before.")
    item_id = recollect.remember("Mira is allergic to peanuts.")
    answer = recollect.do("show", short(item_id))
    lines = [line.strip() for line in answer.out.splitlines()]
    assert lines[0] == f"{short(item_id)} R3"
    assert "│ Mira is allergic to peanuts. [1]" in lines
    assert f"id {item_id}" in lines
    [told] = [line for line in lines if line.startswith("[1] mira · 20")]
    assert told.endswith("said so")
    assert any(line.startswith("event 2 of thread ") for line in lines)
    assert "│ Mira is allergic to peanuts." in lines


def test_the_receipt_as_json(recollect: CommandLine):
    kept = recollect.do("remember", "Mira is allergic to peanuts.", "--json").document
    shown = recollect.do("show", kept["id"], "--json").document
    assert set(shown) == {"memory", "rev", "version", "evidence", "next"}
    version = shown["version"]
    assert version["level"] == "R3"
    assert version["sentences"] == [
        {
            "text": "Mira is allergic to peanuts.",
            "witnesses": [{"ref": f"e:{kept['event']}", "reason": "said so"}],
        }
    ]
    [event] = shown["evidence"]
    assert (event["id"], event["seq"], event["author"]) == (kept["event"], 1, "mira")
    assert event["text"] == "Mira is allergic to peanuts."
    assert event["at"].endswith("Z")


def test_a_thread_is_shown_as_its_events(recollect: CommandLine, memory: Memory):
    said = memory.append(
        [
            Message(text="What's for lunch?", author="mira", role="user"),
            Message(text="Peanut soup.\nWith bread.", author="web page", trust=Trust.UNTRUSTED),
        ],
        thread_id="lunch",
    )
    lines = recollect.do("show", said.episode_id).out.splitlines()
    assert any(line.startswith("  1 mira (user) · ") for line in lines)
    assert any(line.startswith("  2 web page · ") and line.endswith("untrusted") for line in lines)
    assert lines[-2:] == ["    │ Peanut soup.", "    │ With bread."]
    after = recollect.do("show", said.episode_id, "--after", 1, "--json").document
    assert [event["seq"] for event in after["evidence"]] == [2]


def test_the_end_of_an_id_will_do_if_only_one_has_it(recollect: CommandLine, monkeypatch: pytest.MonkeyPatch):
    without_models(monkeypatch)
    ids = [recollect.remember(f"Number {n}.") for n in range(40)]
    assert recollect.do("show", ids[0].upper(), "--json").document["memory"]["id"] == ids[0]
    assert recollect.do("show", ids[0][-12:], "--json").document["memory"]["id"] == ids[0]
    last = max({id[-1] for id in ids}, key=lambda end: sum(id.endswith(end) for id in ids))
    refused = recollect("show", last)
    assert refused.code == 1
    assert "memories have an id that ends so" in refused.err
    assert "Give more of the id." in refused.err


def test_what_would_steer_a_terminal_is_shown_and_not_obeyed(recollect: CommandLine):
    steering = "harmless\x1b[2J\x1b]0;owned\x07 \u202egnp.exe \x9b31m [bold]text[/bold]"
    item_id = recollect.remember(steering)
    recollect.do("archive", item_id, "--reason", steering)
    for args in (["show", "--state", "all"], ["show", item_id], ["history", item_id], ["history"]):
        answer = recollect.do(*args)
        assert not set(answer.out) & set("\x1b\x07\x9b\u202e")
    assert "\\u001b[2J" in recollect.do("show", item_id).out
    assert "[bold]text[/bold]" in recollect.do("show", item_id).out
    document = recollect.do("show", item_id, "--json")
    assert not set(document.out) & set("\x1b\x07\x9b\u202e")
    assert document.document["memory"]["words"] == steering


def test_history_tells_before_and_after(recollect: CommandLine):
    item_id = recollect.remember("Tea, not coffee.", "--importance", 4)
    recollect.do("archive", item_id, "--reason", "old", "--user", "ravi")
    lines = [line.strip() for line in recollect.do("history", short(item_id)).out.splitlines()]
    assert "importance: — → 4" in lines
    assert "words (R3): — → Tea, not coffee." in lines
    assert "state: active → archived (old)" in lines
    [told] = [line for line in lines if "archive  revision 2" in line]
    assert told.startswith("entry 5")
    assert told.endswith("ravi")


def test_history_as_json(recollect: CommandLine):
    item_id = recollect.remember("Tea, not coffee.")
    recollect.do("delete", item_id)
    told = recollect.do("history", item_id, "--json").document
    assert told["memory"] == item_id
    assert [entry["op"] for entry in told["entries"]] == ["create", "derive", "soft_delete"]
    last = told["entries"][-1]
    assert (last["seq"], last["rev"], last["actor"], last["role"], last["erased"]) == (5, 2, "mira", "admin", False)
    [state] = last["fields"]
    assert state["before"] == {"is": "Active"}
    assert state["after"]["is"] == "SoftDeleted"


def test_the_history_of_all_says_nothing_of_what_was_said(recollect: CommandLine):
    item_id = recollect.remember("A secret nobody may see.")
    recollect.do("delete", item_id, "--reason", "another secret")
    for answer in (recollect.do("history"), recollect.do("history", "--json")):
        assert "secret" not in answer.out
    entries = recollect.do("history", "--json").document["entries"]
    assert [entry["op"] for entry in entries] == ["soft_delete", "derive", "create", "append", "create"]
    assert [entry["seq"] for entry in entries] == [5, 4, 3, 2, 1]
    assert "fields" not in entries[0]


def test_the_history_of_all_pages(recollect: CommandLine):
    recollect.remember("One.")
    first = recollect.do("history", "--limit", 3)
    assert "Earlier ones: recollect history --before 2" in first.out
    rest = recollect.do("history", "--before", 2, "--json").document["entries"]
    assert [entry["seq"] for entry in rest] == [1]
    assert "Earlier ones" not in recollect.do("history", "--before", 2).out


def test_members_do_not_see_the_journal_of_all(recollect: CommandLine):
    refused = recollect("history", "--role", "member")
    assert refused.code == 1
    assert "takes the role moderator or admin" in refused.err


@pytest.mark.parametrize("command", ["show", "history", "archive", "delete", "undelete"])
def test_a_memory_that_was_erased_is_told_from_one_that_never_was(recollect: CommandLine, command: str):
    item_id = recollect.remember("Gone soon.")
    recollect.do("erase", item_id, "--yes")
    refused = recollect(command, short(item_id))
    assert refused.code == 1
    assert f"memory {item_id} was erased" in refused.err


def test_a_memory_that_was_rolled_back_is_told_of_too(recollect: CommandLine):
    item_id = recollect.remember("Never said.")
    recollect.do("rollback", "--to", 0, "--yes")
    refused = recollect("show", short(item_id))
    assert refused.code == 1
    assert "was withdrawn by a rollback" in refused.err
    assert "withdraw, undoes entry" in recollect.do("history", short(item_id)).out


def test_an_event_is_shown_by_its_id_with_its_thread_and_what_was_made_of_it(recollect: CommandLine, memory: Memory):
    kept = memory.remember("The gate is green.")
    for name in (kept.event_id, short(kept.event_id)):
        told = recollect.do("show", name).out
        assert "The gate is green." in told
        assert f"made of it: {short(kept.item_id)} The gate is green." in told
        document = recollect.do("show", name, "--json").document
        assert document["event"]["id"] == kept.event_id
        assert [one["id"] for one in document["memories"]] == [kept.item_id]


def test_a_memory_says_since_when_it_holds_and_what_took_its_place(recollect: CommandLine, memory: Memory):
    old = memory.remember("The gate is green.", ts=datetime(2025, 5, 3, 12, tzinfo=UTC))
    new = memory.remember("The gate is blue.", ts=datetime(2025, 5, 18, 12, tzinfo=UTC), supersedes=old.item_id)
    told = f"since 3 May 2025, until 18 May 2025, replaced by {short(new.item_id)}"
    assert told in recollect.do("show", old.item_id).out
    assert recollect.do("show", old.item_id, "--json").document["memory"]["held"] == told
    assert f"since 18 May 2025, replaces {short(old.item_id)}" in recollect.do("show", new.item_id).out


def test_what_no_recollect_wrote_is_told_of_and_ends_no_command(recollect: CommandLine, store: Path):
    kept, gone = recollect.remember("The ferry leaves at nine."), recollect.remember("The mill is shut.")
    recollect.do("erase", gone, "--yes")
    whole = store.read_bytes()
    shown, told = ["show", "--state", "all"], ["history", kept]
    back = ["rollback", "--to", "1", "--preview", "--json"]
    bodies = (
        told,
        [*told, "--role", "member"],
        back,
        ["rollback", "--entry", "3", "--preview"],
        ["erase", kept, "--yes"],
    )
    for table, column, value, *commands in (
        ("items", "trust", "", shown, told),
        ("items", "updated_at", b"\xff", shown),
        ("items", "updated_at", 1e300, ["ask", "when does the ferry leave?"]),
        ("versions", "item_id", b"\xff", ["ask", "when does the ferry leave?"]),
        ("items", "origin_at", 2**62, back),
        ("events", "role", b"\xff", ["evidence", kept]),
        ("versions", "bullets", "{", ["show", kept]),
        ("items", "topic_key", b"\xff", ["export", "-"]),
        ("journal", "rev", "garbage", ["verify"], back),
        ("journal_bodies", "body", "{", *bodies),
        ("journal_bodies", "body", "[7]", *bodies),
        ("journal_bodies", "body", '{"is":"Nope"}', *bodies),
        ("journal_bodies", "body", "7", *bodies),
        ("tombstones", "at", "garbage", back),
        ("jobs", "done_at", 1e300, ["jobs"]),
        ("tenants", "dedup_key", "garbage", ["remember", "The mill is open."]),
        ("tenants", "rev", b"\xff", ["remember", "The mill is open."]),
    ):
        with closing(apsw.Connection(str(store))) as database:
            database.execute(f"update {table} set {column} = ?", (value,))  # pyright: ignore[reportUnknownMemberType]
        for command in commands:
            answer = recollect(*command)
            assert answer.code == 1, (table, column, command)
            assert command == ["verify"] or "recollect verify --deep" in answer.err
        store.write_bytes(whole)
