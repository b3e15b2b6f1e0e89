"""The time machine at the command line."""

import pytest

from recollect import Memory
from recollect.domain.ids import short
from tests.interfaces.conftest import CommandLine


def words(recollect: CommandLine) -> set[str]:
    facts = recollect.do("show", "--kind", "fact", "--json").document["memories"]
    return {fact["words"] for fact in facts}


def test_a_rollback_shows_asks_and_does(recollect: CommandLine):
    item_id = recollect.remember("Tea, not coffee.")
    recollect.do("delete", item_id)
    entry = recollect.last_entry()
    declined = recollect("rollback", "--entry", entry, stdin="\n")
    assert declined.code == 1
    assert f"{entry}  {short(item_id)}  set back: state deleted → active" in declined.out
    assert "Roll this back? [y/N]" in declined.err
    assert "nothing was changed" in declined.err
    assert words(recollect) == set()
    done = recollect.do("rollback", "--entry", entry, stdin="y\n")
    assert "rolled back 1 entry; the tenant is at revision 3" in done.out
    assert words(recollect) == {"Tea, not coffee."}


def test_a_rollback_can_be_rolled_back(recollect: CommandLine):
    item_id = recollect.remember("Tea, not coffee.")
    recollect.do("delete", item_id)
    done = recollect.do("rollback", "--entry", recollect.last_entry(), "--yes", "--json").document
    assert words(recollect) == {"Tea, not coffee."}
    recollect.do("rollback", "--session", done["cause"], "--yes")
    assert words(recollect) == set()


def test_the_way_back_is_told(recollect: CommandLine):
    recollect.remember("Tea, not coffee.")
    done = recollect.do("rollback", "--to", 0, "--yes")
    *_, hint = done.out.splitlines()
    _, _, command = hint.partition("Undo this: recollect ")
    recollect.do(*command.split(), "--yes")
    assert words(recollect) == {"Tea, not coffee."}


def test_an_entry_that_others_built_on_is_refused_unless_they_go_too(recollect: CommandLine):
    item_id = recollect.remember("Tea, not coffee.")
    recollect.do("archive", item_id)
    created = 3
    refused = recollect("rollback", "--entry", created, "--yes")
    assert refused.code == 1
    assert "In the way: later entries that built on it: 4, 5" in refused.out
    assert "2 later entries built on this: 4, 5" in refused.err
    seen = recollect.do("rollback", "--entry", created, "--preview", "--json").document
    assert seen["blocked_by"] == [4, 5]
    assert seen["rev"] is None
    whole = recollect.do("rollback", "--entry", created, "--cascade", "--preview", "--json").document
    assert [undo["entry"] for undo in whole["undo"]] == [5, 4, 3]
    assert whole["blocked_by"] == []
    done = recollect.do("rollback", "--entry", created, "--cascade", "--yes", "--json").document
    assert (done["rev"], done["undo"]) == (3, whole["undo"])
    assert recollect("show", item_id).code == 1


def test_a_preview_changes_nothing(recollect: CommandLine):
    recollect.remember("Tea, not coffee.")
    before = recollect.do("export", "--state").out
    seen = recollect.do("rollback", "--to", 0, "--preview")
    assert "withdraw the memory" in seen.out
    assert "withdraw the event" in seen.out
    assert recollect.do("export", "--state").out == before
    assert recollect.do("init", "--json").document["rev"] == 1


def test_a_preview_does_not_tell_what_memories_say(recollect: CommandLine):
    item_id = recollect.remember("A secret.", "--tag", "secret-tag", "--agent", "robin", "--visibility", "agent-silo")
    recollect.do("delete", item_id, "--reason", "secret reason", "--agent", "robin")
    for options in ([], ["--json"]):
        assert "ecret" not in recollect.do("rollback", "--to", 0, "--preview", *options).out


def test_a_preview_names_fields_whose_values_it_does_not_tell(recollect: CommandLine, memory: Memory):
    item_id = memory.remember("Tea, not coffee.").item_id
    memory.revise(item_id, tags=("secret",), importance=5)
    seen = recollect.do("rollback", "--entry", recollect.last_entry(), "--preview")
    assert "set back: " in seen.out
    assert "tags" in seen.out
    assert "importance 5 → 3" in seen.out
    assert "secret" not in seen.out


def test_the_whole_tenant_goes_back_to_a_revision(recollect: CommandLine):
    item_id = recollect.remember("One.")
    before = recollect.do("export", "--state").out
    recollect.remember("Two.")
    recollect.do("delete", item_id)
    recollect.remember("Three.", "--project", "apollo")
    recollect.do("rollback", "--to", 1, "--yes")
    assert recollect.do("export", "--state").out == before


def test_a_part_of_it_goes_back_alone(recollect: CommandLine):
    recollect.remember("For Mira.")
    recollect.remember("For Ravi.", "--of", "ravi")
    recollect.remember("For Apollo.", "--project", "apollo")
    recollect.remember("In the kitchen.", "--thread", "kitchen")
    recollect.do("rollback", "--to", 0, "--user-scope", "ravi", "--yes")
    assert words(recollect) == {"For Mira.", "For Apollo.", "In the kitchen."}
    recollect.do("rollback", "--to", 0, "--project", "apollo", "--yes")
    assert words(recollect) == {"For Mira.", "In the kitchen."}
    recollect.do("rollback", "--to", 0, "--thread", "kitchen", "--yes")
    assert words(recollect) == {"For Mira."}


def test_one_memory_goes_back_to_a_revision(recollect: CommandLine):
    item_id = recollect.remember("Tea, not coffee.")
    recollect.do("archive", item_id)
    other = recollect.remember("Untouched.")
    recollect.do("delete", item_id)
    recollect.do("rollback", "--memory", short(item_id), "--to", 2, "--yes")
    assert recollect.do("show", item_id, "--json").document["memory"]["state"] == "archived"
    assert recollect.do("show", other, "--json").document["memory"]["state"] == "active"


def test_what_stays_is_shown_with_the_reason(recollect: CommandLine):
    item_id = recollect.remember("Gone for good.")
    recollect.remember("Kept.")
    recollect.do("erase", item_id, "--yes")
    seen = recollect.do("rollback", "--to", 0, "--preview")
    assert "This would stay:" in seen.out
    assert "the content is gone" in seen.out
    document = recollect.do("rollback", "--to", 0, "--preview", "--json").document
    assert "the content is gone" in {stay["why"] for stay in document["stays"]}


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--entry", "99"], "there is no entry 99 in the journal"),
        (["--session", "nothing"], "nothing in the journal has the cause nothing"),
        (["--to", "99"], "nothing happened there since revision 99"),
        (["--memory", "nothing", "--to", "0"], "there is no such memory"),
        (["--to", "0", "--thread", " "], "thread_id is blank"),
    ],
)
def test_there_must_be_something_to_take_back(recollect: CommandLine, args: list[str], said: str):
    recollect.remember("Tea, not coffee.")
    refused = recollect("rollback", *args, "--yes")
    assert refused.code == 1
    assert said in refused.err


def test_what_is_rolled_back_already_says_by_what(recollect: CommandLine):
    item_id = recollect.remember("Tea, not coffee.")
    recollect.do("delete", item_id)
    recollect.do("rollback", "--entry", 5, "--yes")
    refused = recollect("rollback", "--entry", 5, "--yes")
    assert refused.code == 1
    assert "entry 5 is rolled back already, by entry 6" in refused.err


def test_members_take_back_what_is_theirs_and_nothing_else(recollect: CommandLine):
    item_id = recollect.remember("Tea, not coffee.")
    recollect.do("delete", item_id)
    ravi = ["--user", "ravi", "--role", "member"]
    assert recollect("rollback", "--entry", 5, "--yes", *ravi).code == 1
    assert recollect("rollback", "--to", 0, "--yes", "--role", "member").code == 1
    done = recollect.do("rollback", "--entry", 5, "--yes", "--role", "member")
    assert "rolled back 1 entry" in done.out
    assert words(recollect) == {"Tea, not coffee."}


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["--yes"],
        ["--entry", "1", "--to", "0"],
        ["--entry", "1", "--session", "x"],
        ["--memory", "abc"],
        ["--memory", "abc", "--to", "1", "--thread", "x"],
        ["--entry", "1", "--project", "x"],
        ["--to", "-1"],
        ["--entry", "1", "--json"],
    ],
)
def test_one_thing_is_taken_back_at_a_time(recollect: CommandLine, args: list[str]):
    assert recollect("rollback", *args).code == 2
