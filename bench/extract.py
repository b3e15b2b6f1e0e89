"""What extraction keeps and what it leaves alone, on hand-labelled turns, with rules and the bundled models alone.

    python -m bench.extract --data extraction_dev.jsonl
    python -m bench.extract --data extraction_dev.jsonl -v               # every miss, every piece of junk
    python -m bench.extract --data extraction_dev.jsonl --turn-by-turn   # each message by itself, as it is said
    python -m bench.extract --data extraction_dev.jsonl --rules          # without the keeper
    python -m bench.extract --data training/data/blind.jsonl.gz --every 1:2 --by-kind

The last are rows that nobody who made rules has read; thresholds are chosen on the other half, 0:2.
Each row is taken in through `Memory.ingest`, as a tenant of its own, and what is stored is read back. Recall: facts
all of whose key terms stand in one stored memory, each at the start of a word. Junk: stored memories that match no fact
or have more than two sentences, of those `judged`: in rows all of whose facts have key terms. Rows without facts should
stay empty; what a row says must not be kept must not stand in any memory (bench/labelled.py has what passes).
`format_pass`: stored memories that keep the rules of wording; of a quotation, the frame keeps them and the words were
said. `importance_spearman`: how the importance of what was recalled follows that of the labels, where they have one;
`importances`: how many memories have each. `by_kind`: the shares by the first word of a row's kind. `cpu_…`: of one
row, store and vectors included.
"""

import argparse
import json
import os
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import StatisticsError, correlation
from typing import Any

from bench.labelled import Row, forbidden, matches, messages, quoted, rows, sought, too_long, true_quotation
from recollect import open_memory
from recollect.domain.item import Episode, Item
from recollect.domain.judgement import Heard
from recollect.memory import Memory
from recollect.models.keeper import LocalKeeper
from recollect.models.local import LocalEmbedder
from recollect.policy.wording import LONGEST, Sound, check
from recollect.read.shown import Shown

_QUOTATION = re.compile(r'"[^"]*"')


@dataclass(slots=True)
class Count:
    facts: int = 0
    recalled: int = 0
    kept: int = 0
    judged: int = 0
    """Memories of which can be said whether they are junk."""
    junk: int = 0
    too_long: int = 0
    empty_rows: int = 0
    empty_kept: int = 0
    forbidden: int = 0
    broken: int = 0
    sound: int = 0
    category_right: int = 0
    private_right: int = 0

    @property
    def shares(self) -> dict[str, float]:
        return {
            "recall": share(self.recalled, self.facts),
            "junk": share(self.junk, self.judged, nothing=0.0),
            "empty_stay_empty": share(self.empty_kept, self.empty_rows),
            "must_not_held": share(self.forbidden - self.broken, self.forbidden),
            "format_pass": share(self.sound, self.kept),
        }


@dataclass(slots=True)
class Found:
    """What was counted, over all rows and by the first word of their kinds."""

    whole: Count = field(default_factory=Count)
    by_kind: dict[str, Count] = field(default_factory=lambda: defaultdict(Count))
    junk_of: Counter[str] = field(default_factory=Counter[str])
    stored: Counter[int] = field(default_factory=Counter[int])
    """The importances of what was stored."""
    importances: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    """Of each fact that was recalled: as it is labelled, as it is stored."""
    cpu: list[float] = field(default_factory=list[float])


def stored(memory: Memory) -> list[Shown]:
    """The memories in force: neither threads, which are evidence, nor what a newer value has taken the place of."""
    return [
        shown
        for shown in memory.lines()
        if not isinstance(shown.item.body, Episode) and shown.item.superseded_by is None
    ]


def keeps_the_rules(row: Row, text: str) -> bool:
    """Whether a memory is worded as it must be; what it quotes may be worded as it was said, and must have been."""
    if quoted(text) is None:
        return isinstance(check(text), Sound)
    frame = _QUOTATION.sub('"so"', text)
    return isinstance(check(frame), Sound) and len(text) <= LONGEST and true_quotation(row, text)


def measure(row: Row, memory: Memory, found: Found, *, by_turn: bool) -> tuple[list[str], list[str]]:
    """Count one row; what was kept of it, and what was wrong with that."""
    said_so = messages(row)
    start = time.process_time()
    for group in [[message] for message in said_so] if by_turn else [said_so]:
        memory.ingest(group, thread_id=row["id"], wait=True)
    found.cpu.append((time.process_time() - start) * 1000)
    kept = stored(memory)
    found.stored.update(shown.item.importance for shown in kept)
    counts = (found.whole, found.by_kind[row["kind"].partition("_")[0]])
    wrong = [*_recalled(row, kept, found, counts), *_kept(row, [shown.words for shown in kept], found, counts)]
    return [shown.words for shown in kept], wrong


def _recalled(row: Row, kept: Sequence[Shown], found: Found, counts: Sequence[Count]) -> list[str]:
    missed: list[str] = []
    for fact in sought(row):
        hit = _telling(fact, kept)
        for count in counts:
            count.facts += 1
            count.recalled += hit is not None
            count.category_right += hit is not None and hit.category == fact.get("category")
            count.private_right += hit is not None and hit.private == fact.get("sensitive")
        if hit is None:
            missed.append(f"missed {fact['key_terms']}: {fact['text']}")
        elif "importance" in fact:
            found.importances.append((fact["importance"], hit.importance))
    return missed


def _telling(fact: Mapping[str, Any], kept: Sequence[Shown]) -> Item | None:
    """The memory that tells a fact: rather one whose own words do than one that quotes them as said before."""
    found = [shown for shown in kept if matches(shown.words, fact)]
    own = [shown for shown in found if matches(shown.words[slice(*(quoted(shown.words) or (0, None)))], fact)]
    return next((shown.item for shown in (*own, *found)), None)


def _kept(row: Row, texts: Sequence[str], found: Found, counts: Sequence[Count]) -> list[str]:
    wanted = sought(row)
    can_tell = len(wanted) == len(row["facts"])
    long = [text for text in texts if too_long(text)]
    strange = [text for text in texts if text not in long and not any(matches(text, fact) for fact in wanted)]
    broken = forbidden(row, texts)
    for count in counts:
        count.kept += len(texts)
        count.sound += sum(keeps_the_rules(row, text) for text in texts)
        count.too_long += len(long)
        count.judged += len(texts) if can_tell else 0
        count.junk += len(long) + len(strange) if can_tell else 0
        count.empty_rows += not row["facts"]
        count.empty_kept += not row["facts"] and not texts
        count.forbidden += bool(row.get("must_not"))
        count.broken += bool(broken)
    if can_tell and (long or strange):
        found.junk_of[row["kind"]] += len(long) + len(strange)
    return [
        *(f"LONG      {text}" for text in long),
        *(f"junk      {text}" for text in strange if can_tell),
        *(f"FORBIDDEN {word}" for word in broken),
    ]


def show(row: Row, kept: Sequence[str], wrong: Sequence[str]) -> None:
    print(f"{row['id']} {row['kind']}")
    for message in row["messages"]:
        print(f"   {message['speaker']} ({message['date']}): {message['text']}")
    print("\n".join(f"   {line}" for line in [*(f"kept      {text}" for text in kept), *wrong]))


def share(part: int, whole: int, nothing: float = 1.0) -> float:
    return round(part / whole, 4) if whole else nothing


def spearman(pairs: Sequence[tuple[float, float]]) -> float | None:
    """How far two orders agree, from -1 to 1; None where there is no order on one of the sides."""
    try:
        return round(correlation(_ranks([a for a, _ in pairs]), _ranks([b for _, b in pairs])), 4)
    except StatisticsError:
        return None


def _ranks(values: Sequence[float]) -> list[float]:
    """The places of values in their order; equal ones share the mean of their places."""
    order = sorted(values)
    return [order.index(value) + (order.count(value) - 1) / 2 for value in values]


def report(found: Found, *, by_kind: bool) -> dict[str, Any]:
    whole, cpu = found.whole, sorted(found.cpu)
    figures: dict[str, Any] = {
        **whole.shares,
        "facts": whole.facts,
        "kept": whole.kept,
        "judged": whole.judged,
        "too_long": whole.too_long,
        "category_right": share(whole.category_right, whole.recalled),
        "private_right": share(whole.private_right, whole.recalled),
        "importances": {str(grade): found.stored[grade] for grade in sorted(found.stored)},
        "junk_by_kind": dict(found.junk_of),
        "cpu_p50": round(cpu[len(cpu) // 2], 3) if cpu else 0.0,
        "cpu_p95": round(cpu[int(len(cpu) * 0.95)], 3) if cpu else 0.0,
    }
    if found.importances:
        figures["importance_spearman"] = spearman(found.importances)
    if by_kind:
        figures["by_kind"] = {kind: _told(count) for kind, count in sorted(found.by_kind.items())}
    return figures


def _told(count: Count) -> Mapping[str, float]:
    return {**count.shares, "facts": count.facts, "kept": count.kept}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.extract", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="JSON lines: id, kind, messages, facts, must_not")
    parser.add_argument("--turn-by-turn", action="store_true", help="take in each message by itself")
    parser.add_argument("--every", default="", help="of these rows only, as START:STEP (0:2 is every second)")
    parser.add_argument("--rules", action="store_true", help="without the keeper")
    parser.add_argument("--by-kind", action="store_true", help="the same shares by the first word of a row's kind")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what was missed and what is junk")
    chosen = parser.parse_args(arguments)
    embedder, keeper = LocalEmbedder(), None if chosen.rules else LocalKeeper()
    if keeper is None:
        os.environ["RECOLLECT_KEEPER"] = "none"
    else:
        keeper.weigh([Heard(sentences=("Loaded before anything is timed.",))])
    start, _, step = chosen.every.partition(":")
    found = Found()
    with tempfile.TemporaryDirectory() as folder:
        for row in list(rows(chosen.data))[int(start or 0) :: int(step or 1)]:
            with open_memory(Path(folder) / "bench.db", tenant=row["id"], embedder=embedder, keeper=keeper) as memory:
                kept, wrong = measure(row, memory, found, by_turn=chosen.turn_by_turn)
            if chosen.verbose and wrong:
                show(row, kept, wrong)
    print(json.dumps(report(found, by_kind=chosen.by_kind)))


if __name__ == "__main__":
    main()
