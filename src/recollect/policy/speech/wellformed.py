"""Whether a sentence told in the third person reads well: nobody is named over and over, and nothing breaks off."""

import re
from collections import Counter

_DANGLING = re.compile(
    r"\b(?:is|are|was|were|be|been|the|a|an|of|with|and|or|but|because|when|if|as|than|which|who|my|into|express|make|"
    r"just|will|has|had|not|means?)[.,:;]?$|\b(?:on|of|with) for\b",
    re.IGNORECASE,
)
_ASSISTANT = re.compile(r"\bthe assistant\b(?! must\b| may not\b)", re.IGNORECASE)
_OPENS = re.compile(
    r"(?:(?:hey|hi|hello|oh|nah|nope|at least|best of all|on (?:a different|another) note|as for me|wow|whoa|woah|"
    r"yeah|yep|"
    r"yes|man|aww?|haha|well|unfortunately|fortunately|luckily|anyway|"
    r"thankfully|however|plus|also|honestly|actually|btw|but|and|so(?! far)|lately|in the meantime|"
    r"(?:great|good|big|bad|exciting|sad|amazing) news)\b\s*[,!.:\u2013\u2014-]*\s+)+",
    re.IGNORECASE,
)
_PHRASE = re.compile(r"\b(?:the|[\w-]+'s)\s+[\w-]+(?:\s+[\w-]+)?", re.IGNORECASE)
_A_THE = re.compile(r"\ban?\s+([\w-]+(?:\s[\w-]+)?)\b.*\bthe\s+\1\b", re.IGNORECASE)
_CUTS = (", so ", ", but ", "; ", " - ", " \u2013 ", ", and ", ", which ", " because ", " so ", " and ", " when ", ", ")
_MOST_NAMED = 3
_LONG = 24


def elided(text: str, speaker: str) -> str:
    """The sentence without the subject named again behind "and": "Jon sings and Jon dances" is "Jon sings and
    dances"."""
    if not text.lower().startswith(f"{speaker.lower()} "):
        return text
    again = re.compile(rf",? (and|but) {re.escape(speaker)} (?!'|and\b|or\b)", re.IGNORECASE)
    return again.sub(lambda match: f" {match[1]} ", text)


def opened(text: str, listener: str) -> str:
    """The sentence without the greeting or sigh in front, and without the name of who is spoken to."""
    found = _OPENS.match(text)
    rest = text[found.end() :] if found else text
    if listener and listener != "the assistant":
        called = rf"{re.escape(listener[:3])}\w*"
        rest = re.sub(rf"^(?:hey |hi )?{called}[,!.]+\s+", "", rest, flags=re.IGNORECASE)
        rest = re.sub(rf",\s+{called}(?=[.!?]*$)", "", rest, flags=re.IGNORECASE)
        rest = _OPENS.sub("", rest, count=1) if _OPENS.match(rest) else rest
    return rest[0].upper() + rest[1:] if rest and rest != text and rest[0].islower() else rest


def tidy(text: str, speaker: str, *, twice: bool) -> str:
    """The sentence up to where it names the speaker too often, or "" where that leaves nothing whole. `twice`: other
    things may be named again once."""
    text = elided(text, speaker)
    while _named(text, speaker) > _MOST_NAMED or _again(text, speaker) > twice:
        cut = max(text.rfind(mark) for mark in _CUTS)
        if cut < 0 or len(text[:cut].split()) < 4:
            return ""
        text = text[:cut]
    return text


def _named(text: str, speaker: str) -> int:
    return len(re.findall(rf"(?<!\w){re.escape(speaker)}(?!\w)", text, re.IGNORECASE))


def _again(text: str, speaker: str) -> int:
    """How often a noun phrase is said again, as happens where a pronoun was replaced clumsily. A long one counts
    more."""
    bare = re.sub(rf"(?<!\w){re.escape(speaker)}(?!['\w])", "", text, flags=re.IGNORECASE)
    said = Counter(match.group().lower() for match in _PHRASE.finditer(bare))
    again = sum((count - 1) * (1 + (len(phrase) > _LONG)) for phrase, count in said.items())
    return again + bool(_A_THE.search(bare))


def broken(text: str) -> bool:
    """Whether a text breaks off, has a day for its subject, or tells what the assistant is or does."""
    return bool(_DANGLING.search(text.rstrip(" .")) or _DAY_FIRST.match(text) or _ASSISTANT.search(text))


_DAY_FIRST = re.compile(
    r"(?:On|In)\b[^,]{0,40}(?:, [A-Z]\w+ \d\d?)?(?:, )?\d{4}(?:'s|,?\s(?:was|is(?! the| my| \w+'s)|are|were|has|had|"
    r"will|works?|sounds?)\b)"
)


def says_nothing(text: str) -> bool:
    """Whether a short text ends in a word that points elsewhere: "Mara will go with that"."""
    return (len(text.split()) < 8 and bool(_POINTING.search(text))) or bool(_BARE_DECISION.search(text))


_BARE_DECISION = re.compile(r"\bdecided to \w+\.?$", re.IGNORECASE)
_POINTING = re.compile(r"\b(?:that|this|those|these|one|so)\.?$", re.IGNORECASE)
