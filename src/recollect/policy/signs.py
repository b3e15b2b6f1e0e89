"""What a text says by its signs, where its words say the same: `x < 5` is not `x > 5`, `a.example` not `a@example`,
3 % not 3 €, 5 mW not 5 MW. Punctuation and the marks of Markdown say nothing."""

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

_WRITTEN = frozenset("-./:@#&*+=<>~^|\\_!$%‰")
"""Signs of addresses, paths, options, operators and shares."""
_OPENS, _CLOSES = "\"'“”„‚‘’«»([{`*_", "\"'“”‘’«»)]}`*_.,;:!?…"  # noqa: RUF001
"""What stands around words without being part of them."""
_LINE = re.compile(r"(?m)^[ \t]*+(?:#++|[*+-]|>(?![ \t]\d))[ \t]")
"""How a line begins that is a heading, quoted, or one of a list. Before a number, > may be more than a quotation."""
_WORD = re.compile(r"\w++")
_NUMBER = re.compile(r"\d[\d.,:/-]*+")
_UNIT = re.compile(r"(?<=\d)\s?([^\W\d_]{1,2})(?!\w)")


def clash(a: str, b: str) -> bool:
    """Whether two texts of the same words say different things by their signs or capitals. Small pictures count where
    both have some: who adds one has said nothing else."""
    if signs(a) != signs(b) or _pictured_apart(a, b):
        return True
    ours, theirs = _cased(a), _cased(b)
    return any(theirs.get(word, written) != written for word, written in ours.items())


@lru_cache(maxsize=1024)
def signs(text: str) -> tuple[str, ...]:
    """The signs of a text, in no order. Words that are written in one with signs keep their place among these."""
    found: list[str] = []
    for token in _LINE.sub(" ", text).split():
        if token.isalnum():
            continue
        for sign in token:
            if sign in "%‰" or unicodedata.category(sign) == "Sc":
                found.append(sign)
        if token.rstrip("\"'”’»)]}`*_").endswith(("?", "？")):  # noqa: RUF001
            found.append("?")
        core = token.lstrip(_OPENS).rstrip(_CLOSES)
        kept = "".join(sign for sign in core if sign.isalnum() or sign == "_" or _says_something(sign))
        bare = _WORD.sub("", kept)
        if bare and not _NUMBER.fullmatch(kept) and (bare.strip("-") or kept.startswith("-")) and kept != "-":
            # In options, paths and the ends of addresses capitals are other letters.
            found.append(kept if kept.startswith("-") or "/" in kept else kept.casefold())
    return tuple(sorted(found))


def _says_something(sign: str) -> bool:
    """Whether it is more than punctuation. What may stand before a number or behind it is counted by itself."""
    return sign not in "%‰" and (sign in _WRITTEN or unicodedata.category(sign) == "Sm")


def _pictures(text: str) -> frozenset[str]:
    signs = () if text.isascii() else text
    return frozenset(sign for sign in signs if unicodedata.category(sign) == "So" and sign != "°")


def _pictured_apart(a: str, b: str) -> bool:
    ours, theirs = _pictures(a), _pictures(b)
    return bool(ours and theirs) and ours != theirs


@lru_cache(maxsize=1024)
def _cased(text: str) -> Mapping[str, str]:
    """Words in which capitals say something, as they are written: units, codes, and names in programs. Where only the
    first letter is one, or all are, they may say no more than where the word stands, or how loud."""
    mixed = (word for word in _WORD.findall(text) if not (word.islower() or word.isupper() or word.istitle()))
    return {word.casefold(): word for word in (*mixed, *_UNIT.findall(text)) if not word.isnumeric()}
