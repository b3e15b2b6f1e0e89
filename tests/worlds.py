"""Worlds: a store, a tenant and a clock, with a vocabulary that puts memories into them in one line."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from struct import pack
from typing import Any

from recollect.care import audit
from recollect.custody import Deps
from recollect.domain import codec
from recollect.domain.change import (
    Append,
    Change,
    Create,
    Derive,
    Discard,
    Erase,
    Link,
    Note,
    Protect,
    Retract,
    Withdraw,
    move,
)
from recollect.domain.checkpoint import Checkpoint
from recollect.domain.event import Event
from recollect.domain.ids import CauseId, EventId, ItemId, JobId, RecordId, Rev, Seq, TenantId, VersionId, uuid7
from recollect.domain.item import Artifact, ArtifactType, Body, Episode, Fact, Item, SoftDeleted, Visibility
from recollect.domain.job import Job
from recollect.domain.journal import Entry
from recollect.domain.level import Derivation, Level
from recollect.domain.observation import Cursor, Operation, Use, Used
from recollect.domain.observation import Told as ToldChanges
from recollect.domain.query import Filters, Page
from recollect.domain.quotation import Excerpt, Quotation
from recollect.domain.record import Open, Pending, ProfileField, Resolved, Rules, Verdict
from recollect.domain.relation import Relation
from recollect.domain.scope import Actor, Principal, Role, Scope, Sight
from recollect.domain.version import Version
from recollect.domain.witness import Bullet, EventWitness, Witness
from recollect.holdings import Held, Receipt, Vector
from recollect.memory import Memory
from recollect.ports import Store
from recollect.store.sidecar import FileErasures, FileSeal

DAWN = datetime(2026, 1, 1, 8, 0, tzinfo=UTC)
EVERYTHING = Sight(users=None, projects=None, silo=None, readers=None)
ANY_STATE = Filters(states=frozenset({"active", "archived", "expired", "soft_deleted"}))
ALL = Page(limit=1000)
MIRA = Actor(id="mira", role=Role.ADMIN)
ROBIN = Actor(id="robin", role=Role.AGENT, agent_id="robin")


def numbers(*values: float) -> bytes:
    """A vector as the stores take it."""
    return pack(f"<{len(values)}f", *values)


class Ticking:
    """A clock that moves on by a second whenever it is read, and counts its ids: equal clocks mint equal ids."""

    def __init__(self, start: datetime = DAWN) -> None:
        self._at = start
        self._minted = 0
        self._lock = threading.Lock()

    def now(self) -> datetime:
        with self._lock:
            self._at += timedelta(seconds=1)
            return self._at

    def mint(self) -> str:
        with self._lock:
            self._minted += 1
            return uuid7(self._at, self._minted.to_bytes(10))


@dataclass(frozen=True)
class Told:
    """A fact with its evidence: the thread, the event in it, and the version that cites it."""

    item: Item
    event: Event
    version: Version
    rev: Rev


@dataclass
class World:
    """One tenant of a store, as tests speak of it. Verbs write; nouns only make values."""

    store: Store
    tenant: TenantId
    clock: Ticking = field(default_factory=Ticking)
    actor: Actor = MIRA

    @property
    def scope(self) -> Scope:
        return Scope(tenant=self.tenant)

    def memory(self, beside: Path, role: Role = Role.ADMIN, user: str = "mira") -> Memory:
        """The front door, with its list of erasures and its seal in a folder."""
        deps = Deps(self.store, self.clock, FileErasures(beside / "erasures"), FileSeal(beside / "key"))
        return Memory(deps, Principal(tenant=self.tenant, id=user, role=role))

    # -- values -------------------------------------------------------------------------------------------

    def item(self, body: Body | None = None, **fields: Any) -> Item:
        at = self.clock.now()
        given = {
            "id": ItemId(self.clock.mint()),
            "body": body or Fact(key="drink", value="tea"),
            "category": "knowledge",
            "visibility": Visibility.USER_PRIVATE,
            "user_id": "ana",
            "origin_at": at,
            "created_at": at,
            "updated_at": at,
        }
        return Item(**{**given, **fields})

    def episode(self, thread: str | None = "kitchen", **fields: Any) -> Item:
        return self.item(Episode(), **{"category": "episode", "thread_id": thread, **fields})

    def event(self, episode: Item, text: str = "Ana drinks tea.", **fields: Any) -> Event:
        given = {"id": EventId(self.clock.mint()), "item_id": episode.id, "ts": self.clock.now(), "author": "ana"}
        return Event(**{**given, "text": text, **fields})

    def version(self, item: Item, *witnesses: Event | Witness, content: str = "Tea it is.", **fields: Any) -> Version:
        cited = tuple(EventWitness(w.id) if isinstance(w, Event) else w for w in witnesses)
        given = {
            "id": VersionId(self.clock.mint()),
            "item_id": item.id,
            "level": Level.R3,
            "content": content,
            "bullets": (Bullet(content, cited),) if cited else (),
            "created_at": self.clock.now(),
        }
        return Version(**{**given, **fields})

    def quoted(self, *events: Event, words: str | None = None, **fields: Any) -> Bullet:
        """A sentence that quotes these events, each as a whole."""
        given = {
            "speaker": events[0].author,
            "said_at": events[0].ts,
            "words": words or " … ".join(event.text for event in events),
            "excerpts": tuple(Excerpt(event.id, 0, len(event.text)) for event in events),
        }
        said = Quotation(**{**given, **fields})
        return Bullet(said.plain, tuple(EventWitness(event.id) for event in events), quotation=said)

    def quoting(self, item: Item, *events: Event, besides: Sequence[Event] = (), **fields: Any) -> Version:
        """A version that quotes these events, and has further witnesses besides."""
        more = [Bullet("So it is.", tuple(EventWitness(event.id) for event in besides))] if besides else []
        bullets = (self.quoted(*events), *more)
        return self.version(item, content=bullets[0].text, **{"bullets": bullets, **fields})

    def shorter(self, version: Version, content: str = "tea", **fields: Any) -> Version:
        """The hint that a version is compressed to."""
        given = {
            "id": VersionId(self.clock.mint()),
            "item_id": version.item_id,
            "level": Level.R2,
            "content": content,
            "derived_from": version.id,
            "derivation": Derivation.COMPRESS,
            "created_at": self.clock.now(),
        }
        return Version(**{**given, **fields})

    def relation(self, a: Item, b: Item, **fields: Any) -> Relation:
        given = {"id": RecordId(self.clock.mint()), "from_id": a.id, "to_id": b.id, "strength": 0.5}
        return Relation(**{**given, "created_at": self.clock.now(), **fields})

    def contradiction(self, a: Item, b: Item) -> Open:
        at = self.clock.now()
        return Open(id=RecordId(self.clock.mint()), memory_a=a.id, memory_b=b.id, detected_at=at)

    def job(self, kind: str = "tidy", key: str = "all", **fields: Any) -> Job:
        given = {"id": JobId(self.clock.mint()), "kind": kind, "key": key, "not_before": self.clock.now()}
        return Job(**{**given, **fields})

    def operation(self, node: str = "curator", op: str = "merge", status: str = "done", **fields: Any) -> Operation:
        given = {"id": RecordId(self.clock.mint()), "user_id": "ana", "thread_id": "kitchen", "ts": self.clock.now()}
        return Operation(**{**given, "node": node, "op": op, "status": status, **fields})

    def checkpoint(self, data: Mapping[str, object], thread: str = "kitchen", user: str = "ana") -> Checkpoint:
        at = self.clock.now()
        return Checkpoint(
            id=RecordId(self.clock.mint()),
            user_id=user,
            thread_id=thread,
            checkpoint_data=data,
            created_at=at,
            updated_at=at,
        )

    # -- writing ------------------------------------------------------------------------------------------

    def apply(self, *changes: Change, **how: Any) -> Rev:
        given = {"actor": self.actor, "at": self.clock.now(), **how}
        return self.store.apply(given.pop("scope", self.scope), changes, **given)

    def keep(self, item: Item | None = None, **fields: Any) -> Item:
        """An item in the store, without words or evidence."""
        item = item or self.item(**fields)
        self.apply(Create(item))
        return item

    def say(self, *texts: str, thread: str = "kitchen", **fields: Any) -> tuple[Item, list[Event]]:
        """Texts at the end of a thread, which is begun when it is new: its episode and the events, placed."""
        episode, changes = self._begun(thread, fields)
        events = [self.event(episode, text) for text in texts]
        self.apply(*changes, *map(Append, events))
        return episode, list(self.store.events_by_id(self.tenant, [event.id for event in events]))

    def tell(self, text: str = "Ana drinks tea.", *, thread: str = "kitchen", **fields: Any) -> Told:
        """A fact with its evidence, written at once."""
        episode, changes = self._begun(thread, fields)
        event = self.event(episode, text)
        item = self.item(fields.pop("body", Fact(value=text[:200])), **fields)
        version = self.version(item, event, content=text)
        rev = self.apply(*changes, Append(event), Create(item), Derive(version))
        return Told(item, self.store.events_by_id(self.tenant, [event.id])[0], version, rev)

    def _begun(self, thread: str, fields: Mapping[str, Any]) -> tuple[Item, list[Change]]:
        owner = {name: fields[name] for name in ("user_id", "agent_id", "project_id", "visibility") if name in fields}
        episode = self.episode(thread, **owner)
        held = self.store.thread(
            Scope(
                tenant=self.tenant,
                user_id=episode.user_id,
                agent_id=episode.agent_id,
                project_id=episode.project_id,
                thread_id=thread,
            ),
            episode.visibility,
        )
        return (held.item, []) if held else (episode, [Create(episode)])

    # -- reading ------------------------------------------------------------------------------------------

    def held(self, item: Item | ItemId) -> Held:
        held = self.store.item(self.tenant, item if isinstance(item, str) else item.id)
        assert held is not None
        return held

    def journal(self) -> list[Entry]:
        return list(self.store.entries(self.tenant))

    def dump(self) -> list[str]:
        """Every row of the tenant, as bytes can be compared."""
        return [codec.canonical(row) for row in self.store.dump(self.tenant)]

    def state(self) -> list[str]:
        return [codec.canonical(row) for row in self.store.state(self.tenant)]

    def found(self, *words: str, sight: Sight = EVERYTHING, limit: int = 20) -> list[str]:
        return [hit.ref for hit in self.store.search(self.tenant, words, sight, limit)]

    def is_whole(self) -> bool:
        """The chain of the journal holds from its first entry to the head, and the engine finds nothing wrong."""
        verified = audit.verify(self.store, self.tenant)
        assert not verified.findings, verified.findings
        assert verified.entries == verified.head.seq
        wrong = self.store.integrity()
        assert not wrong, wrong
        return True


@dataclass(frozen=True)
class Furnished:
    """One of everything, by name."""

    told: Told
    other: Told
    hidden: Told
    episode: Item
    hint: Version
    relation: Relation
    contradiction: Open
    proposal: Pending
    checkpoint: Checkpoint
    job: Job
    key: str
    aside: Event
    """What ana said in private, in a thread that she and mira share with a project."""


def furnish(world: World, mark: str = "tea") -> Furnished:
    """A tenant with rows in every table, whose content holds the mark everywhere. Equal clocks make equal ids."""
    store, tenant = world.store, world.tenant
    artifacts = (Artifact(ArtifactType.FILE, f"src/{mark}.py"),)
    episode = world.keep(world.item(Episode(mark, artifacts), category="episode", thread_id="kitchen"))
    told = world.tell(f"Ana drinks {mark}. — 茶 🍵\u2028", tags=(mark,), topic_key=mark)
    other = world.tell(f"Ben hates {mark}", category=mark, body=Fact(mark, mark, mark, 0.1 + 0.2))
    hidden = world.tell(f"Nobody minds {mark}")
    hint = world.shorter(told.version, mark, quality_score=1 / 3)
    relation = world.relation(told.item, other.item, relation_type=mark, strength=1)
    contradiction = world.contradiction(told.item, other.item)
    at = world.clock.now()
    proposal = Pending(
        id=RecordId(world.clock.mint()),
        user_id="ana",
        field=ProfileField.CITY,
        value=mark,
        signals=3,
        item_id=told.item.id,
        proposed_at=at,
        lapses_at=at,
    )
    job, key = world.job(payload={"items": [told.item.id]}, every=timedelta(seconds=90)), "key-1"
    world.apply(
        Append(
            world.event(episode, f"{mark}!", role="tool", meta={mark: [2**60, 1e-300, None, {"b": 1.0, "a": mark}]})
        ),
        Derive(hint),
        Link(relation),
        Note(None, contradiction),
        Note(None, proposal),
        Note(None, Rules()),
        then=[job, world.job(key="other")],
        vectors=[Vector("mini", f"e:{told.event.id}", numbers(0.1, -2.5)), Vector("big", f"v:{hint.id}", numbers(7))],
        cause=CauseId("night"),
        receipt=Receipt(key, "digest", "{}"),
    )
    resolved = Resolved(
        id=contradiction.id,
        memory_a=contradiction.memory_a,
        memory_b=contradiction.memory_b,
        detected_at=contradiction.detected_at,
        resolved_at=world.clock.now(),
        resolution=Verdict.B_WINS,
        resolution_note=mark,
        why=f"{mark} against {mark}",
        confidence=0.75,
    )
    state = SoftDeleted(world.clock.now(), datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), mark)
    world.apply(
        Note(contradiction, resolved),
        move(other.item, state, world.clock.now()),
        Protect(told.item.id, False, True),
        Retract(hidden.event),
        Discard(hidden.version),
        Withdraw(hidden.item),
    )
    gone = world.tell(f"Forget {mark}", thread="cellar")
    world.apply(Erase((gone.item.id,), (gone.version.id,), (gone.event.id,), (), "asked for"))
    checkpoint = world.checkpoint({mark: mark})
    store.save_checkpoint(world.scope, checkpoint, actor=world.actor)
    used = [Used(told.item.id, use, world.clock.now(), told.version.id) for use in Use]
    _, [aside] = world.say(
        f"Between us: {mark}", thread="hall", visibility=Visibility.PROJECT_SHARED, project_id="house", user_id=None
    )
    world.apply(private=[aside.id])
    informed = ToldChanges("robin", "kitchen", Cursor(told.rev, Seq(1), 1))
    store.observe(tenant, [*used, world.operation(memory_id=told.item.id, category=mark, sim=0.1), informed])
    return Furnished(told, other, hidden, episode, hint, relation, contradiction, proposal, checkpoint, job, key, aside)
