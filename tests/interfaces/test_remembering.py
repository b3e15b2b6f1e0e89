"""Making a store, and keeping what is to be remembered."""

import stat
from pathlib import Path

import pytest

from tests.interfaces.conftest import CommandLine


def test_init_makes_the_store_and_says_where(bare: CommandLine, store: Path):
    answer = bare.do("init")
    assert str(store) in answer.out
    assert "tenant default" in answer.out
    assert stat.S_IMODE(store.stat().st_mode) == 0o600


def test_init_again_changes_nothing(recollect: CommandLine):
    recollect.remember("Tea, not coffee.")
    assert recollect.do("init", "--json").document["rev"] == 1
    assert recollect.do("init", "--json").document["rev"] == 1


def test_init_makes_a_tenant_of_its_own(recollect: CommandLine, store: Path):
    recollect.remember("For the default tenant.")
    made = recollect.do("init", "--tenant", "acme", "--json").document
    assert made == {"store": str(store), "tenant": "acme", "rev": 0}
    assert recollect.do("--tenant", "acme", "show", "--json").document == {"memories": []}


def test_where_and_who_go_before_the_command_or_after_it(recollect: CommandLine, place: Path):
    recollect.do("--store", place / "other.db", "init", "--tenant", "acme")
    recollect.do("--tenant", "acme", "remember", "Said here.", "--store", place / "other.db")
    before = recollect.do("--store", place / "other.db", "--tenant", "acme", "show", "--json")
    after = recollect.do("show", "--json", "--tenant", "acme", "--store", place / "other.db")
    assert before.out == after.out
    assert "Said here." in before.out


def test_what_stands_after_the_command_counts_more(recollect: CommandLine):
    recollect.do("init", "--tenant", "acme")
    assert recollect.do("--tenant", "default", "init", "--tenant", "acme", "--json").document["tenant"] == "acme"


def test_the_environment_names_the_store_too(recollect: CommandLine, place: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("RECOLLECT_STORE", str(place / "elsewhere.db"))
    recollect.do("init")
    assert (place / "elsewhere.db").exists()


def test_so_does_the_settings_file(bare: CommandLine, place: Path):
    (place / "recollect.toml").write_text('tenant = "from-the-file"\n')
    assert bare.do("init", "--json").document["tenant"] == "from-the-file"


def test_a_broken_settings_file_is_named(bare: CommandLine, place: Path):
    (place / "recollect.toml").write_text("tenant = \n")
    answer = bare("init")
    assert answer.code == 1
    assert "recollect.toml is not valid TOML" in answer.err


def test_remember_keeps_the_words_and_gives_the_id(recollect: CommandLine):
    kept = recollect.do(
        "remember", "Mira is allergic to peanuts.", "--category", "health", "--importance", 5,
        "--tag", "food", "--tag", "allergy", "--thread", "kitchen", "--json",
    ).document  # fmt: skip
    assert set(kept) == {"id", "short", "event", "rev", "outcome", "redacted"}
    assert kept["short"] == kept["id"][-8:]
    shown = recollect.do("show", kept["short"], "--json").document["memory"]
    assert shown["words"] == "Mira is allergic to peanuts."
    assert (shown["category"], shown["importance"], shown["tags"]) == ("health", 5, ["food", "allergy"])
    assert (shown["user_id"], shown["visibility"], shown["thread_id"]) == ("mira", "user-private", "kitchen")


def test_remember_tells_people_where_the_receipt_is(recollect: CommandLine):
    answer = recollect.do("remember", "Tea, not coffee.")
    short = recollect.do("show", "--kind", "fact", "--json").document["memories"][0]["short"]
    assert answer.out.splitlines()[1].strip() == f"Its receipt: recollect show {short}"


def test_what_is_for_a_project_is_shared_with_it(recollect: CommandLine):
    short = recollect.remember("The train leaves on Thursdays.", "--project", "apollo")
    shown = recollect.do("show", short, "--json").document["memory"]
    assert (shown["visibility"], shown["project_id"]) == ("project-shared", "apollo")


def test_something_can_be_kept_for_somebody_else(recollect: CommandLine):
    item_id = recollect.remember("Ravi owns the train.", "--of", "ravi")
    assert recollect.do("show", item_id, "--json").document["memory"]["user_id"] == "ravi"
    assert recollect("--user", "ravi", "--role", "member", "show", item_id).code == 0
    assert recollect("--user", "ada", "--role", "member", "show", item_id).code == 1


def test_an_agent_keeps_its_silo_to_itself(recollect: CommandLine):
    item_id = recollect.remember("A thought.", "--agent", "robin", "--visibility", "agent-silo")
    assert recollect("--agent", "robin", "show", item_id).code == 0
    refused = recollect("show", item_id)
    assert refused.code == 1
    assert "there is no such memory" in refused.err


def test_a_dash_reads_standard_input_word_for_word(recollect: CommandLine):
    recollect.do("remember", "-", stdin="Two lines,\n  one indented with ünïcode 🫖.\n")
    [fact] = recollect.do("show", "--kind", "fact", "--json").document["memories"]
    assert fact["words"] == "Two lines,\n  one indented with ünïcode 🫖."


def test_a_key_makes_a_repeat_harmless(recollect: CommandLine):
    first = recollect.remember("Once.", "--key", "a")
    assert recollect.remember("Once.", "--key", "a") == first
    assert recollect.do("init", "--json").document["rev"] == 1
    other = recollect("remember", "Something else.", "--key", "a")
    assert other.code == 1
    assert "was used for another request" in other.err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["remember", ""], "the text is blank: there is nothing to remember"),
        (["remember", "  \n "], "the text is blank"),
        (["remember", "x", "--importance", "9"], "importance 9: give a whole number from 1 to 5"),
        (["remember", "x", "--importance", "0"], "importance 0"),
        (["remember", "x", "--tag", ""], "is blank"),
        (["remember", "x", "--category", " "], "the category is blank"),
        (["remember", "x", "--thread", ""], "thread_id is blank"),
        (["remember", "x", "--key", "k" * 2000], "key"),
        (["remember", "x", "--visibility", "project-shared"], "a project-shared memory needs a project_id"),
        (["remember", "x" * 1_000_001], "at most"),
        (["remember", "half \udcff"], "half of a surrogate pair"),
        (["remember", "x", "--agent", "robin"], "a user-private memory needs a user_id"),
        (["show", "nothing"], "there is no such memory"),
        (["show", ""], "the id is blank"),
        (["show", "\udcff"], "half of a surrogate pair"),
        (["show", "x" * 100], "the id has 100 characters"),
        (["show", "--limit", "0"], "limit 0: give a number from 1 to 1000"),
        (["--tenant", "No Such", "show"], "the setting tenant cannot be 'No Such'"),
        (["--tenant", "nobody", "show"], "there is no tenant 'nobody' in this store"),
        (["--role", "agent", "show"], "needs an agent_id"),
        (["--user", " ", "show"], "the principal is blank"),
    ],
)
def test_what_cannot_be_used_is_refused_in_two_lines_at_most(recollect: CommandLine, args: list[str], said: str):
    answer = recollect(*args)
    assert answer.code == 1
    assert said in answer.err
    assert answer.out == ""
    assert len(answer.err.splitlines()) <= 2
    assert recollect.do("show", "--state", "all", "--json").document == {"memories": []}


def test_nul_characters_and_broken_utf8_are_refused(recollect: CommandLine):
    assert "holds a NUL character at position 1" in recollect("remember", "-", stdin=b"a\x00b").err
    assert (
        "standard input is not UTF-8: invalid start byte at byte 1" in recollect("remember", "-", stdin=b"a\xffb").err
    )


@pytest.mark.parametrize(
    "args",
    [
        ["nonsense"],
        ["remember"],
        ["remember", "x", "--importance", "much"],
        ["remember", "x", "--visibility", "everywhere"],
        ["show", "--state", "gone"],
        ["--role", "king", "show"],
        ["show", "--no-such-option"],
        ["--tenant"],
    ],
)
def test_what_is_not_understood_exits_with_2(recollect: CommandLine, args: list[str]):
    answer = recollect(*args)
    assert answer.code == 2
    assert "Error: " in answer.err


def test_a_change_is_known_to_the_next_command_where_no_server_runs(recollect: CommandLine):
    recollect.remember("Our standup is at 9:30.")
    recollect.remember("Scrap 9:30, the standup is at 10:15 from now on.")
    new, over = recollect.do("ask", "When is our standup?", "--json").document["results"]
    assert "10:15" in new["text"]
    assert ", until later that day: " in over["text"]
