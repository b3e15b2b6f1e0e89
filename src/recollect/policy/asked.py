"""What a question asks: its matter, the words to look for, the people and the times it names.

A question speaks of the answer it wants ("can you list, in order, …") and of its matter. Only the matter is looked for.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from recollect.policy.dates import Mention, mentions

MOST_WORDS = 24
"""Words that are looked for. Of a whole message as a question the rarest are enough, and tell more."""
STATEMENT = 14
"""From so many words on a text is a statement: what it says is looked for, whatever it asks besides."""
_LONGEST = 2_000
"""Characters of a question that asks for days; a longer one is a statement, also where it says one thing all over."""

_ENGLISH = """
a an the and or but if then than so as of at by for from in into on onto to with without about over under up
down out off is are was were be been being am do does did doing done have has had having will would shall
should can could may might must i me my mine myself we us our ours you your yours he him his she her hers it
its they them their theirs this that these those who whom whose which what when where why how there here not
no nor only own same too very just also any some such both each all more most other another between during
before after again further once because while until against through s t d ll m re ve many much kind type sort
get got gets getting tell told say said says ever please likely considered
"""
_OTHER = """
der das des ein eine einen einem einer und oder aber ist sind waren haben hatte ich du er
sie es wir ihr mein dein von zu mit im am auf aus bei nach wer was wann wo wie warum welche welcher
welches le la les un une de et ou est sont était a ont je tu il elle nous vous ils elles mon qui
que quoi quand où pourquoi quel quelle dans sur pour avec el los las una unos y o pero fue ha han yo
tú él ella nosotros mi su qué quién cuándo dónde cómo cuál en por para con del al lo che chi quando
perché quale gli della nel não os um uma foi quem onde
"""
"""The commonest small words of German, French, Spanish, Italian and Portuguese."""
_STOP = frozenset(f"{_ENGLISH} {_OTHER}".split())
_META = frozenset(
    """
    conversation conversations chat chats discuss discussed discussion mention mentioned order brought bring
    aspects aspect list item items summary summarize overview recap walk through throughout across different
    various several provide give show help explain describe know remember recall using use used want wanted
    like based able make
    """.split()
)
"""Words by which a question speaks of itself and of the conversation, not of its matter."""

_TOKEN = re.compile(r"[^\W_]+(?:[-_./:@#'’,+][^\W_]+)*|[^\W_]")  # noqa: RUF001
_CODE = re.compile(r"[/_@#:]|\d[-.]|[-.]\d|\w\.\w")
_PART = re.compile(r"[^\W_]+")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_SENTENCE = re.compile(r"(?<=[.?!])\s+")
_NAME = re.compile(r"[A-Z\u00c0-\u00de\u0391-\u03ab\u0410-\u042f][^\W\d_]+(?:[-'’][A-Z][^\W\d_]+)*")  # noqa: RUF001

_ABOUT_THE_ANSWER = re.compile(
    r"^(?:please )?(?:mention|list|include|give|use|keep|answer|respond|limit|only)\b(?>[^.?!]*"
    r"\b(?:only|items?|words?|sentences?|bullets?|points?|order|format|brief|short)\b)[^.?!]*+[.?!]*+$",
    re.I,
)
_ADJECTIVES = (
    r"(?:(?:very |more )?(?:comprehensive|complete|detailed|brief|short|quick|clear|full|concise|thorough|general)"
    r"[\s,]+(?:and )?)*"
)
_SPOKE = r"(?:brought up|mentioned|discussed|talked about|raised|introduced|covered|asked about|shared|described)"
_FRAMES = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"^(?:hey|hi|hello|ok|okay|so|well|now|and|but|also|please)\b[,\s]+",
        r"^(?:(?:can|could|would|will) you|please|kindly|i(?:'d| would) like (?:you )?to(?: know)?|"
        r"i want (?:you )?to(?: know)?|help me(?: to)?|let me know|do you (?:remember|recall|know)|tell me|remind me|"
        r"show me|explain(?: to me)?|describe)\s+(?:please\s+|also\s+)?",
        r"^(?:list|walk me through|give me|provide(?: me)?(?: with)?|summari[sz]e|outline|recap|go over|recall|"
        r"remember|remind me|tell me|show me|help me(?: to)?|describe|explain)\s+(?:for me\s+)?",
        rf"^(?:a|an|the)?\s*{_ADJECTIVES}(?:summary|overview|recap|outline|rundown|breakdown|timeline|list|account|"
        r"description)\s+(?:of|about|on|covering)\s+",
        r"^(?:the )?(?:(?:exact |correct |chronological )?order|sequence) (?:in|of) (?:which|how|what)?\s*"
        rf"(?:i|we|you)?\s*(?:(?:have |had |'ve )?{_SPOKE})?\s*",
        r"^(?:the )?(?:different|various|several|key|main|all)?\s*(?:the\s+)?(?:aspects?|parts?|topics?|points?|"
        r"details?|things?|facets?|elements?)\s+(?:of|about|related to|regarding)\s+",
        r"^(?:about|how|what|that|of)\s+(?=(?:my|i|we|our|the)\b)",
    )
)
_TAILS = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        r"(?<![,\s])[,\s]*+\b(?:in|across|throughout|during|over|from|based on)\s+(?:all\s+)?(?:of\s+)?"
        r"(?:our|my|the|these|those|this|past|previous|earlier)\s+(?:\w+\s+)?"
        r"(?:conversations?|chats?|discussions?|messages?|sessions?|talks?|exchanges?)\b",
        r"(?<![,\s])[,\s]*+\b(?:in|by) (?:chronological )?order\b",
        r"(?<![,\s])[,\s]*+\b(?:so far|over time)\b",
        r"\b(?:that )?(?:i|we)(?:'ve| have)? (?:discussed|talked about|mentioned|brought up|told you|shared|said)\b",
    )
)
_WHEN = re.compile(
    r"\b(?:when|how long|how many (?:days|weeks|months|years)|what (?:date|day|month|year|time)|"
    r"which (?:day|month|year))\b",
    re.I,
)
_BROAD = re.compile(
    r"\b(?:summar\w+|overview|recap|order in which|walk me through|how many (?:different|times)|list (?:all|the|every)|"
    r"all (?:the|of)|timeline|progress\w*|over time|throughout|across)\b",
    re.I,
)
_ADVICE = re.compile(
    r"\b(?:should (?:i|we)|(?:can|could) (?:i|we|you)|how (?:do|can|would|could|might) (?:i|we|you)|suggest\w*|"
    r"recommend\w*|advi[cs]e|help me|what (?:are|is|would be) (?:some|the best|a good|typical|common)|"
    r"i(?:'m| am) (?:planning|trying|about|applying|thinking|looking|working|updating|considering)|i (?:want|need)|"
    r"i'd like)\b",
    re.I,
)
_LOOKS_BACK = re.compile(
    r"\b(?:did|have|had|has|was|were) (?:i|we|you|my|the)\b|"
    r"\b(?:i|we|you) (?:said|mentioned|told|planned|decided|did|had)\b",
    re.I,
)
_WAS = re.compile(
    r"\b(?:did|was|were|had|been|ago|used to|before|previously|formerly|originally|earlier|yesterday|last|first|ever|"
    r"war|waren|hatte|hatten|wurde|früher|était|étaient|avait|avant|era|eran|fue|fueron|había|antes|foi|foram|"
    r"stato|aveva|prima)\b|\b(?:chang|histor|happen|becom|becam)\w*",
    re.I,
)
"""Words by which a question asks for what was; where one of them means something else, it costs an order of lines."""
_YOUR_WORDS = re.compile(
    r"\b(?:(?:did|have|had) you (?:\w+ )?(?:recommend|suggest|say|said|tell|told|advise|explain|provide|give|propose)|"
    r"you (?:recommended|suggested|said|told|advised|explained|provided|gave|proposed|listed|described)|"
    r"your (?:advice|suggestions?|recommendations?|answers?|explanations?))",
    re.I,
)
_ANCHOR = re.compile(
    r"\b(before|after|since|until)\s+((?:the|my|our|his|her|their|i|we|he|she|they)\b[^,.;?!]{2,80})", re.I
)


@dataclass(frozen=True, slots=True)
class Anchor:
    """An event of its own that the question measures time by: "before the move"."""

    before: bool
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question as it is looked up."""

    matter: str
    words: tuple[str, ...]
    core: tuple[str, ...]
    """The words without those that name a time: a text from that time need not hold them."""
    names: frozenset[str]
    """Words that may be people's names, in lower case."""
    first: date | None = None
    last: date | None = None
    """The days it asks about, where it names any."""
    anchor: Anchor | None = None
    when: bool = False
    """It asks for a time."""
    advice: bool = False
    """It asks for something to be done or proposed: what one likes and wants always holds for it."""
    reply: bool = False
    """It asks for what the assistant said."""
    statement: bool = False
    """It is long, and says more than it asks."""
    now: bool = False
    """It asks how things stand, not how they were or came about: what was said last is the likeliest to hold."""

    def without(self, people: frozenset[str]) -> str:
        """The matter without these people's names. What somebody said seldom holds their own name."""
        if not people & self.names:
            return self.matter
        kept = _NAME.sub(lambda found: "" if _lower(found[0]) in people else found[0], self.matter)
        kept = re.sub(r"(?<!\s)\s++['’]s\b", " ", kept)  # noqa: RUF001
        return " ".join(kept.split()) if _PART.search(kept) else self.matter


def asked(text: str, at: date) -> Asked:
    """What a question asks on that day."""
    matter = _matter(text)
    found = words(matter)
    names = frozenset(_lower(name) for name in _NAME.findall(text)) - _STOP - _META
    if len(found) >= STATEMENT or len(text) > _LONGEST:
        return Asked(matter=matter, words=found, core=found, names=names, statement=True)
    times = mentions(text, at, back=True)
    timeless = frozenset(words(_outside(matter, mentions(matter, at, back=True))))
    return Asked(
        matter=matter,
        words=found,
        core=tuple(word for word in found if word in timeless) or found,
        names=names,
        first=min(time.first for time in times) if times else None,
        last=max(time.last for time in times) if times else None,
        anchor=None if times else _anchor(text),
        when=bool(_WHEN.search(text)),
        advice=bool(_ADVICE.search(text)) and not _LOOKS_BACK.search(text) and not _BROAD.search(text),
        reply=bool(_YOUR_WORDS.search(text)),
        now=not (times or _WAS.search(text) or _BROAD.search(text) or _YOUR_WORDS.search(text)),
    )


def _outside(text: str, times: Sequence[Mention]) -> str:
    ends = [0, *(time.end for time in times)]
    starts = [*(time.start for time in times), len(text)]
    return " ".join(text[end:start] for end, start in zip(ends, starts, strict=True))


def words(text: str) -> tuple[str, ...]:
    """The words of a text that are worth looking for, in their order. Codes, paths and numbers stay whole."""
    found = list(dict.fromkeys(part for token in _TOKEN.findall(text) for part in _parts(token)))
    telling = [word for word in found if word not in _STOP and (len(word) > 1 or not word.isascii() or word.isdigit())]
    return tuple([word for word in telling if word not in _META] or telling or found)


def rarest(found: Sequence[str], frequency: Mapping[str, int], most: int = MOST_WORDS) -> tuple[str, ...]:
    """The rarest of the words, in their order."""
    if len(found) <= most:
        return tuple(found)
    kept = set(sorted(found, key=lambda word: frequency.get(word, 0))[:most])
    return tuple(word for word in found if word in kept)


def stems(word: str) -> list[str]:
    """What a text that speaks of a word holds, roughly: the beginning that its forms share; in scripts without spaces,
    its pairs of letters."""
    if word.isascii():
        return [word if len(word) <= 4 or not word.isalpha() else word[: max(4, len(word) - 3)]]
    if _UNSPACED.search(word):
        return [word[at : at + 2] for at in range(max(1, len(word) - 1))]
    return [word if len(word) <= 4 else word[: max(4, len(word) - 3)]]


def _lower(name: str) -> str:
    return re.sub(r"['’]s$", "", name).lower()  # noqa: RUF001


def _parts(token: str) -> list[str]:
    token = token.lower()
    if _CODE.search(token) or (token[0].isdigit() and "," in token):
        return [token]
    return [part for part in _PART.findall(re.sub(r"['’]s$", "", token))]  # noqa: RUF001


def _matter(text: str) -> str:
    parts = [part for part in _SENTENCE.split(text.strip()) if part]
    kept = [part for part in parts if not _ABOUT_THE_ANSWER.match(part)] or parts
    return " ".join(_unframed(part) for part in kept) or text


def _unframed(sentence: str) -> str:
    """The sentence without what frames it, as long as two words of it are left."""
    for _ in range(4):
        before = sentence
        for frame in _FRAMES:
            sentence = _if_enough(frame.sub("", sentence, count=1), sentence)
        if sentence == before:
            break
    for tail in _TAILS:
        sentence = _if_enough(tail.sub("", sentence), sentence)
    return sentence.strip(" ,")


def _if_enough(shorter: str, sentence: str) -> str:
    return shorter if len(shorter.split()) >= 2 else sentence


def _anchor(text: str) -> Anchor | None:
    found = _ANCHOR.search(text)
    if not found:
        return None
    named = words(found[2])
    return Anchor(found[1].lower() in ("before", "until"), named) if named else None
