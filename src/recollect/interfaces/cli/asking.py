"""Asking: what memory knows, and why it thinks so."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, cast

import typer

from recollect.errors import checked
from recollect.interfaces.cli import paper
from recollect.interfaces.cli.call import Call, Commands, Json
from recollect.interfaces.cli.paper import clean, line, say, styled
from recollect.policy.rendering import category_lead, frame

if TYPE_CHECKING:
    from recollect.domain.event import Event
    from recollect.domain.query import Answer, Result
    from recollect.memory import Memory

commands = Commands()

_QUOTED = 2  # events shown under a memory; `show` has them all
_OF_EVENT = frozenset({"author", "role", "ts", "episode", "seq", "trust", "event"})  # what the line itself says


@commands.command("ask")
def ask(
    call: Call,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What you want to know, in plain words.")],
    evidence: Annotated[
        bool, typer.Option("--evidence", help="Find the events themselves, word for word, instead of memories.")
    ] = False,
    category: Annotated[
        list[str] | None, typer.Option("--category", metavar="NAME", help="Only of this category; may be repeated.")
    ] = None,
    project: Annotated[str | None, typer.Option("--project", metavar="NAME", help="Only of this project.")] = None,
    thread: Annotated[str | None, typer.Option("--thread", metavar="NAME", help="Only of this thread.")] = None,
    top: Annotated[int | None, typer.Option("--top", "-n", metavar="N", help="At most so many results.")] = None,
    budget: Annotated[int, typer.Option("--budget", metavar="TOKENS", help="The results are not longer.")] = 2048,
    threshold: Annotated[
        float | None, typer.Option("--threshold", metavar="0-1", help="The least score; else noise is left out.")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say which signals put each result there.")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="The whole summary of each, and what is known about it.")
    ] = False,
    turn: Annotated[
        str | None,
        typer.Option("--turn", metavar="NAME", help="Asked again in the same turn, it is answered with more evidence."),
    ] = None,
    agreed: Annotated[
        bool, typer.Option("--agreed", help="Fetch more evidence, where people are to be asked first.")
    ] = False,
    json: Json = False,
) -> None:
    """Ask memory, and see what the answer rests on.

    What memory knows nothing about is answered with nothing, rather than with the nearest noise."""
    from recollect.domain.query import Filters, Form, Query, Source

    with call.memory() as memory:
        with checked():
            asked = Query(
                text=question,
                agent=call.settings.agent,
                categories=frozenset(category) if category else None,
                filters=Filters(project_id=project, thread_id=thread),
                top_k=top,
                form=Form.FULL if full else Form.BULLETS,
                budget_tokens=budget,
                threshold=threshold,
                source=Source.EVIDENCE if evidence else Source.ANY,
                explain=explain,
                turn_id=turn,
                agreed=agreed,
            )
        answer = memory.query(asked)
        if json:
            from recollect.interfaces import documents

            paper.document(documents.answer_document(answer))
            return
        _tell(memory, answer, framed=not evidence)


def _tell(memory: "Memory", answer: "Answer", *, framed: bool) -> None:
    for update in answer.header:
        say(styled((clean(update), "dim")))
    if not answer.results:
        say("Memory knows nothing about this.")
        return
    if answer.escalated:
        why = f" ({answer.reason.value})" if answer.reason else ""
        say(styled((f"More evidence than by default: {answer.used_level.name}{why}", "yellow")))
    if _is_event(answer.results[0]):
        say(styled(("What was said about it:", "dim")))
    for number, result in enumerate(answer.results):
        if number or answer.header:
            say()
        _result(result, answer.explain[number] if number < len(answer.explain) else {}, framed=framed)
        if "episode" not in result.meta:
            _quote(_behind(memory, result))


def _is_event(result: "Result") -> bool:
    """Whether it is what was said alone: no memory was made of it."""
    return "episode" in result.meta and "event" not in result.meta


def _result(result: "Result", why: "Mapping[str, object]", *, framed: bool) -> None:
    """A result; `framed` where the words of an event say by themselves who said them and when."""
    from recollect.domain.ids import ItemId, short

    said, quoted = _is_event(result), "episode" in result.meta
    id = ItemId(str(result.meta["episode"])) if said else ItemId(result.id)
    related = "  related" if result.related_to else ""
    say(
        styled(
            (_bar(result.score), "green"),
            (f" {result.score:.2f}", "bold"),
            "  ",
            (_said(result.meta, framed=framed) if said else line(result.category), "magenta"),
            "  ",
            (short(id), "cyan"),
            (related, "dim"),
        )
    )
    words = result.text.removeprefix(category_lead(result.category))
    if quoted or "\n" in words:
        paper.quote(words, indent=2)
        if not said and quoted:
            _about({name: value for name, value in result.meta.items() if name not in _OF_EVENT})
    else:
        say(styled(clean(words)), indent=2)
    if not quoted:
        _about(result.meta)
    signals = why.get("signals", why)
    if isinstance(signals, Mapping) and signals:
        told = cast("Mapping[str, object]", signals)
        say(styled((" · ".join(f"{name} {_figure(value)}" for name, value in told.items()), "yellow")), indent=2)


def _said(meta: "Mapping[str, object]", *, framed: bool) -> str:
    """Who said it, when, and which message of its thread it is; of an excerpt, which messages."""
    if witness := meta.get("witness"):
        return line(f"excerpt {witness} of")
    if framed:
        return line(f"message {meta.get('seq')} of")
    at = f"{str(meta.get('ts'))[:16].replace('T', ' ')} UTC"
    who = frame(str(meta.get("author")), at, trust=str(meta.get("trust")))
    return line(f"{who.removesuffix(': ')}, message {meta.get('seq')} of")


def _about(meta: "Mapping[str, object]") -> None:
    told = [f"{name} {line(str(value))}" for name, value in meta.items() if value not in (None, "", (), [])]
    if told:
        say(styled((" · ".join(told), "dim")), indent=2)


def _bar(score: float, width: int = 5) -> str:
    """A score as so many of five blocks."""
    full = round(max(0.0, min(1.0, score)) * width)
    return "█" * full + "░" * (width - full)


def _figure(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else line(str(value))


def _behind(memory: "Memory", result: "Result") -> "Sequence[Event]":
    """The events behind a result: those that its sentences point at, where they do."""
    from recollect.domain.ids import ItemId
    from recollect.domain.witness import MOST_ASKED, named

    return memory.evidence(ItemId(result.id), ",".join(named(result.text)[:MOST_ASKED]) or None)


def _quote(events: "Sequence[Event]") -> None:
    from recollect.interfaces.cli import describe

    for event in events[:_QUOTED]:
        who = frame(event.author, describe.minute(event.ts), trust=event.trust)
        say(styled(("│ ", "magenta"), (who, "dim"), (_short(event.text), "italic")), indent=4)
    if len(events) > _QUOTED:
        say(styled((f"│ and {len(events) - _QUOTED} more", "dim")), indent=4)


def _short(text: str, most: int = 200) -> str:
    one = line(text)
    return one if len(one) <= most else f"{one[: most - 1]}…"
