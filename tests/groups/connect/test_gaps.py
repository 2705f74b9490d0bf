"""Gaps of rebalances: unavoidable moves do not count."""

from __future__ import annotations

from assignment_api.connect import ConfiguredJobs, ConnectorTaskId, Jobs
from assignor_lab.groups.connect.gaps import gaps_of as connect_gaps
from assignor_lab.groups.connect.metrics import ConnectDecision

FOUR = ConfiguredJobs({"c": 3})
ALL = Jobs(("c",), [ConnectorTaskId("c", task) for task in range(3)])


def jobs(*tasks: int, connector: bool = False) -> Jobs:
    return Jobs(("c",) if connector else (), [ConnectorTaskId("c", task) for task in tasks])


def test_the_moves_to_a_new_worker_are_unavoidable() -> None:
    found = connect_gaps(
        ConnectDecision(FOUR, {"a": ALL, "b": Jobs()}, {"a": jobs(0, connector=True), "b": jobs(1, 2)})
    )
    assert found is not None
    assert {name: (gap.value, gap.bound) for name, gap in found.items()} == {
        "balance": (2, 2),
        "fill": (0.5, 0.5),
        "moves": (2, 1),
        "balance_connectors": (1, 1),
        "fill_connectors": (0.5, 0.5),
        "moves_connectors": (0, 0),
    }


def test_a_swap_is_avoidable() -> None:
    before = {"a": jobs(0, connector=True), "b": jobs(1, 2)}
    found = connect_gaps(ConnectDecision(FOUR, before, {"a": jobs(1, connector=True), "b": jobs(0, 2)}))
    assert found is not None
    assert (found["moves"].absolute, found["moves"].relative) == (2, 1)


def test_jobs_that_wait_have_no_gap() -> None:
    assert connect_gaps(ConnectDecision(FOUR, {"a": ALL}, {"a": jobs(0)})) is None


def test_connectors_are_balanced_apart_from_tasks() -> None:
    """Two connectors on one worker are uneven, even if its jobs are as many as the other's."""
    configured = ConfiguredJobs({"c": 1, "d": 1})
    both, tasks = Jobs(("c", "d")), Jobs((), [ConnectorTaskId("c", 0), ConnectorTaskId("d", 0)])
    found = connect_gaps(ConnectDecision(configured, {"a": both, "b": tasks}, {"a": both, "b": tasks}))
    assert found is not None
    assert (found["balance"].absolute, found["balance_connectors"].absolute) == (1, 1)
    assert [str(gap.goal) for gap in found.values()][3:] == [
        "balance(connectors)",
        "fill(connectors)",
        "moves(connectors)",
    ]
