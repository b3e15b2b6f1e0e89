"""Out of sight, back again, and gone for good."""

from pathlib import Path

import pytest

from recollect.domain.ids import short
from tests.interfaces.conftest import CommandLine


def state(recollect: CommandLine, item_id: str) -> str:
    return recollect.do("show", item_id, "--json").document["memory"]["state"]


def test_archived_and_deleted_memories_come_back(recollect: CommandLine):
    item_id = recollect.remember("Tea, not coffee.")
    assert f"Bring it back: recollect undelete {short(item_id)}" in recollect.do("archive", item_id).out
    assert state(recollect, item_id) == "archived"
    assert recollect.do("delete", short(item_id), "--json").document == {"id": item_id, "state": "deleted", "rev": 3}
    assert state(recollect, item_id) == "deleted"
    recollect.do("undelete", item_id)
    assert state(recollect, item_id) == "active"


def test_doing_it_twice_changes_nothing(recollect: CommandLine):
    item_id = recollect.remember("Tea, not coffee.")
    first = recollect.do("delete", item_id, "--json").document
    assert recollect.do("delete", item_id, "--json").document == first


def test_a_reason_that_no_store_can_hold_is_refused(recollect: CommandLine):
    item_id = recollect.remember("Tea, not coffee.")
    for command in ("archive", "delete"):
        refused = recollect(command, item_id, "--reason", "half \udcff")
        assert refused.code == 1
        assert "half of a surrogate pair" in refused.err
    assert state(recollect, item_id) == "active"


def test_others_do_not_delete_what_is_yours(recollect: CommandLine):
    item_id = recollect.remember("Tea, not coffee.")
    assert recollect("delete", item_id, "--user", "ravi", "--role", "member").code == 1
    assert state(recollect, item_id) == "active"


# -- erasing ------------------------------------------------------------------------------------------------


def test_erasing_shows_what_would_go_and_asks(recollect: CommandLine, store: Path):
    item_id = recollect.remember("The unmistakable word is xylophonist.")
    declined = recollect("erase", item_id, stdin="n\n")
    assert declined.code == 1
    assert "This would be gone for good: 1 memory, 1 version, 1 event" in declined.out
    assert "Erase it? [y/N]" in declined.err
    assert "nothing was erased" in declined.err
    assert state(recollect, item_id) == "active"
    done = recollect.do("erase", item_id, stdin="y\n")
    assert "erased 1 memory, 1 version, 1 event" in done.out
    assert b"xylophonist" not in store.read_bytes()
    assert recollect.do("verify", "--json").document["whole"]


def test_nobody_there_to_answer_is_a_no(recollect: CommandLine):
    item_id = recollect.remember("Tea, not coffee.")
    assert recollect("erase", item_id).code == 1
    assert state(recollect, item_id) == "active"


def test_a_preview_erases_nothing(recollect: CommandLine):
    item_id = recollect.remember("Tea, not coffee.")
    seen = recollect.do("erase", item_id, "--preview", "--json").document
    assert set(seen) == {"erased", "memories", "versions", "events", "checkpoints", "proposals"}
    assert (seen["erased"], seen["memories"], len(seen["events"])) == (False, [item_id], 1)
    assert state(recollect, item_id) == "active"
    gone = recollect.do("erase", item_id, "--yes", "--json").document
    assert gone == {**seen, "erased": True}


def test_evidence_can_be_kept(recollect: CommandLine):
    item_id = recollect.remember("Tea, not coffee.", "--thread", "kitchen")
    gone = recollect.do("erase", item_id, "--keep-evidence", "--yes", "--json").document
    assert gone["events"] == []
    [thread] = recollect.do("show", "--kind", "episode", "--json").document["memories"]
    [event] = recollect.do("show", thread["id"], "--json").document["evidence"]
    assert event["text"] == "Tea, not coffee."


def test_everything_of_one_person_can_be_erased(recollect: CommandLine):
    kept = recollect.remember("For Mira.")
    for text in ("Ravi plays chess on Sundays.", "The blue bicycle is kept in the shed."):
        recollect.remember(text, "--of", "ravi")
    declined = recollect("erase", "--all-of", "ravi", stdin="no\n")
    assert declined.code == 1
    assert "3 memories, 2 versions, 2 events" in declined.out
    recollect.do("erase", "--all-of", "ravi", "--yes")
    left = recollect.do("show", "--state", "all", "--kind", "fact", "--json").document["memories"]
    assert [one["id"] for one in left] == [kept]
    nothing = recollect("erase", "--all-of", "ravi", "--yes")
    assert nothing.code == 1
    assert "nothing is kept for the user ravi" in nothing.err


def test_only_admins_and_the_person_concerned_erase(recollect: CommandLine):
    recollect.remember("For Mira.")
    assert recollect("erase", "--all-of", "mira", "--yes", "--user", "ravi", "--role", "moderator").code == 1
    recollect.do("erase", "--all-of", "mira", "--yes", "--role", "member")


@pytest.mark.parametrize(
    "args",
    [
        ["erase"],
        ["erase", "abc", "--all-of", "mira"],
        ["erase", "--all-of", "mira", "--keep-evidence"],
        ["erase", "abc", "--json"],
    ],
)
def test_contradictory_wishes_are_not_understood(recollect: CommandLine, args: list[str]):
    assert recollect(*args).code == 2
