"""Sentences of a conversation as a quotation: contiguous, short, cut at a clause, with the days that they mean."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from recollect.domain.event import Event
from recollect.domain.quotation import GAP, Excerpt, Meant, Quotation
from recollect.policy.speech.days import dated
from recollect.policy.speech.hearing import name_of
from recollect.policy.speech.sentences import Sentence
from recollect.policy.wording import LONGEST

CUT = "…"
_STRONG = re.compile(
    r"[;.!?…؛؟۔।]\s+|[。！？；]|\s[-\u2013—]+\s|,\s+(?=(?:and|but|so|because|then|also|plus|und|aber|et|mais|y|pero)\s)"  # noqa: RUF001
)
_WEAK = re.compile(r"[,:]\s+|[、，،]\s*")  # noqa: RUF001
_JOINT = re.compile(r"(?:and|but|so|because|then|also|plus)\s+", re.IGNORECASE)
_BINDING = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|cannot|without|unless|if|only|except|until|but|nicht|kein\w*|nie|"
    r"wenn|ne|pas|jamais|si|nunca|не|нет|если)\b|n't\b|n’t\b",  # noqa: RUF001
    re.IGNORECASE,
)
"""Negations and conditions: what is cut off may hold none of what is kept."""
_TELLING = re.compile(r"\d|(?<=[\w,] )(?!I\b)[A-ZÀ-ÖØ-Þ]\w")
"""A number or a name: without one, the rest of a long sentence is not worth quoting by itself."""
_RELATIVE = re.compile(r"(?:which|who|that|it|this|these|they)\b", re.IGNORECASE)
_JUDGES = re.compile(r"\W*(?:which|although|though|however|except|yet)\b", re.IGNORECASE)  # what was said before
_LEAST = 40
"""Characters of the shortest piece of a sentence that is worth quoting."""
_ASKED = 170
"""Characters of what is quoted before a remark."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a turn, and whether something of its sentence was cut off before and after it."""

    place: int
    start: int
    end: int
    before: bool = False
    after: bool = False


def pieces(place: int, sentence: Sentence, room: int) -> list[Piece]:
    """The sentence, or, where it is longer than there is room, the stretches of it that may stand alone."""
    if len(sentence.text) <= room:
        return [Piece(place, sentence.start, sentence.end)]
    found: list[Piece] = []
    position = 0
    while position < len(sentence.text) and len(found) < 2:
        end = _cut(sentence.text, position, room - 2)
        if end is None:
            break
        stop = sentence.start + end
        rest = sentence.text[position:end]
        if found and (not _TELLING.search(rest) or _RELATIVE.match(rest) or rest.endswith("?")):
            break
        found.append(Piece(place, sentence.start + position, stop, position > 0, stop < sentence.end))
        position = _resumed(sentence.text, end)
        while position < len(sentence.text) and not sentence.text[position].isalnum():
            position += 1
        joint = _JOINT.match(sentence.text, position)
        position = joint.end() if joint else position
    return found


def _resumed(text: str, end: int) -> int:
    """Where the rest of a sentence begins that was cut there. What a negation or a condition before a comma still holds
    is no part of it."""
    begins = max((match.end() for match in _STRONG.finditer(text, 0, end)), default=0)
    if _STRONG.match(text, end) or not _BINDING.search(text[begins:end]):
        return end
    following = _STRONG.search(text, end)
    return following.start() if following else len(text)


def _cut(text: str, start: int, room: int) -> int | None:
    """Where a stretch that begins there and fits may end: at a strong break, else at a comma behind which nothing is
    negated and no condition follows."""
    if len(text) - start <= room:
        return len(text)
    strong = [match.start() for match in _STRONG.finditer(text, start) if match.start() - start <= room]
    strong = [stop for stop in strong if stop - start >= _LEAST]
    weak = [match.start() for match in _WEAK.finditer(text, start) if _LEAST <= match.start() - start <= room]
    best = next((stop for stop in reversed(strong) if not _JUDGES.match(text, stop)), None)
    for stop in reversed(weak):
        if best is not None and stop < best + _LEAST:
            break
        following = _STRONG.search(text, stop)
        rest = text[stop : following.start() if following else len(text)]
        if not _BINDING.search(rest) and not _JUDGES.match(rest):
            return stop
    return best


def quotation(turns: Sequence[Event], quoted: Sequence[Piece], asked: Sequence[Piece] = ()) -> Quotation:
    """The words of some stretches in a frame: those of one turn together, those of several parted by dots."""
    framed = list(_joined(turns, asked))
    joined = list(_joined(turns, quoted))
    parts = [_words(turns[one.place].text, one) for one in joined]
    last = turns[quoted[-1].place]
    words, before = GAP.join(parts), GAP.join(_words(turns[one.place].text, one) for one in framed)
    starts = accumulate((len(part) + len(GAP) for part in parts), initial=0)
    days = [
        Meant(start + meant.after, meant.time)
        for one, part, start in zip(joined, parts, starts, strict=False)
        for meant in dated(part, turns[one.place].ts, before).meant
    ]
    return Quotation(
        speaker=name_of(last),
        said_at=last.ts,
        words=words,
        excerpts=tuple(Excerpt(turns[one.place].id, one.start, one.end) for one in (*framed, *joined)),
        meant=tuple(days),
        asked=before,
        place=_place(last),
    )


def fits(made: Quotation) -> bool:
    return len(made.framed) <= LONGEST


def room_of(turn: Event) -> int:
    """Characters that the words of a turn may have, so that they fit with their frame and a day or two in brackets."""
    return LONGEST - len(_place(turn) or name_of(turn)) - 50


def unended(place: int, sentence: Sentence) -> Piece:
    """A sentence without the sign that ends it: what follows in another turn goes on from it."""
    return Piece(place, sentence.start, sentence.start + len(sentence.text.rstrip(" .!?…")) or sentence.end)


def leading(asked: Sequence[tuple[int, Sentence]]) -> list[Piece]:
    """What a remark is quoted with: as much of what was said last as fits, or the end of one long sentence."""
    first, room = len(asked), _ASKED
    while first and (room := room - len(asked[first - 1][1].text) - 1) >= 0:
        first -= 1
    if first < len(asked):
        return [Piece(place, one.start, one.end) for place, one in asked[first:]]
    place, sentence = asked[-1]
    breaks = [match.end() for match in _WEAK.finditer(sentence.text) if len(sentence.text) - match.end() <= _ASKED]
    blanks = [match.end() for match in re.finditer(r"\s", sentence.text) if len(sentence.text) - match.end() <= _ASKED]
    start = (breaks or blanks or [len(sentence.text) - _ASKED])[0]
    return [Piece(place, sentence.start + start, sentence.end, before=True)]


def _joined(turns: Sequence[Event], quoted: Sequence[Piece]) -> Iterator[Piece]:
    """Stretches that follow each other in one turn as one stretch; what is no prose between two of them parts them."""
    run: list[Piece] = []
    for one in [*quoted, None]:
        if run and (one is None or one.place != run[-1].place or _parted(turns[one.place].text, run[-1], one)):
            yield Piece(run[0].place, run[0].start, run[-1].end, run[0].before, run[-1].after)
            run = []
        if one is not None:
            run.append(one)


def _parted(text: str, one: Piece, other: Piece) -> bool:
    return other.start < one.start or any(map(str.isalnum, text[one.end : other.start]))


def _words(text: str, one: Piece) -> str:
    said = " ".join(text[one.start : one.end].split())
    return f"{CUT if one.before else ''}{said}{CUT if one.after else ''}"


def _place(turn: Event) -> str:
    """Of a document, its file and heading."""
    if turn.role != "document":
        return ""
    file, heading = turn.meta.get("file"), turn.meta.get("heading")
    path = [str(part) for part in heading] if isinstance(heading, list | tuple) else []  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return " › ".join([str(file) if file else name_of(turn), *path])[-200:]  # noqa: RUF001
