"""Jobs followed to their end: done here where no server does them, looked on at where one does. What is shown is how
much is left of how much."""

import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

from recollect.interfaces.cli.call import Call

if TYPE_CHECKING:
    from recollect.jobs.worker import Worker
    from recollect.memory import Memory

LOOK = 1.0
"""Seconds between two looks at how far it is."""
FOLLOWS = "what follows from them"


class Standing(Protocol):
    """How far something is: so many are left, and so much is to be done besides; settled, where nothing more happens by
    itself."""

    @property
    def left(self) -> int: ...

    @property
    def besides(self) -> int: ...

    @property
    def settled(self) -> bool: ...


S = TypeVar("S", bound=Standing)


def follow(call: Call, look: "Callable[[Memory], S]", noun: str, *, wait: bool) -> tuple[S, bool]:
    """Until it is done: how it stands then, and whether what is left is left to a server. Where a server does it, only
    with `wait`; without, what waits to be tried again is not waited for. What nobody will do by itself is waited for by
    nobody."""
    from recollect import wiring
    from recollect.memory import Memory

    settings = call.settings
    deps = wiring.dependencies(settings)
    memory = Memory(deps, wiring.principal(settings))
    worker: Worker | None = None
    try:
        standing = look(memory)
        if served(call) and not wait:
            return standing, True
        with bar(noun) as show:
            while not standing.settled:
                show(standing.left, standing.besides)
                if served(call):
                    time.sleep(LOOK)
                else:
                    worker = worker or wiring.workers(deps, settings)
                    if not _worked(worker):
                        if not wait:
                            break
                        time.sleep(LOOK)
                standing = look(memory)
            show(standing.left, standing.besides)
            if not served(call):  # what else is due: nobody else may come by for long
                (worker or wiring.workers(deps, settings)).run_until_idle()
                standing = look(memory)
        return standing, False
    finally:
        deps.store.close()


def served(call: Call) -> bool:
    """Whether a server does the jobs of this store."""
    from recollect.interfaces import presence
    from recollect.interfaces.server import place

    return presence.find(place(call.settings)) is not None


def _worked(worker: "Worker") -> bool:
    """Some steps; False where there was none to do."""
    until = time.monotonic() + LOOK
    if not worker.run_once():
        return False
    while time.monotonic() < until and worker.run_once():
        pass
    return True


@contextmanager
def bar(noun: str, total: int | None = None) -> Generator[Callable[[int, int], None]]:
    """A bar on a terminal, and nothing in a pipe. It is told how many are left, and how much besides; the most that
    were ever left are all. Where none is left and something is to be done besides, the bar is about that."""
    if not sys.stderr.isatty() or total == 0:
        yield lambda left, besides: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    columns = [SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()]
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(noun, total=total)
        most, most_besides = total or 0, 0

        def show(left: int, besides: int) -> None:
            nonlocal most, most_besides
            most = max(most, left)
            if besides and not left:
                if not most_besides:
                    shown.reset(task)  # the time that is left is told by how fast it goes, and this is other work
                most_besides = max(most_besides, besides)
                shown.update(task, description=FOLLOWS, total=most_besides, completed=most_besides - besides)
                return
            told = f"{noun}, {besides:,} more to do" if besides else noun
            shown.update(task, description=told, total=most, completed=most - left)

        yield show
