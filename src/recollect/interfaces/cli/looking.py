"""Looking: memories with their receipts, and what happened to them."""

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.domain.lines import framed_name
from recollect.domain.portion import MOST
from recollect.errors import checked
from recollect.interfaces.cli import paper
from recollect.interfaces.cli.call import Call, Commands, Json
from recollect.interfaces.cli.paper import Column, clean, continued, line, say, styled

if TYPE_CHECKING:
    from rich.text import Text

    from recollect.domain.event import Event
    from recollect.domain.journal import Entry
    from recollect.domain.portion import Portion
    from recollect.domain.version import Version
    from recollect.memory import Memory
    from recollect.read.shown import Shown

commands = Commands()

_LATEST = 20
"""Entries of the journal that are listed where nobody says how many."""


class StateName(StrEnum):
    ACTIVE = "active"
    ARCHIVED = "archived"
    EXPIRED = "expired"
    DELETED = "deleted"
    ALL = "all"


@commands.command("show")
def show(
    call: Call,
    id: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="A memory or an event, by its id or the end of it.", show_default=False),
    ] = None,
    state: Annotated[
        list[StateName] | None, typer.Option("--state", help="List those in this state; may be repeated. Else: active.")
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option("--kind", metavar="KIND", help="Only fact, episode, pattern, …; may be repeated."),
    ] = None,
    category: Annotated[
        list[str] | None, typer.Option("--category", metavar="NAME", help="Only of this category; may be repeated.")
    ] = None,
    of: Annotated[str | None, typer.Option("--of", metavar="USER", help="Only what is kept for this user.")] = None,
    project: Annotated[str | None, typer.Option("--project", metavar="NAME", help="Only of this project.")] = None,
    thread: Annotated[str | None, typer.Option("--thread", metavar="NAME", help="Only of this thread.")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="At most so many.")] = 20,
    before: Annotated[
        str | None, typer.Option("--before", metavar="ID", help="Those older than this memory: the next page.")
    ] = None,
    after: Annotated[
        int, typer.Option("--after", metavar="SEQ", help="Of a thread: the events after this number.")
    ] = 0,
    json: Json = False,
) -> None:
    """Show the newest memories, or one with its receipt.

    The receipt of a memory: its words, the witnesses of every sentence, and the evidence they point at."""
    from recollect.domain.query import Filters, Page

    with call.memory() as memory:
        if id is not None:
            _show_one(memory, id, after, json)
            return
        filters = Filters(
            user_id=of,
            project_id=project,
            thread_id=thread,
            kinds=frozenset(kind) if kind else None,
            categories=frozenset(category) if category else None,
            states=_states(state),
        )
        with checked():
            page = Page(limit, memory.find(before) if before else None)
        lines = memory.lines(filters, page)
        if json:
            from recollect.interfaces import documents

            paper.document({"memories": [documents.item_document(one.item, one.words) for one in lines]})
        else:
            _list(lines, limit, with_state=state is not None)


def _states(names: Sequence[StateName] | None) -> frozenset[str]:
    from recollect.domain.item import STATES

    if not names:
        return frozenset({"active"})
    if StateName.ALL in names:
        return frozenset(STATES.values())
    return frozenset("soft_deleted" if name is StateName.DELETED else name.value for name in names)


def _list(lines: "Sequence[Shown]", limit: int, *, with_state: bool) -> None:
    from recollect.domain.ids import short
    from recollect.interfaces import documents
    from recollect.interfaces.cli import describe

    if not lines:
        say("Nothing is remembered here yet." if not with_state else "There is nothing in that state.")
        return
    columns = [
        Column("id", style="cyan"),
        Column("words", fold=True),
        *([Column("state")] if with_state else []),
        Column("imp", right=True),
        Column("for"),
        Column("when", style="dim"),
    ]
    paper.table(
        columns,
        [
            [
                short(one.item.id),
                _words(one),
                *([documents.state(one.item)] if with_state else []),
                str(one.item.importance),
                describe.whose(one.item),
                describe.minute(one.item.created_at),
            ]
            for one in lines
        ],
    )
    if len(lines) == limit:
        say(styled((f"\nOlder ones: recollect show --before {short(lines[-1].item.id)}", "dim")))


def _doubt(trust: str) -> str:
    return "" if trust == "trusted" else f" · {trust}"


def _words(one: "Shown") -> "Text":
    if one.words:
        tags = "".join(f"  #{line(tag)}" for tag in one.item.tags)
        return styled(line(one.line), (tags, "green"), (_doubt(one.item.trust), "yellow"))
    named = f"thread {line(one.item.thread_id)}" if one.item.thread_id else one.item.kind
    return styled((named, "dim italic"))


# -- one memory ---------------------------------------------------------------------------------------------


def _show_one(memory: "Memory", name: str, after: int, json: bool) -> None:
    shown = memory.show(memory.find(name))
    is_thread = shown.item.kind == "episode" and shown.event is None
    evidence = memory.thread(shown.item.id, after=after) if is_thread else shown.evidence
    if json:
        from recollect.interfaces import documents

        paper.document(documents.shown_document(shown, evidence))
        return
    if shown.event is not None:
        _event(shown, shown.event)
        return
    _words_of(shown, evidence)
    _card(shown)
    if is_thread:
        tell_events(evidence)
    else:
        _evidence(shown, evidence)
    if evidence.next is not None:
        how = f"show {name}" if is_thread else f"evidence {name}"
        say(styled((f"\nMore: recollect {how} --after {evidence.next}", "dim")))


def _event(shown: "Shown", event: "Event") -> None:
    """An event among those around it, its thread, and what was made of it."""
    from recollect.domain.ids import short

    for one in shown.evidence:
        say()
        mark = "bold cyan" if one.id == event.id else "magenta"
        say(styled((f"{one.seq:>3} ", mark), *_told(one), (" · asked for" if one.id == event.id else "", "cyan")))
        paper.quote(one.text, indent=4)
    say()
    say(styled((f"event {event.seq} of thread {short(event.item_id)} · id {event.id}", "dim")))
    for one in shown.made:
        about = ((f" · {one.held}", "dim"), (_doubt(one.item.trust), "yellow"))
        say(styled("made of it: ", (short(one.item.id), "cyan"), f" {line(one.line)}", *about))


def _words_of(shown: "Shown", evidence: "Sequence[Event]") -> None:
    """The version that speaks for the memory, each sentence with the numbers of its evidence. Raw events speak for
    themselves, further down."""
    from recollect.domain.ids import short
    from recollect.domain.level import Level

    version = shown.current
    if version is None or version.level is Level.R5:
        return
    derived = f" · {version.derivation.value}" if version.derivation else ""
    doubt = (_doubt(shown.item.trust), "yellow")
    title = styled((short(shown.item.id), "bold cyan"), (f" {version.level.name}{derived}", "cyan"), doubt)
    paper.box(title, _sentences(version, evidence))


def _sentences(version: "Version", evidence: "Sequence[Event]") -> "Text":
    from recollect.interfaces.cli import describe

    if not version.bullets:
        from recollect.policy.distil import served

        return styled(clean(served(version.content, version.bullets)))
    parts: list[str | tuple[str, str]] = []
    section = ""
    for number, bullet in enumerate(version.bullets):
        if bullet.section != section:
            section = bullet.section
            parts += ["\n" if number else "", (line(section), "bold"), "" if number else "\n"]
        found = [describe.attested(witness, evidence) for witness in bullet.witnesses]
        marks = "".join(f" [{place}]" for place in dict.fromkeys(place for places in found for place in places))
        unseen = "" if all(found) else " [evidence out of sight]"
        parts += [
            "\n" if number else "",
            "- " if section else "",
            continued(bullet.served),
            (marks, "bold magenta"),
            (unseen, "yellow"),
        ]
    return styled(*parts)


def _card(shown: "Shown") -> None:
    from recollect.interfaces import documents
    from recollect.interfaces.cli import describe

    item = shown.item
    state = documents.state(item)
    marks = [item.kind, line(item.category), f"importance {item.importance}"]
    marks += [word for word, on in (("core", item.core), ("constitutional", item.constitutional)) if on]
    marks += [f"pinned at {item.pinned_min_level.name}"] if item.pinned_min_level else []
    marks += [] if item.trust.value == "trusted" else [item.trust.value]
    say(
        styled(
            " · ".join(marks),
            " · ",
            (state, "green" if state == "active" else "yellow"),
            *((f"  #{line(tag)}", "green") for tag in item.tags),
        )
    )
    about = [f"for {describe.whose(item)}", f"thread {line(item.thread_id)}" if item.thread_id else ""]
    about += [f"project {line(item.project_id)}" if item.project_id and item.visibility != "project-shared" else ""]
    about += [f"agent {line(item.agent_id)}" if item.agent_id and item.visibility != "agent-silo" else ""]
    about += [shown.held, f"kept {describe.when(item.created_at)} {describe.zone(item.created_at)}"]
    about += [f"revision {shown.rev}"]
    say(styled((" · ".join(part for part in about if part), "dim")))
    say(styled((f"id {item.id}", "dim")))


def _evidence(shown: "Shown", evidence: "Sequence[Event]") -> None:
    """The receipt: who said what, when, and where it stands."""
    from recollect.domain.ids import short
    from recollect.interfaces.cli import describe

    reasons: dict[int, dict[str, None]] = {}
    bullets = shown.current.bullets if shown.current else ()
    for witness in (witness for bullet in bullets for witness in bullet.witnesses):
        for place in describe.attested(witness, evidence):
            reasons.setdefault(place, {}).update({witness.reason: None} if witness.reason else {})
    for place, event in enumerate(evidence, 1):
        why = ", ".join(line(reason) for reason in reasons.get(place, {}))
        say()
        say(styled((f"[{place}] ", "bold magenta"), *_told(event), (f" · {why}" if why else "", "")))
        say(styled((f"event {event.seq} of thread {short(event.item_id)}", "dim")), indent=4)
        paper.quote(event.text, indent=4)


def tell_events(events: "Sequence[Event]") -> None:
    """A thread from its beginning, word for word."""
    for event in events:
        say()
        say(styled((f"{event.seq:>3} ", "bold magenta"), *_told(event)))
        paper.quote(event.text, indent=4)


def _told(event: "Event") -> list[str | tuple[str, str]]:
    from recollect.interfaces.cli import describe

    role = f" ({line(event.role)})" if event.role else ""
    at = f" · {describe.when(event.ts)} {describe.zone(event.ts)}"
    return [
        (line(framed_name(event.author)), "bold"),
        role,
        at,
        (_doubt(event.trust), "yellow"),
    ]


# -- what happened ------------------------------------------------------------------------------------------


@commands.command("history")
def history(
    call: Call,
    id: Annotated[
        str | None, typer.Argument(metavar="ID", help="A memory, by its id or the end of it.", show_default=False)
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", metavar="N", min=1, max=MOST, help="At most so many.", show_default=False),
    ] = None,
    before: Annotated[
        int | None,
        typer.Option("--before", metavar="SEQ", min=1, help="Of all: entries before this one, the next page."),
    ] = None,
    after: Annotated[
        int, typer.Option("--after", metavar="SEQ", min=0, help="Of one memory: entries after this one, the next page.")
    ] = 0,
    json: Json = False,
) -> None:
    """Show what happened, to one memory or to all.

    Of one memory every change is shown with what was there before and after. Of all, the latest entries of the
    journal are listed without what they say."""
    with call.memory() as memory:
        if id is None:
            _latest(memory.journal(limit=limit or _LATEST, before=before), json)
        else:
            item_id = memory.find(id)
            _story(item_id, memory.history(item_id, after=after, limit=limit or MOST), json)


def _latest(entries: "Portion[Entry, int]", json: bool) -> None:
    from recollect.interfaces import documents
    from recollect.interfaces.cli import describe

    if json:
        told = [documents.entry_document(entry, blind=True) for entry in entries]
        paper.document({"entries": told, "next": entries.next})
        return
    if not entries:
        say("Nothing has happened yet.")
        return
    columns = [
        Column("entry", right=True),
        Column("rev", right=True),
        Column("when", style="dim"),
        Column("who", fold=True),
        Column("did", style="bold"),
        Column("memory", style="cyan"),
        Column(""),
    ]
    paper.table(
        columns,
        [
            [
                str(entry.header.seq),
                str(entry.header.rev),
                describe.when(entry.header.at),
                describe.who(entry),
                entry.header.op,
                describe.memory_of(entry.header.item_id),
                f"undoes {entry.header.undoes}" if entry.header.undoes else "",
            ]
            for entry in entries
        ],
    )
    if entries.next is not None:
        say(styled((f"\nEarlier ones: recollect history --before {entries.next}", "dim")))


def _story(item_id: str, entries: "Portion[Entry, int]", json: bool) -> None:
    from recollect.domain.ids import short
    from recollect.interfaces import documents

    if json:
        told = [documents.entry_document(entry) for entry in entries]
        paper.document({"memory": item_id, "entries": told, "next": entries.next})
        return
    for number, entry in enumerate(entries):
        if number:
            say()
        _entry(entry)
    if entries.next is not None:
        say(styled((f"\nLater ones: recollect history {short(item_id)} --after {entries.next}", "dim")))


def _entry(entry: "Entry") -> None:
    from recollect.interfaces import documents
    from recollect.interfaces.cli import describe

    header = entry.header
    undoes = f", undoes entry {header.undoes}" if header.undoes else ""
    say(
        styled(
            (f"entry {header.seq}", "cyan"),
            "  ",
            (header.op, "bold"),
            undoes,
            (f"  revision {header.rev} · {describe.when(header.at)} · {describe.who(entry)}", "dim"),
        )
    )
    if header.cause:
        say(styled((f"caused by {line(header.cause)}", "dim")), indent=2)
    change = entry.change
    if change is None:
        say(styled(("what it said was erased", "yellow")), indent=2)
        return
    for field in documents.changed(change):
        say(
            styled(
                (f"{field.name}: ", ""),
                (describe.value(field.before), "red" if field.before is not None else "dim"),
                " → ",
                (describe.value(field.after), "green" if field.after is not None else "dim"),
            ),
            indent=2,
        )
