"""The gate: the one place where the rules of access meet the store. Every use case of Memory passes it."""

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from recollect.care import legible
from recollect.care.erase import Wipe
from recollect.care.promote import no_such_version
from recollect.care.restore import OneEntry, OneMemory, Target, nothing_chosen
from recollect.clock import Clock
from recollect.domain.change import (
    Append,
    Consent,
    Derive,
    Discard,
    Disclose,
    Link,
    Note,
    Relink,
    Retract,
    Unlink,
)
from recollect.domain.ids import ItemId, Seq, VersionId
from recollect.domain.item import Episode, Item
from recollect.domain.journal import Entry
from recollect.domain.level import Level
from recollect.domain.record import Given
from recollect.domain.refs import refs
from recollect.domain.scope import Principal, Role, Scope, Sight, actor
from recollect.errors import Forbidden, Gone, NotFound
from recollect.holdings import Held
from recollect.policy import access
from recollect.policy.access import Action, Allowed, Answer, Denied
from recollect.policy.categories import EVERY_CATEGORY, sides
from recollect.policy.categories import Allowed as Categories
from recollect.policy.ground import past
from recollect.policy.rollback import Plan
from recollect.ports import Store
from recollect.read.category_rule import CategoryRule
from recollect.read.shown import current

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_NAMED = 20
"""Things whose id ends alike that are told of."""
_PAGE = 200
_ASK = "Ask an admin without bounds to do it."
_BETWEEN = (Link, Unlink, Relink, Note, Consent)
"""Changes that are about several memories: with one of them hidden, there is nothing to tell of it."""


class Gate:
    """What one principal may reach. What it may not read does not exist for it: it is answered as what never was, by
    the same lookups. `categories`: those that it may read, where it is an agent."""

    def __init__(
        self, store: Store, clock: Clock, principal: Principal, categories: Categories = EVERY_CATEGORY
    ) -> None:
        self._store = store
        self._clock = clock
        self._principal = principal
        self._tenant = principal.tenant
        self._categories = categories
        self._of_whole_tenant = access.of_whole_tenant(principal)
        self.readers = access.readers(principal)

    @property
    def rule(self) -> CategoryRule:
        """What the categories withhold of threads, as it stands now."""
        return CategoryRule(self._store, self._tenant, self.readers, self._categories)

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
        held, answer = self._there(item_id, withdrawn=withdrawn)
        if answer.grant:
            self._disclose(answer.grant, item_id)
        return held

    def _there(self, item_id: ItemId, *, withdrawn: bool) -> tuple[Held, Allowed]:
        """An item that may be read, and what allows it. Nothing is recorded."""
        held, answer = self._reached(item_id)
        if self._withheld([item_id]):
            raise unknown()
        if held.withdrawn and not withdrawn:
            raise NotFound(f"memory {item_id} was withdrawn by a rollback", "Undo that rollback to bring it back.")
        return held, answer

    def _reached(self, item_id: ItemId) -> tuple[Held, Allowed]:
        """An item as far as it tells itself who may read it. Whatever the answer, the same is looked up for it."""
        held = self._store.item(self._tenant, item_id)
        grants = self._grants()
        answer = self._may_read(held.item, grants) if held else Denied("it is not there")
        if held is not None and isinstance(answer, Allowed):
            return held, answer
        self._withheld([item_id])
        if self._of_whole_tenant and self._store.tombstones(self._tenant, [f"i:{item_id}"]):
            raise Gone(f"memory {item_id} was erased")
        raise unknown()

    def _withheld(self, ids: Iterable[ItemId]) -> frozenset[ItemId]:
        """Those of these items that hold private words of threads that the principal took no part in."""
        refs = [f"i:{item_id}" for item_id in ids]
        return frozenset(ItemId(ref[2:]) for ref in self._store.withheld(self._tenant, refs, self.readers))

    def named(self, ending: str) -> Sequence[str]:
        """The memories that may be named and whose id ends so; where there are none, the events. An admin without
        bounds names what was erased, too, to tell it from what never was."""
        sight = access.reach(self._principal)
        categories, without = sides(self._categories)
        items = self._store.named(self._tenant, ending, sight, categories=categories, without=without)
        if not items and self._of_whole_tenant:
            erased = [one.ref[2:] for one in self._store.tombstones(self._tenant) if one.ref.startswith("i:")]
            items = [ItemId(id) for id in erased if id.endswith(ending)]
        return items or self._named_events(ending, sight)

    def _named_events(self, ending: str, sight: Sight) -> Sequence[str]:
        """As many as are told of, whatever others lie between them."""
        rule, found, after = self.rule, list[str](), ""
        while len(found) < _NAMED:
            page = self._store.named_events(self._tenant, ending, sight, after=after, limit=_PAGE)
            events = self._store.events_by_id(self._tenant, page, readers=sight.readers)
            found += [event.id for event in rule.shown(events)]
            if len(page) < _PAGE:
                break
            after = page[-1]
        return found[:_NAMED]

    def readable(self, ids: Iterable[ItemId]) -> frozenset[ItemId]:
        """Those of these items that may be read. Readings under a grant are journalled."""
        return self._open(ids, self._categories)

    def opens(self, threads: Iterable[ItemId]) -> frozenset[ItemId]:
        """Those of these threads of which words may be shown where a memory cites them, whatever the category of
        threads: which events that are is the category rule's to say. Readings under a grant are journalled."""
        return self._open(threads, EVERY_CATEGORY)

    def _open(self, ids: Iterable[ItemId], categories: Categories) -> frozenset[ItemId]:
        wanted = sorted(set(ids))
        hidden = self._withheld(wanted)
        grants = self._grants()
        seen: set[ItemId] = set()
        for held in self._store.items_by_id(self._tenant, wanted):
            answer = access.may_read(self._principal, held.item, grants, self._clock.now(), categories)
            if isinstance(answer, Denied) or held.item.id in hidden:
                continue
            if answer.grant:
                self._disclose(answer.grant, held.item.id)
            seen.add(held.item.id)
        return frozenset(seen)

    def sees(self, item: Item) -> bool:
        """Whether a memory may be read without any grant."""
        return isinstance(self._may_read(item, ()), Allowed) and not self._withheld([item.id])

    def outlined(self, item: Item) -> Item:
        """A memory that may be read, without the names of those before and after it that may not."""
        hidden = self._hidden({id for id in (item.supersedes, item.superseded_by) if id is not None})
        if not hidden:
            return item
        return replace(
            item,
            supersedes=None if item.supersedes in hidden else item.supersedes,
            superseded_by=None if item.superseded_by in hidden else item.superseded_by,
        )

    def _hidden(self, ids: AbstractSet[ItemId]) -> frozenset[ItemId]:
        """Those of these items that may not be read without a grant, and, but for admins without bounds, those that
        were erased: who could read them is not known any more. That there is a thread is told with its events, whatever
        the category of threads."""
        if not ids:
            return frozenset()
        wanted = sorted(ids)
        private = self._withheld(wanted)

        def hides(item: Item) -> bool:
            categories = EVERY_CATEGORY if isinstance(item.body, Episode) else self._categories
            answer = access.may_read(self._principal, item, (), self._clock.now(), categories)
            return isinstance(answer, Denied) or item.id in private

        hidden = {one.item.id for one in self._store.items_by_id(self._tenant, wanted) if hides(one.item)}
        return frozenset(hidden) | self._erased(wanted)

    def _erased(self, ids: Iterable[ItemId]) -> frozenset[ItemId]:
        """Those of these that were erased, for who is not told of that."""
        if self._of_whole_tenant:
            return frozenset()
        gone = self._store.tombstones(self._tenant, [f"i:{item_id}" for item_id in ids])
        return frozenset(ItemId(one.ref[2:]) for one in gone)

    def legible(self, entries: Sequence[Entry], about: ItemId) -> list[Entry]:
        """Entries as they may be read. One that is about another memory that may not be read is not there; those who
        look after memory are told that it is, and not what it says. One that names such a memory, carries private words
        of others, words that a category rule withholds, or those of a version that is not served by default to who may
        not read any version, loses its body."""
        others = {entry.header.item_id for entry in entries if entry.header.item_id} - {about}
        seen = self.readable(others) | {about}
        named = {entry.header.seq: _named(entry) for entry in entries}
        hidden = self._hidden(frozenset[ItemId]().union(*named.values()) - seen)
        oversees = isinstance(access.may(self._principal, Action.OVERSEE), Allowed)

        def elsewhere(entry: Entry) -> bool:
            between = isinstance(past(entry).plain, _BETWEEN) and named[entry.header.seq] & hidden
            return bool(between) or (entry.header.item_id is not None and entry.header.item_id not in seen)

        found = [
            entry if entry.header.item_id in seen and not named[entry.header.seq] & hidden else entry.blind
            for entry in entries
            if oversees or not elsewhere(entry)
        ]
        found = legible.legible(self._store, self._tenant, found, self.readers)
        return self._without_other_words(found, about)

    def _without_other_words(self, entries: Sequence[Entry], about: ItemId) -> list[Entry]:
        changes = {entry.header.seq: change for entry in entries if (change := past(entry).plain)}
        events = [change.event for change in changes.values() if isinstance(change, Append | Retract)]
        shown = {event.id for event in self.rule.shown(events)}
        spoken = self._spoken(about) if isinstance(access.may(self._principal, Action.INSPECT), Denied) else None

        def kept(seq: int) -> bool:
            match changes.get(Seq(seq)):
                case Append(event) | Retract(event):
                    return event.id in shown
                case Derive(version) | Discard(version):
                    return spoken is None or version.id in spoken
                case _:
                    return True

        return [entry if kept(entry.header.seq) else entry.blind for entry in entries]

    def _spoken(self, item_id: ItemId) -> frozenset[str]:
        """The version that is served of a memory by default."""
        held = self._store.item(self._tenant, item_id)
        versions = self._store.versions(self._tenant, item_id, readers=self.readers)
        speaking = current(held.item, self.rule.versions(held.item, versions)) if held else None
        return frozenset({speaking.id} if speaking and speaking.level <= Level.R3 else ())

    def _grants(self) -> Sequence[Given]:
        """What lets a person read silos. An agent has none."""
        if self._principal.role is Role.AGENT:
            return ()
        return [grant for grant in self._store.records(self._tenant, "grant") if isinstance(grant, Given)]

    def _may_read(self, item: Item, grants: Sequence[Given]) -> Answer:
        return access.may_read(self._principal, item, grants, self._clock.now(), self._categories)

    def _disclose(self, grant: Given, item_id: ItemId) -> None:
        self._store.apply(
            Scope(tenant=self._tenant, agent_id=grant.agent_id),
            [Disclose(grant.id, item_id)],
            actor=actor(self._principal),
            at=self._clock.now(),
        )

    # -- changing -----------------------------------------------------------------------------------------

    def write(self, item_id: ItemId) -> Held:
        """An item that may be changed. Nobody changes a constitutional one: an admin lifts that first. Who may only
        read it is refused before that counts as a reading."""
        held, _ = self._there(item_id, withdrawn=False)
        must(access.may_write(self._principal, held.item))
        if held.item.constitutional:
            raise Forbidden(f"memory {item_id} is constitutional", "An admin can lift that first.")
        return held

    def lets_change(self, item: Item) -> bool:
        """Whether a memory may be changed: what else a write comes upon is left as it is, as if it were not there.
        Nobody works on a silo under a grant."""
        return isinstance(access.may_write(self._principal, item), Allowed) and self.sees(item)

    def read_version(self, item_id: ItemId, version_id: VersionId) -> None:
        """Pass, or an error, for a version that somebody names: one that holds private words of others is not there."""
        if self._store.withheld(self._tenant, [f"v:{version_id}"], self.readers):
            raise no_such_version()

    def find_to_erase(self, item_id: ItemId) -> None:
        """Pass, or an error, for the memory that somebody wants to erase. Who may erase it need not be able to read
        the private words in it: none of them are shown."""
        held, answer = self._reached(item_id)
        refused = isinstance(access.may_erase(self._principal, held.item), Denied)
        if self._withheld([item_id]) and refused:
            raise unknown()
        if answer.grant and not refused:  # what is refused later is no reading
            self._disclose(answer.grant, item_id)

    def erase(self, wipe: Wipe) -> None:
        """Pass, or an error, for everything that an erasure would take with it."""
        events = self._store.events_by_id(self._tenant, sorted(wipe.events), withdrawn=True)
        episodes = {event.item_id for event in events}
        for held in self._store.items_by_id(self._tenant, sorted(wipe.items | episodes)):
            answer = access.may_erase(self._principal, held.item)
            if isinstance(answer, Denied):
                raise Forbidden(f"the erasure would reach further: {answer.why}", _ASK)

    def choose(self, target: Target) -> None:
        """Pass, or an error, for what somebody wants to roll back, before it is looked up."""
        if not isinstance(target, OneEntry | OneMemory):
            self.allow(Action.ROLL_BACK)
        elif isinstance(target, OneMemory) and not self._of_whole_tenant:
            self._undo({target.item_id})

    def chosen(self, target: Target, entries: Iterable[Entry]) -> None:
        """Pass, or an error, for the entries that it names. One that is about what may not be read is not there."""
        if self._of_whole_tenant:
            return
        for entry in entries:
            try:
                self._undo({entry.header.item_id} if entry.header.item_id else set())
            except NotFound:
                raise nothing_chosen(target) from None

    def undo(self, plan: Plan) -> None:
        """Pass, or an error, for all that a rollback would undo, what it takes along included."""
        if self._of_whole_tenant:
            return
        for undo in plan.undo:
            self._undo({ItemId(ref[2:]) for ref in refs(undo).all if ref.startswith("i:")})
        if unread := self.legible_plan(plan).unread:
            named = ", ".join(str(one.entry) for one in unread[:10])
            raise Forbidden(f"private words of others would be rolled back with it: {named}", _ASK)

    def legible_plan(self, plan: Plan) -> Plan:
        """The plan of a rollback as it may be read: an admin without bounds undoes what it may not read."""
        return legible.legible_plan(self._store, self._tenant, plan, self.readers)

    def _undo(self, items: set[ItemId]) -> None:
        if not items:
            raise Forbidden("only an admin without bounds rolls this entry back")
        for item_id in sorted(items):
            held, _ = self._there(item_id, withdrawn=True)
            must(access.may_write(self._principal, held.item))


def _named(entry: Entry) -> frozenset[ItemId]:
    """Whatever in an entry may be the id of a memory."""
    return frozenset(ItemId(id) for id in _ID.findall(entry.body.text)) if entry.body else frozenset()


def unknown() -> NotFound:
    """What is answered for an id that never was, and for one that is not for who asks: it is not told which."""
    return NotFound("there is no such memory", "List the memories with: recollect show")


def must(answer: Answer) -> None:
    if isinstance(answer, Denied):
        raise Forbidden(answer.why)
