"""Output that was in flight when a task was given up does not count if its thread gets it again."""

from __future__ import annotations

import pytest

from assignor_lab.simulation.streams.safety.rules import broken_rules
from tests.simulation.streams.episodes import happens, played, started, task


@pytest.mark.slow
def test_a_task_that_comes_back_at_once_has_output_when_it_has_input_again(example_assignors: None) -> None:
    """``random-1739855``: i3 is suspended, and the leader cannot read its metadata.

    So it gives up its tasks and gets them back before the first output of the task that it had continued.
    """
    found = played(
        [
            started("i3"),
            happens("pause", "i3", 715_000, for_ms=20_000),
            started("i2", 715_000, metadata_version=12),
        ],
        [task("0_0"), task("1_2", stateful=False)],
        assignor="assignor_round_robin:RoundRobinTaskAssignor",
        seed=1_739_855,
        protocol="classic",
        config={"num.standby.replicas": 1},
        until_ms=900_000,
        timings={
            "startup_ms": 2_463, "join_ms": 566, "request_ms": 2, "poll_ms": 5, "rejoin_ms": 32, "assign_ms": 20,
            "output_ms": 118, "open_store_ms": 174, "first_open_store_ms": 649, "recycle_ms": 9,
            "heartbeat_late_us": 1_595, "session_timeout_ms": 45_000, "restore_poll_ms": 102, "standby_ms": 282,
        },
    )  # fmt: skip
    assert broken_rules(found) == []
