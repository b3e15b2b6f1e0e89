"""Whether a row is one that Recollect could have written: of the right types, and the same when it is written again."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NoReturn, cast

from recollect.store import rows
from recollect.store.tx import Row

TIMES = frozenset(
    "created_at updated_at state_at purge_at active_lock_until origin_at valid_from valid_to ts detected_at "
    "resolved_at last_accessed at not_before done_at failed_at begun_at marked_at lease_until".split()
)
FLAGS = frozenset("withdrawn private core constitutional own again quoted".split())
_NUMBERS = frozenset(
    "retrieval_count citation_count ignore_count rev seq thread_rev step attempts bumps sim every_s".split()
)


def refuse(reason: str) -> NoReturn:
    raise ValueError(reason)


def flag(value: Any) -> bool:
    """True or false, as either engine keeps it."""
    if type(value) not in (int, bool) or value not in (0, 1):
        refuse("not a flag")
    return bool(value)


def number(value: Any) -> int:
    return value if type(value) is int else refuse("not a whole number")


def text(value: Any) -> str:
    return value if type(value) is str else refuse("not a text")


def octets(value: Any) -> bytes:
    return bytes(value) if type(value) in (bytes, bytearray, memoryview) else refuse("not bytes")


def loads(value: Any) -> Any:
    """JSON out of its text. A name that comes twice is refused: two readers may take it two ways."""
    return json.loads(text(value), object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        refuse("a name comes twice")
    return found


def written_again(columns: str, row: Row, again: Mapping[str, object]) -> None:
    """Refuse a row that would be another one if what was read of it were written."""
    for name, held in zip(names(columns), row, strict=True):
        if not _same(name, held, again[name]):
            refuse(f"{name} is not as it is written")


def names(columns: str) -> list[str]:
    return [name.strip() for name in columns.split(",")]


def _same(name: str, held: Any, again: Any) -> bool:
    if again is None or held is None:
        return held is None and again is None
    if isinstance(again, datetime):
        return type(held) is not bool and rows.moment(held) == again
    if isinstance(again, bool):
        return flag(held) == again
    if name in ("body", "tags", "chunks", "meta", "bullets"):
        return held == again or _within(loads(held), loads(again))
    if isinstance(again, int | float):
        return type(held) in (int, float) and held == again
    return type(held) is str and held == again


def _within(held: Any, again: Any) -> bool:
    """Whether a JSON value says the same, but for what has come to be written since."""
    match held, again:
        case dict(), dict():
            mine, other = cast(dict[str, Any], held), cast(dict[str, Any], again)
            return all(name in other and _within(value, other[name]) for name, value in mine.items())
        case list(), list():
            listed, others = cast(list[Any], held), cast(list[Any], again)
            return len(listed) == len(others) and all(map(_within, listed, others))
        case _:
            return type(held) is type(again) and held == again


def typed(columns: Sequence[str], row: Row) -> None:
    """Refuse values of a type that their columns never hold."""
    for name, value in zip(columns, row, strict=True):
        if value is None:
            continue
        if name in TIMES:
            if not isinstance(rows.moment(value), datetime):
                refuse("not a moment")
        elif name in FLAGS:
            flag(value)
        elif name in ("payload", "state", "answer"):
            if type(loads(value)) is not dict:
                refuse("not a JSON object")
        elif name in _NUMBERS:
            if type(value) not in (int, float):
                refuse("not a number")
        else:
            text(value)
