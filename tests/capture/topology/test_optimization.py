"""With ``topology.optimization`` a table's topic is its changelog."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

from assignment_api.plugins import config_sources
from assignment_api.streams import TaskId
from assignor_lab.capture.histories.settings import optimization_in
from assignor_lab.capture.logs.import_log import import_log
from assignor_lab.capture.topology.description import parse_topology
from assignor_lab.capture.topology.evidence import Brokers, Members, reuses_sources
from assignor_lab.capture.topology.group_topology import GroupSubTopology, GroupTopology, Topic, TopologyStore
from assignor_lab.capture.topology.inference import inferred
from assignor_lab.capture.topology.resolution import resolved
from assignor_lab.capture.topology.task_documents import task_document
from tests.capture.captured_logs import LEADER_OF_TAGGED, refuse, text_of
from tests.capture.test_logged_config import started

TABLES = """\
Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000001 (topics: [users])
      --> KTABLE-SOURCE-0000000002
    Processor: KTABLE-SOURCE-0000000002 (stores: [users-store])
      --> KSTREAM-JOIN-0000000005
      <-- KSTREAM-SOURCE-0000000001
    Source: KSTREAM-SOURCE-0000000003 (topics: [clicks])
      --> KSTREAM-AGGREGATE-0000000004
    Processor: KSTREAM-AGGREGATE-0000000004 (stores: [counts])
      --> KSTREAM-JOIN-0000000005
      <-- KSTREAM-SOURCE-0000000003
    Processor: KSTREAM-JOIN-0000000005 (stores: [])
      --> none
      <-- KSTREAM-AGGREGATE-0000000004, KTABLE-SOURCE-0000000002
"""
TASK = TaskId.parse("0_1")


def changelogs(*, reuses: bool) -> list[tuple[str, bool, bool]]:
    members = Members((TASK,), logged={(None, 0): True})
    topology = resolved(parse_topology(TABLES), "app", members, Brokers(), optimized=reuses)
    assert topology is not None
    document = task_document(TASK, topology, Brokers(), [])
    return [(each["topic"], each["source"], each["changelog"]) for each in document["partitions"]]


def test_a_table_reads_its_topic_back_and_an_aggregate_its_own_changelog() -> None:
    assert changelogs(reuses=True) == [
        ("clicks", True, False),
        ("users", True, True),
        ("app-counts-changelog", False, True),
    ]


def test_without_optimization_each_store_has_its_own_changelog() -> None:
    assert changelogs(reuses=False) == [
        ("clicks", True, False),
        ("users", True, False),
        ("app-counts-changelog", False, True),
        ("app-users-store-changelog", False, True),
    ]


def tables(text: str) -> dict[str, tuple[str, ...]]:
    return {
        store.name: store.filled_from for store in parse_topology(text).subtopologies[None, 0].stores if store.is_table
    }


def test_a_table_with_a_name_is_one_too_and_one_of_two_topics_is_not() -> None:
    named = TABLES.replace("KSTREAM-SOURCE-0000000001", "people-source").replace("KTABLE-SOURCE-0000000002", "people")
    assert tables(named) == {"users-store": ("users",)}
    assert tables(TABLES.replace("[users]", "[users, people]")) == {}


@pytest.mark.parametrize(
    ("value", "does"),
    [
        ("all", True),
        ("none", False),
        (None, None),
        ("[reuse.ktable.source.topics, merge.repartition.topics]", True),
        ("merge.repartition.topics", False),
    ],
)
def test_values_of_the_setting_are_kafkas(value: str | None, does: bool | None) -> None:
    assert reuses_sources(value) is does


ORDERS = """\
Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000001 (topics: [orders-in])
      --> KTABLE-SOURCE-0000000002
    Processor: KTABLE-SOURCE-0000000002 (stores: [orders])
      <-- KSTREAM-SOURCE-0000000001
   Sub-topology: 1
    Source: S1 (topics: [by-city])
    Processor: P1 (stores: [cities])
      <-- S1
   Sub-topology: 2
    Source: S2 (topics: [notes-in])
"""


def imported(tmp_path: Path, head: str = "", **options: Any) -> dict[str, Any]:
    log, topology = tmp_path / "app.log", tmp_path / "topology.txt"
    log.write_text(head + text_of(LEADER_OF_TAGGED))
    topology.write_text(ORDERS)
    return next(iter(import_log([log], topology=topology, on_problem=refuse, **options)))


def partitions_of(document: dict[str, Any], task: str) -> list[tuple[str, bool]]:
    found = next(each for each in document["tasks"] if each["id"] == task)
    return [(each["topic"], each["changelog"]) for each in found["partitions"]]


@pytest.mark.slow
def test_the_log_the_configuration_or_nobody_tells_of_it(tmp_path: Path) -> None:
    dumped = started().replace("\tupgrade.from", "\ttopology.optimization = all\n\tupgrade.from")
    assert partitions_of(imported(tmp_path, dumped), "0_3") == [("orders-in", True)]
    properties = tmp_path / "application.properties"
    properties.write_text("topology.optimization=all\nsasl.jaas.config=secret\n")
    given = imported(tmp_path, optimization=optimization_in(config_sources(properties, ()).above))
    assert partitions_of(given, "0_3") == [("orders-in", True)]
    unknown = imported(tmp_path)
    assert partitions_of(unknown, "0_3") == [("orders-in", False), ("tagged-classic-orders-changelog", True)]
    assert any("topology.optimization is given with --config" in sentence for sentence in unknown["assumptions"])


def test_a_recorded_group_without_a_changelog_reads_its_only_source_topic_back() -> None:
    tasks = tuple(TaskId.parse(f"0_{number}") for number in range(3))
    topics = {
        "users": Topic({0: ("r1",), 1: ("r2",), 2: ("r1",)}),
        "people": Topic({0: ("r1",), 1: ("r2",), 2: ("r1",)}),
        "app-other-changelog": Topic({0: ("r1",)}),
    }
    brokers = Brokers(topics.get, frozenset(topics))
    members = Members(tasks, {(None, 0): ("users",)}, logged={(None, 0): True})
    found = inferred("app", members, brokers)
    assert found.subtopologies[None, 0].changelogs == ("users",)
    assert any("topology.optimization=all" in sentence for sentence in found.assumptions)

    two = Members(tasks, {(None, 0): ("people", "users")}, logged={(None, 0): True})
    assert inferred("app", two, brokers).subtopologies[None, 0].stores is None

    reported = attrs.evolve(two, sums={tasks[1]: (7,)})
    ends = attrs.evolve(brokers, ends=lambda asked: {each: 7 if each[0] == "users" else 5 for each in asked})
    assert inferred("app", reported, ends).subtopologies[None, 0].changelogs == ("users",)


def test_a_source_topic_that_is_a_changelog_is_one_partition_with_both_flags() -> None:
    sub = GroupSubTopology(("users", "clicks"), (TopologyStore("users", "users"),), is_logged=True)
    document = task_document(TASK, GroupTopology({(None, 0): sub}), Brokers(), [])
    flags = [(each["topic"], each["source"], each["changelog"]) for each in document["partitions"]]
    assert flags == [("users", True, True), ("clicks", True, False)]
