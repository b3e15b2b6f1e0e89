"""What an assistant gave, in one line: the points it made, where somebody took them up or they are the outcome."""

import re
from collections.abc import Iterator, Sequence

from recollect.domain.event import Event
from recollect.policy.distil import notation
from recollect.policy.distil.sense import ORDERS
from recollect.policy.distil.statement import Statement
from recollect.policy.distil.support import stem, words
from recollect.policy.secrets import redact
from recollect.policy.speech import idle
from recollect.policy.speech.dated import dated
from recollect.policy.speech.phrasing import Voice, expanded, retold
from recollect.policy.speech.referents import Referents
from recollect.policy.speech.sentences import Sentence, sentences
from recollect.policy.speech.speakers import ASSISTANT, is_person
from recollect.policy.speech.turns import injects
from recollect.policy.wording import fit

_LONGEST = 20_000
_HEADING = re.compile(r"^\s*#{2,6}\s+([^\n]{3,80})", re.MULTILINE)
_ITEM = re.compile(r"^(?:\d{1,2}[.)]|[-*•])\s+\*\*([^*\n]{3,60}?):?\*\*", re.MULTILINE)
_NUMBERED = re.compile(
    r"^(?:\d{1,2}[.):]\s*)?(?:(?:step|part|phase|week|day|option|section|tip|strategy|example)\s*\d+\s*[:.)-]*\s*)?",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"(?:example|sample|updated|full|complete|final|additional|key|general|overall|next|summary|conclusion|explanation|"
    r"notes?|tips?|usage|steps?|overview|introduction|considerations?|improvements?|recommendations?|breakdown|"
    r"analysis|"
    r"implementation|code|enhanced|current|structure|suggestions?|strategies|details|output|result|how|why|benefits?|"
    r"pros|"
    r"cons|scenario|by|sure|certainly|revised|detailed)\b",
    re.IGNORECASE,
)
_TAKEN = re.compile(
    r"\b(?:sure|yes|yeah|great|perfect|sounds good|makes sense|thanks|thank you|i'll|i will|let's|good idea|got it|"
    r"i like|"
    r"that works|agreed|okay|ok)\b",
    re.IGNORECASE,
)
_DECLINES = re.compile(r"(?:no\b|nope|nah|hmm|not (?:now|yet|really|sure)|but\b|actually,? no)", re.IGNORECASE)
_RECOMMENDS = re.compile(
    r"\b(?:I(?:'d| would)? (?:strongly |highly )?(?:recommend|suggest|advise)(?: that)?(?: you| to)?|(?:the|"
    r"my) (?:best|"
    r"recommended|simplest|safest) (?:option|choice|approach|solution|way) (?:is|would be)(?: to)?|you should (?=use|"
    r"go with|"
    r"choose|switch))\s+(?P<what>(?:[^.?!\n:]|\.(?=\S)){8,140})",
)
_POINTING = re.compile(
    r"\b(?:I|you|your|it|its|this|that|these|those|them|they|we|us|our|here|there|below|following)\b", re.IGNORECASE
)
_DONE = re.compile(
    r"(?:done|fixed|all set|sent|booked|confirmed)[:,!.]\s+(?P<what>[^?]{12,200})|"
    r"I(?:(?:'ve| have)? (?:just |now |also |already )?)(?P<deed>(?:replaced|implemented|refactored|rewrote|reverted|"
    r"committed|pushed|installed|configured|migrated|extracted|restarted|restored|published|disabled|enabled|"
    r"added|created|sent|fixed|updated|changed|removed|"
    r"booked|cancelled|"
    r"refunded|deployed|merged|moved|renamed|opened|closed|filed|scheduled|set|written|made|run|saved|deleted|"
    r"uploaded|issued) "
    r"[^?]{8,200})",
    re.IGNORECASE,
)
_MOST_POINTS, _LEAST_POINTS = 4, 2
_WORTH, _OUTCOME, _DEED = 1.6, 2.6, 7.5


def advice(events: Sequence[Event]) -> Iterator[Statement]:
    """What the assistant's turns came to. A turn that nobody took up says nothing, nor does one that steers."""
    for place, event in enumerate(events):
        if event.role != "assistant":
            continue
        text = redact(event.text[:_LONGEST]).text
        if injects(text):
            continue
        done = _done(text, event)
        told = done or (_taken_up(events, place) and (_recommended(text) or _outlined(text))) or None
        if told and (worded := fit(told)):
            yield Statement(
                text=worded,
                places=(place,),
                section=notation.DONE,
                speaker=ASSISTANT,
                worth=_DEED
                if done
                else _WORTH
                if re.match(r"The assistant (?:covered|advised)", worded) and place < len(events) - 1
                else _OUTCOME,
                why=f"given by the assistant on {event.ts.date().isoformat()}",
            )


def _taken_up(events: Sequence[Event], place: int) -> bool:
    """Whether somebody goes on from a turn, in its words or by saying so; the last one is the outcome."""
    after = next((event for event in events[place + 1 :] if is_person(event)), None)
    if after is None:
        return place == len(events) - 1
    if _TAKEN.search(after.text[:80]) and not _DECLINES.match(after.text):
        return True
    said = {stem(word) for word in words(events[place - 1].text)} if place else set[str]()
    new = {stem(word) for word in words(events[place].text[:_LONGEST])} - said
    return len({word for word in words(after.text[:600]) if len(word) > 4 and stem(word) in new}) >= 4


def _done(text: str, event: Event) -> str | None:
    """What the assistant says that it did: "Done: …", "I've added …"."""
    for sentence in sentences(text[:2_000]):
        said = re.sub(r"\bour\b", "the", sentence.text)
        if found := _DONE.match(said):
            rest = expanded(found["what"] or f"I {found['deed']}")
            told = dated(retold(rest, Voice(ASSISTANT, "the assistant", Referents(), you="the user")), event.ts).text
            worded = fit(told)
            return worded if worded and not idle.points(Sentence(worded)) else None
    return None


def _recommended(text: str) -> str | None:
    for sentence in sentences(text[:4_000]):
        found = _RECOMMENDS.search(sentence.text)
        if found and not _POINTING.search(found["what"]):
            return f"The assistant recommended {found['what'].strip()}"
    return None


def _outlined(text: str) -> str | None:
    """The headings of an answer, or what its list is set with: all things, or all things to do."""
    for form in (_HEADING, _ITEM):
        points = list(dict.fromkeys(point for found in form.findall(text) if (point := _point(found))))
        orders = [point for point in points if point.split()[0] in ORDERS]
        things = [point for point in points if point.split()[0] not in ORDERS]
        if len(orders) >= _LEAST_POINTS and len(orders) >= len(things):
            return f"The assistant advised to {_listed(orders[:_MOST_POINTS])}"
        if len(things) > _LEAST_POINTS:
            return f"The assistant covered {_listed(things[:_MOST_POINTS])}"
    return None


def _listed(points: Sequence[str]) -> str:
    return f"{', '.join(points[:-1])} and {points[-1]}"


def _point(found: str) -> str | None:
    point = _NUMBERED.sub("", found.replace("*", "").replace("`", "").strip(" :.#-")).strip(" :.-")
    if len(point.split()) > 6 or len(point) < 4 or _EMPTY.match(point) or _POINTING.search(point):
        return None
    if re.search(r"[?!{}<>=\[\]|/\\]|\.\w|\d$", point) or not point[0].isalpha():
        return None
    return " ".join(_lower(word) for word in point.split())


def _lower(word: str) -> str:
    """A word of a heading as it stands in a sentence: "Sizing" is no name, "AI" and "JavaScript" are."""
    return word.lower() if word[1:].islower() or len(word) == 1 else word
