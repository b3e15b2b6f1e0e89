"""What a rule about secrets is, and how it is applied: in a time that grows with the text and no faster."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

Holds = Callable[[str], bool]
_MARK = re.compile(r"\[redacted:|^\[?redacted")


_INSIDE = re.compile(r"[a-z0-9]{3}")
"""What stands before a place at which no word begins: an escape has three signs at the most, and not these alone."""
_LETTERS = re.compile(r"[a-z0-9]*+")
_LONGEST_NAME = 80
"""Signs from where the name of a secret begins, with all that may hang on it, to the sign behind it."""
_LONG_NAME = re.compile(rf"[\w.-]{{{_LONGEST_NAME + 1}}}")
_NAME = re.compile(r"[\w.-]*+")


class Begins(Enum):
    """Where the matches of a rule begin, besides at a hint."""

    ANYWHERE = auto()
    WORD = auto()
    """Where a word does, or behind an escape."""
    NAME = auto()
    """Where a name does that soon ends."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What a kind of secret looks like. The group `secret` is cut out, or all of the match where the pattern has none.
    A match without it is no secret, and nothing in it is looked at again."""

    kind: str
    pattern: re.Pattern[str]
    hints: tuple[str, ...]
    """One of them stands in every text with such a secret, in lower case."""
    holds: Holds | None = None
    """A further test of the secret."""
    folded: bool = False
    """The pattern is about the text in lower case."""
    anchored: bool = False
    """The match begins with a hint: it is tried there and nowhere else."""
    begins: Begins = Begins.ANYWHERE
    lines: bool = False
    """The match stands on one line, a hint with it: other lines are not looked at."""
    beside: tuple[str, ...] = ()
    """One of these stands on that line, too."""


_EDGE = r"(?:(?<!{})|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{{2}}))"
"""Where a word begins, also behind the escape of a line's end or a sign that an address may not have."""


def token(kind: str, pattern: str, *hints: str, holds: Holds | None = None, within: bool = False) -> Rule:
    """A format that an issuer gave its secrets. It begins with one of the hints, or has one `within`."""
    edge = _EDGE.format(r"[\w-]" if within else "[A-Za-z0-9]")
    begins = Begins.ANYWHERE if within else Begins.WORD
    return Rule(kind, re.compile(edge + pattern), hints, holds, anchored=not within, begins=begins, lines=within)


def anchored(kind: str, pattern: str, *hints: str, holds: Holds | None = None) -> Rule:
    """A secret by the name or sign that its match begins with, in lower case."""
    return Rule(kind, re.compile(pattern), hints, holds, folded=True, anchored=True)


def named(kind: str, pattern: str, *hints: str, holds: Holds | None = None) -> Rule:
    """A secret by the name of it that its match begins with, in lower case."""
    return Rule(kind, re.compile(pattern), hints, holds, folded=True, anchored=True, begins=Begins.NAME)


def in_line(kind: str, pattern: str, *hints: str, holds: Holds | None = None, beside: tuple[str, ...] = ()) -> Rule:
    """A secret by what stands around it on its line, in lower case."""
    return Rule(kind, re.compile(pattern), hints, holds, folded=True, lines=True, beside=beside)


def fold(text: str) -> str:
    """The text in lower case, sign by sign, so that places in it are places in the text."""
    lower = text.replace("\u0130", "i").lower()  # the only sign that becomes two
    return lower if len(lower) == len(text) else text


def without(rule: Rule, text: str, lower: str, found: list[str], hints: Sequence[str]) -> tuple[str, str]:
    """The text without the secrets of one kind, and the same in lower case. The hints are those that are in it."""
    parts: list[str] = []
    position = 0
    named = "secret" in rule.pattern.groupindex
    for match in _matches(rule, text, lower, hints):
        start, end = match.span("secret") if named else match.span()
        secret = text[start:end]
        if start < position or _MARK.search(secret) or (rule.holds and not rule.holds(secret)):
            continue
        parts += [text[position:start], f"[redacted: {rule.kind}]"]
        position = end
        found.append(rule.kind)
    if not parts:
        return text, lower
    text = "".join([*parts, text[position:]])
    return text, fold(text)


def _matches(rule: Rule, text: str, lower: str, hints: Sequence[str]) -> Iterator[re.Match[str]]:
    looked_at = lower if rule.folded else text
    if rule.anchored:
        yield from _at_hints(rule, looked_at, lower, hints)
    elif rule.lines:
        for start, end in _lines_with(lower, hints):
            if not rule.beside or any(lower.find(word, start, end) >= 0 for word in rule.beside):
                yield from rule.pattern.finditer(looked_at, start, end)
    else:
        yield from rule.pattern.finditer(looked_at)


def _at_hints(rule: Rule, looked_at: str, lower: str, hints: Sequence[str]) -> list[re.Match[str]]:
    """One by one, also where they are many: one look everywhere is no quicker, and keeps other threads waiting."""
    found: list[re.Match[str]] = []
    for hint in hints:
        at = lower.find(hint)
        while at >= 0:
            match, further = None, at + 1
            if rule.begins is Begins.WORD and _INSIDE.match(lower, max(at - 3, 0), at):
                further = max(further, _end(_LETTERS, lower, at))
            elif rule.begins is Begins.NAME and _LONG_NAME.match(lower, at):
                further = max(further, _end(_NAME, lower, at) - _LONGEST_NAME)
            else:
                match = rule.pattern.match(looked_at, at)
            if match:
                found.append(match)
                further = max(further, match.end())
            at = lower.find(hint, further)
    return sorted(found, key=lambda match: match.start()) if len(hints) > 1 else found


def _end(run: re.Pattern[str], text: str, at: int) -> int:
    found = run.match(text, at)
    return found.end() if found else at


def _lines_with(lower: str, hints: Sequence[str]) -> list[tuple[int, int]]:
    """The lines that have one of the hints, in their order."""
    found: set[tuple[int, int]] = set()
    for hint in hints:
        at = lower.find(hint)
        while at >= 0:
            start, end = lower.rfind("\n", 0, at) + 1, lower.find("\n", at)
            end = len(lower) if end < 0 else end
            found.add((start, end))
            at = lower.find(hint, end)
    return sorted(found)
