"""A memory is promoted and locked, falls idle while its project moves on, or expires."""

from datetime import timedelta

import pytest

from recollect import Memory, Message
from recollect.care import promote as promotion
from recollect.care.cover import Cover
from recollect.domain.change import Create, Derive, Discard, Link, Protect, operation
from recollect.domain.event import Trust
from recollect.domain.ids import short
from recollect.domain.item import Active, Archived, Expired, Fact, Item, LockReason
from recollect.domain.level import Level
from recollect.domain.observation import Use
from recollect.errors import NotFound, Refused, Stale
from tests.flows import lives
from tests.flows.lives import HOUR, PROJECT, advance, item, promote, rev, sweep, taken_back, use
from tests.jobs.crew import Hands
from tests.worlds import MIRA, World

clock, memory = lives.clock, lives.memory

# -- promoting, locking, pinning --------------------------------------------------------------------------


def test_a_promoted_version_is_locked_and_the_way_back_restores_the_memory(world: World, memory: Memory):
    told = world.tell("Ana drinks tea.")
    hint = world.shorter(told.version)
    world.apply(Derive(hint))
    before, at = world.state(), rev(world)
    promote(world, told, hint.id)
    now = item(world, told.item.id)
    assert (now.active_version_id, now.default_level) == (hint.id, Level.R2)
    assert now.lock is not None
    assert now.lock.reason is LockReason.AUDIT
    assert taken_back(world, memory, at) == before


def test_a_version_that_is_not_there_is_not_promoted(world: World, memory: Memory):
    told, other = world.tell("Ana drinks tea."), world.tell("Ben drinks milk.")
    hint = world.shorter(told.version)
    world.apply(Derive(hint))
    world.apply(Discard(hint))
    with pytest.raises(Refused, match="withdrawn by a rollback"):
        promote(world, told, hint.id)
    with pytest.raises(NotFound, match="no version"):
        promote(world, told, other.version.id)


def test_a_promotion_that_was_decided_on_an_old_reading_is_stale(world: World, memory: Memory):
    told = world.tell("Ana drinks tea.")
    held, now = world.held(told.item), world.clock.now()
    change = promotion.promote(world.store, world.tenant, held, told.version.id, now, HOUR, LockReason.AUDIT)
    assert change is not None
    memory.pin(told.item.id)
    with pytest.raises(Stale):
        world.apply(change, expect={held.item.id: held.rev})


def test_a_lock_holds_for_as_long_as_somebody_reads(world: World, memory: Memory, clock: Hands):
    told = world.tell("Ana drinks tea.")
    promote(world, told, told.version.id)
    entries = len(world.journal())

    def read() -> None:
        seen = [world.held(told.item)]
        promotion.read(world.store, world.scope, seen, clock.now(), HOUR, MIRA)

    for _ in range(20):
        read()
    assert len(world.journal()) == entries, "reading at once gains nothing"
    for _ in range(6):
        clock.forward(minutes=50)
        read()
    lock = item(world, told.item.id).lock
    assert lock is not None
    assert timedelta(minutes=59) < lock.until - clock.at <= HOUR
    assert len(world.journal()) == entries + 6
    assert operation(world.journal()[-1].change) == "lock"  # type: ignore[arg-type]
    clock.forward(minutes=61)
    read()
    assert item(world, told.item.id).lock == lock, "a lock that has run out stays so"


def test_a_reading_does_not_fail_where_somebody_else_changes_the_memory(world: World, memory: Memory, clock: Hands):
    told = world.tell("Ana drinks tea.")
    promote(world, told, told.version.id)
    clock.forward(minutes=30)
    seen = [world.held(told.item)]
    memory.pin(told.item.id)
    assert promotion.read(world.store, world.scope, seen, clock.now(), HOUR, MIRA) is None


def test_a_pin_and_its_end_can_be_taken_back(world: World, memory: Memory):
    told = world.tell("Ana drinks tea.", default_level=Level.R2)
    before, at = world.state(), rev(world)
    memory.pin(told.item.id)
    assert item(world, told.item.id).default_level is Level.R3
    pinned, pinned_at = world.state(), rev(world)
    memory.unpin(told.item.id)
    assert not item(world, told.item.id).pinned
    assert taken_back(world, memory, pinned_at) == pinned
    assert taken_back(world, memory, at) == before


# -- archived, and expired --------------------------------------------------------------------------------


def test_a_memory_is_archived_only_when_it_is_idle_and_the_project_has_moved_on(
    world: World, memory: Memory, clock: Hands
):
    told = world.tell("Atlas speaks REST.", **PROJECT)
    clock.forward(days=31)
    assert sweep(world) == 0, "idle alone hides nothing"
    advance(world)
    use(world, told)
    assert sweep(world) == 1, "its thread, not the memory that was used just now"
    assert item(world, told.item.id).state == Active()
    clock.forward(days=29)
    assert sweep(world) == 0
    clock.forward(days=2)
    before, at = world.state(), rev(world)
    assert sweep(world) == 1
    state = item(world, told.item.id).state
    assert isinstance(state, Archived)
    assert state.reason == "nobody asked for it for 31 days, and the project atlas has moved on from epoch 0 to 1"
    assert taken_back(world, memory, at) == before


def test_a_memory_made_since_the_project_moved_on_is_not_archived(world: World, memory: Memory, clock: Hands):
    advance(world)
    kept = memory.remember("Atlas speaks REST.", project_id="atlas")
    clock.forward(days=400)
    assert sweep(world) == 0
    advance(world)
    assert sweep(world) == 2
    assert isinstance(item(world, kept.item_id).state, Archived)


def test_what_a_person_brings_back_is_not_archived_again_the_next_night(world: World, memory: Memory, clock: Hands):
    told = world.tell("Atlas speaks REST.", **PROJECT)
    advance(world)
    clock.forward(days=31)
    sweep(world)
    memory.restore(told.item.id)
    clock.forward(days=1)
    assert sweep(world) == 0
    assert item(world, told.item.id).state == Active()


def test_a_thread_that_goes_on_is_not_archived(world: World, memory: Memory, clock: Hands):
    world.say("Good morning.", **PROJECT)
    advance(world)
    clock.forward(days=31)
    world.say("Good morning again.", **PROJECT)
    assert sweep(world) == 0


def test_a_thread_that_was_archived_is_back_when_it_goes_on(world: World, memory: Memory, clock: Hands):
    said = [Message(text="Good morning.", author="Mira", role="user")]
    ruled = memory.append(said, thread_id="gate", project_id="atlas")
    chosen = memory.append(said, thread_id="wall", project_id="atlas")
    memory.archive(chosen.episode_id, "done")
    clock.forward(days=31)
    advance(world)
    assert sweep(world) == 1
    before, at = world.state(), rev(world)
    for thread in ("gate", "wall"):
        memory.append(said, thread_id=thread, project_id="atlas")
    back = item(world, ruled.episode_id)
    assert (back.state, back.project_epoch) == (Active(), 1)
    assert isinstance(item(world, chosen.episode_id).state, Archived), "a person has archived it"
    memory.append(said, thread_id="gate", project_id="atlas")
    assert taken_back(world, memory, at) == before


@pytest.mark.parametrize("size", [1, 100])
def test_what_was_never_used_expires_where_another_memory_covers_it(
    world: World, memory: Memory, clock: Hands, size: int
):
    """Two that say the same of the same evidence, and one that stands alone."""
    told, alone = world.tell("Ana drinks green tea."), world.tell("Ben drinks milk.")
    fuller = world.item(Fact(value="tea"))
    words = world.version(fuller, told.event, content="Ana drinks green tea in the morning.")
    world.apply(Create(fuller), Derive(words))
    clock.forward(days=91)
    before, at = world.state(), rev(world)
    assert sweep(world, size=size) == 1
    state = item(world, told.item.id).state
    assert isinstance(state, Expired)
    assert state.reason == f"never used in 91 days, and {short(fuller.id)} says the same"
    assert {type(item(world, one).state) for one in (alone.item.id, fuller.id)} == {Active}
    assert taken_back(world, memory, at) == before


@pytest.mark.parametrize("size", [1, 100])
def test_of_two_that_cover_each_other_one_stays(world: World, memory: Memory, clock: Hands, size: int):
    told = world.tell("Ana drinks green tea.")
    twin = world.item(Fact(value="tea"))
    world.apply(Create(twin), Derive(world.version(twin, told.event, content="Ana drinks green tea.")))
    clock.forward(days=91)
    assert sweep(world, size=size) == 1
    clock.forward(days=91)
    assert sweep(world, size=size) == 0


def test_what_is_archived_the_same_night_covers_nothing(world: World, memory: Memory, clock: Hands):
    """The cover is older than the one memory and younger than the other: it is looked at in between."""
    first = world.tell("Atlas speaks REST.", **PROJECT)
    cover = world.item(Fact(value="x"), **PROJECT)
    second = world.item(Fact(value="y"), **PROJECT)
    for made, content in ((cover, "Atlas speaks REST on port 8443."), (second, "Port 8443.")):
        world.apply(Create(made), Derive(world.version(made, first.event, content=content)))
    advance(world)
    clock.forward(days=91)
    assert sweep(world) == 4, "with the thread"
    assert all(isinstance(item(world, one).state, Archived) for one in (first.item.id, cover.id, second.id))


def test_what_was_used_or_hardly_old_or_pinned_does_not_expire(world: World, memory: Memory, clock: Hands):
    used, cited, ignored, pinned = (world.tell(f"Nobody minds {n}.", importance=1) for n in ("a", "b", "c", "d"))
    use(world, used)
    use(world, cited, Use.CITED)
    use(world, ignored, Use.IGNORED)
    memory.pin(pinned.item.id)
    clock.forward(days=91)
    young = world.tell("Nobody minds e.", importance=1)
    assert sweep(world) == 1
    assert isinstance(item(world, ignored.item.id).state, Expired)
    assert all(item(world, told.item.id).state == Active() for told in (used, cited, pinned, young))


def test_what_is_locked_or_constitutional_is_hidden_by_no_rule(world: World, memory: Memory, clock: Hands):
    locked, constitutional = world.tell("Nobody minds a.", importance=1), world.tell("Nobody minds b.", importance=1)
    world.apply(Protect(constitutional.item.id, False, True))
    clock.forward(days=91)
    promote(world, locked, locked.version.id)
    assert sweep(world) == 0
    clock.forward(days=91)
    assert sweep(world) == 1, "the lock has run out"


def test_only_what_surely_says_the_same_covers_a_memory(world: World, memory: Memory):
    told = world.tell("Ana drinks 3.5 cups of tea.")
    cover = Cover(world.store, world.tenant)

    def beside(content: str, **fields: object) -> Item:
        other = world.item(Fact(value="x"), **fields)
        world.apply(Create(other), Derive(world.version(other, told.event, content=content)))
        return other

    beside("Ana drinks 4.5 cups of tea.")
    beside("Ana drinks 3 or 5 cups of tea.")
    beside("Ana drinks 3.5 cups of tea.", importance=1)
    beside("Ana drinks tea.")
    beside("Ana never drinks 3.5 cups of tea.")
    beside("Ana drinks 3.5 cups of tea.", user_id="ben")
    beside("Ana drinks 3.5 cups of tea.", state=Archived(world.clock.now()))
    beside("Ana drinks 3.5 cups of tea.", default_level=Level.R2)
    beside("Ana drinks 3.5 cups of tea.", trust=Trust.UNTRUSTED)
    beside("Ana drinks 3.5 cups of tea.", private=True)
    beside("Ana drinks 3.5 cups of tea.", category="relationship_dynamic")
    near, far = world.tell("Ana drinks 3.5 cups of tea."), world.tell("Tea for Ana.")
    world.apply(Link(world.relation(told.item, near.item, strength=0.99)))
    world.apply(Link(world.relation(told.item, far.item, relation_type="duplicate", strength=0.9)))
    assert cover.of(told.item) is None
    same = world.tell("Ana likes her three cups.")
    world.apply(Link(world.relation(same.item, told.item, relation_type="duplicate", strength=0.92)))
    found = cover.of(told.item)
    assert found is not None
    assert found.item.id == same.item.id
    assert cover.of(told.item, lambda held: held.item.id != same.item.id) is None
