"""Writers that get in each other's way: several threads of one process, on the same few memories of one tenant.

Told, for every thread: how often it counted, and how often it had to look again.
"""

import json
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from recollect.clock import SystemClock
from recollect.domain.change import Append, Create, Derive, revise
from recollect.domain.ids import ItemId, TenantId
from recollect.domain.item import Fact
from recollect.domain.scope import Actor, Role
from recollect.errors import Stale
from recollect.ports import Store
from recollect.store.postgres.engine import PostgresEngine
from recollect.store.sql import SqlStore
from recollect.store.sqlite.engine import SqliteEngine
from tests.worlds import World

COUNT_EVERY = 4


@dataclass
class Account:
    """What became of one thread's writes."""

    counted: int = 0
    looked_again: int = 0


def open_store(address: str) -> Store:
    if address.startswith("postgres"):
        return SqlStore(PostgresEngine(address, connections=32))
    return SqlStore(SqliteEngine(Path(address)))


def write(store: Store, tenant: TenantId, counters: Sequence[ItemId], writes: int, name: str, start: float) -> Account:
    """A quarter of the writes count on a contended memory; the others tell a fact in a thread that all share."""
    world = World(store, tenant, SystemClock(), Actor(id=name, role=Role.ADMIN))  # type: ignore[arg-type]
    account = Account()
    episode = world.held(counters[0]).item
    time.sleep(max(0, start - time.time()))
    for number in range(writes):
        if number % COUNT_EVERY == 0:
            counter = counters[1 + number // COUNT_EVERY % (len(counters) - 1)]
            account.looked_again += count(world, counter)
            account.counted += 1
        else:
            item = world.item(Fact(value=f"{name} {number}"))
            event = world.event(episode, f"{name} {number}")
            world.apply(Append(event), Create(item), Derive(world.version(item, event)))
    return account


def count(world: World, counter: ItemId) -> int:
    """One more, from what was read; again when somebody else was faster. How often it was looked at again."""
    for tries in range(10_000):
        held = world.held(counter)
        after = replace(held.item, body=Fact(key="count", value=str(int(held.item.body.value) + 1)))
        change = revise(held.item, after, world.clock.now())
        try:
            world.apply(change, expect={counter: held.rev})
        except Stale:
            continue
        return tries
    raise AssertionError("it never got its turn")


def main(address: str, tenant: str, counters: str, threads: int, writes: int, name: str, start: float) -> None:
    store = open_store(address)
    accounts: list[Account] = []

    def work(number: int) -> None:
        ids = [ItemId(id) for id in counters.split(",")]
        accounts.append(write(store, TenantId(tenant), ids, writes, f"{name}.{number}", start))

    working = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for thread in working:
        thread.start()
    for thread in working:
        thread.join()
    store.close()
    print(json.dumps([vars(account) for account in accounts]))


if __name__ == "__main__":
    _, address, tenant, counters, threads, writes, name, start = sys.argv
    main(address, tenant, counters, int(threads), int(writes), name, float(start))
