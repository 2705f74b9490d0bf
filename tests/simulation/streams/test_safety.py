"""Rules of safety: each can be broken, and random episodes do not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from typer.testing import CliRunner

from assignment_api.plugins import config_sources, discover
from assignor_lab.cli.app import build_app
from assignor_lab.groups.streams_episode.fuzzing import ASSIGNORS, fuzz, known_cause
from assignor_lab.simulation.streams.reads import Overlap
from assignor_lab.simulation.streams.safety import LOOP, LOST, OVERLAP, broken_rules, random_episode, smallest
from tests.simulation.streams.episodes import played, started


def calm() -> Any:
    return played([started("a"), started("b")], until_ms=400_000)


def test_a_calm_group_breaks_no_rule() -> None:
    assert broken_rules(calm()) == []


def test_two_owners_are_found() -> None:
    group = calm()
    thread = group.world.instances["a"].threads[0]
    other = group.world.instances["b"].threads[0]
    group.world.assign(thread, [*thread.active, *other.active], ())
    assert [each.rule for each in broken_rules(group)] == [OVERLAP]
    task = min(other.active)
    assert Overlap(task, other.consumer, thread.consumer) in group.world.overlaps


def test_a_lost_task_is_found() -> None:
    group = calm()
    thread = group.world.instances["a"].threads[0]
    group.world.revoke(thread, [min(thread.active)])
    assert [each.rule for each in broken_rules(group)] == [LOST]


def test_a_loop_is_found_and_named_where_it_is_kafkas() -> None:
    probes = {"probing.rebalance.interval.ms": 60_000, "acceptable.recovery.lag": 0}
    growing = {f"0_{number}": {"records": 100, "bytes_per_record": 1, "records_per_s": 50} for number in range(4)}
    group = played(
        [started("a"), started("b", 60_000)], config=probes, changelogs=growing, until_ms=900_000,
        timings={"standby_ms": 300},
    )  # fmt: skip
    (broken,) = broken_rules(group)
    assert broken.rule == LOOP
    document = {"initial": {"config": probes}}
    assert known_cause("high_availability", LOOP, document) is not None
    assert known_cause("high_availability", LOST, document) is None
    assert known_cause("high_availability", LOOP, {"initial": {"config": {}}}) is None


def test_the_smallest_episode_has_only_what_breaks_the_rule() -> None:
    def breaks(document: Mapping[str, Any]) -> bool:
        return any(event["type"] == "crash" for event in document["events"])

    document = next(made for made in map(random_episode, range(100)) if breaks(made))
    found = smallest(document, breaks)
    assert [event["type"] for event in found["events"]] == ["crash"]
    assert len(found["initial"]["tasks"]) == 1


@pytest.mark.parametrize("assignor", ASSIGNORS)
def test_random_episodes_break_nothing_that_is_not_kafkas_own(assignor: str) -> None:
    found = [each for some in fuzz(25, 0, discover(), config_sources(environ={}), assignor) for each in some]
    assert [each for each in found if each.known is None] == []


def test_the_command_counts_what_is_known_and_plays_one_again() -> None:
    result = CliRunner().invoke(build_app(), ["simulate", "--fuzz", "13", "--json"])
    assert result.exit_code == 0
    assert '"known": "acceptable.recovery.lag is 0' in result.stdout
    again = CliRunner().invoke(build_app(), ["simulate", "random-12"])
    assert again.exit_code == 0
    assert "random-12: high_availability" in again.stdout


def test_a_name_is_needed() -> None:
    result = CliRunner().invoke(build_app(), ["simulate"])
    assert result.exit_code == 2
    assert "--list" in result.output
