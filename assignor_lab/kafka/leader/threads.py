"""Distribution of a client's tasks over its consumers, as by the group's leader after every assignment.

Kafka: ``StreamsPartitionAssignor.assignTasksToThreads``. Tasks are dense ranks here, so that a removal from the queue
is a search in a list of small integers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from assignment_api import StreamsClientAssignment, StreamsClientState, TaskAssignmentError, TaskId
from assignment_api.java.hash_table import iteration_order
from assignment_api.java.hashing import task_id_hash
from assignment_api.java.priority_queue import JavaPriorityQueue

__all__ = ["ConsumerTasks", "spread_over_consumers"]


@attrs.frozen
class ConsumerTasks:
    """Tasks of one consumer (thread) of a client."""

    active: tuple[TaskId, ...]
    standby: tuple[TaskId, ...]


def spread_over_consumers(
    client: StreamsClientState, assignment: StreamsClientAssignment, *, sorted_sets: bool
) -> dict[str, ConsumerTasks]:
    """Give every task of ``assignment`` to one of the client's consumers.

    Stateful actives come first, then standbys, then stateless actives. A consumer keeps a previous stateful task if its
    share allows it, so standbys fill up threads with fewer actives. A task is stateful here if the client has a lag for
    it.

    Args:
        client: The client; its lags must have been computed.
        assignment: Its tasks, in the order in which they would enter Kafka's sets.
        sorted_sets: The tasks come from one of Kafka's internal assignors, which keep them in sorted sets. Otherwise
            they are in hash sets, as after a custom assignor (the public sticky one included).

    Raises:
        LagsNotComputedError: if the lags were not computed.
        TaskAssignmentError: if the tasks cannot be spread evenly.
    """
    if not client.consumers:
        return {}
    lags = client.stateful_tasks_to_lag_sums()
    active, standby = _kept_sorted(assignment) if sorted_sets else _kept_hashed(assignment)
    loads = dict.fromkeys(client.consumers, 0)
    previous = {consumer: client.prev_tasks_by_lag(consumer) for consumer in client.consumers}
    stateful = _spread(_hash_order([task for task in active if task in lags]), loads, previous)
    standbys = _spread(standby, loads, previous)
    stateless = _spread(_hash_order([task for task in active if task not in lags]), loads, None)
    return {
        consumer: ConsumerTasks((*stateful[consumer], *stateless[consumer]), tuple(standbys[consumer]))
        for consumer in client.consumers
    }


def _kept_sorted(assignment: StreamsClientAssignment) -> tuple[list[TaskId], list[TaskId]]:
    """Active and standby tasks as Kafka's internal assignors leave them in a client's state."""
    active = sorted(assignment.active_tasks(), key=TaskId.sort_key)
    return active, sorted(assignment.standby_tasks(), key=TaskId.sort_key)


def _kept_hashed(assignment: StreamsClientAssignment) -> tuple[list[TaskId], list[TaskId]]:
    """The same after a custom assignor: one hash map of the answer is split into two hash sets."""
    held = [task.id for task in assignment.tasks_in_map_order()]
    active = set(assignment.active_tasks())
    actives = _hash_order([task for task in held if task in active])
    return actives, _hash_order([task for task in held if task not in active])


def _hash_order(tasks: Sequence[TaskId]) -> list[TaskId]:
    hashes = [task_id_hash(task.subtopology, task.partition, task.topology_name) for task in tasks]
    return iteration_order(tasks, hashes, sort_key=TaskId.sort_key)


def _spread(
    tasks: Sequence[TaskId], loads: dict[str, int], previous: Mapping[str, Sequence[TaskId]] | None
) -> dict[str, list[TaskId]]:
    """One of the three passes; ``loads`` (consumer to number of tasks) is shared by them and grows."""
    by_rank = sorted(tasks, key=TaskId.sort_key)
    rank_of = {task: rank for rank, task in enumerate(by_rank)}
    minimum = (sum(loads.values()) + len(tasks)) // len(loads)
    given: dict[str, list[int]] = {consumer: [] for consumer in loads}
    if tasks:
        queue = JavaPriorityQueue([rank_of[task] for task in tasks])
        waiting = set(range(len(tasks)))
        skipped = _keep_previous(queue, waiting, given, loads, minimum, previous, rank_of)
        _fill_up(queue, waiting, given, loads, minimum)
        if waiting:
            _hand_out_rest(queue, waiting, given, loads, minimum, skipped)
    for consumer, ranks in given.items():
        loads[consumer] += len(ranks)
    return {consumer: [by_rank[rank] for rank in ranks] for consumer, ranks in given.items()}


def _keep_previous(
    queue: JavaPriorityQueue[int],
    waiting: set[int],
    given: dict[str, list[int]],
    loads: Mapping[str, int],
    minimum: int,
    previous: Mapping[str, Sequence[TaskId]] | None,
    rank_of: Mapping[TaskId, int],
) -> dict[int, str]:
    skipped: dict[int, str] = {}
    if previous is None:
        return skipped
    for consumer, ranks in given.items():
        room = minimum - loads[consumer]
        for task in previous[consumer]:
            rank = rank_of.get(task)
            if rank is None or rank not in waiting:
                continue
            if len(ranks) < room:
                ranks.append(rank)
                waiting.remove(rank)
                queue.remove(rank)
            else:
                skipped[rank] = consumer
    return skipped


def _fill_up(
    queue: JavaPriorityQueue[int],
    waiting: set[int],
    given: dict[str, list[int]],
    loads: Mapping[str, int],
    minimum: int,
) -> None:
    below = [consumer for consumer, ranks in given.items() if len(ranks) < minimum - loads[consumer]]
    while below:
        still_below = []
        for consumer in below:
            rank = queue.poll()
            if rank is None:
                raise TaskAssignmentError("Ran out of unassigned stateful tasks but some members were not at capacity")
            waiting.remove(rank)
            given[consumer].append(rank)
            if len(given[consumer]) + loads[consumer] < minimum:
                still_below.append(consumer)
        below = still_below


def _hand_out_rest(
    queue: JavaPriorityQueue[int],
    waiting: set[int],
    given: dict[str, list[int]],
    loads: Mapping[str, int],
    minimum: int,
    skipped: Mapping[int, str],
) -> None:
    """Give the remainder, one each, to consumers at their share; first to previous owners."""
    takers = [consumer for consumer, ranks in given.items() if len(ranks) + loads[consumer] == minimum]
    for rank in sorted(skipped):
        consumer = skipped[rank]
        if consumer in takers and rank in waiting:
            given[consumer].append(rank)
            waiting.remove(rank)
            queue.remove(rank)
            takers.remove(consumer)
    # Kafka reads the queue's array here, not its order (Kafka: ``java.util.PriorityQueue``).
    for rank, consumer in zip(list(queue), takers, strict=False):
        given[consumer].append(rank)
