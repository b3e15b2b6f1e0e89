"""The line of a thread: the sentences of its summary that speak of the question, whole."""

import pytest

from recollect.domain.change import Append, Create, Derive
from recollect.domain.item import Episode, Item
from recollect.domain.query import Query, Source
from recollect.domain.scope import Principal, Role
from recollect.domain.witness import Bullet, RangeWitness
from recollect.read.query import Reader
from tests.worlds import World

SAID = (
    "Falcon, Falcon: everybody asks about Falcon in the kitchen.",
    "A poster of Falcon hangs in the kitchen since last week.",
    "Somebody spilled coffee on the launch poster of Falcon.",
    "We launched Falcon to all customers on the third of May.",
)
SUMMARY = (
    "Falcon is asked about in the kitchen.",
    "A Falcon poster hangs in the kitchen.",
    "The Falcon launch poster has coffee on it.",
    "It went out to everybody on 3 May 2025.",
)
QUESTION = "When was Falcon launched to all customers?"


@pytest.fixture
def thread(world: World) -> Item:
    episode = world.item(Episode(title="Kitchen talk"), category="episode", thread_id="kitchen")
    events = [world.event(episode, text) for text in SAID]
    bullets = tuple(
        Bullet(text, (RangeWitness(episode.id, place, place, "said so"),)) for place, text in enumerate(SUMMARY, 1)
    )
    version = world.version(episode, content="\n".join(SUMMARY), bullets=bullets)
    world.apply(Create(episode), *map(Append, events), Derive(version))
    return episode


def line(world: World, **how) -> str:
    who = Principal(tenant=world.tenant, id="mira", role=Role.ADMIN)
    asked = Query(text=QUESTION, source=Source.MEMORY, threshold=0.0, **how)
    (result,) = Reader(world.store, None, world.clock, who).answer(asked).answer.results
    return result.text


def test_a_sentence_that_was_made_of_the_answer_is_served_whatever_words_it_has(world, thread):
    assert line(world).startswith("[episode] Kitchen talk: It went out to everybody on 3 May 2025.")


@pytest.mark.parametrize("budget", range(30, 70, 4))
def test_sentences_are_served_whole_and_the_least_telling_go_first(world, thread, budget):
    told = line(world, budget_tokens=70)
    shorter = line(world, budget_tokens=budget)
    assert told.startswith(shorter)
    assert "3 May 2025" in shorter
    assert shorter.endswith(("]", "."))
    assert "…" not in shorter
