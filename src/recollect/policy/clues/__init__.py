"""What rules can see in two statements, by name."""

from recollect.policy.clues.beside import Clues as Clues
from recollect.policy.clues.beside import clues as clues
