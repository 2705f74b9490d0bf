"""Summaries for the tests: a real group, generated families, hostile texts, and a large run."""

from __future__ import annotations

import gzip
import json
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from assignor_lab.scoring.statistics.slices import MOST_FIGURES

DATA = Path(__file__).resolve().parents[1] / "data" / "report"

#: Ends script and comment, opens elements, colours a terminal, reverses text, ends lines in JavaScript.
HOSTILE = '</script><!--<img src=x onerror="hacked=1">\x1b[31m[red]\u202e\u2028{{7*7}}&quot;\''
#: Expected text in its place.
HOSTILE_SHOWN = '</script><!--<img src=x onerror="hacked=1">\\x1b[31m[red]\\u202e\\u2028{{7*7}}&quot;\''

#: Words of the format, which a producer cannot replace by its own text.
_FORMAT_WORDS = frozenset({"kind", "status", "direction", "chosen", "by", "tells"})


def explanations(placements: list[dict[str, Any]]) -> dict[str, Any]:
    def owners(held: dict[str, Any]) -> dict[str, str]:
        return {task: client for client, tasks in held.items() for task in tasks["active"]}

    moves: list[dict[str, Any]] = []
    left_out: list[dict[str, Any]] = []
    for picture in placements:
        place = {"scenario": picture["scenario"], "round": picture["round"], "assignor": "high_availability"}
        answer = next(each for each in picture["after"] if each["assignor"] == "high_availability")
        before, after = owners(picture["before"]), owners(answer["assignment"] or {})
        moved = [task for task, owner in before.items() if after.get(task, owner) != owner]
        if moved and not left_out:
            left_out.append({**place, "moves": len(moved), "why": "the 5 s for explanations were over"})
            continue
        moves += [
            {
                **place,
                "task": task,
                "to": after[task],
                "facts": ["i1 · ran it · copy", "i3 · lag 2 · runs it"],
                "rules": [{"rule": "ha-caught-up", "sentence": f"i3 may run {task}: it is caught up."}],
                "would": [f"If the lag of {task} on i3 were 101 instead of 2, {task} would stay on i1."],
                "remarks": [],
                "tried": "Tried one at a time: 3 lags; 3 calls in all.",
            }
            for task in moved
        ]
    return {"moves": moves, "left_out": left_out, "rules": {"ha-caught-up": "Who is caught up may run it."}}


@cache
def _tagged() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(gzip.decompress((DATA / "tagged.summary.json.gz").read_bytes()))
    return document


def tagged() -> dict[str, Any]:
    """The recorded group of `assignor sample`, scored: 24 decisions, three assignors and Kafka's own answers.

    As `assignor score` wrote it, except for a missing answer of round_robin and a plugin that could not be loaded.
    """
    document = deepcopy(_tagged())
    results = document["results"]
    results["failed_rows"] = 1
    failing = next(each for each in results["assignors"] if each["name"] == "round_robin")
    failing["failed_rows"] = 1
    error = {"type": "ZeroDivisionError", "java_type": None, "message": "integer modulo by zero"}
    last = results["placements"][-1]
    answer = next(each for each in last["after"] if each["assignor"] == "round_robin")
    answer.update(error=error, assignment=None, followup=None, equals_observed=None)
    first = {"scenario": last["scenario"], "round": last["round"]}
    raised = "acme/round_robin.py:41 in assign: seats[number % len(seats)]"
    results["failures"] = [{"assignor": "round_robin", **error, "traceback": raised, "rows": 1, "first": first}]
    failing_metric = {"metric": "acme_load", "message": "ValueError: no figure", "rows": 3, "first": first}
    results["metric_failures"] = [failing_metric]
    absent = {"name": "half_done", "distribution": "acme-assignors", "version": "2.0", "status": "not_loaded"}
    reason = "ModuleNotFoundError: No module named 'acme_solver'"
    results["assignors"].append({**failing, **absent, "summary": None, "reason": reason, "rows": 0, "failed_rows": 0})
    results["headline"] = headline()
    document["explanations"] = explanations(results["placements"])
    held = {"n": 2, "deterministic": 2, "same_hash_seed": 2, "same_order": 2, "pure": 2}
    document["run_metrics"]["probes"] = [
        {"assignor": "sticky", "peak_memory_median": 17_600.0, "peak_memory_max": 20_480, **held},
        {"assignor": "round_robin", "peak_memory_median": None, "peak_memory_max": None, **held, "same_hash_seed": 1},
    ]
    return document


#: Number of the 24 decisions with a lower, equal and higher figure of an assignor, by evidence.
COUNTS = {
    tells: dict(zip(("lower", "equal", "higher"), counts, strict=True))
    for tells, counts in {
        "better": (22, 1, 1), "worse": (0, 2, 22), "unclear": (11, 3, 10), "equal": (0, 24, 0), "none": (1, 20, 3),
    }.items()
}  # fmt: skip


def headline() -> dict[str, Any]:
    """The headline of `tagged`: every unmeasured figure, and every verdict on a difference."""

    def value(assignor: str, mean: float, **known: Any) -> dict[str, Any]:
        unknown = dict.fromkeys(
            ("difference", "low", "high", "level", "no_interval", "lower", "equal", "higher", "tells")
        )
        return {"assignor": assignor, "mean": mean, **unknown, **known}

    def differs(difference: float, tells: str, half: float = 1.0) -> dict[str, Any]:
        ends = {"low": difference - half, "high": difference + half}
        return {"difference": difference, **ends, "level": 0.95, "tells": tells, **COUNTS[tells]}

    few = {"code": "few", "reason": "24 histories are too few: 30 must differ; about 41 histories would do"}
    unsure = {"difference": 2.5, "level": 0.95, "tells": "none", "no_interval": {**few, "enough": 41}, **COUNTS["none"]}
    missing: dict[str, Any] = {**dict.fromkeys(("metric", "unit", "direction", "summary")), "states": 0, "of": []}
    measured = {"direction": "lower", "not_measured": None, "states": 24}
    names = ("high_availability", "sticky", "round_robin", "kafka")

    def of(mean: float, differences: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [value(name, mean + at, **differences[at]) for at, name in enumerate(names)]

    of_state = [differs(-40_000.0, "better"), unsure, differs(90_000.0, "worse")]
    of_load = [differs(0.1, "unclear"), differs(0.0, "equal", 0.0), differs(-3.0, "better")]
    return {
        "baseline": "kafka",
        "states": 24,
        "histories": 24,
        "alone": 24,
        "figures": [
            {"figure": "unavailable", "title": "Task-seconds unavailable", **missing, "not_measured": "no clock here"},
            {
                "figure": "restored",
                "title": "State to restore",
                "metric": "offsets_to_restore",
                "unit": "offsets",
                "summary": "Changelog records that copies of state lack.",
                **measured,
                "of": of(60_000.0, [*of_state, {}]),
            },
            {"figure": "cross_zone", "title": "Cross-zone cost", **missing, "not_measured": "no racks here"},
            {
                "figure": "load",
                "title": "Worst load",
                "metric": "process_load_excess",
                "unit": "tasks/thread",
                "summary": "How far the busiest process is above the mean.",
                **measured,
                "of": of(0.5, [*of_load, {}]),
            },
        ],
    }


def families() -> dict[str, Any]:
    """A run over three generated families, as `assignor score` wrote it, with six metrics and a baseline."""
    document: dict[str, Any] = json.loads(gzip.decompress((DATA / "families.summary.json.gz").read_bytes()))
    return document


def unsure() -> dict[str, Any]:
    """The same from a run without intervals, as a whole and in its parts."""
    document = families()
    reason = "4 of 45 histories differ noticeably: 30 must; about 470 histories would do"
    for each in document["results"]["differences"]:
        each |= {"low": None, "high": None, "no_interval": {"code": "few", "reason": reason, "enough": 470}}
    for each in document["results"]["slices"]["differences"]:
        none = [None] * len(each["histories"])
        codes = ["few" if number else None for number in each["histories"]]
        each |= {"low": none, "high": none, "no_interval": codes}
    return document


def hostile_families() -> dict[str, Any]:
    """The same with every text of the document ending in `HOSTILE`."""
    document = _spoiled(families(), key="")
    assert isinstance(document, dict)
    return document


def hostile() -> dict[str, Any]:
    """The same with every text of the document ending in `HOSTILE`, including names of tags and assignors."""
    document = _spoiled(tagged(), key="")
    assert isinstance(document, dict)
    return document


def histories() -> dict[str, Any]:
    """One round of a history in which two assignors have reached different states."""
    document = tagged()
    results = document["results"]
    states = deepcopy(results["placements"][2:4])
    for state, assignor in zip(states, ("high_availability", "sticky"), strict=True):
        state.update(scenario="history-0-round-3", round=3, chosen="worst", source=None)
        state["after"] = [each for each in state["after"] if each["assignor"] == assignor]
    results["placements"] = states
    metric = results["metrics"][0]["name"]
    results["aggregates"] = [each for each in results["aggregates"] if each["metric"] == metric]
    for aggregate in results["aggregates"]:
        aggregate["worst"].update(scenario="history-0-round-3", round=3)
    return document


def _spoiled(value: Any, key: str) -> Any:
    if isinstance(value, str):
        return value if key in _FORMAT_WORDS else value + HOSTILE
    if isinstance(value, list):
        return [_spoiled(each, key) for each in value]
    if isinstance(value, dict):
        # Maps from names to values; their keys are foreign text, too.
        foreign = key in {"tags", "before", "assignment", "versions"}
        return {(name + HOSTILE if foreign else name): _spoiled(each, name) for name, each in value.items()}
    return value


def large(clients: int = 100, tasks: int = 1500, placements: int = 60) -> dict[str, Any]:
    """Summary of a run over 100,000 states: large figures, and more pictures than fit on a page."""
    document = tagged()
    results = document["results"]
    results["states"], results["rows"] = 100_000, 400_000
    names = [f"00000000-0000-0000-0000-{number:012x}" for number in range(clients)]
    ids = [f"{number % 7}_{number // 7}" for number in range(tasks)]

    def dealt(shift: int) -> dict[str, Any]:
        return {
            name: {"active": ids[at::clients], "standby": ids[(at + shift) % clients :: clients]}
            for at, name in enumerate(names)
        }

    before, moved = dealt(1), dealt(2)
    moved[names[0]], moved[names[1]] = moved[names[1]], moved[names[0]]
    for number in range(placements):
        results["placements"].append(
            {
                "scenario": f"steady-{number}",
                "round": number % 3,
                "chosen": "worst",
                "source": None,
                "assumptions": [],
                "clients": [
                    {"process_id": name, "host": None, "rack": "r1", "tags": {}, "threads": 4, "consumers": []}
                    for name in names
                ],
                "tasks": [{"id": task, "stateful": True} for task in ids],
                "before": before,
                "after": [
                    {
                        "assignor": assignor["name"],
                        "error": None,
                        "followup": False,
                        "equals_observed": None,
                        "assignment": moved,
                    }
                    for assignor in results["assignors"]
                    if assignor["kind"] == "plugin" and assignor["status"] == "scored"
                ],
            }
        )
    return document


def large_families() -> dict[str, Any]:
    """The same with the maximum of figures for parts of the run, differences and worst cases."""
    document = large()
    results = document["results"]
    metrics = [f"measure_{number}" for number in range(60)]
    names = [f"assignor_{number}" for number in range(3)]
    parts = MOST_FIGURES // (len(metrics) * len(names))
    template = results["metrics"][0]
    results["metrics"] = [{**template, "name": metric} for metric in metrics]
    results["assignors"] = [{**results["assignors"][0], "name": name} for name in names]
    heads = [{"assignor": name, "metric": metric} for metric in metrics for name in names]
    results["ranking"] |= {"overall": [], "by_metric": []}
    results["agreement"] = []
    aggregate = {"n": 1_234, "mean": 1.23456, "median": 1.0, "p90": 3.0, "min": 0.0, "max": 9.5, "worst": None}
    results["aggregates"] = [{**head, **aggregate} for head in heads]
    figures = {"n": 1_234, "mean": 1.23456, "min": 0.123456, "max": 123.456, "counts": list(range(100, 120))}
    interval = {"histories": 1_234, "difference": -0.123456, "low": -0.234567, "high": -0.0123456}
    results["baseline"] = names[0]
    results["slices"] = {
        "families": [f"family_{number}" for number in range(parts - 1)],
        "sizes": [{"low": 1, "high": None}],
        "of": [{"family": number - 1 if number else None, "size": None, "histories": 1_000} for number in range(parts)],
        "bins": [{"metric": metric, "start": 0.0, "width": 0.5, "number": 20, "whole": False} for metric in metrics],
        "figures": [{**head, **{key: [value] * parts for key, value in figures.items()}} for head in heads],
        "differences": [{**head, **{key: [value] * parts for key, value in interval.items()}} for head in heads],
    }
    counts = {"lower": 1, "equal": 2, "higher": 3}
    whole = {"states": 1, "mean": 1.0, "baseline_mean": 2.0, "level": 0.95, "effect": 0.1, **counts}
    results["differences"] = [{**head, **interval, **whole} for head in heads]
    case = {"by": "value", "value": 1.0, "baseline_value": 2.0, "round": 3, "family": "family_1", "replay": "x" * 150}
    results["worst_cases"] = [
        {**head, **case, "scenario": f"family_1-{number}-round-3"} for head in heads for number in range(6)
    ]
    return document
