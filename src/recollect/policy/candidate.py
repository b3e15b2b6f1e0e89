"""What extraction proposes to remember: a memory in the making, with the turns that bear witness to it."""

from dataclasses import dataclass
from datetime import datetime

from recollect.domain.item import Fact
from recollect.domain.moment import zoned
from recollect.domain.quotation import Quotation
from recollect.policy.wording import Sound, check, check_quotation

CATEGORIES = (
    "profile",
    "preferences",
    "goals",
    "tasks",
    "projects",
    "event",
    "activity",
    "relationships",
    "knowledge",
    "procedural",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A statement worth keeping. What is served of it passes the validator of `wording`: its text, or, where it quotes
    somebody, the quotation in its frame.

    `witnesses`: the places of the turns it was drawn from, the one that says it last.
    `corrects`: it was said as a correction of something known.
    `valid_from`, `valid_to`: where the text itself says since when, or until when.
    """

    text: str
    body: Fact
    category: str
    importance: int
    private: bool
    witnesses: tuple[int, ...]
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    corrects: bool = False
    tags: tuple[str, ...] = ()
    quotation: Quotation | None = None

    @property
    def served(self) -> str:
        return self.quotation.framed if self.quotation else self.text

    def __post_init__(self) -> None:
        found = check_quotation(self.quotation) if self.quotation else check(self.text)
        if not isinstance(found, Sound):
            raise ValueError(f"the text of a candidate {found.why}: put it through wording.fit first")
        if self.category not in CATEGORIES:
            raise ValueError(f"the category {self.category!r} is none of {', '.join(CATEGORIES)}")
        if not 1 <= self.importance <= 5:
            raise ValueError(f"importance {self.importance}: give a whole number from 1 to 5")
        if not self.witnesses:
            raise ValueError("a candidate without witnesses: name the turns it was drawn from")
        zoned(self.valid_from, "valid_from")
        zoned(self.valid_to, "valid_to")
