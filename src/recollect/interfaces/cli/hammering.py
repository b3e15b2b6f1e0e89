"""Looking after levels: compress, promote, pin, close, and how far a project has come."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.domain.item import LockReason
from recollect.interfaces.cli import paper
from recollect.interfaces.cli.call import Call, Commands, Json
from recollect.interfaces.cli.paper import Column, line, say, styled

if TYPE_CHECKING:
    from recollect.care.compress import Hammered, Stroke
    from recollect.domain.ids import ItemId, Rev
    from recollect.memory import Memory

commands = Commands()

Id = Annotated[str, typer.Argument(metavar="ID", help="A memory, by its id or the end of it.")]


@commands.command("compress")
def compress(
    call: Call,
    id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="A memory, by its id or the end of it.", show_default=False)
    ] = None,
    topic: Annotated[str | None, typer.Option("--topic", metavar="KEY", help="All memories of this topic.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")] = False,
    json: Json = False,
) -> None:
    """Make memories shorter now: one, a topic, or all that is due.

    Longer versions stay. What is locked is skipped, what is pinned keeps its summary, and a rollback takes it back.
    For moderators and admins."""
    if id is not None and topic is not None:
        raise typer.BadParameter("name a memory or --topic KEY, not both")
    with call.memory() as memory:
        done = memory.compress(item_id=None if id is None else memory.find(id), topic=topic, dry_run=dry_run)
    _report(done, json)


@commands.command("close")
def close(call: Call, id: Id, json: Json = False) -> None:
    """Close a thread: make its summary and its shorter versions now.

    It happens by itself once a thread has been silent for a while. More messages open it again."""
    with call.memory() as memory:
        done = memory.close_episode(memory.find(id))
    _report(done, json)


def _report(done: "Hammered", json: bool) -> None:
    from recollect.interfaces.documents import count
    from recollect.interfaces.levels import hammered_document

    if json:
        paper.document(hammered_document(done))
        return
    if not (done.strokes or done.merged or done.split):
        say("Nothing is due.")
        return
    _strokes(done.strokes)
    made = sum(len(stroke.made) for stroke in done.strokes)
    would = "would make" if done.dry_run else "made"
    extra = [f"merged {len(done.merged)}"] if done.merged else []
    extra += [f"split {len(done.split)}"] if done.split else []
    told = ", ".join([f"{would} {count(made, 'version')}", *extra])
    paper.done(told, f"Undo this: recollect rollback --session {done.cause}" if done.cause else "")


def _strokes(strokes: "Sequence[Stroke]") -> None:
    from recollect.domain.ids import short

    paper.table(
        [
            Column("memory", style="cyan"),
            Column("why"),
            Column("made", style="bold"),
            Column("tokens", right=True),
            Column("served as"),
            Column("skipped", fold=True, style="yellow"),
        ],
        [
            [
                short(one.item_id),
                line(one.why),
                ", ".join(version.level.name for version in one.made),
                f"{one.tokens_before:,} → {one.tokens_after:,}" if one.made else "",
                one.default_level.name,
                line(one.skipped),
            ]
            for one in strokes
        ],
    )


@commands.command("promote")
def promote(
    call: Call,
    id: Id,
    version: Annotated[str, typer.Argument(metavar="VERSION", help="A version, by its id or the end of it.")],
    minutes: Annotated[
        int | None,
        typer.Option("--minutes", metavar="30-120", help="How long nothing compresses it; extended when it is read."),
    ] = None,
    reason: Annotated[LockReason, typer.Option("--reason", help="Why.")] = LockReason.MANUAL_PROMOTE,
    json: Json = False,
) -> None:
    """Have a version stand for its memory, and lock it.

    Any version will do, an older or a fuller one. For moderators and admins."""
    from recollect.interfaces.levels import version_named

    with call.memory() as memory:
        item_id = memory.find(id)
        rev = memory.promote(item_id, version_named(memory, item_id, version), reason=reason, minutes=minutes)
        _stands(memory, item_id, rev, json)


@commands.command("pin")
def pin(call: Call, id: Id, json: Json = False) -> None:
    """Pin a memory: keep its summary in sight.

    It is never served shorter than that, and no rule hides it."""
    with call.memory() as memory:
        item_id = memory.find(id)
        _stands(memory, item_id, memory.pin(item_id), json)


@commands.command("unpin")
def unpin(call: Call, id: Id, json: Json = False) -> None:
    """Take a pin away."""
    with call.memory() as memory:
        item_id = memory.find(id)
        _stands(memory, item_id, memory.unpin(item_id), json)


def _stands(memory: "Memory", item_id: "ItemId", rev: "Rev", json: bool) -> None:
    """How the memory stands after the change."""
    from recollect.domain.ids import short
    from recollect.interfaces.cli import describe
    from recollect.interfaces.levels import standing_document

    item = memory.item(item_id)
    if json:
        paper.document({**standing_document(item), "rev": rev})
        return
    parts = [f"pinned at {item.pinned_min_level.name}" if item.pinned_min_level else "not pinned"]
    if item.active_version_id:
        parts.append(f"its version {short(item.active_version_id)} speaks for it")
    if item.lock:
        parts.append(f"locked until {describe.minute(item.lock.until)} ({item.lock.reason.value})")
    paper.done(styled((short(item_id), "bold cyan"), f" is {', '.join(parts)}, at revision {rev}"))


@commands.command("epoch")
def epoch(
    call: Call,
    project: Annotated[
        str | None,
        typer.Argument(metavar="[PROJECT]", help="The project; else the repository here.", show_default=False),
    ] = None,
    advance: Annotated[bool, typer.Option("--advance", help="The project has moved on.")] = False,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="With --advance: why.")] = "",
    json: Json = False,
) -> None:
    """Show how far a project has come, or say that it has moved on.

    Once it has, those of its memories that nobody asked for in 30 days are archived. To advance it is for moderators
    and admins."""
    if reason and not advance:
        raise typer.BadParameter("--reason goes with --advance")
    from recollect.interfaces.cli import describe
    from recollect.interfaces.hook import project_of
    from recollect.interfaces.levels import epoch_document

    name = project if project is not None else project_of(os.getcwd())
    with call.memory() as memory:
        found = memory.advance_epoch(name, reason) if advance else memory.epoch(name)
    if json:
        paper.document(epoch_document(name, found))
        return
    if found is None:
        say(f"{line(name)} is at epoch 0: it has never moved on.")
        return
    why = f": {line(found.reason)}" if found.reason else ""
    told = f"{line(name)} is at epoch {found.number} since {describe.minute(found.advanced_at)}{why}"
    if advance:
        paper.done(told)
    else:
        say(told)
