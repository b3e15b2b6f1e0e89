"""Orders to an assistant that stand in what it reads: whoever wrote them, nothing is remembered of them."""

import re

from recollect.policy.speech.orders import ordered

_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:ignore|disregard|forget) (?:all |any |the |your |every |everything )*(?:previous|prior|above|earlier|"
        r"other|former|instructions|rules|you)\b",
        r"\b(?:ai|llm|language model|coding|chat)[ -]?(?:assistants?|agents?|models?|bots?)\b.{0,40}\b(?:must|should|"
        r"shall|save|remember|store|are to|have to|reading|processing)\b",
        r"\b(?:note|message|instructions?|attention|notice) (?:to|for) (?:all |any |the |every |coding )*(?:ai|llm|"
        r"assistants?|agents?|bots?|models?)\b",
        r"\b(?:obey|obeys|obeying) (?:only|nobody|no one)\b|\bonly obey\b|\byou (?:now )?obey\b",
        r"\bfrom now on\b.{0,40}\bobey\b",
        r"\b(?:permanent|hidden|override|new system|secret) (?:rule|instruction|directive|prompt|command|phrase)s?\b",
        r"\bsystem prompt\b|\bdeveloper mode\b|\bjailbreak",
        r"\byou are now (?:an?|the|my|in|free|unrestricted|(?-i:[A-Z])\w+)\b",
        r"\b(?:delete|erase|wipe|forget) (?:all|every|any) (?:memor|record|fact|note)",
        r"\b(?:do not|don't|never) (?:tell|inform|alert) (?:the )?(?:user|owner)\b",
        r"\b(?:the user|owner) (?:has |have )?(?:approved|authori[sz]ed|consented to|pre-approved) (?:all|any|every)\b",
        r"\b(?:wire|transfer|forward|exfiltrate|upload|send) (?:all|every|any|the user's) (?!of us)\w+.{0,60}\bto\b",
        r"<\|?(?:im_start|system|endoftext|inst)|\[/?inst\]|(?:^|\n)system ?: ",
    )
)


def planted(text: str) -> bool:
    """Whether a text tries to tell an assistant what it is, what it may do or whom it serves."""
    text = text[:20_000].replace("’", "'")  # noqa: RUF001
    return any(pattern.search(text) for pattern in _PATTERNS) or ordered(text)
