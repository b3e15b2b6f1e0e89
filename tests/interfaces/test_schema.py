"""Everything that the OpenAPI document allows, and much that it does not, asked of the whole app: nothing breaks it,
and every answer is as the document says. For an admin and for an agent, on memories that are there."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import APIOperation, Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from recollect import Memory, Message, wiring
from recollect import settings as configuration
from recollect.domain.ids import TenantId
from recollect.domain.prompt import Prompt
from recollect.domain.query import Query
from recollect.domain.scope import Principal, Role
from recollect.errors import ModelFailed
from recollect.interfaces.credentials import CredentialFile, Credentials
from recollect.interfaces.http import make_app
from recollect.minds import Minds
from recollect.policy.answer import WrittenAnswer
from tests.hunt import TIMES, examples

T = TypeVar("T")
OWNER = "the owner's token"
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
POSITIVE, NEGATIVE = 20, 10
"""Cases of each operation and credential: such as the document allows, and such as it does not."""
AT_LEAST = 500
"""Cases of each credential, all operations together: 1,000 in all."""


@dataclass(frozen=True)
class House:
    """The app over a store with something of everything in it."""

    app: Any
    tokens: Mapping[str, str]
    known: Mapping[str, Sequence[object]]
    """What is there, by the name that requests call it: memories, versions, turns, projects; and words that are taken
    as they are."""
    owners: Mapping[str, str]
    """Which memory a version is of."""


class Parrot:
    """A language model that has one answer to every question, and is of no use for anything else."""

    def write(self, prompt: Prompt[T], *, tenant: TenantId) -> T:
        if prompt.form is not WrittenAnswer:
            raise ModelFailed("a parrot does not read")
        return cast(T, WrittenAnswer("On Thursdays.", enough=len(prompt.user) % 2 == 0))


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    home = tmp_path_factory.mktemp("asked")
    chosen = configuration.load({"home": str(home), "user": "mira"})
    with wiring.connect(chosen, create=True, given=Minds(None, Parrot())) as memory:
        known, owners = furnished(memory)
        file = CredentialFile(home / "credentials.toml")
        robot = Principal(
            tenant=TenantId("default"), id="robin", role=Role.AGENT, agent_id="robin", users=frozenset({"mira"})
        )
        tokens = {"admin": OWNER, "agent": file.add("robin", robot)}
        app = make_app(memory, Credentials(OWNER, memory.principal, file), hosts=["testserver"])
        yield House(app, tokens, known, owners)


def furnished(memory: Memory) -> tuple[dict[str, Sequence[object]], dict[str, str]]:
    """A fact, a superseded one, an archived one, one of somebody else, a closed thread with all its levels, a turn and
    a project that has moved on."""
    fact = memory.remember("The release train leaves on Thursdays.", category="decisions", topic_key="release")
    later = memory.remember("The release train leaves on Fridays.", category="decisions", supersedes=fact.item_id)
    hidden = memory.remember("The old kettle is in the attic.")
    memory.archive(hidden.item_id, "gone")
    others = memory.remember("Asha keeps goats.", user_id="asha")
    said = [
        Message(text=f"Decision {number}: the gate of hall {number} opens at {number}:00.", author="mira", role="user")
        for number in range(1, 9)
    ]
    thread = memory.ingest(said, thread_id="standup", project_id="apollo", wait=True)
    memory.close_episode(thread.episode_id)
    memory.advance_epoch("apollo", "2.0 is out")
    memory.query(Query(text="When does the release train leave?", turn_id="turn-1"))
    items = [thread.episode_id, fact.item_id, later.item_id, hidden.item_id, others.item_id]
    versions = {str(one.id): str(item) for item in items for one in memory.versions(item)}
    known: dict[str, Sequence[object]] = {
        "id": [*items, items[0][-12:]],
        "memory_id": items,
        "supersedes": items,
        "versionId": [*versions],
        "turn_id": ["turn-1", "turn-2"],
        "project_id": ["apollo", "borealis"],
        "topic_key": ["release"],
        "witness": [f"e:{fact.event_id}", "s:1-3", f"s:2-2,e:{fact.event_id}"],
        "text": ["The ferry leaves at noon.", "The train leaves on Mondays."],
        "messages": [[{"text": "The ferry leaves at noon.", "role": "user"}], [{"text": "Ahoy."}]],
        "visibility": ["user-private", None],
        "user_id": ["mira", None],
        "thread_id": ["standup", "notes"],
        "run_id": [None, "run-1"],
        "author": [None, "mira"],
        "category": ["decisions", "knowledge"],
        "tags": [[], ["sea"]],
    }
    return known, versions


FORBIDDEN = {
    "PUT /api/memory/{id}/active/{versionId}",
    "GET /api/memory/{id}/versions/{versionId}",
    "POST /api/memory/compress",
    "POST /api/memory/{id}/pin",
    "POST /api/memory/{id}/unpin",
    "POST /api/projects/{project_id}/epoch",
    "GET /api/audit",
    "GET /api/audit/verify",
}
"""What no agent does, whatever it says."""


@pytest.mark.parametrize("credential", ["admin", "agent"])
def test_nothing_that_can_be_asked_breaks_the_server_or_its_word(house: House, credential: str):
    headers = {"Authorization": f"Bearer {house.tokens[credential]}"}
    told = schemathesis.Config.from_dict({"generation": {"with-security-parameters": False, "database": "none"}})
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", house.app, headers=headers, config=told)
    answered: Counter[tuple[str, int]] = Counter()
    for found in schema.get_all_operations():
        ask_everything(found.ok(), house, headers, answered)
    assert answered.total() >= AT_LEAST, answered
    served = {operation for operation, status in answered if status == 200}
    every = {operation for operation, _ in answered}
    assert served == (every if credential == "admin" else every - FORBIDDEN), answered


def ask_everything(
    operation: APIOperation, house: House, headers: dict[str, str], answered: Counter[tuple[str, int]]
) -> None:
    @try_out(POSITIVE)
    @given(case=operation.as_strategy(GenerationMode.POSITIVE), data=st.data())
    def ask(case: Case, data: st.DataObject) -> None:
        aimed(case, data, house)
        answer = case.call(headers=headers)
        answered[operation.label, answer.status_code] += 1
        case.validate_response(answer, checks=CHECKS, headers=headers)

    @try_out(NEGATIVE)
    @given(case=operation.as_strategy(GenerationMode.NEGATIVE))
    def ask_wrongly(case: Case) -> None:
        answer = case.call(headers=headers)
        answered[operation.label, answer.status_code] += 1
        case.validate_response(answer, checks=[*CHECKS, negative_data_rejection], headers=headers)

    ask()
    if operation.query or operation.body:  # else there is nothing to say wrongly
        ask_wrongly()


def try_out(count: int) -> settings:
    """The same cases every time, and nothing of them left on disk."""
    return settings(
        max_examples=examples(count),
        derandomize=not TIMES,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def aimed(case: Case, data: st.DataObject, house: House) -> None:
    """The case, for the most part about things that are there."""
    for values in (case.path_parameters, case.query, case.body):
        if not isinstance(values, dict):
            continue
        for name in sorted(values.keys() & house.known.keys()):
            if data.draw(st.integers(0, 4)) < 4:
                values[name] = data.draw(st.sampled_from(house.known[name]))
        if values.get("versionId") in house.owners:
            values["id"] = house.owners[values["versionId"]]
