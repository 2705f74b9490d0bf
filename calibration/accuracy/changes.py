"""Recorded changes of groups, each with the state before it and a user's plan for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import attrs

from assignment_api.plugins.keys import GROUP_KEYS, read_value
from assignment_api.releases import RELEASE_KEY
from assignor_lab.capture.edges.timelines import read_timeline
from assignor_lab.capture.timelines.timeline import RecordedTimeline
from assignor_lab.model.streams_episodes import EventDetails
from assignor_lab.planning.plans import Action, Plan, Step
from assignor_lab.scenarios import Place, Scenario, read_scenarios, scenario_from_document
from calibration.accuracy.states import ImportedRecording, state_before, workload_of
from calibration.accuracy.truth import RecordedStep, recorded_steps
from calibration.episodes import import_episode
from calibration.episodes.instances import RECORDED_RELEASE, read_configs

__all__ = ["CAPTURES", "RECORDINGS", "RecordedChange", "changes_of", "timeline_of"]

CAPTURES = Path(__file__).resolve().parents[2] / "tests" / "data" / "captures"
#: Recordings of a probe, by name. Those of ``plans`` have a capture.
RECORDINGS: Mapping[str, Path] = {
    **{name: CAPTURES / "downtime" / name for name in "ABCDF"},
    **{name: CAPTURES / "plans" / name for name in ("P1", "P5", "P8", "P10")},
}
#: ``--start-seconds`` for ``plans`` in milliseconds; its README has 1.9 to 2.5 s.
_START_MS = 2_200
#: Broker settings that only the READMEs have.
_BROKER = {"streams.session.timeout.ms": "10000", "streams.heartbeat.interval.ms": "3000"}
#: Runs with ``CloseOptions`` ``LEAVE_GROUP``.
_LEAVING = frozenset({"P10"})

_ROLLING = re.compile(r"rolling restart: (\w+)")
_SCALING = re.compile(r"scale-(?:out|in) \d+->(\d+)")
_KILL = re.compile(r"(?:second )?kill -9 of (\w+)")
_RETURN = re.compile(r"return of (\w+) with (old|wiped) state")


@attrs.frozen(eq=False)
class RecordedChange:
    """A recorded change.

    Args:
        kind: ``roll``, ``kill``, ``scale-out`` or ``scale-in``.
        protocol: ``classic`` or ``streams``.
        words: The command line that plans it.
        workload: Sizes of state that the scenario cannot carry, or ``None``.
        steps: The recording of each step of the plan.
    """

    recording: str
    kind: str
    protocol: str
    words: str
    state: Scenario
    plan: Plan
    settings: Mapping[str, Any]
    workload: Mapping[str, Any] | None
    steps: tuple[RecordedStep, ...]


@cache
def timeline_of(name: str) -> RecordedTimeline:
    return read_timeline(RECORDINGS[name] / "timeline.json.gz")


def changes_of(name: str) -> list[RecordedChange]:
    """The changes by time, without the first start."""
    folder, timeline = RECORDINGS[name], timeline_of(name)
    configs = read_configs(folder / "configs.jsonl")
    recorded = ImportedRecording(timeline, import_episode(folder / "timeline.json.gz", folder), configs)
    protocol = "classic" if timeline.kind == "streams-classic" else "streams"
    config = {**next(iter(configs.values())), **(_BROKER if protocol == "streams" else {})}
    settings = {key: read_value(key, str(value)) for key, value in config.items() if key in GROUP_KEYS}
    settings.setdefault(RELEASE_KEY, RECORDED_RELEASE)
    capture = folder / "capture.jsonl"
    phases = list(recorded_steps(timeline).values())[1:]
    found = []
    for steps in _together(phases):
        kind, words, plan = _planned(name, steps, _start_ms(name, timeline))
        at = steps[0].begin_ms
        if capture.is_file():
            (state,) = read_scenarios(capture)
            workload = None
        else:
            state = scenario_from_document(state_before(recorded, at), Place(f"{name}, before {steps[0].phase}"))
            workload = None if protocol == "classic" else workload_of(recorded, at)
        found.append(RecordedChange(name, kind, protocol, words, state, plan, settings, workload, tuple(steps)))
    return found


def _together(phases: Iterable[RecordedStep]) -> list[list[RecordedStep]]:
    """Steps of one plan: those of a roll, and a kill with the return of the instance."""
    found: list[list[RecordedStep]] = []
    for each in phases:
        is_next_of_roll = _ROLLING.fullmatch(each.phase) and found and _ROLLING.fullmatch(found[-1][0].phase)
        if is_next_of_roll or _RETURN.fullmatch(each.phase):
            found[-1].append(each)
        else:
            found.append([each])
    return found


def _start_ms(name: str, timeline: RecordedTimeline) -> int:
    """The median of the first starts, which came before all changes."""
    if name.startswith("P"):
        return _START_MS
    first = timeline.done[0].time_ms
    joins = sorted(each["join_ms"] for each in timeline.document["measured"]["starts"] if each["t"] < first + 1_000)
    return int(sum(joins) / len(joins))


def _planned(name: str, steps: Sequence[RecordedStep], start_ms: int) -> tuple[str, str, Plan]:
    start = f"--start-seconds {start_ms / 1000:.1f}"
    first = steps[0].phase
    if _ROLLING.fullmatch(first):
        order = [match[1] for each in steps if (match := _ROLLING.fullmatch(each.phase))]
        leave = True if name in _LEAVING else None
        plan = Plan(
            "roll", tuple(Step(each, (Action("restart", each, leave=leave),)) for each in order), start_ms=start_ms
        )
        return "roll", f"roll --order {','.join(order)}{' --leave' if leave else ''} {start}", plan
    if match := _SCALING.fullmatch(first):
        to = int(match[1])
        if first.startswith("scale-out"):
            step = Step(f"d{to}", (Action("add", f"d{to}", EventDetails(threads=2)),))
            return "scale-out", f"scale --to {to} {start}", Plan("scale", (step,), start_ms=start_ms)
        leaving = f"d{to + 1}"
        plan = Plan("scale", (Step(leaving, (Action("remove", leaving),)),), start_ms=start_ms)
        return "scale-in", f"scale --to {to} --leaving {leaving}", plan
    match = _KILL.fullmatch(first)
    if match is None:
        raise ValueError(f"{name}: {first!r} is no change that a plan can make")
    killed = match[1]
    is_wiped = any(each.phase.endswith("wiped state") for each in steps)
    back_ms = steps[-1].begin_ms - steps[0].begin_ms
    back = (Action("event", killed, event="lose_disk"),) if is_wiped else ()
    plan = Plan(
        "kill",
        (
            Step(f"kill {killed}", (Action("kill", killed),), wait=back_ms),
            Step(f"return of {killed}", (*back, Action("add", killed, EventDetails(threads=2)))),
        ),
        start_ms=start_ms,
    )
    words = f"kill {killed} --back-after {back_ms / 1000:.1f}{' --wipe' if is_wiped else ''} {start}"
    return "kill", words, plan
