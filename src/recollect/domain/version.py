"""Versions: one memory at one level. None is ever overwritten."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.ids import EventId, ItemId, VersionId
from recollect.domain.level import Derivation, Level
from recollect.domain.text import sound
from recollect.domain.witness import Bullet, EventWitness


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A representation of an item. `content` is plain text; `bullets` is the same with its witnesses."""

    id: VersionId
    item_id: ItemId
    level: Level
    content: str
    bullets: tuple[Bullet, ...] = ()
    derived_from: VersionId | None = None
    derivation: Derivation | None = None
    created_at: datetime
    quality_score: float | None = None

    def __post_init__(self) -> None:
        sound(self.content, "the content")
        if not self.content.strip():
            raise ValueError("the content of a version is blank")
        if (self.derived_from is None) and self.level < Level.R3:
            raise ValueError(f"a version at {self.level.name} is derived: name the version it comes from")
        if self.derived_from is None and not self.bullets:
            raise ValueError("a version that is derived from no other needs bullets with witnesses")
        if self.level is Level.R3 and not self.bullets:
            raise ValueError("an R3 needs bullets with witnesses")
        if (self.derived_from is None) != (self.derivation is None):
            raise ValueError("derived_from and derivation go together")

    @property
    def said_in(self) -> EventId | None:
        return said_in(self.bullets)

    @property
    def quoted(self) -> frozenset[EventId]:
        """The events whose words it quotes. It goes with any one of them; of its other witnesses it needs only one."""
        quotations = [bullet.quotation for bullet in self.bullets if bullet.quotation]
        return frozenset(excerpt.event_id for quotation in quotations for excerpt in quotation.excerpts)


def said_in(bullets: Sequence[Bullet]) -> EventId | None:
    """The event that a memory of these sentences was said in: the last that it quotes, or else that it names."""
    quoted = [bullet.quotation for bullet in bullets if bullet.quotation]
    if quoted:
        return quoted[-1].excerpts[-1].event_id
    named = [one for bullet in bullets for one in bullet.witnesses if isinstance(one, EventWitness)]
    return named[-1].event_id if named else None
