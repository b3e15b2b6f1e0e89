"""The hammer among everything else that happens: no order of messages, runs, promotions, pins, locks and archivals
loses an event, presses what is held, leaves a version without evidence, or cannot be taken back."""

from contextlib import suppress
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import ClassVar, TypeVar
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from recollect.care import audit
from recollect.care.compress import Hammer, Hammered
from recollect.care.restore import OneEntry, Session
from recollect.custody import Deps
from recollect.domain.event import Trust
from recollect.domain.ids import CauseId, EventId, TenantId
from recollect.domain.item import Active, Item
from recollect.domain.level import Level
from recollect.domain.observation import Use, Used
from recollect.domain.scope import Principal, Role
from recollect.domain.version import Version
from recollect.domain.witness import RangeWitness, Witness
from recollect.errors import BuiltOn, Refused
from recollect.memory import Memory
from recollect.policy.upkeep import Upkeep
from recollect.ports import Store
from recollect.store.sidecar import FileErasures, FileSeal
from recollect.write.message import Message
from tests.flows.conftest import every_event
from tests.flows.snapshot import Snapshot, snapshot
from tests.hunt import examples
from tests.worlds import DAWN, MIRA, World

T = TypeVar("T")
_numbers = count(1)
EXAMPLES = {"sqlite": 20, "postgres": 6}
STEPS = 30
THREADS = ("login", "login too", "billing")
SAID = (
    "We decided to move the login from JWT tokens to sessions because the tokens were too large.",
    "The session cookie lives for 30 days and is signed with the server key.",
    "The sessions live in PostgreSQL, in the schema auth.",
    "I fixed the logout endpoint /api/logout, it now clears the cookie.",
    "Which database should hold the sessions?",
    "Each invoice is mailed on the first day of the month by the billing worker.",
    "Walter decided to print the invoices in Graz because the paper is cheaper there.",
    "The billing ledger closes each invoice after 14 days.",
    "Thanks!",
    "Good morning!",
)

TWO_THINGS = [
    text
    for verb in ("reads", "checks", "renews", "copies", "audits")
    for text in (
        f"The login session {verb} the signed cookie whenever a visitor comes back to the front page.",
        f"Each customer invoice {verb} the billing ledger before the accountant closes another quarter.",
    )
]


class Struck(RuleBasedStateMachine):
    """One tenant with a few threads, and everything that the hammer meets."""

    store: ClassVar[Store]
    folder: ClassVar[Path]

    def __init__(self) -> None:
        super().__init__()
        self.world = World(self.store, TenantId(f"h{next(_numbers)}-{uuid4().hex[:8]}"))
        self.tenant = self.world.tenant
        self.store.create_tenant(self.tenant, at=DAWN)
        erasures = FileErasures(self.folder / f"{self.tenant}.erasures")
        deps = Deps(self.store, self.world.clock, erasures, FileSeal(self.folder / "key"))
        self.memory = Memory(deps, Principal(tenant=self.tenant, id="mira", role=Role.ADMIN))
        self.hammer = Hammer(self.store, self.world.clock, None, None, Upkeep(), self.tenant)
        self.live: set[EventId] = set()
        self.now = snapshot(self.store, self.tenant)

    def pick(self, data: st.DataObject, things: list[T]) -> T:
        return things[data.draw(st.integers(0, len(things) - 1))]

    def items(self) -> list[Item]:
        return list(self.now.items.values())

    def look(self) -> Snapshot:
        self.now = snapshot(self.store, self.tenant)
        return self.now

    # -- what happens -------------------------------------------------------------------------------------

    @initialize()
    def begin(self) -> None:
        for thread in THREADS:
            self._say(thread, list(SAID[:4] if thread != "billing" else SAID[5:8]))

    @rule(thread=st.sampled_from(THREADS), texts=st.lists(st.sampled_from(SAID), min_size=1, max_size=4))
    def say(self, thread: str, texts: list[str]) -> None:
        self._say(thread, texts)

    @rule(thread=st.sampled_from(THREADS))
    def talk_about_two_things(self, thread: str) -> None:
        self._say(thread, TWO_THINGS)

    @rule(thread=st.sampled_from(THREADS), text=st.sampled_from(SAID))
    def hear_from_a_stranger(self, thread: str, text: str) -> None:
        self._say(thread, [text], Trust.UNTRUSTED)

    def _say(self, thread: str, texts: list[str], trust: Trust = Trust.TRUSTED) -> None:
        messages = [Message(text=text, author="Mira", trust=trust) for text in texts]
        done = self.memory.append(messages, thread_id=thread)
        self.live |= set(done.event_ids)
        held = self.world.held(done.episode_id)
        topic = thread.split()[0]
        if held.item.topic_key != topic:
            self.memory.revise(held.item.id, topic_key=topic)

    @rule(text=st.sampled_from(SAID[:8]))
    def remember(self, text: str) -> None:
        self.live.add(self.memory.remember(text, thread_id="notes").event_id)

    @rule(time=st.sampled_from([timedelta(minutes=2), timedelta(minutes=90), timedelta(days=8), timedelta(days=31)]))
    def time_goes_by(self, time: timedelta) -> None:
        self.world.clock._at += time

    @rule(data=st.data(), pinned=st.booleans())
    def pin(self, data: st.DataObject, pinned: bool) -> None:
        item = self.pick(data, self.items())
        (self.memory.pin if pinned else self.memory.unpin)(item.id)

    @precondition(lambda self: self.now.versions)
    @rule(data=st.data(), struck=st.booleans())
    def promote(self, data: st.DataObject, struck: bool) -> None:
        """Which locks the memory, too."""
        version = self.pick(data, list(self.now.versions.values()))
        with suppress(Refused):  # as what is below a pin's floor is
            self.memory.promote(version.item_id, version.id)
            if struck:
                [stroke] = self.hammer.compress(actor=MIRA, item_id=version.item_id).strokes
                assert stroke.skipped
                assert self.world.held(version.item_id).item.active_version_id == version.id

    @rule(data=st.data())
    def archive_or_restore(self, data: st.DataObject) -> None:
        item = self.pick(data, self.items())
        if isinstance(item.state, Active):
            self.memory.archive(item.id)
        else:
            self.memory.restore(item.id)

    @precondition(lambda self: self.now.versions)
    @rule(data=st.data(), use=st.sampled_from(Use), times=st.integers(1, 6))
    def use(self, data: st.DataObject, use: Use, times: int) -> None:
        version = self.pick(data, list(self.now.versions.values()))
        at = self.world.clock.now()
        self.store.observe(self.tenant, [Used(version.item_id, use, at, version.id) for _ in range(times)])

    @rule(data=st.data(), cascade=st.booleans())
    def take_an_event_back(self, data: st.DataObject, cascade: bool) -> None:
        appended = [e.header.seq for e in self.store.entries(self.tenant) if e.header.op == "append"]
        try:
            self.memory.rollback(OneEntry(self.pick(data, appended)), cascade=cascade)
        except (BuiltOn, Refused):
            return
        self.live &= {EventId(id) for id in self.look().events}

    # -- the hammer ---------------------------------------------------------------------------------------

    @rule(data=st.data(), back=st.booleans())
    def strike_a_week_after_all_fell_silent(self, data: st.DataObject, back: bool) -> None:
        self.world.clock._at += timedelta(hours=2)
        self.hammer.compress(actor=MIRA)
        self.world.clock._at += timedelta(days=8)
        self.strike(data, "topic", back)

    @rule(data=st.data(), what=st.sampled_from(["one", "topic", "all"]), back=st.booleans())
    def strike(self, data: st.DataObject, what: str, back: bool) -> None:
        before = self.look()
        now = self.world.clock._at
        done = self._run(data, what)
        after = self.look()
        for item in before.items.values():
            if item.lock and item.lock.until > now + timedelta(minutes=5):
                assert after.about([item.id]) == before.about([item.id]), "it is locked"
            if item.pinned:
                fresh = [v for id, v in after.versions.items() if v.item_id == item.id and id not in before.versions]
                assert all(version.level >= Level.R3 for version in fresh), "it is pinned"
                assert after.items[item.id].default_level >= Level.R3
        assert before.versions.items() <= after.versions.items(), "versions are added, never changed"
        if done.cause and back:
            self._taken_back(done.cause, before)

    def _run(self, data: st.DataObject, what: str) -> Hammered:
        if what == "topic":
            return self.hammer.compress(actor=MIRA, topic="login")
        if what == "all":
            return self.hammer.compress(actor=MIRA)
        item = self.pick(data, self.items())
        done = self.hammer.compress(actor=MIRA, item_id=item.id)
        again = self.hammer.compress(actor=MIRA, item_id=item.id)
        assert again.strokes[0].made == ()
        assert again.cause is None, "a second strike changes nothing"
        return done

    def _taken_back(self, cause: CauseId, before: Snapshot) -> None:
        self.memory.rollback(Session(cause))
        assert self.look().lines == before.lines

    @rule()
    def rehearse(self) -> None:
        before = self.look()
        self.hammer.compress(actor=MIRA, dry_run=True)
        assert self.look() == before

    # -- what always holds ----------------------------------------------------------------------------------

    @invariant()
    def no_event_is_lost(self) -> None:
        assert set(self.look().events) == self.live

    @invariant()
    def every_version_reaches_evidence(self) -> None:
        for version in self.now.versions.values():
            end = version
            while end.derived_from and end.level < Level.R4:
                end = self.now.versions[end.derived_from]
            assert end.level >= Level.R4 or self.now.evidence(end)

    @invariant()
    def every_bullet_has_a_witness_that_resolves(self) -> None:
        for version in self.now.versions.values():
            if version.level is Level.R3 and self._is_current(version):
                assert version.bullets
                for bullet in version.bullets:
                    assert any(self._resolves(witness) for witness in bullet.witnesses), bullet

    def _is_current(self, version: Version) -> bool:
        """Not one of events that were taken back since: it is made anew at the next run."""
        return all(self._resolves(witness) for bullet in version.bullets for witness in bullet.witnesses)

    def _resolves(self, witness: Witness) -> bool:
        if not isinstance(witness, RangeWitness):
            return witness.event_id in self.now.events
        return any(
            event["item_id"] == witness.episode_id and witness.first <= event["seq"] <= witness.last
            for event in self.now.events.values()
        )

    @invariant()
    def no_pointer_points_nowhere(self) -> None:
        for item in self.now.items.values():
            assert item.active_version_id is None or item.active_version_id in self.now.versions
            assert item.superseded_by is None or item.superseded_by in self.now.items

    def teardown(self) -> None:
        verified = audit.verify(self.store, self.tenant, deep=True)
        assert not verified.findings, verified.findings


@pytest.mark.hypothesis
@pytest.mark.parametrize("words", ["few", "all"])
def test_no_history_loses_an_event_or_presses_what_is_held(
    engine: str, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str
):
    """Once with summaries as they are, once with such that say everything and are merged and split more often."""
    if words == "all":
        monkeypatch.setattr("recollect.policy.distil.summarise", every_event)
    monkeypatch.setattr("recollect.care.ladder.LONG", 6)
    monkeypatch.setattr("recollect.care.ladder.CONTEXT", 3)
    monkeypatch.setattr("recollect.policy.hammer.OVERLONG", 120)
    run_state_machine_as_test(
        type("Struck", (Struck,), {"store": store, "folder": tmp_path}),
        settings=settings(
            max_examples=examples(EXAMPLES[engine]),
            stateful_step_count=STEPS,
            deadline=None,
            print_blob=True,
            phases=[Phase.explicit, Phase.reuse, Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
