"""Long answers, a portion at a time: all of it, each part once, in order, and never more than a portion holds."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.domain.change import Append, Create, Derive, Retract
from recollect.domain.event import Event, Span
from recollect.domain.ids import ItemId
from recollect.domain.level import Level
from recollect.domain.portion import MOST, Portion, every
from recollect.domain.scope import Principal, Role
from recollect.domain.text import tokens
from recollect.domain.witness import MOST_ASKED, Bullet, ChunkWitness, EventWitness, RangeWitness, Witness, written
from recollect.errors import Invalid, NotFound
from recollect.memory import Memory
from recollect.policy.chunks import chunks
from recollect.read import receipts
from tests.hunt import examples
from tests.worlds import World

LONG = "The boathouse by the lake is rented for the workshop in May, the projector is not. " * 12
TEXTS = [f"The {number}th plank of the boathouse is rotten." for number in range(1, 24)]
ASKED = settings(max_examples=examples(10), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def memory(world: World, tmp_path: Path) -> Memory:
    return world.memory(tmp_path, user="ana")


def furnished(world: World) -> tuple[ItemId, ItemId, list[Event]]:
    """A thread, some events of it hidden and some long; and a memory that cites events of it and of another."""
    thread, _ = world.say(*TEXTS, thread="planks")
    spans = tuple(Span(part.start, part.end) for part in chunks(LONG))
    assert len(spans) > 1
    late = [world.event(thread, LONG, chunks=spans), world.event(thread, "It rains.")]
    world.apply(*(Append(event) for event in late))
    world.apply(*(Retract(event) for event in world.store.events(world.tenant, thread.id, 4, 5)))
    _, elsewhere = world.say("The lake freezes in January.", "It thaws in March.", thread="lake")
    events = list(world.store.events(world.tenant, thread.id))
    item = world.item()
    cited = [*events[::3], *elsewhere]
    bullets = tuple(Bullet(event.text[:60], (EventWitness(event.id, "said so"),)) for event in cited)
    version = world.version(item, cited[0], bullets=bullets)
    world.apply(Create(item), Derive(version))
    return thread.id, item.id, events


def named(thread: ItemId, events: Sequence[Event]) -> st.SearchStrategy[list[Witness]]:
    """Any list of witnesses, whether or not there is what they name."""
    ids = st.sampled_from([event.id for event in events])
    numbers = st.integers(1, len(TEXTS) + 9)
    one: st.SearchStrategy[Witness] = st.one_of(
        st.builds(EventWitness, ids),
        st.builds(lambda a, b: RangeWitness(thread, min(a, b), max(a, b)), numbers, numbers),
        st.builds(ChunkWitness, ids, st.integers(1, 3)),
    )
    return st.lists(one, min_size=1, max_size=8).flatmap(
        lambda some: st.integers(1, 3).map(lambda times: (some * times)[:MOST_ASKED])
    )


def expected(witnesses: Sequence[Witness], among: Sequence[Event]) -> list[tuple[str, str]]:
    """The events that are named, each once, told naively."""
    found: list[tuple[str, str]] = []
    for event in sorted(among, key=lambda event: (event.item_id, event.seq)):
        whole = any(
            (isinstance(one, RangeWitness) and one.first <= event.seq <= one.last)
            or (isinstance(one, EventWitness) and one.event_id == event.id)
            for one in witnesses
        )
        numbers = sorted(
            {one.number for one in witnesses if isinstance(one, ChunkWitness) and one.event_id == event.id}
        )
        parts = [event] if whole else [chunk for number in numbers for chunk in event.chunk(number)]
        found += [(part.id, part.text) for part in parts]
    return found


def told(events: Sequence[Event]) -> list[tuple[str, str]]:
    return [(event.id, event.text) for event in events]


def test_portions_of_evidence_give_every_event_that_is_named_once_and_in_order(
    world: World, memory: Memory, monkeypatch: pytest.MonkeyPatch
):
    thread, item, events = furnished(world)
    cited = list(every(lambda after: memory.evidence(item, after=after)))
    assert len({event.item_id for event in cited}) == 2

    @ASKED
    @given(st.data(), st.integers(1, 30), st.sampled_from([1, 60, 500, 10**6]), st.booleans())
    def check(data: st.DataObject, limit: int, room: int, of_thread: bool) -> None:
        monkeypatch.setattr(receipts, "ROOM", room)
        among, of = (events, thread) if of_thread else (cited, item)
        witnesses = data.draw(named(thread, events) | st.none())
        asked = None if witnesses is None else written(tuple(witnesses))
        pages: list[Portion[Event, str]] = []

        def ask(after: str | None) -> Portion[Event, str]:
            pages.append(memory.evidence(of, asked, after=after, limit=limit))
            return pages[-1]

        found = list(every(ask))
        wanted = sorted(among, key=lambda event: (event.item_id, event.seq))
        assert told(found) == (told(wanted) if witnesses is None else expected(witnesses, among))
        assert len(found) == len({(event.id, event.text) for event in found})
        for page in pages:
            sizes = {event.id: len(event.text) for event in page}
            assert len(sizes) <= limit
            assert len(sizes) == 1 or sum(sizes.values()) <= room or not sizes

    check()


def test_portions_of_a_thread_and_of_its_history_and_versions_give_everything_once(
    world: World, memory: Memory, monkeypatch: pytest.MonkeyPatch
):
    thread, _, events = furnished(world)
    memory.close_episode(thread)
    entries = world.store.entries(world.tenant, refs=[f"i:{thread}"])
    versions = [one.id for one in memory.versions(thread)]
    journal = [entry.header.seq for entry in memory.journal(limit=MOST)]

    @ASKED
    @given(st.integers(1, 40), st.sampled_from([1, 700, 10**6]))
    def check(limit: int, room: int) -> None:
        monkeypatch.setattr(receipts, "ROOM", room)
        asked: dict[str, Callable[[], list[object]]] = {
            "thread": lambda: [e.id for e in every(lambda n: memory.thread(thread, after=n or 0, limit=limit))],
            "history": lambda: list(every(lambda n: memory.history(thread, after=n or 0, limit=limit))),
            "versions": lambda: [v.id for v in every(lambda n: memory.versions(thread, before=n, limit=limit))],
            "journal": lambda: [e.header.seq for e in every(lambda n: memory.journal(before=n, limit=limit))],
        }
        found = {name: ask() for name, ask in asked.items()}
        wanted = {"thread": [e.id for e in events], "history": entries, "versions": versions, "journal": journal}
        assert found == wanted

    check()


def test_what_is_listed_of_versions_is_what_they_hold(world: World, memory: Memory):
    """Tokens are counted by the store, without reading: as many as whoever reads them counts."""
    thread, _, _ = furnished(world)
    memory.close_episode(thread)
    held = {version.id: version for version in world.store.versions(world.tenant, thread)}
    for one in memory.versions(thread):
        version = held[one.id]
        raw = sum(tokens(event.text) for event in world.store.cited(world.tenant, [one.id]))
        assert one.tokens == (raw if one.level is Level.R5 else tokens(version.content))
        assert (one.level, one.derived_from, one.derivation) == (
            version.level,
            version.derived_from,
            version.derivation,
        )


def test_one_event_that_is_longer_than_a_portion_is_a_portion(world: World, memory: Memory):
    thread, _ = world.say("x" * 990_000, "y" * 990_000, "z", thread="pages")
    pages = [memory.evidence(thread.id)]
    while pages[-1].next:
        pages.append(memory.evidence(thread.id, after=pages[-1].next))
    assert [[event.text[0] for event in page] for page in pages] == [["x"], ["y", "z"]]


def test_what_cannot_be_asked_for_is_refused(world: World, memory: Memory):
    thread, _ = world.say("It rains.")
    for bad in (",".join(["s:1-9"] * (MOST_ASKED + 1)), "s:1-9," * 5000, "", "s:9-1"):
        with pytest.raises(Invalid):
            memory.evidence(thread.id, bad)
    for after in ("", "1", "x:1", f"{thread.id}:", f"{thread.id}:{'9' * 30}", f"{thread.id}:-1"):
        with pytest.raises(Invalid):
            memory.evidence(thread.id, after=after)
    for limit in (0, MOST + 1, -1):
        for ask in (memory.evidence, memory.thread, memory.history, memory.versions):
            with pytest.raises(Invalid):
                ask(thread.id, limit=limit)
        with pytest.raises(Invalid):
            memory.journal(limit=limit)
    with pytest.raises(NotFound):
        memory.versions(thread.id, before=thread.id)  # type: ignore[arg-type]


def test_the_same_range_sixty_times_is_answered_once(world: World, memory: Memory):
    thread, events = world.say(*TEXTS[:9])
    assert told(memory.evidence(thread.id, ",".join(["s:1-9"] * 60))) == told(events)


def test_the_place_to_go_on_from_tells_of_no_thread_that_is_not_shown(world: World, tmp_path: Path):
    """A memory may cite a thread of somebody else: neither its words nor its id come out, on no page."""
    ana = world.memory(tmp_path, user="ana")
    _, hidden = world.say(*TEXTS[:6], thread="private", user_id="ben")
    _, shown = world.say(*TEXTS[6:9], thread="open", user_id="ana")
    item = world.item(user_id="ana")
    bullets = tuple(Bullet(event.text, (EventWitness(event.id, "said so"),)) for event in [*hidden, *shown])
    world.apply(Create(item), Derive(world.version(item, hidden[0], bullets=bullets)))
    member = ana.acting(Principal(tenant=world.tenant, id="ana", role=Role.MEMBER))
    pages = [member.evidence(item.id, limit=1)]
    while pages[-1].next:
        pages.append(member.evidence(item.id, limit=1, after=pages[-1].next))
    assert [event.id for page in pages for event in page] == [event.id for event in shown]
    assert not any(hidden[0].item_id in (page.next or "") for page in pages)
