"""Any JSON from a server gives a value or a typed error."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignor_lab.connect.remote import ClusterState, NotConnectError, find, read_info, read_status
from assignor_lab.connect.remote.answers import read_expanded, read_names, read_server
from assignor_lab.connect.remote.findings import loads, trace_head
from assignor_lab.connect.remote.state import RemoteWorker, state_of
from connect_workers.instances.connector_run import traceback_text

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


def failing(depth: int = 0) -> None:
    if depth:
        failing(depth - 1)
    raise ConnectionError("no route to db\nsecond line")


def wrapping() -> None:
    try:
        failing()
    except ConnectionError as error:
        raise RuntimeError("task gave up") from error


@pytest.mark.parametrize(
    ("call", "head"),
    [
        (failing, "ConnectionError: no route to db"),
        (wrapping, "RuntimeError: task gave up; Caused by: ConnectionError: no route to db"),
        (lambda: int("x" * 20_000), f"ValueError: invalid literal for int() with base 10: '{'x' * 200}"[:200]),
        (lambda: compile("1 +", "f", "eval"), "SyntaxError: invalid syntax"),
    ],
)
def test_the_head_of_our_own_trace_is_the_error(call: Callable[[], object], head: str) -> None:
    with pytest.raises(Exception) as failed:
        call()
    assert trace_head(traceback_text(failed.value)) == head


def test_the_error_of_a_long_trace_is_kept() -> None:
    error: Exception = KeyError("first")
    for number in range(300):
        try:
            raise RuntimeError(f"error {number}") from error
        except RuntimeError as raised:
            error = raised
    text = traceback_text(error)
    assert len(text) < 17_000
    assert trace_head(text).startswith("RuntimeError: error 299")


def test_the_head_of_a_java_trace_is_its_first_line_and_the_innermost_cause() -> None:
    trace = "org.E: outer\n\tat a.B(C.java)\nCaused by: java.F: middle\n\t... 3 more\nCaused by: java.G: inner\n"
    assert trace_head(trace) == "org.E: outer; Caused by: java.G: inner"
    assert trace_head("Traceback (most recent call last):\n  File 'x', line 1") == "File 'x', line 1"


@given(st.text())
def test_a_trace_has_a_short_head(trace: str) -> None:
    assert 0 < len(trace_head(trace)) <= 420
