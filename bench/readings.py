"""What is kept and summed up, laid out for people to read and judge, and the shares of their verdicts.

    python -m bench.readings memories --data docs/readings/conversations.jsonl               # sheets, one JSON a line
    python -m bench.readings turns --data docs/readings/conversations.jsonl
    python -m bench.readings summaries --data locomo_dev.jsonl.gz
    python -m bench.readings memories --data … --verdicts docs/readings/memories.jsonl       # the shares, as last line

A sheet has an id that stays the same from run to run as long as the words do. Memories: right, junk, mangled or wrong,
each with its witnesses. Turns that hold a lasting fact: did a memory made of them tell it right (right), or not
(missed)? Summaries: the number of false bullets, and whether what mattered is there. Conversations are taken in
sitting by sitting through `Memory.ingest` with the defaults; a sample is taken by the digest of the ids.
"""

import argparse
import gzip
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from recollect import Message, open_memory
from recollect.domain.event import Trust
from recollect.domain.item import Episode
from recollect.domain.query import Page
from recollect.memory import Memory
from recollect.models.keeper import LocalKeeper
from recollect.models.local import LocalEmbedder

SAMPLE = {"memories": 150, "turns": 60, "summaries": 30}
_DATES = ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%I:%M %p on %d %B, %Y", "%B-%d-%Y")
_NO_DATE = datetime(2024, 1, 1, tzinfo=UTC)
Sheet = dict[str, Any]


def talks(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())


def moment(written: str | None) -> datetime:
    """A time as corpora write it; of messages that have none, one moment for all."""
    if not written:
        return _NO_DATE
    for form in _DATES:
        try:
            return datetime.strptime(written, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return datetime.fromisoformat(written).replace(tzinfo=UTC)


def sittings(talk: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The messages of a talk by the sitting they belong to."""
    found: dict[str, list[dict[str, Any]]] = {}
    date = None
    for message in talk["messages"]:
        date = message["date"] = message.get("date") or date  # some corpora date the first message of a sitting alone
        found.setdefault(str(message.get("session") or message["date"]), []).append(message)
    return found


def said(message: Mapping[str, Any]) -> Message:
    speaker = str(message["speaker"])
    role = message.get("role") or ("assistant" if speaker.lower() == "assistant" else "user")
    trust = Trust.UNTRUSTED if role in ("tool", "document") else Trust.TRUSTED
    return Message(text=message["text"], author=speaker, role=role, ts=moment(message.get("date")), trust=trust)


def chosen(sheets: Sequence[Sheet], count: int) -> list[Sheet]:
    """So many of the sheets, by the digest of their ids, in their order."""
    ranked = sorted(sheets, key=lambda sheet: sha256(sheet["id"].encode()).hexdigest())[:count]
    return [sheet for sheet in sheets if sheet in ranked]


def taken_in(talk: Mapping[str, Any], memory: Memory) -> dict[str, dict[str, Any]]:
    """The messages of a talk by the ids of their events."""
    known: dict[str, dict[str, Any]] = {}
    for messages in sittings(talk).values():
        taken = memory.ingest([said(message) for message in messages], thread_id=str(talk["id"]), wait=True)
        known |= dict(zip(taken.event_ids, messages, strict=True))
    return known


def of_talk(talk: Mapping[str, Any], memory: Memory) -> tuple[list[Sheet], list[Sheet]]:
    """The memories of a talk, and its turns with a labelled fact."""
    known = taken_in(talk, memory)
    memories: list[Sheet] = []
    for item in memory.items(page=Page(limit=1_000)):
        if isinstance(item.body, Episode) or item.superseded_by is not None:
            continue
        shown = memory.show(item.id)
        cited = [known[event.id] for event in shown.evidence if event.id in known]
        digest = sha256(shown.words.encode()).hexdigest()[:6]
        memories.append(
            {
                "id": f"{talk['id']}/{cited[-1]['id']}/{digest}",
                "words": shown.words,
                "importance": shown.item.importance,
                "private": shown.item.private,
                "witnesses": [f"{one['id']} {one['speaker']}, {one['date']}: {one['text']}" for one in cited],
                "cited": [str(one["id"]) for one in cited],
            }
        )
    turns: list[Sheet] = []
    facts: Sequence[Mapping[str, Any]] = talk.get("facts", ())
    for place in sorted({fact["witness"][-1] for fact in facts}):
        message = talk["messages"][place]
        turns.append(
            {
                "id": f"{talk['id']}/{message['id']}",
                "turn": f"{message['speaker']}, {message['date']}: {message['text']}",
                "facts": [fact["text"] for fact in facts if fact["witness"][-1] == place],
                "memories": [sheet["words"] for sheet in memories if str(message["id"]) in sheet["cited"]],
            }
        )
    return sorted(memories, key=lambda sheet: sheet["id"]), turns


def summaries(talk: Mapping[str, Any], memory: Memory) -> Iterator[Sheet]:
    """The summary of each sitting, with what it sums up."""
    for name, messages in sittings(talk).items():
        thread = f"{talk['id']}/{name}"
        episode = memory.append([said(message) for message in messages], thread_id=thread).episode_id
        memory.compress(item_id=episode)
        shown = memory.show(episode)
        yield {
            "id": thread,
            "summary": shown.words,
            "turns": [f"{number}. {one['speaker']}: {one['text']}" for number, one in enumerate(messages, 1)],
        }


def sheets(what: str, path: Path, every: int = 1) -> list[Sheet]:
    embedder, keeper = LocalEmbedder(), LocalKeeper()
    found: list[Sheet] = []
    with tempfile.TemporaryDirectory() as folder:
        for number, talk in enumerate(talks(path)):
            if number % every:
                continue
            store = Path(folder) / "readings.db"
            with open_memory(store, tenant=f"t{number}", embedder=embedder, keeper=keeper) as memory:
                if what == "summaries":
                    found += summaries(talk, memory)
                else:
                    found += of_talk(talk, memory)[what == "turns"]
    return found


def shares(what: str, sampled: Sequence[Sheet], path: Path) -> dict[str, Any]:
    """The shares of the verdicts among the sheets of the sample; those that nobody has read are counted apart."""
    verdicts = {row["id"]: row for row in talks(path)}
    read = [verdicts[sheet["id"]] for sheet in sampled if sheet["id"] in verdicts]
    counted = Counter(str(row["verdict"]) for row in read)
    found: dict[str, Any] = {"what": what, "sampled": len(sampled), "read": len(read)}
    found |= {verdict: round(count / max(1, len(read)), 3) for verdict, count in sorted(counted.items())}
    if what == "summaries":
        found["false_bullets"] = sum(int(row.get("false_bullets", 0)) for row in read)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench.readings", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("what", choices=tuple(SAMPLE))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--verdicts", type=Path, help="judged sheets, one JSON a line: id, verdict")
    parser.add_argument("--sample", type=int, help="how many sheets")
    parser.add_argument("--every", type=int, default=1, help="of the talks, only every so many")
    chose = parser.parse_args(arguments)
    sampled = chosen(sheets(chose.what, chose.data, chose.every), chose.sample or SAMPLE[chose.what])
    if chose.verdicts:
        print(json.dumps(shares(chose.what, sampled, chose.verdicts)))
    else:
        for sheet in sampled:
            print(json.dumps({key: value for key, value in sheet.items() if key != "cited"}, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
