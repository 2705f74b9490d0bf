"""``rack_aware`` is high availability under the effective strategy, and reports unusable racks."""

from __future__ import annotations

import attrs
import pytest

from assignment_api import ApplicationMetadata, AssignorLabError, TaskAssignment
from assignor_lab.scenarios import read_scenarios
from builtin_assignors.high_availability import HighAvailabilityTaskAssignor
from builtin_assignors.rack_aware import RackAwareTaskAssignor
from tests.builtin_assignors.golden import GOLDEN

pytestmark = pytest.mark.slow

STRATEGY = "rack.aware.assignment.strategy"


def applications(name: str, wanted: str) -> list[ApplicationMetadata]:
    made = []
    for scenario in read_scenarios(GOLDEN / f"{name}.scenarios.jsonl.gz"):
        if scenario.config.get(STRATEGY, "none") == wanted:
            try:
                made.append(scenario.application)
            except AssignorLabError:
                continue
    return made


def with_strategy(application: ApplicationMetadata, strategy: str) -> ApplicationMetadata:
    return application.with_configs(
        attrs.evolve(application.assignment_configs(), rack_aware_assignment_strategy=strategy)
    )


def placed(answer: TaskAssignment) -> TaskAssignment:
    return attrs.evolve(answer, remarks=())


def answer_or_error(make: type, application: ApplicationMetadata) -> TaskAssignment | str:
    try:
        return placed(make().assign(application))
    except AssignorLabError as error:
        return str(error)


@pytest.mark.parametrize("strategy", ["none", "min_traffic", "balance_subtopology"])
def test_it_answers_as_high_availability_under_the_effective_strategy(strategy: str) -> None:
    effective = "min_traffic" if strategy == "none" else strategy
    cases = applications("medium", strategy)
    assert len(cases) >= 10
    for application in cases:
        expected = answer_or_error(HighAvailabilityTaskAssignor, with_strategy(application, effective))
        assert answer_or_error(RackAwareTaskAssignor, application) == expected


def test_a_missing_rack_is_told_in_a_remark() -> None:
    told = {
        " ".join(remark.split(" ")[:6])
        for application in applications("small", "none")
        for remark in _remarks(application)
    }
    assert any(remark.startswith("racks were not used: client") for remark in told)
    assert any(remark.startswith("racks were not used: the racks") for remark in told)


def test_where_racks_are_used_nothing_is_remarked() -> None:
    assert any(not _remarks(application) for application in applications("small", "min_traffic"))


def _remarks(application: ApplicationMetadata) -> tuple[str, ...]:
    try:
        return RackAwareTaskAssignor().assign(application).remarks
    except AssignorLabError:
        return ("failed",)
