"""The time machine: look at what a rollback would do, then do it."""

from typing import TYPE_CHECKING, Annotated

import typer

from recollect.errors import Forbidden, checked
from recollect.interfaces.cli import paper
from recollect.interfaces.cli.call import Call, Commands, Json, Yes
from recollect.interfaces.cli.paper import Column, say, styled

if TYPE_CHECKING:
    from recollect.care.restore import Target
    from recollect.domain.ids import CauseId, Rev
    from recollect.memory import Memory
    from recollect.policy.rollback import Plan

commands = Commands()

_TARGETS = "name one of: --entry N, --memory ID --to REV, --session CAUSE, --to REV"


@commands.command("rollback")
def rollback(
    call: Call,
    entry: Annotated[
        int | None, typer.Option("--entry", metavar="N", help="Take back one entry of the journal.")
    ] = None,
    memory: Annotated[
        str | None, typer.Option("--memory", metavar="ID", help="Bring one memory back to a revision (with --to).")
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="CAUSE", help="Take back everything that had this cause.")
    ] = None,
    to: Annotated[
        int | None, typer.Option("--to", metavar="REV", min=0, help="The revision to go back to, of the whole tenant.")
    ] = None,
    user_scope: Annotated[
        str | None, typer.Option("--user-scope", metavar="USER", help="With --to: only what is kept for this user.")
    ] = None,
    project: Annotated[
        str | None, typer.Option("--project", metavar="NAME", help="With --to: only of this project.")
    ] = None,
    thread: Annotated[
        str | None, typer.Option("--thread", metavar="NAME", help="With --to: only of this thread.")
    ] = None,
    cascade: Annotated[bool, typer.Option("--cascade", help="Take back what was built on it as well.")] = False,
    preview: Annotated[bool, typer.Option("--preview", help="Only show what would be done.")] = False,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Take back an entry, a memory, a session, or more.

    Shows what would be undone, and asks. It appends the inverse and removes nothing, so it can itself be taken back."""
    named = (entry is not None, memory is not None, session is not None, to is not None)
    if named not in ((1, 0, 0, 0), (0, 1, 0, 1), (0, 0, 1, 0), (0, 0, 0, 1)):
        raise typer.BadParameter(_TARGETS)
    narrowed = {"user_id": user_scope, "project_id": project, "thread_id": thread}
    if any(narrowed.values()) and named != (0, 0, 0, 1):
        raise typer.BadParameter("--user-scope, --project and --thread narrow down --to REV alone")
    if json and not (yes or preview):
        raise typer.BadParameter("--json asks no questions: add --yes or --preview")
    with call.memory() as opened:
        target = _target(opened, entry, memory, session, to, narrowed)
        plan = opened.preview_rollback(target, cascade=cascade)
        if preview:
            _report(plan, None, json)
            return
        possible = bool(plan.undo or plan.unread) and not plan.blocked_by
        if not json:
            _preview(plan)
        if possible and not yes and not paper.ask("Roll this back?"):
            paper.complain("nothing was changed")
            raise typer.Exit(1)
        rev, done = opened.rollback(target, cascade=cascade)  # where it is not possible, this says why
        _report(done, rev, json, _cause(opened, rev))


def _target(
    memory: "Memory",
    entry: int | None,
    item: str | None,
    session: str | None,
    to: int | None,
    narrowed: dict[str, str | None],
) -> "Target":
    from recollect.care.restore import OneEntry, OneMemory, Session, ToRevision
    from recollect.domain.ids import CauseId, Rev, Seq
    from recollect.domain.scope import Scope

    with checked():
        if entry is not None:
            return OneEntry(Seq(entry))
        if session is not None:
            return Session(CauseId(session))
        assert to is not None
        if item is not None:
            return OneMemory(memory.find(item), Rev(to))
        return ToRevision(Scope(tenant=memory.principal.tenant, **narrowed), Rev(to))


def _cause(memory: "Memory", rev: "Rev") -> "CauseId | None":
    """The name that the journal gave to the rollback, for those who may look there."""
    try:
        latest = memory.journal(limit=1)
    except Forbidden:
        return None
    return latest[0].header.cause if latest[0].header.rev == rev else None


def _report(plan: "Plan", rev: "Rev | None", json: bool, cause: "CauseId | None" = None) -> None:
    from recollect.interfaces import documents

    if json:
        paper.document({"rev": rev, "cause": cause, **documents.plan_document(plan)})
    elif rev is None:
        _preview(plan)
    else:
        undone = documents.count(len(plan.undo) + len(plan.unread), "entry")
        then = f"Undo this: recollect rollback --session {cause}" if cause else ""
        paper.done(f"rolled back {undone}; the tenant is at revision {rev}", then)


def _preview(plan: "Plan") -> None:
    from recollect.domain.refs import item_of
    from recollect.interfaces.cli import describe

    told = {undo.entry: (item_of(undo.change), describe.undoing(undo.change)) for undo in plan.undo}
    told |= {one.entry: (one.item_id, f"{one.does}: private words of others") for one in plan.unread}
    if told:
        say(styled(("This would be undone, newest first:", "bold")))
        paper.table(
            [Column("entry", right=True), Column("memory", style="cyan"), Column("how", fold=True)],
            [[str(entry), describe.memory_of(item), how] for entry, (item, how) in sorted(told.items(), reverse=True)],
        )
    else:
        say(styled(("Nothing would be undone.", "bold")))
    if plan.stays:
        say(styled(("\nThis would stay:", "bold")))
        paper.table(
            [Column("entry", right=True), Column("why", fold=True, style="yellow")],
            [[str(stay.seq), stay.why] for stay in plan.stays],
        )
    if plan.blocked_by:
        say(
            styled(
                ("\nIn the way: ", "bold"), ("later entries that built on it: ", ""), describe.numbers(plan.blocked_by)
            )
        )
        say(styled(("With --cascade they are rolled back too.", "dim")))
