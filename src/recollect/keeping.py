"""Keeping: what is done to one memory, by whoever may."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from recollect.care import epoch as epochs
from recollect.care import promote as promotion
from recollect.care import rejudge as rejudging
from recollect.care import remake as remaking
from recollect.care import reopen as reopening
from recollect.care.compress import Hammer, Hammered, at_work, closed_by, closing, closing_key
from recollect.care.rejudge import Rejudged
from recollect.care.remake import Remade, Survey
from recollect.custody import Custody
from recollect.domain.change import Change, Note, Protect, Revise, Verb, move, revise
from recollect.domain.event import Trust
from recollect.domain.ids import CauseId, ItemId, JobId, Rev, VersionId
from recollect.domain.item import Archived, Item, LockReason, SoftDeleted, State
from recollect.domain.lines import one_line_names
from recollect.domain.record import RULES, Epoch, Rules
from recollect.domain.scope import NOBODY, Role, Scope, actor
from recollect.domain.text import name
from recollect.errors import Forbidden, Invalid, checked
from recollect.holdings import Held
from recollect.policy import lifecycle
from recollect.policy.access import Action
from recollect.policy.clean import clean, refuse_secret

PURGE_AFTER = timedelta(days=30)
_MOST_MINUTES = 1_000_000
EDITABLE = frozenset({"body", "category", "importance", "tags", "topic_key", "valid_from", "valid_to", "private"})


class Keeping(Custody):
    """What is done to single memories, as one principal may do it."""

    def item(self, item_id: ItemId) -> Item:
        """How a memory stands, without its words: to look at that extends no lock."""
        return self._gate.outlined(self._gate.read(item_id).item)

    # -- changing -----------------------------------------------------------------------------------------

    def revise(self, item_id: ItemId, **fields: object) -> Rev:
        """Change what a memory says of itself: body, category, importance, tags, topic, validity, privacy."""
        for field in sorted(fields.keys() - EDITABLE):
            raise Invalid(f"the field {field!r} is not revised this way", f"There are: {', '.join(sorted(EDITABLE))}.")
        held = self._gate.write(item_id)
        with checked():
            after = replace(held.item, **clean(fields)[0])  # type: ignore[arg-type]
            edited = {"category": after.category, "topic_key": after.topic_key, "tags": after.tags}
            one_line_names({name: value for name, value in edited.items() if name in fields})
            change = revise(held.item, after, self._deps.clock.now(), Verb.UPDATE)
        return self._change(held, [change])

    def archive(self, item_id: ItemId, reason: str = "") -> Rev:
        """Out of default retrieval; still searchable."""
        with checked():
            state = Archived(self._deps.clock.now(), reason)
        return self._move(item_id, state)

    def delete(self, item_id: ItemId, reason: str = "") -> Rev:
        """Hide a memory; what it had replaced holds again. It is kept, unless the tenant chose to purge what is
        deleted."""
        now = self._deps.clock.now()
        with checked():
            state = SoftDeleted(now, now + PURGE_AFTER, reason)
        return self._move(item_id, state)

    def restore(self, item_id: ItemId) -> Rev:
        """Bring back what was archived, expired or deleted. It belongs to its project as that stands now."""
        held = self._gate.write(item_id)
        project = held.item.project_id
        epoch = epochs.current(self._store, self._tenant, project) if project else None
        now = self._deps.clock.now()
        change = lifecycle.restored(held.item, epoch.number if epoch else 0, now)
        if change is None:
            return held.rev
        was_deleted = isinstance(held.item.state, SoftDeleted)
        over = reopening.closed_again(self._store, self._tenant, held.item, now) if was_deleted else []
        return self._change(held, [change], over)

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

    # -- levels and life ----------------------------------------------------------------------------------

    def promote(
        self,
        item_id: ItemId,
        version_id: VersionId,
        *,
        reason: LockReason = LockReason.MANUAL_PROMOTE,
        minutes: int | None = None,
    ) -> Rev:
        """Make a version the one that is served, and keep it from being compressed for a while."""
        self._gate.allow(Action.PROMOTE)
        held = self._gate.write(item_id)
        self._gate.read_version(item_id, version_id)
        lock = self._deps.upkeep.lock if minutes is None else timedelta(minutes=max(0, min(minutes, _MOST_MINUTES)))
        now = self._deps.clock.now()
        with checked():
            change = promotion.promote(self._store, self._tenant, held, version_id, now, lock, reason)
        return self._change(held, [change]) if change else held.rev

    def pin(self, item_id: ItemId) -> Rev:
        """Never below R3, and never hidden by a rule."""
        held = self._of_people(item_id, "pin")
        change = lifecycle.pinned(held.item, self._deps.clock.now())
        return self._change(held, [change]) if change else held.rev

    def unpin(self, item_id: ItemId) -> Rev:
        held = self._of_people(item_id, "unpin")
        change = lifecycle.unpinned(held.item, self._deps.clock.now())
        return self._change(held, [change]) if change else held.rev

    def compress(self, *, item_id: ItemId | None = None, topic: str | None = None, dry_run: bool = False) -> Hammered:
        """Compress a memory, the memories of a topic, or all that are due for it, now. A dry run writes nothing and
        says what would be made."""
        self._gate.allow(Action.COMPRESS)
        if item_id is not None and topic is not None:
            raise Invalid("a memory and a topic are named", "Name one of them, or neither for all that is due.")
        if item_id is not None:
            self._gate.write(item_id)
        with checked():
            name(topic, "the topic")
            return self._hammer.compress(
                actor=actor(self.principal), item_id=item_id, topic=topic, dry_run=dry_run, allow=self._reaches
            )

    def remake(self, *, dry_run: bool = False) -> tuple[Survey, CauseId | None]:
        """Have made anew, by a job, what rules made of messages before words were quoted: what there is to do, and the
        cause that all its entries will name, so that one rollback takes it back. A dry run only says what there is."""
        self._gate.allow(Action.REMAKE)
        deps, now = self._deps, self._deps.clock.now()
        found = remaking.survey(self._store, self._tenant, now, by_rules=deps.writer is None)
        if dry_run:
            return found, None
        job, new = remaking.wanted(self._store.jobs(self._tenant, open_only=True), JobId(deps.clock.mint()), now)
        if new:
            self._store.enqueue(self._tenant, [job])
        deps.wake()
        return found, CauseId(job.id)

    def remade(self, cause: CauseId) -> Remade:
        """How a run of `remake` stands, and what it did."""
        self._gate.allow(Action.REMAKE)
        with checked():
            name(cause, "the cause")
        return remaking.standing(self._store, self._tenant, cause)

    def rejudge(self, *, dry_run: bool = False) -> tuple[rejudging.Survey, CauseId | None]:
        """Have contradictions that jobs put on record judged anew, by a job: how many there are, and the cause that all
        its entries will name, so that one rollback takes it back. A dry run only says how many there are."""
        self._gate.allow(Action.REMAKE)
        deps, now = self._deps, self._deps.clock.now()
        found = rejudging.survey(self._store, self._tenant)
        if dry_run:
            return found, None
        jobs = self._store.jobs(self._tenant, open_only=True)
        job, new = remaking.wanted(jobs, JobId(deps.clock.mint()), now, rejudging.KIND)
        if new:
            self._store.enqueue(self._tenant, [job])
        deps.wake()
        return found, CauseId(job.id)

    def rejudged(self, cause: CauseId) -> Rejudged:
        """How a run of `rejudge` stands, and what it did."""
        self._gate.allow(Action.REMAKE)
        with checked():
            name(cause, "the cause")
        return rejudging.standing(self._store, self._tenant, cause)

    def close_episode(self, item_id: ItemId, *, wait: bool = True) -> Hammered:
        """The thread is at its end for now: summarise it, without waiting for it to fall silent. Unless one waits for
        it, a long thread is left to a job, which is named; asked again, it is named until it is done."""
        held = self._gate.write(item_id)
        if held.item.kind != "episode":
            raise Invalid(f"memory {item_id} is a {held.item.kind}, not an episode", "Close the thread it comes from.")
        return self._hammer.close(item_id, actor=actor(self.principal)) if wait else self._closed_later(item_id)

    def _closed_later(self, item_id: ItemId) -> Hammered:
        """Closed at once, or by a job where that would take long."""
        deps = self._deps
        jobs = self._store.jobs(self._tenant, key=closing_key(item_id))
        job = at_work(jobs)
        if job is None:
            if not self._hammer.is_long(item_id):
                return self._hammer.close(item_id, actor=actor(self.principal))
            places = self._store.extent(self._tenant, item_id, readers=NOBODY).places
            if (done := closed_by(jobs, places)) and self._hammer.is_read(item_id):
                return Hammered(rev=self._store.head(self._tenant).rev, cause=CauseId(done))
            job = JobId(deps.clock.mint())
            self._store.enqueue(self._tenant, [closing(job, item_id, deps.clock.now(), places)])
            deps.wake()
        return Hammered(rev=self._store.head(self._tenant).rev, cause=CauseId(job), job=job)

    def epoch(self, project_id: str) -> Epoch | None:
        """How far a project has come; None where it never moved on."""
        with checked():
            self._gate.enter(Scope(tenant=self._tenant, project_id=project_id))
        return epochs.current(self._store, self._tenant, project_id)

    def advance_epoch(self, project_id: str, reason: str = "") -> Epoch:
        """The project moves on: what of it nobody has used for long is archived."""
        self._gate.allow(Action.ADVANCE)
        now = self._deps.clock.now()
        with checked():
            refuse_secret(project_id, "the name of a project")
            scope = Scope(tenant=self._tenant, project_id=project_id)
            self._gate.enter(scope)
            note = epochs.advance(self._store, self._tenant, project_id, clean(reason)[0], now)
        then = epochs.moved_on(JobId(self._deps.clock.mint()), note, now)
        self._store.apply(scope, [note], actor=actor(self.principal), at=now, then=[then] if then else [])
        self._deps.wake()
        assert isinstance(note.after, Epoch)
        return note.after

    @property
    def _hammer(self) -> Hammer:
        deps = self._deps
        return Hammer(deps.store, deps.clock, deps.embedder, deps.writer, deps.upkeep, self._tenant, deps.keeper)

    def _reaches(self, item: Item) -> bool:
        """Whether a memory may be worked on without any grant: nobody compresses somebody's silo by hand."""
        return self._gate.lets_change(item)

    def _of_people(self, item_id: ItemId, what: str) -> Held:
        if self.principal.role is Role.AGENT:
            raise Forbidden(f"agents do not {what} memories", "A person does.")
        return self._gate.write(item_id)

    # -- parts --------------------------------------------------------------------------------------------

    def _move(self, item_id: ItemId, state: State) -> Rev:
        held = self._gate.write(item_id)
        state, _ = clean(state)
        if type(held.item.state) is type(state):
            return held.rev
        now = self._deps.clock.now()
        deleted = isinstance(state, SoftDeleted)
        holding = reopening.reopened(self._store, self._tenant, [item_id], now) if deleted else []
        return self._change(held, [move(held.item, state, now)], holding)

    def _change(self, held: Held, changes: Sequence[Change], beside: Sequence[tuple[Held, Revise]] = ()) -> Rev:
        """Changes of one memory, and what follows for others beside it."""
        return self._store.apply(
            self._scope_of(held.item),
            [*changes, *(change for _, change in beside)],
            actor=actor(self.principal),
            at=self._deps.clock.now(),
            expect={held.item.id: held.rev, **{other.item.id: other.rev for other, _ in beside}},
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
