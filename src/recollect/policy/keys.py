"""A statement as key and value: what it is about, and what it says of that."""

import re

_LINK = re.compile(
    r"^(?P<key>.{2,90}?)\s+(?P<verb>is|are|was|were|has|have|lives in|works (?:at|as|for|in)|moved to|prefers|"
    r"wants|needs|uses|"
    r"decided to|decided|likes|loves|hates|drives|speaks|plays|owns|becomes|starts|returns|runs|listens on|"
    r"expires|asked to|"
    r"asked not to|has to|must|will|chose|answered|said to|gave up|got|noted:?)\s+(?P<value>.+?)\.?$",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"[^\w' -]+")
_STATIVE = frozenset({"is", "are", "was", "were", "becomes"})


def keyed(text: str) -> tuple[str | None, str | None]:
    """The key under which a newer statement about the same matter is found, and the value.

    "Mara's passport expires on May 2." is `mara's passport expires` and `on May 2`. None, None: no such reading.
    """
    match = _LINK.match(text.split(". ")[0])
    if not match:
        return None, None
    verb = match["verb"].lower()
    key = match["key"] if verb in _STATIVE else f"{match['key']} {verb}"
    key = " ".join(_PLAIN.sub(" ", key.lower()).split())
    return (key[:200] or None), match["value"][:500]
