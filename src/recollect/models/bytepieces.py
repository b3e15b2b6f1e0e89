"""Texts as the word pieces that the larger judge reads: bytes, joined as often as its list of joints allows."""

import json
import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

_BLANK = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_SHORT = re.compile(r"'(?:s|t|re|ve|m|ll|d)")
_RUN = re.compile(r" ?L+| ?N+| ?O+|[ B]+(?![LNO])|[ B]+")
"""Letters, numbers, other signs, each with the space before them; of blanks, the last one is left to what follows."""


class _Kinds(dict[int, str]):
    """What a sign is: a letter, a number, a space, another blank, or something else."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        if sign in _BLANK:
            return self.setdefault(code, " " if sign == " " else "B")
        kind = unicodedata.category(sign)[0]
        return self.setdefault(code, kind if kind in "LN" else "O")


def _visible() -> dict[int, str]:
    """The sign that stands for each byte in the vocabulary: its own where it can be seen, else one from beyond them."""
    seen = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    unseen = [byte for byte in range(256) if byte not in seen]
    return {byte: chr(byte) for byte in seen} | {byte: chr(256 + place) for place, byte in enumerate(unseen)}


class BytePieces:
    """The pieces of a text as numbers. Signals to the model that stand in a text are words of it like others."""

    def __init__(self, tokenizer: str) -> None:
        told = json.loads(tokenizer)["model"]
        self._vocabulary: dict[str, int] = told["vocab"]
        self._joints: dict[tuple[str, str], int] = {(a, b): rank for rank, (a, b) in enumerate(told["merges"])}
        self._signs = _visible()
        self._kinds = _Kinds()
        self._words: dict[str, tuple[int, ...]] = {}

    def read(self, text: str, longest: int) -> list[int]:
        """At most so many numbers; what comes after them is left out."""
        found: list[int] = []
        for word in self._split(text):
            found += self._pieces(word)
            if len(found) >= longest:
                break
        return found[:longest]

    def _split(self, text: str) -> Iterator[str]:
        kinds, at = text.translate(self._kinds), 0
        while at < len(text):
            run = _SHORT.match(text, at) or _RUN.match(kinds, at)
            assert run is not None, "every sign is of a kind"
            yield text[at : run.end()]
            at = run.end()

    def _pieces(self, word: str) -> tuple[int, ...]:
        known = self._words.get(word)
        if known is None:
            if len(self._words) > 100_000:
                self._words.clear()
            known = self._words[word] = tuple(self._vocabulary[piece] for piece in self._joined(word))
        return known

    def _joined(self, word: str) -> list[str]:
        """The bytes of a word, the earliest joint of the list first. Bytes that the vocabulary lacks are left out."""
        signs = (self._signs[byte] for byte in word.encode())
        parts = [sign for sign in signs if sign in self._vocabulary]
        last = len(self._joints)
        while len(parts) > 1:
            ranks = [self._joints.get(two, last) for two in pairwise(parts)]
            first = min(ranks)
            if first == last:
                break
            parts = _together(parts, ranks, first)
        return parts


def _together(parts: list[str], ranks: list[int], first: int) -> list[str]:
    """The parts with every joint of this rank closed, from the left."""
    found: list[str] = []
    at = 0
    while at < len(parts):
        if at < len(ranks) and ranks[at] == first:
            found.append(parts[at] + parts[at + 1])
            at += 2
        else:
            found.append(parts[at])
            at += 1
    return found
