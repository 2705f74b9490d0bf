from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from assignment_api.connect import ConnectProtocol
from assignment_api.plugins import discover
from assignor_lab.simulation.connect.client import ClientOperation
from assignor_lab.simulation.connect.cluster import AssignorFactory, SimulatedCluster
from assignor_lab.simulation.connect.simulate import assignors_from
from assignor_lab.simulation.connect.worker_settings import WorkerSettings
from calibration.connect.small_benchmark import small_benchmark
from calibration.connect.small_constants import derive_constants, derived_constants
from calibration.connect.small_experiment import recorded_small

TIMELINES = Path(__file__).parents[1] / "data" / "captures" / "timelines"

#: Counts of events that are chance in one run: tasks with one more start or stop.
CHANCE = {("create", "task_stops"), ("delete", "task_starts")}


@pytest.fixture(scope="module")
def assignors() -> AssignorFactory:
    return assignors_from(discover())


@pytest.fixture(scope="module")
def rows(assignors: AssignorFactory) -> list[dict[str, Any]]:
    return [dict(row) for row in small_benchmark(assignors)[0].rows]


def timeline(protocol: str) -> Any:
    return json.loads(gzip.decompress((TIMELINES / f"blog-small-{protocol}.json.gz").read_bytes()))


def test_the_constants_are_those_that_the_recordings_show() -> None:
    timelines = {protocol: timeline(protocol) for protocol in ("eager", "sessioned")}
    assert derive_constants(timelines) == derived_constants()


@pytest.mark.parametrize("protocol", ["eager", "sessioned"])
def test_the_figures_shown_as_recorded_are_those_of_the_recording(protocol: str) -> None:
    summary = timeline(protocol)["summary"]
    assert [{key: value for key, value in phase.items() if key != "t"} for phase in summary] == recorded_small()[
        protocol
    ]


@pytest.mark.slow
def test_rebalances_are_within_a_tenth_and_times_and_task_seconds_within_three(rows: list[dict[str, Any]]) -> None:
    outside = {(row["phase"], row["figure"]) for row in rows if row["within"] != "yes"}
    assert len(rows) > 50
    assert outside <= CHANCE


@pytest.mark.slow
def test_what_is_chance_in_the_recording_lies_between_the_plays(rows: list[dict[str, Any]]) -> None:
    chance = [row for row in rows if row["protocol"] == "sessioned" and (row["phase"], row["figure"]) in CHANCE]
    assert len(chance) == len(CHANCE)
    assert all(row["lowest"] <= row["recorded"] <= row["highest"] for row in chance)


@pytest.mark.slow
def test_after_a_kill_eager_loses_fewer_task_seconds_than_sessioned_with_its_delay(rows: list[dict[str, Any]]) -> None:
    lost = {
        row["protocol"]: row
        for row in rows
        if row["phase"].startswith("kill") and row["figure"] == "task_seconds_stopped"
    }
    assert lost["eager"]["highest"] < lost["sessioned"]["lowest"]


def test_under_eager_a_worker_stops_the_tasks_of_its_own_connectors_first(assignors: AssignorFactory) -> None:
    cluster = SimulatedCluster(assignors)
    for name in ("w1", "w2"):
        cluster.start_worker(name, WorkerSettings(ConnectProtocol.EAGER))
    cluster.run_until(3_600_000, until_calm=True)
    cluster.request([ClientOperation("create", name, 20) for name in ("a", "b")])
    cluster.run_until(cluster.now + 3_600_000, until_calm=True)
    cluster.request([ClientOperation("delete", "a")])
    cluster.run_until(cluster.now + 3_600_000, until_calm=True)
    stops: dict[str, dict[str, list[int]]] = {"w1": {"a": [], "b": []}, "w2": {"a": [], "b": []}}
    for job, runs in cluster.runs.runs.items():
        if not isinstance(job, str):
            stopped = next(run for run in reversed(runs) if run.end_ms is not None)
            stops[stopped.worker][job.connector].append(stopped.end_ms or 0)
    assert max(stops["w1"]["a"]) <= min(stops["w1"]["b"])
    assert max(stops["w2"]["b"]) <= min(stops["w2"]["a"])
