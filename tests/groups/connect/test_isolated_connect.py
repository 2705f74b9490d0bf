from __future__ import annotations

import os
import time
from typing import Any

import pytest

from assignment_api.connect import ConnectAssignment, ConnectAssignor, Jobs, Rebalance, WorkerAssignment
from assignment_api.plugins import discover
from assignment_api.plugins.selection import config_sources
from assignor_lab.groups.runner.scorer import Scorer
from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.scoring.sources.reading import plan_sources
from assignor_lab.simulation.connect.named_episodes import EPISODES
from tests.groups.connect.states import history, member

pytestmark = [pytest.mark.slow, pytest.mark.long]

ALL = ("connect_eager", "connect_incremental", "connect_static")
HERE = "tests.groups.connect.test_isolated_connect:"
ONE = {"connectors": {"a": 1}, "members": [member("w1")]}
JOIN = history(
    "join",
    {"connectors": {"a": 3}, "members": [member("w1", "a a-0 a-1 a-2"), member("w2")]},
    {"connectors": {"a": 3}, "members": [member("w1", "a a-0 a-1"), member("w2")]},
    {"connectors": {"a": 3, "b": 2}, "members": [member("w1", "a a-0 a-1"), member("w2", "a-2")]},
)


def rows(source: Any, assignors: tuple[str, ...], *overrides: str) -> list[dict[str, Any]]:
    with plan_sources([source], discover()) as plan:
        config = config_sources(overrides=overrides, environ={})
        metrics = tuple(plan.kind.load().metrics(discover()))
        scorer = Scorer(JobSpec(assignors, metrics, config=config, may_run_code=True, kind=plan.kind))
        found = [row for item in plan.work() for row in scorer.rows(item)]
    found.sort(key=lambda row: (assignors.index(row["assignor"]), row["round"]))
    times = ("assign_ms", "assign_wall_ms", "build_ms", "metrics_ms")
    return [{key: value for key, value in row.items() if key not in times} for row in found]


class CountsItsCalls(ConnectAssignor):
    """Reports the number of its calls; its process ends at every third one."""

    def __init__(self) -> None:
        self.calls = 0

    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        if self.calls == 2 and rebalance.time_ms == 1_020:
            os._exit(4)
        self.calls += 1
        return ConnectAssignment({}, rejoin=self.calls < 3, remarks=(f"call {self.calls}",))


class SleepsForEver(ConnectAssignor):
    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        time.sleep(3_600)
        raise AssertionError


class GivesTwice(ConnectAssignor):
    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        return ConnectAssignment({worker.member_id: WorkerAssignment(Jobs(("a",))) for worker in rebalance.workers})


@pytest.mark.parametrize("name", sorted(EPISODES))
def test_where_an_assignor_runs_shows_in_no_row_of_an_episode(name: str) -> None:
    episode = EPISODES[name].document()
    assert rows(episode, ALL, "assignor.plugins.isolate=all") == rows(episode, ALL)


def test_where_an_assignor_runs_shows_in_no_row_of_a_history() -> None:
    names = (*ALL, f"{HERE}GivesTwice")
    own = rows(JOIN, names, "assignor.plugins.isolate=none")
    assert rows(JOIN, names, "assignor.plugins.isolate=all") == own
    assert [row["error_type"] for row in own[-3:]] == ["InvalidAnswerError"] * 3


def test_after_the_end_of_its_process_an_assignor_knows_its_past() -> None:
    found = rows(history("h", ONE, ONE, ONE, ONE, ONE), (f"{HERE}CountsItsCalls",))
    assert [row["remarks"] for row in found] == [["call 1"], ["call 2"], None, ["call 3"], ["call 4"]]
    assert [row["error_type"] for row in found] == [None, None, "ProcessDiedError", None, None]
    assert "exit code 4" in found[2]["error_message"]


def test_one_that_hangs_is_asked_once_in_a_history() -> None:
    found = rows(history("h", ONE, ONE, ONE), (f"{HERE}SleepsForEver", *ALL), "assignor.plugins.call.timeout.ms=300")
    assert [row["error_type"] for row in found[:3]] == ["DeadlineExceededError", "ExcludedError", "ExcludedError"]
    assert [row["error_type"] for row in found[3:]] == [None] * 9
