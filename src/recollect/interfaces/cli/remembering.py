"""Making a store, and keeping what is to be remembered."""

import sys
from typing import Annotated

import typer

from recollect.domain.item import Visibility
from recollect.errors import Invalid
from recollect.interfaces.cli import paper
from recollect.interfaces.cli.call import Call, Commands, Json
from recollect.interfaces.cli.following import served

commands = Commands()


@commands.command("init")
def init(call: Call, json: Json = False) -> None:
    """Make the store and the tenant.

    Where they are there already, nothing changes."""
    from recollect.wiring import connect, place

    settings = call.settings
    with connect(settings, create=True) as memory:
        head = memory.head()
    if json:
        paper.document({"store": place(settings), "tenant": settings.tenant, "rev": head.rev})
        return
    paper.done(
        f"ready: {place(settings)}, tenant {settings.tenant}, revision {head.rev}",
        "" if head.rev else 'Now: recollect remember "what is worth remembering"',
    )


@commands.command("remember")
def remember(
    call: Call,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to remember; - reads it from standard input.")],
    category: Annotated[str, typer.Option("--category", metavar="NAME", help="What it is about.")] = "knowledge",
    importance: Annotated[int, typer.Option("--importance", metavar="1-5", help="How much it matters.")] = 3,
    tag: Annotated[list[str] | None, typer.Option("--tag", metavar="NAME", help="A tag; may be repeated.")] = None,
    project: Annotated[
        str | None, typer.Option("--project", metavar="NAME", help="Share it with this project.")
    ] = None,
    thread: Annotated[
        str | None, typer.Option("--thread", metavar="NAME", help="The thread it is said in; notes by default.")
    ] = None,
    of: Annotated[
        str | None, typer.Option("--of", metavar="USER", help="Keep it for this user; for yourself by default.")
    ] = None,
    visibility: Annotated[Visibility | None, typer.Option("--visibility", help="Who may see it.")] = None,
    topic: Annotated[
        str | None, typer.Option("--topic", metavar="KEY", help="What it is about, in a name that others share.")
    ] = None,
    supersedes: Annotated[
        str | None, typer.Option("--supersedes", metavar="ID", help="The memory that this takes the place of.")
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="KEY", help="An idempotency key: a repeat changes nothing.")
    ] = None,
    json: Json = False,
) -> None:
    """Remember a statement.

    Its words are kept as an event of a thread, and a memory is made that cites them."""
    from recollect.domain.ids import short
    from recollect.memory import DEFAULT_THREAD

    words = _standard_input() if text == "-" else text
    with call.memory() as memory:
        kept = memory.remember(
            words,
            category=category,
            importance=importance,
            tags=tag or (),
            project_id=project,
            thread_id=thread if thread is not None else DEFAULT_THREAD,
            user_id=of,
            visibility=visibility,
            topic_key=topic,
            supersedes=memory.find(supersedes) if supersedes is not None else None,
            wait=not served(call),  # what it changes: nobody else may come by for long
            key=key,
        )
    if json:
        paper.document(
            {
                "id": kept.item_id,
                "short": short(kept.item_id),
                "event": kept.event_id,
                "rev": kept.rev,
                "outcome": kept.outcome,
                "redacted": list(kept.redacted),
            },
        )
        return
    paper.done(
        paper.styled(_OUTCOMES[kept.outcome], (short(kept.item_id), "bold cyan"), f" at revision {kept.rev}"),
        f"Its receipt: recollect show {short(kept.item_id)}",
    )
    if kept.redacted:
        paper.say(paper.styled((f"  Taken out before anything was written: {', '.join(kept.redacted)}", "yellow")))


_OUTCOMES = {
    "created": "remembered ",
    "corroborated": "known already, and now with one more witness: ",
    "updated": "remembered, and brought up to date: ",
}


def _standard_input() -> str:
    try:
        text = sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise Invalid(
            f"standard input is not UTF-8: {error.reason} at byte {error.start}", "Convert it first."
        ) from None
    return text.removesuffix("\n")
