"""What the hammer does to one memory: gathered, decided, and handed to whoever writes it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from recollect.care.ladder import Headway, Ladder, Summed
from recollect.care.regroup import Merge, Regroup, Split
from recollect.clock import Clock
from recollect.domain.change import Change, Derive, Edit, Revise, Verb
from recollect.domain.event import Event, Trust
from recollect.domain.ids import ItemId, Rev, TenantId, VersionId
from recollect.domain.item import Episode, Item
from recollect.domain.level import Level
from recollect.domain.scope import NOBODY, Sight
from recollect.domain.text import tokens
from recollect.domain.version import Version
from recollect.domain.witness import bare
from recollect.holdings import Extent, Held, Vector
from recollect.policy import chunks, distil, hammer
from recollect.policy.hammer import Family, Refused, Why
from recollect.policy.upkeep import Upkeep
from recollect.ports import Embedder, Keeper, Store, Writer

_NOISE = 200
"""Events of a thread that is still going on among which repeats are looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stroke:
    """What the hammer does to one memory; `skipped` says why it does nothing. `tokens_before` and `tokens_after` are
    what is served of it by default."""

    item_id: ItemId
    made: tuple[Version, ...] = ()
    default_level: Level
    promoted: VersionId | None = None
    """The version that speaks now instead of another."""
    skipped: str = ""
    tokens_before: int = 0
    tokens_after: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One write: its changes, what they rely on, and what they amount to."""

    changes: Sequence[Change] = ()
    expect: Mapping[ItemId, Rev] = field(default_factory=dict[ItemId, Rev])
    vectors: Sequence[Vector] = ()
    stroke: Stroke
    split: Split | None = None
    merge: Merge | None = None
    read: int = 0
    """Tokens of evidence that it is about."""
    onward: Headway | None = None
    """How far it has come with a thread that is too long to be read at once."""


def anything(_: Item) -> bool:
    """No limit."""
    return True


@dataclass(frozen=True, slots=True)
class Anvil:
    """Decides about the memories of one tenant, one at a time. Nothing is written here."""

    store: Store
    clock: Clock
    embedder: Embedder | None
    writer: Writer | None
    upkeep: Upkeep
    tenant: TenantId
    keeper: Keeper | None = None

    def families(self, held: Sequence[Held], *, abridged: bool = True) -> list[Family]:
        """The memories with their versions, and what is known of their use and their threads. Of clean logs, which are
        not made shorter any more, only the beginning, unless all of them is wanted."""
        if not held:
            return []
        ids = [one.item.id for one in held]
        usage = self.store.usage(self.tenant, ids)
        witnessed = self.store.witness_counts(self.tenant, ids)
        versions = {item_id: self.store.versions(self.tenant, item_id, abridged=abridged) for item_id in ids}
        competing = [one.id for found in versions.values() for one in found if one.level in (Level.R2, Level.R3)]
        votes = self.store.version_usage(self.tenant, competing)
        now = self.clock.now()
        return [
            Family(
                item=one.item,
                versions=versions[one.item.id],
                usage=usage.get(one.item.id),
                votes=votes,
                latest=self._latest(one.item, now),
                witnessed=witnessed.get(one.item.id, 0),
            )
            for one in held
        ]

    def _latest(self, item: Item, now: datetime) -> Sequence[Event]:
        """The last event of a thread that its versions may be made of; of one that is going on, so many that repeats
        show."""
        if not isinstance(item.body, Episode):
            return ()
        last = self.store.latest(self.tenant, item.id, 1, readers=NOBODY)
        if not last or hammer.is_silent(last[0], now, self.upkeep):
            return last
        return self.store.latest(self.tenant, item.id, _NOISE, readers=NOBODY)

    def open_families(self, held: Sequence[Held]) -> list[Family]:
        """The same, episodes without the versions that were made of private words: nothing more is made of those."""
        return self._opened(self.families(held))

    def _opened(self, families: Sequence[Family]) -> list[Family]:
        episodes = [family for family in families if isinstance(family.item.body, Episode)]
        refs = [f"v:{version.id}" for family in episodes for version in family.versions]
        private = self.store.withheld(self.tenant, refs, NOBODY)
        if not private:
            return list(families)
        return [
            replace(family, versions=[one for one in family.versions if f"v:{one.id}" not in private])
            for family in families
        ]

    def decide(self, held: Held, why: str, so_far: Headway | None = None) -> Decision:
        """What is to be done to one memory, if anything. `so_far`: how far the run at hand has come with it."""
        [family] = self.families([held])
        return self.struck(held, family, self.clock.now(), why, so_far)

    def merged(
        self,
        held: Held,
        sight: Sight,
        now: datetime,
        *,
        without: frozenset[ItemId] = frozenset(),
        allow: Callable[[Item], bool] = anything,
    ) -> Decision | None:
        """Other cold episodes of a topic as part of this one, the newest of them; None where that is not so, or would
        make nothing shorter."""
        found = Regroup(self.store, self._ladder).merged(held, sight, self._cold(now, without, allow), now)
        if found is None:
            return None
        family, merge, changes = found.family, found.merge, list(found.changes)
        shorter = self._ladder.shorter(family, merge.version, now)
        family = _with(family, shorter)
        changes += [Derive(version) for version in shorter]
        moved, stroke = self._settled(family, found.before, held.item, now, "merged")
        return Decision(
            changes=[*changes, *moved],
            expect=found.expect,
            vectors=self._vectors([merge.version]),
            stroke=replace(stroke, made=(merge.version, *shorter)),
            merge=merge,
        )

    def _cold(
        self, now: datetime, without: frozenset[ItemId], allow: Callable[[Item], bool]
    ) -> Callable[[Sequence[Held]], list[Family]]:
        """Of some memories, those that nobody asked for lately and whose summary is up to date."""

        def chosen(held: Sequence[Held]) -> list[Family]:
            near = [one for one in held if one.item.id not in without and allow(one.item)]
            return [
                family
                for family in self.open_families(near)
                if now - family.last_used >= self.upkeep.summary_after
                and family.speaking is not None
                and Why.CLOSED not in hammer.reasons(family, now, self.upkeep)
            ]

        return chosen

    def struck(self, held: Held, family: Family, now: datetime, why: str, so_far: Headway | None = None) -> Decision:
        """What is to be done to one memory, as it was gathered. Of a thread that is too long to be read at once, the
        next stretches are summed up; shorter versions are made, and chosen, when all of it is."""
        [family] = self._opened([family])
        item = held.item
        refused = hammer.may_compress(item, Level.R3, now)
        if isinstance(refused, Refused):
            return Decision(stroke=_skipped(item, refused.why, why))
        extent = self._extent(item)
        before = _served(family, extent.tokens)
        if extent.places:
            summed = self._ladder.summed_up(family, extent, now, so_far)
        elif family.speaking:
            summed = Summed(self._ladder.handle(family, family.speaking, now))
        else:
            return Decision(stroke=_skipped(item, "there is nothing to make shorter", why))
        made = summed.made
        item, doubted = _only_as_trusted(item, extent.trust) if made else (item, ())
        family = _with(replace(family, item=item), made)
        changes: list[Change] = [*doubted, *(Derive(version) for version in made)]
        if summed.onward:
            return Decision(
                changes=changes,
                expect={item.id: held.rev},
                vectors=self._vectors(made),
                stroke=replace(_skipped(item, "", why), made=tuple(made), tokens_before=before, tokens_after=before),
                read=extent.tokens,
                onward=summed.onward,
            )
        places = extent.places or None
        best = hammer.best(family, hammer.handles(family, places))
        split = Regroup(self.store, self._ladder).split(family, best, now) if best else None
        if split is not None:
            changes += split.changes
            made = [*made, split.summary]
            family = _with(family, [split.summary])
            best = split.summary
        shorter = self._ladder.shorter(family, best, now) if best else []
        family = _with(family, shorter)
        changes += [Derive(version) for version in shorter]
        moved, stroke = self._settled(family, before, item, now, why, places)
        parts = split.split.versions if split else ()
        return Decision(
            changes=[*changes, *moved],
            expect={item.id: held.rev} if changes or moved else {},
            vectors=self._vectors([*made, *parts]),
            stroke=replace(stroke, made=(*made, *shorter)),
            split=split.split if split else None,
            read=extent.tokens,
        )

    def is_long(self, held: Held) -> bool:
        """Whether there is more to read of a thread than is summed up in one write."""
        [family] = self.open_families([held])
        return self._ladder.is_long(family, self._extent(held.item))

    def is_read(self, held: Held) -> bool:
        """Whether all of a thread was read, whatever could be made of it."""
        [family] = self.open_families([held])
        return self._ladder.is_read(family, self._extent(held.item))

    def _extent(self, item: Item) -> Extent:
        """The thread of a memory, as far as its versions may be made of it."""
        if not isinstance(item.body, Episode):
            return Extent(frozenset(), 0, Trust.TRUSTED)
        return self.store.extent(self.tenant, item.id, readers=NOBODY)

    def _settled(
        self, family: Family, before: int, item: Item, now: datetime, why: str, live: frozenset[int] | None = None
    ) -> tuple[list[Change], Stroke]:
        """What is served of a memory from now on. Its words stay what they are, and so does the time of its update."""
        old = hammer.chosen(item)
        new = hammer.choice(family, hammer.handles(family, live), now, self.upkeep)
        edits = [
            Edit(name, getattr(old, name), getattr(new, name))
            for name in ("default_level", "active_version_id")
            if getattr(old, name) != getattr(new, name)
        ]
        promoted = new.active_version_id != old.active_version_id
        after = replace(item, default_level=new.default_level, active_version_id=new.active_version_id)
        stroke = Stroke(
            item_id=item.id,
            default_level=new.default_level,
            promoted=_spoken(replace(family, item=after)) if promoted else None,
            tokens_before=before,
            tokens_after=_served(replace(family, item=after), before),
            why=why,
        )
        verb = Verb.PROMOTE if promoted else Verb.UPDATE
        return [Revise(item.id, verb, tuple(edits))] if edits else [], stroke

    @property
    def _ladder(self) -> Ladder:
        return Ladder(self.store, self.clock, self.writer, self.tenant, self.keeper)

    def _vectors(self, versions: Sequence[Version]) -> list[Vector]:
        summaries = [version for version in versions if version.level is Level.R3]
        if self.embedder is None or not summaries:
            return []
        found = self.embedder.embed([telling(version) for version in summaries])
        name = self.embedder.name
        return [Vector(name, f"v:{version.id}", values) for version, values in zip(summaries, found, strict=True)]


def telling(summary: Version) -> str:
    """What of a summary is embedded: all of it without its witnesses, or as much as an embedder reads: its title and
    its sentences in their order."""
    text = bare(summary.content)
    if len(text) <= chunks.LONGEST:
        return text
    title = distil.parse(summary.content, summary.item_id)[0]
    kept = title
    for bullet in summary.bullets:
        if len(kept) + len(bullet.text) >= chunks.LONGEST:
            break
        kept = f"{kept}\n{bullet.text}" if kept else bullet.text
    return kept or text[: chunks.LONGEST]


def _with(family: Family, made: Sequence[Version]) -> Family:
    """The memory with more versions, in the order in which the store has them."""
    return replace(family, versions=sorted([*family.versions, *made], key=lambda version: version.id))


def _skipped(item: Item, skipped: str, why: str) -> Stroke:
    return Stroke(item_id=item.id, default_level=item.default_level, skipped=skipped, why=why)


def _only_as_trusted(item: Item, least: Trust) -> tuple[Item, Sequence[Change]]:
    """What is summed up is only as trusted as the least trusted of its events."""
    if item.trust is Trust.UNTRUSTED or least is Trust.TRUSTED:
        return item, ()
    edit = Edit("trust", item.trust, Trust.UNTRUSTED)
    return replace(item, trust=Trust.UNTRUSTED), [Revise(item.id, Verb.UPDATE, (edit,))]


def _spoken(family: Family) -> VersionId | None:
    return family.speaking.id if family.speaking else None


def _served(family: Family, raw: int) -> int:
    """Tokens of what is served of a memory by default; of one that has no versions yet, of its events."""
    item = family.item
    active = [version for version in family.versions if version.id == item.active_version_id]
    default = family.speaking if item.default_level is Level.R3 else family.newest(item.default_level)
    served = (active if active and item.default_level >= Level.R3 else []) or [default or family.speaking]
    shown = served[-1]
    return raw if shown is None or shown.level is Level.R5 else tokens(bare(shown.content))
