"""Talk that nobody needs tomorrow: praise, cheer, moods, thanks, generalities, and where a task stands just now."""

import re

from recollect.policy.speech.sentences import Sentence, phrases

PRAISE = frozenset(
    """awesome amazing great good nice cool fantastic wonderful lovely beautiful gorgeous incredible inspiring perfect
    brilliant fun funny sweet stunning super cute adorable fab fabulous terrific impressive exciting fulfilling
    rewarding meaningful special precious powerful emotional enlightening relaxing calming soothing refreshing
    comforting encouraging motivating uplifting touching magical tough hard difficult tricky scary challenging crazy
    wild weird strange important crucial essential key vital necessary worth worthwhile better best bad worse awful
    terrible horrible sad rough stressful nerve-wracking overwhelming interesting fascinating easy simple nice tasty
    delicious yummy peaceful heartwarming thrilling satisfying epic sick dope lit neat solid insane unreal surreal
    unbelievable memorable unforgettable priceless bumpy cozy inviting hilarious sooo soo blast journey rollercoaster
    dream challenge pleasure joy relief honor honour treat shame pity bummer gem vibe""".split()
)
"""Words that say how the speaker finds something, and nothing about it."""
MOODS = frozenset(
    """excited happy glad thrilled proud grateful thankful lucky blessed sure determined stoked nervous anxious worried
    curious hopeful optimistic positive motivated inspired relieved sad upset frustrated stressed overwhelmed confident
    honored honoured pumped psyched eager ready amazed impressed jealous tired exhausted swamped busy sorry fine okay ok
    good great well touched speechless delighted pleased content calm scared afraid terrified ecstatic overjoyed shocked
    surprised confused stuck lost torn bummed down here there back up open kinda keen game with impatient unsure certain
    concerned interested fascinated humbled distracted sidetracked""".split()
)
_FEELINGS = MOODS - set("with here there up down back open ready lost fine well good great ok okay game".split())
MUCH = (
    r"(?:(?:so|actually|really|very|pretty|quite|super|just|too|always|such|truly|also|still|all|definitely|totally|absolutely|"
    r"a bit|a little|kind of|kinda|sorta|sort of|sooo?|even|more|most|how|honestly|already|been|feeling|extremely|"
    r"incredibly|"
    r"both|an?|the|one of the|something|currently|now|only|not|no|never|that|this)\s+)*"
)
_PRAISED = "|".join(sorted(PRAISE, key=len, reverse=True))
_FINDS = re.compile(
    rf"\b(?:is|are|was|were|be|been|feels?|felt|looks?|looked|sounds?|sounded|seems?|seemed|tastes?|'s|'re)\s+{MUCH}"
    rf"(?:(?:{_PRAISED})\b|(?<=so )\w|(?<=super )\w|(?<=soo )\w|(?<=sooo )\w|(?<=pretty )(?!much)\w)",
    re.IGNORECASE,
)
_MOOD = re.compile(
    rf"^(?:\w+,\s+)?(?:i'm|i am|i was|i've been|i have been|i feel|i felt|i'm feeling|i am feeling|we're|we are|"
    rf"we were|"
    rf"i got|i get)\s+{MUCH}(?:{'|'.join(sorted(MOODS, key=len, reverse=True))})\b(?! \w+ing\b)",
    re.IGNORECASE,
)
_MOOD_TOLD = re.compile(
    rf"^(?:(?:but|and|so|now|lately)\b,?\s+)?\S+(?:\s\S+)?\s(?:is|was|has been|feels|felt|gets|got)\s+{MUCH}"
    rf"(?:{'|'.join(sorted(_FEELINGS, key=len, reverse=True))})\b(?! \w+ing\b)",
    re.IGNORECASE,
)
_AT_A_LOSS = re.compile(
    rf"^(?:i'm|i am|i feel|i've been) {MUCH}(?:confused|worried|stuck|lost|unsure|motivated|nervous|anxious|frustrated|"
    rf"overwhelmed|stressed|excited|curious|struggling|concerned|torn|hesitant|wondering)\b",
    re.IGNORECASE,
)
_PROMISE = re.compile(
    r"^i(?:'ll| will) (?!be (?!sure)|have |need |not be |move |start (?!by)|get married|retire|never )(?!.*\d)\w+",
    re.IGNORECASE,
)
_APPROVES = re.compile(
    r"\bsounds?\b|\bexactly what\b|\b(?:helpful|doable|manageable)\b|\bworks? (?:perfectly|well|great|fine|for me)\b",
    re.IGNORECASE,
)
_CHEER = phrases(
    """can't wait, cannot wait, look forward, looking forward, believe in you, proud of you, rooting for, here for you,
    support you, supporting you, cheer you, cheering you, for your support, got this, got your back, hang in there, give
    up, keep pushing, keep going, keep it up, push on, pushing forward, moving forward, stay strong, stay positive,
    staying positive, means a lot, mean a lot, means the world, mean so much, means so much, so much joy, brings me joy,
    bring me joy, makes me happy, make me happy, gives me strength, give me strength, makes me feel, make me feel, keeps
    me going, keep me going, keeps me motivated, at the end of the day, hard work, hard work pays, paid off, paying off,
    pays off, worth it, get through, all the support, all the love, love and support, feel free, let me know, you know
    what, hit me up, check it out, check them out, take care, enjoy it, have fun, had a blast, have a blast, having a
    blast, such a, such an, what a, how far, a reminder of, reminds me, reminded me, remind me of, reminder that, make a
    difference, making a difference, each other, one another, in life, in the world, the world needs, life is, love is,
    family is, friends are, it's all about, all about, the power of, a sense of, on my mind, so many, so much, how much,
    long way, in touch, catch up, catching up, last chatted, last talked, last spoke, chatted, heard from you, your
    words, your story, good vibes, step at a time, try my best, doing my best, do my best, make it happen, making it
    happen, dreams come true, follow your, express myself, express yourself, feels like, felt like, feel like, agree,
    agree with, couldn't agree, i bet, i hope, i hoped, i wish, i'm sure, i know that, i can tell, i can imagine, i can
    see, i can relate, i totally, i'll never forget, will never forget, i appreciate, i admire, i understand, i swear,
    i must say, i have to say, i gotta say, i've got to say, no doubt, for sure, i love that, i love how, i love when,
    i love it when, my advice, never quit, no matter what, keep on, going to keep, doing ok, doing okay, doing well,
    doing great, doing good, cheers for, love this, love that, love it, loved it, i love seeing, love to see, nice
    to, great to, good to, fun
    to, crazy things, a lot of things, funny story, story to tell, not alone, in it together, we all, us all, as humans,
    as people, makes you, make you, gives you, helps you, lets you, helps us, makes us, keeps us, teaches us"""
)
_GOING_ON = phrases(
    """i'm trying, i am trying, i'm still trying, i've been trying, i have been trying, we're trying, having trouble,
    having some trouble, having issues, having some issues, having problems, having difficulty, having a hard time, i'm
    struggling, i am struggling, i'm getting, i am getting, i keep getting, i get an error, getting an error, getting
    this error, an error message, i've tried, i have tried, i tried, i have also tried, i've also tried, doesn't work,
    doesn't seem, does not seem, not working, isn't working, still broken, still failing, not sure, make sure i, wants
    to make sure, want to make sure, want to ensure, need help, needs help, would like help, could use some help, i'd
    like to know, i would like to know, want to know, want to understand, trying to understand, i'm stuck, kinda stuck,
    i'm confused, a bit confused, kinda worried, i'm worried, i'm wondering, i was wondering, as expected, right track,
    the right way, wrap my head, wrapping my head, help me, i'm not getting, i noticed that, i'm seeing, i'm looking at,
    still getting, still seeing, still get, still gets, i'm new to this, i would calculate, i'd calculate, like to
    see, like an example, want to see, some guidance"""
)
_POINTS = re.compile(
    r"\bhere(?:'s|'re| is| are| was)\b|\blooks? like (?:this|that)\b(?!:\s)|\bas follows\b|"
    r"\bthe following\b(?!.*:\s\S)|\bbelow\b|"
    r"\blike this\b(?!:\s)|\bstarting point\b|\b(?:sample|example) (?:code|checklist|snippet|list)\b|"
    r"\b(?:these|those)\b(?! days)|\bthat (?:code|snippet|pic|picture|photo|view|thing|moment)\b|"
    r"\bthis (?!week|weekend|month|year|morning|afternoon|evening|spring|summer|autumn|fall|winter|time|coming|past|"
    r"last|"
    r"repo|repository|codebase|project|machine|box|team|branch|monday|tuesday|wednesday|thursday|friday|saturday|sunday|account|"
    r"number|phone|laptop|computer|workspace|org|january|february|march|april|may|june|july|august|september|october|"
    r"november|december|quarter|semester|term|season|sprint|release)\w+",
    re.IGNORECASE,
)
_DEMONSTRATIVE = re.compile(
    r"(?:\w+,\s+)?(?:this|that|these|those)(?:'s|'ll|'re|'d)?\s+(?:is|are|was|were|will|would|has|have|had|can|could|"
    r"must|should|may|might|does|did|do|makes?|made|means?|sounds?|looks?|feels?|seems?|really|just|definitely|"
    r"\w+ing|\w+s|\w+ed)\b|(?:\w+,\s+)?that'?s\b",
    re.IGNORECASE,
)
_MEETS = re.compile(
    r"\b(?:haven't|have not|hasn't) (?:talked|chatted|spoken|heard|seen you|caught up)\b|"
    r"\bwe (?:haven't|have not|last|finally|should|could|gotta|can) (?:\w+ )?(?:talk|talked|chat|chatted|spoke|speak|"
    r"spoken|caught|catch|met|meet|seen|hang|hung|get together|do|plan|go)\b",
    re.IGNORECASE,
)
_SUBJECTLESS = re.compile(
    r"^(?:(?:that|it|(?:(?:next|this) )?(?:mon|tues|wednes|thurs|fri|satur|sun)day)\s)?(?:works|sounds|looks|feels|"
    r"seems|been a|glad|hope|"
    r"hoping|wish|wishing|love|loving|congrats|thanks|(?:good|great|nice)(?! news)|hats off|way to|so\b|such|"
    r"what an?|how|almost|"
    r"so far|enjoy|stay|remember|believe|imagine|nah|hopefully|there(?:'s| is| are| was| were))\b|^i (?:\w+ )?should\b|"
    r"^(?:so )?(?:much|a lot|lots|things|stuff|something|everything|anything|nothing)\b",
    re.IGNORECASE,
)
_WE = re.compile(r"^(?:\w+,\s+)?we(?:'ve|'re|'ll|'d)?\b", re.IGNORECASE)
_VAGUE_END = re.compile(r"\b(?:this|that|stuff|things|or something|and all)[.!]*$", re.IGNORECASE)
_THERE = re.compile(r"\bhere\b|\bthere\b(?!'| (?:is|are|was|were|will|has|have|isn't|aren't)\b)", re.IGNORECASE)
_WISHED = re.compile(
    r"^i(?:'d| would)(?: also| really)? (?:like|love|want) (?:to|some|an?|you)\b|^i(?: also)? (?:want|wanted|need) "
    r"(?:to (?:add|improve|use|create|display|see|include|make|compress|fix|ensure|understand|get|learn how|handle)|"
    r"the|"
    r"this|some|it)\b|\bi (?:can|could|will|would) (?:use|calculate|see|try|add|apply)\b|\blet's (?:say|see)\b",
    re.IGNORECASE,
)
_OWN = frozenset("i my me mine we our us i'm i've i'd i'll we're we've we'll we'd im ive".split())
_BOTH = frozenset("our ours us ourselves".split())
_YOU = frozenset("you your yours you're you've you'll you'd u ur yourself".split())
_PARTICULAR = re.compile(r"(?<![\d.])(?!1000*\b(?:[ ]?%|x))\d|`|\w_\w|\w\.[a-z]{2,4}\b")
_LISTENER = re.compile(r"^(?:\w+,?\s+){0,2}?(?:you|your|yours|you're|you've|you'll|you'd)\b", re.IGNORECASE)


_GASP = re.compile(
    rf"{MUCH}(?:{_PRAISED}|{'|'.join(sorted(_FEELINGS, key=len, reverse=True))})\b[^,]{{0,40}}$", re.IGNORECASE
)
_CLAUSE = re.compile(
    r"(?:,|;|\s[-\u2013\u2014]|[-\u2013\u2014](?=\s))\s*(?:and|but|so|plus|because|'cause|cause|which)?\s+|"
    r"\s(?:and|but|so|because|'cause|cause)\s+(?=(?:it|it's|they|they're|this|that|that's|i|i'm|we|the|my|me)\b)",
    re.IGNORECASE,
)


def unadorned(said: Sentence) -> Sentence:
    """The sentence without what it says in the end about how that is: "I started yoga, it's great"."""
    text = said.text
    while cuts := [match for match in _CLAUSE.finditer(text) if len(text[: match.start()].split()) >= 3]:
        tail = Sentence(text[cuts[-1].end() :])
        if not _YOU.isdisjoint(tail.words):
            break
        left_over = text != said.text and len(tail.words) < 3
        adorns = _FINDS.search(tail.text) or _MOOD.match(tail.text) or tail.says(_CHEER) or _GASP.match(tail.text)
        if _PARTICULAR.search(tail.text) or not (adorns or left_over):
            break
        text = text[: cuts[-1].start()]
    return said if text == said.text else Sentence(text)


def points(said: Sentence) -> bool:
    """Whether a sentence points at something that stands or lies elsewhere: a paste, a photo, the sentence before."""
    return said.text.rstrip().endswith(":") or bool(_POINTS.search(said.text) or _DEMONSTRATIVE.match(said.text))


def points_back(told: str) -> bool:
    """Whether what was decided is only pointed at: "go with this approach"."""
    return bool(_POINTS.search(told))


def passing(said: Sentence) -> bool:
    """Whether a sentence tells where a task stands just now: what is tried, what does not work yet."""
    return said.says(_GOING_ON) or any(
        pattern is not None
        for pattern in (_AT_A_LOSS.match(said.text), _PROMISE.match(said.text), _APPROVES.search(said.text))
    )


def moody(told: str) -> bool:
    """Whether what is told comes down to how somebody feels."""
    return bool(_MOOD_TOLD.match(told))


def to_listener(said: Sentence, *, hard: bool) -> bool:
    """Whether a sentence to another person is about them, or holds nothing else that could be looked up later."""
    return bool(_LISTENER.match(said.text)) or (not hard and not _YOU.isdisjoint(said.words))


def wished(said: Sentence) -> bool:
    """Whether somebody at work asks for help with what they are at: "I'd like to add a chart to it"."""
    return bool(_WISHED.match(said.text))


def vague(said: Sentence, *, dated: bool, kin: bool) -> bool:
    """Whether a sentence of a chat is about both who chat, or about a place or thing that only they know. `kin`: it
    names somebody's relative, so that "our" is a family's."""
    if _THERE.search(said.text):
        return True
    if dated:
        return False
    both = not _BOTH.isdisjoint(said.words) and not kin
    return both or bool(_WE.match(said.text) or _VAGUE_END.search(said.text))


def idle(said: Sentence, told: str) -> bool:
    """Whether a sentence cheers, praises or only tells a mood."""
    return bool(
        _MOOD.match(said.text)
        or moody(told)
        or said.says(_CHEER)
        or _FINDS.search(said.text)
        or _MEETS.search(said.text)
    )


def judges(said: Sentence) -> bool:
    """Whether a sentence says how something is found, and nothing of who says so."""
    return _OWN.isdisjoint(said.words) and bool(_FINDS.search(said.text))


def chatter(said: Sentence, *, hard: bool, names: bool) -> bool:
    """Whether a sentence to another person is one that keeps a chat going, or holds for everybody. `hard`: it holds a
    day or a number; `names`: it is about somebody by name."""
    if _MEETS.search(said.text) or _SUBJECTLESS.match(said.text):
        return True
    if judges(said):
        return True
    return not hard and not names and _OWN.isdisjoint(said.words)


def hard(text: str, times: int) -> bool:
    """Whether a statement holds a day, a number or something spelled as systems spell it."""
    return times > 0 or bool(_PARTICULAR.search(text))
