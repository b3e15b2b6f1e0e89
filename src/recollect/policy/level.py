"""At which level a memory is served. Agents can only ask for more: no rule here takes a level from outside."""

import re

from recollect.domain.item import Fact, Item
from recollect.domain.level import Level
from recollect.domain.turn import NEED_MORE_CONTEXT, Reason, Task

TOP = Level.R5
DOUBTFUL = 0.5
"""A fact that is less sure than this is served with its evidence."""
_TOKEN = re.compile(rf"(?<!\w){NEED_MORE_CONTEXT}(?!\w)")


def start(item: Item, promoted: Level | None = None) -> Level:
    """The level of a first serving: that of the version which was promoted, else the memory's own, and never below the
    floor of a pin."""
    chosen = item.default_level if promoted is None else promoted
    return max(chosen, item.pinned_min_level or Level.R1)


def unsure(item: Item) -> bool:
    """Whether a memory is itself in doubt: it says what somebody was hardly sure of."""
    return isinstance(item.body, Fact) and item.body.confidence < DOUBTFUL


def asks_for_more(said: str) -> bool:
    """Whether somebody says that what they were given is not enough: the token, as a word of its own."""
    return _TOKEN.search(said) is not None


def without_token(said: str) -> str:
    """What else was said."""
    return " ".join(_TOKEN.sub(" ", said).split()) if asks_for_more(said) else said.strip()


def steps(task: Task, contested: bool, said: str, served: int, bumps: int) -> int:
    """How many steps above its start a memory is served: one for what the task, an open contradiction or a doubt calls
    for, and one for each time that it was not enough.

    A person who marks an answer and has it made again says one thing twice, as does an agent that asks for more and
    then asks again: neither counts double.
    """
    standing = task is not Task.ROUTINE or contested
    return int(standing) + max(served, bumps, int(asks_for_more(said)))


def choose(first: Level, steps: int) -> Level:
    """The level so many steps up the ladder; the evidence itself is its top."""
    return Level(min(TOP, first + max(0, steps)))


def beyond(first: Level, steps: int) -> int:
    """Steps that are left when the top is reached: further evidence rather than a further level."""
    return max(0, first + steps - TOP)


def reason(task: Task, contested: bool, said: str, served: int, bumps: int) -> Reason | None:
    """Why more is served than by default; None where it is not."""
    if task in (Task.AUDIT, Task.QUOTE):
        return Reason.AUDIT
    if task is Task.DISPUTE:
        return Reason.DISPUTE
    if asks_for_more(said):
        return Reason.UNCERTAINTY
    if served or bumps:
        return Reason.DISPUTE
    return Reason.UNCERTAINTY if contested else None
