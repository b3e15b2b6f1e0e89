"""One memory as it is shown: with its words and its receipts; and its versions as they are listed, without words."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from recollect.domain.event import Event
from recollect.domain.ids import Rev, VersionId
from recollect.domain.item import Episode, Item
from recollect.domain.level import Derivation, Level
from recollect.domain.lines import one_line
from recollect.domain.portion import Portion, Spot
from recollect.domain.version import Version
from recollect.domain.witness import Bullet
from recollect.holdings import VersionOutline
from recollect.policy import level
from recollect.policy.calendar import day_of
from recollect.policy.distil import served
from recollect.policy.lifecycle import held
from recollect.policy.rendering import frame, quoted, quoted_summary, statement


@dataclass(frozen=True, slots=True)
class Shown:
    """A memory with the words that it is served with, and the events that bear witness to them."""

    item: Item
    rev: Rev
    current: Version | None
    """None for a thread that was not summarised yet: it has its events."""
    evidence: Portion[Event, Spot]
    event: Event | None = None
    """The event that was asked for, in the place of a memory: `item` is its thread, and `evidence` what was said around
    it."""
    made: Sequence["Shown"] = ()
    """The memories that were made of the event."""
    doubt: Item | None = None
    """What may have taken its place, where nobody is sure."""

    @property
    def held(self) -> str:
        """Since when it holds, until when it held, and what took its place, or may have taken it."""
        return held(self.item, self.doubt)

    @property
    def words(self) -> str:
        """What the memory says. A thread says nothing of its own: it has its events, as does a memory of which the raw
        level speaks."""
        if self.current is None:
            return ""
        if self.current.level is Level.R5:
            if len(self.evidence) == 1:
                return self.evidence[0].text
            said = [(frame(one.author, day_of(one.ts), trust=one.trust), one.text) for one in self.evidence]
            return "\n".join(lead + quoted(text) for lead, text in said)
        return served(self.current.content, self.current.bullets)

    @property
    def line(self) -> str:
        """The same on one line, among lines about other memories."""
        return on_one_line(self.words, self.current.bullets if self.current else ())


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionInfo:
    """What is known about a version without reading it."""

    id: VersionId
    level: Level
    created_at: datetime
    derivation: Derivation | None
    derived_from: VersionId | None
    quality_score: float | None
    tokens: int
    active: bool
    """Whether this is the version that speaks for the memory now."""


class Graded(Protocol):
    """Whatever is of a version, and of its level."""

    @property
    def id(self) -> VersionId: ...
    @property
    def level(self) -> Level: ...


V = TypeVar("V", bound=Graded)


def on_lines(item: Item, content: str, bullets: Sequence[Bullet] = ()) -> str:
    """The words of a version as they are served: a summary on the lines that it is written on, anything else with every
    further line quoted; and the first one too, where it says itself what only a frame says."""
    if isinstance(item.body, Episode):
        return quoted_summary(content)
    return quoted(content) if any(bullet.quotation for bullet in bullets) else quoted(statement(content))


def on_one_line(content: str, bullets: Sequence[Bullet] = ()) -> str:
    """The words of a version on one line. A quotation says itself who said it and when; what looks as if it did is
    quoted."""
    said = one_line(content)
    return said if any(bullet.quotation for bullet in bullets) else statement(said)


def current(item: Item, versions: Sequence[V]) -> V | None:
    """The version that a first serving gives: the promoted one, else the newest of the memory's level, else the newest
    of the nearest level above it, else the newest there is."""
    promoted = next((version for version in versions if version.id == item.active_version_id), None)
    if promoted is not None and promoted.level >= level.start(item, promoted.level):
        return promoted
    first = level.start(item, promoted.level if promoted else None)
    newest_first = enumerate(reversed(versions))
    found = min(newest_first, key=lambda one: (one[1].level < first, abs(one[1].level - first), one[0]), default=None)
    return found[1] if found else None


def listed(item: Item, versions: Sequence[VersionOutline]) -> list[VersionInfo]:
    """The versions of a memory, newest first, and of those made at once the longest."""
    speaking = current(item, versions)
    return [
        VersionInfo(
            id=version.id,
            level=version.level,
            created_at=version.created_at,
            derivation=version.derivation,
            derived_from=version.derived_from,
            quality_score=version.quality_score,
            tokens=version.tokens,
            active=speaking is not None and version.id == speaking.id,
        )
        for version in sorted(versions, key=lambda one: (one.created_at, one.level), reverse=True)
    ]
