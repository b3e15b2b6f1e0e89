"""Memory: the front door. One short method per use case; a principal stands behind every one of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from recollect.care import audit, restore, transfer
from recollect.care import erase as erasing
from recollect.care.audit import Verified
from recollect.care.erase import Wipe
from recollect.care.restore import Target
from recollect.clock import Clock
from recollect.domain.change import Change, Note, Protect, Verb, move, revise
from recollect.domain.event import Event, Trust
from recollect.domain.ids import CauseId, EventId, ItemId, JobId, Rev, Seq
from recollect.domain.item import Active, Archived, Body, Item, SoftDeleted, State, Visibility
from recollect.domain.job import JobStatus
from recollect.domain.journal import Entry, Head
from recollect.domain.query import Filters, Page
from recollect.domain.record import RULES, Rules
from recollect.domain.scope import Principal, Role, Scope, actor
from recollect.domain.text import sound
from recollect.domain.version import Version
from recollect.errors import Forbidden, Invalid, NotFound, StoreError, checked
from recollect.gate import Gate, must
from recollect.policy import access
from recollect.policy.access import Action
from recollect.policy.rollback import Plan
from recollect.ports import Erasures, Held, Kept, Seal, Store
from recollect.write.ingest import Appended, Ingest, Message, Remembered, Statement, Threads

PURGE_AFTER = timedelta(days=30)
DEFAULT_THREAD = "notes"
EDITABLE = frozenset({"body", "category", "importance", "tags", "topic_key", "valid_from", "valid_to", "private"})
_EVERYTHING = Page()
_ACTIVE = Filters()


@dataclass(frozen=True, slots=True)
class Deps:
    """What Memory stands on."""

    store: Store
    clock: Clock
    erasures: Erasures
    seal: Seal


@dataclass(frozen=True, slots=True)
class Shown:
    """A memory with its words, and the events that bear witness to them."""

    item: Item
    rev: Rev
    versions: Sequence[Version]
    evidence: Sequence[Event]

    @property
    def current(self) -> Version | None:
        """The version that speaks for the memory: the promoted one, else the newest with witnesses, else the newest."""
        promoted = [version for version in self.versions if version.id == self.item.active_version_id]
        attested = [version for version in self.versions if version.bullets]
        return next(iter([*promoted, *reversed(attested), *reversed(self.versions)]), None)

    @property
    def words(self) -> str:
        """What the memory says. A thread says nothing of its own: it has its events."""
        return self.current.content if self.current else ""


class Memory:
    """Long-term memory, as one principal may use it."""

    def __init__(self, deps: Deps, principal: Principal, threads: Threads | None = None) -> None:
        self._deps = deps
        self._threads = threads or Threads(deps.store)
        self._store = deps.store
        self._tenant = principal.tenant
        self._gate = Gate(deps.store, deps.clock, principal)
        self.principal = principal

    def acting(self, principal: Principal) -> "Memory":
        """The same store in the hands of somebody else."""
        return Memory(self._deps, principal, self._threads)

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
            return self._ingest(visibility, user_id, project_id, thread_id, run_id).remember(statement, key)

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
            return self._ingest(visibility, user_id, project_id, thread_id, run_id).append(messages, key)

    def _ingest(
        self,
        visibility: Visibility | None,
        user_id: str | None,
        project_id: str | None,
        thread_id: str,
        run_id: str | None,
    ) -> Ingest:
        kept = visibility or (Visibility.PROJECT_SHARED if project_id and not user_id else Visibility.USER_PRIVATE)
        if kept is Visibility.USER_PRIVATE and user_id is None and self.principal.role is not Role.AGENT:
            user_id = self.principal.id
        scope = Scope(
            tenant=self._tenant,
            user_id=user_id,
            agent_id=self.principal.agent_id,
            project_id=project_id,
            thread_id=thread_id,
            run_id=run_id,
        )
        self._gate.enter(scope)
        return Ingest(self._store, self._threads, self._deps.clock, self.principal, scope, kept)

    # -- reading ------------------------------------------------------------------------------------------

    def show(self, item_id: ItemId) -> Shown:
        """A memory, its versions and the events behind them."""
        held = self._gate.read(item_id)
        versions = self._store.versions(self._tenant, item_id)
        events = self._store.cited(self._tenant, [version.id for version in versions])
        seen = self._gate.readable(event.item_id for event in events)
        return Shown(held.item, held.rev, versions, [event for event in events if event.item_id in seen])

    def items(self, filters: Filters = _ACTIVE, page: Page = _EVERYTHING) -> Sequence[Item]:
        """Memories in sight, newest first."""
        found = self._store.items(self._tenant, filters, access.sight(self.principal), page)
        return [held.item for held in found]

    def lines(self, filters: Filters = _ACTIVE, page: Page = _EVERYTHING) -> Sequence[Shown]:
        """Memories in sight with their words, newest first; their evidence is left to `show`."""
        found = self._store.items(self._tenant, filters, access.sight(self.principal), page)
        return [Shown(held.item, held.rev, self._store.versions(self._tenant, held.item.id), ()) for held in found]

    def thread(self, item_id: ItemId, *, after: int = 0, limit: int = 1000) -> Sequence[Event]:
        """The events of a thread, by the id of its episode, in their order."""
        self._gate.read(item_id)
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

    def search(self, words: str, limit: int = 20) -> Sequence[Item]:
        """Memories whose words or evidence hold any of these words, best first."""
        hits = self._store.search(self._tenant, words.split(), access.sight(self.principal), limit)
        held = [self._store.item(self._tenant, item_id) for item_id in dict.fromkeys(hit.item_id for hit in hits)]
        return [one.item for one in held if one and isinstance(one.item.state, Active | Archived)]

    def history(self, item_id: ItemId) -> Sequence[Entry]:
        """Everything that happened to a memory, oldest first."""
        self._gate.read(item_id, withdrawn=True)
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
            after = replace(held.item, **fields)  # type: ignore[arg-type]
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

    # -- erasing ------------------------------------------------------------------------------------------

    def preview_erase(self, item_id: ItemId, *, evidence: bool = True) -> Wipe:
        """What erasing a memory would take with it."""
        wipe = erasing.survey(self._store, self._tenant, [item_id], self._roots(item_id, evidence))
        self._gate.erase(wipe)
        return wipe

    def erase(self, item_id: ItemId, *, evidence: bool = True, reason: str = "asked for") -> Wipe:
        """Remove a memory's content for good; with `evidence`, the events it cites and all that cites them too."""
        return self._wipe(Kept(frozenset({item_id})), self._roots(item_id, evidence), reason)

    def preview_erase_user(self, user_id: str) -> Wipe:
        """What erasing everything of a user would take with it."""
        kept = self._kept_for(user_id)
        wipe = erasing.survey(self._store, self._tenant, sorted(kept.items))
        self._gate.erase(wipe)
        return replace(wipe, checkpoints=tuple(sorted(kept.checkpoints)), proposals=tuple(sorted(kept.proposals)))

    def erase_user(self, user_id: str, *, reason: str = "asked for by the person concerned") -> Wipe:
        """Remove everything that is kept for a user."""
        return self._wipe(self._kept_for(user_id), [], reason)

    def _kept_for(self, user_id: str) -> Kept:
        must(access.may_erase_user(self.principal, user_id))
        kept = self._store.kept_for(self._tenant, user_id)
        if kept == Kept():
            raise NotFound(f"nothing is kept for the user {user_id}")
        return kept

    def _roots(self, item_id: ItemId, evidence: bool) -> list[EventId]:
        self._gate.read(item_id, withdrawn=True)
        return erasing.evidence(self._store, self._tenant, item_id) if evidence else []

    def _wipe(self, kept: Kept, events: Sequence[EventId], why: str) -> Wipe:
        now = self._deps.clock.now()
        with checked():
            wipe = erasing.erase(
                self._store,
                self._deps.erasures,
                Scope(tenant=self._tenant),
                sorted(kept.items),
                events,
                checkpoints=sorted(kept.checkpoints),
                proposals=sorted(kept.proposals),
                allow=self._gate.erase,
                actor=actor(self.principal),
                at=now,
                reason=why,
                then=[erasing.scrubbing(JobId(self._deps.clock.mint()), now)],
            )
        with suppress(StoreError):  # it is erased; what is left in logs goes at once if it can, else by the job
            self._store.scrub()
        return wipe

    # -- the time machine ---------------------------------------------------------------------------------

    def preview_rollback(self, target: Target, *, cascade: bool = False) -> Plan:
        """What a rollback would undo, what would stay, and what stands in its way."""
        self._gate.choose(target, restore.chosen(self._store, self._tenant, target))
        plan = restore.preview(self._store, self._tenant, target, cascade=cascade)
        self._gate.undo(plan)
        return plan

    def rollback(self, target: Target, *, cascade: bool = False) -> tuple[Rev, Plan]:
        """Take back an entry, a memory, a session, or bring a scope to a revision. It can itself be taken back."""
        self._gate.choose(target, restore.chosen(self._store, self._tenant, target))
        return restore.roll_back(
            self._store,
            Scope(tenant=self._tenant),
            target,
            actor=actor(self.principal),
            at=self._deps.clock.now(),
            cause=CauseId(self._deps.clock.mint()),
            cascade=cascade,
            allow=self._gate.undo,
        )

    # -- the journal as a whole ---------------------------------------------------------------------------

    def verify(self, exported: str | None = None, *, trust: str | None = None, deep: bool = False) -> Verified:
        """Whether the journal is whole, and still holds the head that was exported earlier.

        A head must be signed with this store's own key, or with the public key in `trust`. A `deep` examination also
        replays the journal and compares what it accounts for with what memory holds.
        """
        self._gate.allow(Action.VERIFY)
        head = audit.read_head(exported, self._deps.seal, trust) if exported is not None else None
        return audit.verify(self._store, self._tenant, head, deep=deep)

    def head(self) -> Head:
        """Where the journal ends."""
        return self._store.head(self._tenant)

    def signed_head(self) -> Mapping[str, object]:
        """Where the journal ends, signed, to be kept elsewhere."""
        self._gate.allow(Action.VERIFY)
        return audit.sign(self.head(), self._tenant, self._deps.seal)

    # -- moving and keeping -------------------------------------------------------------------------------

    def export(self) -> Iterator[str]:
        """The whole tenant as JSON lines, without loss."""
        self._gate.allow(Action.EXPORT)
        return transfer.export(self._store, self._tenant)

    def export_state(self) -> Iterator[str]:
        """What memory holds at the moment, as JSON lines in one fixed order."""
        self._gate.allow(Action.EXPORT)
        return transfer.export_state(self._store, self._tenant)

    def export_user(self, user_id: str) -> Iterator[str]:
        """All that is kept for one user, with its history."""
        if user_id != self.principal.id or self.principal.role is Role.AGENT:
            self._gate.allow(Action.EXPORT)
        return transfer.export_user(self._store, self._tenant, user_id)

    def import_(self, lines: Iterable[str]) -> int:
        """Build this tenant from an export; what was erased since is erased again. The number of things erased."""
        self._gate.allow(Action.IMPORT)
        return transfer.import_(
            self._store,
            self._deps.erasures,
            self._tenant,
            lines,
            actor=actor(self.principal),
            at=self._deps.clock.now(),
        )

    def backup(self, target: Path) -> None:
        """A whole copy of the store, while it is in use. One that other tenants share is for who runs it to copy."""
        self._gate.allow(Action.EXPORT)
        if list(self._store.tenants()) != [self._tenant]:
            raise Forbidden("the store holds other tenants too", "Export this one, or have who runs the store copy it.")
        self._store.backup(target)

    def jobs(self) -> Sequence[JobStatus]:
        """How the tenant's jobs stand."""
        self._gate.allow(Action.OVERSEE)
        return self._store.jobs(self._tenant)

    def counts(self) -> Mapping[tuple[str, str, str], int]:
        """Operational events by node, operation and outcome."""
        self._gate.allow(Action.OVERSEE)
        return self._store.counts(self._tenant)

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> "Memory":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
