"""What one durable write costs: event, memory, version, journal and text index in one synchronised commit.

    python -m bench.write --engine sqlite
    python -m bench.write --engine postgres --profile

Every write is measured by itself: CPU is the time of this process over all its threads, wall the time that the caller
waits. Recollect and its peers take turns in blocks on the same texts, so that a noisy machine bothers all of them.
The peer is LangGraph's SqliteStore.put without an index, as it comes (a rollback journal) and in WAL mode: one row and
no history, text index or evidence. On PostgreSQL `server_cpu_mean` is what the server's processes spend on a write.
"""

import argparse
import cProfile
import json
import os
import pstats
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, quantiles
from uuid import uuid4

import psutil
from langgraph.store.sqlite import SqliteStore  # pyright: ignore[reportMissingTypeStubs]

from bench.opening import opened
from bench.postgres import Server, temporary_postgres
from recollect import Message, Visibility
from recollect import settings as configuration
from recollect.domain.change import Append, Create, Derive
from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId, VersionId
from recollect.domain.item import Fact
from recollect.domain.level import Level
from recollect.domain.scope import Scope, actor
from recollect.domain.text import tokens
from recollect.domain.version import Version
from recollect.domain.witness import Bullet, EventWitness
from recollect.write.owner import Owner

WARM_UP = 200
BLOCK = 50
LONGEST = 100
"""Tokens of a text, at most."""

WHO = ("Mira", "Ana", "the platform team", "our customer in Lyon", "the reviewer", "Jonas from support", "the auditor")
DID = (
    "prefers to hear about failed deployments before the stand-up",
    "moved the billing service from the old queue to PostgreSQL",
    "asked that exports never contain e-mail addresses",
    "wants the nightly backup to be tested on the first Monday of the month",
    "decided against a second cache after the outage in March",
    "keeps the staging password in the vault under team/staging",
    "found that retries without jitter took the payment provider down",
)
WHY = (
    "because the last incident was noticed by a customer first",
    "since the contract with the hosting company ends in autumn",
    "so that new colleagues can follow what happened and why",
    "although the measurements of last week were not conclusive",
    "and wrote it into ADR {number}, which the architects signed",
    "until release {number} is out and the flags are removed",
)


def sentences(seed: int) -> Iterator[str]:
    """Statements as people make them, up to 100 tokens long."""
    chance = random.Random(seed)
    while True:
        parts = [chance.choice(WHO), chance.choice(DID)]
        parts += chance.sample(WHY, chance.randint(1, 4))
        text = " ".join(parts).format(number=chance.randint(1, 9999)) + f" (ticket {chance.randint(1000, 99999)})."
        if tokens(text) <= LONGEST:
            yield text


@dataclass
class Writer:
    """Somebody who keeps a text for good, and what it cost them so far."""

    keep: Callable[[str], object]
    cpu: list[float] = field(default_factory=list[float])
    wall: list[float] = field(default_factory=list[float])

    def write(self, text: str) -> None:
        wall, cpu = time.perf_counter_ns(), time.process_time_ns()
        self.keep(text)
        cpu, wall = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
        self.cpu.append(cpu / 1e6)
        self.wall.append(wall / 1e6)


@contextmanager
def recollect(store: str) -> Generator[Writer]:
    """The write by itself: what comes before it, comparing and embedding, is in bench.add."""
    settings = configuration.load({"store": store, "tenant": "bench", "user": "mira", "embedder": "none"})
    with opened(settings) as house:
        memory, deps = house.memory, house.deps
        scope = Scope(tenant=settings.tenant, user_id="mira", thread_id="notes")
        thread = memory.append([Message(text="Good morning.", author="mira")], thread_id="notes").episode_id
        owner = Owner(deps.store, scope, Visibility.USER_PRIVATE, "mira")

        def keep(text: str) -> None:
            now = deps.clock.now()
            event = Event(id=EventId(deps.clock.mint()), item_id=thread, ts=now, author="mira", text=text)
            item = owner.item(ItemId(deps.clock.mint()), Fact(value=text), now, category="knowledge")
            version = Version(
                id=VersionId(deps.clock.mint()),
                item_id=item.id,
                level=Level.R3,
                content=text,
                bullets=(Bullet(text, (EventWitness(event.id, "said so"),)),),
                created_at=now,
            )
            deps.store.apply(
                scope, [Append(event), Create(item), Derive(version)], actor=actor(memory.principal), at=now
            )

        yield Writer(keep)


@contextmanager
def langgraph(path: Path, mode: str) -> Generator[Writer]:
    connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    try:
        connection.execute(f"pragma journal_mode = {mode}")
        connection.execute("pragma synchronous = full")
        store = SqliteStore(connection)
        store.setup()
        yield Writer(lambda text: store.put(("memories", "mira"), str(uuid4()), {"text": text}))
    finally:
        connection.close()


def measure(writers: Mapping[str, Writer], writes: int, blocks: Callable[[str, Callable[[], None]], None]) -> None:
    """Every writer keeps the same texts, in turns."""
    texts = sentences(1)
    batch: list[str] = []

    def one_block(writer: Writer) -> None:
        for text in batch:
            writer.write(text)

    done = 0
    while done < WARM_UP + writes:
        batch = [next(texts) for _ in range(min(BLOCK, WARM_UP + writes - done))]
        for name, writer in writers.items():
            blocks(name, lambda writer=writer: one_block(writer))
        done += len(batch)
    for writer in writers.values():
        del writer.cpu[:WARM_UP], writer.wall[:WARM_UP]


@dataclass
class Meter:
    """The CPU time of a server's processes, read around the blocks of one writer."""

    of: str
    server: Server | None
    spent: float = 0.0

    def around(self, name: str, block: Callable[[], None]) -> None:
        before = self._read() if name == self.of else 0.0
        block()
        self.spent += self._read() - before if name == self.of else 0.0

    def _read(self) -> float:
        """Milliseconds, those of backends that have ended included."""
        if self.server is None:
            return 0.0
        root = psutil.Process(self.server.process.pid)
        own = root.cpu_times()
        living = [process.cpu_times() for process in root.children(recursive=True)]
        ended = own.children_user + own.children_system
        return 1000 * (own.user + own.system + ended + sum(times.user + times.system for times in living))


def profile(writer: Writer, writes: int = 1000) -> None:
    """Where the time of a write goes, by function, its own time first."""
    texts = sentences(2)
    profiler = cProfile.Profile()
    for text in (next(texts) for _ in range(writes)):
        profiler.enable()
        writer.keep(text)
        profiler.disable()
    pstats.Stats(profiler, stream=sys.stderr).sort_stats("tottime").print_stats(25)


def run(engine: str, writes: int, profiled: bool) -> dict[str, object]:
    with ExitStack() as stack:
        folder, others = (
            Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="recollect-write-"))) for _ in range(2)
        )
        os.environ["RECOLLECT_HOME"] = str(folder)
        server = stack.enter_context(temporary_postgres()) if engine == "postgres" else None
        ours = stack.enter_context(recollect(server.url if server else str(folder / "memory.db")))
        writers = {
            "recollect": ours,
            "langgraph_sqlite": stack.enter_context(langgraph(others / "langgraph.db", "delete")),
            "langgraph_sqlite_wal": stack.enter_context(langgraph(others / "langgraph-wal.db", "wal")),
        }
        meter = Meter("recollect", server)
        measure(writers, writes, meter.around)
        if profiled:
            profile(ours)
        for name, writer in writers.items():
            print(
                f"{name}: CPU p50 {_share(writer.cpu, 50):.3f}, p95 {_share(writer.cpu, 95):.3f}, "
                f"mean {fmean(writer.cpu):.3f} ms; wall p50 {_share(writer.wall, 50):.3f}, "
                f"p95 {_share(writer.wall, 95):.3f} ms",
                file=sys.stderr,
            )
        return {
            "engine": engine,
            "writes": len(ours.cpu),
            "cpu_p50": round(_share(ours.cpu, 50), 4),
            "cpu_p95": round(_share(ours.cpu, 95), 4),
            "cpu_mean": round(fmean(ours.cpu), 4),
            "wall_p50": round(_share(ours.wall, 50), 4),
            "wall_p95": round(_share(ours.wall, 95), 4),
            "peers": {name: round(_share(writers[name].cpu, 50), 4) for name in writers if name != "recollect"},
            **({"server_cpu_mean": round(meter.spent / (WARM_UP + writes), 4)} if server else {}),
        }


def _share(values: list[float], percent: int) -> float:
    return quantiles(values, n=100)[percent - 1]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.write", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--writes", type=int, default=3000, help="measured writes of each")
    parser.add_argument("--profile", action="store_true", help="where the time goes, by function")
    options = parser.parse_args(arguments)
    if options.writes < BLOCK:
        parser.error(f"measure at least {BLOCK} writes")
    print(json.dumps(run(options.engine, options.writes, options.profile)))


if __name__ == "__main__":
    main()
