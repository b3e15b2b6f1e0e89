"""Which of two memories holds now: who may say that something has changed, and from when."""

import re
from dataclasses import replace
from datetime import datetime

from recollect.domain.change import Revise, Verb, revise
from recollect.domain.event import Trust
from recollect.domain.ids import ItemId
from recollect.domain.item import Active, Archived, Fact, Item, Visibility

MAY_REPLACE = "may_replace"
"""The edge from a memory to an earlier one that may no longer hold because of it, where nobody is sure."""


def since(item: Item) -> datetime:
    """From when a memory holds, as far as is known: as it says, or else when it was said."""
    return item.valid_from or item.origin_at


def said(item: Item) -> datetime:
    return item.origin_at


def replaces(new: Item, old: Item, old_words: str) -> bool:
    """Whether a later statement may end the time of an earlier one: said later, by the same speaker, by somebody whom
    the earlier one names, or by anybody of a project about its matters; and nobody sees the old one who does not see
    the new. Nothing untrusted replaces anything, and what is constitutional stays."""
    return casts_doubt(new, old) and _seen_alike(new, old) and _may_say(new, old, old_words)


def casts_doubt(new: Item, old: Item) -> bool:
    """Whether a later statement may make one wonder if an earlier one still holds: any of the same owner may that is
    trusted, whoever said it. Who is told of it is served both."""
    return new.trust is Trust.TRUSTED and not old.constitutional and said(new) > said(old) and _same_owner(new, old)


def _same_owner(new: Item, old: Item) -> bool:
    return all(getattr(new, name) == getattr(old, name) for name in ("visibility", "user_id", "agent_id", "project_id"))


def _seen_alike(new: Item, old: Item) -> bool:
    return not new.private or (old.private and new.thread_id == old.thread_id)


def _may_say(new: Item, old: Item, old_words: str) -> bool:
    speaker, before = _speaker(new), _speaker(old)
    if speaker is None or before is None or speaker == before:
        return True
    if new.visibility is Visibility.PROJECT_SHARED:
        return True
    named = re.escape(speaker.split()[0])
    return re.search(rf"(?<!\w){named}(?!\w)", old_words.partition(":")[2] or old_words, re.IGNORECASE) is not None


def _speaker(item: Item) -> str | None:
    return item.body.scope.casefold() if isinstance(item.body, Fact) and item.body.scope else None


def ended(old: Item, by: Item, now: datetime) -> Revise:
    """The old memory, over from when the new one holds."""
    end = max(since(by), since(old))
    until = min(end, old.valid_to) if old.valid_to else end
    return revise(old, replace(old, valid_to=until, superseded_by=by.id), now, Verb.UPDATE)


def reopened(old: Item, gone: Item, heir: tuple[ItemId, datetime | None] | None, now: datetime) -> Revise | None:
    """The old memory, now that the one that replaced it is gone: it holds on, or, where the one that is gone had been
    replaced itself, until that heir began. None where it was not replaced but united with the other, which says the
    same."""
    if old.valid_to is None or old.superseded_by != gone.id:
        return None
    if heir is not None:
        return revise(old, replace(old, superseded_by=heir[0], valid_to=heir[1] or old.valid_to), now, Verb.UPDATE)
    own_end = since(old) < old.valid_to < since(gone)
    state = Active() if isinstance(old.state, Archived) else old.state
    after = replace(old, superseded_by=None, valid_to=old.valid_to if own_end else None, state=state)
    return revise(old, after, now, Verb.RESTORE if state != old.state else Verb.UPDATE)
