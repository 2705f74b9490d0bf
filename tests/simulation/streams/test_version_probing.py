"""Rolling upgrades of classic groups: members with different versions of Streams' messages."""

from __future__ import annotations

from typing import Any

import pytest

from assignor_lab.scenarios import DocumentFormatError
from assignor_lab.simulation.streams.safety.rules import broken_rules
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode
from tests.simulation.streams.episodes import episode, happens, played, started

PROBE_MS = {"rejoin_ms": 30}


def group(*events: dict[str, Any], **more: Any) -> PlayedStreamsEpisode:
    return played(list(events), assignor="sticky@4.3", timings={**PROBE_MS, **more.pop("timings", {})}, **more)


def assigned(result: PlayedStreamsEpisode) -> list[int]:
    return [each.assigned_ms - result.world.begin_ms for each in result.generations]


def active(result: PlayedStreamsEpisode, place: int, name: str) -> tuple[int, ...]:
    return result.generations[place].assigned[name][0]


def test_an_old_leader_takes_a_newer_member_for_an_unknown_client_which_then_tells_itself_in_the_leaders_version() -> (
    None
):
    mixed = group(started("a", metadata_version=11), started("b", 60_000, metadata_version=12))
    same = group(started("a"), started("b", 60_000))
    # The leader cannot read b's message. It holds b's tasks back and answers in version 11; b rejoins at once.
    first = assigned(same)[1]
    assert assigned(mixed)[1] == first
    assert mixed.generations[1].assigned["b"][0]
    assert [each.members for each in mixed.generations[1:]] == [2] * (len(mixed.generations) - 1)
    assert active(mixed, -1, "b") == active(same, -1, "b")
    assert broken_rules(mixed) == []


def test_state_that_the_leader_cannot_read_of_does_not_count() -> None:
    """b returns after an upgrade, and the old leader cannot see its state: it is cold at first."""
    config = {"probing.rebalance.interval.ms": 60_000, "acceptable.recovery.lag": 100}
    back = [started("a"), started("b"), happens("stop", "b", 390_000, leave=True)]
    known = played([*back, started("b", 401_000)], records=50_000, config=config)
    upgraded = played([*back, started("b", 401_000, metadata_version=12)], records=50_000, config=config)
    place = next(index for index, each in enumerate(known.generations) if each.prepared_ms > 401_000)
    assert active(known, place, "b") != ()
    assert upgraded.generations[place].assigned["b"][0] == ()
    # Its next message is in version 11, and readable.
    assert active(upgraded, place + 1, "b") == active(known, place, "b")


def test_a_new_leader_falls_back_and_all_go_up_when_the_last_old_one_has_gone() -> None:
    roll = {
        "at_ms": 60_000, "type": "rolling_restart", "down_ms": 1_000, "every_ms": 60_000, "leave": True,
        "metadata_version": 12,
    }  # fmt: skip
    upgraded = group(started("a"), started("b"), roll)
    plain = group(started("a"), started("b"), {key: roll[key] for key in roll if key != "metadata_version"})
    # While only a is new it probes once more. When b is new, too, both go up: one more rebalance.
    assert len(upgraded.generations) > len(plain.generations)
    settled = assigned(upgraded)[-1]
    assert settled < 130_000
    versions = {instance.settings.metadata_version for instance in upgraded.world.instances.values()}
    assert versions == {12}
    assert broken_rules(upgraded) == []


def test_client_tags_are_told_from_version_11_on() -> None:
    config = {"num.standby.replicas": 1, "rack.aware.assignment.tags": ["zone"]}
    three = [("a", "x"), ("b", "x"), ("c", "y")]
    placed = []
    for version in (10, 11):
        events = [started(name, tags={"zone": zone}, metadata_version=version) for name, zone in three]
        result = played(events, config=config)
        placed.append(result.generations[-1].assigned)
    # With tags, each task of a or b has its standby in the other zone, on c.
    assert set(placed[1]["c"][1]) >= set(placed[1]["a"][0]) | set(placed[1]["b"][0])
    assert placed[0] != placed[1]


def test_versions_that_are_not_played_are_refused() -> None:
    for version in (7, 13):
        with pytest.raises(DocumentFormatError, match=r"events\[0\].metadata_version"):
            episode([started("a", metadata_version=version)])
