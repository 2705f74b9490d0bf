"""From recorded bytes and log lines to complete scenarios.

A stable group's description holds what every member said and what it was given; Metadata has racks and numbers of
partitions; the leader's log has the lags, which nobody else knows at that moment. Together they are everything that
Kafka's assignor saw, in the order in which Kafka's maps held it.
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
from assignor_lab.capture.logs.rebalance import Decision
from assignor_lab.capture.logs.scenario_documents import (
    DocumentMaker,
    kafka_task_order,
    lags_known,
    logged_tasks,
    observed,
    say_of_strategy,
)
from assignor_lab.capture.logs.topology_text import read_topology
from assignor_lab.capture.recorded.broker_answers import GroupAnswer, MemberAnswer
from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.capture.recorded.group_documents import client_document, task_document, tasks_of_partitions
from assignor_lab.capture.recorded.group_topology import GroupTopology, source_topics
from assignor_lab.capture.recorded.matching import Match, match_decision
from assignor_lab.capture.recorded.recording import Recording, Seen, Topic

__all__ = ["RecordedState", "Unusable", "members_by_process", "recorded_states"]


@attrs.frozen
class RecordedState:
    """A state that a leader assigned, and what its members were given.

    Args:
        document: Scenario of format 1.
        seen: The description of the group that it was taken from.
        decision: What the leader logged.
    """

    document: dict[str, Any]
    seen: Seen
    decision: Decision


@attrs.frozen
class Unusable:
    """A description of a stable group that no scenario can be made of.

    Args:
        seen: The description.
        reason: Why: a :class:`~assignor_lab.capture.recorded.matching.StaticRestart`, a
            :class:`~assignor_lab.capture.recorded.matching.DecisionNotFound`, or what is wrong with a member's bytes.
    """

    seen: Seen
    reason: object

    def __str__(self) -> str:
        return f"{self.seen.file}:{self.seen.line}: {self.reason}"


def recorded_states(
    recording: Recording,
    decisions: Sequence[Decision],
    maker: DocumentMaker,
    *,
    topology: Path | None = None,
    on_unusable: Callable[[Unusable], None] | None = None,
) -> Iterator[RecordedState]:
    """Yields a state for each description of a stable group that differs from the one before.

    Args:
        recording: What brokers answered.
        decisions: What the logs of the group's instances tell, in the order of time.
        maker: Knows the leader's configuration and the zone of the logs.
        topology: File with the text of Java's ``Topology#describe``. Without it the changelogs of sub-topologies are
            inferred from numbers of partitions, which the scenario says; where those leave a choice, partitions are
            null.
        on_unusable: Told of descriptions that no scenario can be made of.

    Raises:
        TopologyTextError: if the topology cannot be read or does not fit.
    """
    text = None if topology is None else read_topology(topology)
    sources = {
        group: source_topics(seen.answer for seen in recording.groups if seen.answer.group == group)
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
                document = _Rebuilt(recording, seen, matched.decision, maker).document(
                    processes, sources[seen.answer.group], None if topology is None else (str(topology), text or {})
                )
                yield RecordedState(document, seen, matched.decision)
                continue
        if on_unusable is not None:
            on_unusable(Unusable(seen, reason))


def members_by_process(answer: GroupAnswer) -> dict[ProcessID, tuple[MemberAnswer, ...]]:
    """Members of each process, sorted by id; processes in the order of Kafka's map of clients.

    Kafka puts the members into a hash map, and the processes, as they come from there, into another one.

    Raises:
        BrokerAnswerError: if a member says nothing, or speaks a version of Streams that Kafka 4.3.1 does not know.
    """
    ids = [member.member_id for member in answer.members]
    by_id = {member.member_id: member for member in answer.members}
    grouped: dict[ProcessID, list[MemberAnswer]] = {}
    for name in iteration_order(ids, [string_hash(name) for name in ids], sort_key=utf16_key):
        subscription = by_id[name].subscription
        if subscription is None or subscription.info.process_id.id.int == 0:
            raise BrokerAnswerError(
                f"subscription of member {name}", "does not say which process it belongs to: is it of a newer Kafka?"
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
    """One state while its document is made."""

    recording: Recording
    seen: Seen
    decision: Decision
    maker: DocumentMaker

    def document(
        self,
        processes: Mapping[ProcessID, tuple[MemberAnswer, ...]],
        sources: Mapping[tuple[str | None, int], tuple[str, ...]],
        text: tuple[str, Mapping[Any, Any]] | None,
    ) -> dict[str, Any]:
        assumptions: list[str] = []
        tasks = kafka_task_order(self.decision)
        logged = logged_tasks(self.decision)
        topology = self._topology(tasks, logged, sources, text)
        has_lags = lags_known(self.decision, assumptions)
        config = self.maker.config(self.decision, assumptions)
        say_of_strategy(self.decision, str(config[RACK_AWARE_ASSIGNMENT_STRATEGY]), assumptions)
        source = self.maker.source(self.decision, assumptions)
        task_documents = [task_document(task, topology, logged, self._topic, assumptions) for task in tasks]
        owners = tasks_of_partitions(tasks, topology, sources)
        document = {
            "format": 1,
            "kind": "streams",
            "id": f"{self.seen.answer.group}-generation-{self.seen.answer.generation}",
            "config": config,
            "tasks": task_documents,
            "clients": [
                client_document(process, members, owners, self._lags(process) if has_lags else None)
                for process, members in processes.items()
            ],
            "observed": observed(self.decision),
            "source": {**source, "group": self.seen.answer.group, "generation": self.seen.answer.generation},
            "assumptions": [*assumptions, *topology.assumptions],
        }
        return self.maker.with_settings(document, self.decision)

    def _topology(
        self,
        tasks: tuple[TaskId, ...],
        logged: frozenset[TaskId],
        sources: Mapping[tuple[str | None, int], tuple[str, ...]],
        text: tuple[str, Mapping[Any, Any]] | None,
    ) -> GroupTopology:
        group = self.seen.answer.group
        if text is not None:
            return GroupTopology.described(text[1], tasks, logged, group, self._topic, text[0])
        topics = {name: topic for name in self.recording.topic_names() if (topic := self._topic(name)) is not None}
        return GroupTopology.inferred(sources, tasks, logged, group, topics)

    def _topic(self, name: str) -> Topic | None:
        return self.recording.topic(name, self.seen.time_ms)

    def _lags(self, process: ProcessID) -> Mapping[TaskId, int]:
        states = self.decision.states
        return states[process].lags if process in states else {}
