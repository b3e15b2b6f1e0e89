"""What SQLite's finder keeps in memory follows the file: whoever writes to it, and whatever is put in its place."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from struct import pack

import apsw
import numpy as np
import pytest

from recollect.domain.change import Append, Create, Erase
from recollect.domain.ids import TenantId
from recollect.domain.item import Visibility
from recollect.domain.query import Filters
from recollect.holdings import Vector, Wanted
from recollect.ports import Store
from recollect.store.sql import SqlStore
from recollect.store.sqlite.engine import SqliteEngine
from recollect.store.sqlite.resident.codes import Codes
from recollect.store.sqlite.resident.following import Follower
from recollect.store.tx import Sought
from tests.store.conftest import new_world
from tests.worlds import EVERYTHING, World, numbers

MODEL = "toy"
TEA = Wanted(words=("tea",), vector=numbers(1, 0), embedder=MODEL, filters=Filters(), sight=EVERYTHING)


def found(world: World, asked: Wanted = TEA) -> set[str]:
    return {hit.ref[2:] for hit in world.store.find_events(world.tenant, asked).hits}


def say(world: World, text: str = "tea", thread: str = "kitchen") -> str:
    """An event with its vector, in one write."""
    episode, changes = world._begun(thread, {})
    event = world.event(episode, text)
    world.apply(*changes, Append(event), vectors=[Vector(MODEL, f"e:{event.id}", numbers(1, 0))])
    return event.id


def resident(store: Store, tenant: TenantId) -> Follower:
    return store._engine._found._tenants[tenant]  # type: ignore[attr-defined]


@pytest.fixture
def store(sqlite_path: Path) -> Iterator[Store]:
    store = SqlStore(SqliteEngine(sqlite_path))
    yield store
    store.close()


@pytest.fixture
def world(store: Store) -> World:
    return new_world(store)


@contextmanager
def opened(path: Path) -> Iterator[Store]:
    store = SqlStore(SqliteEngine(path))
    try:
        yield store
    finally:
        store.close()


def test_texts_are_scored_whatever_their_mean_length_is(store: Store, world: World):
    """Two tenants in a file, and texts of two words each, the tenant's among them: their mean comes down from sixteen
    to exactly six and goes on."""
    new_world(store).say("coffee")
    world.say(*["tea"] * 480)
    asked = replace(TEA, vector=None, embedder=None)
    for _ in range(30):
        world.say("tea")
        assert all((hit.text or 0) > 0 for hit in store.find_events(world.tenant, asked).hits)


OTHER_PROCESS = """
import os, sys
from pathlib import Path
from recollect.domain.ids import TenantId
from recollect.domain.item import Visibility
from recollect.store.sql import SqlStore
from recollect.store.sqlite.engine import SqliteEngine
from tests.store.test_sqlite_finding import say
from tests.worlds import Ticking, World, DAWN
from datetime import timedelta
world = World(SqlStore(SqliteEngine(Path(sys.argv[1]))), TenantId(sys.argv[2]), Ticking(DAWN + timedelta(days=1)))
print(say(world), flush=True)
os._exit(9)  # nothing is closed, nothing is tidied up
"""


def test_what_another_process_wrote_before_it_crashed_is_found(world: World, sqlite_path: Path):
    mine = say(world)
    assert found(world) == {mine}
    done = subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS, str(sqlite_path), world.tenant],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 9, done.stderr
    assert found(world) == {mine, done.stdout.strip()}
    with opened(sqlite_path) as again:
        assert found(World(again, world.tenant)) == {mine, done.stdout.strip()}


def put_in_place(old: Path, path: Path) -> None:
    """An older copy written over an open store, page by page."""
    source, target = apsw.Connection(str(old)), apsw.Connection(str(path))
    with target.backup("main", source, "main") as work:
        while not work.done:
            work.step(100)
    source.close()
    target.close()


def test_a_store_that_went_back_is_followed_back_and_on_another_way(world: World, sqlite_path: Path, tmp_path: Path):
    first = say(world)
    world.store.backup(tmp_path / "old.db")
    gone = say(world), say(world, thread="hall")
    assert found(world) == {first, *gone}
    put_in_place(tmp_path / "old.db", sqlite_path)
    assert found(world) == {first}
    put_in_place(tmp_path / "old.db", sqlite_path)
    new = [say(world, thread="attic") for _ in range(4)]
    assert found(world) == {first, *new}


def test_a_store_that_went_back_and_overtook_itself_unseen_is_read_anew(
    world: World, sqlite_path: Path, tmp_path: Path
):
    first = say(world)
    world.store.backup(tmp_path / "old.db")
    say(world)
    assert len(found(world)) == 2
    put_in_place(tmp_path / "old.db", sqlite_path)
    new = {say(world, thread="attic") for _ in range(3)}
    assert found(world, replace(TEA, filters=Filters(thread_id="attic"))) == new
    assert found(world) == {first, *new}


def test_a_tenant_that_was_loaded_anew_under_the_same_name_is_another(store: Store, sqlite_path: Path, tmp_path: Path):
    empty = new_world(store)
    assert found(empty) == set()
    other = new_world(store)
    [told] = [say(other)]
    store.load(empty.tenant, list(store.dump(other.tenant)))
    assert found(empty) == {told}


def test_what_was_erased_leaves_the_memory_of_the_process(world: World):
    kept = say(world)
    told = world.tell("tea for one")
    world.apply(vectors=[Vector(MODEL, ref, numbers(1, 0)) for ref in (f"e:{told.event.id}", f"c:{told.event.id}.1")])
    assert found(world) == {kept, told.event.id}
    codes = resident(world.store, world.tenant)._codes[MODEL, 2, Sought.EVENTS]
    assert codes.size == 3
    world.apply(Erase((told.item.id,), (told.version.id,), (told.event.id,), (), "asked for"))
    assert found(world) == {kept}
    assert codes.size == 1
    later = [say(world), say(world)]
    assert found(world) == {kept, *later}
    assert codes.size == 3


def test_an_older_moment_is_read_while_others_are_ahead(world: World):
    first = say(world)
    assert found(world) == {first}
    with world.store._engine.read(world.tenant), ThreadPoolExecutor(1) as elsewhere:  # type: ignore[attr-defined]
        assert found(world) == {first}
        second = elsewhere.submit(say, world).result()
        assert elsewhere.submit(found, world).result() == {first, second}
        assert found(world) == {first}
    assert found(world) == {first, second}


def test_many_ask_while_one_writes(world: World):
    said = {say(world)}
    stop = threading.Event()

    def ask() -> int:
        asked = 0
        while not stop.is_set():
            before = set(said)
            assert before <= found(world)
            asked += 1
        return asked

    with ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(ask) for _ in range(4)]
        for n in range(25):
            said.add(say(world, thread=f"t{n % 3}"))
        stop.set()
        assert all(one.result() > 0 for one in asking)
    assert found(world) == said


def test_no_tenant_is_asked_for_in_vain(store: Store):
    assert store.find_events(TenantId("nobody"), TEA).hits == []


def test_many_writes_at_once_are_followed_like_few(world: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("recollect.store.sqlite.resident.following._TOO_MUCH", 3)
    first = say(world)
    assert found(world) == {first}
    rest = {say(world, thread=f"t{n}") for n in range(6)}
    assert found(world) == {first, *rest}


# -- codes --------------------------------------------------------------------------------------------------


def clustered(count: int, dimension: int, seed: int) -> np.ndarray:
    chance = np.random.default_rng(seed)
    centres = np.random.default_rng(1).normal(0, 1, (40, dimension))
    made = centres[chance.integers(0, 40, count)] + chance.normal(0, 0.8, (count, dimension))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def filled(vectors: np.ndarray, bits_above: int) -> Codes:
    codes = Codes(vectors.shape[1], bits_above)
    rids = np.arange(len(vectors), dtype=np.int64)
    codes.add(rids, rids.astype(np.int32), vectors)
    return codes


@pytest.mark.parametrize("dimension", [3, 64, 100, 384])
@pytest.mark.parametrize("share", [None, 0.5, 0.02])
def test_codes_find_what_floats_find(dimension: int, share: float | None):
    vectors = clustered(20_000, dimension, 2)
    codes = filled(vectors, 10**9)
    passing = None if share is None else np.random.default_rng(3).random(len(vectors)) < share
    for query in clustered(5, dimension, 4):
        exact = vectors @ query if passing is None else np.where(passing, vectors @ query, -2)
        best, cosines = codes.best(query, passing, 50)
        assert exact[best] == pytest.approx(cosines, abs=0.01)
        assert exact[best].min() >= np.sort(exact)[-50] - 0.02
        assert len(best) == 50


@pytest.mark.parametrize("share", [None, 0.5, 0.02])
def test_signs_lead_to_what_floats_find(share: float | None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("recollect.store.sqlite.resident.codes._DEEP_AT_LEAST", 1_000)
    monkeypatch.setattr("recollect.store.sqlite.resident.codes._BLOCK", 4_096)
    vectors = clustered(20_000, 384, 2)
    codes = filled(vectors, 5_000)
    passing = None if share is None else np.random.default_rng(3).random(len(vectors)) < share
    hits = []
    for query in clustered(20, 384, 4):
        exact = vectors @ query if passing is None else np.where(passing, vectors @ query, -2)
        best, _ = codes.best(query, passing, 20)
        hits.append(len(set(best) & set(np.argsort(-exact)[:20])) / 20)
    assert np.mean(hits) > 0.95
    more = clustered(1_000, 384, 5)
    codes.add(np.arange(20_000, 21_000), np.arange(20_000, 21_000, dtype=np.int32), more)
    for n in (0, 999):
        assert 20_000 + n in codes.best(more[n], None, 3)[0]
    codes.keep(codes.rows["rid"] < 20_500)
    assert 20_999 not in codes.rows["rid"][codes.best(more[999], None, 3)[0]]


def test_fewer_than_asked_for_are_all_there_are():
    codes = filled(clustered(5, 8, 1), 10**9)
    assert len(codes.best(clustered(1, 8, 2)[0], None, 50)[0]) == 5
    assert len(codes.best(clustered(1, 8, 2)[0], np.zeros(5, np.bool_), 50)[0]) == 0


def test_a_vector_takes_less_than_600_bytes(world: World):
    chance = Random(1)
    episode = world.episode()
    said = [world.event(episode, f"tea {n}") for n in range(2_000)]
    facts = [world.item() for _ in range(1_000)]
    vectors = [
        Vector(MODEL, f"e:{event.id}", pack("<384f", *(chance.gauss(0, 1) for _ in range(384)))) for event in said
    ]
    world.apply(Create(episode), *map(Create, facts), *map(Append, said), vectors=vectors)
    asked = Wanted(vector=vectors[7].values, embedder=MODEL, filters=Filters(), sight=EVERYTHING, limit=1)
    assert found(world, asked) == {said[7].id}
    assert resident(world.store, world.tenant).nbytes / len(vectors) < 600


def test_the_tenants_asked_least_recently_make_room(store: Store, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("recollect.store.sqlite.finding.RESIDENT", 1)
    worlds: list[World] = [new_world(store) for _ in range(3)]
    said: dict[TenantId, str] = {world.tenant: say(world) for world in worlds}
    ask: Callable[[World], set[str]] = found
    for world in [*worlds, *worlds]:
        assert ask(world) == {said[world.tenant]}
    assert len(store._engine._found._tenants) <= 2  # type: ignore[attr-defined]


# -- private words ------------------------------------------------------------------------------------------

HOUSE = {"visibility": Visibility.PROJECT_SHARED, "project_id": "house", "user_id": None}


def proposed(world: World, sought: Sought, reader: str, **asked: object) -> int:
    """How many texts are proposed to somebody, before the file is asked about them."""
    engine = world.store._engine  # type: ignore[attr-defined]
    wanted = replace(TEA, sight=replace(EVERYTHING, readers=frozenset({reader})), **asked)
    with engine.read(world.tenant) as tx:
        found = engine.propose(tx, sought, wanted, 10)
    return len({*found.text, *found.cosine})


def test_what_is_private_is_not_even_proposed_to_others(world: World):
    told = [world.tell(f"tea {number}", **HOUSE) for number in range(3)]
    marked = world.tell("tea, marked", private=True, **HOUSE)
    vectors = [
        Vector(MODEL, ref, numbers(1, 0)) for one in told for ref in (f"e:{one.event.id}", f"v:{one.version.id}")
    ]
    world.apply(vectors=vectors)
    assert proposed(world, Sought.EVENTS, "ben") == 4
    assert proposed(world, Sought.ITEMS, "ben") == 3, "one is marked"
    assert proposed(world, Sought.ITEMS, "ana") == 4
    world.apply(private=[told[0].event.id, marked.event.id])
    for vector in ({}, {"vector": None, "embedder": None}):
        assert proposed(world, Sought.EVENTS, "ben", **vector) == 2
        assert proposed(world, Sought.ITEMS, "ben", **vector) == 2
        assert proposed(world, Sought.EVENTS, "ana", **vector) == 4
        assert proposed(world, Sought.ITEMS, "ana", **vector) == 4


def test_where_nothing_is_private_all_readers_share_what_passes(world: World):
    say(world)
    for reader in ("ana", "ben", "cleo"):
        assert proposed(world, Sought.EVENTS, reader) == 1
    assert len(world.store._engine._found._masks) == 1  # type: ignore[attr-defined]
