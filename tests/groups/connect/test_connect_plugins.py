from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assignment_api.plugins import MetricPlugin, PluginDefinitionError, Registry, discover
from assignor_lab.groups.entries import kind_named
from assignor_lab.groups.runner.measures import plugin_columns
from assignor_lab.groups.runner.scorer import Scorer
from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.scoring.output.summary_file import picture_document
from assignor_lab.scoring.sources.reading import plan_sources
from assignor_lab.simulation.connect.named_episodes import EPISODES
from tests.groups.connect.states import history, member
from tests.plugins.installing import installed_in, write_distribution

WATCHING = """
    from assignment_api.plugins import MetricPlugin, hookimpl

    seen = []

    @hookimpl
    def assignor_lab_connect_assignment_computed(assignor, rebalance, assignment, failure):
        seen.append((assignor, len(rebalance.workers), assignment is not None, failure))
        raise RuntimeError("tired of watching")

    def most_tasks(rebalance, assignment):
        return max(len(jobs.tasks) for jobs in assignment.owned_after(rebalance).values())

    @hookimpl
    def assignor_lab_metrics():
        return [
            MetricPlugin("most_tasks", "tasks", "lower", "Tasks of the busiest worker.", most_tasks, kind="connect"),
            MetricPlugin("jobs_stopped", "jobs", "lower", "A name of ours.", most_tasks, kind="connect"),
            MetricPlugin("of_streams", "tasks", "lower", "Not for Connect.", lambda application, assignment: 1.0),
        ]
"""
FAILING = """
    from assignment_api.plugins import MetricPlugin, hookimpl

    def fails(rebalance, assignment):
        raise ZeroDivisionError("no \\ud800 idea")

    @hookimpl
    def assignor_lab_metrics():
        return [
            MetricPlugin("fails", "1", "none", "", fails, kind="connect"),
            MetricPlugin("endless", "1", "none", "", lambda rebalance, assignment: float("inf"), kind="connect"),
        ]
"""
JOIN = history("join", {"connectors": {"a": 3}, "members": [member("w1", "a a-0 a-1 a-2"), member("w2")]})


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "a_watching_plugin", raising=False)
    write_distribution(tmp_path, "watching", {"a_watching_plugin": WATCHING}, {"w": "a_watching_plugin"})
    yield discover(installed=installed_in(tmp_path))
    sys.modules.pop("a_watching_plugin", None)


def test_a_metric_of_kind_connect_is_a_column_of_histories_alone(registry: Registry) -> None:
    columns = kind_named("connect").metrics(registry)
    assert list(columns)[-2:] == ["most_tasks", "watching:jobs_stopped"]
    assert "most_tasks" not in kind_named("connect-episode").metrics(registry)
    assert "of_streams" not in columns
    assert "of_streams" in plugin_columns(registry, "streams")
    assert "most_tasks" not in plugin_columns(registry, "streams")


@pytest.mark.slow
def test_it_takes_the_rebalance_and_the_answer(registry: Registry) -> None:
    spec = JobSpec(("connect_incremental",), ("jobs_stopped", "most_tasks", "watching:jobs_stopped"), kind="connect")
    with plan_sources([JOIN], registry) as plan:
        (row,) = Scorer(spec, registry).rows(next(iter(plan.work())))
    assert (row["jobs_stopped"], row["most_tasks"], row["watching:jobs_stopped"]) == (1.0, 2.0, 2.0)
    assert row["metric_errors"] is None


def test_one_that_fails_has_no_figure_and_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "a_failing_plugin", raising=False)
    write_distribution(tmp_path, "failing", {"a_failing_plugin": FAILING}, {"f": "a_failing_plugin"})
    registry = discover(installed=installed_in(tmp_path))
    spec = JobSpec(("connect_eager",), ("fails", "endless", "jobs_unassigned"), kind="connect")
    with plan_sources([JOIN], registry) as plan:
        (row,) = Scorer(spec, registry).rows(next(iter(plan.work())))
    assert (row["fails"], row["endless"], row["jobs_unassigned"]) == (None, None, 0.0)
    first, second = row["metric_errors"]
    assert first == "fails: ZeroDivisionError: no \\ud800 idea"
    assert second.startswith("endless: ValueError: the metric returned inf")


def test_observers_see_every_answer_and_change_nothing(registry: Registry, capsys: pytest.CaptureFixture[str]) -> None:
    seen = sys.modules["a_watching_plugin"].seen
    eager = history("eager", {"connectors": {"a": 1}, "members": [member("w1")]}, protocol="eager")
    for document, kind in (
        (JOIN, "connect"),
        (eager, "connect"),
        (EPISODES["worker-leaves"].document(), "connect-episode"),
    ):
        seen.clear()
        spec = JobSpec(("connect_incremental",), (), kind=kind)
        with plan_sources([document], registry) as plan:
            (row,) = Scorer(spec, registry).rows(next(iter(plan.work())))
        if document is JOIN:
            assert seen == [("connect_incremental", 2, True, None)]
        elif document is eager:
            ((name, workers, answered, failure),) = seen
            assert (name, workers, answered) == ("connect_incremental", 1, False)
            assert "cannot lead a group that speaks eager" in failure
        else:
            # The group forms with all three; then one leaves, and the two others wait for it, and continue.
            assert [workers for _, workers, _, _ in seen][-2:] == [2, 2]
            assert row["error_type"] is None
    said = capsys.readouterr().err.splitlines()
    assert said == ["assignor: observer w of watching: RuntimeError: tired of watching"] * 3


def test_the_pictures_of_a_rebalance() -> None:
    contest = Scorer(JobSpec(("connect_eager", "connect_incremental"), (), kind="connect"))
    with plan_sources([JOIN], discover()) as plan:
        ((number, shown_picture),) = contest.pictures(next(iter(plan.work())), {(0, 0): None})
        picture = picture_document(shown_picture)
    assert (number, picture["scenario"], picture["kind"]) == (0, "join", "connect")
    sizes = [(worker["id"], worker["connectors"], worker["tasks"]) for worker in picture["workers"]]
    assert sizes == [("w1", 1, 3), ("w2", 0, 0)]
    eager, incremental = picture["answers"]
    assert (eager["stops_all"], incremental["stops_all"], incremental["rounds"]) == (True, False, 2)
    w1, w2 = incremental["workers"]
    assert (w1["tasks"], w1["stops"], w1["starts"], w2["tasks"]) == (2, ["a-0"], [], 0)
    assert [(each["connectors"], each["tasks"], each["starts"]) for each in eager["workers"]] == [
        (1, 1, []),
        (0, 2, ["a-0", "a-2"]),
    ]
    json.dumps(picture)


@pytest.mark.slow
def test_the_pictures_of_an_episode() -> None:
    contest = Scorer(JobSpec(("connect_eager", "nowhere"), (), kind="connect-episode"))
    with plan_sources([EPISODES["worker-leaves"].document()], discover()) as plan:
        ((_, shown_picture),) = contest.pictures(next(iter(plan.work())), {(0, 0): "connect_eager"})
        picture = picture_document(shown_picture)
    assert (picture["kind"], picture["workers"]) == ("connect-episode", [])
    eager, nowhere = picture["answers"]
    assert eager["timeline"][0].startswith("worker1  ")
    assert eager["rebalances"][0]["protocol"] == "eager"
    (left,) = eager["gantt"]["changes"]
    assert (left["change"], left["instance"]) == ("stop", "worker2")
    assert (eager["workers"], eager["rebalances_left_out"]) == (None, 0)
    assert (nowhere["error"]["type"], nowhere["timeline"]) == ("UnknownPluginError", [])


def test_there_is_no_third_kind() -> None:
    with pytest.raises(PluginDefinitionError, match="none of 'streams', 'connect'"):
        MetricPlugin("m", "1", "none", "", lambda *_: 1.0, kind="episode")  # type: ignore[arg-type]
