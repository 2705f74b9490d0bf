"""Rebalances in which Kafka could not fetch the end offsets: the logged numbers are placeholders.

Kafka: ``StreamsPartitionAssignor``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assignor_lab.capture.logs.import_log import import_log
from assignor_lab.scenarios import Place, scenario_from_document
from tests.capture.captured_logs import refuse

UUID = "5f1a7d2e-8f2f-4ad8-9f0d-2b8c1e4f6a90"
THREAD = "2026-01-01 00:00:00,000 INFO stream-thread [app-StreamThread-1-consumer] "


def state(lags: str) -> str:
    return (
        "[activeTasks: ([]) standbyTasks: ([]) prevActiveTasks: ([0_0]) prevStandbyTasks: ([])"
        f" changelogOffsetTotalsByTask: ([0_0=-2]) taskLagTotals: ([{lags}]) clientTags: ([]) capacity: 1 assigned: 0]"
    )


def only(tmp_path: Path, *messages: str) -> dict[str, Any]:
    log = tmp_path / "app.log"
    log.write_text("".join(f"{THREAD}{message}\n" for message in messages), encoding="utf-8")
    (document,) = import_log([log], on_problem=refuse)
    scenario_from_document(document, Place(str(log), 1))
    return document


def before(lags: str) -> str:
    return f"Assigning tasks and 0 standby replicas to client nodes {{{UUID}={state(lags)}}}"


TASKS = "Assigning stateful tasks: [0_1, 0_0]\nand stateless tasks: [1_0]"
AFTER = f"Assignment of tasks to nodes: {UUID}=[activeTasks: ([0_0, 0_1, 1_0]) standbyTasks: ([])]"
FAILED = (
    "Failed to fetch end offsets for changelogs, will return previous assignment to clients and trigger another "
    "rebalance to retry."
)


def test_where_kafka_says_so_the_lags_are_unknown_and_the_fallback_asked_for_probing(tmp_path: Path) -> None:
    document = only(tmp_path, TASKS, before("0_0=-2, 0_1=-3"), FAILED, AFTER)

    assert document["clients"][0]["lags"] is None
    assert document["observed"]["followup"] is True
    assert {task["id"]: task["logged"] for task in document["tasks"]} == {"0_0": True, "0_1": True, "1_0": False}


def test_where_no_lag_is_a_number_the_lags_are_unknown_and_the_scenario_says_why(tmp_path: Path) -> None:
    document = only(tmp_path, TASKS, before("0_0=-2, 0_1=-3"), AFTER)

    assert document["clients"][0]["lags"] is None
    assert any("end offsets count as not fetched" in sentence for sentence in document["assumptions"])


def test_where_there_are_stateful_tasks_but_no_lags_they_are_unknown(tmp_path: Path) -> None:
    document = only(tmp_path, TASKS, before(""), AFTER)

    assert document["clients"][0]["lags"] is None
    assert any("taken as not computed" in sentence for sentence in document["assumptions"])


def test_running_everywhere_is_no_unknown_lag(tmp_path: Path) -> None:
    document = only(tmp_path, TASKS, before("0_0=-2, 0_1=-2"), AFTER)

    assert document["clients"][0]["lags"] == {"0_0": -2, "0_1": -2}
    assert document["observed"]["followup"] is False


def test_a_stateless_application_has_known_lags_of_nothing(tmp_path: Path) -> None:
    line = before("").replace("0_0=-2", "").replace("prevActiveTasks: ([0_0])", "prevActiveTasks: ([1_0])")
    tasks = "Assigning stateful tasks: []\nand stateless tasks: [1_0]"

    document = only(tmp_path, tasks, line, AFTER.replace("0_0, 0_1, ", ""))

    assert document["clients"][0]["lags"] == {}
    assert [task["stateful"] for task in document["tasks"]] == [False]


def test_another_rebalances_failure_is_not_this_ones(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    messages = [TASKS, before("0_0=-2, 0_1=-3"), FAILED, AFTER, TASKS, before("0_0=-2, 0_1=5"), AFTER]
    log.write_text("".join(f"{THREAD}{message}\n" for message in messages), encoding="utf-8")

    first, second = import_log([log], on_problem=refuse)

    assert first["clients"][0]["lags"] is None
    assert second["clients"][0]["lags"] == {"0_0": -2, "0_1": 5}
    assert second["observed"]["followup"] is False
