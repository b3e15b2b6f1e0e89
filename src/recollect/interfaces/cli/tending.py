"""Looking after a store: is it well, and who does what is due."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.interfaces.cli import paper
from recollect.interfaces.cli.call import Call, Commands, Json
from recollect.interfaces.cli.following import follow
from recollect.interfaces.cli.paper import Column, clean, line, say, styled

if TYPE_CHECKING:
    from recollect.care import rejudge as rejudging
    from recollect.care.checkup import Check
    from recollect.care.remake import Remade, Survey
    from recollect.domain.job import JobStatus

commands = Commands()

_MARKS = {"well": ("✓", "green"), "watch": ("!", "yellow"), "ill": ("✗", "bold red")}


@commands.command("doctor")
def doctor(call: Call, json: Json = False) -> None:
    """Check the store and all its tenants, and say what to do."""
    from recollect.care.checkup import Verdict
    from recollect.wiring import examine

    checks = list(examine(call.settings))
    ill = any(check.verdict is Verdict.ILL for check in checks)
    if json:
        paper.document(
            {
                "well": not ill,
                "checks": [
                    {"name": check.name, "verdict": check.verdict.value, "found": check.found, "help": check.help}
                    for check in checks
                ],
            }
        )
    else:
        _table(checks)
    if ill:
        raise typer.Exit(1)


def _table(checks: "Sequence[Check]") -> None:
    paper.table(
        [Column(""), Column("check", style="bold"), Column("found", fold=True)],
        [[styled(_MARKS[check.verdict.value]), check.name, clean(check.found)] for check in checks],
    )
    helps = [check for check in checks if check.help]
    if helps:
        say(styled(("\nWhat to do", "bold")))
    for check in helps:
        say(styled((check.name, "bold"), f": {clean(check.help)}"), indent=2)


@commands.command("jobs")
def jobs(
    call: Call,
    all: Annotated[bool, typer.Option("--all", help="Those that are done as well.")] = False,
    json: Json = False,
) -> None:
    """List the jobs that are still to be done, and those that failed."""
    from recollect.interfaces import documents
    from recollect.interfaces.cli import describe

    with call.memory() as memory:
        found = [(status, _stage(status)) for status in memory.jobs()]
        pending = memory.pending()
    shown = [(status, stage) for status, stage in found if all or stage != "done"]
    if json:
        told = [documents.job_document(status, stage) for status, stage in shown]
        paper.document({"jobs": told, "pending": documents.pending_document(pending)})
        return
    if not shown:
        say("Nothing is waiting.")
        return
    if pending.messages or pending.parked:
        parked = f", and {pending.parked:,} whose job failed" if pending.parked else ""
        say(f"{documents.count(pending.messages, 'message')} still to be read{parked}.")
    paper.table(
        [
            Column("job", style="bold"),
            Column("key", fold=True),
            Column("stage"),
            Column("done", right=True),
            Column("due", style="dim"),
            Column("tries", right=True),
            Column("last error", fold=True, style="red"),
        ],
        [
            [
                status.job.kind,
                line(status.job.key),
                stage,
                f"{status.progress[0]:,} of {status.progress[1]:,}" if status.progress else "",
                describe.minute(status.job.not_before),
                str(status.attempts),
                line(status.last_error or ""),
            ]
            for status, stage in shown
        ],
    )


def _stage(status: "JobStatus") -> str:
    if status.failed_at:
        return "parked"
    if status.done_at:
        return "done"
    if status.leased:
        return "running"
    return "due" if status.job.not_before <= datetime.now(UTC) else "waiting"


@commands.command("remake")
def remake(
    call: Call,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what there is to do.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="End when it is done, also where the server does it.")] = False,
    json: Json = False,
) -> None:
    """Bring an old store up to date: read its messages again.

    Rules used to reword what was said, and often wrongly. What they made goes out of sight, in favour of the words that
    were said; one rollback takes all of it back. What people stated, changed, pinned or hid is left alone. For
    admins."""
    from recollect.interfaces import documents

    with call.memory() as memory:
        found, cause = memory.remake(dry_run=dry_run)
    told = documents.survey_document(found)
    if cause is None:
        if json:
            paper.document({"dry_run": True, **told})
        else:
            _to_remake(found)
        return
    made, left_to_server = follow(call, lambda memory: memory.remade(cause), "messages read again", wait=wait)
    if json:
        paper.document({"dry_run": False, **told, **documents.remade_document(made)})
    else:
        _remade(found, made, left_to_server=left_to_server)
    if made.failed or (wait and not made.settled):
        raise typer.Exit(1)


def _to_remake(found: "Survey") -> None:
    from recollect.interfaces.documents import count

    say(f"{count(found.messages, 'message')} of {count(found.threads, 'thread')} would be looked at.")
    say(
        f"Earlier rules made {count(found.memories, 'memory')} and the summaries of {count(found.summaries, 'thread')}."
    )
    say(styled(("What people had a hand in is left alone.", "dim")), indent=2)
    _facts_stay(found)


def _facts_stay(found: "Survey") -> None:
    if not found.by_rules:
        why = "A language model makes the facts here, and its own cannot be told from those of rules: facts stay."
        say(styled((f"{why} Private messages are marked, and summaries by rules made anew.", "yellow")))


def _remade(found: "Survey", made: "Remade", *, left_to_server: bool) -> None:
    from recollect.interfaces.documents import count

    undo = f"Undo this: recollect rollback --session {made.cause}"
    if not made.settled:
        say(f"{made.done:,} of {count(made.total, 'message')} are read again.")
        goes_on = "The server goes on with it." if left_to_server else "Go on with: recollect remake"
        say(styled((f"{goes_on} {undo}", "dim")), indent=2)
        return
    if made.failed:
        paper.complain(f"it could not go on: {made.failed}", "Run recollect remake again: it goes on as the same run.")
        say(styled((undo, "dim")), indent=2)
        return
    parts = [
        f"{count(made.created, 'memory')} made",
        f"{made.renewed:,} found right",
        f"{made.hidden:,} out of sight",
        f"the summaries of {count(made.summaries, 'thread')} made anew",
    ]
    if made.created or made.renewed or made.hidden or made.summaries:
        paper.done(", ".join(parts), undo)
    else:
        paper.done("nothing was to be made anew")
    _facts_stay(found)


@commands.command("rejudge")
def rejudge(
    call: Call,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show how many there are.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="End when it is done, also where the server does it.")] = False,
    json: Json = False,
) -> None:
    """Judge the contradictions on record anew.

    What an earlier judge put there and the one of now does not find is closed, or ends the time of the earlier
    statement where the later one replaces it; one rollback takes all of it back. What people or agents reported or
    resolved is left alone. For admins."""
    from recollect.interfaces import documents

    with call.memory() as memory:
        found, cause = memory.rejudge(dry_run=dry_run)
    told = documents.contradictions_document(found)
    if cause is None:
        if json:
            paper.document({"dry_run": True, **told})
        else:
            say(f"{documents.count(found.contradictions, 'contradiction')} would be judged anew.")
        return
    made, left_to_server = follow(call, lambda memory: memory.rejudged(cause), "contradictions judged anew", wait=wait)
    if json:
        paper.document({"dry_run": False, **told, **documents.rejudged_document(made)})
    else:
        _rejudged(made, left_to_server=left_to_server)
    if made.failed or (wait and not made.settled):
        raise typer.Exit(1)


def _rejudged(made: "rejudging.Rejudged", *, left_to_server: bool) -> None:
    from recollect.interfaces.documents import count

    undo = f"Undo this: recollect rollback --session {made.cause}"
    if made.failed:
        paper.complain(f"it could not go on: {made.failed}", "Run recollect rejudge again: it goes on as the same run.")
        say(styled((undo, "dim")), indent=2)
    elif not made.settled:
        say(f"{made.done:,} of {count(made.total, 'contradiction')} are judged anew.")
        goes_on = "The server goes on with it." if left_to_server else "Go on with: recollect rejudge"
        say(styled((f"{goes_on} {undo}", "dim")), indent=2)
    elif made.closed or made.ended:
        paper.done(f"{count(made.closed, 'contradiction')} closed, {made.ended:,} turned out to be updates", undo)
    else:
        paper.done("all of them stand")


@commands.command("worker")
def worker(
    call: Call,
    once: Annotated[bool, typer.Option("--once", help="Do what is due now, then end.")] = False,
) -> None:
    """Do the jobs of all tenants, until stopped with Ctrl-C."""
    from recollect.interfaces.documents import count
    from recollect.wiring import worker as make

    made = make(call.settings)
    try:
        if once:
            paper.done(f"did {count(made.run_until_idle(), 'step')}")
            return
        from recollect.jobs.process import work

        say(f"Working as {made.name}. Stop with Ctrl-C.")
        work([made])
        paper.done("stopped")
    finally:
        made.deps.store.close()
