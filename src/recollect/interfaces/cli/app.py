"""The program itself: its commands, its options, and what becomes of an error."""

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from recollect.errors import RecollectError
from recollect.interfaces.cli import (
    asking,
    changing,
    hammering,
    ingesting,
    leveling,
    looking,
    moving,
    paper,
    remembering,
    serving,
    tending,
    undoing,
)
from recollect.interfaces.cli.call import Agent, RoleName, Store, Tenant, User

OK, REFUSED = 0, 1

app = typer.Typer(
    name="recollect",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # a rich traceback prints local variables, and those hold memories
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Long-term memory for AI agents that shows its receipts.",
    epilog="Where and who can be set as RECOLLECT_STORE, RECOLLECT_TENANT, RECOLLECT_USER, … or in recollect.toml.",
)
for room in (remembering, ingesting, asking, looking, leveling, changing, hammering, undoing, moving, tending, serving):
    room.commands.join(app)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"recollect {version('recollect')}")
        raise typer.Exit


@app.callback()
def globally(
    ctx: typer.Context,
    store: Store = None,
    tenant: Tenant = None,
    user: User = None,
    role: RoleName = None,
    agent: Agent = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    ctx.obj = {"store": store, "tenant": tenant, "user": user, "role": role, "agent": agent}


def run(args: Sequence[str]) -> int:
    """One command; the exit code: 0 done, 1 refused or failed, 2 not understood."""
    paper.prepare()
    try:
        code = _run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough. What is still buffered goes nowhere, and nobody is told.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return REFUSED
    return code


def _run(args: Sequence[str]) -> int:
    try:
        app(args=list(args), prog_name="recollect")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else OK
    except RecollectError as error:
        paper.complain(error.what, error.help)
        return REFUSED
    except BrokenPipeError:
        raise
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        paper.complain(f"{name}{error.strerror or error}", "Check the path and its permissions.")
        return REFUSED
    return OK
