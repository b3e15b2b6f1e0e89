"""A thread that a project shares, in which Ana said something private; and all that was made of it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from recollect.domain.change import Append, Create, Derive, Link
from recollect.domain.event import Event
from recollect.domain.ids import ItemId
from recollect.domain.item import Episode, Fact, Item, Visibility
from recollect.domain.level import Level
from recollect.domain.scope import Actor, Role
from recollect.domain.version import Version
from recollect.domain.witness import Bullet, RangeWitness
from recollect.errors import RecollectError
from tests.worlds import World

HOUSE = {"visibility": Visibility.PROJECT_SHARED, "project_id": "house", "user_id": None}
THREAD = "clinic"
OPEN = "The boathouse is booked for the workshop on Monday."
PRIVATE = "I cannot come to the boathouse workshop, my diabetes got worse."
LATER = "Then the boathouse workshop moves to Friday."
QUESTION = "Why does the boathouse workshop move to another day? Is it the diabetes?"
SECRET = re.compile("diabet|insulin", re.IGNORECASE)


@dataclass(frozen=True)
class Confided:
    """What was said, the memories made of it, and the versions of each."""

    world: World
    thread: Item
    events: tuple[Event, Event, Event]
    open: Item
    private: Item
    unmarked: Item
    """It says the same, and nobody has marked it."""
    marked: Item
    """It is marked, and what it cites is not."""
    part: Item
    """A topic of the thread in a memory of its own."""
    versions: tuple[Version, ...]

    @property
    def items(self) -> tuple[Item, ...]:
        return (self.thread, self.open, self.private, self.unmarked, self.marked, self.part)

    @property
    def witnesses(self) -> tuple[str, ...]:
        """Every way to name what was said."""
        return (*(f"e:{event.id}" for event in self.events), "s:1-3", "s:2-2", f"c:{self.events[1].id}.1")


def confide(world: World) -> Confided:
    """Ana and Robin, her agent, in a thread of the house; what she said second is private."""
    thread = world.item(Episode("The workshop"), category="episode", thread_id=THREAD, **HOUSE)
    said = [world.event(thread, text, author=who) for text, who in ((OPEN, "ana"), (PRIVATE, "ana"), (LATER, "robin"))]
    open = world.item(Fact(value=OPEN), thread_id=THREAD, **HOUSE)
    private = world.item(Fact("health", "diabetes", "ana"), private=True, tags=("insulin",), **HOUSE)
    unmarked = world.item(Fact(value="diabetes"), topic_key="insulin", thread_id=THREAD, **HOUSE)
    marked = world.item(Fact(value="insulin"), private=True, thread_id=THREAD, **HOUSE)
    part = world.item(Episode("The workshop: diabetes"), category="episode", **HOUSE)
    quoted = world.quoting(private, said[1])
    told = world.version(unmarked, said[1], content="Ana has diabetes and cannot come to the boathouse workshop.")
    versions = (
        world.version(open, said[0], content=OPEN),
        quoted,
        hint := world.shorter(quoted, "ana: diabetes, boathouse workshop"),
        world.shorter(hint, "insulin", level=Level.R1),
        told,
        world.shorter(told, "boathouse diabetes"),
        world.version(marked, said[2], content="For the boathouse workshop Ana brings her insulin."),
        *_summaries(world, thread, said),
        _summary(world, part, said, {2: "Ana cannot come to the boathouse workshop: diabetes."}),
    )
    world.apply(Create(thread), *map(Append, said), actor=Actor(id="robin", role=Role.AGENT, agent_id="robin"))
    world.apply(
        *map(Create, (open, private, unmarked, marked, part)),
        *map(Derive, versions),
        Link(world.relation(open, private, strength=1.0)),
        *(Link(world.relation(other, open, strength=0.9)) for other in (unmarked, marked, thread)),
        private=[said[1].id],
        actor=Actor(id="job:extract", role=Role.AGENT, agent_id="jobs"),
    )
    placed = world.store.events_by_id(world.tenant, [event.id for event in said])
    return Confided(world, thread, tuple(placed), open, private, unmarked, marked, part, versions)  # type: ignore[arg-type]


def _summaries(world: World, thread: Item, said: list[Event]) -> Iterator[Version]:
    """The thread at every level, as it was made before anybody knew what of it is private."""
    whole = (Bullet("\n".join(event.text for event in said), (RangeWitness(thread.id, 1, 3),)),)
    yield _summary(world, thread, said, {1: OPEN})
    yield world.version(thread, level=Level.R5, content="s:1-3", bullets=whole)
    yield world.version(thread, level=Level.R4, content=whole[0].text, bullets=whole)
    summary = _summary(world, thread, said, {1: OPEN, 2: "Ana cannot come: her diabetes got worse.", 3: LATER})
    yield summary
    hint = world.shorter(summary, "boathouse workshop, diabetes, Friday")
    yield hint
    yield world.shorter(hint, "insulin", level=Level.R1)


def _summary(world: World, item: Item, said: list[Event], told: dict[int, str]) -> Version:
    owner = said[0].item_id
    bullets = tuple(Bullet(text, (RangeWitness(owner, at, at),), "Facts") for at, text in told.items())
    content = "# The workshop\n## Facts\n" + "\n".join(f"- {bullet.text}" for bullet in bullets)
    return world.version(item, content=content, bullets=bullets)


def tried(*ways: Callable[[], object]) -> Iterator[str]:
    """What comes out of each of these, as text; a refusal is an answer, too."""
    for way in ways:
        try:
            yield repr(way())
        except RecollectError as refusal:
            yield repr(refusal)


def again(way: Callable[[], object], times: int = 8) -> object:
    """What comes out of asking for more until there is no more."""
    found: list[object] = []
    for _ in range(times):
        try:
            found.append(way())
        except RecollectError as refusal:
            return [*found, refusal]
    return found


def ids(told: Confided) -> tuple[ItemId, ...]:
    return tuple(item.id for item in told.items)
