"""One call of the command line: which store, in whose name, and the Memory that follows from it."""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.domain.scope import Role
from recollect.errors import Refused

if TYPE_CHECKING:
    from recollect.memory import Memory
    from recollect.settings import Settings

Store = Annotated[str | None, typer.Option("--store", metavar="PATH|URL", help="A SQLite file or postgresql://…")]
Tenant = Annotated[str | None, typer.Option("--tenant", metavar="NAME", help="Whose memory.")]
User = Annotated[str | None, typer.Option("--user", metavar="NAME", help="Who is asking.")]
RoleName = Annotated[Role | None, typer.Option("--role", metavar="ROLE", help="As agent, member, moderator or admin.")]
Agent = Annotated[
    str | None,
    typer.Option("--agent", metavar="NAME", help="The agent that is asking; its role is agent."),
]
Json = Annotated[bool, typer.Option("--json", help="Answer with one JSON document.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]

_STAY = ("serve", "mcp")
_PASSWORD_SEEN = (
    "a password on the command line is seen by every user of this machine",
    "Put the address into RECOLLECT_STORE or recollect.toml, or leave the password to PGPASSWORD or ~/.pgpass.",
)

_EVERYWHERE: dict[str, Any] = {"store": Store, "tenant": Tenant, "user": User, "role": RoleName, "agent": Agent}


@dataclass(frozen=True, slots=True)
class Call:
    """What was given on the command line about the store and the person; the settings fill in the rest."""

    given: Mapping[str, str | None]

    @property
    def settings(self) -> "Settings":
        from recollect import settings

        return settings.load(self.given)

    def memory(self) -> "Memory":
        """The memory that is there. A store or a tenant that is not is an error that names the way to make it."""
        from recollect.wiring import connect

        return connect(self.settings)


class Commands:
    """The commands of one file. Each takes the options about store and person after its name as well as before it."""

    def __init__(self) -> None:
        self._made: list[tuple[str, Callable[..., None]]] = []

    def command(self, name: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
        def keep(function: Callable[..., None]) -> Callable[..., None]:
            self._made.append((name, _with_everywhere(name, function)))
            return function

        return keep

    def join(self, app: typer.Typer) -> None:
        for name, function in self._made:
            app.command(name)(function)


def _keep_passwords_out(call: Call, command: str) -> None:
    """Says so where a password was given on the command line, which every user of the machine can read for as long as
    the command runs; one that goes on running does not start with it, nor any with what is no address besides."""
    store = call.given.get("store")
    if store:
        from recollect.interfaces.cli import paper
        from recollect.settings import holds_password, is_address

        if not holds_password(store):
            return
        if command in _STAY or not is_address(store):
            raise Refused(*_PASSWORD_SEEN)
        paper.complain(*_PASSWORD_SEEN)


def _with_everywhere(command: str, function: Callable[..., None]) -> Callable[..., None]:
    """The function as typer reads it: `call` gives way to the options that it is made of."""
    _, *own = inspect.signature(function).parameters.values()

    @functools.wraps(function)
    def entered(ctx: typer.Context, **values: Any) -> None:
        here = {name: values.pop(name) for name in _EVERYWHERE}
        before: Mapping[str, str | None] = ctx.obj or {}
        call = Call({name: here[name] if here[name] is not None else before.get(name) for name in here})
        _keep_passwords_out(call, command)
        function(call, **values)

    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [
        inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context),
        *(parameter.replace(kind=keyword) for parameter in own),
        *(inspect.Parameter(name, keyword, default=None, annotation=kind) for name, kind in _EVERYWHERE.items()),
    ]
    entered.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    entered.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return entered
