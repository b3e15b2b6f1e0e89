"""Kills writers in the middle of their work and counts what was lost.

    python -m bench.crash --engine sqlite --rounds 300
    python -m bench.crash --engine postgres --rounds 50
    python -m bench.crash --engine sqlite --rounds 50 --during all

A round starts a writer process that remembers, appends and revises from several threads and acknowledges each write
on a pipe once it returns. At a random moment after the first acknowledgement the writer is killed with SIGKILL; on
PostgreSQL every third time the whole server is, and is started again. One store lives through all rounds, and what a
round added is held against its journal and its indexes before the next one; the whole store is examined at the end.

With `--during`, what is killed erases, compresses, rolls back, imports, restores or migrates, while others write:
bench/upheavals.py; `all` is as many rounds of each, and of plain writing.

`lost`: acknowledged writes of which anything is missing. `torn`: traces of a write that is there in part.
`least_acked`: what the round with the fewest acknowledged.
"""

import argparse
import json
import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import apsw
import psycopg

from bench.postgres import Server, start_postgres
from bench.upheavals import WORKS, Found, acknowledge
from recollect.care import audit
from recollect.domain.change import Append, Create, Derive, Link, Relink, Revise, plain
from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId, Rev, Seq, TenantId
from recollect.domain.item import Item
from recollect.domain.journal import Entry, body_hash, genesis, header_hash
from recollect.domain.level import Level
from recollect.domain.relation import Relation
from recollect.domain.scope import Sight
from recollect.domain.version import Version
from recollect.errors import StoreError
from recollect.memory import Memory
from recollect.ports import Store
from recollect.settings import load
from recollect.wiring import open_memory, open_store
from recollect.write.message import Message

WRITING = "writing"
TENANT = TenantId("crash")
USER = "mira"
THREADS = 3
LEAST = 10
"""Acknowledgements that a writer lives to give."""
FEW = 2
"""Pieces of another work than writing that are done by then."""
WINDOW_S = 0.25
"""It lives for up to this long after them."""
PATIENCE_S = 60
SERVER_DIES = 1 / 3
UNSEEN = 1 / 4
"""How often the next writer comes before anybody has looked at what the last one left."""
WHOLE_EVERY = 100
EVERYTHING = Sight(users=None, projects=None, silo=None, readers=None)
SENTENCES = (
    "Mira moved the release of {} to the second Thursday of the month, after the audit.",
    "The staging database of {} is restored every night at three and takes about an hour.",
    "Ana prefers tea over coffee when the meeting about {} starts before nine.",
    "Never deploy {} on a Friday: the on-call rota changes hands in the afternoon.",
)

Ack = dict[str, Any]


# -- the writer ---------------------------------------------------------------------------------------------


def write(store: str, seed: int) -> None:
    """Writes until it is killed, or until its server is."""
    logging.getLogger("psycopg").setLevel(logging.CRITICAL)  # it tells of connections that went with the server
    with open_memory(store, tenant=TENANT, user=USER) as memory:
        workers = [threading.Thread(target=_work, args=(memory, random.Random(f"{seed}/{n}"))) for n in range(THREADS)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()


def _work(memory: Memory, chance: random.Random) -> None:
    known: list[ItemId] = []
    thread = chance.choice(("notes", "kitchen", "office"))
    with suppress(StoreError):  # the server was killed: whatever is not acknowledged may be there or not
        while True:
            acknowledge(_one_write(memory, chance, thread, known))


def _one_write(memory: Memory, chance: random.Random, thread: str, known: list[ItemId]) -> Ack:
    turn = chance.random()
    if turn < 0.2 and known:
        item_id, tags = chance.choice(known), (_word(chance), _word(chance))
        return {"op": "revise", "item": item_id, "tags": tags, "rev": memory.revise(item_id, tags=tags)}
    if turn < 0.4:
        texts = [_sentence(chance) for _ in range(chance.randint(1, 3))]
        appended = memory.append([Message(text=text, author=USER) for text in texts], thread_id=thread)
        return {"op": "append", "events": appended.event_ids, "texts": texts, "rev": appended.rev}
    text = _sentence(chance)
    done = memory.remember(text, thread_id=thread)
    known.append(done.item_id)
    return {"op": "remember", "item": done.item_id, "events": [done.event_id], "texts": [text], "rev": done.rev}


def _sentence(chance: random.Random) -> str:
    return chance.choice(SENTENCES).format(_word(chance))


def _word(chance: random.Random) -> str:
    """A word that is in no other text."""
    return "x" + "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=15))


# -- the examination ----------------------------------------------------------------------------------------


@dataclass
class Examiner:
    """Follows the journal and holds what it tells against the rows, each entry once."""

    texts_of: Callable[[], tuple[int, int]]
    """How many texts the index holds, and how many of them belong to no row."""
    lost: list[str] = field(default_factory=list[str])
    torn: list[str] = field(default_factory=list[str])
    chain: list[str] = field(default_factory=list[str])
    acked: int = 0
    rev: int = 0
    seq: int = 0
    hash: str = ""
    items: dict[ItemId, Item] = field(default_factory=dict[ItemId, Item])
    events: set[EventId] = field(default_factory=set[EventId])
    versions: dict[str, Level] = field(default_factory=dict[str, Level])

    def look(self, store: Store, acks: Sequence[Ack]) -> None:
        """What is new since the last look, and whether everything acknowledged is among it."""
        self.hash = self.hash or genesis(store.head(TENANT).chain_id)
        writes = self._follow(store)
        for rev, entries in writes.items():
            self._is_whole(rev, entries)
        self._has_rows(store, [entry for entries in writes.values() for entry in entries])
        self.acked += len(acks)
        for ack in acks:
            entries = writes.get(ack["rev"], [])
            if missing := sorted(_told(ack) - {_named(entry) for entry in entries}):
                self.lost.append(f"revision {ack['rev']} ({ack['op']}) lacks {missing}")
            elif ack["op"] == "revise" and not any(_sets_tags(entry, ack["tags"]) for entry in entries):
                self.lost.append(f"revision {ack['rev']} does not hold the tags {ack['tags']}")
            elif not _texts(entries) >= set(ack.get("texts", ())):
                self.lost.append(f"revision {ack['rev']} does not hold its texts")

    def _follow(self, store: Store) -> dict[Rev, list[Entry]]:
        """The new entries by revision, link by link."""
        writes: dict[Rev, list[Entry]] = defaultdict(list)
        for entry in store.entries(TENANT, after=Seq(self.seq)):
            header = entry.header
            if (header.seq, header.prev_hash, header_hash(header)) != (self.seq + 1, self.hash, entry.hash):
                self.chain.append(f"entry {header.seq} does not follow entry {self.seq}")
            if entry.body is None:
                self.torn.append(f"entry {header.seq} has no body")
            elif body_hash(entry.body) != header.body_hash:
                self.chain.append(f"entry {header.seq} has another body than it was written with")
            self.seq, self.hash = header.seq, entry.hash
            writes[header.rev].append(entry)
        head = store.head(TENANT)
        if list(writes) != list(range(self.rev + 1, head.rev + 1)):
            self.torn.append(f"the revisions after {self.rev} are {list(writes)}, the store is at {head.rev}")
        if (head.seq, head.hash) != (self.seq, self.hash):
            self.chain.append(f"the journal ends at entry {self.seq}, the head names entry {head.seq}")
        self.rev = head.rev
        return writes

    def _is_whole(self, rev: int, entries: Sequence[Entry]) -> None:
        ops = [entry.header.op for entry in entries if entry.header.op not in ("link", "relink")]
        begun = ops[1:] if ops[:2] == ["create", "append"] else ops
        if not begun:
            return  # edges alone: a job's write
        if begun not in (["append", "create", "derive"], ["update"]) and set(begun) != {"append"}:
            self.torn.append(f"revision {rev} holds part of a write: {ops}")

    def _has_rows(self, store: Store, entries: Sequence[Entry]) -> None:
        touched: set[ItemId] = set()
        edges: dict[tuple[ItemId, ItemId], Relation] = {}
        for change in (plain(entry.change) for entry in entries if entry.change):
            match change:
                case Create(item):
                    self.items[item.id] = item
                    touched.add(item.id)
                case Revise(item_id, _, edits):
                    self.items[item_id] = replace(self.items[item_id], **{edit.field: edit.after for edit in edits})  # type: ignore[arg-type]
                    touched.add(item_id)
                case Append(event):
                    self.events.add(event.id)
                    self._has_event(store, event)
                case Derive(version):
                    self.versions[version.id] = version.level
                    self._has_version(store, version)
                case Link(relation) | Relink(_, relation):
                    edges[relation.from_id, relation.to_id] = relation
                case _:
                    self.torn.append(f"nobody wrote a {change}")
        for relation in edges.values():
            if relation not in store.relations(TENANT, relation.from_id):
                self.torn.append(f"relation {relation.id} is not what the journal tells of it")
        for item_id in touched:
            held = store.item(TENANT, item_id)
            if held is None or held.withdrawn or held.item != self.items[item_id]:
                self.torn.append(f"item {item_id} is not what the journal tells of it")

    def _has_event(self, store: Store, event: Event) -> None:
        if list(store.events_by_id(TENANT, [event.id])) != [event]:
            self.torn.append(f"event {event.id} is not what the journal tells of it")
        if f"e:{event.id}" not in _found(store, event.text):
            self.torn.append(f"event {event.id} is not in the text index")

    def _has_version(self, store: Store, version: Version) -> None:
        if version not in store.versions(TENANT, version.item_id):
            self.torn.append(f"version {version.id} is not what the journal tells of it")
        cited = {witness.event_id for bullet in version.bullets for witness in bullet.witnesses}  # type: ignore[union-attr]
        if cited != {event.id for event in store.cited(TENANT, [version.id])}:
            self.torn.append(f"version {version.id} lacks witnesses")
        if f"v:{version.id}" not in _found(store, version.content):
            self.torn.append(f"version {version.id} is not in the text index")

    def examine(self, store: Store) -> None:
        """The whole store: no row, no index entry and no place in a thread that the journal does not tell of."""
        verified = audit.verify(store, TENANT)
        self.chain += [f"entry {finding.seq}: {finding.what}" for finding in verified.findings]
        deep = audit.verify(store, TENANT, deep=True)
        self.torn += [finding.what for finding in deep.findings if finding not in verified.findings]
        if verified.entries != self.seq:
            self.chain.append(f"{self.seq} entries were followed, {verified.entries} are there")
        held: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in store.dump(TENANT):
            held[str(row["table"])].append(dict(row))
        places: dict[str, list[int]] = defaultdict(list)
        for event in held["events"]:
            places[event["item_id"]].append(event["seq"])
        compared: list[tuple[str, AbstractSet[object], AbstractSet[object]]] = [
            ("items", {row["id"] for row in held["items"]}, set(self.items)),
            ("events", {row["id"] for row in held["events"]}, self.events),
            ("versions", {row["id"] for row in held["versions"]}, set(self.versions)),
            ("cited events", {row["event_id"] for row in held["witnesses"]} - self.events, set()),
            ("citing versions", {row["version_id"] for row in held["witnesses"]} ^ set(self.versions), set()),
            ("journal", {row["seq"] for row in held["journal"]}, set(range(1, self.seq + 1))),
            ("bodies", {row["seq"] for row in held["journal_bodies"]}, set(range(1, self.seq + 1))),
            ("named things", {row["seq"] for row in held["journal_refs"]}, set(range(1, self.seq + 1))),
            ("places", {id for id, taken in places.items() if sorted(taken) != list(range(1, len(taken) + 1))}, set()),
            (
                "last places",
                {(row["id"], row["last_seq"]) for row in held["items"]},
                {(id, len(places[id])) for id in self.items},
            ),
            (
                "thread revisions",
                {(row["thread_id"], row["rev"]) for row in held["thread_revision"]},
                {
                    (thread, max(row["thread_rev"] for row in held["journal"] if row.get("thread_id") == thread))
                    for thread in {row.get("thread_id") for row in held["journal"]} - {None}
                },
            ),
        ]
        for what, found, told in compared:
            if found != told:
                self.torn.append(f"{what}: {len(found)} held, {len(told)} told: {sorted(map(str, found ^ told))[:5]}")
        indexed, stray = self.texts_of()
        expected = len(self.events) + sum(level is Level.R3 for level in self.versions.values())
        if (indexed, stray) != (expected, 0):
            self.torn.append(f"the text index holds {indexed} texts, {stray} of no row; there are {expected}")
        self.torn += list(store.integrity())


def _told(ack: Ack) -> set[tuple[str, str]]:
    """What the journal must tell of a write: what happened to which thing."""
    match ack["op"]:
        case "revise":
            return {("update", ack["item"])}
        case "append":
            return {("append", event_id) for event_id in ack["events"]}
        case _:
            return {("create", ack["item"]), ("derive", ack["item"]), ("append", ack["events"][0])}


def _named(entry: Entry) -> tuple[str, str | None]:
    change = plain(entry.change) if entry.change else None
    return entry.header.op, change.event.id if isinstance(change, Append) else entry.header.item_id


def _sets_tags(entry: Entry, tags: Sequence[str]) -> bool:
    change = plain(entry.change) if entry.change else None
    return isinstance(change, Revise) and any(e.field == "tags" and e.after == tuple(tags) for e in change.edits)


def _texts(entries: Sequence[Entry]) -> set[str]:
    changes = [plain(entry.change) for entry in entries if entry.change]
    return {change.event.text for change in changes if isinstance(change, Append)}


def _found(store: Store, text: str) -> set[str]:
    """What the text index gives for the one word of a text that no other has."""
    word = next(word for word in text.replace(":", " ").replace(",", " ").split() if len(word) == 16 and word[0] == "x")
    return {hit.ref for hit in store.search(TENANT, [word], EVERYTHING)}


# -- the places where it happens ----------------------------------------------------------------------------


@dataclass
class Place:
    """A store that lives through all rounds, and what can be killed of it."""

    store: str
    folder: Path
    server: Server | None = None

    def kill_server(self) -> None:
        assert self.server is not None
        self.server.kill()

    def start_server(self) -> None:
        self.server = start_postgres(self.folder / "server")

    def texts(self) -> tuple[int, int]:
        """Texts in the index, and those whose row is not there."""
        if self.server:
            with psycopg.connect(self.server.url) as connection:
                found = connection.execute(
                    "select count(*), count(*) filter (where "
                    "not exists (select from recollect.events e where 'e:' || e.id = ref) and "
                    "not exists (select from recollect.versions v where 'v:' || v.id = ref)) "
                    "from (select distinct tenant, ref from recollect.docs) d"
                ).fetchone()
        else:
            connection: Any = apsw.Connection(self.store)
            connection.execute("insert into texts (texts) values ('integrity-check')")
            connection.execute("create virtual table temp.places using fts5vocab (main, texts, instance)")
            found = connection.execute(
                "select count(*), count(*) filter (where not exists (select 1 from events e where e.rid * 2 = d.doc) "
                "and not exists (select 1 from versions v where v.rid * 2 + 1 = d.doc)) "
                "from (select distinct doc from temp.places where col = 'tenant') d"
            ).fetchone()
            connection.close()
        assert found is not None
        return found[0], found[1]


@contextmanager
def place(engine: str) -> Generator[Place]:
    base = "/tmp" if engine == "postgres" else None  # a socket's path is short, and others must be able to enter
    with tempfile.TemporaryDirectory(prefix="recollect-crash-", dir=base) as name:
        folder = Path(name)
        os.environ["RECOLLECT_HOME"] = str(folder / "home")
        os.environ["RECOLLECT_EMBEDDER"] = "none"  # texts of made-up words are all alike to it, and it takes its time
        if engine == "sqlite":
            yield Place(str(folder / "memory.db"), folder)
            return
        folder.chmod(0o755)
        here = Place("", folder)
        here.start_server()
        assert here.server is not None
        here.store = here.server.url
        try:
            yield here
        finally:
            here.server.stop()


# -- the rounds ---------------------------------------------------------------------------------------------


def one_round(here: Place, chance: random.Random, seed: int, *more: str) -> list[Ack]:
    """Start a writer, let it work, kill it or its server; what it acknowledged."""
    writer = subprocess.Popen(
        [sys.executable, "-m", "bench.crash", "--write", here.store, "--seed", str(seed), *more],
        stdout=subprocess.PIPE,
    )
    server_dies = here.server is not None and chance.random() < SERVER_DIES
    try:
        assert writer.stdout is not None
        first = b""
        while _told_of(first) < LEAST or (more and first.count(b'"done"') < FEW):
            line = writer.stdout.readline()
            if not line:
                raise RuntimeError(f"the writer ended before it had acknowledged much (status {writer.wait()})")
            first += line
        time.sleep(chance.random() * WINDOW_S)
        if writer.poll() is not None:
            raise RuntimeError(f"the writer ended by itself (status {writer.returncode})")
        if server_dies:
            here.kill_server()
    finally:
        writer.send_signal(signal.SIGKILL)
        rest = writer.stdout.read() if writer.stdout else b""  # all of it: communicate leaves out what was read ahead
        writer.wait(PATIENCE_S)
    if server_dies:
        here.start_server()
    lines = (first + rest).split(b"\n")
    return [json.loads(line) for line in lines[:-1]]


def _told_of(lines: bytes) -> int:
    """How many of these acknowledge something; the others tell what is begun."""
    return sum(1 for line in lines.splitlines() if b'"begun"' not in line)


def run_during(engine: str, kind: str, rounds: int, seed: int) -> dict[str, object]:
    """Rounds in which another work than plain writing is killed."""
    chance = random.Random(seed)
    began = time.monotonic()
    found, acked, servers = Found(), list[int](), 0
    with place(engine) as here:
        work = WORKS[kind](here.store, here.folder, here.server.url if here.server else "")
        work.prepare()
        for number in range(1, rounds + 1):
            server = here.server
            acks = one_round(here, chance, chance.getrandbits(32), "--during", kind, "--folder", str(here.folder))
            servers += here.server is not server
            acked.append(sum("begun" not in ack for ack in acks))
            work.look(acks, found)
            if number % 10 == 0 or number == rounds:
                print(
                    f"{kind} {number}/{rounds}: {sum(acked)} acknowledged, {len(found.lost)} lost, {len(found.torn)} "
                    f"torn, {len(found.chain)} breaks in the chain, {time.monotonic() - began:.0f} s",
                    file=sys.stderr,
                )
        work.examine(found)
    for what in [*found.lost, *found.torn, *found.chain][:40]:
        print(what, file=sys.stderr)
    return {
        "engine": engine,
        "during": kind,
        "rounds": rounds,
        "acked": sum(acked),
        "least_acked": min(acked),
        "lost": len(found.lost),
        "torn": len(found.torn),
        "chain_ok": not found.chain,
        "server_kills": servers,
        "seed": seed,
        "seconds": round(time.monotonic() - began),
    }


def run_all(engine: str, rounds: int, seed: int) -> dict[str, object]:
    """As many rounds of plain writing and of each of the other works, told together and one by one."""
    each = [run(engine, rounds, seed), *(run_during(engine, kind, rounds, seed) for kind in WORKS)]
    counts = ("rounds", "acked", "lost", "torn", "server_kills", "seconds")
    total: dict[str, object] = {name: sum(int(str(one[name])) for one in each) for name in counts}
    whole = all(one["chain_ok"] for one in each)
    least = min(int(str(one["least_acked"])) for one in each)
    return {"engine": engine, **total, "least_acked": least, "chain_ok": whole, "seed": seed, "during": each}


def run(engine: str, rounds: int, seed: int) -> dict[str, object]:
    chance = random.Random(seed)
    began = time.monotonic()
    servers, least = 0, sys.maxsize
    with place(engine) as here:
        with open_memory(here.store, tenant=TENANT, user=USER):
            pass
        examiner = Examiner(here.texts)
        unseen: list[Ack] = []
        for number in range(1, rounds + 1):
            server = here.server
            acks = one_round(here, chance, chance.getrandbits(32))
            unseen += acks
            least = min(least, len(acks))
            servers += here.server is not server
            whole = number == rounds or number % WHOLE_EVERY == 0
            if not whole and chance.random() < UNSEEN:
                continue
            _look(here, examiner, unseen, whole)
            unseen = []
            if number % 10 == 0 or whole:
                print(
                    f"round {number}/{rounds}: {examiner.acked} acknowledged, {len(examiner.lost)} lost, "
                    f"{len(examiner.torn)} torn, {len(examiner.chain)} breaks in the chain, "
                    f"{time.monotonic() - began:.0f} s",
                    file=sys.stderr,
                )
    for what in [*examiner.lost, *examiner.torn, *examiner.chain][:40]:
        print(what, file=sys.stderr)
    return {
        "engine": engine,
        "during": WRITING,
        "rounds": rounds,
        "acked": examiner.acked,
        "least_acked": least,
        "lost": len(examiner.lost),
        "torn": len(examiner.torn),
        "chain_ok": not examiner.chain,
        "revisions": examiner.rev,
        "server_kills": servers,
        "seed": seed,
        "seconds": round(time.monotonic() - began),
    }


def _look(here: Place, examiner: Examiner, acks: Sequence[Ack], whole: bool) -> None:
    store = open_store(load({"store": here.store, "tenant": TENANT, "user": USER}))
    try:
        examiner.look(store, acks)
        if whole:
            examiner.examine(store)
    finally:
        store.close()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.crash", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=None, help="makes the same texts again, not the same moments")
    parser.add_argument("--during", choices=(WRITING, *WORKS, "all"), default=WRITING, help="what is killed")
    parser.add_argument("--folder", type=Path, default=Path(), help=argparse.SUPPRESS)
    parser.add_argument("--write", metavar="STORE", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    seed = random.randrange(2**32) if options.seed is None else options.seed
    if options.write and options.during != WRITING:
        url = options.write if options.write.startswith("postgres") else ""
        for noisy in ("psycopg", "recollect.jobs"):  # of a server that was killed, and of jobs that wait their turn
            logging.getLogger(noisy).setLevel(logging.CRITICAL)
        WORKS[options.during](options.write, options.folder, url).run(acknowledge, random.Random(seed))
        return
    if options.write:
        write(options.write, seed)
        return
    if options.rounds < 1:
        parser.error("give at least one round")
    match options.during:
        case "all":
            told = run_all(options.engine, options.rounds, seed)
        case kind if kind in WORKS:
            told = run_during(options.engine, kind, options.rounds, seed)
        case _:
            told = run(options.engine, options.rounds, seed)
    print(json.dumps(told))


if __name__ == "__main__":
    main()
