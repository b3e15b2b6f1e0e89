"""What extraction keeps and what it leaves alone, on hand-labelled turns, with rules and the bundled models alone.

    python -m bench.extract --data extraction_dev.jsonl
    python -m bench.extract --data extraction_dev.jsonl -v               # every miss, every piece of junk
    python -m bench.extract --data extraction_dev.jsonl --turn-by-turn   # each message by itself, as it is said
    python -m bench.extract --data extraction_dev.jsonl --rules          # without the keeper
    python -m bench.extract --data training/data/blind.jsonl.gz --every 1:2

The last are rows that nobody who made rules has read; the thresholds were chosen on the other half, 0:2.
Each row is taken in through `Memory.ingest`, as a tenant of its own, and what is stored is read back. Recall:
facts all of whose key terms stand in one stored memory. Junk: stored memories that match no fact. Rows without facts
should stay empty; what a row says must not be kept must not stand in any memory. `format_pass`: stored memories that
keep the rules of wording (nothing is stored that was not drafted so). `cpu_…`: of one row, store and vectors included.
"""

import argparse
import gzip
import json
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recollect import Message, open_memory
from recollect.domain.event import Trust
from recollect.domain.item import Episode
from recollect.domain.judgement import Heard
from recollect.memory import Memory
from recollect.models.keeper import LocalKeeper
from recollect.models.local import LocalEmbedder
from recollect.policy.wording import Sound, check
from recollect.read.shown import Shown


@dataclass(slots=True)
class Count:
    facts: int = 0
    recalled: int = 0
    kept: int = 0
    junk: int = 0
    empty_rows: int = 0
    empty_kept: int = 0
    forbidden: int = 0
    broken: int = 0
    sound: int = 0
    cpu: list[float] = field(default_factory=list[float])
    by_kind: Counter[str] = field(default_factory=Counter[str])
    categories: Counter[bool] = field(default_factory=Counter[bool])
    private: Counter[bool] = field(default_factory=Counter[bool])


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def messages(row: Mapping[str, Any]) -> list[Message]:
    return [
        Message(
            text=said["text"],
            author=said["speaker"],
            role=said["role"],
            ts=datetime.fromisoformat(said["date"]).replace(hour=12, tzinfo=UTC),
            trust=Trust.UNTRUSTED if said["role"] in ("tool", "document") else Trust.TRUSTED,
        )
        for said in row["messages"]
    ]


def stored(memory: Memory) -> list[Shown]:
    """The memories in force: neither threads, which are evidence, nor what a newer value has taken the place of."""
    return [
        shown
        for shown in memory.lines()
        if not isinstance(shown.item.body, Episode) and shown.item.superseded_by is None
    ]


def has(text: str, term: str) -> bool:
    """Whether one of the alternatives of a key term stands in the text as words."""
    return any(
        re.search(rf"(?<!\w){re.escape(one.strip().lower())}(?!\w)", text.lower()) is not None
        for one in term.split("|")
    )


def matches(text: str, fact: Mapping[str, Any]) -> bool:
    return all(has(text, term) for term in fact["key_terms"])


def measure(row: Mapping[str, Any], memory: Memory, count: Count, *, by_turn: bool, loud: bool) -> None:
    said_so = messages(row)
    start = time.process_time()
    for group in [[message] for message in said_so] if by_turn else [said_so]:
        memory.ingest(group, thread_id=row["id"], wait=True)
    count.cpu.append((time.process_time() - start) * 1000)
    found = stored(memory)
    texts = [shown.words for shown in found]
    said: list[str] = []
    for fact in row["facts"]:
        count.facts += 1
        hit = next((shown.item for shown in found if matches(shown.words, fact)), None)
        if hit is None:
            said.append(f"   missed {fact['key_terms']}: {fact['text']}")
            continue
        count.recalled += 1
        count.categories[hit.category == fact["category"]] += 1
        count.private[hit.private == fact["sensitive"]] += 1
    for text in texts:
        count.kept += 1
        count.sound += isinstance(check(text), Sound)
        if not any(matches(text, fact) for fact in row["facts"]):
            count.junk += 1
            count.by_kind[row["kind"]] += 1
            said.append(f"   junk   {text}")
    if not row["facts"]:
        count.empty_rows += 1
        count.empty_kept += not texts
    if row["must_not"]:
        count.forbidden += 1
        broken = [word for word in row["must_not"] if any(word.lower() in text.lower() for text in texts)]
        count.broken += bool(broken)
        said += [f"   FORBIDDEN {word}" for word in broken]
    if loud and said:
        print(f"{row['id']} {row['kind']}")
        for message in row["messages"]:
            print(f"   {message['speaker']} ({message['date']}): {message['text']}")
        print("\n".join([f"   kept   {text}" for text in texts] + said))


def share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 1.0


def report(count: Count) -> dict[str, Any]:
    cpu = sorted(count.cpu)
    return {
        "recall": share(count.recalled, count.facts),
        "junk": share(count.junk, count.kept) if count.kept else 0.0,
        "empty_stay_empty": share(count.empty_kept, count.empty_rows),
        "must_not_held": share(count.forbidden - count.broken, count.forbidden),
        "format_pass": share(count.sound, count.kept),
        "facts": count.facts,
        "kept": count.kept,
        "category_right": share(count.categories[True], count.recalled),
        "private_right": share(count.private[True], count.recalled),
        "junk_by_kind": dict(count.by_kind),
        "cpu_p50": round(cpu[len(cpu) // 2], 3) if cpu else 0.0,
        "cpu_p95": round(cpu[int(len(cpu) * 0.95)], 3) if cpu else 0.0,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench.extract", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="JSON lines: id, kind, messages, facts, must_not")
    parser.add_argument("--turn-by-turn", action="store_true", help="take in each message by itself")
    parser.add_argument("--every", default="", help="of these rows only, as START:STEP (0:2 is every second)")
    parser.add_argument("--rules", action="store_true", help="without the keeper")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what was missed and what is junk")
    chosen = parser.parse_args(arguments)
    embedder, keeper = LocalEmbedder(), None if chosen.rules else LocalKeeper()
    if keeper is None:
        os.environ["RECOLLECT_KEEPER"] = "none"
    else:
        keeper.weigh([Heard(text="Loaded before anything is timed.")])
    start, _, step = chosen.every.partition(":")
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        for row in list(rows(chosen.data))[int(start or 0) :: int(step or 1)]:
            with open_memory(Path(folder) / "bench.db", tenant=row["id"], embedder=embedder, keeper=keeper) as memory:
                measure(row, memory, count, by_turn=chosen.turn_by_turn, loud=chosen.verbose)
    print(json.dumps(report(count)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
