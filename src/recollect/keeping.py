"""Keeping: what is done to one memory, by whoever may."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from recollect.custody import Custody
from recollect.domain.change import Change, Note, Protect, Verb, move, revise
from recollect.domain.event import Trust
from recollect.domain.ids import ItemId, Rev
from recollect.domain.item import Active, Archived, Item, SoftDeleted, State
from recollect.domain.record import RULES, Rules
from recollect.domain.scope import Scope, actor
from recollect.errors import Forbidden, Invalid, checked
from recollect.policy.access import Action
from recollect.policy.clean import clean
from recollect.ports import Held

PURGE_AFTER = timedelta(days=30)
EDITABLE = frozenset({"body", "category", "importance", "tags", "topic_key", "valid_from", "valid_to", "private"})


class Keeping(Custody):
    """What is done to single memories, as one principal may do it."""

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
