"""The life of a memory: promoted and locked, pinned, out of sight when its time is over, and back again.

Each function decides about one memory at one moment. A lock keeps a version from being compressed while somebody works
with it; a pin keeps a memory at R3 or above, and in sight. What a rule hides, it hides step by step: archived, then
expired, never the other way round.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from recollect.domain.change import Revise, Verb, move, revise
from recollect.domain.event import Trust
from recollect.domain.ids import ItemId, RecordId, short
from recollect.domain.item import Active, Archived, Body, Episode, Expired, Fact, Item, Lock, LockReason, SoftDeleted
from recollect.domain.level import Level
from recollect.domain.observation import Usage
from recollect.domain.version import Version
from recollect.errors import Invalid, Refused
from recollect.policy.calendar import day_of
from recollect.policy.upkeep import LEAST_LOCK, LONGEST_LOCK, Upkeep

FLOOR = Level.R3
"""Below this no pinned memory is served."""
GAIN = timedelta(minutes=5)
"""A reading that would extend a lock by less leaves it alone, so that reading does not fill the journal."""
FORGETTABLE = 1
"""Importance at which a memory may expire although no other one covers it."""
_UNUSED = Usage()
_IDLE, _NEVER_USED = "nobody asked for it for", "never used in"
"""How the reasons begin that a rule gives, and no person is likely to."""
_SUPERSEDES = re.compile(r"decision/supersedes(?::(?P<name>.*))?", re.IGNORECASE)


# -- promoting and locking ----------------------------------------------------------------------------------


def locked(item: Item, now: datetime) -> bool:
    """Whether somebody works with the promoted version at the moment."""
    return item.lock is not None and item.lock.until > now


def promoted(
    item: Item, version: Version, now: datetime, lock: timedelta, reason: LockReason, *, withdrawn: bool = False
) -> Revise | None:
    """A version speaks for its memory from now on, and is locked. Promoting again extends the lock; None where that
    gains nothing."""
    _may_change(item, "promote a version of it")
    _in_range(lock)
    if version.item_id != item.id:
        raise Invalid(
            f"version {version.id} belongs to memory {version.item_id}, not to {item.id}",
            f"List its own with: recollect levels {item.id}",
        )
    if withdrawn:
        raise Refused(f"version {version.id} was withdrawn by a rollback", "Undo that rollback to bring it back.")
    if item.pinned_min_level is not None and version.level < item.pinned_min_level:
        raise Refused(
            f"memory {item.id} is pinned at {item.pinned_min_level.name}, the version is {version.level.name}",
            "Unpin it first, or promote a longer version.",
        )
    until = now + lock
    if item.lock is not None:
        until = min(max(until, item.lock.until), now + LONGEST_LOCK)
    after = replace(item, active_version_id=version.id, default_level=version.level, lock=Lock(until, reason))
    return revise(item, after, now, Verb.PROMOTE) if after != item else None


def extended(item: Item, now: datetime, lock: timedelta) -> Revise | None:
    """A locked memory is read: its lock holds for the full time again. None where it is not locked, or where that
    gains too little to be written down."""
    _in_range(lock)
    if item.lock is None or not locked(item, now) or item.constitutional:
        return None
    until = now + lock
    if until - item.lock.until < GAIN:
        return None
    return revise(item, replace(item, lock=replace(item.lock, until=until)), now, Verb.LOCK)


def unlocked(item: Item, now: datetime) -> Revise | None:
    """The lock is taken off; the version stays the one that speaks. None where there is no lock."""
    _may_change(item, "unlock it")
    return revise(item, replace(item, lock=None), now, Verb.LOCK) if item.lock else None


def pinned(item: Item, now: datetime) -> Revise | None:
    """Never below R3 from now on, and in sight whatever the rules say. None where it is so already."""
    _may_change(item, "pin it")
    floor = max(item.pinned_min_level or FLOOR, FLOOR)
    after = replace(item, pinned_min_level=floor, default_level=max(item.default_level, floor))
    return revise(item, after, now, Verb.PIN) if after != item else None


def unpinned(item: Item, now: datetime) -> Revise | None:
    """The pin is taken off; the level stays. None where there is no pin."""
    _may_change(item, "unpin it")
    return revise(item, replace(item, pinned_min_level=None), now, Verb.UNPIN) if item.pinned else None


def restored(item: Item, epoch_now: int, now: datetime) -> Revise | None:
    """Back in sight, as a memory of the project as it is now: the rule that hid it does not hide it again at once.
    None where it is in sight."""
    _protected(item, "bring it back")
    if isinstance(item.state, Active):
        return None
    after = replace(item, state=Active(), project_epoch=max(item.project_epoch, epoch_now))
    return revise(item, after, now, Verb.RESTORE)


def revived(item: Item, epoch_now: int, now: datetime) -> Revise | None:
    """Something is said in a thread that a rule has hidden: it is in sight again. What a person has hidden stays so."""
    state = item.state
    ruled = isinstance(state, Archived | Expired) and state.reason.startswith((_IDLE, _NEVER_USED))
    return restored(item, epoch_now, now) if ruled and not item.constitutional else None


def _may_change(item: Item, what: str) -> None:
    _protected(item, what)
    if isinstance(item.state, SoftDeleted):
        raise Refused(f"memory {item.id} is deleted", f"Restore it first, then {what}.")


def _protected(item: Item, what: str) -> None:
    if item.constitutional:
        raise Refused(f"memory {item.id} is constitutional", f"An admin lifts that first, then {what}.")


def _in_range(lock: timedelta) -> None:
    if not LEAST_LOCK <= lock <= LONGEST_LOCK:
        raise Invalid(f"a lock of {_minutes(lock)} minutes", "Give a number of minutes from 30 to 120.")


def _minutes(lock: timedelta) -> str:
    return f"{lock.total_seconds() / 60:g}"


# -- idle rules ---------------------------------------------------------------------------------------------


def exempt(item: Item, now: datetime) -> bool:
    """Whether no rule hides it: pinned, constitutional, locked, or part of what an agent always has before it."""
    return item.pinned or item.constitutional or item.core or locked(item, now)


def archivable(
    item: Item, last_used: datetime | None, epoch_now: int, now: datetime, upkeep: Upkeep
) -> Archived | None:
    """Archived when nobody asked for it for long and its project has moved on since it was made."""
    if not isinstance(item.state, Active) or exempt(item, now):
        return None
    idle = now - max(last_used or item.created_at, item.created_at)
    if item.project_id is None or item.project_epoch >= epoch_now or idle < upkeep.archive_after:
        return None
    return Archived(
        now,
        f"{_IDLE} {idle.days} days, and the project {item.project_id} has moved on "
        f"from epoch {item.project_epoch} to {epoch_now}",
    )


def expirable(
    item: Item,
    usage: Usage | None,
    covered: str | None,
    now: datetime,
    upkeep: Upkeep,
    *,
    touched: datetime | None = None,
) -> Expired | None:
    """Expired when it was never of use in all that time and another memory covers it, or it hardly mattered.

    `covered`: the short id of that other memory. `touched`: when a person last changed it, or brought it back.
    """
    if not isinstance(item.state, Active | Archived) or exempt(item, now):
        return None
    used = usage or _UNUSED
    age = now - max(touched or item.created_at, item.created_at)
    if used.retrieved or used.cited or age < upkeep.expire_after:
        return None
    if covered is not None:
        return Expired(now, f"{_NEVER_USED} {age.days} days, and {covered} says the same")
    if item.importance <= FORGETTABLE:
        return Expired(now, f"{_NEVER_USED} {age.days} days, and of the least importance")
    return None


def hidden(item: Item, state: Archived | Expired, now: datetime) -> Revise:
    """The change that a rule makes."""
    return move(item, state, now)


# -- projects -----------------------------------------------------------------------------------------------


def epoch_id(project_id: str) -> RecordId:
    """The name of the record of how far a project has come."""
    return RecordId(f"epoch:{project_id}")


# -- decisions that take over -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Replacing:
    """A new memory takes over from others: from those that are named, by id or its ending; where none is, from what
    was decided about the same before."""

    named: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a memory that takes over is about, for whom, and since when it holds."""

    topic_key: str | None
    body: Body
    agent_id: str | None
    trust: Trust
    since: datetime


def replacing(tags: Iterable[str], supersedes: str | None = None) -> Replacing | None:
    """Whether a memory with these tags takes over from others: DECISION/SUPERSEDES, or DECISION/SUPERSEDES:<id>."""
    found = [match for tag in tags if (match := _SUPERSEDES.fullmatch(tag.strip()))]
    if not found and supersedes is None:
        return None
    names = [supersedes or "", *(match["name"] or "" for match in found)]
    return Replacing(tuple(dict.fromkeys(name.strip().lower() for name in names if name.strip())))


def decided(tags: Iterable[str]) -> bool:
    """Whether these are the tags of a decision: DECISION, or DECISION/…"""
    return any(tag.strip().casefold().partition("/")[0] == "decision" for tag in tags)


def gives_way(old: Item, new: Decision, now: datetime) -> bool:
    """Whether an earlier memory of the same owner gives way to a decision that does not name it: it was decided about
    the same topic, or is another value of the same key. What somebody pinned or works with does not. Where it is
    constitutional, the decision is refused."""
    began = old.valid_from or old.origin_at
    earlier = isinstance(old.state, Active) and old.agent_id == new.agent_id and began <= new.since
    if not earlier or _outranks(old, new) or not _about_the_same(old, new):
        return False
    if old.constitutional:
        raise _stands(old)
    return not old.pinned and not locked(old, now)


def named_gives_way(old: Item, new: Decision) -> None:
    """Pass, or an error, for a memory of the same owner that the decision names."""
    if old.constitutional:
        raise _stands(old)
    if isinstance(old.body, Episode):
        raise Refused(f"memory {old.id} is a thread: no decision supersedes it", "Archive it instead.")
    if _outranks(old, new):
        raise Refused(f"memory {old.id} is trusted, and what is to supersede it is not", "Have a person say it.")


def superseded(old: Item, by: ItemId, new: Decision, now: datetime) -> Revise:
    """The earlier memory is archived, and its time ends where the decision's begins. One that is hidden already stays
    as hidden as it is. The reason has nothing of the decision: not all who read the one may read the other, and it
    would outlive the other's erasure."""
    state = Archived(now, "superseded by a newer decision") if isinstance(old.state, Active) else old.state
    ends = max(new.since, old.valid_from or new.since)
    valid_to = min(ends, old.valid_to) if old.valid_to else ends
    return revise(old, replace(old, state=state, superseded_by=by, valid_to=valid_to), now, Verb.SUPERSEDE)


def _about_the_same(old: Item, new: Decision) -> bool:
    """By topic, where both have one; else only a decision about the same key."""
    if old.topic_key and new.topic_key:
        return old.topic_key == new.topic_key and (decided(old.tags) or _same_key(old.body, new.body))
    return decided(old.tags) and _same_key(old.body, new.body)


def _same_key(old: Body, new: Body) -> bool:
    if not isinstance(old, Fact) or not isinstance(new, Fact) or old.key is None or new.key is None:
        return False
    return (old.key.casefold(), (old.scope or "").casefold()) == (new.key.casefold(), (new.scope or "").casefold())


def _outranks(old: Item, new: Decision) -> bool:
    """Nothing untrusted takes the place of what is trusted."""
    return old.trust is Trust.TRUSTED and new.trust is Trust.UNTRUSTED


def _stands(old: Item) -> Refused:
    return Refused(f"memory {old.id} is constitutional: no decision supersedes it", "An admin lifts that first.")


# -- in words -----------------------------------------------------------------------------------------------


def held(item: Item, doubt: Item | None = None) -> str:
    """Since when a memory holds, which is when it was said unless it says otherwise; until when it held, by what it was
    replaced, or may have been (`doubt`), and what it replaces."""
    told = [f"since {day_of(item.valid_from or item.origin_at)}"]
    if item.valid_to is not None:
        told.append(f"until {day_of(item.valid_to)}")
    if item.superseded_by is not None:
        told.append(f"replaced by {short(item.superseded_by)}")
    if doubt is not None and item.valid_to is None:
        told.append(f"perhaps until {day_of(doubt.origin_at)} (see {short(doubt.id)})")
    if item.supersedes is not None:
        told.append(f"replaces {short(item.supersedes)}")
    return ", ".join(told)
