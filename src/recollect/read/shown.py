"""One memory as it is shown: with its words and its receipts."""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.domain.event import Event
from recollect.domain.ids import Rev
from recollect.domain.item import Item
from recollect.domain.version import Version


@dataclass(frozen=True, slots=True)
class Shown:
    """A memory with its words, and the events that bear witness to them."""

    item: Item
    rev: Rev
    versions: Sequence[Version]
    evidence: Sequence[Event]

    @property
    def current(self) -> Version | None:
        """The version that speaks for the memory: the promoted one, else the newest with witnesses, else the newest."""
        promoted = [version for version in self.versions if version.id == self.item.active_version_id]
        attested = [version for version in self.versions if version.bullets]
        return next(iter([*promoted, *reversed(attested), *reversed(self.versions)]), None)

    @property
    def words(self) -> str:
        """What the memory says. A thread says nothing of its own: it has its events."""
        return self.current.content if self.current else ""
