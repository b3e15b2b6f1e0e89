"""The kinds of jobs there are. Each function is one step: gather, decide, and say what to write."""

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import cast

from recollect.care import epoch as epochs
from recollect.care import judge as judging
from recollect.care import purge as purging
from recollect.care import rejudge as rejudging
from recollect.care import retire as retiring
from recollect.care import transfer
from recollect.care.compress import Hammer, closing
from recollect.care.erase import scrubbing
from recollect.care.ladder import Headway
from recollect.custody import Deps
from recollect.domain import codec
from recollect.domain.change import Note
from recollect.domain.ids import EventId, ItemId, JobId, RecordId
from recollect.domain.job import Advance, Finish, Job, Leased
from recollect.domain.level import Level
from recollect.domain.scope import EVERYBODY, Actor, Role, Scope, Sight
from recollect.errors import Invalid, StoreBusy
from recollect.jobs.kind import Erasure, Kind, Outcome, Write
from recollect.jobs.remake import remake
from recollect.policy import hammer
from recollect.policy.hammer import Refused, Why
from recollect.write import later
from recollect.write.extraction import Extraction
from recollect.write.later import Later

log = logging.getLogger("recollect.jobs")

HOURLY = timedelta(hours=1)
DAILY = timedelta(days=1)
KEPT = timedelta(days=30)
"""For how long a repeat of a write is recognised, and a finished job can be looked at."""


def purge(deps: Deps, leased: Leased) -> Outcome:
    """Erase a batch of what was deleted long enough ago, where the tenant chose that; the next step goes on behind
    it. What is skipped is looked at again tomorrow."""
    scope = Scope(tenant=leased.tenant)
    before = leased.state.get("before")
    now = deps.clock.now()
    if not purging.chosen(deps.store, leased.tenant):
        return Write(scope=scope, step=Finish(leased))
    batch = purging.next_batch(deps.store, leased.tenant, now, before=ItemId(str(before)) if before else None)
    if batch is None:
        return Write(scope=scope, step=Finish(leased))
    onward = Advance(leased, {"before": batch.last})
    if not batch.wipe.items:
        return Write(scope=scope, step=onward)
    return Erasure(
        scope=scope,
        step=onward,
        wipe=batch.wipe,
        expect=batch.revs,
        reason="purged: deleted, and kept for as long as was promised",
        then=[scrubbing(JobId(deps.clock.mint()), now)],
    )


def scrub(deps: Deps, leased: Leased) -> Outcome:
    """Remove what the engine's logs still hold of erased content."""
    if not deps.store.scrub():
        raise StoreBusy("others are reading what has to be scrubbed", "It is tried again by itself.")
    return Write(scope=Scope(tenant=leased.tenant), step=Finish(leased))


def erase_again(deps: Deps, leased: Leased) -> Outcome:
    """Erase from a tenant that was brought back what had been erased since its copy was made."""
    by = Actor(id=f"job:{leased.job.kind}", role=Role.ADMIN)
    transfer.erase_again(deps.store, deps.erasures, leased.tenant, actor=by, at=deps.clock.now())
    return Write(scope=Scope(tenant=leased.tenant), step=Finish(leased))


def tidy(deps: Deps, leased: Leased) -> Outcome:
    """Forget receipts and finished jobs that nobody will ask for any more."""
    deps.store.tidy(leased.tenant, before=deps.clock.now() - KEPT)
    return Write(scope=Scope(tenant=leased.tenant), step=Finish(leased))


def embed(deps: Deps, leased: Leased) -> Outcome:
    """Make vectors of a batch of messages that have none yet; the next step takes the next batch."""
    episode_id = ItemId(str(leased.job.payload["episode_id"]))
    vectors = _later(deps, leased).vectors(leased.tenant, episode_id)
    step = Advance(leased, {}) if vectors else Finish(leased)
    return Write(scope=Scope(tenant=leased.tenant), step=step, vectors=vectors)


def extract(deps: Deps, leased: Leased) -> Outcome:
    """Make memories of a batch of messages; the next step takes the next batch."""
    events = [EventId(id) for id in cast(Sequence[str], leased.job.payload["events"])]
    done = int(str(leased.state.get("done", 0)))
    batch = events[done : done + later.READ]
    work = _later(deps, leased)
    episode = work.episode(leased.tenant, ItemId(str(leased.job.payload["episode_id"])))
    if not batch or episode is None:
        return Write(scope=Scope(tenant=leased.tenant), step=Finish(leased))
    made = work.memories(episode, batch, deps.clock.now(), capped=bool(leased.job.payload.get("capped", True)))
    if made.skipped:
        deps.store.observe(leased.tenant, made.skipped)
    decided, read = made.decided, len(batch)
    return Write(
        scope=later.scope_of(leased.tenant, episode),
        step=Advance(leased, {"done": done + read}) if done + read < len(events) else Finish(leased),
        changes=decided.changes,
        expect=decided.expect,
        vectors=decided.vectors,
        then=decided.then,
        private=made.private,
    )


def judge(deps: Deps, leased: Leased) -> Outcome:
    """Compare a new memory with those near to it: end what no longer holds, put contradictions on record."""
    payload = leased.job.payload
    near = [ItemId(id) for id in cast(Sequence[str], payload["near"])]
    bench = judging.Bench(deps.store, deps.clock, deps.judge, deps.writer, deps.embedder)
    told = judging.judge(bench, leased.tenant, ItemId(str(payload["item_id"])), near)
    return Write(scope=Scope(tenant=leased.tenant), step=Finish(leased), changes=told.changes, expect=told.expect)


def rejudge(deps: Deps, leased: Leased) -> Outcome:
    """Judge some of the contradictions on record anew; the next step goes on behind them. All has one cause."""
    scope, now, state = Scope(tenant=leased.tenant), deps.clock.now(), leased.state
    if not state:
        total = rejudging.survey(deps.store, leased.tenant)
        counted = total.contradictions + total.left_alone
        return Write(scope=scope, step=Advance(leased, {"until": now.isoformat(), "done": 0, "total": counted}))
    after = RecordId(str(state["after"])) if state.get("after") else None
    bench = judging.Bench(deps.store, deps.clock, deps.judge, deps.writer, deps.embedder)
    batch = rejudging.next_batch(bench, leased.tenant, after, datetime.fromisoformat(str(state["until"])))
    if batch is None:
        return Write(scope=scope, step=Finish(leased))
    onward = {**state, "after": batch.last, "done": int(str(state["done"])) + batch.looked_at}
    # The next step waits its turn: a run may take long, and people talk meanwhile.
    return Write(scope=scope, step=Advance(leased, onward, now), changes=batch.changes, expect=batch.expect)


def close(deps: Deps, leased: Leased) -> Outcome:
    """Sum up an episode whose thread has come to rest, a long one stretch by stretch. One that was written to since is
    looked at again when it may have; one that is locked, when it is not. Somebody may have asked for it at once."""
    scope, asked_for = Scope(tenant=leased.tenant), bool(leased.job.payload.get("now"))
    held = deps.store.item(leased.tenant, ItemId(str(leased.job.payload["episode_id"])))
    if held is None or held.withdrawn:
        return Write(scope=scope, step=Finish(leased))
    last = deps.store.latest(leased.tenant, held.item.id, 1)
    now = deps.clock.now()
    refused = hammer.may_compress(held.item, Level.R3, now)
    locked = [refused.until] if isinstance(refused, Refused) and refused.until else []
    waits = max([*locked, *(hammer.silent_from(event, deps.upkeep) for event in last)], default=now)
    if waits > now and not leased.state and not asked_for:
        return Write(scope=scope, step=Finish(leased), then=[_again(deps, leased.job, waits)])
    so_far = codec.decode(Headway, leased.state) if leased.state else None
    decision = _hammer(deps, leased).anvil.decide(held, Why.CLOSED, so_far)
    # The next stretch waits its turn: a long thread may take long, and people talk meanwhile.
    onward = Advance(leased, codec.encode(decision.onward), now) if decision.onward else Finish(leased)
    return Write(
        scope=scope,
        step=onward,
        changes=decision.changes,
        expect=decision.expect,
        vectors=decision.vectors,
    )


def compress(deps: Deps, leased: Leased) -> Outcome:
    """Strike a batch of the memories that need it; the next step takes the next. Then those of one topic are merged.
    Everybody's memories come first, then one silo after the other: what is in a silo stays in it."""
    state = leased.state
    merging, silo = bool(state.get("merging")), str(state.get("silo", ""))
    before = ItemId(str(state["before"])) if state.get("before") else None
    work = _hammer(deps, leased)
    sight = Sight(users=frozenset(), projects=frozenset(), silo=silo, readers=None) if silo else EVERYBODY
    batch = work.merges(sight, before) if merging else work.strikes(sight, before)
    onward: Mapping[str, object] | None = {"merging": merging, "silo": silo, "before": batch.last}
    if batch.last is None:
        further = [other for other in deps.store.silos(leased.tenant) if other > silo]
        onward = {"merging": merging, "silo": further[0]} if further else None if merging else {"merging": True}
    return Write(
        scope=Scope(tenant=leased.tenant),
        step=Advance(leased, onward) if onward is not None else Finish(leased),
        changes=batch.changes,
        expect=batch.expect,
        vectors=batch.vectors,
        then=[closing(JobId(deps.clock.mint()), item_id, deps.clock.now()) for item_id in batch.long],
    )


def retire(deps: Deps, leased: Leased) -> Outcome:
    """Move a batch of memories that nobody asks for out of default retrieval; the next step goes on behind it."""
    before = leased.state.get("before")
    batch = retiring.retire(
        deps.store, leased.tenant, deps.clock.now(), deps.upkeep, ItemId(str(before)) if before else None
    )
    scope = Scope(tenant=leased.tenant)
    if batch is None:
        return Write(scope=scope, step=Finish(leased))
    onward = Advance(leased, {"before": batch.last})
    return Write(scope=scope, step=onward, changes=batch.changes, expect=batch.expect)


def follow(deps: Deps, leased: Leased) -> Outcome:
    """Projects move on with their repositories. One that cannot be read holds up none of the others."""
    notes: list[Note] = []
    for project_id, found in epochs.follow_all(deps.store, leased.tenant, deps.repositories, deps.clock.now()):
        if isinstance(found, Invalid):
            log.warning("the repository of project %s cannot be followed: %s", project_id, found)
        else:
            notes.append(found)
    then = [epochs.moved_on(JobId(deps.clock.mint()), note, deps.clock.now()) for note in notes]
    return Write(
        scope=Scope(tenant=leased.tenant), step=Finish(leased), changes=notes, then=[job for job in then if job]
    )


def _again(deps: Deps, job: Job, at: datetime) -> Job:
    """The same job at a later time."""
    return Job(id=JobId(deps.clock.mint()), kind=job.kind, key=job.key, payload=job.payload, not_before=at)


def _hammer(deps: Deps, leased: Leased) -> Hammer:
    return Hammer(deps.store, deps.clock, deps.embedder, deps.writer, deps.upkeep, leased.tenant, deps.keeper)


def _later(deps: Deps, leased: Leased) -> Later:
    extraction = Extraction(deps.store, deps.clock, deps.writer, deps.caps, leased.tenant, deps.keeper)
    return Later(deps.store, deps.clock, deps.embedder, extraction, deps.judge, deps.categories)


KINDS: Mapping[str, Kind] = {
    "purge": Kind(purge, every=DAILY),
    # About four days: an erasure is not complete before it. After that a person should know what stands in the way.
    "scrub": Kind(scrub, attempts=100),
    "erase_again": Kind(erase_again, attempts=100),
    "tidy": Kind(tidy, every=DAILY),
    "embed": Kind(embed),
    "extract": Kind(extract),
    "judge": Kind(judge),
    "close": Kind(close),
    "compress": Kind(compress, every=HOURLY),
    "retire": Kind(retire, every=DAILY),
    "moved_on": Kind(retire),
    "follow": Kind(follow, every=HOURLY),
    "remake": Kind(remake),
    "rejudge": Kind(rejudge),
}
