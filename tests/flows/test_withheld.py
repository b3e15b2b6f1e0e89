"""What a list of categories withholds from an agent is withheld at every door; what is told of changes is told to who
was asked for, however much happens to others; and history holds no words that versions refuse."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect import Memory, Message, Principal, Query, Role, Source, settings, wiring
from recollect.domain.change import Append, Create, Derive
from recollect.domain.ids import EventId, ItemId, TenantId
from recollect.domain.level import Level
from recollect.domain.query import Filters
from recollect.domain.turn import NEED_MORE_CONTEXT, Task
from recollect.errors import Invalid, NotFound
from recollect.jobs.kinds import KINDS
from recollect.jobs.worker import Worker
from tests.confided import again, tried
from tests.worlds import World

HERE = TenantId("default")
CANARY = "quarrel"


@pytest.fixture
def admin(tmp_path: Path) -> Iterator[Memory]:
    chosen = {"embedder": "none", "keeper": "none", "judge": "none"}
    given = settings.load({"home": str(tmp_path), "store": str(tmp_path / "m.db"), "user": "root", **chosen})
    with wiring.connect(given, create=True) as memory:
        yield memory


def agent(admin: Memory, name: str, user: str = "ana", credential: str | None = None) -> Memory:
    who = {"users": frozenset({user}), "projects": frozenset[str]()}
    tenant = admin.principal.tenant
    return admin.acting(Principal(tenant=tenant, id=credential or name, role=Role.AGENT, agent_id=name, **who))


def member(admin: Memory, name: str) -> Memory:
    return admin.acting(Principal(tenant=HERE, id=name, role=Role.MEMBER, projects=frozenset()))


@pytest.mark.parametrize("name", ["somebody", "planner"])
def test_words_of_a_category_that_is_left_out_come_out_at_no_door(admin: Memory, name: str):
    ana, bot = member(admin, "ana"), agent(admin, name)
    ana.remember("The regatta starts at noon.", category="tasks", thread_id="talk")
    kept = ana.remember(f"The regatta ended in a {CANARY} with Ben.", category="relationship_dynamic", thread_id="talk")
    ana.remember("The regatta needs two more boats.", category="tasks", thread_id="talk")
    episode = ana.show(kept.event_id).item.id
    ana.close_episode(episode)
    everything = [item.id for item in ana.items()]
    events = [event.id for event in ana.thread(episode)]
    witnesses = ["s:1-9", f"e:{kept.event_id}"]
    ways = [
        *(
            lambda id=id, way=way: way(id)
            for id in (*everything, *events)
            for way in (bot.show, bot.evidence, bot.history)
        ),
        *(lambda id=id: bot.serve(id, task=Task.AUDIT) for id in (*everything, *events)),
        *(lambda id=id: again(lambda: bot.serve(id, more=True, turn_id=f"t {id}")) for id in everything),
        *(lambda id=id, one=one: bot.evidence(id, one) for id in everything for one in witnesses),
        *(lambda id=id: (bot.thread(id), bot.versions(id)) for id in everything),
        bot.items,
        bot.lines,
        *(
            lambda source=source, said=said: again(
                lambda: bot.query(
                    Query(
                        text="How was the regatta with Ben?",
                        source=source,
                        said=said,
                        threshold=0.0,
                        thread_id="talk",
                        turn_id=f"q {source} {said}",
                        budget_tokens=4000,
                    )
                )
            )
            for source in Source
            for said in ("", NEED_MORE_CONTEXT)
        ),
    ]
    told = "\n".join(tried(*ways))
    assert "regatta" in told
    assert CANARY not in told
    assert kept.item_id not in told
    assert CANARY in "\n".join(tried(lambda: ana.thread(episode), lambda: ana.show(episode)))


def test_a_write_leaves_alone_what_its_writer_may_not_read(admin: Memory):
    ana, bot = member(admin, "ana"), agent(admin, "planner")
    kept = ana.remember("We agreed on the blue boat.", tags=["DECISION"], topic_key="boat")
    before = list(admin.export_state())
    with pytest.raises(NotFound, match="no such memory to supersede"):
        bot.remember("We agreed on the red boat.", category="tasks", supersedes=kept.item_id)
    assert list(admin.export_state()) == before
    told = bot.remember("We agreed on the blue boat.", tags=["DECISION/SUPERSEDES"], topic_key="boat")
    assert told.item_id != kept.item_id
    assert told.outcome == "created", "what it may not read is not there to be corroborated or replaced"
    assert ana.show(kept.item_id).item.superseded_by is None


@pytest.mark.parametrize("wait", [True, False], ids=["at once", "by a job"])
def test_what_an_agent_brings_in_is_not_compared_with_what_it_may_not_read(admin: Memory, wait: bool):
    ana, bot = member(admin, "ana"), agent(admin, "robin")
    text = "We decided that the boathouse workshop is on Monday at nine."
    kept = ana.remember(text, category="relationship_dynamic", thread_id="diary").item_id
    before = ana.show(kept), ana.history(kept)
    said = [Message(text=text, author="ana", role="user")]
    bot.ingest(said, thread_id="talk", user_id="ana", wait=wait)
    Worker(deps=admin._deps, kinds=KINDS, name="test").run_until_idle()
    assert (ana.show(kept), ana.history(kept)) == before, "it is neither witnessed nor replaced"
    [made] = bot.lines(Filters(kinds=frozenset({"fact"})))
    assert text in made.words, "as if the other were not there"


def header(memory: Memory, asked_as: str | None = None) -> tuple[str, ...]:
    return memory.query(Query(text="boats", thread_id="talk", agent=asked_as, budget_tokens=4000)).header


def test_what_an_agent_is_told_is_not_used_up_by_anybody_else(admin: Memory):
    ana, ben = member(admin, "ana"), member(admin, "ben")
    bot, other = agent(admin, "robin"), agent(admin, "robin", "ben", credential="robin for ben")
    assert header(bot) == ()
    ana.remember("The boats are in the harbour.", thread_id="talk")
    for somebody, named in ((ben, "robin"), (member(admin, "robin"), None), (admin, "robin"), (other, None)):
        header(somebody, named)
    assert any("harbour" in line for line in header(bot))
    assert header(bot) == (), "once"


def test_however_much_happens_to_others_one_is_told_the_same(admin: Memory):
    ana, ben = member(admin, "ana"), member(admin, "ben")
    header(ana)
    told = ana.remember("The boats are in the harbour.", thread_id="talk")
    for number in range(12):
        said = [Message(text=f"{number} {part} is of no interest to anybody.", author="ben") for part in range(60)]
        ben.append(said, thread_id="talk")
        for part in range(4):
            ben.remember(f"Ben counts {number} {part} in vain.", thread_id="talk")
    ana.revise(told.item_id, importance=4)
    assert [line for line in header(ana) if "harbour" in line] == [
        "- +created: [Knowledge] The boats are in the harbour. (imp=4)"
    ]


def test_history_holds_no_words_that_versions_refuse(admin: Memory):
    ana, bot = member(admin, "ana"), agent(admin, "robin")
    said = [
        Message(text=f"We decided on {name} boats because they are cheap.", author="ana") for name in ("red", "blue")
    ]
    episode = ana.ingest(said, thread_id="talk", wait=True).episode_id
    ana.close_episode(episode)
    made = [entry for entry in admin.history(episode) if entry.header.op == "derive"]
    assert len(made) >= 2
    assert all(entry.body for entry in made)
    served = {one.id for one in ana.versions(episode) if one.active and one.level <= Level.R3}
    for who in (ana, bot):
        told = [entry.change for entry in who.history(episode) if entry.header.op == "derive" and entry.body]
        assert {change.version.id for change in told if isinstance(change, Derive)} == served
        assert len([entry for entry in who.history(episode) if entry.header.op == "derive"]) == len(made)


def _alike(number: int, ending: str) -> str:
    return f"{number:08d}-0000-7000-8000-00000000{ending}"


def test_what_took_over_and_may_not_be_read_is_named_nowhere(admin: Memory):
    """Neither while it is there, whatever becomes of the memory that it took over from, nor when it was erased."""
    ana, bot = member(admin, "ana"), agent(admin, "robin")
    old = ana.remember("We decided to keep the boathouse.", category="tasks", tags=["DECISION"]).item_id
    about = {"category": "relationship_dynamic", "topic_key": f"the {CANARY}", "thread_id": "diary"}
    new = ana.remember("We decided to sell it.", supersedes=old, **about).item_id
    newest = ana.remember("We decided to rent a hut.", category="tasks", supersedes=new).item_id
    ana.restore(old)

    def told_to(who: Memory) -> str:
        ways = [lambda id=id, way=way: way(id) for id in (old, newest) for way in (who.show, who.serve, who.history)]
        return "\n".join(tried(*ways, who.items))

    def tells_nothing(who: Memory) -> bool:
        told = told_to(who)
        assert "boathouse" in told
        return not [word for word in (CANARY, new, new[-8:]) if word in told]

    assert tells_nothing(bot)
    assert new in told_to(ana)
    admin.erase(new)
    assert tells_nothing(bot)
    assert tells_nothing(ana)
    assert new in told_to(admin)
    assert CANARY not in "\n".join(admin.export())


def test_how_many_ids_end_alike_is_told_of_what_may_be_read_alone(world: World, tmp_path: Path):
    """However many others lie before them: neither the number nor whether one is found tells that they are there."""
    bot = agent(world.memory(tmp_path), "planner")
    for number in range(25):
        world.tell(id=ItemId(_alike(number, "aaaa")), category="knowledge")
    world.tell(id=ItemId(_alike(90, "aaaa")), category="tasks")
    assert bot.find("aaaa") == _alike(90, "aaaa")
    world.tell(id=ItemId(_alike(91, "aaaa")), category="tasks")
    with pytest.raises(Invalid, match=r"^2 memories"):
        bot.find("aaaa")
    talk = world.episode("talk")
    said = [world.event(talk, "Ana hums.", id=EventId(_alike(number, "bbbb"))) for number in range(230)]
    task = world.item(category="tasks")
    world.apply(Create(talk), *map(Append, said), Create(task), Derive(world.version(task, said[-1])))
    assert bot.find("bbbb") == said[-1].id
