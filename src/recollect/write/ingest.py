"""Evidence comes in: words into the thread they belong to, and a memory that cites them when one is stated."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import TypeVar

from recollect.clock import Clock
from recollect.domain import codec
from recollect.domain.change import Append, Change, Create, Derive
from recollect.domain.event import Event, Trust
from recollect.domain.ids import EventId, ItemId, Rev, VersionId
from recollect.domain.item import LONGEST_VALUE, Body, Episode, Fact, Item, Visibility
from recollect.domain.level import Level
from recollect.domain.scope import Principal, Scope, actor
from recollect.domain.text import name
from recollect.domain.version import Version
from recollect.domain.witness import Bullet, EventWitness
from recollect.errors import Forbidden, KeyReused, Repeated, Stale
from recollect.policy.access import Denied, may_write
from recollect.ports import UNWRITTEN, Held, Receipt, Store

T = TypeVar("T")
_TRIES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn, document or tool output, word for word."""

    text: str
    author: str
    role: str | None = None
    ts: datetime | None = None
    trust: Trust = Trust.TRUSTED
    meta: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """Something to remember as it is said."""

    text: str
    author: str
    body: Body | None = None
    category: str = "knowledge"
    importance: int = 3
    tags: tuple[str, ...] = ()
    trust: Trust = Trust.TRUSTED
    ts: datetime | None = None


@dataclass(frozen=True, slots=True)
class Remembered:
    """The memory, the event that bears witness to it, and the revision of the write."""

    item_id: ItemId
    event_id: EventId
    rev: Rev


@dataclass(frozen=True, slots=True)
class Appended:
    """The thread's episode, the events in their order, and the revision of the write."""

    episode_id: ItemId
    event_ids: tuple[EventId, ...]
    rev: Rev


class Threads:
    """The episodes of threads that were written to lately, so that a turn need not look its thread up again. What is
    remembered here is checked by the write itself: it expects the episode's revision."""

    def __init__(self, store: Store, size: int = 1000) -> None:
        self._store, self._size = store, size
        self._known: dict[tuple[str | None, ...], Held] = {}

    def of(self, scope: Scope, visibility: Visibility) -> Held | None:
        held = self._known.get(_thread_key(scope, visibility))
        if held is None and (held := self._store.thread(scope, visibility)):
            self.keep(scope, held)
        return held

    def keep(self, scope: Scope, held: Held) -> None:
        if len(self._known) >= self._size:
            self._known.clear()
        self._known[_thread_key(scope, held.item.visibility)] = held

    def forget(self, scope: Scope, visibility: Visibility) -> None:
        self._known.pop(_thread_key(scope, visibility), None)


def _thread_key(scope: Scope, visibility: Visibility) -> tuple[str | None, ...]:
    return (scope.tenant, scope.user_id, scope.agent_id, scope.project_id, scope.thread_id, visibility)


@dataclass(frozen=True, slots=True)
class Ingest:
    """The way in for one principal, in one scope, at one moment."""

    store: Store
    threads: Threads
    clock: Clock
    principal: Principal
    scope: Scope
    visibility: Visibility

    def remember(self, statement: Statement, key: str | None) -> Remembered:
        """Durable when it returns; with a key, a repeat answers the same and writes nothing."""
        digest = _digest("remember", self.scope, self.visibility, statement) if key else ""

        def attempt() -> Remembered:
            now = self.clock.now()
            thread, changes = self._thread(now)
            event = self._event(thread, _message(statement), now)
            item = self._item(statement, now)
            version = Version(
                id=VersionId(self.clock.mint()),
                item_id=item.id,
                level=Level.R3,
                content=statement.text,
                bullets=(Bullet(statement.text, (EventWitness(event.id, "said so"),)),),
                created_at=now,
            )
            changes += [Append(event), Create(item), Derive(version)]
            rev = self._apply(thread, changes, now, key, digest, {"item_id": item.id, "event_id": event.id})
            return Remembered(item.id, event.id, rev)

        def repeat(receipt: Receipt) -> Remembered:
            answer = json.loads(receipt.answer)
            return Remembered(answer["item_id"], answer["event_id"], receipt.rev)

        return self._once(key, digest, attempt, repeat)

    def append(self, messages: Sequence[Message], key: str | None) -> Appended:
        """Evidence alone: messages into the thread, in one write."""
        digest = _digest("append", self.scope, self.visibility, *messages) if key else ""

        def attempt() -> Appended:
            now = self.clock.now()
            thread, changes = self._thread(now)
            events = [self._event(thread, message, now) for message in messages]
            ids = tuple(event.id for event in events)
            answer: dict[str, object] = {"episode_id": thread.item.id, "event_ids": list(ids)}
            rev = self._apply(thread, [*changes, *(Append(event) for event in events)], now, key, digest, answer)
            return Appended(thread.item.id, ids, rev)

        def repeat(receipt: Receipt) -> Appended:
            answer = json.loads(receipt.answer)
            return Appended(answer["episode_id"], tuple(answer["event_ids"]), receipt.rev)

        return self._once(key, digest, attempt, repeat)

    # -- parts ----------------------------------------------------------------------------------------------

    def _thread(self, now: datetime) -> tuple[Held, list[Change]]:
        """The episode that owns the scope's thread, and its creation where it is new."""
        held = self.threads.of(self.scope, self.visibility)
        if held:
            self._may(held.item)
            return held, []
        episode = self._blank(Episode(), now, category="episode")
        self._may(episode)
        return Held(episode, UNWRITTEN, withdrawn=False), [Create(episode)]

    def _item(self, statement: Statement, now: datetime) -> Item:
        item = self._blank(
            statement.body or _fact(statement.text),
            now,
            category=statement.category,
            importance=statement.importance,
            tags=statement.tags,
            trust=statement.trust,
        )
        self._may(item)
        return item

    def _blank(
        self,
        body: Body,
        now: datetime,
        *,
        category: str,
        importance: int = 3,
        tags: tuple[str, ...] = (),
        trust: Trust = Trust.TRUSTED,
    ) -> Item:
        return Item(
            id=ItemId(self.clock.mint()),
            body=body,
            category=category,
            visibility=self.visibility,
            user_id=self.scope.user_id,
            agent_id=self.scope.agent_id,
            project_id=self.scope.project_id,
            thread_id=self.scope.thread_id,
            run_id=self.scope.run_id,
            actor_id=self.principal.id,
            importance=importance,
            tags=tags,
            trust=trust,
            origin_at=now,
            created_at=now,
            updated_at=now,
        )

    def _event(self, thread: Held, message: Message, now: datetime) -> Event:
        return Event(
            id=EventId(self.clock.mint()),
            item_id=thread.item.id,
            ts=message.ts or now,
            author=message.author,
            role=message.role,
            text=message.text,
            trust=message.trust,
            meta=message.meta,
        )

    def _may(self, item: Item) -> None:
        answer = may_write(self.principal, item)
        if isinstance(answer, Denied):
            raise Forbidden(f"{self.principal.id} may not write this memory: {answer.why}")

    def _apply(
        self,
        thread: Held,
        changes: Sequence[Change],
        now: datetime,
        key: str | None,
        digest: str,
        answer: Mapping[str, object],
    ) -> Rev:
        new = thread.rev == UNWRITTEN
        rev = self.store.apply(
            self.scope,
            changes,
            actor=actor(self.principal),
            at=now,
            expect={} if new else {thread.item.id: thread.rev},
            receipt=Receipt(key, digest, codec.canonical(answer)) if key else None,
        )
        if new:
            self.threads.keep(self.scope, replace(thread, rev=rev))
        return rev

    def _once(self, key: str | None, digest: str, attempt: Callable[[], T], repeat: Callable[[Receipt], T]) -> T:
        """The attempt, again when others were in the way; the first answer where the key was used before."""
        name(key, "the idempotency key")
        for _ in range(_TRIES):
            known = self.store.receipt(self.scope.tenant, self.principal.id, key) if key else None
            if known:
                if known.digest not in (digest, ""):  # blank: what it was for has been erased since
                    raise KeyReused(
                        f"the idempotency key {key!r} was used for another request", "Use a new key for each request."
                    )
                return repeat(known)
            try:
                return attempt()
            except (Repeated, Stale):
                self.threads.forget(self.scope, self.visibility)
        raise Stale("others kept writing to the same thread", [])


def _digest(use: str, scope: Scope, visibility: Visibility, *parts: Statement | Message) -> str:
    """What a request asked for, so that a key is not used for two different ones."""
    asked = [use, codec.encode(scope), visibility.value, *(codec.encode(part) for part in parts)]
    return sha256(codec.canonical(asked).encode(errors="surrogatepass")).hexdigest()


def _fact(text: str) -> Fact:
    """The statement as the value of a fact, where it is short enough to be one; its words are in its version anyway."""
    return Fact(value=text) if len(text) <= LONGEST_VALUE else Fact()


def _message(statement: Statement) -> Message:
    return Message(text=statement.text, author=statement.author, trust=statement.trust, ts=statement.ts)
