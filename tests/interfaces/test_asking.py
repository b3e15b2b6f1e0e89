"""Asking and taking in, from the command line."""

import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.conftest import CommandLine
from tests.interfaces.served import serving


@pytest.fixture
def filled(recollect: CommandLine) -> CommandLine:
    recollect.remember("Mira is allergic to peanuts.", "--importance", 5, "--category", "preferences")
    recollect.remember("The release train of Apollo leaves on Thursdays at 14:00 UTC.", "--project", "apollo")
    recollect.remember("Standup is at 9:30, except on Fridays.")
    return recollect


def texts(answer: Any) -> list[str]:
    return [result["text"] for result in answer.document["results"]]


# -- ask ------------------------------------------------------------------------------------------------------


def test_an_answer_comes_with_its_score_its_category_and_what_it_rests_on(filled: CommandLine):
    kept = filled.remember("Ben takes the tram to the harbour.", "--category", "habits")
    first, second, *_ = filled.do("ask", "Who takes the tram to the harbour?").out.splitlines()
    assert "habits" in first
    assert "█" in first
    assert first.endswith(kept[-8:]), "what to ask `show` for"
    assert re.fullmatch(r"  │ mira, \d{1,2} \w+ 20\d\d: Ben takes the tram to the harbour\.", second)


def test_a_full_answer_says_what_is_known_about_a_memory(filled: CommandLine):
    out = filled.do("ask", "What is Mira allergic to?", "--full").out
    assert "importance 5" in out
    assert "author" not in out, "the line says it"


def test_a_message_of_which_no_memory_answers_says_who_and_when_once(filled: CommandLine, place: Path):
    (place / "note.txt").write_text("Well, well, Holger Friis.\n")
    filled.do("ingest", "note.txt", "--untrusted")
    out = filled.do("ask", "Holger Friis").out
    assert re.search(r"message 1 of +[0-9a-f]{8}\n  │ mira, \d{1,2} \w+ 20\d\d, untrusted: Well, well, Holger", out)
    evidence = filled.do("ask", "Holger Friis", "--evidence").out
    assert re.search(r"mira, 20\d\d-.* UTC, untrusted, message 1 of +[0-9a-f]{8}\n  │ Well, well, Holger", evidence)


def test_the_same_as_one_document(filled: CommandLine):
    answer = filled.do("ask", "What is Mira allergic to?", "--json")
    levels = {"usedLevel", "escalated", "more", "turn_id"}
    assert set(answer.document) == {"header", "results", "tokens", "rev"} | levels
    assert re.fullmatch(r"\[preferences\] mira, \d{1,2} \w+ 20\d\d: Mira is allergic to peanuts\.", texts(answer)[0])
    assert 0 < answer.document["results"][0]["score"] <= 1


def test_what_memory_knows_nothing_about_is_answered_with_nothing(filled: CommandLine):
    answer = filled.do("ask", "What is the price of zirconium in Ulan Bator?")
    assert answer.out == "Memory knows nothing about this.\n"


def test_where_no_memory_was_made_of_it_what_was_said_is_shown(filled: CommandLine, place: Path):
    (place / "note.md").write_text("# Team\n\nWeather permitting, Asha heads the Gemini survey since 2024.\n")
    filled.do("ingest", "note.md", "--untrusted")
    out = filled.do("ask", "Who heads the Gemini survey?").out
    assert out.startswith("What was said about it:\n")
    assert re.search(r"message 1 of +[0-9a-f]{8}\n  │ mira, \d{1,2} \w+ 20\d\d, untrusted: # Team\n", out)
    assert "│ > Weather permitting, Asha heads the Gemini survey since 2024." in out


def test_a_question_can_be_narrowed(filled: CommandLine):
    assert texts(filled.do("ask", "release train", "--project", "apollo", "--json"))
    assert not texts(filled.do("ask", "release train", "--project", "gemini", "--json"))
    assert not texts(filled.do("ask", "release train", "--category", "preferences", "--json"))
    assert len(texts(filled.do("ask", "Mira, standup, train", "--top", 1, "--threshold", 0, "--json"))) <= 1


def test_evidence_and_reasons_on_request(filled: CommandLine):
    answer = filled.do("ask", "What is Mira allergic to?", "--evidence", "--json")
    assert any("Mira is allergic to peanuts." in text for text in texts(answer))
    answer = filled.do("ask", "What is Mira allergic to?", "--explain", "--full", "--json")
    assert len(answer.document["explain"]) == len(answer.document["results"])
    assert answer.document["results"][0]["meta"]
    assert "allergic" in filled.do("ask", "What is Mira allergic to?", "--explain", "--full").out


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ((" ",), "blank"),
        (("x", "--top", 0), "top_k"),
        (("x", "--threshold", 2), "threshold"),
        (("x", "--budget", 0), "budget"),
    ],
)
def test_a_question_that_cannot_be_asked(filled: CommandLine, options: tuple[object, ...], word: str):
    refused = filled("ask", *options)
    assert refused.code == 1
    assert word in refused.err


def test_an_agent_asks_within_its_allowlist(filled: CommandLine):
    refused = filled("ask", "x", "--agent", "stylist", "--category", "tasks")
    assert refused.code == 1
    assert "stylist" in refused.err


# -- ingest ---------------------------------------------------------------------------------------------------


def test_a_text_is_a_thread_with_one_document(recollect: CommandLine, place: Path):
    (place / "note.txt").write_text("The lighthouse keeper of Skagen is called Holger Friis.\n")
    told = recollect.do("ingest", "note.txt", "--json").document
    assert (told["threads"], told["messages"], told["repeats"], told["skipped"]) == (1, 1, 0, [])
    found = recollect.do("ask", "Who is the lighthouse keeper of Skagen?", "--evidence", "--json")
    assert any("Holger Friis" in text for text in texts(found))
    again = recollect.do("ingest", "note.txt")
    assert "took in 1 message of 1 thread, 1 of them known already" in again.out


def test_standard_input_goes_into_the_thread_that_is_named(recollect: CommandLine):
    recollect.do(
        "ingest", "-", "--thread", "chat", "--speaker", "user", stdin="My sister Ada moved to Lisbon in May 2024."
    )
    [thread] = recollect.do("show", "--kind", "episode", "--json").document["memories"]
    assert thread["thread_id"] == "chat"
    [event] = recollect.do("show", thread["id"], "--json").document["evidence"]
    assert event["role"] == "user"


def test_a_folder_of_notes_gives_a_thread_each_and_hidden_ones_none(recollect: CommandLine, place: Path):
    notes = place / "notes"
    (notes / "deep").mkdir(parents=True)
    (notes / ".obsidian").mkdir()
    (notes / "one.md").write_text("# Bees\n\nThe hive stands behind the barn.\n\n# Goats\n\nThere are four goats.\n")
    (notes / "deep" / "two.txt").write_text("The well is forty metres deep.")
    (notes / ".obsidian" / "three.md").write_text("hidden")
    (notes / "picture.png").write_bytes(b"\x89PNG")
    (notes / "broken.md").write_bytes(b"\xff\xfe\xff")
    told = recollect.do("ingest", "notes", "--project", "farm", "--json").document
    assert told["threads"] == 2
    assert [one["where"] for one in told["skipped"]] == ["broken.md"]
    threads = recollect.do("show", "--kind", "episode", "--json").document["memories"]
    assert {thread["thread_id"] for thread in threads} == {"file:one.md", "file:deep/two.txt"}
    assert {thread["visibility"] for thread in threads} == {"project-shared"}
    assert recollect("ingest", "notes", "--thread", "x").code == 1
    assert recollect("ingest", place / "notes" / ".obsidian" / "nothing").code == 1


def test_lines_of_a_conversation_and_secrets_in_them(recollect: CommandLine, place: Path):
    said = [
        {"role": "user", "author": "asha", "text": "My key is ghp_" + "a1B2" * 9, "ts": "2025-05-01T10:00:00Z"},
        {"role": "assistant", "text": "Thank you, I will keep that to myself."},
    ]
    (place / "chat.jsonl").write_text("\n".join(map(json.dumps, said)))
    told = recollect.do("ingest", "chat.jsonl", "--json").document
    assert told["messages"] == 2
    assert told["redacted"]
    assert "a1B2a1B2" not in recollect.do("export").out


def claude_export() -> str:
    chat = {
        "uuid": "c0ffee00-0000-4000-8000-000000000001",
        "name": "Boats",
        "created_at": "2025-05-01T10:00:00Z",
        "updated_at": "2025-05-01T10:00:00Z",
        "chat_messages": [
            {
                "uuid": "c0ffee00-0000-4000-8000-000000000002",
                "sender": "human",
                "text": "Our boat is called Nereid and lies in Marstal.",
                "created_at": "2025-05-01T10:00:00Z",
            }
        ],
    }
    return json.dumps([chat])


@pytest.mark.parametrize("command", ["ingest", "import"])
@pytest.mark.parametrize("packed", [False, True])
def test_an_export_from_elsewhere_is_recognised_packed_or_not(
    recollect: CommandLine, place: Path, command: str, packed: bool
):
    file = place / ("export.zip" if packed else "conversations.json")
    if packed:
        with zipfile.ZipFile(file, "w") as zipped:
            zipped.writestr("data/conversations.json", claude_export())
    else:
        file.write_text(claude_export())
    told = recollect.do(command, file, "--json").document
    assert (told["threads"], told["messages"]) == (1, 1)
    found = recollect.do("ask", "What is our boat called?", "--evidence", "--json")
    assert any("Nereid" in text for text in texts(found))


def test_import_still_takes_recollects_own(recollect: CommandLine, place: Path):
    recollect.remember("Kept.")
    recollect.do("export", "own.jsonl")
    assert recollect.do("import", "own.jsonl", "--tenant", "copy", "--json").document["tenant"] == "copy"


@pytest.mark.parametrize(
    ("name", "data", "word"),
    [
        ("x.json", b'{"a": 1}', "no export"),
        ("x.zip", b"nonsense", "not a zip"),
        ("x.txt", b"", "cannot be taken in"),
        ("x.txt", b"\xff\xfe\xfa", "cannot be taken in"),
        ("missing.txt", None, "no file"),
    ],
)
def test_what_cannot_be_taken_in_is_told_of(
    recollect: CommandLine, place: Path, name: str, data: bytes | None, word: str
):
    if data is not None:
        (place / name).write_bytes(data)
    refused = recollect("ingest", name)
    assert refused.code == 1
    assert word in refused.err


def test_a_server_that_runs_makes_the_memories(recollect: CommandLine, place: Path):
    (place / "note.txt").write_text("The lighthouse keeper of Skagen is called Holger Friis.\n")
    with serving(place, "--port", 0) as server:
        out = recollect.do("ingest", "note.txt").out
        assert "The server makes memories of it." in out
        assert server.client.health()["status"] == "ok"
