"""Any value without the secrets in it: what is kept beside a text is kept as carefully as the text."""

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar, cast

from recollect.policy.secrets import Redacted, redact

T = TypeVar("T")


def clean(value: T) -> tuple[T, tuple[str, ...]]:
    """The value with every text in it redacted, and the kinds of secrets that were found, each once."""
    found: dict[str, None] = {}
    return cast(T, _clean(value, found)), tuple(found)


def _clean(value: Any, found: dict[str, None], name: object = None) -> Any:
    """With the name that the value stands under, which may be what tells that it is a secret."""
    if type(value) is str:
        redacted = _under(name, value) or redact(value)
        found.update(dict.fromkeys(redacted.found))
        return redacted.text
    if isinstance(value, Mapping):
        parts = cast(Mapping[Any, Any], value)
        return {_clean(key, found): _clean(part, found, _name(parts, key)) for key, part in parts.items()}
    if isinstance(value, list):
        return [_clean(part, found, name) for part in cast(list[Any], value)]
    if isinstance(value, tuple):
        return tuple(_clean(part, found, name) for part in cast(tuple[Any, ...], value))
    if is_dataclass(value) and not isinstance(value, type):
        told = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
        changed = {
            field: after
            for field, before in told.items()
            if (after := _clean(before, found, _name(told, field) if field == "value" else None)) != before
        }
        return replace(value, **changed) if changed else value
    return value


def _name(parts: Mapping[Any, Any], key: object) -> object:
    """What a part of a mapping is called: by its key, or, where that is "value", by what stands beside it."""
    return (parts.get("name") or parts.get("key") or key) if key == "value" else key


def _under(name: object, text: str) -> Redacted | None:
    """The text as it is redacted behind its name, written as a setting; nothing where it holds no secret there."""
    if type(name) is not str or not name:
        return None
    before, after = (f'"{name}: ', "") if _SPLIT.search(text) else (f'"{name}="', '"')
    told = redact(before + text + after)
    if not told.found or not told.text.startswith(before) or not told.text.endswith(after):
        return None  # nothing there, or it is in the name, which is cleaned by itself
    return Redacted(told.text[len(before) : len(told.text) - len(after)], told.found)


_SPLIT = re.compile(r"[\s\"'`\\]")


@lru_cache(maxsize=4096)
def refuse_secret(name: str | None, what: str) -> None:
    """A ValueError where a name that things are found by holds a secret. It cannot be taken out: another name would be
    found instead."""
    if name and (found := redact(name).found):
        raise ValueError(f"{what} holds a secret ({found[0]}): give it another name")
