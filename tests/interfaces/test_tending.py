"""Looking after a store: is it well, and who does what is due."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect import Memory, settings, wiring
from recollect.domain.change import Append, Create, Derive, Note
from recollect.domain.ids import JobId, TenantId
from recollect.domain.item import Episode, Fact
from recollect.domain.job import Job
from recollect.domain.scope import Actor, Role
from recollect.errors import Invalid, Unreadable
from recollect.jobs.kinds import KINDS
from recollect.models.judge import LocalJudge
from recollect.models.keeper import LocalKeeper
from recollect.models.local import LocalEmbedder
from recollect.store.sql import SqlStore
from recollect.store.sqlite.engine import SqliteEngine
from tests.interfaces.conftest import CommandLine, Tamper, without_models
from tests.worlds import World


def verdicts(recollect: CommandLine, code: int = 0) -> dict[str, str]:
    answer = recollect("doctor", "--json")
    assert answer.code == code, answer.out
    assert answer.document["well"] == (code == 0)
    return {check["name"]: check["verdict"] for check in answer.document["checks"]}


def test_a_healthy_store_is_well(recollect: CommandLine):
    recollect.remember("Tea, not coffee.")
    recollect.do("init", "--tenant", "acme")
    found = verdicts(recollect)
    assert set(found.values()) == {"well"}
    assert set(found) == {
        "Python", "SQLite", "store", "schema", "models", "permissions", "writing", "disk", "engine",
        "journal of acme", "jobs of acme", "erasures of acme",
        "journal of default", "jobs of default", "erasures of default",
    }  # fmt: skip


def test_people_get_a_table_of_marks(recollect: CommandLine):
    lines = recollect.do("doctor").out.splitlines()
    assert all(line.startswith("✓  ") for line in lines[1:])
    assert any("journal of default" in line and "whole, 0 entries" in line for line in lines)


def test_the_models_that_run_here_are_named(recollect: CommandLine):
    [named] = [one for one in recollect.do("doctor", "--json").document["checks"] if one["name"] == "models"]
    assert named["found"].startswith(f"{LocalEmbedder.name}, {LocalKeeper.name}, {LocalJudge.name}")


def test_a_store_that_is_not_there_is_ill(bare: CommandLine):
    answer = bare("doctor")
    assert answer.code == 1
    assert "✗  store" in answer.out
    assert "store: Make one with: recollect init" in answer.out


def test_a_file_that_is_no_store_is_ill_and_left_alone(bare: CommandLine, store: Path):
    store.write_text("shopping list")
    assert verdicts(bare, code=1)["store"] == "ill"
    assert store.read_text() == "shopping list"


def test_a_newer_schema_is_ill(recollect: CommandLine, tamper: Tamper):
    tamper("pragma user_version = 99")
    answer = recollect("doctor")
    assert answer.code == 1
    assert "Install a newer Recollect." in answer.out
    refused = recollect("show")
    assert refused.code == 1
    assert "has schema 99" in refused.err


def test_a_tampered_journal_is_ill(recollect: CommandLine, tamper: Tamper):
    recollect.remember("Tea, not coffee.")
    tamper("update journal set actor = 'nobody' where seq = 2")
    answer = recollect("doctor")
    assert answer.code == 1
    assert "✗  journal of default" in answer.out
    assert "journal of default: See all: recollect verify --tenant default" in answer.out


def test_a_damaged_file_is_ill(recollect: CommandLine, store: Path, monkeypatch: pytest.MonkeyPatch):
    without_models(monkeypatch)
    for number in range(20):
        recollect.remember(f"Number {number}: " + "many words " * 50)
    content = bytearray(store.read_bytes())
    for start in range(len(content) // 2, len(content), 4096):
        content[start : start + 32] = b"\xff" * 32
    store.write_bytes(content)
    answer = recollect("doctor")
    assert answer.code == 1
    assert "✗" in answer.out
    assert "recollect restore BACKUP" in answer.out


@pytest.mark.parametrize("row", ["payload = '['", "not_before = 'soon'"])
def test_a_row_that_no_recollect_wrote_is_ill_and_ends_nothing(recollect: CommandLine, tamper: Tamper, row: str):
    recollect.remember("Mira is allergic to peanuts.")
    tamper(f"update jobs set {row}")
    answer = recollect("doctor")
    assert answer.code == 1
    assert "holds what no Recollect wrote" in answer.out
    assert "erasures of default" in answer.out


def test_files_that_others_can_read_need_watching(recollect: CommandLine, store: Path):
    store.chmod(0o644)
    answer = recollect.do("doctor")
    assert "!  permissions" in answer.out
    assert f"permissions: chmod 600 {store}" in answer.out
    store.chmod(0o600)
    assert verdicts(recollect)["permissions"] == "well"


def test_erased_things_that_are_back_are_ill(recollect: CommandLine, place: Path, store: Path):
    """Somebody copied an old backup over the store by hand."""
    item_id = recollect.remember("Gone soon.")
    recollect.do("backup", place / "backup.db")
    recollect.do("erase", item_id, "--yes")
    store.write_bytes((place / "backup.db").read_bytes())
    answer = recollect("doctor")
    assert answer.code == 1
    assert "2 things that were erased are here again" in answer.out
    assert "recollect show --tenant default" in answer.out
    assert recollect("show", item_id).code == 1
    assert verdicts(recollect)["erasures of default"] == "well"


def test_a_lost_list_of_erasures_needs_watching(recollect: CommandLine, place: Path):
    item_id = recollect.remember("Gone soon.")
    recollect.do("erase", item_id, "--yes")
    (place / "memory.db.erasures").unlink()
    assert verdicts(recollect)["erasures of default"] == "watch"


def test_a_broken_list_of_erasures_is_ill(recollect: CommandLine, place: Path):
    (place / "memory.db.erasures").write_text("{\n")
    assert verdicts(recollect, code=1)["erasures of default"] == "ill"


def test_the_doctor_is_for_moderators_and_admins(recollect: CommandLine):
    assert recollect("doctor", "--role", "member").code == 1
    recollect.do("doctor", "--role", "moderator")


# -- jobs ---------------------------------------------------------------------------------------------------


def enqueue(store: Path, kind: str, due: datetime) -> None:
    opened = SqlStore(SqliteEngine(store))
    opened.enqueue(TenantId("default"), [Job(id=JobId(f"job-{kind}"), kind=kind, key="once", not_before=due)])
    opened.close()


def stages(recollect: CommandLine, *options: str) -> dict[str, str]:
    return {job["kind"]: job["stage"] for job in recollect.do("jobs", *options, "--json").document["jobs"]}


def test_in_a_new_store_only_what_recurs_is_waiting(recollect: CommandLine):
    assert stages(recollect) == {name: "waiting" for name, kind in KINDS.items() if kind.every}
    assert recollect.do("jobs").out.splitlines()[0].split() == [
        "job", "key", "stage", "done", "due", "tries", "last", "error",
    ]  # fmt: skip


def test_nothing_waiting_says_so(recollect: CommandLine, tamper: Tamper):
    tamper("delete from jobs")
    assert recollect.do("jobs").out == "Nothing is waiting.\n"
    told = recollect.do("jobs", "--json").document
    assert (told["jobs"], told["pending"]["settled"]) == ([], True)


def test_jobs_are_listed_and_the_overdue_need_watching(recollect: CommandLine, store: Path):
    now = datetime.now(UTC)
    enqueue(store, "unheard-of", now - timedelta(hours=3))
    enqueue(store, "later", now + timedelta(days=30))
    listed = recollect.do("jobs", "--json").document["jobs"]
    assert (listed[0]["kind"], listed[0]["stage"]) == ("unheard-of", "due")
    assert (listed[-1]["kind"], listed[-1]["stage"]) == ("later", "waiting")
    assert set(listed[0]) == {
        "id", "kind", "key", "stage", "not_before", "every_s", "step", "attempts", "last_error",
    }  # fmt: skip
    assert "unheard-of" in recollect.do("jobs").out
    assert verdicts(recollect)["jobs of default"] == "watch"


def test_a_parked_job_is_ill(recollect: CommandLine, store: Path, tamper: Tamper):
    enqueue(store, "unheard-of", datetime.now(UTC))
    tamper("update jobs set failed_at = 1, last_error = 'it broke' where kind = 'unheard-of'")
    assert stages(recollect)["unheard-of"] == "parked"
    answer = recollect("doctor")
    assert answer.code == 1
    assert "1 parked, such as unheard-of: it broke" in answer.out


def test_a_worker_does_what_is_due_and_ends(recollect: CommandLine):
    item_id = recollect.remember("Gone soon.")
    recollect.do("erase", item_id, "--yes")
    assert stages(recollect)["scrub"] == "due"
    assert "did 1 step" in recollect.do("worker", "--once").out
    assert "scrub" not in stages(recollect)
    assert stages(recollect, "--all")["scrub"] == "done"


def test_a_worker_needs_a_store(bare: CommandLine):
    refused = bare("worker", "--once")
    assert refused.code == 1
    assert "there is no store at" in refused.err


def test_members_do_not_see_the_jobs(recollect: CommandLine):
    assert recollect("jobs", "--role", "member").code == 1


# -- what the doors stand on --------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", " ", "a\x00b", "half \udcff"])
def test_memory_refuses_bad_words_as_invalid(memory: Memory, text: str):
    for attempt in (
        lambda: memory.remember(text),
        lambda: memory.remember(text, key="k"),
        lambda: memory.remember("x", category=text),
        lambda: memory.remember("x", thread_id=text),
        lambda: memory.remember("x", key=text),
    ):
        with pytest.raises(Invalid):
            attempt()
    assert memory.head().rev == 0


def test_the_place_of_a_database_is_told_without_its_password(place: Path):
    chosen = settings.load({"store": "postgresql://mira:hunter2@db.example.com:5433/memory?sslmode=require"})
    assert wiring.place(chosen) == "postgresql://db.example.com:5433/memory"


# -- remaking -----------------------------------------------------------------------------------------------


def old_store(store: Path) -> None:
    """A thread, and a memory that earlier rules made of it."""
    opened = SqlStore(SqliteEngine(store))
    world = World(opened, TenantId("default"))
    episode = world.item(Episode(), category="episode", thread_id="chat", user_id="mira", actor_id="mira")
    event = world.event(episode, "I live in Graz and my sister Ines works in Lyon.", author="Mira", role="user")
    fact = world.item(Fact(scope="Mira", confidence=0.8), user_id="mira", role="user", thread_id="chat")
    version = world.version(fact, event, content="Ines lives in Graz.")
    world.apply(
        Create(episode), Append(event), Create(fact), Derive(version), actor=Actor(id="job:extract", role=Role.ADMIN)
    )
    opened.close()


def test_an_old_store_is_made_anew_and_taken_back(recollect: CommandLine, store: Path):
    old_store(store)
    dry = recollect.do("remake", "--dry-run", "--json").document
    assert (dry["messages"], dry["old_memories"]) == (1, 1)
    assert "1 memory" in recollect.do("remake", "--dry-run").out
    before = recollect.do("export", "--state").out
    told = recollect.do("remake", "--json").document
    assert (told["settled"], told["hidden"], told["failed"]) == (True, 1, "")
    assert told["created"] >= 1
    [served] = [one["words"] for one in recollect.do("show", "--kind", "fact", "--json").document["memories"]]
    assert "I live in Graz" in served
    recollect.do("rollback", "--session", told["cause"], "--yes")
    assert recollect.do("export", "--state").out == before


def test_a_second_remake_says_that_there_was_nothing_to_do(recollect: CommandLine, store: Path):
    old_store(store)
    assert "Undo this: recollect rollback --session" in recollect.do("remake").out
    again = recollect.do("remake").out
    assert "nothing was to be made anew" in again
    assert "Undo" not in again


def test_remaking_is_for_admins(recollect: CommandLine):
    assert recollect("remake", "--role", "moderator").code == 1


def disputed_store(store: Path) -> None:
    """Two memories that have nothing to do with each other, and a contradiction that an earlier judge found in them."""
    opened = SqlStore(SqliteEngine(store))
    world = World(opened, TenantId("default"))
    tea, plane = (world.tell(text, user_id="mira") for text in ("Mira drinks tea.", "Mira flew a plane over the lake."))
    record = world.contradiction(tea.item, plane.item)
    world.apply(Note(None, record), actor=Actor(id="job:judge", role=Role.ADMIN))
    opened.close()


def test_old_contradictions_are_judged_anew_and_taken_back(recollect: CommandLine, store: Path):
    disputed_store(store)
    assert recollect.do("rejudge", "--dry-run", "--json").document["contradictions"] == 1
    assert "1 contradiction would be judged anew" in recollect.do("rejudge", "--dry-run").out
    before = recollect.do("export", "--state").out
    told = recollect.do("rejudge", "--json").document
    assert (told["settled"], told["closed"], told["ended"], told["failed"]) == (True, 1, 0, "")
    assert recollect.do("export", "--state").out != before
    recollect.do("rollback", "--session", told["cause"], "--yes")
    assert recollect.do("export", "--state").out == before


def test_a_second_rejudging_says_that_all_of_them_stand(recollect: CommandLine, store: Path):
    disputed_store(store)
    assert "Undo this: recollect rollback --session" in recollect.do("rejudge").out
    assert "all of them stand" in recollect.do("rejudge").out


def test_rejudging_is_for_admins(recollect: CommandLine):
    assert recollect("rejudge", "--role", "moderator").code == 1


@pytest.mark.parametrize("body", ["{", "[7]", '{"is":"Nope"}', "7"])
@pytest.mark.parametrize("run", ["remake", "rejudge"])
def test_a_changed_journal_ends_no_run_in_a_traceback(
    recollect: CommandLine, store: Path, memory: Memory, tamper: Tamper, run: str, body: str
):
    old_store(store) if run == "remake" else disputed_store(store)
    told = recollect.do(run, "--json").document["cause"]
    recollect.do("rollback", "--session", told, "--yes")
    tamper("update journal_bodies set body = ?", body)
    with pytest.raises(Unreadable, match=r"entry \d+ of the journal is not as Recollect wrote it"):
        memory.remade(told) if run == "remake" else memory.rejudged(told)
    if run == "rejudge":
        refused = recollect(run, "--dry-run")
        assert refused.code == 1
        assert "recollect verify --deep" in refused.err
