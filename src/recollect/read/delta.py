"""The delta header of an answer: what changed since the reader was last told in this thread."""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.domain.ids import ItemId, Seq
from recollect.domain.item import Episode, Item
from recollect.domain.journal import Head, Header
from recollect.domain.observation import Cursor, Told
from recollect.domain.scope import Scope
from recollect.policy import delta
from recollect.policy.delta import Subject, Transition
from recollect.policy.distil import served
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
    headers = [entry.header for entry in entries if entry.header.actor not in _HAMMER]
    changed = delta.transitions(headers, _undone(look, headers))[:_NEWEST]
    known = _known(look, changed)
    found = [
        (one, subject)
        for one in changed
        if one.item_id in known and (subject := _subject(look, one, known[one.item_id]))
    ]
    return Delta(delta.header(cursor.rev if cursor else None, found), told)


def _undone(look: Look, headers: Sequence[Header]) -> dict[Seq, str]:
    """The operations of the entries that these take back: what was undone says what the undoing did."""
    seqs = sorted({header.undoes for header in headers if header.undoes is not None and header.op == "undo"})
    found = look.store.entries(look.principal.tenant, seqs=seqs) if seqs else ()
    return {entry.header.seq: entry.header.op for entry in found}


def _known(look: Look, changed: Sequence[Transition]) -> dict[ItemId, Item]:
    """The memories that transitions are about, as far as the reader may know of them. Threads are not told of, they
    have events."""
    held = [look.store.item(look.principal.tenant, item_id) for item_id in {one.item_id for one in changed}]
    items = [one.item for one in held if one is not None and not isinstance(one.item.body, Episode)]
    seen = look.sees(items)
    return {item.id: item for item in items if item.id in seen}


def _subject(look: Look, transition: Transition, item: Item) -> Subject | None:
    """What is told of a transition."""
    if transition.sign == _GONE:
        return Subject(item.category, item.importance, None)
    speaking = look.store.speaking(look.principal.tenant, [item.id], readers=look.readers).get(item.id)
    if speaking is None:
        return None
    words = served(speaking[1].content, speaking[1].bullets)
    return Subject(item.category, item.importance, words, item.trust)
