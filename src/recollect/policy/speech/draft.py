"""A statement on its way from a turn to a candidate."""

from dataclasses import dataclass
from datetime import datetime

from recollect.domain.judgement import Weighed


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A statement told in the third person that keeps the rules of wording, not weighed yet."""

    text: str
    said: str
    """The words it was drawn from, as they stood."""
    witnesses: tuple[int, ...]
    speaker: str
    technical: bool
    times: int = 0
    decision: bool = False
    corrects: bool = False
    hedged: bool = False
    firm: bool = False
    """It was said as a rule, a decision or a correction, or names a day."""
    weighed: tuple[Weighed, ...] = ()
    """What a keeper says of the sentences it was drawn from; nothing where none was asked."""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
