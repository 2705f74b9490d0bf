"""Standbys on clients with different tags (KIP-708; Kafka: ``ClientTagAwareStandbyTaskAssignor``).

Clients are numbered by process id. A *tag* is a pair of key and value, here one bit of a mask; a *dimension* is a key
of ``rack.aware.assignment.tags``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

import attrs

from assignment_api.errors import IllegalAssignmentArgumentError
from assignment_api.utils.standby.least_loaded import ClientsByLoad

__all__ = ["ClientTags", "OrderOfPending", "SeveralOwnersError", "assign_to_different_tags"]

#: Order of the tasks that still lack standbys. Arguments: all tasks in the order of insertion into Kafka's hash map,
#: and those removed since, in order.
OrderOfPending = Callable[[Sequence[int], Sequence[int]], Sequence[int]]


class SeveralOwnersError(IllegalAssignmentArgumentError):
    """Standbys are needed for a task with several owners; Kafka fails in some of these cases."""

    java_type = "NullPointerException"


@attrs.frozen
class ClientTags:
    """Tags of all clients as bit masks.

    Attributes:
        all_tags: For each client all its tags, rack-aware or not.
        dimensions: For each client and rack-aware key: (number of values over all clients, mask of all the key's tags,
            the client's own tag).
        rack_aware: For each client its tags of rack-aware keys.
    """

    all_tags: tuple[int, ...]
    dimensions: tuple[tuple[tuple[int, int, int], ...], ...]
    rack_aware: tuple[int, ...]

    @classmethod
    def of(cls, tags: Sequence[Mapping[str, str]], rack_aware_keys: Iterable[str]) -> ClientTags:
        """From the tags of each client."""
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
        """Predicate: a client has no tag in ``used``."""
        masks = self.rack_aware

        def admits(client: int) -> bool:
            return not masks[client] & used

        return admits

    def may_balance(self, source: int, destination: int) -> bool:
        """True if balancing may move a standby: the destination has all tags of the source, rack-aware or not."""
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
        """True if the optimiser may move a standby: its replicas then have no fewer different tags, rack-aware or not.

        O(clients).
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
    """Give each task standbys on clients with tags that differ from its other replicas', if possible.

    Other standbys go to the least loaded clients afterwards. Kafka's loop assigns before it counts: each active task
    gets at least one standby, even if ``replicas`` is 0 or less.

    Args:
        tasks: Stateful tasks; their order matters.
        capacities: Threads of each client.
        standby: Changed in place.
        owners: Clients on which each task is active; usually one.
        order_of_pending: Kafka's hash order in the second phase; called only if tasks are left.

    Returns:
        Task to its missing standbys, if any.

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
    used = 0
    used_clients = 1
    last = owner
    while True:
        for values, mask, tag in tags.dimensions[last]:
            # Kafka ignores a key with all values in use: it cannot separate replicas.
            used = used & ~mask if values <= used_clients else used | tag
        taken = clients.add_standby_where(task, tags.without(used))
        if taken is None:
            return left
        last = taken
        used_clients += 1
        left -= 1
        if left <= 0:
            return left
