"""A long sentence in the clauses that can each be told by themselves, and what somebody asks for in one."""

import re

from recollect.policy.speech.sentences import Sentence

_PAUSE = r"(?:\s*[,;]\s+|\s*--+\s*|\s?[-\u2013\u2014]+\s+|\s*\.\.\.+\s*)"
_MAIN = (
    r"(?:can|could|would|will) (?:you|someone|anyone)\b|(?:what|how|why|where|when|which|who)\b(?=[^,.;]*\?)|"
    r"(?:do|does|did|is|are|should|can|could|would|have|has) (?:i|we|you|it|there|this|that|the|my|they|he|"
    r"she)\b(?=[^,.;]*\?)|"
    r"(?:i|we)(?:'m|'ve|'d|'ll|'re)?\s+(?!(?:mean|guess|think|know|suppose|said)\b)\w+|here's\b|here is\b|(?:last|"
    r"this|next) \w+,? (?:i|we)\b|yesterday,? (?:i|we)\b|"
    r"any\b(?=[^,.;]*\?)"
)
_SPLIT = re.compile(
    rf"{_PAUSE}(?:(?:and|but|so|plus|also|then|or|yet|because|since|as)\s+)?(?={_MAIN})|"
    rf"\s+(?:and|but|so)\s+(?=(?:can|could|would|will) you\b|(?:i|we)(?:'m|'ve|'d|'ll|'re)\s|(?:i|we) (?:am|have|was|"
    rf"want|need|wanted|also|had|would|will)\b)|"
    r"\s+[-\u2013\u2014]+\s+(?=(?:i|my|we|our|she|he|they|it|the|had|went|got|just|been|was|did|took|made|met|saw|"
    r"this|that)\b)",
    re.IGNORECASE,
)
_LEAST = 2


def clauses(sentence: Sentence) -> list[Sentence]:
    """The clauses of a sentence that have a subject or ask something of their own. A short one stays where it is."""
    parts: list[str] = []
    position = 0
    for found in _SPLIT.finditer(sentence.text):
        part = sentence.text[position : found.start()]
        dashed = "-" in found.group() or "\u2013" in found.group() or "\u2014" in found.group()
        if len(part.split()) < _LEAST or _LEANING.match(part) or not (dashed or _TELLS.search(part)):
            continue
        parts.append(part)
        position = found.end()
    parts.append(sentence.text[position:])
    return [Sentence(part.strip()) for part in parts if part.strip()]


_TELLS = re.compile(
    r"\b(?:i|we|it|he|she|they|there|you|that|this|everyone|who)(?:'\w+)?\b|\?|"
    r"\b(?:my|our|the|his|her|a)\b.*\b(?:is|are|was|were|has|have|had|will|can|\w+ed|went|got|came)\b",
    re.IGNORECASE,
)
"""A clause that has a subject of its own: "last Friday" belongs to what follows."""
_LEANING = re.compile(
    r"(?:if|when|whenever|while|since|because|although|though|as|after|before|until|once|given|considering|unless)\b",
    re.IGNORECASE,
)
