"""The families of episodes: reproducible, valid, of the written sizes, true to their names."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from assignment_api.plugins.entries import ScenarioFamily
from assignor_lab.scenarios import Place, canonical_line, scenario_from_document
from assignor_lab.scenarios.families import EPISODE_FAMILIES
from assignor_lab.simulation.streams.formats.episodes import read_episode

every_family = pytest.mark.parametrize("family", EPISODE_FAMILIES, ids=lambda family: family.name)
SEEDS = range(12)
#: Of the document of seed 0.
DIGESTS = {
    "episode_rolling_restart": "81833a47dc59",
    "episode_static_rolling_restart": "361a9be57a28",
    "episode_crash": "06e3b346ddf3",
    "episode_scale_out": "a391beaf4bbc",
    "episode_scale_in": "a60add9e1559",
    "episode_lost_zone": "278b3826d5b1",
    "episode_lost_disks": "06444f97dfac",
    "episode_slow_joiners": "9731a59c37f0",
    "episode_steady": "1967c41903d6",
}


@cache
def episode(family: ScenarioFamily, seed: int) -> Mapping[str, Any]:
    return family.history(seed).round(0, None)


def events(name: str, kind: str) -> list[list[Mapping[str, Any]]]:
    family = next(each for each in EPISODE_FAMILIES if each.name == name)
    return [[event for event in episode(family, seed)["events"] if event["type"] == kind] for seed in SEEDS]


@every_family
def test_every_document_is_an_episode_that_contradicts_nothing(family: ScenarioFamily) -> None:
    for seed in SEEDS:
        read = read_episode(scenario_from_document(episode(family, seed), Place(family.name)))
        assert read.events
        assert max(event.at_ms for event in read.events) < read.until_ms
        assert all(partition.rack_ids for task in read.tasks for partition in task.topic_partitions or ())
        assert any(read.input_bytes_per_s)


@every_family
def test_state_is_of_ten_megabytes_to_a_terabyte(family: ScenarioFamily) -> None:
    sizes = [
        sum(each["records"] * each["bytes_per_record"] for each in episode(family, seed)["changelogs"].values())
        for seed in range(40)
    ]
    most = 1e9 if "static" in family.name else 1e12
    assert min(sizes) > 9e6
    assert max(sizes) <= most
    assert max(sizes) > 20 * min(sizes)


@every_family
def test_whoever_runs_already_runs_every_task_once(family: ScenarioFamily) -> None:
    for seed in SEEDS:
        initial = episode(family, seed)["initial"]
        run = sorted(task for client in initial["clients"] for task in client["previous_active"])
        assert run == (sorted(task["id"] for task in initial["tasks"]) if initial["clients"] else [])


def test_static_members_say_that_they_are() -> None:
    for starts in events("episode_static_rolling_restart", "start"):
        ids = [start["instance_id"] for start in starts]
        assert len(set(ids)) == len(ids) >= 2


def test_nobody_is_left_alone_by_a_crash_or_a_scale_in() -> None:
    for name, kind in (("episode_crash", "crash"), ("episode_scale_in", "stop")):
        family = next(each for each in EPISODE_FAMILIES if each.name == name)
        for seed, gone in zip(SEEDS, events(name, kind), strict=True):
            assert 1 <= len(gone) < len(episode(family, seed)["initial"]["clients"])


def test_a_lost_zone_is_one_rack_and_all_of_it() -> None:
    family = next(each for each in EPISODE_FAMILIES if each.name == "episode_lost_zone")
    for seed, crashes in zip(SEEDS, events(family.name, "crash"), strict=True):
        racks = {client["process_id"]: client["rack"] for client in episode(family, seed)["initial"]["clients"]}
        lost = {racks[crash["client"]] for crash in crashes}
        assert len(lost) == 1
        assert len(crashes) == sum(rack in lost for rack in racks.values())


def test_joiners_come_one_by_one() -> None:
    for starts in events("episode_slow_joiners", "start"):
        moments = [start["at_ms"] for start in starts]
        assert len(set(moments)) == len(moments) >= 2


def test_a_seed_gives_the_same_bytes_on_every_machine() -> None:
    found = {
        family.name: hashlib.sha256(canonical_line(episode(family, 0))).hexdigest()[:12] for family in EPISODE_FAMILIES
    }
    assert found == DIGESTS
