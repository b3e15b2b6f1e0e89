"""What is known of a conversation while it is read."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from recollect.domain.event import Event
from recollect.policy.speech import turns as whole_turns
from recollect.policy.speech.draft import Draft
from recollect.policy.speech.referents import Referents
from recollect.policy.speech.speakers import is_person, name_of


@dataclass(slots=True)
class Thread:
    """What is known while reading: who was spoken of, whether a part is being played, what was drafted."""

    drafts: list[Draft] = field(default_factory=list[Draft])
    referents: Referents = field(default_factory=Referents)
    playing: bool = False
    technical: bool = False
    at_desk: bool = False
    """It is about work on a system beyond doubt: "we" are the team."""

    def plays(self, text: str) -> bool:
        """Whether a part is being played in a turn: nothing of it is meant."""
        if whole_turns.ends_play(text):
            self.playing = False
            return True
        self.playing = self.playing or whole_turns.plays(text)
        return self.playing

    def forget_things(self, turns: Sequence[Event], place: int) -> None:
        """Before a turn that follows another person's: its "it" means nothing that they said."""
        if place and is_person(turns[place - 1]) and name_of(turns[place - 1]) != name_of(turns[place]):
            self.referents = replace(self.referents, things=(), groups=(), subject=None)
