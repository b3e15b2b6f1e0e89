"""What the compression hammer may do, what it finds worth doing, and which version it lets speak."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.event import Event
from recollect.domain.ids import EventId, ItemId, VersionId, uuid7
from recollect.domain.item import (
    Active,
    Archived,
    Body,
    Episode,
    Expired,
    Fact,
    Item,
    Lock,
    LockReason,
    SoftDeleted,
    Visibility,
)
from recollect.domain.level import Derivation, Level
from recollect.domain.observation import Usage
from recollect.domain.version import Version
from recollect.domain.witness import Bullet, RangeWitness
from recollect.policy import hammer, regroup
from recollect.policy.hammer import Allowed, Choice, Family, Refused, Why
from recollect.policy.upkeep import Upkeep

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)
UPKEEP = Upkeep()
_numbers = count(1)


def new_id(at: datetime = NOW) -> str:
    return uuid7(at, next(_numbers).to_bytes(10))


def item(body: Body | None = None, **fields: object) -> Item:
    given: dict[str, object] = {
        "id": ItemId(new_id()),
        "body": body or Episode("Moving the login"),
        "category": "episode",
        "visibility": Visibility.USER_PRIVATE,
        "user_id": "ana",
        "origin_at": NOW,
        "created_at": NOW,
        "updated_at": NOW,
    }
    return Item(**{**given, **fields})  # type: ignore[arg-type]


def event(owner: Item, seq: int, text: str = "Ana drinks tea.", at: datetime = NOW) -> Event:
    return Event(id=EventId(new_id(at)), item_id=owner.id, seq=seq, ts=at, author="ana", text=text)


def version(owner: Item, level: Level, content: str = "Ana drinks tea.", **fields: object) -> Version:
    """With witnesses where it has to have them."""
    base = fields.get("derived_from")
    bullets = (Bullet(content, (RangeWitness(owner.id, 1, 1),)),) if base is None or level is Level.R3 else ()
    given: dict[str, object] = {
        "id": VersionId(new_id()),
        "item_id": owner.id,
        "level": level,
        "content": content,
        "bullets": bullets,
        "derivation": Derivation.COMPRESS if base else None,
        "created_at": NOW,
    }
    return Version(**{**given, **fields})  # type: ignore[arg-type]


def handle(owner: Item, first: int, last: int) -> Version:
    witnesses = (RangeWitness(owner.id, first, last),)
    return version(owner, Level.R5, f"s:{first}-{last}", bullets=(Bullet(f"s:{first}-{last}", witnesses),))


def closed(owner: Item, last: int, words: str = "Ana moved the login to sessions.") -> list[Version]:
    """A whole family: handle, log, summary, hint, trace."""
    raw = handle(owner, 1, last)
    log = version(owner, Level.R4, f"[s:1-{last}] ana: {words}", derived_from=raw.id)
    summary = version(owner, Level.R3, words, derived_from=log.id)
    hint = version(owner, Level.R2, "login: sessions", derived_from=summary.id)
    return [raw, log, summary, hint, version(owner, Level.R1, "login", derived_from=hint.id)]


# -- what may be done ----------------------------------------------------------------------------------------

levels = st.sampled_from(Level)
locks = st.none() | st.builds(
    Lock, st.datetimes(datetime(2026, 4, 1), datetime(2026, 6, 1), timezones=st.just(UTC)), st.sampled_from(LockReason)
)
states = st.sampled_from([Active(), Archived(NOW), Expired(NOW), SoftDeleted(NOW, NOW)])


@given(to=levels, floor=st.none() | levels, lock=locks, state=states, constitutional=st.booleans())
def test_nothing_is_compressed_past_its_floor_its_lock_or_its_protection(
    to: Level, floor: Level | None, lock: Lock | None, state: Active | Archived, constitutional: bool
):
    memory = item(pinned_min_level=floor, lock=lock, state=state, constitutional=constitutional)
    answer = hammer.may_compress(memory, to, NOW)
    locked = lock is not None and lock.until > NOW
    free = not constitutional and not locked and isinstance(state, Active | Archived) and to >= (floor or Level.R1)
    assert isinstance(answer, Allowed) == free


def test_a_refusal_says_until_when_or_how_far():
    locked = hammer.may_compress(item(lock=Lock(NOW + DAY, LockReason.AUDIT)), Level.R3, NOW)
    assert locked == Refused("locked (audit)", until=NOW + DAY)
    assert hammer.may_compress(item(pinned_min_level=Level.R3), Level.R2, NOW) == Refused("pinned", floor=Level.R3)


def test_a_lock_that_has_run_out_holds_nobody_up():
    assert hammer.may_compress(item(lock=Lock(NOW, LockReason.DISPUTE)), Level.R1, NOW) == Allowed()


# -- candidates ----------------------------------------------------------------------------------------------


def struck(family: Family, now: datetime = NOW) -> tuple[Why, ...]:
    return hammer.reasons(family, now, UPKEEP)


def test_a_thread_is_a_candidate_once_it_is_silent():
    thread = item()
    said = [event(thread, 1)]
    assert struck(Family(item=thread, latest=said), NOW + UPKEEP.quiet / 2) == ()
    assert struck(Family(item=thread, latest=said), NOW + UPKEEP.quiet) == (Why.CLOSED,)


def test_what_was_said_long_ago_and_arrived_just_now_is_not_silent_yet():
    thread = item()
    old = replace(event(thread, 1, at=NOW), ts=NOW - 1000 * DAY)
    assert struck(Family(item=thread, latest=[old]), NOW + timedelta(minutes=1)) == ()


def test_a_thread_that_goes_on_after_its_summary_is_a_candidate_again():
    thread = item()
    versions = closed(thread, 3)
    later = NOW + 2 * UPKEEP.quiet
    assert struck(Family(item=thread, versions=versions, latest=[event(thread, 3)]), later) == ()
    assert struck(Family(item=thread, versions=versions, latest=[event(thread, 4)]), later) == (Why.CLOSED,)


def test_a_summary_of_what_was_taken_back_is_out_of_date():
    thread = item()
    family = Family(item=thread, versions=closed(thread, 3), latest=[event(thread, 3)], witnessed=3)
    later = NOW + 2 * UPKEEP.quiet
    assert struck(family, later) == ()
    assert struck(replace(family, witnessed=2), later) == (Why.CLOSED,)


def test_a_thread_that_repeats_itself_is_a_candidate_while_it_goes_on():
    thread = item()
    said = [event(thread, n, f"{n} of 90 tests passed, the suite goes on and nothing failed.") for n in range(1, 60)]
    assert struck(Family(item=thread, latest=said)) == (Why.NOISY,)
    assert struck(Family(item=thread, latest=said, versions=closed(thread, 55))) == (), "most of it is summed up"
    fresh = [
        event(thread, n, f"{chr(96 + n) * 9} is another matter, and it is told at length here.") for n in range(1, 25)
    ]
    assert struck(Family(item=thread, latest=fresh)) == ()


def test_a_cold_memory_without_a_shorter_form_is_a_candidate():
    fact = item(Fact(value="tea"))
    alone = Family(item=fact, versions=[version(fact, Level.R3)])
    assert struck(alone, NOW + 6 * DAY) == ()
    assert struck(alone, NOW + 7 * DAY) == (Why.COLD,)
    used = replace(alone, usage=Usage(last_accessed_at=NOW + 3 * DAY))
    assert struck(used, NOW + 7 * DAY) == ()
    pinned = replace(alone, item=replace(fact, pinned_min_level=Level.R3))
    assert struck(pinned, NOW + 7 * DAY) == ()


def test_a_fact_that_was_said_again_in_the_same_words_needs_no_new_hint():
    fact = item(Fact(value="tea"))
    first = version(fact, Level.R3)
    hint = version(fact, Level.R2, "tea", derived_from=first.id)
    trace = version(fact, Level.R1, "tea", derived_from=hint.id)
    again = version(fact, Level.R3, derived_from=first.id)
    family = Family(item=fact, versions=[first, hint, trace, again])
    assert struck(family, NOW + 9 * DAY) == ()
    other = version(fact, Level.R3, "Ana drinks coffee.", derived_from=again.id)
    assert struck(replace(family, versions=[*family.versions, other]), NOW + 9 * DAY) == (Why.COLD,)


def test_an_overlong_summary_is_a_candidate():
    thread = item()
    versions = closed(thread, 3, "Ana moved the login to sessions. " * 200)
    assert struck(Family(item=thread, versions=versions, latest=[event(thread, 3)]), NOW + DAY) == (Why.OVERLONG,)


def test_what_is_locked_is_no_candidate():
    thread = item(lock=Lock(NOW + 9 * DAY, LockReason.MANUAL_PROMOTE))
    assert struck(Family(item=thread, latest=[event(thread, 1)]), NOW + DAY) == ()


# -- handles -------------------------------------------------------------------------------------------------


def test_newer_handles_take_over_from_those_that_name_the_same_events():
    thread = item()
    first, whole, more = handle(thread, 1, 10), handle(thread, 1, 15), handle(thread, 16, 20)
    assert hammer.handles(Family(item=thread, versions=[first, whole])) == [whole]
    assert hammer.handles(Family(item=thread, versions=[first, whole, more])) == [whole, more]


def test_a_handle_of_an_event_that_is_not_live_does_not_stand():
    thread = item()
    whole = handle(thread, 1, 15)
    family = Family(item=thread, versions=[whole])
    assert hammer.handles(family, frozenset(range(1, 20))) == [whole]
    assert hammer.handles(family, frozenset(range(2, 20))) == []


# -- default level -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("idle", "level"),
    [
        (timedelta(0), Level.R3),
        (6 * DAY, Level.R3),
        (7 * DAY, Level.R3),
        (29 * DAY, Level.R3),
        (30 * DAY, Level.R2),
        (400 * DAY, Level.R2),
    ],
)
def test_age_moves_an_episode_down(idle: timedelta, level: Level):
    assert hammer.default_level(item(), NOW - idle, NOW, UPKEEP) is level


def test_an_episode_that_is_served_in_full_comes_down_to_its_summary():
    full = item(default_level=Level.R5)
    assert hammer.default_level(full, NOW - 6 * DAY, NOW, UPKEEP) is Level.R5
    assert hammer.default_level(full, NOW - 7 * DAY, NOW, UPKEEP) is Level.R3


def test_an_episode_that_is_used_again_comes_back_as_its_summary():
    assert hammer.default_level(item(default_level=Level.R2), NOW - DAY, NOW, UPKEEP) is Level.R3


def test_facts_keep_their_level_whatever_their_age():
    assert hammer.default_level(item(Fact(value="tea")), NOW - 900 * DAY, NOW, UPKEEP) is Level.R3


@given(
    body=st.sampled_from([Episode(), Fact()]),
    level=levels,
    floor=levels,
    days=st.integers(0, 400),
)
def test_no_age_goes_below_a_pin(body: Body, level: Level, floor: Level, days: int):
    memory = item(body, default_level=level, pinned_min_level=floor)
    assert hammer.default_level(memory, NOW - days * DAY, NOW, UPKEEP) >= floor


@given(level=levels, days=st.lists(st.integers(0, 400), min_size=2, max_size=2).map(sorted))
def test_the_older_the_shorter(level: Level, days: list[int]):
    younger, older = (hammer.default_level(item(default_level=level), NOW - n * DAY, NOW, UPKEEP) for n in days)
    assert older <= younger


# -- competing versions --------------------------------------------------------------------------------------


def good(n: int) -> Usage:
    return Usage(cited=n)


def bad(n: int) -> Usage:
    return Usage(ignored=n)


@pytest.fixture
def rivals() -> tuple[Version, Version]:
    """A summary and the hint that was made of it."""
    thread = item()
    summary = version(thread, Level.R3, "Ana moved the login to sessions because tokens were too large.")
    return summary, version(thread, Level.R2, "login: tokens→sessions", derived_from=summary.id)


def test_of_equally_useful_versions_the_shorter_one_wins(rivals: tuple[Version, Version]):
    assert hammer.winner(rivals, {}, Level.R1, Level.R5) == rivals[1]


def test_a_hint_that_people_kept_escalating_from_loses_to_the_summary(rivals: tuple[Version, Version]):
    summary, hint = rivals
    assert hammer.winner(rivals, {hint.id: bad(5)}, Level.R1, Level.R5) == summary
    assert hammer.winner(rivals, {hint.id: bad(1), summary.id: good(3)}, Level.R1, Level.R5) == summary


def test_a_single_vote_decides_nothing(rivals: tuple[Version, Version]):
    summary, hint = rivals
    assert hammer.winner(rivals, {hint.id: bad(1)}, Level.R1, Level.R5) == hint
    assert hammer.winner(rivals, {summary.id: good(1)}, Level.R1, Level.R5) == hint


def test_being_served_is_no_vote(rivals: tuple[Version, Version]):
    assert hammer.winner(rivals, {rivals[0].id: Usage(retrieved=900)}, Level.R1, Level.R5) == rivals[1]


def test_a_pin_overrides_usefulness_and_size(rivals: tuple[Version, Version]):
    summary, hint = rivals
    assert hammer.winner(rivals, {hint.id: good(50), summary.id: bad(50)}, Level.R3, Level.R5) == summary


votes = st.builds(Usage, st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))


@given(
    st.lists(st.tuples(st.sampled_from([Level.R1, Level.R2, Level.R3]), st.integers(1, 60), votes), max_size=6),
    levels,
    levels,
)
def test_the_winner_is_within_bounds_and_nothing_is_both_more_useful_and_shorter(
    drawn: Sequence[tuple[Level, int, Usage]], floor: Level, ceiling: Level
):
    thread = item()
    raw = handle(thread, 1, 1)
    versions = [version(thread, level, "tea " * size, derived_from=raw.id) for level, size, _ in drawn]
    usage = {one.id: use for one, (_, _, use) in zip(versions, drawn, strict=True)}
    won = hammer.winner(versions, usage, floor, ceiling)
    fit = [one for one in versions if floor <= one.level <= ceiling]
    assert (won is None) == (not fit)
    if won:
        assert floor <= won.level <= ceiling
        useful = hammer.usefulness(usage[won.id])
        assert not any(
            hammer.usefulness(usage[one.id]) > useful + hammer.TOLERANCE
            or (hammer.usefulness(usage[one.id]) >= useful and len(one.content) < len(won.content))
            for one in fit
        )


# -- what is served ------------------------------------------------------------------------------------------


def chosen(family: Family, now: datetime) -> Choice:
    return hammer.choice(family, hammer.handles(family), now, UPKEEP)


def test_an_old_episode_is_served_as_a_hint_unless_the_hint_proved_useless():
    thread = item()
    versions = closed(thread, 3)
    family = Family(item=thread, versions=versions)
    assert chosen(family, NOW + 30 * DAY) == Choice(Level.R2, None)
    assert chosen(replace(family, votes={versions[3].id: bad(6)}), NOW + 30 * DAY) == Choice(Level.R3, None)
    assert (
        chosen(replace(family, item=replace(thread, pinned_min_level=Level.R3)), NOW + 30 * DAY).default_level
        is Level.R3
    )


def test_an_old_episode_without_a_hint_is_served_as_its_summary():
    thread = item()
    assert chosen(Family(item=thread, versions=closed(thread, 3)[:3]), NOW + 30 * DAY) == Choice(Level.R3, None)


def test_what_was_promoted_above_the_summary_comes_down_when_its_lock_has_run_out():
    thread = item()
    versions = closed(thread, 3)
    promoted = replace(thread, active_version_id=versions[0].id)
    assert chosen(Family(item=promoted, versions=versions), NOW + DAY) == Choice(Level.R3, None)


def test_a_summary_that_was_promoted_by_name_ages_like_any_other():
    thread = item()
    versions = closed(thread, 3)
    family = Family(item=replace(thread, active_version_id=versions[2].id), versions=versions)
    assert chosen(family, NOW + DAY) == Choice(Level.R3, versions[2].id)
    assert chosen(family, NOW + 30 * DAY) == Choice(Level.R2, None)


def test_a_promoted_summary_gives_way_to_one_that_covers_more():
    thread = item()
    old = closed(thread, 3)
    new = closed(thread, 5, "Ana moved the login to sessions and then to passkeys.")
    promoted = replace(thread, active_version_id=old[2].id)
    assert chosen(Family(item=promoted, versions=[*old, *new]), NOW + DAY) == Choice(Level.R3, None)


def test_of_two_summaries_of_the_same_events_the_more_useful_one_is_promoted():
    thread = item()
    versions = closed(thread, 3)
    other = version(thread, Level.R3, "The login moved.", derived_from=versions[1].id)
    family = Family(item=thread, versions=[*versions, other], votes={other.id: bad(6)})
    assert chosen(family, NOW + DAY) == Choice(Level.R3, versions[2].id)


def test_the_wording_of_a_fact_is_for_people_to_choose():
    fact = item(Fact(value="tea"))
    first = version(fact, Level.R3, "Ana drinks tea.")
    second = version(fact, Level.R3, "Ana drinks green tea in the morning.")
    promoted = replace(fact, active_version_id=second.id)
    assert chosen(Family(item=promoted, versions=[first, second], votes={second.id: bad(9)}), NOW + 90 * DAY) == (
        Choice(Level.R3, second.id)
    )


# -- merging and splitting -----------------------------------------------------------------------------------


def bullets(owner: Item, *texts: str, first: int = 1) -> list[Bullet]:
    return [Bullet(text, (RangeWitness(owner.id, n, n, "said so"),), "Facts") for n, text in enumerate(texts, first)]


def test_only_memories_of_one_owner_and_topic_belong_together():
    login = item(topic_key="login")
    assert regroup.together(login, item(topic_key="login"))
    assert not regroup.together(login, item(topic_key="billing"))
    assert not regroup.together(item(), item())
    assert not regroup.together(login, item(topic_key="login", user_id="ben"))
    assert not regroup.together(login, item(topic_key="login", private=True))
    silo = item(topic_key="login", visibility=Visibility.AGENT_SILO, agent_id="robin")
    assert not regroup.together(login, silo)
    assert not regroup.together(silo, replace(silo, agent_id="wren"))


def test_what_two_summaries_say_is_said_once_with_the_witnesses_of_both():
    a, b = item(), item()
    own = bullets(a, "The login uses sessions.", "Tokens live for 30 days.")
    others = bullets(b, "The login uses sessions.", "Tokens live for 60 days.", "The login does not use sessions.")
    found = regroup.united(own, others)
    assert [bullet.text for bullet in found] == [
        "The login uses sessions.",
        "Tokens live for 30 days.",
        "Tokens live for 60 days.",
        "The login does not use sessions.",
    ]
    assert {witness.episode_id for witness in found[0].witnesses if isinstance(witness, RangeWitness)} == {a.id, b.id}


def test_witnesses_that_leave_their_thread_name_their_events_one_by_one():
    thread = item()
    events = [event(thread, n) for n in range(1, 4)]
    whole = Bullet("Ana drinks tea.", (RangeWitness(thread.id, 2, 9, "said so"),))
    [found] = regroup.pointed([whole], events)
    assert [witness.event_id for witness in found.witnesses if not isinstance(witness, RangeWitness)] == [
        events[1].id,
        events[2].id,
    ]
    assert regroup.pointed([whole], events[:1]) == []


LOGIN = [f"The login session {word} the cookie store." for word in ("reads", "writes", "renews", "clears", "signs")]
BILLING = [f"Each invoice {word} the customer ledger." for word in ("opens", "closes", "debits", "credits", "audits")]


def test_a_summary_about_two_things_falls_into_both():
    thread = item()
    mixed = bullets(thread, *(text for pair in zip(LOGIN, BILLING, strict=True) for text in pair), "Ana drinks tea.")
    found = regroup.parted(mixed)
    assert found is not None
    assert [[bullet.text for bullet in topic.bullets] for topic in found.topics] == [LOGIN, BILLING]
    assert [bullet.text for bullet in found.rest] == ["Ana drinks tea."]
    assert len({topic.name for topic in found.topics}) == 2


def test_a_summary_about_one_thing_stays_whole():
    assert regroup.parted(bullets(item(), *LOGIN)) is None
    assert regroup.parted([]) is None


@given(st.lists(st.sampled_from([*LOGIN, *BILLING, "Ana drinks tea.", "Rain fell."]), max_size=30))
def test_a_split_loses_and_doubles_nothing(texts: list[str]):
    whole = bullets(item(), *texts)
    found = regroup.parted(whole)
    if found is not None:
        parts = [*found.rest, *(bullet for topic in found.topics for bullet in topic.bullets)]
        assert sorted(parts, key=whole.index) == whole


@given(st.lists(st.sampled_from([*LOGIN, *BILLING]), min_size=1, max_size=12), st.integers(1, 200))
def test_a_summary_that_goes_on_stays_within_its_length_and_keeps_the_newest(texts: list[str], most: int):
    thread = item()
    former, new = bullets(thread, *texts), bullets(thread, "Ana drinks tea.", first=50)
    found = regroup.carried_on(former, new, most)
    assert sum(-(-len(bullet.text) // 4) for bullet in found) <= most
    if found:
        assert found[-1].text == "Ana drinks tea."


def test_what_was_decided_outlasts_what_was_only_said():
    thread = item()
    decided = [replace(bullet, section="Decisions") for bullet in bullets(thread, "Ana decided to use sessions.")]
    found = regroup.carried_on([*decided, *bullets(thread, *LOGIN)], bullets(thread, *BILLING), 60)
    assert found[0] == decided[0]
