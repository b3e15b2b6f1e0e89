"""What a new decision takes over from, gathered among the memories of its owner. Nothing is written here."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from recollect.domain.ids import ItemId
from recollect.domain.query import Filters, Page
from recollect.errors import Invalid, NotFound, Refused
from recollect.holdings import Held
from recollect.policy import bands, lifecycle
from recollect.policy.categories import sides
from recollect.policy.lifecycle import Decision, Replacing
from recollect.ports import Store
from recollect.write.owner import Owner

_PAGE = 200


@dataclass(frozen=True, slots=True)
class Superseding:
    """Finds what gives way. `strict`: what was asked for and cannot be done is an error; what is only read out of
    messages is left alone then."""

    store: Store
    owner: Owner
    strict: bool

    def found(
        self, wanted: Replacing, new: Decision, text: str, near: Iterable[Held], now: datetime
    ) -> dict[ItemId, Held]:
        """Those that the decision names; where it names none, what was decided about the same: within its topic, or
        among what lies near."""
        if wanted.named:
            return {held.item.id: held for held in self._named(wanted.named, new)}
        about = {held.item.id: held for held in (*self._topic(new.topic_key), *near) if self.owner.owns(held.item)}
        giving = {id: held for id, held in about.items() if self._gives_way(held, new, now)}
        return {id: held for id, held in giving.items() if id not in self._repeated(text, list(giving))}

    def _named(self, names: Sequence[str], new: Decision) -> Iterator[Held]:
        for name in names:
            if self.strict:
                yield self._one(name, new)
            else:
                with suppress(Invalid, NotFound, Refused):
                    yield self._one(name, new)

    def _one(self, name: str, new: Decision) -> Held:
        tenant = self.owner.scope.tenant
        names, without = sides(self.owner.categories)
        named = self.store.named(tenant, name, self.owner.sight, categories=names, without=without)
        found = self.store.items_by_id(tenant, named)
        if len(found) > 1:
            raise Invalid(f"{len(found)} memories have an id that ends so", "Give more of the id.")
        if not found or found[0].withdrawn:
            raise NotFound("there is no such memory to supersede", "List the memories with: recollect show")
        [held] = found
        if not self.owner.owns(held.item):
            raise Refused(
                f"memory {held.item.id} belongs to another owner: no decision of this one supersedes it",
                "Say it for the same user, project and visibility.",
            )
        lifecycle.named_gives_way(held.item, new)
        return held

    def _topic(self, topic_key: str | None) -> Iterator[Held]:
        before: ItemId | None = None
        while topic_key is not None:
            page = self.store.items(
                self.owner.scope.tenant, Filters(topic_key=topic_key), self.owner.sight, Page(_PAGE, before)
            )
            yield from page
            if len(page) < _PAGE:
                return
            before = page[-1].item.id

    def _gives_way(self, held: Held, new: Decision, now: datetime) -> bool:
        try:
            return lifecycle.gives_way(held.item, new, now)
        except Refused:
            if self.strict:
                raise
            return False

    def _repeated(self, text: str, ids: Sequence[ItemId]) -> frozenset[ItemId]:
        """Those that say the same as the decision: it does not take over from itself."""
        spoken = self.store.speaking(self.owner.scope.tenant, ids)
        return frozenset(id for id, (_, version) in spoken.items() if bands.same_words(version.content, text))
