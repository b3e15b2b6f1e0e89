"""A sentence told again in the third person, its subject named, so that it can be read by itself a year later."""

import re
from dataclasses import dataclass, replace

from recollect.policy.speech import referents as about
from recollect.policy.speech.idle import MUCH, PRAISE
from recollect.policy.speech.referents import KIN, Referents, possessive
from recollect.policy.speech.verbs import BASES, is_adverb, is_doing, is_form, is_past, third_person

TEAM = "the team"
_LITERAL = r"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”|\w+://\S+|[\w.+-]+@[\w-]+\.[\w.-]+|\S*[/\\]\S*|\S*\w[._=:#]\w\S*|#\w+"
_TOKENS = re.compile(rf"(?P<literal>{_LITERAL})|(?P<word>[^\W\d_]+(?:'[^\W\d_]+)?(?![\w]))|(?P<other>\w+|[^\w\s])")

_SHORT = re.compile(
    r"\b(i|we|you|he|she|it|they|that|there|who|what|where|here|name|this|mine)'(d|s|m|ve|ll|re)\b(?=(\s+[\w']+)?)"
    r"|\b(is|are|was|were|do|does|did|has|have|had|would|could|should|must|need|ca|wo)n't\b",
    re.IGNORECASE,
)
_ODD = re.compile(
    r"\b(?:im|ive|gonna|wanna|gotta|cannot)\b|\bkeep (?:it|this|that) (?:to yourself|between us|quiet)\b|"
    r"\bas (?:they are|it is)\b(?=[,.;]|$)",
    re.IGNORECASE,
)
_FULL = {"im": "I am", "ive": "I have", "gonna": "going to", "wanna": "want to", "gotta": "have to", "cannot": "cannot"}
_HAD = frozenset("better been already".split())
_HAS = frozenset("been got had become gone made taken given brought changed taught shown grown helped".split())
_NOT_OWNED = frozenset(
    """a an the to at in on for from with by and or but so because if when as is was will would can said says that about
    again back home up down out off over away today tomorrow yesterday now then there here too either instead
    who whether
    not every each all until since before after this once""".split()
)


@dataclass(frozen=True, slots=True)
class Voice:
    """Whose sentence it is, who "we" are, and who and what was spoken of before."""

    speaker: str
    we: str
    referents: Referents
    you: str = "the assistant"


_THING_IS = re.compile(r"\b([a-z]{3,})'s(?= (?:on|at|in|from|due|signed|done|ready|over)\b(?!-))")
_KIN_IS = re.compile(
    r"\b(" + "|".join(sorted(KIN, key=len, reverse=True)) + r")'s (?=(?:an?|the|in|at|on|not|also|so|very|"
    r"vegan|vegetarian|"
    r"allergic|pregnant|sick|ill|fine|away|back|here|there|called|diabetic|deaf|retired|married|moving|"
    r"working|living|going|coming|getting|visiting|"
    r"staying|studying|turning|having|selling|buying|leaving|starting|expecting|looking|waiting|doing)\b)",
    re.IGNORECASE,
)


def expanded(text: str) -> str:
    """Short forms written out: "I've" is "I have"."""
    if "'" in text:
        text = text.replace("'cause ", "because ")
        text = _THING_IS.sub(r"\1 is", text)
        text = _KIN_IS.sub(r"\1 is ", text) if "'s " in text else text
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
            if self._before == "to" and self._next(place) in BASES:
                self._subject = False  # what follows "to" is no verb of the clause
        return "".join([*self._said, self._text[position:]])

    def _word(self, word: str, place: int) -> str:
        low = word.lower()
        if low not in _TOLD or (len(word) > 1 and word.isupper() and self._text != self._text.upper()):  # the US, IT
            told = self._verb(word, low, place) if self._pending or self._subject else word
            self._subject = self._subject and low not in _MODAL  # "will go and see": no verb of its own follows
            return told
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
                following = self._next(place) or ""
                self._pending = self._before in _OPENING and (following in BASES or third_person(following) in _BE)
                return voice.you
            case "me":
                return voice.speaker
            case "us":
                return voice.we
            case "myself" | "ourselves" | "yourself" | "himself" | "herself" | "itself" | "themselves" if (
                self._before not in _TO_SOMEBODY
            ):
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
        before = self._voice.referents
        now = about.after(before, "".join(self._said), self._voice.speaker, own=False)
        now = replace(now, things=now.things or before.things, groups=now.groups or before.groups)
        match low:
            case "she" | "her" if now.person(low) is None and self._next(place) in ("is", "has", "was"):
                return now.thing or low  # a boat
            case "he" | "she" | "him" | "himself" | "herself":
                clause = re.split(r"[,;]| and | but ", "".join(self._said))[-1]
                return self._short(now.person(low, clause)) or low
            case "his" | "hers":
                return _of(self._short(now.person(low)), low)
            case "her":
                owned = self._next(place)
                found = now.person(low)
                found = self._short(found)
                return _of(found, low) if owned and owned not in _NOT_OWNED else found or low
            case "that":
                return now.thing or low
            case "it" | "they" if _DUMMY.match(self._text, self._tokens[place].start()):
                return low  # it means nothing in particular, or only says how somebody finds it
            case "it" if self._before in _TO_SOMEBODY and before.thing:
                return before.thing  # "a rule for it": not the rule
            case "it" if place == 0:
                return before.subject or now.thing or low
            case "it" | "itself":
                return low if now.thing and self._acts(now.thing) else now.thing or low
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

    def _acts(self, thing: str) -> bool:
        """Whether the clause so far begins with the thing: what it does, it does to something else."""
        clause = re.split(r"[,;:]| and | but ", "".join(self._said))[-1].strip().lower()
        return self._before not in _OPENING and clause.startswith(thing.lower())

    def _short(self, name: str | None) -> str | None:
        """Somebody who was named in this sentence already is called by the name alone."""
        if name is None or " " not in name or name not in "".join(self._said):
            return name
        last = name.rsplit(" ", 1)[1]
        return last if last[:1].isupper() else name

    def _about(self, subject: str) -> str:
        self._pending = self._before not in _HELPING
        self._subject = True
        return subject

    def _verb(self, word: str, low: str, place: int) -> str:
        if self._pending:
            if is_adverb(low) or (low == "of" and self._before in ("kind", "sort")):
                return word
            self._pending = False
            if low in ("and", "or", "who", "to", "for", "in", "at", "with", "on"):
                return word
            return self._inflected(word, low, place)
        if self._subject and low in BASES and self._before in ("and", "or", "but") and self._next(place) != "is":
            return third_person(word)
        if low == "am" and word != "AM" and not self._before[-1:].isdigit():
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


_OPENING = frozenset(("", ",", "and", "but", "so", "that", "if", "when", "because", "what", "how", "where", "while"))
_MODAL = frozenset("will would can could should must might may shall cannot did didn't won't can't".split())
_BE = frozenset("is was has does".split())
_DUMMY = re.compile(
    r"it all\b|"
    rf"(?:it|they)\s+(?:(?:really|just|always|also|still|only|definitely|all)\s+)*(?:(?:is|was|are|were|has been|"
    rf"have been|"
    rf"had been|will be|would be|must be|can be|could be|might be|may be|must have been|feels?|felt|looks?|looked|"
    rf"sounds?|sounded|seems?|seemed|gets?|got|is going to be)\s+{MUCH}(?:{'|'.join(sorted(PRAISE))}|(?<=so )\w+|"
    rf"(?<=super )\w+|(?<=pretty )\w+|to|that|when|"
    rf"how|like|what|about|not|in these|in those|raining|snowing|time|clear|possible|likely|late|early)\b|"
    rf"(?:means?|meant|turns? out|takes? (?!\d)|took (?!\d)|makes? (?:me|sense|us|you|him|her|life)|reminds?|reminded|"
    rf"brings?|feels?|felt|seems?|helps?|keeps? me|gives? me|gave me|made me)\b)",
    re.IGNORECASE,
)
_HELPING = frozenset("did do does can could will would should shall must may might to let help make".split())
_TO_SOMEBODY = frozenset("to for by about with from of than like at on".split())
_OTHERS = frozenset("he she him her his hers himself herself it its itself they them their theirs themselves".split())
_TOLD = _OTHERS | frozenset("i we you me us my mine our ours your yours myself ourselves yourself that am".split())


def _of(owner: str | None, pronoun: str) -> str:
    return possessive(owner) if owner else pronoun


# -- sentences that leave their subject out -----------------------------------------------------------------

_QUALITIES = frozenset(
    """allergic married retired born vegan vegetarian pescatarian diabetic coeliac celiac based engaged pregnant
    divorced single lactose intolerant originally currently raised widowed dyslexic colourblind colorblind deaf
    left-handed self-employed unemployed""".split()
)
_DROPPED = frozenset(
    """live love hate prefer need have work speak like own play drive study teach want hope plan dislike enjoy grew
    can't cannot couldn't""".split()
)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|am|has|have|had|do|does|did|will|would|can|could|must|should|shall|may|might|"
    r"needs?|cannot|goes|go|runs?|"
    r"lives?|works?|uses?|comes?|gets?|takes?|makes?|keeps?|wants?|likes?|loves?|hates?|prefers?|becomes?|"
    r"starts?|ends?|owns?|stays?|changes?|returns?|"
    r"gives?|locks?|depends?|listens?|expires?|belongs?|requires?|drives?|plays?|speaks?|means?|says?|thinks?|"
    r"knows?|happens?|moves?|leaves?|sits?|eats?|sleeps?|turns?|"
    r"breaks?|fails?|opens?|closes?|stops?|drops?|decides?|calls?|covers?|costs?|pays?|holds?|lies|supports?|"
    r"handles?|ships?|bubbles?|reads?|writes?|sends?|serves?|stores?|points?|wins?)\b|\w'(?:s|re|m|ve|ll|d)\b|n't\b",
    re.IGNORECASE,
)


_POSSESSIVE = re.compile(r"(?<=\w)'s?(?=\s|$)")
_BEEN = frozenset("to in into at on with busy only there".split())
_TOOK = re.compile(
    r"(?:took (?:me|us|some|a while|a lot|ages|time)|felt|made (?:me|us|it)|meant|got me)\b", re.IGNORECASE
)
_LATELY = frozenset("just finally recently already".split())
_PREDICATE = re.compile(
    r"^[^,;]*\b\w+ed (?:me|my|us|our)\b|"
    r"^[^,;]*\b(?:is|are|was|were|has|have|had|can|could|will|would|makes?|made|brings?|brought|helps?|helped|feels?|felt|keeps?|kept|gives?|gave|takes?|sounds?|seems?)\b",
    re.IGNORECASE,
)
_AFTER_DOING = frozenset(
    """to in on at for with a an the my our up out from as into through towards back away around about off over
    under some two three""".split()
)
_STARTS = frozenset("i we he she it they you there who everyone everybody nobody someone".split())


def verbless(text: str) -> bool:
    """Whether nothing in a text can be its verb: "In the week of May 8, 2023."."""
    bare = _POSSESSIVE.sub("", text)
    words = re.findall(r"[a-z]+", bare)
    return not _FINITE.search(bare) and not any(is_form(word) or word.endswith(("s", "ed")) for word in words)


def subjected(text: str, speaker: str, *, dropped: bool, answers: bool = False) -> str | None:
    """The sentence with the subject it left out: "Moved to Leeds" is about who says so. None: it is no sentence.

    `dropped`: the sentence before left it out as well. `answers`: another person was spoken to, so that "vegan" or
    "moving out" may be about anybody they asked about.
    """
    words = re.findall(r"[\w'-]+", text)
    if not words:
        return None
    if text[0] in '"\u201c`':
        return text  # a word that is spoken of, whatever its form
    first = words[0].lower()
    if _TOOK.match(text):
        return None  # its subject is something said before
    if answers and (first in _QUALITIES or is_doing(first)):
        return text if _PREDICATE.search(text) else None
    if first in _QUALITIES:
        return f"I am {text[0].lower()}{text[1:]}"
    if first == "been":
        own = len(words) > 2 and (words[1].endswith("ing") or words[1].lower() in _BEEN)
        return f"I have {text[0].lower()}{text[1:]}" if own else None
    if first == "never" and len(words) > 2 and (is_past(words[1]) or words[1].lower() in ("been", "seen", "done")):
        return f"I have {text[0].lower()}{text[1:]}"
    if is_doing(first) and _PREDICATE.search(text):
        return text  # "Hanging out with them is a joy": the doing is the subject
    if (
        is_doing(first)
        and len(words) > 2
        and words[1].lower() in _AFTER_DOING
        and not _FINITE.search(" ".join(words[1:4]))
    ):
        return f"I am {text[0].lower()}{text[1:]}"
    if is_past(first) and len(words) > 2 and words[1].lower() not in ("is", "are", "was", "were", "has", "have"):
        return f"I {text[0].lower()}{text[1:]}"
    if first in _LATELY and len(words) > 3 and is_past(words[1]) and words[2].lower() not in ("me", "us"):
        return f"I {text[0].lower()}{text[1:]}"
    if first in _DROPPED or (dropped and first in BASES):
        return f"I {text[0].lower()}{text[1:]}"
    if first in _STARTS or _FINITE.search(text) or any(is_form(word) for word in words[1:]):
        return text
    return None
