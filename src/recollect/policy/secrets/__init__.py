"""Secrets are taken out before anything is written: rules for formats that have a name, no guess from randomness.

A commit hash, a UUID or a digest looks as random as a key, and cutting those out would damage the evidence. So a rule
needs a sign that a person or an issuer put there: a prefix, a key name, a checksum, or words such as "my
password is".
"""

import re
from dataclasses import dataclass

from recollect.policy.secrets.commands import COMMANDS
from recollect.policy.secrets.formats import FORMATS, SHORTEST
from recollect.policy.secrets.named import NAMED
from recollect.policy.secrets.reading import as_read
from recollect.policy.secrets.rule import Rule, fold, without
from recollect.policy.secrets.spoken import A_NUMBER, NUMBERS, SPOKEN

__all__ = ["Redacted", "redact"]


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets, and the kinds that were in it, in order, each once."""

    text: str
    found: tuple[str, ...] = ()


def redact(text: str) -> Redacted:
    """The text with every secret replaced by what kind it was. What is already replaced stays as it is.

    A secret that only shows once signs are read as they are meant is found as well; the text is then kept so."""
    if len(text) < _SHORTEST:
        return Redacted(text)
    left = _redact(text)
    plain = as_read(left.text)
    if plain == left.text:
        return left
    hidden = _redact(plain)
    return Redacted(hidden.text, tuple(dict.fromkeys((*left.found, *hidden.found)))) if hidden.found else left


_SHORTEST = 6
"""No secret is told in less: a name, and three figures."""


def _redact(text: str) -> Redacted:
    found: list[str] = []
    text = _without_formats(text, found)
    lower = fold(text)
    there = {hint for root, hints in _HINTS.items() if root in lower for hint in hints if hint in lower}
    for rule in _RULES if there else ():
        if not there.isdisjoint(rule.hints):
            text, lower = without(rule, text, lower, found, [hint for hint in rule.hints if hint in there])
    if A_NUMBER.search(text):
        for rule in NUMBERS:
            text, lower = without(rule, text, lower, found, ())
    return Redacted(text, tuple(dict.fromkeys(found)))


def _without_formats(text: str, found: list[str]) -> str:
    """The text without secrets that have a format of their own. They stand in long words: the others are not read."""
    words = [word for word in text.split() if len(word) >= SHORTEST]
    if not words:
        return text
    packed = "\n".join(words)
    lower = fold(packed)
    for hint, rules in _BY_HINT.items():
        if hint in lower:
            for rule in rules:
                packed, lower = without(rule, packed, lower, found, rule.hints)
    parts: list[str] = []
    at = 0
    for word, left in zip(words, packed.split("\n"), strict=True):
        if left != word:
            place = text.index(word, at)
            parts += [text[at:place], left]
            at = place + len(word)
    return "".join([*parts, text[at:]])


_PRIVATE_KEYS = (
    Rule(
        "private key",
        re.compile(
            r"-----BEGIN (?:[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?|OpenVPN Static key V1)-----"
            r"(?:[^-]|-(?!----)){0,20000}+"
            r"(?:-----END [A-Za-z0-9 ]{0,40}-----)?"
        ),
        ("private key", "static key"),
    ),
    Rule(
        "private key",
        re.compile(r"---- BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY ----[^-]{0,20000}+(?:---- END [A-Z0-9 ]{0,40}----)?"),
        ("private key",),
    ),
    Rule(
        "private key",
        re.compile(r"Private-Lines: \d{1,4}\s{1,4}(?P<secret>(?:[A-Za-z0-9+/=]{20,100}+\s{1,4}){1,400}+)"),
        ("private-lines:",),
    ),
)
_RULES: tuple[Rule, ...] = (*_PRIVATE_KEYS, *NAMED, *COMMANDS, *SPOKEN)


def _rooted() -> dict[str, list[str]]:
    """The hints by what is in all of them: where that is not there, they need not be looked for."""
    hints = dict.fromkeys(hint for rule in _RULES for hint in rule.hints)
    roots = [*_ROOTS, *(hint for hint in sorted(hints, key=len))]
    found: dict[str, list[str]] = {}
    for hint in hints:
        found.setdefault(next(root for root in roots if root in hint), []).append(hint)
    return found


_ROOTS = ("/", "=", " -", "private", "log", "safe", "sig", "contrase")
_HINTS = _rooted()


def _by_hint() -> dict[str, list[Rule]]:
    """The formats under their hints, in order."""
    found: dict[str, list[Rule]] = {}
    for rule in FORMATS:
        for hint in rule.hints:
            found.setdefault(hint, []).append(rule)
    return found


_BY_HINT = _by_hint()
