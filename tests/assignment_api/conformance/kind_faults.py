"""Seeded faults of assignors for streams groups and Connect: answers of Kafka's own, changed in one place."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from typing import Any

import attrs

from assignment_api.connect import (
    ConnectAssignment,
    ConnectAssignor,
    ConnectorTaskId,
    Jobs,
    Rebalance,
    WorkerAssignment,
)
from assignment_api.group import GroupAssignment, GroupSpec, MemberAssignment, TaskId, TopologyDescriber
from assignment_api.group.assignor import TaskAssignor as GroupAssignor
from builtin_assignors.connect_incremental import IncrementalCooperativeAssignor
from builtin_assignors.group_sticky import GroupStickyTaskAssignor

__all__ = ["CONNECT_FAULTS", "GROUP_FAULTS", "OfConnect", "OfGroup", "Targets"]

Targets = dict[str, MemberAssignment]


def with_active(target: MemberAssignment, active: Mapping[str, tuple[int, ...]]) -> MemberAssignment:
    return MemberAssignment(active, target.standby_tasks, target.warmup_tasks)


def with_standby(target: MemberAssignment, standby: Mapping[str, tuple[int, ...]]) -> MemberAssignment:
    return MemberAssignment(target.active_tasks, standby, target.warmup_tasks)


class OfGroup(GroupAssignor):
    """Kafka's answer, which a fault changes."""

    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        answer = GroupStickyTaskAssignor().assign(group, topology)
        return GroupAssignment(self.changed(dict(answer.members), group, topology))

    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        return targets


class LosesAGroupTask(OfGroup):
    """The first task of each member with three partitions of one sub-topology."""

    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        def kept(target: MemberAssignment) -> Mapping[str, tuple[int, ...]]:
            return {each: parts[1:] if len(parts) > 2 else parts for each, parts in target.active_tasks.items()}

        return {member: with_active(target, kept(target)) for member, target in targets.items()}


class RunsAGroupTaskTwice(OfGroup):
    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        if len(targets) > 1:
            first, second, *_ = sorted(targets)
            targets[second] = with_active(
                targets[second], {**targets[second].active_tasks, **targets[first].active_tasks}
            )
        return targets


class AnswersForAStranger(OfGroup):
    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        return {**targets, "stranger": MemberAssignment()}


class CountsPartitionsFromOne(OfGroup):
    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        def counted(target: MemberAssignment) -> Mapping[str, tuple[int, ...]]:
            return {each: tuple(part + 1 for part in parts) for each, parts in target.active_tasks.items()}

        return {member: with_active(target, counted(target)) for member, target in targets.items()}


class CopiesItsOwnTasks(OfGroup):
    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        if not group.configs.num_standby_replicas:
            return targets
        return {member: with_standby(target, target.active_tasks) for member, target in targets.items()}


class CopiesWithoutARequest(OfGroup):
    """Each member has copies of its neighbour's tasks, whatever the configuration."""

    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        names = sorted(targets)
        processes = {group.members[name].metadata.process_id for name in names}
        if len(processes) < len(names) or len(names) < 2:
            return targets
        return {
            name: with_standby(targets[name], targets[names[place - 1]].active_tasks)
            for place, name in enumerate(names)
        }


class MakesNoGroupStandbys(OfGroup):
    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        return {member: with_standby(target, {}) for member, target in targets.items()}


class NeedsAMember(OfGroup):
    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        min(group.members)
        return targets


class FollowsTheOrderOfJoining(OfGroup):
    """All tasks go to the first member of the input."""

    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        every = {each: tuple(range(topology.max_num_input_partitions(each))) for each in topology.subtopologies()}
        members = list(group.members)
        return {member: MemberAssignment(every if member == members[0] else {}) for member in members}


class ReadsTheClockOfTheBroker(OfGroup):
    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        time.time()
        return targets


class DrawsAMember(OfGroup):
    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        if len(targets) > 1:
            random.choice(sorted(targets))
        return targets


class ReturnsAMapping(OfGroup):
    def assign(self, group: GroupSpec, topology: TopologyDescriber) -> Any:
        return super().assign(group, topology).members


class SwapsAtEachCall(OfGroup):
    """Neighbours exchange their tasks in every rebalance."""

    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        names = sorted(targets)
        processes = [group.members[name].metadata.process_id for name in names]
        if len(names) != 2 or processes[0] == processes[1] or group.configs.num_standby_replicas:
            return targets
        first, second = names
        return {first: with_active(targets[second], targets[second].active_tasks), second: targets[first]}


class NeedsAGroupTask(OfGroup):
    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        1 // sum(topology.max_num_input_partitions(each) for each in topology.subtopologies())
        return targets


class KnowsOneDigitOfPartitions(OfGroup):
    """Loses every partition from 10 on."""

    first_lost = 10

    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        def kept(target: MemberAssignment) -> Mapping[str, tuple[int, ...]]:
            return {
                each: tuple(part for part in parts if part < self.first_lost)
                for each, parts in target.active_tasks.items()
            }

        return {member: with_active(target, kept(target)) for member, target in targets.items()}


class LosesPartitionsOfLargeTopologies(KnowsOneDigitOfPartitions):
    """Loses every partition from 300 on, which no history has."""

    first_lost = 300


class KnowsSixMembers(OfGroup):
    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        return {member: targets[member] for member in sorted(targets)[:6]}


class KnowsNumberedSubtopologies(OfGroup):
    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        sorted(topology.subtopologies(), key=int)
        return targets


class LeavesTheSecondRackEmpty(OfGroup):
    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        racks = {member: group.members[member].metadata.rack_id for member in targets}
        return {
            member: MemberAssignment() if racks[member] == "rack-1" else target for member, target in targets.items()
        }


class ForgetsGroupCopiesWithTags(OfGroup):
    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        if not group.configs.rack_aware_assignment_tags:
            return targets
        return {member: with_standby(target, {}) for member, target in targets.items()}


class KeepsVanishedPartitions(OfGroup):
    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        for member, target in targets.items():
            for each, parts in group.members[member].state.active_tasks.items():
                gone = [part for part in parts if part >= topology.max_num_input_partitions(each)]
                own = {**target.active_tasks, each: (*target.active_tasks.get(each, ()), *gone)}
                targets[member] = target = with_active(target, own)
        return targets


class BelievesEveryMember(OfGroup):
    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        for member, target in targets.items():
            for each, parts in group.members[member].state.active_tasks.items():
                held = target.active_tasks.get(each, ())
                known = [part for part in parts if part < topology.max_num_input_partitions(each)]
                own = {**target.active_tasks, each: tuple(sorted({*held, *known}))}
                targets[member] = target = with_active(target, own)
        return targets


class NeedsEveryOffset(OfGroup):
    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        for member in group.members.values():
            state = member.state
            for each, parts in state.active_tasks.items():
                if topology.is_stateful(each):
                    sum(state.task_offsets[TaskId(each, part)] for part in parts)
        return targets


class CalculatesWithTextsOfTheBroker(OfGroup):
    def configure(self, configs: Mapping[str, Any]) -> None:
        assert configs["num.standby.replicas"] >= 0


class ChangesTheOffsets(OfGroup):
    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        for member in group.members.values():
            object.__setattr__(member.state, "task_offsets", {TaskId("0", 0): 0})
        return targets


class RotatesWithEachCall(OfGroup):
    """All tasks go to another member in each call, of any group."""

    calls = 0

    def changed(self, targets: Targets, group: GroupSpec, topology: TopologyDescriber) -> Targets:
        RotatesWithEachCall.calls += 1
        every = {each: tuple(range(topology.max_num_input_partitions(each))) for each in topology.subtopologies()}
        return {
            member: MemberAssignment(every if place == self.calls % len(targets) else {})
            for place, member in enumerate(sorted(targets))
        }


class OfConnect(ConnectAssignor):
    """Kafka's answer, which a fault changes."""

    def __init__(self) -> None:
        self._kafkas = IncrementalCooperativeAssignor()

    def configure(self, configs: Mapping[str, Any]) -> None:
        self._kafkas.configure(configs)

    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        answer = self._kafkas.assign(rebalance)
        return attrs.evolve(answer, workers=self.changed(dict(answer.workers), rebalance))

    def changed(self, workers: dict[str, WorkerAssignment], rebalance: Rebalance) -> dict[str, WorkerAssignment]:
        return workers


class LosesAJob(OfConnect):
    """The last new task of a worker with three new ones."""

    def changed(self, workers: dict[str, WorkerAssignment], rebalance: Rebalance) -> dict[str, WorkerAssignment]:
        def kept(told: WorkerAssignment) -> WorkerAssignment:
            tasks = told.assigned.tasks
            return attrs.evolve(told, assigned=Jobs(told.assigned.connectors, tasks[:-1] if len(tasks) > 2 else tasks))

        return {worker: kept(told) for worker, told in workers.items()}


class StartsAJobTwice(OfConnect):
    def changed(self, workers: dict[str, WorkerAssignment], rebalance: Rebalance) -> dict[str, WorkerAssignment]:
        if len(workers) > 1:
            first, second, *_ = workers
            both = workers[second].assigned.plus(workers[first].assigned)
            workers[second] = attrs.evolve(workers[second], assigned=both)
        return workers


class TakesJobsWithoutStoppingThem(OfConnect):
    """What a worker must stop starts elsewhere in the same rebalance."""

    def changed(self, workers: dict[str, WorkerAssignment], rebalance: Rebalance) -> dict[str, WorkerAssignment]:
        for name, told in workers.items():
            other = next((each for each in workers if each != name), None)
            if len(told.revoked) and other is not None:
                workers[other] = attrs.evolve(workers[other], assigned=workers[other].assigned.plus(told.revoked))
                break
        return workers


class ForgetsAWorker(OfConnect):
    def changed(self, workers: dict[str, WorkerAssignment], rebalance: Rebalance) -> dict[str, WorkerAssignment]:
        return {worker: told for worker, told in workers.items() if len(workers) < 2 or worker != max(workers)}


class StartsUnknownTasks(OfConnect):
    def changed(self, workers: dict[str, WorkerAssignment], rebalance: Rebalance) -> dict[str, WorkerAssignment]:
        for name, told in workers.items():
            for connector in told.assigned.connectors:
                more = Jobs((), (ConnectorTaskId(connector, rebalance.configured.task_counts[connector]),))
                return {**workers, name: attrs.evolve(told, assigned=told.assigned.plus(more))}
        return workers


class StopsWhatAnotherRuns(OfConnect):
    def changed(self, workers: dict[str, WorkerAssignment], rebalance: Rebalance) -> dict[str, WorkerAssignment]:
        for worker in rebalance.workers:
            other = next((each for each in workers if each != worker.member_id), None)
            if len(worker.owned) and other is not None:
                return {**workers, other: attrs.evolve(workers[other], revoked=worker.owned)}
        return workers


class KeepsDeletedConnectors(OfConnect):
    def changed(self, workers: dict[str, WorkerAssignment], rebalance: Rebalance) -> dict[str, WorkerAssignment]:
        def kept(told: WorkerAssignment) -> WorkerAssignment:
            connectors = tuple(each for each in told.revoked.connectors if each in rebalance.configured)
            tasks = tuple(each for each in told.revoked.tasks if each in rebalance.configured)
            return attrs.evolve(told, revoked=Jobs(connectors, tasks))

        return {worker: kept(told) for worker, told in workers.items()}


class ReadsTheClockOfTheLeader(OfConnect):
    def changed(self, workers: dict[str, WorkerAssignment], rebalance: Rebalance) -> dict[str, WorkerAssignment]:
        time.time()
        return workers


class ReturnsWorkersAlone(OfConnect):
    def assign(self, rebalance: Rebalance) -> Any:
        return super().assign(rebalance).workers


class GivesAllToTheFirstThatJoined(OfConnect):
    """New jobs go to the first worker of the input."""

    def changed(self, workers: dict[str, WorkerAssignment], rebalance: Rebalance) -> dict[str, WorkerAssignment]:
        every = Jobs()
        for told in workers.values():
            every = every.plus(told.assigned)
        first = rebalance.workers[0].member_id
        return {
            worker: attrs.evolve(told, assigned=every if worker == first else Jobs())
            for worker, told in workers.items()
        }


class NeedsAConnector(OfConnect):
    def changed(self, workers: dict[str, WorkerAssignment], rebalance: Rebalance) -> dict[str, WorkerAssignment]:
        min(rebalance.configured.task_counts)
        return workers


class NeedsATaskOfEachConnector(OfConnect):
    def changed(self, workers: dict[str, WorkerAssignment], rebalance: Rebalance) -> dict[str, WorkerAssignment]:
        for count in rebalance.configured.task_counts.values():
            1 // count
        return workers


class KnowsOneDigitOfTasks(OfConnect):
    """Loses every task from 10 on."""

    first_lost = 10

    def changed(self, workers: dict[str, WorkerAssignment], rebalance: Rebalance) -> dict[str, WorkerAssignment]:
        def kept(jobs: Jobs) -> Jobs:
            return Jobs(jobs.connectors, [task for task in jobs.tasks if task.task < self.first_lost])

        return {worker: attrs.evolve(told, assigned=kept(told.assigned)) for worker, told in workers.items()}


class KnowsSixWorkers(OfConnect):
    def changed(self, workers: dict[str, WorkerAssignment], rebalance: Rebalance) -> dict[str, WorkerAssignment]:
        return {worker: workers[worker] for worker in sorted(workers)[:6]}


class KeepsRemovedTasks(OfConnect):
    """Stops no task of a connector that goes on with fewer tasks."""

    def changed(self, workers: dict[str, WorkerAssignment], rebalance: Rebalance) -> dict[str, WorkerAssignment]:
        def kept(jobs: Jobs) -> Jobs:
            counts = rebalance.configured.task_counts
            tasks = [task for task in jobs.tasks if task in rebalance.configured or task.connector not in counts]
            return Jobs(jobs.connectors, tasks)

        return {worker: attrs.evolve(told, revoked=kept(told.revoked)) for worker, told in workers.items()}


class ExpectsEachTaskOnce(OfConnect):
    def changed(self, workers: dict[str, WorkerAssignment], rebalance: Rebalance) -> dict[str, WorkerAssignment]:
        tasks = [task for worker in rebalance.workers for task in worker.owned.tasks]
        assert len({*tasks}) == len(tasks)
        return workers


class ExpectsToLeadFromTheStart(OfConnect):
    """Knows the members of the rebalance before only if it led that one."""

    def __init__(self) -> None:
        super().__init__()
        self._known: list[int] = []

    def changed(self, workers: dict[str, WorkerAssignment], rebalance: Rebalance) -> dict[str, WorkerAssignment]:
        if rebalance.generation:
            self._known[-1] += 1
        self._known.append(len(workers))
        return workers


class CalculatesWithTextsOfTheWorker(OfConnect):
    def configure(self, configs: Mapping[str, Any]) -> None:
        super().configure(configs)
        assert configs["scheduled.rebalance.max.delay.ms"] >= 0


class ChangesTheWorkers(OfConnect):
    def changed(self, workers: dict[str, WorkerAssignment], rebalance: Rebalance) -> dict[str, WorkerAssignment]:
        for worker in rebalance.workers:
            object.__setattr__(worker, "owned", Jobs(("c9",)))
        return workers


class RemembersOtherGroups(OfConnect):
    """Delays every second call of all leaders together."""

    calls = 0

    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        RemembersOtherGroups.calls += 1
        answer = super().assign(rebalance)
        return answer if self.calls % 2 else attrs.evolve(answer, rejoin=True)


class DelaysBackwards(OfConnect):
    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        answer = super().assign(rebalance)
        object.__setattr__(answer, "delay_ms", -1)
        return answer


class RejoinsForever(OfConnect):
    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        return attrs.evolve(super().assign(rebalance), rejoin=True)


#: As ``FAULTS`` of :mod:`tests.assignment_api.conformance.faults`.
GROUP_FAULTS: dict[type[GroupAssignor], tuple[str, tuple[int, int, int] | None]] = {
    LosesAGroupTask: ("nothing lost", (0, 1, 3)),
    RunsAGroupTaskTwice: ("nothing lost", (0, 2, 1)),
    AnswersForAStranger: ("accepted", (0, 0, 0)),
    CountsPartitionsFromOne: ("accepted", (0, 1, 1)),
    CopiesItsOwnTasks: ("copies elsewhere", (0, 1, 1)),
    CopiesWithoutARequest: ("copies asked for", (0, 2, 1)),
    MakesNoGroupStandbys: ("copies made", (0, 2, 1)),
    NeedsAMember: ("answers", (0, 0, 0)),
    FollowsTheOrderOfJoining: ("any order", (0, 2, 1)),
    ReadsTheClockOfTheBroker: ("no clock", (0, 0, 0)),
    DrawsAMember: ("no chance", (0, 2, 0)),
    ReturnsAMapping: ("right types", (0, 0, 0)),
    SwapsAtEachCall: ("at rest", (0, 2, 1)),
    NeedsAGroupTask: ("answers", (0, 0, 0)),
    KnowsOneDigitOfPartitions: ("nothing lost", (0, 1, 11)),
    LosesPartitionsOfLargeTopologies: ("nothing lost", None),
    KnowsSixMembers: ("nothing lost", (0, 7, 2)),
    KnowsNumberedSubtopologies: ("answers", (0, 0, 0)),
    LeavesTheSecondRackEmpty: ("nothing lost", (0, 1, 1)),
    ForgetsGroupCopiesWithTags: ("copies made", (0, 2, 1)),
    KeepsVanishedPartitions: ("accepted", (1, 1, 1)),
    BelievesEveryMember: ("nothing lost", (1, 2, 1)),
    NeedsEveryOffset: ("answers", (1, 1, 1)),
    CalculatesWithTextsOfTheBroker: ("answers", (0, 0, 0)),
    ChangesTheOffsets: ("input untouched", (0, 1, 0)),
    RotatesWithEachCall: ("nothing kept", (0, 2, 1)),
}
CONNECT_FAULTS: dict[type[ConnectAssignor], tuple[str, tuple[int, int, int] | None]] = {
    LosesAJob: ("nothing lost", (0, 1, 3)),
    StartsAJobTwice: ("accepted", (0, 2, 0)),
    TakesJobsWithoutStoppingThem: ("accepted", (1, 2, 0)),
    ForgetsAWorker: ("accepted", (0, 2, 0)),
    StartsUnknownTasks: ("accepted", (0, 1, 0)),
    StopsWhatAnotherRuns: ("nothing in vain", (0, 2, 0)),
    KeepsDeletedConnectors: ("nothing lost", (1, 1, 0)),
    ReadsTheClockOfTheLeader: ("no clock", (0, 1, 0)),
    ReturnsWorkersAlone: ("right types", (0, 1, 0)),
    GivesAllToTheFirstThatJoined: ("any order", (0, 2, 0)),
    NeedsAConnector: ("answers", (1, 1, 0)),
    NeedsATaskOfEachConnector: ("answers", (0, 1, 0)),
    KnowsOneDigitOfTasks: ("nothing lost", (0, 1, 11)),
    KnowsSixWorkers: ("accepted", (0, 7, 0)),
    KeepsRemovedTasks: ("nothing lost", (1, 1, 1)),
    ExpectsEachTaskOnce: ("answers", (1, 2, 2)),
    ExpectsToLeadFromTheStart: ("answers", (1, 1, 0)),
    CalculatesWithTextsOfTheWorker: ("answers", (0, 1, 0)),
    ChangesTheWorkers: ("input untouched", (0, 1, 0)),
    RemembersOtherGroups: ("nothing kept", (0, 1, 0)),
    DelaysBackwards: ("right types", (0, 1, 0)),
    RejoinsForever: ("comes to rest", (0, 1, 0)),
}
