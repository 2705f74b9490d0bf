"""The sticky assignors, step by step as in Kafka, with every hash set and every pair.

It is slow, because it omits and precomputes nothing. It is the reference for the fast built-ins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assignment_api import IllegalAssignmentStateError, NoCapacityError
from assignment_api.java import JavaHashTable
from builtin_assignors._sticky_steps import StickyProblem

Result = tuple[list[int], list[list[int]]]


class PlainSticky:
    def __init__(
        self, problem: StickyProblem, *, public: bool, preserve: bool = False, rounds_up: bool = False
    ) -> None:
        self.problem = problem
        self.public = public
        self.preserve = preserve
        self.rounds_up = rounds_up
        self.clients = range(len(problem.capacities))
        self.active: list[set[int]] = [set() for _ in self.clients]
        self.standby: list[set[int]] = [set() for _ in self.clients]
        self.pairs: set[tuple[int, int]] = set()
        self.max_pairs = len(problem.tasks) * (len(problem.tasks) - 1) // 2
        self.prev_active: JavaHashTable[int, int] = self.task_table()
        self.prev_standby: dict[int, JavaHashTable[int, None]] = {}
        for client in self.clients:
            for task in problem.previous_active[client]:
                self.prev_active.put(task, client)
            for task in problem.previous_standby[client]:
                self.prev_standby.setdefault(task, self.client_table()).put(client, None)

    def task_table(self) -> JavaHashTable[int, int]:
        return JavaHashTable(self.problem.task_hashes.__getitem__)

    def client_table(self, of: Iterable[int] = ()) -> JavaHashTable[int, None]:
        problem = self.problem
        table: JavaHashTable[int, None] = JavaHashTable(
            problem.client_hashes.__getitem__, problem.client_ranks.__getitem__
        )
        for client in of:
            table.put(client, None)
        return table

    def held(self, client: int) -> set[int]:
        return self.active[client] | self.standby[client]

    def load(self, client: int) -> float:
        held, threads = len(self.held(client)), self.problem.capacities[client]
        if threads:
            return held / threads
        return float("inf") if held else float("nan")

    def more_room(self, client: int, other: int) -> bool:
        if self.public:
            return self.load(client) < self.load(other)
        threads = self.problem.capacities
        if threads[client] <= 0 or threads[other] <= 0:
            raise IllegalAssignmentStateError("a client without threads is compared")
        if self.load(client) == self.load(other):
            return threads[client] > threads[other]
        return self.load(client) < self.load(other)

    def is_idle(self, client: int) -> bool:
        return self.load(client) == 0 if self.public else not self.held(client)

    def is_overloaded(self, client: int) -> bool:
        full = self.load(client) >= 1 if self.public else len(self.held(client)) >= self.problem.capacities[client]
        return full and any(self.more_room(other, client) for other in self.clients)

    def has_room(self, client: int) -> bool:
        tasks, threads = len(self.problem.tasks), self.problem.capacities
        if not self.rounds_up:
            return len(self.active[client]) < threads[client] * (tasks // sum(threads))
        if sum(threads) == 0:
            raise NoCapacityError("/ by zero")
        return len(self.active[client]) < (tasks * threads[client] + sum(threads) - 1) // sum(threads)

    def put(self, task: int, client: int, kind: list[set[int]]) -> None:
        self.pairs |= {(min(task, other), max(task, other)) for other in self.held(client)}
        kind[client].add(task)

    def has_new_pair(self, task: int, others: Iterable[int]) -> bool:
        if len(self.pairs) == self.max_pairs:
            return False
        return any((min(task, other), max(task, other)) not in self.pairs for other in others)

    def scan(self, task: int, candidates: Iterable[int], *, check_pairs: bool) -> int | None:
        best: int | None = None
        for client in candidates:
            if self.is_idle(client):
                return client
            is_better = best is None or self.more_room(client, best)
            if is_better and (not check_pairs or self.has_new_pair(task, self.held(client))):
                best = client
        return best

    def least_loaded(self, task: int, candidates: Sequence[int]) -> int | None:
        found = self.scan(task, candidates, check_pairs=True)
        return self.scan(task, candidates, check_pairs=False) if found is None else found

    def by_standby(self, task: int, candidates: Sequence[int]) -> int | None:
        if task not in self.prev_standby:
            return None
        problem = self.problem
        copy = JavaHashTable.set_copy(
            self.prev_standby[task], problem.client_hashes.__getitem__, problem.client_ranks.__getitem__, problem.jdk
        )
        return self.least_loaded(task, [client for client in copy if client in candidates])

    def find(self, task: int, candidates: Sequence[int]) -> int:
        if len(candidates) == 1:
            return candidates[0]
        owner: int | None = dict(self.prev_active.items()).get(task)
        previous = owner if owner in candidates else self.by_standby(task, candidates)
        if previous is None:
            chosen = self.least_loaded(task, candidates)
        elif self.is_overloaded(previous):
            chosen = self.by_standby(task, candidates)
            if chosen is None or self.is_overloaded(chosen):
                chosen = self.least_loaded(task, candidates)
        else:
            chosen = previous
        assert chosen is not None
        return chosen

    def run(self) -> Result:
        self.place_actives()
        self.place_standbys()
        return self.result()

    def place_actives(self) -> None:
        problem = self.problem
        total = sum(problem.capacities)
        if total == 0 and not self.rounds_up:
            raise NoCapacityError("/ by zero") if self.public else IllegalAssignmentStateError("no capacity")
        all_tasks = self.task_table()
        for task in problem.tasks:
            all_tasks.put(task, 0)
        unassigned = JavaHashTable.set_copy(list(all_tasks), problem.task_hashes.__getitem__, jdk=problem.jdk)
        done = self.task_table()
        for task, client in self.prev_active.items():
            if task in all_tasks and (self.preserve or self.has_room(client)):
                self.put(task, client, self.active)
                done.put(task, 0)
                if self.public:
                    unassigned.remove(task)
        if not self.public:
            unassigned.remove_all(done, len(done))
        for task in list(unassigned):
            for client in self.prev_standby.get(task, ()):
                if self.has_room(client):
                    self.put(task, client, self.active)
                    unassigned.remove_through_iterator(task)
                    break
        candidates = list(self.client_table(self.clients)) if self.public else list(self.clients)
        for task in sorted(unassigned):
            self.put(task, self.find(task, candidates), self.active)

    def move_actives(self, moves: Iterable[tuple[int, int]]) -> None:
        for task, client in moves:
            for tasks in self.active:
                tasks.discard(task)
            self.active[client].add(task)

    def place_standbys(self) -> None:
        problem = self.problem
        stateful = self.task_table()
        if self.public:
            all_tasks = self.task_table()
            for task in problem.tasks:
                all_tasks.put(task, 0)
            inserted = [task for task in all_tasks if task in problem.stateful_tasks]
        else:
            inserted = list(problem.stateful_tasks)
        for task in inserted:
            stateful.put(task, 0)
        for task in stateful:
            for _ in range(problem.num_standbys):
                candidates = list(self.client_table(c for c in self.clients if task not in self.held(c)))
                if not candidates:
                    break
                self.put(task, self.find(task, candidates), self.standby)

    def result(self) -> Result:
        owner = [-1] * len(self.problem.task_hashes)
        for client in self.clients:
            for task in self.active[client]:
                owner[task] = client
        return owner, [sorted(tasks) for tasks in self.standby]
