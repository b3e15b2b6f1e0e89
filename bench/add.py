"""What it costs to be told something: one turn of at most 100 tokens, all that is done before the answer included.

    python -m bench.add
    python -m bench.add --engine postgres

A turn is redacted, appended, read for memories, compared with what is known, linked, embedded and journalled.
`cpu_p50` and `cpu_p95` are milliseconds of this process over all its threads while the caller waits; `later_cpu` is
what the jobs of one turn take afterwards (mean). `remember_*` is the same text as a statement, compared and embedded
before the answer. `edge_p95` is one edge, written by itself. `bulk_per_s` is the number
of such turns that become durable evidence in a second of wall time when many come at once; `settled_per_s` counts
vectors and memories in.
"""

import argparse
import json
import os
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean, quantiles

from bench.postgres import temporary_postgres
from recollect import Message, wiring
from recollect import settings as configuration
from recollect.domain.change import Link
from recollect.domain.ids import RecordId
from recollect.domain.query import Filters, Page
from recollect.domain.relation import Relation
from recollect.domain.scope import Actor, Role, Scope
from recollect.domain.text import tokens
from recollect.memory import Memory
from recollect.write.formats import Thread

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


@contextmanager
def opened(address: str) -> Iterator[Memory]:
    settings = configuration.load({"store": address, "tenant": "bench", "user": "mira"})
    memory = wiring.connect(replace(settings, day_cap=1_000_000), create=True)
    try:
        yield memory
    finally:
        memory.close()


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


def edges(memory: Memory, count: int) -> list[float]:
    deps = memory._deps
    items = memory.items(Filters(kinds=frozenset({"fact"})), Page(limit=200))
    pairs = [(a, b) for a in items for b in items if a.id != b.id]
    random.Random(2).shuffle(pairs)
    linked = {
        (edge.from_id, edge.to_id) for item in items for edge in deps.store.relations(memory.principal.tenant, item.id)
    }
    spent: list[float] = []
    for a, b in [(a, b) for a, b in pairs if (a.id, b.id) not in linked][:count]:
        now = deps.clock.now()
        edge = Relation(id=RecordId(deps.clock.mint()), from_id=a.id, to_id=b.id, strength=0.6, created_at=now)
        began = time.process_time_ns()
        deps.store.apply(
            Scope(tenant=memory.principal.tenant), [Link(edge)], actor=Actor(id="bench", role=Role.ADMIN), at=now
        )
        spent.append((time.process_time_ns() - began) / 1e6)
    return spent


def bulk(memory: Memory, count: int, threads: int) -> tuple[float, float]:
    """Turns a second: durable, and with all that follows done."""
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
    durable = time.perf_counter() - began
    settle(memory)
    return count / durable, count / (time.perf_counter() - began)


def settle(memory: Memory) -> int:
    settings = configuration.load({"store": "unused", "user": "mira"})
    return wiring.workers(memory._deps, settings).run_until_idle()


def measure(address: str, args: argparse.Namespace) -> dict[str, object]:
    with opened(address) as memory:
        spent = one_by_one(memory, args.turns, args.warm)
        began = time.process_time_ns()
        settle(memory)
        later = (time.process_time_ns() - began) / 1e6 / (args.turns + args.warm)
        stated = quantiles(statements(memory, args.turns // 2, 50), n=100)
        edge = edges(memory, 300)
        durable, settled = bulk(memory, args.bulk, 10)
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
        "bulk_per_s": round(durable),
        "settled_per_s": round(settled),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--turns", type=int, default=600)
    parser.add_argument("--warm", type=int, default=400)
    parser.add_argument("--bulk", type=int, default=3000)
    args = parser.parse_args()
    os.environ.pop("RECOLLECT_EMBEDDER", None)
    if args.engine == "postgres":
        with temporary_postgres() as server:
            print(json.dumps(measure(server.url, args)))
    else:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(measure(str(Path(folder) / "memory.db"), args)))


if __name__ == "__main__":
    main()
