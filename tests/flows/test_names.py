"""Memories, documents and code are found by what they are called: tags, files, artifacts."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from recollect.custody import Deps
from recollect.domain.change import Verb, revise
from recollect.domain.ids import TenantId
from recollect.domain.item import Artifact, ArtifactType
from recollect.domain.query import Query
from recollect.domain.scope import Principal, Role
from recollect.memory import Memory
from recollect.models.local import LocalEmbedder
from recollect.store.sidecar import FileErasures, FileSeal
from recollect.write.formats import read
from recollect.write.message import Message
from tests.worlds import World

NOTES = """# Deploying

We ship on Tuesdays.

# Going back

A rollback takes ten minutes and the on-call person does it.
"""
CODE = "def retry(call, tries):\n    return call() if tries else None\n"


@pytest.fixture(params=["words alone", "words and meaning"])
def memory(request: pytest.FixtureRequest, world: World, tmp_path: Path) -> Memory:
    embedder = LocalEmbedder() if request.param == "words and meaning" else None
    deps = Deps(world.store, world.clock, FileErasures(tmp_path / "erasures"), FileSeal(tmp_path / "key"), embedder)
    memory = Memory(deps, Principal(tenant=world.tenant, id="mira", role=Role.MEMBER))
    for text in ("The cat sleeps on the red chair.", "Lisbon was sunny in May.", "We had soup for lunch."):
        memory.remember(text)
    return memory


def texts(memory: Memory, question: str) -> list[str]:
    return [result.text for result in memory.query(Query(text=question)).results]


def test_a_memory_is_found_by_its_tag(memory):
    memory.remember("Failed charges are tried again three times.", tags=["payments"])
    assert "Failed charges" in texts(memory, "payments")[0]


def test_a_memory_is_found_by_the_tag_that_it_got_later_and_not_by_the_one_that_it_lost(memory, world):
    kept = memory.remember("Failed charges are tried again three times.", tags=["payments"])
    item = memory.show(kept.item_id).item
    world.apply(revise(item, replace(item, tags=("billing-core",)), world.clock.now(), Verb.UPDATE))
    assert "Failed charges" in texts(memory, "billing-core")[0]
    assert texts(memory, "payments") == []


@pytest.mark.parametrize(
    ("name", "text", "question", "told"),
    [
        ("deploy-notes.md", NOTES, "deploy-notes.md", "Tuesdays"),
        ("deploy-notes.md", NOTES, "What does deploy-notes.md say about rollback?", "ten minutes"),
        ("backoff_helpers.py", CODE, "backoff_helpers.py", "def retry"),
        ("todo.txt", "Water the plants on Sunday.", "What is in todo.txt?", "Water the plants"),
    ],
)
def test_a_file_is_found_by_its_name(memory, name, text, question, told):
    memory.bulk(read(text, name, author="mira").threads)
    assert any(told in one for one in texts(memory, question)[:2])


def test_messages_are_found_by_the_artifact_that_they_came_with(memory):
    memory.ingest(
        [Message(text="The retry budget is now five.", author="mira")],
        thread_id="work",
        artifacts=[Artifact(ArtifactType.FILE, "src/retry_policy.py")],
    )
    assert "retry budget" in texts(memory, "retry_policy.py")[0]


def test_what_is_erased_is_found_by_no_name(memory, world):
    kept = memory.remember("Failed charges are tried again three times.", tags=["payments"])
    memory.erase(kept.item_id, reason="asked to")
    assert texts(memory, "payments") == []
    assert world.store.integrity() == []


def test_an_export_that_is_loaded_is_found_by_its_names(memory, world, tmp_path):
    memory.remember("Failed charges are tried again three times.", tags=["payments"])
    memory.bulk(read(NOTES, "deploy-notes.md", author="mira").threads)
    other = TenantId(f"{world.tenant}-copy")
    world.store.load(other, [json.loads(json.dumps(row)) for row in world.store.dump(world.tenant)])
    copy = World(world.store, other, world.clock).memory(tmp_path / "copy", Role.MEMBER)
    assert "Failed charges" in texts(copy, "payments")[0]
    assert "Tuesdays" in " ".join(texts(copy, "deploy-notes.md"))
