"""Turns that are no statements as a whole: injections, system prompts, role play, and what somebody else wrote."""

import re
from collections.abc import Iterator, Sequence

_INJECTION = re.compile(
    r"""ignore\s(?:all\s|any\s|the\s|your\s)*(?:previous|prior|above|earlier|other|former)\s
    |disregard\s(?:all|any|the|your|previous|prior)\s
    |forget\s(?:all|your|every|everything|any)\s(?:previous|prior|instructions|rules|memor|you)
    |\b(?:ai|llm|language\smodel|chat)[\s-]?(?:assistants?|agents?|models?|bots?|systems?)?\s?(?:reading|
    processing|must|should|shall|please|:)
    |\b(?:note|message|instructions?|attention|notice)\s(?:to|for)\s(?:all\s|any\s|the\s|every\s)*(?:ai|llm|
    assistants?|agents?|bots?|models?)\b
    |\bremember\s(?:that\s|this:?\s|always\sthat\s)?(?:you\s(?:must|should|shall|are|have|may|can|will|obey|
    always|never)|the\suser\s(?:has|have|is|wants|allows?|approve|agree|consent))
    |\bfrom\snow\son\b.{0,40}\b(?:you\s(?:obey|are|will|must|have|belong)|obey)
    |\byou\s(?:are\snow\s(?:an?|the|my|in|free|unrestricted|called|named)\b|must\snow|will\snow|obey|now\sobey|
    have\sbeen\s(?:granted|given|authori[sz]ed|
    reprogrammed)|no\slonger\sneed\sto\sask)
    |\b(?:permanent|hidden|secret|system|new|override|admin)\s(?:rule|instruction|directive|prompt|command|
    override)s?\b
    |\bsystem\sprompt\b|\bdeveloper\smode\b|\bjail\s?break|\boverride\s(?:phrase|code|all|the\s(?:rules|safety|
    system))
    |\b(?:do\snot|don't|never)\s(?:tell|inform|ask|alert|mention\sthis\sto|show\sthis\sto|
    reveal\sthis\sto)\s(?:the\s)?(?:user|him\sagain|her\sagain|them\sagain|owner|anyone\sfor\s(?:confirmation|
    permission))
    |(?:^|[.!?\n])(?:(?!\b(?:we|i|i'd|our|my)\b)[^.!?\n]){0,90}\bwithout\s(?:asking|confirmation|confirming|
    further\sapproval|permission|telling\sthe\suser)
    |\b(?:approved?|authori[sz]ed?|pre-approved|consented\sto|allows?)\s(?:all|any|every|the\stransfer|
    unlimited|automatic)\b
    |\b(?:full|unlimited|unrestricted|root|admin(?:istrator)?)\s(?:access|rights?|permissions?|
    privileges)\s(?:to\s(?:every|all|any|anyone)|for\s(?:every|all|any)|have\sbeen|has\sbeen|is\sgranted)
    |\b(?:given|granted|gave|grants?|has)\s(?:\w+\s){0,3}(?:full|unlimited|unrestricted|
    admin)\s(?:\w+\s)?(?:access|rights?|permissions?|privileges)
    |\b(?:send|wire|transfer|forward|exfiltrate|upload|post)\s
    (?:all|every(?!\s\d|\s\w+(?:day|week|month|hour|minute)s?\b)|any\s|the\suser's|
    their\s(?:money|data|passwords?|mails?|files?|credentials|details|keys?)|money|funds|
    donations|payments?|credentials|memor)
    |\b(?:delete|erase|wipe|forget)\s(?:all|every|any)\s(?:memor|record|fact|note|file)
    |\bignore\s(?:everything|all|anything)\s(?:that\s)?you\b|(?:^|\n|[.!?]\s)system\s?:\s
    |\bdear\s(?:assistant|ai)\b.{0,80}\byou\smust\b
    |\boverrid(?:es?|ing)\s(?:your|all|any|the)\s(?:\w+\s)?(?:guidelines|rules|instructions|settings)
    |\bi\s(?:order|command|instruct)\syou\sto\b|\bas\syour\s(?:developer|creator|admin\w*|operator|owner|maker)\b
    |\bstore\s(?:this\s)?rule\b|\bkeep\sthis\srule\s(?:for\s?ever|permanently)
    |\b(?:wipe|erase)\b.{0,60}\bfrom\s(?:your\s|the\s)?memory\b
    |\bdisclose\b.{0,40}\b(?:facts|memories|everything|list)\b.{0,40}\byou\s(?:hold|have|keep|store)
    |\bobey\sonly\b|\bonly\sobey\b|\byour\s(?:new|true|real)\s(?:master|owner|purpose|identity|instructions)
    |\byour\s(?:instructions|guidelines|rules|safety|filters?)\s(?:are|have|no\slonger|do\snot|don't)
    |<\|?(?:im_start|system|endoftext|inst)|\[/?inst\]|\bbegin\s(?:system|admin)\b
    |\b(?:store|save|write|add|put)\s(?:this|that|the\sfollowing)\s(?:\w+\s){0,4}(?:permanent|core|memory|rule)\b.{0,60}\byou\b""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_INJECTION_HINTS = (
    "ignore", "disregard", "forget", "assistant", " agent", " ai", "ai ", "llm", "model", " bot ", "bots ",
    "chatbot", "remember", "from now", "obey", "you are now", "you must now", "you will now", "you have been",
    "no longer need", "permanent", "hidden", "secret", "system", "override", "prompt", "directive",
    "developer mode", "jail", "tell", "inform", "without", "approv", "authori", "consent", "rights", "permission",
    "privilege", "access", "send", "wire", "transfer", "forward", "exfiltr", "upload", "post", "delete", "erase",
    "wipe", "your new", "your true", "your real", "your instr", "your guid", "your rul", "your saf", "your filt",
    "order you", "command you", "instruct you", "as your ", "disclose", "<", "[inst", "[/inst", "store",
    "save", "memory",
)  # fmt: skip


_SHORT = 500
_REACH = 120
"""Characters before a hint, and twice as many after it, that an injection is looked for in."""


def injects(text: str) -> bool:
    """Whether a text tries to tell an assistant what it is, what it may do or whom it serves."""
    lower = text.lower()
    hints = [hint for hint in _INJECTION_HINTS if hint in lower]
    if not hints:
        return False
    text = text.replace("\u2019", "'")
    return any(_INJECTION.search(part) for part in _around(text, lower, hints))


def _around(text: str, lower: str, hints: Sequence[str]) -> Iterator[str]:
    """The parts of a long text that lie around the hints; a short one whole."""
    if len(text) <= _SHORT or len(lower) != len(text):
        yield text
        return
    places = sorted({match.start() for hint in hints for match in re.finditer(re.escape(hint), lower)})
    start = end = 0
    for place in places:
        if place - _REACH > end:
            yield text[start:end]
            start = max(0, place - _REACH)
        end = place + 2 * _REACH
    yield text[start:end]


_SYSTEM = re.compile(
    r"\byou are (?:an?|the) (?:\w+[\s,-]){0,4}(?:assistant|agent|ai|chatbot|bot|model|expert|copilot)\b|"
    r"\bknowledge cutoff\b|\bnever reveal these\b|\bavailable tools\b|^\s*(?:<system>|system:|### ?system)|"
    r"\byou have access to (?:the following|these) tools\b",
    re.IGNORECASE,
)
_PLAY = re.compile(
    r"\b(?:let's (?:play|pretend|do a role|role)|pretend (?:to be|you|that|i|we)|role[- ]?play|act as|(?:^|"
    r"[.!?]\s)play (?:an?|the) (?:\w+ )?(?:\w+er|\w+or|king|queen|\w+man)\b|"
    r"play the (?:role|part)|"
    r"you(?:'re| are| play| be) (?:now )?(?:an? |the |my )?(?:\w+ ){0,2}(?:pirate|wizard|dragon|knight|king|"
    r"queen|detective|captain|"
    r"interviewer|villain|hero|elf|vampire|robot|butler|dungeon master|game master|bartender|merchant|alien|"
    r"ghost|salesman|"
    r"shopkeeper|patient|recruiter|guard)\b|imagine (?:you|that you|i|we)(?:'re| are| were|'m| am)|"
    r"in character|in the (?:game|story|scene)|"
    r"made[- ]up|fictional|practice (?:interview|dialogue|conversation)|mock interview|my character|"
    r"i(?:'ll| will) (?:play|be) (?:the|a|an)\b|answer as|speak as|dungeon|improv\b|"
    r"(?:write|compose|draft|tell|give|make up|continue|invent) (?:me |us )?(?:an? |the |"
    r"another )?(?:\w+ ){0,3}(?:story|poem|tale|scene|sketch|"
    r"monologue|dialogue|song|limerick|haiku|novel|fanfic|fairy tale|script|backstory|persona))",
    re.IGNORECASE,
)
_PLAY_OVER = re.compile(
    r"\b(?:end of (?:the )?(?:role|game|scene|interview|story)|out of character|stop (?:the )?(?:game|role|"
    r"play)|back to (?:reality|work|normal)|"
    r"(?:game|scene|role[- ]?play|interview) (?:is )?over|enough (?:of the )?(?:role|play|games))",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"(?:^|\n|: )dear (?:sir|madam|mr|mrs|ms|dr|[a-z]+,)|"
    r"\b(?:this is from|this comes from|here(?:'s| is) (?:an?|the|some|what) (?:excerpt|article|e-?mail|quote|"
    r"text|paragraph|passage|abstract|"
    r"letter|transcript|post|tweet|review|lyric|message i got|press release)|copied from|excerpt from|"
    r"quote from|lyrics|"
    r"(?:the|an|this|that|some) (?:poem|story|saying|proverb|joke|letter|article|book|blog|post|paper|novel|"
    r"ad|advert|headline|review|"
    r"fortune cookie|horoscope|textbook|"
    r"narrator|song|movie|film|character|press release|tweet|stackoverflow|speaker|wiki\w*) (?:says?|said|"
    r"claims?|states?|goes|reads|answer|lives|is called)|"
    r"(?:summari[sz]e|translate|proofread|rephrase|paraphrase|rewrite|edit|correct|shorten|check|review|"
    r"polish) (?:this|the following|that|these|into|it|for me)\b[^.?!\n]*:|"
    r"^\s*(?:translate|summari[sz]e|proofread|rephrase|paraphrase)\b[^.?!\n]*:)",
    re.IGNORECASE,
)


_FOREIGN = (
    "dear ", "poem", "story", "saying", "proverb", "joke", "letter", "this is from", "this comes", "here's",
    "here is", "copied", "excerpt", "quote", "lyrics", "article", "book",
    "blog", "post", "paper", "novel", " ad", "headline", "review", "cookie", "horoscope", "narrator", "song",
    "movie", "film", "character", "release", "tweet", "overflow", "speaker", "wiki", "summar", "translat",
    "proofread", "phrase", "rewrite", "edit", "correct", "shorten", "check", "polish",
)  # fmt: skip


_PLAYFUL = (
    "let's", "pretend", "role", "act as", "play", "you", "imagine", "character", "in the ", "made", "fiction",
    "practice", "mock", "i'll", "i will", "as a", "dungeon", "improv", "write", "compose", "draft", "tell",
    "give", "make up", "continue", "invent",
)  # fmt: skip


def _hinted(text: str, *hints: str) -> bool:
    """A quick look whether a pattern can match at all."""
    lower = text.lower()
    return any(hint in lower for hint in hints)


def prompts(text: str) -> bool:
    """Whether a turn is a system prompt: it tells an assistant what it is."""
    return _hinted(text, "you are", "cutoff", "reveal", "available tools", "system", "you have access") and bool(
        _SYSTEM.search(text)
    )


def plays(text: str) -> bool:
    """Whether a turn starts a role play, a practice dialogue or a story."""
    return _hinted(text, *_PLAYFUL) and bool(_PLAY.search(text)) and not ends_play(text)


def ends_play(text: str) -> bool:
    return _hinted(text, "end of", "out of ch", "stop", "back to", "over", "enough") and bool(_PLAY_OVER.search(text))


def cites(text: str) -> int | None:
    """Where a turn begins to pass on what somebody else wrote, or None."""
    found = _ELSEWHERE.search(text) if _hinted(text, *_FOREIGN) else None
    return found.start() if found else None
