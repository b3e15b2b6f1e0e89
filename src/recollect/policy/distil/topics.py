"""What a text is about, in the few words that name it best."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import log

from recollect.policy.distil.support import stem

_TERM = re.compile(
    r"`(?P<code>[^`\n]{2,40})`|(?P<word>[^\W_](?:[\w.+#/&-]*[^\W_])?)(?P<own>['\u2019]\w+)?|(?P<sign>[^\w\s])"
)
_PLAIN = frozenset(
    """a an the is are was were be been being am do does did has have had of to in on at by for from with and or as that
    this these those it its his her their our my your he she they we i you me him them us there here so very also now
    just will would can could should may might must shall not no never all any some each every more most much many lot
    lots few own same other another such than too then into onto over under after before about between through during
    without within while because since until if when where which who whom whose what how why get gets got getting go
    goes going went gone come comes coming came make makes made making take takes took taking find found keep keeps kept
    let lets put set use used using try tried help like liked love loved good great nice new old big small first last
    next back up down out off only even still yet already thing things stuff something anything everything nothing way
    time times bit kind sort one two three four five six seven eight nine ten both several people person someone
    everyone everybody hey sure okay yes yeah ok thanks thank please part place best better feel feels felt think thinks
    thought know knows knew say says said see sees saw seen look looks looked looking start starts started want wants
    wanted need needs needed give gives gave given tell told asked ask asks answered work works worked working really
    actually probably maybe finally anyway though although however well oh wow lol haha hi hello dear btw today
    yesterday tomorrow tonight monday tuesday wednesday thursday friday saturday sunday january february march april
    june july august september october november december week weeks weekend month months year years day days morning
    evening afternoon night hour hours minute minutes ago soon later again always often usually once twice im ive id ill
    dont cant wont didnt isnt s t m re ve ll d user assistant currently full whole half around together move moved moves
    moving turn turned turns bring brought run runs running ran call called calls done doing left right instead long
    short high low end ends ended pm but huh gonna wanna kinda sorta cool pretty awesome amazing fun funny wonderful
    exciting excited happy glad sorry sad worried nervous curious tempted unsure trying considering wondering planning
    hoping feeling talking playing picture photo pic guy guys lately super totally definitely absolutely especially
    exactly matter sense idea ideas gotta yep nope guess hope hopes mean means meant bad worse hard easy able ready fine
    whatever else ever per plus via etc i'm i've won lost win include includes including add adds added adding finish
    finished check show shows showed share shared send sent offer offers suggest suggested recommend recommended decide
    decided choose chose spend buy bought wear different important specific certain main current option options ways
    mind pls happened happens happening spoke speak speaks understand understanding massive huge talk talked chat
    believe stay staying helped helping figure craft improve improved implement ensure consider manage""".split()
)
"""Words that name nothing."""
_MOST_WORDS = 3


def terms(text: str) -> Iterator[tuple[str, ...]]:
    """The words of a text that name things, in runs: plain words and signs break a run."""
    run: list[str] = []
    for found in _TERM.finditer(text):
        word = found["code"] or found["word"]
        cut = bool(found["own"]) and found["own"][1:] != "s"  # isn't, we're
        names = bool(word) and (bool(found["code"]) or _names(word)) and not cut
        if names:
            run.append(word)
        if run and (not names or found["own"]):
            yield tuple(run[-_MOST_WORDS:])
            run = []
    if run:
        yield tuple(run[-_MOST_WORDS:])


def _names(word: str) -> bool:
    low = word.lower()
    if low in _PLAIN or not any(sign.isalpha() for sign in word):
        return False
    return len(low) > 2 or word.isupper() or not low.isascii()


def topics(told: Sequence[tuple[str, float]], heard: Sequence[str], names: Iterable[str] = ()) -> list[str]:
    """What some sentences are about, best first: what those that matter name, and what was said more than once.
    `names`: who speaks, which is no topic."""
    own = {part.lower() for name in names for part in name.split()}
    said = Counter(stem(word) for text in heard for word in re.findall(r"[^\W_]{3,}", text.lower()))
    score: dict[str, float] = {}
    shape: dict[str, str] = {}
    for text, worth in told:
        for run in dict.fromkeys(terms(text)):
            words = [word for word in run if word.lower() not in own]
            if not words:
                continue
            key = " ".join(stem(word.lower()) for word in words)
            shape.setdefault(key, " ".join(words))
            common = sum(log(2 + said[part]) for part in key.split()) / len(words)
            score[key] = score.get(key, 0.0) + worth * common * _weight(words)
    ranked = sorted(score, key=lambda key: (-score[key], key))
    return _distinct([shape[key] for key in ranked])


def _weight(words: Sequence[str]) -> float:
    """Names and terms of two words say more than a single plain word, and much more than one that is a verb's form."""
    if len(words) > 1:
        return 1.5
    word = words[0]
    if word.endswith(("ing", "ed", "ly")):
        return 0.6
    return 1.3 if word[0].isupper() or any(sign.isdigit() for sign in word) else 1.0


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
