"""A worker inside a program that uses Memory directly: what a write leaves for later is done while the program goes on.

What is not done when the program ends stays in the outbox, for the next one or for a server."""

import logging
import threading
from collections.abc import Callable
from datetime import timedelta

from recollect.errors import RecollectError
from recollect.jobs.worker import Worker

log = logging.getLogger("recollect.jobs")
IDLE = timedelta(seconds=30)


class Background:
    """A thread that works through the jobs when it is woken, and ends when nothing has come for a while."""

    def __init__(self, make: Callable[[], Worker], idle: timedelta = IDLE) -> None:
        self._make = make
        self._idle = idle.total_seconds()
        self._guard = threading.Lock()
        self._woken = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._working = False

    def wake(self) -> None:
        """There may be something to do."""
        self._woken.set()
        with self._guard:
            if self._stop.is_set() or (self._thread and self._working):
                return
            self._working = True
            self._thread = threading.Thread(target=self._run, name="recollect-jobs", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        worker = self._make()
        while not self._stop.is_set():
            if self._woken.wait(self._idle):
                self._woken.clear()
                self._work(worker)
                continue
            with self._guard:
                if not self._woken.is_set():
                    self._working = False
                    return

    def _work(self, worker: Worker) -> None:
        try:
            while not self._stop.is_set() and worker.run_once():
                pass
        except RecollectError as error:  # the outbox keeps what is to be done: the next call wakes it again
            log.warning("the jobs of this program have to wait: %s", error)

    def close(self) -> None:
        """Finish the step at hand and no more."""
        self._stop.set()
        self._woken.set()
        thread = self._thread
        if thread and thread is not threading.current_thread():
            thread.join()
