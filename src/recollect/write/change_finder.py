"""Statements that are worth keeping only because they tell that something kept has changed.

"Dialysis is so much more walking" is small talk, unless the same person was on the cardiac ward before.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby

from recollect.domain.ids import EventId
from recollect.errors import ModelFailed
from recollect.policy import currency
from recollect.policy.pairs import Pair, Ruling, in_context, judged
from recollect.ports import Embedder, Judge
from recollect.write.commit import Commit, Decided, Known
from recollect.write.draft import Draft, about
from recollect.write.extraction import Extraction, Found

log = logging.getLogger("recollect.write")

NEAREST = 5
"""Memories that the statements of one message are compared with."""


@dataclass(frozen=True, slots=True)
class _Stated:
    draft: Draft
    vector: bytes
    near: Known


@dataclass(frozen=True, slots=True)
class ChangeFinder:
    """Looks among what extraction passes over."""

    judge: Judge
    embedder: Embedder
    extraction: Extraction

    def add(
        self,
        commit: Commit,
        decided: Decided,
        found: Found,
        topic_key: str | None,
        now: datetime,
        *,
        capped: bool,
    ) -> Found:
        """Decides about the statements that change something, and says what is made now: they are among the drafts, or
        left out where the day has no room for more."""
        drafts, left_out = list(found.drafts), list(found.left_out)
        for _, stated in groupby(commit.marked(about(topic_key, found.passed_over)), key=_message):
            for draft, vector in self._changing(commit, decided, list(stated), now):
                if capped and not self.extraction.room(commit.owner.scope.user_id, len(drafts)):
                    left_out.append(draft)
                    continue
                commit.add(decided, draft, vector, now)
                drafts.append(draft)
        return replace(found, drafts=drafts, left_out=left_out)

    def _changing(
        self, commit: Commit, decided: Decided, stated: Sequence[Draft], now: datetime
    ) -> Iterator[tuple[Draft, bytes]]:
        """Those of the statements of one message that change something, with their vectors."""
        beside = [
            _Stated(draft, vector, near)
            for draft, vector in zip(stated, self.embedder.embed([draft.text for draft in stated]), strict=True)
            for near in self._replaceable(commit, decided, draft, vector, now)
        ]
        nearest = sorted(beside, key=lambda one: (-one.near.near.cosine, one.near.held.item.id))[:NEAREST]
        vectors = {one.draft.text: one.vector for one in self._told_of_change(nearest)}
        chosen = [draft for draft in stated if draft.text in vectors]
        yield from ((draft, vectors[draft.text]) for draft in chosen[: self.extraction.caps.turn])

    def _replaceable(
        self, commit: Commit, decided: Decided, draft: Draft, vector: bytes, now: datetime
    ) -> Iterator[Known]:
        """What lies near a statement, still holds, and may be replaced by it."""
        near = commit.known(draft, vector, decided, commit.profile.floor)
        if not near:
            return
        new = commit.item(draft, now)
        for one in near.values():
            old = one.held.item
            over = old.valid_to is not None and old.valid_to <= draft.said_at
            if not over and currency.replaces(new, old, one.version.content):
                yield one

    def _told_of_change(self, stated: Sequence[_Stated]) -> list[_Stated]:
        """Those that change what they lie near, as the judge finds; none where it fails."""
        pairs = [(one.near.version.content, in_context(one.draft.text, one.draft.witnesses[-1].text)) for one in stated]
        try:
            chances = self.judge.compare(pairs) if pairs else ()
        except ModelFailed as failed:
            log.warning("nobody looked whether something has changed: %s", failed.what)
            return []
        rulings = [judged(*pair, said) for pair, said in zip(pairs, chances, strict=True)]
        return [one for one, ruling in zip(stated, rulings, strict=True) if _tells_of_change(one.draft, ruling)]


def change_finder(judge: Judge | None, embedder: Embedder | None, extraction: Extraction) -> ChangeFinder | None:
    """One where there is a judge, and an embedder that tells what lies near."""
    return ChangeFinder(judge, embedder, extraction) if judge and embedder else None


def _message(draft: Draft) -> EventId:
    return draft.witnesses[-1].id


def _tells_of_change(draft: Draft, ruling: Ruling) -> bool:
    """Only where a change is told, and of what stands by itself: words that live from those before them are mostly
    talk about the same matter."""
    stands = draft.quotation is not None and not draft.quotation.asked
    return stands and (ruling.sure or ruling.verdict is Pair.UPDATE)
