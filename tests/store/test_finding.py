"""Finding for a query: words and vectors, under filters and sight, on both engines."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from struct import pack

import pytest

from recollect.care import restore
from recollect.care.restore import ToRevision
from recollect.domain.change import Append, Create, Derive, Discard, Erase, Retract, Revise, Withdraw, revise
from recollect.domain.event import Event, Span
from recollect.domain.ids import CauseId, Rev
from recollect.domain.item import Archived, Item, Visibility
from recollect.domain.query import Filters
from recollect.domain.scope import Sight
from recollect.holdings import Hit, Hits, Listed, Vector, Wanted
from recollect.policy.categories import AllBut, Allowed, Only, sides
from recollect.read.category_rule import CategoryRule
from tests.worlds import EVERYTHING, Told, World, numbers

MODEL = "toy"


def wanted(*words: str, vector: bytes | None = None, **more: object) -> Wanted:
    given = {"filters": Filters(), "sight": EVERYTHING, **more}
    return Wanted(words=words, vector=vector, embedder=None if vector is None else MODEL, **given)  # type: ignore[arg-type]


def events(world: World, *words: str, **more: object) -> list[str]:
    return [hit.ref[2:] for hit in world.store.find_events(world.tenant, wanted(*words, **more)).hits]


def items(world: World, *words: str, **more: object) -> list[str]:
    return [hit.item_id for hit in world.store.find_items(world.tenant, wanted(*words, **more)).hits]


def change(world: World, item: Item, **fields: object) -> Revise:
    return revise(item, replace(item, **fields), world.clock.now())  # type: ignore[arg-type]


def one(hits: Hits, ref: str) -> Hit:
    [hit] = [hit for hit in hits.hits if hit.ref == ref]
    return hit


def embed(world: World, vectors: dict[str, Sequence[float]], model: str = MODEL) -> None:
    world.apply(vectors=[Vector(model, ref, numbers(*values)) for ref, values in vectors.items()])


# -- words --------------------------------------------------------------------------------------------------


def test_an_event_and_the_memory_made_of_it_are_found_by_a_word(world: World):
    told = world.tell("Ana keeps bees on the roof")
    world.tell("Ben paints boats")
    found = world.store.find_events(world.tenant, wanted("bees"))
    [hit] = found.hits
    assert (hit.ref, hit.item_id, hit.seq) == (f"e:{told.event.id}", told.event.item_id, 1)
    assert (hit.ts, hit.author, hit.cosine) == (told.event.ts, "ana", None)
    assert (hit.text or 0) > 0
    [hit] = world.store.find_items(world.tenant, wanted("bees")).hits
    assert (hit.ref, hit.item_id, hit.seq, hit.author) == (f"v:{told.version.id}", told.item.id, 0, "")
    assert hit.ts == told.item.updated_at


def test_nothing_is_found_where_nothing_is_asked_or_known(world: World):
    assert world.store.find_events(world.tenant, wanted("bees")) == Hits([], 0, {"bees": 0})
    world.tell("Ana keeps bees")
    assert events(world) == events(world, "") == events(world, "wasps") == events(world, "?!") == []
    assert events(world, vector=numbers(1, 0)) == []


@pytest.mark.parametrize(
    "word",
    ["ERR-4471", "4471", "err-4471", "src/hive/queen_bee.py", "queen_bee.py", "hive", "9f3c2ab", "v2.14.3", "2.14.3",
     "Zoë", "zoe", "ZOË", "zoe's", "naive", "naïve", "keeping", "keeps", "straße", "Ωμέγα", "омлет", "ОМЛЕТ"],
)  # fmt: skip
def test_codes_paths_hashes_and_accents_are_found_as_they_are_typed(world: World, word: str):
    told = world.tell(
        "Zoë's naïve keeping: ERR-4471 in src/hive/queen_bee.py since 9f3c2ab (v2.14.3), Straße, ωμέγα, Омлет"
    )
    world.tell("ERR 4471b, queen of bees, 9f3c2ac, 2.14.4")
    assert events(world, word)[0] == told.event.id
    assert items(world, word)[0] == told.item.id


@pytest.mark.parametrize(("text", "words", "others"), [
    ("昨日、東京タワーへ行きました", ("東京", "東京タワー", "タワー", "行", "昨日"), ("大阪", "京都")),
    ("我喜欢喝绿茶", ("绿茶", "喜欢喝", "茶"), ("红酒",)),
    ("저는 서울에서 김치를 먹었다", ("서울", "김치"), ("부산",)),
    ("ฉันชอบดื่มชาเขียว", ("ชาเขียว", "ดื่ม"), ("กาแฟ",)),
    ("der Fehler 障害コードERR-9 trat auf", ("障害", "ERR-9", "障害コードERR-9"), ("故障",)),
])  # fmt: skip
def test_scripts_without_spaces_are_found_by_their_words(
    world: World, text: str, words: Sequence[str], others: Sequence[str]
):
    told = world.tell(text)
    for word in words:
        assert events(world, word) == [told.event.id], word
        assert items(world, word) == [told.item.id], word
    for word in others:
        assert events(world, word) == [], word


def test_a_text_with_more_of_the_rare_words_comes_first(world: World):
    world.say(*(f"the harbour is open, note {n}" for n in range(30)))
    _, [rare, both] = world.say("a lantern", "the lantern of the harbour")
    assert events(world, "harbour", "lantern")[:2] == [both.id, rare.id]


def test_of_texts_that_tell_the_same_the_shorter_comes_first(world: World):
    _, [long, short] = world.say("lantern " + "and so on and on " * 20, "a lantern here")
    assert events(world, "lantern") == [short.id, long.id]


def test_how_common_words_are_is_told_with_the_hits(world: World):
    world.say(*(f"tea number {n}" for n in range(6)), "one lantern")
    found = world.store.find_events(world.tenant, wanted("tea", "lantern", "wasp", "tea lantern"))
    assert found.documents == 7
    assert found.frequency == {"tea": 6, "lantern": 1, "wasp": 0, "tea lantern": found.frequency["tea lantern"]}
    assert found.frequency["tea lantern"] <= 1


def test_no_more_than_asked_for_and_the_best_of_them(world: World):
    world.say(*(f"tea, and something else, number {n}" for n in range(30)))
    _, [best] = world.say("tea tea")
    found = events(world, "tea", limit=7)
    assert len(found) == 7
    assert found[0] == best.id


@pytest.mark.parametrize(
    "word", ['"', "'", "*", "tea*", "a OR b", "NEAR(a b)", "text:tea", "\x00", "\ud800", "x" * 3000]
)
def test_words_are_words_whatever_they_are_made_of(world: World, word: str):
    told = world.tell("bees")
    assert told.event.id not in events(world, word)
    assert events(world, word, "bees") == [told.event.id]


# -- vectors ------------------------------------------------------------------------------------------------


def test_what_is_near_is_found_and_how_near_it_is(world: World):
    tea, boat = world.tell("tea"), world.tell("boat")
    embed(
        world, {f"e:{tea.event.id}": (1, 0, 0), f"e:{boat.event.id}": (0.6, 0.8, 0), f"v:{tea.version.id}": (0, 0, 1)}
    )
    found = world.store.find_events(world.tenant, wanted(vector=numbers(1, 0, 0))).hits
    assert [hit.ref for hit in found] == [f"e:{tea.event.id}", f"e:{boat.event.id}"]
    assert [hit.cosine for hit in found] == pytest.approx([1, 0.6], abs=1e-5)
    assert [hit.text for hit in found] == [None, None]
    [hit] = world.store.find_items(world.tenant, wanted(vector=numbers(0, 1, 0))).hits
    assert hit.ref == f"v:{tea.version.id}"
    assert hit.cosine == pytest.approx(0, abs=1e-5)


def test_vectors_of_other_embedders_and_lengths_are_not_compared(world: World):
    tea, boat = world.tell("tea"), world.tell("boat")
    embed(world, {f"e:{tea.event.id}": (1, 0)})
    embed(world, {f"e:{boat.event.id}": (1, 0)}, model="another's")
    assert events(world, vector=numbers(1, 0)) == [tea.event.id]
    assert events(world, vector=numbers(1, 0, 0)) == []
    other = replace(wanted(vector=numbers(1, 0)), embedder="another's")
    assert [hit.ref[2:] for hit in world.store.find_events(world.tenant, other).hits] == [boat.event.id]


def test_a_hit_by_words_tells_its_cosine_and_a_hit_by_vector_its_words(world: World):
    _, many = world.say(*(f"tea and more tea, number {n}" for n in range(3)))
    _, [far] = world.say("the last word about tea is that there is no last word about anything at all")
    embed(world, {**{f"e:{event.id}": (0, 1) for event in many}, f"e:{far.id}": (1, 0)})
    found = world.store.find_events(world.tenant, wanted("tea", vector=numbers(1, 0), limit=3))
    assert len(found.hits) == 4, "the best three by words, and one more of the best three by vector"
    assert all(hit.text is not None and hit.cosine is not None for hit in found.hits)
    assert one(found, f"e:{far.id}").cosine == pytest.approx(1, abs=1e-5)


def test_a_newer_vector_takes_the_place_of_an_older_one(world: World):
    tea = world.tell("tea")
    embed(world, {f"e:{tea.event.id}": (1, 0)})
    assert one(world.store.find_events(world.tenant, wanted(vector=numbers(1, 0))), f"e:{tea.event.id}").cosine == 1
    embed(world, {f"e:{tea.event.id}": (0, 1)})
    found = world.store.find_events(world.tenant, wanted(vector=numbers(1, 0)))
    assert one(found, f"e:{tea.event.id}").cosine == pytest.approx(0, abs=1e-6)


def test_a_chunk_that_is_near_finds_its_event(world: World):
    episode = world.keep(world.episode())
    long = world.event(episode, "tea. " * 200 + "boat. " * 200, chunks=(Span(0, 1000), Span(1000, 2200)))
    short = world.event(episode, "a boat")
    world.apply(Append(long), Append(short))
    embed(world, {f"c:{long.id}.1": (1, 0, 0), f"c:{long.id}.2": (0, 0.8, 0.6), f"e:{short.id}": (0, 0.6, 0.8)})
    found = world.store.find_events(world.tenant, wanted(vector=numbers(0, 1, 0))).hits
    assert [(hit.ref, hit.cosine) for hit in found] == [
        (f"e:{long.id}", pytest.approx(0.8, abs=1e-5)),
        (f"e:{short.id}", pytest.approx(0.6, abs=1e-5)),
    ]
    by_word = world.store.find_events(world.tenant, wanted("tea", vector=numbers(0, 0, 1), limit=1))
    assert one(by_word, f"e:{long.id}").cosine == pytest.approx(0.6, abs=1e-5)


def test_of_many_chunks_of_few_events_every_event_is_found(world: World):
    episode = world.keep(world.episode())
    many = [world.event(episode, "x" * 100, chunks=tuple(Span(n, n + 1) for n in range(30))) for _ in range(3)]
    last = world.event(episode, "y")
    world.apply(*map(Append, [*many, last]))
    embed(world, {f"c:{event.id}.{n}": (1, 0.001 * n) for event in many for n in range(1, 31)})
    embed(world, {f"e:{last.id}": (0, 1)})
    assert set(events(world, vector=numbers(1, 0), limit=4)) == {event.id for event in [*many, last]}


def test_a_vector_of_no_length_is_near_to_nothing_and_harms_nobody(world: World):
    tea, boat = world.tell("tea"), world.tell("boat")
    embed(world, {f"e:{tea.event.id}": (0, 0), f"e:{boat.event.id}": (0, 1)})
    assert events(world, vector=numbers(0, 1))[0] == boat.event.id
    assert tea.event.id not in [
        hit.ref[2:]
        for hit in world.store.find_events(world.tenant, wanted(vector=numbers(0, 1))).hits
        if (hit.cosine or 0) > 0
    ]


# -- who speaks for an item ---------------------------------------------------------------------------------


def tell_again(world: World, told: Told, text: str) -> Told:
    version = world.version(told.item, told.event, content=text)
    world.apply(Derive(version))
    return replace(told, version=version)


def test_the_newest_r3_speaks_for_an_item_unless_another_was_promoted(world: World):
    first = world.tell("tea in the morning")
    second = tell_again(world, first, "coffee in the morning")
    assert (items(world, "tea"), items(world, "coffee")) == ([], [first.item.id])
    world.apply(change(world, first.item, active_version_id=first.version.id))
    assert (items(world, "tea"), items(world, "coffee")) == ([first.item.id], [])
    embed(world, {f"v:{first.version.id}": (1, 0), f"v:{second.version.id}": (0, 1)})
    assert one(
        world.store.find_items(world.tenant, wanted(vector=numbers(1, 0))), f"v:{first.version.id}"
    ).cosine == pytest.approx(1)
    assert len(items(world, vector=numbers(0, 1))) == 1


def test_a_version_that_was_discarded_does_not_speak(world: World):
    first = world.tell("tea in the morning")
    second = tell_again(world, first, "coffee in the morning")
    assert items(world, "coffee") == [first.item.id]
    world.apply(Discard(second.version))
    assert (items(world, "tea"), items(world, "coffee")) == ([first.item.id], [])


def test_a_memory_with_many_older_versions_does_not_crowd_out_the_others(world: World):
    told = world.tell("tea tea 0")
    for n in range(1, 25):
        told = tell_again(world, told, f"tea tea {n}")
    other = world.tell("tea, and then a lot of other words which make it longer")
    assert set(items(world, "tea", limit=2)) == {told.item.id, other.item.id}


# -- what is not to be found --------------------------------------------------------------------------------


def test_what_was_withdrawn_is_not_found_and_comes_back_with_it(world: World):
    told = world.tell("tea")
    embed(world, {f"e:{told.event.id}": (1, 0), f"v:{told.version.id}": (1, 0)})
    assert (events(world, "tea"), items(world, "tea")) == ([told.event.id], [told.item.id])
    world.apply(Discard(told.version), Retract(told.event), Withdraw(told.item))
    for found in (
        events(world, "tea"),
        items(world, "tea"),
        events(world, vector=numbers(1, 0)),
        items(world, vector=numbers(1, 0)),
    ):
        assert found == []
    world.apply(Create(told.item), Append(told.event), Derive(told.version))
    assert (events(world, "tea"), items(world, vector=numbers(1, 0))) == ([told.event.id], [told.item.id])


def test_what_was_erased_is_not_found_and_neither_are_its_chunks(world: World):
    episode, [said] = world.say("boat")
    gone = world.event(episode, "tea " * 100, chunks=(Span(0, 200), Span(200, 400)))
    world.apply(Append(gone))
    told = world.tell("tea", thread="hall")
    embed(
        world,
        {
            f"c:{gone.id}.1": (1, 0),
            f"c:{gone.id}.2": (1, 0),
            f"e:{told.event.id}": (1, 0),
            f"v:{told.version.id}": (1, 0),
            f"e:{said.id}": (0, 1),
        },
    )
    assert len(events(world, "tea", vector=numbers(1, 0))) == 3
    world.apply(Erase((told.item.id,), (told.version.id,), (told.event.id, gone.id), (), "asked for"))
    assert events(world, "tea", vector=numbers(1, 0)) == [said.id]
    assert items(world, "tea", vector=numbers(1, 0)) == []
    assert [row["ref"] for row in world.store.dump(world.tenant) if row["table"] == "vectors"] == [f"e:{said.id}"]
    world.apply(vectors=[Vector(MODEL, f"c:{gone.id}.1", numbers(1, 0))])
    assert [row["ref"] for row in world.store.dump(world.tenant) if row["table"] == "vectors"] == [f"e:{said.id}"]
    again = world.tell("tea again", thread="hall")
    embed(world, {f"e:{again.event.id}": (1, 0)})
    assert events(world, "tea", vector=numbers(1, 0))[0] == again.event.id


def test_what_was_rolled_back_is_not_found(world: World):
    kept = world.tell("tea")
    gone = world.tell("tea too")
    embed(world, {f"e:{told.event.id}": (1, 0) for told in (kept, gone)})
    assert set(events(world, "tea")) == {kept.event.id, gone.event.id}
    target = ToRevision(world.scope, Rev(gone.rev - 1))
    at = world.clock.now()
    restore.roll_back(
        world.store, world.scope, target, actor=world.actor, at=at, cause=CauseId("undone"), cascade=False
    )
    assert events(world, "tea", vector=numbers(1, 0)) == [kept.event.id]
    assert items(world, "tea") == [kept.item.id]


# -- filters and sight --------------------------------------------------------------------------------------


def test_the_filters_of_an_event_are_about_its_episode_but_for_the_role(world: World):
    house = world.episode("one", project_id="house", importance=5, state=Archived(world.clock.now()))
    garden = world.episode("two", project_id="garden", importance=1)
    said = [world.event(house, "tea", role="user"), world.event(house, "tea", role="tool"), world.event(garden, "tea")]
    world.apply(Create(house), Create(garden), *map(Append, said))
    a, b, c = (event.id for event in said)
    assert set(events(world, "tea")) == {a, b, c}
    assert set(events(world, "tea", filters=Filters(project_id="house"))) == {a, b}
    assert events(world, "tea", filters=Filters(project_id="house", role="tool")) == [b]
    assert events(world, "tea", filters=Filters(thread_id="two", kinds=frozenset({"fact"}))) == [c]
    assert set(events(world, "tea", filters=Filters(importance_min=2, categories=frozenset({"x"})))) == {a, b}


def test_nobody_finds_what_is_out_of_sight(world: World):
    own = world.tell("tea for ana")
    silo = world.tell("tea in a silo", visibility=Visibility.AGENT_SILO, agent_id="robin", user_id=None)
    shared = world.tell("tea in the house", visibility=Visibility.PROJECT_SHARED, project_id="house")
    embed(world, {f"v:{told.version.id}": (1, 0) for told in (own, silo, shared)})
    embed(world, {f"e:{told.event.id}": (1, 0) for told in (own, silo, shared)})
    for sight, seen in (
        (Sight(users=frozenset({"ana"}), projects=frozenset(), silo=None, readers=None), [own]),
        (Sight(users=frozenset(), projects=frozenset({"house"}), silo=None, readers=None), [shared]),
        (Sight(users=frozenset(), projects=frozenset(), silo="robin", readers=None), [silo]),
        (Sight(users=frozenset(), projects=frozenset(), silo=None, readers=None), []),
        (EVERYTHING, [own, shared]),
    ):
        assert set(items(world, "tea", sight=sight)) == {told.item.id for told in seen}
        assert set(items(world, vector=numbers(1, 0), sight=sight)) == {told.item.id for told in seen}
        assert set(events(world, "tea", vector=numbers(1, 0), sight=sight)) == {told.event.id for told in seen}


def test_few_that_pass_are_found_among_many_that_do_not(world: World):
    many = [
        world.event(episode, "tea tea")
        for episode in [world.keep(world.episode("crowd", user_id="ben"))]
        for _ in range(300)
    ]
    world.apply(*map(Append, many))
    told = world.tell("a little tea, and many words that nobody asks for at all")
    embed(world, {f"e:{event.id}": (1, 0) for event in many})
    embed(world, {f"e:{told.event.id}": (0, 1)})
    ana = Filters(user_id="ana")
    assert events(world, "tea", filters=ana, limit=3) == [told.event.id]
    assert events(world, vector=numbers(1, 0), filters=ana, limit=3) == [told.event.id]


def test_a_change_of_an_item_shows_in_the_next_question(world: World):
    told = world.tell("tea", importance=1)
    important = Filters(importance_min=4)
    assert items(world, "tea", filters=important) == []
    world.apply(change(world, told.item, importance=5))
    assert items(world, "tea", filters=important) == [told.item.id]
    moved = world.held(told.item).item
    world.apply(change(world, moved, state=Archived(world.clock.now())))
    assert items(world, "tea", filters=important) == []
    archived = Filters(importance_min=4, states=frozenset({"archived"}))
    assert items(world, "tea", filters=archived) == [told.item.id]


# -- many vectors -------------------------------------------------------------------------------------------


def random_vectors(count: int, dimension: int = 48, seed: int = 3) -> list[bytes]:
    chance = Random(seed)
    return [pack(f"<{dimension}f", *(chance.gauss(0, 1) for _ in range(dimension))) for _ in range(count)]


def fill(world: World, count: int) -> tuple[list[Event], list[bytes]]:
    episode = world.keep(world.episode("many"))
    said = [world.event(episode, f"number {n}") for n in range(count)]
    vectors = random_vectors(count)
    world.apply(
        *map(Append, said),
        vectors=[Vector(MODEL, f"e:{event.id}", values) for event, values in zip(said, vectors, strict=True)],
    )
    return said, vectors


def test_the_order_is_that_of_the_floats(world: World):
    import numpy as np

    said, vectors = fill(world, 400)
    floats = np.frombuffer(b"".join(vectors), np.float32).reshape(400, -1)
    floats = floats / np.linalg.norm(floats, axis=1, keepdims=True)
    for question in random_vectors(5, seed=4):
        query = np.frombuffer(question, np.float32)
        exact = floats @ (query / np.linalg.norm(query))
        found = world.store.find_events(world.tenant, wanted(vector=question, limit=40)).hits
        best = np.argsort(-exact)[:40]
        assert [hit.ref[2:] for hit in found[:20]] == [said[n].id for n in best[:20]]
        assert [hit.cosine for hit in found] == pytest.approx(exact[best], abs=5e-3)
        assert [hit.cosine for hit in found[:20]] == pytest.approx(exact[best[:20]], abs=1e-5)


@pytest.mark.parametrize(
    "allowed",
    [
        Only(frozenset({"tasks"})),
        Only(frozenset({"tasks", "episode"})),
        AllBut(frozenset({"knowledge"})),
        AllBut(frozenset({"knowledge", "episode"})),
    ],
)
def test_what_the_category_rule_withholds_is_neither_found_nor_counted(world: World, allowed: Allowed):
    listed = Listed(*sides(allowed), allowed.holds("episode"))
    _, said = world.say("bees fly", "bees hum")

    def agrees() -> None:
        asked = wanted("bees", listed=listed, filters=Filters(categories=listed.categories, without=listed.without))
        found = world.store.find_events(world.tenant, asked)
        shown = CategoryRule(world.store, world.tenant, None, allowed).shown(said)
        assert {hit.ref[2:] for hit in found.hits} == {event.id for event in shown}
        made = world.store.find_items(world.tenant, asked).hits
        assert found.documents == found.frequency["bees"] == len(shown) + len(made)

    agrees()
    aside, told = world.tell("bees sting", category="knowledge"), world.tell("bees dance", category="tasks")
    said += [aside.event, told.event]
    agrees()
    other = world.item(category="tasks")
    version = world.version(other, aside.event, content="bees")
    world.apply(Create(other), Derive(version))
    agrees()
    world.apply(change(world, told.item, category="knowledge"))
    agrees()
    thread = world.store.items_by_id(world.tenant, [said[0].item_id])[0].item
    summary = world.version(thread, said[0], told.event, content="bees all over")
    world.apply(Derive(summary))
    assert items(world, "over") == [thread.id]
    assert items(world, "over", listed=listed) == []
    agrees()
    world.apply(Discard(version), Withdraw(other))
    agrees()
