"""Decisions of a classic Streams group, from the generations that its coordinator wrote down.

A record holds what every member said and what it was given: the bytes that a description of the group holds, too, and
the same readers read them. What the leader asked brokers for, ends of changelogs, is in no record: samples of the
recording tell it, and without those the furthest that any member has reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs

from assignment_api.plugins.layers import ConfigLayer
from assignment_api.streams import ProcessID, TaskId
from assignment_api.streams.configs import RACK_AWARE_ASSIGNMENT_STRATEGY, RACK_AWARE_STRATEGY_NONE
from assignor_lab.capture.histories.held_back import meant_for
from assignor_lab.capture.live.classic import Offsets, Surroundings, classic_document
from assignor_lab.capture.recorded.broker_answers import ClusterAnswer, GroupAnswer, TopicPartition
from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.capture.recorded.group_records import GROUP_METADATA, read_classic_generation, read_group_key
from assignor_lab.capture.recorded.kept_records import KeptRecord, KeptRecords, Sample
from assignor_lab.capture.recorded.member_evidence import furthest, members_of
from assignor_lab.capture.recorded.states import members_by_process
from assignor_lab.capture.topology import Members
from assignor_lab.documents.errors import Place
from assignor_lab.kafka.wire.assignment_info import NO_REBALANCE
from assignor_lab.scenarios.settings import with_given
from assignor_lab.scenarios.told_racks import NOT_USED, RACKS_UNKNOWN

__all__ = ["RecordedGeneration", "classic_decisions", "recorded_generations"]


@attrs.frozen(eq=False)
class RecordedGeneration:
    """A generation with members.

    Args:
        place: Where its record stands.
        time_ms: When all had joined, in epoch milliseconds.
        generation: Its number.
        leader: Member id of its leader, or ``None``.
        answer: What its members said and got, as in a description of the group.
        message: The record as kafka-python reads it.
        is_connect: Whether the members are workers of Connect.
        timeouts: Session timeout and rebalance timeout of each member, in milliseconds.
    """

    place: Place
    time_ms: int
    generation: int
    leader: str | None
    answer: GroupAnswer | None
    message: Any
    is_connect: bool
    timeouts: Sequence[tuple[int, int]] = ()


def recorded_generations(kept: KeptRecords, on_unreadable: Callable[[str], None]) -> list[RecordedGeneration]:
    """The generations of a classic group that have members, by time; one that was written again counts once.

    A coordinator writes a generation down again when a static member has come back, with what that one says then:
    the first of them is what the leader saw.

    Args:
        kept: The recording.
        on_unreadable: Told of each record that cannot be read, and why.
    """
    found: list[RecordedGeneration] = []
    is_anew = False
    for each in kept.records:
        try:
            is_of_group = _is_of_group(kept.group, each)
            made = _generation(kept.group, each.record.value, each) if is_of_group else None
        except BrokerAnswerError as error:
            on_unreadable(f"{each.place}: record {each.record.offset} is left out: {error}")
            continue
        # A group that was deleted and made anew counts from 1 again.
        is_anew = is_anew or (is_of_group and each.record.value is None)
        if made is not None and (is_anew or not (found and found[-1].generation == made.generation)):
            found.append(made)
            is_anew = False
    return found


def _is_of_group(group: str, each: KeptRecord) -> bool:
    key = read_group_key(each.record.key)
    return key is not None and key.type == GROUP_METADATA and key.group == group


def _generation(group: str, value: bytes | None, each: KeptRecord) -> RecordedGeneration | None:
    if value is None:
        return None
    read = read_classic_generation(group, value)
    answer = read.streams()
    if not read.members or (answer is None and not read.is_connect):
        return None
    time_ms = each.record.time_ms if read.time_ms is None else read.time_ms
    return RecordedGeneration(
        each.place, time_ms, read.generation, read.leader, answer, read.message, read.is_connect, read.timeouts
    )


def classic_decisions(
    generations: Sequence[RecordedGeneration],
    samples: Sequence[Sample],
    config: Iterable[ConfigLayer] = (),
    topology: Path | None = None,
    topics: Mapping[str, int] | None = None,
    *,
    optimized: bool | None = None,
) -> Iterator[tuple[dict[str, Any], RecordedGeneration]]:
    """A scenario for each generation of a Streams group, with what it was made from.

    Args:
        generations: Its generations, by time.
        samples: Samples of its topics, by time.
        config: What ``--config`` and ``-c`` say, the lowest first.
        topology: File with the text of Java's ``Topology#describe``, or ``None``.
        topics: Topics that samples do not name, each with its number of partitions; ``None``: none.
        optimized: Whether tables read their source topics back; ``None``: unknown.

    Raises:
        BrokerAnswerError: if a member speaks a version of Streams that is not known here.
        GroupUnusableError: if the group does not tell which of its tasks have state.
        TopologyTextError: if the topology cannot be read.
    """
    shown = [(each, each.answer) for each in generations if each.answer is not None]
    numbers = [each.generation for each, _ in shown]
    past = _Past([answer for _, answer in shown], numbers, tuple(samples), topics or {}, optimized)
    layers = tuple(config)
    for place, (each, answer) in enumerate(shown):
        document = classic_document(
            answer,
            past.cluster,
            each.time_ms,
            past.ends(each.time_ms),
            past.sizes,
            layers,
            topology,
            past.around(place),
        )
        document["id"] = f"{answer.group}-generation-{each.generation}"
        document["source"] = {
            "file": each.place.file, "line": each.place.line, "time_ms": each.time_ms, "group": answer.group,
            "generation": each.generation,
        }  # fmt: skip
        strategy = document["config"][RACK_AWARE_ASSIGNMENT_STRATEGY]
        document["assumptions"].append(
            f"{NOT_USED}; the strategy none does not use them"
            if strategy == RACK_AWARE_STRATEGY_NONE
            else f"{RACKS_UNKNOWN} records tell those of clients, and not of brokers (give them with --racks)"
        )
        found = _settings(each.timeouts, document["assumptions"])
        yield with_given(document, found, layers), each


def _settings(timeouts: Sequence[tuple[int, int]], assumptions: list[str]) -> dict[str, int]:
    """Timeouts that the members' records hold; where members differ, the most frequent one."""
    found = {}
    for key, values in zip(("session.timeout.ms", "rebalance.timeout.ms"), zip(*timeouts, strict=True), strict=False):
        counts = Counter(value for value in values if value > 0)
        if len(counts) > 1:
            shown = ", ".join(map(str, sorted(counts)))
            assumptions.append(f"members differ in {key} ({shown}): the most frequent one counts for all")
        if counts:
            found[key] = counts.most_common(1)[0][0]
    return found


# --- what the whole past tells of each generation ---------------------------------------------------


@attrs.define(eq=False)
class _Past:
    answers: Sequence[GroupAnswer]
    numbers: Sequence[int]
    samples: Sequence[Sample]
    counts: Mapping[str, int]
    optimized: bool | None
    cluster: ClusterAnswer = attrs.field(init=False)
    #: For each generation the tasks that there were then.
    _tasks: list[frozenset[TaskId]] = attrs.field(init=False)
    _sums: list[dict[TaskId, int]] = attrs.field(init=False)
    _held: list[dict[ProcessID, set[TaskId]]] = attrs.field(init=False)
    _members: dict[frozenset[TaskId], Members] = attrs.field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        topics: dict[str, dict[int, tuple[int, ...]]] = {}
        for sample in self.samples:
            for topic, number in sample.ends:
                topics.setdefault(topic, {})[number] = ()
        for topic, count in self.counts.items():
            topics.setdefault(topic, dict.fromkeys(range(count), ()))
        self.cluster = ClusterAnswer({}, topics)
        self._tasks = _existing(self.answers)
        self._sums = list(furthest(self.answers))
        self._held = [_running(answer) for answer in self.answers]

    def around(self, place: int) -> Surroundings:
        has_ends = bool(self.samples)
        return Surroundings(
            members=self._members_with(self._tasks[place]),
            tasks=self._tasks[place],
            optimized=self.optimized,
            latest_ends=self.ends(self.samples[-1].time_ms) if has_ends else None,
            awaited=self._awaited(place),
            reached=self._sums[place],
            has_ends=has_ends,
            standbys=self._standbys(),
            ends_told=_SAMPLED if has_ends else _REPORTED,
            no_topics="topics are in no sample of the recording, such as {topic}: lags are unknown",
        )

    def _members_with(self, tasks: frozenset[TaskId]) -> Members:
        """The members while the group had these tasks: an application that comes back with others numbers them anew."""
        if tasks not in self._members:
            alike = [answer for answer, own in zip(self.answers, self._tasks, strict=True) if own == tasks]
            self._members[tasks] = members_of(alike)
        return self._members[tasks]

    def _awaited(self, place: int) -> dict[TaskId, ProcessID | None]:
        """Tasks that no member was given, to the process that they are meant for; ``None``: unknown."""
        running = set().union(*self._held[place].values())
        follows = self.numbers[place + 1 : place + 2] == [self.numbers[place] + 1]
        later = self.answers[place + 1] if follows else None
        tasks = self._tasks[place]
        return meant_for(self.answers[place], tasks - running, self._members_with(tasks).sources, later)

    def _standbys(self) -> int | None:
        """The most copies that a task has in a generation after which nothing was to follow."""
        found = []
        for answer in self.answers:
            infos = [member.assignment.info for member in answer.members if member.assignment is not None]
            if _is_calm(answer):
                copies: dict[TaskId, int] = {}
                for info in infos:
                    for task in info.standby_tasks:
                        copies[task] = copies.get(task, 0) + 1
                found.append(max(copies.values(), default=0))
        return max(found, default=None)

    # --- samples --------------------------------------------------------------------------------------

    def ends(self, time_ms: int) -> Offsets:
        """Ends at a moment: what lies between two samples has grown evenly."""

        def of(partitions: Iterable[TopicPartition]) -> Mapping[TopicPartition, int]:
            found = {}
            for partition in partitions:
                points = [
                    (sample.time_ms, sample.ends[partition]) for sample in self.samples if partition in sample.ends
                ]
                if points:
                    found[partition] = _end_at(points, time_ms)
            return found

        return of

    def sizes(self, partitions: Iterable[TopicPartition]) -> Mapping[TopicPartition, int]:
        """Bytes of partitions, as the latest sample tells."""
        latest = next((sample.sizes for sample in reversed(self.samples) if sample.sizes), {})
        return {partition: latest[partition] for partition in partitions if partition in latest}


_SAMPLED = (
    "the ends of changelogs are those of the recording's samples: between two of them, and before the first and after "
    "the last, they count as growing evenly"
)
_REPORTED = (
    "the recording has no samples of its topics (record --follow --sample-every takes them): where changelogs end, and "
    "so how far somebody lags, is unknown; a lag is told by how far the furthest of the members had come by then, and "
    "where none has said it counts as more than anybody's"
)


def _end_at(points: Sequence[tuple[int, int]], time_ms: int) -> int:
    """The end of a partition, on the line through the two samples that are nearest; never below 0."""
    if len(points) == 1:
        return points[0][1]
    pairs = list(pairwise(points))
    (from_ms, low), (to_ms, high) = next(((a, b) for a, b in pairs if time_ms <= b[0]), pairs[-1])
    if to_ms == from_ms:
        return high
    return max(0, round(low + (high - low) * (time_ms - from_ms) / (to_ms - from_ms)))


# --- what members say -------------------------------------------------------------------------------


def _named(answer: GroupAnswer) -> Iterator[TaskId]:
    for member in answer.members:
        if member.assignment is not None:
            yield from member.assignment.info.active_tasks
            yield from member.assignment.info.standby_tasks


def _is_calm(answer: GroupAnswer) -> bool:
    """Whether nothing was to follow: then every task has been given to somebody."""
    infos = [member.assignment.info for member in answer.members if member.assignment is not None]
    return bool(infos) and all(info.next_rebalance_ms == NO_REBALANCE for info in infos)


def _existing(answers: Sequence[GroupAnswer]) -> list[frozenset[TaskId]]:
    """For each generation the tasks that there were.

    A task that nobody has may be held back for a moment. It is not there yet, or not any more, where a generation that
    is calm does without it: the application has come back with another topology, or its topics have got partitions.
    """
    named = [frozenset(_named(answer)) for answer in answers]
    calm = [place for place, answer in enumerate(answers) if _is_calm(answer)]
    existing: list[set[TaskId]] = [set() for _ in answers]
    for task in frozenset().union(*named):
        places = [place for place, tasks in enumerate(named) if task in tasks]
        begin = places[0] if any(place < places[0] for place in calm) else 0
        end = places[-1] + 1 if any(place > places[-1] for place in calm) else len(answers)
        for place in range(begin, end):
            existing[place].add(task)
    return [frozenset(tasks) for tasks in existing]


def _running(answer: GroupAnswer) -> dict[ProcessID, set[TaskId]]:
    """Process to the active tasks that it was given."""
    return {
        process: {task for member in members if member.assignment for task in member.assignment.info.active_tasks}
        for process, members in members_by_process(answer).items()
    }
