"""Whole lives of a memory: changes that a store would accept one after the other, as the journal keeps them."""

from dataclasses import dataclass, field, replace
from datetime import timedelta

from hypothesis import strategies as st

from recollect.domain.change import (
    Append,
    Change,
    Create,
    Derive,
    Erase,
    Link,
    Note,
    Protect,
    Relink,
    Revise,
    Unlink,
    revise,
)
from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId, RecordId, Seq, VersionId
from recollect.domain.item import Archived, Episode, Fact, Item, Visibility
from recollect.domain.level import Derivation, Level
from recollect.domain.quotation import Excerpt, Quotation
from recollect.domain.record import Contradiction, Open, Resolved, Verdict
from recollect.domain.refs import item_of, refs
from recollect.domain.relation import Relation
from recollect.domain.version import Version
from recollect.domain.witness import Bullet, EventWitness, RangeWitness
from recollect.policy.rollback import Cited, Past, Standing
from tests.strategies import NOON


def memory(name: str, *, episode: bool = False) -> Item:
    return Item(
        id=ItemId(name),
        body=Episode(name) if episode else Fact(value=name),
        category="knowledge",
        visibility=Visibility.USER_PRIVATE,
        user_id="ann",
        origin_at=NOON,
        created_at=NOON,
        updated_at=NOON,
    )


def event(name: str, episode: str = "thread", seq: int = 1) -> Event:
    return Event(id=EventId(name), item_id=ItemId(episode), seq=seq, ts=NOON, author="ann", text=f"I said {name}")


def version(name: str, of: str, *events: str, derived_from: str | None = None) -> Version:
    return Version(
        id=VersionId(name),
        item_id=ItemId(of),
        level=Level.R3,
        content=name,
        bullets=(Bullet(name, tuple(EventWitness(EventId(id)) for id in events)),),
        derived_from=VersionId(derived_from) if derived_from else None,
        derivation=Derivation.MERGE if derived_from else None,
        created_at=NOON,
    )


def quoting(name: str, of: str, *events: str, besides: str | None = None) -> Version:
    """A version that quotes these events, and says something of its own that another one bears witness to."""
    said = Quotation(
        speaker="ann",
        said_at=NOON,
        words=" … ".join(f"I said {id}" for id in events),
        excerpts=tuple(Excerpt(EventId(id), 0, len(f"I said {id}")) for id in events),
    )
    bullet = Bullet(said.plain, tuple(EventWitness(EventId(id)) for id in events), quotation=said)
    own = () if besides is None else (Bullet("so", (EventWitness(EventId(besides)),)),)
    return replace(version(name, of, *events), bullets=(bullet, *own))


def relation(name: str, a: str, b: str, strength: float = 0.5) -> Relation:
    return Relation(id=RecordId(name), from_id=ItemId(a), to_id=ItemId(b), strength=strength, created_at=NOON)


def pasts(changes: list[Change], start: int = 1) -> list[Past]:
    """The entries of these changes as the time machine reads them. Bodies that an Erase names are gone."""
    gone = {seq for change in changes if isinstance(change, Erase) for seq in change.bodies}
    return [past(seq, change, erased=seq in gone) for seq, change in enumerate(changes, start)]


def past(seq: int, change: Change, *, erased: bool = False) -> Past:
    return Past(
        seq=Seq(seq),
        op=type(change).__name__.lower(),
        item_id=item_of(change),
        undoes=getattr(change, "entry", None),
        change=None if erased else change,
    )


@dataclass
class Life:
    """A journal while it is written, and what it amounts to."""

    changes: list[Change] = field(default_factory=list)
    items: dict[str, Item] = field(default_factory=dict)
    versions: dict[str, Version] = field(default_factory=dict)
    events: dict[str, Event] = field(default_factory=dict)
    relations: dict[tuple[str, str], Relation] = field(default_factory=dict)
    contradictions: dict[str, Contradiction] = field(default_factory=dict)
    protected: set[str] = field(default_factory=set)
    erased: set[str] = field(default_factory=set)

    @property
    def standing(self) -> Standing:
        return Standing(frozenset(map(ItemId, self.protected)), frozenset(self.erased))

    @property
    def cited(self) -> Cited:
        """Every version with its evidence, all of which is live: nothing was rolled back yet."""
        return {
            VersionId(name): dict.fromkeys(self.evidence(made), True)
            for name, made in self.versions.items()
            if self.evidence(made)
        }

    def evidence(self, made: Version) -> list[EventId]:
        found: list[EventId] = []
        for witness in (witness for bullet in made.bullets for witness in bullet.witnesses):
            if isinstance(witness, EventWitness):
                found.append(witness.event_id)
            elif isinstance(witness, RangeWitness):
                found += [
                    e.id
                    for e in self.events.values()
                    if e.item_id == witness.episode_id and witness.first <= e.seq <= witness.last
                ]
        return found

    def pasts(self) -> list[Past]:
        return pasts(self.changes)

    def say(self, change: Change) -> None:
        self.changes.append(change)
        match change:
            case Create(item):
                self.items[item.id] = item
            case Revise(item_id, _, edits):
                self.items[item_id] = replace(self.items[item_id], **{edit.field: edit.after for edit in edits})
            case Append(said):
                self.events[said.id] = said
            case Derive(made):
                self.versions[made.id] = made
            case Link(edge) | Relink(_, edge):
                self.relations[edge.from_id, edge.to_id] = edge
            case Unlink(edge):
                del self.relations[edge.from_id, edge.to_id]
            case Note(_, Open() | Resolved() as record):
                self.contradictions[record.id] = record
            case Protect(item_id, _, after):
                (self.protected.add if after else self.protected.discard)(item_id)
            case Erase():
                self._forget(change)
            case _:
                raise AssertionError(change)

    def _forget(self, change: Erase) -> None:
        for held, gone in ((self.items, change.items), (self.versions, change.versions), (self.events, change.events)):
            for name in gone:
                del held[name]
        self.relations = {ends: r for ends, r in self.relations.items() if not set(ends) & set(change.items)}
        self.contradictions = {
            name: r for name, r in self.contradictions.items() if not {r.memory_a, r.memory_b} & set(change.items)
        }
        for name, item in self.items.items():
            if item.active_version_id in change.versions:
                self.items[name] = replace(item, active_version_id=None)
        self.protected -= set(change.items)
        self.erased |= refs(change).makes

    def erasure(self, item_id: str) -> Erase:
        """What falls with a memory: its words, what cites or was derived from them, and memories left without any."""
        items, versions, events = {item_id}, set[str](), set[str]()
        while True:
            events |= {e.id for e in self.events.values() if e.item_id in items}
            versions |= {
                v.id
                for v in self.versions.values()
                if v.item_id in items or v.derived_from in versions or set(self.evidence(v)) & events
            }
            hollow = {self.versions[v].item_id for v in versions} - items
            hollow = {name for name in hollow if not isinstance(self.items[name].body, Episode)}
            more = hollow | {v.id for v in self.versions.values() if v.derived_from in versions} - versions
            items |= hollow
            if not more:
                break
        gone = {f"i:{i}" for i in items} | {f"v:{v}" for v in versions} | {f"e:{e}" for e in events}
        bodies = [
            Seq(seq)
            for seq, change in enumerate(self.changes, 1)
            if refs(change).own & gone
            or (isinstance(change, Link | Unlink | Relink | Note) and refs(change).needs & gone)
        ]
        return Erase(
            tuple(map(ItemId, sorted(items))),
            tuple(map(VersionId, sorted(versions))),
            tuple(map(EventId, sorted(events))),
            (),
            "asked for",
            bodies=tuple(bodies),
        )


@st.composite
def lives(draw: st.DrawFn, *, protecting: bool = False, erasing: bool = False, steps: int = 14) -> Life:
    """A life of a few memories, episodes, versions, edges and contradictions, in any order that can be."""
    life = Life()
    life.say(Create(memory("thread", episode=True)))
    life.say(Create(memory("a")))
    for number in range(draw(st.integers(0, steps))):
        moves = _moves(life, protecting, erasing)
        _step(draw, life, draw(st.sampled_from(moves)), number)
    return life


def _moves(life: Life, protecting: bool, erasing: bool) -> list[str]:
    moves = ["create", "create episode"]
    if any(isinstance(item.body, Episode) for item in life.items.values()):
        moves += ["append"] * 3
    if life.events and life.items:
        moves += ["derive"] * 3
    if life.items:
        moves += ["revise"] * 3
        moves += ["protect"] if protecting else []
        moves += ["erase"] if erasing else []
    if life.versions:
        moves += ["point"]
    if len(life.items) > 1:
        moves += ["link", "contradict"]
    if life.relations:
        moves += ["unlink", "relink"]
    if life.contradictions:
        moves += ["resolve"]
    return moves


def _step(draw: st.DrawFn, life: Life, move: str, number: int) -> None:
    at = NOON + timedelta(minutes=number + 1)

    def one(among: object) -> str:
        return draw(st.sampled_from(sorted(among)))  # type: ignore[call-overload]

    match move:
        case "create" | "create episode":
            life.say(Create(memory(f"m{number}", episode=move == "create episode")))
        case "append":
            episode = one(name for name, item in life.items.items() if isinstance(item.body, Episode))
            seq = 1 + sum(isinstance(c, Append) and c.event.item_id == episode for c in life.changes)
            life.say(Append(event(f"e{number}", episode, seq)))
        case "derive":
            cited = draw(st.lists(st.sampled_from(sorted(life.events)), min_size=1, max_size=2, unique=True))
            base = draw(st.none() | st.sampled_from(sorted(life.versions))) if life.versions else None
            made = version(f"v{number}", one(life.items), *cited, derived_from=base)
            if draw(st.booleans()):
                first = life.events[cited[0]]
                made = replace(made, bullets=(Bullet("all", (RangeWitness(first.item_id, first.seq, first.seq),)),))
            elif draw(st.booleans()):
                made = replace(made, bullets=quoting(made.id, made.item_id, *cited).bullets)
            life.say(Derive(made))
        case "revise":
            item = life.items[one(life.items)]
            after = draw(
                st.sampled_from(
                    [
                        replace(item, importance=item.importance % 5 + 1),
                        replace(item, category=f"c{number}"),
                        replace(item, state=Archived(at)),
                        replace(item, importance=item.importance % 5 + 1, tags=(f"t{number}",)),
                    ]
                )
            )
            life.say(revise(item, after, at))
        case "point":
            made = life.versions[one(life.versions)]
            item = life.items[made.item_id]
            if item.active_version_id != made.id:
                life.say(revise(item, replace(item, active_version_id=made.id), at))
        case "protect":
            name = one(life.items)
            life.say(Protect(ItemId(name), name in life.protected, name not in life.protected))
        case "erase":
            life.say(life.erasure(one(life.items)))
        case "link":
            a, b = draw(st.permutations(sorted(life.items)))[:2]
            if (a, b) not in life.relations:
                life.say(Link(relation(f"r{number}", a, b)))
        case "contradict":
            a, b = draw(st.permutations(sorted(life.items)))[:2]
            found = Open(id=RecordId(f"k{number}"), memory_a=ItemId(a), memory_b=ItemId(b), detected_at=at)
            life.say(Note(None, found))
        case "unlink":
            life.say(Unlink(life.relations[draw(st.sampled_from(sorted(life.relations)))]))
        case "relink":
            edge = life.relations[draw(st.sampled_from(sorted(life.relations)))]
            life.say(Relink(edge, replace(edge, id=RecordId(f"r{number}"), strength=number / 100)))
        case "resolve":
            record = life.contradictions[one(life.contradictions)]
            settled = Resolved(
                id=record.id,
                memory_a=record.memory_a,
                memory_b=record.memory_b,
                detected_at=record.detected_at,
                resolved_at=at,
                resolution=draw(st.sampled_from(Verdict)),
            )
            if settled != record:
                life.say(Note(record, settled))
        case _:
            raise AssertionError(move)
