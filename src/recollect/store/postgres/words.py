"""Texts as the text index reads them: the same words that SQLite's tokenizer makes."""

import unicodedata
from collections.abc import Iterator

PART = 100_000
"""Characters that surely fit into one tsvector, however many different words they are."""


class _Fold(dict[int, str]):
    """Letters, digits and the marks of scripts that need them stay; accents vanish; all else parts words."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        if 0x300 <= code <= 0x36F:
            return self.setdefault(code, "")
        return self.setdefault(code, sign if unicodedata.category(sign)[0] in "LMN" else " ")


_FOLD = _Fold()


def folded(text: str) -> str:
    """The words of a text, without accents and parted by spaces.

    PostgreSQL's own parser would take src/store.py for one word; here it is three, as a reader would search it.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", text.translate(_FOLD))


def parts(text: str) -> Iterator[str]:
    """A long text cut between words. A word longer than a part is of no use in an index and may be cut."""
    start = 0
    while len(text) - start > PART:
        end = text.rfind(" ", start, start + PART)
        end = end if end > start else start + PART
        yield text[start:end]
        start = end
    yield text[start:]
