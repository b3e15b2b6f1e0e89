"""Answers of language models made into the dataclass that was asked for, or refused."""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from functools import lru_cache
from typing import Any, Generic, TypeVar, cast, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

T = TypeVar("T")
_DEEPEST = 20
# Pieces of a word that turn the text around them: they make a reader see other words than are there.
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


class Unfit(ValueError):
    """The answer does not fill the form. Says where, never what the answer was."""


@dataclass(frozen=True, slots=True)
class Form(Generic[T]):
    """A frozen dataclass as a language model is asked to fill it.

    Every field is there and of its own type: a number in quotes, a field too many or one too few is refused, at every
    depth. The dataclasses' own checks (`__post_init__`) hold.
    """

    type: type[T]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the answer."""
        return _model(self.type).model_json_schema()

    def fill(self, answer: object) -> T:
        """The dataclass that the answer fills. Control characters are taken out of its texts first."""
        try:
            written = json.dumps(_clean(answer))
            filled = _model(self.type).model_validate_json(written)
        except ValidationError as error:
            raise Unfit(_where(error)) from None
        except (TypeError, ValueError, RecursionError) as error:
            raise Unfit(str(error) if isinstance(error, Unfit) else "the answer is no JSON") from None
        try:
            return self.type(**{field.name: getattr(filled, field.name) for field in _fields(self.type)})
        except ValueError:  # the form's own check; those of the forms in it were made above
            raise Unfit("the answer: value error") from None


def _fields(form: type[Any]) -> Sequence[Field[Any]]:
    return fields(form)


@lru_cache(maxsize=100)
def _model(form: type[Any]) -> type[BaseModel]:
    # A model of the same fields, since a dataclass has nowhere to say that others are refused; what is said here holds
    # for the dataclasses in it as well.
    hints = get_type_hints(form, include_extras=True)
    said: dict[str, Any] = {field.name: (hints[field.name], _default(field)) for field in _fields(form)}
    return create_model(form.__name__, __config__=ConfigDict(extra="forbid", strict=True), **said)


def _default(field: Field[Any]) -> object:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return ... if field.default is MISSING else field.default


def _clean(value: object, depth: int = 0) -> object:
    if depth > _DEEPEST:
        raise Unfit("the answer is nested too deeply")
    if isinstance(value, str):
        return value if value.isascii() and value.isprintable() else "".join(filter(_kept, value))
    if isinstance(value, Mapping):
        return {str(key): _clean(part, depth + 1) for key, part in cast(Mapping[object, object], value).items()}
    if isinstance(value, list | tuple):
        return [_clean(part, depth + 1) for part in cast(Sequence[object], value)]
    return value


def _kept(character: str) -> bool:
    if character in _TURNING:
        return False
    return character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cs", "Co", "Cn")


def _where(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    places: list[str] = []
    for fault in found[:5]:
        surplus = fault["type"] in ("extra_forbidden", "unexpected_keyword_argument")  # named in the model's own words
        place = ".".join(str(part) for part in (fault["loc"][:-1] if surplus else fault["loc"]))
        places.append(f"{place or 'the answer'}: {'a field too many' if surplus else fault['type'].replace('_', ' ')}")
    return "; ".join(places)
