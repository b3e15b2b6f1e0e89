"""Memory as the settings describe it, together with what stands behind it, for those who measure single parts."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from recollect import wiring
from recollect.custody import Deps
from recollect.memory import Memory
from recollect.minds import Minds
from recollect.settings import Settings


@dataclass(frozen=True, slots=True)
class Opened:
    memory: Memory
    deps: Deps
    settings: Settings

    def settle(self) -> int:
        """Do everything that is due: how many steps that took."""
        return wiring.workers(self.deps, self.settings).run_until_idle()


@contextmanager
def opened(settings: Settings, given: Minds | None = None) -> Generator[Opened]:
    """A tenant, made where it is not there yet. Nobody does its jobs but `settle`."""
    wiring.connect(settings, create=True, given=given).close()
    deps = wiring.dependencies(settings, given=given)
    memory = Memory(deps, wiring.principal(settings))
    try:
        yield Opened(memory, deps, settings)
    finally:
        memory.close()
