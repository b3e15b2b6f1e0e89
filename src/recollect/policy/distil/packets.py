"""R2 and R1: the anchors by which a memory is found again, and the one word that stands for it."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from recollect.domain.item import Episode, Fact, Item, Pattern, Workflow
from recollect.domain.text import tokens
from recollect.domain.witness import Bullet, bare
from recollect.policy.distil import notation
from recollect.policy.distil.topics import phrases, telling, terms, topics
from recollect.policy.pack import strict

LONGEST = 40
"""Tokens of the longest packet."""
_SHARE = 0.18
_LEAST = 6
MOST = 6
"""Tokens of the longest trace."""
_SAID_BY = re.compile(r"\bby (.+?)(?: on \d{4}-\d\d-\d\d)?$")
_BECAUSE = re.compile(r"\b(?:because(?: of)?|due to|since|thanks to|for the sake of)\b(?P<why>[^.;]*)", re.IGNORECASE)
_STOPS = r"(?= because| due| for| on| after| by| in| with| and| since| at|[,.;]|$)"
_TURNS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\bfrom (?P<old>[^,.;]{{2,40}}?) to (?P<new>[^,.;]{{2,40}}?){_STOPS}",
        rf"\breplac(?:e|es|ed|ing) (?P<old>[^,.;]{{2,40}}?) (?:with|by) (?P<new>[^,.;]{{2,40}}?){_STOPS}",
        r"\b(?P<new>[\w.+-]+(?: [\w.+-]+)?) (?:instead of|over|rather than) (?P<old>[\w.+-]+)",
    )
)
_EDGES = re.compile(
    r"^(?:(?:the|a|an|on|in|using|with|to|of|for|user's|chose|use|uses|own|prefers?)\b\s*)+|\s+(?:the|a|an)$",
    re.IGNORECASE,
)
_SUBJECT = re.compile(r"(?:The team|[A-Z][\w-]+(?: [A-Z][\w-]+)*)(?=(?:'s)? [a-z])")
_NO_OCCASION = frozenset("request requested trigger when on a an the is are needed wanted event task for to".split())


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
            return _first(_fact(body, told), most) or _cut(told, most)
        case Episode() as body:
            return _packed(_episode(body, content, bullets), most) or _cut(told, most)
        case _:
            return _first([_anchored(told)], most) or _cut(told, most)


def _first(forms: Iterable[str], most: int) -> str:
    """The first of some forms that says something and fits."""
    return next((form for form in map(_line, forms) if form and tokens(form) <= most), "")


def _line(text: str) -> str:
    return " ".join(text.split())


def _packed(parts: Sequence[str], most: int) -> str:
    """As many of the parts as fit, in their order; the first is cut where it does not."""
    kept = ""
    for part in parts:
        longer = f"{kept}; {part}" if kept else part
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


def _fact(body: Fact, told: str) -> Iterator[str]:
    """A fact as key and value where it has them, with its reason, as far as there is room for that."""
    if body.key and body.value:
        scope = body.scope or ""
        key = body.key.removeprefix(f"{scope.lower()}'s ")
        owner = f"{scope} " if scope and scope.lower() not in ("project", key) else ""
        value = body.value.rstrip(".")
        yield f"{owner}{key}: {value}{_reason(told)}"
        yield f"{owner}{key}: {value}"
        yield f"{key}: {value}"
        yield value
    yield _anchored(told)


def _reason(told: str) -> str:
    found = _BECAUSE.search(told)
    named = [" ".join(run) for run in terms(found["why"])][:2] if found else []
    return f" ({', '.join(named)})" if named else ""


def _anchored(told: str) -> str:
    """A statement by what it names: "Mira: long mails, evening"; or by what took the place of what."""
    first = told.split(". ")[0]
    subject = _SUBJECT.match(first)
    who = subject[0] if subject else ""
    named = [" ".join(run) for run in phrases(first) if " ".join(run) != who]
    if found := _turned(first):
        before = [phrase for phrase in named if phrase in first[: first.find(found.old)] and phrase not in found.text]
        return f"{before[-1]}: {found.text}" if before else found.text
    if not named:
        return ""
    return f"{who}: {', '.join(named[:4])}" if who else f"{named[0]}: {', '.join(named[1:5])}".rstrip(": ")


@dataclass(frozen=True, slots=True)
class _Turned:
    """What took the place of what: "JWT→sessions (size)"."""

    old: str
    text: str


def _turned(told: str) -> _Turned | None:
    for form in _TURNS:
        if found := form.search(told):
            old, new = (_EDGES.sub("", found[part]).strip() for part in ("old", "new"))
            if old and new:
                return _Turned(
                    min(found["old"], found["new"], key=told.find), f"{old}→{new}{_reason(told[found.end() :])}"
                )
    return None


def _episode(body: Episode, content: str, bullets: Sequence[Bullet]) -> list[str]:
    """Who or what it is about, what took the place of what, what it left behind, and what else came up."""
    told = bare(content).split("\n")
    title = body.title or (told[0][2:] if told[0].startswith("# ") else "")
    names = _speakers(bullets)
    texts = telling([bullet.text for bullet in bullets] or [bare(content)])
    turns = [turn for bullet in bullets if bullet.section == notation.DECISIONS and (turn := _turned(bullet.text))]
    topical = title.split(", ") if title and not body.title else []
    found = list(
        {phrase.casefold(): phrase for phrase in [*topics(texts, texts, names)[::-1], *topical[::-1]]}.values()
    )[::-1]
    lead = _topic(body.title) if body.title.strip() else ", ".join(names[:2]) or (found.pop(0) if found else "")
    rest = [phrase for phrase in found if phrase.lower() not in lead.lower()]
    anchors = [*(turn.text for turn in turns[:2]), *(artifact.ref for artifact in body.artifacts[:2]), *rest]
    return [f"{lead}: {anchors[0]}", *anchors[1:]] if lead and anchors else [lead or " ".join(anchors)]


def _speakers(bullets: Sequence[Bullet]) -> list[str]:
    """Who the bullets are said by, those named most first; nobody where it is only the user."""
    said = Counter(
        found[1]
        for bullet in bullets
        for witness in bullet.witnesses[:1]
        if (found := _SAID_BY.search(witness.reason)) and found[1] not in ("the user", "the assistant")
    )
    return [name for name, _ in said.most_common()]


def _topic(text: str) -> str:
    """A title or trigger by its naming words."""
    runs = [" ".join(run) for run in terms(text.replace("_", " "))]
    return " ".join(runs)[:40].strip() or " ".join(text.split())[:40]


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
            found = _word([_plain(packet)], most)
    return found or _word([_plain(packet)], most) or _word([_plain(bare(content))], most) or _short(item.kind, most)


def _word(said: Iterable[Sequence[str]], most: int) -> str:
    kept = ""
    for words in said:
        for word in map(_folded, words):
            if not word:
                continue
            longer = f"{kept}_{word}" if kept else word
            if word in kept.split("_"):
                continue
            if tokens(longer) <= most and strict(longer) <= MOST:
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
    return "".join(sign for sign in unicodedata.normalize("NFKD", word.lower()) if sign.isalnum())


def _short(word: str, most: int) -> str:
    while word and (tokens(word) > most or strict(word) > MOST):
        word = word[:-1]
    return word
