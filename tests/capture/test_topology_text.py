"""Java's description of a topology: what it says of tasks, and where it does not fit the log."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assignment_api.streams import TaskId
from assignor_lab.capture.errors import TopologyTextError
from assignor_lab.capture.logs.described_tasks import DescribedTasks
from assignor_lab.capture.logs.topology_text import parse_topology
from assignor_lab.scenarios import Place, scenario_from_document
from tests.capture.captured_logs import GOLDEN, documents
from tests.capture.topologies import GLOBAL, ORDERS, PATTERN


def described(tmp_path: Path, text: str = ORDERS) -> Path:
    path = tmp_path / "topology.txt"
    path.write_text(text, encoding="utf-8")
    return path


def tasks_of(text: str, *tasks: str, logged: str = "", group: str | None = "app") -> list[dict[str, Any]]:
    return DescribedTasks("topology.txt", parse_topology(text)).documents(
        tuple(map(TaskId.parse, tasks)), frozenset(map(TaskId.parse, logged.split())), group, []
    )


def topics(task: dict[str, Any]) -> list[tuple[str, bool, bool]]:
    return [(item["topic"], item["source"], item["changelog"]) for item in task["partitions"]]


@pytest.mark.parametrize("application", ["tagged", "orders-2"])
def test_tasks_are_those_that_the_brokers_knew(application: str, tmp_path: Path) -> None:
    import gzip
    import json

    with gzip.open(GOLDEN / f"{application}.scenarios.jsonl.gz") as lines:
        known = json.loads(next(iter(lines)))
    imported = documents(application, topology=described(tmp_path))[0]

    scenario_from_document(imported, Place("topology.txt", 1))
    for document in (imported, known):
        for task in document["tasks"]:
            task["stores"] = sorted(task["stores"])
            for partition in task["partitions"]:
                partition["racks"] = None
            task["partitions"].sort(key=lambda partition: partition["topic"])
    assert sorted(imported["tasks"], key=lambda task: task["id"]) == known["tasks"]


def test_global_stores_have_no_tasks_and_belong_to_none() -> None:
    (task,) = tasks_of(GLOBAL, "1_0")

    assert task["stores"] == []
    assert topics(task) == [("orders-in", True, False), ("refunds-in", True, False)]


def test_topics_of_a_pattern_are_unknown() -> None:
    (task,) = tasks_of(PATTERN, "shop__0_3")

    assert task["partitions"] is None
    assert task["stores"] == []


def test_internal_topics_get_the_application_id() -> None:
    (task,) = tasks_of(ORDERS, "1_2", logged="1_2")

    assert topics(task) == [("app-by-city-repartition", True, False), ("app-cities-changelog", False, True)]
    assert [item["partition"] for item in task["partitions"]] == [2, 2]


def test_a_store_without_lags_is_not_logged() -> None:
    (task,) = tasks_of(ORDERS, "1_2")

    assert (task["stateful"], task["logged"]) == (True, False)


@pytest.mark.parametrize(
    ("tasks", "logged", "reason"),
    [("3_0", "", "no sub-topology for task 3_0"), ("2_0", "2_0", "sub-topology 2 has no store")],
)
def test_a_description_of_another_application_is_refused(tasks: str, logged: str, reason: str) -> None:
    with pytest.raises(TopologyTextError, match=rf"topology\.txt: .*{reason}"):
        tasks_of(ORDERS, tasks, logged=logged)


def test_a_text_that_is_no_description_is_refused() -> None:
    with pytest.raises(TopologyTextError, match="describe"):
        parse_topology("Hello\n")


def test_a_sub_topology_twice_is_refused_with_its_line() -> None:
    with pytest.raises(TopologyTextError, match="<text>:5: sub-topology 0 stands here a second time"):
        parse_topology(PATTERN + "   Sub-topology: 0\n")


@settings(deadline=None)
@given(st.text())
def test_any_text_is_a_description_or_a_typed_error(text: str) -> None:
    with suppress(TopologyTextError):
        parse_topology("Sub-topology: 0\n" + text)
