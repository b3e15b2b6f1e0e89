"""Corrections: the later value wins, and the earlier one is not kept."""

import re
from dataclasses import dataclass

_MARK = re.compile(
    r"^(?:(?:oh|ah|ok|hey|um|uh|argh|ugh|damn|hmm?)[,\s]+)?(?:actually|wait|no,? wait|no[,.!—-]|sorry|oops|"
    r"typo|correction|scratch that|my bad|my mistake|nope|"
    r"i (?:meant?|misread|misspoke|mistyped|was wrong|mixed|got (?:that|it) wrong)|make (?:that|it)|"
    r"it's actually|that(?:'s| is| was) wrong|not \S+ but|"
    r"i need to correct|let me correct|small correction|update:)",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\b(?:scratch that|forget (?:that|it|what i said|i said)|never ?mind|strike that|ignore that|cancel that|"
    r"disregard that|actually no\b)",
    re.IGNORECASE,
)
_STATEMENT = 4
"""Words that make a statement of what stands before."""
_TURNED = re.compile(
    r"[,;.…—\u2013-]*\s+(?:no,? wait|wait,? no|no,? sorry|sorry,|oh wait|i mean|i meant|make that|or rather|"
    r"correction:?|scratch that|actually)[,:—\u2013-]*\s+",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"(?P<address>[\w.+-]+@[\w-]+\.[\w.]+)|(?P<clock>\b\d{1,2}:\d\d\b|\b\d{1,2}\s?[ap]m\b)|(?P<code>`[^`]+`)|"
    r"(?P<date>(?:\bon\s)?(?:\b(?:mon|tues|wednes|thurs|fri|satur|sun)day,?\s(?:the\s)?)?(?:\d{1,2}(?:st|nd|"
    r"rd|th)?\s+(?:of\s+)?)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?(?:\s+\d{1,2}(?:st|nd|"
    r"rd|th)?\b)?(?:,?\s+\d{4})?|(?:\bthe\s)?\b\d{1,2}(?:st|nd|rd|th)\b|(?:\bon\s)?\b(?:mon|tues|wednes|thurs|fri|"
    r"satur|sun)day\b)|"
    r"(?P<number>[$€£]?\b\d[\d.,]*\d\b|[$€£]?\b\d\b)|"
    r"(?P<count>\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b)|"
    r"(?P<name>\b[A-ZÀ-ÖØ-Þ][\w-]*[a-zà-öø-ÿ]\w*\b)",
    re.IGNORECASE,
)
_NTH = re.compile(r"(?:the\s)?(\d{1,2})(?:st|nd|rd|th)", re.IGNORECASE)
_DAY = re.compile(r"(?<=[a-z]\s)\d{1,2}(?=,|$)")
"""The day in a date that is written out: the 9 of "May 9, 2025"."""
_NO_NAMES = frozenset(
    """actually wait no sorry oops typo correction scratch my i make it that the not just we he she they and but
    ok oh ah update nope let small this its a""".split()
)


@dataclass(frozen=True, slots=True)
class Value:
    """A value in a text: a number, a day, a name, and where it stands."""

    kind: str
    text: str
    start: int
    end: int


def values(text: str) -> list[Value]:
    found: list[Value] = []
    for match in _VALUE.finditer(text):
        kind = match.lastgroup or ""
        if kind == "name" and (match.group().lower() in _NO_NAMES or not match.group()[0].isupper()):
            continue
        if kind == "date" and match.group().islower() and not re.search(r"\d|day", match.group()):
            continue
        found.append(Value(kind, match.group(), match.start(), match.end()))
    return found


def corrects(text: str) -> bool:
    """Whether a turn or sentence begins as a correction of what was said."""
    return bool(_MARK.match(text.strip()))


def correction(text: str) -> str:
    """What a correction says, without "no wait" and "sorry" in front."""
    text = text.strip()
    for _ in range(4):
        rest = _MARK.sub("", text, count=1).lstrip(" ,.!:;—\u2013-")
        if rest == text or not rest:
            break
        text = rest
    return text


def takes_back(text: str) -> bool:
    """Whether a sentence says that the one before does not hold."""
    return _back(text) is False


def takes_itself_back(text: str) -> bool:
    """Whether a sentence says in the end that it does not matter: "the booking has a typo, never mind"."""
    return _back(text) is True


def _back(text: str) -> bool | None:
    """Whether what is taken back stands in the sentence itself; None where nothing is."""
    lower = text.lower()
    hinted = any(hint in lower for hint in ("that", "it", "said", "mind", "actually no"))
    found = _BACK.search(text) if hinted else None
    return None if found is None else len(text[: found.start()].split()) >= _STATEMENT


def settled(text: str) -> str:
    """A sentence that corrects itself, as it ends up: "on Tuesday, no wait, Wednesday" is on Wednesday."""
    lower = text.lower()
    if not any(
        hint in lower for hint in ("wait", "sorry", "mean", "make that", "rather", "correction", "scratch", "actually")
    ):
        return text
    for _ in range(3):
        found = _TURNED.search(text)
        if not found:
            return text
        left, right = text[: found.start()], text[found.end() :]
        amended = None if re.search(r"\w (?:is|was|are|has|have|will) ", right) else amended_by(left, right)
        if amended is None:
            return text
        text = amended
    return text


def amended_by(earlier: str, correction: str) -> str | None:
    """The earlier statement with the value that the correction gives in place of its own, or None where none fits."""
    new = values(correction)
    if not new:
        return None
    value = new[0]
    gone = {said.text.lower().strip("$€£") for said in new[1:] if said.kind == value.kind}
    rest = correction[value.end :]
    fitting = [old for old in values(earlier) if old.kind == value.kind and old.text.lower() != value.text.lower()]
    if not fitting:
        return None
    named = [old for old in fitting if old.text.lower().strip("$€£") in gone]
    old = named[0] if named else fitting[-1]
    tail = re.match(r"(?:\s+\w+){0,2}", rest)
    unit = (tail.group() if tail else "") if not earlier[old.end :].strip(" .!") else ""
    if unit and re.search(r"\b(?:not|is|was|and|because|i|we)\b", unit, re.IGNORECASE):
        unit = ""
    text = re.sub(r"^on ", "", value.text, flags=re.IGNORECASE) if value.kind == "date" else value.text
    if (nth := _NTH.fullmatch(text)) and (day := _DAY.search(old.text)):
        return f"{earlier[: old.start + day.start()]}{nth[1]}{earlier[old.start + day.end() :]}"
    lead = "on " if old.text.lower().startswith("on ") and value.kind == "date" else ""
    return f"{earlier[: old.start]}{lead}{text}{unit}{earlier[old.end :]}"
