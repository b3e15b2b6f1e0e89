"""Words in every place that holds content, and a search for them where they must not be afterwards."""

import hashlib
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg
from psycopg import sql

from recollect.care import erase
from recollect.domain.change import (
    Append,
    Consent,
    Create,
    Derive,
    Discard,
    Link,
    Note,
    Retract,
    Unlink,
    Withdraw,
    move,
    revise,
)
from recollect.domain.ids import ItemId, RecordId
from recollect.domain.item import Archived, Artifact, ArtifactType, Episode, Fact, Item, Visibility, Workflow
from recollect.domain.record import Decided, Open, Pending, ProfileField, Resolved, Verdict
from recollect.domain.witness import Bullet, EventWitness
from recollect.holdings import Vector
from recollect.memory import Memory
from recollect.store.sidecar import FileErasures
from tests.worlds import DAWN, MIRA, Told, World, numbers

# -- planting -----------------------------------------------------------------------------------------------


@dataclass
class Garden:
    """A tenant in which words are planted, each in one place, with how to erase what holds them."""

    world: World
    memory: Memory
    words: dict[str, str]
    """The word of every place."""
    roots: list[ItemId]
    """The memories to erase. What belongs to the user `zoe` goes with her."""
    beside: Path

    @property
    def spoken(self) -> list[str]:
        """The words that can be searched for."""
        return [word for word in self.words.values() if word.startswith("Gr")]

    def word(self, place: str) -> str:
        """A word that occurs nowhere else: pronounceable, beyond ASCII, and stemmed by a text index."""
        seed = hashlib.sha256(f"{self.world.tenant} {place}".encode()).digest()
        syllables = [f"{'zvqxwk'[b % 6]}{'aeiouy'[b // 6 % 6]}" for b in seed[:5]]
        self.words[place] = "Gr" + "".join(syllables) + "ßernü"
        return self.words[place]

    def told(self, text: str = "Somebody said something", **fields: object) -> Told:
        told = self.world.tell(text, **fields)
        self.roots.append(told.item.id)
        return told


Plant = Callable[[Garden], object]
PLACES: dict[str, Plant] = {}


def place(plant: Plant) -> Plant:
    PLACES[plant.__name__.strip("_")] = plant
    return plant


def planted(world: World, beside: Path, places: dict[str, Plant] | None = None) -> Garden:
    garden = Garden(world, world.memory(beside), {}, [], beside)
    world.tell("An ordinary thing before")
    for plant in (places if places is not None else PLACES).values():
        plant(garden)
        world.tell("An ordinary thing in between", thread="ordinary")
    return garden


def uproot(garden: Garden) -> None:
    """Erase everything that holds a word: memory by memory, a user's, and the rest at once."""
    world, store, tenant = garden.world, garden.world.store, garden.world.tenant
    for item_id in garden.roots[-3:]:
        garden.memory.erase(item_id)
    if store.kept_for(tenant, "zoe").items:
        garden.memory.erase_user("zoe")
    left = [item_id for item_id in garden.roots[:-3] if store.item(tenant, item_id)]
    cited = [event_id for item_id in left for event_id in erase.evidence(store, tenant, item_id)]
    listed = FileErasures(garden.beside / "erasures")
    erase.erase(store, listed, world.scope, left, cited, actor=MIRA, at=world.clock.now(), reason="asked for")
    store.scrub()


@place
def event_text(g: Garden) -> None:
    g.told(g.word("event_text"))


@place
def long_text(g: Garden) -> None:
    filler = "lorem ipsum dolor sit amet " * 800
    words = [g.word(f"long_text {part}") for part in ("start", "middle", "end")]
    world = g.world
    episode, item = world.episode("long"), world.item()
    event = world.event(episode, filler.join(words))
    version = world.version(item, event, content=filler.join(words))
    world.apply(Create(episode), Append(event), Create(item), Derive(version))
    g.roots.append(item.id)


@place
def version_content(g: Garden) -> None:
    told = g.told()
    g.world.apply(Derive(g.world.version(told.item, told.event, content=g.word("version_content"))))


@place
def bullet(g: Garden) -> None:
    told = g.told()
    witness = EventWitness(told.event.id, g.word("reason of a witness"))
    bullets = (Bullet(g.word("bullet"), (witness,)),)
    g.world.apply(Derive(g.world.version(told.item, content="plain", bullets=bullets)))


@place
def hint(g: Garden) -> None:
    told = g.told()
    g.world.apply(Derive(g.world.shorter(told.version, g.word("hint"))))


@place
def version_of_another_memory(g: Garden) -> None:
    """What was merged into another memory goes with its source."""
    told, other = g.told(), g.world.keep()
    merged = g.world.shorter(told.version, g.word("version_of_another_memory"), item_id=other.id)
    g.world.apply(Derive(merged))


@place
def fact(g: Garden) -> None:
    g.told(body=Fact(g.word("fact key"), g.word("fact value"), g.word("fact scope")))


@place
def workflow(g: Garden) -> None:
    word = g.word("workflow")
    g.told(body=Workflow(word, (word,), word, {word: [word]}))


@place
def tags(g: Garden) -> None:
    g.told(tags=(g.word("tags"),))


@place
def category(g: Garden) -> None:
    g.told(category=g.word("category"))


@place
def topic(g: Garden) -> None:
    g.told(topic_key=g.word("topic"))


@place
def meta(g: Garden) -> None:
    world = g.world
    episode, item = world.episode("meta"), world.item()
    event = world.event(episode, meta={g.word("meta key"): {"deep": [g.word("meta value")]}})
    world.apply(Create(episode), Append(event), Create(item), Derive(world.version(item, event)))
    g.roots.append(item.id)


@place
def reason_of_a_state(g: Garden) -> None:
    told = g.told()
    archived = Archived(DAWN, g.word("reason_of_a_state"))
    g.world.apply(move(told.item, archived, g.world.clock.now()))


@place
def an_earlier_value(g: Garden) -> None:
    told = g.told(body=Fact(value=g.word("an_earlier_value")))
    after = replace(told.item, body=Fact(value="something else"))
    g.world.apply(revise(told.item, after, g.world.clock.now()))


@place
def an_earlier_tag_undone(g: Garden) -> None:
    told = g.told()
    tagged = replace(told.item, tags=(g.word("an_earlier_tag_undone"),))
    g.world.apply(there := revise(told.item, tagged, g.world.clock.now()))
    g.world.apply(revise(tagged, told.item, there.edits[-1].after))


def _resolved(found: Open, note: str) -> Resolved:
    return Resolved(
        id=found.id,
        memory_a=found.memory_a,
        memory_b=found.memory_b,
        detected_at=found.detected_at,
        resolved_at=DAWN,
        resolution=Verdict.A_WINS,
        resolution_note=note,
    )


def _contradicted(g: Garden, place: str, *, first: bool = False) -> tuple[Open, Resolved]:
    pair = g.told().item, g.world.keep()
    found = g.world.contradiction(*(pair if first else pair[::-1]))
    closed = _resolved(found, g.word(place))
    g.world.apply(Note(None, found))
    g.world.apply(Note(found, closed))
    return found, closed


@place
def note_on_a_contradiction(g: Garden) -> None:
    _contradicted(g, "note_on_a_contradiction")
    _contradicted(g, "note on a contradiction the other way round", first=True)


@place
def note_that_was_taken_back(g: Garden) -> None:
    found, closed = _contradicted(g, "note_that_was_taken_back")
    g.world.apply(Note(closed, found))


@place
def note_on_a_contradiction_that_is_gone(g: Garden) -> None:
    _, closed = _contradicted(g, "note_on_a_contradiction_that_is_gone")
    g.world.apply(Note(closed, None))


@place
def relation(g: Garden) -> None:
    told, other = g.told().item, g.world.keep()
    g.world.apply(
        Link(g.world.relation(told, other, relation_type=g.word("relation"))),
        Link(g.world.relation(other, told, relation_type=g.word("relation the other way round"))),
    )


@place
def relation_that_is_gone(g: Garden) -> None:
    link = g.world.relation(g.world.keep(), g.told().item, relation_type=g.word("relation_that_is_gone"))
    g.world.apply(Link(link))
    g.world.apply(Unlink(link))


def _proposal(g: Garden, item: Item, value: str) -> Pending:
    return Pending(
        id=RecordId(g.world.clock.mint()),
        user_id="ana",
        field=ProfileField.CITY,
        value=value,
        signals=3,
        item_id=item.id,
        proposed_at=DAWN,
        lapses_at=DAWN,
    )


@place
def proposal(g: Garden) -> None:
    g.world.apply(Note(None, _proposal(g, g.told().item, g.word("proposal"))))


@place
def decided_proposal(g: Garden) -> None:
    asked = _proposal(g, g.told().item, g.word("decided_proposal"))
    g.world.apply(Note(None, asked))
    given = {name: getattr(asked, name) for name in Pending.__dataclass_fields__ if name != "lapses_at"}
    g.world.apply(Consent(asked, Decided(**given, accepted=True, decided_by="ana", decided_at=DAWN)))


@place
def operation(g: Garden) -> None:
    told = g.told()
    noted = g.world.operation(memory_id=told.item.id, category=g.word("operation"))
    g.world.store.observe(g.world.tenant, [noted])


@place
def discarded_version(g: Garden) -> None:
    told = g.told()
    version = g.world.version(told.item, told.event, content=g.word("discarded_version"))
    g.world.apply(Derive(version))
    g.world.apply(Discard(version))


@place
def withdrawn_memory(g: Garden) -> None:
    told = g.told(g.word("withdrawn_memory"), tags=(g.word("tag of a withdrawn memory"),))
    g.world.apply(Discard(told.version), Withdraw(told.item), Retract(told.event))


@place
def retracted_evidence(g: Garden) -> None:
    told = g.told(g.word("retracted_evidence"))
    _, [other] = g.world.say("something else was said")
    g.world.apply(Discard(told.version), Derive(g.world.version(told.item, told.event, other)), Retract(told.event))


@place
def idempotent_request(g: Garden) -> None:
    """The digest of a short text tells the text to who guesses it."""
    said = g.memory.remember(g.word("idempotent_request"), key="k", user_id="ana", thread_id="idempotent")
    receipt = g.world.store.receipt(g.world.tenant, MIRA.id, "k")
    g.words["digest of a request"] = receipt.digest
    g.roots.append(said.item_id)


@place
def vector(g: Garden) -> None:
    told = g.told()
    values = numbers(*(n / 7 + len(g.roots) for n in range(16)))
    refs = [f"e:{told.event.id}", f"v:{told.version.id}"]
    g.world.apply(vectors=[Vector("mini", ref, values) for ref in refs])
    g.words["vector"] = values[8:40].decode("latin-1")


@place
def users_thread(g: Garden) -> None:
    world = g.world
    artifacts = (Artifact(ArtifactType.FILE, g.word("artifact")),)
    body = Episode(g.word("title"), artifacts)
    episode = world.item(body, user_id="zoe", thread_id="zoes", category="episode")
    world.apply(Create(episode), Append(world.event(episode, g.word("users_thread"), author=g.word("author"))))


@place
def users_checkpoint(g: Garden) -> None:
    world = g.world
    for step in ("users_checkpoint before", "users_checkpoint"):
        kept = world.checkpoint({"plan": [g.word(step)]}, thread="zoes", user="zoe")
        world.store.save_checkpoint(world.scope, kept, actor=MIRA)


@place
def users_project(g: Garden) -> None:
    world = g.world
    fields = {"user_id": "zoe", "project_id": "house", "visibility": Visibility.PROJECT_SHARED}
    world.tell(g.word("users_project"), thread="house", **fields)


# -- searching ----------------------------------------------------------------------------------------------


def needles(word: str) -> list[bytes]:
    """How a word may be spelt where it was stored or indexed: as it is, in other cases, without accents, and without
    the beginning that an index shares between neighbours and the end that it stems."""
    if not word.startswith("Gr"):
        return [word.encode("latin-1" if not word.isascii() else "ascii")]
    plain = "".join(c for c in unicodedata.normalize("NFKD", word) if not unicodedata.combining(c))
    forms = {word, word.lower(), word.upper(), word.casefold(), plain, plain.lower(), plain.lower()[3:11]}
    return [form.encode() for form in sorted(forms)]


def left_in_files(folder: Path, words: dict[str, str]) -> dict[str, list[str]]:
    """The places whose word is still in the bytes of a file, with the files."""
    found: dict[str, list[str]] = {}
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    contents = {path.name: (raw := path.read_bytes(), raw.lower()) for path in files}
    for place, word in words.items():
        for name, (raw, lower) in contents.items():
            if any(needle in raw or needle in lower for needle in needles(word)):
                found.setdefault(place, []).append(name)
    return found


def left_in_database(url: str, words: dict[str, str]) -> dict[str, list[str]]:
    """The places whose word is still in a row of any table of any schema, with the columns."""
    found: dict[str, list[str]] = {}
    with psycopg.connect(url) as superuser:
        columns = superuser.execute(
            "select n.nspname, c.relname, a.attname from pg_class c join pg_namespace n on n.oid = c.relnamespace "
            "join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped "
            "join pg_type t on t.oid = a.atttypid "
            "where c.relkind in ('r', 't', 'm') and n.nspname not in ('pg_catalog', 'information_schema') "
            "and t.typname not in ('bool', 'int2', 'int4', 'int8', 'timestamptz', 'float4', 'float8', 'oid')"
        ).fetchall()
        assert {"events", "journal_bodies", "receipts"} <= {name.rstrip("_0123456789") for _, name, _ in columns}
        for schema, table, column in columns:
            names = sql.Identifier(schema, table), sql.Identifier(column)
            texts = superuser.execute(sql.SQL("select {1}::text from {0} where {1} is not null").format(*names))
            content = "\n".join(row[0] for row in texts)
            lower = content.lower()
            for place, word in words.items():
                if any(
                    n in content or n in lower for n in (needle.decode("latin-1") for needle in needles(word))
                ) or any(n in content or n in lower for n in _decoded(word)):
                    found.setdefault(place, []).append(f"{table}.{column}")
    return found


def _decoded(word: str) -> list[str]:
    return [needle.decode() for needle in needles(word)] if word.startswith("Gr") else []
