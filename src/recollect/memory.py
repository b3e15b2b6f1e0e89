"""Memory: the front door. One short method per use case; a principal stands behind every one of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from recollect.custody import Deps
from recollect.domain.event import Trust
from recollect.domain.ids import ItemId, Seq
from recollect.domain.item import Artifact, Body, Item, Visibility
from recollect.domain.journal import Entry
from recollect.domain.level import Level
from recollect.domain.portion import MOST, Portion, limited
from recollect.domain.query import Answer, Filters, Page, Query
from recollect.domain.scope import Principal, Role, Scope
from recollect.domain.text import sound
from recollect.domain.version import Version
from recollect.errors import Invalid, checked
from recollect.gate import unknown
from recollect.levels import Levels
from recollect.policy import access
from recollect.policy.access import Action
from recollect.policy.categories import AllBut, Only
from recollect.policy.clean import clean, refuse_secret
from recollect.read import leveled, receipts
from recollect.read.shown import Shown, current
from recollect.read.tally import Tally
from recollect.write.extraction import Extraction
from recollect.write.foreign import Thread
from recollect.write.ingest import Ingest
from recollect.write.message import Appended, Bulk, Ingested, Message, Remembered, Statement
from recollect.write.threads import Threads

DEFAULT_THREAD = "notes"
_EVERYTHING = Page()
_ACTIVE = Filters()


class Memory(Levels):
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
        topic_key: str | None = None,
        supersedes: ItemId | None = None,
        wait: bool = False,
        key: str | None = None,
    ) -> Remembered:
        """Keep a statement: its words as an event of the thread, and a memory that cites them.

        Durable when it returns. With `wait`, it has been judged by then what it changes, as by `ingest`. With an
        idempotency `key`, a repeat answers the same and writes nothing.
        """
        with checked():
            statement = Statement(
                text=text,
                author=author,
                body=body,
                category=category,
                importance=importance,
                tags=tuple(tags),
                trust=trust,
                ts=ts,
                topic_key=topic_key,
                supersedes=supersedes,
            )
            kept = self._ingest(visibility, user_id, project_id, thread_id, run_id).remember(statement, key)
        self._deps.wake()
        if wait:
            self._deps.judged(self.principal.tenant, [kept.item_id])
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
        topic_key: str | None = None,
        visibility: Visibility | None = None,
        user_id: str | None = None,
        project_id: str | None = None,
        run_id: str | None = None,
        wait: bool = False,
        key: str | None = None,
    ) -> Ingested:
        """Take in messages: each becomes evidence, secrets taken out and repeats left out. Durable, and found by its
        words, when it returns. What is worth remembering in them becomes memories that cite them: right after, or,
        with `wait`, before it returns; then they have been compared with those before them as well, unless that takes
        seconds or is left to a server."""
        if not messages:
            raise Invalid("there are no messages to take in")
        with checked():
            way = self._ingest(visibility, user_id, project_id, thread_id, run_id)
            taken = way.take(messages, key, title=title, artifacts=artifacts, topic_key=topic_key, wait=wait)
        self._deps.wake()
        if wait:
            self._deps.judged(self.principal.tenant, taken.items)
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
                way = self._ingest(visibility, user_id, project_id, clean(thread.id)[0], None)
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
        for given in (user_id, project_id, thread_id, run_id):
            refuse_secret(given, "the name of a user, project, thread or run")
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
            Extraction(deps.store, deps.clock, deps.writer, deps.caps, self._tenant, deps.keeper),
            self.principal,
            scope,
            kept,
            deps.upkeep.quiet,
            deps.judge,
            deps.categories.allowed(self.principal.agent_id),
        )

    def _only_user(self) -> str | None:
        """Who is meant where nobody is named: a person means themselves, an agent the one user it works for."""
        if self.principal.role is not Role.AGENT:
            return self.principal.id
        users = self.principal.users or frozenset[str]()
        return next(iter(users)) if len(users) == 1 else None

    # -- reading ------------------------------------------------------------------------------------------

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
        return [self._gate.outlined(held.item) for held in found]

    def lines(self, filters: Filters = _ACTIVE, page: Page = _EVERYTHING) -> Sequence[Shown]:
        """Memories in sight with their words, newest first; their evidence is left to `show`."""
        found = self._store.items(self._tenant, self._granted(filters), access.sight(self.principal), page)
        return [Shown(self._gate.outlined(held.item), held.rev, self._headline(held.item), Portion()) for held in found]

    def _headline(self, item: Item) -> Version | None:
        """What a list shows of a memory: its summary or less, whatever is served of it."""
        versions = leveled.open_versions(self._look, item)
        return current(item, [version for version in versions if version.level <= Level.R3])

    def find(self, name: str) -> ItemId:
        """The memory whose id is, or ends with, this; for an admin erased ones are found too, to be told from unknown
        ones. Where there is none, the event that is called so: it is shown by the same name."""
        with checked():
            sound(name, "the id", 36)
        if not name.strip():
            raise Invalid("the id is blank", "List the memories with: recollect show")
        found = self._gate.named(name.lower())
        if len(found) > 1:
            raise Invalid(f"{len(found)} memories have an id that ends so", "Give more of the id.")
        if not found:
            raise unknown()
        return ItemId(found[0])

    def query(self, query: Query) -> Answer:
        """What memory knows about a question, within a budget of tokens, or nothing where it knows nothing. Within a
        turn, a question that comes again gets another context."""
        query = self._admitted(query)
        with checked():
            served = self._reader.answer(query)
        self._tally.add(self._tenant, served.observations)
        self._extend(served.locked)
        return served.answer

    def history(self, item_id: ItemId, *, after: int = 0, limit: int = MOST) -> Portion[Entry, int]:
        """Everything that happened to a memory, oldest first; behind the entry `after`, the `next` of an earlier
        answer."""
        self._gate.read(item_id, withdrawn=True)
        with checked():
            found = receipts.entries(self._store, self._tenant, [f"i:{item_id}"], after=after, limit=limit)
        return Portion(tuple(self._gate.legible(found, item_id)), found.next)

    def journal(self, *, limit: int = 100, before: int | None = None) -> Portion[Entry, int]:
        """The latest entries of the tenant, newest first, without their bodies; before the entry `before`, the `next`
        of an earlier answer."""
        self._gate.allow(Action.OVERSEE)
        with checked():
            limited(limit)
        after_all = self._store.head(self._tenant).seq + 1
        end = min(before, after_all) if before is not None else after_all
        seqs = [Seq(seq) for seq in range(max(1, end - limit), end)]
        found = tuple(reversed(self._store.entries(self._tenant, seqs=seqs, blind=True)))
        return Portion(found, found[-1].header.seq if found and found[-1].header.seq > 1 else None)

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
