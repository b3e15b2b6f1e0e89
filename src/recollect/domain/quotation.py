"""Quotations: somebody's own words, kept as fields and framed with name and day when they are served."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from recollect.domain.ids import EventId
from recollect.domain.lines import framed_name, one_line
from recollect.domain.moment import zoned
from recollect.domain.text import name, sound

_MONTHS = (
    "January February March April May June July August September October November December".split()
)  # fmt: skip
GAP = " … "
"""Stands between words of several turns."""
ASKS = re.compile(
    r"(?:^\W*+|(?<=\w)(?:[^\w.!?…,;:]|[.!?…,;:](?!\s))*+[.!?…,;:]\s\W*+)"
    r"(?:(?:and|so|but|ok|then|also|at|in|on|by|to|for|with|from|since|until)\s)*+"
    r"(?:what|which|who|whose|when|where|why|how)\b(?:[^\w.!?]*+\w++){0,600}+[^\w.!?？]*+[?？]\W*$",  # noqa: RUF001
    re.IGNORECASE,
)
"""A question that begins with what it asks for; in an offer, such a word stands further back."""
_FRAMES = str.maketrans('[]"“”', "()'''")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Which stretch of which event is quoted, from one character to another, the end excluded."""

    event_id: EventId
    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"excerpt {self.start}-{self.end}: a quotation has at least one character")


@dataclass(frozen=True, slots=True)
class Meant:
    """The day, week or month that words mean, and after which character of the words it is told."""

    after: int
    time: str

    def __post_init__(self) -> None:
        sound(self.time, "a time", 60)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotation:
    """Words as they were said. `asked` is the question they answer, or what was said before them, where they live from
    it; `place` is the file and heading of a document."""

    speaker: str
    said_at: datetime
    words: str
    excerpts: tuple[Excerpt, ...]
    meant: tuple[Meant, ...] = ()
    asked: str = ""
    place: str = ""

    def __post_init__(self) -> None:
        name(self.speaker, "the speaker")
        sound(self.words, "the words")
        sound(self.asked, "the question")
        sound(self.place, "the place", 500)
        zoned(self.said_at, "the time")
        if not self.words.strip():
            raise ValueError("a quotation without words")
        if not self.excerpts:
            raise ValueError("a quotation names the events that it quotes")
        if any(not 0 <= one.after <= len(self.words) for one in self.meant):
            raise ValueError("a time stands outside of the words it belongs to")

    @property
    def plain(self) -> str:
        """Speaker and words alone: what is embedded, compared and searched. Two speakers' "I" is never the same."""
        return f"{self.speaker}: {self.words}"

    @property
    def framed(self) -> str:
        """The words in a frame that says who said them and when, with the days that they mean beside them."""
        if self.place:
            return f'{_named(self.place)}, {self._day}: "{self._dated}"'
        if not self.asked:
            return f'{_named(self.speaker)}, {self._day}: "{self._dated}"'
        lead, does = ("Asked", "answered") if self.answers else ("After", "said")
        return f'{lead} "{_escaped(self.asked)}", {_named(self.speaker)} {does} on {self._day}: "{self._dated}"'

    @property
    def answers(self) -> bool:
        """Whether somebody else asked which, when or how. Of an offer, and of whatever else was said before the words,
        nobody can tell that they answer it; of what several turns said neither."""
        others = self.excerpts[0].event_id != self.excerpts[-1].event_id
        return others and GAP not in self.asked and bool(ASKS.search(self.asked))

    @property
    def _day(self) -> str:
        day = self.said_at.astimezone(UTC)
        return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"

    @property
    def _dated(self) -> str:
        parts: list[str] = []
        position = 0
        for one in sorted(self.meant, key=lambda meant: meant.after):
            parts += [_unframed(self.words[position : one.after]), f" [{one.time}]"]
            position = one.after
        return one_line("".join([*parts, _unframed(self.words[position:])]))


def _unframed(text: str) -> str:
    """Square brackets and double quotation marks are the frame's: those of the words become round and single."""
    return text.translate(_FRAMES)


def _escaped(text: str) -> str:
    """A text on one line with nothing in it that could close the frame or pass for a part of it."""
    return one_line(_unframed(text))


def _named(text: str) -> str:
    """A name or a place in front of the words: it cannot pass for a day, or for words of another."""
    return framed_name(_escaped(text))
