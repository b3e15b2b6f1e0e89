"""The same worlds as the store's suite: every engine in turn, a tenant of its own for each test."""

import pytest

from recollect.domain.level import Level
from recollect.domain.witness import Bullet, RangeWitness
from recollect.policy import distil
from tests.store.conftest import (  # noqa: F401
    engine,
    found,
    postgres_store,
    postgres_url,
    sqlite_path,
    sqlite_store,
    store,
    world,
)


def every_event(material: distil.Material) -> distil.Draft:
    """A summary that leaves nothing out."""
    bullets = tuple(
        Bullet(event.text, (RangeWitness(event.item_id, event.seq, event.seq, "said so"),), "Facts")
        for event in material.events
    )
    return distil.Draft(Level.R3, distil.write("Work", bullets), bullets, 0.8)


@pytest.fixture
def verbatim(monkeypatch: pytest.MonkeyPatch) -> None:
    """Summaries that leave out nothing: what is tested is what becomes of them."""
    monkeypatch.setattr("recollect.policy.distil.summarise", every_event)
