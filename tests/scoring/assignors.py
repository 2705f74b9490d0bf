"""Assignors for tests, good and bad. Selected as ``tests.scoring.assignors:Name``; workers find them, too."""

from __future__ import annotations

import ctypes
import os
import time
from typing import Any

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    StreamsClientAssignment,
    TaskAssignment,
    TaskAssignor,
)
from builtin_assignors.sticky import StickyTaskAssignor


class Greedy(TaskAssignor):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        first, *others = application.streams_client_states()
        everything = tuple(AssignedTask.active(task) for task in application.all_tasks())
        return TaskAssignment([StreamsClientAssignment(first, everything), *map(StreamsClientAssignment, others)])


class Raises(TaskAssignor):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        raise RuntimeError("no </script> today \x1b[2J [bold] \udcff")


class Leaves(TaskAssignor):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        raise SystemExit(3)


class Garbage(TaskAssignor):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        first, *others = application.streams_client_states()
        tasks: list[Any] = [AssignedTask.active(task) for task in application.all_tasks()]
        tasks[4:5] = ["garbage"]
        return TaskAssignment([StreamsClientAssignment(first, tuple(tasks)), *map(StreamsClientAssignment, others)])


class Mutates(TaskAssignor):
    """Changes tasks and clients of its input permanently, as far as Python allows, and answers correctly."""

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        for info in application.task_infos().values():
            object.__setattr__(info, "is_stateful", False)
        for client in application.streams_client_states().values():
            object.__setattr__(client, "num_stream_threads", 99)
        return Greedy().assign(application)


class Half(TaskAssignor):
    """Leaves out every second task, which Kafka does not notice."""

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        first, *others = application.streams_client_states()
        half = tuple(AssignedTask.active(task) for task in list(application.all_tasks())[::2])
        return TaskAssignment([StreamsClientAssignment(first, half), *map(StreamsClientAssignment, others)])


class Changing(TaskAssignor):
    """Fails in states in which the first client had tasks before."""

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        first = next(iter(application.streams_client_states().values()))
        if first.previous_active_tasks:
            raise RuntimeError("not again")
        return Greedy().assign(application)


class KillsItsProcess(TaskAssignor):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        os._exit(3)


class WorseSticky(TaskAssignor):
    """A worse copy of ``sticky``: the last client's tasks go to the first one."""

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        clients = {client.process_id: client for client in StickyTaskAssignor().assign(application).assignments}
        first, *_, last = clients
        taken = [AssignedTask.active(task) for task in clients[last].active_tasks()]
        taken = [task for task in taken if task.id not in clients[first].standby_tasks()]
        clients[first] = StreamsClientAssignment(first, (*clients[first].tasks, *taken))
        left = tuple(task for task in clients[last].tasks if task not in taken)
        clients[last] = StreamsClientAssignment(last, left)
        return TaskAssignment(list(clients.values()))


class SleepsForEver(TaskAssignor):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        while True:
            time.sleep(3_600)


class EatsMemory(TaskAssignor):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        eaten = []
        while True:
            eaten.append(bytearray(2**24))


class ReadsNull(TaskAssignor):
    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        ctypes.string_at(0)
        return Greedy().assign(application)


class PrintsGigabyte(TaskAssignor):
    """Prints without end, and would answer correctly."""

    def assign(self, application: ApplicationMetadata) -> TaskAssignment:
        line = "x" * 1_023
        for _ in range(2**20):
            print(line)
        return Greedy().assign(application)
