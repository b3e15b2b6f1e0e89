"""Stores as the rules of before left them: messages, and memories that reworded them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect.domain.change import Append, Create, Derive
from recollect.domain.event import Event
from recollect.domain.ids import ItemId
from recollect.domain.item import Episode, Fact, Item, Visibility
from recollect.domain.level import Derivation, Level
from recollect.domain.query import Filters
from recollect.domain.scope import Actor, Role
from recollect.domain.version import Version
from recollect.domain.witness import Bullet, EventWitness, RangeWitness
from tests.jobs.conftest import House

READER = Actor(id="job:extract", role=Role.ADMIN)
HAMMER = Actor(id="job:compress", role=Role.ADMIN)
FACTS = Filters(kinds=frozenset({"fact"}))


@dataclass
class Old:
    """A thread of before, and what was made of it."""

    house: House
    episode: Item
    events: list[Event]
    facts: list[Item] = field(default_factory=list[Item])

    def fact(self, text: str, *turns: int, **fields: Any) -> Item:
        """What the rules of before made of some turns, counted from 1."""
        world = self.house.world
        self.house.clock.forward(seconds=1)
        confidence = fields.pop("confidence", 0.8)
        item = world.item(
            Fact(scope="Mira", confidence=confidence),
            **{
                "thread_id": self.episode.thread_id,
                "user_id": self.episode.user_id,
                "project_id": self.episode.project_id,
                "visibility": self.episode.visibility,
                "actor_id": "mira",
                "role": "user",
                **fields,
            },
        )
        witnesses = tuple(EventWitness(self.events[turn - 1].id, "said so") for turn in turns)
        version = world.version(item, content=text, bullets=(Bullet(text, witnesses),))
        world.apply(Create(item), Derive(version), actor=READER)
        self.facts.append(item)
        return item

    def summary(self, *bullets: str, reason: str = "said by Mira on 2026-03-01") -> list[Version]:
        """All five levels, as the hammer of before left them."""
        world, id = self.house.world, self.episode.id
        last = len(self.events)
        whole = (RangeWitness(id, 1, last),)
        told = tuple(Bullet(text, (RangeWitness(id, 1, last, reason),), "Facts") for text in bullets)
        made: list[Version] = []
        for level, content, own, how in (
            (Level.R5, f"s:1-{last}", (Bullet("whole", whole),), None),
            (Level.R4, "\n".join(event.text for event in self.events), (), Derivation.NORMALIZE),
            (Level.R3, "\n".join(["## Facts", *(f"- {text} [s:1-{last}]" for text in bullets)]), told, None),
            (Level.R2, "an old hint", (), Derivation.COMPRESS),
            (Level.R1, "old", (), Derivation.TRACE),
        ):
            self.house.clock.forward(seconds=1)  # ids of one moment come in any order
            base = made[-1].id if made else None
            derivation = how or (Derivation.SUMMARIZE if made else None)
            version = world.version(
                self.episode, level=level, content=content, bullets=own, derived_from=base, derivation=derivation
            )
            world.apply(Derive(version), actor=HAMMER)
            made.append(version)
        return made


def old_thread(house: House, name: str, *texts: str, **fields: Any) -> Old:
    world = house.world
    house.clock.forward(seconds=1)
    owner = {"user_id": "mira", "visibility": Visibility.USER_PRIVATE, "actor_id": "mira", **fields}
    episode = world.item(Episode(), category="episode", thread_id=name, **owner)
    events = [world.event(episode, text, author="Mira", role="user") for text in texts]
    world.apply(Create(episode), *(Append(event) for event in events))
    return Old(house, episode, events)


def words(house: House, *, states: Sequence[str] = ("active",)) -> list[str]:
    """What facts say, as they are served."""
    found = house.memory.lines(Filters(kinds=frozenset({"fact"}), states=frozenset(states)))
    return sorted(shown.words for shown in found)


def spoken(house: House, item_id: ItemId) -> Version:
    return house.store.speaking(house.tenant, [item_id])[item_id][1]
