"""Long texts in pieces that an embedder can read whole, cut where a reader would pause."""

import re
import zlib
from collections.abc import Sequence

from recollect.domain.event import Span

LONGEST = 800
"""Characters of a chunk at most: 200 tokens, since embedders read about 256 word pieces."""
MANY = 32
"""Chunks that are found by their meaning whatever they hold; of more, those that say something new."""
_NEW, _LETTERS, _WORDS = 0.2, 0.4, 16
"""What is left of a chunk that says something new when it is packed behind those before it, and the share of letters
and the different words that prose, code and logs have."""
_WORD = re.compile(r"[^\W_]+")

_PAUSES = (re.compile(r"\n\s*\n"), re.compile(r"(?<=[.!?。！？])\s"), re.compile(r"\n"), re.compile(r"\s"))  # noqa: RUF001


def chunks(text: str, longest: int = LONGEST) -> tuple[Span, ...]:
    """The chunks of a text in their order, without gaps; none where it is short enough to be read at once."""
    if len(text) <= longest:
        return ()
    found: list[Span] = []
    start = 0
    while start < len(text):
        end = _cut(text, start, longest)
        found.append(Span(start, end))
        start = end
    return tuple(found)


def _cut(text: str, start: int, longest: int) -> int:
    """Where the chunk that starts here ends: at the strongest pause in its second half, else at the limit."""
    limit = start + longest
    if len(text) <= limit:
        return len(text)
    for pause in _PAUSES:
        ends = [found.end() for found in pause.finditer(text, start + longest // 2, limit)]
        if ends:
            return ends[-1]
    return limit


def telling(text: str, spans: Sequence[Span]) -> list[int]:
    """The numbers of the chunks that are worth finding by their meaning, counted from 1. All of them, unless they are
    many: then the first, and those that are made of words and do not repeat what stands before them. Signs, digits and
    the same lines over and over mean nothing, and the words in them are found as words."""
    if len(spans) <= MANY:
        return list(range(1, len(spans) + 1))
    found = [1]
    packer = zlib.compressobj()
    for number, span in enumerate(spans, 1):
        chunk = text[span.start : span.end]
        data = chunk.encode(errors="replace")
        packed = len(packer.compress(data)) + len(packer.flush(zlib.Z_SYNC_FLUSH))
        if number > 1 and packed >= _NEW * len(data) and _wordy(chunk):
            found.append(number)
    return found


def _wordy(chunk: str) -> bool:
    letters = sum(map(str.isalpha, chunk))
    return letters >= _LETTERS * len(chunk) and len(set(_WORD.findall(chunk))) >= _WORDS
