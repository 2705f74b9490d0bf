"""Metrics and checks of real recordings whose events are no decisions."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

from assignment_api.plugins import config_sources, discover
from assignor_lab.watching.exporter import metric_families
from assignor_lab.watching.figures import GroupFigures, MeasuringTerms, figures_of_past
from tests.capture.event_recordings import event_folder, shown

TERMS = MeasuringTerms(discover(), config_sources(None, ()))


def figures(tmp_path: Path, group: str, until_offset: int | None = None) -> GroupFigures:
    (found,) = figures_of_past(event_folder(tmp_path, group, until_offset), TERMS)
    return found


def gauges(found: GroupFigures) -> dict[str, float]:
    return {sample.name: sample.value for family in metric_families([found], 0, 0) for sample in family.samples}


def test_members_and_instances_fall_to_zero_with_the_last_member(tmp_path: Path) -> None:
    """The record at offset 13 is the empty generation 5."""
    (tmp_path / "a").mkdir()
    before, during = figures(tmp_path / "a", "outage", 13), figures(tmp_path, "outage", 14)

    assert (before.members, before.instances, before.generation) == (2, 2, 4)
    assert (during.members, during.instances, during.generation) == (0, 0, 5)
    assert during.unusual["outage"] == 1


def test_members_are_back_after_an_outage(tmp_path: Path) -> None:
    found = figures(tmp_path, "outage", 18)

    assert (found.members, found.instances, found.generation) == (2, 2, 8)
    assert (found.events["group_emptied"], found.events["group_refilled"]) == (1, 1)
    assert found.rebalances["start"] == 2


def test_static_restarts_are_counted_as_events(tmp_path: Path) -> None:
    found = figures(tmp_path, "static")

    assert found.events["instance_restarted_in_session"] == 5
    assert found.unusual["restarts of a static member"] == 1
    assert (found.rebalances["leave"], found.rebalances["restart"]) == (1, 0)


def test_counters_do_not_fall_when_a_group_moves_to_the_streams_protocol(tmp_path: Path) -> None:
    """The record at offset 25 deletes the classic group."""
    (tmp_path / "a").mkdir()
    before, after = figures(tmp_path / "a", "moved", 25), figures(tmp_path, "moved")

    assert (sum(before.rebalances.values()), sum(after.rebalances.values())) == (4, 7)
    assert after.moved >= before.moved
    assert after.events["protocol_changed"] == 1
    assert before.reproduced is not None
    assert after.reproduced is not None


def test_a_crash_loop_without_identity_is_a_finding(tmp_path: Path) -> None:
    assert figures(tmp_path, "looping").unusual["departures of the group"] == 1


def test_a_deleted_group_has_counters_and_no_gauges(tmp_path: Path) -> None:
    found = figures(tmp_path, "outage")
    deleted = gauges(attrs.evolve(found, is_deleted=True))

    assert {name for name in gauges(found) if name not in deleted} == {
        "assignor_group_generation", "assignor_group_instances", "assignor_group_members",
        "assignor_group_roll_rebalances",
        "assignor_group_reproduced_decisions_ratio", "assignor_group_last_rebalance_age_seconds",
    }  # fmt: skip
    assert "assignor_group_events_total" in deleted


@pytest.mark.parametrize(
    ("group", "rules"),
    [
        ("static", ["restarts of a static member", "outage"]),
        ("outage", ["outage", "outage"]),
        ("moved", ["outage"]),
        ("streamed", ["outage"]),
        ("looping", ["departures of the group"]),
    ],
)
def test_check_finds_the_event_of_each_recording(group: str, rules: list[str], tmp_path: Path) -> None:
    (found,) = shown("check", event_folder(tmp_path, group))["groups"]

    assert [each["rule"] for each in found["findings"]] == rules
