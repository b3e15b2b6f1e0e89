"""What is asked of a language model."""

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Prompt(Generic[T]):
    """A question to a language model. `form` is the dataclass that its answer must fill."""

    name: str
    system: str
    user: str
    form: type[T]
    longest: int = 1_000
    """Tokens of the answer at most."""
