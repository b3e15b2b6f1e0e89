"""Text that every store can hold, and how long it is."""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import cast

MAX_TEXT = 1_000_000
MAX_NAME = 200


def sound(text: str, what: str, limit: int = MAX_TEXT) -> str:
    """The text itself, or a ValueError that says what is wrong with it and what would help."""
    if "\x00" in text:
        raise ValueError(f"{what} holds a NUL character at position {text.index(chr(0))}: remove it")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise ValueError(
                f"{what} holds half of a surrogate pair at position {error.start}: decode it as UTF-8 first"
            ) from None
    if len(text) > limit:
        raise ValueError(f"{what} has {len(text):,} characters, at most {limit:,} are kept: split it")
    return text


def sound_json(value: object, what: str) -> None:
    """Refuses what JSON, or a store, cannot hold as it is: odd keys, odd objects, no-numbers, unsound text."""
    match value:
        case str():
            sound(value, what)
        case float() if not isfinite(value):
            raise ValueError(f"{what} holds {value}, which JSON has no number for: leave it out or write it as text")
        case None | bool() | int() | float():
            pass
        case list() | tuple():
            for part in cast(Sequence[object], value):
                sound_json(part, what)
        case Mapping():
            for key, part in cast(Mapping[object, object], value).items():
                if not isinstance(key, str):
                    raise ValueError(f"{what} has the key {key!r}: keys are text")
                sound(key, what)
                sound_json(part, what)
        case _:
            raise ValueError(f"{what} holds a {type(value).__name__}: use text, numbers, lists and objects")


def name(text: str | None, what: str) -> str | None:
    """An identifier given from outside (user, thread, category …): short, sound and not blank."""
    if text is None:
        return None
    if not text.strip():
        raise ValueError(f"{what} is blank: leave it out or give a name")
    return sound(text, what, MAX_NAME)


def tokens(text: str) -> int:
    """Tokens as they are reported everywhere: characters / 4, rounded up."""
    return -(-len(text) // 4)
