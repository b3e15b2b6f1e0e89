"""Domain values as JSON and back, losslessly, from their type hints.

A dataclass is an object whose None fields are left out; a member of a union of dataclasses names its class in
`is`. Times are ISO 8601 in UTC with microseconds. `canonical` is the one byte form that is hashed and compared.
"""

import json
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum, StrEnum
from functools import cache
from math import isfinite
from typing import Any, NewType, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from recollect.domain.change import Edit
from recollect.domain.item import Item

T = TypeVar("T")
Encode = Callable[[Any], Any]
Decode = Callable[[Any], Any]

_dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False).encode


def canonical(value: object) -> str:
    """The one text form of a JSON value."""
    return _dump(value)


def encode(value: object) -> dict[str, Any]:
    """A dataclass as a JSON object, its class named in `is`."""
    return {"is": type(value).__name__, **_codec(type(value))[0](value)}


def decode(kind: type[T], data: object) -> T:
    """The value of this type that was encoded. The type may be a union of dataclasses."""
    return cast(T, _codec(kind)[1](data))


def when(at: datetime) -> str:
    """A moment as text."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")[:26] + "Z"


def moment(text: str) -> datetime:
    """A moment out of its text. A time without a zone is refused."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError(f"time {text!r}: name its zone, for example {text}Z")
    return at.astimezone(UTC)


def _same(value: Any) -> Any:
    return value


def _strict(kind: type) -> Decode:
    """Values of one type. A type hint stops nobody from writing another one into a store."""

    def decode_one(value: Any) -> Any:
        if type(value) is not kind:
            raise TypeError(f"a {type(value).__name__} in the place of a {kind.__name__}")
        return value

    return decode_one


def _text(value: Any) -> Any:
    if type(value) is not str:
        raise TypeError(f"a {type(value).__name__} in the place of a str")
    value.encode()  # half of a surrogate pair is no text that can be hashed
    return value


def _number(value: Any) -> Any:
    if type(value) not in (int, float) or not isfinite(value):
        raise TypeError(f"a {type(value).__name__} that is no number")
    return float(value)


@cache
def _codec(kind: Any) -> tuple[Encode, Decode]:
    if isinstance(kind, NewType):
        return _codec(kind.__supertype__)
    if kind is str:
        return _same, _text
    if kind in (int, bool):
        return _same, _strict(kind)
    if kind in (object, Any):
        return _same, _same
    if kind is float:
        return float, _number
    if kind is datetime:
        return when, moment
    if kind is timedelta:
        return timedelta.total_seconds, lambda seconds: timedelta(seconds=seconds)
    if kind is Edit:
        return _encode_edit, _decode_edit
    origin = get_origin(kind)
    if origin is tuple:
        inner_encode, inner_decode = _codec(get_args(kind)[0])
        return (lambda v: [inner_encode(x) for x in v]), (lambda v: tuple(inner_decode(x) for x in v))
    if origin is frozenset:
        inner_encode, inner_decode = _codec(get_args(kind)[0])
        return (lambda v: sorted(inner_encode(x) for x in v)), (lambda v: frozenset(inner_decode(x) for x in v))
    if origin in (Mapping, dict):
        return dict, _strict(dict)
    if origin in (Union, types.UnionType):
        return _union(get_args(kind))
    if issubclass(kind, StrEnum | IntEnum):
        return _same, kind  # JSON writes their value
    if is_dataclass(kind):
        return _dataclass(cast(type, kind))
    raise TypeError(f"no codec for {kind}")


def _union(members: tuple[Any, ...]) -> tuple[Encode, Decode]:
    optional = type(None) in members
    members = tuple(member for member in members if member is not type(None))
    inner_encode, inner_decode = _codec(members[0]) if len(members) == 1 else _tagged(members)
    if not optional:
        return inner_encode, inner_decode
    return (
        lambda v: None if v is None else inner_encode(v),
        lambda v: None if v is None else inner_decode(v),
    )


def _tagged(members: tuple[Any, ...]) -> tuple[Encode, Decode]:
    by_class: dict[type, Encode] = {member: _codec(member)[0] for member in members}
    by_name: dict[str, Decode] = {member.__name__: _codec(member)[1] for member in members}

    def encode_member(value: Any) -> Any:
        return {"is": type(value).__name__, **by_class[type(value)](value)}

    def decode_member(data: Any) -> Any:
        return by_name[data["is"]](data)

    return encode_member, decode_member


def _dataclass(kind: type) -> tuple[Encode, Decode]:
    hints = get_type_hints(kind)
    codecs = {field.name: _codec(hints[field.name]) for field in fields(kind)}
    required = [f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]
    optional = {name for name in required if type(None) in get_args(hints[name])}
    encoders = [(name, None if enc is _same else enc) for name, (enc, _) in codecs.items()]
    decoders = [(name, None if dec is _same else dec) for name, (_, dec) in codecs.items()]

    def encode_one(value: Any) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for name, enc in encoders:
            part = getattr(value, name)
            if part is not None:
                out[name] = part if enc is None else enc(part)
        return out

    def decode_one(data: Any) -> Any:
        given: dict[str, Any] = dict.fromkeys(optional)
        for name, dec in decoders:
            if name in data:
                given[name] = data[name] if dec is None else dec(data[name])
        return kind(**given)

    return encode_one, decode_one


@cache
def item_field(name: str) -> tuple[Encode, Decode]:
    """How one field of an item is written and read."""
    return _codec(get_type_hints(Item)[name])


def _encode_edit(edit: Edit) -> list[Any]:
    enc = item_field(edit.field)[0]
    return [edit.field, enc(edit.before), enc(edit.after)]


def _decode_edit(data: Any) -> Edit:
    name, before, after = data
    dec = item_field(name)[1]
    return Edit(name, dec(before), dec(after))
