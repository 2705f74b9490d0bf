"""The brokers' sticky assignor, step by step as in the references, with Java's maps and queues.

It is slow, because it omits, caches and precomputes nothing. It is the reference for the fast built-ins.
"""

from __future__ import annotations

from collections.abc import Iterable

from assignment_api.group import GroupSpec, MemberAssignment, TaskId, TasksBySubtopology, TopologyDescriber
from assignment_api.java import JavaHashTable, JavaPriorityQueue, string_hash, table_size_for
from assignment_api.streams.ids import utf16_key

#: Member to its active tasks and standby tasks.
Result = dict[str, tuple[set[TaskId], set[TaskId]]]


class NoProcessError(Exception):
    """Raised for the first task if there is no process."""


class Process:
    def __init__(self) -> None:
        self.members: dict[str, int] = {}
        self.tasks: set[TaskId] = set()
        self.taken = 0
        self.heap: JavaPriorityQueue[list[object]] | None = None

    def load(self) -> float:
        return self.taken / len(self.members)


def texts(capacity: int = 16) -> JavaHashTable[str, None]:
    return JavaHashTable(string_hash, utf16_key, capacity)


def filled(names: Iterable[str], capacity: int = 16) -> list[str]:
    table = texts(capacity)
    for name in names:
        table.put(name, None)
    return list(table)


def flat(tasks: TasksBySubtopology) -> list[TaskId]:
    return [TaskId(key, partition) for key, partitions in tasks.items() for partition in partitions]


def by_partition(tasks: Iterable[TaskId]) -> list[TaskId]:
    return sorted(tasks, key=lambda task: (task.partition, utf16_key(task.subtopology_id)))


class PlainGroupSticky:
    """One run; ``newer`` means Kafka 4.4.0, otherwise 4.3.1."""

    def __init__(self, group: GroupSpec, topology: TopologyDescriber, *, newer: bool) -> None:
        self.newer = newer
        self.standbys = group.configs.num_standby_replicas
        self.tasks = [
            TaskId(key, number)
            for key in topology.subtopologies()
            for number in range(topology.max_num_input_partitions(key))
        ]
        self.stateful = [task for task in self.tasks if topology.is_stateful(task.subtopology_id)]
        self.active_left = len(self.tasks)
        self.total_left = len(self.tasks) + self.standbys * len(self.stateful)
        self.active_members = self.total_members = len(group.members)
        self.processes: dict[str, Process] = {}
        self.process_of: dict[str, Process] = {}
        self.prev_active: dict[TaskId, str] = {}
        self.prev_standby: dict[TaskId, list[str]] = {}
        self.given: Result = {member: (set(), set()) for member in group.members}
        self.visit(group)

    def visit(self, group: GroupSpec) -> None:
        table = texts(table_size_for(len(group.members)))
        candidates: dict[TaskId, list[tuple[int, int, str]]] = {}
        for member in filled(group.members):
            metadata, state = group.members[member].metadata, group.members[member].state
            if self.newer:
                table.compute_if_absent(metadata.process_id, None)
            process = self.processes.setdefault(metadata.process_id, Process())
            process.members[member] = 0
            self.process_of[member] = process
            self.prev_active.update(dict.fromkeys(flat(state.active_tasks), member))
            for task in flat(state.standby_tasks):
                candidates.setdefault(task, []).append(
                    (0, state.task_offsets.get(task, 0) if self.newer else 0, member)
                )
            if self.newer:
                for task in state.task_offsets.keys() - set(flat(state.standby_tasks)):
                    candidates.setdefault(task, []).append((1, state.task_offsets[task], member))
        self.prev_standby = {
            task: [member for _, _, member in sorted(found, key=lambda rank: (rank[0], -rank[1]))]
            for task, found in candidates.items()
        }
        self.process_order = list(table) if self.newer else filled(self.processes, table_size_for(len(group.members)))

    # --- steps ----------------------------------------------------------------------------------------

    def assigned(self) -> Result:
        self.place_actives()
        if self.standbys > 0:
            self.place_standbys()
        return self.given

    def place_actives(self) -> None:
        tasks = by_partition(self.tasks)
        rest = [task for task in tasks if not self.give_active(task, self.prev_active.get(task))]
        rest = [task for task in rest if not self.give_active(task, self.best_previous(task, asks=False))]
        queue = self.queue_of_processes()
        for task in sorted(rest):
            if not len(queue):
                raise NoProcessError(str(task))
            process = queue.poll()
            assert process is not None
            self.give_least(process, task, role=0)
            queue.offer(process)

    def give_active(self, task: TaskId, member: str | None) -> bool:
        if member is None or self.count(member) >= self.quota(self.active_left, self.active_members):
            return False
        self.give_to(member, task, role=0)
        return True

    def place_standbys(self) -> None:
        later = []
        for task in reversed(by_partition(self.stateful)):
            for number in range(self.standbys):
                if not self.give_standby(task):
                    later.append((task, self.standbys - number))
                    break
        queue = self.queue_of_processes()
        for task, missing in sorted(later, reverse=True):
            for _ in range(missing):
                if not self.place(queue, task):
                    break

    def give_standby(self, task: TaskId) -> bool:
        for member in (self.prev_active.get(task), None):
            asked = self.best_previous(task, asks=True) if member is None else member
            if asked is None or (member is not None and task in self.process_of[asked].tasks):
                continue
            if self.count(asked) < self.quota(self.total_left, self.total_members):
                self.give_to(asked, task, role=1)
                return True
        return False

    def place(self, queue: JavaPriorityQueue[Process], task: TaskId) -> bool:
        process = queue.poll()
        if process is None:
            return False
        if task not in process.tasks:
            self.give_least(process, task, role=1)
            done = True
        else:
            done = self.place(queue, task)
        queue.offer(process)
        return done

    # --- helpers of the steps -------------------------------------------------------------------------

    def quota(self, tasks: int, members: int) -> int:
        return -(-tasks // members) if members else 0

    def count(self, member: str) -> int:
        return self.process_of[member].members[member]

    def queue_of_processes(self) -> JavaPriorityQueue[Process]:
        queue: JavaPriorityQueue[Process] = JavaPriorityQueue(key=Process.load)
        for name in self.process_order:
            queue.offer(self.processes[name])
        return queue

    def best_previous(self, task: TaskId, *, asks: bool) -> str | None:
        owners = self.prev_standby.get(task, [])
        if self.newer:
            owners = [member for member in owners if not asks or task not in self.process_of[member].tasks]
        if not owners:
            return None
        best = owners[0]
        for member in owners[1:]:
            process = self.process_of[member]
            if asks and task in process.tasks:
                continue
            if process.load() < self.process_of[best].load() and self.count(member) < self.count(best):
                best = member
        return None if asks and task in self.process_of[owners[0]].tasks else best

    def give(self, process: Process, member: str, task: TaskId, role: int) -> None:
        process.taken += 1
        process.tasks.add(task)
        count = process.members[member] = process.members[member] + 1
        self.given[member][role].add(task)
        if role == 0 and count == self.quota(self.active_left, self.active_members):
            self.active_members -= 1
            self.active_left -= count
        if count == self.quota(self.total_left, self.total_members):
            self.total_members -= 1
            self.total_left -= count

    def give_to(self, member: str, task: TaskId, role: int) -> None:
        process = self.process_of[member]
        self.give(process, member, task, role)
        process.heap = None

    def give_least(self, process: Process, task: TaskId, role: int) -> None:
        if process.heap is None:
            process.heap = JavaPriorityQueue(key=lambda entry: entry[1])
            for name in filled(process.members):
                process.heap.offer([name, process.members[name]])
        entry = process.heap.poll()
        assert entry is not None
        member = str(entry[0])
        self.give(process, member, task, role)
        entry[1] = process.members[member]
        process.heap.offer(entry)


def plain_answer(group: GroupSpec, topology: TopologyDescriber, *, newer: bool) -> Result:
    return PlainGroupSticky(group, topology, newer=newer).assigned()


def as_result(members: Iterable[tuple[str, MemberAssignment]]) -> Result:
    return {name: (set(flat(target.active_tasks)), set(flat(target.standby_tasks))) for name, target in members}
