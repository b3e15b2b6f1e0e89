"""What sentences are worth by a few plain signs: for who has switched the keeper off."""

import re
from collections.abc import Mapping

from recollect.domain.judgement import Heard, Weighed

_SELF = re.compile(r"\b(?:i|i'm|i've|my|we|we're|we've|our)\b", re.IGNORECASE)
_LASTING = re.compile(
    r"\b(?:always|never|from now on|decided|agreed|allergic|prefer|lives?|works?|moved|married|born|called|named|since|"
    r"until|deadline|use|uses|owns?|is on|are on|have|has|bought|started|plan|will|must)\b",
    re.IGNORECASE,
)
_PASSING = re.compile(r"\b(?:thanks|thank you|please|hello|hi|lol|haha|can you|could you|what if|suppose)\b", re.I)
_HEALTH = re.compile(
    r"\b(?:allerg\w+|diagnos\w+|medic\w+|doctor|pregnan\w+|divorc\w+|salary|debt|therap\w+|diabet\w+|cancer)\b", re.I
)
_CATEGORIES: Mapping[str, re.Pattern[str]] = {
    "preferences": re.compile(r"\b(?:prefer|like|love|hate|always|never|want)\b", re.IGNORECASE),
    "projects": re.compile(r"\b(?:repo|deploy|server|port|branch|release|api|database|decided|team)\b", re.IGNORECASE),
    "event": re.compile(r"\b(?:on|tomorrow|next|last|yesterday|\d{1,2}(?:st|nd|rd|th))\b", re.IGNORECASE),
    "relationships": re.compile(r"\b(?:sister|brother|mother|father|wife|husband|son|daughter|friend|dog|cat)\b", re.I),
    "profile": re.compile(r"\b(?:i'm|i am|i live|i work|my name)\b", re.IGNORECASE),
}
_WORTH = (0.003, 0.004, 0.9, 0.95, 0.98)  # by how many signs speak for it; one alone says nothing


def plain_weights(turn: Heard) -> list[Weighed]:
    """The sentences of a turn weighed one by one."""
    return [_weighed(text) for text in turn.sentences]


def _weighed(text: str) -> Weighed:
    signs = 2 * bool(_LASTING.search(text)) + bool(_SELF.search(text)) + any(sign.isdigit() for sign in text)
    signs -= 2 * text.rstrip().endswith("?") + 2 * bool(_PASSING.search(text)) + (len(text.split()) < 4)
    found = {name: float(bool(pattern.search(text))) for name, pattern in _CATEGORIES.items()} | {"knowledge": 0.5}
    whole = sum(found.values())
    return Weighed(
        keep=_WORTH[max(0, min(signs, 4))],
        kinds={"question" if text.rstrip().endswith("?") else "statement": 1.0},
        categories={name: share / whole for name, share in found.items()},
        importance=3.0,
        private=float(bool(_HEALTH.search(text))),
        injection=0.0,
    )
