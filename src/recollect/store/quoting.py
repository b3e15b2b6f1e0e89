"""Quotations held against the events that they quote: what somebody is said to have said stands there."""

from collections.abc import Mapping

from recollect.domain.event import Event
from recollect.domain.ids import EventId
from recollect.domain.quotation import Excerpt, Quotation
from recollect.domain.version import Version
from recollect.errors import Invalid

LEFT_OUT = "…"
_PARTED = f" {LEFT_OUT} "
"""What stands between two parts of a quotation."""


def check(version: Version, cited: Mapping[EventId, Event]) -> None:
    """Pass, or an error, for the quotations of a version whose witnesses resolve to these events."""
    for quotation in (bullet.quotation for bullet in version.bullets if bullet.quotation):
        stretches = [_line(_stretch(excerpt, cited)) for excerpt in quotation.excerpts]
        parts = _parts(quotation)
        if not parts or not all(any(part in stretch for stretch in stretches) for part in parts):
            raise Invalid(f"version {version.id} quotes what does not stand in its excerpts", "Quote it word for word.")


def _stretch(excerpt: Excerpt, cited: Mapping[EventId, Event]) -> str:
    """The text of an excerpt."""
    name = f"excerpt e:{excerpt.event_id} {excerpt.start}-{excerpt.end}"
    event = cited.get(excerpt.event_id)
    if event is None:
        raise Invalid(f"{name} points nowhere: it is no witness of the version", "Cite the event that is quoted.")
    if excerpt.end > (length := len(event.text)):
        raise Invalid(f"{name} points nowhere: the event has {length} characters")
    return event.text[excerpt.start : excerpt.end]


def _parts(quotation: Quotation) -> list[str]:
    """The parts of a quotation, each as it was said; one may have been cut at either end."""
    parts = [part.strip(f"{LEFT_OUT} ") for part in _line(quotation.words).split(_PARTED)]
    return [part for part in parts if part]


def _line(text: str) -> str:
    return " ".join(text.split())
