"""The time machine: what is rolled back is as it was, byte for byte, and what is refused changes nothing.

RECOLLECT_STATEFUL_EXAMPLES=2000 (and RECOLLECT_STATEFUL_STEPS) for a longer drive, with
`-o faulthandler_timeout=0 -k after_any_history`; RECOLLECT_STATEFUL_SHRINK=1 to have a failure made small.
"""

import os
import random
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from recollect.care import erase as erasing
from recollect.care import restore
from recollect.care.restore import OneEntry, OneMemory, Session, Target, ToRevision
from recollect.domain.change import (
    Append,
    Consent,
    Create,
    Derive,
    Discard,
    Disclose,
    Link,
    Note,
    Protect,
    Retract,
    Unlink,
    Verb,
    Withdraw,
    revise,
)
from recollect.domain.ids import CauseId, ItemId, RecordId, Rev, Seq
from recollect.domain.item import Item
from recollect.domain.record import Asked, Given
from recollect.domain.scope import Scope
from recollect.errors import BuiltOn, Invalid, NotFound, Refused, Stale, StoreBusy
from recollect.policy.rollback import Plan
from recollect.ports import Store
from recollect.store.sidecar import FileErasures
from tests.flows.machine import Irreversible, Reversible
from tests.flows.snapshot import loose_ends, snapshot
from tests.hunt import examples
from tests.worlds import World

EXAMPLES = {"sqlite": 40, "postgres": 14}  # about as long on either
STEPS = int(os.environ.get("RECOLLECT_STATEFUL_STEPS", "40"))
SHRINK = [Phase.shrink] if os.environ.get("RECOLLECT_STATEFUL_SHRINK") else []


@pytest.mark.hypothesis
@pytest.mark.parametrize("machine", [Reversible, Irreversible])
def test_after_any_history_a_rollback_restores_the_revision(
    machine: type[Reversible], engine: str, store: Store, tmp_path: Path
):
    here = type(machine.__name__, (machine,), {"store": store, "folder": tmp_path})
    run_state_machine_as_test(
        here,
        settings=settings(
            max_examples=examples(EXAMPLES[engine]),
            stateful_step_count=STEPS,
            deadline=None,
            print_blob=True,
            phases=[Phase.explicit, Phase.reuse, Phase.generate, *SHRINK],
            suppress_health_check=list(HealthCheck),
        ),
    )


# -- vocabulary ---------------------------------------------------------------------------------------------


def roll_back(world: World, target: Target, *, cascade: bool = False) -> Plan:
    at, cause = world.clock.now(), CauseId(world.clock.mint())
    return restore.roll_back(world.store, world.scope, target, actor=world.actor, at=at, cause=cause, cascade=cascade)[
        1
    ]


def to(world: World, rev: int, **scope: str) -> ToRevision:
    return ToRevision(Scope(tenant=world.tenant, **scope), Rev(rev))


def rev(world: World) -> Rev:
    return world.store.head(world.tenant).rev


def seq(world: World, op: str, item: Item | None = None) -> Seq:
    """The latest entry of this kind, about this memory."""
    found = [entry.header for entry in world.journal() if entry.header.op == op]
    return next(header.seq for header in reversed(found) if item is None or header.item_id == item.id)


def edit(world: World, item: Item, **values: object) -> Seq:
    """Revise a memory as it stands; the entry."""
    now = world.held(item).item
    world.apply(revise(now, replace(now, **values), world.clock.now()))
    return world.store.head(world.tenant).seq


def protect(world: World, item: Item, on: bool = True) -> None:
    world.apply(Protect(item.id, not on, on))


def live(world: World, item: Item | ItemId) -> bool:
    return not world.held(item).withdrawn


def words(world: World, item: Item) -> list[str]:
    return [version.id for version in world.store.versions(world.tenant, item.id)]


def is_refused(world: World, target: Target, why: str, *, cascade: bool = False) -> Refused:
    before, head = world.dump(), world.store.head(world.tenant)
    with pytest.raises(Refused, match=why) as refusal:
        roll_back(world, target, cascade=cascade)
    assert (world.dump(), world.store.head(world.tenant)) == (before, head)
    return refusal.value


# -- what was built on it -----------------------------------------------------------------------------------


def test_an_entry_that_later_ones_built_on_is_refused_with_their_list(world: World):
    told = world.tell()
    louder = edit(world, told.item, importance=5)
    edit(world, told.item, tags=("a",))
    quieter = edit(world, told.item, importance=1)
    assert is_refused(world, OneEntry(louder), "1 later entries built on this").entries == (quieter,)  # type: ignore[attr-defined]
    create, derive = seq(world, "create", told.item), seq(world, "derive")
    refusal = is_refused(world, OneEntry(create), "later entries built on this")
    assert isinstance(refusal, BuiltOn)
    assert refusal.entries == (derive, louder, louder + 1, quieter)


def test_with_cascade_what_was_built_on_it_goes_too(world: World):
    before = world.state()
    told, other = world.tell(), world.keep()
    rest = snapshot(world.store, world.tenant).about([other.id])
    edit(world, told.item, importance=5)
    world.apply(Link(world.relation(told.item, other)))
    roll_back(world, OneEntry(seq(world, "create", world.held(told.event.item_id).item)), cascade=True)
    roll_back(world, OneEntry(seq(world, "create", told.item)), cascade=True)
    assert world.state() == rest
    assert before == []


def test_independent_fields_go_one_by_one_and_the_order_does_not_show(world: World, found: Callable[[], World]):
    item = world.keep()
    before = world.state()
    first, second, third = edit(world, item, importance=5), edit(world, item, tags=("a",)), edit(world, item, core=True)
    for entry in (second, first, third):
        roll_back(world, OneEntry(entry))
    assert world.state() == before
    roll_back(world, OneEntry(seq(world, "create", item)))
    assert world.state() == []


def test_an_edit_of_a_memory_that_was_withdrawn_since_waits_for_the_memory(world: World):
    item = world.keep()
    louder = edit(world, item, importance=5)
    world.apply(Withdraw(world.held(item).item))
    withdrawal = world.store.head(world.tenant).seq
    assert is_refused(world, OneEntry(louder), "1 later entries built on this").entries == (withdrawal,)  # type: ignore[attr-defined]
    roll_back(world, OneEntry(louder), cascade=True)
    assert live(world, item)
    assert world.held(item).item.importance == 3


def test_an_entry_that_was_rolled_back_is_not_rolled_back_again(world: World):
    item = world.keep()
    louder = edit(world, item, importance=5)
    roll_back(world, OneEntry(louder))
    undo = world.store.head(world.tenant).seq
    is_refused(world, OneEntry(louder), f"entry {louder} is rolled back already, by entry {undo}")
    roll_back(world, OneEntry(undo))
    assert world.held(item).item.importance == 5
    roll_back(world, OneEntry(louder))
    assert world.held(item).item.importance == 3


def test_a_rollback_does_what_its_preview_shows(world: World):
    told = world.tell()
    edit(world, told.item, importance=5)
    target = OneEntry(seq(world, "create", told.item))
    shown = restore.preview(world.store, world.tenant, target, cascade=True)
    head = world.store.head(world.tenant)
    assert roll_back(world, target, cascade=True) == shown
    written = world.store.entries(world.tenant, rev_after=head.rev)
    assert [entry.change for entry in written] == list(shown.undo)
    assert {entry.header.rev for entry in written} == {head.rev + 1}


def test_where_the_entry_itself_stays_nothing_that_built_on_it_goes(world: World):
    """A rollback of one entry is about that entry."""
    base, constitution = world.tell(), world.keep()
    world.apply(Derive(world.shorter(base.version, item_id=constitution.id)))
    protect(world, constitution)
    edit(world, base.item, importance=5)
    for cascade in (True, False):
        why = "something that stays is built on it"
        is_refused(world, OneEntry(seq(world, "create", base.item)), why, cascade=cascade)


# -- sessions and scopes ------------------------------------------------------------------------------------


def test_a_session_goes_as_a_whole(world: World):
    session = CauseId("last night")
    kept = world.tell()
    before = world.state()
    made = world.item()
    world.apply(Create(made), Link(world.relation(kept.item, made)), cause=session)
    edit(world, kept.item, topic_key="t1")
    roll_back(world, OneEntry(world.store.head(world.tenant).seq))
    now = world.held(kept.item).item
    world.apply(revise(now, replace(now, importance=1), world.clock.now(), Verb.UPDATE), cause=session)
    assert len(roll_back(world, Session(session)).undo) == 3
    assert world.state() == before


def test_what_was_rolled_back_of_a_session_already_is_left_alone(world: World):
    session, item = CauseId("last night"), world.keep()
    before = world.state()
    for fields in ({"importance": 5}, {"tags": ("a",)}):
        now = world.held(item).item
        world.apply(revise(now, replace(now, **fields), world.clock.now()), cause=session)
    first = world.store.head(world.tenant).seq - 1
    roll_back(world, OneEntry(first))
    edit(world, item, importance=4)
    roll_back(world, OneEntry(world.store.head(world.tenant).seq))
    assert [undo.entry for undo in roll_back(world, Session(session)).undo] == [first + 1]
    assert world.state() == before
    is_refused(world, Session(session), "there is nothing to roll back")


def test_a_users_memories_go_back_and_nobody_elses(world: World):
    ana, ben = world.tell(user_id="ana"), world.tell(user_id="ben")
    then = rev(world)
    before = snapshot(world.store, world.tenant)
    edit(world, ana.item, importance=5)
    edit(world, ben.item, importance=5)
    world.tell("Ana has a dog.", user_id="ana")
    ben_now = snapshot(world.store, world.tenant).about([ben.item.id, ben.event.item_id])
    roll_back(world, to(world, then, user_id="ana"))
    now = snapshot(world.store, world.tenant)
    assert now.about([ben.item.id, ben.event.item_id]) == ben_now
    anas = [id for id, item in now.items.items() if item.user_id == "ana"]
    assert sorted(anas) == sorted([ana.item.id, ana.event.item_id])
    assert now.about(anas) == before.about(anas)


def test_a_scope_that_others_built_on_is_refused_without_cascade(world: World):
    ana, ben = world.tell(user_id="ana"), world.tell(user_id="ben")
    world.apply(Derive(world.shorter(ana.version, item_id=ben.item.id)))
    blocked = is_refused(world, to(world, 0, user_id="ana"), "built on this")
    assert blocked.entries == (world.store.head(world.tenant).seq,)  # type: ignore[attr-defined]
    roll_back(world, to(world, 0, user_id="ana"), cascade=True)
    assert words(world, ben.item) == [ben.version.id]


def test_one_memory_is_brought_back_to_a_revision(world: World):
    told, other = world.tell(), world.tell("Ben drinks coffee.", user_id="ben")
    edit(world, told.item, importance=5)
    then = snapshot(world.store, world.tenant)
    edit(world, told.item, importance=1, tags=("a",))
    edit(world, other.item, importance=1)
    world.apply(Derive(world.version(told.item, told.event)))
    roll_back(world, OneMemory(told.item.id, then.rev))
    now = snapshot(world.store, world.tenant)
    assert now.about([told.item.id]) == then.about([told.item.id])
    assert now.items[other.item.id].importance == 1


# -- evidence -----------------------------------------------------------------------------------------------


def test_a_retracted_event_hides_the_version_it_alone_witnessed_and_no_other(world: World):
    _, (first, second) = world.say("Ana drinks tea.", "Only tea.")
    item = world.keep()
    alone, both = world.version(item, first), world.version(item, first, second)
    world.apply(Derive(alone), Derive(both))
    appended = OneEntry(Seq(seq(world, "append") - 1))
    refusal = is_refused(world, appended, "1 later entries built on this")
    assert refusal.entries == (seq(world, "derive") - 1,)  # type: ignore[attr-defined]
    roll_back(world, appended, cascade=True)
    assert words(world, item) == [both.id]
    assert first.id not in {event.id for event in world.store.events(world.tenant, first.item_id)}
    refusal = is_refused(world, OneEntry(Seq(appended.seq + 1)), "1 later entries built on this")
    roll_back(world, OneEntry(Seq(appended.seq + 1)), cascade=True)
    assert words(world, item) == []


def test_a_retracted_event_hides_every_version_that_quotes_it(world: World):
    _, (first, second) = world.say("I drink tea.", "Only tea.")
    item = world.keep()
    quoted, cited = world.quoting(item, first, besides=[second]), world.version(item, first, second)
    hint = world.shorter(quoted)
    world.apply(Derive(quoted), Derive(cited), Derive(hint))
    appended, derived = OneEntry(Seq(2)), Seq(5)
    assert is_refused(world, appended, "2 later entries built on this").entries == (derived, derived + 2)  # type: ignore[attr-defined]
    before = world.state()
    roll_back(world, appended, cascade=True)
    assert words(world, item) == [cited.id]
    last = world.store.head(world.tenant)
    discarded = next(e.header.seq for e in world.journal() if e.header.rev == last.rev and e.header.undoes == derived)
    is_refused(world, OneEntry(discarded), "what it stands on does not come back")
    roll_back(world, ToRevision(world.scope, Rev(last.rev - 1)))
    assert world.state() == before


def test_an_event_that_came_back_is_quoted_by_what_came_back_with_it(world: World):
    _, (first, second) = world.say("I drink tea.", "Only tea.")
    item = world.keep()
    quoted = world.quoting(item, first, second)
    world.apply(Derive(quoted))
    roll_back(world, OneEntry(Seq(3)), cascade=True)
    gone = rev(world)
    assert words(world, item) == []
    roll_back(world, ToRevision(world.scope, Rev(gone - 1)))
    assert words(world, item) == [quoted.id]
    back = OneEntry(Seq(world.store.head(world.tenant).seq - 1))
    assert len(is_refused(world, back, "1 later entries built on this").entries) == 1  # type: ignore[attr-defined]
    is_refused(world, OneEntry(Seq(2)), "1 later entries built on this")
    roll_back(world, back, cascade=True)
    assert words(world, item) == []


def test_what_a_constitutional_memory_quotes_stays(world: World):
    _, (first, second) = world.say("I drink tea.", "Only tea.")
    item = world.keep()
    world.apply(Derive(world.quoting(item, second, besides=[first])))
    protect(world, item)
    is_refused(world, OneEntry(Seq(3)), "something that stays is built on it", cascade=True)
    roll_back(world, OneEntry(Seq(2)))
    assert [event.id for event in world.store.events(world.tenant, second.item_id)] == [second.id]


def test_a_version_goes_with_its_last_evidence_even_when_that_came_back_later_than_it(world: World):
    _, (first, second) = world.say("Ana drinks tea.", "Only tea.")
    item = world.keep()
    world.apply(Derive(world.version(item, first, second)))
    one, other, derive = Seq(2), Seq(3), Seq(5)
    roll_back(world, OneEntry(one))
    roll_back(world, OneEntry(world.store.head(world.tenant).seq))
    one_again = OneEntry(world.store.head(world.tenant).seq)
    roll_back(world, OneEntry(other))
    assert is_refused(world, one_again, "1 later entries built on this").entries == (derive,)  # type: ignore[attr-defined]
    roll_back(world, one_again, cascade=True)
    assert words(world, item) == []


def test_a_version_does_not_come_back_without_its_evidence(world: World):
    told = world.tell()
    roll_back(world, OneEntry(seq(world, "append")), cascade=True)
    discarded, retracted = world.journal()[-2:]
    assert (discarded.header.op, retracted.header.op) == ("discard", "retract")
    is_refused(world, OneEntry(discarded.header.seq), "does not come back")
    roll_back(world, OneEntry(retracted.header.seq))
    roll_back(world, OneEntry(discarded.header.seq))
    assert words(world, told.item) == [told.version.id]


@pytest.mark.parametrize("what", ["item", "event", "version"])
def test_what_carries_something_is_not_hidden_at_the_door_either(world: World, what: str):
    told = world.tell()
    hint = world.shorter(told.version)
    world.apply(Derive(hint))
    hidden = {"item": Withdraw(told.item), "event": Retract(told.event), "version": Discard(told.version)}[what]
    before = world.dump()
    with pytest.raises(Stale, match="stand on what is to be hidden"):
        world.apply(hidden)
    assert world.dump() == before
    world.apply(Discard(hint), Discard(told.version), Retract(told.event), Withdraw(told.item))


# -- what cannot be taken back ------------------------------------------------------------------------------


def test_a_constitutional_memory_stays_with_its_words_and_their_evidence(world: World):
    before = world.state()
    told = world.tell("We never sell data.")
    world.apply(Derive(world.shorter(told.version)))
    edit(world, told.item, importance=5)
    other = world.tell("Ana drinks tea.", thread="office")
    world.apply(Link(world.relation(told.item, other.item)))
    protect(world, told.item)
    kept = snapshot(world.store, world.tenant).about([told.item.id, told.event.item_id])
    plan = roll_back(world, to(world, 0))
    assert world.state() == kept
    assert {stay.why for stay in plan.stays} == {
        "the memory is constitutional: lift that first",
        "something that stays is built on it",
        "protection is lifted by an admin, not by the time machine",
    }
    is_refused(world, to(world, 0), "constitutional")
    protect(world, told.item, False)
    roll_back(world, to(world, 0))
    assert world.state() == before


def test_what_a_constitutional_memory_lost_before_stays_lost_with_all_that_stood_on_it(world: World):
    told, other = world.tell(), world.keep()
    now = world.held(told.item).item
    hint = world.shorter(told.version)
    pointing = revise(now, replace(now, active_version_id=hint.id), world.clock.now(), Verb.PROMOTE)
    world.apply(Derive(hint), pointing, Link(world.relation(other, told.item)))
    then = rev(world)
    roll_back(world, OneEntry(seq(world, "append")), cascade=True)
    protect(world, world.held(told.event.item_id).item)
    edit(world, other, importance=5)
    plan = roll_back(world, to(world, then))
    assert {"what it stands on does not come back", "what it pointed at does not come back"} <= {
        stay.why for stay in plan.stays
    }
    assert words(world, told.item) == []
    assert world.held(told.item).item == told.item
    assert world.held(other).item.importance == 3


def test_a_reading_and_a_persons_word_stay_and_hold_no_memory(world: World):
    item, at = world.keep(), world.clock.now()
    asked = Asked(id=RecordId(world.clock.mint()), agent_id="robin", asked_by="mira", purpose="repair", asked_at=at)
    same = {name: getattr(asked, name) for name in Asked.__dataclass_fields__}
    given = Given(**same, given_by="robin", given_at=at, until=at + timedelta(days=1))
    world.apply(Note(None, asked))
    world.apply(Consent(asked, given))
    world.apply(Disclose(given.id, item.id))
    roll_back(world, to(world, 0))
    assert world.state() == []
    assert world.store.record(world.tenant, "grant", given.id) == given


def test_what_was_erased_does_not_come_back_and_everything_else_does(world: World, tmp_path: Path):
    told, other, third = world.tell(), world.keep(), world.keep()
    edge = world.relation(other, told.item)
    world.apply(Link(edge), Link(world.relation(other, third)))
    world.apply(Unlink(edge))
    then = rev(world)
    world.apply(Unlink(world.store.relations(world.tenant, third.id)[0]))
    edit(world, other, importance=5)
    erasing.erase(
        world.store,
        FileErasures(tmp_path / "erasures"),
        world.scope,
        [told.item.id],
        [told.event.id],
        actor=world.actor,
        at=world.clock.now(),
        reason="asked",
    )
    roll_back(world, to(world, then))
    assert [relation.to_id for relation in world.store.relations(world.tenant, other.id)] == [third.id]
    assert world.held(other).item.importance == 3
    roll_back(world, to(world, 0))
    assert world.state() == []


def test_a_thread_is_taken_back_unless_it_goes_on_in_another_memory(world: World):
    first, _ = world.say("Once upon a time.")
    then, before = rev(world), world.state()
    roll_back(world, to(world, 0))
    hidden = OneEntry(world.store.head(world.tenant).seq)
    second, _ = world.say("Anew.")
    is_refused(world, hidden, "its thread goes on in another memory")
    roll_back(world, to(world, then))
    assert world.state() == before
    roll_back(world, OneEntry(world.store.head(world.tenant).seq), cascade=True)
    roll_back(world, to(world, 0))
    second, _ = world.say("Anew again.")
    protect(world, second)
    is_refused(world, to(world, then), "its thread goes on in another memory")
    assert live(world, second)
    assert not live(world, first)


def test_a_checkpoint_is_not_rolled_back(world: World):
    checkpoint = world.checkpoint({"step": 1})
    world.store.save_checkpoint(world.scope, checkpoint, actor=world.actor)
    is_refused(world, to(world, 0), "a checkpoint is not rolled back")
    assert world.store.checkpoint(world.tenant, "ana", "kitchen") == checkpoint


# -- together -----------------------------------------------------------------------------------------------


def test_a_rollback_of_a_rollback_brings_back_what_was_before_it(world: World):
    told = world.tell()
    edit(world, told.item, importance=5)
    states = [world.state()]
    roll_back(world, to(world, 0))
    states.append(world.state())
    for turn in range(4):
        last = world.journal()[-1].header.cause
        assert last is not None
        roll_back(world, Session(last))
        assert world.state() == states[turn % 2]


def test_rollbacks_and_writes_at_the_same_time_never_tear(world: World):
    """Whoever comes second finds what the first one left, whole: a version with evidence, an event with its thread."""
    world.tell()
    done = threading.Event()

    def write(number: int) -> None:
        chance = random.Random(number)
        for turn in range(25):
            with suppress(Stale, NotFound, Invalid):
                told = world.tell(f"turn {turn}", thread=chance.choice(["kitchen", "office"]))
                now = snapshot(world.store, world.tenant)
                event = chance.choice(list(now.events))
                cited = world.store.events_by_id(world.tenant, [event])  # type: ignore[list-item]
                if not cited:
                    continue  # taken back in the meantime
                world.apply(Derive(world.version(told.item, *cited)))
                world.apply(Append(world.event(now.items[now.events[event]["item_id"]])))
                world.apply(Derive(world.shorter(now.versions[chance.choice(list(now.versions))])))

    def take_back() -> None:
        chance = random.Random(0)
        while not done.is_set():
            last = world.store.head(world.tenant).seq
            target = OneEntry(Seq(chance.randint(max(1, last - 12), last)))
            with suppress(Refused, NotFound, StoreBusy):
                roll_back(world, target, cascade=chance.random() < 0.8)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    roller = threading.Thread(target=take_back)
    for thread in (roller, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    roller.join()
    assert world.is_whole()
    assert list(loose_ends(snapshot(world.store, world.tenant))) == []
    hidden = {row["id"] for row in world.store.dump(world.tenant) if row["table"] == "items" and row["withdrawn"]}
    for row in world.store.dump(world.tenant):
        if row["table"] in ("events", "versions") and not row["withdrawn"]:
            assert row["item_id"] not in hidden
    assert any(entry.header.undoes for entry in world.journal())
