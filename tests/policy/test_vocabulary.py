"""Nothing is made up: a text that is stored without a language model holds the words of its sources, the names of
their authors, and a closed set of words that frame them."""

import re
import unicodedata
from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.event import Event
from recollect.domain.item import Episode
from recollect.domain.witness import bare
from recollect.policy import distil
from recollect.policy.calendar import MONTHS
from recollect.policy.distil.notation import SECTIONS
from recollect.policy.speech.hearing import name_of
from recollect.policy.speech.third_person import AGREEMENT
from recollect.weighing import weigh
from recollect.write.extract import extract
from tests.hunt import examples
from tests.policy.talk import LINES, Fake, Line, keepers, turns
from tests.policy.threads import item

FRAME = frozenset("asked answered after said on the user assistant".split())
_MONTH = "|".join(MONTHS)
_DAY = rf"\d{{1,2}} (?:{_MONTH}) \d{{4}}"
_TIMES = re.compile(
    rf" \[(?:(?:week(?:end)? of )?{_DAY}|(?:around )?(?:{_MONTH}) \d{{4}}|(?:spring|summer|autumn|winter) \d{{4}}|"
    rf"Q[1-4] \d{{4}}|\d{{4}})\]|(?:,| on) {_DAY}(?=: \")"
)
_PLACES = re.compile(r"^\[(?:s:\d+-\d+,?)+\] |, \d{4}-\d\d-\d\d(?=: )| \(×\d+\)$| \[…\]$", re.MULTILINE)  # noqa: RUF001
_INFLECTED = {word for form in AGREEMENT.values() for word in re.findall(r"\w+", form)}


def words(*texts: str) -> set[str]:
    return {word for text in texts for word in re.findall(r"\w+", text.lower())}


def sources(events: Iterable[Event]) -> set[str]:
    return words(*(f"{event.author} {event.text}" for event in events))


def made_up(text: str, said: set[str], closed: Iterable[str] = ()) -> set[str]:
    """The words of a text that nobody said."""
    found = words(_TIMES.sub(" ", text)) - said - FRAME - set(closed) - _INFLECTED - {"s"}
    return {word for word in found if not (word.endswith("s") and word[:-1] in said)}


@settings(max_examples=examples(300), deadline=None)
@given(LINES, keepers())
def test_a_memory_holds_no_word_that_its_witnesses_do_not(lines: list[Line], keeper: Fake):
    events = turns(*lines)
    for one in extract(events, frozenset(range(len(events))), keeper):
        assert not made_up(one.served, sources(events[place] for place in one.witnesses))
        assert not made_up(one.text, sources(events[place] for place in one.witnesses))


def material(lines: list[Line], keeper: Fake, title: str = "") -> distil.Material:
    events = turns(*lines)
    of = item(Episode(title=title))
    assert of.id == events[0].item_id
    return distil.Material(of, events, weights=weigh(events, range(len(events)), keeper))


@settings(max_examples=examples(200), deadline=None)
@given(LINES, keepers(), st.sampled_from(["", "Boat repairs", "notes.md"]))
def test_a_summary_says_nothing_that_no_event_says(lines: list[Line], keeper: Fake, title: str):
    whole = material(lines, keeper, title)
    found = distil.summarise(whole)
    if found is None:
        return
    said = sources(whole.events)
    for bullet in found.bullets:
        assert not made_up(bullet.served, sources(distil.cited(bullet, whole.events)))
        assert {name_of(event) for event in distil.cited(bullet, whole.events)} & {
            bullet.quotation.speaker if bullet.quotation else name_of(distil.cited(bullet, whole.events)[-1])
        }
    assert not made_up(bare(distil.served(found.content, found.bullets)), said | words(title), words(*SECTIONS))


@settings(max_examples=examples(200), deadline=None)
@given(LINES, keepers(), st.sampled_from(["", "Boat repairs"]))
def test_log_packet_and_trace_hold_nothing_else_either(lines: list[Line], keeper: Fake, title: str):
    whole = material(lines, keeper, title)
    said = sources(whole.events)
    initials = {name_of(event)[0].lower() for event in whole.events} | {
        event.author[0].lower() for event in whole.events
    }
    assert not words(_PLACES.sub("", distil.clean(whole).content)) - said - initials
    found = distil.summarise(whole)
    if found is None:
        return
    packet = distil.packet(whole.item, found.content, found.bullets)
    told = words(title, *(bullet.served for bullet in found.bullets)) | said
    assert not words(packet) - told - FRAME or packet.endswith("…")
    for word in distil.trace(whole.item, packet, found.content).split("_"):
        assert any(folded(one).startswith(word) for one in told | FRAME | {"episode"}), word


def folded(word: str) -> str:
    plain = unicodedata.normalize("NFKD", word.lower())
    return "".join(sign for sign in plain if not unicodedata.combining(sign))
