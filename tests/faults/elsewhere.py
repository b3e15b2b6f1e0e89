"""Programs in processes of their own, where disks are small, directories read-only, and death is sudden."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
OWN_MOUNTS = ["unshare", "--user", "--map-root-user", "--mount"]
"""Whatever is mounted there is seen by nobody else and gone with the process."""


def start(module: str, *arguments: object, before: list[str] | None = None) -> subprocess.Popen[str]:
    """The module's program, run from the project's folder."""
    command = [*(before or []), sys.executable, "-m", module, *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def told(program: subprocess.Popen[str], timeout: float = 100) -> Any:
    """What the program said on its last line, once it ended well."""
    output, errors = program.communicate(timeout=timeout)
    assert program.returncode == 0, f"{errors}\n{output}"
    return json.loads(output.splitlines()[-1])


@cache
def can_mount() -> bool:
    """Whether a process here may have mounts of its own."""
    mount = 'mount -t tmpfs -o size=1m tmpfs "$1"'
    return subprocess.run([*OWN_MOUNTS, "sh", "-c", mount, "sh", "/mnt"], capture_output=True).returncode == 0


def mount_small_disk(at: Path, size: str) -> None:
    at.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", at], check=True)


def mount_again(path: Path, how: str) -> None:
    """A file or a directory with another right: `ro` or `rw`."""
    if not os.path.ismount(path):
        subprocess.run(["mount", "--bind", path, path], check=True)
    subprocess.run(["mount", "-o", f"remount,bind,{how}", path], check=True)
