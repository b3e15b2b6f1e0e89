"""The delta header: what changed in memory since a reader was last told, in a few lines.

A reading of the journal's headers. Of several things that happened to one memory the strongest is told.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from recollect.domain.ids import ItemId, Seq
from recollect.domain.journal import Header

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


def sign(header: Header) -> str | None:
    """The sign of an entry; None where it is nothing to tell."""
    if header.op == "create" and header.undoes is not None:
        return "⟲restored"
    return _SIGNS.get(header.op)


def transitions(headers: Iterable[Header]) -> list[Transition]:
    """One transition per memory, newest first. What came and went in between is not told."""
    found: dict[ItemId, list[tuple[str, Seq]]] = {}
    for header in headers:
        told = sign(header)
        if told is not None and header.item_id is not None:
            found.setdefault(header.item_id, []).append((told, header.seq))
    told_of: list[Transition] = []
    for item_id, steps in found.items():
        signs = [step for step, _ in steps]
        last = signs[-1]
        if signs[0] == "+created" and last in ("−deleted", "◌soft_deleted"):  # noqa: RUF001
            continue
        strongest = last if last in ("−deleted", "◌soft_deleted", "⟲restored") else max(signs, key=_STRENGTH.index)  # noqa: RUF001
        told_of.append(Transition(item_id, strongest, steps[-1][1], signs.count("↔merged")))
    return sorted(told_of, key=lambda transition: -transition.seq)


def header(since: int, told: Sequence[tuple[Transition, Subject]]) -> tuple[str, ...]:
    """The first line and at most three bullets, the most important first; nothing where nothing is to tell."""
    if not told:
        return ()
    chosen = sorted(told, key=lambda pair: (-pair[1].importance, -pair[0].seq))[:MOST]
    return (f"Memory updates since rev {since}:", *(_bullet(transition, subject) for transition, subject in chosen))


def _bullet(transition: Transition, subject: Subject) -> str:
    words = _short(subject.words) if subject.words is not None else "a memory"
    if transition.sign == "↔merged":
        return f"- {transition.sign}: Combined {transition.merges + 1} notes about {words}"
    named = subject.category.replace("_", " ").capitalize()
    importance = f" (imp={subject.importance})" if transition.sign == "+created" else ""
    return f"- {transition.sign}: [{named}] {words}{importance}"


def _short(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1].rstrip() + "…"
