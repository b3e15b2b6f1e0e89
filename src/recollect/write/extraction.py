"""What is worth remembering in messages, as drafts for memory: by a keeper, or by a language model."""

import logging
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from threading import Lock
from typing import cast
from weakref import WeakKeyDictionary

from recollect.clock import Clock
from recollect.domain.event import Event
from recollect.domain.ids import TenantId
from recollect.domain.prompt import Prompt
from recollect.domain.text import MAX_NAME
from recollect.errors import ModelFailed
from recollect.policy import grounded, lifecycle, prompts
from recollect.policy.candidate import Candidate
from recollect.policy.prompts import ExtractedFacts
from recollect.policy.speech.hearing import NEAR
from recollect.policy.speech.remark import Weights
from recollect.ports import Keeper, Store, Writer
from recollect.weighing import weigh
from recollect.write.draft import Draft
from recollect.write.extract import extract, passed_over, people, worth_keeping

log = logging.getLogger("recollect.write")

CONTEXT = 6


@dataclass(frozen=True, slots=True)
class Caps:
    """How many memories are made of one turn at most, and of one user's turns in a day."""

    turn: int = 3
    day: int = 200


@dataclass(frozen=True, slots=True)
class Found:
    """What messages hold: the drafts that are made, and what a cap leaves out."""

    drafts: Sequence[Draft] = ()
    left_out: Sequence[Draft] = ()
    passed_over: Sequence[Draft] = ()
    """What people state in messages of which nothing is kept, where that was asked for."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """Reads messages for memories."""

    store: Store
    clock: Clock
    writer: Writer | None
    caps: Caps
    tenant: TenantId
    keeper: Keeper | None = None
    context: int = CONTEXT

    def found(
        self,
        before: Sequence[Event],
        new: Sequence[Event],
        user_id: str | None,
        *,
        capped: bool = True,
        passed_over: bool = False,
    ) -> Found:
        """The memories in the new messages; those before them are what they answer. `capped`: of each turn and day no
        more than the caps allow, which is for conversations; what somebody imports is meant to be kept. `passed_over`:
        also what is stated in messages of which nothing is kept."""
        turns, fresh = [*before, *new], range(len(before), len(before) + len(new))
        candidates, weights = self._candidates(turns, fresh)
        others = self._passed_over(turns, fresh, candidates, weights) if passed_over else []
        kept = self._within_caps(candidates, user_id) if capped else candidates
        return Found(
            [_draft(one, turns) for one in candidates if one in kept],
            [_draft(one, turns) for one in candidates if one not in kept],
            [_draft(one, turns) for one in others],
        )

    def _candidates(self, turns: Sequence[Event], fresh: range) -> tuple[list[Candidate], Weights]:
        """By a language model where there is one, asked once for each message; where it does not answer, and where
        there is none, by what a keeper finds. With what was weighed for it."""
        places = people(turns, fresh)
        if self.writer is None:
            weights = weigh(turns, places, self.keeper, NEAR)
            return worth_keeping(turns, weights), weights
        found: list[Candidate] = []
        for place in places:
            found += self._written(turns, place, self.writer)
        return found, {}

    def _passed_over(
        self, turns: Sequence[Event], fresh: range, found: Sequence[Candidate], weights: Weights
    ) -> list[Candidate]:
        quoted = {place for one in found for place in one.witnesses}
        places = [place for place in people(turns, fresh) if place not in quoted]
        return passed_over(turns, places, weights or weigh(turns, places, self.keeper, NEAR))

    def _written(self, turns: Sequence[Event], place: int, writer: Writer) -> list[Candidate]:
        first = max(0, place - self.context)
        shown, fresh = turns[first : place + 1], frozenset({place - first})
        try:
            answer = _ANSWERS.of(self.tenant, prompts.extraction(shown, fresh), writer)
        except ModelFailed as failed:
            log.warning("memories are made without a language model for now: %s", failed.what)
            return extract(turns, frozenset({place}), self.keeper)
        return [
            replace(one, witnesses=tuple(first + number for number in one.witnesses))
            for one in grounded.extracted(answer, shown, fresh)
        ]

    def room(self, user_id: str | None, made: int) -> int:
        """How many memories may still be made of this user's turns today, where some are being made."""
        return max(0, self._room(user_id) - made)

    def _within_caps(self, found: Sequence[Candidate], user_id: str | None) -> list[Candidate]:
        """The most important candidates of each turn, as many as the day has room for."""
        chosen: list[Candidate] = []
        for candidate in sorted(found, key=lambda one: -one.importance):
            of_turn = [one for one in chosen if one.witnesses[-1] == candidate.witnesses[-1]]
            if len(of_turn) < self.caps.turn:
                chosen.append(candidate)
        return chosen[: self._room(user_id)] if chosen else []

    def _room(self, user_id: str | None) -> int:
        """How many memories may still be made of this user's turns today."""
        if user_id is None:
            return self.caps.day
        midnight = datetime.combine(self.clock.now().astimezone(UTC).date(), datetime.min.time(), UTC)
        return max(0, self.caps.day - self.store.extracted_since(self.tenant, user_id, midnight, self.caps.day))


class _Answers:
    """The last answers of each language model, in this process: a write that has to look again does not ask again. They
    are kept with the model itself, so that no other can be taken for it, and go when it goes."""

    def __init__(self, most: int = 256) -> None:
        self._kept: WeakKeyDictionary[Writer, OrderedDict[str, ExtractedFacts]] = WeakKeyDictionary()
        self._most, self._lock = most, Lock()

    def of(self, tenant: TenantId, prompt: Prompt[ExtractedFacts], writer: Writer) -> ExtractedFacts:
        asked = f"{tenant} {prompt.system} {prompt.user}"
        key = sha256(asked.encode(errors="surrogatepass")).hexdigest()
        with self._lock:
            kept = self._kept.setdefault(writer, OrderedDict())
            if key in kept:
                return kept[key]
        answer = writer.write(prompt, tenant=tenant)
        with self._lock:
            kept[key] = answer
            while len(kept) > self._most:
                kept.popitem(last=False)
        return answer


_ANSWERS = _Answers()


def _draft(candidate: Candidate, turns: Sequence[Event]) -> Draft:
    return Draft(
        text=candidate.text,
        body=candidate.body,
        category=candidate.category,
        importance=candidate.importance,
        private=candidate.private,
        corrects=candidate.corrects,
        tags=_tags(candidate, turns),
        quotation=candidate.quotation,
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
