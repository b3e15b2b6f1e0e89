"""Parts of a sentence: what of it is decided, what leans on the sentence before, what must be left out."""

import re

from recollect.policy.speech.sentences import Sentence
from recollect.policy.speech.talk import Talk

_HIDDEN = "[redacted:"


def decided_part(sentence: Sentence) -> Sentence:
    """The sentence without an afterthought that leaves it open, and without the question that a statement leads to."""
    text = _OPEN_END.sub("", sentence.text) if "," in sentence.text else sentence.text
    if text.rstrip().endswith("?") and (found := _LEADS_TO.search(text)) and len(text[: found.start()].split()) >= 4:
        text = text[: found.start()]
    return sentence if text == sentence.text else Sentence(text)


_OPEN_END = re.compile(r",\s*(?:maybe|perhaps|i guess|probably|not sure)\b[^.?!]*", re.IGNORECASE)
_LEADS_TO = re.compile(
    r"(?:,|\s[-\u2013—]|;|\.\.\.|\band)\s+(?:so |and )?(?:what|how|which|where|when|who|why|can|could|do|does|"
    r"should|is there|are there|any|will|would|have) ",
    re.IGNORECASE,
)


OCCASION = re.compile(
    r"\b((?:my|his|her|their|our|[A-Z]\w+'s)\s(?:[\w'-]+\s){0,3}(?:birthday|wedding|anniversary|exam|surgery|"
    r"operation|appointment|flight|interview|graduation|trip|move|party))"
    r"\s(on|in|at)\s([^,?!]{2,40})"
)
"""A day that belongs to somebody: "his birthday on 2 May"."""
AFTERTHOUGHT = re.compile(
    r",\s+(?:sorry|because|since|as)?,?\s*((?:\w+\s){1,3}(?:is|was|has|are)\s[^,]+)$", re.IGNORECASE
)
"""What a correction adds: "…, sorry, Tuesday is the dentist"."""
_PRONOUNS = re.compile(
    r"(?<![\w/])((?:they/them|she/her|he/him|xe/xem|ze/zir|she/they|he/they|they/she|they/he)(?:/\w+)?)(?!\w)",
    re.IGNORECASE,
)
_RATHER = re.compile(r"\b(?:it's|it is|i go by|i'm|my name is|call me)\s+([A-Z][\w'-]+),?\s+not\s+([A-Z][\w'-]+)")


def goes_by(text: str, speaker: str) -> str | None:
    """How somebody wants to be spoken of: the pronouns, and the form of the name."""
    parts: list[str] = []
    if "/" not in text and " not " not in text:
        return None
    if (found := _PRONOUNS.search(text)) and re.search(
        r"\b(?:me|my|i|i'm|mine|pronouns)\b|please", text, re.IGNORECASE
    ):
        parts.append(f"uses the pronouns {found[1].lower()}")
    if (found := _RATHER.search(text)) and (found[1] in speaker or found[1][:3] == found[2][:3]):
        parts.append(f"wants to be called {found[1]}, not {found[2]}")
    return f"{speaker} {' and '.join(parts)}" if parts else None


DISMISSES = re.compile(r"(?:actually,?\s+)?(?:no,?\s+)?forget\s+(?:about\s+)?([A-Z]\w+),\s+", re.IGNORECASE)
EXPLETIVE = re.compile(
    r"it(?:'s| is| was) (?:so |really |very |quite )?[^\W\d]+ (?:to|that|when|how|what)\b", re.IGNORECASE
)
"""A sentence whose "it" means nothing: "It was special to watch"."""
OWN = re.compile(r"\b(?:i|my|me|we|our|us)\b", re.IGNORECASE)
LEANS = re.compile(
    r"(?:he|she|it|they|her|his|its|their|that|this|these|those|same|both|him|them)(?:'s|'re|'ll)?\b", re.IGNORECASE
)
"""A sentence that begins with somebody or something named before."""
"""The speaker speaks of himself, herself or their own."""
"""Puts somebody or something aside before a statement: "forget Jenkins, …"."""
BARE = re.compile(
    r"(?!(?:My|Our|The|I|We|A|An|In|On|At|For|When|And|But|So|No)\b)[A-Z][a-z]+(?: [a-z]+)? (?:is|was|are|"
    r"were|will|starts?|ends?)\b"
)
"""A sentence about something that is not said whose it is: "Moving day is …"."""


def matter(text: str) -> set[str]:
    """The words of a statement that say what it is about."""
    return {word for word in Sentence(text).words if len(word) > 3}


def elliptic(text: str) -> bool:
    """Whether a correction gives little but the value: "it's 6,500 euros", "Thursday, not Friday"."""
    first = text.split(".")[0]
    return len(first.split()) <= 8 or bool(
        re.match(r"(?:it|that)(?:'s| is| should)|make (?:it|that)|i meant", first, re.IGNORECASE)
    )


def riddle(said: list[Sentence], kinds: list[Talk]) -> bool:
    """A question that its asker answers right away, in a word: a joke."""
    return (
        1 < len(said) <= 3
        and kinds[0] is Talk.QUESTION
        and said[0].words[0] in ("why", "what", "how", "who", "what's")
        and all(
            kind is Talk.STATEMENT and len(sentence.words) <= 9
            for sentence, kind in zip(said[1:], kinds[1:], strict=True)
        )
        and not any(re.search(r"\b(?:i|my|we|our)\b|\d", sentence.text, re.IGNORECASE) for sentence in said)
    )


def without_hidden(text: str) -> str:
    """The sentence without the clause that held a secret."""
    if _HIDDEN not in text:
        return text
    parts = re.split(r"(?<=[^\w])(?:and|but)\s+|[,;]\s+", text)
    kept = [part.strip() for part in parts if _HIDDEN not in part and not part.endswith("[redacted:")]
    return ", ".join(part for part in kept if "redacted" not in part and len(part.split()) > 2)


def labelled(label: str) -> str:
    """What a label is about: "Car stuff" is about the car."""
    if re.search(r"[A-Z]\w+'s", label):
        return label
    words = [
        word
        for word in re.findall(r"[\w-]+", label)
        if word.lower() not in ("stuff", "things", "info", "update", "details", "about")
    ]
    return f"the {' '.join(words[:3]).lower()}"


def main_clause(text: str) -> str:
    """The sentence up to the clause that goes on with a pronoun."""
    found = re.search(
        r"[,;:—\u2013-]?\s+(?:and|but|so|because|since|as|when|while|which)?\s*\b(?:it|its|they|them|their|he|she|"
        r"him|her|his)\b",
        text,
        re.I,
    )
    if not found:
        return text
    head = text[: found.start()]
    cut = max(head.rfind(mark) for mark in (", ", "; ", ": ", " because ", " so ", " and ", " but "))
    whole = re.match(r"[,;:—\u2013-]|\s+(?:and|but|so|because|since|as|when|while|which)\s", found.group())
    best = head if whole else head[:cut] if cut > 0 else ""
    return best if len(best.split()) >= 4 else ""


def last_clause(text: str) -> str:
    """The clause behind the first comma, where it can stand by itself."""
    _, _, rest = text.partition(", ")
    return (
        rest if len(rest.split()) >= 4 and re.match(r"(?:\w+ ){1,3}(?:is|are|was|has|will|must|needs)\b", rest) else ""
    )
