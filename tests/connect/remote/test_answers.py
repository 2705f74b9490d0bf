"""Whatever JSON a server sends, it is a value or a typed error."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from assignor_lab.connect.remote import ClusterState, NotConnectError, find, read_info, read_status
from assignor_lab.connect.remote.answers import read_expanded, read_names, read_server
from assignor_lab.connect.remote.findings import loads, trace_head
from assignor_lab.connect.remote.state import RemoteWorker, state_of

KEYS = (
    "name",
    "connector",
    "tasks",
    "type",
    "id",
    "task",
    "state",
    "worker_id",
    "trace",
    "version",
    "status",
    "info",
    "config",
)
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(["FAILED", "w:1"])
)
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=3), inner, max_size=6)
    ),
    max_leaves=25,
)
INSTANCE = st.fixed_dictionaries(
    {
        "state": st.sampled_from(["RUNNING", "FAILED", "UNASSIGNED", "RESTARTING", "ODD"]),
        "worker_id": st.sampled_from(["a:1", "b:1"]),
    },
    optional={"trace": st.text(max_size=20) | st.none(), "version": st.none() | st.text(max_size=3)},
)
TASK = st.builds(lambda number, instance: {"id": number, **instance}, st.integers(0, 4), INSTANCE)
STATUS = st.fixed_dictionaries({"name": st.just("c"), "connector": INSTANCE, "tasks": st.lists(TASK, max_size=4)})
INFO = st.fixed_dictionaries({
    "name": st.just("c"),
    "config": st.just({}),
    "tasks": st.lists(st.integers(0, 4).map(lambda number: {"connector": "c", "task": number}), max_size=4),
})  # fmt: skip
EXPANDED = st.dictionaries(
    st.text(max_size=3), st.fixed_dictionaries({}, optional={"status": STATUS, "info": INFO}), max_size=3
)


@given(JSON)
def test_any_json_is_a_value_or_a_typed_error(value: Any) -> None:
    readers: list[Callable[[Any], object]] = [
        read_status, read_info,
        lambda each: read_server(each, "x"), lambda each: read_names(each, "x"), lambda each: read_expanded(each, "x"),
    ]  # fmt: skip
    for read in readers:
        with contextlib.suppress(NotConnectError):
            read(value)


@given(EXPANDED)
def test_any_cluster_has_findings(value: Any) -> None:
    connectors = state_of(read_expanded(value, "x") or {})
    named = sorted({each.worker_id for connector in connectors for each in connector.instances()})
    workers = tuple(RemoteWorker(name, name == "a:1", "is silent") for name in named)
    state = ClusterState("http://x", "1", "k", 0, connectors, workers, {})
    failed = [finding for finding in find(state) if finding.kind == "failed"]
    assert all(finding.connector in value for finding in failed)
    held = loads(state)
    assert all(name in held for name in named)


@given(st.text())
def test_a_trace_has_a_short_head(trace: str) -> None:
    assert 0 < len(trace_head(trace)) <= 420
