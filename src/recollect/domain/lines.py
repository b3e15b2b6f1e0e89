"""Text as lines: what ends a line, what nobody sees in it, and names that stand in a frame.

Standard library only, and little of it: the hook uses this.
"""

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\xad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
)
"""Signs that print nothing: controls, marks that turn text round, and those that hide words from people."""
_BREAK = re.compile("[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
"""What ends a line, for whoever reads it: the same that `str.splitlines` goes by."""
_PLAIN = re.compile(r"[^\W_](?:[\w .'\u2019_@+/&()*=~%$!#\u203a-]|:(?=\S))*")
"""Names that hold nothing that a frame is made of, and begin as no line of a frame begins."""

_BLANKS = re.compile(" +")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f]")


def without_unseen(text: str) -> str:
    """The text without the signs that print nothing."""
    return text if text.isascii() and text.isprintable() else _UNSEEN.sub("", text)


def split_lines(text: str) -> list[str]:
    """The lines of a text, whatever ends them; without what prints nothing. One at least."""
    return without_unseen(text).splitlines() or [""]


def one_line(text: str) -> str:
    """The text on one line. What a control character parts stays two words."""
    return " ".join(without_unseen(_CONTROL.sub(" ", text)).split())


def one_line_names(given: Mapping[str, str | Iterable[str] | None]) -> None:
    """Refuses names, each under what it is, that break a line or hold what nobody sees. They are given from outside and
    stand in frames, and nothing but Recollect begins a line there. What is stored is not asked: it is framed."""
    for what, value in given.items():
        for name in [value] if isinstance(value, str) else value or ():
            if (found := _BREAK.search(name) or _UNSEEN.search(name)) is not None:
                kind = "a line break" if _BREAK.match(found[0]) else "a control or invisible character"
                raise ValueError(f"{what} holds {kind} at position {found.start()}: remove it")


@lru_cache(maxsize=4096)
def framed_name(text: str) -> str:
    """A name as it stands in a frame: as it is where nothing in it can be taken for a part of the frame, else in
    quotation marks, spelt as JSON spells it, on one line."""
    text = _BLANKS.sub(" ", text).strip(" ")
    bare = text if text.isascii() else "".join(sign for sign in text if not _on_top(sign))
    if text.isprintable() and _PLAIN.fullmatch(bare):
        return text
    return f'"{"".join(map(_spelt, text))}"'


def _on_top(sign: str) -> bool:
    from unicodedata import category

    return category(sign) in ("Mn", "Mc")


def _spelt(sign: str) -> str:
    if not sign.isprintable() or _UNSEEN.match(sign) or sign in '"\\':
        return json.dumps(sign)[1:-1]
    return sign
