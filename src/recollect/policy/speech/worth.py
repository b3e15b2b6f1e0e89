"""What is worth keeping, what it is about, how much it matters, and whether it is private."""

import re
from collections.abc import Mapping

from recollect.policy.speech.referents import KIN, PETS
from recollect.policy.speech.sentences import Phrases, Sentence, phrases

KEPT = 2
"""The least worth of a statement that is kept."""

_NAME = re.compile(r"(?<=[\w,;:)(] )[A-ZÀ-ÖØ-Þ][\w'-]*[a-zà-öø-ÿ]|(?<=[\w,;:)(] )[A-Z]{2,}\b")
_CODE = re.compile(r"[`/_#=]|\w\.[a-z\d](?!\.)|\w-\d|[a-z][A-Z]|[A-Z]-?\d|\b[a-z]\d")
_CALLED_TO = re.compile(r",\s+[A-ZÀ-ÖØ-Þ][\w'-]+[.!?]*$")
_NUMBER = re.compile(r"\d")
_FIRST_NAME = re.compile(r"[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ]+(?: is| was| has| will|'s|, | and [A-Z]| \w+s\b)(?! a\b.*\?)")
_IS = re.compile(r"\b(?:is|are|was|were|it's|has|will)\b")
_NORM = phrases(
    """you can, you may, you should, do not, always, never, must, must not, only, has to, have to, should, required,
    requires, need, needs, convention, rule, policy, by default, would rather, i'd rather, rather not, not
    allowed, forbidden, mandatory, don't, cannot, can't, no longer, instead of, before any, whenever, every,
    each, everything, all"""
)
DECIDED = phrases(
    """decided, decision, we go with, going with, went with, settled, agreed on, we agreed, chose, gave up on, off
    the table, we picked, signed off"""
)
_DECIDED = phrases(
    """stays, decided, decision, go with, going with, went with, settled, agreed, switched, switching, chose, picked, we
    use, let's use, renaming, renamed, becomes, gave up, dropped, dropping, replaced, moved to, migrated,
    migrating, pinned, pin, off the table, is now, signed off, approved"""
)
_PROBLEM = phrases(
    """don't get, do not get, don't understand, do not understand, always thought, i thought, in love with,
    years old when, could eat a, more bugs than, act busy, feel like a, feels like a, but whatever, such a
    great, means a lot, so much fun, is key, the power to, life's about, up for the challenge, remind me why,
    reminds us, reminds me, having trouble, having some trouble, having issues, having problems, still
    experiencing, make sure, an example of, so far, set up like this, my current, not sure how, correctly, i'm
    trying, i am trying, i'm getting, i am getting, getting an error, i get an error, an error, this error,
    doesn't work, not working, isn't working, still broken, still failing, here's my, here is my, here's the,
    here is the, i have this, i have a function, i tried, i've tried, as follows, the following, see below, i'm
    working through, i want to know, i need to know, i'd like to know, i would like to know, you said, you told,
    you mentioned, you asked, you suggested, you wrote, you gave, your answer, your code, your last, your
    suggestion, your explanation, asked around"""
)
_OWN = frozenset("i my me mine we our us i'm i've i'd i'll we're we've we'll we'd im ive".split())
_STATES = frozenset(
    """live work love prefer hate use drive play own speak study teach born moved married allergic vegan
    vegetarian retired named called favourite favorite grew started joined left quit adopted bought sold broke
    passed died won signed booked lost found finished graduated promoted pregnant engaged eat drink collect
    avoid wear sing switched stopped enjoy hobby hobbies hoping passionate volunteer volunteering signed
    joined""".split()
)
_BEING = re.compile(
    r"\b(?:am|i'm|have|i've got|has) (?:an?\b|the\b|from\b|in [A-Z]|on\b|at\b|not allowed|no\b|my own|two|"
    r"three|four|five|type|"
    r"kids|children|\d|been\b|read\b|never\b|always\b)|\b(?<!feel )(?<!looks )(?<!sounds )(?:like|"
    r"likes) (?!a\b|this\b|that\b)|"
    r"\b(?:am|is|are|been) (?:learning|training|saving|writing|working|studying|moving|planning|living|"
    r"building|expecting|getting|"
    r"retiring|leaving|joining|starting|taking|turning|visiting|staying|selling|buying|renovating|applying|"
    r"dating|seeing|going to|"
    r"adopting|recovering|collecting|bringing|doing|freelancing|passionate|into)\b",
    re.IGNORECASE,
)
_PASSING_BY = re.compile(
    r"\b(?:am|is|are|i'm) (?:\w+ly )?(?!going)(?:\w+ing|confused|tired|done|lost|stuck|ready|back|here)\b",
    re.IGNORECASE,
)
_MOMENT = frozenset("again today now tonight whatever".split())
_TECHNICAL = frozenset(
    """repo repository deploy deploys deployment deployments api apis db database service services server
    servers build builds release releases branch tests code prod production staging backend frontend ticket
    tickets pr prs merge docker port node schema migration migrations sprint endpoint cluster kubernetes k8s git
    commit python rust java typescript javascript npm postgres redis kafka queue cache config env ci pipeline
    log logs logging bug bugs library framework module package version upgrade sdk cli token tokens auth login
    app apps customer customers client clients team standup roadmap milestone feature features design component
    components product users user metric metrics incident outage oncall on-call sre linter lint script scripts
    job jobs cron backup dashboard data dataset model review reviewer reviews scope backlog architecture infra
    cloud aws gcp azure vendor importer exporter parser invoice invoices website codebase monorepo fixture
    fixtures utc sandbox timezone vpn sso imports formatting endpoints site host hosts binary port wasm amounts
    ids errors exceptions exception""".split()
)
_AT_THE_DESK = frozenset(
    """repo repos repository deploy deploys deployed deployment deployments api apis db database backend
    frontend docker kubernetes k8s git commit commits staging prod pipeline ci endpoint endpoints schema
    migration migrations sdk cli config cron sprint codebase monorepo microservice linter lint npm pnpm postgres
    redis kafka cluster bug bugs refactor typescript javascript rust python sre oncall wasm apps binary
    exceptions sso graphql rollback debugger runtime kotlin rest uuidv7 hosting aws pr prs import imports""".split()
)
_ELSEWHERE_TOO = frozenset("rest hosting import imports apps binary exceptions ci cluster pipeline python rust".split())
_SYSTEM_NAME = re.compile(
    r"`|\w_\w|\b\w+\.(?:py|js|ts|md|json|toml|ya?ml|go|rs|java|sql|sh|lan|internal|css|html|cfg|ini|local)\b|"
    r"==|\b\d+\.\d+\.\d+|"
    r"(?:^|\s)[~\w.-]*/[\w-]+/|\b[A-Z]{2,}-\d+"
)
_VAGUE = frozenset("this that these those it thing things stuff here there something".split())


def technical(text: str, *, sure: bool = False) -> bool:
    """Whether a turn is about work on a system rather than about a life. `sure`: no doubt about it; people who chat
    with each other have teams, seasons and releases too."""
    words = set(Sentence(text).words)
    if not _AT_THE_DESK.isdisjoint(words - _ELSEWHERE_TOO if sure else words) or _SYSTEM_NAME.search(text):
        return True
    return not sure and len(words & _TECHNICAL) > 1


def worth(said: Sentence, times: int) -> int:
    """How much a statement is worth keeping: it is about somebody or something in particular, and will hold
    tomorrow."""
    words = set(said.words)
    if sum(word.isalpha() and len(word) > 1 for word in words) < 2:
        return 0
    text = _CALLED_TO.sub("", said.text)
    named = bool(_NAME.search(text)) or bool(_FIRST_NAME.match(said.text))
    particular = named + 2 * bool(_CODE.search(said.text)) + bool(_NUMBER.search(said.text))
    particular += 2 * (times > ("today" in words))
    score = min(particular, 3)
    score += bool(particular and _IS.search(said.text))
    own = bool(words & _OWN)
    lasting = bool(words & _STATES) or bool(_BEING.search(said.text))
    score += own and lasting
    if not particular and not lasting and (not _MOMENT.isdisjoint(words) or _PASSING_BY.search(said.text)):
        score -= 1
    score += own and 1
    score += 2 * said.says(_DECIDED) + said.says(_NORM)
    score += (
        bool(words & KIN)
        + min(len(words & _TECHNICAL), 2)
        + (own and private(said.text))
        + bool(_FIRST_NAME.match(said.text))
    )
    if said.says(_PROBLEM):
        score -= 4
    if len(words) < 4 and not particular:
        score -= 2
    if said.words and said.words[0].split("'")[0] in _VAGUE and particular <= named:
        score -= 2  # "that's gorgeous, Caroline": somebody is addressed, nothing is told
    return score


# -- private ------------------------------------------------------------------------------------------------

_PRIVATE_STEMS = (
    "allerg", "diabet", "asthma", "epilep", "hospital", "therap", "psychiatr", "psycholog", "counsel", "depress",
    "anxi", "autis", "dyslexi", "antidepress", "migraine", "pregnan", "miscarr", "menopaus", "parkinson",
    "alzheimer", "palpitation", "disab", "addict", "anorexi", "claustrophobi", "phobia", "diagnos", "symptom",
    "injur", "bankrupt", "redundan", "unemploy", "inherit", "divorc", "widow", "abus", "religio", "arrest",
    "convict", "confidential", "chemo", "smok", "hernia", "carsick", "palpit", "medicat",
)  # fmt: skip
_PRIVATE_WORDS = frozenset(
    """coeliac celiac cancer tumour tumor surgery surgeon clinic doctor doc gp cardiologist adhd bipolar ptsd
    meds pills insulin inhaler cholesterol ivf abortion hiv dementia stroke wheelchair crutches deaf blind sober
    alcoholic rehab overweight insomnia chronic arthritis knee salary salaries debt debts mortgage income
    overdraft earns earn savings owe owes owed loan fired pension separated separation separating affair cheated
    cheating custody estranged breakup funeral restraining gay lesbian bisexual trans transgender muslim jewish
    catholic atheist church mosque synagogue visa asylum undocumented lawsuit probation police secret judaism
    kosher halal intolerant lactose islam ramadan""".split()
)
_PRIVATE_PHRASES = phrases(
    """panic attack, panic attacks, blood pressure, blood sugar, blood test, heart attack, heart condition,
    heart disease, hearing aid, eating disorder, in the red, laid off, broke up, split up, passed away, death
    of, coming out, came out, don't tell, do not tell, not to tell, between us, in confidence, keep it to, keep
    this to, keep that to, hasn't told, doesn't know yet, don't mention, not to mention, not allowed to, they
    them, she her, he him"""
)


_AT_HOME_PRIVATE = frozenset("died rent budget money bills".split())
"""Words that are private in a life and ordinary at work."""


def private(text: str, *, tech: bool = False) -> bool:
    """Whether a statement is about health, money, faith, trouble in a family, or something told in confidence."""
    said = Sentence(text)
    return (
        (not tech and not _AT_HOME_PRIVATE.isdisjoint(said.words))
        or not _PRIVATE_WORDS.isdisjoint(said.words)
        or any(word.startswith(_PRIVATE_STEMS) for word in said.words)
        or said.says(_PRIVATE_PHRASES)
    )


# -- what it is about ---------------------------------------------------------------------------------------

_ABOUT: tuple[tuple[str, int, Phrases], ...] = tuple(
    (category, weight, phrases(listed))
    for category, weight, listed in (
        (
            "tasks",
            5,
            """needs to, need to, has to, have to, must be, wants a reminder, deadline, due, todo, to do, still
            to, owes, owe, follow ups, will look at, ticket is""",
        ),
        (
            "goals",
            5,
            """wants to, would like to, would love to, goal, goals, hopes to, hope to, plans to, plan to, aims
            to, dreams of, training for, saving for, saving up, is learning, is writing, is going to quit, real
            plan""",
        ),
        (
            "preferences",
            4,
            """prefers, prefer, likes, dislikes, loves, hates, favourite, favorite, would rather, rather not,
            enjoys, cannot stand, can't stand, wants to be called, down as, asked not to, no longer eats, wants
            no, wants nothing, wants""",
        ),
        (
            "preferences",
            3,
            """asked to, s rule, vegan, vegetarian, pescatarian, switched to, avoids, avoid, can only, never
            the, never books""",
        ),
        (
            "procedural",
            5,
            """before any, before every, whenever, every time, to release, to deploy, to build, to restart, to
            reset, to set up, convention, conventions, code style, steps, workaround, runbook, never edit, must
            always, always run, must never, rule is to, has to be, must be reviewed, go through, goes through""",
        ),
        ("procedural", 2, "always, never, must, only, run, use, do not, not"),
        (
            "projects",
            4,
            """asked whether, product is, decided, decision, go with, goes with, going with, settled, renamed,
            renaming, release manager, owns, takes over, taking over, scrum master, milestone, roadmap, pin,
            gave up on, off the table, dropped, dropping, drop, chose, scope, launch, launches, agreed,
            promised, booking system, bump""",
        ),
        (
            "event",
            3,
            """wedding, birthday, anniversary, appointment, meeting, trip, flight, concert, party, exam,
            interview, surgery, funeral, conference, holiday, vacation, visiting, visit, born, moving day,
            freeze, launch, starts on, starts in, started, engaged, married, came in, happened, switched off, on
            leave, moved to, moves to, flies, show, adopted, last day, lands, ends on""",
        ),
        (
            "profile",
            3,
            """lives in, live in, is from, comes from, born in, years old, works as, works at, works for, works
            in, works nights, speaks, drives, retired, allergic, passport, phone number, email, e mail,
            diabetic, coeliac, wheelchair, moved to, moved from, is a, is an, gave up smoking, uses the
            pronouns, is not allowed, grew up, teaches, has read""",
        ),
        (
            "activity",
            3,
            """plays the, plays in, went hiking, went running, went swimming, went climbing, yoga, gym, choir,
            band, club, practises, practices, trains""",
        ),
        (
            "knowledge",
            3,
            """port, host, server, url, version, api, returns, limit, config, runs at, runs on, runs in,
            listens, error, bug, broken, because, located, customer, plan, budget, costs, database, db, is in,
            is on, are on, fails, means, table, needs""",
        ),
    )
)
_AGE = re.compile(r"\bis \d\d\b")


def categories(text: str, *, tech: bool, times: int) -> dict[str, float]:
    """How much the words of a statement speak for each category."""
    said = Sentence(text)
    scores: dict[str, float] = dict(_AT_WORK if tech else _AT_HOME)
    for name, weight, listed in _ABOUT:
        if said.says(listed):
            scores[name] = scores.get(name, 0) + weight
    words = set(said.words)
    scores["relationships"] += 4 * bool(words & _PEOPLE) + 3 * (not _PEOPLE.isdisjoint(said.words[:4]))
    scores["profile"] += 3 * bool(words & PETS or _AGE.search(text))
    scores["event"] = scores.get("event", 0) + 2 * bool(times)
    return scores


def lead(scores: Mapping[str, float]) -> float:
    """How far the first is ahead of the second."""
    first, second, *_ = sorted(scores.values(), reverse=True)
    return first - second


_PEOPLE = KIN - PETS
_AT_WORK = {
    "knowledge": 3,
    "projects": 2,
    "procedural": 2,
    "preferences": -2,
    "profile": -2,
    "relationships": -3,
    "activity": -2,
}
_AT_HOME = {"profile": 1, "relationships": 0, "projects": -2, "procedural": -3, "knowledge": -2}


_GRAVE = phrases(
    """never, must, must not, emergency, passed away, died, born, pregnant, diagnosed, cancer, surgery,
    deadline, decided, decision, production, prod, legal, security"""
)
_SLIGHT = phrases("likes, enjoys, usually, sometimes, watched, went, plays, funny, nice")
_VITAL = phrases(
    "allergic, anaphylaxis, anaphylactic, epilepsy, epileptic, throat, life threatening, emergency contact"
)


def importance(text: str, category: str, *, times: int) -> int:
    """From 1 (hardly) to 5 (somebody may come to harm if it is forgotten)."""
    said = Sentence(text)
    if said.says(_VITAL):
        return 5
    value = 3 + (said.says(_GRAVE) or (category in ("tasks", "projects", "procedural") and bool(times)))
    value -= category in ("activity", "preferences", "event") and said.says(_SLIGHT)
    return max(1, min(4, value))
