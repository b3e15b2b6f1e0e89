"""R3, the structured summary: what was decided, learned, touched and done, and what is open, each with witnesses."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from recollect.domain.event import Event
from recollect.domain.item import Episode, Fact, Insight, Journal, Pattern, Workflow
from recollect.domain.level import Level
from recollect.domain.text import tokens
from recollect.domain.witness import Bullet
from recollect.policy.distil import notation
from recollect.policy.distil.advice import advice
from recollect.policy.distil.choice import LEAST_WORTH, chosen
from recollect.policy.distil.cleaning import clean
from recollect.policy.distil.features import features
from recollect.policy.distil.material import Draft, Material, cited, witnesses
from recollect.policy.distil.quotes import quotes
from recollect.policy.distil.recipes import pattern, workflow
from recollect.policy.distil.retelling import retellings, speakers
from recollect.policy.distil.sense import makes_sense
from recollect.policy.distil.statement import Statement
from recollect.policy.distil.support import stems, supported
from recollect.policy.distil.terse import terse, unverbed
from recollect.policy.distil.topics import telling, topics
from recollect.policy.distil.weight import section_of
from recollect.policy.distil.years import with_years
from recollect.policy.speech.draft import Draft as Spoken
from recollect.policy.speech.reading import read
from recollect.policy.speech.speakers import name_of

LONGEST = 1_200
"""Tokens of the longest summary."""
_SHARE = 0.19
_SHORT = 1_500
"""Tokens of a thread up to which its summary grows with it; a longer one gets less for each token more."""
_SLOWER = 0.03
_MOST_SHARE = 0.24
_LEAST, _LEAST_FIRM, _MOST_OF_LITTLE, _TINY = 110, 160, 0.9, 70
"""Tokens that a short thread's summary may have, which says little else; but never most of the thread."""
_RULE = re.compile(r"\brule(?: is|:)|\b(?:wants (?:to be called|no |nothing )|asked (?:to|not to)|wants a reminder)\b")
_CHEERS = re.compile(r"\basked (?:not )?to\b")
"""An order to another person who chats: "don't be scared"."""
_SOMEBODY = re.compile(r"\b(?:he|she|him|her|his|hers)\b", re.IGNORECASE)
_FILE = re.compile(r"[\w./-]+\.\w{1,5}")
"""The name of a file says where a thread came from, not what it is about."""
_HEADINGS = 12
"""Tokens that a title and the headings of sections take, about."""
_NEAR = 0.6
_FORMER = 8.0
_THIN = 0.65
_FIRST = 100.0
_QUOTED = 40
"""Tokens that people's own words may take at least."""
_WORTHY = 1.5


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
    events = [replace(event, text=with_years(event.text, event.ts), chunks=()) for event in material.events]
    if not events:
        return None
    title = _given_title(material)
    most = tokens(clean(material).content)
    usual, firm = (min(room, most) for room in budget(sum(tokens(event.text) for event in events)))
    head = min(tokens(title) + _HEADINGS, usual // 4)
    told = [*_former(material), *_statements(events), *advice(events), *features(events)]
    kept = chosen(told, events, usual - head, firm - head)
    if _thin(kept, usual - head):
        room = max(usual - head, min(most + 4, _QUOTED))
        kept = chosen([*_ahead(kept, told), *quotes(events)], events, room, max(room, firm - head))
    bullets = _bullets(material, kept)
    while bullets:
        title = title or _made_title(material, bullets)
        plain = tuple(replace(bullet, section="") for bullet in bullets)
        for name, said in ((title, bullets), ("", bullets), ("", plain)):
            content = notation.write(name, said)
            if tokens(content) <= most:
                return Draft(Level.R3, content, said, _quality(kept, told))
        bullets = bullets[:-1]
    return None


def _thin(kept: Sequence[Statement], room: int) -> bool:
    """Whether so little can be told that people's own words say more."""
    return sum(tokens(one.text) for one in kept) < _THIN * room


def _ahead(kept: Sequence[Statement], told: Sequence[Statement]) -> list[Statement]:
    """What is told, with what was chosen of it before anything that is only quoted."""
    return [replace(one, worth=one.worth + _FIRST) if one in kept and one.worth > LEAST_WORTH else one for one in told]


def _quality(kept: Sequence[Statement], told: Sequence[Statement]) -> float:
    """How much of what could be told is told, by what it is worth."""
    known = {one.text: one.worth for one in told}
    shown = sum(known.get(one.text, one.worth) for one in kept)
    return round(min(1.0, shown / max(1.0, sum(known.values()))), 3)


def budget(size: int) -> tuple[int, int]:
    """Tokens of a summary for a thread of so many: as a rule, and at most where much of it must not be lost."""
    grown = _SLOWER * max(0, size - _SHORT)
    usual = max(_SHARE * min(size, _SHORT) + grown, min(_LEAST, _MOST_OF_LITTLE * size), min(_TINY, 1.3 * size))
    most = max(_MOST_SHARE * min(size, _SHORT) + grown, usual, min(_LEAST_FIRM, _MOST_OF_LITTLE * size))
    return min(LONGEST, round(usual)), min(LONGEST, round(most))


def _given_title(material: Material) -> str:
    body = material.item.body
    title = " ".join(body.title.split())[:100] if isinstance(body, Episode) else ""
    return "" if _FILE.fullmatch(title) else title


def _made_title(material: Material, bullets: Sequence[Bullet]) -> str:
    names = dict.fromkeys(name_of(event) for event in material.events)
    found = topics(
        telling([bullet.text for bullet in bullets]), [event.text[:2_000] for event in material.events], names
    )
    return ", ".join(found[:3])


def _former(material: Material) -> Iterable[Statement]:
    """What an earlier summary said, as far as it is still borne out."""
    places = {event.id: place for place, event in enumerate(material.events)}
    for bullet in material.bullets:
        found = tuple(places[event.id] for event in cited(bullet, material.events) if event.id in places)
        if found and supported(bullet, material.events):
            yield Statement(
                text=bullet.text,
                places=found,
                section=bullet.section or notation.FACTS,
                speaker="",
                worth=_FORMER,
                why=bullet.witnesses[0].reason,
            )


def _statements(events: Sequence[Event]) -> list[Statement]:
    """What can be told of a thread. What the rules of extraction settle in context, decisions, corrections, rules and
    answers, is told in their words; what they find worth keeping beside that counts for more."""
    names = speakers(events)
    drafts = read(events, frozenset(range(len(events))))
    chat = all(event.role != "assistant" for event in events)
    settled = [found for found in drafts if _settles(found) and not (chat and _CHEERS.search(found.text))]
    found = [_kept(draft, events) for draft in map(_terse, settled) if makes_sense(draft.text, names)]
    worthy: dict[int, list[frozenset[str]]] = {}
    for draft in drafts:
        worthy.setdefault(draft.witnesses[-1], []).append(stems([draft.text]))
    for told in retellings(events):
        own = stems([told.text])
        near = any(len(own & other) >= _NEAR * len(own) for other in worthy.get(told.places[0], ()))
        found.append(replace(told, worth=told.worth + _WORTHY) if near else told)
    return found


def _terse(found: Spoken) -> Spoken:
    return replace(found, text=unverbed(terse(found.text, found.speaker), found.said))


def _settles(found: Spoken) -> bool:
    if not found.decision and _SOMEBODY.search(found.said):
        return False  # whom it means is a guess
    return found.decision or found.corrects or len(found.witnesses) > 1 or bool(_RULE.search(found.text))


def _kept(found: Spoken, events: Sequence[Event]) -> Statement:
    section = notation.DECISIONS if found.decision else section_of(found.text, found.technical)
    worth = 4.0 + 2.0 * found.decision + 1.0 * found.firm + 1.0 * found.corrects - 0.7 * found.hedged
    day = events[found.witnesses[-1]].ts.date().isoformat()
    why = f"{'decision' if found.decision else 'said'} by {found.speaker} on {day}"
    return Statement(
        text=found.text,
        places=found.witnesses,
        section=section,
        speaker=found.speaker,
        worth=worth,
        why=why,
        corrects=found.corrects,
    )


def _bullets(material: Material, kept: Sequence[Statement]) -> tuple[Bullet, ...]:
    found = [
        Bullet(
            one.text,
            witnesses(material.item.id, [material.events[place] for place in one.places], one.why),
            one.section,
        )
        for one in kept
    ]
    borne = [bullet for bullet in found if supported(bullet, material.events)]
    return tuple(bullet for section in notation.SECTIONS for bullet in borne if bullet.section == section)
