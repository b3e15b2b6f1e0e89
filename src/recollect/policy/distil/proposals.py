"""What somebody proposes to do together: "let's move to sessions" is "Mira proposed to move to sessions"."""

import re
from collections.abc import Sequence

from recollect.domain.event import Event
from recollect.policy.speech.speakers import is_person, name_of

_PROPOSES = re.compile(
    r"^(?:(?:ok(?:ay)?|so|then|right|alright|yes|yeah|good|great|fine|sure|well|and|but|in that case|for now|perfect)\b"
    r"[,.!]*\s+)*(?:let(?:['\u2019]s| us)|(?:i (?:think|guess|say) )?(?:we|you and i) should|i(?:['\u2019]d| would)? "
    r"(?:propose|suggest)(?: that)? we)\s+(?P<not>not )?(?:just |all |also |both |maybe |really |rather |probably )*"
    r"(?P<what>.+)$",
    re.IGNORECASE,
)
_IDLE = re.compile(
    r"(?:see|talk|chat|hope|say|face|be|hear|know|forget|think about|look(?! for)|go$|go for it|do (?:it|this|that)|"
    r"catch up|meet up|stay in touch|get (?:it|going|started|this|to it)|move on|find out|make|keep|continue|chase|"
    r"join forces|bring|spread|help each other|not give|celebrate|start$|try it|plan (?:it|something)|have (?:fun|a)|"
    r"give it|take a (?:break|look)|stay|support|cherish|enjoy|embrace|never|always|all|both|appreciate)\b",
    re.IGNORECASE,
)
_AGREES = re.compile(
    r"(?:ok(?:ay)?|great|agreed?|yes|yeah|yep|sounds (?:good|great)|good(?: idea| plan)?|sure|perfect|fine|deal|done|"
    r"works for me|will do|on it|absolutely|definitely|makes sense|i(?:['\u2019]ll| will))\b",
    re.IGNORECASE,
)
_TRAILING = re.compile(r"[,;]?\s+(?:then|instead|okay|ok|shall we|right|please|for now)\s*$", re.IGNORECASE)
_LEAST = 3


def proposed(text: str) -> str | None:
    """What is proposed, as it follows "to": None where nothing in particular is."""
    found = _PROPOSES.match(text.strip().rstrip(".!?"))
    if found is None or _IDLE.match(found["what"]) or text.rstrip().endswith("?"):
        return None
    what = _TRAILING.sub("", found["what"]).strip()
    if len(what.split()) < _LEAST or what.lower().startswith("not "):
        return None
    return f"not to {what}" if found["not"] else f"to {what}"


def agreed(events: Sequence[Event], place: int) -> int | None:
    """Where somebody else says yes to a turn, right after it."""
    for later in range(place + 1, min(len(events), place + 3)):
        event = events[later]
        if is_person(event) and name_of(event) != name_of(events[place]):
            return later if _AGREES.match(event.text.strip()) else None
    return None
