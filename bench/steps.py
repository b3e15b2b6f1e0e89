"""The steps of the isolation drive: who does what to what, drawn at random, told so that two stores can be asked it."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from bench.asking import Reply
from bench.cast import EVERYBODY, OVERSEERS, SUBJECTS, WITHHELD, Oracle, Place
from recollect.domain.item import Visibility
from recollect.domain.scope import Principal, Role

_THINGS = "lantern kettle ladder anchor basket violin saddle compass".split()
_PLACES = "hall attic harbour garden cellar workshop".split()
_CATEGORIES = ("knowledge", "knowledge", "preferences", "tasks", "goals", "relationship_dynamic")
_THREADS = tuple(f"talk {number}" for number in range(4))
_CLINIC = ("clinic 1", "clinic 2")
TARGET, VERSION = "{target}", "{version}"


@dataclass
class Label:
    """Something that has an id: in the full store, and, where a subject made it, in the other one."""

    kind: str
    owner: str
    ids: list[str]
    canary: str = ""
    versions: list[str] = field(default_factory=lambda: ["", ""])


@dataclass
class Step:
    """One request. `TARGET` in it stands for an id, which each store has its own of."""

    who: str
    method: str
    path: str
    body: Any = None
    target: tuple[str, str] = ("", "")
    version: tuple[str, str] = ("", "")
    canaries: Sequence[str] = ()
    made: str = ""
    label: Label | None = None

    def at(self, store: int) -> str:
        return self.path.replace(TARGET, self.target[store]).replace(VERSION, self.version[store])

    def body_at(self, store: int) -> Any:
        return None if self.body is None else json.loads(json.dumps(self.body).replace(TARGET, self.target[store]))


class Steps:
    """Draws the next step, and learns from what is answered."""

    def __init__(self, chance: random.Random, oracle: Oracle) -> None:
        self._chance, self._oracle = chance, oracle
        self._labels: list[Label] = []
        self.made: set[tuple[str, str]] = set()
        """Ids that somebody was told when they made it: what they may not look at afterwards, they know the name of."""

    def next(self) -> Step:
        who = self._chance.choice([*SUBJECTS, *SUBJECTS, *EVERYBODY])
        [kind] = self._chance.choices(list(KINDS), weights=[weight for weight, _ in KINDS.values()])
        return KINDS[kind][1](self, who)

    def any_memory(self) -> Label | None:
        found = [one for one in self._labels if one.kind == "memory" and EVERYBODY[one.owner].role is not Role.AGENT]
        return self._chance.choice(found) if found else None

    def learn(self, step: Step, first: Reply, second: Reply | None) -> None:
        if first.status >= 400:
            return
        told = [reply.document for reply in (first, second) if reply is not None]
        if step.made == "memory":
            canary = step.canaries[0]
            self._known("memory", step, [one["id"] for one in told], canary)
            self._known("event", step, [one["event_id"] for one in told], canary)
        elif step.made == "thread":
            self._known("thread", step, [one["episode_id"] for one in told], "")
            self._known("event", step, [one["event_ids"][0] for one in told], step.canaries[0])
        elif step.made == "versions" and step.label and told[0]["versions"]:
            step.label.versions = [*(one["versions"][0]["versionId"] for one in told), ""][:2]

    def _known(self, kind: str, step: Step, ids: Sequence[str], canary: str) -> None:
        self.made.add((ids[0], step.who))
        if not any(one.ids[0] == ids[0] for one in self._labels):
            self._labels.append(Label(kind, step.who, [*ids, ""][:2], canary))

    # -- writing --------------------------------------------------------------------------------------------

    def place(self, who: Principal) -> tuple[dict[str, Any], Visibility, str | None, str | None]:
        """Where somebody may write: the fields that say so, and what follows from them."""
        users = [who.id] if who.role is not Role.AGENT else sorted(who.users or ())
        projects = sorted(who.projects or ("yard",))
        ways = ["private", "private", "shared"] + (["silo"] if who.role is Role.AGENT else [])
        match self._chance.choice(ways):
            case "shared":
                project = self._chance.choice(projects)
                return {"project_id": project}, Visibility.PROJECT_SHARED, None, project
            case "silo":
                user = self._chance.choice(users)
                return {"visibility": "agent-silo", "user_id": user}, Visibility.AGENT_SILO, user, None
            case _:
                user = self._chance.choice(users)
                return {"user_id": user}, Visibility.USER_PRIVATE, user, None

    def text(self, name: str, place: Place, thread: str) -> tuple[str, str]:
        """A new text with its canary. In a thread that is shared, some of it is private."""
        who = EVERYBODY[name]
        canary = self._oracle.canary()
        private = thread in _CLINIC and place.visibility is Visibility.PROJECT_SHARED
        part = (place.tenant, str(place.project), thread, str(who.agent_id)) if private else None
        if part:
            self._oracle.joins(who, part)
        where = Place(place.tenant, place.visibility, place.user, place.project, place.agent, place.category, part)
        self._oracle.planted[canary] = where
        if private:
            return f"My doctor put me on {canary} for my diabetes.", canary
        thing, spot = self._chance.choice(_THINGS), self._chance.choice(_PLACES)
        return f"The {thing} called {canary} is kept in the {spot} near the {self._chance.choice(_THINGS)}.", canary

    def remember(self, name: str) -> Step:
        who = EVERYBODY[name]
        fields, visibility, user, project = self.place(who)
        thread, category = self._chance.choice((*_THREADS, *_CLINIC)), self._chance.choice(_CATEGORIES)
        if category in WITHHELD:  # elsewhere, what is said next may be quoted together with it
            thread = "between us"
        place = Place(who.tenant, visibility, user, project, who.agent_id, category)
        text, canary = self.text(name, place, thread)
        body = {"text": text, "category": category, "thread_id": thread, **fields}
        step = Step(name, "POST", "/api/memory/remember", body, canaries=[canary], made="memory")
        if self._chance.random() < 0.1:
            step.target = self.target(name).target
            body["supersedes"] = TARGET
            step.made = "memory"
        return step

    def ingest(self, name: str) -> Step:
        who = EVERYBODY[name]
        fields, visibility, user, project = self.place(who)
        thread = self._chance.choice((*_THREADS, *_CLINIC))
        place = Place(who.tenant, visibility, user, project, who.agent_id, "episode")
        said = [self.text(name, place, thread) for _ in range(self._chance.randint(1, 3))]
        messages = [{"text": text, "author": who.id, "role": "user"} for text, _ in said]
        body = {"thread_id": thread, "messages": messages, **fields}
        canaries = [canary for _, canary in said]
        return Step(name, "POST", "/api/memory/ingest", body, canaries=canaries, made="thread")

    # -- reading --------------------------------------------------------------------------------------------

    def query(self, name: str) -> Step:
        chance, who = self._chance, EVERYBODY[name]
        words = [chance.choice(_THINGS), chance.choice(_PLACES)]
        if chance.random() < 0.3 and self._oracle.planted:
            words.append(chance.choice(list(self._oracle.planted)))  # of anybody: nothing keeps people from guessing
        body: dict[str, Any] = {
            "query": f"Where is the {' '.join(words)}?",
            "source": chance.choice(["any", "memory", "evidence"]),
            "return": chance.choice(["bullets", "full"]),
            "threshold": 0,
            "budget_tokens": chance.choice([512, 4000]),
            "explain": chance.random() < 0.3,
        }
        if chance.random() < 0.5:
            body["thread_id"] = chance.choice(_THREADS)
        if chance.random() < 0.3:
            body["turn_id"] = f"turn {chance.randint(0, 9)}"
        if who.role is not Role.AGENT and chance.random() < 0.3:
            body["agent"] = chance.choice(["robin", "planner", "wren"])
        if chance.random() < 0.1:
            body["task"] = chance.choice(["audit", "quote", "dispute"])
        if name in OVERSEERS:
            body["filters"] = {"user_id": "ben"} if chance.random() < 0.5 else {"project_id": "yard"}
        elif chance.random() < 0.1:
            body["filters"] = {"user_id": chance.choice(["ana", "ben"])}
        return Step(name, "POST", "/api/memory/query", body)

    def target(self, name: str) -> Step:
        """A step about something that has an id: anybody's, or nobody's. By its id or its ending."""
        chance = self._chance
        within = [one for one in self._labels if name not in OVERSEERS or one.owner not in SUBJECTS]
        own = [one for one in within if one.owner == name]
        pool = own if own and chance.random() < 0.5 else within
        label = chance.choice(pool) if pool and chance.random() < 0.92 else Label("unknown", "", ["", ""])
        ids = [id or str(UUID(int=chance.getrandbits(128), version=4)) for id in label.ids]
        if chance.random() < 0.2:
            ids = [id[-10:] for id in ids]
        versions = [id or str(UUID(int=chance.getrandbits(128), version=4)) for id in label.versions]
        return Step(name, "GET", "", target=(ids[0], ids[1]), version=(versions[0], versions[1]), label=label)

    def feedback(self, name: str) -> Step:
        body: dict[str, Any] = {"mark": self._chance.choice(["reroll", "correct", "incorrect"])}
        if EVERYBODY[name].role is not Role.AGENT and self._chance.random() < 0.6:
            # Overseers may mark the turns of every agent, and it counts: they leave those of the subjects alone.
            body["agent"] = "wren" if name in OVERSEERS else self._chance.choice(["robin", "planner", "wren"])
        return Step(name, "POST", f"/api/turns/turn {self._chance.randint(0, 9)}/feedback".replace(" ", "%20"), body)


def by_id(method: str, path: str, body: Any = None, made: str = "") -> Callable[[Steps, str], Step]:
    def drawn(steps: Steps, name: str) -> Step:
        step = steps.target(name)
        step.method, step.path, step.body, step.made = method, path, body, made
        return step

    return drawn


def _plain(method: str, *paths: str) -> Callable[[Steps, str], Step]:
    def drawn(steps: Steps, name: str) -> Step:
        return Step(name, method, paths[len(name) % len(paths)])

    return drawn


_ONE = f"/api/memory/{TARGET}"
KINDS: Mapping[str, tuple[int, Callable[[Steps, str], Step]]] = {
    "remember": (14, Steps.remember),
    "ingest": (8, Steps.ingest),
    "query": (24, Steps.query),
    "serve": (10, by_id("GET", _ONE)),
    "more": (3, by_id("GET", f"{_ONE}?level=more&turn_id=turn%201")),
    "evidence": (8, by_id("GET", f"{_ONE}/evidence")),
    "witness": (2, by_id("GET", f"{_ONE}/evidence?witness=s:1-9")),
    "history": (6, by_id("GET", f"{_ONE}/history")),
    "versions": (5, by_id("GET", f"{_ONE}/versions", made="versions")),
    "version": (2, by_id("GET", f"{_ONE}/versions/{VERSION}")),
    "archive": (3, by_id("POST", f"{_ONE}/archive", {"reason": "tidied"})),
    "restore": (3, by_id("POST", f"{_ONE}/restore")),
    "pin": (1, by_id("POST", f"{_ONE}/pin")),
    "unpin": (1, by_id("POST", f"{_ONE}/unpin")),
    "close": (3, by_id("POST", f"{_ONE}/close")),
    "promote": (1, by_id("PUT", f"{_ONE}/active/{VERSION}", {})),
    "compress": (1, by_id("POST", "/api/memory/compress", {"memory_id": TARGET})),
    "feedback": (4, Steps.feedback),
    "pending": (1, _plain("GET", "/api/pending")),
    "audit": (1, _plain("GET", "/api/audit?limit=50")),
    "epoch": (1, _plain("GET", "/api/projects/house/epoch", "/api/projects/yard/epoch")),
}
"""How often each is drawn, and how."""
