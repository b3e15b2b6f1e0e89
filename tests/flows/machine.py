"""The time machine driven at random: everything that can happen to memory, and rollbacks in between.

`Reversible` knows only what can be taken back; bringing the tenant to a revision then gives exactly the bytes of that
revision. `Irreversible` adds what cannot, and tests/flows/snapshot.py says what that excuses.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from recollect.care import audit, restore
from recollect.care import erase as erasing
from recollect.care.restore import OneEntry, OneMemory, Session, Target, ToRevision
from recollect.domain.change import Append, Consent, Derive, Disclose, Note, plain
from recollect.domain.ids import EventId, Rev, Seq
from recollect.domain.item import Visibility
from recollect.domain.journal import Entry
from recollect.domain.record import Asked, Decided, Ended, Given, Pending, Record
from recollect.domain.refs import Refs, refs
from recollect.domain.scope import Scope
from recollect.errors import BuiltOn, NotFound, Refused
from recollect.policy.rollback import Plan
from tests.flows.happenings import SESSIONS, USERS, Happenings
from tests.flows.snapshot import Snapshot, about, aside, compared, loose_ends, snapshot

RECENT = 10
"""Entries that are rolled back more often than older ones: most of what comes back builds on them."""


class Reversible(Happenings):
    """What happens can be taken back."""

    # -- the time machine -----------------------------------------------------------------------------------

    @rule()
    def take_a_snapshot(self) -> None:
        if self.taken[-1].rev != self.now.rev:
            self.taken.append(self.now)

    @precondition(lambda self: self.now.rev > 0)
    @rule(data=st.data(), cascade=st.booleans(), back=st.integers(0, 2))
    def roll_back_an_entry(self, data: st.DataObject, cascade: bool, back: int) -> None:
        last = self.store.head(self.tenant).seq
        ago = data.draw(st.integers(0, min(last, RECENT) - 1) | st.integers(0, last - 1))
        self._roll_back(OneEntry(Seq(last - ago)), cascade, back)

    @precondition(lambda self: self.known)
    @rule(data=st.data(), cascade=st.booleans(), back=st.integers(0, 2))
    def roll_back_a_memory(self, data: st.DataObject, cascade: bool, back: int) -> None:
        then, before = self.pick(data, self.taken), self.now
        item_id = self.pick(data, self.known)
        plan = self._roll_back(OneMemory(item_id, then.rev), cascade, 0)
        if plan and not plan.stays:
            self._are_as_they_were(then, [item_id])
        if plan:
            self._and_back(before, self.now, back)

    @rule(data=st.data(), cascade=st.booleans(), back=st.integers(0, 2))
    def roll_back_a_session(self, data: st.DataObject, cascade: bool, back: int) -> None:
        cause = self.pick(data, [cause for cause in SESSIONS if cause])
        self._roll_back(Session(cause), cascade, back)

    @rule(data=st.data(), user=st.sampled_from(USERS), cascade=st.booleans(), back=st.integers(0, 2))
    def roll_back_a_user(self, data: st.DataObject, user: str, cascade: bool, back: int) -> None:
        then, before = self.pick(data, self.taken), self.now
        plan = self._roll_back(ToRevision(Scope(tenant=self.tenant, user_id=user), then.rev), cascade, 0)
        if plan and not cascade:
            others = [id for id, item in (before.items | self.now.items).items() if item.user_id != user]
            assert self.now.about(others) == before.about(others)
        if plan and not plan.stays:
            own = [id for id, item in (then.items | self.now.items).items() if item.user_id == user]
            self._are_as_they_were(then, own)
        if plan:
            self._and_back(before, self.now, back)

    @rule(data=st.data(), back=st.integers(0, 2))
    def roll_back_the_tenant(self, data: st.DataObject, back: int) -> None:
        then, before = self.pick(data, self.taken), self.now
        plan = self._roll_back(ToRevision(Scope(tenant=self.tenant), then.rev), False, 0)
        self._is_as_it_was(then)
        if plan:
            self._and_back(before, self.now, back)

    def _is_as_it_was(self, then: Snapshot) -> None:
        assert self.now.lines == then.lines
        assert self.now.records == then.records

    def _are_as_they_were(self, then: Snapshot, items: Sequence[str]) -> None:
        assert self.now.about(items) == then.about(items)

    def _roll_back(self, target: Target, cascade: bool, back: int) -> Plan | None:
        """A rollback does what its preview shows, or changes nothing. `back`: how often it is rolled back in turn."""
        before, head = self.now, self.store.head(self.tenant)
        try:
            preview = self.memory.preview_rollback(target, cascade=cascade)
        except (Refused, NotFound):
            preview = None
        try:
            rev, plan = self.memory.rollback(target, cascade=cascade)
        except (Refused, NotFound) as refusal:
            assert preview is None or preview.blocked_by or not preview.undo
            assert snapshot(self.store, self.tenant) == before
            assert self.store.head(self.tenant) == head
            if isinstance(refusal, BuiltOn):
                self._is_really_built_on(target, refusal, cascade)
            return None
        assert plan == preview
        assert rev == head.rev + 1
        written = self.store.entries(self.tenant, rev_after=head.rev)
        assert [entry.header.undoes for entry in written] == [undo.entry for undo in plan.undo]
        self.now = snapshot(self.store, self.tenant)
        untouched = before.constitutional
        assert self.now.about(untouched) == before.about(untouched)
        assert self.now.constitutional == untouched
        self._and_back(before, self.now, back)
        return plan

    def _is_really_built_on(self, target: Target, refusal: BuiltOn, cascade: bool) -> None:
        assert not cascade
        assert not (isinstance(target, ToRevision) and target.scope.user_id is None)
        whole = restore.preview(self.store, self.tenant, target, cascade=True)
        chosen = {entry.header.seq for entry in restore.chosen(self.store, self.tenant, target)}
        touched = {undo.entry for undo in whole.undo} | {stay.seq for stay in whole.stays}
        assert set(refusal.entries) <= touched
        assert touched - chosen <= set(refusal.entries)
        assert not chosen & set(refusal.entries)
        going = self.store.entries(self.tenant, seqs=sorted(chosen | set(refusal.entries)))
        for entry in going:
            if entry.header.seq in refusal.entries:
                others = [other for other in going if other is not entry]
                assert self._shares(entry, others) or self._loses_its_evidence(entry, others), entry

    def _shares(self, entry: Entry, others: Sequence[Entry]) -> bool:
        """Whether an entry names something that earlier ones made or set."""
        mine = _refs(entry)
        for other in others:
            theirs = _refs(other)
            met = theirs.makes & (mine.all | mine.own) or theirs.sets & mine.sets or theirs.own & mine.makes
            if met and other.header.seq < entry.header.seq:
                return True
        return False

    def _loses_its_evidence(self, entry: Entry, others: Sequence[Entry]) -> bool:
        change = plain(entry.change) if entry.change else None
        appended = [plain(other.change) for other in others if other.change]
        going = {change.event.id for change in appended if isinstance(change, Append)}
        return isinstance(change, Derive) and self.now.evidence(change.version) <= going

    def _and_back(self, before: Snapshot, after: Snapshot, times: int) -> None:
        """A rollback of the rollback brings back what was before it, and the next one what was after it."""
        for number in range(times):
            last = self.store.entries(self.tenant, rev_after=Rev(self.now.rev - 1))[0]
            assert last.header.cause is not None
            self.memory.rollback(Session(last.header.cause))
            self.now = snapshot(self.store, self.tenant)
            assert self.now.content == (after if number % 2 else before).content

    # -- always -------------------------------------------------------------------------------------------

    @invariant()
    def the_journal_is_whole(self) -> None:
        verified = audit.verify(self.store, self.tenant)
        assert verified.findings == ()
        entries = self.store.entries(self.tenant)
        assert [entry.header.seq for entry in entries] == list(range(1, verified.head.seq + 1))
        assert sorted({entry.header.rev for entry in entries}) == list(range(1, verified.head.rev + 1))

    @invariant()
    def nothing_stands_on_nothing(self) -> None:
        self.now = snapshot(self.store, self.tenant)
        assert list(loose_ends(self.now)) == []

    def teardown(self) -> None:
        """The journal alone accounts for what is held, and nothing lives on in what was withdrawn."""
        assert audit.verify(self.store, self.tenant, deep=True).findings == ()
        withdrawn: set[object] = set()
        for row in self.store.dump(self.tenant):
            if row["table"] == "items" and row["withdrawn"]:
                withdrawn.add(row["id"])
            elif row["table"] in ("events", "versions") and not row["withdrawn"]:
                assert row["item_id"] not in withdrawn, row


class Irreversible(Reversible):
    """With what cannot be taken back: protection, consent, readings of silos, erasure."""

    @precondition(lambda self: self.now.items)
    @rule(data=st.data())
    def protect(self, data: st.DataObject) -> None:
        free = self.items(lambda item: item.visibility is not Visibility.AGENT_SILO and not item.constitutional)
        protected = [self.now.items[id] for id in sorted(self.now.constitutional)]
        item = self.pick(data, [*free, *free, *protected] or [None])  # lifted less often than not
        if item:
            self.memory.protect(item.id, not item.constitutional)

    @precondition(lambda self: self.records(Pending, Asked))
    @rule(data=st.data(), yes=st.booleans())
    def decide(self, data: st.DataObject, yes: bool) -> None:
        asked = self.pick(data, self.records(Pending, Asked))
        at = self.world.clock.now()
        if isinstance(asked, Pending):
            same = {name: getattr(asked, name) for name in Pending.__dataclass_fields__ if name != "lapses_at"}
            self.apply(data, Consent(asked, Decided(**same, accepted=yes, decided_by="ana", decided_at=at)))
            return
        assert isinstance(asked, Asked)
        same = {name: getattr(asked, name) for name in Asked.__dataclass_fields__}
        given = Given(**same, given_by="robin", given_at=at, until=at + timedelta(days=9))
        self.apply(data, Consent(asked, given if yes else Ended(**same, ended_at=at, reason="no")))

    @precondition(lambda self: self.records(Given))
    @rule(data=st.data())
    def end_a_grant(self, data: st.DataObject) -> None:
        given = self.pick(data, self.records(Given))
        same = {name: getattr(given, name) for name in Asked.__dataclass_fields__}
        self.apply(data, Note(given, Ended(**same, ended_at=self.world.clock.now(), reason="run out")))

    @precondition(lambda self: self.records(Given) and self.now.items)
    @rule(data=st.data())
    def disclose(self, data: st.DataObject) -> None:
        self.apply(data, Disclose(self.pick(data, self.records(Given)).id, self.pick(data, self.items()).id))

    @precondition(lambda self: self.items(lambda item: item.visibility is not Visibility.AGENT_SILO))
    @rule(data=st.data(), evidence=st.booleans())
    def erase_a_memory(self, data: st.DataObject, evidence: bool) -> None:
        item = self.pick(data, self.items(lambda item: item.visibility is not Visibility.AGENT_SILO))
        wipe = self.memory.erase(item.id, evidence=evidence)
        self._are_gone(wipe.refs)

    @precondition(lambda self: self.now.events)
    @rule(data=st.data())
    def erase_an_event(self, data: st.DataObject) -> None:
        event = self.some_events(data, 1)[0]
        wipe = erasing.erase(
            self.store,
            self.erasures,
            self.world.scope,
            [],
            [EventId(event["id"])],
            actor=self.world.actor,
            at=self.world.clock.now(),
            reason="asked",
        )
        self._are_gone(wipe.refs)

    def _are_gone(self, refs: Sequence[str]) -> None:
        now = snapshot(self.store, self.tenant)
        assert not {ref.partition(":")[2] for ref in refs} & (
            now.items.keys() | now.versions.keys() | now.events.keys()
        )

    def _is_as_it_was(self, then: Snapshot) -> None:
        theirs, ours = self._compared(then)
        assert ours == theirs
        gone = {tombstone.ref.partition(":")[2] for tombstone in self.store.tombstones(self.tenant)}
        decided = self._decided_since(then.rev)
        assert _unexcused(self.now.records, decided, gone) == _unexcused(then.records, decided, gone)

    def _are_as_they_were(self, then: Snapshot, items: Sequence[str]) -> None:
        theirs, ours = self._compared(then)
        assert about(ours, items) == about(theirs, items)

    def _compared(self, then: Snapshot) -> tuple[list[str], list[str]]:
        erased = [tombstone.ref for tombstone in self.store.tombstones(self.tenant)]
        return compared(then, self.now, aside(then, self.now, erased))

    def _decided_since(self, rev: Rev) -> set[str]:
        """Records that a person has had their word on."""
        changes = [entry.change for entry in self.store.entries(self.tenant, rev_after=rev)]
        found: set[str] = set()
        for change in (plain(change) for change in changes if change):
            if isinstance(change, Consent) or (isinstance(change, Note) and isinstance(change.before, Given)):
                found.add(change.before.id)
        return found


def _refs(entry: Entry) -> Refs:
    return refs(entry.change) if entry.change else Refs(frozenset(), frozenset(), frozenset())


def _unexcused(records: Any, decided: set[str], erased: set[str]) -> dict[Any, Record]:
    """Records but those that were decided on since, and proposals about what was erased."""
    return {
        key: record
        for key, record in records.items()
        if record.id not in decided and getattr(record, "item_id", None) not in erased
    }
