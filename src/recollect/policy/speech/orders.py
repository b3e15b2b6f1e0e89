"""Orders that last, told as what somebody asked for."""

import re

from recollect.policy.speech.phrasing import Voice, retold
from recollect.policy.speech.referents import possessive
from recollect.policy.speech.sentences import Sentence
from recollect.policy.speech.verbs import is_doing

_FROM_NOW = re.compile(
    r"^(?:from now on|going forward|in (?:the )?future|as of now|by default|generally),?\s+(?:please\s+)?",
    re.IGNORECASE,
)


def ordered(text: str, voice: Voice) -> str:
    """An order to the assistant, told as what somebody asked for."""
    speaker = voice.speaker
    text = _FROM_NOW.sub("", text)
    low = text.lower()
    if found := re.match(r"you (?:can|may|should|must|have to|need to) ", low):
        return f"{speaker} asked to {retold(text[found.end() :], voice)}"
    if found := re.match(r"(?:let's|lets|let us)\s+(?:please\s+)?", low):
        return f"{voice.we[0].upper()}{voice.we[1:]} decided to {retold(text[found.end() :], voice)}"
    if found := re.match(r"remind me (?:to|that|about|of)\s+", low):
        word = found.group().split()[2]
        return f"{speaker} wants a reminder {word} {retold(text[found.end() :], voice)}"
    if found := re.match(r"call me\s+", low):
        return f"{speaker} wants to be called {retold(text[found.end() :], voice)}"
    if found := re.match(r"(?:remember|note|don't forget|do not forget)\s+to\s+", low):
        return f"{speaker} has to {retold(text[found.end() :], voice)}"
    if found := re.match(r"(?:don't forget|do not forget|remember|note)\s+(?:about\s+)?", low):
        return f"{speaker} noted {retold(text[found.end() :], voice)}"
    if found := re.match(r"(?:don't|do not|dont)\s+(?:ever\s+)?", low):
        return f"{speaker} asked not to {retold(text[found.end() :], voice)}"
    rest = retold(text[0].lower() + text[1:] if not text[:2].isupper() else text, voice)
    if found := re.match(r"(?:no|nothing)\s", low):
        return f"{possessive(speaker)} rule: {rest}" if _RULED.match(low) else f"{speaker} wants {rest}"
    if low.startswith(("whenever ", "when ", "if ", "for ", "with ", "in ")):
        return f"{possessive(speaker)} rule: {rest}"
    if low.startswith(("always ", "never ")):
        return f"{possessive(speaker)} rule is to {rest}"
    return f"{speaker} asked to {rest}" if is_order(rest) else f"{possessive(speaker)} rule: {rest}"


def allows(text: str) -> bool:
    """Whether a sentence says what somebody may do: to another person that is no order."""
    return bool(re.match(r"you (?:can|may)\b", text, re.IGNORECASE))


def wanted(said: Sentence) -> bool:
    """Whether a sentence without a verb says how something is to be: "short answers only"."""
    return said.says("always", "never", "only", "please", "ever") and said.words[0] not in ("the", "a", "an", "my")


def is_order(text: str) -> bool:
    """Whether a text begins with the verb of an order: "all letters go to her" does not."""
    first, *_ = re.findall(r"[\w'-]+", text.lower()) or [""]
    return first not in _NO_VERBS and not is_doing(first)


_RULED = re.compile(r"(?:no|nothing)\s(?:[\w'-]+\s){0,6}(?:may|must|can|should|gets?|goes|is|are|shall|leaves?)\s")
_NO_VERBS = frozenset(
    """a an the all any both each every everything everyone everybody nobody nothing no one two three this that these
    those anything my our your his her their its i we you he she it they only""".split()
)
