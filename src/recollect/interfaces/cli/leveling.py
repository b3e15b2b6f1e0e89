"""Levels: how a memory was shortened, what its versions say, and the way back to the evidence."""

from collections.abc import Sequence
from difflib import unified_diff
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.domain.portion import MOST, every
from recollect.domain.turn import Task
from recollect.interfaces.cli import paper
from recollect.interfaces.cli.call import Call, Commands, Json
from recollect.interfaces.cli.paper import Column, clean, say, styled
from recollect.policy.distil import served

if TYPE_CHECKING:
    from recollect.domain.ids import ItemId
    from recollect.domain.item import Item
    from recollect.domain.version import Version
    from recollect.memory import Memory
    from recollect.read.leveled import Leveled
    from recollect.read.shown import VersionInfo

commands = Commands()

Id = Annotated[str, typer.Argument(metavar="ID", help="A memory, by its id or the end of it.")]

_NAMES = {
    5: "raw events",
    4: "clean log",
    3: "summary",
    2: "hint",
    1: "index word",
}


@commands.command("levels")
def levels(
    call: Call,
    id: Id,
    versions: Annotated[
        list[str] | None,
        typer.Argument(metavar="VERSION", help="Show the words of this version, or with --diff compare two."),
    ] = None,
    diff: Annotated[
        bool,
        typer.Option("--diff", help="What differs: between two versions, or a version and the one it was made from."),
    ] = False,
    json: Json = False,
) -> None:
    """Show a memory's family: every level, and how it came about.

    With a version its words; with --diff what two versions differ in. Both are journalled readings, for moderators and
    admins."""
    named = versions or []
    if len(named) > 2 or (len(named) == 2 and not diff):
        raise typer.BadParameter("name one version to read it, or two after --diff to compare them")
    with call.memory() as memory:
        item_id = memory.find(id)
        family = list(every(lambda before: memory.versions(item_id, before=before)))
        if diff:
            before, after = _pair(memory, item_id, family, named)
            _differences(before, after, memory.item(item_id), json)
        elif named:
            _words(_read(memory, item_id, named[0]), memory.item(item_id), json)
        else:
            _family(memory.item(item_id), family, json)


def _read(memory: "Memory", item_id: "ItemId", name: str) -> "Version":
    from recollect.interfaces.levels import version_named

    return memory.version(item_id, version_named(memory, item_id, name))


def _pair(
    memory: "Memory", item_id: "ItemId", family: "Sequence[VersionInfo]", named: Sequence[str]
) -> "tuple[Version, Version]":
    """The two versions to compare, the one that the other was made of first. Unnamed: the one that speaks now."""
    from recollect.errors import Invalid
    from recollect.interfaces.levels import version_named

    if len(named) == 2:
        return _read(memory, item_id, named[0]), _read(memory, item_id, named[1])
    wanted = version_named(memory, item_id, named[0]) if named else None
    after = next((one for one in family if (one.id == wanted if wanted else one.active)), None)
    if after is None or after.derived_from is None:
        raise Invalid("there is nothing to compare it with", "Name two versions: recollect levels ID --diff A B")
    return memory.version(item_id, after.derived_from), memory.version(item_id, after.id)


def _family(item: "Item", family: "Sequence[VersionInfo]", json: bool) -> None:
    from recollect.domain.ids import short
    from recollect.interfaces import levels as documents
    from recollect.interfaces.cli import describe

    if json:
        standing = documents.standing_document(item)
        paper.document({**standing, "versions": [documents.version_info_document(one) for one in family]})
        return
    if not family:
        say("There are no versions yet: the thread is open. Close it with: recollect close " + short(item.id))
        return
    paper.table(
        [
            Column("level", style="bold"),
            Column("version", style="cyan"),
            Column("tokens", right=True),
            Column("how it came about", fold=True),
            Column("made", style="dim"),
            Column(""),
        ],
        [
            [
                f"{one.level.name} {_NAMES[one.level]}",
                short(one.id),
                f"{one.tokens:,}",
                f"{one.derivation.value} of {short(one.derived_from)}"
                if one.derivation and one.derived_from
                else "said so",
                describe.minute(one.created_at),
                styled(("● active", "green")) if one.active else "",
            ]
            for one in sorted(family, key=lambda one: (-one.level, one.created_at))
        ],
    )
    say(styled((_standing(item), "dim")))


def _standing(item: "Item") -> str:
    from recollect.interfaces.cli import describe

    parts = [f"served by default as {item.default_level.name}"]
    parts += [f"pinned: never below {item.pinned_min_level.name}"] if item.pinned_min_level else []
    parts += [f"locked until {describe.minute(item.lock.until)} ({item.lock.reason.value})"] if item.lock else []
    return " · ".join(parts)


def _words(version: "Version", item: "Item", json: bool) -> None:
    from recollect.domain.ids import short
    from recollect.interfaces.levels import version_document

    if json:
        paper.document(version_document(version, item))
        return
    paper.box(
        styled((short(version.id), "bold cyan"), (f" {version.level.name}", "cyan"), _doubt(item.trust)),
        styled(clean(served(version.content, version.bullets))),
    )


def _doubt(trust: str) -> tuple[str, str]:
    return ("" if trust == "trusted" else f" · {trust}", "yellow")


_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def _differences(before: "Version", after: "Version", item: "Item", json: bool) -> None:
    from recollect.domain.ids import short

    mark, _ = _doubt(item.trust)
    lines = list(
        unified_diff(
            served(before.content, before.bullets).splitlines(),
            served(after.content, after.bullets).splitlines(),
            f"{before.level.name} {short(before.id)}{mark}",
            f"{after.level.name} {short(after.id)}{mark}",
            lineterm="",
        )
    )
    if json:
        paper.document({"before": before.id, "after": after.id, "trust": item.trust.value, "diff": lines})
        return
    if not lines:
        say("They say the same.")
    for line in lines:
        say(styled((clean(line), _COLOURS.get(line[:1], ""))))


# -- towards the evidence ------------------------------------------------------------------------------------


@commands.command("evidence")
def evidence(
    call: Call,
    id: Id,
    witness: Annotated[
        str | None,
        typer.Argument(metavar="[WITNESS]", help="Only e:EVENT, s:FROM-TO or c:CHUNK, joined by commas."),
    ] = None,
    after: Annotated[
        str | None, typer.Option("--after", metavar="PLACE", help="Go on behind this place: the next page.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="At most so many.")] = MOST,
    json: Json = False,
) -> None:
    """Show what a memory rests on, word for word.

    Of a thread its events; of any other memory those that it cites."""
    with call.memory() as memory:
        item_id = memory.find(id)
        events = memory.evidence(item_id, witness, after=after, limit=limit)
    if json:
        from recollect.interfaces.documents import events_document

        paper.document({"id": item_id, **events_document(events)})
        return
    if not events:
        say(f"None of its events is {clean(witness)}." if witness else "There is no evidence for it that you may read.")
        return
    from recollect.domain.ids import short
    from recollect.interfaces.cli.looking import tell_events

    tell_events(events)
    if events.next:
        which = f" {witness}" if witness else ""
        say(styled((f"\nMore: recollect evidence {short(item_id)}{which} --after {events.next}", "dim")))


@commands.command("more")
def more(
    call: Call,
    id: Id,
    turn: Annotated[
        str | None, typer.Option("--turn", metavar="NAME", help="Go on in this turn: each time one step further.")
    ] = None,
    task: Annotated[Task, typer.Option("--task", help="What it is for.")] = Task.ROUTINE,
    json: Json = False,
) -> None:
    """Get more of one memory, a step at a time.

    Each is a step from its summary towards the evidence: within a turn every further call, until there is nothing
    more."""
    from secrets import token_hex

    from recollect.interfaces.levels import leveled_document

    with call.memory() as memory:
        leveled = memory.serve(memory.find(id), more=True, turn_id=turn or f"more-{token_hex(4)}", task=task)
    if json:
        paper.document(leveled_document(leveled))
        return
    _served(leveled)


def _served(leveled: "Leveled") -> None:
    from recollect.domain.ids import short

    name = short(leveled.item.id)
    title = styled((name, "bold cyan"), (f" {leveled.used_level.name}", "cyan"), (f" · {leveled.tokens:,} tokens", ""))
    title += styled(_doubt(leveled.trust))
    paper.box(title, styled(clean(leveled.content)))
    then = f"More: recollect more {name} --turn {leveled.turn_id}" if leveled.more else "That is all there is."
    say(styled((then, "dim")))
