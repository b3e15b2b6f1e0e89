"""Erasing, provably: what was erased is in no row, no index, no byte, and comes back from no copy."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest

from recollect.care import erase as care
from recollect.care import transfer
from recollect.domain.change import Append, Create, Derive, Discard, Erase, Retract, Withdraw
from recollect.domain.ids import TenantId
from recollect.domain.item import Fact
from recollect.errors import Gone, NotFound, Stale, StoreBusy
from recollect.ports import Store
from recollect.store.sidecar import FileErasures
from recollect.store.sql import SqlStore
from recollect.store.sqlite import engine as sqlite
from recollect.store.sqlite.engine import SqliteEngine
from tests.postgres import fresh_database, opened_store
from tests.store.conftest import new_world
from tests.store.erasures import PLACES, Garden, left_in_database, left_in_files, planted, uproot
from tests.worlds import DAWN, MIRA, World


@pytest.fixture(scope="module")
def postgres_url(postgres_server: str) -> Iterator[str]:
    """A database in which nobody else says anything: every row of it is searched."""
    with fresh_database(postgres_server) as url:
        yield url


@pytest.fixture(scope="module")
def postgres_store(postgres_url: str) -> Iterator[Store]:
    with opened_store(postgres_url) as store:
        yield store


# -- at the door --------------------------------------------------------------------------------------------


def test_what_gained_a_version_since_the_survey_is_not_erased(world: World):
    told = world.tell()
    known = care.survey(world.store, world.tenant, [told.item.id], [told.event.id])
    late = world.version(told.item, told.event, content="more")
    world.apply(Derive(late))
    before = world.dump()
    with pytest.raises(Stale) as refused:
        world.apply(_erasure(known))
    assert refused.value.things == (late.id,)
    assert world.dump() == before


@pytest.mark.parametrize("gain", ["event of the episode", "citation of the event", "derived version"])
def test_nothing_is_erased_from_under_what_was_built_on_it_meanwhile(world: World, gain: str):
    told = world.tell()
    episode = world.held(told.event.item_id).item
    other = world.keep()
    known = care.survey(world.store, world.tenant, [told.item.id, episode.id])
    match gain:
        case "event of the episode":
            world.apply(Append(world.event(episode)))
        case "citation of the event":
            world.apply(Derive(world.version(other, told.event)))
        case "derived version":
            world.apply(Derive(world.shorter(told.version, item_id=other.id)))
    with pytest.raises(Stale):
        world.apply(_erasure(known))


def _erasure(wipe: care.Wipe) -> Erase:
    return Erase(tuple(sorted(wipe.items)), tuple(sorted(wipe.versions)), tuple(sorted(wipe.events)), (), "asked for")


def test_an_erasure_takes_what_was_derived_while_it_looked(world: World, tmp_path: Path):
    told = world.tell("quixotic")
    memory = world.memory(tmp_path)

    def derive() -> int:
        for number in range(40):
            try:
                world.apply(Derive(world.version(told.item, told.event, content=f"quixotic {number}")))
            except (Gone, NotFound):
                return number
            time.sleep(0.01)
        return 40

    with ThreadPoolExecutor(1) as other:
        deriving = other.submit(derive)
        while True:
            try:
                memory.erase(told.item.id)
                break
            except StoreBusy:
                assert world.held(told.item), "it is refused as a whole"
        assert deriving.result() > 0
    assert world.found("quixotic") == []
    assert not any("quixotic" in row for row in world.dump())
    assert world.is_whole()


def test_what_a_rollback_withdrew_can_be_erased_with_its_evidence(world: World, tmp_path: Path):
    told = world.tell("quixotic")
    world.apply(Discard(told.version), Withdraw(told.item), Retract(told.event))
    world.memory(tmp_path).erase(told.item.id)
    assert not any("quixotic" in row for row in world.dump())
    assert {stone.ref[:2] for stone in world.store.tombstones(world.tenant)} == {"i:", "v:", "e:"}
    assert world.is_whole()


def test_an_erasure_tells_which_bodies_it_took_and_takes_no_others(world: World):
    kept = world.tell("kept")
    told = world.tell("gone")
    world.apply(_erasure(care.survey(world.store, world.tenant, [told.item.id], [told.event.id])))
    last = world.journal()[-1]
    assert isinstance(last.change, Erase)
    without = [entry.header.seq for entry in world.journal() if entry.body is None]
    assert without == list(last.change.bodies)
    assert not {entry.header.item_id for entry in world.journal() if entry.body is None} & {kept.item.id}
    assert world.is_whole()


# -- every place that holds content -------------------------------------------------------------------------


@pytest.fixture
def left(engine: str, request: pytest.FixtureRequest) -> Callable[[Garden], dict[str, list[str]]]:
    """Where words of a garden are still to be found."""
    if engine == "sqlite":
        folder: Path = request.getfixturevalue("sqlite_path").parent
        return lambda garden: left_in_files(folder, garden.words)
    url = request.getfixturevalue("postgres_url")
    return lambda garden: left_in_database(url, garden.words)


IN_BYTES_ONLY = {"vector", "users_checkpoint before"}
"""What rows of PostgreSQL do not show: a vector is numbers there, and what was overwritten is no row."""


def test_an_erased_word_is_nowhere(
    world: World, engine: str, tmp_path: Path, left: Callable[[Garden], dict[str, list[str]]]
):
    garden = planted(world, tmp_path)
    world.tell("harpsichord")
    known = garden.words.keys() - (set() if engine == "sqlite" else IN_BYTES_ONLY)
    assert left(garden).keys() == known, "a word that is nowhere before cannot be missed afterwards"
    uproot(garden)
    assert left(garden) == {}
    assert world.found(*garden.spoken, limit=1000) == []
    assert world.found("harpsichord") != []
    assert not [row for row in world.store.dump(world.tenant) if row["table"] == "vectors"]
    assert world.is_whole()


def test_what_was_erased_is_erased_again_in_a_copy_that_was_brought_back(
    world: World, tmp_path: Path, other_store: Store, engine: str, request: pytest.FixtureRequest
):
    garden = planted(world, tmp_path)
    lines = list(garden.memory.export())
    uproot(garden)
    copy = World(other_store, TenantId(world.tenant + "-copy"))
    back = copy.memory(tmp_path).import_(lines)
    assert back > len(garden.roots)
    assert copy.is_whole()
    if engine == "sqlite":
        assert left_in_database(request.getfixturevalue("postgres_url"), garden.words) == {}
    else:
        assert left_in_files(request.getfixturevalue("sqlite_path").parent, garden.words) == {}
    assert copy.found(*garden.spoken, limit=1000) == []
    assert transfer.erase_again(copy.store, _list(tmp_path), copy.tenant, actor=MIRA, at=DAWN) == 0


def _list(beside: Path) -> FileErasures:
    return FileErasures(beside / "erasures")


# -- SQLite, byte by byte -----------------------------------------------------------------------------------


def test_an_old_backup_of_a_file_is_rid_of_what_was_erased_since(tmp_path: Path):
    (tmp_path / "now").mkdir(), (tmp_path / "then").mkdir()
    store = SqlStore(SqliteEngine(tmp_path / "now" / "memory.db"))
    garden = planted(new_world(store), tmp_path)
    store.backup(tmp_path / "then" / "memory.db")
    uproot(garden)
    store.close()
    assert left_in_files(tmp_path / "now", garden.words) == {}
    assert left_in_files(tmp_path / "then", garden.words).keys() == garden.words.keys() - {"users_checkpoint before"}
    old = SqlStore(SqliteEngine(tmp_path / "then" / "memory.db"))
    again = World(old, garden.world.tenant, garden.world.clock)
    assert transfer.erase_again(old, _list(tmp_path), again.tenant, actor=MIRA, at=DAWN)
    assert left_in_files(tmp_path / "then", garden.words) == {}
    assert again.is_whole()
    old.close()


def test_a_reader_holds_up_the_scrubbing_and_not_the_erasure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "memory.db"
    store, reading = SqlStore(SqliteEngine(path)), SqlStore(SqliteEngine(path))
    world = new_world(store)
    monkeypatch.setattr(sqlite, "_HURRY", 0.1)
    garden = planted(world, tmp_path, {"event_text": PLACES["event_text"]})
    rows = reading.dump(world.tenant)
    next(rows)
    uproot(garden)
    assert world.found(*garden.words.values()) == []
    assert not store.scrub()
    assert left_in_files(tmp_path, garden.words) != {}
    rows.close()  # type: ignore[attr-defined]
    assert store.scrub()
    assert left_in_files(tmp_path, garden.words) == {}
    reading.close()
    store.close()


def _without_secure_delete(patch: pytest.MonkeyPatch) -> None:
    kept = tuple(pragma for pragma in sqlite._PRAGMAS if "secure_delete" not in pragma)
    assert len(kept) == len(sqlite._PRAGMAS) - 1
    patch.setattr(sqlite, "_PRAGMAS", kept)


def _without_secure_delete_in_the_text_index(patch: pytest.MonkeyPatch) -> None:
    known = sqlite.migrations

    def careless(package: str) -> list[sqlite.Migration]:
        found = known(package)
        kept = [[s for s in migration.statements if "'secure-delete'" not in s] for migration in found]
        assert sum(map(len, kept)) == sum(len(migration.statements) for migration in found) - 1
        return [sqlite.Migration(m.number, m.name, tuple(s)) for m, s in zip(found, kept, strict=True)]

    patch.setattr(sqlite, "migrations", careless)


def _without_emptying_the_log(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SqliteEngine, "scrub", lambda self: True)


@pytest.mark.parametrize(
    "careless",
    [_without_secure_delete, _without_secure_delete_in_the_text_index, _without_emptying_the_log],
)
def test_without_care_an_erased_word_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, careless: Callable[[pytest.MonkeyPatch], None]
):
    """The tests above can fail: each of these precautions is needed."""
    careless(monkeypatch)
    store = SqlStore(SqliteEngine(tmp_path / "memory.db"))
    garden = planted(new_world(store), tmp_path)
    uproot(garden)
    assert left_in_files(tmp_path, garden.words) != {}
    store.close()


def crowded(path: Path, seed: int) -> dict[str, str]:
    """Memories of many tenants written in turn, so that rows move to make room; half of them are erased again."""
    chance = Random(seed)
    store = SqlStore(SqliteEngine(path))
    worlds = [World(store, TenantId(f"t{number}")) for number in range(40)]
    erased: dict[World, list[str]] = {}
    for world in worlds:
        store.create_tenant(world.tenant, at=DAWN)
    for number in range(100):
        world = chance.choice(worlds)
        items = [
            world.item(Fact(value=f"{chance.choice(['Grzyxqvorn', 'plain'])}-{number} " + "x" * chance.randint(0, 900)))
            for _ in range(4)
        ]
        world.apply(*map(Create, items))
        erased.setdefault(world.tenant, []).extend(i.id for i in items if "plain" not in i.body.value)
    for world in worlds:
        if gone := erased.get(world.tenant):
            world.apply(Erase(tuple(gone), (), (), (), "asked for"))
    assert store.scrub()
    assert all(world.is_whole() for world in worlds)
    store.close()
    return {"value": "Grzyxqvorn"}


def test_rows_that_moved_leave_no_copies_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """SQLite leaves copies of the rows that it moves between pages, secure_delete or not."""
    for seed in range(20):
        (folder := tmp_path / f"careless-{seed}").mkdir()
        with monkeypatch.context() as patch:
            patch.setattr(sqlite.Pages, "unclean", lambda self: [])
            left = left_in_files(folder, crowded(folder / "memory.db", seed))
        if left:
            break
    else:
        pytest.fail("nothing was left behind in any of them: is the cleaning of pages still needed?")
    (folder := tmp_path / "careful").mkdir()
    assert left_in_files(folder, crowded(folder / "memory.db", seed)) == {}
