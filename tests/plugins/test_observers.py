"""Observers receive every answer, and cannot change it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from assignment_api import (
    ApplicationMetadata,
    AssignmentConfigs,
    AssignmentError,
    LagsNotComputedError,
    ProcessID,
    StreamsClientState,
    TaskAssignment,
)
from assignment_api.group import GroupAssignment, GroupSpec, TopologyDescriber
from assignment_api.plugins import discover
from tests.plugins.installing import installed_in, write_distribution

OBSERVER = """
    from assignment_api.plugins import hookimpl

    seen = []

    @hookimpl
    def assignor_lab_assignment_computed(assignor, application, error):
        seen.append((assignor, application, error))
"""
FAILING = """
    from assignment_api.plugins import hookimpl

    @hookimpl
    def assignor_lab_assignment_computed():
        raise SystemExit(3)
"""


def test_a_failing_observer_is_reported_and_the_others_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    modules = {"a_failing_observer": FAILING, "an_observer": OBSERVER}
    for name in modules:
        monkeypatch.delitem(sys.modules, name, raising=False)
    write_distribution(tmp_path, "failing", {"a_failing_observer": FAILING}, {"a": "a_failing_observer"})
    write_distribution(tmp_path, "watching", {"an_observer": OBSERVER}, {"b": "an_observer"})
    registry = discover(installed=installed_in(tmp_path))
    process = ProcessID.parse("00000000-0000-0000-0000-000000000001")
    application = ApplicationMetadata(AssignmentConfigs(), [], [StreamsClientState(process, 1, lags={})])
    application.compute_task_lags()

    rows = registry.notify_assignment_computed("sticky", application, TaskAssignment([]), AssignmentError.NONE)

    assert [(row.distribution, row.reason) for row in rows] == [("failing", "SystemExit: 3")]
    ((assignor, shown, error),) = sys.modules["an_observer"].seen
    assert (assignor, error) == ("sticky", AssignmentError.NONE)
    with pytest.raises(LagsNotComputedError):
        shown.streams_client_states()[process].stateful_tasks_to_lag_sums()


GROUP_OBSERVER = """
    from assignment_api.plugins import hookimpl

    seen = []

    @hookimpl
    def assignor_lab_group_assignment_computed(assignor, group, topology, assignment, failure):
        seen.append((assignor, group, topology, assignment, failure))
"""
FAILING_GROUP_OBSERVER = """
    from assignment_api.plugins import hookimpl

    @hookimpl
    def assignor_lab_group_assignment_computed(failure):
        raise RuntimeError(failure)
"""


def test_observers_of_broker_side_answers_are_told_of_answers_and_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    modules = {"a_failing_group_observer": FAILING_GROUP_OBSERVER, "a_group_observer": GROUP_OBSERVER}
    for number, (name, source) in enumerate(modules.items()):
        monkeypatch.delitem(sys.modules, name, raising=False)
        write_distribution(tmp_path, f"watching-{number}", {name: source}, {"a": name})
    registry = discover(installed=installed_in(tmp_path))
    group, topology, answer = GroupSpec({}), TopologyDescriber([]), GroupAssignment({})

    rows = registry.notify_group_assignment_computed("group_sticky", group, topology, answer)
    rows += registry.notify_group_assignment_computed("group_sticky", group, topology, None, "no members")

    assert [row.reason for row in rows] == ["RuntimeError: None", "RuntimeError: no members"]
    assert [row.kind for row in registry.listing() if row.distribution.startswith("watching")] == ["group-observer"] * 2
    assert sys.modules["a_group_observer"].seen == [
        ("group_sticky", group, topology, answer, None),
        ("group_sticky", group, topology, None, "no members"),
    ]
