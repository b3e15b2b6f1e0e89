"""What the hook costs a coding agent before each prompt: a process of its own that asks a running server.

    python -m bench.hook

`cpu_…` are milliseconds of the hook's own process, `wall_…` what the agent waits: the question, the answer and the
keeping of the prompt. `idle_wall_p50` is a hook that has nothing to do, and so the cost of starting it; `alone_wall_s`
one that finds no server and starts one.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import quantiles

from bench.serving import served
from recollect.interfaces import presence

HOOK = Path(sys.executable).with_name("recollect-hook")
PROMPTS = (
    "Which port does the staging database of Apollo use?",
    "Please rename the setting, and run the tests before you commit.",
    "Why did we move the billing service away from the old queue?",
    "What is left to do before the release on Thursday?",
)
KNOWN = (
    "The staging database of Apollo listens on port 6432.",
    "We moved the billing service to PostgreSQL because the old queue lost messages twice.",
    "Apollo is released on Thursdays, after the audit.",
    "Tests of Apollo run before every commit.",
)


def told(prompt: str, folder: Path, session: str) -> bytes:
    event = {"session_id": session, "cwd": str(folder), "hook_event_name": "UserPromptSubmit", "prompt": prompt}
    return json.dumps(event).encode()


def run(given: bytes, env: Mapping[str, str]) -> tuple[float, float]:
    """Milliseconds of CPU and wall of one hook."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([HOOK], input=given, env=dict(env), stdout=subprocess.DEVNULL, check=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime), 1000 * wall


def alone(folder: Path, env: Mapping[str, str]) -> float:
    """Wall seconds where there is no server; the one it starts is ended."""
    home = folder / "alone"
    _, wall = run(told(PROMPTS[0], folder, "alone"), {**env, "RECOLLECT_HOME": str(home)})
    if started := presence.wait(str(home / "memory.db.server"), 30):
        os.kill(started.pid, signal.SIGTERM)
        while presence.find(str(home / "memory.db.server")):
            time.sleep(0.05)
    return wall / 1000


def measure(folder: Path, prompts: int) -> dict[str, object]:
    home = folder / "home"
    home.mkdir()
    os.environ["RECOLLECT_HOME"] = str(home)
    env = {name: value for name, value in os.environ.items() if name == "RECOLLECT_HOME" or name[:10] != "RECOLLECT_"}
    without = alone(folder, env)
    with served(str(home / "memory.db"), "default") as server:
        for fact in KNOWN:
            server.client.remember(fact)
        run(told(PROMPTS[0], folder, "warm"), env)
        costs = [run(told(PROMPTS[n % len(PROMPTS)], folder, f"session {n // 20}"), env) for n in range(prompts)]
    idle = [run(b"{}", env)[1] for _ in range(max(2, prompts // 4))]
    cpu, wall = ([cost[side] for cost in costs] for side in (0, 1))
    return {
        "prompts": prompts,
        "cpu_p50": _percentile(cpu, 50),
        "cpu_p95": _percentile(cpu, 95),
        "wall_p50": _percentile(wall, 50),
        "wall_p95": _percentile(wall, 95),
        "idle_wall_p50": _percentile(idle, 50),
        "alone_wall_s": round(without, 2),
    }


def _percentile(values: Sequence[float], percent: int) -> float:
    return round(quantiles(values, n=100)[percent - 1], 1)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.hook", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--prompts", type=int, default=100)
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="recollect-hook-") as folder:
        print(json.dumps(measure(Path(folder), args.prompts)))


if __name__ == "__main__":
    main()
