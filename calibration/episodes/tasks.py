"""The tasks of a recorded group: partitions, racks and state as far as its recording shows them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC
from pathlib import Path
from typing import Any

import attrs

from assignment_api.streams import TaskId
from assignor_lab.capture.logs.import_log import read_decisions
from assignor_lab.capture.logs.rebalance import LoggedDecision
from assignor_lab.capture.logs.scenario_documents import DocumentMaker
from assignor_lab.capture.recorded.recording import RecordedResponses
from assignor_lab.capture.recorded.states import recorded_states
from assignor_lab.capture.recorded.streams_group_answers import DescribedSubtopology
from assignor_lab.capture.timelines.timeline import RecordedTimeline
from assignor_lab.capture.topology.evidence import Brokers
from assignor_lab.capture.topology.group_topology import GroupSubTopology, GroupTopology, Topic, TopologyStore
from assignor_lab.capture.topology.internal_topics import CHANGELOG, is_internal_of
from assignor_lab.capture.topology.task_documents import task_document
from assignor_lab.documents.errors import DocumentFormatError
from calibration.episodes.workload import subtopology_of_topics

__all__ = ["RecordedTasks", "recorded_tasks"]


@attrs.frozen
class RecordedTasks:
    """The tasks of a group.

    Args:
        documents: As in a scenario, sorted.
        topics: Changelog topic to sub-topology.
        missing_topics: Internal topics that the first leader creates and reads from.
        assumptions: Sentences about missing facts.
        ends: Task to moments, in epoch milliseconds, and its changelogs' end then, as read by leaders.
    """

    documents: tuple[Mapping[str, Any], ...]
    topics: Mapping[str, int]
    missing_topics: tuple[str, ...]
    assumptions: tuple[str, ...]
    ends: Mapping[TaskId, Sequence[tuple[int, int]]] = attrs.field(factory=dict)


def recorded_tasks(
    timeline: RecordedTimeline,
    folder: Path,
    recording: RecordedResponses | None,
    topology: Path | None,
    *,
    optimized: bool | None = None,
) -> RecordedTasks:
    """The tasks of a recorded group.

    Raises:
        DocumentFormatError: if neither the timeline nor the folder shows a task.
        TopologyTextError: if the topology cannot be read.
    """
    described = None if recording is None else _described(timeline, recording)
    if described is not None:
        return described
    logs = sorted(str(path) for path in (*folder.glob("*.log*"), *folder.glob("logs/*.log*")) if _is_instances(path))
    if recording is not None and logs:
        decisions = _decisions(logs)
        maker = DocumentMaker((), None, UTC, zone_given=True)
        states = list(recorded_states(recording, decisions, maker, topology=topology, optimized=optimized))
        if states:
            # The last state has all topics; internal ones come with the first.
            found = _from_state(timeline, states[-1].document)
            return attrs.evolve(found, ends=_ends(decisions))
    return _from_timeline(timeline)


# --- groups of the streams protocol -----------------------------------------------------------------


def _described(timeline: RecordedTimeline, recording: RecordedResponses) -> RecordedTasks | None:
    """The tasks as described by the broker; ``None`` if the recording lacks a source topic."""
    groups = [group for _, group in recording.streams_groups if group.group == timeline.group and group.members]
    subtopologies = next((each.subtopologies for each in reversed(groups) if each.subtopologies), ())
    at_ms = timeline.end_ms
    counts = {}
    for sub in subtopologies:
        topics = [recording.topic(name, at_ms) for name in sub.sources]
        if None in topics:
            return None
        counts[sub.id] = max((topic.partitions for topic in topics if topic is not None), default=0)
    ids = [TaskId.parse(f"{sub}_{number}") for sub, count in counts.items() for number in range(count)]
    if not ids:
        return None
    # A changelog without an answer has the partitions of its tasks, and unknown racks.
    brokers = Brokers(lambda name: recording.topic(name, at_ms) or Topic({}), recording.brokers(at_ms).names)
    topology = _topology(subtopologies, timeline.group)
    missing = {name for sub in subtopologies for name in (*sub.changelogs, *sub.repartition_sources)}
    return RecordedTasks(
        tuple(task_document(task, topology, brokers, []) for task in ids),
        {name: int(sub.id) for sub in subtopologies for name in sub.changelogs if sub.id.isdecimal()},
        # The group was not ready for the first member.
        tuple(sorted(name for name in missing if is_internal_of(name, timeline.group)))
        if groups[0].state == "NotReady"
        else (),
        (),
    )


def _topology(subtopologies: Iterable[DescribedSubtopology], group: str) -> GroupTopology:
    """It names all its topics in full, changelogs included."""
    return GroupTopology(
        {
            (None, int(sub.id)): GroupSubTopology(
                sub.sources,
                tuple(
                    TopologyStore(name.removeprefix(f"{group}-").removesuffix(CHANGELOG), name)
                    for name in sub.changelogs
                ),
                is_logged=bool(sub.changelogs),
            )
            for sub in subtopologies
        }
    )


# --- groups of the classic protocol -----------------------------------------------------------------


def _is_instances(log: Path) -> bool:
    return not log.name.startswith("broker")


def _decisions(logs: Sequence[str]) -> list[LoggedDecision]:
    decisions = list(read_decisions(logs, lambda _problem: None))
    if all(decision.record.time is not None for decision in decisions):
        decisions.sort(key=lambda decision: decision.record.time.epoch_ms() if decision.record.time else 0)
    return decisions


def _ends(decisions: Iterable[LoggedDecision]) -> dict[TaskId, list[tuple[int, int]]]:
    """Ends of changelogs: a client's reported position plus its lag."""
    found: dict[TaskId, list[tuple[int, int]]] = {}
    for decision in decisions:
        if decision.record.time is None or decision.lags_failed:
            continue
        ends: dict[TaskId, int] = {}
        for state in decision.states.values():
            for task, lag in state.lags.items():
                reported = state.offset_totals.get(task, 0)
                if lag >= 0 and reported >= 0:
                    ends[task] = max(ends.get(task, 0), reported + lag)
        for task, end in ends.items():
            found.setdefault(task, []).append((decision.record.time.epoch_ms(), end))
    return found


def _from_state(timeline: RecordedTimeline, document: Mapping[str, Any]) -> RecordedTasks:
    documents = sorted(document["tasks"], key=lambda task: TaskId.parse(task["id"]).sort_key())
    ids = [TaskId.parse(task["id"]) for task in documents]
    known = {
        partition["topic"]: task.subtopology
        for task, each in zip(ids, documents, strict=True)
        for partition in each["partitions"] or ()
        if partition["changelog"]
    }
    stateful = {task.subtopology for task, each in zip(ids, documents, strict=True) if each["logged"]}
    topics = subtopology_of_topics(timeline, ids, known, stateful)
    read = {each["topic"] for task in documents for each in task["partitions"] or () if each["source"]}
    internal = tuple(sorted(name for name in read if is_internal_of(name, timeline.group)))
    assumptions = [each for each in document.get("assumptions", ()) if "partitions" in each or "stores" in each]
    return RecordedTasks(tuple(documents), topics, internal, tuple(assumptions))


def _from_timeline(timeline: RecordedTimeline) -> RecordedTasks:
    ids = sorted(_named(timeline), key=TaskId.sort_key)
    if not ids:
        raise DocumentFormatError(
            timeline.place.file, None, "", "names no task, in generations, owned or probe: the leaders' logs and the "
            "brokers' answers (logs/, captures.jsonl.gz) would",
        )  # fmt: skip
    topics = subtopology_of_topics(timeline, ids, {}, None)
    stateful = set(topics.values())
    documents = tuple(
        {
            "id": str(task),
            "stateful": task.subtopology in stateful,
            "logged": task.subtopology in stateful,
            "stores": None,
            "partitions": None,
        }
        for task in ids
    )
    return RecordedTasks(
        documents,
        topics,
        (),
        (
            "neither brokers' answers nor leaders' logs are in the folder: partitions and racks of the tasks are "
            "unknown, and sub-topologies have state if a changelog of theirs was restored",
        ),
    )


def _named(timeline: RecordedTimeline) -> set[TaskId]:
    texts: set[str] = set()
    for generation in timeline.generations:
        for active, standby in generation.assigned.values():
            texts.update(active, standby)
    for _, _, tasks in timeline.owned:
        texts.update(tasks)
    for window in timeline.probe or ():
        texts.update(window.interruptions)
    return {TaskId.parse(text) for text in texts}
