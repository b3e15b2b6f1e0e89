"""Any value without the secrets in it: what is kept beside a text is kept as carefully as the text."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar, cast

from recollect.policy.secrets import redact

T = TypeVar("T")


def clean(value: T) -> tuple[T, tuple[str, ...]]:
    """The value with every text in it redacted, and the kinds of secrets that were found, each once."""
    found: dict[str, None] = {}
    return cast(T, _clean(value, found)), tuple(found)


def _clean(value: Any, found: dict[str, None]) -> Any:
    if type(value) is str:
        redacted = redact(value)
        found.update(dict.fromkeys(redacted.found))
        return redacted.text
    if isinstance(value, Mapping):
        parts = cast(Mapping[Any, Any], value).items()
        return {_clean(key, found): _clean(part, found) for key, part in parts}
    if isinstance(value, list):
        return [_clean(part, found) for part in cast(list[Any], value)]
    if isinstance(value, tuple):
        return tuple(_clean(part, found) for part in cast(tuple[Any, ...], value))
    if is_dataclass(value) and not isinstance(value, type):
        told = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        changed = {name: after for name, before in told.items() if (after := _clean(before, found)) != before}
        return replace(value, **changed) if changed else value
    return value


@lru_cache(maxsize=4096)
def refuse_secret(name: str | None, what: str) -> None:
    """A ValueError where a name that things are found by holds a secret. It cannot be taken out: another name would be
    found instead."""
    if name and (found := redact(name).found):
        raise ValueError(f"{what} holds a secret ({found[0]}): give it another name")
