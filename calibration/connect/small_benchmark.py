"""The small experiment as recorded on real Kafka Connect 4.3.1, beside its simulated plays.

The recording is one partly random run: some tasks were stopped again because their configurations arrived while a
worker was joining, which affected the balance. So it is compared with mean, lowest and highest of many plays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from assignment_api.connect import ConnectProtocol
from assignor_lab.simulation.connect.cluster import AssignorFactory
from assignor_lab.simulation.connect.published.benchmark import BenchmarkTable
from calibration.connect.small_constants import CONSTANTS, derived_constants
from calibration.connect.small_experiment import recorded_small, run_small, setup_of

__all__ = ["BANDS", "PLAYS", "small_benchmark"]

#: Number of plays by seed; under ``eager`` they differ little.
PLAYS: Mapping[str, int] = {"eager": 11, "sessioned": 61}

#: Largest accepted distance of the plays' mean from the recording.
BANDS: Mapping[str, float] = {
    "request_ms_median": 0.3,
    "request_ms_max": 0.3,
    "all_answered_ms": 0.3,
    "all_running_ms": 0.3,
    "empty_ms": 0.3,
    "tasks_on_it": 0.0,
    "noticed_ms": 0.3,
    "back_in_group_ms": 0.3,
    "rebalances": 0.1,
    "task_starts": 0.3,
    "task_stops": 0.3,
    "task_seconds_stopped_after_first_start": 0.3,
    "task_seconds_from_answer_to_first_start": 0.3,
    "task_seconds_stopped": 0.3,
    "of_tasks_on_the_killed_worker": 0.3,
    "of_other_tasks": 0.3,
    "task_seconds_stopped_before_own_delete": 0.3,
    "task_seconds_running_after_the_answer": 0.3,
}

#: Settings that affect the result, besides the constants.
_SETTINGS: Sequence[tuple[str, str, str]] = (
    ("the leader, the killed worker, the times of its detection and restart", "as recorded", "chance; taken as it was"),
    ("heartbeats, session, delay", "3, 10, 30 s", "the experiment's configuration"),
)


def small_benchmark(assignors: AssignorFactory, seed: int = 0) -> tuple[BenchmarkTable, ...]:
    """The recorded figures of real Kafka Connect 4.3.1 beside the simulated ones.

    Returns:
        ``figures``: rows with protocol, phase, figure, recorded, simulated (mean of the plays), lowest, highest, ratio,
            and ``within``: ``yes``, or the reason; ``assumptions``: the constants.
    """
    rows = []
    for protocol in (ConnectProtocol.EAGER, ConnectProtocol.SESSIONED):
        plays = range(seed, seed + PLAYS[protocol.value])
        played = [run_small(setup_of(protocol), assignors, seed=each) for each in plays]
        for index, recorded in enumerate(recorded_small()[protocol.value]):
            rows += [
                _row(protocol.value, key, recorded, [phases[index][key] for phases in played])
                for key in BANDS
                if key in recorded and key in played[0][index]
            ]
    title = "30 connectors x 10 tasks on 3 workers: Kafka Connect 4.3.1 as recorded, and simulated"
    return BenchmarkTable("figures", title, rows), BenchmarkTable("assumptions", "Constants", _constants())


def _row(protocol: str, key: str, recorded: Mapping[str, Any], ours: Sequence[float]) -> dict[str, Any]:
    was, mean = recorded[key], fmean(ours)
    ratio = mean / was if was else None
    near = mean == was if ratio is None else abs(ratio - 1) <= BANDS[key]
    return {
        "protocol": protocol,
        "phase": recorded["phase"],
        "figure": key,
        "recorded": was,
        "simulated": round(mean, 1),
        "lowest": min(ours),
        "highest": max(ours),
        "ratio": None if ratio is None else round(ratio, 2),
        "within": "yes" if near else "no: chance, the plays go either side" if min(ours) <= was <= max(ours) else "no",
    }


def _constants() -> list[dict[str, Any]]:
    values = derived_constants()
    rows = [
        {
            "constant": constant.name,
            **{protocol: ", ".join(_shown(values[protocol].get(name)) for name in constant.name.split(", "))
               for protocol in ("eager", "sessioned")},
            "from": constant.source,
        }
        for constant in CONSTANTS
    ]  # fmt: skip
    return [
        *rows,
        *({"constant": what, "eager": value, "sessioned": value, "from": why} for what, value, why in _SETTINGS),
    ]


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return f"{value[0]} to {value[-1]} (median {value[len(value) // 2]})"
    if isinstance(value, dict):
        return " ".join(f"{key} {each}" for key, each in value.items())
    return "-" if value is None else str(value)
