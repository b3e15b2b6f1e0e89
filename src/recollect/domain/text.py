"""Text that every store can hold, and how long it is."""

from collections.abc import Collection, Mapping, Sequence
from math import isfinite
from typing import cast

MAX_TEXT = 1_000_000
MAX_NAME = 200
MAX_NAMES = 1_000
MAX_DEPTH = 100
"""How deep lists and objects may lie in each other."""
MAX_META = 100_000
"""Characters of meta data, all together."""
_LARGEST = 128
"""Bits of a whole number in meta data."""


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


def sound_json(value: object, what: str, depth: int = 0) -> None:
    """Refuses what JSON, or a store, cannot hold as it is: odd keys, odd objects, no-numbers, unsound text."""
    if depth > MAX_DEPTH:
        raise ValueError(f"{what}: lists and objects lie more than {MAX_DEPTH} deep in each other: make it flatter")
    match value:
        case str():
            sound(value, what)
        case float() if not isfinite(value):
            raise ValueError(f"{what} holds {value}, which JSON has no number for: leave it out or write it as text")
        case None | bool() | int() | float():
            pass
        case list() | tuple():
            for part in cast(Sequence[object], value):
                sound_json(part, what, depth + 1)
        case Mapping():
            for key, part in cast(Mapping[object, object], value).items():
                if not isinstance(key, str):
                    raise ValueError(f"{what} has the key {key!r}: keys are text")
                sound(key, what)
                sound_json(part, what, depth + 1)
        case _:
            raise ValueError(f"{what} holds a {type(value).__name__}: use text, numbers, lists and objects")


def small_json(value: object, what: str) -> None:
    """Refuses what is not sound, and what is longer than what goes along with a text may be."""
    sound_json(value, what)
    room, waiting = MAX_META, [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, int) and one.bit_length() > _LARGEST:
            raise ValueError(f"{what} holds a number of more than 38 digits: write it as text")
        room -= len(one) if isinstance(one, str) else 1
        if isinstance(one, Mapping):
            inside = cast(Mapping[object, object], one)
            waiting.extend((*inside.keys(), *inside.values()))
        elif isinstance(one, list | tuple):
            waiting.extend(cast(Sequence[object], one))
        if room < 0:
            raise ValueError(f"{what} has more than {MAX_META:,} characters: keep what is long as a text of its own")


def names(texts: Collection[str] | None, what: str, most: int = MAX_NAMES) -> None:
    """Several identifiers given from outside, and not too many."""
    if texts is None:
        return
    if len(texts) > most:
        raise ValueError(f"there are {len(texts):,} names in {what}, at most {most:,} are taken")
    for text in texts:
        name(text, what)


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
