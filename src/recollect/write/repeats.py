"""What of an import its thread has already. Files seldom say when something was said, so it is told by counting: what
a file says for the third time is known where the thread has it three times."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from recollect.domain.event import Event, Trust
from recollect.write.message import Message

_Source = tuple[str, str | None, str]
"""A file, and who speaks in it, by role and name."""
_Said = tuple[str, str | None, str, datetime | None]
"""Who said what, and when, where that is told."""


@dataclass(frozen=True, slots=True)
class Import:
    """How far an import has come: what it said so far, and which lines of its files the thread had before it."""

    known: Mapping[_Source, Mapping[str, Sequence[Event]]] = field(
        default_factory=dict[_Source, Mapping[str, Sequence[Event]]]
    )
    said: Counter[_Said] = field(default_factory=Counter[_Said])
    lines: Counter[tuple[_Source, str]] = field(default_factory=Counter[tuple[_Source, str]])

    def copy(self) -> "Import":
        """One to go on with and to throw away where the write is refused."""
        return replace(self, said=Counter(self.said), lines=Counter(self.lines))

    def go_on(self, further: "Import") -> None:
        self.said.update(further.said - self.said)
        self.lines.update(further.lines - self.lines)

    def recognise(self, message: Message, held: Iterable[Event]) -> "Event | Message":
        """The event that a message is already, or what of it is new: the lines that were added to a piece of a file,
        any other message as a whole. `held`: the events of the thread with the same words."""
        source = _source(message)
        return self._message(message, held) if source is None else self._piece(message, source)

    def _message(self, message: Message, held: Iterable[Event]) -> "Event | Message":
        said = (message.author, message.role, message.text, message.ts)
        alike = [
            event
            for event in sorted(held, key=lambda event: event.seq)
            if (event.author, event.role) == said[:2] and message.ts in (None, event.ts) and as_believed(message, event)
        ]
        place = self.said[said]
        self.said[said] += 1
        return alike[place] if place < len(alike) else message

    def _piece(self, message: Message, source: _Source) -> "Event | Message":
        known = self.known.get(source, {})
        first: Event | None = None
        added: list[str] = []
        whole = True
        for row in message.text.split("\n"):
            line = row.strip()
            if not line:
                added += [row] if added and added[-1].strip() else []
                continue
            place = self.lines[source, line]
            self.lines[source, line] += 1
            holders = known.get(line, ())
            if place < len(holders):
                first, whole = first or holders[place], False
            else:
                added.append(row)
        if whole or first is None:
            return message
        text = "\n".join(added).strip("\n")
        return replace(message, text=text) if text.strip() else first


def begun(messages: Iterable[Message], events: Iterable[Event]) -> Import:
    """An import of these messages into a thread that has these events."""
    sources = {source: message for message in messages if (source := _source(message))}
    known: dict[_Source, dict[str, list[Event]]] = {source: {} for source in sources}
    for event in events:
        source = _source(event)
        if source is not None and source in known and as_believed(sources[source], event):
            for row in event.text.split("\n"):
                known[source].setdefault(row.strip(), []).append(event)
    return Import(known)


def as_believed(message: Message, event: Event) -> bool:
    """Whether an event is believed as far as a message: what was first heard from somebody who is not believed is still
    news when the one it is of says it."""
    return message.trust is Trust.UNTRUSTED or event.trust is Trust.TRUSTED


def from_files(messages: Iterable[Message]) -> bool:
    """Whether some of these are pieces of files, which are compared line by line."""
    return any(_source(message) for message in messages)


def _source(said: Message | Event) -> _Source | None:
    name = said.meta.get("file")
    return (name, said.role, said.author) if isinstance(name, str) else None
