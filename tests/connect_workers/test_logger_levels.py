"""Levels of loggers: responses of a real worker of Connect 4.3.1, in order, and ours."""

from __future__ import annotations

import pytest

from connect_workers.clock import Clock
from connect_workers.contract import NotFoundError
from connect_workers.logger_levels import LoggerLevels

DISTRIBUTED = "org.apache.kafka.connect.runtime.distributed"
#: Requests and responses of a worker with its root logger at WARN, for the loggers that we have.
RECORDED = [
    (DISTRIBUTED, "DEBUG", [DISTRIBUTED, f"{DISTRIBUTED}.DistributedHerder", f"{DISTRIBUTED}.WorkerCoordinator"]),
    (DISTRIBUTED, "DEBUG", []),
    (
        DISTRIBUTED.removesuffix("ributed"),
        "INFO",
        [
            DISTRIBUTED.removesuffix("ributed"),
            DISTRIBUTED,
            f"{DISTRIBUTED}.DistributedHerder",
            f"{DISTRIBUTED}.WorkerCoordinator",
        ],
    ),
    (DISTRIBUTED, "INFO", []),
    ("x.y", "WARN", []),
    ("x.y", "INFO", ["x.y"]),
    ("x.y", "INFO", []),
    ("x", "DEBUG", ["x", "x.y"]),
    ("x", "INFO", ["x", "x.y"]),
    ("xy.z", "TRACE", ["xy.z"]),
    ("x", "WARN", ["x", "x.y", "xy.z"]),
    ("x.q", "OFF", ["x.q"]),
    ("x.q", "OFF", ["x.q"]),
    ("x", "OFF", ["x", "x.q", "x.y", "xy.z"]),
    ("x", "OFF", ["x", "x.q", "x.y", "xy.z"]),
    ("x.y", "DEBUG", ["x.y"]),
]


@pytest.fixture
def levels() -> LoggerLevels:
    made = LoggerLevels(Clock())
    made.set("root", "WARN")
    return made


def test_the_names_answered_are_those_that_a_worker_of_connect_answered(levels: LoggerLevels) -> None:
    for namespace, level, answered in RECORDED:
        assert levels.set(namespace, level) == answered, namespace
    assert {"x", "root", "x.y"} <= set(levels.set("root", "ERROR"))
    assert levels.set("ROOT", "ERROR") == []
    assert "root" in levels.set("Root", "WARN")
    assert levels.set("x.new", "WARN") == []
    assert levels.set("x.new2", "INFO") == ["x.new2"]
    for name in ("x", "x.y", "x.q", "xy.z", "root", "ROOT", DISTRIBUTED.removesuffix("ributed")):
        assert levels.one(name).level == "WARN"
        assert levels.one(name).last_modified is not None
    with pytest.raises(NotFoundError, match="Logger nope not found"):
        levels.one("nope")


def test_a_logger_that_is_switched_off_is_there_and_not_listed(levels: LoggerLevels) -> None:
    levels.set("x", "OFF")
    assert "x" not in levels.all()
    assert levels.one("x").level == "OFF"


def test_the_name_of_ours_and_that_of_connect_mean_one_logger(levels: LoggerLevels) -> None:
    assert levels.set(f"{DISTRIBUTED}.DistributedHerder", "TRACE") == [f"{DISTRIBUTED}.DistributedHerder"]
    assert levels.one("assignor_lab.connect.herder") == levels.one(f"{DISTRIBUTED}.DistributedHerder")
    assert levels.enabled("assignor_lab.connect.herder", 5)
    assert levels.set("assignor_lab", "ERROR")[0] == "assignor_lab"
    assert levels.one(f"{DISTRIBUTED}.DistributedHerder").level == "ERROR"


@pytest.mark.slow
def test_clients_cannot_make_loggers_without_end(levels: LoggerLevels) -> None:
    for number in range(2_000):
        levels.set(f"n{number}", "INFO")
    assert len(levels.all()) <= 1_000
    assert "n5" in levels.set("n", "ERROR")
