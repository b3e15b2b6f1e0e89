"""What of a sentence is sure once it is told by somebody else: not what "it" means, nor whom "she" does where two are
named."""

import re

from recollect.policy.speech.referents import NOT_NAMES
from recollect.policy.speech.sentences import Sentence
from recollect.policy.speech.verbs import is_form

_SELF = re.compile(r"(?<!by )(?<!for )\b(?:myself|ourselves|themselves|himself|herself)\b", re.IGNORECASE)
_BEFORE = re.compile(r"(?:,| and| but| which| so| -)\s(?=[^,]*$)")
_GUESSED = re.compile(r"\b(?:it|its|they|them|their|theirs)\b", re.IGNORECASE)
_LINK = re.compile(
    r"(?:[,;]|\s[-\u2013\u2014])\s+|\s+(?=(?:and|but|so|because|since|when|while|which|where|if|until|after|before)\s)"
)
_BE = frozenset("is are was were am has have had will would can could must should".split())
_SOMEBODY = re.compile(r"\b(?:he|she|him|her|his|hers)\b", re.IGNORECASE)
_NAMED = re.compile(r"(?<!^)\b[A-Z][a-z]+(?: [A-Z][a-z]+)*")


def unturned(text: str) -> str:
    """The sentence up to where somebody is turned upon themselves: told in the third person, that breaks off."""
    while found := _SELF.search(text):
        cut = _BEFORE.search(text[: found.start()])
        text = text[: cut.start()] if cut and len(text[: cut.start()].split()) >= 4 else ""
    return text


def names(text: str, speakers: frozenset[str]) -> set[str]:
    """What is called by name in a text, other than who speaks, days and months."""
    found = {match.group() for match in _NAMED.finditer(text)}
    return {name for name in found if name.lower() not in speakers and name.split()[0].lower() not in NOT_NAMES}


def is_name(name: str) -> bool:
    return name[:1].isupper() or "'s " in name


def sure(text: str) -> str | None:
    """The sentence up to the clause that speaks of "it" or "them": what they mean is a guess. So is "she" where two are
    named. None: nothing is left."""
    found = _GUESSED.search(text)
    she = _SOMEBODY.search(text, 0, found.start() if found else len(text))
    if she and len(names(text[: she.start()], frozenset())) > 1:
        found = she
    if found is None:
        return text
    cuts = [link.start() for link in _LINK.finditer(text, 0, found.start())]
    head = text[: cuts[-1]].rstrip(" ,;") if cuts else ""
    whole = len(head.split()) >= 4 and any(is_form(word) or word in _BE for word in Sentence(head).words)
    return head if whole else None
