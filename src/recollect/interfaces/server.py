"""The one server of a store: it holds the index, the models and the jobs, and says in a file beside the store where
it is."""

import gc
import ipaddress
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from recollect.errors import Invalid, ModelFailed, Refused, StoreError, StoreUnreachable
from recollect.interfaces import presence
from recollect.interfaces.presence import Claim, Presence

if TYPE_CHECKING:
    from recollect.custody import Deps
    from recollect.interfaces.credentials import CredentialFile
    from recollect.settings import Settings

PORT = 7077  # the default of the settings
CREDENTIALS = "credentials.toml"
_GRACE = 10  # seconds that requests at work get when the server is told to stop
_TURN_S = 0.0005  # a thread at work gives way to others: the one that answers waits for a turn of each of them


@dataclass(frozen=True, slots=True)
class Listening:
    """Where to answer. A port that is `flexible` gives way to any free one where it is taken."""

    host: str = "127.0.0.1"
    port: int = PORT
    flexible: bool = False
    names: Sequence[str] = ()
    """Names the server is called by besides those of this machine itself."""

    @property
    def loopback(self) -> bool:
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def place(settings: "Settings") -> str:
    """The file that says where the server of this store is."""
    from recollect.wiring import sidecar

    return presence.beside(sidecar(settings))


def credential_file(settings: "Settings") -> "CredentialFile":
    from recollect.interfaces.credentials import CredentialFile

    return CredentialFile(settings.home / CREDENTIALS)


def serve(settings: "Settings", listening: Listening, ready: Callable[[Presence], None]) -> Presence | None:
    """Serve the store until SIGTERM or SIGINT. Where it is served already, nothing happens and the answer is by whom.
    `ready` is told once requests are answered."""
    from recollect import wiring

    if not listening.loopback and not credential_file(settings).all():
        raise Refused(
            f"{listening.host} can be reached from other machines, and no credentials are configured",
            "Make one with: recollect token add NAME; or serve this machine alone with: --host 127.0.0.1",
        )
    wiring.connect(settings, create=True).close()
    claim = presence.claim(place(settings))
    if claim is None:
        return presence.wait(place(settings), 10) or _mute(settings)
    try:
        with _listen(listening) as listener:
            _Server(settings, listening, claim, ready).run(listener)
    finally:
        claim.release()
    return None


def _mute(settings: "Settings") -> Presence:
    raise StoreUnreachable(
        f"another server holds {place(settings)} and does not say where it is", "Try again, or end that process."
    )


class _Server:
    """A server from its start to its end."""

    def __init__(
        self, settings: "Settings", listening: Listening, claim: Claim, ready: Callable[[Presence], None]
    ) -> None:
        self._settings, self._listening, self._claim, self._ready = settings, listening, claim, ready
        self._stop = threading.Event()

    def run(self, listener: socket.socket) -> None:
        import uvicorn

        from recollect import wiring
        from recollect.interfaces.credentials import Credentials, owner_token
        from recollect.interfaces.http import make_app
        from recollect.interfaces.http.connections import LONGEST_HEAD, Patience, Server
        from recollect.jobs.background import Background
        from recollect.memory import Memory

        # Before anybody else sets up a handler: one that fails while it tells of a failure would end the event loop.
        logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
        sys.setswitchinterval(_TURN_S)
        settings = self._settings
        token = owner_token(Path(f"{wiring.sidecar(settings)}.token"))
        owner = wiring.principal(settings)
        deps = wiring.dependencies(settings)
        crew = Background(lambda: wiring.workers(deps, settings))  # for what a write leaves for right after
        memory = Memory(replace(deps, wake=crew.wake, rest=crew.close), owner)
        worker = wiring.workers(deps, settings)  # for what comes by the clock, and from other programs
        here = Presence(_address(listener), token, os.getpid(), version("recollect"))
        jobs = threading.Thread(target=worker.run, args=(self._stop,), name="worker")

        def ready() -> None:
            self._claim.announce(here)
            jobs.start()
            self._ready(here)

        app = make_app(
            memory,
            Credentials(token, owner, credential_file(settings)),
            hosts=[*self._listening.names, self._listening.host],
            numbers=not self._listening.loopback,
            escalation_status=settings.escalation_status,
            ready=ready,
            warm=lambda: _warm(deps),
        )
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            lifespan="on",
            ws="none",
            timeout_graceful_shutdown=_GRACE,
            h11_max_incomplete_event_size=LONGEST_HEAD,
        )
        try:
            with _usual_signals():
                Server(config, Patience(settings.head_seconds, settings.body_seconds)).run(sockets=[listener])
        finally:
            self._stop.set()
            if jobs.ident:
                jobs.join()
            memory.close()


class _usual_signals:  # noqa: N801 - read as a word: with _usual_signals()
    """uvicorn raises the signal that ended it once more when it is done: by then it has had its effect."""

    def __enter__(self) -> None:
        self._before = {number: signal.signal(number, _nothing) for number in (signal.SIGTERM, signal.SIGINT)}

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)


def _nothing(_number: int, _frame: FrameType | None) -> None: ...


_WARMED = 8
"""Tenants whose index is loaded before anybody asks."""


def _warm(deps: "Deps") -> None:
    """Load what the first question needs, while nobody waits for it."""
    from recollect.domain.judgement import Heard
    from recollect.domain.query import Filters
    from recollect.domain.scope import Sight
    from recollect.holdings import Wanted

    import_module("recollect.read.query")
    vector: bytes | None = None
    if deps.embedder is not None:
        with suppress(ModelFailed):  # a remote one may be away; who asks is told
            [vector] = deps.embedder.embed(["warm"])
    if deps.keeper is not None:
        with suppress(ModelFailed):
            deps.keeper.weigh([Heard(sentences=("warm",))])
    nothing = Sight(users=frozenset(), projects=frozenset(), silo=None, readers=frozenset())
    name = deps.embedder.name if deps.embedder and vector else None
    wanted = Wanted(words=("warm",), vector=vector, embedder=name, filters=Filters(), sight=nothing, limit=1)
    with suppress(StoreError):
        for tenant in deps.store.tenants()[:_WARMED]:
            deps.store.find_items(tenant, wanted)
    # What is loaded by now stays: looking through it again and again took a tenth of every query. Not looked through
    # once more before it, which would keep everybody waiting.
    gc.freeze()


def _listen(listening: Listening) -> socket.socket:
    """A socket that clients can already connect to; they are answered once the server is ready."""
    wanted = [listening.port, 0] if listening.flexible else [listening.port]
    failed: OSError | None = None
    for port in wanted:
        try:
            found = socket.getaddrinfo(listening.host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            family, kind, protocol, _, address = found[0]
            listener = socket.socket(family, kind, protocol)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                listener.bind(address)
                listener.listen(256)
            except OSError:
                listener.close()
                raise
            return listener
        except (OSError, OverflowError) as error:
            failed = error if isinstance(error, OSError) else OSError(str(error))
    told = failed.strerror or str(failed) if failed else ""
    raise Invalid(
        f"nobody can listen at {listening.host} port {listening.port}: {told}",
        "Another program may have the port: give another one with --port, or none for a free one.",
    )


def _address(listener: socket.socket) -> str:
    """Where programs of this machine reach the server."""
    host, port = listener.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:
        host = "127.0.0.1" if listener.family == socket.AF_INET else "::1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


# -- for clients --------------------------------------------------------------------------------------------


def reach(settings: "Settings", given: Mapping[str, str | None], patience: float = 30) -> Presence:
    """The server of this store, started where there is none: with the options that were `given` here."""
    file = place(settings)
    found = presence.find(file)
    if found:
        return found
    started = start(given)
    end = time.monotonic() + patience
    while time.monotonic() < end and not started.poll():  # one that finds another ends with 0: that one is waited for
        found = presence.wait(file, 0.2)
        if found:
            return found
    raise StoreUnreachable("the server did not start", "Start it by hand to see why: recollect serve")


def start(given: Mapping[str, str | None]) -> "subprocess.Popen[bytes]":
    """A server in the background, which outlives the one who starts it. It is the owner's: role and agent are not
    passed on. Where the store is goes by the environment: its address may hold a password."""
    from recollect.settings import environment

    options = [part for name in ("tenant", "user") if (value := given.get(name)) for part in (f"--{name}", value)]
    return subprocess.Popen(
        [sys.executable, "-m", "recollect.interfaces.cli", "serve", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(given.get("store")),
        start_new_session=True,
    )
