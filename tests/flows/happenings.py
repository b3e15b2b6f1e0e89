"""What can happen to memory, as rules of a state machine. How it is taken back is in machine.py."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, TypeVar
from uuid import uuid4

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from recollect.custody import Deps
from recollect.domain.change import (
    Change,
    Create,
    Derive,
    Discard,
    Link,
    Note,
    Relink,
    Retract,
    Unlink,
    Verb,
    Withdraw,
    move,
    revise,
)
from recollect.domain.event import Event
from recollect.domain.ids import CauseId, EventId, ItemId, RecordId, TenantId, VersionId
from recollect.domain.item import (
    Active,
    Archived,
    Artifact,
    ArtifactType,
    Body,
    Episode,
    Expired,
    Fact,
    Insight,
    Item,
    Journal,
    Lock,
    LockReason,
    Pattern,
    SoftDeleted,
    Visibility,
    Workflow,
)
from recollect.domain.level import Derivation, Level
from recollect.domain.record import (
    RULES,
    Asked,
    Epoch,
    Lapsed,
    Open,
    Pending,
    ProfileField,
    Record,
    Refined,
    Refining,
    Resolved,
    Retention,
    Rules,
    Verdict,
)
from recollect.domain.scope import Principal, Role
from recollect.domain.version import Version
from recollect.domain.witness import Bullet, EventWitness, RangeWitness, Witness
from recollect.errors import Stale
from recollect.keeping import EDITABLE
from recollect.memory import Memory
from recollect.ports import Store
from recollect.store.sidecar import FileErasures, FileSeal
from recollect.write.message import Message
from tests.flows.snapshot import Snapshot, snapshot
from tests.worlds import DAWN, World

T = TypeVar("T")
_numbers = count(1)

USERS = ("ana", "ben")
THREADS = ("kitchen", "kitchen", "kitchen", "office")
SESSIONS = (None, None, CauseId("session 1"), CauseId("session 2"))
OWNERS: Sequence[dict[str, Any]] = (
    {"visibility": Visibility.USER_PRIVATE, "user_id": "ana"},
    {"visibility": Visibility.USER_PRIVATE, "user_id": "ben"},
    {"visibility": Visibility.PROJECT_SHARED, "project_id": "p1", "user_id": None},
    {"visibility": Visibility.AGENT_SILO, "agent_id": "robin", "user_id": None},
    {"visibility": Visibility.SYSTEM, "user_id": None},
)
BODIES: Sequence[Body] = (
    Fact(key="drink", value="tea"),
    Episode(title="a walk", artifacts=(Artifact(ArtifactType.COMMIT, "abc"), Artifact(ArtifactType.ADR, "7"))),
    Pattern(trigger="try", template={"try": ["x", 1]}, hint="catch it"),
    Workflow(trigger="release", steps=("tag", "push"), hint="slowly", details={"on": "Monday"}),
    Insight(),
    Journal(),
)
FIELDS: dict[str, Sequence[Any]] = {
    "category": ("knowledge", "habit"),
    "importance": (1, 3, 5),
    "tags": ((), ("a",), ("b", "a")),
    "core": (True, False),
    "valid_from": (None, DAWN),
    "pinned_min_level": (None, Level.R3),
    "lock": (None, Lock(DAWN + timedelta(days=9), LockReason.DISPUTE)),
}
CROWD = 8
"""So many memories are enough: rules then meet each other more often."""


class Happenings(RuleBasedStateMachine):
    """One tenant of the store that a subclass names, and everything that can be done to it and taken back."""

    store: ClassVar[Store]
    folder: ClassVar[Path]

    def __init__(self) -> None:
        super().__init__()
        self.world = World(self.store, TenantId(f"m{next(_numbers)}-{uuid4().hex[:8]}"))
        self.tenant = self.world.tenant
        self.store.create_tenant(self.tenant, at=DAWN)
        self.erasures = FileErasures(self.folder / f"{self.tenant}.erasures")
        deps = Deps(self.store, self.world.clock, self.erasures, FileSeal(self.folder / "key"))
        self.memory = Memory(deps, Principal(tenant=self.tenant, id="mira", role=Role.ADMIN))
        self.now = snapshot(self.store, self.tenant)
        self.taken: list[Snapshot] = [self.now]
        self.known: list[ItemId] = []

    # -- vocabulary ---------------------------------------------------------------------------------------

    def apply(self, data: st.DataObject, *changes: Change) -> None:
        self.world.apply(*changes, cause=self.pick(data, SESSIONS))

    def items(self, which: Callable[[Item], bool] = lambda _: True) -> list[Item]:
        return [item for item in self.now.items.values() if which(item)]

    def pick(self, data: st.DataObject, things: Sequence[T]) -> T:
        return things[data.draw(st.integers(0, len(things) - 1))]  # a number prints shorter than a memory

    def picks(self, data: st.DataObject, things: Sequence[T], least: int, most: int) -> list[T]:
        """Different ones."""
        numbers = st.lists(st.integers(0, len(things) - 1), min_size=least, max_size=most, unique=True)
        return [things[number] for number in data.draw(numbers)]

    def some_events(self, data: st.DataObject, most: int = 3) -> list[dict[str, Any]]:
        return self.picks(data, list(self.now.events.values()), 1, most)

    def witnesses(self, data: st.DataObject) -> tuple[Witness, ...]:
        events = self.some_events(data)
        if data.draw(st.booleans()):
            return tuple(EventWitness(EventId(event["id"]), "said so") for event in events)
        first, last = sorted((events[0]["seq"], data.draw(st.integers(1, 9))))
        return (RangeWitness(ItemId(events[0]["item_id"]), first, max(last, events[0]["seq"])),)

    def new_item(self, data: st.DataObject, body: Body | None = None, **fields: Any) -> Item:
        body = body or self.pick(data, BODIES)
        owner = self.pick(data, OWNERS)
        category = "episode" if isinstance(body, Episode) else "knowledge"
        item = self.world.item(body, **{"category": category, **owner, **fields})
        self.known.append(item.id)
        return item

    # -- memories come to be ------------------------------------------------------------------------------

    @initialize(size=st.integers(0, 3), also=st.booleans())
    def begin(self, size: int, also: bool) -> None:
        """Something to work with."""
        for number in range(size):
            self.remember(USERS[number % 2], THREADS[0])
        if also:
            self.say(USERS[0], THREADS[0], 2)
        self.now = snapshot(self.store, self.tenant)

    @precondition(lambda self: len(self.now.items) < CROWD)
    @rule(data=st.data())
    def create(self, data: st.DataObject) -> None:
        made = [self.new_item(data) for _ in range(data.draw(st.integers(1, 2)))]
        self.apply(data, *map(Create, made))

    @rule(user=st.sampled_from(USERS), thread=st.sampled_from(THREADS), size=st.integers(1, 3))
    def say(self, user: str, thread: str, size: int) -> None:
        messages = [Message(text=f"turn {n}", author=user) for n in range(size)]
        done = self.memory.append(messages, user_id=user, thread_id=thread)
        self.known.append(done.episode_id)

    @precondition(lambda self: len(self.now.items) < CROWD)
    @rule(user=st.sampled_from(USERS), thread=st.sampled_from(THREADS))
    def remember(self, user: str, thread: str) -> None:
        done = self.memory.remember(f"{user} drinks tea", user_id=user, thread_id=thread)
        self.known.append(done.item_id)

    @precondition(lambda self: self.now.events and self.now.items)
    @rule(data=st.data(), promoted=st.booleans())
    def derive_from_evidence(self, data: st.DataObject, promoted: bool) -> None:
        item = self.pick(data, self.items())
        version = self.world.version(
            item,
            *self.witnesses(data),
            level=self.pick(data, (Level.R3, Level.R4)),
            content=f"words about {item.kind}",
        )
        self.apply(data, Derive(version), *([self._promotion(item, version.id)] if promoted else []))

    @precondition(lambda self: self.now.events and self.now.items)
    @rule(data=st.data())
    def quote(self, data: st.DataObject) -> None:
        """Somebody's own words: the version needs every event that it quotes."""
        item = self.pick(data, self.items())
        ids = [EventId(event["id"]) for event in self.some_events(data)]
        events = self.store.events_by_id(self.tenant, ids)
        split = data.draw(st.integers(1, len(events)))
        self.apply(data, Derive(self.world.quoting(item, *events[:split], besides=events[split:])))

    @precondition(lambda self: self.now.versions)
    @rule(data=st.data(), elsewhere=st.booleans(), cited=st.booleans())
    def derive_from_a_version(self, data: st.DataObject, elsewhere: bool, cited: bool) -> None:
        """Shorter, of the same memory or another one; with bullets of its own or without."""
        base = self.pick(data, list(self.now.versions.values()))
        owner = self.pick(data, self.items()).id if elsewhere else base.item_id
        bullets = (Bullet("tea", self.witnesses(data)),) if cited and self.now.events else ()
        level = self.pick(data, (Level.R1, Level.R2, Level.R3) if bullets else (Level.R1, Level.R2))
        version = Version(
            id=VersionId(self.world.clock.mint()),
            item_id=owner,
            level=level,
            content="tea",
            bullets=bullets,
            derived_from=base.id,
            derivation=self.pick(data, list(Derivation)),
            created_at=self.world.clock.now(),
        )
        self.apply(data, Derive(version))

    @precondition(lambda self: self.now.versions)
    @rule(data=st.data(), back=st.booleans())
    def promote(self, data: st.DataObject, back: bool) -> None:
        version = self.pick(data, list(self.now.versions.values()))
        item = self.now.items[version.item_id]
        to = None if back else version.id
        if item.active_version_id != to:
            self.apply(data, self._promotion(item, to))

    def _promotion(self, item: Item, to: VersionId | None) -> Change:
        return revise(item, replace(item, active_version_id=to), self.world.clock.now(), Verb.PROMOTE)

    # -- memories change ----------------------------------------------------------------------------------

    @precondition(lambda self: self.now.items)
    @rule(
        data=st.data(),
        names=st.lists(st.sampled_from(sorted(FIELDS)), min_size=1, max_size=3, unique=True),
        other=st.sampled_from(sorted(FIELDS)),
    )
    def revise(self, data: st.DataObject, names: list[str], other: str) -> None:
        """Some fields, and often another one after them."""
        item = self.pick(data, self.items())
        self._revise(data, item, names)
        if other not in names:
            self._revise(data, self.world.held(item).item, [other])

    def _revise(self, data: st.DataObject, item: Item, names: list[str]) -> None:
        values = {name: self.pick(data, [v for v in FIELDS[name] if v != getattr(item, name)]) for name in names}
        if EDITABLE.issuperset(names) and not item.constitutional and data.draw(st.booleans()):
            self.memory.acting(self._as(item)).revise(item.id, **values)
        else:
            verb = self.pick(data, (Verb.UPDATE, Verb.PIN, Verb.UNPIN, Verb.LOCK))
            self.apply(data, revise(item, replace(item, **values), self.world.clock.now(), verb))

    @precondition(lambda self: self.now.items)
    @rule(data=st.data(), reworded=st.booleans())
    def move(self, data: st.DataObject, reworded: bool) -> None:
        """Archived, expired, deleted, restored; or with another body."""
        item = self.pick(data, self.items())
        at = self.world.clock.now()
        if reworded and item.kind in ("fact", "episode"):
            value = self.pick(data, ("coffee", "water"))
            artifacts = (Artifact(ArtifactType.FILE, value),)
            body = Fact(value=value) if item.kind == "fact" else Episode(title=value, artifacts=artifacts)
            if item.body != body:
                self.apply(data, revise(item, replace(item, body=body), at))
            return
        states = (Active(), Archived(at, "old"), Expired(at), SoftDeleted(at, at + timedelta(days=30), "asked"))
        state = self.pick(data, [state for state in states if type(state) is not type(item.state)])
        self.apply(data, move(item, state, at))

    @precondition(lambda self: len(self.items(lambda item: item.kind != "episode")) > 1)
    @rule(data=st.data(), size=st.integers(2, 3))
    def merge(self, data: st.DataObject, size: int) -> None:
        """One memory instead of several, in one write."""
        free = self.items(lambda item: item.kind != "episode" and not item.superseded_by)
        if len(free) < 2:
            return
        merged = self.picks(data, free, 2, size)
        first = merged[0]
        whole = self.new_item(data, first.body, user_id="ana", visibility=Visibility.USER_PRIVATE, supersedes=first.id)
        changes: list[Change] = [Create(whole)]
        if bases := [version for version in self.now.versions.values() if version.item_id == first.id]:
            version = self.world.shorter(bases[0], item_id=whole.id, derivation=Derivation.MERGE)
            changes += [Derive(version), self._promotion(whole, version.id)]
        at = self.world.clock.now()
        for item in merged:
            after = replace(item, superseded_by=whole.id, state=Archived(at, "merged"))
            changes.append(revise(item, after, at, Verb.SUPERSEDE))
        self.apply(data, *changes)

    # -- edges and records --------------------------------------------------------------------------------

    @precondition(lambda self: len(self.now.items) > 1)
    @rule(data=st.data(), how=st.sampled_from(("link", "relink", "renew", "unlink")))
    def join(self, data: st.DataObject, how: str) -> None:
        relations = list(self.now.relations.values())
        if how == "link" or not relations:
            a, b = self.picks(data, self.items(), 2, 2)
            if not any((r.from_id, r.to_id) == (a.id, b.id) for r in relations):
                self.apply(data, Link(self.world.relation(a, b)))
            return
        before = self.pick(data, relations)
        after = replace(before, strength=1 - before.strength / 2, relation_type="caused_by")
        if how == "renew":
            after = replace(after, id=RecordId(self.world.clock.mint()))
        self.apply(data, Unlink(before) if how == "unlink" else Relink(before, after))

    @precondition(lambda self: len(self.now.items) > 1)
    @rule(data=st.data(), how=st.sampled_from(("open", "resolve", "take back")))
    def contradict(self, data: st.DataObject, how: str) -> None:
        if how == "open" or not self.now.contradictions:
            a, b = self.picks(data, self.items(), 2, 2)
            self.apply(data, Note(None, self.world.contradiction(a, b)))
            return
        id = RecordId(self.pick(data, list(self.now.contradictions)))
        before = self.store.record(self.tenant, "contradiction", id)
        after = None
        if how == "resolve" and isinstance(before, Open):
            same = {name: getattr(before, name) for name in Open.__dataclass_fields__}
            at, verdict = self.world.clock.now(), self.pick(data, list(Verdict))
            after = Resolved(**same, resolved_at=at, resolution=verdict, resolution_note="by hand")
        self.apply(data, Note(before, after))

    @rule(data=st.data())
    def note(self, data: st.DataObject) -> None:
        """What care and governance keep: a proposal, a grant, a session, an epoch, the rules; and a checkpoint."""
        self.pick(data, (self._open, self._open, self._move_on, self._advance, self._set_rules, self._save))(data)

    def _open(self, data: st.DataObject) -> None:
        at, id = self.world.clock.now(), RecordId(self.world.clock.mint())
        about = self.pick(data, [None, *self.now.items])
        proposal = Pending(
            id=id,
            user_id="ana",
            field=ProfileField.CITY,
            value="Lyon",
            signals=2,
            item_id=about,
            proposed_at=at,
            lapses_at=at,
        )
        asked = Asked(id=id, agent_id="robin", asked_by="mira", purpose="repair", asked_at=at)
        refining = Refining(id=id, agent_id="robin", started_at=at, started_by="mira", tokens=9, target=5)
        record = self.pick(data, (proposal, asked, refining))
        self.apply(data, Note(None, record))

    def _move_on(self, data: st.DataObject) -> None:
        """Lapsed, refined, or taken back."""
        if not (there := self.records(Pending, Asked, Refining, Lapsed)):
            return
        before = self.pick(data, there)
        at = self.world.clock.now()
        match before:
            case Pending():
                same = {"id": before.id, "user_id": before.user_id, "field": before.field, "item_id": before.item_id}
                after: Record | None = Lapsed(**same, proposed_at=before.proposed_at, lapsed_at=at)
            case Refining():
                same = {name: getattr(before, name) for name in Refining.__dataclass_fields__}
                counts = {"tokens_after": 5, "consolidated": 1, "updated": 2, "deleted": 0, "protected": 0}
                after = Refined(**same, **counts, completed_at=at, summary="shorter")
            case _:
                after = None
        self.apply(data, Note(before, after))

    def _advance(self, data: st.DataObject) -> None:
        id = RecordId("epoch:p1")
        before = self.now.records.get(("epoch", id))
        number = before.number + 1 if isinstance(before, Epoch) else 1
        self.apply(data, Note(before, Epoch(id=id, project_id="p1", number=number, advanced_at=self.world.clock.now())))

    def _set_rules(self, data: st.DataObject) -> None:
        rules = Rules(retention=self.pick(data, list(Retention)))
        if self.now.records.get(("rules", RULES)) != rules:
            self.memory.set_rules(rules)

    def _save(self, data: st.DataObject) -> None:
        checkpoint = self.world.checkpoint({"step": 1}, user=self.pick(data, USERS))
        self.store.save_checkpoint(self.world.scope, checkpoint, actor=self.world.actor)

    def records(self, *stages: type[Record]) -> list[Record]:
        return [record for record in self.now.records.values() if isinstance(record, stages)]

    # -- things are hidden ----------------------------------------------------------------------------------

    @precondition(lambda self: self.now.items)
    @rule(data=st.data())
    def hide(self, data: st.DataObject) -> None:
        """Something is withdrawn outside of a rollback. It is refused where something else stands on it."""
        free = {item.id for item in self.items(lambda item: not item.constitutional)}
        hidden: list[Change] = [Withdraw(self.now.items[id]) for id in sorted(free)]
        hidden += [Discard(version) for version in self.now.versions.values() if version.item_id in free]
        hidden += [Retract(event) for event in self._placed() if event.item_id in free]
        if not hidden:
            return
        before, head = self.now, self.store.head(self.tenant)
        try:
            self.apply(data, self.pick(data, hidden))
        except Stale:
            assert snapshot(self.store, self.tenant) == before
            assert self.store.head(self.tenant) == head

    def _placed(self) -> list[Event]:
        return list(self.store.events_by_id(self.tenant, [EventId(id) for id in self.now.events]))

    def _as(self, item: Item) -> Principal:
        """Somebody who may write the memory."""
        if item.visibility is Visibility.AGENT_SILO:
            return Principal(tenant=self.tenant, id="robin", role=Role.AGENT, agent_id="robin")
        return self.memory.principal
