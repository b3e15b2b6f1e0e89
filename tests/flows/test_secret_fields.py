"""No secret rests in any field of any door: it is taken out, or, in a name that things are found by, refused."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from recollect.domain.event import CLAIMED_AUTHOR
from recollect.domain.ids import ItemId
from recollect.domain.item import Artifact, ArtifactType, Episode, Fact, Insight, Journal, Pattern, Workflow
from recollect.domain.query import Filters, Query
from recollect.domain.scope import Principal, Role
from recollect.errors import Invalid, RecollectError
from recollect.memory import Memory
from recollect.ports import Store
from recollect.write.foreign import Thread
from recollect.write.message import Message
from tests.store.conftest import new_world
from tests.worlds import World

_CANARY = "gh" + "p_"
_SAMPLES = {
    "body": (
        Fact(key="k", value="v", scope="s"),
        Episode("title", (Artifact(ArtifactType.FILE, "a.py"),)),
        Pattern("trigger", {"key": ["value", {"deep": "value"}]}, "hint"),
        Workflow("trigger", ("one", "two"), "hint", {"key": "value"}),
        Insight(),
        Journal(),
    ),
    "messages": ([Message(text="We meet at nine.", author="ana", role="user", meta={"file": "a.md", "tags": ["b"]})],),
    "artifacts": ([Artifact(ArtifactType.COMMIT, "c0ffee")],),
    "threads": ([Thread("thread", "title", (Message(text="We meet at ten.", author="ana"),))],),
    "tags": (["tag"],),
    "query": (
        Query(text="when do we meet", agent="bot", turn_id="turn", thread_id="thread", filters=Filters(user_id="mira")),
        Query(text="when do we meet", thread_id="thread", filters=Filters(user_id="mira", thread_id="thread")),
    ),
}
"""What has texts in it, as it is given to a door."""
_GIVEN: dict[str, dict[str, object]] = {
    "remember": {"text": "We meet at nine."},
    "append": {"messages": _SAMPLES["messages"][0], "thread_id": "thread"},
    "ingest": {"messages": _SAMPLES["messages"][0], "thread_id": "thread", "wait": True},
    "bulk": {"threads": _SAMPLES["threads"][0]},
    "revise": {"item_id": "", "tags": ("tag",)},
    "archive": {"item_id": ""},
    "delete": {"item_id": ""},
    "restore": {"item_id": ""},
    "advance_epoch": {"project_id": "house"},
    "erase": {"item_id": ""},
    "erase_user": {"user_id": "nobody"},
    "query": {"query": _SAMPLES["query"][0]},
    "serve": {"item_id": ""},
    "feedback": {"turn_id": "turn", "mark": "correct"},
    "compress": {"topic": "thread"},
}
_NO_TEXT = frozenset(
    """acting answer backup close close_episode counts epoch evidence export export_state export_user find head history
    import_ item items jobs journal lines pending pin preview_erase preview_erase_user preview_rollback promote protect
    rejudge rejudged remade remake rollback rules set_rules show signed_head thread unpin verify version versions
    principal""".split()
)
"""Doors that keep no text of the caller's. What `import_` brings in was chained when it was written, and stays."""
_IDS = frozenset({"item_id", "supersedes", "mark"})


def _canaries() -> Iterator[str]:
    number = 0
    while True:
        number += 1
        yield f"{_CANARY}{number:06d}" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0"


def _planted(value: Any, canary: str) -> Iterator[Any]:
    """The value as often as there are texts in it, each time with the canary in one of them."""
    if isinstance(value, str) and type(value) is str:
        yield f"{value} {canary}"
        yield canary
    elif isinstance(value, dict):
        for key, part in value.items():
            yield {f"{key} {canary}": part}
            yield from ({**value, key: other} for other in _planted(part, canary))
    elif isinstance(value, list | tuple):
        for place, part in enumerate(value):
            for other in _planted(part, canary):
                yield type(value)([*value[:place], other, *value[place + 1 :]])
    elif is_dataclass(value):
        for field in fields(value):
            if field.name in _IDS or not field.init:
                continue
            for other in _planted(getattr(value, field.name), canary):
                yield replace(value, **{field.name: other})  # type: ignore[type-var]


def _tries(name: str, method: Callable[..., object]) -> Iterator[tuple[str, dict[str, object]]]:
    """Every way to put a canary into a door, parameter by parameter."""
    canaries = _canaries()
    hints = get_type_hints(method)
    for parameter in inspect.signature(method).parameters.values():
        told = str(hints.get(parameter.name, ""))
        if parameter.name in ("self", *_IDS):
            continue
        samples: tuple[object, ...] = _SAMPLES.get(parameter.name, ("word",) if "str" in told else ())
        if name == "revise" and parameter.kind is parameter.VAR_KEYWORD:
            for field, values in {
                "tags": (("tag",),),
                "topic_key": ("t",),
                "category": ("c",),
                "body": _SAMPLES["body"],
            }.items():
                for sample in values:
                    for planted in _planted(sample, next(canaries)):
                        yield f"revise.{field}", {field: planted}
            continue
        for sample in samples:
            for planted in _planted(sample, next(canaries)):
                yield f"{name}.{parameter.name}", {**_GIVEN[name], parameter.name: planted}


def test_every_door_is_tried_or_keeps_no_text():
    doors = {name for name in dir(Memory) if not name.startswith("_")}
    assert doors - _NO_TEXT == _GIVEN.keys()


@pytest.mark.parametrize("door", sorted(_GIVEN))
def test_no_secret_rests_in_any_field(door: str, world: World, tmp_path: Path):
    memory = world.memory(tmp_path)
    memory.ingest([Message(text="We meet at nine.", author="ana")], thread_id="thread", wait=True)
    tried, refused = 0, list[tuple[str, str]]()
    for where, given in _tries(door, getattr(Memory, door)):
        if "item_id" in _GIVEN[door]:
            given = {"item_id": _fresh(memory, tried), **{k: v for k, v in given.items() if k != "item_id"}}
        try:
            getattr(memory, door)(**given)
        except RecollectError as error:
            refused += [(where, str(error))] if isinstance(error, Invalid) else []
        tried += 1
    assert tried or door == "restore"
    assert all("secret" in why or where.endswith(".body") for where, why in refused), refused
    kept = _everything(memory)
    at = kept.find(_CANARY)
    assert at < 0, kept[max(0, at - 300) : at + 60]


@pytest.mark.parametrize(
    "meta",
    [
        {"password": "swordfish"},
        {"env": {"DB_PASSWORD": "swordfish"}},
        {"tokens": {"access_token": ["swordfish4you!"]}},
        {"env": [{"name": "DB_PASSWORD", "value": "swordfish"}]},
        {"wifi password": "swordfish"},
    ],
)
def test_what_a_value_is_called_tells_as_well(meta: dict[str, Any], sqlite_store: Store, tmp_path: Path):
    memory = new_world(sqlite_store).memory(tmp_path)
    memory.ingest([Message(text="We meet at nine.", author="ana", meta=meta)], thread_id="thread", wait=True)
    memory.revise(_fresh(memory, 1), body=Fact(key="wifi password", value="swordfish"))
    assert "swordfish" not in _everything(memory)
    assert not [file.name for file in tmp_path.iterdir() if b"swordfish" in file.read_bytes()]


def test_no_secret_rests_in_the_name_that_an_agent_claims(world: World, tmp_path: Path):
    agent = Principal(tenant=world.tenant, id="bot", role=Role.AGENT, agent_id="bot", users=frozenset({"mira"}))
    memory = world.memory(tmp_path).acting(agent)
    canary = next(_canaries())
    kept = [memory.remember(f"Note {name}.", author=name) for name in (f"tom {canary}", "password=hunter2secret")]
    assert [one.redacted for one in kept] == [("github token",), ("secret",)]
    everything = _everything(world.memory(tmp_path))
    assert CLAIMED_AUTHOR in everything
    assert canary not in everything
    assert "hunter2secret" not in everything


def test_no_secret_rests_in_the_file(sqlite_store: Store, tmp_path: Path):
    """What rows do not show may still stand in a page, an index or a log."""
    memory = new_world(sqlite_store).memory(tmp_path)
    memory.remember("We meet at nine.")
    for door in ("remember", "ingest", "query", "feedback"):
        for _, given in _tries(door, getattr(Memory, door)):
            with suppress(RecollectError):
                getattr(memory, door)(**given)
    memory.counts()
    assert b"We meet at nine" in b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert not [file.name for file in tmp_path.iterdir() if _CANARY.encode() in file.read_bytes()]


def _fresh(memory: Memory, number: int) -> ItemId:
    return memory.remember(f"Fact number {number} is of its own kind {number * 7919}.").item_id


def _everything(memory: Memory) -> str:
    memory.counts()  # what is counted after answers is written by now
    return "\n".join([*memory.export(), *memory.export_state(), repr(memory.jobs())])
