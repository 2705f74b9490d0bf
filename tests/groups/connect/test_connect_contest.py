"""Histories and episodes with Connect assignors, without Spark."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from assignment_api.connect import ConnectAssignment, ConnectAssignor, Rebalance
from assignment_api.plugins import discover
from assignment_api.plugins.selection import config_sources
from assignor_lab.groups.runner.scorer import Scorer
from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.scenarios import ScenarioKindError
from assignor_lab.scoring import Generated
from assignor_lab.scoring.contenders import found_contenders
from assignor_lab.scoring.sources.plan import NoSuchStateError
from assignor_lab.scoring.sources.reading import plan_sources
from assignor_lab.simulation.connect.episode_figures import episode_figures
from assignor_lab.simulation.connect.formats.episodes import read_episodes
from assignor_lab.simulation.connect.named_episodes import EPISODES
from assignor_lab.simulation.connect.simulate import assignors_from, simulate
from tests.groups.connect.states import history, member

pytestmark = [pytest.mark.slow, pytest.mark.long]

ALL = ("connect_eager", "connect_incremental", "connect_static")
# Everything is on w1; w2 is new. An even share of the tasks is two, so w1 gives one up; the next rebalance places it.
# An eager group stops all four jobs and distributes them again at once.
JOIN = history("join", {"connectors": {"a": 3}, "members": [member("w1", "a a-0 a-1 a-2"), member("w2")]})


class Raises(ConnectAssignor):
    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        raise ValueError(f"no idea about {len(rebalance.workers)} workers")


def rows(source: Mapping[str, Any], assignors: Sequence[str] = ALL, *overrides: str) -> dict[str, list[dict[str, Any]]]:
    with plan_sources([source], discover()) as plan:
        config = config_sources(overrides=overrides, environ={})
        metrics = tuple(plan.kind.load().metrics(discover()))
        scorer = Scorer(JobSpec(tuple(assignors), metrics, config=config, may_run_code=True, kind=plan.kind))
        found: dict[str, list[dict[str, Any]]] = {}
        for item in plan.work():
            for row in scorer.rows(item):
                found.setdefault(row["assignor"], []).append(row)
    return found


def test_a_worker_joins() -> None:
    found = rows(JOIN)
    eager, incremental, static = (found[name][0] for name in ALL)
    assert (incremental["jobs_stopped"], eager["jobs_stopped"]) == (1.0, 4.0)
    assert (incremental["jobs_unassigned"], eager["jobs_unassigned"]) == (1.0, 0.0)
    assert (incremental["rebalances"], eager["rebalances"]) == (1.0, 0.0)
    assert (incremental["rounds_to_stable"], eager["rounds_to_stable"]) == (2.0, 1.0)
    assert (incremental["followup"], eager["followup"]) == (True, False)
    assert (eager["clients"], eager["tasks"], eager["jobs_per_worker_range"]) == (2, 3, 0.0)
    assert (incremental["jobs_per_worker_range"], incremental["jobs_above_even_share"]) == (3.0, 1.0)
    assert static["answer_digest"] == incremental["answer_digest"] != eager["answer_digest"]


class CountsItsCalls(ConnectAssignor):
    """Requests a further rebalance twice, and reports the number of its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def assign(self, rebalance: Rebalance) -> ConnectAssignment:
        self.calls += 1
        return ConnectAssignment({}, rejoin=self.calls < 3, remarks=(f"call {self.calls}",))


@pytest.mark.slow
def test_what_follows_from_an_answer_leaves_the_assignor_as_it_was() -> None:
    one = {"connectors": {"a": 1}, "members": [member("w1")]}
    name = "tests.groups.connect.test_connect_contest:CountsItsCalls"
    found = rows(history("h", one, one, one), [name])[name]
    assert [row["rounds_to_stable"] for row in found] == [3.0, 2.0, 1.0]
    assert [row["remarks"] for row in found] == [["call 1"], ["call 2"], ["call 3"]]


@pytest.mark.slow
def test_every_failure_is_a_row_and_others_are_not_touched() -> None:
    raises = "tests.groups.connect.test_connect_contest:Raises"
    found = rows(JOIN, [raises, "connect_eager", "nowhere"])
    (row,) = found[raises]
    assert (row["error_type"], row["error_message"]) == ("ValueError", "no idea about 2 workers")
    assert row["jobs_stopped"] is None
    assert found["nowhere"][0]["error_type"] == "UnknownPluginError"
    assert found["connect_eager"][0]["error_type"] is None


def test_an_incremental_assignor_fails_in_each_round_of_an_eager_group() -> None:
    one = {"connectors": {"a": 1}, "members": [member("w1")]}
    found = rows(history("eager", one, one, protocol="eager"))
    assert [row["error_type"] for row in found["connect_incremental"]] == ["UnsupportedConnectProtocolError"] * 2
    assert [row["error_type"] for row in found["connect_eager"]] == [None, None]


@pytest.mark.slow
def test_explicit_configuration_replaces_the_scenarios() -> None:
    lost = [
        {"connectors": {"a": 2}, "members": [member("w1", "a a-0"), member("w2", "a-1")]},
        {"connectors": {"a": 2}, "members": [member("w1", "a a-0")]},
    ]
    waiting = rows(history("lost", *lost), ["connect_incremental"])["connect_incremental"][1]
    assert (waiting["jobs_unassigned"], waiting["rebalances"]) == (1.0, 1.0)
    at_once = rows(history("lost", *lost), ["connect_incremental"], "scheduled.rebalance.max.delay.ms=0")
    assert at_once["connect_incremental"][1]["jobs_unassigned"] == 0.0


@pytest.mark.slow
def test_an_episode_gives_the_figures_of_the_simulation() -> None:
    document = EPISODES["worker-leaves"].document()
    found = rows(document)
    played = simulate(read_episode_of(document), assignors_from(discover()))
    own = found["connect_incremental"][0]
    assert own["unavailable_task_seconds"] == episode_figures(played)["unavailable task-seconds"][0]
    assert own["episode_rebalances"] == episode_figures(played)["rebalances"][0]
    # Kafka waits five minutes for the missing worker; an eager group does not.
    assert found["connect_eager"][0]["unavailable_task_seconds"] < own["unavailable_task_seconds"]
    assert found["connect_eager"][0]["episode_jobs_stopped"] > own["episode_jobs_stopped"]


@pytest.mark.slow
def test_jobs_that_moved_in_an_episode_are_those_that_started_elsewhere() -> None:
    # Four jobs on each of three workers; one leaves for good, and the others keep their jobs.
    moved = rows(EPISODES["worker-leaves"].document())
    assert moved["connect_incremental"][0]["episode_jobs_moved"] == 4.0
    # It comes back within the delay, to its own jobs.
    stays = rows(EPISODES["worker-bounces"].document())
    assert stays["connect_incremental"][0]["episode_jobs_moved"] == 0.0
    assert stays["connect_eager"][0]["episode_jobs_moved"] > 0.0


def read_episode_of(document: Mapping[str, Any]) -> Any:
    return read_episodes(io.BytesIO(json.dumps(document).encode()))[0]


@pytest.mark.slow
def test_an_assignor_that_fails_in_an_episode_is_a_row() -> None:
    raises = "tests.groups.connect.test_connect_contest:Raises"
    (row,) = rows(EPISODES["worker-joins"].document(), [raises])[raises]
    assert row["error_type"] == "ValueError"


def test_one_run_has_one_kind() -> None:
    registry = discover()
    with pytest.raises(ScenarioKindError, match=r"of kind 'connect-episode', and the items before it .* 'connect'"):
        plan_sources([JOIN, EPISODES["worker-joins"].document()], registry)
    with pytest.raises(ScenarioKindError, match=r"of kind 'streams', and the items before it are of kind 'connect'"):
        plan_sources([JOIN, Generated("streams_4x40", 1)], registry)


def test_a_round_that_no_history_has_is_refused() -> None:
    with pytest.raises(NoSuchStateError, match="there are rounds 0 to 0"):
        plan_sources([JOIN], discover(), only_round=1)


def test_everybody_installed_for_connect_competes() -> None:
    assert sorted(one.name for one in found_contenders(discover(), kind="connect").assignors) == sorted(ALL)
