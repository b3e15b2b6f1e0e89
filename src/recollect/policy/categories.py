"""Categories, how each enters a context, and which of them an agent may read.

An allowlist names what an agent gets, and what it may ask for. An agent that has no list of its own has the one called
`default`. `everything` in a list stands for all categories, those that are made up later included; with a minus before
it a category is left out of everything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from recollect.domain.item import KINDS, PROCEDURAL
from recollect.domain.text import name
from recollect.errors import Forbidden, Invalid

DEFAULT = "default"
EVERYTHING = "everything"
EVIDENCE = "episode"
"""Who may read this category may read all events of the threads in sight; others those that their memories cite."""
ON_REQUEST = frozenset({"procedural"})
"""Served only to who names it: in the list or in the request. How-to steps would crowd a conversation."""


@dataclass(frozen=True, slots=True)
class All:
    """Every memory of the category is served, before what was found."""


@dataclass(frozen=True, slots=True)
class Rag:
    """What was found is served: at most so many of the category are considered."""

    length: int

    def __post_init__(self) -> None:
        if self.length < 1:
            raise ValueError(f"rag_length {self.length}: give a number from 1 up")


Context = All | Rag


@dataclass(frozen=True, slots=True)
class Only:
    """These categories."""

    names: frozenset[str]

    def holds(self, category: str) -> bool:
        return category in self.names


@dataclass(frozen=True, slots=True)
class AllBut:
    """Every category but these."""

    names: frozenset[str] = frozenset()

    def holds(self, category: str) -> bool:
        return category not in self.names


Allowed = Only | AllBut
EVERY_CATEGORY = AllBut()


def sides(allowed: Allowed) -> tuple[frozenset[str] | None, frozenset[str]]:
    """The categories that are held, None for all, and those that are left out: as a store is told."""
    return (allowed.names, frozenset()) if isinstance(allowed, Only) else (None, allowed.names)


@dataclass(frozen=True, slots=True)
class Categories:
    """The categories that are configured, and the allowlists by agent."""

    contexts: Mapping[str, Context] = field(default_factory=dict[str, Context])
    allowlists: Mapping[str, Allowed] = field(default_factory=dict[str, Allowed])

    def allowed(self, agent: str | None) -> Allowed:
        """What an agent may read. A person, who comes without one, may read all that is in sight."""
        if agent is None:
            return AllBut()
        return self.allowlists.get(agent) or self.allowlists.get(DEFAULT) or AllBut()

    def granted(self, agent: str | None, asked: frozenset[str] | None, *, procedures: bool = False) -> Allowed:
        """What a request gets: the categories it names, or all that its agent has, without those that are served on
        request alone, whoever asks; `procedures`: they are asked for by their kind. Raises Forbidden for others."""
        allowed = self.allowed(agent)
        if asked is None:
            return AllBut(allowed.names | ON_REQUEST) if isinstance(allowed, AllBut) and not procedures else allowed
        refused = sorted(category for category in asked if not allowed.holds(category))
        if refused:
            raise Forbidden(
                f"the agent {agent!r} may not read the {_counted(refused)}", f"It may read {_described(allowed)}."
            )
        return Only(asked)

    def whole(self, allowed: Allowed) -> frozenset[str]:
        """Those of the allowed categories that are served whole."""
        return frozenset(
            category
            for category, context in self.contexts.items()
            if isinstance(context, All) and allowed.holds(category)
        )

    def most(self, category: str) -> int | None:
        """How many of a category are considered at most."""
        context = self.contexts.get(category)
        return context.length if isinstance(context, Rag) else None


def kinds(allowed: Allowed, *, named: bool) -> frozenset[str] | None:
    """The kinds of memories that a request gets; None for all. How something is done comes to who names a category or
    a kind, and to agents whose list names it."""
    if named or (isinstance(allowed, Only) and allowed.names & ON_REQUEST):
        return None
    return KINDS - PROCEDURAL


def _counted(names: Sequence[str]) -> str:
    return f"category {names[0]!r}" if len(names) == 1 else f"categories {', '.join(map(repr, names))}"


def _described(allowed: Allowed) -> str:
    names = ", ".join(sorted(allowed.names))
    match allowed:
        case Only():
            return names or "no category"
        case AllBut():
            return f"everything but {names}" if names else "everything"


SHIPPED: Mapping[str, object] = {
    "categories": {
        "system": [
            {"name": "profile", "context": "all"},
            {"name": "event", "context": "rag", "rag_length": 30},
            {"name": "activity", "context": "rag", "rag_length": 50},
        ],
        "custom": [],
    },
    "allowlists": {
        "supervisor": [
            "profile",
            "goals",
            "preferences",
            "event",
            "activity",
            "relationships",
            "tasks",
            "relationship_dynamic",
        ],
        "planner": ["goals", "tasks", "projects", "procedural"],
        "stylist": ["preferences", "tone", "style"],
        "researcher": ["knowledge", "interests", "history"],
        "executor": ["tasks", "recent_activity", "constraints", "procedural"],
        "default": ["everything", "-relationship_dynamic"],
    },
}
"""What holds where nothing is configured."""


def parse(config: Mapping[str, object]) -> Categories:
    """Categories and allowlists out of a mapping, as a YAML file holds them. What the file leaves out is as shipped."""
    unknown = sorted(set(config) - {"categories", "allowlists"})
    if unknown:
        raise Invalid(f"categories: there is no key {unknown[0]!r}", "There are: categories, allowlists.")
    known = {**SHIPPED, **config}
    contexts = _contexts(_mapping(known["categories"], "categories"))
    lists = _mapping(known["allowlists"], "allowlists")
    allowlists = {agent: _allowlist(agent, names) for agent, names in lists.items()}
    if DEFAULT not in allowlists:
        allowlists[DEFAULT] = _allowlist(DEFAULT, _mapping(SHIPPED["allowlists"], "allowlists")[DEFAULT])
    return Categories(contexts, allowlists)


def _contexts(groups: Mapping[str, object]) -> dict[str, Context]:
    found: dict[str, Context] = {}
    for group, rows in groups.items():
        if group not in ("system", "custom"):
            raise Invalid(f"categories: there is no group {group!r}", "There are: system, custom.")
        for row in _list(rows, f"categories.{group}"):
            entry = _mapping(row, f"an entry of categories.{group}")
            category = _name(entry.get("name"), f"the name of an entry of categories.{group}")
            if category in found:
                raise Invalid(f"the category {category!r} is named twice", "Keep one of its entries.")
            found[category] = _context(category, entry)
    return found


def _context(category: str, entry: Mapping[str, object]) -> Context:
    unknown = sorted(set(entry) - {"name", "context", "rag_length"})
    if unknown:
        raise Invalid(f"the category {category!r} has no key {unknown[0]!r}", "There are: name, context, rag_length.")
    match entry.get("context", "rag"), entry.get("rag_length"):
        case "all", None:
            return All()
        case "all", _:
            raise Invalid(f"the category {category!r} has the context all and a rag_length", "Leave one of them out.")
        case "rag", None:
            return Rag(DEFAULT_LENGTH)
        case "rag", int(length) if not isinstance(length, bool) and length >= 1:
            return Rag(length)
        case "rag", length:
            raise Invalid(f"the category {category!r} has the rag_length {length!r}", "Give a number from 1 up.")
        case context, _:
            raise Invalid(f"the category {category!r} has the context {context!r}", "Give all or rag.")


DEFAULT_LENGTH = 50


def _allowlist(agent: str, names: object) -> Allowed:
    listed = [_name(entry, f"an entry of allowlists.{agent}") for entry in _list(names, f"allowlists.{agent}")]
    left_out = frozenset(entry[1:] for entry in listed if entry.startswith("-"))
    named = frozenset(entry for entry in listed if not entry.startswith("-"))
    if EVERYTHING in named:
        return AllBut(left_out - named)
    if left_out:
        raise Invalid(
            f"allowlists.{agent} leaves out {', '.join(sorted(left_out))}", f"That goes with {EVERYTHING} in the list."
        )
    return Only(named)


def _mapping(value: object, what: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise Invalid(f"{what} is no mapping", "Write it as key: value.")
    return {str(key): entry for key, entry in cast(Mapping[object, object], value).items()}


def _list(value: object, what: str) -> Sequence[object]:
    if not isinstance(value, list | tuple):
        raise Invalid(f"{what} is no list", "Write it as [a, b, c].")
    return cast(Sequence[object], value)


def _name(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise Invalid(f"{what} is {value!r}", "Give a name.")
    try:
        return name(value, what) or value
    except ValueError as error:
        raise Invalid(str(error)) from error
