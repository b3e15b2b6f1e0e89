"""Packing: as much of the best as a budget of tokens holds, and never more, in either way of counting.

What is long is cut to the part that speaks of the question rather than left out.
"""

import heapq
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from recollect.domain.text import tokens

LEAST: Final = 24
"""Tokens of a slice that is still worth reading."""
SHARE: Final = 56
"""Tokens that each gets at least, before the room that is left is handed out."""
SHARES: Final = 10
"""How many share a budget at least, where there are so many."""
_BLOCK: Final = 4_000
_STEMS: Final = 64
"""Stems of a question that a part is chosen by, where it has more than that."""
_LEAST_STEMS: Final = 8
_LOOKED_FOR: Final = 8_000_000
"""Characters that are looked through for them, in one text, stem by stem."""
_CUT: Final = "…"

_PIECE = re.compile(r"'(?:s|t|m|d|re|ve|ll)\b|[A-Za-z]+|[0-9]{1,3}|[^\x00-\x7f]|[.]+|-+|=+|[*]+|[^\sA-Za-z0-9]")
_LETTERS_IN_A_ROW = re.compile(r"[A-Za-z]{5,}")
_LETTERS: Final = 9
"""A word of so many letters is one token, mostly."""
_WORD = re.compile(r"\S+")
_SEGMENT = re.compile(r"[^\n.!?。！？]*(?:[.!?。！？]+[\"')\]]*\s*|\n+|$)")  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class Piece:
    """Something to serve. `text` with `lead` before it, which is never cut; `cut` says whether the text may be.
    `parts`: the sentences that the text is made of, the most telling first; they are kept or left out whole."""

    text: str
    lead: str = ""
    cut: bool = False
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Packed:
    """What is served of a piece, by its place in the order."""

    place: int
    text: str
    tokens: int


def cost(text: str) -> int:
    """Tokens of a text and the end of its line, in the stricter of two counts.

    Characters / 4 holds for prose. It undercounts scripts without an alphabet, and texts of signs and short names.
    """
    return max(tokens(f"{text}\n"), strict(text))


def strict(text: str, whole: int = _LETTERS) -> int:
    """Tokens as a tokenizer might see them: long words in parts, signs or runs of one, every letter outside of ASCII.
    Beside three tokenizers in wide use, `cost` is within a few hundredths of the worst of them on English prose and
    code; it is too low by a quarter for other languages in Latin letters. `whole`: a word of so
    many letters is one token."""
    return 1 + len(_PIECE.findall(text)) + sum([(len(word) - 1) // whole for word in _LETTERS_IN_A_ROW.findall(text)])


def pack(pieces: Sequence[Piece], budget: int, weight: Mapping[str, float], shares: int = SHARES) -> list[Packed]:
    """The pieces that fit, in their order. `weight`: the stems of the question's words and what each is worth.

    Each in turn gets its room or, where it may be cut, a share of the budget; one that does not fit even so is passed
    over. The room that is left in the end goes to those that were cut, best first.
    """
    share = max(SHARE, budget // max(1, min(len(pieces), shares)))
    left = budget
    kept: list[Packed] = []
    for place, piece in enumerate(pieces):
        served = _served(piece, min(share, left) if piece.cut else left, weight)
        if served is not None and (price := cost(served)) <= left:
            kept.append(Packed(place, served, price))
            left -= price
    return _grown(pieces, kept, left, weight)


def _grown(pieces: Sequence[Piece], kept: list[Packed], left: int, weight: Mapping[str, float]) -> list[Packed]:
    for number, packed in enumerate(kept):
        piece = pieces[packed.place]
        if left < LEAST:
            break
        if not piece.cut or packed.text == piece.lead + piece.text:
            continue
        longer = _served(piece, packed.tokens + left, weight)
        if longer is not None and (price := cost(longer)) <= packed.tokens + left and len(longer) > len(packed.text):
            left -= price - packed.tokens
            kept[number] = Packed(packed.place, longer, price)
    return kept


def _served(piece: Piece, room: int, weight: Mapping[str, float]) -> str | None:
    whole = piece.lead + piece.text
    if tokens(whole) <= room and cost(whole) <= room:
        return whole
    if not piece.cut or room < LEAST:
        return None
    for count in range(len(piece.parts) - 1, 0, -1):
        if cost(fewer := piece.lead + " ".join(piece.parts[:count])) <= room:
            return fewer
    part = slice_of(piece.parts[0] if piece.parts else piece.text, weight, lambda text: cost(piece.lead + text) <= room)
    return piece.lead + part if part else None


def slice_of(text: str, weight: Mapping[str, float], fits: Callable[[str], bool]) -> str:
    """The part of a text that speaks most of the question: whole sentences around the best one while they fit, then as
    many words of the next one as do."""
    weight = _spoken_of(text, weight)
    start, end = _block(text, weight)
    spans = [found.span() for found in _SEGMENT.finditer(text, start, end) if found.group().strip()]
    if not spans:
        return ""
    worth = [worth_of(text[start:end], weight) for start, end in spans]
    best = max(range(len(spans)), key=lambda number: (worth[number], -number))
    first = last = best
    if not fits(_between(text, spans[first][0], spans[last][1])):
        return _shortened(text, spans[best], fits)
    while True:
        grown = [
            (worth[number], number < first, number)
            for number in (first - 1, last + 1)
            if 0 <= number < len(spans)
            and fits(_between(text, spans[min(first, number)][0], spans[max(last, number)][1]))
        ]
        if not grown:
            return _filled(text, spans, first, last, fits)
        number = max(grown)[2]
        first, last = min(first, number), max(last, number)


def _filled(text: str, spans: Sequence[tuple[int, int]], first: int, last: int, fits: Callable[[str], bool]) -> str:
    """These sentences with as many words of the one behind them as fit; of the last ones, with those of the one
    before them."""
    start, end = spans[first][0], spans[last][1]
    behind = last + 1 < len(spans)
    if not behind and first == 0:
        return _between(text, start, end)
    low, high = spans[last + 1] if behind else spans[first - 1]
    words = [found.span() for found in _WORD.finditer(text, low, high)]
    grown = [(start, word[1]) for word in words] if behind else [(word[0], end) for word in reversed(words)]
    few, many = 0, len(grown)
    while few < many:
        middle = (few + many + 1) // 2
        if fits(_between(text, *grown[middle - 1])):
            few = middle
        else:
            many = middle - 1
    return _between(text, *(grown[few - 1] if few else (start, end)))


def _spoken_of(text: str, weight: Mapping[str, float]) -> Mapping[str, float]:
    """The stems that the text has, and of very many the weightiest: a long question about a long text costs no more
    than either of them."""
    if len(weight) <= _LEAST_STEMS:
        return weight
    most = max(_LEAST_STEMS, min(_STEMS, _LOOKED_FOR // len(text)))
    lower = text.lower()
    heaviest = heapq.nlargest(4 * most, weight, key=weight.__getitem__)
    there = set([stem for stem in heaviest if stem in lower][:most])
    return {stem: value for stem, value in weight.items() if stem in there}


def _block(text: str, weight: Mapping[str, float]) -> tuple[int, int]:
    """The part of a very long text to look into; all of one that is not."""
    if len(text) <= 2 * _BLOCK:
        return 0, len(text)
    starts = range(0, len(text) - _BLOCK // 2, _BLOCK // 2)
    start = max(starts, key=lambda start: (worth_of(text[start : start + _BLOCK], weight), -start))
    return start, min(start + _BLOCK, len(text))


def worth_of(segment: str, weight: Mapping[str, float]) -> float:
    """How much of the question a text speaks of."""
    lower = segment.lower()
    return sum(value for stem, value in weight.items() if stem in lower)


def _between(text: str, start: int, end: int) -> str:
    part = text[start:end].strip()
    before = f"{_CUT} " if text[:start].strip() else ""
    return f"{before}{part} {_CUT}" if text[end:].strip() else f"{before}{part}"


def _shortened(text: str, span: tuple[int, int], fits: Callable[[str], bool]) -> str:
    """As much of one long sentence as fits, from its beginning."""
    low, high = 0, span[1] - span[0]
    while low < high:
        middle = (low + high + 1) // 2
        if fits(_between(text, span[0], span[0] + middle)):
            low = middle
        else:
            high = middle - 1
    return _between(text, span[0], span[0] + low) if low else ""
