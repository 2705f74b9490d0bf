"""Plain consumer groups whose changes were planned before: the probe of their poll loops, and the table."""

from __future__ import annotations

import pytest

from tests.calibration.live.consumers import Done, PollProbe, table


def test_the_table_counts_changes_inside_their_intervals() -> None:
    planned = {"worst_task_seconds": [8.0, 10.0, 12.0], "task_seconds": [20.0, 30.0, 50.0]}
    found = [
        Done(1, "eager", "roll", {"worst_task_seconds": 9.0, "task_seconds": 19.0}, planned),
        Done(1, "eager", "kill", {"worst_task_seconds": 12.1, "task_seconds": 49.0}, planned),
    ]
    rows = table(found)
    assert rows[2:5] == [
        "| inside, or beside it by at most 1 % | 85 % | 2 of 2 (100%) | 1 of 2 (50%) |",
        "| inside | 85 % | 1 of 2 (50%) | 1 of 2 (50%) |",
        "| median width | at most 30 % | 40% | 100% |",
    ]
    assert "| roll | 1 of 1 | 40% | 0 of 1 | 100% |" in rows
    assert "| 1 | eager | roll | all partitions together | 19.0 | 30.0 | 20.0 to 50.0 **no** |" in rows


def test_a_partition_is_away_while_no_running_loop_has_it() -> None:
    probe = PollProbe()
    for at, consumer, change, own in (
        (1.0, "g-c1", "assigned", ["g-0", "g-1"]),
        (5.0, "g-c1", "stands", []),
        (6.0, "other-c1", "assigned", ["g-0"]),
        (7.5, "g-c2", "assigned", ["g-1"]),
        (9.0, "g-c1", "goes", []),
        (9.0, "g-c1", "lost", ["g-0", "g-1"]),
        (11.0, "g-c2", "assigned", ["g-0", "g-2"]),
        (20.0, "g-c2", "killed", []),
    ):
        probe.tell(at, consumer, change, own)
    lengths = probe.absences("g", ["g-0", "g-1", "g-2"], begin=4.0)
    # The last partition is new, and the second loop has ended for good.
    assert sorted(lengths) == pytest.approx([2.0, 2.5, 4.0, 7.0])
    assert probe.owners("g") == {}
