"""Autoscalers, checked by hand against the rules of the HPA and of KEDA's Kafka scaler."""

from __future__ import annotations

import pytest
import yaml  # type: ignore[import-untyped]

from assignor_lab.planning.making import PlanError
from assignor_lab.planning.scaling.policies import (
    Autoscaler,
    ScalingPolicy,
    constant_policy,
    kedas_default,
    parse_policy,
)
from assignor_lab.planning.scaling.scaled_object import hpa_rows, scaled_object


def counts_of(policy: ScalingPolicy, lags: list[float], present: int, partitions: int = 24) -> list[int]:
    """The counts after each question, 15 s apart."""
    scaler, found = Autoscaler(policy, partitions), []
    for number, lag in enumerate(lags):
        present = scaler.count(number * 15, lag, present)
        found.append(present)
    return found


def test_kedas_default_wants_one_replica_for_ten_records_and_at_most_the_partitions() -> None:
    policy = kedas_default([1, 2, 3, 100])
    assert policy.wanted(95, 1, 24) == 10
    assert policy.wanted(1e9, 1, 24) == 24
    assert policy.wanted(0, 5, 24) == 1


def test_the_count_stays_within_ten_percent_of_the_target() -> None:
    policy = kedas_default([1, 100])
    assert policy.wanted(109, 10, 24) == 10
    assert policy.wanted(112, 10, 24) == 12


def test_a_count_doubles_or_gains_four_in_each_step() -> None:
    assert counts_of(kedas_default([1, 24]), [1000] * 5, 1) == [5, 10, 20, 24, 24]


def test_chosen_counts_are_reached_at_once() -> None:
    assert counts_of(ScalingPolicy("p", (1, 12), 100), [1000, 1000], 1) == [12, 12]


def test_a_replica_goes_when_no_larger_count_was_wanted_in_the_window() -> None:
    policy = ScalingPolicy("p", (1, 2, 4), 100, down_s=60)
    # 400 wants four at 15 s: it counts until 75 s.
    assert counts_of(policy, [400, 400, 50, 50, 50, 50, 50], 4) == [4, 4, 4, 4, 4, 4, 1]


def test_a_window_upwards_waits_until_the_wish_lasts() -> None:
    policy = ScalingPolicy("p", (1, 2, 4), 100, up_s=30)
    assert counts_of(policy, [50, 400, 400, 400, 400], 1) == [1, 1, 1, 4, 4]


def test_wishes_are_rounded_up_to_allowed_counts() -> None:
    policy = ScalingPolicy("p", (3, 6, 12), 100)
    assert [policy.wanted(lag, 3, 24) for lag in (0, 299, 300, 301, 600, 601, 9999)] == [3, 3, 3, 6, 6, 12, 12]


def test_a_policy_is_read_and_bad_ones_are_refused() -> None:
    policy = parse_policy("lag=5000,down=900,up=60,counts=3/6", [2, 3, 6])
    assert (policy.counts, policy.lag_per_replica, policy.down_s, policy.up_s) == ((3, 6), 5000, 900, 60)
    for text, reason in {
        "lag=0": "lag=RECORDS", "fast": "lag=RECORDS", "lag=5,down=9000": "3600 s at most",
        "lag=5,counts=4/6": "4 is no count",
    }.items():  # fmt: skip
        with pytest.raises(PlanError, match=reason):
            parse_policy(text, [2, 3, 6])


@pytest.mark.parametrize("group", ["orders", 'a: "b" #\n- x', "Größe_1"])
def test_a_scaled_object_is_yaml_with_settings_of_keda_and_the_same_counts(group: str) -> None:
    policy = ScalingPolicy("p", (3, 6, 12), 100, down_s=900, up_s=60)
    made = yaml.safe_load(scaled_object(policy, group, "instance"))
    assert set(made["spec"]) == {
        "scaleTargetRef", "pollingInterval", "minReplicaCount", "maxReplicaCount", "advanced", "triggers",
    }  # fmt: skip
    assert (made["spec"]["minReplicaCount"], made["spec"]["maxReplicaCount"]) == (3, 12)
    assert set(made["spec"]["advanced"]) == {"scalingModifiers", "horizontalPodAutoscalerConfig"}
    (trigger,) = made["spec"]["triggers"]
    assert trigger["metadata"]["consumerGroup"] == group
    modifiers = made["spec"]["advanced"]["scalingModifiers"]
    assert (modifiers["formula"], modifiers["target"]) == ("lag > 600 ? 12 : lag > 300 ? 6 : 3", "1")
    # The cap of the reported lag does not hide the largest threshold.
    assert float(trigger["metadata"]["lagThreshold"]) * 12 >= 600


def test_a_constant_count_needs_no_formula() -> None:
    made = yaml.safe_load(scaled_object(constant_policy(4), "orders", "instance"))
    assert made["spec"]["minReplicaCount"] == made["spec"]["maxReplicaCount"] == 4
    assert "advanced" not in made["spec"]
    assert hpa_rows(constant_policy(4)) == [("any", "4")]


def test_the_table_of_an_autoscaler_has_the_lag_from_which_a_count_is_wanted() -> None:
    assert hpa_rows(ScalingPolicy("p", (3, 6, 12), 100)) == [
        ("0 to 300", "3"), ("more than 300 to 600", "6"), ("more than 600", "12"),
    ]  # fmt: skip
