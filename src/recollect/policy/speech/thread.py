"""What is known of a conversation while it is read."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from recollect.domain.event import Event
from recollect.policy.speech import turns as whole_turns
from recollect.policy.speech.amends import amended_by
from recollect.policy.speech.clauses import matter
from recollect.policy.speech.draft import Draft
from recollect.policy.speech.referents import Referents
from recollect.policy.speech.speakers import is_person, name_of
from recollect.policy.wording import fit


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

    # -- corrections ----------------------------------------------------------------------------------------

    def amend(self, speaker: str, value: str, said: str, place: int) -> bool:
        """The latest statement of the speaker that a value fits into, with that value. Whether there is one."""
        for number in range(len(self.drafts) - 1, -1, -1):
            draft = self.drafts[number]
            amended = amended_by(draft.text, value) if draft.speaker == speaker else None
            text = fit(amended) if amended else None
            if text is None or text.count(speaker) < draft.text.count(speaker):
                continue
            witnesses = tuple(dict.fromkeys((*draft.witnesses, place)))
            self.drafts[number] = replace(
                draft, text=text, said=f"{draft.said} {said}", witnesses=witnesses, corrects=True, firm=True
            )
            return True
        return False

    def take_back(self, speaker: str) -> None:
        """The last statement of the speaker does not hold."""
        for number in range(len(self.drafts) - 1, -1, -1):
            if self.drafts[number].speaker == speaker:
                if not self.drafts[number].corrects:
                    del self.drafts[number]
                return

    def drop_rivals(self, draft: Draft) -> None:
        """An earlier statement about the same matter gives way to its correction."""
        mine = matter(draft.text)
        self.drafts[:] = [
            other
            for other in self.drafts
            if other.speaker != draft.speaker or len(mine & matter(other.text)) < max(2, len(matter(other.text)) // 2)
        ]
