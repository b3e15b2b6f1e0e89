"""A turn taken apart: what is prose in it, sentence by sentence. Code, logs and long quotations are no prose."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from recollect.policy.wording import ends

QUOTATION = "\ufffc"
"""Stands where a quotation was taken out."""
LONGEST = 1_000
"""Characters of a sentence that are read; nobody says more in one breath."""
_NO_WORD = re.compile(r"\S{150}|\\[()\[\]a-z]|\$\$")
"""What no word is as long as, and formulas."""
_ASIDE = re.compile(r"\[(?!redacted:)[^\]\n]{3,300}\](?!\()")
"""What somebody does while speaking: "[shares a photo]"."""
_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_QUOTED = re.compile(r"[\"“„«]([^\"”“»\n]{12,2000})[\"”“»]|(?<!\w)'([^'\n]{24,2000})'(?!\w)")
_CODE_LINE = re.compile(
    r"""\s*(?:
      [\]{}();]+\s*$ | \$\s | > | // | /\* | \#include | \#!/ | @@ | diff\s--git | \+\+\+\s | ---\s\w
    | import\s[\w.{]+(?:\sas\s\w+)?;?$ | from\s\S+\simport\s | (?:async\s)?def\s\w+\( | class\s\w+\s?[:({]
    | (?:const|let|var)\s[\w{}\[\],\s]+= | (?:export\s)?(?:async\s)?function\b.*\( | return\b.*;$ | public\s|
    private\s\w+\s\w+\(
    | (?:SELECT|INSERT\sINTO|UPDATE\s\w+\sSET|CREATE\s(?:TABLE|INDEX|VIEW)|DROP\sTABLE|ALTER\sTABLE|DELETE\sFROM)\b
    | at\s\S+\(.*\)$ | Traceback\s | File\s\" | \w*(?:Error|Exception):\s | npm\s(?:WARN|ERR) | (?:WARN|INFO|
    DEBUG|ERROR|FATAL|TRACE)\b
    | \[?\d{4}-\d\d-\d\d[T\s]\d\d:\d\d | \d\d:\d\d:\d\d[\s.,] | \[\s*\d+%\] | [.FEsx]{12,}
    | ["']?\w+["']?\s*:\s*[\[{"'][^ ]*[,{\[]?$ | \w+\s?=\s?[\[{(].*
    )""",
    re.VERBOSE,
)
_CODE_END = re.compile(r"[;{}]\s*$|=>|\)\s*:\s*$|==|\(\)\s*$")
_BULLET = re.compile(r"^\s*(?:[-*•‣+]|\d{1,2}[.)]|#{1,6})\s+")
_HEADED = re.compile(r"\s*(?:[-*•+]\s+|\d{1,2}[.)]\s+)?\*\*[^*\n]{1,80}\*\*|\s*#{1,6}\s")
"""A heading, or an item of a list that is set with one: somebody pastes a plan or what an assistant wrote."""
_TOKEN = re.compile(r"[^\W_]+(?:[\u2019'][^\W\d_]+)?")


@dataclass(frozen=True, slots=True)
class Phrases:
    """Many phrases, found by the words they start with."""

    by_first: Mapping[str, tuple[str, ...]]


def phrases(listed: str) -> Phrases:
    """The phrases of a list with commas between them."""
    found: dict[str, tuple[str, ...]] = {}
    for phrase in listed.split(","):
        words = _TOKEN.findall(phrase)
        found[words[0]] = (*found.get(words[0], ()), f" {' '.join(words)} ")
    return Phrases(found)


@dataclass(frozen=True)
class Sentence:
    """One sentence as it was said, and its words in small letters."""

    text: str

    @cached_property
    def words(self) -> tuple[str, ...]:
        return tuple(_TOKEN.findall(self.text.replace("\u2019", "'").lower()))

    @cached_property
    def flat(self) -> str:
        """The words with one blank around each: ` so phrases are found whole `."""
        return f" {' '.join(self.words)} "

    def says(self, *said: "str | Phrases") -> bool:
        """Whether one of the phrases stands in the sentence, word for word."""
        return any(self._has(one) for one in said)

    def _has(self, said: "str | Phrases") -> bool:
        if isinstance(said, str):
            return f" {said} " in self.flat
        starts, flat = said.by_first, self.flat
        return any(phrase in flat for word in self.words if word in starts for phrase in starts[word])


def sentences(text: str) -> list[Sentence]:
    """The sentences of what is prose in a turn, in order."""
    return list(_sentences(text))


@lru_cache(maxsize=32)
def _sentences(text: str) -> tuple[Sentence, ...]:
    found: list[Sentence] = []
    for line in prose(text).splitlines():
        line = _BULLET.sub("", line).strip()
        position = 0
        for end in [*ends(line), len(line)]:
            part = line[position:end].strip()
            if _wordy(part) and not _NO_WORD.search(part):
                found.append(Sentence(part[:LONGEST]))
            position = end
    return tuple(found)


def _wordy(text: str) -> bool:
    """Whether there is more to a text than signs and numbers."""
    return any(sign.isalnum() for sign in text) and (
        len(text) < 20 or 2 * sum(map(str.isalpha, text)) >= len(text) or "`" in text or "/" in text
    )


def english(sentence: Sentence) -> bool:
    """Whether a sentence may be English: the rules of the third person are those of English."""
    if sentence.text.isascii() and not _FOREIGN.intersection(sentence.words):
        return True
    letters = [sign for sign in sentence.text if sign.isalpha()]
    if 3 * sum(sign > "\u024f" for sign in letters) > len(letters):
        return False
    return len(_FOREIGN.intersection(sentence.words)) < 2 or not _ENGLISH.isdisjoint(sentence.words)


_FOREIGN = frozenset(
    """ich und der die das nicht ist mein meine wir ein eine mit auf für von zu bin habe sind auch aber dass je
    suis et le la les mon ma mes nous est une des dans pour avec pas que qui mais yo soy el los las mi mis es
    una por para con pero tengo jag och att är inte min det som jestem nie się mam jest i w na sono il gli ho
    mia della che non ik en het niet mijn een van eu sou o os minha meu não uma com""".split()
) - {"i", "as", "a", "o", "in", "is", "en", "de", "die", "la", "das", "es"}
_ENGLISH = frozenset("the is are was my we our to of and for with have has not it that".split())


def prose(text: str) -> str:
    """The text without code, logs, comments of markup and long quotations."""
    text = text.replace("\u2019", "'")
    if "```" in text or "~~~" in text:
        text = _FENCE.sub("\n", text)
    if "<" in text:
        text = _COMMENT.sub("\n", text)
    if "[" in text:
        text = _ASIDE.sub(" ", text)
    lines = [line.replace("**", "") for line in text.splitlines() if not _HEADED.match(line)]
    code = [_is_code(line) for line in lines]
    if any(code):
        code = [found or line.startswith(("    ", "\t")) for found, line in zip(code, lines, strict=True)]
    kept = [line for line, found in zip(lines, code, strict=True) if not found]
    return "\n".join(unquoted(line) for line in kept)


def unquoted(line: str) -> str:
    """The line without what somebody else said: quotations of more than a few words."""
    return _QUOTED.sub(lambda match: match.group() if len(match.group().split()) < 4 else QUOTATION, line)


def _is_code(line: str) -> bool:
    if _CODE_LINE.match(line):
        return True
    return bool(_CODE_END.search(line)) and len(re.findall(r"[=(){};<>\[\]]", line)) >= 3
