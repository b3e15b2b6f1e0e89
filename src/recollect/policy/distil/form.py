"""A summary as a language model writes it: the form of its answer."""

from dataclasses import dataclass
from typing import Literal

from recollect.policy.wording import LONGEST

MOST_BULLETS = 40
_LONGEST_TITLE = 120

Section = Literal["Decisions", "Facts", "Endpoints and features", "Done", "Open questions"]


@dataclass(frozen=True, slots=True)
class WrittenBullet:
    """One sentence of a summary. Witnesses are the numbers of turns, counted from 1."""

    section: Section
    text: str
    witnesses: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.text.strip() or len(self.text) > 2 * LONGEST:  # what is a little too long is trimmed later
            raise ValueError(f"the text of a bullet has 1 to {LONGEST} characters")
        if not 1 <= len(self.witnesses) <= 20:
            raise ValueError("a bullet names the turns that prove it, at most 20")


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    """A title and the bullets of a thread; none where nothing in it will matter."""

    title: str
    bullets: tuple[WrittenBullet, ...]

    def __post_init__(self) -> None:
        if len(self.title) > _LONGEST_TITLE:
            raise ValueError(f"a title has at most {_LONGEST_TITLE} characters")
        if len(self.bullets) > MOST_BULLETS:
            raise ValueError(f"at most {MOST_BULLETS} bullets: keep the most important")
