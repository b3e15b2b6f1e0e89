"""Evidence comes in: words into the thread they belong to, and memories that cite them.

Secrets are taken out before anything is looked at. Who sends a turn is answered when it is durable; what is made of it
follows by a job that the same write puts into the outbox.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TypeVar, cast

from recollect.clock import Clock
from recollect.domain import codec
from recollect.domain.change import Append, Change, Create, Verb, revise
from recollect.domain.event import MARKS, STATED, Event
from recollect.domain.ids import EventId, ItemId, JobId, Rev
from recollect.domain.item import LONGEST_VALUE, Active, Artifact, Episode, Fact, Item, Visibility
from recollect.domain.job import Job
from recollect.domain.lines import one_line_names
from recollect.domain.scope import Principal, Scope, actor
from recollect.domain.text import name
from recollect.errors import Forbidden, KeyReused, Repeated, Stale
from recollect.holdings import UNWRITTEN, Held, Receipt
from recollect.policy import lifecycle, trust
from recollect.policy.access import Denied, may_write
from recollect.policy.categories import EVERY_CATEGORY, Allowed
from recollect.policy.chunks import chunks
from recollect.policy.clean import clean, refuse_secret
from recollect.policy.speech import days
from recollect.policy.speech.hearing import name_of
from recollect.policy.upkeep import Upkeep
from recollect.ports import Embedder, Judge, Store
from recollect.write import repeats
from recollect.write.change_finder import change_finder
from recollect.write.commit import Commit, Decided
from recollect.write.draft import Draft, about
from recollect.write.extraction import Extraction, Found
from recollect.write.message import Appended, Ingested, Message, Remembered, Statement
from recollect.write.owner import Owner
from recollect.write.private_words import open_title, private_events, unmarked_events
from recollect.write.repeats import Import
from recollect.write.threads import Threads
from recollect.write.vectors import vectors
from recollect.write.wording import worded

__all__ = ["GROUP", "RECOGNISED", "Ingest"]

T = TypeVar("T")
_TRIES = 50
GROUP = 200
"""Messages of one transaction when many come at once."""
RECOGNISED = 8
"""Words from which on a turn without a time of its own is a repeat when the thread has it already: people do say "yes"
twice. What is imported is counted instead."""


@dataclass(slots=True)
class _Taken:
    """Messages on their way in: their events, those among them that are new, and what was taken out."""

    events: list[Event] = field(default_factory=list[Event])
    new: list[Event] = field(default_factory=list[Event])
    redacted: list[str] = field(default_factory=list[str])

    @property
    def repeats(self) -> int:
        return len(self.events) - len(self.new)


@dataclass(frozen=True, slots=True)
class Ingest:
    """The way in for one principal, in one scope."""

    store: Store
    threads: Threads
    clock: Clock
    embedder: Embedder | None
    extraction: Extraction
    principal: Principal
    scope: Scope
    visibility: Visibility
    quiet: timedelta = Upkeep().quiet
    """For how long a thread is silent before it counts as closed."""
    judge: Judge | None = None
    categories: Allowed = EVERY_CATEGORY
    """Those that the principal may read."""

    def remember(self, statement: Statement, key: str | None) -> Remembered:
        """Durable when it returns; with a key, a repeat answers the same and writes nothing."""
        asked = replace(statement, author=statement.author or self.principal.id)
        digest = _digest("remember", self.scope, self.visibility, asked) if key else ""
        named = {"the category": statement.category, "the topic": statement.topic_key, "a tag": statement.tags}
        one_line_names({"the author": statement.author, **named})  # also where it is kept as claimed alone
        said = trust.of_statement(self.principal, statement.author, statement.text, statement.trust)
        (stated, marks), found = clean((replace(statement, author=said.author, trust=said.trust), said.meta))

        def attempt() -> Remembered:
            now, owner = self.clock.now(), self._owner
            thread, changes = self._thread(now, owner)
            event = self._event(thread, _message(stated, marks), now)
            private = self._private([event])
            draft = replace(_draft(stated, event), private=bool(private))
            decided = self._commit(owner).decide([draft], now)
            self._may_make(decided)
            [made] = decided.made
            whole = draft.text == event.text and not event.chunks
            same = [replace(vector, ref=f"e:{event.id}") for vector in decided.vectors if whole]
            decided.vectors += same[:1] if whole else vectors(self.embedder, [event])
            then = [*decided.then]
            answer = {"item_id": made.item_id, "event_id": event.id, "outcome": made.outcome}
            answer["redacted"] = ",".join(found)
            changes += [Append(event), *decided.changes]
            rev = self._apply(thread, changes, now, key, digest, answer, decided, then, private)
            return Remembered(made.item_id, event.id, rev, made.outcome, found)

        def repeat(receipt: Receipt) -> Remembered:
            answer = json.loads(receipt.answer)
            found = tuple(kind for kind in answer["redacted"].split(",") if kind)
            return Remembered(answer["item_id"], answer["event_id"], receipt.rev, answer["outcome"], found)

        return self._once(key, digest, attempt, repeat)

    def append(self, messages: Sequence[Message], key: str | None) -> Appended:
        """Evidence alone, repeats included: messages into the thread, in one write."""
        digest = _digest("append", self.scope, self.visibility, *messages) if key else ""

        def attempt() -> Appended:
            now = self.clock.now()
            thread, changes = self._thread(now, self._owner)
            events = [self._event(thread, clean(self._attributed(message))[0], now) for message in messages]
            private = self._private(events)
            ids = tuple(event.id for event in events)
            answer: dict[str, object] = {"episode_id": thread.item.id, "event_ids": list(ids)}
            changes += [Append(event) for event in events]
            then = [*self._embedding(thread, now), self._closing(thread, now)]
            rev = self._apply(thread, changes, now, key, digest, answer, Decided(), then, private)
            return Appended(thread.item.id, ids, rev)

        def repeat(receipt: Receipt) -> Appended:
            answer = json.loads(receipt.answer)
            return Appended(answer["episode_id"], tuple(answer["event_ids"]), receipt.rev)

        return self._once(key, digest, attempt, repeat)

    def take(
        self,
        messages: Sequence[Message],
        key: str | None,
        *,
        title: str = "",
        artifacts: Sequence[Artifact] = (),
        topic_key: str | None = None,
        wait: bool = False,
        capped: bool = True,
        part_of: Import | None = None,
    ) -> Ingested:
        """Messages into the thread, without those it has already. What is made of them is left to a job, or, with
        `wait`, is part of the same write, also where a language model makes it. `part_of`: the import that they are
        of, which goes on with them."""
        marks = [title, topic_key or "", *(f"{artifact.type}:{artifact.ref}" for artifact in artifacts)]
        digest = _digest("ingest", self.scope, self.visibility, *messages, *marks) if key else ""
        (topic, artifacts), _ = clean((topic_key, tuple(artifacts)))

        def attempt() -> Ingested:
            now, owner = self.clock.now(), self._owner
            thread, changes = self._thread(now, owner, Episode(self._title(title, now), tuple(artifacts)), topic)
            come = part_of.copy() if part_of else None
            taken = self._taken(thread, [_beside(message, artifacts) for message in messages], now, come)
            changes += self._told(thread, artifacts, topic, now)
            changes += [Append(event) for event in taken.new]
            private = self._private(taken.new)
            found, decided = Found(), Decided()
            if wait and taken.new:
                commit = self._commit(owner, private)
                found, decided = self._understood(thread, commit, taken.new, topic, now, capped=capped)
            self._may_make(decided)
            later = [] if wait or not taken.new else [self._extracting(thread, taken.new, now, capped=capped)]
            then = [*decided.then, *later, *([self._closing(thread, now)] if taken.new else ())]
            items = tuple(made.item_id for made in decided.made)
            answer: dict[str, object] = {
                "episode_id": thread.item.id,
                "event_ids": [event.id for event in taken.events],
                "repeats": taken.repeats,
                "redacted": taken.redacted,
                "items": list(items),
                "later": bool(later),
                "left_out": [draft.served for draft in found.left_out],
            }
            private += unmarked_events(self.store, self.scope, self.visibility, found.drafts, private)
            rev = self._apply(thread, [*changes, *decided.changes], now, key, digest, answer, decided, then, private)
            if part_of and come:
                part_of.go_on(come)
            return _ingested(answer, rev)

        return self._once(key, digest, attempt, lambda receipt: _ingested(json.loads(receipt.answer), receipt.rev))

    def many(self, messages: Sequence[Message], *, title: str = "") -> Iterator[Ingested]:
        """A long thread in groups, each durable when it comes out; what is made of them is left to jobs, and no cap
        leaves anything out. What the thread has of it already is not taken in again."""
        part_of = repeats.begun(messages, self._events() if repeats.from_files(messages) else ())
        for start in range(0, len(messages), GROUP):
            yield self.take(messages[start : start + GROUP], None, title=title, capped=False, part_of=part_of)

    def _events(self) -> Iterator[Event]:
        """All that the thread has."""
        thread = self.threads.of(self.scope, self.visibility)
        last = 0
        while thread and (page := self.store.events(self.scope.tenant, thread.item.id, last + 1)):
            yield from page
            last = page[-1].seq

    # -- parts ----------------------------------------------------------------------------------------------

    @property
    def _owner(self) -> Owner:
        return Owner(self.store, self.scope, self.visibility, self.principal.id, self.categories)

    def _commit(self, owner: Owner, private: Iterable[EventId] = ()) -> Commit:
        return Commit(self.store, self.embedder, self.clock, owner, private=frozenset(private))

    def _thread(
        self, now: datetime, owner: Owner, blank: Episode | None = None, topic: str | None = None
    ) -> tuple[Held, list[Change]]:
        """The episode that owns the scope's thread, and its creation where it is new."""
        held = self.threads.of(self.scope, self.visibility)
        if held:
            self._may(held.item)
            return held, self._revived(held, now, owner)
        body, scope = blank or Episode(), self.scope
        given = {"user_id": scope.user_id, "project_id": scope.project_id, "thread_id": scope.thread_id}
        one_line_names({**given, "the topic": topic, "an artifact": [artifact.ref for artifact in body.artifacts]})
        episode = owner.item(ItemId(self.clock.mint()), body, now, category="episode", topic_key=topic)
        self._may(episode)
        return Held(episode, UNWRITTEN, withdrawn=False), [Create(episode)]

    def _revived(self, thread: Held, now: datetime, owner: Owner) -> list[Change]:
        """A thread that a rule has hidden goes on."""
        if isinstance(thread.item.state, Active):
            return []
        back = lifecycle.revived(thread.item, owner.epoch, now)
        self.threads.forget(self.scope, self.visibility)
        return [back] if back else []

    def _told(self, thread: Held, artifacts: Sequence[Artifact], topic: str | None, now: datetime) -> list[Change]:
        """What a thread that was there already is about besides. A topic that it has stays."""
        item = thread.item
        if thread.rev == UNWRITTEN or not isinstance(item.body, Episode):
            return []
        united = tuple(dict.fromkeys((*item.body.artifacts, *artifacts)))
        after = replace(item, body=replace(item.body, artifacts=united), topic_key=item.topic_key or topic)
        if after == item:
            return []
        self.threads.forget(self.scope, self.visibility)
        return [revise(item, after, now, Verb.UPDATE)]

    def _taken(self, thread: Held, messages: Sequence[Message], now: datetime, part_of: Import | None) -> _Taken:
        """Messages without their secrets, as events; those that the thread has already as the events they are."""
        bare = [clean(self._attributed(message)) for message in messages]
        texts = [message.text for message, _ in bare]
        held: Mapping[str, Sequence[Event]] = (
            self.store.repeats(self.scope.tenant, thread.item.id, texts) if thread.rev != UNWRITTEN else {}
        )
        taken = _Taken()
        for message, found in bare:
            beside = held.get(message.text, ())
            known = part_of.recognise(message, beside) if part_of else _recognised(message, (*beside, *taken.new))
            event = known if isinstance(known, Event) else self._event(thread, known, now)
            taken.events.append(event)
            taken.new += [] if isinstance(known, Event) else [event]
            taken.redacted += [kind for kind in found if kind not in taken.redacted]
        return taken

    def _understood(
        self, thread: Held, commit: Commit, new: Sequence[Event], topic: str | None, now: datetime, *, capped: bool
    ) -> tuple[Found, Decided]:
        """The memories in new messages of a thread, what is to be done about them, and the vectors of the messages."""
        known = thread.rev != UNWRITTEN
        before = self.store.latest(self.scope.tenant, thread.item.id, self.extraction.context) if known else ()
        finder = change_finder(self.judge, self.embedder, self.extraction)
        found = self.extraction.found(before, new, self.scope.user_id, capped=capped, passed_over=finder is not None)
        about_this = thread.item.topic_key or topic
        decided = commit.decide(about(about_this, found.drafts), now)
        if finder:
            found = finder.add(commit, decided, found, about_this, now, capped=capped)
        decided.vectors += vectors(self.embedder, new)
        return found, decided

    def _title(self, title: str, now: datetime) -> str:
        return open_title(clean(title)[0], self.visibility, self.extraction.keeper, now)

    def _private(self, new: Sequence[Event]) -> list[EventId]:
        return private_events(new, self.visibility, self.extraction.keeper)

    def _extracting(self, thread: Held, new: Sequence[Event], now: datetime, *, capped: bool) -> Job:
        more = {"events": [event.id for event in new], **({} if capped else {"capped": False})}
        return self._job("extract", self.clock.mint(), thread, now, more)

    def _embedding(self, thread: Held, now: datetime) -> Iterator[Job]:
        if self.embedder:
            yield self._job("embed", thread.item.id, thread, now, {})

    def _closing(self, thread: Held, now: datetime) -> Job:
        """The thread is looked at when it may have come to rest; what is said until then moves that on."""
        return replace(self._job("close", thread.item.id, thread, now, {}), not_before=now + self.quiet)

    def _job(self, kind: str, key: str, thread: Held, now: datetime, more: Mapping[str, object]) -> Job:
        payload = {"episode_id": thread.item.id, **more}
        return Job(id=JobId(self.clock.mint()), kind=kind, key=key, payload=payload, not_before=now)

    def _attributed(self, message: Message) -> Message:
        """A message as whose words it is kept, and how far they are believed. Who brings it sets none of our marks."""
        said = trust.of_message(self.principal, message.author, message.role, message.trust, self.scope.user_id)
        own = {name: value for name, value in message.meta.items() if name not in MARKS}
        return replace(message, author=said.author, trust=said.trust, meta={**own, **said.meta})

    def _event(self, thread: Held, message: Message, now: datetime) -> Event:
        one_line_names({"the author": message.author, "the role": message.role})
        return Event(
            id=EventId(self.clock.mint()),
            item_id=thread.item.id,
            ts=message.ts or now,
            author=message.author,
            role=message.role,
            text=message.text,
            trust=message.trust,
            chunks=chunks(message.text),
            meta=message.meta,
        )

    def _may(self, item: Item) -> None:
        answer = may_write(self.principal, item)
        if isinstance(answer, Denied):
            raise Forbidden(f"{self.principal.id} may not write this memory: {answer.why}")

    def _may_make(self, decided: Decided) -> None:
        for change in decided.changes:
            if isinstance(change, Create):
                self._may(change.item)
        for item in decided.superseded:
            self._may(item)

    def _apply(
        self,
        thread: Held,
        changes: Sequence[Change],
        now: datetime,
        key: str | None,
        digest: str,
        answer: Mapping[str, object],
        decided: Decided,
        then: Sequence[Job] | Iterator[Job],
        private: Sequence[EventId],
    ) -> Rev:
        new = thread.rev == UNWRITTEN
        rev = self.store.apply(
            self.scope,
            changes,
            actor=actor(self.principal),
            at=now,
            expect={**decided.expect, **({} if new else {thread.item.id: thread.rev})},
            then=list(then),
            vectors=decided.vectors,
            private=private,
            receipt=Receipt(self._own(key), digest, codec.canonical(answer)) if key else None,
        )
        if new:
            self.threads.keep(self.scope, replace(thread, rev=rev))
        return rev

    def _own(self, key: str) -> str:
        """The key as it is kept: an agent's is not that of the person, or of another agent, that goes by its id."""
        agent = self.principal.agent_id
        return codec.canonical([agent, key]) if agent else key

    def _once(self, key: str | None, digest: str, attempt: Callable[[], T], repeat: Callable[[Receipt], T]) -> T:
        """The attempt, again when others were in the way; the first answer where the key was used before."""
        name(key, "the idempotency key")
        refuse_secret(key, "the idempotency key")
        for _ in range(_TRIES):
            known = self.store.receipt(self.scope.tenant, self.principal.id, self._own(key)) if key else None
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


def _digest(use: str, scope: Scope, visibility: Visibility, *parts: Statement | Message | str) -> str:
    """What a request asked for, so that a key is not used for two different ones."""
    asked = [use, codec.encode(scope), visibility.value]
    asked += [part if isinstance(part, str) else codec.encode(part) for part in parts]
    return sha256(codec.canonical(asked).encode(errors="surrogatepass")).hexdigest()


def _beside(message: Message, artifacts: Sequence[Artifact]) -> Message:
    """A message with the artifacts that it came with: it is found by their names."""
    if not artifacts:
        return message
    return replace(message, meta={"artifacts": [artifact.ref for artifact in artifacts], **message.meta})


def _recognised(message: Message, events: Iterable[Event]) -> Event | Message:
    """The event that a message is already, or the message."""
    return next((event for event in events if _repeats(message, event)), message)


def _repeats(message: Message, event: Event) -> bool:
    """Whether the thread has a message already: the same words of the same author at the same time. Where no time is
    told, the words must be enough to be recognised by."""
    if (message.text, message.author, message.role) != (event.text, event.author, event.role):
        return False
    if not repeats.as_believed(message, event):
        return False
    return message.ts == event.ts if message.ts else len(message.text.split()) >= RECOGNISED


def _ingested(answer: Mapping[str, object], rev: Rev) -> Ingested:
    told = {field: cast(Sequence[str], answer[field]) for field in ("event_ids", "redacted", "items")}
    return Ingested(
        episode_id=ItemId(str(answer["episode_id"])),
        event_ids=tuple(EventId(id) for id in told["event_ids"]),
        repeats=int(str(answer["repeats"])),
        redacted=tuple(told["redacted"]),
        items=tuple(ItemId(id) for id in told["items"]),
        later=bool(answer["later"]),
        left_out=tuple(cast(Sequence[str], answer.get("left_out", ()))),
        rev=rev,
    )


def _draft(statement: Statement, event: Event) -> Draft:
    text, quotation = worded(event)
    moments = days.dated(event.text, event.ts)
    return Draft(
        text=text,
        quotation=quotation,
        body=statement.body or _fact(event, text),
        valid_from=moments.valid_from,
        valid_to=moments.valid_to,
        category=statement.category,
        importance=statement.importance,
        tags=statement.tags,
        trust=statement.trust,
        topic_key=statement.topic_key,
        supersedes=statement.supersedes,
        witnesses=(event,),
    )


def _fact(event: Event, text: str) -> Fact:
    """The statement as the value of a fact, where it is short enough to be one; its words are in its version anyway.
    What is told or quoted of somebody is that one's."""
    scope = name_of(event) if text != event.text else None
    return Fact(value=event.text if len(event.text) <= LONGEST_VALUE else None, scope=scope)


def _message(statement: Statement, marks: Mapping[str, object]) -> Message:
    author, meta = statement.author or "unknown", {STATED: True, **marks}
    return Message(text=statement.text, author=author, trust=statement.trust, ts=statement.ts, meta=meta)
