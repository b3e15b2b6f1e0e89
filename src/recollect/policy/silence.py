"""Whether what was found speaks of what a question asks, or only of the people it names.

Something is always nearest. Asked for the name of somebody's dentist, a memory that never heard of one finds what that
person said of other things; then the default answer is empty. What is seen of a question are seven signs, each a
number; the weights are a logistic regression's over questions that a conversation answers and questions that it does
not (`training/run silence`).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from math import log
from typing import Final

from recollect.policy import rank
from recollect.policy.asked import Asked

LINE: Final = -2.5
"""Below this sum the answer is empty. Half of the invented questions of the stores that the weights were not fitted to
fall under it, and next to none of the others, but for a fifth of the loosest; a higher one costs what is known."""
MOST: Final = 80
"""Lines that are looked at where there are as many."""
MANY: Final = 200
"""What is found where there is much to be found."""
WHOLE: Final = 0.999
_SURE: Final = 1e-6
_SUBJECT: Final = re.compile("(?:['\u2019]s)? \\w")
_EDGE: Final = re.compile(r"\b")
_THEIRS: Final = re.compile("['\u2019]s\\b")


@dataclass(frozen=True, slots=True)
class Line:
    """Something that was said, as the indexes found it: most likely first."""

    author: str
    cosine: float | None
    about: frozenset[str] = frozenset()
    """Whom it speaks of by name, not to: people's names in lower case."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What is seen of a question among what was found."""

    nearest: float
    """The best cosine of a line to the question without the names of those who speak."""
    sure: float
    """The logarithm of the odds that memory knows anything about it (`rank.confidence`)."""
    names_a_speaker: float
    elsewhere: float
    """How much nearer than anything that the named person said something is that others said."""
    voices: float
    """The logarithm of how many speak in what was found: of many people's talk less is near to any one question."""
    few: float
    """The logarithm of how many times less than much there is to be found: who has heard little is not silent, for of a
    few lines none may be near in words."""
    memory: float = 0.0
    """How much nearer a memory is than any line."""

    def beside(self, memory: float) -> "Signs":
        """The same with the cosine of the nearest memory. It counts where no speaker is named: memories tell who spoke,
        and a name that they share with a question is no answer to it."""
        return self if self.names_a_speaker else replace(self, memory=max(0.0, memory - self.nearest))


WEIGHTS: Final = Signs(
    nearest=10.92, sure=0.51, names_a_speaker=-0.63, elsewhere=-15.25, voices=0.31, few=0.90, memory=7.96
)
BIAS: Final = -4.46


def about(text: str, names: Iterable[str]) -> frozenset[str]:
    """Which of these names a text tells of: it begins with one as with its subject, or calls something theirs."""
    said = text.lower()
    line = said.partition("\n")[0]
    return frozenset(
        name
        for name in names
        if name in said
        and ((said.startswith(name) and _SUBJECT.match(said, len(name))) or _calls_something(line, name))
    )


def _calls_something(line: str, name: str) -> bool:
    """Whether something is called theirs: no pattern is made of the name, for a question may have a thousand."""
    at = line.find(name)
    while at >= 0:
        if _EDGE.match(line, at) and _THEIRS.match(line, at + len(name)):
            return True
        at = line.find(name, at + 1)
    return False


def signs(asked: Asked, lines: Sequence[Line], found: int, confidence: float, coverage: float) -> Signs | None:
    """What is seen of a question, given MOST lines at most of so many that were found, how sure it is that they know
    anything, and the share of its words that one of them holds. None where it cannot be told: the question asks for
    something to be done, says more than it asks, or names a time, whose events answer in whatever words; one line holds
    all of its words; or not all have a vector yet."""
    if asked.statement or asked.advice or asked.first is not None or coverage >= WHOLE:
        return None
    cosines = [line.cosine for line in lines if line.cosine is not None]
    if not cosines or len(cosines) < len(lines):
        return None
    speakers = [rank.named(line.author) for line in lines]
    named = asked.names & frozenset(asked.core) & frozenset[str]().union(*speakers)
    whose = [names | line.about for names, line in zip(speakers, lines, strict=True)]
    own = [cosine for cosine, names in zip(cosines, whose, strict=True) if named & names]
    nearest = max(cosines)
    return Signs(
        nearest=nearest,
        sure=log(max(_SURE, confidence) / max(_SURE, 1 - confidence)),
        names_a_speaker=float(bool(named)),
        elsewhere=nearest - max([0.0, *own]) if named else 0.0,
        voices=log(len({line.author for line in lines})),
        few=log(MANY / min(MANY, max(1, found))),
    )


def speaks(seen: Signs) -> bool:
    """Whether what was found speaks of what is asked."""
    return BIAS + sum(a * b for a, b in zip(astuple(WEIGHTS), astuple(seen), strict=True)) >= LINE
