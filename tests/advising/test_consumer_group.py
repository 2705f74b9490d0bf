"""Advice for plain consumer groups: short rounds of eager groups, slow moves of cooperative ones, as measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from assignment_api.plugins import config_sources, discover
from assignor_lab.advising.configurations import (
    BATCH,
    DYNAMIC,
    HEARTBEAT,
    MEMBERS,
    PARTITION_STRATEGY,
    PROTOCOL,
    SESSION,
    STATIC,
)
from assignor_lab.advising.consumer_group import AdvisedConsumerGroup, advised_consumers, consumer_space
from assignor_lab.advising.days import Day, DayEvent
from assignor_lab.advising.mix import DEFAULT_MIX
from assignor_lab.cli.app import build_app
from assignor_lab.planning.making import Options
from assignor_lab.planning.plans import CALM
from assignor_lab.planning.predict import Terms
from assignor_lab.scenarios import Place, scenario_from_document
from tests.planning.consumer_groups import classic_group, written


@pytest.fixture(scope="module")
def group() -> AdvisedConsumerGroup:
    scenario = scenario_from_document(classic_group(strategies=["cooperative-sticky"]), Place("here"))
    terms = Terms(discover(), config_sources(None, [], environ={}))
    return advised_consumers(scenario, terms, Options(wait=CALM, down_ms=2_000))


def seconds(group: AdvisedConsumerGroup, kind: str, for_ms: int = 0, **changes: str) -> float:
    """Partition-seconds of one event."""
    present = consumer_space(group, DEFAULT_MIX).present
    keys = {"strategy": PARTITION_STRATEGY, "session": SESSION, "members": MEMBERS, "beat": HEARTBEAT}
    chosen = {**present, **{keys[name]: value for name, value in changes.items()}}
    figures = group.played(Day((DayEvent(kind, 0, 0, for_ms),), {kind: 1.0}), DEFAULT_MIX, chosen, present, "1")
    return figures.figures["task_seconds"] or 0.0


def test_an_eager_deployment_costs_less_than_half_of_a_cooperative_one(group: AdvisedConsumerGroup) -> None:
    cooperative = seconds(group, "roll")
    assert seconds(group, "roll", strategy="range") < cooperative / 2
    assert seconds(group, "roll", beat="1000") < cooperative / 2


def test_a_crash_costs_the_session_timeout(group: AdvisedConsumerGroup) -> None:
    assert 4 * 6 < seconds(group, "kill", session="10000") < 4 * 17 < seconds(group, "kill")
    assert seconds(group, "kill", members=STATIC) < 4 * 14


def test_an_added_consumer_leaves_again_and_a_short_stall_moves_nothing(group: AdvisedConsumerGroup) -> None:
    assert 3 < seconds(group, "scaling") < 30
    assert seconds(group, "stall", 4_000) == pytest.approx(16, abs=1)


def test_the_space_has_the_settings_of_consumers_and_no_doubles_without_effect(group: AdvisedConsumerGroup) -> None:
    space = consumer_space(group, DEFAULT_MIX)
    assert space.present == {
        PARTITION_STRATEGY: "cooperative-sticky", PROTOCOL: "classic", MEMBERS: DYNAMIC, SESSION: "45000",
        HEARTBEAT: "3000", BATCH: "1",
    }  # fmt: skip
    new = {**space.present, PROTOCOL: "consumer"}
    assert space.canonical({**new, SESSION: "6000", PARTITION_STRATEGY: "range", HEARTBEAT: "1000"}) == new


def test_forms_name_java_classes_two_rolls_and_instances(group: AdvisedConsumerGroup) -> None:
    forms = group.forms({PARTITION_STRATEGY: "cooperative-sticky", MEMBERS: STATIC, SESSION: "6000", BATCH: "2"})
    assert forms.properties == {
        PARTITION_STRATEGY: "org.apache.kafka.clients.consumer.CooperativeStickyAssignor", SESSION: "6000",
        HEARTBEAT: "2000",
    }  # fmt: skip
    assert forms.instances["c1"] == {MEMBERS: "c1"}
    assert "two rolling restarts" in forms.procedure[0]


def test_the_command_finds_that_cooperative_moves_cost_a_heartbeat_interval(tmp_path: Path) -> None:
    document = classic_group(strategies=["cooperative-sticky"])
    for member in document["members"]:
        member |= {"owned": document["observed"]["members"][member["id"]], "generation": 7}
    del document["observed"]
    state = written(tmp_path / "state.jsonl", document)
    mix = tmp_path / "mix.toml"
    mix.write_text("rolls_per_week = 14\n", "utf-8")
    words = ["advise", str(state), "--mix", str(mix), "--days", "3", "--configurations", "12", "--json"]
    fixed = ["--fix", "session.timeout.ms", "--fix", "group.protocol", "--fix", "group.instance.id"]
    done = CliRunner().invoke(build_app(), [*words, *fixed])
    assert done.exit_code == 0, done.output
    changes = json.loads(done.stdout)["changes"]
    assert HEARTBEAT in changes or changes[PARTITION_STRATEGY] in ("range", "roundrobin", "sticky")
