"""Plays of ``assignor plan`` on a real Spark session."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from assignment_api.plugins import ConfigSources, config_sources, discover
from assignor_lab.advising.advice import Effort, player
from assignor_lab.advising.figures import cost_from, document_of_cost
from assignor_lab.advising.mix import DEFAULT_MIX
from assignor_lab.advising.space import space_of
from assignor_lab.advising.streams_group import AdvisedStreamsGroup
from assignor_lab.planning import Options, Terms, predict_from, present_state, roll_plan
from assignor_lab.planning.measured import play_document, play_from
from assignor_lab.scenarios import read_scenarios
from assignor_lab.scoring.spark.plays import PlayFailedError, plays_on_spark
from tests.advising.groups import recorded_group

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

P1 = Path(__file__).parents[1] / "data" / "captures" / "plans" / "P1" / "capture.jsonl"


def terms(sources: ConfigSources, assignor: str | None = None) -> Terms:
    return Terms(discover(), sources, {"session.timeout.ms": 10_000}, assignor=assignor)


def test_plays_on_spark_equal_those_of_this_process(spark: SparkSession) -> None:
    (scenario,) = read_scenarios(P1)
    known = terms(config_sources(environ={}))
    state = present_state(scenario, known.settings)
    plan = roll_plan(state, Options(start_ms=2_200))
    runs = partial(plays_on_spark, spark, written=play_document, read=play_from, tasks=1)
    assert predict_from(state, plan, known, plays=6, runs=runs) == predict_from(state, plan, known, plays=6)


def test_a_play_that_cannot_be_fails_with_its_reason(spark: SparkSession) -> None:
    (scenario,) = read_scenarios(P1)
    unknown = terms(config_sources(environ={}), "absent")
    state = present_state(scenario, unknown.settings)
    runs = partial(plays_on_spark, spark, written=play_document, read=play_from, tasks=1)
    with pytest.raises(PlayFailedError, match="absent"):
        predict_from(state, roll_plan(state, Options()), unknown, plays=1, runs=runs)


def test_days_of_advice_on_spark_equal_those_of_this_process(spark: SparkSession) -> None:
    subject = recorded_group("P1")
    group, space, effort = AdvisedStreamsGroup(subject), space_of(subject, DEFAULT_MIX), Effort()
    runs = partial(plays_on_spark, spark, written=document_of_cost, read=cost_from, tasks=1)
    plays = [(each, day) for each in space.configurations(3, 0) for day in range(2)]
    here, there = (list(player(group, DEFAULT_MIX, space, effort, 1, runs=each)(plays)) for each in (None, runs))
    assert there == here
