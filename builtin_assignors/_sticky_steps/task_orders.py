"""Orders of Kafka's hash tables of tasks, computed once for all problems with the same tasks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from assignment_api.java import (
    DEFAULT_CAPACITY,
    JdkGeneration,
    fits_plain,
    grown_capacity,
    iteration_order,
    spread,
    stays_plain,
)

__all__ = ["TaskOrders"]


class TaskOrders:
    """Orders of tables of some of the tasks.

    Args:
        tasks: The tasks that exist, in the order of the input.
        jdk: JDK generation that sets the sizes of copied sets.
    """

    def __init__(
        self, task_hashes: Sequence[int], tasks: Sequence[int], stateful_tasks: Sequence[int], jdk: JdkGeneration
    ) -> None:
        self._hashes = task_hashes
        self._tasks = tasks
        self._stateful = stateful_tasks
        self._jdk = jdk
        self._slots: dict[int, list[int]] = {}

    @cached_property
    def existing(self) -> frozenset[int]:
        return frozenset(self._tasks)

    @cached_property
    def of_map(self) -> list[int]:
        """The tasks that exist, in the order of a ``HashMap`` of them."""
        return iteration_order(self._tasks, self._of(self._tasks))

    @cached_property
    def of_copied_set(self) -> list[int] | None:
        """The tasks that exist, in the order of a copied ``HashSet`` of them, which removals do not change.

        ``None`` if a slot of it is crowded, so that removals do change it.
        """
        hashes = self._of(self._tasks)
        capacity = self._jdk.set_copy_capacity(len(hashes))
        if not (stays_plain(hashes) and fits_plain(hashes, capacity)):
            return None
        # The copy has at least as many slots as the map: tasks in one slot keep the order of insertion.
        return sorted(self._tasks, key=self._slots_at(capacity).__getitem__)

    @cached_property
    def stateful_of_set_from_map(self) -> list[int]:
        """Tasks with a changelog, in the order of a ``HashSet`` filled in the order of the map."""
        stateful = set(self._stateful)
        tasks = [task for task in self.of_map if task in stateful]
        return iteration_order(tasks, self._of(tasks))

    @cached_property
    def stateful_of_set(self) -> list[int]:
        """Tasks with a changelog, in the order of a ``HashSet`` filled in the order of the input."""
        return iteration_order(self._stateful, self._of(self._stateful))

    def of_some(self, tasks: Sequence[int]) -> list[int]:
        """Some of the tasks, in the order of a ``HashMap`` filled in their order."""
        if self._is_never_crowded:
            return sorted(tasks, key=self._slots_at(grown_capacity(len(tasks))).__getitem__)
        return iteration_order(tasks, self._of(tasks))

    @cached_property
    def _is_never_crowded(self) -> bool:
        """True if all tasks together crowd no slot of any table of some of them."""
        capacity = DEFAULT_CAPACITY
        while capacity <= grown_capacity(len(self._hashes)):
            if not fits_plain(self._hashes, capacity):
                return False
            capacity *= 2
        return True

    def _slots_at(self, capacity: int) -> list[int]:
        slots = self._slots.get(capacity)
        if slots is None:
            slots = self._slots[capacity] = [spread(code) & capacity - 1 for code in self._hashes]
        return slots

    def _of(self, tasks: Sequence[int]) -> list[int]:
        return [self._hashes[task] for task in tasks]
