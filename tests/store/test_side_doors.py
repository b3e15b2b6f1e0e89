"""What is kept beside memory: uses, operations, checkpoints."""

import hashlib
from base64 import b64decode
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from recollect.domain import codec
from recollect.domain.change import Erase
from recollect.domain.ids import ItemId, RecordId, Rev, Seq
from recollect.domain.observation import Cursor, Told, Usage, Use, Used
from tests.worlds import MIRA, ROBIN, World

# -- observations -------------------------------------------------------------------------------------------


def test_uses_of_a_memory_add_up(world: World):
    one, two = world.keep(), world.keep()
    times = [world.clock.now() for _ in range(4)]
    world.store.observe(
        world.tenant,
        [
            Used(two.id, Use.RETRIEVED, times[0]),
            Used(one.id, Use.RETRIEVED, times[0]),
            Used(one.id, Use.RETRIEVED, times[1]),
            Used(one.id, Use.CITED, times[2]),
        ],
    )
    world.store.observe(world.tenant, [Used(one.id, Use.IGNORED, times[3]), Used(two.id, Use.RETRIEVED, times[3])])
    assert world.store.usage(world.tenant, [one.id, two.id]) == {
        one.id: Usage(2, 1, 1, times[1]),
        two.id: Usage(2, 0, 0, times[3]),
    }


def test_a_memory_that_nobody_used_has_no_usage(world: World):
    assert world.store.usage(world.tenant, [world.keep().id]) == {}
    assert world.store.usage(world.tenant, []) == {}


def test_a_use_of_a_memory_that_is_gone_is_passed_over(world: World):
    here, gone = world.keep(), world.keep()
    world.apply(Erase((gone.id,), (), (), (), "asked for"))
    at = world.clock.now()
    world.store.observe(world.tenant, [Used(gone.id, Use.CITED, at), Used(here.id, Use.CITED, at)])
    assert world.store.usage(world.tenant, [here.id, gone.id, ItemId("x")]) == {here.id: Usage(0, 1, 0, None)}


def test_observing_moves_neither_journal_nor_revision(world: World):
    item = world.keep()
    head, held = world.store.head(world.tenant), world.held(item)
    world.store.observe(world.tenant, [Used(item.id, Use.RETRIEVED, world.clock.now()), world.operation()])
    world.store.observe(world.tenant, [])
    assert world.store.head(world.tenant) == head
    assert world.held(item) == held


def test_no_use_is_lost_when_many_observe_at_once(world: World):
    items = [world.keep() for _ in range(5)]

    def use(number: int) -> None:
        chosen = items if number % 2 else items[::-1]
        at = world.clock.now()
        world.store.observe(world.tenant, [Used(item.id, Use.RETRIEVED, at) for item in chosen])

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(use, range(40)))
    assert {u.retrieved for u in world.store.usage(world.tenant, [i.id for i in items]).values()} == {40}


def test_operations_are_listed_latest_first_and_counted(world: World):
    merge = world.operation(op="merge", memory_id=ItemId("m"), category="drinks", sim=0.875)
    skip = world.operation(op="skip", user_id=None, thread_id=None)
    failed = world.operation("forgetter", "archive", "failed")
    again = world.operation(op="merge")
    world.store.observe(world.tenant, [merge, skip])
    world.store.observe(world.tenant, [again, failed])
    listed = sorted([merge, skip, failed, again], key=lambda o: o.ts, reverse=True)
    assert world.store.operations(world.tenant) == listed
    assert world.store.operations(world.tenant, limit=2) == listed[:2]
    assert world.store.counts(world.tenant) == {
        ("curator", "merge", "done"): 2,
        ("curator", "skip", "done"): 1,
        ("forgetter", "archive", "failed"): 1,
    }


def test_a_cursor_is_of_one_reader_in_one_thread_and_only_moves_on(world: World):
    store, tenant = world.store, world.tenant
    assert store.cursor(tenant, "robin", "kitchen") is None
    store.observe(tenant, [Told("robin", "kitchen", Cursor(Rev(4), Seq(7), 2))])
    assert store.cursor(tenant, "robin", "kitchen") == Cursor(Rev(4), Seq(7), 2)
    assert store.cursor(tenant, "otto", "kitchen") is store.cursor(tenant, "robin", "hall") is None
    store.observe(
        tenant, [Told("robin", "kitchen", Cursor(Rev(6), Seq(9), 3)), Told("otto", "hall", Cursor(Rev(1), Seq(1)))]
    )
    store.observe(tenant, [Told("robin", "kitchen", Cursor(Rev(5), Seq(8), 2))])
    assert store.cursor(tenant, "robin", "kitchen") == Cursor(Rev(6), Seq(9), 3)
    assert store.cursor(tenant, "otto", "hall") == Cursor(Rev(1), Seq(1), 0)


def test_moving_a_cursor_is_not_journalled_and_moves_with_an_export(world: World, found: Callable[[], World]):
    world.keep()
    head = world.store.head(world.tenant)
    world.store.observe(world.tenant, [Told("robin", "kitchen", Cursor(head.rev, head.seq, 1))])
    assert world.store.head(world.tenant) == head
    other = found()
    world.store.load(other.tenant, list(world.store.dump(world.tenant)))
    assert other.store.cursor(other.tenant, "robin", "kitchen") == Cursor(head.rev, head.seq, 1)


# -- checkpoints --------------------------------------------------------------------------------------------


def test_a_checkpoint_comes_back_as_it_was_given(world: World):
    kept = world.checkpoint({"step": 3, "plan": ["brew", {"deep": None}], "é": "茶"})
    world.store.save_checkpoint(world.scope, kept, actor=MIRA)
    assert world.store.checkpoint(world.tenant, "ana", "kitchen") == kept
    assert world.store.checkpoint(world.tenant, "ana", "cellar") is None
    assert world.store.checkpoint(world.tenant, "ben", "kitchen") is None


def test_a_user_has_one_checkpoint_per_thread_and_the_last_one_counts(world: World):
    first, second = world.checkpoint({"step": 1}), world.checkpoint({"step": 2})
    others = [world.checkpoint({"step": 9}, thread="cellar"), world.checkpoint({"step": 8}, user="ben")]
    for checkpoint in (first, *others, second):
        world.store.save_checkpoint(world.scope, checkpoint, actor=MIRA)
    kept = world.store.checkpoint(world.tenant, "ana", "kitchen")
    assert kept == replace(second, id=first.id, created_at=first.created_at)
    assert world.store.checkpoint(world.tenant, "ana", "cellar") == others[0]
    assert world.store.checkpoint(world.tenant, "ben", "kitchen") == others[1]


def test_the_journal_has_a_checkpoints_digest_and_not_its_content(world: World):
    kept = world.checkpoint({"secret": "quixotic"})
    world.tell()
    world.store.save_checkpoint(replace(world.scope, project_id="house", user_id="eve"), kept, actor=ROBIN)
    entry = world.journal()[-1]
    header = entry.header
    assert (header.op, header.user_id, header.thread_id, header.project_id) == ("checkpoint", "ana", "kitchen", "house")
    assert (header.actor, header.at, header.item_id) == ("robin", kept.updated_at, None)
    assert (header.rev, header.thread_rev) == (world.store.head(world.tenant).rev, 1)
    assert entry.body is None
    [row] = [row for row in world.store.dump(world.tenant) if row["table"] == "supervisor_checkpoints"]
    salted = b64decode(str(row["nonce"])) + codec.canonical(kept.checkpoint_data).encode()
    assert header.body_hash == hashlib.sha256(salted).hexdigest()
    assert world.is_whole()


def test_the_journal_is_whole_over_checkpoints_and_their_erasure(world: World):
    first = world.checkpoint({"step": 1})
    for step in range(3):
        world.store.save_checkpoint(world.scope, replace(first, checkpoint_data={"step": step}), actor=MIRA)
    world.apply(Erase((), (), (), (first.id,), "asked for"))
    assert world.store.checkpoint(world.tenant, "ana", "kitchen") is None
    assert [t.ref for t in world.store.tombstones(world.tenant)] == [f"checkpoint:{first.id}"]
    assert world.is_whole()


def test_checkpoints_of_two_tenants_do_not_meet(found: Callable[[], World]):
    one, two = found(), found()
    kept = one.checkpoint({"step": 1})
    one.store.save_checkpoint(one.scope, kept, actor=MIRA)
    two.store.save_checkpoint(two.scope, replace(kept, checkpoint_data={"step": 2}), actor=MIRA)
    assert one.store.checkpoint(one.tenant, "ana", "kitchen").checkpoint_data == {"step": 1}
    assert two.store.kept_for(two.tenant, "ana").checkpoints == {RecordId(kept.id)}
