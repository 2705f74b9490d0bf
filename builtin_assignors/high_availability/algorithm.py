"""Complete decision of Kafka's ``HighAvailabilityTaskAssignor`` on dense indices (KIP-441).

Clients are numbered in the order of their process ids, tasks in the order of their ids. Previous tasks are ignored: a
task stays in its place because of its lag.

Cost without racks, for S stateful tasks on C clients with R standbys: S x (log C + R) for the placement, and C log C
for each task whose client is behind while another is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import attrs

from assignment_api.utils.standby import ClientTags, OrderOfPending, assign_least_loaded, assign_to_different_tags
from builtin_assignors._steps_taken import SILENT
from builtin_assignors.high_availability.balancing import assign_round_robin, assign_to_least_active, level
from builtin_assignors.high_availability.client_queue import HashOrder
from builtin_assignors.high_availability.movements_and_warmups import Movements
from builtin_assignors.high_availability.recovery import Recovery
from builtin_assignors.high_availability.tracing import HighAvailabilitySteps

__all__ = ["HighAvailabilityAnswer", "HighAvailabilityProblem", "RackOptimizer", "decide"]

#: Default costs of the rack optimiser for stateful tasks.
DEFAULT_TRAFFIC_COST = 10
DEFAULT_NON_OVERLAP_COST = 1

#: Costs for stateless tasks, regardless of the configuration.
STATELESS_TRAFFIC_COST = 1
STATELESS_NON_OVERLAP_COST = 0

#: (task, source, destination): may a standby move?
MayMove = Callable[[int, int, int], bool]


class RackOptimizer(Protocol):
    """The rack-aware optimiser on the same dense indices (KIP-925; Kafka: ``RackAwareTaskAssignor``)."""

    def optimize_active(
        self, tasks: Sequence[int], active: Sequence[set[int]], traffic_cost: int, non_overlap_cost: int
    ) -> None:
        """Move the active ``tasks`` between clients; ``active`` is changed in place."""

    def optimize_standby(
        self,
        active: Sequence[set[int]],
        standby: Sequence[set[int]],
        traffic_cost: int,
        non_overlap_cost: int,
        may_move: MayMove | None,
    ) -> None:
        """Exchange standbys between clients; ``standby`` is changed in place. ``None``: all may move."""


@attrs.frozen
class HighAvailabilityProblem:
    """Input of one decision.

    Args:
        lags: Lag of each task, for each client; entries of stateless tasks are not read.
        acceptable_recovery_lag: In offsets; at 2**63-1 all clients are caught up.
        num_standby_replicas: Standbys of each stateful task. A negative number behaves as in Kafka.
        tags: The clients' tags, or ``None`` if no rack-aware tags are configured.
        traffic_cost: For the rack optimiser; ``None`` = not configured.
        non_overlap_cost: For the rack optimiser; ``None`` = not configured.
    """

    stateful: Sequence[int]
    stateless: Sequence[int]
    capacities: Sequence[int]
    lags: Sequence[Sequence[int]]
    acceptable_recovery_lag: int
    max_warmup_replicas: int
    num_standby_replicas: int
    tags: ClientTags | None = None
    traffic_cost: int | None = None
    non_overlap_cost: int | None = None


@attrs.frozen
class HighAvailabilityAnswer:
    """Tasks of each client, and whether a probing rebalance must follow.

    Attributes:
        followup: A task waits for a better place: a probing rebalance is needed.
    """

    active: list[set[int]]
    standby: list[set[int]]
    followup: bool


def decide(
    problem: HighAvailabilityProblem,
    client_hash_order: HashOrder,
    pending_task_order: OrderOfPending,
    racks: RackOptimizer | None = None,
    steps: HighAvailabilitySteps = SILENT,
) -> HighAvailabilityAnswer:
    """Place all tasks.

    Args:
        client_hash_order: Iteration order of a hash set of clients, in which Kafka puts clients back into a queue.
        pending_task_order: Iteration order of Kafka's hash map of tasks that lack standbys (with tags only).
        racks: The optimiser, or ``None`` without rack awareness.
    """
    clients = len(problem.capacities)
    stateful, stateless = problem.stateful, problem.stateless
    active = assign_round_robin(stateful, clients)
    standby: list[set[int]] = [set() for _ in range(clients)]
    steps.dealt(active, len(stateful))
    level(active, standby, problem.capacities)
    steps.levelled(active)
    if racks is not None:
        racks.optimize_active(stateful, active, *_costs(problem))
        steps.moved_by_racks(active)
    if problem.num_standby_replicas != 0:
        _assign_standbys(problem, active, standby, pending_task_order, racks, steps)

    recovery = Recovery(problem.lags, problem.acceptable_recovery_lag)
    movements = Movements(
        active,
        standby,
        problem.capacities,
        recovery,
        problem.max_warmup_replicas,
        client_hash_order,
        steps,
    )
    moved = movements.move_actives()
    steps.others_go(active, recovery)
    moved += movements.move_standbys()
    steps.settled(active, standby)

    assign_to_least_active(stateless, active, problem.capacities)
    steps.gave_stateless(active)
    if racks is not None:
        racks.optimize_active(stateless, active, STATELESS_TRAFFIC_COST, STATELESS_NON_OVERLAP_COST)
        steps.moved_by_racks(active, "ha-stateless-racks")
    return HighAvailabilityAnswer(active, standby, followup=moved > 0)


def _assign_standbys(
    problem: HighAvailabilityProblem,
    active: list[set[int]],
    standby: list[set[int]],
    pending_task_order: OrderOfPending,
    racks: RackOptimizer | None,
    steps: HighAvailabilitySteps,
) -> None:
    tags = problem.tags
    stateful = problem.stateful
    replicas = problem.num_standby_replicas
    if tags is None:
        assign_least_loaded(stateful, replicas, problem.capacities, active, standby)
        steps.got_standbys(standby)
        level(standby, active, problem.capacities)
    else:
        owners = {task: (client,) for client, held in enumerate(active) for task in held}
        assign_to_different_tags(
            stateful, replicas, problem.capacities, active, standby, owners, tags, pending_task_order
        )
        steps.got_standbys(standby)
        level(standby, active, problem.capacities, tags.may_balance)
    steps.levelled_standbys(standby)
    if racks is not None:
        racks.optimize_standby(active, standby, *_costs(problem), _movement_rule(tags, active, standby))
        steps.standbys_moved_by_racks(standby)


def _movement_rule(tags: ClientTags | None, active: Sequence[set[int]], standby: Sequence[set[int]]) -> MayMove | None:
    if tags is None:
        return None
    rule = tags

    def may_move(task: int, source: int, destination: int) -> bool:
        return rule.may_move(task, source, destination, active, standby)

    return may_move


def _costs(problem: HighAvailabilityProblem) -> tuple[int, int]:
    traffic, non_overlap = problem.traffic_cost, problem.non_overlap_cost
    return (
        DEFAULT_TRAFFIC_COST if traffic is None else traffic,
        DEFAULT_NON_OVERLAP_COST if non_overlap is None else non_overlap,
    )
