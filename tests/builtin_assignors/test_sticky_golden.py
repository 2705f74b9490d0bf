"""The sticky family answers as Kafka 4.3.1 does wherever racks play no part."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assignment_api import TaskAssignor
from assignor_lab.scenarios import Scenario, read_scenarios
from builtin_assignors.fallback_prior import FallbackPriorTaskAssignor
from builtin_assignors.legacy_sticky import LegacyStickyTaskAssignor
from builtin_assignors.sticky import StickyTaskAssignor
from tests.builtin_assignors.golden import GOLDEN, differences, documents, result_row, scale_differences, strategy

Assignors = dict[str, Callable[[], TaskAssignor]]
ASSIGNORS: Assignors = {
    "sticky": StickyTaskAssignor,
    "legacy_sticky": LegacyStickyTaskAssignor,
    "fallback_prior": FallbackPriorTaskAssignor,
}
SCALE_FILES = [
    "1000x1000-1thread-1standby",
    "1000x10-1000threads-1standby",
    "sticky-2000x2-1thread-1standby",
    "sticky-1000x100-1thread-20standbys",
    "small-10x200",
]


def racks_play_no_part(scenario: Scenario) -> bool:
    return strategy(scenario) not in {"min_traffic", "balance_subtopology"}


def anything(scenario: Scenario) -> bool:
    return True


def no_public_optimiser(scenario: Scenario) -> bool:
    """The public utility refuses to run unless both costs are configured."""
    config = scenario.document["config"]
    costs = [config.get(f"rack.aware.assignment.{cost}") for cost in ("traffic_cost", "non_overlap_cost")]
    return racks_play_no_part(scenario) or None in costs


@pytest.mark.parametrize("name", ["small", "medium", "threads"])
@pytest.mark.parametrize(
    ("assignor", "chosen"),
    [("sticky", no_public_optimiser), ("legacy_sticky", racks_play_no_part), ("fallback_prior", anything)],
)
def test_every_golden_scenario_has_kafkas_answer(name: str, assignor: str, chosen: Callable[[Scenario], bool]) -> None:
    assert list(differences(name, assignor, ASSIGNORS[assignor], chosen)) == []


def test_the_references_vectors_have_kafkas_answers() -> None:
    results = documents(GOLDEN / "vectors.results.jsonl.gz")
    compared = 0
    for scenario, expected in zip(read_scenarios(GOLDEN / "vectors.scenarios.jsonl.gz"), results, strict=True):
        assignor = expected["assignor"]
        if assignor in ASSIGNORS and racks_play_no_part(scenario):
            assert result_row(scenario.id, assignor, scenario.application, ASSIGNORS[assignor]()) == expected
            compared += 1
    assert compared == 3


@pytest.mark.parametrize("name", SCALE_FILES)
@pytest.mark.parametrize("assignor", ASSIGNORS)
def test_every_scale_scenario_has_the_digest_of_kafkas_answer(name: str, assignor: str) -> None:
    assert scale_differences(name, assignor, ASSIGNORS[assignor]) == []
