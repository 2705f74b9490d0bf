"""Metrics and observers of plugins with groups of the streams protocol."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assignment_api.plugins import Registry, discover
from assignor_lab.groups.entries import kind_named
from assignor_lab.groups.runner.measures import plugin_columns
from assignor_lab.groups.runner.scorer import Scorer
from assignor_lab.groups.runner.terms import JobSpec
from assignor_lab.groups.work import WorkItem
from tests.plugins.installing import installed_in, write_distribution

WATCHING = """
    from assignment_api.plugins import MetricPlugin, hookimpl

    seen = []

    @hookimpl
    def assignor_lab_group_assignment_computed(assignor, group, assignment, failure):
        seen.append((assignor, len(group.members), assignment is not None, failure))
        raise RuntimeError("tired of watching")

    def largest_target(group, topology, assignment):
        return max(sum(map(len, target.active_tasks.values())) for target in assignment.members.values())

    def fails(group, topology, assignment):
        raise ZeroDivisionError("no \\ud800 idea")

    def metric(name, compute=largest_target, kind="streams-group"):
        return MetricPlugin(name, "tasks", "lower", "Tasks of the busiest member.", compute, kind=kind)

    @hookimpl
    def assignor_lab_metrics():
        return [
            metric("largest_target"),
            metric("tasks_active_twice"),
            metric("members"),
            metric("fails", fails),
            metric("endless", lambda *_: float("inf")),
            metric("of_streams", lambda *_: 1.0, "streams"),
        ]
"""
DOCUMENT = (
    '{"format":1,"kind":"streams-group","id":"g","config":{"num.standby.replicas":0},'
    '"subtopologies":[{"id":"0","tasks":5,"stateful":true}],"members":[%s]}'
)
MEMBER = (
    '{"id":"%s","instance_id":null,"rack":null,"process_id":"%s","tags":{},"active":{},"standby":{},"warmup":{},'
    '"task_offsets":{},"task_end_offsets":{}}'
)


def item(*members: str) -> WorkItem:
    document = DOCUMENT % ",".join(MEMBER % (member, f"p{member}") for member in members)
    return WorkItem(0, 0, document=document, file="groups.jsonl", line=1)


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "a_group_watching_plugin", raising=False)
    write_distribution(tmp_path, "watching", {"a_group_watching_plugin": WATCHING}, {"w": "a_group_watching_plugin"})
    yield discover(installed=installed_in(tmp_path))
    sys.modules.pop("a_group_watching_plugin", None)


def test_a_metric_of_the_kind_is_a_column_of_it_alone(registry: Registry) -> None:
    columns = list(kind_named("streams-group").metrics(registry))
    assert columns[-5:] == ["largest_target", "watching:tasks_active_twice", "watching:members", "fails", "endless"]
    assert "largest_target" not in kind_named("connect").metrics(registry)
    assert "largest_target" not in plugin_columns(registry, "streams")
    assert "of_streams" not in columns


def test_it_takes_what_the_assignor_is_given_and_its_answer(registry: Registry) -> None:
    names = ("active_tasks_per_member_range", "largest_target", "watching:members")
    (row,) = Scorer(JobSpec(("group_sticky",), names, kind="streams-group"), registry).rows(item("a", "b"))
    assert (row["active_tasks_per_member_range"], row["largest_target"], row["watching:members"]) == (1.0, 3.0, 3.0)
    assert (row["members"], row["metric_errors"]) == (2, None)


def test_one_that_fails_has_no_figure_and_a_reason(registry: Registry) -> None:
    names = ("fails", "endless", "elsewhere", "tasks_not_assigned")
    (row,) = Scorer(JobSpec(("group_sticky",), names, kind="streams-group"), registry).rows(item("a"))
    assert [row[name] for name in names] == [None, None, None, 0.0]
    first, second, third = row["metric_errors"]
    assert first == "fails: ZeroDivisionError: no \\ud800 idea"
    assert second.startswith("endless: ValueError: the metric returned inf")
    assert third.startswith("elsewhere: UnknownPluginError: ")


def test_observers_see_every_answer_and_change_nothing(registry: Registry, capsys: pytest.CaptureFixture[str]) -> None:
    scorer = Scorer(JobSpec(("group_sticky",), (), kind="streams-group"), registry)
    answered, refused = scorer.rows(item("a", "b")), scorer.rows(item())
    seen = sys.modules["a_group_watching_plugin"].seen
    assert seen[0] == ("group_sticky", 2, True, None)
    assert seen[1][:3] == ("group_sticky", 0, False)
    assert "No process available" in seen[1][3]
    assert [row["error_type"] for row in (*answered, *refused)] == [None, "GroupAssignorError"]
    assert capsys.readouterr().err == "assignor: observer w of watching: RuntimeError: tired of watching\n"
