"""Memory: the front door. One short method per use case; a principal stands behind every one of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from recollect.custody import Custody, Deps
from recollect.domain import witness as notation
from recollect.domain.change import Change, Note, Protect, Verb, move, revise
from recollect.domain.event import Event, Trust
from recollect.domain.ids import ItemId, Rev, Seq
from recollect.domain.item import Active, Archived, Artifact, Body, Item, SoftDeleted, State, Visibility
from recollect.domain.journal import Entry
from recollect.domain.query import Answer, Filters, Page, Query
from recollect.domain.record import RULES, Rules
from recollect.domain.scope import Principal, Role, Scope, actor
from recollect.domain.text import sound
from recollect.domain.witness import ChunkWitness, EventWitness, RangeWitness, Witness
from recollect.errors import Forbidden, Invalid, NotFound, checked
from recollect.policy import access
from recollect.policy.access import Action
from recollect.policy.categories import AllBut, Only
from recollect.policy.clean import clean
from recollect.ports import Held
from recollect.read.query import Reader
from recollect.read.shown import Shown
from recollect.read.tally import Tally
from recollect.write.extraction import Extraction
from recollect.write.foreign import Thread
from recollect.write.ingest import Ingest
from recollect.write.message import Appended, Bulk, Ingested, Message, Remembered, Statement
from recollect.write.threads import Threads

PURGE_AFTER = timedelta(days=30)
DEFAULT_THREAD = "notes"
LONGEST_QUERY = 10_000
EDITABLE = frozenset({"body", "category", "importance", "tags", "topic_key", "valid_from", "valid_to", "private"})
_EVERYTHING = Page()
_ACTIVE = Filters()


class Memory(Custody):
    """Long-term memory, as one principal may use it."""

    def __init__(
        self, deps: Deps, principal: Principal, threads: Threads | None = None, tally: Tally | None = None
    ) -> None:
        super().__init__(deps, principal, tally)
        self._threads = threads or Threads(deps.store)

    def acting(self, principal: Principal) -> "Memory":
        """The same store in the hands of somebody else."""
        return Memory(self._deps, principal, self._threads, self._tally)

    # -- remembering --------------------------------------------------------------------------------------

    def remember(
        self,
        text: str,
        *,
        body: Body | None = None,
        category: str = "knowledge",
        importance: int = 3,
        tags: Sequence[str] = (),
        visibility: Visibility | None = None,
        user_id: str | None = None,
        project_id: str | None = None,
        thread_id: str = DEFAULT_THREAD,
        run_id: str | None = None,
        author: str | None = None,
        trust: Trust = Trust.TRUSTED,
        ts: datetime | None = None,
        key: str | None = None,
    ) -> Remembered:
        """Keep a statement: its words as an event of the thread, and a memory that cites them.

        Durable when it returns. With an idempotency `key`, a repeat answers the same and writes nothing.
        """
        statement = Statement(
            text=text,
            author=author or self.principal.id,
            body=body,
            category=category,
            importance=importance,
            tags=tuple(tags),
            trust=trust,
            ts=ts,
        )
        with checked():
            kept = self._ingest(visibility, user_id, project_id, thread_id, run_id).remember(statement, key)
        self._deps.wake()
        return kept

    def append(
        self,
        messages: Sequence[Message],
        *,
        thread_id: str,
        visibility: Visibility | None = None,
        user_id: str | None = None,
        project_id: str | None = None,
        run_id: str | None = None,
        key: str | None = None,
    ) -> Appended:
        """Keep evidence: messages, word for word, at the end of a thread."""
        if not messages:
            raise Invalid("there are no messages to append")
        with checked():
            appended = self._ingest(visibility, user_id, project_id, thread_id, run_id).append(messages, key)
        self._deps.wake()
        return appended

    def ingest(
        self,
        messages: Sequence[Message],
        *,
        thread_id: str,
        title: str = "",
        artifacts: Sequence[Artifact] = (),
        visibility: Visibility | None = None,
        user_id: str | None = None,
        project_id: str | None = None,
        run_id: str | None = None,
        wait: bool = False,
        key: str | None = None,
    ) -> Ingested:
        """Take in messages: each becomes evidence, secrets taken out and repeats left out. Durable, and found by its
        words, when it returns. What is worth remembering in them becomes memories that cite them: right after, or,
        with `wait`, before it returns."""
        if not messages:
            raise Invalid("there are no messages to take in")
        with checked():
            way = self._ingest(visibility, user_id, project_id, thread_id, run_id)
            taken = way.take(messages, key, title=title, artifacts=artifacts, wait=wait)
        self._deps.wake()
        return taken

    def bulk(
        self,
        threads: Iterable[Thread],
        *,
        visibility: Visibility | None = None,
        user_id: str | None = None,
        project_id: str | None = None,
        progress: Callable[[int], None] = lambda count: None,
    ) -> Bulk:
        """Take in many messages in few writes. They are evidence and found by their words at once; vectors and memories
        follow by jobs. `progress` is told after each group how many messages it had."""
        total: Bulk = Bulk()
        for thread in threads:
            with checked():
                way = self._ingest(visibility, user_id, project_id, thread.id, None)
                for taken in way.many(thread.messages, title=thread.title):
                    total = total.and_then(taken)
                    progress(len(taken.event_ids))
            total = replace(total, threads=total.threads + 1)
        self._deps.wake()
        return total

    def _ingest(
        self,
        visibility: Visibility | None,
        user_id: str | None,
        project_id: str | None,
        thread_id: str,
        run_id: str | None,
    ) -> Ingest:
        kept = visibility or (Visibility.PROJECT_SHARED if project_id and not user_id else Visibility.USER_PRIVATE)
        if kept is Visibility.USER_PRIVATE and user_id is None:
            user_id = self._only_user()
        scope = Scope(
            tenant=self._tenant,
            user_id=user_id,
            agent_id=self.principal.agent_id,
            project_id=project_id,
            thread_id=thread_id,
            run_id=run_id,
        )
        self._gate.enter(scope)
        deps = self._deps
        return Ingest(
            deps.store,
            self._threads,
            deps.clock,
            deps.embedder,
            Extraction(deps.store, deps.clock, deps.embedder, deps.writer, deps.caps, self._tenant),
            self.principal,
            scope,
            kept,
        )

    def _only_user(self) -> str | None:
        """Who is meant where nobody is named: a person means themselves, an agent the one user it works for."""
        if self.principal.role is not Role.AGENT:
            return self.principal.id
        users = self.principal.users or frozenset[str]()
        return next(iter(users)) if len(users) == 1 else None

    # -- reading ------------------------------------------------------------------------------------------

    def show(self, item_id: ItemId) -> Shown:
        """A memory, its versions and the events behind them."""
        held = self._read(item_id)
        versions = self._store.versions(self._tenant, item_id)
        events = self._store.cited(self._tenant, [version.id for version in versions])
        seen = self._gate.readable(event.item_id for event in events)
        return Shown(held.item, held.rev, versions, [event for event in events if event.item_id in seen])

    def _read(self, item_id: ItemId, *, withdrawn: bool = False) -> Held:
        """A memory that may be read, also by its category where an agent asks: a list that holds for questions holds
        for ids, too."""
        held = self._gate.read(item_id, withdrawn=withdrawn)
        if not self._deps.categories.allowed(self.principal.agent_id).holds(held.item.category):
            raise Forbidden(
                f"the agent {self.principal.agent_id!r} may not read the category {held.item.category!r}",
                "Its allowlist is in the settings: categories.",
            )
        return held

    def _granted(self, filters: Filters) -> Filters:
        """The filters, narrowed to the categories that an agent may read."""
        match self._deps.categories.allowed(self.principal.agent_id):
            case Only(names):
                return replace(
                    filters, categories=names & (names if filters.categories is None else filters.categories)
                )
            case AllBut(names):
                return replace(filters, without=filters.without | names)

    def items(self, filters: Filters = _ACTIVE, page: Page = _EVERYTHING) -> Sequence[Item]:
        """Memories in sight, newest first."""
        found = self._store.items(self._tenant, self._granted(filters), access.sight(self.principal), page)
        return [held.item for held in found]

    def lines(self, filters: Filters = _ACTIVE, page: Page = _EVERYTHING) -> Sequence[Shown]:
        """Memories in sight with their words, newest first; their evidence is left to `show`."""
        found = self._store.items(self._tenant, self._granted(filters), access.sight(self.principal), page)
        return [Shown(held.item, held.rev, self._store.versions(self._tenant, held.item.id), ()) for held in found]

    def thread(self, item_id: ItemId, *, after: int = 0, limit: int = 1000) -> Sequence[Event]:
        """The events of a thread, by the id of its episode, in their order."""
        self._read(item_id)
        return self._store.events(self._tenant, item_id, first=after + 1, limit=limit)

    def find(self, name: str) -> ItemId:
        """The memory whose id is, or ends with, this; erased ones are found too, to be told from unknown ones."""
        with checked():
            sound(name, "the id", 36)
        if not name.strip():
            raise Invalid("the id is blank", "List the memories with: recollect show")
        found = list(self._store.named(self._tenant, name.lower(), access.sight(self.principal)))
        if not found:
            erased = [t.ref[2:] for t in self._store.tombstones(self._tenant) if t.ref.startswith("i:")]
            found = [ItemId(id) for id in erased if id.endswith(name.lower())]
        if len(found) > 1:
            raise Invalid(f"{len(found)} memories have an id that ends with {name!r}", "Give more of the id.")
        if not found:
            raise NotFound(f"there is no memory {name}", "List them with: recollect show")
        return found[0]

    def query(self, query: Query) -> Answer:
        """What memory knows about a question, within a budget of tokens, or nothing where it knows nothing."""
        with checked():
            sound(query.text, "the query", LONGEST_QUERY)
            self._gate.speak_for(query.agent)
            served = Reader(
                self._store, self._deps.embedder, self._deps.clock, self.principal, self._deps.categories
            ).answer(query)
        self._tally.add(self._tenant, served.observations)
        return served.answer

    def evidence(self, item_id: ItemId, witness: str | None = None) -> Sequence[Event]:
        """The events behind a memory; with `witness`, those of them that it names (e:, s:, c:, joined by commas). A
        chunk comes out as its own part of the text."""
        held = self._read(item_id)
        thread = held.item.kind == "episode"
        if witness is None:
            return self.thread(item_id) if thread else self.show(item_id).evidence
        cited = () if thread else self.show(item_id).evidence
        with checked():
            named = notation.read(witness, cited[0].item_id if cited else item_id)
        return [event for one in named for event in self._named(one, item_id if thread else None, cited)]

    def _named(self, witness: Witness, thread: ItemId | None, cited: Sequence[Event]) -> Sequence[Event]:
        """The events that a witness names, out of a thread or out of those that a memory cites."""
        match witness:
            case RangeWitness(_, first, last):
                if thread:
                    return self._store.events(self._tenant, thread, first, last)
                return [event for event in cited if first <= event.seq <= last]
            case EventWitness(event_id) | ChunkWitness(event_id):
                found = self._store.events_by_id(self._tenant, [event_id]) if thread else cited
                events = [
                    event for event in found if event.id == event_id and event.item_id == (thread or event.item_id)
                ]
        if isinstance(witness, EventWitness):
            return events
        return [chunk for event in events for chunk in event.chunk(witness.number)]

    def history(self, item_id: ItemId) -> Sequence[Entry]:
        """Everything that happened to a memory, oldest first."""
        self._read(item_id, withdrawn=True)
        return self._gate.legible(self._store.entries(self._tenant, refs=[f"i:{item_id}"]), item_id)

    def journal(self, *, limit: int = 100, before: int | None = None) -> Sequence[Entry]:
        """The latest entries of the tenant, newest first, without their bodies."""
        self._gate.allow(Action.OVERSEE)
        end = before if before is not None else self._store.head(self._tenant).seq + 1
        seqs = [Seq(seq) for seq in range(max(1, end - limit), end)]
        found = self._store.entries(self._tenant, seqs=seqs)
        return [entry.blind for entry in reversed(found)]

    # -- changing -----------------------------------------------------------------------------------------

    def revise(self, item_id: ItemId, **fields: object) -> Rev:
        """Change what a memory says of itself: body, category, importance, tags, topic, validity, privacy."""
        for name in sorted(fields.keys() - EDITABLE):
            raise Invalid(f"the field {name!r} is not revised this way", f"There are: {', '.join(sorted(EDITABLE))}.")
        held = self._gate.write(item_id)
        with checked():
            after = replace(held.item, **clean(fields)[0])  # type: ignore[arg-type]
            change = revise(held.item, after, self._deps.clock.now(), Verb.UPDATE)
        return self._change(held, [change])

    def archive(self, item_id: ItemId, reason: str = "") -> Rev:
        """Out of default retrieval; still searchable."""
        with checked():
            state = Archived(self._deps.clock.now(), reason)
        return self._move(item_id, state)

    def delete(self, item_id: ItemId, reason: str = "") -> Rev:
        """Hide a memory. It is kept, unless the tenant chose to purge what is deleted."""
        now = self._deps.clock.now()
        with checked():
            state = SoftDeleted(now, now + PURGE_AFTER, reason)
        return self._move(item_id, state)

    def restore(self, item_id: ItemId) -> Rev:
        """Bring back what was archived, expired or deleted."""
        return self._move(item_id, Active())

    def protect(self, item_id: ItemId, on: bool = True) -> Rev:
        """Make a memory constitutional, or lift that."""
        self._gate.allow(Action.PROTECT)
        held = self._gate.read(item_id)
        if held.item.trust is Trust.UNTRUSTED and on:
            raise Invalid("what is untrusted never becomes constitutional")
        if held.item.constitutional == on:
            return held.rev
        return self._change(held, [Protect(item_id, not on, on)])

    def rules(self) -> Rules:
        """The tenant's own choices."""
        found = self._store.record(self._tenant, "rules", RULES)
        return found if isinstance(found, Rules) else Rules()

    def set_rules(self, rules: Rules) -> Rev:
        self._gate.allow(Action.CONFIGURE)
        before = self._store.record(self._tenant, "rules", RULES)
        return self._apply([Note(before, rules)])

    def _move(self, item_id: ItemId, state: State) -> Rev:
        held = self._gate.write(item_id)
        state, _ = clean(state)
        if type(held.item.state) is type(state):
            return held.rev
        return self._change(held, [move(held.item, state, self._deps.clock.now())])

    def _change(self, held: Held, changes: Sequence[Change]) -> Rev:
        return self._store.apply(
            self._scope_of(held.item),
            changes,
            actor=actor(self.principal),
            at=self._deps.clock.now(),
            expect={held.item.id: held.rev},
        )

    def _apply(self, changes: Sequence[Change]) -> Rev:
        return self._store.apply(
            Scope(tenant=self._tenant), changes, actor=actor(self.principal), at=self._deps.clock.now()
        )

    def _scope_of(self, item: Item) -> Scope:
        return Scope(
            tenant=self._tenant,
            user_id=item.user_id,
            agent_id=item.agent_id,
            project_id=item.project_id,
            thread_id=item.thread_id,
        )

    def close(self) -> None:
        self._deps.rest()
        try:
            self._tally.flush()
        finally:
            self._store.close()

    def __enter__(self) -> "Memory":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
