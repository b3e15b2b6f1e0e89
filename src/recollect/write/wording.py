"""How a statement that somebody asks to remember is worded: as it is where it can stand alone, else told or quoted."""

from recollect.domain.event import Event
from recollect.domain.quotation import Excerpt, Quotation
from recollect.policy.speech import days
from recollect.policy.speech.hearing import name_of
from recollect.policy.speech.third_person import told
from recollect.policy.wording import LONGEST, Sound, check, pronouns

_LONGEST_QUOTED = 4 * LONGEST
"""Characters of a statement that is quoted; a longer one is a text of its own."""


def worded(event: Event) -> tuple[str, Quotation | None]:
    """The words of a memory that somebody stated, and the quotation where they are quoted. Nothing is refused."""
    text = event.text
    name = name_of(event)
    third = told(text, name)
    if third is not None:
        return _dated(third, event), None
    if len(text) > _LONGEST_QUOTED or not pronouns(text):
        return _dated(text, event), None
    words = " ".join(text.split())
    quoted = Quotation(
        speaker=name,
        said_at=event.ts,
        words=words,
        excerpts=(Excerpt(event.id, 0, len(text)),),
        meant=days.dated(words, event.ts).meant,
    )
    return quoted.plain, quoted


def _dated(text: str, event: Event) -> str:
    """The text with the days that it means, where it stays a memory with them."""
    found = days.bracketed(text, event.ts) if len(text) <= LONGEST else text
    return found if found == text or isinstance(check(found), Sound) else text
