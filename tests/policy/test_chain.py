"""Whatever is done to a journal behind its back is found, at the place where it was done."""

from collections.abc import Iterator
from dataclasses import fields, replace
from datetime import datetime, timedelta
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.change import Append, Change, Create, Derive, Erase, Link, Protect, Undo, inverse, revise
from recollect.domain.ids import EventId, ItemId, Rev, Seq, VersionId
from recollect.domain.journal import Body, Entry, Finding, Head, Header, body_hash, genesis, header_hash
from recollect.domain.scope import Role
from recollect.policy.chain import findings
from tests import strategies as some
from tests.policy.journals import event, lives, memory, relation, version
from tests.strategies import NOON, chained


def sample() -> tuple[list[Entry], Head]:
    """Fourteen entries: evidence, memories, edges, a checkpoint, an undoing, and an erasure with the bodies it took."""
    a, b = memory("a"), memory("b")
    louder = revise(a, replace(a, importance=5), NOON + timedelta(minutes=1))
    back = inverse(louder)
    changes: list[Change | None] = [
        Create(memory("thread", episode=True)),
        Append(event("e1")),
        Create(a),
        Derive(version("v1", "a", "e1")),
        Append(event("e2", seq=2)),
        Create(b),
        Derive(version("v2", "b", "e2")),
        None,
        Link(relation("r", "a", "b")),
        louder,
        Undo(Seq(10), back),  # type: ignore[arg-type]
        Protect(ItemId("a"), False, True),
        Erase(
            (ItemId("b"),),
            (VersionId("v2"),),
            (EventId("e2"),),
            (),
            "asked for",
            bodies=(Seq(5), Seq(6), Seq(7), Seq(9)),
        ),
        Append(event("e3", seq=3)),
    ]
    return chained(changes)


ENTRIES, HEAD = sample()
ERASED = (5, 6, 7, 9)
CHECKPOINT, ERASURE = 8, 13
EVERY = range(len(ENTRIES))


def found(entries: list[Entry], head: Head = HEAD, exported: Head | None = None) -> list[Finding]:
    return list(findings(entries, head, exported))


def names(finding: Finding, place: int) -> bool:
    """Whether a finding leads to this entry: by its number, or because it says that one is not where it belongs."""
    return finding.seq == place or f"entry {place} is missing" in finding.what or f"entry {place} bel" in finding.what


def with_(at: int, entry: Entry) -> list[Entry]:
    return [*ENTRIES[:at], entry, *ENTRIES[at + 1 :]]


def test_the_sample_holds_what_it_should():
    assert [entry.header.op for entry in ENTRIES][CHECKPOINT - 1 :: ERASURE - CHECKPOINT] == ["checkpoint", "erase"]
    assert {entry.header.seq for entry in ENTRIES if entry.body is None} == {*ERASED, CHECKPOINT}


def test_a_whole_journal_raises_nothing():
    assert found(ENTRIES) == []


def test_an_empty_journal_is_whole():
    head = Head("c" * 32, Rev(0), Seq(0), genesis("c" * 32))
    assert found([], head) == []
    assert found([], head, head) == []


@given(life=lives(protecting=True, erasing=True))
def test_lawful_lives_with_lawful_erasures_raise_nothing(life):
    entries, head = chained(life.changes)
    assert found(entries, head, head) == []


# -- fields and bytes -------------------------------------------------------------------------------------


def altered(header: Header) -> Iterator[tuple[str, Header]]:
    """The header with each of its fields changed a little, in every way that fits the field."""
    for field in fields(Header):
        value = getattr(header, field.name)
        match value:
            case int():
                others: list[object] = [value + 1, value - 1, value + 1000, None]
            case datetime():
                others = [value + timedelta(microseconds=1), value - timedelta(days=1)]
            case Role():
                others = [role for role in Role if role is not value]
            case None:
                others = [1] if field.name in ("undoes", "thread_rev") else ["x"]
            case str():
                others = [value + "x", value[:-1], value[:-1] + chr(ord(value[-1]) ^ 1), None]
            case _:
                raise AssertionError(field)
        required = {"seq", "rev", "at", "op", "actor", "actor_role", "body_hash", "prev_hash"}
        for other in others:
            if other is not None or field.name not in required:
                yield field.name, replace(header, **{field.name: other})


@pytest.mark.parametrize("at", EVERY)
def test_a_changed_field_of_a_header_is_found_at_its_entry(at):
    tried = set()
    for field, header in altered(ENTRIES[at].header):
        first = found(with_(at, replace(ENTRIES[at], header=header)))[0]
        assert names(first, at + 1), (field, header, first)
        tried.add(field)
    assert tried == {field.name for field in fields(Header)}


@pytest.mark.parametrize("at", EVERY)
def test_a_changed_hash_is_found_at_its_entry(at):
    entry = ENTRIES[at]
    for place in range(64):
        digit = format(int(entry.hash[place], 16) ^ 1, "x")
        changed = replace(entry, hash=entry.hash[:place] + digit + entry.hash[place + 1 :])
        assert found(with_(at, changed))[0] == Finding(Seq(at + 1), "the header was changed")


@pytest.mark.parametrize("at", EVERY)
def test_a_header_that_was_hashed_again_is_found_where_the_next_does_not_follow(at):
    header = replace(ENTRIES[at].header, actor="mallory")
    forged = replace(ENTRIES[at], header=header, hash=header_hash(header))
    first = found(with_(at, forged))[0]
    if at + 1 < len(ENTRIES):
        assert first == Finding(Seq(at + 2), "it does not follow from the entry before it")
    else:
        assert first.seq == HEAD.seq
        assert "the store's head" in first.what


BODIED = [at for at in EVERY if ENTRIES[at].body]


@pytest.mark.parametrize("at", BODIED)
def test_every_changed_byte_of_a_body_is_found_at_its_entry(at):
    entry = ENTRIES[at]
    assert entry.body
    text = entry.body.text
    for place in range(len(text)):
        changed = text[:place] + chr(ord(text[place]) ^ 1) + text[place + 1 :]
        assert found(with_(at, replace(entry, body=Body(entry.body.nonce, changed))))[0] == Finding(
            Seq(at + 1), "the body was changed"
        )


@pytest.mark.parametrize("at", BODIED)
def test_every_changed_byte_of_a_salt_is_found_at_its_entry(at):
    body = ENTRIES[at].body
    assert body
    for place in range(len(body.nonce)):
        nonce = body.nonce[:place] + bytes([body.nonce[place] ^ 1]) + body.nonce[place + 1 :]
        first = found(with_(at, replace(ENTRIES[at], body=Body(nonce, body.text))))[0]
        assert first == Finding(Seq(at + 1), "the body was changed")


@pytest.mark.parametrize("at", BODIED)
def test_a_body_that_goes_without_an_erasure_is_found_at_its_entry(at):
    first, *others = found(with_(at, replace(ENTRIES[at], body=None)))
    assert first.seq == at + 1
    assert "missing" in first.what
    if at + 1 == ERASURE:  # nothing accounts for what it took any more
        assert {other.seq for other in others} == set(ERASED)
    else:
        assert others == []


@pytest.mark.parametrize("at", [at for at in EVERY if not ENTRIES[at].body])
def test_a_body_that_comes_from_nowhere_is_found_at_its_entry(at):
    first = found(with_(at, replace(ENTRIES[at], body=Body(b"n" * 16, "{}"))))[0]
    assert first == Finding(Seq(at + 1), "the body was changed")


def test_an_erased_body_that_comes_back_is_found_at_its_entry():
    whole, _ = chained([Create(memory("x")), Append(event("e"))])
    taken, head = chained([Create(memory("x")), Append(event("e")), Erase((), (), (), (), "", bodies=(Seq(2),))])
    assert found(taken, head) == []
    back = [taken[0], replace(taken[1], body=whole[1].body), taken[2]]
    assert found(back, head) == [Finding(Seq(2), "an erasure took the body, and it is there again")]


def test_an_erasure_that_was_changed_accounts_for_nothing():
    entry = ENTRIES[ERASURE - 1]
    assert entry.body
    more = entry.body.text.replace("[5,6,7,9]", "[2,5,6,7,9]")
    assert more != entry.body.text
    entries = with_(ERASURE - 1, replace(entry, body=Body(entry.body.nonce, more)))
    entries[1] = replace(entries[1], body=None)
    assert found(entries)[0] == Finding(Seq(ERASURE), "the body was changed")
    assert Finding(Seq(2), "the body is missing and no erasure accounts for it") in found(entries)


# -- entries ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", EVERY)
def test_a_deleted_entry_is_found_at_the_gap(at):
    first = found([*ENTRIES[:at], *ENTRIES[at + 1 :]])[0]
    if at + 1 < len(ENTRIES):
        assert first == Finding(Seq(at + 2), f"entry {at + 1} is missing")
    else:
        assert first == Finding(Seq(at), f"the journal ends at entry {at}, the store's head names entry {at + 1}")


@pytest.mark.parametrize("at", EVERY)
def test_a_repeated_entry_is_found_wherever_it_is_put(at):
    for place in range(len(ENTRIES) + 1):
        first = found([*ENTRIES[:place], ENTRIES[at], *ENTRIES[place:]])[0]
        assert names(first, at + 1) or names(first, place + 1), (place, first)


def test_any_two_entries_that_change_places_are_found_at_the_first_of_them():
    for one, other in combinations(EVERY, 2):
        entries = list(ENTRIES)
        entries[one], entries[other] = entries[other], entries[one]
        assert found(entries)[0] == Finding(Seq(other + 1), f"entry {one + 1} is missing")


@pytest.mark.parametrize("place", range(len(ENTRIES) + 1))
def test_a_forged_entry_is_found_where_it_was_put(place):
    """Its own hashes are right, it follows from the entry before it and takes the number of the one after it."""
    body = Body(b"f" * 16, '{"forged":true}')
    header = replace(
        ENTRIES[0].header,
        seq=Seq(place + 1),
        prev_hash=ENTRIES[place - 1].hash if place else genesis(HEAD.chain_id),
        body_hash=body_hash(body),
    )
    first = found([*ENTRIES[:place], Entry(header, header_hash(header), body), *ENTRIES[place:]])[0]
    assert first.seq == place + 1
    assert "out of order" in first.what if place < len(ENTRIES) else "the store's head" in first.what


# -- the end ----------------------------------------------------------------------------------------------


def cut(length: int) -> tuple[list[Entry], Head]:
    """A journal that was cut back, with a head to match."""
    last = ENTRIES[length - 1].hash if length else genesis(HEAD.chain_id)
    return ENTRIES[:length], Head(HEAD.chain_id, Rev(length), Seq(length), last)


SHORTER = [length for length in range(len(ENTRIES)) if not 5 <= length < ERASURE]  # else bodies are missing too


@pytest.mark.parametrize("length", SHORTER)
def test_a_journal_that_was_cut_with_its_head_looks_whole_by_itself(length):
    assert found(*cut(length)) == []


@pytest.mark.parametrize("length", SHORTER)
def test_a_journal_that_was_cut_is_found_with_a_head_exported_before(length):
    for kept in range(1, len(ENTRIES) + 1):
        exported = Head(HEAD.chain_id, Rev(kept), Seq(kept), ENTRIES[kept - 1].hash)
        finding = found(*cut(length), exported)
        if kept <= length:
            assert finding == []
        else:
            what = f"the journal ends at entry {length}, an exported head names entry {kept}: it was cut"
            assert finding == [Finding(Seq(length), what)]


def test_a_journal_that_was_written_anew_is_found_with_a_head_exported_before():
    anew, head = chained([Create(memory(f"x{number}")) for number in range(20)], HEAD.chain_id)
    assert found(anew, head) == []
    assert found(anew, head, HEAD) == [
        Finding(HEAD.seq, "it is not the entry that the exported head names: the journal was rewritten")
    ]


def test_a_head_of_another_journal_is_told_apart():
    other = replace(HEAD, chain_id="d" * 32)
    assert found(ENTRIES, HEAD, other) == [Finding(Seq(0), "the exported head belongs to another journal")]


def test_a_journal_under_another_name_does_not_start_where_it_should():
    assert found(ENTRIES, replace(HEAD, chain_id="d" * 32))[0] == Finding(
        Seq(1), "it does not follow from the entry before it"
    )


@pytest.mark.parametrize("head", [replace(HEAD, hash="0" * 64), replace(HEAD, seq=Seq(99)), replace(HEAD, seq=Seq(3))])
def test_a_head_that_is_not_the_end_is_found(head):
    assert [finding.seq for finding in found(ENTRIES, head)] == [HEAD.seq]


@given(life=lives(), data=st.data())
def test_in_any_journal_a_changed_header_is_found(life, data):
    entries, head = chained(life.changes)
    at = data.draw(st.integers(0, len(entries) - 1))
    name = data.draw(st.sampled_from([field.name for field in fields(Header)]))
    other = getattr(data.draw(some.headers()), name)
    if other != getattr(entries[at].header, name):
        entries[at] = replace(entries[at], header=replace(entries[at].header, **{name: other}))
        assert names(found(entries, head)[0], at + 1)
