"""A running classic Streams group as a scenario.

Brokers keep the bytes that members and leader exchange; the leader's input is rebuilt from them. Ends of changelogs are
requested now, a little later than by the leader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from assignment_api.plugins.keys import read_value
from assignment_api.plugins.layers import ConfigLayer
from assignment_api.streams import AssignmentConfigs, ProcessID, TaskId
from assignment_api.streams.client_state import LATEST_OFFSET, UNKNOWN_OFFSET_SUM, UNTOLD_LAG
from assignment_api.streams.configs import ASSIGNMENT_KEYS, NUM_STANDBY_REPLICAS
from assignor_lab.capture.errors import StateUnknownError
from assignor_lab.capture.live.changelog_ends import (
    Offsets,
    changelogs_of,
    of_likely_ends,
    of_unknown_ends,
    possible_ends,
)
from assignor_lab.capture.live.errors import GroupUnusableError
from assignor_lab.capture.logs.topology_file import described_topology
from assignor_lab.capture.recorded.broker_answers import ClusterAnswer, DescribedGroup, MemberAnswer, TopicPartition
from assignor_lab.capture.recorded.group_documents import (
    client_document,
    sorted_tasks,
)
from assignor_lab.capture.recorded.member_evidence import furthest, members_of
from assignor_lab.capture.recorded.recording import RecordedResponses
from assignor_lab.capture.recorded.states import members_by_process
from assignor_lab.capture.topology.evidence import Brokers, Members
from assignor_lab.capture.topology.group_topology import GroupTopology
from assignor_lab.capture.topology.resolution import topology_of
from assignor_lab.capture.topology.task_documents import task_document, tasks_of_partitions
from assignor_lab.documents.wording import plural
from assignor_lab.kafka.leader.task_order import in_kafka_order
from assignor_lab.kafka.wire.assignment_info import NO_REBALANCE
from assignor_lab.scenarios.settings import with_given

__all__ = ["Offsets", "GroupSurroundings", "classic_document", "unsettled"]

Rates = Callable[[Iterable[TopicPartition]], Mapping[TopicPartition, float]]

_MOST_NAMED = 3


@attrs.frozen
class GroupSurroundings:
    """Facts about a group besides its description; ``None``: as in that description.

    Args:
        members: The members while the group ran this topology.
        optimized: True if tables read their source topics back; ``None``: unknown.
        latest_ends: Latest known ends; ``None``: the requested ones.
        reached: Task to the furthest offset sum of a member so far.
        has_ends: False if ``reached`` replaces requests of ends.
        topologies: Cache of resolved topologies by tasks; updated.
        standbys: ``num.standby.replicas`` of generations without a follow-up.
        no_topics: A sentence on unknown topics, with ``{topic}``.
    """

    members: Members | None = None
    tasks: frozenset[TaskId] = frozenset()
    groups: frozenset[str] = frozenset()
    optimized: bool | None = None
    rates: Rates | None = None
    latest_ends: Offsets | None = None
    awaited: Mapping[TaskId, ProcessID | None] = attrs.field(factory=dict)
    reached: Mapping[TaskId, int] | None = None
    has_ends: bool = True
    topologies: dict[tuple[TaskId, ...], GroupTopology] | None = None
    standbys: int | None = None
    ends_source: str = (
        "the ends of changelogs are the present ones, and the members' reports are from their latest join: "
        "records written since then count as lag of each copy whose member does not run the task"
    )
    no_topics: str = (
        "topics may not be seen, such as {topic} (DESCRIBE on them is needed): lags are unknown, and a task "
        "counts as stateful if a member has or reports state of it"
    )


_NOW = GroupSurroundings()


def unsettled(answer: DescribedGroup) -> str | None:
    """The reason why a group shows no whole decision at the moment, or ``None``."""
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
        return "the owners of moving tasks have not released them yet"
    return None


def classic_document(
    answer: DescribedGroup,
    cluster: ClusterAnswer,
    time_ms: int,
    ends: Offsets,
    sizes: Offsets,
    config: Iterable[ConfigLayer],
    topology: Path | None = None,
    surroundings: GroupSurroundings = _NOW,
) -> dict[str, Any]:
    """The scenario of one group, which is not :func:`unsettled`, except for tasks that are handed over."""
    recording = RecordedResponses([], [(time_ms, cluster)])
    return _Captured(answer, recording, time_ms, tuple(config), surroundings).document(ends, sizes, topology)


@attrs.frozen
class _Captured:
    answer: DescribedGroup
    recording: RecordedResponses
    time_ms: int
    layers: tuple[ConfigLayer, ...]
    surroundings: GroupSurroundings

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
        changelogs = changelogs_of(tasks, topology)
        end_sums = self._end_sums(members, topology, brokers, ends, assumptions)
        if end_sums:
            assumptions.append(self.surroundings.ends_source)
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
        identity, source = self.answer.named(self.time_ms)
        document: dict[str, Any] = {
            "format": 1,
            "kind": "streams",
            "id": identity,
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
            "source": {"time_ms": self.time_ms, **source},
        }
        if None in awaited.values():
            del document["observed"]
        workload: dict[str, dict[str, float]] = dict(_workload(changelogs, sizes))
        if workload:
            assumptions.append("state_bytes are those of the changelogs on the brokers' disks")
        for task, rate in _input_rates(document["tasks"], self.surroundings.rates).items():
            workload.setdefault(task, {})["input_bytes_per_s"] = rate
        if workload:
            document["workload"] = {"tasks": workload}
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
        """Their old owners must release these tasks first."""
        running = _union(active for active, _ in held.values())
        awaited = {task: self.surroundings.awaited.get(task) for task in self.surroundings.tasks - running}
        for task, process in awaited.items():
            if process is not None and process in held:
                held[process][0].add(task)
                # Its present task is a copy kept for it.
                held[process][1].discard(task)
        if awaited:
            shown = ", ".join(sorted_tasks(awaited)[:_MOST_NAMED]) + (", …" if len(awaited) > _MOST_NAMED else "")
            assumptions.append(
                f"{plural(len(awaited), 'active task')} ({shown}) waited for the release by the old owners: "
                "their new owners "
                + (
                    "are unknown, and so is the decision"
                    if None in awaited.values()
                    else "are those of the members' messages and of the next generation"
                )
            )
        return awaited

    def _topology(self, members: Members, brokers: Brokers, file: Path | None) -> GroupTopology:
        kept = self.surroundings.topologies
        if kept is not None and members.tasks in kept:
            return kept[members.tasks]
        text = None if file is None else described_topology(file)
        try:
            found = topology_of(text, self.answer.group, members, brokers, optimized=self.surroundings.optimized)
        except StateUnknownError as error:
            raise GroupUnusableError(f"group {self.answer.group}: {error}") from error
        if kept is not None:
            kept[members.tasks] = found
        return found

    def _end_sums(
        self, members: Members, topology: GroupTopology, brokers: Brokers, ends: Offsets, assumptions: list[str]
    ) -> dict[TaskId, int] | None:
        """``None`` if no end is known. Without known changelogs, a member's furthest offset sum replaces the end."""
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
        changelogs = {task: found for task, found in changelogs_of(members.tasks, topology).items() if task in logged}
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
        unknown = [task for task in members.tasks if task in logged and task not in found]
        likely = {task: ways for task in unknown if (ways := possible_ends(task, topology, ends))}
        if likely:
            found |= {task: max(ways[0], _known(reached.get(task))) for task, ways in likely.items()}
            assumptions.append(of_likely_ends(likely))
        if unknown := [task for task in unknown if task not in likely]:
            found |= {task: reached.get(task, 0) for task in unknown}
            assumptions.append(of_unknown_ends(unknown, topology))
        return found

    def _followup(self) -> bool | None:
        """``None``: an immediate rebalance may hide it."""
        deadlines = [member.assignment.info.next_rebalance_ms for member in self.answer.members if member.assignment]
        if any(at not in (0, NO_REBALANCE) for at in deadlines):
            return True
        return None if 0 in deadlines else False

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
                f"{NUM_STANDBY_REPLICAS} is unknown: taken as {config[NUM_STANDBY_REPLICAS]}, as many copies as "
                "calm generations have (give it with --config or -c)"
            )
        elif NUM_STANDBY_REPLICAS not in given:
            copies = dict.fromkeys(logged, 0)
            for _, standby in held:
                for task in standby:
                    copies[task] = copies.get(task, 0) + 1
            # During warm-ups, some tasks have more copies than configured.
            config[NUM_STANDBY_REPLICAS] = (min if is_probing else max)(copies.values(), default=0)
            assumptions.append(
                f"{NUM_STANDBY_REPLICAS} is unknown to brokers: taken as {config[NUM_STANDBY_REPLICAS]}, as many "
                "as tasks have (give it with --config or -c)"
            )
        if unknown := [key for key in config if key not in given and key != NUM_STANDBY_REPLICAS]:
            assumptions.append(
                f"config is unknown by brokers, Kafka's defaults taken (give it with --config): {', '.join(unknown)}"
            )
        return {key: list(value) if isinstance(value, tuple) else value for key, value in config.items()}


def _union(held: Iterable[Iterable[TaskId]]) -> set[TaskId]:
    return {task for tasks in held for task in tasks}


def _known(offset_sum: int | None) -> int:
    return 0 if offset_sum is None or offset_sum == UNTOLD_LAG else offset_sum


def _lags(members: Iterable[MemberAnswer], end_sums: Mapping[TaskId, int]) -> dict[TaskId, int]:
    """Kafka: ``ClientState#computeTaskLags``."""
    sums: dict[TaskId, int] = {}
    for member in members:
        if member.subscription is not None:
            sums.update(member.subscription.info.task_offset_sums)
    return {task: _lag(sums.get(task, 0), end) for task, end in end_sums.items()}


def _lag(offset_sum: int, end: int) -> int:
    if offset_sum in (LATEST_OFFSET, UNKNOWN_OFFSET_SUM):
        return offset_sum
    # A changelog that was created again ends before the old offsets.
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


def _input_rates(tasks: Iterable[Mapping[str, Any]], rates: Rates | None) -> dict[str, float]:
    """Leaves out tasks with an unknown rate."""
    sources = {
        task["id"]: [(each["topic"], each["partition"]) for each in task["partitions"] or () if each["source"]]
        for task in tasks
    }
    known = {} if rates is None else rates([partition for of in sources.values() for partition in of])
    return {
        task: round(sum(known[partition] for partition in of), 3)
        for task, of in sources.items()
        if of and all(partition in known for partition in of)
    }


def _workload(changelogs: Mapping[TaskId, list[TopicPartition]], sizes: Offsets) -> dict[str, dict[str, float]]:
    known = sizes([each for of in changelogs.values() for each in of])
    return {
        str(task): {"state_bytes": sum(known[each] for each in of)}
        for task, of in changelogs.items()
        if all(each in known for each in of)
    }
