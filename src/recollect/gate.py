"""The gate: the one place where the rules of access meet the store. Every use case of Memory passes it."""

from collections.abc import Iterable

from recollect.care import legible
from recollect.care.erase import Wipe
from recollect.care.restore import OneEntry, OneMemory, Target
from recollect.clock import Clock
from recollect.domain.change import Disclose
from recollect.domain.ids import ItemId
from recollect.domain.item import Item, Visibility
from recollect.domain.journal import Entry
from recollect.domain.record import Given
from recollect.domain.refs import refs
from recollect.domain.scope import Principal, Role, Scope, actor
from recollect.errors import Forbidden, Gone, NotFound
from recollect.holdings import Held
from recollect.policy import access
from recollect.policy.access import Action, Allowed, Answer, Denied
from recollect.policy.rollback import Plan
from recollect.ports import Store


class Gate:
    """What one principal may reach. What it may not read does not exist for it."""

    def __init__(self, store: Store, clock: Clock, principal: Principal) -> None:
        self._store = store
        self._clock = clock
        self._principal = principal
        self._tenant = principal.tenant
        self.readers = access.readers(principal)

    def allow(self, action: Action) -> None:
        """Pass, or an error, for what concerns the whole tenant."""
        must(access.may(self._principal, action))

    def enter(self, scope: Scope) -> None:
        """Pass, or an error, for the ids that a request names."""
        must(access.may_act_in(self._principal, scope))

    def speak_for(self, agent: str | None) -> None:
        """Pass, or an error, for the agent that a request names: an agent speaks for itself alone."""
        own = self._principal.agent_id
        if agent is not None and own is not None and agent != own:
            raise Forbidden(
                f"this credential is of the agent {own!r}, not of {agent!r}", f"Leave it out, or name {own!r}."
            )

    # -- reading ------------------------------------------------------------------------------------------

    def read(self, item_id: ItemId, *, withdrawn: bool = False) -> Held:
        """An item that may be read. A reading under a grant is journalled before anything is shown."""
        held, answer = self._reached(item_id)
        if self._withheld([item_id]):
            raise _unknown(item_id)
        if held.withdrawn and not withdrawn:
            raise NotFound(f"memory {item_id} was withdrawn by a rollback", "Undo that rollback to bring it back.")
        if answer.grant:
            self._disclose(answer.grant, item_id)
        return held

    def _reached(self, item_id: ItemId) -> tuple[Held, Allowed]:
        """An item as far as it tells itself who may read it."""
        held = self._store.item(self._tenant, item_id)
        if held is None:
            if self._store.tombstones(self._tenant, [f"i:{item_id}"]):
                raise Gone(f"memory {item_id} was erased")
            raise _unknown(item_id)
        answer = self._may_read(held.item)
        if isinstance(answer, Denied):
            raise _unknown(item_id)
        return held, answer

    def _withheld(self, ids: Iterable[ItemId]) -> frozenset[ItemId]:
        """Those of these items that hold private words of threads that the principal took no part in."""
        refs = [f"i:{item_id}" for item_id in ids]
        return frozenset(ItemId(ref[2:]) for ref in self._store.withheld(self._tenant, refs, self.readers))

    def readable(self, ids: Iterable[ItemId]) -> frozenset[ItemId]:
        """Those of these items that may be read. Readings under a grant are journalled."""
        seen: set[ItemId] = set()
        for item_id in sorted(set(ids) - self._withheld(set(ids))):
            held = self._store.item(self._tenant, item_id)
            answer = self._may_read(held.item) if held else Denied("gone")
            if isinstance(answer, Denied):
                continue
            if answer.grant:
                self._disclose(answer.grant, item_id)
            seen.add(item_id)
        return frozenset(seen)

    def sees(self, item: Item) -> bool:
        """Whether a memory may be read without any grant."""
        answer = access.may_read(self._principal, item, (), self._clock.now())
        return isinstance(answer, Allowed) and not self._withheld([item.id])

    def legible(self, entries: Iterable[Entry], about: ItemId) -> list[Entry]:
        """Entries as they may be read: one that is about another memory loses its body unless that may be read too, and
        so does one that carries private words of others."""
        found = list(entries)
        others = {entry.header.item_id for entry in found if entry.header.item_id} - {about}
        seen = self.readable(others) | {about}
        found = [entry if entry.header.item_id in seen else entry.blind for entry in found]
        return legible.legible(self._store, self._tenant, found, self.readers)

    def _may_read(self, item: Item) -> Answer:
        given: Iterable[Given] = ()
        if item.visibility is Visibility.AGENT_SILO:
            given = [grant for grant in self._store.records(self._tenant, "grant") if isinstance(grant, Given)]
        return access.may_read(self._principal, item, given, self._clock.now())

    def _disclose(self, grant: Given, item_id: ItemId) -> None:
        self._store.apply(
            Scope(tenant=self._tenant, agent_id=grant.agent_id),
            [Disclose(grant.id, item_id)],
            actor=actor(self._principal),
            at=self._clock.now(),
        )

    # -- changing -----------------------------------------------------------------------------------------

    def write(self, item_id: ItemId) -> Held:
        """An item that may be changed. Nobody changes a constitutional one: an admin lifts that first."""
        held = self.read(item_id)
        must(access.may_write(self._principal, held.item))
        if held.item.constitutional:
            raise Forbidden(f"memory {item_id} is constitutional", "An admin can lift that first.")
        return held

    def find_to_erase(self, item_id: ItemId) -> None:
        """Pass, or an error, for the memory that somebody wants to erase. Who may erase it need not be able to read
        the private words in it: none of them are shown."""
        held, answer = self._reached(item_id)
        if answer.grant:
            self._disclose(answer.grant, item_id)
        if self._withheld([item_id]) and isinstance(access.may_erase(self._principal, held.item), Denied):
            raise _unknown(item_id)

    def erase(self, wipe: Wipe) -> None:
        """Pass, or an error, for everything that an erasure would take with it."""
        events = self._store.events_by_id(self._tenant, sorted(wipe.events), withdrawn=True)
        episodes = {event.item_id for event in events}
        for item_id in sorted(wipe.items | episodes):
            held = self._store.item(self._tenant, item_id)
            if held is None:
                continue
            answer = access.may_erase(self._principal, held.item)
            if isinstance(answer, Denied):
                raise Forbidden(f"the erasure would reach memory {item_id}: {answer.why}", "Ask an admin to do it.")

    def choose(self, target: Target, entries: Iterable[Entry]) -> None:
        """Pass, or an error, for the entries that somebody wants to roll back."""
        if not isinstance(target, OneEntry | OneMemory):
            self.allow(Action.ROLL_BACK)
        if self._principal.role is not Role.ADMIN:
            for entry in entries:
                self._undo({entry.header.item_id} if entry.header.item_id else set())

    def undo(self, plan: Plan) -> None:
        """Pass, or an error, for all that a rollback would undo, what it takes along included."""
        if self._principal.role is Role.ADMIN:
            return
        for undo in plan.undo:
            self._undo({ItemId(ref[2:]) for ref in refs(undo).all if ref.startswith("i:")})
        if unread := self.legible_plan(plan).unread:
            named = ", ".join(str(one.entry) for one in unread[:10])
            raise Forbidden(f"private words of others would be rolled back with it: {named}", "Ask an admin to do it.")

    def legible_plan(self, plan: Plan) -> Plan:
        """The plan of a rollback as it may be read: an admin undoes what it may not read."""
        return legible.legible_plan(self._store, self._tenant, plan, self.readers)

    def _undo(self, items: set[ItemId]) -> None:
        if not items:
            raise Forbidden("only an admin rolls this entry back")
        for item_id in sorted(items):
            must(access.may_write(self._principal, self.read(item_id, withdrawn=True).item))


def _unknown(item_id: ItemId) -> NotFound:
    return NotFound(f"there is no memory {item_id}")


def must(answer: Answer) -> None:
    if isinstance(answer, Denied):
        raise Forbidden(answer.why)
