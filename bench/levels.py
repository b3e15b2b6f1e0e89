"""What the lengths of a memory cost and keep: every session of a conversation is an episode.

    python -m bench.levels --data FILE [--show N] [--from K] [--budget TOKENS]

ratio: the median size of each level by that of the evidence (R2 where the evidence has 400 tokens or more, if any has);
tokens_r1_p95: the longest index words; supported: the share of bullets whose witnesses hold what they say, measured by
other rules than those that made them; cpu: milliseconds of work for an episode. curve: what each step up the ladder
buys, within a budget (bench/curve.py).
"""

import argparse
import json
import re
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean, median, quantiles
from typing import Any

from bench.curve import curve
from bench.recall import conversations, threads
from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId
from recollect.domain.item import Episode, Item, Visibility
from recollect.domain.text import tokens
from recollect.domain.witness import Bullet
from recollect.models.keeper import LocalKeeper
from recollect.policy import distil
from recollect.policy.pack import strict
from recollect.policy.wording import Sound, check, check_quotation
from recollect.weighing import weigh

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LONG = 400
"""Tokens of evidence from which the share of a packet counts."""
HELD = 0.75
"""The share of a bullet's content words that its witnesses hold where it counts as supported."""
_WORD = re.compile(r"[a-zà-öø-ÿ0-9]+")
_NUMBER = re.compile(r"\d+")
_DATE = re.compile(
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)(?: \d{1,2})?,? \d{4}|"
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|(?:spring|summer|autumn|winter|Q[1-4]|in|since|around|of) \d{4}"
)
_COMMON = frozenset(
    """the and for with that this from into was were has had have are been not but his her its their who what which when
    where how why did does will would can could should about there then than also user assistant team asked answered
    said told noted decided chose wanted needed help shared named week weekend planned going kept
    others rule code endpoints functions classes thinking""".split()
)


@dataclass(frozen=True)
class Ladder:
    """An episode at its five lengths."""

    material: distil.Material
    log: distil.Draft
    summary: distil.Draft | None
    packet: str
    trace: str
    cpu: float

    @property
    def served(self) -> int:
        """Tokens of the summary with its quotations framed, as agents get it."""
        return tokens(distil.served(self.summary.content, self.summary.bullets)) if self.summary else 0

    @property
    def evidence(self) -> int:
        return sum(tokens(event.text) for event in self.material.events)


def episodes(conversation: Mapping[str, Any]) -> Iterator[distil.Material]:
    for place, thread in enumerate(threads(conversation), 1):
        item_id = ItemId(f"00000000-0000-7000-8000-{place:012d}")
        events = [
            Event(
                id=EventId(f"00000000-0000-7000-9{place:03d}-{seq:012d}"),
                item_id=item_id,
                seq=seq,
                ts=said.ts or NOW,
                author=said.author,
                role=said.role,
                text=said.text,
            )
            for seq, said in enumerate(thread.messages, 1)
        ]
        item = Item(
            id=item_id, body=Episode(), category="event", visibility=Visibility.USER_PRIVATE, user_id="mira",
            origin_at=events[0].ts, created_at=events[0].ts, updated_at=events[0].ts,
        )  # fmt: skip
        yield distil.Material(item, events)


def distilled(material: distil.Material, keeper: LocalKeeper) -> Ladder:
    """The episode with the defaults that a user has: its sentences are weighed by the bundled keeper."""
    began = time.process_time()
    weights = weigh(material.events, range(len(material.events)), keeper)
    material = replace(material, weights=weights)
    log = distil.clean(material)
    summary = distil.summarise(material)
    packet = distil.packet(material.item, summary.content, summary.bullets) if summary else ""
    trace = distil.trace(material.item, packet, summary.content) if summary else ""
    return Ladder(material, log, summary, packet, trace, time.process_time() - began)


def held(bullet: Bullet, events: Sequence[Event]) -> bool:
    """Whether the witnesses hold the content words of a bullet: by the first five letters of each, numbers whole."""
    heard = " ".join(f"{event.author} {event.text}" for event in distil.cited(bullet, events)).lower()
    if not heard:
        return False
    text = _DATE.sub(" ", bullet.text)
    if not set(_NUMBER.findall(text)) <= set(_NUMBER.findall(heard)):
        return False
    said = {word[:5] for word in _WORD.findall(heard)}
    own = {word for word in _WORD.findall(text.lower()) if len(word) > 2} - _COMMON
    return sum(word[:5] in said or word[:4] in {each[:4] for each in said} for word in own) >= HELD * len(own)


def sound(bullet: Bullet) -> bool:
    """Whether a bullet keeps the rules: of wording where it is told, of length where it quotes."""
    found = check_quotation(bullet.quotation) if bullet.quotation else check(bullet.text)
    return isinstance(found, Sound)


def lengths(found: Sequence[Ladder]) -> dict[str, Any]:
    """The measures of the levels themselves, over all episodes."""
    summed = [ladder for ladder in found if ladder.summary]
    packets = [tokens(ladder.packet) / ladder.evidence for ladder in summed if ladder.evidence >= LONG]
    r1 = sorted(max(tokens(ladder.trace), strict(ladder.trace)) for ladder in summed)
    sizes = [(tokens(ladder.summary.content), ladder.evidence) for ladder in summed if ladder.summary]
    served = [(ladder.served, ladder.evidence) for ladder in summed]
    bullets = [(b, ladder.material.events) for ladder in summed if ladder.summary for b in ladder.summary.bullets]
    return {
        "episodes": len(found),
        "without_r3": len(found) - len(summed),
        "ratio": {
            "R4": round(median(tokens(ladder.log.content) / ladder.evidence for ladder in found), 4),
            "R3": round(median(size / evidence for size, evidence in sizes), 4),
            "R3_served": round(median(size / evidence for size, evidence in served), 4),
            "R2": round(median(packets), 4) if packets else None,
        },
        "r2_most": round(max(packets), 4) if packets else None,
        "tokens_r3": round(fmean(size for size, _ in sizes)),
        "tokens_r1_p95": quantiles(r1, n=100)[94],
        "bullets": round(len(bullets) / len(summed), 1),
        "supported": round(fmean(held(bullet, events) for bullet, events in bullets), 4),
        "sound": round(fmean(sound(bullet) for bullet, _ in bullets), 4),
        "cpu_p50": round(1000 * median(ladder.cpu for ladder in found), 1),
        "cpu_max": round(1000 * max(ladder.cpu for ladder in found), 1),
    }  # fmt: skip


def show(ladder: Ladder) -> None:
    print(
        f"--- {len(ladder.material.events)} events, {ladder.evidence} tokens; R4 {tokens(ladder.log.content)}, ", end=""
    )
    if ladder.summary:
        print(f"R3 {tokens(ladder.summary.content)}\n{ladder.summary.content}\nR2 {ladder.packet}\nR1 {ladder.trace}\n")
    else:
        print("no R3\n")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--conversations", type=int, default=None, help="only so many of the file")
    parser.add_argument("--show", type=int, default=0, help="print so many episodes, spread over the file")
    parser.add_argument("--from", dest="first", type=int, default=0, help="which of them to begin with")
    parser.add_argument("--budget", type=int, default=1024, help="tokens of a context")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "recollect-bench-vectors.db")
    args = parser.parse_args(arguments)
    materials = [each for found in conversations(args.data)[: args.conversations] for each in episodes(found)]
    keeper = LocalKeeper()
    if args.show:
        step = max(1, len(materials) // args.show)
        for material in materials[args.first :: step][: args.show]:
            show(distilled(material, keeper))
        return
    found = lengths([distilled(material, keeper) for material in materials])
    print(json.dumps(found), flush=True)
    steps = curve(args.data, args.cache, args.conversations, args.budget)
    print(json.dumps({"corpus": args.data.name, **found, "budget": args.budget, "curve": steps}))


if __name__ == "__main__":
    main()
