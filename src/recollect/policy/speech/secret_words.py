"""Sentences that give a secret away in words that no pattern of secrets knows: "the wifi is …", "ana / Gull!1903".

What is taken out of every text is said in `policy.secrets`; a memory is made of less than that.
"""

import re

_ODD = (
    r"(?=\S*[^\W\d_])(?=\S*\d)[^\s!#$%&*_@-]*+[!#$%&*_@-]|"
    r"[^\s!#$%&*]*+[!#$%&*](?:(?![^\W\d_])\S)*+[^\W\d_]"
)
"""A word that is made up to be hard to guess: letters, digits and signs."""
_LOCKS = (
    r"wi-?fi|wlan|password|passphrase|passcode|pass|pwd|pw|login|log(?:ged)? in|sign in|credentials?|pin|otp|2fa|"
    r"key(?:pad| ?code|[ -]?box)|lockbox|combination|safe|alarm|unlock\w*|(?:door|gate|entry) ?code|bank ?id|token|"
    r"bearer|secret|smtp_pass|nas|router|netflix|api key|key for|admin|root"
)
_NUMBERED = (
    r"pin|otp|2fa|passcode|lockbox|key(?:pad|[ -]?box)|combination|alarm|bank ?id|password|unlock\w*|safe|door|gate"
)
_AMOUNT = r"\s?(?:%|km|m|eur|euros?|dollars?|people|users)"
_PLAIN = re.compile(  # years and names that look like a secret
    r"\b(?:of|in|since|by|until|jan\w*|feb\w*|march|april|may|june?|july?|aug\w*|sept?\w*|oct\w*|nov\w*|dec\w*)\s"
    r"[12]\d\d\d\b|\bfritz!box(?: \d{4})?|\b[A-Z]&[A-Z]\b",
    re.IGNORECASE,
)
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:{_LOCKS})\b.{{0,60}}?(?<!\S)['\"`(]?(?:{_ODD})",
        rf"\b(?:{_NUMBERED})\b[^.\d]{{0,40}}(?<![\d.,:/-])\d{{4,8}}\b(?!{_AMOUNT})",
        rf"(?<!\S)[\w.@-]+\s/\s(?:{_ODD}|(?=\S*[^\W\d_])(?=\S*\d)\w{{8,}})",
        r"\b(?:recovery|backup|door|gate|entry|access|key) codes?(?:\s(?:is|are)|:)\s*\S*\d",
        r"(?:key|token|secret|pass|password)\s?=\s?\S{8}",
        r"\b(?:left|right)\s\d+\W+(?:to\s)?(?:left|right)\s\d+",
        r"\bcode\b[^.]{0,30}\bis\s*\d{3}\s?\d{3}\b",
        rf"(?<!\S)-p(?:{_ODD}|[^\sA-Z_]*+[A-Z_]\S*\d)",
        r"\bbearer\s+\S{12,}",
        r"\b(?:passphrase|password)\b.{0,40}[:=]\s*\S",
    )
)


def gives_away(text: str) -> bool:
    """Whether a sentence holds what opens a door, an account or a machine."""
    text = _PLAIN.sub(" ", text)
    return any(pattern.search(text) for pattern in _PATTERNS)
