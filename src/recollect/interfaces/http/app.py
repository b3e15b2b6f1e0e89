"""The app: routes under /api and the same without it, MCP beside them, the guard in front of all of them."""

from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from functools import lru_cache
from importlib.metadata import version

from anyio import to_thread
from fastapi import FastAPI
from starlette.routing import Route

from recollect.domain.scope import Principal
from recollect.interfaces.credentials import Credentials
from recollect.interfaces.http import problems
from recollect.interfaces.http.description import describe
from recollect.interfaces.http.guard import MAX_BODY, Guard
from recollect.interfaces.http.later import Later, Part
from recollect.interfaces.http.routes import ROOMS
from recollect.memory import Memory

_THREADS = 16  # requests at work at a time; each holds a connection to the store
_ABOUT = """Long-term memory for AI agents that shows its receipts.

Every route but /api/health needs the header `Authorization: Bearer TOKEN`. Refusals are problem details (RFC 9457)
with a `help` that says what to do. Routes are served under /api and the same without it."""


def make_app(
    memory: Memory,
    credentials: Credentials,
    *,
    hosts: Collection[str] = (),
    numbers: bool = False,
    max_body: int = MAX_BODY,
    escalation_status: int = 409,
    ready: Callable[[], None] = lambda: None,
    warm: Callable[[], None] = lambda: None,
) -> FastAPI:
    """The whole server as one ASGI app over `memory`, which it lends to each principal. With `escalation_status`, which
    is 409 or 428, people are asked before more evidence is fetched. `ready` is called once it can answer; `warm` then,
    in a thread, for what the first question needs and start-up does not."""

    @lru_cache(maxsize=1000)
    def acting(principal: Principal) -> Memory:
        return memory.acting(principal)

    def later() -> Part:
        warm()  # one after the other: they would only slow each other, and the first question, down
        return _mcp(acting)

    mcp = Later(later)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        to_thread.current_default_thread_limiter().total_tokens = _THREADS
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(mcp.running())
            ready()
            yield

    app = FastAPI(
        title="Recollect",
        version=version("recollect"),
        description=_ABOUT,
        lifespan=lifespan,
        docs_url=None,  # the page would fetch its scripts from elsewhere
        redoc_url=None,
        openapi_url="/api/openapi.json",
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
        telemetry={
            "tracing": False,
            "metrics": False,
            "logs": False,
            "operation_spans": False,
            "auto_configure": False,
        },
    )
    app.state.acting = acting
    app.state.escalation_status = escalation_status
    for room in ROOMS:
        app.include_router(room, prefix="/api")
        app.include_router(room, include_in_schema=False)
    # POST alone: there are no sessions to end, and nothing that the server would say by itself on an open stream.
    app.router.routes.append(Route("/mcp", endpoint=mcp, methods=["POST"]))
    problems.install(app)
    describe(app)
    app.add_middleware(Guard, credentials=credentials, hosts=hosts, numbers=numbers, max_body=max_body)
    return app


def _mcp(acting: Callable[[Principal], Memory]) -> Part:
    from recollect.interfaces.mcp import over_http

    return over_http(acting)
