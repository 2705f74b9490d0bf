from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from assignment_api import ApplicationMetadata, AssignorLabError, TaskAssignment, TaskAssignor
from assignor_lab.scenarios import Scenario, read_scenarios

DATA = Path(__file__).parents[1] / "data"
GOLDEN = DATA / "golden" / "streams"
GOLDEN_4_4 = DATA / "golden" / "streams-4.4"
SCALE = DATA / "scale" / "streams"

Row = Mapping[str, Any]


def documents(path: Path) -> list[Row]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@lru_cache(maxsize=1)
def scenarios(path: Path) -> list[Scenario]:
    return list(read_scenarios(path))


def result_row(scenario_id: str, assignor: str, application: ApplicationMetadata, made: TaskAssignor) -> Row:
    """The result of one call in the form of scenario-format.md (its errors name only Kafka's exception)."""
    try:
        answer = made.assign(application)
    except AssignorLabError as error:
        return {"id": scenario_id, "error": error.java_type}
    return {
        "format": 1,
        "kind": "streams",
        "id": scenario_id,
        "assignor": assignor,
        "assignment": {
            str(client.process_id): {
                "active": [str(task) for task in sorted(client.active_tasks())],
                "standby": [str(task) for task in sorted(client.standby_tasks())],
            }
            for client in answer.assignments
        },
        "followup": asks_for_followup(answer),
        "threads": None,
        "error": None,
    }


def asks_for_followup(answer: TaskAssignment) -> bool:
    return any(client.followup_rebalance_deadline_ms is not None for client in answer.assignments)


def differences(name: str, assignor: str, make: Callable[[], TaskAssignor]) -> Iterator[str]:
    """Ids of the scenarios of a golden file with an answer that differs from Kafka's."""
    folder = GOLDEN_4_4 if assignor.endswith("_4_4") else GOLDEN
    results = documents(folder / f"{name}.{assignor}.results.jsonl.gz")
    states = folder / f"{name}.scenarios.jsonl.gz"
    for scenario, expected in zip(scenarios(states if states.exists() else GOLDEN / states.name), results, strict=True):
        if not _agrees(scenario, assignor, make, expected):
            yield scenario.id


def _agrees(scenario: Scenario, assignor: str, make: Callable[[], TaskAssignor], expected: Row) -> bool:
    error = expected["error"]
    try:
        application = scenario.application
    except AssignorLabError as refused:
        return error is not None and refused.java_type == error["type"]
    row = result_row(scenario.id, assignor, application, make())
    if error is not None:
        return bool(row["error"] == error["type"])
    return row == {**expected, "threads": None}


def digest(row: Row) -> str:
    text = json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def scale_differences(name: str, assignor: str, make: Callable[[], TaskAssignor]) -> list[str]:
    digests = json.loads((SCALE / "digests.json").read_text())
    return [
        scenario.id
        for scenario in scenarios(SCALE / f"{name}.jsonl.gz")
        if digest(result_row(scenario.id, assignor, scenario.application, make())) != digests[scenario.id][assignor]
    ]
