"""Out of sight, back again, and gone for good."""

from typing import TYPE_CHECKING, Annotated

import typer

from recollect.interfaces.cli import paper
from recollect.interfaces.cli.call import Call, Commands, Json, Yes
from recollect.interfaces.cli.paper import say, styled

if TYPE_CHECKING:
    from recollect.care.erase import Wipe
    from recollect.domain.ids import ItemId, Rev

commands = Commands()

Id = Annotated[str, typer.Argument(metavar="ID", help="A memory, by its id or the end of it.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; kept with the change.")]


@commands.command("archive")
def archive(call: Call, id: Id, reason: Reason = "", json: Json = False) -> None:
    """Take a memory out of default retrieval.

    It can still be searched for, and brought back with undelete."""
    with call.memory() as memory:
        item_id = memory.find(id)
        _moved("archived", item_id, memory.archive(item_id, reason), json)


@commands.command("delete")
def delete(call: Call, id: Id, reason: Reason = "", json: Json = False) -> None:
    """Hide a memory; it is kept.

    It can be brought back with undelete. To remove it for good, use erase."""
    with call.memory() as memory:
        item_id = memory.find(id)
        _moved("deleted", item_id, memory.delete(item_id, reason), json)


@commands.command("undelete")
def undelete(call: Call, id: Id, json: Json = False) -> None:
    """Bring back what was archived, expired or deleted."""
    with call.memory() as memory:
        item_id = memory.find(id)
        _moved("active", item_id, memory.restore(item_id), json)


def _moved(state: str, item_id: "ItemId", rev: "Rev", json: bool) -> None:
    from recollect.domain.ids import short

    if json:
        paper.document({"id": item_id, "state": state, "rev": rev})
        return
    paper.done(
        styled((short(item_id), "bold cyan"), f" is {state} at revision {rev}"),
        "" if state == "active" else f"Bring it back: recollect undelete {short(item_id)}",
    )


@commands.command("erase")
def erase(
    call: Call,
    id: Annotated[
        str | None, typer.Argument(metavar="ID", help="A memory, by its id or the end of it.", show_default=False)
    ] = None,
    all_of: Annotated[
        str | None, typer.Option("--all-of", metavar="USER", help="Everything that is kept for this user instead.")
    ] = None,
    keep_evidence: Annotated[
        bool, typer.Option("--keep-evidence", help="Leave the events that the memory cites.")
    ] = False,
    reason: Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why; kept in the journal.")] = None,
    preview: Annotated[bool, typer.Option("--preview", help="Only show what would go.")] = False,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Remove a memory's content for good.

    Everything that cites it goes too, and no rollback brings it back. Shows what would go, and asks."""
    if (id is None) == (all_of is None):
        raise typer.BadParameter("name either a memory or --all-of USER")
    if all_of is not None and keep_evidence:
        raise typer.BadParameter("--keep-evidence goes with one memory, not with --all-of")
    if json and not (yes or preview):
        raise typer.BadParameter("--json asks no questions: add --yes or --preview")
    why = {"reason": reason} if reason is not None else {}
    with call.memory() as memory:
        item_id = memory.find(id) if id is not None else None
        if item_id is not None:
            wipe = memory.preview_erase(item_id, evidence=not keep_evidence)
        else:
            wipe = memory.preview_erase_user(all_of or "")
        if not json:
            say(styled(("This would be gone for good: ", "bold"), (_counted(wipe), "bold red")))
        if preview:
            _report(wipe, json, erased=False)
            return
        if not yes and not paper.ask("Erase it?"):
            paper.complain("nothing was erased")
            raise typer.Exit(1)
        if item_id is not None:
            gone = memory.erase(item_id, evidence=not keep_evidence, **why)
        else:
            gone = memory.erase_user(all_of or "", **why)
    _report(gone, json, erased=True)


def _counted(wipe: "Wipe") -> str:
    from recollect.interfaces.documents import count

    numbers = {
        "memory": len(wipe.items),
        "version": len(wipe.versions),
        "event": len(wipe.events),
        "checkpoint": len(wipe.checkpoints),
        "proposal": len(wipe.proposals),
    }
    return ", ".join(count(number, noun) for noun, number in numbers.items() if number)


def _report(wipe: "Wipe", json: bool, *, erased: bool) -> None:
    if json:
        paper.document(
            {
                "erased": erased,
                "memories": sorted(wipe.items),
                "versions": sorted(wipe.versions),
                "events": sorted(wipe.events),
                "checkpoints": sorted(wipe.checkpoints),
                "proposals": sorted(wipe.proposals),
            }
        )
    elif erased:
        paper.done(f"erased {_counted(wipe)}", "A backup made before still holds it; restoring one erases it again.")
