"""What is worth remembering in messages, as drafts for memory: by rules and a keeper, or by a language model."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from recollect.clock import Clock
from recollect.domain.event import Event
from recollect.domain.ids import TenantId
from recollect.domain.text import MAX_NAME
from recollect.errors import ModelFailed
from recollect.policy import grounded, lifecycle, prompts
from recollect.policy.candidate import Candidate
from recollect.ports import Keeper, Store, Writer
from recollect.write.draft import Draft
from recollect.write.extract import extract

log = logging.getLogger("recollect.write")

CONTEXT = 6


@dataclass(frozen=True, slots=True)
class Caps:
    """How many memories are made of one turn at most, and of one user's turns in a day."""

    turn: int = 3
    day: int = 200


@dataclass(frozen=True, slots=True)
class Extraction:
    """Reads messages for memories. With a writer that is left to jobs: nobody waits for a language model."""

    store: Store
    clock: Clock
    writer: Writer | None
    caps: Caps
    tenant: TenantId
    keeper: Keeper | None = None
    context: int = CONTEXT

    def drafts(self, before: Sequence[Event], new: Sequence[Event], user_id: str | None) -> list[Draft]:
        """The memories in the new messages; those before them are what they answer."""
        turns = [*before, *new]
        fresh = frozenset(range(len(before), len(turns)))
        return self._within_caps(self._found(turns, fresh), turns, user_id)

    def _found(self, turns: Sequence[Event], fresh: frozenset[int]) -> list[Candidate]:
        """By a language model where there is one and it answers, else by rules."""
        if self.writer is not None:
            try:
                answer = self.writer.write(prompts.extraction(turns, fresh), tenant=self.tenant)
                return grounded.extracted(answer, turns, fresh)
            except ModelFailed as failed:
                log.warning("memories are made by rules for now: %s", failed.what)
        return extract(turns, fresh, self.keeper, most=self.caps.turn)

    def _within_caps(self, found: Sequence[Candidate], turns: Sequence[Event], user_id: str | None) -> list[Draft]:
        """The most important candidates of each turn, as many as the day has room for."""
        chosen: list[Candidate] = []
        for candidate in sorted(found, key=lambda one: -one.importance):
            of_turn = [one for one in chosen if one.witnesses[-1] == candidate.witnesses[-1]]
            if len(of_turn) < self.caps.turn:
                chosen.append(candidate)
        room = self._room(user_id) if chosen else 0
        kept = set(map(id, chosen[:room]))
        return [_draft(one, turns) for one in found if id(one) in kept]

    def _room(self, user_id: str | None) -> int:
        """How many memories may still be made of this user's turns today."""
        if user_id is None:
            return self.caps.day
        midnight = datetime.combine(self.clock.now().astimezone(UTC).date(), datetime.min.time(), UTC)
        return max(0, self.caps.day - self.store.extracted_since(self.tenant, user_id, midnight, self.caps.day))


def _draft(candidate: Candidate, turns: Sequence[Event]) -> Draft:
    return Draft(
        text=candidate.text,
        body=candidate.body,
        category=candidate.category,
        importance=candidate.importance,
        private=candidate.private,
        corrects=candidate.corrects,
        tags=_tags(candidate, turns),
        valid_from=candidate.valid_from,
        valid_to=candidate.valid_to,
        witnesses=tuple(turns[number] for number in candidate.witnesses),
        extracted=True,
    )


def _tags(candidate: Candidate, turns: Sequence[Event]) -> tuple[str, ...]:
    """The tags of a candidate. A decision has those of the note or the message that it stands in, as far as they are
    about decisions: DECISION/SUPERSEDES is written there."""
    if not lifecycle.decided(candidate.tags):
        return candidate.tags
    beside = [turns[number].meta.get("tags") for number in candidate.witnesses]
    told = [tag for tags in beside if isinstance(tags, list | tuple) for tag in cast(Sequence[object], tags)]
    more = [tag for tag in told if isinstance(tag, str) and len(tag) <= MAX_NAME and lifecycle.decided([tag])]
    return tuple(dict.fromkeys((*candidate.tags, *more)))
