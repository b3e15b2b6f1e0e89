"""Turns: what a reader was served for one answer, kept as fingerprints, and what people said about it."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from recollect.domain.change import Derive, Erase, Note
from recollect.domain.ids import ItemId, VersionId
from recollect.domain.observation import Usage, Use, Used
from recollect.domain.record import Resolved, Verdict
from recollect.domain.turn import Mark, Serving, Turn
from recollect.domain.witness import Bullet, EventWitness
from recollect.holdings import Vector, Wanted
from tests.worlds import EVERYTHING, Filters, Told, World, numbers

READER = "agent:robin"


def serve(
    world: World, context: str, *told: Told, subject: str = "drinks", turn: str = "t", reader: str = READER
) -> bool:
    items: dict[ItemId, VersionId | None] = {one.item.id: one.version.id for one in told}
    serving = Serving(turn_id=turn, subject=subject, context=context, items=items, at=world.clock.now())
    return world.store.serve(world.tenant, reader, serving)


def turn(world: World, subject: str | None = "drinks", turn: str = "t", reader: str = READER) -> Turn | None:
    return world.store.turn(world.tenant, reader, turn, subject)


def mark(world: World, mark: Mark, turn: str = "t", reader: str = READER) -> Turn | None:
    return world.store.mark(world.tenant, reader, turn, mark, world.clock.now())


# -- what was served --------------------------------------------------------------------------------------------


def test_a_turn_begins_with_what_is_served_first(world: World):
    told = world.tell()
    assert turn(world) is None
    assert serve(world, "Ana drinks tea.", told)
    begun = turn(world)
    assert begun is not None
    assert (begun.id, begun.reader, begun.served, begun.bumps) == ("t", READER, 1, 0)
    assert begun.items == {told.item.id: told.version.id}


def test_the_same_words_are_served_once_in_a_turn_whatever_they_are_about(world: World):
    assert serve(world, "Ana drinks tea.")
    before = turn(world)
    assert not serve(world, "Ana drinks tea.")
    assert not serve(world, "Ana drinks tea.", world.tell(), subject="hot drinks")
    assert turn(world) == before
    assert turn(world, "hot drinks") == Turn(id="t", reader=READER, items={}, begun_at=before.begun_at)  # type: ignore[union-attr]
    assert serve(world, "Ana drinks tea. She does.")
    assert serve(world, "Ana drinks tea.", turn="another")


def test_contexts_are_counted_by_what_they_are_about(world: World):
    tea, soup = world.tell(), world.tell("Ben eats soup.")
    for number in range(3):
        assert serve(world, f"tea {number}", tea)
    assert serve(world, "soup", soup, subject="meals")
    counted = {subject: turn(world, subject) for subject in ("drinks", "meals", "walks", None)}
    assert [one.served for one in counted.values() if one] == [3, 1, 0, 4]
    assert [set(one.items) for one in counted.values() if one] == [
        {tea.item.id},
        {soup.item.id},
        set(),
        {tea.item.id, soup.item.id},
    ]


def test_of_an_item_the_version_that_was_served_last_is_told(world: World):
    told = world.tell()
    hint = world.shorter(told.version)
    world.apply(Derive(hint))
    assert serve(world, "long", told)
    items = {told.item.id: hint.id}
    assert world.store.serve(
        world.tenant,
        READER,
        Serving(turn_id="t", subject="drinks", context="short", items=items, at=world.clock.now()),
    )
    assert turn(world).items == items  # type: ignore[union-attr]


def test_each_reader_has_turns_of_their_own(world: World):
    assert serve(world, "Ana drinks tea.")
    assert turn(world, reader="person:robin") is None
    assert serve(world, "Ana drinks tea.", reader="person:robin")
    assert mark(world, Mark.REROLL, reader="person:robin")
    assert turn(world).bumps == 0  # type: ignore[union-attr]


def test_of_many_who_serve_the_same_words_at_once_one_may(world: World):
    with ThreadPoolExecutor(8) as threads:
        served = list(threads.map(lambda number: serve(world, f"context {number % 3}"), range(24)))
    assert served.count(True) == 3
    assert turn(world).served == 3  # type: ignore[union-attr]


def test_no_words_are_kept(world: World, found: Callable[[], World]):
    told = world.tell("Ana drinks oolong.")
    serve(world, "Ana drinks oolong.", told, subject="what about the oolong?")
    serve(other := found(), "Ana drinks oolong.", subject="what about the oolong?")
    kept = [rows(one) for one in (world, other)]
    assert "oolong" not in json.dumps(kept)
    assert kept[0][0][-2:] != kept[1][0][-2:], "every tenant has a key of its own"


def rows(world: World) -> list[list[str]]:
    with world.store._engine.read(world.tenant) as tx:  # type: ignore[attr-defined]
        found = tx.all("select reader, turn_id, context, subject from turn_servings where tenant = :tenant")
    return [list(row) for row in found]


# -- what people say --------------------------------------------------------------------------------------------


def test_marks_that_say_no_add_up_and_others_do_not(world: World):
    told = world.tell()
    serve(world, "Ana drinks tea.", told)
    bumps = [marked.bumps for one in (Mark.REROLL, Mark.CORRECT, Mark.INCORRECT) if (marked := mark(world, one))]
    assert bumps == [1, 1, 2]
    assert turn(world, "something else").bumps == 2  # type: ignore[union-attr]
    assert mark(world, Mark.CORRECT).items == {told.item.id: told.version.id}  # type: ignore[union-attr]


def test_a_turn_that_is_not_there_cannot_be_marked(world: World):
    assert mark(world, Mark.REROLL) is None
    assert turn(world) is None


def test_no_mark_is_lost_when_many_come_at_once(world: World):
    serve(world, "Ana drinks tea.")
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: mark(world, Mark.REROLL), range(20)))
    assert turn(world).bumps == 20  # type: ignore[union-attr]


# -- how long it is kept ----------------------------------------------------------------------------------------


def test_tidying_forgets_turns_that_were_begun_before(world: World):
    told = world.tell()
    serve(world, "Ana drinks tea.", told, turn="old")
    between = world.clock.now()
    serve(world, "Ana drinks tea.", told, turn="new")
    assert world.store.tidy(world.tenant, before=between) == 1
    assert turn(world, turn="old") is None
    assert turn(world, turn="new").served == 1  # type: ignore[union-attr]
    assert serve(world, "Ana drinks tea.", told, turn="old"), "it begins anew"
    assert world.store.tidy(world.tenant, before=between + timedelta(days=1)) == 2
    assert rows(world) == []


def test_what_was_served_with_erased_words_is_forgotten_and_the_rest_is_not(world: World):
    one, other, kept = (
        world.tell(),
        world.tell("Ben eats soup.", thread="cellar"),
        world.tell("Eva runs.", thread="hall"),
    )
    serve(world, "tea", one, subject="a")
    serve(world, "tea and soup", one, other, subject="b")
    serve(world, "runs", kept, subject="c")
    evidence = Serving(
        turn_id="t", subject="d", context="soup!", items={other.event.item_id: None}, at=world.clock.now()
    )
    assert world.store.serve(world.tenant, READER, evidence)
    world.apply(Erase((other.item.id,), (other.version.id,), (other.event.id,), (), "asked for"))
    assert [turn(world, subject).served for subject in "abcd"] == [1, 0, 1, 0]  # type: ignore[union-attr]
    assert not serve(world, "tea", subject="a")


def test_turns_do_not_move_with_a_tenant(world: World):
    before = world.dump()
    serve(world, "Ana drinks tea.", subject="drinks")
    mark(world, Mark.REROLL)
    assert world.dump() == before
    assert world.is_whole()


# -- beside them ------------------------------------------------------------------------------------------------


def test_uses_of_a_version_count_for_it_and_for_its_memory(world: World):
    told = world.tell()
    hint = world.shorter(told.version)
    world.apply(Derive(hint))
    at = world.clock.now()
    world.store.observe(
        world.tenant,
        [
            Used(told.item.id, Use.RETRIEVED, at, told.version.id),
            Used(told.item.id, Use.IGNORED, at, told.version.id),
            Used(told.item.id, Use.CITED, at, hint.id),
            Used(told.item.id, Use.RETRIEVED, at),
            Used(told.item.id, Use.CITED, at, VersionId("gone")),
        ],
    )
    versions = [told.version.id, hint.id, VersionId("gone")]
    assert world.store.version_usage(world.tenant, versions) == {
        told.version.id: Usage(1, 0, 1, at),
        hint.id: Usage(0, 1, 0, None),
    }
    assert world.store.usage(world.tenant, [told.item.id]) == {told.item.id: Usage(2, 2, 1, at)}
    assert world.store.version_usage(world.tenant, []) == {}


def test_an_erased_version_leaves_no_count(world: World):
    told = world.tell()
    world.store.observe(world.tenant, [Used(told.item.id, Use.CITED, world.clock.now(), told.version.id)])
    world.apply(Erase((told.item.id,), (told.version.id,), (told.event.id,), (), "asked for"))
    assert world.store.version_usage(world.tenant, [told.version.id]) == {}


def test_memories_are_contested_until_their_contradiction_is_resolved(world: World):
    a, b, c = world.tell(), world.tell("Ana hates tea."), world.tell("Ben eats soup.")
    ids = [one.item.id for one in (a, b, c)]
    assert world.store.contested(world.tenant, ids) == {}
    opened = world.contradiction(a.item, b.item)
    world.apply(Note(None, opened))
    against = {a.item.id: frozenset({b.item.id}), b.item.id: frozenset({a.item.id})}
    assert world.store.contested(world.tenant, ids) == against
    assert world.store.contested(world.tenant, [b.item.id]) == {b.item.id: frozenset({a.item.id})}
    assert world.store.contested(world.tenant, []) == {}
    resolved = Resolved(
        id=opened.id,
        memory_a=opened.memory_a,
        memory_b=opened.memory_b,
        detected_at=opened.detected_at,
        resolved_at=world.clock.now(),
        resolution=Verdict.A_WINS,
    )
    world.apply(Note(opened, resolved))
    assert world.store.contested(world.tenant, ids) == {}


def test_contradictions_are_looked_up_by_their_memories_and_open_ones_in_order(world: World):
    a, b, c = world.tell(), world.tell("Ana hates tea."), world.tell("Ben eats soup.")
    opened = sorted(
        [world.contradiction(*pair) for pair in ((a.item, b.item), (c.item, b.item))], key=lambda one: one.id
    )
    world.apply(*(Note(None, one) for one in opened))
    of_b, of_a = (world.store.contradictions(world.tenant, [one.item.id]) for one in (b, a))
    assert list(of_b) == opened
    assert [one.memory_a for one in of_a] == [a.item.id]
    assert world.store.contradictions(world.tenant, []) == []
    assert list(world.store.open_contradictions(world.tenant, None, 10)) == opened
    assert list(world.store.open_contradictions(world.tenant, None, 1)) == opened[:1]
    assert list(world.store.open_contradictions(world.tenant, opened[0].id, 10)) == opened[1:]
    resolved = Resolved(
        id=opened[0].id,
        memory_a=opened[0].memory_a,
        memory_b=opened[0].memory_b,
        detected_at=opened[0].detected_at,
        resolved_at=world.clock.now(),
        resolution=Verdict.MERGED,
    )
    world.apply(Note(opened[0], resolved))
    assert set(world.store.contradictions(world.tenant, [b.item.id])) == {resolved, opened[1]}
    assert list(world.store.open_contradictions(world.tenant, None, 10)) == opened[1:]


# -- what is found of summaries ---------------------------------------------------------------------------------


def test_a_summary_is_found_by_its_words_and_not_by_its_witnesses(world: World):
    episode, (event,) = world.say("Something else entirely.")
    content = f"# Harbour\n- The ferry was late. [e:{event.id},s:1-1]"
    version = world.version(
        episode, content=content, bullets=(Bullet("The ferry was late.", (EventWitness(event.id),)),)
    )
    world.apply(Derive(version))
    assert world.found("ferry") == [f"v:{version.id}"]
    for part in event.id.split("-"):
        assert world.found(part) == []
    world.apply(Erase((), (version.id,), (), (), "asked for"))
    assert world.found("ferry") == []
    assert world.found("harbour") == []
    assert world.store.integrity() == []


def test_only_summaries_are_proposed_for_a_question(world: World):
    told = world.tell("Ana drinks tea.")
    hint = world.shorter(told.version, "zeppelin")
    world.apply(Derive(hint), vectors=[Vector("mini", f"v:{hint.id}", numbers(1, 0))])
    asked = Wanted(words=("zeppelin",), vector=numbers(1, 0), embedder="mini", filters=Filters(), sight=EVERYTHING)
    assert world.store.find_items(world.tenant, asked).hits == []
    assert world.found("zeppelin") == []
