from __future__ import annotations

from typing import Any

import pytest

from assignment_api import AssignmentConfigs, ConfigError


def test_nothing_configured_is_kafkas_default() -> None:
    configs = AssignmentConfigs.from_mapping({})
    assert configs == AssignmentConfigs(10_000, 2, 0, 600_000, (), None, None, "none")


def test_texts_of_a_properties_file_are_read() -> None:
    configs = AssignmentConfigs.from_mapping(
        {
            "acceptable.recovery.lag": "100",
            "num.standby.replicas": " 1 ",
            "rack.aware.assignment.tags": "zone, cluster",
            "rack.aware.assignment.traffic_cost": "10",
            "bootstrap.servers": "ignored:9092",
        }
    )
    assert configs.acceptable_recovery_lag == 100
    assert configs.num_standby_replicas == 1
    assert configs.rack_aware_assignment_tags == ("zone", "cluster")
    assert configs.rack_aware_traffic_cost == 10


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (
            "acceptable.recovery.lag",
            -1,
            "Invalid value -1 for configuration acceptable.recovery.lag: Value must be at least 0",
        ),
        ("acceptable.recovery.lag", 2**63, "Not a number of type LONG"),
        ("max.warmup.replicas", 0, "Invalid value 0 for configuration max.warmup.replicas: Value must be at least 1"),
        ("num.standby.replicas", 2**31, "Not a number of type INT"),
        ("num.standby.replicas", True, "Not a number of type INT"),
        ("num.standby.replicas", None, "Not a number of type INT"),
        ("probing.rebalance.interval.ms", 59_999, "Value must be at least 60000"),
        ("rack.aware.assignment.strategy", "nearest", "String must be one of: none, min_traffic, balance_subtopology"),
        ("rack.aware.assignment.tags", list("abcdef"), r"\[a, b, c, d, e, f\] .* exceeds maximum list size of \[5\]\."),
        ("rack.aware.assignment.tags", [1], "list"),
        ("rack.aware.assignment.traffic_cost", "cheap", "Not a number of type INT"),
    ],
)
def test_a_value_that_kafka_refuses_is_refused_in_its_words(key: str, value: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as refusal:
        AssignmentConfigs.from_mapping({key: value})
    assert refusal.value.java_type == "ConfigException"


def test_a_negative_number_of_standbys_passes_as_in_kafka() -> None:
    assert AssignmentConfigs.from_mapping({"num.standby.replicas": -3}).num_standby_replicas == -3
