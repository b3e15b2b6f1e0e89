"""Works that change a store as a whole, or much of it, killed in the middle: erasing, compressing, rolling back,
importing, restoring, migrating. `python -m bench.crash --during KIND` drives them.

A process tells on its pipe what it begins and what is done. Whatever was done holds after the kill; whatever was begun
and not done is there as a whole or not at all, and can be done again. While a work goes on that shares the store,
others write to it and acknowledge each write: nothing of that is lost either.
"""

import json
import os
import random
import shutil
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import apsw
import psycopg

from recollect import wiring
from recollect.care import audit
from recollect.care.restore import Session
from recollect.care.transfer import AGAIN
from recollect.domain.ids import EventId, ItemId, TenantId
from recollect.domain.query import Filters, Page
from recollect.domain.scope import Sight
from recollect.errors import StoreError
from recollect.jobs.kinds import KINDS
from recollect.jobs.worker import Worker
from recollect.memory import Memory
from recollect.ports import Store
from recollect.settings import Settings, load
from recollect.wiring import open_memory, open_store
from recollect.write.message import Message

Ack = dict[str, Any]
Tell = Callable[[Ack], None]

TENANT = TenantId("crash")
USER = "mira"
WRITERS = 2
EVERYTHING = Sight(users=None, projects=None, silo=None, readers=None)
SAID = (
    "We decided to move the login of {} from tokens to sessions because the tokens were too large.",
    "The session cookie of {} lives for 30 days and is signed with the server key.",
    "The sessions of {} live in PostgreSQL, in the schema auth.",
)
SOURCE = TenantId("source")
_ALL = (Filters(), EVERYTHING, Page(1000))


def settings_for(store: str, tenant: str = TENANT) -> Settings:
    return load({"store": store, "tenant": tenant, "user": USER})


def word(chance: random.Random) -> str:
    """A word that is in no other text."""
    return "x" + "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=15))


@contextmanager
def opened(store: str) -> Generator[Store]:
    """The store as it is found after a kill."""
    found = open_store(settings_for(store))
    try:
        yield found
    finally:
        found.close()


@dataclass
class Found:
    """What is wrong after the kills."""

    lost: list[str] = field(default_factory=list[str])
    torn: list[str] = field(default_factory=list[str])
    chain: list[str] = field(default_factory=list[str])


@dataclass
class Work:
    """One kind of work over a store: what is made ready, what is done until the kill, and what must hold after it."""

    store: str
    folder: Path
    url: str = ""
    """The PostgreSQL server, where it is one."""
    name: ClassVar[str] = ""
    alone: ClassVar[bool] = False
    """Whether nobody else may be in the store meanwhile."""

    def prepare(self) -> None:
        with open_memory(self.store, tenant=TENANT, user=USER):
            pass

    def run(self, tell: Tell, chance: random.Random) -> None:
        """Work until killed."""
        if self.alone:
            self.toil(tell, chance, None)
            return
        with open_memory(self.store, tenant=TENANT, user=USER) as memory:
            threads = [
                threading.Thread(target=_write, args=(memory, tell, random.Random(chance.random())))
                for _ in range(WRITERS)
            ]
            for thread in threads:
                thread.start()
            self.toil(tell, chance, memory)
            for thread in threads:
                thread.join()

    def toil(self, tell: Tell, chance: random.Random, memory: Memory | None) -> None:
        raise NotImplementedError

    def look(self, acks: Sequence[Ack], found: Found) -> None:
        """What a round left, and whether all that it acknowledged is there."""
        with opened(self.store) as store:
            for ack in acks:
                if "events" in ack:
                    held = {event.id: event.text for event in store.events_by_id(TENANT, ack["events"])}
                    if held != dict(zip(ack["events"], ack["texts"], strict=True)):
                        found.lost.append(f"{self.name}: a write of {len(ack['events'])} events")
            begun = {json.dumps(ack["begun"]): ack for ack in acks if "begun" in ack}
            done = {json.dumps(ack["done"]): ack for ack in acks if "done" in ack}
            for key, ack in begun.items():
                self.judge(store, {**ack, **done.get(key, {})}, key in done, found)
            self.whole(store, found)

    def judge(self, store: Store, ack: Ack, done: bool, found: Found) -> None:
        """Whether one piece of work that was begun is there as it must be."""
        raise NotImplementedError

    def whole(self, store: Store, found: Found) -> None:
        for tenant in store.tenants():
            found.chain += [f"{self.name}: {one.what}" for one in audit.verify(store, tenant).findings]

    def examine(self, found: Found) -> None:
        """The whole store, at the end: what it holds is what its journals account for."""
        with opened(self.store) as store:
            for tenant in store.tenants():
                found.torn += [f"{self.name}: {one.what}" for one in audit.verify(store, tenant, deep=True).findings]
            found.torn += list(store.integrity())


def _write(memory: Memory, tell: Tell, chance: random.Random) -> None:
    """Others who write to the store meanwhile."""
    with suppress(StoreError):
        while True:
            texts = [chance.choice(SAID).format(word(chance)) for _ in range(chance.randint(1, 3))]
            appended = memory.append([Message(text=text, author=USER) for text in texts], thread_id="notes")
            tell({"events": appended.event_ids, "texts": texts})
            time.sleep(0.005)


# -- erasing ------------------------------------------------------------------------------------------------


class Erasing(Work):
    """An erasure that was acknowledged is never undone: neither rows nor index nor file hold a word of it."""

    name = "erasing"

    def toil(self, tell: Tell, chance: random.Random, memory: Memory | None) -> None:
        assert memory is not None
        with suppress(StoreError):
            while True:
                unique = word(chance)
                kept = memory.remember(SAID[1].format(unique), thread_id=f"secret {word(chance)}")
                piece = {"item": kept.item_id, "event": kept.event_id, "word": unique}
                tell({"begun": piece})
                memory.erase(kept.item_id)
                tell({"done": piece})

    def judge(self, store: Store, ack: Ack, done: bool, found: Found) -> None:
        piece = ack["begun"]
        item, event = ItemId(piece["item"]), EventId(piece["event"])
        there = {
            store.item(TENANT, item) is not None,
            bool(store.events_by_id(TENANT, [event], withdrawn=True)),
            bool(store.versions(TENANT, item, withdrawn=True)),
            bool(store.search(TENANT, [piece["word"]], EVERYTHING)),
        }
        if done and there != {False}:
            found.lost.append(f"erasing: {item} was erased and is there")
        if len(there) > 1:
            found.torn.append(f"erasing: {item} is there in part")
        if not any(there) and not self.url:
            store.scrub()
            for file in self.folder.glob(Path(self.store).name + "*"):
                if piece["word"].encode() in file.read_bytes():
                    found.lost.append(f"erasing: {file.name} still holds words of {item}")


# -- compressing and rolling back -----------------------------------------------------------------------------


class Compressing(Work):
    """A thread is summed up as a whole or not at all."""

    name = "compressing"

    def toil(self, tell: Tell, chance: random.Random, memory: Memory | None) -> None:
        assert memory is not None
        with suppress(StoreError):
            while True:
                episode = _told(memory, word(chance))
                tell({"begun": episode})
                memory.close_episode(episode)
                tell({"done": episode})

    def judge(self, store: Store, ack: Ack, done: bool, found: Found) -> None:
        levels = sorted(version.level.value for version in store.versions(TENANT, ItemId(ack["begun"])))
        if levels not in ([1, 2, 3, 4, 5], *([] if done else [[]])):
            (found.lost if done else found.torn).append(f"compressing: {ack['begun']} has the levels {levels}")


class RollingBack(Work):
    """A rollback takes everything back, or nothing."""

    name = "rolling_back"

    def toil(self, tell: Tell, chance: random.Random, memory: Memory | None) -> None:
        assert memory is not None
        with suppress(StoreError):
            while True:
                episode = _told(memory, word(chance))
                closed = memory.close_episode(episode)
                assert closed.cause is not None
                tell({"begun": episode})
                memory.rollback(Session(closed.cause))
                tell({"done": episode})

    def judge(self, store: Store, ack: Ack, done: bool, found: Found) -> None:
        levels = sorted(version.level.value for version in store.versions(TENANT, ItemId(ack["begun"])))
        if levels not in ([], *([] if done else [[1, 2, 3, 4, 5]])):
            (found.lost if done else found.torn).append(f"rolling back: {ack['begun']} has the levels {levels}")


def _told(memory: Memory, about: str) -> ItemId:
    messages = [Message(text=text.format(about), author=USER) for text in SAID]
    return memory.append(messages, thread_id=f"talk {about}").episode_id


# -- importing ------------------------------------------------------------------------------------------------


def _furnish_source(store: str, folder: Path) -> tuple[Path, str]:
    """A tenant with something to say, its export, and the word of a memory that was erased after it."""
    chance = random.Random("source")
    export, unique = folder / "export.jsonl", word(chance)
    with open_memory(store, tenant=SOURCE, user=USER) as memory:
        for _ in range(30):
            memory.remember(chance.choice(SAID).format(word(chance)))
        secret = memory.remember(SAID[1].format(unique), thread_id="secret")
        export.write_text("\n".join(memory.export()) + "\n", "utf-8")
        memory.erase(secret.item_id)
    return export, unique


class Importing(Work):
    """An import leaves a whole tenant, without what was erased since the export, or none; then it can be run again."""

    name = "importing"

    def prepare(self) -> None:
        super().prepare()
        _, unique = _furnish_source(self.store, self.folder)
        (self.folder / "word").write_text(unique)

    @property
    def _export(self) -> list[str]:
        return (self.folder / "export.jsonl").read_text("utf-8").splitlines()

    def toil(self, tell: Tell, chance: random.Random, memory: Memory | None) -> None:
        lines = self._export
        with suppress(StoreError):
            while True:
                tenant = f"copy-{word(chance)}"
                tell({"begun": tenant})
                _import(self.store, tenant, lines)
                tell({"done": tenant})

    def judge(self, store: Store, ack: Ack, done: bool, found: Found) -> None:
        tenant = TenantId(ack["begun"])
        if tenant not in store.tenants():
            if done:
                found.lost.append(f"importing: the tenant {tenant} was imported and is not there")
            _import(self.store, tenant, self._export)
        elif not done:
            _finish_jobs(self.store)
        unique = (self.folder / "word").read_text()
        sources = len(store.items(SOURCE, *_ALL))
        if len(store.items(tenant, *_ALL)) != sources:
            found.torn.append(f"importing: the tenant {tenant} is there in part")
        if store.search(tenant, [unique], EVERYTHING):
            found.lost.append(f"importing: what was erased is back in the tenant {tenant}")


def _import(store: str, tenant: str, lines: Iterable[str]) -> None:
    with wiring.incoming(settings_for(store, tenant)) as memory:
        memory.import_(lines)


def _finish_jobs(store: str) -> None:
    """What a process that was killed left to do is done by the next that works; here, what erases again."""
    deps = wiring.dependencies(settings_for(store))
    try:
        Worker(deps=deps, kinds={AGAIN: KINDS[AGAIN]}, name="bench").run_until_idle()
    finally:
        deps.store.close()


# -- restoring ------------------------------------------------------------------------------------------------


class Restoring(Work):
    """A restore leaves the old store or the new one, whole; and what was erased stays erased."""

    name = "restoring"
    alone = True

    def prepare(self) -> None:
        super().prepare()
        _, unique = _furnish_source(self.store, self.folder)
        (self.folder / "word").write_text(unique)
        heads: dict[str, str] = {}
        for name in ("a", "b"):
            with open_memory(self.store, tenant=TENANT, user=USER) as memory:
                memory.remember(SAID[0].format(name))
                heads[name] = memory.head().hash
            wiring.back_up(settings_for(self.store), self.folder / f"{name}.backup")
        (self.folder / "heads").write_text(json.dumps(heads))

    def toil(self, tell: Tell, chance: random.Random, memory: Memory | None) -> None:
        if self.url:
            self._into_new_databases(tell, chance)
            return
        while True:
            name = chance.choice("ab")
            piece = [name, word(chance)]
            tell({"begun": piece})
            wiring.restore(settings_for(self.store), self.folder / f"{name}.backup", replace=True)
            tell({"done": piece})

    def _into_new_databases(self, tell: Tell, chance: random.Random) -> None:
        with suppress(StoreError, psycopg.Error):
            while True:
                piece = ["a", word(chance)]
                _create_database(self.url, piece[1])
                tell({"begun": piece})
                wiring.restore(settings_for(_database(self.url, piece[1])), self.folder / "a.backup")
                tell({"done": piece})

    def look(self, acks: Sequence[Ack], found: Found) -> None:
        begun = [ack["begun"] for ack in acks if "begun" in ack]
        done = [ack["done"] for ack in acks if "done" in ack]
        heads = json.loads((self.folder / "heads").read_text())
        if self.url:
            for name, database in begun:
                self._judge_database(database, heads[name], [name, database] in done, found)
            return
        for aside in self.folder.glob("*.replaced-*"):
            aside.unlink()
        allowed = {heads[done[-1][0]]} if done else set(heads.values())
        if begun and begun[-1:] != done[-1:]:
            allowed.add(heads[begun[-1][0]])
        with opened(self.store) as store:
            if store.head(TENANT).hash not in allowed:
                found.lost.append("restoring: the store is neither the old one nor the new one")
            self.whole(store, found)

    def _judge_database(self, database: str, head: str, done: bool, found: Found) -> None:
        address = _database(self.url, database)
        settings = settings_for(address)
        with suppress(StoreError):  # there is none yet
            with opened(address) as store:
                there = bool(store.tenants())
            if not there and done:
                found.lost.append(f"restoring: {database} was restored and is empty")
        if not done:
            wiring.restore(settings, self.folder / "a.backup")
        with opened(address) as store:
            if store.head(TENANT).hash != head:
                found.torn.append(f"restoring: {database} is there in part")
            self.whole(store, found)
        _drop_database(self.url, database)


# -- migrating ------------------------------------------------------------------------------------------------


class Migrating(Work):
    """A store of an older Recollect is brought up to date, or left as it was: the next one who opens it goes on."""

    name = "migrating"
    alone = True

    def prepare(self) -> None:
        super().prepare()
        _furnish_source(self.store, self.folder)
        if self.url:
            return
        connection: Any = apsw.Connection(self.store)
        for table in ("events", "versions"):
            connection.execute(f"alter table {table} drop column names")
        connection.execute("pragma user_version = 5")
        connection.execute("pragma journal_mode = delete").fetchall()
        connection.close()

    def toil(self, tell: Tell, chance: random.Random, memory: Memory | None) -> None:
        with suppress(StoreError, psycopg.Error):
            while True:
                piece = word(chance)
                place = self._place(piece)
                if self.url:
                    _create_database(self.url, piece)
                elif chance.random() < 0.7:  # else it is made from nothing
                    shutil.copyfile(self.store, place)
                tell({"begun": piece})
                open_memory(place, tenant=TENANT, user=USER).close()
                tell({"done": piece})

    def _place(self, piece: str) -> str:
        return _database(self.url, piece) if self.url else str(self.folder / f"{piece}.db")

    def look(self, acks: Sequence[Ack], found: Found) -> None:
        done = {ack["done"] for ack in acks if "done" in ack}
        for piece in (ack["begun"] for ack in acks if "begun" in ack):
            place = self._place(piece)
            before = Path(place).stat().st_size if not self.url and Path(place).exists() else 0
            try:
                with open_memory(place, tenant=TENANT, user=USER) as memory:
                    kept = memory.remember(SAID[0].format(piece))
                    if not memory.verify(deep=True).whole:
                        found.torn.append(f"migrating: {piece} is not whole")
                    if memory.show(kept.item_id).words == "":
                        found.torn.append(f"migrating: {piece} does not take what is written")
            except StoreError as error:
                (found.lost if piece in done else found.torn).append(f"migrating: {piece} ({before} bytes): {error}")
            if self.url:
                _drop_database(self.url, piece)
            else:
                for file in self.folder.glob(f"{piece}.db*"):
                    file.unlink()

    def examine(self, found: Found) -> None:
        """Every store was examined when it was looked at."""


# -- databases ------------------------------------------------------------------------------------------------


def _database(url: str, name: str) -> str:
    head, _, query = url.partition("?")
    base = head.rpartition("/")[0]
    return f"{base}/{name}" + (f"?{query}" if query else "")


def _create_database(url: str, name: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'create database "{name}"'.encode())


def _drop_database(url: str, name: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'drop database if exists "{name}" with (force)'.encode())


WORKS: Mapping[str, type[Work]] = {
    work.name: work for work in (Erasing, Compressing, RollingBack, Importing, Restoring, Migrating)
}


def acknowledge(ack: Ack) -> None:
    os.write(1, (json.dumps(ack) + "\n").encode())  # shorter than a pipe's buffer, hence whole or not there at all
