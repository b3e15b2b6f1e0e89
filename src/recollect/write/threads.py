"""Which episode owns a thread, remembered for a while."""

from recollect.domain.item import Visibility
from recollect.domain.scope import Scope
from recollect.holdings import Held
from recollect.ports import Store


class Threads:
    """The episodes of threads that were written to lately, so that a turn need not look its thread up again. What is
    remembered here is checked by the write itself: it expects the episode's revision."""

    def __init__(self, store: Store, size: int = 1000) -> None:
        self._store, self._size = store, size
        self._known: dict[tuple[str | None, ...], Held] = {}

    def of(self, scope: Scope, visibility: Visibility) -> Held | None:
        held = self._known.get(_thread_key(scope, visibility))
        if held is None and (held := self._store.thread(scope, visibility)):
            self.keep(scope, held)
        return held

    def keep(self, scope: Scope, held: Held) -> None:
        if len(self._known) >= self._size:
            self._known.clear()
        self._known[_thread_key(scope, held.item.visibility)] = held

    def forget(self, scope: Scope, visibility: Visibility) -> None:
        self._known.pop(_thread_key(scope, visibility), None)


def _thread_key(scope: Scope, visibility: Visibility) -> tuple[str | None, ...]:
    return (scope.tenant, scope.user_id, scope.agent_id, scope.project_id, scope.thread_id, visibility)
