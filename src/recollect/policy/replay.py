"""The journal told again from its first entry: what every table must hold if nothing but the journal ever changed it.

Of what can be long, a digest is held and not the words: a journal is told again in far less room than it takes.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from recollect.domain import codec
from recollect.domain.change import (
    Append,
    Change,
    Consent,
    Create,
    Derive,
    Discard,
    Disclose,
    Erase,
    Link,
    Note,
    Protect,
    Relink,
    Retract,
    Revise,
    Unlink,
    Verb,
    Withdraw,
    plain,
)
from recollect.domain.event import Event
from recollect.domain.examination import Recorded
from recollect.domain.ids import EventId, ItemId, RecordId, Seq, VersionId
from recollect.domain.item import Episode, Item
from recollect.domain.journal import BODILESS, Header, Illegible, blanked_hash, mark_hash, names_hash
from recollect.domain.record import Open, Record, Resolved, concerns, family
from recollect.domain.refs import refs
from recollect.domain.relation import Relation
from recollect.domain.version import Version
from recollect.domain.witness import ChunkWitness, EventWitness, RangeWitness

_STAMPS = frozenset({"create", "withdraw", "derive", "discard", "protect", "unprotect"} | {verb.value for verb in Verb})
"""Operations after which a memory is another reading than before."""

Held = tuple[bytes, tuple[object, ...]]


def sealed(value: object) -> bytes:
    """A value in a few bytes: equal values have equal ones."""
    return hashlib.blake2b(codec.canonical(value).encode(), digest_size=16).digest()


@dataclass(slots=True)
class _Said:
    """An event in few bytes."""

    seal: bytes
    item_id: ItemId
    seq: int
    author: str
    withdrawn: bool = False


@dataclass(slots=True)
class _Worded:
    """A version in few bytes, and the events that it cites."""

    seal: bytes
    cites: bytes
    withdrawn: bool = False


@dataclass(slots=True)
class _Blank:
    """An entry whose body was erased."""

    header: Header
    named: str


@dataclass(slots=True)
class Account:
    """What the entries so far amount to. `strict`: the chain is of those that leave nothing out."""

    strict: bool
    items: dict[ItemId, Item] = field(default_factory=dict[ItemId, Item])
    withdrawn: set[ItemId] = field(default_factory=set[ItemId])
    protected: set[ItemId] = field(default_factory=set[ItemId])
    revs: dict[ItemId, int] = field(default_factory=dict[ItemId, int])
    places: dict[ItemId, int] = field(default_factory=dict[ItemId, int])
    events: dict[EventId, _Said] = field(default_factory=dict[EventId, _Said])
    threads: dict[ItemId, dict[int, EventId]] = field(default_factory=dict[ItemId, dict[int, EventId]])
    versions: dict[VersionId, _Worded] = field(default_factory=dict[VersionId, _Worded])
    relations: dict[RecordId, Relation] = field(default_factory=dict[RecordId, Relation])
    records: dict[tuple[str, RecordId], Record] = field(default_factory=dict[tuple[str, RecordId], Record])
    took_part: dict[ItemId, set[str]] = field(default_factory=dict[ItemId, set[str]])
    loose: set[ItemId] = field(default_factory=set[ItemId])
    """Threads of which events were erased whose authors nobody can name any more."""
    marks: set[str] = field(default_factory=set[str])
    tombstones: dict[str, str] = field(default_factory=dict[str, str])
    thread_revs: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    checkpoints: dict[tuple[str, str], list[str]] = field(default_factory=dict[tuple[str, str], list[str]])
    erased_checkpoints: int = 0
    erased: set[str] = field(default_factory=set[str])
    blanks: dict[Seq, _Blank] = field(default_factory=dict[Seq, _Blank])

    def tell(self, recorded: Recorded) -> Iterator[str]:
        """Take the next entry in: what is wrong with what it says, or with what is said of it."""
        entry = recorded.entry
        if isinstance(entry, Illegible):
            return
        header, change = entry.header, entry.told
        self._tell_header(header)
        if change is not None:
            yield from self._tell(header, change)
            known = refs(change).named
        elif header.op in BODILESS:
            known = frozenset[tuple[str, bool]]()
        elif entry.body is not None:
            yield "what the entry tells cannot be read"
            return
        else:
            self.blanks[header.seq] = _Blank(header, names_hash(recorded.named or ()))
            if recorded.named is not None and header.item_id not in {None, *(ref for ref, _ in recorded.named)}:
                yield "journal_refs does not say what the entry names"
            return
        if recorded.named is not None and recorded.named != known:
            yield "journal_refs does not say what the entry names"

    def _tell_header(self, header: Header) -> None:
        """What follows from a header, whether or not its body is still there."""
        if header.thread_id is not None and header.thread_rev is not None:
            owner = codec.canonical([header.user_id, header.agent_id, header.project_id])
            self.thread_revs[owner, header.thread_id] = header.thread_rev
        if header.op == "checkpoint" and header.user_id is not None and header.thread_id is not None:
            self.checkpoints[header.user_id, header.thread_id] = [header.body_hash, codec.when(header.at)]
        elif header.op == "private":
            self.marks.add(header.body_hash)
        if header.item_id is None:
            return
        if header.op in _STAMPS:
            self.revs[header.item_id] = header.rev
        elif header.op == "append" and header.undoes is None:
            self.places[header.item_id] = self.places.get(header.item_id, 0) + 1
            self.took_part.setdefault(header.item_id, set()).add(header.actor)

    def _tell(self, header: Header, change: Change) -> Iterator[str]:
        change = plain(change)
        match change:
            case Create(item):
                self.withdrawn.discard(item.id)
                self._keep(item)
            case Withdraw(item):
                self.withdrawn.add(item.id)
            case Revise(item_id, _, edits):
                if before := self.items.get(item_id):
                    values = {edit.field: edit.after for edit in edits}
                    self._keep(replace(before, **values))  # type: ignore[arg-type]
            case Protect(item_id, _, after):
                (self.protected.add if after else self.protected.discard)(item_id)
            case Append(event):
                self._append(event)
            case Retract(event):
                if said := self.events.get(event.id):
                    said.withdrawn = True
            case Derive(version):
                self._derive(version)
            case Discard(version):
                if worded := self.versions.get(version.id):
                    worded.withdrawn = True
            case Link(relation):
                self.relations[relation.id] = relation
            case Unlink(relation):
                self.relations.pop(relation.id, None)
            case Relink(before, after):
                self.relations.pop(before.id, None)
                self.relations[after.id] = after
            case Note(before, after) | Consent(before, after):
                self._note(before, after)
            case Erase():
                yield from self._forget(header, change)
            case Disclose():
                pass  # a reading changes nothing
            case _:
                assert_never(change)

    def _keep(self, item: Item) -> None:
        self.items[item.id] = item
        if isinstance(item.body, Episode):
            self.took_part.setdefault(item.id, set()).update(name for name in (item.user_id, item.actor_id) if name)

    def _append(self, event: Event) -> None:
        if said := self.events.get(event.id):
            said.withdrawn = False
            return
        self.events[event.id] = _Said(sealed(codec.encode(event)), event.item_id, event.seq, event.author)
        self.threads.setdefault(event.item_id, {})[event.seq] = event.id

    def _derive(self, version: Version) -> None:
        if worded := self.versions.get(version.id):
            worded.withdrawn = False
            return
        quoted = version.quoted
        cites = sorted([event_id, event_id in quoted] for event_id in self._cited(version))
        self.versions[version.id] = _Worded(sealed(codec.encode(version)), sealed(cites) if cites else b"")

    def _cited(self, version: Version) -> set[EventId]:
        """The events that its witnesses stood for when it was made."""
        found: set[EventId] = set()
        for witness in (witness for bullet in version.bullets for witness in bullet.witnesses):
            match witness:
                case EventWitness(event_id) | ChunkWitness(event_id):
                    found.add(event_id)
                case RangeWitness(episode_id, first, last):
                    thread = self.threads.get(episode_id, {})
                    near = range(first, min(last, self.places.get(episode_id, 0)) + 1)
                    placed = (thread[seq] for seq in near if seq in thread)
                    found |= {event_id for event_id in placed if not self.events[event_id].withdrawn}
        return found

    def _note(self, before: Record | None, after: Record | None) -> None:
        if before is not None:
            self.records.pop((family(before), before.id), None)
        if after is not None:
            self.records[family(after), after.id] = after

    def _forget(self, header: Header, change: Erase) -> Iterator[str]:
        """Edges of what is erased, and pointers to it, are left out when the rows are told: it never comes back."""
        self.erased.update(change.items, change.versions)
        for item_id in change.items:
            self.items.pop(item_id, None)
            self.threads.pop(item_id, None)
            self.took_part.pop(item_id, None)
        for version_id in change.versions:
            self.versions.pop(version_id, None)
        for event_id in change.events:
            self.marks.discard(mark_hash(event_id))
            if said := self.events.pop(event_id, None):
                self.threads.get(said.item_id, {}).pop(said.seq, None)
        for record_id in change.proposals:
            self.records.pop(("proposal", record_id), None)
        self.erased_checkpoints += len(change.checkpoints)
        gone = [("i", change.items), ("v", change.versions), ("e", change.events)]
        gone += [("checkpoint", change.checkpoints), ("proposal", change.proposals)]
        for mark, ids in gone:
            for id in ids:
                self.tombstones.setdefault(f"{mark}:{id}", codec.when(header.at))
        blanked = {seq: self.blanks.pop(seq) for seq in change.bodies if seq in self.blanks}
        if change.named is None:
            self.loose |= {b.header.item_id for b in blanked.values() if b.header.op == "append" and b.header.item_id}
            return
        named = {seq: blank.named for seq, blank in blanked.items()}
        if len(named) == len(change.bodies) and blanked_hash(named) != change.named:
            yield "journal_refs does not say what the entries name whose bodies went with it"

    # -- rows ---------------------------------------------------------------------------------------------

    def rows(self) -> Mapping[str, Iterable[tuple[tuple[str, ...], Held]]]:
        """What the tables must hold: by table and key a seal, and what changes beside what it is of."""
        return {
            "items": (((item.id,), self._item(item)) for item in self.items.values()),
            "events": (((id,), (said.seal, (said.withdrawn,))) for id, said in self.events.items()),
            "versions": (((id,), (worded.seal, (worded.withdrawn,))) for id, worded in self.versions.items()),
            "witnesses": (((id,), (worded.cites, ())) for id, worded in self.versions.items() if worded.cites),
            "episode_artifacts": self._artifacts(),
            "relations": (
                ((edge.id,), (sealed(codec.encode(edge)), ()))
                for edge in self.relations.values()
                if self.erased.isdisjoint((edge.from_id, edge.to_id))
            ),
            "contradictions": self._kept_records(contradictions=True),
            "records": self._kept_records(contradictions=False),
            "tombstones": (((ref,), (sealed(at), ())) for ref, at in self.tombstones.items()),
            "thread_revision": ((key, (sealed(rev), ())) for key, rev in self.thread_revs.items()),
            "supervisor_checkpoints": ((key, (sealed(told), ())) for key, told in self.checkpoints.items()),
        }

    def _item(self, item: Item) -> Held:
        pointer = None if item.active_version_id in self.erased else item.active_version_id
        stands = replace(item, constitutional=item.id in self.protected, active_version_id=pointer)
        rev = self.revs.get(item.id, 0) if self.strict else None
        return sealed(codec.encode(stands)), (item.id in self.withdrawn, self.places.get(item.id, 0), rev)

    def _artifacts(self) -> Iterator[tuple[tuple[str, ...], Held]]:
        for item in self.items.values():
            if isinstance(item.body, Episode) and item.body.artifacts:
                listed = sorted({(artifact.type.value, artifact.ref) for artifact in item.body.artifacts})
                yield (item.id,), (sealed(listed), ())

    def _kept_records(self, *, contradictions: bool) -> Iterator[tuple[tuple[str, ...], Held]]:
        for (kind, id), record in self.records.items():
            if isinstance(record, Open | Resolved) is contradictions and self.erased.isdisjoint(concerns(record)):
                yield (id,) if contradictions else (kind, id), (sealed(codec.encode(record)), ())

    def participants(self) -> dict[ItemId, set[str]]:
        """Who took part in which thread."""
        told = {id: set(names) for id, names in self.took_part.items() if id in self.items}
        for said in self.events.values():
            told.setdefault(said.item_id, set()).add(said.author)
        return {id: names for id, names in told.items() if names}
