"""The constants of the small experiment, computed from its recording.

Directly visible values are used unchanged. Comments explain the division of sums. No constant is fitted to a figure of
the comparison: ``derive_constants`` on the two recordings gives ``recordings/blog_small_constants.json``, which a test
checks.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import pairwise
from statistics import fmean, median
from typing import Any

import attrs

from assignor_lab.simulation.connect.timings import ConnectTimings

__all__ = ["CONSTANTS", "Constant", "derive_constants", "derived_constants", "small_timings"]

#: Poll interval of the recording's connector; a stopping task may finish its poll.
_POLL_MS = 500
#: Kafka's pool for starting and stopping.
_THREADS = 8
#: Jobs of a worker in one round that keep the threads continuously busy.
_MANY = 20
#: Number of figures for the recorded distribution of a pause.
_PAUSES = 60


@attrs.frozen
class Constant:
    """A constant and its origin."""

    name: str
    source: str


CONSTANTS: Sequence[Constant] = (
    Constant("request_ms, assignor_ms", "shortest time from the last join to the leader's assignment (2 ms at least); "
             "the median less that"),
    Constant("pauses_ms", f"from the leader's assignment until a worker that had nothing to stop had it, less half "
             f"a request: {_PAUSES} quantiles of all rounds and workers"),
    Constant("log_delivery_pauses_ms", "sessioned: how long a join phase lasts if nothing was started or stopped "
             "before; the later of two workers, so one of them has the square root of the distribution"),
    Constant("rest_hop_ms, rest_body_ms", "sessioned: half of the median time from the round that a DELETE set off to "
             "its answer, less a pause; the additional time of a POST"),
    Constant("validation_ms", "half of the difference between the shortest POST and the shortest DELETE of both "
             "recordings"),
    Constant("config_write_ms, connector_start_ms", "half and a quarter of the shortest time from a connector on the "
             "leader to the round of its tasks: only their sum is recorded"),
    Constant("task_configs_drawn_ms", "sessioned: that time for all connectors whose tasks came in the very next "
             "round, less those two, less two pauses, on other workers than the leader less the way to it"),
    Constant("first_connector_ms", "sessioned: the additional time for the first connector on each worker"),
    Constant("task_start_ms, task_start_spread_ms", f"eager: 8 (last - first start call) / (n - 8), mean over n >= "
             f"{_MANY} tasks of a worker in a round; sessioned: shortest and median time from the leader's having "
             "tasks to the round of its next write, less the write, for the largest of n even draws"),
    Constant("task_ready_drawn_ms", f"from the start call until the task runs: {_PAUSES} quantiles"),
    Constant("task_stop_ms, task_stop_spread_ms", f"eager: 8 (last - first stop call) / (n - 8), mean over n >= "
             f"{_MANY}, less half a poll; sessioned: from an assignment until a worker had stopped n tasks, less "
             "n / (n + 1) polls, mean; a task finishes its poll, one every 0.5 s"),
    Constant("worker_start_ms", "sessioned: from the killed worker's second start until the round that it set off"),
)  # fmt: skip


@cache
def derived_constants() -> Mapping[str, Mapping[str, Any]]:
    """Protocol to constants, from :func:`derive_constants` on the two recordings."""
    text = resources.files("calibration.connect").joinpath("recordings/blog_small_constants.json").read_text("utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


def small_timings(protocol: str) -> ConnectTimings:
    values: dict[str, Any] = {
        key: tuple(each) if isinstance(each, list) else each for key, each in derived_constants()[protocol].items()
    }
    return ConnectTimings(**values)


def derive_constants(timelines: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Protocol to the arguments of :class:`ConnectTimings` that differ from its defaults."""
    eager, sessioned = timelines["eager"], timelines["sessioned"]
    shortest = {
        method: min(
            each["ms"] for timeline in (eager, sessioned) for each in timeline["rest"] if each["method"] == method
        )
        for method in ("POST", "DELETE")
    }
    pause = median(_pauses(sessioned))
    post, delete = (_after_the_write(sessioned, method) / 2 for method in ("POST", "DELETE"))
    hop, body = max(1, round(delete - pause)), round(post - delete)
    by_leader, passed_on, first = _until_tasks(sessioned)
    write, connector_start = min(by_leader) // 2, min(by_leader) // 4
    configure = sorted([*by_leader, *(each - hop - body - round(pause) for each in passed_on)])
    known = write + connector_start + round(2 * pause)
    start, spread = _quick_starts(sessioned, write)
    pooled: dict[str, Any] = {
        "rest_hop_ms": hop,
        "rest_body_ms": body,
        "config_write_ms": write,
        "validation_ms": max(1, round((shortest["POST"] - shortest["DELETE"]) / 2)),
        "connector_start_ms": connector_start,
        "task_configs_drawn_ms": [max(1, each - known) for each in configure],
        "task_stop_spread_ms": _POLL_MS,
        "log_delivery_pauses_ms": _deliveries(sessioned),
        "worker_start_ms": _process_start(sessioned),
    }
    own: dict[str, dict[str, Any]] = {
        "eager": {
            "task_start_ms": round(_many(eager, 1)),
            "task_stop_ms": round(_many(eager, 3) - _POLL_MS / 2),
        },
        "sessioned": {
            "task_start_ms": start,
            "task_start_spread_ms": spread,
            "task_stop_ms": round(_few_stops(sessioned)),
            "first_connector_ms": {
                worker: max(0, took - round(median(configure))) for worker, took in sorted(first.items())
            },
        },
    }
    return {
        protocol: {
            **pooled,
            "request_ms": _asking(timeline),
            "assignor_ms": max(1, round(median(_deciding(timeline))) - _asking(timeline)),
            "task_ready_drawn_ms": _quantiles(
                [run[2] - run[1] for run in _runs(timeline) if run[2] is not None], _PAUSES
            ),
            "pauses_ms": _quantiles(_pauses(timeline), _PAUSES),
            **own[protocol],
        }
        for protocol, timeline in timelines.items()
    }


# --- content of a timeline ------------------------------------------------------------------------------------------


def _rounds(timeline: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [each for each in timeline["generations"] if each.get("assignment_t") and each.get("owned")]


def _creating(timeline: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    end = timeline["summary"][1]["t"]
    return [each for each in _rounds(timeline) if each["joined_t"] < end]


def _runs(timeline: Mapping[str, Any]) -> Iterator[Sequence[Any]]:
    """Worker, called to start, running or ``None``, called to stop, how it ended."""
    for runs in timeline["tasks"].values():
        yield from runs


def _leader(timeline: Mapping[str, Any]) -> str:
    return str(timeline["summary"][1]["leader"])


# --- requests and the group -----------------------------------------------------------------------------------------


def _deciding(timeline: Mapping[str, Any]) -> list[int]:
    return [each["assignment_t"] - each["joined_t"] for each in _rounds(timeline)]


def _asking(timeline: Mapping[str, Any]) -> int:
    return max(2, min(_deciding(timeline)))


def _pauses(timeline: Mapping[str, Any]) -> list[int]:
    half = _asking(timeline) // 2
    return [
        max(0, got["t"] - each["assignment_t"] - half)
        for each in _rounds(timeline)
        for got in each["owned"].values()
        if not got.get("revoked_tasks") and not got.get("revoked_connectors")
    ]


def _deliveries(timeline: Mapping[str, Any]) -> list[int]:
    killed, deleting = (timeline["summary"][index]["t"] for index in (1, 2))
    took = [
        following["joined_t"] - following["prepare_t"]
        for one, following in pairwise(_rounds(timeline))
        if not killed <= following["prepare_t"] < deleting
        and not any(got["assigned_tasks"] or got["revoked_tasks"] for got in one["owned"].values())
    ]
    # The later of two workers: one alone has the square root of this distribution.
    ordered = sorted(took)
    return [ordered[int(len(ordered) * ((index + 0.5) / _PAUSES) ** 2)] for index in range(_PAUSES)]


def _after_the_write(timeline: Mapping[str, Any], method: str) -> float:
    """From the round after a request to its answer: two hops back."""
    rounds = _rounds(timeline)
    took = []
    for request in timeline["rest"]:
        if request["method"] != method:
            continue
        key = "assigned_connectors" if method == "POST" else "revoked_connectors"
        answered = request["t"] + request["ms"]
        took += [
            answered - each["prepare_t"]
            for each in rounds
            if request["t"] <= each["prepare_t"] <= answered
            and any(request["connector"] in (got.get(key) or ()) for got in each["owned"].values())
        ]
    return _median(took)


def _process_start(timeline: Mapping[str, Any]) -> int:
    worker = timeline["summary"][1]["worker"]
    started: int = max(
        each["t"] for each in timeline["actions"] if each["event"] == "start" and each.get("worker") == worker
    )
    return min(
        int(each["prepare_t"]) - started
        for each in _rounds(timeline)
        if each["prepare_t"] is not None and each["prepare_t"] > started
    )


# --- connectors and tasks -------------------------------------------------------------------------------------------


def _until_tasks(timeline: Mapping[str, Any]) -> tuple[list[int], list[int], dict[str, int]]:
    """From a worker's receipt of a connector to the round of its tasks.

    Returns:
        Of connectors on the leader, and of those on others, if that was the very next round, so that the leader had no
            other work; and of the first connector of each worker.
    """
    by_leader: list[int] = []
    passed_on: list[int] = []
    first: dict[str, int] = {}
    rounds = _creating(timeline)
    for index, each in enumerate(rounds):
        for worker, got in each["owned"].items():
            for connector in got["assigned_connectors"]:
                later = next(other for other in rounds[index + 1 :] if _assigns_tasks(other, connector))
                took = later["prepare_t"] - got["t"]
                if worker not in first:
                    first[worker] = took
                elif later is rounds[index + 1]:
                    (by_leader if worker == _leader(timeline) else passed_on).append(took)
    return by_leader, passed_on, first


def _assigns_tasks(each: Mapping[str, Any], connector: str) -> bool:
    return any(task.rpartition("-")[0] == connector for got in each["owned"].values() for task in got["assigned_tasks"])


def _quick_starts(timeline: Mapping[str, Any], write: int) -> tuple[int, int]:
    """The leader's work with few tasks: shortest, and the spread of one of them."""
    leader = _leader(timeline)
    took, tasks = [], []
    for one, following in pairwise(_creating(timeline)):
        number = len(one["owned"][leader]["assigned_tasks"])
        if number and following["reason"].startswith("Leader"):
            took.append(following["prepare_t"] - one["owned"][leader]["t"] - write)
            tasks.append(number)
    base = max(1, min(took))
    mean = fmean(tasks)
    pauses = 2 * median(_pauses(timeline))
    return base, max(0, round((median(took) - base - pauses) * (mean + 1) / mean))


def _many(timeline: Mapping[str, Any], column: int) -> float:
    key = "t" if column == 1 else "assignment_t"
    begins = {
        worker: [
            (each["owned"][worker]["t"] if key == "t" else each["assignment_t"]) - 10
            for each in _rounds(timeline)
            if worker in each["owned"]
        ]
        for worker in ("w1", "w2", "w3")
    }
    calls: dict[tuple[str, int], list[int]] = {}
    for run in _runs(timeline):
        if run[column] is not None and (column == 1 or run[4] == "stop"):
            calls.setdefault((run[0], bisect_right(begins[run[0]], run[column])), []).append(run[column])
    return fmean(
        _THREADS * (max(times) - min(times)) / (len(times) - _THREADS)
        for times in calls.values()
        if len(times) >= _MANY
    )


def _few_stops(timeline: Mapping[str, Any]) -> float:
    """Duration of a stop beyond the end of the task's poll, if a worker stops a few at once."""
    took = []
    for each in _rounds(timeline):
        for got in each["owned"].values():
            number = len(got["revoked_tasks"])
            if number:
                took.append(got["t"] - each["assignment_t"] - _POLL_MS * number / (number + 1))
    return max(0.0, fmean(took))


def _median(values: Iterable[int]) -> float:
    return float(median(values))


def _quantiles(values: Sequence[int], number: int) -> list[int]:
    ordered = sorted(values)
    return [ordered[min(len(ordered) - 1, int(len(ordered) * (index + 0.5) / number))] for index in range(number)]
