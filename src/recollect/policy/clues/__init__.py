"""What rules can see in two statements, by name."""

from recollect.policy.clues.beside import Clues, clues

__all__ = ["Clues", "clues"]
