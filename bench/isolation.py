"""Whether anybody learns anything of what is not theirs: random operations over HTTP, held against an oracle.

    python -m bench.isolation
    python -m bench.isolation --engine postgres --operations 20000

Members, agents, an agent with a short list, a moderator, an admin and the same names in another tenant remember, take
in, ask, look, mark and change, by ids of their own, of others and of nobody. Each text holds a word of its own.
`texts`: answers with a word that the asker may not see. `ids`: answers with the id of something that the asker may not
see. `counts`: answers to Ana and her agents that are not the same in a second store, in which nobody else ever was.
All of them must be 0; `examples` tells the first that were not.
"""

import argparse
import json
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import psycopg

from bench.asking import DAWN, Asked, Reply, asked
from bench.cast import CANARY, EVERYBODY, HERE, SUBJECTS, THERE, Oracle, Place, holds, in_sight, place_of
from bench.postgres import temporary_postgres
from bench.steps import Step, Steps
from recollect.domain import codec
from recollect.domain.item import Item
from recollect.errors import RecollectError

_UNTOLD = frozenset({"rev", "seq", "undoes", "cause"})
"""Numbers of the tenant's journal: they count everybody's writes, and are no secret."""
_ALWAYS_UNTOLD = frozenset({"rev", "tokens"})
"""The revision, and what its digits in a delta header cost."""
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SHORT = re.compile(r"\b[0-9a-f]{8}\b")
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d):\d\d(?:\.\d+)?")
_SINCE = re.compile(r"since rev \d+")
_EXAMPLES = 5
_TOLD_EVERY = 1_000
_MINUTES = 2
"""Between two operations: threads fall silent, nights pass; nothing is forgotten yet for want of use."""


@dataclass
class Found:
    """What must be nothing."""

    operations: int = 0
    statuses: Counter[int] = field(default_factory=Counter[int])
    texts: int = 0
    ids: int = 0
    counts: int = 0
    examples: list[str] = field(default_factory=list[str])

    def note(self, what: str, step: Step, told: str) -> None:
        setattr(self, what, getattr(self, what) + 1)
        if sum(one.startswith(what) for one in self.examples) < _EXAMPLES:
            self.examples.append(f"{what}: {step.who} {step.method} {step.at(0)} {step.body_at(0)}: {told}")
            print(f"operation {self.operations}: {self.examples[-1]}", file=sys.stderr, flush=True)

    @property
    def document(self) -> dict[str, object]:
        statuses = {str(status): count for status, count in sorted(self.statuses.items())}
        told: dict[str, object] = {"operations": self.operations, "statuses": statuses}
        return {**told, "texts": self.texts, "ids": self.ids, "counts": self.counts, "examples": self.examples}


class Names:
    """Ids as one store has them, under names that another store's can be compared by: in the order they come up."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def plain(self, text: str) -> str:
        text = _ID.sub(lambda found: self._name(found[0]), text)
        shorts = {id[-8:]: name for id, name in self._known.items()} if _SHORT.search(text) else {}
        text = _SHORT.sub(lambda found: self._short(found[0], shorts), text)
        return _SINCE.sub("since rev", _TIME.sub(r"\1", text))

    def _short(self, found: str, shorts: Mapping[str, str]) -> str:
        """Of letters alone it may be a word; where it is the end of an id that was told, it is none."""
        return f"short {shorts.get(found, '')}" if found in shorts or not found.isalpha() else found

    def _name(self, id: str) -> str:
        return self._known.setdefault(id, f"#{len(self._known)}")


def comparable(reply: Reply, names: Names, *, history: bool) -> str:
    """An answer without what may differ between two stores: ids, parts of a minute, numbers of the journal."""
    try:
        document = reply.document
    except ValueError:
        return f"{reply.status} {reply.text}"
    return f"{reply.status} {names.plain(json.dumps(_without(document, history), ensure_ascii=False))}"


def _without(value: Any, history: bool) -> Any:
    if isinstance(value, Mapping):
        left_out = _ALWAYS_UNTOLD | _UNTOLD if history else _ALWAYS_UNTOLD
        fields = cast(Mapping[str, Any], value)
        return {name: _without(one, history) for name, one in fields.items() if name not in left_out}
    if isinstance(value, list):
        return [_without(one, history) for one in cast(list[Any], value)]
    return value


class Drive:
    """Two servers: one for everybody, one in which the subjects are alone."""

    def __init__(self, full: Asked, alone: Asked, seed: int) -> None:
        self._servers = (full, alone)
        self._names = (Names(), Names())
        self._random = random.Random(seed)
        self._oracle = Oracle()
        self._steps = Steps(self._random, self._oracle)
        self._told: dict[tuple[str, str], Step] = {}
        self._places: dict[str, Place] = {}
        self.found = Found()

    def run(self, operations: int) -> Found:
        for number in range(1, operations + 1):
            at = DAWN + timedelta(minutes=number * _MINUTES)
            for server in self._servers:
                server.clock.move_to(at)
            self._step(self._steps.next())
            if number % 20 == 0:
                self._work()
            if number % 150 == 0:
                self._erase()
            if number % _TOLD_EVERY == 0:
                found = self.found
                told = f"{found.texts} texts, {found.counts} counts; ids are told at the end"
                print(f"operation {number}/{operations}: {told}", file=sys.stderr, flush=True)
        self._judge_ids()
        return self.found

    def _step(self, step: Step) -> None:
        who = EVERYBODY[step.who]
        self.found.operations += 1
        first = self._servers[0].ask(who, step.method, step.at(0), step.body_at(0))
        self.found.statuses[first.status] += 1
        if first.status >= 500 and first.status != 503:
            self.found.note("texts", step, first.text)
        self._look(step, first)
        second = None
        if step.who in SUBJECTS:
            second = self._servers[1].ask(who, step.method, step.at(1), step.body_at(1))
            told = [
                comparable(reply, names, history="/history" in step.path)
                for reply, names in zip((first, second), self._names, strict=True)
            ]
            if told[0] != told[1]:
                self.found.note("counts", step, _difference(*told))
        self._steps.learn(step, first, second)

    def _look(self, step: Step, reply: Reply) -> None:
        """What the answer holds, against what the asker may see."""
        who, text = EVERYBODY[step.who], reply.text
        for canary in set(CANARY.findall(text)):
            if not self._oracle.sees(who, canary):
                self.found.note("texts", step, f"{canary} of {self._oracle.planted.get(canary)} in {text[:2000]}")
        if not step.path.startswith("/api/audit"):  # headers tell ids, to those who look after memory
            for id in set(_ID.findall(text)):
                self._told.setdefault((step.who, id), step)

    def _work(self) -> None:
        for server in self._servers:
            server.work()

    def _erase(self) -> None:
        """An owner erases something: nobody sees it from then on, and its id is as one that never was."""
        label = self._steps.any_memory()
        if label is None:
            return
        self._remember_places()
        for number in (0, 1) if label.owner in SUBJECTS else (0,):
            try:
                self._servers[number].acting(EVERYBODY[label.owner]).erase(label.ids[number])  # type: ignore[arg-type]
            except RecollectError:
                return
        self._oracle.planted.pop(label.canary, None)

    def _remember_places(self) -> None:
        """Where each thing is that has an id: a memory, a version and an event, before any of them is gone."""
        full = self._servers[0]
        for tenant in (HERE, THERE):
            lines = [json.loads(line) for line in full.state(tenant)]
            items = {row["item"]["id"]: codec.decode(Item, row["item"]) for row in lines if "item" in row}
            for id, item in items.items():
                self._places[id] = place_of(tenant, item)
            for row in (row[kind] for row in lines for kind in ("version", "event") if kind in row):
                if row["item_id"] in items:
                    self._places[row["id"]] = place_of(tenant, items[row["item_id"]])

    def _judge_ids(self) -> None:
        self._remember_places()
        for (name, id), step in self._told.items():
            place, who = self._places.get(id), EVERYBODY[name]
            if place is None or id in step.path or (id, name) in self._steps.made:
                continue
            if not in_sight(who, place) or not (place.category is None or holds(who, place.category)):
                self.found.note("ids", step, f"{id} of {place}")


def _difference(one: str, other: str) -> str:
    at = next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return f"…{one[max(0, at - 150) : at + 150]}… and alone …{other[max(0, at - 150) : at + 150]}…"


@contextmanager
def stores(engine: str, folder: Path) -> Generator[tuple[str, str]]:
    """Two places for stores."""
    if engine == "sqlite":
        yield str(folder / "full" / "memory.db"), str(folder / "alone" / "memory.db")
        return
    with temporary_postgres(options={"fsync": "off"}) as server:
        urls: list[str] = []
        for name in ("shared", "alone"):
            with psycopg.connect(server.url, autocommit=True) as connection:
                connection.execute(f"create database {name}")  # type: ignore[arg-type]
            urls.append(server.url.replace("/postgres?", f"/{name}?"))
        yield urls[0], urls[1]


def drive(engine: str, operations: int, seed: int, at: tuple[str, str] | None = None) -> Found:
    """So many operations. `at`: two empty stores, where they are there already."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        addresses = at or stack.enter_context(stores(engine, folder))
        servers: list[Asked] = []
        for one, address in zip(("full", "alone"), addresses, strict=True):
            (folder / one).mkdir(exist_ok=True)
            server = asked(folder / one, address, EVERYBODY)
            stack.callback(server.close)
            servers.append(server)
        return Drive(servers[0], servers[1], seed).run(operations)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--operations", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    found = drive(args.engine, args.operations, args.seed)
    print(json.dumps({"engine": args.engine, "seed": args.seed, **found.document}, ensure_ascii=False))
    sys.exit(1 if found.texts or found.ids or found.counts else 0)


if __name__ == "__main__":
    main()
