"""What came of asking one Connect assignor."""

from __future__ import annotations

import attrs

from assignment_api.connect import ConnectAssignment, Rebalance
from assignor_lab.groups.connect.metrics import Decision
from assignor_lab.groups.work import WorkItem
from assignor_lab.runtime.invocation import Failure
from assignor_lab.scenarios import Scenario
from assignor_lab.simulation.connect.simulate import Played

__all__ = ["ConnectAnswer"]


@attrs.frozen(eq=False)
class ConnectAnswer:
    """What one assignor made of one round, or of a whole episode.

    Args:
        item: The item that it belongs to.
        scenario: The scenario; ``None`` where a family could not make it.
        round: Number of the round; 0 for an episode.
        assignor: Name of the assignor.
        failure: Why there is no answer, or ``None``.
        size: Number of workers and of tasks, in an episode at its beginning; ``None`` where not known.
        rebalance: What was asked, in a history.
        assignment: The answer to it.
        decision: What the answer leads to.
        played: The episode as it went.
        assign_ns: Duration of the assignor's calls, nanoseconds.
        other_ns: Duration of everything else, nanoseconds.
    """

    item: WorkItem
    scenario: Scenario | None
    round: int
    assignor: str
    failure: Failure | None
    size: tuple[int, int] | None = None
    rebalance: Rebalance | None = None
    assignment: ConnectAssignment | None = None
    decision: Decision | None = None
    played: Played | None = None
    assign_ns: int = 0
    other_ns: int = 0
