import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from bench.postgres import Server, temporary_postgres
from tests.hunt import TIMES, examples
from tests.postgres import fresh_database

# Two cores, other tests beside: how long one example takes says nothing.
settings.register_profile(
    "recollect",
    deadline=None,
    max_examples=examples(50),
    derandomize=not TIMES,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("recollect")

SERVER = pytest.StashKey[Server]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--postgres-option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of the PostgreSQL server of this run, such as fsync=off; may be repeated",
    )


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """pytest-xdist: the workers share the server of the process that started them, which outlives them."""
    node.workerinput["postgres_url"] = server_url(node.config)


def server_url(config: pytest.Config) -> str:
    """The one server of this test run: a given one, or our own, started when first asked for."""
    if given := os.environ.get("RECOLLECT_TEST_POSTGRES"):
        return given
    if (worker := getattr(config, "workerinput", None)) is not None:
        return worker["postgres_url"]
    if SERVER not in config.stash:
        options = dict(option.split("=", 1) for option in config.getoption("--postgres-option"))
        server = config.stash[SERVER] = temporary_postgres(options=options)
        config.add_cleanup(server.stop)
    return config.stash[SERVER].url


@pytest.fixture(scope="session")
def postgres_server(pytestconfig: pytest.Config) -> str:
    """A superuser's URL of the PostgreSQL server of this run. Roles on it are shared by all tests."""
    return server_url(pytestconfig)


@pytest.fixture
def postgres_database(postgres_server: str) -> Iterator[str]:
    """The URL of an empty database of this test's own."""
    with fresh_database(postgres_server) as url:
        yield url
