"""Who says a turn, and to whom."""

from collections.abc import Sequence

from recollect.domain.event import Event, Trust

ASSISTANT = "the assistant"
_NOBODY = frozenset({"user", "human", "me", "you", "i", "customer", "client", "person", "speaker", "unknown"})


def is_person(turn: Event) -> bool:
    return turn.role in (None, "user", "human") and turn.trust is Trust.TRUSTED


def name_of(turn: Event) -> str:
    """How the author is called in a memory."""
    name = " ".join(turn.author.split())
    return "the user" if name.lower() in _NOBODY or not any(sign.isalnum() for sign in name) else name


def listener(turns: Sequence[Event], place: int) -> str:
    """Whom the turn at that place speaks to: who spoke last before it, a person or the assistant."""
    speaker = name_of(turns[place])
    for turn in reversed(turns[:place]):
        if turn.role == "assistant":
            return ASSISTANT
        if is_person(turn) and name_of(turn) != speaker:
            return name_of(turn)
    return ASSISTANT
