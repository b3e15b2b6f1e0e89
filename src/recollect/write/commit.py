"""Candidates become memories: compared with what lies near, then created, merged, renewed or linked. Nothing is written
here: what comes out is one list of changes for the door, with what they rely on."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from recollect.clock import Clock
from recollect.domain.change import Change, Create, Derive, Link, Verb, revise
from recollect.domain.embedding import Profile
from recollect.domain.ids import EventId, ItemId, JobId, RecordId, Rev, VersionId
from recollect.domain.item import Fact, Item
from recollect.domain.job import Job
from recollect.domain.level import Derivation, Level
from recollect.domain.query import Filters
from recollect.domain.relation import Relation
from recollect.domain.scope import NOBODY
from recollect.domain.version import Version
from recollect.domain.witness import EventWitness, RangeWitness, Witness
from recollect.holdings import UNWRITTEN, Held, Vector, Wanted
from recollect.policy import bands, lifecycle
from recollect.policy.bands import Auto, Band, Fallback, Near, New, Recreate, Update
from recollect.policy.categories import sides
from recollect.policy.lifecycle import Decision
from recollect.ports import Embedder, Store
from recollect.write.draft import Draft
from recollect.write.owner import Owner
from recollect.write.private_words import SHARED, found_private
from recollect.write.superseding import Superseding

NEIGHBOURS = 20
LINKS = 3
WITNESSES = 20
WORDS = 8
"""The longest words of a statement, by which its neighbours are found where there is no embedder."""
_WORDS_ONLY = Profile(same=1.0, judge=0.6, link_min=0.4, floor=0.0)


@dataclass(frozen=True, slots=True)
class Made:
    """What became of one draft."""

    item_id: ItemId
    outcome: str
    """created, corroborated or updated."""


@dataclass(slots=True)
class Decided:
    """Changes for the door, what they rely on, and what follows."""

    changes: list[Change] = field(default_factory=list[Change])
    expect: dict[ItemId, Rev] = field(default_factory=dict[ItemId, Rev])
    vectors: list[Vector] = field(default_factory=list[Vector])
    then: list[Job] = field(default_factory=list[Job])
    made: list[Made] = field(default_factory=list[Made])
    superseded: list[Item] = field(default_factory=list[Item])
    """The memories that give way to a decision, as they were."""
    fresh: dict[ItemId, tuple[Item, Version, bytes | None]] = field(
        default_factory=dict[ItemId, "tuple[Item, Version, bytes | None]"]
    )
    """What is made here and was not changed here: later drafts are compared with it."""


@dataclass(frozen=True, slots=True)
class Known:
    """A memory near a draft: as it is compared, as it is held, with its words. `fresh`: made by the same write."""

    near: Near
    held: Held
    version: Version
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class Commit:
    """Decides about drafts of one owner."""

    store: Store
    embedder: Embedder | None
    clock: Clock
    owner: Owner
    compares: Callable[[Draft, Item, Version], bool] = lambda draft, item, version: True
    """Whether a draft is compared with a memory that lies near it."""
    private: frozenset[EventId] = frozenset()
    """The events of the same write that are private: the store does not know them yet."""

    def decide(self, drafts: Sequence[Draft], now: datetime) -> Decided:
        """What is to be done about the drafts, one after the other; each is decided, with those before it in view. What
        was said twice in one breath counts once, and no memory is changed twice."""
        decided = Decided()
        drafts = list(_united(self.marked(drafts)))
        vectors: Sequence[bytes] = (
            self.embedder.embed([draft.text for draft in drafts]) if self.embedder and drafts else ()
        )
        for number, draft in enumerate(drafts):
            self.add(decided, draft, vectors[number] if vectors else None, now)
        return decided

    def add(self, decided: Decided, draft: Draft, vector: bytes | None, now: datetime) -> None:
        """One more draft, with those before it in view."""
        known = self.known(draft, vector, decided)
        giving = self._giving_way(decided, draft, [one.held for one in known.values() if not one.fresh], now)
        beside = [one.near for one in known.values() if one.near.item.id not in giving]
        band = _keeping_what_is_told(bands.decide(_seen(draft), beside, self.profile), draft)
        match band:
            case Auto(one) | Update(one) | Recreate(one):
                found = known[one.item.id]
                if found.fresh:
                    del decided.fresh[one.item.id]
                else:
                    decided.expect[one.item.id] = found.held.rev
                self._settle(decided, draft, band, found, now, vector)
            case Fallback(linked, judged):
                item = self._create(decided, draft, now, vector, supersedes=next(iter(giving), None))
                self._link(decided, item, linked, now)
                self._ask_judge(decided, item, judged, now)
        self._supersede(decided, giving, draft, now)

    def marked(self, drafts: Sequence[Draft]) -> list[Draft]:
        """The drafts; those whose words come out of private events are private, whatever they say, also where only
        another of them shows that the event is."""
        if self.owner.visibility not in SHARED or not drafts:
            return list(drafts)
        refs = sorted({f"e:{event.id}" for draft in drafts for event in draft.witnesses})
        known = self.store.withheld(self.owner.scope.tenant, refs, NOBODY)
        private = self.private | {EventId(ref[2:]) for ref in known}
        private |= frozenset(found_private(drafts, private))
        return [
            replace(draft, private=draft.private or any(event.id in private for event in draft.witnesses))
            for draft in drafts
        ]

    def _settle(
        self,
        decided: Decided,
        draft: Draft,
        band: Auto | Update | Recreate,
        known: Known,
        now: datetime,
        vector: bytes | None,
    ) -> None:
        match band:
            case Auto(one):
                self._corroborate(decided, draft, one, known, now, vector)
            case Update(one):
                self._update(decided, draft, one, known, now, vector)
            case Recreate(one):
                self._recreate(decided, draft, one, now, vector)

    # -- gathering ------------------------------------------------------------------------------------------

    @property
    def profile(self) -> Profile:
        return self.embedder.profile if self.embedder else _WORDS_ONLY

    def known(
        self, draft: Draft, vector: bytes | None, decided: Decided, least: float = -1.0
    ) -> Mapping[ItemId, Known]:
        """The owner's facts that lie near and still hold, those of the same write as well; without an embedder, those
        that share words. `least`: the cosine that is near enough."""
        categories, without = sides(self.owner.categories)
        wanted = Wanted(
            words=() if vector else sorted(bands.content(draft.text), key=lambda word: (-len(word), word))[:WORDS],
            vector=vector,
            embedder=self.embedder.name if self.embedder else None,
            filters=Filters(kinds=frozenset({"fact"}), categories=categories, without=without),
            sight=self.owner.sight,
            limit=NEIGHBOURS,
        )
        tenant = self.owner.scope.tenant
        found = self.store.find_items(tenant, wanted).hits
        hits = {hit.item_id: hit for hit in found if not vector or (hit.cosine or 0.0) >= least}
        private = self._private_ones(hits)
        known: dict[ItemId, Known] = {}
        for item_id, (held, version) in self.store.speaking(tenant, list(hits)).items():
            if held.item.superseded_by or item_id in decided.expect or not self.owner.owns(held.item):
                continue
            if not self.owner.may_change(held.item) or not self.compares(draft, held.item, version):
                continue
            cosine = hits[item_id].cosine if vector else _overlap(draft.text, version.content)
            alike = self._seen_alike(draft, held.item, private)
            known[item_id] = Known(Near(held.item, version.content, cosine or 0.0, alike), held, version)
        for item_id, (item, version, other) in decided.fresh.items():
            cosine = bands.cosine(vector, other) if vector and other else _overlap(draft.text, version.content)
            if cosine >= max(least, self.profile.link_min):
                held = Held(item, UNWRITTEN, withdrawn=False)
                alike = self._seen_alike(draft, item, private)
                known[item_id] = Known(Near(item, version.content, cosine, alike), held, version, fresh=True)
        return known

    def _private_ones(self, ids: Iterable[ItemId]) -> frozenset[ItemId]:
        """Those of these memories that hold private words of a thread that others see."""
        refs = [f"i:{item_id}" for item_id in ids] if self.owner.visibility in SHARED else []
        if not refs:
            return frozenset()
        return frozenset(ItemId(ref[2:]) for ref in self.store.withheld(self.owner.scope.tenant, refs, NOBODY))

    def _seen_alike(self, draft: Draft, item: Item, private: frozenset[ItemId]) -> bool:
        """Whether the same people see a memory of the owner as would see the draft: all who see what is shared, or,
        where both are private, those who took part in the one thread."""
        if self.owner.visibility not in SHARED:
            return True
        is_private = item.private or item.id in private
        return draft.private is is_private and (not is_private or self.owner.of_thread(item))

    def _giving_way(self, decided: Decided, draft: Draft, near: Sequence[Held], now: datetime) -> Mapping[ItemId, Held]:
        """What the draft takes over from, where it says that it does; the latest first."""
        wanted = lifecycle.replacing(draft.tags, draft.supersedes)
        if wanted is None:
            return {}
        superseding = Superseding(self.store, self.owner, strict=not draft.extracted)
        found = superseding.found(wanted, self._decision(draft), draft.text, near, now)
        if draft.private and not wanted.named:
            private = self._private_ones(found)
            found = {id: held for id, held in found.items() if self._seen_alike(draft, held.item, private)}
        return {id: found[id] for id in sorted(found, reverse=True) if id not in decided.expect}

    # -- the four bands -------------------------------------------------------------------------------------

    def _create(self, decided: Decided, draft: Draft, now: datetime, vector: bytes | None, **fields: object) -> Item:
        item = self.item(draft, now, **fields)
        version = self._version(item.id, draft, _witnesses(draft), now)
        decided.changes += [Create(item), Derive(version)]
        if not item.superseded_by:
            decided.fresh[item.id] = (item, version, vector)
        self._embed(decided, version, vector)
        decided.made.append(Made(item.id, "created"))
        return item

    def item(self, draft: Draft, now: datetime, **fields: object) -> Item:
        """The memory that a draft would be."""
        roles = {event.role for event in draft.witnesses if event.role}
        return self.owner.item(
            ItemId(self.clock.mint()),
            draft.body,
            now,
            **{
                "category": draft.category,
                "importance": draft.importance,
                "tags": draft.tags,
                "topic_key": draft.topic_key,
                "private": draft.private,
                "trust": draft.least_trust,
                "role": min(roles) if draft.extracted and roles else None,
                "origin_at": draft.said_at,
                "valid_from": draft.valid_from,
                "valid_to": draft.valid_to
                if not draft.valid_from or draft.valid_to is None
                else max(draft.valid_from, draft.valid_to),
                **fields,
            },
        )

    def _corroborate(
        self, decided: Decided, draft: Draft, one: Near, known: Known, now: datetime, vector: bytes | None
    ) -> None:
        """The memory gains a witness; its words stay."""
        witnesses = self._united(known, draft)
        version = replace(
            self._version(one.item.id, draft, witnesses, now),
            content=known.version.content,
            bullets=(replace(known.version.bullets[0], witnesses=witnesses),),
            derived_from=known.version.id,
            derivation=Derivation.MERGE,
        )
        decided.changes.append(Derive(version))
        self._embed(decided, version, vector)
        decided.made.append(Made(one.item.id, "corroborated"))

    def _update(
        self, decided: Decided, draft: Draft, one: Near, known: Known, now: datetime, vector: bytes | None
    ) -> None:
        """The memory gets the fuller words; those it had stay among its versions."""
        version = replace(
            self._version(one.item.id, draft, self._united(known, draft), now),
            derived_from=known.version.id,
            derivation=Derivation.MERGE,
        )
        after = replace(
            one.item,
            body=draft.body,
            importance=max(draft.importance, one.item.importance),
            tags=tuple(dict.fromkeys((*one.item.tags, *draft.tags))),
            topic_key=one.item.topic_key or draft.topic_key,
            private=one.item.private or draft.private,
            valid_to=_later_end(draft, one.item),
        )
        if after != one.item:
            decided.changes.append(revise(one.item, after, now, Verb.UPDATE))
        decided.changes.append(Derive(version))
        self._embed(decided, version, vector)
        decided.made.append(Made(one.item.id, "updated"))

    def _recreate(self, decided: Decided, draft: Draft, one: Near, now: datetime, vector: bytes | None) -> None:
        """A new memory takes over from the old one, whose time ends where the new one's begins. What was said earlier
        but arrives later is the one that is over already."""
        began = one.item.valid_from or one.item.origin_at
        since = draft.since
        until = draft.valid_to if draft.valid_to and draft.valid_to >= since else None
        if since < began:
            ends = min(began, until or began)
            item = self._create(decided, draft, now, vector, valid_from=since, valid_to=ends, superseded_by=one.item.id)
        else:
            item = self._create(decided, draft, now, vector, valid_from=since, valid_to=until, supersedes=one.item.id)
            over = replace(one.item, valid_to=since, superseded_by=item.id)
            decided.changes.append(revise(one.item, over, now, Verb.UPDATE))
            decided.made[-1] = Made(item.id, "updated")
        older, newer = (item.id, one.item.id) if since < began else (one.item.id, item.id)
        decided.changes.append(self._edge(newer, older, 1.0, now, "supersedes"))

    def _supersede(self, decided: Decided, giving: Mapping[ItemId, Held], draft: Draft, now: datetime) -> None:
        """Earlier decisions give way to the memory that was just made or renewed."""
        for old in giving.values():
            by = decided.made[-1].item_id
            decided.expect[old.item.id] = old.rev
            decided.superseded.append(old.item)
            decided.changes.append(lifecycle.superseded(old.item, by, self._decision(draft), now))
            if by not in decided.expect or not self._joined(by, old.item.id):
                decided.changes.append(self._edge(by, old.item.id, 1.0, now, "supersedes"))

    def _joined(self, newer: ItemId, older: ItemId) -> bool:
        """Whether there is an edge between the two already: there is one for each pair."""
        return any(
            (edge.from_id, edge.to_id) == (newer, older)
            for edge in self.store.relations(self.owner.scope.tenant, newer)
        )

    def _decision(self, draft: Draft) -> Decision:
        return Decision(
            topic_key=draft.topic_key,
            body=draft.body,
            agent_id=self.owner.scope.agent_id,
            trust=draft.least_trust,
            since=draft.since,
        )

    def _link(self, decided: Decided, item: Item, linked: Sequence[Near], now: datetime) -> None:
        for one in linked[:LINKS]:
            decided.changes.append(self._edge(item.id, one.item.id, min(1.0, max(0.0, one.cosine)), now))

    def _ask_judge(self, decided: Decided, item: Item, judged: Sequence[Near], now: datetime) -> None:
        if judged:
            payload = {"item_id": item.id, "near": [one.item.id for one in judged]}
            decided.then.append(
                Job(id=JobId(self.clock.mint()), kind="judge", key=item.id, payload=payload, not_before=now)
            )

    # -- parts ----------------------------------------------------------------------------------------------

    def _version(self, item_id: ItemId, draft: Draft, witnesses: tuple[Witness, ...], now: datetime) -> Version:
        return Version(
            id=VersionId(self.clock.mint()),
            item_id=item_id,
            level=Level.R3,
            content=draft.text,
            bullets=(draft.bullet(witnesses),),
            created_at=now,
        )

    def _united(self, known: Known, draft: Draft) -> tuple[Witness, ...]:
        """The witnesses of a memory that still stand, and the new ones; of very many, the first, those that are quoted
        and the newest."""
        bullets = known.version.bullets
        standing = [witness for bullet in bullets for witness in bullet.witnesses]
        if not known.fresh:
            live = {event.id for event in self.store.cited(self.owner.scope.tenant, [known.version.id])}
            standing = [one for one in standing if isinstance(one, RangeWitness) or one.event_id in live]
        every = tuple(dict.fromkeys([*standing, *_witnesses(draft)]))
        if len(every) <= WITNESSES:
            return every
        quoted = {one.event_id for bullet in bullets if bullet.quotation for one in bullet.quotation.excerpts}
        first = [one for one in every if not isinstance(one, RangeWitness) and one.event_id in quoted] or every[:1]
        return tuple(dict.fromkeys([*first, *every[len(first) - WITNESSES :]]))

    def _edge(self, a: ItemId, b: ItemId, strength: float, now: datetime, kind: str = "related_to") -> Link:
        return Link(
            Relation(
                id=RecordId(self.clock.mint()),
                from_id=a,
                to_id=b,
                relation_type=kind,
                strength=round(strength, 4),
                created_at=now,
            )
        )

    def _embed(self, decided: Decided, version: Version, vector: bytes | None) -> None:
        if vector and self.embedder:
            decided.vectors.append(Vector(self.embedder.name, f"v:{version.id}", vector))


def _keeping_what_is_told(band: Band, draft: Draft) -> Band:
    """The band, but for a memory that is known already and of which the draft tells the topic, or that it decides."""
    if not isinstance(band, Auto):
        return band
    item = band.near.item
    tells = bool(draft.topic_key) and item.topic_key is None
    decides = lifecycle.replacing(draft.tags) is not None and not set(draft.tags) <= set(item.tags)
    return Update(band.near) if tells or decides else band


def _seen(draft: Draft) -> New:
    return New(
        text=draft.text,
        body=draft.body if isinstance(draft.body, Fact) else Fact(),
        category=draft.category,
        at=draft.said_at,
        corrects=draft.corrects,
        trust=draft.least_trust,
    )


def _witnesses(draft: Draft) -> tuple[Witness, ...]:
    return tuple(EventWitness(event.id, draft.reason) for event in draft.witnesses)


def _later_end(draft: Draft, item: Item) -> datetime | None:
    """When a memory ends, now that more is told of it."""
    if draft.valid_to and draft.valid_to >= (item.valid_from or draft.valid_to):
        return draft.valid_to
    return item.valid_to


def _united(drafts: Sequence[Draft]) -> Iterator[Draft]:
    """The drafts, those with the same words as one with all their witnesses."""
    kept: dict[int, Draft] = {}
    for number, draft in enumerate(drafts):
        twin = next((other for other, one in kept.items() if _twins(one, draft)), None)
        if twin is None:
            kept[number] = draft
        else:
            witnesses = tuple({event.id: event for event in (*kept[twin].witnesses, *draft.witnesses)}.values())
            kept[twin] = replace(kept[twin], witnesses=witnesses)
    yield from kept.values()


def _twins(one: Draft, other: Draft) -> bool:
    alike = one.least_trust is other.least_trust and one.private is other.private
    return alike and bands.same_words(one.text, other.text)


def _overlap(a: str, b: str) -> float:
    """How much two texts share, by their words alone."""
    left, right = bands.content(a), bands.content(b)
    return len(left & right) / len(left | right) if left and right else 0.0
