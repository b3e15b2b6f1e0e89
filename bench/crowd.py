"""A tenant of any size with invented memories: the rows of an export, so that a store loads them in bulk.

Every memory is an item with its R3, the event it cites and the vectors of both. Words follow Zipf's law, with names,
codes and paths among them; vectors are embeddings of some thousands of such texts, mixed and perturbed for the rest.
"""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from recollect.domain import codec
from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId, VersionId, uuid7
from recollect.domain.item import Episode, Fact, Item, Visibility
from recollect.domain.journal import genesis
from recollect.domain.level import Level
from recollect.domain.version import Version
from recollect.domain.witness import Bullet, EventWitness
from recollect.models.local import LocalEmbedder
from recollect.store import rows

USERS = tuple(f"user-{n}" for n in range(20))
PROJECTS = tuple(f"project-{n}" for n in range(10))
CATEGORIES = ("knowledge", "preference", "decision", "task", "event")
TURNS = 25
"""Events of a thread."""
_BEGAN = datetime(2024, 1, 1, tzinfo=UTC)
_SYLLABLES = [c + v for c in "b c d f g h k l m n p r s t v w z st tr ch".split() for v in "a e i o u ea ou".split()]
_COMMON = (
    "the to and of a in that is for it on with was as be at this have from or by not but they we he she you are will "
    "which their has would there been one all can more if about when so what up out who get had some into them then"
).split()


@dataclass(frozen=True)
class Language:
    """Words from common to rare, and how often each is used."""

    words: Sequence[str]
    shares: NDArray[np.float64]


def language(chance: np.random.Generator, size: int = 50_000) -> Language:
    made: dict[str, None] = dict.fromkeys(_COMMON)
    while len(made) < size:
        made["".join(chance.choice(_SYLLABLES, chance.integers(2, 5)))] = None
    shares = 1 / np.arange(1, size + 1) ** 1.03
    return Language(list(made), shares / shares.sum())


def texts(chance: np.random.Generator, spoken: Language, count: int) -> list[str]:
    """Sentences of 6 to 40 words; one in six holds a code or a path."""
    lengths = np.clip(chance.lognormal(2.75, 0.45, count).astype(int), 6, 40)
    chosen = chance.choice(len(spoken.words), int(lengths.sum()), p=spoken.shares)
    made: list[str] = []
    at = 0
    for number, length in enumerate(lengths.tolist()):
        words = [spoken.words[int(n)] for n in chosen[at : at + length]]
        at += length
        if number % 6 == 0:
            code = int(chance.integers(1, 99_999))
            words.append((f"ERR-{code}", f"src/{words[-1]}/{words[0]}.py", f"{code * 7919:07x}")[number % 3])
        made.append(" ".join(words).capitalize() + ".")
    return made


def vectors(chance: np.random.Generator, base: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Like the base vectors, each once perturbed and leaning towards another one."""
    first, second = chance.integers(0, len(base), (2, count))
    lean = chance.uniform(0.0, 0.5, (count, 1)).astype(np.float32)
    made = base[first] + lean * base[second] + chance.normal(0, 0.02, (count, base.shape[1])).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def embedded(embedder: LocalEmbedder, chosen: Sequence[str]) -> NDArray[np.float32]:
    return np.frombuffer(b"".join(embedder.embed(chosen)), np.float32).reshape(len(chosen), -1)


def exported(size: int, seed: int, spoken: Language, base: NDArray[np.float32]) -> Iterator[Mapping[str, object]]:
    """The rows of a tenant with so many memories, in the order in which a store takes them."""
    yield {
        "table": "tenants",
        "chain_id": f"crowd-{size}",
        "rev": 1,
        "seq": 0,
        "head": genesis(f"crowd-{size}"),
        "created_at": codec.when(_BEGAN),
    }
    yield from _items(size, seed)
    yield from _texts(size, seed, spoken, "events")
    yield from _texts(size, seed, spoken, "versions")
    for number in range(size):
        yield {"table": "witnesses", "event_id": _id("event", number), "version_id": _id("version", number)}
    for mark, of in (("e:", "event"), ("v:", "version")):
        for first in range(0, size, 10_000):
            chance = np.random.default_rng([seed, first, len(of)])
            for number, values in enumerate(vectors(chance, base, min(10_000, size - first)), first):
                yield {
                    "table": "vectors",
                    "embedder": LocalEmbedder.name,
                    "ref": mark + _id(of, number),
                    "rev": 1,
                    "values": base64.b64encode(values.tobytes()).decode(),
                }


def decoded(row: Mapping[str, object]) -> bytes:
    """The vector in a row of vectors."""
    return base64.b64decode(str(row["values"]))


def _id(of: str, number: int) -> str:
    kind = ("episode", "item", "event", "version").index(of)
    return uuid7(_at(number), (kind << 60 | number).to_bytes(10))


def _at(number: int) -> datetime:
    return _BEGAN + timedelta(seconds=30 * number)


def _item(number: int, body: Fact | Episode, name: str, chance: np.random.Generator) -> Item:
    of_episode = isinstance(body, Episode)
    visibility = Visibility.USER_PRIVATE if number % 4 else Visibility.PROJECT_SHARED
    thread = number if of_episode else number // TURNS
    return Item(
        id=ItemId(_id(name, number)),
        body=body,
        category="episode" if of_episode else CATEGORIES[int(chance.integers(len(CATEGORIES)))],
        visibility=visibility,
        user_id=USERS[thread % len(USERS)],
        project_id=PROJECTS[thread % len(PROJECTS)],
        thread_id=f"thread-{thread}",
        importance=int(chance.integers(1, 6)),
        origin_at=_at(number),
        created_at=_at(number),
        updated_at=_at(number),
    )


def _items(size: int, seed: int) -> Iterator[Mapping[str, object]]:
    chance = np.random.default_rng([seed, 1])
    for number in range(-(-size // TURNS)):
        yield _row("items", rows.item_columns(_item(number, Episode(), "episode", chance)), rev=1, last_seq=TURNS)
    for number in range(size):
        item = _item(number, Fact(value=f"fact {number}"), "item", chance)
        yield _row("items", rows.item_columns(item), rev=1, last_seq=0)


def _texts(size: int, seed: int, spoken: Language, table: str) -> Iterator[Mapping[str, object]]:
    for first in range(0, size, 10_000):
        chance = np.random.default_rng([seed, first, len(table), 2])
        for number, text in enumerate(texts(chance, spoken, min(10_000, size - first)), first):
            if table == "events":
                event = Event(
                    id=EventId(_id("event", number)),
                    item_id=ItemId(_id("episode", number // TURNS)),
                    seq=number % TURNS + 1,
                    ts=_at(number),
                    author=USERS[number // TURNS % len(USERS)],
                    role="user" if number % 2 else "assistant",
                    text=text,
                )
                yield _row("events", rows.event_columns(event))
            else:
                version = Version(
                    id=VersionId(_id("version", number)),
                    item_id=ItemId(_id("item", number)),
                    level=Level.R3,
                    content=text,
                    bullets=(Bullet(text, (EventWitness(EventId(_id("event", number))),)),),
                    created_at=_at(number),
                )
                yield _row("versions", rows.version_columns(version))


def _row(table: str, columns: Mapping[str, object], **more: object) -> Mapping[str, object]:
    """A row as an export holds it: times and JSON as text that was not written yet."""
    made = {name: codec.when(value) if isinstance(value, datetime) else value for name, value in columns.items()}
    for name in ("body", "tags", "chunks", "meta", "bullets"):
        if name in made:
            made[name] = json.loads(str(made[name]))
    return {"table": table, "withdrawn": False, **made, **more}
