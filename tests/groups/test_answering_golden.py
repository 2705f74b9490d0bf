from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assignment_api.plugins import config_sources, discover
from assignor_lab.groups.runner.result_lines import Answerer, AnswerOptions, answerer
from assignor_lab.scenarios import Scenario, read_scenarios

pytestmark = pytest.mark.slow

#: The golden answers are those of 4.3.1.
SOURCES = config_sources(None, ["kafka.release=4.3.1"], environ={})
GOLDEN = Path(__file__).parents[1] / "data" / "golden" / "streams"


def results(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(GOLDEN / name, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def pairs(scenarios: str, expected: str) -> list[tuple[Scenario, dict[str, Any]]]:
    asked = read_scenarios(GOLDEN / f"{scenarios}.scenarios.jsonl.gz")
    return list(zip(asked, results(f"{expected}.results.jsonl.gz"), strict=True))


def comparable(row: dict[str, Any]) -> dict[str, Any]:
    error = row["error"]
    return {**row, "error": error and error.get("java_type", error["type"])}


def differences(answer: Answerer, cases: list[tuple[Scenario, dict[str, Any]]]) -> list[str]:
    wrong = []
    for scenario, expected in cases:
        got = answer(scenario)
        expected_error = expected["error"] and expected["error"]["type"]
        if comparable(got) != {**expected, "error": expected_error}:
            wrong.append(scenario.id)
    return wrong


@pytest.mark.parametrize(
    "operation", ["default_standby", "identity", "optimize_active", "optimize_standby", "validate"]
)
def test_a_utility_answers_as_kafka_does(operation: str) -> None:
    cases = pairs(f"utils-{operation}", f"utils-{operation}")
    assert len(cases) >= 80
    assert differences(answerer(f"utils.{operation}", discover(), AnswerOptions(SOURCES)), cases) == []


def test_given_tasks_are_spread_over_threads_as_kafka_does() -> None:
    cases = pairs("threads-given", "threads-given")
    assert len(cases) == 150
    assert differences(answerer("threads", discover(), AnswerOptions(SOURCES)), cases) == []


@pytest.mark.slow
@pytest.mark.parametrize("assignor", ["high_availability", "sticky", "legacy_sticky", "fallback_prior"])
def test_an_answer_is_spread_over_threads_as_kafka_does(assignor: str) -> None:
    cases = pairs("threads", f"threads.{assignor}")
    assert len(cases) == 300
    assert differences(answerer(assignor, discover(), AnswerOptions(SOURCES, threads=True)), cases) == []
