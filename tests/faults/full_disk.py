"""A store on a disk that runs full. Told: what was acknowledged, what was refused and how, and what was there after."""

import json
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from recollect.domain.ids import TenantId
from recollect.errors import RecollectError, StoreFull
from recollect.store.sidecar import FileErasures
from recollect.store.sql import SqlStore
from recollect.store.sqlite.engine import SqliteEngine
from tests.faults.elsewhere import mount_small_disk
from tests.interfaces.served import Reply, Served, serving
from tests.worlds import DAWN, Told, World

DISK = "6m"
BALLAST = 1_500_000
PLAIN = {"RECOLLECT_EMBEDDER": "none", "RECOLLECT_JUDGE": "none", "RECOLLECT_KEEPER": "none"}


def list_runs_full(at: Path) -> None:
    """The list of erasures on a disk without room for the whole of its next line."""
    mount_small_disk(at, "64k")
    erasures = FileErasures(at / "list")
    kept = 0
    while (at / "list").stat().st_size < 4000 if kept else True:
        erasures.add("chain", [f"i:{kept}"], DAWN)
        kept += 1
    ballast = at / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while file.write(b"x" * 4096):
            pass
    refused = _attempt(lambda: erasures.add("chain", ["i:too-long-for-this-disk" * 20], DAWN))
    listed = len(erasures.of("chain"))
    ballast.unlink()
    erasures.add("chain", ["i:after"], DAWN)
    after = len(erasures.of("chain"))
    print(json.dumps({"refused": refused, "listed": listed - kept, "after": after - kept}))


def opened_when_full(at: Path) -> None:
    """A store that nobody has open, on a disk without room for anything, the index of its log included."""
    mount_small_disk(at, DISK)
    with closing(SqlStore(SqliteEngine(at / "memory.db"))) as store:
        world = World(store, TenantId("home"))
        store.create_tenant(world.tenant, at=DAWN)
        world.tell("the first thing")
        before = world.dump()
    with suppress(OSError), (at / "ballast").open("wb", buffering=0) as file:
        while file.write(b"x" * 4096):
            pass
    with closing(SqlStore(SqliteEngine(at / "memory.db"))) as store:
        world = World(store, world.tenant, world.clock)
        read = world.dump() == before and world.is_whole()
        refused = _attempt(lambda: world.tell("one thing more"))
    (at / "ballast").unlink()
    with closing(SqlStore(SqliteEngine(at / "memory.db"))) as store:
        world = World(store, world.tenant, world.clock)
        same = world.dump() == before
        world.tell("there is room again")
        whole = world.is_whole()
    print(json.dumps({"read": read, "refused": refused, "same": same, "whole": whole}))


def served_on(at: Path) -> None:
    """A server whose disk runs full: what is told over HTTP of reading and of writing, and what was lost."""
    mount_small_disk(at, DISK)
    ballast = at / "ballast"
    with serving(at, env=PLAIN) as server:
        kept = [_keep(server, f"The ferry to island {number} leaves at {number} o'clock.") for number in range(3)]
        while _keep(server, "x" * 900).status == 200:
            with ballast.open("ab") as file, suppress(OSError):
                file.write(b"x" * 200_000)
        refused = _keep(server, "x" * 900)
        asked: list[int] = []
        for number in range(8):
            question = {"query": f"When does the ferry to island {number % 3} leave?", "thread_id": f"thread {number}"}
            asked.append(server.ask("POST", "/api/memory/query", {**question, "turn_id": f"turn {number}"}).status)
        asked.append(server.ask("GET", f"/api/memory/{kept[0].document['id']}").status)
        ballast.unlink()
        again = _keep(server, "The ferry to island 9 leaves at 9 o'clock.").status
        there = [server.ask("GET", f"/api/memory/{one.document['id']}").status for one in kept]
        verified = server.ask("GET", "/api/audit/verify?deep=true").document
    told = {"status": refused.status, "names_a_path": str(at) in refused.body.decode(), "asked": asked}
    print(json.dumps({**told, "again": again, "there": there, "whole": verified["whole"]}))


def _keep(server: Served, text: str) -> Reply:
    return server.ask("POST", "/api/memory/remember", {"text": text})


def main(at: Path) -> None:
    mount_small_disk(at, DISK)
    told: dict[str, Any] = {}
    store = SqlStore(SqliteEngine(at / "memory.db"))
    world = World(store, TenantId("home"))
    store.create_tenant(world.tenant, at=DAWN)
    first = world.tell("the first thing")
    memory = world.memory(at)
    memory.erase(world.tell("an early erasure").item.id)
    (at / "ballast").write_bytes(b"x" * BALLAST)

    told["refused"], acked = fill(world)
    told["acked"] = len(acked)
    told["read"] = world.held(first.item).item == first.item
    told["whole"] = world.is_whole()
    told["kept"] = all(_there(world, one) for one in acked)
    before = world.dump()
    told["again"] = _attempt(lambda: world.tell("x" * 300_000))
    told["erase"] = _attempt(lambda: memory.erase(acked[0].item.id))
    told["backup"] = _attempt(lambda: store.backup(at / "copy.db"))
    told["nothing_torn"] = world.dump() == before
    told["parts"] = [path.name for path in at.glob("*.part")]
    store.close()
    told["opened"] = _attempt(lambda: SqlStore(SqliteEngine(at / "memory.db")).close())

    (at / "ballast").unlink()
    store = SqlStore(SqliteEngine(at / "memory.db"))
    world = World(store, world.tenant, world.clock)
    told["same"] = world.dump() == before
    world.tell("there is room again")
    memory = world.memory(at)
    memory.erase(acked[0].item.id)
    told["erased"] = world.store.item(world.tenant, acked[0].item.id) is None
    told["well"] = world.is_whole()
    store.close()
    print(json.dumps(told))


def fill(world: World) -> tuple[str, list[Told]]:
    """Write until there is no room; how that was said, and what was acknowledged before."""
    acked: list[Told] = []
    size = 100_000
    while True:
        try:
            acked.append(world.tell(f"number {len(acked)} " + "x" * size))
        except RecollectError as error:
            if size > 1_000:
                size //= 10
                continue
            return _name(error), acked


def _there(world: World, one: Told) -> bool:
    held = world.store.item(world.tenant, one.item.id)
    events = list(world.store.events_by_id(world.tenant, [one.event.id]))
    return held is not None and events == [one.event] and one.version in world.store.versions(world.tenant, one.item.id)


def _attempt(act: Any) -> str:
    try:
        act()
    except RecollectError as error:
        return _name(error)
    return "done"


def _name(error: RecollectError) -> str:
    assert error.help or not isinstance(error, StoreFull)
    return type(error).__name__


if __name__ == "__main__":
    programs = {"store": main, "list": list_runs_full, "opened": opened_when_full, "served": served_on}
    programs[sys.argv[1]](Path(sys.argv[2]))
