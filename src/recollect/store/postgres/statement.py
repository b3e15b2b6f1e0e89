"""Shared SQL as PostgreSQL reads it."""

import re
from dataclasses import dataclass
from functools import lru_cache

# A literal and a cast are passed over: `'e:'` names nothing, nor does `::text`.
_PART = re.compile(r"'(?:[^']|'')*'|::|\bin\s+:(?P<list>\w+)\[\]|:(?P<name>\w+)")

# No subquery, no conflict clause: one row or an error.
_ONE_ROW = re.compile(r"(?P<into>insert into \w+ \([\w, ]+\) values )(?P<row>\([:\w, ]+\))")
_VALUE = re.compile(r":(?!tenant\b)(\w+)")


@dataclass(frozen=True, slots=True)
class Statement:
    """The text with numbered parameters, which value each number stands for, and whether it writes exactly one row
    (or fails), so that nobody has to wait to hear how many."""

    text: bytes
    names: tuple[str, ...]
    writes_one: bool


@lru_cache(maxsize=2048)
def translate(sql: str) -> Statement:
    """`:name` becomes a numbered parameter and `in :name[]` a comparison with an array, whose type the server takes
    from what it is compared with. An array, unlike a subquery, can be looked up in an index."""
    numbers: dict[str, int] = {}

    def number(name: str) -> str:
        return f"${numbers.setdefault(name, len(numbers) + 1)}"

    def part(found: re.Match[str]) -> str:
        if name := found["list"]:
            return f"= any({number(name)})"
        if name := found["name"]:
            return number(name)
        return found[0]

    text = _PART.sub(part, sql)
    return Statement(text.encode(), tuple(numbers), bool(_ONE_ROW.fullmatch(sql)))


@lru_cache(maxsize=512)
def of_rows(sql: str, count: int) -> Statement:
    """An insert of one row as one of several; the values of row 2 are named `name_2`."""
    found = _ONE_ROW.fullmatch(sql)
    assert found is not None, sql
    return translate(found["into"] + ", ".join(_VALUE.sub(rf":\1_{row}", found["row"]) for row in range(count)))
