from __future__ import annotations

import random

from assignment_api import ApplicationMetadata, AssignedTask, ProcessID, StreamsClientAssignment, TaskAssignment
from tests.runtime.hostile import Good


class ByChance(Good):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        clients = list(super().assign(application).assignments)
        clients[0] = clients[0].with_followup_rebalance(random.getrandbits(40))
        return TaskAssignment(clients)


class ByHashSeed(Good):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        clients = list(super().assign(application).assignments)
        clients[0] = clients[0].with_followup_rebalance(hash("text") & 0xFFFF)
        return TaskAssignment(clients)


class BySortedOrder(Good):
    """Everything on the smallest client, in any order of the input."""

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        first, *others = sorted(application.streams_client_states(), key=ProcessID.sort_key)
        tasks = tuple(AssignedTask.active(task) for task in application.all_tasks())
        return TaskAssignment([StreamsClientAssignment(first, tasks), *map(StreamsClientAssignment, others)])


class Counts(Good):
    seen: set[int] = set()  # noqa: RUF012 - that is the fault

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        self.seen.add(len(application.streams_client_states()))
        clients = list(super().assign(application).assignments)
        clients[0] = clients[0].with_followup_rebalance(len(self.seen))
        return TaskAssignment(clients)


class NeedsMemory(BySortedOrder):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        needed = bytearray(10_000_000)
        assert len(needed) == 10_000_000
        return super().assign(application)
