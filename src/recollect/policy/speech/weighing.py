"""What a keeper is asked about a conversation, and how far its word goes beside that of the rules."""

from collections.abc import Mapping, Sequence

from recollect.domain.event import Event
from recollect.domain.judgement import Heard, Weighed
from recollect.policy.speech.clauses import decided_part
from recollect.policy.speech.sentences import QUOTATION, Sentence, english, sentences
from recollect.policy.speech.speakers import is_person

Weights = Mapping[tuple[int, str], Weighed]
"""What sentences are worth, by the place of their turn and their words."""

ALONE = 0.6
"""How sure the keeper must be of a sentence that the rules would leave alone."""
DOUBTLESS = 0.95
"""The same within a part that is played, or behind words of somebody else."""
TOGETHER = 0.35
"""The same of a sentence that the rules would keep."""
HIDDEN = 0.2
"""How likely a secret, or an order that is none of the speaker's, must be for a sentence to be left alone."""
PRIVATE = 0.7
_MOST = 60
"""Sentences of one turn that are weighed: more of them are a paste, which the rules skim."""
_CONTEXT = 2


def heard(turns: Sequence[Event], fresh: Mapping[int, str]) -> dict[tuple[int, str], Heard]:
    """The sentences of the fresh turns as a keeper reads them, each with its neighbours. `fresh`: what is read of the
    turn at each place."""
    found: dict[tuple[int, str], Heard] = {}
    for place in sorted(fresh):
        if not is_person(turns[place]):
            continue
        said = sentences(fresh[place])
        before = _before(turns, place)
        for number, sentence in enumerate(said[:_MOST]):
            if _weighable(sentence):
                found[place, sentence.text] = Heard(
                    text=_whole(sentence),
                    role="user",
                    before=" ".join([*before, *(f"user: {_whole(one)}" for one in said[:number])][-_CONTEXT:]),
                    after=_whole(said[number + 1]) if number + 1 < len(said) else "",
                )
    return found


def _weighable(sentence: Sentence) -> bool:
    """Whether there may be more to a sentence than a question."""
    if sentence.text.endswith("?") and decided_part(sentence) is sentence:
        return False
    return bool(sentence.words) and english(sentence)


def _before(turns: Sequence[Event], place: int) -> list[str]:
    """The last sentences before a turn, each with the role that said it."""
    found: list[str] = []
    for turn in reversed(turns[:place]):
        role = "user" if is_person(turn) else turn.role or "document"
        found = [*(f"{role}: {_whole(one)}" for one in sentences(turn.text[-_REACH:])[-_CONTEXT:]), *found]
        if len(found) >= _CONTEXT:
            break
    return found[-_CONTEXT:]


_REACH = 600


def _whole(sentence: Sentence) -> str:
    return sentence.text.replace(QUOTATION, '"…"')


def categories(weighed: Sequence[Weighed]) -> dict[str, float]:
    """How likely each category is for a statement drawn from these sentences."""
    names = weighed[0].categories if weighed else ()
    return {name: sum(one.categories[name] for one in weighed) / len(weighed) for name in names}


def importance(weighed: Sequence[Weighed]) -> int | None:
    """From 1 to 5, as the sentence that matters most."""
    return max((min(5, max(1, round(one.importance))) for one in weighed), default=None)


def private(weighed: Sequence[Weighed]) -> bool:
    return any(one.private >= PRIVATE for one in weighed)


def sure(weighed: Weighed | None) -> bool:
    """Whether the keeper would keep a sentence against the rules."""
    return weighed is not None and weighed.keep >= ALONE


def doubtless(weighed: Weighed | None) -> bool:
    """Whether the keeper would keep a sentence even where a part is played or somebody else is quoted."""
    return weighed is not None and weighed.keep >= DOUBTLESS


def kept(weighed: Weighed | None, *, rules: bool) -> bool:
    """Whether a sentence is kept. `rules`: they would keep it; without a keeper their word holds."""
    return rules if weighed is None else weighed.keep >= (TOGETHER if rules else ALONE)


def hides(weighed: Weighed | None) -> bool:
    """Whether a sentence holds a secret, or orders that are none of the speaker's."""
    return weighed is not None and max(weighed.injection, weighed.kinds.get("secret", 0)) >= HIDDEN
