"""Hashes: what they cover, and what they give away."""

from dataclasses import fields, replace
from datetime import UTC, datetime
from hashlib import sha256
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from recollect.domain.ids import Rev, Seq
from recollect.domain.journal import Body, Entry, Header, body_hash, genesis, header_hash
from recollect.domain.scope import Role
from tests import strategies as some
from tests.hunt import examples

FIELDS = [field.name for field in fields(Header)]


@pytest.mark.parametrize("field", FIELDS)
@settings(max_examples=examples(8))
@given(header=some.headers(), other=some.headers())
def test_the_hash_of_a_header_covers_every_field(field, header, other):
    assume(getattr(header, field) != getattr(other, field))
    assert header_hash(replace(header, **{field: getattr(other, field)})) != header_hash(header)


@given(header=some.headers())
def test_the_hash_of_a_header_depends_on_nothing_else(header):
    assert header_hash(replace(header)) == header_hash(header)
    assert len(header_hash(header)) == 64


NAMES = [
    name for name in FIELDS if name in ("item_id", "user_id", "project_id", "agent_id", "thread_id", "actor_agent")
]


@pytest.mark.parametrize(("one", "other"), list(pairwise(NAMES)))
@settings(max_examples=examples(8))
@given(header=some.headers(), name=some.names())
def test_a_name_in_one_field_does_not_hash_like_the_same_name_in_the_next(one, other, header, name):
    here = replace(header, **{one: name, other: None})
    there = replace(header, **{one: None, other: name})
    assert header_hash(here) != header_hash(there)


def test_the_hash_of_a_header_is_fixed_for_ever():
    """Journals of earlier releases must verify."""
    header = Header(
        seq=Seq(2),
        rev=Rev(1),
        at=datetime(2026, 3, 1, 12, tzinfo=UTC),
        op="append",
        item_id=None,
        user_id="zoë",
        project_id=None,
        agent_id=None,
        thread_id="notes",
        thread_rev=1,
        actor="zoë",
        actor_role=Role.MEMBER,
        actor_agent=None,
        cause=None,
        undoes=None,
        body_hash="b" * 64,
        prev_hash="p" * 64,
    )
    covered = (
        '[2,1,"2026-03-01T12:00:00.000000Z","append",null,"zoë",null,null,"notes",1,"zoë","member",null,null,null,'
        f'"{"b" * 64}","{"p" * 64}"]'
    )
    assert header_hash(header) == sha256(covered.encode()).hexdigest()


@given(body=some.entry_bodies(), nonce=st.binary(min_size=16, max_size=16))
def test_without_its_salt_a_body_cannot_be_guessed_from_its_hash(body, nonce):
    assume(nonce != body.nonce)
    assert body_hash(Body(nonce, body.text)) != body_hash(body)


@given(body=some.entry_bodies(), text=some.texts())
def test_the_hash_of_a_body_covers_its_text(body, text):
    assume(text != body.text)
    assert body_hash(Body(body.nonce, text)) != body_hash(body)


@given(body=some.entry_bodies())
def test_no_part_of_a_body_moves_into_its_salt(body):
    assert body_hash(Body(body.nonce, body.text)) == body_hash(body)
    assert body_hash(Body(b"", body.text)) != body_hash(body)


@given(one=st.text(max_size=20), other=st.text(max_size=20))
def test_journals_start_from_different_places(one, other):
    assume(one != other)
    assert genesis(one) != genesis(other)


@given(entry=some.entries())
def test_an_entry_without_a_body_tells_of_no_change(entry):
    assert (entry.change is None) == (entry.body is None)
    assert Entry(entry.header, entry.hash, None).change is None
