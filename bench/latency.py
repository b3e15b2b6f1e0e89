"""What a query costs in a tenant of a given size, beside others that keep texts with vectors.

    python -m bench.latency --engine sqlite --size 100000
    python -m bench.latency --engine postgres --size 10000

`size` memories are loaded in bulk: each is an item with its R3 and the event that it cites, so there are twice as many
texts and vectors. A query is the product's own `Memory.query` with an embedder that knows the vectors of its questions
already; `embed_p50` is the bundled one, apart. CPU is the time of this process over all its threads, in milliseconds;
on PostgreSQL `server_cpu_mean` is what the server's processes spend on a query. `filtered` queries name a user, a
category and an importance. `evidence_p95` is a query for events, `default_p95` one for memories and events together,
which is what a user gets who says nothing about it. `bytes_per_vector` is what a fresh process grows by as
everything is loaded. `server_wall_p95` is the wall time through `recollect serve`, the embedding included;
`server_ready_s` the time from its start until it answers, `server_first_s` the first answer.

Peers are LangGraph's stores with the same texts and vectors of the items, one search each for ten results.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import Any, cast

import apsw
import numpy as np
import psutil
import psycopg
from langgraph.store.base import PutOp
from langgraph.store.postgres import PostgresStore
from langgraph.store.sqlite import SqliteStore  # pyright: ignore[reportMissingTypeStubs]

from bench import crowd
from bench.postgres import Server, temporary_postgres
from bench.serving import served
from recollect.clock import SystemClock
from recollect.custody import Deps
from recollect.domain.ids import TenantId
from recollect.domain.query import Filters, Query, Source
from recollect.domain.scope import Principal, Role, Sight
from recollect.holdings import Wanted
from recollect.memory import Memory
from recollect.models.local import LocalEmbedder
from recollect.ports import Store
from recollect.store.postgres.engine import PostgresEngine
from recollect.store.sidecar import FileErasures, FileSeal
from recollect.store.sql import SqlStore
from recollect.store.sqlite.engine import SqliteEngine

TENANT = TenantId("crowd")
SEED = 1
DISTINCT = 4_000
"""Texts that are really embedded, at most; never more than there are memories."""
WORDS = 50_000
DIMENSION = 384
PEERS_UP_TO = 100_000
SERVED, PEER_QUERIES = 100, 50


class Known:
    """An embedder that knows the vectors of its texts already."""

    name = LocalEmbedder.name
    profile = LocalEmbedder.profile

    def __init__(self, vectors: Mapping[str, bytes]) -> None:
        self._vectors = vectors

    def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        nothing = bytes(len(next(iter(self._vectors.values()))))
        return [self._vectors.get(text, nothing) for text in texts]


@dataclass(frozen=True)
class Question:
    text: str
    vector: bytes
    filters: Filters


def questions(chance: np.random.Generator, spoken: crowd.Language, base: Any, count: int) -> list[Question]:
    """Some words of something that might have been said, as people ask about it."""
    said = crowd.texts(chance, spoken, count)
    made = crowd.vectors(chance, base, count)
    asked: list[Question] = []
    for number, (text, vector) in enumerate(zip(said, made, strict=True)):
        words = text.rstrip(".").lower().split()
        some = chance.choice(words, min(len(words), int(chance.integers(4, 9))), replace=False)
        filters = Filters(
            user_id=crowd.USERS[number % len(crowd.USERS)],
            categories=frozenset(crowd.CATEGORIES[:3]),
            importance_min=2,
        )
        asked.append(Question(f"What about the {' '.join(some)}?", vector.tobytes(), filters))
    return asked


# -- Recollect ----------------------------------------------------------------------------------------------


def loaded(store: Store, size: int, spoken: crowd.Language, base: Any) -> None:
    if TENANT in store.tenants():
        return
    began = time.perf_counter()
    store.load(TENANT, crowd.exported(size, SEED, spoken, base))
    print(f"{size} memories loaded in {time.perf_counter() - began:.0f} s", file=sys.stderr)


def opened(store: Store, folder: Path, asked: Sequence[Question]) -> Memory:
    embedder = Known({question.text: question.vector for question in asked})
    deps = Deps(store, SystemClock(), FileErasures(folder / "erasures"), FileSeal(folder / "key"), embedder)
    return Memory(deps, Principal(tenant=TENANT, id="mira", role=Role.ADMIN))


@dataclass
class Costs:
    """CPU and wall of every use, in milliseconds."""

    cpu: list[float]
    wall: list[float]


def timed(uses: Sequence[Callable[[], object]], warm: int) -> Costs:
    """What each use costs, the first ones left out."""
    costs = Costs([], [])
    for use in uses:
        wall, cpu = time.perf_counter_ns(), time.process_time_ns()
        use()
        costs.cpu.append((time.process_time_ns() - cpu) / 1e6)
        costs.wall.append((time.perf_counter_ns() - wall) / 1e6)
    return Costs(costs.cpu[warm:], costs.wall[warm:])


def share(values: Sequence[float], percent: int) -> float:
    return round(quantiles(values, n=100)[percent - 1], 3)


def server_cpu(server: Server | None) -> float:
    """Milliseconds that the processes of a server have spent so far."""
    if server is None:
        return 0.0
    root = psutil.Process(server.process.pid)
    own = root.cpu_times()
    living = [process.cpu_times() for process in root.children(recursive=True)]
    ended = own.children_user + own.children_system
    return 1000 * (own.user + own.system + ended + sum(times.user + times.system for times in living))


def grown(path: Path) -> int:
    """How many bytes this process grows by as everything of a store is loaded: for a process of its own, in which
    nothing was given back before that could be used again."""
    store = SqlStore(SqliteEngine(path))
    vector = np.ones(DIMENSION, np.float32).tobytes()
    everything = Sight(users=None, projects=None, silo=None, readers=None)
    asked = Wanted(vector=vector, embedder=LocalEmbedder.name, filters=Filters(), sight=everything, limit=10)
    store.head(TENANT)
    before = psutil.Process().memory_info().rss
    store.find_items(TENANT, asked)
    store.find_events(TENANT, asked)
    return psutil.Process().memory_info().rss - before


def bytes_per_vector(url: str, size: int, engine: str) -> int:
    if engine != "sqlite":
        return 0  # the vectors are in the server
    command = [sys.executable, "-m", "bench.latency", "--grown", url]
    return round(int(subprocess.run(command, capture_output=True, text=True, check=True).stdout) / (2 * size))


def measure(memory: Memory, asked: Sequence[Question], server: Server | None, warm: int) -> dict[str, object]:
    def ask(question: Question, source: Source, filters: Filters) -> Callable[[], object]:
        return lambda: memory.query(Query(text=question.text, source=source, filters=filters))

    began = time.perf_counter()
    for source in Source:
        ask(asked[0], source, Filters())()
    first = time.perf_counter() - began
    spent = server_cpu(server)
    plain = timed([ask(question, Source.MEMORY, Filters()) for question in asked], warm)
    spent = server_cpu(server) - spent
    filtered = timed([ask(question, Source.MEMORY, question.filters) for question in asked], warm)
    evidence = timed([ask(question, Source.EVIDENCE, Filters()) for question in asked], warm)
    both = timed([ask(question, Source.ANY, Filters()) for question in asked], warm)
    return {
        "default_p50": share(both.cpu, 50),
        "default_p95": share(both.cpu, 95),
        "query_p50": share(plain.cpu, 50),
        "query_p95": share(plain.cpu, 95),
        "query_wall_p95": share(plain.wall, 95),
        "filtered_p95": share(filtered.cpu, 95),
        "evidence_p50": share(evidence.cpu, 50),
        "evidence_p95": share(evidence.cpu, 95),
        "first_two_s": round(first, 2),
        **({"server_cpu_mean": round(spent / len(asked), 3)} if server else {}),
    }


def embedding(asked: Sequence[Question], warm: int) -> float:
    embedder = LocalEmbedder()
    return share(timed([lambda text=question.text: embedder.embed([text]) for question in asked], warm).cpu, 50)


# -- through the server -------------------------------------------------------------------------------------


def through_the_server(url: str, asked: Sequence[Question], warm: int) -> dict[str, float]:
    """Wall times of queries over HTTP, with everything that belongs to them, and of the start of the server."""
    with served(url, TENANT) as server:
        address = f"{server.address}/api/memory/query"
        headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}

        def ask(question: Question) -> None:
            body = json.dumps({"query": question.text}).encode()
            with urllib.request.urlopen(urllib.request.Request(address, body, headers), timeout=120) as answer:
                answer.read()

        began = time.perf_counter()
        ask(asked[0])
        first = time.perf_counter() - began
        walls = timed([lambda q=q: ask(q) for q in asked[: SERVED + warm]], warm).wall
        return {
            "server_wall_p95": share(walls, 95),
            "server_ready_s": round(server.ready_s, 2),
            "server_first_s": round(first, 2),
        }


# -- peers --------------------------------------------------------------------------------------------------


def peer_rows(size: int, spoken: crowd.Language, base: Any) -> Iterator[tuple[str, str, bytes]]:
    """The items' texts with their vectors, as ours are loaded."""
    vectors: dict[str, bytes] = {}
    for row in crowd.exported(size, SEED, spoken, base):
        if row["table"] == "versions":
            vectors[str(row["id"])] = str(row["content"]).encode()
        elif row["table"] == "vectors" and str(row["ref"]).startswith("v:"):
            id = str(row["ref"])[2:]
            yield id, vectors[id].decode(), crowd.decoded(row)


class Loading:
    """What the peer needs of a connection, over a SQLite that loads extensions: Python's own may not."""

    def __init__(self, path: Path) -> None:
        self._own: Any = apsw.Connection(str(path))
        self.enable_load_extension, self.load_extension = self._own.enable_load_extension, self._own.load_extension
        self.execute = self.executescript = self._own.execute
        self.cursor, self.close = self._own.cursor, self._own.close

    def create_function(self, name: str, arguments: int, use: Callable[..., Any], *, deterministic: bool) -> None:
        self._own.create_scalar_function(name, use, arguments, deterministic=deterministic)


@contextmanager
def sqlite_peer(folder: Path, embed: Callable[[Sequence[str]], list[list[float]]]) -> Generator[SqliteStore]:
    connection = Loading(folder / "langgraph.db")
    try:
        connection.execute("pragma journal_mode = wal").fetchall()
        store = SqliteStore(cast(Any, connection), index={"dims": DIMENSION, "embed": embed, "fields": ["text"]})  # type: ignore[typeddict-item]
        store.setup()
        yield store
    finally:
        connection.close()


@contextmanager
def postgres_peer(url: str, embed: Callable[[Sequence[str]], list[list[float]]]) -> Generator[PostgresStore]:
    index: Any = {"dims": DIMENSION, "embed": embed, "fields": ["text"]}
    with PostgresStore.from_conn_string(url, index=index) as store:
        store.setup()
        yield store


def peer(
    store: Any,
    known: dict[str, list[float]],
    rows: Iterator[tuple[str, str, bytes]],
    asked: Sequence[Question],
    warm: int,
) -> dict[str, float]:
    batch: list[PutOp] = []
    began = time.perf_counter()
    for id, text, vector in rows:
        known[text] = np.frombuffer(vector, np.float32).tolist()
        batch.append(PutOp(("memories", "mira"), id, {"text": text}))
        if len(batch) == 500:
            store.batch(batch)
            batch = []
            known.clear()
    if batch:
        store.batch(batch)
    print(f"a peer was filled in {time.perf_counter() - began:.0f} s", file=sys.stderr)
    known |= {question.text: np.frombuffer(question.vector, np.float32).tolist() for question in asked}
    costs = timed([lambda q=q: store.search(("memories", "mira"), query=q.text, limit=10) for q in asked], warm)
    return {"query_p50": share(costs.cpu, 50), "query_p95": share(costs.cpu, 95), "wall_p95": share(costs.wall, 95)}


def peers(
    options: argparse.Namespace, folder: Path, spoken: crowd.Language, base: Any, asked: Sequence[Question]
) -> dict[str, dict[str, float]]:
    known: dict[str, list[float]] = {}

    def embed(texts: Sequence[str]) -> list[list[float]]:
        return [known[text if text in known else json.loads(text)["text"]] for text in texts]

    rows = peer_rows(options.size, spoken, base)
    some = asked[: options.warm + PEER_QUERIES]
    if options.engine == "sqlite":
        with sqlite_peer(folder, embed) as store:
            return {"langgraph_sqlite": peer(store, known, rows, some, options.warm)}
    with temporary_postgres() as server, postgres_peer(server.url, embed) as store:
        return {"langgraph_postgres": peer(store, known, rows, some, options.warm)}


# -- all of it ----------------------------------------------------------------------------------------------


def run(options: argparse.Namespace) -> dict[str, object]:
    size: int = options.size
    with ExitStack() as stack:
        kept = options.folder or stack.enter_context(tempfile.TemporaryDirectory(prefix="recollect-latency-"))
        folder = Path(kept)
        folder.mkdir(parents=True, exist_ok=True)
        os.environ["RECOLLECT_HOME"] = str(folder)
        spoken = crowd.language(np.random.default_rng(7), min(WORDS, 50 * size))
        base = crowd.embedded(LocalEmbedder(2), crowd.texts(np.random.default_rng(8), spoken, min(DISTINCT, size)))
        asked = questions(np.random.default_rng(9), spoken, base, options.queries + options.warm)
        server = stack.enter_context(temporary_postgres()) if options.engine == "postgres" else None
        url = server.url if server else str(folder / f"memory-{size}.db")
        store = SqlStore(PostgresEngine(url) if server else SqliteEngine(Path(url)))
        stack.callback(store.close)
        loaded(store, size, spoken, base)
        if server:
            _settled(server)
        figures = measure(opened(store, folder, asked), asked, server, options.warm)
        through = {"server_wall_p95": None} if options.no_server else through_the_server(url, asked, options.warm)
        beside = peers(options, folder, spoken, base, asked) if size <= options.peers_up_to else {}
        return {
            "engine": options.engine,
            "size": size,
            **figures,
            "bytes_per_vector": bytes_per_vector(url, size, options.engine),
            "embed_p50": embedding(asked, options.warm),
            **through,
            "peers": beside,
        }


def _settled(server: Server) -> None:
    """Statistics and visibility as a server has them that has been running for a while."""
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("vacuum analyze")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.latency", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--size", type=int, default=10_000, help="memories of the tenant")
    parser.add_argument("--queries", type=int, default=300, help="measured queries of each kind")
    parser.add_argument("--warm", type=int, default=30, help="queries before them")
    parser.add_argument("--folder", help="keep the loaded store here, and use one that is there (SQLite)")
    parser.add_argument("--peers-up-to", type=int, default=PEERS_UP_TO, help="the largest size at which peers run")
    parser.add_argument("--no-server", action="store_true", help="leave the measurement through the server out")
    parser.add_argument("--grown", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    print(grown(options.grown) if options.grown else json.dumps(run(options)))


if __name__ == "__main__":
    main()
