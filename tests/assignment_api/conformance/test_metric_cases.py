"""The rules of the kit for metrics find seeded faults, and no others."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any, Literal

import pytest

from assignment_api.conformance import MetricConformance
from assignment_api.plugins import MetricPlugin

Kind = Literal["streams", "connect", "streams-group"]


def faults(
    compute: Callable[..., Any], kind: Kind = "streams", unknown_if: str = "", unit: str = "1"
) -> dict[str, str]:
    plugin = MetricPlugin("mine", unit, "lower", "One sentence.", compute, kind=kind)
    case: type[MetricConformance] = type("Case", (MetricConformance,), {"metric": plugin, "unknown_if": unknown_if})
    return case.faults(histories=12)


def members(application: Any, _answer: Any) -> int:
    return len(application.streams_client_states())


def of_the_first_client(application: Any, _answer: Any) -> int:
    return next((client.num_stream_threads for client in application.streams_client_states().values()), 0)


def raises(application: Any, _answer: Any) -> float:
    return 1 / len(application.all_tasks())


FAULTS: dict[str, tuple[Callable[..., Any], str, str]] = {
    "raises": (raises, "finite", "raises ZeroDivisionError"),
    "not finite": (lambda _application, _answer: float("nan"), "finite", "it is nan"),
    "a text": (lambda _application, _answer: "1", "finite", "no finite number"),
    "unknown": (lambda _application, _answer: None, "unknown", "unknown_if"),
    "a clock": (lambda _application, _answer: time.time() * 0, "deterministic", "time"),
    "chance": (lambda _application, _answer: random.random(), "deterministic", "random"),
    "order": (of_the_first_client, "deterministic", "another order"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_seeded_fault_is_found_with_its_history(name: str) -> None:
    compute, rule, words = FAULTS[name]
    found = faults(compute)
    assert words in found[rule]
    assert "history: " in found[rule]


def test_a_metric_without_a_unit_is_found() -> None:
    assert faults(members, unit=" ") == {"described": "metric mine has no unit"}


def test_a_documented_reason_allows_unknown_figures() -> None:
    assert faults(lambda _application, _answer: None, unknown_if="always") == {}


@pytest.mark.parametrize(
    ("kind", "compute"),
    [
        ("streams", members),
        ("connect", lambda rebalance, _assignment: len(rebalance.workers)),
        ("streams-group", lambda group, _topology, _assignment: len(group.members)),
    ],
)
def test_a_correct_metric_of_each_kind_has_no_fault(kind: Kind, compute: Callable[..., Any]) -> None:
    assert faults(compute, kind) == {}
