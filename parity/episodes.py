"""Decisions of a played episode, each passed to the released classes of Kafka: does Kafka loop in the same places?

``python -m parity.episodes FILE...`` plays episodes of Streams groups. Every state shown to an assignor of Kafka goes
to Kafka's classes as well. Those classes also distribute the answers of a classic group over threads, for any assignor.
It prints the number of differences: a group that never rests because of Kafka's rules has none.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from assignment_api import ApplicationMetadata, StreamsClientState, TaskInfo
from assignment_api.group import GroupAssignment, GroupSpec, TaskId, TopologyDescriber
from assignment_api.plugins import Registry, config_sources, discover
from assignment_api.releases import KafkaRelease
from assignor_lab.groups.runner.result_lines import AnswerOptions, answerer
from assignor_lab.groups.streams.leading import LeadingAssignor, leading_assignor
from assignor_lab.groups.streams_group.leading import brokers_assignor
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.simulation.streams.episode import StreamsEpisode
from assignor_lab.simulation.streams.formats.episodes import read_episodes
from assignor_lab.simulation.streams.leading import BrokersAssignor, LeaderAnswer
from assignor_lab.simulation.streams.simulate import simulate
from parity.cases import ASSIGNORS, GROUP_ASSIGNORS
from parity.comparison import comparable
from parity.official import OfficialKafka, OfficialKafkaError

__all__ = ["decisions", "main"]


def main() -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m parity.episodes", description=__doc__.partition("\n")[0])
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--seed", type=int, default=0, help="seed of every draw (default %(default)s)")
    options = parser.parse_args()
    differing = 0
    try:
        with OfficialKafka() as official:
            for file in options.files:
                for episode in read_episodes(file):
                    differing += _compare(episode, official, options.seed)
    except OfficialKafkaError as error:
        print(f"parity: {error}", file=sys.stderr)
        return 2
    return 1 if differing else 0


def _compare(episode: StreamsEpisode, official: OfficialKafka, seed: int) -> int:
    registry = discover()
    name, documents = decisions(episode, registry, seed)
    options = AnswerOptions(config_sources(environ={}), threads=False)
    requested = {str(document): document for document in documents}
    different = 0
    for question in _questions(episode, name):
        differing = 0
        for document in requested.values():
            (expected,) = official.rows(document, [question])
            got = answerer(question, registry, options)(scenario_from_document(document, Place(document["id"], 1)))
            differing += comparable(got) != comparable(expected)
        print(
            f"{episode.id}: {question}, {len(documents)} decisions of {len(requested)} states, "
            f"{differing} differ from Kafka's"
        )
        different += differing
    return different


def _questions(episode: StreamsEpisode, assignor: str) -> list[str]:
    """The calls of Kafka's classes for an episode's decisions."""
    questions = [assignor] if assignor in (*ASSIGNORS, *GROUP_ASSIGNORS) else []
    return [*questions, "threads"] if episode.protocol == "classic" else questions


def decisions(episode: StreamsEpisode, registry: Registry, seed: int) -> tuple[str, list[dict[str, Any]]]:
    """An episode's assignor with its received states, and in a classic group its answers."""
    shown: list[dict[str, Any]] = []
    if episode.protocol == "classic":
        leading = leading_assignor(registry, episode.assignor, episode.config)
        simulate(episode, _Watched(leading, episode.config, shown), seed, keep_log=False)
        return leading.name, shown
    deciding = brokers_assignor(registry, episode.assignor, episode.config, refines=episode.coming_refiner)

    def ask(group: GroupSpec, topology: TopologyDescriber) -> GroupAssignment:
        shown.append(_group(group, topology))
        return deciding.ask(group, topology)

    watched = BrokersAssignor(deciding.name, deciding.release, ask, deciding.refines)
    simulate(episode, watched, seed, keep_log=False)
    return deciding.name, shown


class _Watched:
    """A leader's assignor that records its states if end offsets are known."""

    def __init__(self, leading: LeadingAssignor, config: Mapping[str, Any], shown: list[dict[str, Any]]) -> None:
        self._leading, self._config, self._shown = leading, config, shown

    def assign(self, application: ApplicationMetadata, release: KafkaRelease | None = None) -> LeaderAnswer:
        answer = self._leading.assign(application, release)
        if all(client.has_lags() for client in application.streams_client_states().values()):
            self._shown.append({**_application(application, self._config), **_answered(answer)})
        return answer


def _application(application: ApplicationMetadata, config: Mapping[str, Any]) -> dict[str, Any]:
    shown = application.for_next_assignor()
    shown.compute_task_lags()
    return {
        "format": 1, "kind": "streams", "id": "decision",
        "config": {key: list(value) if isinstance(value, tuple) else value for key, value in config.items()},
        "tasks": [_task(info) for info in shown.task_infos().values()],
        "clients": [_client(client) for client in shown.streams_client_states().values()],
    }  # fmt: skip


def _answered(answer: LeaderAnswer) -> dict[str, Any]:
    """The tasks that a leader distributes over threads."""
    given = {
        str(client.process_id): {
            "active": [str(task) for task in client.active_tasks()],
            "standby": [str(task) for task in client.standby_tasks()],
        }
        for client in answer.assignment.assignments
    }
    return {"assignment": given, "params": {"via": "legacy" if answer.sorted_sets else "custom"}}


def _task(info: TaskInfo) -> dict[str, Any]:
    return {
        "id": str(info.id), "stateful": info.is_stateful, "logged": info.is_logged,
        "stores": list(info.state_store_names or ()),
        "partitions": [
            {"topic": each.topic, "partition": each.partition, "source": each.is_source,
             "changelog": each.is_changelog, "racks": list(each.rack_ids or ())}
            for each in info.topic_partitions or ()
        ],
    }  # fmt: skip


def _client(client: StreamsClientState) -> dict[str, Any]:
    held = {*client.previous_active_tasks, *client.previous_standby_tasks}
    return {
        "process_id": str(client.process_id), "rack": client.rack_id, "tags": dict(client.client_tags),
        "host": None if client.host_info is None else f"{client.host_info.host}:{client.host_info.port}",
        "threads": client.num_stream_threads, "consumers": list(client.consumers),
        "previous_active": [str(task) for task in client.previous_active_tasks],
        "previous_standby": [str(task) for task in client.previous_standby_tasks],
        "lags": {str(task): lag for task, lag in client.stateful_tasks_to_lag_sums().items()},
        "previous_by_consumer": {
            consumer: [str(task) for task in client.previous_tasks_of(consumer) if task in held]
            for consumer in client.consumers
        },
    }  # fmt: skip


def _group(group: GroupSpec, topology: TopologyDescriber) -> dict[str, Any]:
    members = []
    for name, member in group.members.items():
        state = member.state
        members.append({
            "id": name, "instance_id": member.metadata.instance_id, "rack": member.metadata.rack_id,
            "process_id": member.metadata.process_id, "tags": dict(member.metadata.client_tags),
            "active": _by_subtopology(state.active_tasks), "standby": _by_subtopology(state.standby_tasks),
            "warmup": _by_subtopology(state.warmup_tasks), "task_offsets": _offsets(state.task_offsets),
            "task_end_offsets": _offsets(state.task_end_offsets),
        })  # fmt: skip
    return {
        "format": 1, "kind": "streams-group", "id": "decision",
        "config": {"num.standby.replicas": group.configs.num_standby_replicas},
        "subtopologies": [
            {"id": name, "tasks": topology.max_num_input_partitions(name), "stateful": topology.is_stateful(name)}
            for name in topology.subtopologies()
        ],
        "members": members,
    }  # fmt: skip


def _by_subtopology(tasks: Mapping[str, Iterable[int]]) -> dict[str, list[int]]:
    return {name: sorted(partitions) for name, partitions in tasks.items()}


def _offsets(offsets: Mapping[TaskId, int]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for task, offset in offsets.items():
        found.setdefault(task.subtopology_id, {})[str(task.partition)] = offset
    return found


if __name__ == "__main__":
    sys.exit(main())
