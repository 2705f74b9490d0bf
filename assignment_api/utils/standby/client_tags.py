"""Standbys on clients with different tags (KIP-708; Kafka: ``ClientTagAwareStandbyTaskAssignor``).

Clients are dense indices in the order of their process ids. A *tag* is a pair of key and value, here one bit of a
mask; a *dimension* is a key that ``rack.aware.assignment.tags`` names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

import attrs

from assignment_api.errors import IllegalAssignmentArgumentError
from assignment_api.utils.standby.least_loaded import ClientsByLoad

__all__ = ["ClientTags", "OrderOfPending", "SeveralOwnersError", "assign_to_different_tags"]

#: Order of visits to the tasks that still lack standbys. Arguments: all tasks in the order of their insertion into
#: Kafka's hash map, and the tasks removed from it since, in that order. Result: the remaining tasks.
OrderOfPending = Callable[[Sequence[int], Sequence[int]], Sequence[int]]


class SeveralOwnersError(IllegalAssignmentArgumentError):
    """Standbys are needed for a task that is active on several clients; Kafka fails in some of these cases."""

    java_type = "NullPointerException"


@attrs.frozen
class ClientTags:
    """The tags of all clients as bit masks.

    Attributes:
        all_tags: For each client the mask of all its tags, rack-aware or not.
        dimensions: For each client and each rack-aware key it has: (number of values that the key has over all
            clients, mask of all the key's tags, the client's own tag as a mask).
        rack_aware: For each client the mask of its tags with a rack-aware key.
    """

    all_tags: tuple[int, ...]
    dimensions: tuple[tuple[tuple[int, int, int], ...], ...]
    rack_aware: tuple[int, ...]

    @classmethod
    def of(cls, tags: Sequence[Mapping[str, str]], rack_aware_keys: Iterable[str]) -> ClientTags:
        """Reads the tags of the clients, in the order of the clients."""
        bits: dict[tuple[str, str], int] = {}
        masks: dict[str, int] = {}
        for client_tags in tags:
            for key, value in client_tags.items():
                bit = bits.setdefault((key, value), 1 << len(bits))
                masks[key] = masks.get(key, 0) | bit
        named = set(rack_aware_keys)
        all_tags, dimensions, rack_aware = [], [], []
        for client_tags in tags:
            own = {key: bits[key, value] for key, value in client_tags.items()}
            counted = {key: bit for key, bit in own.items() if key in named}
            all_tags.append(sum(own.values()))
            rack_aware.append(sum(counted.values()))
            dimensions.append(tuple((masks[key].bit_count(), masks[key], bit) for key, bit in counted.items()))
        return cls(tuple(all_tags), tuple(dimensions), tuple(rack_aware))

    def without(self, used: int) -> Callable[[int], bool]:
        """Predicate: a client has none of the tags in the mask ``used``."""
        masks = self.rack_aware

        def admits(client: int) -> bool:
            return not masks[client] & used

        return admits

    def may_balance(self, source: int, destination: int) -> bool:
        """True if balancing may move a standby between two clients: the destination has all tags of the source.

        Every tag counts, also one that is not rack-aware (Kafka: ``ClientTagAwareStandbyTaskAssignor``).
        """
        tags = self.all_tags[source]
        return tags & self.all_tags[destination] == tags

    def may_move(
        self,
        task: int,
        source: int,
        destination: int,
        active: Sequence[AbstractSet[int]],
        standby: Sequence[AbstractSet[int]],
    ) -> bool:
        """True if the rack optimiser may move a standby: its replicas have no fewer different tags afterwards.

        Every tag counts, also one that is not rack-aware (Kafka: ``ClientTagAwareStandbyTaskAssignor``). O(clients).
        """
        others = 0
        for client, tags in enumerate(self.all_tags):
            if client not in (source, destination) and (task in active[client] or task in standby[client]):
                others |= tags
        before = (others | self.all_tags[source]).bit_count()
        return (others | self.all_tags[destination]).bit_count() >= before


def assign_to_different_tags(
    tasks: Sequence[int],
    replicas: int,
    capacities: Sequence[int],
    active: Sequence[AbstractSet[int]],
    standby: Sequence[set[int]],
    owners: Mapping[int, Sequence[int]],
    tags: ClientTags,
    order_of_pending: OrderOfPending,
) -> dict[int, int]:
    """Give each task standbys on clients whose tags differ from those of its other replicas, if possible.

    Standbys without such a client go to the least loaded clients afterwards. Kafka's loop assigns before it counts, so
    each active task gets at least one standby, even if ``replicas`` is 0 or less (Kafka:
    ``ClientTagAwareStandbyTaskAssignor``).

    Args:
        tasks: Stateful tasks; their order matters.
        replicas: Standbys of each task.
        capacities: Number of threads of each client.
        active: Active tasks of each client.
        standby: Standby tasks of each client; changed in place.
        owners: The clients on which each task is active; usually one.
        order_of_pending: Kafka's hash order of the tasks in the second phase; called only if there are any.

    Returns:
        Task to its number of missing standbys; only tasks that lack some.

    Raises:
        SeveralOwnersError: if a task has a further owner after it got all its standbys.
    """
    clients = ClientsByLoad(capacities, active, standby)
    pending = dict.fromkeys(tasks, replicas)
    satisfied: list[int] = []
    for task in tasks:
        for owner in owners.get(task, ()):
            if task not in pending:
                raise SeveralOwnersError("a task is active on several clients: give each task to one client")
            left = _spread_one_task(task, owner, pending[task], clients, tags)
            if left > 0:
                pending[task] = left
            else:
                del pending[task]
                satisfied.append(task)
    if not pending:
        return {}
    missing = {task: clients.add_standbys(task, pending[task]) for task in order_of_pending(tasks, satisfied)}
    return {task: left for task, left in missing.items() if left > 0}


def _spread_one_task(task: int, owner: int, left: int, clients: ClientsByLoad, tags: ClientTags) -> int:
    """Add standbys of ``task`` while needed, on clients with unused tags; returns the number of missing ones."""
    used = 0
    used_clients = 1
    last = owner
    while True:
        for values, mask, tag in tags.dimensions[last]:
            # A key with all values in use cannot separate replicas any more: Kafka then ignores it.
            used = used & ~mask if values <= used_clients else used | tag
        taken = clients.add_standby_where(task, tags.without(used))
        if taken is None:
            return left
        last = taken
        used_clients += 1
        left -= 1
        if left <= 0:
            return left
