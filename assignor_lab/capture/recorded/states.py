"""Complete scenarios from recorded bytes and log lines.

A stable group's description has every subscription and assignment, Metadata racks and numbers of partitions, and only
the leader's log the lags. Together they are the whole input of Kafka's assignor, in the order of Kafka's maps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from assignment_api.java import iteration_order, string_hash, uuid_hash
from assignment_api.streams import ProcessID, TaskId
from assignment_api.streams.configs import RACK_AWARE_ASSIGNMENT_STRATEGY
from assignment_api.streams.ids import utf16_key
from assignor_lab.capture.logs.rebalance import LoggedDecision
from assignor_lab.capture.logs.scenario_documents import (
    DocumentMaker,
    kafka_task_order,
    lags_known,
    logged_tasks,
    observed,
    say_of_strategy,
)
from assignor_lab.capture.logs.surroundings import LoggedSurroundings
from assignor_lab.capture.logs.topology_file import described_topology
from assignor_lab.capture.recorded.broker_answers import DescribedGroup, MemberAnswer
from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.capture.recorded.group_documents import client_document
from assignor_lab.capture.recorded.matching import Match, match_decision
from assignor_lab.capture.recorded.member_evidence import logged_by_tasks, members_of
from assignor_lab.capture.recorded.recording import RecordedResponses, Seen
from assignor_lab.capture.topology.description import TopologyDescription
from assignor_lab.capture.topology.evidence import Members, reuses_sources
from assignor_lab.capture.topology.group_topology import GroupTopology
from assignor_lab.capture.topology.resolution import topology_of
from assignor_lab.capture.topology.task_documents import task_document, tasks_of_partitions
from assignor_lab.scenarios.settings import with_given
from assignor_lab.scenarios.version_provenance import shown_release

__all__ = ["RecordedState", "Unusable", "members_by_process", "recorded_states"]


@attrs.frozen
class RecordedState:
    """A state that a leader assigned, with its members' assignments."""

    document: dict[str, Any]
    seen: Seen
    decision: LoggedDecision


@attrs.frozen
class Unusable:
    """A description of a stable group without a possible scenario."""

    seen: Seen
    reason: object

    def __str__(self) -> str:
        return f"{self.seen.file}:{self.seen.line}: {self.reason}"


def recorded_states(
    recording: RecordedResponses,
    decisions: Sequence[LoggedDecision],
    maker: DocumentMaker,
    *,
    topology: Path | None = None,
    optimized: bool | None = None,
    surroundings: LoggedSurroundings | None = None,
    on_unusable: Callable[[Unusable], None] | None = None,
) -> Iterator[RecordedState]:
    """Yields a state for each description of a stable group that differs from the previous one.

    Args:
        topology: Text of Java's ``Topology#describe``. Without it changelogs are inferred from numbers of partitions;
        if several fit, partitions are null.
        optimized: True if tables read their source topics back; ``None``: as logged.
        surroundings: Further facts of the same logs: the release of the leader.
    """
    around = LoggedSurroundings() if surroundings is None else surroundings
    text = None if topology is None else described_topology(topology)
    members = {
        group: members_of(seen.answer for seen in recording.groups if seen.answer.group == group)
        for group in dict.fromkeys(seen.answer.group for seen in recording.groups)
    }
    for seen in recording.stable():
        matched = match_decision(seen, decisions)
        reason: object = matched
        if isinstance(matched, Match):
            try:
                processes = members_by_process(seen.answer)
            except BrokerAnswerError as error:
                reason = error
            else:
                time, clients = matched.decision.record.time, [each.client_id for each in seen.answer.members]
                at_ms = None if time is None else time.epoch_ms(maker.zone)
                releases = around.releases(seen.answer.group, clients, at_ms, maker.zone)
                rebuilt = _Rebuilt(recording, seen, matched.decision, maker, optimized, releases)
                document = rebuilt.document(processes, members[seen.answer.group], text)
                yield RecordedState(document, seen, matched.decision)
                continue
        if on_unusable is not None:
            on_unusable(Unusable(seen, reason))


def members_by_process(answer: DescribedGroup) -> dict[ProcessID, tuple[MemberAnswer, ...]]:
    """Members sorted by id; processes in the order of Kafka's map of clients.

    Kafka puts the members into a hash map, and the processes, in that order, into another one.
    """
    ids = [member.member_id for member in answer.members]
    by_id = {member.member_id: member for member in answer.members}
    grouped: dict[ProcessID, list[MemberAnswer]] = {}
    for name in iteration_order(ids, [string_hash(name) for name in ids], sort_key=utf16_key):
        subscription = by_id[name].subscription
        if subscription is None or subscription.info.process_id.id.int == 0:
            raise BrokerAnswerError(
                f"subscription of member {name}", "does not name its process: is it of a newer Kafka?"
            )
        grouped.setdefault(subscription.info.process_id, []).append(by_id[name])
    processes = list(grouped)
    hashes = [uuid_hash(*process.sort_key()) for process in processes]
    in_map = iteration_order(processes, hashes, sort_key=ProcessID.sort_key)
    return {
        process: tuple(sorted(grouped[process], key=lambda member: utf16_key(member.member_id))) for process in in_map
    }


@attrs.frozen
class _Rebuilt:
    recording: RecordedResponses
    seen: Seen
    decision: LoggedDecision
    maker: DocumentMaker
    optimized: bool | None
    #: Client id of an instance to its release.
    releases: Mapping[str, str]

    def document(
        self, processes: Mapping[ProcessID, tuple[MemberAnswer, ...]], shown: Members, text: TopologyDescription | None
    ) -> dict[str, Any]:
        assumptions: list[str] = []
        tasks = kafka_task_order(self.decision)
        # Kafka logged a lag for each task with a changelog.
        logged = logged_by_tasks(tasks, logged_tasks(self.decision))
        members = attrs.evolve(shown, tasks=tasks, logged=logged)
        topology = self._topology(members, text)
        brokers = self.recording.brokers(self.seen.time_ms)
        has_lags = lags_known(self.decision, assumptions)
        config = self.maker.config(self.decision, assumptions)
        say_of_strategy(self.decision, str(config[RACK_AWARE_ASSIGNMENT_STRATEGY]), assumptions)
        source = self.maker.source(self.decision, assumptions)
        task_documents = [task_document(task, topology, brokers, assumptions) for task in tasks]
        owners = tasks_of_partitions(tasks, topology, members.sources)
        identity, numbered = self.seen.answer.named(self.seen.time_ms, self.decision.generation)
        shown_settings, of_releases = shown_release(self.releases, self.decision.leader)
        document = {
            "format": 1,
            "kind": "streams",
            "id": identity,
            "config": config,
            "tasks": task_documents,
            "clients": [
                client_document(process, members, owners, self._lags(process) if has_lags else None)
                for process, members in processes.items()
            ],
            "observed": observed(self.decision),
            "source": {**source, **numbered},
            "assumptions": [*assumptions, *topology.sentences, *of_releases],
        }
        return self.maker.with_settings(with_given(document, shown_settings, ()), self.decision)

    def _topology(self, members: Members, text: TopologyDescription | None) -> GroupTopology:
        optimized = self.optimized
        if optimized is None and self.decision.config is not None:
            optimized = reuses_sources(self.decision.config.optimization)
        brokers = self.recording.brokers(self.seen.time_ms)
        return topology_of(text, self.seen.answer.group, members, brokers, optimized=optimized)

    def _lags(self, process: ProcessID) -> Mapping[TaskId, int]:
        states = self.decision.states
        return states[process].lags if process in states else {}
