"""Whether a sentence told in the third person says something to a stranger: a whole sentence, about somebody or
something in particular, that points at nothing outside of it."""

import re

from recollect.policy.distil.support import TELLING, words
from recollect.policy.speech import idle
from recollect.policy.speech.idle import MOODS, PRAISE
from recollect.policy.speech.phrasing import verbless
from recollect.policy.speech.sentences import Sentence
from recollect.policy.speech.turns import injects
from recollect.policy.speech.wellformed import broken, says_nothing

_FRAGMENT = re.compile(
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|\d+) (?:hours?|days?|weeks?|months?|years?) "
    r"(?:in|of|with|at|on|for)\b|"
    r"(?:if|which|who|whose|whom|almost|really|not|just|even|let's|let us|always|never|because|so|than|as|to|and|but|"
    r"or|"
    r"that|this|these|those|it|such|maybe|perhaps|hopefully|definitely|too|also|plus|either|neither|what|how|why|"
    r"cannot|can|could|would|should|been|being|got|gotta|more|most|much|like|something|anything|everything|nothing|"
    r"things|stuff|there(?! (?:is|are|was|were)\\b.*\\d)|here|well|hey|oh|wow|yeah|yes|no|looks?|sounds?|seems?|"
    r"feels?|hope|wish|congrats|kudos|hoping|wishing|loving|glad|excited|thinking of you|somewhat|kind of|gives|"
    r"helps|makes|keeps|takes|gets|brings|means|lets|thanks|"
    r"thank|will|especially|particularly|only|mixed|"
    r"the last (?:chat|talk|time))\b|"
    r"[A-Z]\w+'s (?:going|been|got|doing|gone|all)\b",
    re.IGNORECASE,
)
_SUPPOSES = re.compile(
    r"(?:if|when|whenever|where|while|once|since|until|unless|after(?! \w+ing)|before(?! \w+ing))\b(?![^,]*,\s)",
    re.IGNORECASE,
)
_BROKEN = re.compile(
    r"\b(?:with|for|to|of|at|from|by|the|an?|added) (?:on|in) (?:the )?(?:(?-i:[A-Z])\w+day|(?-i:[A-Z])\w+ \d|week)|"
    r"\b(?:should|could|would|is|does|do|did|can|has|was|are|will) not (?:the user|"
    r"(?-i:[A-Z])\w+)[.,]?(?: (?-i:[A-Z])|$)|"
    r"\b(?:that|this|those|these|then|there|so|here|one|ones|too|as well|either|anyway|though)\.?$|"
    r"\blike (?:that|this|these|those)\b|\b(?:whether|if) (?:that|this|it|these|those)\b|\b(?:balance|combine|use|"
    r"handle|apply|do|avoid|fix|change|address|manage|compare|try|add|improve|achieve) (?:that|this)\b|"
    r"\bis \w+ing\b.* (?:was|is) (?:the|a) (?:right|good|best|great|smart)\b|'s (?:soon|later|to|on|about|at|for|"
    r"in)\b|\bnothing (?:seems|seemed|works|"
    r"worked)\b|^Asked about \"[^\"]*\"?\.?$|\b(?:and|or|but) \.?$|\bthe user the user\b|"
    r"\bto (?:always |never )?(?:been|gotten|gone|done|seen)\b|\bnoted: |\bbut hey\b|, and (?-i:[A-Z])\w+ have\b|"
    r"\bthe (?P<again>\w+) the (?P=again)\b|\banother (?:at|in|on|to|for)\b|"
    r"\bany that\b|^\"[^\"]+\"-|"
    r"^\S+ \w+-\w+ed\b|"
    r"\b(?:loves|hates|wants|needs|likes|works|plays) and [a-z]+ (?:should|is|are|can|will)\b|\bis (?:knowing|"
    r"understanding|"
    r"being|seeing|having)\b|\ba few more (?:in|on|at|to|"
    r"for)\b|\bdoing (?:that|this|so)\b|\b(?:another|first|last|new|"
    r"next|this|that) one\b|"
    r"'s (?:find|move|start|out|with|gets|feel|know|be|go|get|want|think|need|see|do)\b|"
    r"\b(?:did|tackled|tried|started|made|on|got|found|do|try) something (?:new|exciting|special|cool|different|fun|"
    r"else)\b|"
    r"^(?:With|For|From|About|At|By|Without|Among|Of)\b(?!.*, )|"
    r"\b(?P<twice>\w+) (?P=twice)\b(?<!\bhad had)(?<!\bthat that)",
    re.IGNORECASE,
)
_TWICE = re.compile(
    r"(\w+) (?:is|was) (?:(?!\b(?:and|but|because|when|since|that|as|if|so|while|where|after|before|which|who|than)\b)"
    r"[^,.;:-])+ \1 (?:is|was)\b"
)
"""Two sentences with nothing between them."""
PASSING = re.compile(
    r"\b(?:is|was|are) (?:off to|off for|down to|down for|up for|all ears|on the same page|here for|there for|with you|"
    r"in the same boat|about to head|back now)\b|\b(?:has to|have to|got to|needs? to|needed to|wanted to) (?:run|"
    r"go now|head out)\b|"
    r"\b(?:give|gave|gives) (?:it|that) a (?:try|go|shot)\b|\b(?:let|lets) \w+ know\b|\bkeep \w+ posted\b|"
    r"\b(?:find|found) a way\b|\bwhat is going on\b|\bright track\b|\bstay tuned\b|\bno matter (?:how|what)\b|"
    r"\b(?:keep|keeps|kept) (?:that|it|this) in mind\b|\bmeans, |\bsince (?:the user|"
    r"(?-i:[A-Z])\w+) (?:last )?(?:talked|"
    r"spoke|chatted)\b|"
    r"^(?:the user|(?-i:[A-Z])\w+) (?:bets?|can (?:picture|imagine|relate|tell|see)|hopes|wishes|agrees?|"
    r"appreciates?|knows|"
    r"gets|figured|guesses|supposes|swears)\b(?! to)|\b(?:make|made|makes|making|get|getting) (?:the|"
    r"(?-i:[A-Z])\w+'s) \w+(?: \w+)? (?:back|made|through|happen|work|to the)\b|"
    r"\b(?:has|have) not (?:talked|chatted|spoken|seen|caught)\b|\bmixed (?:emotions|feelings)\b|, (?:sounds|looks|"
    r"seems)\b|"
    r"\blike (?:the user|(?-i:[A-Z])\w+) said\b|^\W?(?:that|this|it)\W? is\b|\b(?:can|are|is|could|will) both\b|"
    r"(?-i:[A-Z])\w+ (?:can|will|could) work together\b|"
    r"\b(?:rooting|cheering) for\b|\bchase (?:\w+'s )?dreams\b|\bmake a difference\b",
    re.IGNORECASE,
)
UNSETTLED = re.compile(
    r"\b(?:not sure|unsure|undecided|not decided|does not know|do not know|not clear|unclear)\b.*"
    r"\b(?:how|whether|if|what|which|where|when|who)\b",
    re.IGNORECASE,
)
"""Somebody says what is open."""
_KEEN = re.compile(r"\b(?:keen on|interested in|passionate about|hooked on)\b", re.IGNORECASE)
"""What somebody cares for is more than a mood."""
_VAGUE = re.compile(
    r"\b(?:something|anything|everything|nothing|things?|stuff|a few more|some more|much|somewhere|a lot|lots|more|"
    r"one|others?|someone|somebody)\b",
    re.IGNORECASE,
)
_GENERAL = frozenset(
    """make made take took get got give gave keep kept feel felt think thought know knew say said see saw come came find
    found lot bit way time day week life people thing things something really always never new good great work working
    going need needs want wants look looking love loves like likes help helps share sharing start started try trying
    better best hard important big small much many today every moment moments memory memories experience journey
    details detail figuring figured issues issue problem problems seeing fun bonding creating results tough times lately
    situation stay track bonded blast happy glad great couple wonderful happened happening enjoyed enjoying tried
    support advice
    figure missing wrong went offer tips suggestions ideas idea example examples provide suggest guidance
    dreams dream goals hope mind step steps positive passion passionate motivated amazing world""".split()
)
ORDERS = frozenset(
    """ensure use choose select define create establish provide set start plan identify analyze analyse review update
    check add install configure implement optimize optimise improve include avoid consider prioritize schedule track
    monitor communicate build write test validate handle integrate apply develop engage leverage summarize evaluate seek
    practice limit reduce keep make take find share organize break allocate document deploy verify measure adjust
    research explore compare focus maintain encourage offer join attend prepare save automate enable fetch run clarify
    customize explain understand highlight address discuss reflect celebrate delegate assess determine gather train
    conduct hold network modify query manage calculate outline invest negotiate request contact visit utilize avoid
    confirm decide draft finish finalize get give go have help invite learn list look meet move pick put read remove
    send show stick stop talk tell think try turn wait watch work""".split()
)
"""Words that begin an order, or a line of a plan that was pasted."""
_LEADING = re.compile(r"(?:Considering|Given|Including|Based|Assuming|Depending|Regarding)\b(?!.*, (?:the|[A-Z]))")
_LEAST = 3


def makes_sense(text: str, speakers: frozenset[str], *, request: bool = False) -> bool:
    """Whether the sentence can stand in a summary. `speakers`: who speaks in the thread, in small letters; to be named
    is to be told of, and no content yet. `request`: it tells what was asked of the assistant."""
    if (
        _FRAGMENT.match(text)
        or _SUPPOSES.match(text)
        or _BROKEN.search(text)
        or PASSING.search(text)
        or _TWICE.match(text)
    ):
        return False
    first, _, rest = text.partition(" ")
    if (first.lower() in ORDERS and not re.match(r"(?:is|are|was|were|has|will|can)\b", rest)) or _LEADING.match(text):
        return False
    if says_nothing(text) or verbless(text) or injects(text):
        return False
    if idle.moody(text) and not UNSETTLED.search(text) and not _KEEN.search(text):
        return False
    if (broken(text) and not request) or idle.points(Sentence(text)):
        return False
    told = content(text, speakers)
    vague = bool(_VAGUE.search(text))
    return len(told) >= _LEAST - any(sign.isdigit() for sign in text) + vague


def content(text: str, speakers: frozenset[str]) -> list[str]:
    """The words of a sentence that tell something: not who speaks, nor how it is found."""
    return [
        word
        for word in words(text)
        if word not in speakers
        and word not in TELLING
        and word not in PRAISE
        and word not in MOODS
        and word not in _GENERAL
    ]


def about_somebody(text: str, speakers: frozenset[str]) -> bool:
    """Whether a sentence of a chat is about somebody by name, or holds a number: the rest holds for everybody."""
    low = f" {text.lower()} "
    if any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", low) for name in speakers):
        return True
    return bool(re.search(r"\d|(?<!^)(?<![.!?] )\b[A-Z][a-z]+", text))
