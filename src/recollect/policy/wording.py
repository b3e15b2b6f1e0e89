"""How a memory is worded: third person, self-contained, no pronouns, neutral, one or two sentences, short.

Every text that becomes a fact or a bullet of a summary passes here. What can be mended by trimming is trimmed; the
rest is refused with the reason.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from recollect.domain.quotation import Quotation

LONGEST = 280
_LONGEST_WORD = 1_000
MOST_SENTENCES = 2


@dataclass(frozen=True, slots=True)
class Sound:
    """A text that may be kept as it is."""


@dataclass(frozen=True, slots=True)
class Unsound:
    """A text that may not be kept, and why."""

    why: str


PRONOUNS = frozenset(
    """i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
    herself they them their theirs themselves it its itself""".split()
)
_WORD = re.compile(r"(?<!\w)[^\W\d_]+(?:[\u2019'][^\W\d_]+)*(?!\w)")
LITERAL = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]{0,600}”|(?<![^\s`\"”])(?:\S{1,300}@\S+|\S{0,300}[/\\]\S*)")
"""A path or an address goes to the end of its word, from where the word begins or a quotation in it ends."""
_SHOUT = re.compile(r"!|\?\s*$|\b(?:lol|haha+|omg|wtf|yay|ugh|wow)\b", re.IGNORECASE)
_END = re.compile(r"(?<![.!?…])[.!?…]++[)\"'”\u2019\]]*+(?=\s++\S)")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Za-z]|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|etc|e\.g|i\.e|No|Nr|approx|ca|Inc|Ltd|Co|[ap]\.m|"
    r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)$",
    re.IGNORECASE,
)
_PICTURE = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d]+")
_PARTS = re.compile(rf"\s+|\S{{1,{_LONGEST_WORD}}}")
_SMILEY = re.compile(r"(?<!\w)(?:[:;]-?[)(DPp]|<3|xD|\^\^)(?!\w)")


def normal(text: str) -> str:
    """The text on one line, composed, without pictures, smileys and signs that print nothing."""
    if not text.isascii():
        text = _PICTURE.sub("", composed(text))
        text = "".join(
            sign for sign in text if sign in "\t\n " or unicodedata.category(sign)[0] not in "CZ" or sign == " "
        )
    return " ".join(_SMILEY.sub("", text).split())


def composed(text: str) -> str:
    """The text with each letter and its marks as one sign, where there is one. Marks in a row are put in order at the
    square of their number, so a run without blanks that is longer than any word is read in pieces."""
    if text.isascii() or max(map(len, text.split()), default=0) <= _LONGEST_WORD:
        return unicodedata.normalize("NFC", text)
    return "".join(unicodedata.normalize("NFC", part) for part in _PARTS.findall(text))


def ends(text: str) -> list[int]:
    """Where the sentences of a text end, the last one left out."""
    return [match.end() for match in _END.finditer(text) if not _abbreviates(text, match)]


def _abbreviates(text: str, match: re.Match[str]) -> bool:
    return match.group() == "." and bool(_ABBREVIATION.search(text[max(0, match.start() - 8) : match.start()]))


def pronouns(text: str) -> list[str]:
    """The pronouns in a text that are its own words, not part of a quotation, a path or an address."""
    plain = LITERAL.sub(" ", text)
    return [word for word in _WORD.findall(plain) if _bare(word) in PRONOUNS and not _name(word)]


def _bare(word: str) -> str:
    return re.split("[\u2019']", word, maxsplit=1)[0].lower()


def _name(word: str) -> bool:
    """US and IT are no pronouns; I is."""
    return len(word) > 1 and word.isupper()


@lru_cache(maxsize=512)
def check(text: str) -> Sound | Unsound:
    """Whether a text keeps the rules, and if not, which it breaks."""
    if not any(sign.isalnum() for sign in normal(text)):
        return Unsound("is empty after normalisation")
    if len(text) > LONGEST:
        return Unsound(f"has {len(text)} characters, at most {LONGEST} are kept")
    if text != normal(text):
        return Unsound("is not normal: line breaks, pictures or signs that print nothing")
    plain = LITERAL.sub("x", text)
    if len(ends(plain)) >= MOST_SENTENCES:
        return Unsound("has more than two sentences")
    if found := pronouns(text):
        return Unsound(f"has the pronoun {found[0]!r}")
    if _SHOUT.search(plain):
        return Unsound("is not neutral: an exclamation or a question")
    return Sound()


def check_quotation(quotation: Quotation) -> Sound | Unsound:
    """The same of somebody's own words: they are as they were said, pictures and all, so only their length counts."""
    if not any(sign.isalnum() for sign in quotation.words):
        return Unsound("quotes no words")
    if len(quotation.framed) > LONGEST:
        return Unsound(f"has {len(quotation.framed)} characters with its frame, at most {LONGEST} are kept")
    return Sound()


def fit(text: str) -> str | None:
    """The text made to keep the rules by trimming alone, or None where trimming does not help."""
    text = normal(text).strip(" ,;:-\u2013—")
    literal = LITERAL.findall(text)
    if "!" in text and not any("!" in part for part in literal):
        text = re.sub(r"(?<!\s)\s*+!++(?:\s*+\?++)?", ".", text)
    text = re.sub(r"([.,;])[.,;]+", r"\1", re.sub(r"(?<!\s)\s++([.,;])(?=\s|$)", r"\1", text)).lstrip(".,; ")
    text = re.sub(r",([\"\u201d])\.?$", r"\1", text)
    stops = ends(_hidden(text))
    if len(stops) >= MOST_SENTENCES:
        text = text[: stops[MOST_SENTENCES - 1]]
    if len(text) > LONGEST:
        text = _shortened(text)
    if not text:
        return None
    text = text[0].upper() + text[1:] if text[0].islower() and not re.match(r"\S*[\d_/`.]\S", text) else text
    if re.search(r"[.!?][\"\u201d\u2019']$", text):
        return text if isinstance(check(text), Sound) else None
    if text[-1].isalnum() or text[-1] in "`)\"'”\u2019]%#/+>":
        text = text + "." if len(text) < LONGEST else text
    return text if isinstance(check(text), Sound) else None


def _hidden(text: str) -> str:
    """The text with what is literal in it covered up, place for place."""
    return LITERAL.sub(lambda match: "x" * len(match.group()), text)


def _shortened(text: str) -> str:
    """Cut at the last sentence, clause or word that fits."""
    head = text[: LONGEST - 1]
    for pattern in (r"[.;](?=\s)", r",(?=\s)", r"(?=\s)"):
        cuts = [match.start() for match in re.finditer(pattern, head)]
        if cuts and cuts[-1] >= LONGEST // 2:
            return head[: cuts[-1]].rstrip(" ,;") + "."
    return head.rstrip() + "."
