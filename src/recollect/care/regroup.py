"""Memories merged and split by topic. Nothing is moved: what is said is said again, with the same witnesses."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.care.ladder import Ladder
from recollect.domain.change import Change, Create, Derive, Link, Verb, revise
from recollect.domain.ids import ItemId, RecordId, Rev
from recollect.domain.item import Active, Archived, Episode, Item
from recollect.domain.level import Derivation, Level
from recollect.domain.portion import Spot
from recollect.domain.query import Filters, Page
from recollect.domain.relation import Relation
from recollect.domain.scope import NOBODY, Sight
from recollect.domain.text import tokens
from recollect.domain.version import Version
from recollect.domain.witness import Bullet, RangeWitness, bare
from recollect.holdings import Among, Held, Named, Placed
from recollect.policy import distil, hammer, regroup
from recollect.policy.distil.notation import FACTS
from recollect.policy.hammer import Family
from recollect.ports import Store

MOST = 50
"""Memories of one topic that are looked at together."""
PART_OF = "part_of"
_RANGES = 200
_PLACES = 1_000


@dataclass(frozen=True, slots=True)
class Merge:
    """Memories about one topic that became part of another."""

    into: ItemId
    items: tuple[ItemId, ...]
    version: Version


@dataclass(frozen=True, slots=True)
class Split:
    """A memory whose topics became memories of their own."""

    item_id: ItemId
    parts: tuple[ItemId, ...]
    versions: tuple[Version, ...]


@dataclass(frozen=True, slots=True)
class Merged:
    """A merge with its changes: `family` is what the memory is after it, `before` the tokens that were served."""

    merge: Merge
    family: Family
    changes: Sequence[Change]
    expect: Mapping[ItemId, Rev]
    before: int


@dataclass(frozen=True, slots=True)
class Parted:
    """A split with its changes: `summary` is what the memory says after it."""

    split: Split
    summary: Version
    changes: Sequence[Change]


@dataclass(frozen=True, slots=True)
class Regroup:
    """Decides on merging and splitting."""

    store: Store
    ladder: Ladder

    def merged(
        self, held: Held, sight: Sight, cold: Callable[[Sequence[Held]], list[Family]], now: datetime
    ) -> Merged | None:
        """The other episodes of a memory's topic as part of it: where it is the newest, all of them are cold, and
        together they say it in clearly fewer words."""
        item = held.item
        if item.topic_key is None or not regroup.may_regroup(item):
            return None
        group = self._group(item, sight)
        if not group or max(one.item.id for one in group) > item.id:
            return None
        revs = {one.item.id: one.rev for one in group} | {item.id: held.rev}
        families = {family.item.id: family for family in cold([held, *group])}
        own, others = families.pop(item.id, None), list(families.values())
        if own is None or own.speaking is None or not others:
            return None
        others.sort(key=lambda family: family.item.id)
        spoken = [family.speaking for family in others if family.speaking]
        bullets = [bullet for summary in spoken for bullet in self._pointed(summary)]
        title = distil.parse(own.speaking.content, item.id)[0]
        version = self.ladder.derived(
            own, own.speaking, title, regroup.united(own.speaking.bullets, bullets), Derivation.MERGE, now
        )
        texts = [summary.content for summary in (own.speaking, *spoken)]
        if hammer.is_overlong(version) or not regroup.worth_merging(texts, version.content):
            return None
        changes: list[Change] = [Derive(version)]
        for family in others:
            over = replace(family.item, state=Archived(now, "merged with others of its topic"), superseded_by=item.id)
            changes.append(revise(family.item, over, now, Verb.MERGE))
        return Merged(
            Merge(item.id, tuple(family.item.id for family in others), version),
            replace(own, versions=sorted([*own.versions, version], key=lambda one: one.id)),
            changes,
            {item_id: revs[item_id] for item_id in (item.id, *families)},
            sum(tokens(bare(text)) for text in texts),
        )

    def _group(self, item: Item, sight: Sight) -> list[Held]:
        filters = Filters(topic_key=item.topic_key, kinds=frozenset({"episode"}), user_id=item.user_id)
        found = self.store.items(self.ladder.tenant, filters, sight, Page(MOST))
        return [
            held
            for held in found
            if held.item.id != item.id and regroup.together(held.item, item) and regroup.may_regroup(held.item)
        ]

    def _pointed(self, summary: Version) -> list[Bullet]:
        return regroup.pointed(summary.bullets, self.store.cited(self.ladder.tenant, [summary.id]))

    def split(self, family: Family, summary: Version, now: datetime) -> Parted | None:
        """An overlong summary in parts, each a memory of its own; None where it does not fall into clearly different
        topics, or was split before."""
        item = family.item
        if not hammer.is_overlong(summary) or not regroup.may_regroup(item) or self._has_parts(item.id):
            return None
        found = regroup.parted(summary.bullets)
        if found is None:
            return None
        title = distil.parse(summary.content, item.id)[0]
        named = [self._named(topic) for topic in found.topics]
        shorter = self.ladder.derived(
            family, summary, title, regroup.united([*found.rest, *named], ()), Derivation.SPLIT, now
        )
        changes: list[Change] = [Derive(shorter)]
        versions: list[Version] = []
        evidence = self._cited(summary)
        for topic in found.topics:
            part = self._part(item, topic.name, title, now)
            bullets = regroup.pointed(topic.bullets, evidence)
            version = self.ladder.derived(
                Family(item=part), summary, _titled(title, topic.name), bullets, Derivation.SPLIT, now
            )
            versions.append(version)
            changes += [Create(part), Derive(version), Link(self._edge(part, item, now))]
        parts = tuple(version.item_id for version in versions)
        return Parted(Split(item.id, parts, tuple(versions)), shorter, changes)

    def _cited(self, summary: Version) -> list[Placed]:
        """The live events that a summary names, in its own thread or singly. Private ones are not among them, unless it
        names them singly."""
        tenant, found = self.ladder.tenant, self.ladder.named_singly(summary.bullets)
        named = (witness for bullet in summary.bullets for witness in bullet.witnesses)
        ranges = sorted({(one.first, one.last) for one in named if isinstance(one, RangeWitness)})
        for start in range(0, len(ranges), _RANGES):
            some = Among(summary.item_id, named=Named(tuple(ranges[start : start + _RANGES])))
            spot: Spot | None = None
            while page := self.store.placed_events(tenant, some, after=spot, limit=_PLACES, readers=NOBODY):
                found += page
                spot = page[-1].spot
        return found

    def _has_parts(self, item_id: ItemId) -> bool:
        return any(
            edge.relation_type == PART_OF and edge.to_id == item_id
            for edge in self.store.relations(self.ladder.tenant, item_id)
        )

    def _named(self, topic: regroup.Topic) -> Bullet:
        """The line that is left of a topic where it came from: the first that it says, a quotation as it is."""
        first = topic.bullets[0]
        text = first.text if first.quotation else f"About {topic.name}, in a memory of its own: {first.text}"
        return replace(first, text=text, section=first.section or FACTS)

    def _part(self, item: Item, name: str, title: str, now: datetime) -> Item:
        return replace(
            item,
            id=ItemId(self.ladder.clock.mint()),
            body=Episode(_titled(title, name)[:2_000]),
            thread_id=None,
            topic_key=f"{item.topic_key}/{name}"[-200:] if item.topic_key else name[:200],
            state=Active(),
            default_level=Level.R3,
            active_version_id=None,
            lock=None,
            supersedes=None,
            created_at=now,
            updated_at=now,
        )

    def _edge(self, part: Item, whole: Item, now: datetime) -> Relation:
        return Relation(
            id=RecordId(self.ladder.clock.mint()),
            from_id=part.id,
            to_id=whole.id,
            relation_type=PART_OF,
            strength=1.0,
            created_at=now,
        )


def _titled(title: str, name: str) -> str:
    return f"{title}: {name}" if title else name.capitalize()
