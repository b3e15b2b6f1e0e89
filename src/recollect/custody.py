"""Custody: erasing, going back in time, proving the journal whole, moving and keeping."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from recollect.care import audit, restore, transfer
from recollect.care import erase as erasing
from recollect.care.audit import Verified
from recollect.care.erase import Wipe
from recollect.care.restore import Target
from recollect.clock import Clock
from recollect.domain.ids import CauseId, EventId, ItemId, JobId, Rev, TenantId
from recollect.domain.job import Job, JobStatus, Pending, pending
from recollect.domain.journal import Head
from recollect.domain.scope import Principal, Role, Scope, actor
from recollect.domain.text import name
from recollect.domain.turn import Mode
from recollect.errors import Forbidden, NotFound, StoreError, checked
from recollect.gate import Gate, must
from recollect.holdings import Kept
from recollect.policy import access
from recollect.policy.access import Action, Denied
from recollect.policy.categories import Categories, parse
from recollect.policy.clean import clean
from recollect.policy.rollback import Plan
from recollect.policy.upkeep import Upkeep
from recollect.ports import Embedder, Erasures, Judge, Keeper, Seal, Store, Writer
from recollect.read.tally import Tally
from recollect.write.extraction import Caps


@dataclass(frozen=True, slots=True)
class Deps:
    """What Memory stands on. `wake` tells whoever does the jobs that there are new ones, `rest` that Memory closes;
    `judged` returns when some new memories of a tenant have been compared with others, where that is done here."""

    store: Store
    clock: Clock
    erasures: Erasures
    seal: Seal
    embedder: Embedder | None = None
    writer: Writer | None = None
    judge: Judge | None = None
    keeper: Keeper | None = None
    categories: Categories = field(default_factory=lambda: parse({}))
    caps: Caps = field(default_factory=Caps)
    upkeep: Upkeep = field(default_factory=Upkeep)
    mode: Mode = Mode.A
    repositories: Mapping[str, str] = field(default_factory=dict[str, str])
    wake: Callable[[], None] = lambda: None
    rest: Callable[[], None] = lambda: None
    judged: Callable[[TenantId, Collection[ItemId]], None] = lambda tenant, items: None


class Custody:
    """What is done with memory as a whole, as one principal may do it."""

    def __init__(self, deps: Deps, principal: Principal, tally: Tally | None = None) -> None:
        self._deps = deps
        self._tally = tally or Tally(deps.store, deps.clock)
        self._store = deps.store
        self._tenant = principal.tenant
        self._gate = Gate(deps.store, deps.clock, principal, deps.categories.allowed(principal.agent_id))
        self.principal = principal

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
        self._gate.find_to_erase(item_id)
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
                reason=clean(why)[0],
                then=[erasing.scrubbing(JobId(self._deps.clock.mint()), now)],
            )
        with suppress(StoreError):  # it is erased; what is left in logs goes at once if it can, else by the job
            self._store.scrub()
        return wipe

    # -- the time machine ---------------------------------------------------------------------------------

    def preview_rollback(self, target: Target, *, cascade: bool = False) -> Plan:
        """What a rollback would undo, what would stay, and what stands in its way."""
        self._choose(target)
        plan = restore.preview(self._store, self._tenant, target, cascade=cascade)
        self._gate.undo(plan)
        return self._gate.legible_plan(plan)

    def rollback(self, target: Target, *, cascade: bool = False) -> tuple[Rev, Plan]:
        """Take back an entry, a memory, a session, or bring a scope to a revision. It can itself be taken back."""
        self._choose(target)
        rev, plan = restore.roll_back(
            self._store,
            Scope(tenant=self._tenant),
            target,
            actor=actor(self.principal),
            at=self._deps.clock.now(),
            cause=CauseId(self._deps.clock.mint()),
            cascade=cascade,
            allow=self._gate.undo,
        )
        return rev, self._gate.legible_plan(plan)

    def _choose(self, target: Target) -> None:
        self._gate.choose(target)
        self._gate.chosen(target, restore.chosen(self._store, self._tenant, target))

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
        with checked():
            name(user_id, "user_id")
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
            job=JobId(self._deps.clock.mint()),
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

    def pending(self) -> Pending:
        """What is still to be made of messages by jobs: of all, for those who may look at the jobs, else of those in
        one's own threads."""
        found = self._store.jobs(self._tenant, open_only=True)
        if isinstance(access.may(self.principal, Action.OVERSEE), Denied):
            found = [status for status in found if self._about_ones_own(status.job)]
        return pending(found)

    def _about_ones_own(self, job: Job) -> bool:
        about = job.payload.get("episode_id") or job.payload.get("item_id")
        held = self._store.item(self._tenant, ItemId(str(about))) if about else None
        return held is not None and self._gate.sees(held.item)

    def counts(self) -> Mapping[tuple[str, str, str], int]:
        """Operational events by node, operation and outcome."""
        self._gate.allow(Action.OVERSEE)
        self._tally.flush()
        return self._store.counts(self._tenant)
