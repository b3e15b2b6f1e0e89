"""Every door of memory, and a house in which something private was said: by real ways in, with all that follows."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

from recollect.care.restore import OneEntry, OneMemory, Session, ToRevision
from recollect.domain.change import Link, Note
from recollect.domain.ids import CauseId, ItemId, Rev, Seq
from recollect.domain.portion import every
from recollect.domain.query import Filters, Form, Query, Source
from recollect.domain.record import Open, Rules
from recollect.domain.scope import Principal, Role, Scope
from recollect.domain.turn import NEED_MORE_CONTEXT, Mark, Task
from recollect.memory import Memory
from recollect.write.foreign import Thread
from recollect.write.message import Message
from tests.confided import again, tried
from tests.worlds import ALL, ANY_STATE, EVERYTHING, World

SALON = "salon"
CANARY = re.compile("xyloquill|diabet", re.IGNORECASE)
TALK = (
    ("cleo", "We decided that the boathouse workshop is on Monday at nine."),
    ("ana", "My doctor put me on xyloquill for my diabetes, so I cannot come to the boathouse on Monday."),
    ("cleo", "We agreed that the boathouse workshop moves to Friday at ten."),
)
STATED = "My doctor doubled the xyloquill for my diabetes."
QUESTIONS = ("boathouse workshop", "Why does the workshop move to Friday?", "doctor")
"""None of them has the word: what comes back with it comes out of memory."""
_IN_HOUSE = {"projects": frozenset({"house"})}
COLLEAGUES: Mapping[str, Mapping[str, object]] = {
    "member": {"id": "ben", "role": Role.MEMBER, **_IN_HOUSE},
    "agent": {"id": "pilot", "role": Role.AGENT, "agent_id": "pilot", **_IN_HOUSE},
    "moderator": {"id": "mona", "role": Role.MODERATOR},
    "admin": {"id": "root", "role": Role.ADMIN},
}
INSIDER = {"id": "ana", "role": Role.MEMBER, **_IN_HOUSE}


@dataclass(frozen=True)
class House:
    """What was said and made, by its ids."""

    world: World
    thread: ItemId
    stated: ItemId
    items: tuple[ItemId, ...]
    versions: Mapping[ItemId, Sequence[str]]
    events: tuple[str, ...]
    entries: tuple[int, ...]
    causes: tuple[str, ...]

    @property
    def witnesses(self) -> tuple[str, ...]:
        return (*(f"e:{event}" for event in self.events), "s:1-9", *(f"s:{n}-{n}" for n in range(1, 5)), "s:2-3")


def acting(memory: Memory, who: Mapping[str, object]) -> Memory:
    return memory.acting(Principal(tenant=memory.principal.tenant, **who))  # type: ignore[arg-type]


def furnished(world: World, memory: Memory) -> House:
    """Ana says something private in a thread of the house; it is taken in, stated, summed up and compared."""
    robin = acting(memory, {"id": "robin", "role": Role.AGENT, "agent_id": "robin", **_IN_HOUSE})
    ana, ben = acting(memory, INSIDER), acting(memory, COLLEAGUES["member"])
    said = [Message(text=text, author=who, role="user") for who, text in TALK]
    place = {"thread_id": SALON, "project_id": "house"}
    taken = robin.ingest(said, title="The diabetes and the boathouse", wait=True, **place)
    stated = ana.remember(STATED, tags=("xyloquill",), **place)
    ana.close_episode(taken.episode_id)
    robin.ingest([Message(text="The xyloquill helps against my diabetes.", author="ana", role="user")], **place)
    plain = ben.remember("The boathouse workshop needs ten chairs.", project_id="house", thread_id="errands")
    a, b = world.held(plain.item_id).item, world.held(stated.item_id).item
    at = world.clock.now()
    found = Open(id=world.relation(a, b).id, memory_a=a.id, memory_b=b.id, detected_at=at, why="xyloquill or chairs")
    world.apply(Note(None, found), Link(world.relation(a, b, strength=1.0)))
    return known(world, taken.episode_id, stated.item_id)


def known(world: World, thread: ItemId, stated: ItemId) -> House:
    store, tenant = world.store, world.tenant
    items = tuple(held.item.id for held in store.items(tenant, ANY_STATE, EVERYTHING, ALL))
    headers = [entry.header for entry in world.journal()]
    return House(
        world,
        thread,
        stated,
        items,
        {item: [version.id for version in store.versions(tenant, item, withdrawn=True)] for item in items},
        tuple(event.id for item in items for event in store.events(tenant, item)),
        tuple(header.seq for header in headers),
        tuple(sorted({header.cause for header in headers if header.cause})),
    )


# -- the doors of Memory ------------------------------------------------------------------------------------

Way = Callable[[], object]
WHOLE = frozenset({"export", "export_state", "backup"})
"""Doors that give out the tenant as a whole, without loss, to admins alone."""


def doors_of(memory_class: type) -> set[str]:
    """Every public name of the front door."""
    return {name for name in dir(memory_class) if not name.startswith("_")} | {"principal"}


def reading(memory: Memory, house: House, folder: Path) -> dict[str, list[Way]]:
    """The doors that change nothing, with the ways to ask at each."""

    def each(way: Callable[[ItemId], object]) -> list[Way]:
        return [partial(way, item) for item in house.items]

    def model(asked: object) -> str:
        heard.append(repr(asked))
        return NEED_MORE_CONTEXT

    heard: list[str] = []
    asked = [
        Query(text=text, form=form, source=source, task=task, threshold=0.0, turn_id=f"turn {number}")
        for number, (text, form, source, task) in enumerate(
            product(QUESTIONS, Form, Source, (Task.ROUTINE, Task.QUOTE))
        )
    ]
    return {
        "principal": [lambda: memory.principal],
        "acting": [lambda: memory.acting(memory.principal).principal],
        "query": [
            *(partial(again, partial(memory.query, query)) for query in asked),
            lambda: memory.query(Query(text="boathouse", thread_id=SALON, budget_tokens=4000)),
        ],
        "answer": [lambda: (memory.answer(Query(text=QUESTIONS[1], threshold=0.0), model), heard), lambda: heard],
        "items": [lambda: memory.items(Filters(project_id="house")), lambda: memory.items(ANY_STATE)],
        "lines": [lambda: memory.lines(Filters(project_id="house")), lambda: memory.lines(ANY_STATE)],
        "item": each(memory.item),
        "show": each(memory.show),
        "serve": [
            *each(memory.serve),
            *each(lambda item: memory.serve(item, task=Task.AUDIT)),
            *each(lambda item: again(lambda: memory.serve(item, more=True, turn_id=f"more {item}"))),
        ],
        "thread": each(memory.thread),
        "evidence": [
            *each(memory.evidence),
            *each(lambda item: list(every(lambda after: memory.evidence(item, after=after, limit=1)))),
            *(partial(memory.evidence, item, witness) for item in house.items for witness in house.witnesses),
        ],
        "versions": each(memory.versions),
        "version": [
            partial(memory.version, item, one)  # type: ignore[arg-type]
            for item, versions in house.versions.items()
            for one in versions
        ],
        "history": [
            *each(memory.history),
            *each(lambda item: list(every(lambda after: memory.history(item, after=after or 0, limit=1)))),
        ],
        "find": [partial(memory.find, item[-12:]) for item in house.items],
        "journal": [lambda: memory.journal(limit=1000)],
        "jobs": [memory.jobs],
        "pending": [memory.pending],
        "counts": [memory.counts],
        "rules": [memory.rules],
        "epoch": [lambda: memory.epoch("house")],
        "head": [memory.head],
        "signed_head": [memory.signed_head],
        "verify": [lambda: memory.verify(deep=True)],
        "export": [lambda: list(memory.export())],
        "export_state": [lambda: list(memory.export_state())],
        "export_user": [lambda: list(memory.export_user(memory.principal.id)), lambda: list(memory.export_user("ben"))],
        "backup": [lambda: memory.backup(folder / "copy.db")],
        "preview_erase": each(memory.preview_erase),
        "preview_erase_user": [lambda: memory.preview_erase_user("ana"), lambda: memory.preview_erase_user("ben")],
        "preview_rollback": [
            partial(memory.preview_rollback, target, cascade=cascade)
            for target in _targets(memory, house)
            for cascade in (False, True)
        ],
    }


def changing(memory: Memory, house: House) -> dict[str, list[Way]]:
    """The doors that change memory, in an order in which each still finds something to change."""

    def each(way: Callable[[ItemId], object]) -> list[Way]:
        return [partial(way, item) for item in house.items]

    told = [Message(text="Nobody comes to the boathouse on Monday.", author=memory.principal.id)]
    elsewhere = {"thread_id": "elsewhere", "project_id": "house"}
    return {
        "remember": [
            lambda: memory.remember("The boathouse workshop is not on Monday.", **elsewhere),  # type: ignore[arg-type]
            *(partial(memory.remember, "The doctor comes.", supersedes=item, **elsewhere) for item in house.items),  # type: ignore[arg-type]
        ],
        "append": [lambda: memory.append(told, **elsewhere)],  # type: ignore[arg-type]
        "ingest": [lambda: memory.ingest(told, wait=True, **elsewhere)],  # type: ignore[arg-type]
        "bulk": [lambda: memory.bulk([Thread("elsewhere", "", told)], project_id="house")],
        "feedback": [partial(memory.feedback, f"more {house.items[0]}", mark) for mark in Mark],
        "compress": [
            lambda: memory.compress(dry_run=True),
            *each(lambda item: memory.compress(item_id=item)),
            memory.compress,
        ],
        "close_episode": each(memory.close_episode),
        "promote": [
            partial(memory.promote, item, one)  # type: ignore[arg-type]
            for item, versions in house.versions.items()
            for one in versions
        ],
        "pin": each(memory.pin),
        "unpin": each(memory.unpin),
        "protect": [*each(memory.protect), *each(lambda item: memory.protect(item, on=False))],
        "revise": each(lambda item: memory.revise(item, importance=2)),
        "archive": each(memory.archive),
        "restore": each(memory.restore),
        "delete": each(memory.delete),
        "advance_epoch": [lambda: memory.advance_epoch("house")],
        "set_rules": [lambda: memory.set_rules(Rules())],
        "remake": [lambda: memory.remake(dry_run=True), memory.remake],
        "remade": [partial(memory.remade, CauseId(cause)) for cause in (*house.causes, "none")],
        "rejudge": [lambda: memory.rejudge(dry_run=True), memory.rejudge],
        "rejudged": [partial(memory.rejudged, CauseId(cause)) for cause in (*house.causes, "none")],
        "rollback": [partial(memory.rollback, target) for target in _targets(memory, house)],
        "import_": [lambda: memory.import_([])],
        "erase": each(memory.erase),
        "erase_user": [lambda: memory.erase_user(memory.principal.id), lambda: memory.erase_user("ana")],
        "close": [],
    }


def _targets(memory: Memory, house: House) -> Iterator[OneEntry | OneMemory | Session | ToRevision]:
    yield from (OneEntry(Seq(seq)) for seq in reversed(house.entries))
    yield from (OneMemory(item, Rev(0)) for item in house.items)
    yield from (Session(CauseId(cause)) for cause in house.causes)
    yield ToRevision(Scope(tenant=memory.principal.tenant), Rev(0))


def told_at(doors: Mapping[str, Iterable[Way]]) -> dict[str, str]:
    """What comes out of each door, as text; a refusal is an answer, too."""
    return {name: "\n".join(tried(*ways)) for name, ways in doors.items()}


def leaking(told: Mapping[str, str]) -> dict[str, str]:
    """The doors at which the private word comes out, each with what stands around it."""
    found = {name: CANARY.search(text) for name, text in told.items()}
    return {name: told[name][max(0, hit.start() - 200) : hit.end() + 100] for name, hit in found.items() if hit}
