"""Optima after one change of a group are those of the changed group, described anew."""

from __future__ import annotations

import random
import uuid

import pytest

from assignment_api import ApplicationMetadata, AssignmentConfigs, ProcessID, StreamsClientState, TaskId, TaskInfo
from assignment_api.optimum import (
    DEFAULT_GOALS,
    Numbered,
    Problem,
    goals_of,
    joined,
    left,
    optimum,
    problem_of,
    settled,
    with_tasks,
)

GOALS = (goals_of(DEFAULT_GOALS["streams"]), goals_of("balance(tasks), fill(tasks), moves(tasks)"))


class DescribedGroup:
    """A group that is described anew after each change."""

    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.threads = {self.new_process(): draw.randint(1, 3) for _ in range(draw.randint(1, 5))}
        self.stateful = {
            TaskId(draw.randrange(4), number): draw.random() < 0.5 for number in range(draw.randint(0, 40))
        }
        self.owners: dict[TaskId, ProcessID] = {}

    def new_process(self) -> ProcessID:
        return ProcessID(uuid.UUID(int=self.draw.getrandbits(64)))

    def described(self) -> Numbered:
        infos = [
            TaskInfo(task, is_stateful=logged, is_logged=logged, state_store_names=(), topic_partitions=())
            for task, logged in self.stateful.items()
        ]
        clients = [
            StreamsClientState(
                process_id=process,
                num_stream_threads=threads,
                consumers=("consumer",),
                previous_active_tasks=[task for task, owner in self.owners.items() if owner == process],
            )
            for process, threads in self.threads.items()
        ]
        return problem_of(ApplicationMetadata(AssignmentConfigs(), infos, clients))

    def change(self, problem: Problem) -> Problem:
        draw, processes = self.draw, sorted(self.threads)
        kind = draw.choice(("join", "leave", "topic"))
        if kind == "join":
            new = self.new_process()
            self.threads[new] = draw.randint(1, 3)
            return joined(problem, sorted(self.threads).index(new), self.threads[new])
        if kind == "leave" and len(processes) > 1:
            gone = draw.choice(processes)
            del self.threads[gone]
            self.owners = {task: owner for task, owner in self.owners.items() if owner != gone}
            return left(problem, processes.index(gone))
        topic = draw.randrange(5, 100)
        new_tasks = [TaskId(topic, number) for number in range(draw.randint(0, 5))]
        new_tasks = [task for task in new_tasks if task not in self.stateful]
        logged = [draw.random() < 0.5 for _ in new_tasks]
        self.stateful.update(zip(new_tasks, logged, strict=True))
        order = sorted(self.stateful)
        return with_tasks(problem, list(map(order.index, new_tasks)), {"stateful": [float(each) for each in logged]})


@pytest.mark.parametrize("seed", range(40))
def test_the_optimum_after_each_change_is_that_of_the_changed_group(seed: int) -> None:
    draw = random.Random(seed)
    group = DescribedGroup(draw)
    problem = group.described().problem
    goals = problem.known(GOALS[seed % 2])
    for _ in range(8):
        anew = group.described()
        expected, found = optimum(anew.problem, goals), optimum(problem, goals)
        assert (found.goals, found.owners) == (expected.goals, expected.owners)
        group.owners = {task: anew.processes[owner] for task, owner in zip(anew.tasks, found.owners, strict=True)}
        problem = group.change(settled(problem, found.owners, anew.stateful))


def test_a_process_in_a_rack_joins_and_leaves() -> None:
    before = Problem([1, 2], [(0,), (1,), (1,)], [()] * 3, rack=[0, 1], far={"partitions": [(0.0, 1.0)] * 3})
    after = joined(before, 1, 3, rack=0)
    assert (after.threads, after.before, after.rack) == ([1, 3, 2], [(0,), (2,), (2,)], [0, 0, 1])
    again = left(after, 1)
    assert (again.threads, again.before, again.rack) == ([1, 2], [(0,), (1,), (1,)], [0, 1])
    assert left(again, 1).before == [(0,), (), ()]


def test_new_tasks_have_all_facts_of_the_others() -> None:
    problem = Problem([1], [(0,), (0,)], [(), (0,)], {"load": [1.0, 2.0]}, [0], {"partitions": [(1.0,), (2.0,)]})
    more = with_tasks(problem, [0, 2], {"load": [7.0, 8.0]}, {"partitions": [(3.0,), (4.0,)]})
    assert more.before == [(), (0,), (), (0,)]
    assert more.weights == {"load": [7.0, 1.0, 8.0, 2.0]}
    assert more.far == {"partitions": [(3.0,), (1.0,), (4.0,), (2.0,)]}
    with pytest.raises(ValueError, match="facts of 1 new tasks: expected load of each"):
        with_tasks(problem, [2], {})


@pytest.mark.parametrize("at", [[-1], [3], [1, 1], [1, 0]])
def test_impossible_numbers_of_tasks_are_refused(at: list[int]) -> None:
    with pytest.raises(ValueError, match="numbers of new tasks: expected ascending ones from 0"):
        with_tasks(Problem([1], [(0,), (0,)], [(), ()]), at)


def test_impossible_processes_are_refused() -> None:
    problem = Problem([1, 1], [], [])
    with pytest.raises(ValueError, match="process 3 of 2: expected 0 to 2"):
        joined(problem, 3, 1)
    with pytest.raises(ValueError, match="process 2 of 2: expected 0 to 1"):
        left(problem, 2)
    with pytest.raises(ValueError, match="rack: give it for each process of a problem, or for none"):
        joined(problem, 0, 1, rack=1)
