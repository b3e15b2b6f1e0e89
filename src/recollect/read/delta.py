"""The delta header of an answer: what changed since the reader was last told in this thread."""

from dataclasses import dataclass

from recollect.domain.ids import Seq
from recollect.domain.item import Episode
from recollect.domain.journal import Head
from recollect.domain.observation import Cursor, Told
from recollect.domain.scope import Scope
from recollect.policy import delta
from recollect.policy.delta import Subject, Transition
from recollect.read.look import Look

FURTHEST = 300
"""Entries that are looked back at: what is older than that is not told any more."""
_NEWEST = 20
"""Memories among which the most important are chosen."""
_HAMMER = frozenset({"job:close", "job:compress"})
"""Who makes other lengths of memories: that they say the same in fewer words is no news."""
_GONE = "−deleted"  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class Delta:
    """The lines to serve, and what to remember of having served them."""

    lines: tuple[str, ...]
    told: Told | None


def since_last(look: Look, reader: str, thread_id: str, head: Head) -> Delta:
    """What is new for a reader in a thread. Who asks in it for the first time is told what was made in the thread."""
    store, tenant = look.store, look.principal.tenant
    cursor = store.cursor(tenant, reader, thread_id)
    scope = Scope(tenant=tenant, thread_id=thread_id)
    here = store.thread_rev(scope)
    told = Told(reader, thread_id, Cursor(head.rev, head.seq, here))
    if cursor is not None and cursor.seq >= head.seq:
        return Delta((), None)
    after = Seq(max(cursor.seq if cursor else 0, head.seq - FURTHEST))
    entries = store.entries(tenant, after=after, scope=scope if cursor is None else None)
    found = [
        (one, subject)
        for one in delta.transitions(entry.header for entry in entries if entry.header.actor not in _HAMMER)[:_NEWEST]
        if (subject := _subject(look, one))
    ]
    return Delta(delta.header(cursor.thread_rev if cursor else 0, found), told)


def _subject(look: Look, transition: Transition) -> Subject | None:
    """The memory a transition is about, if the reader may know of it. Threads are not told of, they have events."""
    held = look.store.item(look.principal.tenant, transition.item_id)
    if held is None or isinstance(held.item.body, Episode) or not look.sees(held.item):
        return None
    if transition.sign == _GONE:
        return Subject(held.item.category, held.item.importance, None)
    speaking = look.store.speaking(look.principal.tenant, [transition.item_id]).get(transition.item_id)
    if speaking is None:
        return None
    return Subject(held.item.category, held.item.importance, speaking[1].content)
