"""The time machine: what is rolled back is as it was, byte for byte, and what is refused changes nothing."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from recollect.ports import Store
from tests.flows.machine import Irreversible, Reversible

EXAMPLES = int(os.environ.get("RECOLLECT_STATEFUL_EXAMPLES", "10"))
STEPS = int(os.environ.get("RECOLLECT_STATEFUL_STEPS", "40"))


@pytest.mark.parametrize("machine", [Reversible, Irreversible])
def test_after_a_rollback_the_state_is_what_it_was(machine: type[Reversible], store: Store, tmp_path: Path):
    here = type(machine.__name__, (machine,), {"store": store, "folder": tmp_path})
    run_state_machine_as_test(
        here,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
