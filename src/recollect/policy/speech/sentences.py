"""A turn taken apart: the sentences of what is prose in it, each with its place. Code, logs and traces are no prose."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

LONGEST = 1_200
"""Characters of a sentence that are read; nobody says more in one breath."""
MOST = 80
"""Sentences of a turn that are read: more of them are a paste."""
_READ = 40_000
"""Characters of a turn that are read."""
_FENCE = re.compile(r"```|~~~")
_TAGGED = re.compile(r"<!--|<(script|style|system)\b", re.IGNORECASE)
_ASIDE = re.compile(r"\[(?!redacted:)[^\]\[\n]{3,300}\](?!\()")
"""What somebody does or shows while speaking: "[shares a photo]"."""
_CODE_LINE = re.compile(
    r"""[ \t]*+(?:
      [\]{}();]++[ \t]*+$ | \$\s | // | /\* | \#include | \#!/ | @@ | diff\s--git | \+\+\+\s | ---\s\w
    | import\s[\w.{]+(?:\sas\s\w+)?;?$ | from\s\S+\simport\s | (?:async\s)?def\s\w+\( | class\s\w+\s?[:({]
    | (?:const|let|var)\s[\w{}\[\],\s]{1,80}= | (?:export\s)?(?:async\s)?function\b.*\( | return\b.*;$
    | (?:public|private)\s\w+\s\w+\(
    | (?:SELECT|INSERT\sINTO|UPDATE\s\w+\sSET|CREATE\s(?:TABLE|INDEX|VIEW)|DROP\sTABLE|ALTER\sTABLE|DELETE\sFROM)\b
    | --\s | at\s\S+\(.*\)$ | Traceback\s | File\s\" | [\w.]*(?:Error|Exception)\b:? | npm\s(?:WARN|ERR) | Caused\sby:
    | \[?(?:WARN(?:ING)?|INFO|DEBUG|ERROR|FATAL|TRACE)\b
    | \[?\d{4}-\d\d-\d\d[T\s]\d\d:\d\d | \d\d:\d\d:\d\d[\s.,] | \[\s*\d+%\] | [.FEsx]{12,}
    | ["']?\w+["']?\s*:\s*[\[{"'][^ ]*[,{\[]?$ | \w+\s?=\s?[\[{(].*
    | (?:[A-Za-z]:)?(?:(?:[\w./\\-]*+~)++|[\w./\\-])[\w.-]*+[/\\][\w./\\-]++(?::\d++)*+:?(?:\s\+0x[0-9a-f]++)?$
    | goroutine\s\d+\s\[ | created\sby\s\S+$ | [\w./*()-]+\((?:0x[0-9a-f]|\.\.\.\)).*
    | \w+(?:[./]\w+)*\.\w+\(.*\)$ | (?:\w+\.)+[A-Z]\w+:\s | error\[\w+\]:
    )""",
    re.VERBOSE,
)
_CODE_END = re.compile(r"[;{}][ \t]*$|=>|\)[ \t]*:[ \t]*$|==|\(\)[ \t]*$")
_SIGNS = re.compile(r"[=(){};<>\[\]]")
_BULLET = re.compile(r"[ \t]*(?:(?:[-*•‣+]|\d{1,2}[.)]|#{1,6}|>)[ \t]+)?")
_NUMBER = re.compile(r"[ \t]*\d{1,2}[.)]")
_ITEMS = re.compile(r"^[ \t]*\d{1,2}[.)][ \t]", re.MULTILINE)
_END = re.compile(
    r"(?<![.!?…؟۔।॥։።။])[.!?…؟۔।॥։።။]++[)\"'”’\]]*+(?=\s)|[。！？]+[」』）]*|(?<!\.)\.{2,}+(?=\w)"  # noqa: RUF001
    r"|[\U0001f300-\U0001faff\u2600-\u27bf]\ufe0f?(?= +[A-Z])"
)
_MAIL = re.compile(
    r"^(?:-{3,}[ ]?(?:forwarded|original|weitergeleitete|ursprüngliche)\b"
    r"|(?:from|von|de):[ ]\S.*\n(?:(?:sent|date|to|cc|subject|an|datum|gesendet|betreff|objet):.*\n)+)",
    re.IGNORECASE | re.MULTILINE,
)
"""The head of a mail that was forwarded or copied."""
_PROMPT = re.compile(r"^[^\w\n]{1,9}(?:SYSTEM|DEVELOPER)(?: [A-Z]{3,12}){0,2}[^\w\n]{0,9}$", re.MULTILINE)
"""The head of what passes itself off as a prompt."""
_SHELL = re.compile(r"[ \t]{0,8}(?:[\w.-]{1,40}[@:][\w.@~:/-]{0,60})?\$ [a-z./~]")
"""A command in a terminal. What stands under it, up to a blank line, is what it printed."""
CORRECTS = re.compile(
    r"\W*(?:(?:oh|ah|ok|um|uh|argh|ugh|damn|hmm?|sorry)[,!\s]+)*(?:no,? wait|wait,? no|oh wait|no,? sorry|typo|"
    r"correction|scratch that|strike that|my bad|my mistake|i (?:mean|meant|misread|misspoke|mistyped)|make that|"
    r"or rather|actually,? (?:no|it's|make|the)|not \S+,? but)\b",
    re.IGNORECASE,
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Za-z]|mr|mrs|ms|dr|prof|st|sr|jr|vs|etc|e\.g|i\.e|no|nr|approx|ca|inc|ltd|co|[ap]\.m|bzw|usw|"
    r"z\.b|d\.h|ggf|mme|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|\d{1,2})$",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?:^|\s)([^\W\d_]*)\s?\d{1,2}$")
_FACTORIAL = re.compile(r"\d!\)? (?![A-Z\d])")
_QUOTED = re.compile(r"\"[^\"\n]{12,2000}\"|“[^“”\n]{12,2000}”|„[^„“”\n]{12,2000}[“”]|«[^«»\n]{12,2000}»")
_SINGLE = re.compile(r"(?<!\w)'[^'\n]{24,2000}'(?!\w)")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")  # noqa: RUF001
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_PAIR = re.compile("..?")
_BLANK = re.compile(r"\s*+")
_SIGNS_ALONE = re.compile(r"[ .!?]*+")
_FEW = 4
"""Words of a quotation up to which it is a name or a title."""


Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as it stands in its turn, from one character to another; `others`: the stretches of it that quote
    somebody's words."""

    text: str
    start: int
    end: int
    others: tuple[tuple[int, int], ...] = ()

    @property
    def own(self) -> str:
        """The sentence with other people's words left out."""
        parts: list[str] = []
        position = 0
        for start, end in self.others:
            parts += [self.text[position : start - self.start], '"…"']
            position = end - self.start
        return " ".join("".join([*parts, self.text[position:]]).split())

    @property
    def borrowed(self) -> bool:
        """Whether most of it is somebody else's words."""
        return 2 * sum(end - start for start, end in self.others) > self.end - self.start


def words(text: str) -> list[str]:
    """The words of a text in small letters; where a script puts no spaces, two signs count as one."""
    found: list[str] = []
    for word in _WORD.findall(text.lower().replace("’", "'")):  # noqa: RUF001
        found += _PAIR.findall(word) if _UNSPACED.search(word) else [word]
    return found


@lru_cache(maxsize=256)
def sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of what is prose in a turn, in their order."""
    found: list[Sentence] = []
    pasted = _pasted(text[:_READ])
    for start, end in _lines(text[:_READ]):
        quoted = start >= pasted or text[max(0, start - 8) : start].rpartition("\n")[2].lstrip().startswith(">")
        for sentence in _of_line(text, start, end):
            if len(found) == MOST:
                return tuple(found)
            whole = ((sentence.start, sentence.end),)
            found.append(replace(sentence, others=whole) if quoted else sentence)
    return tuple(found)


def _pasted(text: str) -> int:
    """Where somebody's mail or a prompt begins that was pasted into a turn: from there on nothing is the speaker's."""
    return min(found.start() if (found := pattern.search(text)) else len(text) for pattern in (_MAIL, _PROMPT))


def _lines(text: str) -> list[tuple[int, int]]:
    """Where the lines of prose stand, without the marks of a list before them."""
    spans: list[tuple[int, int]] = []
    hidden = _hidden(text)
    begins = [first for first, _ in hidden]
    position = 0
    fenced, printed = False, False
    code: list[bool] = []
    numbered = len(_ITEMS.findall(text)) > 1  # "10. And the napkins" alone answers a question
    for line in text.split("\n"):
        start, position = position, position + len(line) + 1
        if _FENCE.search(line):
            fenced ^= len(_FENCE.findall(line)) % 2 == 1
            continue
        printed = bool(_SHELL.match(line)) or (printed and bool(line.strip()))
        over = bisect_right(begins, start)
        if fenced or printed or (over and start + len(line) <= hidden[over - 1][1]):
            continue
        mark = _BULLET.match(line)
        lead = mark.end() if mark and (numbered or not _NUMBER.match(line)) else 0
        if line[lead:].strip():
            spans.append((start + lead, start + len(line.rstrip())))
            code.append(_is_code(line))
    if any(code):  # beside code, what is indented is code as well
        return [
            span
            for span, found in zip(spans, code, strict=True)
            if not found and text[max(0, span[0] - 4) : span[0]] not in ("    ", "\t")
        ]
    return spans


def _hidden(text: str) -> list[tuple[int, int]]:
    """Comments and scripts in markup, and what stands between the tags of a system prompt."""
    found: list[tuple[int, int]] = []
    lower = text.lower()
    position = 0
    while match := _TAGGED.search(text, position):
        close = "-->" if match.group() == "<!--" else f"</{match[1].lower()}>"
        end = lower.find(close, match.end())
        position = len(text) if end < 0 else end + len(close)
        found.append((match.start(), position))
    return found


def _is_code(line: str) -> bool:
    line = line[:400]
    return bool(_CODE_LINE.match(line)) or (bool(_CODE_END.search(line)) and len(_SIGNS.findall(line)) >= 3)


def _of_line(text: str, start: int, end: int) -> list[Sentence]:
    line = text[start:end]
    others = [
        [
            (start + match.start(), start + match.end())
            for match in pattern.finditer(line)
            if len(match.group().split()) >= _FEW
        ]
        for pattern in (_QUOTED, _SINGLE)
    ]
    asides = [(start + match.start(), start + match.end()) for match in _ASIDE.finditer(line)]
    closed = _united([*others[0], *others[1], *asides])
    begins = [first for first, _ in closed]
    found: list[Sentence] = []
    position = start
    for stop in [*_ends(line), len(line)]:
        here = start + stop
        over = bisect_left(begins, here)
        if over and here < closed[over - 1][1]:
            continue
        found += _sentence(text, position, here, others, asides)
        position = here
    return found


def _united(spans: Sequence[Span]) -> list[Span]:
    """The same stretches in order, those that overlap as one."""
    found: list[Span] = []
    for first, last in sorted(spans):
        if found and first < found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return found


def _touching(spans: Sequence[Span], start: int, end: int) -> Sequence[Span]:
    """Of stretches in order that do not overlap, those that share a character with another."""
    first = bisect_right(spans, start, key=lambda span: span[1])
    return spans[first : bisect_left(spans, end, first, key=lambda span: span[0])]


def _ends(line: str) -> list[int]:
    return [
        match.end()
        for match in _END.finditer(line)
        if not (match.group() == "." and _abbreviates(line, match.start(), match.end()))
        and not (match.group().startswith(("…", "..")) and _goes_on(line, match.end()))
        and not (match.group()[0] == "!" and _FACTORIAL.search(line[max(0, match.start() - 3) : match.end() + 3]))
    ]


def _goes_on(line: str, end: int) -> bool:
    rest = _after_blanks(line, end)
    return line[rest : rest + 1].islower() and not CORRECTS.match(line, rest)


def _after_blanks(text: str, start: int, end: int | None = None) -> int:
    match = _BLANK.match(text, start, len(text) if end is None else end)
    return match.end() if match else start


def _abbreviates(line: str, stop: int, after: int) -> bool:
    """Whether a full stop belongs to the word before it: an abbreviation, or a number that counts what follows."""
    head = line[max(0, stop - 8) : stop]
    if numbered := _NUMBERED.search(head):  # "am 3. Mai", "the 2. of June"
        return len(numbered[1]) in (2, 3) or line[after : after + 3].strip()[:1].islower()
    return bool(_ABBREVIATION.search(head))


def _sentence(
    text: str, start: int, end: int, others: Sequence[Sequence[Span]], asides: Sequence[Span]
) -> list[Sentence]:
    begins = _after_blanks(text, start, end)
    for first, last in _touching(asides, start, end):  # at its edge, what somebody shows is no part of what they say
        if first <= begins < last:
            start = min(end, last)
            begins = _after_blanks(text, start, end)
        if first < end <= last or (start < first and (last >= end or _SIGNS_ALONE.fullmatch(text, last, end))):
            end = min(end, first)
            begins = min(begins, max(start, end))
    start = _after_blanks(text, start, end)
    while start < end and text[end - 1].isspace():
        end -= 1
    end = min(end, start + LONGEST)
    said = text[start:end]
    if not _wordy(said):
        return []
    near = (span for spans in others for span in _touching(spans, start, end))
    inside = tuple((first, last) for first, last in near if start <= first and last <= end)
    return [Sentence(said, start, end, inside)]


def _wordy(text: str) -> bool:
    """Whether there is more to a text than signs and numbers, a path or a formula."""
    letters = sum(unicodedata.category(sign)[0] in "LM" for sign in text)
    if not any(sign.isalnum() for sign in text):
        return False
    if len(text) >= 150 and max(map(len, text.split())) >= 150:
        return False
    return len(text) < 20 or 2 * letters >= len(text) or "`" in text
