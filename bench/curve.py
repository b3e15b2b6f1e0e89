"""What each step up the ladder buys: evidence in the context, and the tokens spent for it.

Every question of a corpus is asked in a turn of its own, then rerolled twice: R3, R4, R5. An event counts where a
sentence of its own words stands in the context that is served; a summary that mentions the matter does not. `cited` is
the share that the context at least points at, by a witness.
"""

import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from bench.recall import Asked, Remembering, conversations, events_of, remembering, take_in
from recollect.domain.ids import ItemId
from recollect.domain.query import Answer, Filters, Page, Query
from recollect.errors import NothingMore

STEPS = ("R3 alone", "one escalation", "two escalations")
TOP_K = 10
_SENTENCE = re.compile(r"[^.!?\n]+")
_WORD = re.compile(r"\w+")
_LEAST_WORDS = 4
_WITNESS = re.compile(r"s:(\d+)-(\d+)|e:([0-9a-f-]{36})|c:([0-9a-f-]{36})\.\d+")


def flat(text: str) -> str:
    return " " + " ".join(_WORD.findall(text.lower())) + " "


def sentences(text: str) -> list[str]:
    """What of an event's own words is enough to say that a slice of it is there."""
    found = [flat(part) for part in _SENTENCE.findall(text)]
    return [part for part in found if len(part.split()) >= _LEAST_WORDS] or [flat(text)]


class Words:
    """The events of one conversation by exchange: their own sentences, and where they stand."""

    def __init__(self, asked: Asked) -> None:
        self._sentences: dict[int, list[str]] = {}
        self._at: dict[tuple[str, int], int] = {}
        self._exchange = asked.exchange_of_event
        for episode in asked.memory.items(Filters(kinds=frozenset({"episode"})), Page(limit=1000)):
            for event in events_of(asked.memory, episode.id):
                exchange = asked.exchange_of_event.get(event.id)
                if exchange is not None:
                    self._sentences.setdefault(exchange, []).extend(sentences(event.text))
                    self._at[episode.id, event.seq] = exchange

    def present(self, exchange: int, context: str) -> bool:
        return any(sentence in context for sentence in self._sentences.get(exchange, ()))

    def cited(self, asked: Asked, answer: Answer) -> frozenset[int]:
        found: set[int] = set()
        for result in answer.results:
            held = result.meta.get("episode")
            if held is not None:
                found.add(self._at.get((str(held), int(str(result.meta["seq"]))), -1))
                continue
            found |= {self._exchange.get(event.id, -1) for event in asked.memory.show(ItemId(result.id)).evidence}
        return frozenset(found)


def rows(asked: Asked, budget: int) -> Iterator[list[dict[str, float]]]:
    words = Words(asked)
    for number, question in enumerate(asked.conversation["questions"]):
        evidence = asked.evidence(question)
        if not evidence:
            continue
        steps: list[dict[str, float]] = []
        for _ in STEPS:
            query = Query(text=question["question"], turn_id=f"question {number}", top_k=TOP_K, budget_tokens=budget)
            try:
                answer = asked.memory.query(query)
            except NothingMore:
                steps.append(steps[-1])
                continue
            context = flat("\n".join(result.text for result in answer.results))
            present = sum(words.present(exchange, context) for exchange in evidence)
            steps.append(
                {
                    "recall": present / len(evidence),
                    "cited": len(evidence & words.cited(asked, answer)) / len(evidence),
                    "tokens": answer.tokens,
                    "level": int(answer.used_level),
                }
            )
        yield steps


def curve(data: Path, cache: Path, most: int | None, budget: int) -> list[Mapping[str, Any]]:
    """Recall and tokens after no, one and two escalations."""
    embedder = Remembering(cache)
    found: list[list[dict[str, float]]] = []
    with tempfile.TemporaryDirectory() as folder:
        for number, conversation in enumerate(conversations(data)[:most]):
            with remembering(str(Path(folder) / "memory.db"), f"bench-{number}", embedder) as house:
                asked = take_in(house, conversation)
                for episode in house.memory.items(Filters(kinds=frozenset({"episode"})), Page(limit=1000)):
                    house.memory.close_episode(episode.id)
                found += rows(asked, budget)
            print(
                f"{conversation['id']}: {[round(fmean(r[s]['recall'] for r in found), 3) for s in range(3)]}",
                flush=True,
            )
    return [
        {
            "step": name,
            **{key: round(fmean(row[step][key] for row in found), 4) for key in ("recall", "cited")},
            "tokens": round(fmean(row[step]["tokens"] for row in found), 1),
            "spent": round(fmean(sum(row[s]["tokens"] for s in range(step + 1)) for row in found), 1),
        }
        for step, name in enumerate(STEPS)
    ]
