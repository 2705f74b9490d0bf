"""A classic Streams group that runs, as a scenario: what its members said at their latest join, and what they got.

Brokers keep the bytes that members and leader exchange. The leader's input is rebuilt from them; what it asked brokers
for, the ends of changelogs, is asked for now, a little later than the leader did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from assignment_api.plugins.keys import read_value
from assignment_api.plugins.layers import ConfigLayer
from assignment_api.streams import AssignmentConfigs, ProcessID, TaskId
from assignment_api.streams.client_state import LATEST_OFFSET, UNKNOWN_OFFSET_SUM
from assignment_api.streams.configs import ASSIGNMENT_KEYS, NUM_STANDBY_REPLICAS
from assignor_lab.capture.errors import StateUnknownError
from assignor_lab.capture.live.errors import GroupUnusableError
from assignor_lab.capture.recorded.broker_answers import ClusterAnswer, GroupAnswer, MemberAnswer, TopicPartition
from assignor_lab.capture.recorded.group_documents import (
    client_document,
    sorted_tasks,
)
from assignor_lab.capture.recorded.member_evidence import furthest, members_of
from assignor_lab.capture.recorded.recording import Recording
from assignor_lab.capture.recorded.states import members_by_process
from assignor_lab.capture.topology import (
    Brokers,
    Description,
    GroupTopology,
    Members,
    task_document,
    tasks_of_partitions,
    topology_of,
)
from assignor_lab.kafka.leader.task_order import in_kafka_order
from assignor_lab.kafka.wire.assignment_info import NO_REBALANCE
from assignor_lab.scenarios.settings import with_given

__all__ = ["Offsets", "Surroundings", "classic_document", "unsettled"]

#: Numbers of partitions, asked for where they are needed.
Offsets = Callable[[Iterable[TopicPartition]], Mapping[TopicPartition, int]]

#: Tasks that a sentence names.
_MOST_NAMED = 3


@attrs.frozen
class Surroundings:
    """What is known of a group besides its description.

    Args:
        members: The members while the group ran this topology; ``None``: as this description shows them.
        tasks: Tasks of the group that the description may lack.
        groups: All groups that are known.
        optimized: Whether tables read their source topics back; ``None``: unknown.
        latest_ends: Ends of partitions at the latest moment that is known; ``None``: those that are asked for.
        awaited: Tasks that nobody runs at the moment, to the process that is to run them; ``None``: not known.
        reached: Task to the furthest offset sum that a member had reported by then; ``None``: as this one shows.
        has_ends: Whether ends of partitions are asked for; if not, ``reached`` stands for them.
        standbys: ``num.standby.replicas`` as calm generations show it; ``None``: as this one does.
        ends_told: A sentence on where ends of changelogs come from.
        no_topics: A sentence on topics of which nothing is known; ``{topic}`` is one of them.
    """

    members: Members | None = None
    tasks: frozenset[TaskId] = frozenset()
    groups: frozenset[str] = frozenset()
    optimized: bool | None = None
    latest_ends: Offsets | None = None
    awaited: Mapping[TaskId, ProcessID | None] = attrs.field(factory=dict)
    reached: Mapping[TaskId, int] | None = None
    has_ends: bool = True
    standbys: int | None = None
    ends_told: str = (
        "the ends of changelogs are those of now, and what members reported is from their latest join: what was "
        "written since then counts as lag of those who do not run the task"
    )
    no_topics: str = (
        "topics may not be seen, such as {topic} (DESCRIBE on them is needed): lags are unknown, and a task counts as "
        "stateful if somebody has or reports state of it"
    )


#: A group that is described as it is now.
_NOW = Surroundings()


def unsettled(answer: GroupAnswer) -> str | None:
    """Why a group does not show a whole decision at the moment; ``None``: it does."""
    if answer.state != "Stable":
        return f"it is in state {answer.state}"
    if any(member.subscription is None or member.assignment is None for member in answer.members):
        return "not every member has been given its tasks"
    if any(
        member.assignment is not None and member.assignment.info.next_rebalance_ms == 0 for member in answer.members
    ):
        return "an immediate follow-up rebalance is to come"
    owned = {each for member in answer.members if member.subscription for each in member.subscription.owned_partitions}
    given = {each for member in answer.members if member.assignment for each in member.assignment.partitions}
    if owned - given:
        return "tasks that move are still to be handed over by those who have them"
    return None


def classic_document(
    answer: GroupAnswer,
    cluster: ClusterAnswer,
    time_ms: int,
    ends: Offsets,
    sizes: Offsets,
    config: Iterable[ConfigLayer],
    topology: Path | None = None,
    surroundings: Surroundings = _NOW,
) -> dict[str, Any]:
    """The scenario of one group.

    Args:
        answer: Its description, of a group that is not :func:`unsettled`, but for tasks that are handed over.
        cluster: Brokers with racks, and all topics.
        time_ms: When it was described.
        ends: Ends of partitions.
        sizes: Bytes of partitions on disk.
        config: What ``--config`` and ``-c`` say, the lowest first.
        topology: File with the text of Java's ``Topology#describe``, or ``None``.
        surroundings: What else is known.

    Raises:
        GroupUnusableError: if the group does not tell which of its tasks have state.
        BrokerAnswerError: if a member speaks a version of Streams that is not known here.
        TopologyTextError: if the topology cannot be read.
    """
    recording = Recording([], [(time_ms, cluster)])
    return _Captured(answer, recording, time_ms, tuple(config), surroundings).document(ends, sizes, topology)


@attrs.frozen
class _Captured:
    answer: GroupAnswer
    recording: Recording
    time_ms: int
    layers: tuple[ConfigLayer, ...]
    surroundings: Surroundings

    def document(self, ends: Offsets, sizes: Offsets, topology_file: Path | None) -> dict[str, Any]:
        assumptions: list[str] = []
        processes = members_by_process(self.answer)
        tasks = tuple(in_kafka_order(self._all_tasks()))
        members = attrs.evolve(self.surroundings.members or members_of([self.answer]), tasks=tasks)
        brokers = attrs.evolve(
            self.recording.brokers(self.time_ms),
            groups=self.surroundings.groups,
            ends=self.surroundings.latest_ends or ends,
        )
        topology = self._topology(members, brokers, topology_file)
        logged = topology.logged(tasks)
        changelogs = _changelogs(tasks, topology)
        end_sums = self._end_sums(members, topology, brokers, ends, assumptions)
        if end_sums:
            assumptions.append(self.surroundings.ends_told)
        held = {
            process: (
                _union(member.assignment.info.active_tasks for member in members if member.assignment),
                _union(member.assignment.info.standby_tasks for member in members if member.assignment),
            )
            for process, members in processes.items()
        }
        awaited = self._hand_over(held, assumptions)
        followup = self._followup()
        owners = tasks_of_partitions(tasks, topology, members.sources)
        document = {
            "format": 1,
            "kind": "streams",
            "id": f"{self.answer.group}-generation-{self.answer.generation}",
            "config": self._config(held.values(), logged, assumptions, is_probing=followup is not False),
            "tasks": [task_document(task, topology, brokers, assumptions) for task in tasks],
            "clients": [
                client_document(process, members, owners, None if end_sums is None else _lags(members, end_sums))
                for process, members in processes.items()
            ],
            "observed": {
                "assignment": {
                    str(process): {"active": sorted_tasks(active), "standby": sorted_tasks(standby)}
                    for process, (active, standby) in held.items()
                },
                "followup": followup,
                "threads": None if awaited else _threads(processes),
            },
            "source": {"time_ms": self.time_ms, "group": self.answer.group, "generation": self.answer.generation},
        }
        if None in awaited.values():
            del document["observed"]
        if workload := _workload(changelogs, sizes):
            document["workload"] = {"tasks": workload}
            assumptions.append("state_bytes are those of the changelogs on the brokers' disks")
        return with_given({**document, "assumptions": [*assumptions, *topology.sentences]}, {}, self.layers)

    def _all_tasks(self) -> set[TaskId]:
        return set(self.surroundings.tasks) | {
            task
            for member in self.answer.members
            if member.assignment is not None
            for task in (*member.assignment.info.active_tasks, *member.assignment.info.standby_tasks)
        }

    def _hand_over(
        self, held: Mapping[ProcessID, tuple[set[TaskId], set[TaskId]]], assumptions: list[str]
    ) -> dict[TaskId, ProcessID | None]:
        """Gives tasks that nobody runs, because their old owners have to let go first, to whom they are meant for."""
        running = _union(active for active, _ in held.values())
        awaited = {task: self.surroundings.awaited.get(task) for task in self.surroundings.tasks - running}
        for task, process in awaited.items():
            if process is not None and process in held:
                held[process][0].add(task)
                # What it has meanwhile is a copy that is kept for it.
                held[process][1].discard(task)
        if awaited:
            shown = ", ".join(sorted_tasks(awaited)[:_MOST_NAMED]) + (", …" if len(awaited) > _MOST_NAMED else "")
            assumptions.append(
                f"{len(awaited)} active tasks ({shown}) were held back until their old owners had let them go: whom "
                + (
                    "they were meant for is not told, so what was decided is unknown"
                    if None in awaited.values()
                    else "they were meant for is taken from the members' messages and the next generation"
                )
            )
        return awaited

    def _topology(self, members: Members, brokers: Brokers, file: Path | None) -> GroupTopology:
        text = None if file is None else Description.of_file(file)
        try:
            return topology_of(text, self.answer.group, members, brokers, optimized=self.surroundings.optimized)
        except StateUnknownError as error:
            raise GroupUnusableError(f"group {self.answer.group}: {error}") from error

    def _end_sums(
        self, members: Members, topology: GroupTopology, brokers: Brokers, ends: Offsets, assumptions: list[str]
    ) -> dict[TaskId, int] | None:
        """Task to the sum of its changelogs' ends; ``None`` if none of them is known.

        Of a task whose changelogs are not all known, the furthest that a member has come stands for it.
        """
        logged = topology.logged(members.tasks)
        reached = self.surroundings.reached
        if reached is None:
            (reached,) = furthest([self.answer])
        if not self.surroundings.has_ends:
            return {task: reached.get(task, 0) for task in logged}
        read = sorted({name for topics in members.sources.values() for name in topics})
        if read and not brokers.names.intersection(read):
            assumptions.append(self.surroundings.no_topics.format(topic=read[0]))
            return None
        changelogs = {task: found for task, found in _changelogs(members.tasks, topology).items() if task in logged}
        known = ends([each for of in changelogs.values() for each in of])
        if changelogs and not known:
            assumptions.append(
                "the ends of changelogs may not be seen: lags are unknown (DESCRIBE on the topics is needed)"
            )
            return None
        found = {
            task: sum(known[each] for each in of)
            for task, of in changelogs.items()
            if all(each in known for each in of)
        }
        if unknown := [task for task in members.tasks if task in logged and task not in found]:
            found |= {task: reached.get(task, 0) for task in unknown}
            assumptions.append(_of_unknown_ends(unknown, topology))
        return found

    def _followup(self) -> bool | None:
        """Whether the answer asked for a probing rebalance; ``None``: an immediate one may hide that."""
        asked = [member.assignment.info.next_rebalance_ms for member in self.answer.members if member.assignment]
        if any(at not in (0, NO_REBALANCE) for at in asked):
            return True
        return None if 0 in asked else False

    def _config(
        self,
        held: Iterable[tuple[set[TaskId], set[TaskId]]],
        logged: frozenset[TaskId],
        assumptions: list[str],
        *,
        is_probing: bool,
    ) -> dict[str, Any]:
        defaults = AssignmentConfigs()
        config: dict[str, Any] = {key: getattr(defaults, name) for key, (name, _) in ASSIGNMENT_KEYS.items()}
        given = {key: each.value for layer in self.layers for key, each in layer.entries.items() if key in config}
        config |= {key: read_value(key, value) for key, value in given.items()}
        if NUM_STANDBY_REPLICAS not in given and self.surroundings.standbys is not None:
            config[NUM_STANDBY_REPLICAS] = self.surroundings.standbys
            assumptions.append(
                f"{NUM_STANDBY_REPLICAS} is not told: taken as {config[NUM_STANDBY_REPLICAS]}, as many copies as calm "
                "generations have (give it with --config or -c)"
            )
        elif NUM_STANDBY_REPLICAS not in given:
            copies = dict.fromkeys(logged, 0)
            for _, standby in held:
                for task in standby:
                    copies[task] = copies.get(task, 0) + 1
            # While warm-ups are on the way, some tasks have more copies than are configured.
            config[NUM_STANDBY_REPLICAS] = (min if is_probing else max)(copies.values(), default=0)
            assumptions.append(
                f"{NUM_STANDBY_REPLICAS} is not told by brokers: taken as {config[NUM_STANDBY_REPLICAS]}, as many as "
                "tasks have (give it with --config or -c)"
            )
        if unknown := [key for key in config if key not in given and key != NUM_STANDBY_REPLICAS]:
            assumptions.append(
                f"config is not told by brokers, Kafka's defaults taken (give it with --config): {', '.join(unknown)}"
            )
        return {key: list(value) if isinstance(value, tuple) else value for key, value in config.items()}


def _union(held: Iterable[Iterable[TaskId]]) -> set[TaskId]:
    return {task for tasks in held for task in tasks}


def _changelogs(tasks: Iterable[TaskId], topology: GroupTopology) -> dict[TaskId, list[TopicPartition]]:
    """Task to its partitions of changelogs; without those whose changelogs are unknown."""
    return {
        task: [(changelog, task.partition) for changelog in changelogs]
        for task in tasks
        if (changelogs := topology.of(task).changelogs)
    }


def _of_unknown_ends(tasks: Sequence[TaskId], topology: GroupTopology) -> str:
    stores = {
        store.name
        for task in tasks
        for store in topology.of(task).stores or ()
        if not store.is_known or store.changelog
    }
    of_stores = f" (stores {', '.join(sorted(stores))})" if stores else ""
    return (
        f"where the changelogs of tasks {', '.join(map(str, tasks))}{of_stores} end is unknown: their lags are those "
        "behind the furthest member (give the topology with --topology, or topology.optimization with --config)"
    )


def _lags(members: Iterable[MemberAnswer], end_sums: Mapping[TaskId, int]) -> dict[TaskId, int]:
    """Lags as the leader works them out. Kafka: ``ClientState#computeTaskLags``."""
    sums: dict[TaskId, int] = {}
    for member in members:
        if member.subscription is not None:
            sums.update(member.subscription.info.task_offset_sums)
    return {task: _lag(sums.get(task, 0), end) for task, end in end_sums.items()}


def _lag(offset_sum: int, end: int) -> int:
    if offset_sum in (LATEST_OFFSET, UNKNOWN_OFFSET_SUM):
        return offset_sum
    # A changelog that was made anew ends before what somebody still has of the old one.
    return end if end < offset_sum else end - offset_sum


def _threads(processes: Mapping[ProcessID, Iterable[MemberAnswer]]) -> dict[str, dict[str, list[str]]]:
    return {
        member.member_id: {
            "active": sorted_tasks(member.assignment.info.active_tasks),
            "standby": sorted_tasks(member.assignment.info.standby_tasks),
        }
        for members in processes.values()
        for member in members
        if member.assignment is not None
    }


def _workload(changelogs: Mapping[TaskId, list[TopicPartition]], sizes: Offsets) -> dict[str, dict[str, int]]:
    known = sizes([each for of in changelogs.values() for each in of])
    return {
        str(task): {"state_bytes": sum(known[each] for each in of)}
        for task, of in changelogs.items()
        if all(each in known for each in of)
    }
