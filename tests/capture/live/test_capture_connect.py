"""Data of Connect's workers in a captured group, in addition to its brokers'."""

from __future__ import annotations

from typing import Any

from assignor_lab.capture.live.capture import put_configured
from assignor_lab.capture.recorded.connect.histories import CONFIGURED_UNKNOWN
from assignor_lab.connect.remote import RemoteConnector


def document(**connectors: int) -> dict[str, Any]:
    return {"rounds": [{"connectors": connectors}], "assumptions": [CONFIGURED_UNKNOWN, "something else"]}


def test_what_is_configured_and_runs_nowhere_is_told_by_workers() -> None:
    told = document(a=1)
    put_configured(told, [RemoteConnector("a", "sink", (0, 1), None), RemoteConnector("b", "sink", (), None)])
    assert told == {"rounds": [{"connectors": {"a": 2, "b": 0}}], "assumptions": ["something else"]}


def test_workers_of_another_cluster_change_nothing_and_that_is_said() -> None:
    told = document(a=1)
    put_configured(told, [RemoteConnector("b", "sink", (0,), None)])
    assert told["rounds"] == [{"connectors": {"a": 1}}]
    assert CONFIGURED_UNKNOWN in told["assumptions"]
    assert "do not know connector a" in told["assumptions"][-1]
