"""The compression hammer over real stores: it adds what is shorter, loses nothing, and can be taken back."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect.care.restore import Session
from recollect.domain.change import Append, Retract, Verb, revise
from recollect.domain.embedding import Profile
from recollect.domain.event import Trust
from recollect.domain.ids import TenantId
from recollect.domain.item import Lock, LockReason, Visibility
from recollect.domain.level import Level
from recollect.domain.observation import Use, Used
from recollect.domain.prompt import Prompt
from recollect.domain.query import Filters
from recollect.domain.witness import RangeWitness, bare
from recollect.errors import ModelFailed
from recollect.holdings import Wanted
from recollect.policy import distil
from recollect.policy.distil import WrittenBullet, WrittenSummary
from tests.flows.strikes import LOGIN, cited, hammer, pass_by, strike, summary, versions
from tests.worlds import EVERYTHING, MIRA, World, numbers

# -- five lengths ------------------------------------------------------------------------------------------


def test_an_episode_gets_all_five_lengths_each_from_the_one_before(world: World):
    thread, events = world.say(*LOGIN)
    done = strike(world, thread)
    raw, log, told, hint, trace = versions(world, thread)
    assert [one.level for one in (raw, log, told, hint, trace)] == [5, 4, 3, 2, 1]
    assert [one.derived_from for one in (raw, log, told, hint, trace)] == [None, raw.id, log.id, told.id, hint.id]
    assert [one.derivation for one in (log, told, hint, trace)] == ["normalize", "summarize", "compress", "trace"]
    assert raw.content == f"s:1-{len(LOGIN)}"
    assert cited(world, raw) == {event.id for event in events}
    assert "sessions" in told.content
    assert "Good morning" not in log.content
    [stroke] = done.strokes
    assert stroke.made == (raw, log, told, hint, trace)
    assert stroke.tokens_after < stroke.tokens_before


def test_every_bullet_of_a_summary_has_witnesses_that_resolve_and_is_read_back_from_its_text(world: World):
    thread, _ = world.say(*LOGIN)
    strike(world, thread)
    told = summary(world, thread)
    assert told.bullets
    _, read = distil.parse(told.content, thread.id)
    assert [(bullet.text, bullet.section) for bullet in read] == [(b.text, b.section) for b in told.bullets]
    for bullet in told.bullets:
        assert all(
            isinstance(one, RangeWitness) and world.store.events(world.tenant, thread.id, one.first, one.last)
            for one in bullet.witnesses
        )


def test_a_second_strike_changes_nothing(world: World):
    thread, _ = world.say(*LOGIN)
    strike(world, thread)
    before = world.dump()
    again = strike(world, thread)
    assert world.dump() == before
    assert again.strokes[0].made == ()
    assert again.cause is None
    assert hammer(world).compress(actor=MIRA).strokes == ()


def test_a_dry_run_says_what_would_be_made_and_writes_nothing(world: World):
    thread, _ = world.say(*LOGIN)
    before = world.dump()
    [dry] = strike(world, thread, dry_run=True).strokes
    assert world.dump() == before
    [wet] = strike(world, thread).strokes
    assert [(one.level, one.content) for one in dry.made] == [(one.level, one.content) for one in wet.made]
    assert replace(dry, made=wet.made) == wet


@pytest.mark.usefixtures("verbatim")
def test_more_messages_make_a_new_summary_of_everything_and_keep_the_old_one(world: World):
    thread, _ = world.say(*LOGIN)
    strike(world, thread)
    first = versions(world, thread)
    world.say("We decided to add passkeys to the login next to the sessions.")
    strike(world, thread)
    assert versions(world, thread)[:5] == first
    told = summary(world, thread)
    assert "passkeys" in told.content
    assert "JWT" in told.content
    assert versions(world, thread, Level.R5)[-1].content == f"s:1-{len(LOGIN) + 1}"


def test_a_thread_of_small_talk_is_covered_without_a_summary_and_is_not_worked_on_again_and_again(world: World):
    thread, _ = world.say("Good morning!", "Hello.")
    strike(world, thread)
    before = world.dump()
    strike(world, thread)
    assert world.dump() == before
    assert [one.level for one in versions(world, thread)][:2] == [5, 4]


def test_a_fact_keeps_its_words_and_gets_a_handle_a_hint_and_a_trace(world: World):
    told = world.tell("The team uses PostgreSQL as the primary database because of its JSON support.")
    pass_by(world, timedelta(days=8))
    hammer(world).compress(actor=MIRA)
    found = versions(world, told.item)
    assert {one.level for one in found} == {5, 3, 2, 1}
    [raw] = versions(world, told.item, Level.R5)
    assert raw.content == f"e:{told.event.id}"
    assert summary(world, told.item) == told.version
    assert versions(world, told.item, Level.R2)[0].derived_from == told.version.id
    assert world.held(told.item).item.default_level is Level.R3


def test_what_was_said_by_somebody_untrusted_makes_the_summary_untrusted(world: World):
    thread, _ = world.say(*LOGIN)
    world.apply(Append(world.event(thread, "The admin password rule was lifted.", trust=Trust.UNTRUSTED)))
    strike(world, thread)
    assert world.held(thread).item.trust is Trust.UNTRUSTED
    assert summary(world, thread)


class Embedder:
    name = "counting"
    profile = Profile(same=0.9, judge=0.5, link_min=0.4, floor=0.2)

    def __init__(self) -> None:
        self.read: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.read += texts
        return [numbers(1.0, 0.0) for _ in texts]


def test_a_summary_gets_a_vector_of_its_words_without_its_witnesses(world: World):
    thread, _ = world.say(*LOGIN)
    embedder = Embedder()
    hammer(world, embedder=embedder).compress(actor=MIRA, item_id=thread.id)
    told = summary(world, thread)
    assert embedder.read == [bare(told.content)]
    assert "[s:" not in embedder.read[0]
    wanted = Wanted(vector=numbers(1.0, 0.0), embedder="counting", filters=Filters(), sight=EVERYTHING)
    [hit] = world.store.find_items(world.tenant, wanted).hits
    assert (hit.ref, round(hit.cosine or 0, 3)) == (f"v:{told.id}", 1.0)


# -- what is left alone --------------------------------------------------------------------------------------


def test_a_locked_memory_is_skipped_until_its_lock_has_run_out(world: World):
    thread, _ = world.say(*LOGIN)
    locked = replace(thread, lock=Lock(world.clock.now() + timedelta(minutes=60), LockReason.DISPUTE))
    world.apply(revise(thread, locked, world.clock.now(), Verb.LOCK))
    assert strike(world, thread).strokes[0].skipped == "locked (dispute)"
    assert versions(world, thread) == []
    pass_by(world, timedelta(minutes=61))
    assert strike(world, thread).strokes[0].made


def test_a_pinned_memory_is_not_made_shorter_than_its_summary(world: World):
    thread, _ = world.say(*LOGIN)
    world.apply(revise(thread, replace(thread, pinned_min_level=Level.R3), world.clock.now(), Verb.PIN))
    strike(world, thread)
    pass_by(world, timedelta(days=90))
    strike(world, thread)
    assert {one.level for one in versions(world, thread)} == {5, 4, 3}
    assert world.held(thread).item.default_level is Level.R3


def test_what_may_not_be_reached_is_not_looked_at(world: World):
    ours, _ = world.say(*LOGIN)
    theirs, _ = world.say(*LOGIN, thread="secret", visibility=Visibility.AGENT_SILO, agent_id="robin", user_id=None)
    pass_by(world, timedelta(hours=2))
    hammer(world).compress(actor=MIRA)
    assert versions(world, ours)
    assert versions(world, theirs) == []
    assert strike(world, theirs, allow=lambda item: item.visibility is not Visibility.AGENT_SILO).strokes == ()


# -- what is served --------------------------------------------------------------------------------------------


def test_an_episode_moves_down_with_age_and_back_up_when_it_is_used(world: World):
    thread, _ = world.say(*LOGIN)
    strike(world, thread)
    updated = world.held(thread).item.updated_at
    pass_by(world, timedelta(days=31))
    [stroke] = hammer(world).compress(actor=MIRA).strokes
    assert (stroke.why, stroke.default_level) == ("moved", Level.R2)
    assert world.held(thread).item.default_level is Level.R2
    assert world.held(thread).item.updated_at == updated, "it is served otherwise, and says what it said"
    world.store.observe(world.tenant, [Used(thread.id, Use.RETRIEVED, world.clock.now())])
    hammer(world).compress(actor=MIRA)
    assert world.held(thread).item.default_level is Level.R3


def test_a_hint_that_people_kept_escalating_from_gives_way_to_the_summary(world: World):
    thread, _ = world.say(*LOGIN)
    strike(world, thread)
    [hint] = versions(world, thread, Level.R2)
    pass_by(world, timedelta(days=31))
    world.store.observe(world.tenant, [Used(thread.id, Use.IGNORED, world.clock.now(), hint.id) for _ in range(5)])
    strike(world, thread)
    assert world.held(thread).item.default_level is Level.R3


def test_promote_then_hammer(world: World, tmp_path: Path):
    """What a person promotes is left alone for as long as it is locked, and comes down after that."""
    memory = world.memory(tmp_path)
    thread, _ = world.say(*LOGIN, user_id="mira")
    strike(world, thread)
    [raw] = versions(world, thread, Level.R5)
    memory.promote(thread.id, raw.id)
    strike(world, thread)
    assert world.held(thread).item.active_version_id == raw.id
    pass_by(world, timedelta(hours=3))
    [stroke] = strike(world, thread).strokes
    assert stroke.promoted == summary(world, thread).id
    assert world.held(thread).item.active_version_id is None
    assert [entry.header.op for entry in world.journal()][-1] == "promote"


# -- taking back -----------------------------------------------------------------------------------------------


def test_a_run_is_taken_back_as_a_whole(world: World, tmp_path: Path):
    memory = world.memory(tmp_path)
    world.say(*LOGIN)
    world.say(*LOGIN[::-1], thread="office")
    pass_by(world, timedelta(hours=2))
    before = list(memory.export_state())
    done = hammer(world).compress(actor=MIRA)
    assert done.cause
    assert len(done.strokes) == 2
    memory.rollback(Session(done.cause))
    assert list(memory.export_state()) == before
    assert world.is_whole()


def test_what_was_erased_is_gone_from_every_length_and_they_are_made_anew_without_it(world: World, tmp_path: Path):
    memory = world.memory(tmp_path)
    thread, _ = world.say(*LOGIN, user_id="mira")
    secret = world.tell("Mira hides the spare key under the walnut tree.", user_id="mira")
    pass_by(world, timedelta(days=8))
    hammer(world).compress(actor=MIRA)
    assert any("walnut" in one.content for one in versions(world, thread))
    memory.erase(secret.item.id)
    assert versions(world, thread) == []
    assert not any("walnut" in line for line in world.dump())
    hammer(world).compress(actor=MIRA)
    assert {one.level for one in versions(world, thread)} == {5, 4, 3, 2, 1}
    assert versions(world, thread, Level.R5)[0].content == f"s:1-{len(LOGIN)}"
    assert not any("walnut" in line for line in world.dump())


def test_a_summary_of_events_that_were_taken_back_is_made_anew(world: World):
    thread, events = world.say(*LOGIN)
    strike(world, thread)
    pass_by(world, timedelta(hours=2))
    assert events[1].id not in cited(world, summary(world, thread))
    world.apply(Retract(events[1]))
    [stroke] = hammer(world).compress(actor=MIRA).strokes
    assert stroke.why == "closed"
    assert versions(world, thread, Level.R5)[-1].content == "s:1-1,s:3-7"
    assert hammer(world).compress(actor=MIRA).strokes == ()


# -- long threads ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("verbatim")
def test_a_long_thread_is_read_on_from_its_last_summary(world: World, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("recollect.care.ladder.LONG", 6)
    thread, _ = world.say(*LOGIN)
    strike(world, thread)
    assert [one.content for one in versions(world, thread, Level.R5)] == ["s:1-6", "s:7-7"]
    assert len(versions(world, thread, Level.R3)) == 1
    world.say("We decided to add passkeys to the login.", "The passkeys are kept in the schema auth too.")
    strike(world, thread)
    assert [one.content for one in versions(world, thread, Level.R5)] == ["s:1-6", "s:7-7", "s:8-9"]
    told = summary(world, thread)
    assert "passkeys" in told.content
    assert "JWT" in told.content, "what was said before is carried on"
    assert "JWT" not in versions(world, thread, Level.R4)[-1].content, "and not read again"
    before = world.dump()
    strike(world, thread)
    assert world.dump() == before


# -- with a language model ---------------------------------------------------------------------------------------


class Scripted:
    """A writer that answers as it is told to."""

    def __init__(self, answer: Callable[[Prompt[Any]], object]) -> None:
        self._answer = answer
        self.asked = 0

    def write(self, prompt: Prompt[Any], *, tenant: TenantId) -> Any:
        self.asked += 1
        return self._answer(prompt)


def written(*bullets: tuple[str, int]) -> Callable[[Prompt[Any]], object]:
    made = tuple(WrittenBullet("Decisions", text, (place,)) for text, place in bullets)
    return lambda _: WrittenSummary("Login sessions", made)


def test_what_a_model_writes_is_kept_where_its_witnesses_bear_it_out(world: World):
    thread, _ = world.say(*LOGIN)
    writer = Scripted(
        written(
            ("Ana moved the login from JWT tokens to sessions because the tokens were too large.", 1),
            ("Ana fired the whole security department in Oslo.", 1),
        )
    )
    work = hammer(world, writer=writer)
    work.compress(actor=MIRA, item_id=thread.id)
    told = summary(world, thread)
    assert [bullet.text for bullet in told.bullets] == [
        "Ana moved the login from JWT tokens to sessions because the tokens were too large."
    ]
    work.compress(actor=MIRA, item_id=thread.id)
    assert writer.asked == 1, "what is there is not written again"


@pytest.mark.parametrize("answer", [written(("Ana fired the whole security department in Oslo.", 1)), None])
def test_a_model_that_fails_or_makes_everything_up_leaves_the_work_to_the_rules(world: World, answer: Any):
    def fails(_: Prompt[Any]) -> object:
        raise ModelFailed("the model is away")

    thread, _ = world.say(*LOGIN)
    hammer(world, writer=Scripted(answer or fails)).compress(actor=MIRA, item_id=thread.id)
    told = summary(world, thread)
    assert "Oslo" not in told.content
    assert "sessions" in told.content
