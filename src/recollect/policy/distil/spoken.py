"""How people speak, and what of it is told: not whom they call, what they announce, nor what goes without saying."""

import re

from recollect.policy.speech import idle
from recollect.policy.speech.sentences import Sentence
from recollect.policy.speech.verbs import is_past

_OWN_TIME = re.compile(r"\bme-(?=\w)", re.IGNORECASE)
_DOING = re.compile(
    r"(?!(?:hoping|loving|feeling|looking|thinking|being|nothing|something|anything|wishing|"
    r"speaking)\b)[a-z]{3,}ing\b(?! (?:but|and|or)\b)"
    r"(?!.*\b(?:is|was|are|were|has|have|can|will|would|helps?|plays?|makes?|keeps?|gives?|brings?|takes?|feels?|gets?|"
    r"means?|lets?|sounds?|seems?|does|did)\b)",
    re.IGNORECASE,
)
_ANNOUNCES = re.compile(
    r"^(?:guess what\W+|i(?:'m| am)(?: so| really| super)? (?:excited|happy|thrilled|pumped|stoked|glad|"
    r"proud) to (?:tell you|say|"
    r"share|announce)(?: that)?\s+|(?:i )?(?:just )?(?:wanted|have|need|had|gotta) to (?:tell|"
    r"let) you (?:know )?(?:that )?\s*)",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"^(?:(?:yes|yeah|ok|right|found it|so)\b[,.!]?\s+)?(?:(?:that|this|it)(?:'s| was| is) )?(?:the )?(?:actual |"
    r"real )?"
    r"(root cause|problem|issue|cause|culprit|reason)(?: was| is)?:\s+",
    re.IGNORECASE,
)
_THING_DOES = re.compile(
    r"(?:(?:the|our|my)\s(?:[\w-]+\s){1,3}?|"
    r"(?:commit|pr|pull request|ticket|version|release|build|branch|patch)\s#?[\w.-]+\s)"
    r"(?!is\b|was\b|has\b)[a-z]{3,}s\s(?:the|an?|in|on|at|to|with|for|by|from|only|"
    r"[a-z]+s\b|\d)",
    re.IGNORECASE,
)
"""A thing does something, with a verb that nobody listed: "the proxy cuts headers"."""
_LABEL = re.compile(
    r"^(?:done|fixed|update|fyi|status|note|heads[- ]up|solved|resolved|shipped|news|good news|result)\s*[:!]\s+(?=\w)",
    re.IGNORECASE,
)
_SHORT = 7
_SPOKEN = tuple(
    (re.compile(form, re.IGNORECASE), told)
    for form, told in (
        (r",?\s(?:too|as well)([.!]*)$", r"\1"),
        (
            r"^(?:(?:so|super|really|how|very) )?(?:inspiring|amazing|awesome|great|cool|nice|wow)\W{1,3}(?=I\b|my\b)",
            "",
        ),
        (r"^(?:and |so |but )?as for me,?\s+", ""),
        (r"^(?:works|worked|confirmed|perfect|right|yep)[,!]\s+(?=the\b|all\b|my\b|our\b)", ""),
        (r"^root cause (?=was|is)", "The root cause "),
        (r"^(?:gonna|going to) ", "I am going to "),
        (r"^since (?:we|i)(?: have|'ve)? (?:last )?(?:talked|spoke|spoken|chatted|met)[^,]*,\s+", ""),
        (r"\b(\w+)'s (?=(?:allowed|helped|made|given|been|become|taught|brought|changed|let|kept)\b)", r"\1 has "),
        (r"\b(?:this|that) (?=[aeio]\w+ (?:woman|man|guy|girl|person|lady|kid|couple|friend)\b)", "an "),
        (r"\b(?:this|that) (?=(?:\w+ )?(?:woman|man|guy|girl|person|lady|kid|couple|friend)\b)", "a "),
        (r"\b(?:this|that) (?:pic|picture|photo)\b", "a picture"),
    )
)
"""How people say things that are told otherwise."""
_KEEN = re.compile(
    r"^i(?: am|'m) (?:really |super |so |very )?(?:keen on|interested in|hooked on|into|passionate about)\b",
    re.IGNORECASE,
)
_STILL_DOING = re.compile(r"(?:still|currently|now|just|also|busy) \w+ing\b", re.IGNORECASE)
_IDIOM = re.compile(
    r"\bin a day\b|\b(?:make|made|making|makes|get|got|getting|go for|went for|do|did|doing|call|take|took|put|bring|"
    r"rock|hit|nail|give|gave) it\b",
    re.IGNORECASE,
)
_WE_DID = re.compile(r"we (?:\w+ly |just |also |all |even |both )*(?P<verb>are \w+ing|\w+)", re.IGNORECASE)


def plain(clause: Sentence, listener: str) -> Sentence:
    """The clause without whom it calls and what announces it: "Maria, I'm so excited to tell you I …"."""
    text = clause.text
    if listener:
        called = rf"^(?:(?:hey|hi|hello|wow|yeah)\b,? )?{re.escape(listener)}[,!]+\s+"
        text = re.sub(called, "", text, flags=re.IGNORECASE)
    text = _LABEL.sub("", text)
    for form, told in _SPOKEN:
        text = form.sub(told, text)
    text = _OWN_TIME.sub("personal ", _CAUSE.sub(r"The \1 was that ", _ANNOUNCES.sub("", text)))
    return clause if text == clause.text or not text.strip() else Sentence(text)


def deed(text: str) -> bool:
    """Whether a sentence tells what somebody did or is doing with others."""
    did = _WE_DID.match(text)
    return did is not None and (is_past(did["verb"]) or did["verb"].startswith("are "))


def unadorned(text: str) -> str:
    """The sentence without how it is found, unless that cuts a noun from its adjectives: "a safe, inviting place"."""
    cut = idle.unadorned(Sentence(text)).text
    return text if cut != text and re.search(r"\b(?:an?|the|my|our|some|very|so)\s+[\w-]+$", cut) else cut


def idiomatic(text: str) -> bool:
    """Whether a sentence holds a saying that means nothing word for word: "make it", "in a day"."""
    return bool(_IDIOM.search(text))


def keen(said: Sentence) -> bool:
    """Whether somebody tells what they care for, which is more than a mood."""
    return bool(_KEEN.match(said.text))


def answered(said: Sentence, *, asked: bool) -> str | None:
    """The sentence with the subject it left out where it tells what somebody is at: "still working on it", or, asked
    what they are up to, "researching schools". None: it is no such sentence."""
    doing = asked and len(said.words) <= _SHORT and _DOING.match(said.text)
    return f"I am {said.text[0].lower()}{said.text[1:]}" if doing or _STILL_DOING.match(said.text) else None


def does(text: str) -> bool:
    """Whether a thing does something in a sentence, with a verb that nobody listed."""
    return bool(_THING_DOES.match(text))
