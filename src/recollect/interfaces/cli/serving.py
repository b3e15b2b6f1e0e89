"""Serving: the one server of a store, the tools in front of it, and who may use it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.errors import Invalid, Refused
from recollect.interfaces.cli import paper
from recollect.interfaces.cli.call import Call, Commands, Json
from recollect.interfaces.cli.paper import Column, line, say, styled

if TYPE_CHECKING:
    from datetime import datetime

    from recollect.domain.scope import Principal
    from recollect.interfaces.credentials import Credential, CredentialFile
    from recollect.interfaces.presence import Presence

commands = Commands()


@commands.command("serve")
def serve(
    call: Call,
    host: Annotated[
        str | None, typer.Option("--host", metavar="ADDRESS", help="Where to listen; 127.0.0.1 if left out.")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", min=0, max=65535, help="At which port; 0 takes any free one.")
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="A name it is called by elsewhere; may be repeated."),
    ] = None,
    json: Json = False,
) -> None:
    """Serve the store to agents: HTTP and MCP, until stopped with Ctrl-C.

    There is one server per store. Where it runs already, this says where it is."""
    from recollect.interfaces.server import PORT, Listening, serve

    settings = call.settings
    listening = Listening(
        host=host or settings.host,
        port=settings.port if port is None else port,
        flexible=port is None and settings.port == PORT,
        names=allow_host or (),
    )
    there = serve(settings, listening, lambda here: _ready(call, here, json))
    if there is None:
        if not json:
            paper.done("stopped")
        return
    if port or host:
        raise Refused(
            f"the store is served already, at {there.address} by process {there.pid}",
            "Use that one, or stop it first.",
        )
    if not json:
        say(f"The store is served already, by process {there.pid}.")
    _ready(call, there, json)


def _ready(call: Call, here: "Presence", json: bool) -> None:
    from recollect.wiring import place

    if json:
        paper.document({"address": here.address, "token": here.token, "pid": here.pid, "store": place(call.settings)})
        paper.flush()
        return
    paper.done(styled("serving ", place(call.settings), " at ", (here.address, "bold cyan")))
    say(styled(("token  ", "dim"), here.token), indent=2)
    say()
    say(styled(("Connect Claude Code:", "bold")))
    for words in connection(here):
        paper.write(f"  {words}")
    say()
    say(styled(("And to have memories brought up by themselves, in ~/.claude/settings.json:", "bold")))
    paper.write(f"  {hooks()}")
    say()
    say(styled(("Stop with Ctrl-C.", "dim")))
    paper.flush()


def connection(here: "Presence") -> list[str]:
    """What connects Claude Code, on one line."""
    header = f'--header "Authorization: Bearer {here.token}"'
    return [f"claude mcp add --transport http recollect {here.address}/mcp {header}"]


def hooks() -> str:
    """What Claude Code's settings need for the hook; by its path where a shell would not find it."""
    import json
    import shutil
    import sys
    from pathlib import Path

    name = "recollect-hook"
    command = name if shutil.which(name) else str(Path(sys.executable).with_name(name))
    entry = [{"hooks": [{"type": "command", "command": command}]}]
    return json.dumps({"hooks": {"SessionStart": entry, "UserPromptSubmit": entry}})


@commands.command("connect")
def connect(
    call: Call,
    program: Annotated[str, typer.Argument(metavar="PROGRAM", help="What to connect: claude-code.")],
) -> None:
    """Print the lines that connect a program to the server.

    The server is started where there is none."""
    from recollect.interfaces.server import reach

    if program != "claude-code":
        raise Invalid(f"nothing is known about {program!r}", "There is: claude-code. Others speak MCP: docs/mcp.md")
    here = reach(call.settings, call.given)
    for words in connection(here):
        paper.write(words)
    paper.write(hooks())


@commands.command("mcp")
def mcp(call: Call) -> None:
    """Speak MCP on standard input and output, for a program that starts it.

    It is a client of the server, which is started where there is none."""
    from recollect.client import Client
    from recollect.interfaces.server import reach

    here = reach(call.settings, call.given)
    from recollect.interfaces.mcp import over_stdio

    over_stdio(Client(here.address, here.token), call.settings.agent)


# -- credentials --------------------------------------------------------------------------------------------


class Deed(StrEnum):
    ADD = "add"
    LIST = "list"
    ROTATE = "rotate"
    REVOKE = "revoke"


@commands.command("token")
def token(
    call: Call,
    deed: Annotated[Deed, typer.Argument(metavar="add|list|rotate|revoke", help="What to do.")],
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="What the credential is called.", show_default=False)
    ] = None,
    reach_user: Annotated[
        list[str] | None,
        typer.Option("--reach-user", metavar="NAME", help="It reaches this user's memories only; may be repeated."),
    ] = None,
    reach_project: Annotated[
        list[str] | None,
        typer.Option("--reach-project", metavar="NAME", help="It reaches this project's only; may be repeated."),
    ] = None,
    relays: Annotated[
        list[str] | None,
        typer.Option(
            "--relays", metavar="NAME", help="This one's words are its own when it brings them; may be repeated."
        ),
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option("--expires", metavar="30d|MOMENT", help="Until when it is taken: after a time, or at a moment."),
    ] = None,
    grace: Annotated[
        str | None,
        typer.Option("--grace", metavar="1h", help="With rotate: for how long the token of before is taken yet."),
    ] = None,
    json: Json = False,
) -> None:
    """Make, list, rotate and revoke the tokens that the server takes besides its owner's.

    A new token stands for the --user, --role, --agent and --tenant that are given with it. It is shown once."""
    from datetime import UTC, datetime

    from recollect.interfaces.server import credential_file

    file, now = credential_file(call.settings), datetime.now(UTC)
    if deed is Deed.LIST:
        _list(file.all(), now, json)
        return
    if name is None:
        raise typer.BadParameter(f"which one? recollect token {deed.value} NAME")
    if deed is Deed.REVOKE:
        file.revoke(name)
        if json:
            paper.document({"revoked": name})
        else:
            paper.done(f"revoked {line(name)}", "A server that runs refuses it from now on.")
        return
    if grace is not None and deed is not Deed.ROTATE:
        raise typer.BadParameter("--grace goes with: recollect token rotate NAME")
    if deed is Deed.ROTATE:
        _rotate(file, name, now, expires, grace, json)
        return
    _add(call, name, _Bounds(reach_user, reach_project, relays), now, expires, json)


def _rotate(
    file: "CredentialFile", name: str, now: "datetime", expires: str | None, grace: str | None, json: bool
) -> None:
    from recollect.interfaces.credentials import ending, lasting

    made = file.rotate(
        name, now, grace=lasting(grace or "0m"), expires=None if expires is None else ending(expires, now)
    )
    _tell(next(one for one in file.all() if one.name == name), made, "rotated", json)


@dataclass(frozen=True, slots=True)
class _Bounds:
    """What a credential reaches, and whom it relays; None leaves that open."""

    users: Sequence[str] | None
    projects: Sequence[str] | None
    relays: Sequence[str] | None

    def of(self, who: "Principal") -> "Principal":
        named = {field: getattr(self, field) for field in ("users", "projects", "relays")}
        return replace(who, **{field: frozenset(names) if names else None for field, names in named.items()})


def _add(call: Call, name: str, bounds: _Bounds, now: "datetime", expires: str | None, json: bool) -> None:
    from recollect.interfaces.credentials import ending
    from recollect.interfaces.server import credential_file
    from recollect.wiring import connect

    end = None if expires is None else ending(expires, now)
    with connect(call.settings) as memory:  # the tenant must be there
        who = bounds.of(memory.principal)
    file = credential_file(call.settings)
    made = file.add(name, who, now, expires=end)
    _tell(next(one for one in file.all() if one.name == name), made, "made", json)


def _tell(one: "Credential", token: str, done: str, json: bool) -> None:
    """The token, this once."""
    from recollect.domain.codec import when
    from recollect.interfaces.cli import describe

    who = one.principal
    if json:
        told = {"name": one.name, "token": token, "tenant": who.tenant, "id": who.id, "role": who.role.value}
        paper.document({**told, "expires": when(one.expires) if one.expires else None})
        return
    paper.done(f"{done} {line(one.name)}: {who.role.value} {line(who.agent_id or who.id)}, tenant {who.tenant}")
    paper.write(f"  {token}")
    say(styled(("Keep it now: it is not shown again.", "dim")), indent=2)
    if one.expires:
        say(styled((f"It is taken until {describe.minute(one.expires)}.", "dim")), indent=2)
    if one.former:
        say(styled((f"That of before is taken until {describe.minute(one.former.until)}.", "dim")), indent=2)


def _list(found: "Sequence[Credential]", now: "datetime", json: bool) -> None:
    from recollect.interfaces.cli import describe

    if json:
        paper.document({"credentials": [_document(one, now) for one in found]})
        return
    if not found:
        say("There are none besides the owner's. Make one with: recollect token add NAME")
        return
    columns = [Column("name", style="bold"), Column("role"), Column("who", fold=True), Column("tenant")]
    paper.table(
        [*columns, Column("reaches", fold=True), Column("since", style="dim"), Column("taken until")],
        [
            [
                line(one.name),
                one.principal.role.value,
                line(one.principal.agent_id or one.principal.id),
                one.principal.tenant,
                line(_reach(one)),
                describe.minute(one.created_at),
                _until(one, now),
            ]
            for one in found
        ],
    )


def _until(one: "Credential", now: "datetime") -> str:
    """How long a credential is taken; that of before a rotation with it, while it is."""
    from recollect.interfaces.cli import describe

    end = "it is revoked" if one.expires is None else describe.minute(one.expires)
    former = one.former if one.former and now < one.former.until else None
    parts = [f"expired {end}" if one.expired(now) else end]
    return "; ".join([*parts, *([f"the old one {describe.minute(former.until)}"] if former else [])])


def _reach(one: "Credential") -> str:
    users, projects = one.principal.users, one.principal.projects
    parts = [f"users {', '.join(sorted(users))}" if users is not None else ""]
    parts += [f"projects {', '.join(sorted(projects))}" if projects is not None else ""]
    reach = "; ".join(part for part in parts if part) or "all of the tenant"
    relays = one.principal.relays
    return reach if relays is None else f"{reach}; relays {', '.join(sorted(relays)) or 'nobody'}"


def _document(one: "Credential", now: "datetime") -> dict[str, object]:
    from recollect.domain.codec import when

    who = one.principal
    return {
        "name": one.name,
        "tenant": who.tenant,
        "id": who.id,
        "role": who.role.value,
        "agent": who.agent_id,
        "users": None if who.users is None else sorted(who.users),
        "projects": None if who.projects is None else sorted(who.projects),
        "relays": None if who.relays is None else sorted(who.relays),
        "created_at": when(one.created_at),
        "expires": when(one.expires) if one.expires else None,
        "expired": one.expired(now),
        "former_until": when(one.former.until) if one.former else None,
    }
