"""Kafka's assignors of consumer groups and share groups, called in Java by their names, beside our own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assignment_api.plugins import PluginLoadError
from assignment_api.plugins.selection import config_sources
from assignor_lab.cli.app import build_app
from assignor_lab.groups.consumer.assignor_calls import CONSUMER_CALLS, CONSUMER_GROUP_CALLS, SHARE_GROUP_CALLS
from assignor_lab.runtime.assignor_calls import assignor_for
from assignor_lab.runtime.discovery import Plugins, discovered
from assignor_lab.scenarios import read_scenarios
from tests.builtin_assignors.golden import DATA
from tests.runtime.java.kafka import KAFKA_4_3, STICKY, compiled

pytestmark = pytest.mark.services

GOLDEN = DATA / "golden" / "consumer"
CLIENTS, BROKERS = "org.apache.kafka.clients.consumer", "org.apache.kafka.coordinator.group.assignor"
CASES = [
    (CONSUMER_CALLS, "consumer_range", f"{CLIENTS}.RangeAssignor", "consumer-small"),
    (CONSUMER_CALLS, "consumer_roundrobin", f"{CLIENTS}.RoundRobinAssignor", "consumer-small"),
    (CONSUMER_CALLS, "consumer_sticky", f"{CLIENTS}.StickyAssignor", "consumer-small"),
    (CONSUMER_CALLS, "consumer_cooperative_sticky", f"{CLIENTS}.CooperativeStickyAssignor", "consumer-small"),
    (CONSUMER_CALLS, "consumer_sticky", f"{CLIENTS}.StickyAssignor", "consumer-history-sticky"),
    (
        CONSUMER_CALLS,
        "consumer_cooperative_sticky",
        f"{CLIENTS}.CooperativeStickyAssignor",
        "consumer-history-cooperative",
    ),
    (CONSUMER_CALLS, "consumer_cooperative_sticky", f"{CLIENTS}.CooperativeStickyAssignor", "consumer-edge"),
    (CONSUMER_GROUP_CALLS, "consumer_group_uniform", f"{BROKERS}.UniformAssignor", "group-small"),
    (CONSUMER_GROUP_CALLS, "consumer_group_range", f"{BROKERS}.RangeAssignor", "group-small"),
    (CONSUMER_GROUP_CALLS, "consumer_group_uniform", f"{BROKERS}.UniformAssignor", "group-history"),
    (SHARE_GROUP_CALLS, "share_simple", f"{BROKERS}.SimpleAssignor", "share-small"),
]


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plugins]:
    start = tmp_path_factory.mktemp("start")
    config = config_sources(None, [f"assignor.java.kafka={KAFKA_4_3}"], environ={}, start=start).effective()
    found = discovered(config)
    yield found
    found.isolation.close()


@pytest.mark.parametrize(("calls", "ours", "java", "file"), CASES)
def test_kafkas_class_answers_as_ours(plugins: Plugins, calls: Any, ours: str, java: str, file: str) -> None:
    own, theirs = (
        assignor_for(
            calls,
            plugins.registry.partition_assignor(calls.kind, name, may_run_code=True),
            {},
            plugins.isolation,
        )
        for name in (ours, f"java:{java}")
    )
    answered = 0
    for scenario in islice(read_scenarios(GOLDEN / f"{file}.scenarios.jsonl.gz"), 250):
        group = scenario.content
        expected, found = own.ask(group), theirs.ask(group)
        if expected.answer is None:
            assert expected.failure is not None
            assert found.failure is not None
            assert str(expected.failure.java_type).rpartition(".")[2] == found.failure.type, scenario.id
            continue
        assert found.answer is not None, (scenario.id, found.failure)
        answered += 1
        for member in group.members:
            held = dict(found.answer.members.get(member, {}))
            assert list(held.items()) == list(expected.answer.members.get(member, {}).items()), scenario.id
    assert answered > 10


def test_the_command_chooses_the_interface_by_the_kind_of_the_group(tmp_path: Path) -> None:
    states = GOLDEN / "group-small.scenarios.jsonl.gz"
    words = ["assign", "--id", "g-unequal-000003", str(states), "-c", f"assignor.java.kafka={KAFKA_4_3}"]
    rows = [
        CliRunner().invoke(build_app(), [*words, "--assignor", name]).stdout.replace(f'"{name}"', "NAME")
        for name in (f"java:{BROKERS}.UniformAssignor", "consumer_group_uniform")
    ]
    assert rows[0] == rows[1] != ""


def test_an_assignor_of_the_other_side_is_told(plugins: Plugins) -> None:
    with pytest.raises(PluginLoadError, match="its class is a task-assignor and no consumer-assignor"):
        plugins.registry.partition_assignor("consumer-assignor", f"java:{STICKY}", may_run_code=True)
    uniform = f"java:{BROKERS}.UniformAssignor"
    assert plugins.registry.assignor_kinds(uniform, may_run_code=True) == ("consumer-group-assignor",)
    with pytest.raises(PluginLoadError, match="its class is a consumer-group-assignor and no task-assignor"):
        plugins.registry.task_assignor(uniform, may_run_code=True)


def test_a_kafka_without_the_interface_of_the_brokers_is_told(plugins: Plugins) -> None:
    lib = KAFKA_4_3.parent
    jars = ":".join(str(each) for name in ("clients", "group-coordinator") for each in lib.glob(f"kafka-{name}-4*.jar"))
    with pytest.raises(PluginLoadError, match=r"Kafka 4\.3\.1 has no org\.apache\.kafka\.coordinator\.group\.api"):
        plugins.registry.partition_assignor(
            "consumer-group-assignor", f"java:{BROKERS}.UniformAssignor@{jars}@{jars}", may_run_code=True
        )


def test_an_own_assignor_is_configured_and_its_faults_are_told(plugins: Plugins, tmp_path: Path) -> None:
    source = tmp_path / "Mine.java"
    source.write_text((Path(__file__).parent / "OwnPartitionAssignor.java.txt").read_text())
    jar = compiled([source], tmp_path)
    group = next(iter(read_scenarios(GOLDEN / "consumer-small.scenarios.jsonl.gz"))).content
    selector = f"java:lab.Mine@{jar}"
    found = plugins.registry.partition_assignor("consumer-assignor", selector, may_run_code=True)

    def failure(**configs: str) -> Any:
        return assignor_for(CONSUMER_CALLS, found, configs, plugins.isolation).ask(group).failure

    assert failure(mode="null").type == "InvalidAnswerError"
    assert (failure(mode="throw").type, failure(mode="throw").message) == ("IllegalStateException", "asked to")
    assert failure(mode="unknown").type == "InvalidAnswerError"
    assert "there is no member" in failure(mode="unknown").message
    assert failure(mode="nothing") is None
