"""Recorded changes of real Connect clusters: the state before each, its plan, and the absences in the logs."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

import attrs

from assignor_lab.planning.connect_machine import ConnectMachine, Durations
from assignor_lab.planning.making import Options
from assignor_lab.planning.plans import READY, Wait
from assignor_lab.scenarios import Scenario, read_scenarios
from calibration.accuracy.changes import CAPTURES
from calibration.accuracy.truth import Absences

__all__ = [
    "CONNECT_RECORDINGS", "ConnectChange", "ConnectStep", "connect_changes", "machine_without", "start_ms_before",
]  # fmt: skip

#: Clusters of one delay each, recorded by ``make accuracy-live``.
CONNECT_RECORDINGS: tuple[Path, ...] = tuple(sorted((CAPTURES / "connect-plans").glob("delay-*")))

_LINE = re.compile(r"\[([0-9-]{10} [0-9:]{8}),([0-9]{3})\] ")
_STARTED = re.compile(r"Task\{id=(?P<task>[^{}]{1,300})\} S[a-z]{3,5} task finished initialization and start")
_STOPPED = re.compile(r"Stopping task (?P<task>[^ ]{1,300}) \(")
_JOINING, _LEAVING, _JOINED = "] Rebalance started (", "pro-actively leaving the group", "] Joined group at "
_GENERATION = re.compile(r"Joined group at generation ([0-9]{1,9}) ")


@attrs.frozen
class ConnectStep(Absences):
    """A recorded step.

    Args:
        away: Task to its absences that began in the step: first moment and length, in milliseconds.
        rebalances: Generations.
    """

    name: str
    away: Mapping[str, tuple[tuple[int, int], ...]]
    rebalances: int


@attrs.frozen(eq=False)
class ConnectChange:
    """A recorded change of a Connect group.

    Args:
        plan: ``roll``, ``scale`` or ``kill``, with its subject and options.
        starts_ms: From each start of a process to its first join.
    """

    recording: str
    name: str
    state: Scenario
    plan: str
    subject: str | None
    options: Options
    steps: tuple[ConnectStep, ...]
    starts_ms: tuple[int, ...]
    durations: Durations


def connect_changes(folder: Path) -> list[ConnectChange]:
    """The changes of a cluster by time."""
    document = json.loads((folder / "changes.json").read_text(encoding="utf-8"))
    workers: Mapping[str, str] = document["workers"]
    states = {state.id: state for state in read_scenarios(folder / "states.jsonl.gz")}
    logs = {name: _lines(folder / f"{name}.log.gz") for name in workers}
    return [_change(folder.name, change, states[change["name"]], workers, logs) for change in document["changes"]]


def start_ms_before(changes: Sequence[ConnectChange], change: ConnectChange) -> int:
    """``--start-seconds`` of a prediction: the median of the cluster's starts so far, or of the other recordings'."""
    of_cluster = [each for each in changes if each.recording == change.recording]
    before = [start for each in of_cluster[: of_cluster.index(change)] for start in each.starts_ms]
    others = [start for each in changes if each.recording != change.recording for start in each.starts_ms]
    return int(median(before or others))


def machine_without(changes: Sequence[ConnectChange], recording: str | None) -> ConnectMachine:
    """The durations of all other recordings."""
    others = [each for each in changes if each.recording != recording]
    middle = median(start for each in others for start in each.starts_ms)
    return ConnectMachine(
        tuple(
            attrs.evolve(each.durations, start_percent=[round(100 * start / middle) for start in each.starts_ms])
            for each in others
        )
    )


# --- the plan -----------------------------------------------------------------------------------------------


def _change(
    recording: str,
    change: Mapping[str, Any],
    state: Scenario,
    workers: Mapping[str, str],
    logs: Mapping[str, Sequence[tuple[int, str]]],
) -> ConnectChange:
    kind, steps = change["kind"], change["steps"]
    named = [workers[each["worker"]] for each in steps]
    subject, plan, options = None, "scale", Options()
    if kind == "roll":
        wait: Wait = int(change["wait_s"] * 1000) or READY
        plan, options = "roll", Options(order=named, down_ms=int(change["down_s"] * 1000), wait=wait)
    elif kind == "kill":
        back = change["back_s"]
        (subject,), plan = named, "kill"
        options = Options(back_after_ms=None if back is None else int(back * 1000))
    elif kind == "scale-in":
        options = Options(to=len(workers) - 1, leaving=named)
    else:
        options = Options(to=len(workers))
    started = [each for each in steps if "started_ms" in each]
    starts = [_first(logs[each["worker"]], each["started_ms"], _JOINING) - each["started_ms"] for each in started]
    answers = [max(0, each["ready_ms"] - _first(logs[each["worker"]], each["started_ms"], _JOINED)) for each in started]
    return ConnectChange(
        recording, change["name"], state, plan, subject, options,
        tuple(_steps(change, named, logs)), tuple(starts),
        attrs.evolve(_durations(change, logs), answers_ms=answers),
    )  # fmt: skip


def _first(lines: Sequence[tuple[int, str]], begin_ms: int, text: str) -> int:
    return next(at for at, line in lines if at >= begin_ms and text in line)


def _durations(change: Mapping[str, Any], logs: Mapping[str, Sequence[tuple[int, str]]]) -> Durations:
    leave, revoke, ready = [], [], []
    for lines in logs.values():
        stopping, joined = None, None
        for at, text in lines:
            if not change["begin_ms"] <= at < change["end_ms"]:
                continue
            if _STOPPED.match(text.partition(" ")[2]):
                stopping = at if stopping is None else stopping
            elif _LEAVING in text:
                if stopping is not None:
                    leave.append(at - stopping)
                stopping = joined = None
            elif _GENERATION.search(text):
                if stopping is not None:
                    revoke.append(at - stopping)
                stopping, joined = None, at
            elif _STARTED.search(text) and joined is not None:
                ready.append(at - joined)
    return Durations(leave, revoke, ready)


# --- the truth ----------------------------------------------------------------------------------------------


def _lines(path: Path) -> list[tuple[int, str]]:
    found = []
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        if match := _LINE.match(line):
            at = datetime.strptime(match[1], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
            found.append((int(at.timestamp()) * 1000 + int(match[2]), line[match.end() :]))
    return found


def _steps(
    change: Mapping[str, Any], named: Sequence[str], logs: Mapping[str, Sequence[tuple[int, str]]]
) -> Iterator[ConnectStep]:
    away = list(_absences(change, logs))
    generations = sorted(
        {
            (int(match[1]), min(at for lines in logs.values() for at, text in lines if match[0] in text))
            for lines in logs.values()
            for at, text in lines
            if change["begin_ms"] <= at < change["end_ms"] and (match := _GENERATION.search(text))
        }
    )
    begins = [each["at_ms"] for each in change["steps"]]
    for place, begin in enumerate(begins):
        until = begins[place + 1] if place + 1 < len(begins) else change["end_ms"]
        own: dict[str, list[tuple[int, int]]] = {}
        for task, at, length in away:
            if begin <= at < until:
                own.setdefault(task, []).append((at, length))
        gaps = {task: tuple(each) for task, each in sorted(own.items())}
        yield ConnectStep(named[place], gaps, sum(begin <= at < until for _, at in generations))


def _absences(
    change: Mapping[str, Any], logs: Mapping[str, Sequence[tuple[int, str]]]
) -> Iterator[tuple[str, int, int]]:
    """Task, first moment and length of each time without a run. A kill stops all tasks of its worker at once."""
    happened: list[tuple[int, str, str, bool]] = []
    for worker, lines in logs.items():
        for at, text in lines:
            if match := _STARTED.search(text):
                happened.append((at, match["task"], worker, True))
            elif match := _STOPPED.match(text.partition(" ")[2]):
                happened.append((at, match["task"], worker, False))
    for step in change["steps"] if change["kind"] == "kill" else ():
        running = {}
        for at, task, worker, is_start in sorted(happened):
            if at < step["at_ms"]:
                running[task] = worker if is_start else ""
        happened.extend(
            (step["at_ms"], task, worker, False) for task, worker in running.items() if worker == step["worker"]
        )
    stopped: dict[str, int] = {}
    for at, task, _, is_start in sorted(happened):
        if not is_start:
            stopped.setdefault(task, at)
        elif task in stopped:
            begin = stopped.pop(task)
            if change["begin_ms"] <= begin < change["end_ms"]:
                yield task, begin, at - begin
    for task, begin in stopped.items():
        if change["begin_ms"] <= begin < change["end_ms"]:
            raise ValueError(f"{change['name']}: {task} never runs again: the recording ends too early")
