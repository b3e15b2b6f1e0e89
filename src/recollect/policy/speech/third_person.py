"""A sentence told in the third person, where that is sure: the first person at the head of one plain clause, no other
pronoun, agreement from a table. Everything else is quoted."""

import re

from recollect.policy.wording import fit, pronouns

AGREEMENT = {
    "am": "is", "'m": "is", "have": "has", "'ve": "has", "do": "does", "don't": "doesn't", "haven't": "hasn't",
    "'d": "would", "'ll": "will", "go": "goes", "was": "was", "can": "can", "can't": "can't", "will": "will",
    "won't": "won't", "must": "must", "would": "would", "wouldn't": "wouldn't", "didn't": "didn't", "had": "had",
    "did": "did", "could": "could", "couldn't": "couldn't", "should": "should", "wasn't": "wasn't", "hadn't": "hadn't",
    "cannot": "cannot", "study": "studies", "carry": "carries", "fly": "flies", "try": "tries", "teach": "teaches",
    "coach": "coaches", "watch": "watches", "wash": "washes", "fix": "fixes", "miss": "misses",
    "pay": "pays", "play": "plays", "stay": "stays", "buy": "buys", "say": "says",
}  # fmt: skip
"""What a verb that follows "I" becomes when a name takes its place."""
_REGULAR = frozenset(
    """live work like love hate prefer want need use drive own eat drink sleep train run swim cook bake write speak
    learn manage lead maintain plan hope expect believe know think remember wear take make keep collect grow
    share rent commute travel start finish leave attend volunteer sing paint draw build design deploy test review
    avoid wake help support follow suffer smoke meet call visit walk ride cycle climb sell ship report host""".split()
)
_PAST = frozenset(
    """went came got said told made took saw met bought began left flew drove won lost ran sold found broke gave caught
    sent paid fell ate spent wrote became grew knew thought kept built taught chose spoke woke swam sang""".split()
)
_NO_PAST = frozenset("hundred embed shred sacred".split())
_ADVERBS = frozenset(
    """also always never usually often already still just really only currently recently now finally even mostly
    generally normally sometimes actually""".split()
)
_HEAD = re.compile(
    r"(?P<lead>(?:(?:also|and|so|well|ok|okay|oh|btw|yes|no|hey|hi)[,:]?\s+)*)[Ii](?P<rest>['\u2019\s].*)", re.DOTALL
)
_MINE = re.compile(
    r"(?P<lead>(?:(?:also|and|so|well|ok|okay|oh|btw|hey|hi)[,:]?\s+)*)[Mm]y\s(?P<rest>[a-z].*)", re.DOTALL
)
_LEAN = re.compile(
    r"\b(?:this|that|these|those|one|ones|here|there|another|both|others?|same|such|else|who|what|someone|somebody|"
    r"everyone|everybody|anyone|nobody|let's|which|today|now)\b",
    re.IGNORECASE,
)
"""Words that mean something which stands elsewhere, or make more than one clause of it."""
_CLAUSES = re.compile(
    r"[;:()\"“”!?…]|[.](?=\s)| - | — |\b(?:if|unless|when|while|because|since|although|but|though|so|than|as|until|"
    r"after|before)\b"
)
_JOINED = re.compile(r"(?:,\s*(?:and\b|or\b)?|\b(?:and|or)\b)\s*(\S*)")
_NOUN = re.compile(r"[A-ZÀ-ÖØ-Þ\d]|(?:an?|the|two|three|four|five|some)$")
_CONTRACTED = re.compile(r"['’](?P<verb>m|ve|d|ll)\s+(?P<rest>.*)", re.DOTALL)  # noqa: RUF001
_SINGULAR = re.compile(r"(?:[\w'-]+\s){1,4}?(?:is|was|has|lives|works|likes|turned|moved|started|died|had|will)\s")
LONGEST = 160
"""Characters of a sentence that is plain enough to be told."""


def told(sentence: str, speaker: str) -> str | None:
    """The sentence about its speaker in the third person; None where that is not sure."""
    text = " ".join(sentence.split())
    if len(text) > LONGEST or _CLAUSES.search(text.rstrip(".!")) or _LEAN.search(text):
        return None
    about = _of_i(text, speaker) or _of_mine(text, speaker)
    if about is None or pronouns(about):
        return None
    return fit(about)


def _of_i(text: str, speaker: str) -> str | None:
    found = _HEAD.fullmatch(text)
    if found is None:
        return None
    rest = found["rest"]
    if short := _CONTRACTED.fullmatch(rest):
        verb = f"'{short['verb']}"
        if verb == "'d" and not re.match(r"(?:rather|like|love|prefer)\b", short["rest"]):
            return None
        return f"{speaker} {AGREEMENT[verb]} {short['rest']}" if not _joins(short["rest"]) else None
    words = rest.split()
    before = [words.pop(0)] if words and words[0].lower() in _ADVERBS else []
    if not words:
        return None
    verb = _agreed(words[0].lower().replace("’", "'"))  # noqa: RUF001
    if verb is None or _joins(" ".join(words[1:])):
        return None
    return " ".join([speaker, *before, verb, *words[1:]])


def _agreed(verb: str) -> str | None:
    if verb in AGREEMENT:
        return AGREEMENT[verb]
    if verb in _REGULAR:
        return f"{verb}s"
    past = verb.endswith("ed") and len(verb) > 4 and not verb.endswith("eed") and verb not in _NO_PAST
    return verb if verb in _PAST or past else None


def _joins(rest: str) -> bool:
    """Whether more verbs may follow that would have to agree as well: "… and work at Globex". What is joined is surely
    none where it is a name, a number or has an article."""
    joined = _JOINED.findall(rest)
    known = (word.strip(",.").lower() for word in rest.split())
    return not all(map(_NOUN.match, joined)) or (bool(joined) and any(w in _REGULAR or w in AGREEMENT for w in known))


def _of_mine(text: str, speaker: str) -> str | None:
    """My sister lives in Leeds: what is the speaker's is named after the speaker, and the verb agrees already."""
    found = _MINE.fullmatch(text)
    if found is None or not _SINGULAR.match(found["rest"]) or re.search(r"\b[Ii]\b", found["rest"]):
        return None
    owner = f"{speaker}'" if speaker.endswith("s") else f"{speaker}'s"
    return f"{owner} {found['rest']}"
