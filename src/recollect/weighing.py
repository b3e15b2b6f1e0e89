"""What the sentences of a conversation are worth: by a keeper where there is one, else by plain signs."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace

from recollect.domain.event import Event
from recollect.domain.judgement import Heard, Weighed
from recollect.errors import ModelFailed
from recollect.policy.speech.hearing import REACH, heard
from recollect.policy.speech.plain_weights import plain_weights
from recollect.policy.speech.remark import Weights
from recollect.ports import Keeper

log = logging.getLogger("recollect.weighing")

_FEW = 12
"""Words of a sentence that is all that somebody says. What was said before it, such as a greeting, can mislead a
keeper, so that it is weighed by itself as well, unless it is worth keeping as it stands."""
_SURE = 0.7
_ODD = 0.01
"""How likely a sentence must be an order that somebody planted to be weighed by itself as well. Behind harmless talk a
keeper finds one harmless: the same words, 0.02 there and 0.7 alone. One turn in eight is read again."""


def weigh(turns: Sequence[Event], places: Iterable[int], keeper: Keeper | None, reach: int = REACH) -> Weights:
    """What the sentences of the turns at some places are worth; turns without prose are left out. `reach`: how much
    of what was said before a keeper reads with each, in characters."""
    read = heard(turns, sorted(places), reach)
    if keeper is not None and read:
        try:
            found = dict(zip(read, keeper.weigh(list(read.values())), strict=True))
            open_ = {place for place, turn in read.items() if _lone(turn) and found[place][0].keep < _SURE}
            odd = {place for place, turn in read.items() if turn.before and any(map(_is_odd, found[place]))}
            alone = {place: replace(read[place], before="") for place in sorted(open_ | odd)}
            for place, again in zip(alone, keeper.weigh(list(alone.values())), strict=True):
                better = _surer if place in open_ else _warier
                found[place] = tuple(map(better, found[place], again))
            return found
        except ModelFailed as failed:
            log.warning("sentences are weighed by plain signs for now: %s", failed.what)
    return {place: plain_weights(turn) for place, turn in read.items()}


def _lone(turn: Heard) -> bool:
    few = len(turn.sentences) == 1 and len(turn.sentences[0].split()) <= _FEW
    return few and turn.role == "user" and bool(turn.before)


def _is_odd(weighed: Weighed) -> bool:
    return _injected(weighed) >= _ODD


def _injected(weighed: Weighed) -> float:
    return max(weighed.injection, weighed.kinds.get("injection", 0.0))


def _warier(one: Weighed, other: Weighed) -> Weighed:
    """The first reading, but for what either finds to be planted."""
    return replace(one, injection=max(map(_injected, (one, other))))


def _surer(one: Weighed, other: Weighed) -> Weighed:
    """The reading by which a sentence is worth more; what either finds private or planted is."""
    return replace(
        max(one, other, key=lambda weighed: weighed.keep),
        private=max(one.private, other.private),
        injection=max(map(_injected, (one, other))),
    )
