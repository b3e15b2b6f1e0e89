"""What is worth keeping, what it is about, how much it matters, and whether it is private."""

import re
from dataclasses import dataclass

from recollect.policy.referents import KIN, PETS
from recollect.policy.sentences import Sentence

KEPT = 2
"""The least worth of a statement that is kept."""

_NAME = re.compile(r"(?<=[\w,;:)(] )[A-ZÀ-ÖØ-Þ][\w'-]*[a-zà-öø-ÿ]|(?<=[\w,;:)(] )[A-Z]{2,}\b")
_CODE = re.compile(r"`[^`]+`|\b\w+\.(?:\w+\.)*[a-z]{2,10}\b(?!\.)|\w*[/_][\w*]|\b[a-z]\d+[a-z]\b|#\w+|\b\w+-\d|\bv?\d+\.\d+|[a-z][A-Z]|--?\w+=|==|\b[A-Z]{2,}-?\d+")
_NUMBER = re.compile(r"\d")
_FIRST_NAME = re.compile(r"[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ]+(?: is| was| has| will|'s|, | and [A-Z]| \w+s\b)(?! a\b.*\?)")
_IS = re.compile(r"\b(?:is|are|was|were|it's|has|will)\b")
_NORM = (
    "always", "never", "must", "must not", "only", "has to", "have to", "should", "required", "requires", "need", "needs", "convention", "rule", "policy", "by default",
    "not allowed", "forbidden", "mandatory", "don't", "cannot", "can't", "no longer", "instead of", "before any", "whenever", "every", "each", "everything", "all",
)  # fmt: skip
DECIDED = (
    "decided", "decision", "we go with", "going with", "went with", "settled", "agreed on", "we agreed", "chose", "gave up on", "off the table", "we picked", "signed off",
)  # fmt: skip
_DECIDED = (
    "decided", "decision", "go with", "going with", "went with", "settled", "agreed", "switched", "switching", "chose", "picked", "we use", "let's use", "renaming", "renamed",
    "becomes", "gave up", "dropped", "dropping", "replaced", "moved to", "migrated", "migrating", "pinned", "pin", "off the table", "is now", "signed off", "approved",
)  # fmt: skip
_PROBLEM = (
    "i'm trying", "i am trying", "i'm getting", "i am getting", "getting an error", "i get an error", "an error", "this error", "doesn't work", "not working", "isn't working", "still broken", "still failing",
    "here's my", "here is my", "here's the", "here is the", "i have this", "i have a function", "i tried", "i've tried", "as follows", "the following", "see below",
    "i'm working through", "i want to know", "i need to know", "i'd like to know", "i would like to know", "you said", "you told", "you mentioned", "you asked", "you suggested", "you wrote", "you gave", "your answer", "your code", "your last", "your suggestion", "your explanation", "asked around",
)  # fmt: skip
_OWN = frozenset("i my me mine we our us i'm i've i'd i'll we're we've we'll we'd im ive".split())  # noqa: SIM905
_STATES = frozenset(
    """am i'm have i've live work like love prefer hate need use drive play own speak study teach born moved married
    allergic vegan vegetarian retired named called favourite favorite grew started joined left quit adopted bought sold
    broke passed died won signed booked lost found finished graduated promoted pregnant engaged eat drink collect avoid
    wear sing switched stopped""".split()  # noqa: SIM905 - a list of words reads as words
)
_TECHNICAL = frozenset(
    """repo repository deploy deploys deployment deployments api apis db database service services server servers build builds release releases branch
    tests code prod production staging backend frontend ticket tickets pr prs merge docker port node schema migration migrations sprint
    endpoint cluster kubernetes k8s git commit python rust java typescript javascript npm postgres redis kafka queue cache
    config env ci pipeline log logs logging bug bugs library framework module package version upgrade sdk cli token tokens auth login app apps
    customer customers client clients team standup roadmap milestone feature features design component components product users user
    metric metrics incident outage oncall on-call sre linter lint script scripts job jobs cron backup dashboard data dataset model
    review reviewer reviews scope backlog architecture infra cloud aws gcp azure vendor importer exporter parser invoice invoices website
    codebase monorepo site host hosts binary port wasm amounts ids errors exceptions exception""".split()  # noqa: SIM905
)
_VAGUE = frozenset("this that these those it thing things stuff here there something".split())  # noqa: SIM905


def technical(text: str) -> bool:
    """Whether a turn is about work on a system rather than about a life."""
    words = Sentence(text).words
    return bool(_TECHNICAL.intersection(words)) or bool(_CODE.search(text))


def worth(said: Sentence, times: int) -> int:
    """How much a statement is worth keeping: it is about somebody or something in particular, and will hold tomorrow."""
    words = set(said.words)
    named = bool(_NAME.search(said.text)) or bool(_FIRST_NAME.match(said.text))
    particular = named + 2 * bool(_CODE.search(said.text)) + bool(_NUMBER.search(said.text)) + bool(times)
    score = min(particular, 3)
    score += bool(particular and _IS.search(said.text))
    own = bool(words & _OWN)
    score += own and bool(words & _STATES)
    score += own and 1
    score += 2 * said.says(*_DECIDED) + said.says(*_NORM)
    score += bool(words & KIN) + bool(words & _TECHNICAL) + bool(_FIRST_NAME.match(said.text))
    if said.says(*_PROBLEM):
        score -= 3
    if len(words) < 4 and not particular:
        score -= 2
    if said.words and said.words[0] in _VAGUE and not particular:
        score -= 2
    return score


# -- private ------------------------------------------------------------------------------------------------

_PRIVATE = re.compile(
    r"""\b(?:allerg\w+|diabet\w+|coeliac|celiac|asthma\w*|epilep\w+|cancer|tumou?r|chemo\w*|surgery|surgeon|operation\son|hospital\w*|clinic|doctor|gp|
    cardiologist|therap\w+|psychiatr\w+|psycholog\w+|counsell?or|depress\w+|anxi\w+|panic\sattacks?|adhd|autis\w+|dyslexi\w+|bipolar|ptsd|medication|meds|pills|
    antidepress\w+|insulin|inhaler|blood\s(?:pressure|sugar|test)|cholesterol|migraine\w*|pregnan\w+|miscarr\w+|ivf|menopaus\w+|abortion|hiv|parkinson\w*|
    alzheimer\w*|dementia|stroke|heart\s(?:attack|condition|disease)|palpitation\w*|wheelchair|crutches|disab\w+|deaf|blind|hearing\said|sober|alcoholic|addict\w*|
    rehab|smok(?:ing|er)|overweight|eating\sdisorder|anorexi\w+|claustrophobi\w*|phobia|insomnia|chronic|diagnos\w+|symptom\w*|arthritis|knee|hernia|injur\w+|
    salary|salaries|debt\w*|mortgage|bankrupt\w*|income|in\sthe\sred|overdraft|earns?|raise\sof|savings|owe[sd]?|loan|laid\soff|fired|redundan\w+|unemploy\w+|inherit\w+|pension|
    divorc\w+|separat(?:ed|ing|ion)|affair|cheat(?:ed|ing)|custody|estranged|broke\sup|breakup|passed\saway|died|death\sof|funeral|widow\w*|abus\w+|restraining|
    gay|lesbian|bisexual|trans(?:gender)?|coming\sout|came\sout|muslim|jewish|catholic|atheist|religio\w+|church|mosque|synagogue|visa|asylum|undocumented|arrest\w*|convict\w+|lawsuit|
    probation|police|keep\s(?:it|this|that)\s(?:to|between|secret|quiet)|keep\sthe\s[\w\s]{1,40}\s(?:to|between|secret|quiet)|don't\stell|do\snot\stell|not\sto\stell|between\sus|confidential\w*|a\ssecret|in\sconfidence|hasn't\stold|doesn't\sknow\syet)\b""",
    re.IGNORECASE | re.VERBOSE,
)


def private(text: str) -> bool:
    """Whether a statement is about health, money, faith, trouble in a family, or something told in confidence."""
    return bool(_PRIVATE.search(text))


# -- what it is about ---------------------------------------------------------------------------------------

_ABOUT: tuple[tuple[str, int, re.Pattern[str]], ...] = tuple(
    (category, weight, re.compile(pattern, re.IGNORECASE))
    for category, weight, pattern in (
        ("tasks", 4, r"\b(?:needs? to|has to|have to|must(?! (?:not|never|always))|wants a reminder|deadline|due|to-?do|still to|needs \w+ done|owes)\b"),
        ("goals", 4, r"\b(?:wants to (?!be called)|would like to|would love to|goal|hopes? to|plans? to|aims? to|dreams? of|training for|saving (?:up )?for|is learning|is writing)\b"),
        ("preferences", 4, r"\b(?:prefers?|likes?|dislikes?|loves?|hates?|favou?rite|would rather|rather not|enjoys?|can(?:no|')t stand|wants to be called|put \w+ down as|asked not to|no longer eats)\b"),
        ("preferences", 3, r"(?:'s rule|\bwants (?:no|nothing))\b|\b(?:asked to|can only|vegan|vegetarian|pescatarian|switched to|avoids?|signs?\b.*\bas|book \w+ an?)\b"),
        ("procedural", 5, r"(?:\b(?:before any|whenever|every time|to (?:release|deploy|build|run|test|reset|set up|restart)\b.*[:,]|conventions?|code style|steps?|workaround|runbook|never edit|must always|always run|must never)\b)"),
        ("procedural", 2, r"\b(?:always|never|must|only|goes? through|has to be|run|use)\b"),
        ("projects", 4, r"\b(?:asked whether|product is|decided|decision|go(?:es|ing)? with|settled|renam\w+|release manager|owns the|takes over|scrum master|milestone|roadmap|pin|gave up on|off the table|dropp?(?:ed|ing|s)?|chose|scope|launch\w*)\b"),
        ("event", 3, r"\b(?:wedding|birthday|anniversary|appointment|meeting|trip|flight|concert|party|exam|test on|interview|surgery|funeral|conference|holiday|vacation|visit\w*|born|moves? (?:in|out|day)|moving day|release \d|freeze|launch|starts? (?:on|as|in)|started|engaged|married|came in|happened|switched off|last serviced|is on leave|celebrat\w+|\d0th)\b"),
        ("relationships", 3, r"\b(?:" + "|".join(sorted(map(re.escape, KIN - PETS), key=len, reverse=True)) + r")\b"),
        ("profile", 3, r"\b(?:lives? in|is from|comes from|born in|years old|works? (?:as|at|for|in|nights)|speaks|drives|retired|allergic|passport|phone number|e-?mail|has an? (?:\w+ ){0,3}(?:" + "|".join(PETS) + r")|diabetic|coeliac|wheelchair|moved (?:to|from)|is an? \w+|\bis \d\d\b|gave up smoking)\b"),
        ("activity", 3, r"\b(?:plays? (?:the|in)|went (?:hiking|running|swimming|climbing|sailing|skiing)|runs? \d+ ?k|yoga|gym|choir|band|club|practi[sc]es?|trains? (?:on|every|for))\b"),
        ("knowledge", 3, r"\b(?:port|host|server|url|version|api|returns|limit|config\w*|runs (?:at|on|in)|listens|error|bug|broken|because|located|customer|plan|budget|costs?|database|db)\b"),
    )
)  # fmt: skip


def category(text: str, *, tech: bool, times: int) -> tuple[str, int]:
    """The category that the words of a statement speak for most, and by how much."""
    scores: dict[str, int] = {}
    for name, weight, pattern in _ABOUT:
        if pattern.search(text):
            scores[name] = scores.get(name, 0) + weight
    if tech:
        for name, bonus in (("knowledge", 3), ("projects", 2), ("procedural", 2)):
            scores[name] = scores.get(name, 0) + bonus
        for name in ("preferences", "profile", "relationships", "activity"):
            scores[name] = scores.get(name, 0) - 2
    else:
        for name in ("projects", "procedural", "knowledge"):
            scores[name] = scores.get(name, 0) - 2
        scores["profile"] = scores.get("profile", 0) + 1
    if times:
        scores["event"] = scores.get("event", 0) + 2
    ranked = sorted(scores.items(), key=lambda pair: -pair[1])
    lead = ranked[0][1] - (ranked[1][1] if len(ranked) > 1 else 0)
    return ranked[0][0], lead


@dataclass(frozen=True, slots=True)
class Weight:
    """How much a statement matters, from 1 to 5."""

    value: int


_GRAVE = re.compile(
    r"\b(?:allerg\w+|anaphyla\w+|epilep\w+|never|must(?: not)?|emergency|passed away|died|born|pregnan\w+|diagnos\w+|cancer|surgery|deadline|decided|decision|production|prod|legal|security)\b",
    re.IGNORECASE,
)
_SLIGHT = re.compile(r"\b(?:likes?|enjoys?|usually|sometimes|watched|went|plays?|funny|nice)\b", re.IGNORECASE)
_VITAL = re.compile(r"\b(?:allergic|anaphyla\w+|epilep\w+|throat|life-threatening|emergency contact)\b", re.IGNORECASE)


def importance(text: str, category: str, *, times: int) -> int:
    """From 1 (hardly) to 5 (somebody may come to harm if it is forgotten)."""
    if _VITAL.search(text):
        return 5
    value = 3
    value += bool(_GRAVE.search(text)) or category in ("tasks", "projects", "procedural") and bool(times)
    value -= bool(_SLIGHT.search(text)) and category in ("activity", "preferences", "event")
    return max(1, min(4, value))
