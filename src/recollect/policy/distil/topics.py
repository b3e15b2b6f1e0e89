"""What a text is about, in the few words that name it best."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import log

from recollect.policy.distil.support import TELLING, stem
from recollect.policy.speech.idle import MOODS, PRAISE
from recollect.policy.speech.verbs import is_adverb, is_past

_TERM = re.compile(r"`(?P<code>[^`\n]{2,40})`|(?P<word>[^\W_](?:[\w.+#/&-]*[^\W_])?)(?P<own>'s|')?|(?P<sign>[^\w\s])")
_CONTRACTED = re.compile(r"\b\w+(?:n['\u2019]t|['\u2019](?:ve|re|ll|d|m))\b", re.IGNORECASE)
_DATE = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|"
    r"november|december|today|weeks?|weekends?|months?|years?|days?|spring|summer|autumn|winter|mornings?|evenings?|"
    r"nights?|hours?|minutes?|am|pm|cet|utc",
    re.IGNORECASE,
)
_LEADS = frozenset(
    """a an the some any two three four five several many new no every each another this of for with in on about using
    into between like at from as by over under during through against via both more own first second third last
    next per my our called named""".split()
)
"""Words that a name of something follows."""
_NO_TOPIC = TELLING | frozenset(
    """a an the is are was were be been being am do does did has have had of to in on at by for from with and or as that
    this it its his her their our my your he she they we i you there here so very also now just will would can could
    should may might must shall not no never all any some each every more most much many lot lots few own same other
    another such than too then into onto over under after before about between through during without within while
    because since until if when where which who whom whose what how why get gets got go goes going come make made makes
    take find keep let put set use used using try help like love good great new old big small first last next back up
    down out off only even still yet already thing things stuff something anything everything nothing way ways time
    times bit kind sort one two three four five both several people person someone everyone hey sure okay yes yeah
    thanks please sense part place able best better feel feels felt think thought know say see saw start started want
    give gave given per via etc current specific different main important based including front side end rest fact
    couple number amount variety type types lots line point case sure bunch pair piece lot's others group little large
    long short high low top picture pictures photo photos photography image maybe but however considering given
    considering user's set like considering around together towards toward away ago once twice again step steps ideas
    right wrong full whole half none half-way asked asks later against nearby lately retooks thinks motivates become
    becomes became shown hey stay living laying sitting standing doing working playing posing holding walking trouble
    track black white blue red green brown pink purple yellow grey gray huge certain several
    near hopes hunt post delete patch""".split()
)
_MEASURES = frozenset(
    "part parts group bit lot number piece couple kind sort bunch variety amount way time thing things".split()
)
_MOST_WORDS = 3


def phrases(text: str) -> Iterator[tuple[str, ...]]:
    """What is named in a text: names, things spelled as systems spell them, and what follows "the", "a" or "for"."""
    text = _CONTRACTED.sub(" ", text)
    run: list[str] = []
    led = False
    first = True
    for found in _TERM.finditer(text):
        word, code = found["word"], found["code"]
        named = bool(word) and (_topical(word) or (bool(run) and _counted(text, found)))
        if code or (named and (led or run or (word[0].isupper() and not first) or _spelled(word))):
            joins = not (run and word and (word.lower().endswith("ing") or _does(text, found)))
            if joins:
                run.append(code or word)
        else:
            joins = False
        if not joins or found["own"]:
            if not (word and word.lower() in _MEASURES):
                yield from _whole(run)  # "a huge part of it" names nothing
            run = []
        led = bool(found["own"]) or bool(word and word.lower() in _LEADS) or (joins and not found["own"])
        first = found["sign"] in (".", "!", "?") if found["sign"] else False
    yield from _whole(run)


def _counted(text: str, found: re.Match[str]) -> bool:
    """Whether a word that may measure something names it here: "a support group", but "a large group of people"."""
    return found["word"].lower() in _MEASURES and not text[found.end() :].startswith(" of ")


_SHOWN = re.compile(r"\b(?:shared|showed|sent|posted) an? (?:photo|photography|picture|image|screenshot)\b")


def telling(texts: Sequence[str]) -> list[str]:
    """The sentences but for those that tell what is seen in a picture, which is seldom what a thread is about."""
    return [text for text in texts if not _SHOWN.search(text)] or list(texts)


def _does(text: str, found: re.Match[str]) -> bool:
    """Whether a word behind a noun is its verb: "the worker runs the job"."""
    return found["word"].endswith("s") and bool(
        re.match(r"\s(?:a|an|the|that|to)\s", text[found.end() : found.end() + 6])
    )


def _whole(run: list[str]) -> Iterator[tuple[str, ...]]:
    while run and (run[0].lower() in PRAISE or run[0].lower() in MOODS):
        run = run[1:]
    run = run[-_MOST_WORDS:]
    if not run or (len(run) == 1 and (run[0].lower().endswith(("ing", "ly", "ed")) or len(run[0]) < 3)):
        return
    yield tuple(run)


def _spelled(word: str) -> bool:
    return any(sign.isdigit() for sign in word) and any(sign.isalpha() for sign in word)


def _topical(word: str) -> bool:
    low = word.lower()
    if low in _NO_TOPIC or _DATE.fullmatch(low) or is_adverb(low) or not any(sign.isalpha() for sign in word):
        return False
    return word[0].isupper() or (len(low) > 2 and not is_past(low))


def terms(text: str) -> Iterator[tuple[str, ...]]:
    """The words of a short text, a title or a value, that name things, in runs: plain words break a run."""
    run: list[str] = []
    for found in _TERM.finditer(text):
        word = found["code"] or found["word"]
        if word and (found["code"] or _spelled(word) or _topical(word)):
            run.append(word)
        elif run:
            yield tuple(run)
            run = []
    if run:
        yield tuple(run)


def topics(told: Sequence[str], heard: Sequence[str], names: Iterable[str] = ()) -> list[str]:
    """What the sentences are about, best first: what they name and what came up most in what was heard.
    `names`: who speaks, which is no topic."""
    own = {part.lower() for name in names for part in name.split()}
    frequency = Counter(stem(word) for text in heard for word in re.findall(r"[^\W_]{3,}", text.lower()))
    score: dict[str, float] = {}
    shape: dict[str, str] = {}
    for place, text in enumerate(told):
        for run in dict.fromkeys(phrases(text)):
            phrase = _before_name(run, own)
            if not phrase:
                continue
            key = " ".join(stem(word.lower()) for word in phrase)
            shape.setdefault(key, " ".join(phrase))
            common = sum(log(2 + frequency[part]) for part in key.split()) / len(phrase)
            score[key] = score.get(key, 0.0) + common * (1.5 if len(phrase) > 1 else 1.0) * (1.2 if place < 2 else 1.0)
    ranked = sorted(score, key=lambda key: (-score[key], key))
    return _distinct([shape[key] for key in ranked])


def _before_name(run: tuple[str, ...], own: set[str]) -> tuple[str, ...]:
    """The words of a run up to somebody who speaks: what follows a name is what they do."""
    for place, word in enumerate(run):
        if word.lower() in own:
            return run[:place]
    return run


def _distinct(ranked: Sequence[str]) -> list[str]:
    """The phrases without those that share a word with a better one."""
    taken: set[str] = set()
    kept: list[str] = []
    for phrase in ranked:
        words = {stem(word.lower()) for word in phrase.split()}
        if words.isdisjoint(taken):
            taken |= words
            kept.append(phrase)
    return kept
