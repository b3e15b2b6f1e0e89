"""Whole tenants and whole stores: proved, taken out, brought in, copied and brought back."""

import json
import stat
from pathlib import Path

import apsw
import pytest

from recollect import open_memory
from recollect.domain.ids import short
from recollect.domain.record import Retention, Rules
from recollect.interfaces.cli import moving
from tests.interfaces.conftest import CommandLine, Tamper


@pytest.fixture
def filled(recollect: CommandLine) -> CommandLine:
    """A store where something happened."""
    recollect.remember("Mira is allergic to peanuts.", "--importance", 5)
    archived = recollect.remember("The train leaves on Thursdays.", "--project", "apollo", "--tag", "release")
    recollect.do("archive", archived)
    recollect.remember("Ravi owns the train.", "--of", "ravi")
    return recollect


# -- verify -------------------------------------------------------------------------------------------------


def test_a_whole_journal_is_called_whole(filled: CommandLine):
    answer = filled.do("verify")
    assert "the journal is whole: 13 entries, revision 4" in answer.out
    found = filled.do("verify", "--json").document
    assert set(found) == {"whole", "entries", "head", "findings"}
    assert (found["whole"], found["entries"], found["findings"]) == (True, 13, [])
    assert set(found["head"]) == {"chain_id", "rev", "seq", "hash"}


@pytest.mark.parametrize(
    ("sql", "entry", "what"),
    [
        ("update journal set actor = 'nobody' where seq = 3", 3, "the header was changed"),
        (
            "update journal_bodies set body = replace(body, 'peanuts', 'almonds') where seq = 3",
            3,
            "the body was changed",
        ),
        ("delete from journal where seq = 5", 6, "entry 5 is missing"),
        ("delete from journal_bodies where seq = 4", 4, "the body is missing and no erasure accounts for it"),
    ],
)
def test_tampering_is_found_in_its_place(filled: CommandLine, tamper: Tamper, sql: str, entry: int, what: str):
    tamper(sql)
    answer = filled("verify")
    assert answer.code == 1
    assert "the journal is not whole" in answer.err
    assert any(line.split(None, 1) == [str(entry), what] for line in answer.out.splitlines())
    found = filled("verify", "--json")
    assert found.code == 1
    assert not found.document["whole"]
    assert {"seq": entry, "what": what} in found.document["findings"]


ATTACKS = {
    "a witness points at another event": (
        "update witnesses set event_id = (select max(e.id) from events e where e.id <> witnesses.event_id) "
        "where version_id = (select min(version_id) from witnesses)",
        "witnesses ",
    ),
    "rules say purge": (
        "update records set body = replace(body, 'keep', 'purge') where family = 'rules'",
        "records rules",
    ),
    "rules are gone": ("delete from records", "records rules"),
    "the journal's index is gone": ("delete from journal_refs", "journal_refs does not say"),
    "an actor of no role": ("update journal set actor_role = 'adminx' where seq = 3", "the entry cannot be read"),
    "a head that is no number": ("update tenants set seq = 'many'", "tenants default cannot be read"),
    "an event of no time": ("update events set ts = 9223372036854775807", "events "),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_somebody_did_past_recollect_is_told_by_the_command(
    filled: CommandLine, tamper: Tamper, store: Path, attack: str
):
    with open_memory(store, user="mira") as memory:
        memory.set_rules(Rules(retention=Retention.KEEP))
    assert filled.do("verify", "--deep", "--json").document["whole"]
    sql, what = ATTACKS[attack]
    tamper(sql)
    found = filled("verify", "--deep", "--json")
    assert found.code == 1, found.err
    assert not found.document["whole"]
    assert any(finding["what"].startswith(what) for finding in found.document["findings"]), found.document["findings"]
    shown = filled("verify", "--deep")
    assert (shown.code, "Traceback" in shown.err) == (1, False)


def test_a_journal_that_was_cut_shows_against_an_exported_head(filled: CommandLine, place: Path, store: Path):
    copy = place / "early.db"
    filled.do("backup", copy)
    filled.remember("Said later.")
    written = filled.do("verify", "--export-head", place / "head.json")
    assert "wrote the signed head" in written.out
    assert stat.S_IMODE((place / "head.json").stat().st_mode) == 0o600
    assert "it still holds the head in" in filled.do("verify", "--head", place / "head.json").out
    stranger = filled("verify", "--head", place / "head.json", "--store", copy)
    assert stranger.code == 1
    assert "signed with a key that is not this store's" in stranger.err
    key = json.loads((place / "head.json").read_text())["public_key"]
    earlier = filled("verify", "--head", place / "head.json", "--trust", key, "--store", copy)
    assert earlier.code == 1
    assert "it was cut" in earlier.out
    assert filled.do("verify", "--store", copy).code == 0


def test_a_row_that_was_changed_past_the_journal_shows_when_looked_at_deeply(filled: CommandLine, tamper: Tamper):
    assert filled.do("verify", "--deep", "--json").document["whole"]
    tamper("update items set importance = 1 where importance = 5")
    assert filled.do("verify", "--json").document["whole"]
    found = filled("verify", "--deep", "--json")
    assert found.code == 1
    assert found.document["findings"]


def test_a_forged_head_is_refused(filled: CommandLine, place: Path):
    head = place / "head.json"
    filled.do("verify", "--export-head", head)
    forged = json.loads(head.read_text()) | {"seq": 3}
    head.write_text(json.dumps(forged))
    refused = filled("verify", "--head", head)
    assert refused.code == 1
    assert "signature is not valid" in refused.err


@pytest.mark.parametrize("content", [b"{}", b"nothing", b"[1]", b"\xff\xfe", b"", b"[" * 100_000])
def test_what_is_no_head_is_refused(filled: CommandLine, place: Path, content: bytes):
    (place / "head.json").write_bytes(content)
    refused = filled("verify", "--head", place / "head.json")
    assert refused.code == 1
    assert "is not an exported head" in refused.err


@pytest.mark.parametrize("content", ["", "no key", "00ff", "x" * 64])
def test_a_key_that_is_none_is_said_to_be_none(filled: CommandLine, place: Path, content: str):
    filled.do("verify", "--export-head", place / "head.json")
    [key] = place.rglob("*key*")
    key.write_text(content)
    for asked in (["--head", place / "head.json"], ["--export-head", place / "again.json"]):
        refused = filled("verify", *asked)
        assert refused.code == 1
        assert "cannot be read, or is none" in refused.err


def test_no_head_is_exported_of_a_broken_journal(filled: CommandLine, tamper: Tamper, place: Path):
    tamper("update journal set actor = 'nobody' where seq = 3")
    assert filled("verify", "--export-head", place / "head.json").code == 1
    assert list(place.glob("head*")) == []


def test_members_do_not_verify(filled: CommandLine):
    assert filled("verify", "--role", "member").code == 1


# -- export and import --------------------------------------------------------------------------------------


def test_an_export_builds_an_equal_tenant(filled: CommandLine, place: Path):
    said = filled.do("export", place / "all.jsonl").out
    assert f"to {place / 'all.jsonl'}" in said
    assert stat.S_IMODE((place / "all.jsonl").stat().st_mode) == 0o600
    made = filled.do("import", place / "all.jsonl", "--tenant", "copy", "--json").document
    assert made == {"tenant": "copy", "rev": 4, "entries": 13, "erased": 0}
    assert filled.do("export", "--state", "--tenant", "copy").out == filled.do("export", "--state").out
    assert rows(filled.do("export", "--tenant", "copy").out) == rows(filled.do("export").out)
    assert filled.do("verify", "--tenant", "copy", "--json").document["whole"]


def test_an_export_goes_through_pipes_into_another_store(filled: CommandLine, place: Path):
    everything = filled.do("export", "-").out
    filled.do("import", "-", "--store", place / "other.db", stdin=everything)
    assert rows(filled.do("export", "--store", place / "other.db").out) == rows(everything)


def rows(export: str) -> list[str]:
    """The rows of an export, without the job that every import leaves behind, and without their count."""
    return [line for line in export.splitlines() if '"erase_again"' not in line][:-1]


def test_the_export_of_one_person_has_what_is_theirs(filled: CommandLine):
    lines = filled.do("export", "--of", "ravi").out.splitlines()
    assert "Ravi owns the train." in lines[1] + lines[0]
    assert not any("peanuts" in line or "Thursdays" in line for line in lines)
    assert sum('"entry"' in line for line in lines) == 4
    own = filled.do("export", "--of", "ravi", "--user", "ravi", "--role", "member")
    assert own.out.splitlines() == lines
    assert filled("export", "--of", "ravi", "--user", "ada", "--role", "member").code == 1


def test_an_import_never_touches_a_tenant_that_is_there(filled: CommandLine, place: Path):
    filled.do("export", place / "all.jsonl")
    before = filled.do("export").out
    refused = filled("import", place / "all.jsonl")
    assert refused.code == 1
    assert "the tenant 'default' is not empty" in refused.err
    assert filled.do("export").out == before


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda lines: lines[:-1], "cut short"),
        (lambda lines: lines[:5], "cut short"),
        (lambda lines: [*lines[:5], *lines[6:]], "rows and says"),
        (lambda lines: lines[1:], "not a Recollect export"),
        (lambda lines: [*lines[:5], "{", *lines[6:]], "line 6 of the export is not JSON"),
        (lambda lines: [], "cut short"),
        (lambda lines: ['{"recollect":"export","format":99}', *lines[1:]], "has format 99"),
        (lambda lines: [line.replace("peanuts", "walnuts") for line in lines], "not what its own journal tells"),
        (lambda lines: [line.replace('"importance":5', '"importance":1') for line in lines], "its own journal"),
        (lambda lines: [lines[0], *lines[-2:0:-1], lines[-1]], "not what its own journal tells"),
        (lambda lines: [*lines[:5], "[" * 100_000, *lines[5:]], "not one that Recollect wrote"),
        (lambda lines: [line.replace('"text":"', '"txt":"') for line in lines], "not one that Recollect wrote"),
        (lambda lines: [line.replace('"created_at":"', '"created_at":"_') for line in lines], "Recollect wrote"),
    ],
)
def test_a_spoilt_export_brings_nothing_in(filled: CommandLine, spoil, said: str):  # type: ignore[no-untyped-def]
    lines = filled.do("export").out.splitlines()
    refused = filled("import", "-", "--tenant", "copy", stdin="\n".join(spoil(lines)))
    assert refused.code == 1
    assert said in refused.err
    assert "there is no tenant 'copy'" in filled("show", "--tenant", "copy").err


def test_what_is_no_text_is_no_export(filled: CommandLine, place: Path, store: Path):
    refused = filled("import", store, "--tenant", "copy")
    assert refused.code == 1
    assert "not UTF-8" in refused.err or "not JSON" in refused.err


def test_a_line_without_end_is_not_read_to_its_end(filled: CommandLine, place: Path, monkeypatch: pytest.MonkeyPatch):
    longest = max(len(line.encode()) for line in filled.do("export").out.splitlines(keepends=True))
    exported = place / "tenant.jsonl"
    filled.do("export", exported)
    monkeypatch.setattr(moving, "_LONGEST", longest)
    filled.do("import", exported, "--tenant", "copy")
    monkeypatch.setattr(moving, "_LONGEST", longest - 1)
    refused = filled("import", exported, "--tenant", "another")
    assert refused.code == 1
    assert "is longer than" in refused.err
    assert "there is no tenant 'another'" in filled("show", "--tenant", "another").err


def test_what_was_erased_since_an_export_stays_erased(filled: CommandLine, place: Path):
    item_id = filled.remember("The unmistakable word is xylophonist.")
    filled.do("export", place / "all.jsonl")
    filled.do("erase", item_id, "--yes")
    made = filled.do("import", place / "all.jsonl", "--tenant", "copy", "--json").document
    assert made["erased"] == 3
    assert "xylophonist" not in filled.do("export", "--tenant", "copy").out
    assert filled.do("verify", "--tenant", "copy", "--json").document["whole"]


def test_files_that_are_there_are_not_written_over(filled: CommandLine, place: Path, store: Path):
    (place / "mine.txt").write_text("mine")
    for command in (["export"], ["backup"], ["verify", "--export-head"]):
        for file in (place / "mine.txt", store):
            refused = filled(*command, file)
            assert refused.code == 1
            assert "is there already" in refused.err
    assert (place / "mine.txt").read_text() == "mine"
    assert filled.do("verify").code == 0


def test_a_place_that_cannot_be_written_is_named(filled: CommandLine, place: Path):
    for command in (["export"], ["backup"], ["verify", "--export-head"]):
        refused = filled(*command, place / "nowhere" / "file")
        assert refused.code == 1
        assert str(place / "nowhere") in refused.err
        assert len(refused.err.splitlines()) == 2


def test_an_export_that_fails_leaves_nothing_behind(filled: CommandLine, tamper: Tamper, place: Path):
    tamper("update items set body = 'no json' where kind = 'fact'")
    refused = filled("export", place / "all.jsonl")
    assert refused.code == 1
    assert "a row of items is not one that Recollect wrote" in refused.err
    assert list(place.glob("all*")) == []


@pytest.mark.parametrize(
    "args", [["export", "--state", "--of", "mira"], ["verify", "--trust", "key"], ["import"], ["backup"], ["restore"]]
)
def test_contradictory_wishes_are_not_understood(recollect: CommandLine, args: list[str]):
    assert recollect(*args).code == 2


# -- backup and restore -------------------------------------------------------------------------------------


def test_a_backup_becomes_the_store_where_there_is_none(filled: CommandLine, place: Path, store: Path):
    filled.do("init", "--tenant", "acme")
    kept = filled.do("backup", place / "backup.db", "--json").document
    assert kept == {"file": str(place / "backup.db"), "bytes": (place / "backup.db").stat().st_size}
    assert stat.S_IMODE((place / "backup.db").stat().st_mode) == 0o600
    everything = filled.do("export").out
    store.rename(place / "lost.db")
    done = filled.do("restore", place / "backup.db", "--json").document
    assert done == {"store": str(store), "tenants": ["acme", "default"], "entries": 13, "erased": 0, "aside": None}
    assert filled.do("export").out == everything
    assert stat.S_IMODE(store.stat().st_mode) == 0o600


def test_a_backup_can_be_looked_into_like_any_store(filled: CommandLine, place: Path):
    filled.do("backup", place / "backup.db")
    assert filled.do("export", "--store", place / "backup.db").out == filled.do("export").out


def test_a_store_that_is_there_is_set_aside_and_only_when_told(filled: CommandLine, place: Path, store: Path):
    filled.do("backup", place / "backup.db")
    early = filled.do("export").out
    filled.remember("Said later.")
    late = filled.do("export").out
    refused = filled("restore", place / "backup.db")
    assert refused.code == 1
    assert "there is a store at" in refused.err
    assert "--replace" in refused.err
    assert filled.do("export").out == late
    done = filled.do("restore", place / "backup.db", "--replace")
    assert filled.do("export").out == early
    [aside] = place.glob("memory.db.replaced-*")
    assert f"The store that was there is now {aside}" in done.out
    assert filled.do("export", "--store", aside).out == late
    filled.do("restore", aside, "--replace")
    assert filled.do("export").out == late


def test_what_is_still_in_the_log_of_the_old_store_is_set_aside_with_it(filled: CommandLine, place: Path, store: Path):
    """A process that was killed leaves its last writes in the log."""
    filled.do("backup", place / "backup.db")
    with open_memory(store, user="mira") as opened:
        opened.remember("Only in the log.")
        log = store.with_name("memory.db-wal").read_bytes()
        file = store.read_bytes()
    store.write_bytes(file)
    store.with_name("memory.db-wal").write_bytes(log)
    filled.do("restore", place / "backup.db", "--replace")
    assert "Only in the log." not in filled.do("export").out
    [aside] = [path for path in place.glob("memory.db.replaced-*") if path.suffix != "-wal"]
    assert "Only in the log." in filled.do("export", "--store", aside).out


def test_a_log_without_its_store_does_not_get_into_the_new_one(filled: CommandLine, place: Path, store: Path):
    filled.do("backup", place / "backup.db")
    early = filled.do("export").out
    with open_memory(store, user="mira") as opened:
        opened.remember("Only in the log.")
        log = store.with_name("memory.db-wal").read_bytes()
    store.unlink()
    store.with_name("memory.db-wal").write_bytes(log)
    filled.do("restore", place / "backup.db")
    assert filled.do("export").out == early
    assert [path.read_bytes() for path in place.glob("memory.db.replaced-*-wal")] == [log]


def test_what_was_erased_since_a_backup_is_erased_again(filled: CommandLine, place: Path, store: Path):
    item_id = filled.remember("The unmistakable word is xylophonist.")
    filled.do("backup", place / "backup.db")
    assert b"xylophonist" in (place / "backup.db").read_bytes()
    filled.do("erase", item_id, "--yes")
    done = filled.do("restore", place / "backup.db", "--replace")
    assert "3 things that were erased since were erased again" in done.out
    assert "was erased" in filled("show", item_id).err
    assert b"xylophonist" not in store.read_bytes()
    assert filled.do("verify", "--json").document["whole"]
    assert filled.do("doctor", "--json").document["well"]
    assert b"xylophonist" in (place / "backup.db").read_bytes()


def test_the_backup_itself_is_left_as_it_is(filled: CommandLine, place: Path):
    filled.do("backup", place / "backup.db")
    before = (place / "backup.db").read_bytes()
    filled.do("restore", place / "backup.db", "--replace")
    assert (place / "backup.db").read_bytes() == before
    assert not list(place.glob("backup.db-*"))
    assert not list(place.glob("*.restoring*"))


def spoilt(path: Path, sql: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(sql)
    connection.close()


def lost_index(path: Path) -> None:
    """Damage that no reading meets: only the engine's own examination finds it."""
    connection = apsw.Connection(str(path))
    connection.execute("pragma writable_schema = on")
    connection.execute("delete from sqlite_schema where type = 'index' and sql like '%on items%'")
    connection.close()


def broken_page(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for start in range(8 * 4096, len(content), 4096):
        content[start : start + 64] = b"\xff" * 64
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.write_bytes(b"not a database"), "is not a Recollect store"),
        (lambda path: path.write_bytes(b""), "is empty"),
        (lambda path: path.unlink(), "there is no backup at"),
        (lambda path: (path.unlink(), path.mkdir()), "there is no backup at"),
        (lambda path: path.write_bytes(path.read_bytes()[:50_000]), "damaged"),
        (broken_page, "damaged"),
        (lost_index, "the backup is damaged"),
        (lambda path: spoilt(path, "update journal set actor = 'x' where seq = 2"), "is not whole: entry 2"),
        (lambda path: spoilt(path, "pragma user_version = 99"), "has schema 99"),
        (lambda path: spoilt(path, "pragma application_id = 1"), "is the database of another program"),
        (lambda path: path.write_bytes(b"\x1f\x8b not gzip at all"), "damaged or cut short"),
    ],
    ids=["text", "empty", "missing", "folder", "cut", "pages", "index", "journal", "newer", "foreign", "gzip"],
)
def test_a_backup_that_is_not_whole_never_becomes_the_store(filled: CommandLine, place: Path, spoil, said: str):  # type: ignore[no-untyped-def]
    backup = place / "backup.db"
    filled.do("backup", backup)
    everything = filled.do("export").out
    spoil(backup)
    refused = filled("restore", backup, "--replace")
    assert refused.code == 1
    assert said in refused.err
    assert filled.do("export").out == everything
    assert not list(place.glob("memory.db.re*"))


def test_a_damaged_store_makes_way_for_its_backup(filled: CommandLine, place: Path, store: Path):
    filled.do("backup", place / "backup.db")
    everything = filled.do("export").out
    store.write_bytes(b"SQLite format 3\x00" + b"\xff" * 9000)
    assert filled("show").code == 1
    filled.do("restore", place / "backup.db", "--replace")
    assert filled.do("export").out == everything
    [aside] = place.glob("memory.db.replaced-*")
    assert aside.read_bytes().endswith(b"\xff" * 100)


def test_a_store_that_somebody_has_open_is_not_replaced(filled: CommandLine, place: Path, store: Path):
    filled.do("backup", place / "backup.db")
    with open_memory(store, user="mira") as opened:
        opened.remember("Still at it.")
        refused = filled("restore", place / "backup.db", "--replace")
        assert refused.code == 1
        assert "another process has" in refused.err
        opened.remember("Undisturbed.")
    assert "Undisturbed." in filled.do("export").out
    filled.do("restore", place / "backup.db", "--replace")


def test_a_store_is_not_restored_from_itself(filled: CommandLine, store: Path):
    refused = filled("restore", store, "--replace")
    assert refused.code == 1
    assert "is the store itself" in refused.err
    assert filled.do("verify").code == 0


def test_only_admins_restore(filled: CommandLine, place: Path):
    filled.do("backup", place / "backup.db")
    assert filled("restore", place / "backup.db", "--replace", "--role", "moderator").code == 1
    assert filled("backup", place / "other.db", "--role", "moderator").code == 1


def test_short_ids_survive_all_of_it(filled: CommandLine, place: Path):
    item_id = filled.remember("Tea, not coffee.")
    filled.do("backup", place / "backup.db")
    filled.do("restore", place / "backup.db", "--replace")
    assert "Tea, not coffee." in filled.do("show", short(item_id)).out
