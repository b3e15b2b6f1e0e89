"""How much a sentence says by itself, and which part of a summary it belongs to."""

import re

from recollect.policy.distil import notation
from recollect.policy.distil.support import words
from recollect.policy.distil.wanting import assures
from recollect.policy.speech.sentences import Sentence
from recollect.policy.speech.verbs import is_past
from recollect.policy.speech.worth import DECIDED, worth

_NAME = re.compile(r"(?<=[\w,;:)(] )[A-ZÀ-ÖØ-Þ][\w.+-]*")
_NUMBER = re.compile(r"\d")
_WANTED = re.compile(
    r"\b(?:wanted|needed|planned|asked|was (?:not sure|thinking|considering|struggling|stuck)|had trouble)\b"
)
_UNSURE = re.compile(
    r"\b(?:was|is|were|are) (?:still )?(?:not sure|unsure|wondering|debating|torn between|undecided)\b|\b(?:has|"
    r"have) not decided\b",
    re.IGNORECASE,
)
_FEATURE = re.compile(
    r"`[^`]+`|\b(?:GET|POST|PUT|DELETE|PATCH) /|(?<!\w)/[a-z][\w-]*/[\w/{}:-]+|\b(?:endpoint|route|API|schema|"
    r"migration|"
    r"component|module|function|class|table|index|middleware|webhook|feature)s?\b"
)
_DECISION = re.compile(
    r"\b(?:decided|chose|settled on|opted|agreed (?:to|on|that)|switched (?:to|from)|picked(?! up)|went with|"
    r"shifted \w+ \w+|"
    r"is going with|gave up on)\b"
)
_SUBJECT = re.compile(
    r"(?:[Tt]he user|[Tt]he team|[A-Z]\w+)(?:'s [\w-]+)? (?:has |have |had |\w+ly |also |just |even |"
    r"and [A-Z]\w+ )*(\w+)"
)
_STATES = frozenset("was were had needed wanted felt loved liked used hoped thought knew".split())
_OUTCOME = re.compile(
    r"\b(?:root cause|culprit|fixed|solved|resolved|turned out|works now|the (?:problem|issue|cause|fix|"
    r"solution) was)\b",
    re.I,
)
_MOST = 8.0


def weigh(text: str, said: Sentence, times: int, *, request: bool, hedged: bool) -> float:
    """From 0 up; about 2 is a plain statement."""
    value = min(max(float(worth(said, times)), 0.0), _MOST)
    value += 0.5 * min(len(set(_NAME.findall(text))), 3) + 0.5 * bool(_NUMBER.search(text)) + 1.5 * said.says(DECIDED)
    value += min(0.25 * len(words(text)), 1.5)
    value -= 0.7 * hedged + 1.5 * assures(text)
    value += 3.0 * bool(_OUTCOME.search(text))
    if request or _WANTED.search(text):
        value = 0.8 + 0.6 * value
    return max(value, 0.2)


def section_of(text: str, technical: bool) -> str:
    """The part of a summary that a statement belongs to."""
    if _DECISION.search(text):
        return notation.DECISIONS
    if _UNSURE.search(text):
        return notation.OPEN
    if technical and _FEATURE.search(text):
        return notation.FEATURES
    subject = _SUBJECT.match(text)
    if subject and is_past(subject[1]) and subject[1].lower() not in _STATES:
        return notation.DONE
    return notation.DONE if re.match(r"\S+(?: \S+)? (?:wanted|needed|planned) to ", text) else notation.FACTS
