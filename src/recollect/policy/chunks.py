"""Long texts in pieces that an embedder can read whole, cut where a reader would pause."""

import re

from recollect.domain.event import Span

LONGEST = 800
"""Characters of a chunk at most: 200 tokens, since embedders read about 256 word pieces."""

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
