"""Quotations: they stand in the events that they quote, word for word, and go with any one of them."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recollect.domain.change import Append, Change, Create, Derive, Discard, Erase, Retract
from recollect.domain.event import Event
from recollect.domain.ids import EventId
from recollect.domain.item import Item
from recollect.domain.quotation import Excerpt, Quotation
from recollect.domain.version import Version
from recollect.domain.witness import Bullet, EventWitness, RangeWitness
from recollect.errors import Invalid, NotFound, Stale
from recollect.ports import Store
from recollect.store import quoting
from tests.store.conftest import World
from tests.strategies import texts, words
from tests.worlds import DAWN

SAID = "I take my tea\twith milk,\nnever with sugar. Ask Ben."
NOWHERE = EventId("0198aaaa-0000-7000-8000-000000000000")


@pytest.fixture
def told(world: World) -> tuple[Item, Event, Event]:
    """A memory, and two things that were said."""
    _, [one, other] = world.say(SAID, "And no lemon.")
    return world.keep(), one, other


def excerpts(bullet: Bullet, *changed: Excerpt, words: str | None = None) -> Bullet:
    """The same sentence with other excerpts, or other words."""
    assert bullet.quotation is not None
    said = replace(bullet.quotation, words=words or bullet.quotation.words, excerpts=changed)
    return replace(bullet, text=said.plain, quotation=said)


def refused(world: World, item: Item, bullet: Bullet, why: str) -> None:
    before = world.dump()
    version = world.version(item, content=bullet.text, bullets=(bullet,))
    with pytest.raises(Invalid, match=why):
        world.apply(Derive(version))
    assert world.dump() == before


# -- what may be quoted -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        SAID,
        "I take my tea with milk, never with sugar.",
        "never with sugar",
        "I take my tea … Ask Ben.",
        "… with milk, never with sugar …",
        "I take my tea… … Ask Ben.",
        "I  take\nmy tea",
    ],
)
def test_words_are_quoted_as_they_were_said_whatever_is_left_out(
    world: World, told: tuple[Item, Event, Event], said: str
):
    item, one, _ = told
    version = world.quoting(item, one, bullets=(world.quoted(one, words=said),))
    world.apply(Derive(version))
    assert world.store.versions(world.tenant, item.id) == [version]


def test_parts_of_a_quotation_may_stand_in_several_events(world: World, told: tuple[Item, Event, Event]):
    item, one, other = told
    world.apply(Derive(world.quoting(item, other, one)))
    _, [new] = world.say("Biscuits?", thread="hall")
    fresh = world.event(world.held(new.item_id).item, "Two, please.")
    world.apply(Append(fresh), Derive(world.quoting(item, one, fresh)))


@pytest.mark.parametrize(
    "said",
    [
        "I take my tea with sugar",
        "i take my tea",
        "I take my tea, with milk",
        "I take my tea … And no lemon.",
        "…",
        "I take my tea ... Ask Ben.",
        "I take my tea … … … with lemon.",
    ],
)
def test_words_that_were_not_said_are_no_quotation(world: World, told: tuple[Item, Event, Event], said: str):
    item, one, _ = told
    refused(world, item, world.quoted(one, words=said), "does not stand in its excerpts")


def test_words_of_another_stretch_than_the_excerpt_are_no_quotation(world: World, told: tuple[Item, Event, Event]):
    item, one, _ = told
    refused(world, item, excerpts(world.quoted(one, words="Ask Ben."), Excerpt(one.id, 0, 20)), "does not stand")
    start = SAID.index("Ask")
    world.apply(
        Derive(
            world.quoting(
                item, one, bullets=(excerpts(world.quoted(one, words="Ask Ben."), Excerpt(one.id, start, len(SAID))),)
            )
        )
    )


def test_an_excerpt_beyond_the_end_of_an_event_points_nowhere(world: World, told: tuple[Item, Event, Event]):
    item, one, _ = told
    refused(world, item, excerpts(world.quoted(one), Excerpt(one.id, 0, len(SAID) + 1)), "points nowhere")
    refused(world, item, excerpts(world.quoted(one), Excerpt(one.id, 900, 901)), "points nowhere")


def test_an_excerpt_of_an_unknown_event_points_nowhere(world: World, told: tuple[Item, Event, Event]):
    item, one, _ = told
    named = (EventWitness(one.id), EventWitness(NOWHERE))
    refused(
        world, item, replace(excerpts(world.quoted(one), Excerpt(NOWHERE, 0, 5)), witnesses=named), "points nowhere"
    )
    refused(world, item, excerpts(world.quoted(one), Excerpt(NOWHERE, 0, 5)), "points nowhere")


def test_an_excerpt_of_a_withdrawn_event_points_nowhere(world: World, told: tuple[Item, Event, Event]):
    item, one, other = told
    world.apply(Retract(other))
    refused(world, item, world.quoted(one, other), "points nowhere")
    whole = RangeWitness(one.item_id, one.seq, other.seq)
    refused(world, item, replace(world.quoted(one, other), witnesses=(whole,)), "points nowhere")


def test_who_is_quoted_is_a_witness(world: World, told: tuple[Item, Event, Event]):
    item, one, other = told
    bare = replace(world.quoted(one, other), witnesses=(EventWitness(one.id),))
    refused(world, item, bare, "points nowhere")
    named = replace(bare, witnesses=(RangeWitness(one.item_id, one.seq, other.seq),))
    world.apply(Derive(world.version(item, content=named.text, bullets=(named,))))


# -- what goes with what ------------------------------------------------------------------------------------


def hide(*events: Event) -> list[Change]:
    return [Retract(event) for event in events]


def test_an_event_is_not_hidden_from_under_a_quotation(world: World, told: tuple[Item, Event, Event]):
    item, one, other = told
    version = world.quoting(item, one, besides=[other])
    world.apply(Derive(version))
    before = world.dump()
    with pytest.raises(Stale, match=version.id):
        world.apply(*hide(one))
    assert world.dump() == before
    world.apply(*hide(other))
    assert world.store.versions(world.tenant, item.id) == [version], "of its other witnesses it needs only one"
    world.apply(Discard(version), *hide(one))
    assert world.store.versions(world.tenant, item.id) == []


def test_every_event_of_a_quotation_counts(world: World, told: tuple[Item, Event, Event]):
    item, one, other = told
    world.apply(Derive(world.quoting(item, one, other)))
    for event in (one, other):
        with pytest.raises(Stale):
            world.apply(*hide(event))


def test_a_version_does_not_come_back_without_what_it_quotes(world: World, told: tuple[Item, Event, Event]):
    item, one, other = told
    version = world.quoting(item, one, besides=[other])
    world.apply(Derive(version))
    world.apply(Discard(version), *hide(one))
    with pytest.raises(NotFound, match="withdrawn by a rollback"):
        world.apply(Derive(version))
    world.apply(Derive(version), Append(one))
    assert world.store.versions(world.tenant, item.id) == [version]


def test_a_quotation_is_erased_with_any_event_that_it_quotes(world: World, told: tuple[Item, Event, Event]):
    item, one, other = told
    version = world.quoting(item, one, other)
    world.apply(Derive(version))
    assert world.store.rooted(world.tenant, [], [other.id]).versions == {version.id}
    with pytest.raises(Stale):
        world.apply(Erase((), (), (other.id,), (), "asked for"))


def test_what_is_quoted_is_known_where_a_tenant_was_loaded(
    world: World, told: tuple[Item, Event, Event], other_store: Store
):
    item, one, other = told
    world.apply(Derive(world.quoting(item, one, besides=[other])))
    there = World(other_store, world.tenant, world.clock)
    other_store.load(there.tenant, world.store.dump(world.tenant))
    assert there.dump() == world.dump()
    with pytest.raises(Stale):
        there.apply(*hide(one))
    there.apply(*hide(other))


def test_a_dump_of_before_there_were_quotations_is_loaded(world: World, other_store: Store):
    told = world.tell()
    old = [
        {name: value for name, value in row.items() if name != "quoted"}
        for row in world.store.dump(world.tenant)
        if row["table"] not in ("participants", "private_events")
    ]
    there = World(other_store, world.tenant, world.clock)
    other_store.load(there.tenant, old)
    assert there.dump() == world.dump(), "who took part is told by what is there"
    there.apply(Create(there.item()), Discard(told.version), *hide(told.event))


# -- words and stretches ------------------------------------------------------------------------------------


def quotes(text: str, said: str) -> bool:
    """Whether words pass for a quotation of a text."""
    event = Event(id=NOWHERE, item_id=Item.__name__, ts=DAWN, author="ana", text=text)  # type: ignore[arg-type]
    quotation = Quotation(speaker="ana", said_at=DAWN, words=said, excerpts=(Excerpt(NOWHERE, 0, len(text)),))
    bullet = Bullet(quotation.plain, (EventWitness(NOWHERE),), quotation=quotation)
    version = Version(
        id="v",  # type: ignore[arg-type]
        item_id="i",  # type: ignore[arg-type]
        level=3,  # type: ignore[arg-type]
        content=bullet.text,
        bullets=(bullet,),
        created_at=DAWN,
    )
    try:
        quoting.check(version, {NOWHERE: event})
    except Invalid:
        return False
    return True


@given(text=words(), data=st.data())
def test_any_stretches_of_a_text_are_a_quotation_of_it(text: str, data: st.DataObject):
    cuts = data.draw(st.lists(st.tuples(*[st.integers(0, len(text))] * 2).map(sorted), min_size=1, max_size=3))
    parts = [text[first:last] for first, last in cuts]
    assume(any(" ".join(part.split()).strip("… ") for part in parts))
    assert quotes(text, " … ".join(parts))


@given(text=words(), said=words(), more=texts(5))
def test_what_is_no_stretch_of_a_text_is_no_quotation_of_it(text: str, said: str, more: str):
    line = " ".join(text.split())
    parts = [part.strip("… ") for part in " ".join((said + more).split()).split(" … ")]
    assert quotes(text, said + more) == (any(parts) and all(part in line for part in parts))
