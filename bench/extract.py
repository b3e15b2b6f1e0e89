"""What extraction keeps and what it leaves alone, on hand-labelled turns, with rules and the bundled embedder alone.

    python -m bench.extract --data extraction_dev.jsonl
    python -m bench.extract --data extraction_dev.jsonl -v      # every miss, every piece of junk

Recall: facts all of whose key terms stand in one kept memory. Junk: kept memories that match no fact. Rows without
facts should stay empty; what a row says must not be kept must not be in any memory. `format_pass`: drafts that keep
the rules of wording at first, before anything is trimmed away from what is stored.
"""

import argparse
import json
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from recollect.domain.event import Event, Trust
from recollect.domain.ids import EventId, ItemId
from recollect.models.local import LocalEmbedder
from recollect.policy.wording import Sound, check
from recollect.ports import Embedder
from recollect.write.extract import extract


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
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def events(row: Mapping[str, Any]) -> list[Event]:
    thread = ItemId(str(uuid4()))
    return [
        Event(
            id=EventId(str(uuid4())),
            item_id=thread,
            seq=number,
            ts=datetime.fromisoformat(message["date"]).replace(hour=12, tzinfo=UTC),
            author=message["speaker"],
            role=message["role"],
            text=message["text"],
            trust=Trust.UNTRUSTED if message["role"] in ("tool", "document") else Trust.TRUSTED,
        )
        for number, message in enumerate(row["messages"], 1)
    ]


def has(text: str, term: str) -> bool:
    """Whether one of the alternatives of a key term stands in the text as words."""
    return any(
        re.search(rf"(?<!\w){re.escape(one.strip().lower())}(?!\w)", text.lower()) is not None
        for one in term.split("|")
    )


def matches(text: str, fact: Mapping[str, Any]) -> bool:
    return all(has(text, term) for term in fact["key_terms"])


def measure(row: Mapping[str, Any], embedder: Embedder | None, count: Count, *, loud: bool) -> None:
    turns = events(row)
    start = time.process_time()
    found = extract(turns, frozenset(range(len(turns))), embedder)
    count.cpu.append((time.process_time() - start) * 1000)
    texts = [candidate.text for candidate in found]
    said: list[str] = []
    for fact in row["facts"]:
        count.facts += 1
        hit = next((candidate for candidate in found if matches(candidate.text, fact)), None)
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
    parser.add_argument("--rules-only", action="store_true", help="leave the embedder out")
    parser.add_argument("--every", default="", help="of these rows only, as START:STEP (0:2 is every second)")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what was missed and what is junk")
    chosen = parser.parse_args(arguments)
    embedder = None if chosen.rules_only else LocalEmbedder()
    if embedder:
        embedder.embed(["warm"])
    start, _, step = chosen.every.partition(":")
    count = Count()
    for row in list(rows(chosen.data))[int(start or 0) :: int(step or 1)]:
        measure(row, embedder, count, loud=chosen.verbose)
    print(json.dumps(report(count)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
