"""What it costs to be told something: one turn of at most 100 tokens, all that is done before the answer included.

    python -m bench.add
    python -m bench.add --engine postgres

A turn is redacted, appended, read for memories, compared with what is known, linked, embedded and journalled.
`cpu_p50` and `cpu_p95` are milliseconds of this process over all its threads while the caller waits; `later_cpu` is
what the jobs of one turn take afterwards (mean). `remember_*` is the same text as a statement, compared and embedded
before the answer. `edge_p95` is one edge, written by itself, `claim_p50` what a worker spends to take one
of some thousand jobs that wait. `bulk_per_s` is the number of such turns that become durable evidence in a second of
wall time when many come at once.

`settled_per_s` is what a user gets who runs `recollect serve` and nothing else: turns of long conversations are told to
it over HTTP, each when the one before is acknowledged; the clock stops when no job is left that follows from them
(memories, vectors, contradictions; a thread is summed up only after an hour of silence). `told_per_s` leaves out the
wait at the end. Settings are the defaults but for the daily cap, which would leave turns unread.
"""

import argparse
import json
import os
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean, median, quantiles

from bench.opening import Opened, opened
from bench.postgres import temporary_postgres
from bench.recall import conversations, threads
from bench.serving import served, wait_for_the_jobs
from recollect import Message, wiring
from recollect import settings as configuration
from recollect.domain.change import Link
from recollect.domain.ids import JobId, RecordId, TenantId
from recollect.domain.job import Finish, Job
from recollect.domain.query import Filters, Page
from recollect.domain.relation import Relation
from recollect.domain.scope import EVERYBODY, Actor, Role, Scope
from recollect.domain.text import tokens
from recollect.memory import Memory
from recollect.write.formats import Thread

TALK = Path(__file__).parent.parent / "training" / "data" / "conversations.jsonl.gz"
SETTLED = TenantId("settled")
NO_DAY_CAP = {"day_cap": "1000000"}
LONGEST = 100
NAMES = "Mira Ana Jonas Tunde Lena Pavel Aiko Rosa Emil Ines Omar Freya Hugo Nadia Cyrus".split()
PLACES = "Lisbon Leeds Graz Osaka Turin Gdansk Tampere Lyon Porto Bergen Malmo Ghent".split()
THINGS = (
    "the billing service|the search index|the mobile client|our staging cluster|the export job|the login page".split(
        "|"
    )
)
SAID = (
    "My sister {name} moved to {place} and starts at the hospital on {day}.",
    "We decided to move {thing} to PostgreSQL because the old queue lost messages twice.",
    "I prefer short answers, and I never want emails before nine.",
    "{thing} needs Node {number} now; run the setup script before any build.",
    "Could you check whether {thing} is still slow today?",
    "haha yes, thanks a lot, that was quick",
    "The deadline for {thing} is {day}; {name} reviews it and {other} writes the release notes.",
    "Suppose we had ten times the traffic, where would {thing} break first?",
    "I'm allergic to {allergen}, so please leave it out of every menu you suggest for {place}.",
    "Ticket {number}: {thing} returned ERR-{number} for {other}, fixed by restarting the worker in {place}.",
)
ALLERGENS = "walnuts celery shellfish soy sesame lupin".split()


def turns(seed: int) -> Iterator[str]:
    chance = random.Random(seed)
    while True:
        parts = [
            said.format(
                name=chance.choice(NAMES),
                other=chance.choice(NAMES),
                place=chance.choice(PLACES),
                thing=chance.choice(THINGS),
                number=chance.randint(100, 9999),
                day=f"{chance.randint(1, 28)} {chance.choice(['March', 'June', 'October'])}",
                allergen=chance.choice(ALLERGENS),
            )
            for said in chance.sample(SAID, chance.randint(1, 4))
        ]
        text = " ".join(parts)
        if tokens(text) <= LONGEST:
            yield text


def one_by_one(memory: Memory, count: int, warm: int) -> list[float]:
    texts = turns(1)
    spent: list[float] = []
    for number in range(warm + count):
        message = Message(text=next(texts), author="mira", role="user")
        began = time.process_time_ns()
        memory.ingest([message], thread_id=f"day {number // 40}")
        spent.append((time.process_time_ns() - began) / 1e6)
    return spent[warm:]


def statements(memory: Memory, count: int, warm: int) -> list[float]:
    texts = turns(4)
    spent: list[float] = []
    for _ in range(warm + count):
        text = next(texts)
        began = time.process_time_ns()
        memory.remember(text)
        spent.append((time.process_time_ns() - began) / 1e6)
    return spent[warm:]


def edges(house: Opened, count: int) -> list[float]:
    deps, tenant = house.deps, house.memory.principal.tenant
    items = house.memory.items(Filters(kinds=frozenset({"fact"})), Page(limit=200))
    pairs = [(a, b) for a in items for b in items if a.id != b.id]
    random.Random(2).shuffle(pairs)
    linked = {(edge.from_id, edge.to_id) for item in items for edge in deps.store.relations(tenant, item.id)}
    spent: list[float] = []
    for a, b in [(a, b) for a, b in pairs if (a.id, b.id) not in linked][:count]:
        now = deps.clock.now()
        edge = Relation(id=RecordId(deps.clock.mint()), from_id=a.id, to_id=b.id, strength=0.6, created_at=now)
        began = time.process_time_ns()
        deps.store.apply(Scope(tenant=tenant), [Link(edge)], actor=Actor(id="bench", role=Role.ADMIN), at=now)
        spent.append((time.process_time_ns() - began) / 1e6)
    return spent


def claims(house: Opened, waiting: int, count: int) -> list[float]:
    """Milliseconds of taking one job out of many that wait, as a worker does before each step."""
    store, tenant, now = house.deps.store, house.memory.principal.tenant, house.deps.clock.now()
    store.enqueue(
        tenant,
        [Job(id=JobId(house.deps.clock.mint()), kind="bench", key=str(n), not_before=now) for n in range(waiting)],
    )
    spent: list[float] = []
    for _ in range(count):
        began = time.process_time_ns()
        taken = store.claim("bench", now=now, lease=timedelta(minutes=1), kinds=["bench"], cap=2)
        spent.append((time.process_time_ns() - began) / 1e6)
        if taken:
            store.apply(Scope(tenant=tenant), [], actor=Actor(id="bench", role=Role.ADMIN), at=now, step=Finish(taken))
    return spent


def bulk(memory: Memory, count: int, threads: int) -> float:
    """Turns a second that become durable when many come at once."""
    texts = turns(3)
    start = datetime(2025, 1, 1, tzinfo=UTC)
    made = [
        Thread(
            f"bulk {number}",
            "",
            tuple(
                Message(text=next(texts), author="mira", role="user", ts=start + timedelta(minutes=turn))
                for turn in range(count // threads)
            ),
        )
        for number in range(threads)
    ]
    began = time.perf_counter()
    memory.bulk(made)
    return count / (time.perf_counter() - began)


# -- with all that follows ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Settled:
    """A conversation that was told to a server, from its first turn until nothing was left to do."""

    turns: int
    memories: int
    told_s: float
    """Until the last turn was acknowledged."""
    settled_s: float


def told_and_settled(address: str, talk: Sequence[Thread]) -> Settled:
    """Tell a server the turns one by one, each when the one before is acknowledged, and wait for its jobs."""
    with served(address, SETTLED, {**NO_DAY_CAP, "user": "mira"}) as server:
        client = server.client
        client.ingest([Message(text="Good morning.", author="mira", role="user")], thread_id="warm")
        store = wiring.open_store(configuration.load({"store": address}))
        try:
            wait_for_the_jobs(store, SETTLED)
            began = time.perf_counter()
            for thread in talk:
                for message in thread.messages:
                    client.ingest([message], thread_id=thread.id)
            told = time.perf_counter() - began
            wait_for_the_jobs(store, SETTLED)
            settled = time.perf_counter() - began
            kept = store.items(SETTLED, Filters(kinds=frozenset({"fact"})), EVERYBODY, Page(limit=1000))
        finally:
            store.close()
    return Settled(sum(len(thread.messages) for thread in talk), len(kept), told, settled)


def talk(path: Path, count: int) -> list[Thread]:
    """The first turns of the conversations of a file, in their sessions, as if they were said when they are told."""
    found: list[Thread] = []
    for conversation in conversations(path):
        for thread in threads(conversation):
            room = count - sum(len(one.messages) for one in found)
            if room <= 0:
                return found
            said = tuple(replace(message, ts=None) for message in thread.messages[:room])
            found.append(Thread(f"{conversation['id']} {thread.id}", "", said))
    return found


# -- all of it ----------------------------------------------------------------------------------------------


def measure(address: str, args: argparse.Namespace) -> dict[str, object]:
    settled = told_and_settled(f"{address}{'' if '://' in address else '.settled'}", talk(args.talk, args.told))
    settings = configuration.load({"store": address, "tenant": "bench", "user": "mira"})
    with opened(replace(settings, day_cap=1_000_000)) as house:
        spent = one_by_one(house.memory, args.turns, args.warm)
        began = time.process_time_ns()
        house.settle()
        later = (time.process_time_ns() - began) / 1e6 / (args.turns + args.warm)
        stated = quantiles(statements(house.memory, args.turns // 2, args.warm // 8), n=100)
        edge = edges(house, 300)
        claim = claims(house, args.bulk, 20)
        durable = bulk(house.memory, args.bulk, 10)
    cuts = quantiles(spent, n=100)
    return {
        "engine": args.engine,
        "turns": args.turns,
        "cpu_p50": round(cuts[49], 2),
        "cpu_p95": round(cuts[94], 2),
        "cpu_mean": round(fmean(spent), 2),
        "later_cpu": round(later, 2),
        "remember_p50": round(stated[49], 2),
        "remember_p95": round(stated[94], 2),
        "edge_p95": round(quantiles(edge, n=100)[94], 2),
        "claim_p50": round(median(claim), 2),
        "bulk_per_s": round(durable),
        "settled_per_s": round(settled.turns / settled.settled_s, 1),
        "told_per_s": round(settled.turns / settled.told_s, 1),
        "told": settled.turns,
        "told_memories": settled.memories,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--turns", type=int, default=600, help="turns that are measured one by one")
    parser.add_argument("--warm", type=int, default=400, help="turns before them")
    parser.add_argument("--bulk", type=int, default=3000, help="turns that come at once")
    parser.add_argument("--talk", type=Path, default=TALK, help="conversations to tell a server")
    parser.add_argument("--told", type=int, default=400, help="turns of them")
    args = parser.parse_args(arguments)
    os.environ.pop("RECOLLECT_EMBEDDER", None)
    with tempfile.TemporaryDirectory(prefix="recollect-add-") as folder:
        os.environ["RECOLLECT_HOME"] = folder
        if args.engine == "postgres":
            with temporary_postgres() as server:
                print(json.dumps(measure(server.url, args)))
        else:
            print(json.dumps(measure(str(Path(folder) / "memory.db"), args)))


if __name__ == "__main__":
    main()
