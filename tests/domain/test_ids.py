"""Ids say when they were made, and nothing else."""

from datetime import UTC, datetime, timedelta
from uuid import RFC_4122, UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.ids import short, tenant_id, uuid7
from tests import strategies as some

ENTROPY = st.binary(min_size=10, max_size=10)
SINCE_1970 = some.moments(first=datetime(1970, 1, 1), last=datetime(9999, 1, 1))


@given(at=SINCE_1970, entropy=ENTROPY)
def test_an_id_is_a_uuid_of_version_7(at, entropy):
    made = UUID(uuid7(at, entropy))
    assert made.version == 7
    assert made.variant == RFC_4122
    assert str(made) == uuid7(at, entropy)


@given(at=SINCE_1970, entropy=ENTROPY)
def test_an_id_holds_its_millisecond_exactly(at, entropy):
    millis = UUID(uuid7(at, entropy)).int >> 80
    assert millis == (at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def test_a_millisecond_is_not_rounded_up_however_far_the_future():
    at = datetime(9347, 6, 9, 9, 32, 49, 278985, tzinfo=UTC)
    assert uuid7(at, bytes(10))[:13] == uuid7(at.replace(microsecond=278000), bytes(10))[:13]


@given(one=SINCE_1970, other=SINCE_1970, entropy=ENTROPY, noise=ENTROPY)
def test_ids_sort_by_the_millisecond_they_were_made_in(one, other, entropy, noise):
    first, second = sorted([one, other])
    if (second - first) >= timedelta(milliseconds=1):
        assert uuid7(first, entropy) < uuid7(second, noise)


@given(at=SINCE_1970, one=ENTROPY, other=ENTROPY)
def test_74_bits_of_chance_tell_ids_of_one_moment_apart(at, one, other):
    used = (1 << 74) - 1
    differ = (int.from_bytes(one) & used) != (int.from_bytes(other) & used)
    assert (uuid7(at, one) != uuid7(at, other)) == differ


@pytest.mark.parametrize("bit", range(74))
def test_every_bit_of_chance_counts(bit):
    at = datetime(2026, 3, 1, tzinfo=UTC)
    assert uuid7(at, (1 << bit).to_bytes(10)) != uuid7(at, bytes(10))


@given(name=some.uuids())
def test_the_short_form_is_the_end_of_an_id(name):
    assert len(short(name)) == 8
    assert name.endswith(short(name))


@given(name=st.text(max_size=70))
def test_a_tenant_is_named_by_the_letters_of_a_file_name(name):
    letters = set("abcdefghijklmnopqrstuvwxyz0123456789_-")
    good = 1 <= len(name) <= 63 and set(name) <= letters and name[0] not in "_-"
    if good:
        assert tenant_id(name) == name
    else:
        with pytest.raises(ValueError, match="use 1-63 lower-case letters"):
            tenant_id(name)


@given(name=some.tenants())
def test_a_good_name_of_a_tenant_is_kept(name):
    assert tenant_id(name) == name
