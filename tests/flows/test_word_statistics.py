"""Scores come of what the asker may see. Two stores in which ana has the same memories, one of them full of what others
wrote, give her the same answers, byte for byte, with the same scores and the same reasons."""

from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.custody import Deps
from recollect.domain.change import Link
from recollect.domain.ids import Rev
from recollect.domain.item import Visibility
from recollect.domain.query import Answer, Query, Source
from recollect.domain.scope import Principal, Role
from recollect.memory import Memory
from recollect.store.postgres import word_counts
from recollect.store.sidecar import FileErasures, FileSeal
from recollect.write.message import Message
from tests.hunt import examples
from tests.store.conftest import new_world
from tests.worlds import DAWN, Ticking, World

WORDS = "harbour kettle ladder marble orchard pebble quarry ribbon saddle timber".split()
said = st.lists(st.sampled_from(WORDS), min_size=2, max_size=6).map(
    lambda words: f"We saw the {' and the '.join(words)}."
)


def memory_of(world: World, beside: Path, principal: Principal, clock: Ticking) -> Memory:
    return Memory(Deps(world.store, clock, FileErasures(beside / "erasures"), FileSeal(beside / "key")), principal)


def ana(world: World, beside: Path) -> Memory:
    principal = Principal(tenant=world.tenant, id="ana", role=Role.MEMBER, projects=frozenset({"harbour"}))
    return memory_of(world, beside, principal, Ticking())


def neighbours(world: World, elsewhere: World, beside: Path) -> Sequence[Callable[[str], object]]:
    """Those who write things that ana may not see: another user, an agent into its silo, another project, another
    tenant, and a colleague of her project who says something in private."""
    clock = Ticking(DAWN + timedelta(days=300))  # ids that are not hers
    ben = memory_of(world, beside, Principal(tenant=world.tenant, id="ben", role=Role.MEMBER), clock)
    robin = Principal(tenant=world.tenant, id="robin", role=Role.AGENT, agent_id="robin", users=frozenset({"ben"}))
    silo = memory_of(world, beside, robin, clock)
    cleo = Principal(tenant=world.tenant, id="cleo", role=Role.MEMBER, projects=frozenset({"quarry"}))
    project = memory_of(world, beside, cleo, clock)
    stranger = memory_of(elsewhere, beside, Principal(tenant=elsewhere.tenant, id="ana", role=Role.ADMIN), clock)
    colleague = memory_of(world, beside, replace(cleo, id="dora", projects=frozenset({"harbour"})), clock)
    return (
        lambda text: ben.remember(text, thread_id="b"),
        lambda text: silo.remember(text, thread_id="s", visibility=Visibility.AGENT_SILO),
        lambda text: project.remember(text, thread_id="q", project_id="quarry"),
        lambda text: stranger.ingest([Message(text=text, author="ana", role="user")], thread_id="t"),
        lambda text: colleague.append(
            [Message(text=f"My diagnosis is asthma. {text}", author="dora", role="user")],
            thread_id="h",
            project_id="harbour",
            visibility=Visibility.PROJECT_SHARED,
        ),
    )


def asking(world: World, beside: Path) -> Callable[[str], object]:
    """Somebody else who asks: what is counted for him is no reason to forget what was counted for ana."""
    clock = Ticking(DAWN + timedelta(days=600))
    eva = memory_of(world, beside, Principal(tenant=world.tenant, id="eva", role=Role.MEMBER), clock)
    return lambda text: eva.query(Query(text=text))


def told(memory: Memory, question: str) -> list[Answer]:
    """All of it but the tenant's revision, which counts every write."""
    return [
        replace(memory.query(Query(text=question, source=source, explain=True)), turn_id="", rev=Rev(0))
        for source in (Source.ANY, Source.MEMORY, Source.EVIDENCE)
    ]


OWN = st.lists(said, min_size=1, max_size=8, unique=True)
NOISE = st.lists(st.tuples(st.integers(0, 4), said), min_size=1, max_size=25)
QUESTION = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True).map(" ".join)


def told_alone_and_among_others(
    store, beside: Path, own: Sequence[str], noise: Sequence[tuple[int, str]], question: str, asked_after: Set[int]
) -> list[list[list[Answer]]]:
    """What ana is told, once after each of these texts and at the end: alone, and with others who write between."""
    answers: list[list[list[Answer]]] = []
    for others in ([], noise):
        world, elsewhere = new_world(store), new_world(store)
        memory = ana(world, beside)
        writers = neighbours(world, elsewhere, beside)
        ask = asking(world, beside)
        replies: list[list[Answer]] = []
        for place, text in enumerate(own):
            for number, words in others[place :: len(own)]:
                writers[number](words)
                ask(words)
            memory.remember(text, thread_id="a")
            if place in asked_after:
                replies.append(told(memory, question))
        answers.append([*replies, told(memory, question)])
    return answers


@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(own=OWN, noise=NOISE, question=QUESTION)
def test_what_others_write_moves_no_score(store, tmp_path: Path, own, noise, question):
    alone, among = told_alone_and_among_others(store, tmp_path, own, noise, question, {len(own) // 2})
    assert alone == among


@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(own=OWN, noise=NOISE, question=QUESTION)
def test_nor_where_texts_are_many(store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own, noise, question):
    """As if a handful were thousands: figures are remembered for a while, and shares stand for counts."""
    few = {
        "_PHRASES": 12,
        "_COUNTED": 4,
        "_SAMPLE": 3,
        "_MOST": 6,
        "_SMALL": 3,
        "_FIRST": 2,
        "_FEW": 9,
        "_COMMON": 2,
        "_TOLD": 1,
    }
    for name, most in few.items():
        monkeypatch.setattr(word_counts, name, most)
    alone, among = told_alone_and_among_others(store, tmp_path, own, noise, question, set(range(len(own))))
    assert alone == among


def test_an_edge_to_what_may_not_be_read_moves_no_score(store, tmp_path: Path):
    world = new_world(store)
    person = ana(world, tmp_path)
    dora = person.acting(Principal(tenant=world.tenant, id="dora", role=Role.MEMBER, projects=frozenset({"harbour"})))
    robin = Principal(tenant=world.tenant, id="ana", role=Role.AGENT, agent_id="robin", projects=frozenset({"harbour"}))
    agent = person.acting(robin)
    place = {"project_id": "harbour", "thread_id": "a"}
    seen = person.remember("We saw the harbour and the kettle.", **place).item_id
    private = dora.remember("My diagnosis is asthma.", project_id="harbour", thread_id="d").item_id
    withheld = person.remember("Ana and Dora fell out.", category="relationship_dynamic", **place).item_id
    before = told(person, "harbour"), told(agent, "harbour"), told(dora, "harbour")
    kept = {name: world.held(item_id).item for name, item_id in (("seen", seen), ("p", private), ("w", withheld))}
    world.apply(Link(world.relation(kept["seen"], kept["p"], strength=0.9)))
    assert (told(person, "harbour"), told(agent, "harbour")) == before[:2]
    assert told(dora, "harbour") != before[2], "an edge between what may be read does weigh"
    world.apply(Link(world.relation(kept["w"], kept["seen"], strength=0.8)))
    assert told(agent, "harbour") == before[1]
    assert told(person, "harbour") != before[0]


ASIDE = "Bitter quarrels estranged mother from brother since winter: {}, letters burned, lawyers threatened."
"""Words that share one or two with what ana says besides: nothing comes of the two being hers."""


def an_agent(world: World, beside: Path, name: str, clock: Ticking) -> Memory:
    robin = Principal(tenant=world.tenant, id="ana", role=Role.AGENT, agent_id=name, users=frozenset({"ana"}))
    return memory_of(world, beside, robin, clock)


@pytest.mark.parametrize(
    ("agent", "readable", "left_out"),
    [
        ("robin", ("knowledge", "tone"), "relationship_dynamic"),
        ("supervisor", ("goals", "tasks"), "knowledge"),
        ("executor", ("tasks", "constraints"), "relationship_dynamic"),
    ],
)
@settings(max_examples=examples(3), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    own=st.lists(said, min_size=1, max_size=5, unique=True),
    aside=st.lists(st.sampled_from(WORDS), min_size=1, max_size=10),
    question=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True).map(" ".join),
)
def test_what_an_agents_list_leaves_out_moves_no_score(
    store, tmp_path: Path, agent: str, readable, left_out: str, own: list[str], aside, question
):
    answers: list[list[Answer]] = []
    for withheld in ([], aside):
        world = new_world(store)
        memory = ana(world, tmp_path)
        beside = memory_of(world, tmp_path, memory.principal, Ticking(DAWN + timedelta(days=300)))
        reader = an_agent(world, tmp_path, agent, Ticking(DAWN + timedelta(days=400)))
        for place, text in enumerate(own):
            memory.remember(text, thread_id="a", category=readable[place % 2])
        told(reader, question)
        for word in withheld:
            beside.remember(ASIDE.format(word), thread_id="w", category=left_out)
        answers.append(told(reader, question))
    assert answers[0] == answers[1]


def test_nor_does_what_others_write_that_the_list_would_leave_out(
    store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The first of a category that is not listed, by somebody whom the agent may not read."""
    monkeypatch.setattr(word_counts, "_SMALL", 3)
    answers: list[list[Answer]] = []
    for others in (False, True):
        world = new_world(store)
        memory = ana(world, tmp_path)
        ben = Principal(tenant=world.tenant, id="ben", role=Role.MEMBER)
        beside = memory_of(world, tmp_path, ben, Ticking(DAWN + timedelta(days=300)))
        reader = an_agent(world, tmp_path, "robin", Ticking(DAWN + timedelta(days=400)))
        for number in range(20):
            text = f"We saw the harbour number {number} and the {WORDS[number % 10]}."
            memory.remember(text, thread_id="a", category="knowledge")
        told(reader, "harbour kettle")
        memory.remember("We saw the harbour and a long grey pebble.", thread_id="a", category="knowledge")
        if others:
            beside.remember(ASIDE.format("kettle"), thread_id="b", category="relationship_dynamic")
        answers.append(told(reader, "harbour kettle"))
    assert answers[0] == answers[1]


def test_what_was_erased_is_counted_no_longer(store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Also where figures are remembered."""
    monkeypatch.setattr(word_counts, "_SMALL", 3)
    answers: list[list[tuple[float, ...]]] = []
    for asked_before in (False, True):
        world = new_world(store)
        memory = ana(world, tmp_path)
        texts = [f"We saw the harbour number {number} and the {WORDS[number % 10]}." for number in range(30)]
        kept = [memory.remember(text, thread_id=f"a{text}").item_id for text in texts]
        if asked_before:
            told(memory, "harbour kettle")
        for item_id in kept[2:]:
            memory.erase(item_id)
        replies = told(memory, "harbour kettle")
        answers.append([tuple(result.score for result in reply.results) for reply in replies])
    assert answers[0] == answers[1]


def test_what_an_agents_list_leaves_out_takes_no_place(store, tmp_path: Path):
    """More of it than is looked at for one question, and all of it fits better."""
    answers: list[list[Answer]] = []
    for withheld in (0, 160):
        world = new_world(store)
        memory = ana(world, tmp_path)
        memory.remember("We saw the harbour and the kettle and the ladder and the marble.", thread_id="a")
        beside = memory_of(world, tmp_path, memory.principal, Ticking(DAWN + timedelta(days=300)))
        for number in range(withheld):
            beside.remember(f"Harbour {number}.", thread_id="w", category="relationship_dynamic")
        answers.append(told(an_agent(world, tmp_path, "robin", Ticking(DAWN + timedelta(days=400))), "harbour"))
    assert answers[0] == answers[1]
    assert answers[0][2].results
