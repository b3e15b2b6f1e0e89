"""The delta header: what changed in memory since a reader was last told, in a few lines.

A reading of the journal's headers. Of several things that happened to one memory the strongest is told.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from recollect.domain.event import Trust
from recollect.domain.ids import ItemId, Seq
from recollect.domain.journal import Header
from recollect.domain.lines import one_line
from recollect.policy.rendering import category_lead

MOST: Final = 3
LONGEST: Final = 160
"""Characters of a memory's words in a bullet."""

_SIGNS: Final[Mapping[str, str]] = {
    "create": "+created",
    "withdraw": "−deleted",  # noqa: RUF001
    "erase": "−deleted",  # noqa: RUF001
    "soft_delete": "◌soft_deleted",
    "restore": "⟲restored",
    "merge": "↔merged",
    **dict.fromkeys(
        ("update", "supersede", "promote", "pin", "unpin", "undo", "derive", "discard", "protect", "unprotect"),
        "↑updated",
    ),
}
_GONE: Final = frozenset({"−deleted", "◌soft_deleted"})  # noqa: RUF001
_LIFE: Final = _GONE | {"+created", "⟲restored"}
"""What tells whether a memory is there."""
_NOTHING: Final[Mapping[Seq, str]] = {}
_STRENGTH: Final = ("↑updated", "⟲restored", "↔merged", "+created", "◌soft_deleted", "−deleted")  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class Transition:
    """What became of one memory, as its sign says it; how often its like was merged into it."""

    item_id: ItemId
    sign: str
    seq: Seq
    merges: int = 0


@dataclass(frozen=True, slots=True)
class Subject:
    """A memory as the header names it. `words` is None where they are gone."""

    category: str
    importance: int
    words: str | None
    trust: Trust = Trust.TRUSTED


def sign(header: Header, undone: str | None = None) -> str | None:
    """The sign of an entry; None where it is nothing to tell. `undone`: the operation that it takes back."""
    if header.undoes is not None and (header.op == "create" or (header.op == "undo" and undone == "soft_delete")):
        return "⟲restored"
    if header.op == "undo" and undone == "restore":
        return "◌soft_deleted"
    return _SIGNS.get(header.op)


def transitions(headers: Iterable[Header], undone: Mapping[Seq, str] = _NOTHING) -> list[Transition]:
    """One transition per memory, newest first. What came and went in between is not told. `undone`: the operations of
    the entries that these take back, where they are not among these."""
    found: dict[ItemId, list[tuple[str, Seq]]] = {}
    ops = dict(undone)
    for header in headers:
        ops[header.seq] = header.op
        told = sign(header, ops.get(header.undoes) if header.undoes is not None else None)
        if told is not None and header.item_id is not None:
            found.setdefault(header.item_id, []).append((told, header.seq))
    told_of: list[Transition] = []
    for item_id, steps in found.items():
        signs = [step for step, _ in steps]
        last = next((one for one in reversed(signs) if one in _LIFE), None)  # whatever else was done to it since
        if signs[0] == "+created" and last in _GONE:
            continue
        strongest = last if last in _GONE or last == "⟲restored" else max(signs, key=_STRENGTH.index)
        told_of.append(Transition(item_id, strongest, steps[-1][1], signs.count("↔merged")))
    return sorted(told_of, key=lambda transition: -transition.seq)


def header(since: int | None, told: Sequence[tuple[Transition, Subject]]) -> tuple[str, ...]:
    """The first line and at most three bullets, the most important first; nothing where nothing is to tell. `since`:
    the revision up to which the reader was told; None where it was told nothing yet."""
    if not told:
        return ()
    chosen = sorted(told, key=lambda pair: (-pair[1].importance, -pair[0].seq))[:MOST]
    first = "Memory updates, nothing told before:" if since is None else f"Memory updates since rev {since}:"
    return (first, *(_bullet(transition, subject) for transition, subject in chosen))


def _bullet(transition: Transition, subject: Subject) -> str:
    words = _short(subject.words) if subject.words is not None else "a memory"
    if transition.sign == "↔merged":
        untrusted = "untrusted " if subject.trust is Trust.UNTRUSTED else ""
        return f"- {transition.sign}: Combined {transition.merges + 1} {untrusted}notes about {words}"
    named = subject.category.replace("_", " ").capitalize()
    importance = f" (imp={subject.importance})" if transition.sign == "+created" else ""
    return f"- {transition.sign}: {category_lead(named, subject.trust)}{words}{importance}"


def _short(words: str) -> str:
    line = one_line(words)
    return line if len(line) <= LONGEST else line[: LONGEST - 1].rstrip() + "…"
