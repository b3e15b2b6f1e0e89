"""The delta header of an answer: what changed since the reader was last told in this thread."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
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
from recollect.read.shown import on_one_line

FURTHEST = 3_000
"""Entries that are looked back at, those of others included: what is older than that is not told any more."""
_AT_ONCE = 300
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
    known, headers = _newest(look, after, head.seq, scope if cursor is None else None)
    changed = [one for one in delta.transitions(headers, _undone(look, headers)) if one.item_id in known][:_NEWEST]
    found = [(one, subject) for one in changed if (subject := _subject(look, one, known[one.item_id]))]
    return Delta(delta.header(cursor.rev if cursor else None, found), told)


def _newest(look: Look, after: Seq, last: Seq, scope: Scope | None) -> tuple[dict[ItemId, Item], list[Header]]:
    """The memories that the reader may know of and to which something happened last, with all that happened to them
    since. What happened to others is passed over: how much that was makes no difference."""
    known: dict[ItemId, Item] = {}
    headers: list[Header] = []
    before, at_once = last, _AT_ONCE if scope is None else FURTHEST
    while before > after and len(known) < _NEWEST:
        first = max(after, before - at_once)
        page = _headers(look, scope, after=Seq(first), before=before)
        known |= _known(look, {header.item_id for header in page if header.item_id} - known.keys())
        headers, before = [*page, *headers], Seq(first)
    if before > after:  # more happened to these than was looked at
        headers = _headers(look, scope, after=after, refs=[f"i:{item_id}" for item_id in sorted(known)])
    return known, [header for header in headers if header.item_id in known]


def _headers(
    look: Look, scope: Scope | None, *, after: Seq, before: Seq | None = None, refs: Sequence[str] | None = None
) -> list[Header]:
    limit = None if before is None or scope is not None else before - after
    entries = look.store.entries(look.principal.tenant, after=after, scope=scope, refs=refs, limit=limit, blind=True)
    headers = [entry.header for entry in entries if before is None or entry.header.seq <= before]
    return [header for header in headers if header.actor not in _HAMMER]


def _undone(look: Look, headers: Sequence[Header]) -> dict[Seq, str]:
    """The operations of the entries that these take back: what was undone says what the undoing did."""
    seqs = sorted({header.undoes for header in headers if header.undoes is not None and header.op == "undo"})
    found = look.store.entries(look.principal.tenant, seqs=seqs, blind=True) if seqs else ()
    return {entry.header.seq: entry.header.op for entry in found}


def _known(look: Look, ids: AbstractSet[ItemId]) -> dict[ItemId, Item]:
    """Those of these memories that the reader may know of. Threads are not told of, they have events."""
    held = look.store.items_by_id(look.principal.tenant, sorted(ids))
    items = [one.item for one in held if not isinstance(one.item.body, Episode)]
    seen = look.sees(items)
    return {item.id: item for item in items if item.id in seen}


def _subject(look: Look, transition: Transition, item: Item) -> Subject | None:
    """What is told of a transition."""
    if transition.sign == _GONE:
        return Subject(item.category, item.importance, None)
    speaking = look.store.speaking(look.principal.tenant, [item.id], readers=look.readers).get(item.id)
    if speaking is None:
        return None
    version = speaking[1]
    words = on_one_line(served(version.content, version.bullets), version.bullets)
    return Subject(item.category, item.importance, words, item.trust)
