"""`recollect serve` in a process of its own, as a user runs it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from recollect.client import Client
from recollect.domain.ids import TenantId
from recollect.ports import Store

PROGRAM = Path(sys.executable).with_name("recollect")
PATIENCE_S = 30
FOLLOWS = ("extract", "embed", "judge")
"""The jobs that follow from a turn at once."""
LOOK_S = 0.2
KEPT = ("RECOLLECT_HOME", "RECOLLECT_JUDGE")
"""Settings of the environment that hold for the server as well."""


@dataclass(frozen=True, slots=True)
class Served:
    address: str
    token: str
    pid: int
    ready_s: float
    """Wall seconds from its start until it answers."""

    @property
    def client(self) -> Client:
        return Client(self.address, self.token, timeout=120)


@contextmanager
def served(store: str, tenant: str, settings: Mapping[str, str] | None = None) -> Generator[Served]:
    """A server that answers already. `settings` are those that differ from what a user has by default; where the judge
    is named in the environment, it is that one."""
    env = {name: value for name, value in os.environ.items() if name in KEPT or name[:10] != "RECOLLECT_"}
    env |= {f"RECOLLECT_{name.upper()}": value for name, value in (settings or {}).items()}
    env["RECOLLECT_STORE"] = store  # it may hold a password
    command = [str(PROGRAM), "serve", "--port", "0", "--json", "--tenant", tenant]
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    try:
        assert process.stdout is not None
        told = ""
        for line in process.stdout:
            told += line
            if line == "}\n":
                break
        else:
            raise RuntimeError(f"the server of {store} ended before it was ready (status {process.wait()})")
        here = json.loads(told)
        yield Served(here["address"], here["token"], process.pid, time.perf_counter() - began)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE_S)


def wait_for_the_jobs(store: Store, tenant: TenantId) -> None:
    """Until nothing that follows from a write is left, in the outbox or in somebody's hands. A job that failed is an
    error: there is no figure for it."""
    while True:
        left = [status for status in store.jobs(tenant) if status.job.kind in FOLLOWS and not status.done_at]
        for status in left:
            if status.last_error or status.failed_at:
                raise RuntimeError(f"the job {status.job.kind} failed: {status.last_error}")
        if not left:
            return
        time.sleep(LOOK_S)
