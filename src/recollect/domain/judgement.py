"""What the local minds say: how two statements stand to each other, and whether a sentence is worth keeping."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Chances:
    """How likely it is that two statements contradict each other, say the same, that one refines the other, or that
    both can be true. The four add up to one."""

    contradiction: float
    same: float
    refines: float
    compatible: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A sentence as it was said: by whom, after what, before what."""

    text: str
    role: str = "user"
    before: str = ""
    """The two sentences before it, each with the role that said it: "assistant: Which one?"."""
    after: str = ""
    """The sentence that follows in the same turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """What a sentence is worth, each as a likelihood."""

    keep: float
    kinds: Mapping[str, float]
    categories: Mapping[str, float]
    importance: float
    """From 1 to 5: the mean of what is likely."""
    private: float
    injection: float
