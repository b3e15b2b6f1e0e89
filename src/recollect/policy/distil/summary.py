"""R3, the structured summary: what people said and decided, what came of it, and what is open, each with witnesses.

The bullets are the same remarks that facts are made of: told where that is sure, else quoted.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from recollect.domain.event import Event, Trust
from recollect.domain.item import Episode, Fact, Insight, Journal, Pattern, Workflow
from recollect.domain.level import Level
from recollect.domain.text import tokens
from recollect.domain.witness import Bullet
from recollect.policy.distil import notation
from recollect.policy.distil.cleaning import clean
from recollect.policy.distil.material import Draft, Material, witnesses
from recollect.policy.distil.recipes import pattern, workflow
from recollect.policy.distil.selection import Bulletin, selected
from recollect.policy.distil.topics import topics
from recollect.policy.speech.hearing import heard, is_person, name_of
from recollect.policy.speech.plain_weights import plain_weights
from recollect.policy.speech.reading import open_question, remarks
from recollect.policy.speech.remark import Remark, Weights
from recollect.policy.speech.sentences import sentences

LONGEST = 1_200
"""Tokens of the longest summary."""
KEEP = 0.002
"""How likely a sentence must be worth keeping for a summary, which has room for more than facts have."""
REPORTED = 0.7
"""How likely an assistant must report what was done."""
_DOUBT = 0.3
"""How much less a sentence counts that a keeper doubts: little, since a summary says what there is to say."""
_MANNERS = ("thanks", "small_talk", "assent", "question", "feeling")
"""Kinds of talk that say nothing of a thread, unless a keeper is sure that they do."""
_SURE = 0.1
_DONE = 0.45
_SETTLED = 0.8
"""How likely a remark must be a decision, or done, to stand under such a heading."""
_MOST_DONE = 3
_SHARE = 0.4
_SHORT = 1_500
"""Tokens of a thread up to which its summary grows with it; a longer one gets less for each token more."""
_SLOWER = 0.035
_LEAST, _MOST_OF_LITTLE = 120, 0.9
"""Tokens that a short thread's summary may have; but never most of the thread."""
_HEADINGS = 12
"""Tokens that a title and the headings of sections take, about."""
_MOST_OPEN = 2
_ASSISTANTS = 0.6
"""What an assistant's words count against those of people."""
_FILE = re.compile(r"[\w./-]+\.\w{1,5}")
"""The name of a file says where a thread came from, not what it is about."""
_ROUTE = re.compile(r"\b(?:GET|POST|PUT|DELETE|PATCH) /|(?<![\w/.])/(?:api|v\d)/\w|`\w+\([^`]*\)`")
_TITLE = 3
"""Topics that make a title."""


def summarise(material: Material) -> Draft | None:
    """The R3 of a memory, or None where there is nothing to say."""
    match material.item.body:
        case Episode():
            return _episode(material)
        case Fact() | Insight() | Journal():
            return _statement(material)
        case Pattern() as body:
            return pattern(body, material)
        case Workflow() as body:
            return workflow(body, material)


def _statement(material: Material) -> Draft | None:
    """A fact says what it says: its statement as it was remembered."""
    if not material.bullets:
        return None
    content = " ".join(bullet.text for bullet in material.bullets)
    return Draft(Level.R3, content, material.bullets, 1.0) if content.strip() else None


def _episode(material: Material) -> Draft | None:
    events = material.events
    if not events:
        return None
    weights = material.weights or {
        place: plain_weights(turn) for place, turn in heard(events, range(len(events))).items()
    }
    found = list(_told(events, weights))
    most = tokens(clean(material).content)
    room = min(budget(sum(tokens(event.text) for event in events)), most) - _HEADINGS
    kept = selected(found, room)
    bullets = _bullets(material, kept)
    title = _given_title(material) or made_title(events, kept)
    while bullets:
        plain = tuple(replace(bullet, section="") for bullet in bullets)
        for name, said in ((title, bullets), ("", bullets), ("", plain)):
            if tokens(notation.write(name, said, served=True)) <= most:
                return Draft(Level.R3, notation.write(name, said), said, _quality(kept, found))
        bullets = bullets[:-1]
    return None


def _told(events: Sequence[Event], weights: Weights) -> Iterator[Bulletin]:
    """What can be said of a thread, in its order."""
    people = [place for place, event in enumerate(events) if is_person(event)]
    believed = any(event.trust is Trust.TRUSTED for event in events)  # beside what is, what is not is left out
    documents = [
        place
        for place, event in enumerate(events)
        if event.role == "document" and (event.trust is Trust.TRUSTED or not believed)
    ]
    for remark in remarks(events, people, weights, KEEP, terse=True):
        if remark.keep >= _SURE or remark.kind(*_MANNERS) < _DONE:
            yield Bulletin(remark, _section(remark), _worth(remark))
    for remark in remarks(events, documents, weights):
        yield Bulletin(remark, _section(remark), _worth(remark))
    yield from _done(events, weights)
    yield from _open(events, weights)


def _done(events: Sequence[Event], weights: Weights) -> list[Bulletin]:
    """What an assistant reports to have done: the latest, where a keeper is sure that it is no advice."""
    places = [place for place, event in enumerate(events) if event.role == "assistant"]
    found = [one for one in remarks(events, places, weights, _DONE / 3) if one.kind("progress") >= REPORTED]
    return [Bulletin(remark, notation.DONE, _ASSISTANTS * remark.importance) for remark in found[-_MOST_DONE:]]


def _section(remark: Remark) -> str:
    if remark.kind("decision", "rule") >= _SETTLED:
        return notation.DECISIONS
    if _ROUTE.search(remark.quotation.words):
        return notation.FEATURES
    return notation.DONE if remark.kind("progress") >= _SETTLED else notation.FACTS


def _worth(remark: Remark) -> float:
    """What a remark is worth in a summary: what it matters, and how sure that is; a decision or correction more."""
    firm = 2 * remark.kind("decision", "correction", "rule") + 0.5 * remark.corrects
    return remark.keep**_DOUBT * (remark.importance + firm)


def _open(events: Sequence[Event], weights: Weights) -> Iterator[Bulletin]:
    """Questions that people asked last and nobody answered."""
    if not events or not is_person(events[-1]):
        return
    place = len(events) - 1
    asked = [number for number, one in enumerate(sentences(events[-1].text)) if one.text.endswith(("?", "？"))]  # noqa: RUF001
    for number in asked[-_MOST_OPEN:]:
        remark = open_question(events, place, number, weights)
        if remark is not None and len(remark.quotation.words.split()) > 3:
            yield Bulletin(remark, notation.OPEN, 1.5)


def _quality(kept: Sequence[Bulletin], found: Sequence[Bulletin]) -> float:
    """How much of what could be said is said, by what it is worth."""
    return round(min(1.0, sum(one.worth for one in kept) / max(1.0, sum(one.worth for one in found))), 3)


def budget(size: int) -> int:
    """Tokens of a summary for a thread of so many."""
    grown = _SHARE * min(size, _SHORT) + _SLOWER * max(0, size - _SHORT)
    return min(LONGEST, round(max(grown, min(_LEAST, _MOST_OF_LITTLE * size))))


def _given_title(material: Material) -> str:
    body = material.item.body
    title = " ".join(body.title.split())[:100] if isinstance(body, Episode) else ""
    return "" if _FILE.fullmatch(title) else title


def made_title(events: Sequence[Event], kept: Sequence[Bulletin]) -> str:
    """What a thread is about, by what matters most in it."""
    told = [(one.remark.quotation.words, one.worth) for one in sorted(kept, key=lambda one: -one.worth)[:6]]
    found = topics(told, [event.text[:2_000] for event in events], dict.fromkeys(name_of(event) for event in events))
    return ", ".join(found[:_TITLE])


def _bullets(material: Material, kept: Sequence[Bulletin]) -> tuple[Bullet, ...]:
    found = [
        Bullet(
            one.remark.text,
            witnesses(material.item.id, [material.events[place] for place in one.remark.places], _why(one.remark)),
            one.section,
            None if one.remark.told else one.remark.quotation,
        )
        for one in kept
    ]
    return tuple(bullet for section in notation.SECTIONS for bullet in found if bullet.section == section)


def _why(remark: Remark) -> str:
    return f"said by {remark.quotation.speaker} on {remark.quotation.said_at.date().isoformat()}"
