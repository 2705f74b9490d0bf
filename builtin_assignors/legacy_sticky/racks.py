"""Rack-aware steps of ``legacy_sticky``: conversion of its placement to the order of the optimiser, and back.

Kafka: ``LegacyStickyTaskAssignor``.

The optimiser numbers tasks and clients in ascending order. The placement numbers clients in hash order, and includes
previous tasks that no longer exist.
"""

from __future__ import annotations

from collections.abc import Sequence

from assignment_api.streams import ApplicationMetadata
from assignment_api.utils.rack_aware import InternalRackOptimizer
from builtin_assignors._sticky_steps import StickyIds, StickyPlacement, StickyProblem

__all__ = ["LegacyRackSteps"]

#: Default costs for stateful tasks and standbys.
DEFAULT_TRAFFIC_COST = 1
DEFAULT_NON_OVERLAP_COST = 10

#: Costs for stateless tasks, regardless of the configuration.
STATELESS_TRAFFIC_COST = 1
STATELESS_NON_OVERLAP_COST = 0


class LegacyRackSteps:
    """Moves of tasks that reduce traffic between racks."""

    __slots__ = ("_ascending", "_costs", "_number_of", "_optimizer", "_stateful", "_stateless", "_tasks")

    def __init__(
        self,
        application: ApplicationMetadata,
        optimizer: InternalRackOptimizer,
        problem: StickyProblem,
        ids: StickyIds,
    ) -> None:
        infos = application.task_infos()
        self._tasks = sorted(problem.tasks)
        self._number_of = {task: number for number, task in enumerate(self._tasks)}
        self._ascending = sorted(range(len(problem.capacities)), key=problem.client_ranks.__getitem__)
        self._optimizer = optimizer
        logged = [infos[ids.tasks[task]].is_logged for task in self._tasks]
        self._stateful = [number for number, is_logged in enumerate(logged) if is_logged]
        self._stateless = [number for number, is_logged in enumerate(logged) if not is_logged]
        configs = application.assignment_configs()
        traffic, non_overlap = configs.rack_aware_traffic_cost, configs.rack_aware_non_overlap_cost
        self._costs = (
            DEFAULT_TRAFFIC_COST if traffic is None else traffic,
            DEFAULT_NON_OVERLAP_COST if non_overlap is None else non_overlap,
        )

    @classmethod
    def of(cls, application: ApplicationMetadata, problem: StickyProblem, ids: StickyIds) -> LegacyRackSteps | None:
        """The steps, or ``None`` if Kafka does not use racks."""
        states = application.streams_client_states()
        tasks = [ids.tasks[task] for task in sorted(problem.tasks)]
        clients = sorted(states.values(), key=lambda client: client.process_id.sort_key())
        optimizer = InternalRackOptimizer.of(application, tasks, clients)
        return None if optimizer is None else cls(application, optimizer, problem, ids)

    def move_actives(self, placement: StickyPlacement) -> None:
        """Optimise the stateful tasks, then the others."""
        active = self._active_sets(placement)
        self._optimizer.optimize_active(self._stateful, active, *self._costs)
        self._optimizer.optimize_active(self._stateless, active, STATELESS_TRAFFIC_COST, STATELESS_NON_OVERLAP_COST)
        moves: list[tuple[int, int]] = []
        for client, held in zip(self._ascending, active, strict=True):
            tasks = [self._tasks[number] for number in sorted(held)]
            moves += [(task, client) for task in tasks if placement.owner[task] != client]
        placement.replace_active(moves)

    def move_standbys(self, placement: StickyPlacement) -> None:
        standby = self._numbered([placement.standbys[client] for client in self._ascending])
        self._optimizer.optimize_standby(self._active_sets(placement), standby, *self._costs, None)
        for client, held in zip(self._ascending, standby, strict=True):
            placement.standbys[client] = [self._tasks[number] for number in sorted(held)]

    def _active_sets(self, placement: StickyPlacement) -> list[set[int]]:
        held: list[list[int]] = [[] for _ in self._ascending]
        for task in self._tasks:
            held[placement.owner[task]].append(task)
        return self._numbered([held[client] for client in self._ascending])

    def _numbered(self, tasks_of: Sequence[Sequence[int]]) -> list[set[int]]:
        return [{self._number_of[task] for task in tasks} for tasks in tasks_of]
