"""The journal alone accounts for what memory holds: real stores, lived in, and tampered with."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect import Memory, Message, open_memory
from recollect import settings as configuration
from recollect.care import audit
from recollect.care.restore import OneEntry, OneMemory, Session, ToRevision
from recollect.domain import codec
from recollect.domain.change import Derive, Link, Note, Relink, revise
from recollect.domain.examination import Examined
from recollect.domain.ids import ItemId, RecordId, Rev, Seq, TenantId, VersionId, uuid7
from recollect.domain.level import Derivation, Level
from recollect.domain.record import Open, Resolved, Verdict
from recollect.domain.relation import Relation
from recollect.domain.scope import Actor, Role, Scope
from recollect.domain.version import Version
from recollect.errors import RecollectError
from recollect.ports import Store
from recollect.wiring import open_store
from tests.hunt import examples
from tests.strategies import NOON

TENANT = TenantId("default")
HERE = Scope(tenant=TENANT)
MIRA = Actor(id="mira", role=Role.ADMIN)


class Ticking:
    """A second passes whenever it is asked; ids are counted."""

    def __init__(self) -> None:
        self._at, self._minted = NOON, 0

    def now(self):
        self._at += timedelta(seconds=1)
        return self._at

    def mint(self) -> str:
        self._minted += 1
        return uuid7(self._at, self._minted.to_bytes(10))


def store_of(path: Path) -> Store:
    return open_store(configuration.load({"store": str(path)}))


class House:
    """A memory somebody lives in: one move after the other, some of which are refused."""

    def __init__(self, path: Path) -> None:
        self.clock = Ticking()
        self.memory: Memory = open_memory(path, user="mira", clock=self.clock)
        self.store = store_of(path)
        self.made: list[ItemId] = []

    def close(self) -> None:
        self.store.close()
        self.memory.close()

    def apply(self, *changes: Any) -> None:
        self.store.apply(HERE, changes, actor=MIRA, at=self.clock.now())

    def live(self, move: str, pick: int, other: int, flag: bool) -> None:
        with suppress(RecollectError):  # refused: nothing happened
            getattr(self, move)(pick, other, flag)

    def _item(self, pick: int) -> ItemId:
        return self.made[pick % len(self.made)] if self.made else ItemId("nobody")

    def remember(self, pick: int, other: int, flag: bool) -> None:
        thread = f"t{other % 2}"
        self.made.append(self.memory.remember(f"words {pick}", thread_id=thread, importance=1 + other % 5).item_id)

    def append(self, pick: int, other: int, flag: bool) -> None:
        messages = [
            Message(text=f"turn {pick} {n}", author="mira", role="user", meta={"ü": [pick / 3, None, {"n": n}]})
            for n in range(1 + other % 2)
        ]
        added = self.memory.append(messages, thread_id=f"t{other % 3}")
        if added.episode_id not in self.made:
            self.made.append(added.episode_id)

    def revise(self, pick: int, other: int, flag: bool) -> None:
        fields = {"importance": 1 + other % 5} if flag else {"category": f"c{other}", "tags": (f"t{other}",)}
        self.memory.revise(self._item(pick), **fields)

    def archive(self, pick: int, other: int, flag: bool) -> None:
        self.memory.archive(self._item(pick), "tidy")

    def delete(self, pick: int, other: int, flag: bool) -> None:
        self.memory.delete(self._item(pick))

    def restore(self, pick: int, other: int, flag: bool) -> None:
        self.memory.restore(self._item(pick))

    def protect(self, pick: int, other: int, flag: bool) -> None:
        self.memory.protect(self._item(pick), flag)

    def roll_back(self, pick: int, other: int, flag: bool) -> None:
        head = self.memory.head()
        match other % 4:
            case 0:
                self.memory.rollback(ToRevision(HERE, Rev(max(0, head.rev - 1 - pick % 5))), cascade=flag)
            case 1:
                self.memory.rollback(OneMemory(self._item(pick), Rev(max(0, head.rev - 4))), cascade=flag)
            case 2:
                causes = [entry.header.cause for entry in self.memory.journal() if entry.header.cause]
                if causes:
                    self.memory.rollback(Session(causes[pick % len(causes)]), cascade=flag)
            case _:
                self.memory.rollback(OneEntry(Seq(1 + pick % max(1, head.seq))), cascade=flag)

    def erase(self, pick: int, other: int, flag: bool) -> None:
        self.memory.erase(self._item(pick), evidence=flag)

    def derive(self, pick: int, other: int, flag: bool) -> None:
        item_id = self._item(pick)
        held = self.store.versions(TENANT, item_id)
        if not held:
            return
        made = Version(
            id=VersionId(self.clock.mint()),
            item_id=item_id,
            level=Level.R2,
            content=f"short {other}",
            derived_from=held[-1].id,
            derivation=Derivation.COMPRESS,
            created_at=self.clock.now(),
            quality_score=0.1 * (other % 10),
        )
        before = self.store.item(TENANT, item_id)
        assert before
        pointed = codec.decode(type(before.item), codec.encode(before.item) | {"active_version_id": made.id})
        self.apply(Derive(made), revise(before.item, pointed, self.clock.now()))

    def link(self, pick: int, other: int, flag: bool) -> None:
        a, b = self._item(pick), self._item(other)
        known = [edge for edge in self.store.relations(TENANT, a) if (edge.from_id, edge.to_id) == (a, b)]
        if a == b:
            return
        edge = Relation(
            id=RecordId(self.clock.mint()),
            from_id=a,
            to_id=b,
            strength=(pick % 7) / 7,
            created_at=self.clock.now(),
        )
        self.apply(Relink(known[0], edge) if known else Link(edge))

    def contradict(self, pick: int, other: int, flag: bool) -> None:
        found = [r for r in self.store.records(TENANT, "contradiction") if isinstance(r, Open)]
        if found and flag:
            one = found[pick % len(found)]
            at = self.clock.now()
            self.apply(
                Note(
                    one,
                    Resolved(
                        id=one.id,
                        memory_a=one.memory_a,
                        memory_b=one.memory_b,
                        detected_at=one.detected_at,
                        resolved_at=at,
                        resolution=Verdict.A_WINS,
                        resolution_note="so it is",
                    ),
                )
            )
            return
        a, b = self._item(pick), self._item(other)
        self.apply(
            Note(
                None,
                Open(id=RecordId(self.clock.mint()), memory_a=a, memory_b=b, detected_at=self.clock.now()),
            )
        )


MOVES = st.sampled_from(
    ["remember"] * 4
    + ["append", "revise", "archive", "delete", "restore", "protect", "derive", "link", "contradict"]
    + ["roll_back"] * 3
    + ["erase"]
)
NUMBERS = st.integers(0, 50)


@settings(max_examples=examples(20))
@given(moves=st.lists(st.tuples(MOVES, NUMBERS, NUMBERS, st.booleans()), min_size=5, max_size=25))
def test_after_any_life_the_journal_alone_accounts_for_what_memory_holds(tmp_path_factory, moves):
    house = House(tmp_path_factory.mktemp("life") / "m.db")
    try:
        house.live("remember", 0, 0, False)
        for move in moves:
            house.live(*move)
        assert audit.verify(house.store, TENANT, deep=True).findings == ()
    finally:
        house.close()


SCRIPTS: dict[str, list[tuple[str, int, int, bool]]] = {
    "rolled back, and back again": [
        ("remember", 1, 0, False),
        ("append", 2, 0, False),
        ("derive", 0, 1, False),
        ("roll_back", 9, 0, False),
        ("roll_back", 0, 2, False),
        ("roll_back", 0, 2, False),
    ],
    "contradicted and erased": [
        ("remember", 1, 0, False),
        ("contradict", 0, 1, False),
        ("contradict", 1, 0, False),
        ("link", 0, 1, False),
        ("link", 1, 0, False),
        ("erase", 1, 0, True),
    ],
    "erased from both ends": [
        ("remember", 1, 0, False),
        ("contradict", 0, 1, False),
        ("contradict", 1, 0, False),
        ("link", 0, 1, False),
        ("erase", 0, 0, False),
    ],
    "derived from, then erased": [
        ("remember", 1, 0, False),
        ("derive", 1, 1, False),
        ("derive", 1, 2, False),
        ("erase", 1, 0, True),
        ("remember", 2, 0, False),
        ("roll_back", 4, 0, True),
    ],
    "protected through everything": [
        ("protect", 0, 0, True),
        ("remember", 1, 0, False),
        ("roll_back", 4, 0, True),
        ("protect", 0, 0, False),
        ("roll_back", 4, 0, True),
        ("roll_back", 0, 2, True),
    ],
    "every state of a life": [
        ("archive", 0, 0, False),
        ("restore", 0, 0, False),
        ("delete", 0, 0, False),
        ("roll_back", 0, 0, False),
        ("revise", 0, 3, True),
        ("revise", 0, 4, False),
        ("roll_back", 5, 3, True),
    ],
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_after_this_life_the_journal_alone_accounts_for_what_memory_holds(script, tmp_path):
    house = House(tmp_path / "m.db")
    house.remember(0, 0, False)
    for move, *how in SCRIPTS[script]:
        getattr(house, move)(*how)
        assert audit.verify(house.store, TENANT, deep=True).findings == (), move
    house.close()


# -- tampering --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with something of everything, closed."""
    path = tmp_path_factory.mktemp("furnished") / "m.db"
    house = House(path)
    for number in range(4):
        house.remember(number, number, False)
    house.append(7, 0, False)
    house.protect(0, 0, True)
    house.derive(1, 1, False)
    house.link(0, 1, False)
    house.contradict(2, 3, False)
    house.contradict(0, 0, True)
    house.contradict(1, 2, False)
    house.remember(9, 1, False)
    house.erase(5, 0, True)
    house.remember(10, 2, False)
    house.memory.rollback(ToRevision(HERE, Rev(house.memory.head().rev - 1)))
    house.close()
    return path


@pytest.fixture
def path(furnished: Path, tmp_path: Path) -> Path:
    """A copy to tamper with."""
    for file in furnished.parent.glob("m.db*"):
        shutil.copy(file, tmp_path / file.name)
    return tmp_path / "m.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    found = store_of(path)
    yield found
    found.close()


def test_an_untouched_store_is_accounted_for(store):
    assert audit.verify(store, TENANT, deep=True).findings == ()
    kinds = {kind for row in store.state(TENANT) for kind in row}
    assert kinds == {"item", "version", "event", "relation", "contradiction"}


BEHIND_ITS_BACK = {
    "importance": "update items set importance = importance % 5 + 1 where constitutional",
    "category": "update items set category = 'forged' where id = (select min(id) from items where {live})",
    "protection": "update items set constitutional = 0 where constitutional",
    "forged protection": "update items set constitutional = 1 where id = (select max(id) from items where {live})",
    "hidden": "update items set withdrawn = 1 where id = (select min(id) from items where {live} and kind = 'fact')",
    "shown": "update items set withdrawn = 0 where withdrawn",
    "deleted": "delete from items where id = (select min(id) from items where {live} and kind = 'fact')",
    "state": "update items set state = 'archived', state_at = 0 where id = (select min(id) from items where {live})",
    "pointer": "update items set active_version_id = null where active_version_id is not null",
    "text": "update events set text = 'forged' where id = (select min(id) from events where {live})",
    "meta": "update events set meta = '{{\"forged\":1}}' where id = (select max(id) from events where {live})",
    "author": "update events set author = 'forged' where id = (select min(id) from events where {live})",
    "retracted": "update events set withdrawn = 1 where id = (select min(id) from events where {live})",
    "event deleted": "delete from events where id = (select min(id) from events where {live})",
    "content": "update versions set content = 'forged' where id = (select min(id) from versions where {live})",
    "score": "update versions set quality_score = 0.99 where quality_score is not null",
    "discarded": "update versions set withdrawn = 1 where id = (select min(id) from versions where {live})",
    "version deleted": "delete from versions where id = (select max(id) from versions where {live})",
    "strength": "update relations set strength = 0.123",
    "turned": (
        "update or replace relations set from_id = to_id, to_id = from_id where id = (select min(id) from relations)"
    ),
    "unlinked": "delete from relations",
    "note": "update contradictions set resolution_note = 'forged' where resolution is not null",
    "reopened": "update contradictions set resolution = null, resolved_at = null, resolution_note = null",
    "forgotten": "delete from contradictions",
}


def ids_in(path: Path) -> set[str]:
    connection = apsw.Connection(str(path))
    found: set[str] = set()
    for table in ("items", "events", "versions", "relations", "contradictions"):
        found |= {str(row[0]) for row in connection.execute(f"select id from {table}")}
    connection.close()
    return found


@pytest.mark.parametrize("how", BEHIND_ITS_BACK)
def test_a_row_that_was_changed_behind_the_stores_back_is_found(how, path):
    known = ids_in(path)
    before = {codec.canonical(row) for row in states(path)}
    connection = apsw.Connection(str(path))
    connection.execute(BEHIND_ITS_BACK[how].format(live="not withdrawn"))
    connection.close()
    changed = {one for row in before ^ {codec.canonical(row) for row in states(path)} for one in known if one in row}
    store = store_of(path)
    findings = audit.verify(store, TENANT, deep=True).findings
    deep = audit.verify(store, TENANT, deep=True)
    shallow = audit.verify(store, TENANT)
    store.close()
    assert findings
    rows = [finding.what for finding in findings if not finding.what.startswith("text index")]
    assert rows
    assert {what.split()[1].removeprefix("e:") for what in rows} <= changed
    assert not any("forged" in finding.what for finding in findings), "what differs is named, not quoted"
    assert deep.findings == findings
    assert shallow.whole, "the journal itself was not touched"


def states(path: Path) -> list[Any]:
    store = store_of(path)
    found = list(store.state(TENANT))
    store.close()
    return found


def tamper(path: Path, sql: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(sql)
    connection.close()


def test_a_finding_says_on_which_side_the_difference_lies(path):
    item = min(row["item"]["id"] for row in states(path) if "item" in row)
    relation = next(row["relation"]["id"] for row in states(path) if "relation" in row)
    tamper(path, f"delete from relations where id = '{relation}'")
    tamper(path, f"update items set category = 'forged' where id = '{item}'")
    columns = [row[1] for row in apsw.Connection(str(path)).execute("pragma table_info(items)")]
    values = ", ".join("'0000'" if name == "id" else "null" if name == "thread_id" else name for name in columns)
    tamper(path, f"insert into items ({', '.join(columns)}) select {values} from items where id = '{item}'")
    store = store_of(path)
    head = store.head(TENANT)
    findings = audit.verify(store, TENANT, deep=True).findings
    store.close()
    assert [(finding.seq, finding.what) for finding in findings] == [
        (head.seq, "items 0000 is not accounted for: the journal does not tell of it"),
        (head.seq, f"items {item} is not what the journal tells of it"),
        (head.seq, f"relations {relation} is missing: the journal tells of it"),
    ]


def test_a_row_that_cannot_be_read_is_found_without_its_content(path):
    tamper(path, "update items set importance = 9, category = 'forged' where id = (select max(id) from items)")
    tamper(path, "update items set withdrawn = 0 where id = (select max(id) from items)")
    store = store_of(path)
    findings = audit.verify(store, TENANT, deep=True).findings
    store.close()
    assert findings
    assert any(what.startswith("items ") and " cannot be read" in what for what in (one.what for one in findings))
    assert not any("forged" in finding.what for finding in findings)


def test_a_body_that_cannot_be_read_is_found_at_its_entry(path):
    tamper(path, 'update journal_bodies set body = \'{"is":"Create"}\' where seq = 2')
    store = store_of(path)
    found = [(one.seq, one.what) for one in audit.verify(store, TENANT, deep=True).findings]
    assert (2, "the body was changed") in found
    assert (2, "what the entry tells cannot be read") in found
    store.close()


def test_a_body_that_went_unlawfully_shows_in_what_it_accounted_for(path):
    created = next(row["item"]["id"] for row in states(path) if "item" in row and row["item"]["constitutional"])
    tamper(
        path,
        "delete from journal_bodies where seq = "
        f"(select seq from journal where op = 'create' and item_id = '{created}')",
    )
    store = store_of(path)
    assert f"items {created} is not accounted for: the journal does not tell of it" in {
        finding.what for finding in audit.verify(store, TENANT, deep=True).findings
    }
    assert [one.what for one in audit.verify(store, TENANT).findings] == [
        "the body is missing and no erasure accounts for it"
    ]
    store.close()


# -- while others write -----------------------------------------------------------------------------------


class Meddled:
    """A store in which somebody acts whenever a part of it was shown."""

    def __init__(self, store: Store, act: Callable[[], object]) -> None:
        self._store, self._act = store, act

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def examine(self, tenant: TenantId, *, deep: bool) -> Iterator[Examined]:
        for number, shown in enumerate(self._store.examine(tenant, deep=deep)):
            yield shown
            if number % 5 == 0:
                self._act()


@pytest.mark.parametrize("deep", [False, True])
def test_whatever_is_written_meanwhile_the_examination_is_of_one_moment(path, store, deep):
    memory = open_memory(path, user="mira")
    facts = iter([item.id for item in memory.items() if item.kind == "fact" and not item.constitutional])

    def act() -> None:
        memory.remember("in between")
        if fact := next(facts, None):
            memory.erase(fact, evidence=False)

    before = memory.head()
    verified = audit.verify(Meddled(store, act), TENANT, deep=deep)  # type: ignore[arg-type]
    assert verified.whole
    assert verified.head == before != memory.head()
    assert audit.verify(store, TENANT, deep=True).whole
    memory.close()


def test_real_damage_is_reported_even_while_others_write(path, store):
    tamper(path, "delete from journal_bodies where seq = 2")
    memory = open_memory(path, user="mira")
    verified = audit.verify(Meddled(store, lambda: memory.remember("again")), TENANT)  # type: ignore[arg-type]
    assert 2 in [finding.seq for finding in verified.findings]
    memory.close()
