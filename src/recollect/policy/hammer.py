"""The compression hammer's decisions: what may be made shorter, what is worth it, and which version is served.

Nothing is lost by a stroke: shorter versions are added, longer ones stay, and what is served by default moves.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from uuid import UUID

from recollect.domain.event import STATED, Event
from recollect.domain.ids import VersionId
from recollect.domain.item import Active, Archived, Episode, Item
from recollect.domain.level import Level
from recollect.domain.observation import Usage
from recollect.domain.text import tokens
from recollect.domain.version import Version
from recollect.domain.witness import RangeWitness, bare
from recollect.policy.upkeep import Upkeep

OVERLONG = 900
"""Tokens of a summary, without its witnesses, beyond which it says more than one memory should."""
NOISY = 0.5
"""The share of what was said that was said before, from which on a thread is noise."""
NOISY_TOKENS = 400
"""Less than that is short, however often it repeats itself."""
TOLERANCE = 0.15
"""Versions whose usefulness differs by no more are equally useful."""
_VOTES = 4.0
"""So many votes, half of them good, every version starts with: one more decides nothing."""


# -- what may be done ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Allowed:
    """It may be compressed so far."""


@dataclass(frozen=True, slots=True)
class Refused:
    """It may not: why, and until when or down to which level."""

    why: str
    until: datetime | None = None
    floor: Level | None = None


def may_compress(item: Item, to: Level, now: datetime) -> Allowed | Refused:
    """Whether a memory may be made as short as this. What somebody works with, what is protected and what is out of
    use is left alone; what is pinned keeps its floor. Whose it is does not matter: what is made of an agent's silo
    stays in it."""
    if item.constitutional:
        return Refused("constitutional")
    if item.lock is not None and item.lock.until > now:
        return Refused(f"locked ({item.lock.reason.value})", until=item.lock.until)
    if not isinstance(item.state, Active | Archived):
        return Refused("out of use")
    if item.pinned_min_level is not None and to < item.pinned_min_level:
        return Refused("pinned", floor=item.pinned_min_level)
    return Allowed()


# -- a memory and its versions -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A memory with its live versions, oldest first, and what is known of its use and its thread.

    `votes`: of what use its versions were. `latest`: the newest live events of its thread. `witnessed`: how many live
    events its versions cite, where that is known.
    """

    item: Item
    versions: Sequence[Version] = ()
    usage: Usage | None = None
    votes: Mapping[VersionId, Usage] = field(default_factory=dict[VersionId, Usage])
    latest: Sequence[Event] = ()
    witnessed: int | None = None

    def at(self, level: Level) -> list[Version]:
        return [version for version in self.versions if version.level is level]

    def newest(self, level: Level) -> Version | None:
        return (self.at(level) or [None])[-1]

    @property
    def speaking(self) -> Version | None:
        """The R3 that speaks for the memory: the promoted one, else the newest."""
        summaries = self.at(Level.R3)
        promoted = [version for version in summaries if version.id == self.item.active_version_id]
        return (promoted or summaries or [None])[-1]

    @property
    def last_used(self) -> datetime:
        """When somebody last asked for it, or it was last closed: whichever is later."""
        closed = [version.created_at for version in self.at(Level.R5) if places(version)]
        used = [self.usage.last_accessed_at] if self.usage and self.usage.last_accessed_at else []
        return max([self.item.created_at, *closed, *used])


def places(handle: Version) -> frozenset[int]:
    """The places of its thread that a handle names."""
    named = [witness for bullet in handle.bullets for witness in bullet.witnesses]
    ranges = [one for one in named if isinstance(one, RangeWitness) and one.episode_id == handle.item_id]
    return frozenset(seq for one in ranges for seq in range(one.first, one.last + 1))


def handles(family: Family, live: frozenset[int] | None = None) -> list[Version]:
    """The handles that a thread's summary stands on, in the order of the thread: the newest ones, and older ones as far
    as these do not name the same events. One that names an event that is not live (`live`, where that is known) is out
    of date."""
    taken: list[tuple[int, Version]] = []
    named: set[int] = set()
    for handle in reversed(family.at(Level.R5)):
        own = places(handle)
        if own and not own & named and (live is None or own <= live):
            taken.append((min(own), handle))
            named |= own
    return [handle for _, handle in sorted(taken, key=lambda pair: pair[0])]


def root(version: Version, versions: Iterable[Version]) -> Version:
    """The version that this one comes from in the end, among these."""
    known = {one.id: one for one in versions}
    while version.derived_from and version.derived_from in known:
        version = known[version.derived_from]
    return version


def summaries(family: Family, standing: Sequence[Version]) -> list[Version]:
    """The R3s that compete for a memory, oldest first: those of a thread that cover all of it (`standing`: its handles)
    and were not taken over by another, as in a merge; of anything else the one that speaks."""
    if not standing:
        return [family.speaking] if family.speaking else []
    every = family.at(Level.R3)
    taken_over = {one.derived_from for one in every}
    return [one for one in every if one.id not in taken_over and root(one, family.versions).id == standing[-1].id]


def abreast(family: Family, level: Level, summary: Version) -> Version | None:
    """The newest version of this level that was made of these very words."""
    found = [one for one in family.at(level) if _made_of(one, summary, family.versions)]
    return (found or [None])[-1]


def _made_of(version: Version, summary: Version, versions: Sequence[Version]) -> bool:
    known = {one.id: one for one in versions}
    while version.level < Level.R3 and version.derived_from and version.derived_from in known:
        version = known[version.derived_from]
    return version.level is Level.R3 and version.content == summary.content


# -- candidates ----------------------------------------------------------------------------------------------


class Why(StrEnum):
    """Why a memory is struck."""

    CLOSED = "closed"
    """Its thread has come to rest, and no summary covers all of it."""
    COLD = "cold"
    """Nobody asked for it in a while, and it has no shorter form."""
    NOISY = "noisy"
    """Much of its thread is said again and again, and no summary covers it."""
    OVERLONG = "overlong"
    """Its summary says more than one memory should."""
    MOVED = "moved"
    """What it was served as by default is not what it should be."""


def reasons(family: Family, now: datetime, upkeep: Upkeep) -> tuple[Why, ...]:
    """Why a memory should be struck now; none where it need not or must not."""
    if isinstance(may_compress(family.item, Level.R3, now), Refused):
        return ()
    standing = handles(family)
    summary = family.speaking
    found: list[Why] = []
    named = frozenset(seq for handle in standing for seq in places(handle))
    if family.latest and not _covers(family, standing, named):
        told = any(not event.meta.get(STATED) for event in family.latest)
        found += [Why.CLOSED] if told and is_silent(family.latest[-1], now, upkeep) else []
        found += [Why.NOISY] if is_noisy([event for event in family.latest if event.seq not in named]) else []
    elif summary is not None and (choice(family, standing, now, upkeep) != chosen(family.item)):
        found.append(Why.MOVED)
    if summary is not None and now - family.last_used >= upkeep.summary_after and _unpressed(family, summary, now):
        found.append(Why.COLD)
    if summary is not None and is_overlong(summary):
        found.append(Why.OVERLONG)
    return tuple(found)


def _covers(family: Family, standing: Sequence[Version], named: frozenset[int]) -> bool:
    """Whether a summary covers the thread to its end, and nothing that was taken back since."""
    whole = family.witnessed is None or family.witnessed >= len(named)
    return bool(summaries(family, standing)) and family.latest[-1].seq in named and whole


def _unpressed(family: Family, summary: Version, now: datetime) -> bool:
    """Whether a shorter form is missing that may be made."""
    return any(
        abreast(family, level, summary) is None and isinstance(may_compress(family.item, level, now), Allowed)
        for level in (Level.R2, Level.R1)
    )


def is_silent(last: Event, now: datetime, upkeep: Upkeep) -> bool:
    """Whether nothing was written to a thread for so long that it counts as closed."""
    return silent_from(last, upkeep) <= now


def silent_from(last: Event, upkeep: Upkeep) -> datetime:
    """When a thread whose last event this is counts as closed."""
    return arrived(last) + upkeep.quiet


def arrived(event: Event) -> datetime:
    """When an event was written to its thread, which its id tells; what it says may have been said long before."""
    millis = UUID(event.id).int >> 80
    return datetime.fromtimestamp(millis / 1000, UTC)


def is_noisy(events: Sequence[Event]) -> bool:
    """Whether much of what was said was said before, word for word but for numbers."""
    said = Counter(_plain(event.text) for event in events)
    whole = sum(tokens(event.text) for event in events)
    again = sum((count - 1) * tokens(text) for text, count in said.items())
    return whole >= NOISY_TOKENS and again >= NOISY * whole


def _plain(text: str) -> str:
    return " ".join("".join("0" if sign.isdigit() else sign for sign in text.casefold()).split())


def is_overlong(summary: Version) -> bool:
    return tokens(bare(summary.content)) > OVERLONG


# -- what is served ------------------------------------------------------------------------------------------


def default_level(item: Item, last_used: datetime, now: datetime, upkeep: Upkeep) -> Level:
    """What age makes of the level that is served by default. An episode that nobody asks for is served as its summary,
    later as a hint; one that is used again, as its summary. Other memories keep what they have. A pin's floor holds
    over all of that."""
    idle = now - last_used
    if not isinstance(item.body, Episode):
        level = item.default_level
    elif idle >= upkeep.packet_after:
        level = Level.R2
    elif idle >= upkeep.summary_after:
        level = Level.R3
    else:
        level = max(item.default_level, Level.R3)
    return max(level, item.pinned_min_level or Level.R1)


def usefulness(usage: Usage | None) -> float:
    """The share of uses that helped, from 0 to 1. Being served says nothing; being cited speaks for a version, being
    ignored, or followed by a call for more, against it."""
    good, bad = (usage.cited, usage.ignored) if usage else (0, 0)
    return (good + _VOTES / 2) / (good + bad + _VOTES)


def winner(
    versions: Sequence[Version], usage: Mapping[VersionId, Usage], floor: Level, ceiling: Level
) -> Version | None:
    """The version to serve among these: the most useful; of equally useful ones the shortest, of equally short ones the
    newest. None is below the floor, which is what a pin means, or above the ceiling; None where none is left."""
    fit = [version for version in versions if floor <= version.level <= ceiling]
    if not fit:
        return None
    best = max(usefulness(usage.get(version.id)) for version in fit)
    equal = [version for version in fit if best - usefulness(usage.get(version.id)) <= TOLERANCE]
    return min(reversed(equal), key=lambda version: tokens(bare(version.content)))


def best(family: Family, standing: Sequence[Version]) -> Version | None:
    """The summary that should speak for a memory."""
    return winner(summaries(family, standing), family.votes, Level.R3, Level.R3)


@dataclass(frozen=True, slots=True)
class Choice:
    """What is served: the level, and the version that was promoted over the newest."""

    default_level: Level
    active_version_id: VersionId | None


def chosen(item: Item) -> Choice:
    return Choice(item.default_level, item.active_version_id)


def choice(family: Family, standing: Sequence[Version], now: datetime, upkeep: Upkeep) -> Choice:
    """What should be served of a memory that is not locked. A summary that proved less useful than another gives way to
    it; so does a hint to its summary. What was promoted above the summary comes down again, and one that does not
    cover all of a thread gives way to one that does. The wording of other memories than episodes is for people to
    choose."""
    item = family.item
    by_age = default_level(item, family.last_used, now, upkeep)
    if (summary := best(family, standing)) is None:
        return Choice(max(by_age, Level.R3), item.active_version_id)
    hint = abreast(family, Level.R2, summary)
    served = winner([summary, *([hint] if hint else [])], family.votes, min(by_age, Level.R3), Level.R3)
    level = by_age if by_age > Level.R3 or served is None else served.level
    level = max(level, item.pinned_min_level or Level.R1)
    return Choice(level, _promoted(family, summary, level))


def _promoted(family: Family, summary: Version, level: Level) -> VersionId | None:
    """The version to name, where it does not speak without being named. What is named is served whatever the default
    is: a summary that a hint stands in for loses its name."""
    if family.newest(Level.R3) is not summary:
        return summary.id
    return summary.id if family.item.active_version_id == summary.id and level >= Level.R3 else None
