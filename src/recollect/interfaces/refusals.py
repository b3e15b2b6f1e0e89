"""What a client is told of a refusal: the field and the rule. Not what it sent, which may be a secret and comes to rest
in logs on the way; and not where things lie on the server's machine, which is for its own log."""

import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from recollect.errors import RecollectError, StoreError

UNSAID = "…"
_SHORTEST = 4
"""What is shorter says nothing about anybody, and stands in our own words by chance."""
_BEGINNING = 64
"""A longer text is known by so much of it."""
_LONGEST = 10_000
_LONGEST_REFUSAL = 2_000
"""What is longer is no sentence of ours, but repeats what was sent."""
_PLAIN = re.compile(r"[A-Za-z_]{1,30}")
_MOST = 8
_log = logging.getLogger(__name__)


def told(error: RecollectError, sent: Iterable[str]) -> tuple[str, str]:
    """What was refused and what would help, for whoever sent these texts."""
    if isinstance(error, StoreError):
        _log.warning("%s: %s", type(error).__name__, error)
        what = (type(error).__doc__ or "").partition("\n")[0].rstrip(".")
        return what, "Try again later. Whoever runs the server finds the reason in its log."
    values = list(sent)
    return unsaid(error.what, values), unsaid(error.help, values)


def unsaid(words: str, sent: Iterable[str]) -> str:
    """The words without the texts that were sent, as they are, as Python quotes them, or one of several with commas
    between. Of long words the beginning alone: their end may be half of what was sent."""
    long = len(words) > _LONGEST_REFUSAL
    words = words[:_LONGEST_REFUSAL]
    for form in sorted({form for form in _forms(sent) if form[:_BEGINNING] in words}, key=len, reverse=True):
        words = _without(words, form)
    return words[:-_BEGINNING] + UNSAID if long else words


def _forms(sent: Iterable[str]) -> Iterator[str]:
    for value in sent:
        value = value[:_LONGEST]
        for part in map(str.strip, value.split(",")) if "," in value else (value.strip(),):
            if len(part) >= _SHORTEST:
                yield part
                if not part.isalnum():
                    yield repr(part)[1:-1]


def _without(words: str, form: str) -> str:
    """A short one as a whole; of a long one as much as is shown."""
    if len(form) <= _BEGINNING:
        return _without_word(words, form)
    at = words.find(form[:_BEGINNING])
    if at < 0:
        return words
    shown = next((n for n, (a, b) in enumerate(zip(words[at:], form, strict=False)) if a != b), len(form))
    return words[:at] + UNSAID + words[at + shown :]


def _without_word(words: str, form: str) -> str:
    """Without a pattern: to make one for each of thousands of forms takes seconds."""
    at = words.find(form)
    while at >= 0:
        end = at + len(form)
        alone = not _goes_on(words[at - 1 : at]) and not _goes_on(words[end : end + 1])
        words = words[:at] + UNSAID + words[end:] if alone else words
        at = words.find(form, at + 1)
    return words


def _goes_on(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def texts(value: object) -> Iterator[str]:
    """All texts of a JSON value; keys too, unless they look like the name of a field."""
    waiting: list[object] = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, list):
            waiting.extend(cast(list[object], one))
        elif isinstance(one, dict):
            inside = cast(dict[object, object], one)
            waiting.extend(key for key in inside if not _PLAIN.fullmatch(str(key)))
            waiting.extend(inside.values())


def texts_of_json(body: bytes) -> Iterator[str]:
    """The same of what may be JSON; nothing of what is not."""
    try:
        yield from texts(json.loads(body))
    except (ValueError, RecursionError):
        return


def wrong_fields(wrong: Sequence[Mapping[str, Any]]) -> str:
    """What is wrong with which field, of what pydantic found: without the values."""
    found = [f"{_place(one['loc'])}: {_said(one)}" for one in wrong[:_MOST]]
    more = f"; and {len(wrong) - _MOST} more" if len(wrong) > _MOST else ""
    return "; ".join(found) + more


def _place(loc: Sequence[object]) -> str:
    """Where it is. The names of fields are shown, and of others what looks like one: a misspelt name is a help."""
    inside = [str(part) for part in loc if part != "body"]
    shown = [part if part.isdecimal() or _PLAIN.fullmatch(part) else UNSAID for part in inside]
    return ".".join(shown) or "the body"


def _said(one: Mapping[str, Any]) -> str:
    words = str(one["msg"]).removeprefix("Value error, ")
    return words[:1].lower() + words[1:]
