"""Generations of a classic group from its coordinator's records, and the decisions of a classic Streams group.

A record holds every member's subscription and assignment. Ends of changelogs are in no record: they come from samples,
or from the furthest offset that any member reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from assignment_api.plugins.layers import ConfigLayer
from assignment_api.streams import ProcessID, TaskId
from assignment_api.streams.configs import RACK_AWARE_ASSIGNMENT_STRATEGY, RACK_AWARE_STRATEGY_NONE
from assignor_lab.capture.histories.held_back import meant_for
from assignor_lab.capture.live.classic import GroupSurroundings, classic_document
from assignor_lab.capture.recorded.broker_answers import ClusterAnswer, DescribedGroup, MemberAnswer
from assignor_lab.capture.recorded.consumer_members import ConsumerAnswer, ConsumerMember
from assignor_lab.capture.recorded.errors import BrokerAnswerError
from assignor_lab.capture.recorded.group_records import (
    CONSUMER_METADATA,
    GROUP_METADATA,
    read_classic_generation,
    read_group_key,
)
from assignor_lab.capture.recorded.kept_records import KeptRecord, KeptRecords, Sample
from assignor_lab.capture.recorded.member_evidence import furthest, members_of
from assignor_lab.capture.recorded.sampled_topics import SampledTopics
from assignor_lab.capture.recorded.states import members_by_process
from assignor_lab.capture.topology.evidence import Members
from assignor_lab.capture.topology.group_topology import GroupTopology
from assignor_lab.documents.errors import Place
from assignor_lab.kafka.wire.assignment_info import NO_REBALANCE
from assignor_lab.scenarios.consumers import client_of, hosts_of
from assignor_lab.scenarios.rack_provenance import NOT_USED, RACKS_UNKNOWN
from assignor_lab.scenarios.settings import SettingValue, most_frequent, with_given

__all__ = ["RecordedGeneration", "classic_decisions", "recorded_generations", "settings_of"]


@attrs.frozen(eq=False)
class RecordedGeneration:
    """A generation with members.

    Args:
        time_ms: All members had joined.
        message: As kafka-python reads it.
        is_connect: The members are Connect workers.
        emptied: Its last members, if the group was empty afterwards: time, and client id of the instance.
        consumers: Of plain consumers.
        timeouts: Session and rebalance timeout of each member, in milliseconds.
        rejoined: Static members that joined again without a new generation: time, and client id of the instance.
    """

    place: Place
    time_ms: int
    generation: int
    leader: str | None
    answer: DescribedGroup | None
    message: Any
    is_connect: bool
    timeouts: Sequence[tuple[int, int]] = ()
    rejoined: Sequence[tuple[int, str]] = ()
    emptied: Sequence[tuple[int, str]] = ()
    consumers: ConsumerAnswer | None = None

    @property
    def members(self) -> Sequence[MemberAnswer | ConsumerMember]:
        """Of consumers, in the order of the record."""
        if self.consumers is not None:
            return self.consumers.members
        return () if self.answer is None else self.answer.members

    def later(self, by_ms: int) -> RecordedGeneration:
        return attrs.evolve(self, time_ms=self.time_ms + by_ms)


def recorded_generations(kept: KeptRecords, on_unreadable: Callable[[str], None]) -> list[RecordedGeneration]:
    """Generations with members, by time.

    A coordinator writes a generation again when a static member rejoins with a new subscription. The leader saw the
    first record; the later ones show when the member was back.
    """
    found: list[RecordedGeneration] = []
    latest: RecordedGeneration
    rejoined: dict[str, set[str]] = {}
    is_anew = False
    moved_ms: int | None = None
    for each in kept.records:
        try:
            moved_ms = each.record.time_ms if _ends_consumer_group(kept.group, each) else moved_ms
            is_of_group = _is_of_group(kept.group, each)
            made = _generation(kept.group, each.record.value, each) if is_of_group else None
        except BrokerAnswerError as error:
            on_unreadable(f"{each.place}: record {each.record.offset} is left out: {error}")
            continue
        # A group that was created again counts from 1.
        is_anew = is_anew or (is_of_group and each.record.value is None)
        if is_of_group and made is None and found and not found[-1].emptied:
            found[-1] = attrs.evolve(found[-1], emptied=tuple(_emptied(kept.group, found[-1], each)))
        if made is None or each.record.time_ms == moved_ms:
            # A group that leaves the consumer protocol has a first generation that no leader decided.
            continue
        if is_anew or not (found and found[-1].generation == made.generation):
            found.append(made)
            latest, rejoined = made, {}
            is_anew = False
            continue
        at_ms = each.record.time_ms
        found[-1] = attrs.evolve(found[-1], rejoined=(*found[-1].rejoined, *_rejoined(latest, made, at_ms, rejoined)))
        latest = made
    return found


def _rejoined(
    before: RecordedGeneration, now: RecordedGeneration, at_ms: int, last: dict[str, set[str]]
) -> Iterator[tuple[int, str]]:
    """Instances whose first static member is back in a record of the same generation.

    Args:
        last: Members that are back from the latest restart; updated.
    """
    known = {each.member_id for each in before.members}
    for member in now.members:
        if member.instance_id is None or member.member_id in known:
            continue
        client, back = client_of(member.client_id), last.get(client_of(member.client_id))
        if back is None or member.instance_id in back:
            last[client] = {member.instance_id}
            yield at_ms, client
        else:
            back.add(member.instance_id)


def _emptied(group: str, before: RecordedGeneration, each: KeptRecord) -> Iterator[tuple[int, str]]:
    """The instances of a generation before a record without members."""
    if each.record.value is None:
        return
    read = read_classic_generation(group, each.record.value)
    if not read.members:
        time_ms = each.record.time_ms if read.time_ms is None else read.time_ms
        for client in dict.fromkeys(client_of(member.client_id) for member in before.members):
            yield time_ms, client


def _is_of_group(group: str, each: KeptRecord) -> bool:
    key = read_group_key(each.record.key)
    return key is not None and key.type == GROUP_METADATA and key.group == group


def _ends_consumer_group(group: str, each: KeptRecord) -> bool:
    key = read_group_key(each.record.key)
    return key is not None and key.type == CONSUMER_METADATA and key.group == group and each.record.value is None


def _generation(group: str, value: bytes | None, each: KeptRecord) -> RecordedGeneration | None:
    if value is None:
        return None
    read = read_classic_generation(group, value)
    answer, consumers = read.streams(), read.consumers()
    if not read.members or (answer is None and consumers is None and not read.is_connect):
        return None
    time_ms = each.record.time_ms if read.time_ms is None else read.time_ms
    return RecordedGeneration(
        each.place, time_ms, read.generation, read.leader, answer, read.message, read.is_connect, read.timeouts,
        consumers=consumers,
    )  # fmt: skip


def classic_decisions(
    generations: Sequence[RecordedGeneration],
    samples: Sequence[Sample],
    config: Iterable[ConfigLayer] = (),
    topology: Path | None = None,
    topics: Mapping[str, int] | None = None,
    *,
    optimized: bool | None = None,
) -> Iterator[tuple[dict[str, Any], RecordedGeneration]]:
    """A scenario for each generation of a Streams group.

    Args:
        config: Layers of ``--config`` and ``-c``, the lowest first.
        topics: Partition counts of topics that samples lack.
        optimized: True if tables read their source topics back; ``None``: unknown.
    """
    shown = [(each, each.answer) for each in generations if each.answer is not None]
    numbers = [each.generation for each, _ in shown]
    past = _Past([answer for _, answer in shown], numbers, tuple(samples), topics or {}, optimized)
    layers = tuple(config)
    done: list[dict[str, object]] = []
    for place, (each, answer) in enumerate(shown):
        # Rejoins and ends belong to the decision after them, or to the last one.
        own: list[dict[str, object]] = [
            {"time_ms": at, "type": kind, "client": client}
            for kind, noted in (("rejoined", each.rejoined), ("emptied", each.emptied))
            for at, client in noted
        ]
        done = [*done, *own] if place == len(shown) - 1 else done
        document = classic_document(
            answer,
            past.cluster,
            each.time_ms,
            past.topics.ends(each.time_ms),
            past.topics.sizes,
            layers,
            topology,
            past.around(place),
        )
        document["id"] = f"{answer.group}-generation-{each.generation}"
        document["source"] = {
            "file": each.place.file, "line": each.place.line, "time_ms": each.time_ms, "group": answer.group,
            "generation": each.generation,
            **hosts_of({member.member_id: member.host for member in answer.members}),
            **({"done": done} if done else {}),
        }  # fmt: skip
        done = own
        strategy = document["config"][RACK_AWARE_ASSIGNMENT_STRATEGY]
        document["assumptions"].append(
            f"{NOT_USED}; the strategy none does not use them"
            if strategy == RACK_AWARE_STRATEGY_NONE
            else f"{RACKS_UNKNOWN} records have those of clients, but not of brokers (give them with --racks)"
        )
        found = settings_of(each.timeouts, document["assumptions"])
        yield with_given(document, found, layers), each


def settings_of(timeouts: Sequence[tuple[int, int]], assumptions: list[str]) -> dict[str, SettingValue]:
    """In milliseconds; the most frequent value if members differ."""
    keys = ("session.timeout.ms", "rebalance.timeout.ms")
    members = ({key: value for key, value in zip(keys, each, strict=True) if value > 0} for each in timeouts)
    return most_frequent(members, assumptions)


# --- facts of the whole past on each generation -----------------------------------------------------


@attrs.define(eq=False)
class _Past:
    answers: Sequence[DescribedGroup]
    numbers: Sequence[int]
    samples: Sequence[Sample]
    counts: Mapping[str, int]
    optimized: bool | None
    cluster: ClusterAnswer = attrs.field(init=False)
    topics: SampledTopics = attrs.field(init=False)
    _tasks: list[frozenset[TaskId]] = attrs.field(init=False)
    _sums: list[dict[TaskId, int]] = attrs.field(init=False)
    _held: list[dict[ProcessID, set[TaskId]]] = attrs.field(init=False)
    _members: dict[frozenset[TaskId], Members] = attrs.field(init=False, factory=dict)
    _topologies: dict[tuple[TaskId, ...], GroupTopology] = attrs.field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        topics: dict[str, dict[int, tuple[int, ...]]] = {}
        for sample in self.samples:
            for topic, number in sample.ends:
                topics.setdefault(topic, {})[number] = ()
        for topic, count in self.counts.items():
            topics.setdefault(topic, dict.fromkeys(range(count), ()))
        self.cluster = ClusterAnswer({}, topics)
        self.topics = SampledTopics(self.samples)
        self._tasks = _existing(self.answers)
        self._sums = list(furthest(self.answers))
        self._held = [_running(answer) for answer in self.answers]

    def around(self, place: int) -> GroupSurroundings:
        has_ends = bool(self.samples)
        return GroupSurroundings(
            members=self._members_with(self._tasks[place]),
            tasks=self._tasks[place],
            optimized=self.optimized,
            latest_ends=self.topics.ends(self.samples[-1].time_ms) if has_ends else None,
            rates=self.topics.rates,
            awaited=self._awaited(place),
            reached=self._sums[place],
            has_ends=has_ends,
            topologies=self._topologies,
            standbys=self._standbys(),
            ends_source=_SAMPLED if has_ends else _REPORTED,
            no_topics="topics are in no sample of the recording, such as {topic}: lags are unknown",
        )

    def _members_with(self, tasks: frozenset[TaskId]) -> Members:
        """Members while the group had these tasks: with other tasks they are numbered again."""
        if tasks not in self._members:
            alike = [answer for answer, own in zip(self.answers, self._tasks, strict=True) if own == tasks]
            self._members[tasks] = members_of(alike)
        return self._members[tasks]

    def _awaited(self, place: int) -> dict[TaskId, ProcessID | None]:
        """``None`` if unknown."""
        running = set().union(*self._held[place].values())
        follows = self.numbers[place + 1 : place + 2] == [self.numbers[place] + 1]
        later = self.answers[place + 1] if follows else None
        tasks = self._tasks[place]
        return meant_for(self.answers[place], tasks - running, self._members_with(tasks).sources, later)

    def _standbys(self) -> int | None:
        """Most copies of one task in a generation without a follow-up."""
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


_SAMPLED = (
    "the ends of changelogs are those of the recording's samples: between two samples, before the first and "
    "after the last, even growth is assumed"
)
_REPORTED = (
    "the recording has no samples of its topics (record --follow --sample-every takes them): the ends of "
    "changelogs are unknown. The lag of a copy is taken against the furthest reported offset; without a report "
    "it counts as the largest lag"
)


# --- what members say -------------------------------------------------------------------------------


def _named(answer: DescribedGroup) -> Iterator[TaskId]:
    for member in answer.members:
        if member.assignment is not None:
            yield from member.assignment.info.active_tasks
            yield from member.assignment.info.standby_tasks


def _is_calm(answer: DescribedGroup) -> bool:
    """No follow-up is due: then every task has an owner."""
    infos = [member.assignment.info for member in answer.members if member.assignment is not None]
    return bool(infos) and all(info.next_rebalance_ms == NO_REBALANCE for info in infos)


def _existing(answers: Sequence[DescribedGroup]) -> list[frozenset[TaskId]]:
    """The leader may hold back an unassigned task for a moment.

    A task that is missing from a generation without a follow-up does not exist there: the application had another
    topology, or its topics had fewer partitions.
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


def _running(answer: DescribedGroup) -> dict[ProcessID, set[TaskId]]:
    return {
        process: {task for member in members if member.assignment for task in member.assignment.info.active_tasks}
        for process, members in members_by_process(answer).items()
    }
