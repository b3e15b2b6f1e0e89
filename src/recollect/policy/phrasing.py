"""A sentence told again in the third person, its subject named, so that it can be read by itself a year later."""

import re
from dataclasses import dataclass
from functools import lru_cache

from recollect.policy import referents as about
from recollect.policy.referents import Referents, possessive
from recollect.policy.verbs import BASES, is_adverb, is_doing, is_form, is_past, third_person

TEAM = "the team"
_LITERAL = r"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|\w+://\S+|[\w.+-]+@[\w-]+\.[\w.-]+|\S*[/\\]\S*|\S*\w[._=:#]\w\S*|#\w+"
_TOKENS = re.compile(rf"(?P<literal>{_LITERAL})|(?P<word>[^\W\d_]+(?:'[^\W\d_]+)?(?![\w]))|(?P<other>\w+|[^\w\s])")

_SHORT = re.compile(
    r"\b(i|we|you|he|she|it|they|that|there|who|what|where|here|name|this)'(d|s|m|ve|ll|re)\b(?=(\s+[\w']+)?)"
    r"|\b(is|are|was|were|do|does|did|has|have|had|would|could|should|must|need|ca|wo)n't\b",
    re.IGNORECASE,
)
_ODD = re.compile(r"\b(?:im|ive|gonna|wanna|gotta|cannot)\b|\bkeep (?:it|this|that) (?:to yourself|between us|quiet)\b|\bas (?:they are|it is)\b(?=[,.;]|$)", re.IGNORECASE)
_FULL = {"im": "I am", "ive": "I have", "gonna": "going to", "wanna": "want to", "gotta": "have to", "cannot": "cannot"}
_HAD = frozenset("better been already".split())  # noqa: SIM905
_HAS = frozenset("been got had become gone".split())  # noqa: SIM905
_NOT_OWNED = frozenset(
    """a an the to at in on for from with by and or but so because if when as is was will would can said says that about
    again back home up down out off over away today tomorrow yesterday now then there here too either instead who whether
    not every each all until since before after this once""".split()  # noqa: SIM905 - a list of words reads as words
)


@dataclass(frozen=True, slots=True)
class Voice:
    """Whose sentence it is, who "we" are, and who and what was spoken of before."""

    speaker: str
    we: str
    referents: Referents
    you: str = "the assistant"


def expanded(text: str) -> str:
    """Short forms written out: "I've" is "I have"."""
    if "'" in text:
        text = _SHORT.sub(_full, text).replace("I have got ", "I have ").replace("we have got ", "we have ")
    return _ODD.sub(_odd, text)


def _full(match: re.Match[str]) -> str:
    if match[4]:
        verb = {"ca": "can", "wo": "will"}.get(match[4].lower(), match[4])
        return "cannot" if verb == "can" else f"{verb} not"
    following = (match[3] or "").strip().lower()
    match match[2].lower():
        case "d":
            verb = "had" if following in _HAD or following.endswith("ed") else "would"
        case "s":
            verb = "has" if following in _HAS else "is"
        case "m":
            verb = "am"
        case "ve":
            verb = "have"
        case "ll":
            verb = "will"
        case _:
            verb = "are"
    return f"{match[1]} {verb}"


def _odd(match: re.Match[str]) -> str:
    low = match.group().lower()
    return _FULL.get(low) or ("keep it secret" if low.startswith("keep") else "unchanged")


def retold(text: str, voice: Voice) -> str:
    """The sentence in the third person. A pronoun that nobody can be named for stays, and the validator refuses it."""
    return _Retelling(expanded(text), voice).told()


class _Retelling:
    """Goes through a sentence word by word, keeping in mind whose verb comes next."""

    def __init__(self, text: str, voice: Voice) -> None:
        self._text, self._voice = text, voice
        self._tokens = list(_TOKENS.finditer(text))
        self._pending = False
        """A name took the place of "I" or "we": the next verb is put in the third person."""
        self._subject = False
        """The clause is about the speaker: a verb after "and" is too."""
        self._before = ""
        self._said: list[str] = []

    def told(self) -> str:
        position = 0
        for place, token in enumerate(self._tokens):
            self._said.append(self._text[position : token.start()])
            word = token["word"]
            part = token.group() if word is None else self._word(word, place)
            self._said.append(part)
            position = token.end()
            if word is None and part in ".;:—?!":
                self._pending = self._subject = False
            self._before = part.lower() or self._before
            if self._before == "to":
                self._subject = False  # what follows "to" is no verb of the clause
        return "".join([*self._said, self._text[position:]])

    def _word(self, word: str, place: int) -> str:
        low = word.lower()
        if low not in _TOLD:
            return self._verb(word, low, place) if self._pending or self._subject else word
        told = self._pronoun(low, place)
        if told is None:
            return self._verb(word, low, place)
        return told[0].upper() + told[1:] if place == 0 and told else told

    def _pronoun(self, low: str, place: int) -> str | None:
        voice = self._voice
        match low:
            case "i":
                return self._about(voice.speaker)
            case "we":
                return self._about(voice.we)
            case "you" if self._next(place) in ("know", "guys"):
                return None
            case "you":
                self._pending = self._before not in _HELPING | _TO_SOMEBODY
                return voice.you
            case "me":
                return voice.speaker
            case "us":
                return voice.we
            case "myself" | "ourselves" | "yourself" | "himself" | "herself" | "itself" | "themselves" if self._before not in _TO_SOMEBODY:
                return ""  # "I do that myself": the subject is named already
            case "myself":
                return voice.speaker
            case "ourselves":
                return voice.we
            case "my" | "mine":
                return possessive(voice.speaker)
            case "our" | "ours":
                return possessive(voice.we)
            case "your" | "yours":
                return possessive(voice.you)
            case "yourself":
                return voice.you
            case _:
                return self._third(low, place)

    def _third(self, low: str, place: int) -> str | None:
        if low not in _OTHERS and not (low == "that" and self._next(place) in ("down", "off", "up", "out", "away")):
            return None
        now = about.after(self._voice.referents, "".join(self._said), self._voice.speaker, own=False)
        match low:
            case "he" | "she" | "him" | "himself" | "herself":
                return now.person(low) or low
            case "his" | "hers":
                return _of(now.person(low), low)
            case "her":
                owned = self._next(place)
                found = now.person(low)
                return _of(found, low) if owned and owned not in _NOT_OWNED else found or low
            case "that":
                return now.thing or low
            case "it" | "itself":
                return now.thing or low
            case "its":
                return _of(now.thing, low)
            case "they":
                found = now.group
                self._pending = bool(found) and not (found or "").lower().endswith("s")
                return found or low
            case "them" | "themselves":
                return now.group or low
            case _:
                return _of(now.group, low)

    def _about(self, subject: str) -> str:
        self._pending = self._before not in _HELPING
        self._subject = True
        return subject

    def _verb(self, word: str, low: str, place: int) -> str:
        if self._pending:
            if is_adverb(low):
                return word
            self._pending = False
            if low in ("and", "or", "who", "to", "for", "in", "at", "with", "on"):
                return word
            return self._inflected(word, low, place)
        if self._subject and low in BASES and self._before in ("and", "or", "but") and self._next(place) != "is":
            return third_person(word)
        if low == "am":
            return "is"
        return word

    def _inflected(self, word: str, low: str, place: int) -> str:
        if place + 1 < len(self._tokens) and self._text[self._tokens[place].end()] == "-":
            self._pending = True  # "video-call": the last part is the verb
            return word
        following = self._next(place)
        if following == "not" and low == "do":
            return "does"
        return third_person(word)

    def _next(self, place: int) -> str | None:
        """The word that follows, where no sign stands between."""
        word = self._tokens[place + 1]["word"] if place + 1 < len(self._tokens) else None
        return word.lower() if word else None


_HELPING = frozenset("did do does can could will would should shall must may might to let help make".split())  # noqa: SIM905
_TO_SOMEBODY = frozenset("to for by about with from of than like at on".split())  # noqa: SIM905
_OTHERS = frozenset("he she him her his hers himself herself it its itself they them their theirs themselves".split())  # noqa: SIM905
_TOLD = _OTHERS | frozenset("i we you me us my mine our ours your yours myself ourselves yourself that am".split())  # noqa: SIM905


def _of(owner: str | None, pronoun: str) -> str:
    return possessive(owner) if owner else pronoun


# -- what stands in front of a statement, and behind it -----------------------------------------------------

_LEAD = re.compile(
    r"""^(?:
      (?:ok(?:ay)?|oh|ah|hmm+|haha+|lol|hey|hi|hello|well|anyway|btw|fyi|also|and|but|so|then|plus|yeah|yes|yep|yup|sure|
        great|perfect|cool|agreed|exactly|right|correct|alright|look|listen|sorry|honestly|tbh|actually|basically|generally|
        literally|seriously|thanks|please|pls|yikes|phew|nope|good\smorning|morning|no)(?:\s*[,:;.!—–-]+\s*|\s+(?=and\b|but\b|so\b|no\b|i\b|i'|we\b|it\b|it's|also\b|please\b|the\b|my\b|our\b|use\b|always\b|never\b|yeah\b|yes\b|by\sthe\sway|decision\b))
    | (?:ok(?:ay)?|and|but|so|also|oh|btw|fyi|please|pls|then|because|since|though)\s+
    | (?:by\sthe\sway|just\sso\syou\sknow|for\s(?:the\srecord|reference|future\sreference|context|your\sinformation|what\sit's\sworth|the\sfuture)|
        in\scase\syou\s(?:need|wonder)\w*|it\sturns\sout(?:\sthat)?|turns\sout(?:\sthat)?|as\s(?:i\s(?:said|mentioned)|mentioned|said)|heads[\s-]up|
        quick\s(?:note|update|heads[\s-]up|reminder)|just\sto\s(?:clarify|confirm|be\sclear)|to\sbe\s(?:clear|honest|fair)|one\s(?:more|last)\sthing|another\sthing|
        i\s(?:forgot|wanted|should|have)\sto\s(?:say|mention|tell\syou|add|note|let\syou\sknow)(?:\sthat)?|i\s(?:should|must)\s(?:mention|say|add)(?:\sthat)?|
        (?:please\s)?(?:note|remember|be\saware|keep\sin\smind|don't\sforget|bear\sin\smind|know|save|store)(?:\sthat|\sthis)?(?=\s(?:that|i|my|we|our|the|it|she|he|they)\b)(?:\sthat)?|
        (?:please\s)?(?:note|remember|save|store|don't\sforget)(?:\sthis|\sthat)?\s?:|(?:just\s)?a\sreminder(?:\sthat)?|i\smean|you\sknow|in\sfact|
        @\w+|let's\scall\sit|i\smeant?|argh|ugh|good\snews|bad\snews|news\sflash|long\sstory\sshort|short\sversion|my\sbad|typo|wait|oops|correction|first\sof\sall|first|second|secondly|finally|lastly|also)
        \s*[,:;.!—–-]*\s+
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_TAILS = (
    " please", " pls", " lol", " haha", " hahaha", " hehe", " though", " thanks", " thank you", " thx", " cheers", " ok", " okay",
    " you know", " btw", " by the way", " if that's ok", " sorry", " not worth it", " not worth it for us", " not worth it for me",
    " wish me luck", " fingers crossed", " just fyi", " fyi", " as you know", " yay", " ugh", " oops", " xo",
)  # fmt: skip
_LABEL = re.compile(r"^([^:\n`\"]{2,70}):\s+(?=\S)")
_LABEL_WORDS = frozenset(
    """heads-up headsup note update version context picture background info asked fyi decision decided lesson reminder
    generally news situation deal summary settled tldr tl story question answer way know""".split()  # noqa: SIM905
)
_HEDGE = re.compile(r"^(?:i (?:think|guess|believe|suppose|reckon|assume)|as far as i (?:know|remember)|afaik|iirc|if i remember (?:right|correctly))(?: that)?,?\s+", re.I)


@dataclass(frozen=True, slots=True)
class Stripped:
    """A statement without its wrapping; what the wrapping told about it."""

    text: str
    label: str = ""
    decision: bool = False
    hedged: bool = False


@lru_cache(maxsize=256)
def stripped(text: str) -> Stripped:
    """The statement itself: without "just so you know", "ok, decision from the meeting:", "lol"."""
    text = re.sub(r",?\s(?:though|please|btw|lol|by the way)(?=,)", "", text.strip(" ,;–—-"), flags=re.IGNORECASE)
    label, decision = "", False
    for number in range(6):
        lead = _LEAD.match(text) if number else None
        rest = text[lead.end() :] if lead else text
        if (found := _LABEL.match(rest)) and _wraps(found[1]):
            decision = decision or bool(re.search(r"\bdeci(?:sion|ded)|settled|agreed\b", found[1], re.I))
            label = label or found[1]
            rest = rest[found.end() :]
        if not rest.strip() or (number and rest == text):
            break
        text = rest
    text = _without_tail(text)
    hedge = _HEDGE.match(text)
    return Stripped(text[hedge.end() :] if hedge else text, label, decision, bool(hedge))


def _without_tail(text: str) -> str:
    for _ in range(4):
        bare = text.rstrip(" ,;.!–—-)")
        tail = next((tail for tail in _TAILS if bare.lower().endswith(tail)), None)
        if tail is None or len(bare) - len(tail) < 4:
            return text.rstrip(" ,;–—-")
        text = bare[: len(bare) - len(tail)]
    return text.rstrip(" ,;–—-")


def _wraps(label: str) -> bool:
    """Whether what stands before a colon only announces what follows."""
    words = re.findall(r"[\w-]+", label)
    if words and words[0].lower() in ("put", "add", "save", "log", "record", "store"):
        return True
    if any(word[:1].isupper() for word in words[1:]) or re.search(r"\d|\bfor\b.*\btime\b", label):
        return False
    low = {word.lower() for word in words}
    if words and words[0].lower() in ("write", "remember", "before", "important", "warning", "careful", "reminder", "caution", "attention"):
        return True
    if len(words) <= 3 and low & {"stuff", "things", "info", "details", "facts", "basics"}:
        return True
    return len(words) <= 12 and bool(low & _LABEL_WORDS)


# -- sentences that leave their subject out -----------------------------------------------------------------

_QUALITIES = frozenset(
    """allergic married retired born vegan vegetarian pescatarian diabetic coeliac celiac based engaged pregnant divorced
    single lactose intolerant originally currently raised widowed dyslexic colourblind colorblind deaf left-handed
    self-employed unemployed""".split()  # noqa: SIM905
)
_DROPPED = frozenset(
    """live love hate prefer need have work speak like own play drive study teach want hope plan dislike enjoy grew
    can't cannot couldn't""".split()  # noqa: SIM905
)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|am|has|have|had|do|does|did|will|would|can|could|must|should|shall|may|might|needs?|cannot|goes|go|runs?|"
    r"lives?|works?|uses?|comes?|gets?|takes?|makes?|keeps?|wants?|likes?|loves?|hates?|prefers?|becomes?|starts?|ends?|owns?|stays?|changes?|returns?|"
    r"gives?|locks?|depends?|listens?|expires?|belongs?|requires?|drives?|plays?|speaks?|means?|says?|thinks?|knows?|happens?|moves?|leaves?|sits?|eats?|sleeps?|turns?|"
    r"breaks?|fails?|opens?|closes?|stops?|drops?|decides?|calls?|covers?|costs?|pays?|holds?|lies|supports?|handles?|ships?|bubbles?|reads?|writes?|sends?|serves?|stores?|points?|wins?)\b|\w'(?:s|re|m|ve|ll|d)\b|n't\b",
    re.IGNORECASE,
)


_STARTS = frozenset("i we he she it they you there who everyone everybody nobody someone".split())  # noqa: SIM905


def subjected(text: str, speaker: str, *, dropped: bool) -> str | None:
    """The sentence with the subject it left out: "Moved to Leeds" is about who says so. None: it is no sentence.

    `dropped`: the sentence before left it out as well.
    """
    words = re.findall(r"[\w'-]+", text)
    if not words:
        return None
    first = words[0].lower()
    if first in _QUALITIES:
        return f"I am {text[0].lower()}{text[1:]}"
    if is_doing(first) and len(words) > 2 and not _FINITE.search(" ".join(words[1:4])):
        return f"I am {text[0].lower()}{text[1:]}"
    if is_past(first) and len(words) > 2 and words[1].lower() not in ("is", "are", "was", "were", "has", "have"):
        return f"I {text[0].lower()}{text[1:]}"
    if first in _DROPPED or (dropped and first in BASES):
        return f"I {text[0].lower()}{text[1:]}"
    if first in _STARTS or _FINITE.search(text) or any(is_form(word) for word in words[1:]):
        return text
    return None


# -- orders that last ---------------------------------------------------------------------------------------


_FROM_NOW = re.compile(r"^(?:from now on|going forward|in (?:the )?future|as of now|by default|generally),?\s+(?:please\s+)?", re.IGNORECASE)


def ordered(text: str, voice: Voice) -> str:
    """An order to the assistant, told as what somebody asked for."""
    speaker = voice.speaker
    text = _FROM_NOW.sub("", text)
    low = text.lower()
    if found := re.match(r"(?:let's|lets|let us)\s+(?:please\s+)?", low):
        return f"{voice.we[0].upper()}{voice.we[1:]} decided to {retold(text[found.end() :], voice)}"
    if found := re.match(r"remind me (?:to|that|about|of)\s+", low):
        word = found.group().split()[2]
        return f"{speaker} wants a reminder {word} {retold(text[found.end() :], voice)}"
    if found := re.match(r"call me\s+", low):
        return f"{speaker} wants to be called {retold(text[found.end() :], voice)}"
    if found := re.match(r"(?:remember|note|don't forget|do not forget)\s+to\s+", low):
        return f"{speaker} has to {retold(text[found.end() :], voice)}"
    if found := re.match(r"(?:don't forget|do not forget|remember|note)\s+(?:about\s+)?", low):
        return f"{speaker} noted {retold(text[found.end() :], voice)}"
    if found := re.match(r"(?:don't|do not|dont)\s+(?:ever\s+)?", low):
        return f"{speaker} asked not to {retold(text[found.end() :], voice)}"
    rest = retold(text[0].lower() + text[1:] if not text[:2].isupper() else text, voice)
    if found := re.match(r"(?:no|nothing)\s", low):
        return f"{speaker} wants {rest}"
    if low.startswith(("whenever ", "when ", "if ", "for ", "with ", "in ")):
        return f"{possessive(speaker)} rule: {rest}"
    if low.startswith(("always ", "never ")):
        return f"{possessive(speaker)} rule is to {rest}"
    return f"{speaker} asked to {rest}"
