"""Whether what holds now is served, and what no longer holds is served as such.

    python -m bench.current --data shared/data/current_dev.jsonl
    python -m bench.current --data training/data/blind_stories.jsonl.gz -v

Each story is a tenant of its own. Its messages are taken in one by one on their days, with all that follows from each;
the question is asked on its day with the default answer. A statement is served where all its key terms stand in one
line, a stale one is marked where its line says until when it held. `current`: stories whose every current statement is
served. `current_first`: the first line with a current or a stale statement holds a current one, of all stories.
`stale_unmarked`: of the stories with stale statements, those that show one unmarked; `stale_perhaps`: those that show
one that says no more than that it may be over, and none unmarked. `wrongly_retired`: of the stories in which nothing is
stale, those in which a memory's time was ended; `wrongly_doubted`: of the same, those in which a line says that it may
be over. `kept`: stories whose current statements all became memories.
"""

import argparse
import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import fmean
from typing import Any

from bench import labelled
from bench.labelled import Row
from bench.recall import Remembering
from recollect import Memory, minds, wiring
from recollect import settings as configuration
from recollect.clock import SystemClock
from recollect.domain.query import Filters, Page, Query

BUDGET = 1_024
MARKED = re.compile(r"(?:, |\] )(?:partly |perhaps )?until (?:\d|later that day)")
PERHAPS = re.compile(r"perhaps until ")
_HOUR = timedelta(hours=1)


class Days:
    """A clock that stands on the day it is put on, and goes on from there."""

    def __init__(self) -> None:
        self.at = datetime(2020, 1, 1, tzinfo=UTC)

    def read(self) -> datetime:
        self.at += timedelta(milliseconds=1)
        return self.at


def holds(text: str, terms: Sequence[str]) -> bool:
    return all(labelled.has(text, term) for term in terms)


def told(row: Row, days: Days, memory: Memory, settle: Any) -> dict[str, Any]:
    for message in labelled.messages(row):
        days.at = max(days.at, message.ts or days.at) + _HOUR
        memory.ingest([message], thread_id="story")
        settle()
    days.at = max(days.at, datetime.fromisoformat(row["asked_on"]).replace(hour=12, tzinfo=UTC))
    lines = [result.text for result in memory.query(Query(text=row["question"], budget_tokens=BUDGET)).results]
    facts = [memory.show(item.id) for item in memory.items(Filters(kinds=frozenset({"fact"})), Page(limit=200))]
    over = [one for one in facts if one.item.superseded_by or (one.item.valid_to and one.item.valid_to <= days.at)]
    current, stale = row["current"], row["stale"]
    first = next((line for line in lines if any(holds(line, terms) for terms in [*current, *stale])), "")
    words = [f"{one.item.id} {one.words}" for one in facts]
    return {
        "kind": row["kind"],
        "current": all(any(holds(line, terms) for line in lines) for terms in current),
        "first": any(holds(first, terms) for terms in current),
        "unmarked": any(holds(line, terms) and not MARKED.search(line) for terms in stale for line in lines),
        "doubted": any(PERHAPS.search(line) for line in lines),
        "perhaps": any(holds(line, terms) and PERHAPS.search(line) for terms in stale for line in lines),
        "stale": bool(stale),
        "retired": [one.words for one in over],
        "kept": all(any(holds(text, terms) for text in words) for terms in current),
        "lines": lines,
    }


def stories(args: argparse.Namespace, address: str) -> Iterator[tuple[Row, dict[str, Any]]]:
    embedder = Remembering(args.cache)
    for number, row in enumerate(list(labelled.rows(args.data))[:: args.every]):
        days = Days()
        clock = SystemClock(days.read)
        settings = configuration.load({"store": address, "tenant": f"story-{number}", "user": "mira"})
        given = minds.chosen(settings, embedder=embedder)
        wiring.connect(settings, clock=clock, create=True, given=given).close()
        deps = wiring.dependencies(settings, clock=clock, given=given)
        memory = Memory(deps, wiring.principal(settings))
        worker = wiring.workers(deps, settings)
        try:
            yield row, told(row, days, memory, worker.run_until_idle)
        finally:
            memory.close()


def summary(found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    stale, rest = [one for one in found if one["stale"]], [one for one in found if not one["stale"]]
    return {
        "stories": len(found),
        "current": round(fmean(one["current"] for one in found), 4),
        "current_first": round(fmean(one["current"] and one["first"] for one in found), 4),
        "stale_unmarked": round(fmean(one["unmarked"] for one in stale), 4) if stale else 0.0,
        "stale_perhaps": round(fmean(one["perhaps"] and not one["unmarked"] for one in stale), 4) if stale else 0.0,
        "wrongly_retired": round(fmean(bool(one["retired"]) for one in rest), 4) if rest else 0.0,
        "wrongly_doubted": round(fmean(one["doubted"] for one in rest), 4) if rest else 0.0,
        "kept": round(fmean(one["kept"] for one in found), 4),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1, help="only every so many stories")
    parser.add_argument("-v", "--verbose", action="store_true", help="what was served, where it is not as it should be")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "recollect-bench-vectors.db")
    args = parser.parse_args(arguments)
    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for row, one in stories(args, str(Path(folder) / "memory.db")):
            found.append(one)
            wrong = not one["current"] or not one["first"] or one["unmarked"] or (not row["stale"] and one["retired"])
            if args.verbose and wrong:
                told_of = {key: one[key] for key in ("current", "first", "unmarked", "retired", "kept")}
                print(
                    row["id"],
                    row["kind"],
                    row["question"],
                    row["current"],
                    row["stale"],
                    told_of,
                    *one["lines"],
                    sep="\n  ",
                )
    by_kind: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in found:
        by_kind[one["kind"]].append(one)
    print(json.dumps({**summary(found), "by_kind": {kind: summary(some) for kind, some in sorted(by_kind.items())}}))


if __name__ == "__main__":
    main()
