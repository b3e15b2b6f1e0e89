"""A house with everything in it that somebody may not reach, the people who try, and what each of them may do: told
here once more, from the documents and not from the code."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.asking import Asked, Reply, asked
from recollect.domain.ids import ItemId, TenantId
from recollect.domain.item import Visibility
from recollect.domain.query import Query
from recollect.domain.scope import Principal, Role
from recollect.ports import Store
from recollect.write.message import Message

HERE, THERE = TenantId("default"), TenantId("elsewhere")
UNKNOWN = "01990000-0000-7000-8000-000000000000"
_HOUSE = frozenset({"house"})
_ANA = frozenset({"ana"})
PEOPLE: Mapping[str, Principal] = {
    "admin": Principal(tenant=HERE, id="root", role=Role.ADMIN),
    "moderator": Principal(tenant=HERE, id="mona", role=Role.MODERATOR),
    "member": Principal(tenant=HERE, id="ana", role=Role.MEMBER, projects=_HOUSE),
    "other": Principal(tenant=HERE, id="ben", role=Role.MEMBER, projects=_HOUSE | {"lab"}),
    "agent": Principal(tenant=HERE, id="robin", role=Role.AGENT, agent_id="robin", users=_ANA, projects=_HOUSE),
    "listed": Principal(tenant=HERE, id="planner", role=Role.AGENT, agent_id="planner", users=_ANA, projects=_HOUSE),
    "stranger": Principal(tenant=THERE, id="root", role=Role.ADMIN),
}
READS: Mapping[str, frozenset[str]] = {
    "own": frozenset({"admin", "moderator", "member", "agent"}),
    "task": frozenset({"admin", "moderator", "member", "agent", "listed"}),
    "other's": frozenset({"admin", "moderator", "other"}),
    "silo": frozenset({"agent"}),
    "shared": frozenset({"admin", "moderator", "member", "other", "agent"}),
    "lab": frozenset({"admin", "moderator", "other"}),
    "withheld": frozenset({"admin", "moderator", "member"}),
    "private": frozenset({"other"}),
    "thread": frozenset({"admin", "moderator", "member", "agent"}),
    "other's thread": frozenset({"admin", "moderator", "other"}),
    "foreign": frozenset({"stranger"}),
    "event": frozenset({"admin", "moderator", "member", "agent"}),
    "other's event": frozenset({"admin", "moderator", "other"}),
    "withheld event": frozenset({"admin", "moderator", "member"}),
    "silo event": frozenset({"agent"}),
    "erased": frozenset(),
    "unknown": frozenset(),
}
"""Who may read each of the things that are there. Private words are for who took part, whatever their role; a silo is
its own agent's; the list of `listed` has tasks and neither knowledge nor threads, that of `agent` all but
relationship_dynamic."""
EVENTS = frozenset({"event", "other's event", "withheld event", "silo event"})
EPISODES = frozenset({"thread", "other's thread"})


@dataclass(frozen=True)
class House:
    server: Asked
    targets: Mapping[str, str]
    versions: Mapping[str, str]
    """A version of each of them; an unknown one of what has none."""

    def ask(self, who: str, method: str, path: str, body: object = None) -> Reply:
        return self.server.ask(PEOPLE[who], method, path, body)

    def state(self) -> tuple[object, ...]:
        """All that is kept in both tenants, but for what the server noted by the way."""
        self.server.memory._tally.flush()  # type: ignore[attr-defined]
        return tuple(self.server.export(tenant) for tenant in (HERE, THERE))

    def heads(self) -> tuple[object, ...]:
        return tuple(self.server.memory._store.head(tenant) for tenant in (HERE, THERE))  # type: ignore[attr-defined]


def furnished(home: Path, store: str, wrapped: Callable[[Store], Store] = lambda store: store) -> House:
    server = asked(home, store, PEOPLE, wrapped)
    memories = {name: server.acting(who) for name, who in PEOPLE.items()}
    ana, ben, robin, root = memories["member"], memories["other"], memories["agent"], memories["admin"]
    own = ana.remember("Ana keeps the blue ladder in the shed.", topic_key="ladder")
    task = ana.remember("Ana has to paint the fence in May.", category="tasks")
    bens = ben.remember("Ben keeps the red ladder in the attic.")
    silo = robin.remember("Ana is slow in the morning.", visibility=Visibility.AGENT_SILO)
    house = {"project_id": "house"}
    shared = ana.remember("The house rules hang in the hall.", thread_id="rules", **house)
    lab = ben.remember("The lab opens at seven.", thread_id="lab", project_id="lab")
    withheld = ana.remember("Ana and Ben are not on speaking terms.", category="relationship_dynamic", thread_id="us")
    said = [Message(text="My doctor put me on xyloquill for my diabetes.", author="ben", role="user")]
    ben.ingest(said, thread_id="clinic", wait=True, **house)
    private = ben.remember("My doctor doubled the xyloquill for my diabetes.", thread_id="clinic", **house)
    foreign = memories["stranger"].remember("The strangers meet on Sunday.")
    erased = ana.remember("Ana once had a parrot.", thread_id="birds")
    root.erase(erased.item_id)
    ana.ingest([Message(text=text, author="ana", role="user") for text in _TALK], thread_id="talk", wait=True)
    thread = next(item for item in ana.items() if item.thread_id == "talk" and item.kind == "episode")
    ana.close_episode(thread.id)
    bens_thread = next(item for item in ben.items() if item.thread_id == "notes" and item.kind == "episode")
    robin.query(Query(text="ladder", turn_id="robin's"))
    ben.query(Query(text="ladder", turn_id="ben's"))
    targets: dict[str, str] = {
        "own": own.item_id,
        "task": task.item_id,
        "other's": bens.item_id,
        "silo": silo.item_id,
        "shared": shared.item_id,
        "lab": lab.item_id,
        "withheld": withheld.item_id,
        "private": private.item_id,
        "thread": thread.id,
        "other's thread": bens_thread.id,
        "foreign": foreign.item_id,
        "event": own.event_id,
        "other's event": bens.event_id,
        "withheld event": withheld.event_id,
        "silo event": silo.event_id,
        "erased": erased.item_id,
        "unknown": UNKNOWN,
    }
    inner = server.memory._store  # type: ignore[attr-defined]
    found = {
        name: [one.id for tenant in (HERE, THERE) for one in inner.versions(tenant, ItemId(id))]
        for name, id in targets.items()
    }
    return House(server, targets, {name: ids[-1] if ids else UNKNOWN for name, ids in found.items()})


_TALK = (
    "I moved the ladder to the garage because the shed is damp.",
    "We decided to paint the fence green, because the blue paint is sold out.",
    "I am allergic to walnuts, so no walnut cake for me, please.",
)
