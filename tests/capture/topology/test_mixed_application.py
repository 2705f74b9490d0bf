"""One application of the features of several recorded ones: 34 tasks, with the text of its topology and without."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import attrs
import pytest

from assignment_api.streams import TaskId
from assignor_lab.capture.topology.description import parse_topology
from assignor_lab.capture.topology.evidence import Brokers, Members
from assignor_lab.capture.topology.group_topology import GroupTopology, Topic
from assignor_lab.capture.topology.resolution import topology_of
from tests.capture.topology_recordings import unpacked

#: Recorded application to the partitions of its topics, by their ends; 3 where none fits.
_APPLICATIONS: Mapping[str, Mapping[str, int]] = {
    "twostateless": {"": 2},
    "optimised": {"": 3},
    "unlogged": {"": 3},
    "foreignkey": {"": 3},
    "pattern": {"-in-a": 3, "-in-b": 2, "-other": 2},
    "merge": {"-a": 2, "-b": 4},
}
#: Stores that two of them have.
_RENAMED = {("foreignkey", "users"): "persons", ("merge", "counts"): "merged"}
_GROUP = "mixed"


@attrs.frozen
class Mixed:
    """The application.

    Args:
        text: Its description, as Kafka writes it.
        truth: Sub-topology to its ``sources``, ``changelogs`` and ``stores``.
        counts: Topic to its partitions.
    """

    text: str
    truth: Mapping[int, Mapping[str, Any]]
    counts: Mapping[str, int]

    @property
    def tasks(self) -> tuple[TaskId, ...]:
        return tuple(
            TaskId(number, partition)
            for number, known in self.truth.items()
            for partition in range(max(self.counts[topic] for topic in known["sources"]))
        )

    def end(self, topic: str, partition: int) -> int:
        return 1_000 + 100 * sorted(self.counts).index(topic) + partition

    def changelogs(self, task: TaskId) -> list[str]:
        return [each for each in self.truth[task.subtopology]["changelogs"] if task.partition < self.counts[each]]


def mixed() -> Mixed:
    lines, counts = ["Topologies:"], dict[str, int]()
    truth: dict[int, dict[str, list[str]]] = {}
    root = unpacked().root / "applications"
    for name, sizes in _APPLICATIONS.items():
        first = len(truth)
        text = (root / name / "topology.txt").read_text().partition("\n")[2]
        known = json.loads((root / name / "truth.json").read_text())
        for (application, old), new in _RENAMED.items():
            if application == name:
                text = re.sub(rf"(stores: \[[^]]*)\b{old}\b(?=[],])", rf"\1{new}", text)
                for each in known.values():
                    each["stores"] = [new if store == old else store for store in each["stores"]]
                    each["changelogs"] = [
                        topic.replace(f"-{old}-changelog", f"-{new}-changelog") for topic in each["changelogs"]
                    ]
        lines.append(re.sub(r"Sub-topology: (\d+)", partial(_renumbered, first), text))
        for number, each in known.items():
            truth[first + int(number)] = sub = {key: [_as_mixed(name, item) for item in each[key]] for key in each}
            if name == "foreignkey":
                # With the optimisation of the whole application, its tables read their sources back.
                table = next(topic for topic in sub["sources"] if "KTABLE" not in topic)
                changelogs = [topic for topic in sub["changelogs"] if "KTABLE" in topic]
                sub["changelogs"] = [*changelogs, table]
            for topic in sub["sources"]:
                ends = [size for end, size in sizes.items() if topic.endswith(end)]
                counts[topic] = ends[0] if ends else 3
            for topic in sub["changelogs"]:
                counts.setdefault(topic, max(counts[source] for source in sub["sources"]))
    return Mixed("\n".join(lines), truth, counts)


def _renumbered(first: int, found: re.Match[str]) -> str:
    return f"Sub-topology: {first + int(found[1])}"


def _as_mixed(application: str, item: str) -> str:
    internal = item.endswith("-changelog") or "KTABLE-FK" in item
    return f"{_GROUP}{item.removeprefix(application)}" if internal and item.startswith(f"{application}-") else item


def resolved(
    group: Mixed,
    *,
    has_text: bool,
    has_restored: bool = False,
    optimized: bool | None = True,
    is_quiet: bool = False,
) -> GroupTopology:
    """The topology from members' offset sums, as Kafka builds them, and from the brokers' topics."""
    sums = {
        task: (sum(group.end(topic, task.partition) for topic in group.changelogs(task)) - 3,)
        for task in group.tasks
        if group.changelogs(task)
    }
    restored = {
        store: topic
        for known in group.truth.values()
        for store in known["stores"]
        for topic in known["changelogs"]
        if topic == f"{_GROUP}-{store}-changelog"
    }
    members = Members(
        group.tasks,
        {(None, number): tuple(sorted(known["sources"])) for number, known in group.truth.items()},
        frozenset(topic for known in group.truth.values() for topic in known["sources"]),
        {(None, number): True for number, known in group.truth.items() if known["changelogs"]},
        frozenset((None, number) for number, known in group.truth.items() if not known["changelogs"] and not is_quiet),
        {} if is_quiet else sums,
        restored if has_restored else {},
    )
    topics = {name: Topic(dict.fromkeys(range(count), ())) for name, count in group.counts.items()}

    def ends(partitions: Iterable[tuple[str, int]]) -> Mapping[tuple[str, int], int]:
        return {each: group.end(*each) for each in partitions}

    brokers = Brokers(topics.get, frozenset(topics), (_GROUP,), ends)
    text = parse_topology(group.text) if has_text else None
    return topology_of(text, _GROUP, members, brokers, optimized=optimized)


def wrong(group: Mixed, found: GroupTopology) -> list[str]:
    """Wrong statements about the sub-topologies; unknown values are left out."""
    said = []
    for number, known in group.truth.items():
        sub = found.subtopologies[None, number]
        if sub.sources is not None and sorted(sub.sources) != sorted(known["sources"]):
            said.append(f"{number} reads {sub.sources}, not {known['sources']}")
        if sub.is_logged != bool(known["changelogs"]):
            said.append(f"{number} is logged: {sub.is_logged}")
        if sub.changelogs is not None and sorted(sub.changelogs) != sorted(known["changelogs"]):
            said.append(f"{number} has {sub.changelogs}, not {known['changelogs']}")
    return said


def test_with_the_text_each_sub_topology_is_as_in_kafka() -> None:
    group = mixed()
    found = resolved(group, has_text=True)
    assert len(group.tasks) == 34
    assert wrong(group, found) == []
    assert found.conflicts == ()
    assert [number for (_, number), sub in found.subtopologies.items() if sub.changelogs is None] == []


@pytest.mark.parametrize("optimized", [True, None])
@pytest.mark.parametrize("has_text", [True, False])
@pytest.mark.parametrize("has_restored", [True, False])
@pytest.mark.parametrize("is_quiet", [True, False])
def test_what_is_not_known_counts_as_unknown(
    *, has_text: bool, has_restored: bool, optimized: bool | None, is_quiet: bool
) -> None:
    group = mixed()
    found = resolved(group, has_text=has_text, has_restored=has_restored, optimized=optimized, is_quiet=is_quiet)
    assert wrong(group, found) == []


def test_more_input_never_leaves_more_unknown() -> None:
    group = mixed()

    def unknown(**options: Any) -> int:
        return sum(sub.changelogs is None for sub in resolved(group, **options).subtopologies.values())

    for optimized in (True, None):
        bare = unknown(has_text=False, optimized=optimized)
        assert unknown(has_text=False, has_restored=True, optimized=optimized) <= bare
        assert unknown(has_text=True, optimized=optimized) <= bare
        assert unknown(has_text=True, has_restored=True, optimized=optimized) <= bare
