"""A statement as key and value: what it is about, and what it says of that.

A newer value of the same key takes the place of the older one, so a key is given only where there can be one
value at a
time: somebody lives in one place, a lease ends on one day. What somebody likes, has or decided is many things.
"""

import re

_LINK = re.compile(
    r"^(?P<key>[^,;:]{2,70}?)\s+(?P<verb>is|are|was|lives in|lives at|works (?:at|as|for|nights at)|moved to|"
    r"listens on|"
    r"expires on|expires|ends on|starts on|starts at|starts in|runs at|runs on|is called|is named|is on leave until|"
    r"uses the pronouns|wants to be called)\s+(?P<value>.+?)\.?$",
    re.IGNORECASE,
)
_STATIVE = frozenset({"is", "are", "was"})
_OWNED = re.compile(r"(?:[\w-]+['\u2019]s\s+\S|the\s+(?!team\b|user\b|assistant\b|person\b)\S)", re.IGNORECASE)
_BECOMING = re.compile(r"(?:\w+ing|not|no|being|still|also|about|going|one)\b", re.IGNORECASE)
_PLAIN = re.compile(r"[^\w' -]+")


def keyed(text: str) -> tuple[str | None, str | None]:
    """The key under which a newer statement about the same matter is found, and the value.

    "Mara's locker number is 214." is `mara's locker number` and `214`. None, None: no such reading.
    """
    match = _LINK.match(text.split(". ")[0])
    if not match:
        return None, None
    verb = match["verb"].lower()
    if verb in _STATIVE and (not _OWNED.match(match["key"]) or _BECOMING.match(match["value"])):
        return None, None
    key = match["key"] if verb in _STATIVE else f"{match['key']} {verb}"
    key = " ".join(_PLAIN.sub(" ", key.lower()).split())
    return (key, match["value"]) if key else (None, None)
