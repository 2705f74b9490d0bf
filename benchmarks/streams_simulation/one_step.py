"""Each recorded decision judged from its own state: all earlier decisions are as recorded.

A played history diverges after one race with another outcome, and then shows nothing about the rules. Under the streams
protocol a decision follows from the previous target and the present members, both recorded. In the classic protocol it
follows from lags, too: the episode is played, and the group receives the recorded decision after each of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from assignment_api import (
    ApplicationMetadata,
    AssignedTask,
    AssignedTaskType,
    ProcessID,
    StreamsClientAssignment,
    TaskAssignment,
    TaskId,
)
from assignment_api.plugins import Registry
from assignment_api.releases import KafkaRelease
from assignor_lab.capture.edges.timelines import read_timeline
from assignor_lab.groups.streams.leading import leading_assignor
from assignor_lab.groups.streams_group.leading import brokers_assignor
from assignor_lab.kafka.streams_group.tasks import TasksByRole
from assignor_lab.model.decision import Decision, InstanceShare
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.leading import LeaderAnswer, TaskLeader
from assignor_lab.simulation.streams.simulate import simulate
from calibration.episodes.decided_again import DecidedAgain

__all__ = ["OneStep", "one_step"]

#: Kafka's default of ``probing.rebalance.interval.ms``.
_PROBING_MS = 600_000


@attrs.frozen
class OneStep:
    """Recorded decisions that the rules repeat from the previous state.

    Args:
        same: Those with the same active tasks of each process.
    """

    recorded: int
    same: int


def one_step(episode: StreamsEpisode, timeline: Path, registry: Registry, seed: int = 0) -> OneStep:
    """Judges every decision of a recording.

    Args:
        timeline: Has the targets of a streams group member by member.
        seed: Seed of the play's draws, in the classic protocol.
    """
    if episode.protocol == "streams":
        return _of_targets(episode, timeline, registry)
    recorded = () if episode.recorded is None else episode.recorded.decisions
    leading = leading_assignor(registry, episode.assignor, episode.config)
    corrected = _Corrected(leading, episode, recorded)
    simulate(episode, corrected, seed, keep_log=False)
    first = corrected.bounds[0]
    return OneStep(sum(each.since_ms >= first for each in recorded), corrected.same)


# --- streams protocol ---------------------------------------------------------------------------------------


def _of_targets(episode: StreamsEpisode, file: Path, registry: Registry) -> OneStep:
    timeline = read_timeline(file)
    deciding = brokers_assignor(registry, episode.assignor, episode.config)
    standbys = int(episode.config.get("num.standby.replicas", 0))
    again = DecidedAgain(timeline, episode.tasks, standbys, deciding.ask)
    process = {
        member: str(event.details.process_id) for event in episode.events for member in event.details.member_ids or ()
    }
    same = sum(
        _by_process(again.ask(each, process), process) == _by_process(each.target, process) for each in again.decisions
    )
    return OneStep(len(again.decisions), same)


def _by_process(targets: Mapping[str, TasksByRole], process: Mapping[str, str]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for member, tasks in targets.items():
        found.setdefault(process[member], set()).update(tasks.active)
    return found


# --- classic protocol ---------------------------------------------------------------------------------------


class _Corrected:
    """Compares each decision with the recorded one of its place, and returns the recorded one.

    That is the first unused decision since the same action, for the same number of members. Without one, the assignor's
    decision counts.
    """

    def __init__(self, leading: TaskLeader, episode: StreamsEpisode, recorded: Sequence[Decision]) -> None:
        self._leading, self._episode = leading, episode
        self._left = list(recorded)
        self._instances: dict[ProcessID, str] = {}
        for event in episode.events:
            if event.type == "start" and event.details.process_id is not None:
                self._instances[event.details.process_id] = event.client
        self.bounds = sorted(
            episode.start_ms + event.at_ms for event in episode.events if event.type in ("start", "stop", "crash")
        )
        self.same = 0

    def assign(self, application: ApplicationMetadata, release: KafkaRelease | None = None) -> LeaderAnswer:
        answer = self._leading.assign(application, release)
        clients = application.streams_client_states()
        members = sum(client.num_stream_threads for client in clients.values())
        recorded = self._recorded(application.current_time_ms(), members)
        names = [self._instances.get(process) for process in clients]
        if recorded is None or not set(recorded.shares) <= set(names):
            return answer
        own = {
            name: {str(task) for task in client.active_tasks()}
            for client in answer.assignment.assignments
            if (name := self._instances.get(client.process_id)) is not None
        }
        theirs = {name: set(share.active) for name, share in recorded.shares.items()}
        self.same += {name: tasks for name, tasks in own.items() if tasks} == {
            name: tasks for name, tasks in theirs.items() if tasks
        }
        return LeaderAnswer(self._as_recorded(application, recorded), answer.sorted_sets)

    def _recorded(self, at_ms: int, members: int) -> Decision | None:
        place = self._place(at_ms)
        for each in self._left:
            if each.members == members and self._place(each.at.latest_ms) == place:
                self._left.remove(each)
                return each
        return None

    def _place(self, at_ms: int) -> int:
        return sum(bound <= at_ms for bound in self.bounds)

    def _as_recorded(self, application: ApplicationMetadata, recorded: Decision) -> TaskAssignment:
        clients = application.streams_client_states()
        leader = application.leader_process_id() or next(iter(clients))
        wanted = int(self._episode.config.get("num.standby.replicas", 0))
        copies: dict[str, int] = {}
        assigned = []
        for process in clients:
            share = recorded.shares.get(self._instances.get(process, ""), InstanceShare())
            # The leader adds a copy beside the active: it keeps the state until the active may come.
            standby = [task for task in share.copies if task not in share.active]
            for task in standby:
                copies[task] = copies.get(task, 0) + 1
            tasks = [AssignedTask(TaskId.parse(task), AssignedTaskType.ACTIVE) for task in share.active]
            tasks += [AssignedTask(TaskId.parse(task), AssignedTaskType.STANDBY) for task in standby]
            assigned.append(StreamsClientAssignment(process, tasks))
        if recorded.followup == "probing" or any(count > wanted for count in copies.values()):
            due = application.current_time_ms() + int(
                self._episode.config.get("probing.rebalance.interval.ms", _PROBING_MS)
            )
            assigned = [each.with_followup_rebalance(due) if each.process_id == leader else each for each in assigned]
        return TaskAssignment(assigned)
