"""What people said in their own words, for a thread of which little can be told otherwise."""

import re
from collections.abc import Iterator, Sequence

from recollect.domain.event import Event
from recollect.policy.distil import notation
from recollect.policy.distil.noise import is_noise
from recollect.policy.distil.sense import PASSING, content
from recollect.policy.distil.statement import Statement
from recollect.policy.secrets import redact
from recollect.policy.speech import idle
from recollect.policy.speech import turns as whole_turns
from recollect.policy.speech.sentences import Sentence, english
from recollect.policy.speech.speakers import is_person, name_of
from recollect.policy.speech.verbs import is_past
from recollect.policy.wording import fit

_SENTENCE = re.compile(r"[^.!?\n。！？]+[.!?。！？]*")  # noqa: RUF001
_LONGEST_TURN = 2_000
_LONGEST, _LEAST_WORDS, _LEAST_SIGNS = 200, 3, 12
_TOKEN = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_TELLER = re.compile(r"\b(?:I|we|my|our)\b|^(?:\w+ed|got|had|been|went|met|took|made|saw)\b", re.IGNORECASE)
_SELF = re.compile(r"I(?:['\u2019]\w+)?|OK|TV")
_WHEN = re.compile(
    r"\b(?:yesterday|today|tomorrow|tonight|ago|recently|(?:last|next|this) (?:week|month|year|night|weekend|spring|"
    r"summer|autumn|fall|winter|fri|sat|sun|mon|\w+day))\b",
    re.IGNORECASE,
)
_MOOD = re.compile(
    r"\b(?:agree|proud|grateful|thankful|vibes?|gone down|happened since|so much happiness|beyond words|power of|"
    r"importance of|taught me|reminded me|made me (?:feel|realize)|felt|speaking of|key to)\b|"
    r"\bsince we (?:\w+ )?(?:talked|chatted|chat|spoke|caught)\b|^(?:yeah|yep|yes|plus|even though|seems)\b",
    re.IGNORECASE,
)
_CALL = re.compile(r"^(?:(?:hey|hi|hello|oh|wow|well|so)\b,? ?)(?:[A-Z][a-z]+)?[,!]\s+")
_FELT = frozenset("felt was were had been thought loved wanted liked".split())
_LEAVING = re.compile(r"\b(?:off to|gotta (?:go|run)|talk (?:to you )?(?:soon|later)|no matter what)\b", re.IGNORECASE)
_TO_OTHERS = re.compile(
    r"\b(?:you|your|yours|yourself|you're|you've|you'll|congrats|congratulations|thanks|thank)\b|"
    r"^(?:it|that|this|they|these|those|so|and|but|which|wow|totally|absolutely|just|well|use|try|take|make)\b|"
    r"\b(?:them|they|he|she|him)\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"```.*?(?:```|$)|\[[a-z]+ [^\]\n]{3,200}\]", re.DOTALL)
_QUOTE = re.compile('["\u201c\u201d\u00ab\u00bb]')
_WORTH = 1.4


def quotes(events: Sequence[Event]) -> Iterator[Statement]:
    """The sentences of people that say something, quoted. What steers, and what nobody said who is trusted, is not."""
    names = frozenset(part for event in events for part in name_of(event).lower().split())
    for place, event in enumerate(events):
        if not is_person(event) or is_noise(event, events[place - 1] if place else None):
            continue
        text = _CODE.sub(" ", redact(event.text[:_LONGEST_TURN]).text)
        if whole_turns.injects(text) or whole_turns.prompts(text):
            continue
        for found in _SENTENCE.findall(text):
            said = _CALL.sub("", _QUOTE.sub("'", " ".join(found.split())))
            if not _telling(said, names):
                continue
            day = f"On {event.ts:%B} {event.ts.day}, {event.ts.year}, " if _WHEN.search(said) else ""
            quoted = fit(f'{day}{name_of(event)} said: "{said}"')
            if quoted:
                yield Statement(
                    text=quoted,
                    places=(place,),
                    section=notation.FACTS,
                    speaker=name_of(event),
                    worth=_WORTH + 0.1 * min(len(content(said, names)), 6),
                    why=f"said by {name_of(event)} on {event.ts.date().isoformat()}",
                )


def _telling(said: str, names: frozenset[str]) -> bool:
    """Whether a sentence tells something of who says it: no question, no praise of who is spoken to."""
    if len(said) > _LONGEST or said.endswith("?") or len(said) < _LEAST_SIGNS:
        return False
    if not english(Sentence(said)):
        return True
    if _TO_OTHERS.search(said) or _LEAVING.search(said) or PASSING.search(said) or idle.points(Sentence(said)):
        return False
    return len(content(said, names)) >= _LEAST_WORDS and _happened(said, names)


def _happened(said: str, names: frozenset[str]) -> bool:
    """Whether somebody tells what was or is to be, rather than what holds for everybody: a deed, a day, a name."""
    if _MOOD.search(said):
        return False
    tokens = _TOKEN.findall(said)
    if any(sign.isdigit() for sign in said) or _WHEN.search(said):
        return True
    if any(word[0].isupper() and word.lower() not in names and not _SELF.fullmatch(word) for word in tokens[1:]):
        return True
    return bool(_TELLER.search(said)) and any(is_past(word.lower()) and word.lower() not in _FELT for word in tokens)
