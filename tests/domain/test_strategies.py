"""The strategies cover every member of every union: a test that walks them walks all there is."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.change import Change, Plain
from recollect.domain.item import Body, State, Visibility
from recollect.domain.record import FAMILIES, Record
from recollect.domain.witness import Witness
from tests import strategies as some

UNIONS = [
    (Body, some.BODIES),
    (State, some.STATES),
    (Witness, some.WITNESSES),
    (Record, some.RECORDS),
    (Plain, some.PLAIN),
    (Change, some.CHANGES),
]


@pytest.mark.parametrize(("union", "table"), UNIONS, ids=["Body", "State", "Witness", "Record", "Plain", "Change"])
def test_every_member_of_a_union_has_a_strategy(union, table):
    assert set(get_args(union)) == set(table)


@pytest.mark.parametrize(("_", "table"), UNIONS, ids=["Body", "State", "Witness", "Record", "Plain", "Change"])
@given(data=st.data())
def test_a_strategy_makes_what_it_is_listed_under(_, table, data):
    kind = data.draw(st.sampled_from(sorted(table, key=lambda member: member.__name__)))
    assert type(data.draw(table[kind])) is kind


def test_every_stage_of_a_record_belongs_to_a_family():
    assert set(FAMILIES) == set(get_args(Record))


@given(item=st.sampled_from(Visibility).flatmap(lambda seen: some.items(visibility=seen)))
def test_items_of_every_visibility_can_be_made(item):
    assert item.visibility in Visibility


@given(
    value=st.one_of(
        some.entries(), some.scopes(), some.principals(), some.actors(), some.jobs(), some.checkpoints(), some.uses()
    )
)
def test_the_values_around_memory_can_be_made(value):
    assert value
