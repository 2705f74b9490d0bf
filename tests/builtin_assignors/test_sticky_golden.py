from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from assignment_api import TaskAssignor
from assignment_api.releases import release_named
from assignor_lab.scenarios import read_scenarios
from builtin_assignors.fallback_prior import FallbackPriorTaskAssignor
from builtin_assignors.legacy_sticky import LegacyStickyTaskAssignor
from builtin_assignors.sticky import StickyTaskAssignor
from tests.builtin_assignors.golden import GOLDEN, differences, documents, result_row, scale_differences

pytestmark = pytest.mark.slow

Assignors = dict[str, Callable[[], TaskAssignor]]
ASSIGNORS: Assignors = {
    "sticky": partial(StickyTaskAssignor, release=release_named("4.3")),
    "legacy_sticky": LegacyStickyTaskAssignor,
    "fallback_prior": FallbackPriorTaskAssignor,
}


def sticky_4_4() -> StickyTaskAssignor:
    return StickyTaskAssignor(release=release_named("4.4"))


FILES_4_4 = ["small", "medium", "threads", "unequal", "limits", "histories", "table", "table-4.3.1-rounds"]
SCALE_FILES = [
    "1000x1000-1thread-1standby",
    "1000x10-1000threads-1standby",
    "sticky-2000x2-1thread-1standby",
    "sticky-1000x100-1thread-20standbys",
    "small-10x200",
    "small-4x40",
]
RACK_FILES = ["rack-300x20-balance_subtopology", "rack-300x20-min_traffic", "rack-300x20-min_traffic-1standby"]


@pytest.mark.parametrize("assignor", ASSIGNORS)
@pytest.mark.parametrize("name", ["small", "medium", "threads"])
def test_every_golden_scenario_has_kafkas_answer(name: str, assignor: str) -> None:
    assert list(differences(name, assignor, ASSIGNORS[assignor])) == []


def test_the_references_vectors_have_kafkas_answers() -> None:
    results = documents(GOLDEN / "vectors.results.jsonl.gz")
    compared = 0
    for scenario, expected in zip(read_scenarios(GOLDEN / "vectors.scenarios.jsonl.gz"), results, strict=True):
        assignor = expected["assignor"]
        if assignor in ASSIGNORS:
            assert result_row(scenario.id, assignor, scenario.application, ASSIGNORS[assignor]()) == expected
            compared += 1
    assert compared == 3


@pytest.mark.parametrize("name", FILES_4_4)
def test_every_golden_scenario_has_the_answer_of_kafka_4_4(name: str) -> None:
    assert list(differences(name, "sticky_4_4", sticky_4_4)) == []


@pytest.mark.parametrize("assignor", ASSIGNORS)
@pytest.mark.parametrize("name", SCALE_FILES)
def test_every_scale_scenario_has_the_digest_of_kafkas_answer(name: str, assignor: str) -> None:
    assert scale_differences(name, assignor, ASSIGNORS[assignor]) == []


@pytest.mark.parametrize("name", RACK_FILES)
def test_every_rack_scenario_has_the_digest_of_kafkas_answer(name: str) -> None:
    assert scale_differences(name, "legacy_sticky", LegacyStickyTaskAssignor) == []
