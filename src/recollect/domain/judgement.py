"""What the local minds say: how two statements stand to each other, and what the sentences of a turn are worth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Chances:
    """How likely it is that two statements contradict each other, say the same, that one refines the other, that both
    can be true, or that one tells that the other no longer holds. The five add up to one."""

    contradiction: float
    same: float
    refines: float
    compatible: float
    update: float = 0.0
    again: bool = False
    """Whether a second, larger judge was asked too, and this is what both say together."""

    @classmethod
    def named(cls, labels: Sequence[str], shares: Sequence[float]) -> "Chances":
        """The shares as they stand beside their labels; updates need not be among them."""
        told = dict(zip(labels, shares, strict=True))
        return cls(
            contradiction=told["contradiction"],
            same=told["same"],
            refines=told["refines"],
            compatible=told["compatible"],
            update=told.get("update", 0.0),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A turn as it was said: its sentences, by whom, after what."""

    sentences: tuple[str, ...]
    role: str = "user"
    before: str = ""
    """What was said last before it, each turn with the role that said it: "assistant: Which one?"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """What a sentence is worth, each as a likelihood."""

    keep: float
    kinds: Mapping[str, float]
    categories: Mapping[str, float]
    importance: float
    """From 1 to 5."""
    private: float
    injection: float
