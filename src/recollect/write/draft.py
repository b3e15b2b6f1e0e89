"""Memories that are about to be made."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.domain.event import Event, Trust
from recollect.domain.ids import ItemId
from recollect.domain.item import Body
from recollect.domain.quotation import Quotation
from recollect.domain.witness import Bullet, Witness


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A memory that is about to be made, with the events that bear witness to it."""

    text: str
    body: Body
    category: str
    importance: int
    witnesses: tuple[Event, ...]
    private: bool = False
    corrects: bool = False
    tags: tuple[str, ...] = ()
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    trust: Trust = Trust.TRUSTED
    extracted: bool = False
    topic_key: str | None = None
    supersedes: ItemId | None = None
    reason: str = "said so"
    quotation: Quotation | None = None
    """Where `text` is somebody's own words, with what frames them."""

    @property
    def served(self) -> str:
        return self.quotation.framed if self.quotation else self.text

    @property
    def said_at(self) -> datetime:
        """When it was said: what comes before it, and is quoted with it, was said earlier."""
        return max(event.ts for event in self.witnesses)

    @property
    def since(self) -> datetime:
        return self.valid_from or self.said_at

    def bullet(self, witnesses: tuple[Witness, ...]) -> Bullet:
        return Bullet(self.text, witnesses, quotation=self.quotation)

    @property
    def least_trust(self) -> Trust:
        """What is derived is only as trusted as its least trusted source."""
        doubtful = Trust.UNTRUSTED in {self.trust, *(event.trust for event in self.witnesses)}
        return Trust.UNTRUSTED if doubtful else Trust.TRUSTED


def about(topic_key: str | None, drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts as memories of the topic of their thread, but for those that have one of their own."""
    return [replace(draft, topic_key=draft.topic_key or topic_key) if topic_key else draft for draft in drafts]
