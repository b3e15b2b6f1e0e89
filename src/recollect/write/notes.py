"""Files that people write themselves: lines of JSON, plain text, Markdown."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from recollect.domain.event import Trust
from recollect.domain.text import sound_json
from recollect.write.foreign import Reading, Readings, clean, entries, fields, label, line, messages, moment, words
from recollect.write.message import Message

_HEADING = re.compile(r"^ {0,3}(#{1,6})(?:[ \t]++(?=.)|[ \t]+(?=[ \t]$))(.+)$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_FIELD = re.compile(r"^([A-Za-z][\w -]*+):[ \t]*+(.*+)$")
_DATES = ("date", "created", "created_at", "updated", "modified")
_MOST_FRONT = 200


def jsonl(text: str, name: str, author: str) -> Reading:
    """One message a line: {author, role, ts, text, trust}, of which only the text must be there. `thread` and `title`
    part the lines into threads; `meta` is kept."""
    readings = Readings()
    threads: dict[str, tuple[str, list[Message]]] = {}
    for number, row in enumerate(text.split("\n"), 1):
        if not row.strip():
            continue
        where = f"line {number}"
        try:
            said = fields(json.loads(row))
            found = _said(said, author)
        except (ValueError, RecursionError) as error:
            readings.skip(where, "it is no JSON" if not str(error).startswith("the ") else str(error))
            continue
        if not found:
            readings.skip(where, "it has no text")
            continue
        thread = label(words(said.get("thread")) or words(said.get("thread_id"))) or f"file:{name}"
        threads.setdefault(thread, (words(said.get("title")) or name, []))[1].extend(found)
    for thread, (title, found) in threads.items():
        readings.add(thread, title, found, f"thread {thread}")
    return readings.done()


def plain(text: str, name: str, author: str) -> Reading:
    """A file as one document."""
    readings = Readings()
    meta = {"file": label(name)} if name.strip() else None
    readings.add(f"file:{name}", name, messages(text, author, "document", None, meta=meta), name or "text")
    return readings.done()


def markdown(text: str, name: str, author: str) -> Reading:
    """A note as its sections, each with the headings it stands under. Dates and tags of the front matter hold for all;
    front matter that is none is text."""
    readings = Readings()
    front, body = _front(text.replace("\r\n", "\n"))
    at = next((day for key in _DATES if (day := moment(front.get(key)))), None)
    tags = [label(tag) for tag in entries(front.get("tags"))[:50] if isinstance(tag, str) and label(tag)]
    sections = list(_sections(body))
    found: list[Message] = []
    for section in sections:
        meta: dict[str, object] = {"file": label(name)} if name.strip() else {}
        if section.path:
            meta["heading"] = [line(heading) for heading in section.path]
        if tags:
            meta["tags"] = tags
        found += messages(section.text, author, "document", at, meta=meta)
    first = next((section.path[0] for section in sections if section.path), "")
    readings.add(f"file:{name}", words(front.get("title")) or first or name, found, name or "note")
    return readings.done()


def _said(said: Mapping[str, object], author: str) -> list[Message]:
    meta = fields(said.get("meta"))
    sound_json(meta, "the meta data")
    who = words(said.get("author")) or author
    at = moment(said.get("ts"))
    if said.get("ts") is not None and at is None:
        raise ValueError("the ts is no time: give ISO 8601 or seconds since 1970")
    role = words(said.get("role")) or None
    return messages(words(said.get("text")), who, role, at, trust=_trust(said.get("trust")), meta=meta)


def _trust(claimed: object) -> Trust:
    """What a line says of itself: any other word than "trusted" is no reason to believe it."""
    return Trust.TRUSTED if claimed in (None, Trust.TRUSTED.value) else Trust.UNTRUSTED


@dataclass(frozen=True, slots=True)
class _Section:
    path: tuple[str, ...]
    text: str


def _sections(body: str) -> Iterator[_Section]:
    """The body cut at its headings; lines in code are none. A heading without words below it is on the path alone."""
    path: list[tuple[int, str]] = []
    lines: list[str] = []
    fence = ""
    for row in body.split("\n"):
        if mark := _FENCE.match(row):
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        heading = None if fence else _HEADING.match(row)
        if heading:
            yield from _section(path, lines)
            depth = len(heading[1])
            path = [*(part for part in path if part[0] < depth), (depth, _title(heading[2]))]
            lines = [row]
        else:
            lines.append(row)
    yield from _section(path, lines)


def _title(written: str) -> str:
    """The words of a heading without the marks that close it; of one that is made of marks, the first."""
    return written.rstrip(" \t").rstrip("#").rstrip(" \t") or written[0]


def _section(path: list[tuple[int, str]], lines: list[str]) -> Iterator[_Section]:
    below = lines[1:] if lines and _HEADING.match(lines[0]) else lines
    if any(clean(row).strip() for row in below):
        yield _Section(tuple(title for _, title in path), "\n".join(lines).strip("\n"))


def _front(text: str) -> tuple[Mapping[str, object], str]:
    """The fields between the two lines of dashes at the top of a note, and the rest."""
    rows = text.split("\n")
    if rows[0].strip() != "---":
        return {}, text
    end = next((number for number, row in enumerate(rows[1 : _MOST_FRONT + 1], 1) if row.strip() in ("---", "...")), 0)
    if not end:
        return {}, text
    found: dict[str, object] = {}
    key = ""
    for row in rows[1:end]:
        if match := _FIELD.match(row):
            key = match[1].strip().lower()
            found[key] = _value(key, match[2].strip())
        elif key and row.strip().startswith("- "):
            found[key] = [*entries(found.get(key)), _bare(row.strip()[2:])]
    return found, "\n".join(rows[end + 1 :])


def _value(key: str, written: str) -> object:
    if written.startswith("[") and written.endswith("]"):
        return [_bare(part) for part in written[1:-1].split(",") if part.strip()]
    if key == "tags":
        return [part for part in re.split(r"[,\s]+", _bare(written)) if part]
    return _bare(written)


def _bare(written: str) -> str:
    return written.strip().strip("\"'").removeprefix("#")
