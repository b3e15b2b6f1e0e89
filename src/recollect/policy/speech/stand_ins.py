"""Words that point without naming, in place of pronouns that nobody can be named for.

A sentence that is worth keeping beyond doubt is not given up because "it" is left open: "that" says no more than was
said, and no less. What it points at is found in the turns that bear witness.
"""

import re

from recollect.policy.wording import LITERAL, pronouns

_WORDS = {
    "it": "that", "its": "the", "they": "those", "them": "those", "their": "the", "theirs": "those", "he": "the man",
    "him": "the man", "his": "the", "she": "the woman", "hers": "the woman's", "himself": "", "herself": "",
    "itself": "", "themselves": "", "myself": "", "ourselves": "", "yourself": "",
}  # fmt: skip
_PRONOUN = re.compile(rf"{LITERAL.pattern}|(?<![\w'-])(?P<word>{'|'.join(_WORDS)}|her)(?![\w-])", re.IGNORECASE)
_OWNED = re.compile(
    r"\s+(?!(?:a|an|the|to|at|in|on|for|from|with|by|and|or|but|so|because|if|when|as|is|was|will|that|about|again|"
    r"back|up|down|out|off|over|away|today|now|then|there|here|too|not|every|each|all|until|since|before|after)\b)\w",
    re.IGNORECASE,
)
_HANGS = re.compile(r"(?:that|those|the man|the woman)\b", re.IGNORECASE)


def stood_in(text: str) -> str:
    """The text with a word that points in place of each pronoun that is left in it."""
    if not pronouns(text):
        return text
    told = _PRONOUN.sub(lambda match: _word(match, text), text)
    return re.sub(r"\s+([,.;:])", r"\1", re.sub(r" {2,}", " ", told)).strip()


def _word(match: re.Match[str], text: str) -> str:
    said = match["word"]
    if said is None or (len(said) > 1 and said.isupper()):
        return match.group()
    low = said.lower()
    word = ("the" if _OWNED.match(text, match.end()) else "the woman") if low == "her" else _WORDS[low]
    return word[:1].upper() + word[1:] if said[0].isupper() and match.start() == 0 else word


def hangs(text: str) -> bool:
    """Whether a text begins with a word that only points: it needs the sentence before it, or who said it."""
    return bool(_HANGS.match(text))
