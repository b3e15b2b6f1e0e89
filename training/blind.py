"""Extraction on rows that nobody who made the rules has read: `data/blind.jsonl.gz`.

    .venv/bin/python -m training.blind            # both halves, with the keeper and by rules alone
    .venv/bin/python -m training.blind choose     # how sure the keeper must be, on the even half alone

The even rows may be looked at, and thresholds are chosen on them; the odd ones are for measuring. After the keeper has
been trained again, `choose` shows whether ALONE and TOGETHER of `policy/speech/weighing.py` still stand well.
"""

import argparse
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from bench.extract import matches, messages, rows, share
from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId
from recollect.domain.judgement import Heard, Weighed
from recollect.models.keeper import LocalKeeper
from recollect.policy.speech import weighing
from recollect.ports import Keeper
from recollect.write.extract import extract

DATA = Path(__file__).parent / "data" / "blind.jsonl.gz"
CAP = 3
"""Memories of one turn, as by default."""


class Remembering:
    """The keeper, asked only once about each sentence."""

    name = "remembering"

    def __init__(self) -> None:
        self._keeper = LocalKeeper()
        self._weighed = lru_cache(maxsize=None)(lambda one: self._keeper.weigh([one])[0])

    def weigh(self, sentences: Sequence[Heard]) -> list[Weighed]:
        return [self._weighed(one) for one in sentences]


def events(row: Mapping[str, Any]) -> list[Event]:
    thread = ItemId(str(uuid4()))
    return [
        Event(
            id=EventId(str(uuid4())),
            item_id=thread,
            ts=message.ts,
            author=message.author,
            role=message.role,
            text=message.text,
            trust=message.trust,
        )
        for message in messages(row)
    ]


def figures(rows_of: Sequence[Mapping[str, Any]], keeper: Keeper | None) -> dict[str, Any]:
    count: Counter[str] = Counter()
    for row in rows_of:
        said = events(row)
        found = extract(said, frozenset(range(len(said))), keeper, most=CAP)
        hits = [next((one for one in found if matches(one.text, fact)), None) for fact in row["facts"]]
        count["facts"] += len(hits)
        for fact, hit in zip(row["facts"], hits, strict=True):
            count["recalled"] += hit is not None
            count["category"] += hit is not None and hit.category == fact["category"]
            count["private"] += hit is not None and hit.private == fact["sensitive"]
        count["kept"] += len(found)
        count["junk"] += sum(not any(matches(one.text, fact) for fact in row["facts"]) for one in found)
        count["empty"] += not row["facts"]
        count["stayed"] += not row["facts"] and not found
        count["forbidden"] += bool(row["must_not"])
        count["broken"] += any(word.lower() in one.text.lower() for word in row["must_not"] for one in found)
    return {
        "recall": share(count["recalled"], count["facts"]),
        "junk": share(count["junk"], count["kept"]) if count["kept"] else 0.0,
        "empty_stay_empty": share(count["stayed"], count["empty"]),
        "must_not_held": share(count["forbidden"] - count["broken"], count["forbidden"]),
        "category_right": share(count["category"], count["recalled"]),
        "private_right": share(count["private"], count["recalled"]),
        "kept": count["kept"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("measure", "choose"), nargs="?", default="measure")
    chosen = parser.parse_args()
    read, keeper = list(rows(DATA)), Remembering()
    if chosen.what == "measure":
        for half, start in (("even", 0), ("odd", 1)):
            for name, asked in (("keeper", keeper), ("rules", None)):
                print(half, name, json.dumps(figures(read[start::2], asked)), flush=True)
        return
    for alone in (0.6, 0.7, 0.8, 0.9, 0.95):
        for together in (0.05, 0.1, 0.2, 0.35, 0.5):
            weighing.ALONE, weighing.TOGETHER = alone, together
            print(alone, together, json.dumps(figures(read[0::2], keeper)), flush=True)


if __name__ == "__main__":
    main()
