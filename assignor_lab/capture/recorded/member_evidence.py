"""Evidence of a group's topology in its members' subscriptions, tasks and offset sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from assignment_api.streams import TaskId
from assignment_api.streams.client_state import UNTOLD_LAG
from assignor_lab.capture.recorded.broker_answers import DescribedGroup, MemberAnswer, TopicPartition
from assignor_lab.capture.topology.description import SubTopologyKey
from assignor_lab.capture.topology.evidence import Members
from assignor_lab.kafka.wire import RUNNING_ACTIVE

__all__ = ["furthest", "logged_by_tasks", "members_of", "source_topics"]

#: A member with tasks in this generation had time to prepare them.
_SECOND = 2


def members_of(answers: Iterable[DescribedGroup]) -> Members:
    """Without the list of tasks; ``answers`` describe the group while it ran this topology."""
    listed = list(answers)
    sources = source_topics(listed)
    shown = {_key(task) for answer in listed for task in _with_state(answer.members)}
    silent = {key for answer in listed for key in _silent(answer, sources)} - shown
    return Members(
        (),
        sources,
        frozenset(_subscribed(listed)),
        dict.fromkeys(shown, True),
        frozenset(silent),
        _sums(listed),
    )


def logged_by_tasks(tasks: Iterable[TaskId], logged: frozenset[TaskId]) -> dict[SubTopologyKey, bool]:
    """True if a sub-topology has a changelog, if that is known of each task."""
    found: dict[SubTopologyKey, bool] = {}
    for task in tasks:
        found[_key(task)] = found.get(_key(task), False) or task in logged
    return found


def furthest(answers: Iterable[DescribedGroup]) -> Iterator[dict[TaskId, int]]:
    """Task to the furthest offset sum so far, for each description.

    A running task without a reported offset has :data:`UNTOLD_LAG`.
    """
    found: dict[TaskId, int] = {}
    run: set[TaskId] = set()
    for answer in answers:
        for task, total in _reported(answer):
            if total >= 0:
                found[task] = max(found.get(task, 0), total)
            else:
                run.add(task)
        yield {**dict.fromkeys(run, UNTOLD_LAG), **found}


def source_topics(answers: Iterable[DescribedGroup]) -> dict[SubTopologyKey, tuple[str, ...]]:
    """Sorted topics that the tasks of a sub-topology read.

    An assignment has each active task beside its partition, and each standby task before its partitions.
    """
    seen: dict[SubTopologyKey, dict[str, None]] = {}
    for answer in answers:
        for task, partition in _held(answer.members):
            seen.setdefault(_key(task), {})[partition[0]] = None
    return {key: tuple(sorted(topics)) for key, topics in seen.items()}


def _key(task: TaskId) -> SubTopologyKey:
    return task.topology_name, task.subtopology


def _held(members: Iterable[MemberAnswer]) -> Iterator[tuple[TaskId, TopicPartition]]:
    for member in members:
        if member.assignment is None:
            continue
        yield from zip(member.assignment.info.active_tasks, member.assignment.partitions, strict=False)
        for task, partitions in member.assignment.info.standby_tasks.items():
            yield from ((task, (topic, number)) for topic, number in partitions if topic is not None)


def _subscribed(answers: Iterable[DescribedGroup]) -> Iterator[str]:
    for answer in answers:
        for member in answer.members:
            if member.subscription is not None:
                yield from member.subscription.topics


def _with_state(members: Iterable[MemberAnswer]) -> Iterator[TaskId]:
    """Offset sums or copies imply a changelog."""
    for member in members:
        if member.subscription is not None:
            yield from member.subscription.info.task_offset_sums
        if member.assignment is not None:
            yield from member.assignment.info.standby_tasks


def _silent(answer: DescribedGroup, sources: Mapping[SubTopologyKey, tuple[str, ...]]) -> Iterator[SubTopologyKey]:
    """Sub-topologies whose tasks a member ran when it joined, without an offset sum.

    A member that rejoins at once may have no ready task, and then reports no sums. Its silence counts if it, or at
    least no member, reports another task, and it has been in the group for two generations.
    """
    of_topic = {topic: key for key, topics in sources.items() for topic in topics}
    subscriptions = [member.subscription for member in answer.members if member.subscription is not None]
    any_reports = any(each.info.task_offset_sums for each in subscriptions)
    for each in subscriptions:
        sums = each.info.task_offset_sums
        runs = RUNNING_ACTIVE in sums.values()
        if runs or (not any_reports and (each.generation or 0) >= _SECOND):
            yield from {of_topic[topic] for topic, _ in each.owned_partitions if topic in of_topic}


def _sums(answers: Iterable[DescribedGroup]) -> dict[TaskId, tuple[int, ...]]:
    """Of members that do not run the task, in the order of the descriptions."""
    found: dict[TaskId, list[int]] = {}
    for task, total in (each for answer in answers for each in _reported(answer)):
        if total >= 0:
            found.setdefault(task, []).append(total)
    return {task: tuple(sums) for task, sums in found.items()}


def _reported(answer: DescribedGroup) -> Iterator[tuple[TaskId, int]]:
    for member in answer.members:
        if member.subscription is not None:
            yield from member.subscription.info.task_offset_sums.items()
