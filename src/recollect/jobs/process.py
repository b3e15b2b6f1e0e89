"""A process that works until it is told to stop."""

import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from types import FrameType

from recollect.jobs.worker import Worker


def work(workers: Sequence[Worker]) -> None:
    """Run each worker in a thread of its own until SIGTERM or SIGINT; each finishes its step first. From the main
    thread only. A second signal has its usual effect, which costs no more than the steps at hand."""
    stop = threading.Event()

    def stop_once(_number: int, _frame: FrameType | None) -> None:
        restore()  # first: a signal within `set` would wait for itself
        stop.set()

    def restore() -> None:
        for number, handler in usual.items():
            signal.signal(number, handler)

    usual = {number: signal.signal(number, stop_once) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        with ThreadPoolExecutor(len(workers), thread_name_prefix="worker") as pool:
            running = [pool.submit(_run, worker, stop) for worker in workers]
        for one in running:
            one.result()
    finally:
        restore()


def _run(worker: Worker, stop: threading.Event) -> None:
    try:
        worker.run(stop)
    finally:
        stop.set()  # one that breaks down takes the others with it, so that it is noticed
