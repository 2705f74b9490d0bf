"""Histories of Connect families in the contest: each assignor continues from its own answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from assignment_api.plugins import PluginDefinitionError, ScenarioFamily, discover
from assignor_lab.groups.connect.kind import CONNECT
from assignor_lab.groups.runner.scorer import Scorer
from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.groups.work import WorkItem
from assignor_lab.scoring.contenders import kind_of_assignors
from assignor_lab.scoring.sources.parts import Generated
from assignor_lab.scoring.sources.reading import family_names, plan_sources

FAMILY = "connect_rolling_restart"
ASSIGNORS = ("connect_eager", "connect_incremental")


def rows_of(seed: int, *assignors: str, family: str = FAMILY) -> list[dict[str, Any]]:
    rows = scorer(*assignors, family=family).rows(WorkItem(0, 0, family=family, seed=seed))
    return sorted(rows, key=lambda row: (assignors.index(row["assignor"]), row["round"]))


def scorer(*assignors: str, family: str = FAMILY) -> Scorer:
    return Scorer(JobSpec(assignors, tuple(CONNECT.metrics(discover())), (family,), kind="connect"))


def test_there_is_a_row_for_each_round_and_assignor() -> None:
    rows = rows_of(2, *ASSIGNORS)
    assert [(row["assignor"], row["round"]) for row in rows] == [(name, n) for name in ASSIGNORS for n in range(11)]
    assert {(row["family"], row["seed"], row["error_type"]) for row in rows} == {(FAMILY, 2, None)}


@pytest.mark.slow
def test_each_assignor_goes_on_from_its_own_answer() -> None:
    for seed in range(10):
        rows = rows_of(seed, *ASSIGNORS)
        eager, incremental = (sum(row["jobs_stopped"] for row in rows if row["assignor"] == name) for name in ASSIGNORS)
        assert eager > incremental
        last = [row["jobs_unassigned"] for row in rows if row["round"] == 10]
        assert last == [0.0, 0.0]


@pytest.mark.slow
def test_alone_an_assignor_has_the_rows_that_it_has_beside_others() -> None:
    def own(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        times = ("assign_ms", "assign_wall_ms", "build_ms", "metrics_ms")
        return [
            {key: value for key, value in row.items() if key not in times}
            for row in rows
            if row["assignor"] == "connect_incremental"
        ]

    assert own(rows_of(5, *ASSIGNORS)) == own(rows_of(5, "connect_incremental"))


@pytest.mark.slow
def test_a_family_that_is_not_here_is_a_failed_row() -> None:
    rows = rows_of(0, "connect_incremental", family="elsewhere")
    assert [row["error_type"] for row in rows] == ["PluginLoadError"]


@pytest.mark.slow
def test_a_family_that_fails_in_mid_history_leaves_no_row_out() -> None:
    class Failing:
        def __init__(self, seed: int) -> None:
            self.inner = installed(FAMILY).history(seed)

        def round(self, number: int, previous: Any) -> Mapping[str, Any]:
            if number == 4:
                raise RuntimeError("no more")
            return self.inner.round(number, previous)

    contest = scorer("connect_incremental").contest
    broken = attrs.evolve(contest, families={FAMILY: attrs.evolve(installed(FAMILY), history=Failing)})
    failures = [answer.outcome.failure for answer in broken.answers(WorkItem(0, 0, family=FAMILY, seed=1))]
    assert [failure and failure.type for failure in failures] == [None] * 4 + ["RuntimeError"] * 7


def installed(name: str) -> ScenarioFamily:
    return discover().family(name).plugin


def test_all_families_are_those_of_the_kind_that_the_assignors_answer() -> None:
    registry = discover()
    of_connect = family_names(registry, ["all"], ASSIGNORS)
    of_streams = family_names(registry, ["all"], ["sticky", "rack_aware"])
    assert {"connect_histories", FAMILY} <= set(of_connect)
    assert {"streams_histories", "streams_4x40", "steady_state", "adversarial"} <= set(of_streams)
    assert not set(of_connect) & set(of_streams)
    assert family_names(registry, ["all"]) == of_streams
    assert kind_of_assignors(registry, ["kafka"]).name == "streams"


def test_a_run_of_connect_families_is_of_their_kind() -> None:
    with plan_sources([Generated(FAMILY, 3)], discover()) as plan:
        assert plan.kind.name == "connect"
        assert [item.seed for item in plan.work()] == [0, 1, 2]


def test_a_family_of_no_known_kind_is_refused() -> None:
    with pytest.raises(PluginDefinitionError, match="none of 'streams', 'connect'"):
        ScenarioFamily("x", "", 1, lambda _seed: installed(FAMILY).history(0), kind="kafka")  # type: ignore[arg-type]
