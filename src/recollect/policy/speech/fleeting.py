"""Whether a statement is of no use tomorrow, as far as rules can tell: by whom it was said, and to whom."""

from recollect.policy.speech import idle, referents
from recollect.policy.speech.dated import Dated
from recollect.policy.speech.referents import KIN, Referents
from recollect.policy.speech.sentences import Sentence
from recollect.policy.speech.speakers import ASSISTANT


def fleeting(said: Sentence, when: Dated, *, speaker: str, listener: str, technical: bool) -> bool:
    """Whether nobody will ask for a statement: it points, cheers, feels, or tells where a task stands."""
    hard = idle.hard(said.text, when.times)
    if idle.points(said) or idle.passing(said):
        return True
    if listener == ASSISTANT:
        if technical:
            return not when.times and idle.wished(said)
        return idle.judges(said) or (not hard and idle.idle(said, when.text))
    if idle.to_listener(said, hard=hard) or idle.vague(said, dated=when.times > 0, kin=not KIN.isdisjoint(said.words)):
        return True
    if idle.chatter(said, hard=hard, names=_names(when.text, speaker, listener)):
        return True
    return idle.idle(said, when.text) and not hard


def _names(text: str, speaker: str, listener: str) -> bool:
    """Whether a statement is about somebody by name, or about somebody's kin."""
    found = referents.after(Referents(), text, speaker).persons
    return any(not person.name.startswith(listener[:3]) for person in found)
