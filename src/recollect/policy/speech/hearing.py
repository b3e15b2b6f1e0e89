"""A conversation as a keeper reads it: each turn in sentences, with what was said last before it."""

from collections.abc import Iterable, Mapping, Sequence

from recollect.domain.event import Event, Trust
from recollect.domain.judgement import Heard
from recollect.policy.speech.sentences import sentences

ASSISTANT = "the assistant"
_NOBODY = frozenset({"user", "human", "me", "you", "i", "customer", "client", "person", "speaker", "unknown"})
_REPORTED = 12
"""Sentences of an assistant's turn that are weighed: what was done is said first, explanations follow."""
REACH, NEAR, _TAIL = 420, 125, 220
"""Characters of what was said before: in all, where a single remark is weighed, and of one turn."""


def is_person(turn: Event) -> bool:
    """Whether a turn is the trusted word of a person."""
    return turn.role in (None, "user", "human") and turn.trust is Trust.TRUSTED


def name_of(turn: Event) -> str:
    """How the author is called in a memory."""
    name = " ".join(turn.author.split())
    if turn.role == "assistant":
        return ASSISTANT
    return "the user" if name.lower() in _NOBODY or not any(sign.isalnum() for sign in name) else name


def role_of(turn: Event) -> str:
    """The role of a turn as keepers know roles."""
    return "user" if is_person(turn) else turn.role or "document"


def heard(turns: Sequence[Event], places: Iterable[int], reach: int = REACH) -> Mapping[int, Heard]:
    """The turns at some places as a keeper reads them; turns without prose are left out."""
    found: dict[int, Heard] = {}
    for place in places:
        said = sentences(turns[place].text)[: _REPORTED if turns[place].role == "assistant" else None]
        if said:
            lately = [(role_of(turn), turn.text) for turn in reversed(turns[max(0, place - 6) : place])]
            own = tuple(sentence.own for sentence in said)
            found[place] = Heard(sentences=own, role=role_of(turns[place]), before=said_before(lately, reach))
    return found


def said_before(latest_first: Iterable[tuple[str, str]], reach: int = REACH) -> str:
    """The ends of the last turns, each with its role, in their order."""
    kept: list[str] = []
    most = min(_TAIL, reach)
    for role, text in latest_first:
        tail = " ".join(text[-2 * _TAIL :].split())[-most:]
        kept.append(f"{role}: {tail}")
        reach -= len(tail)
        if reach <= 0:
            break
    return " ".join(reversed(kept))
