"""Texts as the word pieces that the bundled embedder reads: lower case, no accents, the longest known piece first."""

import json
import unicodedata
from collections.abc import Iterator

_LONGEST_WORD = 100
_CJK = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class _Signs(dict[int, str]):
    """What becomes of a sign: control signs vanish, any white space is a space, ideographs stand alone."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        if code == 0xFFFD or (unicodedata.category(sign) in ("Cc", "Cf", "Co") and sign not in "\t\n\r"):
            return self.setdefault(code, "")
        if sign.isspace():
            return self.setdefault(code, " ")
        if any(first <= code <= last for first, last in _CJK):
            return self.setdefault(code, f" {sign} ")
        return self.setdefault(code, sign)


class _Marks(dict[int, str]):
    """Accents vanish, and punctuation parts words."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        category = unicodedata.category(sign)
        if category == "Mn":
            return self.setdefault(code, "")
        parts = category[0] == "P" or (code < 128 and not sign.isalnum() and not sign.isspace())
        return self.setdefault(code, f" {sign} " if parts else sign.lower())


class WordPieces:
    """The pieces of a text as numbers, between a first and a last that stand for nothing."""

    def __init__(self, tokenizer: str) -> None:
        told = json.loads(tokenizer)
        self._vocabulary: dict[str, int] = told["model"]["vocab"]
        self._unknown = self._vocabulary["[UNK]"]
        self._first, self._last = self._vocabulary["[CLS]"], self._vocabulary["[SEP]"]
        self._signs, self._marks = _Signs(), _Marks()
        self._words: dict[str, tuple[int, ...]] = {}

    def read(self, text: str, longest: int) -> list[int]:
        """At most so many numbers; what comes after them is left out."""
        found = [self._first]
        for word in self._split(text):
            found += self._pieces(word)
            if len(found) >= longest:
                break
        return [*found[: longest - 1], self._last]

    def _split(self, text: str) -> Iterator[str]:
        clean = text.translate(self._signs)
        if not clean.isascii():
            clean = unicodedata.normalize("NFD", clean)
        yield from clean.translate(self._marks).split()

    def _pieces(self, word: str) -> tuple[int, ...]:
        known = self._words.get(word)
        if known is None:
            if len(self._words) > 100_000:
                self._words.clear()
            known = self._words[word] = self._cut(word)
        return known

    def _cut(self, word: str) -> tuple[int, ...]:
        if len(word) > _LONGEST_WORD:
            return (self._unknown,)
        found: list[int] = []
        start = 0
        while start < len(word):
            mark = "##" if start else ""
            for end in range(len(word), start, -1):
                piece = self._vocabulary.get(mark + word[start:end])
                if piece is not None:
                    found.append(piece)
                    start = end
                    break
            else:
                return (self._unknown,)
        return tuple(found)
