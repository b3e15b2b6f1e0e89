"""The life of a memory: what is promoted, locked, pinned, hidden by a rule, or gives way to a decision."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.domain.change import Revise, Verb, inverse
from recollect.domain.event import Trust
from recollect.domain.ids import ItemId, VersionId
from recollect.domain.item import (
    STATES,
    Active,
    Archived,
    Episode,
    Expired,
    Fact,
    Item,
    Lock,
    LockReason,
    SoftDeleted,
    Visibility,
)
from recollect.domain.level import Level
from recollect.domain.observation import Usage
from recollect.domain.version import Version
from recollect.domain.witness import Bullet, RangeWitness
from recollect.errors import Invalid, Refused
from recollect.policy import lifecycle
from recollect.policy.lifecycle import Decision, Replacing
from recollect.policy.upkeep import LEAST_LOCK, LONGEST_LOCK, Upkeep
from tests.hunt import examples
from tests.strategies import NOON, items, moments, names, versions

UPKEEP = Upkeep()
HOUR = timedelta(minutes=60)
DAY = timedelta(days=1)
MANUAL = LockReason.MANUAL_PROMOTE
STRENGTH = [Active, Archived, Expired, SoftDeleted]
NOW = st.just(NOON) | moments(datetime(2000, 1, 1), datetime(2100, 1, 1))
MINUTES = st.integers(30, 120).map(lambda minutes: timedelta(minutes=minutes))
LOOKING = settings(max_examples=examples(60), deadline=None)


def an_item(**fields: Any) -> Item:
    given = {
        "id": ItemId("0190-a"),
        "body": Fact(value="REST"),
        "category": "projects",
        "visibility": Visibility.PROJECT_SHARED,
        "project_id": "atlas",
        "origin_at": NOON,
        "created_at": NOON,
        "updated_at": NOON,
    }
    return Item(**{**given, **fields})


def a_version(item: Item, level: Level = Level.R4) -> Version:
    bullets = (Bullet("all of it", (RangeWitness(item.id, 1, 3),)),)
    return Version(
        id=VersionId(f"v-{level.name}"),
        item_id=item.id,
        level=level,
        content="Words.",
        bullets=bullets,
        created_at=NOON,
    )


def a_decision(**fields: Any) -> Decision:
    given = {"topic_key": "api", "body": Fact(value="gRPC"), "agent_id": None, "trust": Trust.TRUSTED, "since": NOON}
    return Decision(**{**given, **fields})


def after(item: Item, change: Revise) -> Item:
    """The item as the change leaves it, checked to be the one that the change says was there before."""
    for edit in change.edits:
        assert getattr(item, edit.field) == edit.before
    return replace(item, **{edit.field: edit.after for edit in change.edits})  # type: ignore[arg-type]


def soft(state: Any) -> int:
    return STRENGTH.index(type(state))


# -- promoting and locking --------------------------------------------------------------------------------


def test_a_promoted_version_speaks_at_its_own_level_and_is_locked():
    item = an_item()
    change = lifecycle.promoted(item, a_version(item, Level.R5), NOON, HOUR, LockReason.AUDIT)
    assert change is not None
    assert change.verb is Verb.PROMOTE
    promoted = after(item, change)
    assert (promoted.active_version_id, promoted.default_level) == ("v-R5", Level.R5)
    assert promoted.lock == Lock(NOON + HOUR, LockReason.AUDIT)


def test_promoting_again_extends_the_lock_and_never_shortens_it():
    item = an_item(active_version_id=VersionId("v-R4"), default_level=Level.R4, lock=Lock(NOON + HOUR, MANUAL))
    later = lifecycle.promoted(item, a_version(item), NOON + HOUR / 2, HOUR, MANUAL)
    assert later is not None
    assert after(item, later).lock == Lock(NOON + HOUR * 1.5, MANUAL)
    assert lifecycle.promoted(item, a_version(item), NOON + timedelta(minutes=1), LEAST_LOCK, MANUAL) is None


@pytest.mark.parametrize("minutes", [0, 29, 121, 100_000])
def test_a_lock_that_is_too_short_or_too_long_is_refused_with_what_to_give(minutes: int):
    item = an_item()
    with pytest.raises(Invalid, match=f"{minutes} minutes.*from 30 to 120"):
        lifecycle.promoted(item, a_version(item), NOON, timedelta(minutes=minutes), MANUAL)


def test_what_cannot_be_promoted_is_refused_with_the_reason():
    item = an_item()
    with pytest.raises(Invalid, match="belongs to memory 0190-b"):
        lifecycle.promoted(item, a_version(an_item(id=ItemId("0190-b"))), NOON, HOUR, MANUAL)
    with pytest.raises(Refused, match="withdrawn"):
        lifecycle.promoted(item, a_version(item), NOON, HOUR, MANUAL, withdrawn=True)
    with pytest.raises(Refused, match="pinned at R5, the version is R4"):
        lifecycle.promoted(replace(item, pinned_min_level=Level.R5), a_version(item), NOON, HOUR, MANUAL)
    with pytest.raises(Refused, match="constitutional"):
        lifecycle.promoted(replace(item, constitutional=True), a_version(item), NOON, HOUR, MANUAL)
    with pytest.raises(Refused, match="Restore it first"):
        lifecycle.promoted(replace(item, state=SoftDeleted(NOON, NOON)), a_version(item), NOON, HOUR, MANUAL)


@given(st.data(), NOW, MINUTES)
@LOOKING
def test_a_lock_always_ends_30_to_120_minutes_from_now(data: st.DataObject, now: datetime, lock: timedelta):
    item = data.draw(items(constitutional=False, state=Active(), pinned_min_level=None))
    version = data.draw(versions(item_id=item.id))
    change = lifecycle.promoted(item, version, now, lock, data.draw(st.sampled_from(LockReason)))
    if change is None:
        return
    promoted = after(item, change)
    assert promoted.lock is not None
    assert LEAST_LOCK <= promoted.lock.until - now <= LONGEST_LOCK
    assert promoted.default_level is version.level


@given(MINUTES, st.lists(st.tuples(st.integers(0, 7200), MINUTES), max_size=20))
@LOOKING
def test_reading_extends_a_lock_step_by_step_and_never_shortens_it(
    first: timedelta, reads: list[tuple[int, timedelta]]
):
    now, item = NOON, an_item(lock=Lock(NOON + first, MANUAL))
    for seconds, lock in reads:
        now += timedelta(seconds=seconds)
        change = lifecycle.extended(item, now, lock)
        assert item.lock is not None
        if change is None:
            assert not lifecycle.locked(item, now) or now + lock - item.lock.until < lifecycle.GAIN
            continue
        extended = after(item, change)
        assert extended.lock is not None
        assert change.verb is Verb.LOCK
        assert lifecycle.locked(item, now)
        assert extended.lock.until - item.lock.until >= lifecycle.GAIN
        assert LEAST_LOCK <= extended.lock.until - now <= LONGEST_LOCK
        assert extended.lock.reason is item.lock.reason
        item = extended


def test_reading_many_times_in_a_row_is_written_down_once():
    item, written = an_item(lock=Lock(NOON + HOUR, MANUAL)), 0
    for second in range(0, 600, 2):
        if change := lifecycle.extended(item, NOON + timedelta(seconds=second), HOUR):
            item, written = after(item, change), written + 1
    assert written == 1


def test_a_lock_that_has_run_out_is_not_extended():
    item = an_item(lock=Lock(NOON, MANUAL))
    assert not lifecycle.locked(item, NOON)
    assert lifecycle.extended(item, NOON, HOUR) is None
    assert lifecycle.extended(an_item(), NOON, HOUR) is None


def test_a_lock_can_be_taken_off():
    item = an_item(lock=Lock(NOON + HOUR, MANUAL), active_version_id=VersionId("v"))
    change = lifecycle.unlocked(item, NOON)
    assert change is not None
    assert after(item, change).lock is None
    assert after(item, change).active_version_id == "v"
    assert lifecycle.unlocked(an_item(), NOON) is None


# -- pinning ----------------------------------------------------------------------------------------------


def test_a_pin_raises_what_was_served_shorter():
    item = an_item(default_level=Level.R2)
    change = lifecycle.pinned(item, NOON)
    assert change is not None
    assert (after(item, change).pinned_min_level, after(item, change).default_level) == (Level.R3, Level.R3)
    assert lifecycle.pinned(after(item, change), NOON) is None
    again = lifecycle.unpinned(after(item, change), NOON)
    assert again is not None
    assert (after(after(item, change), again).pinned, after(after(item, change), again).default_level) == (False, 3)
    assert lifecycle.unpinned(item, NOON) is None


@given(items(constitutional=False, state=Active()))
@LOOKING
def test_a_pinned_memory_is_never_served_below_r3(item: Item):
    change = lifecycle.pinned(item, NOON)
    pinned = after(item, change) if change else item
    assert pinned.pinned_min_level is not None
    assert pinned.pinned_min_level >= Level.R3
    assert pinned.default_level >= max(item.default_level, Level.R3)


# -- idle rules -------------------------------------------------------------------------------------------


def test_a_memory_is_archived_when_it_is_idle_and_its_project_has_moved_on():
    item = an_item(project_epoch=1)
    late = NOON + 30 * DAY
    archived = lifecycle.archivable(item, None, 2, late, UPKEEP)
    assert archived == Archived(
        late, "nobody asked for it for 30 days, and the project atlas has moved on from epoch 1 to 2"
    )
    assert lifecycle.archivable(item, None, 1, late, UPKEEP) is None, "the project has not moved on"
    assert lifecycle.archivable(item, None, 2, late - timedelta(seconds=1), UPKEEP) is None, "not idle for long"
    assert lifecycle.archivable(item, NOON + DAY, 2, late, UPKEEP) is None, "somebody asked for it"
    own = an_item(visibility=Visibility.USER_PRIVATE, user_id="ana", project_id=None)
    assert lifecycle.archivable(own, None, 9, late, UPKEEP) is None, "it is of no project"


def test_a_memory_expires_when_it_was_never_used_and_another_covers_it():
    item, late = an_item(), NOON + 90 * DAY
    assert lifecycle.expirable(item, None, "1234abcd", late, UPKEEP) == Expired(
        late, "never used in 90 days, and 1234abcd says the same"
    )
    assert lifecycle.expirable(item, Usage(ignored=3), "1234abcd", late, UPKEEP) is not None
    assert lifecycle.expirable(item, Usage(retrieved=1), "1234abcd", late, UPKEEP) is None
    assert lifecycle.expirable(item, Usage(cited=1), "1234abcd", late, UPKEEP) is None
    assert lifecycle.expirable(item, None, "1234abcd", late - timedelta(seconds=1), UPKEEP) is None
    assert lifecycle.expirable(item, None, "1234abcd", late, UPKEEP, touched=NOON + DAY) is None


def test_a_memory_that_no_other_covers_expires_only_when_it_hardly_mattered():
    late = NOON + 900 * DAY
    assert [lifecycle.expirable(an_item(importance=n), None, None, late, UPKEEP) is None for n in range(1, 6)] == [
        False,
        *[True] * 4,
    ]


@given(st.data(), NOW)
@LOOKING
def test_no_rule_hides_what_is_pinned_locked_constitutional_or_core(data: st.DataObject, now: datetime):
    keeps = data.draw(st.sampled_from(["pin", "lock", "constitution", "core"]))
    fixed: dict[str, Any] = {
        "pin": {"pinned_min_level": Level.R3},
        "lock": {"lock": Lock(now + timedelta(seconds=1), MANUAL)},
        "constitution": {"constitutional": True},
        "core": {"core": True},
    }[keeps]
    item = data.draw(items(state=Active(), importance=1, created_at=now - 1000 * DAY, project_epoch=0, **fixed))
    assert lifecycle.archivable(item, None, 9, now, UPKEEP) is None
    assert lifecycle.expirable(item, None, "1234abcd", now, UPKEEP) is None


@given(items(), NOW, st.none() | moments(), st.integers(0, 3), st.none() | st.just("1234abcd"))
@LOOKING
def test_a_rule_never_brings_a_memory_back_towards_sight(
    item: Item, now: datetime, used: datetime | None, epoch: int, covered: str | None
):
    for state in (
        lifecycle.archivable(item, used, epoch, now, UPKEEP),
        lifecycle.expirable(item, None, covered, now, UPKEEP, touched=used),
    ):
        if state is not None:
            assert soft(state) > soft(item.state)
            assert state.reason
            assert after(item, lifecycle.hidden(item, state, now)).state == state


def test_what_is_restored_belongs_to_the_project_as_it_is_now():
    item = an_item(state=Archived(NOON, "idle"), project_epoch=1)
    change = lifecycle.restored(item, 4, NOON)
    assert change is not None
    assert change.verb is Verb.RESTORE
    back = after(item, change)
    assert back.state == Active()
    assert lifecycle.archivable(back, None, 4, NOON + 300 * DAY, UPKEEP) is None
    assert lifecycle.restored(back, 4, NOON) is None


# -- decisions that take over -----------------------------------------------------------------------------


def test_the_tag_says_what_a_decision_takes_over_from():
    assert lifecycle.replacing(["DECISION"]) is None
    assert lifecycle.replacing(["decision/supersedes"]) == Replacing()
    assert lifecycle.replacing(["DECISION/SUPERSEDES:AB12"]) == Replacing(("ab12",))
    assert lifecycle.replacing(["Decision/Supersedes: ab12 ", "DECISION/SUPERSEDES"], "0190-a") == Replacing(
        ("0190-a", "ab12")
    )
    assert lifecycle.replacing((), "0190-a") == Replacing(("0190-a",))
    assert lifecycle.replacing(["DECISION/SUPERSEDESX", "INDECISION/SUPERSEDES"]) is None


def test_a_decision_is_known_by_its_tag():
    assert [lifecycle.decided([tag]) for tag in ("DECISION", "decision", "Decision/API", "DECISIONS", "x")] == [
        True,
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"topic_key": "api", "tags": ("DECISION",)}, {}),
        ({"topic_key": "api", "tags": ("decision/api",)}, {}),
        ({"topic_key": "api", "body": Fact("Protocol", "REST")}, {"body": Fact("protocol", "gRPC")}),
        ({"body": Fact("protocol", "REST"), "tags": ("DECISION",)}, {"body": Fact("protocol", "gRPC")}),
        ({"topic_key": "api", "tags": ("DECISION",), "trust": Trust.UNTRUSTED}, {}),
    ],
)
def test_an_earlier_decision_about_the_same_gives_way(old: dict[str, Any], new: dict[str, Any]):
    assert lifecycle.gives_way(an_item(**old), a_decision(**new), NOON)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"tags": ()}, {}),
        ({"topic_key": "storage"}, {}),
        ({"topic_key": None}, {}),
        ({"topic_key": "storage", "body": Fact("protocol", "REST")}, {"body": Fact("protocol", "gRPC")}),
        ({"state": Archived(NOON)}, {}),
        ({"agent_id": "robin"}, {}),
        ({"valid_from": NOON + DAY}, {}),
        ({}, {"trust": Trust.UNTRUSTED}),
        ({"pinned_min_level": Level.R3}, {}),
        ({"lock": Lock(NOON + HOUR, MANUAL)}, {}),
    ],
)
def test_what_is_not_surely_an_earlier_decision_about_the_same_stays(old: dict[str, Any], new: dict[str, Any]):
    assert not lifecycle.gives_way(
        an_item(**{"topic_key": "api", "tags": ("DECISION",), **old}), a_decision(**new), NOON
    )


def test_nothing_constitutional_gives_way_and_the_refusal_says_what_to_do():
    item = an_item(topic_key="api", tags=("DECISION",), constitutional=True)
    for refused in (
        lambda: lifecycle.gives_way(item, a_decision(), NOON),
        lambda: lifecycle.named_gives_way(item, a_decision()),
    ):
        with pytest.raises(Refused, match="An admin lifts that first"):
            refused()


def test_a_decision_that_names_a_memory_may_not_outrank_it():
    with pytest.raises(Refused, match="trusted"):
        lifecycle.named_gives_way(an_item(), a_decision(trust=Trust.UNTRUSTED))
    with pytest.raises(Refused, match="a thread"):
        lifecycle.named_gives_way(an_item(body=Episode()), a_decision())
    lifecycle.named_gives_way(an_item(pinned_min_level=Level.R3), a_decision())


def test_the_old_decision_is_archived_and_its_reason_tells_nothing_of_the_new_one():
    old, by = an_item(topic_key="api"), ItemId("0190-0000-12345678")
    change = lifecycle.superseded(old, by, a_decision(since=NOON + DAY), NOON + DAY)
    gone = after(old, change)
    assert change.verb is Verb.SUPERSEDE
    assert gone.state == Archived(NOON + DAY, "superseded by a newer decision")
    assert (gone.superseded_by, gone.valid_to) == (by, NOON + DAY)


# -- all of them ------------------------------------------------------------------------------------------

CHANGES: list[Callable[[st.DataObject, Item, datetime], Revise | None]] = [
    lambda data, item, now: lifecycle.promoted(item, data.draw(versions(item_id=item.id)), now, HOUR, MANUAL),
    lambda data, item, now: lifecycle.extended(item, now, HOUR),
    lambda data, item, now: lifecycle.unlocked(item, now),
    lambda data, item, now: lifecycle.pinned(item, now),
    lambda data, item, now: lifecycle.unpinned(item, now),
    lambda data, item, now: lifecycle.restored(item, 7, now),
    lambda data, item, now: lifecycle.hidden(item, Expired(now, "idle"), now),
    lambda data, item, now: lifecycle.superseded(
        item, ItemId("0190-b"), a_decision(topic_key=data.draw(names()), since=data.draw(moments())), now
    ),
]


@given(st.data(), st.sampled_from(CHANGES), NOW)
@LOOKING
def test_the_inverse_of_each_change_restores_the_memory(
    data: st.DataObject, change_of: Callable[[st.DataObject, Item, datetime], Revise | None], now: datetime
):
    lock = Lock(now + timedelta(minutes=data.draw(st.integers(-10, 90))), MANUAL)
    item = data.draw(items(constitutional=False, superseded_by=None, lock=data.draw(st.sampled_from([None, lock]))))
    try:
        change = change_of(data, item, now)
    except Refused:
        return
    if change is None:
        return
    changed = after(item, change)
    assert changed != item
    back = inverse(change)
    assert isinstance(back, Revise)
    assert after(changed, back) == item


def test_every_state_has_its_strength():
    assert set(STRENGTH) == set(STATES)
