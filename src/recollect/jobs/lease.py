"""Holding on to a job while its step runs."""

import logging
import threading
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta

from recollect.clock import Clock
from recollect.domain.job import Leased
from recollect.errors import RecollectError
from recollect.ports import Store

log = logging.getLogger("recollect.jobs")


@contextmanager
def held(store: Store, clock: Clock, leased: Leased, lease: timedelta) -> Generator[None]:
    """Renews the lease from a thread of its own for as long as the block runs.

    A lease that is lost all the same stops nobody here: the store refuses what the step would write.
    """
    done = threading.Event()
    beat = lease.total_seconds() / 3  # two beats may fail before the lease runs out

    def renew() -> None:
        while not done.wait(beat):
            try:
                if not store.renew(leased, now=clock.now(), lease=lease):
                    return
            except RecollectError as error:
                log.warning("the lease of %s/%s was not renewed: %s", leased.job.kind, leased.job.key, error)

    heart = threading.Thread(target=renew, name=f"lease of {leased.job.kind}", daemon=True)
    heart.start()
    try:
        yield
    finally:
        done.set()
        heart.join()
