"""Privacy at every door of Memory: a colleague asks everywhere, and a private word comes out nowhere."""

from pathlib import Path

import pytest

from recollect.errors import Forbidden
from recollect.memory import Memory
from tests.doors import (
    COLLEAGUES,
    INSIDER,
    STATED,
    TALK,
    WHOLE,
    House,
    acting,
    changing,
    doors_of,
    furnished,
    leaking,
    reading,
    told_at,
)
from tests.worlds import World


@pytest.fixture
def house(world: World, tmp_path: Path) -> House:
    return furnished(world, world.memory(tmp_path))


@pytest.fixture(params=COLLEAGUES)
def colleague(request: pytest.FixtureRequest, world: World, tmp_path: Path) -> Memory:
    return acting(world.memory(tmp_path), COLLEAGUES[request.param])


def test_every_door_is_tried(house: House, world: World, tmp_path: Path):
    memory = world.memory(tmp_path)
    assert reading(memory, house, tmp_path).keys() | changing(memory, house).keys() == doors_of(Memory)


def test_nothing_private_comes_out_of_any_door(house: House, colleague: Memory, tmp_path: Path):
    told = told_at(reading(colleague, house, tmp_path))
    assert TALK[0][1] in told["thread"], "what is not private is there"
    assert "boathouse" in told["show"]
    whole = {name: told.pop(name) for name in WHOLE}
    assert leaking(told) == {}
    assert leaking(told_at(changing(colleague, house))) == {}
    if colleague.principal.role.value != "admin":
        assert leaking(whole) == {}


def test_what_gives_out_the_tenant_as_a_whole_is_for_admins(house: House, world: World, tmp_path: Path):
    for name, who in COLLEAGUES.items():
        if name != "admin":
            for door in WHOLE:
                with pytest.raises(Forbidden):
                    getattr(acting(world.memory(tmp_path), who), door)(*([tmp_path] if door == "backup" else []))


def test_who_took_part_hears_it_at_the_doors_that_give_out_words(house: House, world: World, tmp_path: Path):
    ana = acting(world.memory(tmp_path), INSIDER)
    told = leaking(told_at(reading(ana, house, tmp_path)))
    assert told.keys() >= set("query answer items lines item show serve thread evidence history".split())
    assert STATED in [event.text for event in ana.evidence(house.stated)]
    assert TALK[1][1] in [event.text for event in ana.evidence(house.thread, "s:2-2")]
