"""Memories merged and split by topic: what belongs to one owner, what is said twice, what is about something else."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from recollect.domain.ids import EventId, ItemId
from recollect.domain.item import Active, Episode, Item
from recollect.domain.text import tokens
from recollect.domain.witness import Bullet, ChunkWitness, EventWitness, RangeWitness, Witness, bare
from recollect.policy import bands, signs
from recollect.policy.distil.notation import DECISIONS, SECTIONS

SHORTER = 0.9
"""Summaries are merged where that leaves at most this part of them."""
LONGEST = 1_000
"""Tokens that a summary says at most, however long its thread goes on."""
WITNESSES = 20
"""Events that one bullet names when they are named one by one."""
_ALIKE = 0.9
"""The share of words that two bullets have in common when they say the same."""
_WITHIN = 0.7
"""The same where one of them says nothing that the other does not."""
_COMMON = 2
"""A word in more than every second bullet tells topics apart no more."""
_SHARED = 2
"""Words that join two bullets to one topic."""
_LEAST_BULLETS = 4
_LEAST_SHARE = 0.15
_CLEAR_SHARE = 0.6
"""The part of a summary that its topics hold where it falls into clearly different ones."""
_LEAST_LETTERS = 4


def together(a: Item, b: Item) -> bool:
    """Whether two memories may become one: episodes about one topic that the same people see, equally trusted, and
    none of them protected, pinned, locked or out of the way."""
    return a.topic_key is not None and a.topic_key == b.topic_key and _owner(a) == _owner(b)


def _owner(item: Item) -> tuple[object, ...]:
    return (item.visibility, item.user_id, item.project_id, item.agent_id, item.trust, item.private)


def may_regroup(item: Item) -> bool:
    """Whether a memory may be merged or split at all."""
    free = not (item.constitutional or item.pinned or item.lock or item.superseded_by)
    return free and isinstance(item.body, Episode) and isinstance(item.state, Active)


# -- witnesses that are read the same anywhere -----------------------------------------------------------------


class InThread(Protocol):
    """An event, or what is known of where it stands."""

    @property
    def id(self) -> EventId: ...
    @property
    def item_id(self) -> ItemId: ...
    @property
    def seq(self) -> int: ...


def pointed(bullets: Iterable[Bullet], events: Iterable[InThread]) -> list[Bullet]:
    """Bullets that name their events one by one, so that they can stand in another memory; those of them that none of
    the events bears witness to are left out."""
    known = list(events)
    by_id = {event.id: event for event in known}
    by_place = {(event.item_id, event.seq): event for event in known}
    found: list[Bullet] = []
    for bullet in bullets:
        named = dict.fromkeys(one for witness in bullet.witnesses for one in _singly(witness, by_id, by_place))
        if named:
            found.append(replace(bullet, witnesses=tuple(named)[:WITNESSES]))
    return found


def _singly(
    witness: Witness, by_id: Mapping[EventId, InThread], by_place: Mapping[tuple[ItemId, int], InThread]
) -> Iterable[EventWitness | ChunkWitness]:
    match witness:
        case EventWitness(event_id) | ChunkWitness(event_id):
            return [witness] if event_id in by_id else []
        case RangeWitness(episode_id, first, last, reason):
            places = ((episode_id, seq) for seq in range(first, last + 1))
            return [EventWitness(by_place[place].id, reason) for place in places if place in by_place]


# -- merging -------------------------------------------------------------------------------------------------


def united(own: Sequence[Bullet], others: Iterable[Bullet]) -> tuple[Bullet, ...]:
    """What several summaries say, each thing once and in its fuller words, with the witnesses of all who say it; in the
    order of sections."""
    found: list[Bullet] = []
    for bullet in (*own, *others):
        same = next((place for place, known in enumerate(found) if _one(known, bullet)), None)
        if same is None:
            found.append(bullet)
        else:
            known = found[same]
            fuller, other = sorted((known, bullet), key=lambda one: -len(bands.content(one.text)))
            every = tuple(dict.fromkeys((*fuller.witnesses, *other.witnesses)))
            most = max(WITNESSES, len(fuller.witnesses))
            found[same] = replace(fuller, section=known.section, witnesses=every[:most])
    return tuple(sorted(found, key=_section))


def _one(a: Bullet, b: Bullet) -> bool:
    """Whether two bullets say the same. What two people say in the same words is not."""
    speakers = {one.quotation.speaker for one in (a, b) if one.quotation}
    return len(speakers) < 2 and _same(a.text, b.text)


def _same(a: str, b: str) -> bool:
    """Whether two sentences say the same: nearly all their words, the same numbers, and yes or no alike."""
    left, right = bands.content(a), bands.content(b)
    numbers = [{word for word in words if any(sign.isdigit() for sign in word)} for words in (left, right)]
    if numbers[0] != numbers[1] or bands.negated(a) != bands.negated(b) or bands.exchanged(a, b) or signs.clash(a, b):
        return False
    least = _WITHIN if left <= right or right <= left else _ALIKE
    return len(left & right) >= least * len(left | right)


def _section(bullet: Bullet) -> int:
    return SECTIONS.index(bullet.section) if bullet.section in SECTIONS else len(SECTIONS)


def carried_on(former: Sequence[Bullet], new: Sequence[Bullet], most: int = LONGEST) -> tuple[Bullet, ...]:
    """A summary that goes on: what it said so far and what is new. Where that is too much, the oldest goes first of the
    section that says most; what was decided stays as long as there is anything else."""
    kept = list(united(former, new))
    while sum(tokens(bullet.text) for bullet in kept) > most:
        said = Counter[str]()
        for bullet in kept:
            said[bullet.section] += tokens(bullet.text)
        longest = max((name for name in said if name != DECISIONS), key=lambda name: said[name], default=DECISIONS)
        kept.remove(next(bullet for bullet in kept if bullet.section == longest))
    return tuple(kept)


def worth_merging(before: Sequence[str], after: str) -> bool:
    """Whether a merged summary is clearly shorter than those it is made of."""
    return tokens(bare(after)) <= SHORTER * sum(tokens(bare(text)) for text in before)


# -- splitting -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Topic:
    """Bullets that are about one thing, and the word for it."""

    name: str
    bullets: tuple[Bullet, ...]


@dataclass(frozen=True, slots=True)
class Parted:
    """The topics of a summary, and the bullets that belong to none of them."""

    topics: tuple[Topic, ...]
    rest: tuple[Bullet, ...]


def parted(bullets: Sequence[Bullet]) -> Parted | None:
    """The topics that a summary falls into; None where they are not clearly different. Bullets belong together when
    they share telling words, directly or over others: two topics have no two such words in common."""
    words = _telling(bullets)
    groups = _joined(words)
    size = [tokens(bullet.text) for bullet in bullets]
    whole = sum(size)
    clear = [g for g in groups if len(g) >= _LEAST_BULLETS and sum(size[n] for n in g) >= _LEAST_SHARE * whole]
    if len(clear) < 2 or sum(size[n] for group in clear for n in group) < _CLEAR_SHARE * whole:
        return None
    topics: list[Topic] = []
    for group in clear:
        taken = {topic.name for topic in topics}
        name = _name([words[n] for n in group], taken)
        topics.append(Topic(name, tuple(bullets[n] for n in group)))
    inside = {n for group in clear for n in group}
    return Parted(tuple(topics), tuple(bullet for n, bullet in enumerate(bullets) if n not in inside))


def _telling(bullets: Sequence[Bullet]) -> list[frozenset[str]]:
    """The words of each bullet that tell what it is about: not too short, not everywhere, not here alone."""
    words = [frozenset(word for word in bands.frame(bullet.text) if len(word) >= _LEAST_LETTERS) for bullet in bullets]
    often = Counter(word for own in words for word in own)
    return [frozenset(word for word in own if 1 < often[word] <= len(bullets) // _COMMON) for own in words]


def _joined(words: Sequence[frozenset[str]]) -> list[list[int]]:
    """Numbers of bullets that hang together, in the order of the first of each group."""
    group = list(range(len(words)))
    for later in range(len(words)):
        for earlier in range(later):
            if group[earlier] != group[later] and len(words[earlier] & words[later]) >= _SHARED:
                old, new = max(group[earlier], group[later]), min(group[earlier], group[later])
                group = [new if one == old else one for one in group]
    found: dict[int, list[int]] = {}
    for number, one in enumerate(group):
        found.setdefault(one, []).append(number)
    return list(found.values())


def _name(words: Iterable[frozenset[str]], taken: set[str]) -> str:
    """The word that most of a group shares; one that names another group already gets a number."""
    often = Counter(word for own in words for word in own)
    ranked = sorted(often, key=lambda word: (-often[word], word))
    return next((word for word in ranked if word not in taken), f"{ranked[0]} {len(taken) + 1}")
