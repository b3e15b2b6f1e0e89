"""The kinds of jobs there are. Each function is one step: gather, decide, and say what to write."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import cast

from recollect.care import judge as judging
from recollect.care import purge as purging
from recollect.care.erase import scrubbing
from recollect.custody import Deps
from recollect.domain.ids import EventId, ItemId, JobId
from recollect.domain.job import Advance, Finish, Leased
from recollect.domain.scope import Scope
from recollect.errors import StoreBusy
from recollect.jobs.kind import Erasure, Kind, Outcome, Write
from recollect.write import later
from recollect.write.extraction import Extraction
from recollect.write.later import Later

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
    decided, read = work.memories(episode, batch, deps.clock.now())
    return Write(
        scope=later.scope_of(leased.tenant, episode),
        step=Advance(leased, {"done": done + read}) if done + read < len(events) else Finish(leased),
        changes=decided.changes,
        expect=decided.expect,
        vectors=decided.vectors,
        then=decided.then,
    )


def judge(deps: Deps, leased: Leased) -> Outcome:
    """Compare a new memory with those very near to it, and put contradictions on record."""
    payload = leased.job.payload
    near = [ItemId(id) for id in cast(Sequence[str], payload["near"])]
    changes = judging.judge(deps.store, deps.writer, deps.clock, leased.tenant, ItemId(str(payload["item_id"])), near)
    return Write(scope=Scope(tenant=leased.tenant), step=Finish(leased), changes=changes)


def _later(deps: Deps, leased: Leased) -> Later:
    extraction = Extraction(deps.store, deps.clock, deps.embedder, deps.writer, deps.caps, leased.tenant)
    return Later(deps.store, deps.clock, deps.embedder, extraction)


KINDS: Mapping[str, Kind] = {
    "purge": Kind(purge, every=DAILY),
    # About four days: an erasure is not complete before it. After that a person should know what stands in the way.
    "scrub": Kind(scrub, attempts=100),
    "tidy": Kind(tidy, every=DAILY),
    "embed": Kind(embed),
    "extract": Kind(extract),
    "judge": Kind(judge),
}
