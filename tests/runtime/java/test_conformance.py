"""The conformance kit with Java assignors: an author in Java gets the smallest history, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assignment_api.conformance import RULES, Level
from assignor_lab.cli.app import build_app
from assignor_lab.conformance.known_kafka_behaviour import KNOWN_BEHAVIOURS
from tests.runtime.java.kafka import KAFKA_4_3, STICKY

pytestmark = pytest.mark.services


def report_of(assignor: str, folder: Path, *options: str) -> dict[str, Any]:
    words = [
        "conformance",
        assignor,
        *options,
        "-c",
        f"assignor.java.kafka={KAFKA_4_3}",
        "--out",
        str(folder),
        "--json",
    ]
    report: dict[str, Any] = json.loads(CliRunner().invoke(build_app(), words).stdout)
    return report


def failure_of(report: dict[str, Any], level: str) -> dict[str, Any]:
    (found,) = [each for each in report["levels"] if each["level"] == level]
    failure: dict[str, Any] = found["failures"][0]
    return failure


def test_kafkas_sticky_assignor_holds_every_level_that_ours_holds(tmp_path: Path) -> None:
    levels = [
        level.value for level in Level if not any(RULES[rule].level is level for rule in KNOWN_BEHAVIOURS["sticky"])
    ]
    words = [word for level in levels for word in ("--level", level)]
    assert report_of(f"java:{STICKY}", tmp_path, "--histories", "15", *words)["conformant"] is True


def test_a_task_that_is_lost_is_found_in_the_smallest_history(bad_jar: Path, tmp_path: Path) -> None:
    assignor = f"java:lab.Bad$LosesWithStandbys@{bad_jar}"
    failure = failure_of(report_of(assignor, tmp_path, "--histories", "20", "--level", "complete"), "complete")
    assert (failure["rule"], failure["found"]) == ("nothing lost", "task 0_2 is active on no client")
    history = failure["history"]
    # It loses the third task of two members: no smaller history shows it, and no larger one is reported.
    assert (history["tasks"], history["members"], history["events"]) == ([[3, 0]], [1, 1], [])
    assert Path(failure["scenarios"]).exists()
    assert all(f"-c 'assignor.java.kafka={KAFKA_4_3}'" in command for command in failure["commands"])


def test_what_depends_on_the_hashes_of_objects_is_found_in_another_jvm(bad_jar: Path, tmp_path: Path) -> None:
    assignor = f"java:lab.Bad$GoesByAddress@{bad_jar}"
    report = report_of(assignor, tmp_path, "--histories", "10", "--level", "deterministic")
    assert failure_of(report, "deterministic")["rule"] == "any process"
