"""Conversations and notes from elsewhere, made fit to keep: what was read, and what was not and why."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import cast

from recollect.domain.event import Trust
from recollect.domain.lines import one_line
from recollect.domain.text import MAX_NAME, MAX_TEXT
from recollect.write.message import Message

LONGEST_TITLE = 300


@dataclass(frozen=True, slots=True)
class Thread:
    """One conversation or document. The id is the same each time it is read from the same place."""

    id: str
    title: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that could not be read: where it stands, and what is wrong with it."""

    where: str
    why: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What a file gave: its threads, and what was left out."""

    threads: tuple[Thread, ...] = ()
    skipped: tuple[Skipped, ...] = ()


@dataclass(slots=True)
class Readings:
    """A reading in the making. Threads of one id are told apart by a number."""

    threads: list[Thread] = field(default_factory=list[Thread])
    skipped: list[Skipped] = field(default_factory=list[Skipped])
    _ids: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, thread_id: str, title: str, messages: list[Message], where: str) -> None:
        if not messages:
            self.skip(where, "it holds no messages")
            return
        thread_id = label(thread_id) or label(where)
        self._ids[thread_id] = self._ids.get(thread_id, 0) + 1
        if self._ids[thread_id] > 1:
            thread_id = f"{thread_id[: MAX_NAME - 10]}#{self._ids[thread_id]}"
        self.threads.append(Thread(thread_id, line(title), tuple(messages)))

    def skip(self, where: str, why: str) -> None:
        self.skipped.append(Skipped(where, why))

    def done(self) -> Reading:
        """The reading; a ValueError where nothing at all could be read."""
        if not self.threads:
            first = f": {self.skipped[0].where}: {self.skipped[0].why}" if self.skipped else ""
            raise ValueError(f"there is nothing to read in it{first}")
        return Reading(tuple(self.threads), tuple(self.skipped))


def doubted(reading: Reading) -> Reading:
    """The reading with nothing in it believed."""
    return replace(
        reading,
        threads=tuple(
            replace(thread, messages=tuple(replace(one, trust=Trust.UNTRUSTED) for one in thread.messages))
            for thread in reading.threads
        ),
    )


def decoded(data: bytes | str) -> str:
    """The text of a file. A ValueError says where it is no text."""
    if isinstance(data, str):
        return data.removeprefix("\ufeff")
    marks = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
    encoding = next((encoding for mark, encoding in marks if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not {encoding} text at byte {error.start:,}: save it as UTF-8 first") from None


def messages(
    text: str,
    author: str,
    role: str | None,
    ts: datetime | None,
    *,
    trust: Trust = Trust.TRUSTED,
    meta: Mapping[str, object] | None = None,
) -> list[Message]:
    """A text as one message; none where it is blank, several where it is longer than an event may be."""
    author = label(author) or "unknown"
    role = label(role or "") or None
    parts = [part for part in _parts(clean(text)) if part.strip()]
    return [
        Message(
            text=part,
            author=author,
            role=role,
            ts=ts,
            trust=trust,
            meta={**(meta or {}), **({"part": number, "parts": len(parts)} if len(parts) > 1 else {})},
        )
        for number, part in enumerate(parts, 1)
    ]


def clean(text: str) -> str:
    """Text that every store can hold: without NUL, and without halves of surrogate pairs."""
    return text.replace("\x00", "").encode(errors="replace").decode()


def line(text: str) -> str:
    """A title on one line, no longer than a title."""
    return " ".join(clean(text[: 10 * LONGEST_TITLE]).split())[:LONGEST_TITLE]


def label(text: str) -> str:
    """A name on one line, without what nobody sees. Where something of it is left out, or it is too long for a name, it
    ends in a digest of the whole: no two become one."""
    whole = " ".join(clean(text).split())
    plain = one_line(whole)
    if len(plain) <= MAX_NAME and plain == whole:
        return plain
    return f"{plain[: MAX_NAME - 17]}#{sha256(whole.encode()).hexdigest()[:16]}" if plain else ""


def moment(value: object) -> datetime | None:
    """A time as exports write it: seconds since 1970, or ISO. UTC where it names no zone; None where it is none."""
    try:
        match value:
            case bool() | None:
                return None
            case int() | float():
                return datetime.fromtimestamp(value, UTC)
            case str():
                at = datetime.fromisoformat(value.strip())
                return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
            case _:
                return None
    except (ValueError, OverflowError, OSError):
        return None


def fields(value: object) -> Mapping[str, object]:
    """A JSON object, or an empty one where it is something else."""
    return cast(Mapping[str, object], value) if isinstance(value, dict) else {}


def entries(value: object) -> list[object]:
    """A JSON list, or an empty one where it is something else."""
    return cast(list[object], value) if isinstance(value, list) else []


def words(value: object) -> str:
    """A JSON string, or an empty one where it is something else."""
    return value if isinstance(value, str) else ""


def elements(text: str, readings: Readings) -> Iterator[object]:
    """The elements of a JSON list one by one. Where the text breaks off, those before it still come."""
    decoder = json.JSONDecoder()
    at = _next(text, 0)
    if text[at : at + 1] != "[":
        yield from entries_of(_parsed(text, decoder, at))
        return
    at, number = _next(text, at + 1), 0
    while text[at : at + 1] != "]":
        number += 1
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            readings.skip(
                f"conversation {number}", f"the JSON is broken there and after it ({_place(error, text, at)})"
            )
            return
        yield value
        at = _next(text, at)
        if text[at : at + 1] == ",":
            at = _next(text, at + 1)
        elif text[at : at + 1] != "]":
            readings.skip(f"conversation {number}", f"the JSON breaks off after it ({_place(None, text, at)})")
            return


def entries_of(value: object) -> list[object]:
    """The conversations of a file that is one, or that names them."""
    return entries(fields(value).get("conversations")) or [value]


def _parsed(text: str, decoder: json.JSONDecoder, at: int) -> object:
    try:
        return decoder.raw_decode(text, at)[0]
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the JSON is broken ({_place(error, text, at)})") from None


def _place(error: Exception | None, text: str, at: int) -> str:
    at = error.pos if isinstance(error, json.JSONDecodeError) else at
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"


def _next(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _parts(text: str) -> Iterator[str]:
    while len(text) > MAX_TEXT:
        cut = text.rfind("\n", MAX_TEXT // 2, MAX_TEXT) + 1 or MAX_TEXT
        yield text[:cut]
        text = text[cut:]
    yield text
