"""Descriptions resolved as by Kafka 4.3.1 itself: 65 topologies of its own builder."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from assignment_api.streams import TaskId
from assignor_lab.capture.topology.description import parse_topology
from assignor_lab.capture.topology.evidence import Brokers, Members
from assignor_lab.capture.topology.group_topology import GroupTopology, Topic
from assignor_lab.capture.topology.resolution import resolved

FILE = Path(__file__).parents[2] / "data" / "topologies" / "described.jsonl.gz"
with gzip.open(FILE, "rt") as lines:
    ROWS: list[dict[str, Any]] = [json.loads(line) for line in lines]
#: Kafka knows the topics of a pattern once it has the list of existing topics.
MATCHED = {"0": ["orders-a", "orders-b"]}
#: Topics with names like an application's own.
OTHERS = ("app-eu-in", "elsewhere", "app-other-changelog")


def is_pattern(row: Mapping[str, Any]) -> bool:
    return bool(row["name"] == "pattern")


def expected(row: Mapping[str, Any]) -> dict[str, tuple[list[str], list[str]]]:
    found = {number: (sub["sources"], sub["changelogs"]) for number, sub in row["subtopologies"].items()}
    return {"0": (MATCHED["0"], ["app-c-changelog"]), **found} if is_pattern(row) else found


def brokers(row: Mapping[str, Any], *others: str) -> Brokers:
    names = {name for topics in expected(row).values() for listed in topics for name in listed}
    topics = {name: Topic({0: (), 1: ()}) for name in sorted(names | set(others))}
    return Brokers(topics.get, frozenset(topics))


def members(row: Mapping[str, Any], *, seen: bool) -> Members:
    truth = expected(row)
    tasks = tuple(TaskId(int(number), partition) for number in truth for partition in (0, 1))
    if not seen:
        return Members(tasks)
    return Members(
        tasks,
        {(None, int(number)): tuple(sources) for number, (sources, _) in truth.items()},
        frozenset(topic for sources, _ in truth.values() for topic in sources),
        {(None, int(number)): True for number, (_, changelogs) in truth.items() if changelogs},
        frozenset((None, int(number)) for number, (_, changelogs) in truth.items() if not changelogs),
    )


def found(row: Mapping[str, Any], known: Members, topics: Brokers, *, optimized: bool | None = None) -> GroupTopology:
    topology = resolved(parse_topology(row["text"]), "app", known, topics, optimized=optimized)
    assert topology is not None
    return topology


def shown(topology: GroupTopology) -> dict[str, tuple[list[str], list[str]]]:
    return {
        str(number): (list(sub.sources or ()), list(sub.changelogs or ()))
        for (_, number), sub in topology.subtopologies.items()
    }


def each_row(rows: list[dict[str, Any]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("row", rows, ids=[f"{row['name']}, {row['optimization']}" for row in rows])


@each_row(ROWS)
def test_members_and_topics_leave_nothing_open(row: dict[str, Any]) -> None:
    topology = found(row, members(row, seen=True), brokers(row, *OTHERS))
    assert shown(topology) == expected(row)
    assert not topology.conflicts
    stores = {store.name: store.changelog for sub in topology.subtopologies.values() for store in sub.stores or ()}
    assert {name: changelog for name, changelog in stores.items() if changelog} == {
        name: changelog for name, changelog in row["stores"].items() if name in stores
    }


@each_row(ROWS)
def test_topics_alone_may_leave_a_store_open_and_lead_nowhere_wrong(row: dict[str, Any]) -> None:
    topology = found(row, members(row, seen=False), brokers(row, *OTHERS))
    for number, (sources, changelogs) in shown(topology).items():
        assert sources == expected(row)[number][0]
        sub = topology.subtopologies[None, int(number)]
        assert sub.changelogs is None or changelogs == expected(row)[number][1]
        for store in sub.stores or ():
            if store.is_known:
                assert store.changelog == row["stores"].get(store.name)


@each_row([row for row in ROWS if not is_pattern(row)])
def test_the_text_alone_names_what_is_read(row: dict[str, Any]) -> None:
    topology = found(row, members(row, seen=False), Brokers())
    assert {number: sources for number, (sources, _) in shown(topology).items()} == {
        number: sources for number, (sources, _) in expected(row).items()
    }


@each_row([row for row in ROWS if "without logging" not in row["name"] and "read-only" not in row["name"]])
def test_with_the_setting_and_the_lags_the_text_alone_names_the_changelogs(row: dict[str, Any]) -> None:
    logged: dict[tuple[str | None, int], bool] = {
        (None, int(number)): bool(changelogs) for number, (_, changelogs) in expected(row).items()
    }
    known = Members(members(row, seen=False).tasks, logged=logged)
    topology = found(row, known, Brokers(), optimized=row["optimization"] == "all")
    assert {number: changelogs for number, (_, changelogs) in shown(topology).items()} == {
        number: changelogs for number, (_, changelogs) in expected(row).items()
    }


def test_topics_of_a_pattern_are_printed() -> None:
    row = next(row for row in ROWS if is_pattern(row))
    topology = found(row, members(row, seen=False), brokers(row))
    assert "pattern orders-.* reads orders-a, orders-b (sub-topology 0)" in topology.assumptions
