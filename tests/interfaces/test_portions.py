"""Long answers at every door: pages with `next`, each event once, and a long thread closed by a job."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from recollect.care import ladder
from recollect.domain.ids import ItemId
from recollect.domain.portion import every
from recollect.interfaces import mcp
from recollect.read import receipts
from recollect.write.message import Message
from tests.interfaces.conftest import CommandLine
from tests.interfaces.inside import Inside, inside

TURNS = 25


@pytest.fixture
def server(where: str, tmp_path: Path) -> Iterator[Inside]:
    with inside(tmp_path, where) as running:
        yield running


@pytest.fixture
def thread(server: Inside) -> ItemId:
    said = [Message(text=f"We decided to replace plank {n} of the boathouse.", author="mira") for n in range(TURNS)]
    return server.memory.append(said, thread_id="planks").episode_id


def test_clients_page_through_evidence_history_and_versions(server: Inside, thread: ItemId):
    client = server.client
    events = list(every(lambda after: client.evidence(thread, after=after, limit=7)))
    assert [event.seq for event in events] == list(range(1, TURNS + 1))
    assert events == list(client.evidence(thread))
    some = list(every(lambda after: client.evidence(thread, "s:3-9,s:5-12,s:3-9", after=after, limit=4)))
    assert [event.seq for event in some] == list(range(3, 13))
    entries = list(every(lambda after: client.history(thread, after=after or 0, limit=4)))
    assert entries == list(client.history(thread))
    assert len(entries) == TURNS + 1
    client.close_episode(thread)
    versions = list(every(lambda before: client.versions(thread, before=before, limit=2)))
    assert versions == list(client.versions(thread))
    assert len(versions) == 5


def test_a_list_of_witnesses_that_repeats_itself_is_no_longer_an_answer(server: Inside, thread: ItemId):
    once = server.ask("GET", f"/api/memory/{thread}/evidence?witness=s:1-9")
    often = server.ask("GET", f"/api/memory/{thread}/evidence?witness={','.join(['s:1-9'] * 60)}")
    assert often.body == once.body
    for witness in (",".join(["s:1-9"] * 201), "s:1-9," * 2000):
        assert server.ask("GET", f"/api/memory/{thread}/evidence?witness={quote(witness)}").status == 422
    for asked in ("after=nowhere", "limit=0", "limit=1001"):
        assert server.ask("GET", f"/api/memory/{thread}/evidence?{asked}").status == 422


def test_a_page_ends_before_it_is_too_long(server: Inside, thread: ItemId, monkeypatch: pytest.MonkeyPatch):
    whole = server.ask("GET", f"/api/memory/{thread}/evidence").document["events"]
    monkeypatch.setattr(receipts, "ROOM", 120)
    answer = server.ask("GET", f"/api/memory/{thread}/evidence").document
    assert 1 <= len(answer["events"]) <= 3
    assert answer["next"] == f"{thread}:{len(answer['events'])}"
    paged = every(lambda after: server.client.evidence(thread, after=after))
    assert [event.id for event in paged] == [event["id"] for event in whole]


def test_a_tool_shows_as_much_as_an_agent_reads_and_says_how_to_go_on(
    server: Inside, thread: ItemId, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(mcp, "MOST", 200)
    shown = [mcp._within(server.client.evidence(thread))]
    while shown[-1].next:
        shown.append(mcp._within(server.client.evidence(thread, after=shown[-1].next)))
    assert len(shown) > 5
    assert [event.seq for page in shown for event in page] == list(range(1, TURNS + 1))


def test_a_long_thread_is_closed_by_a_job(server: Inside, thread: ItemId, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ladder, "LONG", 5)
    monkeypatch.setattr(ladder, "AT_ONCE", 2)
    first = server.ask("POST", f"/api/memory/{thread}/close")
    assert first.status == 202
    assert first.document["strokes"] == []
    job = first.document["job"]
    assert job == first.document["cause"]
    assert server.ask("POST", f"/api/memory/{thread}/close").document["job"] == job
    server.worker.run_until_idle()
    done = server.ask("POST", f"/api/memory/{thread}/close")
    assert (done.status, done.document["job"]) == (200, None)
    assert {one["level"] for one in server.client.versions(thread)} == {"R1", "R2", "R3", "R4", "R5"}


def test_the_command_line_pages_too(recollect: CommandLine):
    for text in ("The kettle is blue.", "The kettle is old.", "The kettle is loud."):
        id = recollect.remember(text, "--thread", "kettle")
    thread = recollect.do("evidence", id, "--json").document["events"][0]["thread"]
    page = recollect.do("evidence", thread, "--limit", 2, "--json").document
    assert [event["seq"] for event in page["events"]] == [1, 2]
    rest = recollect.do("evidence", thread, "--after", page["next"], "--json").document
    assert [event["seq"] for event in rest["events"]] == [3]
    assert rest["next"] is None
    assert page["next"] in recollect.do("evidence", thread, "--limit", 2).out.replace("\n", "")
    story = recollect.do("history", thread, "--limit", 2, "--json").document
    assert len(story["entries"]) == 2
    later = recollect.do("history", thread, "--after", story["next"], "--json").document
    assert later["entries"][0]["seq"] > story["entries"][-1]["seq"]
