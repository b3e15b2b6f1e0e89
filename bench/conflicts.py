"""Whether what is on record as a contradiction is one, and what was planted is found.

    python -m bench.conflicts --data shared/data/beam_100K.jsonl.gz
    python -m bench.conflicts --data shared/data/locomo_dev.jsonl.gz --engine postgres
    python -m bench.conflicts --data shared/data/locomo_dev.jsonl.gz --keep /tmp/store --sheet /tmp/unread.jsonl

Every conversation is a tenant of one store, taken in as `bench.recall` does, with all that follows. Planted
(`conflicts`) are the questions about a contradiction or an update that name both statements. `kept_both`: the share of
them of which both statements became memories, each witnessed by one of its messages. `found`: of those, the share that
is on record, as a contradiction between memories of the two, or with a memory of the earlier one retired in favour of
one of the later; `noticed`: the same, or the earlier one may have been replaced by the later, as answers with both say.

`recorded` counts contradictions on record, but for those that were closed because both are true, `retired` the memories
whose time was ended by a later one; `records_per_100` is the former over the memories. `recorded_true` and
`retired_true` are the shares of them that people called true in the verdicts (docs/readings/conflicts.jsonl), by the
messages of both sides; what nobody has read counts as false. `wrongly_retired` counts retirements that were read and
called false. Where there is nothing to count, a share is null.

--sheet writes what is on record and unread, with the words of both sides, to be judged: fill in `true` and `why`, and
take over `data`, `kind`, `a`, `b`, `true` and `why` alone. With --keep, the store is made in that folder and found
there again, as that of `bench.served`.
"""

import argparse
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import labelled
from bench.opening import Opened
from bench.postgres import temporary_postgres
from bench.recall import Remembering, conversations, remembering, take_in
from recollect.domain.event import Event
from recollect.domain.ids import ItemId
from recollect.domain.item import Item
from recollect.domain.query import Filters, Page
from recollect.domain.record import Open, Resolved, Verdict
from recollect.domain.scope import EVERYBODY
from recollect.policy.currency import MAY_REPLACE

VERDICTS = Path(__file__).parents[1] / "docs" / "readings" / "conflicts.jsonl"
PLANTED = ("contradiction_resolution", "knowledge_update")
CONTRADICTION, UPDATE = "contradiction", "update"
_FACTS = Filters(kinds=frozenset({"fact"}), states=frozenset({"active", "archived", "expired"}))
_PAGE = 500

Key = tuple[str, str, str]
"""What a verdict is about: its kind, and the messages of both sides. Of an update, the earlier one is the first."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory with its words and the messages that bear witness to it, the last one being what it was said in."""

    item: Item
    words: str
    messages: tuple[Any, ...]

    def key(self, conversation: str) -> str:
        return f"{conversation}/{self.messages[-1]}" if self.messages else f"{conversation}/"


@dataclass(frozen=True, slots=True)
class Recorded:
    """One thing on record between two memories: of an update, `a` is what was retired."""

    kind: str
    a: Kept
    b: Kept
    why: str = ""

    def key(self, conversation: str) -> Key:
        sides = [self.a.key(conversation), self.b.key(conversation)]
        first, second = sides if self.kind == UPDATE else sorted(sides)
        return self.kind, first, second


def memories(house: Opened) -> dict[ItemId, Kept]:
    """The memories that were made of a conversation, in use or not."""
    store, tenant = house.deps.store, house.memory.principal.tenant
    found: dict[ItemId, Kept] = {}
    before: ItemId | None = None
    while page := store.items(tenant, _FACTS, EVERYBODY, Page(_PAGE, before)):
        spoken = store.speaking(tenant, [held.item.id for held in page])
        for held, version in spoken.values():
            cited = [event.meta["message"] for event in store.cited(tenant, [version.id]) if _of_data(event)]
            found[held.item.id] = Kept(held.item, version.content, tuple(cited))
        before = page[-1].item.id
    return found


def _of_data(event: Event) -> bool:
    return "message" in event.meta


def on_record(house: Opened, kept: Mapping[ItemId, Kept]) -> Iterator[Recorded]:
    """What is on record between memories that are there."""
    for record in house.deps.store.records(house.memory.principal.tenant, "contradiction"):
        assert isinstance(record, Open | Resolved)
        closed = isinstance(record, Resolved) and record.resolution is Verdict.BOTH_VALID
        if not closed and record.memory_a in kept and record.memory_b in kept:
            yield Recorded(CONTRADICTION, kept[record.memory_a], kept[record.memory_b], record.why)
    for one in kept.values():
        if (by := one.item.superseded_by) and by in kept:
            yield Recorded(UPDATE, one, kept[by])


def doubts(house: Opened, kept: Mapping[ItemId, Kept]) -> set[tuple[ItemId, ItemId]]:
    """The memories that may have been replaced, each with the one by which."""
    edges = house.deps.store.edges(house.memory.principal.tenant, sorted(kept))
    return {(edge.to_id, edge.from_id) for edge in edges if edge.relation_type == MAY_REPLACE}


def planted(conversation: Mapping[str, Any]) -> Iterator[tuple[frozenset[Any], frozenset[Any]]]:
    """The messages of both statements of each conflict, those of the earlier one first."""
    places = {message["id"]: place for place, message in enumerate(conversation["messages"])}
    for question in conversation["questions"]:
        roles: Mapping[str, Sequence[Any]] = question.get("evidence_roles") or {}
        sides: list[frozenset[Any]] = [
            frozenset(message for message in side if message in places) for side in roles.values()
        ]
        if question["category"] in PLANTED and len(sides) == 2 and all(sides):
            earlier, later = sorted(sides, key=lambda side: min(places[message] for message in side))
            yield earlier, later


def outcome(
    earlier: frozenset[Any],
    later: frozenset[Any],
    kept: Iterable[Kept],
    records: Iterable[Recorded],
    doubted: Iterable[tuple[ItemId, ItemId]] = (),
) -> dict[str, bool]:
    """Whether both statements of a planted conflict became memories, whether that is on record, and whether answers say
    as much as that one may have replaced the other."""

    def of(side: frozenset[Any]) -> set[ItemId]:
        return {one.item.id for one in kept if side & set(one.messages)}

    before, after = of(earlier), of(later)
    if not before or not after:
        return {"kept": False, "found": False, "noticed": False}
    sides = [(record.kind, record.a.item.id, record.b.item.id) for record in records]
    noted = any((a in before and b in after) or (a in after and b in before) for kind, a, b in sides if kind != UPDATE)
    ended = any(a in before and b in after for kind, a, b in sides if kind == UPDATE)
    wondered = any(old in before and new in after for old, new in doubted)
    return {"kept": True, "found": noted or ended, "noticed": noted or ended or wondered}


def sheet(data: str, conversation: str, record: Recorded) -> dict[str, Any]:
    kind, first, second = record.key(conversation)
    sides = [record.a, record.b]
    ordered = sides if kind == UPDATE else sorted(sides, key=lambda side: side.key(conversation))
    told = {
        name: {"said": f"{side.item.origin_at:%Y-%m-%d}", "words": side.words}
        for name, side in zip(("a_is", "b_is"), ordered, strict=True)
    }
    return {"data": data, "kind": kind, "a": first, "b": second, "true": None, "why": "", "found": record.why, **told}


def verdicts(path: Path, data: str) -> dict[Key, bool]:
    """What people said of each: whether it is a true one."""
    rows = labelled.rows(path) if path.exists() else ()
    return {(row["kind"], row["a"], row["b"]): bool(row["true"]) for row in rows if row["data"] == data}


def share(of: Sequence[bool]) -> float | None:
    return round(sum(of) / len(of), 4) if of else None


def measure(address: str, args: argparse.Namespace, *, made: bool) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    data = args.data.name.partition(".")[0]
    read = verdicts(args.verdicts, data)
    outcomes: list[dict[str, bool]] = []
    keys: list[Key] = []
    sheets: dict[Key, dict[str, Any]] = {}
    count = 0
    embedder = Remembering(args.cache)
    for number, conversation in enumerate(conversations(args.data)[: args.conversations]):
        name = str(conversation["id"])
        with remembering(address, f"bench-{number}", embedder) as house:
            if not made:
                take_in(house, conversation)
            kept = memories(house)
            records, doubted = list(on_record(house, kept)), doubts(house, kept)
        outcomes += [outcome(*sides, kept.values(), records, doubted) for sides in planted(conversation)]
        count += len(kept)
        for record in records:
            key = record.key(name)
            keys.append(key)
            if key not in read:
                sheets.setdefault(key, sheet(data, name, record))
        contradictions = sum(record.kind == CONTRADICTION for record in records)
        retired = len(records) - contradictions
        print(f"{name}: {len(kept)} memories, {contradictions} contradictions, {retired} retired", flush=True)
    both = [one for one in outcomes if one["kept"]]
    recorded, retired = ([key for key in keys if key[0] == kind] for kind in (CONTRADICTION, UPDATE))
    figures = {
        "engine": args.engine,
        "memories": count,
        "conflicts": len(outcomes),
        "kept_both": share([one["kept"] for one in outcomes]),
        "found": share([one["found"] for one in both]),
        "noticed": share([one["noticed"] for one in both]),
        "recorded": len(recorded),
        "records_per_100": round(100 * len(recorded) / max(1, count), 2),
        "recorded_true": share([read.get(key, False) for key in recorded]),
        "retired": len(retired),
        "retired_true": share([read.get(key, False) for key in retired]),
        "wrongly_retired": sum(not read.get(key, True) for key in retired),
        "unread": len(sheets),
    }
    return figures, list(sheets.values())


def run(address: str, args: argparse.Namespace, *, made: bool) -> None:
    figures, unread = measure(address, args, made=made)
    if args.sheet:
        args.sheet.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in unread), encoding="utf-8")
    print(json.dumps(figures))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--conversations", type=int, default=None, help="only so many of the file")
    parser.add_argument("--verdicts", type=Path, default=VERDICTS, help="what people said of what is on record")
    parser.add_argument("--sheet", type=Path, default=None, help="where to write what is on record and not read yet")
    parser.add_argument("--keep", type=Path, default=None, help="a folder in which the store stays (SQLite)")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "recollect-bench-vectors.db")
    args = parser.parse_args(arguments)
    if args.engine == "postgres":
        with temporary_postgres() as server:
            run(server.url, args, made=False)
        return
    with tempfile.TemporaryDirectory() as folder:
        place = (args.keep or Path(folder)) / "memory.db"
        place.parent.mkdir(parents=True, exist_ok=True)
        run(str(place), args, made=place.exists())


if __name__ == "__main__":
    main()
