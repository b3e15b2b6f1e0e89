"""Who and what a conversation is about just now, so that "she" and "it" can be told by name."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from recollect.policy.speech.idle import PRAISE
from recollect.policy.speech.verbs import is_adverb, is_form, is_past

_SHE = frozenset(
    """mother mum mom mam mama sister daughter wife girlfriend aunt auntie niece grandmother grandma gran nan granny
    stepmother stepdaughter mother-in-law sister-in-law daughter-in-law fiancée goddaughter landlady girl woman
    midwife bride queen mummy""".split()
)
_HE = frozenset(
    """father dad papa brother son husband boyfriend uncle nephew grandfather grandpa granddad gramps stepfather stepson
    father-in-law brother-in-law son-in-law fiancé godson boy man groom daddy""".split()
)
_ANYONE = frozenset(
    """parent child kid baby partner spouse cousin friend boss manager colleague coworker co-worker teammate roommate
    flatmate housemate neighbour neighbor doctor dentist therapist cardiologist gp teacher coach tutor lawyer
    accountant
    landlord client customer mentor intern nanny cleaner babysitter plumber mechanic physio trainer surgeon
    twin toddler newborn godmother godfather ex supervisor professor student director lead cto ceo designer developer
    contractor auditor dog cat puppy kitten parrot rabbit horse hamster beagle labrador pony bird budgie
    greyhound terrier
    poodle retriever spaniel bulldog collie goat hen turtle tortoise lizard snake ferret""".split()
)
KIN = _SHE | _HE | _ANYONE
PETS = frozenset(
    """dog cat puppy kitten parrot rabbit horse hamster beagle labrador pony bird budgie greyhound terrier poodle
    retriever spaniel bulldog collie goat hen turtle tortoise lizard snake ferret""".split()
)
_STOP = (
    r"is|are|was|were|has|have|had|will|would|can|could|must|should|shall|may|might|do|does|did|moved|runs|"
    r"lives|works|"
    r"says|said|got|gets|goes|went|and|or|but|so|because|in|on|at|to|for|from|with|by|of|about|until|since|"
    r"before|after|"
    r"that|which|who|when|where|while|if|as|than|not|no|now|again|too|also|i|we|you|he|she|they|it|there|needs|takes|"
    r"expires|comes|came|uses|becomes|starts|ends|returns|gives|keeps|wants|thinks|called|named|only|just|"
    r"under|over|into|the|an?|my|our|his|her|their|"
    r"onto|without|within|between|during|listens|locks|depends|stays|changes|drops|broke|failed|died|left"
)
_PHRASE = re.compile(
    rf"(?<![\w'])(?P<det>the|my|our|this|that|a|an|no|"
    rf"(?!(?:that|it|there|what|here|let|who|he|she|where|how|everything|everyone)')\w+'s)\s+"
    rf"(?P<body>(?=['./#-]*\w)(?!(?:{_STOP})\b)[\w'./#-]+(?:\s+(?!(?:{_STOP})\b)[\w'./#-]+){{0,3}})",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"(?<![\w'./@-])(?!(?:Dr|Mr|Mrs|Ms|Prof)\b)[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ'-]+(?:\s[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ'-]+)*(?!\w)"
)
_CALLED = re.compile(r"\b(?:called|named|name is|name's)\s+([A-ZÀ-ÖØ-Þ][\w'-]+)")
_THING = re.compile(
    r"\b(?:from|of|on|with|using|into|called|named)\s+([A-Z][\w.+-]*|[a-z]+[\d_][\w.+-]*)(?=\s*(?:[.,;:!?]|$|and\b|but\b|so\b|or\b))"
)
_IS_NAMED = re.compile(r"\b(?:is|was|called|named)\s+(?:(?:Dr|Mr|Mrs|Ms|Prof)\.?\s+)?$")
_PREPOSITION = re.compile(
    r"\b(?:in|on|at|for|from|with|of|by|to|about|near|into|over|after|before|during|since|until|as|than|like|per|via|"
    r"without|through|around|under|between)\s$",
    re.IGNORECASE,
)
_USED = re.compile(r"\b(?:use|using|via|install|add|adopt|drop) ([A-Z][\w+-]*)")
_PLACE = re.compile(r"\b(?:in|at|on|near|via|around|of)\s(?:[A-Z]\w+,\s)?$")
_SUBJECT = re.compile(
    r"(?:'s)? (?:is|was|has|had|will|would|can|asked|said|told|wants?|thinks?|says|and [A-Z]|\w+s|\w+ed)\b"
)
_MANY = re.compile(
    r"(?:^|\b(?:edits?|uses?|keeps?|stores?|runs?|writes?|reads?|makes?|builds?|sends?|takes?|needs?|has|have|"
    r"likes?|hates?|loves?|wants?|avoids?) )([A-Za-z]{3,}s)\b"
)
NOT_NAMES = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday january february march april may june july
    august september october november december christmas easter the a an i my our we he she they it this that
    these those yes no ok okay please also and but so if when what which who how why english german french
    spanish italian danish polish dutch swedish norwegian turkish chinese japanese""".split()
)


_NO_PERSON = ("ing", "ness", "tion", "ment", "ity", "ies", "ship", "ings", "ers", "ors", "ons", "ts", "ds", "ce")
_COMMON_STARTS = re.compile(
    r"(?:family|success|writing|painting|music|dance|art|life|love|nature|time|work|food|people|everyone|everything|"
    r"nothing|hopefully|unfortunately|luckily|thankfully|sometimes|maybe|being|having|just|such|some|all|most|many)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who was spoken of: how to call them, and whether "she" or "he" may mean them (None: either)."""

    name: str
    woman: bool | None = None


@dataclass(frozen=True, slots=True)
class Referents:
    """Who and what was spoken of last, latest first."""

    persons: tuple[Person, ...] = ()
    latest: int = 0
    """How many of the persons the last sentence that named somebody named."""
    things: tuple[str, ...] = ()
    """Of the last sentence alone: what "it" may mean."""
    subject: str | None = None
    """The thing the last sentence is about: what "it" means at the beginning of the next one."""
    groups: tuple[str, ...] = ()
    """Of the last sentence alone: what "they" may mean."""

    def person(self, pronoun: str, clause: str = "") -> str | None:
        """Whom "she" or "he" means, where it can be only one. "Him" is nobody named in the same clause."""
        if pronoun == "him" and clause:
            others = [person for person in self.persons if person.name not in clause]
            return replace(self, persons=tuple(others), latest=0).person(pronoun)
        woman = pronoun in ("she", "her", "hers", "herself")
        for some in (self.persons[: self.latest], self.persons[self.latest :]):
            surely = [person.name for person in some if person.woman is woman]
            maybe = [person.name for person in some if person.woman is None]
            if surely or maybe:
                return _only(surely or maybe)
        return None

    @property
    def thing(self) -> str | None:
        return _only(self.things)

    @property
    def group(self) -> str | None:
        return _only(self.groups)


def _only(names: Sequence[str]) -> str | None:
    """The one that is meant, or None where there are several. "Anna" and "Mara's sister Anna" are one."""
    fullest = max(names, key=len, default=None)
    return fullest if fullest and all(name in fullest for name in names) else None


def after(referents: Referents, text: str, speaker: str, *, own: bool = True, we: str = "") -> Referents:
    """Who and what is spoken of after a sentence. `own`: its "my" is the speaker's; an assistant has no sister.
    `we`: whose "our" is, where that is not the speaker."""
    persons: list[Person] = []
    things: list[str] = []
    groups: list[str] = []
    taken: list[tuple[int, int]] = []
    subject: str | None = None
    for match in _PHRASE.finditer(text):
        phrase = _Phrase(match, speaker if own else "", we or speaker, speaker)
        taken.append(match.span())
        if re.search(r"(?:\bnot|n't|\bnever) (?:have|has|own)\s$", text[: match.start()]):
            continue
        if match["det"][0].isupper() and match["det"].endswith("'s") and match["det"][:-2] not in (speaker, "The"):
            whose = match["det"][:-2]
            low = whose.lower()
            persons.append(Person(whose, True if low in _SHE else False if low in _HE else None))
        if phrase.kin:
            persons.append(phrase.person(text))
        elif phrase.clean and not _PREPOSITION.search(text[: match.start()]):
            (groups if phrase.plural else things).append(phrase.told)
            if match.start() == 0 and not phrase.plural:
                subject = phrase.told
    for match, name in _names(text, taken):
        if name != speaker:
            groups.append(name)
            if not (persons and _IS_NAMED.search(text[: match.start()])):
                persons.append(Person(name))
    groups += [
        f"the {match[1].lower()}"
        for match in _MANY.finditer(text)
        if not match[1].lower().endswith(("ss", "us", "is", "ways"))
    ]
    if re.search(r"\b(?:someone|somebody)\b", text):
        persons.append(Person("the person"))
    things += [match[1] for match in _USED.finditer(text)]
    if not things:
        things += [match[1].rstrip(".") for match in _THING.finditer(text) if not _common(match[1])]
    found = _unique(persons)
    return Referents(
        persons=(*found, *referents.persons)[:6],
        latest=len(found) or referents.latest,
        things=tuple(dict.fromkeys(things)),
        subject=subject,
        groups=tuple(dict.fromkeys(groups)),
    )


def _names(text: str, taken: list[tuple[int, int]]) -> Iterator[tuple[re.Match[str], str]]:
    """The names in a text that may be somebody's, other than those in noun phrases and those of places."""
    for match in _NAME.finditer(text):
        words = [word for word in match.group().split() if word.lower().split("'")[0] not in NOT_NAMES]
        name = " ".join(words).removesuffix("'s")
        if (
            not name
            or any(start <= match.start() < end for start, end in taken)
            or _PLACE.search(text[: match.start()])
        ):
            continue
        rest = text[match.end() :]
        acts = _SUBJECT.match(rest) or _acts(rest)
        if match.start() == 0 and (not acts or name.lower().endswith(_NO_PERSON) or _COMMON_STARTS.match(name)):
            continue
        yield match, name


def _acts(rest: str) -> bool:
    """Whether a verb in the past follows: "Anna met Paula"."""
    word = re.match(r"\s([a-z]+)\b", rest)
    return word is not None and is_past(word[1])


def _unique(persons: list[Person]) -> list[Person]:
    """The persons of a sentence, the one it starts with first: that is who the next one goes on about."""
    found: dict[str, Person] = {}
    for person in persons:
        found.setdefault(person.name, person)
    return list(found.values())


def _common(word: str) -> bool:
    low = word.lower()
    return (
        low in NOT_NAMES
        or low in ("me", "us", "you", "him", "her", "them", "there", "here", "that", "this", "now", "then")
        or len(low) < 3
    )


_NO_THINGS = frozenset(
    """team user assistant person time way lot bit day week month year moment morning evening while few one
    couple hour minute same other next last first thing stuff point case question""".split()
)
_GOES_ON = re.compile(r"\s+(?:on|in|to|at|for|from|with|by|as|about|into|up|out|off|down|the|a|an|\d)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Phrase:
    """A noun phrase: a determiner and what follows it."""

    match: re.Match[str]
    speaker: str
    we: str
    teller: str
    words: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        words = self.match["body"].rstrip(".,'").split()
        object.__setattr__(self, "words", tuple(words[: self._end(words)]))

    def _end(self, words: list[str]) -> int:
        """Where the phrase stops: at a verb, or at whoever speaks."""
        rest = self.match.string[self.match.end() :]
        for place, word in enumerate(words):
            if place and (word in (self.speaker, self.teller) or is_adverb(word) or word[:1] in "'-"):
                return place
            last = place == len(words) - 1
            if place and is_form(word) and word.islower() and (not last or is_past(word) or _GOES_ON.match(rest)):
                return place
        return len(words)

    @property
    def kin(self) -> int | None:
        """Where the word for a relative, colleague or pet stands, counted from 1."""
        for place, word in enumerate(self.words, 1):
            if word.lower().rstrip(",'") in KIN and not word.lower().endswith("'s"):
                return place
        return None

    @property
    def plural(self) -> bool:
        last = self.words[-1].lower()
        return last.endswith("s") and not last.endswith(("ss", "us", "is", "'s")) and len(last) > 3

    @property
    def clean(self) -> bool:
        """Whether it is a plain noun phrase that reads well in the place of "it"."""
        *front, last = (word.lower() for word in self.words)
        return (
            self.match["det"].lower() not in ("that", "this", "no")
            and last not in _NO_THINGS
            and len(self.words) <= 4
            and last not in PRAISE
            and not any("'" in word or word.endswith("-") or is_adverb(word) for word in (*front, last))
            and not (self.match["det"].endswith("'s") and (front or [last])[0] in PRAISE)
        )

    @property
    def told(self) -> str:
        """The phrase as it is told later: "my passport" is Imelda's, "a house" has become the house."""
        return f"{self.owner} {' '.join(self.words)}"

    @property
    def owner(self) -> str:
        det = self.match["det"]
        match det.lower():
            case "my" if self.speaker:
                return possessive(self.speaker)
            case "our" if self.speaker:
                return possessive(self.we)
            case "the" | "a" | "an" | "this" | "that" | "my" | "our" | "no":
                return "the"
            case _:
                return det

    def person(self, text: str) -> Person:
        place = self.kin or 1
        noun = self.words[place - 1].lower().rstrip(",'")
        names = [word for word in self.words[place:] if word[:1].isupper() and word.lower() not in NOT_NAMES]
        near = _CALLED.search(text) or re.match(r",?\s*([A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ'-]+)", text[self.match.end() :])
        name = " ".join(names) or (near[1] if near and near[1].lower() not in NOT_NAMES else "")
        told = " ".join([self.owner, *self.words[:place], name]).strip()
        return Person(told, True if noun in _SHE else False if noun in _HE else None)


def possessive(name: str) -> str:
    return f"{name}'" if name.startswith("the ") and name.endswith("s") and not name.endswith("ss") else f"{name}'s"


def named(person: Person, name: str) -> Person:
    """The same person, now that the name is known."""
    return person if name in person.name else replace(person, name=f"{person.name} {name}")
