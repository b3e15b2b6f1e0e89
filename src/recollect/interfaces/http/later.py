"""A part of the app that takes long to load: it loads while the rest already answers."""

import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

import anyio
from anyio import to_thread
from starlette.types import Receive, Scope, Send

_AGAIN = 1.0  # second
_log = logging.getLogger(__name__)


class Part(Protocol):
    """An ASGI app that answers while its context is entered."""

    def run(self) -> AbstractAsyncContextManager[None]: ...

    async def handle_request(self, scope: Scope, receive: Receive, send: Send) -> None: ...


class Later:
    """Stands in for the part: a request that comes before it has loaded waits for it."""

    def __init__(self, load: Callable[[], Part]) -> None:
        self._load = load
        self._part: Part | None = None
        self._loaded = anyio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._run)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()

    async def _run(self) -> None:
        part = await self._loading()
        async with part.run():
            self._part = part
            self._loaded.set()
            await anyio.sleep_forever()

    async def _loading(self) -> Part:
        while True:
            try:
                return await to_thread.run_sync(self._load, abandon_on_cancel=True)  # an end need not wait for it
            except OSError as error:  # no file can be opened for now; what else is served goes on
                _log.warning("a part of the server is not loaded yet: %s", error.strerror)
                await anyio.sleep(_AGAIN)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._loaded.wait()
        assert self._part is not None
        await self._part.handle_request(scope, receive, send)
