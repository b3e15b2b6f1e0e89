"""English verbs, as far as a sentence in the first person needs them to be told in the third."""

_PAST = frozenset(
    """went got gave took made bought thought left met said told saw came became began broke brought built
    caught chose did drove ate fell felt fought found flew forgot forgave froze grew had heard hid held knew led
    lent lost meant paid rode ran sold sent shot sang sat slept spoke spent stood stole swam taught tore threw
    understood woke wore won wrote was were kept learnt burnt dreamt spelt dealt bet cut hit hurt let put quit
    set shut split spread upset lay laid lit shook ate dug bit bent bled blew bred clung crept drank drew hung
    rang rose sank shrank sprang stuck struck swore swept swung wept wound
    misheard misread rebuilt rewrote withdrew overheard undid retook""".split()
)
_BASE_IN_ED = frozenset("need feed seed bleed breed speed proceed exceed succeed heed weed embed shed wed".split())
_STILL = frozenset(
    """will would can could shall should may might must cannot can't won't wouldn't couldn't shouldn't mustn't
    ought is has was does""".split()
)
ADVERBS = frozenset(
    """always never usually often sometimes still really also just finally only currently actually now already mostly
    generally rarely seldom normally typically already recently both all even probably definitely absolutely strongly
    simply basically personally totally hardly barely regularly frequently once twice then therefore thus ever
    kind sort
    rather much very quite least most officially originally previously mainly no longer first last second""".split()
)
_ODD = {
    "am": "is",
    "are": "is",
    "were": "was",
    "have": "has",
    "do": "does",
    "don't": "does not",
    "haven't": "has not",
    "aren't": "is not",
    "weren't": "was not",
    "go": "goes",
    "dont": "does not",
    "be": "be",
    "ain't": "is not",
}
BASES = frozenset(
    """live work like prefer hate love need want use drive play own speak study teach run walk swim cook eat
    drink travel commute sleep wake go have take get make do keep buy sell pay rent share visit call write read
    learn train ride collect grow raise breed volunteer coach sing dance paint draw build design develop
    maintain manage lead host deploy ship test release store cache log track support serve handle start finish
    begin end plan hope expect think believe know feel see hear watch listen practise practice attend meet wear
    avoid skip dislike enjoy miss fear owe save spend earn invest donate book order bring carry send receive
    depend rely belong come leave stay move return sign suffer struggle mean care try help look pick drop fly
    feed follow process publish push pull merge review bake brew garden hike climb run sail ski surf fish hunt
    knit sew report answer identify hang fail crash break leak load respond restart expire""".split()
)


_NOT_ADVERBS = frozenset("fly apply reply supply rely imply comply multiply family only".split())
_NOUNS_IN_ING = frozenset(
    """nothing something everything anything during morning evening string king thing spring building meeting wedding
    ceiling pudding sibling feeling""".split()
)
_FORMS = frozenset(form for base in BASES for form in (base, base + "s", base + "es", base[:-1] + "ies"))


def is_adverb(word: str) -> bool:
    low = word.lower()
    return low in ADVERBS or (low.endswith("ly") and low not in _NOT_ADVERBS)


def is_doing(word: str) -> bool:
    """Whether a word says what somebody is doing: "moving", not "morning"."""
    low = word.lower()
    if not low.endswith("ing") or low in _NOUNS_IN_ING or len(low) < 5:
        return False
    stem = low[:-3]
    return stem in BASES or stem + "e" in BASES or (len(stem) > 2 and stem[-1] == stem[-2] and stem[:-1] in BASES)


def is_form(word: str) -> bool:
    """Whether a word may be a verb in the present or the past."""
    low = word.lower()
    return low in _FORMS or is_past(low)


def third_person(verb: str) -> str:
    """The verb as it follows a name: "live" lives, "am" is, "went" and "will" stay."""
    low = verb.lower()
    if low in _ODD:
        return _ODD[low]
    if low in _PAST or low in _STILL or (low.endswith("ed") and low not in _BASE_IN_ED) or not low.isalpha():
        return verb
    if low.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    if low.endswith("y") and len(low) > 2 and low[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


def is_past(word: str) -> bool:
    low = word.lower()
    return low in _PAST or (low.endswith("ed") and low not in _BASE_IN_ED and len(low) > 3)
