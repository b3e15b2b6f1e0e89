"""A sentence on its way from a thread into its summary."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One sentence told in the third person that keeps the rules of wording, and what speaks for it."""

    text: str
    places: tuple[int, ...]
    """Where in the thread it was said."""
    section: str
    speaker: str
    worth: float
    """How much it says by itself, before it is held against the others."""
    why: str = ""
    """Why its witnesses bear it out, in a few words."""
    corrects: bool = False
