"""What the sentences of a conversation are worth: by a keeper where there is one, else by plain signs."""

import logging
from collections.abc import Iterable, Sequence

from recollect.domain.event import Event
from recollect.errors import ModelFailed
from recollect.policy.speech.hearing import heard
from recollect.policy.speech.plain_weights import plain_weights
from recollect.policy.speech.remark import Weights
from recollect.ports import Keeper

log = logging.getLogger("recollect.weighing")


def weigh(turns: Sequence[Event], places: Iterable[int], keeper: Keeper | None) -> Weights:
    """What the sentences of the turns at some places are worth; turns without prose are left out."""
    read = heard(turns, sorted(places))
    if keeper is not None and read:
        try:
            return dict(zip(read, keeper.weigh(list(read.values())), strict=True))
        except ModelFailed as failed:
            log.warning("sentences are weighed by plain signs for now: %s", failed.what)
    return {place: plain_weights(turn) for place, turn in read.items()}
