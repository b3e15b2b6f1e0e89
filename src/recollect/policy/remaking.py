"""What rules of before made of messages, told from what people, a language model or the rules of now made of them; and
what becomes of it once the same messages are read again.

Before words were quoted, rules reworded them. Such a memory is kept where the new reading says it in the same words.
Else it goes out of sight, in favour of what the new reading says of the same messages.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from recollect.domain.change import Change, Derive, Revise, Verb, revise
from recollect.domain.ids import EventId, ItemId, Seq, VersionId, short
from recollect.domain.item import Active, Archived, Fact, Item
from recollect.domain.journal import Header
from recollect.domain.level import Level
from recollect.domain.version import Version
from recollect.domain.witness import RangeWitness
from recollect.policy import bands, lifecycle
from recollect.policy.hammer import Family

BY_A_MODEL = "named by the model"
"""Why a language model's summaries name their witnesses."""
CERTAINTIES = (0.6, 0.65, 0.8, 0.9)
"""How sure rules ever were of a fact. A language model may say anything else."""
_AGAIN = "read again"
"""How the reasons begin for which this hides a memory."""
_SAYS = 0.5
"""The part of the shorter one's words that two statements about one message share when they say the same."""
_JOB = "job:"
REMAKES = "job:remake"
_OUT_OF_TALK = frozenset({"create", "append", "derive", "link"})
"""What is written where something was said. An edit that comes alone is somebody's own."""
_READINGS = frozenset({"disclose"})


# -- which memories are old ----------------------------------------------------------------------------------


def reworded(version: Version, until: datetime) -> bool:
    """Whether a version's words were made by rules before words were quoted."""
    quoted = any(bullet.quotation for bullet in version.bullets)
    written = any(witness.reason == BY_A_MODEL for bullet in version.bullets for witness in bullet.witnesses)
    return version.created_at < until and not quoted and not written


def is_old(item: Item, version: Version, until: datetime, now: datetime) -> bool:
    """Whether rules of before made a memory of messages, as far as it tells itself: what is pinned, locked, protected
    or promoted is people's, and what was stated was never extracted."""
    by_rules = isinstance(item.body, Fact) and item.role is not None and item.body.confidence in CERTAINTIES
    free = isinstance(item.state, Active) and not lifecycle.exempt(item, now) and item.active_version_id is None
    return by_rules and free and reworded(version, until)


def touched(headers: Iterable[Header]) -> bool:
    """Whether somebody changed a memory by hand, by all that the journal tells of it."""
    known = {header.seq: header for header in headers}
    writes: defaultdict[int, list[Header]] = defaultdict(list)
    for header in known.values():
        if header.op not in _READINGS and _origin(header, known).actor != REMAKES:
            writes[header.rev].append(header)
    return any(
        not header.actor.startswith(_JOB) and (header.undoes is not None or not _of_talk(write))
        for write in writes.values()
        for header in write
    )


def _origin(header: Header, known: Mapping[Seq, Header]) -> Header:
    """What an undoing takes back, or brings back, in the end: one that takes back a reading again is no word on the
    memory."""
    while header.undoes is not None and header.undoes in known:
        header = known[header.undoes]
    return header


def _of_talk(write: Iterable[Header]) -> bool:
    return any(header.op in _OUT_OF_TALK for header in write)


def hidden_here(item: Item) -> bool:
    """Whether a reading again has hidden a memory, and nobody else."""
    return isinstance(item.state, Archived) and item.state.reason.startswith(_AGAIN)


# -- what becomes of them ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Made:
    """A memory that was made of messages, with the words that speak for it."""

    item: Item
    version: Version

    def says(self, text: str, events: Collection[EventId]) -> bool:
        """Whether it says what a statement about one of its messages says."""
        own, other = bands.content(self.version.content), bands.content(text)
        alike = len(own & other) >= _SAYS * max(1, min(len(own), len(other)))
        return alike and bool(cited(self.version).intersection(events))


def cited(version: Version) -> frozenset[EventId]:
    """The events that a version names one by one."""
    named = [witness for bullet in version.bullets for witness in bullet.witnesses]
    return frozenset(one.event_id for one in named if not isinstance(one, RangeWitness))


def borne_out(changes: Iterable[Change]) -> frozenset[ItemId]:
    """The memories that a reading renews, or takes over from by itself."""
    return frozenset(
        change.version.item_id if isinstance(change, Derive) else change.item_id
        for change in changes
        if isinstance(change, Derive | Revise)
    )


def successor(old: Made, changes: Iterable[Change]) -> ItemId | None:
    """Of what a reading makes or renews, the memory that says most of what an old one says of the same messages."""
    versions = [change.version for change in changes if isinstance(change, Derive)]
    saying = [version for version in versions if old.says(version.content, cited(version))]
    own = bands.content(old.version.content)
    best = max(saying, key=lambda version: len(own & bands.content(version.content)), default=None)
    return best.item_id if best else None


def taken_over(item: Item, by: ItemId | None, now: datetime) -> Revise:
    """The old memory out of sight: its words are not those that were said, whenever that was."""
    if by is None:
        why, verb = f"{_AGAIN}: nothing of it is kept", Verb.ARCHIVE
    else:
        why, verb = f"{_AGAIN}: {short(by)} says it in the words that were used", Verb.SUPERSEDE
    after = replace(item, state=Archived(now, why), superseded_by=by or item.superseded_by)
    return revise(item, after, now, verb)


# -- summaries -----------------------------------------------------------------------------------------------


def worn(family: Family, until: datetime) -> list[Version]:
    """The versions of a memory that are made anew: where the summary that speaks for it was reworded by rules, that and
    whatever was made with it or from it. The events' own handle is as good as ever."""
    if family.speaking is None or not reworded(family.speaking, until):
        return []
    old: dict[VersionId, Version] = {}
    for version in family.versions:  # oldest first: what a version is made from comes before it
        if version.level < Level.R5 and (reworded(version, until) or version.derived_from in old):
            old[version.id] = version
    return list(old.values())


def in_order(versions: Iterable[Version]) -> list[Version]:
    """Versions so that each comes before what it was made from: hidden in this order they can be brought back in the
    other. Their ids do not tell, since those of one moment come in any order."""
    left = {one.id: one for one in versions}
    found: list[Version] = []
    while left:
        bases = {one.derived_from for one in left.values()}
        found += [one for id, one in left.items() if id not in bases]
        left = {id: one for id, one in left.items() if id in bases}
    return found
