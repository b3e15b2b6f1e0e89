"""R2 and R1: the anchors by which a memory is found again, and the one word that stands for it."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence

from recollect.domain.item import Episode, Fact, Item, Pattern, Workflow
from recollect.domain.text import tokens
from recollect.domain.witness import Bullet, bare
from recollect.policy.distil.topics import terms, topics
from recollect.policy.pack import strict

LONGEST = 40
"""Tokens of the longest packet."""
_SHARE = 0.18
_LEAST = 6
MOST = 6
"""Tokens of the longest trace."""
_MOST_ANCHORS = 8
_RARE = 7
"""Letters of a token in an index word: it is made of what is rare, which tokenizers take apart sooner."""
_NO_OCCASION = frozenset("request requested trigger when on a an the is are needed wanted event task for to".split())
_SUBJECT = re.compile(r"(?:The team|The user|[A-Z][\w-]+(?: [A-Z][\w-]+)*)(?=(?:'s)? [a-z])")


def packet(item: Item, content: str, bullets: Sequence[Bullet]) -> str:
    """The anchors of a memory with hints for finding it, in a few words."""
    told = bare(content)
    most = LONGEST
    if isinstance(item.body, Episode):
        most = max(_LEAST, min(LONGEST, round(_SHARE * tokens(content))))
    most = min(most, tokens(told))
    match item.body:
        case Pattern(hint=hint) if hint.strip():
            return _cut(hint, most)
        case Workflow() as body:
            return _first([body.hint if "→" in body.hint else "", _steps(body), body.hint], most) or _cut(told, most)
        case Fact() as body:
            return _first(_fact(body, told, bullets), most) or _cut(told, most)
        case Episode() as body:
            words = " ".join(bullet.text for bullet in bullets)
            return _packed(_episode(body, content, bullets), most) or _cut(words or told, most)
        case _:
            return _packed(_anchors(*_said(told, bullets)), most) or _cut(told, most)


def _first(forms: Iterable[str], most: int) -> str:
    """The first of some forms that says something and fits."""
    return next((form for form in map(_line, forms) if form and tokens(form) <= most), "")


def _line(text: str) -> str:
    return " ".join(text.split())


def _packed(parts: Sequence[str], most: int) -> str:
    """As many of the parts as fit, in their order; the first is cut where it does not."""
    kept = ""
    for part in parts:
        longer = f"{kept}, {part}" if kept else part
        if tokens(longer) <= most:
            kept = longer
    return kept or _cut(next(iter(parts), ""), most)


def _cut(text: str, most: int) -> str:
    text = _line(text)
    if tokens(text) <= most:
        return text
    head = text[: 4 * most]
    return (head[: head.rfind(" ")] if " " in head.strip() else head).rstrip(" ,;:→(-")


def _steps(body: Workflow) -> str:
    return f"{' '.join(_occasion(body.trigger))}: {'→'.join(map(_line, body.steps))}"


def _fact(body: Fact, told: str, bullets: Sequence[Bullet]) -> Iterator[str]:
    """A fact as key and value where it has them, else by who says it and what it names."""
    if body.key and body.value:
        scope = body.scope or ""
        key = body.key.removeprefix(f"{scope.lower()}'s ")
        owner = f"{scope} " if scope and scope.lower() not in ("project", key) and scope.lower() not in key else ""
        value = body.value.rstrip(".")
        yield f"{owner}{key}: {value}"
        yield f"{key}: {value}"
        yield value
    who, words = _said(told, bullets)
    anchors = _anchors(who, words)
    for count in range(len(anchors), 0, -1):
        yield ", ".join(anchors[:count])


def _said(told: str, bullets: Sequence[Bullet]) -> tuple[str, str]:
    """Who a memory speaks of or quotes, and its words."""
    if bullets and (quoted := bullets[0].quotation):
        return quoted.speaker, " ".join(bullet.quotation.words for bullet in bullets if bullet.quotation)
    subject = _SUBJECT.match(told)
    return (subject[0], told[subject.end() :]) if subject else ("", told)


def _anchors(who: str, words: str) -> list[str]:
    """What words name, the first with who says them."""
    found = list(dict.fromkeys(" ".join(run) for run in terms(words)))[:_MOST_ANCHORS]
    if not found:
        return [f"{who}: {_cut(words, _LEAST)}"] if who else []
    return [f"{who}: {found[0]}", *found[1:]] if who else found


def _episode(body: Episode, content: str, bullets: Sequence[Bullet]) -> list[str]:
    """What a thread is about: its title, what it left behind, and what else came up."""
    head = content.partition("\n")[0]
    title = body.title.strip() or (head[2:] if head.startswith("# ") else "")
    names = dict.fromkeys(bullet.quotation.speaker for bullet in bullets if bullet.quotation)
    texts = [bullet.quotation.words if bullet.quotation else bullet.text for bullet in bullets]
    found = topics([(text, 1.0) for text in texts], texts, names)
    rest = [phrase for phrase in found if phrase.lower() not in title.lower() and _names_much(phrase)]
    named = [_line(title)] if body.title.strip() else [_line(part) for part in title.split(", ") if part.strip()]
    return [*named, *(artifact.ref for artifact in body.artifacts[:2]), *rest]


def _names_much(phrase: str) -> bool:
    """Whether a phrase says something without its sentence: a name, a number, or more than one word."""
    return " " in phrase or phrase[0].isupper() or any(sign.isdigit() for sign in phrase)


def _occasion(trigger: str) -> list[str]:
    """The words of a trigger that name its occasion: "deploy_request" is about "deploy"."""
    said = re.findall(r"[^\W_]+", trigger)
    return [word for word in said if word.lower() not in _NO_OCCASION] or said


def trace(item: Item, packet: str, content: str) -> str:
    """One word in snake_case that stands for the memory: of six tokens at most, and no longer than its packet."""
    most = max(1, min(MOST, tokens(packet)))
    match item.body:
        case Workflow(trigger=trigger) | Pattern(trigger=trigger):
            found = _word([_occasion(trigger)], most)
        case Fact(key=str() as key, value=str() as value) if key.strip():
            found = _word([_plain(key.rsplit("'s ", 1)[-1]), _plain(value)], most)
        case Episode(title=title) if title.strip():
            found = _word([_plain(title), _plain(packet)], most)
        case Episode() if content.startswith("# "):
            found = _word([_plain(content.partition("\n")[0][2:]), _plain(packet)], most)
        case _:
            found = _word([_plain(packet.partition(": ")[2] or packet), _plain(packet)], most)
    return found or _word([_plain(packet)], most) or _word([_plain(bare(content))], most) or _short(item.kind, most)


def _word(said: Iterable[Sequence[str]], most: int) -> str:
    kept = ""
    for words in said:
        for word in map(_folded, words):
            if not word or word in kept.split("_"):
                continue
            longer = f"{kept}_{word}" if kept else word
            if tokens(longer) <= most and strict(longer, _RARE) <= MOST:
                kept = longer
            elif not kept:
                kept = _short(word, most)
            if kept.count("_") >= 2:
                return kept
    return kept


def _plain(text: str) -> list[str]:
    """The words of a text that name things, or all of them where none does."""
    return [word for run in terms(text.replace("_", " ")) for word in run] or re.findall(r"[^\W_]+", text)


def _folded(word: str) -> str:
    folded = "".join(sign for sign in unicodedata.normalize("NFKD", word.lower()) if not unicodedata.combining(sign))
    return re.sub(r"[^\w]+|_+", "_", folded).strip("_")


def _short(word: str, most: int) -> str:
    word = word[: 4 * most]
    while word and (tokens(word) > most or strict(word, _RARE) > MOST):
        word = word[:-1]
    return word
