"""Safety rules of Streams groups: each can be broken, and a calm group breaks none."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import attrs
import pytest

from assignment_api.plugins import config_sources, discover
from assignor_lab.groups.streams_episode.playing import play
from assignor_lab.scenarios import Place, scenario_from_document
from assignor_lab.scenarios.formats.streams_episodes import episode_document
from assignor_lab.simulation.event_log import EventEntry
from assignor_lab.simulation.streams.formats.episodes import read_episode
from assignor_lab.simulation.streams.reads import StateRead
from assignor_lab.simulation.streams.safety.known_kafka_behaviour import KNOWN_BEHAVIOURS, named
from assignor_lab.simulation.streams.safety.random_episodes import KAFKA_ASSIGNORS, random_episode
from assignor_lab.simulation.streams.safety.rest import LAST_CHANGES
from assignor_lab.simulation.streams.safety.rules import RULES, broken_rules
from assignor_lab.simulation.streams.seen_waits import SeenWaits
from assignor_lab.simulation.streams.simulate import PlayedStreamsEpisode
from assignor_lab.watching.known_loops import KNOWN_LOOPS
from tests.simulation.streams.episodes import happens as happens_to
from tests.simulation.streams.episodes import played, started

#: Changes of metadata at the end; the intervals between them and until the end are equal.
CHANGES: list[dict[str, Any]] = [
    {"at_ms": 100_000 + 60_000 * number, "type": "metadata_changes"} for number in range(1, LAST_CHANGES + 1)
]
UNTIL_MS = 100_000 + 60_000 * (LAST_CHANGES + 1)


@pytest.fixture
def calm() -> PlayedStreamsEpisode:
    """Two instances that run four tasks with state, from 100 s on."""
    return played([started("a"), started("b"), *CHANGES], records=100, until_ms=UNTIL_MS)


def rules(group: PlayedStreamsEpisode) -> list[str]:
    return sorted({each.rule for each in broken_rules(group)})


def happens(group: PlayedStreamsEpisode, at_ms: int, actor: str, event: str, **facts: Any) -> None:
    """Adds an event to the log."""
    log = group.world.log
    log.entries.append(EventEntry(at_ms, actor, event, "", **facts))
    log.entries.sort(key=lambda entry: entry.time_ms)


def owner(group: PlayedStreamsEpisode, task: str) -> tuple[str, int]:
    """The final owner of a task, with its thread."""
    ran = [entry for entry in group.world.log.entries if entry.event == "runs" and entry.task == task]
    return ran[-1].actor, ran[-1].thread


def test_a_calm_group_breaks_no_rule(calm: PlayedStreamsEpisode) -> None:
    assert broken_rules(calm) == []


def test_two_threads_that_run_a_task_are_found(calm: PlayedStreamsEpisode) -> None:
    actor, _ = owner(calm, "0_0")
    other = {"a": "b", "b": "a"}[actor]
    happens(calm, 200_000, other, "runs", task="0_0", thread=99)
    happens(calm, 201_000, other, "stops", task="0_0", thread=99)
    (broken,) = broken_rules(calm)
    assert broken.rule == "one owner"
    assert broken.sentence.endswith("from 200000 ms to 201000 ms")


def test_a_copy_beside_its_active_is_found(calm: PlayedStreamsEpisode) -> None:
    actor, _ = owner(calm, "0_0")
    happens(calm, 200_000, actor, "given", thread=99, active=[], standby=["0_0"])
    happens(calm, 201_000, actor, "given", thread=99, active=[], standby=[])
    assert rules(calm) == ["no standby beside its active"]


def test_whoever_goes_on_after_the_member_was_removed_is_found(calm: PlayedStreamsEpisode) -> None:
    _, thread = owner(calm, "0_0")
    happens(calm, 200_000, "coordinator", "removed", thread=thread)
    assert rules(calm) == ["fenced"]


def test_a_task_that_nobody_is_given_is_found_and_one_that_does_not_run(calm: PlayedStreamsEpisode) -> None:
    actor, thread = owner(calm, "0_0")
    happens(calm, 450_000, actor, "stops", task="0_0", thread=thread)
    found = broken_rules(calm)
    assert [each.rule for each in found] == ["nothing lost", "times"]
    assert found[0].sentence.endswith("does not run")
    happens(calm, 451_000, actor, "given", thread=thread, active=[], standby=[])
    assert "0_0 has no owner at the end" in broken_rules(calm)[0].sentence


def test_an_interval_that_the_log_does_not_tell_of_is_found(calm: PlayedStreamsEpisode) -> None:
    begin = calm.world.begin_ms
    calm.world.ledger.intervals[0].append((begin + 300_000, begin + 301_000, "rebalance"))
    assert rules(calm) == ["times"]
    calm.world.ledger.intervals[0].append((begin + 300_500, begin + 300_600, "rebalance"))
    assert any("after 301000 ms" in each.sentence for each in broken_rules(calm))


def test_reading_more_than_there_is_is_found_and_less_than_nothing(calm: PlayedStreamsEpisode) -> None:
    for size in (100_001.0, -1.0):
        calm.world.reads.all.append(StateRead(0, "a", calm.world.begin_ms, size, is_active=True))
    assert [each.rule for each in broken_rules(calm)] == ["restoring", "restoring"]
    calm.world.reads.all[-2:] = [StateRead(0, "a", calm.world.begin_ms, 100_000.0, is_active=True)]
    assert broken_rules(calm) == []


def test_generations_that_go_back_are_found(calm: PlayedStreamsEpisode) -> None:
    backwards = (*calm.generations, attrs.evolve(calm.generations[-1], number=1))
    assert rules(attrs.evolve(calm, generations=backwards)) == ["generations"]


def test_a_rebalance_in_the_quiet_is_found(calm: PlayedStreamsEpisode) -> None:
    quiet_ms = calm.world.begin_ms + CHANGES[0]["at_ms"] - 1_000
    late = attrs.evolve(calm.generations[0], prepared_ms=quiet_ms, joined_ms=quiet_ms, assigned_ms=quiet_ms)
    ordered = sorted((*calm.generations, late), key=lambda generation: generation.assigned_ms)
    generations = [attrs.evolve(each, number=number) for number, each in enumerate(ordered, 1)]
    assert rules(attrs.evolve(calm, generations=tuple(generations))) == ["rest"]


def test_a_placement_that_changes_with_nothing_else_is_found_and_kafkas_where_standbys_swing(
    calm: PlayedStreamsEpisode,
) -> None:
    last = calm.generations[-1]
    active, standby = last.assigned["a"]
    moved = attrs.evolve(last, assigned={**last.assigned, "a": (active, (*standby, 3))})
    swinging = attrs.evolve(calm, generations=(*calm.generations[:-1], moved))
    (broken,) = broken_rules(swinging)
    assert broken.rule == "at rest"
    assert broken.sentence.startswith("standby tasks moved")
    assert named(broken, swinging, "group_sticky@4.3").known == "KAFKA-21166"
    assert named(broken, swinging, "high_availability").known == ""
    other = attrs.evolve(last, assigned={**last.assigned, "a": ((*active, 3), standby)})
    (broken,) = broken_rules(attrs.evolve(calm, generations=(*calm.generations[:-1], other)))
    assert named(broken, calm, "group_sticky@4.3").known == ""


def test_every_rule_and_every_name_is_explained_on_the_page() -> None:
    pages = Path(__file__).parents[3] / "docs" / "explanation"
    behaviours = (pages / "kafka-behaviours.md").read_text(encoding="utf-8")
    assert {*KNOWN_BEHAVIOURS, *KNOWN_LOOPS} == set(re.findall(r"^### `(.+)`$", behaviours, re.MULTILINE))
    rules = (pages / "streams-simulation.md").read_text(encoding="utf-8")
    for name in set(RULES) - {"ends"}:
        assert f"*{name}*" in rules


def test_a_static_member_that_takes_over_what_was_decided_for_another_process_is_kafkas_own() -> None:
    """i1 has lost its disk and process id. When thread 2 returns, thread 1 has copies of its tasks."""
    lost = [
        started("a", threads=2, instance_id="s"), happens_to("stop", "a", 60_000), happens_to("lose_disk", "a", 60_100),
        started("a", 60_200), *CHANGES,
    ]  # fmt: skip
    config = {"num.standby.replicas": 1}
    group = played(lost, protocol="streams", assignor="group_sticky_4_4", config=config, until_ms=UNTIL_MS)
    found = broken_rules(group)
    assert {each.rule for each in found} == {"no standby beside its active"}
    assert {named(each, group, "group_sticky_4_4").known for each in found} == {"KIP-345"}
    decided = next(each.assigned_ms - group.world.begin_ms for each in group.generations if each.number == 6)
    later = attrs.evolve(found[0], begin_ms=decided + 1)
    assert named(later, group, "group_sticky_4_4").known == ""


def test_threads_that_read_a_decision_at_different_moments_are_kafkas_own() -> None:
    """With drawn waits. The directory is locked, so only one of the two threads opens it."""
    outline = random_episode(397, {"classic": KAFKA_ASSIGNORS["classic"]})
    episode = read_episode(scenario_from_document(episode_document(outline), Place("episode")))
    waits = SeenWaits(
        assign=(251, 334, 757, 53, 617, 377, 671), read=(66, 75, 4, 16, 54, 168, 190, 621, 1_200), miss=(744, 1_500),
        revoke=(35, 120, 600, 2_600),
    )  # fmt: skip
    name, group = play(attrs.evolve(episode, waits=waits), discover(), config_sources(environ={}), seed=397)
    found = [each for each in broken_rules(group) if each.rule == "no standby beside its active"]
    assert found
    for each in found:
        assert named(each, group, name).known == "StateDirectory.lock"
        both_have_read = attrs.evolve(each, end_ms=group.episode.until_ms)
        assert named(both_have_read, group, name).known == ""
