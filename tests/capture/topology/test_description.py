"""Java's description of a topology: its tasks, and contradictions to the log."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assignment_api.streams import TaskId
from assignor_lab.capture.errors import TopologyTextError
from assignor_lab.capture.topology.description import parse_topology
from assignor_lab.capture.topology.evidence import Brokers, Members
from assignor_lab.capture.topology.group_topology import Topic, by_subtopology
from assignor_lab.capture.topology.resolution import resolved
from assignor_lab.capture.topology.task_documents import task_document
from assignor_lab.scenarios import Place, scenario_from_document
from tests.capture.captured_logs import GOLDEN, documents
from tests.capture.topologies import GLOBAL, ORDERS, PATTERN

#: A store that is read back or not logged, beside one with a changelog.
UNKNOWN_STORE = """\
Topologies:
   Sub-topology: 0
    Source: from (topics: [users])
      --> keeps
    Source: clicked (topics: [clicks])
      --> clicks
    Processor: keeps (stores: [limits])
      --> none
      <-- from
    Processor: clicks (stores: [limits, seen])
      --> none
      <-- clicked
"""


def described(tmp_path: Path, text: str = ORDERS) -> Path:
    path = tmp_path / "topology.txt"
    path.write_text(text, encoding="utf-8")
    return path


def tasks_of(text: str, *tasks: str, logged: str = "", group: str | None = "app") -> list[dict[str, Any]]:
    ids, with_lag = tuple(map(TaskId.parse, tasks)), set(map(TaskId.parse, logged.split()))
    shown = {key: not with_lag.isdisjoint(of) for key, of in by_subtopology(ids).items()}
    topology = resolved(parse_topology(text), group, Members(ids, logged=shown), Brokers(), optimized=None)
    assert topology is not None
    return [task_document(task, topology, Brokers(), []) for task in ids]


def topics(task: dict[str, Any]) -> list[tuple[str, bool, bool]]:
    return [(item["topic"], item["source"], item["changelog"]) for item in task["partitions"]]


@pytest.mark.slow
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


def test_a_description_of_another_application_is_not_used() -> None:
    members = Members((TaskId.parse("3_0"),))
    assert resolved(parse_topology(ORDERS), "app", members, Brokers(), optimized=None) is None


@pytest.mark.parametrize(("topic", "is_matched"), [("orders-eu", True), ("refunds-eu", False)])
def test_a_topic_that_no_pattern_matches_is_a_conflict(topic: str, is_matched: bool) -> None:
    key = ("shop", 0)
    members = Members((TaskId.parse("shop__0_0"),), {key: (topic,)}, frozenset([topic]))
    topology = resolved(parse_topology(PATTERN), "app", members, Brokers(), optimized=None)
    assert topology is not None
    assert topology.subtopologies[key].sources == (topic,)
    assert topology.conflicts == (
        ()
        if is_matched
        else (
            "members read refunds-eu as sub-topology shop__0, <text> has pattern orders-.* there: the members' topics "
            "are used",
        )
    )


def test_a_store_that_was_not_restored_with_its_sub_topology_is_not_logged() -> None:
    members = Members((TaskId.parse("0_0"),), logged={(None, 0): True}, restored={"seen": "app-seen-changelog"})
    topology = resolved(parse_topology(UNKNOWN_STORE), "app", members, Brokers(), optimized=None)
    assert topology is not None
    assert topology.subtopologies[None, 0].changelogs == ("app-seen-changelog",)

    two = attrs.evolve(members, restored={"seen": "app-seen-changelog", "limits": None})
    topology = resolved(parse_topology(UNKNOWN_STORE), "app", two, Brokers(), optimized=None)
    assert topology is not None
    assert topology.subtopologies[None, 0].changelogs == ("app-limits-changelog", "app-seen-changelog")


def test_changelogs_that_a_store_may_have_are_listed() -> None:
    members = Members((TaskId.parse("0_0"),), {(None, 0): ("clicks", "users")}, logged={(None, 0): True})
    known = {name: Topic({0: ()}) for name in ("clicks", "users", "app-seen-changelog")}
    brokers = Brokers(known.get, frozenset(known))
    topology = resolved(parse_topology(UNKNOWN_STORE), "app", members, brokers, optimized=None)
    assert topology is not None
    (sub,) = topology.subtopologies.values()
    assert sub.changelogs is None
    assert sub.possible == (("app-seen-changelog", "users"), ("app-seen-changelog",))


def test_a_sub_topology_with_state_of_which_the_text_has_no_store_is_a_conflict() -> None:
    members = Members((TaskId.parse("2_0"),), logged={(None, 2): True})
    topology = resolved(parse_topology(ORDERS), "app", members, Brokers(), optimized=None)
    assert topology is not None
    assert topology.conflicts == (
        "members report state of sub-topology 2, in which <text> has no store: its stores are unknown",
    )


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


@pytest.mark.parametrize(
    "literal",
    [
        "Topology: ", "Sub-topology: ", "Source: ", "Processor: ", "Sink: ", " (topics: ", " (stores: [", " (topic: ",
        "a (topics: ", "<-- ", ", ", "])", ")", "0", " for global store", "KTABLE-SOURCE-", "-repartition", "KSTREAM-",
        "KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-", "-0000000001", "-topic",
    ],
)  # fmt: skip
@pytest.mark.parametrize("line", ["", "    Source: ", "    Processor: ", "    Sink: "])
def test_a_literal_again_and_again_takes_no_longer_than_any_text(literal: str, line: str) -> None:
    begun = time.process_time()
    parse_topology("Sub-topology: 0\n" + line + literal * (600_000 // len(literal)) + ")")
    assert time.process_time() - begun < 1
