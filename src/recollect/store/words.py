"""Texts and words as the text indexes of both engines take them.

Of scripts that put no spaces between words their tokenizers make one word of a whole run of letters. Here every letter
becomes a word of its own, in texts and in queries alike; a run in a query is looked for by its pairs of neighbours.
"""

import re
from itertools import pairwise

# Thai, Lao, Burmese, Khmer; the scripts of Chinese, Japanese and Korean with their extensions and half-width forms.
_LETTERS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003134f"
)
_LETTER = re.compile(f"[{_LETTERS}]")
_RUN = re.compile(f"[{_LETTERS}]+")
_VERSION = re.compile(r"\bv(?=\d+\.\d)", re.IGNORECASE)
"""The v of v2.14.3, which is also written without it."""
_BEGINNING = re.compile(r"(?:[\W_]*+[^\W_]++){32}+")
"""So much of a long word is looked for. An index compares every part of a phrase at every place, and a word without a
space may have thousands."""


def indexed(text: str, names: str) -> str:
    """What the text index takes of a text and the names that it is found by besides."""
    return spaced(f"{names}\n{text}" if names else text)


def spaced(text: str) -> str:
    """The text with spaces around every letter of such a script, and behind the v of a version."""
    if "." in text:
        text = _VERSION.sub("v ", text)
    return text if text.isascii() else _LETTER.sub(r" \g<0> ", text)


def phrases(word: str) -> list[str]:
    """What a word of a query is looked for by: any of these, each found as a phrase."""
    word = _VERSION.sub("", word.replace("\0", " ").encode(errors="ignore").decode())
    if word.isascii():
        return [_beginning(word)] if word.strip() else []
    runs = [run[0] for run in _RUN.finditer(word)]
    pairs = [pair for run in runs for pair in (pairwise(run) if len(run) > 1 else [(run,)])]
    rest = [_beginning(part) for part in _RUN.split(word) if part.strip()]
    return list(dict.fromkeys([*(" ".join(pair) for pair in pairs), *rest]))


def _beginning(word: str) -> str:
    found = _BEGINNING.match(word)
    return found[0] if found else word
