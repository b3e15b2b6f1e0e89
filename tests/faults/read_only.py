"""A store whose file or directory cannot be written. Told: how opening, reading and writing went, each by its error."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from recollect.domain.ids import TenantId
from recollect.domain.query import Query
from recollect.errors import RecollectError
from recollect.store.sql import SqlStore
from recollect.store.sqlite.engine import SqliteEngine
from tests.faults.elsewhere import mount_again
from tests.worlds import DAWN, World


def main(path: Path, what: str, when: str) -> None:
    store = SqlStore(SqliteEngine(path))
    world = World(store, TenantId("home"))
    store.create_tenant(world.tenant, at=DAWN)
    world.tell("the first thing")
    before = world.dump()
    target = path if what == "file" else path.parent
    told: dict[str, object] = {}
    if when == "closed":
        store.close()
    mount_again(target, "ro")
    if when == "closed":
        told["open"], opened = _attempt(lambda: SqlStore(SqliteEngine(path, patience=2)))
        world = World(opened, world.tenant, world.clock) if isinstance(opened, SqlStore) else None
    if world:
        told["read"], rows = _attempt(world.dump)
        told["same"] = rows == before
        asked = Query(text="the first thing", thread_id="kitchen", turn_id="turn")
        memory = world.memory(path.parent) if what == "file" else None
        told["query"] = [_attempt(lambda: memory.query(asked))[0] for _ in range(3)] if memory else []
        told["write"], _ = _attempt(lambda: world.tell("more"))
        told["erase"], _ = _attempt(lambda: world.memory(path.parent).erase_user("ana"))
        world.store.close()
    mount_again(target, "rw")
    again = World(SqlStore(SqliteEngine(path)), TenantId("home"), world.clock if world else None)  # type: ignore[arg-type]
    told["untouched"] = again.dump() == before
    told["whole"] = again.is_whole()
    again.store.close()
    print(json.dumps(told))


def _attempt(act: Callable[[], object]) -> tuple[str, object]:
    try:
        return "done", act()
    except RecollectError as error:
        return type(error).__name__, None


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
