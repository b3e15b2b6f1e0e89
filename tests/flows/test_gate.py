"""What a principal may reach, and what falls with it: every door leads through one gate."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recollect import Memory, Principal, Query, Role, Source, Visibility, open_memory, settings, wiring
from recollect.care.restore import OneEntry, OneMemory, Session, ToRevision
from recollect.domain.change import Consent, Link, Note
from recollect.domain.event import Trust
from recollect.domain.ids import CauseId, ItemId, RecordId, Rev, Seq, TenantId, VersionId
from recollect.domain.record import Asked, Decided, Given, Pending, ProfileField
from recollect.domain.relation import Relation
from recollect.domain.scope import Actor, Scope
from recollect.errors import Forbidden, Gone, Invalid, NotFound, Stale, StoreBusy

HERE = TenantId("default")
NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def admin(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path / "m.db", user="root") as memory:
        yield memory


def member(admin: Memory, name: str) -> Memory:
    return admin.acting(Principal(tenant=HERE, id=name, role=Role.MEMBER))


def agent(admin: Memory, name: str = "bot") -> Memory:
    return admin.acting(Principal(tenant=HERE, id=name, role=Role.AGENT, agent_id=name))


def found(memory: Memory, word: str) -> list[str]:
    """What a word finds, among memories and among the evidence."""
    asked = [Query(text=word, source=source, threshold=0.0) for source in (Source.MEMORY, Source.EVIDENCE)]
    results = [result for query in asked for result in memory.query(query).results]
    return [result.text for result in results if word in result.text]


def last(admin: Memory, op: str) -> int:
    return next(entry.header.seq for entry in admin.journal() if entry.header.op == op)


def test_silo_words_stay_out_of_a_private_thread_of_the_same_name(admin):
    bot, ana = agent(admin), member(admin, "ana")
    bot.remember("hello ana", user_id="ana")
    bot.remember("the zebra is a secret", user_id="ana", visibility=Visibility.AGENT_SILO)
    assert found(ana, "zebra") == []
    assert found(bot, "zebra") == ["[knowledge] the zebra is a secret", "the zebra is a secret"]


def test_nobody_edits_a_constitutional_memory_until_an_admin_lifts_that(admin):
    ana, bot = member(admin, "ana"), agent(admin)
    law = ana.remember("Ana is never called before nine")
    admin.protect(law.item_id)
    for who in (ana, bot, admin):
        with pytest.raises(Forbidden, match="constitutional"):
            who.revise(law.item_id, importance=1)
        with pytest.raises(Forbidden, match="constitutional"):
            who.archive(law.item_id)
    admin.protect(law.item_id, False)
    ana.revise(law.item_id, importance=1)


@pytest.mark.parametrize("field", ["visibility", "trust", "user_id", "state", "constitutional", "superseded_by"])
def test_ownership_trust_and_life_are_not_revised_by_hand(field, admin):
    ana = member(admin, "ana")
    told = ana.remember("tea", trust=Trust.UNTRUSTED)
    with pytest.raises(Invalid, match=field):
        ana.revise(told.item_id, **{field: "system"})
    with pytest.raises(Invalid, match="untrusted"):
        admin.protect(told.item_id)


def test_a_cascade_does_not_reach_another_users_memory(admin):
    ana, ben = member(admin, "ana"), member(admin, "ben")
    mine, theirs = ana.remember("tea"), ben.remember("coffee")
    link = Relation(id=RecordId("r"), from_id=theirs.item_id, to_id=mine.item_id, strength=0.5, created_at=NOW)
    apply(admin, Link(link))
    with pytest.raises((Forbidden, NotFound)):
        ana.rollback(OneMemory(mine.item_id, Rev(0)), cascade=True)
    admin.rollback(OneMemory(mine.item_id, Rev(0)), cascade=True)


def test_a_member_takes_back_an_edit_of_their_own_and_nobody_elses(admin):
    ana, ben = member(admin, "ana"), member(admin, "ben")
    told = ana.remember("tea")
    ana.revise(told.item_id, importance=5)
    with pytest.raises(NotFound):
        ben.rollback(OneEntry(last(admin, "update")))
    with pytest.raises(Forbidden):
        ana.rollback(ToRevision(Scope(tenant=HERE), Rev(0)))
    ana.rollback(OneEntry(last(admin, "update")))
    assert ana.show(told.item_id).item.importance == 3


def test_an_erasure_does_not_reach_another_users_memory(admin):
    ana, bot = member(admin, "ana"), agent(admin)
    told = bot.remember("tea", project_id="kitchen", visibility=Visibility.PROJECT_SHARED)
    with pytest.raises(Forbidden, match="for the person concerned"):
        ana.erase(told.item_id)
    with pytest.raises(Forbidden):
        bot.erase(told.item_id)
    law = ana.remember("never before nine")
    admin.protect(law.item_id)
    with pytest.raises(Forbidden, match="erased by an admin"):
        ana.erase(law.item_id)


def test_history_does_not_tell_of_what_may_not_be_read(admin):
    ana, bot = member(admin, "ana"), agent(admin)
    mine = ana.remember("tea")
    silo = bot.remember("quetzal", visibility=Visibility.AGENT_SILO)
    link = Relation(id=RecordId("r"), from_id=silo.item_id, to_id=mine.item_id, strength=0.5, created_at=NOW)
    apply(admin, Link(link))
    seen = {entry.header.op: entry.body is not None for entry in ana.history(mine.item_id)}
    assert seen == {"create": True, "derive": True}
    assert {entry.header.op: entry.body is not None for entry in admin.history(mine.item_id)}["link"] is False


def test_what_an_agent_keeps_about_a_user_in_its_silo_is_not_exported_to_them(admin):
    ana, bot = member(admin, "ana"), agent(admin)
    ana.remember("tea")
    bot.remember("quetzal", user_id="ana", visibility=Visibility.AGENT_SILO)
    exported = "\n".join(ana.export_user("ana"))
    assert "tea" in exported
    assert "quetzal" not in exported


def grant(admin, who="root"):
    """The admin, or who else asked for it, may read the silo of the bot for an hour."""
    now = datetime.now(UTC)
    asked = Asked(id=RecordId("g"), agent_id="bot", asked_by=who, purpose="a bug", asked_at=now)
    given = Given(
        id=RecordId("g"),
        agent_id="bot",
        asked_by=who,
        purpose="a bug",
        asked_at=now,
        given_by="bot",
        given_at=now,
        until=now + timedelta(hours=1),
    )
    apply(admin, Note(None, asked), Consent(asked, given))


def test_every_reading_under_a_grant_is_on_record_its_evidence_too(admin):
    bot = agent(admin)
    silo = bot.remember("quetzal", visibility=Visibility.AGENT_SILO)
    with pytest.raises(NotFound):
        admin.show(silo.item_id)
    grant(admin)
    assert [event.text for event in admin.show(silo.item_id).evidence] == ["quetzal"]
    read = [entry.header.item_id for entry in admin.journal() if entry.header.op == "disclose"]
    assert silo.item_id in read
    assert len(set(read)) == 2  # the memory, and the thread its evidence is from


def test_a_change_that_is_refused_under_a_grant_is_no_reading(admin):
    silo = agent(admin).remember("quetzal", visibility=Visibility.AGENT_SILO)
    grant(admin)
    before = admin.head()
    for way in (admin.archive, admin.delete, admin.restore, admin.pin, admin.unpin, admin.close_episode):
        with pytest.raises(Forbidden, match="written by that agent alone"):
            way(silo.item_id)
    with pytest.raises(Forbidden, match="written by that agent alone"):
        admin.revise(silo.item_id, importance=5)
    assert admin.head() == before


def test_erasing_a_user_takes_what_was_proposed_about_them(admin, tmp_path):
    ana = member(admin, "ana")
    ana.remember("tea")
    pending = Pending(
        id=RecordId("p"),
        user_id="ana",
        field=ProfileField.CITY,
        value="Zanzibar",
        signals=1,
        item_id=None,
        proposed_at=NOW,
        lapses_at=NOW + timedelta(days=7),
    )
    values = {name: getattr(pending, name) for name in Decided.__dataclass_fields__ if hasattr(pending, name)}
    apply(admin, Note(None, pending))
    apply(admin, Consent(pending, Decided(**values, accepted=True, decided_by="ana", decided_at=NOW)))
    ana.erase_user("ana")
    assert admin.verify(deep=True).whole
    assert not [path for path in tmp_path.iterdir() if b"zanzibar" in path.read_bytes().lower()]


def test_a_head_that_somebody_else_signed_proves_nothing(admin, tmp_path):
    import json

    admin.remember("tea")
    with open_memory(tmp_path / "other.db", user="eve") as other:
        forged = dict(other.signed_head())
    with pytest.raises(Invalid, match="not this store's"):
        admin.verify(json.dumps(forged))
    with pytest.raises(Invalid, match="signature"):
        admin.verify(json.dumps({**admin.signed_head(), "rev": 99}))
    own = json.dumps(admin.signed_head())
    assert admin.verify(own).whole
    key = str(json.loads(own)["public_key"])
    assert admin.verify(own, trust=key).whole


def test_the_admin_of_one_tenant_does_not_copy_the_others(admin, tmp_path):
    admin.backup(tmp_path / "alone.db")
    with (
        open_memory(tmp_path / "m.db", user="eve", tenant="other") as other,
        pytest.raises(Forbidden, match="other tenants"),
    ):
        other.backup(tmp_path / "stolen.db")


def test_an_import_fills_a_tenant_that_nothing_was_written_to(admin, tmp_path):
    admin.remember("tea")
    lines = list(admin.export())
    with open_memory(tmp_path / "n.db", user="root") as fresh:
        fresh.import_(lines)
        assert list(fresh.export_state()) == list(admin.export_state())
        with pytest.raises(Invalid, match="not empty"):
            fresh.import_(lines)


def test_what_was_erased_stays_erased_in_a_file_that_was_copied_back_by_hand(tmp_path):
    path = tmp_path / "m.db"
    with open_memory(path, user="root") as memory:
        told = memory.remember("quetzal")
        memory.backup(tmp_path / "old.db")
        memory.erase(told.item_id)
    for ending in ("-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    path.write_bytes((tmp_path / "old.db").read_bytes())
    with open_memory(path, user="root") as memory:
        assert found(memory, "quetzal") == []
        assert memory.verify(deep=True).whole
    assert b"quetzal" not in path.read_bytes()


def test_a_long_statement_is_remembered_whole(admin):
    text = "tea " * 5_000
    assert admin.show(admin.remember(text).item_id).words == text


def test_a_memory_that_was_rescued_from_an_erasure_in_time_is_not_erased_later(tmp_path, monkeypatch):
    path = tmp_path / "m.db"
    with open_memory(path, user="root") as memory:
        told = memory.remember("quetzal")

        def refuse(*_: object, **__: object) -> None:
            raise Stale("somebody was faster", [])

        with monkeypatch.context() as patched:
            patched.setattr(memory._store, "apply", refuse)
            with pytest.raises(StoreBusy):
                memory.erase(told.item_id)
    with open_memory(path, user="root") as memory:
        assert memory.show(told.item_id).words == "quetzal"


def apply(memory: Memory, *changes: object) -> None:
    memory._store.apply(Scope(tenant=HERE), changes, actor=Actor(id="root", role=Role.ADMIN), at=datetime.now(UTC))


def test_an_allowlist_that_holds_for_questions_holds_for_ids(admin):
    kept = admin.remember("Ana was born in Graz.", category="profile", user_id="ana")
    task = admin.remember("Ship the release notes.", category="tasks", user_id="ana")
    planner = agent(admin, "planner")
    assert planner.show(task.item_id).words == "Ship the release notes."
    for read in (planner.show, planner.evidence, planner.history):
        with pytest.raises(NotFound, match="no such memory"):
            read(kept.item_id)
    with pytest.raises(NotFound, match="no such memory"):
        planner.thread(planner.show(task.item_id).evidence[0].item_id)
    assert [item.id for item in planner.items()] == [task.item_id]
    assert {item.category for item in agent(admin, "somebody").items()} == {"profile", "tasks", "episode"}


# -- bounds -----------------------------------------------------------------------------------------------

NEVER = ItemId("01a1f5f7-0000-7000-8000-000000000000")
OF_A_MEMORY: Mapping[str, Callable[[Memory, ItemId], object]] = {
    "show": lambda memory, id: memory.show(id),
    "serve": lambda memory, id: memory.serve(id),
    "versions": lambda memory, id: memory.versions(id),
    "version": lambda memory, id: memory.version(id, VersionId("v")),
    "thread": lambda memory, id: memory.thread(id),
    "evidence": lambda memory, id: memory.evidence(id),
    "history": lambda memory, id: memory.history(id),
    "item": lambda memory, id: memory.item(id),
    "revise": lambda memory, id: memory.revise(id, importance=5),
    "archive": lambda memory, id: memory.archive(id),
    "delete": lambda memory, id: memory.delete(id),
    "restore": lambda memory, id: memory.restore(id),
    "protect": lambda memory, id: memory.protect(id),
    "promote": lambda memory, id: memory.promote(id, VersionId("v")),
    "pin": lambda memory, id: memory.pin(id),
    "unpin": lambda memory, id: memory.unpin(id),
    "compress": lambda memory, id: memory.compress(item_id=id),
    "close_episode": lambda memory, id: memory.close_episode(id),
    "preview_erase": lambda memory, id: memory.preview_erase(id),
    "erase": lambda memory, id: memory.erase(id),
}
"""Everything that is done to one memory, by the name of the method."""
TO_A_MEMORY: Mapping[str, Callable[[Memory, ItemId], object]] = OF_A_MEMORY | {
    "find": lambda memory, id: memory.find(id),
    "find by its ending": lambda memory, id: memory.find(id[-12:]),
    "preview_rollback": lambda memory, id: memory.preview_rollback(OneMemory(id, Rev(0))),
    "preview_rollback, cascade": lambda memory, id: memory.preview_rollback(OneMemory(id, Rev(0)), cascade=True),
    "rollback": lambda memory, id: memory.rollback(OneMemory(id, Rev(0))),
    "rollback, cascade": lambda memory, id: memory.rollback(OneMemory(id, Rev(0)), cascade=True),
}
OF_ALL: Mapping[str, Callable[[Memory], object]] = {
    "preview_erase_user": lambda memory: memory.preview_erase_user("ben"),
    "erase_user": lambda memory: memory.erase_user("ben"),
    "export_user": lambda memory: list(memory.export_user("ben")),
    "export": lambda memory: list(memory.export()),
    "export_state": lambda memory: list(memory.export_state()),
    "journal": lambda memory: memory.journal(),
    "jobs": lambda memory: memory.jobs(),
    "counts": lambda memory: memory.counts(),
    "verify": lambda memory: memory.verify(deep=True),
    "roll back all": lambda memory: memory.rollback(ToRevision(Scope(tenant=HERE), Rev(0))),
    "roll back a user": lambda memory: memory.preview_rollback(ToRevision(Scope(tenant=HERE, user_id="ben"), Rev(0))),
    "roll back a session": lambda memory: memory.rollback(Session(CauseId("s"))),
    "remember for another": lambda memory: memory.remember("tea", user_id="ben"),
    "remember for another's project": lambda memory: memory.remember("tea", project_id="mill"),
    "epoch": lambda memory: memory.epoch("mill"),
    "advance_epoch": lambda memory: memory.advance_epoch("mill"),
}
"""What is about everybody's memory, or somebody else's."""


@dataclass(frozen=True)
class Others:
    """Of what Ben keeps, nobody bound to Ana is to see ids or words. `anas`: memories of hers."""

    anas: tuple[ItemId, ...]
    memories: Mapping[str, ItemId]
    ids: frozenset[str]
    entries: tuple[Seq, ...]


def bound(keeper: Memory, role: Role) -> Memory:
    reached = {"users": frozenset({"ana"}), "projects": frozenset({"kitchen"})}
    return keeper.acting(Principal(tenant=HERE, id="eve", role=role, **reached))


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[Memory]:
    """An admin in whose store nothing is done but what is asked for."""
    models = {"embedder": "none", "judge": "none", "keeper": "none"}
    given = settings.load({"home": str(tmp_path), "store": str(tmp_path / "k.db"), "user": "root", **models})
    with wiring.connect(given, create=True) as memory:
        yield memory


@pytest.fixture
def others(keeper) -> Others:
    ana, ben, bot = member(keeper, "ana"), member(keeper, "ben"), agent(keeper)
    lost = ben.remember("The kettle is lost.", project_id="kitchen", thread_id="k")
    heir = ana.remember("The pot is here.", project_id="kitchen", thread_id="k", supersedes=lost.item_id)
    mine = ana.remember("Ana likes tea.", thread_id="a")
    kept = ben.remember("The kettle hides it.", thread_id="b")
    ben.revise(kept.item_id, tags=["kettle"])
    gone, back = ben.remember("The kettle is erased."), ben.remember("The kettle is withdrawn.")
    shared = ben.remember("The kettle stays.", project_id="mill", visibility=Visibility.PROJECT_SHARED)
    silo = bot.remember("A kettle of the bot.", user_id="ben", visibility=Visibility.AGENT_SILO)
    link = Relation(id=RecordId("r"), from_id=kept.item_id, to_id=mine.item_id, strength=0.5, created_at=NOW)
    apply(keeper, Link(link))
    ben.rollback(OneMemory(back.item_id, Rev(0)))
    thread = ben.show(kept.item_id).evidence[0].item_id
    keeper.erase(gone.item_id)
    keeper.erase(lost.item_id)
    named = {
        "private": kept.item_id,
        "its thread": thread,
        "erased": gone.item_id,
        "erased, and replaced by hers": lost.item_id,
        "withdrawn": back.item_id,
        "shared": shared.item_id,
        "in a silo": silo.item_id,
        "event": ItemId(kept.event_id),
    }
    lines = [line for line in keeper.export() if "mill" in line or "kettle" in line.lower() or '"ben"' in line]
    found = {id for line in lines for id in re.findall(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", line)}
    ours = {mine.item_id, mine.event_id, heir.item_id, heir.event_id}
    ours |= {event.item_id for one in (mine, heir) for event in ana.show(one.item_id).evidence}
    foreign = (e.header.seq for e in keeper.journal(limit=999) if e.header.item_id not in ours)
    return Others((mine.item_id, heir.item_id), named, frozenset(found | set(named.values())) - ours, tuple(foreign))


def answer(way: Callable[[], object]) -> str:
    """The words of a refusal: whatever else comes out fails."""
    with pytest.raises((NotFound, Forbidden)) as refused:
        way()
    return f"{refused.typename}: {refused.value}"


def test_whatever_is_done_to_one_memory_is_gone_through():
    ways = (name for name in dir(Memory) if not name.startswith("_") and callable(getattr(Memory, name)))
    assert {name for name in ways if "item_id" in inspect.signature(getattr(Memory, name)).parameters} == {*OF_A_MEMORY}


@pytest.mark.parametrize("role", [Role.ADMIN, Role.MODERATOR])
def test_with_bounds_the_memory_of_others_is_what_never_was(keeper, others, role):
    eve, before = bound(keeper, role), list(keeper.export())
    for way, do in TO_A_MEMORY.items():
        unknown = answer(lambda do=do: do(eve, NEVER))
        for what, id in others.memories.items():
            assert answer(lambda do=do, id=id: do(eve, id)) == unknown, (way, what)
    for do in OF_ALL.values():
        told = answer(lambda do=do: do(eve))
        assert "kettle" not in told
        assert not [id for id in others.ids if id in told]
    assert list(keeper.export()) == before


@pytest.mark.parametrize("role", [Role.ADMIN, Role.MODERATOR])
def test_with_bounds_nobody_walks_through_the_journal_by_its_numbers(keeper, others, role):
    eve, before = bound(keeper, role), list(keeper.export())
    for seq in others.entries:
        for cascade in (False, True):
            for way in (eve.preview_rollback, eve.rollback):
                told = answer(lambda way=way, seq=seq, cascade=cascade: way(OneEntry(seq), cascade=cascade))
                assert told.startswith(
                    (f"NotFound: there is no entry {seq} in the journal", "Forbidden: only an admin")
                )
    assert list(keeper.export()) == before


@pytest.mark.parametrize("role", [Role.ADMIN, Role.MODERATOR])
def test_with_bounds_nothing_of_others_comes_along_with_ones_own(keeper, others, role):
    eve = bound(keeper, role)
    told: list[object] = [eve.items(), eve.lines(), eve.pending(), eve.query(Query(text="kettle", threshold=0.0))]
    for mine in others.anas:
        told += [eve.item(mine), eve.show(mine), eve.history(mine), eve.versions(mine), eve.evidence(mine)]
    assert "kettle" not in str(told).lower()
    assert not [id for id in others.ids if id in str(told)]
    assert answer(lambda: eve.rollback(OneEntry(Seq(last(keeper, "link"))))).startswith("NotFound")
    refused = answer(lambda: eve.rollback(OneMemory(others.anas[0], Rev(0)), cascade=True))
    assert not [id for id in others.ids if id in refused]


def test_with_bounds_an_admin_rolls_back_and_erases_what_they_include(keeper, others):
    eve, ana = bound(keeper, Role.ADMIN), member(keeper, "ana")
    told, law = ana.remember("Ana rows."), ana.remember("Ana never swims.")
    shared = ana.remember("The oven is hot.", project_id="kitchen", visibility=Visibility.PROJECT_SHARED)
    eve.revise(told.item_id, importance=5)
    eve.rollback(OneEntry(Seq(last(keeper, "update"))))
    assert ana.show(told.item_id).item.importance == 3
    assert eve.find(told.item_id[-12:]) == told.item_id
    eve.protect(law.item_id)
    for kept in (told, law, shared):
        eve.erase(kept.item_id)
        with pytest.raises(NotFound):
            ana.show(kept.item_id)
    again = ana.remember("Ana rows again.")
    eve.rollback(OneMemory(again.item_id, Rev(0)))
    with pytest.raises(NotFound, match="withdrawn by a rollback"):
        ana.show(again.item_id)
    eve.remember("Eve's own.", user_id="ana")
    with pytest.raises(Forbidden, match="without bounds"):
        eve.erase_user("ana")
    with pytest.raises(Forbidden, match="without bounds"):
        list(eve.export_user("ana"))


def test_with_bounds_an_admin_erases_no_silo_that_a_grant_opens(keeper, others):
    eve, silo = bound(keeper, Role.ADMIN), others.memories["in a silo"]
    grant(keeper, "eve")
    assert eve.show(silo).words == "A kettle of the bot."
    before = list(keeper.export())
    for way in (eve.preview_erase, eve.erase):
        with pytest.raises(Forbidden, match="within their bounds"):
            way(silo)
    with pytest.raises(Forbidden, match="written by that agent alone"):
        eve.rollback(OneMemory(silo, Rev(0)))
    assert list(keeper.export()) == before


def test_with_bounds_people_still_erase_all_that_is_kept_of_themselves(keeper):
    eve = bound(keeper, Role.ADMIN)
    kept = member(keeper, "eve").remember("Eve likes tea.")
    assert "Eve likes tea." in "".join(eve.export_user("eve"))
    eve.erase_user("eve")
    with pytest.raises(Gone):
        keeper.show(kept.item_id)
